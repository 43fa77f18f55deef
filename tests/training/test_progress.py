"""Progress bars: redrawn on a terminal, lines elsewhere."""

from __future__ import annotations

import io
import sys

import pytest

from training.progress import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_without_a_terminal_a_bar_is_a_few_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(20_000, "learning") as bar:
        for _ in range(200):
            bar.update(100)
        bar.set_postfix(score=7)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert "\r" not in err
    assert 2 <= len(lines) < 10
    assert all(line.startswith("learning") for line in lines)
    assert "20.0k/20.0k" in lines[-1]
    assert "score=7" in lines[-1]


def test_on_a_terminal_it_is_redrawn_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress(20, "playing", "games") as bar:
        bar.update(20)
    assert terminal.getvalue().count("\n") == 1
    assert terminal.getvalue().split("\r")[-1].startswith("playing")
    assert "20/20" in terminal.getvalue()
    assert "games/s" in terminal.getvalue()
