"""Observations in the words of the reference: what `unflatten` gives, under the reference's keys.

It knows the documented meaning of each part of the layout and nothing of the encoder.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from reference import CARDS, COLOURS

from gardienii_env import Ruleset, unflatten
from gardienii_env.observation import View

STEPS = ("take", "modify", "play", "column", "over")
SHOWN = 2  # laid cards that are one-hot

Parts = dict[str, Any]
"""The parts of one observation as plain numbers and nested lists."""


class Seen:
    """Observations of games under one ruleset, for any seat, read back."""

    def __init__(self, ruleset: Ruleset, players: int) -> None:
        self.players = players
        self.per_deck = ruleset.supply_per_deck
        self.values = sorted(int(points) for points in ruleset.amulet_pieces)
        self.crests = list(ruleset.crests)

    def parts(self, observations: npt.NDArray[np.float32], view: View) -> Iterator[list[Parts]]:
        """Observations of shape (decisions, seats, size): for each decision, the parts of each seat."""
        named = unflatten(observations, self.players, view)
        for k, seats in enumerate(observations):
            rows = {name: array[k].tolist() for name, array in named.items()}
            yield [{name: row[seat] for name, row in rows.items()} for seat in range(len(seats))]

    def public(self, parts: Parts, seat: int) -> dict[str, Any]:
        """As `ReferenceGame.public`; the seat is whose observation it is."""
        deciding = one_hot(parts["deciding"])
        supply = [card(slot) for slot in parts["supply"]]
        left, right = one_hot(parts["left_top"]), one_hot(parts["right_top"])

        def by_seat(name: str) -> list[Any]:
            return from_seat_0(parts[name], seat)

        return {
            "active": (parts["active"].index(1) + seat) % self.players,
            "deciding": None if deciding is None else (deciding + seat) % self.players,
            "step": STEPS[parts["step"].index(1)],
            "turns": sum(parts["turns"]),
            "taken": parts["taken"],
            "paid": parts["paid"],
            "laid": [bool(laid) for laid in parts["laid"]],
            "open": counts(parts["open"]),
            "needed": parts["needed"],
            "supply": {"L": self._supply(supply[:2]), "R": self._supply(supply[2:])},
            "left_top": None if left is None else left + 1,
            "right_top": None if right is None else COLOURS[right].lower(),
            "left_size": parts["deck_size"][0],
            "right_size": parts["deck_size"][1],
            "columns": [
                tableau(colours, cards)
                for colours, cards in zip(by_seat("column"), by_seat("column_cards"), strict=True)
            ],
            "dragon_points": [sum(points) for points in by_seat("dragon_points")],
            "bank_pieces": {
                self.values[k]: count for k, count in enumerate(parts["bank_pieces"]) if count
            },
            "bank_crystals": parts["bank_crystals"],
            "bank_eggs": parts["bank_eggs"],
            "bank_dark": parts["bank_dark_dragons"],
            "bank_crests": [self.crests[k] for k, left in enumerate(parts["bank_crests"]) if left],
            "bank_pearls": parts["bank_pearls"],
            "hand_size": by_seat("hand_size"),
            "pieces": by_seat("num_pieces"),
            "amulets": by_seat("amulets"),
            "pearls": by_seat("pearls"),
            "crystals": by_seat("crystals"),
            "eggs": by_seat("eggs"),
            "crest": [self._crest(flags) for flags in by_seat("crest")],
        }

    def private(self, parts: Parts) -> dict[str, Any]:
        """As `ReferenceGame.private`."""
        return {
            "hand": counts(parts["hand"]),
            "piece_points": self._pieces(parts["pieces"]),
            "pearl_points": parts["pearl_points"],
        }

    def recall(self, parts: Parts, seat: int) -> dict[str, Any]:
        """As `ReferenceGame.recall`, but None for what concerns the seat's own hand.

        What others know of it is not part of what the seat sees.
        """
        pieces = [parts["pieces"], *parts["their_pieces"]]
        known = [None, *(counts(hand) for hand in parts["known_hand"])]
        laid_left, laid_right = laid_cards(parts)
        left, right = one_hot(parts["below_left"]), one_hot(parts["below_right"])
        return {
            "piece_points": [self._pieces(row) for row in from_seat_0(pieces, seat)],
            "known_hand": from_seat_0(known, seat),
            "unknown": from_seat_0([None, *parts["unknown"]], seat),
            "laid_left": laid_left,
            "laid_right": laid_right,
            "below_left": None if left is None else left + 1,
            "below_right": None if right is None else COLOURS[right].lower(),
            "unseen": counts(parts["unseen"]),
        }

    def _supply(self, places: list[str | None]) -> list[str | None]:
        """The slots of one side; a place that the ruleset does not have must not hold a card."""
        return places[: self.per_deck] + [c for c in places[self.per_deck :] if c is not None]

    def _pieces(self, row: list[int]) -> list[int]:
        return [self.values[k] for k, count in enumerate(row) for _ in range(count)]

    def _crest(self, flags: list[int]) -> int | None:
        which = one_hot(flags)
        return None if which is None else self.crests[which]


def one_hot(flags: list[int]) -> int | None:
    """The place of the only 1; None where all are 0."""
    if not any(flags):
        return None
    assert sum(flags) == 1
    return flags.index(1)


def card(flags: list[int]) -> str | None:
    """The card type of a one-hot row."""
    which = one_hot(flags)
    return None if which is None else CARDS[which]


def counts(row: list[int]) -> dict[str, int]:
    """Card -> count where it is not 0."""
    return {name: count for name, count in zip(CARDS, row, strict=True) if count}


def from_seat_0(rows: Sequence[Any], seat: int) -> list[Any]:
    """Rows that begin with a seat and go on clockwise, in the order of the seats."""
    split = len(rows) - seat
    return [*rows[split:], *rows[:split]]


def tableau(colours: list[list[int]], cards: list[int]) -> list[list[Any]]:
    """The columns as pairs of colour and number of cards; cards of no column come last."""
    order = [which for flags in colours if (which := one_hot(flags)) is not None]
    order += [which for which, count in enumerate(cards) if count and which not in order]
    return [[COLOURS[which], cards[which]] for which in order]


def laid_cards(parts: Parts) -> tuple[list[str], list[str]]:
    """The cards laid on the left and on the right deck, from the lowest to the top."""
    left, right = parts["num_laid"]
    below = parts["laid_below"]
    n_left, n_right = max(left - SHOWN, 0), max(right - SHOWN, 0)
    assert not any(below[n_left : len(below) - n_right])
    hidden = (below[:n_left], below[::-1][:n_right])
    piles = []
    for flags, numbers in zip(parts["laid_top"], hidden, strict=True):
        top = [name for row in flags if (name := card(row)) is not None]
        piles.append([*top, *(CARDS[number - 1] for number in numbers)][::-1])
    assert [len(piles[0]), len(piles[1])] == [left, right]
    return piles[0], piles[1]
