"""A game with its past, for `openspiel`: what each seat saw from the deal on, and other pasts like it.

The information state of a player who forgets nothing is all that the player saw and did. Here that is
the seat's recall view after the deal and, decision after decision of any seat, the action (all actions
are open) and what changed in the view. It is made from the seat's views alone, so that nothing the seat
cannot know can slip in.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gardienii_env.game import Game
from gardienii_env.observation import View, layout, observation_arrays, observe_all
from gardienii_env.rules.actions import ACTIONS, SLOTS_PER_SIDE
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.cards import CARDS, COLOURS, NUMBERS, SIDES
from gardienii_env.rules.ruleset import Ruleset
from gardienii_env.rules.state import STATE, STEPS, deck_place

__all__ = ["Columns", "Past", "labels", "numbers_text"]

Columns = tuple[int, ...]
"""Numbers of an observation by their places."""

SEATS, OTHERS = "seats", "others"
SLOTS = tuple(f"{side}{place}" for side in SIDES for place in range(SLOTS_PER_SIDE))
PAGES = tuple(str(number) for number in range(1, NUMBERS + 1))
AXES: dict[str, tuple[str | tuple[str, ...], ...]] = {
    "active": (SEATS,),
    "deciding": (SEATS,),
    "step": (STEPS,),
    "laid": (tuple(SIDES),),
    "open": (CARDS,),
    "supply": (SLOTS, CARDS),
    "left_top": (PAGES,),
    "right_top": (tuple(COLOURS),),
    "deck_size": (tuple(SIDES),),
    "column": (SEATS, ("1st", "2nd", "3rd", "4th"), tuple(COLOURS)),
    "column_cards": (SEATS, tuple(COLOURS)),
    "dragon_points": (SEATS, ("low", "high")),
    "hand_size": (SEATS,),
    "num_pieces": (SEATS,),
    "amulets": (SEATS,),
    "pearls": (SEATS,),
    "crystals": (SEATS,),
    "eggs": (SEATS,),
    "crest": (SEATS,),
    "hand": (CARDS,),
    "their_pieces": (OTHERS,),
    "known_hand": (OTHERS, CARDS),
    "unknown": (OTHERS,),
    "num_laid": (tuple(SIDES),),
    "laid_top": (tuple(SIDES), ("1st", "2nd"), CARDS),
    "below_left": (PAGES,),
    "below_right": (tuple(COLOURS),),
    "unseen": (CARDS,),
}
"""What the places of a part stand for, axis by axis; those not named here are counted from 0."""


@lru_cache
def labels(players: int, view: View, seat: int) -> tuple[str, ...]:
    """A name for each number of the seat's observations, like `supply.L0.W3` or `hand_size.2`.

    Seats are named by their numbers, not by where they sit from the observer.
    """
    around = tuple(str((seat + k) % players) for k in range(players))
    named = {SEATS: around, OTHERS: around[1:]}
    names = []
    for part in layout(players, view):
        axes = [named[axis] if isinstance(axis, str) else axis for axis in AXES.get(part.name, ())]
        axes += [tuple(map(str, range(size))) for size in part.shape[len(axes) :]]
        for place in np.ndindex(part.shape):
            names.append(".".join([part.name, *(axis[k] for axis, k in zip(axes, place, strict=True))]))
    return tuple(names)


def numbers_text(
    observation: npt.NDArray[np.float32], players: int, view: View, seat: int, columns: Columns
) -> str:
    """The numbers of an observation that are not 0, with their names, in the order of `columns`."""
    counts = np.rint(observation * layout(players, view).scales).astype(int).tolist()
    names = labels(players, view, seat)
    return " ".join(f"{names[k]}={counts[k]}" for k in columns if counts[k])


class Past:
    """A game and how it came about. `apply` goes on; `game` is not to be changed in another way.

    A copy is independent; a pickle holds the deal and the moves.
    """

    __slots__ = ("_moments", "_told", "game")

    def __init__(self, game: Game) -> None:
        """Take over a game that has just been dealt."""
        self.game = game
        self._moments = [game.batch.states.copy()]
        self._told: dict[tuple[int, Columns], tuple[int, str]] = {}

    def apply(self, action: int) -> None:
        """Do a legal action; IllegalActionError for another, and nothing changes."""
        self.game.apply(action)
        self._moments.append(self.game.batch.states.copy())

    def copy(self) -> Past:
        """An independent copy."""
        new = object.__new__(Past)
        new.game, new._moments, new._told = self.game.clone(), list(self._moments), dict(self._told)
        return new

    def __deepcopy__(self, memo: dict[int, Any]) -> Past:
        return self.copy()

    def __reduce__(self) -> tuple[object, ...]:
        batch = self.game.batch
        dealt = self._moments[0].tobytes()
        return _restore, (batch.ruleset, batch.num_players, dealt, tuple(self.game.moves))

    # -- what a seat was told ----------------------------------------------------------------------

    def told(self, seat: int, columns: Columns) -> str:
        """All that a seat saw of some numbers of its recall view, with every action, from the deal on.

        The first line holds the numbers after the deal that are not 0. Each line after it is an action
        with the seat that did it, and the numbers that are others when next somebody decides.
        """
        moments, text = self._told.get((seat, columns), (0, ""))
        if moments < len(self._moments):
            text += self._tell(seat, columns, moments)
            self._told[seat, columns] = len(self._moments), text
        return text

    def _tell(self, seat: int, columns: Columns, first: int) -> str:
        """What is told from a moment on."""
        players = self.game.num_players
        seen = self._seen(seat, max(first - 1, 0))
        names = labels(players, "recall", seat)
        lines = []
        if first == 0:
            lines.append(numbers_text(seen[0], players, "recall", seat, columns))
        changed: list[list[str]] = [[] for _ in seen[1:]]
        chosen = seen[:, columns]
        counts = np.rint(chosen * layout(players, "recall").scales[list(columns)]).astype(int)
        rows, places = np.nonzero(chosen[1:] != chosen[:-1])
        for row, place in zip(rows.tolist(), places.tolist(), strict=True):
            changed[row].append(f" {names[columns[place]]}={counts[row + 1, place]}")
        moves = self.game.moves[len(self.game.moves) - len(changed) :]
        for (actor, action), changes in zip(moves, changed, strict=True):
            lines.append(f"\n{actor} {ACTIONS[action]}:{''.join(changes)}")
        return "".join(lines)

    def _seen(self, seat: int, first: int) -> npt.NDArray[np.float32]:
        """The recall views of a seat from a moment on, shape (moments, layout size)."""
        states = np.concatenate(self._moments[first:])
        arrays = observation_arrays(layout(self.game.num_players, "recall"), len(states))
        games, seats = np.arange(len(states)), np.full(len(states), seat, np.int8)
        observe_all(self.game.batch.rules, states, games, seats, arrays)
        observations: npt.NDArray[Any] = arrays.observations
        return observations

    def tell_as(self, other: Past, seat: int) -> None:
        """Take over what a seat was told in another past, which must be the same, to save the work."""
        self._told.update({key: told for key, told in other._told.items() if key[0] == seat})

    # -- other pasts -------------------------------------------------------------------------------

    def resample(self, seat: int, draw_seed: Callable[[], int]) -> Batch:
        """Another deal, uniformly drawn, with which the seat would have been told exactly the same.

        `Game.resample` draws what the seat cannot know now. Here the same decisions must have come up
        from the deal on, too: whether a seat was asked says something about the cards that it held
        unseen. So draws are made until all moves can be made again and lead to the same state.

        Args:
            seat: who is to notice no difference.
            draw_seed: gives a new seed for every draw.

        Returns:
            The deal as a batch of one game, in which the moves can be made again.
        """
        while True:
            drawn = self.game.resample(seat, draw_seed())
            dealt = self._dealt_anew(drawn)
            batch = dealt.copy()
            if replays(batch, self.game.moves) and _same(batch, drawn.batch):
                return dealt

    def _dealt_anew(self, drawn: Game) -> Batch:
        """The deal from which a game as resampled would have come about."""
        batch = Batch(self.game.ruleset, self.game.num_players, 1)
        batch.states[:] = self._moments[0]
        now, then = drawn.state, batch.states[0]
        for side in range(2):
            for height in range(now["deck_size"][side] - now["deck_laid"][side]):
                place = deck_place(side, height)
                then["deck"][place] = now["deck"][place]
        then["pearls"] = now["pearls"]
        for seat in range(drawn.num_players):
            for k in np.flatnonzero(now["unknown"][seat] >= 0):
                for counts, change in ((then["hand"][seat], 1), (then["unseen"], -1)):
                    counts[then["unknown"][seat, k]] -= change
                    counts[now["unknown"][seat, k]] += change
                then["unknown"][seat, k] = now["unknown"][seat, k]
        batch.write_mask(0)
        return batch


def _same(batch: Batch, other: Batch) -> bool:
    """Whether two batches of one hold the same game, wherever their generators stand."""
    batch.states["rng"] = other.states["rng"]
    return batch.states.tobytes() == other.states.tobytes()


def replays(batch: Batch, moves: list[tuple[int, int]]) -> bool:
    """Do moves (seat, action) in game 0 as long as that seat decides and may; whether all were done."""
    deciding, mask = batch.states["player"], batch.masks[0]
    for seat, action in moves:
        if deciding[0] != seat or not mask[action]:
            return False
        batch.apply(0, action)
    return True


def _restore(ruleset: Ruleset, players: int, dealt: bytes, moves: tuple[tuple[int, int], ...]) -> Past:
    batch = Batch(ruleset, players, 1)
    batch.states[:] = np.frombuffer(dealt, STATE)
    batch.write_mask(0)
    past = Past(Game(batch, None))
    for _, action in moves:
        past.apply(action)
    return past
