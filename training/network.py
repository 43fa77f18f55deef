"""The policy network outside of torch: its layers, a frozen policy that plays, an ONNX file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

from gardienii_env.agents import Agent
from gardienii_env.agents.network import INPUT, OUTPUT, Manifest, write_manifest
from gardienii_env.agents.prior import PRIOR_POINTS, observe
from gardienii_env.agents.sampling import sample_actions
from gardienii_env.envs.cards import NEAR, RATINGS, SLOTS, CardEncoding
from gardienii_env.envs.features import Standardized, policy_of
from gardienii_env.errors import OptionError
from gardienii_env.observation import View
from gardienii_env.rules.actions import NUM_ACTIONS, TAKE
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.cards import NUM_CARDS
from training.config import NetworkConfig

__all__ = ["ACTIVATIONS", "Layers", "Snapshot", "export", "layers_of", "networks"]

ACTIVATIONS: dict[str, type[torch.nn.Module]] = {"tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}
OPSET, IR_VERSION = 17, 8  # old enough for every onnxruntime that the extra `arena` allows

Matrix = npt.NDArray[np.float32]


def networks(
    network: NetworkConfig, num_players: int, view: View
) -> tuple[type[MaskableActorCriticPolicy], dict[str, Any]]:
    """The class of an SB3 policy with the networks of a configuration, and its `policy_kwargs`."""
    prior = network.prior is not None
    policy, features = policy_of(network.features, num_players, view, prior)
    towers = {"pi": [*network.hidden], "vf": [*(network.value_hidden or network.hidden)]}
    return policy, {"net_arch": towers, "activation_fn": ACTIVATIONS[network.activation], **features}


@dataclass(frozen=True)
class Layers:
    """A policy tower: `y = x @ weights[k] + biases[k]`, with the activation between two of them.

    With `cards` the first x is the observation and after it their encoding, and the last y are ratings.
    Where there are `turns` of a layer's inputs, it is an `EquivariantLinear` between units of colours.
    """

    weights: tuple[Matrix, ...]
    biases: tuple[Matrix, ...]
    activation: str
    cards: CardEncoding | None = None
    turns: tuple[npt.NDArray[np.int64] | None, ...] = ()
    prior: float = 0.0
    """What the logits have of the prior; 0: there is none."""

    def logits(self, observations: Matrix) -> Matrix:
        """Logits, shape (k, 73), for observations, shape (k, size); both float32."""
        x = observations
        if self.cards is not None:
            x = np.concatenate([x, self.cards.encode(x)], axis=1)
        for k, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            x = x @ weight
            x += bias
            if k + 1 < len(self.weights):
                if self.activation == "tanh":
                    np.tanh(x, out=x)
                else:
                    np.maximum(x, 0, out=x)
        return x if self.cards is None else self.cards.logits(x, observations, self.prior)


def layers_of(policy: Any, activation: str) -> Layers:
    """A copy of the policy tower of an SB3 policy whose hidden layers have weights and a bias.

    Where numbers are standardized, the first layer does that too.
    """
    modules = [*policy.mlp_extractor.policy_net, policy.action_net]
    linear = [module for module in modules if hasattr(module, "weight")]
    weights = [layer.weight.detach().numpy().T.copy() for layer in linear]
    biases = [layer.bias.detach().numpy().copy() for layer in linear]
    extractor = policy.features_extractor
    if isinstance(extractor, Standardized):
        weights[0] = weights[0] * extractor.scale.numpy()[:, np.newaxis]
        biases[0] = biases[0] - extractor.mean.numpy() @ weights[0]
    turns = tuple(getattr(layer, "turns", None) for layer in linear)
    cards, prior = getattr(extractor, "cards", None), 0.0
    if cards is not None and cards.has_prior:
        prior = PRIOR_POINTS * policy.action_net.prior_weight.item()
    return Layers(tuple(weights), tuple(biases), activation, cards, turns, prior)


class Snapshot(Agent):
    """A frozen policy that draws its actions, from the games' own generators."""

    def __init__(self, name: str, layers: Layers, view: View) -> None:
        self.name, self.layers, self.view = name, layers, view

    def act(
        self, batch: Batch, games: npt.NDArray[np.int64], streams: npt.NDArray[np.void]
    ) -> npt.NDArray[np.int64]:
        """See `Agent.act`."""
        cards = self.layers.cards
        prior = cards is not None and cards.has_prior
        logits = self.layers.logits(observe(batch, games, self.view, prior))
        actions = np.empty(games.size, np.int64)
        sample_actions(logits, batch.masks, games, streams, actions)
        return actions


# -- ONNX ------------------------------------------------------------------------------------------


class _Graph:
    """The nodes of an ONNX graph, and the numbers that it keeps."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []

    def keep(self, numbers: Any) -> str:
        """Keep numbers; returns their name."""
        name = f"numbers{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(np.asarray(numbers), name))
        return name

    def add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add a node; returns the name of its output."""
        output = f"{kind.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def slice(self, numbers: str, start: int, stop: int) -> str:
        """Add a node for some columns."""
        return self.add(
            "Slice", numbers, *(self.keep(np.array([x], np.int64)) for x in (start, stop, 1))
        )

    def weight(self, weight: Matrix, turns: npt.NDArray[np.int64] | None) -> str:
        """Keep a layer's weights, of one colour's units alone where the others' are the same, turned."""
        if turns is None:
            return self.keep(weight)
        own = self.keep(np.ascontiguousarray(weight[:, : weight.shape[1] // len(turns)]))
        parts = [self.add("Gather", own, self.keep(np.argsort(turn)), axis=0) for turn in turns]
        return self.add("Concat", *parts, axis=1)

    def slots(self, cards: CardEncoding) -> str:
        """Add nodes for the card type in each slot of the supply."""
        shape = self.keep(np.array([-1, SLOTS, NUM_CARDS], np.int64))
        return self.add("Reshape", self.slice(INPUT, cards.supply.start, cards.supply.stop), shape)

    def prior(self, cards: CardEncoding) -> str:
        """Add a node for the prior."""
        return self.slice(INPUT, cards.prior.start, cards.prior.stop)


def _encode(graph: _Graph, cards: CardEncoding) -> str:
    """Add the observation and its encoding, as `CardEncoding.encode`."""
    marks = []
    for one in cards.thermometers:
        counts = graph.slice(INPUT, one.hands.start, one.hands.stop)
        counts = graph.add("Gemm", counts, graph.keep(one.weights), graph.keep(one.biases))
        marks.append(graph.add("Clip", counts, graph.keep(np.float32(0)), graph.keep(np.float32(1))))
    axis = graph.keep(np.array([1], np.int64))
    marks.append(graph.add("ReduceSum", graph.slots(cards), axis, keepdims=0))
    if cards.has_prior:
        prior = graph.add("Mul", graph.prior(cards), graph.keep(np.float32(NEAR)))
        prior = graph.add("Sub", prior, graph.keep(np.float32(NEAR - 1)))
        marks.append(graph.add("Clip", prior, graph.keep(np.float32(0)), graph.keep(np.float32(1))))
    return graph.add("Concat", INPUT, *marks, axis=1)


def _rate(graph: _Graph, cards: CardEncoding, ratings: str, prior: float) -> None:
    """Add the logits, as `CardEncoding.logits`."""
    of_cards = graph.add(
        "Unsqueeze", graph.slice(ratings, NUM_ACTIONS, RATINGS), graph.keep(np.array([2], np.int64))
    )
    takes = graph.add("Flatten", graph.add("MatMul", graph.slots(cards), of_cards), axis=1)
    places = np.zeros((SLOTS, NUM_ACTIONS), np.float32)
    places[np.arange(SLOTS), TAKE + np.arange(SLOTS)] = 1
    beside = graph.add("MatMul", takes, graph.keep(places))
    logits = graph.add("Add", graph.slice(ratings, 0, NUM_ACTIONS), beside)
    if cards.has_prior:
        graph.add("Add", logits, graph.add("Mul", graph.prior(cards), graph.keep(np.float32(prior))))


def export(layers: Layers, path: str | Path, manifest: Manifest) -> None:
    """Write a policy as an ONNX file that `network:` plays; OptionError if it cannot be written.

    The file says for what games it is. It has the policy alone, not the value function.
    """
    graph = _Graph()
    last = INPUT if layers.cards is None else _encode(graph, layers.cards)
    turns = layers.turns or (None,) * len(layers.weights)
    for k, (weight, bias) in enumerate(zip(layers.weights, layers.biases, strict=True)):
        if k:
            last = graph.add(layers.activation.capitalize(), last)
        last = graph.add("Gemm", last, graph.weight(weight, turns[k]), graph.keep(bias))
    if layers.cards is not None:
        _rate(graph, layers.cards, last, layers.prior)
    graph.nodes[-1].output[0] = OUTPUT
    made = helper.make_graph(
        graph.nodes,
        "policy",
        [helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, ["batch", manifest.size])],
        [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ["batch", NUM_ACTIONS])],
        graph.initializers,
    )
    model = helper.make_model(
        made, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="gardienii-env"
    )
    model.ir_version = IR_VERSION
    onnx.checker.check_model(model)
    new = Path(path).with_suffix(".part")
    try:
        onnx.save(model, str(new))
        write_manifest(new, manifest)
        new.replace(path)
    except OSError as error:
        raise OptionError(f"{path} cannot be written: {error.strerror}.") from None
