"""The results of a run as plain data for JSON; `docs/arena.md` tells the keys."""

from __future__ import annotations

import platform
import time
from importlib.metadata import version
from math import isfinite
from typing import Any

import numpy as np

from gardienii_env import __version__
from gardienii_env.arena.results import Estimate, MatchResult, Rating, TournamentResult
from gardienii_env.arena.run import Played
from gardienii_env.arena.specification import TOURNAMENT, Specification
from gardienii_env.rules.state import ENDS

__all__ = ["facts", "now", "report"]

FORMAT, VERSION = "gardienii-report", 1
PACKAGES = ("numpy", "numba")
RATING_PACKAGE = "openskill"


def report(specification: Specification, played: Played) -> dict[str, Any]:
    """All that is known of a run that has been played."""
    result = played.result
    head = {
        "format": FORMAT,
        "version": VERSION,
        "kind": specification.kind,
        "command": specification.command,
        "versions": _versions(specification),
        "times": {
            "started": specification.started,
            "ended": now(),
            "playing_seconds": round(played.seconds, 3),
        },
        "ruleset": specification.ruleset.reference(),
        "seed": specification.seed,
        "players": specification.players,
        "deals": specification.deals,
        "duplicate": specification.duplicate,
        "games": result.num_games,
    }
    return {**head, **(_match(result) if isinstance(result, MatchResult) else _tournament(result))}


def facts(specification: Specification) -> dict[str, str]:
    """What a page tells besides the results, in words."""
    versions = ", ".join(f"{name} {number}" for name, number in _versions(specification).items())
    return {
        "Command": specification.command,
        "Ruleset": specification.ruleset.name,
        "Seed": str(specification.seed),
        "Started": specification.started,
        "Versions": versions,
    }


def now() -> str:
    """The time in UTC, ISO 8601."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _versions(specification: Specification) -> dict[str, str]:
    packages = PACKAGES + ((RATING_PACKAGE,) if specification.kind == TOURNAMENT else ())
    return {
        "gardienii-env": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
    }


def _match(result: MatchResult) -> dict[str, Any]:
    """The figures of a match."""
    ends = np.bincount(result.games["end"].ravel(), minlength=len(ENDS))
    return {
        "decisions": result.decisions,
        "turns": _estimate(result.turns()),
        "ends": {end: int(count) for end, count in zip(ENDS, ends, strict=True) if end},
        "agents": [_agent(result, k) for k in range(result.num_players)],
    }


def _agent(result: MatchResult, k: int) -> dict[str, Any]:
    """The figures of an agent in a match."""
    return {
        "agent": result.agents[k],
        "win_share": _estimate(result.win_share(k)),
        "payoff": _estimate(result.payoff(k)),
        "margin": _estimate(result.margin(k)),
        "score": _estimate(result.score(k)),
        "points": {source: _estimate(points) for source, points in result.points(k).items()},
        "sets": {number: _estimate(sets) for number, sets in result.sets(k).items()},
        "decisions_per_game": _estimate(result.decisions_per_game(k)),
    }


def _tournament(result: TournamentResult) -> dict[str, Any]:
    """The figures of a tournament."""
    count = range(len(result.agents))
    met = [(a, b, ahead) for a in count for b in count if (ahead := result.against(a, b)) is not None]
    return {
        "agents": [
            {
                "agent": name,
                "rating": _estimate(result.ratings[k]),
                "win_share": _estimate(result.win_share(k)),
                "games": sum(match.num_games for seats, match in result.tables if k in seats),
            }
            for k, name in enumerate(result.agents)
        ],
        "against": [
            {"agent": result.agents[a], "other": result.agents[b], "ahead": _estimate(ahead)}
            for a, b, ahead in met
        ],
        "cycles": [list(cycle) for cycle in result.cycles()],
        "tables": [_match(match) for _, match in result.tables],
    }


def _estimate(estimate: Estimate | Rating) -> dict[str, float | None]:
    """A mean with its interval; null where there is none."""
    values = {"mean": estimate.mean, "low": estimate.low, "high": estimate.high}
    return {key: value if isfinite(value) else None for key, value in values.items()}
