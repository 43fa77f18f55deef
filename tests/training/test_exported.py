"""The policy outside of torch: the same logits, the same choices, a file that `network:` plays."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch

from gardienii_env import Game, OptionError, Ruleset, layout
from gardienii_env.agents import make_agent, new_streams
from gardienii_env.agents.external import PolicyAgent
from gardienii_env.agents.network import Manifest, read_manifest
from gardienii_env.agents.planner import PlannerAgent
from gardienii_env.agents.prior import observe
from gardienii_env.arena import duplicate_match
from gardienii_env.envs.features import Features
from gardienii_env.observation import View
from gardienii_env.rules.actions import action_id
from gardienii_env.rules.batch import Batch
from training.config import Config
from training.network import Layers, export, layers_of
from training.ppo import PPO
from training.run import make_model

TINY = {"env": {"num_envs": 2}, "ppo": {"n_steps": 8, "batch_size": 16}}
POSITIONS = 10_000
CLOSE = 1e-4
"""Logits that are closer together may change places: sums are not added up in the same order."""


def model_of(
    players: int,
    view: View,
    hidden: list[int],
    activation: str,
    features: Features = "standardized",
    prior: str | None = None,
) -> PPO:
    config = Config.model_validate(
        {
            **TINY,
            "name": "test",
            "seed": 3,
            "env": {"num_envs": 2, "num_players": players, "view": view},
            "network": {
                "hidden": hidden,
                "activation": activation,
                "features": features,
                "prior": prior,
            },
        }
    )
    model = make_model(config)
    with torch.no_grad():  # larger than at the start of a training, so that choices differ
        for name, parameter in model.policy.action_net.named_parameters():
            parameter.mul_(1 if name == "prior_weight" else 100)
    return model


def positions(
    players: int, view: View, number: int, prior: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """What deciding seats see in games played at random, and what they may do."""
    batch = Batch(Ruleset.get("gardienii"), players, 256)
    batch.states["rng"] = np.arange(256)
    streams, agent, everything = new_streams(1, 256), make_agent("random"), np.arange(256)
    seen: list[np.ndarray] = []
    masks: list[np.ndarray] = []
    while len(seen) * 256 < number:
        for i in np.flatnonzero(batch.states["player"] < 0) if seen else everything:
            batch.deal(int(i))
        seen.append(observe(batch, everything, view, prior))
        masks.append(batch.masks.copy())
        for _ in range(3):
            on = np.flatnonzero(batch.states["player"] >= 0)
            batch.apply_all(on, agent.act(batch, on, streams))
        for i in np.flatnonzero(batch.states["player"] < 0):
            batch.deal(int(i))
    return np.concatenate(seen)[:number], np.concatenate(masks)[:number]


@pytest.mark.parametrize(
    ("players", "view", "hidden", "activation", "features", "prior"),
    [
        (2, "table", [64, 32], "tanh", "standardized", None),
        (3, "recall", [32], "relu", "standardized", None),
        (2, "table", [32], "relu", "cards", None),
        (4, "recall", [64, 32], "relu", "cards", None),
        (2, "table", [32], "relu", "cards", "planner"),
        (3, "recall", [64, 32], "relu", "cards", "planner"),
    ],
)
def test_onnx_numpy_and_torch_choose_the_same(
    tmp_path: Path,
    players: int,
    view: View,
    hidden: list[int],
    activation: str,
    features: Features,
    prior: str | None,
) -> None:
    model = model_of(players, view, hidden, activation, features, prior)
    observations, masks = positions(players, view, POSITIONS, prior is not None)
    extractor: Any = model.policy.features_extractor
    extractor.fit(observations)
    layers = layers_of(model.policy, activation)
    manifest = Manifest(view, players, Ruleset.get("gardienii"), prior=prior)
    export(layers, tmp_path / "a.onnx", manifest)
    session = onnxruntime.InferenceSession(str(tmp_path / "a.onnx"))
    with torch.no_grad():
        distribution: Any = model.policy.get_distribution(torch.from_numpy(observations)).distribution
    logits = {
        "torch": distribution.logits.numpy(),
        "numpy": layers.logits(observations),
        "onnx": session.run(["logits"], {"observation": observations})[0],
    }
    legal = {name: np.where(masks == 1, given, -np.inf) for name, given in logits.items()}
    choices = {name: given.argmax(axis=1) for name, given in legal.items()}
    best_two = np.sort(legal["onnx"], axis=1)[:, -2:]
    clear = best_two[:, 1] - best_two[:, 0] > CLOSE
    assert clear.mean() > 0.99
    assert len(set(choices["onnx"].tolist())) > 20
    for name in ("torch", "numpy"):
        assert np.array_equal(choices[name][clear], choices["onnx"][clear])


def test_weights_of_all_colours_are_kept_once(tmp_path: Path) -> None:
    layers = layers_of(model_of(2, "recall", [256, 128], "relu", "cards").policy, "relu")
    export(layers, tmp_path / "a.onnx", Manifest("recall", 2, Ruleset.get("gardienii")))
    export(
        replace(layers, turns=()), tmp_path / "b.onnx", Manifest("recall", 2, Ruleset.get("gardienii"))
    )
    sizes = [(tmp_path / name).stat().st_size for name in ("a.onnx", "b.onnx")]
    hidden = sum(weight.nbytes for weight in layers.weights[:-1])
    assert sizes[1] - sizes[0] > 0.7 * hidden


@pytest.mark.parametrize("prior", [None, "planner"])
def test_whole_games_are_the_same(tmp_path: Path, prior: str | None) -> None:
    model = model_of(2, "table", [32], "relu", "cards", prior)
    manifest = Manifest("table", 2, Ruleset.get("gardienii"), prior=prior)
    export(layers_of(model.policy, "relu"), tmp_path / "a.onnx", manifest)
    network = make_agent(f"network:{tmp_path / 'a.onnx'}")
    one, other = (
        duplicate_match([agent, make_agent("greedy")], "gardienii", deals=20, seed=1)
        for agent in (network, PolicyAgent(model.policy))
    )
    assert np.array_equal(one.games, other.games)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_fresh_network_with_a_prior_does_as_planner_does(players: int) -> None:
    config = Config.model_validate(
        {
            **TINY,
            "name": "test",
            "env": {"num_envs": 2, "num_players": players},
            "network": {"hidden": [16], "features": "cards", "prior": "planner"},
        }
    )
    agent, planner = PolicyAgent(make_model(config).policy), PlannerAgent()
    game, rng, worse = Game.new(players, seed=1), random.Random(1), []
    while not game.is_over:
        (choice,), (worths,) = planner.worths(game.batch, np.zeros(1, np.int64))
        if np.isfinite(worths[choice]):
            worse.append(worths[choice] - worths[action_id(agent.choose(game))])
        game.apply(rng.choice(game.legal_actions()))
    assert len(worse) > 50
    assert max(worse) < 0.2


def test_the_file_says_what_it_is(tmp_path: Path) -> None:
    model = model_of(2, "recall", [16], "relu")
    manifest = Manifest("recall", 2, Ruleset.get("dragonkeepers"), {"decisions": 5})
    export(layers_of(model.policy, "relu"), tmp_path / "a.onnx", manifest)
    assert read_manifest(tmp_path / "a.onnx") == manifest
    assert [path.name for path in tmp_path.iterdir()] == ["a.onnx"]


def test_the_layers_are_a_copy() -> None:
    model = model_of(2, "table", [16], "tanh")
    layers = layers_of(model.policy, "tanh")
    before = [weight.copy() for weight in (*layers.weights, *layers.biases)]
    with torch.no_grad():
        for parameter in model.policy.parameters():
            parameter.add_(1)
    for old, new in zip(before, (*layers.weights, *layers.biases), strict=True):
        assert np.array_equal(old, new)
    assert [weight.shape for weight in layers.weights] == [(layout(2).size, 16), (16, 73)]


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    layers = Layers((np.zeros((layout(2).size, 73), np.float32),), (np.zeros(73, np.float32),), "tanh")
    with pytest.raises(OptionError, match="cannot be written"):
        export(layers, tmp_path / "none" / "a.onnx", Manifest("table", 2, Ruleset.get("gardienii")))
