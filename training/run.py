"""One training run: warm start, PPO, evaluation, and everything it leaves in its folder."""

from __future__ import annotations

import json
import platform
import time
from contextlib import closing
from importlib.metadata import version
from math import isnan
from pathlib import Path
from typing import Any

import torch
import yaml
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import configure
from stable_baselines3.common.utils import LinearSchedule, set_random_seed

from gardienii_env import __version__
from gardienii_env.agents import make_agent
from gardienii_env.agents.external import PolicyAgent
from gardienii_env.arena import Estimate, MatchResult, duplicate_match
from gardienii_env.envs.sb3 import GardieniiVecEnv
from gardienii_env.errors import OptionError
from gardienii_env.rules.ruleset import SHIPPED, Ruleset
from gardienii_env.tables import table
from gardienii_env.words import count_words
from training.config import Config
from training.imitation import imitate, play_demonstrations
from training.progress import LearningProgress, progress

__all__ = ["evaluate", "make_model", "run"]

PACKAGES = ("numpy", "numba", "torch", "stable-baselines3", "sb3-contrib")
ACTIVATIONS = {"tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}


def run(config: Config) -> Path:
    """Train as a configuration says and print how the policy does; returns the run's folder.

    The folder holds the resolved configuration, versions, logs (TensorBoard and CSV), the model and
    the evaluation. What stops the learning, like Ctrl-C, is raised once the model is saved as it is.
    OptionError if the folder cannot be made.
    """
    started = time.time()
    folder = _new_folder(config)
    print(f"Training {config.name!r} in {folder}", flush=True)
    set_random_seed(config.seed)
    torch.set_num_threads(config.threads)
    model = make_model(config)
    with closing(configure(str(folder), ["csv", "tensorboard"])) as logger:
        model.set_logger(logger)
        try:
            _learn(model, config)
        finally:
            model.save(folder / "model.zip")
            print(f"Saved {folder / 'model.zip'} after {time.time() - started:.0f} s.", flush=True)
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
        learning_rate=_falling(ppo.learning_rate, config.rollouts),
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
    if config.rollouts:
        decisions = config.rollouts * config.rollout_decisions
        with progress(decisions, "learning by PPO") as bar:
            model.learn(decisions, callback=LearningProgress(bar))


def _falling(rate: float, rollouts: int) -> LinearSchedule:
    """A learning rate that falls in a straight line, and would be 0 after one rollout more.

    SB3 asks for it once a rollout, when what is left no longer counts the rollout to be learned from.
    """
    step = rate / max(rollouts, 1)
    return LinearSchedule(rate + step, step, 1.0)


def evaluate(model: MaskablePPO, config: Config) -> str:
    """A table of the policy against each baseline, each deal played from every seat."""
    settings, players = config.evaluation, config.env.num_players
    policy = PolicyAgent(model.policy, config.name)
    ruleset = Ruleset.get(config.env.ruleset)
    rows = []
    for name in settings.baselines:
        agents = [policy, *[make_agent(name)] * (players - 1)]
        with progress(settings.deals * players, f"playing {name}", "games") as bar:
            result = duplicate_match(agents, ruleset, settings.deals, settings.seed, progress=bar.update)
        rows.append(_row(name, result))
    title = (
        f"{config.name} against, {players} players, ruleset {ruleset.name}, "
        f"{count_words(settings.deals, 'deal')}, each from every seat:"
    )
    headers = ("opponent", "games", "win share", "95 % interval", "mean margin", "95 % interval")
    return title + "\n" + table(rows, headers, "lrrrrr")


def _row(name: str, result: MatchResult) -> tuple[str, ...]:
    share = _estimate(result.win_share(), ".3f")
    return name, str(result.num_games), *share, *_estimate(result.margin(), "+.1f")


def _estimate(estimate: Estimate, form: str) -> tuple[str, str]:
    """A mean and its interval, which one deal alone does not give."""
    interval = f"{estimate.low:{form}} to {estimate.high:{form}}"
    return f"{estimate.mean:{form}}", "-" if isnan(estimate.low) else interval


def _new_folder(config: Config) -> Path:
    """A new folder for the run, with its configuration and the versions in it."""
    first = folder = Path(config.folder) / f"{config.name}-{time.strftime('%Y%m%d-%H%M%S')}"
    count = 1
    try:
        while folder.exists():
            count += 1
            folder = first.with_name(f"{first.name}-{count}")
        folder.mkdir(parents=True)
    except OSError as error:
        raise OptionError(f"folder: {folder} cannot be made: {error.strerror}.") from None
    settings = yaml.safe_dump(_with_own_ruleset(config, folder), sort_keys=False)
    (folder / "config.yaml").write_text(settings, encoding="utf-8")
    versions = {"python": platform.python_version(), "gardienii-env": __version__}
    versions |= {name: version(name) for name in PACKAGES}
    (folder / "versions.yaml").write_text(yaml.safe_dump(versions, sort_keys=False), encoding="utf-8")
    return folder


def _with_own_ruleset(config: Config, folder: Path) -> dict[str, Any]:
    """The settings to run again; a ruleset that does not ship is kept in the folder."""
    settings = config.model_dump(mode="json")
    if config.env.ruleset not in SHIPPED:
        copy = folder / "ruleset.json"
        ruleset = Ruleset.get(config.env.ruleset).to_dict()
        copy.write_text(json.dumps(ruleset, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        settings["env"]["ruleset"] = str(copy)
    return settings
