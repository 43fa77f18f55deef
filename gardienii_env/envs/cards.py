"""Observations spelled out for networks that rate cards: what the own hand and the supply hold.

An observation has a number for each card type in hand. Whether a set can be played, or a page be laid,
is a question of sums of those and of whether they are large enough, which a network has to find out
first; here each such question is a number by itself, 0 or 1: a thermometer encoding.

And a card is worth the same wherever it lies: a network that rates the card types needs to learn that
once, and not for each slot of the supply.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gardienii_env.envs.colours import turned_actions, turned_cards
from gardienii_env.observation import Part, View, layout
from gardienii_env.rules.actions import NUM_ACTIONS, SLOTS_PER_SIDE, TAKE
from gardienii_env.rules.cards import BACK, DARK, FRONT, LEFT, NUM_CARDS, NUM_COLOURS, NUMBERS, SIDE

__all__ = ["NEAR", "RATINGS", "SLOTS", "CardEncoding", "Thermometer", "card_encoding"]

SLOTS = 2 * SLOTS_PER_SIDE
RATINGS = NUM_ACTIONS + NUM_CARDS
"""What a network gives: a number for each action, and one for taking each card type."""

NEAR = 4
"""The encoding has the best actions of a prior alone: what is this part of its range below them is 0."""

Numbers = npt.NDArray[np.float32]
Group = tuple[npt.NDArray[np.bool_], int]
"""Card types, and how many are asked for at most."""


class Thermometer(NamedTuple):
    """Marks, 0 or 1, that say of which groups of cards hands hold at least so many."""

    hands: slice
    """Where in an observation the hands are: numbers for each card type, hand after hand."""
    weights: Numbers
    """Shape (card types of all hands, marks)."""
    biases: Numbers
    """Shape (marks,)."""

    def marks(self, observations: Numbers) -> Numbers:
        """Shape (n, marks), for observations in float32, shape (n, size)."""
        counts = observations[:, self.hands] @ self.weights
        counts += self.biases
        return counts.clip(0, 1)

    def turned(self, turns: int) -> npt.NDArray[np.int64]:
        """Where the marks are when the colours are turned, as in `colours`."""
        cards = turned_cards(turns)
        hands = np.arange(len(self.weights)).reshape(-1, NUM_CARDS)[:, np.argsort(cards)].flatten()
        asked = {(bias, *weights): k for k, (bias, weights) in enumerate(self._asked())}
        return np.array([asked[(bias, *weights[hands])] for bias, weights in self._asked()])

    def _asked(self) -> Iterator[tuple[np.float32, Numbers]]:
        """The biases, each with its weights."""
        return zip(self.biases, self.weights.T, strict=True)


class CardEncoding(NamedTuple):
    """How observations in float32, shape (n, size), are spelled out, and ratings become logits."""

    thermometers: tuple[Thermometer, ...]
    """Of the own hand; and of what is known of the others', in a view that tells it."""
    supply: slice
    """Where in an observation the card types in the slots of the supply are."""
    prior: slice
    """Where after an observation the prior is; empty if there is none."""

    @property
    def has_prior(self) -> bool:
        """Whether there is a prior."""
        return bool(self.prior.stop > self.prior.start)

    @property
    def size(self) -> int:
        """How many numbers the encoding has."""
        marks = sum(one.biases.size for one in self.thermometers)
        return marks + NUM_CARDS + (NUM_ACTIONS if self.has_prior else 0)

    def encode(self, observations: Numbers) -> Numbers:
        """The marks, the card types in the supply, and the prior with the good actions spread out.

        Shape (n, size of the encoding), float32.
        """
        marks = [one.marks(observations) for one in self.thermometers]
        near = (observations[:, self.prior] * NEAR - (NEAR - 1)).clip(0, 1)
        return np.concatenate([*marks, self.slots(observations).sum(axis=1), near], axis=1)

    def turned(self, turns: int) -> npt.NDArray[np.int64]:
        """Where the numbers are when the colours are turned, as in `colours`: shape (size,)."""
        places = [one.turned(turns) for one in self.thermometers] + [turned_cards(turns)]
        if self.has_prior:
            places.append(turned_actions(turns))
        begins = np.cumsum([0, *(part.size for part in places)])
        return np.concatenate([begin + part for begin, part in zip(begins, places, strict=False)])

    def slots(self, observations: Numbers) -> Numbers:
        """The card type in each slot, shape (n, 4, card types), all 0 where it is empty."""
        return observations[:, self.supply].reshape(-1, SLOTS, NUM_CARDS)

    def logits(self, ratings: Numbers, observations: Numbers, prior: float = 0.0) -> Numbers:
        """Logits, shape (n, 73), from ratings, shape (n, `RATINGS`); takes add their cards'.

        Args:
            ratings: shape (n, `RATINGS`).
            observations: shape (n, size).
            prior: what the prior's numbers are multiplied by before they are added.
        """
        logits = ratings[:, :NUM_ACTIONS].copy()
        logits[:, TAKE : TAKE + SLOTS] += np.matmul(
            self.slots(observations), ratings[:, NUM_ACTIONS:, np.newaxis]
        )[:, :, 0]
        if prior:
            logits += np.float32(prior) * observations[:, self.prior]
        return logits


def card_encoding(num_players: int, view: View, prior: bool = False) -> CardEncoding:
    """The encoding for a layout.

    The thermometer says, by 1, that the own hand holds at least so many cards of a group:

    - cards that fit a set of a colour, dark dragons included: from 1 to 6;
    - cards of a colour with a number from 2 upwards, 3, 4, 5: from 1 to 4;
    - cards with a back: from 1 to 2;
    - cards of a type: from 1 to 2.

    Each is there once: a card with a 5 is the only one of its colour, a dark dragon of its back. Where
    the view tells cards of others' hands, another one says the first of these for each of them.
    """
    parts = layout(num_players, view)
    thermometers = [_thermometer(parts["hand"], [*_fitting(), *_groups()])]
    if view == "recall":
        thermometers.append(_thermometer(parts["known_hand"], list(_fitting())))
    supply = parts["supply"]
    size = parts.size
    return CardEncoding(
        tuple(thermometers),
        slice(supply.start, supply.start + supply.size),
        slice(size, size + NUM_ACTIONS) if prior else slice(size, size),
    )


def _thermometer(part: Part, groups: Sequence[Group]) -> Thermometer:
    """One that asks for the same groups in every hand of a part."""
    questions = [(tuple(types), count) for types, most in groups for count in range(1, most + 1)]
    asked = list(dict.fromkeys(questions))
    hands = part.size // NUM_CARDS
    weights = np.array([types for types, _ in asked], np.float32).T * part.scale
    biases = np.array([1 - count for _, count in asked], np.float32)
    return Thermometer(
        part.slice, np.kron(np.eye(hands, dtype=np.float32), weights), np.tile(biases, hands)
    )


def _fitting() -> Iterator[Group]:
    """The cards that fit a set of each colour."""
    for colour in range(NUM_COLOURS):
        yield (colour == FRONT) | (np.arange(NUM_CARDS) == DARK), NUMBERS


def _groups() -> Iterator[Group]:
    """Other groups of card types, and how many are asked for at most."""
    types = np.arange(NUM_CARDS)
    numbers = np.where(SIDE == LEFT, BACK, 1)
    for colour in range(NUM_COLOURS):
        for number in range(2, NUMBERS):
            yield (colour == FRONT) & (numbers >= number), 4
    for side, back in sorted(set(zip(SIDE.tolist(), BACK.tolist(), strict=True))):
        yield (side == SIDE) & (back == BACK), 2
    for card in types:
        yield types == card, 2
