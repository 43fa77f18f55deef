"""The catalogue of texts: complete in every language, used in full, and right in its plural forms."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib
from helpers import play
from positions import position

import gardienii_env
from gardienii_env import ACTIONS, Game, IllegalActionError, OptionError
from gardienii_env.render import texts
from gardienii_env.render.scene import scene
from gardienii_env.render.texts import (
    LANGUAGES,
    Text,
    action_words,
    card_of,
    card_words,
    catalogue,
    joined,
    plural_form,
    prize_words,
    text,
)
from gardienii_env.rules.cards import CARDS

PACKAGE = Path(gardienii_env.__file__).parent
FORMS = {"en": {"one", "other"}, "de": {"one", "other"}, "hu": {"one", "other"}}
FORMS["ro"] = {"one", "few", "other"}

languages = pytest.mark.parametrize("language", LANGUAGES)


def entries() -> Iterator[tuple[str, dict[str, Text]]]:
    """Each key of the file with what it says in each language."""

    def walk(table: dict[str, Any], path: tuple[str, ...]) -> Iterator[tuple[str, dict[str, Text]]]:
        for name, value in table.items():
            if all(isinstance(inner, dict) and "one" not in inner for inner in value.values()):
                yield from walk(value, (*path, name))
            else:
                yield ".".join((*path, name)), value

    yield from walk(tomllib.loads((PACKAGE / "render" / "texts.toml").read_text("utf-8")), ())


def placeholders(words: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(words) if name is not None}


def test_no_language_misses_a_key_or_a_placeholder() -> None:
    for key, by_language in entries():
        assert list(by_language) == list(LANGUAGES), key
        kinds = {type(words) for words in by_language.values()}
        assert len(kinds) == 1, f"{key}: plural forms in some languages only"
        asked: set[frozenset[str]] = set()
        for language, words in by_language.items():
            if isinstance(words, dict):
                assert set(words) == FORMS[language], (key, language)
                assert placeholders(words["one"]) | {"number"} == placeholders(words["other"]) | {
                    "number"
                }
                asked.add(frozenset(placeholders(words["other"]) - {"number"}))
            else:
                asked.add(frozenset(placeholders(words)))
        assert len(asked) == 1, key


def test_no_key_is_unused() -> None:
    """A key stands in the sources as it is, or as what `f"family.{...}"` begins with."""
    sources = [p for kind in ("py", "js", "html") for p in PACKAGE.rglob(f"*.{kind}")]
    source = "\n".join(path.read_text("utf-8") for path in sources)
    whole = set(re.findall(r"""["'`]([a-z_]+(?:\.\w+)+)["'`]""", source))
    begun = set(re.findall(r"""f["']([a-z_]+\.\w*)\{|`([a-z_]+\.\w*)\$\{""", source))
    prefixes = tuple(prefix for pair in begun for prefix in pair if prefix)
    by_form = re.findall(r"""f["']\{form\}\.(\w+)""", source)  # `told` and `offer`
    prefixes += tuple(f"{form}.{name}" for form in ("told", "offer") for name in by_form)
    unused = [key for key, _ in entries() if key not in whole and not key.startswith(prefixes)]
    assert not unused


def test_no_text_is_empty_or_has_spaces_around() -> None:
    for key, by_language in entries():
        for words in by_language.values():
            for form in words.values() if isinstance(words, dict) else [words]:
                assert form.strip() == form != "", key


@pytest.mark.parametrize(
    ("language", "shown"),
    [
        ("en", ["0 cards", "1 card", "2 cards", "19 cards", "20 cards", "101 cards"]),
        ("de", ["0 Karten", "1 Karte", "2 Karten", "19 Karten", "20 Karten", "101 Karten"]),
        ("hu", ["0 kártya", "1 kártya", "2 kártya", "19 kártya", "20 kártya", "101 kártya"]),
        ("ro", ["0 cărți", "o carte", "2 cărți", "19 cărți", "20 de cărți", "101 cărți"]),
    ],
)
def test_plural_forms(language: str, shown: list[str]) -> None:
    assert [text(language, "count.card", number=n) for n in (0, 1, 2, 19, 20, 101)] == shown


def test_plural_forms_of_romanian_are_cldrs() -> None:
    """`few`: 0, or 1-19 in the last two digits, but not 1 itself; https://cldr.unicode.org."""
    few = [n for n in range(230) if plural_form("ro", n) == "few"]
    assert few == [0, *range(2, 20), *range(101, 120), *range(201, 220)]


@languages
def test_a_catalogue_cannot_be_changed(language: str) -> None:
    with pytest.raises(TypeError):
        catalogue(language)["word.and"] = "!"  # type: ignore[index]


@pytest.mark.parametrize("language", ["", "fr", "English", None, 1, ["en"]])
def test_a_language_without_texts_is_refused(language: Any) -> None:
    with pytest.raises(OptionError, match="language:"):
        text(language, "word.and")


def test_lists() -> None:
    assert joined("en", [0]) == "0"
    assert joined("de", [0, 1]) == "0 und 1"
    assert joined("hu", [0, 1, 3]) == "0, 1 és 3"


def test_prizes() -> None:
    nothing = {"piece": "none", "crystals": 0, "dark_dragons": 0, "golden_eggs": 0}
    assert [prize_words(language, nothing) for language in LANGUAGES] == [  # type: ignore[arg-type]
        "nothing",
        "nichts",
        "semmi",
        "nimic",
    ]
    rich = {"piece": "highest", "crystals": 1, "dark_dragons": 2, "golden_eggs": 20}
    assert prize_words("ro", rich) == (  # type: ignore[arg-type]
        "cel mai mare fragment de amuletă, un cristal, 2 dragoni întunecați, 20 de ouă de aur"
    )


@languages
def test_every_card_and_action_is_told_apart(language: str) -> None:
    assert len({card_words(language, card) for card in CARDS}) == len(CARDS)
    for form in ("told", "offer"):
        told = {action_words(language, action, form=form) for action in ACTIONS}
        assert len(told) == len(ACTIONS)


def test_actions() -> None:
    table = scene(position(step="take", supply="W3 -- Wr --", hands=["R1"]), viewer=0)
    assert card_of(table, "take:L0") == "W3"
    assert [card_of(table, name) for name in ("pass", "modify:Rg", "column:left")] == [None, "Rg", None]
    assert action_words("en", "take:L0", card="W3") == "takes W3 from the supply"
    assert action_words("en", "take:L0", card="W3", form="offer") == "Take W3"
    assert action_words("en", "take:L0") == "takes the card in supply slot L0"
    assert action_words("de", "modify:D6") == "legt D6 auf den linken Stapel"
    assert action_words("hu", "modify:Rg") == "a jobb paklira teszi: Rg"
    assert action_words("ro", "column:right") == "pune coloana nouă în capătul din dreapta"
    passes = [action_words("en", "pass", step=step) for step in ("take", "modify", "play", None)]
    assert passes == [
        "takes no more cards",
        "leaves the spell as it is",
        "plays nothing",
        "passes",
    ]
    with pytest.raises(IllegalActionError):
        action_words("en", "take:L9")


def test_the_card_of_every_action_is_known_where_it_is_done() -> None:
    game, rng = Game.new(3, "dragonkeepers", seed=2), random.Random(2)
    while not game.is_over:
        table = scene(game, game.player)
        play(game, rng, 1)
        action = ACTIONS[game.moves[-1][1]]
        assert (card_of(table, action) is None) == action.startswith(("pass", "column"))


def test_the_english_words_are_those_of_the_terminal() -> None:
    """`gardienii_env.words` tells cards in the words of the catalogue."""
    for number, card in enumerate(CARDS):
        assert texts.card_words("en", card) == gardienii_env.words.card_words(number)
