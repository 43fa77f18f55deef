"""Several threads over the games of a batch.

Compiled loops let go of Python's lock, so ordinary threads run them side by side. Each has a range of
games of its own, so results do not depend on their number.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

from gardienii_env.errors import OptionError, as_index, shown

__all__ = ["Threads"]


class Threads:
    """A number of threads. They start when they are first used, anew in a copy or a forked process.

    OptionError if the number is not 1 or more.
    """

    def __init__(self, number: object) -> None:
        self.number = as_index(number)
        if isinstance(number, bool) or self.number < 1:
            raise OptionError(f"num_threads: {shown(number)} is not a whole number from 1 up.")
        self._pool: ThreadPoolExecutor | None = None
        self._process = 0

    def run(self, loop: Callable[..., None], arrays: Any, games: int, *options: Any) -> None:
        """Call `loop(arrays, first, last, *options)` for ranges that make up all games."""
        threads = max(min(self.number, games), 1)
        if threads == 1:
            loop(arrays, 0, games, *options)
            return
        bounds = [thread * games // threads for thread in range(threads + 1)]
        others: list[Future[None]] = []
        try:
            for k in range(1, threads):
                task = self._started().submit(loop, arrays, bounds[k], bounds[k + 1], *options)
                others.append(task)
        except RuntimeError:  # no thread can be started (any more): the caller does the rest
            loop(arrays, bounds[len(others) + 1], games, *options)
        try:
            loop(arrays, 0, bounds[1], *options)
        finally:
            _wait_for_all(others)
        for other in others:
            other.result()

    def _started(self) -> ThreadPoolExecutor:
        """The threads besides the caller's own."""
        if self._pool is None or self._process != os.getpid():
            self._pool = ThreadPoolExecutor(self.number - 1, "gardienii")
            self._process = os.getpid()
        return self._pool

    def __reduce__(self) -> tuple[object, ...]:
        return Threads, (self.number,)


def _wait_for_all(tasks: list[Future[None]]) -> None:
    """Come back when none of them can still write to the arrays, whatever interrupts the waiting."""
    interrupt: KeyboardInterrupt | None = None
    while True:
        try:
            wait(tasks)
            break
        except KeyboardInterrupt as error:
            interrupt = error
    if interrupt is not None:
        raise interrupt
