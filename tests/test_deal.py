"""Deals: written out, read back, and refused where the ruleset cannot give them."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable
from random import Random
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from helpers import play
from positions import deck, hand, pieces, spell, supply
from rulesets import COMBINATIONS, ODD

from gardienii_env import DealError, Game, Ruleset
from gardienii_env.deal import read_deal, write_deal
from gardienii_env.rules.batch import Batch

every_game = pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)

KEYS = ("left", "right", "supply", "hands", "pieces", "pearls")

Deal = dict[str, Any]
Change = Callable[[Deal], object]


def a_deal(players: int = 3, ruleset: str = "gardienii") -> Deal:
    return Game.new(players, ruleset, seed=1).deal()


# -- round trips -----------------------------------------------------------------------------------


@every_game
def test_a_deal_has_the_form_of_the_rules_page(ruleset: str, players: int) -> None:
    deal, spd = a_deal(players, ruleset), Ruleset.get(ruleset).supply_per_deck
    assert tuple(deal) == KEYS
    assert (len(deal["left"]), len(deal["right"])) == (52 - spd, 52 - spd)
    assert {side: len(cards) for side, cards in deal["supply"].items()} == {"L": spd, "R": spd}
    assert [len(cards) for cards in deal["hands"]] == list(range(players))
    assert sum(deal["pieces"].values()) == 45 - {2: 16, 3: 12, 4: 8}[players]
    assert Counter(deal["pearls"]) == {3: 5, 4: 4, 8: 3, 9: 3}
    assert json.loads(json.dumps(deal)) == deal


@every_game
def test_a_game_from_a_deal_is_the_game_dealt(ruleset: str, players: int) -> None:
    game = Game.new(players, ruleset, seed=1)
    again = Game.from_deal(game.deal(), players, ruleset)
    again.state["rng"] = game.state["rng"]
    assert again.batch.states.tobytes() == game.batch.states.tobytes()
    assert again.legal_actions() == game.legal_actions()
    assert again.deal() == game.deal()


@every_game
def test_games_from_one_deal_go_the_same_way(ruleset: str, players: int) -> None:
    game = play(Game.new(players, ruleset, seed=1), Random(1))
    again = play(Game.from_deal(game.deal(), players, ruleset), Random(1))
    assert (again.moves, again.points()) == (game.moves, game.points())
    assert again.deal() == game.deal()


@pytest.mark.parametrize("ruleset", ODD, ids=lambda ruleset: ruleset.name)
def test_deals_of_other_rulesets_go_round(ruleset: Ruleset) -> None:
    for seed in range(5):
        deal = Game.new(4, ruleset, seed=seed).deal()
        assert Game.from_deal(json.loads(json.dumps(deal)), 4, ruleset).deal() == deal


def test_everything_lies_where_the_deal_says() -> None:
    deal = a_deal(2)
    deal["left"].sort()
    deal["right"].sort(reverse=True)
    deal["hands"] = [[], ["Gr"]]
    deal["pieces"] = {"1": 8, "4": 8, "6": 5, "8": 4, "10": 4}
    deal["pearls"].sort()
    game = Game.from_deal(deal, 2)
    assert deck(game, "L").split() == deal["left"]
    assert deck(game, "R").split() == deal["right"]
    assert spell(game) == deal["left"][-1][1] + deal["right"][-1][1]
    assert supply(game).split() == deal["supply"]["L"] + deal["supply"]["R"]
    assert (hand(game, 0), hand(game, 1)) == ("", "Gr")
    assert game.state["bank_pieces"].tolist() == [8, 8, 5, 4, 4, 0, 0, 0]
    assert game.state["pearls"][:15].tolist() == [3] * 5 + [4] * 4 + [8] * 3 + [9] * 3
    assert pieces(game, 0) == {}


def test_piece_values_with_count_0_may_be_left_out_or_given() -> None:
    deal = a_deal(2)
    deal["pieces"] = {"1": 8, "4": 8, "6": 5, "8": 4, "10": 4}
    short = Game.from_deal(deal, 2).deal()
    deal["pieces"] = {"12": 0, "16": 0, **deal["pieces"], "20": 0}
    assert Game.from_deal(deal, 2).deal() == short
    assert "20" not in short["pieces"]


def test_a_deal_may_be_of_tuples_mappings_and_numpy_integers() -> None:
    deal = a_deal(2)
    other = MappingProxyType(
        {
            **deal,
            "left": tuple(deal["left"]),
            "pieces": MappingProxyType({points: np.int64(n) for points, n in deal["pieces"].items()}),
            "pearls": tuple(np.array(deal["pearls"])),
        }
    )
    again = Game.from_deal(other, 2).deal()
    assert again == deal
    json.dumps(again)


def test_a_deal_is_as_dealt_after_the_game_went_on() -> None:
    game = Game.new(3, seed=1)
    before = game.deal()
    assert play(game, Random(1)).deal() == before


def test_changing_a_deal_does_not_change_its_game() -> None:
    deal = a_deal(2)
    game = Game.from_deal(deal, 2)
    given = game.deal()
    for part in (deal, given):
        part["left"].clear()
        part["hands"][1].clear()
    assert len(game.deal()["left"]) == 50


def test_a_deal_is_written_and_read_in_any_place_of_a_batch() -> None:
    batch = Batch(Ruleset.get("gardienii"), 3, 4)
    deal = a_deal(3)
    read_deal(batch, 2, deal)
    assert write_deal(batch, 2) == deal
    assert not batch.states[[0, 1, 3]].view(np.uint8).any()


# -- what is refused -------------------------------------------------------------------------------


def swap(deal: Deal, one: str, other: str) -> None:
    """Exchange the top cards of two lists in a deal."""
    deal[one][-1], deal[other][-1] = deal[other][-1], deal[one][-1]


WRONG: list[tuple[str, Change]] = [
    # the shape
    ("deal.extra: ", lambda d: d.update(extra=1)),
    *((f"deal.{key}: missing", lambda d, key=key: d.pop(key)) for key in KEYS),
    *((f"deal.{key}: ", lambda d, key=key: d.update({key: None})) for key in KEYS),
    *((f"deal.{key}: ", lambda d, key=key: d.update({key: "W1"})) for key in KEYS),
    *((f"deal.{key}: ", lambda d, key=key: d.update({key: 5})) for key in KEYS),
    # the decks
    ("deal.left: the card 'W9'", lambda d: d["left"].append("W9")),
    ("deal.left: the card 3", lambda d: d["left"].append(3)),
    ("deal.left: the card ['W1']", lambda d: d["left"].append(["W1"])),
    ("deal.left: with the supply there are +1 cards", lambda d: d["left"].append("W1")),
    ("deal.left: with the supply there are -1 cards", lambda d: d["left"].pop()),
    ("deal.right: with the supply there are +1 cards", lambda d: d["right"].append("Wr")),
    ("deal.right: with the supply there are -50 cards", lambda d: d["right"].clear()),
    ("deal.left: ", lambda d: swap(d, "left", "right")),
    ("deal.left: ", lambda d: d["left"].__setitem__(0, "D6")),
    ("deal.left: 4 of W1", lambda d: d["left"].__setitem__(d["left"].index("W2"), "W1")),
    ("deal.right: 4 of Wr", lambda d: d["right"].__setitem__(d["right"].index("Wr"), "Rb")),
    # the supply
    ("deal.supply: ", lambda d: d["supply"].pop("L")),
    ("deal.supply: ", lambda d: d["supply"].update(M=[])),
    ("deal.supply: ", lambda d: d.update(supply=[["W1", "W2"], ["Wr", "Rw"]])),
    ("deal.supply.L: 1 cards", lambda d: d["left"].append(d["supply"]["L"].pop())),
    ("deal.supply.R: 3 cards", lambda d: d["supply"]["R"].append(d["right"].pop())),
    ("deal.supply.L: None is not a list", lambda d: d["supply"].update(L=None)),
    ("deal.supply.R: the card None", lambda d: d["supply"].update(R=[None, "Wr"])),
    ("deal.left: ", lambda d: d["supply"].update(L=d["supply"]["R"])),
    # the hands
    ("deal.hands: 2 hands for 3 players", lambda d: d["hands"].pop()),
    ("deal.hands: 4 hands for 3 players", lambda d: d["hands"].append(["Gb", "Gr", "Wb"])),
    ("deal.hands[0]: 1 cards", lambda d: d.update(hands=[["Gb"], ["Gr"], ["Wb", "Wg"]])),
    ("deal.hands[2]: 1 cards", lambda d: d["hands"][2].pop()),
    ("deal.hands[1]: the card 'xx'", lambda d: d.update(hands=[[], ["xx"], ["Wb", "Wg"]])),
    ("deal.hands[1]: None is not a list", lambda d: d.update(hands=[[], None, ["Wb", "Wg"]])),
    ("deal.hands: 1 of D6", lambda d: d.update(hands=[[], ["D6"], ["Wb", "Wg"]])),
    ("deal.hands: 1 of Wr", lambda d: d.update(hands=[[], ["Wr"], ["Wb", "Wg"]])),
    ("deal.hands: 2 of Wb", lambda d: d.update(hands=[[], ["Wb"], ["Wb", "Wg"]])),
    ("deal.hands: 2 of Wb", lambda d: d.update(hands=[[], ["Gr"], ["Wb", "Wb"]])),
    # the pieces
    ("deal.pieces: the points '5'", lambda d: d["pieces"].update({"5": 1})),
    ("deal.pieces: the points 4", lambda d: d["pieces"].update({4: 1})),
    ("deal.pieces.4: -1", lambda d: d["pieces"].update({"4": -1})),
    ("deal.pieces.4: 9", lambda d: d["pieces"].update({"4": 9})),
    ("deal.pieces.4: 4.0", lambda d: d["pieces"].update({"4": 4.0})),
    ("deal.pieces.4: True", lambda d: d["pieces"].update({"4": True})),
    ("deal.pieces.4: '4'", lambda d: d["pieces"].update({"4": "4"})),
    ("deal.pieces.4: None", lambda d: d["pieces"].update({"4": None})),
    ("deal.pieces: 0 pieces; with 3 players 33 are", lambda d: d["pieces"].clear()),
    ("deal.pieces: 45 pieces", lambda d: d.update(pieces=dict(Ruleset.get("gardienii").amulet_pieces))),
    # the pearls
    ("deal.pearls: 2 pearls of 9; the ruleset has 3", lambda d: d["pearls"].remove(9)),
    ("deal.pearls: 6 pearls of 3; the ruleset has 5", lambda d: d["pearls"].append(3)),
    ("deal.pearls: the points 5", lambda d: d["pearls"].__setitem__(0, 5)),
    ("deal.pearls: the points '9'", lambda d: d["pearls"].__setitem__(0, "9")),
    ("deal.pearls: the points 9.0", lambda d: d["pearls"].__setitem__(0, 9.0)),
    ("deal.pearls: the points True", lambda d: d["pearls"].__setitem__(0, True)),
    ("deal.pearls: the points [9]", lambda d: d["pearls"].__setitem__(0, [9])),
    ("deal.pearls: the points this int", lambda d: d["pearls"].__setitem__(0, 10**5000)),
    ("deal.pearls: 0 pearls of 3", lambda d: d["pearls"].clear()),
]


@pytest.mark.parametrize(("message", "change"), WRONG, ids=[message for message, _ in WRONG])
def test_an_impossible_deal_is_refused_with_its_place_and_nothing_changes(
    message: str, change: Change
) -> None:
    batch = Game.new(3, seed=2).batch
    before = batch.states.tobytes(), batch.masks.tobytes()
    deal = a_deal(3)
    change(deal)
    wrong = copy.deepcopy(deal)
    with pytest.raises(DealError) as caught:
        read_deal(batch, 0, deal)
    assert str(caught.value).startswith(message)
    assert (batch.states.tobytes(), batch.masks.tobytes()) == before
    assert deal == wrong
    with pytest.raises(DealError):
        Game.from_deal(deal, 3)


@pytest.mark.parametrize("wrong", [None, [], "deal", 5, 1.5, {1, 2}, a_deal])
def test_a_deal_is_an_object(wrong: Any) -> None:
    with pytest.raises(DealError, match=r"^deal: "):
        Game.from_deal(wrong, 2)


def test_a_deal_is_of_one_ruleset_and_one_number_of_players() -> None:
    with pytest.raises(DealError, match=r"^deal\.supply\.L: 1 cards"):
        Game.from_deal(a_deal(3, "dragonkeepers"), 3, "gardienii")
    with pytest.raises(DealError, match=r"^deal\.hands: 3 hands"):
        Game.from_deal(a_deal(3), 4)


def test_a_message_does_not_show_a_long_value_in_full() -> None:
    with pytest.raises(DealError) as caught:
        Game.from_deal({**a_deal(2), "left": {"W1": list(range(10_000))}}, 2)
    assert len(str(caught.value)) < 200
