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

from gardienii_env.agents import Agent
from gardienii_env.agents.network import INPUT, OUTPUT, Manifest, write_manifest
from gardienii_env.agents.sampling import sample_actions
from gardienii_env.envs.sb3 import Standardized
from gardienii_env.errors import OptionError
from gardienii_env.observation import View, observe_deciding
from gardienii_env.rules.actions import NUM_ACTIONS
from gardienii_env.rules.batch import Batch

__all__ = ["ACTIVATIONS", "Layers", "Snapshot", "export", "layers_of"]

ACTIVATIONS: dict[str, type[torch.nn.Module]] = {"tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}
OPSET, IR_VERSION = 17, 8  # old enough for every onnxruntime that the extra `arena` allows

Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Layers:
    """A policy tower: `y = x @ weights[k] + biases[k]`, with the activation between two of them."""

    weights: tuple[Matrix, ...]
    biases: tuple[Matrix, ...]
    activation: str

    def logits(self, observations: Matrix) -> Matrix:
        """Logits, shape (k, 73), for observations, shape (k, size); both float32."""
        x = observations
        for k, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            x = x @ weight
            x += bias
            if k + 1 < len(self.weights):
                if self.activation == "tanh":
                    np.tanh(x, out=x)
                else:
                    np.maximum(x, 0, out=x)
        return x


def layers_of(policy: Any, activation: str) -> Layers:
    """A copy of the policy tower of an SB3 policy whose hidden layers are all linear.

    Where observations are standardized, the first layer does that too.
    """
    modules = [*policy.mlp_extractor.policy_net, policy.action_net]
    linear = [module for module in modules if isinstance(module, torch.nn.Linear)]
    weights = [np.ascontiguousarray(layer.weight.detach().numpy().T) for layer in linear]
    biases = [layer.bias.detach().numpy().copy() for layer in linear]
    if isinstance(policy.features_extractor, Standardized):
        mean, scale = policy.features_extractor.mean.numpy(), policy.features_extractor.scale.numpy()
        weights[0] = weights[0] * scale[:, np.newaxis]
        biases[0] = biases[0] - mean @ weights[0]
    return Layers(tuple(weights), tuple(biases), activation)


class Snapshot(Agent):
    """A frozen policy that draws its actions, from the games' own generators."""

    def __init__(self, name: str, layers: Layers, view: View) -> None:
        self.name, self.layers, self.view = name, layers, view

    def act(
        self, batch: Batch, games: npt.NDArray[np.int64], streams: npt.NDArray[np.void]
    ) -> npt.NDArray[np.int64]:
        """See `Agent.act`."""
        logits = self.layers.logits(observe_deciding(batch, games, self.view))
        actions = np.empty(games.size, np.int64)
        sample_actions(logits, batch.masks, games, streams, actions)
        return actions


# -- ONNX ------------------------------------------------------------------------------------------


def export(layers: Layers, path: str | Path, manifest: Manifest) -> None:
    """Write a policy as an ONNX file that `network:` plays; OptionError if it cannot be written.

    The file says for what games it is. It has the policy alone, not the value function.
    """
    nodes, initializers, last = [], [], INPUT
    for k, (weight, bias) in enumerate(zip(layers.weights, layers.biases, strict=True)):
        final = k + 1 == len(layers.weights)
        names = [f"weight{k}", f"bias{k}"]
        initializers += [
            numpy_helper.from_array(a, n) for a, n in zip((weight, bias), names, strict=True)
        ]
        output = OUTPUT if final else f"linear{k}"
        nodes.append(helper.make_node("Gemm", [last, *names], [output]))
        last = output
        if not final:
            nodes.append(helper.make_node(layers.activation.capitalize(), [last], [f"hidden{k}"]))
            last = f"hidden{k}"
    size = layers.weights[0].shape[0]
    graph = helper.make_graph(
        nodes,
        "policy",
        [helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, ["batch", size])],
        [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ["batch", NUM_ACTIONS])],
        initializers,
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="gardienii-env"
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
