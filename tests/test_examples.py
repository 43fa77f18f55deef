"""The examples run, each in a process of its own at a tiny size, where their libraries are installed."""

from __future__ import annotations

import ast
import re
import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
from helpers import ROOT

EXAMPLES = ROOT / "examples"


def _load(path: Path) -> ModuleType:
    """The module in a file, which is on no path of modules."""
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


run_all = _load(EXAMPLES / "run_all.py")
NAMES = sorted(run_all.TINY)


def _missing(example: Path) -> list[str]:
    """The libraries that an example imports and that are not installed."""
    names = set()
    for node in ast.walk(ast.parse(example.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    if "ray" in names:
        names.add("tree")  # which RLlib needs, and Ray alone does not bring
    return sorted(name for name in names if find_spec(name) is None)


@pytest.mark.parametrize("name", NAMES)
def test_it_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = _missing(EXAMPLES / name)
    if missing:
        pytest.skip(
            f"not installed: {', '.join(missing)}; python examples/run_all.py {name} installs it"
        )
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    wrong = run_all.run(sys.executable, name)
    assert not wrong, wrong


def test_an_example_that_goes_wrong_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setitem(run_all.TINY, "custom_agent.py", ("--deals 0", ""))
    assert "exit status 1" in run_all.run(sys.executable, "custom_agent.py")
    monkeypatch.setitem(run_all.TINY, "custom_agent.py", ("--help", "not in the help"))
    assert "no 'not in the help'" in run_all.run(sys.executable, "custom_agent.py")


@pytest.mark.parametrize("name", NAMES)
def test_it_is_short_and_says_how_to_install_and_run_it(name: str) -> None:
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    assert len(text.splitlines()) < 80
    line = run_all.install_line(EXAMPLES / name)
    assert line[:2] == ["install", "-c"]
    assert (ROOT / line[2]).exists()
    assert f"Run: python examples/{name}" in text


def test_the_page_lists_all_of_them_with_their_install_lines() -> None:
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    for name in NAMES:
        row = next(line for line in page.splitlines() if line.startswith(f"| [`{name}`]({name}) |"))
        line = re.search(r"^ +(pip install .+)$", (EXAMPLES / name).read_text(encoding="utf-8"), re.M)
        assert line is not None
        assert f"`{line[1]}`" in row


def test_torchrl_obeys_masks_and_pays_both_seats() -> None:
    torchrl_envs = pytest.importorskip("torchrl.envs")
    from gardienii_env import gardienii_v0

    env = torchrl_envs.PettingZooWrapper(
        gardienii_v0.raw_env(2, reward="payoff"),
        use_mask=True,
        group_map=torchrl_envs.MarlGroupMapType.ALL_IN_ONE_GROUP,
        seed=3,
    )
    steps = env.rollout(2000)  # one game; an illegal action would raise an error
    decided, masks = steps["agents", "mask"], steps["agents", "action_mask"]
    chosen = masks.gather(-1, steps["agents", "action"].unsqueeze(-1)).squeeze(-1)
    assert decided.sum(1).unique().tolist() == [1]
    assert chosen[decided].all()
    paid = steps["next", "agents", "reward"].flatten(1)
    assert paid[:-1].abs().sum() == 0
    assert sorted(paid[-1].tolist()) in ([-1.0, 1.0], [0.0, 0.0])
    assert steps["next", "done"].sum() == 1
