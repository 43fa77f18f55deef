"""The policy for RLlib: masks are obeyed, and its ONNX file plays as it does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gardienii_env import OptionError, Ruleset
from gardienii_env.agents import make_agent, new_streams
from gardienii_env.agents.network import Manifest
from gardienii_env.observation import observe_deciding
from gardienii_env.rules.batch import Batch

pytest.importorskip("ray.rllib", reason="needs the extra `rllib`")

from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.rl_module import RLModuleSpec

from training.config import load_config
from training.network import export, layers_of
from training.rllib.config import RLlibConfig
from training.rllib.module import MaskedModule, model_config
from training.rllib.runner import module_spaces

CONFIG = str(Path(__file__).parents[2] / "configs" / "rllib_selfplay.yaml")
SMALL = ("network.hidden=[16, 8]", "env.view=table")


def module_of(*overrides: str) -> tuple[MaskedModule, RLlibConfig]:
    """A module whose choices differ from each other, and the configuration it is for."""
    config = load_config(CONFIG, [*SMALL, *overrides])
    assert isinstance(config, RLlibConfig)
    seen, done = module_spaces(config)
    spec = RLModuleSpec(MaskedModule, seen, done, model_config=model_config(config))
    torch.manual_seed(3)
    module = spec.build()
    assert isinstance(module, MaskedModule)
    with torch.no_grad():  # larger than at the start of a training
        for parameter in module.policy.action_net.parameters():
            parameter.mul_(100)
    return module, config


def positions(config: RLlibConfig, number: int) -> tuple[np.ndarray, np.ndarray]:
    """What deciding seats see in games played at random, and what they may do."""
    batch = Batch(Ruleset.get("gardienii"), config.env.num_players, 64)
    batch.states["rng"] = np.arange(64)
    for game in range(64):
        batch.deal(game)
    streams, agent = new_streams(1, 64), make_agent("random")
    seen: list[np.ndarray] = []
    masks: list[np.ndarray] = []
    while len(seen) * 64 < number:
        on = np.flatnonzero(batch.states["player"] >= 0)
        seen.append(observe_deciding(batch, on, config.env.view))
        masks.append(batch.masks[on].copy())
        batch.apply_all(on, agent.act(batch, on, streams))
        for i in np.flatnonzero(batch.states["player"] < 0):
            batch.deal(int(i))
    return np.concatenate(seen)[:number], np.concatenate(masks)[:number]


def batch_of(observations: np.ndarray, masks: np.ndarray) -> dict[str, Any]:
    seen = {"observations": torch.from_numpy(observations), "action_mask": torch.from_numpy(masks)}
    return {Columns.OBS: seen}


def test_illegal_actions_are_never_drawn() -> None:
    module, config = module_of("env.num_players=3", "network.features=raw")
    observations, masks = positions(config, 4000)
    legal = torch.from_numpy(masks) == 1
    for forward in (module.forward_exploration, module.forward_inference, module.forward_train):
        logits = forward(batch_of(observations, masks))[Columns.ACTION_DIST_INPUTS].detach()
        assert logits.isfinite().all()
        probabilities = torch.softmax(logits, dim=1)
        assert (probabilities[~legal] == 0).all()
        assert (probabilities[legal] > 0).float().mean() > 0.5
    drawn = module.get_exploration_action_dist_cls().from_logits(logits)
    for _ in range(20):
        assert legal.gather(1, drawn.sample().long().unsqueeze(1)).all()
    assert drawn.entropy().isfinite().all()


def test_values_have_a_number_for_each_position() -> None:
    module, config = module_of("network.features=raw")
    observations, masks = positions(config, 100)
    values = module.compute_values(batch_of(observations, masks))
    assert values.shape == (100,)
    assert values.std() > 0


@pytest.mark.parametrize("features", ["raw", "standardized", "cards"])
def test_the_exported_file_plays_as_the_module(tmp_path: Path, features: str) -> None:
    module, config = module_of(f"network.features={features}", "env.num_players=3", "env.view=recall")
    observations, masks = positions(config, 2000)
    if features != "raw":
        extractor: Any = module.policy.features_extractor
        extractor.fit(observations)
    path = tmp_path / "a.onnx"
    layers = layers_of(module.policy, config.network.activation)
    export(layers, path, Manifest(config.env.view, 3, Ruleset.get("gardienii")))
    agent = make_agent(f"network:{path}")
    logits = module.forward_inference(batch_of(observations, masks))[Columns.ACTION_DIST_INPUTS]
    best_two = logits.topk(2, dim=1).values
    clear = (best_two[:, 0] - best_two[:, 1] > 1e-4).numpy()
    assert clear.mean() > 0.98
    outputs = np.concatenate(
        [agent.outputs(part, ["logits"])[0] for part in np.array_split(observations, 20)]  # type: ignore[attr-defined]
    )
    chosen = np.where(masks == 1, outputs, -np.inf).argmax(axis=1)
    expected = logits.argmax(dim=1).numpy()
    assert (chosen == expected)[clear].all()
    assert len(set(expected.tolist())) > 10


def test_the_weights_are_those_of_an_sb3_policy() -> None:
    """A model of sb3-contrib takes them as they are."""
    from training.run import make_model

    module, config = module_of("env.num_envs=2", "ppo.batch_size=64")
    model = make_model(config)
    model.policy.load_state_dict(module.policy.state_dict())
    observations, masks = positions(config, 200)
    with torch.no_grad():
        distribution: Any = model.policy.get_distribution(
            torch.from_numpy(observations), action_masks=masks
        )
    expected = module.forward_inference(batch_of(observations, masks))[Columns.ACTION_DIST_INPUTS]
    torch.testing.assert_close(
        distribution.distribution.probs, torch.softmax(expected, dim=1), atol=1e-6, rtol=1e-4
    )


def test_a_state_can_be_taken_over() -> None:
    one, config = module_of("network.features=cards")
    observations, masks = positions(config, 50)
    extractor: Any = one.policy.features_extractor
    extractor.fit(observations)
    torch.manual_seed(99)
    seen, done = module_spaces(config)
    other = RLModuleSpec(MaskedModule, seen, done, model_config=model_config(config)).build()
    batch = batch_of(observations, masks)
    before = one.forward_inference(batch)[Columns.ACTION_DIST_INPUTS]
    assert not torch.equal(other.forward_inference(batch)[Columns.ACTION_DIST_INPUTS], before)
    other.set_state(one.get_state())
    torch.testing.assert_close(other.forward_inference(batch)[Columns.ACTION_DIST_INPUTS], before)
    torch.testing.assert_close(other.compute_values(batch), one.compute_values(batch))


def test_wrong_settings_are_refused() -> None:
    seen, done = module_spaces(module_of()[1])
    for settings, told in (
        ({"hiden": [8]}, "hidden"),
        ({"activation": "sin"}, "tanh"),
        ({"fcnet_hiddens": [8]}, "'fcnet_hiddens' is not known"),
        ({"hidden": []}, "hidden"),
    ):
        with pytest.raises(OptionError, match=told):
            RLModuleSpec(MaskedModule, seen, done, model_config=settings).build()
