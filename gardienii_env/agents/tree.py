"""The tree of `ismcts`: how simulations walk through it, what they leave in it, which action wins.

A node stands for what has been done since the root, whatever the hidden cards were. Its children are the
actions that were tried there: of the seat and the step they belong to, since who decides next may depend
on hidden cards. Each keeps how often it was tried, how often it could have been (the availability), and
the sum of the values for every seat. The deciding seat of a node takes the child with the largest

    mean value + EXPLORATION * prior * sqrt(availability) / (1 + visits)

where `planner`'s action has the larger prior (the rule of "Mastering the game of Go without human
knowledge", Silver and others, Nature 550, 2017). What was not tried yet counts as the mean value of the
node. At the root, the k-th visit of every action is dealt the same hidden cards, so that the luck of the
cards favours none.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

import numpy as np
import numpy.typing as npt

from gardienii_env.agents.planner import planner_action
from gardienii_env.agents.rollout import card_worth, judge, roll_out
from gardienii_env.rules.actions import NUM_ACTIONS, PASS
from gardienii_env.rules.bits import count_bits, nth_bit
from gardienii_env.rules.engine import FIRST_ACTION, Masks, action_at, apply, write_mask
from gardienii_env.rules.hidden import forget, resample
from gardienii_env.rules.jit import compiled
from gardienii_env.rules.random import draw, draw_below
from gardienii_env.rules.ruleset import MAX_PLAYERS
from gardienii_env.rules.state import PLAY_STEP, STATE, States

__all__ = ["NODE", "Search", "Tree", "action_of", "choose_all", "grow", "plant"]

EXPLORATION = 1.0
PLANNER_PRIOR = 0.5  # the prior of planner's action; all share the rest

NODE = np.dtype(
    [
        ("value", np.float64, MAX_PLAYERS),  # sum over the visits, by seat
        ("seed", np.uint64),  # not of the node: of the simulation with this number
        ("parent", np.int32),  # -1: none, as in the next ones
        ("first", np.int32),  # its first child
        ("next", np.int32),  # the next child of its parent
        ("move", np.int32),  # the action that leads here: see `move_of`
        ("favourite", np.int32),  # the move that planner would make here
        ("visits", np.int32),
        ("available", np.int32),  # how often it could have been visited
    ],
    align=True,
)

Tree = npt.NDArray[np.void]
"""An array of `NODE` records; the root is node 0."""

Arrays = tuple[npt.NDArray[np.void], States, npt.NDArray[np.void], States, States, Masks, Tree]

BIT_PART = 64  # a move is 64 * (8 * seat + step) + bit: see `move_of`
STEP_PART = 8


class Search:
    """The arrays of a search, used for one game after the other.

    Attributes:
        root: the game that was searched last, as its seat knows it: shape (1,), dtype `STATE`.
        tree: what was found: room for the root and as many nodes as simulations.
    """

    def __init__(
        self,
        rules: npt.NDArray[np.void],
        states: States,
        streams: npt.NDArray[np.void],
        simulations: int,
    ) -> None:
        self.rules, self.states, self.streams = rules, states, streams
        self.root: States = np.zeros(1, STATE)
        self.work: States = np.zeros(1, STATE)
        self.masks: Masks = np.zeros((1, NUM_ACTIONS), np.int8)
        self.tree: Tree = np.zeros(simulations + 1, NODE)

    @property
    def arrays(self) -> Arrays:
        """The first arguments of `plant`, `grow` and `choose_all`."""
        return self.rules, self.states, self.streams, self.root, self.work, self.masks, self.tree

    def make_room(self, simulations: int) -> None:
        """Let the tree have room for so many simulations, and for more where it has to grow."""
        if self.tree.size <= simulations:
            self.tree = np.concatenate([self.tree, np.zeros(self.tree.size + simulations, NODE)])

    def children(self) -> Iterator[tuple[int, int, float]]:
        """The actions tried at the root: id, visits, mean value for the seat that decides."""
        seat = int(self.root["player"][0])
        node = int(self.tree["first"][0])
        while node >= 0:
            visits = int(self.tree["visits"][node])
            bit = int(self.tree["move"][node]) % BIT_PART
            yield action_at(self.root[0], bit), visits, float(self.tree["value"][node, seat]) / visits
            node = int(self.tree["next"][node])


@compiled
def choose_all(
    rules: npt.NDArray[np.void],
    states: States,
    streams: npt.NDArray[np.void],
    root: States,
    work: States,
    masks: Masks,
    tree: Tree,
    games: npt.NDArray[np.int64],
    simulations: int,
    actions: npt.NDArray[np.int64],
) -> None:
    """Search each of `games` with so many simulations; the actions chosen, into `actions`."""
    for k in range(games.size):
        plant(rules, states, streams, root, work, masks, tree, games[k])
        grow(rules, states, streams, root, work, masks, tree, games[k], 0, simulations)
        actions[k] = action_of(root, tree)


@compiled
def plant(
    rules: npt.NDArray[np.void],
    states: States,
    streams: npt.NDArray[np.void],
    root: States,
    work: States,
    masks: Masks,
    tree: Tree,
    i: int,
) -> None:
    """Begin a tree for game i: only the root, without visits."""
    root[0] = states[i]
    forget(rules, root, 0, root[0]["player"])
    begin_node(tree, 0, -1, 0)
    note_favourite(rules, root, masks, tree[0])


@compiled
def grow(
    rules: npt.NDArray[np.void],
    states: States,
    streams: npt.NDArray[np.void],
    root: States,
    work: States,
    masks: Masks,
    tree: Tree,
    i: int,
    first: int,
    end: int,
) -> None:
    """Make the simulations from number `first` to the one before `end` for game i, which is planted."""
    worth = card_worth(rules[0])
    values = np.zeros(MAX_PLAYERS)
    for number in range(first, end):
        tree[number]["seed"] = draw(streams[i])
        node = walk(rules, root, work, tree, number)
        if work[0]["player"] >= 0:
            turn = work[0]["turns"]
            apply(rules, work, 0, note_favourite(rules, work, masks, tree[node]))
            roll_out(rules, work, masks, turn, worth, values)
        else:
            judge(rules, work, worth, values)
        back_up(tree, node, values)


@compiled
def action_of(root: States, tree: Tree) -> int:
    """The action with most visits at the root; of those level, the one of more value."""
    seat = root[0]["player"]
    best = tree[0]["first"]
    child = tree[best]["next"]
    while child >= 0:
        visits, most = tree[child]["visits"], tree[best]["visits"]
        better = tree[child]["value"][seat] > tree[best]["value"][seat]
        if visits > most or (visits == most and better):
            best = child
        child = tree[child]["next"]
    return action_at(root[0], int(tree[best]["move"]) % BIT_PART)


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
        apply(rules, work, 0, action_at(s, bit))
        if s["player"] < 0:
            return node
        bit, child = select(tree, node, s)


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
