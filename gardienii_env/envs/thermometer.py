"""What the own hand is good for, spelled out for networks: a thermometer encoding of its counts.

An observation has a number for each card type in hand. Whether a set can be played, a page be laid, is
a question of sums of those and of whether they are large enough, which a network has to find out first;
here each such question is a number by itself, 0 or 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gardienii_env.observation import View, layout
from gardienii_env.rules.cards import BACK, DARK, FRONT, LEFT, NUM_CARDS, NUM_COLOURS, NUMBERS, SIDE

__all__ = ["Thermometer", "thermometer"]

Numbers = npt.NDArray[np.float32]
Types = npt.NDArray[np.bool_]


class Thermometer(NamedTuple):
    """How observations become the encoding: of those in float32, shape (n, size)."""

    hand: slice
    """Where in an observation the hand is."""
    weights: Numbers
    """Shape (card types, k)."""
    biases: Numbers
    """Shape (k,)."""

    def encode(self, observations: Numbers) -> Numbers:
        """The encoding, shape (n, k), float32."""
        counts = observations[:, self.hand] @ self.weights
        return np.clip(counts + self.biases, 0, 1, out=counts)


def thermometer(num_players: int, view: View) -> Thermometer:
    """The encoding for a layout: 1 where the own hand holds at least so many cards of a group.

    The groups, with how many are asked for:

    - cards that fit a set of a colour, dark dragons included: from 1 to 6;
    - cards of a colour with a number from 2 upwards, 3, 4, 5: from 1 to 4;
    - cards with a back: from 1 to 2;
    - cards of a type: from 1 to 2.
    """
    hand = layout(num_players, view)["hand"]
    asked = [(types, count) for types, most in _groups() for count in range(1, most + 1)]
    weights = hand.scale * np.array([types for types, _ in asked], np.float32).T
    biases = np.array([1 - count for _, count in asked], np.float32)
    return Thermometer(slice(hand.start, hand.start + hand.size), np.ascontiguousarray(weights), biases)


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
