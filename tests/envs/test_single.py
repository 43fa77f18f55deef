"""The single-agent Gymnasium environment: Gymnasium's and SB3's own checks, and whole games.

Tests that ask for `env_of` run against the batched environments too: see `driving`.
"""

from __future__ import annotations

import copy
import pickle
import random
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from driving import (
    COPIES,
    IN_THREADS,
    SINGLE,
    VECTOR_ENVS,
    WAYS,
    put_state,
    seat_of,
    takes_anything,
)
from gymnasium.utils.env_checker import check_env as gymnasium_check_env
from rulesets import COMBINATIONS, VARIATIONS, same_for_all
from stable_baselines3.common.env_checker import check_env as sb3_check_env
from watching import Watcher

from gardienii_env import (
    ACTIONS,
    AgentError,
    DealError,
    Game,
    GardieniiError,
    IllegalActionError,
    OptionError,
    Ruleset,
    RulesetError,
)
from gardienii_env.agents import make_agent
from gardienii_env.envs.outcome import REWARDS
from gardienii_env.envs.single import GardieniiSingleEnv
from gardienii_env.observation import VIEWS, layout
from gardienii_env.render.text import board

Step = tuple[Any, ...]
"""What a step gives: observation, reward, terminated, truncated, info."""

ID = "gardienii_env:Gardienii-v0"
combinations = pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)


EnvOf = Callable[..., Any]
"""Makes an environment of a number of players, a ruleset and further options."""


def maker(way: str) -> EnvOf:
    """Makes environments in one of the `WAYS`."""

    def env_of(players: int = 2, ruleset: Any = "gardienii", **options: Any) -> Any:
        return WAYS[way](**{"opponents": "random", **options}, num_players=players, ruleset=ruleset)

    return env_of


single_env_of = maker("single")


@pytest.fixture(params=WAYS)
def env_of(request: pytest.FixtureRequest) -> EnvOf:
    """In each way: the single environment, and one game of each kind of batch."""
    return maker(request.param)


@pytest.fixture(params=[*SINGLE, *VECTOR_ENVS])
def gym_env_of(request: pytest.FixtureRequest) -> EnvOf:
    """The single environment, and one game of Gymnasium's kind of batch, which can do the same."""
    return maker(request.param)


def legal(env: Any) -> list[int]:
    return [int(action) for action in np.flatnonzero(env.action_masks())]


def play(env: Any, rng: random.Random, steps: int = 2**63) -> Iterator[Step]:
    """Play on at random, at most to the end of the episode."""
    while steps > 0:
        step = env.step(rng.choice(legal(env)))
        yield step
        if step[2] or step[3]:
            return
        steps -= 1


def play_on(env: Any, rng: random.Random, steps: int = 2**63) -> Step:
    """The last step of playing on at random."""
    return list(play(env, rng, steps))[-1]


def frozen(observation: Any, *rest: Any) -> tuple[Any, ...]:
    """What a reset or a step gives, in a form to compare."""
    *numbers, info = rest
    return observation.tobytes(), *numbers, repr(info)


def episode(env: Any, rng: random.Random, **reset: Any) -> list[tuple[Any, ...]]:
    """A whole episode, in a form to compare."""
    return [frozen(*env.reset(**reset)), *(frozen(*step) for step in play(env, rng))]


def snapshot(env: Any) -> bytes:
    """Everything that is kept about the game and its generators."""
    return pickle.dumps(env.table)


# -- making it, and the checks of others -----------------------------------------------------------


def test_gymnasium_makes_it_by_a_name_that_says_what_to_import() -> None:
    code = f"import gymnasium; print(gymnasium.make({ID!r}, seat=1).reset(seed=1)[1]['seat'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"


def test_arguments_reach_it_and_masks_come_back_through_wrappers() -> None:
    env = gymnasium.make(ID, opponents="random,greedy", num_players=3, seat=2, view="recall")
    inner = env.unwrapped
    assert isinstance(inner, GardieniiSingleEnv)
    assert env is not inner
    assert [agent.name for agent in inner.table.opponents] == ["random", "greedy"]
    observation, info = env.reset(seed=4)
    assert observation.shape == (layout(3, "recall").size,)
    assert info["seat"] == 2
    assert np.array_equal(env.get_wrapper_attr("action_masks")(), info["action_mask"] == 1)


@combinations
def test_check_env_of_gymnasium_and_of_sb3(
    monkeypatch: pytest.MonkeyPatch, ruleset: str, players: int
) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")  # it tries all render modes, and needs no screen so
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for reward in REWARDS:
            options: dict[str, Any] = {"num_players": players, "ruleset": ruleset, "reward": reward}
            env = gymnasium.make(ID, opponents="random", render_mode="ansi", **options).unwrapped
            gymnasium_check_env(env)
            sb3_check_env(env)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_spaces(env_of: EnvOf, players: int, view: Any) -> None:
    env = env_of(players, view=view)
    assert env.observation_space == gymnasium.spaces.Box(0, 1, (layout(players, view).size,), np.float32)
    assert env.action_space == gymnasium.spaces.Discrete(73)
    observation, info = env.reset(seed=1)
    assert observation.dtype == np.float32
    assert env.action_masks().dtype == np.bool_
    assert info["action_mask"].dtype == np.int8


# -- the game, step by step ------------------------------------------------------------------------


def check_shown(env: Any, game: Game, observation: Any, info: Any, view: Any) -> None:
    """The learner decides in the game, and sees what its seat sees."""
    assert game.player == info["seat"]
    assert set(info) == {"action_mask", "seat"}
    assert np.array_equal(observation, game.observe(info["seat"], view))
    assert np.array_equal(info["action_mask"], game.legal_mask())
    assert np.array_equal(env.action_masks(), game.legal_mask() == 1)
    assert env.game.state.tobytes() == game.state.tobytes()


@pytest.mark.parametrize("view", VIEWS)
@combinations
def test_every_step_shows_the_game(env_of: EnvOf, ruleset: str, players: int, view: Any) -> None:
    """A `Game` of the same seed, played along with all that the opponents tell they did."""
    rng, watcher = random.Random(players), Watcher()
    env = env_of(players, ruleset, view=view, opponents=[watcher])
    for seed in (0, 1):
        game = Game.new(players, ruleset, seed)
        observation, info = env.reset(seed=seed)
        done = False
        while True:
            for seat, action in watcher.told():
                assert game.player == seat != info["seat"]
                game.apply(action)
            if done:
                break
            check_shown(env, game, observation, info, view)
            action = rng.choice(legal(env))
            game.apply(action)
            observation, _, terminated, truncated, info = env.step(action)
            done = terminated or truncated
        assert game.is_over
        assert np.array_equal(observation, game.observe(info["seat"], view))
        check_end_info(info, game)
        assert env.action_masks().all()


def check_end_info(info: dict[str, Any], game: Game) -> None:
    final, seat = game.to_record()["final"], info["seat"]
    assert info.pop("action_mask").tolist() == [1] * 73
    assert info == {
        "seat": seat,
        "illegal_action": False,
        "points": final["points"][seat],
        "score": final["scores"][seat],
        "payoff": final["payoffs"][seat],
        "winner": seat in final["winners"],
        "end": final["end"],
        "turns": final["turns"],
    }


def test_what_a_step_gives_is_the_callers_own(env_of: EnvOf) -> None:
    env, other = env_of(seat=0), env_of(seat=0)
    observation, info = env.reset(seed=1)
    other.reset(seed=1)
    kept = observation.copy()
    info["action_mask"][:] = 7
    env.action_masks()[:] = False
    env.game.apply(legal(env)[0])
    later = env.step(1)
    assert np.array_equal(observation, kept)
    observation[:] = later[0][:] = 7
    assert frozen(*env.step(4)) != frozen(*later)
    other.step(1)
    assert other.game.state.tobytes() != env.game.state.tobytes()
    other.step(4)
    assert other.game.state.tobytes() == env.game.state.tobytes()


# -- seats and opponents ---------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_seat_is_drawn_for_every_episode(env_of: EnvOf, players: int) -> None:
    env = env_of(players)
    seats = [env.reset(seed=1 if k == 0 else None)[1]["seat"] for k in range(60)]
    counts = Counter(seats)
    assert sorted(counts) == list(range(players))
    assert min(counts.values()) > 60 / players / 3


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_fixed_seat(env_of: EnvOf, players: int) -> None:
    for seat in range(players):
        env = env_of(players, seat=seat)
        assert {env.reset(seed=k)[1]["seat"] for k in range(5)} == {seat}


@combinations
def test_opponents_sit_clockwise_from_the_learner(env_of: EnvOf, ruleset: str, players: int) -> None:
    watchers = [Watcher() for _ in range(players - 1)]
    env, rng = env_of(players, ruleset, opponents=watchers), random.Random(1)
    for seed in range(6):
        _, info = env.reset(seed=seed)
        play_on(env, rng)
        for place, watcher in enumerate(watchers, start=1):
            assert {seat for seat, _ in watcher.told()} == {(info["seat"] + place) % players}


@pytest.mark.parametrize(
    ("players", "names"), [(2, "greedy"), (3, "greedy,random"), (4, "random, greedy,random")]
)
def test_names_stand_for_agents(env_of: EnvOf, players: int, names: str) -> None:
    def course(opponents: Any) -> list[Any]:
        return episode(env_of(players, opponents=opponents), random.Random(1), seed=2)

    agents = [make_agent(name) for name in names.split(",")]
    assert course(names) == course(agents) == course(tuple(agents))
    assert course(names) != course(",".join(names.split(",")[::-1]) if players == 3 else "random")


def test_one_name_stands_for_all(env_of: EnvOf) -> None:
    names = ("greedy", "greedy,greedy,greedy", [make_agent("greedy")])
    courses = [episode(env_of(4, opponents=name), random.Random(1), seed=2) for name in names]
    assert courses[0] == courses[1] == courses[2]


# -- seeds and sequences of episodes ---------------------------------------------------------------


@combinations
def test_one_seed_gives_one_sequence_of_episodes(env_of: EnvOf, ruleset: str, players: int) -> None:
    def three_episodes(disturb: int) -> list[Any]:
        env, rng = env_of(players, ruleset), random.Random(1)
        episodes = []
        for seed in (0, None, None):
            random.seed(disturb)
            np.random.seed(disturb)  # noqa: NPY002  # it must not matter
            episodes.append(episode(env, rng, seed=seed))
        return episodes

    first, second, third = three_episodes(1)
    assert three_episodes(2) == [first, second, third]
    assert len({repr(first), repr(second), repr(third)}) == 3


def test_reset_in_the_middle_begins_anew(env_of: EnvOf) -> None:
    env = env_of(3, reward="points")
    fresh = episode(env, random.Random(2), seed=5)
    for steps in (1, 20, 60):
        env.reset(seed=6)
        play_on(env, random.Random(steps), steps)
        env.reset(seed=5)
        assert episode(env, random.Random(2), seed=5) == fresh


def test_global_random_numbers_are_left_alone(env_of: EnvOf) -> None:
    before = random.getstate(), repr(np.random.get_state())  # noqa: NPY002
    env = env_of(opponents="greedy")
    env.reset()
    play_on(env, random.Random(1))
    assert (random.getstate(), repr(np.random.get_state())) == before  # noqa: NPY002


def test_without_a_seed_chance_is_the_operating_systems() -> None:
    assert single_env_of().reset()[0].tobytes() != single_env_of().reset()[0].tobytes()


@pytest.mark.parametrize("seed", [0, 17, 2**70, np.int64(3)])
def test_a_seed_deals_what_game_new_deals(env_of: EnvOf, seed: int) -> None:
    env = env_of(3, seat=0)
    env.reset(seed=seed)
    assert env.game.state.tobytes() == Game.new(3, seed=seed).state.tobytes()


@pytest.mark.parametrize("seed", [-1, 1.5, "1", True])
def test_a_wrong_seed_is_refused(gym_env_of: EnvOf, seed: Any) -> None:
    with pytest.raises(OptionError, match=f"seed: {seed!r}"):
        gym_env_of().reset(seed=seed)


# -- given deals -----------------------------------------------------------------------------------


@combinations
def test_a_given_deal(env_of: EnvOf, ruleset: str, players: int) -> None:
    game = Game.new(players, ruleset, seed=9)
    env = env_of(players, ruleset, seat=0)
    observation, _ = env.reset(options={"deal": game.deal(), "other": 1})
    assert np.array_equal(observation, game.observe(0))
    assert np.array_equal(env.action_masks(), game.legal_mask() == 1)


def test_a_given_deal_leaves_the_sequence_of_deals(env_of: EnvOf) -> None:
    env, other = env_of(seat=0), env_of(seat=0)
    env.reset(seed=1, options={"deal": Game.new(2, seed=9).deal()})
    other.reset(seed=2)
    assert frozen(*env.reset(options={})) == frozen(*other.reset(seed=1, options={"nothing": None}))


def test_after_an_impossible_deal_no_episode_is_on() -> None:
    env = single_env_of(seat=0)
    env.reset(seed=1)
    deal = Game.new(2, seed=9).deal()
    with pytest.raises(DealError, match="left"):
        env.reset(options={"deal": {**deal, "left": deal["left"][1:]}})
    with pytest.raises(OptionError, match="reset"):
        env.step(0)
    env.reset(options={"deal": deal})
    env.step(0)


def test_a_deal_in_which_the_learner_never_decides(gym_env_of: EnvOf) -> None:
    """Only seat 0 has a turn, and no red dragon is in hand while the spell asks for red ones."""
    short = Ruleset.get("gardienii").replace(
        turn_limit=1, take_limit=1, modifications_per_turn=0, starting_cards={"Gr": 6}
    )
    deal = Game.new(2, short, seed=1).deal()
    env = gym_env_of(2, short, seat=1)
    for red in (card for card in deal["right"] if card.endswith("r")):
        deal["right"].remove(red)
        deal["right"].append(red)
    with pytest.raises(DealError, match="before seat 1 decides"):
        env.reset(options={"deal": deal})
    with pytest.raises(OptionError, match="reset"):
        env.step(0)


@pytest.mark.parametrize("way", IN_THREADS)
def test_two_threads_play_the_same_games(way: str) -> None:
    """The environment played along sees to that; see `driving`."""
    env = IN_THREADS[way](opponents="random,greedy", num_players=3, ruleset=VARIATIONS["first amulet"])
    rng = random.Random(1)
    for seed in (5, None):
        assert len(episode(env, rng, seed=seed)) > 3


# -- rewards and ends ------------------------------------------------------------------------------


@pytest.mark.parametrize("reward", ["payoff", "margin"])
@combinations
def test_rewards_at_the_end(env_of: EnvOf, ruleset: str, players: int, reward: Any) -> None:
    env, rng = env_of(players, ruleset, reward=reward), random.Random(1)
    paid = set()
    for seed in range(15):
        env.reset(seed=seed)
        *earlier, (_, last, terminated, truncated, info) = play(env, rng)
        assert not any(step[1] for step in earlier)
        assert (terminated, truncated) == (True, False)
        assert type(last) is float
        scores = env.game.scores()
        own = scores.pop(info["seat"])
        margin = (own - sum(scores) / len(scores)) / 50
        assert last == pytest.approx(margin if reward == "margin" else info["payoff"])
        paid.add(last > 0)
    assert paid == {False, True}


@combinations
def test_points_as_they_are_earned_sum_to_the_score(env_of: EnvOf, ruleset: str, players: int) -> None:
    env, rng = env_of(players, ruleset, reward="points"), random.Random(1)
    env.reset(seed=3)
    for _ in range(3):
        total = 0.0
        for _, reward, _, _, info in play(env, rng):
            total += reward
            assert type(reward) is float
            assert total == env.game.scores()[info["seat"]]
        assert total == info["score"] > 0
        env.reset()


@pytest.mark.parametrize("reward", REWARDS)
def test_truncation_by_the_turn_limit(env_of: EnvOf, reward: Any) -> None:
    for players in (2, 3, 4):
        env = env_of(players, VARIATIONS["five turns"], reward=reward)
        env.reset(seed=1)
        *earlier, (_, last, terminated, truncated, info) = play(env, random.Random(1))
        assert not any(step[2] or step[3] for step in earlier)
        assert (terminated, truncated) == (False, True)
        assert (info["end"], info["turns"]) == ("turn_limit", 5)
        if reward == "payoff":
            assert last == info["payoff"] == env.game.payoffs()[info["seat"]]


@pytest.mark.parametrize("name", ["first amulet", "nothing but the supply", "short decks"])
def test_other_ends_terminate(env_of: EnvOf, name: str) -> None:
    for players in (2, 3, 4):
        env = env_of(players, VARIATIONS[name], seat=0)
        env.reset(seed=1)
        *_, terminated, truncated, info = play_on(env, random.Random(1))
        assert (terminated, truncated) == (True, False)
        assert info["end"] == env.game.end


@pytest.mark.parametrize("illegal_action", ["terminate", "raise"])
def test_no_step_before_the_first_reset_or_after_the_end(illegal_action: Any) -> None:
    env = single_env_of(illegal_action=illegal_action)
    assert env.action_masks().all()
    with pytest.raises(OptionError, match="reset"):
        env.step(0)
    env.reset(seed=1)
    play_on(env, random.Random(1))
    before = snapshot(env)
    for action in range(73):
        with pytest.raises(OptionError, match="reset"):
            env.step(action)
    assert snapshot(env) == before


# -- illegal actions -------------------------------------------------------------------------------

NO_ACTIONS: list[Any] = [
    *(-1, 73, 10**30, None, True, 2.0, np.float32(0)),
    *(np.array([0]), np.array(0.0), "no such action", [0]),
]


def no_actions(env: Any) -> list[Any]:
    return NO_ACTIONS if takes_anything(env) else [-1, 73, 2**62]


def illegal_actions(env: Any) -> list[Any]:
    return [*np.flatnonzero(~env.action_masks()), *no_actions(env)]


@combinations
def test_an_illegal_action_terminates(env_of: EnvOf, ruleset: str, players: int) -> None:
    env, rng = env_of(players, ruleset, reward=REWARDS[players % 3]), random.Random(1)
    env.reset(seed=3)
    whole = episode(env, random.Random(2), seed=4)
    for _ in range(2):
        env.reset()
        observation, _, terminated, _, _ = play_on(env, rng, rng.randrange(1, 30))
        assert not terminated
        for action in [*rng.sample(illegal_actions(env), 2), rng.choice(no_actions(env))]:
            twin = copy.deepcopy(env)
            before = twin.game.state.tobytes()
            after, paid, terminated, truncated, info = twin.step(action)
            assert (paid, terminated, truncated) == (-1.0, True, False)
            assert np.array_equal(after, observation)
            assert twin.game.state.tobytes() == before
            assert info.pop("action_mask").all()
            assert info == {"seat": seat_of(twin), "illegal_action": True}
            assert twin.action_masks().all()
            with pytest.raises(OptionError, match="reset"):
                twin.step(4)
            assert episode(twin, random.Random(2), seed=4) == whole


@combinations
def test_an_illegal_action_raises_on_demand_and_changes_nothing(
    gym_env_of: EnvOf, ruleset: str, players: int
) -> None:
    env, rng = gym_env_of(players, ruleset, illegal_action="raise", reward="points"), random.Random(1)
    env.reset(seed=3)
    for _ in range(8):
        before = snapshot(env)
        for action in illegal_actions(env):
            name = ACTIONS[action] if isinstance(action, np.integer) else repr(action)
            with pytest.raises(IllegalActionError) as caught:
                env.step(action)
            assert name in str(caught.value)
        assert snapshot(env) == before
        play_on(env, rng, 4)


def test_the_refusal_says_what_is_legal(gym_env_of: EnvOf) -> None:
    env = gym_env_of(illegal_action="raise", seat=0)
    env.reset(seed=1)
    with pytest.raises(IllegalActionError, match=r"'pass' is not legal .* take:L0, take:L1, take:R0"):
        env.step(4)


@pytest.mark.parametrize(
    "kind", [int, np.int8, np.int32, np.int64, np.uint8, lambda action: np.array(action)]
)
def test_actions_of_any_whole_number_type(kind: Callable[[int], Any]) -> None:
    for illegal_action in ("terminate", "raise"):
        env, other = single_env_of(illegal_action=illegal_action), single_env_of()
        env.reset(seed=1)
        other.reset(seed=1)
        assert frozen(*env.step(kind(1))) == frozen(*other.step(1))


# -- what the learner cannot know ------------------------------------------------------------------


def with_hidden_things_drawn_anew(env: Any, seed: int) -> Any:
    """A copy of the environment in which all that the learner cannot know is something else."""
    twin = copy.deepcopy(env)
    put_state(twin, env.game.resample(seat_of(env), seed).state)
    return twin


@pytest.mark.parametrize("view", VIEWS)
@combinations
def test_what_is_hidden_changes_nothing_that_the_learner_gets(
    ruleset: str, players: int, view: Any
) -> None:
    """Also not by actions that uncover nothing: to stop taking, and to lay a card."""
    rng = random.Random(6)
    env = single_env_of(players, ruleset, view=view, render_mode="ansi")
    env.reset(seed=1)
    compared = 0
    for _ in range(60):
        quiet = [action for action in legal(env) if ACTIONS[action].startswith(("pass", "modify"))]
        action = rng.choice(quiet or legal(env))
        twin = with_hidden_things_drawn_anew(env, rng.randrange(10**6))
        assert twin.game.state.tobytes() != env.game.state.tobytes()
        turn, seat = env.game.turns, seat_of(env)
        *step, terminated, truncated, info = env.step(action)
        game = env.game
        if quiet and (game.turns, game.player) == (turn, seat == game.state["active"] and seat):
            assert frozen(*twin.step(action)) == frozen(*step, terminated, truncated, info)
            assert twin.render() == env.render()
            assert np.array_equal(twin.action_masks(), env.action_masks())
            compared += 1
        if terminated or truncated:
            env.reset()
    assert compared > 10


def test_at_the_start_of_an_episode_too(gym_env_of: EnvOf) -> None:
    """Two deals that differ in what lies under the decks' top cards and in the pearls."""
    deal = Game.new(2, seed=1).deal()
    other = {**deal, "pearls": deal["pearls"][::-1]}
    for side in ("left", "right"):
        other[side] = [*deal[side][-2::-1], deal[side][-1]]
    assert other != deal
    for view in VIEWS:
        envs = [gym_env_of(seat=0, view=view, render_mode="ansi") for _ in range(2)]
        resets = [
            env.reset(seed=1, options={"deal": d}) for env, d in zip(envs, (deal, other), strict=True)
        ]
        assert frozen(*resets[0]) == frozen(*resets[1])
        assert envs[0].render() == envs[1].render()


# -- copies and pictures ---------------------------------------------------------------------------


@pytest.mark.parametrize("reward", REWARDS)
@pytest.mark.parametrize("copied", COPIES)
def test_a_copy_goes_on_with_the_game(env_of: EnvOf, copied: Callable[[Any], Any], reward: Any) -> None:
    for players, ruleset in ((2, "gardienii"), (4, "dragonkeepers")):
        env = env_of(players, ruleset, reward=reward)
        env.reset(seed=2)
        for steps in (1, 30, 2**63):
            play_on(env, random.Random(1), steps)
            twin = copied(env)
            if env.action_masks().all():
                assert episode(twin, random.Random(9)) == episode(env, random.Random(9))
                break
            other = copied(env)
            rest = [frozen(*step) for step in play(twin, random.Random(9))]
            assert [frozen(*step) for step in play(other, random.Random(9))] == rest
            assert episode(twin, random.Random(9)) == episode(other, random.Random(9))


@pytest.mark.parametrize("copied", COPIES)
def test_a_copy_before_the_first_reset(env_of: EnvOf, copied: Callable[[Any], Any]) -> None:
    env = env_of()
    twin = copied(env)
    assert episode(twin, random.Random(1), seed=1) == episode(env, random.Random(1), seed=1)


@combinations
def test_render_is_the_board_as_the_learner_sees_it(ruleset: str, players: int) -> None:
    env = single_env_of(players, ruleset, render_mode="ansi", seat=players - 1)
    env.reset(seed=1)
    for _ in play(env, random.Random(1), 15):
        assert env.render() == board(env.game, viewer=players - 1)
    assert board(env.game, viewer=players - 1) != board(env.game, viewer=0)


def test_render_without_a_render_mode_warns() -> None:
    env = single_env_of()
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None


# -- options ---------------------------------------------------------------------------------------


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
        ("seat", 2, OptionError),
        ("seat", -1, OptionError),
        ("seat", "0", OptionError),
        ("seat", False, OptionError),
        ("illegal_action", "ignore", OptionError),
        ("illegal_action", None, OptionError),
        ("render_mode", "rgb", OptionError),
        ("render_mode", "", OptionError),
        ("opponents", "gredy", AgentError),
        ("opponents", "", AgentError),
        ("opponents", "random,greedy", AgentError),
        ("opponents", None, AgentError),
        ("opponents", 5, AgentError),
        ("opponents", ["greedy", 5], AgentError),
        ("opponents", [], AgentError),
    ],
)
def test_a_wrong_option_is_named(option: str, value: Any, error: type[GardieniiError]) -> None:
    with pytest.raises(error) as caught:
        GardieniiSingleEnv(**{option: value})
    assert repr(value) in str(caught.value)
    assert ("agent" if option == "opponents" else option) in str(caught.value).lower()


def test_as_many_agents_as_opponents() -> None:
    agents = [make_agent("random"), make_agent("greedy")]
    with pytest.raises(AgentError, match="2 agents for 3 opponents"):
        single_env_of(4, opponents=agents)
    with pytest.raises(AgentError, match="2 agents for 1 opponent"):
        single_env_of(2, opponents=agents)


def test_rulesets_of_all_kinds(env_of: EnvOf) -> None:
    ruleset = Ruleset.get("gardienii").replace(name="own", amulets_to_end=same_for_all(1))
    for given in (ruleset, ruleset.to_dict()):
        env = env_of(3, given)
        env.reset(seed=1)
        assert env.game.ruleset == ruleset
