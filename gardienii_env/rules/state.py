"""The state of a game: one fixed-size record, and how to read it.

An array of `STATE` records holds a batch of games; record `i` is game `i`. It has no pointers: a copy
of the record is a copy of the game, and two games are equal if their bytes are. What a player can
know of the hidden parts is kept here too (`unknown`, `unseen`, `deck_laid`, `pearl_owner`), so that
views and resampling have one source.

Colours, card types, sides and piece values are indices; -1 stands for "none".
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gardienii_env.rules.actions import SLOTS_PER_SIDE
from gardienii_env.rules.cards import BACK, LEFT, NUM_CARDS, NUM_COLOURS, NUMBERS
from gardienii_env.rules.jit import inlined
from gardienii_env.rules.ruleset import MAX_CARDS, MAX_PEARLS, MAX_PIECE_VALUES, MAX_PLAYERS

__all__ = [
    "COLUMN",
    "ENDS",
    "END_AMULETS",
    "END_NONE",
    "END_SUPPLY",
    "END_TURN_LIMIT",
    "MODIFY_STEP",
    "OVER",
    "PLAY_STEP",
    "STATE",
    "STEPS",
    "TAKE_STEP",
    "UNKNOWN_CARDS",
    "States",
    "back_of",
    "column_place",
    "deck_place",
    "spell_is_complete",
    "top_back",
]

STEPS = ("take", "modify", "play", "column", "over")
TAKE_STEP, MODIFY_STEP, PLAY_STEP, COLUMN, OVER = range(len(STEPS))

ENDS = ("", "amulets", "supply", "turn_limit")
END_NONE, END_AMULETS, END_SUPPLY, END_TURN_LIMIT = range(len(ENDS))

UNKNOWN_CARDS = MAX_PLAYERS - 1
"""The most starting cards that a seat is dealt."""

STATE = np.dtype(
    [
        ("rng", np.uint64),  # generator for the next deal
        ("legal", np.int64),  # what the seat to decide may do: see engine.action_at
        ("dragon_points", np.int16, MAX_PLAYERS),  # values of the cards played
        ("turns", np.int16),  # turns begun and finished
        ("pearls", np.int16, MAX_PEARLS),  # points, in the order in which they are taken
        ("num_players", np.int8),
        ("active", np.int8),  # seat whose turn it is
        ("player", np.int8),  # seat that decides; -1 when the game is over
        ("step", np.int8),  # TAKE_STEP, MODIFY_STEP, PLAY_STEP, COLUMN or OVER
        ("end", np.int8),  # END_...
        ("taken", np.int8),  # cards taken this turn
        ("paid", np.int8),  # crystals paid this turn
        ("laid", np.int8, 2),  # cards laid this turn on the left and the right page
        ("opened", np.int8),  # cards of the unfinished set that lie open
        ("open", np.int8, NUMBERS),  # their types, in the order played; -1 beyond `opened`
        ("supply", np.int8, (2, SLOTS_PER_SIDE)),  # card type by side and place
        ("deck", np.int8, MAX_CARDS),  # both decks: see deck_place
        ("deck_size", np.int8, 2),
        ("deck_laid", np.int8, 2),  # how many cards on top were laid by players
        ("hand", np.int8, (MAX_PLAYERS, NUM_CARDS)),  # count by card type
        ("hand_size", np.int8, MAX_PLAYERS),
        ("unknown", np.int8, (MAX_PLAYERS, UNKNOWN_CARDS)),  # types in hand that others don't know
        ("unseen", np.int8, NUM_CARDS),  # copies that nobody has seen: in the decks, not dealt
        ("column", np.int8, (MAX_PLAYERS, NUM_COLOURS)),  # colours, left to right
        ("column_cards", np.int8, (MAX_PLAYERS, NUM_COLOURS)),  # number of cards by colour
        ("pieces", np.int8, (MAX_PLAYERS, MAX_PIECE_VALUES)),  # count by piece value
        ("pearl_owner", np.int8, MAX_PEARLS),  # seat that took each pearl, or -1
        ("num_pearls", np.int8, MAX_PLAYERS),
        ("crystals", np.int8, MAX_PLAYERS),
        ("eggs", np.int8, MAX_PLAYERS),
        ("crest", np.int8, MAX_PLAYERS),  # index into the ruleset's crests, or -1
        ("bank_pieces", np.int8, MAX_PIECE_VALUES),
        ("bank_crystals", np.int8),
        ("bank_eggs", np.int8),
        ("bank_dark_dragons", np.int8),
        ("crests_given", np.int8),
        ("pearls_given", np.int8),
        ("filler", np.int8),  # always 0; without it there would be a byte that copying does not copy
    ],
    align=True,
)

States = npt.NDArray[np.void]
"""An array of `STATE` records."""


@inlined
def deck_place(side: int, height: int) -> int:
    """Where in `deck` the card at that height (0 is the bottom) of a side's deck is kept.

    The left deck grows from the front of the array, the right deck from its back: whatever players
    lay where, all cards of a game have room.
    """
    return height if side == LEFT else MAX_CARDS - 1 - height


@inlined
def back_of(s: np.void, side: int, height: int) -> int:
    """The back of the card at that height of a side's deck; -1 where there is none."""
    if height < 0 or height >= s["deck_size"][side]:
        return -1
    return int(BACK[s["deck"][deck_place(side, height)]])


@inlined
def top_back(s: np.void, side: int) -> int:
    """The back of the top card of a side's deck (a number or a colour); -1 where it is empty."""
    return back_of(s, side, s["deck_size"][side] - 1)


@inlined
def spell_is_complete(s: np.void) -> bool:
    """Whether both decks show a page."""
    return bool(s["deck_size"][0] > 0 and s["deck_size"][1] > 0)


@inlined
def column_place(s: np.void, player: int, colour: int) -> int:
    """Where in the player's tableau the column of a colour stands, from the left; -1: nowhere."""
    for place in range(NUM_COLOURS):
        if s["column"][player, place] == colour:
            return place
    return -1
