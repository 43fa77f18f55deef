"""Positions written by hand, and a game read in the terms of the rules page.

Cards are written as on that page, several as one text: `"W3 Rg D6"`. A spell is its two pages: `"2r"`
asks for two red dragons. A list with one entry a seat may be short: the seats left out have nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gardienii_env import Game
from gardienii_env.game import RulesetLike
from gardienii_env.rules import engine
from gardienii_env.rules.cards import CARD_INDEX, CARDS, COLOURS, LEFT, RIGHT, SIDES, back_name
from gardienii_env.rules.state import STEPS, deck_place, top_back

__all__ = [
    "columns",
    "deck",
    "do",
    "full_table",
    "hand",
    "may",
    "pieces",
    "position",
    "spell",
    "supply",
]

NO_CARD = "--"
"""An empty slot of the supply."""


def position(
    players: int = 2,
    ruleset: RulesetLike = "gardienii",
    *,
    step: str = "play",
    spell: str = "1w",
    left: str | None = None,
    right: str | None = None,
    supply: str = "W1 -- Wr --",
    hands: Sequence[str] = (),
    tableaus: Sequence[str] = (),
    pieces: Sequence[Mapping[int, int]] = (),
    bank: Mapping[int, int] | None = None,
    **fields: Any,
) -> Game:
    """A game of seat 0's turn at a step, with forced decisions already made.

    Args:
        spell: the pages on top of the decks, each with two cards under it.
        left, right: a whole deck instead, the top card last.
        supply: the cards in slots L0, L1, R0, R1.
        tableaus: the colours of each seat's columns, from the left; one card in each.
        pieces, bank: amulet pieces of each seat and in the bank, points -> count.
        fields: any other fields of the state; one with an entry a seat may be short.
    """
    game = Game.new(players, ruleset, seed=0)
    s = game.state
    set_deck(game, LEFT, left if left is not None else "G1 G3 " + page_of_number(spell[0]))
    set_deck(game, RIGHT, right if right is not None else "Gw Rb " + page_of_colour(spell[1]))
    s["supply"].flat = [-1 if card == NO_CARD else CARD_INDEX[card] for card in supply.split()]
    s["hand"], s["unknown"] = 0, -1
    for seat, cards in enumerate(hands):
        for card in cards.split():
            s["hand"][seat, CARD_INDEX[card]] += 1
    s["hand_size"] = s["hand"].sum(axis=1)
    for seat, colours in enumerate(tableaus):
        for place, name in enumerate(colours):
            s["column"][seat, place] = COLOURS.index(name)
            s["column_cards"][seat, COLOURS.index(name)] = 1
    for seat, counts in enumerate(pieces):
        set_pieces(game, "pieces", seat, counts)
    if bank is not None:
        set_pieces(game, "bank_pieces", ..., bank)
    s["step"] = STEPS.index(step)
    for field, value in fields.items():
        if isinstance(value, list):
            s[field][: len(value)] = value
        else:
            s[field] = value
    s["num_pearls"] = [(s["pearl_owner"] == seat).sum() for seat in range(s["num_pearls"].size)]
    engine.settle(game.batch.rules[0], game.state)
    game.batch.write_mask(0)
    return game


def page_of_number(number: str) -> str:
    """A card with that number on its back."""
    return "D6" if number == "6" else "G" + number


def page_of_colour(colour: str) -> str:
    """A card with that colour on its back."""
    return "W" + colour if colour != "w" else "Rw"


def set_deck(game: Game, side: int, cards: str) -> None:
    game.state["deck_size"][side] = len(cards.split())
    for height, card in enumerate(cards.split()):
        game.state["deck"][deck_place(side, height)] = CARD_INDEX[card]


def set_pieces(game: Game, field: str, place: Any, counts: Mapping[int, int]) -> None:
    """Write counts of amulet pieces, points -> count, into a field of the state."""
    values = [int(points) for points in game.ruleset.amulet_pieces]
    game.state[field][place] = [counts.get(points, 0) for points in sorted(values)]


def do(game: Game, *actions: str) -> Game:
    """Do some actions; returns the same game."""
    for action in actions:
        game.apply(action)
    return game


def may(game: Game, kind: str) -> str:
    """What the legal actions of a kind (`take`, `modify`, `play`, `column`) offer, as one text."""
    offered = (action.partition(":") for action in game.legal_actions())
    return " ".join(argument for name, _, argument in offered if name == kind)


def hand(game: Game, seat: int) -> str:
    """The cards in a hand, in type order."""
    counts = zip(CARDS, game.state["hand"][seat], strict=True)
    return " ".join(card for card, count in counts for _ in range(count))


def supply(game: Game) -> str:
    """The cards in slots L0, L1, R0, R1."""
    return " ".join(CARDS[card] if card >= 0 else NO_CARD for card in game.state["supply"].flat)


def deck(game: Game, side: str) -> str:
    """The cards of the deck `L` or `R`, the top card last."""
    s, number = game.state, SIDES.index(side)
    places = (deck_place(number, height) for height in range(s["deck_size"][number]))
    return " ".join(CARDS[s["deck"][place]] for place in places)


def spell(game: Game) -> str:
    """The two pages of the spell; `-` in the place of one that is missing."""
    backs = ((side, top_back(game.state, side)) for side in (LEFT, RIGHT))
    return "".join(back_name(side, back) if back >= 0 else "-" for side, back in backs)


def columns(game: Game, seat: int) -> str:
    """The colours of a tableau's columns, from the left."""
    return "".join(COLOURS[colour] for colour in game.state["column"][seat] if colour >= 0)


def pieces(game: Game, seat: int) -> dict[int, int]:
    """The amulet pieces of a seat, points -> count."""
    values = sorted(int(points) for points in game.ruleset.amulet_pieces)
    counts = map(int, game.state["pieces"][seat])
    return {points: count for points, count in zip(values, counts, strict=True) if count}


def full_table() -> Game:
    """Three players in the middle of a turn, with something of everything on the table."""
    return position(
        3,
        step="play",
        spell="5r",
        supply="W1 -- Wr D6",
        hands=["R1 R2 Rg Rw D6 W1", "R1", ""],
        bank={1: 2, 8: 1, 20: 3},
        taken=3,
        paid=1,
        laid=[0, 1],
        turns=11,
        bank_crystals=1,
        bank_eggs=0,
        bank_dark_dragons=7,
        crests_given=1,
        pearls_given=2,
        deck_laid=[0, 1],
    )
