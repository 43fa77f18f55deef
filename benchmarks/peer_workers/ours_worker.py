"""gardienii-env: batches of games in one compiled call, and the AEC loop.

A batch plays random legal decisions, games re-dealt as they end; the mask, and the observation where one
is asked for, are written into arrays at every decision. The AEC loop is that of the PettingZoo worker.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import version
from itertools import product

from aec_loop import aec_ready
from harness import Ready, module, work

GAMES = 1024
STEPS = 64  # of the batch in one call
KINDS = {  # view and dtype of the observation
    "no_observation": (None, "float32"),
    "table_float32": ("table", "float32"),
    "table_uint8": ("table", "uint8"),
    "recall_float32": ("recall", "float32"),
}
PLAYERS = (2, 4)


def batch(view: str | None, dtype: str, players: int) -> Ready:
    """A batch of games with a view, or without observations."""
    games = module("gardienii_env.envs.batch").GardieniiBatch(
        GAMES, num_players=players, ruleset="gardienii", view=view, dtype=dtype, seed=0, num_threads=1
    )
    games.reset()
    numbers = games.layout.size if games.layout else 0

    def play() -> int:
        games.play_random(STEPS)
        return STEPS * GAMES

    return Ready(play, version("gardienii-env"), numbers, mask=True)


def aec(players: int) -> Ready:
    """The environment of PettingZoo without wrappers."""
    make = module("gardienii_env.gardienii_v0").raw_env
    return aec_ready(make(num_players=players), version("gardienii-env"))


CASES: Mapping[str, Callable[[], Ready]] = {
    f"{name}_{players}p": partial(batch, *kind, players)
    for (name, kind), players in product(KINDS.items(), PLAYERS)
} | {f"aec_{players}p": partial(aec, players) for players in PLAYERS}

if __name__ == "__main__":
    work(CASES, __doc__)
