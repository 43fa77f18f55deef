"""A moment of a game as plain data for JSON: everything a viewer may see of it, and nothing else.

All drawings that are not plain text are made from a scene: the board picture and the web pages. It is
read from the viewer's observation, so that nothing hidden can slip in. It needs no extra.

Cards are written as everywhere (`W3`, `Rg`, `D6`), colours by their letters (`W`, `R`, `B`, `G`), sides
`L` and `R`, seats by their numbers, actions by their names. What is worth points is written as that
number of points.
"""

from __future__ import annotations

from typing import TypedDict

import numpy as np

from gardienii_env.game import Game
from gardienii_env.render.sight import Counts, Sight, check_viewer, place_of
from gardienii_env.rules.actions import SLOTS_PER_SIDE
from gardienii_env.rules.cards import CARDS, COLOURS, SIDES

__all__ = [
    "AmuletScene",
    "BankScene",
    "ColumnScene",
    "DeckScene",
    "EndScene",
    "OwnScene",
    "PrizeScene",
    "Scene",
    "SeatScene",
    "SlotScene",
    "SpellScene",
    "ValueCount",
    "scene",
]


class ValueCount(TypedDict):
    """How many amulet pieces of one value there are; never 0."""

    points: int
    count: int


class PrizeScene(TypedDict):
    """What a play earns."""

    piece: str
    """`lowest`, `highest` or `none`."""
    crystals: int
    dark_dragons: int
    golden_eggs: int


class SpellScene(TypedDict):
    """The two pages that show."""

    number: int | None
    """1-6; None: the left deck is empty."""
    colour: str | None
    """None: the right deck is empty."""
    prize: PrizeScene | None
    """The prize of the number; None without one. Nobody can play unless number and colour are there."""


class SlotScene(TypedDict):
    """A slot of the supply."""

    slot: str
    """`L0`, `L1`, `R0` or `R1`: the action is `take:` and this."""
    card: str | None
    """None: empty."""


class DeckScene(TypedDict):
    """A deck."""

    side: str
    size: int
    top: str | None
    """The back of its top card: a digit, or a colour's letter; None: the deck is empty."""
    laid: bool
    """Whether a card was laid on it in this turn."""


class BankScene(TypedDict):
    """What is left to be given."""

    pieces: list[ValueCount]
    crystals: int
    golden_eggs: int
    dark_dragons: int
    pearls: int
    crests: list[int]
    """Points of the crests left, best first."""


class AmuletScene(TypedDict):
    """Amulets of all players together."""

    made: int
    needed: int
    """The game ends with the turn in which so many are made."""


class ColumnScene(TypedDict):
    """A column of a tableau."""

    colour: str
    cards: int
    closed: bool
    """Whether no more dragons can be played into it."""


class OwnScene(TypedDict):
    """What only the seat itself knows."""

    hand: dict[str, int]
    """Card -> how many, in the order of the types; never 0."""
    pieces: list[ValueCount]
    pearl_points: int
    """Points of all its pearls together."""


class SeatScene(TypedDict):
    """A player."""

    seat: int
    columns: list[ColumnScene]
    """From the left."""
    card_points: int
    """Values of the cards played; they count only where `dragons_score`."""
    hand_size: int
    pieces: int
    amulets: int
    pearls: int
    crystals: int
    golden_eggs: int
    crest: int | None
    """Its points."""
    own: OwnScene | None
    """None: the viewer may not see it."""


class EndScene(TypedDict):
    """How the game ended."""

    reason: str
    """`amulets`, `supply` or `turn_limit`."""
    points: list[dict[str, int]]
    """Of each seat by source: `dragons`, `pieces`, `pearls`, `crystals`, `eggs`, `crest`."""
    scores: list[int]
    winners: list[int]


class Scene(TypedDict):
    """What `scene` gives."""

    ruleset: str
    players: int
    viewer: int | None
    """The seat that looks; None: a spectator."""
    turn: int
    """The number of this turn, from 1; once the game is over, the number of turns played."""
    active: int
    """Whose turn it is (once the game is over: would be)."""
    deciding: int | None
    """Who decides; None: the game is over."""
    step: str
    """`take`, `modify`, `play`, `column` or `over`."""
    taken: int
    """Cards taken in this turn."""
    paid: int
    """Crystals paid in this turn."""
    spell: SpellScene
    supply: list[SlotScene]
    """The slots that the ruleset has, `L` first."""
    decks: list[DeckScene]
    """The left and the right deck."""
    open: list[str]
    """Cards of an unfinished set that lie open before who decides, in the order of the types."""
    needed: int
    """How many cards that set still needs; 0 without one."""
    bank: BankScene
    amulets: AmuletScene
    dragons_score: bool
    """Whether the cards played count points."""
    seats: list[SeatScene]
    legal: list[str]
    """Legal actions, in the order of their ids, where the hand of who decides is shown; else empty."""
    end: EndScene | None
    """None: the game is on."""


def scene(game: Game, viewer: int | None = None, open_hands: bool = False) -> Scene:
    """What the viewer may see of the game as it stands.

    Args:
        game: the game, on or over.
        viewer: the seat that looks, or None for a spectator, who sees what everybody sees.
        open_hands: show what is private to each seat: for games that are recorded or over, and for
            those who watch but do not play. Decks and pearls left stay hidden.

    Raises OptionError if the viewer is not a seat.
    """
    seen = Sight(game, check_viewer(game, viewer))
    owners = {seat: Sight(game, seat) for seat in seen.seats if open_hands or seat == viewer}
    deciding = seen.who("deciding")
    return {
        "ruleset": game.ruleset.name,
        "players": game.num_players,
        "viewer": seen.viewer,
        "turn": int(seen["turns"].sum()) + (deciding is not None),
        "active": seen.who("active") or 0,
        "deciding": deciding,
        "step": game.step,
        "taken": int(seen["taken"]),
        "paid": int(seen["paid"]),
        "spell": _spell(seen),
        "supply": _supply(seen),
        "decks": _decks(seen),
        "open": [card for card, count in _cards(seen["open"]).items() for _ in range(count)],
        "needed": int(seen["needed"]),
        "bank": _bank(seen),
        "amulets": {
            "made": int(seen["amulets"].sum()),
            "needed": game.ruleset.amulets_to_end[str(game.num_players)],
        },
        "dragons_score": game.ruleset.dragons_score,
        "seats": [_seat(seen, seat, owners.get(seat)) for seat in seen.seats],
        "legal": game.legal_actions() if deciding in owners else [],
        "end": _end(game),
    }


def _spell(seen: Sight) -> SpellScene:
    left, right = seen.which("left_top"), seen.which("right_top")
    number = None if left is None else left + 1
    prize: PrizeScene | None = None
    if number is not None:
        given = seen.ruleset.prizes[str(number)]
        prize = {
            "piece": given.piece,
            "crystals": given.crystals,
            "dark_dragons": given.dark_dragons,
            "golden_eggs": given.golden_eggs,
        }
    return {"number": number, "colour": None if right is None else COLOURS[right], "prize": prize}


def _supply(seen: Sight) -> list[SlotScene]:
    slots: list[SlotScene] = []
    for slot, flags in enumerate(seen["supply"]):
        side, place = divmod(slot, SLOTS_PER_SIDE)
        if place < seen.ruleset.supply_per_deck:
            card = place_of(flags)
            name = f"{SIDES[side]}{place}"
            slots.append({"slot": name, "card": None if card is None else CARDS[card]})
    return slots


def _decks(seen: Sight) -> list[DeckScene]:
    left, right = seen.which("left_top"), seen.which("right_top")
    tops = (None if left is None else str(left + 1), None if right is None else COLOURS[right])
    sizes, laid = seen["deck_size"].tolist(), seen["laid"].tolist()
    return [
        {"side": side, "size": sizes[k], "top": tops[k], "laid": bool(laid[k])}
        for k, side in enumerate(SIDES)
    ]


def _bank(seen: Sight) -> BankScene:
    return {
        "pieces": _pieces(seen, seen["bank_pieces"]),
        "crystals": int(seen["bank_crystals"]),
        "golden_eggs": int(seen["bank_eggs"]),
        "dark_dragons": int(seen["bank_dark_dragons"]),
        "pearls": int(seen["bank_pearls"]),
        "crests": [seen.ruleset.crests[k] for k in np.flatnonzero(seen["bank_crests"])],
    }


def _seat(seen: Sight, seat: int, owner: Sight | None) -> SeatScene:
    crest = place_of(seen.of(seat, "crest"))
    return {
        "seat": seat,
        "columns": _columns(seen, seat),
        "card_points": int(seen.of(seat, "dragon_points").sum()),
        "hand_size": int(seen.of(seat, "hand_size")),
        "pieces": int(seen.of(seat, "num_pieces")),
        "amulets": int(seen.of(seat, "amulets")),
        "pearls": int(seen.of(seat, "pearls")),
        "crystals": int(seen.of(seat, "crystals")),
        "golden_eggs": int(seen.of(seat, "eggs")),
        "crest": None if crest is None else seen.ruleset.crests[crest],
        "own": None if owner is None else _own(owner),
    }


def _columns(seen: Sight, seat: int) -> list[ColumnScene]:
    colours = [colour for flags in seen.of(seat, "column") if (colour := place_of(flags)) is not None]
    cards = seen.of(seat, "column_cards")
    close = seen.ruleset.enclosed_columns_close
    return [
        {
            "colour": COLOURS[colour],
            "cards": int(cards[colour]),
            "closed": close and 0 < place < len(colours) - 1,
        }
        for place, colour in enumerate(colours)
    ]


def _own(owner: Sight) -> OwnScene:
    return {
        "hand": _cards(owner["hand"]),
        "pieces": _pieces(owner, owner["pieces"]),
        "pearl_points": int(owner["pearl_points"]),
    }


def _end(game: Game) -> EndScene | None:
    if game.end is None:
        return None
    return {
        "reason": game.end,
        "points": game.points(),
        "scores": game.scores(),
        "winners": game.winners(),
    }


def _cards(counts: Counts) -> dict[str, int]:
    return {CARDS[card]: int(counts[card]) for card in np.flatnonzero(counts)}


def _pieces(seen: Sight, counts: Counts) -> list[ValueCount]:
    values = sorted(int(points) for points in seen.ruleset.amulet_pieces)
    return [{"points": values[k], "count": int(counts[k])} for k in np.flatnonzero(counts)]
