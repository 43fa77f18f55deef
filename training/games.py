"""The games that PPO learns on: a `GardieniiVecEnv` whose reward may turn into the payoff."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env.base_vec_env import VecEnvStepReturn

from gardienii_env.agents.prior import observed_size, prior_of
from gardienii_env.envs.outcome import MARGIN_UNIT
from gardienii_env.envs.sb3 import GardieniiVecEnv
from gardienii_env.rules.actions import NUM_ACTIONS
from gardienii_env.rules.threads import Threads
from training.config import Config

__all__ = ["TrainingGames"]


class TrainingGames(GardieniiVecEnv):
    """Games with the settings of a configuration.

    Attributes:
        payoff_share: how much of the reward is the payoff in place of `env.reward`, from 0 to 1.
    """

    def __init__(self, config: Config) -> None:
        env = config.env
        self.payoff_share = env.payoff.first
        self._scale = 1 / MARGIN_UNIT if env.reward == "points" else 1.0
        self._lead = np.zeros(env.num_envs) if env.reward == "lead" else None  # what was paid so far
        super().__init__(
            env.num_envs,
            opponents="random" if config.selfplay.wanted else env.opponents,
            num_players=env.num_players,
            ruleset=env.ruleset,
            view=env.view,
            reward="margin" if env.reward == "lead" else env.reward,
            seed=config.seed,
            num_threads=config.threads,
        )
        self._prior = config.network.prior is not None
        if self._prior:
            size = observed_size(env.num_players, env.view, True)
            self.observation_space = spaces.Box(0, 1, (size,), np.float32)

    def use_threads(self, number: int) -> None:
        """Let so many threads share the games from now on."""
        self.table.threads = Threads(number)

    def reset(self) -> Any:
        """See the base class; with the prior, where the network has one."""
        return self._with_prior(super().reset())

    def _with_prior(self, observations: Any) -> Any:
        if not self._prior:
            return observations
        prior = prior_of(self.table.batch, self._all, self.table.threads)
        return np.concatenate([observations, prior], axis=1)

    def step_wait(self) -> VecEnvStepReturn:
        """See the base class."""
        observations, rewards, dones, infos = super().step_wait()
        share = self.payoff_share
        if self._lead is not None:
            now = np.where(dones, rewards, self.leads() / MARGIN_UNIT)
            rewards = (now - self._lead).astype(np.float32)
            self._lead = np.where(dones, 0.0, now)
        rewards *= np.float32(self._scale * (1 - share))
        if share:
            for i in np.flatnonzero(dones):
                rewards[i] += share * _payoff(infos[i])
        if self._prior:
            for i in np.flatnonzero(dones):
                last = infos[i]["terminal_observation"]
                infos[i]["terminal_observation"] = np.append(last, np.zeros(NUM_ACTIONS, last.dtype))
        return self._with_prior(observations), rewards, dones, infos


def _payoff(info: dict[str, Any]) -> float:
    """What an episode paid at its end, were it for the payoff alone."""
    return -1.0 if info["illegal_action"] else float(info["payoff"])
