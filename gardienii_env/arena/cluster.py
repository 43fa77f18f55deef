"""Playing on a Ray cluster: on all its nodes, or on all cores of this machine.

Every chunk of deals is a task of Ray's, which finds a free core for it, and plays it again when it is
lost with its process or its node. How deals are divided is up to `workers.py`, as for processes. Ray
(extra `ray`) is imported only where a cluster is joined.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import closing, contextmanager, redirect_stdout
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from gardienii_env import __version__
from gardienii_env.agents import AGENTS, Agent
from gardienii_env.arena.folder import Chunk
from gardienii_env.arena.match import Progress
from gardienii_env.arena.specification import Specification
from gardienii_env.arena.tally import line_up
from gardienii_env.arena.workers import Answer, Failure, Player, Supply, Task, play_elsewhere
from gardienii_env.errors import MissingExtraError, OptionError
from gardienii_env.rules.jit import SOURCES_DIGEST
from gardienii_env.words import count_words

__all__ = ["Cluster", "ClusterAddress", "joined"]

AUTO, LOCAL = "auto", "local"
VARIABLE = "RAY_ADDRESS"

RETRIES = 5
"""How often a chunk is played again when what played it is lost."""

COUNTED = 5.0
"""For so many seconds the cluster's cores are not counted again."""

CONNECTING = 5.0
"""Seconds within which a cluster has to answer."""

SETTINGS = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + SETTINGS
"""How HTTP/2 begins: with a frame of settings, of type 4, from either side."""

OBJECTS = 128 * 2**20
"""Bytes of shared memory of a cluster that is started here; little of it is needed."""

NODES_NEED = (
    f"Each node needs gardienii-env {__version__} of the same source with the extras of the agents, and "
    "the modules of python: agents; see docs/scaling.md."
)


@dataclass(frozen=True)
class ClusterAddress:
    """Which cluster: `HOST:PORT`, `auto` (one that runs) or `local` (a new one, of this machine alone).

    None goes by the rules of `ray.init`: the cluster of the variable RAY_ADDRESS; or else one that
    runs on this machine; or else a new one.
    """

    address: str | None = None


@contextmanager
def joined(jobs: int | ClusterAddress) -> Iterator[int | Cluster]:
    """What `play_run` takes as `jobs`: a cluster is joined, and left in the end; a number stays one.

    OptionError if there is no such cluster or it cannot be joined; MissingExtraError without Ray.
    """
    if isinstance(jobs, int):
        yield jobs
        return
    ray = _import_ray()
    if ray.is_initialized():  # by whoever calls this, and who also leaves it
        yield Cluster()
        return
    try:
        logging.getLogger("ray").setLevel(logging.ERROR)
        with _handlers_kept():
            told = _join(ray, jobs.address)
        logging.getLogger("ray").setLevel(logging.WARNING)
        nodes = count_words(sum(node["Alive"] for node in ray.nodes()), "node")
        print(f"Playing on {told}: {nodes}, {count_words(_cores(), 'core')}.", file=sys.stderr)
        yield Cluster()
    finally:
        ray.shutdown()


class Cluster:
    """A Ray cluster that this process has joined."""

    def play(
        self,
        specification: Specification,
        trust: bool,
        agents: Sequence[Agent],
        tasks: Iterable[Task],
        progress: Progress,
    ) -> Generator[Chunk, None, None]:
        """Play all deals on it; as `play_in_processes`.

        Of the `agents`, what its `make_agents` gave, those from files are sent to the nodes. Raises
        what an agent raises, and GardieniiError for nodes that cannot play, or are lost again and again.
        """
        given = {
            name: agent
            for name, agent in zip(specification.agents, agents, strict=True)
            if AGENTS[name.partition(":")[0]].from_file
        }
        with closing(_Workers(Player(specification, trust, given))) as workers:
            yield from play_elsewhere(workers, Supply(list(tasks)), progress)


@dataclass
class _Workers:
    """The cores of a cluster."""

    player: Player
    number: int = 1
    _counted: float = -COUNTED
    _playing: dict[Future[Answer], Any] = field(default_factory=dict)
    """The tasks, each with Ray's reference to its answer, by what tells that there is one."""

    def __post_init__(self) -> None:
        import ray

        # In a list it is not fetched for every task, but once by each process.
        self._run = [ray.put(self.player)]
        self._play = ray.remote(num_cpus=1, max_retries=RETRIES)(_play)
        self._count()

    def _count(self) -> None:
        """Nodes come and go."""
        now = time.monotonic()
        if now - self._counted > COUNTED:
            self.number, self._counted = max(1, _cores()), now

    @property
    def busy(self) -> int:
        """See `Workers`."""
        return len(self._playing)

    def give(self, task: Task) -> None:
        """See `Workers`."""
        answer = self._play.remote(self._run, SOURCES_DIGEST, task)
        self._playing[answer.future()] = task, answer

    def answers(self) -> list[Answer]:
        """See `Workers`."""
        if not self._playing:
            return []
        done = wait(self._playing, return_when=FIRST_COMPLETED).done
        self._count()
        return [self._answer(future) for future in done]

    def _answer(self, future: Future[Answer]) -> Answer:
        task, _ = self._playing.pop(future)
        error = future.exception()
        return future.result() if error is None else _explain(error, task)

    def close(self) -> None:
        """Let nothing be played any more."""
        import ray

        for _, answer in self._playing.values():
            ray.cancel(answer, force=True)


def _cores() -> int:
    """How many there are in the cluster now."""
    import ray

    return int(ray.cluster_resources().get("CPU", 0))


def _explain(error: BaseException, task: Task) -> Failure:
    """What Ray says in the place of an answer."""
    from ray.exceptions import RayTaskError

    if isinstance(error, RayTaskError):  # before `_play` began
        return Failure(f"A node of the Ray cluster cannot play: {_last_line(error)} {NODES_NEED}")
    return Failure(
        f"The deals {task.first} to {task.last - 1} of table {task.table} were lost {RETRIES + 1} times "
        f"with what played them on the Ray cluster ({type(error).__name__}); is there too little memory?"
    )


def _last_line(error: BaseException) -> str:
    return str(error).strip().rpartition("\n")[2].strip().rstrip(".") + "."


# -- joining ---------------------------------------------------------------------------------------


def _import_ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # or it tells of what will change
    try:
        import ray
    except ImportError as error:
        raise MissingExtraError("Playing on a Ray cluster", "ray") from error
    return ray


def _join(ray: Any, given: str | None) -> str:
    """Join or start a cluster; says which. OptionError if that fails."""
    address = given if given not in (None, AUTO) else os.environ.get(VARIABLE) or given
    option = "--jobs" if address == given else VARIABLE
    options = {"logging_level": logging.ERROR}
    if address not in (None, AUTO, LOCAL):
        assert address is not None
        _check_answers(option, address)
    if address != LOCAL:
        try:
            ray.init(address or AUTO, **options)
            return f"the Ray cluster at {ray.get_runtime_context().gcs_address}"
        except Exception as error:  # Ray raises of all kinds
            none_runs = isinstance(error, ConnectionError) and error.__cause__ is None
            if address is not None or not none_runs:
                raise _not_joined(option, address or AUTO, error) from None
    try:
        ray.init(LOCAL, include_dashboard=False, object_store_memory=OBJECTS, **options)
    except Exception as error:
        raise _not_joined(option, LOCAL, error) from None
    return "a Ray cluster of this machine alone, started for this run"


def _check_answers(option: str, address: str) -> None:
    """OptionError unless something like a cluster answers there; Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if not host or "/" in address or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise OptionError(
            f"{option}: {address!r} is not the address of a Ray cluster; expected HOST:PORT, as `ray "
            f"start --head` tells it, {AUTO} or {LOCAL}."
        )
    try:
        with socket.create_connection((host.strip("[]"), int(port)), CONNECTING) as connection:
            connection.settimeout(CONNECTING)
            if os.environ.get("RAY_USE_TLS", "0") == "0" and not _greets(connection):
                raise OSError("what listens there is something else")
    except OSError as error:
        raise _not_joined(option, address, error) from None


def _greets(connection: socket.socket) -> bool:
    """Whether what listens greets back as gRPC servers do, that of a Ray cluster among them."""
    connection.sendall(HELLO)
    answer = b""
    while len(answer) < len(SETTINGS) and (more := connection.recv(len(SETTINGS) - len(answer))):
        answer += more
    return answer[3:4] == SETTINGS[3:4] and len(answer) == len(SETTINGS)


def _not_joined(option: str, address: str, error: Exception) -> OptionError:
    reason = " ".join(str(error).split()).rstrip(".")
    return OptionError(f"{option}: the Ray cluster {address!r} cannot be joined: {reason}.")


@contextmanager
def _handlers_kept() -> Iterator[None]:
    """Ray puts in handlers of signals of its own."""
    main = threading.current_thread() is threading.main_thread()
    before = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)} if main else {}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:  # not from Python
                signal.signal(number, handler)


# -- on a node -------------------------------------------------------------------------------------


_players: dict[str, Player] = {}
"""The player of the run that this process plays, by Ray's name for it; one at most."""


def _play(run: list[Any], sources: str, task: Task) -> Answer:
    """What Ray runs on a node."""
    with redirect_stdout(sys.stderr):  # what agents print is no part of a report
        if sources != SOURCES_DIGEST:
            return _placed(Failure(f"this is gardienii-env {__version__} of other source. {NODES_NEED}"))
        try:
            player = _player(run)
        except Exception as error:  # a library that an agent needs is not there
            return _placed(Failure(f"the agents cannot be loaded: {_last_line(error)} {NODES_NEED}"))
        with _first_alone(player):
            answer = player.answer(task)
        if isinstance(answer, Failure):
            needs = "" if player.agents else f" {NODES_NEED}"
            return _placed(answer._replace(text=f"{answer.text}{needs}"))
        return answer


def _player(run: list[Any]) -> Player:
    import ray

    (reference,) = run
    name = reference.hex()
    if name not in _players:
        _players.clear()
        _players[name] = ray.get(reference)
    return _players[name]


def _placed(failure: Failure) -> Failure:
    """The same, with the node that it is from."""
    import ray

    return failure._replace(text=f"on the node {ray.util.get_node_ip_address()}: {failure.text}")


@contextmanager
def _first_alone(player: Player) -> Iterator[None]:
    """Within, one process of a machine compiles what the others, which wait for it, find on the disk.

    That this was done is noted beside the machine code.
    """
    folder = getattr(getattr(line_up, "stats", None), "cache_path", None)
    if folder is None or player.agents:  # nowhere to keep it, or had already
        yield
        return
    specification = player.specification
    kinds = sorted({name.partition(":")[0] for name in specification.agents})
    what = f"{SOURCES_DIGEST} {kinds} {specification.players} {specification.save_records}"
    note = Path(folder) / f"cluster-{sha256(what.encode()).hexdigest()[:16]}"
    if note.exists():
        yield
        return
    from filelock import FileLock  # comes with Ray

    lock = FileLock(f"{note}.lock")
    with lock:
        if not note.exists():
            yield
            if player.agents:
                note.touch()
            return
    yield
