"""`random`: every legal action is equally likely."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gardienii_env.agents.base import Agent
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.engine import Masks
from gardienii_env.rules.jit import compiled
from gardienii_env.rules.random import draw_below

__all__ = ["RandomAgent", "random_action"]


class RandomAgent(Agent):
    """Chooses uniformly among the legal actions."""

    name = "random"

    def act(
        self, batch: Batch, games: npt.NDArray[np.int64], streams: npt.NDArray[np.void]
    ) -> npt.NDArray[np.int64]:
        """See `Agent.act`."""
        actions = np.empty(games.size, np.int64)
        random_actions(batch.masks, games, streams, actions)
        return actions


@compiled
def random_actions(
    masks: Masks,
    games: npt.NDArray[np.int64],
    streams: npt.NDArray[np.void],
    actions: npt.NDArray[np.int64],
) -> None:
    """A random legal action for each of `games`, into `actions`."""
    for k in range(games.size):
        actions[k] = random_action(masks, games[k], streams)


@compiled
def random_action(masks: Masks, i: int, streams: npt.NDArray[np.void]) -> int:
    """A random legal action for game i, drawn from `streams[i]`."""
    count = 0
    for action in range(masks.shape[1]):
        count += masks[i, action]
    nth = draw_below(streams[i], count)
    for action in range(masks.shape[1]):
        if masks[i, action]:
            if nth == 0:
                return action
            nth -= 1
    return -1
