"""The environment's speed side by side with other projects', in decisions per second on one core.

    python benchmarks/peers.py --install               # once: a virtual environment for each project
    python benchmarks/peers.py --seconds 2 --repeats 5 --json peers.json --plot peers.png
    python benchmarks/peers.py --only openspiel,pgx    # these beside ours
    python benchmarks/peers.py --read peers.json --plot peers.svg

Every case is a game of a project, played at random in one way. It is timed in a process of its own that
is held to one core; imports, compilation and the like are done before. A round measures all cases once,
one after the other, and there are several rounds, so that a slow minute of the machine hits all alike:
the figure is the median over the rounds, shown with the lowest and the highest. Ratios are of medians of
the same run.

A decision is one choice of a player; deals and other chance do not count. Decisions with a single legal
action count where a project asks for them, which most do; gardienii-env makes such decisions itself and
does not count them. How a project is played, and how its decisions are counted, is said at the top of
its worker in `benchmarks/peer_workers/`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import venv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

from tqdm import tqdm

from gardienii_env.tables import table

HERE = Path(__file__).resolve().parent
WORKERS = HERE / "peer_workers"
VENVS = HERE.parent / ".venvs"
TIME_LIMIT = 600.0  # seconds for a worker beside its timed loop
OURS = "ours"


@dataclass(frozen=True)
class Project:
    """A project, how to install it and what of it is measured.

    Attributes:
        name: of its folder of virtual environments, and of its worker: `NAME_worker.py`.
        title: as shown.
        packages: what pip installs, in versions that were found to work.
        cases: the worker's names of cases, each with a title.
        build: a program of the folder of workers that finishes the installation, and its arguments.
    """

    name: str
    title: str
    packages: tuple[str, ...]
    cases: Mapping[str, str]
    build: tuple[str, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """A ratio worth telling: a case of ours over the fastest of some of others (patterns of ids)."""

    text: str
    ours: str
    peers: tuple[str, ...]


PROJECTS = (
    Project(
        OURS,
        "gardienii-env",
        packages=(),  # measured in the environment that runs this program
        cases={
            "no_observation_2p": "2 players, no observation",
            "table_float32_2p": "2 players, table, float32",
            "table_uint8_2p": "2 players, table, uint8",
            "recall_float32_2p": "2 players, recall, float32",
            "no_observation_4p": "4 players, no observation",
            "table_float32_4p": "4 players, table, float32",
            "table_uint8_4p": "4 players, table, uint8",
            "recall_float32_4p": "4 players, recall, float32",
            "aec_2p": "2 players, AEC loop",
            "aec_4p": "4 players, AEC loop",
        },
    ),
    Project(
        "openspiel",
        "OpenSpiel",
        packages=("open_spiel==2.0.2", "numpy==2.4.6"),
        cases={
            "crazy_eights": "crazy eights, games in C++",
            "crazy_eights_2p": "crazy eights, 2 players, games in C++",
            "gin_rummy": "gin rummy, games in C++",
            "hearts": "hearts, games in C++",
            "bridge": "bridge, games in C++",
            "spades": "spades, games in C++",
            "crazy_eights_playouts": "crazy eights, playouts of one deal in C++",
            "crazy_eights_python": "crazy eights, Python",
            "gin_rummy_python": "gin rummy, Python",
            "bridge_python": "bridge, Python",
            "spades_python": "spades, Python",
        },
    ),
    Project(
        "pettingzoo",
        "PettingZoo",
        packages=(  # the last version with gin rummy
            "pettingzoo[classic]==1.25.0",
            "numpy==2.4.6",
            "rlcard==1.2.0",
            "open_spiel==2.0.2",
        ),
        cases={
            "gin_rummy_v4": "gin rummy, AEC loop",
            "hanabi_v5": "Hanabi, AEC loop",
            "leduc_holdem_v4": "Leduc hold'em, AEC loop",
            "texas_holdem_v4": "Texas hold'em, AEC loop",
        },
    ),
    Project(
        "rlcard",
        "RLCard",
        packages=("rlcard==1.2.0", "numpy==2.4.6"),
        cases={
            "doudizhu": "Dou Dizhu",
            "gin-rummy": "gin rummy",
            "leduc-holdem": "Leduc hold'em",
            "mahjong": "mahjong",
            "uno": "UNO",
        },
    ),
    Project(
        "catanatron",
        "catanatron",
        packages=("catanatron==3.2.1", "catanatron-gym==4.0.0", "gymnasium==0.29.1", "numpy==2.4.6"),
        cases={"games": "Catan, 2 players, no observation", "gym": "Catan, 2 players, Gymnasium"},
    ),
    Project(
        "pgx",
        "pgx",
        packages=("pgx==2.6.0", "jax==0.10.2", "jaxlib==0.10.2", "numpy==2.4.6"),
        cases={
            "kuhn_poker": "Kuhn poker",
            "leduc_holdem": "Leduc hold'em",
            "sparrow_mahjong": "sparrow mahjong",
            "bridge_bidding": "bridge bidding",
            "connect_four": "connect four",
            "go_9x9": "Go 9x9",
        },
    ),
    Project(
        "pufferlib",
        "PufferLib",
        packages=("numpy==1.26.4", "setuptools==80.9.0", "wheel"),
        cases={"triple_triad": "triple triad"},
        build=("pufferlib_build.py", "3.0.0"),
    ),
    Project(
        "jaxmarl",
        "JaxMARL",
        packages=("jaxmarl==0.2.0", "jax==0.10.2", "jaxlib==0.10.2", "flax==0.12.8", "numpy==2.4.6"),
        cases={"hanabi": "Hanabi, 2 players"},
    ),
)

CRAZY_EIGHTS = ("openspiel/crazy_eights",)
PLAYOUTS = ("openspiel/crazy_eights_playouts",)
PGX_CARDS = ("pgx/kuhn_poker", "pgx/leduc_holdem", "pgx/sparrow_mahjong", "pgx/bridge_bidding")
NO_OBSERVATION, TABLE, UINT8 = "ours/no_observation_2p", "ours/table_float32_2p", "ours/table_uint8_2p"
COMPARISONS = (
    Comparison("no observation / OpenSpiel crazy eights, C++", NO_OBSERVATION, CRAZY_EIGHTS),
    Comparison("table float32 / OpenSpiel crazy eights, C++, no observation", TABLE, CRAZY_EIGHTS),
    Comparison("table uint8 / OpenSpiel crazy eights, C++, no observation", UINT8, CRAZY_EIGHTS),
    Comparison(
        "no observation / OpenSpiel crazy eights, playouts of one deal", NO_OBSERVATION, PLAYOUTS
    ),
    Comparison(
        "table float32 / best OpenSpiel with observation and mask", TABLE, ("openspiel/*_python",)
    ),
    Comparison("table float32 / best PettingZoo card game", TABLE, ("pettingzoo/*",)),
    Comparison("AEC loop / best PettingZoo card game", "ours/aec_2p", ("pettingzoo/*",)),
    Comparison("table float32 / PufferLib triple triad", TABLE, ("pufferlib/triple_triad",)),
    Comparison("table float32 / best pgx card game", TABLE, PGX_CARDS),
    Comparison("table float32 / pgx sparrow mahjong", TABLE, ("pgx/sparrow_mahjong",)),
)


@dataclass
class Result:
    """What came of one case.

    Attributes:
        project: title of the project.
        case: title of the case.
        version: of the project.
        numbers: in the observation made at every decision; 0 where none is made.
        mask: whether a mask of the legal actions was made.
        choices: share of the decisions with more than one legal action, where it was counted.
        speeds: decisions per second, one for each round.
    """

    project: str
    case: str
    version: str
    numbers: int
    mask: bool
    choices: float | None
    speeds: list[float] = field(default_factory=list)


@dataclass
class Ratio:
    """A comparison carried out: ids of the two cases, and ours / theirs."""

    text: str
    ours: str
    peer: str
    ratio: float


class WorkerError(Exception):
    """A worker did not print its line; what it said instead."""


# The command line


def main(arguments: Sequence[str] | None = None) -> None:
    """Install, or measure and show."""
    options = _parser().parse_args(arguments)
    chosen = choose(options.only)
    if options.install:
        for project in chosen:
            if project.name != OURS:
                print(
                    f"{project.title}: installing into {options.venvs / project.name}", file=sys.stderr
                )
                install(project, options.venvs)
        return
    if options.read:
        report = json.loads(options.read.read_text())
    else:
        report = measured(chosen, options.venvs, options.seconds, options.repeats)
    results = {name: Result(**fields) for name, fields in report["results"].items()}
    print(show(results, [Ratio(**fields) for fields in report["ratios"]]))
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    if options.plot:
        plot(results, options.plot)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    names = ", ".join(project.name for project in PROJECTS)
    parser.add_argument(
        "--seconds", type=seconds_of, default=2.0, help="time of one measurement (default 2)"
    )
    parser.add_argument(
        "--repeats", type=repeats_of, default=5, help="measurements of each case (default 5)"
    )
    parser.add_argument("--only", help=f"projects to measure beside ours, of {names}; all without it")
    parser.add_argument("--venvs", type=Path, default=VENVS, help="folder of the virtual environments")
    parser.add_argument("--install", action="store_true", help="make the virtual environments and stop")
    parser.add_argument("--read", type=Path, help="show the figures of a file written by --json")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    parser.add_argument("--plot", type=Path, help="draw the figures (.png, .svg); needs matplotlib")
    return parser


def seconds_of(text: str) -> float:
    """A time above 0 and not endless."""
    if not 0 < (seconds := float(text)) < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not a time above 0")
    return seconds


def repeats_of(text: str) -> int:
    """A number from 1 up."""
    if (repeats := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 1 up")
    return repeats


def choose(only: str | None) -> list[Project]:
    """Our project and those named, with commas between them; all without a name."""
    known = {project.name: project for project in PROJECTS}
    names = [name.strip() for name in only.split(",")] if only else list(known)
    for name in names:
        if name not in known:
            raise SystemExit(f"There is no project {name!r} for --only: take one of {', '.join(known)}.")
    return [project for project in PROJECTS if project.name in {OURS, *names}]


# Virtual environments


def install(project: Project, folder: Path) -> None:
    """Make a project's virtual environment anew, unless it is there with the packages asked for."""
    if is_installed(project, folder):
        return
    venv.create(folder / project.name, clear=True, with_pip=True)
    python = python_of(project, folder)
    subprocess.run([python, "-m", "pip", "install", "--quiet", *project.packages], check=True)
    if project.build:
        program, *arguments = project.build
        subprocess.run([python, WORKERS / program, *arguments], check=True)
    _note(project, folder).write_text(_contents(project))


def is_installed(project: Project, folder: Path) -> bool:
    """Whether `install` has done its work, and for the same packages."""
    note = _note(project, folder)
    return project.name == OURS or (note.exists() and note.read_text() == _contents(project))


def python_of(project: Project, folder: Path) -> Path:
    """The interpreter that measures a project."""
    if project.name == OURS:
        return Path(sys.executable)
    scripts = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
    return folder.joinpath(project.name, *scripts)


def _note(project: Project, folder: Path) -> Path:
    return folder / project.name / "installed.txt"


def _contents(project: Project) -> str:
    return "\n".join((*project.packages, *project.build)) + "\n"


# Measuring


def measured(chosen: Iterable[Project], venvs: Path, seconds: float, repeats: int) -> dict[str, Any]:
    """Measure projects; the report as plain data, with machine, settings, results and ratios."""
    left_out: dict[str, str] = {}
    ready = []
    for project in chosen:
        if is_installed(project, venvs):
            ready.append(project)
        else:
            left_out[project.name] = "no environment of the right versions: run with --install"
            print(f"{project.title} is left out: {left_out[project.name]}", file=sys.stderr)

    def run(project: Project, case: str) -> dict[str, Any]:
        return run_worker(python_of(project, venvs), project.name, case, seconds)

    results = rounds(ready, repeats, run, left_out)
    return {
        "machine": machine(),
        "seconds": seconds,
        "repeats": repeats,
        "results": {name: asdict(result) for name, result in results.items()},
        "ratios": [asdict(ratio) for ratio in ratios(results)],
        "left_out": left_out,
    }


def rounds(
    projects: Iterable[Project],
    repeats: int,
    run: Callable[[Project, str], Mapping[str, Any]],
    left_out: dict[str, str],
) -> dict[str, Result]:
    """Measure every case once in each round; the results by id, `project/case`.

    A case that fails is not tried again: it goes to `left_out` with the reason, and its earlier figures
    are dropped.
    """
    cases = [(project, case) for project in projects for case in project.cases]
    results: dict[str, Result] = {}
    with tqdm(total=repeats * len(cases), unit="run", file=sys.stderr) as progress:
        for _ in range(repeats):
            for project, case in cases:
                name = f"{project.name}/{case}"
                progress.set_postfix_str(name)
                if name not in left_out:
                    try:
                        line = run(project, case)
                    except WorkerError as error:
                        left_out[name] = str(error)
                        results.pop(name, None)
                        progress.write(f"{name} is left out: {error}", file=sys.stderr)
                    else:
                        add(results, name, project, case, line)
                progress.update()
    return results


def add(
    results: dict[str, Result], name: str, project: Project, case: str, line: Mapping[str, Any]
) -> None:
    """Add what a worker measured to the results."""
    about = {key: line[key] for key in ("version", "numbers", "mask", "choices")}
    result = results.setdefault(name, Result(project.title, project.cases[case], **about))
    result.speeds.append(line["decisions"] / line["seconds"])


def run_worker(python: Path, project: str, case: str, seconds: float) -> dict[str, Any]:
    """Run a project's worker for one case; the line that it prints. WorkerError if there is none."""
    command = [str(python), str(WORKERS / f"{project}_worker.py"), case, "--seconds", str(seconds)]
    limit = seconds + TIME_LIMIT
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        raise WorkerError(f"it took longer than {limit:.0f} seconds") from None
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"it ended with status {done.returncode}"]
        raise WorkerError(said[-1])
    return parse(done.stdout)


def parse(output: str) -> dict[str, Any]:
    """The last line that a worker printed; what its project prints before it is passed over."""
    lines = output.strip().splitlines() or [""]
    try:
        line = json.loads(lines[-1])
    except json.JSONDecodeError:
        line = None
    if not isinstance(line, dict) or not {"decisions", "seconds"} <= line.keys():
        raise WorkerError(f"it printed {lines[-1]!r} instead of its figures")
    return line


def machine() -> dict[str, Any]:
    """What ran the measurement."""
    processor = platform.processor() or platform.machine()
    about = Path("/proc/cpuinfo")
    if about.exists():
        models = [line for line in about.read_text().splitlines() if line.startswith("model name")]
        processor = models[0].split(":", 1)[1].strip() if models else processor
    return {"processor": processor, "cores": os.cpu_count(), "python": platform.python_version()}


# Showing


def ratios(results: Mapping[str, Result]) -> list[Ratio]:
    """The comparisons whose cases were measured."""
    found = []
    for comparison in COMPARISONS:
        rivals = [name for name in results if any(fnmatch(name, peer) for peer in comparison.peers)]
        if rivals and comparison.ours in results:
            best = max(rivals, key=lambda name: median(results[name].speeds))
            ratio = median(results[comparison.ours].speeds) / median(results[best].speeds)
            found.append(Ratio(comparison.text, comparison.ours, best, ratio))
    return found


def show(results: Mapping[str, Result], found: Iterable[Ratio]) -> str:
    """The results, fastest first, and the ratios, as two tables."""
    headers = ("project", "version", "case", "numbers", "mask", "decisions/s", "from", "to")
    rows = [
        (
            result.project,
            result.version,
            result.case,
            result.numbers or "none",
            "yes" if result.mask else "no",
            *(
                f"{speed:,.0f}"
                for speed in (median(result.speeds), min(result.speeds), max(result.speeds))
            ),
        )
        for result in fastest_first(results)
    ]
    compared = [(ratio.text, ratio.peer, f"{ratio.ratio:,.2f}") for ratio in found]
    tables = [table(rows, headers, "lllrlrrr")]
    if compared:
        tables.append(table(compared, ("ours / peer", "the peer's case", "ratio"), "llr"))
    return "\n\n".join(tables)


def fastest_first(results: Mapping[str, Result]) -> list[Result]:
    """By median."""
    return sorted(results.values(), key=lambda result: -median(result.speeds))


def plot(results: Mapping[str, Result], file: Path) -> None:
    """Draw the results as bars on a logarithmic scale, fastest on top."""
    try:
        figures, patches = import_module("matplotlib.figure"), import_module("matplotlib.patches")
    except ImportError:
        raise SystemExit("--plot needs matplotlib: pip install matplotlib") from None
    shown = fastest_first(results)[::-1]
    speeds = [median(result.speeds) for result in shown]
    ours = results.get(f"{OURS}/{next(iter(PROJECTS[0].cases))}")
    our_title = ours.project if ours else PROJECTS[0].title
    colours = [_colour(result.project == our_title, result.numbers > 0) for result in shown]
    figure = figures.Figure(figsize=(9.5, 1.3 + 0.27 * len(shown)), layout="constrained")
    axes = figure.add_subplot()
    axes.barh(range(len(shown)), speeds, height=0.74, color=colours)
    for at, (speed, result) in enumerate(zip(speeds, shown, strict=True)):
        place = {"xy": (max(result.speeds), at), "textcoords": "offset points", "va": "center"}
        axes.annotate(short(speed), xytext=(5, 0), fontsize=8.5, **place)
        numbers = f"{result.numbers:,} numbers" if result.numbers else "no observation"
        axes.annotate(numbers, xytext=(44, 0), fontsize=7, color="#777777", **place)
    spread = [[s - min(r.speeds), max(r.speeds) - s] for s, r in zip(speeds, shown, strict=True)]
    axes.errorbar(
        speeds,
        range(len(shown)),
        xerr=list(zip(*spread, strict=True)),
        fmt="none",
        ecolor="#333333",
        elinewidth=0.8,
    )
    axes.set_xscale("log")
    axes.set_xlim(10 ** math.floor(math.log10(min(speeds))), 12 * max(speeds))
    axes.set_ylim(-0.6, len(shown) - 0.4)
    axes.set_yticks(range(len(shown)), [f"{r.project}: {r.case}" for r in shown], fontsize=8.5)
    for label, result in zip(axes.get_yticklabels(), shown, strict=True):
        label.set_fontweight("bold" if result.project == our_title else "normal")
    axes.set_xlabel("decisions per second on one core (median; line: lowest to highest)", fontsize=9)
    axes.xaxis.set_major_formatter(lambda speed, _: short(speed, 1))
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=8.5)
    axes.grid(axis="x", color="#dddddd", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    names = {True: our_title, False: "others"}
    kinds = {True: "with observation", False: "no observation"}
    handles = [
        patches.Patch(color=_colour(own, seen), label=f"{names[own]}, {kinds[seen]}")
        for own in (True, False)
        for seen in (True, False)
    ]
    axes.legend(
        handles=handles, loc="lower right", fontsize=8.5, frameon=True, framealpha=1, edgecolor="#dddddd"
    )
    figure.savefig(file, dpi=160)


def _colour(own: bool, observed: bool) -> str:
    if own:
        return "#c8442f" if observed else "#e9a598"
    return "#4f6d8a" if observed else "#b4c3d1"


def short(speed: float, digits: int = 3) -> str:
    """A speed in so many digits: 950, 12.3 k, 1.27 M."""
    for unit, sign in ((1e6, " M"), (1e3, " k"), (1.0, "")):
        if speed >= unit:
            number = speed / unit
            decimals = max(0, digits - 1 - math.floor(math.log10(number)))
            return f"{number:.{decimals}f}{sign}"
    return f"{speed:.2g}"


if __name__ == "__main__":
    main()
