"""Progress on the terminal: bars, and the figures that matter while PPO learns."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback
from tqdm import tqdm

__all__ = ["LearningProgress", "progress"]

RECENT_GAMES = 1000


def progress(total: int, what: str) -> tqdm[Any]:
    """A bar that counts decisions, on stderr; without a terminal it is redrawn rarely."""
    return tqdm(
        total=total,
        desc=f"{what:<20}",
        unit=" decisions",
        unit_scale=True,
        mininterval=0.5,
        dynamic_ncols=True,
    )


class LearningProgress(BaseCallback):
    """The bar of PPO's learning; logs win share, score and margin of the last games to TensorBoard."""

    def __init__(self, total: int) -> None:
        super().__init__()
        self.total = total
        self.wins: deque[bool] = deque(maxlen=RECENT_GAMES)
        self.scores: deque[int] = deque(maxlen=RECENT_GAMES)

    def _on_training_start(self) -> None:
        self.bar = progress(self.total, "learning by PPO")

    def _on_step(self) -> bool:
        for done, info in zip(self.locals["dones"], self.locals["infos"], strict=True):
            if done and not info["illegal_action"]:
                self.wins.append(info["winner"])
                self.scores.append(info["score"])
        return True

    def _on_rollout_end(self) -> None:
        self.bar.update(min(self.num_timesteps, self.total) - self.bar.n)
        if self.wins:
            self.logger.record("rollout/win_share", np.mean(self.wins))
            self.logger.record("rollout/score", np.mean(self.scores))
            self.bar.set_postfix(
                win_share=f"{np.mean(self.wins):.2f}", score=f"{np.mean(self.scores):.0f}"
            )

    def _on_training_end(self) -> None:
        self.bar.close()
