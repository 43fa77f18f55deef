"""`gardienii tournament`: many agents play each other, and are rated together."""

from __future__ import annotations

from argparse import Namespace

from gardienii_env.arena.schedule import TABLES_AN_AGENT
from gardienii_env.arena.specification import TOURNAMENT
from gardienii_env.cli.evaluate import add_run_options, run_command
from gardienii_env.cli.options import Commands, add_command, whole_number
from gardienii_env.rules.ruleset import MAX_PLAYERS, MIN_PLAYERS

__all__ = ["add_to"]

DESCRIPTION = """\
Let agents play a tournament: ratings with intervals, who comes out ahead of
whom, and whether some beat each other in a circle. With two players every
agent meets every other; with three and four, groups are drawn so that every
agent and every pair sits about equally often. All tables play the same deals,
each with every rotation of the agents over the seats.

An agent that is given several times is numbered: a check of how much chance
there is in the ratings.

Folders, processes and reports are as in `gardienii evaluate`."""

EXAMPLES = """\
  gardienii tournament --agents greedy,random --deals 1000
  gardienii tournament --agents greedy,greedy,random,random --players 3 --deals 200 --out runs/four"""

MAX_TABLES = 100_000


def add_to(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands, run, "tournament", "let many agents play each other", DESCRIPTION, EXAMPLES
    )
    parser.add_argument(
        "--players",
        type=int,
        choices=range(MIN_PLAYERS, MAX_PLAYERS + 1),
        help=f"number of players at a table (default: {MIN_PLAYERS})",
    )
    parser.add_argument(
        "--tables",
        metavar="T",
        type=whole_number(1, MAX_TABLES),
        help=f"number of tables that are drawn, with three and four players (default: {TABLES_AN_AGENT} "
        "for each agent, or all there are)",
    )
    add_run_options(parser, "the agents, with commas")


def run(args: Namespace) -> int:
    """Play the tournament, or go on with one."""
    return run_command(args, TOURNAMENT)
