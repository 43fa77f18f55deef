"""`--jobs ray`: a cluster gives the figures of one process, whatever it loses on the way.

The cluster is one of two nodes with a core each, on this machine. Without Ray, what needs it is skipped.
"""

from __future__ import annotations

import json
import os
import pickle
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from helpers import Program
from networks import save_network
from small_matches import games_of, specified

from gardienii_env import GardieniiError, OptionError
from gardienii_env.agents import make_agent
from gardienii_env.arena import cluster as clusters
from gardienii_env.arena import load_result, workers
from gardienii_env.arena.cluster import Cluster, ClusterAddress, joined
from gardienii_env.arena.folder import RunFolder
from gardienii_env.arena.run import play_run
from gardienii_env.arena.specification import TOURNAMENT, Specification
from gardienii_env.arena.workers import Player
from gardienii_env.arena.workers import Task as WorkersTask

MODULE = "agents_on_ray"
CODE = """
import os, time
from pathlib import Path

HERE = Path(__file__).parent
ON_NODE = str(os.getpid()) != (HERE / "here").read_text()

def note(name):
    import ray
    node = ray.get_runtime_context().get_node_id() if ON_NODE else "here"
    with open(HERE / name, "a") as file:
        print(node, os.getpid(), file=file)

decisions = 0

def slow(game, rng):
    '''Draws; on a node it notes where, and takes its time.

    After the first deals it waits until as many processes have played as the file `together` says.
    '''
    global decisions
    if ON_NODE:
        note("played")
        time.sleep(0.01)
        decisions += 1
        while decisions > 300 and len(set((HERE / "played").read_text().splitlines())) < together():
            time.sleep(0.05)
    legal = game.legal_actions()
    return legal[int(rng.integers(len(legal)))]

def together():
    file = HERE / "together"
    return int(file.read_text()) if file.exists() else 0

def fails(game, rng):
    print("hello")
    note("failed")
    raise KeyError("seven")

def dies(game, rng):
    if ON_NODE:
        note("died")
        os._exit(9)
    return game.legal_actions()[0]

"""
ABSENT = """
import os
if "AGENTS_ARE_HERE" not in os.environ:
    raise ModuleNotFoundError("No module named 'absent_on_ray'", name="absent_on_ray")

def f(game, rng):
    return game.legal_actions()[0]
"""


@pytest.fixture(scope="module")
def ray() -> Any:
    os.environ.setdefault("RAY_agent_register_timeout_ms", "200000")  # on a busy machine
    return pytest.importorskip("ray", reason="Ray is not installed: pip install -e '.[ray]'")


@pytest.fixture(scope="module")
def two_nodes(ray: ModuleType) -> Iterator[Any]:
    """A cluster; the second of its nodes can be taken away, and put back."""
    from ray.cluster_utils import Cluster as Nodes

    nodes = Nodes(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    nodes.add_node(num_cpus=1)
    yield nodes
    nodes.shutdown()


@pytest.fixture
def address(two_nodes: Any) -> str:
    while len(two_nodes.list_all_nodes()) < 2:
        two_nodes.add_node(num_cpus=1)
    return str(two_nodes.address)


@pytest.fixture
def own_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A module of agents in the current folder; its name."""
    (tmp_path / f"{MODULE}.py").write_text(CODE, encoding="utf-8")
    (tmp_path / "here").write_text(str(os.getpid()), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield f"python:{MODULE}"
    sys.modules.pop(MODULE, None)


def games_played(specification: Specification, **options: Any) -> list[bytes]:
    """All games of a run, played as the options say."""
    return games_of(play_run(specification, specification.make_agents(False), **options).result)


def lines_of(name: str) -> list[tuple[str, int]]:
    """What agents noted: nodes and processes."""
    path = Path(name)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [(node, int(process)) for node, process in map(str.split, lines)]


def figures(text: str) -> dict[str, Any]:
    """A report without the times."""
    data: dict[str, Any] = json.loads(text)
    assert data.pop("times")
    return data


# -- the same figures ------------------------------------------------------------------------------


def test_a_match_on_two_nodes_is_that_of_one_process(
    gardienii: Program, address: str, own_agents: str, tmp_path: Path
) -> None:
    """With a network whose file no node could find, and an agent that notes where it plays."""
    save_network(tmp_path / "mine.onnx")
    (tmp_path / "together").write_text("2", encoding="utf-8")
    match = ("--agents", f"network:mine.onnx,{own_agents}:slow", "--deals", "8", "--seed", "3")
    one = gardienii("evaluate", *match, "--out", "one", "--save-records")
    many = gardienii("evaluate", *match, "--out", "many", "--save-records", "--jobs", f"ray:{address}")
    assert many.status == 0, many.err
    assert many.out == one.out
    assert f"Playing on the Ray cluster at {address}: 2 nodes, 2 cores." in many.err
    assert figures(Path("many/report.json").read_text()) == figures(Path("one/report.json").read_text())
    assert Path("many/records.jsonl").read_bytes() == Path("one/records.jsonl").read_bytes()
    assert len({node for node, _ in lines_of("played")}) == 2


def test_the_cluster_of_the_environment_is_joined(
    gardienii: Program, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And standard output has the report alone."""
    monkeypatch.setenv("RAY_ADDRESS", address)
    tournament = ("tournament", "--agents", "greedy,random,random", "--players", "3", "--deals", "9")
    one = gardienii(*tournament, "--json", "-")
    many = gardienii(*tournament, "--json", "-", "--jobs", "ray")
    assert many.status == 0, many.err
    assert figures(many.out) == figures(one.out)
    assert f"Playing on the Ray cluster at {address}" in many.err


# -- what is lost ----------------------------------------------------------------------------------


def test_what_is_lost_is_played_again(
    two_nodes: Any,
    address: str,
    own_agents: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A process is killed in the middle of a game, then a node: the tournament comes out the same."""
    monkeypatch.setattr(workers, "SECONDS", 0.2)
    specification = specified(TOURNAMENT, f"greedy,{own_agents}:slow,random", deals=5)
    folder = RunFolder.create(tmp_path / "run", specification)
    told: list[int] = []
    together = tmp_path / "together"
    together.write_text("2", encoding="utf-8")
    head = two_nodes.head_node.node_id

    def progress(games: int) -> None:
        told.append(games)
        playing = dict(lines_of("played"))
        processes = {process for _, process in lines_of("played")}
        if len(processes) == 2 and len(playing) == 2 and together.read_text() == "2":
            together.write_text("3", encoding="utf-8")
            os.kill(playing[head], signal.SIGKILL)
        elif len(processes) == 3 and len(two_nodes.list_all_nodes()) == 2:
            (second,) = two_nodes.worker_nodes
            two_nodes.remove_node(second, allow_graceful=False)

    with joined(ClusterAddress(address)) as cluster:
        many = games_played(specification, jobs=cluster, folder=folder, progress=progress)
    assert len(two_nodes.list_all_nodes()) == 1
    assert sum(told) == specification.num_games
    assert len({process for _, process in lines_of("played")}) >= 3
    assert many == games_played(specification)


def test_what_is_lost_again_and_again_is_told(
    gardienii: Program, address: str, own_agents: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clusters, "RETRIES", 1)
    match = ("evaluate", "--agents", f"{own_agents}:dies,random", "--deals", "1", "--seed", "40")
    result = gardienii(*match, "--jobs", f"ray:{address}")
    assert result.status == 2
    assert "error: The deals 0 to 0 of table 0 were lost 2 times with what played them" in result.err
    assert len(lines_of("died")) == 2


# -- agents that fail, and nodes that cannot play --------------------------------------------------


def test_an_agent_that_fails_ends_the_run(gardienii: Program, address: str, own_agents: str) -> None:
    """It is not tried again, and nothing that was played is lost."""
    match = ("evaluate", "--agents", f"{own_agents}:fails,random", "--deals", "1", "--seed", "40")
    result = gardienii(*match, "--out", "run", "--jobs", f"ray:{address}")
    assert result.status == 2
    (line,) = (line for line in result.err.splitlines() if "error: " in line)
    assert "error: on the node " in line
    assert f": {own_agents}:fails failed: KeyError: 'seven'" in line
    assert "It was in deal 0 with rotation" in line
    assert len(lines_of("failed")) == 1
    assert "Traceback" not in result.err


def test_a_module_that_is_not_on_a_node_is_named(
    gardienii: Program, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "absent_on_ray.py").write_text(ABSENT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AGENTS_ARE_HERE", "1")
    match = ("evaluate", "--agents", "python:absent_on_ray:f,random", "--deals", "1")
    result = gardienii(*match, "--jobs", f"ray:{address}")
    assert result.status == 2
    assert re.search("on the node .*: python:absent_on_ray:f: there is no module", result.err)
    assert "Each node needs" in result.err


def test_other_source_on_a_node_is_told(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "SOURCES_DIGEST", "other")
    with (
        joined(ClusterAddress(address)) as cluster,
        pytest.raises(GardieniiError, match=r"on the node .*: this is gardienii-env .* of other source"),
    ):
        games_played(specified(agents="greedy,random", deals=1), jobs=cluster)


# -- joining ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("jobs", "message"),
    [
        ("ray:nowhere", "'nowhere' is not the address of a Ray cluster; expected HOST:PORT"),
        ("ray:ray://127.0.0.1:10001", "is not the address of a Ray cluster"),
        ("ray:127.0.0.1:99999", "is not the address of a Ray cluster"),
        ("ray:127.0.0.1:1", "the Ray cluster '127.0.0.1:1' cannot be joined: "),
    ],
)
@pytest.mark.parametrize("way", ["option", "environment"])
def test_an_address_that_does_not_answer_is_one_sentence(
    ray: Any,
    gardienii: Program,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    jobs: str,
    message: str,
    way: str,
) -> None:
    if way == "environment":
        monkeypatch.setenv("RAY_ADDRESS", jobs.removeprefix("ray:"))
        jobs = "ray"
    run = tmp_path / "run"
    result = gardienii("evaluate", "--agents", "greedy,random", "--out", run, "--jobs", jobs)
    assert result.status == 2
    assert f"error: {'--jobs' if way == 'option' else 'RAY_ADDRESS'}: " in result.err
    assert message in result.err
    assert result.err.count("\n") == 1
    assert not run.exists()


def test_what_is_no_cluster_is_one_sentence(ray: Any, gardienii: Program) -> None:
    """Something listens there, and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        result = gardienii("evaluate", "--agents", "greedy,random", "--jobs", f"ray:{address}")
    assert result.status == 2
    assert f"error: --jobs: the Ray cluster '{address}' cannot be joined: " in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    ("jobs", "word"), [("ray:", "no address"), ("rays", "whole number"), ("0", "ray")]
)
def test_what_jobs_cannot_be(gardienii: Program, jobs: str, word: str) -> None:
    result = gardienii("evaluate", "--agents", "greedy,random", "--jobs", jobs)
    assert result.status == 2
    assert "argument --jobs: " in result.err
    assert word in result.err


def test_without_ray_the_extra_is_named(
    gardienii: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    run = tmp_path / "run"
    result = gardienii("evaluate", "--agents", "greedy,random", "--jobs", "ray", "--out", run)
    assert result.status == 2
    assert "Playing on a Ray cluster needs libraries that are not installed: pip install" in result.err
    assert "[ray]" in result.err
    assert not run.exists()


class NoCluster:
    """In the place of Ray: nothing runs here; it notes what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def init(self, address: str, **options: Any) -> None:
        self.asked.append(address)
        if address == "auto":
            raise ConnectionError("Could not find any running Ray instance.")


@pytest.mark.parametrize("given", [None, "local"])
def test_where_none_runs_one_is_started(given: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    fake = NoCluster()
    assert "this machine alone" in clusters._join(fake, given)
    assert fake.asked == (["local"] if given else ["auto", "local"])


def test_one_that_should_run_is_not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(OptionError, match="'auto' cannot be joined: Could not find any"):
        clusters._join(NoCluster(), "auto")


# -- how it ends -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_is_gone_on_with(
    ray: Any, gardienii: Program, own_agents: str, tmp_path: Path, number: int, status: int
) -> None:
    """On a cluster that was started for it, which ends with it."""
    match = ["--agents", f"{own_agents}:slow,random", "--deals", "9", "--seed", "3"]
    command = [sys.executable, "-m", "gardienii_env", "evaluate", *match, "--jobs", "ray:local"]
    environment = {**os.environ, "HOME": str(tmp_path)}  # Ray keeps a token there
    process = subprocess.Popen(
        [*command, "--out", "run"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        until = time.monotonic() + 300
        while not (Path("run/games.jsonl").exists() and Path("run/games.jsonl").stat().st_size):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until
            time.sleep(0.05)
        if number == signal.SIGINT:
            os.killpg(process.pid, number)  # as in a terminal
        else:
            process.send_signal(number)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == status, err
    assert out == ""
    assert "of this machine alone, started for this run: 1 node" in err
    assert "To go on: gardienii evaluate --resume run" in err
    assert "Traceback" not in err
    with pytest.raises(OptionError, match="have been played"):
        load_result("run")
    resumed, whole = gardienii("evaluate", "--resume", "run"), gardienii("evaluate", *match)
    assert resumed.status == 0
    assert resumed.out == whole.out


# -- parts -----------------------------------------------------------------------------------------


def test_a_network_travels_without_its_file(tmp_path: Path) -> None:
    agent = make_agent(f"network:{save_network(tmp_path / 'a.onnx')}")
    specification = specified(agents=f"{agent.name},random", deals=2)
    data = pickle.dumps(Player(specification, False, {agent.name: agent}))
    here = games_played(specification)
    (tmp_path / "a.onnx").unlink()
    answer = pickle.loads(data).answer(WorkersTask(0, 0, 2))
    assert [answer.games.tobytes()] == here


def test_one_process_of_a_machine_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others wait for the first, and then go at once; where it was done before, nobody waits."""
    pytest.importorskip("filelock")
    monkeypatch.setattr(clusters, "line_up", SimpleNamespace(stats=SimpleNamespace(cache_path=tmp_path)))
    log: list[str] = []
    inside, go_on = threading.Event(), threading.Event()

    def first() -> None:
        player = Player(specified(agents="greedy,random"), False)
        with clusters._first_alone(player):
            inside.set()
            assert go_on.wait(20)
            player.agents = player.specification.make_agents(False)
            log.append("compiled")

    def other() -> None:
        with clusters._first_alone(Player(specified(agents="random,greedy"), False)):
            log.append("plays")

    threads = [threading.Thread(target=first)]
    threads[0].start()
    assert inside.wait(20)
    threads += [threading.Thread(target=other) for _ in range(2)]
    for thread in threads[1:]:
        thread.start()
        thread.join(0.1)
    assert not log
    go_on.set()
    for thread in threads:
        thread.join(20)
    assert log == ["compiled", "plays", "plays"]
    with clusters._first_alone(Player(specified(agents="greedy,random"), False)):
        other()
    assert len(log) == 4


def test_a_number_of_jobs_needs_no_cluster() -> None:
    with joined(3) as jobs:
        assert jobs == 3
    assert not isinstance(jobs, Cluster)
