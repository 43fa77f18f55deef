"""The batch for stable-baselines3: the same games as the single-agent environment, and SB3's habits."""

from __future__ import annotations

import importlib
import random
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from driving import COPIES
from rulesets import COMBINATIONS, VARIATIONS
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

from gardienii_env import AgentError, DealError, Game, GardieniiError, OptionError, RulesetError
from gardienii_env.agents import make_agent
from gardienii_env.envs.features import Standardized
from gardienii_env.envs.outcome import REWARDS
from gardienii_env.envs.sb3 import GardieniiVecEnv
from gardienii_env.envs.single import GardieniiSingleEnv
from gardienii_env.errors import MissingExtraError

combinations = pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)
Actions = npt.NDArray[np.int64]


def batch_of(games: int, players: int = 2, ruleset: Any = "gardienii", **options: Any) -> Any:
    """A batch; its type is left open, because SB3's allows observations of kinds that it never gives."""
    return GardieniiVecEnv(
        games, **{"opponents": "random", **options}, num_players=players, ruleset=ruleset
    )


def pick(env: Any, rng: random.Random) -> Actions:
    """A random legal action in each game."""
    masks = env.env_method("action_masks")
    return np.array([rng.choice(np.flatnonzero(mask).tolist()) for mask in masks])


def ends(env: Any, steps: int) -> list[dict[str, Any]]:
    """The infos of the games that end while some steps are played at random."""
    rng, infos = random.Random(1), []
    for _ in range(steps):
        _, _, dones, told = env.step(pick(env, rng))
        infos += [info for done, info in zip(dones, told, strict=True) if done]
    return infos


def course(env: Any, steps: int = 120) -> list[bytes]:
    """What some steps at random give, in a form to compare; times left out."""
    rng, given = random.Random(1), []
    for _ in range(steps):
        observations, rewards, dones, infos = env.step(pick(env, rng))
        given += [observations.tobytes(), rewards.tobytes(), dones.tobytes()]
        given += [repr(info.get("payoff")).encode() for info in infos]
    return given


# -- the same games as the single-agent environment ------------------------------------------------


@pytest.mark.parametrize("reward", REWARDS)
@combinations
def test_game_i_is_the_single_environment_with_seed_plus_i(
    ruleset: str, players: int, reward: Any
) -> None:
    games, rng = 4, random.Random(5)
    options: dict[str, Any] = {"opponents": "random", "view": "recall", "reward": reward}
    batch = batch_of(games, players, ruleset, seed=7, **options)
    singles = [GardieniiSingleEnv(num_players=players, ruleset=ruleset, **options) for _ in range(games)]
    starts = [env.reset(seed=7 + i) for i, env in enumerate(singles)]
    assert np.array_equal(batch.reset(), [observation for observation, _ in starts])
    assert batch.reset_infos == [{"seat": info["seat"]} for _, info in starts]
    lengths, returns, episodes = np.zeros(games, int), np.zeros(games), 0
    for _ in range(450):
        assert np.array_equal(get_action_masks(batch), [env.action_masks() for env in singles])
        actions = pick(batch, rng)
        observations, rewards, dones, infos = batch.step(actions)
        assert (observations.dtype, rewards.dtype, dones.dtype) == (np.float32, np.float32, np.bool_)
        for i, env in enumerate(singles):
            observation, paid, terminated, truncated, info = env.step(actions[i])
            lengths[i] += 1
            returns[i] += paid
            assert rewards[i] == np.float32(paid)
            assert dones[i] == (terminated or truncated)
            if dones[i]:
                assert np.array_equal(infos[i].pop("terminal_observation"), observation)
                assert infos[i].pop("TimeLimit.truncated") is truncated
                assert infos[i].pop("episode").items() >= {"r": returns[i], "l": lengths[i]}.items()
                del info["action_mask"]
                observation, start = env.reset()
                assert batch.reset_infos[i] == {"seat": start["seat"]}
                lengths[i] = returns[i] = 0
                episodes += 1
            else:
                del info["action_mask"], info["seat"]
            assert infos[i] == info
            assert np.array_equal(observations[i], observation)
    assert episodes >= games


def test_the_course_of_a_game_does_not_depend_on_the_others() -> None:
    many, one = batch_of(5, 3, seed=2), batch_of(1, 3, seed=6)
    assert np.array_equal(many.reset()[4:], one.reset())
    rng = random.Random(1)
    for _ in range(150):
        actions = pick(many, rng)
        observations, rewards, dones, _ = many.step(actions)
        own = one.step(actions[4:])
        assert np.array_equal(observations[4:], own[0])
        assert (rewards[4], dones[4]) == (own[1], own[2])


# -- rewards and ends ------------------------------------------------------------------------------


@pytest.mark.parametrize("seat", [0, 1])
def test_the_losers_minus_one_is_delivered(seat: int) -> None:
    """Whoever makes the last move of the game, the learner is paid for how it ended."""
    env, rng = batch_of(16, seat=seat, seed=1), random.Random(1)
    env.reset()
    paid: Counter[float] = Counter()
    for _ in range(300):
        _, rewards, dones, infos = env.step(pick(env, rng))
        assert not rewards[~dones].any()
        for i in np.flatnonzero(dones):
            assert rewards[i] == infos[i]["payoff"] == (1 if infos[i]["winner"] else -1)
            paid[float(rewards[i])] += 1
    assert sum(paid.values()) > 40
    assert min(paid[1.0], paid[-1.0]) > sum(paid.values()) / 4


def test_truncated_by_the_turn_limit_only() -> None:
    limited = batch_of(4, ruleset=VARIATIONS["five turns"], seed=1)
    limited.reset()
    told = ends(limited, 40)
    assert told
    assert all(info["TimeLimit.truncated"] and info["end"] == "turn_limit" for info in told)
    whole = batch_of(4, seed=1)
    whole.reset()
    told = ends(whole, 100)
    assert told
    assert not any(info["TimeLimit.truncated"] or info["end"] == "turn_limit" for info in told)


def test_an_illegal_action_ends_its_game_only() -> None:
    env, other = batch_of(3, seed=1), batch_of(3, seed=1)
    assert np.array_equal(env.reset(), other.reset())
    rng = random.Random(1)
    for wrong in (-1, 73, int(np.flatnonzero(~get_action_masks(env)[1])[0])):
        actions = pick(env, rng)
        before = env.table.observations[1].copy()
        observations, rewards, dones, infos = env.step(np.where([0, 1, 0], wrong, actions))
        expected = other.step(actions)
        assert observations[[0, 2]].tobytes() == expected[0][[0, 2]].tobytes()
        assert (rewards.tolist(), dones.tolist()) == ([0, -1, 0], [False, True, False])
        assert infos[0] == infos[2] == {}
        assert np.array_equal(infos[1].pop("terminal_observation"), before)
        episode = infos[1].pop("episode")
        assert (episode["r"], episode["l"]) == (-1, 1)
        assert infos[1].pop("TimeLimit.truncated") is False
        assert infos[1].pop("seat") in (0, 1)
        assert infos[1] == {"illegal_action": True}


# -- seeds, options, opponents ---------------------------------------------------------------------


def test_reset_goes_on_in_the_sequence_and_seed_begins_it_anew() -> None:
    env = batch_of(3, seed=4)
    first = env.reset()
    second = env.reset()
    assert not np.array_equal(first, second)
    assert env.seed(4) == [4, 5, 6]
    assert np.array_equal(env.reset(), first)
    played = course(env)
    assert env.seed(4) == [4, 5, 6]
    env.reset()
    assert course(env) == played
    env.seed(4)
    env.reset()
    assert np.array_equal(env.reset(), second)


def test_a_reset_in_the_middle_forgets_what_was_earned() -> None:
    env, other = batch_of(2, reward="points", seed=4), batch_of(2, reward="points", seed=4)
    env.reset()
    ends(env, 50)
    env.seed(4)
    env.reset()
    other.reset()
    told, expected = ends(env, 150), ends(other, 150)
    assert told
    for info, same in zip(told, expected, strict=True):
        assert info["episode"]["r"] == same["episode"]["r"] == info["score"]
        assert info["episode"]["l"] == same["episode"]["l"]


def test_global_random_numbers_are_left_alone() -> None:
    before = random.getstate(), repr(np.random.get_state())  # noqa: NPY002
    for seed in (None, 1):
        env = batch_of(2, seed=seed)
        env.reset()
        course(env)
    assert (random.getstate(), repr(np.random.get_state())) == before  # noqa: NPY002


def test_without_a_seed_chance_is_the_operating_systems() -> None:
    assert batch_of(1).reset().tobytes() != batch_of(1).reset().tobytes()


def test_given_deals() -> None:
    deals = [Game.new(2, seed=seed).deal() for seed in (8, 9)]
    env, without = batch_of(2, seat=0, seed=1), batch_of(2, seat=0, seed=1)
    env.set_options([{"deal": deal, "other": 1} for deal in deals])
    observations = env.reset()
    for observation, deal in zip(observations, deals, strict=True):
        assert np.array_equal(observation, Game.from_deal(deal).observe(0))
    assert np.array_equal(env.reset(), without.reset())
    env.set_options({"deal": deals[0]})
    assert np.array_equal(env.reset(), [observations[0]] * 2)


def test_an_impossible_deal_is_refused() -> None:
    env = batch_of(2)
    env.set_options({"deal": {}})
    with pytest.raises(DealError):
        env.reset()
    env.set_options()
    env.reset()


def test_others_may_play_from_now_on() -> None:
    env, other = batch_of(2, 3, seed=1), batch_of(2, 3, opponents="greedy", seed=1)
    env.set_opponents("greedy")
    assert np.array_equal(env.reset(), other.reset())
    assert course(env, 40) == course(other, 40)
    env.set_opponents("random")
    assert course(env, 40) != course(other, 40)
    with pytest.raises(AgentError, match=r"opponents: .* names 3 agents for 2 opponents"):
        env.set_opponents("random,random,random")
    with pytest.raises(AgentError, match="gredy"):
        env.set_opponents("gredy")


@pytest.mark.parametrize(
    ("option", "value", "error"),
    [
        ("num_envs", 0, OptionError),
        ("num_envs", 2.0, OptionError),
        ("num_envs", True, OptionError),
        ("num_players", 5, OptionError),
        ("ruleset", "chess", RulesetError),
        ("view", "all", OptionError),
        ("reward", "win", OptionError),
        ("seat", 2, OptionError),
        ("seed", -1, OptionError),
        ("seed", "1", OptionError),
        ("opponents", "gredy", AgentError),
    ],
)
def test_a_wrong_option_is_named(option: str, value: Any, error: type[GardieniiError]) -> None:
    options: dict[str, Any] = {"num_envs": 1, option: value}
    with pytest.raises(error) as caught:
        GardieniiVecEnv(**options)
    assert repr(value) in str(caught.value)
    assert ("agent" if option == "opponents" else option) in str(caught.value).lower()


# -- what SB3 asks ---------------------------------------------------------------------------------


def test_masks_as_sb3_contrib_asks_for_them() -> None:
    env = batch_of(3, seed=1)
    env.reset()
    assert is_masking_supported(env)
    masks = get_action_masks(env)
    assert masks.shape == (3, 73)
    assert masks.dtype == np.bool_
    assert np.array_equal(masks, env.action_masks())
    assert np.array_equal(env.env_method("action_masks", indices=[2, 0]), masks[[2, 0]])
    assert np.array_equal(env.env_method("action_masks", indices=1), masks[[1]])
    masks[:] = False
    assert env.action_masks().any()


def test_what_is_given_is_the_callers_own() -> None:
    env, other = batch_of(2, seed=1), batch_of(2, seed=1)
    start = env.reset()
    start[:] = 7
    other.reset()
    assert course(env, 3) == course(other, 3)
    kept = env.step(pick(env, random.Random(1)))[0]
    before = kept.copy()
    env.step(pick(env, random.Random(1)))
    assert np.array_equal(kept, before)


def test_attributes_and_methods_of_the_games() -> None:
    env = batch_of(2)
    assert env.has_attr("action_masks")
    assert not env.has_attr("no_such_thing")
    assert env.get_attr("num_envs") == [2, 2]
    assert env.get_attr("render_mode", indices=1) == [None]
    assert env.env_is_wrapped(Monitor) == [True, True]
    assert env.env_is_wrapped(VecMonitor) == [False, False]
    with pytest.raises(AttributeError, match=r"jump.*action_masks"):
        env.env_method("jump")
    with pytest.raises(AttributeError):
        env.get_attr("no_such_thing")
    with pytest.raises(OptionError, match="colour"):
        env.set_attr("colour", "red")
    env.close()


@pytest.mark.parametrize("copied", COPIES)
def test_a_copy_goes_on_and_begins_anew(copied: Callable[[Any], Any]) -> None:
    env = batch_of(4, opponents="greedy", seed=1)
    begun = copied(env)
    env.reset()
    course(env, 30)
    twin = copied(env)
    assert course(twin) == course(env)
    for other in (begun, twin):
        env.seed(5)
        other.seed(5)
        assert other.reset().tobytes() == env.reset().tobytes()
        assert course(other) == course(env)


def test_under_vec_monitor() -> None:
    with pytest.warns(UserWarning, match="already wrapped"):
        env = VecMonitor(batch_of(3, reward="margin", seed=1))
    plain = batch_of(3, reward="margin", seed=1)
    env.reset()
    plain.reset()
    for info, own in zip(ends(env, 120), ends(plain, 120), strict=True):
        assert info["episode"]["r"] == pytest.approx(own["episode"]["r"])
        assert info["episode"]["l"] == own["episode"]["l"]


def test_under_vec_normalize() -> None:
    env: Any = VecNormalize(batch_of(3, seed=1), gamma=1.0)
    plain = batch_of(3, seed=1)
    env.reset()
    plain.reset()
    rng = random.Random(1)
    for _ in range(100):
        actions = pick(env, rng)
        _, _, dones, _ = env.step(actions)
        observations, rewards, expected, _ = plain.step(actions)
        assert np.array_equal(env.get_original_obs(), observations)
        assert np.array_equal(env.get_original_reward(), rewards)
        assert np.array_equal(dones, expected)


@pytest.mark.parametrize(("ruleset", "players"), [("gardienii", 2), ("dragonkeepers", 3)])
def test_maskable_ppo_learns_predicts_and_is_evaluated(ruleset: str, players: int) -> None:
    torch.set_num_threads(1)
    env = batch_of(4, players, ruleset, reward="margin", seed=1)
    policy = {"net_arch": [8]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MaskablePPO(
            "MlpPolicy", env, n_steps=192, batch_size=192, policy_kwargs=policy, seed=1, device="cpu"
        )
        before = [parameter.clone() for parameter in model.policy.parameters()]
        model.learn(4 * 192)
        assert any(
            (old != new).any() for old, new in zip(before, model.policy.parameters(), strict=True)
        )
        assert model.num_timesteps == 4 * 192
        assert len(model.ep_info_buffer or ()) > 2
        observations = env.reset()
        masks = get_action_masks(env)
        actions, _ = model.predict(observations, action_masks=masks)
        assert masks[np.arange(4), actions].all()
        result: Any = evaluate_policy(model, env, n_eval_episodes=6, return_episode_rewards=True)
    returns, lengths = result
    assert len(returns) == len(lengths) == 6
    assert all(length > 10 for length in lengths)


def test_without_sb3_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "gardienii_env.envs.sb3")
    monkeypatch.setitem(sys.modules, "stable_baselines3.common.vec_env", None)
    with pytest.raises(MissingExtraError, match=r"gardienii-env\[sb3\]"):
        importlib.import_module("gardienii_env.envs.sb3")


# -- standardized observations -----------------------------------------------------------------------


def test_observations_are_brought_to_one_size() -> None:
    env = batch_of(64, 2, seed=1)
    rng, seen = random.Random(0), [env.reset()]
    for _ in range(60):
        seen.append(env.step(pick(env, rng))[0])
    observations = np.concatenate(seen)
    extractor = Standardized(env.observation_space)
    before = torch.from_numpy(observations)
    assert torch.equal(extractor(before), before)
    extractor.fit(observations)
    after = extractor(before).numpy()
    assert np.abs(after.mean(axis=0)).max() < 1e-2
    often = observations.std(axis=0) > 0.1
    assert often.sum() > 20
    assert after[:, often].std(axis=0) == pytest.approx(np.ones(often.sum()), abs=1e-3)
    assert np.abs(after).max() <= 10.001
    never = observations.std(axis=0) == 0
    assert never.any()
    assert np.abs(after[:, never]).max() < 1e-3


def test_a_model_keeps_how_it_standardizes(tmp_path: Path) -> None:
    env = batch_of(8, 2, seed=1)
    options: Any = {"features_extractor_class": Standardized, "net_arch": [8]}
    model = MaskablePPO("MlpPolicy", env, n_steps=8, batch_size=64, policy_kwargs=options, seed=1)
    extractor: Any = model.policy.features_extractor
    extractor.fit(env.reset() + np.random.default_rng(0).random((8, 1), np.float32))
    model.learn(64)
    model.save(tmp_path / "model.zip")
    loaded: Any = MaskablePPO.load(tmp_path / "model.zip").policy.features_extractor
    assert torch.equal(loaded.mean, extractor.mean)
    assert torch.equal(loaded.scale, extractor.scale)
    assert make_agent(f"sb3:{tmp_path / 'model.zip'}", trust=True).choose(Game.new(2, seed=1))
