"""Agents that can choose inside a compiled loop over games, without a call from Python."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gardienii_env.agents.base import Agent
from gardienii_env.agents.greedy import GreedyAgent, greedy_action
from gardienii_env.agents.random import RandomAgent, random_action
from gardienii_env.rules.engine import Masks, write_mask
from gardienii_env.rules.jit import compiled_loop
from gardienii_env.rules.state import States

__all__ = ["NOT_COMPILED", "compiled_action", "compiled_code"]

NOT_COMPILED = -1
RANDOM, GREEDY = range(2)
CODES: dict[type[Agent], int] = {RandomAgent: RANDOM, GreedyAgent: GREEDY}


def compiled_code(agent: Agent) -> int:
    """By which number `compiled_action` knows an agent; NOT_COMPILED if it has to be asked itself."""
    return CODES.get(type(agent), NOT_COMPILED)


@compiled_loop
def compiled_action(
    code: int,
    rules: npt.NDArray[np.void],
    states: States,
    masks: Masks,
    i: int,
    streams: npt.NDArray[np.void],
) -> int:
    """What the agent with that number does in game i: the same as its `act`. Writes `masks[i]`."""
    if code == RANDOM:
        return random_action(states, i, streams)
    write_mask(states, masks, i)
    return greedy_action(rules, states, masks, i)
