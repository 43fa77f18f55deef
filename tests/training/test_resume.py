"""Runs that were killed and go on; checkpoints that are broken; disks that are full."""

from __future__ import annotations

import errno
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from training_runs import FEW, ROOT, SELFPLAY, TINY, figures, killed_after, rows, timeless, train

import training.log
import training.run
from gardienii_env import OptionError
from training.__main__ import main
from training.checkpoints import BrokenCheckpointError, checkpoints, read_checkpoint, write_checkpoint
from training.config import load_config
from training.run import resume

UPDATES = 24
LONG = (
    *("ppo.n_steps=16", "ppo.batch_size=64", f"ppo.decisions={64 * UPDATES}"),
    "imitation.decisions=0",
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in self-play that nothing stopped."""
    return train(tmp_path_factory.mktemp("whole"), *SELFPLAY, *LONG)


def cut(whole: Path, tmp_path: Path, update: int) -> Path:
    """The same run as if it had been killed with this checkpoint as its last one, logs further on."""
    folder = tmp_path / "cut"
    shutil.copytree(whole, folder)
    for name in ("policy.onnx", "evaluation.txt", "model.zip", "curves.png"):
        (folder / name).unlink()
    kept = [path for path in checkpoints(folder) if f"{update:07d}" in path.name]
    for path in checkpoints(folder):
        if path not in kept:
            path.unlink()
    return folder


# -- the same numbers ------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_updates(whole: Path, tmp_path: Path) -> None:
    """In self-play, number for number."""
    again = train(tmp_path, *SELFPLAY, *LONG)
    assert len(rows(again)) == UPDATES > 20
    assert figures(again) == figures(whole)
    other = train(tmp_path, *SELFPLAY, *LONG, "seed=1", "ppo.decisions=256")
    assert timeless(rows(other))[0] != timeless(rows(whole))[0]


def test_a_run_that_was_killed_goes_on_as_if_nothing_had_been(whole: Path, tmp_path: Path) -> None:
    settings = [*FEW, *SELFPLAY, *LONG, f"folder={tmp_path}"]
    command = [sys.executable, "-c", killed_after(11), TINY, *settings]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    (folder,) = tmp_path.iterdir()
    assert not (folder / "evaluation.txt").exists()
    assert [row["update"] for row in rows(folder)] == [str(k + 1) for k in range(11)]
    assert [path.stem[-2:] for path in checkpoints(folder)] == ["09", "06"]
    assert resume(folder) == folder
    assert figures(folder) == figures(whole)


def test_logs_are_cut_back_to_the_checkpoint(whole: Path, tmp_path: Path) -> None:
    folder = cut(whole, tmp_path, 21)
    with (folder / "progress.csv").open("a", encoding="utf-8") as file:
        file.write("25,1600,0.5")  # a line that was being written
    resume(folder)
    assert [row["update"] for row in rows(folder)] == [str(k + 1) for k in range(UPDATES)]
    assert figures(folder) == figures(whole)


def test_a_run_that_was_finished_is_only_evaluated(whole: Path, tmp_path: Path) -> None:
    folder = cut(whole, tmp_path, 24)
    resume(folder)
    assert figures(folder) == figures(whole)


def test_a_run_without_a_checkpoint_begins_anew(tmp_path: Path) -> None:
    folder = train(tmp_path)
    expected = timeless(rows(folder))
    for path in checkpoints(folder):
        path.unlink()
    resume(folder)
    assert timeless(rows(folder)) == expected


def test_a_run_can_be_made_longer(tmp_path: Path) -> None:
    folder = train(tmp_path, *SELFPLAY)
    before = [row["train/entropy"] for row in rows(folder)]
    resume(folder, ["ppo.decisions=2048", "selfplay.agents={random: 1}", "ppo.learning_rate=0.001"])
    assert [row["train/entropy"] for row in rows(folder)][:4] == before
    assert len(rows(folder)) == 8
    assert "against/random" in rows(folder)[-1]
    assert load_config(folder / "config.yaml").ppo.decisions == 2048


@pytest.mark.parametrize(
    "override", ["env.num_envs=8", "env.view=recall", "network.hidden=[9]", "selfplay.latest=1"]
)
def test_what_has_to_stay_is_told(
    tmp_path: Path, override: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = train(tmp_path, "ppo.decisions=256")
    settings = (folder / "config.yaml").read_text(encoding="utf-8")
    capsys.readouterr()
    assert main(["--resume", str(folder), override]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    section = override.partition(".")[0]
    assert line.startswith(f"error: {section}")
    assert "a run that goes on keeps its" in line
    assert (folder / "config.yaml").read_text(encoding="utf-8") == settings


@pytest.mark.parametrize("name", ["none", "empty"])
def test_a_folder_that_holds_no_run(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    assert main(["--resume", str(tmp_path / name)]) == 2
    assert "is not the folder of a run: it has no config.yaml" in capsys.readouterr().err


def test_either_a_configuration_or_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["configs/tiny.yaml", "--resume", "runs/a"]):
        with pytest.raises(SystemExit):
            main(arguments)
        assert "give either a configuration or --resume FOLDER" in capsys.readouterr().err


# -- checkpoints -----------------------------------------------------------------------------------


def test_a_checkpoint_is_what_was_written(tmp_path: Path) -> None:
    for update in (3, 12, 7, 100):
        write_checkpoint(tmp_path, update, {"update": update}, keep=3)
    assert [read_checkpoint(path)["update"] for path in checkpoints(tmp_path)] == [100, 12, 7]
    assert {path.suffix for path in tmp_path.iterdir()} == {".pickle"}


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "other"])
def test_a_broken_checkpoint_is_found_out(tmp_path: Path, damage: str) -> None:
    path = write_checkpoint(tmp_path, 1, {"numbers": list(range(1000))}, keep=2)
    data = bytearray(path.read_bytes())
    data[-500] ^= 1
    broken = {"cut": data[:-700], "changed": data, "empty": b"", "other": b"something else\n"}
    path.write_bytes(bytes(broken[damage]))
    with pytest.raises(BrokenCheckpointError, match=r"checkpoint-0000001.pickle is (damaged|not a)"):
        read_checkpoint(path)


def test_the_one_before_is_used_where_the_last_is_broken(
    whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "broken"
    shutil.copytree(whole, folder)
    last, before = checkpoints(folder)
    last.write_bytes(last.read_bytes()[:-5])
    resume(folder)
    out, err = capsys.readouterr()
    assert f"warning: {last} is damaged" in err
    assert f"after update {int(before.stem[-7:])}" in out
    assert figures(folder) == figures(whole)


def test_a_full_disk_keeps_the_checkpoints_that_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_checkpoint(tmp_path, 1, {"update": 1}, keep=2)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("training.checkpoints.os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_checkpoint(tmp_path, 2, {"update": 2}, keep=2)
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint-0000001.pickle"]


def test_learning_goes_on_where_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(training.run, "write_checkpoint", full)
    monkeypatch.setattr(training.log.CsvLog, "write", full)
    folder = train(tmp_path, *SELFPLAY, "imitation.decisions=0")
    err = capsys.readouterr().err
    assert "the checkpoint after update 3 cannot be written: No space left on device" in err
    assert err.count("the log cannot be written: No space left on device") == 1
    assert (folder / "policy.onnx").exists()
    assert checkpoints(folder) == []


def test_a_full_disk_at_the_end_is_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device", "model.zip")

    monkeypatch.setattr("training.run.PPO.save", full)
    assert main([TINY, *FEW, f"folder={tmp_path}", "imitation.decisions=0", "ppo.decisions=1"]) == 2
    assert "error: model.zip: No space left on device" in capsys.readouterr().err


# -- starting from a model -------------------------------------------------------------------------


def test_starting_from_the_model_of_another_run(tmp_path: Path) -> None:
    first = train(tmp_path / "a", "ppo.decisions=0", "evaluation.deals=20")
    start = f"start_from={first / 'model.zip'}"
    other = train(tmp_path / "b", start, "ppo.decisions=0", "evaluation.deals=20", "seed=5")
    assert (first / "evaluation.txt").read_text() == (other / "evaluation.txt").read_text()
    with pytest.raises(OptionError, match=r"start_from: .* does not fit: .*size mismatch"):
        train(tmp_path / "c", start, "network.hidden=[9]")
    with pytest.raises(OptionError, match=r"start_from: .*none\.zip does not fit"):
        train(tmp_path / "d", f"start_from={tmp_path / 'none.zip'}")
