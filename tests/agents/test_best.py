"""`best`: which file it picks, and what it refuses."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from networks import save_network

from gardienii_env import AgentError, Game, Ruleset
from gardienii_env.agents import AGENTS, best, make_agent
from gardienii_env.agents.best import shipped_policies
from gardienii_env.agents.network import NetworkAgent, read_manifest
from gardienii_env.arena import duplicate_match

LARGEST = 2_000_000


@pytest.fixture
def policies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Policies for 2 players of both rulesets, and for 3 of one."""
    for ruleset, players in (("gardienii", 2), ("gardienii", 3), ("dragonkeepers", 2)):
        save_network(tmp_path / f"{ruleset}-{players}.onnx", players, ruleset)
    monkeypatch.setattr(best, "POLICIES", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("ruleset", "players"), [("gardienii", 2), ("gardienii", 3), ("dragonkeepers", 2)]
)
def test_it_plays_the_policy_of_the_game(policies: Path, ruleset: str, players: int) -> None:
    agent, network = make_agent("best"), NetworkAgent(policies / f"{ruleset}-{players}.onnx")
    for seed in range(3):
        game = Game.new(players, ruleset, seed=seed)
        while not game.is_over:
            action = agent.choose(game)
            assert action == network.choose(game)
            game.apply(action)


def test_it_is_told_whether_any_policy_ships() -> None:
    assert AGENTS["best"].meaning.endswith("none ships yet") == (not shipped_policies())


def test_the_content_of_a_ruleset_counts_not_its_name(policies: Path) -> None:
    same = Ruleset.get("gardienii").replace(name="other")
    make_agent("best").check(same, 2)
    other = Ruleset.get("gardienii").replace(crystal_points=3)
    with pytest.raises(AgentError, match="no policy ships for 2 players and the ruleset"):
        make_agent("best").check(other, 2)


def test_where_there_is_none_it_says_which_there_are(policies: Path) -> None:
    with pytest.raises(AgentError) as caught:
        make_agent("best").check(Ruleset.get("dragonkeepers"), 4)
    assert "4 players and the ruleset 'dragonkeepers'" in str(caught.value)
    assert "dragonkeepers with 2, gardienii with 2, gardienii with 3" in str(caught.value)
    with pytest.raises(AgentError, match="no policy ships"):
        duplicate_match([make_agent("best")] * 4, "gardienii", deals=1, seed=1)
    for path in policies.iterdir():
        path.unlink()
    with pytest.raises(AgentError, match="there are: none"):
        make_agent("best").check(Ruleset.get("gardienii"), 2)


def test_a_file_for_other_games_is_refused(policies: Path) -> None:
    (policies / "gardienii-2.onnx").replace(policies / "gardienii-4.onnx")
    with pytest.raises(AgentError, match="network for 2 players, and this game has 4"):
        make_agent("best").check(Ruleset.get("gardienii"), 4)


def test_it_can_be_copied(policies: Path) -> None:
    agent = make_agent("best")
    agent.check(Ruleset.get("gardienii"), 2)
    game = Game.new(2, seed=1)
    assert pickle.loads(pickle.dumps(agent)).choose(game) == agent.choose(game)


def test_what_ships_is_what_its_name_says_and_small() -> None:
    for path in shipped_policies():
        ruleset, _, players = path.stem.rpartition("-")
        manifest = read_manifest(path)
        assert manifest.num_players == int(players)
        assert manifest.ruleset == Ruleset.get(ruleset)
        assert path.stat().st_size <= LARGEST
        make_agent("best").check(Ruleset.get(ruleset), int(players))
