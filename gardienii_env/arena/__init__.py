"""The arena: matches and tournaments between agents, and what their results mean."""

from __future__ import annotations

from gardienii_env.arena.folder import load_result
from gardienii_env.arena.match import duplicate_match
from gardienii_env.arena.results import Estimate, MatchResult, Rating, TournamentResult
from gardienii_env.arena.tournament import play_tournament

__all__ = [
    "Estimate",
    "MatchResult",
    "Rating",
    "TournamentResult",
    "duplicate_match",
    "load_result",
    "play_tournament",
]
