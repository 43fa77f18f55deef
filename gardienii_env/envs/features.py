"""What stands between observations and an SB3 policy's networks, and between networks and logits.

policy, kwargs = policy_of("cards", 2, "table")
model = MaskablePPO(policy, env, policy_kwargs=kwargs)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from gardienii_env.agents.prior import PRIOR_POINTS, observed_size
from gardienii_env.envs.cards import NEAR, RATINGS, SLOTS, card_encoding
from gardienii_env.envs.colours import turned_actions, turned_cards, turned_observation
from gardienii_env.errors import MissingExtraError, OptionError, one_of
from gardienii_env.observation import View
from gardienii_env.rules.actions import NUM_ACTIONS, TAKE
from gardienii_env.rules.cards import NUM_CARDS, NUM_COLOURS

try:
    import torch
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor, MlpExtractor
    from torch import nn
    from torch.nn.functional import linear
except ImportError as error:
    raise MissingExtraError("gardienii_env.envs.features", "sb3") from error

__all__ = [
    "CardFeatures",
    "CardPolicy",
    "EquivariantLinear",
    "Features",
    "Standardized",
    "check_units",
    "policy_of",
]

Features = Literal["raw", "standardized", "cards"]
"""The observations as they are; standardized; or standardized with the encoding of cards, for networks
that rate cards."""

LEAST_SPREAD = 0.01
SUPPLY = SLOTS * NUM_CARDS


def policy_of(
    features: Features, num_players: int, view: View, prior: bool = False
) -> tuple[type[MaskableActorCriticPolicy], dict[str, Any]]:
    """The policy class of an SB3 model with such features, and what its `policy_kwargs` need to have.

    Standardizing begins when the extractor has been shown observations:
    `model.policy.features_extractor.fit(observations)`. With a `prior` the observations are those of
    `agents.prior.observe`, and the network corrects the prior. OptionError for unknown features, or
    for a prior without features `cards`.
    """
    if features not in get_args(Features):
        raise OptionError(one_of("The features", features, get_args(Features)))
    if features == "cards":
        games = {"num_players": num_players, "view": view, "prior": prior}
        return CardPolicy, {
            "features_extractor_class": CardFeatures,
            "features_extractor_kwargs": games,
        }
    if prior:
        raise OptionError(f"features {features!r}: only networks with features 'cards' have a prior.")
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
    """As Standardized, of the observation and its `CardEncoding`; the supply's cards stay beside.

    With a prior, its numbers come after the observation, and stay beside, too.

    All colours are standardized alike.

    Attributes:
        turns: what is at place i of the numbers is at `turns[k, i]` when the colours are turned k times.
    """

    def __init__(
        self, observation_space: spaces.Box, num_players: int, view: View, prior: bool = False
    ) -> None:
        """OptionError unless the space is that of float32 observations for these games."""
        size = observed_size(num_players, view, prior)
        if observation_space.shape != (size,) or observation_space.dtype != np.float32:
            raise OptionError(
                f"features 'cards': observations of {num_players} players, view {view!r}, are {size} "
                f"numbers in float32, not {observation_space.dtype} of shape {observation_space.shape}."
            )
        cards = card_encoding(num_players, view, prior)
        beside = SUPPLY + (NUM_ACTIONS if prior else 0)
        super().__init__(observation_space, cards.size, beside)
        self.cards, self.beside = cards, beside
        self.turns = _turns(
            lambda k: np.append(turned_observation(num_players, view, k, prior), size + cards.turned(k))
        )
        for k, one in enumerate(cards.thermometers):
            self.register_buffer(f"weights_{k}", torch.from_numpy(one.weights), persistent=False)
            self.register_buffer(f"biases_{k}", torch.from_numpy(one.biases), persistent=False)

    def encode(self, observations: torch.Tensor) -> torch.Tensor:
        """The observations, and after them the encoding."""
        marks = []
        for k, one in enumerate(self.cards.thermometers):
            weights, biases = self.get_buffer(f"weights_{k}"), self.get_buffer(f"biases_{k}")
            marks.append((observations[:, one.hands] @ weights + biases).clamp(0, 1))
        supply = observations[:, self.cards.supply].reshape(-1, SLOTS, NUM_CARDS).sum(1)
        near = (observations[:, self.cards.prior] * NEAR - (NEAR - 1)).clamp(0, 1)
        return torch.cat([observations, *marks, supply, near], dim=1)

    def fit(self, observations: npt.NDArray[np.float32]) -> None:
        """See `Standardized.fit`."""
        super().fit(observations)
        self.mean.copy_(self.mean[self.turns].mean(0))
        self.scale.copy_(1 / (1 / self.scale)[self.turns].mean(0))

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Standardized numbers, the card type in each slot, and the prior: shape (k, features)."""
        beside = observations[:, self.cards.supply], observations[:, self.cards.prior]
        return torch.cat([super().forward(observations), *beside], dim=1)


def _turns(turned: Callable[[int], npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Indices for every number of turns, shape (4, size)."""
    return np.stack([turned(k) for k in range(NUM_COLOURS)])


def _turns_of_units(size: int) -> npt.NDArray[np.int64]:
    """Those of hidden units: a quarter of them is for each colour; shape (4, size)."""
    return _turns(lambda k: (np.arange(size) + k * (size // NUM_COLOURS)) % size)


class EquivariantLinear(nn.Module):
    """A linear layer for which no colour is special: turned inputs give its outputs, turned.

    So weights that turn into each other are one parameter, of which there are a quarter as many. To
    others it is a linear layer with a `weight`, shape (outputs, inputs), and a `bias`.

    Attributes:
        turns: of the inputs.
    """

    def __init__(
        self, inputs: npt.NDArray[np.int64], outputs: npt.NDArray[np.int64], gain: float = 2**0.5
    ) -> None:
        """Both: what is at place i is at place `[k, i]` when the colours are turned k times."""
        super().__init__()
        self.turns = inputs
        size = inputs.shape[1]
        weights = (outputs[:, :, np.newaxis] * size + inputs[:, np.newaxis, :]).min(axis=0)
        self.orbits: torch.Tensor
        self.bias_orbits: torch.Tensor
        self.weights = nn.Parameter(torch.randn(self._share("orbits", weights)) * (gain / size**0.5))
        self.biases = nn.Parameter(torch.zeros(self._share("bias_orbits", outputs.min(axis=0))))
        self._known: tuple[torch.Tensor, torch.Tensor] | None = None  # parameters, and weights of them

    def _share(self, name: str, first: npt.NDArray[np.int64]) -> int:
        """Keep which parameter each number is: one for those with the same first; returns how many."""
        parameters, indices = np.unique(first, return_inverse=True)
        self.register_buffer(name, torch.from_numpy(indices.reshape(first.shape)), persistent=False)
        return int(parameters.size)

    @property
    def weight(self) -> torch.Tensor:
        """The weights, shape (outputs, inputs); kept as long as the parameters do not change."""
        if torch.is_grad_enabled():
            return self.weights[self.orbits]
        if self._known is None or not torch.equal(self._known[0], self.weights):
            self._known = self.weights.detach().clone(), self.weights[self.orbits]
        return self._known[1]

    @property
    def bias(self) -> torch.Tensor:
        """Shape (outputs,)."""
        return self.biases[self.bias_orbits]

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Shape (k, outputs)."""
        return linear(inputs, self.weight, self.bias)


class CardPolicy(MaskableActorCriticPolicy):
    """A policy whose network rates card types for taking, wherever they lie; for `CardFeatures`.

    No colour is special to it: hidden layers are an `EquivariantLinear`.
    """

    def _build_mlp_extractor(self) -> None:
        assert isinstance(self.features_extractor, CardFeatures)
        self.mlp_extractor = _Towers(
            self.features_extractor.turns,
            self.features_extractor.beside,
            self.features_dim,
            self.net_arch,
            self.activation_fn,
            self.device,
        ).to(self.device)

    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)
        assert isinstance(self.features_extractor, CardFeatures)
        beside = self.features_extractor.beside
        self.action_net: nn.Module = _Head(self.mlp_extractor.latent_dim_pi - beside, beside).to(
            self.device
        )
        optimizer: Any = self.optimizer_class
        self.optimizer = optimizer(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)


class _Towers(MlpExtractor):
    """The networks; what stays beside, such as the supply's cards, passes by the policy's."""

    def __init__(self, turns: npt.NDArray[np.int64], beside: int, size: int, *arguments: Any) -> None:
        super().__init__(size - beside, *arguments)
        self.beside = beside
        for tower in (self.policy_net, self.value_net):
            before = turns
            for k, layer in enumerate(tower):
                if isinstance(layer, nn.Linear):
                    units = _turns_of_units(check_units(layer.out_features))
                    tower[k] = EquivariantLinear(before, units)
                    before = units
        self.latent_dim_pi += beside

    def forward_actor(self, features: torch.Tensor) -> torch.Tensor:
        """What the head needs, shape (k, hidden units + what is beside)."""
        seen, beside = features[:, : -self.beside], features[:, -self.beside :]
        return torch.cat([self.policy_net(seen), beside], dim=1)

    def forward_critic(self, features: torch.Tensor) -> torch.Tensor:
        """What the value is made from, shape (k, hidden units)."""
        values: torch.Tensor = self.value_net(features[:, : -self.beside])
        return values


def check_units(units: int) -> int:
    """The number of units of a hidden layer; OptionError unless each colour can have as many."""
    if units < 1 or units % NUM_COLOURS:
        raise OptionError(
            f"features 'cards': a hidden layer of {units} units cannot be shared out to {NUM_COLOURS} "
            f"colours; take a multiple of {NUM_COLOURS}."
        )
    return units


class _Head(nn.Module):
    """From hidden units, the supply's cards and the prior to logits, as `CardEncoding.logits`.

    A set is chosen in an order that is not the same for all colours: so there are weights beside those
    of an `EquivariantLinear`, which begin at 0. What the prior counts is learned; at first a point less
    makes an action less likely by a factor of e.
    """

    def __init__(self, units: int, beside: int) -> None:
        super().__init__()
        self.beside_size = beside
        ratings = _turns(lambda k: np.append(turned_actions(k), NUM_ACTIONS + turned_cards(k)))
        self.alike = EquivariantLinear(_turns_of_units(units), ratings, gain=0.01)
        self.beside = nn.Linear(units, RATINGS)
        nn.init.zeros_(self.beside.weight)
        nn.init.zeros_(self.beside.bias)
        if beside > SUPPLY:
            self.prior_weight = nn.Parameter(torch.ones(()))

    @property
    def weight(self) -> torch.Tensor:
        """Shape (`RATINGS`, hidden units)."""
        return self.alike.weight + self.beside.weight

    @property
    def bias(self) -> torch.Tensor:
        """Shape (`RATINGS`,)."""
        return self.alike.bias + self.beside.bias

    def forward(self, latent: torch.Tensor) -> torch.Tensor:
        """Logits, shape (k, 73)."""
        units = latent.shape[1] - self.beside_size
        ratings = linear(latent[:, :units], self.weight, self.bias)
        slots = latent[:, units : units + SUPPLY].reshape(-1, SLOTS, NUM_CARDS)
        takes = torch.matmul(slots, ratings[:, NUM_ACTIONS:, None]).flatten(1)
        own = ratings[:, :NUM_ACTIONS]
        if self.beside_size > SUPPLY:
            own = own + self.prior_weight * PRIOR_POINTS * latent[:, units + SUPPLY :]
        return torch.cat(
            [own[:, :TAKE], own[:, TAKE : TAKE + SLOTS] + takes, own[:, TAKE + SLOTS :]], dim=1
        )
