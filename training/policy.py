"""An SB3 policy as an agent, so that it can play wherever agents play."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

from gardienii_env.agents import Agent
from gardienii_env.observation import View, encode_all, layout
from gardienii_env.rules.batch import Batch

__all__ = ["PolicyAgent", "observe_deciding"]


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
        actions, _ = self.policy.predict(
            observations, deterministic=True, action_masks=batch.masks[games]
        )
        return actions.astype(np.int64)


def observe_deciding(batch: Batch, games: npt.NDArray[np.int64], view: View) -> npt.NDArray[np.float32]:
    """What the seat that decides sees in each of `games`: shape (len(games), size), float32."""
    parts = layout(batch.num_players, view)
    observations = np.zeros((len(batch), parts.size), np.float32)
    deciding = batch.states["player"].astype(np.int64)
    encode_all(batch.rules, batch.states, games, deciding, parts.places, parts.factors, observations)
    return observations[games]
