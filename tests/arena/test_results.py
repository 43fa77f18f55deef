"""Estimates: what intervals are made of, and how often they hold what they should."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats
from small_matches import match, tournament

from gardienii_env.arena.results import Estimate, estimate, estimate_share, t_95

stats: Any = scipy.stats


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 6, 7, 10, 30, 100, 10_000])
def test_quantiles_of_students_distribution(freedom: int) -> None:
    assert t_95(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=2e-3)
    assert np.isnan(t_95(0))


def test_an_interval_of_a_mean_is_students() -> None:
    values = np.random.default_rng(1).normal(3, 2, 12)
    low, high = stats.t.interval(0.95, 11, values.mean(), stats.sem(values))
    found = estimate(values)
    assert (found.mean, found.low, found.high) == pytest.approx((values.mean(), low, high), rel=1e-3)


def test_an_interval_of_wins_is_wilsons() -> None:
    """For single wins and losses, as the variance of the mean is the binomial one (but for n - 1)."""
    wins = np.array([1.0] * 900 + [0.0] * 100)
    low, high = stats.binomtest(900, 1000).proportion_ci(method="wilson")
    found = estimate_share(wins)
    assert (found.mean, found.low, found.high) == pytest.approx((0.9, low, high), abs=2e-4)


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


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_all_or_nothing_is_not_certain(value: float) -> None:
    found = estimate_share([value] * 50)
    assert found.mean == value
    assert found.high - found.low == pytest.approx(0.075, abs=0.01)
    assert 0 <= found.low <= value <= found.high <= 1


def test_one_deal_says_nothing() -> None:
    for found in (estimate([3.0]), estimate_share([0.5])):
        assert np.isnan([found.low, found.high]).all()


def test_a_payoff_is_a_share_on_another_scale() -> None:
    result = match(("greedy", "random", "random"), 10)
    share, payoff = result.win_share(0), result.payoff(0)
    for name in ("mean", "low", "high"):
        assert getattr(payoff, name) == pytest.approx((3 * getattr(share, name) - 1) / 2)


def test_the_same_deals_at_two_tables_are_no_more_deals() -> None:
    result = match(("greedy", "random"), 12)
    once = tournament(("a", "b"), [((0, 1), result)])
    twice = tournament(("a", "b", "c"), [((0, 1), result), ((0, 2), result)])
    assert twice.win_share(0) == once.win_share(0)
    assert isinstance(once.against(0, 1), Estimate)
    assert twice.against(1, 2) is None
