"""The cards: the 33 card types, their names, fronts and backs.

A card's front is a dragon: one of four colours, or dark. Its back is a page of the spell: a number
(left page) or a colour (right page). This module knows what a card *is*; how many of each there are
and what they are worth belongs to the ruleset.

The arrays are indexed by card type 0-32 and are used by the compiled functions.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = [
    "BACK",
    "CARDS",
    "CARD_INDEX",
    "COLOURS",
    "COLOUR_NAMES",
    "DARK",
    "FRONT",
    "LEFT",
    "NUMBERS",
    "NUM_CARDS",
    "NUM_COLOURS",
    "RIGHT",
    "SET_CARDS",
    "SIDE",
    "SIDES",
    "back_name",
]

COLOURS = "WRBG"
COLOUR_NAMES = ("white", "red", "blue", "green")
NUM_COLOURS = 4
NUMBERS = 6
"""The largest number on a left page; the smallest is 1."""

SIDES = "LR"
LEFT, RIGHT = 0, 1

DARK_NAME = "D6"
CARDS: tuple[str, ...] = (
    *(front + str(number) for front in COLOURS for number in range(1, NUMBERS)),
    *(front + back.lower() for front in COLOURS for back in COLOURS if back != front),
    DARK_NAME,
)
"""The names of the card types in the order of their type index."""

CARD_INDEX: dict[str, int] = {name: index for index, name in enumerate(CARDS)}
NUM_CARDS = len(CARDS)
DARK = CARD_INDEX[DARK_NAME]


def _int8(values: object) -> npt.NDArray[np.int8]:
    return np.array(values, dtype=np.int8)


FRONT = _int8([(COLOURS + "D").index(name[0]) for name in CARDS])
"""0-3 for a dragon of that colour, 4 for a dark one."""

SIDE = _int8([LEFT if name[1].isdigit() else RIGHT for name in CARDS])
"""Which page of the spell, and so which deck, the card's back belongs to."""

BACK = _int8([int(n[1]) if n[1].isdigit() else COLOURS.index(n[1].upper()) for n in CARDS])
"""The number 1-6 of a left page, or the colour 0-3 of a right page."""

SET_CARDS = _int8(
    [[t for t in range(NUM_CARDS) if FRONT[t] in (colour, 4)] for colour in range(NUM_COLOURS)]
)
"""The nine card types that may lie in the column of each colour, ascending; dark comes last."""


def back_name(side: int, back: int) -> str:
    """How a page is written: `3`, or a lower-case colour letter."""
    return str(back) if side == LEFT else COLOURS[back].lower()
