"""What results add up to: estimates, shares, who is ahead of whom, circles."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

from gardienii_env.arena import Estimate, MatchResult, Rating, TournamentResult
from gardienii_env.arena.results import GAME, estimate, estimate_share, t_95


def match_of(shares: Sequence[Sequence[float]], points: Sequence[Sequence[int]] = ()) -> MatchResult:
    """A match of independent games with these shares, and points from dragons, by game and agent."""
    games = np.zeros((len(shares), 1), GAME)
    players = len(shares[0])
    games["share"][:, 0, :players] = shares
    if points:
        games["points"][:, 0, :players, 0] = points
    return MatchResult(tuple("abcd"[:players]), "gardienii", 0, games)


def tournament_of(*tables: tuple[tuple[int, ...], MatchResult]) -> TournamentResult:
    names = tuple("abcde"[: 1 + max(max(seats) for seats, _ in tables)])
    ratings = tuple(Rating(name, 25, 10, 40) for name in names)
    return TournamentResult(names, "gardienii", 0, len(tables[0][0]), tables, ratings)


stats: Any = scipy_stats  # without types


# -- estimates -------------------------------------------------------------------------------------


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 6, 10, 30, 1000, 10**6])
def test_quantiles_of_t(freedom: int) -> None:
    assert t_95(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=2e-3)


def test_an_estimate_is_a_t_interval() -> None:
    values = [3.0, 5.0, 4.0, 8.0, 1.0, 2.0, 6.0]
    low, high = stats.t.interval(0.95, 6, np.mean(values), stats.sem(values))
    found = estimate(values)
    assert found.mean == pytest.approx(np.mean(values))
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-3)


def test_a_share_has_nearly_the_interval_of_wilson() -> None:
    """Of many wins and losses; t takes the place of the normal quantile."""
    values = [1.0] * 300 + [0.0] * 700
    expected = stats.binomtest(300, 1000).proportion_ci(0.95, "wilson")
    found = estimate_share(values)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=2e-4)


@pytest.mark.parametrize("value", [0.0, 1.0])
@pytest.mark.parametrize("deals", [2, 10, 10_000])
def test_a_share_that_never_changed_is_not_sure(value: float, deals: int) -> None:
    found = estimate_share([value] * deals)
    assert found.low <= found.mean == value <= found.high
    assert 0 <= found.low < found.high <= 1
    assert found.high - found.low == pytest.approx(1 / (1 + deals / t_95(deals - 1) ** 2))


@pytest.mark.parametrize("value", [1 / 3, 2 / 3, 0.1])
def test_equal_shares_are_not_sure_whatever_rounding_does(value: float) -> None:
    for deals in range(2, 60):
        found = estimate_share(np.full(deals, value))
        assert found.low < value - 0.02
        assert found.high > value + 0.02


def test_one_value_has_no_interval() -> None:
    for found in (estimate([3.0]), estimate_share([1.0])):
        assert isnan(found.low)
        assert isnan(found.high)


# -- matches ---------------------------------------------------------------------------------------


def test_a_payoff_is_a_share_on_another_scale() -> None:
    result = match_of([[1, 0, 0], [0, 1, 0], [0.5, 0.5, 0], [1, 0, 0]])
    share, payoff = result.win_share(0), result.payoff(0)
    assert share.mean == 0.625
    assert payoff == Estimate((3 * 0.625 - 1) / 2, (3 * share.low - 1) / 2, (3 * share.high - 1) / 2)


def test_a_margin_is_to_the_others_mean() -> None:
    result = match_of([[1, 0, 0], [1, 0, 0]], [[10, 4, 2], [20, 8, 4]])
    assert [result.margin(k).mean for k in range(3)] == [10.5, -3.0, -7.5]
    assert result.score(0).mean == 15
    assert result.points(1)["dragons"].mean == 6
    assert result.points(1)["eggs"] == Estimate(0, 0, 0)


# -- tournaments -----------------------------------------------------------------------------------


def test_shares_are_over_all_tables() -> None:
    result = tournament_of(((0, 1), match_of([[1, 0]] * 3)), ((2, 0), match_of([[1, 0]] * 3)))
    assert result.win_share(0).mean == 0.5
    assert result.win_share(2).mean == 1
    assert (result.num_games, result.fair_share) == (6, 0.5)


def test_ahead_is_more_of_the_win_and_then_more_points() -> None:
    shares: list[list[float]] = [[1, 0, 0], [0, 0, 1], [0, 0.5, 0.5], [0, 0, 1]]
    points = [[9, 5, 4], [4, 4, 9], [6, 6, 6], [5, 6, 9]]
    result = tournament_of(((0, 1, 2), match_of(shares, points)))
    ahead = {(a, b): result.against(a, b) for a in range(3) for b in range(3)}
    means = {pair: found.mean for pair, found in ahead.items() if found is not None}
    assert means == {
        (0, 1): 0.375,
        (1, 0): 0.625,
        (0, 2): 0.25,
        (2, 0): 0.75,
        (1, 2): 0.375,
        (2, 1): 0.625,
    }


def test_who_never_met_is_not_compared() -> None:
    result = tournament_of(((0, 1), match_of([[1, 0]])), ((1, 2), match_of([[1, 0]])))
    assert result.against(0, 2) is None
    assert result.against(1, 1) is None


def test_circles_are_found_where_they_are_sure() -> None:
    sure, unsure = match_of([[1, 0]] * 20), match_of([[1, 0]] * 11 + [[0, 1]] * 9)
    circle = tournament_of(((0, 1), sure), ((1, 2), sure), ((2, 0), sure))
    assert circle.cycles() == [("a", "b", "c")]
    assert tournament_of(((0, 1), sure), ((1, 2), sure), ((2, 0), unsure)).cycles() == []
    assert tournament_of(((1, 0), sure), ((2, 1), sure), ((0, 2), sure)).cycles() == [("a", "c", "b")]


@pytest.mark.parametrize("share", [0.02, 0.5, 0.97])
@pytest.mark.parametrize("deals", [20, 200])
def test_intervals_of_shares_hold_the_truth(share: float, deals: int) -> None:
    """Also near 0 and 1; the shares of a deal are means of two games that have something in common."""
    rng = np.random.default_rng(deals)
    held = 0
    for _ in range(1000):
        common = rng.random(deals)[:, None] < 0.5
        own, shared = rng.random((deals, 2)) < share, rng.random((deals, 1)) < share
        found = estimate_share(np.where(common, shared, own).mean(axis=1))
        held += found.low <= share <= found.high
    assert 0.92 <= held / 1000 <= 0.99


def test_the_same_deals_at_two_tables_are_no_more_deals() -> None:
    result = match_of([[1, 0]] * 7 + [[0, 1]] * 5)
    once = tournament_of(((0, 1), result))
    twice = tournament_of(((0, 1), result), ((0, 2), result))
    assert twice.win_share(0) == once.win_share(0)
    assert isinstance(once.against(0, 1), Estimate)
    assert twice.against(1, 2) is None
