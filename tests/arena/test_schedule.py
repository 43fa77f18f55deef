"""Who sits at which table."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest

from gardienii_env import AgentError, OptionError
from gardienii_env.arena.schedule import default_tables, round_robin, sampled_tables
from gardienii_env.arena.tournament import tables_of


def test_round_robin_is_every_pair_once() -> None:
    assert round_robin(3) == ((0, 1), (0, 2), (1, 2))
    assert len(set(round_robin(9))) == 36
    assert all(a < b for a, b in round_robin(9))


@pytest.mark.parametrize(
    ("agents", "players", "tables"),
    [(8, 4, 24), (10, 3, 30), (5, 4, 2), (6, 3, 19), (7, 3, 9), (12, 4, 36), (4, 4, 1), (30, 3, 90)],
)
def test_sampled_tables_are_balanced(agents: int, players: int, tables: int) -> None:
    drawn = sampled_tables(agents, players, tables, seed=1)
    assert len({frozenset(seats) for seats in drawn}) == tables
    assert all(len(set(seats)) == players for seats in drawn)
    sat = Counter(dict.fromkeys(range(agents), 0))
    sat.update(agent for seats in drawn for agent in seats)
    assert max(sat.values()) - min(sat.values()) <= 1
    together = Counter(dict.fromkeys(combinations(range(agents), 2), 0))
    together.update(pair for seats in drawn for pair in combinations(sorted(seats), 2))
    assert set(together) == set(combinations(range(agents), 2))
    assert max(together.values()) - min(together.values()) <= 2


def test_all_tables_there_are() -> None:
    assert sorted(sampled_tables(5, 3, 10, seed=1)) == list(combinations(range(5), 3))


def test_tables_follow_from_the_seed() -> None:
    assert sampled_tables(9, 3, 12, seed=1) == sampled_tables(9, 3, 12, seed=1)
    assert sampled_tables(9, 3, 12, seed=1) != sampled_tables(9, 3, 12, seed=2)


@pytest.mark.parametrize("tables", [1, 11])
def test_too_few_or_too_many_tables_are_refused(tables: int) -> None:
    with pytest.raises(OptionError, match=f"tables: {tables}; 5 agents at .* make from 2 to 10"):
        sampled_tables(5, 3, tables, seed=1)


@pytest.mark.parametrize(
    ("agents", "players", "tables"), [(3, 3, 1), (5, 3, 10), (10, 3, 30), (40, 4, 120)]
)
def test_tables_by_default(agents: int, players: int, tables: int) -> None:
    assert default_tables(agents, players) == tables


@pytest.mark.parametrize(
    ("error", "match", "agents", "players", "tables"),
    [
        (AgentError, "agents: 1 agent; a tournament at tables of 2 takes 2 to 40", 1, 2, None),
        (AgentError, "agents: 41 agents", 41, 3, None),
        (AgentError, "takes 4 to 40", 3, 4, None),
        (OptionError, "players: the number 5 is not known", 9, 5, None),
        (OptionError, "tables: 3; with two players", 4, 2, 3),
    ],
)
def test_tournaments_that_cannot_be(
    error: type[Exception], match: str, agents: int, players: int, tables: int | None
) -> None:
    with pytest.raises(error, match=match):
        tables_of(agents, players, tables, seed=1)
