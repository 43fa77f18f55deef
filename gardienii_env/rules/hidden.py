"""What a seat cannot know: drawn anew, or put in an order that tells nothing. The base of search."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gardienii_env.rules.bits import count_bits
from gardienii_env.rules.cards import BACK
from gardienii_env.rules.engine import legal_actions, pile
from gardienii_env.rules.jit import compiled
from gardienii_env.rules.random import draw_below, shuffle
from gardienii_env.rules.ruleset import MAX_CARDS, MAX_PEARLS, MAX_PLAYERS
from gardienii_env.rules.state import OVER, States, back_of, deck_place

__all__ = ["forget", "resample"]


@compiled
def resample(rules: npt.NDArray[np.void], states: States, i: int, seat: int) -> None:
    """Replace what `seat` cannot know of game i by a draw, in place.

    Drawn uniformly among the deals that agree with all that a player in this seat knows who forgets
    nothing (the recall view): pearls of others and pearls left, starting cards of others, order of
    both decks below the cards that players laid. The back of the highest card that was not laid is
    known and kept. If another seat decides, its cards are drawn so that it has a decision.

    Uses the generator in the state: set `states[i]["rng"]` first.
    """
    r, s = rules[0], states[i]
    resample_pearls(r, s, seat)
    for side in range(2):
        resample_deck(s, side)
    while True:
        resample_starting_cards(s, seat)
        s["legal"] = legal_actions(r, s)
        if count_bits(s["legal"]) > 1 or s["step"] == OVER or s["player"] == seat:
            return


@compiled
def resample_pearls(r: np.void, s: np.void, seat: int) -> None:
    """The pearls that others took and those left change places."""
    order = np.empty(MAX_PEARLS, np.int8)
    count = 0
    for k in range(r["pearls"]):
        if s["pearl_owner"][k] != seat:
            order[count] = k
            count += 1
    for last in range(count - 1, 0, -1):
        a, b = order[last], order[draw_below(s, last + 1)]
        s["pearls"][a], s["pearls"][b] = s["pearls"][b], s["pearls"][a]


@compiled
def resample_deck(s: np.void, side: int) -> None:
    """The cards of a deck that nobody laid there change places; the uppermost keeps its back."""
    size = int(s["deck_size"][side] - s["deck_laid"][side])
    if size == 0:
        return
    cards = np.empty(MAX_CARDS, np.int8)
    same_back = np.empty(MAX_CARDS, np.int8)
    candidates = 0
    for height in range(size):
        cards[height] = s["deck"][deck_place(side, height)]
        if back_of(s, side, height) == back_of(s, side, size - 1):
            same_back[candidates] = height
            candidates += 1
    top = same_back[draw_below(s, candidates)]
    cards[top], cards[size - 1] = cards[size - 1], cards[top]
    shuffle(s, cards, size - 1)
    for height in range(size):
        s["deck"][deck_place(side, height)] = cards[height]


@compiled
def resample_starting_cards(s: np.void, seat: int) -> None:
    """The starting cards that others still hold unknown, and those not dealt, change places."""
    cards = np.empty(MAX_CARDS, np.int8)
    size = collect_not_dealt(s, cards)
    for other in range(s["num_players"]):
        if other != seat:
            for k in range(s["unknown"].shape[1]):
                if s["unknown"][other, k] >= 0:
                    cards[size] = s["unknown"][other, k]
                    size += 1
                    s["hand"][other, s["unknown"][other, k]] -= 1
                    s["unseen"][s["unknown"][other, k]] += 1
    shuffle(s, cards, size)
    for other in range(s["num_players"]):
        if other != seat:
            for k in range(s["unknown"].shape[1]):
                if s["unknown"][other, k] >= 0:
                    size -= 1
                    s["unknown"][other, k] = cards[size]
                    s["hand"][other, cards[size]] += 1
                    s["unseen"][cards[size]] -= 1


@compiled
def collect_not_dealt(s: np.void, cards: npt.NDArray[np.int8]) -> int:
    """Write the starting cards that were not dealt into `cards`; how many they are.

    They are the cards nobody has seen that are in neither deck.
    """
    count = s["unseen"].copy()
    for side in range(2):
        for height in range(s["deck_size"][side] - s["deck_laid"][side]):
            count[s["deck"][deck_place(side, height)]] -= 1
    return pile(count, cards)


# -- in an order that tells nothing ----------------------------------------------------------------


@compiled
def forget(rules: npt.NDArray[np.void], states: States, i: int, seat: int) -> None:
    """Put what `seat`, which decides, cannot know of game i in an order that tells nothing, in place.

    All states that the seat cannot tell apart become the same one, to the last byte. What `resample`
    draws depends on how things lay before: where it must depend on nothing hidden, forget first.
    """
    r, s = rules[0], states[i]
    s["rng"] = 0
    sort_pearls(r, s, seat)
    for side in range(2):
        sort_deck(s, side)
    sort_starting_cards(s, seat)


@compiled
def sort_pearls(r: np.void, s: np.void, seat: int) -> None:
    """The pearls that the seat did not take."""
    pearls = np.empty(MAX_PEARLS, np.int16)
    count = 0
    for k in range(r["pearls"]):
        if s["pearl_owner"][k] != seat:
            pearls[count] = s["pearls"][k]
            count += 1
    pearls[:count].sort()
    for k in range(int(r["pearls"]) - 1, -1, -1):
        if s["pearl_owner"][k] != seat:
            count -= 1
            s["pearls"][k] = pearls[count]


@compiled
def sort_deck(s: np.void, side: int) -> None:
    """The cards of a deck that nobody laid there; the uppermost keeps its back."""
    size = int(s["deck_size"][side] - s["deck_laid"][side])
    if size == 0:
        return
    cards = np.empty(MAX_CARDS, np.int8)
    for height in range(size):
        cards[height] = s["deck"][deck_place(side, height)]
    back = BACK[cards[size - 1]]
    cards[:size].sort()
    top = 0
    while BACK[cards[top]] != back:
        top += 1
    cards[top], cards[size - 1] = cards[size - 1], cards[top]
    for height in range(size):
        s["deck"][deck_place(side, height)] = cards[height]


@compiled
def sort_starting_cards(s: np.void, seat: int) -> None:
    """The starting cards that others hold unknown, together with those not dealt."""
    cards = np.empty(MAX_CARDS, np.int8)
    size = collect_not_dealt(s, cards)
    held = np.zeros(MAX_PLAYERS, np.int64)
    for other in range(s["num_players"]):
        for k in range(s["unknown"].shape[1]):
            card = s["unknown"][other, k]
            if other != seat and card >= 0:
                held[other] += 1
                cards[size] = card
                size += 1
                s["unknown"][other, k] = -1
                s["hand"][other, card] -= 1
                s["unseen"][card] += 1
    cards[:size].sort()
    for other in range(s["num_players"]):
        for k in range(held[other]):
            size -= 1
            s["unknown"][other, k] = cards[size]
            s["hand"][other, cards[size]] += 1
            s["unseen"][cards[size]] -= 1
