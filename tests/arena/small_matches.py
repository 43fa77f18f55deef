"""Small matches and tournaments that are really played, for tests of runs and of their reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from gardienii_env import Ruleset
from gardienii_env.agents import make_agent
from gardienii_env.agents.base import STREAM
from gardienii_env.arena.results import GAME, MatchResult, Rating, TournamentResult
from gardienii_env.arena.specification import MATCH, Kind, Specification
from gardienii_env.rules import scoring
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.random import seed_streams
from gardienii_env.rules.state import States


@cache
def match(
    names: tuple[str, ...], deals: int, rotations: int | None = None, seed: int = 0
) -> MatchResult:
    """Play every deal from every seat, or in the first rotations only."""
    agents, players = [make_agent(name) for name in names], len(names)
    games = np.zeros((deals, rotations or players), GAME)
    games["deal"], games["rotation"] = np.arange(deals)[:, None], np.arange(games.shape[1])
    rows = games.reshape(-1)
    batch = Batch(Ruleset.get("gardienii"), players, rows.size)
    streams = np.zeros(rows.size, STREAM)
    for i, row in enumerate(rows):
        generators = seed_streams(seed + int(row["deal"]), 1 + players)
        batch.states["rng"][i], streams["rng"][i] = generators[0], generators[1 + int(row["rotation"])]
        batch.deal(i)
    while (on := np.flatnonzero(batch.states["player"] >= 0)).size:
        agent_of = (batch.states["player"][on] - rows["rotation"][on]) % players
        for k, agent in enumerate(agents):
            waiting = on[agent_of == k]
            if waiting.size:
                before = cards(batch.states)[waiting]
                rows["decisions"][waiting, k] += batch.masks[waiting].sum(axis=1) > 1
                seats = batch.states["player"][waiting]
                batch.apply_all(waiting, agent.decide(batch, waiting, streams))
                grown = (cards(batch.states)[waiting] - before)[np.arange(waiting.size), seats]
                np.add.at(rows["sets"], (waiting[grown > 0], k, grown[grown > 0] - 1), 1)
    for i, row in enumerate(rows):
        seats = (np.arange(players) + row["rotation"]) % players
        won = scoring.winners(batch.rules, batch.states, i)
        row["share"][:players] = (won / won.sum())[seats]
        row["points"][:players] = scoring.points(batch.rules, batch.states, i)[seats]
        row["end"], row["turns"] = batch.states["end"][i], batch.states["turns"][i]
    return MatchResult(names, "gardienii", seed, games)


def cards(states: States) -> npt.NDArray[np.int64]:
    """Cards in the tableau, shape (games, seats)."""
    return np.asarray(states["column_cards"].sum(axis=2, dtype=np.int64))


def tournament(
    names: Sequence[str], tables: Sequence[tuple[tuple[int, ...], MatchResult]], num_players: int = 2
) -> TournamentResult:
    """A tournament of these tables; its ratings are made from the win shares."""
    rough = TournamentResult(tuple(names), "gardienii", 0, num_players, tuple(tables), ())
    ratings = []
    for k, name in enumerate(names):
        share = rough.win_share(k).of(lambda share: 25 + 10 * (share - 1 / num_players))
        ratings.append(Rating(name, share.mean, share.low, share.high))
    return replace(rough, ratings=tuple(ratings))


def round_robin(names: Sequence[str], plays: Sequence[str], deals: int) -> TournamentResult:
    """Agents of these names, each playing as the agent in `plays`, every pair at one table."""
    tables = []
    for a, b in combinations(range(len(names)), 2):
        played = match((plays[a], plays[b]), deals)
        tables.append(((a, b), replace(played, agents=(names[a], names[b]))))
    return tournament(names, tables)


def specified(kind: Kind = MATCH, agents: str = "greedy,random", **options: Any) -> Specification:
    """A small run to play, other than usual in some options."""
    names = agents.split(",")
    return Specification.new(
        kind,
        names,
        **{
            "players": len(names) if kind == MATCH else 2,
            "tables": None,
            "ruleset": Ruleset.get("gardienii"),
            "deals": 12,
            "seed": 5,
            "duplicate": True,
            "save_records": False,
            "started": "2026-01-01T00:00:00Z",
            **options,
        },
    )


def games_of(result: MatchResult | TournamentResult) -> list[bytes]:
    """All games of a match, or of the matches of a tournament, to compare them."""
    matches = [result] if isinstance(result, MatchResult) else [match for _, match in result.tables]
    return [match.games.tobytes() for match in matches]
