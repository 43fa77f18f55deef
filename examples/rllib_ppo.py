"""Ray RLlib: PPO with one policy in self-play, against itself and against what it was before.

Install, in a clone of this repository:

    pip install -c constraints-ray.txt -e ".[train,rllib]"

Run: python examples/rllib_ppo.py --players 2 --updates 20 --runners 2
"""

import argparse
from pathlib import Path
from typing import Any

from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module import MultiRLModuleSpec, RLModuleSpec

from gardienii_env.agents import make_agent
from gardienii_env.agents.network import Manifest
from gardienii_env.arena import duplicate_match
from gardienii_env.envs.rllib import GardieniiMultiAgentEnv
from gardienii_env.rules.ruleset import Ruleset
from training.network import export, layers_of
from training.rllib.module import MaskedModule

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("--players", type=int, default=2)
parser.add_argument("--updates", type=int, default=20)
parser.add_argument("--batch", type=int, default=4000, help="decisions of an update")
parser.add_argument("--runners", type=int, default=1, help="processes that play; 0: this one")
parser.add_argument("--copy-every", type=int, default=5, help="updates until the past policy is renewed")
parser.add_argument("--deals", type=int, default=100, help="of the match against random at the end")
parser.add_argument("--out", type=Path, default=Path("policy.onnx"))
args = parser.parse_args()


def who(agent: str, episode: Any, **_: Any) -> str:
    """Half of the seats are the past policy's, but one, which the learner has unless greedy has it."""
    number, seat = int(episode.id_[:8], 16), int(agent.removeprefix("player_"))
    learners = number % args.players == seat or (number >> seat + 8) % 2
    return "main" if learners else "past"


spec = RLModuleSpec(
    module_class=MaskedModule,
    model_config={"hidden": [128, 128], "activation": "relu", "num_players": args.players},
)
config = (
    PPOConfig()
    .environment(
        GardieniiMultiAgentEnv,  # greedy has up to a tenth of the seats
        env_config={"num_players": args.players, "reward": "margin", "agents": {"greedy": 0.1}},
    )
    .env_runners(num_env_runners=args.runners, num_envs_per_env_runner=8)
    .multi_agent(policies={"main", "past"}, policy_mapping_fn=who, policies_to_train=["main"])
    .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"main": spec, "past": spec}))
    .training(train_batch_size_per_learner=args.batch, minibatch_size=min(512, args.batch), gamma=1.0)
    .debugging(seed=0)
)
algorithm = config.build_algo()
for update in range(args.updates):
    result = algorithm.train()
    if update % args.copy_every == 0:
        weights = algorithm.learner_group.get_weights(["main"])["main"]
        algorithm.env_runner_group.foreach_env_runner(
            lambda runner, weights=weights: runner.module["past"].set_state(weights)
        )
    returns = result["env_runners"].get("module_episode_returns_mean", {})
    print(f"update {update + 1}: return {returns.get('main', float('nan')):+.3f}", flush=True)

ruleset = Ruleset.get("gardienii")
layers = layers_of(algorithm.get_module("main").policy, "relu")
export(layers, args.out, Manifest("table", args.players, ruleset))
agents = [make_agent(f"network:{args.out}"), *[make_agent("random")] * (args.players - 1)]
print(
    f"win share against random: {duplicate_match(agents, ruleset, args.deals, 1).win_share().mean:.3f}"
)
algorithm.stop()
