"""Compile PufferLib's triple triad alone, from the source package and with its own compiler options.

    PEERVENV/bin/python pufferlib_build.py 3.0.0

Installing PufferLib compiles some thirty environments and needs PyTorch and further downloads, although
the source package holds all that this one environment needs. pip fetches it and is told to leave what it
unpacked; that it then fails to prepare an installation does not matter.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from harness import kept, module

OPTIONS = ("-shared", "-fPIC", "-O2", "-flto", "-fwrapv", "-DPLATFORM_DESKTOP", "-w")
RAYLIB = "raylib-5.5_linux_amd64"  # for drawing, which is compiled in but never called


def main() -> None:
    """Fetch and compile the version named on the command line."""
    folder = kept("pufferlib")
    shutil.rmtree(folder)
    folder.mkdir()
    source = fetch(sys.argv[1], folder)
    extension = folder / ("binding" + sysconfig.get_config_var("EXT_SUFFIX"))
    compiler = sysconfig.get_config_var("CC").split()
    includes = [
        sysconfig.get_path("include"),
        module("numpy").get_include(),
        str(source / RAYLIB / "include"),
    ]
    libraries = [str(source / RAYLIB / "lib" / "libraylib.a"), "-lm", "-lpthread", "-ldl"]
    game = str(source / "pufferlib" / "ocean" / "tripletriad" / "binding.c")
    flags = [f"-I{include}" for include in includes]
    subprocess.run([*compiler, *OPTIONS, *flags, game, "-o", str(extension), *libraries], check=True)


def fetch(version: str, folder: Path) -> Path:
    """The unpacked source package."""
    command = [sys.executable, "-m", "pip", "download", f"pufferlib=={version}", "--dest", str(folder)]
    options = ["--no-deps", "--no-binary", ":all:", "--no-build-isolation", "--no-clean"]
    report = subprocess.run(
        command + options, env=os.environ | {"TMPDIR": str(folder)}, capture_output=True, text=True
    )
    for found in folder.glob("pip-download-*/pufferlib_*/pufferlib/ocean/tripletriad"):
        return found.parents[2]
    raise SystemExit(f"pip did not fetch PufferLib's source package:\n{report.stdout}{report.stderr}")


if __name__ == "__main__":
    main()
