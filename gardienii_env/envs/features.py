"""What stands between observations and an SB3 policy's networks, and between networks and logits.

policy, kwargs = policy_of("cards", 2, "table")
model = MaskablePPO(policy, env, policy_kwargs=kwargs)
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from gardienii_env.envs.cards import RATINGS, SLOTS, card_encoding
from gardienii_env.errors import MissingExtraError, OptionError, one_of
from gardienii_env.observation import View, layout
from gardienii_env.rules.actions import NUM_ACTIONS, TAKE
from gardienii_env.rules.cards import NUM_CARDS

try:
    import torch
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor, MlpExtractor
    from torch import nn
except ImportError as error:
    raise MissingExtraError("gardienii_env.envs.features", "sb3") from error

__all__ = ["CardFeatures", "CardPolicy", "Features", "Standardized", "policy_of"]

Features = Literal["raw", "standardized", "cards"]
"""The observations as they are; standardized; or standardized with the encoding of cards, for networks
that rate cards."""

LEAST_SPREAD = 0.01
SUPPLY = SLOTS * NUM_CARDS


def policy_of(
    features: Features, num_players: int, view: View
) -> tuple[type[MaskableActorCriticPolicy], dict[str, Any]]:
    """The policy class of an SB3 model with such features, and what its `policy_kwargs` need to have.

    Standardizing begins when the extractor has been shown observations:
    `model.policy.features_extractor.fit(observations)`. OptionError for unknown features.
    """
    if features not in get_args(Features):
        raise OptionError(one_of("The features", features, get_args(Features)))
    if features == "cards":
        games = {"num_players": num_players, "view": view}
        return CardPolicy, {
            "features_extractor_class": CardFeatures,
            "features_extractor_kwargs": games,
        }
    extractor = {"features_extractor_class": Standardized} if features == "standardized" else {}
    return MaskableActorCriticPolicy, extractor


class Standardized(BaseFeaturesExtractor):
    """Brings the numbers of an observation to one size before a network sees them.

    Each number loses its mean and is divided by its spread, over observations that `fit` has seen;
    before that, nothing changes. Most counts of an observation are far below 1, and networks learn
    slowly from those. Mean and spread are kept with the model.
    """

    def __init__(self, observation_space: spaces.Box, more: int = 0, beside: int = 0) -> None:
        size = observation_space.shape[0] + more
        super().__init__(observation_space, size + beside)
        self.mean: torch.Tensor
        self.scale: torch.Tensor
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("scale", torch.ones(size))

    def encode(self, observations: torch.Tensor) -> torch.Tensor:
        """The numbers that are standardized: the observations."""
        return observations

    def fit(self, observations: npt.NDArray[np.float32]) -> None:
        """Take mean and spread from observations, shape (k, size), float32.

        What hardly ever differs is not blown up: no number becomes larger than ten times its range.
        """
        numbers = self.encode(torch.from_numpy(observations)).numpy()
        low, high = numbers.min(axis=0), numbers.max(axis=0)
        spread = np.maximum(numbers.std(axis=0), np.maximum((high - low) / 10, LEAST_SPREAD))
        self.mean.copy_(torch.from_numpy(numbers.mean(axis=0)))
        self.scale.copy_(torch.from_numpy(1 / spread))

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Standardized numbers, shape (k, features)."""
        return (self.encode(observations) - self.mean) * self.scale


class CardFeatures(Standardized):
    """As Standardized, of the observation and its `CardEncoding`; the supply's cards stay beside."""

    def __init__(self, observation_space: spaces.Box, num_players: int, view: View) -> None:
        """OptionError unless the space is that of float32 observations for these games."""
        size = layout(num_players, view).size
        if observation_space.shape != (size,) or observation_space.dtype != np.float32:
            raise OptionError(
                f"features 'cards': observations of {num_players} players, view {view!r}, are {size} "
                f"numbers in float32, not {observation_space.dtype} of shape {observation_space.shape}."
            )
        cards = card_encoding(num_players, view)
        super().__init__(observation_space, cards.size, SUPPLY)
        self.cards = cards
        self.weights: torch.Tensor
        self.biases: torch.Tensor
        self.register_buffer("weights", torch.from_numpy(cards.weights), persistent=False)
        self.register_buffer("biases", torch.from_numpy(cards.biases), persistent=False)

    def encode(self, observations: torch.Tensor) -> torch.Tensor:
        """The observations, and after them the encoding."""
        marks = (observations[:, self.cards.hand] @ self.weights + self.biases).clamp(0, 1)
        supply = observations[:, self.cards.supply].reshape(-1, SLOTS, NUM_CARDS).sum(1)
        return torch.cat([observations, marks, supply], dim=1)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Standardized numbers, and the card type in each slot, shape (k, features)."""
        return torch.cat([super().forward(observations), observations[:, self.cards.supply]], dim=1)


class CardPolicy(MaskableActorCriticPolicy):
    """A policy whose network rates card types for taking, wherever they lie; for `CardFeatures`."""

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor = _Towers(self.features_dim, self.net_arch, self.activation_fn, self.device)

    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)
        self.action_net: nn.Module = _Head(self.mlp_extractor.latent_dim_pi)
        if self.ortho_init:
            self.action_net.apply(partial(self.init_weights, gain=0.01))
        optimizer: Any = self.optimizer_class
        self.optimizer = optimizer(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)


class _Towers(MlpExtractor):
    """The networks; the supply's cards pass by the policy's."""

    def __init__(self, size: int, *arguments: Any) -> None:
        super().__init__(size - SUPPLY, *arguments)
        self.latent_dim_pi += SUPPLY

    def forward_actor(self, features: torch.Tensor) -> torch.Tensor:
        """What the head needs, shape (k, hidden units + supply)."""
        return torch.cat([self.policy_net(features[:, :-SUPPLY]), features[:, -SUPPLY:]], dim=1)

    def forward_critic(self, features: torch.Tensor) -> torch.Tensor:
        """What the value is made from, shape (k, hidden units)."""
        values: torch.Tensor = self.value_net(features[:, :-SUPPLY])
        return values


class _Head(nn.Linear):
    """From hidden units and the supply's cards to logits, as `CardEncoding.logits`."""

    def __init__(self, size: int) -> None:
        super().__init__(size - SUPPLY, RATINGS)

    def forward(self, latent: torch.Tensor) -> torch.Tensor:
        """Logits, shape (k, 73)."""
        ratings = super().forward(latent[:, :-SUPPLY])
        slots = latent[:, -SUPPLY:].reshape(-1, SLOTS, NUM_CARDS)
        takes = torch.matmul(slots, ratings[:, NUM_ACTIONS:, None]).flatten(1)
        own = ratings[:, :NUM_ACTIONS]
        return torch.cat(
            [own[:, :TAKE], own[:, TAKE : TAKE + SLOTS] + takes, own[:, TAKE + SLOTS :]], dim=1
        )
