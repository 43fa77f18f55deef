"""MaskablePPO of sb3-contrib on thousands of masked decisions a second, judged by the arena.

`GardieniiVecEnv` steps all games in one compiled call, opponents included. `policy_of("cards", …)`
gives a policy that knows what a hand has enough of; "MlpPolicy" works, too. For a strong agent in
minutes, which begins by imitating another: python -m training configs/quickstart.yaml

Install, in a clone of this repository:

    pip install -c constraints.txt -e ".[sb3]"

Run: python examples/sb3_maskable_ppo.py --decisions 1000000
"""

from __future__ import annotations

import argparse

import numpy as np
from sb3_contrib import MaskablePPO

from gardienii_env.agents import make_agent
from gardienii_env.agents.external import PolicyAgent
from gardienii_env.arena import duplicate_match
from gardienii_env.envs.features import Standardized, policy_of
from gardienii_env.envs.sb3 import GardieniiVecEnv


def main() -> None:
    """Train, save, and play against random and greedy."""
    parser = argparse.ArgumentParser(description="Train MaskablePPO against greedy.")
    parser.add_argument("--decisions", type=int, default=300_000, help="how many to learn from")
    parser.add_argument("--envs", type=int, default=128, help="games side by side")
    parser.add_argument("--deals", type=int, default=500, help="deals to judge it by; two games each")
    parser.add_argument("--opponent", default="greedy")
    parser.add_argument("--out", default="", help="where to save the model, as FILE.zip")
    options = parser.parse_args()

    env = GardieniiVecEnv(options.envs, opponents=options.opponent, reward="margin", seed=0)
    policy, kwargs = policy_of("cards", num_players=2, view="table")
    model = MaskablePPO(
        policy,
        env,
        policy_kwargs={**kwargs, "net_arch": [128, 128]},
        n_steps=64,
        batch_size=1024,
        n_epochs=4,
        learning_rate=1e-3,
        gamma=1.0,
        ent_coef=0.005,
        seed=0,
    )
    assert isinstance(model.policy.features_extractor, Standardized)
    model.policy.features_extractor.fit(
        np.asarray(env.reset(), np.float32)
    )  # brings all numbers to one size
    model.learn(options.decisions, log_interval=5)
    returns = [episode["r"] for episode in model.ep_info_buffer or []]
    if returns:
        mean = 50 * sum(returns) / len(returns)
        print(f"mean margin of the last {len(returns)} games: {mean:+.1f} points")
    if options.out:
        model.save(options.out)  # plays as the agent sb3:FILE.zip, see docs/agents.md

    trained = PolicyAgent(model.policy)
    for name in ("random", "greedy"):
        result = duplicate_match([trained, make_agent(name)], "gardienii", options.deals, seed=10**6)
        share, margin = result.win_share(), result.margin()
        print(
            f"against {name}: win share {share.mean:.3f} ({share.low:.3f} to {share.high:.3f}), "
            f"margin {margin.mean:+.1f} points, {result.num_games} games"
        )


if __name__ == "__main__":
    main()
