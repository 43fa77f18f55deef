"""`ismcts`: information-set Monte-Carlo tree search, so many simulations or so many seconds a decision.

Every simulation draws anew what the deciding seat cannot know, walks down a tree of actions, plays
that turn and two more as `planner` does, and estimates the position: see `tree` and `rollout`. Source:
P. Cowling, E. Powley, D. Whitehouse, "Information set Monte Carlo tree search", IEEE Transactions on
Computational Intelligence and AI in Games 4, 2012 (single observer, as all actions of this game are seen
by all).

It knows what a player knows who forgets nothing (the recall view) and no more: the hidden cards are put
in an order of their own before the first simulation, so that nothing true about them is left.

No tree is kept from one decision to the next: what is searched would depend on who asked before, and
for which games, and most of a tree is of no use once the cards that were turned up are known.
"""

from __future__ import annotations

from math import isfinite
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from gardienii_env.agents.base import Agent
from gardienii_env.agents.tree import Search, action_of, choose_all, grow, plant
from gardienii_env.errors import AgentError, as_index, shown
from gardienii_env.rules.actions import ACTIONS
from gardienii_env.rules.batch import Batch

if TYPE_CHECKING:
    from gardienii_env.game import Game

__all__ = ["ActionReport", "IsmctsAgent"]

MOST_SIMULATIONS = 1_000_000
MOST_SECONDS = 3600.0
SLICE = 250  # simulations between two looks at the clock


class ActionReport(NamedTuple):
    """What a search found out about an action."""

    visits: int
    """Simulations that began with it."""
    share: float
    """The same as a share of all, 0 to 1."""
    value: float | None
    """The mean payoff expected for the seat that decides, -1 to 1; None without visits."""


class IsmctsAgent(Agent):
    """Searches anew for every decision. See the module.

    Args:
        simulations: how many a decision, 1 to 1 000 000. The same generator gives the same choice.
        seconds: or for how long each decision is searched, up to 3600. How far a search gets in that
            time depends on the machine and on what else it does: choices are not reproducible. No more
            than 1 000 000 simulations are made.

    Raises AgentError unless exactly one of them is given, with such a value.
    """

    def __init__(self, simulations: int | None = None, seconds: float | None = None) -> None:
        if (simulations is None) == (seconds is None):
            raise AgentError(
                "ismcts: give either simulations or seconds, like ismcts:400 or ismcts:0.5s."
            )
        if simulations is not None:
            self.name = f"ismcts:{_check_simulations(simulations)}"
        if seconds is not None:
            self.name = f"ismcts:{_check_seconds(seconds):g}s"
        self.simulations, self.seconds = simulations, seconds

    def act(
        self, batch: Batch, games: npt.NDArray[np.int64], streams: npt.NDArray[np.void]
    ) -> npt.NDArray[np.int64]:
        """See `Agent.act`."""
        actions = np.empty(games.size, np.int64)
        if self.simulations is not None:
            search = Search(batch.rules, batch.states, streams, self.simulations)
            choose_all(search.arrays, games, self.simulations, actions)
            return actions
        search = Search(batch.rules, batch.states, streams, SLICE)
        for k, i in enumerate(games.tolist()):
            self._search(search, i)
            actions[k] = action_of(search.arrays)
        return actions

    def analyse(self, game: Game) -> dict[str, ActionReport]:
        """What the search says of every legal action, by name, in the order of their ids.

        It is the search that `choose` would make for this game now; the agent's generator stays where it
        is. AgentError if the game is over.
        """
        if game.is_over:
            raise AgentError(f"{self.name} cannot analyse: the game is over.")
        if self._streams is None:
            self.reset()
        assert self._streams is not None
        search = Search(
            game.batch.rules, game.batch.states, self._streams.copy(), self.simulations or SLICE
        )
        total = self._search(search, 0)
        found = {action: (visits, value) for action, visits, value in search.children()}
        report = {}
        for action in np.flatnonzero(game.batch.masks[0]).tolist():
            visits, value = found.get(action, (0, None))
            report[ACTIONS[action]] = ActionReport(visits, visits / total, value)
        return report

    def _search(self, search: Search, i: int) -> int:
        """Search game i; how many simulations were made."""
        plant(search.arrays, i)
        if self.simulations is not None:
            grow(search.arrays, i, 0, self.simulations)
            return self.simulations
        assert self.seconds is not None
        end = perf_counter() + self.seconds
        done = 0
        while done == 0 or (perf_counter() < end and done < MOST_SIMULATIONS):
            search.make_room(done + SLICE)
            grow(search.arrays, i, done, done + SLICE)
            done += SLICE
        return done


def _check_simulations(value: object) -> int:
    if not 1 <= as_index(value) <= MOST_SIMULATIONS:
        raise AgentError(
            f"ismcts: {shown(value)} is not a number of simulations; expected a whole number from 1 to "
            f"{MOST_SIMULATIONS}."
        )
    return as_index(value)


def _check_seconds(value: object) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    if not number or not 0 < value <= MOST_SECONDS:  # type: ignore[operator]
        raise AgentError(
            f"ismcts: {shown(value)} is not a number of seconds; expected one above 0 and up to "
            f"{MOST_SECONDS:g}."
        )
    return float(value)  # type: ignore[arg-type]
