"""Several threads over the games of a batch: how many, and what keeps that safe.

A compiled loop over threads (`compiled_parallel`) gives each of them a range of games of its own, so
results do not depend on their number. It runs inside `threads(...)`.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numba

from gardienii_env.errors import OptionError, as_index, shown

__all__ = ["check_threads", "fork_is_safe", "threads"]

_one_at_a_time = threading.Lock()  # some of numba's threading layers end the process otherwise
_used_in: int | None = None  # the process in which threads were started


def check_threads(num_threads: object) -> int:
    """The number of threads as int, at most what numba has; OptionError if it is not 1 or more."""
    number = as_index(num_threads)
    if number < 1:
        raise OptionError(f"num_threads: {shown(num_threads)} is not a whole number from 1 up.")
    config: Any = numba.config
    return min(number, int(config.NUMBA_NUM_THREADS))


def fork_is_safe() -> bool:
    """Whether threads can be used here: not in a fork of a process that has used them."""
    return _used_in in (None, os.getpid())


@contextmanager
def threads(number: int) -> Iterator[int]:
    """Have that many threads for a compiled loop; gives how many there are.

    In a process forked from one that has used threads there is one only, and a warning: OpenMP would
    end the process. Processes that are spawned have no such limit.
    """
    global _used_in
    if number > 1 and not fork_is_safe():
        warnings.warn(
            "num_threads: this process was forked from one that has used threads, so one thread is used "
            "here. Start processes by 'spawn' or 'forkserver' to use more.",
            RuntimeWarning,
            stacklevel=4,
        )
        number = 1
    if number == 1:
        yield 1
        return
    with _one_at_a_time:
        before = numba.get_num_threads()
        numba.set_num_threads(number)
        _used_in = os.getpid()
        try:
            yield number
        finally:
            numba.set_num_threads(before)
