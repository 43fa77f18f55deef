"""Things of the game in words."""

from __future__ import annotations

import pytest

from gardienii_env import ACTIONS
from gardienii_env.rules.actions import ACTION_INDEX
from gardienii_env.rules.cards import CARD_INDEX
from gardienii_env.rules.ruleset import Prize
from gardienii_env.words import action_words, card_words, count_words, prize_words


def test_only_one_thing_is_singular() -> None:
    assert [count_words(n, "pearl") for n in range(3)] == ["0 pearls", "1 pearl", "2 pearls"]


@pytest.mark.parametrize(
    ("prize", "words"),
    [
        (Prize(), "nothing"),
        (Prize("highest"), "the highest amulet piece"),
        (Prize("lowest", crystals=1), "the lowest amulet piece, 1 crystal"),
        (Prize("none", 2, 3, 1), "2 crystals, 3 dark dragons, 1 golden egg"),
    ],
)
def test_a_prize_is_told_in_full(prize: Prize, words: str) -> None:
    assert prize_words(prize) == words


@pytest.mark.parametrize(
    ("card", "words"),
    [
        ("W3", "white dragon, page 3"),
        ("Rg", "red dragon, green page"),
        ("Bw", "blue dragon, white page"),
        ("G5", "green dragon, page 5"),
        ("D6", "dark dragon, page 6"),
    ],
)
def test_a_card_is_told_front_and_back(card: str, words: str) -> None:
    assert card_words(CARD_INDEX[card]) == words


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ("take:R1", "take the card in supply slot R1"),
        ("pass", "stop taking, lay no further card, play nothing"),
        ("modify:Rg", "lay Rg on the right deck (red dragon, green page)"),
        ("modify:D6", "lay D6 on the left deck (dark dragon, page 6)"),
        ("play:W1", "play W1 (white dragon, page 1)"),
        ("column:left", "put the new column at the left end"),
    ],
)
def test_an_action_is_told(action: str, words: str) -> None:
    assert action_words(ACTION_INDEX[action]) == words


def test_no_two_actions_read_the_same() -> None:
    assert len({action_words(action) for action in range(len(ACTIONS))}) == len(ACTIONS)
