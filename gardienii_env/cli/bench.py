"""`gardienii bench`: how fast everything is on this machine."""

from __future__ import annotations

import json
import sys
import time
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from math import isfinite
from textwrap import fill
from typing import Any, NamedTuple, TextIO

from gardienii_env.bench import CASES, Figure, Job, Machine, Settings, jobs, missing_extra, this_machine
from gardienii_env.cli.options import Commands, add_command, whole_number
from gardienii_env.cli.output import progress, writing
from gardienii_env.errors import OptionError, one_of
from gardienii_env.rules.ruleset import MAX_PLAYERS, MIN_PLAYERS
from gardienii_env.tables import table
from gardienii_env.words import count_words

__all__ = ["add_to"]

NAME_WIDTH = max(map(len, CASES))

DESCRIPTION = """\
Measure how many decisions a second the environments make on this machine.
Actions are random legal ones. With opponents, only the learner's decisions
count. Compiling is done before, and not timed: where it has not been done on
this machine yet, it takes about a minute more.

The cases:
{cases}

A figure is the median over the repeats, with the lowest and the highest.
"""

EXAMPLES = """\
  gardienii bench
  gardienii bench --only batch,vector --players 2 --json speed.json"""

HEADERS = ("case", "what", "players", "games", "threads", "median", "lowest", "highest", "unit")
ALIGN = "llrrrrrrl"
SETUP = ("players", "games", "threads", "view", "dtype", "opponents")
STDOUT = "-"
MAX_GAMES = 1_000_000
FORMAT, VERSION = "gardienii-bench", 1


class Measured(NamedTuple):
    """A figure and the name of its case."""

    case: str
    figure: Figure


def add_to(commands: Commands) -> None:
    """Add the command."""
    lines = "\n".join(_wrapped(name, case.measures) for name, case in CASES.items())
    description = DESCRIPTION.format(cases=lines)
    defaults = Settings()
    parser = add_command(
        commands, run, "bench", "measure how fast the environments are here", description, EXAMPLES
    )
    parser.add_argument(
        "--seconds",
        metavar="S",
        type=_seconds,
        default=defaults.seconds,
        help="of measuring for each figure, all repeats together; sb3 takes as long as its rollouts "
        "take (default: %(default)g)",
    )
    parser.add_argument(
        "--repeats",
        metavar="N",
        type=whole_number(1, 1000),
        default=defaults.repeats,
        help="how often each figure is measured (default: %(default)s)",
    )
    parser.add_argument(
        "--only",
        metavar="LIST",
        type=_cases,
        help=f"cases, with commas: {','.join(CASES)} (default: all)",
    )
    parser.add_argument(
        "--players",
        metavar="LIST",
        type=_players,
        default=defaults.players,
        help=f"numbers of players, with commas (default: {','.join(map(str, defaults.players))})",
    )
    for option, default, where in (
        ("--games", defaults.games, "in a batch, and of make_vec"),
        ("--many-games", defaults.many_games, "in the batch of the case many"),
    ):
        parser.add_argument(
            option,
            metavar="K",
            type=whole_number(1, MAX_GAMES),
            default=default,
            help=f"number of games {where} (default: %(default)s)",
        )
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="also write all figures as JSON; - is standard output, the table goes to standard error",
    )


def run(args: Namespace) -> int:
    """Measure, print the table and write the JSON."""
    settings = Settings(args.seconds, args.repeats, args.players, args.games, args.many_games)
    skipped = _skipped(args.only)
    names = [name for name in args.only or CASES if name not in skipped]
    for reason in skipped.values():
        print(f"Left out. {reason}.", file=sys.stderr)
    with nullcontext() if args.json is None else _writing_json(args.json) as file:
        machine = this_machine()
        started = time.time()
        figures: list[Measured] = []
        target = sys.stderr if args.json == STDOUT else sys.stdout
        try:
            _measure(jobs(names, settings), figures)
        finally:  # also what was measured before an interrupt
            if figures:
                print(f"{_heading(machine)}\n\n{_table(figures)}", file=target)
        if file is not None:
            data = _data(machine, settings, skipped, figures, started)
            print(json.dumps(data, indent=2), file=file)
    return 0


def _skipped(asked: Sequence[str] | None) -> dict[str, str]:
    """The cases that need an extra that is not there, and why; an error if they were asked for."""
    missing = {name: missing_extra(case) for name, case in CASES.items() if name in (asked or CASES)}
    for error in missing.values():
        if error is not None and asked is not None:
            raise error
    return {name: str(error) for name, error in missing.items() if error is not None}


def _measure(to_do: Sequence[tuple[str, Job]], figures: list[Measured]) -> None:
    """Do the measurements, one after the other, and add to the figures."""
    seconds = sum(job.seconds for _, job in to_do)
    print(
        f"Measuring for about {_duration(seconds)}, and as long as it takes to compile what has not "
        "been compiled here yet.",
        file=sys.stderr,
        flush=True,
    )
    before = ""
    for case, job in progress(to_do, "measurement"):
        if case != before and not sys.stderr.isatty():  # a terminal has a progress bar
            print(f"measuring {case}", file=sys.stderr, flush=True)
        before = case
        figures += [Measured(case, figure) for figure in job.measure()]


def _duration(seconds: float) -> str:
    if seconds < 90:
        return count_words(max(1, round(seconds)), "second")
    return count_words(round(seconds / 60), "minute")


# -- table -----------------------------------------------------------------------------------------


def _heading(machine: Machine) -> str:
    versions = ", ".join(f"{name} {version or '-'}" for name, version in machine.versions.items())
    cores = count_words(machine.cores, "core")
    allowed = "" if machine.cores_allowed == machine.cores else f", {machine.cores_allowed} allowed"
    return f"{machine.processor}, {cores}{allowed}, {machine.system}\n{versions}"


def _table(figures: Sequence[Measured]) -> str:
    return table(map(_row, figures), HEADERS, ALIGN)


def _row(measured: Measured) -> tuple[str, ...]:
    case, figure = measured
    form, unit = FORMS[figure.unit]
    samples = (figure.median, figure.min, figure.max)
    shown = [form(value) for value in samples[: 3 if len(figure.samples) > 1 else 1]]
    setup = [f"{figure.setup[key]:,}" for key in ("players", "games", "threads")]
    return (case, figure.what, *setup, *shown, *[""] * (3 - len(shown)), unit)


FORMS: dict[str, tuple[Callable[[float], str], str]] = {
    "decisions/s": ("{:,.0f}".format, "decisions/s"),
    "share": (lambda share: f"{100 * share:.1f}", "% of the time"),
    "ratio": ("{:.3f}".format, "times"),
    "bytes": (lambda size: f"{size / 1e6:,.1f}", "MB"),
}
"""How the table shows a value of each unit, and the unit."""


# -- JSON ------------------------------------------------------------------------------------------


@contextmanager
def _writing_json(out: str) -> Iterator[TextIO]:
    try:
        with writing(out) as file:
            yield file
    except OptionError as error:
        raise OptionError(str(error).replace("--out:", "--json:", 1)) from None


def _data(
    machine: Machine,
    settings: Settings,
    skipped: dict[str, str],
    figures: Sequence[Measured],
    started: float,
) -> dict[str, Any]:
    """All of it; `docs/speed.md` tells the keys."""
    measured = dict.fromkeys(case for case, _ in figures)
    return {
        "format": FORMAT,
        "version": VERSION,
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started)),
        "elapsed_seconds": round(time.time() - started, 3),
        "machine": asdict(machine),
        "settings": asdict(settings),
        "cases": {name: CASES[name].measures for name in measured},
        "skipped": skipped,
        "figures": [_figure(case, figure) for case, figure in figures],
    }


def _figure(case: str, figure: Figure) -> dict[str, Any]:
    return {
        "case": case,
        "what": figure.what,
        **{key: figure.setup.get(key) for key in SETUP},
        "unit": figure.unit,
        "median": figure.median,
        "lowest": figure.min,
        "highest": figure.max,
        "samples": figure.samples,
    }


# -- options ---------------------------------------------------------------------------------------


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not (isfinite(seconds) and seconds > 0):
        raise ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return seconds


def _cases(text: str) -> tuple[str, ...]:
    """The cases named, each once, in the order in which they are measured."""
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in CASES:
            raise ArgumentTypeError(one_of("the case", name, CASES))
    return tuple(name for name in CASES if name in names)


def _players(text: str) -> tuple[int, ...]:
    known = {str(number): number for number in range(MIN_PLAYERS, MAX_PLAYERS + 1)}
    numbers = [number.strip() for number in text.split(",")]
    for number in numbers:
        if number not in known:
            raise ArgumentTypeError(one_of("the number of players", number, known))
    return tuple(dict.fromkeys(known[number] for number in numbers))


def _wrapped(name: str, text: str) -> str:
    """A line of the list of cases, wrapped."""
    indent = " " * (NAME_WIDTH + 4)
    return fill(text, 78, initial_indent=f"  {name:{NAME_WIDTH}}  ", subsequent_indent=indent)
