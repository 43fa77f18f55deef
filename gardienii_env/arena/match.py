"""Duplicate matches: every deal is played with every rotation of the agents over the seats.

The luck of the deal falls on every agent alike. Games of one deal belong together, so intervals are
made from the deals' means, not from single games.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from gardienii_env.agents.base import STREAM, Agent
from gardienii_env.errors import AgentError, OptionError, shown
from gardienii_env.game import RulesetLike
from gardienii_env.rules import scoring
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.random import check_seed, seed_streams
from gardienii_env.rules.ruleset import MAX_PLAYERS, MIN_PLAYERS, Ruleset

__all__ = ["MatchResult", "duplicate_match"]

Z_95 = 1.959964  # 97.5 % quantile of the standard normal distribution


@dataclass(frozen=True)
class MatchResult:
    """What came of a match: arrays of shape (deals, rotations, agents)."""

    agents: tuple[str, ...]
    shares: npt.NDArray[np.float64]
    """Share of the win: 1 alone, 1/k together with k - 1 others, 0."""
    scores: npt.NDArray[np.int64]
    """Points at the end."""
    decisions: int
    """Decisions made in all games together."""

    @property
    def games(self) -> int:
        """How many games were played."""
        return int(self.shares.shape[0] * self.shares.shape[1])

    def win_share(self, agent: int = 0) -> tuple[float, float]:
        """Mean share of the win and the half-width of its 95 % interval, over deals."""
        return mean_and_half_width(self.shares[:, :, agent].mean(axis=1))

    def margin(self, agent: int = 0) -> tuple[float, float]:
        """Mean of own points less the others' mean, and the half-width of its 95 % interval."""
        own = self.scores[:, :, agent]
        others = (self.scores.sum(axis=2) - own) / (len(self.agents) - 1)
        return mean_and_half_width((own - others).mean(axis=1))


def mean_and_half_width(values: npt.NDArray[np.float64]) -> tuple[float, float]:
    """The mean of independent values and the half-width of its normal 95 % interval."""
    if values.size < 2:
        return float(values.mean()), float("nan")
    return float(values.mean()), Z_95 * float(values.std(ddof=1)) / sqrt(values.size)


def duplicate_match(
    agents: Sequence[Agent],
    ruleset: RulesetLike,
    deals: int,
    seed: int,
    batch_size: int = 512,
    progress: Callable[[int], object] = lambda games: None,
) -> MatchResult:
    """Play `deals` deals with every rotation of the agents; one agent a seat.

    Args:
        agents: as many as players, 2 to 4; agent k sits in seat (k + rotation) % players.
        ruleset: of all games: a shipped name, a file, a dict or a Ruleset.
        deals: how many deals; each is played once a rotation.
        seed: deal d has the seed `seed + d`, as in `Game.new`; the agents' generators follow from it.
        batch_size: games that are played side by side; it does not change the result.
        progress: called with the number of games that have just ended.

    Raises AgentError for wrong agents or an illegal choice, RulesetError, or OptionError for another
    wrong value.
    """
    players = _check_agents(agents)
    _check_count("deals", deals)
    _check_count("batch_size", batch_size)
    first_seed = check_seed(seed)
    if first_seed is None:
        raise OptionError("seed: a match has a seed, a whole number from 0 up, not None.")
    rules = Ruleset.get(ruleset)
    games = [(deal, rotation) for deal in range(deals) for rotation in range(players)]
    shares = np.zeros((deals, players, players))
    scores = np.zeros((deals, players, players), np.int64)
    decisions = 0
    for first in range(0, len(games), batch_size):
        table = _Table(agents, rules, first_seed, games[first : first + batch_size])
        decisions += table.play(progress)
        table.collect(shares, scores)
    return MatchResult(tuple(agent.name for agent in agents), shares, scores, decisions)


def _check_agents(agents: Sequence[Agent]) -> int:
    """How many agents there are; AgentError if they cannot play a match."""
    for agent in agents:
        if not isinstance(agent, Agent):
            raise AgentError(f"agents: {shown(agent)} is not an Agent object; see make_agents.")
    if not MIN_PLAYERS <= len(agents) <= MAX_PLAYERS:
        raise AgentError(f"agents: {len(agents)} agents; a match has one for each of 2 to 4 seats.")
    return len(agents)


def _check_count(option: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise OptionError(f"{option}: {shown(value)} is not a whole number from 1 up.")


class _Table:
    """Some games of a match, played side by side: all that wait for one agent are asked at once."""

    def __init__(
        self, agents: Sequence[Agent], ruleset: Ruleset, seed: int, games: list[tuple[int, int]]
    ) -> None:
        self.agents, self.games = agents, games
        self.batch = Batch(ruleset, len(agents), len(games))
        self.streams = np.zeros(len(games), STREAM)
        self.rotation = np.array([rotation for _, rotation in games])
        for i, (deal, rotation) in enumerate(games):
            streams = seed_streams(seed + deal, 1 + len(agents))
            self.batch.states["rng"][i] = streams[0]
            self.streams["rng"][i] = streams[1 + rotation]
            self.batch.deal(i)

    def play(self, progress: Callable[[int], object]) -> int:
        """Play all games to their end; how many decisions that took."""
        decisions = 0
        on = np.flatnonzero(self.batch.states["player"] >= 0)
        ended = len(self.games) - on.size
        while True:
            if ended:
                progress(ended)
            if not on.size:
                return decisions
            agent_of = (self.batch.states["player"][on] - self.rotation[on]) % len(self.agents)
            for k, agent in enumerate(self.agents):
                waiting = on[agent_of == k]
                if waiting.size:
                    actions = agent.decide(self.batch, waiting, self.streams)
                    self.batch.apply_all(waiting, actions)
            decisions += on.size
            still_on = on[self.batch.states["player"][on] >= 0]
            ended, on = on.size - still_on.size, still_on

    def collect(self, shares: npt.NDArray[np.float64], scores: npt.NDArray[np.int64]) -> None:
        """Write the results of the games, by agent, where they belong."""
        rules, states = self.batch.rules, self.batch.states
        for i, (deal, rotation) in enumerate(self.games):
            won = scoring.winners(rules, states, i)
            points = scoring.scores(rules, states, i)
            shares[deal, rotation] = np.roll(won / won.sum(), -rotation)
            scores[deal, rotation] = np.roll(points, -rotation)
