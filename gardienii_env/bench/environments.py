"""The loops over the environments, ready to be timed: all that happens only once has happened."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from pettingzoo import AECEnv

from gardienii_env import gardienii_v0
from gardienii_env.bench.figures import BYTES, DECISIONS, Figure, Speed, samples_of, timed
from gardienii_env.bench.machine import peak_memory, reset_peak_memory
from gardienii_env.envs.aec import Observation
from gardienii_env.envs.batch import GardieniiBatch
from gardienii_env.envs.register import GYMNASIUM_ID
from gardienii_env.observation import Observations, ObservationType, View
from gardienii_env.rules.engine import Masks

__all__ = ["aec", "make_batch", "many", "playing_random", "random_legal", "single", "stepping", "vector"]

SEED = 0
CALL_DECISIONS = 65_536  # about as many in one call of `play_random`


def aec(name: str, players: int) -> Speed:
    """Whole games through `gardienii_v0.env` or `raw_env`; choosing and resets are counted too."""
    env: AECEnv[str, Observation, int | None] = getattr(gardienii_v0, name)(num_players=players)
    env.reset(seed=SEED)
    rng = random.Random(SEED)

    def play() -> int:
        env.reset()
        decisions = 0
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            assert observation is not None
            env.step(_draw(observation["action_mask"], rng))
            decisions += 1
        return decisions

    play()
    return timed(play)


def single(opponents: str, players: int) -> Speed:
    """Whole episodes of a learner; choosing and resets are counted too."""
    env: gym.Env[Observations, int] = gym.make(GYMNASIUM_ID, opponents=opponents, num_players=players)
    env.reset(seed=SEED)
    rng = random.Random(SEED)

    def play() -> int:
        _, info = env.reset()
        decisions = 0
        over = False
        while not over:
            _, _, terminated, truncated, info = env.step(_draw(info["action_mask"], rng))
            over = terminated or truncated
            decisions += 1
        return decisions

    play()
    return timed(play)


def _draw(mask: npt.NDArray[np.int8], rng: random.Random) -> int:
    """A random legal action."""
    legal = np.flatnonzero(mask)
    return int(legal[int(rng.random() * legal.size)])


def make_batch(
    players: int,
    games: int,
    threads: int,
    view: View | None = None,
    dtype: ObservationType = "float32",
) -> GardieniiBatch:
    """A batch whose games have begun."""
    batch = GardieniiBatch(
        games, num_players=players, view=view, dtype=dtype, num_threads=threads, seed=SEED
    )
    batch.reset()
    return batch


def playing_random(batch: GardieniiBatch) -> Speed:
    """The batch plays by itself, many steps a call."""
    steps = max(1, CALL_DECISIONS // batch.num_envs)

    def play() -> int:
        batch.play_random(steps)
        return steps * batch.num_envs

    play()
    return timed(play)


def stepping(batch: GardieniiBatch) -> Speed:
    """Two calls from Python a step: random actions, and the step."""

    def play() -> int:
        batch.step(batch.random_actions())
        return batch.num_envs

    play()
    return timed(play)


def many(what: str, seconds: float, repeats: int, setup: Mapping[str, Any]) -> list[Figure]:
    """The speed of a large batch, and its memory.

    The process's peak is of all that it holds, libraries included, while the batch is made and plays;
    where the system cannot count from then on, it is the peak since the process began, and says so.
    """
    playing_random(make_batch(**{**setup, "games": 2}))  # compiles, which takes memory too
    since = "" if reset_peak_memory() else " since its start"
    batch = make_batch(**setup)
    figures = [Figure(what, DECISIONS, samples_of(playing_random(batch), seconds, repeats), setup)]
    memory = {
        "memory: states": batch.states.nbytes,
        "memory: masks": batch.masks.nbytes,
        "memory: observations": batch.observations.nbytes,
        f"memory: process peak{since}": peak_memory(),
    }
    return figures + [
        Figure(name, BYTES, (size,), setup) for name, size in memory.items() if size is not None
    ]


def vector(
    players: int, games: int, threads: int, view: View, dtype: ObservationType, opponents: str
) -> Speed:
    """Learners' decisions through `make_vec`; only `step` is timed, choosing is not.

    A game that has ended is reset by the next step, in which its learner decides nothing.
    """
    envs: Any = gym.make_vec(
        GYMNASIUM_ID,
        num_envs=games,
        vectorization_mode="vector_entry_point",
        opponents=opponents,
        num_players=players,
        view=view,
        dtype=dtype,
        num_threads=threads,
    )
    rng = np.random.default_rng(SEED)
    _, infos = envs.reset(seed=SEED)
    over = np.zeros(games, np.bool_)

    def step() -> tuple[int, float]:
        """One step; the decisions made in it, and the seconds."""
        nonlocal infos, over
        decisions = games - int(over.sum())
        actions = random_legal(infos["action_mask"], rng)
        start = time.perf_counter()
        _, _, terminations, truncations, infos = envs.step(actions)
        elapsed = time.perf_counter() - start
        over = terminations | truncations
        return decisions, elapsed

    def speed(seconds: float) -> float:
        decisions, elapsed = 0, 0.0
        while elapsed < seconds or decisions == 0:
            more, longer = step()
            decisions += more
            elapsed += longer
        return decisions / elapsed

    while not over.any():  # what happens at an end needs machine code too
        step()
    step()
    return speed


def random_legal(masks: Masks, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """A random legal action for each row of masks, shape (k, actions)."""
    drawn = rng.random(masks.shape, np.float32)
    drawn[masks == 0] = -1
    actions: npt.NDArray[np.int64] = drawn.argmax(axis=1)
    return actions
