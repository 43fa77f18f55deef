"""Progress on the terminal: bars, and the figures that matter while PPO learns."""

from __future__ import annotations

import sys
from collections import deque
from typing import Any

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback
from tqdm import tqdm

__all__ = ["LearningProgress", "progress"]

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


def progress(total: int, what: str, unit: str = "decisions") -> tqdm[Any]:
    """A bar that counts up to a total, on stderr; without a terminal it is a line now and then."""
    terminal = sys.stderr.isatty()
    return tqdm(
        total=total,
        desc=f"{what:<20}",
        unit=f" {unit}",
        unit_scale=total >= 10_000,
        file=sys.stderr if terminal else _Lines(),
        mininterval=REDRAWN if terminal else LINE_EVERY,
        dynamic_ncols=terminal,
    )


class LearningProgress(BaseCallback):
    """Moves the bar of PPO's learning; logs win share and score of the last games to TensorBoard."""

    def __init__(self, bar: tqdm[Any]) -> None:
        super().__init__()
        self.bar = bar
        self.wins: deque[bool] = deque(maxlen=RECENT_GAMES)
        self.scores: deque[int] = deque(maxlen=RECENT_GAMES)

    def _on_step(self) -> bool:
        for game in np.flatnonzero(self.locals["dones"]):
            info = self.locals["infos"][game]
            if not info["illegal_action"]:
                self.wins.append(info["winner"])
                self.scores.append(info["score"])
        return True

    def _on_rollout_end(self) -> None:
        if self.wins:
            win_share, score = np.mean(self.wins), np.mean(self.scores)
            self.logger.record("rollout/win_share", win_share)
            self.logger.record("rollout/score", score)
            self.bar.set_postfix(win_share=f"{win_share:.2f}", score=f"{score:.0f}", refresh=False)
        self.bar.update(self.num_timesteps - self.bar.n)
