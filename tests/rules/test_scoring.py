"""Points, winners and payoffs: the second half of the section on the end in the rules page."""

from __future__ import annotations

import numpy as np
import pytest
from positions import do, position

from gardienii_env import Game, Ruleset
from gardienii_env.rules.ruleset import SHIPPED
from gardienii_env.rules.scoring import SOURCES, payoffs, points, winners

every_ruleset = pytest.mark.parametrize("ruleset", SHIPPED)


def with_scores(*scores: int, cards: list[int] | None = None) -> Game:
    """A game of as many players, with points of dragons only and so many cards in each tableau."""
    game = position(len(scores), step="take", dragon_points=list(scores))
    game.state["column_cards"][: len(scores), 0] = cards or 0
    return game


@every_ruleset
@pytest.mark.parametrize(
    ("spell", "cards", "value"),
    [
        ("1w", "W1", 1),
        ("1w", "W4", 4),
        ("1w", "W5", 5),
        ("1w", "Wg", 1),
        ("1w", "D6", 1),
        ("2r", "R2 R3", 5),
        ("4b", "B5 B5 Bw D6", 12),
        ("6g", "G1 G1 Gw Gr D6 D6", 6),
    ],
)
def test_the_cards_played_are_worth_their_value(
    ruleset: str, spell: str, cards: str, value: int
) -> None:
    game = position(2, ruleset, spell=spell, hands=[cards])
    do(game, "play:" + cards.split()[0])
    assert game.points()[0]["dragons"] == {"gardienii": value, "dragonkeepers": 0}[ruleset]


def test_values_of_several_sets_add_up() -> None:
    game = position(spell="1r", hands=["R5"], dragon_points=[7])
    do(game, "play:R5")
    assert game.points()[0]["dragons"] == 12


def test_card_values_are_data() -> None:
    values = {"1": 9, "2": 2, "3": 3, "4": 4, "5": 5, "colour": 7, "dark": 6}
    rules = Ruleset.get("gardienii").replace(
        card_values=values, left_deck={"W1": 2}, right_deck={"Wr": 2}
    )
    game = position(2, rules, spell="3w", hands=["W1 Wr D6"])
    do(game, "play:W1")
    assert game.points()[0]["dragons"] == 22


def test_pieces_count_whether_or_not_their_amulet_is_complete() -> None:
    game = position(3, step="take", pieces=[{1: 2, 20: 2}, {16: 3}])
    assert [p["pieces"] for p in game.points()] == [42, 48, 0]


def test_pearls_count_for_who_took_them() -> None:
    game = position(3, step="take", pearls=[9, 3, 8, 4, 9], pearl_owner=[1, 0, 1, 1], pearls_given=4)
    assert [p["pearls"] for p in game.points()] == [3, 21, 0]


@every_ruleset
def test_crystals_left_count_in_the_default_ruleset(ruleset: str) -> None:
    game = position(2, ruleset, step="take", crystals=[3, 1])
    expected = {"gardienii": [3, 1], "dragonkeepers": [0, 0]}[ruleset]
    assert [p["crystals"] for p in game.points()] == expected


def test_crystal_points_are_data() -> None:
    rules = Ruleset.get("gardienii").replace(crystal_points=5)
    assert position(2, rules, step="take", crystals=[3]).points()[0]["crystals"] == 15


@every_ruleset
@pytest.mark.parametrize(
    ("eggs", "expected"),
    [
        ([0, 0], [0, 0]),
        ([1, 0], [16, 0]),
        ([3, 2], [24, 8]),
        ([2, 2], [20, 20]),
        ([1, 3, 3], [4, 24, 24]),
        ([0, 0, 1], [0, 0, 16]),
        ([2, 1, 0, 2], [20, 4, 0, 20]),
        ([1, 1, 1, 1], [16, 16, 16, 16]),
    ],
)
def test_all_who_have_the_most_eggs_turn_one_over(
    ruleset: str, eggs: list[int], expected: list[int]
) -> None:
    game = position(len(eggs), ruleset, step="take", eggs=eggs)
    assert [p["eggs"] for p in game.points()] == expected


def test_egg_points_are_data() -> None:
    rules = Ruleset.get("gardienii").replace(egg_points=3, egg_majority_points=1)
    assert [p["eggs"] for p in position(2, rules, step="take", eggs=[2, 1]).points()] == [4, 3]


def test_crests_count() -> None:
    game = position(4, step="take", crest=[1, -1, 0, 2], crests_given=3)
    assert [p["crest"] for p in game.points()] == [10, 0, 16, 6]


def test_the_score_is_the_sum_of_all_sources() -> None:
    game = position(
        2,
        step="take",
        dragon_points=[5],
        pieces=[{4: 2}],
        pearls=[9],
        pearl_owner=[0],
        pearls_given=1,
        crystals=[2],
        eggs=[1],
        crest=[2],
        crests_given=3,
    )
    assert game.points()[0] == {
        "dragons": 5,
        "pieces": 8,
        "pearls": 9,
        "crystals": 2,
        "eggs": 16,
        "crest": 6,
    }
    assert game.scores() == [46, 0]


@pytest.mark.parametrize(
    ("scores", "cards", "expected"),
    [
        ([5, 4], None, [0]),
        ([4, 5], None, [1]),
        ([4, 5], [9, 0], [1]),
        ([5, 5], [3, 4], [1]),
        ([5, 5], [4, 4], [0, 1]),
        ([5, 5, 1], [4, 4, 9], [0, 1]),
        ([5, 5, 5], [4, 4, 4], [0, 1, 2]),
        ([5, 5, 5, 5], [1, 4, 2, 4], [1, 3]),
        ([0, 0], [0, 0], [0, 1]),
    ],
)
def test_most_points_win_then_most_cards_then_all_who_are_level(
    scores: list[int], cards: list[int] | None, expected: list[int]
) -> None:
    assert with_scores(*scores, cards=cards).winners() == expected


def test_cards_of_all_columns_break_a_tie() -> None:
    game = position(2, step="take", tableaus=["W", "WRBG"])
    game.state["column_cards"][0, 0] = 3
    assert game.winners() == [1]


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([2, 1], [1, -1]),
        ([1, 1], [0, 0]),
        ([0, 2, 1], [-1 / 2, 1, -1 / 2]),
        ([2, 1, 2], [1 / 4, -1 / 2, 1 / 4]),
        ([2, 2, 2], [0, 0, 0]),
        ([0, 1, 0, 0], [-1 / 3, 1, -1 / 3, -1 / 3]),
        ([3, 0, 0, 3], [1 / 3, -1 / 3, -1 / 3, 1 / 3]),
        ([1, 1, 1, 0], [1 / 9, 1 / 9, 1 / 9, -1 / 3]),
        ([1, 1, 1, 1], [0, 0, 0, 0]),
    ],
)
def test_payoffs(scores: list[int], expected: list[float]) -> None:
    result = with_scores(*scores).payoffs()
    assert result == pytest.approx(expected)
    assert sum(result) == pytest.approx(0)


def test_arrays_have_the_shapes_and_dtypes_that_are_written_down() -> None:
    game = with_scores(3, 1, 2)
    for function, shape, dtype in (
        (points, (3, len(SOURCES)), np.int64),
        (winners, (3,), np.bool_),
        (payoffs, (3,), np.float64),
    ):
        result = function(game.batch.rules, game.batch.states, 0)
        assert (result.shape, result.dtype) == (shape, np.dtype(dtype))
