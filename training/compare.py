"""`python -m training.compare RUN ... [--out FILE.png]`: runs side by side, as a table and as curves."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import yaml

from gardienii_env.errors import GardieniiError, OptionError
from gardienii_env.tables import table
from training.log import read_csv
from training.plots import compare_runs

__all__ = ["comparison", "differences", "main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code: 0, or 2 for folders that hold no runs."""
    parser = argparse.ArgumentParser(
        prog="python -m training.compare",
        description="Compare runs: their last evaluations, what differs in the settings, curves.",
    )
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="the folder of a run")
    parser.add_argument("--out", type=Path, metavar="FILE.png", help="where to draw the curves")
    args = parser.parse_args(argv)
    try:
        print(comparison(args.runs))
        if args.out is not None:
            print(f"Curves: {compare_runs(args.runs, args.out)}")
    except GardieniiError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def comparison(folders: Sequence[Path]) -> str:
    """A table of the runs: what is set otherwise, decisions, seconds, and their last win shares."""
    different = differences(folders)
    found = [_last(folder) for folder in folders]
    opponents = list(dict.fromkeys(name for shares in found for name in shares))
    rows = []
    for folder, shares in zip(folders, found, strict=True):
        progress = read_csv(folder / "progress.csv")
        last = progress[-1] if progress else {}
        rows.append(
            (
                folder.name,
                f"{int(last.get('decisions', 0)):,}",
                f"{float(last.get('time/seconds', 0)):.0f}",
                *(shares.get(name, "-") for name in opponents),
                ", ".join(f"{key}={value}" for key, value in different[folder].items()) or "-",
            )
        )
    headers = ("run", "decisions", "seconds", *opponents, "what differs")
    return table(rows, headers, "lrr" + "r" * len(opponents) + "l")


def differences(folders: Sequence[Path]) -> dict[Path, dict[str, str]]:
    """By run, the settings that are not the same in all of them, `section.key` to value."""
    settings = {folder: _flat(_settings(folder)) for folder in folders}
    keys = dict.fromkeys(key for flat in settings.values() for key in flat)
    unequal = [
        key
        for key in keys
        if key not in ("name", "folder") and len({flat.get(key, "") for flat in settings.values()}) > 1
    ]
    return {folder: {key: flat.get(key, "-") for key in unequal} for folder, flat in settings.items()}


def _settings(folder: Path) -> dict[str, object]:
    try:
        found = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    except OSError as error:
        raise OptionError(f"{folder} is not the folder of a run: {error.strerror}.") from None
    assert isinstance(found, dict)
    return found


def _flat(settings: dict[str, object], before: str = "") -> dict[str, str]:
    """Settings of sections as `section.key`, with their values as text."""
    flat: dict[str, str] = {}
    for key, value in settings.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{before}{key}.")
        else:
            flat[f"{before}{key}"] = str(value)
    return flat


def _last(folder: Path) -> dict[str, str]:
    """The win share of the last evaluation against each opponent."""
    shares = {}
    for row in read_csv(folder / "evaluations.csv"):
        share = f"{float(row['win_share']):.3f}"
        if row["win_share_low"]:
            share += f" ± {(float(row['win_share_high']) - float(row['win_share_low'])) / 2:.3f}"
        shares[row["opponent"]] = share
    return shares


if __name__ == "__main__":
    sys.exit(main())
