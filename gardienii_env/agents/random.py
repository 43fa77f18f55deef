"""`random`: every legal action is equally likely."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gardienii_env.agents.base import Agent
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.bits import count_bits, nth_bit
from gardienii_env.rules.engine import action_at
from gardienii_env.rules.jit import compiled, inlined
from gardienii_env.rules.random import draw_below
from gardienii_env.rules.state import States

__all__ = ["RandomAgent", "random_action"]


class RandomAgent(Agent):
    """Chooses uniformly among the legal actions."""

    name = "random"

    def act(
        self, batch: Batch, games: npt.NDArray[np.int64], streams: npt.NDArray[np.void]
    ) -> npt.NDArray[np.int64]:
        """See `Agent.act`."""
        actions = np.empty(games.size, np.int64)
        random_actions(batch.states, games, streams, actions)
        return actions


@compiled
def random_actions(
    states: States,
    games: npt.NDArray[np.int64],
    streams: npt.NDArray[np.void],
    actions: npt.NDArray[np.int64],
) -> None:
    """A random legal action for each of `games`, into `actions`."""
    for k in range(games.size):
        actions[k] = random_action(states, games[k], streams)


@inlined
def random_action(states: States, i: int, streams: npt.NDArray[np.void]) -> int:
    """A random legal action for game i, drawn from `streams[i]`."""
    s = states[i]
    bits = s["legal"]
    return action_at(s, nth_bit(bits, draw_below(streams[i], count_bits(bits))))
