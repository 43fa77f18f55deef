"""The server: games by requests, what it refuses, what it never tells, and that it waits for nobody."""

from __future__ import annotations

import http.client
import json
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import Program
from networks import save_network
from serving import PATIENCE, Answer, Player, Serve, serving, starting

from gardienii_env import Game, OptionError, Ruleset
from gardienii_env.agents import Agent, make_agent
from gardienii_env.record import dumps, read_file, verify
from gardienii_env.web.games import Games, PersonsGame
from gardienii_env.web.pages import FILES
from gardienii_env.web.run import host_names, is_loopback, listen


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    with starting(tmp_path / "games") as start:
        yield start


def play(player: Player, rng: random.Random, decisions: int | None = None) -> Any:
    """Play legal actions drawn at random, to the end or for so many decisions; returns the state."""
    state = player.to_decide()
    while state["final"] is None and decisions != 0:
        action = rng.choice(state["scene"]["legal"])
        assert player.act(action, state["number"]).status == 200
        state = player.to_decide()
        decisions = None if decisions is None else decisions - 1
    return state


# -- games -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("opponents", "ruleset"),
    [(("greedy",), "gardienii"), (("random", "planner", "greedy"), "dragonkeepers")],
)
def test_a_whole_game_and_its_record(
    serve: Serve, tmp_path: Path, opponents: tuple[str, ...], ruleset: str
) -> None:
    served = serve("greedy", "random", "planner")
    player = served.new(*opponents, seat=1, ruleset=ruleset)
    assert player.state()["names"] == [opponents[0], None, *opponents[1:]]
    play(player, random.Random(1))
    state = player.state()
    assert state["number"] == len(state["moves"])
    ((_, kept),) = read_file(tmp_path / "games" / f"{player.id}.jsonl")
    game = verify(kept)
    assert state["final"] == kept["final"]
    assert [move["action"] for move in state["moves"]] == [move["action"] for move in kept["moves"]]
    assert player.ask("/record").data == kept
    assert game.num_players == len(opponents) + 1
    replay = player.ask("/replay?judge=planner").data
    assert len(replay["changes"]) == len(kept["moves"]) == len(replay["judges"][0]["verdicts"])
    assert replay["you"] == 1
    assert player.act("pass", state["number"]).status == 409


def test_only_moves_since_are_told(serve: Serve) -> None:
    player = serve().new()
    play(player, random.Random(2), 12)
    state = player.state()
    later = player.state(after=state["number"] - 3)
    assert later["moves"] == state["moves"][-3:]
    assert player.state(after=state["number"])["moves"] == []
    assert player.state(after=10**6)["moves"] == []
    assert state["moves"][-1]["scene"] == state["scene"]


def test_a_game_goes_on_after_the_server_was_started_anew(tmp_path: Path) -> None:
    agents = {name: make_agent(name) for name in ("greedy", "random")}
    with serving(agents, tmp_path) as first:
        player = first.new("greedy", "random", seat=None)
        play(player, random.Random(3), 10)
        before = player.state()
    with serving(agents, tmp_path) as second:
        again = Player(second, player.id, player.key)
        assert again.state() == before
        assert play(again, random.Random(3))["final"] is not None
    with serving({"random": agents["random"]}, tmp_path) as third:
        assert Player(third, player.id, player.key).ask("/replay").status == 200


def test_games_out_of_memory_are_read_again(tmp_path: Path) -> None:
    with serving({"greedy": make_agent("greedy")}, tmp_path, in_memory=2) as served:
        players = [served.new() for _ in range(5)]
        numbers = [play(player, random.Random(4), 3)["number"] for player in players]
        assert [player.state()["number"] for player in players] == numbers


def test_what_agents_draw_follows_from_the_game(tmp_path: Path) -> None:
    with serving({"random": make_agent("random")}, tmp_path) as served:
        kept = Game.new(2, seed=5).to_record()
        states = []
        for name in ("1" * 16, "2" * 16):
            game = PersonsGame.from_data(
                name, {"key": "k", "seat": 1, "opponents": ["random"], "chance": 7, "record": kept}
            )
            player = served.put(game)
            play(player, random.Random(5), 15)
            states.append(player.ask("?after=0").data)
        assert states[0] == states[1]


def test_a_hint_is_what_the_agent_would_do(serve: Serve) -> None:
    served = serve("greedy", "ismcts:30")
    player = served.new()
    state = player.to_decide()
    for agent, numbers in (("greedy", 1), ("ismcts:30", len(state["scene"]["legal"]))):
        hint = player.ask("/hint", {"agent": agent, "number": state["number"]}).data
        assert hint["verdict"]["choice"] in state["scene"]["legal"]
        assert len(hint["verdict"]["options"]) == numbers
    assert player.state(10**6) == state


# -- nobody waits for an agent that thinks -----------------------------------------------------------


class Slow(Agent):
    """Decides once it is let go, then plays the first legal action."""

    def __init__(self) -> None:
        self.go, self.asked = threading.Event(), threading.Event()
        self.fails = False

    def act(self, batch: Any, games: Any, streams: Any) -> Any:
        self.asked.set()
        assert self.go.wait(PATIENCE)
        if self.fails:
            raise RuntimeError("no idea")
        return batch.masks[games].argmax(axis=1).astype(np.int64)


def test_other_games_go_on_while_an_agent_thinks(serve: Serve) -> None:
    slow = Slow()
    served = serve("greedy", slow=slow)
    waits = served.new("slow", seat=1)
    assert waits.state()["scene"]["deciding"] == 0
    assert slow.asked.wait(PATIENCE)
    assert play(served.new(), random.Random(6))["final"] is not None
    assert waits.state()["number"] == 0
    assert waits.act("pass", 0).status == 409
    with ThreadPoolExecutor(1) as pool:
        news = pool.submit(waits.ask, "?after=0&wait=1")
        slow.go.set()
        assert news.result(PATIENCE).data["number"] > 0
    assert waits.to_decide()["scene"]["deciding"] == 1


def test_an_agent_that_fails_is_told_and_may_try_again(serve: Serve) -> None:
    slow = Slow()
    slow.fails = True
    slow.go.set()
    player = serve("greedy", slow=slow).new("slow", seat=1)
    assert "no idea" in player.to_decide()["error"]
    assert player.state()["number"] == 0
    slow.fails = False
    assert player.ask("/again", {}).status == 200
    state = player.to_decide()
    assert state["error"] is None
    assert state["number"] > 0


def test_an_agent_that_is_not_offered_any_more_is_told(tmp_path: Path) -> None:
    with serving({"random": make_agent("random")}, tmp_path) as first:
        player = first.new("random")
    with serving({"greedy": make_agent("greedy")}, tmp_path) as second:
        again = Player(second, player.id, player.key)
        state = again.to_decide()
        while state["error"] is None and state["final"] is None:
            assert again.act(state["scene"]["legal"][-1], state["number"]).status == 200
            state = again.to_decide()
        assert "'random' is not known" in state["error"]


# -- what is refused -------------------------------------------------------------------------------


def refused(answer: Answer, status: int) -> None:
    assert answer.status == status, answer
    if status != 405:
        assert isinstance(answer.data["error"] if status not in (400, 413) else "", str)


def test_what_is_wrong_is_refused_and_changes_nothing(serve: Serve, tmp_path: Path) -> None:
    served = serve("greedy", "random")
    player, other = served.new(), served.new()
    state = play(player, random.Random(7), 5)
    number, legal = state["number"], state["scene"]["legal"]
    before = player.ask().body
    files = {file: file.read_bytes() for file in (tmp_path / "games").iterdir()}
    illegal = next(name for name in ("modify:D6", "play:D6", "column:left") if name not in legal)
    good = {"action": legal[0], "number": number}
    as_json = {"Content-Type": "application/json"}
    acting = f"/api/games/{player.id}/actions"

    for body, status in (
        ({"action": illegal, "number": number}, 400),
        ({"action": "take:X9", "number": number}, 400),
        ({"action": "take:" + "L" * 500, "number": number}, 400),
        ({"action": legal[0], "number": number - 1}, 409),
        ({"action": legal[0], "number": number + 1}, 409),
        ({"action": legal[0], "number": 10**30}, 409),
        ({"action": legal[0], "number": True}, 400),
        ({"action": legal[0], "number": "5"}, 400),
        ({"action": legal[0], "number": float(number)}, 400),
        ({"action": 0, "number": number}, 400),
        ({"action": [legal[0]], "number": number}, 400),
        ({"action": legal[0]}, 400),
        ({**good, "seat": 1}, 400),
        ([], 400),
        ("pass", 400),
    ):
        refused(player.ask("/actions", body), status)
    for raw in (b"", b"{", b"\xff\xfe", b'{"action":"pass","action":"pass"}', b"[" * 4000, b"null"):
        refused(player.ask("/actions", raw, headers=as_json), 400)
    refused(player.ask("/actions", json.dumps(good).encode()), 415)
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    refused(player.ask("/actions", b"action=pass", headers=form), 415)
    refused(player.ask("/actions", b" " * 10_000_000, headers=as_json), 413)

    for key in (None, "", "x", other.key, player.key[:-1], player.key + "x", "é"):
        refused(served.ask(acting, good, key and key.encode().decode("latin-1")), 404)
    refused(served.ask(acting, good, headers={"Authorization": f"Basic {player.key}"}), 404)
    for name in (other.id, "0" * 16, "x", "..", "%2e%2e%2fetc", player.id.upper() + "0"):
        refused(served.ask(f"/api/games/{name}/actions", good, player.key), 404)
    refused(player.ask("/actions"), 405)
    refused(player.ask("", method="DELETE"), 405)
    refused(player.ask("/nothing"), 404)
    refused(served.ask("/page/..%2Fserver.py"), 404)
    refused(served.ask("/page/server.py"), 404)

    for after in ("-1", "x", "1e3", "%D9%A3", "9" * 20, ""):
        refused(player.ask(f"?after={after}"), 400)
    refused(player.ask("/hint", {"agent": "planner", "number": number}), 400)
    refused(player.ask("/hint", {"agent": "python:os:system", "number": number}), 400)
    refused(player.ask("/hint", {"agent": "greedy", "number": number + 1}), 409)
    refused(player.ask("/replay"), 409)
    refused(player.ask("/record"), 409)

    for headers, status in (
        ({"Host": "evil.example"}, 400),
        ({"Host": f"127.0.0.1.evil.example:{served.port}"}, 400),
        ({"Host": ""}, 400),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": f"http://127.0.0.1:{served.port + 1}"}, 403),
        ({"Origin": f"https://127.0.0.1:{served.port + 1}"}, 403),
        ({"Origin": f"ftp://127.0.0.1:{served.port}"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
    ):
        refused(player.ask("/actions", good, headers=headers), status)
        refused(player.ask("", headers=headers), status)

    assert player.ask().body == before
    assert {file: file.read_bytes() for file in (tmp_path / "games").iterdir()} == files
    own = {"Origin": f"https://localhost:{served.port}", "Host": f"localhost:{served.port}"}
    assert player.ask("/actions", good, headers=own).status == 200  # from a proxy that speaks HTTPS
    own["Origin"] = f"http://localhost:{served.port}"
    assert player.ask("/actions", good, headers=own).status == 409  # nothing but too late


@pytest.mark.parametrize(
    "wrong",
    [
        {"ruleset": "chess"},
        {"ruleset": "/etc/passwd"},
        {"ruleset": 3},
        {"opponents": []},
        {"opponents": ["greedy"] * 4},
        {"opponents": ["planner"]},
        {"opponents": ["network:/etc/passwd"]},
        {"opponents": [1]},
        {"opponents": "greedy"},
        {"seat": 2},
        {"seat": -1},
        {"seat": "0"},
        {"seat": False},
        {"seed": 1},
    ],
)
def test_games_that_are_not_offered_are_refused(serve: Serve, tmp_path: Path, wrong: Any) -> None:
    served = serve()
    asked = {"ruleset": "gardienii", "opponents": ["greedy"], "seat": 0}
    refused(served.ask("/api/games", {**asked, **wrong}), 400)
    assert not list((tmp_path / "games").iterdir())


def test_the_same_action_many_times_at_once_is_done_once(serve: Serve) -> None:
    player = serve().new("greedy", "greedy")
    state = player.to_decide()
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda _: player.act("take:L0", state["number"]).status, range(200)))
    assert sorted(answers) == [200] + [409] * 199
    player.to_decide()
    assert [move["action"] for move in player.state()["moves"]] == ["take:L0"]


def test_no_more_games_than_the_folder_may_hold(tmp_path: Path) -> None:
    agents = {"greedy": make_agent("greedy")}
    asked = {"ruleset": "gardienii", "opponents": ["greedy"], "seat": None}
    with serving(agents, tmp_path, most=3) as served:
        statuses = [served.ask("/api/games", asked).status for _ in range(5)]
    assert statuses == [201] * 3 + [429] * 2
    with serving(agents, tmp_path, most=3) as served:
        assert served.ask("/api/games", asked).status == 429
        next(tmp_path.glob("*.json")).unlink()
        assert served.ask("/api/games", asked).status == 201


def test_a_folder_serves_one_server_only(tmp_path: Path) -> None:
    games = Games(tmp_path)
    with pytest.raises(OptionError, match="another server uses it"):
        Games(tmp_path)
    games.close()
    Games(tmp_path).close()


def test_a_game_that_could_not_be_kept_is_kept_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = Games(tmp_path, in_memory=1)
    game = games.new(Ruleset.get("gardienii"), 2, ["greedy"], 0)
    for _ in range(3):
        game.game.apply(game.game.legal_actions()[0])
    game.kept = False  # as when the disk was full
    for _ in range(3):
        games.new(Ruleset.get("gardienii"), 2, ["greedy"], 0)
    found = games.find(game.id, game.key)
    assert found is game
    games.close()
    again = Games(tmp_path).find(game.id, game.key)
    assert again is not None
    assert len(again.game.moves) == 3


def test_advice_is_worked_out_once_at_a_time_and_holds_up_no_move(tmp_path: Path) -> None:
    asked, go = threading.Event(), threading.Event()

    class Slow(Agent):
        def act(self, batch: Any, games: Any, streams: Any) -> Any:
            asked.set()
            assert go.wait(30)
            return batch.masks[games].argmax(axis=1)

    with serving({"greedy": make_agent("greedy"), "slow": Slow()}, tmp_path) as served:
        players = [served.new() for _ in range(12)]
        numbers = [player.to_decide()["number"] for player in players]
        with ThreadPoolExecutor(12) as pool:
            hints = [
                pool.submit(player.ask, "/hint", {"agent": "slow", "number": number})
                for player, number in zip(players, numbers, strict=True)
            ]
            assert asked.wait(30)
            answer = players[0].ask("/hint", {"agent": "greedy", "number": numbers[0]})
            while answer.status == 200:  # the other came later
                answer = players[0].ask("/hint", {"agent": "greedy", "number": numbers[0]})
            assert answer.status == 409
            assert play(served.new(), random.Random(1), 5)["number"] >= 5
            go.set()
            assert [hint.result().status for hint in hints] == [200] * 12


def test_files_that_were_spoilt_are_no_games(tmp_path: Path) -> None:
    with serving({"greedy": make_agent("greedy")}, tmp_path, in_memory=1) as served:
        players = [served.new() for _ in range(4)]
        good = (tmp_path / f"{players[0].id}.json").read_text()
        for player, text in zip(
            players, ("{", "[]", good.replace("take", "tale").replace("L0", "L7")), strict=False
        ):
            (tmp_path / f"{player.id}.json").write_text(text)
            assert player.ask().status == 404
        assert players[3].ask().status == 200


def test_a_folder_that_cannot_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OptionError, match="cannot be the folder of games"):
        Games(tmp_path / "file" / "games")


def test_a_game_that_cannot_be_kept_goes_on_and_tells(serve: Serve, tmp_path: Path) -> None:
    player = serve().new()
    player.to_decide()
    folder = tmp_path / "games"
    folder.rename(tmp_path / "moved")
    answer = player.act("take:L0", 0)
    assert answer.status == 200
    assert answer.data["kept"] is False
    (tmp_path / "moved").rename(folder)
    state = player.to_decide()
    assert player.act(state["scene"]["legal"][0], state["number"]).data["kept"] is True


# -- pages -----------------------------------------------------------------------------------------


def test_pages_come_with_a_policy_and_are_the_same_for_everybody(serve: Serve) -> None:
    served = serve()
    player = served.new()
    paths = ["/", f"/games/{player.id}", f"/games/{player.id}/replay", *(f"/page/{f}" for f in FILES)]
    for path in [*paths, "/nothing", f"/api/games/{player.id}"]:
        answer = served.ask(path)
        assert "default-src 'none'" in answer.headers["content-security-policy"], path
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert player.key.encode() not in answer.body
    assert all(served.ask(path).status == 200 for path in paths)


def test_only_agents_that_fit_are_offered(serve: Serve, tmp_path: Path) -> None:
    network = make_agent(f"network:{save_network(tmp_path / 'net.onnx', players=3)}")
    fits = serve("greedy", network=network).host.offer()["fits"]
    assert fits["gardienii"] == {"2": ["greedy"], "3": ["greedy", "network"], "4": ["greedy"]}
    assert fits["dragonkeepers"]["3"] == ["greedy"]


# -- what is hidden --------------------------------------------------------------------------------


def with_other_secrets(record: dict[str, Any], seat: int, rng: random.Random) -> dict[str, Any]:
    """The record of a game that the seat cannot tell from this one: what it has not seen is another."""
    deal = json.loads(json.dumps(record["deal"]))
    state = Game.from_record(record).state
    for side, name in enumerate(("left", "right")):
        unseen = int(state["deck_size"][side] - state["deck_laid"][side]) - 1
        deal[name][:unseen] = rng.sample(deal[name][:unseen], unseen)
    others = [k for k in range(len(deal["pearls"])) if state["pearl_owner"][k] != seat]
    for place, value in zip(
        others, rng.sample([deal["pearls"][k] for k in others], len(others)), strict=True
    ):
        deal["pearls"][place] = value
    if not record["moves"]:  # nobody has shown a starting card
        deal["hands"][seat + 1 :] = other_hands(deal["hands"][seat + 1 :], rng)
    return {**record, "deal": deal}


def other_hands(hands: list[list[str]], rng: random.Random) -> list[list[str]]:
    """The same starting cards in other hands of the same sizes; another card where there is one hand."""
    if len(hands) == 1:
        return [[card for card in ("Wb", "Rg") if card not in hands[0]][: len(hands[0])]]
    cards = [card for hand in hands for card in hand]
    mixed = iter(rng.sample(cards, len(cards)))
    return [[next(mixed) for _ in hand] for hand in hands]


@pytest.mark.parametrize(("opponents", "moves"), [(1, 0), (3, 0), (1, 60), (3, 25), (3, 90)])
def test_what_is_hidden_changes_no_byte(serve: Serve, opponents: int, moves: int) -> None:
    served = serve("greedy", "planner", "ismcts:30")
    rng = random.Random(moves)
    player = served.new(*["greedy"] * opponents, seat=0)
    play(player, rng, moves // (opponents + 1))
    game = served.host.games.find(player.id, player.key)
    assert game is not None
    record = game.game.to_record()
    changed = with_other_secrets(record, 0, rng)
    assert dumps(changed["deal"]) != dumps(record["deal"])
    data = {**game.to_data(), "record": changed}
    twin = served.put(PersonsGame.from_data("f" * 16, data))
    number = len(record["moves"])
    assert twin.ask("?after=0&scenes=1").body == player.ask("?after=0&scenes=1").body
    for agent in ("greedy", "planner", "ismcts:30"):
        asked = {"agent": agent, "number": number}
        assert twin.ask("/hint", asked).body == player.ask("/hint", asked).body
    for wrong in ({"action": "column:left", "number": number}, {"action": "take:L0", "number": 999}):
        assert twin.ask("/actions", wrong).body == player.ask("/actions", wrong).body


def test_others_hands_are_not_told(serve: Serve) -> None:
    served = serve("greedy", "random")
    player = served.new("greedy", "random", seat=2)
    play(player, random.Random(8), 20)
    state = player.state()
    for scene in [state["scene"], *(move["scene"] for move in state["moves"])]:
        assert [seat["own"] is not None for seat in scene["seats"]] == [False, False, True]
    assert "deal" not in player.ask().body.decode()


# -- the command -----------------------------------------------------------------------------------


def test_the_command_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    line = [
        sys.executable,
        "-m",
        "gardienii_env",
        "serve",
        "--port",
        "0",
        "--games",
        str(tmp_path / "g"),
    ]
    with subprocess.Popen(
        [*line, "--agents", "greedy"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        assert str(tmp_path / "g") in server.stdout.readline()
        told = server.stdout.readline()
        port = int(re.findall(r"http://127\.0\.0\.1:(\d+)/", told)[0])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        connection.request("GET", "/")
        assert b'"agents":["greedy"]' in connection.getresponse().read()
        connection.close()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        body = json.dumps({"ruleset": "gardienii", "opponents": ["greedy"], "seat": 0})
        connection.request("POST", "/api/games", body, {"Content-Type": "application/json"})
        made = json.loads(connection.getresponse().read())
        path, key = f"/api/games/{made['id']}?after=0&wait=1", f"Bearer {made['key']}"
        connection.request("GET", path, headers={"Authorization": key})  # a page that waits for news
        time.sleep(0.5)
        server.send_signal(signal.SIGINT)
        assert json.loads(connection.getresponse().read())["moves"] == []
        connection.close()
        _, err = server.communicate(timeout=PATIENCE)
    assert server.returncode == 0, err
    assert "Warning" not in err
    assert "Traceback" not in err
    assert "Error" not in err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--agents", "gredy"], "Did you mean 'greedy'?"),
        (["--agents", "sb3:x.zip"], "--trust"),
        (["--ruleset", "nothing.toml"], "nothing.toml"),
        (["--games", "file"], "cannot be the folder of games"),
        (["--host", "256.0.0.1"], "cannot be listened at"),
        (["--port", "99999"], "is more than 65535"),
        (["--agents", "network:three.onnx"], "fits none of the games"),
    ],
)
def test_what_is_wrong_is_told(
    gardienii: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    rules = Ruleset.get("gardienii").to_dict() | {"name": "own", "crystals": 9}
    save_network(tmp_path / "three.onnx", players=3, ruleset=rules)
    result = gardienii("serve", "--port", "0", "--games", "games", *options)
    assert result.status == 2
    assert told in result.err


def test_a_port_that_is_taken_is_told(gardienii: Program, tmp_path: Path) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = str(taken.getsockname()[1])
        result = gardienii("serve", "--port", port, "--games", tmp_path / "games")
    assert result.status == 2
    assert f"port {port}" in result.err
    assert "0 takes any that is free" in result.err


def test_only_loopback_is_loopback() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.8.8.8", "::1", "localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "192.168.0.1", "example.org", "")))


def test_a_server_for_others_can_be_called_by_more_names() -> None:
    assert set(host_names("127.0.0.1")) == {"127.0.0.1", "localhost", "::1", "[::1]"}
    names = host_names("192.168.7.7", ["Games.example", "*"])
    assert {"192.168.7.7", "games.example", "localhost", socket.gethostname().lower()} <= set(names)
    assert not any("*" in name for name in names)
