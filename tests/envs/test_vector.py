"""The batch for Gymnasium: what `SyncVectorEnv` over single environments gives, and its own habits.

The tests of `test_single.py` run against it too.
"""

from __future__ import annotations

import copy
import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import pytest
import torch
from driving import COPIES, count_signatures, pick, write_anew
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics
from rulesets import COMBINATIONS, VARIATIONS
from test_hidden import HIDDEN_CHANGES, ask_again
from watching import Watcher

from gardienii_env import (
    AgentError,
    DealError,
    Game,
    GardieniiError,
    IllegalActionError,
    OptionError,
    Ruleset,
    RulesetError,
)
from gardienii_env.agents import Agent, make_agent
from gardienii_env.envs.single import GardieniiSingleEnv
from gardienii_env.envs.vector import GardieniiVectorEnv
from gardienii_env.observation import VIEWS, layout
from gardienii_env.render.text import board

ID = "gardienii_env:Gardienii-v0"
NEXT_STEP, SAME_STEP, DISABLED = AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED
modes = pytest.mark.parametrize("mode", AutoresetMode)


def envs_of(num_envs: Any = 3, **options: Any) -> Any:
    return GardieniiVectorEnv(num_envs, **{"opponents": "random", **options})


def snapshot(envs: Any) -> tuple[bytes, ...]:
    """Everything that a call may change, and what the next calls depend on."""
    rows = [array.tobytes() for array in envs.table._rows()]
    return (
        *rows,
        repr(envs.table.opponents).encode(),
        envs._over.tobytes(),
        envs.action_masks().tobytes(),
    )


def play(envs: Any, rng: np.random.Generator, steps: int) -> Iterator[tuple[Any, ...]]:
    """Play on at random; what each step gives. Games that are over are reset if nobody else does."""
    for _ in range(steps):
        given = envs.step(pick(envs.action_masks(), rng))
        yield given
        over = given[2] | given[3]
        if envs.metadata["autoreset_mode"] == DISABLED and over.any():
            envs.reset(options={"reset_mask": over})


def course(envs: Any, seed: int = 1, steps: int = 120) -> list[Any]:
    """What some steps at random give, in a form to compare."""
    return [frozen(step) for step in play(envs, np.random.default_rng(seed), steps)]


def frozen(given: Any) -> Any:
    """What a call gives, in a form to compare; to the last bit."""
    if isinstance(given, np.ndarray) and given.dtype != object:
        return given.dtype.str, given.shape, given.tobytes()
    if isinstance(given, dict):
        return {key: frozen(value) for key, value in given.items()}
    if isinstance(given, tuple | list | np.ndarray):
        return [frozen(value) for value in given]
    return given


# -- beside Gymnasium's own --------------------------------------------------------------------------

CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "defaults": {"opponents": "greedy"},
    "random": {"opponents": "random", "view": "recall", "reward": "points"},
    "three": {"opponents": "greedy,random", "num_players": 3, "reward": "margin", "seat": 1},
    "four": {"opponents": "random,greedy,random", "num_players": 4, "ruleset": "dragonkeepers"},
    "counts": {"opponents": "random", "num_players": 4, "dtype": "uint8", "reward": "points"},
    "counts, recall": {
        "opponents": "greedy",
        "ruleset": "dragonkeepers",
        "dtype": "uint8",
        "view": "recall",
    },
    "an agent": {"opponents": [Watcher("greedy")], "ruleset": "dragonkeepers", "reward": "margin"},
    "agents of all kinds": {
        "opponents": [Watcher(), make_agent("greedy"), make_agent("random")],
        "num_players": 4,
        "view": "recall",
        "reward": "points",
    },
    "truncated": {"opponents": "random", "num_players": 3, "ruleset": VARIATIONS["five turns"]},
}


def both(
    mode: AutoresetMode, num_envs: int, batch: dict[str, Any] | None = None, **options: Any
) -> tuple[Any, Any]:
    """The batch, made with some options of its own, and what it is to be like."""

    def one() -> GardieniiSingleEnv:
        return GardieniiSingleEnv(**copy.deepcopy(options))

    envs = GardieniiVectorEnv(num_envs, autoreset_mode=mode, **copy.deepcopy(options), **(batch or {}))
    return envs, SyncVectorEnv([one] * num_envs, autoreset_mode=mode)


def same(ours: Any, theirs: Any, name: str = "") -> None:
    """Fail unless both are the same: keys, types, shapes, values."""
    assert type(ours) is type(theirs), name
    if isinstance(theirs, dict):
        assert ours.keys() == theirs.keys(), name
        for key in theirs:
            told = theirs.get(f"_{key}")
            if isinstance(theirs[key], np.ndarray) and told is not None:  # the others are left open
                assert ours[key].shape == theirs[key].shape, f"{name} {key}"
                same(ours[key][told], theirs[key][told], f"{name} {key}")
            else:
                same(ours[key], theirs[key], f"{name} {key}")
    elif isinstance(theirs, tuple):
        assert len(ours) == len(theirs)
        for k, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            same(one, other, f"{name}[{k}]")
    elif isinstance(theirs, np.ndarray):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape), name
        if theirs.dtype == object:
            same(tuple(ours), tuple(theirs), name)
        else:
            assert np.array_equal(ours, theirs), name
    else:
        assert ours == theirs, name


class Script:
    """What a user does with environments, drawn at random: the same with both."""

    def __init__(self, seed: int, num_envs: int, mode: AutoresetMode, options: dict[str, Any]) -> None:
        self.rng = np.random.default_rng(seed)
        self.num_envs, self.mode = num_envs, mode
        players, ruleset = options.get("num_players", 2), options.get("ruleset", "gardienii")
        self.deals = [Game.new(players, ruleset, seed).deal() for seed in range(3)]

    def reset(self, over: npt.NDArray[np.bool_]) -> dict[str, Any]:
        """Arguments of a reset."""
        rng, size = self.rng, self.num_envs
        seeds = [None, int(rng.integers(99)), [*rng.integers(1000, size=size - 1).tolist(), None]]
        options: dict[str, Any] = {}
        if rng.random() < 0.6:
            options["reset_mask"] = over | (np.arange(size) == rng.integers(size))
        if rng.random() < 0.4:
            options["deal"] = self.deals[rng.integers(3)]
        return {"seed": seeds[rng.integers(3)], "options": options or None}

    def actions(self, masks: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        """Legal actions, and an illegal one now and then."""
        actions = pick(masks, self.rng)
        wrong = self.rng.random(self.num_envs) < 0.004
        return np.where(wrong, self.rng.choice([-1, 73, 72, 0, 40], self.num_envs), actions)


@modes
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_what_sync_vector_env_gives(name: str, mode: AutoresetMode) -> None:
    num_envs, options = 4, CONFIGURATIONS[name]
    envs, expected = both(mode, num_envs, **options)
    script = Script(1, num_envs, mode, options)
    assert envs.single_observation_space == expected.single_observation_space
    assert envs.observation_space == expected.observation_space
    assert envs.action_space == expected.action_space
    same(envs.reset(seed=3), expected.reset(seed=3))
    over = np.zeros(num_envs, np.bool_)
    ended = 0
    for k in range(500):
        if script.rng.random() < 0.012 or (mode == DISABLED and over.any()):
            arguments = script.reset(over)
            same(envs.reset(**copy.copy(arguments)), expected.reset(**copy.deepcopy(arguments)), f"{k}")
            over[:] = False
        else:
            actions = script.actions(envs.action_masks())
            given = envs.step(actions)
            same(given, expected.step(actions), f"step {k}")
            over = given[2] | given[3]
            ended += over.sum()
        assert envs.observation_space.contains(envs.table.observations)
    assert ended > 6


@modes
def test_two_threads_and_no_copies(mode: AutoresetMode) -> None:
    """Without `copy` it is one array all the time."""
    options = {"opponents": "random", "ruleset": VARIATIONS["first amulet"]}
    envs, expected = both(mode, 5, {"num_threads": 2, "copy": False}, **options)
    rng = np.random.default_rng(1)
    array, _ = envs.reset(seed=2)
    same(array, expected.reset(seed=2)[0])
    ended = 0
    for _ in range(60):
        actions = pick(envs.action_masks(), rng)
        given, wanted = envs.step(actions), expected.step(actions)
        same(given, wanted)
        assert given[0] is array
        array[:] = 0.5  # wrappers write into it: the next step writes all of it
        over = given[2] | given[3]
        ended += over.sum()
        if mode == DISABLED and over.any():
            masks = [{"options": {"reset_mask": over.copy()}} for _ in range(2)]
            same(envs.reset(**masks[0]), expected.reset(**masks[1]))
    assert ended > 1


def test_an_episode_of_each_of_the_lists_deals() -> None:
    deals = [Game.new(3, seed=seed).deal() for seed in (1, 2)]
    envs = envs_of(4, num_players=3, seat=0)
    first, _ = envs.reset(seed=5)
    observations, infos = envs.reset(seed=5, options={"deal": [deals[0], None, deals[1], None]})
    for i, deal in ((0, deals[0]), (2, deals[1])):
        game = Game.from_deal(deal, 3)
        assert np.array_equal(observations[i], game.observe(0))
        assert np.array_equal(infos["action_mask"][i], game.legal_mask())
    assert np.array_equal(observations[[1, 3]], first[[1, 3]])
    # The deal did not use up anything of the sequence.
    again, _ = envs.reset()
    envs.reset(seed=5)
    assert np.array_equal(again[[0, 2]], first[[0, 2]])


def test_a_misspelled_option_is_told() -> None:
    envs = envs_of(2)
    with pytest.warns(UserWarning, match="Did you mean 'reset_mask'"):
        envs.reset(seed=1, options={"resetmask": [True, False]})


def test_a_mask_leaves_the_other_games_alone() -> None:
    envs = envs_of(4, reward="points")
    envs.reset(seed=1)
    before = [step[0] for step in play(envs, np.random.default_rng(1), 20)][-1]
    states = envs.table.batch.states.copy()
    mask = np.array([True, False, False, True])
    observations, infos = envs.reset(seed=9, options={"reset_mask": mask})
    fresh, _ = envs_of(4, reward="points").reset(seed=9)
    assert np.array_equal(observations[mask], fresh[mask])
    assert np.array_equal(observations[~mask], before[~mask])
    assert states[~mask].tobytes() == envs.table.batch.states[~mask].tobytes()
    assert infos["_action_mask"].tolist() == infos["_seat"].tolist() == mask.tolist()


# -- results depend on the seed only -----------------------------------------------------------------


@modes
def test_the_course_of_a_game_does_not_depend_on_the_others(mode: AutoresetMode) -> None:
    options: dict[str, Any] = {"num_players": 3, "opponents": "greedy,random", "autoreset_mode": mode}
    many, one = envs_of(6, **options), envs_of(1, **options)
    assert np.array_equal(many.reset(seed=2)[0][4:5], one.reset(seed=6)[0])
    rng = np.random.default_rng(1)
    list(play(many, rng, 150))
    many.reset(seed=2)
    for _ in range(150):
        actions = pick(many.action_masks(), rng)
        given, own = many.step(actions), one.step(actions[4:5])
        assert np.array_equal(given[0][4:5], own[0])
        assert [x[4] for x in given[1:4]] == [x[0] for x in own[1:4]]
        over = given[2] | given[3]
        if mode == DISABLED and over.any():
            many.reset(options={"reset_mask": over})
            if over[4]:
                one.reset()


def test_the_number_of_threads_does_not_matter() -> None:
    options: dict[str, Any] = {
        "num_players": 4,
        "opponents": [Watcher(), make_agent("greedy"), make_agent("random")],
    }
    courses = []
    for num_threads in (1, 2, 3, 64):
        envs = envs_of(7, num_threads=num_threads, ruleset=VARIATIONS["first amulet"], **options)
        courses.append([frozen(envs.reset(seed=1)), course(envs, steps=30)])
    assert courses[1] == courses[0]
    assert courses[2] == courses[0]
    assert courses[3] == courses[0]


def test_global_random_numbers_do_not_matter_and_are_left_alone() -> None:
    def played(disturb: int) -> Any:
        random.seed(disturb)
        np.random.seed(disturb)  # noqa: NPY002  # it must not matter
        before = random.getstate(), repr(np.random.get_state())  # noqa: NPY002
        envs = envs_of(opponents="greedy")
        given = frozen(envs.reset(seed=3)), course(envs)
        assert (random.getstate(), repr(np.random.get_state())) == before  # noqa: NPY002
        return given

    assert played(1) == played(2)


def test_without_a_seed_chance_is_the_operating_systems() -> None:
    assert envs_of().reset()[0].tobytes() != envs_of().reset()[0].tobytes()


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_uint8_times_the_factors_is_the_float32(players: int, view: Any) -> None:
    factors = layout(players, view).factors
    counts, scaled = (
        envs_of(num_players=players, view=view, dtype=dtype) for dtype in ("uint8", "float32")
    )
    assert (counts.reset(seed=1)[0] * factors).tobytes() == scaled.reset(seed=1)[0].tobytes()
    for _ in range(150):
        actions = pick(scaled.action_masks(), np.random.default_rng(1))
        product = counts.step(actions)[0] * factors
        observations = scaled.step(actions)[0]
        assert product.dtype == np.float32
        assert product.tobytes() == observations.tobytes()


# -- what Gymnasium asks -----------------------------------------------------------------------------


@modes
def test_gymnasium_makes_it(mode: AutoresetMode) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        envs: Any = gymnasium.make_vec(
            ID, 3, "vector_entry_point", opponents="random", autoreset_mode=mode
        )
        named: Any = gymnasium.make_vec(ID, 3, opponents="random", autoreset_mode=mode.value)
    for each in (envs, named):
        assert type(each) is GardieniiVectorEnv
        assert each.metadata["autoreset_mode"] is mode
        assert each.num_envs == 3
        assert "Gardienii-v0" in repr(each)
        assert each.reset(seed=1)[0].shape == each.observation_space.shape
        each.close()
    assert GardieniiVectorEnv.metadata["autoreset_mode"] is NEXT_STEP


@pytest.mark.parametrize("dtype", ["float32", "uint8"])
@modes
def test_spaces_contain_what_is_given(mode: AutoresetMode, dtype: Any) -> None:
    envs = envs_of(autoreset_mode=mode, dtype=dtype, view="recall")
    observations, _ = envs.reset(seed=1)
    assert observations.dtype == envs.single_observation_space.dtype == dtype
    assert observations in envs.observation_space
    for observations, rewards, terminated, truncated, infos in play(envs, np.random.default_rng(1), 150):
        assert observations in envs.observation_space
        assert all(row in envs.single_observation_space for row in observations)
        assert (rewards.dtype, terminated.dtype, truncated.dtype) == (np.float64, np.bool_, np.bool_)
        assert infos["action_mask"].dtype == np.int8
        assert all(
            one in envs.single_observation_space for one in infos.get("final_obs", []) if one is not None
        )
        assert envs.action_space.sample() in envs.action_space


@pytest.mark.parametrize("mode", [NEXT_STEP, SAME_STEP])
def test_under_record_episode_statistics(mode: AutoresetMode) -> None:
    options: dict[str, Any] = {"opponents": "random", "reward": "points"}
    plain = both(mode, 3, **options)
    envs, expected = (RecordEpisodeStatistics(each) for each in plain)
    envs.reset(seed=1)
    expected.reset(seed=1)
    rng = np.random.default_rng(1)
    episodes = 0
    for _ in range(250):
        actions = pick(plain[0].action_masks(), rng)
        infos, wanted = envs.step(actions)[4], expected.step(actions)[4]
        assert ("episode" in infos) == ("episode" in wanted)
        if "episode" in infos:
            for key in ("r", "l"):
                assert np.array_equal(infos["episode"][key], wanted["episode"][key])
            told = infos["final_info"] if mode == SAME_STEP else infos
            ended = infos["_episode"]
            assert np.array_equal(infos["episode"]["r"][ended], told["score"][ended])
            episodes += ended.sum()
    assert episodes == len(envs.return_queue) > 3
    assert list(envs.return_queue) == list(expected.return_queue)
    assert list(envs.length_queue) == list(expected.length_queue)


def test_under_record_episode_statistics_with_resets_of_the_users() -> None:
    inner = envs_of(autoreset_mode=DISABLED, reward="points")
    envs: Any = RecordEpisodeStatistics(inner)
    envs.reset(seed=1)
    rng, scores = np.random.default_rng(1), []
    for _ in range(250):
        _, _, terminated, truncated, infos = envs.step(pick(inner.action_masks(), rng))
        over = terminated | truncated
        if over.any():
            scores += infos["score"][over].tolist()
            assert np.array_equal(infos["episode"]["r"], np.where(over, infos["score"], 0))
            envs.reset(options={"reset_mask": over})
    assert list(envs.return_queue) == scores
    assert len(scores) > 3


@modes
def test_under_dict_info_to_list(mode: AutoresetMode) -> None:
    inner, plain = both(mode, 3, opponents="random")
    envs, expected = DictInfoToList(inner), DictInfoToList(plain)
    assert repr(envs.reset(seed=1)[1]) == repr(expected.reset(seed=1)[1])
    rng = np.random.default_rng(1)
    for _ in range(300):
        actions = pick(inner.action_masks(), rng)
        given, wanted = envs.step(actions), expected.step(actions)
        same(given[:4], wanted[:4])
        for info, other in zip(given[4], wanted[4], strict=True):
            same({key: info[key] for key in sorted(info)}, {key: other[key] for key in sorted(other)})
        if (given[2] | given[3]).any():
            break
    else:
        pytest.fail("no game ended")


def test_actions_may_be_a_tensor() -> None:
    envs, other = envs_of(seat=0), envs_of(seat=0)
    for each in (envs, other):
        each.reset(seed=1)
    actions = pick(envs.action_masks(), np.random.default_rng(1))
    assert frozen(envs.step(torch.as_tensor(actions))) == frozen(other.step(actions))


def test_render() -> None:
    envs = envs_of(num_players=3, render_mode="ansi")
    envs.reset(seed=1)
    for _ in play(envs, np.random.default_rng(1), 15):
        seats = envs.table.seats.tolist()
        assert envs.render() == tuple(board(envs.game(i), viewer=seat) for i, seat in enumerate(seats))
    assert len(set(envs.render())) == 3
    bare = envs_of()
    with pytest.warns(UserWarning, match="render_mode"):
        assert bare.render() is None


def test_what_is_given_is_the_callers_own() -> None:
    envs, other = envs_of(autoreset_mode=SAME_STEP), envs_of(autoreset_mode=SAME_STEP)
    rng = np.random.default_rng(1)
    for each in (envs, other):
        each.reset(seed=1)

    def spoil(given: Any) -> None:
        if isinstance(given, np.ndarray):
            given[...] = None if given.dtype == object else 1
        for value in (
            given.values() if isinstance(given, dict) else given if isinstance(given, tuple) else ()
        ):
            spoil(value)

    ends = 0
    for _ in range(150):
        actions = pick(envs.action_masks(), rng)
        given, untouched = envs.step(actions), other.step(actions)
        same(given, untouched)
        ends += "final_info" in given[4]
        spoil(given)
        spoil(envs.action_masks())
        actions[:] = 7
    assert ends > 1


# -- options and bad input ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "value", "error"),
    [
        ("num_envs", 0, OptionError),
        ("num_envs", 2.0, OptionError),
        ("num_envs", True, OptionError),
        ("num_envs", "3", OptionError),
        ("num_players", 5, OptionError),
        ("ruleset", "chess", RulesetError),
        ("view", "all", OptionError),
        ("view", None, OptionError),
        ("reward", "win", OptionError),
        ("seat", 2, OptionError),
        ("seat", -1, OptionError),
        ("seat", True, OptionError),
        ("illegal_action", "ignore", OptionError),
        ("render_mode", "human", OptionError),
        ("dtype", "float64", OptionError),
        ("dtype", None, OptionError),
        ("autoreset_mode", "next", OptionError),
        ("autoreset_mode", None, OptionError),
        ("autoreset_mode", [], OptionError),
        ("num_threads", 0, OptionError),
        ("num_threads", -1, OptionError),
        ("num_threads", 1.5, OptionError),
        ("num_threads", True, OptionError),
        ("copy", "no", OptionError),
        ("copy", 1, OptionError),
        ("opponents", "gredy", AgentError),
        ("opponents", None, AgentError),
        ("opponents", [5], AgentError),
        ("opponents", "random,greedy", AgentError),
    ],
)
def test_a_wrong_option_is_named(option: str, value: Any, error: type[GardieniiError]) -> None:
    with pytest.raises(error) as caught:
        GardieniiVectorEnv(**{"num_envs": 1, option: value})
    assert repr(value) in str(caught.value)
    assert ("agent" if option == "opponents" else option) in str(caught.value).lower()


def test_whole_numbers_of_numpys() -> None:
    envs = envs_of(np.int64(3), num_players=np.int8(3), seat=np.uint8(2), num_threads=np.int32(1))
    expected = envs_of(3, num_players=3, seat=2)
    assert frozen(envs.reset(seed=np.int64(1))) == frozen(expected.reset(seed=1))
    assert frozen(envs.reset(seed=np.array([4, 5, 6]))) == frozen(expected.reset(seed=[4, 5, 6]))
    assert frozen(envs.reset(seed=(4, 5, None))) == frozen(expected.reset(seed=[4, 5, None]))
    assert (type(envs.num_envs), envs.num_envs) == (int, 3)
    assert envs.observation_space == expected.observation_space
    assert set(envs.table.seats) == {2}
    courses = [course(each) for each in (envs, expected)]
    assert courses[0] == courses[1]


@pytest.mark.parametrize(
    "kind", [np.int8, np.int32, np.uint8, np.uint64, list, tuple, "strided", "read-only"]
)
def test_actions_of_any_whole_number_type(kind: Any) -> None:
    """And nothing is compiled anew for another kind of array."""
    envs, expected = envs_of(opponents="greedy", illegal_action="raise"), envs_of(opponents="greedy")
    for each in (envs, expected):
        each.reset(seed=1)
    rng = np.random.default_rng(1)
    expected.step(pick(expected.action_masks(), rng))
    envs.step(pick(envs.action_masks(), np.random.default_rng(1)))
    before = count_signatures()
    actions = pick(expected.action_masks(), rng)
    if kind == "strided":
        given: Any = np.repeat(actions, 2)[::2]
    elif kind == "read-only":
        given = actions.copy()
        given.setflags(write=False)
    else:
        given = kind(actions.tolist()) if kind in (list, tuple) else actions.astype(kind)
    assert frozen(envs.step(given)) == frozen(expected.step(actions))
    assert count_signatures() == before


WRONG_ACTIONS: list[Any] = [
    5,
    None,
    "take:L0",
    [0, 0],
    [0, 0, 0, 0],
    [[0], [0], [0]],
    [[0], [0, 1], [0]],
    [0.0, 0.0, 0.0],
    [True, True, True],
    [10**30, 0, 0],
    ["take:L0"] * 3,
    [None, 0, 0],
]


@modes
@pytest.mark.parametrize("actions", WRONG_ACTIONS)
def test_wrong_actions_are_refused_and_nothing_changes(actions: Any, mode: AutoresetMode) -> None:
    envs = envs_of(autoreset_mode=mode)
    envs.reset(seed=1)
    before = snapshot(envs)
    with pytest.raises(OptionError, match="actions: ") as caught:
        envs.step(actions)
    assert repr(actions) in str(caught.value)
    assert snapshot(envs) == before


def test_an_illegal_action_ends_its_game_only() -> None:
    for wrong in (-1, 73, 2**62, -(2**63), np.uint64(2**63 + 4)):
        envs, other = envs_of(), envs_of()
        for each in (envs, other):
            each.reset(seed=1)
        actions = pick(envs.action_masks(), np.random.default_rng(1))
        mixed = actions.astype(np.array(wrong).dtype)
        mixed[1] = wrong
        given, untouched = envs.step(mixed), other.step(actions)
        assert given[1].tolist() == [0, -1, 0]
        assert given[2].tolist() == [False, True, False]
        assert (
            given[4]["illegal_action"].tolist()
            == given[4]["_illegal_action"].tolist()
            == [False, True, False]
        )
        assert np.array_equal(given[0][[0, 2]], untouched[0][[0, 2]])


@modes
def test_an_illegal_action_raises_on_demand_and_nothing_changes(mode: AutoresetMode) -> None:
    envs = envs_of(illegal_action="raise", autoreset_mode=mode)
    envs.reset(seed=1)
    rng = np.random.default_rng(1)
    for _ in play(envs, rng, 12):
        before = snapshot(envs)
        actions = pick(envs.action_masks(), rng)
        for wrong in (-1, 73, int(np.flatnonzero(~envs.action_masks()[1])[0])):
            with pytest.raises(IllegalActionError, match="Game 1: "):
                envs.step(np.where([0, 1, 0], wrong, actions))
        assert snapshot(envs) == before


def test_with_raise_a_game_that_is_over_takes_any_action() -> None:
    """The next step begins it anew."""
    envs = envs_of(1, illegal_action="raise", ruleset=VARIATIONS["first amulet"])
    envs.reset(seed=1)
    rng = np.random.default_rng(1)
    while not any(envs.step(pick(envs.action_masks(), rng))[2]):
        pass
    _, rewards, terminated, _, infos = envs.step([-5])
    assert (rewards.tolist(), terminated.tolist()) == ([0], [False])
    assert not infos["action_mask"].all()


@pytest.mark.parametrize(
    "seed",
    [
        -1,
        1.5,
        "123",
        b"123",
        True,
        {0: 1},
        [1, 2],
        [1, 2, 3, 4],
        [0, -7, 1],
        [0, 1, 1.5],
        [0, "1", 2],
        [],
    ],
)
def test_a_wrong_seed_is_refused_and_nothing_changes(seed: Any) -> None:
    envs = envs_of()
    envs.reset(seed=1)
    list(play(envs, np.random.default_rng(1), 10))
    before = snapshot(envs)
    with pytest.raises(OptionError, match="seed: ") as caught:
        envs.reset(seed=seed)
    if isinstance(seed, list):
        wrong = [repr(one) for one in seed if not isinstance(one, int) or one < 0]
        assert (wrong[0] if len(seed) == 3 else f"{len(seed)} seeds for 3 games") in str(caught.value)
    else:
        assert repr(seed) in str(caught.value)
    assert snapshot(envs) == before


@pytest.mark.parametrize(
    "mask",
    [
        5,
        "abc",
        [True],
        [1, 0, 1],
        [False] * 3,
        np.zeros(3, np.bool_),
        np.ones((3, 1), np.bool_),
        [[True], [], []],
    ],
)
def test_a_wrong_reset_mask_is_refused_and_nothing_changes(mask: Any) -> None:
    envs = envs_of()
    envs.reset(seed=1)
    before = snapshot(envs)
    with pytest.raises(OptionError, match="reset_mask: "):
        envs.reset(seed=4, options={"reset_mask": mask})
    assert snapshot(envs) == before


DEAL = Game.new(2, seed=9).deal()


@pytest.mark.parametrize(
    ("deal", "message"),
    [
        ({}, "left: missing"),
        ({**DEAL, "left": DEAL["left"][1:]}, "left"),
        ([DEAL, {**DEAL, "pearls": []}, None], "pearls"),
        ([None, None, 5], "5"),
        (5, "5"),
        ("abc", "abc"),
        ([DEAL], "1 deals for 3 games"),
        ([], "0 deals for 3 games"),
        (Game.new(3, seed=1).deal(), "hands"),
    ],
)
def test_a_wrong_deal_is_refused_and_nothing_changes(deal: Any, message: str) -> None:
    for begun in (True, False):
        envs = envs_of()
        if begun:
            envs.reset(seed=1)
            list(play(envs, np.random.default_rng(1), 30))
        before = snapshot(envs)
        with pytest.raises((DealError, OptionError), match=message):
            envs.reset(seed=4, options={"deal": deal})
        assert snapshot(envs) == before


def test_a_deal_in_which_the_learner_never_decides_changes_nothing() -> None:
    """Only seat 0 has a turn, and no red dragon is in hand while the spell asks for red ones."""
    short = Ruleset.get("gardienii").replace(
        turn_limit=1, take_limit=1, modifications_per_turn=0, starting_cards={"Gr": 6}
    )
    deal = Game.new(2, short, seed=1).deal()
    for red in (card for card in deal["right"] if card.endswith("r")):
        deal["right"].remove(red)
        deal["right"].append(red)
    watcher = Watcher("greedy")
    envs = envs_of(2, ruleset=short, opponents=[watcher], seat=1)
    before = snapshot(envs)
    with pytest.raises(DealError, match="before seat 1 decides"):
        envs.reset(seed=1, options={"deal": [deal, None]})
    assert watcher.told()
    assert snapshot(envs) == before


@modes
def test_no_step_before_the_first_reset(mode: AutoresetMode) -> None:
    envs = envs_of(autoreset_mode=mode)
    assert envs.action_masks().all()
    with pytest.raises(OptionError, match="reset"):
        envs.step([0, 0, 0])
    with pytest.raises(OptionError, match="reset_mask: the games were not begun"):
        envs.reset(options={"reset_mask": np.array([True, False, False])})
    envs.reset(options={"reset_mask": np.array([True, True, True])})
    envs.step(pick(envs.action_masks(), np.random.default_rng(1)))


def test_without_autoreset_no_step_while_a_game_is_over() -> None:
    envs = envs_of(autoreset_mode=DISABLED)
    envs.reset(seed=1)
    rng = np.random.default_rng(1)
    over = np.zeros(3, np.bool_)
    while not over.any():
        *_, terminated, truncated, _ = envs.step(pick(envs.action_masks(), rng))
        over = terminated | truncated
    assert np.array_equal(envs.action_masks().all(axis=1), over)
    before = snapshot(envs)
    with pytest.raises(
        OptionError, match=rf"games \[{np.flatnonzero(over)[0]}\] are over; .*reset_mask"
    ):
        envs.step(pick(envs.action_masks(), rng))
    assert snapshot(envs) == before
    envs.reset(options={"reset_mask": over})
    envs.step(pick(envs.action_masks(), rng))


# -- opponents ---------------------------------------------------------------------------------------


def test_others_may_play_from_now_on() -> None:
    envs, other = envs_of(num_players=3), envs_of(num_players=3, opponents="greedy")
    for each in (envs, other):
        each.reset(seed=1)
    envs.set_opponents("greedy")
    assert frozen(envs.reset(seed=2)) == frozen(other.reset(seed=2))
    assert course(envs, steps=40) == course(other, steps=40)
    envs.set_opponents([Watcher("random"), make_agent("greedy")])
    other.set_opponents("random,greedy")
    assert course(envs, steps=40) == course(other, steps=40)


@pytest.mark.parametrize(
    "opponents", ["gredy", "random,random,random", None, [], [3], ["gredy"], [make_agent("random")] * 3]
)
def test_wrong_opponents_are_refused_and_nothing_changes(opponents: Any) -> None:
    envs = envs_of(num_players=3)
    envs.reset(seed=1)
    before = snapshot(envs)
    with pytest.raises(AgentError):
        envs.set_opponents(opponents)
    assert snapshot(envs) == before


class Failing(Agent):
    """Plays at random, but fails when it is told to."""

    def __init__(self) -> None:
        self.agent = make_agent("random")
        self.fails = False

    def act(self, batch: Any, games: Any, streams: Any) -> Any:
        if self.fails:
            raise RuntimeError("no idea")
        return self.agent.act(batch, games, streams)


@modes
def test_a_step_in_which_an_opponent_fails_did_not_happen(mode: AutoresetMode) -> None:
    agent = Failing()
    options: dict[str, Any] = {"autoreset_mode": mode, "reward": "points"}
    envs, expected = envs_of(4, opponents=[agent], **options), envs_of(4, **options)
    envs.reset(seed=1)
    expected.reset(seed=1)
    failures = 0
    rng, other = np.random.default_rng(1), np.random.default_rng(1)
    for _ in range(150):
        agent.fails = False
        if mode == AutoresetMode.DISABLED and envs._over.any():
            for each in (envs, expected):
                each.reset(options={"reset_mask": each._over.copy()})
        actions = pick(envs.action_masks(), rng)
        agent.fails = True
        before = snapshot(envs), envs.action_masks().tobytes()
        try:
            step = envs.step(actions)
        except RuntimeError:
            failures += 1
            assert (snapshot(envs), envs.action_masks().tobytes()) == before
            agent.fails = False
            step = envs.step(actions)
        assert frozen(step) == frozen(expected.step(pick(expected.action_masks(), other)))
    assert failures > 20


def test_agents_are_told_apart_by_identity() -> None:
    """Those that cannot be hashed, like most data classes, too."""

    @dataclass
    class First(Agent):
        last: bool = False

        def act(self, batch: Any, games: Any, streams: Any) -> Any:
            masks = batch.masks[games]
            return 72 - masks[:, ::-1].argmax(axis=1) if self.last else masks.argmax(axis=1)

    envs = envs_of(3, num_players=3, opponents=[First(), First(last=True)])
    envs.reset(seed=1)
    course(envs, steps=40)


def test_an_opponents_error_in_a_reset_changes_nothing() -> None:
    agent = Failing()
    envs, expected = envs_of(4, opponents=[agent]), envs_of(4)
    for each in (envs, expected):
        each.reset(seed=1)
    agent.fails = True
    with pytest.raises(RuntimeError, match="no idea"):
        envs.reset(seed=3)
    agent.fails = False
    assert course(envs, steps=30) == course(expected, steps=30)


# -- copies ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "uint8"])
@pytest.mark.parametrize("copied", COPIES)
@modes
def test_a_copy_goes_on_with_the_games(
    copied: Callable[[Any], Any], mode: AutoresetMode, dtype: Any
) -> None:
    """And nothing is compiled anew for it."""
    agents = [Watcher(), make_agent("greedy"), make_agent("random")]
    envs = envs_of(num_players=4, opponents=agents, autoreset_mode=mode, dtype=dtype, reward="points")
    before_reset = copied(envs)
    envs.reset(seed=2)
    list(play(envs, np.random.default_rng(1), 70))
    before = count_signatures()
    twin = copied(envs)
    rest = course(envs)
    assert course(twin) == rest
    assert frozen(twin.reset()) == frozen(envs.reset())
    assert frozen(before_reset.reset(seed=5)) == frozen(envs.reset(seed=5))
    assert count_signatures() == before


# -- what the learner cannot know --------------------------------------------------------------------


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)
def test_what_is_hidden_changes_nothing_that_is_given(ruleset: str, players: int, view: Any) -> None:
    """Also not by actions that uncover nothing: to stop taking."""
    rng, numbers = random.Random(1), np.random.default_rng(1)
    envs = envs_of(6, num_players=players, ruleset=ruleset, view=view)
    envs.reset(seed=1)
    compared = 0
    for _ in range(16):
        list(play(envs, numbers, 4))
        twin = copy.deepcopy(envs)
        states, seats = twin.table.batch.states, twin.table.seats
        before = states.copy()
        for i in range(6):
            game = twin.game(i)
            for change in HIDDEN_CHANGES:
                change(game, int(seats[i]), rng)
            ask_again(game)
            states[i] = game.state
        write_anew(envs.table)
        write_anew(twin.table)
        changed = np.array([states[i].tobytes() != before[i].tobytes() for i in range(6)])
        # Where the learner cannot pass, the episode ends by an illegal action.
        passes = envs.action_masks()[:, 4] & (before["active"] == seats)
        actions = np.where(passes, 4, -1)
        given, other = envs.step(actions), twin.step(actions)
        after = envs.table.batch.states
        quiet = (after["player"] == seats) & (after["turns"] == before["turns"])
        compared += int((passes & quiet & changed).sum())
        for which in (passes & quiet, ~passes):
            assert frozen(given[0][which]) == frozen(other[0][which])
            assert [frozen(x[which]) for x in given[1:4]] == [frozen(x[which]) for x in other[1:4]]
            for key in ("action_mask", "seat"):
                assert frozen(given[4][key][which]) == frozen(other[4][key][which])
        envs.reset()
    assert compared > 5
