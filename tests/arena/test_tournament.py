"""Tournaments: the tables' matches, and the ratings."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from gardienii_env import AgentError
from gardienii_env.agents import Agent, make_agent
from gardienii_env.arena import MatchResult, duplicate_match, play_tournament
from gardienii_env.arena.ratings import ranks, rate
from gardienii_env.arena.results import GAME


class Named(Agent):
    """An agent under another name."""

    def __init__(self, agent: str, name: str) -> None:
        super().__init__()
        self.agent, self.name = make_agent(agent), name

    def act(self, batch, games, streams):  # type: ignore[no-untyped-def]
        return self.agent.act(batch, games, streams)


AGENTS = [Named("random", "a"), Named("greedy", "b"), Named("random", "c"), Named("greedy", "d")]


def test_every_pair_plays_the_same_deals() -> None:
    told: list[int] = []
    result = play_tournament(AGENTS[:3], "gardienii", deals=6, seed=4, progress=told.append)
    assert result.agents == ("a", "b", "c")
    assert (result.ruleset, result.seed, result.num_players) == ("gardienii", 4, 2)
    assert [seats for seats, _ in result.tables] == [(0, 1), (0, 2), (1, 2)]
    for table, (seats, match) in enumerate(result.tables):
        agents = [AGENTS[agent] for agent in seats]
        alone = duplicate_match(agents, "gardienii", deals=6, seed=4, table=table)
        assert match.agents == alone.agents
        assert match.games.tobytes() == alone.games.tobytes()
    assert sum(told) == result.num_games == 3 * 6 * 2


def test_agents_draw_other_numbers_at_every_table() -> None:
    """Or equal agents would play the same games again and again, and be rated for all of them."""
    agents = [make_agent("random") for _ in range(4)]
    for k, agent in enumerate(agents):
        agent.name = f"random {k}"
    result = play_tournament(agents, "gardienii", deals=2, seed=4)
    assert len({match.scores.tobytes() for _, match in result.tables}) == 6


def test_tables_of_three_with_all_rotations() -> None:
    result = play_tournament(AGENTS, "dragonkeepers", deals=3, seed=4, num_players=3)
    assert sorted(seats for seats, _ in result.tables) == [(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)]
    assert {match.games.shape for _, match in result.tables} == {(3, 3)}
    few = play_tournament(AGENTS, "dragonkeepers", deals=3, seed=4, num_players=3, tables=2)
    assert len(few.tables) == 2


def test_ratings_tell_who_is_stronger() -> None:
    result = play_tournament(AGENTS, "gardienii", deals=20, seed=4)
    a, b, c, d = result.ratings
    assert [rating.agent for rating in result.ratings] == ["a", "b", "c", "d"]
    assert min(b.low, d.low) > max(a.high, c.high)
    for rating in result.ratings:
        assert rating.mean - rating.low == pytest.approx(rating.high - rating.mean)
        assert rating.low < rating.mean
    again = play_tournament(AGENTS, "gardienii", deals=20, seed=4)
    assert again.ratings == result.ratings


def test_a_rating_is_that_of_the_model() -> None:
    """One game of two: both begin at 25, 25/3, and the model moves them by as much."""
    from openskill.models import PlackettLuce

    games = np.zeros((1, 1), GAME)
    games["share"][0, 0, :2] = 0, 1
    first, second = rate(("x", "y"), [((0, 1), MatchResult(("x", "y"), "r", 0, games))], seed=1)
    model = PlackettLuce()
    (winner,), (loser,) = model.rate([[model.rating()], [model.rating()]], ranks=[0, 1])
    assert (first.mean, second.mean) == (loser.mu, winner.mu)
    assert second.high == pytest.approx(winner.mu + 1.96 * winner.sigma, rel=1e-4)


def test_the_order_of_the_games_is_mixed() -> None:
    """First all won, then all lost: in that order the last games would count most."""
    games = np.zeros((400, 1), GAME)
    games["share"][:200, 0, 0] = 1
    games["share"][200:, 0, 1] = 1
    first, second = rate(("x", "y"), [((0, 1), MatchResult(("x", "y"), "r", 0, games))], seed=1)
    assert abs(first.mean - second.mean) < 4
    in_order = last_game_counts(games["share"][:, 0, 0] > 0)
    assert in_order > 4


def last_game_counts(won: npt.NDArray[np.bool_]) -> float:
    """How far apart the two are when the games are rated in their order."""
    from openskill.models import PlackettLuce

    model = PlackettLuce()
    x, y = model.rating(), model.rating()
    for win in won:
        (x,), (y,) = model.rate([[x], [y]], ranks=[0, 1] if win else [1, 0])
    return float(y.mu - x.mu)


def test_ranks_are_by_share_and_then_by_points() -> None:
    games = np.zeros((1, 2), GAME)
    games["share"][0, 0] = 0.5, 0, 0.5, 0
    games["points"][0, 0, :, 0] = 70, 70, 70, 60
    games["share"][0, 1] = 0, 1, 0, 0
    games["points"][0, 1, :, 1] = 5, 9, 5, 4
    result = MatchResult(("a", "b", "c", "d"), "r", 0, games)
    assert ranks(result).tolist() == [[[0, 2, 0, 3], [1, 0, 1, 3]]]


def test_names_must_differ() -> None:
    with pytest.raises(AgentError, match="two have one name"):
        play_tournament([make_agent("random"), make_agent("random")], "gardienii", deals=1, seed=1)
