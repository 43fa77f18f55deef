"""What all workers share: one case, one core, one line of JSON.

A worker plays one case for a while and prints what came of it:

    python openspiel_worker.py crazy_eights --seconds 2

It runs in the virtual environment of its project, so it and this module use the standard library
and what that project brings along. What happens once (imports, compilation, first deals) is not timed.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Ready", "kept", "module", "work"]

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
}

WARM_UP = 2  # calls; in JAX the second can compile anew, for it starts from what the first returned


@dataclass(frozen=True)
class Ready:
    """A case that is ready to be timed.

    Attributes:
        play: plays some decisions and returns how many; an average where one call plays whole games.
        version: of the project that is measured.
        numbers: in the observation made at every decision; 0 where none is made.
        mask: whether the legal actions are given as an array over all actions.
        choices: the share of decisions with more than one legal action, where it was counted.
    """

    play: Callable[[], float]
    version: str
    numbers: int = 0
    mask: bool = False
    choices: float | None = None


def work(prepare: Mapping[str, Callable[[], Ready]], description: str | None) -> None:
    """Run the case named on the command line and print its line of JSON.

    The line has the fields of `Ready` without `play`, and `decisions` and `seconds`. `prepare` makes
    each case ready by its name; it is called once the process is held to one core.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("case", choices=prepare)
    parser.add_argument(
        "--seconds", type=float, default=2.0, help="length of the timed loop (default 2)"
    )
    options = parser.parse_args()
    hold_to_one_core()
    ready = prepare[options.case]()
    for _ in range(WARM_UP):
        ready.play()
    decisions, seconds = timed(ready.play, options.seconds)
    fields = {"version": ready.version, "numbers": ready.numbers, "mask": ready.mask}
    line = {"decisions": decisions, "seconds": seconds, **fields, "choices": ready.choices}
    print(json.dumps(line), flush=True)


def timed(play: Callable[[], float], seconds: float) -> tuple[float, float]:
    """Play for at least so long; the decisions and the seconds that they took."""
    decisions = 0.0
    start = time.perf_counter()
    while (elapsed := time.perf_counter() - start) < seconds:
        decisions += play()
    return decisions, elapsed


def hold_to_one_core() -> None:
    """Let this process use one core and one thread, whatever libraries it loads later."""
    os.environ.update(ONE_THREAD)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def module(name: str) -> Any:
    """A module of the measured project, which type checkers need not have."""
    return importlib.import_module(name)


def kept(name: str) -> Path:
    """A folder of the virtual environment for what is worth keeping between runs."""
    folder = Path(sys.prefix, "kept", name)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
