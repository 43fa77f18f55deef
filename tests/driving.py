"""The batched environments driven as if they were single ones, so that the same tests run against them.

What a test does goes to one game of a batch of several; the others play at random meanwhile. With
every call a single environment is played along, and what the batch gives must be what that one gives.
"""

from __future__ import annotations

import copy
import pickle
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode
from numba.core.dispatcher import Dispatcher
from pettingzoo import AECEnv
from watching import Watcher

from gardienii_env import Game
from gardienii_env.envs.aec import GardieniiEnv, Observation
from gardienii_env.envs.batch import GardieniiBatch
from gardienii_env.envs.learner import LearnerTable
from gardienii_env.envs.sb3 import GardieniiVecEnv
from gardienii_env.envs.single import GardieniiSingleEnv
from gardienii_env.envs.vector import GardieniiVectorEnv

__all__ = [
    "COPIES",
    "IN_THREADS",
    "SINGLE",
    "VECTOR_ENVS",
    "WAYS",
    "BatchAsAEC",
    "count_signatures",
    "pick",
    "pickled",
    "put_state",
    "seat_of",
    "takes_anything",
    "write_anew",
]

GAMES = 3
Given = tuple[Any, dict[str, Any]]
Step = tuple[Any, float, bool, bool, dict[str, Any]]


def pick(masks: npt.ArrayLike, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """A random legal action for each row of masks; 0 where nothing is legal."""
    rows = np.asarray(masks)
    chosen: npt.NDArray[np.int64] = (rng.random(rows.shape) * (rows != 0)).argmax(axis=1)
    return chosen


def pickled(thing: Any) -> Any:
    """A copy by way of a pickle."""
    return pickle.loads(pickle.dumps(thing))


def pickled_apart(thing: Any) -> Any:
    """The same with arrays beside the pickle, in memory that cannot be written to."""
    data, buffers = _apart(thing)
    return pickle.loads(data, buffers=[bytes(buffer) for buffer in buffers])


def pickled_in_place(thing: Any) -> Any:
    """The same in the memory of the original: the copy has to take its own."""
    data, buffers = _apart(thing)
    return pickle.loads(data, buffers=buffers)


def _apart(thing: Any) -> tuple[bytes, list[pickle.PickleBuffer]]:
    buffers: list[pickle.PickleBuffer] = []
    return pickle.dumps(thing, protocol=5, buffer_callback=buffers.append), buffers


COPIES = [copy.deepcopy, pickled, pickled_apart, pickled_in_place]


def count_signatures() -> int:
    """How many versions of the package's functions have been compiled or loaded."""
    modules = [module for name, module in sys.modules.items() if name.startswith("gardienii_env.")]
    functions = {
        id(value): value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, Dispatcher)
    }
    return sum(len(function.signatures) for function in functions.values())


class OneOfMany:
    """What the ways to drive one game of a batch have in common.

    Without a seed the first episode is that of seed 12345.
    """

    place: int
    at_once: bool
    """Whether a game that ends is dealt anew in the same step."""

    def __init__(self, options: dict[str, Any]) -> None:
        opponents = options.get("opponents")
        self.watchers = [one for one in opponents or () if isinstance(one, Watcher)]
        for watcher in self.watchers:
            watcher.follow(self.place)
        self.along = GardieniiSingleEnv(**copy.deepcopy(options))
        self.rng = np.random.default_rng(1)
        self.begun = self.over = False
        self.info: dict[str, Any] = {}
        self.next: Given | None = None

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> Given:
        """See `GardieniiSingleEnv.reset`."""
        if seed is None and not self.begun:
            seed = 12345
        goes_on = seed is None and not (options or {}).get("deal") and self.over
        for watcher in self.watchers:
            watcher.begin(anew=not (goes_on and self.at_once))
        if goes_on and self.at_once:
            assert self.next is not None
            given = self.next
        else:
            given = self._go_on() if goes_on else self._begin(seed, options or {})
        self.begun, self.over, self.next = True, False, None
        expected = self.along.reset(seed=seed, options=options)
        assert_same(given, expected)
        self.info = copy.deepcopy(given[1])
        return given

    def step(self, action: Any) -> Step:
        """See `GardieniiSingleEnv.step`."""
        given = self._step(action)
        self.over = given[2] or given[3]
        expected = self.along.step(action)
        assert_same(given, expected)
        self.info = copy.deepcopy(given[4])
        return given[0], expected[1], *given[2:]

    def action_masks(self) -> Any:
        """See `GardieniiSingleEnv.action_masks`."""
        mask = self.info["action_mask"] == 1 if self.begun else np.ones(73, np.bool_)
        if self.over and self.at_once:
            return mask  # those of the batch belong to the next game
        own = self._masks()[self.place]
        assert np.array_equal(own, mask)
        return own

    def unfinished(self) -> npt.NDArray[np.int64]:
        """Actions for all games; that of the game driven is to be filled in."""
        return pick(self._masks(), self.rng)

    @property
    def game(self) -> Game:
        """See `GardieniiSingleEnv.game`; of a finished game that is gone, the one played along."""
        if self.over and self.at_once:
            return self.along.game
        return Game.of(self.table.batch, self.place)

    @property
    def table(self) -> Any:
        """The batch's `LearnerTable`."""
        return self.env.table

    env: Any

    def _begin(self, seed: Any, options: dict[str, Any]) -> Given:
        raise NotImplementedError

    def _go_on(self) -> Given:
        raise NotImplementedError

    def _step(self, action: Any) -> Step:
        raise NotImplementedError

    def _masks(self) -> Any:
        return self.env.action_masks()


class OneOfVector(OneOfMany):
    """One game of a `GardieniiVectorEnv`."""

    place = 1

    def __init__(self, mode: AutoresetMode, num_threads: int, **options: Any) -> None:
        self.at_once = mode == AutoresetMode.SAME_STEP
        self.disabled = mode == AutoresetMode.DISABLED
        super().__init__(options)
        self.env = GardieniiVectorEnv(GAMES, autoreset_mode=mode, num_threads=num_threads, **options)
        self.observation_space = self.env.single_observation_space
        self.action_space = self.env.single_action_space
        self.ended = np.zeros(GAMES, np.bool_)

    def _begin(self, seed: Any, options: dict[str, Any]) -> Given:
        which = np.arange(GAMES) == self.place
        seeds: list[Any] = [None] * GAMES if self.begun else [71, 72, 73]
        seeds[self.place] = seed
        if self.begun:
            options = {**options, "reset_mask": which}
        observations, infos = self.env.reset(seed=seeds, options=options)
        self.ended = self.ended & ~which
        return observations[self.place], info_of(infos, self.place)

    def _go_on(self) -> Given:
        if self.disabled:
            return self._begin(None, {})
        observation, reward, terminated, truncated, info = self._step(72)
        assert (reward, terminated, truncated) == (0, False, False)
        return observation, info

    def _step(self, action: Any) -> Step:
        if self.disabled and self.ended.any():
            self.env.reset(options={"reset_mask": self.ended})
        actions = self.unfinished()
        actions[self.place] = action
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        self.ended = terminated | truncated
        i = self.place
        observation, info = observations[i], info_of(infos, i)
        if self.at_once and self.ended[i]:
            self.next = observation, info
            observation, info = infos["final_obs"][i], info_of(infos["final_info"], i)
        return observation, float(rewards[i]), bool(terminated[i]), bool(truncated[i]), info

    def render(self) -> Any:
        """See `GardieniiSingleEnv.render`."""
        return self.env.render()[self.place]


class OneOfVecEnv(OneOfMany):
    """One game of a `GardieniiVecEnv`: the first, which has the seed that is given."""

    place = 0
    at_once = True

    def __init__(self, num_threads: int, **options: Any) -> None:
        super().__init__(options)
        self.env = GardieniiVecEnv(GAMES, num_threads=num_threads, **options)
        self.observation_space = self.env.observation_space
        self.action_space = self.env.action_space

    def _begin(self, seed: Any, options: dict[str, Any]) -> Given:
        if seed is not None:
            self.env.seed(seed)
        self.env.set_options(options)
        return self.env.reset()[self.place], self._info()

    def _step(self, action: Any) -> Step:
        actions = self.unfinished()
        actions[self.place] = action
        self.env.step_async(actions)
        observations, rewards, dones, infos = self.env.step_wait()
        observation, info = observations[self.place], infos[self.place]
        truncated = False
        if dones[self.place]:
            self.next = observation, self._info()
            observation, truncated = info.pop("terminal_observation"), info.pop("TimeLimit.truncated")
            del info["episode"]
            info["action_mask"] = np.ones(73, np.int8)
        else:
            info = {**info, **self._info()}
        ended = bool(dones[self.place])
        return observation, float(rewards[self.place]), ended and not truncated, truncated, info

    def _info(self) -> dict[str, Any]:
        mask = self.env.env_method("action_masks", indices=self.place)[0]
        return {"action_mask": mask.astype(np.int8), **self.env.reset_infos[self.place]}


def info_of(infos: dict[str, Any], i: int) -> dict[str, Any]:
    """What Gymnasium's infos of many games tell of game i."""
    told: dict[str, Any] = {}
    for key, values in infos.items():
        if key.startswith(("_", "final_")) or not infos[f"_{key}"][i]:
            continue
        if isinstance(values, dict):
            told[key] = info_of(values, i)
        else:
            told[key] = values[i] if values.ndim > 1 or values.dtype == object else values[i].item()
    return told


def assert_same(given: tuple[Any, ...], expected: tuple[Any, ...]) -> None:
    """What a reset or a step gave is what it should; SB3's rewards are only float32."""
    observation, *numbers, info = given
    expected_observation, *expected_numbers, expected_info = expected
    assert observation.dtype == expected_observation.dtype
    assert observation.tobytes() == expected_observation.tobytes()
    assert np.array_equal(np.array(numbers, np.float32), np.array(expected_numbers, np.float32))
    assert info.keys() == expected_info.keys()
    for key, value in info.items():
        assert np.array_equal(value, expected_info[key]), key
        assert type(value) is type(expected_info[key]), key


SINGLE: dict[str, Callable[..., Any]] = {"single": GardieniiSingleEnv}
VECTOR_ENVS: dict[str, Callable[..., Any]] = {
    mode.value: partial(OneOfVector, mode, 1) for mode in AutoresetMode
}
WAYS: dict[str, Callable[..., Any]] = {**SINGLE, **VECTOR_ENVS, "SB3": partial(OneOfVecEnv, 1)}
"""How an environment for one learner is made: the class, or one game of a batch."""

IN_THREADS: dict[str, Callable[..., Any]] = {
    **{mode.value: partial(OneOfVector, mode, 2) for mode in AutoresetMode},
    "SB3": partial(OneOfVecEnv, 2),
}
"""The batches with two threads, which take long on a busy machine."""


def takes_anything(env: Any) -> bool:
    """Whether an action may be any object; a batch takes whole numbers only."""
    return not isinstance(env, OneOfMany)


def seat_of(env: Any) -> int:
    """The learner's seat in the episode."""
    if isinstance(env, OneOfMany):
        return int(env.info["seat"])
    return int(env.table.seats[0])


def write_anew(table: LearnerTable) -> None:
    """Let the next step write whole observations: states were changed by something else than actions."""
    table._seen.shown["standing"] = -1


def put_state(env: Any, state: np.void) -> None:
    """Put another state in the place of the learner's game."""
    place = getattr(env, "place", 0)
    env.table.batch.states[place] = state
    write_anew(env.table)
    if isinstance(env, OneOfMany):
        put_state(env.along, state)


class BatchAsAEC(AECEnv[str, Observation, "int | None"]):
    """One game of a `GardieniiBatch` as a PettingZoo environment.

    The deciding seat gets what the batch gives; what others see is taken from its state.
    """

    place = 1
    metadata = GardieniiEnv.metadata

    def __init__(
        self,
        num_players: int = 2,
        ruleset: Any = "gardienii",
        view: Any = "table",
        reward: Any = "payoff",
        autoreset: bool = False,
        num_threads: int = 1,
        render_mode: str | None = None,
    ) -> None:
        self.batch = GardieniiBatch(
            GAMES, num_players, ruleset, view, reward, autoreset=autoreset, num_threads=num_threads
        )
        model = GardieniiEnv(num_players, ruleset, view, reward)
        self.possible_agents = model.possible_agents
        self.observation_spaces, self.action_spaces = (
            {agent: space(agent) for agent in self.possible_agents}
            for space in (model.observation_space, model.action_space)
        )
        self.render_mode = render_mode
        self.view = view
        self.rng = np.random.default_rng(2)
        self.ended: Game | None = None
        self.begun = False

    def observation_space(self, agent: str) -> Any:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        return self.action_spaces[agent]

    @property
    def game(self) -> Game:
        """The game; with autoreset, when it is over, a copy to which its last action was done."""
        return self.ended or Game.of(self.batch.batch, self.place)

    @game.setter
    def game(self, game: Game) -> None:
        self.batch.states[self.place] = game.state
        self.batch.refresh([self.place])

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        seeds = [81, seed, 83]
        if not self.begun:
            self.batch.reset(seeds)
        elif seed is not None:
            self.batch.reset(seeds, [self.place])
        elif not (self.batch.autoreset and self.ended):
            self.batch.reset(games=[self.place])
        self.begun, self.ended = True, None
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[self.batch.players[self.place]]

    def observe(self, agent: str) -> Observation:
        seat, i = self.possible_agents.index(agent), self.place
        mask = np.zeros(73, np.int8)
        if self.ended is None and seat == self.batch.players[i]:
            mask = self.batch.masks[i].copy()
            return {"observation": self.batch.observations[i].copy(), "action_mask": mask}
        return {"observation": self.game.observe(seat, self.view), "action_mask": mask}

    def step(self, action: int | None) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        batch, i = self.batch, self.place
        before = Game.of(batch.batch, i)
        actions = pick(batch.masks, self.rng)
        actions[i] = -1 if action is None else action
        batch.step(actions)
        self._cumulative_rewards[agent] = 0.0
        self.rewards = {a: float(r) for a, r in zip(self.agents, batch.rewards[i], strict=True)}
        self.terminations = dict.fromkeys(self.agents, bool(batch.terminated[i]))
        self.truncations = dict.fromkeys(self.agents, bool(batch.truncated[i]))
        if batch.terminated[i] or batch.truncated[i]:
            before.apply(actions[i])
            self.ended = before if batch.autoreset else Game.of(batch.batch, i)
            assert self.ended.state.tobytes() == before.state.tobytes()
            self.agent_selection = self.agents[0]
        else:
            self.agent_selection = self.agents[batch.players[i]]
        self._accumulate_rewards()
