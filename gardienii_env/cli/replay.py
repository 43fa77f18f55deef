"""`gardienii replay`: a recorded game as a page to look at, alone in one file."""

from __future__ import annotations

import sys
from argparse import Namespace
from contextlib import redirect_stdout
from typing import Any

from gardienii_env.agents import make_agent
from gardienii_env.cli.options import Commands, add_command, add_trust, list_agents, whole_number
from gardienii_env.cli.output import same_file, writing
from gardienii_env.errors import OptionError, RecordError
from gardienii_env.record import loads, read_lines
from gardienii_env.render.texts import LANGUAGES
from gardienii_env.words import count_words

__all__ = ["add_language", "add_to", "read_game"]

DESCRIPTION = """\
Write a recorded game as a page that shows it step by step: the board, points
over time, every move in words, all hands or what one seat saw. The page is one
file and needs neither a server nor a network.

With --agent it also tells what that agent would have done at each decision, with
its visits or probabilities and values where it has them, and marks the decisions
where the player did something else."""

EXAMPLES = """\
  gardienii replay games.jsonl --out game.html
  gardienii replay games.jsonl --game 3 --agent planner --agent ismcts:1000 --out game.html"""


def add_to(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands, run, "replay", "write a recorded game as a page to look at", DESCRIPTION, EXAMPLES
    )
    parser.add_argument("file", metavar="FILE.jsonl", help="file of game records")
    parser.add_argument(
        "--game",
        metavar="K",
        type=whole_number(0),
        default=0,
        help="which of its games, counted from 0 (default: %(default)s)",
    )
    parser.add_argument(
        "--agent",
        metavar="NAME",
        action="append",
        default=[],
        help="an agent that tells what it would have done; see below; may be given again",
    )
    list_agents(parser)
    add_trust(parser)
    parser.add_argument(
        "--names", metavar="LIST", help="names of the players, with commas, in the order of the seats"
    )
    add_language(parser)
    parser.add_argument(
        "--out", metavar="FILE.html", required=True, help="file to write; - is standard output"
    )


def add_language(parser: Any) -> None:
    """Add `--language`."""
    parser.add_argument(
        "--language",
        choices=LANGUAGES,
        default=next(iter(LANGUAGES)),
        help=f"language: {', '.join(f'{code} ({name})' for code, name in LANGUAGES.items())} "
        "(default: %(default)s)",
    )


def run(args: Namespace) -> int:
    """Read, judge and write."""
    from gardienii_env.web.replay import replay_page

    if same_file(args.file, args.out):
        raise OptionError(f"--out: {args.out!r} holds the games; give another file for the page.")
    line, record = read_game(args.file, args.game)
    names = None if args.names is None else [name.strip() for name in args.names.split(",")]
    with writing(args.out) as file:
        with redirect_stdout(sys.stderr):  # what agents print is no part of the page
            judges = [make_agent(name, args.trust) for name in args.agent]
            try:
                page = replay_page(record, judges, args.language, names)
            except RecordError as error:
                raise RecordError(f"{args.file}, line {line}: {error}", error.move) from None
        file.write(page)
    return 0


def read_game(path: str, number: int) -> tuple[int, dict[str, Any]]:
    """Record `number` of a file, counted from 0, after the number of its line."""
    count = 0
    for line, text in read_lines(path):
        if count == number:
            try:
                return line, loads(text)
            except RecordError as error:
                raise RecordError(f"{path}, line {line}: {error}") from None
        count += 1
    raise OptionError(
        f"--game: {number}, but {path} holds {count_words(count, 'game')}, counted from 0."
    )
