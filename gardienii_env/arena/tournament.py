"""Tournaments: many agents, two to four at a table, rated together."""

from __future__ import annotations

from collections.abc import Sequence

from gardienii_env.agents.base import Agent
from gardienii_env.arena.match import Progress, check_agents, duplicate_match, untold
from gardienii_env.arena.ratings import check_installed, rate
from gardienii_env.arena.results import MatchResult, TournamentResult
from gardienii_env.arena.schedule import MAX_AGENTS, default_tables, round_robin, sampled_tables
from gardienii_env.errors import AgentError, OptionError, one_of
from gardienii_env.game import RulesetLike
from gardienii_env.rules.ruleset import MAX_PLAYERS, MIN_PLAYERS, Ruleset
from gardienii_env.words import count_words

__all__ = ["assemble", "play_tournament", "tables_of"]


def play_tournament(
    agents: Sequence[Agent],
    ruleset: RulesetLike,
    deals: int,
    seed: int,
    num_players: int = 2,
    tables: int | None = None,
    progress: Progress = untold,
    duplicate: bool = True,
) -> TournamentResult:
    """Play a tournament: the same deals at every table, each with all rotations, and ratings.

    Args:
        agents: at least as many as players; their names must differ.
        ruleset, deals, seed, progress, duplicate: of each table's match, as in `duplicate_match`.
        num_players: at a table. With two every agent meets every other; with three and four, groups
            are drawn so that every agent and every pair sits about equally often.
        tables: how many groups are drawn (None: three for each agent, or all groups there are).

    Raises what `duplicate_match` does, and MissingExtraError without openskill.
    """
    check_installed()
    seating = tables_of(len(agents), num_players, tables, seed)
    rules = Ruleset.get(ruleset)
    for seats in seating:
        check_agents([agents[agent] for agent in seats], rules)
    names = tuple(agent.name for agent in agents)
    if len(set(names)) < len(names):
        raise AgentError(
            f"agents: two have one name ({', '.join(names)}); set `name` to tell them apart."
        )
    results = [
        duplicate_match(
            [agents[agent] for agent in seats],
            rules,
            deals,
            seed,
            progress=progress,
            duplicate=duplicate,
            table=table,
        )
        for table, seats in enumerate(seating)
    ]
    return assemble(names, num_players, seating, results)


def tables_of(agents: int, players: int, tables: int | None, seed: int) -> tuple[tuple[int, ...], ...]:
    """Which agents sit at each table; AgentError or OptionError if there is no such tournament."""
    if players not in range(MIN_PLAYERS, MAX_PLAYERS + 1):
        known = map(str, range(MIN_PLAYERS, MAX_PLAYERS + 1))
        raise OptionError(one_of("players: the number", players, known))
    if not players <= agents <= MAX_AGENTS:
        raise AgentError(
            f"agents: {count_words(agents, 'agent')}; a tournament at tables of {players} takes "
            f"{players} to {MAX_AGENTS}."
        )
    if players == MIN_PLAYERS:
        if tables is not None:
            raise OptionError(
                f"tables: {tables}; with two players every agent meets every other, and no tables are "
                "drawn: leave it out."
            )
        return round_robin(agents)
    number = default_tables(agents, players) if tables is None else tables
    return sampled_tables(agents, players, number, seed)


def assemble(
    names: tuple[str, ...],
    players: int,
    seating: tuple[tuple[int, ...], ...],
    results: Sequence[MatchResult],
) -> TournamentResult:
    """The tournament of the tables' results, with ratings."""
    tables = tuple(zip(seating, results, strict=True))
    first = results[0]
    ratings = rate(names, tables, first.seed)
    return TournamentResult(names, first.ruleset, first.seed, players, tables, ratings)
