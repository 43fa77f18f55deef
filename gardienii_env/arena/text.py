"""Results of the arena as plain text, for a terminal of 120 columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from textwrap import fill

from gardienii_env.arena import content
from gardienii_env.arena.content import Games, Sheet
from gardienii_env.arena.results import MatchResult, TournamentResult
from gardienii_env.tables import table

__all__ = ["match_report", "tournament_report"]

WIDTH = 120
NAME_WIDTH = 20
CROSS_NAME_WIDTH = 16


def match_report(result: MatchResult) -> str:
    """A match as tables and sentences: lines of text without a break at the end."""
    games = _short(content.match_games(result))
    short = replace(result, agents=games.names)
    sheets = [
        content.result_sheet(short),
        content.points_sheet(games),
        content.sets_sheet(games),
        content.length_sheet(games),
        content.ends_sheet(games),
    ]
    parts = [_facts(content.match_facts(result)), *map(_sheet, sheets)]
    return "\n\n".join([*parts, _sentences(content.match_sentences(result))])


def tournament_report(result: TournamentResult) -> str:
    """A tournament as tables and sentences: lines of text without a break at the end."""
    order = content.best_first(result)
    cross = content.cross_estimates(result, order)
    short = replace(result, agents=content.labels(result.agents, NAME_WIDTH))
    games = _short(content.tournament_games(result, order))
    sheets = [
        content.ratings_sheet(short),
        content.cross_sheet(result, cross, CROSS_NAME_WIDTH),
        content.points_sheet(games),
        content.sets_sheet(games),
        content.length_sheet(games),
        content.ends_sheet(games),
    ]
    sentences = content.tournament_sentences(result, cross) + content.cycle_sentences(result)
    parts = [_facts(content.tournament_facts(result)), *map(_sheet, sheets)]
    return "\n\n".join([*parts, _sentences(sentences)])


def _short(games: Games) -> Games:
    return replace(games, names=content.labels(games.names, NAME_WIDTH))


def _facts(facts: Mapping[str, str]) -> str:
    width = max(map(len, facts)) + 2
    return "\n".join(f"{name + ':':<{width}}{value}" for name, value in facts.items())


def _sheet(sheet: Sheet) -> str:
    lines = [sheet.title, "", table(sheet.rows, sheet.headers, "l" + "r" * (len(sheet.headers) - 1))]
    return "\n".join([*lines, *([_wrapped(sheet.note)] if sheet.note else [])])


def _sentences(sentences: Iterable[str]) -> str:
    return "\n".join(map(_wrapped, sentences))


def _wrapped(text: str) -> str:
    """Lines of at most 120 columns; a name is never broken."""
    return fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)
