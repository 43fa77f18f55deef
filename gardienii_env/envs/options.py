"""The options of `reset`: what is not known is ignored, as the libraries want it, but not in silence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium as gym

from gardienii_env.errors import one_of

__all__ = ["known_options"]


def known_options(options: Mapping[str, Any] | None, *known: str) -> Mapping[str, Any]:
    """The options given to `reset`, none if it is None; a Gymnasium warning for each unknown key."""
    given = options or {}
    for key in given:
        if key not in known:
            gym.logger.warn(f"reset: {one_of('the option', key, known)} It is ignored.")
    return given
