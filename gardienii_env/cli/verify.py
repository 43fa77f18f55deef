"""`gardienii verify`: game records are replayed and compared."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator

from gardienii_env.cli.options import Commands, add_command
from gardienii_env.errors import RecordError
from gardienii_env.record import loads, read_lines, verify
from gardienii_env.words import count_words

__all__ = ["add_to"]

DESCRIPTION = """\
Replay game records move by move. A record is right if its deal is possible,
every move is legal and the game ends as the record says.

For each file the number of games that replay is printed. The first fault ends
the command: a sentence on standard error names the file, the line (from 1)
and the move (from 0). The exit status is 1 if there is a fault or a file
without records."""

EXAMPLES = """\
  gardienii verify games.jsonl
  gardienii verify --all runs/*.jsonl"""

FAULT_FOUND = 1


def add_to(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands, run, "verify", "replay game records and compare", DESCRIPTION, EXAMPLES
    )
    parser.add_argument("files", metavar="FILE", nargs="+", help=".jsonl file of game records")
    parser.add_argument("--all", action="store_true", help="go on after a fault, and tell them all")


def run(args: Namespace) -> int:
    """Check the files in order."""
    status = 0
    for path in args.files:
        games = faults = 0
        for fault in check(path):
            if fault is None:
                games += 1
                continue
            print(fault, file=sys.stderr)
            status = FAULT_FOUND
            if not args.all:
                return status
            faults += 1
        found = f", {count_words(faults, 'fault')}" if faults else ""
        print(f"{path}: {count_words(games, 'game')} verified{found}")
    return status


def check(path: str) -> Iterator[str | None]:
    """For each record of a file None, or what is wrong with it; also what is wrong with the file."""
    empty = True
    try:
        for number, line in read_lines(path):
            empty = False
            try:
                verify(loads(line))
            except RecordError as error:
                yield f"{path}, line {number}: {error}"
            else:
                yield None
    except RecordError as error:
        yield str(error)
    else:
        if empty:
            yield f"{path}: there is no record in this file."
