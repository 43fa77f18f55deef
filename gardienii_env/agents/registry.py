"""Where agents are named and made: one table of all kinds, which help and documentation show too."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from gardienii_env.agents.base import Agent
from gardienii_env.agents.greedy import GreedyAgent
from gardienii_env.agents.random import RandomAgent
from gardienii_env.errors import AgentError, one_of
from gardienii_env.words import count_words

__all__ = ["AGENTS", "AgentKind", "make_agent", "make_agents"]


@dataclass(frozen=True)
class AgentKind:
    """A kind of agent: how it is written, what it is, and how to make one."""

    name: str
    meaning: str
    make: Callable[[str], Agent]
    """Makes the agent from what follows the colon, which is empty where nothing does."""
    arguments: tuple[str, ...] = ()
    """What may follow the colon; empty: there is no colon."""
    from_file: bool = False
    runs_code: bool = False
    """Whether its file runs code when it is loaded, so that it has to be trusted."""

    @property
    def forms(self) -> tuple[str, ...]:
        """How an agent of this kind is written: `greedy`; `ismcts:N` and `ismcts:SECONDSs`."""
        return tuple(f"{self.name}:{argument}" for argument in self.arguments) or (self.name,)


def _imported(module: str, name: str) -> Any:
    """A class of a module beside this one that is imported only where it is used."""
    return getattr(import_module(f"gardienii_env.agents.{module}"), name)


def _make_ismcts(argument: str) -> Agent:
    made: Agent
    if re.fullmatch(r"[0-9]{1,9}", argument) and int(argument):
        made = _imported("ismcts", "IsmctsAgent")(simulations=int(argument))
    elif re.fullmatch(r"([0-9]+\.?[0-9]*|\.[0-9]+)s", argument) and float(argument[:-1]):
        made = _imported("ismcts", "IsmctsAgent")(seconds=float(argument[:-1]))
    else:
        raise AgentError(
            f"ismcts:{argument}: {argument!r} is neither a number of simulations for a decision, as in "
            "ismcts:400, nor a number of seconds, as in ismcts:0.5s."
        )
    return made


_KINDS = (
    AgentKind("random", "every legal action is equally likely", lambda _: RandomAgent()),
    AgentKind(
        "greedy",
        "plays the best set it can, bends the spell to it, takes cards towards it",
        lambda _: GreedyAgent(),
    ),
    AgentKind(
        "planner",
        "plans its whole turn: what to take, to lay and to play, and what that leaves to the others",
        lambda _: _imported("planner", "PlannerAgent")(),
    ),
    AgentKind(
        "ismcts",
        "tree search over what the hidden cards may be: N simulations a decision, or some seconds",
        _make_ismcts,
        ("N", "SECONDSs"),
    ),
    AgentKind(
        "best",
        "the policy network that ships for the game's ruleset and number of players",
        lambda _: _imported("best", "BestAgent")(),
    ),
    AgentKind(
        "network",
        "a policy network in an ONNX file that says what games it is for",
        lambda path: _imported("network", "NetworkAgent")(path),
        ("FILE.onnx",),
        from_file=True,
    ),
    AgentKind(
        "sb3",
        "a model that stable-baselines3 or sb3-contrib saved (MaskablePPO, PPO, A2C, DQN); needs trust",
        lambda path: _imported("external", "load_sb3")(path),
        ("FILE.zip",),
        from_file=True,
        runs_code=True,
    ),
    AgentKind(
        "python",
        "your own code: a function f(game, rng), an Agent subclass or an Agent object",
        lambda place: _imported("external", "import_agent")(place),
        ("MODULE:ATTRIBUTE",),
    ),
)

AGENTS: dict[str, AgentKind] = {kind.name: kind for kind in _KINDS}
"""All kinds of agents by name."""


def make_agent(name: str, trust: bool = False) -> Agent:
    """The agent written `name` or `name:argument`, which is also its `name`.

    AgentError if there is none such, or if it comes from a file that runs code when it is loaded and
    `trust` does not allow that. MissingExtraError if it needs a library that is not installed.
    """
    written = name.strip()
    base, colon, argument = written.partition(":")
    if base not in AGENTS:
        own = f" Your own code is written python:{written}." if colon else ""
        raise AgentError(one_of("The agent", base, AGENTS) + own)
    kind = AGENTS[base]
    if colon and not kind.arguments:
        raise AgentError(f"The agent {base!r} takes no argument, but {argument!r} was given.")
    if kind.arguments and not argument:
        raise AgentError(f"The agent {base!r} needs an argument: {' or '.join(kind.forms)}.")
    if kind.runs_code and not trust:
        raise AgentError(
            f"{written} was not loaded: such a file holds pickles, and loading them runs whatever code "
            "is in them. If you trust it, pass --trust on the command line, or trust=True to make_agent."
        )
    agent = kind.make(argument)
    agent.name = written
    return agent


def make_agents(names: str, seats: int, trust: bool = False, role: str = "agent") -> list[Agent]:
    """The agents of all seats from a list with commas; one name alone stands for every seat.

    Raises what `make_agent` does, and AgentError if there are not as many names as seats. A comma
    always separates agents: no file name in the list can hold one. `role` is what errors call them.
    """
    parts = names.split(",")
    agents = [_make_part(parts, k, trust) for k in range(len(parts))]
    if len(agents) == 1:
        agents *= seats
    if len(agents) != seats:
        wanted = count_words(seats, "seat" if role == "agent" else role)
        raise AgentError(
            f"{role}s: {names!r} names {count_words(len(agents), 'agent')} for {wanted}; give one for "
            "each, or one for all."
        )
    return agents


def _make_part(parts: list[str], k: int, trust: bool) -> Agent:
    """Agent k of a list; the error tells of commas where one may have cut a file name."""
    try:
        return make_agent(parts[k], trust)
    except AgentError as error:
        cut = parts[k : k + 1] if k + 1 < len(parts) else []
        cut += parts[k - 1 : k] if k else []
        if any(_is_from_file(part) for part in cut):
            raise AgentError(
                f"{error} Commas separate agents: if one belongs to the file's name, rename the file."
            ) from error
        raise


def _is_from_file(name: str) -> bool:
    kind = AGENTS.get(name.strip().partition(":")[0])
    return kind is not None and kind.from_file
