"""Runs of a second, in this process and in one of their own, for tests."""

from __future__ import annotations

import csv
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx

from training.config import load_config
from training.run import run

__all__ = [
    *("FEW", "ROOT", "SELFPLAY", "TINY", "Process"),
    *("figures", "killed_after", "rows", "timeless", "train"),
]

ROOT = Path(__file__).parents[2]
TINY = str(ROOT / "configs" / "tiny.yaml")
FEW = (
    *("threads=1", "env.num_envs=4", "network.hidden=[8]", "imitation.decisions=1"),
    *("ppo.decisions=1024", "ppo.n_steps=64", "ppo.batch_size=256", "evaluation.deals=2"),
)
"""Settings of a run that takes about a second."""

SELFPLAY = (
    *("selfplay.latest=1", "selfplay.past=2", "selfplay.agents={greedy: 1, planner: 1}"),
    *("selfplay.snapshot_every=2", "selfplay.redraw_every=1", "selfplay.pool_size=3"),
    *("selfplay.in_play=2", "env.payoff.last=1", "evaluation.every=4", "evaluation.every_deals=2"),
    *("checkpoint.every=3", "evaluation.baselines=[greedy]"),
)
"""Settings of self-play in which everything changes all the time."""

PATIENCE = 120.0


def train(folder: Path, *settings: str) -> Path:
    """A run in this process; its folder."""
    return run(load_config(TINY, [*FEW, f"folder={folder}", *settings]))


def rows(folder: Path, name: str = "progress.csv") -> list[dict[str, str]]:
    """The lines of `progress.csv`."""
    with (folder / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def timeless(given: list[dict[str, str]]) -> list[dict[str, str]]:
    """The same without times."""
    return [{k: v for k, v in row.items() if not k.startswith("time/")} for row in given]


def figures(folder: Path) -> Any:
    """All that must be the same: the figures of every update and evaluation, the network, the table."""
    weights = onnx.load(str(folder / "policy.onnx")).graph.initializer
    return (
        timeless(rows(folder)),
        rows(folder, "evaluations.csv"),
        (folder / "evaluation.txt").read_text(encoding="utf-8"),
        [weight.SerializeToString() for weight in weights],
    )


def killed_after(updates: int, run: str = "training.run.Run") -> str:
    """A program that is `python -m training`, killed when a run of that class has learned so often."""
    module, _, name = run.rpartition(".")
    return f"""
import os, signal, sys
from training.__main__ import main
from {module} import {name}

learn_once = {name}._learn_once
def killed(self, *arguments):
    if self.update == {updates}:
        os.kill(os.getpid(), signal.SIGKILL)
    return learn_once(self, *arguments)
{name}._learn_once = killed
main(sys.argv[1:])
"""


class Process:
    """`python -m training` with arguments, and what it has written so far; its runs are in `runs`."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.runs, self.out, self.err = folder / "runs", folder / "out.txt", folder / "err.txt"
        with self.out.open("w") as out, self.err.open("w") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "training", *arguments],
                cwd=ROOT,
                stdout=out,
                stderr=err,
            )

    @classmethod
    def tiny(cls, folder: Path, *settings: str) -> Process:
        """A run of `configs/tiny.yaml` with few of everything and some settings."""
        return cls(folder, TINY, *FEW, f"folder={folder / 'runs'}", *settings)

    @property
    def run(self) -> Path:
        (folder,) = self.runs.iterdir()
        return folder

    def wait_until(self, done: Callable[[], bool]) -> None:
        """Wait until something is so; fail if the process ends before."""
        give_up = time.monotonic() + PATIENCE
        while not done():
            assert self.process.poll() is None, self.err.read_text()
            assert time.monotonic() < give_up, self.err.read_text()
            time.sleep(0.05)

    def has_logged(self, updates: int) -> bool:
        """Whether PPO has learned so often."""
        logs = list(self.runs.glob("*/progress.csv"))
        return bool(logs) and len(logs[0].read_text(encoding="utf-8").splitlines()) > updates

    def says(self, text: str) -> bool:
        return text in self.err.read_text()

    def finish(self) -> int:
        return self.process.wait(PATIENCE)

    def kill(self) -> None:
        """SIGKILL."""
        self.process.kill()
        self.process.wait()
