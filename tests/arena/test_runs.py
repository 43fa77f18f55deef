"""Runs: however they are divided among chunks, processes and sessions, they come out the same."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from multiprocessing import active_children
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from small_matches import games_of, specified

from gardienii_env import AgentError, GardieniiError, OptionError, Ruleset
from gardienii_env.arena import MatchResult, TournamentResult, duplicate_match, load_result, workers
from gardienii_env.arena import folder as folders
from gardienii_env.arena.folder import RunFolder
from gardienii_env.arena.results import GAME
from gardienii_env.arena.run import play_run
from gardienii_env.arena.specification import TOURNAMENT, Specification
from gardienii_env.arena.workers import Task, play_in_processes
from gardienii_env.record import loads, verify

GAMES = folders.GAMES


def play(specification: Specification, **options: Any) -> MatchResult | TournamentResult:
    return play_run(specification, specification.make_agents(False), **options).result


def tasks_of(specification: Specification) -> Sequence[Task]:
    return [Task(table, 0, specification.deals) for table in range(len(specification.seating))]


# -- the same result -------------------------------------------------------------------------------


@pytest.mark.parametrize("agents", ["greedy,random", "random,random,random"])
@pytest.mark.parametrize("duplicate", [True, False])
def test_a_run_is_the_match(agents: str, duplicate: bool) -> None:
    specification = specified(agents=agents, duplicate=duplicate)
    result = play(specification)
    whole = duplicate_match(
        specification.make_agents(False), "gardienii", 12, 5, batch_size=5, duplicate=duplicate
    )
    assert games_of(result) == games_of(whole)


def test_processes_change_nothing() -> None:
    specification = specified(TOURNAMENT, "greedy,random,random,greedy", players=3, deals=7)
    here = play(specification)
    told: list[int] = []
    result = play(specification, jobs=3, progress=told.append)
    assert games_of(result) == games_of(here)
    assert isinstance(here, TournamentResult)
    assert isinstance(result, TournamentResult)
    assert result.ratings == here.ratings
    assert sum(told) == result.num_games == specification.num_games == 4 * 7 * 3
    assert not active_children()


@pytest.mark.parametrize("seconds", [1e-9, 1e9])
def test_the_size_of_chunks_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    monkeypatch.setattr(workers, "SECONDS", seconds)
    specification = specified(deals=30)
    folder = RunFolder.create(tmp_path / "run", specification)
    result = play(specification, folder=folder)
    sizes = [len(chunk.games) for chunk in folder.chunks()]
    assert sizes == ([1] * 30 if seconds < 1 else [1, 8, 21])
    assert games_of(result) == games_of(play(specification)) == games_of(load_result(tmp_path / "run"))


def test_every_table_has_its_own_pace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Slow agents may follow fast ones: a table begins with a single deal."""
    monkeypatch.setattr(workers, "SECONDS", 1e9)
    specification = specified(TOURNAMENT, "random,greedy,random", deals=12)
    folder = RunFolder.create(tmp_path / "run", specification)
    play(specification, folder=folder)
    assert [(chunk.table, len(chunk.games)) for chunk in folder.chunks()] == [
        (table, deals) for table in range(3) for deals in (1, 8, 3)
    ]


def test_a_process_that_dies_ends_the_run() -> None:
    specification = specified(deals=100_000)
    chunks = play_in_processes(specification, False, tasks_of(specification), 2, lambda games: None)
    next(chunks)
    active_children()[0].kill()
    with pytest.raises(GardieniiError, match=r"ended by itself \(exit status -9\)"):
        list(chunks)
    assert not active_children()


def test_what_an_agent_raises_in_a_process_is_raised_here() -> None:
    unknown = replace(specified(), agents=("greedy", "nobody"))
    with pytest.raises(GardieniiError, match="The agent 'nobody' is not known"):
        list(play_in_processes(unknown, False, tasks_of(unknown), 2, lambda games: None))
    broken = replace(specified(), ruleset=cast("Ruleset", None))
    with pytest.raises(RuntimeError, match=r"in a process of --jobs:\n(.|\n)*AttributeError"):
        list(play_in_processes(broken, False, tasks_of(broken), 1, lambda games: None))
    assert not active_children()


def test_processes_end_with_the_run() -> None:
    specification = specified(deals=100_000)
    chunks = play_in_processes(specification, False, tasks_of(specification), 2, lambda games: None)
    next(chunks)
    assert len(active_children()) == 2
    chunks.close()
    assert not active_children()


# -- folders ---------------------------------------------------------------------------------------


def finished(path: Path, **options: Any) -> RunFolder:
    specification = specified(**options)
    folder = RunFolder.create(path, specification)
    play(specification, folder=folder)
    return folder


def written_records(folder: RunFolder) -> list[str]:
    text = StringIO()
    folder.write_records(text)
    return text.getvalue().splitlines()


@pytest.mark.parametrize("torn", [0, 1, 30])
@pytest.mark.parametrize("lines", [0, 1, 2])
def test_what_was_played_is_not_played_again(tmp_path: Path, lines: int, torn: int) -> None:
    """The file of games is cut after some lines, and in the middle of the next."""
    whole = finished(tmp_path / "whole", save_records=True)
    games = (whole.path / GAMES).read_bytes().splitlines(keepends=True)
    part = RunFolder.create(tmp_path / "part", whole.specification)
    kept = b"".join(games[:lines])
    (part.path / GAMES).write_bytes(kept + games[lines][:torn])
    again = RunFolder.open(part.path)
    assert again.num_played == sum(chunk.games.size for chunk in again.chunks())
    told: list[int] = []
    result = play(again.specification, folder=again, progress=told.append)
    assert (part.path / GAMES).read_bytes().startswith(kept)
    assert sum(told) == 24 - sum(chunk.games.size for chunk in whole.chunks()[:lines])
    assert games_of(result) == games_of(load_result(whole.path)) == games_of(load_result(part.path))
    assert written_records(again) == written_records(whole)


def test_chunks_may_lie_in_any_order(tmp_path: Path) -> None:
    whole = finished(tmp_path / "whole", save_records=True)
    expected = games_of(load_result(whole.path)), written_records(whole)
    file = whole.path / GAMES
    file.write_bytes(b"".join(reversed(file.read_bytes().splitlines(keepends=True))))
    again = RunFolder.open(whole.path)
    assert (games_of(load_result(whole.path)), written_records(again)) == expected


def test_records_are_those_of_the_games_in_order(tmp_path: Path) -> None:
    folder = finished(tmp_path / "run", agents="greedy,random,random", save_records=True, deals=4)
    result = load_result(folder.path)
    assert isinstance(result, MatchResult)
    for kept, record in zip(result.games.ravel(), written_records(folder), strict=True):
        game = verify(loads(record))
        assert game.seed == 5 + kept["deal"]
        scores = np.roll(game.scores(), -kept["rotation"])
        assert scores.tolist() == kept["points"][:3].sum(axis=1).tolist()


def test_results_are_read_back(tmp_path: Path) -> None:
    specification = specified(TOURNAMENT, "random,greedy,random", deals=3)
    result = play(specification, folder=RunFolder.create(tmp_path / "run", specification))
    again = load_result(tmp_path / "run")
    assert isinstance(result, TournamentResult)
    assert isinstance(again, TournamentResult)
    assert again.agents == ("random (1)", "greedy", "random (2)")
    assert (again.agents, again.ratings, again.seed) == (result.agents, result.ratings, result.seed)
    assert games_of(again) == games_of(result)
    assert again.tables[0][1].games.dtype == GAME


def test_a_run_that_is_not_finished_has_no_result(tmp_path: Path) -> None:
    RunFolder.create(tmp_path / "run", specified())
    with pytest.raises(OptionError, match="0 of 24 games have been played; go on with --resume"):
        load_result(tmp_path / "run")


def test_two_processes_do_not_write_to_one_folder(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", specified())
    other = RunFolder.open(tmp_path / "run")
    with (
        folder.writing(),
        pytest.raises(OptionError, match="is being written by another process"),
        other.writing(),
    ):
        pass
    with other.writing():
        pass


def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was kept before stays good."""
    specification = specified()
    folder = RunFolder.create(tmp_path / "run", specification)
    left = [2]

    def sync(file: int) -> None:
        left[0] -= 1
        if not left[0]:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", sync)
    with pytest.raises(OptionError, match=r"cannot be written: No space left.* --resume .*run goes on"):
        play(specification, folder=folder)
    assert games_of(play(specification, folder=folder)) == games_of(play(specification))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"end": 0}, "no such end"),
        ({"end": 9}, "no such end"),
        ({"turns": -5}, "negative"),
        ({"share": [5, -4]}, "no such share"),
        ({"share": [0.5, 0.2]}, "not 1 together"),
        ({"share": [float("nan"), 1]}, "no such share"),
        ({"seconds": float("nan")}, "no time"),
    ],
)
def test_what_cannot_have_been_played_is_refused(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    folder = RunFolder.create(tmp_path / "run", specified())
    play(folder.specification, folder=folder)
    line = json.loads((tmp_path / "run" / GAMES).read_text(encoding="utf-8").splitlines()[0])
    for name, value in change.items():
        if name == "seconds":
            line[name] = value
        else:
            line[name][0][0] = value
    (tmp_path / "run" / GAMES).write_text(json.dumps(line) + "\n", encoding="utf-8")
    with pytest.raises(OptionError, match=message):
        RunFolder.open(folder.path).chunks()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{}", "'table'"),
        ("[1, 2]", "list"),
        ("\0\0\0", "damaged"),
        ("{", "Expecting"),
        ('{"table": 1, "first": 0, "end": [[1, 1]]}', "there are no such deals"),
        ('{"table": 0, "first": 12, "end": [[1, 1]]}', "there are no such deals"),
        ('{"table": 0, "first": 0, "end": []}', "there are no such deals"),
        ('{"table": 0, "first": 0, "end": [[1]]}', "end has a wrong shape"),
        ('{"table": 0, "first": 0, "end": [[1, "x"]]}', "invalid literal"),
        ('{"table": 0, "first": 0, "end": [[1, 1000]]}', "damaged"),
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    RunFolder.create(tmp_path / "run", specified())
    (tmp_path / "run" / GAMES).write_text(line + "\n", encoding="utf-8")
    with pytest.raises(OptionError, match="line 1 is damaged") as caught:
        load_result(tmp_path / "run")
    assert message in str(caught.value)


def test_deals_that_are_there_twice_are_refused(tmp_path: Path) -> None:
    folder = finished(tmp_path / "run")
    file = folder.path / GAMES
    file.write_bytes(2 * file.read_bytes())
    with pytest.raises(OptionError, match="these deals are there twice"):
        load_result(folder.path)


# -- specifications --------------------------------------------------------------------------------


def test_a_specification_is_read_back() -> None:
    own = Ruleset.get("gardienii").replace(name="own", turn_limit=7)
    for specification in (
        specified(),
        specified(ruleset=own, save_records=True, duplicate=False),
        specified(TOURNAMENT, "random,greedy,random,random", players=3, tables=2),
    ):
        data = json.loads(json.dumps(specification.to_dict()))
        assert Specification.from_dict(data) == specification


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("format", "other", "not the specification of a run"),
        ("version", 2, "version 2 is not known"),
        ("gardienii_env", "0.0.1", "begun with version 0.0.1"),
        ("kind", "chess", "kind: 'chess'"),
        ("deals", "many", "deals: 'many' has a wrong type"),
        ("deals", True, "deals: True has a wrong type"),
        ("deals", 0, "deals, seed: 0"),
        ("deals", 10**12, "deals, seed: 1000000000000"),
        ("seed", -1, "deals, seed: 12 and -1"),
        ("agents", ["greedy", 3], "is not a list of names"),
        ("players", 3, "players: 3 is not the number of agents"),
        ("ruleset", "mine.toml", "the ruleset 'mine.toml' is not known"),
        ("ruleset", {}, "missing"),
        ("tables", None, None),
    ],
)
def test_a_broken_specification_is_refused(
    tmp_path: Path, key: str, value: object, message: str | None
) -> None:
    RunFolder.create(tmp_path / "run", specified())
    file = tmp_path / "run" / "run.json"
    data = json.loads(file.read_text(encoding="utf-8"))
    assert key in data
    file.write_text(json.dumps({**data, key: value}), encoding="utf-8")
    if message is None:
        RunFolder.open(tmp_path / "run")
        return
    with pytest.raises(OptionError, match=r"run\.json: ") as caught:
        RunFolder.open(tmp_path / "run")
    assert message in str(caught.value)
    del data[key]
    file.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(OptionError):
        RunFolder.open(tmp_path / "run")


def test_what_is_no_folder_of_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="is not the folder of a run"):
        RunFolder.open(tmp_path)
    (tmp_path / "run.json").write_text("{", encoding="utf-8")
    with pytest.raises(OptionError, match="is not valid JSON"):
        RunFolder.open(tmp_path)


def test_a_folder_that_is_not_empty_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("", encoding="utf-8")
    with pytest.raises(OptionError, match="is not empty; give a new one, or go on with a run"):
        RunFolder.create(tmp_path, specified())
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_file_that_changes_meanwhile_is_refused(tmp_path: Path) -> None:
    """An agent made from a file is told by what is in it."""
    file = tmp_path / "agent.onnx"
    file.write_bytes(b"first")
    specification = specified(agents=f"greedy,random:{file}")
    assert list(specification.files) == [f"random:{file}"]
    with pytest.raises(AgentError, match="takes no argument"):
        specification.make_agents(False)
    file.write_bytes(b"second")
    with pytest.raises(OptionError, match=r"agent\.onnx has changed since the run began"):
        specification.make_agents(False)


def test_code_of_users_that_changes_meanwhile_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    code = tmp_path / "changing_agent.py"
    code.write_text("def f(game, rng):\n    return game.legal_actions()[0]\n", encoding="utf-8")
    specification = specified(agents="greedy,python:changing_agent:f")
    specification.make_agents(False)
    code.write_text("def f(game, rng):\n    return game.legal_actions()[-1]\n", encoding="utf-8")
    with pytest.raises(OptionError, match=r"changing_agent\.py has changed since the run began"):
        specification.make_agents(False)


def test_the_command_plays_the_same() -> None:
    specification = specified(TOURNAMENT, "random,greedy,random", players=3, tables=1, duplicate=False)
    assert specification.command == (
        "gardienii tournament --agents random,greedy,random --players 3 --tables 1 --deals 12 --seed 5 "
        "--independent"
    )
    own = specified(ruleset=Ruleset.get("dragonkeepers"))
    assert own.command == (
        "gardienii evaluate --agents greedy,random --deals 12 --seed 5 --ruleset dragonkeepers"
    )
