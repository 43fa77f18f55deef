"""Rulesets: everything of the rules that is data, checked when it is read.

A `Ruleset` is made from a TOML or JSON file, a dict, or the name of a shipped one, and becomes one
small structured record (`RULES`) that every compiled function takes as its first argument: a changed
ruleset needs no compilation, and no function holds a number of a ruleset.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property, lru_cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from gardienii_env.errors import RulesetError, one_of, shown
from gardienii_env.jsontext import parse_json
from gardienii_env.rules.cards import (
    BACK,
    CARD_INDEX,
    CARDS,
    DARK,
    LEFT,
    NUM_CARDS,
    NUM_COLOURS,
    NUMBERS,
    RIGHT,
    SIDE,
)

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = [
    "MAX_CARDS",
    "MAX_COPIES",
    "MAX_CRESTS",
    "MAX_DRAGON_POINTS",
    "MAX_PEARLS",
    "MAX_PEARL_POINTS",
    "MAX_PIECES",
    "MAX_PIECE_VALUES",
    "MAX_PLAYERS",
    "MAX_TOKENS",
    "MAX_TURNS",
    "MIN_PLAYERS",
    "PIECE_HIGHEST",
    "PIECE_LOWEST",
    "PIECE_NONE",
    "RULES",
    "SHIPPED",
    "Prize",
    "Ruleset",
]

SHIPPED = ("gardienii", "dragonkeepers")
"""Names of the rulesets that come with the package; the first is the default."""

MIN_PLAYERS, MAX_PLAYERS = 2, 4

# What the fixed sizes of the state and the scales of the observation leave room for.
MAX_CARDS = 127
MAX_COPIES = 20
MAX_PIECE_VALUES = 8
MAX_PEARLS = 20
MAX_PEARL_POINTS = 255
MAX_DRAGON_POINTS = 510
MAX_TURNS = 510
MAX_PIECES = 60
MAX_TOKENS = 20
MAX_CRESTS = 3
MAX_POINTS = 1000

PIECES = ("none", "lowest", "highest")
PIECE_NONE, PIECE_LOWEST, PIECE_HIGHEST = range(3)

PLAYER_KEYS = tuple(str(players) for players in range(MIN_PLAYERS, MAX_PLAYERS + 1))
NUMBER_KEYS = tuple(str(number) for number in range(1, NUMBERS + 1))
VALUE_KEYS = (*NUMBER_KEYS[:-1], "colour", "dark")
_POINTS_KEYS = frozenset(map(str, range(MAX_POINTS + 1)))

RULES = np.dtype(
    [
        ("number_share", np.float64, NUMBERS + 1),  # of the left deck's backs that show it; 0 unused
        ("colour_share", np.float64, NUM_COLOURS),  # of the right deck's
        ("supply_per_deck", np.int16),
        ("modifications_per_turn", np.int16),
        ("crystals_per_turn", np.int16),
        ("enclosed_columns_close", np.int16),
        ("dragons_score", np.int16),
        ("crystal_points", np.int16),
        ("take_limit", np.int16),
        ("turn_limit", np.int16),
        ("left_deck", np.int16, NUM_CARDS),  # count by card type
        ("right_deck", np.int16, NUM_CARDS),
        ("starting_cards", np.int16, NUM_CARDS),
        ("dark_dragons", np.int16),
        ("card_value", np.int16, NUM_CARDS),  # points by card type
        ("piece_points", np.int16, MAX_PIECE_VALUES),  # ascending; unused places at the end
        ("piece_count", np.int16, MAX_PIECE_VALUES),
        ("piece_values", np.int16),  # how many places are used
        ("pieces_removed", np.int16, MAX_PLAYERS + 1),  # by number of players
        ("amulets_to_end", np.int16, MAX_PLAYERS + 1),
        ("pearl_points", np.int16, MAX_PEARLS),  # one place a pearl, ascending
        ("pearls", np.int16),
        ("crystals", np.int16),
        ("golden_eggs", np.int16),
        ("egg_points", np.int16),
        ("egg_majority_points", np.int16),
        ("crest_points", np.int16, MAX_CRESTS),  # best first
        ("crests", np.int16),
        ("prize_piece", np.int16, NUMBERS + 1),  # PIECE_..., by number
        ("prize_crystals", np.int16, NUMBERS + 1),
        ("prize_dark_dragons", np.int16, NUMBERS + 1),
        ("prize_golden_eggs", np.int16, NUMBERS + 1),
    ]
)
"""A ruleset as the compiled functions read it: an array of one such record."""


@dataclass(frozen=True)
class Prize:
    """What a play earns: an amulet piece (`lowest`, `highest` or `none`) and counts of tokens."""

    piece: str = "none"
    crystals: int = 0
    dark_dragons: int = 0
    golden_eggs: int = 0


@dataclass(frozen=True)
class Ruleset:
    """A checked, immutable ruleset. Counts are of cards or tokens, values are points.

    Make one with `Ruleset.get` (a shipped name, a file, a dict), `Ruleset.from_dict`, `Ruleset.load`
    or `replace`. RulesetError names the field that is wrong.
    """

    name: str
    supply_per_deck: int
    """Face-up cards before each deck, 1-2."""
    modifications_per_turn: int
    """Cards a player may lay on the spell in a turn, at most one a side, 0-2."""
    crystals_per_turn: int
    """Crystals that may be paid in a turn for a further card each, 0-10."""
    enclosed_columns_close: bool
    """Whether a column with a neighbour on both sides takes no more dragons."""
    dragons_score: bool
    """Whether the cards played are worth their value."""
    crystal_points: int
    """Points of a crystal kept to the end."""
    take_limit: int
    """Cards that may be taken in a turn without paying."""
    turn_limit: int
    """Turns after which the game is stopped."""
    left_deck: Mapping[str, int]
    right_deck: Mapping[str, int]
    starting_cards: Mapping[str, int]
    dark_dragons: int
    """Dark dragons in the bank."""
    card_values: Mapping[str, int]
    """Points of a played card by its back: `1`-`5`, `colour`, `dark`."""
    amulet_pieces: Mapping[str, int]
    """Points -> count."""
    pieces_removed: Mapping[str, int]
    """Number of players -> amulet pieces that leave the game at random."""
    amulets_to_end: Mapping[str, int]
    """Number of players -> amulets of all players together that end the game."""
    pearls: Mapping[str, int]
    """Points -> count."""
    crystals: int
    golden_eggs: int
    egg_points: int
    egg_majority_points: int
    """What one egg of each player with the most eggs counts instead."""
    crests: tuple[int, ...]
    """Points of the crests, best first, at most 3."""
    prizes: Mapping[str, Prize]
    """The prize of each number `1`-`6`."""

    def __post_init__(self) -> None:
        _check(self)
        for name in _TABLES:
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __hash__(self) -> int:
        return hash(json.dumps(self.to_dict(), sort_keys=True))

    def __reduce__(self) -> tuple[object, ...]:
        return Ruleset.from_dict, (self.to_dict(),)

    @classmethod
    def get(cls, ruleset: str | Path | Mapping[str, Any] | Ruleset) -> Ruleset:
        """The ruleset meant by a shipped name, a path of a TOML or JSON file, a dict or a Ruleset."""
        if isinstance(ruleset, Ruleset):
            return ruleset
        if isinstance(ruleset, Mapping):
            return cls.from_dict(ruleset)
        if isinstance(ruleset, str) and ruleset in SHIPPED:
            return _shipped(ruleset)
        if isinstance(ruleset, Path) or (isinstance(ruleset, str) and Path(ruleset).suffix):
            return cls.load(ruleset)
        raise RulesetError(
            one_of("The ruleset", ruleset, SHIPPED) + " A file is given by its path (.toml or .json)."
        )

    @classmethod
    def load(cls, path: str | Path) -> Ruleset:
        """Read a ruleset from a TOML or JSON file; RulesetError names the file and the field."""
        path = Path(path)
        is_json = path.suffix.lower() == ".json"
        try:
            text = path.read_text(encoding="utf-8")
            data = parse_json(text) if is_json else tomllib.loads(text)
        except OSError as error:
            raise RulesetError(f"The ruleset file {path} cannot be read: {error.strerror}.") from None
        except (ValueError, RecursionError) as error:
            kind = "JSON" if is_json else "TOML"
            raise RulesetError(f"The ruleset file {path} is not valid {kind}: {error}.") from None
        try:
            return cls.from_dict(data)
        except RulesetError as error:
            raise RulesetError(f"{path}: {error}") from None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Ruleset:
        """A ruleset from a dict with exactly the keys of this class, as `to_dict` gives it."""
        if not isinstance(data, Mapping):
            raise RulesetError(f"A ruleset is an object with named fields, not {shown(data)}.")
        known = [f.name for f in fields(cls)]
        _check_keys("the ruleset", data, known)
        missing = [key for key in known if key not in data]
        if missing:
            raise RulesetError(
                f"{missing[0]}: missing; a ruleset has all its fields ({', '.join(missing)} "
                f"not found). Start from a shipped one: Ruleset.get('{SHIPPED[0]}').replace(...)."
            )
        return cls(**data)

    def replace(self, **changes: Any) -> Ruleset:
        """A copy with some fields changed, checked again."""
        _check_keys("the ruleset", changes, [f.name for f in fields(self)])
        return replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """The whole ruleset as plain data, ready for JSON or TOML."""
        data = {f.name: getattr(self, f.name) for f in fields(self)}
        tables = {name: dict(data[name]) for name in _TABLES}
        prizes = {number: asdict(prize) for number, prize in self.prizes.items()}
        return {**data, **tables, "prizes": prizes, "crests": list(self.crests)}

    def reference(self) -> str | dict[str, Any]:
        """How a record names this ruleset: its name if it is a shipped one, else the whole of it."""
        shipped = self.name in SHIPPED and self == Ruleset.get(self.name)
        return self.name if shipped else self.to_dict()

    @cached_property
    def rules(self) -> npt.NDArray[np.void]:
        """The ruleset as an array of one `RULES` record, the form that compiled functions take."""
        record = np.zeros(1, RULES)
        rules = record[0]
        for switch in _SWITCHES:
            rules[switch] = getattr(self, switch)
        for pile in _PILES:
            for card, count in getattr(self, pile).items():
                rules[pile][CARD_INDEX[card]] = count
        for card in range(NUM_CARDS):
            rules["card_value"][card] = self.card_values[_value_key(card)]
            if SIDE[card] == LEFT:
                rules["number_share"][BACK[card]] += rules["left_deck"][card]
            else:
                rules["colour_share"][BACK[card]] += rules["right_deck"][card]
        for share in ("number_share", "colour_share"):
            rules[share] /= max(rules[share].sum(), 1)
        pieces = sorted((int(points), count) for points, count in self.amulet_pieces.items())
        rules["piece_values"] = len(pieces)
        for k, (points, count) in enumerate(pieces):
            rules["piece_points"][k], rules["piece_count"][k] = points, count
        for players in PLAYER_KEYS:
            rules["pieces_removed"][int(players)] = self.pieces_removed[players]
            rules["amulets_to_end"][int(players)] = self.amulets_to_end[players]
        pearls = sorted(int(points) for points, count in self.pearls.items() for _ in range(count))
        rules["pearls"] = len(pearls)
        rules["pearl_points"][: len(pearls)] = pearls
        rules["crests"] = len(self.crests)
        rules["crest_points"][: len(self.crests)] = self.crests
        for number, prize in self.prizes.items():
            rules["prize_piece"][int(number)] = PIECES.index(prize.piece)
            for token in _PRIZE_COUNTS:
                rules["prize_" + token][int(number)] = getattr(prize, token)
        record.setflags(write=False)
        return record


# -- checks ----------------------------------------------------------------------------------------

_SWITCHES: dict[str, tuple[int, int]] = {
    "supply_per_deck": (1, 2),
    "modifications_per_turn": (0, 2),
    "crystals_per_turn": (0, 10),
    "enclosed_columns_close": (0, 1),
    "dragons_score": (0, 1),
    "crystal_points": (0, MAX_POINTS),
    "take_limit": (1, 10),
    "turn_limit": (1, MAX_TURNS),
    "dark_dragons": (0, MAX_COPIES),
    "crystals": (0, MAX_TOKENS),
    "golden_eggs": (0, MAX_TOKENS),
    "egg_points": (0, MAX_POINTS),
    "egg_majority_points": (0, MAX_POINTS),
}
"""The fields that are one number, with the least and the most that is allowed."""

_PILES = ("left_deck", "right_deck", "starting_cards")
_TABLES = (
    *_PILES,
    "card_values",
    "amulet_pieces",
    "pieces_removed",
    "amulets_to_end",
    "pearls",
    "prizes",
)
_PRIZE_COUNTS = ("crystals", "dark_dragons", "golden_eggs")


def _check(r: Ruleset) -> None:
    """Check every field and what they must be together; RulesetError names the first at fault."""
    if not isinstance(r.name, str) or not r.name.strip() or not r.name.isprintable():
        raise RulesetError(f"name: {shown(r.name)} is not a name; expected some text on one line.")
    for name, (least, most) in _SWITCHES.items():
        value = getattr(r, name)
        if name in ("enclosed_columns_close", "dragons_score"):
            if not isinstance(value, bool):
                raise RulesetError(f"{name}: {shown(value)} is not true or false.")
        else:
            _whole(name, value, least, most)
    _check_cards(r)
    _counts("card_values", r.card_values, VALUE_KEYS, MAX_POINTS, complete=True)
    _check_dragon_points(r)
    for name in ("pieces_removed", "amulets_to_end"):
        _counts(name, getattr(r, name), PLAYER_KEYS, MAX_POINTS, complete=True)
    _check_pieces(r)
    _check_pearls(r)
    _check_crests(r)
    _check_prizes(r)


def _check_keys(where: str, data: Mapping[str, Any], known: list[str]) -> None:
    for key in data:
        if key not in known:
            raise RulesetError(f"{key}: " + one_of(f"the key of {where}", key, known))


def _whole(name: str, value: object, least: int, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise RulesetError(f"{name}: {shown(value)} is not a whole number from {least} to {most}.")
    return value


@lru_cache
def _shipped(name: str) -> Ruleset:
    """The shipped ruleset of that name."""
    return Ruleset.load(Path(str(files(__package__) / f"{name}.toml")))


def _counts(
    name: str, value: object, keys: tuple[str, ...] | None, most: int, complete: bool = False
) -> dict[str, int]:
    """Check an object of counts. Without `keys`, the keys are points: whole numbers as text."""
    if not isinstance(value, Mapping):
        raise RulesetError(f"{name}: {shown(value)} is not an object of numbers.")
    for key, count in value.items():
        if keys is not None and key not in keys:
            raise RulesetError(f"{name}.{key}: " + one_of(f"the key of {name}", key, keys))
        if keys is None and key not in _POINTS_KEYS:
            raise RulesetError(
                f"{name}.{key}: points are a whole number from 0 to {MAX_POINTS} as text, like '4'."
            )
        _whole(f"{name}.{key}", count, 0, most)
    if complete and keys is not None:
        for key in keys:
            if key not in value:
                raise RulesetError(f"{name}.{key}: missing; expected all of {', '.join(keys)}.")
    return dict(value)


def _check_cards(r: Ruleset) -> None:
    piles = {name: _counts(name, getattr(r, name), CARDS, MAX_COPIES) for name in _PILES}
    for name, side, page in (("left_deck", LEFT, "number"), ("right_deck", RIGHT, "colour")):
        for card, count in piles[name].items():
            if count and SIDE[CARD_INDEX[card]] != side:
                raise RulesetError(f"{name}.{card}: this card has no {page} on its back.")
        size = sum(piles[name].values())
        if size < r.supply_per_deck:
            raise RulesetError(
                f"{name}: {size} cards are fewer than supply_per_deck ({r.supply_per_deck})."
            )
    dealt = sum(range(MAX_PLAYERS))
    if sum(piles["starting_cards"].values()) < dealt:
        raise RulesetError(
            f"starting_cards: {sum(piles['starting_cards'].values())} cards are too few; "
            f"{MAX_PLAYERS} players are dealt {dealt}."
        )
    copies = {card: sum(pile.get(card, 0) for pile in piles.values()) for card in CARDS}
    copies[CARDS[DARK]] += r.dark_dragons
    for card, count in copies.items():
        if count > MAX_COPIES:
            raise RulesetError(
                f"left_deck, right_deck, starting_cards, dark_dragons: {count} copies of {card} in "
                f"all; at most {MAX_COPIES}."
            )
    if sum(copies.values()) > MAX_CARDS:
        raise RulesetError(
            f"left_deck, right_deck, starting_cards, dark_dragons: {sum(copies.values())} cards in "
            f"all; at most {MAX_CARDS}."
        )


def _value_key(card: int) -> str:
    """Where `card_values` tells what a card is worth."""
    return "dark" if card == DARK else str(BACK[card]) if SIDE[card] == LEFT else "colour"


def _check_dragon_points(r: Ruleset) -> None:
    total = r.dark_dragons * r.card_values["dark"]
    for pile in (r.left_deck, r.right_deck, r.starting_cards):
        for card, count in pile.items():
            total += count * r.card_values[_value_key(CARD_INDEX[card])]
    if total > MAX_DRAGON_POINTS:
        raise RulesetError(
            f"card_values: all cards together are worth {total}; at most {MAX_DRAGON_POINTS}."
        )


def _check_pieces(r: Ruleset) -> None:
    pieces = _counts("amulet_pieces", r.amulet_pieces, None, MAX_TOKENS)
    if len(pieces) > MAX_PIECE_VALUES:
        raise RulesetError(f"amulet_pieces: {len(pieces)} different values; at most {MAX_PIECE_VALUES}.")
    total = _whole("amulet_pieces: the number of pieces", sum(pieces.values()), 0, MAX_PIECES)
    for players, removed in r.pieces_removed.items():
        if removed > total:
            raise RulesetError(
                f"pieces_removed.{players}: {removed} pieces cannot be removed from {total}."
            )
    for players, amulets in r.amulets_to_end.items():
        _whole(f"amulets_to_end.{players}", amulets, 1, MAX_PIECES)


def _check_pearls(r: Ruleset) -> None:
    pearls = _counts("pearls", r.pearls, None, MAX_PEARLS)
    _whole("pearls: the number of pearls", sum(pearls.values()), 0, MAX_PEARLS)
    worth = sum(int(points) * count for points, count in pearls.items())
    _whole("pearls: the points of all pearls together", worth, 0, MAX_PEARL_POINTS)


def _check_crests(r: Ruleset) -> None:
    if not isinstance(r.crests, list | tuple) or len(r.crests) > MAX_CRESTS:
        raise RulesetError(f"crests: {shown(r.crests)} is not a list of at most {MAX_CRESTS} numbers.")
    for points in r.crests:
        _whole("crests", points, 0, MAX_POINTS)
    if list(r.crests) != sorted(r.crests, reverse=True):
        raise RulesetError(f"crests: {list(r.crests)!r} is not in order, best first.")
    object.__setattr__(r, "crests", tuple(r.crests))


def _check_prizes(r: Ruleset) -> None:
    if not isinstance(r.prizes, Mapping):
        raise RulesetError(f"prizes: {shown(r.prizes)} is not an object with a prize for each number.")
    prizes = {}
    for number, given in r.prizes.items():
        where = f"prizes.{number}"
        if number not in NUMBER_KEYS:
            raise RulesetError(f"{where}: no page has this number; expected {', '.join(NUMBER_KEYS)}.")
        prize: Any = asdict(given) if isinstance(given, Prize) else given
        if not isinstance(prize, Mapping):
            raise RulesetError(f"{where}: {shown(prize)} is not an object with a piece and counts.")
        for key in prize:
            if key not in ("piece", *_PRIZE_COUNTS):
                known = one_of(f"the key of {where}", key, ("piece", *_PRIZE_COUNTS))
                raise RulesetError(f"{where}.{key}: {known}")
        piece = prize.get("piece")
        if not isinstance(piece, str) or piece not in PIECES:
            raise RulesetError(f"{where}.piece: " + one_of("the piece", piece, PIECES))
        for token in _PRIZE_COUNTS:
            _whole(f"{where}.{token}", prize.get(token, 0), 0, MAX_TOKENS)
        prizes[number] = Prize(**prize)
    for number in NUMBER_KEYS:
        if number not in prizes:
            raise RulesetError(f"prizes.{number}: missing; every number has a prize.")
    object.__setattr__(r, "prizes", prizes)
