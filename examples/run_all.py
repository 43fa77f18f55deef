"""Run every example at a tiny size, each as its own first lines say, and look at what it prints.

    python examples/run_all.py                    # a fresh virtual environment for each install line
    python examples/run_all.py --here             # what this Python can run, without installing anything
    python examples/run_all.py custom_agent.py    # some of them

The install line is read from the example's docstring, so that it is the one that is tried. Examples with
the same line share an environment. It ends with 1 if an example fails.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent
ROOT = EXAMPLES.parent

TINY: dict[str, tuple[str, str]] = {
    "pettingzoo_loop.py": ("--players 3", r"(?s)player_2  score +\d+  reward [+-]\d.*won|won.*player_2"),
    "custom_agent.py": ("--deals 2", r"python:custom_agent:choose"),
    "custom_ruleset.py": ("--deals 2", r"Game short[^$]*Ratings"),
    "sb3_maskable_ppo.py": (
        "--decisions 256 --envs 4 --deals 2",
        r"against greedy: win share [01]\.\d+",
    ),
    "torchrl_ppo.py": (
        "--decisions 400 --batch 400",
        r"update 0: [1-9]\d* games, points by seat \[\d\d",
    ),
    "rllib_ppo.py": (
        "--updates 1 --batch 1600 --runners 0 --deals 2",
        r"update 1: return [-+]\d.*\nwin share against random: [01]\.\d+",
    ),
    "openspiel_bot.py": ("--games 1 --simulations 2 --decisions 2", r"ismcts: mean payoff"),
    "minari_behaviour_cloning.py": (
        "--games 20 --epochs 1 --units 16 --deals 2",
        r"win share against greedy: [01]\.\d+",
    ),
    "tianshou_dqn.py": ("--decisions 256 --games 16", r"mean score after learning: -?\d+\.\d points"),
}
"""Of each example: arguments that make it small, and what its output has to match."""


def install_line(example: Path) -> list[str]:
    """The arguments of the line `pip install …` in a docstring; ValueError unless it has one."""
    docstring = ast.get_docstring(ast.parse(example.read_text(encoding="utf-8"))) or ""
    lines = re.findall(r"^ +pip (install .+)$", docstring, re.MULTILINE)
    if len(lines) != 1:
        raise ValueError(f"{example.name}: its docstring has {len(lines)} lines 'pip install', not one.")
    return shlex.split(lines[0])


def run(python: str, name: str) -> str:
    """Run an example at its tiny size; what is wrong with it, or nothing."""
    arguments, expected = TINY[name]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [python, "-W", "ignore", str(EXAMPLES / name), *arguments.split()],
            cwd=folder,  # for what an example writes
            env={**os.environ, "MINARI_DATASETS_PATH": folder},
            capture_output=True,
            text=True,
        )
    if done.returncode:
        return f"exit status {done.returncode}\n{done.stdout}{done.stderr}"
    return "" if re.search(expected, done.stdout) else f"no {expected!r} in its output\n{done.stdout}"


def install(folder: str, line: list[str]) -> str:
    """Make a virtual environment and install what a line says; the path of its Python."""
    venv.create(folder, with_pip=True)
    python = os.path.join(folder, "Scripts" if os.name == "nt" else "bin", "python")
    subprocess.run(
        [python, "-m", "pip", "--quiet", "--disable-pip-version-check", *line], cwd=ROOT, check=True
    )
    return python


def main() -> int:
    """Run the examples asked for; how many failed, at most 1."""
    parser = argparse.ArgumentParser(description="Run the examples at a tiny size.")
    parser.add_argument("examples", nargs="*", help="file names; all of them, if none is given")
    parser.add_argument("--here", action="store_true", help="use this Python and install nothing")
    options = parser.parse_args()
    groups: dict[tuple[str, ...], list[str]] = {}
    for name in options.examples or TINY:
        groups.setdefault(tuple(install_line(EXAMPLES / name)), []).append(name)

    failed = []
    for line, names in groups.items():
        with tempfile.TemporaryDirectory() as folder:
            started = time.monotonic()
            python = sys.executable
            if not options.here:
                print("pip", shlex.join(line), flush=True)
                python = install(folder, list(line))
                print(f"  installed in {time.monotonic() - started:.0f} s", flush=True)
            for name in names:
                started = time.monotonic()
                wrong = run(python, name)
                print(f"  {name}: {wrong or 'ok'}, {time.monotonic() - started:.0f} s", flush=True)
                failed += [name] if wrong else []
    print(f"{sum(map(len, groups.values())) - len(failed)} passed, {len(failed)} failed")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
