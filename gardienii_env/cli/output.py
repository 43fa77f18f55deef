"""What commands write to: files that appear only when they are complete, and progress bars."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from errno import EACCES, EISDIR
from pathlib import Path
from stat import S_IFIFO, S_ISDIR, S_ISREG
from typing import TextIO, TypeVar

from gardienii_env.errors import OptionError

__all__ = ["STDOUT", "counting", "is_stream", "progress", "same_file", "writing"]

T = TypeVar("T")

STDOUT = "-"


def progress(items: Iterable[T], unit: str) -> Iterable[T]:
    """The items, with a progress bar on standard error if it is a terminal and tqdm is installed."""
    if sys.stderr.isatty():
        try:
            from tqdm import tqdm
        except ImportError:
            return items
        return tqdm(items, unit=unit, leave=False)
    return items


@contextmanager
def counting(total: int, done: int, unit: str) -> Iterator[Callable[[int], object]]:
    """What to call with the number of things just done, of so many; a progress bar as `progress` has."""
    if sys.stderr.isatty():
        try:
            from tqdm import tqdm
        except ImportError:
            pass
        else:
            with tqdm(total=total, initial=done, unit=unit, leave=False) as bar:
                yield bar.update
            return
    yield lambda number: None


@contextmanager
def writing(out: str, option: str = "--out") -> Iterator[TextIO]:
    """A text file to write; `-` is standard output. `option` is what gave its name.

    The file takes its name, and the place of an older one, only once all has been written: after an
    error everything is as it was. OptionError if it cannot be written.
    """
    if out == STDOUT:
        yield sys.stdout
        return
    try:
        with _opened(out) if is_stream(out) else _replacing(Path(os.path.realpath(out))) as file:
            yield file
    except OSError as error:
        raise OptionError(f"{option}: {out!r} cannot be written: {error.strerror}.") from None


def is_stream(out: str) -> bool:
    """Whether it is standard output, a pipe or a device: what is written there is no file afterwards."""
    try:
        mode = os.stat(out).st_mode if out != STDOUT else S_IFIFO
    except OSError:  # it is not there, or cannot be looked at: then it cannot be written either
        return False
    return not (S_ISREG(mode) or S_ISDIR(mode))


def same_file(one: str, other: str) -> bool:
    """Whether both are names of a file that is there."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


@contextmanager
def _replacing(path: Path) -> Iterator[TextIO]:
    old = path.exists()
    if path.is_dir():
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
    if old and not os.access(path, os.W_OK):
        raise PermissionError(EACCES, "the file is write-protected")
    part = path.with_name(f".{path.name[:60]}.{os.getpid()}.part")
    file = _opened(part)
    try:
        if old:
            shutil.copymode(path, part)
        with file:
            yield file
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _opened(path: str | Path) -> TextIO:
    return open(path, "w", encoding="utf-8", newline="\n")
