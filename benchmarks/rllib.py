"""Speed of training by RLlib beside stable-baselines3: decisions a second, by who does what.

    python benchmarks/rllib.py                  # a few minutes on two cores
    python benchmarks/rllib.py --runners 0 1 2 --learners 0 1 --json figures.json

Each line is measured alone, with one warm-up that is not counted: `play` is what a runner gives, `learn`
what a learner takes, `both` what an update does of decisions in a second, play and learning after each
other. RLlib's own runner plays the `MultiAgentEnv`; ours is `training.rllib.runner`. The network, the
number of games and PPO's settings are the same in all lines but that one, which plays fewer games.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import torch

from gardienii_env.bench.machine import cores_allowed
from training.config import Config, load_config

ROOT = Path(__file__).parents[1]
SETTINGS = ("imitation.decisions=0", "selfplay={}", "env.opponents=greedy", "env.view=table")

Row = tuple[str, str, float]
"""What was measured, of whom, and decisions a second."""


def seconds_of(do: Callable[[], object], repeats: int) -> float:
    """The median of the seconds that it takes, after a first time."""
    do()
    laps = []
    for _ in range(repeats):
        start = time.perf_counter()
        do()
        laps.append(time.perf_counter() - start)
    return median(laps)


def config_of(name: str, args: argparse.Namespace, *overrides: str) -> Config:
    """A shipped configuration with the settings of the benchmark."""
    sizes = (f"env.num_envs={args.games}", f"ppo.n_steps={args.steps}", "ppo.batch_size=2048")
    network = ("network.hidden=[256, 256]", "network.features=cards", "ppo.n_epochs=4")
    threads = f"threads={args.threads}"
    path = ROOT / "configs" / f"{name}.yaml"
    return load_config(path, [*SETTINGS, *sizes, *network, threads, *overrides])


def sb3(args: argparse.Namespace) -> Iterator[Row]:
    """The backend `sb3`: rollouts and learning in one process."""
    from training.run import Run

    config = config_of("quickstart", args)
    torch.set_num_threads(config.threads)
    run = Run(config, Path(tempfile.gettempdir()))
    total = 1_000_000_000
    callback = run._begin(total)
    run._learn_once(callback, total)
    laps = [run._learn_once(callback, total) for _ in range(args.repeats)]
    both = median(lap["time/decisions_per_second"] for lap in laps)
    share = median(lap["time/rollout_share"] for lap in laps)
    yield "play", "sb3", both / share
    yield "learn", "sb3", both / (1 - share)
    yield "both", "sb3", both


def ours(args: argparse.Namespace, runners: int, learners: int) -> Iterator[Row]:
    """The backend `rllib`."""
    from ray.rllib.execution.rollout_ops import synchronous_parallel_sample

    from training.rllib.cluster import on_cluster
    from training.rllib.config import RLlibConfig
    from training.rllib.learning import Learning

    overrides = (f"rllib.runners={runners}", f"rllib.learners={learners}", f"cluster={args.cluster}")
    config = config_of("rllib_selfplay", args, *overrides)
    assert isinstance(config, RLlibConfig)
    torch.set_num_threads(config.threads)
    who = f"rllib, {runners} runners, {learners} learners"
    with on_cluster(config):
        learning = Learning(config)
        group = learning.algorithm.env_runner_group
        number = iter(range(1_000_000))

        def play() -> None:
            synchronous_parallel_sample(worker_set=group, _uses_new_env_runners=True, concat=False)

        playing = seconds_of(play, args.repeats)
        both = seconds_of(lambda: learning.update(next(number), 3e-4, 0.0), args.repeats)
        learning.close()
    decisions = config.rollout_decisions
    yield "play", who, decisions / playing
    yield "learn", who, decisions / max(both - playing, 1e-9)
    yield "both", who, decisions / both


def rllibs_own(args: argparse.Namespace, games: int) -> Iterator[Row]:
    """RLlib's runner of multi-agent environments, a policy in all seats."""
    import ray
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.rl_module import MultiRLModuleSpec, RLModuleSpec
    from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner

    from gardienii_env.envs.rllib import GardieniiMultiAgentEnv
    from training.rllib.module import MaskedModule, model_config

    spec = RLModuleSpec(MaskedModule, model_config=model_config(config_of("rllib_selfplay", args)))
    config = (
        PPOConfig()
        .environment(GardieniiMultiAgentEnv, env_config={"num_players": 2})
        .env_runners(num_env_runners=0, num_envs_per_env_runner=games)
        .multi_agent(policies={"main"}, policy_mapping_fn=lambda *_, **__: "main")
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"main": spec}))
        .debugging(log_level="ERROR")
    )
    ray.init(address="local", num_cpus=1, include_dashboard=False, logging_level="ERROR")
    runner: Any = MultiAgentEnvRunner(config=config, worker_index=0)
    steps = args.own_steps
    seconds = seconds_of(lambda: runner.sample(num_timesteps=steps), args.repeats)
    runner.stop()
    ray.shutdown()
    yield "play", f"RLlib's MultiAgentEnvRunner, {games} games", steps / seconds


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--games", type=int, default=256, help="of each runner (default: 256)")
    parser.add_argument("--steps", type=int, default=64, help="decisions of a rollout in each game")
    parser.add_argument("--own-steps", type=int, default=2000, help="decisions of RLlib's own runner")
    parser.add_argument("--threads", type=int, default=cores_allowed(), help="of torch where it learns")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--runners", type=int, nargs="*", default=[0, 1, 2])
    parser.add_argument("--learners", type=int, nargs="*", default=[0])
    parser.add_argument("--cluster", default="local")
    parser.add_argument("--skip", nargs="*", default=[], choices=["sb3", "own", "rllib"])
    parser.add_argument("--json", type=Path, metavar="FILE")
    args = parser.parse_args()
    rows: list[Row] = []

    def note(measured: Iterator[Row]) -> None:
        for what, who, speed in measured:
            rows.append((what, who, speed))
            print(f"{what:<6} {who:<45} {speed:>10,.0f} decisions/s", flush=True)

    if "sb3" not in args.skip:
        note(sb3(args))
    if "own" not in args.skip:
        for games in (1, 16):
            note(rllibs_own(args, games))
    if "rllib" not in args.skip:
        for runners in args.runners:
            for learners in args.learners:
                note(ours(args, runners, learners))
    if args.json is not None:
        settings = {name: str(value) for name, value in vars(args).items()}
        args.json.write_text(json.dumps({"settings": settings, "rows": rows}, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
