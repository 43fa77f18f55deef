"""One training run: warm start, PPO, evaluation, and everything it leaves in its folder."""

from __future__ import annotations

import platform
import time
from importlib.metadata import version
from pathlib import Path

import torch
import yaml
from gardienii_env.tables import table
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger, configure
from stable_baselines3.common.utils import set_random_seed

from gardienii_env.agents import make_agent
from gardienii_env.arena import MatchResult, duplicate_match
from gardienii_env.envs.sb3 import GardieniiVecEnv
from gardienii_env.rules.ruleset import Ruleset
from training.config import Config
from training.imitation import imitate, play_demonstrations
from training.policy import PolicyAgent
from training.progress import LearningProgress

__all__ = ["evaluate", "make_model", "run"]

PACKAGES = ("gardienii-env", "numpy", "numba", "torch", "stable-baselines3", "sb3-contrib")
ACTIVATIONS = {"tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}


def run(config: Config) -> Path:
    """Train as a configuration says and print how the policy does; returns the run's folder.

    The folder holds the resolved configuration, versions, logs (TensorBoard and CSV), the model and
    the evaluation. An interrupt (Ctrl-C) saves the model as it is and is raised again.
    """
    started = time.time()
    folder = _new_folder(config)
    print(f"Training {config.name!r} in {folder}")
    set_random_seed(config.seed)
    torch.set_num_threads(config.threads)
    model = make_model(config)
    model.set_logger(_logger(folder))
    try:
        _learn(model, config)
    except KeyboardInterrupt:
        model.save(folder / "model.zip")
        print(f"\nInterrupted. What was learned so far is saved: {folder / 'model.zip'}")
        raise
    model.save(folder / "model.zip")
    print(f"Saved {folder / 'model.zip'} after {time.time() - started:.0f} s.")
    text = evaluate(model, config)
    (folder / "evaluation.txt").write_text(text + "\n", encoding="utf-8")
    print(text)
    print(f"Total: {time.time() - started:.0f} s. Learning curves: tensorboard --logdir {folder}")
    return folder


def make_model(config: Config) -> MaskablePPO:
    """A fresh MaskablePPO on a batch of games, as the configuration says."""
    env, ppo = config.env, config.ppo
    games = GardieniiVecEnv(
        env.num_envs,
        opponents=env.opponents,
        num_players=env.num_players,
        ruleset=env.ruleset,
        view=env.view,
        reward=env.reward,
        seed=config.seed,
    )
    return MaskablePPO(
        "MlpPolicy",
        games,
        learning_rate=lambda left: left * ppo.learning_rate,
        n_steps=ppo.n_steps,
        batch_size=ppo.batch_size,
        n_epochs=ppo.n_epochs,
        gamma=ppo.gamma,
        gae_lambda=ppo.gae_lambda,
        clip_range=ppo.clip_range,
        ent_coef=ppo.ent_coef,
        vf_coef=ppo.vf_coef,
        max_grad_norm=ppo.max_grad_norm,
        policy_kwargs={
            "net_arch": list(config.network.hidden),
            "activation_fn": ACTIVATIONS[config.network.activation],
        },
        seed=config.seed,
        device="cpu",
    )


def _learn(model: MaskablePPO, config: Config) -> None:
    if config.imitation.decisions:
        demonstrations = play_demonstrations(config, seed=config.seed)
        imitate(model.policy, demonstrations, config)
    if config.ppo.decisions:
        model.learn(config.ppo.decisions, callback=LearningProgress(config.ppo.decisions))


def evaluate(model: MaskablePPO, config: Config) -> str:
    """A table of the policy against each baseline, each deal played from every seat."""
    settings, players = config.evaluation, config.env.num_players
    policy = PolicyAgent(model.policy, config.env.view, config.name)
    ruleset = Ruleset.get(config.env.ruleset)
    rows = []
    for name in settings.baselines:
        agents = [policy, *[make_agent(name)] * (players - 1)]
        rows.append(_row(name, duplicate_match(agents, ruleset, settings.deals, settings.seed)))
    title = (
        f"{config.name} against, {players} players, ruleset {ruleset.name}, {settings.deals} deals, "
        "each from every seat:"
    )
    headers = ("opponent", "games", "win share", "95 % interval", "mean margin", "95 % interval")
    return title + "\n" + table(rows, headers, "lrrrrr")


def _row(name: str, result: MatchResult) -> tuple[str, ...]:
    share, share_width = result.win_share()
    margin, margin_width = result.margin()
    return (
        name,
        str(result.games),
        f"{share:.3f}",
        f"{share - share_width:.3f} to {share + share_width:.3f}",
        f"{margin:+.1f}",
        f"{margin - margin_width:+.1f} to {margin + margin_width:+.1f}",
    )


def _new_folder(config: Config) -> Path:
    """A new folder for the run, with its configuration and the versions in it."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    folder = Path(config.folder) / f"{config.name}-{stamp}"
    count = 1
    while folder.exists():
        count += 1
        folder = folder.with_name(f"{config.name}-{stamp}-{count}")
    folder.mkdir(parents=True)
    settings = yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False)
    (folder / "config.yaml").write_text(settings, encoding="utf-8")
    versions = {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}
    (folder / "versions.yaml").write_text(yaml.safe_dump(versions), encoding="utf-8")
    return folder


def _logger(folder: Path) -> Logger:
    return configure(str(folder), ["csv", "tensorboard"])
