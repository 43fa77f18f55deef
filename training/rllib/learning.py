"""RLlib's part of a run: the algorithm, what its runners are told, and what comes back."""

from __future__ import annotations

import logging
import pickle
import random
import time
from collections.abc import Sequence
from contextlib import suppress
from math import isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
import ray
import torch
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.rl_module.rl_module import RLModuleSpec

from gardienii_env.agents import Agent
from gardienii_env.errors import OptionError
from training.rllib.config import RLlibConfig
from training.rllib.learner import Learner
from training.rllib.module import MaskedModule, model_config
from training.rllib.runner import BatchRunner, Orders, Outcome, Table, module_spaces

__all__ = ["Learning", "LineUp", "ppo_config"]

logging.getLogger("ray.rllib").setLevel(logging.ERROR)  # it warns of its own defaults

PROBE = 3.0  # seconds that an update waits for news of a runner that was lost
RESTARTS = 1000  # of each runner
FIGURES = {
    "policy_loss": "policy_loss",
    "vf_loss": "value_loss",
    "entropy": "entropy",
    "vf_explained_var": "explained_variance",
    "approx_kl": "approx_kl",
    "clip_fraction": "clip_fraction",
}
"""What RLlib calls the figures of learning, and what the logs do."""
TIMERS = {
    "env_runner_sampling_timer": "time/rollout_seconds",
    "learner_update_timer": "time/learning_seconds",
}
"""The same for its times."""


def ppo_config(config: RLlibConfig) -> PPOConfig:
    """RLlib's configuration for a run."""
    ppo, resources = config.ppo, config.rllib
    learners = max(resources.learners, 1)
    seen, done = module_spaces(config)
    return (
        PPOConfig()
        .environment(Table, env_config={"settings": config}, disable_env_checking=True)
        .env_runners(
            env_runner_cls=BatchRunner,
            num_env_runners=resources.runners,
            num_cpus_per_env_runner=resources.cpus_per_runner,
            num_envs_per_env_runner=config.env.num_envs,
            rollout_fragment_length=ppo.n_steps,
            sample_timeout_s=float(resources.patience),
        )
        .learners(
            learner_class=Learner,
            num_learners=resources.learners,
            num_cpus_per_learner=resources.cpus_per_learner,
            num_gpus_per_learner=resources.gpus_per_learner,
        )
        .training(
            lr=ppo.learning_rate,
            gamma=ppo.gamma,
            lambda_=ppo.gae_lambda,
            clip_param=ppo.clip_range,
            entropy_coeff=ppo.ent_coef,
            vf_loss_coeff=ppo.vf_coef,
            vf_clip_param=float("inf"),
            use_kl_loss=False,
            num_epochs=ppo.n_epochs,
            minibatch_size=ppo.batch_size // learners,
            train_batch_size_per_learner=config.rollout_decisions // learners,
            grad_clip=ppo.max_grad_norm,
            grad_clip_by="global_norm",
        )
        .rl_module(
            rl_module_spec=RLModuleSpec(
                module_class=MaskedModule,
                observation_space=seen,
                action_space=done,
                model_config=model_config(config),
            )
        )
        .fault_tolerance(
            restart_failed_env_runners=True,
            max_num_env_runner_restarts=RESTARTS,
            delay_between_env_runner_restarts_s=0,
            env_runner_health_probe_timeout_s=PROBE,
        )
        .debugging(seed=config.seed, log_level="ERROR")
        .reporting(min_time_s_per_iteration=0, min_sample_timesteps_per_iteration=0)
    )


class LineUp:
    """Who plays against the learner, on all runners. A pool follows the policy with it.

    Attributes:
        drawn: who may be drawn, with weights; None: nobody was drawn yet.
        number: how often that has changed.
    """

    def __init__(self) -> None:
        self.drawn: tuple[list[Agent], list[float]] | None = None
        self.number = 0
        self._stored: ray.ObjectRef | None = None

    def draw_opponents(self, agents: Sequence[Agent], weights: Sequence[float]) -> None:
        """See `LearnerTable.draw_opponents`; it counts from the next rollout on."""
        self.drawn, self._stored = (list(agents), list(weights)), None
        self.number += 1

    @property
    def stored(self) -> ray.ObjectRef | None:
        """The line-up in Ray's store; None where there is none."""
        if self._stored is None and self.drawn is not None:
            self._stored = ray.put(self.drawn)
        return self._stored


class Learning:
    """PPO by RLlib, an update at a time.

    Attributes:
        line_up: who plays against the learner.
        num_timesteps: the learner's decisions so far.
    """

    def __init__(self, config: RLlibConfig) -> None:
        self.config = config
        self.line_up = LineUp()
        self.num_timesteps = 0
        self.algorithm: PPO = ppo_config(config).build_algo()
        for timer in TIMERS:  # of the last update alone, not the mean over many that RLlib would tell
            with self.algorithm.metrics.log_time(("timers", timer), reduce="mean", window=1):
                pass

    @property
    def module(self) -> MaskedModule:
        """The module in this process; after an update it is what has been learned."""
        runner: Any = self.algorithm.env_runner_group.local_env_runner
        module: MaskedModule = runner.module
        return module

    @property
    def policy(self) -> Any:
        """The networks of the module, as an SB3 policy."""
        return self.module.policy

    def publish(self) -> None:
        """Let learners and runners have the module in this process."""
        learners = self.algorithm.learner_group
        learners.set_weights({DEFAULT_MODULE_ID: self.module.get_state()})
        self._sync()

    def _sync(self) -> None:
        group, learners = self.algorithm.env_runner_group, self.algorithm.learner_group
        group.sync_weights(from_worker_or_learner_group=learners, inference_only=True)

    def update(self, number: int, rate: float, payoff_share: float) -> dict[str, float]:
        """Play a rollout and learn from it; returns figures of learning.

        OptionError when no runner has answered for `rllib.patience` seconds.
        """
        orders = Orders(number, payoff_share, self.line_up.number, self.line_up.stored)
        self._each_runner(lambda runner: runner.obey(orders))
        self.algorithm.learner_group.foreach_learner(lambda learner: learner.set_rate(rate))
        give_up = time.monotonic() + self.config.rllib.patience
        while True:
            result = self.algorithm.train()
            sampled = result.get("env_runners", {}).get("num_env_steps_sampled", nan)
            if not isnan(sampled):  # it is not a number where no runner has answered
                break
            if time.monotonic() > give_up:
                raise OptionError(
                    f"rllib.patience: no runner has answered for {self.config.rllib.patience} seconds; "
                    "repair the cluster, then go on with --resume FOLDER."
                )
            time.sleep(1.0)
        played = int(sampled)
        self.num_timesteps += played
        learned = result.get("learners", {}).get(DEFAULT_MODULE_ID, {})
        told = {f"train/{FIGURES[name]}": float(learned[name]) for name in FIGURES if name in learned}
        timers = result.get("timers", {})
        told |= {figure: float(timers[name]) for name, figure in TIMERS.items()}
        group = self.algorithm.env_runner_group
        runners = group.num_healthy_remote_workers() if self.config.rllib.runners else 1
        return {**told, "rollout/decisions": float(played), "rollout/runners": float(runners)}

    def outcomes(self) -> list[Outcome]:
        """The games that have ended since this was asked the last time."""
        found = self._each_runner(lambda runner: runner.take_outcomes())
        return [outcome for outcomes in found for outcome in outcomes]

    def _each_runner(self, do: Any) -> list[Any]:
        """What a function gives of all runners that answer, the one in this process included."""
        patience = float(self.config.rllib.patience)
        found: list[Any] = self.algorithm.env_runner_group.foreach_env_runner(
            do, timeout_seconds=patience
        )
        return found

    # -- checkpoints -------------------------------------------------------------------------------

    def capture(self) -> dict[str, Any]:
        """All to go on from. Games of runners that are lost are left out."""
        captured = self._each_runner(
            lambda runner: (runner.worker_index, pickle.dumps(runner.capture()))
        )
        return {
            "decisions": self.num_timesteps,
            "learners": self.algorithm.learner_group.get_state(),
            "line_up": (self.line_up.number, self.line_up.drawn),
            "runners": dict(captured),
            "generators": (random.getstate(), np.random.get_state(), torch.get_rng_state()),  # noqa: NPY002
        }

    def restore(self, content: dict[str, Any]) -> None:
        """Be where it was captured. Runners that there were not begin new games."""
        self.num_timesteps = content["decisions"]
        self.algorithm.learner_group.set_state(content["learners"])
        self._sync()
        self.line_up.number, self.line_up.drawn = content["line_up"]
        games = content["runners"]

        def go_on(runner: BatchRunner) -> None:
            if runner.worker_index in games:
                runner.go_on(pickle.loads(games[runner.worker_index]))

        self._each_runner(go_on)
        python, numpy, torch_state = content["generators"]
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002
        torch.set_rng_state(torch_state)

    def close(self) -> None:
        """Let go of runners and learners."""
        self.algorithm.stop()
        with suppress(OSError):  # a folder for logs of RLlib's own, which it makes and leaves empty
            Path(self.algorithm.logdir).rmdir()
