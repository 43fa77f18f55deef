"""Compiled code is kept on disk, and made anew when anything that takes part in it has changed."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np

import gardienii_env
from gardienii_env.rules.cards import CARDS
from gardienii_env.rules.state import STATE, top_back

PACKAGE = Path(gardienii_env.__file__).parent
PROGRAM = "import numpy as np; from gardienii_env.agents.greedy import page_to_lay; \
print(page_to_lay(np.ones(33, np.int8), 0, 1, -1))"
CARDS_FILE = "rules/cards.py"
NOTICE = "compiling for this machine"
MAKERS = ("np.empty(", "np.zeros(")


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
    assert run(tmp_path) == ("0", True)
    assert run(tmp_path) == ("0", False)
    cards = package / CARDS_FILE
    source = cards.read_text(encoding="utf-8")
    changed = source.replace("[int(n[1]) if n[1].isdigit()", "[7 - int(n[1]) if n[1].isdigit()")
    assert changed != source
    cards.write_text(changed, encoding="utf-8")
    assert run(tmp_path) == ("32", True)


def test_a_part_of_compiled_functions_runs_as_python_too() -> None:
    state = np.zeros(1, STATE)
    state["deck_size"] = 1
    state["deck"] = CARDS.index("W3")
    assert top_back(state[0], 0) == top_back(state[0], side=0) == 3


def test_functions_of_others_that_belong_to_no_module_compile() -> None:
    made: dict[str, Any] = {"__name__": None}
    exec("def double(n):\n    return 2 * n", made)
    assert numba.njit(made["double"])(4) == 8


def compiled_functions() -> Iterator[tuple[Path, ast.FunctionDef]]:
    """All functions of the package that are compiled."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                marks = {ast.unparse(mark) for mark in node.decorator_list}
                if marks & {"compiled", "compiled_loop", "inlined", "inlined_modular"}:
                    yield path, node


def test_no_record_outlives_its_array() -> None:
    """A record does not keep its array: one that is taken from an array made in the same function is
    left when the array is used no more, and the memory is given away. What is an argument stays."""
    number, found = 0, []
    for path, function in compiled_functions():
        number += 1
        made = {
            target.id
            for node in ast.walk(function)
            if isinstance(node, ast.Assign)
            and ast.unparse(node.value).startswith(("np.empty", "np.zeros"))
            for target in node.targets
            if isinstance(target, ast.Name) and re.search(r", [A-Z_]{2,}\)$", ast.unparse(node.value))
        }
        for node in ast.walk(function):
            if isinstance(node, ast.Subscript):
                array, key = ast.unparse(node.value), ast.unparse(node.slice)
                makes = array.startswith(MAKERS)
                if makes or (array in made and not key.startswith("'")):
                    found.append(f"{path.name}, {function.name}: {ast.unparse(node)}")
    assert number > 150
    assert not found
