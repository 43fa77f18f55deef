"""The folder of a run: what is to be played, what has been played so far, and the reports.

    run.json        the specification, see `specification.py`
    games.jsonl     a line for each chunk of deals that has been played, in any order; only added to
    records.jsonl   the games' records in order, once all have been played
    report.json     the reports, once all have been played
    report.html

A line of `games.jsonl` counts once it ends with a line break: whatever ends the program, what was
written before it stays good, and the rest is played again.
"""

from __future__ import annotations

import json
import os
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from io import FileIO
from math import isfinite
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from gardienii_env.arena.results import GAME, MatchResult, TournamentResult
from gardienii_env.arena.specification import Specification
from gardienii_env.errors import GardieniiError, OptionError
from gardienii_env.rules.state import ENDS
from gardienii_env.words import count_words

__all__ = ["Chunk", "RunFolder", "load_result"]

RUN, GAMES, RECORDS = "run.json", "games.jsonl", "records.jsonl"
BY_AGENT = ("decisions", "share", "points", "sets")
KEPT = ("end", "turns", *BY_AGENT)


@dataclass(frozen=True)
class Chunk:
    """Deals that have been played at one table, one after the other.

    Attributes:
        table: which.
        first: the first deal.
        games: shape (deals, rotations), dtype `GAME`.
        seconds: how long that took.
        records: of the games, in order, a line each without its break; None: they are not kept.
    """

    table: int
    first: int
    games: npt.NDArray[np.void]
    seconds: float
    records: list[str] | None = None

    @property
    def deals(self) -> range:
        """The deals."""
        return range(self.first, self.first + len(self.games))


@dataclass
class RunFolder:
    """A run's folder. Make one with `create` or `open`; while it is `writing`, chunks can be added.

    Errors are OptionError.
    """

    path: Path
    specification: Specification
    _file: FileIO | None = field(default=None, repr=False)
    _lines: dict[int, Chunk] | None = field(default=None, repr=False)
    """The chunks without their records, by the places of their lines; None: not read yet."""

    @classmethod
    def create(cls, path: str | Path, specification: Specification) -> RunFolder:
        """A new folder with the specification in it; one that is there already must be empty."""
        folder = Path(path)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise OptionError(
                    f"--out: the folder {folder} is not empty; give a new one, or go on with a run by "
                    f"--resume {folder}."
                )
            text = json.dumps(specification.to_dict(), indent=2, ensure_ascii=False) + "\n"
            part = folder / f".{RUN}.part"
            part.write_text(text, encoding="utf-8")
            os.replace(part, folder / RUN)
        except OSError as error:
            raise OptionError(f"--out: {folder} cannot be written: {error.strerror}.") from None
        return cls(folder, specification)

    @classmethod
    def open(cls, path: str | Path) -> RunFolder:
        """The folder of a run that was begun."""
        file = Path(path) / RUN
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
            return cls(Path(path), Specification.from_dict(data))
        except OSError as error:
            raise OptionError(
                f"{path} is not the folder of a run: {file} cannot be read: {error.strerror}."
            ) from None
        except GardieniiError as error:
            raise OptionError(f"{file}: {error}") from None
        except (ValueError, RecursionError) as error:
            raise OptionError(f"{file} is not valid JSON: {error}.") from None

    @property
    def num_played(self) -> int:
        """How many games have been played."""
        return sum(chunk.games.size for chunk in self.chunks())

    # -- reading -----------------------------------------------------------------------------------

    def chunks(self) -> list[Chunk]:
        """What has been played, in the order of tables and deals."""
        return sorted(self._read().values(), key=lambda chunk: (chunk.table, chunk.first))

    def write_records(self, file: IO[str]) -> None:
        """All records that are kept, in the order of tables, deals and rotations, a line each."""
        places = sorted((chunk.table, chunk.first, place) for place, chunk in self._read().items())
        with open(self.path / GAMES, "rb") as lines:
            for _, _, place in places:
                lines.seek(place)
                records = json.loads(lines.readline())["records"]
                file.write(zlib.decompress(b64decode(records)).decode())

    def _read(self) -> dict[int, Chunk]:
        """The lines that are whole; they are read and checked once."""
        if self._lines is not None:
            return self._lines
        path = self.path / GAMES
        lines: dict[int, Chunk] = {}
        seen: set[tuple[int, int]] = set()
        place = 0
        if path.exists():
            with _reading(path) as file:
                for number, line in enumerate(file, start=1):
                    if not line.endswith(b"\n"):
                        break  # torn
                    lines[place] = _checked_chunk(
                        line, seen, self.specification, f"{path}, line {number}"
                    )
                    place += len(line)
        self._lines = lines
        return lines

    # -- writing -----------------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Add chunks within; no other process can at the same time. A torn last line is cut off."""
        try:
            file = open(self.path / GAMES, "ab+", buffering=0)  # noqa: SIM115
        except OSError as error:
            raise self._not_written(error) from None
        with file:
            _lock(file, self.path)
            size, whole = file.seek(0, os.SEEK_END), _end_of_lines(file)
            if whole < size:
                file.truncate(whole)
            self._file = file
            self._lines = None  # another process may have written since
            yield

    def add(self, chunk: Chunk) -> None:
        """Keep a chunk: it is on the disk when this comes back."""
        assert self._file is not None
        lines, place = self._read(), self._file.seek(0, os.SEEK_END)
        line = json.dumps(_chunk_data(chunk, self.specification.players), separators=(",", ":"))
        rest = memoryview(line.encode() + b"\n")
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._not_written(error) from None
        lines[place] = replace(chunk, records=None)

    def _not_written(self, error: OSError) -> OptionError:
        return OptionError(
            f"{self.path} cannot be written: {error.strerror}. What was played before is kept; --resume "
            f"{self.path} goes on."
        )


def load_result(folder: str | Path) -> MatchResult | TournamentResult:
    """What came of the run in a folder, made by `--out`.

    OptionError if there is none, it is damaged or not finished; MissingExtraError for a tournament
    without openskill, which rates it anew.
    """
    run = RunFolder.open(folder)
    specification = run.specification
    chunks = run.chunks()
    played = sum(chunk.games.size for chunk in chunks)
    if played < specification.num_games:
        raise OptionError(
            f"{folder}: {played} of {count_words(specification.num_games, 'game')} have been played; go "
            f"on with --resume {folder}."
        )
    return specification.result(tables_of_chunks(chunks, specification))


def tables_of_chunks(chunks: Sequence[Chunk], specification: Specification) -> list[Any]:
    """The games of each table, shape (deals, rotations), from all chunks."""
    shape = (specification.deals, specification.rotations)
    tables = [np.zeros(shape, GAME) for _ in specification.seating]
    for chunk in chunks:
        tables[chunk.table][chunk.first : chunk.deals.stop] = chunk.games
    return tables


# -- a line ----------------------------------------------------------------------------------------


def _chunk_data(chunk: Chunk, players: int) -> dict[str, Any]:
    """A chunk as plain data; lists by deal, rotation and, for some, agent."""
    data: dict[str, Any] = {"table": chunk.table, "first": chunk.first}
    data["seconds"] = round(chunk.seconds, 3)
    for name in KEPT:
        values = chunk.games[name]
        data[name] = (values[:, :, :players] if name in BY_AGENT else values).tolist()
    if chunk.records is not None:
        text = "".join(f"{record}\n" for record in chunk.records)
        data["records"] = b64encode(zlib.compress(text.encode())).decode()
    return data


def _checked_chunk(
    line: bytes, seen: set[tuple[int, int]], specification: Specification, where: str
) -> Chunk:
    """The chunk of a line, whose deals are added to those seen; OptionError if it is damaged."""
    try:
        chunk = _read_chunk(line, specification)
        deals = {(chunk.table, deal) for deal in chunk.deals}
        if deals & seen:
            raise ValueError("these deals are there twice")
    except (LookupError, TypeError, ValueError, ArithmeticError, RecursionError, zlib.error) as error:
        raise OptionError(
            f"{where} is damaged ({error}); take the line out, and its deals are played again."
        ) from None
    seen |= deals
    return chunk


def _read_chunk(line: bytes, specification: Specification) -> Chunk:
    """The reverse, without the records; an error of Python's if it is not of the run."""
    data = json.loads(line)
    table, first, deals = int(data["table"]), int(data["first"]), len(data["end"])
    if not (
        0 <= table < len(specification.seating) and 0 <= first < first + deals <= specification.deals
    ):
        raise ValueError("there are no such deals")
    if specification.save_records and not isinstance(data["records"], str):
        raise ValueError("there are no records")
    players = specification.players
    games = np.zeros((deals, specification.rotations), GAME)
    games["deal"] = np.arange(first, first + deals)[:, np.newaxis]
    games["rotation"] = np.arange(players) if specification.duplicate else games["deal"] % players
    for name in KEPT:
        kept = games[name][:, :, :players] if name in BY_AGENT else games[name]
        values = np.array(data[name])
        if values.shape != kept.shape:
            raise ValueError(f"{name} has a wrong shape")
        kept[:] = values
    seconds = float(data["seconds"])
    _check_values(games, seconds, players)
    if specification.save_records:
        records = zlib.decompress(b64decode(data["records"], validate=True)).decode()
        if records.count("\n") != games.size:
            raise ValueError("there is not a record for each game")
    return Chunk(table, first, games, seconds)


def _check_values(games: npt.NDArray[np.void], seconds: float, players: int) -> None:
    """ValueError for what cannot be."""
    shares = games["share"][:, :, :players]
    counts = [games[name].min() for name in ("turns", "decisions", "sets")]
    if not (isfinite(seconds) and seconds >= 0 and min(counts) >= 0):
        raise ValueError("a count is negative, or the time is no time")
    if not (np.isin(games["end"], range(1, len(ENDS))).all() and (shares >= 0).all()):
        raise ValueError("there is no such end, or no such share")
    if not np.allclose(shares.sum(axis=-1), 1, atol=1e-6):
        raise ValueError("the shares of a game are not 1 together")


# -- files -----------------------------------------------------------------------------------------


@contextmanager
def _reading(path: Path) -> Iterator[IO[bytes]]:
    try:
        with open(path, "rb") as file:
            yield file
    except OSError as error:
        raise OptionError(f"{path} cannot be read: {error.strerror}.") from None


def _end_of_lines(file: FileIO) -> int:
    """Where the last whole line of a file ends."""
    place = file.seek(0, os.SEEK_END)
    while place > 0:
        start = max(0, place - 65536)
        file.seek(start)
        at = file.read(place - start).rfind(b"\n")
        if at >= 0:
            return start + at + 1
        place = start
    return 0


def _lock(file: FileIO, folder: Path) -> None:
    """Keep other processes from writing, where the system knows how; the lock ends with the file."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise OptionError(f"{folder} is being written by another process.") from None
    except OSError:
        return  # a file system without locks
