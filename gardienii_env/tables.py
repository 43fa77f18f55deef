"""Tables as plain text and as Markdown, for terminals, files and documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["markdown_table", "table"]

GAP = "  "
LEFT, RIGHT = "l", "r"


def table(rows: Iterable[Sequence[object]], headers: Sequence[str], align: str = "") -> str:
    """Rows in aligned columns under their headers, as lines without a break at the end.

    Args:
        rows: the cells of each row, as many as headers; shown as `str` gives them.
        headers: the head of each column.
        align: `l` or `r` for each column; columns beyond its end are aligned left.
    """
    lines = [list(headers), *_cells(rows, headers)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join(
        GAP.join(
            cell.rjust(width) if side == RIGHT else cell.ljust(width)
            for cell, width, side in zip(line, widths, _sides(headers, align), strict=True)
        ).rstrip()
        for line in lines
    )


def markdown_table(rows: Iterable[Sequence[object]], headers: Sequence[str], align: str = "") -> str:
    """The same as a table in Markdown."""
    rules = ["---:" if side == RIGHT else "---" for side in _sides(headers, align)]
    lines = [list(headers), rules, *_cells(rows, headers)]
    return "\n".join("| " + " | ".join(c.replace("|", "\\|") for c in line) + " |" for line in lines)


def _cells(rows: Iterable[Sequence[object]], headers: Sequence[str]) -> list[list[str]]:
    """All cells as text, a missing one refused."""
    return [[str(cell) for cell, _ in zip(row, headers, strict=True)] for row in rows]


def _sides(headers: Sequence[str], align: str) -> str:
    return align.ljust(len(headers), LEFT)
