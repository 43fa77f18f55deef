"""What a viewer sees of a game: the one source of every drawing, so that nothing hidden slips in."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gardienii_env.errors import OptionError, as_index, shown
from gardienii_env.game import Game
from gardienii_env.observation import unflatten

__all__ = ["Counts", "Sight", "check_viewer", "place_of"]

Counts = npt.NDArray[np.int64]


def check_viewer(game: Game, viewer: object) -> int | None:
    """The viewer's seat as int, or None for a spectator; OptionError if it is no seat of the game."""
    if viewer is None:
        return None
    seat = as_index(viewer)
    if seat not in range(game.num_players):
        raise OptionError(
            f"viewer: {shown(viewer)} is neither None nor a seat from 0 to {game.num_players - 1}."
        )
    return seat


def place_of(flags: Counts) -> int | None:
    """Where the only 1 stands; None where all are 0."""
    return int(flags.argmax()) if flags.any() else None


class Sight:
    """The parts of the viewer's observation (view `table`) by name, with seats as they are numbered.

    A spectator has the sight of seat 0, of which only public parts may be read.

    Attributes:
        game: the game.
        viewer: the seat that looks, or None for a spectator.
        ruleset: the game's.
        seats: the numbers of the seats.
    """

    def __init__(self, game: Game, viewer: int | None) -> None:
        self.game = game
        self.viewer = check_viewer(game, viewer)
        self.ruleset = game.ruleset
        self.seats = range(game.num_players)
        self._first = self.viewer or 0
        self._parts = unflatten(game.observe(self._first), game.num_players)

    def __getitem__(self, name: str) -> Any:
        return self._parts[name]

    def of(self, seat: int, name: str) -> Any:
        """The row of a seat in a part that has one for each."""
        return self._parts[name][(seat - self._first) % len(self.seats)]

    def which(self, name: str) -> int | None:
        """The place of the only 1 in a part."""
        return place_of(self._parts[name])

    def who(self, name: str) -> int | None:
        """The seat of which a part with one number a seat says 1."""
        place = self.which(name)
        return None if place is None else (place + self._first) % len(self.seats)
