"""What becomes of cards, actions and observations when every colour becomes the next one.

The colours are alike: white turned into red, red into blue, blue into green and green into white, a
game stays a game, and what was good is as good. (One thing alone depends on their order: a set is
chosen card by card, in ascending order of type.) Networks that know need not learn a thing four times.

Each function gives an array of indices: what was at place i is, turned, at place `indices[i]`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gardienii_env.observation import View, layout
from gardienii_env.rules.actions import MODIFY, NUM_ACTIONS, PLAY
from gardienii_env.rules.cards import CARD_INDEX, CARDS, COLOURS, NUM_CARDS, NUM_COLOURS

__all__ = ["turned_actions", "turned_cards", "turned_colours", "turned_observation"]

Indices = npt.NDArray[np.int64]

BY_COLOUR = ("right_top", "column", "column_cards", "below_right")
BY_CARD = ("open", "supply", "hand", "known_hand", "laid_top", "unseen")
"""Parts of observations whose last axis is colours, or card types. No other part is turned, not even
`laid_below`, where card types are numbers."""


def turned_colours(turns: int) -> Indices:
    """The colours, so many turned: shape (4,)."""
    return (np.arange(NUM_COLOURS) + turns) % NUM_COLOURS


def turned_cards(turns: int) -> Indices:
    """The card types: shape (33,)."""
    turned = "".join(COLOURS[colour] for colour in turned_colours(turns))
    names = str.maketrans(COLOURS + COLOURS.lower(), turned + turned.lower())
    return np.array([CARD_INDEX[name.translate(names)] for name in CARDS])


def turned_actions(turns: int) -> Indices:
    """The actions: shape (73,). Takes are by slot and stay."""
    indices, cards = np.arange(NUM_ACTIONS), turned_cards(turns)
    for first in (MODIFY, PLAY):
        indices[first : first + NUM_CARDS] = first + cards
    return indices


def turned_observation(num_players: int, view: View, turns: int, prior: bool = False) -> Indices:
    """The numbers of an observation, and of a prior after it: shape (size,)."""
    parts = layout(num_players, view)
    indices = np.arange(parts.size)
    for part in parts:
        places = np.arange(part.start, part.start + part.size).reshape(part.shape)
        if part.name in BY_COLOUR:
            indices[places] = places[..., turned_colours(turns)]
        elif part.name in BY_CARD:
            indices[places] = places[..., turned_cards(turns)]
    return np.append(indices, parts.size + turned_actions(turns)) if prior else indices
