"""Playing chunks of deals, in this process or in several others.

Chunks begin small and grow until one takes about a second, so that little is lost when a run is ended,
whether its agents take microseconds or seconds for a decision. How deals are divided changes no game.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import ceil
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, NamedTuple

from gardienii_env.agents import Agent
from gardienii_env.arena.folder import Chunk
from gardienii_env.arena.match import Progress, play_deals, untold
from gardienii_env.arena.specification import Specification
from gardienii_env.errors import GardieniiError

__all__ = ["Task", "play_here", "play_in_processes"]

SECONDS = 1.0
GROWTH = 8
MOST_DEALS = 512


class Task(NamedTuple):
    """Deals to be played at one table: from `first` up to `last`, which is left out."""

    table: int
    first: int
    last: int


@dataclass
class _Supply:
    """What is still to be played, handed out in chunks of a size that fits the agents at the table."""

    tasks: list[Task]
    jobs: int
    left: int = field(init=False)
    sizes: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tasks.reverse()
        self.left = sum(task.last - task.first for task in self.tasks)

    def next(self) -> Task | None:
        """A chunk; None if there is no more."""
        if not self.tasks:
            return None
        table, first, last = self.tasks.pop()
        fair = ceil(self.left / (2 * self.jobs)) if self.jobs > 1 else self.left
        end = min(last, first + min(self.sizes.get(table, 1), fair))
        if end < last:
            self.tasks.append(Task(table, end, last))
        self.left -= end - first
        return Task(table, first, end)

    def learn(self, chunk: Chunk) -> None:
        """Take the size of a table's next chunks from how long one took."""
        deals = len(chunk.games)
        fitting = int(deals * SECONDS / max(chunk.seconds, 1e-6))
        self.sizes[chunk.table] = max(1, min(fitting, GROWTH * deals, MOST_DEALS))


def play_here(
    specification: Specification, agents: Sequence[Agent], tasks: Iterable[Task], progress: Progress
) -> Generator[Chunk, None, None]:
    """Play all deals in this process; `progress` is called with the number of games just ended."""
    supply = _Supply(list(tasks), 1)
    while (task := supply.next()) is not None:
        chunk = _play(specification, agents, task, progress)
        supply.learn(chunk)
        yield chunk


def _play(
    specification: Specification, agents: Sequence[Agent], task: Task, progress: Progress
) -> Chunk:
    started = time.monotonic()
    records: list[str] | None = [] if specification.save_records else None
    games = play_deals(
        [agents[agent] for agent in specification.seating[task.table]],
        specification.ruleset,
        specification.seed,
        range(task.first, task.last),
        specification.duplicate,
        progress=progress,
        records=records,
        table=task.table,
    )
    return Chunk(task.table, task.first, games, time.monotonic() - started, records)


# -- several processes -----------------------------------------------------------------------------


def play_in_processes(
    specification: Specification, trust: bool, tasks: Iterable[Task], jobs: int, progress: Progress
) -> Generator[Chunk, None, None]:
    """The same in so many processes, each of which makes the agents; chunks come as they are ready.

    The processes end with the iterator, and with this process whatever ends it. Raises what an agent
    raises, and GardieniiError if a process ends by itself.
    """
    supply = _Supply(list(tasks), jobs)
    with _started(min(jobs, supply.left), specification, trust) as workers:
        busy: dict[Connection, SpawnProcess] = {}
        for connection, process in workers:
            if _hand_out(supply, connection):
                busy[connection] = process
        while busy:
            for ready in wait(list(busy)):
                assert isinstance(ready, Connection)
                chunk = _receive(ready, busy[ready])
                supply.learn(chunk)
                if not _hand_out(supply, ready):
                    del busy[ready]
                progress(chunk.games.size)
                yield chunk


def _hand_out(supply: _Supply, connection: Connection) -> bool:
    """Give a process its next task; whether there was one."""
    task = supply.next()
    if task is not None:
        try:
            connection.send(task)
        except OSError:
            return True  # it has ended: `_receive` will tell
    return task is not None


def _receive(connection: Connection, process: SpawnProcess) -> Chunk:
    """The chunk that a process has played, or its error."""
    try:
        answer = connection.recv()
    except (EOFError, OSError):
        process.join(5)
        raise GardieniiError(
            f"a process that played games has ended by itself (exit status {process.exitcode}); was "
            "there too little memory? Fewer --jobs need less."
        ) from None
    if isinstance(answer, Chunk):
        return answer
    kind, text = answer
    raise GardieniiError(text) if kind == "error" else RuntimeError(f"in a process of --jobs:\n{text}")


@contextmanager
def _started(
    jobs: int, specification: Specification, trust: bool
) -> Iterator[list[tuple[Connection, SpawnProcess]]]:
    """So many processes with the connections to them, ended in the end."""
    context = get_context("spawn")
    workers: list[tuple[Connection, SpawnProcess]] = []
    try:
        for _ in range(jobs):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, specification, trust), daemon=True)
            with _interrupts_held():
                process.start()
            theirs.close()
            workers.append((ours, process))
        yield workers
    finally:
        for ours, process in workers:
            process.terminate()
            ours.close()
        for _, process in workers:
            process.join()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C waits, and a process started within never hears it: it is this one that ends it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    mask = getattr(signal, "pthread_sigmask", None)  # what a new process inherits
    before = mask(signal.SIG_BLOCK, {signal.SIGINT}) if mask else None
    try:
        yield
    finally:
        if mask:
            mask(signal.SIG_SETMASK, before)
        signal.signal(signal.SIGINT, handler)
    if heard:
        raise KeyboardInterrupt


def _serve(connection: Connection, specification: Specification, trust: bool) -> None:
    """What a process does: play what it is given, until there is no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout = sys.stderr  # what agents print is no part of a report
    threading.Thread(target=_end_with_parent, daemon=True).start()
    answer: Any
    agents: list[Agent] = []
    while True:
        try:
            task = connection.recv()
        except (EOFError, OSError):
            return
        try:
            agents = agents or specification.make_agents(trust)
            answer = _play(specification, agents, task, untold)
        except GardieniiError as error:
            answer = ("error", str(error))
        except Exception:
            answer = ("fault", traceback.format_exc())
        try:
            connection.send(answer)
        except OSError:
            return  # nobody is there to hear it any more


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)
