"""What an agent is, and where its randomness comes from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gardienii_env.errors import AgentError, shown
from gardienii_env.rules.actions import ACTIONS
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.engine import is_legal
from gardienii_env.rules.jit import compiled
from gardienii_env.rules.random import seed_streams
from gardienii_env.rules.state import States

if TYPE_CHECKING:
    from gardienii_env.game import Game
    from gardienii_env.rules.ruleset import Ruleset

__all__ = ["STREAM", "Agent", "new_streams"]

STREAM = np.dtype([("rng", np.uint64)])
"""A random number generator outside a game: one record a game, so that no choice depends on what
else is in the batch."""


def new_streams(seed: int | None, size: int) -> npt.NDArray[np.void]:
    """Independent generators made from one seed: shape (size,), dtype `STREAM`."""
    return seed_streams(seed, size).view(STREAM)


class Agent(ABC):
    """A policy. It reads of a game only what the deciding seat may see.

    Subclasses implement `act`; whoever lets an agent play calls `decide`, which checks it. `choose` and
    `reset` serve those who play single games.
    """

    name = "agent"
    """As it is written on the command line, or else the name of the class."""

    _streams: npt.NDArray[np.void] | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" not in cls.__dict__:
            cls.name = cls.__name__

    def reset(self, seed: int | None = None) -> None:
        """Start the agent's own generator, which `choose` uses, from a seed."""
        self._streams = new_streams(seed, 1)

    def check(self, ruleset: Ruleset, num_players: int) -> None:  # noqa: B027  # most need not
        """AgentError unless the agent can play games of this ruleset and number of players.

        Here it fits all; an agent that was trained for some says so. Whoever seats an agent asks first.
        """

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
            Legal action ids, shape (k,), int64. `batch.masks[games]` tells what is legal, and
            `gardienii_env.observation.observe_deciding(batch, games, view)` what the seats see.
        """

    def decide(
        self, batch: Batch, games: npt.NDArray[np.int64], streams: npt.NDArray[np.void]
    ) -> npt.NDArray[np.int64]:
        """What `act` chooses, checked: AgentError unless it is one legal action for each game."""
        given = self.act(batch, games, streams)
        try:
            actions = np.asarray(given)
        except ValueError:
            raise AgentError(f"{self.name} gave {shown(given)}, which is no array of actions.") from None
        if actions.shape != games.shape or actions.dtype.kind not in "iu":
            raise AgentError(
                f"{self.name} gave actions of shape {actions.shape} and type {actions.dtype}; expected "
                f"whole numbers, shape {games.shape}."
            )
        actions = actions.astype(np.int64, copy=False)
        wrong = first_illegal(batch.states, games, actions)
        if wrong >= 0:
            game, action = games[wrong], int(actions[wrong])
            name = ACTIONS[action] if 0 <= action < len(ACTIONS) else "no action"
            legal = ", ".join(ACTIONS[a] for a in np.flatnonzero(batch.masks[game]))
            raise AgentError(
                f"{self.name} chose {action} ({name}) for seat {batch.states['player'][game]}, which is "
                f"not legal; legal: {legal}.",
                int(game),
            )
        return actions

    def choose(self, game: Game) -> str:
        """The name of the action that the agent takes in a game; AgentError if it is over."""
        if game.is_over:
            raise AgentError(f"{self.name} cannot choose: the game is over.")
        if self._streams is None:
            self.reset()
        assert self._streams is not None
        return ACTIONS[int(self.decide(game.batch, np.zeros(1, np.int64), self._streams)[0])]

    def __repr__(self) -> str:
        return f"<agent {self.name}>"


@compiled
def first_illegal(states: States, games: npt.NDArray[np.int64], actions: npt.NDArray[np.int64]) -> int:
    """The first k for which `actions[k]` is not legal in game `games[k]`; -1 if all are legal."""
    for k in range(games.size):
        if not is_legal(states, games[k], actions[k]):
            return k
    return -1
