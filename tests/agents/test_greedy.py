"""The agent `greedy`: what it does in positions made by hand, what it looks at, and how good it is."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from helpers import POLICIES, play
from positions import columns, hand, may, position
from rulesets import COMBINATIONS, NO_PRIZES, varied

from gardienii_env import Game, Ruleset
from gardienii_env.agents import make_agent, make_agents, new_streams
from gardienii_env.arena import duplicate_match
from gardienii_env.rules.cards import CARD_INDEX
from gardienii_env.rules.ruleset import SHIPPED
from gardienii_env.rules.state import deck_place

SUPPLY = "W1 -- Wr --"
SIX_GREEN = "G1 G1 G2 G2 G3 G3"

rulesets = pytest.mark.parametrize("ruleset", SHIPPED)


def choice(game: Game) -> str:
    return make_agent("greedy").choose(game)


def turn(game: Game) -> list[str]:
    """What greedy does as long as the same seat decides."""
    seat, done = game.player, []
    while game.player == seat:
        done.append(choice(game))
        game.apply(done[-1])
    return done


# -- step 3: play ----------------------------------------------------------------------------------


@rulesets
def test_it_plays_the_set_that_the_spell_asks_for(ruleset: str) -> None:
    game = position(2, ruleset, spell="3w", hands=["W1 W2 Wr B1", "W1 W1"])
    assert turn(game) == ["play:W1"]  # the others are the only ones left for the set
    assert hand(game, 0) == "B1"
    assert columns(game, 0) == "W"


def test_it_plays_the_cards_that_score_most() -> None:
    game = position(spell="2r", hands=["R1 R4 R3 Rb D6", "R1 R1"])
    assert turn(game) == ["play:R3", "play:R4"]
    assert hand(game, 0) == "R1 Rb D6 D6"  # the prize is a dark one


def test_where_dragons_do_not_score_it_keeps_the_dark_ones() -> None:
    game = position(2, "dragonkeepers", spell="1r", hands=["R5 D6", "R1"])
    assert choice(game) == "play:R5"
    game = position(2, "dragonkeepers", spell="3r", hands=["R1 R5 D6 D6", "R1 R1 R1"])
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


def test_it_does_not_play_for_nothing() -> None:
    bare = varied("dragonkeepers", prizes=NO_PRIZES, crests=[])
    assert choice(position(2, bare, spell="1w", hands=["W1 W2"])) == "pass"
    scoring = bare.replace(dragons_score=True)
    assert choice(position(2, scoring, spell="1w", hands=["W1 W2"])) == "play:W2"


def test_a_crest_in_reach_makes_a_set_worth_it() -> None:
    """Three columns stand already; for the fourth there is a crest, in a ruleset without prizes."""
    bare = varied("dragonkeepers", prizes=NO_PRIZES, crests=[5])
    options: dict[str, Any] = {"spell": "2w", "hands": ["D6 D6"]}
    assert choice(position(2, bare, **options, tableaus=["RBG"])) == "play:D6"
    assert choice(position(2, bare, **options, tableaus=["RBG"], crests_given=1)) == "pass"
    assert choice(position(2, bare, **options, tableaus=["WBG"])) == "pass"


# -- step 2: modify --------------------------------------------------------------------------------


@rulesets
def test_it_lays_the_page_that_makes_a_set_possible(ruleset: str) -> None:
    game = position(2, ruleset, step="modify", spell="3r", hands=["G1 G2 G3 Wg"])
    assert choice(game) == "modify:Wg"
    game = position(2, ruleset, step="modify", spell="6g", hands=["G1 G2 Gb R3"])
    assert choice(game) == "modify:R3"


def test_it_lays_both_pages_where_it_takes_two() -> None:
    cards = "G1 G2 G4 R3 Wg"
    game = position(2, "dragonkeepers", step="modify", spell="6r", hands=[cards])
    assert turn(game)[:2] == ["modify:R3", "modify:Wg"]
    assert columns(game, 0) == "G"
    assert hand(game, 0) == ""
    game = position(2, "gardienii", step="modify", spell="6r", hands=[cards])
    assert choice(game) != "modify:R3"  # one page alone does not help


@rulesets
def test_it_leaves_a_spell_that_suits(ruleset: str) -> None:
    game = position(2, ruleset, step="modify", spell="3g", hands=["G1 G2 G3 Wr R2"])
    assert choice(game) == "pass"


@rulesets
def test_it_lays_nothing_in_vain(ruleset: str) -> None:
    assert choice(position(2, ruleset, step="modify", spell="6r", hands=["Wg R4 B5"])) == "pass"


@rulesets
def test_it_lays_the_page_that_the_set_can_spare(ruleset: str) -> None:
    game = position(2, ruleset, step="modify", spell="6g", hands=["G1 G2 G3 R3"])
    assert may(game, "modify") == "R3 G1 G2 G3"
    assert choice(game) == "modify:R3"


def test_a_closed_column_is_no_aim() -> None:
    """White stands between red and blue: only where enclosed columns close is it no longer played."""
    for ruleset, expected in (("gardienii", "modify:Gw"), ("dragonkeepers", "pass")):
        cards, tableau = "W1 W2 W3 Gw", "RWB"
        game = position(2, ruleset, step="modify", spell="3r", hands=[cards], tableaus=[tableau])
        assert choice(game) == expected


# -- step 1: take ----------------------------------------------------------------------------------


@rulesets
def test_it_takes_towards_a_set(ruleset: str) -> None:
    """Two cards with the same back, and none is laid: the one that goes with the hand is better."""
    rules = varied(ruleset, modifications_per_turn=0)
    for supply, expected in (("W3 B3 -- --", "take:L0"), ("B3 W3 -- --", "take:L1")):
        game = position(2, rules, step="take", spell="2w", supply=supply, hands=["W1 W2"])
        assert choice(game) == expected


@rulesets
def test_it_stops_when_the_spell_is_just_right(ruleset: str) -> None:
    game = position(2, ruleset, step="take", spell="6g", supply=SUPPLY, taken=1, hands=[SIX_GREEN])
    assert choice(game) == "pass"


@rulesets
def test_it_takes_what_is_free_while_it_has_nothing(ruleset: str) -> None:
    for taken in (1, 2):
        game = position(2, ruleset, step="take", spell="6g", supply=SUPPLY, taken=taken, hands=["B1"])
        assert choice(game).startswith("take:")


@rulesets
def test_it_takes_from_the_side_whose_page_it_can_spare(ruleset: str) -> None:
    """White is right, and no card in hand says white: only the number may change."""
    cards = "W1 W2 W4 W5 Wg"
    game = position(2, ruleset, step="take", spell="6w", supply="W3 -- Wr --", taken=2, hands=[cards])
    assert choice(game) == "take:L0"


@rulesets
def test_it_does_not_waste_crystals(ruleset: str) -> None:
    """Neither where the spell is just right, nor where no set is worth anything."""
    options: dict[str, Any] = {"step": "take", "spell": "6g", "supply": SUPPLY, "taken": 3}
    options |= {"crystals": [2]}
    game = position(2, ruleset, **options, hands=[SIX_GREEN])
    assert may(game, "take") == "L0 R0"
    assert choice(game) == "pass"
    bare = varied(ruleset, prizes=NO_PRIZES, crests=[], dragons_score=False, crystal_points=1)
    assert choice(position(2, bare, **options, hands=["B1"])) == "pass"


@rulesets
def test_it_pays_a_crystal_for_the_card_that_completes_a_set(ruleset: str) -> None:
    """With W5 in hand R3 makes the spell 3 white."""
    options: dict[str, Any] = {"step": "take", "spell": "6w", "supply": "W5 -- -- --", "taken": 3}
    game = position(2, ruleset, **options, crystals=[1], hands=["W1 Wb R3"])
    assert choice(game) == "take:L0"


# -- where a column goes ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cards", "expected", "stands"),
    [("W1 W2 R1", "column:right", "WRB"), ("R1 R2 W1", "column:left", "BWR")],
)
def test_it_encloses_the_column_it_needs_less(cards: str, expected: str, stands: str) -> None:
    game = position(2, "dragonkeepers", spell="1b", hands=[f"{cards} B1", ""], tableaus=["WR"])
    assert turn(game)[:2] == ["play:B1", expected]
    assert columns(game, 0) == stands


# -- what it looks at ------------------------------------------------------------------------------


def scrambled(game: Game, seat: int, rng: random.Random) -> Game:
    """A copy in which all that is not in the table view of a seat is something else.

    Such a position need not be possible: it is only looked at.
    """
    other = game.clone()
    s = other.state
    s["rng"] = rng.getrandbits(64)
    s["pearls"][s["pearl_owner"] != seat] = rng.randrange(9)
    s["unseen"], s["unknown"] = rng.randrange(3), -1
    for side in (0, 1):
        for height in range(int(s["deck_size"][side]) - 1):
            s["deck"][deck_place(side, height)] = rng.randrange(33)
    for player in range(game.num_players):
        if player != seat:
            for field, kinds in (("hand", 33), ("pieces", len(game.ruleset.amulet_pieces))):
                total = int(s[field][player].sum())
                drawn = [rng.randrange(kinds) for _ in range(total)]
                s[field][player] = np.bincount(drawn, minlength=s[field].shape[1])
    return other


@pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)
def test_what_its_seat_does_not_see_on_the_table_does_not_matter(ruleset: str, players: int) -> None:
    asked = 0
    for number, policy in enumerate(POLICIES):
        rng = random.Random(number)
        game = Game.new(players, ruleset, seed=number)
        while not play(game, rng, rng.randrange(1, 8), policy).is_over:
            assert game.player is not None
            expected = choice(game)
            assert choice(game.resample(game.player, rng.randrange(10**6))) == expected
            other = scrambled(game, game.player, rng)
            assert other.observe(game.player).tobytes() == game.observe(game.player).tobytes()
            assert choice(other) == expected
            asked += 1
    assert asked > 100


@rulesets
def test_it_draws_no_random_numbers(ruleset: str) -> None:
    game, agent = Game.new(2, ruleset, seed=1), make_agent("greedy")
    streams = new_streams(1, 1)
    before = streams.copy()
    agent.act(game.batch, np.zeros(1, np.int64), streams)
    assert (streams == before).all()


# -- how good it is --------------------------------------------------------------------------------


@rulesets
def test_it_beats_random(ruleset: str) -> None:
    result = duplicate_match(make_agents("greedy,random", 2), Ruleset.get(ruleset), deals=200, seed=1)
    assert result.win_share()[0] >= 0.95


@pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)
def test_one_greedy_beats_several_random_ones(ruleset: str, players: int) -> None:
    agents = [make_agent("greedy"), *[make_agent("random")] * (players - 1)]
    result = duplicate_match(agents, Ruleset.get(ruleset), deals=40, seed=1)
    assert result.win_share()[0] >= 0.9
