"""What a seat sees, as one flat vector: the layout of its parts, the encoder and the way back.

`PARTS` is the one list from which everything about observations is made: the places the encoder
writes to, the scales, `unflatten`, the table that `gardienii layout` prints and the documentation.

An observation is a vector of whole numbers (counts, or 1 in the place of what is the case), each
divided by a fixed scale so that it lies in [0, 1]. It is egocentric: where a part has one row a
player, the first is the observer's own and the others follow clockwise. Sizes depend on the number of
players and the view only, never on the ruleset.

Views: `table` holds what everybody sees and what only the observer sees; `recall` adds what a player
knows who forgets nothing. Nothing else moves a number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from gardienii_env.errors import OptionError, as_index, one_of, shown
from gardienii_env.rules.actions import SLOTS_PER_SIDE
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.cards import LEFT, NUM_CARDS, NUM_COLOURS, NUMBERS, RIGHT
from gardienii_env.rules.engine import PIECES_PER_AMULET, next_seat, num_pieces
from gardienii_env.rules.jit import compiled, index, inlined, wide
from gardienii_env.rules.ruleset import (
    MAX_CARDS,
    MAX_COPIES,
    MAX_CRESTS,
    MAX_PEARL_POINTS,
    MAX_PEARLS,
    MAX_PIECE_VALUES,
    MAX_PIECES,
    MAX_PLAYERS,
    MAX_TOKENS,
    MIN_PLAYERS,
)
from gardienii_env.rules.state import (
    STEPS,
    UNKNOWN_CARDS,
    States,
    back_of,
    deck_place,
    top_back,
)

__all__ = [
    "OBSERVATION_TYPES",
    "PARTS",
    "VIEWS",
    "Layout",
    "ObservationArrays",
    "ObservationType",
    "Observations",
    "Part",
    "View",
    "check_players",
    "layout",
    "no_observations",
    "observation_arrays",
    "observe",
    "observe_deciding",
    "observe_game",
    "read_only",
    "unflatten",
]

View = Literal["table", "recall"]
VIEWS: tuple[View, ...] = ("table", "recall")

ObservationType = Literal["float32", "uint8"]
OBSERVATION_TYPES: tuple[ObservationType, ...] = ("float32", "uint8")
"""`float32`: scaled to [0, 1]. `uint8`: the counts before scaling; times `Layout.factors` they are the
float32, to the last bit."""

Observations = npt.NDArray[np.float32] | npt.NDArray[np.uint8]

BYTE = 255
LAID_SHOWN = 2
"""How many of the laid cards on top of a deck are one-hot; those below are numbers."""

ALL, OTHERS = -1, -2  # in a shape: as many as players, as many as opponents

PARTS: tuple[tuple[str, str, tuple[int, ...], int, str], ...] = (
    # name, known by, shape, scale, meaning
    ("active", "public", (ALL,), 1, "whose turn it is"),
    ("deciding", "public", (ALL,), 1, "who decides; all 0 when the game is over"),
    ("step", "public", (len(STEPS),), 1, "step of the turn: " + ", ".join(STEPS)),
    ("turns", "public", (2,), BYTE, "turns played: up to 255, and those beyond"),
    ("taken", "public", (), MAX_TOKENS, "cards taken this turn"),
    ("paid", "public", (), MAX_TOKENS, "crystals paid this turn"),
    ("laid", "public", (2,), 1, "whether a card was laid this turn on the left, the right page"),
    ("open", "public", (NUM_CARDS,), NUMBERS, "open cards of an unfinished set, by card type"),
    ("needed", "public", (), NUMBERS, "cards that the unfinished set still needs"),
    ("supply", "public", (4, NUM_CARDS), 1, "card type in slots L0, L1, R0, R1; all 0 when empty"),
    ("left_top", "public", (NUMBERS,), 1, "number on the left deck, 1-6; all 0 when empty"),
    ("right_top", "public", (NUM_COLOURS,), 1, "colour on the right deck; all 0 when empty"),
    ("deck_size", "public", (2,), MAX_CARDS, "cards in the left deck, the right deck"),
    ("column", "public", (ALL, 4, NUM_COLOURS), 1, "colour of each column, left to right"),
    ("column_cards", "public", (ALL, NUM_COLOURS), MAX_CARDS, "cards in the column of each colour"),
    ("dragon_points", "public", (ALL, 2), BYTE, "points of the cards played: up to 255, and beyond"),
    ("bank_pieces", "public", (MAX_PIECE_VALUES,), MAX_TOKENS, "amulet pieces left, by rising value"),
    ("bank_crystals", "public", (), MAX_TOKENS, "crystals left"),
    ("bank_eggs", "public", (), MAX_TOKENS, "golden eggs left"),
    ("bank_dark_dragons", "public", (), MAX_COPIES, "dark dragons left"),
    ("bank_crests", "public", (MAX_CRESTS,), 1, "whether each crest is left, best first"),
    ("bank_pearls", "public", (), MAX_PEARLS, "pearls left"),
    ("hand_size", "public", (ALL,), MAX_CARDS, "cards in hand"),
    ("num_pieces", "public", (ALL,), MAX_PIECES, "amulet pieces"),
    ("amulets", "public", (ALL,), MAX_PIECES // 3, "amulets completed"),
    ("pearls", "public", (ALL,), MAX_PEARLS, "pearls"),
    ("crystals", "public", (ALL,), MAX_TOKENS, "crystals"),
    ("eggs", "public", (ALL,), MAX_TOKENS, "golden eggs"),
    ("crest", "public", (ALL, MAX_CRESTS), 1, "which crest, best first; all 0 without one"),
    ("hand", "private", (NUM_CARDS,), MAX_COPIES, "own hand, by card type"),
    ("pieces", "private", (MAX_PIECE_VALUES,), MAX_TOKENS, "own amulet pieces, by rising value"),
    ("pearl_points", "private", (), MAX_PEARL_POINTS, "points of the own pearls together"),
    ("their_pieces", "recall", (OTHERS, MAX_PIECE_VALUES), MAX_TOKENS, "their pieces, by rising value"),
    ("known_hand", "recall", (OTHERS, NUM_CARDS), MAX_COPIES, "cards known to be in their hands"),
    ("unknown", "recall", (OTHERS,), UNKNOWN_CARDS, "cards in their hands that are not known"),
    ("num_laid", "recall", (2,), MAX_CARDS, "cards that players laid and that lie on each deck"),
    ("laid_top", "recall", (2, LAID_SHOWN, NUM_CARDS), 1, "the uppermost two of them, from the top"),
    (
        "laid_below",
        "recall",
        (MAX_CARDS - LAID_SHOWN,),
        NUM_CARDS,
        "those below, from the top, as type index + 1: left deck from the front, right from the back",
    ),
    ("below_left", "recall", (NUMBERS,), 1, "number on the card under the lowest laid on the left"),
    ("below_right", "recall", (NUM_COLOURS,), 1, "colour on the card under the lowest laid there"),
    ("unseen", "recall", (NUM_CARDS,), MAX_COPIES, "copies of each card type not seen yet"),
)

PLACES = np.dtype([(name, np.int64) for name, *_ in PARTS])
"""Where each part begins; the encoder reads its places from one such record."""


ONE_HOT = (
    ("active", 1),
    ("deciding", 1),
    ("step", 1),
    ("left_top", 1),
    ("right_top", 1),
    ("supply", 2 * SLOTS_PER_SIDE),
    ("below_left", 1),
    ("below_right", 1),
    ("laid_top", 2 * LAID_SHOWN),
)
"""The parts whose one `mark` moves: name and number of rows."""

ACTIVE, DECIDING, STEP, LEFT_TOP, RIGHT_TOP, SUPPLY, BELOW_LEFT, BELOW_RIGHT, LAID_TOP = np.cumsum(
    [0, *(rows for _, rows in ONE_HOT[:-1])]
)
"""The first row of each of them, all rows counted through."""

SHOWN = np.dtype(
    [
        ("standing", np.int64),  # what the parts that rarely change were written for; -1: nothing
        ("ones", np.int16, sum(rows for _, rows in ONE_HOT)),  # where the one is, or may be
        ("opened", np.bool_),  # whether a set lay open
        ("below", np.int8, 2),  # how many laid cards of each deck are in `laid_below`
    ],
    align=True,
)
"""What a row of observations holds, so that only what is another now has to be written."""


@dataclass(frozen=True)
class Part:
    """One part of an observation: `observation[part.slice].reshape(part.shape) * part.scale`."""

    name: str
    known: str
    """`public`, `private` (to the observer) or `recall` (to one who forgets nothing)."""
    start: int
    shape: tuple[int, ...]
    scale: int
    """What a count is divided by; no count is larger."""
    meaning: str

    @property
    def size(self) -> int:
        """How many numbers the part has."""
        return prod(self.shape)

    @property
    def slice(self) -> slice:
        """Where in the vector the part stands."""
        return slice(self.start, self.start + self.size)


@dataclass(frozen=True)
class Layout:
    """The parts of an observation for a number of players and a view, in order."""

    num_players: int
    view: View
    parts: tuple[Part, ...]

    def __iter__(self) -> Iterator[Part]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def __getitem__(self, name: str) -> Part:
        for part in self.parts:
            if part.name == name:
                return part
        raise KeyError(one_of("The part", name, [part.name for part in self.parts]))

    def __reduce__(self) -> tuple[object, ...]:
        return _layout, (self.num_players, self.view)

    @cached_property
    def size(self) -> int:
        """Length of the observation."""
        return sum(part.size for part in self.parts)

    @cached_property
    def factors(self) -> npt.NDArray[np.float32]:
        """What each count is multiplied by: 1 / scale, shape (size,), float32."""
        factors = np.concatenate([np.full(p.size, 1 / p.scale) for p in self.parts])
        result = factors.astype(np.float32)
        result.setflags(write=False)
        return result

    @cached_property
    def scales(self) -> npt.NDArray[np.uint8]:
        """What each count is divided by, and no count is larger: shape (size,), uint8."""
        result = np.concatenate([np.full(p.size, p.scale, np.uint8) for p in self.parts])
        result.setflags(write=False)
        return result

    @cached_property
    def ones(self) -> npt.NDArray[np.uint8]:
        """What each count is multiplied by where it is not scaled: 1, shape (size,), uint8."""
        result = np.ones(self.size, np.uint8)
        result.setflags(write=False)
        return result

    @cached_property
    def shown(self) -> npt.NDArray[np.void]:
        """What a row of zeros holds, shape (1,), dtype `SHOWN`."""
        result = np.zeros(1, SHOWN)
        result["standing"] = -1
        places = {part.name: part.start for part in self.parts}
        starts = [places.get(name, 0) + k * NUM_CARDS for name, rows in ONE_HOT for k in range(rows)]
        result["ones"] = starts
        result.setflags(write=False)
        return result

    @cached_property
    def places(self) -> npt.NDArray[np.void]:
        """The starts of the parts as one `PLACES` record for the encoder; -1: not in this view."""
        result = np.full(1, -1, np.int64).repeat(len(PARTS)).view(PLACES)
        for part in self.parts:
            result[part.name] = part.start
        result.setflags(write=False)
        return result


def check_players(num_players: object) -> int:
    """The number of players as int; OptionError unless it is 2, 3 or 4."""
    number = as_index(num_players)
    if not MIN_PLAYERS <= number <= MAX_PLAYERS:
        raise OptionError(f"num_players: {shown(num_players)} is not one of 2, 3, 4.")
    return number


def layout(num_players: int, view: View = "table") -> Layout:
    """The layout of observations; OptionError for an unknown number of players or view."""
    if not isinstance(view, str) or view not in VIEWS:
        raise OptionError(one_of("view:", view, VIEWS))
    return _layout(check_players(num_players), view)


@lru_cache
def _layout(num_players: int, view: View) -> Layout:
    rows = {ALL: num_players, OTHERS: num_players - 1}
    parts: list[Part] = []
    start = 0
    for name, known, shape, scale, meaning in PARTS:
        if known != "recall" or view == "recall":
            sizes = tuple(rows.get(n, n) for n in shape)
            parts.append(Part(name, known, start, sizes, scale, meaning))
            start += parts[-1].size
    return Layout(num_players, view, tuple(parts))


def unflatten(
    observation: npt.ArrayLike, num_players: int, view: View = "table"
) -> Mapping[str, npt.NDArray[np.int64]]:
    """The parts of an observation, float32 or uint8, by name, as the whole numbers before scaling.

    Each has the shape that `layout` says; a batch of observations, shape (..., size), gives parts with
    the same leading axes. OptionError if the last axis has another length than the layout.
    """
    vector = np.asarray(observation)
    parts = layout(num_players, view)
    if vector.ndim == 0 or vector.shape[-1] != parts.size:
        raise OptionError(
            f"observation: shape {vector.shape} does not end in {parts.size}, the length for "
            f"{num_players} players and view {view!r}."
        )
    counts = vector if vector.dtype == np.uint8 else np.rint(vector * parts.scales)
    return {
        p.name: counts[..., p.slice].astype(np.int64).reshape(vector.shape[:-1] + p.shape) for p in parts
    }


class ObservationArrays(NamedTuple):
    """Observations of a batch of games, and what `observe` needs to write them."""

    observations: Observations
    """Shape (games, layout size). Not for others to write to: `observe` keeps what has not changed."""
    shown: npt.NDArray[np.void]
    """What the rows hold, shape (games,), dtype `SHOWN`."""
    places: npt.NDArray[np.void]
    factors: Observations
    """What counts are multiplied by, in the type of the observations; empty if none are written."""

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, tuple(self)


def _restore(*arrays: Any) -> ObservationArrays:
    """From a copy: places and factors are not to be written to, as in a layout, the others are."""
    observations, shown, places, factors = (array.copy() for array in arrays)
    places.setflags(write=False)
    factors.setflags(write=False)
    return ObservationArrays(observations, shown, places, factors)


def observation_arrays(
    layout: Layout, games: int, dtype: ObservationType = "float32"
) -> ObservationArrays:
    """Arrays for `observe`; OptionError for an unknown type."""
    if dtype not in OBSERVATION_TYPES:
        raise OptionError(one_of("dtype:", dtype, OBSERVATION_TYPES))
    return ObservationArrays(
        np.zeros((games, layout.size), dtype),
        layout.shown.repeat(games),
        layout.places,
        layout.factors if dtype == "float32" else layout.ones,
    )


def no_observations(num_players: int, games: int) -> ObservationArrays:
    """Arrays into which `observe` writes nothing."""
    some = layout(num_players)
    nothing = np.zeros((games, 0), np.float32)
    return ObservationArrays(nothing, some.shown.repeat(games), some.places, some.factors[:0])


def read_only(observations: Observations) -> Observations:
    """The same array, not to be written to through this name."""
    view = observations.view()
    view.setflags(write=False)
    return view


def observe_deciding(batch: Batch, games: npt.NDArray[np.int64], view: View) -> npt.NDArray[np.float32]:
    """What the seat that decides sees in each of `games`: shape (len(games), size), float32."""
    arrays = observation_arrays(layout(batch.num_players, view), len(games))
    observe_all(batch.rules, batch.states, games, batch.states["player"][games], arrays)
    observations: npt.NDArray[Any] = arrays.observations
    return observations


def observe_game(batch: Batch, i: int, seat: int, view: View) -> npt.NDArray[np.float32]:
    """What a seat sees of game i: shape (size,), float32."""
    parts = layout(batch.num_players, view)
    observation = np.zeros((1, parts.size), np.float32)
    arrays = (observation, parts.shown, parts.places, parts.factors)
    observe_one(batch.rules, batch.states, i, seat, *arrays)
    return observation.reshape(-1)


# -- the encoder -----------------------------------------------------------------------------------


class Row(NamedTuple):
    """A row of observations to write into, and what its counts are multiplied by."""

    numbers: Observations
    factors: Observations


@inlined
def observe(
    rules: npt.NDArray[np.void], states: States, i: int, row: int, seat: int, a: ObservationArrays
) -> None:
    """Write what `seat` sees of game i into a row of the arrays, if they have columns.

    The row is written for one game after another, and what has not changed since it was written is not
    written again. Set the row's `standing` to -1 where the game is another than before.
    """
    if a.factors.size == 0:
        return
    r, s, shown, at = rules[0], states[i], a.shown[row], a.places[0]
    out = Row(a.observations[row], a.factors)
    standing = seat + MAX_PLAYERS * cards_played(s)
    if shown["standing"] != standing:
        shown["standing"] = standing
        encode_standing(r, s, seat, at, out)
    encode_moment(s, seat, at, shown, out)
    if at["unseen"] >= 0:
        encode_recall(s, seat, at, shown, out)


@compiled
def observe_all(
    rules: npt.NDArray[np.void],
    states: States,
    games: npt.NDArray[np.int64],
    seats: npt.NDArray[np.int8],
    arrays: ObservationArrays,
) -> None:
    """Write what `seats[k]` sees of game `games[k]` into row k, for all k."""
    for k in range(games.size):
        observe(rules, states, index(games[k]), index(k), wide(seats[k]), arrays)


@compiled
def observe_one(
    rules: npt.NDArray[np.void],
    states: States,
    i: int,
    seat: int,
    observation: npt.NDArray[np.float32],
    shown: npt.NDArray[np.void],
    places: npt.NDArray[np.void],
    factors: npt.NDArray[np.float32],
) -> None:
    """Write what a seat sees of game i into a row of zeros: from Python a tuple of arrays is slow."""
    arrays = ObservationArrays(observation, shown.copy(), places, factors)
    observe(rules, states, index(i), index(0), seat, arrays)


@inlined
def cards_played(s: np.void) -> int:
    """How many cards lie in the tableaus: more with every set."""
    cards = 0
    for player in range(MAX_PLAYERS):
        for colour in range(NUM_COLOURS):
            cards += (
                int(s["column_cards"][player, colour]) & BYTE
            )  # as a byte without sign it adds up fast
    return cards


@inlined
def encode_standing(r: np.void, s: np.void, seat: int, at: np.void, out: Row) -> None:
    """The parts that change only when a set is completed: tableaus, amulet pieces, most tokens."""
    encode_bank(r, s, at, out)
    player = seat
    for k in range(s["num_players"]):
        encode_player(s, player, k, at, out)
        player = next_seat(s, player)
        if at["their_pieces"] >= 0 and k < s["num_players"] - 1:
            put_row(out, at["their_pieces"] + k * MAX_PIECE_VALUES, s["pieces"][player])
    put_row(out, at["pieces"], s["pieces"][seat])
    put(out, at["pearl_points"], pearl_points(s, seat))


@inlined
def encode_moment(s: np.void, seat: int, at: np.void, shown: np.void, out: Row) -> None:
    """The parts that change with every action: the turn, supply and decks, hands, crystals."""
    encode_turn(s, seat, at, shown, out)
    encode_set(s, at, shown, out)
    encode_table(s, at, shown, out)
    put(out, at["bank_crystals"], s["bank_crystals"])
    player = seat
    for k in range(s["num_players"]):
        put(out, at["hand_size"] + k, s["hand_size"][player])
        put(out, at["crystals"] + k, s["crystals"][player])
        player = next_seat(s, player)
    put_row(out, at["hand"], s["hand"][seat])


@inlined
def put(out: Row, place: int, count: int) -> None:
    """Write one count. An index without sign saves the test whether it counts from the end."""
    k = index(place)
    out.numbers[k] = out.factors.dtype.type(count) * out.factors[k]


@inlined
def put_row(out: Row, place: int, counts: npt.NDArray[np.int8]) -> None:
    """Write some counts of one part side by side."""
    factor = out.factors[place]
    for k in range(counts.size):
        out.numbers[index(place + k)] = out.factors.dtype.type(counts[k]) * factor


@inlined
def put_wide(out: Row, place: int, number: int) -> None:
    """A number up to 510 in two places: what fits into the first, and what is beyond."""
    put(out, place, min(number, BYTE))
    put(out, place + 1, max(number - BYTE, 0))


@inlined
def clear(out: Row, first: int, size: int) -> None:
    """Write 0 from a place on."""
    for k in range(size):
        out.numbers[index(first + k)] = 0


@inlined
def mark(out: Row, shown: np.void, which: int, first: int, place: int) -> None:
    """Move the one of a part to a place within it; a place of -1: there is none."""
    out.numbers[index(shown["ones"][which])] = 0
    one = first + max(place, 0)
    out.numbers[index(one)] = place >= 0
    shown["ones"][which] = one


@inlined
def places_after(s: np.void, seat: int, player: int) -> int:
    """How many places clockwise from a seat a player sits."""
    return player - seat if player >= seat else player - seat + s["num_players"]


@inlined
def encode_turn(s: np.void, seat: int, at: np.void, shown: np.void, out: Row) -> None:
    """The state of the turn."""
    mark(out, shown, ACTIVE, at["active"], places_after(s, seat, s["active"]))
    deciding = places_after(s, seat, s["player"]) if s["player"] >= 0 else -1
    mark(out, shown, DECIDING, at["deciding"], deciding)
    mark(out, shown, STEP, at["step"], wide(s["step"]))
    put_wide(out, at["turns"], s["turns"])
    put(out, at["taken"], s["taken"])
    put(out, at["paid"], s["paid"])
    for side in range(2):
        put(out, at["laid"] + side, s["laid"][side])


@inlined
def encode_set(s: np.void, at: np.void, shown: np.void, out: Row) -> None:
    """The open cards of an unfinished set, which are in order of their types."""
    if shown["opened"]:
        clear(out, at["open"], NUM_CARDS)
        put(out, at["needed"], 0)
    copies = 0
    for k in range(s["opened"]):
        card = s["open"][k]
        copies = copies + 1 if k > 0 and card == s["open"][k - 1] else 1
        put(out, at["open"] + card, copies)
    if s["opened"] > 0:
        put(out, at["needed"], top_back(s, LEFT) - s["opened"])
    shown["opened"] = s["opened"] > 0


@inlined
def encode_table(s: np.void, at: np.void, shown: np.void, out: Row) -> None:
    """The supply, the spell and the decks."""
    for side in range(2):
        for place in range(SLOTS_PER_SIDE):
            slot = SLOTS_PER_SIDE * side + place
            card = wide(s["supply"][side, place])
            mark(out, shown, SUPPLY + slot, at["supply"] + slot * NUM_CARDS, card)
        put(out, at["deck_size"] + side, s["deck_size"][side])
    number = top_back(s, LEFT)
    mark(out, shown, LEFT_TOP, at["left_top"], number - 1 if number >= 0 else -1)
    mark(out, shown, RIGHT_TOP, at["right_top"], top_back(s, RIGHT))


@inlined
def encode_bank(r: np.void, s: np.void, at: np.void, out: Row) -> None:
    """What the bank has left, but for crystals."""
    put_row(out, at["bank_pieces"], s["bank_pieces"])
    put(out, at["bank_eggs"], s["bank_eggs"])
    put(out, at["bank_dark_dragons"], s["bank_dark_dragons"])
    for crest in range(MAX_CRESTS):
        put(out, at["bank_crests"] + crest, s["crests_given"] <= crest < r["crests"])
    put(out, at["bank_pearls"], r["pearls"] - s["pearls_given"])


@inlined
def encode_player(s: np.void, player: int, k: int, at: np.void, out: Row) -> None:
    """What everybody sees of a player's tableau, pieces and tokens but crystals, into row k."""
    columns = at["column"] + k * NUM_COLOURS * NUM_COLOURS
    clear(out, columns, NUM_COLOURS * NUM_COLOURS)
    for place in range(NUM_COLOURS):
        colour = s["column"][player, place]
        put(out, columns + place * NUM_COLOURS + max(colour, 0), colour >= 0)
    put_row(out, at["column_cards"] + k * NUM_COLOURS, s["column_cards"][player])
    put_wide(out, at["dragon_points"] + 2 * k, s["dragon_points"][player])
    pieces = num_pieces(s, player)
    put(out, at["num_pieces"] + k, pieces)
    put(out, at["amulets"] + k, pieces // PIECES_PER_AMULET)
    put(out, at["pearls"] + k, s["num_pearls"][player])
    put(out, at["eggs"] + k, s["eggs"][player])
    for crest in range(MAX_CRESTS):
        put(out, at["crest"] + k * MAX_CRESTS + crest, s["crest"][player] == crest)


@inlined
def pearl_points(s: np.void, seat: int) -> int:
    """Points of the seat's pearls together."""
    points = 0
    for pearl in range(MAX_PEARLS):
        points += s["pearls"][pearl] if s["pearl_owner"][pearl] == seat else 0
    return points


@inlined
def encode_recall(s: np.void, seat: int, at: np.void, shown: np.void, out: Row) -> None:
    """What the observer knows besides who forgets nothing."""
    put_row(out, at["unseen"], s["unseen"])
    other = seat
    for k in range(s["num_players"] - 1):
        other = next_seat(s, other)
        put_row(out, at["known_hand"] + k * NUM_CARDS, s["hand"][other])
        unknown = 0
        for u in range(UNKNOWN_CARDS):
            card = s["unknown"][other, u]
            if card >= 0:
                unknown += 1
                encode_unknown(s, seat, other, card, at["known_hand"] + k * NUM_CARDS, at, out)
        put(out, at["unknown"] + k, unknown)
    for side in range(2):
        for k in range(shown["below"][side]):
            put(out, at["laid_below"] + below_place(side, k), 0)
    for side in range(2):
        encode_laid(s, side, at, shown, out)


@inlined
def encode_unknown(
    s: np.void, seat: int, other: int, card: int, known_hand: int, at: np.void, out: Row
) -> None:
    """A card in another's hand that the observer has not seen."""
    unseen = int(s["unseen"][card])
    for player in range(s["num_players"]):
        unseen += unknown_copies(s, player, card) if player != seat else 0
    put(out, at["unseen"] + card, unseen)
    put(out, known_hand + card, s["hand"][other, card] - unknown_copies(s, other, card))


@inlined
def unknown_copies(s: np.void, player: int, card: int) -> int:
    """How many cards of a type the player has that others do not know of."""
    copies = 0
    for u in range(UNKNOWN_CARDS):
        copies += s["unknown"][player, u] == card
    return copies


@inlined
def encode_laid(s: np.void, side: int, at: np.void, shown: np.void, out: Row) -> None:
    """The cards that players laid on a deck, and the back of the one under them."""
    laid = s["deck_laid"][side]
    put(out, at["num_laid"] + side, laid)
    for depth in range(LAID_SHOWN):
        top = side * LAID_SHOWN + depth
        mark(out, shown, LAID_TOP + top, at["laid_top"] + top * NUM_CARDS, laid_card(s, side, depth))
    shown["below"][side] = max(laid - LAID_SHOWN, 0)
    for k in range(shown["below"][side]):
        put(out, at["laid_below"] + below_place(side, k), laid_card(s, side, k + LAID_SHOWN) + 1)
    back = back_of(s, side, s["deck_size"][side] - laid - 1) if laid > 0 else -1
    if side == LEFT:
        mark(out, shown, BELOW_LEFT, at["below_left"], back - 1 if back >= 0 else -1)
    else:
        mark(out, shown, BELOW_RIGHT, at["below_right"], back)


@inlined
def laid_card(s: np.void, side: int, depth: int) -> int:
    """The card that players laid at that depth of a deck; -1: there is none."""
    if depth >= s["deck_laid"][side]:
        return -1
    return int(s["deck"][deck_place(side, s["deck_size"][side] - 1 - depth)])


@inlined
def below_place(side: int, k: int) -> int:
    """Where in `laid_below` a card stands: the left deck's from the front, the right's from the back."""
    return k if side == LEFT else MAX_CARDS - LAID_SHOWN - 1 - k
