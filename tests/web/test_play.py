"""Playing in the terminal, with what a person types given as text."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers import Program, Result

from gardienii_env import Game, OptionError
from gardienii_env.cli import play
from gardienii_env.cli.play import meant
from gardienii_env.record import read_file, verify

Typing = Callable[..., Result]


class Input(io.StringIO):
    """What is typed; `^C` is Ctrl-C."""

    def readline(self, size: int | None = -1) -> str:  # type: ignore[override]
        line = super().readline()
        if line.strip() == "^C":
            raise KeyboardInterrupt
        return line


@pytest.fixture
def typing(gardienii: Program, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Typing:
    """Runs `gardienii play` with lines that are typed."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))

    def run(lines: list[str], *options: str | Path) -> Result:
        monkeypatch.setattr(sys, "stdin", Input("".join(line + "\n" for line in lines)))
        return gardienii("play", *options)

    return run


def test_a_whole_game(typing: Typing, tmp_path: Path) -> None:
    out = tmp_path / "mine.jsonl"
    result = typing(
        ["#1"] * 300, "--agents", "greedy,random", "--seed", "5", "--seat", "1", "--out", out
    )
    assert result.status == 0
    ((_, record),) = read_file(out)
    game = verify(record)
    assert game.num_players == 3
    assert record["seed"] == 5
    assert "The game is over after" in result.out
    assert "Seat 0 (greedy) takes " in result.out
    assert "gardienii replay" in result.err
    again = typing(["#1"] * 300, "--agents", "greedy,random", "--seed", "5", "--seat", "1", "--out", "-")
    assert again.out.splitlines()[-1] == out.read_text().strip()


def test_every_way_to_name_an_action(typing: Typing, tmp_path: Path) -> None:
    out = tmp_path / "mine.jsonl"
    result = typing(["1", "take:L0", "TAKE:R1", "#1"], "--seed", "5", "--out", out)
    ((_, record),) = read_file(out)
    assert [move["action"] for move in record["moves"]][:3] == ["take:L1", "take:L0", "take:R1"]
    assert result.status == 0


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        ("0", "take:L0"),
        ("4", "pass"),
        ("#2", "pass"),
        ("# 1", "take:L0"),
        ("pass", "pass"),
        ("Take:l0", "take:L0"),
        ("2", None),
        ("#0", None),
        ("#3", None),
        ("#", None),
        ("-1", None),
        ("٤", None),
        ("#²", None),
        ("take", None),
        ("9" * 5000, None),
        ("#" + "9" * 5000, None),
    ],
)
def test_what_an_answer_means(answer: str, action: str | None) -> None:
    assert meant(answer, ["take:L0", "pass"]) == action


def test_what_is_no_action_changes_nothing(typing: Typing, tmp_path: Path) -> None:
    out = tmp_path / "mine.jsonl"
    lines = [
        "",
        "x",
        "99",
        "column:left",
        "help",
        "board",
        "hint",
        "hint chess",
        "hint sb3:x.zip",
        "quit",
    ]
    result = typing(lines, "--seed", "5", "--out", out)
    assert result.status == 0
    assert result.out.count("is no legal action") == 3
    assert "hint NAME" in result.out
    assert re.search(r"^planner: take:", result.out, re.MULTILINE)
    assert "'chess' is not known" in result.out
    assert "--trust" in result.out
    ((_, record),) = read_file(out)
    assert record["moves"] == []


def test_a_hint_of_a_search_has_numbers(typing: Typing) -> None:
    result = typing(["hint planner", "hint ismcts:30"], "--seed", "5")
    assert re.search(r"take:\S+ +-\d+\.\d\d points", result.out)
    assert re.search(r"take:\S+ +\d+%, \d+ visits, value [+-]", result.out)


@pytest.mark.parametrize("end", ["quit", "^C", None])
def test_a_game_that_is_left_is_kept_and_goes_on(
    typing: Typing, tmp_path: Path, end: str | None
) -> None:
    out = tmp_path / "mine.jsonl"
    left = typing(["0", "0", *([end] if end else [])], "--seed", "5", "--out", out)
    assert left.status == 0
    assert f"gardienii play --resume {out} --agents greedy" in left.err
    ((_, before),) = read_file(out)
    assert len(before["moves"]) == 2
    assert "final" not in before
    on = typing(["#1"] * 300, "--resume", out, "--agents", "greedy")
    assert on.status == 0
    ((_, after),) = read_file(out)
    assert after["moves"][:2] == before["moves"]
    verify(after)


def test_everything_is_told_in_the_language(typing: Typing, tmp_path: Path) -> None:
    out = tmp_path / "mine.jsonl"
    lines = ["x", "help", "hint ismcts:20", "quit"]
    result = typing(lines, "--seed", "5", "--language", "de", "--out", out)
    for told in ("'x' ist keine erlaubte Aktion", "was ein Agent täte", " Besuche, Wert "):
        assert told in result.out
    assert "Das Spielprotokoll kommt in" in result.err
    assert f"gardienii play --resume {out} --agents greedy --language de" in result.err
    on = typing(["#1"] * 300, "--resume", out, "--language", "de")
    assert "Zum Ansehen: gardienii replay" in on.err
    assert "--language de" in on.err
    assert re.search(
        r"^Spieler 1 \(greedy\) spielt .* aus \(.*\); erhält: ein Teil mit", on.out, re.MULTILINE
    )


def test_without_a_file_it_goes_to_a_new_one(typing: Typing, tmp_path: Path) -> None:
    for _ in range(2):
        assert typing(["quit"]).status == 0
    kept = sorted((tmp_path / "data" / "gardienii-games").iterdir())
    assert [file.name for file in kept] == ["played-1.jsonl", "played-2.jsonl"]


def test_a_game_is_kept_after_every_decision(
    typing: Typing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the file holds when the other seat is asked is what has been done by the person."""
    (tmp_path / "overlooking.py").write_text(
        "from pathlib import Path\n"
        "def choose(game, rng):\n"
        "    with Path('seen.jsonl').open('a') as seen:\n"
        "        seen.write(Path('mine.jsonl').read_text())\n"
        "    return game.legal_actions()[0]\n"
    )
    monkeypatch.chdir(tmp_path)
    typing(["#1"] * 9, "--agents", "python:overlooking:choose", "--seed", "5", "--out", "mine.jsonl")
    moves = [record["moves"] for _, record in read_file(tmp_path / "seen.jsonl")]
    assert all(kept[-1]["player"] == 0 for kept in moves)
    assert len({len(kept) for kept in moves}) > 1


def test_what_hinders_writing_in_mid_game_does_not_end_it(
    typing: Typing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep, times = play._keep, []

    def hindered(game: Game, out: str) -> None:
        times.append(out)
        if len(times) == 3:
            raise OptionError("--out: the disk is full.")
        keep(game, out)

    monkeypatch.setattr(play, "_keep", hindered)
    out = tmp_path / "mine.jsonl"
    result = typing(["#1"] * 300, "--seed", "5", "--out", out)
    assert result.status == 0
    assert "the disk is full" in result.err
    ((_, record),) = read_file(out)
    verify(record)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_is_given_the_record_once(typing: Typing, tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    result = typing(["#1", "#1", "quit"], "--seed", "5", "--out", pipe)
    assert result.status == 0
    assert "--resume" not in result.err
    reader.join(20)
    assert len(read[0].splitlines()) == 1


def test_a_record_that_cannot_be_written_at_last_goes_elsewhere(
    typing: Typing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = play._keep

    def hindered(game: Game, out: str) -> None:
        if (len(game.moves) and out == str(mine)) or (out != str(mine) and out != "-" and hopeless):
            raise OptionError("--out: the disk is full.")
        keep(game, out)

    monkeypatch.setattr(play, "_keep", hindered)
    mine, hopeless = tmp_path / "mine.jsonl", False
    result = typing(["#1", "#1", "quit"], "--seed", "5", "--out", mine)
    assert result.status == 2
    assert "the disk is full" in result.err
    other = tmp_path / "data" / "gardienii-games" / "played-1.jsonl"
    assert str(other) in result.err
    assert "--resume" not in result.err
    ((_, record),) = read_file(other)
    assert len(record["moves"]) == 2
    mine.unlink()
    hopeless = True
    result = typing(["#1", "#1", "quit"], "--seed", "5", "--out", mine)
    assert result.status == 2
    assert json.loads(result.out.splitlines()[-1])["moves"] == record["moves"]


@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="the system has no device that is always full"
)
def test_standard_output_that_takes_nothing_loses_nothing(tmp_path: Path) -> None:
    line = f"printf '#1\\n#1\\nquit\\n' | {sys.executable} -m gardienii_env play --seed 5 --out -"
    environment = os.environ | {"XDG_DATA_HOME": str(tmp_path)}
    for end in (">/dev/full", "| true"):
        subprocess.run(["sh", "-c", f"{line} {end}"], env=environment, capture_output=True, check=False)
    for number in (1, 2):
        ((_, record),) = read_file(tmp_path / "gardienii-games" / f"played-{number}.jsonl")
        assert len(record["moves"]) <= 2


def test_a_folder_is_told_at_once(typing: Typing, tmp_path: Path) -> None:
    result = typing(["#1"], "--seed", "5", "--out", tmp_path)
    assert result.status == 2
    assert "cannot be written" in result.err
    assert result.out == ""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_cannot_keep_a_game_that_goes_on(typing: Typing, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    result = typing(["#1"], "--resume", tmp_path / "pipe")
    assert result.status == 2
    assert "give a file for it by --out" in result.err


@pytest.mark.parametrize("option", ["--seed", "--ruleset"])
def test_a_game_that_goes_on_keeps_its_deal(typing: Typing, tmp_path: Path, option: str) -> None:
    mine = tmp_path / "mine.jsonl"
    typing(["#1", "quit"], "--seed", "5", "--out", mine)
    result = typing(["#1"], "--resume", mine, option, "5")
    assert result.status == 2
    assert f"{option}: a game that goes on" in result.err


def test_without_an_input_the_game_is_kept(
    typing: Typing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gardienii: Program
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    mine = tmp_path / "mine.jsonl"
    assert gardienii("play", "--seed", "5", "--out", mine).status == 0
    ((_, record),) = read_file(mine)
    assert not record["moves"]


def test_an_agent_that_fails_loses_nothing(
    typing: Typing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "failing.py").write_text("def choose(game, rng):\n    raise RuntimeError('no idea')\n")
    monkeypatch.chdir(tmp_path)
    result = typing(
        ["#1"] * 9, "--agents", "python:failing:choose", "--seed", "5", "--out", "mine.jsonl"
    )
    assert result.status == 2
    assert "no idea" in result.err
    ((_, record),) = read_file(tmp_path / "mine.jsonl")
    assert record["moves"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--agents", "greedy,greedy,greedy,greedy"], "4 opponents"),
        (["--agents", "gredy"], "Did you mean 'greedy'?"),
        (["--seat", "2"], "--seat: 2 is not a seat"),
        (["--ruleset", "chess"], "chess"),
        (["--out", "there.jsonl"], "is there already"),
        (["--out", "nowhere/x.jsonl"], "cannot be written"),
        (["--resume", "nothing.jsonl"], "cannot be read"),
        (["--resume", "two.jsonl"], "holds other games too"),
        (["--resume", "one.jsonl", "--agents", "greedy,greedy"], "has 2 players"),
    ],
)
def test_what_is_wrong_is_told(
    typing: Typing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], told: str
) -> None:
    from gardienii_env.record import dumps

    monkeypatch.chdir(tmp_path)
    line = dumps(Game.new(seed=1).to_record()) + "\n"
    for name, text in (("there", "old\n"), ("one", line), ("two", line * 2)):
        (tmp_path / f"{name}.jsonl").write_text(text)
    before = {file: file.read_bytes() for file in tmp_path.glob("*.jsonl")}
    result = typing(["quit"], *options)
    assert result.status == 2
    assert told in result.err
    assert {file: file.read_bytes() for file in tmp_path.glob("*.jsonl")} == before


def test_others_hands_are_not_shown(typing: Typing) -> None:
    """The same lines and the same board, whatever the others were dealt."""
    shown = typing(["board", "quit"], "--seed", "5", "--agents", "greedy,greedy").out
    hands = Game.new(3, seed=5).deal()["hands"]
    supply = {card for cards in Game.new(3, seed=5).deal()["supply"].values() for card in cards}
    for card in {card for hand in hands for card in hand} - supply:
        assert not re.search(rf"\b{card}\b", shown), card
