"""Tables as text and as Markdown."""

from __future__ import annotations

import pytest

from gardienii_env.tables import markdown_table, table

ROWS = [("ruby", 7, True), ("a b", 1200, "")]
HEADERS = ("name", "n", "note")


def test_columns_are_as_wide_as_their_widest_cell_and_aligned_as_asked() -> None:
    assert table(ROWS, HEADERS, "lr") == (
        "name     n  note\n"
        "----  ----  ----\n"
        "ruby     7  True\n"
        "a b   1200"
    )  # fmt: skip


def test_columns_are_aligned_left_unless_asked_otherwise() -> None:
    assert table(ROWS, HEADERS).splitlines()[2] == "ruby  7     True"


def test_no_rows_leave_the_headers() -> None:
    assert table([], ("a", "bcd")) == "a  bcd\n-  ---"
    assert markdown_table([], ("a", "bcd")) == "| a | bcd |\n| --- | --- |"


def test_markdown_tells_the_alignment_and_escapes_bars() -> None:
    assert markdown_table([*ROWS, ("x|y", 0, "z")], HEADERS, "lr") == (
        "| name | n | note |\n"
        "| --- | ---: | --- |\n"
        "| ruby | 7 | True |\n"
        "| a b | 1200 |  |\n"
        "| x\\|y | 0 | z |"
    )


@pytest.mark.parametrize("row", [("ruby", 7), ("ruby", 7, "", "")])
def test_a_row_of_another_length_is_refused(row: tuple[object, ...]) -> None:
    with pytest.raises(ValueError, match="zip"):
        table([row], HEADERS)
    with pytest.raises(ValueError, match="zip"):
        markdown_table([row], HEADERS)
