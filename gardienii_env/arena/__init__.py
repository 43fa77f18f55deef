"""The arena: matches between agents, and what their results mean."""

from __future__ import annotations

from gardienii_env.arena.match import MatchResult, duplicate_match

__all__ = ["MatchResult", "duplicate_match"]
