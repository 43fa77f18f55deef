"""Behaviour cloning from a Minari data set: a network learns to choose as the planner does.

    pip install -c constraints.txt -e ".[minari,sb3]"

Run: python examples/minari_behaviour_cloning.py --games 4000
"""

import argparse
from typing import Any

import minari
import numpy as np
import torch
from gymnasium.spaces import Discrete
from torch.nn.functional import cross_entropy

from gardienii_env import NUM_ACTIONS, Ruleset, layout
from gardienii_env.agents import Agent, make_agent, make_agents
from gardienii_env.arena import duplicate_match
from gardienii_env.arena.dataset import DatasetPlan, write_dataset
from gardienii_env.envs.features import policy_of
from gardienii_env.envs.single import observation_space
from gardienii_env.observation import observe_deciding


class Cloned(Agent):
    """Does what its network finds best."""

    def __init__(self, units: int) -> None:
        policy_class, options = policy_of("cards", 2, "table")
        options |= {"net_arch": [units] * 2, "activation_fn": torch.nn.ReLU}
        spaces = observation_space(layout(2, "table")), Discrete(NUM_ACTIONS)
        self.policy: Any = policy_class(*spaces, lambda _: 0.0, **options)

    def logits(self, observations: torch.Tensor, masks: torch.Tensor) -> Any:
        """Logits of the actions, shape (k, 73), far below 0 where illegal."""
        latent = self.policy.mlp_extractor.forward_actor(self.policy.features_extractor(observations))
        return self.policy.action_net(latent).masked_fill(masks == 0, -1e8)

    @torch.no_grad()
    def act(self, batch: Any, games: Any, streams: Any) -> Any:
        """As `Agent.act`."""
        seen = torch.from_numpy(observe_deciding(batch, games, "table"))
        return self.logits(seen, torch.from_numpy(batch.masks[games])).argmax(1).numpy()


def joined(arrays: Any) -> torch.Tensor:
    """The rows of all episodes as one tensor."""
    return torch.from_numpy(np.concatenate(list(arrays)))


parser = argparse.ArgumentParser(description="Clone the planner.")
for name, default in {"games": 4000, "epochs": 4, "batch": 1024, "units": 256, "deals": 1000}.items():
    parser.add_argument(f"--{name}", type=int, default=default)
args = parser.parse_args()
dataset, planners = f"gardienii/planner-{args.games}-v0", make_agents("planner,planner", 2)
if dataset not in minari.list_local_datasets():
    write_dataset(DatasetPlan(dataset, planners, Ruleset.get("gardienii"), args.games, seed=10**6))
data = list(minari.load_dataset(dataset))
counts, actions = joined(e.observations[:-1] for e in data), joined(e.actions for e in data)
masks = joined(e.infos["action_mask"][:-1] for e in data)

torch.manual_seed(0)
factors = torch.tensor(layout(2, "table").factors)  # counts * factors are the float32 observations
cloned = Cloned(args.units)
cloned.policy.features_extractor.fit((counts[:50_000] * factors).numpy())
optimizer = torch.optim.Adam(cloned.policy.parameters(), lr=1e-3)
steps = args.epochs * len(actions) // args.batch
schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.02, max(steps, 1))
for epoch in range(args.epochs):
    for rows in torch.split(torch.randperm(len(actions)), args.batch):
        loss: Any = cross_entropy(cloned.logits(counts[rows] * factors, masks[rows]), actions[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    print(f"epoch {epoch + 1}: loss {loss.item():.3f} in the last batch", flush=True)
share = duplicate_match([cloned, make_agent("greedy")], "gardienii", args.deals, seed=0).win_share()
print(f"win share against greedy: {share.mean:.3f}, 95 % interval {share.low:.3f} to {share.high:.3f}")
