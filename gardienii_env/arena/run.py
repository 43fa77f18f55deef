"""Runs: a match or a tournament played as its specification says, in one process or many."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace

from gardienii_env.agents import Agent
from gardienii_env.arena.cluster import Cluster
from gardienii_env.arena.folder import Chunk, RunFolder, tables_of_chunks
from gardienii_env.arena.match import Progress, untold
from gardienii_env.arena.results import MatchResult, TournamentResult
from gardienii_env.arena.specification import Specification
from gardienii_env.arena.workers import Task, play_here, play_in_processes

__all__ = ["Played", "play_run"]


@dataclass(frozen=True)
class Played:
    """What came of a run, and how long its games took, in seconds of all processes together."""

    result: MatchResult | TournamentResult
    seconds: float


def play_run(
    specification: Specification,
    agents: Sequence[Agent],
    trust: bool = False,
    jobs: int | Cluster = 1,
    folder: RunFolder | None = None,
    progress: Progress = untold,
) -> Played:
    """Play what has not been played yet.

    Args:
        specification: what to play.
        agents: what its `make_agents` gave.
        trust: whether other processes may make agents from files that run code when they are loaded.
        jobs: how many processes play (1 is this one), or the cluster that does, see `joined`.
        folder: where to keep what is played, and where some may be already; None: nothing is kept.
        progress: called with the numbers of games that have just ended.

    Raises GardieniiError for agents that fail, and for a folder that cannot be used.
    """
    with nullcontext() if folder is None else folder.writing():
        chunks = [] if folder is None else folder.chunks()
        tasks = _missing(specification, chunks)
        if jobs == 1 or not tasks:
            played = play_here(specification, agents, tasks, progress)
        elif isinstance(jobs, Cluster):
            played = jobs.play(specification, trust, agents, tasks, progress)
        else:
            played = play_in_processes(specification, trust, tasks, jobs, progress)
        with closing(played):
            for chunk in played:
                if folder is not None:
                    folder.add(chunk)
                chunks.append(replace(chunk, records=None))
    result = specification.result(tables_of_chunks(chunks, specification))
    return Played(result, sum(chunk.seconds for chunk in chunks))


def _missing(specification: Specification, chunks: Sequence[Chunk]) -> list[Task]:
    """What no chunk has, in order."""
    tasks = []
    for table in range(len(specification.seating)):
        place = 0
        for deals in sorted(
            (c.deals for c in chunks if c.table == table), key=lambda deals: deals.start
        ):
            if place < deals.start:
                tasks.append(Task(table, place, deals.start))
            place = deals.stop
        if place < specification.deals:
            tasks.append(Task(table, place, specification.deals))
    return tasks
