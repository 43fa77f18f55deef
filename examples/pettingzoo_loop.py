"""A game through PettingZoo's AEC interface: whose turn, what is seen, which actions are legal.

Every agent plays a random legal action; put your policy where `sample` stands.

Install, in a clone of this repository:

    pip install -c constraints.txt -e ".[render]"

Run: python examples/pettingzoo_loop.py --players 3
"""

from __future__ import annotations

import argparse
from typing import Any

from gardienii_env import gardienii_v0


def main() -> None:
    """Play games and print the last board and the scores of each."""
    parser = argparse.ArgumentParser(description="Random legal play through PettingZoo.")
    parser.add_argument("--games", type=int, default=1)
    parser.add_argument("--players", type=int, default=2, help="2, 3 or 4")
    parser.add_argument("--ruleset", default="gardienii")
    parser.add_argument("--seed", type=int, default=17)
    options = parser.parse_args()

    env = gardienii_v0.env(options.players, options.ruleset, render_mode="ansi")
    for agent in env.possible_agents:
        env.action_space(agent).seed(options.seed)

    for game in range(options.games):
        env.reset(seed=options.seed + game)
        returns = dict.fromkeys(env.agents, 0.0)
        outcome: dict[str, dict[str, Any]] = {}
        decisions = 0
        for agent in env.agent_iter():
            observation, reward, termination, truncation, info = env.last()
            returns[agent] += reward  # what came since the agent's last action
            if termination or truncation:
                if not outcome:
                    print(env.render())
                outcome[agent] = info  # full at the end: score, points by source, winner …
                action = None  # the only action of an agent whose game is over
            else:
                assert observation is not None
                mask = observation["action_mask"]  # int8: 1 where legal
                action = env.action_space(agent).sample(mask)  # your policy here
                decisions += 1
            env.step(action)

        print(f"\ngame {game}: {decisions} decisions")
        for agent, info in outcome.items():
            won = "won" if info["winner"] else ""
            print(f"{agent}  score {info['score']:4}  reward {returns[agent]:+.2f}  {won}")


if __name__ == "__main__":
    main()
