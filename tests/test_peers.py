"""The benchmark of peers, without the peers: rounds, ratios, tables, and what workers print."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
WORKERS = BENCHMARKS / "peer_workers"


@pytest.fixture(autouse=True)
def _paths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(WORKERS))
    monkeypatch.syspath_prepend(str(BENCHMARKS))


@pytest.fixture
def peers(_paths: None) -> ModuleType:
    return importlib.import_module("peers")


def project(peers: ModuleType, name: str = "ours", *cases: str) -> Any:
    return peers.Project(name, name.title(), (), {case: f"game {case}" for case in cases})


def line(decisions: float, seconds: float = 2.0) -> dict[str, Any]:
    figures = {"decisions": decisions, "seconds": seconds}
    return figures | {"version": "1.0", "numbers": 3, "mask": True, "choices": None}


def results(peers: ModuleType, speeds: Mapping[str, list[float]]) -> dict[str, Any]:
    return {
        name: peers.Result(name.split("/")[0], name.split("/")[1], "1.0", 3, True, None, list(measured))
        for name, measured in speeds.items()
    }


def test_workers_know_the_cases_of_the_program(peers: ModuleType) -> None:
    for listed in peers.PROJECTS:
        worker = importlib.import_module(f"{listed.name}_worker")
        assert set(worker.CASES) == set(listed.cases), listed.name
        if listed.build:
            assert (WORKERS / listed.build[0]).is_file()


def test_comparisons_name_measured_cases(peers: ModuleType) -> None:
    ids = {f"{listed.name}/{case}" for listed in peers.PROJECTS for case in listed.cases}
    for comparison in peers.COMPARISONS:
        assert comparison.ours in ids
        for pattern in comparison.peers:
            assert any(peers.fnmatch(name, pattern) for name in ids), pattern


def test_rounds_take_turns(peers: ModuleType) -> None:
    order: list[str] = []

    def run(project: Any, case: str) -> dict[str, Any]:
        order.append(f"{project.name}/{case}")
        return line(100 * len(order))

    chosen = [project(peers, "ours", "a"), project(peers, "other", "b", "c")]
    found = peers.rounds(chosen, 2, run, {})
    assert order == ["ours/a", "other/b", "other/c"] * 2
    assert found["ours/a"].speeds == [50, 200]
    assert found["other/c"].speeds == [150, 300]
    assert (found["other/c"].project, found["other/c"].case) == ("Other", "game c")


def test_a_case_that_fails_is_left_out_with_its_reason(peers: ModuleType) -> None:
    calls: list[str] = []

    def run(project: Any, case: str) -> dict[str, Any]:
        calls.append(case)
        if case == "bad" and calls.count("bad") == 2:
            raise peers.WorkerError("no such game")
        return line(10)

    left_out: dict[str, str] = {}
    found = peers.rounds([project(peers, "ours", "bad", "good")], 3, run, left_out)
    assert set(found) == {"ours/good"}
    assert len(found["ours/good"].speeds) == 3
    assert calls.count("bad") == 2
    assert left_out == {"ours/bad": "no such game"}


def test_ratios_are_of_medians_and_take_the_fastest_peer(
    peers: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = results(peers, {"ours/a": [1, 8, 100], "other/b": [1, 2, 900], "other/c": [4, 4, 4]})
    wanted = (
        peers.Comparison("best", "ours/a", ("other/*",)),
        peers.Comparison("one", "ours/a", ("other/b",)),
        peers.Comparison("not measured", "ours/a", ("third/*",)),
        peers.Comparison("ours not measured", "ours/z", ("other/*",)),
    )
    monkeypatch.setattr(peers, "COMPARISONS", wanted)
    found = peers.ratios(measured)
    assert [(ratio.text, ratio.peer, ratio.ratio) for ratio in found] == [
        ("best", "other/c", 2.0),
        ("one", "other/b", 4.0),
    ]


def test_tables_show_median_and_range_fastest_first(peers: ModuleType) -> None:
    measured = results(peers, {"ours/a": [1000, 3000, 2000], "other/b": [9000, 9000, 9000]})
    lines = peers.show(measured, [peers.Ratio("a / b", "ours/a", "other/b", 2 / 9)]).splitlines()
    assert lines[2].split() == ["other", "1.0", "b", "3", "yes", "9,000", "9,000", "9,000"]
    assert lines[3].split() == ["ours", "1.0", "a", "3", "yes", "2,000", "1,000", "3,000"]
    assert lines[-1].split() == ["a", "/", "b", "other/b", "0.22"]


@pytest.mark.parametrize(
    "output", ["", "hello", "[1]", '{"decisions": 3}', '{"decisions": 3, "seconds": 1}\nbye']
)
def test_a_line_that_is_no_figure_is_refused(peers: ModuleType, output: str) -> None:
    with pytest.raises(peers.WorkerError, match="instead of its figures"):
        peers.parse(output)


def test_what_a_project_prints_before_its_line_is_passed_over(peers: ModuleType) -> None:
    assert peers.parse(f"pygame 2.6\n{json.dumps(line(7))}\n") == line(7)


def test_a_worker_that_fails_tells_why(
    peers: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "other_worker.py").write_text("import sys; sys.exit('no such peer')")
    monkeypatch.setattr(peers, "WORKERS", tmp_path)
    with pytest.raises(peers.WorkerError, match="no such peer"):
        peers.run_worker(Path(sys.executable), "other", "case", 0.1)


def test_a_worker_times_its_loop_and_prints_one_line(peers: ModuleType, tmp_path: Path) -> None:
    script = tmp_path / "one_worker.py"
    script.write_text(
        f"import sys; sys.path.insert(0, {str(WORKERS)!r})\n"
        "from harness import Ready, work\n"
        "calls = []\n"
        "def play():\n"
        "    calls.append(1)\n"
        "    return 2.5\n"
        "work({'case': lambda: Ready(play, '1.2', 4, True, 0.5)}, None)\n"
        "print(len(calls), file=sys.stderr)\n"
    )
    command = [sys.executable, str(script), "case", "--seconds", "0.05"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    figures = peers.parse(done.stdout)
    warm_up = importlib.import_module("harness").WARM_UP
    assert figures["decisions"] == 2.5 * (int(done.stderr) - warm_up)
    assert figures["seconds"] >= 0.05
    assert (figures["version"], figures["numbers"], figures["mask"], figures["choices"]) == (
        "1.2",
        4,
        True,
        0.5,
    )


def test_an_environment_of_other_packages_is_not_taken(peers: ModuleType, tmp_path: Path) -> None:
    wanted = peers.Project("other", "Other", ("thing==2",), {})
    assert peers.is_installed(project(peers), tmp_path)
    assert not peers.is_installed(wanted, tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "installed.txt").write_text("thing==1\n")
    assert not peers.is_installed(wanted, tmp_path)
    (tmp_path / "other" / "installed.txt").write_text("thing==2\n")
    assert peers.is_installed(wanted, tmp_path)


def test_a_peer_without_environment_is_left_out(
    peers: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def run(python: Path, name: str, case: str, seconds: float) -> dict[str, Any]:
        assert name == "ours"
        return line(1000)

    monkeypatch.setattr(peers, "run_worker", run)
    file = tmp_path / "figures.json"
    peers.main(["--only", "rlcard", "--repeats", "1", "--venvs", str(tmp_path), "--json", str(file)])
    assert "RLCard is left out" in capsys.readouterr().err
    report = json.loads(file.read_text())
    assert set(report["left_out"]) == {"rlcard"}
    assert {name.split("/")[0] for name in report["results"]} == {"ours"}
    peers.main(["--read", str(file)])
    assert "500" in capsys.readouterr().out


def test_an_unknown_project_is_refused(peers: ModuleType) -> None:
    with pytest.raises(SystemExit, match=r"openspeil.*openspiel"):
        peers.choose("openspeil")


@pytest.mark.parametrize("wrong", ["--repeats=0", "--seconds=0", "--seconds=inf", "--seconds=nan"])
def test_a_measurement_takes_some_time(
    peers: ModuleType, wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        peers.main([wrong])
    assert wrong.split("=")[0] in capsys.readouterr().err


@pytest.mark.parametrize(
    ("speed", "shown"),
    [(0.25, "0.25"), (7, "7.00"), (950, "950"), (12_345, "12.3 k"), (1_270_000, "1.27 M")],
)
def test_speeds_have_three_digits(peers: ModuleType, speed: float, shown: str) -> None:
    assert peers.short(speed) == shown


def test_the_aec_loop_plays_whole_games() -> None:
    from gardienii_env import gardienii_v0

    aec_ready: Callable[..., Any] = importlib.import_module("aec_loop").aec_ready
    ready = aec_ready(gardienii_v0.raw_env(num_players=2), "1.0")
    assert (ready.numbers, ready.mask) == (312, True)
    assert ready.play() > 10
