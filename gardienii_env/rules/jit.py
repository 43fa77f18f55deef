"""How the core is compiled: one decorator, and a word to the user when compiling takes a while.

Set `NUMBA_DISABLE_JIT=1` to run the same source as plain Python (for debugging and coverage).

Machine code is kept on disk. It holds code and constants of other modules too, but numba only looks
whether the function's own file has changed; so what is kept is marked with a digest of all sources
that take part (`SOURCES_DIGEST`), and any change among them compiles anew.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import event
from numba.core.registry import CPUDispatcher

__all__ = ["compiled", "compiled_loop", "index", "inlined", "inlined_modular", "wide"]

F = TypeVar("F", bound=Callable[..., Any])

PACKAGE = __name__.split(".")[0]

# Generators are records with a field `rng`, states among them; numba need not say so.
warnings.filterwarnings(
    "ignore", r"Record\(.* has been considered a subtype", numba.NumbaExperimentalFeatureWarning
)


def _digest_sources() -> str:
    digest = sha256()
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        source = path.read_bytes()
        if b"compiled" in source or path.parent == Path(__file__).parent:
            digest.update(source)
    return digest.hexdigest()


SOURCES_DIGEST = _digest_sources()


def compiled(function: F) -> F:
    """Compile `function` with numba on its first call and keep the machine code on disk."""
    return _compiled(function, _nrt=True)


def compiled_loop(function: F) -> F:
    """As `compiled`, for what several threads run at once: no references to arrays are counted.

    All threads would write to the same counters, and wait for each other. Such a function, or an
    `inlined` one, must make no array and call nothing that returns one.
    """
    return _compiled(function, _nrt=False)


def inlined(function: F) -> F:
    """As `compiled_loop`, for a part of larger functions: its code becomes part of theirs.

    A call would cost more than what most of these do. Called from Python it runs as plain Python: the
    entry point that it lacks would take a tenth of all compiling.
    """
    result: Any = _compiled(function, forceinline=True, _nrt=False, no_cpython_wrapper=True)
    if result is not function:
        result.__class__ = _Part
    return cast("F", result)


class _Part(CPUDispatcher):
    """A compiled function without an entry point for Python."""

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        with np.errstate(over="ignore"):  # as compiled: whole numbers wrap around
            return self.py_func(*arguments, **named)


def _compiled(function: F, **options: Any) -> F:
    options |= {"nogil": True, "no_cfunc_wrapper": True}  # nothing calls these through a C pointer
    try:
        result: Any = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no folder to keep machine code in
        return cast("F", numba.njit(**options)(function))
    if result is not function:
        result._cache._cache_file._source_stamp = SOURCES_DIGEST
    return cast("F", result)


def inlined_modular(function: F) -> F:
    """As `inlined`, for arithmetic modulo 2**64: as plain Python it does not warn of overflow."""
    result = inlined(function)
    return np.errstate(over="ignore")(function) if result is function else result


@inlined
def index(n: int) -> int:
    """The same number without sign: as an index it is not tested whether it counts from the end."""
    return np.uint64(n)  # type: ignore[return-value]


@inlined
def wide(n: int) -> int:
    """The same number as int64: for each type of arguments a function is compiled once more."""
    return np.int64(n)  # type: ignore[return-value]


class _Notice(event.Listener):
    """Says once, on stderr, that the package's functions are being compiled."""

    def __init__(self) -> None:
        self.given = False

    def on_start(self, event: event.Event) -> None:
        function = getattr(event.data.get("dispatcher"), "py_func", None)
        module = getattr(function, "__module__", None) or ""  # None: made by exec
        if self.given or module.split(".")[0] != PACKAGE:
            return
        self.given = True
        print(
            "gardienii-env: compiling for this machine. It takes about a minute, once for each part of "
            "the package that is used: the result is kept on disk, where there is a folder to write to "
            "(NUMBA_CACHE_DIR).",
            file=sys.stderr,
            flush=True,
        )

    def on_end(self, event: event.Event) -> None:
        """Nothing to say."""


event.register("numba:compile", _Notice())  # type: ignore[no-untyped-call]
