"""Self-play: who is in the pool, who is drawn from it, what is counted; and frozen policies."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from gardienii_env import Game, layout
from gardienii_env.agents import new_streams
from training.config import SelfPlayConfig
from training.network import Layers, Snapshot
from training.pool import LATEST, PAST, Average, Pool


class Games:
    """Stands for the environment: notes who may be drawn."""

    def __init__(self) -> None:
        self.drawn: list[dict[str, float]] = []

    def draw_opponents(self, agents: Any, weights: Any) -> None:
        self.drawn.append({a.name: w for a, w in zip(agents, weights, strict=True)})


def layers_of(seed: int, size: int = layout(2).size) -> Layers:
    rng = np.random.default_rng(seed)
    shapes = ((size, 8), (8, 73))
    return Layers(
        tuple(rng.normal(size=shape).astype(np.float32) for shape in shapes),
        tuple(rng.normal(size=shape[1]).astype(np.float32) for shape in shapes),
        "tanh",
    )


def pool_of(**settings: Any) -> Pool:
    given = {"latest": 2, "past": 3, "agents": {"greedy": 1}, "snapshot_every": 2, "redraw_every": 1}
    return Pool(SelfPlayConfig(**{**given, **settings}), 2, "table", seed=1)


def follow(pool: Pool, updates: range) -> list[dict[str, float]]:
    """Let it follow some updates; who could be drawn, where that was told."""
    games: Any = Games()
    for update in updates:
        pool.follow(update, layers_of(update), games)
    drawn: list[dict[str, float]] = games.drawn
    return drawn


def test_the_weights_are_those_of_the_configuration() -> None:
    for drawn in follow(pool_of(), range(9)):
        assert drawn.pop(LATEST) == 2
        assert drawn.pop("greedy") == 1
        assert 1 <= len(drawn) <= 3
        assert sum(drawn.values()) == pytest.approx(3)
        assert len(set(drawn.values())) == 1


def test_what_has_no_weight_does_not_play() -> None:
    assert follow(pool_of(latest=0, agents={"greedy": 0, "random": 2}), range(1)) == [
        {"update 0": 3.0, "random": 2.0}
    ]
    assert follow(pool_of(past=0, agents={}), range(1)) == [{LATEST: 2.0}]


def test_a_snapshot_is_what_the_policy_was() -> None:
    pool = pool_of(pool_size=100)
    follow(pool, range(7))
    assert [snapshot.name for snapshot in pool.snapshots] == [f"update {k}" for k in (0, 2, 4, 6)]
    for snapshot, update in zip(pool.snapshots, (0, 2, 4, 6), strict=True):
        assert np.array_equal(snapshot.layers.weights[0], layers_of(update).weights[0])


def test_the_one_that_is_beaten_most_makes_room() -> None:
    pool = pool_of(pool_size=3)
    follow(pool, range(5))
    for name, won in (("update 0", 0.0), ("update 2", 1.0), ("update 4", 0.3)):
        pool.count([name], won)
    follow(pool, range(5, 7))
    assert [snapshot.name for snapshot in pool.snapshots] == ["update 0", "update 4", "update 6"]
    assert "update 2" not in pool.shares


def test_those_that_are_beaten_less_play_more() -> None:
    counts = {}
    for power in (0, 1, 4):
        pool = pool_of(pool_size=2, in_play=1, power=power)
        follow(pool, range(3))
        for _ in range(50):
            pool.count(["update 0"], 0.25)
            pool.count(["update 2"], 0.75)
        games: Any = Games()
        for _ in range(600):
            pool.follow(3, layers_of(3), games)
        drawn = games.drawn
        counts[power] = sum("update 0" in some for some in drawn) / 600
    assert counts[0] == pytest.approx(0.5, abs=0.08)
    assert counts[1] == pytest.approx(0.75, abs=0.08)
    assert counts[4] == pytest.approx(81 / 82, abs=0.03)


def test_none_is_in_play_twice() -> None:
    pool = pool_of(snapshot_every=1, in_play=3)
    for update, drawn in enumerate(follow(pool, range(20))):
        assert len([name for name in drawn if name.startswith("update")]) == min(3, update + 1)


def test_what_is_counted() -> None:
    pool = pool_of()
    follow(pool, range(3))
    for opponents, won in ((["greedy"], 1.0), (["greedy", LATEST], 0.0), (["update 0"], 1.0)):
        pool.count(opponents, won)
    pool.count(["update 2", "update 0"], 0.0)
    assert pool.groups() == {LATEST: 0.0, PAST: 0.5, "greedy": 0.5}
    assert pool.figures() == {"update 0": 0.5, "update 2": 0.0}


def test_an_average_forgets() -> None:
    average = Average(0.5, memory=10)
    average.add(1)
    assert average.mean == 1
    for _ in range(9):
        average.add(1)
    for _ in range(5):
        average.add(0)
    assert average.mean == pytest.approx(0.9**5)


def test_a_copy_draws_the_same() -> None:
    pool = pool_of(snapshot_every=1)
    follow(pool, range(6))
    copy = pickle.loads(pickle.dumps(pool))
    drawn = follow(pool, range(6, 30))
    assert follow(copy, range(6, 30)) == drawn
    assert len({tuple(some) for some in drawn}) > 3


# -- frozen policies -------------------------------------------------------------------------------


def test_a_snapshot_draws_by_the_games_own_generators() -> None:
    agent, game = Snapshot("a", layers_of(1), "table"), Game.new(2, seed=3)
    observation = game.observe(game.player or 0)[np.newaxis]
    logits = agent.layers.logits(observation)[0]
    legal = np.flatnonzero(game.legal_mask())
    expected = np.exp(logits[legal] - logits[legal].max())
    expected /= expected.sum()
    one = np.zeros(1, np.int64)
    actions = [int(agent.decide(game.batch, one, new_streams(seed, 1))[0]) for seed in range(3000)]
    shares = [actions.count(action) / 3000 for action in legal.tolist()]
    assert shares == pytest.approx(expected.tolist(), abs=0.035)
    assert actions == [int(agent.act(game.batch, one, new_streams(seed, 1))[0]) for seed in range(3000)]
