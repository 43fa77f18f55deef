"""What a run writes down as it goes: CSV files that can be cut back, and TensorBoard."""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from torch.utils.tensorboard import SummaryWriter

__all__ = ["CsvLog", "Log", "read_csv"]

Value = float | int | str | None


def read_csv(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file; none where there is no file. A last line that is not whole is left out."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    return list(csv.DictReader(whole.splitlines()))


class CsvLog:
    """Rows of figures by name. A name that is new makes a new column, empty in the rows before.

    Rows of later updates than `update` that are in the file already are cut off.
    """

    def __init__(self, path: Path, update: int) -> None:
        self.path = path
        old = [row for row in read_csv(path) if int(row["update"]) <= update]
        self._names = list(old[0]) if old else []
        if path.exists():
            self._rewrite(old)

    def write(self, row: Mapping[str, Value]) -> None:
        """Add a row, which has a value for `update`."""
        new = [name for name in row if name not in self._names]
        if new:
            old = read_csv(self.path)
            self._names += new
            self._rewrite(old)
        with self.path.open("a", encoding="utf-8", newline="") as file:
            csv.DictWriter(file, self._names, restval="", lineterminator="\n").writerow(row)

    def _rewrite(self, rows: list[dict[str, str]]) -> None:
        """The whole file anew, in one step."""
        part = self.path.with_suffix(".part")
        with part.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, self._names, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        part.replace(self.path)


class Log:
    """The logs of a run: `progress.csv`, a row an update; `evaluations.csv`; and TensorBoard's.

    A log that cannot be written, as on a full disk, is no reason to stop learning: it is told once.
    """

    def __init__(self, folder: Path, update: int, decisions: int) -> None:
        self._progress = CsvLog(folder / "progress.csv", update)
        self._evaluations = CsvLog(folder / "evaluations.csv", update)
        self._board = SummaryWriter(str(folder), purge_step=decisions + 1 if update else None)
        self._failed = False

    def progress(self, update: int, decisions: int, figures: Mapping[str, float]) -> None:
        """Write the figures of an update."""
        try:
            self._progress.write({"update": update, "decisions": decisions, **figures})
            self._to_board(decisions, figures)
        except OSError as error:
            self._tell(error)

    def evaluation(self, update: int, decisions: int, rows: list[dict[str, Any]]) -> None:
        """Write the figures of an evaluation, a row for each baseline."""
        try:
            for row in rows:
                self._evaluations.write({"update": update, "decisions": decisions, **row})
            shares = {f"evaluation/{row['opponent']}": row["win_share"] for row in rows}
            self._to_board(decisions, shares)
        except OSError as error:
            self._tell(error)

    def _to_board(self, decisions: int, figures: Mapping[str, float]) -> None:
        for name, value in figures.items():
            self._board.add_scalar(name, value, decisions)
        self._board.flush()

    def _tell(self, error: OSError) -> None:
        if not self._failed:
            print(
                f"warning: the log cannot be written: {error.strerror}. Learning goes on.",
                file=sys.stderr,
            )
        self._failed = True

    def __enter__(self) -> Log:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._board.close()
        except OSError as fault:
            self._tell(fault)
