"""Replays: their data, what agents say in them, the page in one file, and the command that writes it."""

from __future__ import annotations

import copy
import json
import random
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import Program, play
from hypothesis import given
from hypothesis import strategies as st
from networks import save_network

from gardienii_env import AgentError, Game, OptionError, RecordError
from gardienii_env.agents import best, make_agent
from gardienii_env.agents.planner import PlannerAgent
from gardienii_env.record import dumps
from gardienii_env.render.scene import scene
from gardienii_env.render.texts import LANGUAGES, catalogue
from gardienii_env.web.changes import changed, difference
from gardienii_env.web.judge import choose, judge_game, judge_position
from gardienii_env.web.replay import replay_data, replay_page

MEGABYTE = 1_000_000


def record(
    players: int = 2, seed: int = 1, ruleset: str = "gardienii", decisions: int | None = None
) -> Any:
    """The record of a game played at random."""
    return play(Game.new(players, ruleset, seed), random.Random(seed), decisions).to_record()


# -- differences -----------------------------------------------------------------------------------

plain = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=2),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=1), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(plain, plain)
def test_a_difference_makes_the_new_of_the_old(old: Any, new: Any) -> None:
    before = copy.deepcopy(old)
    made = changed(old, json.loads(json.dumps(difference(old, new))))
    assert json.dumps(made) == json.dumps(new)
    assert old == before


def test_what_stays_is_left_out() -> None:
    old, new = {"a": [1, 2, {"b": 3, "c": 4}], "d": 5}, {"a": [1, 2, {"b": 3, "c": 6}], "d": 5}
    assert difference(old, new) == {"a": {"2": {"c": [6]}}}


# -- the data --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("players", "ruleset"), [(2, "gardienii"), (4, "dragonkeepers")])
def test_the_scenes_are_those_of_the_game(players: int, ruleset: str) -> None:
    kept = record(players, 3, ruleset)
    data = json.loads(json.dumps(replay_data(kept)))
    shown = data["first"]
    for k in range(len(kept["moves"]) + 1):
        game = Game.from_record(kept, k)
        assert shown == scene(game, open_hands=True)
        assert data["scores"][k] == game.scores()
        if k < len(kept["moves"]):
            move = data["moves"][k]
            assert {"player": move["seat"], "action": move["action"]} == kept["moves"][k]
            assert move["step"] == game.step
            if move["action"].startswith("take:"):
                slots = {slot["slot"]: slot["card"] for slot in shown["supply"]}
                assert move["card"] == slots[move["action"][5:]]
            shown = changed(shown, data["changes"][k])
    assert data["seed"] == "3"


def test_a_record_that_is_wrong_is_refused() -> None:
    kept = record()
    kept["moves"][7]["action"] = "column:left"
    with pytest.raises(RecordError, match="move 7"):
        replay_data(kept)
    with pytest.raises(OptionError, match="names: 1 for 2 players"):
        replay_data(record(), names=["me"])
    with pytest.raises(OptionError, match="language"):
        replay_page(record(), language="fr")


def test_a_game_that_is_not_over_has_a_replay() -> None:
    data = replay_data(record(decisions=30))
    assert len(data["changes"]) == 30


# -- what agents say -------------------------------------------------------------------------------


def test_a_search_tells_its_visits_and_values() -> None:
    kept = record(3, decisions=40)
    agent = make_agent("ismcts:40")
    verdicts = judge_game(agent, kept, seed=5)
    assert verdicts == judge_game(agent, kept, seed=5)
    for k, verdict in enumerate(verdicts):
        game = Game.from_record(kept, k)
        assert sorted(option["action"] for option in verdict["options"]) == sorted(game.legal_actions())
        assert sum(option["visits"] or 0 for option in verdict["options"]) == 40
        assert verdict["choice"] == choose(agent, game, 5 + k)


def test_a_network_tells_its_probabilities(tmp_path: Path) -> None:
    agent = make_agent(f"network:{save_network(tmp_path / 'net.onnx')}")
    kept = record(decisions=40)
    for k, verdict in enumerate(judge_game(agent, kept)):
        game = Game.from_record(kept, k)
        shares = [option["share"] or 0 for option in verdict["options"]]
        assert len(shares) == len(game.legal_actions())
        assert np.isclose(sum(shares), 1)
        assert shares == sorted(shares, reverse=True)
        assert verdict["choice"] == verdict["options"][0]["action"] == agent.choose(game)
        assert -1 <= (verdict["value"] or 0) <= 1
        assert verdict["value"] is not None  # these networks have an output `value`


def test_the_best_policy_tells_its_probabilities(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = make_agent(f"network:{save_network(tmp_path / 'gardienii-2.onnx')}")
    monkeypatch.setattr(best, "POLICIES", tmp_path)
    kept = record(decisions=5)
    assert judge_game(make_agent("best"), kept) == judge_game(network, kept)


def test_the_planner_tells_by_how_many_points_an_action_is_worse() -> None:
    agent, kept = make_agent("planner"), record(3, decisions=80)
    steps = set()
    for k, verdict in enumerate(judge_game(agent, kept)):
        game = Game.from_record(kept, k)
        assert verdict["choice"] == verdict["options"][0]["action"] == agent.choose(game)
        if len(verdict["options"]) == 1:
            assert game.step == "column"
            continue
        steps.add(game.step)
        assert verdict["scale"] == "points"
        assert sorted(option["action"] for option in verdict["options"]) == sorted(game.legal_actions())
        values = [option["value"] for option in verdict["options"]]
        known = [value for value in values if value is not None]
        assert values == known + [None] * (len(values) - len(known))
        assert known[0] == 0
        assert known == sorted(known, reverse=True)
        if game.step != "play":
            assert len(known) == len(values)
    assert steps == {"take", "modify", "play"}
    (judged,) = replay_data(kept, [agent])["judges"]
    assert judged["scale"] == "points"


def test_an_agent_made_from_the_planner_tells_its_own_choice() -> None:
    class Last(PlannerAgent):
        def act(self, batch: Any, games: Any, streams: Any) -> Any:
            return 72 - batch.masks[games][:, ::-1].argmax(axis=1)

    game = Game.new(seed=4)
    assert judge_position(Last(), game, 0)["choice"] == game.legal_actions()[-1]


def test_other_agents_tell_their_choice() -> None:
    game = Game.new(seed=4)
    verdict = judge_position(make_agent("greedy"), game, 0)
    choice = verdict["choice"]
    assert verdict == {
        "choice": choice,
        "value": None,
        "scale": "payoff",
        "options": [{"action": choice, "share": None, "visits": None, "value": None}],
    }
    assert choice == make_agent("greedy").choose(game)


def test_a_verdict_knows_nothing_that_the_seat_does_not(tmp_path: Path) -> None:
    game = play(Game.new(3, seed=6), random.Random(6), 50)
    assert game.player is not None
    network = make_agent(f"network:{save_network(tmp_path / 'net.onnx', players=3)}")
    for agent in (make_agent("planner"), make_agent("ismcts:50"), network):
        verdicts = [judge_position(agent, game.resample(game.player, seed), 9) for seed in range(5)]
        assert verdicts == [judge_position(agent, game, 9)] * 5


def test_an_agent_that_does_not_fit_is_told(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="is a network for 3 players"):
        replay_page(record(), [make_agent(f"network:{save_network(tmp_path / 'net.onnx', players=3)}")])


# -- the page --------------------------------------------------------------------------------------


@pytest.mark.parametrize("ruleset", ["gardienii", "dragonkeepers"])
def test_the_page_of_four_players_is_small_and_stands_alone(ruleset: str) -> None:
    page = replay_page(record(4, 2, ruleset), [make_agent("greedy"), make_agent("ismcts:20")], "hu")
    assert len(page.encode()) <= MEGABYTE
    addresses = set(re.findall(r"https?://[^\"' ]*", page))
    assert addresses == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<(?:link[^>]*stylesheet|script[^>]* src|img|iframe)", page)
    assert "default-src 'none'" in page
    assert page == replay_page(
        record(4, 2, ruleset), [make_agent("greedy"), make_agent("ismcts:20")], "hu"
    )


def test_names_are_text_and_no_markup() -> None:
    page = replay_page(record(), names=["</script><script>alert(1)</script>", "<!--<b>&"])
    assert page.count("<script") == 2
    assert "<!--" not in page


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["Ann"], "1 for 2 players"),
        ("ab", "'ab' is no list"),
        (7, "7 is no list"),
        ([1, 2], "1 is no text"),
        (["Ann", "a\x1b[1m"], "cannot be shown"),
        (["Ann", "\ud800"], "cannot be shown"),
    ],
)
def test_a_wrong_name_is_told(names: Any, message: str) -> None:
    with pytest.raises(OptionError, match=re.escape(message)):
        replay_page(record(), names=names)


def test_a_name_may_have_blanks_of_any_kind() -> None:
    names = ["Dr.\u00a0Ann", None]
    assert replay_data(record(), names=names)["names"] == names


def test_the_scripts_ask_for_texts_that_there_are() -> None:
    folder = files("gardienii_env.web") / "page"
    source = "\n".join(file.read_text("utf-8") for file in folder.iterdir() if file.name.endswith(".js"))
    families = "|".join({key.partition(".")[0] for key in catalogue("en")})
    asked = set(re.findall(rf"""["'`]((?:{families})\.[a-z_]+)["'`]""", source))
    assert len(asked) > 60
    assert not {key for key in asked if key not in catalogue("en")}
    for step in ("take", "modify", "play", "column"):
        assert f"web.ask_{step}" in catalogue("en")


# -- the command -----------------------------------------------------------------------------------


@pytest.fixture
def games(tmp_path: Path) -> Path:
    file = tmp_path / "games.jsonl"
    lines = [dumps(record(seed=1)), "", dumps(record(3, 2)), "{", dumps(record(4, 3, decisions=9))]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def data_of(page: str) -> Any:
    return json.loads(page.partition('id="data">')[2].partition("</script>")[0])


@pytest.mark.parametrize(("number", "players"), [(0, 2), (1, 3), (3, 4)])
def test_the_command_writes_the_page(
    gardienii: Program, games: Path, tmp_path: Path, number: int, players: int
) -> None:
    out = tmp_path / "game.html"
    options = ["--agent", "greedy", "--agent", "random", "--language", "ro"]
    assert gardienii("replay", games, "--game", str(number), "--out", out, *options) == (0, "", "")
    data = data_of(out.read_text(encoding="utf-8"))
    assert data["language"] == "ro"
    assert set(data["texts"]) == set(LANGUAGES)
    assert len(data["data"]["names"]) == players
    assert [judge["name"] for judge in data["data"]["judges"]] == ["greedy", "random"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--game", "2"], "line 4: not valid JSON"),
        (["--game", "4"], "--game: 4, but"),
        (["--agent", "gredy"], "Did you mean 'greedy'?"),
        (["--agent", "sb3:model.zip"], "--trust"),
        (["--names", "a,b,c"], "names: 3 for 2 players"),
        (["--names", "a,b\udcff"], "names: 'b\\udcff' holds characters that cannot be shown"),
        (["--language", "fr"], "invalid choice: 'fr'"),
    ],
)
def test_what_is_wrong_is_told_and_writes_nothing(
    gardienii: Program, games: Path, tmp_path: Path, options: list[str], told: str
) -> None:
    out = tmp_path / "game.html"
    result = gardienii("replay", games, "--out", out, *options)
    assert result.status == 2
    assert told in result.err
    assert not out.exists()


def test_the_page_does_not_replace_the_games(gardienii: Program, tmp_path: Path) -> None:
    file, link = tmp_path / "a.jsonl", tmp_path / "link.html"
    file.write_text(dumps(record()) + "\n")
    link.symlink_to(file)
    for out in (file, link):
        result = gardienii("replay", file, "--out", out)
        assert result.status == 2
        assert "holds the games" in result.err
        assert file.read_text() == dumps(record()) + "\n"


def test_a_record_that_does_not_replay_is_told_with_its_line(gardienii: Program, tmp_path: Path) -> None:
    kept = record()
    kept["moves"][4]["action"] = "play:D6"
    (tmp_path / "bad.jsonl").write_text("\n" + dumps(kept) + "\n")
    result = gardienii("replay", tmp_path / "bad.jsonl", "--out", "-")
    assert result.status == 2
    assert result.out == ""
    assert "bad.jsonl, line 2: move 4: 'play:D6' is not legal" in result.err
