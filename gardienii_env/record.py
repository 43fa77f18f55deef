"""Game records: one game as one JSON object, one line of a `.jsonl` file.

The format is described in `docs/rules.md`. Reading refuses what is not a whole, legal game: unknown
keys, an impossible deal, a move that is not legal (with its number, from 0), a final that differs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gardienii_env.errors import (
    GardieniiError,
    IllegalActionError,
    RecordError,
    one_of,
    shown,
)
from gardienii_env.jsontext import parse_json
from gardienii_env.rules.actions import ACTIONS
from gardienii_env.rules.ruleset import MAX_PLAYERS, MIN_PLAYERS, SHIPPED, Ruleset

if TYPE_CHECKING:
    from gardienii_env.game import Game

__all__ = [
    "FORMAT",
    "VERSION",
    "dumps",
    "final",
    "loads",
    "read_file",
    "read_lines",
    "replay",
    "verify",
    "write",
]

FORMAT = "gardienii-record"
VERSION = 1
KEYS = ("format", "version", "ruleset", "players", "seed", "deal", "moves", "final")
MOVE_KEYS = ("player", "action", "legal")


def write(game: Game, with_legal: bool = False) -> dict[str, Any]:
    """The record of a game. Without `final` while the game is on."""
    record: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "ruleset": game.ruleset.reference(),
        "players": game.num_players,
        "seed": game.seed,
        "deal": game.deal(),
        "moves": [{"player": seat, "action": ACTIONS[action]} for seat, action in game.moves],
    }
    if with_legal:
        from gardienii_env.game import Game

        again = Game.from_deal(record["deal"], game.num_players, game.ruleset)
        for move in record["moves"]:
            move["legal"] = again.legal_actions()
            again.apply(move["action"])
    if game.is_over:
        record["final"] = final(game)
    return record


def final(game: Game) -> dict[str, Any]:
    """How a game ended, as in its record."""
    return {
        "end": game.end,
        "turns": game.turns,
        "scores": game.scores(),
        "winners": game.winners(),
        "payoffs": game.payoffs(),
        "points": game.points(),
    }


def dumps(record: Mapping[str, Any]) -> str:
    """The record as one line of JSON, without the line break."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def read_file(path: str | Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The records of a `.jsonl` file with the numbers of their lines, from 1.

    Raises RecordError for a file or line that cannot be read.
    """
    for number, line in read_lines(path):
        try:
            record = loads(line)
        except RecordError as error:
            raise RecordError(f"{path}, line {number}: {error}") from None
        yield number, record


def read_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """The lines of a `.jsonl` file with their numbers, from 1; blank ones left out.

    Raises RecordError if the file cannot be read.
    """
    try:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, line
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise RecordError(f"{path} is not UTF-8 text: {error.reason}.") from None


def loads(line: str) -> dict[str, Any]:
    """The record in a line of JSON; RecordError if there is none. `verify` tells whether it is right."""
    try:
        record = parse_json(line)
    except (ValueError, RecursionError) as error:
        cut = " The line is cut off." if not line.endswith("\n") else ""
        raise RecordError(f"not valid JSON: {error}.{cut}") from None
    if not isinstance(record, dict):
        raise RecordError(f"expected a JSON object, not {line.strip()[:40]}.")
    return record


def replay(record: Mapping[str, Any], moves: int | None = None) -> Game:
    """Play a record again, as far as its first `moves` moves (None: all, and compare its final)."""
    _check_head(record)
    count = len(record["moves"])
    if moves is not None and not (_is_whole(moves) and 0 <= moves <= count):
        raise RecordError(f"moves: {shown(moves)} is not a number from 0 to {count}, all of the record.")
    game = _begin(record)
    for k, move in enumerate(record["moves"][:moves]):
        _check_move(game, k, move)
        try:
            game.apply(move["action"])
        except IllegalActionError as error:
            raise RecordError(f"move {k}: {error}", k) from None
    if moves is None and "final" in record:
        _check_final(game, record)
    return game


def verify(record: Mapping[str, Any]) -> Game:
    """Replay a record to its end and compare the final; RecordError at the first difference."""
    game = replay(record)
    _check_is_over(game)
    if "final" not in record:
        raise RecordError("final: missing, though the game is over.")
    return game


def _begin(record: Mapping[str, Any]) -> Game:
    """The game of a record before its first move."""
    from gardienii_env.game import Game

    try:
        ruleset = Ruleset.get(record["ruleset"])
    except GardieniiError as error:
        raise RecordError(f"ruleset.{error}") from None
    try:
        return Game.from_deal(record["deal"], record["players"], ruleset, record["seed"])
    except GardieniiError as error:
        raise RecordError(str(error)) from None


# -- checks ----------------------------------------------------------------------------------------


def _check_keys(where: str, value: Mapping[str, Any], keys: tuple[str, ...], optional: int = 0) -> None:
    """Exactly `keys`, of which the last `optional` may be missing."""
    prefix = f"{where}." if where else ""
    for key in value:
        if key not in keys:
            raise RecordError(
                f"{prefix}{key}: " + one_of(f"the key of {where or 'a record'}", key, keys)
            )
    for key in keys[: len(keys) - optional]:
        if key not in value:
            raise RecordError(f"{prefix}{key}: missing.")


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _same(given: object, expected: object) -> bool:
    """Equal as plain data. Where a fraction is expected a whole number will do, but not the reverse."""
    if isinstance(given, Mapping) and isinstance(expected, Mapping):
        return given.keys() == expected.keys() and all(_same(given[k], expected[k]) for k in expected)
    if isinstance(given, list) and isinstance(expected, list):
        return len(given) == len(expected) and all(map(_same, given, expected))
    kinds = (int, float) if isinstance(expected, float) else (type(expected),)
    return type(given) in kinds and given == expected


def _check_head(record: object) -> None:
    if not isinstance(record, Mapping):
        raise RecordError(f"A record is an object with named fields, not {shown(record)}.")
    if not _same(record.get("format"), FORMAT):
        given = shown(record.get("format"))
        raise RecordError(f"format: {given} is not {FORMAT!r}: this is not a game record.")
    if not _same(record.get("version"), VERSION):
        given = shown(record.get("version"))
        raise RecordError(f"version: {given} is not known; this program reads version {VERSION}.")
    _check_keys("", record, KEYS, optional=1)
    ruleset, players = record["ruleset"], record["players"]
    if not isinstance(ruleset, Mapping) and not (isinstance(ruleset, str) and ruleset in SHIPPED):
        # Not the path of a file, which would be read from the reader's disk.
        hint = "Any other ruleset is written out as an object."
        raise RecordError(f"ruleset: {one_of('the ruleset', ruleset, SHIPPED)} {hint}")
    if not (_is_whole(players) and MIN_PLAYERS <= players <= MAX_PLAYERS):
        raise RecordError(f"players: {shown(players)} is not one of 2, 3, 4.")
    if not isinstance(record["moves"], list):
        raise RecordError(f"moves: {shown(record['moves'])} is not a list.")


def _check_move(game: Game, k: int, move: object) -> None:
    if not isinstance(move, Mapping):
        raise RecordError(f"move {k}: {shown(move)} is not an object with player and action.", k)
    try:
        _check_keys(f"moves[{k}]", move, MOVE_KEYS, optional=1)
    except RecordError as error:
        raise RecordError(f"move {k}: {error}", k) from None
    if not isinstance(move["action"], str):
        raise RecordError(f"move {k}: the action {shown(move['action'])} is not a name.", k)
    if game.is_over:
        raise RecordError(f"move {k}: {shown(move['action'])}, but the game is over.", k)
    if not _same(move["player"], game.player):
        raise RecordError(
            f"move {k}: player {shown(move['player'])}, but seat {game.player} decides.", k
        )
    if "legal" in move and not _same(move["legal"], game.legal_actions()):
        raise RecordError(
            f"move {k}: the legal actions given are {shown(move['legal'])}; the game has "
            f"{game.legal_actions()!r}.",
            k,
        )


def _check_is_over(game: Game) -> None:
    if not game.is_over:
        count = len(game.moves)
        raise RecordError(f"move {count}: missing; the game is not over after {count} moves.", count)


def _check_final(game: Game, record: Mapping[str, Any]) -> None:
    _check_is_over(game)
    expected, given = final(game), record["final"]
    if not isinstance(given, Mapping):
        raise RecordError(f"final: {shown(given)} is not an object.")
    _check_keys("final", given, tuple(expected))
    for key, value in expected.items():
        if not _same(given[key], value):
            raise RecordError(f"final.{key}: {shown(given[key])}; the game gives {value!r}.")
