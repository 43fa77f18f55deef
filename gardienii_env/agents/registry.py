"""Where agents are named and made."""

from __future__ import annotations

from collections.abc import Callable

from gardienii_env.agents.base import Agent
from gardienii_env.agents.greedy import GreedyAgent
from gardienii_env.agents.random import RandomAgent
from gardienii_env.errors import AgentError, one_of
from gardienii_env.words import count_words

__all__ = ["AGENTS", "make_agent", "make_agents"]

AGENTS: dict[str, Callable[[str | None], Agent]] = {
    "random": lambda argument: _without_argument(RandomAgent, argument),
    "greedy": lambda argument: _without_argument(GreedyAgent, argument),
}
"""How to make an agent from what follows the colon of its name (None: there is no colon)."""


def make_agent(name: str, trust: bool = False) -> Agent:
    """The agent written `name` or `name:argument`; AgentError if there is none such.

    `trust` allows agents from files that run code when they are loaded.
    """
    base, colon, argument = name.strip().partition(":")
    if base not in AGENTS:
        raise AgentError(one_of("The agent", base, AGENTS))
    return AGENTS[base](argument if colon else None)


def make_agents(names: str, seats: int, trust: bool = False) -> list[Agent]:
    """The agents of all seats from a list with commas; one name alone stands for every seat."""
    agents = [make_agent(name, trust) for name in names.split(",")]
    if len(agents) == 1:
        agents *= seats
    if len(agents) != seats:
        raise AgentError(
            f"agents: {names!r} names {count_words(len(agents), 'agent')} for "
            f"{count_words(seats, 'seat')}; give one for each, or one for all."
        )
    return agents


def _without_argument(agent: Callable[[], Agent], argument: str | None) -> Agent:
    made = agent()
    if argument is not None:
        raise AgentError(f"The agent {made.name!r} takes no argument, but {argument!r} was given.")
    return made
