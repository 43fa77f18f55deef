"""`gardienii evaluate`: agents play a match; and what `gardienii tournament` has in common with it."""

from __future__ import annotations

import json
import os
import shlex
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from typing import TextIO

from gardienii_env.arena import MatchResult, TournamentResult, ratings
from gardienii_env.arena.cluster import joined
from gardienii_env.arena.folder import RECORDS, RunFolder
from gardienii_env.arena.report import facts, now, report
from gardienii_env.arena.run import Played, play_run
from gardienii_env.arena.specification import MATCH, MAX_DEALS, TOURNAMENT, Kind, Specification
from gardienii_env.cli.options import (
    Commands,
    add_command,
    add_ruleset,
    add_trust,
    jobs,
    list_agents,
    whole_number,
)
from gardienii_env.cli.output import STDOUT, counting, writing
from gardienii_env.errors import AgentError, MissingExtraError, OptionError
from gardienii_env.rules.ruleset import SHIPPED, Ruleset

__all__ = ["add_run_options", "add_to", "run_command"]

DESCRIPTION = """\
Let agents play a match and tell who is stronger, and how sure that is. Every
deal is played with every rotation of the agents over the seats, so that the
luck of the deal falls on all alike. The number of agents is the number of
players.

Deal d has the seed S + d. The same command gives the same result, whatever
the number of processes or machines.

With --out the run is kept in a folder as it goes. However it is ended,
--resume goes on with it."""

EXAMPLES = """\
  gardienii evaluate --agents planner,greedy --deals 1000
  gardienii evaluate --agents ismcts:100,planner --deals 20
  gardienii evaluate --agents greedy,random,random --deals 5000 --jobs 2 --out runs/three
  gardienii evaluate --resume runs/three --jobs 4
  gardienii evaluate --agents ismcts:400,planner --jobs ray:10.0.0.1:6379"""

DEFAULT_DEALS, DEFAULT_SEED = 500, 0
MAX_JOBS = 1024
SAME = ("agents", "players", "tables", "ruleset", "deals", "seed", "independent", "save_records")
"""Options that say what is played: to go on with a run they need not be given, and must not differ."""


def add_to(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands, run, "evaluate", "let agents play a match, and judge them", DESCRIPTION, EXAMPLES
    )
    add_run_options(parser, "2 to 4 agents, one for each player, with commas")


def run(args: Namespace) -> int:
    """Play the match, or go on with one."""
    return run_command(args, MATCH)


# -- what both commands have -----------------------------------------------------------------------


def add_run_options(parser: ArgumentParser, agents: str) -> None:
    """Add the options of a run; `agents` says which agents are given."""
    parser.add_argument("--agents", metavar="LIST", help=f"{agents}; see below")
    list_agents(parser)
    parser.add_argument(
        "--deals",
        metavar="K",
        type=whole_number(1, MAX_DEALS),
        help=f"number of deals (default: {DEFAULT_DEALS})",
    )
    parser.add_argument(
        "--seed", metavar="S", type=whole_number(0), help=f"seed of deal 0 (default: {DEFAULT_SEED})"
    )
    add_ruleset(parser, None)
    parser.add_argument(
        "--independent",
        action="store_const",
        const=True,
        help="play each deal once, from seats that rotate: independent games",
    )
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=jobs(MAX_JOBS),
        default=1,
        help="number of processes that play (default: %(default)s); ray: all cores of a Ray cluster, "
        "that of RAY_ADDRESS, or one that runs here, or else a new one; ray:HOST:PORT: of the one there",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--out", metavar="FOLDER", help="new folder to keep the run and its reports in")
    where.add_argument("--resume", metavar="FOLDER", help="go on with a run that was kept")
    parser.add_argument(
        "--save-records", action="store_const", const=True, help="keep the records of all games too"
    )
    parser.add_argument("--json", metavar="FILE", help="also write the results as JSON")
    parser.add_argument("--html", metavar="FILE", help="also write the results as a page with plots")
    add_trust(parser)


def run_command(args: Namespace, kind: Kind) -> int:
    """Play the run that the arguments ask for, and report it."""
    _check_targets(args)
    if kind == TOURNAMENT:
        ratings.check_installed()
    if args.html is not None and not _can_draw():
        raise MissingExtraError("A page with plots", "arena")
    folder = None if args.resume is None else RunFolder.open(args.resume)
    if folder is None:
        specification = _specification(args, kind)
    else:
        specification = folder.specification
        _check_same(args, kind, specification)
    with ExitStack() as stack:
        with redirect_stdout(sys.stderr):  # what agents print is no part of a report
            agents = specification.make_agents(args.trust)
        json_file, html_file = (
            None if name is None else stack.enter_context(writing(name, option))
            for option, name in (("--json", args.json), ("--html", args.html))
        )
        with redirect_stdout(sys.stderr), joined(args.jobs) as workers:
            if args.out is not None:
                folder = RunFolder.create(args.out, specification)
            done = 0 if folder is None else folder.num_played
            with (
                _kept(folder, args.command),
                counting(specification.num_games, done, "game") as progress,
            ):
                played = play_run(specification, agents, args.trust, workers, folder, progress)
        data = json.dumps(report(specification, played), indent=2, ensure_ascii=False, allow_nan=False)
        if folder is not None:
            _write_reports(folder, data, played)
        if json_file is not None:
            print(data, file=json_file)
        if html_file is not None:
            html_file.write(_page(specification, played))
        print(_text(played), file=sys.stderr if STDOUT in (args.json, args.html) else sys.stdout)
    return 0


def _check_targets(args: Namespace) -> None:
    """OptionError if --json and --html would write over each other, or over the run that is kept."""
    given = {"--json": args.json, "--html": args.html}
    files = {
        option: os.path.realpath(name) for option, name in given.items() if name not in (None, STDOUT)
    }
    if (args.json is not None and args.json == args.html) or len(set(files.values())) < len(files):
        raise OptionError(f"--json, --html: both would go to {args.json}; give them two names.")
    folder = args.out or args.resume
    if args.out == "" or args.resume == "":
        raise OptionError("--out, --resume: the name of the folder is empty.")
    if folder is None:
        return
    for option, file in files.items():
        if Path(os.path.realpath(folder)) in Path(file).parents:
            raise OptionError(
                f"{option}: {given[option]} lies in {folder}, which keeps its own reports; write "
                "somewhere else, or leave it out."
            )


def _specification(args: Namespace, kind: Kind) -> Specification:
    """What a new run plays."""
    if args.agents is None:
        raise OptionError("--agents: missing; give their names with commas, or a run to --resume.")
    if args.save_records and args.out is None:
        raise OptionError("--save-records: there is nowhere to keep them; give a folder by --out.")
    names = args.agents.split(",")
    return Specification.new(
        kind,
        names,
        players=len(names) if kind == MATCH else args.players or 2,
        tables=None if kind == MATCH else args.tables,
        ruleset=Ruleset.get(args.ruleset or SHIPPED[0]),
        deals=DEFAULT_DEALS if args.deals is None else args.deals,
        seed=DEFAULT_SEED if args.seed is None else args.seed,
        duplicate=not args.independent,
        save_records=bool(args.save_records),
        started=now(),
    )


def _check_same(args: Namespace, kind: Kind, stored: Specification) -> None:
    """OptionError if something was given that is not what the run to go on with plays."""
    if stored.kind != kind:
        raise OptionError(f"--resume: {args.resume} holds a {stored.kind}, not a {kind}.")
    values = {
        "agents": ",".join(stored.agents),
        "players": stored.players,
        "tables": stored.tables,
        "ruleset": stored.ruleset,
        "deals": stored.deals,
        "seed": stored.seed,
        "independent": not stored.duplicate,
        "save_records": stored.save_records,
    }
    for name in SAME:
        given = getattr(args, name, None)
        if given is None:
            continue
        if name == "agents":
            given = ",".join(agent.strip() for agent in given.split(","))
        if name == "ruleset":
            given = Ruleset.get(given)
        if given != values[name]:
            option = "--" + name.replace("_", "-")
            raise OptionError(
                f"{option}: the run in {args.resume} was begun {_words(option, values[name])}; leave "
                f"{option} out to go on with it."
            )


def _words(option: str, value: object) -> str:
    """The value of an option in a sentence."""
    if value is None or value is False:
        return f"without {option}"
    if value is True:
        return f"with {option}"
    return f"with {value.name if isinstance(value, Ruleset) else value}"


@contextmanager
def _kept(folder: RunFolder | None, command: str) -> Iterator[None]:
    """Tell how to go on with a run that was ended, or that an agent ended by failing."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, AgentError):
        if folder is not None:
            again = shlex.join(["gardienii", command, "--resume", str(folder.path)])
            print(f"What was played is kept. To go on: {again}", file=sys.stderr)
        raise


def _text(played: Played) -> str:
    from gardienii_env.arena import text

    if isinstance(played.result, TournamentResult):
        return text.tournament_report(played.result)
    return text.match_report(played.result)


def _page(specification: Specification, played: Played) -> str:
    from gardienii_env.arena import html

    told = facts(specification)
    if isinstance(played.result, MatchResult):
        return html.match_page(played.result, facts=told)
    return html.tournament_page(played.result, facts=told)


def _can_draw() -> bool:
    return find_spec("matplotlib") is not None


def _write_reports(folder: RunFolder, data: str, played: Played) -> None:
    """Write what the folder of a run that is finished holds besides the games."""
    with _in_folder(folder, "report.json") as file:
        print(data, file=file)
    if folder.specification.save_records:
        with _in_folder(folder, RECORDS) as file:
            folder.write_records(file)
    if _can_draw():
        with _in_folder(folder, "report.html") as file:
            file.write(_page(folder.specification, played))
    else:
        print("There is no report.html: it needs the extra arena.", file=sys.stderr)


@contextmanager
def _in_folder(folder: RunFolder, name: str) -> Iterator[TextIO]:
    with writing(str(folder.path / name)) as file:
        yield file
