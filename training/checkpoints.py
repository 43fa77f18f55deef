"""Checkpoints: everything that a run needs to go on, number for number, from where it was.

A checkpoint is one file: a line that says what it is, with the digest of the rest, and a pickle. It is
written under another name and renamed when it is safe on the disk, so that a file with a checkpoint's
name is whole; one that is damaged all the same is found out by its digest. Loading one runs code that
is in it, as with every pickle: load only your own.
"""

from __future__ import annotations

import os
import pickle
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

from gardienii_env.errors import OptionError

__all__ = ["BrokenCheckpointError", "checkpoints", "read_checkpoint", "write_checkpoint"]

MAGIC = b"gardienii-checkpoint 2 "
NAME = re.compile(r"checkpoint-(\d+)\.pickle")


class BrokenCheckpointError(OptionError):
    """A file is not a whole checkpoint."""


def checkpoints(folder: Path) -> list[Path]:
    """The checkpoints in a folder, the latest first."""
    found = [(int(match[1]), path) for path in folder.iterdir() if (match := NAME.fullmatch(path.name))]
    return [path for _, path in sorted(found, reverse=True)]


def write_checkpoint(folder: Path, update: int, content: dict[str, Any], keep: int) -> Path:
    """Write a checkpoint, then remove those before the last `keep`.

    OSError if the disk is full or the like; the checkpoints that there are stay as they were.
    """
    data = pickle.dumps(content, protocol=pickle.HIGHEST_PROTOCOL)
    path = folder / f"checkpoint-{update:07d}.pickle"
    part = path.with_suffix(".part")
    try:
        with part.open("wb") as file:
            file.write(MAGIC + sha256(data).hexdigest().encode() + b"\n")
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
    _sync_folder(folder)
    for old in checkpoints(folder)[keep:]:
        old.unlink()
    return path


def _sync_folder(folder: Path) -> None:
    """Let the new name outlive a loss of power, where the system can."""
    try:
        opened = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(opened)
    except OSError:
        pass
    finally:
        os.close(opened)


def read_checkpoint(path: Path) -> dict[str, Any]:
    """What was written; BrokenCheckpointError if it is not all there."""
    try:
        head, _, data = path.read_bytes().partition(b"\n")
    except OSError as error:
        raise BrokenCheckpointError(f"{path} cannot be read: {error.strerror}.") from None
    if not head.startswith(MAGIC):
        raise BrokenCheckpointError(
            f"{path} is not a checkpoint of this version of the training scripts."
        )
    if head[len(MAGIC) :].decode(errors="replace") != sha256(data).hexdigest():
        raise BrokenCheckpointError(f"{path} is damaged: its content does not fit its digest.")
    try:
        content = pickle.loads(data)
    except Exception as error:  # whatever the classes of another version raise
        reason = " ".join(str(error).split())
        raise BrokenCheckpointError(f"{path} was written by other versions: {reason}.") from error
    assert isinstance(content, dict)
    return content
