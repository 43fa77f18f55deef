"""`Game`: actions by name and id, copies, and what it tells."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from helpers import play
from positions import do, position
from rulesets import COMBINATIONS

from gardienii_env import ACTIONS, Game, GardieniiError, IllegalActionError, OptionError, RulesetError
from gardienii_env.rules.cards import CARDS
from gardienii_env.rules.scoring import SOURCES

every_game = pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)

Copy = Callable[[Game], Game]
COPIES: list[Copy] = [
    Game.clone,
    copy.deepcopy,
    *(lambda game, p=p: pickle.loads(pickle.dumps(game, p)) for p in (2, pickle.HIGHEST_PROTOCOL)),
]
every_copy = pytest.mark.parametrize("copied", COPIES, ids=["clone", "deepcopy", "pickle2", "pickle"])


def everything(game: Game) -> Any:
    """All that a game holds, to compare."""
    return (
        game.batch.states.tobytes(),
        game.batch.masks.tobytes(),
        list(game.moves),
        game.seed,
        game.ruleset,
        game.to_record(),
    )


# -- a new game ------------------------------------------------------------------------------------


def test_by_default_two_play_the_first_ruleset() -> None:
    game = Game.new()
    assert (game.num_players, game.ruleset.name, game.seed) == (2, "gardienii", None)


def test_without_a_seed_games_differ() -> None:
    assert Game.new().deal() != Game.new().deal()


@every_game
def test_a_game_tells_whose_decision_it_is(ruleset: str, players: int) -> None:
    game = Game.new(players, ruleset, seed=3)
    assert (game.num_players, game.ruleset.name, game.seed) == (players, ruleset, 3)
    assert (game.player, game.step, game.turns, game.end, game.is_over) == (0, "take", 0, None, False)
    assert game.moves == []


@pytest.mark.parametrize("players", [np.int64(3), np.int8(3), 3])
@pytest.mark.parametrize("seed", [np.int64(5), np.uint32(5), 5])
def test_numbers_may_be_numpy_integers(players: Any, seed: Any) -> None:
    game = Game.new(players, seed=seed)
    assert (game.num_players, type(game.num_players)) == (3, int)
    assert (game.seed, type(game.seed)) == (5, int)
    again = Game.from_deal(game.deal(), players, seed=seed)
    assert (again.num_players, again.seed, type(again.seed)) == (3, 5, int)


@pytest.mark.parametrize("players", [1, 5, 0, -2, 2.5, "2", None, True, [], [2]])
def test_other_numbers_of_players_are_refused(players: Any) -> None:
    with pytest.raises(OptionError, match=r"^num_players: "):
        Game.new(players)
    with pytest.raises(OptionError, match=r"^num_players: "):
        Game.from_deal({}, players)


@pytest.mark.parametrize("seed", [-1, 1.0, 1.5, "1", [1], True, False, np.float64(1), b"1"])
def test_a_seed_is_a_whole_number_from_0_up(seed: Any) -> None:
    with pytest.raises(OptionError, match=r"^seed: "):
        Game.new(2, seed=seed)
    with pytest.raises(OptionError, match=r"^seed: "):
        Game.from_deal(Game.new(2, seed=0).deal(), 2, seed=seed)


@pytest.mark.parametrize("seed", [0, 2**32, 2**64, 10**40])
def test_any_such_seed_will_do(seed: int) -> None:
    assert Game.new(2, seed=seed).deal() == Game.new(2, seed=seed).deal()


def test_an_unknown_ruleset_is_refused() -> None:
    with pytest.raises(RulesetError, match="Did you mean 'gardienii'"):
        Game.new(2, "gardieni")


# -- actions ---------------------------------------------------------------------------------------


@every_game
def test_names_ids_and_mask_agree_through_a_game(ruleset: str, players: int) -> None:
    game, rng = Game.new(players, ruleset, seed=1), Random(1)
    while not game.is_over:
        names, mask = game.legal_actions(), game.legal_mask()
        assert (mask.shape, mask.dtype) == ((73,), np.dtype(np.int8))
        assert [ACTIONS[action] for action in np.flatnonzero(mask)] == names
        assert len(names) >= 2
        game.apply(rng.choice(names))
    assert game.legal_actions() == []
    assert not game.legal_mask().any()


@every_game
def test_an_action_by_name_or_by_id_is_the_same(ruleset: str, players: int) -> None:
    by_name, rng = Game.new(players, ruleset, seed=1), Random(2)
    by_id, by_numpy = by_name.clone(), by_name.clone()
    while not by_name.is_over:
        name = rng.choice(by_name.legal_actions())
        by_name.apply(name)
        by_id.apply(ACTIONS.index(name))
        by_numpy.apply(np.int64(ACTIONS.index(name)))
    assert everything(by_name) == everything(by_id) == everything(by_numpy)
    assert all(type(action) is int for _, action in by_numpy.moves)


def test_moves_are_the_decisions_so_far() -> None:
    game = position(step="take", left="G2 G2", right="Wr", supply="W1 -- Wr --", hands=["R1"])
    do(game, "take:L0", "pass", "modify:R1")
    assert game.moves == [(0, 0), (0, 4), (0, ACTIONS.index("modify:R1"))]


@pytest.mark.parametrize("action", ["pass", "take:L1", "play:W1", 4, 72, np.int64(72)])
def test_an_illegal_action_changes_nothing(action: Any) -> None:
    game = Game.new(2, "dragonkeepers", seed=1)
    before = everything(game)
    with pytest.raises(
        IllegalActionError, match=r"not legal for seat 0 in step 'take'.*take:L0, take:R0"
    ):
        game.apply(action)
    assert everything(game) == before


@pytest.mark.parametrize("action", ["", "take", "take:L7", -1, 73, 1.0, None, True, [0]])
def test_an_unknown_action_changes_nothing(action: Any) -> None:
    game = Game.new(2, seed=1)
    before = everything(game)
    with pytest.raises(IllegalActionError, match="is not known"):
        game.apply(action)
    assert everything(game) == before


@every_game
def test_of_all_73_actions_exactly_the_legal_ones_are_done(ruleset: str, players: int) -> None:
    game = play(Game.new(players, ruleset, seed=1), Random(3), decisions=40)
    before = everything(game)
    for number, name in enumerate(ACTIONS):
        if name in game.legal_actions():
            game.clone().apply(number)
        else:
            with pytest.raises(IllegalActionError):
                game.apply(number)
        assert everything(game) == before


def test_when_the_game_is_over_no_action_is_legal() -> None:
    game = play(Game.new(2, seed=1), Random(1))
    before = everything(game)
    for action in ("pass", 0):
        with pytest.raises(IllegalActionError, match="the game is over"):
            game.apply(action)
    assert everything(game) == before


def test_a_mask_given_is_a_copy() -> None:
    game = Game.new(2, seed=1)
    game.legal_mask()[:] = 1
    assert game.legal_actions() == ["take:L0", "take:L1", "take:R0", "take:R1"]


def test_asking_changes_nothing() -> None:
    game = play(Game.new(3, seed=1), Random(1), decisions=30)
    before = everything(game)
    game.legal_actions(), game.legal_mask(), game.points(), game.scores(), game.winners()
    game.payoffs(), game.observe(0), game.observe(1, "recall"), game.resample(2, 5), repr(game)
    assert everything(game) == before


# -- points and the end ----------------------------------------------------------------------------


@every_game
def test_points_scores_winners_and_payoffs_fit_together(ruleset: str, players: int) -> None:
    game, rng = Game.new(players, ruleset, seed=2), Random(4)
    while not game.is_over:
        game.apply(rng.choice(game.legal_actions()))
        points, scores, winners = game.points(), game.scores(), game.winners()
        assert [list(sources) for sources in points] == [list(SOURCES)] * players
        assert scores == [sum(sources.values()) for sources in points]
        assert winners == sorted(winners)
        assert {scores[seat] for seat in winners} == {max(scores)}
        assert sum(game.payoffs()) == pytest.approx(0)
    assert game.end in ("amulets", "supply", "turn_limit")
    assert (game.player, game.step) == (None, "over")


def test_numbers_are_plain_python() -> None:
    game = play(Game.new(2, seed=1), Random(1))
    numbers = [*game.scores(), *game.winners(), game.turns, *game.points()[0].values()]
    assert {type(number) for number in numbers} == {int}
    assert {type(payoff) for payoff in game.payoffs()} == {float}


# -- copies ----------------------------------------------------------------------------------------


@every_copy
@pytest.mark.parametrize("decisions", [0, 25, None])
def test_a_copy_is_equal(copied: Copy, decisions: int | None) -> None:
    game = play(Game.new(3, "dragonkeepers", seed=4), Random(1), decisions)
    assert everything(copied(game)) == everything(game)


@every_copy
def test_a_copy_is_independent(copied: Copy) -> None:
    game = play(Game.new(3, seed=4), Random(1), decisions=25)
    other, before = copied(game), everything(game)
    play(other, Random(2), decisions=10)
    assert everything(game) == before
    assert everything(other) != before
    then = everything(other)
    play(game, Random(3), decisions=10)
    assert everything(other) == then


@every_copy
def test_a_copy_in_the_middle_of_a_set_goes_on_like_the_original(copied: Copy) -> None:
    game = position(spell="3r", hands=["R1 R2 R3 R4", "R1 R2 R3"])
    do(game, "play:R1")
    other = copied(game)
    assert other.legal_actions() == game.legal_actions() == ["play:R2", "play:R3"]
    do(game, "play:R2", "play:R4", "pass")
    do(other, "play:R2", "play:R4", "pass")
    assert everything(other) == everything(game)


@every_copy
def test_a_copy_of_a_custom_ruleset_keeps_it(copied: Copy) -> None:
    game = Game.new(2, position().ruleset.replace(name="mine", take_limit=1), seed=1)
    other = do(copied(game), "take:L0")
    assert (other.ruleset.name, other.player, other.step) == ("mine", 0, "modify")


@every_copy
def test_a_copy_needs_no_new_compilation(copied: Copy) -> None:
    """Compiled functions tell arrays that can be written from those that cannot."""
    game = Game.new(2, seed=1)
    other = copied(game)
    assert game.batch.rules.flags.writeable == other.batch.rules.flags.writeable
    assert other.batch.states.flags.writeable
    assert other.batch.masks.flags.writeable


def test_a_resampled_game_has_no_record() -> None:
    game = play(Game.new(3, seed=4), Random(1), decisions=10).resample(1, seed=0)
    for ask in (game.deal, game.to_record):
        with pytest.raises(GardieniiError, match="resampled"):
            ask()
    play(game, Random(1))
    assert game.is_over


def test_a_game_of_a_batch_is_an_independent_copy() -> None:
    game = play(Game.new(3, seed=4), Random(1), decisions=10)
    other = Game.of(game.batch)
    before = everything(game)
    assert other.batch.states.tobytes() == game.batch.states.tobytes()
    assert other.legal_actions() == game.legal_actions()
    play(other, Random(1))
    assert everything(game) == before


@pytest.mark.parametrize("seat", [-1, 2, 5, "0", None, True, 0.5])
def test_a_wrong_seat_is_refused(seat: Any) -> None:
    game = Game.new(2, seed=1)
    for ask in (game.observe, game.resample):
        with pytest.raises(OptionError, match=r"^seat: "):
            ask(seat)


# -- text ------------------------------------------------------------------------------------------


def test_the_text_of_a_game_tells_where_it_stands() -> None:
    game = Game.new(3, "dragonkeepers", seed=1)
    assert repr(game) == str(game) == "<Game dragonkeepers, 3 players: turn 1, seat 0 to take>"
    over = position(hands=["W1"], turns=399)
    do(over, "pass")
    assert repr(over) == "<Game gardienii, 2 players: ended by turn_limit after 400 turns>"


@every_game
def test_the_text_of_a_game_shows_nothing_hidden(ruleset: str, players: int) -> None:
    game, rng = Game.new(players, ruleset, seed=5), Random(5)
    while not game.is_over:
        assert not any(card in repr(game) for card in CARDS)
        assert {repr(game.resample(seat, seed=1)) for seat in range(players)} == {repr(game)}
        game.apply(rng.choice(game.legal_actions()))
