"""What a position is worth to every seat: `planner` plays a few turns, then points are estimated.

Used by `ismcts` where a simulation leaves its tree. The estimate adds to a seat's points what it will
probably make of its cards, crystals, columns and so on, and turns the points of all seats into expected
payoffs. Its numbers are the coefficients of regressions: final points on what there was at the beginning
of a turn, in games that `ismcts` played against itself under both shipped rulesets. What depends on the
ruleset is in units of what a card brings on average (`card_worth`).
"""

from __future__ import annotations

from math import exp

import numpy as np
import numpy.typing as npt

from gardienii_env.agents.greedy import pearl_worth
from gardienii_env.agents.planner import AHEAD, planner_action
from gardienii_env.rules.cards import DARK, NUM_CARDS, NUM_COLOURS, NUMBERS, SET_CARDS
from gardienii_env.rules.engine import (
    PIECES_PER_AMULET,
    Masks,
    apply,
    num_columns,
    num_pieces,
    write_mask,
)
from gardienii_env.rules.jit import compiled
from gardienii_env.rules.ruleset import PIECE_NONE
from gardienii_env.rules.scoring import payoffs
from gardienii_env.rules.state import States

__all__ = ["card_worth", "estimate", "judge", "roll_out", "share_left"]

TURNS_ROLLED = 3
CARDS_PER_SET = 2.6  # what a prize costs, pages laid for it included
LEAST_WORTH = 0.5
TURNS, CARDS = 20.0, 60.0  # so many turns or cards left are a whole game
MOST_CARDS = 20.0  # in a hand; more are not worth more


@compiled
def roll_out(
    rules: npt.NDArray[np.void],
    states: States,
    masks: Masks,
    turn: int,
    worth: float,
    values: npt.NDArray[np.float64],
) -> None:
    """Play on in game 0 as `planner` does to the end of the third turn, and judge what comes of it.

    `turn` is how many turns have been played before the first one. In the turns that follow it
    planner looks only one card ahead, which is faster. Uses `masks[0]`; for the rest see `judge`.
    """
    s = states[0]
    while s["player"] >= 0 and s["turns"] < turn + TURNS_ROLLED:
        ahead = AHEAD if s["turns"] == turn else 1
        write_mask(states, masks, 0)
        apply(rules, states, 0, planner_action(rules, states, masks, 0, ahead))
    judge(rules, states, worth, values)


@compiled
def judge(
    rules: npt.NDArray[np.void], states: States, worth: float, values: npt.NDArray[np.float64]
) -> None:
    """Write what game 0 is worth into `values`, by seat: payoffs, or estimates of them, -1 to 1.

    `worth` is `card_worth`.
    """
    s = states[0]
    if s["player"] >= 0:
        estimate(rules[0], s, worth, values)
        return
    paid = payoffs(rules, states, 0)
    for seat in range(paid.size):
        values[seat] = paid[seat]


# -- what the ruleset says -------------------------------------------------------------------------


@compiled
def card_worth(r: np.void) -> float:
    """Points that a card brings on average: its own, and its share of a prize."""
    cards, value = 0, 0.0
    for card in range(NUM_CARDS):
        count = int(r["left_deck"][card]) + int(r["right_deck"][card])
        cards += count
        value += count * float(r["card_value"][card])
    pieces, piece = 0, 0.0
    for k in range(r["piece_values"]):
        pieces += int(r["piece_count"][k])
        piece += int(r["piece_count"][k]) * float(r["piece_points"][k])
    piece = piece / max(pieces, 1) + pearl_worth(r) / PIECES_PER_AMULET
    prizes = 0.0
    for number in range(1, NUMBERS + 1):
        if pieces > 0 and r["prize_piece"][number] != PIECE_NONE:
            prizes += piece
        if r["golden_eggs"] > 0:
            prizes += int(r["prize_golden_eggs"][number]) * float(r["egg_points"])
    worth = prizes / NUMBERS / CARDS_PER_SET
    if r["dragons_score"]:
        worth += value / max(cards, 1)
    return max(worth, LEAST_WORTH)


# -- the estimate ----------------------------------------------------------------------------------


@compiled
def share_left(r: np.void, s: np.void) -> float:
    """About what share of the game is still to come, 0 to 1."""
    players = int(s["num_players"])
    all_pieces = PIECES_PER_AMULET * int(r["amulets_to_end"][players]) + players
    pieces = all_pieces
    for seat in range(players):
        pieces -= num_pieces(s, seat)
    left = pieces / all_pieces
    left = min(left, (int(r["turn_limit"]) - int(s["turns"])) / TURNS)
    left = min(left, (int(s["deck_size"][0]) + int(s["deck_size"][1])) / CARDS)
    return min(max(left, 0.0), 1.0)


@compiled
def estimate(r: np.void, s: np.void, worth: float, values: npt.NDArray[np.float64]) -> None:
    """Write the payoff that each seat may expect, -1 to 1, into `values`. `worth`: see `card_worth`."""
    players = int(s["num_players"])
    left = share_left(r, s)
    for seat in range(players):
        turns_off = (seat - int(s["active"])) % players
        to_move = 0.3 * players * (players - 1 - 2 * turns_off) / (players - 1)
        values[seat] = points_on_hand(r, s, seat) + worth * to_move
        values[seat] += hand_worth(r, s, seat, worth, left)
        values[seat] += tokens_worth(r, s, seat, worth, left)
    for k in range(s["pearls_given"]):
        values[s["pearl_owner"][k]] += s["pearls"][k]
    share_majority(r, s, left, values)
    to_payoffs(values, players, worth * (1.05 + 1.7 * left))


@compiled
def points_on_hand(r: np.void, s: np.void, seat: int) -> float:
    """Points that the seat has for certain, without pearls."""
    points = float(s["dragon_points"][seat]) if r["dragons_score"] else 0.0
    for k in range(r["piece_values"]):
        points += int(s["pieces"][seat, k]) * float(r["piece_points"][k])
    points += int(s["crystals"][seat]) * float(r["crystal_points"])
    points += int(s["eggs"][seat]) * float(r["egg_points"])
    if s["crest"][seat] >= 0:
        points += r["crest_points"][s["crest"][seat]]
    return points


@compiled
def hand_worth(r: np.void, s: np.void, seat: int, worth: float, left: float) -> float:
    """What the cards in hand will bring: each less than the one before, and little near the end.

    Cards of a closed column are good as pages only, and the column itself is missed.
    """
    held = s["hand"][seat]
    total = 0.5 * worth * min(1.0, 0.4 + 1.5 * left) * int(held[DARK])
    cards = float(s["hand_size"][seat])
    if r["enclosed_columns_close"]:
        for place in range(1, NUM_COLOURS - 1):
            if s["column"][seat, place + 1] >= 0:
                total -= 1.6 * worth * min(1.0, 2.0 * left)
                for k in range(SET_CARDS.shape[1] - 1):
                    cards -= 0.7 * int(held[SET_CARDS[s["column"][seat, place], k]])
    if r["dragons_score"]:
        value = 0.0
        for card in range(NUM_CARDS):
            value += int(held[card]) * float(r["card_value"][card])
        total += 0.95 * min(1.0, 0.3 + 2.5 * left) * value
    cards = min(cards, MOST_CARDS)
    return total + 0.8 * worth * min(1.0, 0.15 + 2.0 * left) * cards * (1.0 - 0.025 * cards)


@compiled
def tokens_worth(r: np.void, s: np.void, seat: int, worth: float, left: float) -> float:
    """What crystals will buy, and what has been done towards the next pearl and the next crest."""
    total = 0.0
    if r["crystals_per_turn"] > 0:
        buys = 1.0 if r["crystals_per_turn"] > 1 else 0.5
        total += buys * worth * (0.1 + 1.25 * left) * int(s["crystals"][seat])
    pieces = num_pieces(s, seat) % PIECES_PER_AMULET
    total += pearl_worth(r) * pieces * (0.33 + 1.2 * max(0.0, 0.4 - left))
    if s["crest"][seat] < 0 and s["crests_given"] < r["crests"]:
        crest = float(r["crest_points"][s["crests_given"]])
        total += 0.225 * crest * min(1.0, 3.0 * left) * num_columns(s, seat)
    return total


@compiled
def share_majority(r: np.void, s: np.void, left: float, values: npt.NDArray[np.float64]) -> None:
    """Add each seat's share of the egg majority: the later it is, the more goes to who has most."""
    majority = float(r["egg_majority_points"]) - float(r["egg_points"])
    steepness = 1.1 + 1.5 * (1.0 - left) * (1.0 - left)
    total = 0.0
    for seat in range(s["num_players"]):
        total += exp(steepness * int(s["eggs"][seat]))
    for seat in range(s["num_players"]):
        values[seat] += majority * exp(steepness * int(s["eggs"][seat])) / total


@compiled
def to_payoffs(values: npt.NDArray[np.float64], players: int, spread: float) -> None:
    """From estimated points to expected payoffs, in place: the logistic of what lies between them."""
    best = values[0]
    for seat in range(1, players):
        best = max(best, values[seat])
    total = 0.0
    for seat in range(players):
        values[seat] = exp((values[seat] - best) / spread)
        total += values[seat]
    for seat in range(players):
        values[seat] = (players * values[seat] / total - 1.0) / (players - 1)
