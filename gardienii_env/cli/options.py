"""What the commands' parsers have in common."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from typing import Any, Protocol

from gardienii_env.agents import AGENTS
from gardienii_env.arena.cluster import ClusterAddress
from gardienii_env.rules.ruleset import MAX_PLAYERS, MIN_PLAYERS, SHIPPED

__all__ = [
    "Commands",
    "add_agents",
    "add_command",
    "add_players",
    "add_ruleset",
    "add_seed",
    "add_trust",
    "jobs",
    "list_agents",
    "whole_number",
]


class Commands(Protocol):
    """Where a command adds its parser: what `ArgumentParser.add_subparsers` returns."""

    def add_parser(self, name: str, **options: Any) -> ArgumentParser:
        """A new parser for the command of that name."""


def add_command(
    commands: Commands,
    run: Callable[[Namespace], int],
    name: str,
    summary: str,
    description: str,
    examples: str,
) -> ArgumentParser:
    """Add the parser of a command, without options; `run` returns the exit status."""
    parser = commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog=f"examples:\n{examples}",
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    return parser


def add_players(parser: ArgumentParser) -> None:
    """Add `--players`."""
    parser.add_argument(
        "--players",
        type=int,
        choices=range(MIN_PLAYERS, MAX_PLAYERS + 1),
        default=MIN_PLAYERS,
        help="number of players (default: %(default)s)",
    )


def add_ruleset(parser: ArgumentParser, default: str | None = SHIPPED[0]) -> None:
    """Add `--ruleset`; without a default the command finds its own, the first shipped one."""
    parser.add_argument(
        "--ruleset",
        metavar="NAME_OR_FILE",
        default=default,
        help=f"{', '.join(SHIPPED)}, or a .toml or .json file (default: {SHIPPED[0]})",
    )


def add_agents(parser: ArgumentParser) -> None:
    """Add `--agents`, and to the help what agents there are."""
    parser.add_argument(
        "--agents",
        metavar="LIST",
        default="random",
        help="one agent for each seat, with commas, or one for all; see below (default: %(default)s)",
    )
    list_agents(parser)


def list_agents(parser: ArgumentParser) -> None:
    """Add to a command's help what agents there are."""
    kinds = "\n".join(f"  {', '.join(kind.forms)}\n      {kind.meaning}" for kind in AGENTS.values())
    parser.epilog = f"agents:\n{kinds}\n\n{parser.epilog}"


def add_trust(parser: ArgumentParser) -> None:
    """Add `--trust`."""
    kinds = ", ".join(form for kind in AGENTS.values() if kind.runs_code for form in kind.forms)
    parser.add_argument(
        "--trust",
        action="store_true",
        help=f"load agents from files that run code when they are loaded ({kinds}); only for files that "
        "you trust",
    )


def add_seed(parser: ArgumentParser, what: str) -> None:
    """Add `--seed`; `what` tells what it is the seed of."""
    parser.add_argument(
        "--seed", metavar="S", type=whole_number(0), default=0, help=f"{what} (default: %(default)s)"
    )


def whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    """A type for options: a whole number from `least` up to `most`, where there is a most."""

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least:
            raise ArgumentTypeError(f"{text!r} is not a whole number from {least} up")
        if most is not None and number > most:
            raise ArgumentTypeError(f"{text!r} is more than {most}")
        return number

    return parse


def jobs(most: int) -> Callable[[str], int | ClusterAddress]:
    """A type for `--jobs`: a number of processes, `ray` or `ray:ADDRESS`."""
    number = whole_number(1, most)

    def parse(text: str) -> int | ClusterAddress:
        where, colon, address = text.partition(":")
        if where != "ray":
            try:
                return number(text)
            except ArgumentTypeError as error:
                raise ArgumentTypeError(f"{error} (or ray, or ray:ADDRESS)") from None
        if colon and not address:
            raise ArgumentTypeError(f"{text!r} has no address after the colon; leave out the colon")
        return ClusterAddress(address or None)

    return parse
