"""`best`: the policy network that ships for the game's ruleset and number of players (extra `arena`).

The networks are ONNX files in the folder `policies`, one for each ruleset and number of players that
there is a policy for. What each of them was trained with and how it does: `docs/policies.md`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from gardienii_env.agents.base import Agent
from gardienii_env.agents.network import NetworkAgent
from gardienii_env.errors import AgentError
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.ruleset import SHIPPED, Ruleset

__all__ = ["POLICIES", "BestAgent", "policy_file", "shipped_policies"]

POLICIES = Path(__file__).with_name("policies")
"""Where the shipped policies are: RULESET-PLAYERS.onnx."""


def shipped_policies() -> list[Path]:
    """The files of all policies that ship, in order of their names."""
    return sorted(POLICIES.glob("*.onnx"))


def policy_file(ruleset: Ruleset, num_players: int) -> Path:
    """The file of the policy for a ruleset of this content; AgentError if there is none."""
    content = ruleset.rules.tobytes()
    for name in SHIPPED:
        path = POLICIES / f"{name}-{num_players}.onnx"
        if Ruleset.get(name).rules.tobytes() == content and path.is_file():
            return path
    there = ", ".join(path.stem.replace("-", " with ") for path in shipped_policies())
    raise AgentError(
        f"best: no policy ships for {num_players} players and the ruleset {ruleset.name!r}; there are: "
        f"{there or 'none'}. Train one and play it as network:FILE.onnx, or let planner play."
    )


class BestAgent(Agent):
    """Plays the shipped policy that is for the game at hand. It is deterministic, as `network:` is.

    AgentError where no policy ships for the game's ruleset (its content counts, not its name) and its
    number of players.
    """

    name = "best"

    def __init__(self) -> None:
        self._networks: dict[tuple[bytes, int], NetworkAgent] = {}

    def check(self, ruleset: Ruleset, num_players: int) -> None:
        """AgentError unless a policy ships for such games."""
        self.network(ruleset, num_players).check(ruleset, num_players)

    def act(
        self, batch: Batch, games: npt.NDArray[np.int64], streams: npt.NDArray[np.void]
    ) -> npt.NDArray[np.int64]:
        """See `Agent.act`."""
        return self.network(batch.ruleset, batch.num_players).act(batch, games, streams)

    def network(self, ruleset: Ruleset, num_players: int) -> NetworkAgent:
        """The policy for such games; AgentError where none ships."""
        game = ruleset.rules.tobytes(), num_players
        if game not in self._networks:
            self._networks[game] = NetworkAgent(policy_file(ruleset, num_players))
        return self._networks[game]
