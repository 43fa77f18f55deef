"""Opponents that are drawn for every episode and seat."""

from __future__ import annotations

import pickle
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from rulesets import COMBINATIONS

from gardienii_env import AgentError, GardieniiError, OptionError
from gardienii_env.agents import Agent, make_agent
from gardienii_env.agents.random import RandomAgent
from gardienii_env.envs.sb3 import GardieniiVecEnv


class Slow(RandomAgent):
    """As `random`, but it has to be asked; counts how often it is."""

    asked = 0

    def act(self, batch: Any, games: Any, streams: Any) -> Any:
        self.asked += 1
        return super().act(batch, games, streams)


def named(name: str) -> Agent:
    agent = Slow()
    agent.name = name
    return agent


def env_of(games: int, players: int = 2, ruleset: Any = "gardienii", seed: int = 1) -> Any:
    return GardieniiVecEnv(games, "random", players, ruleset, seed=seed)


def run(env: Any, steps: int, seed: int = 1) -> list[dict[str, Any]]:
    """The infos of the games that end while random actions are played; observations in each."""
    rng, ended = random.Random(seed), []
    for _ in range(steps):
        masks = env.action_masks()
        actions = np.array([rng.choice(np.flatnonzero(mask).tolist()) for mask in masks])
        observations, _, dones, infos = env.step(actions)
        ended += [
            {**infos[i], "game": i, "next": observations[i].tobytes()} for i in np.flatnonzero(dones)
        ]
        for info in ended:
            info.pop("episode", None)
            info.pop("terminal_observation", None)
    return ended


@pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)
def test_each_seat_has_its_own_by_the_weights(ruleset: str, players: int) -> None:
    env = env_of(40, players, ruleset)
    env.draw_opponents([named("a"), "greedy", named("never"), named("b")], [1, 2, 0, 5])
    env.reset()
    counts: Counter[str] = Counter()
    for info in run(env, 260):
        assert len(info["opponents"]) == players - 1
        counts.update(info["opponents"])
    total = sum(counts.values())
    assert total > 40
    for name, share in (("a", 1 / 8), ("greedy", 2 / 8), ("b", 5 / 8)):
        assert counts[name] / total == pytest.approx(share, abs=0.2)
    assert counts["never"] == 0


def test_who_is_told_is_who_plays() -> None:
    for weights, expected in (([1, 0], "a"), ([0, 1], "b")):
        env, agents = env_of(3), [Slow(), Slow()]
        agents[0].name, agents[1].name = "a", "b"
        env.draw_opponents(agents, weights)
        env.reset()
        assert {info["opponents"] for info in run(env, 120)} == {(expected,)}
        assert [agent.asked > 0 for agent in agents] == [weight > 0 for weight in weights]


def test_a_game_depends_on_its_own_seed_only() -> None:
    def drawn(env: Any) -> Any:
        env.draw_opponents(["greedy", named("a"), "random"], [1, 1, 1])
        env.reset()
        return env

    many, one = drawn(env_of(5, 3, seed=2)), drawn(env_of(1, 3, seed=6))
    rng = random.Random(1)
    told = []
    for _ in range(300):
        masks = many.action_masks()
        actions = np.array([rng.choice(np.flatnonzero(mask).tolist()) for mask in masks])
        observations, rewards, dones, infos = many.step(actions)
        own = one.step(actions[4:])
        assert np.array_equal(observations[4:], own[0])
        assert (rewards[4], dones[4]) == (own[1], own[2])
        if dones[4]:
            assert infos[4]["opponents"] == own[3][0]["opponents"]
            told.append(infos[4]["opponents"])
    assert len(set(told)) > 1


def test_episodes_that_have_begun_keep_their_opponents() -> None:
    env, (a, b) = env_of(6), (named("a"), named("b"))
    env.draw_opponents([a], [1])
    env.reset()
    run(env, 10)
    env.draw_opponents([b, "greedy"], [1, 1])
    run(env, 5)
    env.draw_opponents(["greedy", b], [1, 3])
    first: dict[int, tuple[str, ...]] = {}
    later: Counter[str] = Counter()
    for info in run(env, 400):
        if info["game"] in first:
            later.update(info["opponents"])
        first.setdefault(info["game"], info["opponents"])
    assert set(first.values()) == {("a",)}
    assert set(later) == {"b", "greedy"}


def test_a_copy_goes_on_in_the_same_way() -> None:
    env = env_of(6, 3)
    env.draw_opponents([named("a"), "greedy", named("b")], [1, 1, 1])
    env.reset()
    run(env, 50)
    copy = pickle.loads(pickle.dumps(env))
    played = run(env, 250)
    assert len(played) > 6
    assert run(copy, 250) == played


def test_fixed_opponents_again() -> None:
    env, other = env_of(4), env_of(4)
    env.draw_opponents([named("a"), "greedy"], [1, 1])
    env.set_opponents("greedy")
    other.set_opponents("greedy")
    assert np.array_equal(env.reset(), other.reset())
    played = run(env, 100)
    assert played == run(other, 100)
    assert all("opponents" not in info for info in played)


@pytest.mark.parametrize(
    ("agents", "weights", "error"),
    [
        (["gredy"], [1], AgentError),
        ([], [], OptionError),
        (["greedy"], [0], OptionError),
        (["greedy"], [-1], OptionError),
        (["greedy", "random"], [2, -1], OptionError),
        (["greedy"], [1, 1], OptionError),
        (["greedy"], [float("nan")], OptionError),
        (["greedy"], [float("inf")], OptionError),
    ],
)
def test_what_cannot_be_drawn_is_refused_and_nothing_changes(
    agents: list[str], weights: list[float], error: type[GardieniiError]
) -> None:
    env, other = env_of(3), env_of(3)
    for each in (env, other):
        each.draw_opponents(["greedy", "random"], [1, 1])
    with pytest.raises(error):
        env.draw_opponents(agents, weights)
    assert np.array_equal(env.reset(), other.reset())
    assert run(env, 120) == run(other, 120)


def test_an_agent_that_does_not_fit_is_refused() -> None:
    class Choosy(RandomAgent):
        def check(self, ruleset: Any, num_players: int) -> None:
            raise AgentError("not for me")

    with pytest.raises(AgentError, match="not for me"):
        env_of(2).draw_opponents(["greedy", Choosy()], [1, 1])


def test_all_agents_by_name() -> None:
    env = env_of(2)
    env.draw_opponents([make_agent("planner"), "random"], [1, 1])
    assert [agent.name for agent in env.table.opponents] == ["planner", "random"]
