"""What a move did, as everybody at the table saw it: the whole set that was played, and what it earned.

A game makes decisions without a choice by itself; so a move may bring with it the rest of a set. What is
told here is public: amulet pieces are taken from those that lie open, of a pearl nobody else learns more
than that it was taken.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gardienii_env.game import Game
from gardienii_env.render.texts import action_words, colour_key, joined, text
from gardienii_env.rules.actions import ACTIONS, action_id
from gardienii_env.rules.cards import CARDS, COLOURS, SET_CARDS, SIDES

__all__ = ["do_move", "gain_words", "move_words"]


def do_move(game: Game, action: str | int) -> dict[str, Any]:
    """Do an action in a game; tells it as plain data. IllegalActionError as `Game.apply`.

    - `seat`, `step`, `action`; `turn`: its number, from 1; `card`: that is moved, if any.
    - `set`: None unless the move completed a set, else `cards`, all of them in the order in which they
      were played, `number` and `colour` of the spell, and `gains`: amulet piece by its points (`piece`),
      `pearls`, `crystals`, `golden_eggs`, `dark_dragons`, how many of each, and `crest` by its points;
      what was not earned is left out.
    """
    action = ACTIONS[action_id(action)]
    before, card = game.state.copy(), _card(game, action)
    move = {
        "seat": game.player,
        "turn": game.turns + 1,
        "step": game.step,
        "action": action,
        "card": card,
    }
    game.apply(action)
    seat, after = int(before["player"]), game.state
    grown = after["column_cards"][seat] - before["column_cards"][seat]
    return {**move, "set": _told_set(game, before, action, grown) if grown.any() else None}


def _card(game: Game, action: str) -> str | None:
    """The card that an action moves."""
    kind, _, what = action.partition(":")
    if kind == "take":
        return CARDS[int(game.state["supply"][SIDES.index(what[0]), int(what[1])])]
    return what if kind in ("modify", "play") else None


def _told_set(game: Game, before: np.void, action: str, grown: npt.NDArray[np.int8]) -> dict[str, Any]:
    """The set that a move completed; `grown`: cards that came into each column, shape (4,), int8."""
    number, colour = int(grown.sum()), int(grown.argmax())
    return {
        "cards": [CARDS[card] for card in _set_cards(before, action, number, colour)],
        "number": number,
        "colour": COLOURS[colour],
        "gains": _gains(game, before),
    }


def _set_cards(before: np.void, action: str, number: int, colour: int) -> list[int]:
    """The cards of the set that an action completed, and after it those that left no choice."""
    cards = [int(card) for card in before["open"][: before["opened"]]]
    hand: npt.NDArray[np.int8] = before["hand"][before["player"]].copy()
    kind, _, what = action.partition(":")
    if kind == "play":
        cards.append(CARDS.index(what))
        hand[cards[-1]] -= 1
    while len(cards) < number:  # the only card that the rest can begin with: see engine.legal_plays
        left = [int(card) for card in SET_CARDS[colour] if card >= cards[-1] for _ in range(hand[card])]
        cards.append(left[len(left) - (number - len(cards))])
        hand[cards[-1]] -= 1
    return cards


def _gains(game: Game, before: np.void) -> dict[str, int]:
    seat, after = before["player"], game.state
    gains = {
        "pearls": int(after["num_pearls"][seat] - before["num_pearls"][seat]),
        "crystals": int(after["crystals"][seat] - before["crystals"][seat]),
        "golden_eggs": int(after["eggs"][seat] - before["eggs"][seat]),
        "dark_dragons": int(before["bank_dark_dragons"] - after["bank_dark_dragons"]),
    }
    values = sorted(int(points) for points in game.ruleset.amulet_pieces)
    pieces = np.flatnonzero(after["pieces"][seat] > before["pieces"][seat])
    if len(pieces):
        gains = {"piece": values[pieces[0]], **gains}
    if after["crest"][seat] != before["crest"][seat]:
        gains["crest"] = game.ruleset.crests[after["crest"][seat]]
    return {name: number for name, number in gains.items() if number or name in ("piece", "crest")}


# -- in words --------------------------------------------------------------------------------------


def move_words(language: str, move: dict[str, Any]) -> str:
    """What a move did: `plays B3 and B5 (2 blue dragons); gets: a piece of 4 points`."""
    done = move["set"]
    words = action_words(language, move["action"], step=move["step"], card=move["card"])
    if done is None:
        return words
    dragons = text(language, f"count.{colour_key(done['colour'])}_dragon", number=done["number"])
    told = text(language, "told.set", cards=joined(language, done["cards"]), dragons=dragons)
    words = f"{words}; {told}" if move["step"] == "column" else told
    gains = gain_words(language, done["gains"])
    return f"{words}; {text(language, 'told.gets', what=gains)}" if gains else words


GAINS = {"pearls": "pearl", "crystals": "crystal", "golden_eggs": "golden_egg"}
GAINS |= {"dark_dragons": "dark_dragon"}


def gain_words(language: str, gains: dict[str, int]) -> str:
    """What a set earned, with commas."""
    words = []
    for name, number in gains.items():
        key = f"count.{GAINS[name]}" if name in GAINS else f"gain.{name}"
        words.append(text(language, key, number=number))
    return ", ".join(words)
