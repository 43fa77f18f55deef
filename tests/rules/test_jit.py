"""Compiled code is kept on disk, and made anew when anything that takes part in it has changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import gardienii_env

PACKAGE = Path(gardienii_env.__file__).parent
PROGRAM = (
    "from gardienii_env.rules.state import back_of; from gardienii_env.rules import state, ruleset; \
import numpy as np; s = np.zeros(1, state.STATE); s['deck_size'] = 1; s['deck'] = 0; \
print(state.back_of(s[0], 0, 0))"
)
CARDS = "rules/cards.py"
NOTICE = "compiling for this machine"


def run(folder: Path) -> tuple[str, bool]:
    """What the program prints with the package in `folder`, and whether it was told of compiling."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), NOTICE in done.stderr


def test_a_change_in_another_module_compiles_anew(tmp_path: Path) -> None:
    package = tmp_path / "gardienii_env"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    assert run(tmp_path) == ("1", True)
    assert run(tmp_path) == ("1", False)
    cards = package / CARDS
    source = cards.read_text(encoding="utf-8")
    changed = source.replace("[int(n[1]) if n[1].isdigit()", "[7 - int(n[1]) if n[1].isdigit()")
    assert changed != source
    cards.write_text(changed, encoding="utf-8")
    assert run(tmp_path) == ("6", True)
