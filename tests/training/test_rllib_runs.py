"""Runs by RLlib: what they leave, that they go on after a kill, and that they outlive a lost node."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from training_runs import ROOT, figures, killed_after, rows

pytest.importorskip("ray.rllib", reason="needs the extra `rllib`")

import ray
from ray.cluster_utils import Cluster
from ray.rllib.core.rl_module.rl_module import RLModule

from gardienii_env.agents import make_agent
from gardienii_env.agents.network import read_manifest
from gardienii_env.envs.batch import GardieniiBatch
from training.__main__ import main
from training.checkpoints import checkpoints
from training.config import load_config
from training.network import layers_of
from training.rllib.learning import Learning
from training.run import make_model, resume, run

CONFIG = str(ROOT / "configs" / "rllib_selfplay.yaml")
UPDATES = 6
FEW = (
    *("threads=1", "env.num_envs=4", "env.view=table", "network.hidden=[8]", "imitation.decisions=0"),
    *("ppo.n_steps=32", "ppo.batch_size=64", "ppo.n_epochs=2", f"ppo.decisions={128 * UPDATES}"),
    *("evaluation.deals=2", "evaluation.baselines=[random]", "evaluation.every=3"),
    *("evaluation.every_deals=2", "checkpoint.every=2", "selfplay.snapshot_every=2"),
    *("selfplay.redraw_every=1", "selfplay.pool_size=2", "rllib.runners=0"),
)
"""Settings of a run of seconds; the policy plays in this process."""


@pytest.fixture(scope="module")
def here() -> Iterator[None]:
    """Ray on this machine, for all runs of these tests."""
    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def whole(here: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in self-play that nothing stopped."""
    folder = tmp_path_factory.mktemp("whole")
    return run(load_config(CONFIG, [*FEW, f"folder={folder}"]))


def test_what_a_run_leaves(whole: Path) -> None:
    names = {path.name for path in whole.iterdir() if "tfevents" not in path.name}
    assert names == {
        *("config.yaml", "versions.yaml", "model.zip", "rl_module", "progress.csv", "curves.png"),
        *("evaluation.txt", "evaluation.json", "evaluations.csv", "policy.onnx", "best.onnx"),
        *("checkpoint-0000004.pickle", "checkpoint-0000006.pickle"),
    }
    assert ray.__version__ in (whole / "versions.yaml").read_text(encoding="utf-8")
    logged = rows(whole)
    assert [row["decisions"] for row in logged] == [str(128 * (k + 1)) for k in range(UPDATES)]
    rates = [float(row["train/learning_rate"]) for row in logged]
    assert rates == pytest.approx([3e-4 * (1 - k / UPDATES) for k in range(UPDATES)])
    for name in ("entropy", "approx_kl", "value_loss", "explained_variance", "policy_loss"):
        assert np.isfinite([float(row[f"train/{name}"]) for row in logged]).all()
    for name in ("time/rollout_seconds", "time/learning_seconds"):
        assert len({row[name] for row in logged}) == UPDATES
        assert min(float(row[name]) for row in logged) > 0
    assert float(logged[-1]["rollout/win_share"]) >= 0
    assert any(name.startswith("against/") for name in logged[-1])


def test_the_policy_has_learned_and_is_the_same_in_all_files(whole: Path) -> None:
    model = MaskablePPO.load(whole / "model.zip", device="cpu")
    module: Any = RLModule.from_checkpoint((whole / "rl_module").absolute())
    fresh = make_model(load_config(whole / "config.yaml")).policy.state_dict()
    weights = module.policy.state_dict()
    assert set(model.policy.state_dict()) == set(weights) == set(fresh)
    for name, value in weights.items():
        torch.testing.assert_close(model.policy.state_dict()[name], value)
    for tower in ("action_net.alike.weights", "value_net.weight"):
        assert not torch.allclose(weights[tower], fresh[tower])
    manifest = read_manifest(whole / "policy.onnx")
    assert manifest.training["configuration"]["backend"] == "rllib"
    batch = GardieniiBatch(8, seed=1)
    batch.reset()
    observations = batch.observations.astype(np.float32)
    agent: Any = make_agent(f"network:{whole / 'policy.onnx'}")
    (logits,) = agent.outputs(observations, ["logits"])
    expected: Any = layers_of(model.policy, "relu").logits(observations)
    np.testing.assert_allclose(logits, expected, atol=1e-4)


def test_a_run_that_was_killed_goes_on_as_if_nothing_had_been(
    here: None, whole: Path, tmp_path: Path
) -> None:
    program = killed_after(5, "training.rllib.run.RLlibRun")
    command = [sys.executable, "-c", program, CONFIG, *FEW, f"folder={tmp_path}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    (folder,) = tmp_path.iterdir()
    assert not (folder / "evaluation.txt").exists()
    assert [path.stem[-1] for path in checkpoints(folder)] == ["4", "2"]
    assert resume(folder) == folder
    assert figures(folder) == figures(whole)


def test_a_cluster_that_is_not_there_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    for address, told in (("127.0.0.1:9", "nothing answers"), ("here", "neither 'local' nor 'auto'")):
        assert main([CONFIG, *FEW, f"cluster={address}", f"folder={tmp_path / 'runs'}"]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("error: cluster:")
        assert told in line
    assert not (tmp_path / "runs").exists()


def test_more_runners_than_the_cluster_can_hold_are_told(
    here: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([CONFIG, *FEW, "rllib.runners=50", f"folder={tmp_path / 'runs'}"]) == 2
    assert "50 CPUs, and the cluster has 2" in capsys.readouterr().err


def test_a_run_outlives_its_only_runner(
    here: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    update = Learning.update

    def losing(self: Learning, number: int, *arguments: Any) -> dict[str, float]:
        if number == 2:
            group = self.algorithm.env_runner_group
            group.foreach_env_runner(lambda _: os._exit(1), local_env_runner=False, timeout_seconds=20)
        return update(self, number, *arguments)

    monkeypatch.setattr(Learning, "update", losing)
    settings = [*FEW, "rllib.runners=1", f"ppo.decisions={128 * UPDATES}", f"folder={tmp_path}"]
    folder = run(load_config(CONFIG, settings))
    assert [row["decisions"] for row in rows(folder)] == [str(128 * (k + 1)) for k in range(UPDATES)]


# -- a cluster; the last test, as it ends the one above --------------------------------------------


def test_a_node_that_is_lost_does_not_stop_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ray.shutdown()
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    other = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    update = Learning.update
    runners: list[float] = []

    def losing(self: Learning, number: int, *arguments: Any) -> dict[str, float]:
        if number == 2:
            cluster.remove_node(other)
        found = update(self, number, *arguments)
        runners.append(found["rollout/runners"])
        return found

    monkeypatch.setattr(Learning, "update", losing)
    settings = [*FEW, "rllib.runners=2", f"cluster={cluster.address}", f"folder={tmp_path}"]
    settings += [f"ppo.decisions={256 * UPDATES}"]
    try:
        folder = run(load_config(CONFIG, settings))
    finally:
        ray.shutdown()
        cluster.shutdown()
    logged = rows(folder)
    assert int(logged[-1]["decisions"]) >= 256 * UPDATES
    assert runners[:2] == [2, 2]
    assert runners[-1] == 1
    assert (folder / "evaluation.txt").exists()
