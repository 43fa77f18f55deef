"""What is kept of each game of a match, in compiled loops over the games."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gardienii_env.rules import scoring
from gardienii_env.rules.batch import apply_one
from gardienii_env.rules.cards import NUM_COLOURS
from gardienii_env.rules.engine import Masks
from gardienii_env.rules.jit import compiled
from gardienii_env.rules.state import States

__all__ = ["apply_and_count", "finish", "line_up"]

Games = npt.NDArray[np.void]
"""What is kept of the games of a batch: shape (games,), dtype `GAME`."""


@compiled
def line_up(
    states: States, games: Games, queues: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]
) -> int:
    """Find out which games wait for which agent; how many are not over.

    Those that wait for agent k are the first `lengths[k]` of `queues[k]`, in order.
    """
    players = lengths.size
    lengths[:] = 0
    on = 0
    for i in range(states.size):
        if states[i]["player"] >= 0:
            k = (int(states[i]["player"]) - int(games[i]["rotation"])) % players
            queues[k, lengths[k]] = i
            lengths[k] += 1
            on += 1
    return on


@compiled
def apply_and_count(
    rules: npt.NDArray[np.void],
    states: States,
    masks: Masks,
    waiting: npt.NDArray[np.int64],
    actions: npt.NDArray[np.int64],
    games: Games,
    agent: int,
) -> None:
    """Do what an agent decided, and count its decisions and the sets that it completes.

    A set begins with a free choice, so a decision completes at most one, its own seat's: it is as large
    as the seat's columns grow.
    """
    for k in range(waiting.size):
        i = waiting[k]
        seat = int(states[i]["player"])
        before = cards_played(states, i, seat)
        apply_one(rules, states, masks, i, actions[k])
        cards = cards_played(states, i, seat) - before
        games[i]["decisions"][agent] += 1
        if cards > 0:
            games[i]["sets"][agent, cards - 1] += 1


@compiled
def cards_played(states: States, i: int, seat: int) -> int:
    """How many cards lie in a seat's columns."""
    cards = 0
    for colour in range(NUM_COLOURS):
        cards += int(states[i]["column_cards"][seat, colour])
    return cards


@compiled
def finish(rules: npt.NDArray[np.void], states: States, games: Games) -> None:
    """Write down how the games, which are over, came out, by agent."""
    for i in range(states.size):
        points = scoring.points(rules, states, i)
        won = scoring.winners(rules, states, i)
        players, winners = won.size, 0
        for seat in range(players):
            winners += int(won[seat])
        games[i]["end"] = states[i]["end"]
        games[i]["turns"] = states[i]["turns"]
        for k in range(players):
            seat = (k + int(games[i]["rotation"])) % players
            games[i]["share"][k] = int(won[seat]) / winners
            for source in range(points.shape[1]):
                games[i]["points"][k, source] = points[seat, source]
