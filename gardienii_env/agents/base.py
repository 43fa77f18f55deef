"""What an agent is, and where its randomness comes from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gardienii_env.errors import AgentError
from gardienii_env.rules.actions import ACTIONS
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.random import seed_streams

if TYPE_CHECKING:
    from gardienii_env.game import Game

__all__ = ["STREAM", "Agent", "new_streams"]

STREAM = np.dtype([("rng", np.uint64)])
"""A random number generator outside a game: one record a game, so that no choice depends on what
else is in the batch."""


def new_streams(seed: int | None, size: int) -> npt.NDArray[np.void]:
    """Independent generators made from one seed: shape (size,), dtype `STREAM`."""
    return seed_streams(seed, size).view(STREAM)


class Agent(ABC):
    """A policy. It reads of a game only what the deciding seat may see.

    Subclasses implement `act`; `choose` and `reset` serve those who play single games.
    """

    name: str
    """As it is written on the command line."""

    def __init__(self) -> None:
        self.reset()

    def reset(self, seed: int | None = None) -> None:
        """Start the agent's own generator, which `choose` uses, from a seed."""
        self._streams = new_streams(seed, 1)

    @abstractmethod
    def act(
        self, batch: Batch, games: npt.NDArray[np.int64], streams: npt.NDArray[np.void]
    ) -> npt.NDArray[np.int64]:
        """Choose an action for the seat that decides in each of some games of a batch.

        Args:
            batch: the games; none of `games` may be over.
            games: which games are asked for, shape (k,), int64.
            streams: generators, shape (len(batch),), dtype `STREAM`; game i uses and moves `streams[i]`.

        Returns:
            Legal action ids, shape (k,), int64.
        """

    def choose(self, game: Game) -> str:
        """The name of the action that the agent takes in a game; AgentError if it is over."""
        if game.is_over:
            raise AgentError(f"{self.name} cannot choose: the game is over.")
        return ACTIONS[int(self.act(game.batch, np.zeros(1, np.int64), self._streams)[0])]

    def __repr__(self) -> str:
        return f"<agent {self.name}>"
