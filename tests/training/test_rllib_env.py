"""The environment for RLlib: who is asked, who is paid, and that it is the game that it is elsewhere."""

from __future__ import annotations

import pickle
import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from gardienii_env import AgentError, Game, IllegalActionError, OptionError, Ruleset, gardienii_v0

pytest.importorskip("ray.rllib", reason="needs the extra `rllib`")

from ray.rllib.env.multi_agent_episode import MultiAgentEpisode
from ray.rllib.utils.pre_checks.env import check_multiagent_environments

from gardienii_env.envs.rllib import GardieniiMultiAgentEnv

PLAYERS = pytest.mark.parametrize("players", [2, 3, 4])
Step = tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]


def pick(seen: Mapping[str, Any], rng: random.Random) -> int:
    """A random legal action, by the mask."""
    return int(rng.choice(np.flatnonzero(seen["action_mask"])))


def play(env: GardieniiMultiAgentEnv, seed: int | None, draws: int = 0) -> list[Step]:
    """A game at random; what `reset` and every `step` gave."""
    rng = random.Random(draws)
    seen, infos = env.reset(seed=seed)
    steps: list[Step] = [(seen, {}, {}, {}, infos)]
    while not steps[-1][2].get("__all__", False):
        ((agent, given),) = steps[-1][0].items()
        steps.append(env.step({agent: pick(given, rng)}))
    return steps


def flat(steps: list[Step]) -> bytes:
    """All that steps gave, to be compared."""
    return pickle.dumps([[sorted(part.items()) for part in step] for step in steps])


# -- who is asked, who is paid ---------------------------------------------------------------------


@PLAYERS
def test_one_agent_is_asked_at_a_time_and_all_are_paid_at_the_end(players: int) -> None:
    env = GardieniiMultiAgentEnv({"num_players": players, "view": "recall"})
    everybody = {f"player_{seat}" for seat in range(players)}
    assert set(env.possible_agents) == everybody
    paid = dict.fromkeys(everybody, 0)
    for seed in range(5):
        *steps, last = play(env, seed, seed)
        for seen, rewards, ended, truncated, infos in steps:
            assert len(seen) == 1
            assert set(infos) == set(seen)
            assert not any(rewards.values())
            assert not any(ended.values())
            assert not any(truncated.values())
            for agent, given in seen.items():
                assert env.observation_spaces[agent].contains(given)
                assert given["action_mask"].sum() > 1
        seen, rewards, ended, truncated, infos = last
        assert set(seen) == set(rewards) == set(infos) == everybody
        assert ended == dict.fromkeys(everybody | {"__all__"}, True)
        assert truncated == {"__all__": False}
        assert sum(rewards.values()) == pytest.approx(0)
        assert any(rewards.values())
        for agent in everybody:
            assert rewards[agent] == pytest.approx(infos[agent]["payoff"])
            assert seen[agent]["action_mask"].all()
            paid[agent] += 1
    assert set(paid.values()) == {5}


@pytest.mark.parametrize("reward", ["margin", "points"])
def test_other_rewards(reward: str) -> None:
    env = GardieniiMultiAgentEnv({"num_players": 3, "reward": reward})
    *_, last = steps = play(env, 3)
    totals = {agent: sum(step[1].get(agent, 0.0) for step in steps) for agent in env.possible_agents}
    scores = {agent: info["score"] for agent, info in last[4].items()}
    if reward == "points":
        assert totals == pytest.approx(scores)
        assert sum(any(step[1].values()) for step in steps) > 10
    else:
        others = {agent: (sum(scores.values()) - own) / 2 for agent, own in scores.items()}
        assert totals == pytest.approx({agent: (scores[agent] - others[agent]) / 50 for agent in scores})


@PLAYERS
def test_rllib_takes_the_episodes(players: int) -> None:
    """RLlib's own episode gets all rewards to all agents, whoever decides last."""
    env = GardieniiMultiAgentEnv({"num_players": players})
    rng = random.Random(1)
    for seed in range(4):
        episode = MultiAgentEpisode(agent_to_module_mapping_fn=lambda agent, *_: "shared")
        seen, infos = env.reset(seed=seed)
        episode.add_env_reset(observations=seen, infos=infos)
        paid: dict[str, float] = {}
        while not episode.is_done:
            ((agent, given),) = seen.items()
            actions = {agent: pick(given, rng)}
            seen, rewards, ended, truncated, infos = env.step(actions)
            paid = rewards
            episode.add_env_step(
                observations=seen,
                actions=actions,
                rewards=rewards,
                infos=infos,
                terminateds=ended,
                truncateds=truncated,
            )
        assert set(episode.agent_ids) == set(env.possible_agents)
        assert all(episode.agent_episodes[agent].is_terminated for agent in env.possible_agents)
        got = {agent: episode.agent_episodes[agent].get_return() for agent in env.possible_agents}
        assert got == pytest.approx(paid)


# -- the game --------------------------------------------------------------------------------------


def test_one_seed_is_one_game_everywhere() -> None:
    env, aec = GardieniiMultiAgentEnv({"num_players": 3}), gardienii_v0.raw_env(num_players=3)
    for seed in (0, 5):
        rng = random.Random(seed)
        seen, _ = env.reset(seed=seed)
        aec.reset(seed=seed)
        over = False
        while not over:
            agent = aec.agent_selection
            expected, *_ = aec.last()
            assert expected is not None
            assert list(seen) == [agent]
            np.testing.assert_array_equal(seen[agent]["observations"], expected["observation"])
            np.testing.assert_array_equal(seen[agent]["action_mask"], expected["action_mask"])
            action = pick(seen[agent], rng)
            aec.step(action)
            seen, rewards, ended, _, _ = env.step({agent: action})
            over = ended["__all__"]
        assert rewards == pytest.approx(aec.rewards)


def test_the_same_seed_gives_the_same_games() -> None:
    settings = {"num_players": 3, "agents": {"greedy": 0.3, "random": 0.3}}
    one, other = GardieniiMultiAgentEnv(settings), GardieniiMultiAgentEnv(settings)
    games = []
    for env in (one, other):
        random.seed()
        np.random.seed()  # noqa: NPY002  # global state must not matter
        games.append([flat(play(env, 0)), *(flat(play(env, None)) for _ in range(3))])
    assert games[0] == games[1]
    assert len(set(games[0])) == 4
    assert flat(play(one, 1)) != games[0][0]


def test_a_copy_in_mid_game_goes_on_with_it() -> None:
    env = GardieniiMultiAgentEnv({"agents": {"greedy": 0.5}})
    seen, _ = env.reset(seed=1)
    for _ in range(5):
        ((agent, given),) = seen.items()
        seen, *_ = env.step({agent: pick(given, random.Random(0))})
    copy = pickle.loads(pickle.dumps(env))
    for _ in range(10):
        ((agent, given),) = seen.items()
        action = pick(given, random.Random(0))
        step = env.step({agent: action})
        assert flat([copy.step({agent: action})]) == flat([step])
        seen = step[0]


def test_a_game_that_the_turn_limit_stops_is_terminated() -> None:
    ruleset = Ruleset.get("gardienii").replace(turn_limit=4)
    *_, last = play(GardieniiMultiAgentEnv({"ruleset": ruleset}), 1)
    assert last[2]["__all__"]
    assert last[3] == {"__all__": False}
    assert {info["end"] for info in last[4].values()} == {"turn_limit"}


# -- agents at the other seats ---------------------------------------------------------------------


def test_agents_have_seats_as_often_as_they_should() -> None:
    env = GardieniiMultiAgentEnv({"num_players": 4, "agents": {"greedy": 0.25, "random": 0.5}})
    counts = {"greedy": 0, "random": 0, "": 0}
    seats = dict.fromkeys(env.possible_agents, 0)
    for seed in range(400):
        _, infos = env.reset(seed=seed)
        ((agent, info),) = infos.items()
        assert agent in env.agents
        assert set(env.agents) | set(info["agents"]) == set(env.possible_agents)
        assert not set(env.agents) & set(info["agents"])
        for name in env.possible_agents:
            counts[info["agents"].get(name, "")] += 1
        for name in env.agents:
            seats[name] += 1
    others = 3 * 400
    assert counts["greedy"] == pytest.approx(0.25 * others, abs=80)
    assert counts["random"] == pytest.approx(0.5 * others, abs=80)
    assert max(seats.values()) - min(seats.values()) < 100


def test_only_rllibs_agents_are_asked_and_paid() -> None:
    env = GardieniiMultiAgentEnv({"num_players": 3, "agents": {"greedy": 1.0}})
    for seed in range(6):
        *steps, last = play(env, seed)
        (learner,) = env.agents
        assert {agent for step in steps for agent in step[0]} == {learner}
        assert set(last[1]) == set(last[0]) == {learner}


# -- what is refused -------------------------------------------------------------------------------


def test_wrong_settings_are_refused() -> None:
    for config, told in (
        ({"num_player": 3}, "Did you mean 'num_players'"),
        ({"num_players": 5}, "num_players"),
        ({"agents": {"greedy": 1.5}}, "sum to 1"),
        ({"agents": {"greedy": "much"}}, "sum to 1"),
        ({"agents": ["greedy"]}, "no dict"),
    ):
        with pytest.raises(OptionError, match=told):
            GardieniiMultiAgentEnv(config)
    with pytest.raises(AgentError, match="greed"):
        GardieniiMultiAgentEnv({"agents": {"greed": 0.5}})


def test_wrong_actions_are_refused_and_change_nothing() -> None:
    env = GardieniiMultiAgentEnv({"illegal_action": "raise"})
    seen, _ = env.reset(seed=2)
    ((agent, given),) = seen.items()
    other = next(name for name in env.possible_agents if name != agent)
    illegal = int(np.flatnonzero(given["action_mask"] == 0)[0])
    legal = int(np.flatnonzero(given["action_mask"])[0])
    for wrong in ({other: legal}, {}, {agent: legal, other: legal}, {agent: illegal}):
        with pytest.raises(IllegalActionError):
            env.step(wrong)
    assert env._env.game.moves == Game.new(2, seed=2).moves
    env.step({agent: legal})


@PLAYERS
def test_an_illegal_action_ends_the_episode(players: int) -> None:
    env = GardieniiMultiAgentEnv({"num_players": players, "reward": "margin"})
    ((agent, given),) = env.reset(seed=2)[0].items()
    illegal = int(np.flatnonzero(given["action_mask"] == 0)[0])
    seen, rewards, ended, truncated, infos = env.step({agent: illegal})
    assert rewards == {name: -1.0 if name == agent else 0.0 for name in env.possible_agents}
    assert ended == dict.fromkeys([*env.possible_agents, "__all__"], True)
    assert truncated == {"__all__": False}
    assert infos == {name: {"illegal_action": name == agent} for name in env.possible_agents}
    assert all(part["action_mask"].all() for part in seen.values())
    with pytest.raises(IllegalActionError, match="call reset"):
        env.step({agent: int(np.flatnonzero(given["action_mask"])[0])})
    *_, last = play(env, 2)
    assert not any("illegal_action" in info for info in last[4].values())


@PLAYERS
def test_rllibs_own_check(players: int) -> None:
    for agents in ({}, {"greedy": 0.5}):
        check_multiagent_environments(GardieniiMultiAgentEnv({"num_players": players, "agents": agents}))


def test_it_draws_what_the_aec_environment_draws() -> None:
    env = GardieniiMultiAgentEnv({"render_mode": "ansi"})
    aec = gardienii_v0.raw_env(render_mode="ansi")
    env.reset(seed=1)
    aec.reset(seed=1)
    assert env.render_mode == "ansi"
    assert env.render() == aec.render()
