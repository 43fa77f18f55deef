"""The policy as an `RLModule`: the very networks of the backend `sb3`, with the action mask in between.

    spec = RLModuleSpec(module_class=MaskedModule, model_config={"hidden": [256, 256], "num_players": 2})

The weights are those of an SB3 policy, so `training.network` exports them as a file for `network:`.
"""

from __future__ import annotations

from typing import Any

import torch
from gymnasium import spaces
from pydantic import ValidationError
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule

from gardienii_env.errors import OptionError, one_of
from training.config import Config, NetworkConfig
from training.network import networks

__all__ = ["MODEL_CONFIG", "MaskedModule", "model_config"]

MODEL_CONFIG: dict[str, Any] = {
    "hidden": (256, 256),
    "value_hidden": None,  # as `hidden`
    "activation": "tanh",
    "features": "raw",  # `standardized` and `cards` have to be shown observations: see Standardized.fit
    "prior": None,
    "num_players": 2,
    "view": "table",
}
"""The keys of `model_config` and their defaults; they are those of a configuration's sections."""

RLLIBS_OWN = {"vf_share_layers"}
"""Keys that RLlib's PPO adds by itself; they mean nothing here."""

NOT_LEGAL = -1e8


def model_config(config: Config) -> dict[str, Any]:
    """The `model_config` for the network and the games of a configuration."""
    games = {"num_players": config.env.num_players, "view": config.env.view}
    return {**config.network.model_dump(), **games}


class MaskedModule(TorchRLModule, ValueFunctionAPI):
    """See the module. Its observations are dicts of `observations` and `action_mask`.

    The logits of actions that are not legal are so low that such an action is never drawn.

    Attributes:
        policy: the networks, as an SB3 policy.
    """

    def setup(self) -> None:
        """Make the networks; OptionError for an unknown key of `model_config` or a wrong value."""
        super().setup()
        given = {key: value for key, value in dict(self.model_config).items() if key not in RLLIBS_OWN}
        for key in given:
            if key not in MODEL_CONFIG:
                raise OptionError(one_of("model_config: the key", key, MODEL_CONFIG))
        settings = {**MODEL_CONFIG, **given}
        assert isinstance(self.observation_space, spaces.Dict)
        try:
            network = NetworkConfig(**{key: settings[key] for key in NetworkConfig.model_fields})
        except ValidationError as error:
            raise OptionError(f"model_config: {' '.join(str(error).split())}") from None
        policy, policy_kwargs = networks(network, settings["num_players"], settings["view"])
        self.policy = policy(
            self.observation_space["observations"],
            self.action_space,
            lambda _: 0.0,  # RLlib has its own optimizer
            **policy_kwargs,
        )

    def logits(self, batch: dict[str, Any]) -> torch.Tensor:
        """The masked logits of a batch: shape (k, 73)."""
        seen = batch[Columns.OBS]
        policy: Any = self.policy
        features = policy.features_extractor(seen["observations"])
        logits: torch.Tensor = policy.action_net(policy.mlp_extractor.forward_actor(features))
        return logits.masked_fill(seen["action_mask"] == 0, NOT_LEGAL)

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        return {Columns.ACTION_DIST_INPUTS: self.logits(batch)}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> torch.Tensor:
        """What a batch's positions are worth: shape (k,)."""
        policy: Any = self.policy
        features = policy.features_extractor(batch[Columns.OBS]["observations"])
        values: torch.Tensor = policy.value_net(policy.mlp_extractor.forward_critic(features))
        return values.squeeze(-1)
