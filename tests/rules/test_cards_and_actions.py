"""The card types and the actions: names, ids and order as in the rules page."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from gardienii_env import ACTIONS, NUM_ACTIONS, IllegalActionError, Ruleset
from gardienii_env.rules import actions
from gardienii_env.rules.actions import action_id
from gardienii_env.rules.cards import (
    BACK,
    CARD_INDEX,
    CARDS,
    DARK,
    FRONT,
    LEFT,
    NUM_CARDS,
    RIGHT,
    SET_CARDS,
    SIDE,
    back_name,
)
from gardienii_env.rules.ruleset import SHIPPED

IN_ORDER = [
    *("W1", "W2", "W3", "W4", "W5"),
    *("R1", "R2", "R3", "R4", "R5"),
    *("B1", "B2", "B3", "B4", "B5"),
    *("G1", "G2", "G3", "G4", "G5"),
    *("Wr", "Wb", "Wg"),
    *("Rw", "Rb", "Rg"),
    *("Bw", "Br", "Bg"),
    *("Gw", "Gr", "Gb"),
    "D6",
]


def names(cards: Any) -> str:
    return " ".join(CARDS[card] for card in cards)


def test_the_33_card_types_are_in_order() -> None:
    assert list(CARDS) == IN_ORDER
    assert NUM_CARDS == 33
    assert [CARD_INDEX[name] for name in IN_ORDER] == list(range(33))
    assert DARK == 32


def test_a_name_is_front_then_back() -> None:
    for card, name in enumerate(CARDS):
        assert "WRBGD"[FRONT[card]] == name[0]
        assert back_name(SIDE[card], BACK[card]) == name[1]
        assert SIDE[card] == (LEFT if name[1] in "123456" else RIGHT)


def test_only_d6_is_dark_and_has_a_6() -> None:
    assert names(np.flatnonzero(FRONT == 4)) == "D6"
    assert names(np.flatnonzero((SIDE == LEFT) & (BACK == 6))) == "D6"


def test_a_set_is_of_one_colour_and_dark_in_type_order() -> None:
    assert [names(cards) for cards in SET_CARDS] == [
        "W1 W2 W3 W4 W5 Wr Wb Wg D6",
        "R1 R2 R3 R4 R5 Rw Rb Rg D6",
        "B1 B2 B3 B4 B5 Bw Br Bg D6",
        "G1 G2 G3 G4 G5 Gw Gr Gb D6",
    ]


@pytest.mark.parametrize("name", SHIPPED)
def test_components_are_those_of_the_rules_page(name: str) -> None:
    ruleset = Ruleset.get(name)
    assert sum(ruleset.left_deck.values()) == 52
    assert sum(ruleset.right_deck.values()) == 52
    assert sum(ruleset.starting_cards.values()) == 8
    assert sum(ruleset.amulet_pieces.values()) == 45
    assert sum(ruleset.pearls.values()) == 15
    assert (ruleset.dark_dragons, ruleset.crystals, ruleset.golden_eggs) == (11, 10, 9)
    assert len(ruleset.crests) == 3


@pytest.mark.parametrize("name", SHIPPED)
def test_of_all_60_right_pages_there_are_five_of_each(name: str) -> None:
    ruleset = Ruleset.get(name)
    pages = Counter(ruleset.right_deck) + Counter(ruleset.starting_cards)
    assert pages == dict.fromkeys(IN_ORDER[20:32], 5)


def test_the_73_actions_are_in_order() -> None:
    assert list(ACTIONS) == [
        *("take:L0", "take:L1", "take:R0", "take:R1"),
        "pass",
        *("modify:" + card for card in IN_ORDER),
        *("play:" + card for card in IN_ORDER),
        *("column:left", "column:right"),
    ]
    assert NUM_ACTIONS == 73


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("take:L0", 0),
        ("take:R1", 3),
        ("pass", 4),
        ("modify:W1", 5),
        ("modify:D6", 37),
        ("play:W1", 38),
        ("play:D6", 70),
        ("column:left", 71),
        ("column:right", 72),
    ],
)
def test_ids_of_the_rules_page(name: str, number: int) -> None:
    assert ACTIONS[number] == name
    assert action_id(name) == number


def test_the_starts_of_the_kinds_are_named() -> None:
    kinds = (actions.TAKE, actions.PASS, actions.MODIFY, actions.PLAY)
    assert [*kinds, actions.COLUMN_LEFT, actions.COLUMN_RIGHT] == [0, 4, 5, 38, 71, 72]


def test_every_action_is_found_by_name_and_by_id() -> None:
    for number, name in enumerate(ACTIONS):
        assert action_id(name) == action_id(number) == number


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64, np.uint8, np.array])
def test_ids_may_be_numpy_integers(kind: Any) -> None:
    number = action_id(kind(71))
    assert (number, type(number)) == (71, int)


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "take",
        "take:L2",
        "Take:L0",
        " pass",
        "play:W6",
        "4",
        -1,
        73,
        10**30,
        4.0,
        np.float32(4),
        True,
        np.True_,
        None,
        [],
        [4],
        ("pass",),
        b"pass",
        np.array([1, 2]),
        float("nan"),
    ],
)
def test_anything_else_is_no_action(wrong: Any) -> None:
    with pytest.raises(IllegalActionError, match="is not known"):
        action_id(wrong)


def test_the_message_suggests_the_nearest_name() -> None:
    with pytest.raises(IllegalActionError, match=r"'colunm:left' is not known.*mean 'column:left'"):
        action_id("colunm:left")


def test_the_message_for_an_id_says_the_range() -> None:
    with pytest.raises(IllegalActionError, match=r"73 is not known.*from 0 to 72"):
        action_id(73)
