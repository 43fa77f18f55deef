"""The agent `random`: every legal action is equally likely."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from positions import position
from scipy.stats import chisquare

from gardienii_env import Game
from gardienii_env.agents import make_agent, new_streams

DRAWS = 6000
LEAST_P = 1e-3

POSITIONS = {
    "deal": Game.new(2, seed=1),
    "two actions": position(step="play", spell="1w", hands=["W1"]),
    "take, or pass": position(step="take", supply="W1 R1 Wr Wb", taken=1, hands=["W1"]),
    "modify": position(step="modify", spell="2w", hands=["W1 W2 R3 B4 Gr D6 Bw"]),
    "column": position(
        2, "dragonkeepers", step="column", spell="1b", tableaus=["WR"], opened=1, open=[10]
    ),
}


@pytest.mark.parametrize("name", POSITIONS)
def test_every_legal_action_is_equally_likely(name: str) -> None:
    game, agent = POSITIONS[name], make_agent("random")
    agent.reset(1)
    counts = Counter(agent.choose(game) for _ in range(DRAWS))
    assert set(counts) == set(game.legal_actions())
    assert chisquare(list(counts.values())).pvalue > LEAST_P


def test_the_games_of_a_batch_are_drawn_independently() -> None:
    """The same position everywhere: pairs of neighbours are equally likely too."""
    game, agent = POSITIONS["two actions"], make_agent("random")
    batch = Game.of(game.batch).batch
    streams, legal = new_streams(1, DRAWS), len(game.legal_actions())
    actions = [int(agent.act(batch, np.zeros(1, np.int64), streams[i:])[0]) for i in range(DRAWS)]
    pairs = Counter(zip(actions[::2], actions[1::2], strict=True))
    assert len(pairs) == legal**2
    assert chisquare(list(pairs.values())).pvalue > LEAST_P


def test_consecutive_choices_are_independent() -> None:
    game, agent = POSITIONS["take, or pass"], make_agent("random")
    agent.reset(2)
    actions = [agent.choose(game) for _ in range(2 * DRAWS)]
    pairs = Counter(zip(actions[::2], actions[1::2], strict=True))
    assert len(pairs) == len(game.legal_actions()) ** 2
    assert chisquare(list(pairs.values())).pvalue > LEAST_P
