"""The texts of the boards and the pages in four languages, from the catalogue `texts.toml`.

Names of cards and actions (`W3`, `take:L0`) are the same in all languages; `action_words` tells what an
action is in words.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal

from gardienii_env.errors import OptionError, one_of
from gardienii_env.render.scene import PrizeScene, Scene
from gardienii_env.rules.actions import ACTIONS, action_id
from gardienii_env.rules.cards import BACK, CARD_INDEX, COLOUR_NAMES, COLOURS, FRONT, LEFT, SIDE, SIDES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = [
    "LANGUAGES",
    "Text",
    "action_words",
    "card_of",
    "card_words",
    "catalogue",
    "check_language",
    "colour_key",
    "joined",
    "plural_form",
    "prize_words",
    "text",
]

LANGUAGES: Mapping[str, str] = MappingProxyType(
    {"en": "English", "de": "Deutsch", "hu": "Magyar", "ro": "Română"}
)
"""The languages by their codes, with their own names; the first is the default."""

Text = str | dict[str, str]
"""A text with placeholders, or its plural forms by their CLDR names (`one`, `few`, `other`)."""

FRONT_NAMES = (*COLOUR_NAMES, "dark")


def check_language(language: object) -> str:
    """The code of a language; OptionError if there are no texts in it."""
    if not isinstance(language, str) or language not in LANGUAGES:
        raise OptionError(one_of("language:", language, LANGUAGES))
    return language


def catalogue(language: str) -> Mapping[str, Text]:
    """All texts of a language by key, read-only; plain data for JSON once it is a dict."""
    return _catalogue(check_language(language))


@cache
def _catalogue(language: str) -> Mapping[str, Text]:
    content = files(__package__).joinpath("texts.toml").read_text(encoding="utf-8")
    entries = _entries(tomllib.loads(content))
    return MappingProxyType({key: texts[language] for key, texts in entries})


def _entries(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, dict[str, Text]]]:
    """Each key with its texts by language."""
    for name, value in table.items():
        if next(iter(LANGUAGES)) in value:
            yield prefix + name, value
        else:
            yield from _entries(value, f"{prefix}{name}.")


def text(language: str, key: str, /, **values: object) -> str:
    """A text in a language, with its placeholders filled.

    Args:
        language: `en`, `de`, `hu` or `ro`; OptionError for another.
        key: of the catalogue; KeyError for another.
        values: what stands for the placeholders; `number` decides about the plural form.
    """
    found = catalogue(language)[key]
    if isinstance(found, dict):
        found = found[plural_form(language, int(str(values["number"])))]
    return found.format_map(values)


def plural_form(language: str, number: int) -> str:
    """The CLDR name of the plural form for a whole number, 0 or more: `one`, `few` or `other`."""
    if number == 1:
        return "one"
    if language == "ro" and (number == 0 or 1 <= number % 100 <= 19):
        return "few"
    return "other"


def joined(language: str, words: Iterable[object]) -> str:
    """A list of things in a sentence: `0`, `0 and 1`, `0, 1 and 2`."""
    *before, last = map(str, words)
    return f"{', '.join(before)} {text(language, 'word.and')} {last}" if before else last


def colour_key(letter: str) -> str:
    """The name of a colour in keys (`white`, ... and `dark`), by its letter, large or small."""
    return FRONT_NAMES[(COLOURS + "D").index(letter.upper())]


def prize_words(language: str, prize: PrizeScene) -> str:
    """What a prize of a scene gives: `the lowest amulet piece, 1 crystal`."""
    words = [] if prize["piece"] == "none" else [text(language, f"prize.{prize['piece']}")]
    tokens = {
        "crystal": prize["crystals"],
        "dark_dragon": prize["dark_dragons"],
        "golden_egg": prize["golden_eggs"],
    }
    words += [text(language, f"count.{token}", number=n) for token, n in tokens.items() if n]
    return ", ".join(words) or text(language, "prize.none")


def card_words(language: str, card: str) -> str:
    """What a card is, front and back: `white dragon, page 3`, `red dragon, green page`."""
    number = CARD_INDEX[card]
    if SIDE[number] == LEFT:
        back = text(language, "back.number", back=BACK[number])
    else:
        back = text(language, f"back.{COLOUR_NAMES[BACK[number]]}")
    return f"{text(language, f'front.{FRONT_NAMES[FRONT[number]]}')}, {back}"


def card_of(scene: Scene, action: str) -> str | None:
    """The card of an action that is done in a scene; None for `pass` and `column`."""
    kind, _, what = action.partition(":")
    if kind == "take":
        return next((slot["card"] for slot in scene["supply"] if slot["slot"] == what), None)
    return what if kind in ("modify", "play") else None


def action_words(
    language: str,
    action: str,
    *,
    step: str | None = None,
    card: str | None = None,
    form: Literal["told", "offer"] = "told",
) -> str:
    """What an action does.

    Args:
        language: of the words.
        action: its name; IllegalActionError for a wrong one.
        step: the step in which it is done; without it `pass` is only `passes`.
        card: the card that a `take` takes; without it the slot is named. See `card_of`.
        form: `told` of a player (`takes W3 from the supply`), or an `offer` to one (`Take W3`).
    """
    kind, _, what = ACTIONS[action_id(action)].partition(":")
    if kind == "take":
        if card is None:
            return text(language, f"{form}.slot", slot=what)
        return text(language, f"{form}.take", card=card)
    if kind == "pass":
        known = step in ("take", "modify", "play")
        return text(language, f"{form}.pass_{step}" if known else f"{form}.pass")
    if kind == "modify":
        return text(language, f"{form}.modify_{SIDES[SIDE[CARD_INDEX[what]]]}", card=what)
    if kind == "play":
        return text(language, f"{form}.play", card=what)
    return text(language, f"{form}.column_{what}")
