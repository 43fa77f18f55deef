"""Minari data sets: the episodes of games between agents, for offline reinforcement learning.

A data set appears only once it is complete. Its episodes are those of `episodes.py`, in the order of
games and seats; `docs/minari.md` tells what is where. Minari itself comes with the extra `minari`.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass
from errno import ENOSPC
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

from gardienii_env import __version__
from gardienii_env.agents import AGENTS, Agent
from gardienii_env.arena.episodes import Episode, play_episodes
from gardienii_env.arena.match import BATCH_SIZE, Progress, check_agents, check_count, untold
from gardienii_env.envs.outcome import REWARDS, Reward
from gardienii_env.envs.register import GYMNASIUM_ID, PETTINGZOO_ID
from gardienii_env.envs.single import observation_space
from gardienii_env.errors import MissingExtraError, OptionError, one_of, shown
from gardienii_env.observation import OBSERVATION_TYPES, ObservationType, View, layout
from gardienii_env.rules.actions import NUM_ACTIONS
from gardienii_env.rules.random import check_seed
from gardienii_env.rules.ruleset import SHIPPED, Ruleset
from gardienii_env.words import count_words

__all__ = ["DatasetPlan", "Written", "check_dataset_id", "write_dataset"]

LEAST_PYTHON = (3, 11)
ABOUT = "gardienii_env"
"""The key of the metadata under which everything stands that Minari has no key for."""

MOST_SEED = 2**63 - 1

BYTES_BESIDE = 32_000
"""More than what HDF5 needs for an episode beside its arrays."""


@dataclass(frozen=True)
class DatasetPlan:
    """What is in a data set.

    Attributes:
        dataset_id: Minari's name for it, as in `gardienii/planner-v0`.
        agents: who plays, agent k in seat k; 2 to 4.
        ruleset: of all games.
        games: how many; game k has the seed `seed + k`.
        seed: of the first game.
        view: `table` or `recall`.
        reward: `payoff`, `margin` or `points`; see `envs.outcome`.
        dtype: of the observations: `uint8`, the counts before scaling, or `float32`.
        author: who makes it; may be empty.
        code_permalink: where the code is that makes it; may be empty.
    """

    dataset_id: str
    agents: Sequence[Agent]
    ruleset: Ruleset
    games: int
    seed: int = 0
    view: View = "table"
    reward: Reward = "payoff"
    dtype: ObservationType = "uint8"
    author: str = ""
    code_permalink: str = ""

    def __post_init__(self) -> None:
        """Raises AgentError or OptionError for what cannot be."""
        check_agents(self.agents, self.ruleset)
        check_count("games", self.games)
        if check_seed(self.seed) is None:
            raise OptionError("seed: a data set has a seed, a whole number from 0 up, not None.")
        if self.seed + self.games > MOST_SEED + 1:
            raise OptionError(
                f"seed: {self.seed}, for {count_words(self.games, 'game')}, passes {MOST_SEED}, the "
                "highest number that a data set holds; take a lower one."
            )
        layout(len(self.agents), self.view)
        if self.reward not in REWARDS:
            raise OptionError(one_of("reward:", self.reward, REWARDS))
        if self.dtype not in OBSERVATION_TYPES:
            raise OptionError(one_of("dtype:", self.dtype, OBSERVATION_TYPES))

    @property
    def names(self) -> list[str]:
        """The agents' names, by seat."""
        return [agent.name for agent in self.agents]

    @property
    def command(self) -> str:
        """A command that makes it again; a ruleset of one's own is to be in `ruleset.json`."""
        ruleset = self.ruleset.reference()
        words = ["gardienii", "dataset", "--id", self.dataset_id, "--agents", ",".join(self.names)]
        if ruleset != SHIPPED[0]:
            words += ["--ruleset", ruleset if isinstance(ruleset, str) else "ruleset.json"]
        words += ["--games", str(self.games), "--seed", str(self.seed)]
        words += ["--view", self.view, "--reward", self.reward, "--dtype", self.dtype]
        return shlex.join(words)

    @property
    def env_spec(self) -> gym.envs.registration.EnvSpec | None:
        """The environment in which a learner lives through such episodes; None if it cannot be named.

        Where all agents are the same the seat is drawn. Otherwise it is seat 0, against the others.
        """
        if any(name.partition(":")[0] not in AGENTS for name in self.names):
            return None
        same = len(set(self.names)) == 1
        spec = deepcopy(gym.spec(GYMNASIUM_ID))
        spec.kwargs = {
            "opponents": self.names[0] if same else ",".join(self.names[1:]),
            "num_players": len(self.agents),
            "ruleset": self.ruleset.reference(),
            "view": self.view,
            "reward": self.reward,
            "seat": None if same else 0,
            "dtype": self.dtype,
        }
        return spec

    def metadata(self) -> dict[str, Any]:
        """What stands in the data set's metadata beside what Minari writes by itself."""
        given = {"code_permalink": self.code_permalink, "author": {self.author} - {""}}
        parts = layout(len(self.agents), self.view)
        return {
            "dataset_id": self.dataset_id,
            "algorithm_name": ",".join(self.names),
            "description": (
                f"{count_words(self.games, 'game')} of Gardienii Dragonilor (Dragonkeepers), ruleset "
                f"{self.ruleset.name}, played by {', '.join(self.names)}. An episode holds the "
                "decisions of one seat in one game; infos/action_mask says what was legal. Made by: "
                f"{self.command}"
            ),
            "requirements": [f"gardienii-env>={__version__}"],
            **{name: value for name, value in given.items() if value},
            ABOUT: {
                "version": __version__,
                "agents": self.names,
                "players": len(self.agents),
                "ruleset": self.ruleset.reference(),
                "games": self.games,
                "seed": self.seed,
                "view": self.view,
                "reward": self.reward,
                "dtype": self.dtype,
                "layout_version": PETTINGZOO_ID,
                "layout": {part.name: [part.start, *part.shape] for part in parts},
                "command": self.command,
            },
        }


@dataclass(frozen=True)
class Written:
    """A data set that was written: its folder, and how much is in it."""

    folder: Path
    episodes: int
    decisions: int
    megabytes: float


def check_dataset_id(dataset_id: str, overwrite: bool = False) -> Path:
    """The folder of a data set that can be written.

    OptionError if Minari does not take the id, or there is something already that may not be replaced.
    MissingExtraError without Minari.
    """
    minari = _minari()
    try:
        minari.dataset.minari_dataset.parse_dataset_id(dataset_id)
        fits = "//" not in dataset_id
    except (ValueError, TypeError):  # TypeError: there is no version
        fits = False
    if not fits:
        raise OptionError(
            f"--id: {shown(dataset_id)} is not of the form NAMESPACE/NAME-vNUMBER, like "
            "gardienii/planner-v0; letters, digits, - and _ only, and a namespace has two or more."
        )
    try:
        root = Path(os.path.realpath(minari.storage.get_dataset_path()))
    except OSError as error:
        place = os.environ.get("MINARI_DATASETS_PATH", "")
        raise OptionError(
            f"MINARI_DATASETS_PATH: {shown(place)} cannot be written: {error.strerror}."
        ) from None
    folder = root / dataset_id
    for parent in folder.parents:
        if parent == root:
            break
        if _is_dataset(parent):
            inside = parent.relative_to(root)
            raise OptionError(f"--id: {inside} is a data set and no namespace; give another id.")
    if _is_dataset(folder) and not overwrite:
        raise OptionError(
            f"--id: there is a data set {dataset_id} already, in {folder}; give another id, such as the "
            "next version, or replace it by --overwrite."
        )
    if os.path.lexists(folder) and not _is_dataset(folder):
        raise OptionError(f"--id: {folder} is there already and is no data set; give another id.")
    return folder


def write_dataset(
    plan: DatasetPlan,
    overwrite: bool = False,
    batch_size: int = BATCH_SIZE,
    progress: Progress = untold,
) -> Written:
    """Play the games of a plan and write them as a Minari data set, where Minari keeps them.

    `progress` is called with the number of games that have just ended. Whatever ends it before all is
    written, nothing of it stays, and a data set that it was to replace is as before. Raises what
    `check_dataset_id` does, AgentError for an agent that fails, and OptionError if it cannot be written.
    """
    folder = check_dataset_id(plan.dataset_id, overwrite)
    check_count("batch_size", batch_size)
    seeds = range(plan.seed, plan.seed + plan.games)
    with _appearing(folder) as part:
        writer = _Writer(plan, part, folder)
        options = (plan.view, plan.reward, plan.dtype, batch_size, progress)
        for episodes in play_episodes(plan.agents, plan.ruleset, seeds, *options):
            writer.add(episodes)
        written = writer.written()
    _name_namespace(plan.dataset_id)
    return written


class _Writer:
    """Writes episodes into a new folder, `part`, that will be `folder`."""

    def __init__(self, plan: DatasetPlan, part: Path, folder: Path) -> None:
        minari = _minari()
        self.plan, self.folder = plan, folder
        self.buffer = minari.data_collector.EpisodeBuffer
        spaces = (
            observation_space(layout(len(plan.agents), plan.view), plan.dtype),
            gym.spaces.Discrete(NUM_ACTIONS),
        )
        with _writing_to(folder):
            new = minari.dataset.minari_storage.MinariStorage.new
            self.storage = new(part / "data", *spaces, env_spec=plan.env_spec, data_format="hdf5")
            metadata = {**plan.metadata(), "minari_version": minari.__version__}
            self.storage.update_metadata(metadata)

    def add(self, episodes: Sequence[Episode]) -> None:
        """Write some more episodes."""
        with _writing_to(self.folder):
            self._check_space(episodes)
            first = self.storage.total_episodes
            self.storage.update_episodes([self._buffer(episode) for episode in episodes])
            told = [self._told(episode) for episode in episodes]
            self.storage.update_episode_metadata(told, range(first, first + len(told)))

    def _check_space(self, episodes: Sequence[Episode]) -> None:
        """OSError unless there is ample space: HDF5 may take the process down when a disk is full."""
        arrays = sum(episode.observations.nbytes + 2 * episode.masks.nbytes for episode in episodes)
        if shutil.disk_usage(self.storage.data_path).free < 2 * (arrays + BYTES_BESIDE * len(episodes)):
            raise OSError(ENOSPC, os.strerror(ENOSPC))

    def _buffer(self, episode: Episode) -> Any:
        """An episode as Minari takes it; `infos` are those of `Gardienii-v0`."""
        ends = np.zeros((2, len(episode)), np.bool_)
        ends[int(episode.truncated), -1] = True
        return self.buffer(
            seed=episode.seed,
            observations=episode.observations,
            actions=episode.actions,
            rewards=episode.rewards,
            terminations=ends[0],
            truncations=ends[1],
            infos={
                "action_mask": episode.masks,
                "seat": np.full(len(episode) + 1, episode.seat, np.int64),
            },
        )

    def _told(self, episode: Episode) -> dict[str, Any]:
        """What is told of an episode as a whole."""
        return {
            "seat": episode.seat,
            "agent": self.plan.names[episode.seat],
            "score": episode.score,
            "winner": episode.won,
        }

    def written(self) -> Written:
        """What has been written."""
        storage = self.storage
        return Written(
            self.folder,
            storage.total_episodes,
            storage.total_steps,
            float(storage.metadata["dataset_size"]),
        )


# -- folders ---------------------------------------------------------------------------------------


def _is_dataset(folder: Path) -> bool:
    return (folder / "data").is_dir()


@contextmanager
def _appearing(folder: Path) -> Iterator[Path]:
    """A new folder to write into, which takes its name, and the place of an older one, at the end.

    After an error nothing of it is left, nor of the folders above that were made for it.
    """
    part, old = (folder.with_name(f".{folder.name[:60]}.{os.getpid()}.{end}") for end in ("part", "old"))
    made = [parent for parent in folder.parents if not parent.exists()]
    try:
        with _writing_to(folder):
            part.mkdir(parents=True)
        yield part
        with _writing_to(folder):
            _exchange(part, folder, old)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        with suppress(OSError):
            for parent in made:
                parent.rmdir()
        raise
    shutil.rmtree(old, ignore_errors=True)


def _exchange(new: Path, folder: Path, old: Path) -> None:
    """Let a new folder take the place of another, if there is one, which goes to `old`."""
    if folder.exists():
        os.replace(folder, old)
    try:
        os.replace(new, folder)
    except BaseException:
        if old.exists():
            os.replace(old, folder)
        raise


@contextmanager
def _writing_to(folder: Path) -> Iterator[None]:
    """OptionError for what goes wrong with files. HDF5 tells the reason in the text of its errors."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        found = re.search(r"error message = '([^']*)'", reason)
        raise OptionError(
            f"--id: {folder} cannot be written: {found[1] if found else reason}."
        ) from None


def _name_namespace(dataset_id: str) -> None:
    """Let Minari know the namespace, if it is new."""
    from minari.namespace import create_namespace, list_local_namespaces

    namespace = dataset_id.rpartition("/")[0]
    if namespace and namespace not in list_local_namespaces():
        with suppress(OSError):  # only `minari` commands that list namespaces miss it
            create_namespace(namespace)


def _minari() -> Any:
    """The library."""
    if sys.version_info < LEAST_PYTHON:
        raise OptionError("Minari data sets need Python 3.11 or later, which Minari needs.")
    try:
        import h5py  # noqa: F401
        import minari
        import PIL  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("A Minari data set", "minari") from error
    return minari
