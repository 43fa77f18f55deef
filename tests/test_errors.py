"""Bad input of any kind gets one sentence that can be printed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gardienii_env
from gardienii_env import Game, GardieniiError, OptionError, RecordError, Ruleset, layout
from gardienii_env.agents import make_agents
from gardienii_env.arena import duplicate_match
from gardienii_env.errors import as_index
from gardienii_env.record import dumps, loads, verify

HUGE = 10**5000
ODD: list[Any] = [None, True, 1.0, "1", HUGE, np.array([0, 1]), [], {}]


def finished_record() -> dict[str, Any]:
    game = Game.new(seed=3)
    while not game.is_over:
        game.apply(game.legal_actions()[0])
    return game.to_record()


@pytest.mark.parametrize("value", ODD, ids=lambda value: type(value).__name__)
def test_what_is_no_index_is_refused(value: Any) -> None:
    assert as_index(value) in (-1, HUGE)
    with pytest.raises(GardieniiError):
        Game.new().apply(value)
    with pytest.raises(OptionError):
        Game.new().observe(value)
    with pytest.raises(OptionError):
        layout(value)
    with pytest.raises(OptionError):
        layout(2, value)


def test_whole_numbers_of_numpy_are_indices() -> None:
    assert as_index(np.uint8(3)) == 3
    assert layout(np.int64(3)) is layout(3)  # type: ignore[arg-type]
    agents = make_agents("random", 2)
    seeds: tuple[Any, Any] = (np.uint8(255), 255)
    small, plain = (duplicate_match(agents, "gardienii", 2, seed) for seed in seeds)
    assert (small.scores == plain.scores).all()


@pytest.mark.parametrize(
    "key", ["\x1b[31mred", "two\nlines", "x" * 10_000_000], ids=["escape", "break", "long"]
)
def test_messages_can_be_printed_whatever_the_input_holds(key: str) -> None:
    record = {**finished_record(), key: 1}
    with pytest.raises(RecordError) as caught:
        verify(record)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) <= 4000


def test_a_key_that_stands_twice_is_refused(tmp_path: Path) -> None:
    text = dumps(finished_record())
    with pytest.raises(RecordError, match="'players' stands twice"):
        loads(text.replace('"players":2', '"players":3,"players":2'))
    path = tmp_path / "mine.json"
    ruleset = json.dumps(Ruleset.get("gardienii").to_dict())
    path.write_text(ruleset[:-1] + ', "crystals": 3}', encoding="utf-8")
    with pytest.raises(GardieniiError, match="'crystals' stands twice"):
        Ruleset.load(path)


def test_a_resampled_game_does_not_tell_the_deal() -> None:
    game = Game.new(3, seed=17)
    game.apply(game.legal_actions()[0])
    drawn = game.resample(1, 5)
    assert drawn.seed is None
    assert drawn.moves == []
    assert game.moves


# -- the process -----------------------------------------------------------------------------------


def command(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "gardienii_env", *words]
    return subprocess.run(line, capture_output=True, text=True, **options)


def shell(line: str, folder: Path) -> int:
    """The exit status of a line of shell, in which `$G` is the program."""
    environment = {**os.environ, "G": f"{sys.executable} -m gardienii_env"}
    return subprocess.run(["sh", "-c", line], cwd=folder, env=environment).returncode


def test_closed_streams(tmp_path: Path) -> None:
    assert shell("$G record --out a.jsonl 2>&-", tmp_path) == 0
    assert shell("$G record --out b.jsonl >&-", tmp_path) == 0
    assert (tmp_path / "a.jsonl").read_text() == (tmp_path / "b.jsonl").read_text() != ""
    assert shell("$G record --out /dev/stdout 2>/dev/null | $G verify /dev/stdin", tmp_path) == 0
    assert shell("$G record --out - >&- 2>/dev/null", tmp_path) == 2
    assert shell("$G rules >&- 2>/dev/null", tmp_path) == 2
    assert shell("$G verify none.jsonl 2>&- >out.txt", tmp_path) == 1
    assert (tmp_path / "out.txt").read_text() == ""


def test_the_mode_of_a_file_that_is_replaced_stays(tmp_path: Path) -> None:
    path = tmp_path / "private.jsonl"
    path.touch(0o600)
    assert command("record", "--out", str(path)).returncode == 0
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.stat().st_size > 0


def test_too_many_games_are_refused(tmp_path: Path) -> None:
    done = command("record", "--games", "9" * 30, "--out", str(tmp_path / "games.jsonl"))
    assert done.returncode == 2
    assert "is more than 1000000000" in done.stderr


def test_a_request_to_end_leaves_no_file(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "gardienii_env", "record", "--games", "1000000"]
    process = subprocess.Popen([*line, "--out", str(tmp_path / "games.jsonl")])
    while not any(path.stat().st_size for path in tmp_path.iterdir()):  # until games are being played
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 128 + signal.SIGTERM
    assert not list(tmp_path.iterdir())


def test_without_a_folder_to_keep_machine_code_in_everything_works(tmp_path: Path) -> None:
    package = tmp_path / "gardienii_env"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(gardienii_env.__file__).parent, package, ignore=ignored)
    for folder in [package, *(path for path in package.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").touch()  # no folder can be made there
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA")}
    environment["HOME"] = environment["XDG_CACHE_HOME"] = "/dev/null/nowhere"
    program = "from gardienii_env.rules.cards import back_name; print(back_name(0, 3))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.stdout == "3\n", done.stderr
