"""planner, dev version"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gardienii_env.agents.base import Agent
from gardienii_env.agents.greedy import choose_end
from gardienii_env.agents.planning import *
from gardienii_env.agents.planning import NAMES, DEFAULT
from gardienii_env.rules.actions import MODIFY, PASS, PLAY, SLOTS_PER_SIDE, TAKE
from gardienii_env.rules.engine import Masks
from gardienii_env.rules.state import COLUMN, MODIFY_STEP, TAKE_STEP, States, back_of, deck_place, top_back
from gardienii_env.agents import planning as PL

SLOTS = 2 * SLOTS_PER_SIDE
AHEAD = 3
NOT_KNOWN = -1
NO_CARD = -1
FIRST_BACK = -2  # in a supply: a card with a known back only is FIRST_BACK - back

WORK = np.dtype(
    [
        ("plan", PLAN),
        ("back", np.int8, (2, AHEAD + 1)),  # top page of each deck after so many draws; empty: EMPTY_*, NOT_KNOWN
        ("refill", np.int8, (2, AHEAD)),  # what the draw turns up
        ("hand", np.int8, (AHEAD + 1, NUM_CARDS)),
        ("supply", np.int8, (AHEAD + 1, SLOTS)),
        ("drawn", np.int8, (AHEAD + 1, 2)),
        ("table", np.float64, (AHEAD + 1, NUMBERS + 1, NUM_COLOURS + 1)),
        ("slot", np.int8, AHEAD + 1), ("kind", np.int8, AHEAD + 1), ("weight", np.float64, AHEAD + 1),
        ("mean", np.float64, (AHEAD + 1, NUMBERS + 1)),
        ("best_left", np.float64, (AHEAD + 1, NUMBERS + 1)), ("best_right", np.float64, (AHEAD + 1, NUMBERS + 1)),
        ("may_left", np.int8), ("may_right", np.int8), ("may_both", np.int8),
    ],
    align=True,
)


class PlannerAgent(Agent):
    name = "planner"

    def __init__(self, **params) -> None:
        q = dict(DEFAULT); q.update(params)
        self.p = np.array([q[n] for n in NAMES], float)

    def act(self, batch, games, streams):
        actions = np.empty(games.size, np.int64)
        planner_actions(batch.rules, batch.states, batch.masks, games, actions, self.p)
        return actions


@compiled
def planner_actions(rules, states, masks, games, actions, p):
    for k in range(games.size):
        actions[k] = planner_action(rules, states, masks, games[k], p)


@compiled
def planner_action(rules, states, masks, i, p):
    r, s, mask = rules[0], states[i], masks[i]
    step = s["step"]
    if step == COLUMN:
        return choose_end(s)
    work = np.empty(1, WORK)[0]
    note_plan(r, s, work["plan"], p)
    if step == TAKE_STEP:
        return choose_take(r, s, mask, work, p)
    if step == MODIFY_STEP:
        return choose_page(r, s, mask, work)
    return choose_card(s, mask, work["plan"])


@compiled
def choose_take(r, s, mask, work, p):
    work["may_left"] = may_modify(r, s, LEFT)
    work["may_right"] = may_modify(r, s, RIGHT)
    work["may_both"] = r["modifications_per_turn"] >= 2
    note_decks(s, work)
    for card in range(NUM_CARDS):
        work["hand"][0, card] = s["hand"][s["player"], card]
    for slot in range(SLOTS):
        work["supply"][0, slot] = s["supply"][slot // SLOTS_PER_SIDE, slot % SLOTS_PER_SIDE]
    work["drawn"][0] = 0
    left = int(r["take_limit"]) - int(s["taken"])
    price = 0.0
    if left <= 0:
        price = p[CRYSTAL_WORTH] + float(r["crystal_points"])
        left = 1
    left = min(left, AHEAD)
    number, colour = place_of(work, LEFT, 0), place_of(work, RIGHT, 0)
    action = -1
    best = 0.0
    if mask[PASS]:
        stop_table(work, 0)
        action, best = PASS, work["table"][0, number, colour]
    for slot in range(SLOTS):
        if mask[TAKE + slot]:
            begin_child(work, 0, slot)
            add_card(work, 1, work["supply"][0, slot])
            look_ahead(work, 1, left - 1)
            worth = worth_after(work, 0, slot // SLOTS_PER_SIDE, number, colour) - price
            if action < 0 or worth > best:
                action, best = TAKE + slot, worth
    return action


@compiled
def place_of(work, side, drawn):
    return work["back"][side, drawn]


@compiled
def note_decks(s, work):
    for side in range(2):
        size, laid = int(s["deck_size"][side]), int(s["deck_laid"][side])
        for drawn in range(AHEAD + 1):
            height = size - 1 - drawn
            if height < 0:
                back = EMPTY_LEFT if side == LEFT else EMPTY_RIGHT
            elif drawn <= laid:
                back = back_of(s, side, height)
            else:
                back = NOT_KNOWN
            work["back"][side, drawn] = back
            if drawn < AHEAD:
                if height < 0:
                    work["refill"][side, drawn] = NO_CARD
                elif drawn < laid:
                    work["refill"][side, drawn] = s["deck"][deck_place(side, height)]
                elif drawn == laid:
                    work["refill"][side, drawn] = FIRST_BACK - back
                else:
                    work["refill"][side, drawn] = NO_CARD


@compiled
def stop_table(work, level):
    hand_table(work["plan"], work["hand"][level], work["may_left"], work["may_right"], work["may_both"], work["table"][level])


@compiled
def begin_child(work, level, slot):
    side = slot // SLOTS_PER_SIDE
    work["hand"][level + 1] = work["hand"][level]
    work["supply"][level + 1] = work["supply"][level]
    work["drawn"][level + 1] = work["drawn"][level]
    work["supply"][level + 1, slot] = work["refill"][side, work["drawn"][level, side]]
    work["drawn"][level + 1, side] += 1


@compiled
def add_card(work, level, card):
    work["hand"][level, card] += 1


@compiled
def worth_after(work, level, side, number, colour):
    """Worth of table level+1 once a card of the side was drawn, where the other page stands."""
    table, plan = work["table"][level + 1], work["plan"]
    back = work["back"][side, work["drawn"][level + 1, side]]
    if side == LEFT:
        if back != NOT_KNOWN:
            return table[back, colour]
        total = 0.0
        for n in range(1, NUMBERS + 1):
            total += plan["number_chance"][n] * table[n, colour]
        return total
    if back != NOT_KNOWN:
        return table[number, back]
    total = 0.0
    for c in range(NUM_COLOURS):
        total += plan["colour_chance"][c] * table[number, c]
    return total


@compiled
def look_ahead(work, first, left):
    """Into the table of the level: what it is worth with so many cards left to take."""
    level = first
    open_level(work, level)
    while True:
        if level < first + left and next_child(work, level):
            level += 1
            open_level(work, level)
            continue
        close_level(work, level)
        if level == first:
            return
        level -= 1
        fold_child(work, level)


@compiled
def open_level(work, level):
    stop_table(work, level)
    work["slot"][level] = 0
    work["kind"][level] = -1
    work["weight"][level] = 0.0
    work["mean"][level] = 0.0
    work["best_left"][level] = -np.inf
    work["best_right"][level] = -np.inf


@compiled
def next_child(work, level):
    slot, kind = int(work["slot"][level]), int(work["kind"][level])
    while slot < SLOTS:
        card = work["supply"][level, slot]
        if card == NO_CARD:
            kind = NUM_CARDS
        elif card >= 0:
            kind = card if kind < 0 else NUM_CARDS
        else:
            side, back = slot // SLOTS_PER_SIDE, FIRST_BACK - card
            kind += 1
            while kind < NUM_CARDS and not (SIDE[kind] == side and BACK[kind] == back and work["plan"]["unseen"][kind] > 0):
                kind += 1
        if kind < NUM_CARDS:
            work["slot"][level], work["kind"][level] = slot, kind
            begin_child(work, level, slot)
            add_card(work, level + 1, kind)
            return True
        close_slot(work, level, slot)
        slot += 1
        kind = -1
    return False


@compiled
def fold_child(work, level):
    slot = work["slot"][level]
    w = 1.0 if work["supply"][level, slot] >= 0 else work["plan"]["unseen"][work["kind"][level]]
    work["weight"][level] += w
    mean = work["mean"][level]
    if slot // SLOTS_PER_SIDE == LEFT:
        for c in range(NUM_COLOURS + 1):
            mean[c] += w * worth_after(work, level, LEFT, 0, c)
    else:
        for n in range(NUMBERS + 1):
            mean[n] += w * worth_after(work, level, RIGHT, n, 0)


@compiled
def close_slot(work, level, slot):
    weight, mean = work["weight"][level], work["mean"][level]
    if weight > 0:
        best = work["best_left"][level] if slot // SLOTS_PER_SIDE == LEFT else work["best_right"][level]
        for k in range(NUMBERS + 1):
            best[k] = max(best[k], mean[k] / weight)
    work["weight"][level] = 0.0
    mean[:] = 0.0


@compiled
def close_level(work, level):
    table = work["table"][level]
    for n in range(NUMBERS + 1):
        for c in range(NUM_COLOURS + 1):
            table[n, c] = max(table[n, c], max(work["best_left"][level, c], work["best_right"][level, n]))


@compiled
def choose_page(r, s, mask, work):
    number = work_back(s, LEFT)
    colour = work_back(s, RIGHT)
    hand, table, plan = work["hand"][0], work["table"][0], work["plan"]
    for card in range(NUM_CARDS):
        hand[card] = s["hand"][s["player"], card]
    hand_table(plan, hand, False, False, False, table)
    action, best = PASS, table[number, colour]
    more = int(s["laid"][0]) + int(s["laid"][1]) + 1 < r["modifications_per_turn"]
    for card in range(NUM_CARDS):
        if not mask[MODIFY + card]:
            continue
        hand[card] -= 1
        side = SIDE[card]
        hand_table(plan, hand, more and side == RIGHT and s["laid"][LEFT] == 0, more and side == LEFT and s["laid"][RIGHT] == 0, False, table)
        worth = table[BACK[card], colour] if side == LEFT else table[number, BACK[card]]
        hand[card] += 1
        if worth > best:
            action, best = MODIFY + card, worth
    return action


@compiled
def work_back(s, side):
    back = top_back(s, side)
    if back < 0:
        return EMPTY_LEFT if side == LEFT else EMPTY_RIGHT
    return back


@compiled
def choose_card(s, mask, plan):
    """The lowest card of the best set."""
    player = s["player"]
    number, colour = top_back(s, LEFT), top_back(s, RIGHT)
    opened = int(s["opened"])
    needed = number - opened
    lowest = s["open"][opened - 1] if opened > 0 else 0
    hand = np.zeros(NUM_CARDS, np.int8)
    held = 0
    for k in range(COLOURED + 1):
        card = SET_CARDS[colour, k]
        if card >= lowest:
            hand[card] = s["hand"][player, card]
            if card != DARK:
                held += hand[card]
    dark = int(hand[DARK])
    # how many dark ones
    best_darks, best = -1, NO_SET
    top = min(held, MOST_IN_SHAPE)
    for darks in range(min(dark, needed) + 1):
        coloured = needed - darks
        if coloured > held:
            continue
        gained = darks * plan["gain"][DARK] + plan["shape"][max(top - coloured, 0)] - plan["shape"][top]
        left = coloured
        for k in range(COLOURED):
            card = plan["order"][colour, k]
            taken = min(left, int(hand[card]))
            gained += taken * plan["gain"][card]
            left -= taken
        if best_darks < 0 or gained > best:
            best_darks, best = darks, gained
    if mask[PASS] and plan["earned"][number, colour] + best <= 0:
        return PASS
    left = needed - best_darks
    first = DARK
    for k in range(COLOURED):
        card = plan["order"][colour, k]
        if left > 0 and hand[card] > 0:
            first = min(first, card)
            left -= min(left, int(hand[card]))
    return PLAY + first
