"""Points, winners and payoffs, from a state."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gardienii_env.rules.jit import compiled
from gardienii_env.rules.state import States

__all__ = ["SOURCES", "payoffs", "points", "scores", "winners"]

SOURCES = ("dragons", "pieces", "pearls", "crystals", "eggs", "crest")
"""Where points come from, in the order of the last axis of `points`."""

DRAGONS, PIECES, PEARLS, CRYSTALS, EGGS, CREST = range(len(SOURCES))


@compiled
def points(rules: npt.NDArray[np.void], states: States, i: int) -> npt.NDArray[np.int64]:
    """Points by seat and source if game i ended now: shape (players, 6), int64."""
    r, s = rules[0], states[i]
    players = int(s["num_players"])
    result = np.zeros((players, len(SOURCES)), np.int64)
    most_eggs = 1
    for seat in range(players):
        most_eggs = max(most_eggs, int(s["eggs"][seat]))
    for seat in range(players):
        if r["dragons_score"]:
            result[seat, DRAGONS] = s["dragon_points"][seat]
        for value in range(r["piece_values"]):
            result[seat, PIECES] += int(s["pieces"][seat, value]) * int(r["piece_points"][value])
        for k in range(s["pearls_given"]):
            if s["pearl_owner"][k] == seat:
                result[seat, PEARLS] += s["pearls"][k]
        result[seat, CRYSTALS] = int(s["crystals"][seat]) * int(r["crystal_points"])
        result[seat, EGGS] = int(s["eggs"][seat]) * int(r["egg_points"])
        if s["eggs"][seat] == most_eggs:
            result[seat, EGGS] += int(r["egg_majority_points"]) - int(r["egg_points"])
        if s["crest"][seat] >= 0:
            result[seat, CREST] = r["crest_points"][s["crest"][seat]]
    return result


@compiled
def scores(rules: npt.NDArray[np.void], states: States, i: int) -> npt.NDArray[np.int64]:
    """Points by seat if game i ended now: shape (players,), int64."""
    by_source = points(rules, states, i)
    result = np.zeros(by_source.shape[0], np.int64)
    for seat in range(by_source.shape[0]):
        for source in range(by_source.shape[1]):
            result[seat] += by_source[seat, source]
    return result


@compiled
def winners(rules: npt.NDArray[np.void], states: States, i: int) -> npt.NDArray[np.bool_]:
    """Who wins if game i ended now: shape (players,), bool.

    Most points; among those level, most cards in the tableau; all who are still level win together.
    """
    s = states[i]
    totals = scores(rules, states, i)
    cards = np.zeros(totals.size, np.int64)
    best = 0
    for seat in range(totals.size):
        for colour in range(s["column_cards"].shape[1]):
            cards[seat] += s["column_cards"][seat, colour]
        if (totals[seat], cards[seat]) > (totals[best], cards[best]):
            best = seat
    won = np.zeros(totals.size, np.bool_)
    for seat in range(totals.size):
        won[seat] = totals[seat] == totals[best] and cards[seat] == cards[best]
    return won


@compiled
def payoffs(rules: npt.NDArray[np.void], states: States, i: int) -> npt.NDArray[np.float64]:
    """Payoffs if game i ended now: shape (players,), float64, sum 0, in [-1, 1].

    With N players and k winners a winner has the share w = 1/k, all others w = 0; the payoff is
    (N w - 1) / (N - 1).
    """
    won = winners(rules, states, i)
    players, count = won.size, 0
    for seat in range(players):
        count += won[seat]
    result = np.empty(players)
    for seat in range(players):
        share = won[seat] / count
        result[seat] = (players * share - 1) / (players - 1)
    return result
