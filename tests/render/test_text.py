"""The board as text: what it says, and that it never says what the viewer cannot know."""

from __future__ import annotations

import random
import re
import sys
from typing import Any

import pytest
from helpers import play
from positions import do, full_table, hand, position, supply
from rulesets import COMBINATIONS, VARIATIONS

from gardienii_env import Game, OptionError, Ruleset
from gardienii_env.errors import MissingExtraError
from gardienii_env.render.text import board
from gardienii_env.rules.cards import CARDS
from gardienii_env.rules.ruleset import Prize

combinations = pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)

CARD = re.compile(r"(?<!take:)\b(?:[WRBG][1-5wrbg]|D6)\b(?!: )")  # not a slot: `R1: W3`, `take:R1`
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def rows(text: str) -> dict[str, list[str]]:
    """The rows of all tables: what stands in the other cells, by the first one; wrapped lines joined."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("│"):
            name, *cells = (cell.strip() for cell in line.strip("│").split("│"))
            if name:
                found.setdefault(name, []).extend(cells)
            else:
                last = next(reversed(found.values()))
                last[:] = [f"{cell} {more}".strip() for cell, more in zip(last, cells, strict=True)]
    return found


def row(game: Game, name: str, viewer: int | None = None) -> str:
    """The one cell of a row."""
    (cell,) = rows(board(game, viewer))[name]
    return cell


# -- what is shown ---------------------------------------------------------------------------------


def test_the_table() -> None:
    game = full_table()
    text = board(game)
    assert text.startswith("Turn 12, seat 0 is active. Step play: seat 0 decides (gardienii, 3 players)")
    assert row(game, "Spell") == "5 red: the lowest amulet piece, 1 dark dragon, 1 golden egg"
    assert row(game, "Supply") == "L0: W1   L1: -   R0: Wr   R1: D6"
    assert row(game, "This turn") == "3 cards taken, 1 crystal paid, laid on: right"
    assert row(game, "Decks") == "left 3, right 3"
    assert row(game, "Bank") == "1 crystal, 0 golden eggs, 7 dark dragons, 13 pearls, crests: 10 6"
    assert row(game, "Pieces left") == "1 x2, 8, 20 x3"
    assert row(game, "Amulets") == "0 complete, the game ends with 8"


def test_the_players() -> None:
    game = position(
        3,
        step="take",
        supply="W1 R1 Wr Rw",
        hands=["R1 R2", "B3 Bw D6 D6", ""],
        tableaus=["WB", "", "R"],
        pieces=[{1: 3}, {4: 2, 20: 5}],
        dragon_points=[4, 0, 2],
        crystals=[0, 2, 1],
        eggs=[0, 3],
        crest=[-1, 1, -1],
        pearl_owner=[1, 0, 1],
        pearls=[3, 9, 4],
        pearls_given=3,
    )
    shown = rows(board(game, viewer=1))
    assert shown["Seat 0"] == ["white 1 | blue 1", "2", "4", "3", "1", "1", "0", "0", "-"]
    assert shown["Seat 1 (you)"] == ["-", "4", "0", "7", "2", "2", "2", "3", "10"]
    assert shown["Seat 2"] == ["red 1", "0", "2", "0", "0", "0", "1", "0", "-"]
    assert shown["Your hand"] == ["B3, Bw, D6 x2"]
    assert shown["Your pieces"] == ["4 x2, 20 x5"]
    assert shown["Your pearls"] == ["7 points together"]
    assert "Amulets" in shown
    assert shown["Amulets"] == ["3 complete, the game ends with 8"]


@pytest.mark.parametrize(
    ("decks", "words"),
    [
        ({"left": ""}, "- red: not complete, nobody can play"),
        ({"right": ""}, "3 -: not complete, nobody can play"),
        ({"left": "", "right": ""}, "- -: not complete, nobody can play"),
    ],
)
def test_a_spell_that_is_not_complete(decks: dict[str, str], words: str) -> None:
    game = position(step="take", spell="3r", supply="W1 W2 Wr --", **decks)  # type: ignore[arg-type]
    assert row(game, "Spell") == words


def test_the_prize_is_the_rulesets() -> None:
    ruleset = Ruleset.get("gardienii")
    prizes = {**ruleset.prizes, "2": Prize("highest", crystals=4)}
    game = position(2, ruleset.replace(name="own", prizes=prizes), spell="2b", hands=["B1 B2 B3"])
    assert row(game, "Spell") == "2 blue: the highest amulet piece, 4 crystals"


@pytest.mark.parametrize(
    ("ruleset", "tableau", "shown"),
    [
        ("gardienii", "WRBG", "white 1 | red 1 | blue 1 | green 1"),
        ("dragonkeepers", "WR", "white 1 | red 1"),
        ("dragonkeepers", "WRB", "white 1 | red 1 closed | blue 1"),
        ("dragonkeepers", "GWRB", "green 1 | white 1 closed | red 1 closed | blue 1"),
    ],
)
def test_closed_columns(ruleset: str, tableau: str, shown: str) -> None:
    game = position(2, ruleset, step="take", supply="W1 -- Wr --", tableaus=["", tableau])
    assert rows(board(game))["Seat 1"][0] == shown


def test_an_open_set() -> None:
    game = position(spell="3r", hands=["R1 R2 R3 Rg D6"])
    assert "Open set" not in rows(board(game))
    assert row(do(game, "play:R1"), "Open set") == "R1 (2 more needed)"
    assert row(do(game, "play:R2"), "Open set") == "R1, R2 (1 more needed)"


def test_only_the_slots_of_the_ruleset_are_shown() -> None:
    game = position(2, "dragonkeepers", step="take", supply="B1 -- Gb --", hands=["W1"])
    assert row(game, "Supply") == "L0: B1   R0: Gb"


def test_cards_that_score_nothing_are_marked() -> None:
    assert "(not scored)" not in board(Game.new(2, "gardienii"))
    assert "(not scored)" in board(Game.new(2, "dragonkeepers"), width=140)


def test_legal_actions_are_for_the_seat_that_decides() -> None:
    game = position(spell="1r", hands=["R1 D6", "R2"])
    assert row(game, "Legal actions", 0) == "4 pass   43 play:R1   70 play:D6"
    for viewer in (1, None):
        assert "Legal actions" not in board(game, viewer)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("five turns", "The game is over after 5 turns: all turns have been played ("),
        ("first amulet", ": enough amulets are complete ("),
        ("nothing but the supply", ": no card is left to take ("),
    ],
)
def test_the_end(name: str, words: str) -> None:
    for seed in range(5):
        game = play(Game.new(3, VARIATIONS[name], seed), random.Random(seed))
        text = board(game)
        assert words in text.splitlines()[0]
        seats = "seat" if len(game.winners()) == 1 else "seats"
        *others, last = map(str, game.winners())
        winners = f"{', '.join(others)} and {last}" if others else last
        assert f"\nWon by {seats} {winners}\n" in text
        for seat, points in enumerate(game.points()):
            numbers = rows(text)[f"Seat {seat}"][-7:]
            assert [int(number) for number in numbers] == [*points.values(), game.scores()[seat]]
        for gone in ("Legal actions", "This turn", "Open set"):
            assert gone not in text


def test_all_who_win_are_named() -> None:
    game = play(Game.new(2, VARIATIONS["no prizes"], 1), random.Random(1))
    game.state["dragon_points"] = game.state["column_cards"] = 0
    game.state["eggs"] = game.state["crystals"] = 0
    assert "Won by seats 0 and 1" in board(game)


# -- what is not shown -----------------------------------------------------------------------------


@combinations
def test_only_cards_that_the_viewer_sees_are_named(ruleset: str, players: int) -> None:
    """At every decision of a game, seen by each seat and a spectator in turn, and at its end by all."""
    rng = random.Random(players)
    game = Game.new(players, ruleset, seed=5)
    viewers = (*range(players), None)
    decisions = 0
    while not game.is_over:
        check_cards(game, viewers[decisions % len(viewers)])
        play(game, rng, 1)
        decisions += 1
    for viewer in viewers:
        check_cards(game, viewer)


def check_cards(game: Game, viewer: int | None) -> None:
    text = board(game, viewer)
    on_table = set(supply(game).split()) | {CARDS[card] for card in game.state["open"] if card >= 0}
    own = [] if viewer is None else hand(game, viewer).split()
    assert set(CARD.findall(text)) <= on_table | set(own)
    shown = rows(text)
    if viewer is None:
        assert not any(name.startswith("Your") for name in shown)
    else:
        assert counted(shown["Your hand"][0]) == own


def counted(cards: str) -> list[str]:
    """`W1 x2, D6` as a list of cards."""
    if cards == "-":
        return []
    pairs = (entry.partition(" x") for entry in cards.split(", "))
    return [card for card, _, times in pairs for _ in range(int(times or 1))]


@combinations
def test_what_is_hidden_changes_no_text(ruleset: str, players: int) -> None:
    rng = random.Random(players)
    game = Game.new(players, ruleset, seed=6)
    differences = 0
    while not game.is_over:
        viewer = rng.randrange(players)
        twin = game.resample(viewer, seed=rng.randrange(10**6))
        assert board(twin, viewer) == board(game, viewer)
        assert board(twin) == board(game)
        other = (viewer + 1) % players
        differences += board(twin, other) != board(game, other)
        play(game, rng, 9)
    assert differences > 0


# -- the form --------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_no_line_is_wider_than_asked(width: int) -> None:
    rng = random.Random(1)
    game = Game.new(4, "dragonkeepers", seed=2)
    while not game.is_over:
        assert max(map(len, board(game, game.player, width=width).splitlines())) <= width
        play(game, rng, 25)
    assert max(map(len, board(game, 0, width=width).splitlines())) <= width


@pytest.mark.parametrize(
    "surroundings",
    [
        {"NO_COLOR": "1"},
        {"FORCE_COLOR": "1", "COLORTERM": "truecolor"},
        {"COLUMNS": "40", "LINES": "10"},
        {"TERM": "dumb"},
        {"TERM": "xterm-256color", "TTY_INTERACTIVE": "1", "TTY_COMPATIBLE": "1"},
    ],
)
@pytest.mark.parametrize("color", [False, True])
def test_the_terminal_does_not_matter(
    monkeypatch: pytest.MonkeyPatch, surroundings: dict[str, str], color: bool
) -> None:
    game = play(Game.new(3, seed=1), random.Random(1), 60)
    before = board(game, game.player, color)
    for name, value in surroundings.items():
        monkeypatch.setenv(name, value)
    assert board(game, game.player, color) == before


def test_colour_adds_nothing_but_colour() -> None:
    game = play(Game.new(3, seed=1), random.Random(1), 60)
    plain, coloured = board(game, 0), board(game, 0, color=True)
    assert "\x1b" not in plain
    assert "\x1b[31m" in coloured  # red
    lines = [line.rstrip() for line in ESCAPES.sub("", coloured).splitlines()]
    assert lines == plain.splitlines()


@pytest.mark.parametrize("viewer", [-1, 3, "0", True, 1.5])
def test_a_viewer_that_is_no_seat(viewer: Any) -> None:
    with pytest.raises(OptionError, match=f"viewer: {viewer!r}"):
        board(Game.new(3, seed=1), viewer)


def test_without_rich_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "gardienii_env.render.text")
    monkeypatch.setitem(sys.modules, "rich.console", None)
    with pytest.raises(MissingExtraError, match=r"gardienii-env\[render\]"):
        import gardienii_env.render.text  # noqa: F401
