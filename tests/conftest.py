"""Options of the test suite, and the program as a fixture."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from helpers import Program, Result

from gardienii_env.cli import main


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--reference-games",
        type=int,
        default=1200,
        metavar="N",
        help="games to play on the engine and the reference, over all rulesets and numbers of players",
    )


# Where tests run in the background SIGINT may be ignored, and programs that they start inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def gardienii(capsys: pytest.CaptureFixture[str]) -> Program:
    """Runs the program in this process."""

    def run(*arguments: str | Path) -> Result:
        try:
            status: object = main([str(argument) for argument in arguments])
        except SystemExit as end:
            status = end.code
        return Result(status, *capsys.readouterr())

    return run
