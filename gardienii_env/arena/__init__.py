"""The arena: matches between agents, and what their results mean."""

from __future__ import annotations

from gardienii_env.arena.match import duplicate_match
from gardienii_env.arena.results import MatchResult

__all__ = ["MatchResult", "duplicate_match"]
