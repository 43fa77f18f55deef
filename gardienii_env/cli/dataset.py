"""`gardienii dataset`: agents play games, which are written as a Minari data set."""

from __future__ import annotations

import sys
from argparse import Namespace
from contextlib import redirect_stdout

from gardienii_env.agents import make_agents
from gardienii_env.cli.options import (
    Commands,
    add_command,
    add_ruleset,
    add_seed,
    add_trust,
    list_agents,
    whole_number,
)
from gardienii_env.cli.output import counting
from gardienii_env.envs.outcome import REWARDS
from gardienii_env.errors import OptionError
from gardienii_env.observation import OBSERVATION_TYPES, VIEWS
from gardienii_env.rules.ruleset import MAX_PLAYERS, MIN_PLAYERS, Ruleset
from gardienii_env.words import count_words

__all__ = ["add_to"]

DESCRIPTION = """\
Let agents play and write every seat's decisions as a Minari data set, for
imitation and offline reinforcement learning: observations, action masks,
actions and rewards. An episode is one seat's way through one game. Needs the
extra `minari`.

Game k has the seed S + k, and agent k sits in seat k: the games are those of
`gardienii record` with the same agents, ruleset and seed. The same command
gives the same data. It goes where Minari keeps its data (the variable
MINARI_DATASETS_PATH, or ~/.minari/datasets), once it is complete."""

EXAMPLES = """\
  gardienii dataset --agents planner,planner --games 2000 --id gardienii/planner-v0
  gardienii dataset --agents greedy,random,random --reward points --id mine/three-v0"""

MAX_GAMES = 10**9
DEFAULT_GAMES = 1000


def add_to(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands, run, "dataset", "let agents play and write a Minari data set", DESCRIPTION, EXAMPLES
    )
    parser.add_argument(
        "--agents", metavar="LIST", required=True, help="one agent for each of 2 to 4 seats, with commas"
    )
    list_agents(parser)
    add_trust(parser)
    parser.add_argument(
        "--id", metavar="ID", required=True, help="name of the data set: NAMESPACE/NAME-vNUMBER"
    )
    parser.add_argument(
        "--games",
        metavar="K",
        type=whole_number(1, MAX_GAMES),
        default=DEFAULT_GAMES,
        help="number of games (default: %(default)s)",
    )
    add_seed(parser, "seed of the first game")
    add_ruleset(parser)
    parser.add_argument("--view", choices=VIEWS, default=VIEWS[0], help="(default: %(default)s)")
    parser.add_argument(
        "--reward", choices=REWARDS, default=REWARDS[0], help="what is paid (default: %(default)s)"
    )
    parser.add_argument(
        "--dtype",
        choices=OBSERVATION_TYPES,
        default="uint8",
        help="of observations: uint8 counts, or float32 in [0, 1], four times as large (default: uint8)",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace a data set of that name")
    parser.add_argument("--author", metavar="NAME", default="", help="for the metadata")
    parser.add_argument(
        "--code-permalink", metavar="URL", default="", help="for the metadata: where the code is"
    )


def run(args: Namespace) -> int:
    """Play, write, and tell where it is."""
    from gardienii_env.arena.dataset import DatasetPlan, check_dataset_id, write_dataset

    check_dataset_id(args.id, args.overwrite)
    seats = args.agents.count(",") + 1
    if not MIN_PLAYERS <= seats <= MAX_PLAYERS:
        raise OptionError(
            f"--agents: {args.agents!r} names {count_words(seats, 'agent')}; give one for each of "
            f"{MIN_PLAYERS} to {MAX_PLAYERS} seats, as in greedy,greedy."
        )
    ruleset = Ruleset.get(args.ruleset)
    with redirect_stdout(sys.stderr):  # what agents print is no part of the summary
        plan = DatasetPlan(
            args.id,
            make_agents(args.agents, seats, args.trust),
            ruleset,
            args.games,
            args.seed,
            args.view,
            args.reward,
            args.dtype,
            args.author,
            args.code_permalink,
        )
        with counting(args.games, 0, "game") as progress:
            written = write_dataset(plan, args.overwrite, progress=progress)
    counts = ", ".join(
        count_words(number, thing)
        for number, thing in (
            (args.games, "game"),
            (written.episodes, "episode"),
            (written.decisions, "decision"),
        )
    )
    print(f"{args.id}: {counts}, {written.megabytes:.1f} MB in {written.folder}")
    print(f'In Python: minari.load_dataset("{args.id}")')
    return 0
