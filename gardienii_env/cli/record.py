"""`gardienii record`: agents play games, which are written as game records."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence

import numpy as np

from gardienii_env.agents import Agent, make_agents, new_streams
from gardienii_env.cli.options import (
    Commands,
    add_agents,
    add_command,
    add_players,
    add_ruleset,
    add_seed,
    add_trust,
    whole_number,
)
from gardienii_env.cli.output import progress, writing
from gardienii_env.game import Game
from gardienii_env.record import dumps
from gardienii_env.rules.ruleset import Ruleset
from gardienii_env.tables import table
from gardienii_env.words import count_words

__all__ = ["add_to", "play_game"]

DESCRIPTION = """\
Let agents play games and write them as game records, one JSON object a line.

Game k of the file, counted from 0, has the seed S + k: its deal is that of
Game.new(seed=S + k), and what a seat's agent draws follows from that seed and
the seat alone. So the same command writes the same file, byte for byte. An
older file of that name is replaced, but only once all games have been played.

A summary goes to standard error."""

EXAMPLES = """\
  gardienii record --agents greedy,random --games 100 --out games.jsonl
  gardienii record --players 4 --ruleset dragonkeepers --agents greedy --with-legal --out -"""


MAX_GAMES = 10**9


def add_to(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands, run, "record", "let agents play and write game records", DESCRIPTION, EXAMPLES
    )
    add_players(parser)
    add_ruleset(parser)
    add_agents(parser)
    add_trust(parser)
    parser.add_argument(
        "--games",
        metavar="K",
        type=whole_number(1, MAX_GAMES),
        default=1,
        help="number of games (default: %(default)s)",
    )
    add_seed(parser, "seed of the first game")
    parser.add_argument("--with-legal", action="store_true", help="write with each move what was legal")
    parser.add_argument(
        "--out", metavar="FILE.jsonl", required=True, help="file to write; - is standard output"
    )


def run(args: Namespace) -> int:
    """Play, write and sum up."""
    ruleset = Ruleset.get(args.ruleset)
    agents = make_agents(args.agents, args.players, args.trust)
    for agent in agents:
        agent.check(ruleset, args.players)
    tally = _Tally(agents)
    with writing(args.out) as file:
        for seed in progress(range(args.seed, args.seed + args.games), "game"):
            game = play_game(agents, ruleset, seed)
            print(dumps(game.to_record(args.with_legal)), file=file)
            tally.add(game)
    print(tally.summary(), file=sys.stderr)
    return 0


def play_game(agents: Sequence[Agent], ruleset: Ruleset, seed: int) -> Game:
    """A whole game from a seed, with one agent a seat; an agent may sit in several."""
    game = Game.new(len(agents), ruleset, seed)
    streams = new_streams(seed, 1 + len(agents))[1:]  # the first has dealt
    the_game = np.zeros(1, np.int64)
    while (seat := game.player) is not None:
        actions = agents[seat].decide(game.batch, the_game, streams[seat : seat + 1])
        game.apply(actions[0])
    return game


class _Tally:
    """What came of the games, by seat."""

    def __init__(self, agents: Sequence[Agent]) -> None:
        self.agents = agents
        self.games = self.decisions = 0
        self.wins, self.shared_wins, self.points = np.zeros((3, len(agents)), np.int64)

    def add(self, game: Game) -> None:
        """Count a game that is over."""
        winners = game.winners()
        self.games += 1
        self.decisions += len(game.moves)
        self.points += game.scores()
        (self.wins if len(winners) == 1 else self.shared_wins)[winners] += 1

    def summary(self) -> str:
        """All of it as text."""
        rows = [
            (seat, agent.name, self.wins[seat], self.shared_wins[seat], f"{mean:.1f}")
            for seat, (agent, mean) in enumerate(zip(self.agents, self.points / self.games, strict=True))
        ]
        counts = f"{count_words(self.games, 'game')}, {count_words(self.decisions, 'decision')}"
        headers = ("seat", "agent", "wins", "shared wins", "mean points")
        return f"{counts}\n\n{table(rows, headers, 'rlrrr')}"
