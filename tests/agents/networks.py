"""Small policy networks in ONNX files, for tests."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from gardienii_env import NUM_ACTIONS, Ruleset
from gardienii_env.agents.network import Manifest, write_manifest
from gardienii_env.observation import View

__all__ = ["Weights", "manifest", "random_weights", "save_network", "save_weights"]

HIDDEN = 16

Weights = list[npt.NDArray[np.float32]]
"""Matrix and offsets of two layers with a tanh between them."""


def random_weights(size: int, seed: int = 1) -> Weights:
    rng = np.random.default_rng(seed)
    shapes = ((size, HIDDEN), (HIDDEN,), (HIDDEN, NUM_ACTIONS), (NUM_ACTIONS,))
    return [rng.normal(size=shape).astype(np.float32) for shape in shapes]


def save_weights(
    path: Path,
    weights: Weights,
    batch: Any = "batch",
    names: tuple[str, str] = ("observation", "logits"),
    kind: int = TensorProto.FLOAT,
) -> None:
    """Write a network without a manifest."""
    given, logits = names
    nodes = [
        helper.make_node("Gemm", [given, "w0", "w1"], ["sums"]),
        helper.make_node("Tanh", ["sums"], ["hidden"]),
        helper.make_node("Gemm", ["hidden", "w2", "w3"], [logits]),
        helper.make_node("ReduceMean", ["hidden"], ["value"], axes=[1]),
    ]
    numpy_type = helper.tensor_dtype_to_np_dtype(kind)
    graph = helper.make_graph(
        nodes,
        "policy",
        [helper.make_tensor_value_info(given, kind, [batch, weights[0].shape[0]])],
        [
            helper.make_tensor_value_info(logits, kind, [batch, weights[3].size]),
            helper.make_tensor_value_info("value", kind, [batch, 1]),
        ],
        [numpy_helper.from_array(w.astype(numpy_type), f"w{k}") for k, w in enumerate(weights)],
    )
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=9), str(path))


def manifest(
    players: int = 2, ruleset: Any = "gardienii", view: View = "table", **training: Any
) -> Manifest:
    return Manifest(view, players, Ruleset.get(ruleset), training)


def save_network(
    path: Path,
    players: int = 2,
    ruleset: Any = "gardienii",
    view: View = "table",
    prior: str | None = None,
) -> Path:
    """A network that plays what its random weights make it play."""
    told = replace(manifest(players, ruleset, view), prior=prior)
    save_weights(path, random_weights(told.size))
    write_manifest(path, told)
    return path
