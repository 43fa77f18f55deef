"""Training runs: what they leave behind, that they are reproducible, and how they stop."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from sb3_contrib import MaskablePPO
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from training_runs import FEW, ROOT, TINY, Process, rows, timeless, train

import training.run
from gardienii_env import AgentError, Game, OptionError, Ruleset
from gardienii_env.agents.network import ROWS, NetworkAgent
from training import imitation
from training.__main__ import main
from training.checkpoints import checkpoints, read_checkpoint
from training.config import load_config
from training.run import make_model

FOREVER = ("imitation.epochs=1000000", "ppo.decisions=1000000000", "evaluation.deals=100000")


@pytest.fixture(autouse=True)
def _few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imitation, "GAMES_AT_ONCE", 8)


# -- a whole run, from the command line ------------------------------------------------------------


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Process:
    """A short run that has come to its end."""
    process = Process.tiny(tmp_path_factory.mktemp("finished"))
    assert process.finish() == 0, process.err.read_text()
    return process


def test_the_folder_of_a_run(finished: Process) -> None:
    names = {path.name for path in finished.run.iterdir()}
    (events,) = {name for name in names if name.startswith("events.out.tfevents")}
    assert names == {
        *("config.yaml", "versions.yaml", "model.zip", "progress.csv", "curves.png", events),
        *("evaluation.txt", "evaluation.json", "policy.onnx"),
        *("checkpoint-0000000.pickle", "checkpoint-0000004.pickle"),
    }
    assert re.fullmatch(r"tiny-\d{8}-\d{6}", finished.run.name)


def test_the_configuration_in_the_folder_is_the_one_that_was_run(finished: Process) -> None:
    config = load_config(TINY, [*FEW, f"folder={finished.runs}"])
    assert load_config(finished.run / "config.yaml") == config
    text = (finished.run / "config.yaml").read_text(encoding="utf-8")
    assert yaml.safe_load(text) == config.model_dump(mode="json")


def test_the_versions_in_the_folder(finished: Process) -> None:
    versions = yaml.safe_load((finished.run / "versions.yaml").read_text(encoding="utf-8"))
    assert versions["numpy"] == np.__version__
    assert versions["torch"] == torch.__version__
    assert versions["python"] == sys.version.split()[0]
    assert set(versions) >= {"gardienii-env", "numba", "stable-baselines3", "sb3-contrib"}


def test_the_evaluation_is_in_the_folder_and_on_the_terminal(finished: Process) -> None:
    text = (finished.run / "evaluation.txt").read_text(encoding="utf-8")
    out = finished.out.read_text()
    title, headers, _, *lines = text.splitlines()
    assert title.startswith("tiny against, 2 players, ruleset gardienii, 2 deals")
    assert headers.split()[:2] == ["opponent", "games"]
    assert [line.split()[:2] for line in lines] == [["random", "4"], ["greedy", "4"]]
    assert text in out
    for path in (finished.run, finished.run / "model.zip"):
        assert str(path) in out


def test_progress_is_told_on_stderr(finished: Process) -> None:
    err = finished.err.read_text()
    bars = ("watching greedy", "imitating greedy", "learning by PPO", "playing random", "playing greedy")
    for bar in bars:
        assert re.search(rf"^{bar} +: 100%", err, re.MULTILINE), bar
    assert "\r" not in err
    assert "Warning" not in err


def test_the_model_can_be_loaded_and_plays(finished: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where there is only sb3-contrib: nothing in it refers to the training scripts."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "training"]:
        monkeypatch.setitem(sys.modules, name, None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MaskablePPO.load(finished.run / "model.zip", device="cpu")
    game = Game.new(2, seed=1)
    action, _ = model.predict(game.observe(0), action_masks=game.legal_mask(), deterministic=True)
    assert game.legal_mask()[action] == 1
    assert model.num_timesteps == 1024


def test_what_is_logged_as_ppo_learns(finished: Process) -> None:
    logged = rows(finished.run)
    assert [row["decisions"] for row in logged] == ["256", "512", "768", "1024"]
    assert [row["update"] for row in logged] == ["1", "2", "3", "4"]
    (events,) = finished.run.glob("events*")
    tensorboard: Any = EventAccumulator(str(events))  # type: ignore[no-untyped-call]
    tensorboard.Reload()
    tags = set(tensorboard.Tags()["scalars"])
    assert tags >= {
        *("rollout/ep_rew_mean", "rollout/ep_len_mean", "rollout/win_share", "rollout/score"),
        *("rollout/payoff", "train/entropy", "train/approx_kl", "time/decisions_per_second"),
        *("train/value_loss", "train/explained_variance", "train/learning_rate"),
    }
    share = [event.value for event in tensorboard.Scalars("rollout/win_share")]
    assert share
    assert all(0 <= value <= 1 for value in share)
    assert all(event.value > 10 for event in tensorboard.Scalars("rollout/ep_len_mean"))


# -- in this process -------------------------------------------------------------------------------


def test_one_seed_gives_one_result(tmp_path: Path) -> None:
    def result(seed: int) -> tuple[str, list[dict[str, str]]]:
        folder = train(tmp_path, f"seed={seed}")
        return (folder / "evaluation.txt").read_text(encoding="utf-8"), timeless(rows(folder))

    first = result(1)
    assert result(1) == first
    assert result(2) != first


def test_what_is_kept_is_the_mean_of_the_weights(tmp_path: Path) -> None:
    settings = ("ppo.average=0.75", "ppo.learning_rate=0.01", "checkpoint.every=1", "checkpoint.keep=9")
    folder = train(tmp_path, *settings, "network.features=cards")
    learned = [read_checkpoint(path)["policy"] for path in reversed(checkpoints(folder))][1:]
    assert len(learned) == 4
    mean = learned[0]
    for weights in learned[1:]:
        mean = {name: 0.75 * mean[name] + 0.25 * weights[name] for name in mean}
    model = MaskablePPO.load(folder / "model.zip", device="cpu")
    for name, weights in model.policy.state_dict().items():
        assert torch.allclose(weights, mean[name], atol=1e-6), name
        assert "features_extractor" in name or not torch.equal(weights, learned[-1][name])
    game = Game.new(2, seed=1)
    with torch.no_grad():
        seen = torch.from_numpy(game.observe(0)[np.newaxis])
        features: Any = model.policy.extract_features(seen)
        expected = model.policy.action_net(model.policy.mlp_extractor.forward_actor(features)).numpy()[0]
    logits = NetworkAgent(folder / "policy.onnx")._logits(np.repeat(seen.numpy(), ROWS, axis=0))[0]
    assert np.allclose(logits, expected, atol=1e-4)


def test_the_learning_rate_falls_and_never_below_nothing(tmp_path: Path) -> None:
    rates = [row["train/learning_rate"] for row in rows(train(tmp_path, "ppo.learning_rate=0.001"))]
    assert [float(rate) for rate in rates] == pytest.approx([0.001, 0.00075, 0.0005, 0.00025])
    for decisions, rollouts in ((1, 1), (256, 1), (257, 2)):
        overrides = [*FEW, f"ppo.decisions={decisions}", "ppo.learning_rate=0.001"]
        model = make_model(load_config(TINY, overrides))
        last = [model.lr_schedule(1 - k / rollouts) for k in range(1, rollouts + 1)]
        assert last == pytest.approx([0.001 * (1 - k / rollouts) for k in range(rollouts)])


@pytest.mark.parametrize(("imitated", "learned"), [(0, 0), (0, 1), (1, 0)])
def test_each_step_can_be_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], imitated: int, learned: int
) -> None:
    folder = train(tmp_path, f"imitation.decisions={imitated}", f"ppo.decisions={learned}")
    err = capsys.readouterr().err
    assert ("imitating" in err) == bool(imitated)
    assert ("learning" in err) == bool(learned)
    assert len(rows(folder)) == learned if learned else not (folder / "progress.csv").exists()
    assert MaskablePPO.load(folder / "model.zip").num_timesteps == 256 * learned
    assert (folder / "evaluation.txt").exists()


def test_more_players_another_ruleset_several_opponents(tmp_path: Path) -> None:
    folder = train(
        tmp_path,
        *("env.num_players=4", "env.ruleset=dragonkeepers", "env.opponents=random,greedy,random"),
        *("env.view=recall", "env.reward=payoff", "name=four", "evaluation.deals=1"),
        *("evaluation.baselines=[random]", "ppo.decisions=1", "network.activation=relu"),
    )
    title, *_, line = (folder / "evaluation.txt").read_text(encoding="utf-8").splitlines()
    assert title.startswith("four against, 4 players, ruleset dragonkeepers, 1 deal, ")
    assert line.split()[:2] == ["random", "4"]
    assert "nan" not in line


def test_a_ruleset_of_ones_own_is_kept_with_the_run(tmp_path: Path) -> None:
    own = tmp_path / "own.json"
    ruleset = Ruleset.get("gardienii").replace(name="own", crystal_points=3)
    own.write_text(json.dumps(ruleset.to_dict()), encoding="utf-8")
    nothing = ("imitation.decisions=0", "ppo.decisions=0", "evaluation.baselines=[random]")
    folder = train(tmp_path / "runs", f"env.ruleset={own}", *nothing)
    own.unlink()
    assert Ruleset.get(load_config(folder / "config.yaml").env.ruleset) == ruleset
    assert "ruleset own" in (folder / "evaluation.txt").read_text(encoding="utf-8")


def test_runs_of_one_second_have_their_own_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "strftime", lambda form: "20260102-030405")
    nothing = ("imitation.decisions=0", "ppo.decisions=0", "evaluation.baselines=[random]")
    names = [train(tmp_path / "new" / "deep", *nothing).name for _ in range(3)]
    assert names == [f"tiny-20260102-030405{end}" for end in ("", "-2", "-3")]


def test_a_fault_while_learning_leaves_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(training.run, "warm_start", fail)
    with pytest.raises(MemoryError):
        train(tmp_path)
    (folder,) = tmp_path.iterdir()
    MaskablePPO.load(folder / "model.zip")


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OptionError, match=r"folder: .*file.* cannot be made: Not a directory"):
        train(tmp_path / "file" / "runs")


# -- interrupts ------------------------------------------------------------------------------------


def learns(process: Process) -> bool:
    """PPO has learned from the first rollouts."""
    return process.has_logged(3)


@pytest.mark.parametrize(
    ("when", "settings", "sent"),
    [
        (learns, FOREVER[1:], signal.SIGINT),
        (learns, FOREVER[1:], signal.SIGTERM),
        (lambda process: process.says("imitating"), FOREVER, signal.SIGINT),
        (lambda process: process.says("playing"), FOREVER[2:], signal.SIGTERM),
    ],
    ids=["learning, SIGINT", "learning, SIGTERM", "imitation", "evaluation"],
)
def test_an_interrupt_saves_the_model(
    tmp_path: Path, when: Callable[[Process], bool], settings: Sequence[str], sent: signal.Signals
) -> None:
    process = Process.tiny(tmp_path, *settings)
    try:
        process.wait_until(lambda: when(process))
        process.process.send_signal(sent)
        assert process.finish() == 130
    finally:
        process.kill()
    model = MaskablePPO.load(process.run / "model.zip")
    assert (model.num_timesteps > 0) == (when is learns or settings == FOREVER[2:])
    assert all(torch.isfinite(parameter).all() for parameter in model.policy.parameters())
    assert not (process.run / "evaluation.txt").exists()
    err = process.err.read_text()
    assert "Traceback" not in err
    assert err.splitlines()[-1] == "Interrupted."
    assert f"Saved {process.run / 'model.zip'}" in process.out.read_text()


def test_an_interrupt_before_the_run_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("training.config.load_config", interrupted)
    assert main([TINY, f"folder={tmp_path}"]) == 130
    assert capsys.readouterr().err == "Interrupted.\n"
    assert list(tmp_path.iterdir()) == []


# -- wrong settings --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        (["ppo.n_step=3"], "ppo.n_step: the key 'n_step' is not known"),
        (["seed=-1"], "seed: -1 does not fit"),
        (["seed"], "'seed' is not of the form"),
        (["env.ruleset=gardeni"], "env.ruleset: "),
        (["env.opponents=gredy"], "env.opponents: The agent 'gredy' is not known"),
        (["evaluation.baselines=[gredy]"], "evaluation.baselines: The agent 'gredy'"),
        (["imitation.agent=gredy"], "imitation.agent: The agent 'gredy'"),
        (["ppo.batch_size=100000"], "ppo.batch_size: 100000 is more than"),
    ],
)
def test_a_wrong_setting_is_refused_before_anything_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], settings: list[str], fault: str
) -> None:
    assert main([TINY, f"folder={tmp_path}", *settings]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    assert line.startswith(f"error: {fault}")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_the_way_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    assert main([TINY, f"folder={tmp_path / 'file'}"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: folder: ")


def test_the_exit_status_of_the_command(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "training", str(tmp_path / "none.yaml")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: The configuration")
    assert "none.yaml cannot be read" in line


def test_without_the_libraries_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "training.config")
    monkeypatch.setitem(sys.modules, "pydantic", None)
    assert main([TINY]) == 2
    assert "pydantic" in (err := capsys.readouterr().err)
    assert "gardienii-env[train]" in err


def test_threads_wait_without_spinning_unless_told_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for given, expected in ((None, "PASSIVE"), ("ACTIVE", "ACTIVE")):
        monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
        if given:
            monkeypatch.setenv("OMP_WAIT_POLICY", given)
        main([str(tmp_path / "none.yaml")])
        assert os.environ["OMP_WAIT_POLICY"] == expected
    assert "none.yaml" in capsys.readouterr().err


def test_an_agent_that_does_not_fit_is_told_before_anything_is_made(tmp_path: Path) -> None:
    overrides = [f"folder={tmp_path / 'runs'}", "env.num_players=4", "env.ruleset=dragonkeepers"]
    for setting in ("evaluation.baselines=[best]", "imitation.agent=best", "env.opponents=best"):
        config = load_config(ROOT / "configs" / "tiny.yaml", [*overrides, setting])
        with pytest.raises(AgentError, match="no policy ships for 4 players"):
            training.run.run(config)
    assert not (tmp_path / "runs").exists()
