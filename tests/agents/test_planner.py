"""The agent `planner`: what it does in positions made by hand, what it looks at, and how good it is."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pytest
from helpers import play, printed
from positions import columns, hand, may, position
from rulesets import COMBINATIONS, NO_PRIZES, VARIATIONS, varied

from gardienii_env import Game, Ruleset
from gardienii_env.agents import make_agent, new_streams
from gardienii_env.agents.planner import PlannerAgent
from gardienii_env.agents.planning import chance_of_fitting, chance_of_most, majority_worth
from gardienii_env.arena import duplicate_match
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.cards import CARD_INDEX
from gardienii_env.rules.random import seed_streams
from gardienii_env.rules.ruleset import SHIPPED
from gardienii_env.rules.threads import Threads

SIX_WHITE = "W1 W1 W2 W2 W3 W3"
SIX_GREEN = "G1 G1 G2 G2 G3 G3"
LATE: dict[str, Any] = {"pieces": [{1: 9}, {1: 9}]}
"""Six of the seven amulets that end a game of two are complete: little is worth keeping for later."""
POLICIES = ("random", "modifier", "hoarder", "stacker")
"""Ways to play that lead to positions to which the planner itself would not come."""

rulesets = pytest.mark.parametrize("ruleset", SHIPPED)
combinations = pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)


def choice(game: Game) -> str:
    return PlannerAgent().choose(game)


def turn(game: Game) -> list[str]:
    """What the planner does as long as the same seat decides."""
    seat, done = game.player, []
    while game.player == seat:
        done.append(choice(game))
        game.apply(done[-1])
    return done


def dealt(ruleset: Any, players: int, games: int, seed: int = 1) -> Batch:
    batch = Batch(Ruleset.get(ruleset), players, games)
    for i in range(games):
        batch.states["rng"][i] = seed_streams(seed + i, 1)[0]
        batch.deal(i)
    return batch


# -- step 3: play ----------------------------------------------------------------------------------


@rulesets
def test_it_plays_the_set_that_the_spell_asks_for(ruleset: str) -> None:
    game = position(2, ruleset, spell="3w", hands=["W1 W2 Wr B1", "W1 W1"])
    assert turn(game) == ["play:W1"]  # the others are the only ones left for the set
    assert hand(game, 0) == "B1"
    assert columns(game, 0) == "W"


def test_it_plays_the_cards_that_score_most_and_keeps_dark_ones() -> None:
    game = position(spell="2r", hands=["R1 R4 R3 Rb D6", "R1 R1"])
    assert turn(game) == ["play:R3", "play:R4"]
    assert hand(game, 0) == "R1 Rb D6 D6"  # the prize is a dark one
    hands = ["R1 R5 D6 D6", "R1 R1 R1"]
    game = position(2, "dragonkeepers", spell="3r", hands=hands, **LATE)
    turn(game)
    assert hand(game, 0) == "D6"


def test_it_finishes_what_it_began() -> None:
    game = position(spell="2r", hands=["R1 R2 R3", "B1"], opened=1, open=[CARD_INDEX["R1"]])
    assert may(game, "play") == "R1 R2 R3"
    assert choice(game) == "play:R3"


@rulesets
def test_as_a_follower_it_plays_too(ruleset: str) -> None:
    game = position(3, ruleset, spell="2r", hands=["", "R1 R2", ""])
    assert game.player == 1
    assert choice(game) == "play:R1"


def test_it_does_not_play_for_nothing_but_for_a_crest() -> None:
    """Three columns stand already; for the fourth there is a crest, in a ruleset without prizes."""
    bare = varied("dragonkeepers", prizes=NO_PRIZES, crests=[50])
    options: dict[str, Any] = {"spell": "2w", "hands": ["D6 D6"]}
    assert choice(position(2, bare, **options, tableaus=["RBG"])) == "play:D6"
    assert choice(position(2, bare, **options, tableaus=["RBG"], crests_given=1)) == "pass"
    assert choice(position(2, bare, **options, tableaus=["WBG"])) == "pass"


@pytest.mark.parametrize(
    ("cards", "expected", "stands"),
    [("W1 W2 R1", "column:right", "WRB"), ("R1 R2 W1", "column:left", "BWR")],
)
def test_it_encloses_the_column_it_needs_less(cards: str, expected: str, stands: str) -> None:
    game = position(2, "dragonkeepers", spell="1b", hands=[f"{cards} B1", ""], tableaus=["WR"], **LATE)
    assert turn(game)[:2] == ["play:B1", expected]
    assert columns(game, 0) == stands


# -- step 2: modify --------------------------------------------------------------------------------


@rulesets
def test_it_lays_the_page_that_makes_a_good_set_possible(ruleset: str) -> None:
    game = position(2, ruleset, step="modify", spell="6r", hands=[f"{SIX_GREEN} Wg"], **LATE)
    assert choice(game) == "modify:Wg"
    game = position(2, ruleset, step="modify", spell="5g", hands=[f"{SIX_GREEN} D6"], **LATE)
    assert choice(game) == "modify:D6"


@rulesets
def test_it_leaves_a_spell_that_suits(ruleset: str) -> None:
    game = position(2, ruleset, step="modify", spell="6g", hands=[f"{SIX_GREEN} Wr R2"], **LATE)
    assert choice(game) == "pass"


@rulesets
def test_of_two_sets_it_makes_the_one_worth_more(ruleset: str) -> None:
    """Either page makes a set of six possible, but red would be the fourth column."""
    six_red = SIX_GREEN.replace("G", "R")
    hands = [f"{SIX_GREEN} {six_red} Bg Br"]
    game = position(2, ruleset, step="modify", spell="6w", hands=hands, tableaus=["GBW"], **LATE)
    assert choice(game) == "modify:Br"


def test_it_lays_both_pages_where_it_takes_two() -> None:
    game = position(2, "dragonkeepers", step="modify", spell="1r", hands=[f"{SIX_GREEN} D6 Wg"], **LATE)
    assert turn(game)[:2] == ["modify:Wg", "modify:D6"]
    assert columns(game, 0) == "G"


@rulesets
def test_it_spoils_a_spell_that_another_player_waits_for(ruleset: str) -> None:
    """The other seat is known to hold six white cards, or to hold none."""
    options: dict[str, Any] = {"step": "modify", "spell": "6w", **LATE}
    game = position(2, ruleset, **options, hands=["Bg R2", SIX_WHITE])
    assert choice(game) in ("modify:Bg", "modify:R2")
    assert choice(position(2, ruleset, **options, hands=["Bg R2", SIX_GREEN[:9]])) == "pass"


def test_it_leaves_what_only_a_closed_column_would_take() -> None:
    """White stands between red and blue: only where enclosed columns close is it no longer played."""
    for ruleset, expected in (("gardienii", {"modify:Bg", "modify:R2"}), ("dragonkeepers", {"pass"})):
        hands, tableaus = ["Bg R2", SIX_WHITE], ["", "RWB"]
        game = position(2, ruleset, step="modify", spell="6w", hands=hands, tableaus=tableaus, **LATE)
        assert choice(game) in expected


# -- step 1: take ----------------------------------------------------------------------------------


@rulesets
def test_it_takes_the_card_that_completes_a_good_set(ruleset: str) -> None:
    """Under the top of the left deck lies the same page: the spell will still be 6 green."""
    cards = SIX_GREEN.removesuffix(" G3")
    for supply, expected in (("G3 R3 -- --", "take:L0"), ("R3 G3 -- --", "take:L1")):
        game = position(
            2,
            varied(ruleset, modifications_per_turn=0),
            step="take",
            left="G1 D6 D6",
            spell="6g",
            supply=supply,
            taken=2,
            deck_laid=[1, 0],
            hands=[cards],
            **LATE,
        )
        assert choice(game) == expected


@rulesets
def test_it_stops_when_the_spell_is_just_right(ruleset: str) -> None:
    rules = varied(ruleset, modifications_per_turn=0)
    options: dict[str, Any] = {"step": "take", "spell": "6g", "taken": 2, "hands": [SIX_GREEN], **LATE}
    assert choice(position(2, rules, **options, supply="W1 -- Wr --")) == "pass"


@rulesets
def test_it_takes_what_is_free_while_it_has_nothing(ruleset: str) -> None:
    for taken in (1, 2):
        game = position(2, ruleset, step="take", spell="6g", taken=taken, hands=["B1"])
        assert choice(game).startswith("take:")


@rulesets
@pytest.mark.parametrize(
    ("left", "right", "laid", "expected"),
    [
        ("G1 D6 D6", "Gw Rb Bw", [1, 0], "take:R0"),
        ("G1 G3 D6", "Gb Rw Bw", [0, 1], "take:L0"),
    ],
)
def test_it_takes_away_the_page_that_another_player_waits_for(
    ruleset: str, left: str, right: str, laid: list[int], expected: str
) -> None:
    """Under one of the two pages of 6 white lies the same again: the other is to be drawn over."""
    game = position(
        2,
        varied(ruleset, modifications_per_turn=0),
        step="take",
        left=left,
        right=right,
        supply="Rg -- Rg --",
        taken=2,
        deck_laid=laid,
        hands=["", SIX_WHITE],
        **LATE,
    )
    assert choice(game) == expected


@rulesets
def test_it_pays_a_crystal_for_the_card_that_completes_a_good_set(ruleset: str) -> None:
    options: dict[str, Any] = {"step": "take", "spell": "6g", "taken": 3, "left": "G1 D6 D6"}
    options |= {"supply": "G5 -- Wr --", "deck_laid": [1, 0], "crystals": [1], **LATE}
    rules = varied(ruleset, modifications_per_turn=0)
    assert choice(position(2, rules, **options, hands=[SIX_GREEN.removesuffix(" G3")])) == "take:L0"
    options["deck_laid"] = [0, 0]  # then what comes after the 6 is not known
    assert choice(position(2, rules, **options, hands=[SIX_GREEN])) == "pass"


# -- what things are worth -------------------------------------------------------------------------


def test_unknown_cards_fit_one_time_in_four() -> None:
    assert chance_of_fitting(0, 2) == chance_of_fitting(-3, 0) == 1.0
    assert chance_of_fitting(1, 1) == 0.25
    assert chance_of_fitting(1, 2) == pytest.approx(1 - 0.75**2)
    assert chance_of_fitting(2, 3) == pytest.approx(0.75 * 3 / 16 + 1 / 64)
    assert chance_of_fitting(3, 2) == 0.0


def test_the_race_for_most_eggs() -> None:
    """A lead is worth more the fewer eggs are left, and at the end it is all; a tie is enough."""
    assert chance_of_most(2, 1) > chance_of_most(2, 6) > chance_of_most(1, 6) > 0.5
    assert chance_of_most(-2, 1) < chance_of_most(-2, 6) < 0.5
    rules = Ruleset.get("gardienii").rules
    worths = [
        majority_worth(rules[0], position(eggs=eggs, bank_eggs=1).state, 0, 1)
        for eggs in ([4, 4], [2, 5], [6, 0])
    ]
    assert worths[0] > 3 * max(worths[1:])


# -- whole games -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ruleset", "players"), [*COMBINATIONS, *product(VARIATIONS, (2, 3, 4))], ids=str
)
def test_actions_are_legal_to_the_end_of_the_game(ruleset: str, players: int) -> None:
    agent, batch = PlannerAgent(), dealt(VARIATIONS.get(ruleset, ruleset), players, 4)
    streams = new_streams(1, 4)
    before = streams.copy()
    while (on := np.flatnonzero(batch.states["player"] >= 0)).size:
        batch.apply_all(on, agent.decide(batch, on, streams))
    assert (streams == before).all()


@pytest.mark.parametrize("ruleset", [*SHIPPED, *VARIATIONS])
def test_positions_of_all_kinds(ruleset: str) -> None:
    for number, policy in enumerate(POLICIES):
        rng = random.Random(number)
        game = Game.new(2 + number % 3, VARIATIONS.get(ruleset, ruleset), seed=number)
        while not game.is_over:
            assert choice(game) in game.legal_actions()
            play(game, rng, 5, policy)


@combinations
def test_a_game_does_not_depend_on_the_rest_of_the_batch(ruleset: str, players: int) -> None:
    agent, batch = PlannerAgent(), dealt(ruleset, players, 5)
    streams = new_streams(1, 5)
    while (on := np.flatnonzero(batch.states["player"] >= 0)).size:
        actions = agent.act(batch, on, streams)
        assert agent.act(batch, on[::-1].copy(), streams).tolist() == actions.tolist()[::-1]
        alone = Game.of(batch, int(on[0]))
        assert alone.legal_mask()[actions[0]] == 1
        assert PlannerAgent().act(alone.batch, np.zeros(1, np.int64), new_streams(2, 1)) == actions[:1]
        batch.apply_all(on, actions)


# -- what it looks at ------------------------------------------------------------------------------


@combinations
def test_what_its_seat_cannot_know_does_not_matter(ruleset: str, players: int) -> None:
    asked, differ = 0, 0
    for number, policy in enumerate(POLICIES):
        rng = random.Random(number)
        game = Game.new(players, ruleset, seed=number)
        while not play(game, rng, rng.randrange(1, 8), policy).is_over:
            assert game.player is not None
            expected = choice(game)
            for _ in range(2):
                other = game.resample(game.player, rng.randrange(10**6))
                other.state["pearls"][other.state["pearl_owner"] != game.player] = rng.randrange(9)
                other.state["rng"] = rng.getrandbits(64)
                assert choice(other) == expected
                asked += 1
                differ += other.state["deck"].tobytes() != game.state["deck"].tobytes()
    assert asked > 100
    assert differ > 50


def test_it_remembers_what_was_seen_of_other_hands() -> None:
    """Six white cards in another hand, seen or not seen by the others: three can be unknown."""
    options: dict[str, Any] = {"step": "modify", "spell": "6w", **LATE}
    cards = [CARD_INDEX[card] for card in ("W1", "W1", "W2")]
    for unknown, expected in (([], {"modify:Bg", "modify:R2"}), (cards, {"pass"})):
        game = position(2, **options, hands=["Bg R2", SIX_WHITE])
        game.state["unknown"][1, : len(unknown)] = unknown
        assert choice(game) in expected


PROGRAM = """
from gardienii_env import Game
from gardienii_env.agents.planner import PlannerAgent
for ruleset in ("gardienii", "dragonkeepers"):
    game = Game.new(3, ruleset, seed=5)
    steps = []
    for _ in range(40):
        steps.append(game.step)
        game.apply(PlannerAgent().choose(game))
    print(game.moves, sorted(set(steps)))
"""


def test_it_is_the_same_without_compiling() -> None:
    expected = printed(PROGRAM)
    assert expected.count("['modify', 'play', 'take']") == 2
    assert printed(PROGRAM, NUMBA_DISABLE_JIT="1") == expected


# -- how good it is --------------------------------------------------------------------------------


@pytest.mark.parametrize(("ruleset", "least"), [("gardienii", 0.85), ("dragonkeepers", 0.62)])
def test_it_beats_greedy(ruleset: str, least: float) -> None:
    result = duplicate_match([PlannerAgent(), make_agent("greedy")], ruleset, deals=100, seed=1)
    assert result.win_share().mean >= least


@pytest.mark.parametrize(
    ("ruleset", "players", "least"),
    [
        ("gardienii", 3, 0.6),
        ("gardienii", 4, 0.5),
        ("dragonkeepers", 3, 0.45),
        ("dragonkeepers", 4, 0.33),
    ],
)
def test_one_planner_beats_several_greedy_ones(ruleset: str, players: int, least: float) -> None:
    agents = [PlannerAgent(), *[make_agent("greedy")] * (players - 1)]
    result = duplicate_match(agents, ruleset, deals=60, seed=1)
    assert result.win_share().mean >= least


@pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)
def test_what_it_does_is_worth_most_to_it(ruleset: str, players: int) -> None:
    agent, rng = PlannerAgent(), random.Random(1)
    for seed in range(3):
        game = Game.new(players, ruleset, seed)
        seen = Counter[str]()
        while not game.is_over:
            actions, worths = agent.worths(game.batch, np.zeros(1, np.int64))
            action = int(actions[0])
            assert action == agent.act(game.batch, np.zeros(1, np.int64), new_streams(1, 1))[0]
            looked_at = np.isfinite(worths[0])
            assert not looked_at[game.legal_mask() == 0].any()
            if game.step == "column":
                assert not looked_at.any()
            else:
                assert looked_at[action]
                assert worths[0, action] == worths[0].max()
            if game.step in ("take", "modify"):
                assert looked_at.sum() == len(game.legal_actions())
            seen[game.step] += 1
            game.apply(action if rng.random() < 0.8 else rng.choice(game.legal_actions()))
        assert min(seen[step] for step in ("take", "modify", "play")) > 3


def test_worths_do_not_depend_on_threads() -> None:
    batch = Batch(Ruleset.get("gardienii"), 2, 7)
    batch.states["rng"] = seed_streams(5, 7)
    for i in range(7):
        batch.deal(i)
    games, planner = np.arange(7), PlannerAgent()
    actions, worths = planner.worths(batch, games)
    for number in (2, 3, 9):
        same = planner.worths(batch, games, Threads(number))
        assert np.array_equal(same[0], actions)
        assert np.array_equal(same[1], worths)
    assert planner.worths(batch, games[:0], Threads(2))[1].shape == (0, 73)
