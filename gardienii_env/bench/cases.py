"""What there is to measure: the one list that options, help, table and JSON are made from.

What measures it is imported only when it is to run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import product
from typing import Any

from gardienii_env.bench.figures import DECISIONS, Figure, Speed, samples_of
from gardienii_env.bench.machine import cores_allowed
from gardienii_env.errors import MissingExtraError
from gardienii_env.observation import ObservationType, View

__all__ = ["CASES", "Case", "Job", "Settings", "jobs", "missing_extra"]

OPPONENTS = ("random", "greedy")
KINDS: dict[str, tuple[View | None, ObservationType]] = {
    "no observation": (None, "float32"),
    "table, float32": ("table", "float32"),
    "table, uint8": ("table", "uint8"),
    "recall, float32": ("recall", "float32"),
}


@dataclass(frozen=True)
class Settings:
    """How to measure.

    Attributes:
        seconds: of each figure, all its repeats together.
        repeats: how often each figure is measured.
        players: numbers of players.
        games: in a batch.
        many_games: in the batch of the case `many`.
    """

    seconds: float = 1.0
    repeats: int = 5
    players: tuple[int, ...] = (2, 4)
    games: int = 1024
    many_games: int = 100_000


@dataclass(frozen=True)
class Job:
    """Some figures that are measured together.

    Attributes:
        measure: makes ready, compiles what has no machine code yet, and measures.
        seconds: about how long that takes once there is machine code.
    """

    measure: Callable[[], list[Figure]]
    seconds: float


@dataclass(frozen=True)
class Case:
    """Something to measure.

    Attributes:
        name: as `--only` takes it.
        measures: what, in a sentence without its end.
        jobs: what is to be done for it.
        needs: modules that come with an extra of the package.
        extra: which one.
    """

    name: str
    measures: str
    jobs: Callable[[Settings], Iterable[Job]]
    needs: tuple[str, ...] = ()
    extra: str = ""


def jobs(names: Iterable[str], settings: Settings) -> list[tuple[str, Job]]:
    """All that is to be done for some cases, in order, each with the name of its case."""
    return [(name, job) for name in names for job in CASES[name].jobs(settings)]


def missing_extra(case: Case) -> MissingExtraError | None:
    """What to say if a case cannot be measured here, None if it can."""
    if all(find_spec(module) for module in case.needs):
        return None
    return MissingExtraError(f"The case {case.name!r}", case.extra)


def _speed_job(
    what: str,
    settings: Settings,
    setup: Mapping[str, Any],
    prepare: Callable[[], Speed],
    make_ready: float = 0.1,
) -> Job:
    """The job of one speed; it may take some seconds to make ready."""

    def measure() -> list[Figure]:
        samples = samples_of(prepare(), settings.seconds, settings.repeats)
        return [Figure(what, DECISIONS, samples, setup)]

    return Job(measure, settings.seconds + make_ready)


def _threads() -> tuple[int, ...]:
    """One thread and all; only one where there are no more."""
    return tuple(dict.fromkeys((1, cores_allowed())))


def _aec(settings: Settings) -> Iterator[Job]:
    def prepare(name: str, players: int) -> Callable[[], Speed]:
        def ready() -> Speed:
            from gardienii_env.bench.environments import aec

            return aec(name, players)

        return ready

    for name, players in product(("raw_env", "env"), settings.players):
        setup = {"players": players, "games": 1, "threads": 1, "view": "table", "dtype": "float32"}
        yield _speed_job(f"gardienii_v0.{name}", settings, setup, prepare(name, players))


def _single(settings: Settings) -> Iterator[Job]:
    def prepare(opponents: str, players: int) -> Callable[[], Speed]:
        def ready() -> Speed:
            from gardienii_env.bench.environments import single

            return single(opponents, players)

        return ready

    for opponents, players in product(OPPONENTS, settings.players):
        setup = {"players": players, "games": 1, "threads": 1, "view": "table", "dtype": "float32"}
        setup["opponents"] = opponents
        yield _speed_job(f"gymnasium.make, {opponents}", settings, setup, prepare(opponents, players))


def _batch(settings: Settings) -> Iterator[Job]:
    def prepare(setup: Mapping[str, Any]) -> Callable[[], Speed]:
        def ready() -> Speed:
            from gardienii_env.bench.environments import make_batch, playing_random

            return playing_random(make_batch(**setup))

        return ready

    for what, players, threads in product(KINDS, settings.players, _threads()):
        setup = _batch_setup(what, players, settings.games, threads)
        yield _speed_job(what, settings, setup, prepare(setup), settings.games / 50_000)


def _many(settings: Settings) -> Iterator[Job]:
    what = "table, float32"

    def measure(setup: Mapping[str, Any]) -> Callable[[], list[Figure]]:
        def measured() -> list[Figure]:
            from gardienii_env.bench.environments import many

            return many(what, settings.seconds, settings.repeats, setup)

        return measured

    for players, threads in product(settings.players, _threads()):
        setup = _batch_setup(what, players, settings.many_games, threads)
        yield Job(measure(setup), settings.seconds + settings.many_games / 50_000)


def _step(settings: Settings) -> Iterator[Job]:
    def prepare(setup: Mapping[str, Any]) -> Callable[[], Speed]:
        def ready() -> Speed:
            from gardienii_env.bench.environments import make_batch, stepping

            return stepping(make_batch(**setup))

        return ready

    for players, threads in product(settings.players, _threads()):
        setup = _batch_setup("table, float32", players, settings.games, threads)
        what = "step(random_actions())"
        yield _speed_job(what, settings, setup, prepare(setup), settings.games / 50_000)


def _vector(settings: Settings) -> Iterator[Job]:
    def prepare(setup: Mapping[str, Any]) -> Callable[[], Speed]:
        def ready() -> Speed:
            from gardienii_env.bench.environments import vector

            return vector(**setup)

        return ready

    for opponents, players, threads in product(OPPONENTS, settings.players, _threads()):
        setup = _batch_setup("table, float32", players, settings.games, threads)
        setup["opponents"] = opponents
        what = f"gymnasium.make_vec, {opponents}"
        yield _speed_job(what, settings, setup, prepare(setup), 0.5 + settings.games / 3_000)


def _batch_setup(what: str, players: int, games: int, threads: int) -> dict[str, Any]:
    view, dtype = KINDS[what]
    setup: dict[str, Any] = {"players": players, "games": games, "threads": threads}
    return setup if view is None else setup | {"view": view, "dtype": dtype}


def _sb3(settings: Settings) -> Iterator[Job]:
    def measure() -> list[Figure]:
        from gardienii_env.bench.training import QUICK_START, training

        return training(QUICK_START, settings.repeats)

    yield Job(measure, 5 + 4 * (settings.repeats + 1))


CASES: dict[str, Case] = {
    case.name: case
    for case in (
        Case("aec", "the PettingZoo loop: last(), a random legal action, step()", _aec),
        Case("single", "the Gymnasium loop of one learner, opponents inside step()", _single),
        Case("batch", "GardieniiBatch.play_random: every seat decides, all in one call", _batch),
        Case("many", "the same with many more games (--many-games), and the memory they take", _many),
        Case("step", "GardieniiBatch from Python: step(random_actions())", _step),
        Case("vector", "step() of gymnasium.make_vec, one learner a game", _vector),
        Case(
            "sb3",
            "MaskablePPO as in the quick start: speed, the environment's share, the speed on an "
            "environment that does nothing",
            _sb3,
            needs=("torch", "stable_baselines3", "sb3_contrib"),
            extra="sb3",
        ),
    )
}
"""All cases by name, in the order in which they are measured."""
