"""How much of a training run the environment takes: MaskablePPO on it, and on one that does nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gardienii_env.bench.environments import random_legal
from gardienii_env.bench.figures import DECISIONS, RATIO, SHARE, Figure
from gardienii_env.envs.features import Features, policy_of
from gardienii_env.envs.outcome import Reward
from gardienii_env.envs.sb3 import GardieniiVecEnv
from gardienii_env.errors import MissingExtraError
from gardienii_env.observation import Observations, View

try:
    import torch
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.vec_env import VecEnv
    from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn
except ImportError as error:
    raise MissingExtraError("gardienii_env.bench.training", "sb3") from error

__all__ = ["QUICK_START", "TrainingSettings", "make_model", "record", "training"]

ACTIVATIONS = {"relu": torch.nn.ReLU}


@dataclass(frozen=True)
class TrainingSettings:
    """Those of `configs/quickstart.yaml`, which an installed package does not have; see there.

    `learning_rate` falls there, which changes nothing about speed.
    """

    seed: int = 0
    threads: int = 2  # of torch
    num_players: int = 2
    ruleset: str = "gardienii"
    view: View = "table"
    reward: Reward = "margin"
    opponents: str = "greedy"
    num_envs: int = 256
    hidden: tuple[int, ...] = (256, 256)
    activation: str = "relu"
    features: Features = "cards"
    n_steps: int = 64
    batch_size: int = 2048
    n_epochs: int = 4
    learning_rate: float = 3e-4
    ent_coef: float = 0.002
    vf_coef: float = 0.5
    gamma: float = 1.0
    gae_lambda: float = 0.95
    clip_range: float = 0.2
    max_grad_norm: float = 0.5

    @property
    def rollout(self) -> int:
        """Decisions that are learned from at a time."""
        return self.num_envs * self.n_steps


QUICK_START = TrainingSettings()


def training(settings: TrainingSettings, repeats: int) -> list[Figure]:
    """Rollouts with learning, one a repeat, on the game and on an idle environment, which take turns.

    The share is of the wall time of rollout and learning: what was spent inside the environment's
    methods `reset`, `step_async`, `step_wait` and those that give the masks. A rollout of each goes
    before and is not counted. The policies begin untrained.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(settings.threads)
    try:
        game = _Run(settings, _ClockedGame(*_game_arguments(settings)))
        idle = _Run(settings, _ClockedIdle(record(settings)))
        laps = [_round(game, idle, game_first=k % 2 == 0) for k in range(1 + repeats)][1:]
    finally:
        torch.set_num_threads(before)
    setup = {
        "players": settings.num_players,
        "games": settings.num_envs,
        "threads": settings.threads,
        "view": settings.view,
        "dtype": "float32",
        "opponents": settings.opponents,
    }
    samples = {
        ("MaskablePPO", DECISIONS): [settings.rollout / ours.seconds for ours, _ in laps],
        ("MaskablePPO, idle environment", DECISIONS): [
            settings.rollout / other.seconds for _, other in laps
        ],
        ("time inside the environment", SHARE): [ours.inside / ours.seconds for ours, _ in laps],
        ("speed beside the idle one", RATIO): [other.seconds / ours.seconds for ours, other in laps],
    }
    return [Figure(what, unit, tuple(values), setup) for (what, unit), values in samples.items()]


def _round(game: _Run, idle: _Run, game_first: bool) -> tuple[Lap, Lap]:
    """A rollout of each; the lap of the game stands first."""
    if game_first:
        return game.learn_once(), idle.learn_once()
    other = idle.learn_once()
    return game.learn_once(), other


def make_model(settings: TrainingSettings, env: VecEnv) -> MaskablePPO:
    """A fresh MaskablePPO on an environment."""
    policy, features = policy_of(settings.features, settings.num_players, settings.view)
    return MaskablePPO(
        policy,
        env,
        learning_rate=settings.learning_rate,
        n_steps=settings.n_steps,
        batch_size=settings.batch_size,
        n_epochs=settings.n_epochs,
        gamma=settings.gamma,
        gae_lambda=settings.gae_lambda,
        clip_range=settings.clip_range,
        ent_coef=settings.ent_coef,
        vf_coef=settings.vf_coef,
        max_grad_norm=settings.max_grad_norm,
        policy_kwargs={
            "net_arch": list(settings.hidden),
            "activation_fn": ACTIVATIONS[settings.activation],
            **features,
        },
        seed=settings.seed,
        device="cpu",
    )


@dataclass(frozen=True)
class Lap:
    """The seconds of one rollout with learning, and those of them inside the environment."""

    seconds: float
    inside: float


class _Run:
    """A model that learns on an environment."""

    def __init__(self, settings: TrainingSettings, env: _Clocked) -> None:
        self.settings, self.env = settings, env
        self.model = make_model(settings, env)

    def learn_once(self) -> Lap:
        """One rollout, and learning from it."""
        self.env.inside = 0.0
        start = time.perf_counter()
        self.model.learn(self.settings.rollout, reset_num_timesteps=False)
        return Lap(time.perf_counter() - start, self.env.inside)


# -- environments that know how long they were at work ---------------------------------------------


class _Clocked(VecEnv):
    """Adds up the seconds spent in the methods of the class beside it.

    None of the methods calls another of them, so nothing is counted twice.
    """

    inside = 0.0

    @contextmanager
    def _clock(self) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.inside += time.perf_counter() - start

    def reset(self) -> Any:
        """As it is, timed."""
        with self._clock():
            return super().reset()  # type: ignore[safe-super]

    def step_async(self, actions: npt.NDArray[np.int64]) -> None:
        """As it is, timed."""
        with self._clock():
            super().step_async(actions)  # type: ignore[safe-super]

    def step_wait(self) -> VecEnvStepReturn:
        """As it is, timed."""
        with self._clock():
            return super().step_wait()  # type: ignore[safe-super]

    def has_attr(self, attr_name: str) -> bool:
        """As it is, timed."""
        with self._clock():
            return super().has_attr(attr_name)

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: VecEnvIndices = None,
        **method_kwargs: Any,
    ) -> list[Any]:
        """As it is, timed: sb3-contrib asks for the masks by it."""
        with self._clock():
            result: list[Any] = super().env_method(  # type: ignore[safe-super]
                method_name, *method_args, indices=indices, **method_kwargs
            )
        return result


class _ClockedGame(_Clocked, GardieniiVecEnv):
    """The game."""


def _game_arguments(settings: TrainingSettings) -> tuple[Any, ...]:
    s, seat, dtype = settings, None, "float32"
    games = s.num_envs, s.opponents, s.num_players, s.ruleset, s.view, s.reward, seat, s.seed
    return *games, dtype, s.threads


# -- an environment that does nothing --------------------------------------------------------------


@dataclass(frozen=True)
class Record:
    """Steps of real games, played at random: what each gave, and the spaces."""

    spaces: tuple[Any, Any]
    observations: list[Observations]
    masks: list[npt.NDArray[np.bool_]]
    rewards: list[npt.NDArray[np.float32]]
    dones: list[npt.NDArray[np.bool_]]
    infos: list[list[dict[str, Any]]]


def record(settings: TrainingSettings) -> Record:
    """As many steps as a rollout has, once as many episodes have ended as there are games.

    So the games are no longer all at the same stage, and ends come at their usual rate.
    """
    env = GardieniiVecEnv(*_game_arguments(settings))
    rng = np.random.default_rng(settings.seed)
    env.reset()
    ended = 0
    while ended < settings.num_envs:
        ended += int(env.step(random_legal(env.table.batch.masks, rng))[2].sum())
    steps: list[tuple[Any, ...]] = []
    for _ in range(settings.n_steps):
        observations, rewards, dones, infos = env.step(random_legal(env.table.batch.masks, rng))
        steps.append((observations, env.action_masks(), rewards, dones, infos))
    columns = (list(column) for column in zip(*steps, strict=True))
    return Record((env.observation_space, env.action_space), *columns)


class Idle(VecEnv):
    """Gives what was recorded, over and over, whatever is done."""

    def __init__(self, recorded: Record) -> None:
        self.recorded = recorded
        self.render_mode = None
        self._step = 0
        super().__init__(len(recorded.dones[0]), *recorded.spaces)

    def reset(self) -> Observations:
        """Start the record again."""
        self._step = 0
        return self.recorded.observations[0]

    def step_async(self, actions: npt.NDArray[np.int64]) -> None:
        """Ignore the actions."""

    def step_wait(self) -> VecEnvStepReturn:
        """The next step of the record."""
        self._step = (self._step + 1) % len(self.recorded.dones)
        r, k = self.recorded, self._step
        return r.observations[k], r.rewards[k], r.dones[k], r.infos[k]

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: VecEnvIndices = None,
        **method_kwargs: Any,
    ) -> list[Any]:
        """The masks of the record, one for each game."""
        return list(self.recorded.masks[self._step])

    def has_attr(self, attr_name: str) -> bool:
        """It has the masks."""
        return attr_name == "action_masks"

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """SB3 asks for the render mode alone."""
        return [getattr(self, attr_name)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """There is nothing to set."""

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:
        """The same as of the game: the record has the returns of episodes."""
        return [wrapper_class.__name__ == "Monitor"] * self.num_envs

    def close(self) -> None:
        """Nothing to close."""


class _ClockedIdle(_Clocked, Idle):
    """Timed too, so that the clock weighs on both alike."""
