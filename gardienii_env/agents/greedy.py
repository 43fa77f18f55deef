"""`greedy`: plays the best set it can."""

from __future__ import annotations

from gardienii_env.agents.random import RandomAgent

__all__ = ["GreedyAgent"]


class GreedyAgent(RandomAgent):
    """To be written."""

    name = "greedy"
