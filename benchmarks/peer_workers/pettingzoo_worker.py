"""PettingZoo's classic card games: the AEC loop over `raw_env`, without wrappers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from importlib.metadata import version

from aec_loop import aec_ready
from harness import Ready, module, work

GAMES = ("gin_rummy_v4", "hanabi_v5", "leduc_holdem_v4", "texas_holdem_v4")


def prepare(name: str) -> Ready:
    """A game with its default settings."""
    warnings.simplefilter("ignore")
    return aec_ready(module(f"pettingzoo.classic.{name}").raw_env(), version("pettingzoo"))


CASES: dict[str, Callable[[], Ready]] = {name: partial(prepare, name) for name in GAMES}

if __name__ == "__main__":
    work(CASES, __doc__)
