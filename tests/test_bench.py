"""`gardienii bench`: that every figure is there, that it counts what it says, and how wrong use ends.

No speed is asserted: the runs are as short as can be.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gardienii_env import OptionError, __version__, bench, layout
from gardienii_env.bench import CASES, UNITS, Figure, Settings, cases, environments, figures, machine
from gardienii_env.bench.cases import Job
from gardienii_env.bench.training import (
    QUICK_START,
    Idle,
    TrainingSettings,
    make_model,
    record,
    training,
)
from gardienii_env.cli import bench as command
from gardienii_env.cli import main
from gardienii_env.envs.aec import GardieniiEnv
from gardienii_env.envs.batch import GardieniiBatch
from gardienii_env.envs.single import GardieniiSingleEnv
from gardienii_env.envs.vector import GardieniiVectorEnv
from gardienii_env.rules.state import STATE
from training.config import load_config

ROOT = Path(__file__).parent.parent
SHORT = ["--seconds", "0.01", "--repeats", "2", "--games", "6", "--many-games", "9"]
SMALL = replace(QUICK_START, num_envs=6, n_steps=8, batch_size=24, n_epochs=1, threads=1, hidden=(8,))
FAST = [name for name in CASES if name != "sb3"]

EXPECTED = {  # figures for two numbers of players and two numbers of threads
    "aec": 2 * 2,
    "single": 2 * 2,
    "batch": 4 * 2 * 2,
    "many": (1 + 4) * 2 * 2,
    "step": 2 * 2,
    "vector": 2 * 2 * 2,
    "sb3": 4,
}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads, though there be one core, and training as small as can be."""
    monkeypatch.setattr(cases, "_threads", lambda: (1, 2))
    monkeypatch.setattr("gardienii_env.bench.training.QUICK_START", SMALL)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str]:
    """What a short run of all cases writes and prints."""
    path = tmp_path_factory.mktemp("bench") / "speed.json"
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cases, "_threads", lambda: (1, 2))
        patch.setattr("gardienii_env.bench.training.QUICK_START", SMALL)
        patch.setattr(sys, "stdout", printed)
        assert main(["bench", *SHORT, "--json", str(path)]) == 0
    return json.loads(path.read_text(encoding="utf-8")), printed.getvalue()


# -- all figures -----------------------------------------------------------------------------------


def test_every_figure_is_there_and_positive(whole: tuple[dict[str, Any], str]) -> None:
    found = whole[0]["figures"]
    assert Counter(figure["case"] for figure in found) == EXPECTED
    for figure in found:
        assert figure["unit"] in UNITS
        assert 0 < figure["lowest"] <= figure["median"] <= figure["highest"]
        assert len(figure["samples"]) == (1 if figure["unit"] == "bytes" else 2)
        assert figure["lowest"] == min(figure["samples"])
        assert figure["highest"] == max(figure["samples"])
        if figure["unit"] == "share":
            assert figure["highest"] < 1
    names = [(f["case"], f["what"], f["players"], f["threads"], f["opponents"]) for f in found]
    assert len(set(names)) == len(names)


def test_figures_tell_what_they_were_measured_with(whole: tuple[dict[str, Any], str]) -> None:
    for figure in whole[0]["figures"]:
        games = {"aec": 1, "single": 1, "many": 9, "sb3": SMALL.num_envs}.get(figure["case"], 6)
        assert figure["games"] == games
        assert (figure["view"] is None) == (figure["what"] == "no observation")
        assert (figure["dtype"] is None) == (figure["view"] is None)
        assert (figure["opponents"] is None) == (figure["case"] not in ("single", "vector", "sb3"))
    batch = [f for f in whole[0]["figures"] if f["case"] == "batch"]
    assert {(f["view"], f["dtype"]) for f in batch} == {
        (None, None),
        ("table", "float32"),
        ("table", "uint8"),
        ("recall", "float32"),
    }


def test_the_json_has_the_keys_that_are_documented(whole: tuple[dict[str, Any], str]) -> None:
    data = whole[0]
    assert (data["format"], data["version"], data["skipped"]) == ("gardienii-bench", 1, {})
    assert list(data["cases"]) == list(CASES)
    assert data["settings"] == {
        "seconds": 0.01,
        "repeats": 2,
        "players": [2, 4],
        "games": 6,
        "many_games": 9,
    }
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", data["started"])
    assert data["elapsed_seconds"] > 0
    versions = data["machine"]["versions"]
    assert versions["gardienii-env"] == __version__
    assert versions["numpy"] == np.__version__
    page = (ROOT / "docs" / "speed.md").read_text(encoding="utf-8")
    for keys in (data, data["machine"], data["settings"], data["figures"][0]):
        for key in keys:
            assert f"`{key}`" in page, key
    for name in CASES:
        assert f"| `{name}` |" in page


def test_the_table_tells_the_machine_and_every_figure(whole: tuple[dict[str, Any], str]) -> None:
    data, printed = whole
    processor, versions, blank, head, _, *rows = printed.splitlines()
    assert processor.startswith(data["machine"]["processor"])
    for name, number in data["machine"]["versions"].items():
        assert f"{name} {number or '-'}" in versions
    assert blank == ""
    assert re.split(r"\s{2,}", head) == list(command.HEADERS)
    for row, figure in zip(rows, data["figures"], strict=True):
        cells = re.split(r"\s{2,}", row)
        assert cells[:2] == [figure["case"], figure["what"]]
        assert cells[2:5] == [f"{figure[key]:,}" for key in ("players", "games", "threads")]
        if figure["unit"] == "decisions/s":
            assert cells[5:8] == [f"{figure[key]:,.0f}" for key in ("median", "lowest", "highest")]


def test_memory_is_that_of_the_arrays(whole: tuple[dict[str, Any], str]) -> None:
    for figure in whole[0]["figures"]:
        if figure["unit"] != "bytes":
            continue
        expected = {
            "memory: states": 9 * STATE.itemsize,
            "memory: masks": 9 * 73,
            "memory: observations": 9 * 4 * layout(figure["players"]).size,
        }
        if figure["what"] in expected:
            assert figure["median"] == expected[figure["what"]]
        else:
            assert figure["what"].startswith("memory: process peak")
            assert figure["median"] > 10**7  # no Python with numpy is smaller


def test_some_cases_for_some_players(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--only", "step,aec,step", "--players", "3", "--json", "-"]
    assert main(["bench", *SHORT, *options]) == 0
    out, err = capsys.readouterr()
    data = json.loads(out)
    assert list(data["cases"]) == ["aec", "step"]
    assert {figure["players"] for figure in data["figures"]} == {3}
    assert Counter(f["case"] for f in data["figures"]) == {"aec": 2, "step": 2}
    assert "Measuring for about 1 second, and " in err
    assert "measuring aec\nmeasuring step\n" in err
    assert f"numpy {np.__version__}" in err
    assert "step(random_actions())" in err


def test_a_single_sample_has_no_range(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--repeats", "1", "--only", "aec", "--players", "2"]
    assert main(["bench", *SHORT, *options]) == 0
    row = re.split(r"\s{2,}", capsys.readouterr().out.splitlines()[-1])
    assert len(row) == 7
    assert row[-1] == "decisions/s"


# -- what is counted -------------------------------------------------------------------------------


class Clock:
    """A clock that stands still but for what is told to take time."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    result = Clock()
    monkeypatch.setattr(figures, "time", result)
    monkeypatch.setattr(environments, "time", result)
    return result


def taking(monkeypatch: pytest.MonkeyPatch, clock: Clock, owner: type, method: str) -> list[Any]:
    """Let each call of a method take a second; gives what the calls returned."""
    real, results = getattr(owner, method), []

    def slow(*arguments: Any, **options: Any) -> Any:
        clock.now += 1
        results.append(real(*arguments, **options))
        return results[-1]

    monkeypatch.setattr(owner, method, slow)
    return results


def test_a_speed_is_decisions_over_seconds(clock: Clock) -> None:
    def play() -> int:
        clock.now += 0.5
        return 7

    speed = figures.timed(play)
    assert speed(2.0) == 14
    assert clock.now == 2
    assert figures.samples_of(speed, 4.0, 2) == (14, 14)
    assert clock.now == 6


def test_a_figure_is_the_median_of_its_samples() -> None:
    figure = Figure("some", "ratio", (5.0, 1.0, 2.0))
    assert (figure.median, figure.min, figure.max) == (2, 1, 5)


def test_every_learners_step_counts_once(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    speed = environments.single("greedy", 2)
    taking(monkeypatch, clock, GardieniiSingleEnv, "step")
    assert speed(100) == 1


@pytest.mark.parametrize("name", ["raw_env", "env"])
def test_steps_of_agents_that_are_done_do_not_count(
    monkeypatch: pytest.MonkeyPatch, clock: Clock, name: str
) -> None:
    actions: list[int | None] = []
    real = GardieniiEnv.step

    def step(env: GardieniiEnv, action: int | None) -> None:
        clock.now += 1
        actions.append(action)
        real(env, action)

    speed = environments.aec(name, 4)
    monkeypatch.setattr(GardieniiEnv, "step", step)
    found = speed(1)
    assert found * len(actions) == pytest.approx(sum(action is not None for action in actions))
    assert actions[-4:] == [None] * 4


def test_every_action_of_the_batch_counts(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    played = taking(monkeypatch, clock, GardieniiBatch, "play_random")
    speed = environments.playing_random(environments.make_batch(2, 16, 1))
    assert speed(3) == 65_536
    assert len(played) == 4  # one before it is timed
    speed = environments.playing_random(environments.make_batch(2, 70_000, 1))
    assert speed(1) == 70_000
    taking(monkeypatch, clock, GardieniiBatch, "step")
    assert environments.stepping(environments.make_batch(2, 16, 1))(3) == 16


def test_only_steps_and_real_decisions_of_the_vector_count(
    monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    told = taking(monkeypatch, clock, GardieniiVectorEnv, "step")
    speed = environments.vector(2, 16, 1, "table", "float32", "random")
    before = len(told)
    decisions = 200 * speed(200)
    assert len(told) == before + 200
    resets = sum(
        int((terminated | truncated).sum()) for _, _, terminated, truncated, _ in told[before - 1 : -1]
    )
    assert resets > 0
    assert decisions == pytest.approx(16 * 200 - resets)


def test_what_happens_only_once_happens_before(monkeypatch: pytest.MonkeyPatch) -> None:
    told = taking(monkeypatch, Clock(), GardieniiVectorEnv, "step")
    environments.vector(2, 4, 1, "table", "float32", "random")
    over = [bool((terminated | truncated).any()) for _, _, terminated, truncated, _ in told]
    assert over[-2]
    assert not any(over[:-2])


def test_random_actions_are_legal_and_all_of_them_come() -> None:
    masks = np.zeros((3000, 73), np.int8)
    masks[:, [0, 5, 72]] = 1
    masks[:1000, 5] = 0
    actions = environments.random_legal(masks, np.random.default_rng(1))
    assert masks[np.arange(3000), actions].all()
    counts = Counter(actions[1000:].tolist())
    assert counts.keys() == {0, 5, 72}
    assert min(counts.values()) > 550  # of 667 expected: five standard deviations


# -- training --------------------------------------------------------------------------------------


def test_the_quick_start_is_the_one_of_the_configuration() -> None:
    config = load_config(ROOT / "configs" / "quickstart.yaml")
    assert config.ppo.average == 0  # what `bench` does without
    assert config.network.value_hidden is None
    assert config.network.prior is None
    ppo = config.ppo.model_dump(exclude={"decisions", "value_warmup", "target_kl", "average"})
    network = config.network.model_dump(exclude={"value_hidden", "prior"})
    env = {**config.env.model_dump(exclude={"payoff"}), "reward": QUICK_START.reward}
    assert asdict(QUICK_START) == {
        "seed": config.seed,
        "threads": config.threads,
        **env,
        **network,
        **ppo,
    }
    assert QUICK_START.rollout == config.rollout_decisions


def test_the_models_are_made_as_in_training() -> None:
    from training.run import make_model as make_real

    config = load_config(ROOT / "configs" / "quickstart.yaml", ["env.num_envs=32"])
    real = make_real(config)
    assert real.env is not None
    ours = make_model(replace(QUICK_START, num_envs=32), real.env)
    assert str(ours.policy) == str(real.policy)
    for name in ("n_steps", "batch_size", "n_epochs", "gamma", "gae_lambda", "ent_coef", "vf_coef"):
        assert getattr(ours, name) == getattr(real, name), name
    assert callable(ours.clip_range)
    assert callable(real.clip_range)
    assert ours.clip_range(1.0) == real.clip_range(1.0)
    assert (ours.max_grad_norm, ours.target_kl) == (real.max_grad_norm, real.target_kl)
    assert ours.lr_schedule(1.0) == pytest.approx(QUICK_START.learning_rate)


def test_the_idle_environment_gives_what_was_recorded() -> None:
    recorded = record(SMALL)
    steps, games = SMALL.n_steps, SMALL.num_envs
    idle = Idle(recorded)
    assert idle.num_envs == games
    assert (idle.reset() == recorded.observations[0]).all()
    for k in [*range(1, steps), 0, 1]:
        observations, rewards, dones, infos = idle.step(np.zeros(games, np.int64))
        assert isinstance(observations, np.ndarray)
        masks = np.stack(idle.env_method("action_masks"))
        assert (observations == recorded.observations[k]).all()
        assert (masks == recorded.masks[k]).all()
        assert masks.any(axis=1).all()
        arrays = (observations, masks, rewards, dones)
        assert [a.shape for a in arrays] == [(games, layout(2).size), (games, 73), (games,), (games,)]
        assert [a.dtype.name for a in arrays] == ["float32", "bool", "float32", "bool"]
        for done, info in zip(dones, infos, strict=True):
            assert ("terminal_observation" in info) == ("episode" in info) == done


def test_recorded_games_are_at_different_stages() -> None:
    recorded = record(replace(SMALL, num_envs=16, n_steps=64))
    dones = np.array(recorded.dones)
    assert dones.any()
    assert len({np.flatnonzero(column).tobytes() for column in dones.T}) > 8


def test_the_share_is_the_time_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step takes a second, the masks another, and learning four."""
    from sb3_contrib import MaskablePPO

    from gardienii_env.envs.sb3 import GardieniiVecEnv

    ticking = Clock()

    def learn(model: MaskablePPO) -> None:
        ticking.now += 4

    monkeypatch.setattr("gardienii_env.bench.training.time", ticking)
    taking(monkeypatch, ticking, GardieniiVecEnv, "step_wait")
    taking(monkeypatch, ticking, GardieniiVecEnv, "action_masks")
    taking(monkeypatch, ticking, Idle, "step_wait")
    monkeypatch.setattr(MaskablePPO, "train", learn)
    found = {figure.what: figure for figure in training(SMALL, 3)}
    decisions, steps = SMALL.rollout, SMALL.n_steps
    assert found["MaskablePPO"].samples == (decisions / (2 * steps + 4),) * 3
    assert found["MaskablePPO, idle environment"].samples == (decisions / (steps + 4),) * 3
    assert found["time inside the environment"].samples == (2 * steps / (2 * steps + 4),) * 3
    assert found["speed beside the idle one"].samples == ((steps + 4) / (2 * steps + 4),) * 3


def test_the_threads_of_torch_are_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    set_to: list[int] = []
    before = torch.get_num_threads()
    monkeypatch.setattr(torch, "set_num_threads", set_to.append)
    training(replace(SMALL, threads=2), 1)
    assert set_to == [2, before]


# -- wrong use, missing libraries ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--seconds 0", "argument --seconds: '0' is not a number of seconds above 0"),
        ("--seconds -1", "'-1' is not a number of seconds"),
        ("--seconds nan", "'nan' is not a number of seconds"),
        ("--seconds inf", "'inf' is not a number of seconds"),
        ("--seconds soon", "'soon' is not a number of seconds"),
        ("--repeats 0", "argument --repeats: '0' is not a whole number from 1 up"),
        ("--games 0", "argument --games: '0' is not a whole number from 1 up"),
        ("--many-games 2000000", "argument --many-games: '2000000' is more than 1000000"),
        (
            "--players 5",
            "argument --players: the number of players '5' is not known; expected one of: 2, 3",
        ),
        ("--players 2,,3", "the number of players '' is not known"),
        (
            "--only batch,vectr",
            f"argument --only: the case 'vectr' is not known; expected one of: {', '.join(CASES)}. Did "
            "you mean 'vector'?",
        ),
        ("--json {folder}/no/x.json", "no/x.json' cannot be written: No such file or directory"),
        ("--json {folder}", "cannot be written: Is a directory"),
    ],
)
def test_wrong_use_is_told_before_anything_is_measured(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    arguments: str,
    words: str,
) -> None:
    monkeypatch.setattr(command, "jobs", lambda *_: pytest.fail("measured"))
    try:
        status: object = main(["bench", *arguments.format(folder=tmp_path).split()])
    except SystemExit as end:
        status = end.code
    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert words in err.splitlines()[-1]
    assert err.splitlines()[-1].startswith("gardienii bench: error: ")
    assert "--out" not in err
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_shows_what_was_measured(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    figure = Figure("one thing", "ratio", (2.0, 3.0, 4.0), {"players": 2, "games": 1, "threads": 1})

    def interrupt() -> list[Figure]:
        raise KeyboardInterrupt

    todo = [("aec", Job(lambda: [figure], 0.1)), ("batch", Job(interrupt, 0.1))]
    monkeypatch.setattr(command, "jobs", lambda *_: todo)
    assert main(["bench"]) == 130
    out, err = capsys.readouterr()
    assert "one thing" in out
    assert "3.000" in out
    assert err.endswith("interrupted\n")


def test_an_interrupt_leaves_the_old_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def interrupt(*_: object) -> object:
        raise KeyboardInterrupt

    path = tmp_path / "speed.json"
    path.write_text("old")
    monkeypatch.setattr(environments, "timed", interrupt)
    assert main(["bench", *SHORT, "--only", "aec", "--json", str(path)]) == 130
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith("interrupted\n")
    assert [p.name for p in tmp_path.iterdir()] == ["speed.json"]
    assert path.read_text() == "old"


@pytest.mark.parametrize("gone", ["torch", "stable_baselines3", "sb3_contrib"])
def test_without_the_extra_a_line_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    monkeypatch.setattr(cases, "find_spec", lambda name: None if name == gone else name)
    for name in FAST:
        if name != "aec":
            monkeypatch.setitem(CASES, name, replace(CASES[name], jobs=lambda settings: []))
    assert main(["bench", *SHORT, "--players", "2", "--json", "-"]) == 0
    out, err = capsys.readouterr()
    data = json.loads(out)
    assert {figure["case"] for figure in data["figures"]} == {"aec"}
    assert data["skipped"].keys() == {"sb3"}
    assert "pip install 'gardienii-env[sb3]'" in data["skipped"]["sb3"]
    assert err.startswith("Left out. The case 'sb3' needs libraries that are not installed: ")


def test_asking_for_a_case_without_its_extra_is_an_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cases, "find_spec", lambda name: None)
    assert main(["bench", *SHORT, "--only", "aec,sb3"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("gardienii bench: error: The case 'sb3' needs libraries")


def test_help_names_every_case(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["bench", "--help"])
    out = capsys.readouterr().out
    for name, case in CASES.items():
        assert re.search(rf"^  {name} +\w", out, re.MULTILINE)
        assert case.measures in " ".join(out.split())


def test_help_loads_nothing_that_only_measuring_needs() -> None:
    code = (
        "import sys\nfrom gardienii_env.cli import main\ntry: main(['bench', '--help'])\n"
        "except SystemExit: print(); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "gardienii_env.bench" in loaded
    assert not loaded & {
        "pettingzoo",
        "torch",
        "stable_baselines3",
        "tqdm",
    }
    assert not loaded & {"gardienii_env.bench.environments", "gardienii_env.bench.training"}


# -- the machine -----------------------------------------------------------------------------------


def test_one_thread_and_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    for cores, expected in ((1, (1,)), (2, (1, 2)), (64, (1, 64))):
        monkeypatch.setattr(cases, "cores_allowed", lambda cores=cores: cores)
        assert cases._threads() == expected


def test_the_processor_is_named_as_well_as_may_be(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "cpuinfo"
    monkeypatch.setattr(machine, "CPUINFO", path)
    monkeypatch.setattr("gardienii_env.bench.machine.sys.platform", "linux")
    monkeypatch.setattr("gardienii_env.bench.machine.platform.processor", lambda: "")
    monkeypatch.setattr("gardienii_env.bench.machine.platform.machine", lambda: "some")
    assert machine.processor_name() == "some"
    path.write_text("processor : 0\nmodel : 1\nmodel name\t: Quick CPU: 3 GHz\nmodel name\t: other\n")
    assert machine.processor_name() == "Quick CPU: 3 GHz"
    monkeypatch.setattr("gardienii_env.bench.machine.sys.platform", "darwin")
    monkeypatch.setattr("gardienii_env.bench.machine.subprocess.run", refuse)
    assert machine.processor_name() == "some"


def refuse(*_: object, **__: object) -> None:
    raise OSError


def test_versions_are_told_where_there_are_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "PACKAGES", ("numpy", "no-such-package-here"))
    versions = bench.this_machine().versions
    assert versions["numpy"] == np.__version__
    assert versions["no-such-package-here"] is None


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only on Linux")
def test_the_peak_of_memory_is_counted_from_its_reset() -> None:
    if not machine.reset_peak_memory():
        pytest.skip("not allowed here")
    size = 64_000_000
    before = machine.peak_memory()
    assert before is not None
    block = np.ones(size, np.uint8)
    with_block = machine.peak_memory()
    assert with_block is not None
    assert with_block > before + size // 2
    del block
    assert machine.reset_peak_memory()
    after = machine.peak_memory()
    assert after is not None
    assert after < with_block - size // 2


def test_without_proc_the_peak_is_that_of_the_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(machine, "STATUS", tmp_path / "none")
    monkeypatch.setattr(machine, "CLEAR_REFS", tmp_path / "no" / "none")
    assert not machine.reset_peak_memory()
    if os.name == "posix":
        assert (machine.peak_memory() or 0) > 10**7
    found = {f.what for f in environments.many("table, float32", 0.01, 1, many_setup())}
    assert "memory: process peak since its start" in found or os.name != "posix"
    monkeypatch.setattr(environments, "peak_memory", lambda: None)
    found = {f.what for f in environments.many("table, float32", 0.01, 1, many_setup())}
    assert not any("peak" in what for what in found)


def many_setup() -> dict[str, Any]:
    return {"players": 2, "games": 3, "threads": 1, "view": "table", "dtype": "float32"}


def test_the_settings_by_default_are_those_of_the_command() -> None:
    from gardienii_env.cli.program import build_parser

    args = build_parser().parse_args(["bench"])
    given = Settings(args.seconds, args.repeats, args.players, args.games, args.many_games)
    assert given == Settings()
    assert isinstance(QUICK_START, TrainingSettings)
    assert sum(job.seconds for _, job in bench.jobs(CASES, given)) < 180


def test_the_error_of_a_file_names_the_option() -> None:
    with pytest.raises(OptionError, match=r"^--json: "), command._writing_json("/no/such/folder/x"):
        pytest.fail("opened")
