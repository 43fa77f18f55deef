"""RLCard: `env.step` with random legal actions, and the observation that each step makes.

RLCard gives the legal actions as a dict of their ids, not as a mask.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from importlib.metadata import version

from harness import Ready, module, work

GAMES = ("doudizhu", "gin-rummy", "leduc-holdem", "mahjong", "uno")


def prepare(name: str) -> Ready:
    """A game with its default settings."""
    env = module("rlcard").make(name)
    rng = random.Random(0)

    def play() -> int:
        state, _ = env.reset()
        decisions = 0
        while not env.is_over():
            legal = list(state["legal_actions"])
            state, _ = env.step(legal[int(rng.random() * len(legal))])
            decisions += 1
        return decisions

    return Ready(play, version("rlcard"), env.reset()[0]["obs"].size)


CASES: dict[str, Callable[[], Ready]] = {name: partial(prepare, name) for name in GAMES}

if __name__ == "__main__":
    work(CASES, __doc__)
