"""The golden boards are what the program draws."""

from __future__ import annotations

import pytest
from boards import FILES, FOLDER


@pytest.mark.parametrize("name", FILES)
def test_the_boards_are_as_they_were(name: str) -> None:
    """`python tests/render/boards.py` writes them anew."""
    assert FILES[name]() == (FOLDER / name).read_text(encoding="utf-8")


def test_there_are_no_other_boards() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(FILES)
