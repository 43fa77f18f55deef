"""Actions drawn from logits: legal, by the softmax, and by the game's own generator alone."""

from __future__ import annotations

import numpy as np
import pytest

from gardienii_env.agents import new_streams
from gardienii_env.agents.sampling import sample_actions


def drawn(logits: list[float], legal: list[int], times: int, seed: int = 1) -> list[int]:
    """So many draws for games with the same logits (of the first actions) and legal actions."""
    given = np.zeros((times, 73), np.float32)
    given[:, : len(logits)] = logits
    masks = np.zeros((times, 73), np.int8)
    masks[:, legal] = 1
    actions = np.empty(times, np.int64)
    sample_actions(given, masks, np.arange(times), new_streams(seed, times), actions)
    return actions.tolist()


def test_by_the_softmax_of_the_legal_ones() -> None:
    logits = [float(np.log(k + 1)) for k in range(4)] + [50.0]
    actions = drawn(logits, [0, 1, 3], 20_000)
    shares = np.bincount(actions, minlength=5) / 20_000
    assert shares == pytest.approx([1 / 7, 2 / 7, 0, 4 / 7, 0], abs=0.015)


def test_extreme_logits() -> None:
    assert set(drawn([1e30, -1e30], [0, 1], 50)) == {0}
    assert set(drawn([-1e30, -1e30, 5], [0, 1], 200)) == {0, 1}
    assert set(drawn([3.0], [72], 20)) == {72}


def test_each_game_has_its_own_generator() -> None:
    rng = np.random.default_rng(1)
    logits = rng.normal(size=(6, 73)).astype(np.float32)
    masks = np.ones((9, 73), np.int8)
    games = np.array([7, 2, 5, 0, 8, 3])

    def play(rows: list[int]) -> tuple[list[int], list[int]]:
        streams, actions = new_streams(3, 9), np.empty(len(rows), np.int64)
        sample_actions(logits[rows], masks, games[rows], streams, actions)
        return actions.tolist(), np.flatnonzero(streams["rng"] != new_streams(3, 9)["rng"]).tolist()

    together, moved = play([0, 1, 2, 3, 4, 5])
    assert moved == sorted(games)
    for k in range(6):
        assert play([k]) == ([together[k]], [games[k]])
