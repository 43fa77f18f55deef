"""`network:FILE.onnx`: what is played, what the manifest says, and which files are refused."""

from __future__ import annotations

import copy
import json
import pickle
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from helpers import play
from networks import manifest, random_weights, save_network, save_weights
from onnx import TensorProto
from rulesets import COMBINATIONS, ODD, varied

from gardienii_env import AgentError, Game, OptionError, Ruleset, layout
from gardienii_env.agents import Agent, make_agent, make_agents, new_streams
from gardienii_env.agents.network import (
    ROWS,
    Manifest,
    NetworkAgent,
    best_legal,
    read_manifest,
    write_manifest,
)
from gardienii_env.arena import duplicate_match
from gardienii_env.cli import main
from gardienii_env.envs.single import GardieniiSingleEnv
from gardienii_env.errors import MissingExtraError
from gardienii_env.observation import VIEWS, View
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.random import seed_streams

SIZE = layout(2).size


def refusal(path: Path) -> str:
    """What is said of a file that is no agent."""
    with pytest.raises(AgentError) as caught:
        make_agent(f"network:{path}")
    message = str(caught.value)
    assert message.startswith(f"network:{path}")
    return message


def stamp(path: Path, **changes: str | None) -> None:
    """Change entries of the manifest in a file; None takes one out."""
    model = onnx.load(str(path))
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    for key, value in changes.items():
        metadata.pop(f"gardienii.{key}", None)
        if value is not None:
            metadata[f"gardienii.{key}"] = value
    onnx.helper.set_model_props(model, metadata)
    onnx.save(model, str(path))


# -- what it plays ---------------------------------------------------------------------------------


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)
def test_it_plays_the_legal_action_with_the_highest_logit(
    tmp_path: Path, ruleset: str, players: int, view: View
) -> None:
    agent = make_agent(f"network:{save_network(tmp_path / 'a.onnx', players, ruleset, view)}")
    w = [array.astype(np.float64) for array in random_weights(layout(players, view).size)]
    game, rng, chosen = Game.new(players, ruleset, seed=1), random.Random(1), set()
    while not game.is_over:
        assert game.player is not None
        logits = np.tanh(game.observe(game.player, view) @ w[0] + w[1]) @ w[2] + w[3]
        legal = np.flatnonzero(game.legal_mask())
        best = game.legal_actions()[int(logits[legal].argmax())]
        assert agent.choose(game) == best
        chosen.add(best)
        play(game, rng, 7)
    assert len(chosen) > 3


def test_the_lowest_id_is_chosen_among_equals(tmp_path: Path) -> None:
    weights = [0 * array for array in random_weights(SIZE)]
    save_weights(tmp_path / "a.onnx", weights)
    write_manifest(tmp_path / "a.onnx", manifest())
    agent, game = NetworkAgent(tmp_path / "a.onnx"), Game.new(seed=1)
    while not game.is_over:
        assert agent.choose(game) == game.legal_actions()[0]
        game.apply(game.legal_actions()[-1])


def test_a_choice_does_not_depend_on_the_other_games(tmp_path: Path) -> None:
    agent = NetworkAgent(save_network(tmp_path / "a.onnx", 3))
    batch = Batch(Ruleset.get("gardienii"), 3, 2 * ROWS + 3)
    for i in range(len(batch)):
        batch.states["rng"][i] = seed_streams(i, 1)[0]
        batch.deal(i)
    everything = np.arange(len(batch))
    streams = new_streams(1, len(batch))
    before = streams.tobytes()
    together = agent.act(batch, everything, streams)
    for games in (everything[::-1], everything[5:6], everything[: ROWS + 1]):
        assert agent.act(batch, games, streams).tolist() == together[games].tolist()
    assert agent.act(batch, everything[:0], streams).shape == (0,)
    assert streams.tobytes() == before
    assert len(set(together.tolist())) > 1


@pytest.mark.parametrize("number", [0, 1, ROWS, 5 * ROWS + 3])
def test_a_choice_does_not_depend_on_threads(tmp_path: Path, number: int) -> None:
    path = save_network(tmp_path / "a.onnx")
    batch = Batch(Ruleset.get("gardienii"), 2, 6 * ROWS)
    batch.states["rng"] = np.arange(len(batch))
    for i in range(len(batch)):
        batch.deal(i)
    games, streams = np.arange(number), new_streams(1, len(batch))
    choices = [NetworkAgent(path, threads=n).act(batch, games, streams) for n in (1, 2, 5)]
    assert choices[0].shape == (number,)
    assert number < ROWS or len(set(choices[0].tolist())) > 1
    for other in choices[1:]:
        assert np.array_equal(choices[0], other)


def test_it_plays_wherever_agents_play(tmp_path: Path) -> None:
    name = f"network:{save_network(tmp_path / 'a.onnx')}"
    assert make_agent(name).name == name
    result = duplicate_match(make_agents(f"{name},random", 2), "gardienii", deals=2, seed=1)
    assert result.agents == (name, "random")
    again = duplicate_match(make_agents(f"{name},random", 2), "gardienii", 2, 1, batch_size=1)
    assert (again.scores == result.scores).all()
    env = GardieniiSingleEnv(name)
    env.reset(seed=1)
    assert main(["record", "--agents", name, "--out", str(tmp_path / "games.jsonl")]) == 0


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda agent: pickle.loads(pickle.dumps(agent))])
def test_copies_play_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, copied: Any) -> None:
    monkeypatch.chdir(tmp_path)
    save_network(tmp_path / "a.onnx")
    agent = make_agent("network:a.onnx")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    other = copied(agent)
    assert other.name == agent.name
    game = Game.new(seed=2)
    while not game.is_over:
        assert other.choose(game) == agent.choose(game)
        game.apply(agent.choose(game))


# -- the manifest ----------------------------------------------------------------------------------


@pytest.mark.parametrize("ruleset", ["gardienii", "dragonkeepers", *ODD[:2]])
def test_a_manifest_is_read_as_it_was_written(tmp_path: Path, ruleset: str | Ruleset) -> None:
    written = manifest(3, ruleset, "recall", decisions=5, notes="șapte", nested={"a": [1, None]})
    save_weights(tmp_path / "a.onnx", random_weights(written.size))
    write_manifest(tmp_path / "a.onnx", manifest(3, "gardienii", "recall"))
    write_manifest(tmp_path / "a.onnx", written)
    assert read_manifest(tmp_path / "a.onnx") == written


def test_a_manifest_for_other_observations_is_not_written(tmp_path: Path) -> None:
    save_weights(tmp_path / "a.onnx", random_weights(SIZE))
    before = (tmp_path / "a.onnx").read_bytes()
    with pytest.raises(OptionError, match="has the length 312, and observations of 3 players"):
        write_manifest(tmp_path / "a.onnx", manifest(3, "gardienii"))
    assert (tmp_path / "a.onnx").read_bytes() == before


def test_a_manifest_may_name_its_ruleset() -> None:
    assert Manifest("table", 2, "dragonkeepers").ruleset == Ruleset.get("dragonkeepers")  # type: ignore[arg-type]


def test_weights_of_another_file_come_into_the_one_that_plays(tmp_path: Path) -> None:
    save_weights(tmp_path / "a.onnx", random_weights(SIZE))
    model = onnx.load(str(tmp_path / "a.onnx"))
    two: Any = {"save_as_external_data": True, "location": "weights", "size_threshold": 0}
    onnx.save(model, str(tmp_path / "b.onnx"), **two)
    assert (tmp_path / "weights").stat().st_size > (tmp_path / "b.onnx").stat().st_size
    with pytest.raises(AgentError, match=r"weights in another file; .*write_manifest puts them"):
        NetworkAgent(tmp_path / "b.onnx")
    for name in ("a.onnx", "b.onnx"):
        write_manifest(tmp_path / name, manifest(2, "gardienii"))
    (tmp_path / "weights").unlink()
    game = Game.new(seed=2)
    one, other = NetworkAgent(tmp_path / "a.onnx"), NetworkAgent(tmp_path / "b.onnx")
    assert one.choose(game) == other.choose(game)


def test_the_metadata_are_as_documented(tmp_path: Path) -> None:
    odd = varied("gardienii", name="mine", take_limit=2)
    save_weights(tmp_path / "a.onnx", random_weights(SIZE))
    model = onnx.load(str(tmp_path / "a.onnx"))
    onnx.helper.set_model_props(model, {"author": "me"})
    onnx.save(model, str(tmp_path / "a.onnx"))
    write_manifest(tmp_path / "a.onnx", manifest(2, odd, decisions=5))
    metadata = {p.key: p.value for p in onnx.load(str(tmp_path / "a.onnx")).metadata_props}
    assert json.loads(metadata.pop("gardienii.ruleset")) == odd.to_dict()
    assert metadata == {
        "author": "me",
        "gardienii.format": "policy",
        "gardienii.version": "1",
        "gardienii.environment": "gardienii_v0",
        "gardienii.view": "table",
        "gardienii.num_players": "2",
        "gardienii.training": '{"decisions": 5}',
    }
    assert manifest().to_metadata()["gardienii.ruleset"] == "gardienii"


def test_wrong_manifests_cannot_be_made() -> None:
    with pytest.raises(OptionError, match="num_players"):
        manifest(5)
    with pytest.raises(OptionError, match="'tabel' is not known"):
        manifest(view="tabel")  # type: ignore[arg-type]
    for value in ({1, 2}, float("nan")):
        with pytest.raises(OptionError, match=r"training: .* is not data for JSON"):
            Manifest("table", 2, Ruleset.get("gardienii"), {"a": value}).to_metadata()


def test_files_that_cannot_be_stamped(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"none\.onnx cannot be read: No such file"):
        write_manifest(tmp_path / "none.onnx", manifest())
    (tmp_path / "text.onnx").write_text("this is text")
    with pytest.raises(OptionError, match=r"text\.onnx is not an ONNX file"):
        write_manifest(tmp_path / "text.onnx", manifest())


# -- games that it does not fit --------------------------------------------------------------------


def test_another_game_is_refused_wherever_it_is_seated(tmp_path: Path) -> None:
    name = f"network:{save_network(tmp_path / 'a.onnx')}"
    agent = make_agent(name)
    players = "is a network for 2 players, and this game has 3"
    rules = (
        "is a network for the ruleset 'gardienii', and this game has 'dragonkeepers', which differs in"
    )
    with pytest.raises(AgentError, match=players):
        GardieniiSingleEnv(name, num_players=3)
    with pytest.raises(AgentError, match=rules):
        GardieniiSingleEnv(name, ruleset="dragonkeepers")
    with pytest.raises(AgentError, match=players):
        agent.choose(Game.new(3, seed=1))
    with pytest.raises(AgentError, match=rules):
        agent.choose(Game.new(2, "dragonkeepers", seed=1))


def test_record_refuses_it_before_a_game_is_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "games.jsonl"
    name = f"network:{save_network(tmp_path / 'a.onnx')}"
    options = ["record", "--players", "3", "--agents", f"random,random,{name}", "--out", str(out)]
    assert main(options) == 2
    assert "is a network for 2 players, and this game has 3" in capsys.readouterr().err
    assert not out.exists()


def test_opponents_that_do_not_fit_change_nothing(tmp_path: Path) -> None:
    env = GardieniiSingleEnv("greedy", num_players=3)
    before = env.table.opponents
    with pytest.raises(AgentError, match="is a network for 2 players"):
        env.table.set_opponents(["random", NetworkAgent(save_network(tmp_path / "a.onnx"))])
    assert env.table.opponents is before


def test_rulesets_are_compared_by_what_they_say(tmp_path: Path) -> None:
    agent: Agent = NetworkAgent(save_network(tmp_path / "a.onnx"))
    agent.check(varied("gardienii", name="another name"), 2)
    with pytest.raises(AgentError, match="has 'gardienii', which differs in take_limit, crystals"):
        agent.check(varied("gardienii", name="gardienii", take_limit=2, crystals=3), 2)
    mine = varied("gardienii", name="mine", crystals=3)
    custom = NetworkAgent(save_network(tmp_path / "b.onnx", ruleset=mine))
    custom.check(mine.replace(name="yours"), 2)
    with pytest.raises(AgentError, match="for the ruleset 'mine', and this game has 'gardienii'"):
        custom.check(Ruleset.get("gardienii"), 2)


# -- files that are refused ------------------------------------------------------------------------


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert "there is no file" in refusal(tmp_path / "none.onnx")
    assert "there is no file" in refusal(tmp_path)


@pytest.mark.parametrize("content", [b"", b"this is text", b"PK\x03\x04", bytes(range(256))])
def test_a_file_that_is_no_network(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.onnx").write_bytes(content)
    assert "is not an ONNX file that onnxruntime can load" in refusal(tmp_path / "a.onnx")


def test_a_file_without_a_manifest(tmp_path: Path) -> None:
    save_weights(tmp_path / "a.onnx", random_weights(SIZE))
    assert "the file has no manifest" in refusal(tmp_path / "a.onnx")


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("format", "value", "gardienii.format of the manifest is 'value', and only 'policy'"),
        ("version", "2", "gardienii.version of the manifest is '2', and only '1'"),
        ("environment", "gardienii_v1", "is 'gardienii_v1', and only 'gardienii_v0'"),
        ("environment", None, "gardienii.environment is missing in the manifest"),
        ("view", "tabel", "Did you mean 'table'?"),
        ("view", "recall", f"is tensor(float) of shape ['batch', {SIZE}]; expected tensor(float) of"),
        ("num_players", "two", "gardienii.num_players 'two' is not known"),
        ("num_players", "3", f"shape [batch, {layout(3).size}] (3 players, view 'table')"),
        ("num_players", None, "gardienii.num_players is missing"),
        ("ruleset", "chess", "is 'chess', not a JSON object nor one of: gardienii, dragonkeepers"),
        ("ruleset", "mine.toml", "not a JSON object nor one of"),
        ("ruleset", "{}", "gardienii.ruleset of the manifest: name: missing"),
        ("ruleset", None, "gardienii.ruleset is missing"),
        ("training", "[1]", "gardienii.training of the manifest is '[1]', not a JSON object."),
        ("training", "{", "not a JSON object"),
        ("training", "[" * 100_000, "not a JSON object"),
    ],
)
def test_wrong_manifests(tmp_path: Path, key: str, value: str | None, words: str) -> None:
    path = save_network(tmp_path / "a.onnx")
    stamp(path, **{key: value})
    assert words in refusal(path)


def test_training_need_not_be_told(tmp_path: Path) -> None:
    path = save_network(tmp_path / "a.onnx")
    stamp(path, training=None)
    assert read_manifest(path).training == {}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"names": ("x", "logits")}, "inputs are x; expected 'observation'"),
        ({"names": ("observation", "y")}, "outputs are y, value; expected 'logits'"),
        ({"kind": TensorProto.DOUBLE}, "is tensor(double) of shape"),
        ({"batch": 1}, "is for batches of 1 only"),
    ],
)
def test_networks_of_another_shape(tmp_path: Path, options: dict[str, Any], words: str) -> None:
    save_weights(tmp_path / "a.onnx", random_weights(SIZE), **options)
    write_manifest(tmp_path / "a.onnx", manifest())
    assert words in refusal(tmp_path / "a.onnx")


def test_a_network_for_other_actions(tmp_path: Path) -> None:
    weights = random_weights(SIZE)
    save_weights(tmp_path / "a.onnx", [*weights[:2], weights[2][:, :9], weights[3][:9]])
    write_manifest(tmp_path / "a.onnx", manifest())
    assert "'logits' is tensor(float) of shape ['batch', 9]" in refusal(tmp_path / "a.onnx")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_logits_that_are_no_numbers(tmp_path: Path, value: float) -> None:
    weights = random_weights(SIZE)
    weights[3][2] = value  # take:R0
    save_weights(tmp_path / "a.onnx", weights)
    write_manifest(tmp_path / "a.onnx", manifest())
    agent = NetworkAgent(tmp_path / "a.onnx")
    with pytest.raises(AgentError, match=f"gave the logit {value} for the legal action 'take:R0'"):
        agent.choose(Game.new(seed=1))


def test_logits_of_another_shape_are_refused() -> None:
    game = Game.new(seed=1)
    with pytest.raises(AgentError, match=rf"x gave logits of shape \(1, 73\) for {ROWS} observations"):
        best_legal(
            "x", lambda seen: np.zeros((1, 73), np.float32), game.observe(0)[None], game.batch.masks
        )


def test_what_is_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save_network(tmp_path / "a.onnx")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"gardienii-env\[arena\]"):
        make_agent(f"network:{path}")
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtraError, match=r"gardienii-env\[train\]"):
        write_manifest(path, manifest())
