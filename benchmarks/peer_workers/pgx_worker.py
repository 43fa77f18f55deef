"""pgx: batched games, compiled by XLA into one loop of random legal steps with auto-reset.

The number of games in a batch is, for each game, the one that came out fastest on one core, of several
from 16 to 16,384. Bridge bidding needs a table of solved deals that is not part of the package; here it
gets one of the right form with random deals and random results, which are looked up as fast.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from harness import Ready, kept, module, work
from xla import compiled_ready, random_legal, set_up

GAMES = {  # and how many in a batch
    "kuhn_poker": 16384,
    "leduc_holdem": 2048,
    "sparrow_mahjong": 1024,
    "bridge_bidding": 1024,
    "connect_four": 4096,
    "go_9x9": 16,
}
DEALS = 100_000  # in the table for bridge bidding


def prepare(name: str) -> Ready:
    """A game in batches."""
    jax = set_up()
    games = GAMES[name]
    env = make(name)
    auto_reset = module("pgx.experimental.wrappers").auto_reset
    step_all = jax.vmap(auto_reset(env.step, env.init))

    def first(key: Any) -> Any:
        return jax.vmap(env.init)(jax.random.split(key, games))

    def step(state: Any, key: Any) -> tuple[Any, Any]:
        choosing, dealing = jax.random.split(key)
        actions = random_legal(jax, choosing, state.legal_action_mask)
        state = step_all(state, actions, jax.random.split(dealing, games))
        return state, state.observation

    numbers = 1
    for length in env.observation_shape:
        numbers *= length
    return compiled_ready(step, first, games, version("pgx"), numbers)


def make(name: str) -> Any:
    """The environment."""
    if name != "bridge_bidding":
        return module("pgx").make(name)
    return module("pgx.bridge_bidding").BridgeBidding(str(bridge_table()))


def bridge_table() -> Path:
    """A file of deals and results: two arrays of shape (DEALS, 4), int32.

    A deal has one number for each suit, whose digits to the base of four are the cards' seats.
    """
    numpy = module("numpy")
    file = kept("pgx") / f"deals_{DEALS}.npy"
    if not file.exists():
        rng = random.Random(0)
        seats = [seat for seat in range(4) for _ in range(13)]
        deals = []
        for _ in range(DEALS):
            rng.shuffle(seats)
            deals.append([int("".join(map(str, seats[at : at + 13])), 4) for at in range(0, 52, 13)])
        results = [[rng.randrange(14**5) for _ in range(4)] for _ in range(DEALS)]
        numpy.save(file, numpy.array([deals, results], numpy.int32))
    return file


CASES: dict[str, Callable[[], Ready]] = {name: partial(prepare, name) for name in GAMES}

if __name__ == "__main__":
    work(CASES, __doc__)
