"""Who sits at which table of a tournament."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import ceil, comb

import numpy as np
import numpy.typing as npt

from gardienii_env.errors import OptionError
from gardienii_env.rules.random import seed_streams
from gardienii_env.words import count_words

__all__ = ["MAX_AGENTS", "default_tables", "round_robin", "sampled_tables"]

MAX_AGENTS = 40
"""The most agents of a tournament."""

TABLES_AN_AGENT = 3
"""Tables that are drawn by default, for each agent."""

DRAWS, FEW_GROUPS = 20, 1000
"""So many draws are tried, and the most even one taken, where there are no more than so many groups."""

Groups = npt.NDArray[np.int64]


def round_robin(agents: int) -> tuple[tuple[int, ...], ...]:
    """Every pair of agents once."""
    return tuple(combinations(range(agents), 2))


def default_tables(agents: int, players: int) -> int:
    """How many tables are drawn where nobody says: three an agent, or all there are."""
    return min(TABLES_AN_AGENT * agents, comb(agents, players))


def sampled_tables(agents: int, players: int, tables: int, seed: int) -> tuple[tuple[int, ...], ...]:
    """So many different groups, drawn so that all agents and all pairs sit about equally often.

    Each group is drawn among those whose agents have sat least, and of these among those whose pairs
    have. OptionError if there are not so many groups, or too few for everybody to sit once.
    """
    most, least = comb(agents, players), ceil(agents / players)
    if not least <= tables <= most:
        raise OptionError(
            f"tables: {tables}; {count_words(agents, 'agent')} at tables of {players} make from {least} "
            f"to {most} different tables."
        )
    rng = np.random.default_rng(seed_streams(seed, 1))
    groups = np.array(list(combinations(range(agents), players)))
    draws = [_draw(groups, tables, rng) for _ in range(DRAWS if len(groups) <= FEW_GROUPS else 1)]
    return min(draws, key=_unevenness)


def _draw(groups: Groups, tables: int, rng: np.random.Generator) -> tuple[tuple[int, ...], ...]:
    """One draw; `groups` are all there are, shape (groups, players)."""
    agents, players = groups.max() + 1, groups.shape[1]
    free = np.ones(len(groups), np.bool_)
    sat = np.zeros(agents, np.int64)
    together = np.zeros((agents, agents), np.int64)
    chosen = []
    for _ in range(tables):
        by_agent = sat[groups].sum(axis=1)
        by_pair = sum(together[groups[:, a], groups[:, b]] for a, b in combinations(range(players), 2))
        cost = np.where(free, by_agent * (1 + players**2 * tables) + by_pair, np.iinfo(np.int64).max)
        k = rng.choice(np.flatnonzero(cost == cost.min()))
        free[k] = False
        chosen.append(tuple(int(agent) for agent in groups[k]))
        sat[groups[k]] += 1
        for a, b in combinations(groups[k], 2):
            together[a, b] += 1
    return tuple(chosen)


def _unevenness(tables: tuple[tuple[int, ...], ...]) -> tuple[int, int]:
    """Sums of squares of how often agents and pairs sit: the smaller, the more even."""
    sat = Counter(agent for seats in tables for agent in seats)
    together = Counter(pair for seats in tables for pair in combinations(seats, 2))
    return sum(n * n for n in sat.values()), sum(n * n for n in together.values())
