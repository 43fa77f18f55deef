"""The documentation says what the code says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gardienii_env import layout
from gardienii_env.cli import main
from gardienii_env.observation import VIEWS

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_the_table_of_observations_is_the_layout(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "observations.md").read_text(encoding="utf-8")
    main(["layout", "--players", "2", "--view", "recall", "--format", "markdown"])
    assert page.endswith("-->\n" + capsys.readouterr().out)
    for view in VIEWS:
        sizes = " | ".join(str(layout(players, view).size) for players in (2, 3, 4))
        assert f"| `{view}` | {sizes} |" in page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_examples_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["rules", "--format", "toml"])
    (tmp_path / "miniature.toml").write_text(capsys.readouterr().out, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for example in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        exec(example.replace("100_000", "256"), {})
