"""Games of a person against agents, and the folder that keeps them.

Each game has an id, which others may know, and a key, which only the person's browser knows. A game is
kept in the file `ID.json` from its first moment, so that it goes on after the server was started anew;
once it is over its record is kept too, in `ID.jsonl`. Nothing here waits: agents think elsewhere.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hmac import compare_digest
from pathlib import Path
from typing import Any

from gardienii_env.errors import GardieniiError, OptionError, shown
from gardienii_env.game import Game
from gardienii_env.jsontext import parse_json
from gardienii_env.record import dumps, replay
from gardienii_env.rules.ruleset import MAX_PLAYERS, MIN_PLAYERS, Ruleset

__all__ = ["Games", "PersonsGame", "TooManyGamesError"]

ID = re.compile(r"[0-9a-f]{16}")
SEED_BITS = 63


class TooManyGamesError(GardieniiError):
    """No further game can be begun."""


@dataclass
class PersonsGame:
    """A game of a person against agents."""

    id: str
    key: str
    game: Game
    seat: int
    """The person's."""
    opponents: tuple[str, ...]
    """The other seats' agents, in the order of the seats."""
    chance: int
    """The seed of what agents draw."""
    error: str | None = None
    """Why an agent could not go on; None: it can."""
    kept: bool = True
    """Whether what was done last is on disk."""
    thinking: bool = False
    """Whether agents are deciding."""
    waiting: set[Any] = field(default_factory=set)
    """What is to be woken when something changes: see `server.py`."""

    def agent(self, seat: int) -> str:
        """Which agent plays for a seat that is not the person's."""
        return self.opponents[seat - (seat > self.seat)]

    @property
    def names(self) -> list[str | None]:
        """Who plays at each seat; None is the person."""
        seats = range(self.game.num_players)
        return [None if seat == self.seat else self.agent(seat) for seat in seats]

    def seed(self) -> int:
        """The seed of what is drawn for the decision that comes next."""
        return self.chance + len(self.game.moves)

    def to_data(self) -> dict[str, Any]:
        """The game as plain data for its file."""
        return {
            "key": self.key,
            "seat": self.seat,
            "opponents": list(self.opponents),
            "chance": self.chance,
            "record": self.game.to_record(),
        }

    @classmethod
    def from_data(cls, name: str, data: Any) -> PersonsGame:
        """The game from such data; OptionError or RecordError if they are not right."""
        fields = {"key": str, "seat": int, "opponents": list, "chance": int, "record": dict}
        if not isinstance(data, dict) or any(not isinstance(data.get(k), t) for k, t in fields.items()):
            raise OptionError(f"{name} is not a game that was kept here.")
        game = replay(data["record"])
        opponents = tuple(data["opponents"])
        if data["seat"] not in range(game.num_players) or len(opponents) != game.num_players - 1:
            raise OptionError(f"{name}: seat and opponents do not fit the number of players.")
        if not data["key"].isascii():
            raise OptionError(f"{name}: the key is none that was given out here.")
        return cls(name, data["key"], game, data["seat"], opponents, data["chance"])


class Games:
    """The games of a server. They are kept in a folder, and those that were used last in memory too.

    No other server can use the folder until `close`, where the system has file locks.

    Args:
        folder: where they are kept; it is made if it is not there. OptionError if it cannot be, or if
            another server uses it.
        most: how many games the folder may hold before no new one is begun.
        in_memory: how many of them are kept in memory.
    """

    def __init__(self, folder: str | Path, most: int = 10_000, in_memory: int = 200) -> None:
        self.folder = Path(folder)
        self.most, self.in_memory = most, in_memory
        self._games: OrderedDict[str, PersonsGame] = OrderedDict()
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._count = self._count_files()
            if not os.access(self.folder, os.W_OK | os.X_OK):
                raise PermissionError(13, "it is write-protected")
            self._lock = _locked(self.folder)
        except OSError as error:
            raise OptionError(
                f"--games: {str(folder)!r} cannot be the folder of games: {error.strerror}."
            ) from None

    def close(self) -> None:
        """Write what could not be written before, if it can be now, and leave the folder to others."""
        for game in self._games.values():
            if not game.kept:
                with suppress(OSError):
                    self.keep(game)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _count_files(self) -> int:
        return sum(1 for _ in self.folder.glob("*.json"))

    def new(
        self, ruleset: Ruleset, players: int, opponents: Sequence[str], seat: int | None
    ) -> PersonsGame:
        """Begin a game, the person at a seat (None: one that is drawn).

        OptionError if the numbers do not fit, TooManyGamesError if the folder is full.
        """
        if not MIN_PLAYERS <= players <= MAX_PLAYERS:
            raise OptionError(f"players: {shown(players)} is not one of 2, 3, 4.")
        if len(opponents) != players - 1:
            raise OptionError(f"opponents: {len(opponents)} for {players} players; give {players - 1}.")
        if seat is not None and not 0 <= seat < players:
            raise OptionError(f"seat: {shown(seat)} is not a seat from 0 to {players - 1}.")
        if self._count >= self.most:
            self._count = self._count_files()
        if self._count >= self.most:
            raise TooManyGamesError(
                f"The server holds {self._count} games; its owner has to remove some from its folder."
            )
        game = Game.new(players, ruleset, secrets.randbits(SEED_BITS))
        place = secrets.randbelow(players) if seat is None else seat
        chance = secrets.randbits(SEED_BITS)
        new = PersonsGame(
            secrets.token_hex(8), secrets.token_urlsafe(24), game, place, tuple(opponents), chance
        )
        self.keep(new)
        self._count += 1
        self._remember(new)
        return new

    def find(self, name: str, key: str) -> PersonsGame | None:
        """The game of this id, if there is one and this is its key."""
        if ID.fullmatch(name) is None:
            return None
        found = self._games.get(name) or self._read(name)
        if found is None or not compare_digest(found.key.encode(), key.encode()):
            return None
        self._remember(found)
        return found

    def keep(self, game: PersonsGame) -> None:
        """Write the game to its file, and its record once it is over. OSError if that cannot be done."""
        self._write(f"{game.id}.json", json.dumps(game.to_data(), separators=(",", ":")))
        if game.game.is_over:
            self._write(f"{game.id}.jsonl", dumps(game.game.to_record()))

    def _write(self, name: str, text: str) -> None:
        """Write a file that only its owner can read; the old one stays until the new one is complete."""
        part = self.folder / f".{name}.part"
        with open(part, "w", encoding="utf-8", newline="\n", opener=_private) as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, self.folder / name)

    def _read(self, name: str) -> PersonsGame | None:
        """A game that is not in memory; None if there is none, or its file was spoilt."""
        try:
            text = (self.folder / f"{name}.json").read_text(encoding="utf-8")
            return PersonsGame.from_data(name, parse_json(text))
        except (OSError, ValueError, RecursionError):
            return None

    def _remember(self, game: PersonsGame) -> None:
        self._games[game.id] = game
        self._games.move_to_end(game.id)
        too_many = len(self._games) - self.in_memory
        idle = [name for name, other in self._games.items() if _is_idle(other) and other is not game]
        for name in idle[: max(too_many, 0)]:
            del self._games[name]


def _is_idle(game: PersonsGame) -> bool:
    """Whether all of the game is on disk and nothing goes on in it."""
    return game.kept and not game.thinking and not game.waiting


def _locked(folder: Path) -> int | None:
    """A descriptor that keeps other servers from the folder while it is open; OSError if one has it."""
    try:
        import fcntl
    except ImportError:
        return None
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise BlockingIOError(11, "another server uses it; give this one another folder") from None
    except OSError:
        pass  # a file system without locks
    return descriptor


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
