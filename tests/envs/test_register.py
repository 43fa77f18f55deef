"""Registration: environments can be made by name, and registering again is harmless."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium.vector import SyncVectorEnv

from gardienii_env import gardienii_v0
from gardienii_env.envs.register import register_gymnasium, register_pettingzoo
from gardienii_env.envs.vector import GardieniiVectorEnv


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
    assert spec.vector_entry_point == "gardienii_env.envs.vector:GardieniiVectorEnv"


@pytest.mark.parametrize("mode", ["vector_entry_point", "sync", None])
def test_gymnasium_makes_many(mode: str | None) -> None:
    """The batch, also if nothing is said, and Gymnasium's own: with the same games."""
    envs = gymnasium.make_vec("Gardienii-v0", 2, mode, opponents="random", num_players=3, seat=1)
    assert isinstance(envs, SyncVectorEnv if mode == "sync" else GardieniiVectorEnv)
    spec = envs.spec
    assert spec is not None
    assert spec.id == "Gardienii-v0"
    observations, infos = envs.reset(seed=5)
    single = gymnasium.make("Gardienii-v0", opponents="random", num_players=3, seat=1)
    for i in range(2):
        observation, info = single.reset(seed=5 + i)
        assert np.array_equal(observations[i], observation)
        assert np.array_equal(infos["action_mask"][i], info["action_mask"])
    made_again: Any = gymnasium.make_vec(spec)
    assert type(made_again) is type(envs)
    assert np.array_equal(made_again.reset(seed=5)[0], observations)


def test_registering_again_is_silent() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        register_pettingzoo()
        register_gymnasium()


def test_pettingzoo_without_a_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(pettingzoo, "register")
    register_pettingzoo()
