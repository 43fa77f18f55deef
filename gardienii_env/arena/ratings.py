"""Ratings of the agents of a tournament, by openskill's model of Plackett and Luce.

Every game is a free-for-all, in which agents are ranked by their share of the win and then by points.
A rating depends a little on the order of the games: they are rated in an order drawn from the seed.
Source: V. Joshy, "OpenSkill: a faster asymmetric multi-team, multiplayer rating system", JOSS 9, 2024.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gardienii_env.arena.results import Z_95, MatchResult, Rating
from gardienii_env.errors import MissingExtraError
from gardienii_env.rules.random import seed_streams

__all__ = ["check_installed", "ranks", "rate"]


def check_installed() -> None:
    """MissingExtraError if openskill is not there."""
    try:
        import openskill.models  # noqa: F401
    except ImportError:
        raise MissingExtraError("A tournament's ratings", "arena") from None


def rate(
    agents: Sequence[str], tables: Sequence[tuple[tuple[int, ...], MatchResult]], seed: int
) -> tuple[Rating, ...]:
    """The rating of each agent, with its 95 % interval, from the tables' games.

    All begin at 25 with a standard deviation of 8.33. `agents` and `tables` are as in
    `TournamentResult`; MissingExtraError if openskill is not installed.
    """
    check_installed()
    from openskill.models import PlackettLuce

    model = PlackettLuce()
    known = [model.rating(name=name) for name in agents]
    games = [
        (seats, row)
        for seats, result in tables
        for row in ranks(result).reshape(-1, result.num_players).tolist()
    ]
    for g in np.random.default_rng(seed_streams(seed, 2)[1:]).permutation(len(games)):
        seats, row = games[g]
        rated = model.rate([[known[agent]] for agent in seats], ranks=row)
        for agent, (rating,) in zip(seats, rated, strict=True):
            known[agent] = rating
    return tuple(
        Rating(name, r.mu, r.mu - Z_95 * r.sigma, r.mu + Z_95 * r.sigma)
        for name, r in zip(agents, known, strict=True)
    )


def ranks(result: MatchResult) -> npt.NDArray[np.int64]:
    """How many agents were ahead of each in each game, shape (deals, rotations, agents), int64."""
    shares, scores = result.shares, result.scores
    more = shares[..., np.newaxis, :] > shares[..., np.newaxis]
    level = shares[..., np.newaxis, :] == shares[..., np.newaxis]
    ahead = more | (level & (scores[..., np.newaxis, :] > scores[..., np.newaxis]))
    counts: npt.NDArray[np.int64] = ahead.sum(axis=-1, dtype=np.int64)
    return counts
