"""`gardienii rules`: a ruleset to read or to start a new one from, and the actions."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gardienii_env.cli.options import Commands, add_command, add_ruleset
from gardienii_env.errors import OptionError
from gardienii_env.rules.actions import ACTIONS
from gardienii_env.rules.cards import CARDS, COLOURS, NUMBERS
from gardienii_env.rules.ruleset import Ruleset
from gardienii_env.tables import table
from gardienii_env.words import action_words, prize_words

__all__ = ["add_to"]

DESCRIPTION = """\
Print a ruleset: tables to read, or the whole of it as TOML or JSON, which
every --ruleset option reads back. With --actions, print the actions instead;
they are the same in every ruleset."""

EXAMPLES = """\
  gardienii rules --ruleset dragonkeepers
  gardienii rules --format toml > mine.toml     then edit it, and use it: --ruleset mine.toml
  gardienii rules --actions"""

MEANINGS = {
    "supply_per_deck": "face-up cards in front of each deck",
    "modifications_per_turn": "cards that may be laid on the spell in a turn, at most one a side",
    "crystals_per_turn": "crystals that may be paid in a turn, for one more card each",
    "enclosed_columns_close": "whether a column between two others takes no more dragons",
    "dragons_score": "whether the cards played are worth their points",
    "crystal_points": "points of a crystal left at the end",
    "take_limit": "cards that may be taken in a turn without paying",
    "turn_limit": "turns after which the game is stopped",
    "dark_dragons": "dark dragons in the bank",
    "crystals": "crystals in the bank",
    "golden_eggs": "golden eggs in the bank",
    "egg_points": "points of a golden egg",
    "egg_majority_points": "points of one egg of each player who has most",
    "crests": "points of the crests, best first",
}
"""The fields of a ruleset that are one value each."""

MEANINGS_PER_PLAYERS = {
    "pieces_removed": "amulet pieces removed at random before the game",
    "amulets_to_end": "amulets of all players together that end the game",
}
"""The fields of a ruleset that have a value for each number of players."""

PILES = ("left_deck", "right_deck", "starting_cards")
FRONTS = COLOURS + "D"
BACKS = "".join(map(str, range(1, NUMBERS + 1))) + COLOURS.lower()


def add_to(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands, run, "rules", "print a ruleset, or the actions", DESCRIPTION, EXAMPLES
    )
    add_ruleset(parser)
    parser.add_argument(
        "--format", choices=FORMATS, default="table", help="form of the output (default: %(default)s)"
    )
    parser.add_argument("--actions", action="store_true", help="print the actions, as a table")


def run(args: Namespace) -> int:
    """Print the ruleset or the actions."""
    if not args.actions:
        print(FORMATS[args.format](Ruleset.get(args.ruleset)))
    elif args.format == "table":
        print(actions_table())
    else:
        raise OptionError(f"--format: {args.format!r} does not go with --actions, which is a table.")
    return 0


def actions_table() -> str:
    """The actions by id."""
    rows = [(action, name, action_words(action)) for action, name in enumerate(ACTIONS)]
    return table(rows, ("id", "name", "meaning"), "rll")


# -- a ruleset in tables ---------------------------------------------------------------------------


def as_table(ruleset: Ruleset) -> str:
    """A ruleset as tables to read."""
    return "\n\n".join(_sections(ruleset))


def _sections(ruleset: Ruleset) -> Iterator[str]:
    yield f"Ruleset {ruleset.name}"
    settings = [(name, _setting(getattr(ruleset, name)), MEANINGS[name]) for name in MEANINGS]
    yield table(settings, ("setting", "value", "meaning"), "lr")
    yield _per_players(ruleset)
    yield f"Cards by front (row) and back (column)\n\n{_cards(ruleset)}"
    yield _by_points("Amulet pieces", ruleset.amulet_pieces)
    yield _by_points("Pearls", ruleset.pearls)
    prizes = [(number, prize_words(prize)) for number, prize in sorted(ruleset.prizes.items())]
    yield table(prizes, ("number", "prize"), "r")


def _setting(value: bool | int | tuple[int, ...]) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return str(value)


def _per_players(ruleset: Ruleset) -> str:
    numbers = sorted(ruleset.amulets_to_end)
    rows = [
        (name, *(getattr(ruleset, name)[n] for n in numbers), MEANINGS_PER_PLAYERS[name])
        for name in MEANINGS_PER_PLAYERS
    ]
    return table(rows, ("players", *numbers, "meaning"), "lrrr")


def _cards(ruleset: Ruleset) -> str:
    """How many cards of each front and back each pile holds, and what they are worth."""
    rows: list[tuple[object, ...]] = []
    for pile in PILES:
        counts: Mapping[str, int] = getattr(ruleset, pile)
        for front in FRONTS:
            row = [counts.get(front + back, 0) for back in BACKS]
            if any(row):
                rows.append((pile, front, *(count or "" for count in row), sum(row)))
        rows.append((pile, "all", *[""] * len(BACKS), sum(counts.values())))
    worth = {card[1]: points for card, points in zip(CARDS, ruleset.rules[0]["card_value"], strict=True)}
    rows.append(("points of a card played", "", *(worth[back] for back in BACKS), ""))
    return table(rows, ("pile", "front", *BACKS, "cards"), "ll" + "r" * (len(BACKS) + 1))


def _by_points(title: str, counts: Mapping[str, int]) -> str:
    points = sorted(counts, key=int)
    row = ("count", *(counts[p] for p in points))
    by_points = table([row], ("points", *points), "l" + "r" * len(points))
    return f"{title}: {sum(counts.values())}\n\n{by_points}"


# -- a ruleset as a file ---------------------------------------------------------------------------


def as_json(ruleset: Ruleset) -> str:
    """A ruleset as JSON."""
    return json.dumps(ruleset.to_dict(), ensure_ascii=False, indent=2)


def as_toml(ruleset: Ruleset) -> str:
    """A ruleset as TOML."""
    return "\n".join(_toml_lines(ruleset.to_dict()))


def _toml_lines(data: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[str]:
    """A table of TOML: its values, then the tables in it. Its keys need no quotes.

    Numbers, texts, lists and truth values are written as in JSON; a name has no control characters.
    """
    tables = {key: value for key, value in data.items() if isinstance(value, Mapping)}
    for key, value in data.items():
        if key not in tables:
            yield f"{key} = {json.dumps(value, ensure_ascii=False)}"
    for key, value in tables.items():
        yield f"\n[{'.'.join((*path, key))}]"
        yield from _toml_lines(value, (*path, key))


FORMATS: dict[str, Callable[[Ruleset], str]] = {
    "table": as_table,
    "toml": as_toml,
    "json": as_json,
}
