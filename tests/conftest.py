"""Options of the test suite."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--reference-games",
        type=int,
        default=1200,
        metavar="N",
        help="games to play on the engine and the reference, over all rulesets and numbers of players",
    )
