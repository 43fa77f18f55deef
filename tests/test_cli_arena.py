"""`gardienii evaluate` and `gardienii tournament`: what they print and keep, and how they are ended."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from helpers import Program

from gardienii_env import Ruleset
from gardienii_env.agents import make_agents
from gardienii_env.arena import MatchResult, TournamentResult, duplicate_match, load_result
from gardienii_env.arena.results import Estimate
from gardienii_env.cli.program import build_parser

FOREVER = "10000000"
MATCH = ("evaluate", "--agents", "greedy,random", "--deals", "20", "--seed", "3")
TOURNAMENT = ("tournament", "--agents", "greedy,random,random", "--deals", "6", "--seed", "3")


@contextmanager
def started(*arguments: str | Path) -> Iterator[subprocess.Popen[str]]:
    """The program in a process of its own, ended at the end whatever happens."""
    command = [sys.executable, "-m", "gardienii_env", *map(str, arguments)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for_games(folder: Path, process: subprocess.Popen[str], lines: int = 1) -> None:
    """Until so many chunks have been played."""
    file = folder / "games.jsonl"
    until = time.monotonic() + 100
    while not (file.exists() and file.read_bytes().count(b"\n") >= lines):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.01)


def is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def report(folder: Path) -> dict[str, Any]:
    """The report but for times."""
    text = (folder / "report.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    del data["times"]
    return data


def without_times(folder: Path) -> str:
    text = (folder / "report.json").read_text(encoding="utf-8")
    return re.sub(r'"times": \{.*?\}', "", text, flags=re.DOTALL)


def as_data(estimate: Estimate) -> dict[str, float]:
    return {"mean": estimate.mean, "low": estimate.low, "high": estimate.high}


@pytest.mark.parametrize("command", ["evaluate", "tournament"])
def test_help_tells_the_options_and_gives_examples(gardienii: Program, command: str) -> None:
    result = gardienii(command, "--help")
    options = (
        "--agents --deals --seed --ruleset --independent --jobs --out --resume --save-records --json"
    )
    for option in f"{options} --html --trust".split():
        assert option in result.out
    examples = result.out.partition("\nexamples:\n")[2].splitlines()
    assert len(examples) >= 2
    for example in examples:
        name, *arguments = shlex.split(example)
        assert name == "gardienii"
        assert build_parser().parse_args(arguments).command == command


# -- what comes out --------------------------------------------------------------------------------


def test_a_match_is_reported(gardienii: Program, tmp_path: Path) -> None:
    result = gardienii(*MATCH, "--json", tmp_path / "match.json", "--html", tmp_path / "match.html")
    assert result.status == 0
    assert "greedy is stronger than random" in result.out
    assert (tmp_path / "match.html").read_text(encoding="utf-8").count("<svg") >= 3
    data = json.loads((tmp_path / "match.json").read_text(encoding="utf-8"))
    match = duplicate_match(make_agents("greedy,random", 2), "gardienii", 20, 3)
    assert data["command"] == "gardienii evaluate --agents greedy,random --deals 20 --seed 3"
    assert (data["kind"], data["seed"], data["deals"], data["games"]) == ("match", 3, 20, 40)
    assert (data["ruleset"], data["players"], data["duplicate"]) == ("gardienii", 2, True)
    assert data["decisions"] == match.decisions
    assert data["ends"]["amulets"] == 40
    assert data["turns"] == as_data(match.turns())
    for k, agent in enumerate(data["agents"]):
        assert agent["agent"] == match.agents[k]
        for key in ("win_share", "payoff", "margin", "score", "decisions_per_game"):
            assert agent[key] == as_data(getattr(match, key)(k))
        for key in ("points", "sets"):
            estimates = getattr(match, key)(k)
            assert agent[key] == {name: as_data(value) for name, value in estimates.items()}
    assert set(data["versions"]) == {"gardienii-env", "python", "numpy", "numba"}
    assert data["times"]["started"] <= data["times"]["ended"]
    assert data["times"]["playing_seconds"] > 0


def test_a_tournament_is_reported(gardienii: Program, tmp_path: Path) -> None:
    result = gardienii(*TOURNAMENT, "--out", tmp_path / "run")
    assert result.status == 0
    assert "random (2)" in result.out
    data = report(tmp_path / "run")
    tournament = load_result(tmp_path / "run")
    assert isinstance(tournament, TournamentResult)
    assert (data["kind"], data["games"], data["cycles"]) == ("tournament", 36, [])
    for agent, rating in zip(data["agents"], tournament.ratings, strict=True):
        assert agent["agent"] == rating.agent
        assert agent["rating"] == {"mean": rating.mean, "low": rating.low, "high": rating.high}
        assert agent["games"] == 24
    assert len(data["against"]) == 6
    first = data["against"][0]
    ahead = tournament.against(0, 1)
    assert ahead is not None
    assert (first["agent"], first["other"], first["ahead"]) == ("greedy", "random (1)", as_data(ahead))
    decisions = [match.decisions for _, match in tournament.tables]
    assert [table["decisions"] for table in data["tables"]] == decisions
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "gardienii tournament --agents greedy,random,random" in page


def test_one_deal_has_no_intervals(gardienii: Program) -> None:
    result = gardienii("evaluate", "--agents", "greedy,random", "--deals", "1", "--json", "-")
    data = json.loads(result.out)
    assert data["agents"][0]["win_share"]["low"] is None
    assert "greedy" in result.err


@pytest.mark.parametrize("players", [3, 4])
def test_several_players(gardienii: Program, tmp_path: Path, players: int) -> None:
    names = ",".join(["greedy", *["random"] * (players - 1)])
    arguments = ("--agents", names, "--deals", "4", "--ruleset", "dragonkeepers", "--independent")
    assert gardienii("evaluate", *arguments, "--out", tmp_path / "run").status == 0
    result = load_result(tmp_path / "run")
    assert isinstance(result, MatchResult)
    assert result.games.shape == (4, 1)
    assert result.agents == ("greedy", *(f"random ({k})" for k in range(1, players)))
    data = report(tmp_path / "run")
    assert (data["players"], data["duplicate"], data["ruleset"]) == (players, False, "dragonkeepers")
    drawn = ("tournament", "--players", players, "--tables", "2", "--out", tmp_path / "tables")
    agents = ("--agents", "random,greedy,random,random,random", "--deals", "2")
    assert gardienii(*map(str, drawn), *agents).status == 0
    assert len(report(tmp_path / "tables")["tables"]) == 2


def test_an_own_ruleset_is_kept_whole(gardienii: Program, tmp_path: Path) -> None:
    own = Ruleset.get("gardienii").replace(name="own", turn_limit=9)
    file = tmp_path / "own.json"
    file.write_text(json.dumps(own.to_dict()), encoding="utf-8")
    assert gardienii(*MATCH, "--ruleset", file, "--out", tmp_path / "run").status == 0
    file.unlink()
    assert report(tmp_path / "run")["ruleset"] == own.to_dict()
    assert gardienii("evaluate", "--resume", tmp_path / "run").status == 0
    result = gardienii("evaluate", "--resume", tmp_path / "run", "--ruleset", "gardienii")
    assert result.status == 2
    assert "--ruleset: the run in" in result.err


# -- runs that are ended, and gone on with ---------------------------------------------------------


def test_a_run_that_was_killed_goes_on_to_the_same_end(gardienii: Program, tmp_path: Path) -> None:
    options = ("--agents", "greedy,random,random", "--deals", "150", "--seed", "1", "--save-records")
    assert gardienii("evaluate", *options, "--out", tmp_path / "whole").status == 0
    part = tmp_path / "part"
    with started("evaluate", *options, "--out", part) as process:
        wait_for_games(part, process)
        process.kill()
    before = (part / "games.jsonl").read_bytes()
    assert not (part / "report.json").exists()
    with (part / "games.jsonl").open("ab") as file:
        file.write(b'{"table": 0, "fir')
    result = gardienii("evaluate", "--resume", part, "--jobs", "2", *options)
    assert result.status == 0, result.err
    assert (part / "games.jsonl").read_bytes().startswith(before[: before.rfind(b"\n") + 1])
    assert without_times(part) == without_times(tmp_path / "whole")
    records = (part / "records.jsonl").read_bytes()
    assert records == (tmp_path / "whole" / "records.jsonl").read_bytes()
    few = tmp_path / "few.jsonl"
    few.write_bytes(b"".join(records.splitlines(keepends=True)[::100]))
    assert gardienii("verify", few).status == 0


@pytest.mark.parametrize(
    ("number", "status", "lines"),
    [
        (signal.SIGINT, 130, 0),
        (signal.SIGINT, 130, 3),
        (signal.SIGTERM, 143, 3),
        (signal.SIGKILL, -9, 3),
    ],
)
def test_all_processes_end_with_the_first(tmp_path: Path, number: int, status: int, lines: int) -> None:
    """A signal to all of them, as Ctrl-C in a terminal is; SIGKILL and SIGTERM to the first alone.

    With no line written yet, the others are just being started.
    """
    run = tmp_path / "run"
    arguments = ("--agents", "greedy,random", "--deals", FOREVER, "--jobs", "2", "--out", run)
    with started("evaluate", *arguments) as process:
        wait_for_games(run, process, lines)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        others = [int(other) for other in children.read_text().split()] if children.exists() else []
        if number == signal.SIGINT:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        _, err = process.communicate(timeout=60)
        assert process.returncode == status
        if number != signal.SIGKILL:
            assert f"To go on: gardienii evaluate --resume {run}" in err
        assert "Traceback" not in err
        until = time.monotonic() + 20
        while any(map(is_running, others)):
            assert time.monotonic() < until
            time.sleep(0.02)
    with pytest.raises(ValueError, match="have been played; go on with --resume"):
        load_result(run)


def test_a_full_disk_is_one_sentence(gardienii: Program, tmp_path: Path) -> None:
    """No file may become larger than 16 kB. With room again the run goes on."""
    resource = pytest.importorskip("resource")
    run = tmp_path / "run"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16_000, limits[1]))
    try:
        result = gardienii("evaluate", "--agents", "greedy,random", "--deals", "100", "--out", run)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert result.status == 2
    assert f"{run} cannot be written: File too large. What was played before is kept" in result.err
    assert result.err.count("\n") == 1
    assert gardienii("evaluate", "--resume", run).status == 0
    assert report(run)["games"] == 200


@pytest.mark.parametrize(
    ("option", "value", "stored"),
    [
        ("--agents", "random,greedy", "with greedy,random"),
        ("--deals", "21", "with 20"),
        ("--seed", "0", "with 3"),
        ("--ruleset", "dragonkeepers", "with gardienii"),
        ("--independent", None, "without --independent"),
        ("--save-records", None, "without --save-records"),
    ],
)
def test_another_run_is_not_gone_on_with(
    gardienii: Program, tmp_path: Path, option: str, value: str | None, stored: str
) -> None:
    gardienii(*MATCH, "--out", tmp_path / "run")
    values = [] if value is None else [value]
    result = gardienii("evaluate", "--resume", tmp_path / "run", option, *values)
    assert result.status == 2
    assert f"error: {option}: the run in {tmp_path / 'run'} was begun {stored}; leave" in result.err
    assert result.err.count("\n") == 1
    wrong = gardienii("tournament", "--resume", tmp_path / "run")
    assert wrong.status == 2
    assert "holds a match, not a tournament" in wrong.err
    same = gardienii(*MATCH, "--resume", tmp_path / "run", "--ruleset", "gardienii")
    assert same.status == 0


@pytest.mark.parametrize(("option", "value"), [("--players", "3"), ("--tables", "2")])
def test_another_tournament_is_not_gone_on_with(
    gardienii: Program, tmp_path: Path, option: str, value: str
) -> None:
    gardienii(*TOURNAMENT, "--out", tmp_path / "run")
    result = gardienii("tournament", "--resume", tmp_path / "run", option, value)
    assert result.status == 2
    assert f"error: {option}: the run in" in result.err
    assert gardienii(*TOURNAMENT, "--players", "2", "--resume", tmp_path / "run").status == 0


# -- wrong use -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("evaluate", "--agents: missing"),
        ("evaluate --agents greedy", "--agents: 1 agent; give 2 to 4"),
        ("evaluate --agents greedy,greedy,greedy,greedy,random", "--agents: 5 agents; give 2 to 4"),
        ("evaluate --agents greedy,gredy", "Did you mean 'greedy'?"),
        ("evaluate --agents greedy,", "The agent '' is not known"),
        ("evaluate --agents greedy,random:3", "takes no argument, but '3' was given"),
        ("evaluate --agents greedy,random --ruleset chess", "'chess' is not known"),
        ("evaluate --agents greedy,random --ruleset no.toml", "no.toml cannot be read"),
        ("evaluate --agents greedy,random --save-records", "--save-records: there is nowhere"),
        ("evaluate --agents greedy,random --json - --html -", "both would go to -"),
        ("evaluate --agents greedy,random --json no/x.json", "--json: 'no/x.json' cannot be written"),
        ("evaluate --agents greedy,random --html no/x.html", "--html: 'no/x.html' cannot be written"),
        ("evaluate --resume nowhere", "nowhere is not the folder of a run"),
        ("evaluate --agents greedy,random --out /dev/null/run", "cannot be written: Not a directory"),
        ("tournament --agents greedy", "agents: 1 agent; a tournament at tables of 2 takes 2 to 40"),
        ("tournament --agents greedy,random --tables 3", "tables: 3; with two players"),
        ("tournament --agents greedy,random,random --players 4", "takes 4 to 40"),
        ("tournament --agents greedy,random,random --players 3 --tables 2", "make from 1 to 1"),
    ],
)
def test_wrong_use_is_one_sentence(
    gardienii: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = gardienii(*arguments.split())
    command = arguments.split()[0]
    assert result.status == 2
    assert result.out == ""
    assert result.err.startswith(f"gardienii {command}: error: ")
    assert message in result.err
    assert result.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "arguments",
    ["--deals 0", "--deals many", "--seed -1", "--jobs 0", "--out a --resume b", "--players 5"],
)
@pytest.mark.parametrize("command", ["evaluate", "tournament"])
def test_wrong_options_are_usage_errors(gardienii: Program, command: str, arguments: str) -> None:
    result = gardienii(command, "--agents", "greedy,random", *arguments.split())
    assert result.status == 2
    assert "usage: gardienii" in result.err


def test_a_folder_that_is_not_empty_is_refused(gardienii: Program, tmp_path: Path) -> None:
    gardienii(*MATCH, "--out", tmp_path / "run")
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    result = gardienii(*MATCH, "--out", tmp_path / "run")
    assert result.status == 2
    assert "is not empty; give a new one, or go on with a run by --resume" in result.err
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}


def test_without_matplotlib_there_are_no_pages(
    gardienii: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = gardienii(*MATCH, "--html", tmp_path / "match.html")
    assert result.status == 2
    assert "pip install 'gardienii-env[arena]'" in result.err
    result = gardienii(*MATCH, "--out", tmp_path / "run")
    assert result.status == 0
    assert "There is no report.html" in result.err
    assert (tmp_path / "run" / "report.json").exists()


def test_without_openskill_there_is_no_tournament(
    gardienii: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "openskill.models", None)
    result = gardienii(*TOURNAMENT, "--out", tmp_path / "run")
    assert result.status == 2
    assert "pip install 'gardienii-env[arena]'" in result.err
    assert not (tmp_path / "run").exists()
    assert gardienii(*MATCH).status == 0


# -- agents of users -------------------------------------------------------------------------------

OWN = """
import sys, time

def slow(game, rng):
    time.sleep(0.002)
    return game.legal_actions()[0]

def noisy(game, rng):
    print("hello")
    return game.legal_actions()[0]

def fails(game, rng):
    if game.turns == 3:
        raise KeyError("seven")
    return game.legal_actions()[0]
"""


@pytest.fixture
def own_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module of agents in the current folder; its name."""
    (tmp_path / "agents_of_mine.py").write_text(OWN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return "python:agents_of_mine"


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_while_an_agent_of_mine_thinks(own_agents: str, number: int, status: int) -> None:
    arguments = ("--agents", f"{own_agents}:slow,random", "--deals", "5000", "--out", "run")
    with started("evaluate", *arguments) as process:
        wait_for_games(Path("run"), process)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
        assert process.returncode == status
        assert "To go on: gardienii evaluate --resume run" in err


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_agents_print_is_no_part_of_a_report(own_agents: str, jobs: int) -> None:
    command = [sys.executable, "-m", "gardienii_env", "evaluate", "--jobs", str(jobs), "--json", "-"]
    command += ["--agents", f"{own_agents}:noisy,random", "--deals", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["games"] == 4
    assert "hello" in done.stderr


def test_a_failing_agent_says_in_which_game(gardienii: Program, own_agents: str) -> None:
    match = ("evaluate", "--agents", f"{own_agents}:fails,random", "--deals", "3", "--seed", "40")
    result = gardienii(*match, "--out", "run")
    assert result.status == 2
    found = re.search(
        r"deal (\d) with rotation (\d), after \d+ decisions; .* seed (\d+) plays", result.err
    )
    assert found is not None
    assert int(found[3]) == 40 + int(found[1])
    assert "KeyError: 'seven'" in result.err
    assert "To go on: gardienii evaluate --resume run" in result.err


# -- where reports go ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--json x --html ./x", "both would go to x"),
        ("--out run --json run/report.json", "--json: run/report.json lies in run, which keeps its own"),
        ("--out run --html run/games.jsonl", "--html: run/games.jsonl lies in run"),
        ("--out=", "the name of the folder is empty"),
    ],
)
def test_reports_do_not_write_over_each_other(
    gardienii: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = gardienii(*MATCH, *options.split())
    assert result.status == 2
    assert message in result.err
    assert not list(tmp_path.iterdir())
