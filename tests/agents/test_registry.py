"""The table of agents: what is written, what is made of it, and where the table is shown."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gardienii_env import AgentError
from gardienii_env.agents import AGENTS, Agent, AgentKind, make_agent, make_agents
from gardienii_env.cli import main
from gardienii_env.envs.learner import LearnerTable
from gardienii_env.tables import markdown_table

PAGE = Path(__file__).parents[2] / "docs" / "agents.md"


class Fake(Agent):
    """An agent that tells what it was made from."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.made_from = arguments or options

    def act(self, batch: Any, games: Any, streams: Any) -> Any:
        raise NotImplementedError


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fakes in place of the agents that are imported only when they are asked for."""
    for module, name in (("ismcts", "IsmctsAgent"), ("planner", "PlannerAgent")):
        fake = ModuleType(module)
        setattr(fake, name, Fake)
        monkeypatch.setitem(sys.modules, f"gardienii_env.agents.{module}", fake)
    monkeypatch.setattr("gardienii_env.agents.external.load_sb3", Fake)
    monkeypatch.setattr("gardienii_env.agents.network.NetworkAgent", Fake)


# -- the table -------------------------------------------------------------------------------------


def test_the_kinds_are_these() -> None:
    assert [form for kind in AGENTS.values() for form in kind.forms] == [
        *("random", "greedy", "planner", "ismcts:N", "ismcts:SECONDSs"),
        *("best", "network:FILE.onnx", "sb3:FILE.zip", "python:MODULE:ATTRIBUTE"),
    ]
    assert all(name == kind.name for name, kind in AGENTS.items())


def test_the_page_has_the_table() -> None:
    rows = [(", ".join(f"`{form}`" for form in kind.forms), kind.meaning) for kind in AGENTS.values()]
    assert markdown_table(rows, ("written", "what it is")) + "\n" in PAGE.read_text(encoding="utf-8")


def test_help_has_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["record", "--help"])
    text = capsys.readouterr().out
    for kind in AGENTS.values():
        assert f"  {', '.join(kind.forms)}\n      {kind.meaning}\n" in text
    assert "--trust" in text


def test_a_new_kind_is_made_by_its_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(AGENTS, "mine", AgentKind("mine", "mine", Fake, ("A", "B")))
    made = make_agent("mine:some:thing")
    assert isinstance(made, Fake)
    assert (made.name, made.made_from) == ("mine:some:thing", ("some:thing",))
    with pytest.raises(AgentError, match="'mine' needs an argument: mine:A or mine:B"):
        make_agent("mine")


# -- what is made ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("fakes")
@pytest.mark.parametrize(
    ("name", "made_from"),
    [
        ("planner", {}),
        ("ismcts:400", {"simulations": 400}),
        ("ismcts:1", {"simulations": 1}),
        ("ismcts:0.5s", {"seconds": 0.5}),
        ("ismcts:2s", {"seconds": 2.0}),
        ("ismcts:.25s", {"seconds": 0.25}),
        ("network:some/a.onnx", ("some/a.onnx",)),
        ("network:C:/a.onnx", ("C:/a.onnx",)),
        ("sb3:a.zip", ("a.zip",)),
    ],
)
def test_what_each_is_made_from(name: str, made_from: Any) -> None:
    made = make_agent(f" {name} ", trust=True)
    assert isinstance(made, Fake)
    assert (made.name, made.made_from) == (name, made_from)


@pytest.mark.usefixtures("fakes")
@pytest.mark.parametrize(
    "argument",
    ["0", "-1", "1.5", "many", "0s", "0.0s", "s", "-1s", "1e3", "1_000", "٣", "5 s", "nan", "infs"],
)
def test_wrong_arguments_of_ismcts(argument: str) -> None:
    with pytest.raises(AgentError, match="as in ismcts:400, nor a number of seconds") as caught:
        make_agent(f"ismcts:{argument}")
    assert str(caught.value).startswith(f"ismcts:{argument}: '{argument}' is neither")


@pytest.mark.parametrize("name", [kind.name for kind in AGENTS.values() if kind.arguments])
@pytest.mark.parametrize("colon", ["", ":"])
def test_an_argument_that_is_missing(name: str, colon: str) -> None:
    with pytest.raises(AgentError, match=f"'{name}' needs an argument: {name}:"):
        make_agent(name + colon, trust=True)


# -- trust -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("fakes")
def test_files_that_run_code_need_trust(capsys: pytest.CaptureFixture[str]) -> None:
    for make in (
        lambda: make_agent("sb3:a.zip"),
        lambda: make_agents("sb3:a.zip", 2),
        lambda: LearnerTable(1, "sb3:a.zip", 2, "gardienii", "table", "payoff", None),
        lambda: LearnerTable(1, ["sb3:a.zip"], 2, "gardienii", "table", "payoff", None),
    ):
        with pytest.raises(AgentError, match=r"a\.zip was not loaded: .* --trust .* trust=True"):
            make()
    assert main(["record", "--agents", "sb3:a.zip", "--out", "-"]) == 2
    assert "pass --trust" in capsys.readouterr().err


@pytest.mark.usefixtures("fakes")
@pytest.mark.parametrize("opponents", ["sb3:a.zip", ["sb3:a.zip"]])
def test_trust_lets_them_play(opponents: Any) -> None:
    assert [agent.name for agent in make_agents("sb3:a.zip", 3, trust=True)] == ["sb3:a.zip"] * 3
    table = LearnerTable(1, "greedy", 2, "gardienii", "table", "payoff", None, trust=True)
    table.set_opponents(opponents)
    assert [agent.name for agent in table.opponents] == ["sb3:a.zip"]


def test_only_models_of_sb3_need_trust() -> None:
    assert [kind.name for kind in AGENTS.values() if kind.runs_code] == ["sb3"]


# -- commas ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "names", ["network:a,b.onnx", "random,network:a,b.onnx", "network:a,b.onnx,greedy"]
)
def test_a_comma_in_the_name_of_a_file_is_told(names: str) -> None:
    with pytest.raises(AgentError, match=r"no file '.*a'\. Commas separate agents: .*rename the file"):
        make_agents(names, 2)


@pytest.mark.usefixtures("fakes")
def test_a_comma_after_a_file_that_is_there_is_told() -> None:
    with pytest.raises(AgentError, match=r"'b\.onnx' is not known; .* rename the file"):
        make_agents("network:a,b.onnx", 2)


def test_commas_are_not_told_of_where_they_do_no_harm() -> None:
    for names in ("gredy,random", "network:none.onnx", "random,network:none.onnx"):
        with pytest.raises(AgentError) as caught:
            make_agents(names, 2)
        assert "comma" not in str(caught.value).lower()
