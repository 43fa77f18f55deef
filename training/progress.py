"""Progress on the terminal: bars, and what comes of the games while PPO learns."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback
from tqdm import tqdm

from training.pool import Pool

__all__ = ["Outcomes", "progress"]

RECENT_GAMES = 1000
REDRAWN = 0.5  # seconds, on a terminal
LINE_EVERY = 30  # seconds, where there is none


class _Lines:
    """stderr where it is no terminal: what a bar draws over itself becomes lines under each other."""

    def write(self, text: str) -> None:
        if line := text.strip():
            sys.stderr.write(line + "\n")

    def flush(self) -> None:
        sys.stderr.flush()


def progress(
    total: int, what: str, unit: str = "decisions", done: int = 0, quiet: bool = False
) -> tqdm[Any]:
    """A bar that counts up to a total, on stderr; without a terminal it is a line now and then.

    Args:
        total: what it counts up to.
        what: is counted.
        unit: of it.
        done: how much of it is done already.
        quiet: nothing is shown.
    """
    terminal = sys.stderr.isatty()
    return tqdm(
        total=total,
        initial=done,
        disable=quiet,
        desc=f"{what:<20}",
        unit=f" {unit}",
        unit_scale=total >= 10_000,
        file=sys.stderr if terminal else _Lines(),
        mininterval=REDRAWN if terminal else LINE_EVERY,
        dynamic_ncols=terminal,
    )


class Outcomes(BaseCallback):
    """Notes what came of the games that ended while PPO played: for the log, and for the pool.

    Attributes:
        wins, scores, payoffs: of the last games, those with an illegal action apart.
    """

    def __init__(self, num_players: int) -> None:
        super().__init__()
        self.num_players = num_players
        self.pool: Pool | None = None
        self.wins: deque[float] = deque(maxlen=RECENT_GAMES)
        self.scores: deque[int] = deque(maxlen=RECENT_GAMES)
        self.payoffs: deque[float] = deque(maxlen=RECENT_GAMES)

    def _on_step(self) -> bool:
        for game in np.flatnonzero(self.locals["dones"]):
            info = self.locals["infos"][game]
            if not info["illegal_action"]:
                self.note(info["payoff"], info["score"], info.get("opponents", ()))
        return True

    def note(self, payoff: float, score: int, opponents: Sequence[str]) -> None:
        """Note a game: the learner's payoff, its points, and the others' names if they were drawn."""
        n = self.num_players
        share = (payoff * (n - 1) + 1) / n
        self.wins.append(share)
        self.scores.append(score)
        self.payoffs.append(payoff)
        if self.pool is not None:
            self.pool.count(opponents, share)

    def figures(self) -> dict[str, float]:
        """Means over the last games; the learner's win share against each kind of opponent."""
        if not self.wins:
            return {}
        found = {
            "rollout/win_share": float(np.mean(self.wins)),
            "rollout/payoff": float(np.mean(self.payoffs)),
            "rollout/score": float(np.mean(self.scores)),
        }
        groups = self.pool.groups() if self.pool is not None else {}
        return found | {f"against/{name}": share for name, share in groups.items()}
