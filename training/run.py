"""One training run: warm start, PPO, evaluation, and everything it leaves in its folder."""

from __future__ import annotations

import json
import platform
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import Any
from zipfile import BadZipFile

import numpy as np
import torch
import yaml
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.save_util import load_from_zip_file
from stable_baselines3.common.utils import LinearSchedule, set_random_seed
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from gardienii_env import __version__
from gardienii_env.agents import make_agent, make_agents
from gardienii_env.agents.external import PolicyAgent
from gardienii_env.agents.network import Manifest
from gardienii_env.envs.sb3 import GardieniiVecEnv
from gardienii_env.errors import OptionError, shown
from gardienii_env.rules.ruleset import SHIPPED, Ruleset
from training.checkpoints import BrokenCheckpointError, checkpoints, read_checkpoint, write_checkpoint
from training.config import Config, load_config
from training.games import TrainingGames
from training.imitation import standardize, warm_start
from training.log import Log
from training.matches import Figures, evaluation_table, play_matches
from training.network import export, layers_of, networks
from training.plots import plot_run
from training.pool import Pool
from training.ppo import PPO
from training.progress import Outcomes, progress
from training.rllib.config import RLlibConfig

__all__ = ["make_model", "resume", "run"]

PACKAGES = ("numpy", "numba", "torch", "stable-baselines3", "sb3-contrib", "onnx", "onnxruntime")


def run(config: Config) -> Path:
    """Train as a configuration says and print how the policy does; returns the run's folder.

    The folder holds the resolved configuration, versions, logs, checkpoints, evaluations, the model and
    the policy as an ONNX file. What stops the learning, like Ctrl-C, is raised once the model is saved
    as it is. OptionError if the folder cannot be made, AgentError if an agent does not fit the games.
    """
    _check_agents(config)
    with _backend(config):
        folder = _new_folder(config)
        print(f"Training {config.name!r} in {folder}", flush=True)
        _train(_make_run(config, folder))
    return folder


def _backend(config: Config) -> AbstractContextManager[None]:
    """What has to be there while a run of that backend goes."""
    if not isinstance(config, RLlibConfig):
        return nullcontext()
    from training.rllib.cluster import on_cluster

    return on_cluster(config)


def _make_run(config: Config, folder: Path) -> Run:
    """A run of the configuration's backend that has not begun."""
    if not isinstance(config, RLlibConfig):
        return Run(config, folder)
    from training.rllib.run import RLlibRun

    return RLlibRun(config, folder)


def _check_agents(config: Config) -> None:
    """AgentError unless all agents that take part fit the games."""
    env, names = config.env, list(config.evaluation.baselines)
    if config.imitation.decisions and config.start_from is None:
        names.append(config.imitation.agent)
    if config.selfplay.wanted:
        names += config.selfplay.agents
    agents = [make_agent(name) for name in names]
    if not config.selfplay.wanted:
        agents += make_agents(env.opponents, env.num_players - 1)
    for agent in agents:
        agent.check(Ruleset.get(env.ruleset), env.num_players)


def resume(folder: str | Path, overrides: Sequence[str] = ()) -> Path:
    """Go on with a run from its last checkpoint that is whole; OptionError if the folder holds no run.

    Without a checkpoint it begins anew, in the same folder. Settings may be changed by `key=value` texts
    as long as the games and the networks stay what they are; OptionError for others.
    """
    folder = Path(folder)
    settings = folder / "config.yaml"
    if not settings.is_file():
        raise OptionError(f"--resume: {folder} is not the folder of a run: it has no config.yaml.")
    before, config = load_config(settings), load_config(settings, overrides)
    for key, old, new in _kept(before, config):
        if old != new:
            raise OptionError(
                f"{key}: a run that goes on keeps its {shown(old)}; it cannot be {shown(new)}."
            )
    if config != before:
        settings.write_text(yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False), "utf-8")
    with _backend(config):
        one = _make_run(config, folder)
        content = _last_checkpoint(folder)
        if content is not None:
            one.restore(content)
        print(f"Going on with {one.config.name!r} in {folder} after update {one.update}", flush=True)
        _train(one)
    return folder


def _kept(before: Config, config: Config) -> Iterator[tuple[str, Any, Any]]:
    """What a run has to keep when it goes on: the key, the value before, the value now."""
    for name in type(config.env).model_fields:
        if name not in ("payoff", "opponents"):
            yield f"env.{name}", getattr(before.env, name), getattr(config.env, name)
    yield "backend", before.backend, config.backend
    yield "network", before.network, config.network
    yield "ppo.n_steps", before.ppo.n_steps, config.ppo.n_steps
    yield "selfplay", before.selfplay.wanted, config.selfplay.wanted


def _last_checkpoint(folder: Path) -> dict[str, Any] | None:
    """The latest checkpoint that can be read; a broken one is told and left out."""
    for path in checkpoints(folder):
        try:
            return read_checkpoint(path)
        except BrokenCheckpointError as error:
            print(f"warning: {error} The one before is used, if there is one.", file=sys.stderr)
    return None


def _train(one: Run) -> None:
    """All that is left to do of a run; what it holds is let go of."""
    try:
        _finish(one)
    finally:
        one.close()


def _finish(one: Run) -> None:
    config, folder = one.config, one.folder
    torch.set_num_threads(config.threads)
    with Log(folder, one.update, one.decisions) as log:
        try:
            one.learn(log)
        finally:
            one.save()
            print(f"Saved {folder / 'model.zip'} after {one.seconds():.0f} s.", flush=True)
    figures = one.evaluate(config.evaluation.deals)
    text = evaluation_table(config, figures, config.evaluation.deals)
    (folder / "evaluation.txt").write_text(text + "\n", encoding="utf-8")
    (folder / "evaluation.json").write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    one.export("policy.onnx", figures)
    plot_run(folder)
    print(text)
    print(f"Total: {one.seconds():.0f} s. Learning curves: tensorboard --logdir {folder}")


class Run:
    """A run as it goes.

    Attributes:
        update: how often PPO has learned from a rollout.
    """

    def __init__(self, config: Config, folder: Path) -> None:
        self.config, self.folder = config, folder
        self.update = 0
        self.best = -1.0  # the highest mean of the win shares of an evaluation
        self._begun = time.time()
        set_random_seed(config.seed)
        self.model = self.make_model()
        self.average: AveragedModel | None = None  # of the policy, from the end of the warm start on
        self.outcomes = Outcomes(config.env.num_players)
        self.pool: Pool | None = None
        if config.selfplay.wanted:
            self.pool = Pool(config.selfplay, config.env.num_players, config.env.view, config.seed)
        self.outcomes.pool = self.pool
        self._warm = False

    def make_model(self) -> PPO:
        """What learns, fresh."""
        return make_model(self.config)

    @property
    def decisions(self) -> int:
        """The learner's so far."""
        return int(self.model.num_timesteps)

    @property
    def policy(self) -> MaskableActorCriticPolicy:
        """The policy that is evaluated, exported and saved."""
        policy = self.model.policy if self.average is None else self.average.module
        assert isinstance(policy, MaskableActorCriticPolicy)
        return policy

    @property
    def games(self) -> TrainingGames:
        """What it plays."""
        games = self.model.env
        assert isinstance(games, TrainingGames)
        return games

    def seconds(self) -> float:
        """How long it has taken, what came before a resumption included."""
        return time.time() - self._begun

    # -- learning ----------------------------------------------------------------------------------

    def learn(self, log: Log) -> None:
        """Warm start, then PPO to the end. A signal to stop lets the update come to its end first."""
        config = self.config
        if not self._warm:
            self._warm_up()
            self.average = self._averaged()
        self._warm = True
        total = config.rollouts * config.rollout_decisions
        if self.decisions >= total:
            return
        callback = self._begin(total - self.decisions)
        if self.update == 0:
            self._after_update(log)
        with progress(total, "learning by PPO", done=self.decisions) as bar, _stop_later() as stop:
            while self.decisions < total:
                figures = self._learn_once(callback, total)
                log.progress(self.update, self.decisions, figures)
                bar.set_postfix(_telling(figures), refresh=False)
                bar.update(self.decisions - bar.n)
                self._after_update(log, last=self.decisions >= total or stop.asked)
                stop.check()

    def _begin(self, left: int) -> Any:
        """Get ready for so many decisions; returns what is to be told of them."""
        fresh = self.update == 0
        return self.model._setup_learn(left, self.outcomes, reset_num_timesteps=fresh)[1]

    def _warm_up(self) -> None:
        """What comes before PPO: the weights of another model, or imitation."""
        config, policy = self.config, self.model.policy
        if config.start_from is not None:
            _load_weights(self.model, config.start_from)
            return
        if config.network.features != "raw":
            standardize(policy, config, seed=config.seed)
        if config.imitation.decisions:
            found = warm_start(policy, config, seed=config.seed)
            print(
                f"Imitation: the same action as {config.imitation.agent} in {found.agreement:.1%} of "
                f"decisions, {found.explained:.0%} of the returns' variance explained.",
                flush=True,
            )

    def _averaged(self) -> AveragedModel | None:
        """What is to become the mean of the weights, which are now all that it knows."""
        decay = self.config.ppo.average
        if not decay:
            return None
        mean = get_ema_multi_avg_fn(decay)  # type: ignore[no-untyped-call]
        return AveragedModel(self.model.policy, multi_avg_fn=mean)

    def _learn_once(self, callback: Any, total: int) -> dict[str, float]:
        """A rollout and what is learned from it; returns the figures of it."""
        model, start = self.model, time.perf_counter()
        done = self.decisions / total
        self.games.payoff_share = self.config.env.payoff.at(done)
        model.learn_policy = self.update >= self.config.ppo.value_warmup
        if self.pool is not None:
            layers = layers_of(model.policy, self.config.network.activation)
            self.pool.follow(self.update, layers, self.games)
        model.collect_rollouts(self.games, callback, model.rollout_buffer, model.n_steps)
        played = time.perf_counter()
        model._update_current_progress_remaining(model.num_timesteps, total)
        model.train()
        self._count_update()
        end = time.perf_counter()
        figures = {name: float(value) for name, value in model.logger.name_to_value.items()}
        model.logger.name_to_value.clear()
        return {
            **self.outcomes.figures(),
            **_episodes(model),
            **figures,
            "reward/payoff_share": self.games.payoff_share,
            "time/decisions_per_second": self.config.rollout_decisions / (end - start),
            "time/rollout_share": (played - start) / (end - start),
            "time/seconds": self.seconds(),
        }

    def _count_update(self) -> None:
        """Note that the policy has learned once more."""
        if self.average is not None:
            self.average.update_parameters(self.model.policy)
        self.update += 1

    def _after_update(self, log: Log, last: bool = False) -> None:
        """Evaluate and keep a checkpoint where it is time for that."""
        evaluation = self.config.evaluation
        if evaluation.every and self.update % evaluation.every == 0:
            figures = self.evaluate(evaluation.every_deals, quiet=True)
            log.evaluation(self.update, self.decisions, figures)
            mean = float(np.mean([row["win_share"] for row in figures]))
            if mean > self.best:
                self.best = mean
                try:
                    self.export("best.onnx", figures)
                except OptionError as error:
                    print(f"warning: {error} Learning goes on.", file=sys.stderr)
        if last or self.update % self.config.checkpoint.every == 0:
            self.checkpoint()

    # -- what it leaves ----------------------------------------------------------------------------

    def evaluate(self, deals: int, quiet: bool = False) -> list[Figures]:
        """How the policy does now against each baseline."""
        policy = PolicyAgent(self.policy, self.config.name)
        return play_matches(policy, self.config, deals, quiet)

    def export(self, name: str, figures: list[Figures]) -> None:
        """Write the policy as an ONNX file into the folder, with how it was trained and how it does."""
        env = self.config.env
        training = {
            "configuration": self.config.model_dump(mode="json"),
            "decisions": self.decisions,
            "update": self.update,
            "seconds": round(self.seconds()),
            "evaluation": figures,
        }
        ruleset, prior = Ruleset.get(env.ruleset), self.config.network.prior
        manifest = Manifest(env.view, env.num_players, ruleset, training, prior)
        layers = layers_of(self.policy, self.config.network.activation)
        export(layers, self.folder / name, manifest)

    def save(self) -> None:
        """Write the model, with the policy that is evaluated."""
        model, learning = self.model, self.model.policy
        model.policy = self.policy
        try:
            model.save(self.folder / "model.zip", exclude=["learn_policy"])
        finally:
            model.policy = learning

    def close(self) -> None:
        """Let go of what the run holds: here nothing."""

    def checkpoint(self) -> None:
        """Keep all that is needed to go on; a disk that is full is told, and learning goes on."""
        try:
            write_checkpoint(self.folder, self.update, self.capture(), self.config.checkpoint.keep)
        except OSError as error:
            print(
                f"warning: the checkpoint after update {self.update} cannot be written: "
                f"{error.strerror}. Learning goes on; the checkpoints before are kept.",
                file=sys.stderr,
            )

    def capture(self) -> dict[str, Any]:
        """All that a run goes on from."""
        model = self.model
        names = (
            *("num_timesteps", "_n_updates", "_last_obs", "_last_episode_starts"),
            *("ep_info_buffer", "ep_success_buffer"),
        )
        return {
            **self.standing(),
            "policy": model.policy.state_dict(),
            "optimizer": model.policy.optimizer.state_dict(),
            "model": {name: getattr(model, name) for name in names},
            "games": model.env,
            "torch": torch.get_rng_state(),
        }

    def standing(self) -> dict[str, Any]:
        """What `be_at` needs of a checkpoint."""
        return {
            "update": self.update,
            "best": self.best,
            "seconds": self.seconds(),
            "average": None if self.average is None else self.average.state_dict(),
            "pool": self.pool,
            "outcomes": (self.outcomes.wins, self.outcomes.scores, self.outcomes.payoffs),
        }

    def be_at(self, content: dict[str, Any]) -> None:
        """Be as far as when a checkpoint was made; the model is there already."""
        self.update, self.best, self._warm = content["update"], content["best"], True
        self.average = self._averaged()
        if self.average is not None and content["average"] is not None:
            self.average.load_state_dict(content["average"])
        self._begun = time.time() - content["seconds"]
        self.pool = self.outcomes.pool = content["pool"]
        if self.pool is not None:
            self.pool.change(self.config.selfplay)
        self.outcomes.wins, self.outcomes.scores, self.outcomes.payoffs = content["outcomes"]

    def restore(self, content: dict[str, Any]) -> None:
        """Be where a checkpoint was made."""
        content["games"].use_threads(self.config.threads)
        self.model = model = make_model(self.config, content["games"])
        model.policy.load_state_dict(content["policy"])
        model.policy.optimizer.load_state_dict(content["optimizer"])
        for name, value in content["model"].items():
            setattr(model, name, value)
        self.be_at(content)
        torch.set_rng_state(content["torch"])


def make_model(config: Config, games: GardieniiVecEnv | None = None) -> PPO:
    """A fresh model on games as the configuration says, or on those that are given."""
    ppo, env = config.ppo, config.env
    policy, policy_kwargs = networks(config.network, env.num_players, env.view)
    model = PPO(
        policy,
        TrainingGames(config) if games is None else games,
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
        target_kl=ppo.target_kl,
        policy_kwargs=policy_kwargs,
        seed=config.seed if games is None else None,
        device="cpu",
    )
    model.set_logger(Logger(folder=None, output_formats=[]))
    return model


def _load_weights(model: PPO, path: str) -> None:
    """Let the networks be those of a saved model; its pickles are not read."""
    try:
        _, parameters, _ = load_from_zip_file(path, load_data=False, device="cpu")
        weights: Any = parameters["policy"]
        model.policy.load_state_dict(weights)
    except (OSError, ValueError, KeyError, RuntimeError, BadZipFile) as error:
        reason = " ".join(str(error).split())
        raise OptionError(f"start_from: {path} does not fit: {reason}") from None


def _falling(rate: float, rollouts: int) -> LinearSchedule:
    """A learning rate that falls in a straight line, and would be 0 after one rollout more.

    SB3 asks for it once a rollout, when what is left no longer counts the rollout to be learned from.
    """
    step = rate / max(rollouts, 1)
    return LinearSchedule(rate + step, step, 1.0)


def _episodes(model: PPO) -> dict[str, float]:
    """Mean return and length of the last episodes."""
    episodes = model.ep_info_buffer
    if not episodes:
        return {}
    return {
        "rollout/ep_rew_mean": float(np.mean([episode["r"] for episode in episodes])),
        "rollout/ep_len_mean": float(np.mean([episode["l"] for episode in episodes])),
    }


def _telling(figures: dict[str, float]) -> dict[str, str]:
    """The figures that the bar shows."""
    told = {
        name.removeprefix("against/"): f"{x:.2f}" for name, x in figures.items() if "against/" in name
    }
    if not told and "rollout/win_share" in figures:
        told["win_share"] = f"{figures['rollout/win_share']:.2f}"
    for name, short in (
        ("rollout/payoff", "payoff"),
        ("train/entropy", "entropy"),
        ("train/approx_kl", "kl"),
    ):
        if name in figures:
            told[short] = f"{figures[name]:.3f}"
    return told


# -- signals ---------------------------------------------------------------------------------------


class _Stop:
    """Whether it was asked to stop; asked twice, it stops at once."""

    asked = False

    def ask(self, signum: int, frame: FrameType | None) -> None:
        """Be told by a signal."""
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        print("Stopping after this update; once more to stop at once.", file=sys.stderr)

    def check(self) -> None:
        """KeyboardInterrupt if it was asked to stop."""
        if self.asked:
            raise KeyboardInterrupt


@contextmanager
def _stop_later() -> Iterator[_Stop]:
    """While this is on, Ctrl-C and SIGTERM only note that they came."""
    stop, before = _Stop(), {}
    try:
        for signum in (signal.SIGINT, signal.SIGTERM):
            before[signum] = signal.signal(signum, stop.ask)
    except ValueError:  # not in the main thread: signals do not come here
        pass
    try:
        yield stop
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)


# -- the folder ------------------------------------------------------------------------------------


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
    packages = PACKAGES if config.backend == "sb3" else (*PACKAGES, "ray", "gymnasium")
    versions |= {name: version(name) for name in packages}
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
