"""What `planner` thinks of each action, as numbers that a network sees and corrects: its prior.

A policy that is learned on top of an agent begins as strong as that agent is, and has to find out only
where the agent is wrong. The numbers follow from what a player knows who forgets nothing, like the
agent's choice, also where the view is `table`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gardienii_env.agents.planner import PlannerAgent
from gardienii_env.observation import View, layout, observe_deciding
from gardienii_env.rules.actions import NUM_ACTIONS
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.threads import Threads

__all__ = ["PRIOR", "PRIOR_POINTS", "observe", "observed_size", "prior_numbers", "prior_of"]

PRIOR = PlannerAgent.name
PRIOR_POINTS = 20.0
"""How many points worse than the best an action is that has the number 0."""
CHOICE_POINTS = 1.0
"""How many points better than others its choice is taken to be where the agent does not weigh them."""

_AGENT = PlannerAgent()


def observed_size(num_players: int, view: View, prior: bool) -> int:
    """The length of what `observe` gives."""
    return layout(num_players, view).size + (NUM_ACTIONS if prior else 0)


def observe(
    batch: Batch, games: npt.NDArray[np.int64], view: View, prior: bool
) -> npt.NDArray[np.float32]:
    """What the deciding seats see, and after it, if asked for, the prior: shape (k, size), float32."""
    observations = observe_deciding(batch, games, view)
    if not prior:
        return observations
    return np.concatenate([observations, prior_of(batch, games)], axis=1)


def prior_of(
    batch: Batch, games: npt.NDArray[np.int64], threads: Threads | None = None
) -> npt.NDArray[np.float32]:
    """The deciding seats' prior, shape (k, 73), float32; `threads` as for `PlannerAgent.worths`."""
    return prior_numbers(*_AGENT.worths(batch, games, threads))


def prior_numbers(
    actions: npt.NDArray[np.int64], worths: npt.NDArray[np.float64]
) -> npt.NDArray[np.float32]:
    """The prior from what `PlannerAgent.worths` gives: shape (k, 73), float32, from 0 to 1.

    1 is the best action, and `PRIOR_POINTS` points worse or not looked at is 0. Where the agent weighs
    nothing, its choice is 1, and all others `CHOICE_POINTS` worse.
    """
    rows = np.arange(len(actions))
    best = worths[rows, actions]
    weighed = np.isfinite(best)
    worths = np.where(weighed[:, np.newaxis], worths, -CHOICE_POINTS)
    best = worths[rows, actions] = np.where(weighed, best, 0.0)
    numbers = 1 + (worths - best[:, np.newaxis]) / PRIOR_POINTS
    return numbers.clip(0, 1).astype(np.float32)
