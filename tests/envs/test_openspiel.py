"""The game for OpenSpiel: the same games as `Game`, and what OpenSpiel asks of its games."""

from __future__ import annotations

import copy
import os
import pickle
import random
import runpy
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rulesets import COMBINATIONS

from gardienii_env import ACTIONS, Game, GardieniiError, OptionError, Ruleset, layout
from gardienii_env.observation import VIEWS

if sys.version_info < (3, 11):
    pytest.skip("OpenSpiel needs Python 3.11", allow_module_level=True)

import pyspiel
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import ismcts, mcts

from gardienii_env.envs.openspiel import GardieniiObserver, state_of
from gardienii_env.envs.openspiel_past import labels

ROOT = Path(__file__).parents[2]
GAMES = int(os.environ.get("OPENSPIEL_GAMES", "24"))
"""How many games are compared with `Game`, over all combinations: OPENSPIEL_GAMES=1000 pytest ..."""

combinations = pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)


def loaded(ruleset: str = "gardienii", players: int = 2) -> Any:
    return pyspiel.load_game("gardienii", {"players": players, "ruleset": ruleset})


def dealt(ruleset: str = "gardienii", players: int = 2, seed: int = 1) -> Any:
    """The state after the deal of a seed."""
    return state_of(Game.new(players, ruleset, seed))


def play(state: Any, rng: random.Random, decisions: int = -1) -> Any:
    """Play on at random (chance too), for a number of steps or to the end."""
    while not state.is_terminal() and decisions != 0:
        state.apply_action(rng.choice(state.legal_actions()))
        decisions -= 1
    return state


def positions(ruleset: str, players: int, every: int = 25, seed: int = 4) -> Iterator[Any]:
    """Some states of a random game, its beginning and its end among them."""
    state, rng = dealt(ruleset, players, seed), random.Random(seed)
    yield state.clone()
    while not state.is_terminal():
        yield play(state, rng, every).clone()


def seen(state: Any, seat: int) -> list[object]:
    """All that OpenSpiel shows to a seat, told anew from the deal on."""
    state = pickle.loads(pickle.dumps(state))
    return [
        np.array(state.observation_tensor(seat), np.float32).tobytes(),
        np.array(state.information_state_tensor(seat), np.float32).tobytes(),
        state.observation_string(seat),
        state.information_state_string(seat),
        state.current_player(),
        state.legal_actions(seat),
    ]


# -- loading ---------------------------------------------------------------------------------------


@combinations
def test_the_game_says_what_it_is(ruleset: str, players: int) -> None:
    game = loaded(ruleset, players)
    assert game.num_players() == players
    assert game.get_parameters() == {"players": players, "ruleset": ruleset}
    assert game.num_distinct_actions() == len(ACTIONS) == 73
    assert game.max_utility() == 1
    assert game.min_utility() == pytest.approx(-1 / (players - 1))
    assert game.utility_sum() == 0
    for shape, view in (
        (game.observation_tensor_shape(), "table"),
        (game.information_state_tensor_shape(), "recall"),
    ):
        assert shape == [layout(players, view).size]  # type: ignore[arg-type]


def test_the_default_is_two_players_and_the_first_ruleset() -> None:
    game = pyspiel.load_game("gardienii")
    assert game.num_players() == 2
    assert game.ruleset == Ruleset.get("gardienii")


@pytest.mark.parametrize(
    ("name", "value"), [("players", 1), ("players", 5), ("ruleset", "chess"), ("ruleset", "")]
)
def test_a_wrong_parameter_is_named(name: str, value: object) -> None:
    with pytest.raises(OptionError, match=name) as caught:
        pyspiel.load_game("gardienii", {name: value})
    assert repr(value) in str(caught.value)


def test_without_openspiel_the_extra_is_named() -> None:
    program = (
        "import sys; sys.modules['pyspiel'] = None\n"
        "from gardienii_env.errors import MissingExtraError\n"
        "try:\n    import gardienii_env.envs.openspiel\n"
        "except MissingExtraError as error:\n    print(error)"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert "gardienii-env[openspiel]" in done.stdout


# -- the deal --------------------------------------------------------------------------------------


@combinations
def test_the_chance_events_are_the_deal(ruleset: str, players: int) -> None:
    rng, state = random.Random(players), loaded(ruleset, players).new_initial_state()
    told = []
    while state.is_chance_node():
        outcomes, chances = zip(*state.chance_outcomes(), strict=True)
        assert list(outcomes) == sorted(set(outcomes)) == state.legal_actions()
        assert sum(chances) == pytest.approx(1)
        outcome = rng.choices(outcomes, chances)[0]
        told.append(state.action_to_string(state.current_player(), outcome))
        state.apply_action(outcome)
    assert len(told) == state.get_game().max_chance_nodes_in_history()
    assert max(state.history()) < state.get_game().max_chance_outcomes()
    deal = state.to_game().deal()
    supply = deal["supply"]["L"]
    assert told[: len(supply)] == [f"left deck {k + 1}: {card}" for k, card in enumerate(supply)]
    assert told[-len(deal["pearls"]) :] == [f"pearl {k + 1}: {p}" for k, p in enumerate(deal["pearls"])]


@combinations
def test_a_deal_makes_its_own_events(ruleset: str, players: int) -> None:
    for seed in range(3):
        game = Game.new(players, ruleset, seed)
        state = state_of(game)
        assert state.to_game().deal() == game.deal()
        assert state.to_game().state.tobytes()[8:] == game.state.tobytes()[8:]  # but for the generator


def test_the_first_card_is_as_likely_as_it_is_common() -> None:
    game = loaded()
    left = game.ruleset.left_deck
    state = game.new_initial_state()
    chances = {state.action_to_string(kind)[-2:]: p for kind, p in state.chance_outcomes()}
    assert chances == pytest.approx({card: count / 52 for card, count in left.items() if count})
    state.apply_action(0)  # one of three W1 is gone
    assert dict(state.chance_outcomes())[0] == pytest.approx(2 / 51)
    for outcome in (33, -1):
        with pytest.raises(
            OptionError, match=f"outcome: {outcome} cannot be drawn from the left deck now"
        ):
            state._apply_action(outcome)


def test_during_the_deal_nobody_sees_anything() -> None:
    state, rng = loaded().new_initial_state(), random.Random(1)
    for _ in range(60):
        state.apply_action(rng.choice(state.legal_actions()))
    for seat in range(2):
        assert not any(state.observation_tensor(seat))
        assert not any(state.information_state_tensor(seat))
        assert state.observation_string(seat) == state.information_state_string(seat)
    assert state.information_state_string(0) == loaded().new_initial_state().information_state_string(0)
    with pytest.raises(OptionError, match="deal"):
        state.to_game()


def test_only_games_that_openspiel_can_load_become_states() -> None:
    with pytest.raises(OptionError, match="ruleset"):
        state_of(Game.new(2, Ruleset.get("gardienii").replace(name="own")))
    with pytest.raises(OptionError, match="ruleset"):
        state_of(Game.new(2, Ruleset.get("gardienii").replace(crystals=3)))
    with pytest.raises(GardieniiError, match="no deal"):
        state_of(Game.new(2, seed=1).resample(0, 1))


# -- the same games as `Game` ----------------------------------------------------------------------


@combinations
def test_games_are_those_of_the_core(ruleset: str, players: int) -> None:
    for seed in range(-(-GAMES // len(COMBINATIONS))):
        rng, game = random.Random(seed), Game.new(players, ruleset, seed)
        state = state_of(game)
        while not game.is_over:
            seat = state.current_player()
            legal = state.legal_actions()
            assert seat == game.player
            assert legal == np.flatnonzero(game.legal_mask()).tolist()
            assert [state.action_to_string(seat, action) for action in legal] == game.legal_actions()
            for view, tensor in (
                ("table", state.observation_tensor(seat)),
                ("recall", state.information_state_tensor(seat)),
            ):
                assert np.array_equal(np.array(tensor, np.float32), game.observe(seat, view))  # type: ignore[arg-type]
            assert state.returns() == [0] * players
            action = rng.choice(legal)
            game.apply(action)
            state.apply_action(action)
        assert state.is_terminal()
        assert state.returns() == game.payoffs()
        assert sum(state.returns()) == pytest.approx(0)
        assert len(game.moves) <= state.get_game().max_game_length()
        assert state.to_game().to_record()["final"] == game.to_record()["final"]


# -- OpenSpiel's own tests -------------------------------------------------------------------------


@combinations
def test_random_simulations(ruleset: str, players: int) -> None:
    pyspiel.random_sim_test(loaded(ruleset, players), num_sims=1, serialize=True, verbose=False)


@pytest.mark.parametrize(("ruleset", "players"), [("gardienii", 2), ("dragonkeepers", 4)])
def test_openspiels_simulation_test(ruleset: str, players: int) -> None:
    from open_spiel.python.tests.games_sim_test import GamesSimTest

    GamesSimTest().sim_game(loaded(ruleset, players))


# -- copies ----------------------------------------------------------------------------------------


def serialized(state: Any) -> Any:
    text = pyspiel.serialize_game_and_state(state.get_game(), state)
    game, restored = pyspiel.deserialize_game_and_state(text)
    assert str(game) == str(state.get_game())
    return restored


def replayed(state: Any) -> Any:
    """The state to which the history leads."""
    new = state.get_game().new_initial_state()
    for action in state.history():
        new.apply_action(action)
    return new


@pytest.mark.parametrize(
    "copied",
    [lambda s: s.clone(), copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s)), serialized, replayed],
    ids=["clone", "deepcopy", "pickle", "serialize", "replay"],
)
def test_a_copy_goes_on_with_the_game(copied: Any) -> None:
    for state in [loaded().new_initial_state(), *positions("dragonkeepers", 3, 60)]:
        twin = copied(state)
        before = str(twin), twin.history()
        assert before == (str(state), state.history())
        if not state.is_terminal():
            play(state, random.Random(3))
            assert (str(twin), twin.history()) == before
            play(twin, random.Random(3))
            assert str(twin) == str(state)
            assert seen(twin, 1) == seen(state, 1)


def test_a_clone_is_independent() -> None:
    state = play(dealt(), random.Random(1), 20)
    before = str(state), state.information_state_string(0)
    twin = state.clone()
    play(twin, random.Random(2), 9)
    assert twin.information_state_string(0).startswith(before[1])
    assert (str(state), state.information_state_string(0)) == before


# -- the information state -------------------------------------------------------------------------


@combinations
def test_the_string_tells_all_that_the_seat_saw_and_nothing_else(ruleset: str, players: int) -> None:
    """From the string alone the recall views of all moments can be written again."""
    for seat in range(players):
        state, rng = dealt(ruleset, players), random.Random(8)
        scales = layout(players, "recall").scales
        places = {name: k for k, name in enumerate(labels(players, "recall", seat))}
        assert len(places) == len(scales)
        views = [np.rint(state.information_state_tensor(seat) * scales).astype(int)]
        while not state.is_terminal():
            play(state, rng, 1)
            views.append(np.rint(state.information_state_tensor(seat) * scales).astype(int))
        first, *rest = state.information_state_string(seat).split("\n")
        assert first.startswith(f"seat {seat} of {players}: ")
        told = np.zeros(len(scales), int)
        moves = []
        for view, line in zip(views, [first, *rest], strict=True):
            head, _, changes = line.partition(": ")
            if line is not first:
                actor, action = head.split(" ")
                moves.append((int(actor), ACTIONS.index(action)))
            for change in changes.split():
                name, _, count = change.partition("=")
                told[places[name]] = int(count)
            assert np.array_equal(told, view)
        assert moves == state.to_game().moves


def test_the_order_of_things_is_remembered() -> None:
    """Two ways to the same position: the views are the same, the information states are not."""
    ways = [dealt(seed=2) for _ in range(2)]
    for state, order in zip(ways, (("take:L0", "take:R0"), ("take:R0", "take:L0")), strict=True):
        for action in order:
            state.apply_action(ACTIONS.index(action))
    for seat in range(2):
        (table, recall, text, told, *_), (table_2, recall_2, text_2, told_2, *_) = (
            seen(state, seat) for state in ways
        )
        assert (table, recall, text) == (table_2, recall_2, text_2)
        assert told != told_2


@combinations
def test_a_string_told_bit_by_bit_is_the_same(ruleset: str, players: int) -> None:
    state, rng = dealt(ruleset, players), random.Random(5)
    before = [state.information_state_string(seat) for seat in range(players)]
    while not state.is_terminal():
        play(state, rng, rng.randrange(1, 40))
        for seat in range(players):
            told = state.information_state_string(seat)
            assert told.startswith(before[seat])
            before[seat] = told
    for seat in range(players):
        assert seen(state, seat)[3] == before[seat]


# -- hidden information ----------------------------------------------------------------------------


def hidden_twin(state: Any, seat: int, seed: int) -> Any:
    """The same state, in which only what the seat cannot know now was drawn anew."""
    twin = state.clone()
    past = twin.past
    drawn = past.game.resample(seat, seed)
    drawn.moves = past.game.moves
    past.game = drawn
    past._moments[-1] = drawn.batch.states.copy()
    past._told.clear()
    return twin


@combinations
def test_what_is_hidden_moves_nothing_that_a_seat_sees(ruleset: str, players: int) -> None:
    others = 0
    for state in positions(ruleset, players):
        for seat in range(players):
            twin = hidden_twin(state, seat, seed=7)
            for show in ("observation", "information_state"):
                for kind in ("tensor", "string"):
                    shown = [getattr(one, f"{show}_{kind}")(seat) for one in (state, twin)]
                    assert shown[0] == shown[1]
            others += str(state) != str(twin)
    assert others > 0


@combinations
def test_a_resampled_state_is_another_one_that_the_seat_cannot_tell(ruleset: str, players: int) -> None:
    different = seen_by_others = 0
    for state in positions(ruleset, players):
        for seat in range(players):
            rng = random.Random(seat)
            before = str(state), state.history()
            twin = state.resample_from_infostate(seat, rng.random)
            assert (str(state), state.history()) == before
            assert seen(twin, seat) == seen(state, seat)
            assert twin.information_state_string(seat) == state.information_state_string(seat)
            assert str(replayed(twin)) == str(twin)
            events = state.get_game().max_chance_nodes_in_history()
            assert twin.history()[events:] == state.history()[events:]
            different += str(twin) != str(state)
            seen_by_others += any(
                seen(twin, other) != seen(state, other) for other in range(players) if other != seat
            )
    assert different > 5
    assert seen_by_others > 0


def test_resampling_follows_its_generator() -> None:
    state = play(dealt(players=3), random.Random(1), 30)
    same = [str(state.resample_from_infostate(0, random.Random(5).random)) for _ in range(2)]
    assert same[0] == same[1]
    assert str(state.resample_from_infostate(0, random.Random(6).random)) != same[0]
    with pytest.raises(OptionError, match="player"):
        state.resample_from_infostate(3, random.Random(1).random)


def test_resampling_draws_nothing_but_what_may_be() -> None:
    """Seat 0 of two: which starting card the other was dealt, counted against every one tried."""
    excluded = 0
    for seed in range(12):
        state = play(dealt("gardienii", 2, seed), random.Random(seed), 14)
        game = state.to_game()
        if not (game.state["unknown"][1] >= 0).any():
            continue
        told = state.information_state_string(0)
        possible = [card for card in game.ruleset.starting_cards if told_alike(game, card, told)]
        excluded += len(possible) < len(game.ruleset.starting_cards)
        rng = random.Random(seed)
        draws = [state.resample_from_infostate(0, rng.random) for _ in range(40)]
        counts = Counter(draw.to_game().deal()["hands"][1][0] for draw in draws)
        assert set(counts) <= set(possible)
        if len(possible) <= 3:
            assert set(counts) == set(possible)
    assert excluded > 0


def told_alike(game: Game, card: str, told: str) -> bool:
    """Whether seat 0 would have been told the same, had seat 1 been dealt that card."""
    deal = {**game.deal(), "hands": [[], [card]]}
    state = state_of(Game.from_deal(deal, 2, game.ruleset))
    for seat, action in game.moves:
        if state.current_player() != seat or action not in state.legal_actions():
            return False
        state.apply_action(action)
    return bool(state.information_state_string(0) == told)


# -- observers -------------------------------------------------------------------------------------


def observer(game: Any, public: bool, private: Any, recall: bool) -> GardieniiObserver:
    kind = pyspiel.IIGObservationType(public_info=public, perfect_recall=recall, private_info=private)
    made: GardieniiObserver = game.make_py_observer(kind)
    return made


@pytest.mark.parametrize("view", VIEWS)
def test_an_observer_shows_the_parts_of_a_view(view: Any) -> None:
    state = play(dealt(players=3), random.Random(1), 50)
    shown = observer(state.get_game(), True, pyspiel.PrivateInfoType.SINGLE_PLAYER, view == "recall")
    shown.set_from(state, 2)
    assert np.array_equal(shown.tensor, state.to_game().observe(2, view))
    for part in layout(3, view):
        assert np.array_equal(shown.dict[part.name].ravel(), shown.tensor[part.slice])
        assert shown.dict[part.name].shape == part.shape
        assert np.shares_memory(shown.dict[part.name], shown.tensor)


@pytest.mark.parametrize("recall", [False, True])
def test_public_and_private_parts_can_be_had_apart(recall: bool) -> None:
    kinds = pyspiel.PrivateInfoType
    game = loaded(players=3)
    public = observer(game, True, kinds.NONE, recall)
    private = observer(game, False, kinds.SINGLE_PLAYER, recall)
    assert {"hand", "pieces", "pearl_points"} <= set(private.dict)
    assert not set(private.dict) & set(public.dict)
    both = observer(game, True, kinds.SINGLE_PLAYER, recall)
    assert set(both.dict) == set(private.dict) | set(public.dict)
    for state in positions("gardienii", 3, 60):
        twin = state.resample_from_infostate(0, random.Random(1).random)  # another hand for seat 2
        tensors = []
        for one in (state, twin):
            public.set_from(one, 2)
            tensors.append(public.tensor.copy())
        assert np.array_equal(tensors[0], tensors[1])
        assert public.string_from(state, 2) == public.string_from(twin, 2)


def test_observers_that_there_are_not() -> None:
    game = loaded()
    with pytest.raises(OptionError, match="ALL_PLAYERS"):
        observer(game, True, pyspiel.PrivateInfoType.ALL_PLAYERS, False)
    with pytest.raises(OptionError, match="parameters"):
        game.make_py_observer(None, {"colour": 1})


# -- what plays it ---------------------------------------------------------------------------------


def test_the_rl_environment() -> None:
    courses = []
    for _ in range(2):
        env = rl_environment.Environment(loaded("dragonkeepers", 3))
        env.seed(4)
        rng, course = random.Random(1), []
        step = env.reset()
        while not step.last():
            seat = step.observations["current_player"]
            course.append(step.observations["info_state"][seat])
            assert len(course[-1]) == env.observation_spec()["info_state"][0]
            step = env.step([rng.choice(step.observations["legal_actions"][seat])])
        assert sum(step.rewards) == pytest.approx(0)
        assert max(step.rewards) > 0
        courses.append(course)
    assert courses[0] == courses[1]


@pytest.mark.parametrize("kind", ["mcts", "ismcts"])
def test_bots_play_legal_actions(kind: str) -> None:
    state = play(dealt("dragonkeepers", 3), random.Random(2), 60)
    rng = np.random.RandomState(1)
    evaluator = mcts.RandomRolloutEvaluator(1, rng)
    if kind == "mcts":
        bot = mcts.MCTSBot(state.get_game(), 2, 6, evaluator, random_state=rng)
    else:
        bot = ismcts.ISMCTSBot(state.get_game(), evaluator, 2, 6, random_state=rng)
    for _ in range(3):
        action = bot.step(state)
        assert action in state.legal_actions()
        state.apply_action(action)


def test_the_example_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    script = str(ROOT / "examples" / "openspiel_bot.py")
    monkeypatch.setattr(sys, "argv", [script, "--games", "1", "--simulations", "2", "--decisions", "2"])
    runpy.run_path(script, run_name="__main__")
    assert "ismcts" in capsys.readouterr().out
