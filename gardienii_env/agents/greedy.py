"""`greedy`: plays the best set it can, bends the spell to it, and takes cards towards it.

It looks at its own hand and at what lies open; pages that will be turned up it weighs by how often
they stand in the ruleset's decks. It does not remember, count cards, or think of its opponents.

A set of n cards of colour c is worth its prize and points, less what the cards spent are worth in
hand. For every n and c there are four ways to have the spell ask for it (`ways`): as it stands, or by
laying a page from the hand on the left, the right or both decks.

What it works out for a decision is kept in one record (`NOTES`), so that it need not be worked out
again for each card that it could take.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gardienii_env.agents.base import Agent
from gardienii_env.rules.actions import (
    COLUMN_LEFT,
    COLUMN_RIGHT,
    MODIFY,
    PASS,
    PLAY,
    SLOTS_PER_SIDE,
    TAKE,
)
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.bits import lowest_bit
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
    Masks,
    column_is_closed,
    may_modify,
    num_columns,
    num_pieces,
)
from gardienii_env.rules.jit import compiled, wide
from gardienii_env.rules.ruleset import PIECE_HIGHEST, PIECE_LOWEST
from gardienii_env.rules.state import COLUMN, MODIFY_STEP, TAKE_STEP, States, top_back

__all__ = ["GreedyAgent", "greedy_action"]

CARD_WORTH = 0.7  # points that a card in hand is worth
DARK_WORTH = 2.0  # the same for a dark dragon, which fits every set
CRYSTAL_WORTH = 0.7  # beyond its points: it buys a card
EGG_MAJORITY = 0.3  # share of the majority's points that an egg is worth
COLUMN_SHARE = 0.15  # share of the next crest's points that a first, second or third column is worth
FUTURE = 0.3  # share of what the hand could do with a random spell, for later turns

SET_SIZE = SET_CARDS.shape[1]
MOST_KEPT = NUMBERS + 1  # gains noted for a colour: a whole set, and one more if one is laid as a page
NOTHING = np.inf  # not the gain of any card
IMPOSSIBLE = -np.inf
NO_PAGE, SEVERAL = -1, -2

NOTES = np.dtype(
    [
        # The same for every hand.
        ("column", np.float64, NUM_COLOURS),  # worth of starting it; minus infinity where it is closed
        ("earned", np.float64, (NUMBERS + 1, NUM_COLOURS)),  # by a set: its prize and its column
        ("may_lay", np.int8, 2),  # on the left, on the right
        ("may_lay_both", np.int8),
        # What the hand holds.
        ("hand", np.int8, NUM_CARDS),  # count by card type
        ("held", np.int64),  # the set of the card types in it
        ("left_page", np.int8, NUMBERS + 1),  # the card to lay for a number, NO_PAGE or SEVERAL
        ("right_page", np.int8, NUM_COLOURS),  # 1 where there is a card to lay for the colour
        ("kept", np.int8, NUM_COLOURS),  # how many gains are in `best`
        ("best", np.float64, (NUM_COLOURS, MOST_KEPT)),  # gains of the cards that fit a set, best first
        # What it can do.
        ("gains", np.float64, (NUMBERS + 1, NUM_COLOURS)),  # of the best n cards; IMPOSSIBLE
        ("lay_left", np.float64, NUM_COLOURS),  # the most that laying a left page is worth; 0 if none is
        ("lay_right", np.float64, NUMBERS + 1),  # the same for a right page
        ("lay_both", np.float64),
    ],
    align=True,
)
"""What is worked out for a decision. Numbers 1-6 have places 1-6; place 0 is not used."""


class GreedyAgent(Agent):
    """See the module. It is deterministic: the generators are not used."""

    name = "greedy"

    def act(
        self, batch: Batch, games: npt.NDArray[np.int64], streams: npt.NDArray[np.void]
    ) -> npt.NDArray[np.int64]:
        """See `Agent.act`."""
        actions = np.empty(games.size, np.int64)
        greedy_actions(batch.rules, batch.states, batch.masks, games, actions)
        return actions


@compiled
def greedy_actions(
    rules: npt.NDArray[np.void],
    states: States,
    masks: Masks,
    games: npt.NDArray[np.int64],
    actions: npt.NDArray[np.int64],
) -> None:
    """The greedy action for each of `games`, into `actions`."""
    for k in range(games.size):
        actions[k] = greedy_action(rules, states, masks, games[k])


@compiled
def greedy_action(rules: npt.NDArray[np.void], states: States, masks: Masks, i: int) -> int:
    """The greedy action for the seat that decides in game i."""
    r, s, mask = rules[0], states[i], masks[i]
    step = s["step"]
    if step == COLUMN:
        return choose_end(s)
    if step == TAKE_STEP:
        return choose_take(r, s, mask, np.empty(2, NOTES))
    if step == MODIFY_STEP:
        return choose_page(r, s, np.empty(1, NOTES))
    return choose_card(r, s, mask)


# -- what a set earns ------------------------------------------------------------------------------


@compiled
def worth_in_hand(card: int) -> float:
    """Points that a card is worth while it is in hand."""
    return DARK_WORTH if card == DARK else CARD_WORTH


@compiled
def gain(r: np.void, card: int) -> float:
    """What playing a card earns by itself, less what it was worth in hand."""
    points = float(r["card_value"][card]) if r["dragons_score"] else 0.0
    return points - worth_in_hand(card)


@compiled
def pearl_worth(r: np.void) -> float:
    """The mean of the pearls' points."""
    total = 0.0
    for k in range(r["pearls"]):
        total += r["pearl_points"][k]
    return total / max(int(r["pearls"]), 1)


@compiled
def piece_worths(r: np.void, s: np.void, player: int) -> tuple[float, float]:
    """What the lowest and the highest amulet piece left are worth, with their share of a pearl."""
    lowest, highest = -1, -1
    for k in range(r["piece_values"]):
        if s["bank_pieces"][k] > 0:
            highest = k
            if lowest < 0:
                lowest = k
    if highest < 0:
        return 0.0, 0.0
    pearl = pearl_worth(r)
    if (num_pieces(s, player) + 1) % PIECES_PER_AMULET != 0:
        pearl /= PIECES_PER_AMULET
    return r["piece_points"][lowest] + pearl, r["piece_points"][highest] + pearl


@compiled
def prize_worth(r: np.void, s: np.void, number: int, pieces: tuple[float, float]) -> float:
    """What the prize of a number is worth now; `pieces` are worth what `piece_worths` says."""
    worth = 0.0
    if r["prize_piece"][number] == PIECE_LOWEST:
        worth = pieces[0]
    elif r["prize_piece"][number] == PIECE_HIGHEST:
        worth = pieces[1]
    crystals = min(int(r["prize_crystals"][number]), int(s["bank_crystals"]))
    worth += crystals * (float(r["crystal_points"]) + CRYSTAL_WORTH)
    eggs = min(int(r["prize_golden_eggs"][number]), int(s["bank_eggs"]))
    majority = float(r["egg_majority_points"]) - float(r["egg_points"])
    worth += eggs * (float(r["egg_points"]) + EGG_MAJORITY * majority)
    dragons = min(int(r["prize_dark_dragons"][number]), int(s["bank_dark_dragons"]))
    return worth + dragons * DARK_WORTH


@compiled
def column_worth(r: np.void, s: np.void, player: int, colour: int) -> float:
    """What starting the column of a colour is worth on the way to a crest."""
    if s["column_cards"][player, colour] > 0 or s["crests_given"] >= r["crests"]:
        return 0.0
    crest = float(r["crest_points"][s["crests_given"]])
    return crest if num_columns(s, player) == NUM_COLOURS - 1 else COLUMN_SHARE * crest


# -- the best cards for a set ----------------------------------------------------------------------


@compiled
def keep(best: npt.NDArray[np.float64], kept: int, new: float) -> int:
    """Put a gain in its place among the best, the best first; how many of them there are then."""
    if kept == MOST_KEPT:
        if new <= best[kept - 1]:
            return kept
        kept -= 1
    place = kept
    while place > 0 and best[place - 1] < new:
        best[place] = best[place - 1]
        place -= 1
    best[place] = new
    return kept + 1


@compiled
def gain_of_set(best: npt.NDArray[np.float64], kept: int, n: int, lost: float) -> float:
    """What the best n cards gain; IMPOSSIBLE if there are too few.

    `lost` is the gain of a card that is no longer there; NOTHING if all are.
    """
    total = 0.0
    place = 0
    for _ in range(n):
        if place < kept and best[place] == lost:
            place += 1
            lost = NOTHING
        if place == kept:
            return IMPOSSIBLE
        total += best[place]
        place += 1
    return total


# -- notes of what a hand can do -------------------------------------------------------------------


@compiled
def note_all(r: np.void, s: np.void, notes: np.void) -> None:
    """Note what sets earn, and the hand of the seat that decides."""
    note_earned(r, s, notes)
    notes["may_lay"][LEFT] = may_modify(r, s, LEFT)
    notes["may_lay"][RIGHT] = may_modify(r, s, RIGHT)
    notes["may_lay_both"] = r["modifications_per_turn"] >= 2
    notes["hand"][:] = 0
    notes["held"] = 0
    notes["left_page"][:] = NO_PAGE
    notes["right_page"][:] = 0
    notes["kept"][:] = 0
    player = s["player"]
    held = 0
    for card in range(NUM_CARDS):
        held |= int(s["hand"][player, card] > 0) << card
    while held:
        card = lowest_bit(held)
        note_cards(r, notes, card, s["hand"][player, card])
        held &= held - 1


@compiled
def note_earned(r: np.void, s: np.void, notes: np.void) -> None:
    """Note what each set earns, whatever cards it is made of."""
    player = s["player"]
    for c in range(NUM_COLOURS):
        closed = column_is_closed(r, s, player, c)
        notes["column"][c] = -np.inf if closed else column_worth(r, s, player, c)
    pieces = piece_worths(r, s, player)
    for n in range(1, NUMBERS + 1):
        prize = prize_worth(r, s, n, pieces)
        for c in range(NUM_COLOURS):
            notes["earned"][n, c] = prize + notes["column"][c]


@compiled
def note_cards(r: np.void, notes: np.void, card: int, count: int) -> None:
    """Note that the hand holds so many cards of a type more."""
    notes["hand"][card] += count
    notes["held"] |= 1 << wide(card)
    by_itself = gain(r, card)
    first, last = (0, NUM_COLOURS) if card == DARK else (FRONT[card], FRONT[card] + 1)
    for c in range(first, last):
        for _ in range(min(count, MOST_KEPT)):
            notes["kept"][c] = keep(notes["best"][c], notes["kept"][c], by_itself)
    back = BACK[card]
    if not notes["may_lay"][SIDE[card]]:
        return
    if SIDE[card] == RIGHT:
        notes["right_page"][back] = 1
    elif notes["left_page"][back] == NO_PAGE:
        notes["left_page"][back] = card
    elif notes["left_page"][back] != card:
        notes["left_page"][back] = SEVERAL


@compiled
def note_gains(notes: np.void) -> None:
    """Note what the best n cards of each colour gain, for every n."""
    for c in range(NUM_COLOURS):
        total = 0.0
        for n in range(1, NUMBERS + 1):
            if n <= notes["kept"][c]:
                total += notes["best"][c, n - 1]
                notes["gains"][n, c] = total
            else:
                notes["gains"][n, c] = IMPOSSIBLE


@compiled
def note_pages(r: np.void, notes: np.void) -> None:
    """Note the most that laying pages is worth, where the other page of the spell stands."""
    notes["lay_left"][:] = 0.0
    notes["lay_right"][:] = 0.0
    notes["lay_both"] = 0.0
    for c in range(NUM_COLOURS):
        for n in range(1, min(notes["kept"][c], NUMBERS) + 1):
            _, left, right, both = ways(r, notes, n, c)
            notes["lay_left"][c] = max(notes["lay_left"][c], left)
            notes["lay_right"][n] = max(notes["lay_right"][n], right)
            notes["lay_both"] = max(notes["lay_both"], both)


@compiled
def ways(r: np.void, notes: np.void, n: int, c: int) -> tuple[float, float, float, float]:
    """What a set is worth as the spell stands, and once a left page, a right one or both are laid.

    The page laid for a number is one that is no dragon of the set, where there is such a one. The page
    laid for a colour never is: no card has the same colour on both sides.
    """
    earned, gained = notes["earned"][n, c], notes["gains"][n, c]
    as_it_stands = earned + gained
    left, right, both = IMPOSSIBLE, IMPOSSIBLE, IMPOSSIBLE
    if notes["right_page"][c]:
        right = earned + (gained - CARD_WORTH)
    page = notes["left_page"][n]
    if page != NO_PAGE and gained > IMPOSSIBLE:
        cost = worth_in_hand(page)
        if page != SEVERAL and (FRONT[page] == c or page == DARK):
            gained = gain_of_set(notes["best"][c], notes["kept"][c], n, gain(r, page))
        left = earned + (gained - cost)
        if notes["right_page"][c] and notes["may_lay_both"]:
            both = earned + (gained - (cost + CARD_WORTH))
    return as_it_stands, left, right, both


@compiled
def expected_worth(r: np.void, notes: np.void, number: int, colour: int) -> float:
    """What the best set is worth when the decks show a number and a colour; -1: not known."""
    total = 0.0
    for n in range(1, NUMBERS + 1):
        if number >= 0 and n != number:
            continue
        n_chance = 1.0 if number >= 0 else r["number_share"][n]
        lay_right = max(notes["lay_both"], notes["lay_right"][n])
        for c in range(NUM_COLOURS):
            if colour >= 0 and c != colour:
                continue
            c_chance = 1.0 if colour >= 0 else r["colour_share"][c]
            as_it_stands = notes["earned"][n, c] + notes["gains"][n, c]
            best = max(lay_right, notes["lay_left"][c], as_it_stands)
            total += n_chance * c_chance * best
    return total


# -- the decisions ---------------------------------------------------------------------------------


@compiled
def outlook(r: np.void, notes: np.void, number: int, colour: int) -> float:
    """What the hand is worth with the decks showing a number and a colour; -1: not known yet."""
    note_gains(notes)
    note_pages(r, notes)
    total = expected_worth(r, notes, number, colour) + FUTURE * expected_worth(r, notes, -1, -1)
    held = notes["held"]
    while held:
        card = lowest_bit(held)
        total += notes["hand"][card] * worth_in_hand(card)
        held &= held - 1
    return total


@compiled
def choose_take(r: np.void, s: np.void, mask: npt.NDArray[np.int8], notes: npt.NDArray[np.void]) -> int:
    """The slot whose card promises most, or to stop where the spell is best as it is.

    `notes` has room for those of the hand as it is, and with one card more.
    """
    note_all(r, s, notes[0])
    number, colour = top_back(s, LEFT), top_back(s, RIGHT)
    best_action = -1
    best = 0.0
    if mask[PASS]:
        best_action = PASS
        best = outlook(r, notes[0], number, colour)
    price = CRYSTAL_WORTH + float(r["crystal_points"]) if s["taken"] >= r["take_limit"] else 0.0
    for slot in range(2 * SLOTS_PER_SIDE):
        if not mask[TAKE + slot]:
            continue
        side = slot // SLOTS_PER_SIDE
        notes[1] = notes[0]
        note_cards(r, notes[1], s["supply"][side, slot % SLOTS_PER_SIDE], 1)
        after = outlook(r, notes[1], -1 if side == LEFT else number, -1 if side == RIGHT else colour)
        if best_action < 0 or after - price > best:
            best_action = TAKE + slot
            best = after - price
    return best_action


@compiled
def choose_page(r: np.void, s: np.void, room: npt.NDArray[np.void]) -> int:
    """The page that makes the best set possible, or none where the spell is best as it stands.

    `room` is for the notes.
    """
    notes = room[0]
    note_all(r, s, notes)
    note_gains(notes)
    hand = s["hand"][s["player"]]
    number, colour = top_back(s, LEFT), top_back(s, RIGHT)
    best = 0.0
    side, back, fits = NO_PAGE, NO_PAGE, NO_PAGE
    for n in range(1, NUMBERS + 1):
        for c in range(NUM_COLOURS):
            if n > notes["kept"][c]:
                continue
            as_it_stands, left, right, both = ways(r, notes, n, c)
            if n == number and c == colour and as_it_stands > best:
                best, side = as_it_stands, NO_PAGE
            if n == number and right > best:
                best, side, back, fits = right, RIGHT, c, c
            if c == colour and left > best:
                best, side, back, fits = left, LEFT, n, c
            if both > best:
                best, side, back, fits = both, LEFT, n, c
    return PASS if side == NO_PAGE else MODIFY + page_to_lay(hand, side, back, fits)


@compiled
def page_to_lay(hand: npt.NDArray[np.int8], side: int, back: int, colour: int) -> int:
    """The card with that back that a set of a colour can best spare; -1 if there is none."""
    page = -1
    for card in range(NUM_CARDS):
        fits = hand[card] > 0 and SIDE[card] == side and BACK[card] == back
        if fits and (page < 0 or FRONT[page] == colour):
            page = card
    return page


@compiled
def choose_card(r: np.void, s: np.void, mask: npt.NDArray[np.int8]) -> int:
    """The lowest card of the best set that the spell asks for, or nothing where it is not worth it."""
    player = s["player"]
    number, colour = top_back(s, LEFT), top_back(s, RIGHT)
    others = number - int(s["opened"]) - 1
    gains = np.empty(MOST_KEPT)  # of the cards from a type upwards, best first
    kept = 0
    best = IMPOSSIBLE
    action = PASS
    for k in range(SET_SIZE - 1, -1, -1):
        card = SET_CARDS[colour, k]
        held = min(int(s["hand"][player, card]), MOST_KEPT)
        by_itself = gain(r, card)
        for _ in range(held - 1):
            kept = keep(gains, kept, by_itself)
        if mask[PLAY + card]:
            after = by_itself + gain_of_set(gains, kept, others, NOTHING)
            if after >= best:
                best, action = after, PLAY + card
        if held > 0:
            kept = keep(gains, kept, by_itself)
    if mask[PASS]:
        prize = prize_worth(r, s, number, piece_worths(r, s, player))
        prize += column_worth(r, s, player, colour)
        if prize + gain_of_set(gains, kept, number, NOTHING) <= 0:
            return PASS
    return action


@compiled
def choose_end(s: np.void) -> int:
    """The end that encloses the column for which the hand holds fewer cards."""
    player = s["player"]
    last = num_columns(s, player) - 1
    left, right = 0, 0
    for k in range(SET_SIZE):
        left += s["hand"][player, SET_CARDS[s["column"][player, 0], k]]
        right += s["hand"][player, SET_CARDS[s["column"][player, last], k]]
    return COLUMN_LEFT if left < right else COLUMN_RIGHT
