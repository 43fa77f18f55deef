"""The PettingZoo environment: PettingZoo's own tests, and what they do not look at.

PettingZoo's `max_cycles_test` does not apply: it asks for a parallel environment and an argument
`max_cycles`. What it is about, the truncation, is tested on a ruleset with a short turn limit.

Tests that ask for `make_any` run against one game of a `GardieniiBatch` too: see `driving`.
"""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from driving import BatchAsAEC
from pettingzoo import AECEnv
from pettingzoo.test.api_test import api_test
from pettingzoo.test.render_test import render_test
from pettingzoo.test.seed_test import seed_test
from positions import position
from rulesets import COMBINATIONS, VARIATIONS, same_for_all

from gardienii_env import (
    DealError,
    Game,
    IllegalActionError,
    OptionError,
    Ruleset,
    RulesetError,
    gardienii_v0,
)
from gardienii_env.envs.aec import GardieniiEnv, Observation
from gardienii_env.observation import VIEWS, layout
from gardienii_env.render.text import board

Env = AECEnv[str, Observation, int | None]
Seen = tuple[Any, ...]

MAKERS = (gardienii_v0.env, gardienii_v0.raw_env)
combinations = pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)
makers = pytest.mark.parametrize("make", MAKERS, ids=["env", "raw_env"])

BATCHES = [
    pytest.param(partial(BatchAsAEC, autoreset=autoreset), id=f"batch-{name}")
    for autoreset, name in ((False, "rests"), (True, "autoreset"))
]
any_raw = pytest.mark.parametrize("make_any", [pytest.param(GardieniiEnv, id="raw_env"), *BATCHES])
"""The environment itself, and one game of a batch."""


def pick(observation: Observation, rng: random.Random) -> int:
    """A random legal action, by the mask."""
    return int(rng.choice(np.flatnonzero(observation["action_mask"])))


def play(env: Env, rng: random.Random, steps: int = 2**63) -> list[Seen]:
    """Play on at random, dead steps too; what `last()` gave to whom, in a form to compare."""
    seen: list[Seen] = []
    for agent in env.agent_iter(steps):
        observation, *rest = env.last()
        assert observation is not None
        seen.append((agent, *frozen(observation), *rest))
        _, terminated, truncated, _ = rest
        env.step(None if terminated or truncated else pick(observation, rng))
    return seen


def play_on(env: Env, rng: random.Random, decisions: int = 2**63) -> None:
    """Play on at random for some decisions, at most up to the one in which the game ends."""
    while decisions > 0 and not game_of(env).is_over:
        observation = env.observe(env.agent_selection)
        assert observation is not None
        env.step(pick(observation, rng))
        decisions -= 1


def game_of(env: Env) -> Game:
    game = env.unwrapped.game  # type: ignore[attr-defined]
    assert isinstance(game, Game)
    return game


def frozen(observation: Observation) -> tuple[bytes, bytes]:
    return observation["observation"].tobytes(), observation["action_mask"].tobytes()


def snapshot(env: GardieniiEnv) -> tuple[Any, ...]:
    """Everything that a step may change."""
    game = env.game
    arrays = (game.batch.states.tobytes(), game.batch.masks.tobytes())
    dicts = (env.rewards, env._cumulative_rewards, env.terminations, env.truncations, env.infos)
    return *arrays, game.moves[:], env.agent_selection, env.agents[:], copy.deepcopy(dicts)


def reset_any(
    make: Callable[..., Any], players: int, ruleset: Any = "gardienii", seed: int = 3, **options: Any
) -> Any:
    env = make(players, ruleset, **options)
    env.reset(seed=seed)
    return env


def reset_env(players: int, ruleset: Any = "gardienii", seed: int = 3, **options: Any) -> GardieniiEnv:
    env: GardieniiEnv = reset_any(GardieniiEnv, players, ruleset, seed, **options)
    return env


def exactly(env: Any, rewards: list[float]) -> Any:
    """Rewards as the environment gives them: those of a batch are float32."""
    if isinstance(env, BatchAsAEC):
        return np.array(rewards, np.float32).tolist()
    return rewards


# -- PettingZoo's own tests ------------------------------------------------------------------------


@pytest.mark.parametrize("make", [*MAKERS, *BATCHES])
@combinations
@pytest.mark.filterwarnings("ignore::UserWarning")  # it warns of every Dict observation
def test_pettingzoo_api_test(make: Callable[..., Env], ruleset: str, players: int) -> None:
    api_test(make(players, ruleset))  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("make", [*MAKERS, *BATCHES])
@combinations
def test_pettingzoo_seed_test(make: Callable[..., Env], ruleset: str, players: int) -> None:
    seed_test(lambda: make(players, ruleset))  # type: ignore[no-untyped-call]


def test_pettingzoo_render_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setitem(gardienii_v0.raw_env.metadata, "render_fps", 1000)
    make: Any = gardienii_v0.env
    render_test(make, custom_tests={"ansi": lambda text: text.startswith("Turn ")})


# -- the game, step by step ------------------------------------------------------------------------


@any_raw
@pytest.mark.parametrize("view", VIEWS)
@combinations
def test_every_step_shows_the_game(
    make_any: Callable[..., Any], ruleset: str, players: int, view: Any
) -> None:
    """Agents, observations and masks of all seats are those of a `Game` that is played along."""
    rng = random.Random(players)
    env = reset_any(make_any, players, ruleset, seed=8, view=view)
    game = Game.new(players, ruleset, seed=8)
    space = env.observation_space("player_0")
    while not game.is_over:
        assert env.agent_selection == f"player_{game.player}"
        assert env.agents == env.possible_agents == [f"player_{seat}" for seat in range(players)]
        for seat, agent in enumerate(env.agents):
            seen = env.observe(agent)
            mask = game.legal_mask() if seat == game.player else np.zeros(73)
            assert np.array_equal(seen["observation"], game.observe(seat, view))
            assert np.array_equal(seen["action_mask"], mask)
            assert space.contains(seen)
        assert not any({**env.terminations, **env.truncations}.values())
        action = pick(env.observe(env.agent_selection), rng)
        env.step(action)
        game.apply(action)
    for seat, agent in enumerate(env.agents):
        seen = env.observe(agent)
        assert np.array_equal(seen["observation"], game.observe(seat, view))
        assert not seen["action_mask"].any()
        assert space.contains(seen)
    assert env.game.state.tobytes() == game.state.tobytes()
    if make_any is GardieniiEnv:
        assert env.game.to_record() == game.to_record()


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_spaces(players: int, view: Any) -> None:
    env = reset_env(players, view=view)
    for agent in env.possible_agents:
        parts = env.observation_space(agent)
        assert parts["observation"].shape == (layout(players, view).size,)  # type: ignore[index]
        assert parts["action_mask"].shape == (73,)  # type: ignore[index]
        assert env.action_space(agent).n == 73  # type: ignore[attr-defined]
        assert env.observation_space(agent) is parts
        seen = env.observe(agent)
        assert seen["observation"].dtype == np.float32
        assert seen["action_mask"].dtype == np.int8


def test_observations_are_the_callers_own() -> None:
    env = reset_env(2)
    first, kept = env.observe("player_0"), frozen(env.observe("player_0"))
    env.observe("player_0")["observation"][:] = 7
    env.observe("player_0")["action_mask"][:] = 7
    env.step(0)
    assert frozen(first) == kept
    assert frozen(reset_env(2).observe("player_0")) == kept


def test_without_observing_last_gives_none() -> None:
    assert reset_env(2).last(observe=False) == (None, 0.0, False, False, {})


# -- seeds and sequences of games ------------------------------------------------------------------


@pytest.mark.parametrize("make", [*MAKERS, *BATCHES])
@combinations
def test_one_seed_gives_one_sequence_of_games(
    make: Callable[..., Env], ruleset: str, players: int
) -> None:
    def three_games(disturb: int) -> list[list[Seen]]:
        env, rng = make(players, ruleset), random.Random(1)
        games = []
        for seed in (0, None, None):
            env.reset(seed=seed)
            random.seed(disturb)
            np.random.seed(disturb)  # noqa: NPY002  # it must not matter
            games.append(play(env, rng))
        return games

    first, second, third = three_games(1)
    assert three_games(2) == [first, second, third]
    assert len({repr(first), repr(second), repr(third)}) == 3


@pytest.mark.parametrize("seed", [0, 17, 2**70])
def test_a_seed_deals_what_game_new_deals(seed: int) -> None:
    env = reset_env(3, seed=seed)
    assert env.game.deal() == Game.new(3, seed=seed).deal()
    assert env.game.seed == seed


@pytest.mark.parametrize("make", [*MAKERS, *BATCHES])
def test_reset_in_the_middle_begins_anew(make: Callable[..., Env]) -> None:
    env = make(3, reward="points")
    env.reset(seed=5)
    fresh = play(env, random.Random(2))
    for steps in (1, 40, 150):
        env.reset(seed=6)
        play(env, random.Random(steps), steps)
        env.reset(seed=5)
        env.reset(seed=5)
        assert play(env, random.Random(2)) == fresh


def test_without_a_seed_chance_is_the_operating_systems() -> None:
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002  # it must not matter
    deals = []
    for _ in range(2):
        env = GardieniiEnv()
        env.reset()
        deals.append(env.game.deal())
        assert env.game.seed is None
    assert deals[0] != deals[1]


@pytest.mark.parametrize("seed", [-1, 1.5, "1", True])
def test_a_wrong_seed_is_refused(seed: Any) -> None:
    env = reset_env(2)
    before = snapshot(env)
    with pytest.raises(OptionError, match=f"seed: {seed!r}"):
        env.reset(seed=seed)
    assert snapshot(env) == before


@combinations
def test_a_given_deal(ruleset: str, players: int) -> None:
    game = Game.new(players, ruleset, seed=9)
    env = GardieniiEnv(players, ruleset)
    with pytest.warns(UserWarning, match="reset: the option 'other' is not known; expected one"):
        env.reset(options={"deal": game.deal(), "other": 1})
    assert env.game.deal() == game.deal()
    assert play(env, random.Random(4)) == play(reset_env(players, ruleset, seed=9), random.Random(4))


def test_a_given_deal_leaves_the_sequence_of_games() -> None:
    env, other = reset_env(2, seed=1), reset_env(2, seed=1)
    env.reset(options={"deal": Game.new(2, seed=9).deal()})
    env.reset()
    with pytest.warns(UserWarning, match="'nothing' is not known"):
        other.reset(options={"nothing": None})
    assert env.game.deal() == other.game.deal()


def test_an_impossible_deal_changes_nothing() -> None:
    env = reset_env(2)
    play(env, random.Random(1), 30)
    before = snapshot(env)
    deal = Game.new(2, seed=9).deal()
    with pytest.raises(DealError, match="left"):
        env.reset(seed=4, options={"deal": {**deal, "left": deal["left"][1:]}})
    assert snapshot(env) == before
    env.reset()
    other = reset_env(2)
    other.reset()
    assert env.game.deal() == other.game.deal()


# -- rewards ---------------------------------------------------------------------------------------


def rewards_at_the_end(env: Env, rng: random.Random) -> dict[str, float]:
    """Play a game and return what `last()` gives each agent, which must be 0 before the end."""
    play_on(env, rng)
    rewards = {}
    for agent in env.agent_iter():
        _, reward, terminated, truncated, _ = env.last()
        assert terminated != truncated
        assert agent not in rewards
        rewards[agent] = reward
        env.step(None)
    return rewards


@any_raw
@combinations
def test_reward_payoff(make_any: Callable[..., Any], ruleset: str, players: int) -> None:
    for seed in range(4):
        env = reset_any(make_any, players, ruleset, seed)
        totals = dict.fromkeys(env.possible_agents, 0.0)
        for agent, _, _, reward, terminated, *_ in play(env, random.Random(seed)):
            totals[agent] += reward
            assert terminated or reward == 0
            assert type(reward) is float
        payoffs = dict(zip(env.possible_agents, exactly(env, env.game.payoffs()), strict=True))
        assert sum(env.game.payoffs()) == pytest.approx(0)
        assert totals == payoffs
        assert any(totals.values())


@any_raw
@combinations
def test_reward_margin(make_any: Callable[..., Any], ruleset: str, players: int) -> None:
    env = reset_any(make_any, players, ruleset, reward="margin")
    rewards = rewards_at_the_end(env, random.Random(1))
    scores = env.game.scores()
    for seat, reward in enumerate(rewards.values()):
        others = [score for other, score in enumerate(scores) if other != seat]
        assert reward == pytest.approx((scores[seat] - np.mean(others)) / 50)
        assert type(reward) is float


def steps_with_points(env: Any, rng: random.Random) -> Iterator[tuple[str, dict[str, float]]]:
    """Play a game; for each step who made it and the rewards, which are checked against the scores."""
    while not env.game.is_over:
        before, agent = env.game.scores(), env.agent_selection
        env.step(pick(env.observe(agent), rng))
        changes = np.subtract(env.game.scores(), before)
        assert list(env.rewards.values()) == changes.tolist()
        assert all(type(reward) is float for reward in env.rewards.values())
        yield agent, env.rewards


@any_raw
@combinations
def test_reward_points(make_any: Callable[..., Any], ruleset: str, players: int) -> None:
    """`last()` pays what came in since the agent's own last step, and pays it once."""
    env = reset_any(make_any, players, ruleset, reward="points")
    due = dict.fromkeys(env.possible_agents, 0.0)
    paid = dict.fromkeys(env.possible_agents, 0.0)
    for mover, rewards in steps_with_points(env, random.Random(2)):
        due[mover] = 0
        for agent, reward in rewards.items():
            due[agent] += reward
        agent = env.agent_selection
        assert env.last(observe=False)[1] == due[agent]
        if not env.game.is_over:
            paid[agent] += due[agent]
    for agent in env.agent_iter():
        paid[agent] += env.last(observe=False)[1]
        env.step(None)
    assert [paid[agent] for agent in env.possible_agents] == env.game.scores()


def test_reward_of_an_agent_that_decides_again() -> None:
    """Paying two crystals, one point each, for two cards: each step costs one, and only one."""
    env = reset_env(2, reward="points")
    env.game = position(step="take", supply="W1 R1 Wr Wb", taken=3, crystals=[3])
    env._paid = env.game.scores()
    assert env.game.scores() == [3, 0]
    for _ in range(2):
        env.step(0)
        assert env.agent_selection == "player_0"
        assert env.rewards == {"player_0": -1, "player_1": 0}
        assert env.last()[1] == -1
    env.step(4)
    assert env.agent_selection == "player_0"  # to modify
    assert env.last()[1] == 0


# -- the end ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [*MAKERS, *BATCHES])
@pytest.mark.parametrize(
    ("name", "end"),
    [("five turns", "turn_limit"), ("first amulet", "amulets"), ("nothing but the supply", "supply")],
)
def test_all_agents_end_in_one_step(make: Callable[..., Env], name: str, end: str) -> None:
    for players in (2, 3, 4):
        env = make(players, VARIATIONS[name])
        env.reset(seed=1)
        play_on(env, random.Random(1))
        game = game_of(env)
        assert game.end == end
        agents = [f"player_{seat}" for seat in range(players)]
        assert env.agents == agents
        assert env.agent_selection == "player_0"
        assert env.truncations == dict.fromkeys(agents, end == "turn_limit")
        assert env.terminations == dict.fromkeys(agents, end != "turn_limit")
        assert list(env.rewards.values()) == exactly(env, game.payoffs())
        for _ in range(players):
            env.step(None)
            agents.pop(0)
            for each in (env.rewards, env.terminations, env.truncations, env.infos):
                assert list(each) == env.agents == agents


def test_a_dead_agent_takes_no_action() -> None:
    env = reset_env(2, VARIATIONS["first amulet"])
    play_on(env, random.Random(1))
    with pytest.raises(ValueError, match="None"):
        env.step(4)


@combinations
def test_infos_tell_the_outcome_at_the_end_only(ruleset: str, players: int) -> None:
    env = reset_env(players, ruleset)
    infos = [info for *_, terminated, _, info in play(env, random.Random(3)) if not terminated]
    assert infos
    assert not any(infos)
    env.reset()
    play_on(env, random.Random(4))
    final = env.game.to_record()["final"]
    assert env.infos == {
        agent: {
            "points": final["points"][seat],
            "score": final["scores"][seat],
            "payoff": final["payoffs"][seat],
            "winner": seat in final["winners"],
            "end": final["end"],
            "turns": final["turns"],
        }
        for seat, agent in enumerate(env.agents)
    }


# -- what a seat cannot know -----------------------------------------------------------------------


@pytest.mark.parametrize("view", VIEWS)
@combinations
def test_what_is_hidden_changes_nothing_that_an_agent_gets(
    ruleset: str, players: int, view: Any
) -> None:
    rng = random.Random(6)
    env = reset_env(players, ruleset, view=view, render_mode="ansi")
    others_see_a_difference = 0
    while not env.game.is_over:
        for seat, agent in enumerate(env.agents):
            twin = copy.deepcopy(env)
            twin.game = env.game.resample(seat, seed=rng.randrange(10**6))
            if twin.game.batch.states.tobytes() == env.game.batch.states.tobytes():
                continue
            assert frozen(twin.observe(agent)) == frozen(env.observe(agent))
            assert twin.infos[agent] == env.infos[agent]
            if agent == env.agent_selection:
                assert repr(twin.last()) == repr(env.last())
                assert twin.render() == env.render()
            others_see_a_difference += any(
                frozen(twin.observe(other)) != frozen(env.observe(other)) for other in env.agents
            )
        play_on(env, rng, 11)
    assert others_see_a_difference > 0


# -- copies ----------------------------------------------------------------------------------------


def pickled(env: Env) -> Env:
    restored: Env = pickle.loads(pickle.dumps(env))
    return restored


@pytest.mark.parametrize("reward", ["payoff", "points"])
@pytest.mark.parametrize("copied", [copy.deepcopy, pickled])
@pytest.mark.parametrize("make", [*MAKERS, *BATCHES])
def test_a_copy_goes_on_with_the_game(
    make: Callable[..., Env], copied: Callable[[Env], Env], reward: Any
) -> None:
    for players, ruleset in ((2, "gardienii"), (4, "dragonkeepers")):
        for steps in (0, 1, 60, 400):
            env = make(players, ruleset, reward=reward)
            env.reset(seed=2)
            play(env, random.Random(1), steps)
            twin = copied(env)
            seen = play(twin, random.Random(9))
            assert play(env, random.Random(9)) == seen
            env.reset()
            twin.reset()
            assert play(env, random.Random(9)) == play(twin, random.Random(9))


def test_a_copy_before_the_first_reset() -> None:
    env = gardienii_v0.env()
    twin = pickled(env)
    env.reset(seed=1)
    twin.reset(seed=1)
    assert play(env, random.Random(1)) == play(twin, random.Random(1))


def test_a_finished_game_stays_with_who_holds_it() -> None:
    env = reset_env(2)
    play_on(env, random.Random(1))
    game = env.game
    record = game.to_record()
    env.reset()
    env.step(0)
    assert game.to_record() == record
    assert Game.from_record(record).scores() == game.scores()


# -- illegal actions -------------------------------------------------------------------------------


@combinations
def test_raw_env_refuses_illegal_actions_and_changes_nothing(ruleset: str, players: int) -> None:
    rng = random.Random(7)
    env = reset_env(players, ruleset, reward="points")
    wrong: list[Any] = [-1, 73, 10**30, None, True, 2.5, np.float32(4), np.array([4]), "no such action"]
    while not env.game.is_over:
        mask = env.observe(env.agent_selection)["action_mask"]
        before = snapshot(env)
        for action in [*np.flatnonzero(mask == 0), *wrong]:
            with pytest.raises(IllegalActionError):
                env.step(action)
        assert snapshot(env) == before
        play_on(env, rng, 9)


@pytest.mark.parametrize("kind", [int, np.int8, np.int32, np.int64, np.uint8])
def test_actions_of_any_whole_number_type(kind: Callable[[int], Any]) -> None:
    for make in MAKERS:
        env = make()
        env.reset(seed=1)
        env.step(kind(1))
        assert game_of(env).moves == [(0, 1)]


@pytest.mark.parametrize("steps", [0, 1, 60])
@pytest.mark.parametrize("finish", [True, False])
@combinations
def test_env_ends_the_game_on_an_illegal_action(
    ruleset: str, players: int, finish: bool, steps: int
) -> None:
    env = gardienii_v0.env(players, ruleset)
    env.reset(seed=4)
    whole = play(env, random.Random(5))
    last = env.agent_selection

    env.reset(seed=4)
    play(env, random.Random(1), steps)
    culprit = env.agent_selection
    observation = env.observe(culprit)
    assert observation is not None
    env.step(int(np.flatnonzero(observation["action_mask"] == 0)[0]))
    assert all(env.terminations.values())
    rewards = {}
    if finish:
        for agent in env.agent_iter():
            rewards[agent] = env.last()[1]
            env.step(None)
        assert rewards == {agent: -float(agent == culprit) for agent in env.possible_agents}
        assert env.agents == []

    env.reset(seed=4)
    assert play(env, random.Random(5)) == whole
    assert env.agent_selection == last


def test_env_asserts_what_pettingzoo_asserts() -> None:
    env = gardienii_v0.env()
    with pytest.raises(AssertionError, match="reset"):
        env.step(0)
    with pytest.raises(AttributeError, match="reset"):
        _ = env.agent_selection
    env.reset(seed=1)
    wrong: list[Any] = [73, -1, None, "pass"]
    for action in wrong:
        with pytest.raises(AssertionError, match="action is not in action space"):
            env.step(action)


# -- options and the rest --------------------------------------------------------------------------


@makers
@pytest.mark.parametrize(
    ("option", "value", "error"),
    [
        ("num_players", 1, OptionError),
        ("num_players", 5, OptionError),
        ("num_players", "2", OptionError),
        ("num_players", True, OptionError),
        ("ruleset", "chess", RulesetError),
        ("ruleset", 5, RulesetError),
        ("view", "all", OptionError),
        ("view", ["table"], OptionError),
        ("reward", "win", OptionError),
        ("reward", None, OptionError),
        ("render_mode", "rgb", OptionError),
        ("render_mode", "", OptionError),
    ],
)
def test_a_wrong_option_is_named(
    make: Callable[..., Env], option: str, value: Any, error: type[Exception]
) -> None:
    with pytest.raises(error) as caught:
        make(**{option: value})
    assert option in str(caught.value)
    assert repr(value) in str(caught.value)


def test_rulesets_of_all_kinds() -> None:
    ruleset = Ruleset.get("gardienii").replace(name="own", amulets_to_end=same_for_all(1))
    for given in (ruleset, ruleset.to_dict()):
        env = gardienii_v0.env(3, given)
        env.reset(seed=1)
        assert game_of(env).ruleset == ruleset


def test_render() -> None:
    env = gardienii_v0.env(3, render_mode="ansi")
    env.reset(seed=1)
    for _ in range(20):
        seat = int(env.agent_selection.removeprefix("player_"))
        assert env.render() == board(game_of(env), viewer=seat)
        play(env, random.Random(1), 1)


def test_render_without_a_render_mode_warns() -> None:
    env = reset_env(2)
    with pytest.warns(UserWarning, match="render mode"):
        assert env.render() is None


@makers
def test_name_and_metadata(make: Callable[..., Env]) -> None:
    env = make()
    assert str(env) == env.metadata["name"] == "gardienii_v0"
    assert env.metadata["render_modes"] == ["human", "ansi", "rgb_array"]
    assert env.metadata["is_parallelizable"] is False


@makers
def test_render_mode_is_an_attribute(make: Callable[..., Any]) -> None:
    assert make().render_mode is None
    assert make(render_mode="ansi").render_mode == "ansi"


def test_close_is_harmless() -> None:
    env: Any = gardienii_v0.env()
    env.close()
    env.reset(seed=1)
    env.close()
    assert play(env, random.Random(1))
