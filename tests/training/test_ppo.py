"""The learning: the same as sb3-contrib's, step for step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from training.config import Config
from training.ppo import PPO
from training.run import make_model


class _Nothing(BaseCallback):
    def _on_step(self) -> bool:
        return True


def ready(**ppo: Any) -> PPO:
    """A model with a full rollout, of which one batch is made."""
    torch.set_num_threads(1)
    config = Config.model_validate(
        {
            "name": "test",
            "env": {"num_envs": 8, "opponents": "random"},
            "network": {"hidden": [16]},
            "ppo": {"n_steps": 128, "batch_size": 1024, "n_epochs": 3, "learning_rate": 0.01, **ppo},
        }
    )
    model = make_model(config)
    _, callback = model._setup_learn(1024, _Nothing())
    assert model.env is not None
    model.collect_rollouts(model.env, callback, model.rollout_buffer, model.n_steps)
    return model


def parameters(model: MaskablePPO) -> dict[str, np.ndarray]:
    return {name: value.detach().numpy().copy() for name, value in model.policy.named_parameters()}


@pytest.mark.parametrize("settings", [{}, {"clip_range": 0.01, "ent_coef": 0.3}, {"target_kl": 1e-6}])
def test_as_sb3_contrib_does_it(settings: dict[str, Any]) -> None:
    ours, theirs = ready(**settings), ready(**settings)
    before = parameters(ours)
    ours.train()
    MaskablePPO.train(theirs)
    one, other = parameters(ours), parameters(theirs)
    for name, value in one.items():
        assert value == pytest.approx(other[name], abs=1e-5)
    assert any(np.abs(value - before[name]).max() > 1e-3 for name, value in one.items())
    assert ours._n_updates == theirs._n_updates == (2 if "target_kl" in settings else 3)
    for name in ("approx_kl", "clip_fraction", "value_loss", "explained_variance"):
        found = ours.logger.name_to_value[f"train/{name}"]
        if name in ("value_loss", "explained_variance"):
            assert found == pytest.approx(theirs.logger.name_to_value[f"train/{name}"], rel=1e-3)
        assert np.isfinite(found)


def test_the_value_function_alone() -> None:
    model = ready()
    model.learn_policy = False
    before = parameters(model)
    model.train()
    for name, value in parameters(model).items():
        assert np.array_equal(value, before[name]) == ("policy_net" in name or "action_net" in name)
