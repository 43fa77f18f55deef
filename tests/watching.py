"""An agent that tells what it was asked."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gardienii_env.agents import Agent, make_agent
from gardienii_env.rules.batch import Batch

__all__ = ["Watcher"]


class Watcher(Agent):
    """Plays as the agent of a name does and writes down for which seat it did what."""

    def __init__(self, name: str = "random") -> None:
        super().__init__()
        self.name = f"watched {name}"
        self.agent = make_agent(name)
        self.moves: list[tuple[int, int]] = []

    def act(
        self, batch: Batch, games: npt.NDArray[np.int64], streams: npt.NDArray[np.void]
    ) -> npt.NDArray[np.int64]:
        actions = self.agent.act(batch, games, streams)
        seats = batch.states["player"][games].tolist()
        self.moves += zip(seats, actions.tolist(), strict=True)
        return actions

    def told(self) -> list[tuple[int, int]]:
        """What it did since it was last asked: pairs of seat and action id."""
        moves, self.moves = self.moves, []
        return moves
