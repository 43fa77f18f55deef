"""What an agent thinks of the decisions of a game: what it would do, and what numbers it has for that.

A judge is told the game as it stands and looks at it as an agent does: it reads what the deciding seat
may see. Agents that search give visits and values, networks give probabilities, `planner` what it
takes each action to be worth, all others their choice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict

import numpy as np

from gardienii_env.agents import Agent, new_streams
from gardienii_env.errors import AgentError, RecordError
from gardienii_env.game import Game
from gardienii_env.record import replay
from gardienii_env.rules.actions import ACTIONS

__all__ = ["Option", "Verdict", "choose", "judge_game", "judge_position"]

Scale = Literal["payoff", "points"]
THE_GAME = np.zeros(1, np.int64)


class Option(TypedDict):
    """What an agent thinks of one legal action."""

    action: str
    share: float | None
    """Of its visits, or its probability: 0 to 1. None: the agent has no such number."""
    visits: int | None
    value: float | None
    """What it expects of the action for the seat that decides, on the verdict's scale. None: it did not
    look at that, or has no such number."""


class Verdict(TypedDict):
    """What an agent thinks of a decision."""

    choice: str
    """The action that it takes."""
    value: float | None
    """What it thinks the position is worth to the seat that decides; the scale is the agent's own."""
    scale: Scale
    """Of the options' values: payoffs, -1 to 1, or points beside the choice, which has 0."""
    options: list[Option]
    """All legal actions, the best first; only the choice where the agent has no numbers."""


def judge_game(agent: Agent, record: Mapping[str, Any], seed: int = 0) -> list[Verdict]:
    """What the agent would do at each decision of a record, in its place.

    Raises RecordError if the record does not replay, AgentError if the agent does not fit the game or
    fails in it. The same seed gives the same verdicts.
    """
    game = replay(record, 0)
    agent.check(game.ruleset, game.num_players)
    verdicts = []
    for k, move in enumerate(record["moves"]):
        if game.is_over:
            raise RecordError(f"move {k}: {move['action']!r}, but the game is over.", k)
        verdicts.append(judge_position(agent, game, seed + k))
        game.apply(move["action"])
    return verdicts


def judge_position(agent: Agent, game: Game, seed: int) -> Verdict:
    """What the agent would do now; what chance it needs comes from the seed. AgentError as `choose`."""
    from gardienii_env.agents.best import BestAgent
    from gardienii_env.agents.ismcts import IsmctsAgent
    from gardienii_env.agents.network import NetworkAgent
    from gardienii_env.agents.planner import PlannerAgent

    if isinstance(agent, BestAgent):
        agent = agent.network(game.ruleset, game.num_players)
    if isinstance(agent, IsmctsAgent):
        return _searched(agent, game, seed)
    if isinstance(agent, NetworkAgent):
        return _evaluated(agent, game)
    if type(agent) is PlannerAgent:  # others may choose otherwise
        return _weighed(agent, game)
    return _verdict([_option(choose(agent, game, seed))])


def choose(agent: Agent, game: Game, seed: int) -> str:
    """The action that the agent takes now; what chance it needs comes from the seed.

    AgentError if it fails. It changes neither the game nor the agent.
    """
    streams = new_streams(seed, 1)
    return ACTIONS[int(agent.decide(game.batch.copy(), THE_GAME, streams)[0])]


def _searched(agent: Any, game: Game, seed: int) -> Verdict:
    """From the visits of a tree search."""
    agent = type(agent)(simulations=agent.simulations, seconds=agent.seconds)  # a generator of its own
    agent.reset(seed)
    found = agent.analyse(game)
    options = [_option(action, r.share, r.visits, r.value) for action, r in found.items()]
    options.sort(key=lambda option: -(option["visits"] or 0))
    return _verdict(options, options[0]["value"])


def _evaluated(agent: Any, game: Game) -> Verdict:
    """From the logits of a policy network, and its value where it has one."""
    legal = np.flatnonzero(game.batch.masks[0])
    logits, value = _outputs(agent, game)
    weights = np.exp(logits[legal] - logits[legal].max())
    shares = weights / weights.sum()
    order = np.argsort(-shares, kind="stable")
    options = [_option(ACTIONS[legal[k]], float(shares[k])) for k in order]
    return _verdict(options, value)


def _weighed(agent: Any, game: Game) -> Verdict:
    """From what each action is worth to `planner`."""
    (choice,), (worths,) = agent.worths(game.batch, THE_GAME)
    if not np.isfinite(worths[choice]):
        return _verdict([_option(ACTIONS[choice])])
    found = [
        (action, float(worths[action] - worths[choice]) if np.isfinite(worths[action]) else None)
        for action in np.flatnonzero(game.batch.masks[0]).tolist()
    ]
    found.sort(key=lambda one: (one[0] != choice, one[1] is None, -(one[1] or 0.0)))
    options = [_option(ACTIONS[action], value=value) for action, value in found]
    return _verdict(options, scale="points")


def _outputs(agent: Any, game: Game) -> tuple[Any, float | None]:
    """The logits of all actions, shape (73,), and the output `value`, a number for each game, if any."""
    from gardienii_env.agents.network import OUTPUT, ROWS

    seen = agent.manifest.observe(game.batch, THE_GAME)
    rows = np.zeros((ROWS, seen.shape[1]), np.float32)  # as many as when it plays: see ROWS
    rows[0] = seen[0]
    names = [OUTPUT, *(name for name in agent.output_names if name == "value")]
    logits, *values = agent.outputs(rows, names)
    if not np.isfinite(logits[0, game.batch.masks[0] == 1]).all():
        raise AgentError(f"{agent.name} gave a logit that is not a finite number.")
    is_value = bool(values) and values[0].size == ROWS and np.isfinite(values[0].flat[0])
    return logits[0], float(values[0].flat[0]) if is_value else None


def _verdict(options: list[Option], value: float | None = None, scale: Scale = "payoff") -> Verdict:
    """The first option is the choice."""
    return {"choice": options[0]["action"], "value": value, "scale": scale, "options": options}


def _option(
    action: str, share: float | None = None, visits: int | None = None, value: float | None = None
) -> Option:
    return {"action": action, "share": share, "visits": visits, "value": value}
