"""How a policy does against baselines, by the arena: each deal is played from every seat."""

from __future__ import annotations

from math import isnan
from typing import Any

from gardienii_env.agents import Agent, make_agent
from gardienii_env.arena import Estimate, MatchResult, duplicate_match
from gardienii_env.rules.ruleset import Ruleset
from gardienii_env.tables import table
from gardienii_env.words import count_words
from training.config import Config
from training.progress import progress

__all__ = ["Figures", "evaluation_table", "play_match", "play_matches"]

Figures = dict[str, Any]
"""Of one match: `opponent`, `games`, `win_share` with `low` and `high`, its 95 % interval; `margin`
likewise. Plain data for JSON."""


def play_matches(policy: Agent, config: Config, deals: int, quiet: bool = False) -> list[Figures]:
    """The policy against each baseline, which has all other seats; with bars, unless it is quiet."""
    players, ruleset, seed = (
        config.env.num_players,
        Ruleset.get(config.env.ruleset),
        config.evaluation.seed,
    )
    return [
        play_match(policy, name, ruleset, players, deals, seed, quiet)
        for name in config.evaluation.baselines
    ]


def play_match(
    policy: Agent,
    opponent: str,
    ruleset: Ruleset,
    players: int,
    deals: int,
    seed: int,
    quiet: bool = False,
) -> Figures:
    """The policy against others of one kind."""
    agents = [policy, *[make_agent(opponent)] * (players - 1)]
    with progress(deals * players, f"playing {opponent}", "games", quiet=quiet) as bar:
        result = duplicate_match(agents, ruleset, deals, seed, progress=bar.update)
    return _figures(opponent, result)


def _figures(name: str, result: MatchResult) -> Figures:
    share, margin = result.win_share(), result.margin()
    return {
        "opponent": name,
        "games": result.num_games,
        **_estimate("win_share", share),
        **_estimate("margin", margin),
    }


def _estimate(name: str, found: Estimate) -> Figures:
    """A mean and its interval; None where one deal alone gives none."""
    ends = [None if isnan(end) else end for end in (found.low, found.high)]
    return {name: found.mean, f"{name}_low": ends[0], f"{name}_high": ends[1]}


def evaluation_table(config: Config, figures: list[Figures], deals: int) -> str:
    """The figures as a table with a title."""
    rows = [
        (
            row["opponent"],
            str(row["games"]),
            *_cells(row, "win_share", ".3f"),
            *_cells(row, "margin", "+.1f"),
        )
        for row in figures
    ]
    title = (
        f"{config.name} against, {config.env.num_players} players, ruleset "
        f"{Ruleset.get(config.env.ruleset).name}, {count_words(deals, 'deal')}, each from every seat:"
    )
    headers = ("opponent", "games", "win share", "95 % interval", "mean margin", "95 % interval")
    return title + "\n" + table(rows, headers, "lrrrrr")


def _cells(row: Figures, name: str, form: str) -> tuple[str, str]:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return f"{row[name]:{form}}", "-" if low is None else f"{low:{form}} to {high:{form}}"
