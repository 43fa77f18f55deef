"""What a report of the arena says, in tables and sentences; `text` and `html` lay it out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, inf, isnan, log10

import numpy as np
import numpy.typing as npt

from gardienii_env.arena.results import (
    Estimate,
    MatchResult,
    Rating,
    TournamentResult,
    estimate,
    estimate_share,
)
from gardienii_env.rules.cards import NUMBERS
from gardienii_env.rules.scoring import SOURCES
from gardienii_env.rules.state import ENDS
from gardienii_env.words import count_words

__all__ = [
    "Games",
    "Sheet",
    "best_first",
    "cross_estimates",
    "cross_sheet",
    "cycle_sentences",
    "ends_sheet",
    "labels",
    "length_sheet",
    "match_facts",
    "match_games",
    "match_sentences",
    "printable",
    "points_sheet",
    "ratings_sheet",
    "result_sheet",
    "sets_sheet",
    "tournament_facts",
    "tournament_games",
    "tournament_sentences",
]

INTERVAL = "95 % interval"
UNKNOWN = "unknown"
END_WORDS = {
    "": "not over",
    "amulets": "enough amulets complete",
    "supply": "no card left to take",
    "turn_limit": "all turns played",
}
POWER = ((1.959964 + 0.841621) / 1.959964) ** 2
"""How many times the deals it takes to see a difference four times out of five, not every other time."""

STRICT = {2: 1.0, 3: 2.393980 / 1.959964, 4: 2.638257 / 1.959964}
"""By players, how many times as wide an interval must be so that of all pairs of agents at a table a
difference is seen by mistake only once in twenty matches (Bonferroni)."""

MOST_DEALS = 10**7
WIDE_CROSS_TABLE = 8
"""With more agents the cross table says no intervals."""


@dataclass(frozen=True)
class Sheet:
    """A table: its first column names what a row is about, the others are aligned right."""

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""

    def turned(self) -> Sheet:
        """The same with rows for columns."""
        first, *rows = zip(self.headers, *self.rows, strict=True)
        return Sheet(self.title, first, tuple(rows), self.note)


@dataclass(frozen=True)
class Games:
    """Games by agent, whatever they were played for.

    Attributes:
        names: of the agents, as the report shows them.
        seats: for each agent, the arrays of its games, shape (deals, rotations), dtype `GAME`, and its
            place in them.
        games: all arrays, each once.
    """

    names: tuple[str, ...]
    seats: tuple[tuple[tuple[npt.NDArray[np.void], int], ...], ...]
    games: tuple[npt.NDArray[np.void], ...]

    def deal_means(self, agent: int, field: str) -> npt.NDArray[np.float64]:
        """Means of a field of `GAME` that is kept by agent over all games of a deal: one row a deal."""
        means = [games[field][:, :, k].mean(axis=1) for games, k in self.seats[agent]]
        return np.asarray(np.mean(means, axis=0))

    def all(self, field: str) -> npt.NDArray[np.int64]:
        """A field of all games, one value a game."""
        return np.concatenate([games[field].ravel() for games in self.games]).astype(np.int64)


def match_games(result: MatchResult) -> Games:
    """The games of a match, by agent."""
    seats = tuple(((result.games, k),) for k in range(result.num_players))
    return Games(labels(result.agents), seats, (result.games,))


def tournament_games(result: TournamentResult, order: Sequence[int]) -> Games:
    """The games of a tournament, by agent, the agents in this order."""
    tables = result.tables
    seats = tuple(tuple((t.games, s.index(k)) for s, t in tables if k in s) for k in order)
    names = labels(result.agents)
    return Games(tuple(names[k] for k in order), seats, tuple(table.games for _, table in tables))


# Names


def labels(names: Iterable[str], width: int = 10_000) -> tuple[str, ...]:
    """The names fit to print, of at most `width` characters each, and different from one another.

    Control characters are escaped, long names lose their middle, equal ones are numbered.
    """
    clean = [printable(name) for name in names]
    short = [_shorten(name, width) for name in clean]
    result: list[str] = []
    for k, name in enumerate(clean):
        if short.count(short[k]) == 1:
            result.append(short[k])
            continue
        number = short[:k].count(short[k]) + 1
        while (label := _shorten(name, width - len(mark := f" #{number}")) + mark) in {*result, *short}:
            number += 1
        result.append(label)
    return tuple(result)


def printable(text: str) -> str:
    """A text on one line, with what cannot be printed escaped."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _shorten(name: str, width: int) -> str:
    if len(name) <= width:
        return name
    head = (width - 3) // 2
    return name[:head] + "..." + name[len(name) - (width - 3 - head) :]


def _list(names: Sequence[str], word: str = "and") -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


# Figures


def share_words(value: float) -> str:
    """A share to three places; what is not quite 0 or 1 does not look as if it were."""
    text = f"{value:.3f}"
    if text == "1.000" and value < 1 - 1e-9:
        return ">0.999"
    return "<0.001" if text == "0.000" and value > 1e-9 else text


def one_place(value: float) -> str:
    """A number with one decimal place."""
    return f"{round(value, 1) + 0.0:.1f}"


def two_places(value: float) -> str:
    """A number with two decimal places."""
    return f"{round(value, 2) + 0.0:.2f}"


def signed(value: float) -> str:
    """A number with its sign and one decimal place."""
    return f"{round(value, 1) + 0.0:+.1f}"


def interval_words(value: Estimate | Rating, words: Callable[[float], str]) -> str:
    """The interval of an estimate, if there is one."""
    return UNKNOWN if isnan(value.low) else f"{words(value.low)} to {words(value.high)}"


def mean_words(value: Estimate, words: Callable[[float], str]) -> str:
    """The mean of an estimate and how far the farther end of its interval is from it."""
    reach = max(value.high - value.mean, value.mean - value.low)
    return words(value.mean) if isnan(reach) else f"{words(value.mean)} ±{words(reach)}"


# Tables of a match and of a tournament


def result_sheet(result: MatchResult) -> Sheet:
    """What each agent of a match came to."""
    rows = []
    for k, name in enumerate(labels(result.agents)):
        share, margin, score = result.win_share(k), result.margin(k), result.score(k)
        row = [name, share_words(share.mean), interval_words(share, share_words)]
        row += [f"{result.payoff(k).mean:+.3f}"]
        row += [signed(margin.mean), interval_words(margin, signed)]
        row += [one_place(score.mean), interval_words(score, one_place)]
        rows.append((*row, one_place(result.decisions_per_game(k).mean)))
    headers = (
        "agent",
        "win share",
        INTERVAL,
        "payoff",
        "margin",
        INTERVAL,
        "score",
        INTERVAL,
        "decisions",
    )
    note = (
        f"Equals would have a win share of {share_words(1 / result.num_players)}. Payoff: the win share "
        "on a scale from -1 to 1 where equals have 0. Margin: own points less the others' mean. "
        "Decisions: of the agent, in a game."
    )
    return Sheet("Result", headers, tuple(rows), note)


def points_sheet(games: Games) -> Sheet:
    """Points in a game by source."""
    rows = []
    for k, name in enumerate(games.names):
        points = games.deal_means(k, "points")
        means = [estimate(points[:, source]) for source in range(len(SOURCES))]
        means.append(estimate(points.sum(axis=1)))
        rows.append((name, *(mean_words(mean, one_place) for mean in means)))
    note = "Means of a game; the 95 % interval is ± what is said."
    return Sheet("Points by source", ("agent", *SOURCES, "together"), tuple(rows), note)


def sets_sheet(games: Games) -> Sheet:
    """Sets played in a game by the number of cards."""
    rows = []
    for k, name in enumerate(games.names):
        sets = games.deal_means(k, "sets")
        means = [estimate(sets[:, number]) for number in range(NUMBERS)]
        means.append(estimate(sets.sum(axis=1)))
        rows.append((name, *(mean_words(mean, two_places) for mean in means)))
    cards = tuple(count_words(number + 1, "card") for number in range(NUMBERS))
    note = "Means of a game; the 95 % interval is ± what is said."
    return Sheet("Sets by number of cards", ("agent", *cards, "together"), tuple(rows), note)


def length_sheet(games: Games) -> Sheet:
    """How many turns games took."""
    turns = games.all("turns")
    mean = estimate(np.concatenate([part["turns"].mean(axis=1) for part in games.games]))
    quarters = map(str, np.percentile(turns, [0, 25, 50, 75, 100], method="inverted_cdf"))
    headers = (
        "",
        "mean",
        INTERVAL,
        "shortest",
        "a quarter up to",
        "half up to",
        "three quarters up to",
        "longest",
    )
    row = ("turns", one_place(mean.mean), interval_words(mean, one_place), *quarters)
    return Sheet("Length of games", headers, (row,))


def ends_sheet(games: Games) -> Sheet:
    """How games ended, the most frequent first."""
    counts = np.bincount(games.all("end"), minlength=len(ENDS))
    rows = [
        (END_WORDS[ENDS[end]], f"{counts[end]:,}", f"{100 * counts[end] / counts.sum():.1f} %")
        for end in np.argsort(-counts, kind="stable")
        if counts[end]
    ]
    return Sheet("How games ended", ("end", "games", "of all"), tuple(rows))


def best_first(result: TournamentResult) -> list[int]:
    """The agents' places in `result.agents`, the highest rating first."""
    return sorted(range(len(result.agents)), key=lambda k: -result.ratings[k].mean)


def ratings_sheet(result: TournamentResult) -> Sheet:
    """The ratings of a tournament, best first."""
    rows = []
    games = tournament_games(result, best_first(result))
    for place, k in enumerate(best_first(result)):
        rating, share = result.ratings[k], result.win_share(k)
        row = [f"{place + 1} {games.names[place]}", two_places(rating.mean)]
        row += [interval_words(rating, two_places)]
        row += [share_words(share.mean), interval_words(share, share_words)]
        rows.append((*row, f"{sum(part.size for part, _ in games.seats[place]):,}"))
    note = f"Equals would have a win share of {share_words(result.fair_share)}."
    headers = ("agent", "rating", INTERVAL, "win share", INTERVAL, "games")
    return Sheet("Ratings", headers, tuple(rows), note)


Cross = dict[tuple[int, int], Estimate | None]


def cross_estimates(result: TournamentResult, order: Sequence[int]) -> Cross:
    """How often one agent comes out ahead of another, by their places in `order`."""
    count = range(len(order))
    return {(a, b): result.against(order[a], order[b]) for a in count for b in count}


def cross_sheet(result: TournamentResult, cross: Cross, width: int = 10_000) -> Sheet:
    """The cross table, best first; names are cut to `width` characters."""
    order = best_first(result)
    names = labels((result.agents[k] for k in order), width - 3)
    wide = len(order) > WIDE_CROSS_TABLE
    rows = [
        (f"{a + 1} {name}", *(_cross_words(cross[a, b], a == b, wide) for b in range(len(order))))
        for a, name in enumerate(names)
    ]
    note = "How often the agent of the row is ahead of the agent of the column"
    note += "." if wide else ", ± the distance to the farther end of the 95 % interval."
    if result.num_players > 2:
        note += " Ahead is who has more of the win, or else more points; level counts a half."
    headers = ("ahead of", *(str(b + 1) for b in range(len(order))))
    return Sheet("Head to head", headers, tuple(rows), note)


def _cross_words(value: Estimate | None, same: bool, wide: bool) -> str:
    if value is None:
        return "" if same else "-"
    return f"{value.mean:.3f}" if wide else mean_words(value, lambda x: f"{x:.3f}").replace(" ", "")


# Sentences


def match_sentences(result: MatchResult) -> list[str]:
    """What a match says about who is stronger."""
    names, fair = labels(result.agents), 1 / result.num_players
    shares = [result.win_share(k) for k in range(result.num_players)]
    if isnan(shares[0].low):
        return ["One deal does not say how sure its result is: play more deals."]
    best = max(range(len(names)), key=lambda k: shares[k].mean)
    others = [k for k in range(len(names)) if k != best]
    if all(_level(result, best, other) for other in others):
        return [_level_words(result)]
    leads = {other: _lead(result, best, other) for other in others}
    strict = STRICT[result.num_players]
    beaten = [names[k] for k, lead in leads.items() if _needed(lead, strict) < 1]
    close = [k for k, lead in leads.items() if _needed(lead, strict) >= 1]
    takes = (
        f"takes {share_words(shares[best].mean)} of the wins (95 % interval "
        f"{interval_words(shares[best], share_words)}) where equals would take {share_words(fair)}."
    )
    sentences = [f"{names[best]} is stronger than {_list(beaten)}: it {takes}"] if beaten else []
    if close:
        rivals = _list([names[best], *(names[k] for k in close)])
        more = "." if beaten else f": {names[best]} {takes}"
        sentences.append(f"Too close to call between {rivals}{more}")
        closest = min((leads[k] for k in close), key=lambda lead: lead.mean)
        sentences.append(_needed_words(POWER * result.num_deals * _needed(closest, strict)))
    return sentences


def _differences(result: MatchResult, agent: int, other: int) -> npt.NDArray[np.float64]:
    """By deal, how much more of the win one agent had than another: from -1 to 1."""
    shares = result.shares
    differences: npt.NDArray[np.float64] = (shares[:, :, agent] - shares[:, :, other]).mean(axis=1)
    return differences


def _lead(result: MatchResult, agent: int, other: int) -> Estimate:
    """How far one agent is ahead of another: a half where they are level, 1 if it always wins alone."""
    return estimate_share((1 + _differences(result, agent, other)) / 2)


def _level(result: MatchResult, agent: int, other: int) -> bool:
    return not np.any(np.abs(_differences(result, agent, other)) > 1e-9)


def _level_words(result: MatchResult) -> str:
    fair = share_words(1 / result.num_players)
    each = f"Every deal came out exactly level: each agent takes {fair} of the wins"
    if result.games.shape[1] < result.num_players:
        return f"{each}."
    return (
        f"{each}, as agents do that play alike and leave nothing to chance when every deal is played "
        "from every seat. More deals would show no difference."
    )


def _needed(lead: Estimate, strict: float) -> float:
    """How many times the deals it takes for an interval, `strict` times as wide, to just miss a half."""
    difference = lead.mean - 0.5
    return inf if difference < 1e-9 else (strict * (lead.mean - lead.low) / difference) ** 2


def _needed_words(deals: float) -> str:
    """How many deals would tell a difference."""
    if deals == inf:
        return "Their win shares do not differ at all."
    size = "deals would be needed to tell a difference of this size"
    if deals > MOST_DEALS:
        return f"More than {MOST_DEALS:,} {size}."
    return f"About {_rounded_up(deals):,} {size} four times out of five."


def _rounded_up(number: float) -> int:
    """To two digits."""
    unit: int = 10 ** max(0, int(log10(max(number, 1))) - 1)
    return ceil(number / unit) * unit


def tournament_sentences(result: TournamentResult, cross: Cross) -> list[str]:
    """What a tournament says about who is strongest."""
    order = best_first(result)
    names = labels(result.agents)
    first, second = result.ratings[order[0]], result.ratings[order[1]]
    clear = first.low > second.high
    sentence = (
        f"{names[order[0]]} is rated highest, {two_places(first.mean)} (95 % interval "
        f"{interval_words(first, two_places)}); {names[order[1]]} is next, {two_places(second.mean)} "
        f"({interval_words(second, two_places)}), and the intervals {'do not ' if clear else ''}overlap."
    )
    return [sentence, *_head_to_head([names[k] for k in order], cross)]


def _head_to_head(names: Sequence[str], cross: Cross) -> Iterator[str]:
    """Whom the first of the agents is ahead of, and whom not."""
    rivals = {names[b]: value for b in range(1, len(names)) if (value := cross[0, b])}
    beaten = [name for name, value in rivals.items() if value.low > 0.5]
    beaters = [name for name, value in rivals.items() if value.high < 0.5]
    close = [name for name in rivals if name not in beaten and name not in beaters]
    if rivals and len(beaten) == len(names) - 1:
        yield f"Head to head, {names[0]} is ahead of every other agent."
        return
    if beaten:
        yield f"Head to head, {names[0]} is ahead of {_list(beaten)}."
    if close:
        yield f"Head to head, {names[0]} and {_list(close, 'or')} are too close to call."
    if beaters:
        yield f"Head to head, {names[0]} is behind {_list(beaters)}."


def cycle_sentences(result: TournamentResult) -> list[str]:
    """Agents that beat each other in a circle, in words."""
    shown = dict(zip(result.agents, labels(result.agents), strict=True))
    cycles = [[shown[name] for name in cycle] for cycle in result.cycles()]
    if not cycles:
        return ["No three agents beat each other in a circle."]
    return [f"In a circle: {a} beats {b}, {b} beats {c}, and {c} beats {a}." for a, b, c in cycles]


# Facts


def match_facts(result: MatchResult) -> dict[str, str]:
    """What was played."""
    return {
        "ruleset": printable(result.ruleset),
        "players": str(result.num_players),
        "deals": f"{result.num_deals:,}, {_rotations(result)}",
        "games": f"{result.num_games:,}",
        "decisions": f"{result.decisions:,}",
        "seed": str(result.seed),
    }


def tournament_facts(result: TournamentResult) -> dict[str, str]:
    """What was played."""
    deals = sorted({table.num_deals for _, table in result.tables})
    some = f"{deals[0]:,}" if len(deals) == 1 else f"{deals[0]:,} to {deals[-1]:,}"
    return {
        "ruleset": printable(result.ruleset),
        "agents": str(len(result.agents)),
        "players": f"{result.num_players} at a table",
        "tables": f"{len(result.tables):,}, {some} deals at each, {_rotations(result.tables[0][1])}",
        "games": f"{result.num_games:,}",
        "seed": str(result.seed),
    }


def _rotations(result: MatchResult) -> str:
    return "each from every seat" if result.games.shape[1] == result.num_players else "each played once"
