"""The command line: one program, `gardienii`, with a module for each of its commands."""

from __future__ import annotations

from gardienii_env.cli.program import main

__all__ = ["main"]
