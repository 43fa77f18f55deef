"""The action table: the one place where action ids and names meet.

| ids | names | meaning |
| --- | --- | --- |
| 0-3 | `take:L0` `take:L1` `take:R0` `take:R1` | take that supply card |
| 4 | `pass` | stop taking, lay no further card, play nothing |
| 5-37 | `modify:<card>` | lay a card of that type on the deck of its side |
| 38-70 | `play:<card>` | play a card of that type |
| 71-72 | `column:left` `column:right` | the end of the tableau where the new column goes |
"""

from __future__ import annotations

from typing import SupportsIndex

from gardienii_env.errors import IllegalActionError, as_index, one_of, shown
from gardienii_env.rules.cards import CARDS, NUM_CARDS, SIDES

__all__ = [
    "ACTIONS",
    "ACTION_INDEX",
    "COLUMN_LEFT",
    "COLUMN_RIGHT",
    "MODIFY",
    "NUM_ACTIONS",
    "PASS",
    "PLAY",
    "SLOTS_PER_SIDE",
    "TAKE",
    "action_id",
]

SLOTS_PER_SIDE = 2

ACTIONS: tuple[str, ...] = (
    *(f"take:{side}{place}" for side in SIDES for place in range(SLOTS_PER_SIDE)),
    "pass",
    *(f"modify:{card}" for card in CARDS),
    *(f"play:{card}" for card in CARDS),
    "column:left",
    "column:right",
)
"""The names of the actions; an action's id is its place in this tuple."""

ACTION_INDEX: dict[str, int] = {name: action for action, name in enumerate(ACTIONS)}
NUM_ACTIONS = len(ACTIONS)

TAKE = 0
"""Id of the first take; the slot of side s, place p is action `TAKE + 2 * s + p`."""
PASS = ACTION_INDEX["pass"]
MODIFY = PASS + 1
"""Id of the first modify: the action for card type t is `MODIFY + t`."""
PLAY = MODIFY + NUM_CARDS
"""Id of the first play: the action for card type t is `PLAY + t`."""
COLUMN_LEFT = ACTION_INDEX["column:left"]
COLUMN_RIGHT = ACTION_INDEX["column:right"]


def action_id(action: str | SupportsIndex) -> int:
    """The id of an action given by name or id; IllegalActionError where there is none such."""
    if isinstance(action, str):
        if action not in ACTION_INDEX:
            raise IllegalActionError(one_of("The action", action, ACTIONS))
        return ACTION_INDEX[action]
    number = as_index(action)
    if not 0 <= number < NUM_ACTIONS:
        raise IllegalActionError(
            f"The action {shown(action)} is not known; expected a name like 'take:L0' or an id "
            f"from 0 to {NUM_ACTIONS - 1}."
        )
    return number
