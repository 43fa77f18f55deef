"""Things of the game in English words, for people who read a terminal or a page."""

from __future__ import annotations

from gardienii_env.rules.actions import ACTIONS
from gardienii_env.rules.cards import BACK, CARD_INDEX, COLOUR_NAMES, FRONT, LEFT, SIDE
from gardienii_env.rules.ruleset import Prize

__all__ = ["action_words", "card_words", "count_words", "prize_words"]

FRONT_WORDS = (*COLOUR_NAMES, "dark")
DECK_WORDS = ("left", "right")
PASS_WORDS = "stop taking, lay no further card, play nothing"


def count_words(number: int, thing: str) -> str:
    """A number of things: `1 pearl`, `2 pearls`."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def prize_words(prize: Prize) -> str:
    """What a prize gives: `the lowest amulet piece, 1 crystal`."""
    piece = [] if prize.piece == "none" else [f"the {prize.piece} amulet piece"]
    tokens = {
        "crystal": prize.crystals,
        "dark dragon": prize.dark_dragons,
        "golden egg": prize.golden_eggs,
    }
    counted = [count_words(number, token) for token, number in tokens.items() if number]
    return ", ".join(piece + counted) or "nothing"


def card_words(card: int) -> str:
    """What a card type is, front and back: `white dragon, page 3`, `red dragon, green page`."""
    page = f"page {BACK[card]}" if SIDE[card] == LEFT else f"{COLOUR_NAMES[BACK[card]]} page"
    return f"{FRONT_WORDS[FRONT[card]]} dragon, {page}"


def action_words(action: int) -> str:
    """What the action of an id does."""
    kind, _, what = ACTIONS[action].partition(":")
    if kind == "take":
        return f"take the card in supply slot {what}"
    if kind == "pass":
        return PASS_WORDS
    if kind == "column":
        return f"put the new column at the {what} end"
    card = CARD_INDEX[what]
    if kind == "modify":
        return f"lay {what} on the {DECK_WORDS[SIDE[card]]} deck ({card_words(card)})"
    return f"play {what} ({card_words(card)})"
