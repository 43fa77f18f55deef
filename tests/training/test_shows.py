"""What is shown of runs: logs, curves, comparisons; and how policies come to ship."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from training_runs import SELFPLAY, rows, train

from gardienii_env import AgentError, Game, OptionError, Ruleset, layout
from gardienii_env.agents import best, make_agent
from gardienii_env.agents.best import shipped_policies
from gardienii_env.agents.network import Manifest, read_manifest
from training import cards, compare, imitation, publish
from training.log import CsvLog, read_csv
from training.network import Layers, export
from training.plots import compare_runs, plot_run

PAGE = Path(__file__).parents[2] / "docs" / "policies.md"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in self-play."""
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(imitation, "GAMES_AT_ONCE", 8)
        return train(folder, *SELFPLAY, "checkpoint.every=100")


def save_network(path: Path, players: int = 2, ruleset: Ruleset | None = None, **training: Any) -> Path:
    """A policy that plays by random weights."""
    size, rng = layout(players, "recall").size, np.random.default_rng(1)
    weights = (rng.normal(size=(size, 73)).astype(np.float32),)
    layers = Layers(weights, (np.zeros(73, np.float32),), "tanh")
    export(layers, path, Manifest("recall", players, ruleset or Ruleset.get("gardienii"), training))
    return path


# -- logs ------------------------------------------------------------------------------------------


def test_a_new_figure_makes_a_new_column(tmp_path: Path) -> None:
    log = CsvLog(tmp_path / "a.csv", 0)
    log.write({"update": 1, "a": 0.5})
    log.write({"update": 2, "a": 0.25, "b": "x,y"})
    log.write({"update": 3, "b": ""})
    assert read_csv(tmp_path / "a.csv") == [
        {"update": "1", "a": "0.5", "b": ""},
        {"update": "2", "a": "0.25", "b": "x,y"},
        {"update": "3", "a": "", "b": ""},
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_a_log_is_cut_back(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    log = CsvLog(path, 0)
    for update in range(1, 6):
        log.write({"update": update, "a": update / 2})
    with path.open("a", encoding="utf-8") as file:
        file.write("6,3")
    log = CsvLog(path, 3)
    assert [row["update"] for row in read_csv(path)] == ["1", "2", "3"]
    log.write({"update": 4, "a": 7, "b": 1})
    assert read_csv(path)[-1] == {"update": "4", "a": "7", "b": "1"}
    CsvLog(path, 0)
    assert read_csv(path) == []


def test_evaluations_are_logged_and_the_best_policy_is_kept(finished: Path) -> None:
    found = rows(finished, "evaluations.csv")
    assert [(row["update"], row["opponent"]) for row in found] == [("0", "greedy"), ("4", "greedy")]
    told = read_manifest(finished / "best.onnx").training
    highest = max(found, key=lambda row: float(row["win_share"]))
    assert told["evaluation"][0]["win_share"] == float(highest["win_share"])
    last = json.loads((finished / "evaluation.json").read_text(encoding="utf-8"))
    final = read_manifest(finished / "policy.onnx").training
    assert final["evaluation"] == last
    assert final["decisions"] == 1024
    assert final["configuration"]["selfplay"]["past"] == 2


# -- curves and comparisons ------------------------------------------------------------------------


def picture(path: Path) -> Any:
    with Image.open(path) as image:
        return image.convert("L").getextrema(), image.size


def test_the_curves_of_a_run(finished: Path, tmp_path: Path) -> None:
    (darkest, lightest), size = picture(finished / "curves.png")
    assert darkest < 100 < 250 < lightest
    assert min(size) > 500
    (tmp_path / "empty").mkdir()
    assert plot_run(tmp_path / "empty").exists()
    with pytest.raises(OptionError, match="cannot be written"):
        plot_run(tmp_path / "none")


def test_runs_side_by_side(finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other"
    shutil.copytree(finished, other)
    text = (other / "config.yaml").read_text(encoding="utf-8")
    (other / "config.yaml").write_text(
        text.replace("ent_coef: 0.002", "ent_coef: 0.5"), encoding="utf-8"
    )
    out = tmp_path / "both.png"
    assert compare.main([str(finished), str(other), "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    first, second = (line for line in shown.splitlines() if "1,024" in line)
    assert first.startswith(finished.name)
    assert first.endswith("ppo.ent_coef=0.002")
    assert second.endswith("ppo.ent_coef=0.5")
    share = float(rows(finished, "evaluations.csv")[-1]["win_share"])
    assert f"{share:.3f} ±" in first
    assert picture(out)[0][0] < 100


def test_what_cannot_be_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main([str(tmp_path)]) == 2
    assert "is not the folder of a run" in capsys.readouterr().err
    with pytest.raises(OptionError, match="no evaluations"):
        compare_runs([tmp_path], tmp_path / "a.png")


# -- policies that ship ----------------------------------------------------------------------------


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for policies that is not the package's own."""
    folder = tmp_path / "policies"
    monkeypatch.setattr(best, "POLICIES", folder)
    monkeypatch.setattr(publish, "POLICIES", folder)
    monkeypatch.setattr(publish, "PAGE", tmp_path / "policies.md")
    monkeypatch.setattr(publish, "FAST", ("random",))
    return folder


def test_a_policy_ships_with_its_figures(finished: Path, package: Path, tmp_path: Path) -> None:
    arguments = [str(finished / "policy.onnx"), "--deals", "3", "--slow-deals", "0"]
    assert publish.main(arguments) == 0
    assert [path.name for path in package.iterdir()] == ["gardienii-2.onnx"]
    training = read_manifest(package / "gardienii-2.onnx").training
    (row,) = training["published"]
    assert (row["opponent"], row["games"]) == ("random", 6)
    game = Game.new(2, seed=1)
    one, other = make_agent("best"), make_agent(f"network:{finished / 'policy.onnx'}")
    assert one.choose(game) == other.choose(game)
    text = (tmp_path / "policies.md").read_text(encoding="utf-8")
    assert "## `gardienii-2.onnx`: 2 players, ruleset `gardienii`" in text
    assert f"| `random` | 6 | {row['win_share']:.3f} |" in text
    assert "1,024 decisions against itself 20%, its past 40%, `greedy` 20%, `planner` 20%" in text
    assert "imitation of `greedy`, 1 decisions" in text
    assert "Equals have 0.500." in text


def test_what_does_not_ship(tmp_path: Path, package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = Ruleset.get("gardienii").replace(crystal_points=3)
    path = save_network(tmp_path / "a.onnx", 2, own)
    assert publish.main([str(path)]) == 2
    assert "does not ship, so its policies do not either" in capsys.readouterr().err
    large = save_network(tmp_path / "b.onnx", long="x" * 2_000_000)
    assert publish.main([str(large)]) == 2
    assert "at most 2,000,000" in capsys.readouterr().err
    with pytest.raises(AgentError):
        publish.publish(tmp_path / "none.onnx", 1, 0)
    assert not package.exists()


def test_the_page_is_what_the_files_say() -> None:
    policies = shipped_policies()
    assert PAGE.exists() == bool(policies)
    if policies:
        assert PAGE.read_text(encoding="utf-8") == cards.page(policies)


def test_a_card_of_any_network(tmp_path: Path) -> None:
    """Also of one whose maker tells nothing of its training."""
    text = cards.card(save_network(tmp_path / "some.onnx", 3))
    assert text.startswith("## `some.onnx`: 3 players, ruleset `gardienii`")
    assert "Equals have 0.333." in text
