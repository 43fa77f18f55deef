"""Registration: environments can be made by name, and registering again is harmless."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium
import pettingzoo
import pytest

from gardienii_env import gardienii_v0
from gardienii_env.envs.register import register_gymnasium, register_pettingzoo


@pytest.mark.parametrize("name", ["gardienii-v0", "gardienii_v0"])
def test_pettingzoo_makes_it_by_name(name: str) -> None:
    env: Any = pettingzoo.make("aec", name, num_players=3, view="recall")
    own: Any = gardienii_v0.env(3, view="recall")
    assert str(env) == str(own)
    for each in (env, own):
        each.reset(seed=2)
    assert env.agents == own.agents
    assert env.unwrapped.game.deal() == own.unwrapped.game.deal()


def test_gymnasium_knows_it() -> None:
    register_gymnasium()
    spec = gymnasium.spec("Gardienii-v0")
    assert spec.entry_point == "gardienii_env.envs.single:GardieniiSingleEnv"


def test_registering_again_is_silent() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        register_pettingzoo()
        register_gymnasium()


def test_pettingzoo_without_a_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(pettingzoo, "register")
    register_pettingzoo()
