"""No agent may know what its seat cannot: a choice stays when all that is hidden is drawn anew."""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from helpers import play
from networks import save_network
from rulesets import COMBINATIONS

from gardienii_env import Game
from gardienii_env.agents import AGENTS, Agent, make_agent, new_streams
from gardienii_env.agents.external import FunctionAgent

SOME = {"ismcts": "ismcts:24"}
"""An example of each kind that has an argument; those from files and from code have their own below."""

LAZY = ("planner", "ismcts")
"""Kinds that have a module of their name."""

FROM_OUTSIDE = ("best", "network", "sb3", "python")
REDRAWN = 4

Make = Callable[[str, int], Agent]


def curious(game: Game, rng: np.random.Generator) -> int:
    """A function that makes its choice out of all it can look at, cards in others' hands too."""
    legal = np.flatnonzero(game.legal_mask())
    return int(legal[(crc32(game.state.tobytes()) + rng.integers(1000)) % legal.size])


def makers(tmp_path: Path) -> dict[str, Make]:
    """How to make an agent of each kind for a ruleset and a number of players."""

    def by_name(name: str) -> Make:
        return lambda ruleset, players: make_agent(SOME.get(name, name))

    def network(ruleset: str, players: int) -> Agent:
        return make_agent(f"network:{save_network(tmp_path / 'a.onnx', players, ruleset, 'recall')}")

    def network_with_prior(ruleset: str, players: int) -> Agent:
        path = save_network(tmp_path / "b.onnx", players, ruleset, "recall", "planner")
        return make_agent(f"network:{path}")

    found = {name: by_name(name) for name in AGENTS if name not in FROM_OUTSIDE}
    outside = {"network": network, WITH_PRIOR: network_with_prior}
    return {**found, **outside, "python": lambda ruleset, players: FunctionAgent(curious)}


WITH_PRIOR = "network with a prior"
KINDS = [WITH_PRIOR, *(name for name in AGENTS if name not in ("sb3", "best"))]
"""`test_external.py` does as much for sb3; `best` is a network."""


def choice(agent: Agent, game: Game, seed: int) -> int:
    return int(agent.decide(game.batch, np.zeros(1, np.int64), new_streams(seed, 1))[0])


@pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_what_a_seat_cannot_know_does_not_matter(
    tmp_path: Path, kind: str, ruleset: str, players: int
) -> None:
    if kind in LAZY and find_spec(f"gardienii_env.agents.{kind}") is None:
        pytest.skip(f"gardienii_env.agents.{kind} is not there")
    agent = makers(tmp_path)[kind](ruleset, players)
    asked, differed = 0, 0
    for number, policy in enumerate(("random", "player", "modifier", "hoarder")):
        rng = random.Random(number)
        game = Game.new(players, ruleset, seed=number)
        while not play(game, rng, rng.randrange(3, 17), policy).is_over:
            assert game.player is not None
            expected = choice(agent, game, number)
            for seed in range(REDRAWN):
                other = game.resample(game.player, seed)
                differed += other.state["deck"].tobytes() != game.state["deck"].tobytes()
                assert choice(agent, other, number) == expected
            asked += 1
    assert asked >= 20
    assert differed > REDRAWN * asked / 2
