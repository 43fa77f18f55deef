"""A run by RLlib: what differs from one by stable-baselines3. Everything else is `training.run`."""

from __future__ import annotations

import time
from typing import Any

from gardienii_env.errors import OptionError
from training.network import layers_of
from training.rllib.config import RLlibConfig
from training.rllib.learning import Learning
from training.run import Run, make_model

__all__ = ["RLlibRun"]


class RLlibRun(Run):
    """A run whose rollouts and learning are RLlib's. It needs a cluster: see `on_cluster`."""

    config: RLlibConfig
    model: Any  # a Learning

    def make_model(self) -> Any:
        """See the base class."""
        return Learning(self.config)

    def _begin(self, left: int) -> Any:
        """There is nothing to prepare."""

    def _warm_up(self) -> None:
        super()._warm_up()
        self.model.publish()

    def _learn_once(self, callback: Any, total: int) -> dict[str, float]:
        learning: Learning = self.model
        start = time.perf_counter()
        before, rate = self.decisions, self.config.ppo.learning_rate
        done = before / total
        if self.pool is not None:
            layers = layers_of(learning.policy, self.config.network.activation)
            self.pool.follow(self.update, layers, learning.line_up)
        share = self.config.env.payoff.at(done)
        figures = learning.update(self.update, rate * (1 - done), share)
        self._count_update()
        for payoff, score, opponents in learning.outcomes():
            self.outcomes.note(payoff, score, opponents)
        return {
            **self.outcomes.figures(),
            **figures,
            "train/learning_rate": rate * (1 - done),
            "reward/payoff_share": share,
            "time/decisions_per_second": (self.decisions - before) / (time.perf_counter() - start),
            "time/seconds": self.seconds(),
        }

    def save(self) -> None:
        """Write the model twice: for sb3-contrib, and as an RLModule for RLlib."""
        twin = make_model(self.config)
        twin.policy.load_state_dict(self.policy.state_dict())
        twin.num_timesteps = self.decisions
        twin.save(self.folder / "model.zip", exclude=["learn_policy"])
        module, learning = self.model.module, self.model.policy
        module.policy = self.policy
        try:
            module.save_to_path((self.folder / "rl_module").absolute())
        finally:
            module.policy = learning

    def close(self) -> None:
        """Let go of runners and learners."""
        self.model.close()

    def capture(self) -> dict[str, Any]:
        """See the base class."""
        return {**self.standing(), "learning": self.model.capture()}

    def restore(self, content: dict[str, Any]) -> None:
        """See the base class. OptionError for a checkpoint of another backend."""
        if "learning" not in content:
            raise OptionError("--resume: the checkpoint was not written by RLlib.")
        self.model.restore(content["learning"])
        self.be_at(content)
