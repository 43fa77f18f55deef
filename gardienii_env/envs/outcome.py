"""What the environments pay and tell at the end of a game: the one place for both."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gardienii_env.rules import scoring
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.state import END_TURN_LIMIT, ENDS

__all__ = ["MARGIN_UNIT", "REWARDS", "Reward", "final_info", "final_rewards", "is_truncated"]

Reward = Literal["payoff", "margin", "points"]
REWARDS: tuple[Reward, ...] = ("payoff", "margin", "points")
"""`payoff`: at the end, in [-1, 1], sum 0. `margin`: at the end, (own points - mean of the others') /
50. `points`: every point of the own score when it changes; they sum to the final score."""

MARGIN_UNIT = 50


def final_rewards(batch: Batch, i: int, reward: Reward) -> npt.NDArray[np.float64]:
    """What each seat is paid because game i is over: shape (players,), float64; 0 for `points`."""
    if reward == "payoff":
        return scoring.payoffs(batch.rules, batch.states, i)
    if reward == "margin":
        scores = scoring.points(batch.rules, batch.states, i).sum(axis=1)
        others = (scores.sum() - scores) / (scores.size - 1)
        margins: npt.NDArray[np.float64] = (scores - others) / MARGIN_UNIT
        return margins
    return np.zeros(batch.num_players)


def is_truncated(batch: Batch, i: int) -> bool:
    """Whether game i was stopped by the turn limit."""
    return int(batch.states["end"][i]) == END_TURN_LIMIT


def final_info(batch: Batch, i: int, seat: int) -> dict[str, Any]:
    """What is worth logging of a finished game for a seat: all of it public by then."""
    points = scoring.points(batch.rules, batch.states, i)
    return {
        "end": ENDS[batch.states["end"][i]],
        "turns": int(batch.states["turns"][i]),
        "points": dict(zip(scoring.SOURCES, points[seat].tolist(), strict=True)),
        "score": int(points[seat].sum()),
        "winner": bool(scoring.winners(batch.rules, batch.states, i)[seat]),
        "payoff": float(scoring.payoffs(batch.rules, batch.states, i)[seat]),
    }
