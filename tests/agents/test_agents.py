"""What holds for every agent that needs nothing from outside: names, legality, reproducibility."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from helpers import play
from rulesets import COMBINATIONS, VARIATIONS

from gardienii_env import AgentError, Game, Ruleset
from gardienii_env.agents import AGENTS, Agent, make_agent, make_agents, new_streams
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.random import seed_streams

NAMES = ("random", "greedy")

each_agent = pytest.mark.parametrize("name", NAMES)
combinations = pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)

Moves = list[list[int]]


def dealt(ruleset: Any, players: int, games: int, seed: int = 1) -> Batch:
    batch = Batch(Ruleset.get(ruleset), players, games)
    for i in range(games):
        batch.states["rng"][i] = seed_streams(seed + i, 1)[0]
        batch.deal(i)
    return batch


def play_batch(
    agent: Agent, batch: Batch, streams: npt.NDArray[np.void], decisions: int = 2**63
) -> Moves:
    """Play on in all games of a batch, each at most for some decisions; what was done in each."""
    moves: Moves = [[] for _ in range(len(batch))]
    while (on := np.flatnonzero(batch.states["player"] >= 0)).size and decisions > 0:
        actions = agent.act(batch, on, streams)
        assert actions.shape == on.shape
        assert batch.masks[on, actions].all()
        for i, action in zip(on.tolist(), actions.tolist(), strict=True):
            batch.apply(i, action)
            moves[i].append(action)
        decisions -= 1
    return moves


# -- names -----------------------------------------------------------------------------------------


def test_these_are_known() -> None:
    assert set(NAMES) <= set(AGENTS)


@each_agent
def test_an_agent_is_called_as_it_is_written(name: str) -> None:
    assert make_agent(name).name == make_agent(f" {name} ").name == name
    assert repr(make_agent(name)) == f"<agent {name}>"


@pytest.mark.parametrize("name", ["", " ", "gredy", "Greedy", "gredy:5", ":", ":5"])
def test_an_unknown_name_is_refused(name: str) -> None:
    with pytest.raises(AgentError) as caught:
        make_agent(name)
    assert repr(name.strip().partition(":")[0]) in str(caught.value)
    assert all(known in str(caught.value) for known in AGENTS)


def test_a_name_that_is_nearly_right_is_suggested() -> None:
    with pytest.raises(AgentError, match="Did you mean 'greedy'"):
        make_agent("gredy")


@pytest.mark.parametrize("argument", ["", "5", "a:b"])
@each_agent
def test_an_argument_that_is_not_taken_is_refused(name: str, argument: str) -> None:
    with pytest.raises(AgentError, match=f"'{name}' takes no argument, but '{argument}'"):
        make_agent(f"{name}:{argument}")


def test_agents_of_all_seats() -> None:
    assert [agent.name for agent in make_agents("random, greedy,random", 3)] == [
        *("random", "greedy", "random")
    ]
    assert [agent.name for agent in make_agents("greedy", 4)] == ["greedy"] * 4


@pytest.mark.parametrize(
    ("names", "seats", "message"),
    [
        ("random,greedy", 3, "'random,greedy' names 2 agents for 3 seats"),
        ("random,greedy", 1, "names 2 agents for 1 seat;"),
        ("random,", 2, "The agent '' is not known"),
        ("random,,greedy", 3, "The agent '' is not known"),
        ("", 2, "The agent '' is not known"),
        ("random,gredy", 2, "The agent 'gredy' is not known"),
    ],
)
def test_wrong_lists_of_names(names: str, seats: int, message: str) -> None:
    with pytest.raises(AgentError, match=message):
        make_agents(names, seats)


# -- in single games -------------------------------------------------------------------------------


def chosen(agent: Agent, seed: int | None) -> list[str]:
    """A whole game of an agent against itself."""
    game, actions = Game.new(3, seed=4), []
    agent.reset(seed)
    while not game.is_over:
        before = game.state.tobytes()
        actions.append(agent.choose(game))
        assert game.state.tobytes() == before
        game.apply(actions[-1])
    return actions


@each_agent
def test_one_seed_gives_one_game(name: str) -> None:
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002  # it must not matter
    first = chosen(make_agent(name), 0)
    random.seed(2)
    np.random.seed(2)  # noqa: NPY002
    agent = make_agent(name)
    assert chosen(agent, 0) == chosen(agent, 0) == first


def test_seeds_and_the_operating_systems_chance_differ() -> None:
    agent = make_agent("random")
    assert chosen(agent, 0) != chosen(agent, 1)
    assert chosen(agent, None) != chosen(agent, None)
    fresh = [make_agent("random") for _ in range(2)]
    game = Game.new(2, seed=1)
    assert [fresh[0].choose(game) for _ in range(80)] != [fresh[1].choose(game) for _ in range(80)]


@each_agent
def test_no_choice_in_a_finished_game(name: str) -> None:
    game = play(Game.new(2, seed=1), random.Random(1))
    with pytest.raises(AgentError, match=f"{name} cannot choose: the game is over"):
        make_agent(name).choose(game)


@each_agent
@combinations
def test_choose_is_act(name: str, ruleset: str, players: int) -> None:
    agent, batch = make_agent(name), dealt(ruleset, players, 1)
    game = Game.of(batch)
    agent.reset(5)
    moves = play_batch(make_agent(name), batch, new_streams(5, 1))[0]
    for move in moves:
        action = agent.choose(game)
        assert game.legal_actions().index(action) == np.flatnonzero(game.legal_mask()).tolist().index(
            move
        )
        game.apply(action)
    assert game.is_over


# -- in batches ------------------------------------------------------------------------------------


@each_agent
@pytest.mark.parametrize(("ruleset", "players"), [*COMBINATIONS, *product(VARIATIONS, (2, 4))], ids=str)
def test_actions_are_legal_to_the_end_of_the_game(name: str, ruleset: str, players: int) -> None:
    batch = dealt(VARIATIONS.get(ruleset, ruleset), players, 6)
    play_batch(make_agent(name), batch, new_streams(1, 6))
    assert (batch.states["player"] < 0).all()


@each_agent
@pytest.mark.parametrize(("ruleset", "players"), [("gardienii", 3), ("dragonkeepers", 2)])
def test_positions_of_all_kinds(name: str, ruleset: str, players: int) -> None:
    """Also those that the agent itself would not come to."""
    agent, rng = make_agent(name), random.Random(1)
    for policy in ("random", "modifier", "hoarder", "stacker"):
        game = play(Game.new(players, ruleset, seed=1), rng, 0)
        while not game.is_over:
            assert agent.choose(game) in game.legal_actions()
            play(game, rng, 3, policy)


@each_agent
@combinations
def test_a_game_does_not_depend_on_the_rest_of_the_batch(name: str, ruleset: str, players: int) -> None:
    agent, size = make_agent(name), 5
    streams = new_streams(3, size)
    together = play_batch(agent, dealt(ruleset, players, size), streams.copy())
    for i in range(size):
        alone = dealt(ruleset, players, 1, seed=1 + i)
        assert play_batch(agent, alone, streams[i : i + 1].copy()) == [together[i]]


@each_agent
def test_the_order_of_the_games_does_not_matter(name: str) -> None:
    agent, batch = make_agent(name), dealt("gardienii", 2, 40)
    play_batch(make_agent("random"), batch, new_streams(1, 40), 25)
    games = np.flatnonzero(batch.states["player"] >= 0)
    mixed = np.array(random.Random(1).sample(games.tolist(), len(games) // 2))
    streams = new_streams(2, 40)
    other = streams.copy()
    all_of_them = dict(zip(games.tolist(), agent.act(batch, games, streams), strict=True))
    assert agent.act(batch, mixed, other).tolist() == [all_of_them[i] for i in mixed.tolist()]
    assert (other[mixed] == streams[mixed]).all()


@each_agent
def test_only_the_streams_of_the_games_asked_for_move(name: str) -> None:
    agent, batch = make_agent(name), dealt("gardienii", 2, 6)
    before, states = new_streams(2, 6), batch.states.tobytes()
    streams = before.copy()
    agent.act(batch, np.array([1, 4]), streams)
    assert (streams[[0, 2, 3, 5]] == before[[0, 2, 3, 5]]).all()
    assert batch.states.tobytes() == states


@each_agent
def test_no_games_no_actions(name: str) -> None:
    batch = dealt("gardienii", 2, 2)
    assert make_agent(name).act(batch, np.empty(0, np.int64), new_streams(1, 2)).shape == (0,)


def test_streams_are_reproducible_and_independent() -> None:
    assert (new_streams(1, 5) == new_streams(1, 5)).all()
    assert len(np.unique(np.concatenate([new_streams(seed, 50)["rng"] for seed in range(4)]))) == 200
    assert (new_streams(None, 5) != new_streams(None, 5)).all()
