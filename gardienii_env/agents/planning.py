"""planning, dev version"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gardienii_env.agents.greedy import piece_worths
from gardienii_env.rules.cards import (
    BACK,
    DARK,
    FRONT,
    LEFT,
    NUM_CARDS,
    NUM_COLOURS,
    NUMBERS,
    RIGHT,
    SET_CARDS,
    SIDE,
)
from gardienii_env.rules.engine import (
    PIECES_PER_AMULET,
    column_is_closed,
    may_modify,
    num_amulets,
    num_columns,
    num_pieces,
)
from gardienii_env.rules.jit import compiled
from gardienii_env.rules.ruleset import PIECE_HIGHEST, PIECE_LOWEST

NAMES = """LEFT_WORTH RIGHT_WORTH SHAPE_1 SHAPE_2 SHAPE_3 SHAPE_4 SHAPE_5 SHAPE_6 SHAPE_7 DARK_WORTH POINTS_IN_HAND
CRYSTAL_WORTH LATER EGG_SPREAD EGG_TIE COLUMN_1 COLUMN_2 COLUMN_3 CREST_DENIED THREAT PIECE_TEMPO ENCLOSING THREAT_MANY LAID""".split()
for _k, _n in enumerate(NAMES):
    globals()[_n] = _k
(LEFT_WORTH, RIGHT_WORTH, SHAPE_1, SHAPE_2, SHAPE_3, SHAPE_4, SHAPE_5, SHAPE_6, SHAPE_7, DARK_WORTH, POINTS_IN_HAND,
CRYSTAL_WORTH, LATER, EGG_SPREAD, EGG_TIE, COLUMN_1, COLUMN_2, COLUMN_3, CREST_DENIED, THREAT, PIECE_TEMPO, ENCLOSING, THREAT_MANY, LAID) = range(len(NAMES))
DEFAULT = dict(LEFT_WORTH=.3, RIGHT_WORTH=.3, SHAPE_1=.6, SHAPE_2=.6, SHAPE_3=.7, SHAPE_4=.8, SHAPE_5=.8, SHAPE_6=.8, SHAPE_7=.3, DARK_WORTH=2.5,
  POINTS_IN_HAND=.4, CRYSTAL_WORTH=.7, LATER=6.0, EGG_SPREAD=.5, EGG_TIE=.3, COLUMN_1=.1, COLUMN_2=.25, COLUMN_3=.5, CREST_DENIED=.4, THREAT=.8,
  PIECE_TEMPO=0., ENCLOSING=0., THREAT_MANY=.8, LAID=0.)

MOST_IN_SHAPE = 24
COLOURED = SET_CARDS.shape[1] - 1
NO_SET = -1000.0
EMPTY_LEFT, EMPTY_RIGHT = 0, NUM_COLOURS  # places of "no page" in tables

PLAN = np.dtype(
    [
        ("number_chance", np.float64, NUMBERS + 1),
        ("colour_chance", np.float64, NUM_COLOURS + 1),
        ("unseen", np.float64, NUM_CARDS),
        ("worth", np.float64, NUM_CARDS),
        ("gain", np.float64, NUM_CARDS),
        ("order", np.int8, (NUM_COLOURS, COLOURED)),
        ("shape", np.float64, MOST_IN_SHAPE + 1),
        ("open", np.int8, NUM_COLOURS),
        ("earned", np.float64, (NUMBERS + 1, NUM_COLOURS)),
        ("threat", np.float64, (NUMBERS + 1, NUM_COLOURS)),
        ("best", np.float64, NUMBERS + 1),  # scratch
    ],
    align=True,
)


@compiled
def note_plan(r: np.void, s: np.void, plan: np.void, p: npt.NDArray[np.float64]) -> None:
    me = int(s["player"])
    later = horizon(r, s, p)
    note_unseen(s, me, plan)
    for card in range(NUM_CARDS):
        points = float(r["card_value"][card]) if r["dragons_score"] else 0.0
        if card == DARK:
            worth = p[DARK_WORTH]
        elif SIDE[card] == LEFT:
            worth = p[LEFT_WORTH]
        else:
            worth = p[RIGHT_WORTH]
        worth = later * (worth + p[POINTS_IN_HAND] * points)
        plan["worth"][card] = worth
        plan["gain"][card] = points - worth
    plan["shape"][0] = 0.0
    for k in range(1, MOST_IN_SHAPE + 1):
        plan["shape"][k] = plan["shape"][k - 1] + later * p[SHAPE_1 + min(k, 7) - 1]
    note_order(plan)
    plan["threat"][:] = 0.0
    others = int(s["num_players"]) - 1
    if s["step"] != 2:
        for k in range(others):
            seat = (me + 1 + k) % (others + 1)
            note_seat(r, s, plan, seat, later, p)
            weight = p[THREAT] if others == 1 else p[THREAT_MANY] / others
            add_threat(s, plan, seat, weight)
    note_seat(r, s, plan, me, later, p)


@compiled
def horizon(r: np.void, s: np.void, p: npt.NDArray[np.float64]) -> float:
    amulets, over = 0, 0
    for seat in range(s["num_players"]):
        amulets += num_amulets(s, seat)
        over += num_pieces(s, seat) % PIECES_PER_AMULET
    left = PIECES_PER_AMULET * (int(r["amulets_to_end"][s["num_players"]]) - amulets) - over / 2.0
    turns = float(r["turn_limit"]) - float(s["turns"])
    return min(1.0, max(0.05, min(left, turns) / p[LATER]))


@compiled
def note_unseen(s: np.void, me: int, plan: np.void) -> None:
    unseen = plan["unseen"]
    for card in range(NUM_CARDS):
        unseen[card] = s["unseen"][card]
    for seat in range(s["num_players"]):
        if seat != me:
            for k in range(s["unknown"].shape[1]):
                if s["unknown"][seat, k] >= 0:
                    unseen[s["unknown"][seat, k]] += 1.0
    numbers, colours = plan["number_chance"], plan["colour_chance"]
    numbers[:] = 0.0
    colours[:] = 0.0
    for card in range(NUM_CARDS):
        if SIDE[card] == LEFT:
            numbers[BACK[card]] += unseen[card]
        else:
            colours[BACK[card]] += unseen[card]
    numbers /= max(numbers.sum(), 1.0)
    colours /= max(colours.sum(), 1.0)


@compiled
def note_order(plan: np.void) -> None:
    for c in range(NUM_COLOURS):
        order = plan["order"][c]
        for k in range(COLOURED):
            card = SET_CARDS[c, k]
            place = k
            while place > 0 and plan["gain"][order[place - 1]] < plan["gain"][card]:
                order[place] = order[place - 1]
                place -= 1
            order[place] = card


@compiled
def note_seat(r: np.void, s: np.void, plan: np.void, seat: int, later: float, p: npt.NDArray[np.float64]) -> None:
    pieces = piece_worths(r, s, seat)
    for c in range(NUM_COLOURS):
        plan["open"][c] = not column_is_closed(r, s, seat, c)
    for n in range(1, NUMBERS + 1):
        prize = prize_worth(r, s, seat, n, pieces, later, p)
        for c in range(NUM_COLOURS):
            plan["earned"][n, c] = prize + column_worth(r, s, seat, c, later, p) if plan["open"][c] else NO_SET


@compiled
def prize_worth(r: np.void, s: np.void, seat: int, number: int, pieces: tuple[float, float], later: float, p: npt.NDArray[np.float64]) -> float:
    worth = 0.0
    if r["prize_piece"][number] == PIECE_LOWEST:
        worth = pieces[0] + p[PIECE_TEMPO]
    elif r["prize_piece"][number] == PIECE_HIGHEST:
        worth = pieces[1] + p[PIECE_TEMPO]
    crystals = min(int(r["prize_crystals"][number]), int(s["bank_crystals"]))
    worth += crystals * (float(r["crystal_points"]) + later * p[CRYSTAL_WORTH])
    eggs = min(int(r["prize_golden_eggs"][number]), int(s["bank_eggs"]))
    if eggs > 0:
        worth += eggs * float(r["egg_points"]) + majority_worth(r, s, seat, eggs, p)
    dragons = min(int(r["prize_dark_dragons"][number]), int(s["bank_dark_dragons"]))
    return worth + dragons * plan_dark(r, later, p)


@compiled
def plan_dark(r: np.void, later: float, p: npt.NDArray[np.float64]) -> float:
    points = float(r["card_value"][DARK]) if r["dragons_score"] else 0.0
    return later * (p[DARK_WORTH] + p[POINTS_IN_HAND] * points)


@compiled
def majority_worth(r: np.void, s: np.void, seat: int, eggs: int, p: npt.NDArray[np.float64]) -> float:
    stake = float(r["egg_majority_points"]) - float(r["egg_points"])
    others = 0
    for other in range(s["num_players"]):
        if other != seat:
            others = max(others, int(s["eggs"][other]))
    own, left = int(s["eggs"][seat]), int(s["bank_eggs"])
    mine = chance_of_most(own + eggs - others, left - eggs, p) - chance_of_most(own - others, left, p)
    theirs = chance_of_most(others - own, left, p) - chance_of_most(others - own - eggs, left - eggs, p)
    return stake * (mine + theirs / (int(s["num_players"]) - 1))


@compiled
def chance_of_most(ahead: int, left: int, p: npt.NDArray[np.float64]) -> float:
    spread = p[EGG_SPREAD] * np.sqrt(left + 0.1)
    return 1.0 / (1.0 + np.exp(-(ahead + p[EGG_TIE]) / spread))


@compiled
def column_worth(r: np.void, s: np.void, seat: int, colour: int, later: float, p: npt.NDArray[np.float64]) -> float:
    if s["column_cards"][seat, colour] > 0:
        return 0.0
    columns = num_columns(s, seat)
    enclosing = p[ENCLOSING] * later if r["enclosed_columns_close"] and columns >= 2 else 0.0
    if s["crests_given"] >= r["crests"]:
        return -enclosing
    crest = float(r["crest_points"][s["crests_given"]])
    if columns == 0:
        return later * p[COLUMN_1] * crest
    if columns == 1:
        return later * (p[COLUMN_2] - p[COLUMN_1]) * crest
    if columns == 2:
        return later * (p[COLUMN_3] - p[COLUMN_2]) * crest - enclosing
    following = 0.0
    if s["crests_given"] + 1 < r["crests"]:
        following = float(r["crest_points"][s["crests_given"] + 1])
    denied = (crest - following) * p[CREST_DENIED] / (int(s["num_players"]) - 1)
    return (1.0 - later * p[COLUMN_3]) * crest + denied - enclosing


# -- sets from a hand


@compiled
def note_best(plan: np.void, hand: npt.NDArray[np.int8], colour: int, held: int, without: int) -> None:
    """Into plan["best"][n]: gain of the best n cards of the colour from the hand, NO_SET if there are too few; `without`: a card type of which one copy is not there."""
    best = plan["best"]
    order = plan["order"][colour]
    shape = plan["shape"]
    dark = int(hand[DARK])
    if without == DARK:
        dark -= 1
    elif without >= 0:
        held -= 1
    dark_gain = plan["gain"][DARK]
    for n in range(NUMBERS + 1):
        best[n] = NO_SET
    gained = 0.0
    k = 0  # place in the order
    used_here = 0
    top = min(held, MOST_IN_SHAPE)
    whole = shape[top]
    for coloured in range(min(held, NUMBERS) + 1):
        base = gained + shape[max(top - coloured, 0)] - whole
        for darks in range(min(dark, NUMBERS - coloured) + 1):
            n = coloured + darks
            best[n] = max(best[n], base + darks * dark_gain)
        if coloured == held or coloured == NUMBERS:
            break
        while True:
            card = order[k]
            if used_here < hand[card] - (card == without):
                used_here += 1
                gained += plan["gain"][card]
                break
            k += 1
            used_here = 0


@compiled
def add_threat(s: np.void, plan: np.void, seat: int, weight: float) -> None:
    """What each spell offers to another player."""
    hand = np.empty(NUM_CARDS, np.int8)
    unknown = 0
    for card in range(NUM_CARDS):
        hand[card] = s["hand"][seat, card]
    for k in range(s["unknown"].shape[1]):
        if s["unknown"][seat, k] >= 0:
            hand[s["unknown"][seat, k]] -= 1
            unknown += 1
    for c in range(NUM_COLOURS):
        if not plan["open"][c]:
            continue
        held = 0
        for k in range(COLOURED):
            held += hand[SET_CARDS[c, k]]
        note_best(plan, hand, c, held, -1)
        sure = min(held + int(hand[DARK]), NUMBERS)
        for n in range(1, NUMBERS + 1):
            if n <= sure:
                plan["threat"][n, c] += weight * max(0.0, plan["earned"][n, c] + plan["best"][n])
            elif n <= sure + unknown:
                chance = 0.25 ** (n - sure) * (unknown if n - sure < unknown else 1)
                plan["threat"][n, c] += weight * min(chance, 1.0) * max(0.0, plan["earned"][n, c] + plan["best"][sure])


@compiled
def hand_table(
    plan: np.void, hand: npt.NDArray[np.int8], may_left: bool, may_right: bool, may_both: bool, table: npt.NDArray[np.float64]
) -> None:
    """Into table[n, c]: what the hand is worth when taking has ended with that spell, best pages and set to follow."""
    held = np.zeros(NUM_COLOURS + 1, np.int64)
    total = 0.0
    for card in range(NUM_CARDS):
        if hand[card] > 0:
            total += hand[card] * plan["worth"][card]
            held[FRONT[card]] += hand[card]
    shape = plan["shape"]
    cost = np.zeros(NUM_COLOURS + 1)  # of the shape, when a card of that front leaves
    for f in range(NUM_COLOURS):
        if plan["open"][f]:
            k = min(held[f], MOST_IN_SHAPE)
            total += shape[k]
            if k > 0:
                cost[f] = shape[k] - shape[k - 1]
    lay_left = np.empty(NUM_COLOURS + 1)
    lay_right = np.empty(NUMBERS + 1)
    to_colour = np.empty(NUM_COLOURS)  # the least cost of a right page
    for c in range(NUM_COLOURS):
        lay_left[c] = NO_SET
        to_colour[c] = np.inf
    lay_left[NUM_COLOURS] = NO_SET
    for n in range(NUMBERS + 1):
        lay_right[n] = NO_SET
        for c in range(NUM_COLOURS + 1):
            table[n, c] = 0.0
    lay_both = NO_SET
    if may_right:
        for card in range(NUM_CARDS):
            if hand[card] > 0 and SIDE[card] == RIGHT:
                worth = plan["worth"][card] + cost[FRONT[card]]
                to_colour[BACK[card]] = min(to_colour[BACK[card]], worth)
    for c in range(NUM_COLOURS):
        if not plan["open"][c]:
            for n in range(1, NUMBERS + 1):
                table[n, c] = -plan["threat"][n, c]
        else:
            note_best(plan, hand, c, held[c], -1)
            for n in range(1, NUMBERS + 1):
                table[n, c] = max(0.0, plan["earned"][n, c] + plan["best"][n]) - plan["threat"][n, c]
        for n in range(1, NUMBERS + 1):
            lay_right[n] = max(lay_right[n], table[n, c] - to_colour[c])
        if may_left:
            for card in range(NUM_CARDS):
                if hand[card] == 0 or SIDE[card] != LEFT:
                    continue
                n = BACK[card]
                if (FRONT[card] == c or card == DARK) and plan["open"][c]:
                    note_best(plan, hand, c, held[c], card)
                    value = max(0.0, plan["earned"][n, c] + plan["best"][n]) - plan["threat"][n, c]
                else:
                    value = table[n, c]
                value -= plan["worth"][card] + cost[FRONT[card]]
                lay_left[c] = max(lay_left[c], value)
                if may_both:
                    lay_both = max(lay_both, value - to_colour[c])
    for n in range(NUMBERS + 1):
        for c in range(NUM_COLOURS + 1):
            table[n, c] = total + max(max(table[n, c], lay_both), max(lay_left[c], lay_right[n]))
