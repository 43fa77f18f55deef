"""`planner`: looks through its whole turn, and at what the turn leaves to the players who follow.

What it could hold and show when it stops taking is weighed by `planning.hand_table`. To choose a card
it looks ahead over all that it may still take this turn, up to `AHEAD` cards: what a deck will turn up
it knows where players laid cards there, and of the page under them; otherwise it takes the mean over
the cards that its seat has not seen. A card of which only the back is known may be taken too, as the
mean of what it can be; one of which not even that is known is left out. Further cards, for which a
crystal is paid, are looked at one at a time.

It does not look beyond its turn: `planning` says what things are worth for later.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gardienii_env.agents.base import Agent
from gardienii_env.agents.greedy import choose_end
from gardienii_env.agents.planning import (
    COLOURED,
    CRYSTAL_WORTH,
    NO_COLOUR,
    NO_NUMBER,
    PLAN,
    hand_table,
    note_plan,
    shape_after,
)
from gardienii_env.rules.actions import MODIFY, NUM_ACTIONS, PASS, PLAY, SLOTS_PER_SIDE, TAKE
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.cards import (
    BACK,
    DARK,
    LEFT,
    NUM_CARDS,
    NUM_COLOURS,
    NUMBERS,
    RIGHT,
    SET_CARDS,
    SIDE,
)
from gardienii_env.rules.engine import Masks, may_modify
from gardienii_env.rules.jit import compiled
from gardienii_env.rules.state import (
    COLUMN,
    MODIFY_STEP,
    TAKE_STEP,
    States,
    back_of,
    deck_place,
    top_back,
)
from gardienii_env.rules.threads import Threads

__all__ = ["AHEAD", "PlannerAgent", "planner_action"]

AHEAD = 3  # cards that it looks ahead
LEVELS = AHEAD + 1
SLOTS = 2 * SLOTS_PER_SIDE

NOT_KNOWN = -1  # a page
NO_CARD = -1  # in the supply, or one of which nothing is known
KNOWN_BACK = -2  # a card of which only the back b is known is KNOWN_BACK - b

SEARCH = np.dtype(
    [
        ("plan", PLAN),
        ("worth", np.float64, NUM_ACTIONS),  # of each action that was looked at
        ("page", np.int8, (2, LEVELS)),  # on top of each deck after so many draws; NO_..., NOT_KNOWN
        ("refill", np.int8, (2, AHEAD)),  # the card that each draw turns up
        ("may_lay", np.int8, 2),  # on the left, on the right
        ("may_lay_both", np.int8),
        # By level: cards taken since the decision.
        ("hand", np.int8, (LEVELS, NUM_CARDS)),
        ("supply", np.int8, (LEVELS, SLOTS)),
        ("drawn", np.int8, (LEVELS, 2)),  # from each deck
        (
            "table",
            np.float64,
            (LEVELS, NUMBERS + 1, NUM_COLOURS + 1),
        ),  # worth by spell, as in hand_table
        # What is being tried at the level, and what came of it.
        ("slot", np.int8, LEVELS),
        ("card", np.int8, LEVELS),  # taken from the slot; -1: none yet
        ("weight", np.float64, LEVELS),  # of the cards tried in that slot
        ("sum", np.float64, (LEVELS, NUMBERS + 1)),  # of their worths, by the page that stands
        ("best", np.float64, (LEVELS, 2, NUMBERS + 1)),  # of all slots, by side and the page that stands
    ],
    align=True,
)
"""All that a decision needs. Taking from the left deck leaves the right page as it stands, and the
other way round: what taking from a side is worth is kept by the page of the other side."""


class PlannerAgent(Agent):
    """See the module. It is deterministic: the generators are not used."""

    name = "planner"

    def act(
        self, batch: Batch, games: npt.NDArray[np.int64], streams: npt.NDArray[np.void]
    ) -> npt.NDArray[np.int64]:
        """See `Agent.act`."""
        return self.worths(batch, games)[0]

    def worths(
        self, batch: Batch, games: npt.NDArray[np.int64], threads: Threads | None = None
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """What `act` says, and what each action is worth to it, shape (k, 73), float64.

        In points, of the turn and of what it leaves; minus infinity for actions that are not legal or
        that it did not look at. Only the differences between actions of one decision mean anything.

        `threads` share the games; they do not change a result. None: this one alone.
        """
        actions = np.empty(games.size, np.int64)
        worths = np.empty((games.size, NUM_ACTIONS))

        def decide_some(_: None, first: int, last: int) -> None:
            some = slice(first, last)
            arrays = batch.rules, batch.states, batch.masks
            planner_worths(*arrays, games[some], actions[some], worths[some])

        (threads or Threads(1)).run(decide_some, None, games.size)
        return actions, worths


@compiled
def planner_action(
    rules: npt.NDArray[np.void], states: States, masks: Masks, i: int, ahead: int = AHEAD
) -> int:
    """The planner's action for the seat that decides in game i; reads `masks[i]`.

    `ahead` is how many cards it looks ahead, 1 to `AHEAD`: fewer are faster and less good.
    """
    r, s, mask = rules[0], states[i], masks[i]
    return decide(r, s, mask, np.empty(1, SEARCH), ahead)


@compiled
def planner_worths(
    rules: npt.NDArray[np.void],
    states: States,
    masks: Masks,
    games: npt.NDArray[np.int64],
    actions: npt.NDArray[np.int64],
    worths: npt.NDArray[np.float64],
) -> None:
    """The planner's action for each of `games`, and what it found each action to be worth."""
    room = np.empty(1, SEARCH)
    for k in range(games.size):
        i = games[k]
        actions[k] = decide(rules[0], states[i], masks[i], room, AHEAD)
        worths[k] = room["worth"][0]


@compiled
def decide(
    r: np.void, s: np.void, mask: npt.NDArray[np.int8], room: npt.NDArray[np.void], ahead: int
) -> int:
    """The action for the seat that decides; `room` is for what is worked out on the way."""
    search, step = room[0], s["step"]
    search["worth"][:] = -np.inf
    if step == COLUMN:
        return choose_end(s)
    note_plan(r, s, search["plan"])
    if step == TAKE_STEP:
        return choose_take(r, s, mask, search, ahead)
    if step == MODIFY_STEP:
        return choose_page(r, s, mask, search)
    return choose_card(s, mask, search["plan"], search["worth"])


# -- step 1: take ----------------------------------------------------------------------------------


@compiled
def choose_take(r: np.void, s: np.void, mask: npt.NDArray[np.int8], search: np.void, ahead: int) -> int:
    """The slot whose card promises most, or to stop."""
    note_start(r, s, search)
    left = int(r["take_limit"]) - int(s["taken"])
    price = 0.0
    if left <= 0:
        price = search["plan"]["to_come"] * CRYSTAL_WORTH + float(r["crystal_points"])
    left = max(1, min(left, ahead))
    number, colour = search["page"][LEFT, 0], search["page"][RIGHT, 0]
    action = -1
    best = 0.0
    if mask[PASS]:
        note_stop(search, 0)
        action, best = PASS, search["table"][0, number, colour]
        search["worth"][PASS] = best
    for slot in range(SLOTS):
        if mask[TAKE + slot]:
            begin_level(search, 0, slot, search["supply"][0, slot])
            look_ahead(search, left - 1)
            side = slot // SLOTS_PER_SIDE
            worth = worth_after(search, 0, side, colour if side == LEFT else number) - price
            search["worth"][TAKE + slot] = worth
            if action < 0 or worth > best:
                action, best = TAKE + slot, worth
    return action


@compiled
def note_start(r: np.void, s: np.void, search: np.void) -> None:
    """Note the hand, the supply, and what is known of the cards that will be drawn."""
    search["may_lay"][LEFT] = may_modify(r, s, LEFT)
    search["may_lay"][RIGHT] = may_modify(r, s, RIGHT)
    search["may_lay_both"] = r["modifications_per_turn"] >= 2
    search["hand"][0] = s["hand"][s["player"]]
    search["drawn"][0] = 0
    for slot in range(SLOTS):
        search["supply"][0, slot] = s["supply"][slot // SLOTS_PER_SIDE, slot % SLOTS_PER_SIDE]
    for side in range(2):
        laid = int(s["deck_laid"][side])
        for drawn in range(LEVELS):
            height = int(s["deck_size"][side]) - 1 - drawn
            page, refill = NOT_KNOWN, NO_CARD
            if height < 0:
                page = NO_NUMBER if side == LEFT else NO_COLOUR
            elif drawn <= laid:  # the back of the card under those laid was seen
                page = back_of(s, side, height)
                refill = KNOWN_BACK - page
                if drawn < laid:
                    refill = int(s["deck"][deck_place(side, height)])
            search["page"][side, drawn] = page
            if drawn < AHEAD:
                search["refill"][side, drawn] = refill


@compiled
def note_stop(search: np.void, level: int) -> None:
    """Write what it is worth to stop at a level into its table."""
    may_lay = search["may_lay"]
    hand, table = search["hand"][level], search["table"][level]
    hand_table(search["plan"], hand, may_lay[LEFT], may_lay[RIGHT], search["may_lay_both"], table)


@compiled
def worth_after(search: np.void, level: int, side: int, other: int) -> float:
    """What the next level is worth once it took from a side, where the other side's page is known."""
    table, plan = search["table"][level + 1], search["plan"]
    page = search["page"][side, search["drawn"][level + 1, side]]
    total = 0.0
    if side == LEFT:
        if page != NOT_KNOWN:
            return float(table[page, other])
        for n in range(1, NUMBERS + 1):
            total += plan["number_chance"][n] * table[n, other]
    else:
        if page != NOT_KNOWN:
            return float(table[other, page])
        for c in range(NUM_COLOURS):
            total += plan["colour_chance"][c] * table[other, c]
    return total


@compiled
def begin_level(search: np.void, level: int, slot: int, card: int) -> None:
    """The next level: a card was taken from a slot, and the slot refilled."""
    side = slot // SLOTS_PER_SIDE
    search["hand"][level + 1] = search["hand"][level]
    search["hand"][level + 1, card] += 1
    search["supply"][level + 1] = search["supply"][level]
    search["supply"][level + 1, slot] = search["refill"][side, search["drawn"][level, side]]
    search["drawn"][level + 1] = search["drawn"][level]
    search["drawn"][level + 1, side] += 1


@compiled
def look_ahead(search: np.void, left: int) -> None:
    """Write what level 1 is worth into its table, with so many more cards that may be taken.

    A walk through a tree, without recursion: that could not be kept on disk compiled.
    """
    level = 1
    open_level(search, level)
    while True:
        if level <= left and next_card(search, level):
            level += 1
            open_level(search, level)
            continue
        close_level(search, level)
        if level == 1:
            return
        level -= 1
        count_card(search, level)


@compiled
def open_level(search: np.void, level: int) -> None:
    """Nothing has been tried at the level: it is worth stopping there."""
    note_stop(search, level)
    search["slot"][level] = 0
    search["card"][level] = -1
    search["weight"][level] = 0.0
    search["sum"][level] = 0.0
    search["best"][level] = -np.inf


@compiled
def next_card(search: np.void, level: int) -> bool:
    """Take the next card that is to be tried at a level; False if all have been."""
    slot, tried = int(search["slot"][level]), int(search["card"][level])
    while slot < SLOTS:
        card = card_to_try(search, level, slot, tried)
        if card >= 0:
            search["slot"][level] = slot
            search["card"][level] = card
            begin_level(search, level, slot, card)
            return True
        close_slot(search, level, slot)
        slot += 1
        tried = -1
    return False


@compiled
def card_to_try(search: np.void, level: int, slot: int, tried: int) -> int:
    """The card that may be in a slot, after the one tried last (-1: none was); -1 if there is none."""
    shown = search["supply"][level, slot]
    if shown >= 0:
        return shown if tried < 0 else -1
    if shown == NO_CARD:
        return -1
    side, back = slot // SLOTS_PER_SIDE, KNOWN_BACK - shown
    for card in range(tried + 1, NUM_CARDS):
        if SIDE[card] == side and BACK[card] == back and search["plan"]["unseen"][card] > 0:
            return card
    return -1


@compiled
def count_card(search: np.void, level: int) -> None:
    """Count what the next level is worth for the card that was tried."""
    slot = search["slot"][level]
    shown = search["supply"][level, slot]
    weight = 1.0 if shown >= 0 else search["plan"]["unseen"][search["card"][level]]
    search["weight"][level] += weight
    side = slot // SLOTS_PER_SIDE
    for other in range(NUM_COLOURS + 1 if side == LEFT else NUMBERS + 1):
        search["sum"][level, other] += weight * worth_after(search, level, side, other)


@compiled
def close_slot(search: np.void, level: int, slot: int) -> None:
    """All cards that may be in a slot have been tried: it is worth their mean."""
    weight = search["weight"][level]
    if weight == 0.0:
        return
    best = search["best"][level, slot // SLOTS_PER_SIDE]
    for other in range(NUMBERS + 1):
        best[other] = max(best[other], search["sum"][level, other] / weight)
    search["weight"][level] = 0.0
    search["sum"][level] = 0.0


@compiled
def close_level(search: np.void, level: int) -> None:
    """All slots have been tried: a level is worth the best of them, or stopping."""
    table, best = search["table"][level], search["best"][level]
    for n in range(NUMBERS + 1):
        for c in range(NUM_COLOURS + 1):
            table[n, c] = max(table[n, c], max(best[LEFT, c], best[RIGHT, n]))


# -- step 2: modify --------------------------------------------------------------------------------


@compiled
def choose_page(r: np.void, s: np.void, mask: npt.NDArray[np.int8], search: np.void) -> int:
    """The page after which the turn is worth most, or none."""
    plan, hand, table = search["plan"], search["hand"][0], search["table"][0]
    hand[:] = s["hand"][s["player"]]
    number, colour = top_back(s, LEFT), top_back(s, RIGHT)
    if number < 0:
        number = NO_NUMBER
    if colour < 0:
        colour = NO_COLOUR
    hand_table(plan, hand, False, False, False, table)
    action, best = PASS, table[number, colour]
    search["worth"][PASS] = best
    laid = int(s["laid"][LEFT]) + int(s["laid"][RIGHT])
    more = laid + 1 < r["modifications_per_turn"]  # then one on each side
    for card in range(NUM_CARDS):
        if mask[MODIFY + card]:
            on_left = SIDE[card] == LEFT
            hand[card] -= 1
            hand_table(plan, hand, more and not on_left, more and on_left, False, table)
            hand[card] += 1
            worth = table[BACK[card], colour] if on_left else table[number, BACK[card]]
            search["worth"][MODIFY + card] = worth
            if worth > best:
                action, best = MODIFY + card, worth
    return action


# -- step 3: play ----------------------------------------------------------------------------------


@compiled
def choose_card(
    s: np.void, mask: npt.NDArray[np.int8], plan: np.void, worth: npt.NDArray[np.float64]
) -> int:
    """The lowest card of the best set that the spell asks for, or nothing where it is not worth it."""
    number, colour = top_back(s, LEFT), top_back(s, RIGHT)
    opened = int(s["opened"])
    lowest = int(s["open"][opened - 1]) if opened > 0 else 0
    hand = np.zeros(NUM_CARDS, np.int64)  # what may still be played
    held, playable = 0, 0  # dark ones left out
    for k in range(COLOURED):
        card = SET_CARDS[colour, k]
        held += int(s["hand"][s["player"], card])
        if card >= lowest:
            hand[card] = s["hand"][s["player"], card]
            playable += hand[card]
    hand[DARK] = s["hand"][s["player"], DARK]
    needed = number - opened
    action = PASS
    best = -plan["earned"][number, colour] if mask[PASS] else -np.inf
    worth[PASS] = best
    for darks in range(min(hand[DARK], needed) + 1):
        if needed - darks <= playable:
            gained, first = best_coloured(plan, hand, colour, needed - darks)
            gained += darks * plan["gain"][DARK] + shape_after(plan, held, needed - darks)
            worth[PLAY + first] = max(worth[PLAY + first], gained)
            if gained > best:
                action, best = PLAY + first, gained
    return action


@compiled
def best_coloured(plan: np.void, hand: npt.NDArray[np.int64], colour: int, n: int) -> tuple[float, int]:
    """What the best n cards of a colour gain, dark ones left out, and the lowest; DARK if n is 0."""
    gained = 0.0
    lowest = DARK
    for card in plan["order"][colour]:
        used = min(n, hand[card])
        if used > 0:
            gained += used * plan["gain"][card]
            lowest = min(lowest, card)
            n -= used
    return gained, lowest
