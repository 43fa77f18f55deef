"""The rules of play, compiled. Read it beside `docs/rules.md`: sections and names are the same.

All functions work on one game: a record `s` of `STATE` under a ruleset record `r` of `RULES`. `deal`,
`start`, `apply` and `write_mask` take arrays and an index, which is how they are called from Python:
`states[i]` is the game. After each of the first three a seat has at least two legal actions, or the
game is over: a decision with a single legal action has been made. What is legal is kept in the state
as a bit set (field `legal`, see `action_at`).

What is not here: names of actions (`actions`), what a seat may see (`observation`), chance other
than the deal (`hidden`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gardienii_env.rules.actions import (
    COLUMN_LEFT,
    MODIFY,
    NUM_ACTIONS,
    PASS,
    PLAY,
    SLOTS_PER_SIDE,
    TAKE,
)
from gardienii_env.rules.bits import lowest_bit
from gardienii_env.rules.cards import (
    DARK,
    LEFT,
    NUM_CARDS,
    NUM_COLOURS,
    RIGHT,
    SET_CARDS,
    SIDE,
)
from gardienii_env.rules.jit import compiled, index, inlined
from gardienii_env.rules.random import shuffle
from gardienii_env.rules.ruleset import MAX_CARDS, PIECE_HIGHEST, PIECE_LOWEST
from gardienii_env.rules.state import (
    COLUMN,
    END_AMULETS,
    END_SUPPLY,
    END_TURN_LIMIT,
    MODIFY_STEP,
    OVER,
    PLAY_STEP,
    TAKE_STEP,
    States,
    column_place,
    deck_place,
    spell_is_complete,
    top_back,
)

__all__ = [
    "Masks",
    "action_at",
    "apply",
    "bit_of",
    "deal",
    "is_legal",
    "num_amulets",
    "start",
    "write_mask",
]

Masks = npt.NDArray[np.int8]
"""Legal actions of a batch: shape (games, 73), int8, 1 where legal."""

PIECES_PER_AMULET = 3
SET_SIZE = SET_CARDS.shape[1]

# Bits of what a step offers: see `action_at`.
PASS_BIT = 1
CARD_BIT = 2
BOTH_ENDS = 3
LEGAL_BITS = 63  # in a state
ON_RIGHT = sum(CARD_BIT << card for card in range(NUM_CARDS) if SIDE[card] == RIGHT)
FIRST_ACTION = np.array([TAKE, MODIFY - 1, PLAY - 1, COLUMN_LEFT, 0])
"""The action of the lowest bit, by step."""

# -- set-up ----------------------------------------------------------------------------------------


@compiled
def deal(rules: npt.NDArray[np.void], states: States, i: int, players: int) -> None:
    """Set up game i for a number of players with the generator in its state, and begin.

    All chance of the game is here: the shuffles are drawn in the order in which they are written.
    The generator moves on, so that dealing again gives the next game.
    """
    r, s = rules[0], states[i]
    clear(s, players)
    cards = np.empty(MAX_CARDS, np.int8)
    for side in range(2):
        size = pile(r["left_deck"] if side == LEFT else r["right_deck"], cards)
        shuffle(s, cards, size)
        for height in range(size):
            s["deck"][deck_place(side, height)] = cards[height]
        s["deck_size"][side] = size
    for side in range(2):
        for place in range(r["supply_per_deck"]):
            s["supply"][side, place] = draw_card(s, side)

    size = pile(r["starting_cards"], cards)
    shuffle(s, cards, size)
    for seat in range(players):
        for _ in range(seat):
            size -= 1
            deal_starting_card(s, seat, cards[size])

    pieces = 0
    for value in range(r["piece_values"]):
        for _ in range(r["piece_count"][value]):
            cards[pieces] = value
            pieces += 1
    shuffle(s, cards, pieces)
    for k in range(pieces - r["pieces_removed"][players]):
        s["bank_pieces"][cards[k]] += 1

    for k in range(r["pearls"]):
        cards[k] = k
    shuffle(s, cards, r["pearls"])
    for k in range(r["pearls"]):
        s["pearls"][k] = r["pearl_points"][cards[k]]

    start(rules, states, i)


@compiled
def start(rules: npt.NDArray[np.void], states: States, i: int) -> None:
    """Lay out what is open and begin the first turn, once decks, hands, pieces and pearls are dealt."""
    r, s = rules[0], states[i]
    s["bank_crystals"] = r["crystals"]
    s["bank_eggs"] = r["golden_eggs"]
    s["bank_dark_dragons"] = r["dark_dragons"]
    for card in range(NUM_CARDS):
        s["unseen"][card] = r["left_deck"][card] + r["right_deck"][card] + r["starting_cards"][card]
    for side in range(2):
        for place in range(SLOTS_PER_SIDE):
            if s["supply"][side, place] >= 0:
                s["unseen"][s["supply"][side, place]] -= 1
    for seat in range(s["num_players"]):
        for k in range(seat):
            s["unseen"][s["unknown"][seat, k]] -= 1
    begin_turn(r, s)
    settle(r, s)


@compiled
def clear(s: np.void, players: int) -> None:
    """An empty table for a number of players; the generator stays."""
    s["turns"] = 0
    s["end"] = 0
    s["dragon_points"][:] = 0
    s["pearls"][:] = 0
    s["num_players"] = players
    s["active"] = 0
    s["supply"][:] = -1
    s["deck"][:] = -1
    s["deck_size"][:] = 0
    s["deck_laid"][:] = 0
    s["hand"][:] = 0
    s["hand_size"][:] = 0
    s["unknown"][:] = -1
    s["column"][:] = -1
    s["column_cards"][:] = 0
    s["pieces"][:] = 0
    s["pearl_owner"][:] = -1
    s["num_pearls"][:] = 0
    s["crystals"][:] = 0
    s["eggs"][:] = 0
    s["crest"][:] = -1
    s["bank_pieces"][:] = 0
    s["crests_given"] = 0
    s["pearls_given"] = 0


@compiled
def pile(counts: npt.NDArray[Any], cards: npt.NDArray[np.int8]) -> int:
    """Write the cards counted by type into `cards`, in type order; how many they are."""
    size = 0
    for card in range(NUM_CARDS):
        for _ in range(counts[card]):
            cards[size] = card
            size += 1
    return size


@inlined
def deal_starting_card(s: np.void, seat: int, card: int) -> None:
    """Give a starting card: the others don't know which."""
    put_in_hand(s, seat, card)
    for k in range(s["unknown"].shape[1]):
        if s["unknown"][seat, k] < 0:
            s["unknown"][seat, k] = card
            return


# -- the decks -------------------------------------------------------------------------------------


@inlined
def draw_card(s: np.void, side: int) -> int:
    """Turn up the top card of a side's deck; -1 where the deck is empty."""
    if s["deck_size"][side] == 0:
        return -1
    s["deck_size"][side] -= 1
    place = deck_place(side, s["deck_size"][side])
    card = int(s["deck"][place])
    s["deck"][place] = -1
    laid = s["deck_laid"][side] > 0  # then everybody saw it
    s["deck_laid"][side] -= laid
    s["unseen"][card] -= not laid
    return card


@inlined
def put_in_hand(s: np.void, player: int, card: int) -> None:
    """A card comes into a hand."""
    s["hand"][player, card] += 1
    s["hand_size"][player] += 1


@inlined
def leave_hand(s: np.void, player: int, card: int) -> None:
    """A card leaves a hand, seen by all: one known to be there, or else one that was not."""
    s["hand"][player, card] -= 1
    s["hand_size"][player] -= 1
    unknown = 0
    where = -1
    for k in range(s["unknown"].shape[1]):
        if s["unknown"][player, k] == card:
            unknown += 1
            where = k
    if unknown > s["hand"][player, card]:
        s["unknown"][player, where] = -1


# -- step 1: take ----------------------------------------------------------------------------------


@inlined
def may_take(r: np.void, s: np.void) -> bool:
    """Up to the limit freely, beyond it while crystals may and can be paid."""
    if s["taken"] < r["take_limit"]:
        return True
    return bool(s["paid"] < r["crystals_per_turn"] and s["crystals"][s["player"]] > 0)


@inlined
def legal_takes(s: np.void) -> int:
    """The slots that hold a card, as the bit set that the step offers."""
    bits = 0
    for slot in range(2 * SLOTS_PER_SIDE):
        if s["supply"][slot // SLOTS_PER_SIDE, slot % SLOTS_PER_SIDE] >= 0:
            bits |= 1 << slot
    return bits


@inlined
def take(r: np.void, s: np.void, slot: int) -> None:
    """Take a card of the supply, paying beyond the limit; the slot is refilled at once."""
    player = s["player"]
    if s["taken"] >= r["take_limit"]:
        s["crystals"][player] -= 1
        s["bank_crystals"] += 1
        s["paid"] += 1
    side, place = slot // SLOTS_PER_SIDE, slot % SLOTS_PER_SIDE
    put_in_hand(s, player, s["supply"][side, place])
    s["taken"] += 1
    s["supply"][side, place] = draw_card(s, side)  # an empty deck leaves the slot empty for good


# -- step 2: modify --------------------------------------------------------------------------------


@inlined
def may_modify(r: np.void, s: np.void, side: int) -> bool:
    """At most one card a side, and no more than the ruleset allows in a turn."""
    laid = s["laid"][0] + s["laid"][1]
    return bool(laid < r["modifications_per_turn"] and s["laid"][side] == 0)


@inlined
def legal_modifications(r: np.void, s: np.void, player: int) -> int:
    """The cards of the hand that may be laid now, as the bit set that the step offers."""
    may_left, may_right = may_modify(r, s, LEFT), may_modify(r, s, RIGHT)
    bits = 0
    if may_left or may_right:
        for card in range(NUM_CARDS):
            if s["hand"][player, card] > 0:
                bits |= CARD_BIT << card
        if not may_left:
            bits &= ON_RIGHT
        if not may_right:
            bits &= ~ON_RIGHT
    return bits


@inlined
def modify(s: np.void, card: int) -> None:
    """Lay a card of the hand on the deck of its side: the spell changes."""
    side = int(SIDE[card])
    leave_hand(s, s["player"], card)
    s["deck"][deck_place(side, s["deck_size"][side])] = card
    s["deck_size"][side] += 1
    s["deck_laid"][side] += 1
    s["laid"][side] += 1


# -- step 3: play ----------------------------------------------------------------------------------


@inlined
def column_is_closed(r: np.void, s: np.void, player: int, colour: int) -> bool:
    """With `enclosed_columns_close`: the column has a neighbour on both sides."""
    if not r["enclosed_columns_close"]:
        return False
    place = column_place(s, player, colour)
    return bool(0 < place < NUM_COLOURS - 1 and s["column"][player, place + 1] >= 0)


@inlined
def may_play(r: np.void, s: np.void, player: int) -> bool:
    """The spell is complete and the column of its colour takes dragons."""
    return spell_is_complete(s) and not column_is_closed(r, s, player, top_back(s, RIGHT))


@inlined
def legal_plays(s: np.void, player: int) -> int:
    """The cards that may be played next, as the bit set that the step offers.

    A set is played in ascending order of card type; a card is offered only if the hand holds enough
    cards from its type upwards to complete the set.
    """
    opened = int(s["opened"])
    lowest = int(s["open"][opened - 1]) if opened > 0 else 0
    needed = top_back(s, LEFT) - opened
    colour = top_back(s, RIGHT)
    bits = 0
    cards_above = 0
    for k in range(SET_SIZE - 1, -1, -1):
        card = int(SET_CARDS[colour, k])
        held = s["hand"][player, card] if card >= lowest else 0
        cards_above += held
        bits |= (held > 0 and cards_above >= needed) << card
    return bits * CARD_BIT


@inlined
def play(r: np.void, s: np.void, card: int) -> None:
    """Play one card of a set; the last one completes it."""
    player = s["player"]
    leave_hand(s, player, card)
    s["open"][s["opened"]] = card
    s["opened"] += 1
    if s["opened"] < top_back(s, LEFT):
        return
    colour = top_back(s, RIGHT)
    if column_place(s, player, colour) >= 0:
        finish_set(r, s)
        return
    columns = num_columns(s, player)
    if columns < 2 or not r["enclosed_columns_close"]:
        s["column"][player, columns] = colour  # at the right end
        finish_set(r, s)
    else:
        s["step"] = COLUMN


@compiled
def place_column(r: np.void, s: np.void, at_left: bool) -> None:
    """Start the third or fourth column at the end that the player chose."""
    column = s["column"][s["player"]]
    columns = num_columns(s, s["player"])
    if at_left:
        for place in range(columns, 0, -1):
            column[place] = column[place - 1]
        columns = 0
    column[columns] = top_back(s, RIGHT)
    finish_set(r, s)


@inlined
def num_columns(s: np.void, player: int) -> int:
    """How many columns the player has."""
    columns = 0
    while columns < NUM_COLOURS and s["column"][player, columns] >= 0:
        columns += 1
    return columns


@compiled
def finish_set(r: np.void, s: np.void) -> None:
    """The open cards go to their column, the prize is paid, and the next player follows."""
    player = s["player"]
    colour = top_back(s, RIGHT)
    new_column = s["column_cards"][player, colour] == 0
    s["column_cards"][player, colour] += s["opened"]
    for k in range(s["opened"]):
        s["dragon_points"][player] += r["card_value"][s["open"][k]]
    fold_set(s)
    pay_prize(r, s, player, top_back(s, LEFT))
    if new_column and num_columns(s, player) == NUM_COLOURS:
        give_crest(r, s, player)
    follow(r, s)


@inlined
def fold_set(s: np.void) -> None:
    """No set lies open."""
    s["opened"] = 0
    s["open"][:] = -1


# -- step 4: prize ---------------------------------------------------------------------------------


@inlined
def pay_prize(r: np.void, s: np.void, player: int, number: int) -> None:
    """The prize of a number; what the bank no longer has is not given."""
    give_piece(r, s, player, r["prize_piece"][number])
    crystals = min(int(r["prize_crystals"][number]), int(s["bank_crystals"]))
    s["bank_crystals"] -= crystals
    s["crystals"][player] += crystals
    eggs = min(int(r["prize_golden_eggs"][number]), int(s["bank_eggs"]))
    s["bank_eggs"] -= eggs
    s["eggs"][player] += eggs
    dragons = min(int(r["prize_dark_dragons"][number]), int(s["bank_dark_dragons"]))
    s["bank_dark_dragons"] -= dragons
    for _ in range(dragons):
        put_in_hand(s, player, DARK)


@inlined
def give_piece(r: np.void, s: np.void, player: int, which: int) -> None:
    """The lowest or highest amulet piece left, and a pearl when it completes an amulet."""
    value = -1
    for k in range(r["piece_values"]):
        if s["bank_pieces"][k] > 0 and (which == PIECE_HIGHEST or (which == PIECE_LOWEST and value < 0)):
            value = k
    if value < 0:
        return
    s["bank_pieces"][value] -= 1
    s["pieces"][player, value] += 1
    if num_pieces(s, player) % PIECES_PER_AMULET == 0 and s["pearls_given"] < r["pearls"]:
        s["pearl_owner"][s["pearls_given"]] = player
        s["num_pearls"][player] += 1
        s["pearls_given"] += 1


@inlined
def give_crest(r: np.void, s: np.void, player: int) -> None:
    """The highest crest left, for columns of all four colours."""
    if s["crests_given"] < r["crests"]:
        s["crest"][player] = s["crests_given"]
        s["crests_given"] += 1


@inlined
def num_pieces(s: np.void, player: int) -> int:
    """How many amulet pieces the player has."""
    pieces = 0
    for value in range(s["pieces"].shape[1]):
        pieces += s["pieces"][player, value]
    return pieces


@inlined
def num_amulets(s: np.void, player: int) -> int:
    """How many amulets the player has completed."""
    return num_pieces(s, player) // PIECES_PER_AMULET


# -- step 5: follow, and the end -------------------------------------------------------------------


@inlined
def next_seat(s: np.void, seat: int) -> int:
    """The seat to the left of a seat."""
    return seat + 1 if seat + 1 < s["num_players"] else 0


@inlined
def follow(r: np.void, s: np.void) -> None:
    """The next player clockwise may play with the spell as it stands; after the last, the turn ends."""
    s["step"] = PLAY_STEP
    s["player"] = next_seat(s, s["player"])
    if s["player"] == s["active"]:
        end_turn(r, s)


@inlined
def end_turn(r: np.void, s: np.void) -> None:
    """Check for the end by amulets; otherwise the turn passes to the left."""
    s["turns"] += 1
    amulets = 0
    for seat in range(s["num_players"]):
        amulets += num_amulets(s, seat)
    if amulets >= r["amulets_to_end"][s["num_players"]]:
        end_game(s, END_AMULETS)
        return
    previous = s["active"]
    s["active"] = next_seat(s, previous)
    begin_turn(r, s)
    if s["step"] == OVER:
        s["active"] = previous  # the turn did not begin


@inlined
def begin_turn(r: np.void, s: np.void) -> None:
    """Begin a turn, unless no card is left to take or all turns have been played."""
    s["player"] = s["active"]
    s["step"] = TAKE_STEP
    clear_turn(s)
    if legal_takes(s) == 0:
        end_game(s, END_SUPPLY)
    elif s["turns"] >= r["turn_limit"]:
        end_game(s, END_TURN_LIMIT)


@inlined
def clear_turn(s: np.void) -> None:
    """Nothing has been taken, paid, laid or opened."""
    s["taken"] = 0
    s["paid"] = 0
    s["laid"][:] = 0
    fold_set(s)


@compiled
def end_game(s: np.void, end: int) -> None:
    """Nobody decides any more."""
    clear_turn(s)
    s["step"] = OVER
    s["player"] = -1
    s["end"] = end


# -- decisions -------------------------------------------------------------------------------------


@inlined
def action_at(s: np.void, bit: int) -> int:
    """The action that a bit of `legal` stands for in the step of the game; bits are in order of ids.

    Step take: bits 0-3 are the slots, bit 4 is `pass`. Steps modify and play: bit 0 is `pass`, bit
    1 + type index a card. Step column: bit 0 is the left end, bit 1 the right.
    """
    step = s["step"]
    return PASS if step == PLAY_STEP and bit == 0 else int(FIRST_ACTION[step]) + bit


@inlined
def legal_actions(r: np.void, s: np.void) -> int:
    """What the seat to decide may do now, as the bit set of `action_at`; 0 when the game is over."""
    step = s["step"]
    player = s["player"]
    if step == TAKE_STEP:
        bits = legal_takes(s) if may_take(r, s) else 0
        return bits if s["taken"] == 0 else bits | 1 << PASS  # the first card is compulsory
    if step == MODIFY_STEP:
        return legal_modifications(r, s, player) | PASS_BIT
    if step == PLAY_STEP:
        if s["opened"] > 0:  # a set once begun is completed
            return legal_plays(s, player)
        return PASS_BIT | (legal_plays(s, player) if may_play(r, s, player) else 0)
    return BOTH_ENDS if step == COLUMN else 0


@inlined
def carry_out(r: np.void, s: np.void, action: int) -> None:
    """Do one legal action."""
    if action == PASS:
        if s["step"] == TAKE_STEP:
            s["step"] = MODIFY_STEP
        elif s["step"] == MODIFY_STEP:
            s["step"] = PLAY_STEP
        else:
            follow(r, s)
    elif action < PASS:
        take(r, s, action - TAKE)
    elif action < PLAY:
        modify(s, action - MODIFY)
    elif action < COLUMN_LEFT:
        play(r, s, action - PLAY)
    else:
        place_column(r, s, action == COLUMN_LEFT)


@inlined
def do(r: np.void, s: np.void, action: int) -> None:
    """Do an action, then the forced ones, until a seat has a choice or the game is over."""
    while True:
        carry_out(r, s, action)
        bits = legal_actions(r, s)
        if bits == 0 or bits & (bits - 1) != 0:
            break
        action = action_at(s, lowest_bit(bits))
    s["legal"] = bits


@compiled
def settle(r: np.void, s: np.void) -> None:
    """Find out what is legal, and do what leaves no choice."""
    bits = legal_actions(r, s)
    s["legal"] = bits
    if bits != 0 and bits & (bits - 1) == 0:
        do(r, s, action_at(s, lowest_bit(bits)))


@inlined
def apply(rules: npt.NDArray[np.void], states: States, i: int, action: int) -> None:
    """Do a legal action in game i, then the forced ones.

    Legality is the caller's to check: an illegal action breaks the game.
    """
    do(rules[0], states[i], action)


@inlined
def bit_of(step: int, action: int) -> int:
    """The bit that stands for an action in a step: see `action_at`; -1 for actions of other steps."""
    if action == PASS and step == PLAY_STEP:
        return 0
    bit = action - FIRST_ACTION[step]
    return int(bit) if bit > 0 or step != PLAY_STEP else -1


@inlined
def is_legal(states: States, i: int, action: int) -> bool:
    """Whether a number is an action that is legal in game i; a mask need not be right for that."""
    bit = bit_of(states[i]["step"], action)
    return bool(0 <= bit < LEGAL_BITS and states[i]["legal"] >> bit & 1)


@inlined
def write_mask(states: States, masks: Masks, i: int) -> None:
    """Write what is legal in game i into `masks[i]`: 1 where legal; all 0 when it is over."""
    s, mask = states[i], masks[i]
    for action in range(NUM_ACTIONS):
        mask[action] = 0
    bits = s["legal"]
    if s["step"] == TAKE_STEP:
        for slot in range(PASS + 1):
            mask[TAKE + slot] = bits >> slot & 1
        return
    while bits != 0:
        mask[index(action_at(s, lowest_bit(bits)))] = 1
        bits &= bits - 1
