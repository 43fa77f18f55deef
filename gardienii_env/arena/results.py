"""What came of matches and tournaments, and how sure it is.

Games of one deal belong together: with every rotation of the seats played, the luck of the deal falls on
every agent alike. So all intervals are made from one number a deal, the mean over its games, and never
from single games.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from gardienii_env.rules.cards import NUMBERS
from gardienii_env.rules.ruleset import MAX_PLAYERS
from gardienii_env.rules.scoring import SOURCES

__all__ = [
    "GAME",
    "Estimate",
    "MatchResult",
    "Rating",
    "TournamentResult",
    "estimate",
    "estimate_share",
]

GAME = np.dtype(
    [
        ("deal", np.int64),  # counted from 0; dealt from the match's seed plus this
        ("rotation", np.int8),  # agent k sits in seat (k + rotation) % players
        ("end", np.int8),  # index into `rules.state.ENDS`
        ("turns", np.int16),  # turns begun and finished
        # By agent, in the order of the match; those beyond the number of players are 0.
        ("decisions", np.int32, MAX_PLAYERS),  # choices among at least two legal actions
        ("share", np.float64, MAX_PLAYERS),  # of the win: 1 alone, 1/k together with k - 1 others, 0
        ("points", np.int32, (MAX_PLAYERS, len(SOURCES))),  # by source, see `rules.scoring.SOURCES`
        ("sets", np.int16, (MAX_PLAYERS, NUMBERS)),  # sets played of 1 to 6 cards
    ],
    align=True,
)
"""What is kept of a game that was played."""

SAME = 1e-9  # values closer together are equal but for rounding
Z_95 = 1.959964  # 97.5 % quantile of the standard normal distribution


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % interval from `low` to `high`; they are nan where one deal says nothing."""

    mean: float
    low: float
    high: float

    def of(self, function: Callable[[float], float]) -> Estimate:
        """The estimate of a rising linear function of the same thing."""
        return Estimate(function(self.mean), function(self.low), function(self.high))


def estimate(values: npt.ArrayLike) -> Estimate:
    """The mean of independent values and its 95 % interval, by Student's t distribution."""
    numbers = np.asarray(values, np.float64)
    mean, deviation = _mean_and_deviation(numbers)
    half_width = t_95(numbers.size - 1) * deviation
    return Estimate(mean, mean - half_width, mean + half_width)


def estimate_share(values: npt.ArrayLike) -> Estimate:
    """The mean of independent shares, each from 0 to 1, and its 95 % interval within 0 and 1.

    Wilson's interval for as many independent wins and losses as would make the mean as uncertain as the
    values do, so that it is honest near 0 and 1 too. Where all values are equal, they count as one each.
    Source: E. L. Korn, B. I. Graubard, "Confidence intervals for proportions with small expected number
    of positive counts estimated from survey data", Survey Methodology 24, 1998.
    """
    numbers = np.asarray(values, np.float64)
    mean, deviation = _mean_and_deviation(numbers)
    if not np.isfinite(deviation):
        return Estimate(mean, deviation, deviation)
    games = numbers.size if np.ptp(numbers) < SAME else mean * (1 - mean) / deviation**2
    z2 = t_95(numbers.size - 1) ** 2
    centre = (mean + z2 / (2 * games)) / (1 + z2 / games)
    half_width = sqrt(z2 * (mean * (1 - mean) / games + z2 / (4 * games**2))) / (1 + z2 / games)
    low, high = min(mean, centre - half_width), max(mean, centre + half_width)  # rounding apart
    return Estimate(mean, max(0.0, low), min(1.0, high))


def t_95(freedom: int) -> float:
    """The 97.5 % quantile of Student's t distribution; nan without freedom.

    By the expansion in 1/freedom around the normal quantile, exact to 0.2 % from 5 degrees on; below
    those the first ones are written out. Source: M. Abramowitz, I. Stegun, "Handbook of Mathematical
    Functions", 26.7.5.
    """
    few = (float("nan"), 12.7062, 4.3027, 3.1824, 2.7764)
    if freedom < len(few):
        return few[max(freedom, 0)]
    z, v = Z_95, float(freedom)
    return (
        z
        + (z**3 + z) / (4 * v)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3)
    )


def _mean_and_deviation(numbers: npt.NDArray[np.float64]) -> tuple[float, float]:
    """The mean, and its standard deviation: nan for a single value."""
    if numbers.size < 2:
        return float(numbers.mean()), float("nan")
    return float(numbers.mean()), float(numbers.std(ddof=1)) / sqrt(numbers.size)


@dataclass(frozen=True, repr=False)
class MatchResult:
    """The games of a match, and what they add up to for agent k (its place in `agents`).

    Attributes:
        agents: their names, one for each seat.
        ruleset: its name.
        seed: of the match: deal d is dealt from `seed + d`, as in `Game.new`.
        games: shape (deals, rotations), dtype `GAME`. With duplicate play there are as many rotations as
            players, otherwise one.
    """

    agents: tuple[str, ...]
    ruleset: str
    seed: int
    games: npt.NDArray[np.void]

    def __repr__(self) -> str:
        return f"<match of {', '.join(self.agents)} ({self.ruleset}): {self.num_games} games>"

    @property
    def num_players(self) -> int:
        """How many seats there are."""
        return len(self.agents)

    @property
    def num_deals(self) -> int:
        """How many deals were played."""
        return int(self.games.shape[0])

    @property
    def num_games(self) -> int:
        """How many games were played."""
        return int(self.games.size)

    @property
    def shares(self) -> npt.NDArray[np.float64]:
        """Shares of the win, shape (deals, rotations, agents), float64."""
        shares: npt.NDArray[np.float64] = self.games["share"][..., : self.num_players]
        return shares

    @property
    def scores(self) -> npt.NDArray[np.int64]:
        """Points at the end, shape (deals, rotations, agents), int64."""
        points = self.games["points"][..., : self.num_players, :]
        scores: npt.NDArray[np.int64] = points.sum(axis=-1, dtype=np.int64)
        return scores

    @property
    def decisions(self) -> int:
        """Decisions made in all games together."""
        return int(self.games["decisions"].sum())

    def win_share(self, agent: int = 0) -> Estimate:
        """Share of the win."""
        return estimate_share(self.shares[:, :, agent].mean(axis=1))

    def payoff(self, agent: int = 0) -> Estimate:
        """Payoff from -1 to 1: (players x share - 1) / (players - 1)."""
        n = self.num_players
        return self.win_share(agent).of(lambda share: (n * share - 1) / (n - 1))

    def score(self, agent: int = 0) -> Estimate:
        """Points at the end."""
        return estimate(self.scores[:, :, agent].mean(axis=1))

    def margin(self, agent: int = 0) -> Estimate:
        """Own points less the others' mean."""
        scores = self.scores
        own = scores[:, :, agent]
        others = (scores.sum(axis=2) - own) / (self.num_players - 1)
        return estimate((own - others).mean(axis=1))

    def points(self, agent: int = 0) -> dict[str, Estimate]:
        """Points by source."""
        return self._named(SOURCES, self.games["points"][:, :, agent])

    def sets(self, agent: int = 0) -> dict[str, Estimate]:
        """Sets played in a game, by the number of cards: keys `1` to `6`."""
        names = [str(number + 1) for number in range(NUMBERS)]
        return self._named(names, self.games["sets"][:, :, agent])

    def decisions_per_game(self, agent: int = 0) -> Estimate:
        """Decisions of the agent in a game."""
        return estimate(self.games["decisions"][:, :, agent].mean(axis=1))

    def turns(self) -> Estimate:
        """Length of a game in turns."""
        return estimate(self.games["turns"].mean(axis=1))

    @staticmethod
    def _named(names: Sequence[str], values: npt.NDArray[Any]) -> dict[str, Estimate]:
        """Estimates of the last axis of an array by deal, rotation and name."""
        means = values.mean(axis=1)
        return {name: estimate(means[:, k]) for k, name in enumerate(names)}


@dataclass(frozen=True)
class Rating:
    """The strength of an agent in a tournament, by a rating system for games of several players."""

    agent: str
    mean: float
    low: float
    """Lower end of the 95 % interval."""
    high: float


@dataclass(frozen=True, repr=False)
class TournamentResult:
    """The matches of a tournament, with what they say together.

    Attributes:
        agents: their names, in the order given.
        ruleset, seed: as in `MatchResult`.
        num_players: at each table.
        tables: for each match, which agents sat down (places in `agents`), and its result.
        ratings: one for each agent, in the order of `agents`.
    """

    agents: tuple[str, ...]
    ruleset: str
    seed: int
    num_players: int
    tables: tuple[tuple[tuple[int, ...], MatchResult], ...]
    ratings: tuple[Rating, ...]

    def __repr__(self) -> str:
        agents = ", ".join(self.agents)
        return f"<tournament of {agents} ({self.ruleset}): {self.num_games} games>"

    @property
    def num_games(self) -> int:
        """How many games were played."""
        return sum(result.num_games for _, result in self.tables)

    @property
    def fair_share(self) -> float:
        """The share of the win that equals among equals have."""
        return 1 / self.num_players

    def win_share(self, agent: int) -> Estimate:
        """Share of the win over all games in which the agent sat.

        All tables play the same deals, so a deal's games at all of them belong together.
        """
        shares = [
            result.shares[:, :, seats.index(agent)].mean(axis=1)
            for seats, result in self.tables
            if agent in seats
        ]
        return estimate_share(np.mean(shares, axis=0))

    def against(self, agent: int, other: int) -> Estimate | None:
        """How often an agent came out ahead of another; None where they never sat at one table.

        With two players it is the share of the win. With more it is ahead of the other who has more of
        the win, or else more points; where these are level, it counts a half.
        """
        values = [
            _ahead(result, seats.index(agent), seats.index(other)).mean(axis=1)
            for seats, result in self.tables
            if agent != other and agent in seats and other in seats
        ]
        return estimate_share(np.mean(values, axis=0)) if values else None

    def cycles(self) -> list[tuple[str, str, str]]:
        """Agents that beat each other in a circle: the first the second, it the third, it the first.

        Only what is sure counts as beating: an interval wholly above a half.
        """
        count = range(len(self.agents))
        beats = {
            (a, b)
            for a in count
            for b in count
            if (ahead := self.against(a, b)) is not None and ahead.low > 0.5
        }
        return [
            (self.agents[a], self.agents[b], self.agents[c])
            for a, b in sorted(beats)
            for c in count
            if a < min(b, c) and (b, c) in beats and (c, a) in beats
        ]


def _ahead(result: MatchResult, agent: int, other: int) -> npt.NDArray[np.float64]:
    """Whether an agent was ahead of another: 1, 0 or a half, shape (deals, rotations)."""
    shares, scores = result.shares, result.scores
    by_share = np.sign(shares[:, :, agent] - shares[:, :, other])
    by_score = np.sign(scores[:, :, agent] - scores[:, :, other])
    ahead: npt.NDArray[np.float64] = 0.5 + 0.5 * np.where(by_share != 0, by_share, by_score)
    return ahead
