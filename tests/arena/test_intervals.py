"""Intervals are honest: of many matches among equals so many cover the truth as they say."""

from __future__ import annotations

import numpy as np
import pytest

from gardienii_env.agents import make_agents
from gardienii_env.arena import MatchResult, duplicate_match

REPEATS = 400


@pytest.mark.parametrize(
    ("agents", "duplicate", "deals"),
    [("greedy", False, 40), ("random", True, 25), ("random", False, 40)],
)
def test_an_interval_covers_the_truth_about_95_times_in_100(
    agents: str, duplicate: bool, deals: int
) -> None:
    """Many matches are one long one, cut up: its deals are independent."""
    whole = duplicate_match(
        make_agents(agents, 2), "gardienii", REPEATS * deals, seed=1_000_000, duplicate=duplicate
    )
    shares, margins = [], []
    for games in np.split(whole.games, REPEATS):
        match = MatchResult(whole.agents, whole.ruleset, whole.seed, games)
        share, margin = match.win_share(), match.margin()
        shares.append(share.low <= 0.5 <= share.high)
        margins.append(margin.low <= 0 <= margin.high)
    assert 0.92 <= np.mean(shares) <= 0.98
    assert 0.92 <= np.mean(margins) <= 0.98
