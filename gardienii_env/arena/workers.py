"""Playing chunks of deals, in this process, in several others, or by other workers (`cluster.py`).

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
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from math import ceil
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import NamedTuple, Protocol

from gardienii_env.agents import Agent
from gardienii_env.arena.folder import Chunk
from gardienii_env.arena.match import Progress, play_deals, untold
from gardienii_env.arena.specification import Specification
from gardienii_env.errors import GardieniiError

__all__ = [
    "Answer",
    "Failure",
    "Player",
    "Supply",
    "Task",
    "Workers",
    "play_elsewhere",
    "play_here",
    "play_in_processes",
]

SECONDS = 1.0
GROWTH = 8
MOST_DEALS = 512


class Task(NamedTuple):
    """Deals to be played at one table: from `first` up to `last`, which is left out."""

    table: int
    first: int
    last: int


@dataclass
class Supply:
    """What is still to be played, handed out in chunks of a size that fits the agents at the table."""

    tasks: list[Task]
    left: int = field(init=False)
    sizes: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tasks.reverse()
        self.left = sum(task.last - task.first for task in self.tasks)

    def next(self, jobs: int) -> Task | None:
        """A chunk for one of so many that play; None if there is no more."""
        if not self.tasks:
            return None
        table, first, last = self.tasks.pop()
        fair = ceil(self.left / (2 * jobs)) if jobs > 1 else self.left
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
    supply = Supply(list(tasks))
    while (task := supply.next(1)) is not None:
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


# -- elsewhere -------------------------------------------------------------------------------------


class Failure(NamedTuple):
    """Why a task was not played: a sentence for the user if that is known, else a traceback."""

    text: str
    known: bool = True


Answer = Chunk | Failure


class Workers(Protocol):
    """Those who play tasks elsewhere, several at once."""

    @property
    def number(self) -> int:
        """How many tasks they can play at once."""

    @property
    def busy(self) -> int:
        """How many they play now."""

    def give(self, task: Task) -> None:
        """Let them play one more."""

    def answers(self) -> Sequence[Answer]:
        """Wait until something has been played, or failed; nothing if they are not busy."""


def play_elsewhere(workers: Workers, supply: Supply, progress: Progress) -> Generator[Chunk, None, None]:
    """Let workers play all there is; chunks come as they are ready. Raises what an agent raises."""
    _employ(workers, supply)
    while answers := workers.answers():
        for answer in answers:
            if isinstance(answer, Failure):
                if answer.known:
                    raise GardieniiError(answer.text)
                raise RuntimeError(f"in a process of --jobs:\n{answer.text}")
            supply.learn(answer)
            _employ(workers, supply)
            progress(answer.games.size)
            yield answer


def _employ(workers: Workers, supply: Supply) -> None:
    """Give tasks to all that are idle, as long as there are any."""
    while workers.busy < workers.number and (task := supply.next(workers.number)):
        workers.give(task)


@dataclass
class Player:
    """Plays tasks in the process where it is: what is sent to it, and then makes the agents.

    `given` are agents that came with it, by name, so that their files need not be there.
    """

    specification: Specification
    trust: bool
    given: Mapping[str, Agent] = field(default_factory=dict)
    agents: list[Agent] = field(default_factory=list)

    def answer(self, task: Task) -> Answer:
        """The chunk, or why there is none."""
        try:
            self.agents = self.agents or self.specification.make_agents(self.trust, self.given)
            return _play(self.specification, self.agents, task, untold)
        except GardieniiError as error:
            return Failure(str(error))
        except Exception:
            return Failure(traceback.format_exc(), known=False)


# -- several processes -----------------------------------------------------------------------------


def play_in_processes(
    specification: Specification, trust: bool, tasks: Iterable[Task], jobs: int, progress: Progress
) -> Generator[Chunk, None, None]:
    """The same in so many processes, each of which makes the agents; chunks come as they are ready.

    The processes end with the iterator, and with this process whatever ends it. Raises what an agent
    raises, and GardieniiError if a process ends by itself.
    """
    supply = Supply(list(tasks))
    with _started(min(jobs, supply.left), Player(specification, trust)) as workers:
        yield from play_elsewhere(_Processes(workers), supply, progress)


class _Processes:
    """Processes of this machine, with a connection to each."""

    def __init__(self, workers: list[tuple[Connection, SpawnProcess]]) -> None:
        self.number = len(workers)
        self._idle = workers[::-1]
        self._playing: dict[Connection, SpawnProcess] = {}

    @property
    def busy(self) -> int:
        """See `Workers`."""
        return len(self._playing)

    def give(self, task: Task) -> None:
        """See `Workers`."""
        connection, process = self._idle.pop()
        self._playing[connection] = process
        with suppress(OSError):  # it has ended: `answers` will tell
            connection.send(task)

    def answers(self) -> list[Answer]:
        """See `Workers`."""
        ready = wait(list(self._playing)) if self._playing else []
        return [self._receive(connection) for connection in ready if isinstance(connection, Connection)]

    def _receive(self, connection: Connection) -> Answer:
        process = self._playing.pop(connection)
        self._idle.append((connection, process))
        try:
            answer: Answer = connection.recv()
        except (EOFError, OSError):
            process.join(5)
            return Failure(
                f"a process that played games has ended by itself (exit status {process.exitcode}); was "
                "there too little memory? Fewer --jobs need less."
            )
        return answer


@contextmanager
def _started(jobs: int, player: Player) -> Iterator[list[tuple[Connection, SpawnProcess]]]:
    """So many processes with the connections to them, ended in the end."""
    context = get_context("spawn")
    workers: list[tuple[Connection, SpawnProcess]] = []
    try:
        for _ in range(jobs):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, player), daemon=True)
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


def _serve(connection: Connection, player: Player) -> None:
    """What a process does: play what it is given, until there is no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout = sys.stderr  # what agents print is no part of a report
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            connection.send(player.answer(connection.recv()))
        except (EOFError, OSError):
            return  # nobody is there any more


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)
