"""What several test modules share: ways to play at random, and what the program gives."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gardienii_env import Game
from gardienii_env.game import RulesetLike
from gardienii_env.record import dumps

ROOT = Path(__file__).parents[1]

POLICIES: dict[str, dict[str, float]] = {
    "random": {},
    "eager": {"pass": 0.02},
    "player": {"play": 30, "pass": 0.5},
    "modifier": {"modify": 20},
    "passer": {"pass": 8},
    "hoarder": {"take": 20, "play": 0.1, "modify": 0.2},
    "stacker": {"take": 0.2, "modify": 50, "play": 0.02},
}
"""Ways to play at random: the weight of each kind of action, 1 where it is not named."""


class Result(NamedTuple):
    """What came of running the program: its exit status, standard output and error."""

    status: object
    out: str
    err: str


Program = Callable[..., Result]
"""Runs the program in this process: the fixture `gardienii`."""


def printed(program: str, **variables: str) -> str:
    """What a program prints in a process of its own, with more variables of the environment."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def choose(legal: Sequence[str], rng: random.Random, policy: Mapping[str, float]) -> str:
    """One of the legal actions, drawn with the weights of a policy."""
    weights = [policy.get(name.partition(":")[0], 1) for name in legal]
    return rng.choices(legal, weights)[0]


def play(game: Game, rng: random.Random, decisions: int | None = None, policy: str = "random") -> Game:
    """Play on in a game, to its end or for a number of decisions; returns the same game."""
    while not game.is_over and decisions != 0:
        game.apply(choose(game.legal_actions(), rng, POLICIES[policy]))
        decisions = None if decisions is None else decisions - 1
    return game


def transcript(ruleset: RulesetLike, players: int, seed: int, decisions: int | None = None) -> str:
    """A game played at random from a seed, with what each seat sees on the way, as one text."""
    game, rng = Game.new(players, ruleset, seed), random.Random(seed)
    lines: list[str] = []
    while not game.is_over and decisions != 0:
        seats = range(players)
        views = [game.observe(seat, "recall").tobytes() for seat in seats]
        views += [game.resample(seat, len(lines)).state.tobytes() for seat in seats]
        digest = hashlib.sha256(b"".join(views)).hexdigest()
        lines.append(f"{game!r} {digest} {game.points()} {game.payoffs()}")
        play(game, rng, 1)
        decisions = None if decisions is None else decisions - 1
    return "\n".join([*lines, dumps(game.to_record(with_legal=True))])
