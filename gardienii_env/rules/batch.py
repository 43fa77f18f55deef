"""A batch of games in arrays: what `Game`, the environments and the agents have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gardienii_env.rules import engine
from gardienii_env.rules.actions import NUM_ACTIONS
from gardienii_env.rules.engine import Masks
from gardienii_env.rules.jit import compiled
from gardienii_env.rules.ruleset import Ruleset
from gardienii_env.rules.state import STATE, States

__all__ = ["Batch", "WritableCopies", "deal_all", "own_arrays", "writable"]


class Batch:
    """Games of one ruleset and one number of players, in arrays that compiled functions share.

    Attributes:
        ruleset, num_players: what all games have in common.
        rules: the ruleset as the core reads it, shape (1,), dtype `RULES`.
        states: the games, shape (size,), dtype `STATE`. Not dealt yet: all zero.
        masks: legal actions, shape (size, 73), int8, 1 where legal; all 0 when a game is over.
    """

    __slots__ = ("masks", "num_players", "rules", "ruleset", "states")

    def __init__(self, ruleset: Ruleset, num_players: int, size: int) -> None:
        self.ruleset = ruleset
        self.num_players = num_players
        self.rules: npt.NDArray[np.void] = ruleset.rules
        self.states: States = np.zeros(size, STATE)
        self.masks: Masks = np.zeros((size, NUM_ACTIONS), np.int8)

    def __len__(self) -> int:
        return len(self.states)

    def deal(self, i: int) -> None:
        """Deal game i with the generator in its state (`states[i]["rng"]`), which moves on."""
        engine.deal(self.rules, self.states, i, self.num_players)
        self.write_mask(i)

    def apply(self, i: int, action: int) -> None:
        """Do an action in game i, which must be legal (`masks[i, action] == 1`)."""
        apply_one(self.rules, self.states, self.masks, i, action)

    def write_mask(self, i: int) -> None:
        """Write `masks[i]` anew from the state's `legal`, after something else than the methods here."""
        write_mask(self.states, self.masks, i)

    def apply_all(self, games: npt.NDArray[np.int64], actions: npt.NDArray[np.int64]) -> None:
        """Do the legal action `actions[k]` in game `games[k]`, for all k; both shape (k,), int64."""
        apply_all(self.rules, self.states, self.masks, games, actions)

    def copy(self) -> Batch:
        """An independent copy of all games."""
        new = object.__new__(Batch)
        new.ruleset, new.num_players, new.rules = self.ruleset, self.num_players, self.rules
        new.states, new.masks = self.states.copy(), self.masks.copy()
        return new

    def __reduce__(self) -> tuple[object, ...]:
        arrays = (self.states.tobytes(), self.masks.tobytes())
        return _restore, (self.ruleset, self.num_players, *arrays)


@compiled
def deal_all(
    rules: npt.NDArray[np.void], states: States, games: npt.NDArray[np.int64], players: int
) -> None:
    """Deal these games."""
    for k in range(games.size):
        engine.deal(rules, states, games[k], players)


@compiled
def write_mask(states: States, masks: Masks, i: int) -> None:
    """Write what is legal in game i."""
    engine.write_mask(states, masks, i)


@compiled
def apply_one(rules: npt.NDArray[np.void], states: States, masks: Masks, i: int, action: int) -> None:
    """Do an action in game i."""
    engine.apply(rules, states, i, action)
    engine.write_mask(states, masks, i)


@compiled
def apply_all(
    rules: npt.NDArray[np.void],
    states: States,
    masks: Masks,
    games: npt.NDArray[np.int64],
    actions: npt.NDArray[np.int64],
) -> None:
    """Do `actions[k]` in game `games[k]`, for all k."""
    for k in range(games.size):
        apply_one(rules, states, masks, games[k], actions[k])


SHARED = ("rules", "states", "masks")


def own_arrays(arrays: Any) -> dict[str, Any]:
    """The fields of a named tuple of arrays that do not belong to a batch."""
    return {name: array for name, array in arrays._asdict().items() if name not in SHARED}


def writable(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """The same after a copy, whose memory may not be to be written to, or be shared with others."""
    return {
        name: value.copy() if isinstance(value, np.ndarray) else value for name, value in arrays.items()
    }


class WritableCopies:
    """For what is pickled with arrays: they can be written to in a copy, see `writable`."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(writable(state))


def _restore(ruleset: Ruleset, num_players: int, states: bytes, masks: bytes) -> Batch:
    batch = Batch(ruleset, num_players, len(states) // STATE.itemsize)
    batch.states[:] = np.frombuffer(states, STATE)
    batch.masks[:] = np.frombuffer(masks, np.int8).reshape(batch.masks.shape)
    return batch
