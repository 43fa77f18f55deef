"""The rewards that PPO learns from."""

from __future__ import annotations

import pickle
import random
from typing import Any

import numpy as np
import pytest

from gardienii_env import NUM_ACTIONS
from gardienii_env.agents.prior import observe
from training.config import Config
from training.games import TrainingGames


def games_of(players: int = 2, prior: bool = False, **env: Any) -> TrainingGames:
    given = {"num_envs": 8, "opponents": "greedy", "num_players": players, **env}
    network = {"features": "cards", "prior": "planner"} if prior else {}
    return TrainingGames(Config.model_validate({"name": "test", "env": given, "network": network}))


def play(games: TrainingGames, steps: int = 220) -> tuple[list[tuple[float, Any]], int]:
    """Returns of the episodes that ended, with their infos; how many rewards were not 0."""
    rng, returns, ended, paid = random.Random(1), np.zeros(games.num_envs), [], 0
    for _ in range(steps):
        masks = games.action_masks()
        actions = np.array([rng.choice(np.flatnonzero(mask).tolist()) for mask in masks])
        _, rewards, dones, infos = games.step(actions)
        assert rewards.dtype == np.float32
        returns += rewards
        paid += int(np.count_nonzero(rewards))
        for i in np.flatnonzero(dones):
            ended.append((returns[i], infos[i]))
            returns[i] = 0
    return ended, paid


@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_returns_are_what_the_configuration_says(players: int, share: float) -> None:
    payoff = {"first": share, "last": share}
    margins = games_of(players, reward="margin", payoff={"first": 0.0})
    margins.reset()
    expected, ends = play(margins)
    assert len(expected) >= 8
    for reward in ("margin", "lead", "payoff", "points"):
        games = games_of(players, reward=reward, payoff=payoff)
        games.reset()
        found, paid = play(games)
        assert len(found) == len(expected)
        for (given, info), (margin, same) in zip(found, expected, strict=True):
            assert info["score"] == same["score"]
            base = {"payoff": info["payoff"], "points": info["score"] / 50}.get(reward, margin)
            assert given == pytest.approx((1 - share) * base + share * info["payoff"], abs=1e-5)
        often = share < 1 and reward in ("lead", "points")
        assert paid > 2 * ends if often else paid <= len(found)


def test_a_copy_pays_the_same() -> None:
    games = games_of(reward="lead")
    games.reset()
    play(games, 50)
    copy = pickle.loads(pickle.dumps(games))
    assert [given for given, _ in play(copy)[0]] == [given for given, _ in play(games)[0]]


def test_what_planner_thinks_comes_after_what_the_learner_sees() -> None:
    plain, games = games_of(), games_of(prior=True)
    (size,), (longer,) = plain.observation_space.shape or (), games.observation_space.shape or ()
    assert longer == size + NUM_ACTIONS
    seen, expected = games.reset(), plain.reset()
    rng, everything, ended = random.Random(1), np.arange(8), 0
    for _ in range(150):
        assert seen.shape == (8, longer)
        assert games.observation_space.contains(seen[0])
        assert np.array_equal(seen[:, :size], expected)
        batch = games.table.batch
        assert np.array_equal(seen, observe(batch, everything, "table", True))
        masks = games.action_masks()
        actions = np.array([rng.choice(np.flatnonzero(mask).tolist()) for mask in masks])
        seen, _, dones, infos = games.step(actions)
        expected, _, same, others = plain.step(actions)
        assert np.array_equal(dones, same)
        for i in np.flatnonzero(dones):
            last = infos[i]["terminal_observation"]
            assert np.array_equal(last[:size], others[i]["terminal_observation"])
            assert last.shape == (longer,)
            assert not last[size:].any()
            ended += 1
    assert ended


def test_an_illegal_action_costs_the_payoff() -> None:
    games = games_of(payoff={"first": 0.5})
    games.reset()
    _, rewards, dones, _ = games.step(np.full(8, 72))
    assert dones.all()
    assert rewards == pytest.approx([-1] * 8)
