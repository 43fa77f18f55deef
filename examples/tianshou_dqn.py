"""Tianshou's DQN with action masks, through the Gymnasium environment.

Tianshou looks for a mask beside the observation, in a dict of `obs` and `mask`; an illegal action would
raise an error here. This is not done through Tianshou's PettingZooEnv: there the observation after a
move is the next agent's, and a one-step return lacks what is paid at another's move.

Install, in a clone of this repository:

    pip install -c examples/constraints-tianshou.txt -e . tianshou

Run: python examples/tianshou_dqn.py --decisions 60000
"""

from __future__ import annotations

import argparse
from typing import Any

import gymnasium
import numpy as np
import torch
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net


class Masked(gymnasium.ObservationWrapper[Any, Any, Any]):
    """Puts the action mask where Tianshou looks for it."""

    def observation(self, observation: Any) -> Any:
        """See `gymnasium.ObservationWrapper`; when the game is over, all is allowed."""
        return {"obs": observation, "mask": self.get_wrapper_attr("action_masks")()}


def make_env() -> gymnasium.Env[Any, Any]:
    """A game against random play, which pays points, over 50."""
    options: dict[str, Any] = {"reward": "points", "illegal_action": "raise"}
    env = gymnasium.make("gardienii_env:Gardienii-v0", opponents="random", **options)
    return Masked(gymnasium.wrappers.TransformReward(env, lambda reward: float(reward) / 50))


def main() -> None:
    """Play some games, learn, and play as many again."""
    parser = argparse.ArgumentParser(description="Train Tianshou's DQN against random play.")
    parser.add_argument("--decisions", type=int, default=60_000, help="how many to learn from")
    parser.add_argument("--games", type=int, default=100, help="before learning and after it")
    options = parser.parse_args()
    torch.manual_seed(0)
    np.random.seed(0)  # noqa: NPY002  # Tianshou explores with it
    net = Net(state_shape=312, action_shape=73, hidden_sizes=[128, 128])
    actions = gymnasium.spaces.Discrete(73)
    policy = DiscreteQLearningPolicy(model=net, action_space=actions, eps_training=0.1)
    adam = AdamOptimizerFactory(lr=5e-4)
    learner = DQN(policy=policy, optim=adam, n_step_return_horizon=5, target_update_freq=200)
    envs, others = DummyVectorEnv([make_env] * 16), DummyVectorEnv([make_env] * 16)
    envs.seed(0)
    others.seed(1000)
    collector = Collector(policy, envs, VectorReplayBuffer(100_000, 16), exploration_noise=True)
    judge = Collector(policy, others)  # without exploring
    before = judge.collect(n_episode=options.games, reset_before_collect=True)
    training = OffPolicyTrainerParams(
        training_collector=collector,
        max_epochs=1,
        epoch_num_steps=options.decisions,
        collection_step_num_env_steps=256,
        update_step_num_gradient_steps_per_sample=0.1,
    )
    learner.run_training(training)
    after = judge.collect(n_episode=options.games, reset_before_collect=True)
    for when, played in (("before", before), ("after", after)):
        print(f"mean score {when} learning: {50 * np.mean(played.returns):.1f} points")


if __name__ == "__main__":
    main()
