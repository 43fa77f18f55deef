"""The tree of `ismcts`: how simulations walk through it, what they leave in it, which action wins.

A node stands for what its seats have done and seen since the root, whatever the cards were that stayed
hidden. Below a position are the actions that were tried there: of the seat and the step they belong to,
since who decides next may depend on hidden cards. Below a card that was taken is what that turned up:
the card that fills the slot, and the page under it. Each node keeps how often it was visited, how often
it could have been (the availability), and the sum of the values for every seat. The deciding seat of a
position takes the action with the largest

    mean value + EXPLORATION * prior * sqrt(availability) / (1 + visits)

where `planner`'s action has the larger prior (the rule of "Mastering the game of Go without human
knowledge", Silver and others, Nature 550, 2017). What was not tried yet counts as the mean value of the
node. At the root, the k-th visit of every action is dealt the same hidden cards, so that the luck of the
cards favours none.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gardienii_env.agents.planner import planner_action
from gardienii_env.agents.rollout import card_worth, judge, roll_out
from gardienii_env.rules.actions import NUM_ACTIONS, PASS, SLOTS_PER_SIDE, TAKE
from gardienii_env.rules.bits import count_bits, nth_bit
from gardienii_env.rules.engine import FIRST_ACTION, Masks, action_at, apply, write_mask
from gardienii_env.rules.hidden import forget, resample
from gardienii_env.rules.jit import compiled
from gardienii_env.rules.random import draw, draw_below
from gardienii_env.rules.ruleset import MAX_PLAYERS
from gardienii_env.rules.state import PLAY_STEP, STATE, States, top_back

__all__ = ["BIT_PART", "Search", "action_of", "choose_all", "grow", "plant"]

EXPLORATION = 0.25
PLANNER_PRIOR = 0.5  # the prior of planner's action; all share the rest

NODE = np.dtype(
    [
        ("value", np.float64, MAX_PLAYERS),  # sum over the visits, by seat
        ("seed", np.uint64),  # not of the node: of the simulation with this number
        ("parent", np.int32),  # -1: none, as in the next ones
        ("first", np.int32),  # its first child
        ("next", np.int32),  # the next child of its parent
        ("move", np.int32),  # what leads here: an action (`move_of`), or what it turned up
        ("favourite", np.int32),  # the move that planner would make here
        ("visits", np.int32),
        ("available", np.int32),  # how often it could have been visited
    ],
    align=True,
)

Tree = npt.NDArray[np.void]
"""An array of `NODE` records; the root is node 0."""


class Arrays(NamedTuple):
    """What a search works on."""

    rules: npt.NDArray[np.void]
    states: States  # the games to decide in
    streams: npt.NDArray[np.void]  # their generators
    root: States  # the game that is searched, as its seat knows it
    work: States  # the game of a simulation
    masks: Masks  # of `work`
    tree: Tree


BIT_PART = 64  # a move is 64 * (8 * seat + step) + bit: see `move_of`
STEP_PART = 8


class Search:
    """A search, for one game after the other.

    Attributes:
        arrays: what it works on; its tree has room for the root and as many nodes as simulations.
    """

    def __init__(
        self,
        rules: npt.NDArray[np.void],
        states: States,
        streams: npt.NDArray[np.void],
        simulations: int,
    ) -> None:
        self.arrays = Arrays(
            rules,
            states,
            streams,
            root=np.zeros(1, STATE),
            work=np.zeros(1, STATE),
            masks=np.zeros((1, NUM_ACTIONS), np.int8),
            tree=np.zeros(simulations + 1, NODE),
        )

    def make_room(self, simulations: int) -> None:
        """Let the tree have room for so many simulations, and for more where it has to grow."""
        tree = self.arrays.tree
        if tree.size <= simulations:
            more = np.zeros(tree.size + simulations, NODE)
            self.arrays = self.arrays._replace(tree=np.concatenate([tree, more]))

    def children(self) -> Iterator[tuple[int, int, float]]:
        """The actions tried at the root: id, visits, mean value for the seat that decides."""
        root, tree = self.arrays.root, self.arrays.tree
        seat = int(root["player"][0])
        node = int(tree["first"][0])
        while node >= 0:
            visits = int(tree["visits"][node])
            bit = int(tree["move"][node]) % BIT_PART
            yield action_at(root[0], bit), visits, float(tree["value"][node, seat]) / visits
            node = int(tree["next"][node])


@compiled
def choose_all(
    a: Arrays, games: npt.NDArray[np.int64], simulations: int, actions: npt.NDArray[np.int64]
) -> None:
    """Search each of `games` with so many simulations; the actions chosen, into `actions`."""
    for k in range(games.size):
        plant(a, games[k])
        grow(a, games[k], 0, simulations)
        actions[k] = action_of(a)


@compiled
def plant(a: Arrays, i: int) -> None:
    """Begin a tree for game i: only the root, without visits."""
    a.root[0] = a.states[i]
    forget(a.rules, a.root, 0, a.root[0]["player"])
    begin_node(a.tree, 0, -1, 0)
    note_favourite(a.rules, a.root, a.masks, a.tree[0])


@compiled
def grow(a: Arrays, i: int, first: int, end: int) -> None:
    """Make the simulations from number `first` to the one before `end` for game i, which is planted."""
    worth = card_worth(a.rules[0])
    values = np.zeros(MAX_PLAYERS)
    for number in range(first, end):
        a.tree[number]["seed"] = draw(a.streams[i])
        node = walk(a.rules, a.root, a.work, a.tree, number)
        if a.work[0]["player"] >= 0:
            turn = a.work[0]["turns"]
            apply(a.rules, a.work, 0, note_favourite(a.rules, a.work, a.masks, a.tree[node]))
            roll_out(a.rules, a.work, a.masks, turn, worth, values)
        else:
            judge(a.rules, a.work, worth, values)
        back_up(a.tree, node, values)


@compiled
def action_of(a: Arrays) -> int:
    """The action with most visits at the root; of those level, the one of more value."""
    tree, seat = a.tree, a.root[0]["player"]
    best = tree[0]["first"]
    child = tree[best]["next"]
    while child >= 0:
        visits, most = tree[child]["visits"], tree[best]["visits"]
        better = tree[child]["value"][seat] > tree[best]["value"][seat]
        if visits > most or (visits == most and better):
            best = child
        child = tree[child]["next"]
    return action_at(a.root[0], int(tree[best]["move"]) % BIT_PART)


# -- simulations -----------------------------------------------------------------------------------


@compiled
def begin_node(tree: Tree, node: int, parent: int, move: int) -> None:
    """A node without visits and children; it is the first child of its parent, where it has one."""
    new = tree[node]
    new["value"][:] = 0.0
    new["parent"] = parent
    new["first"] = -1
    new["next"] = -1
    new["move"] = move
    new["favourite"] = -1
    new["visits"] = 0
    new["available"] = 1
    if parent >= 0:
        new["next"] = tree[parent]["first"]
        tree[parent]["first"] = node


@compiled
def note_favourite(rules: npt.NDArray[np.void], states: States, masks: Masks, node: np.void) -> int:
    """Keep what planner would do in the game `states[0]`, and return it."""
    s = states[0]
    write_mask(states, masks, 0)
    action = int(planner_action(rules, states, masks, 0))
    step = s["step"]
    bit = 0 if action == PASS and step == PLAY_STEP else action - int(FIRST_ACTION[step])
    node["favourite"] = move_of(s, bit)
    return action


@compiled
def move_of(s: np.void, bit: int) -> int:
    """A number for the action of a bit (see `action_at`) by the seat that decides in this step."""
    return (int(s["player"]) * STEP_PART + int(s["step"])) * BIT_PART + bit


@compiled
def walk(rules: npt.NDArray[np.void], root: States, work: States, tree: Tree, number: int) -> int:
    """Begin a simulation: walk down to a new node, or to the end of the game; the node reached.

    The game is in `work[0]` then. The new node is `number + 1`.
    """
    work[0] = root[0]
    s = work[0]
    s["rng"] = tree[number]["seed"]
    node = 0
    bit, child = select(tree, 0, s)
    s["rng"] = tree[tree[child]["visits"] if child >= 0 else 0]["seed"]
    resample(rules, work, 0, s["player"])
    while True:
        if child < 0:
            child = number + 1
            begin_node(tree, child, node, move_of(s, bit))
            apply(rules, work, 0, action_at(s, bit))
            return child
        node = child
        action = action_at(s, bit)
        apply(rules, work, 0, action)
        if s["player"] < 0:
            return node
        if TAKE <= action < PASS:
            turned = turned_up(s, action - TAKE)
            child = child_of(tree, node, turned)
            if child < 0:
                child = number + 1
                begin_node(tree, child, node, turned)
                return child
            tree[child]["available"] += 1
            node = child
        bit, child = select(tree, node, s)


@compiled
def turned_up(s: np.void, slot: int) -> int:
    """A number for what taking from a slot has shown: the card that fills it, and the next page."""
    side = slot // SLOTS_PER_SIDE
    card = int(s["supply"][side, slot % SLOTS_PER_SIDE])
    return (card + 1) * BIT_PART + int(top_back(s, side)) + 1


@compiled
def child_of(tree: Tree, node: int, move: int) -> int:
    """The child of a node with this move; -1 if there is none."""
    child = tree[node]["first"]
    while child >= 0 and tree[child]["move"] != move:
        child = tree[child]["next"]
    return int(child)


@compiled
def select(tree: Tree, node: int, s: np.void) -> tuple[int, int]:
    """The bit of the action to try at a node, and its child; -1 where it has none yet.

    Counts the children that could be tried now as available.
    """
    seat = s["player"]
    legal = s["legal"]
    here = tree[node]
    first_move = move_of(s, 0)
    favourite = int(here["favourite"]) - first_move
    share = EXPLORATION * (1.0 - PLANNER_PRIOR) / count_bits(legal)
    best, best_bit, most = -1, -1, -np.inf
    child = here["first"]
    while child >= 0:
        bit = int(tree[child]["move"]) - first_move
        if 0 <= bit < BIT_PART and legal >> bit & 1:
            legal &= ~(1 << bit)
            tree[child]["available"] += 1
            visits = tree[child]["visits"]
            prior = share + EXPLORATION * PLANNER_PRIOR if bit == favourite else share
            score = tree[child]["value"][seat] / visits
            score += prior * sqrt(tree[child]["available"]) / (1 + visits)
            if score > most:
                best, best_bit, most = child, bit, score
        child = tree[child]["next"]
    if legal == 0:
        return best_bit, best
    visits = here["visits"]
    mean = here["value"][seat] / max(visits, 1)
    if 0 <= favourite < BIT_PART and legal >> favourite & 1:
        if best < 0 or mean + (share + EXPLORATION * PLANNER_PRIOR) * sqrt(visits) > most:
            return favourite, -1
        legal &= ~(1 << favourite)
    if legal != 0 and (best < 0 or mean + share * sqrt(visits) > most):
        return nth_bit(legal, draw_below(s, count_bits(legal))), -1
    return best_bit, best


@compiled
def back_up(tree: Tree, node: int, values: npt.NDArray[np.float64]) -> None:
    """Add what a simulation was worth to the node reached and all above it."""
    while node >= 0:
        tree[node]["visits"] += 1
        for seat in range(MAX_PLAYERS):
            tree[node]["value"][seat] += values[seat]
        node = tree[node]["parent"]
