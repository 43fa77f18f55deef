"""An agent that tells what it was asked."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gardienii_env.agents import Agent, make_agent
from gardienii_env.rules.batch import Batch

__all__ = ["Watcher"]


class Watcher(Agent):
    """Plays as the agent of a name does and writes down for which seat it did what.

    Asked for many games, it can `follow` one of them, and tells of one episode at a time.
    """

    def __init__(self, name: str = "random") -> None:
        super().__init__()
        self.name = f"watched {name}"
        self.agent = make_agent(name)
        self.moves: list[tuple[int, int, int]] = []
        self.game: int | None = None
        self.episode: int | None = None

    def follow(self, game: int) -> None:
        """Write down what it does in one game only."""
        self.game = game

    def act(
        self, batch: Batch, games: npt.NDArray[np.int64], streams: npt.NDArray[np.void]
    ) -> npt.NDArray[np.int64]:
        actions = self.agent.act(batch, games, streams)
        for game, action in zip(games.tolist(), actions.tolist(), strict=True):
            if self.game in (None, game):
                state = batch.states[game]
                self.moves.append((int(state["rng"]), int(state["player"]), action))
        return actions

    def told(self) -> list[tuple[int, int]]:
        """What it did since it was last asked: pairs of seat and action id.

        If it follows a game, what belongs to the next episode is kept until `begin`.
        """
        if self.game is not None and self.moves and self.episode is None:
            self.episode = self.moves[0][0]
        now = [move for move in self.moves if self.game is None or move[0] == self.episode]
        self.moves = self.moves[len(now) :]
        return [move[1:] for move in now]

    def begin(self, anew: bool) -> None:
        """Tell of the next episode from now on; `anew`: of one that is not dealt yet."""
        self.episode = None
        if anew:
            self.moves = []
