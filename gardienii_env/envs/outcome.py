"""What the environments pay and tell at the end of a game: the one place for both."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gardienii_env.rules import scoring
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.jit import compiled
from gardienii_env.rules.state import END_TURN_LIMIT, ENDS, States

__all__ = ["MARGIN_UNIT", "REWARDS", "Reward", "final_info", "final_rewards", "is_truncated"]

Reward = Literal["payoff", "margin", "points"]
REWARDS: tuple[Reward, ...] = ("payoff", "margin", "points")
"""`payoff`: at the end, in [-1, 1], sum 0. `margin`: at the end, (own points - mean of the others') /
50. `points`: every point of the own score when it changes; they sum to the final score."""

PAYOFF, MARGIN, POINTS = range(len(REWARDS))

MARGIN_UNIT = 50

END_NAMES = np.array(ENDS, object)


def final_rewards(batch: Batch, i: int, reward: Reward) -> npt.NDArray[np.float64]:
    """What each seat is paid because game i is over: shape (players,), float64; 0 for `points`."""
    return rewards_at_end(batch.rules, batch.states, i, REWARDS.index(reward))


@compiled
def rewards_at_end(
    rules: npt.NDArray[np.void], states: States, i: int, reward: int
) -> npt.NDArray[np.float64]:
    """`final_rewards`; `reward` is an index into `REWARDS`."""
    if reward == PAYOFF:
        return scoring.payoffs(rules, states, i)
    scores = scoring.scores(rules, states, i)
    rewards = np.zeros(scores.size)
    if reward == MARGIN:
        total = 0
        for seat in range(scores.size):
            total += scores[seat]
        for seat in range(scores.size):
            others = (total - scores[seat]) / (scores.size - 1)
            rewards[seat] = (scores[seat] - others) / MARGIN_UNIT
    return rewards


def is_truncated(batch: Batch, i: int) -> bool:
    """Whether game i was stopped by the turn limit."""
    return int(batch.states["end"][i]) == END_TURN_LIMIT


def final_info(batch: Batch, i: int, seat: int) -> dict[str, Any]:
    """What is worth logging of a finished game for a seat: all of it public by then."""
    return one_by_one(final_infos(batch, np.array([i]), np.array([seat])))[0]


def one_by_one(infos: dict[str, Any]) -> list[dict[str, Any]]:
    """A dict of arrays, some within a dict of their own, as a dict of plain values for each place."""
    lists = [
        one_by_one(values) if isinstance(values, dict) else values.tolist() for values in infos.values()
    ]
    return [dict(zip(infos, values, strict=True)) for values in zip(*lists, strict=True)]


def final_infos(
    batch: Batch, games: npt.NDArray[np.int64], seats: npt.NDArray[np.int64]
) -> dict[str, Any]:
    """`final_info` of these finished games, each for the seat in its place: arrays of shape (k,)."""
    points = np.empty((games.size, len(scoring.SOURCES)), np.int64)
    won = np.empty(games.size, np.bool_)
    payoffs = np.empty(games.size)
    write_outcomes(batch.rules, batch.states, games, seats, points, won, payoffs)
    return {
        "end": END_NAMES[batch.states["end"][games]],
        "turns": batch.states["turns"][games].astype(np.int64),
        "points": dict(zip(scoring.SOURCES, points.T, strict=True)),
        "score": points.sum(axis=1),
        "winner": won,
        "payoff": payoffs,
    }


@compiled
def write_outcomes(
    rules: npt.NDArray[np.void],
    states: States,
    games: npt.NDArray[np.int64],
    seats: npt.NDArray[np.int64],
    points: npt.NDArray[np.int64],
    won: npt.NDArray[np.bool_],
    payoffs: npt.NDArray[np.float64],
) -> None:
    """Write points by source, whether it won, and payoff of a seat in each of these games."""
    for k in range(games.size):
        i, seat = games[k], seats[k]
        by_source = scoring.points(rules, states, i)
        for source in range(points.shape[1]):
            points[k, source] = by_source[seat, source]
        won[k] = scoring.winners(rules, states, i)[seat]
        payoffs[k] = scoring.payoffs(rules, states, i)[seat]
