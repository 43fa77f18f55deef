"""Results of the arena as one HTML page that needs nothing else: no network, no script, no other file.

It needs matplotlib (extra `arena`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape
from importlib.resources import files
from types import MappingProxyType

import numpy as np

from gardienii_env.arena import content, plots
from gardienii_env.arena.content import Games, Sheet
from gardienii_env.arena.results import Estimate, MatchResult, TournamentResult, estimate
from gardienii_env.rules.cards import NUMBERS

__all__ = ["match_page", "tournament_page"]

NAME_WIDTH = 28
"""Of agents in a tournament's tables; the one of the ratings has the whole names."""

NO_FACTS: Mapping[str, str] = MappingProxyType({})
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; style-src 'unsafe-inline'; img-src data:"/>
<title>{title}</title>
<link rel="icon" href="data:,"/>
<style>
{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
{parts}
</main>
</body>
</html>
"""


def match_page(result: MatchResult, facts: Mapping[str, str] = NO_FACTS) -> str:
    """The page of a match, as HTML in UTF-8; `facts` are shown at its end, each under its name."""
    games, result_sheet = content.match_games(result), content.result_sheet(result)
    names = games.names
    shares = [result.win_share(k) for k in range(result.num_players)]
    margins = [_margins(result, k) for k in range(result.num_players)]
    shares_plot = plots.intervals_plot("shares", "Win share", names, shares, 3, 1 / result.num_players)
    margins_plot = plots.margins_plot("margins", "Margin by deal", names, margins)
    sets_plot = plots.sets_plot("sets", "Sets by number of cards", names, _sets(games))
    parts = [
        _verdict(content.match_sentences(result)),
        _section(_heading(result_sheet.title), _sheet(result_sheet)),
        _pair(
            _section(
                _heading("Win share"),
                _plot(shares_plot),
                _note(
                    "Dots are means, bars their 95 % intervals; the dashed line is the share of equals."
                ),
            ),
            _section(
                _heading("Margin"),
                _plot(margins_plot),
                _note("Own points less the others' mean, over the games of a deal together."),
            ),
        ),
        *_of_games(games, sets_plot),
        _facts({**content.match_facts(result), **facts}),
    ]
    return _page(_title(names), parts)


def tournament_page(result: TournamentResult, facts: Mapping[str, str] = NO_FACTS) -> str:
    """The page of a tournament, as HTML in UTF-8; `facts` are shown at its end, each under its name."""
    order = content.best_first(result)
    cross = content.cross_estimates(result, order)
    games = content.tournament_games(result, order)
    games = replace(games, names=content.labels(games.names, NAME_WIDTH))
    ratings = [result.ratings[k] for k in order]
    ratings_sheet, cross_sheet = (
        content.ratings_sheet(result),
        content.cross_sheet(result, cross, NAME_WIDTH),
    )
    ratings_plot = plots.intervals_plot("ratings", ratings_sheet.title, games.names, ratings, 2)
    cross_plot = plots.cross_plot("cross", cross_sheet.title, games.names, cross)
    means = np.array([[value.mean for value in values] for values in _sets(games)])
    sets_plot = plots.sets_grid_plot("sets", "Sets by number of cards", games.names, means)
    parts = [
        _verdict([*content.tournament_sentences(result, cross), *content.cycle_sentences(result)]),
        _beside(ratings_sheet.title, ratings_plot, ratings_sheet),
        _section(_heading(cross_sheet.title), _plot(cross_plot), _sheet(cross_sheet)),
        *_of_games(games, sets_plot),
        _facts({**content.tournament_facts(result), **facts}),
    ]
    return _page(f"Tournament of {len(order)} agents", parts)


def _title(names: Sequence[str]) -> str:
    return (
        f"{names[0]} against {' and '.join([', '.join(names[1:-1])] * (len(names) > 2) + [names[-1]])}"
    )


# Figures


def _sets(games: Games) -> list[list[Estimate]]:
    """Sets in a game, by agent and number of cards."""
    means = [games.deal_means(k, "sets") for k in range(len(games.names))]
    return [[estimate(values[:, number]) for number in range(NUMBERS)] for values in means]


def _margins(result: MatchResult, agent: int) -> plots.Numbers:
    """The margin of an agent in each deal, shape (deals,)."""
    scores = result.scores.mean(axis=1)
    others = (scores.sum(axis=1) - scores[:, agent]) / (result.num_players - 1)
    margins: plots.Numbers = scores[:, agent] - others
    return margins


def _of_games(games: Games, sets_plot: str) -> list[str]:
    """The parts that a match and a tournament have in common."""
    points = [games.deal_means(k, "points").mean(axis=0) for k in range(len(games.names))]
    points_plot = plots.points_plot("points", "Points by source", games.names, points)
    length_plot = plots.length_plot("length", "Length of games", games.all("turns"))
    points_sheet, sets_sheet = content.points_sheet(games), content.sets_sheet(games)
    length_sheet, ends_sheet = content.length_sheet(games).turned(), content.ends_sheet(games)
    length_sheet = replace(length_sheet, note="The dashed line halves the games.")
    return [
        _beside(points_sheet.title, points_plot, points_sheet),
        _beside(sets_sheet.title, sets_plot, sets_sheet),
        _beside("Length of games", length_plot, length_sheet, ends_sheet),
    ]


# Markup


def _page(title: str, parts: Iterable[str]) -> str:
    style = files("gardienii_env.arena").joinpath("page.css").read_text(encoding="utf-8")
    return PAGE.format(title=escape(title), style=style, parts="\n".join(parts))


def _text(text: str) -> str:
    return escape(content.printable(text))


def _section(*parts: str) -> str:
    return "<section>\n" + "\n".join(parts) + "\n</section>"


def _pair(*sections: str) -> str:
    return '<div class="pair">\n' + "\n".join(sections) + "\n</div>"


def _beside(title: str, plot: str, *sheets: Sheet) -> str:
    """A section with a plot, and tables beside it where there is room."""
    tables = "\n".join(map(_sheet, sheets))
    return _section(_heading(title), f'<div class="beside">{_plot(plot)}\n<div>{tables}</div></div>')


def _heading(text: str) -> str:
    return f"<h2>{escape(text)}</h2>"


def _note(text: str) -> str:
    return f'<p class="note">{escape(text)}</p>'


def _verdict(sentences: Iterable[str]) -> str:
    return '<div class="verdict">\n' + "\n".join(f"<p>{escape(s)}</p>" for s in sentences) + "\n</div>"


def _plot(svg: str) -> str:
    return f'<figure class="scroll" tabindex="0">{svg}</figure>'


def _sheet(sheet: Sheet) -> str:
    """A table that scrolls inside, above its note."""
    head = "".join(f'<th scope="col">{escape(header)}</th>' for header in sheet.headers)
    rows = [
        f'<tr><th scope="row">{escape(first)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in sheet.rows
    ]
    title = escape(sheet.title)
    return "\n".join(
        [
            f'<div class="scroll" tabindex="0" role="region" aria-label="{title}">',
            f"<table><caption>{title}</caption><thead><tr>{head}</tr></thead>",
            "<tbody>",
            *rows,
            "</tbody></table></div>",
            *([_note(sheet.note)] if sheet.note else []),
        ]
    )


def _facts(facts: Mapping[str, str]) -> str:
    rows = (f"<dt>{_text(name)}</dt><dd>{_text(text)}</dd>" for name, text in facts.items())
    return _section(_heading("What was played, and how"), "<dl>", *rows, "</dl>")
