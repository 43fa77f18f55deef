"""What the arena's results look like in a terminal, and what they are said to mean."""

from __future__ import annotations

import re
from dataclasses import replace
from math import comb

import numpy as np
import pytest
from small_matches import match, round_robin, tournament

from gardienii_env.arena import content, text
from gardienii_env.arena.results import GAME, MatchResult, Rating, TournamentResult, t_95
from gardienii_env.rules.scoring import SOURCES
from gardienii_env.rules.state import ENDS


def made(shares: list[list[float]], agents: tuple[str, ...] = ("a", "b", "c", "d")) -> MatchResult:
    """A match of one game a deal, with these shares of the win."""
    games = np.zeros((len(shares), 1), GAME)
    players = len(shares[0])
    games["share"][:, 0, :players] = shares
    games["end"], games["turns"] = 1, 20
    return MatchResult(agents[:players], "gardienii", 0, games)


def wins(of_first: int, of_second: int, players: int = 2) -> list[list[float]]:
    """Shares of deals that the first or the second agent wins alone."""
    rest = [0.0] * (players - 2)
    return [[1.0, 0.0, *rest]] * of_first + [[0.0, 1.0, *rest]] * of_second


def test_a_match_says_every_figure_of_each_agent() -> None:
    result = match(("greedy", "random"), 12)
    lines = text.match_report(result).splitlines()
    for k, name in enumerate(result.agents):
        rows = [line.split() for line in lines if line.startswith(f"{name} ")]
        share, margin, score = result.win_share(k), result.margin(k), result.score(k)
        shown = [f"{share.mean:.3f}", f"{margin.mean:+.1f}", f"{score.mean:.1f}", f"{score.low:.1f}"]
        shown += [f"{result.payoff(k).mean:+.3f}", f"{result.decisions_per_game(k).mean:.1f}"]
        assert set(shown) <= set(rows[0])
        points = [*(value.mean for value in result.points(k).values()), score.mean]
        assert rows[1][1::2] == [f"{value:.1f}" for value in points]
        sets = [value.mean for value in result.sets(k).values()]
        assert rows[2][1::2] == [f"{value:.2f}" for value in [*sets, sum(sets)]]
    assert any(line.split()[:2] == ["turns", f"{result.turns().mean:.1f}"] for line in lines)
    assert "12, each from every seat" in lines[2]
    assert lines[3].split() == ["games:", "24"]
    assert all(source in text.match_report(result) for source in SOURCES)


def test_half_of_the_games_take_up_to_the_turns_said() -> None:
    result = match(("greedy", "random"), 11)
    row = content.length_sheet(content.match_games(result)).rows[0]
    turns = np.sort(result.games["turns"].ravel())
    assert [int(cell) for cell in row[3:]] == [turns[0], turns[5], turns[10], turns[16], turns[-1]]


def test_the_ends_are_counted() -> None:
    result = match(("greedy", "random"), 6)
    games = result.games.copy()
    games["end"][:4, 0], games["end"][4, 0] = ENDS.index("supply"), ENDS.index("turn_limit")
    rows = content.ends_sheet(content.match_games(replace(result, games=games))).rows
    assert [row[1:] for row in rows] == [("7", "58.3 %"), ("4", "33.3 %"), ("1", "8.3 %")]
    assert len({row[0] for row in rows}) == 3


@pytest.mark.parametrize(
    "names", [("greedy", "random"), ("greedy", "random", "random"), ("random",) * 4]
)
def test_no_line_of_a_match_is_wider_than_the_terminal(names: tuple[str, ...]) -> None:
    result = match(names, 3)
    for agents in (names, tuple("network:runs/some/very/long/path" + name for name in names)):
        report = text.match_report(replace(result, agents=agents))
        assert max(map(len, report.splitlines())) <= text.WIDTH


def test_who_is_clearly_stronger_is_said_to_be() -> None:
    (sentence,) = content.match_sentences(match(("greedy", "random"), 12))
    assert sentence.startswith(
        "greedy is stronger than random: it takes 1.000 of the wins (95 % interval"
    )
    assert sentence.endswith("where equals would take 0.500.")
    (sentence,) = content.match_sentences(match(("random", "greedy", "random"), 12))
    assert sentence.startswith("greedy is stronger than random #1 and random #2: it takes")
    assert sentence.endswith("where equals would take 0.333.")


def test_close_results_are_too_close_to_call() -> None:
    first, second = content.match_sentences(made(wins(52, 48)))
    assert first.startswith("Too close to call between a and b: a takes 0.520 of the wins")
    assert second.startswith("About ")


@pytest.mark.parametrize(("first", "second"), [(52, 48), (112, 90), (560, 505)])
def test_the_deals_needed_show_the_difference_four_times_out_of_five(first: int, second: int) -> None:
    """The exact binomial probability that the interval of that many deals misses a half."""
    sentence = content.match_sentences(made(wins(first, second)))[1]
    found = re.search(r"About ([\d,]+) deals", sentence)
    assert found
    deals, share = int(found[1].replace(",", "")), first / (first + second)
    z2 = t_95(deals - 1) ** 2
    seen = 0.0
    for won in range(deals // 2, deals + 1):
        mean = won / deals
        low = mean + z2 / (2 * deals) - (z2 * (mean * (1 - mean) / deals + z2 / (4 * deals**2))) ** 0.5
        if low / (1 + z2 / deals) > 0.5:
            logarithm = np.log(float(share)) * won + np.log(1 - share) * (deals - won)
            seen += float(np.exp(logarithm + _log(comb(deals, won))))
    assert 0.75 < seen < 0.85


def _log(number: int) -> float:
    """The natural logarithm of a whole number of any size."""
    bits = max(0, number.bit_length() - 900)
    return float(np.log(float(number >> bits)) + bits * np.log(2))


def test_between_more_agents_only_some_may_be_close() -> None:
    shares = [[1.0, 0.0, 0.0]] * 30 + [[0.0, 1.0, 0.0]] * 26 + [[0.0, 0.0, 1.0]] * 4
    first, second, third = content.match_sentences(made(shares))
    assert first.startswith("a is stronger than c: it takes 0.500 of the wins")
    assert second == "Too close to call between a and b."
    assert third.startswith("About ")


def test_four_equals_are_rarely_told_apart() -> None:
    """The best of four is compared with three others, yet of 300 matches few tell equals apart."""
    rng = np.random.default_rng(3)
    told = 0
    for _ in range(300):
        result = made(np.eye(4)[rng.integers(4, size=100)].tolist())
        told += "is stronger" in content.match_sentences(result)[0]
    assert told <= 300 * 0.08


def test_identical_agents_without_chance_are_level() -> None:
    (sentence,) = content.match_sentences(match(("greedy", "greedy"), 5))
    assert sentence.startswith(
        "Every deal came out exactly level: each agent takes 0.500 of the wins, as"
    )
    (sentence,) = content.match_sentences(match(("greedy",) * 3, 3))
    assert "each agent takes 0.333 of the wins" in sentence
    (sentence,) = content.match_sentences(made([[0.5, 0.5]] * 3))
    assert sentence == "Every deal came out exactly level: each agent takes 0.500 of the wins."


def test_one_deal_says_nothing_sure() -> None:
    report = text.match_report(match(("greedy", "random"), 1))
    assert report.endswith("One deal does not say how sure its result is: play more deals.")
    assert "nan" not in report
    assert "unknown" in report


def test_a_difference_of_nothing_needs_no_number_of_deals() -> None:
    assert content.match_sentences(made(wins(5, 5)))[1] == "Their win shares do not differ at all."
    sentences = content.match_sentences(made(wins(5001, 5000)))
    assert sentences[1].startswith("More than 10,000,000 deals would be needed")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.0, "0.000"),
        (1.0, "1.000"),
        (0.0001, "<0.001"),
        (0.9999, ">0.999"),
        (0.5, "0.500"),
        (1e-17, "0.000"),
    ],
)
def test_shares_that_are_nearly_0_or_1_do_not_look_so(value: float, words: str) -> None:
    assert content.share_words(value) == words


def test_names_are_numbered_shortened_and_fit_to_print() -> None:
    assert content.labels(["a", "b", "a"]) == ("a #1", "b", "a #2")
    assert content.labels(["a", "a", "a #1"]) == ("a #2", "a #3", "a #1")
    assert content.labels(["x\x1b[2J\n"]) == ("x\\x1b[2J\\n",)
    long = [f"network:runs/{k}/model.onnx" for k in range(12)]
    short = content.labels(long, 12)
    assert len(set(short)) == 12
    assert max(map(len, short)) <= 12
    assert content.labels(short, 12) == short


def eight() -> TournamentResult:
    plays = ["greedy", "random"] * 4
    names = [f"{play}:{k}" for k, play in enumerate(plays)]
    names[4] = "network:runs/quickstart-2026/model.onnx"
    return round_robin(names, plays, 3)


def test_a_tournament_has_ratings_cross_table_and_words() -> None:
    result = eight()
    report = text.tournament_report(result)
    lines = report.splitlines()
    assert max(map(len, lines)) <= text.WIDTH
    order = content.best_first(result)
    assert [result.ratings[k].mean for k in order] == sorted(
        (r.mean for r in result.ratings), reverse=True
    )
    start = lines.index("Ratings") + 4
    for place, k in enumerate(order):
        rating, share = result.ratings[k], result.win_share(k)
        row = lines[start + place].split()
        assert row[0] == str(place + 1)
        assert row[2:6] == [f"{rating.mean:.2f}", f"{rating.low:.2f}", "to", f"{rating.high:.2f}"]
        assert row[6] == f"{share.mean:.3f}"
        assert row[-1] == str(7 * 6)
    start = lines.index("Head to head") + 4
    for a, k in enumerate(order):
        cells = lines[start + a].split()[-7:]
        others = [other for other in order if other != k]
        means = [value.mean for other in others if (value := result.against(k, other))]
        assert [cell.partition("±")[0] for cell in cells] == [f"{mean:.3f}" for mean in means]
        assert all("±" in cell for cell in cells)
    assert "28, 3 deals at each, each from every seat" in report


def test_a_tournament_of_many_agents_still_fits() -> None:
    names = [f"agent-{k}" for k in range(13)]
    report = text.tournament_report(round_robin(names, ["random"] * 13, 2))
    assert max(map(len, report.splitlines())) <= text.WIDTH


def three(first: int, second: int, third: int) -> TournamentResult:
    """Of ten deals, how many each agent wins against the next one, the third against the first."""
    names = ("a", "b", "c")
    tables = [
        ((0, 1), made(wins(first, 10 - first), ("a", "b"))),
        ((1, 2), made(wins(second, 10 - second), ("b", "c"))),
        ((2, 0), made(wins(third, 10 - third), ("c", "a"))),
    ]
    return tournament(names, tables)


def test_cycles_are_said_in_words() -> None:
    assert content.cycle_sentences(three(10, 10, 10)) == [
        "In a circle: a beats b, b beats c, and c beats a."
    ]
    assert content.cycle_sentences(three(10, 10, 0)) == ["No three agents beat each other in a circle."]


def sentences(result: TournamentResult) -> list[str]:
    return content.tournament_sentences(
        result, content.cross_estimates(result, content.best_first(result))
    )


def test_the_highest_rating_and_whom_it_beats() -> None:
    clear = (Rating("a", 30, 28, 32), Rating("b", 25, 23, 27), Rating("c", 20, 18, 22))
    first, second = sentences(replace(three(10, 10, 0), ratings=clear))
    assert first.startswith("a is rated highest, 30.00 (95 % interval")
    assert first.endswith("and the intervals do not overlap.")
    assert second == "Head to head, a is ahead of every other agent."
    ratings = (Rating("a", 30, 28, 32), Rating("b", 29, 27, 31), Rating("c", 20, 18, 22))
    first, *others = sentences(replace(three(5, 10, 10), ratings=ratings))
    assert first.endswith("b is next, 29.00 (27.00 to 31.00), and the intervals overlap.")
    assert others == ["Head to head, a and b are too close to call.", "Head to head, a is behind c."]


def test_agents_that_never_met_have_no_figure() -> None:
    full = three(10, 10, 0)
    result = tournament(full.agents, full.tables[:2])
    cross = content.cross_estimates(result, content.best_first(result))
    rows = content.cross_sheet(result, cross).rows
    assert rows[0][3] == rows[2][1] == "-"
    assert content.tournament_sentences(result, cross)[1] == "Head to head, a is ahead of b."


def test_tables_of_three_say_what_ahead_means() -> None:
    played = match(("greedy", "random", "random"), 4)
    names = ("greedy", "random", "other")
    result = tournament(names, [((0, 1, 2), replace(played, agents=names))], 3)
    report = text.tournament_report(result)
    assert "more of the win, or else more points" in report
    assert "Equals would have a win share of 0.333." in report
