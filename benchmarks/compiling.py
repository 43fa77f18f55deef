"""How long it takes to compile what is commonly used, where nothing has been compiled before.

python benchmarks/compiling.py [--repeats 3]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any


def games() -> None:
    """What a `Game` can do."""
    from gardienii_env import Game

    game = Game.new(2, seed=1)
    game.apply(game.legal_actions()[0])
    for view in ("table", "recall"):
        game.observe(0, view)
    game.resample(0, seed=1)
    game.points(), game.winners(), game.payoffs()


def pettingzoo() -> None:
    """The AEC environment."""
    from gardienii_env import gardienii_v0

    env = gardienii_v0.env()
    env.reset(seed=1)
    observation: Any = env.last()[0]
    env.step(int(observation["action_mask"].argmax()))


def single_agent() -> None:
    """The Gymnasium environment, against `greedy`."""
    import gymnasium

    env = gymnasium.make("gardienii_env:Gardienii-v0", opponents="greedy")
    _, info = env.reset(seed=1)
    env.step(int(info["action_mask"].argmax()))


def vectors() -> None:
    """The vector environment, each type of observations, one thread and two."""
    import gymnasium

    for options in ({}, {"dtype": "uint8"}, {"num_threads": 2}):
        env = gymnasium.make_vec(
            "gardienii_env:Gardienii-v0",
            num_envs=4,
            vectorization_mode="vector_entry_point",
            opponents="random",
            **options,
        )
        _, infos = env.reset(seed=1)
        env.step(infos["action_mask"].argmax(1))


def batches() -> None:
    """The batch, with and without observations of each type."""
    from gardienii_env.envs.batch import GardieniiBatch

    for batch in (
        GardieniiBatch(4, seed=1, view=None),
        GardieniiBatch(4, seed=1),
        GardieniiBatch(4, seed=1, dtype="uint8", num_threads=2),
    ):
        batch.reset()
        batch.step(batch.random_actions())
        batch.play_random(10)


def arena() -> None:
    """A match of two compiled agents."""
    from gardienii_env.agents import make_agent
    from gardienii_env.arena import duplicate_match

    duplicate_match([make_agent("random"), make_agent("greedy")], "gardienii", 3, 0)


STAGES: tuple[Callable[[], None], ...] = (games, pettingzoo, single_agent, vectors, batches, arena)


def run_stages() -> None:
    """Use one thing after the other, and print the seconds that each took."""
    for stage in STAGES:
        start = perf_counter()
        stage()
        print(f"{perf_counter() - start:.2f}", flush=True)


def main() -> None:
    """Read the options, and measure in new processes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--stages", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.stages:
        run_stages()
        return
    runs = []
    for _ in range(options.repeats):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, __file__, "--stages"],
                env={**os.environ, "NUMBA_CACHE_DIR": folder},
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
        runs.append([float(seconds) for seconds in done.stdout.split()])
    for stage, times in zip(STAGES, zip(*runs, strict=True), strict=True):
        print(f"{median(times):6.1f} s  {(stage.__doc__ or '').rstrip('.')}")
    print(f"{median(map(sum, runs)):6.1f} s  altogether")


if __name__ == "__main__":
    main()
