"""The settings that a configuration with `backend: rllib` has besides those of every configuration."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gardienii_env.errors import OptionError, shown
from training.config import Config, Count, Section, Whole

__all__ = ["RLlibConfig", "ResourcesConfig"]

Number = Annotated[float, Field(ge=0)]


class ResourcesConfig(Section):
    """Ray's actors and what each of them asks a cluster for."""

    runners: Whole = 1  # actors that play; 0: the main process does
    cpus_per_runner: Number = 1
    learners: Whole = 0  # actors that learn, each from its share of a batch; 0: the main process does
    cpus_per_learner: Number = 1
    gpus_per_learner: Number = 0
    patience: Count = 600  # seconds after which a runner that does not answer is left out

    @property
    def cpus(self) -> float:
        """What all actors ask for together."""
        return self.runners * self.cpus_per_runner + self.learners * self.cpus_per_learner

    @property
    def gpus(self) -> float:
        """What all learners ask for together."""
        return self.learners * self.gpus_per_learner


class RLlibConfig(Config):
    """A whole training run by RLlib. `env.num_envs` are the games of each runner."""

    cluster: str = "local"  # `auto`: the one that runs, also RAY_ADDRESS; or the address of one
    rllib: ResourcesConfig = ResourcesConfig()

    def check(self) -> None:
        """See the base class."""
        super().check()
        for key, default in (("target_kl", None), ("value_warmup", 0)):
            value = getattr(self.ppo, key)
            if value != default:
                raise OptionError(
                    f"ppo.{key}: RLlib's PPO has nothing like it: {shown(value)}; leave it out."
                )
        if self.rllib.gpus_per_learner and not self.rllib.learners:
            raise OptionError(
                f"rllib.gpus_per_learner: {self.rllib.gpus_per_learner:g} for no learner; set "
                "rllib.learners=1, too."
            )
        learners = max(self.rllib.learners, 1)
        for key, size in (("ppo.batch_size", self.ppo.batch_size), ("rollouts", self.rollout_decisions)):
            if size % learners:
                raise OptionError(
                    f"{key}: {size} decisions cannot be shared out to {learners} learners."
                )

    @property
    def rollout_decisions(self) -> int:
        """The decisions that PPO learns from at a time, of all runners."""
        return max(self.rllib.runners, 1) * self.env.num_envs * self.ppo.n_steps
