"""What `planner` thinks things are worth: cards in hand, prizes, columns, what a spell offers.

`note_plan` works out, once for a decision, all that does not depend on the cards still to be taken
(`PLAN`). `hand_table` then says for a hand what it is worth when taking ends, for every spell that the
decks could show by then: with the best pages laid and the best set played, less what the spell offers
to the players who follow. `planner` looks these tables up for every hand that it could come to have.

Only what the seat could know is read: of another player's hand the cards that were seen (`hand` less
`unknown`), and for the decks the copies of each type that the seat has not seen (`unseen` and the
unknown cards of all others together).
"""

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
    next_seat,
    num_amulets,
    num_columns,
    num_pieces,
)
from gardienii_env.rules.jit import compiled
from gardienii_env.rules.ruleset import PIECE_HIGHEST, PIECE_LOWEST
from gardienii_env.rules.state import PLAY_STEP

__all__ = [
    "COLOURED",
    "CRYSTAL_WORTH",
    "NO_COLOUR",
    "NO_NUMBER",
    "PLAN",
    "hand_table",
    "note_plan",
    "shape_after",
]

# Points, early in the game; these dwindle towards its end (`to_come`).
LEFT_WORTH = 2.5  # a card in hand with a number on its back
RIGHT_WORTH = 2.5  # a card in hand with a colour on its back
DARK_WORTH = 6.0  # a dark dragon in hand
SHAPE = np.array([2.5, 1.2, 0.5, 0.2, 0.0, 0.0, -0.4])
"""What the first, second, ... card of a colour in hand is worth besides; the last: each further one."""
POINTS_IN_HAND = 0.8  # share of the points of a card that it is worth before it is played
CRYSTAL_WORTH = 2.5  # a crystal, beyond its points
COLUMN_SHARES = np.array([0.0, 0.15, 0.35, 0.6])  # of the next crest's points, by number of columns

ENCLOSED = 1.5  # what a column that closes costs a player, for each amulet piece that is to come to them
TO_COME = 8.0  # amulet pieces to the end of the game from which on things begin to lose worth
LEAST_TO_COME = 0.05  # of the worth is left at the very end
EGG_SPREAD = 0.7  # how open the race for most eggs is: deviation of a lead, for each root of an egg left
EGG_TIE = 0.3  # a tie for most eggs counts as a lead of so many
CREST_DENIED = 0.4  # share of the points that a lower crest costs another player
THREAT = 0.8  # how much of what a spell offers to the others counts against it

LEFT_CARDS, RIGHT_CARDS = np.flatnonzero(SIDE == LEFT), np.flatnonzero(SIDE == RIGHT)
COLOURED = SET_CARDS.shape[1] - 1  # card types of a colour, dark ones left out
MOST_COUNTED = 24  # cards of a colour; more are worth no more
NO_SET = -1.0e6  # worth of a set that cannot be played
NO_NUMBER, NO_COLOUR = 0, NUM_COLOURS
"""Places in tables for a spell without a left or a right page."""

PLAN = np.dtype(
    [
        ("unseen", np.float64, NUM_CARDS),  # copies that the seat has not seen
        ("number_chance", np.float64, NUMBERS + 1),  # of each left page among them
        ("colour_chance", np.float64, NUM_COLOURS + 1),  # of each right page
        ("to_come", np.float64),  # share of the worth of what pays only later
        ("enclosed", np.float64),  # cost of a column that closes
        ("worth", np.float64, NUM_CARDS),  # of a card in hand, by itself
        ("gain", np.float64, NUM_CARDS),  # points for playing it, less that worth
        ("order", np.int8, (NUM_COLOURS, COLOURED)),  # card types of each colour, highest gain first
        ("shape", np.float64, MOST_COUNTED + 1),  # what so many cards of a colour are worth besides
        ("open", np.int8, NUM_COLOURS),  # 0 where the column of the seat looked at is closed
        ("earned", np.float64, (NUMBERS + 1, NUM_COLOURS)),  # by a set of that seat, whatever its cards
        ("threat", np.float64, (NUMBERS + 1, NUM_COLOURS)),  # what each spell offers to the others
        ("best", np.float64, NUMBERS + 1),  # what `note_best` found
        # Of the hand that `hand_table` looks at.
        ("held", np.int64, NUM_COLOURS + 1),  # cards by front
        ("front_cost", np.float64, NUM_COLOURS + 1),  # of laying a card, besides its own worth
        ("colour_cost", np.float64, NUM_COLOURS),  # of laying a page for a colour; infinite without one
        ("left", np.float64, NUM_COLOURS + 1),  # most that laying a left page is worth, by colour
        ("right", np.float64, NUMBERS + 1),  # the same for a right page, by number
    ],
    align=True,
)
"""What is worked out for a decision. Numbers 1-6 have places 1-6."""


@compiled
def note_plan(r: np.void, s: np.void, plan: np.void) -> None:
    """Note all that a decision of the seat to decide rests on, its hand left out."""
    player = s["player"]
    note_unseen(s, plan)
    pieces = pieces_to_come(r, s)
    plan["to_come"] = min(1.0, max(LEAST_TO_COME, pieces / TO_COME))
    plan["enclosed"] = ENCLOSED * pieces / s["num_players"] if r["enclosed_columns_close"] else 0.0
    note_cards(r, plan)
    plan["threat"][:] = 0.0
    if s["step"] != PLAY_STEP:  # then the spell stands
        other = next_seat(s, player)
        while other != player:
            note_earned(r, s, plan, other)
            add_threat(s, plan, other, THREAT / (float(s["num_players"]) - 1.0))
            other = next_seat(s, other)
    note_earned(r, s, plan, player)


# -- what may come ---------------------------------------------------------------------------------


@compiled
def note_unseen(s: np.void, plan: np.void) -> None:
    """Note the cards that the seat to decide has not seen, and how often each page is among them."""
    unseen, numbers, colours = plan["unseen"], plan["number_chance"], plan["colour_chance"]
    for card in range(NUM_CARDS):
        unseen[card] = s["unseen"][card]
    for other in range(s["num_players"]):
        if other != s["player"]:
            for k in range(s["unknown"].shape[1]):
                if s["unknown"][other, k] >= 0:
                    unseen[s["unknown"][other, k]] += 1.0
    numbers[:] = 0.0
    colours[:] = 0.0
    for card in range(NUM_CARDS):
        if SIDE[card] == LEFT:
            numbers[BACK[card]] += unseen[card]
        else:
            colours[BACK[card]] += unseen[card]
    to_shares(numbers)
    to_shares(colours)


@compiled
def to_shares(counts: npt.NDArray[np.float64]) -> None:
    """Divide counts by their sum, in place; without any they stay 0."""
    total = 0.0
    for k in range(counts.size):
        total += counts[k]
    for k in range(counts.size):
        counts[k] /= max(total, 1.0)


@compiled
def pieces_to_come(r: np.void, s: np.void) -> float:
    """About how many amulet pieces all players together will still take, or turns if those are fewer."""
    amulets, begun = 0, 0
    for seat in range(s["num_players"]):
        amulets += num_amulets(s, seat)
        begun += num_pieces(s, seat) % PIECES_PER_AMULET
    left = int(r["amulets_to_end"][s["num_players"]]) - amulets
    turns = float(r["turn_limit"]) - float(s["turns"])
    return max(0.0, min(PIECES_PER_AMULET * left - 0.5 * begun, turns))


# -- what cards are worth --------------------------------------------------------------------------


@compiled
def note_cards(r: np.void, plan: np.void) -> None:
    """Note what each card is worth in hand and gains when it is played, and in which order to play."""
    to_come = plan["to_come"]
    for card in range(NUM_CARDS):
        points = float(r["card_value"][card]) if r["dragons_score"] else 0.0
        worth = LEFT_WORTH if SIDE[card] == LEFT else RIGHT_WORTH
        if card == DARK:
            worth = DARK_WORTH
        plan["worth"][card] = to_come * (worth + POINTS_IN_HAND * points)
        plan["gain"][card] = points - plan["worth"][card]
    plan["shape"][0] = 0.0
    for k in range(MOST_COUNTED):
        plan["shape"][k + 1] = plan["shape"][k] + to_come * SHAPE[min(k, SHAPE.size - 1)]
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
def shape_after(plan: np.void, held: int, played: int) -> float:
    """What playing some of the cards held of a colour changes in worth, besides that of each card."""
    shape = plan["shape"]
    return float(shape[min(held - played, MOST_COUNTED)] - shape[min(held, MOST_COUNTED)])


@compiled
def note_best(plan: np.void, hand: npt.NDArray[np.int8], colour: int, held: int, without: int) -> None:
    """Note in `best[n]` what the best n cards of the hand gain as a set of a colour, for every n.

    `held` is how many cards of the colour the hand holds, dark ones left out; `without` is a card type
    of which one copy is not there, or -1. NO_SET where there are too few.
    """
    best, order = plan["best"], plan["order"][colour]
    dark = int(hand[DARK]) - (without == DARK)
    if without >= 0 and without != DARK:
        held -= 1
    best[:] = NO_SET
    gained = 0.0
    place, used = 0, 0  # in the order; copies of the card there
    for coloured in range(min(held, NUMBERS) + 1):
        if coloured > 0:
            while used >= hand[order[place]] - (order[place] == without):
                place += 1
                used = 0
            used += 1
            gained += plan["gain"][order[place]]
        so_far = gained + shape_after(plan, held, coloured)
        for darks in range(min(dark, NUMBERS - coloured) + 1):
            n = coloured + darks
            best[n] = max(best[n], so_far + darks * plan["gain"][DARK])


# -- what sets earn --------------------------------------------------------------------------------


@compiled
def note_earned(r: np.void, s: np.void, plan: np.void, seat: int) -> None:
    """Note what each set would earn a seat besides its cards: its prize and its column."""
    pieces = piece_worths(r, s, seat)
    for c in range(NUM_COLOURS):
        plan["open"][c] = not column_is_closed(r, s, seat, c)
    for n in range(1, NUMBERS + 1):
        prize = prize_worth(r, s, plan, seat, n, pieces)
        for c in range(NUM_COLOURS):
            column = column_worth(r, s, plan, seat, c) if plan["open"][c] else NO_SET
            plan["earned"][n, c] = prize + column


@compiled
def prize_worth(
    r: np.void, s: np.void, plan: np.void, seat: int, number: int, pieces: tuple[float, float]
) -> float:
    """What the prize of a number is worth to a seat now; `pieces`: see `greedy.piece_worths`."""
    worth = 0.0
    if r["prize_piece"][number] == PIECE_LOWEST:
        worth = pieces[0]
    elif r["prize_piece"][number] == PIECE_HIGHEST:
        worth = pieces[1]
    crystals = min(int(r["prize_crystals"][number]), int(s["bank_crystals"]))
    worth += crystals * (float(r["crystal_points"]) + plan["to_come"] * CRYSTAL_WORTH)
    eggs = min(int(r["prize_golden_eggs"][number]), int(s["bank_eggs"]))
    if eggs > 0:
        worth += eggs * float(r["egg_points"]) + majority_worth(r, s, seat, eggs)
    dragons = min(int(r["prize_dark_dragons"][number]), int(s["bank_dark_dragons"]))
    return float(worth + dragons * plan["worth"][DARK])


@compiled
def majority_worth(r: np.void, s: np.void, seat: int, eggs: int) -> float:
    """What taking some eggs is worth in the race for most, the loss of the others included."""
    stake = float(r["egg_majority_points"]) - float(r["egg_points"])
    most = 0  # of another player
    for other in range(s["num_players"]):
        if other != seat:
            most = max(most, int(s["eggs"][other]))
    lead, left = int(s["eggs"][seat]) - most, int(s["bank_eggs"])
    own = chance_of_most(lead + eggs, left - eggs) - chance_of_most(lead, left)
    others = chance_of_most(-lead, left) - chance_of_most(-lead - eggs, left - eggs)
    return stake * (own + others / (float(s["num_players"]) - 1.0))


@compiled
def chance_of_most(lead: int, left: int) -> float:
    """How likely a lead of so many eggs, with so many left, is enough to have most at the end."""
    spread = EGG_SPREAD * np.sqrt(left + 0.1)
    return float(1.0 / (1.0 + np.exp(-(lead + EGG_TIE) / spread)))


@compiled
def column_worth(r: np.void, s: np.void, plan: np.void, seat: int, colour: int) -> float:
    """What starting the column of a colour is worth to a seat on the way to a crest."""
    if s["column_cards"][seat, colour] > 0:
        return 0.0
    columns, given = num_columns(s, seat), int(s["crests_given"])
    enclosed = float(plan["enclosed"]) if columns >= 2 else 0.0  # by the third and the fourth
    if given >= r["crests"]:
        return -enclosed
    crest = float(r["crest_points"][given])
    before = plan["to_come"] * COLUMN_SHARES[columns]
    if columns < NUM_COLOURS - 1:
        return float(crest * (plan["to_come"] * COLUMN_SHARES[columns + 1] - before) - enclosed)
    following = float(r["crest_points"][given + 1]) if given + 1 < r["crests"] else 0.0
    denied = CREST_DENIED * (crest - following) / (float(s["num_players"]) - 1.0)
    return float(crest * (1.0 - before) + denied - enclosed)


@compiled
def add_threat(s: np.void, plan: np.void, seat: int, weight: float) -> None:
    """Add what each spell offers to another player; `earned` and `open` must be that player's."""
    hand = s["hand"][seat].copy()
    unknown = 0
    for k in range(s["unknown"].shape[1]):
        if s["unknown"][seat, k] >= 0:
            hand[s["unknown"][seat, k]] -= 1
            unknown += 1
    for c in range(NUM_COLOURS):
        if not plan["open"][c]:
            continue
        held = 0
        for k in range(COLOURED):
            held += int(hand[SET_CARDS[c, k]])
        note_best(plan, hand, c, held, -1)
        known = min(held + int(hand[DARK]), NUMBERS)
        for n in range(1, min(known + unknown, NUMBERS) + 1):
            offer = plan["earned"][n, c] + plan["best"][min(n, known)]
            plan["threat"][n, c] += weight * chance_of_fitting(n - known, unknown) * max(offer, 0.0)


@compiled
def chance_of_fitting(needed: int, unknown: int) -> float:
    """How likely at least `needed` of some unknown cards are of one colour, each 1 in 4."""
    fits = 1.0 / NUM_COLOURS
    total = 0.0
    ways = 1.0
    for k in range(unknown + 1):
        if k >= needed:
            total += ways * fits**k * (1.0 - fits) ** (unknown - k)
        ways *= (unknown - k) / (k + 1)
    return total


# -- what a hand can do ----------------------------------------------------------------------------


@compiled
def hand_table(
    plan: np.void,
    hand: npt.NDArray[np.int8],
    may_lay_left: bool,
    may_lay_right: bool,
    may_lay_both: bool,
    table: npt.NDArray[np.float64],
) -> None:
    """Write what a hand is worth when taking ends into `table`, by number and colour of the spell.

    `table` has the shape (7, 5), float64; see NO_NUMBER and NO_COLOUR. A set played, a page laid and the
    cards that stay in hand are counted, and what the spell then offers to others.
    """
    held, left, right = plan["held"], plan["left"], plan["right"]
    in_hand = count_hand(plan, hand)
    note_costs(plan, hand, may_lay_right)
    left[:] = NO_SET
    right[:] = NO_SET
    both = NO_SET
    table[:] = 0.0
    for c in range(NUM_COLOURS):
        note_best(plan, hand, c, held[c], -1)
        for n in range(1, NUMBERS + 1):
            table[n, c] = worth_of_spell(plan, n, c)
            right[n] = max(right[n], table[n, c] - plan["colour_cost"][c])
        if may_lay_left:
            for k in range(LEFT_CARDS.size):
                card = LEFT_CARDS[k]
                if hand[card] > 0:
                    worth = worth_of_page(plan, hand, card, c, table[BACK[card], c])
                    left[c] = max(left[c], worth)
                    if may_lay_both:
                        both = max(both, worth - plan["colour_cost"][c])
    for n in range(NUMBERS + 1):
        for c in range(NUM_COLOURS + 1):
            table[n, c] = in_hand + max(max(table[n, c], both), max(left[c], right[n]))


@compiled
def count_hand(plan: np.void, hand: npt.NDArray[np.int8]) -> float:
    """Note how many cards of each front a hand holds; what it is worth if it stays as it is."""
    held = plan["held"]
    held[:] = 0
    in_hand = 0.0
    for card in range(NUM_CARDS):
        if hand[card] > 0:
            held[FRONT[card]] += hand[card]
            in_hand += hand[card] * plan["worth"][card]
    for c in range(NUM_COLOURS):
        if plan["open"][c]:
            in_hand += plan["shape"][min(held[c], MOST_COUNTED)]
    return in_hand


@compiled
def note_costs(plan: np.void, hand: npt.NDArray[np.int8], may_lay_right: bool) -> None:
    """Note what it costs to lay a card, by its front, and the cheapest page for each colour."""
    cost, colour_cost = plan["front_cost"], plan["colour_cost"]
    for f in range(NUM_COLOURS + 1):
        shaped = f < NUM_COLOURS and plan["open"][f] and plan["held"][f] > 0
        cost[f] = -shape_after(plan, plan["held"][f], 1) if shaped else 0.0
    colour_cost[:] = np.inf
    if may_lay_right:
        for k in range(RIGHT_CARDS.size):
            card = RIGHT_CARDS[k]
            if hand[card] > 0:
                c = BACK[card]
                colour_cost[c] = min(colour_cost[c], plan["worth"][card] + cost[FRONT[card]])


@compiled
def worth_of_page(
    plan: np.void, hand: npt.NDArray[np.int8], card: int, colour: int, without: float
) -> float:
    """What laying a left page is worth where the right one shows a colour.

    `without` is what the spell would be worth if it stood already: so it is, less what the card costs,
    unless the card could be one of the set too.
    """
    worth = without
    if card == DARK or FRONT[card] == colour:
        note_best(plan, hand, colour, plan["held"][colour], card)
        worth = worth_of_spell(plan, BACK[card], colour)
    return float(worth - plan["worth"][card] - plan["front_cost"][FRONT[card]])


@compiled
def worth_of_spell(plan: np.void, n: int, c: int) -> float:
    """What a spell is worth to a seat whose best sets are noted, if it stands: a set, or none."""
    return float(max(0.0, plan["earned"][n, c] + plan["best"][n]) - plan["threat"][n, c])
