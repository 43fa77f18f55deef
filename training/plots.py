"""Learning curves as pictures, from the CSV files of one run or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gardienii_env.errors import OptionError
from training.log import read_csv

__all__ = ["compare_runs", "plot_run"]

Rows = Sequence[Mapping[str, str]]

MILLION = 1e6
DPI = 110
SETTINGS: Any = {"font.size": 9, "axes.grid": True, "grid.alpha": 0.3, "text.parse_math": False}


def plot_run(folder: Path) -> Path:
    """Draw a run's curves into `curves.png` in its folder; returns the path.

    Win shares in evaluations, with their 95 % intervals, and in training; entropy and KL divergence;
    mean points. OptionError if the picture cannot be written.
    """
    rows, evaluations = read_csv(folder / "progress.csv"), read_csv(folder / "evaluations.csv")
    with matplotlib.rc_context(SETTINGS):
        figure = Figure(figsize=(9, 6.4), layout="constrained")
        axes = figure.subplots(2, 2)
        _evaluations(axes[0, 0], {"": evaluations})
        axes[0, 0].set_title("win share in evaluations (best action)")
        names = [name for name in (rows[0] if rows else {}) if name.startswith("against/")]
        _lines(axes[0, 1], rows, names or ["rollout/win_share"])
        axes[0, 1].set_title("win share in training (drawn actions)")
        axes[0, 1].set_ylim(0, 1)
        _lines(axes[1, 0], rows, ["train/entropy", "train/approx_kl", "train/clip_fraction"])
        axes[1, 0].set_title("how the policy moves")
        axes[1, 0].set_yscale("log")
        _lines(axes[1, 1], rows, ["rollout/score"])
        axes[1, 1].set_title("points in training")
        for at in axes.flat:
            at.set_xlabel("learner's decisions, millions")
        return _write(figure, folder / "curves.png")


def compare_runs(folders: Sequence[Path], path: Path) -> Path:
    """Draw the evaluations of several runs, a panel for each baseline; returns the path.

    OptionError if there are none, or the picture cannot be written.
    """
    found = {folder.name: read_csv(folder / "evaluations.csv") for folder in folders}
    opponents = dict.fromkeys(row["opponent"] for rows in found.values() for row in rows)
    if not opponents:
        raise OptionError("There are no evaluations in these runs; see evaluation.every.")
    with matplotlib.rc_context(SETTINGS):
        figure = Figure(figsize=(4.8 * len(opponents), 4.2), layout="constrained")
        panels = figure.subplots(1, len(opponents), squeeze=False)[0]
        for at, opponent in zip(panels, opponents, strict=True):
            some = {
                name: [row for row in rows if row["opponent"] == opponent]
                for name, rows in found.items()
            }
            _evaluations(at, some)
            at.set_title(f"win share against {opponent}")
            at.set_xlabel("learner's decisions, millions")
        return _write(figure, path)


def _evaluations(axes: Axes, runs: Mapping[str, Rows]) -> None:
    """Win shares of runs against each of their opponents, with intervals."""
    for run, rows in runs.items():
        for opponent in dict.fromkeys(row["opponent"] for row in rows):
            some = [row for row in rows if row["opponent"] == opponent]
            x = [int(row["decisions"]) / MILLION for row in some]
            mean, low, high = (
                [float(row[key] or "nan") for row in some]
                for key in ("win_share", "win_share_low", "win_share_high")
            )
            (line,) = axes.plot(x, mean, label=run or opponent)
            axes.fill_between(x, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    axes.set_ylim(0, 1)
    _legend(axes)


def _lines(axes: Axes, rows: Rows, names: Sequence[str]) -> None:
    """Figures of a run by their names, where there are any."""
    for name in names:
        some = [row for row in rows if row.get(name)]
        x = [int(row["decisions"]) / MILLION for row in some]
        axes.plot(x, [float(row[name]) for row in some], label=name.partition("/")[2], linewidth=1)
    _legend(axes)


def _legend(axes: Axes) -> None:
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=8)


def _write(figure: Figure, path: Path) -> Path:
    try:
        figure.savefig(path, dpi=DPI)
    except OSError as error:
        raise OptionError(f"{path} cannot be written: {error.strerror}.") from None
    return path
