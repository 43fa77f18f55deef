"""The program `gardienii`: its parser, and what happens to errors.

A command is a module with a function `add_to(commands)`, which adds its parser and says what runs it;
`COMMANDS` lists them. What a command alone needs is imported where it runs.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from types import FrameType

from gardienii_env import __version__
from gardienii_env.cli import (
    bench,
    dataset,
    evaluate,
    layout,
    play,
    record,
    replay,
    rules,
    serve,
    tournament,
    verify,
)
from gardienii_env.errors import Ended, GardieniiError

__all__ = ["build_parser", "main"]

COMMANDS = (play, serve, record, replay, verify, evaluate, tournament, dataset, bench, rules, layout)

DESCRIPTION = """\
Play, check and study the card game Gardienii Dragonilor, a
reinforcement-learning environment for 2 to 4 players."""

EPILOG = """\
`gardienii COMMAND --help` tells more about a command.

Exit status: 0 if all is well, 1 if a check failed, 2 if the command or its
input is wrong."""

FAILED = 2
INTERRUPTED = 130
BROKEN_PIPE = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program with arguments (None: those of the process); returns the exit status.

    Wrong usage and requests for help end in SystemExit, as is argparse's way.
    """
    _open_streams()
    _use_utf8()
    args = build_parser().parse_args(argv)
    try:
        with _ending_on_signals():
            status: int = args.run(args)
        sys.stdout.flush()
    except GardieniiError as error:
        return _fail(args.command, str(error))
    except BrokenPipeError:
        _discard_output()
        return BROKEN_PIPE
    except OSError as error:
        _discard_output()
        return _fail(args.command, f"{error}.")
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    return status


def build_parser() -> ArgumentParser:
    """The parser of the whole command line."""
    parser = ArgumentParser(
        prog="gardienii",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_to(commands)
    return parser


def _fail(command: str, sentence: str) -> int:
    print(f"gardienii {command}: error: {sentence}", file=sys.stderr)
    return FAILED


def _open_streams() -> None:
    """Stand in for streams that were closed: nobody reads the errors, and output cannot be written."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(os.devnull)  # noqa: SIM115


@contextmanager
def _ending_on_signals() -> Iterator[None]:
    """Let a request to end the process run what cleans up, as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {getattr(signal, name): signal.signal(getattr(signal, name), _end) for name in names}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(number: int, frame: FrameType | None) -> None:
    raise Ended(128 + number)


def _use_utf8() -> None:
    """Write the same bytes on every system."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def _discard_output() -> None:
    """Let what is still to be written vanish, or the interpreter complains when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
