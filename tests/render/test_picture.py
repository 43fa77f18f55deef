"""The board picture: it shows what the scene says, at any size, and nothing that is hidden."""

from __future__ import annotations

import copy
import pickle
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pygame
import pytest
from helpers import play
from positions import do, position
from rulesets import COMBINATIONS, VARIATIONS

from gardienii_env import Game, OptionError
from gardienii_env.errors import MissingExtraError
from gardienii_env.render.canvas import Canvas, Rect
from gardienii_env.render.picture import Picture, picture, save
from gardienii_env.render.scene import scene
from gardienii_env.render.texts import LANGUAGES, catalogue

combinations = pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)
SMALL = (640, 400)

Pixels = npt.NDArray[np.uint8]


def same(first: Pixels, second: Pixels) -> bool:
    return np.array_equal(first, second)


# -- what is shown ---------------------------------------------------------------------------------


def table(**changes: Any) -> Game:
    """A position with a bit of everything."""
    fields: dict[str, Any] = {
        "players": 3,
        "ruleset": "dragonkeepers",
        "step": "take",
        "spell": "2r",
        "supply": "W1 -- Wr --",
        "hands": ["R1 R2", "B3 Bw D6 D6", "G1"],
        "tableaus": ["WRB", "", "G"],
        "pieces": [{1: 3}, {4: 2, 20: 5}],
        "crystals": [2, 0, 1],
        "eggs": [0, 3, 0],
        "crest": [-1, 1, -1],
        "taken": 1,
        "turns": 4,
        "dragon_points": [4, 0, 2],
    }
    return position(**{**fields, **changes})


@pytest.mark.parametrize(
    "change",
    [
        {"ruleset": "gardienii"},
        {"turns": 5},
        {"spell": "3r"},
        {"spell": "2b"},
        {"left": "W2"},
        {"right": "Wr"},
        {"left": ""},
        {"supply": "W2 -- Wr --"},
        {"supply": "W1 -- Wg --"},
        {"supply": "W1 -- -- --"},
        {"hands": ["R1 R3", "B3 Bw D6 D6", "G1"]},
        {"hands": ["R1 R2 R2", "B3 Bw D6 D6", "G1"]},
        {"hands": ["R1 R2", "B3 Bw D6", "G1"]},
        {"tableaus": ["WBR", "", "G"]},
        {"tableaus": ["WR", "", "G"]},
        {"pieces": [{4: 3}, {4: 2, 20: 5}]},
        {"pieces": [{1: 3}, {4: 2, 20: 4}]},
        {"bank": {1: 1}},
        {"crystals": [2, 1, 1]},
        {"eggs": [1, 3, 0]},
        {"crest": [-1, 0, -1]},
        {"crest": [-1, -1, 1]},
        {"taken": 2},
        {"paid": 1},
        {"laid": [1, 0]},
        {"dragon_points": [4, 0, 3]},
        {"bank_crystals": 3},
        {"bank_eggs": 3},
        {"bank_dark_dragons": 3},
        {"crests_given": 1},
        {"pearls_given": 1, "pearl_owner": [0]},
        {"active": 1},
    ],
    ids=str,
)
def test_whatever_changes_in_the_scene_changes_the_picture(change: dict[str, Any]) -> None:
    before, after = table(), table(**change)
    assert scene(before, 0) != scene(after, 0)
    assert not same(picture(before, 0, SMALL), picture(after, 0, SMALL))


def test_an_open_set_is_shown() -> None:
    game = position(spell="3r", hands=["R1 R2 R3 Rg D6"])
    pictures = [picture(do(game, *cards), None, SMALL) for cards in ((), ("play:R1",), ("play:R2",))]
    assert not same(pictures[0], pictures[1])
    assert not same(pictures[1], pictures[2])


def test_viewers_and_words() -> None:
    game = table()
    shown = [
        picture(game, None, SMALL),
        picture(game, 0, SMALL),
        picture(game, 1, SMALL),
        picture(game, 0, SMALL, told="Seat 2 passes"),
        picture(game, 0, SMALL, told="Seat 1 passes"),
        picture(game, None, SMALL, open_hands=True),
        *(picture(game, None, SMALL, language=language) for language in LANGUAGES if language != "en"),
    ]
    assert len({pixels.tobytes() for pixels in shown}) == len(shown)


def test_the_end_is_shown() -> None:
    games = [play(Game.new(4, VARIATIONS["five turns"], seed), random.Random(seed)) for seed in (1, 2)]
    first, second = (picture(game, None, SMALL) for game in games)
    assert not same(first, second)


@combinations
def test_what_is_hidden_changes_no_picture(ruleset: str, players: int) -> None:
    rng, game = random.Random(players), Game.new(players, ruleset, seed=6)
    draw = Picture(SMALL)
    differences = 0
    while not game.is_over:
        viewer = rng.randrange(players)
        twin = game.resample(viewer, seed=rng.randrange(10**6))
        for eye in (viewer, None):
            assert same(draw.frame(scene(twin, eye)), draw.frame(scene(game, eye)))
        hands = [draw.frame(scene(each, None, open_hands=True)) for each in (twin, game)]
        differences += not same(*hands)
        play(game, rng, 25)
    assert differences > 0


# -- the form --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(160, 160), (640, 400), (1280, 800), (1000, 300), (301, 977)])
def test_sizes(size: tuple[int, int]) -> None:
    pixels = picture(table(), 1, size)
    assert pixels.shape == (size[1], size[0], 3)
    assert pixels.dtype == np.uint8
    assert len(np.unique(pixels.reshape(-1, 3) @ np.array([1, 256, 65536]))) > 50


@pytest.mark.parametrize(
    "size", [(159, 800), (1280, 8193), (1280,), (1, 2, 3), "1280x800", (1280.0, 800), None, (True, 800)]
)
def test_a_wrong_size_is_named(size: Any) -> None:
    with pytest.raises(OptionError, match="render_size"):
        picture(table(), 0, size)


def test_a_wrong_language_is_named() -> None:
    with pytest.raises(OptionError, match="language"):
        Picture(SMALL, "fr")


@combinations
def test_what_was_drawn_before_does_not_matter(ruleset: str, players: int) -> None:
    """Only the regions that differ are drawn anew; the picture is that of a fresh canvas."""
    rng, game, draw = random.Random(players), Game.new(players, ruleset, seed=3), Picture(SMALL)
    draw.frame(scene(Game.new(2 + players % 3, seed=1)), "another game")
    while True:
        shown = scene(game, game.player, open_hands=game.is_over)
        assert same(draw.frame(shown, "told"), Picture(SMALL).frame(shown, "told"))
        if game.is_over:
            break
        play(game, rng, 30)


def test_a_frame_is_the_callers_own() -> None:
    draw, shown = Picture(SMALL), scene(table())
    first = draw.frame(shown)
    first[:] = 0
    assert draw.frame(shown).any()


def test_copies_and_pickles_draw_the_same() -> None:
    draw, shown = Picture(SMALL, "hu"), scene(table())
    pixels = draw.frame(shown)
    for other in (copy.deepcopy(draw), pickle.loads(pickle.dumps(draw))):
        assert same(other.frame(shown), pixels)


@combinations
def test_all_that_is_drawn_lies_within_its_region(
    ruleset: str, players: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is drawn beyond the edge of a region, where it would be cut off."""
    rng, game = random.Random(players), Game.new(players, ruleset, seed=8)
    draw = Picture((1280, 800), "ro")
    outside: list[object] = []
    region = Rect(0, 0, 0, 0)
    fill, shape, words = Canvas.fill, Canvas.draw, Canvas.words

    def check(what: object, rect: Rect) -> None:
        inside = rect.x > region.x - 1 and rect.y > region.y - 1
        if not (inside and rect.right < region.right + 1 and rect.bottom < region.bottom + 1):
            outside.append((what, rect, region))

    def filled(canvas: Canvas, colour: Any, rect: Rect | None = None) -> None:
        nonlocal region
        region = rect or Rect(0, 0, canvas.width, canvas.height)
        fill(canvas, colour, rect)

    def drawn(canvas: Canvas, key: Any, rect: Rect, painter: Any) -> None:
        check(key, rect)
        shape(canvas, key, rect, painter)

    def written(canvas: Canvas, line: object, at: Any, size: float, *more: Any, **named: Any) -> float:
        wide = words(canvas, line, at, size, *more, **named)
        align = named.get("align", more[1] if len(more) > 1 else (0, 0.5))
        check(line, Rect(at[0] - align[0] * wide, at[1] - align[1] * size * 0.7, wide, size * 0.7))
        return wide

    monkeypatch.setattr(Canvas, "fill", filled)
    monkeypatch.setattr(Canvas, "draw", drawn)
    monkeypatch.setattr(Canvas, "words", written)
    while not game.is_over:
        draw.frame(scene(game, None, open_hands=True), "told")
        play(game, rng, 6, "hoarder")
    draw.frame(scene(game, None, open_hands=True), "told")
    assert not outside


def test_the_font_has_every_letter_of_the_catalogue() -> None:
    pygame.font.init()
    font = pygame.font.Font(None, 20)
    for language in LANGUAGES:
        texts = catalogue(language).values()
        words = [
            form for text in texts for form in (text.values() if isinstance(text, dict) else [text])
        ]
        letters = "".join(sorted(set("".join(words)) | {"…"}))
        missing = [c for c, found in zip(letters, font.metrics(letters), strict=True) if found is None]
        assert not missing, language


def test_words_may_be_anything() -> None:
    draw = Picture(SMALL)
    for words in ("x" * 500, "a\nb\0c", "龍", "\U0001f409"):
        game = Game.new(2, table().ruleset.replace(name=words if words.isprintable() else "x"), seed=1)
        assert draw.frame(scene(game, 0), words).any()


def test_words_are_made_to_fit() -> None:
    canvas = Canvas((200, 100), 1)
    assert canvas.words("some words", (0, 50), 20, width=60) <= 60
    assert canvas.words("many more words than there is room for", (0, 50), 20, width=60) <= 60
    assert canvas.words("word", (0, 50), 20, width=1) <= 1
    assert canvas.words("", (0, 50), 20) <= 1


def test_pictures_are_saved(tmp_path: Path) -> None:
    pixels = picture(table(), 0, SMALL)
    save(pixels, tmp_path / "board.png")
    read = pygame.surfarray.array3d(pygame.image.load(tmp_path / "board.png")).swapaxes(0, 1)
    assert same(read, pixels)
    for wrong in (tmp_path / "board.txt", tmp_path / "nowhere" / "board.png"):
        with pytest.raises(OptionError, match="path: "):
            save(pixels, wrong)


def test_without_pygame_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("library", "canvas", "shapes", "panels", "picture"):
        monkeypatch.delitem(sys.modules, f"gardienii_env.render.{name}")
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(MissingExtraError, match=r"gardienii-env\[render\]"):
        import gardienii_env.render.picture  # noqa: F401
