"""The command line: what each command prints and writes, and how wrong use and wrong files end."""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from helpers import Program
from rulesets import COMBINATIONS, ODD, varied

from gardienii_env import ACTIONS, Game, GardieniiError, Ruleset, __version__, layout
from gardienii_env.agents import AGENTS, Agent, make_agent, new_streams
from gardienii_env.agents.random import RandomAgent
from gardienii_env.cli import main
from gardienii_env.cli import record as record_command
from gardienii_env.cli.program import build_parser
from gardienii_env.observation import VIEWS, View
from gardienii_env.record import read_file, verify
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.random import draw_below
from gardienii_env.rules.ruleset import SHIPPED

COMMANDS = ("record", "verify", "bench", "rules", "layout")
OLD = "what was there before\n"


def process(
    *arguments: str | Path, stdout: int = subprocess.PIPE, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """The program in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "gardienii_env", *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "", **environment},
        check=False,
    )


def columns(line: str) -> list[str]:
    """The cells of a line of a table."""
    return re.split(r"\s{2,}", line.strip())


# -- the program -----------------------------------------------------------------------------------


def test_help_names_every_command(gardienii: Program) -> None:
    result = gardienii("--help")
    assert result.status == 0
    for command in COMMANDS:
        assert re.search(rf"^    {command} +\w", result.out, re.MULTILINE)


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("record", "--players --ruleset --agents --games --seed --with-legal --out"),
        ("verify", "FILE --all"),
        ("bench", "--seconds --repeats --only --players --games --many-games --json"),
        ("rules", "--ruleset --format --actions"),
        ("layout", "--players --view --format"),
    ],
)
def test_help_of_a_command_tells_its_options_and_gives_examples(
    gardienii: Program, command: str, options: str
) -> None:
    result = gardienii(command, "--help")
    assert result.status == 0
    for option in options.split():
        assert option in result.out
    examples = result.out.partition("\nexamples:\n")[2].splitlines()
    assert len(examples) >= 2
    for example in examples:
        name, *arguments = shlex.split(re.split("[|>]", example)[0])
        assert name == "gardienii"
        assert build_parser().parse_args(arguments).command == command


def test_help_of_agents_names_those_there_are(gardienii: Program) -> None:
    for command in ("record", "evaluate", "tournament"):
        shown = gardienii(command, "--help").out
        assert all(f"\n  {', '.join(kind.forms)}\n" in shown for kind in AGENTS.values())


def test_version(gardienii: Program) -> None:
    assert gardienii("--version") == (0, f"gardienii {__version__}\n", "")


def test_it_runs_as_a_module() -> None:
    done = process("layout", "--players", "2")
    assert done.returncode == 0
    assert done.stderr == b""
    assert f"{layout(2).size} numbers".encode() in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("", "the following arguments are required: COMMAND"),
        ("recrod", "invalid choice: 'recrod'"),
        ("record", "the following arguments are required: --out"),
        ("record --out {out} --games 0", "argument --games: '0' is not a whole number from 1 up"),
        ("record --out {out} --games some", "argument --games: 'some' is not a whole number"),
        ("record --out {out} --seed -1", "argument --seed: '-1' is not a whole number from 0 up"),
        ("record --out {out} --seed 1.5", "argument --seed: '1.5' is not a whole number"),
        ("record --out {out} --players 1", "argument --players: invalid choice: 1"),
        ("record --out {out} --players 5", "argument --players: invalid choice: 5"),
        ("record --out {out} --game 3", "unrecognized arguments: --game 3"),
        ("record --out {out} --agents gredy", "The agent 'gredy' is not known"),
        ("record --out {out} --agents random:3", "takes no argument, but '3' was given"),
        ("record --out {out} --agents random,random,random", "names 3 agents for 2 seats"),
        ("record --out {out} --ruleset dragon", "The ruleset 'dragon' is not known"),
        ("record --out {out} --ruleset none.toml", "none.toml cannot be read: No such file"),
        ("record --out {out}/no/x.jsonl", "no/x.jsonl' cannot be written: No such file or directory"),
        ("record --out .", "--out: '.' cannot be written: Is a directory"),
        ("verify", "the following arguments are required: FILE"),
        ("rules --ruleset dragon", "Did you mean 'dragonkeepers'?"),
        ("rules --format xml", "invalid choice: 'xml'"),
        ("rules --actions --format json", "--format: 'json' does not go with --actions"),
        ("layout --view all", "invalid choice: 'all'"),
        ("layout --players 0", "invalid choice: 0"),
    ],
)
def test_wrong_use_is_told_with_status_2(
    gardienii: Program, tmp_path: Path, arguments: str, words: str
) -> None:
    result = gardienii(*arguments.format(out=tmp_path / "games.jsonl").split())
    assert result.status == 2
    assert result.out == ""
    *usage, sentence = result.err.splitlines()
    assert words in sentence
    assert re.match(r"gardienii( \w+)?: error: ", sentence)
    assert all(line.startswith(("usage: ", " ")) for line in usage)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_ends_with_a_word(gardienii: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_command, "play_game", failing(KeyboardInterrupt(), after=0))
    assert gardienii("record", "--out", "-") == (130, "", "interrupted\n")


def test_a_reader_that_has_enough_ends_the_program_silently() -> None:
    arguments = [sys.executable, "-m", "gardienii_env", "record", "--games", "100", "--out", "-"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        first = program.stdout.readline()
        program.stdout.close()
        assert program.stderr.read() == b""
        assert program.wait() == 141
    verify(json.loads(first))


def test_a_reader_that_is_gone_ends_the_program_silently() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = process("rules", stdout=writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def test_output_that_cannot_be_written_is_told() -> None:
    with open(os.devnull) as only_to_read:
        done = process("rules", stdout=only_to_read.fileno())
    assert (done.returncode, done.stderr) == (
        2,
        b"gardienii rules: error: [Errno 9] Bad file descriptor.\n",
    )


def test_output_is_utf8_whatever_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(varied("gardienii", name=ODD_NAME).to_dict()), encoding="utf-8")
    done = process("rules", "--ruleset", path, PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert done.stdout.decode("utf-8").startswith(f"Ruleset {ODD_NAME}\n")


# -- record ----------------------------------------------------------------------------------------


def failing(error: BaseException, after: int) -> Callable[..., Game]:
    """Plays some games, then raises an error."""
    games: list[Game] = []

    def play_game(*arguments: Any) -> Game:
        if len(games) == after:
            raise error
        games.append(real(*arguments))
        return games[-1]

    real = record_command.play_game
    return play_game


class Spy(RandomAgent):
    """Plays at random; remembers the numbers that it drew and for which seat."""

    name = "spy"

    def __init__(self) -> None:
        super().__init__()
        self.drawn: dict[int, list[int]] = {}

    def act(
        self, batch: Batch, games: npt.NDArray[np.int64], streams: npt.NDArray[np.void]
    ) -> npt.NDArray[np.int64]:
        seat = int(batch.states["player"][0])
        self.drawn.setdefault(seat, []).append(int(draw_below(streams[0], 1_000_000)))
        return super().act(batch, games, streams)


@pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)
def test_recorded_games_are_those_of_their_seeds(
    gardienii: Program, tmp_path: Path, ruleset: str, players: int
) -> None:
    out = tmp_path / "games.jsonl"
    options = ("--players", str(players), "--ruleset", ruleset, "--games", "3", "--seed", "40")
    result = gardienii("record", *options, "--with-legal", "--out", out)
    assert result.status == 0
    assert result.out == ""
    records = [record for _, record in read_file(out)]
    assert [record["seed"] for record in records] == [40, 41, 42]
    for record in records:
        assert record["deal"] == Game.new(players, ruleset, record["seed"]).deal()
        assert all(move["action"] in move["legal"] for move in record["moves"])
        assert verify(record).num_players == players


def test_a_game_has_no_legal_actions_unless_asked_for(gardienii: Program) -> None:
    (line,) = gardienii("record", "--out", "-").out.splitlines()
    record = json.loads(line)
    assert (record["players"], record["ruleset"], record["seed"]) == (2, "gardienii", 0)
    assert all(move.keys() == {"player", "action"} for move in record["moves"])


def test_the_defaults_are_one_random_game_of_two_from_seed_0(gardienii: Program) -> None:
    options = "--players 2 --ruleset gardienii --agents random --games 1 --seed 0 --out -"
    assert gardienii("record", *options.split()) == gardienii("record", "--out", "-")


def test_the_same_command_writes_the_same_bytes(gardienii: Program, tmp_path: Path) -> None:
    options = ("record", "--players", "3", "--agents", "random,greedy,random", "--games", "4", "--out")
    assert gardienii(*options, tmp_path / "first.jsonl").status == 0
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    printed = gardienii(*options, "-").out
    elsewhere = process(*options, tmp_path / "second.jsonl", PYTHONHASHSEED="5")
    assert elsewhere.returncode == 0
    first = (tmp_path / "first.jsonl").read_bytes()
    assert first == (tmp_path / "second.jsonl").read_bytes() == printed.encode("utf-8")
    assert len(first.splitlines()) == 4


def test_a_game_is_the_same_whichever_command_reaches_its_seed(gardienii: Program) -> None:
    lines = gardienii("record", "--games", "3", "--seed", "5", "--out", "-").out.splitlines()
    assert gardienii("record", "--seed", "7", "--out", "-").out.splitlines() == lines[2:]


@pytest.mark.parametrize("seat", [0, 1])
def test_what_a_seat_draws_depends_on_the_seed_and_the_seat_only(seat: int) -> None:
    def drawn(others: Agent, players: int, ruleset: str, seed: int = 3) -> list[int]:
        spy = Spy()
        agents = [others] * players
        agents[seat] = spy
        record_command.play_game(agents, Ruleset.get(ruleset), seed)
        assert spy.drawn.keys() == {seat}
        return spy.drawn[seat][:8]

    expected = drawn(make_agent("random"), 2, "gardienii")
    assert len(expected) == 8
    stream = new_streams(3, 3)[1 + seat :]  # the first of a seed's streams is the deal's
    assert expected[0] == draw_below(stream[0], 1_000_000)
    assert drawn(make_agent("greedy"), 2, "gardienii") == expected
    assert drawn(make_agent("random"), 4, "dragonkeepers") == expected
    assert drawn(make_agent("random"), 2, "gardienii", seed=4) != expected


def test_one_agent_in_all_seats_draws_for_each_apart() -> None:
    everywhere, first, second = Spy(), Spy(), Spy()
    ruleset = Ruleset.get("gardienii")
    alone = record_command.play_game([everywhere] * 2, ruleset, 3)
    assert record_command.play_game([first, second], ruleset, 3).moves == alone.moves
    assert everywhere.drawn == {0: first.drawn[0], 1: second.drawn[1]}
    assert first.drawn[0][:8] != second.drawn[1][:8]


def test_the_summary_counts_what_was_written(gardienii: Program, tmp_path: Path) -> None:
    out = tmp_path / "games.jsonl"
    result = gardienii("record", "--agents", "greedy,random", "--games", "6", "--out", out)
    finals = [record["final"] for _, record in read_file(out)]
    decisions = sum(len(record["moves"]) for _, record in read_file(out))
    counts, _, *lines = result.err.splitlines()
    assert counts == f"6 games, {decisions} decisions"
    assert columns(lines[0]) == ["seat", "agent", "wins", "shared wins", "mean points"]
    for seat, agent in enumerate(("greedy", "random")):
        wins = sum(final["winners"] == [seat] for final in finals)
        shared = sum(final["winners"] == [0, 1] for final in finals)
        mean = sum(final["scores"][seat] for final in finals) / 6
        assert columns(lines[2 + seat]) == [str(seat), agent, str(wins), str(shared), f"{mean:.1f}"]


def test_a_shared_win_is_not_a_win(gardienii: Program, tmp_path: Path) -> None:
    # The first turn is the last one, and there is nothing to earn: all are level.
    nothing = {"prizes": {str(n): {"piece": "none"} for n in range(1, 7)}, "turn_limit": 1}
    path = tmp_path / "nothing.json"
    ruleset = varied("dragonkeepers", name="nothing", modifications_per_turn=0, **nothing)
    no_pages = {"W5": 10}
    ruleset = ruleset.replace(left_deck=no_pages, starting_cards={"W1": 6}, take_limit=1)
    path.write_text(json.dumps(ruleset.to_dict()), encoding="utf-8")
    result = gardienii("record", "--players", "3", "--ruleset", path, "--out", "-")
    assert json.loads(result.out)["final"]["winners"] == [0, 1, 2]
    for line in result.err.splitlines()[-3:]:
        assert columns(line)[2:] == ["0", "1", "0.0"]


@pytest.mark.parametrize(("installed", "bar"), [(True, "0/3 "), (False, "")])
def test_a_terminal_shows_progress_where_tqdm_is_installed(
    gardienii: Program, monkeypatch: pytest.MonkeyPatch, installed: bool, bar: str
) -> None:
    expected = gardienii("record", "--games", "3", "--out", "-")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    if not installed:
        monkeypatch.setitem(sys.modules, "tqdm", None)
    result = gardienii("record", "--games", "3", "--out", "-")
    assert (result.status, result.out) == (0, expected.out)
    assert result.err.endswith(expected.err)
    assert bar in result.err
    assert bool(bar) == (result.err != expected.err)


@pytest.mark.parametrize(
    ("error", "status"), [(GardieniiError("It broke."), 2), (KeyboardInterrupt(), 130)]
)
def test_an_older_file_survives_what_goes_wrong(
    gardienii: Program,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    status: int,
) -> None:
    out = tmp_path / "games.jsonl"
    out.write_text(OLD)
    monkeypatch.setattr(record_command, "play_game", failing(error, after=2))
    assert gardienii("record", "--games", "5", "--out", out).status == status
    assert out.read_text() == OLD
    assert list(tmp_path.iterdir()) == [out]


def test_no_file_is_left_by_an_unforeseen_error(
    gardienii: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_command, "play_game", failing(ZeroDivisionError(), after=2))
    with pytest.raises(ZeroDivisionError):
        gardienii("record", "--games", "5", "--out", tmp_path / "games.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told_and_leaves_nothing(
    gardienii: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = OSError(28, "No space left on device")
    monkeypatch.setattr(os, "replace", lambda *paths: failing(full, after=0)())
    result = gardienii("record", "--out", tmp_path / "games.jsonl")
    assert result.status == 2
    assert "games.jsonl' cannot be written: No space left on device." in result.err
    assert list(tmp_path.iterdir()) == []


def test_an_older_file_is_replaced_behind_its_link(gardienii: Program, tmp_path: Path) -> None:
    real, link = tmp_path / "real.jsonl", tmp_path / "link.jsonl"
    real.write_text(OLD)
    link.symlink_to(real)
    assert gardienii("record", "--out", link).status == 0
    assert link.is_symlink()
    assert len(list(read_file(real))) == 1
    assert sorted(tmp_path.iterdir()) == [link, real]


def test_a_device_is_written_to_and_not_replaced(gardienii: Program) -> None:
    assert gardienii("record", "--out", os.devnull).status == 0
    assert not Path(os.devnull).is_file()


# -- verify ----------------------------------------------------------------------------------------

Record = dict[str, Any]
Change = Callable[[Record], object]

FAULTS: dict[str, tuple[Change, str]] = {
    "an illegal move": (
        lambda r: r["moves"][7].update(action="column:left"),
        "move 7: 'column:left' is not legal",
    ),
    "a seat that does not decide": (
        lambda r: r["moves"][4].update(player=1 - r["moves"][4]["player"]),
        "move 4: player ",
    ),
    "a list of legal actions that is too short": (
        lambda r: r["moves"][9]["legal"].pop(),
        "move 9: the legal actions given are ",
    ),
    "a game cut short": (lambda r: r["moves"].pop(), " missing; the game is not over"),
    "a move after the end": (
        lambda r: r["moves"].append({"player": 0, "action": "pass"}),
        "'pass', but the game is over",
    ),
    "another version": (lambda r: r.update(version=2), "version: 2 is not known"),
    "another format": (lambda r: r.update(format="chess"), "format: 'chess' is not "),
    "a card too many": (lambda r: r["deal"]["left"].append("W1"), "left: "),
    "a card that is none": (lambda r: r["deal"]["right"].__setitem__(0, "Ww"), "right"),
    "an unknown ruleset": (lambda r: r.update(ruleset="mine"), "ruleset: the ruleset 'mine'"),
    "a wrong score": (
        lambda r: r["final"]["scores"].__setitem__(0, 1),
        "final.scores: [1, ",
    ),
    "no final": (lambda r: r.pop("final"), "final: missing"),
}
"""What is done to a record, and some words of the sentence that tells it."""


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Five game records."""
    path = tmp_path_factory.mktemp("games") / "games.jsonl"
    options = ["--agents", "random,greedy", "--games", "5", "--with-legal", "--out", str(path)]
    assert main(["record", *options]) == 0
    return path.read_text(encoding="utf-8").splitlines()


@pytest.fixture
def path(tmp_path: Path, lines: list[str]) -> Path:
    """The file of the game records."""
    return write(tmp_path / "games.jsonl", lines)


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def changed(line: str, change: Change) -> str:
    record = json.loads(line)
    change(record)
    return json.dumps(record)


def test_right_records_are_counted(gardienii: Program, path: Path, lines: list[str]) -> None:
    other = write(path.with_name("other.jsonl"), lines[:1])
    assert gardienii("verify", path) == (0, f"{path}: 5 games verified\n", "")
    assert gardienii("verify", path, other) == (
        0,
        f"{path}: 5 games verified\n{other}: 1 game verified\n",
        "",
    )


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told_with_file_and_line(
    gardienii: Program, path: Path, lines: list[str], fault: str
) -> None:
    change, words = FAULTS[fault]
    write(path, [*lines[:2], changed(lines[2], change), *lines[3:]])
    result = gardienii("verify", path)
    assert (result.status, result.out) == (1, "")
    (sentence,) = result.err.splitlines()
    assert sentence.startswith(f"{path}, line 3: ")
    assert words in sentence


def test_a_legal_move_in_place_of_another_is_a_fault_too(
    gardienii: Program, path: Path, lines: list[str]
) -> None:
    def change(record: Record) -> None:
        for move in record["moves"]:
            del move["legal"]
        record["moves"][0]["action"] = other

    (other,) = [name for name in json.loads(lines[3])["moves"][0]["legal"] if name == "take:R1"]
    assert json.loads(lines[3])["moves"][0]["action"] != other
    write(path, [*lines[:3], changed(lines[3], change), *lines[4:]])
    result = gardienii("verify", path)
    assert result.status == 1
    assert result.err.startswith(f"{path}, line 4: move ")


def test_a_file_cut_off_is_told(gardienii: Program, path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    result = gardienii("verify", path)
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith(f"{path}, line 5: not valid JSON: ")
    assert result.err.endswith("The line is cut off.\n")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{'format': 'gardienii-record'}", "not valid JSON: "),
        ("[" * 100_000, "not valid JSON: "),
        ("[1, 2]", "expected a JSON object, not [1, 2]."),
        ("{}", "format: None is not 'gardienii-record'"),
    ],
)
def test_a_line_that_is_no_record_is_told(
    gardienii: Program, path: Path, lines: list[str], line: str, words: str
) -> None:
    write(path, [lines[0], line, lines[1]])
    result = gardienii("verify", path)
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith(f"{path}, line 2: {words}")


@pytest.mark.parametrize("content", [b"", b"\n \n"])
def test_a_file_without_records_is_a_fault(gardienii: Program, path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert gardienii("verify", path) == (1, "", f"{path}: there is no record in this file.\n")


def test_blank_lines_count_as_lines_but_not_as_records(
    gardienii: Program, path: Path, lines: list[str]
) -> None:
    write(path, [lines[0], "", lines[1]])
    assert gardienii("verify", path).out == f"{path}: 2 games verified\n"
    write(path, [lines[0], "", "{}"])
    assert gardienii("verify", path).err.startswith(f"{path}, line 3: ")


def test_a_file_that_cannot_be_read_is_a_fault(gardienii: Program, path: Path) -> None:
    missing = path.with_name("none.jsonl")
    assert gardienii("verify", missing).err == f"{missing} cannot be read: No such file or directory.\n"
    assert gardienii("verify", path.parent).status == 1
    path.write_bytes(b"\xff\xfe")
    result = gardienii("verify", path)
    assert result.status == 1
    assert "is not UTF-8 text" in result.err


def test_a_name_that_is_no_text_is_told_as_well_as_may_be(gardienii: Program) -> None:
    result = gardienii("verify", "--all", "none\udcff.jsonl")
    assert result.status == 1
    assert result.out == "none\\udcff.jsonl: 0 games verified, 1 fault\n"


def test_the_first_fault_ends_the_command(gardienii: Program, path: Path, lines: list[str]) -> None:
    wrong = write(path.with_name("wrong.jsonl"), [lines[0], "{}", "{"])
    result = gardienii("verify", path, wrong, path)
    assert (result.status, result.out) == (1, f"{path}: 5 games verified\n")
    assert len(result.err.splitlines()) == 1


def test_all_faults_are_told_on_request(gardienii: Program, path: Path, lines: list[str]) -> None:
    illegal, wrong_score = FAULTS["an illegal move"][0], FAULTS["a wrong score"][0]
    content = [lines[0], changed(lines[1], illegal), "{", lines[3], changed(lines[4], wrong_score)]
    wrong = write(path.with_name("wrong.jsonl"), content)
    missing = path.with_name("none.jsonl")
    result = gardienii("verify", "--all", wrong, missing, path)
    assert result.status == 1
    assert result.out.splitlines() == [
        f"{wrong}: 2 games verified, 3 faults",
        f"{missing}: 0 games verified, 1 fault",
        f"{path}: 5 games verified",
    ]
    starts = [f"{wrong}, line 2: move 7: ", f"{wrong}, line 3: ", f"{wrong}, line 5: final.scores: "]
    faults = result.err.splitlines()
    assert len(faults) == 4
    for fault, start in zip(faults, [*starts, f"{missing} cannot be read"], strict=True):
        assert fault.startswith(start)


def test_a_custom_ruleset_is_recorded_and_verified(gardienii: Program, tmp_path: Path) -> None:
    ruleset, out = tmp_path / "mine.toml", tmp_path / "games.jsonl"
    toml = gardienii("rules", "--format", "toml").out
    ruleset.write_text(toml.replace('"gardienii"', '"mine"', 1), encoding="utf-8")
    assert gardienii("record", "--ruleset", ruleset, "--games", "2", "--out", out).status == 0
    assert gardienii("verify", out).out == f"{out}: 2 games verified\n"
    assert all(record["ruleset"]["name"] == "mine" for _, record in read_file(out))


# -- rules -----------------------------------------------------------------------------------------

ODD_NAME = "dragi \"zmei\" \\ 'ș' # [龍] = {🐉} \\n \\u0041"
RULESETS = (
    *(Ruleset.get(name) for name in SHIPPED),
    *ODD,
    varied("gardienii", name=ODD_NAME, pearls={}, crests=[], crystals=0),
)


@pytest.mark.parametrize("kind", ["toml", "json"])
@pytest.mark.parametrize("ruleset", RULESETS, ids=lambda ruleset: ruleset.name[:12])
def test_a_ruleset_printed_as_a_file_reads_back_equal(
    gardienii: Program, tmp_path: Path, ruleset: Ruleset, kind: str
) -> None:
    given, printed = tmp_path / "given.json", tmp_path / f"printed.{kind}"
    given.write_text(json.dumps(ruleset.to_dict()), encoding="utf-8")
    result = gardienii("rules", "--ruleset", given, "--format", kind)
    assert (result.status, result.err) == (0, "")
    printed.write_text(result.out, encoding="utf-8")
    assert Ruleset.load(printed) == ruleset


def test_a_shipped_ruleset_is_printed_by_name(gardienii: Program) -> None:
    printed = json.loads(gardienii("rules", "--ruleset", "dragonkeepers", "--format", "json").out)
    assert printed == Ruleset.get("dragonkeepers").to_dict()
    assert json.loads(gardienii("rules", "--format", "json").out)["name"] == "gardienii"


@pytest.mark.parametrize("ruleset", RULESETS, ids=lambda ruleset: ruleset.name[:12])
def test_the_table_tells_every_field(gardienii: Program, tmp_path: Path, ruleset: Ruleset) -> None:
    path = tmp_path / "given.json"
    path.write_text(json.dumps(ruleset.to_dict()), encoding="utf-8")
    result = gardienii("rules", "--ruleset", path)
    assert (result.status, result.err) == (0, "")
    lines = result.out.splitlines()
    assert lines[0] == f"Ruleset {ruleset.name}"
    rows = [columns(line) for line in lines]
    for field in fields(ruleset):
        value = getattr(ruleset, field.name)
        if isinstance(value, bool):
            assert [field.name, "yes" if value else "no"] in [row[:2] for row in rows]
        elif isinstance(value, int):
            assert [field.name, str(value)] in [row[:2] for row in rows]
    for name in ("pieces_removed", "amulets_to_end"):
        assert [name, *map(str, getattr(ruleset, name).values())] in [row[:4] for row in rows]
    for pile in ("left_deck", "right_deck", "starting_cards"):
        assert [pile, "all", str(sum(getattr(ruleset, pile).values()))] in rows


def test_the_table_of_the_published_game(gardienii: Program) -> None:
    out = gardienii("rules", "--ruleset", "dragonkeepers").out
    rows = [columns(line) for line in out.splitlines()]
    for row in (
        ["left_deck", "W", "3", "3", "3", "2", "2", "13"],
        ["right_deck", "B", "4", "4", "5", "13"],
        ["starting_cards", "R", "1", "1", "2"],
        ["points of a card played", *"1234511111"],
        ["points", "1", "4", "6", "8", "10", "12", "16", "20"],
        ["count", "8", "8", "5", "4", "8", "4", "5", "3"],
        ["points", "3", "4", "8", "9"],
        ["count", "5", "4", "3", "3"],
        ["5", "the lowest amulet piece, 1 dark dragon, 1 golden egg"],
        ["6", "the highest amulet piece"],
    ):
        assert row in rows
    assert ["crests", "16, 10, 6"] in [row[:2] for row in rows]
    assert "Amulet pieces: 45\n" in out
    assert "Pearls: 15\n" in out


def test_cards_stand_in_the_columns_of_their_backs(gardienii: Program) -> None:
    lines = gardienii("rules").out.splitlines()
    (head,) = [line for line in lines if line.startswith("pile ")]
    (green,) = [line for line in lines if re.match(r"right_deck +G ", line)]
    assert {back: green[head.rindex(f" {back} ") + 1] for back in "123456wrbg"} == {
        **dict.fromkeys("123456g", " "),
        "w": "5",
        "r": "4",
        "b": "4",
    }


def test_nothing_is_told_as_nothing(gardienii: Program, tmp_path: Path) -> None:
    path = tmp_path / "given.json"
    ruleset = varied("gardienii", pearls={}, crests=[])
    prizes = {**ruleset.to_dict()["prizes"], "2": {"piece": "none"}}
    path.write_text(json.dumps(ruleset.replace(prizes=prizes).to_dict()), encoding="utf-8")
    rows = [columns(line) for line in gardienii("rules", "--ruleset", path).out.splitlines()]
    assert ["2", "nothing"] in rows
    assert ["Pearls: 0"] in rows
    assert ["crests", "none"] in [row[:2] for row in rows]


def test_the_actions_are_told_by_id(gardienii: Program) -> None:
    result = gardienii("rules", "--actions")
    assert result.status == 0
    _, _, *rows = [columns(line) for line in result.out.splitlines()]
    assert [row[:2] for row in rows] == [[str(k), name] for k, name in enumerate(ACTIONS)]
    assert rows[37] == ["37", "modify:D6", "lay D6 on the left deck (dark dragon, page 6)"]


# -- layout ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_form_tells_the_whole_layout(gardienii: Program, players: int, view: View) -> None:
    parts = layout(players, view)

    def printed(form: str) -> str:
        result = gardienii("layout", "--players", str(players), "--view", view, "--format", form)
        assert (result.status, result.err) == (0, "")
        return result.out

    data = json.loads(printed("json"))
    assert (data["players"], data["view"], data["size"]) == (players, view, parts.size)
    assert data["parts"] == [
        {
            "name": part.name,
            "known_by": part.known,
            "start": part.start,
            "stop": part.start + part.size,
            "shape": list(part.shape),
            "scale": part.scale,
            "meaning": part.meaning,
        }
        for part in parts
    ]
    expected = [
        [p.name, p.known, str(p.start), str(p.start + p.size), str(p.shape), str(p.scale), p.meaning]
        for p in parts
    ]
    heading, _, _, _, *lines = printed("table").splitlines()
    assert f"{players} players, view {view}: {parts.size} numbers" in heading
    assert [columns(line) for line in lines] == expected
    heading, _, _, _, *lines = printed("markdown").splitlines()
    assert f"{parts.size} numbers" in heading
    assert [line.strip("| ").split(" | ") for line in lines] == expected


def test_the_table_view_of_two_players_is_the_default(gardienii: Program) -> None:
    explicit = gardienii("layout", "--players", "2", "--view", "table", "--format", "table")
    assert gardienii("layout") == explicit
