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
from typing import Literal

import numpy as np
import numpy.typing as npt

from gardienii_env.errors import OptionError, as_index, one_of, shown
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.cards import LEFT, NUM_CARDS, NUM_COLOURS, NUMBERS, RIGHT
from gardienii_env.rules.engine import PIECES_PER_AMULET, next_seat, num_pieces
from gardienii_env.rules.jit import compiled, inlined
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
    "ObservationType",
    "Observations",
    "Part",
    "View",
    "check_players",
    "encode",
    "encode_all",
    "layout",
    "observation_arrays",
    "observe",
    "observe_deciding",
    "written_observations",
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


def observation_arrays(
    size: int, games: int, dtype: ObservationType
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8], npt.NDArray[np.float32]]:
    """What compiled loops write by `observe`: what each row holds, counts, scaled numbers.

    The counts are the observations with uint8, and the scaled numbers, which have no rows then, with
    float32.
    """
    if dtype not in OBSERVATION_TYPES:
        raise OptionError(one_of("dtype:", dtype, OBSERVATION_TYPES))
    scaled = np.zeros((games if dtype == "float32" else 0, size), np.float32)
    return np.full(games, -1), np.zeros((games, size), np.uint8), scaled


def written_observations(counts: npt.NDArray[np.uint8], scaled: npt.NDArray[np.float32]) -> Observations:
    """The observations in `observation_arrays`; counts cannot be written to, as `observe` keeps them."""
    if scaled.shape[0] > 0:
        return scaled
    view = counts.view()
    view.setflags(write=False)
    return view


def observe_deciding(batch: Batch, games: npt.NDArray[np.int64], view: View) -> npt.NDArray[np.float32]:
    """What the seat that decides sees in each of `games`: shape (len(games), size), float32."""
    parts = layout(batch.num_players, view)
    observations = np.zeros((len(batch), parts.size), np.float32)
    deciding = batch.states["player"].astype(np.int64)
    encode_all(batch.rules, batch.states, games, deciding, parts.places, parts.factors, observations)
    return observations[games]


# -- the encoder -----------------------------------------------------------------------------------


@inlined
def encode(
    rules: npt.NDArray[np.void],
    states: States,
    i: int,
    seat: int,
    places: npt.NDArray[np.void],
    out: npt.NDArray[np.uint8],
) -> None:
    """Write the counts that `seat` sees of game i into `out`, shape (layout size,), before scaling.

    `places` is that of the layout; it tells the view too.
    """
    encode_standing(rules[0], states[i], seat, places[0], out)
    encode_moment(states[i], seat, places[0], out)


@inlined
def encode_standing(r: np.void, s: np.void, seat: int, at: np.void, out: npt.NDArray[np.uint8]) -> None:
    """The parts that change only when a set is completed: tableaus, amulet pieces, most tokens."""
    recall = at["their_pieces"]
    clear(out, at["column"], recall if recall >= 0 else out.size)
    encode_bank(r, s, at, out)
    player = seat
    for k in range(s["num_players"]):
        encode_player(s, player, k, at, out)
        player = next_seat(s, player)
        if recall >= 0 and k < s["num_players"] - 1:
            put_row(out, recall + k * MAX_PIECE_VALUES, s["pieces"][player])
    put_row(out, at["pieces"], s["pieces"][seat])
    put(out, at["pearl_points"], pearl_points(s, seat))


@inlined
def encode_moment(s: np.void, seat: int, at: np.void, out: npt.NDArray[np.uint8]) -> None:
    """The parts that change with every action: the turn, supply and decks, hands, crystals."""
    clear(out, 0, at["column"])
    encode_turn(s, seat, at, out)
    encode_table(s, at, out)
    put(out, at["bank_crystals"], s["bank_crystals"])
    player = seat
    for k in range(s["num_players"]):
        put(out, at["hand_size"] + k, s["hand_size"][player])
        put(out, at["crystals"] + k, s["crystals"][player])
        player = next_seat(s, player)
    put_row(out, at["hand"], s["hand"][seat])
    if at["unseen"] >= 0:
        clear(out, at["known_hand"], out.size)
        encode_recall(s, seat, at, out)


@inlined
def scale(
    counts: npt.NDArray[np.uint8], factors: npt.NDArray[np.float32], out: npt.NDArray[np.float32]
) -> None:
    """Write counts times the layout's factors into `out`."""
    for k in range(out.size):
        out[k] = counts[k] * factors[k]


@inlined
def observe(
    rules: npt.NDArray[np.void],
    states: States,
    i: int,
    seat: int,
    places: npt.NDArray[np.void],
    factors: npt.NDArray[np.float32],
    written: npt.NDArray[np.int64],
    counts: npt.NDArray[np.uint8],
    scaled: npt.NDArray[np.float32],
) -> None:
    """Write what `seat` sees of game i into its rows of `observation_arrays`, if they have columns.

    What has not changed since the row was written is not written again: set `written[i]` to -1 where the
    game is another than before.
    """
    if factors.size == 0:
        return
    r, s, at = rules[0], states[i], places[0]
    standing = seat + MAX_PLAYERS * cards_played(s)
    if written[i] != standing:
        written[i] = standing
        encode_standing(r, s, seat, at, counts[i])
    encode_moment(s, seat, at, counts[i])
    if scaled.shape[0] > 0:
        scale(counts[i], factors, scaled[i])


@inlined
def cards_played(s: np.void) -> int:
    """How many cards lie in the tableaus: more with every set."""
    cards = 0
    for player in range(MAX_PLAYERS):
        for colour in range(NUM_COLOURS):
            cards += np.uint8(s["column_cards"][player, colour])  # type: ignore[assignment]
    return cards


@compiled
def encode_all(
    rules: npt.NDArray[np.void],
    states: States,
    games: npt.NDArray[np.int64],
    seats: npt.NDArray[np.int64],
    places: npt.NDArray[np.void],
    factors: npt.NDArray[np.float32],
    observations: npt.NDArray[np.float32],
) -> None:
    """Write what `seats[i]` sees of game i, scaled, into `observations[i]`, for each i of `games`."""
    counts = np.empty(observations.shape[1], np.uint8)
    for k in range(games.size):
        i = games[k]
        encode(rules, states, i, seats[i], places, counts)
        scale(counts, factors, observations[i])


@inlined
def put(out: npt.NDArray[np.uint8], place: int, value: int) -> None:
    """Write one count. An index without sign saves the test whether it counts from the end."""
    out[np.uint64(place)] = value


@inlined
def clear(out: npt.NDArray[np.uint8], first: int, last: int) -> None:
    """Write 0 from a place up to another."""
    for place in range(first, last):
        put(out, place, 0)


@inlined
def put_row(out: npt.NDArray[np.uint8], place: int, row: npt.NDArray[np.int8]) -> None:
    """Write some counts side by side."""
    for k in range(row.size):
        put(out, place + k, row[k])


@inlined
def put_wide(out: npt.NDArray[np.uint8], place: int, value: int) -> None:
    """A number up to 510 in two places: what fits into the first, and what is beyond."""
    put(out, place, min(value, BYTE))
    put(out, place + 1, max(value - BYTE, 0))


@inlined
def places_after(s: np.void, seat: int, player: int) -> int:
    """How many places clockwise from a seat a player sits."""
    return player - seat if player >= seat else player - seat + s["num_players"]


@inlined
def encode_turn(s: np.void, seat: int, at: np.void, out: npt.NDArray[np.uint8]) -> None:
    """The state of the turn."""
    put(out, at["active"] + places_after(s, seat, s["active"]), 1)
    if s["player"] >= 0:
        put(out, at["deciding"] + places_after(s, seat, s["player"]), 1)
    put(out, at["step"] + s["step"], 1)
    put_wide(out, at["turns"], s["turns"])
    put(out, at["taken"], s["taken"])
    put(out, at["paid"], s["paid"])
    for side in range(2):
        put(out, at["laid"] + side, s["laid"][side])
    if s["opened"] > 0:
        for k in range(s["opened"]):
            out[at["open"] + s["open"][k]] += 1
        put(out, at["needed"], top_back(s, LEFT) - s["opened"])


@inlined
def encode_table(s: np.void, at: np.void, out: npt.NDArray[np.uint8]) -> None:
    """The supply, the spell and the decks."""
    for side in range(2):
        for place in range(2):
            card = s["supply"][side, place]
            if card >= 0:
                put(out, at["supply"] + (2 * side + place) * NUM_CARDS + card, 1)
        put(out, at["deck_size"] + side, s["deck_size"][side])
    if s["deck_size"][LEFT] > 0:
        put(out, at["left_top"] + top_back(s, LEFT) - 1, 1)
    if s["deck_size"][RIGHT] > 0:
        put(out, at["right_top"] + top_back(s, RIGHT), 1)


@inlined
def encode_bank(r: np.void, s: np.void, at: np.void, out: npt.NDArray[np.uint8]) -> None:
    """What the bank has left, but for crystals."""
    put_row(out, at["bank_pieces"], s["bank_pieces"])
    put(out, at["bank_eggs"], s["bank_eggs"])
    put(out, at["bank_dark_dragons"], s["bank_dark_dragons"])
    for crest in range(s["crests_given"], r["crests"]):
        put(out, at["bank_crests"] + crest, 1)
    put(out, at["bank_pearls"], r["pearls"] - s["pearls_given"])


@inlined
def encode_player(s: np.void, player: int, k: int, at: np.void, out: npt.NDArray[np.uint8]) -> None:
    """What everybody sees of a player's tableau, pieces and tokens but crystals, into row k."""
    columns = at["column"] + k * NUM_COLOURS * NUM_COLOURS
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
    if s["crest"][player] >= 0:
        put(out, at["crest"] + k * MAX_CRESTS + s["crest"][player], 1)


@inlined
def pearl_points(s: np.void, seat: int) -> int:
    """Points of the seat's pearls together."""
    points = 0
    for pearl in range(MAX_PEARLS):
        points += s["pearls"][pearl] if s["pearl_owner"][pearl] == seat else 0
    return points


@inlined
def encode_recall(s: np.void, seat: int, at: np.void, out: npt.NDArray[np.uint8]) -> None:
    """What the observer knows besides who forgets nothing."""
    unseen = at["unseen"]
    put_row(out, unseen, s["unseen"])
    other = seat
    for k in range(s["num_players"] - 1):
        other = next_seat(s, other)
        known = at["known_hand"] + k * NUM_CARDS
        put_row(out, known, s["hand"][other])
        for u in range(UNKNOWN_CARDS):
            card = s["unknown"][other, u]
            if card >= 0:
                out[known + card] -= 1
                out[unseen + card] += 1
                out[at["unknown"] + k] += 1
    for side in range(2):
        encode_laid(s, side, at, out)


@inlined
def encode_laid(s: np.void, side: int, at: np.void, out: npt.NDArray[np.uint8]) -> None:
    """The cards that players laid on a deck, and the back of the one under them."""
    size = int(s["deck_size"][side])
    laid = int(s["deck_laid"][side])
    put(out, at["num_laid"] + side, laid)
    for depth in range(laid):
        card = int(s["deck"][deck_place(side, size - 1 - depth)])
        if depth < LAID_SHOWN:
            put(out, at["laid_top"] + (side * LAID_SHOWN + depth) * NUM_CARDS + card, 1)
        else:
            place = depth - LAID_SHOWN
            if side == RIGHT:
                place = MAX_CARDS - LAID_SHOWN - 1 - place
            put(out, at["laid_below"] + place, card + 1)
    back = back_of(s, side, size - laid - 1)
    if laid > 0 and back >= 0:
        if side == LEFT:
            put(out, at["below_left"] + back - 1, 1)
        else:
            put(out, at["below_right"] + back, 1)
