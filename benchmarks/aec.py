"""Decisions per second of the AEC loop: `last()`, a random legal action, `step()`, on one core.

    python benchmarks/aec.py --seconds 2

Every variant plays whole games for the given time, several times over; the table shows the median
and the range. All that a user of the loop pays for is counted: observations, masks, choosing, resets.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from itertools import product
from statistics import median

import numpy as np
from pettingzoo import AECEnv

from gardienii_env import gardienii_v0
from gardienii_env.envs.aec import Observation

PLAYERS = (2, 4)
MAKERS = {"raw_env": gardienii_v0.raw_env, "env": gardienii_v0.env}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all variants and print a table."""
    options = _parser().parse_args(arguments)
    print(f"{'':8} {'players':>7} {'decisions/s':>12} {'from':>9} {'to':>9}")
    for (name, make), players in product(MAKERS.items(), PLAYERS):
        env = make(num_players=players)
        env.reset(seed=options.seed)
        rng = random.Random(options.seed)
        play_game(env, rng)  # compiles
        speeds = [measure(env, rng, options.seconds) for _ in range(options.repeats)]
        numbers = (median(speeds), min(speeds), max(speeds))
        print("{:8} {:7} {:12,.0f} {:9,.0f} {:9,.0f}".format(name, players, *numbers))


def measure(env: AECEnv[str, Observation, int | None], rng: random.Random, seconds: float) -> float:
    """Decisions per second over whole games that last at least so long together."""
    decisions = 0
    start = time.perf_counter()
    while (elapsed := time.perf_counter() - start) < seconds:
        decisions += play_game(env, rng)
    return decisions / elapsed


def play_game(env: AECEnv[str, Observation, int | None], rng: random.Random) -> int:
    """Play the next game at random; the number of decisions."""
    env.reset()
    decisions = 0
    for _ in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
            continue
        assert observation is not None
        legal = np.flatnonzero(observation["action_mask"])
        env.step(legal[int(rng.random() * legal.size)])
        decisions += 1
    return decisions


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2.0, help="time of one measurement (default 2)")
    parser.add_argument(
        "--repeats", type=int, default=5, help="measurements of each variant (default 5)"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of games and choices (default 0)")
    return parser


if __name__ == "__main__":
    main()
