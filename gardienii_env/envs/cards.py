"""Observations spelled out for networks that rate cards: what the own hand and the supply hold.

An observation has a number for each card type in hand. Whether a set can be played, or a page be laid,
is a question of sums of those and of whether they are large enough, which a network has to find out
first; here each such question is a number by itself, 0 or 1: a thermometer encoding.

And a card is worth the same wherever it lies: a network that rates the card types needs to learn that
once, and not for each slot of the supply.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gardienii_env.envs.colours import turned_cards
from gardienii_env.observation import View, layout
from gardienii_env.rules.actions import NUM_ACTIONS, SLOTS_PER_SIDE, TAKE
from gardienii_env.rules.cards import BACK, DARK, FRONT, LEFT, NUM_CARDS, NUM_COLOURS, NUMBERS, SIDE

__all__ = ["RATINGS", "SLOTS", "CardEncoding", "card_encoding"]

SLOTS = 2 * SLOTS_PER_SIDE
RATINGS = NUM_ACTIONS + NUM_CARDS
"""What a network gives: a number for each action, and one for taking each card type."""

Numbers = npt.NDArray[np.float32]
Types = npt.NDArray[np.bool_]


class CardEncoding(NamedTuple):
    """How observations in float32, shape (n, size), are spelled out, and ratings become logits."""

    hand: slice
    """Where in an observation the own hand is."""
    supply: slice
    """Where the card types in the slots of the supply are."""
    weights: Numbers
    """Of the thermometer, shape (card types, k)."""
    biases: Numbers
    """Shape (k,)."""

    @property
    def size(self) -> int:
        """How many numbers the encoding has."""
        return int(self.biases.size) + NUM_CARDS

    def encode(self, observations: Numbers) -> Numbers:
        """The thermometer and the card types in the supply: shape (n, size of the encoding), float32."""
        counts = observations[:, self.hand] @ self.weights
        counts += self.biases
        return np.concatenate([np.clip(counts, 0, 1), self.slots(observations).sum(axis=1)], axis=1)

    def turned(self, turns: int) -> npt.NDArray[np.int64]:
        """Where the numbers are when the colours are turned, as in `colours`: shape (size,)."""
        cards = turned_cards(turns)
        asked = {(bias, *weights): k for k, (bias, weights) in enumerate(self._asked())}
        marks = [asked[(bias, *weights[np.argsort(cards)])] for bias, weights in self._asked()]
        return np.append(marks, len(marks) + cards)

    def _asked(self) -> Iterator[tuple[np.float32, Numbers]]:
        """The biases of the thermometer, each with its weights."""
        return zip(self.biases, self.weights.T, strict=True)

    def slots(self, observations: Numbers) -> Numbers:
        """The card type in each slot, shape (n, 4, card types), all 0 where it is empty."""
        return observations[:, self.supply].reshape(-1, SLOTS, NUM_CARDS)

    def logits(self, ratings: Numbers, observations: Numbers) -> Numbers:
        """Logits, shape (n, 73), from ratings, shape (n, `RATINGS`); takes add their cards'."""
        logits = ratings[:, :NUM_ACTIONS].copy()
        logits[:, TAKE : TAKE + SLOTS] += np.matmul(
            self.slots(observations), ratings[:, NUM_ACTIONS:, np.newaxis]
        )[:, :, 0]
        return logits


def card_encoding(num_players: int, view: View) -> CardEncoding:
    """The encoding for a layout.

    The thermometer says, by 1, that the own hand holds at least so many cards of a group:

    - cards that fit a set of a colour, dark dragons included: from 1 to 6;
    - cards of a colour with a number from 2 upwards, 3, 4, 5: from 1 to 4;
    - cards with a back: from 1 to 2;
    - cards of a type: from 1 to 2.

    Each is there once: a card with a 5 is the only one of its colour, a dark dragon of its back.
    """
    parts = layout(num_players, view)
    hand, supply = parts["hand"], parts["supply"]
    groups = [(tuple(types), count) for types, most in _groups() for count in range(1, most + 1)]
    asked = list(dict.fromkeys(groups))
    weights = hand.scale * np.array([types for types, _ in asked], np.float32).T
    return CardEncoding(
        slice(hand.start, hand.start + hand.size),
        slice(supply.start, supply.start + supply.size),
        np.ascontiguousarray(weights),
        np.array([1 - count for _, count in asked], np.float32),
    )


def _groups() -> Iterator[tuple[Types, int]]:
    """Groups of card types, and how many are asked for at most."""
    types = np.arange(NUM_CARDS)
    numbers = np.where(SIDE == LEFT, BACK, 1)
    for colour in range(NUM_COLOURS):
        yield (colour == FRONT) | (types == DARK), NUMBERS
        for number in range(2, NUMBERS):
            yield (colour == FRONT) & (numbers >= number), 4
    for side, back in sorted(set(zip(SIDE.tolist(), BACK.tolist(), strict=True))):
        yield (side == SIDE) & (back == BACK), 2
    for card in types:
        yield types == card, 2
