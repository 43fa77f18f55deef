"""An SB3 policy as an agent, so that it can play wherever agents play."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

from gardienii_env.agents import Agent
from gardienii_env.errors import AgentError
from gardienii_env.observation import View, observe_deciding
from gardienii_env.rules.batch import Batch

__all__ = ["PolicyAgent"]


class PolicyAgent(Agent):
    """Takes the action that a MaskablePPO policy finds best; all games asked for in one pass."""

    def __init__(self, policy: MaskableActorCriticPolicy, view: View, name: str = "policy") -> None:
        super().__init__()
        self.policy, self.view, self.name = policy, view, name

    def act(
        self, batch: Batch, games: npt.NDArray[np.int64], streams: npt.NDArray[np.void]
    ) -> npt.NDArray[np.int64]:
        """See `Agent.act`."""
        observations = observe_deciding(batch, games, self.view)
        expected = self.policy.observation_space.shape
        if observations.shape[1:] != expected:
            raise AgentError(
                f"{self.name} was trained on observations of shape {expected}; {batch.num_players} "
                f"players and view {self.view!r} give {observations.shape[1:]}."
            )
        actions, _ = self.policy.predict(
            observations, deterministic=True, action_masks=batch.masks[games]
        )
        return actions.astype(np.int64)
