"""`greedy`: plays the best set it can, bends the spell to it, and takes cards towards it.

It looks at its own hand and at what lies open; pages that will be turned up it weighs by how often
they stand in the ruleset's decks. It does not remember, count cards, or think of its opponents.

A set of n cards of colour c is worth its prize and points, less what the cards spent are worth in
hand. For every n and c there are four ways to have the spell ask for it (`WAYS`): as it stands, or by
laying a page from the hand on the left, the right or both decks.
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
from gardienii_env.rules.jit import compiled
from gardienii_env.rules.ruleset import PIECE_HIGHEST, PIECE_LOWEST
from gardienii_env.rules.state import COLUMN, MODIFY_STEP, TAKE_STEP, States, top_back

__all__ = ["GreedyAgent", "greedy_action"]

CARD_WORTH = 0.7  # points that a card in hand is worth
DARK_WORTH = 2.0  # the same for a dark dragon, which fits every set
CRYSTAL_WORTH = 0.7  # beyond its points: it buys a card
EGG_MAJORITY = 0.3  # share of the majority's points that an egg is worth
COLUMN_SHARE = 0.15  # share of the next crest's points that a first, second or third column is worth
FUTURE = 0.3  # share of what the hand could do with a random spell, for later turns

AS_IT_STANDS, LAY_LEFT, LAY_RIGHT, LAY_BOTH = range(4)
WAYS = 4
SET_SIZE = SET_CARDS.shape[1]
IMPOSSIBLE = -1000.0


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
        return choose_take(r, s, mask)
    if step == MODIFY_STEP:
        return choose_page(r, s)
    return choose_card(r, s, mask)


# -- what a set is worth ---------------------------------------------------------------------------


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
def prize_worth(r: np.void, s: np.void, player: int, number: int) -> float:
    """What the prize of a number is worth to the player now."""
    worth = 0.0
    value = -1
    for k in range(r["piece_values"]):
        lowest = r["prize_piece"][number] == PIECE_LOWEST and value < 0
        if s["bank_pieces"][k] > 0 and (lowest or r["prize_piece"][number] == PIECE_HIGHEST):
            value = k
    if value >= 0:
        pearl = r["pearl_points"].sum() / max(int(r["pearls"]), 1)
        completes = (num_pieces(s, player) + 1) % PIECES_PER_AMULET == 0
        worth += r["piece_points"][value] + (pearl if completes else pearl / PIECES_PER_AMULET)
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


@compiled
def set_gains(
    r: np.void, hand: npt.NDArray[np.int64], colour: int, lowest: int
) -> npt.NDArray[np.float64]:
    """What the best n cards for a set gain, by n: shape (7,), float64; IMPOSSIBLE if there are too few.

    Only cards of types from `lowest` up are used.
    """
    gains = np.full(NUMBERS + 1, IMPOSSIBLE)
    gains[0] = 0.0
    spent = np.zeros(SET_SIZE, np.int64)
    for n in range(1, NUMBERS + 1):
        best = -1
        most = 0.0
        for k in range(SET_SIZE):
            card = SET_CARDS[colour, k]
            if card >= lowest and hand[card] > spent[k]:
                by_itself = gain(r, card)
                if best < 0 or by_itself > most:
                    best, most = k, by_itself
        if best < 0:
            break
        spent[best] += 1
        gains[n] = gains[n - 1] + most
    return gains


@compiled
def page_to_lay(hand: npt.NDArray[np.int64], side: int, back: int, colour: int) -> int:
    """The card with that back that a set of a colour can best spare; -1 if there is none."""
    best = -1
    least = 0.0
    for card in range(NUM_CARDS):
        if hand[card] > 0 and SIDE[card] == side and BACK[card] == back:
            loss = worth_in_hand(card) + (1.0 if FRONT[card] == colour else 0.0)
            if best < 0 or loss < least:
                best, least = card, loss
    return best


@compiled
def worth_of_sets(r: np.void, s: np.void, hand: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """What each set is worth: shape (ways, numbers, colours), float64; IMPOSSIBLE where it is."""
    player = s["player"]
    worth = np.full((WAYS, NUMBERS, NUM_COLOURS), IMPOSSIBLE)
    prizes = np.empty(NUMBERS)
    for n in range(NUMBERS):
        prizes[n] = prize_worth(r, s, player, n + 1)
    may_lay_left = may_modify(r, s, LEFT)
    may_lay_right = may_modify(r, s, RIGHT)
    may_lay_both = may_lay_left and may_lay_right and r["modifications_per_turn"] >= 2
    for colour in range(NUM_COLOURS):
        if column_is_closed(r, s, player, colour):
            continue
        column = column_worth(r, s, player, colour)
        gains = set_gains(r, hand, colour, 0)
        right_page = page_to_lay(hand, RIGHT, colour, colour) if may_lay_right else -1
        right_gains = gains_without(r, hand, colour, right_page, -1, gains)
        for n in range(NUMBERS):
            base = prizes[n] + column
            worth[AS_IT_STANDS, n, colour] = base + gains[n + 1]
            if right_page >= 0:
                worth[LAY_RIGHT, n, colour] = base + right_gains[n + 1]
            left_page = page_to_lay(hand, LEFT, n + 1, colour) if may_lay_left else -1
            if left_page >= 0 and gains[n + 1] > IMPOSSIBLE:
                left_gains = gains_without(r, hand, colour, left_page, -1, gains)
                worth[LAY_LEFT, n, colour] = base + left_gains[n + 1]
                if right_page >= 0 and may_lay_both:
                    both_gains = gains_without(r, hand, colour, left_page, right_page, gains)
                    worth[LAY_BOTH, n, colour] = base + both_gains[n + 1]
    return worth


@compiled
def gains_without(
    r: np.void,
    hand: npt.NDArray[np.int64],
    colour: int,
    page: int,
    other: int,
    gains: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """`gains` of a hand once one or two pages have been laid from it; -1 stands for none."""
    in_set = False
    cost = 0.0
    for card in (page, other):
        if card >= 0:
            cost += worth_in_hand(card)
            in_set = in_set or FRONT[card] == colour or card == DARK
            hand[card] -= 1
    left = set_gains(r, hand, colour, 0) if in_set else gains
    for card in (page, other):
        if card >= 0:
            hand[card] += 1
    return left - cost


@compiled
def expected_worth(r: np.void, worth: npt.NDArray[np.float64], number: int, colour: int) -> float:
    """What the best set is worth when the decks show a number and a colour; -1: not known."""
    total = 0.0
    lay_both = max(0.0, worth[LAY_BOTH].max())
    for n in range(NUMBERS):
        n_chance = page_chance(r["left_deck"], n + 1) if number < 0 else 1.0 * (n + 1 == number)
        if n_chance == 0.0:
            continue
        lay_right = max(lay_both, worth[LAY_RIGHT, n].max())
        for c in range(NUM_COLOURS):
            c_chance = page_chance(r["right_deck"], c) if colour < 0 else 1.0 * (c == colour)
            if c_chance > 0.0:
                best = max(lay_right, worth[LAY_LEFT, :, c].max(), worth[AS_IT_STANDS, n, c])
                total += n_chance * c_chance * best
    return total


@compiled
def page_chance(deck: npt.NDArray[np.int16], back: int) -> float:
    """The share of a ruleset's deck that shows this back."""
    same = 0
    total = 0
    for card in range(NUM_CARDS):
        total += deck[card]
        if BACK[card] == back:
            same += deck[card]
    return same / max(total, 1)


# -- the decisions ---------------------------------------------------------------------------------


@compiled
def hand_of(s: np.void) -> npt.NDArray[np.int64]:
    """The hand of the seat that decides."""
    hand: npt.NDArray[np.int64] = s["hand"][s["player"]].astype(np.int64)
    return hand


@compiled
def outlook(r: np.void, s: np.void, hand: npt.NDArray[np.int64], number: int, colour: int) -> float:
    """What a hand is worth with the decks showing a number and a colour; -1: not known yet."""
    worth = worth_of_sets(r, s, hand)
    total = expected_worth(r, worth, number, colour) + FUTURE * expected_worth(r, worth, -1, -1)
    for card in range(NUM_CARDS):
        total += hand[card] * worth_in_hand(card)
    return total


@compiled
def choose_take(r: np.void, s: np.void, mask: npt.NDArray[np.int8]) -> int:
    """The slot whose card promises most, or to stop where the spell is best as it is."""
    hand = hand_of(s)
    number, colour = top_back(s, LEFT), top_back(s, RIGHT)
    best_action = -1
    best = 0.0
    if mask[PASS]:
        best_action = PASS
        best = outlook(r, s, hand, number, colour)
    price = CRYSTAL_WORTH + float(r["crystal_points"]) if s["taken"] >= r["take_limit"] else 0.0
    for slot in range(2 * SLOTS_PER_SIDE):
        if not mask[TAKE + slot]:
            continue
        side = slot // SLOTS_PER_SIDE
        card = s["supply"][side, slot % SLOTS_PER_SIDE]
        hand[card] += 1
        after = outlook(r, s, hand, -1 if side == LEFT else number, -1 if side == RIGHT else colour)
        hand[card] -= 1
        if best_action < 0 or after - price > best:
            best_action = TAKE + slot
            best = after - price
    return best_action


@compiled
def choose_page(r: np.void, s: np.void) -> int:
    """The page that makes the best set possible, or none where the spell is best as it stands."""
    hand = hand_of(s)
    worth = worth_of_sets(r, s, hand)
    number, colour = top_back(s, LEFT), top_back(s, RIGHT)
    best = 0.0
    action = PASS
    for n in range(1, NUMBERS + 1):
        for c in range(NUM_COLOURS):
            if n == number and c == colour and worth[AS_IT_STANDS, n - 1, c] > best:
                best, action = worth[AS_IT_STANDS, n - 1, c], PASS
            if n == number and worth[LAY_RIGHT, n - 1, c] > best:
                best = worth[LAY_RIGHT, n - 1, c]
                action = MODIFY + page_to_lay(hand, RIGHT, c, c)
            if c == colour and worth[LAY_LEFT, n - 1, c] > best:
                best = worth[LAY_LEFT, n - 1, c]
                action = MODIFY + page_to_lay(hand, LEFT, n, c)
            if worth[LAY_BOTH, n - 1, c] > best:
                best = worth[LAY_BOTH, n - 1, c]
                action = MODIFY + page_to_lay(hand, LEFT, n, c)
    return action


@compiled
def choose_card(r: np.void, s: np.void, mask: npt.NDArray[np.int8]) -> int:
    """The lowest card of the best set that the spell asks for, or nothing where it is not worth it."""
    player = s["player"]
    hand = hand_of(s)
    number, colour = top_back(s, LEFT), top_back(s, RIGHT)
    if mask[PASS]:
        prize = prize_worth(r, s, player, number) + column_worth(r, s, player, colour)
        if prize + set_gains(r, hand, colour, 0)[number] <= 0:
            return PASS
    best = IMPOSSIBLE
    action = PASS
    needed = number - int(s["opened"])
    for card in range(NUM_CARDS):
        if mask[PLAY + card]:
            hand[card] -= 1
            after = gain(r, card) + set_gains(r, hand, colour, card)[needed - 1]
            hand[card] += 1
            if after > best:
                best, action = after, PLAY + card
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
