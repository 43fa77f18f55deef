"""Deals as plain data: what the set-up left to chance, written out and read back.

A deal is the object `deal` of a game record (see `docs/rules.md`): both decks after the supply was
turned up (bottom card first), the supply, the hands, the amulet pieces in the game and the order of
the pearls. `read_deal` refuses what cannot come from the ruleset's components.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gardienii_env.errors import DealError, one_of, shown
from gardienii_env.rules import engine
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.cards import CARD_INDEX, CARDS, LEFT, RIGHT, SIDES
from gardienii_env.rules.ruleset import Ruleset
from gardienii_env.rules.state import deck_place

__all__ = ["read_deal", "write_deal"]

KEYS = ("left", "right", "supply", "hands", "pieces", "pearls")


def write_deal(batch: Batch, i: int) -> dict[str, Any]:
    """The deal of game i of a batch, whose state must be as it was dealt (before the first action)."""
    s, ruleset = batch.states[i], batch.ruleset
    decks = {
        side: [CARDS[s["deck"][deck_place(side, height)]] for height in range(int(s["deck_size"][side]))]
        for side in (LEFT, RIGHT)
    }
    pieces = batch.rules[0]["piece_points"]
    return {
        "left": decks[LEFT],
        "right": decks[RIGHT],
        "supply": {
            SIDES[side]: [CARDS[card] for card in s["supply"][side, : ruleset.supply_per_deck]]
            for side in (LEFT, RIGHT)
        },
        "hands": [
            [CARDS[card] for card in s["unknown"][seat] if card >= 0]
            for seat in range(batch.num_players)
        ],
        "pieces": {
            str(pieces[value]): int(count) for value, count in enumerate(s["bank_pieces"]) if count
        },
        "pearls": [int(points) for points in s["pearls"][: batch.rules[0]["pearls"]]],
    }


def read_deal(batch: Batch, i: int, deal: Mapping[str, Any]) -> None:
    """Set up game i of a batch as a deal says; DealError if it is impossible, game i as it was."""
    ruleset, players = batch.ruleset, batch.num_players
    _check_shape(deal)
    left, right = _cards("left", deal["left"]), _cards("right", deal["right"])
    supply = [
        _supply(ruleset, deal["supply"], LEFT, _total(ruleset.left_deck) - len(left)),
        _supply(ruleset, deal["supply"], RIGHT, _total(ruleset.right_deck) - len(right)),
    ]
    _same("left", "left_deck", [*left, *supply[LEFT]], ruleset.left_deck)
    _same("right", "right_deck", [*right, *supply[RIGHT]], ruleset.right_deck)
    hands = _hands(ruleset, players, deal["hands"])
    pieces = _pieces(ruleset, players, deal["pieces"])
    pearls = _pearls(ruleset, deal["pearls"])

    s = batch.states[i]
    engine.clear(s, players)
    for side, deck in ((LEFT, left), (RIGHT, right)):
        for height, card in enumerate(deck):
            s["deck"][deck_place(side, height)] = card
        s["deck_size"][side] = len(deck)
        s["supply"][side, : len(supply[side])] = supply[side]
    for seat, hand in enumerate(hands):
        for card in hand:
            engine.deal_starting_card(s, seat, card)
    s["bank_pieces"][: len(pieces)] = pieces
    s["pearls"][: len(pearls)] = pearls
    engine.start(batch.rules, batch.states, i)
    batch.write_mask(i)


def _check_shape(deal: object) -> None:
    if not isinstance(deal, Mapping):
        raise DealError(f"deal: {shown(deal)} is not an object with {', '.join(KEYS)}.")
    for key in deal:
        if key not in KEYS:
            raise DealError(f"deal.{key}: " + one_of("the key of a deal", key, KEYS))
    for key in KEYS:
        if key not in deal:
            raise DealError(f"deal.{key}: missing; a deal has {', '.join(KEYS)}.")


def _total(counts: Mapping[str, int]) -> int:
    return sum(counts.values())


def _list(where: str, value: object) -> Sequence[Any]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise DealError(f"deal.{where}: {shown(value)} is not a list.")
    return value


def _cards(where: str, names: object) -> list[int]:
    cards = []
    for name in _list(where, names):
        if not isinstance(name, str) or name not in CARD_INDEX:
            raise DealError(f"deal.{where}: " + one_of("the card", name, CARDS))
        cards.append(CARD_INDEX[name])
    return cards


def _same(where: str, pile: str, cards: list[int], expected: Mapping[str, int]) -> None:
    """Refuse a deck whose cards, with its supply, are not those of the ruleset."""
    counts = Counter(CARDS[card] for card in cards)
    for card in CARDS:
        if counts[card] != expected.get(card, 0):
            raise DealError(
                f"deal.{where}: {counts[card]} of {card} in deck and supply; the ruleset's {pile} "
                f"has {expected.get(card, 0)}."
            )


def _supply(ruleset: Ruleset, supply: object, side: int, rest: int) -> list[int]:
    if not isinstance(supply, Mapping) or set(supply) != set(SIDES):
        raise DealError(f"deal.supply: {shown(supply)} is not an object with the lists L and R.")
    where = f"supply.{SIDES[side]}"
    cards = _cards(where, supply[SIDES[side]])
    if len(cards) != ruleset.supply_per_deck:
        raise DealError(
            f"deal.{where}: {len(cards)} cards; the ruleset has supply_per_deck = "
            f"{ruleset.supply_per_deck}."
        )
    if len(cards) != rest:
        deck = ("left", "right")[side]
        raise DealError(
            f"deal.{deck}: with the supply there are {len(cards) - rest:+d} cards compared to the "
            f"ruleset's {deck}_deck."
        )
    return cards


def _hands(ruleset: Ruleset, players: int, value: object) -> list[list[int]]:
    hands = [_cards(f"hands[{seat}]", hand) for seat, hand in enumerate(_list("hands", value))]
    if len(hands) != players:
        raise DealError(f"deal.hands: {len(hands)} hands for {players} players.")
    for seat, hand in enumerate(hands):
        if len(hand) != seat:
            raise DealError(f"deal.hands[{seat}]: {len(hand)} cards; seat {seat} is dealt {seat}.")
    for card, count in Counter(CARDS[card] for hand in hands for card in hand).items():
        if count > ruleset.starting_cards.get(card, 0):
            raise DealError(
                f"deal.hands: {count} of {card}; the ruleset's starting_cards has "
                f"{ruleset.starting_cards.get(card, 0)}."
            )
    return hands


def _pieces(ruleset: Ruleset, players: int, value: object) -> list[int]:
    """Counts by rising value."""
    if not isinstance(value, Mapping):
        raise DealError(f"deal.pieces: {shown(value)} is not an object of counts by points.")
    for points, count in value.items():
        most = ruleset.amulet_pieces.get(points)
        if most is None:
            raise DealError("deal.pieces: " + one_of("the points", points, ruleset.amulet_pieces))
        if not _is_count(count) or not 0 <= count <= most:
            raise DealError(f"deal.pieces.{points}: {shown(count)}; expected a number from 0 to {most}.")
    expected = _total(ruleset.amulet_pieces) - ruleset.pieces_removed[str(players)]
    if _total(value) != expected:
        raise DealError(
            f"deal.pieces: {_total(value)} pieces; with {players} players {expected} are in the game."
        )
    return [value.get(points, 0) for points in sorted(ruleset.amulet_pieces, key=int)]


def _pearls(ruleset: Ruleset, value: object) -> list[int]:
    pearls = list(_list("pearls", value))
    known = {int(points): count for points, count in ruleset.pearls.items()}
    for points in pearls:
        if not _is_count(points) or points not in known:
            raise DealError("deal.pearls: " + one_of("the points", points, ruleset.pearls))
    counts = Counter(pearls)
    for points, expected in known.items():
        if counts[points] != expected:
            raise DealError(
                f"deal.pearls: {counts[points]} pearls of {points}; the ruleset has {expected}."
            )
    return pearls


def _is_count(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
