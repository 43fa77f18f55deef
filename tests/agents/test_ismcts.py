"""The agent `ismcts`: what it looks at, what it makes of it, and how good it is."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from helpers import POLICIES, play
from positions import position
from rulesets import COMBINATIONS, ODD, VARIATIONS

from gardienii_env import ACTIONS, AgentError, Game, Ruleset
from gardienii_env.agents import make_agent, new_streams
from gardienii_env.agents.ismcts import ActionReport, IsmctsAgent
from gardienii_env.agents.planner import AHEAD, planner_action
from gardienii_env.agents.rollout import card_worth, estimate, roll_out, share_left
from gardienii_env.agents.tree import BIT_PART, Search, grow, plant
from gardienii_env.arena import duplicate_match
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.cards import BACK, SIDES
from gardienii_env.rules.engine import action_at
from gardienii_env.rules.hidden import forget
from gardienii_env.rules.ruleset import MAX_PLAYERS, SHIPPED
from gardienii_env.rules.state import top_back

combinations = pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)
CASES = [*COMBINATIONS, *((ruleset, 2 + k % 3) for k, ruleset in enumerate(ODD))]
"""The shipped rulesets with every number of players, and the odd ones."""

RULESETS = [*map(Ruleset.get, SHIPPED), *VARIATIONS.values()]
NAMES = [ruleset.name for ruleset in RULESETS]

cases = pytest.mark.parametrize(
    ("ruleset", "players"), CASES, ids=lambda value: getattr(value, "name", str(value))
)


def positions(ruleset: Any, players: int, games: int, seed: int = 0) -> list[Game]:
    """Positions from all parts of games, reached in different ways; some are over."""
    rng = random.Random(seed)
    found = []
    for k in range(games):
        policy = list(POLICIES)[k % len(POLICIES)]
        game = Game.new(players, ruleset, seed=100 * seed + k)
        found.append(play(game, rng, rng.randrange(150), policy))
    return found


def deciding(ruleset: Any, players: int, games: int, seed: int = 0) -> list[tuple[Game, int]]:
    """The same with the seat that decides, without games that are over."""
    found = positions(ruleset, players, games, seed)
    return [(game, game.player) for game in found if game.player is not None]


def batch_of(games: list[Game]) -> Batch:
    batch = Batch(games[0].ruleset, games[0].num_players, len(games))
    for i, game in enumerate(games):
        batch.states[i], batch.masks[i] = game.batch.states[0], game.batch.masks[0]
    return batch


def analysis(game: Game, simulations: int = 30, seed: int = 3) -> dict[str, ActionReport]:
    agent = IsmctsAgent(simulations)
    agent.reset(seed)
    return agent.analyse(game)


def choice(game: Game, simulations: int = 100, seed: int = 3) -> str:
    agent = IsmctsAgent(simulations)
    agent.reset(seed)
    return agent.choose(game)


# -- how it is made --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"simulations": 400}, "ismcts:400"),
        ({"simulations": np.int64(7)}, "ismcts:7"),
        ({"seconds": 0.5}, "ismcts:0.5s"),
        ({"seconds": 2}, "ismcts:2s"),
    ],
)
def test_it_is_called_as_it_is_written(options: dict[str, Any], name: str) -> None:
    assert IsmctsAgent(**options).name == name


@pytest.mark.parametrize("options", [{}, {"simulations": 400, "seconds": 1.0}])
def test_either_simulations_or_seconds_are_given(options: dict[str, Any]) -> None:
    with pytest.raises(AgentError, match="either simulations or seconds"):
        IsmctsAgent(**options)


@pytest.mark.parametrize("value", [0, -1, 1_000_001, 1.5, "400", True])
def test_wrong_numbers_of_simulations(value: Any) -> None:
    with pytest.raises(
        AgentError, match="is not a number of simulations; expected a whole number from 1"
    ):
        IsmctsAgent(simulations=value)


@pytest.mark.parametrize("value", [0, 0.0, -1, 3601, float("nan"), float("inf"), "1", True])
def test_wrong_numbers_of_seconds(value: Any) -> None:
    with pytest.raises(AgentError, match="is not a number of seconds; expected one above 0"):
        IsmctsAgent(seconds=value)


# -- what it plays ---------------------------------------------------------------------------------


@pytest.mark.parametrize("ruleset", RULESETS, ids=NAMES)
def test_actions_are_legal_to_the_end_of_the_game(ruleset: Any) -> None:
    """`choose` refuses what is not."""
    agent = IsmctsAgent(3)
    for players in (2, 3, 4):
        agent.reset(players)
        game = Game.new(players, ruleset, seed=players)
        while not game.is_over:
            game.apply(agent.choose(game))


@combinations
def test_games_of_a_few_seconds_a_decision_are_legal_too(ruleset: str, players: int) -> None:
    agent = IsmctsAgent(seconds=0.001)
    games = [game for game, _ in deciding(ruleset, players, 4)]
    batch = batch_of(games)
    actions = agent.decide(batch, np.arange(len(games)), new_streams(1, len(games)))
    assert all(batch.masks[i, action] for i, action in enumerate(actions))


def test_a_longer_search_has_room_for_its_tree() -> None:
    game = Game.new(2, seed=4)
    agent = IsmctsAgent(seconds=0.2)
    agent.reset(1)
    report = agent.analyse(game)
    assert sum(of.visits for of in report.values()) > 250
    assert agent.choose(game) in game.legal_actions()


def near_the_end(mine: dict[int, int], theirs: dict[int, int], cards: str = "B1 B2 Rb") -> Game:
    """Seat 0 may play its last white dragon, which completes the last amulet: the game would end."""
    assert sum(mine.values()) == 11
    assert sum(theirs.values()) == 9
    game: Game = position(
        spell="1w",
        hands=["W1 " + cards, "R1 R2"],
        pieces=[mine, theirs],
        bank={1: 2, 8: 3, 20: 1},
    )
    return game


HIGH, LOW = {20: 3, 16: 6}, {1: 8, 4: 1}


@pytest.mark.parametrize("simulations", [20, 200])
def test_it_ends_the_game_when_it_wins(simulations: int) -> None:
    game = near_the_end({**HIGH, 1: 2}, LOW)
    report = analysis(game, simulations)
    assert report["play:W1"].value == 1.0
    assert choice(game, simulations) == "play:W1"
    game.apply("play:W1")
    assert game.winners() == [0]


@pytest.mark.parametrize("simulations", [200, 1000])
def test_it_does_not_end_the_game_when_it_loses(simulations: int) -> None:
    game = near_the_end({8: 4, 6: 5, 4: 2}, {10: 9}, cards="B2 B3 B4 B5 R3 R4 R5 G3 G4 G5 Rb Bg Gr")
    assert make_agent("greedy").choose(game) == "play:W1"
    report = analysis(game, simulations)
    assert report["play:W1"].value == -1.0
    assert choice(game, simulations) == "pass"


def test_it_looks_at_what_the_next_seat_can_play() -> None:
    """Whoever lays a page for nothing but to please the next seat would do without."""
    game = position(
        step="modify", spell="6r", hands=["Wg B1", "G1 G2 G3 G4 G5 D6"], tableaus=["RB", "G"]
    )
    report = analysis(game, 300)
    assert report["modify:Wg"].value is not None
    assert report["pass"].value is not None
    assert report["modify:Wg"].value < report["pass"].value
    assert choice(game, 300) != "modify:Wg"


# -- what it must not know -------------------------------------------------------------------------


@cases
def test_what_its_seat_cannot_know_does_not_matter(ruleset: Any, players: int) -> None:
    different = 0
    for k, (game, seat) in enumerate(deciding(ruleset, players, 12)):
        expected = analysis(game)
        for seed in range(3):
            other = game.resample(seat, seed=10 * k + seed)
            different += other.state.tobytes() != game.state.tobytes()
            assert analysis(other) == expected
            assert choice(other, 30) == choice(game, 30)
    assert different > 0


@cases
def test_nothing_hidden_is_left_of_a_game_that_it_forgets(ruleset: Any, players: int) -> None:
    for k, (game, seat) in enumerate(deciding(ruleset, players, 40, seed=1)):
        known = game.clone()
        forget(known.batch.rules, known.batch.states, 0, seat)
        for view in ("table", "recall"):
            assert (known.observe(seat, view) == game.observe(seat, view)).all()
        other = game.resample(seat, seed=k)
        forget(other.batch.rules, other.batch.states, 0, seat)
        assert other.state.tobytes() == known.state.tobytes()


@cases
def test_a_game_that_it_forgets_has_the_same_cards(ruleset: Any, players: int) -> None:
    for game, seat in deciding(ruleset, players, 40, seed=2):
        known = game.clone()
        forget(known.batch.rules, known.batch.states, 0, seat)
        before, after = game.state, known.state
        assert sorted(before["deck"]) == sorted(after["deck"])
        assert sorted(before["pearls"]) == sorted(after["pearls"])
        assert (before["hand_size"] == after["hand"].sum(axis=1)).all()
        held = [state["hand"].sum(axis=0) + state["unseen"] for state in (before, after)]
        assert (held[0] == held[1]).all()
        assert before["legal"] == after["legal"]


def test_where_unknown_cards_are_noted_does_not_matter() -> None:
    game = Game.new(4, seed=1)
    other = game.clone()
    other.state["unknown"][2, :3] = np.roll(game.state["unknown"][2, :3], 1)
    forget(game.batch.rules, game.batch.states, 0, 0)
    forget(other.batch.rules, other.batch.states, 0, 0)
    assert other.state.tobytes() == game.state.tobytes()


def test_the_games_own_generator_does_not_matter() -> None:
    game = Game.new(3, seed=1)
    expected = analysis(game, 100)
    game.state["rng"] = 12345
    assert analysis(game, 100) == expected


@combinations
def test_it_leaves_the_games_as_they_are(ruleset: str, players: int) -> None:
    games = [game for game, _ in deciding(ruleset, players, 8)]
    batch = batch_of(games)
    before = batch.states.tobytes(), batch.masks.tobytes()
    IsmctsAgent(10).act(batch, np.arange(len(games)), new_streams(1, len(games)))
    assert (batch.states.tobytes(), batch.masks.tobytes()) == before


# -- reproducible ----------------------------------------------------------------------------------


@combinations
def test_a_choice_does_not_depend_on_the_batch(ruleset: str, players: int) -> None:
    """Not on the other games, their order, or what was asked before."""
    games = [game for game, _ in deciding(ruleset, players, 16)]
    batch, agent, size = batch_of(games), IsmctsAgent(40), len(games)
    everything = np.arange(size)
    together = agent.act(batch, everything, new_streams(5, size))
    order = np.random.default_rng(1).permutation(size)
    assert (agent.act(batch, order, new_streams(5, size)) == together[order]).all()
    for i in range(size):
        streams = new_streams(5, size)
        before = streams.copy()
        assert agent.act(batch, everything[i : i + 1], streams) == together[i : i + 1]
        others = everything != i
        assert (streams[others] == before[others]).all()
        assert streams[i] != before[i]
        alone = Game.of(batch, i)
        assert agent.act(alone.batch, np.zeros(1, np.int64), before[i : i + 1]) == together[i]


def test_chance_comes_from_the_stream() -> None:
    for game, _ in deciding("gardienii", 2, 8):
        first, again, other = (analysis(game, 30, seed) for seed in (1, 1, 2))
        assert first == again
        assert first != other


def test_no_games_no_actions() -> None:
    batch = batch_of([Game.new(2, seed=1)])
    for agent in (IsmctsAgent(5), IsmctsAgent(seconds=0.01)):
        assert agent.act(batch, np.zeros(0, np.int64), new_streams(1, 1)).shape == (0,)


PROGRAM = """
from test_ismcts import uncompiled
print(*uncompiled())
"""


def uncompiled() -> list[str]:
    """A few choices, some near the end of the game."""
    games = [
        Game.new(3, seed=2),
        near_the_end({**HIGH, 1: 2}, LOW),
        play(Game.new(4, "dragonkeepers", seed=3), random.Random(1), 90, "player"),
    ]
    return [choice(game, 12) for game in games]


def test_uncompiled_code_chooses_the_same() -> None:
    """Plain Python also warns where a small whole number overflows, here an error."""
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", PROGRAM],
        cwd=Path(__file__).parent,
        env={
            **os.environ,
            "NUMBA_DISABLE_JIT": "1",
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path]),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == uncompiled()


# -- what it tells ---------------------------------------------------------------------------------


@combinations
def test_an_analysis_tells_of_every_legal_action(ruleset: str, players: int) -> None:
    for game, _ in deciding(ruleset, players, 8):
        report = analysis(game, 50)
        assert list(report) == game.legal_actions()
        assert sum(of.visits for of in report.values()) == 50
        for of in report.values():
            assert of.share == of.visits / 50
            assert (of.value is None) == (of.visits == 0)
            assert of.value is None or -1 <= of.value <= 1


def test_it_does_what_the_analysis_says() -> None:
    agent = IsmctsAgent(60)
    agent.reset(1)
    game = Game.new(2, seed=8)
    while not game.is_over:
        report = agent.analyse(game)
        assert agent.analyse(game) == report  # nothing has moved
        chosen = agent.choose(game)
        assert report[chosen].visits == max(of.visits for of in report.values())
        game.apply(chosen)


def test_no_analysis_of_a_finished_game() -> None:
    game = play(Game.new(2, seed=1), random.Random(1))
    with pytest.raises(AgentError, match="cannot analyse: the game is over"):
        IsmctsAgent(5).analyse(game)


def test_an_agent_that_was_never_reset_can_analyse() -> None:
    assert sum(of.visits for of in IsmctsAgent(5).analyse(Game.new(2, seed=1)).values()) == 5


# -- the tree --------------------------------------------------------------------------------------


def tree_of(game: Game, simulations: int) -> npt.NDArray[np.void]:
    search = Search(game.batch.rules, game.batch.states, new_streams(1, 1), simulations)
    plant(search.arrays, 0)
    grow(search.arrays, 0, 0, simulations)
    return search.arrays.tree


@combinations
def test_visits_and_values_add_up_in_the_tree(ruleset: str, players: int) -> None:
    for game, _ in deciding(ruleset, players, 6):
        tree = tree_of(game, 200)
        assert tree["visits"][0] == 200
        for node in range(1, tree.size):
            if tree["visits"][node] == 0:
                continue  # a simulation that reached the end of the game again
            children = np.flatnonzero((tree["parent"] == node) & (tree["visits"] > 0))
            assert tree["visits"][children].sum() <= tree["visits"][node]
            assert (tree["visits"][children] <= tree["available"][children]).all()
            assert abs(tree["value"][node, :players].sum()) < 1e-6 * tree["visits"][node]
            assert (tree["value"][node, players:] == 0).all()


@pytest.mark.parametrize("ruleset", ["gardienii", "dragonkeepers"])
def test_a_taken_card_is_followed_by_what_it_turns_up(ruleset: str) -> None:
    game = Game.new(2, ruleset, seed=6)
    tree, state = tree_of(game, 2000), game.state
    taken = 0
    for node in np.flatnonzero((tree["parent"] == 0) & (tree["visits"] > 0)):
        action = ACTIONS[action_at(state, int(tree["move"][node]) % BIT_PART)]
        below = (tree["parent"] == node) & (tree["visits"] > 0)
        if action == "pass":
            continue
        taken += 1
        side = SIDES.index(action[5])
        turned, page = np.divmod(tree["move"][below], BIT_PART)
        assert {int(BACK[card - 1]) for card in turned} == {top_back(state, side)}  # as it was seen
        assert len(set(turned)) > 1  # its front was not
        assert len(set(page)) > 1
        assert tree["visits"][below].sum() == tree["visits"][node] - 1
    assert taken == len(game.legal_actions())


def test_more_simulations_visit_more() -> None:
    game = Game.new(2, seed=6)
    depths, seen = [], []
    for simulations in (10, 100, 1000):
        tree = tree_of(game, simulations)
        depth = np.zeros(tree.size, np.int64)
        for node in range(1, tree.size):
            if tree["visits"][node] > 0:
                depth[node] = depth[tree["parent"][node]] + 1
        depths.append(int(depth.max()))
        seen.append(int((tree["visits"] > 0).sum()))
    assert depths == sorted(set(depths))
    assert seen == sorted(set(seen))


def test_a_search_in_parts_is_the_same_search() -> None:
    game = Game.new(3, seed=6)
    search = Search(game.batch.rules, game.batch.states, new_streams(1, 1), 10)
    plant(search.arrays, 0)
    for first in (0, 10, 20, 30):
        search.make_room(first + 10)
        grow(search.arrays, 0, first, first + 10)
    whole = tree_of(game, 40)
    assert (search.arrays.tree["visits"][:41] == whole["visits"]).all()
    assert (search.arrays.tree["value"][:41] == whole["value"]).all()


# -- what a position is worth ----------------------------------------------------------------------


def estimated(game: Game) -> npt.NDArray[np.float64]:
    values = np.zeros(MAX_PLAYERS)
    rules = game.batch.rules[0]
    estimate(rules, game.state, card_worth(rules), values)
    return values[: game.num_players]


@pytest.mark.parametrize("ruleset", RULESETS, ids=NAMES)
def test_estimates_are_payoffs(ruleset: Any) -> None:
    for players in (2, 3, 4):
        for game in positions(ruleset, players, 10):
            values = estimated(game)
            assert np.isfinite(values).all()
            assert abs(values.sum()) < 1e-9
            assert values.max() <= 1
            assert values.min() >= -1 / (players - 1) - 1e-9
            assert 0 <= share_left(game.batch.rules[0], game.state) <= 1


RICHER: list[dict[str, Any]] = [
    {"hands": ["G1 G2", "B2"]},
    {"hands": ["D6", "Wr"]},
    {"dragon_points": [5, 0]},
    {"crystals": [1, 0]},
    {"eggs": [2, 1]},
    {"crest": [0, -1]},
    {"pieces": [{8: 1}, {4: 1}]},
    {"pearl_owner": [0, 1], "pearls": [9, 3], "pearls_given": 2},
]


@pytest.mark.parametrize("options", RICHER)
def test_who_has_more_may_expect_more(options: dict[str, Any]) -> None:
    """The first seat has something; then the second has it instead."""
    swapped = dict(options)
    for name, value in options.items():
        if isinstance(value, list) and name != "pearls":
            swapped[name] = value[::-1]
    equal: dict[str, Any] = {"spell": "6b", "hands": ["W1 W1", "W1 W1"]}
    first, second = (position(**{**equal, **changed}) for changed in (options, swapped))
    assert estimated(first)[0] > estimated(second)[0]


def test_a_closed_column_is_missed() -> None:
    """Two closed columns in the middle, or one of four that is still open, with the same crest."""
    options: dict[str, Any] = {"spell": "6w", "hands": ["B1 B2", "W1"], "crest": [0, -1]}
    closed = position(2, "dragonkeepers", tableaus=["WBRG"], **options)
    open_ = position(2, "dragonkeepers", tableaus=["BWRG"], **options)
    assert estimated(closed)[0] < estimated(open_)[0]


@combinations
def test_a_game_that_is_over_is_worth_its_payoffs(ruleset: str, players: int) -> None:
    for seed in range(5):
        game = play(Game.new(players, ruleset, seed), random.Random(seed))
        values = np.zeros(MAX_PLAYERS)
        roll_out(game.batch.rules, game.batch.states, game.batch.masks, 0, 1.0, values)
        assert values[:players].tolist() == game.payoffs()


def test_rollouts_play_three_turns_as_planner_looking_less_far_from_the_second_on() -> None:
    game = Game.new(3, seed=5)
    batch, rolled = game.batch, game.clone().batch
    roll_out(rolled.rules, rolled.states, rolled.masks, 0, 5.0, np.zeros(MAX_PLAYERS))
    while game.turns < 3:
        ahead = AHEAD if game.turns == 0 else 1
        game.apply(planner_action(batch.rules, batch.states, batch.masks, 0, ahead))
    assert rolled.states.tobytes() == batch.states.tobytes()


def test_a_card_brings_more_where_there_is_more_to_get() -> None:
    worth = {name: card_worth(Ruleset.get(name).rules[0]) for name in SHIPPED}
    assert worth["gardienii"] > worth["dragonkeepers"] > 1
    assert card_worth(VARIATIONS["no tokens"].rules[0]) < worth["gardienii"]
    nothing = VARIATIONS["no prizes"].rules[0]
    assert 0 < card_worth(nothing) < worth["dragonkeepers"]


# -- how good it is --------------------------------------------------------------------------------


@pytest.mark.parametrize("ruleset", SHIPPED)
def test_it_beats_greedy(ruleset: str) -> None:
    result = duplicate_match([IsmctsAgent(60), make_agent("greedy")], ruleset, deals=12, seed=1)
    assert result.scores[:, :, 0].mean() > result.scores[:, :, 1].mean() + 8


@pytest.mark.parametrize(("ruleset", "players"), [("gardienii", 4), ("dragonkeepers", 3)])
def test_one_of_it_among_greedy_ones_does_better_than_they(ruleset: str, players: int) -> None:
    agents = [IsmctsAgent(60), *[make_agent("greedy")] * (players - 1)]
    result = duplicate_match(agents, ruleset, deals=8, seed=1)
    assert result.scores[:, :, 0].mean() > result.scores[:, :, 1:].mean() + 4
