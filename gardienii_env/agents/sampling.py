"""Choosing by chance from what a network gives, with the games' own generators."""

from __future__ import annotations

from math import exp

import numpy as np
import numpy.typing as npt

from gardienii_env.rules.engine import Masks
from gardienii_env.rules.jit import compiled
from gardienii_env.rules.random import draw

__all__ = ["sample_actions"]

SHIFT = np.uint64(11)
UNIT = 2.0**-53


@compiled
def sample_actions(
    logits: npt.NDArray[np.float32],
    masks: Masks,
    games: npt.NDArray[np.int64],
    streams: npt.NDArray[np.void],
    actions: npt.NDArray[np.int64],
) -> None:
    """Draw a legal action by the softmax of the legal logits.

    Args:
        logits: shape (k, 73), float32, finite where legal.
        masks: of all games of the batch; row `games[j]` belongs to `logits[j]`.
        games: shape (k,), int64.
        streams: generators of all games; game i moves `streams[i]`.
        actions: written, shape (k,), int64.
    """
    for j in range(games.size):
        i = games[j]
        highest = -np.inf
        for action in range(logits.shape[1]):
            if masks[i, action] == 1 and logits[j, action] > highest:
                highest = logits[j, action]
        total = 0.0
        for action in range(logits.shape[1]):
            if masks[i, action] == 1:
                total += exp(logits[j, action] - highest)
        left = float(draw(streams[i]) >> SHIFT) * UNIT * total
        chosen = -1
        for action in range(logits.shape[1]):
            if masks[i, action] == 1 and (chosen < 0 or left >= 0):
                chosen = action
                left -= exp(logits[j, action] - highest)
        actions[j] = chosen
