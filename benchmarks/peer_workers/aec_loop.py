"""The AEC loop, the same for every PettingZoo environment."""

from __future__ import annotations

import random
from typing import Any

from harness import Ready

__all__ = ["aec_ready"]


def aec_ready(env: Any, version: str) -> Ready:
    """Random legal play through `last()` and `step()`: a whole game a call, with its reset.

    Its observations must be dicts of `observation` and `action_mask`.
    """
    rng = random.Random(0)
    env.reset(seed=0)
    seen = env.last()[0]
    return Ready(lambda: play_game(env, rng), version, seen["observation"].size, mask=True)


def play_game(env: Any, rng: random.Random) -> int:
    """Play the next game; the number of decisions."""
    env.reset()
    decisions = 0
    for _ in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
            continue
        legal = observation["action_mask"].nonzero()[0]
        env.step(int(legal[int(rng.random() * legal.size)]))
        decisions += 1
    return decisions
