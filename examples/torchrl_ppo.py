"""Self-play with TorchRL: PPO on the AEC environment, one network for both seats, action masks obeyed.

All agents are one group, so every step holds what both see and earn: the loser hears of the end, too.
`mask` says whose action counted, and only that is learned from. `raw_env` raises an error on an illegal
action.

Install, in a clone of this repository:

    pip install -c constraints.txt -e . torchrl==0.14.1

Run: python examples/torchrl_ppo.py --decisions 40000
"""

from __future__ import annotations

import argparse

import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.envs import ExplorationType, MarlGroupMapType, PettingZooWrapper
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from gardienii_env import gardienii_v0

SEEN = [("agents", "observation", "observation")]
NAMES = ("reward", "done", "terminated", "value", "advantage", "value_target")
KEYS = {name: ("agents", name) for name in NAMES}


def main() -> None:
    """Learn from one's own games; the points per game should rise."""
    parser = argparse.ArgumentParser(description="PPO in self-play with TorchRL.")
    parser.add_argument("--decisions", type=int, default=40_000, help="how many to learn from")
    parser.add_argument("--batch", type=int, default=2_000, help="decisions between two updates")
    options = parser.parse_args()
    torch.manual_seed(0)

    raw = gardienii_v0.raw_env(num_players=2, reward="points")
    env = PettingZooWrapper(raw, use_mask=True, group_map=MarlGroupMapType.ALL_IN_ONE_GROUP, seed=0)
    policy, values = (nn.Sequential(nn.Linear(312, 256), nn.ReLU(), nn.Linear(256, n)) for n in (73, 1))
    actor = ProbabilisticActor(
        TensorDictModule(policy, in_keys=SEEN, out_keys=[("agents", "logits")]),
        in_keys={"logits": ("agents", "logits"), "mask": ("agents", "action_mask")},
        out_keys=[("agents", "action")],
        distribution_class=MaskedCategorical,
        default_interaction_type=ExplorationType.RANDOM,  # or it would always take the likeliest
        return_log_prob=True,
        log_prob_key=("agents", "log_prob"),
    )
    critic = ValueOperator(values, in_keys=SEEN, out_keys=[KEYS["value"]])
    advantage = GAE(gamma=0.99, lmbda=0.95, value_network=critic, average_gae=False)
    advantage.set_keys(**KEYS)
    loss = ClipPPOLoss(actor, critic, entropy_coeff=0.01, normalize_advantage=True)
    loss.set_keys(action=("agents", "action"), sample_log_prob=("agents", "log_prob"), **KEYS)
    optimizer = torch.optim.Adam(loss.parameters(), lr=1e-3)

    for update in range(max(1, options.decisions // options.batch)):
        with torch.no_grad():
            steps = env.rollout(options.batch, actor, break_when_any_done=False)
            games = int(steps["next", "done"].sum())
            paid = steps["next", "agents", "reward"].sum(0).flatten().tolist()
            steps["next", "agents", "reward"] /= 50
            advantage(steps)
        decided = TensorDict({"agents": steps["agents"][steps["agents", "mask"]]}).auto_batch_size_(1)
        for _ in range(4):
            for part in decided[torch.randperm(len(decided))].split(500):
                losses = loss(part)
                optimizer.zero_grad()
                sum(value for name, value in losses.items() if name.startswith("loss_")).backward()
                optimizer.step()
        print(f"update {update}: {games} games, points by seat {paid}")


if __name__ == "__main__":
    main()
