"""The machine that figures were measured on."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from gardienii_env import __version__

__all__ = ["Machine", "cores_allowed", "peak_memory", "reset_peak_memory", "this_machine"]

PACKAGES = (
    "numpy",
    "numba",
    "gymnasium",
    "pettingzoo",
    "torch",
    "stable-baselines3",
    "sb3-contrib",
)
CPUINFO = Path("/proc/cpuinfo")
STATUS = Path("/proc/self/status")
CLEAR_REFS = Path("/proc/self/clear_refs")
CLEAR_PEAK = "5"  # see proc(5)


@dataclass(frozen=True)
class Machine:
    """What decides about speed, as far as it can be told.

    Attributes:
        processor: its name.
        cores: logical ones of the machine.
        cores_allowed: those that this process may use.
        system: operating system and architecture.
        versions: of Python, this package and those that it stands on; None: not installed.
    """

    processor: str
    cores: int
    cores_allowed: int
    system: str
    versions: dict[str, str | None]


def this_machine() -> Machine:
    """The machine that this process runs on."""
    return Machine(
        processor=processor_name(),
        cores=os.cpu_count() or 1,
        cores_allowed=cores_allowed(),
        system=f"{platform.system()} {platform.machine()}",
        versions={
            "gardienii-env": __version__,
            "python": platform.python_version(),
            **{name: _version(name) for name in PACKAGES},
        },
    )


def processor_name() -> str:
    """The processor's name as the system gives it, or else its architecture."""
    if sys.platform == "darwin":
        command = ["sysctl", "-n", "machdep.cpu.brand_string"]
        try:
            name = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            name = ""
    else:
        name = next(iter(_fields(CPUINFO, "model name")), "")
    return name or platform.processor() or platform.machine() or "unknown"


def cores_allowed() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def reset_peak_memory() -> bool:
    """Let `peak_memory` count from now; whether that can be done here (on Linux)."""
    try:
        CLEAR_REFS.write_text(CLEAR_PEAK)
    except OSError:
        return False
    return True


def peak_memory() -> int | None:
    """The most resident memory that this process has had, in bytes; None where it is not told."""
    for value in _fields(STATUS, "VmHWM"):
        return int(value.split()[0]) * 1024  # it says kB
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _fields(path: Path, name: str) -> list[str]:
    """The values of a field in a file of lines `name: value`; none where there is no such file."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    pairs = (line.partition(":") for line in lines)
    return [value.strip() for key, _, value in pairs if key.strip() == name and value.strip()]


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
