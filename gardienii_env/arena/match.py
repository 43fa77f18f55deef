"""Matches: deals played by agents, each deal with every rotation of the agents over the seats, or once.

What is kept of a game is worked out here, by `tally.py`; what the games add up to, in `results.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from gardienii_env.agents.base import STREAM, Agent
from gardienii_env.arena.results import GAME, MatchResult
from gardienii_env.arena.tally import apply_and_count, finish, line_up
from gardienii_env.errors import AgentError, OptionError, as_index, shown
from gardienii_env.game import Game, RulesetLike
from gardienii_env.record import dumps
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.random import check_seed, seed_streams
from gardienii_env.rules.ruleset import MAX_PLAYERS, MIN_PLAYERS, Ruleset

__all__ = [
    "BATCH_SIZE",
    "Progress",
    "check_agents",
    "check_count",
    "duplicate_match",
    "play_deals",
    "untold",
]

BATCH_SIZE = 512
"""Games that are played side by side."""

TABLE_STEP = 0xD1B54A32D192ED03
"""How far the agents' generators at one table are from those at the next: a large odd number."""

Progress = Callable[[int], object]
"""Called with the number of games that have just ended."""


def untold(games: int) -> None:
    """Progress that nobody wants to hear of."""


def duplicate_match(
    agents: Sequence[Agent],
    ruleset: RulesetLike,
    deals: int,
    seed: int,
    batch_size: int = BATCH_SIZE,
    progress: Progress = untold,
    duplicate: bool = True,
    table: int = 0,
) -> MatchResult:
    """Play `deals` deals with every rotation of the agents; one agent a seat.

    Args:
        agents: as many as players, 2 to 4; agent k sits in seat (k + rotation) % players.
        ruleset: of all games: a shipped name, a file, a dict or a Ruleset.
        deals: how many deals; each is played once a rotation.
        seed: deal d has the seed `seed + d`, as in `Game.new`; the agents' generators follow from it.
        batch_size: games that are played side by side; it does not change the result.
        progress: called with the number of games that have just ended.
        duplicate: False plays each deal once, with the rotation deal % players: independent games.
        table: a number that changes what agents draw, and not the deals.

    Raises AgentError for wrong agents or an illegal choice, RulesetError, or OptionError for another
    wrong value.
    """
    rules = Ruleset.get(ruleset)
    check_agents(agents, rules)
    check_count("deals", deals)
    check_count("batch_size", batch_size)
    first_seed = check_seed(seed)
    if first_seed is None:
        raise OptionError("seed: a match has a seed, a whole number from 0 up, not None.")
    games = play_deals(
        agents, rules, first_seed, range(deals), duplicate, batch_size, progress, table=table
    )
    return MatchResult(tuple(agent.name for agent in agents), rules.name, first_seed, games)


def check_agents(agents: Sequence[Agent], ruleset: Ruleset) -> None:
    """AgentError unless the agents can play a match of that ruleset, one a seat."""
    for agent in agents:
        if not isinstance(agent, Agent):
            raise AgentError(f"agents: {shown(agent)} is not an Agent object; see make_agents.")
    if not MIN_PLAYERS <= len(agents) <= MAX_PLAYERS:
        raise AgentError(f"agents: {len(agents)} agents; a match has one for each of 2 to 4 seats.")
    for agent in agents:
        agent.check(ruleset, len(agents))


def check_count(option: str, value: object) -> None:
    """OptionError unless the value of an option is a whole number from 1 up."""
    if as_index(value) < 1:
        raise OptionError(f"{option}: {shown(value)} is not a whole number from 1 up.")


def play_deals(
    agents: Sequence[Agent],
    ruleset: Ruleset,
    seed: int,
    deals: range,
    duplicate: bool = True,
    batch_size: int = BATCH_SIZE,
    progress: Progress = untold,
    records: list[str] | None = None,
    table: int = 0,
) -> npt.NDArray[np.void]:
    """Play some deals of a match; the arguments are those of `duplicate_match`, checked already.

    Returns shape (deals, rotations), dtype `GAME`. The games' records, each a line without its break,
    are added to `records` in the order of the array, row by row.
    """
    players = len(agents)
    played = np.zeros((len(deals), players if duplicate else 1), GAME)
    played["deal"] = np.array(deals, np.int64)[:, np.newaxis]
    played["rotation"] = np.arange(players) if duplicate else played["deal"] % players
    games = played.reshape(-1)
    for first in range(0, games.size, batch_size):
        some = _Table(
            agents, ruleset, seed, games[first : first + batch_size], records is not None, table
        )
        some.play(progress)
        if records is not None:
            records += some.records()
    return played


class _Table:
    """Some games of a match, played side by side: all that wait for one agent are asked at once."""

    def __init__(
        self,
        agents: Sequence[Agent],
        ruleset: Ruleset,
        seed: int,
        games: npt.NDArray[np.void],
        recording: bool,
        table: int,
    ) -> None:
        """Deal the games; what comes of them is written into `games`."""
        self.agents, self.games = agents, games
        self.seeds = [seed + int(deal) for deal in games["deal"]]
        self.batch = Batch(ruleset, len(agents), games.size)
        self.streams = np.zeros(games.size, STREAM)
        self._seed_generators(table)
        for i in range(games.size):
            self.batch.deal(i)
        self.dealt = self.batch.copy() if recording else None
        self.moves: list[tuple[npt.NDArray[np.int64], ...]] = []

    def _seed_generators(self, table: int) -> None:
        """The first generator of a deal's seed deals, and each rotation has one of the others."""
        shift = table * TABLE_STEP
        known: dict[int, npt.NDArray[np.uint64]] = {}
        for i, (seed, rotation) in enumerate(zip(self.seeds, self.games["rotation"], strict=True)):
            if seed not in known:
                known = {seed: seed_streams(seed, 1 + len(self.agents))}
            self.batch.states["rng"][i] = known[seed][0]
            self.streams["rng"][i] = (int(known[seed][1 + rotation]) + shift) % 2**64

    def play(self, progress: Progress) -> None:
        """Play all games to their end."""
        batch = self.batch
        queues = np.zeros((len(self.agents), self.games.size), np.int64)
        lengths = np.zeros(len(self.agents), np.int64)
        before = self.games.size
        while True:
            on = line_up(batch.states, self.games, queues, lengths)
            if on < before:
                progress(before - on)
                before = on
            if not on:
                break
            for k, agent in enumerate(self.agents):
                if lengths[k]:
                    waiting = queues[k, : lengths[k]].copy()
                    actions = self._decide(agent, waiting)
                    self._note(waiting, actions)
                    apply_and_count(
                        batch.rules, batch.states, batch.masks, waiting, actions, self.games, k
                    )
        finish(batch.rules, batch.states, self.games)

    def _decide(self, agent: Agent, waiting: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """What the agent does in the games that wait for it; an error says in which it was."""
        try:
            return agent.decide(self.batch, waiting, self.streams)
        except AgentError as error:
            if error.game is None:
                raise
            played, seed = self.games[error.game], self.seeds[error.game]
            raise AgentError(
                f"{error} It was in deal {played['deal']} with rotation {played['rotation']}, after "
                f"{played['decisions'].sum()} decisions; a match of one deal with the seed {seed} plays "
                "it again.",
                error.game,
            ) from error

    def _note(self, games: npt.NDArray[np.int64], actions: npt.NDArray[np.int64]) -> None:
        """Keep what is decided, if there are to be records."""
        if self.dealt is not None:
            seats = self.batch.states["player"][games].astype(np.int64)
            self.moves.append((games, seats, actions))

    def records(self) -> list[str]:
        """The games' records, in order."""
        assert self.dealt is not None
        moves: list[list[tuple[int, int]]] = [[] for _ in self.seeds]
        for step in self.moves:
            for game, seat, action in zip(*(array.tolist() for array in step), strict=True):
                moves[game].append((seat, action))
        return [dumps(self._game(i, moves[i]).to_record()) for i in range(len(self.seeds))]

    def _game(self, i: int, moves: list[tuple[int, int]]) -> Game:
        """Game i, which is over, as one that has a record."""
        assert self.dealt is not None
        single = Batch(self.batch.ruleset, self.batch.num_players, 1)
        single.states[0], single.masks[0] = self.dealt.states[i], self.dealt.masks[i]
        game = Game(single, self.seeds[i])
        game.moves = moves
        single.states[0], single.masks[0] = self.batch.states[i], self.batch.masks[i]
        return game
