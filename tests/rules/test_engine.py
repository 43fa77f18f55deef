"""Every sentence of the rules from the set-up to the end, in positions written by hand.

The headings are those of the rules page. Scoring is in `test_scoring.py`.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from positions import columns, deck, do, hand, may, pieces, position, spell, supply
from rulesets import COMBINATIONS

from gardienii_env import NUM_ACTIONS, Game, Ruleset
from gardienii_env.rules import engine
from gardienii_env.rules.bits import count_bits
from gardienii_env.rules.cards import CARDS
from gardienii_env.rules.random import seed_streams
from gardienii_env.rules.ruleset import SHIPPED

every_ruleset = pytest.mark.parametrize("ruleset", SHIPPED)
every_number_of_players = pytest.mark.parametrize("players", [2, 3, 4])
every_game = pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)


def with_rules(**changes: Any) -> Ruleset:
    """The default ruleset with some fields changed."""
    return Ruleset.get("gardienii").replace(**changes)


# -- set-up ----------------------------------------------------------------------------------------


@every_game
def test_seat_0_begins_with_taking(ruleset: str, players: int) -> None:
    game = Game.new(players, ruleset, seed=1)
    assert (game.player, game.step, game.turns, game.end) == (0, "take", 0, None)


@every_game
def test_the_top_cards_of_each_deck_are_turned_up(ruleset: str, players: int) -> None:
    game = Game.new(players, ruleset, seed=1)
    turned_up = {"gardienii": 2, "dragonkeepers": 1}[ruleset]
    filled = (game.state["supply"] >= 0).tolist()
    assert filled == [[True, turned_up == 2]] * 2
    assert game.state["deck_size"].tolist() == [52 - turned_up, 52 - turned_up]


def test_slot_0_is_turned_up_before_slot_1() -> None:
    one, two = Game.new(2, with_rules(supply_per_deck=1), seed=1), Game.new(2, seed=1)
    left_0, _, right_0, _ = supply(one).split()
    left_1, right_1 = deck(one, "L").split()[-1], deck(one, "R").split()[-1]
    assert supply(two) == f"{left_0} {left_1} {right_0} {right_1}"


@every_game
def test_all_cards_of_the_decks_are_in_the_game(ruleset: str, players: int) -> None:
    game = Game.new(players, ruleset, seed=1)
    left_0, left_1, right_0, right_1 = supply(game).split()
    left = Counter(deck(game, "L").split() + [left_0, left_1])
    right = Counter(deck(game, "R").split() + [right_0, right_1])
    del left["--"], right["--"]
    assert left == game.ruleset.left_deck
    assert right == game.ruleset.right_deck


@every_game
def test_seat_p_is_dealt_p_starting_cards(ruleset: str, players: int) -> None:
    game = Game.new(players, ruleset, seed=1)
    hands = [hand(game, seat) for seat in range(players)]
    assert [len(cards.split()) for cards in hands] == [0, 1, 2, 3][:players]
    assert Counter(" ".join(hands).split()) <= Counter(game.ruleset.starting_cards)


@every_ruleset
@pytest.mark.parametrize(("players", "left"), [(2, 45 - 16), (3, 45 - 12), (4, 45 - 8)])
def test_amulet_pieces_are_removed_by_number_of_players(ruleset: str, players: int, left: int) -> None:
    game = Game.new(players, ruleset, seed=1)
    assert game.state["bank_pieces"].sum() == left
    assert (game.state["bank_pieces"] <= [8, 8, 5, 4, 8, 4, 5, 3]).all()


def test_which_pieces_are_removed_is_chance() -> None:
    banks = {Game.new(2, seed=seed).state["bank_pieces"].tobytes() for seed in range(10)}
    assert len(banks) > 5


@every_game
def test_all_pearls_are_in_the_row(ruleset: str, players: int) -> None:
    game = Game.new(players, ruleset, seed=1)
    assert sorted(game.state["pearls"][:15]) == [3] * 5 + [4] * 4 + [8] * 3 + [9] * 3


def test_the_order_of_the_pearls_is_chance() -> None:
    rows = {Game.new(2, seed=seed).state["pearls"].tobytes() for seed in range(10)}
    assert len(rows) == 10


@every_game
def test_tokens_lie_in_the_bank_and_players_have_nothing(ruleset: str, players: int) -> None:
    game = Game.new(players, ruleset, seed=1)
    s = game.state
    assert (s["bank_crystals"], s["bank_eggs"], s["bank_dark_dragons"]) == (10, 9, 11)
    assert not any(s[field].any() for field in ("crystals", "eggs", "pieces", "column_cards"))
    assert game.scores() == [0] * players


def test_all_chance_comes_from_the_seed() -> None:
    deals = [Game.new(2, seed=seed).deal() for seed in (1, 1, 2)]
    assert deals[0] == deals[1] != deals[2]


def test_dealing_again_gives_another_game() -> None:
    batch = Game.new(2, seed=1).batch
    first = batch.copy().states
    batch.deal(0)
    assert first["deck"].tobytes() != batch.states["deck"].tobytes()


def test_dealing_again_leaves_nothing_of_the_game_before() -> None:
    used = Game.new(3, seed=2).batch
    used.states.view(np.uint8)[:] = 1
    used.states["filler"] = 0
    used.states["rng"] = seed_streams(1, 1)
    used.deal(0)
    assert used.states.tobytes() == Game.new(3, seed=1).batch.states.tobytes()


# -- step 1: take ----------------------------------------------------------------------------------


@every_game
def test_the_first_card_is_compulsory(ruleset: str, players: int) -> None:
    assert "pass" not in Game.new(players, ruleset, seed=1).legal_actions()


@every_ruleset
def test_every_filled_slot_is_offered(ruleset: str) -> None:
    game = Game.new(2, ruleset, seed=1)
    offered = {"gardienii": "L0 L1 R0 R1", "dragonkeepers": "L0 R0"}[ruleset]
    assert may(game, "take") == offered
    assert may(position(step="take", supply="-- W1 Wr --"), "take") == "L1 R0"


def test_a_taken_card_goes_into_the_hand() -> None:
    game = position(step="take", supply="W1 R2 Wr Rb", hands=["Gr"])
    do(game, "take:L1", "take:R0")
    assert hand(game, 0) == "R2 Wr Gr"


def test_a_slot_is_refilled_at_once_and_the_spell_changes() -> None:
    game = position(step="take", left="G1 G2 G3", right="Rb Gw", supply="W1 R2 Wr Rb")
    assert spell(game) == "3w"
    do(game, "take:L1")
    assert supply(game) == "W1 G3 Wr Rb"
    assert spell(game) == "2w"
    do(game, "take:R0")
    assert supply(game) == "W1 G3 Gw Rb"
    assert spell(game) == "2b"


def test_stopping_is_free_from_the_second_card_on() -> None:
    game = position(step="take", hands=["W1"])
    do(game, "take:L0")
    assert game.legal_actions() == ["take:L0", "take:R0", "pass"]
    do(game, "take:L0")
    assert game.legal_actions() == ["take:L0", "take:R0", "pass"]
    do(game, "pass")
    assert game.step == "modify"


@every_ruleset
def test_no_more_than_three_cards_are_free(ruleset: str) -> None:
    game = Game.new(2, ruleset, seed=1)
    do(game, "take:L0", "take:L0", "take:L0")
    assert game.step == "modify"
    assert len(hand(game, 0).split()) == 3


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_take_limit_is_data(limit: int) -> None:
    game = Game.new(2, with_rules(take_limit=limit), seed=1)
    do(game, *["take:L0"] * limit)
    assert game.step == "modify"


@every_ruleset
def test_the_fourth_card_costs_a_crystal_to_the_bank(ruleset: str) -> None:
    game = position(2, ruleset, step="take", left="G1 " * 9, crystals=[2], bank_crystals=8)
    do(game, "take:L0", "take:L0", "take:L0")
    assert (game.state["crystals"][0], game.state["bank_crystals"]) == (2, 8)
    assert game.step == "take"
    do(game, "take:L0")
    assert (game.state["crystals"][0], game.state["bank_crystals"]) == (1, 9)
    assert len(hand(game, 0).split()) == 4


@pytest.mark.parametrize(
    ("per_turn", "crystals", "cards"), [(0, 5, 3), (1, 5, 4), (2, 5, 5), (10, 5, 8), (10, 0, 3)]
)
def test_crystals_are_paid_up_to_the_limit_and_while_there_are_any(
    per_turn: int, crystals: int, cards: int
) -> None:
    rules = with_rules(crystals_per_turn=per_turn)
    game = position(2, rules, step="take", left="G1 " * 20, crystals=[crystals])
    while game.step == "take":
        do(game, "take:L0")
    assert len(hand(game, 0).split()) == cards


@every_ruleset
def test_crystals_payable_in_a_shipped_ruleset(ruleset: str) -> None:
    game = position(2, ruleset, step="take", left="G1 " * 20, crystals=[10], bank_crystals=0)
    while game.step == "take":
        do(game, "take:L0")
    assert len(hand(game, 0).split()) == {"gardienii": 13, "dragonkeepers": 4}[ruleset]


def test_only_the_own_crystals_pay() -> None:
    game = position(step="take", crystals=[0, 5])
    do(game, "take:L0", "take:R0", "take:L0")
    assert game.step == "modify"


def test_paying_more_may_be_declined() -> None:
    game = position(step="take", left="G1 " * 9, crystals=[2])
    do(game, "take:L0", "take:L0", "take:L0", "pass")
    assert game.step == "modify"
    assert game.state["crystals"][0] == 2


def test_crystals_of_the_turn_are_counted_anew_each_turn() -> None:
    rules = with_rules(crystals_per_turn=1, modifications_per_turn=0)
    game = position(2, rules, step="take", left="G1 " * 20, right="Wr", crystals=[2, 2])
    do(game, *["take:L0"] * 4)
    assert game.player == 1
    do(game, *["take:L0"] * 4)
    assert game.player == 0
    assert game.state["crystals"][:2].tolist() == [1, 1]


def test_there_is_no_hand_limit() -> None:
    game = position(step="take", supply="W1 R1 Wr Rw", hands=["G5 " * 20 + "Gb " * 20])
    do(game, "take:L0")
    assert len(hand(game, 0).split()) == 41


def test_with_an_empty_deck_the_slot_stays_empty() -> None:
    game = position(step="take", left="", right="Rb", supply="W1 R2 Wr Rb")
    do(game, "take:L0")
    assert supply(game) == "-- R2 Wr Rb"
    assert may(game, "take") == "L1 R0 R1"
    do(game, "take:R0")
    assert supply(game) == "-- R2 Rb Rb"
    do(game, "take:R0")
    assert supply(game) == "-- R2 -- Rb"


def test_an_emptied_slot_stays_empty_when_a_card_is_laid_on_the_empty_deck() -> None:
    game = position(step="take", left="", right="Rb", supply="W1 R2 Wr Gw")
    do(game, "take:L0", "pass", "modify:W1")
    assert supply(game) == "-- R2 Wr Gw"
    assert deck(game, "L") == "W1"


def test_a_card_laid_on_an_emptied_deck_refills_the_other_slot_of_its_side_only() -> None:
    game = position(step="take", left="", right="Rb Rb", supply="W1 R2 Wr Gw")
    do(game, "take:L0", "pass", "modify:W1")
    assert game.player == 1
    do(game, "take:L1")
    assert supply(game) == "-- W1 Wr Gw"
    assert hand(game, 1) == "R2"
    assert spell(game) == "-b"
    do(game, "take:L1")
    assert supply(game) == "-- -- Wr Gw"


def test_an_empty_slot_is_not_offered_in_later_turns() -> None:
    game = position(step="take", left="", right="Rb Rb", supply="W1 R2 Wr Gw")
    do(game, "take:L0", "pass", "pass")
    assert game.player == 1
    assert may(game, "take") == "L1 R0 R1"


def test_taking_ends_when_the_supply_runs_out() -> None:
    game = position(step="take", left="", right="Rb", supply="W1 R2 -- --", crystals=[5])
    do(game, "take:L0")
    assert game.legal_actions() == ["take:L1", "pass"]
    do(game, "take:L1")
    assert game.step == "modify"
    assert game.state["crystals"][0] == 5


# -- step 2: modify --------------------------------------------------------------------------------


def test_a_card_is_laid_on_the_deck_of_its_side() -> None:
    left = position(step="modify", left="G1", right="Rb", hands=["W3 Wg"])
    right = left.clone()
    do(left, "modify:W3")
    assert (deck(left, "L"), deck(left, "R"), hand(left, 0), spell(left)) == ("G1 W3", "Rb", "Wg", "3b")
    do(right, "modify:Wg")
    assert (deck(right, "L"), deck(right, "R"), hand(right, 0)) == ("G1", "Rb Wg", "W3")
    assert spell(right) == "1g"


def test_any_card_in_hand_may_be_laid_or_none() -> None:
    game = position(step="modify", hands=["W1 W3 W3 Wg D6", "B1"])
    assert game.legal_actions() == ["pass", "modify:W1", "modify:W3", "modify:Wg", "modify:D6"]
    do(game, "pass")
    assert (game.step, hand(game, 0)) == ("play", "W1 W3 W3 Wg D6")


def test_laying_is_for_the_active_player_only_in_the_own_turn() -> None:
    game = position(step="modify", spell="1w", hands=["W1", "W1 R2"])
    do(game, "pass", "pass")
    assert (game.player, game.step) == (1, "play")


@pytest.mark.parametrize(("limit", "offered"), [(0, ""), (1, ""), (2, "Wg Rb")])
def test_no_more_cards_are_laid_than_the_limit_and_one_a_side(limit: int, offered: str) -> None:
    rules = with_rules(modifications_per_turn=limit)
    game = position(2, rules, step="take", spell="1w", hands=["W1 W3 Wg Rb"])
    do(game, "take:L0", "pass")
    if limit > 0:
        assert may(game, "modify") == "W1 W3 Wg Rb"
        do(game, "modify:W3")
    assert may(game, "modify") == offered
    if limit < 2:
        assert game.step == "play"


@every_ruleset
def test_cards_laid_in_a_turn_of_a_shipped_ruleset(ruleset: str) -> None:
    game = position(2, ruleset, step="modify", hands=["W1 W3 Wg Rb"])
    do(game, "modify:W3")
    assert may(game, "modify") == {"gardienii": "", "dragonkeepers": "Wg Rb"}[ruleset]


def test_the_right_page_may_be_laid_before_the_left() -> None:
    game = position(2, "dragonkeepers", step="modify", spell="3b", hands=["W1 W2 Wg Rb"])
    do(game, "modify:Wg")
    assert game.legal_actions() == ["pass", "modify:W1", "modify:W2"]
    do(game, "modify:W2")
    assert spell(game) == "2g"


def test_the_second_card_need_not_be_laid() -> None:
    game = position(2, "dragonkeepers", step="modify", spell="3b", hands=["W1 W1 Wb"])
    do(game, "modify:Wb", "pass")
    assert (spell(game), hand(game, 0)) == ("3b", "W1 W1")


def test_d6_makes_the_left_page_a_6() -> None:
    game = position(step="modify", spell="1r", hands=["D6 W1"])
    do(game, "modify:D6")
    assert spell(game) == "6r"


def test_d6_is_later_drawn_into_the_supply_and_taken() -> None:
    game = position(step="modify", left="G2", right="Gw Rb", hands=["D6"])
    do(game, "modify:D6")
    assert (game.player, spell(game)) == (1, "6b")
    do(game, "take:L0")
    assert (supply(game), spell(game)) == ("D6 -- Wr --", "2b")
    do(game, "take:L0")
    assert hand(game, 1) == "W1 D6"


def test_a_laid_card_refills_a_slot_like_any_top_card() -> None:
    game = position(step="modify", left="G2", right="Gw Rb", hands=["B5"])
    do(game, "modify:B5", "take:L0")
    assert supply(game) == "B5 -- Wr --"
    assert spell(game) == "2b"


@pytest.mark.parametrize(
    ("left", "right", "card", "complete"), [("", "Rw", "W1", "1w"), ("G1", "", "Rw", "1w")]
)
def test_laying_on_an_empty_deck_completes_the_spell_again(
    left: str, right: str, card: str, complete: str
) -> None:
    game = position(step="modify", left=left, right=right, hands=[f"W2 {card}"])
    do(game, f"modify:{card}")
    assert spell(game) == complete
    assert may(game, "play") == "W2"


# -- step 3: play ----------------------------------------------------------------------------------


def test_exactly_n_dragons_of_the_colour_or_dark_are_played() -> None:
    game = position(spell="3r", hands=["R1 R2 Rw W1 Wr D6"])
    assert game.legal_actions() == ["pass", "play:R1", "play:R2"]
    do(game, "play:R1", "play:Rw")
    assert hand(game, 0) == "W1 R2 Wr"
    assert (columns(game, 0), game.state["column_cards"][0].tolist()) == ("R", [0, 3, 0, 0])


def test_the_front_counts_not_the_back() -> None:
    game = position(spell="1r", hands=["Wr Br Rb G1"])
    assert may(game, "play") == "Rb"


def test_cards_are_chosen_in_ascending_order_equal_allowed() -> None:
    game = position(spell="3r", hands=["R1 R1 R2 R3 R3 D6"])
    do(game, "play:R1")
    assert may(game, "play") == "R1 R2 R3"
    do(game, "play:R3")
    assert may(game, "play") == "R3 D6"


def test_only_types_are_offered_with_which_the_set_can_be_completed() -> None:
    game = position(spell="4r", hands=["R1 R2 R2 R4 D6"])
    assert may(game, "play") == "R1 R2"
    do(game, "play:R1")
    assert hand(game, 0) == "R2 R4 D6"  # only R2 could follow
    assert may(game, "play") == "R2 R4"


def test_pass_only_before_the_first_card() -> None:
    game = position(spell="2r", hands=["R1 R2 R3"])
    assert "pass" in game.legal_actions()
    do(game, "play:R1")
    assert game.legal_actions() == ["play:R2", "play:R3"]


def test_a_set_may_be_all_dark() -> None:
    game = position(spell="2b", hands=["D6 D6 D6"])
    assert game.legal_actions() == ["pass", "play:D6"]
    do(game, "play:D6")
    assert columns(game, 0) == "B"
    assert game.state["column_cards"][0].tolist() == [0, 0, 2, 0]


def test_dark_dragons_complete_a_set_of_colour() -> None:
    game = position(spell="2b", hands=["Bw D6"])
    assert may(game, "play") == "Bw"
    do(game, "play:Bw")
    assert hand(game, 0) == "D6"  # one from the prize of a 2


def test_too_few_dragons_cannot_be_played() -> None:
    game = position(spell="3g", hands=["G1 G2 B1"])
    assert (game.player, game.step) == (1, "take")


@pytest.mark.parametrize(("left", "right"), [("", "Gw"), ("W1", ""), ("", "")])
def test_with_an_incomplete_spell_nobody_can_play(left: str, right: str) -> None:
    game = position(3, left=left, right=right, hands=["W1 D6", "W1 D6", "W1 D6"])
    assert (game.player, game.step, game.turns) == (1, "take", 1)


def test_open_cards_leave_the_hand_at_once() -> None:
    game = position(spell="3r", hands=["R1 R2 R3 R4"])
    do(game, "play:R1")
    assert hand(game, 0) == "R2 R3 R4"
    opened = game.state["open"][: game.state["opened"]]
    assert [CARDS[card] for card in opened] == ["R1"]
    assert columns(game, 0) == ""


def test_a_set_joins_the_column_of_its_colour() -> None:
    game = position(spell="1r", hands=["R1 R2"], tableaus=["WR"])
    do(game, "play:R2")
    assert columns(game, 0) == "WR"
    assert game.state["column_cards"][0].tolist() == [1, 2, 0, 0]


def test_a_player_plays_once_in_a_turn() -> None:
    game = position(spell="1r", hands=["R1 R2", ""])
    do(game, "play:R1")
    assert (game.player, game.turns) == (1, 1)


def test_nothing_need_be_played() -> None:
    game = position(spell="1r", hands=["R1", "R1"])
    do(game, "pass", "pass")
    assert (columns(game, 0), columns(game, 1), game.turns) == ("", "", 1)


# -- step 3: columns -------------------------------------------------------------------------------


@every_ruleset
@pytest.mark.parametrize(("before", "after"), [("", "R"), ("W", "WR"), ("B", "BR")])
def test_the_second_column_stands_to_the_right_of_the_first(
    ruleset: str, before: str, after: str
) -> None:
    game = position(2, ruleset, spell="1r", hands=["R1"], tableaus=[before])
    do(game, "play:R1")
    assert columns(game, 0) == after


@pytest.mark.parametrize("before", ["WB", "GBW"])
def test_with_closing_the_third_and_fourth_column_go_left_or_right(before: str) -> None:
    left = position(2, "dragonkeepers", spell="1r", hands=["R1"], tableaus=[before])
    do(left, "play:R1")
    assert (left.step, left.legal_actions()) == ("column", ["column:left", "column:right"])
    right = do(left.clone(), "column:right")
    do(left, "column:left")
    assert (columns(left, 0), columns(right, 0)) == ("R" + before, before + "R")


def test_the_prize_comes_after_the_column_is_placed() -> None:
    game = position(2, "dragonkeepers", spell="1r", hands=["R1"], tableaus=["WB"])
    do(game, "play:R1")
    assert (pieces(game, 0), game.state["opened"]) == ({}, 1)
    do(game, "column:left")
    assert sum(pieces(game, 0).values()) == 1


@pytest.mark.parametrize("before", ["WB", "GBW"])
def test_without_closing_new_columns_go_to_the_right(before: str) -> None:
    game = position(2, "gardienii", spell="1r", hands=["R1"], tableaus=[before])
    do(game, "play:R1")
    assert columns(game, 0) == before + "R"


@pytest.mark.parametrize(
    ("tableau", "open_colours"), [("R", "WRBG"), ("WR", "WRBG"), ("WRB", "WBG"), ("BRWG", "BG")]
)
@pytest.mark.parametrize("colour", "WRBG")
def test_a_column_between_two_others_is_closed(tableau: str, open_colours: str, colour: str) -> None:
    game = position(
        2, "dragonkeepers", spell="1" + colour.lower(), hands=[colour + "1"], tableaus=[tableau]
    )
    assert may(game, "play") == (colour + "1" if colour in open_colours else "")


@pytest.mark.parametrize("colour", "WRBG")
def test_without_closing_every_column_takes_dragons(colour: str) -> None:
    game = position(spell="1" + colour.lower(), hands=[colour + "1"], tableaus=["BRWG"])
    assert may(game, "play") == colour + "1"


def test_dark_dragons_cannot_be_played_to_a_closed_column() -> None:
    game = position(2, "dragonkeepers", spell="1r", hands=["D6"], tableaus=["WRB"])
    assert game.step == "take"


def test_a_closed_column_is_the_matter_of_its_player_only() -> None:
    game = position(
        3, "dragonkeepers", spell="1r", hands=["R1", "R1", "R1"], tableaus=["WBR", "WRB", "RWB"]
    )
    do(game, "play:R1")
    assert game.player == 2  # seat 1 was passed over


# -- step 4: prize ---------------------------------------------------------------------------------

PRIZES = [  # number, piece, crystals, golden eggs, dark dragons
    (1, 4, 1, 0, 0),
    (2, 4, 0, 0, 1),
    (3, 4, 0, 1, 0),
    (4, 4, 1, 1, 0),
    (5, 4, 0, 1, 1),
    (6, 16, 0, 0, 0),
]
BANK = {4: 2, 8: 1, 16: 2}


@every_ruleset
@pytest.mark.parametrize(("number", "piece", "crystals", "eggs", "dark"), PRIZES)
def test_the_prize_of_each_number(
    ruleset: str, number: int, piece: int, crystals: int, eggs: int, dark: int
) -> None:
    game = position(2, ruleset, spell=f"{number}r", hands=["R1 " * number], bank=BANK)
    do(game, "play:R1")
    s = game.state
    assert pieces(game, 0) == {piece: 1}
    assert (s["crystals"][0], s["bank_crystals"]) == (crystals, 10 - crystals)
    assert (s["eggs"][0], s["bank_eggs"]) == (eggs, 9 - eggs)
    assert hand(game, 0) == " ".join(["D6"] * dark)
    assert s["bank_dark_dragons"] == 11 - dark
    assert s["bank_pieces"].sum() == 4


@pytest.mark.parametrize(("number", "piece", "crystals", "eggs", "dark"), PRIZES)
def test_without_pieces_the_rest_of_the_prize_is_given(
    number: int, piece: int, crystals: int, eggs: int, dark: int
) -> None:
    game = position(spell=f"{number}r", hands=["R1 " * number], bank={})
    do(game, "play:R1")
    assert pieces(game, 0) == {}
    assert (game.state["crystals"][0], game.state["eggs"][0]) == (crystals, eggs)
    assert hand(game, 0) == " ".join(["D6"] * dark)


@pytest.mark.parametrize(("number", "piece", "crystals", "eggs", "dark"), PRIZES)
@pytest.mark.parametrize("out_of", ["bank_crystals", "bank_eggs", "bank_dark_dragons"])
def test_without_tokens_the_rest_of_the_prize_is_given(
    number: int, piece: int, crystals: int, eggs: int, dark: int, out_of: str
) -> None:
    none_left: dict[str, Any] = {out_of: 0}
    game = position(spell=f"{number}r", hands=["R1 " * number], bank=BANK, **none_left)
    do(game, "play:R1")
    given = {"bank_crystals": crystals, "bank_eggs": eggs, "bank_dark_dragons": dark, out_of: 0}
    s = game.state
    assert pieces(game, 0) == {piece: 1}
    assert (s["crystals"][0], s["eggs"][0]) == (given["bank_crystals"], given["bank_eggs"])
    assert hand(game, 0) == " ".join(["D6"] * given["bank_dark_dragons"])
    assert s[out_of] == 0


def test_of_a_large_prize_as_much_is_given_as_there_is() -> None:
    large = {"piece": "none", "crystals": 3, "dark_dragons": 3, "golden_eggs": 3}
    rules = with_rules(prizes={**Ruleset.get("gardienii").to_dict()["prizes"], "1": large})
    game = position(
        2, rules, hands=["W1"], bank_crystals=2, bank_eggs=1, bank_dark_dragons=2, bank={1: 3}
    )
    do(game, "play:W1")
    assert (game.state["crystals"][0], game.state["eggs"][0], hand(game, 0)) == (2, 1, "D6 D6")
    assert pieces(game, 0) == {}


@pytest.mark.parametrize(("number", "piece"), [(1, 6), (6, 12)])
def test_lowest_and_highest_are_of_the_pieces_left(number: int, piece: int) -> None:
    game = position(spell=f"{number}r", hands=["R1 " * number], bank={6: 1, 8: 1, 10: 1, 12: 1})
    do(game, "play:R1")
    assert pieces(game, 0) == {piece: 1}


@pytest.mark.parametrize("number", [1, 6])
@pytest.mark.parametrize(
    ("before", "pearls"), [(0, 0), (1, 0), (2, 1), (3, 0), (4, 0), (5, 1), (6, 0), (8, 1)]
)
def test_every_third_piece_gives_a_pearl(number: int, before: int, pearls: int) -> None:
    game = position(spell=f"{number}r", hands=["R1 " * number], pieces=[{1: before}, {1: 2}])
    do(game, "play:R1")
    assert game.state["pearls_given"] == pearls
    assert game.state["pearl_owner"].tolist() == [0] * pearls + [-1] * (20 - pearls)


def test_pieces_of_different_points_make_an_amulet() -> None:
    game = position(spell="1r", hands=["R1"], pieces=[{8: 1, 20: 1}], bank={1: 1})
    do(game, "play:R1")
    assert game.state["pearls_given"] == 1


def test_pearls_are_taken_in_order() -> None:
    game = position(3, spell="1r", hands=["R1", "R1", "R1"], pieces=[{1: 2}, {1: 1}, {1: 5}])
    do(game, "play:R1", "play:R1", "play:R1")
    assert game.state["pearl_owner"][:3].tolist() == [0, 2, -1]
    first, second = game.deal()["pearls"][:2]
    assert [points["pearls"] for points in game.points()] == [first, 0, second]


def test_without_pearls_left_none_is_given() -> None:
    game = position(spell="1r", hands=["R1"], pieces=[{1: 2}], pearls_given=15)
    do(game, "play:R1")
    assert game.state["pearls_given"] == 15
    assert sum(pieces(game, 0).values()) == 3


def test_without_a_new_piece_there_is_no_pearl() -> None:
    game = position(spell="1r", hands=["R1"], pieces=[{1: 3}], bank={})
    do(game, "play:R1")
    assert game.state["pearls_given"] == 0


@every_ruleset
@pytest.mark.parametrize(("tableau", "crest"), [("", 0), ("W", 0), ("WB", 0), ("WBR", 0), ("GBW", 16)])
def test_a_crest_is_for_columns_of_all_four_colours(ruleset: str, tableau: str, crest: int) -> None:
    game = position(2, ruleset, spell="1r", hands=["R1"], tableaus=[tableau])
    do(game, "play:R1")
    if game.step == "column":
        assert game.points()[0]["crest"] == 0
        do(game, "column:right")
    assert game.points()[0]["crest"] == crest


def test_a_column_of_dark_dragons_only_counts_for_the_crest() -> None:
    game = position(spell="1r", hands=["D6"], tableaus=["GBW"])
    do(game, "play:D6")
    assert game.points()[0]["crest"] == 16


def test_the_crest_is_given_the_first_time_only() -> None:
    game = position(spell="1r", hands=["R1"], tableaus=["GBWR"], crest=[1], crests_given=2)
    do(game, "play:R1")
    assert (game.state["crest"][0], game.state["crests_given"]) == (1, 2)


def test_crests_are_given_from_the_highest_and_the_fourth_player_gets_none() -> None:
    game = position(
        4, "gardienii", spell="1r", hands=["R1"] * 4, tableaus=["GBW"] * 4, active=2, player=2
    )
    do(game, "play:R1", "play:R1", "play:R1", "play:R1")
    assert [points["crest"] for points in game.points()] == [6, 0, 16, 10]


# -- step 5: follow --------------------------------------------------------------------------------


def followers(players: int, active: int) -> list[int]:
    """The other seats, clockwise."""
    return [(active + k) % players for k in range(1, players)]


@every_game
@pytest.mark.parametrize("active", [0, 1])
@pytest.mark.parametrize("action", ["play:R1", "pass"])
def test_the_others_follow_clockwise_whether_or_not_anyone_played(
    ruleset: str, players: int, active: int, action: str
) -> None:
    game = position(
        players, ruleset, spell="1r", hands=["R1 R2"] * players, active=active, player=active
    )
    do(game, action)
    for seat in followers(players, active):
        assert (game.player, game.step) == (seat, "play")
        assert game.legal_actions() == ["pass", "play:R1", "play:R2"]
        do(game, "pass")
    assert game.turns == 1


@every_game
def test_followers_get_the_same_prize(ruleset: str, players: int) -> None:
    game = position(players, ruleset, spell="4r", hands=["R1 R1 R1 R1"] * players, bank={1: 1, 4: 9})
    do(game, *["play:R1"] * players)
    assert [pieces(game, seat) for seat in range(players)] == [{1: 1}] + [{4: 1}] * (players - 1)
    assert game.state["crystals"][:players].tolist() == [1] * players
    assert game.state["eggs"][:players].tolist() == [1] * players


def test_followers_get_what_the_bank_still_has() -> None:
    game = position(3, spell="1r", hands=["R1"] * 3, bank={1: 2}, bank_crystals=1)
    do(game, "play:R1", "play:R1", "play:R1")
    assert game.state["crystals"][:3].tolist() == [1, 0, 0]
    assert [pieces(game, seat) for seat in range(3)] == [{1: 1}, {1: 1}, {}]


def test_followers_meet_the_spell_as_the_active_player_left_it() -> None:
    game = position(step="modify", spell="1w", hands=["Wr B1", "W1 R1"])
    do(game, "modify:Wr")
    assert (game.player, may(game, "play")) == (1, "R1")


def test_followers_do_not_modify() -> None:
    game = position(2, "dragonkeepers", spell="1r", hands=["R1", "W2 Wb R1"])
    do(game, "pass")
    assert (game.player, game.step) == (1, "play")
    do(game, "play:R1")
    assert (game.player, game.step) == (1, "take")


def test_who_cannot_play_is_passed_over() -> None:
    game = position(4, spell="1r", hands=["R1", "W1", "R1", ""])
    do(game, "play:R1")
    assert game.player == 2
    do(game, "play:R1")
    assert (game.player, game.step) == (1, "take")


def test_a_follower_places_a_column_too() -> None:
    game = position(2, "dragonkeepers", spell="1r", hands=["", "R1"], tableaus=["", "WB"])
    do(game, "play:R1")
    assert (game.player, game.step) == (1, "column")
    do(game, "column:left")
    assert columns(game, 1) == "RWB"


@every_game
def test_the_turn_passes_to_the_left(ruleset: str, players: int) -> None:
    for active in range(players):
        game = position(
            players, ruleset, spell="1r", hands=["R1"] * players, active=active, player=active
        )
        do(game, *["pass"] * players)
        left = (active + 1) % players
        assert (game.player, game.state["active"], game.step, game.turns) == (left, left, "take", 1)


def test_a_new_turn_begins_with_nothing_taken_paid_laid_or_open() -> None:
    game = position(taken=3, paid=2, laid=[1, 1], hands=["W1"])
    do(game, "play:W1")
    s = game.state
    assert (s["taken"], s["paid"], s["opened"], s["laid"].tolist()) == (0, 0, 0, [0, 0])


# -- the end ---------------------------------------------------------------------------------------

AMULETS = [(2, 7), (3, 8), (4, 9)]


def one_piece_before(players: int, amulets: int, **fields: Any) -> Game:
    """All players own pieces, spread over them, and seat 0's next one completes amulet `amulets`."""
    others = [{1: 3}] * (players - 1)
    return position(
        players,
        spell="1r",
        pieces=[{1: 3 * (amulets - len(others)) - 1}, *others],
        bank={1: 5},
        **fields,
    )


@pytest.mark.parametrize(("players", "amulets"), AMULETS)
def test_the_game_ends_when_all_together_have_so_many_amulets(players: int, amulets: int) -> None:
    game = one_piece_before(players, amulets, hands=["R1"])
    do(game, "play:R1")
    assert (game.end, game.player, game.turns) == ("amulets", None, 1)


@pytest.mark.parametrize(("players", "amulets"), AMULETS)
def test_one_amulet_less_does_not_end_the_game(players: int, amulets: int) -> None:
    game = one_piece_before(players, amulets - 1, hands=["R1"])
    do(game, "play:R1")
    assert (game.end, game.player, game.turns) == (None, 1, 1)


def test_pieces_of_different_players_make_no_amulet_together() -> None:
    game = position(spell="1r", hands=["R1"], pieces=[{1: 18}, {1: 2}])
    do(game, "play:R1")
    assert game.end is None


@pytest.mark.parametrize(("players", "amulets"), AMULETS)
def test_followers_still_play_when_the_last_amulet_is_made(players: int, amulets: int) -> None:
    game = one_piece_before(players, amulets, hands=["R1"] * players)
    do(game, "play:R1")
    for seat in range(1, players):
        assert game.player == seat
        do(game, "play:R1")
    assert game.end == "amulets"
    assert [columns(game, seat) for seat in range(players)] == ["R"] * players


@every_game
def test_without_a_card_in_the_supply_no_turn_begins(ruleset: str, players: int) -> None:
    game = position(players, ruleset, supply="-- -- -- --", hands=["W1"])
    do(game, "pass")
    assert (game.end, game.player, game.turns) == ("supply", None, 1)
    assert game.state["active"] == 0  # seat 1's turn did not begin


@pytest.mark.parametrize("slots", ["W1 -- -- --", "-- W1 -- --", "-- -- Wr --", "-- -- -- Wr"])
def test_one_card_in_the_supply_is_enough_for_a_turn(slots: str) -> None:
    game = position(supply=slots, spell="2w", hands=["W1 W2"])
    do(game, "pass")
    assert (game.end, game.turns) == (None, 1)


def test_the_turn_that_empties_the_supply_is_finished() -> None:
    game = position(step="take", left="", right="Wr", supply="W1 -- -- --", hands=["R1", "R2"])
    assert (hand(game, 0), game.step) == ("W1 R1", "modify")
    do(game, "modify:W1", "play:R1", "play:R2")
    assert (columns(game, 0), columns(game, 1)) == ("R", "R")
    assert (game.end, game.turns) == ("supply", 1)


def test_a_game_may_end_before_its_first_turn() -> None:
    game = Game.new(2, seed=1)
    batch = game.batch
    engine.clear(game.state, 2)
    engine.start(batch.rules, batch.states, 0)
    batch.write_mask(0)
    assert (game.end, game.player, game.turns, game.legal_actions()) == ("supply", None, 0, [])


@every_game
def test_the_turn_limit_stops_the_game(ruleset: str, players: int) -> None:
    game = position(players, ruleset, hands=["W1"], turns=399)
    do(game, "pass")
    assert (game.end, game.player, game.turns) == ("turn_limit", None, 400)


def test_the_turn_before_the_limit_does_not_stop_the_game() -> None:
    game = position(hands=["W1"], turns=398)
    do(game, "pass")
    assert (game.end, game.turns) == (None, 399)


def test_turn_limit_is_data() -> None:
    game = position(2, with_rules(turn_limit=2), hands=["W1"], turns=1)
    do(game, "pass")
    assert game.end == "turn_limit"


@pytest.mark.parametrize(
    ("amulets", "slots", "turns", "end"),
    [
        (7, "-- -- -- --", 399, "amulets"),
        (7, "W1 -- -- --", 399, "amulets"),
        (7, "-- -- -- --", 1, "amulets"),
        (6, "-- -- -- --", 399, "supply"),
        (6, "W1 -- Wr --", 399, "turn_limit"),
    ],
)
def test_the_ends_are_checked_in_order(amulets: int, slots: str, turns: int, end: str) -> None:
    game = position(hands=["W1"], pieces=[{1: 3 * amulets}], supply=slots, turns=turns)
    do(game, "pass")
    assert game.end == end


def test_when_the_game_is_over_nothing_is_legal() -> None:
    game = position(hands=["W1"], turns=399)
    do(game, "pass")
    assert (game.step, game.legal_actions()) == ("over", [])
    assert not game.legal_mask().any()


# -- decisions and actions -------------------------------------------------------------------------


def test_the_mask_and_the_count_of_legal_actions_agree() -> None:
    game = position(step="modify", hands=["W1 W3 D6"])
    batch = game.batch
    assert count_bits(int(game.state["legal"])) == 4 == game.legal_mask().sum()
    assert batch.masks.shape == (1, NUM_ACTIONS)


def test_the_only_filled_slot_is_taken_by_itself() -> None:
    game = position(step="take", left="", supply="W1 -- -- --", hands=["R1"])
    assert (hand(game, 0), game.step) == ("W1 R1", "modify")


def test_the_only_slot_is_taken_by_itself_but_not_again() -> None:
    game = position(step="take", left="G2 G3", supply="W1 -- -- --", right="Wr")
    assert (hand(game, 0), game.legal_actions()) == ("W1", ["take:L0", "pass"])


def test_a_set_that_leaves_no_choice_is_completed_by_itself() -> None:
    game = position(spell="3r", hands=["R1 R2 R2 D6"])
    do(game, "play:R2")
    assert columns(game, 0) == "R"
    assert hand(game, 0) == "R1"


def test_with_an_empty_hand_nothing_is_asked() -> None:
    game = position(2, step="modify", hands=["", ""])
    assert (game.player, game.step, game.turns) == (1, "take", 1)


def test_several_forced_decisions_follow_each_other() -> None:
    game = position(4, spell="6r", step="modify", hands=["", "R1", "W1 W2", "D6"])
    assert (game.player, game.step, game.turns) == (1, "take", 1)


def test_games_of_a_batch_do_not_touch_each_other() -> None:
    one = Game.new(2, seed=1)
    batch = one.batch.copy()
    states = np.repeat(batch.states, 3)
    before = states.copy()
    engine.apply(batch.rules, states, 1, 0)
    one.apply(0)
    assert states[0] == before[0]
    assert states[2] == before[2]
    assert states[1] == one.state


# -- who knows what --------------------------------------------------------------------------------


def test_laid_cards_are_known_while_they_lie_on_the_deck() -> None:
    game = position(2, "dragonkeepers", step="modify", hands=["B5 Gr"])
    do(game, "modify:B5", "modify:Gr")
    assert game.state["deck_laid"].tolist() == [1, 1]
    do(game, "take:L0", "take:L0")
    assert game.state["deck_laid"].tolist() == [0, 1]


def test_a_card_turned_up_is_seen_unless_it_was_laid_before() -> None:
    game = position(step="modify", left="G1 G2", hands=["B5"])
    before = game.state["unseen"].copy()
    do(game, "modify:B5", "take:L0")  # B5 is turned up
    assert (game.state["unseen"] == before).all()
    do(game, "take:L0")  # G2 is turned up
    seen = before - game.state["unseen"]
    assert [CARDS[card] for card in np.flatnonzero(seen)] == ["G2"]


def test_of_a_type_held_known_and_unknown_the_known_card_leaves_first() -> None:
    starting_card = CARDS.index("Wb")
    game = position(3, spell="1w", hands=["Wb Wb"], unknown=[[starting_card, -1, -1]])
    do(game, "play:Wb")
    assert starting_card in game.state["unknown"][0]
    game = position(3, spell="1w", hands=["Wb"], unknown=[[starting_card, -1, -1]])
    do(game, "play:Wb")
    assert starting_card not in game.state["unknown"][0]
