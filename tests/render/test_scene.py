"""The scene: it says what the observation says, is plain data, and tells nobody what is hidden."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from helpers import play
from positions import do, full_table, position
from rulesets import COMBINATIONS, VARIATIONS

from gardienii_env import Game, OptionError
from gardienii_env.render.scene import SeatScene, scene
from gardienii_env.rules.cards import CARDS

combinations = pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)


def test_the_table() -> None:
    game = full_table()
    shown = scene(game)
    assert (shown["ruleset"], shown["players"], shown["viewer"]) == ("gardienii", 3, None)
    assert (shown["turn"], shown["active"], shown["deciding"], shown["step"]) == (12, 0, 0, "play")
    assert (shown["taken"], shown["paid"]) == (3, 1)
    assert shown["spell"] == {
        "number": 5,
        "colour": "R",
        "prize": {"piece": "lowest", "crystals": 0, "dark_dragons": 1, "golden_eggs": 1},
    }
    assert shown["supply"] == [
        {"slot": "L0", "card": "W1"},
        {"slot": "L1", "card": None},
        {"slot": "R0", "card": "Wr"},
        {"slot": "R1", "card": "D6"},
    ]
    assert shown["decks"] == [
        {"side": "L", "size": 3, "top": "5", "laid": False},
        {"side": "R", "size": 3, "top": "R", "laid": True},
    ]
    assert (shown["open"], shown["needed"], shown["end"], shown["legal"]) == ([], 0, None, [])
    assert shown["bank"] == {
        "pieces": [{"points": 1, "count": 2}, {"points": 8, "count": 1}, {"points": 20, "count": 3}],
        "crystals": 1,
        "golden_eggs": 0,
        "dark_dragons": 7,
        "pearls": 13,
        "crests": [10, 6],
    }
    assert shown["amulets"] == {"made": 0, "needed": 8}
    assert shown["dragons_score"] is True


def test_a_seat() -> None:
    game = position(
        2,
        "dragonkeepers",
        step="take",
        supply="W1 -- Wr --",
        hands=["R1 R2", "B3 Bw D6 D6"],
        tableaus=["", "WRB"],
        pieces=[{}, {4: 2, 20: 5}],
        dragon_points=[0, 4],
        crystals=[0, 2],
        eggs=[0, 3],
        crest=[-1, 1],
        pearl_owner=[1, 0, 1],
        pearls=[3, 9, 4],
        pearls_given=3,
    )
    assert seat(game, 1, viewer=1) == {
        "seat": 1,
        "columns": [
            {"colour": "W", "cards": 1, "closed": False},
            {"colour": "R", "cards": 1, "closed": True},
            {"colour": "B", "cards": 1, "closed": False},
        ],
        "card_points": 4,
        "hand_size": 4,
        "pieces": 7,
        "amulets": 2,
        "pearls": 2,
        "crystals": 2,
        "golden_eggs": 3,
        "crest": 10,
        "own": {
            "hand": {"B3": 1, "Bw": 1, "D6": 2},
            "pieces": [{"points": 4, "count": 2}, {"points": 20, "count": 5}],
            "pearl_points": 7,
        },
    }
    assert seat(game, 0, viewer=1)["own"] is None
    assert seat(game, 0, viewer=None, open_hands=True)["own"] == {
        "hand": {"R1": 1, "R2": 1},
        "pieces": [],
        "pearl_points": 9,
    }


def seat(game: Game, number: int, viewer: int | None, open_hands: bool = False) -> SeatScene:
    return scene(game, viewer, open_hands)["seats"][number]


def test_an_empty_deck_shows_nothing() -> None:
    shown = scene(position(step="take", spell="3r", supply="W1 W2 Wr --", left=""))
    assert shown["spell"] == {"number": None, "colour": "R", "prize": None}
    assert shown["decks"][0] == {"side": "L", "size": 0, "top": None, "laid": False}


def test_an_open_set() -> None:
    game = do(position(spell="3r", hands=["R1 R2 R2 R3 Rg D6"]), "play:R2")
    assert (scene(game)["open"], scene(game)["needed"]) == (["R2"], 2)
    do(game, "play:R2")
    assert (scene(game)["open"], scene(game)["needed"]) == (["R2", "R2"], 1)


def test_legal_actions_are_for_who_sees_the_hand() -> None:
    game = position(spell="1r", hands=["R1 D6", "R2"])
    legal = ["pass", "play:R1", "play:D6"]
    assert scene(game, 0)["legal"] == scene(game, open_hands=True)["legal"] == legal
    assert scene(game, 1)["legal"] == scene(game)["legal"] == []
    assert scene(game, 1, open_hands=True)["legal"] == legal


def test_the_end() -> None:
    game = play(Game.new(3, VARIATIONS["five turns"], 1), random.Random(1))
    shown = scene(game)
    assert (shown["turn"], shown["deciding"], shown["step"]) == (5, None, "over")
    assert shown["end"] == {
        "reason": "turn_limit",
        "points": game.points(),
        "scores": game.scores(),
        "winners": game.winners(),
    }


@combinations
def test_every_scene_of_a_game_is_plain_and_agrees_with_the_game(ruleset: str, players: int) -> None:
    rng, game = random.Random(players), Game.new(players, ruleset, seed=5)
    while True:
        s = game.state
        for viewer in (*range(players), None):
            shown = scene(game, viewer)
            assert json.loads(json.dumps(shown)) == shown
            assert shown["deciding"] == game.player
            assert shown["turn"] == game.turns + (not game.is_over)
            assert shown["active"] == s["active"] or game.is_over
            for at in shown["seats"]:
                assert at["hand_size"] == s["hand"][at["seat"]].sum()
                assert (at["own"] is not None) == (at["seat"] == viewer)
        for at in scene(game, open_hands=True)["seats"]:
            assert at["own"] is not None
            held = [at["own"]["hand"].get(card, 0) for card in CARDS]
            assert held == s["hand"][at["seat"]].tolist()
        if game.is_over:
            break
        play(game, rng, 7)


@combinations
def test_what_is_hidden_changes_no_scene(ruleset: str, players: int) -> None:
    rng, game = random.Random(players), Game.new(players, ruleset, seed=6)
    differences = 0
    while not game.is_over:
        viewer = rng.randrange(players)
        twin = game.resample(viewer, seed=rng.randrange(10**6))
        assert scene(twin, viewer) == scene(game, viewer)
        assert scene(twin) == scene(game)
        differences += scene(twin, open_hands=True) != scene(game, open_hands=True)
        play(game, rng, 9)
    assert differences > 0


@pytest.mark.parametrize("viewer", [-1, 3, "0", True, 1.5])
def test_a_viewer_that_is_no_seat(viewer: Any) -> None:
    with pytest.raises(OptionError, match=f"viewer: {viewer!r}"):
        scene(Game.new(3, seed=1), viewer)
