"""Configurations for RLlib: read and refused like the others, whether Ray is installed or not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gardienii_env import OptionError
from training.config import Config, load_config
from training.rllib.config import RLlibConfig

ROOT = Path(__file__).parents[2]
CONFIG, OTHER = (str(ROOT / "configs" / f"{name}.yaml") for name in ("rllib_selfplay", "tiny"))


def test_the_backend_says_which_keys_there_are() -> None:
    config = load_config(CONFIG, ["rllib.runners=3", "cluster=auto", "env.num_envs=32"])
    assert isinstance(config, RLlibConfig)
    assert (config.rllib.runners, config.cluster) == (3, "auto")
    assert config.rollout_decisions == 3 * 32 * config.ppo.n_steps
    assert type(load_config(OTHER)) is Config


@pytest.mark.parametrize(
    ("path", "override", "told"),
    [
        (OTHER, "cluster=auto", "cluster: the key 'cluster' is not known"),
        (OTHER, "backend=rlib", "backend: 'rlib' does not fit"),
        (CONFIG, "rllib.runner=2", "Did you mean 'runners'"),
        (CONFIG, "rllib.runners=-1", "rllib.runners: -1 does not fit"),
        (CONFIG, "ppo.target_kl=0.1", "ppo.target_kl: RLlib's PPO has nothing like it"),
        (CONFIG, "ppo.value_warmup=5", "ppo.value_warmup: RLlib's PPO has nothing like it"),
        (CONFIG, "rllib.gpus_per_learner=1", "set rllib.learners=1, too"),
        (CONFIG, "rllib.learners=3", "cannot be shared out to 3 learners"),
        (CONFIG, "ppo.batch_size=1000000", "ppo.batch_size"),
    ],
)
def test_what_is_refused(path: str, override: str, told: str) -> None:
    with pytest.raises(OptionError) as caught:
        load_config(path, [override])
    assert told in str(caught.value)


def test_without_ray_the_extra_is_named(tmp_path: Path) -> None:
    without = (
        "import sys; sys.modules['ray'] = None; from training.__main__ import main; main(sys.argv[1:])"
    )
    done = subprocess.run(
        [sys.executable, "-c", without, CONFIG, f"folder={tmp_path / 'runs'}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr.strip().startswith("error: backend: rllib needs libraries")
    assert "gardienii-env[rllib]" in done.stderr
    assert not (tmp_path / "runs").exists()
