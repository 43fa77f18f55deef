"""A server in a thread, and requests to it as they go over the wire."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from gardienii_env import Ruleset
from gardienii_env.agents import Agent, make_agent
from gardienii_env.rules.ruleset import SHIPPED
from gardienii_env.web.games import Games, PersonsGame
from gardienii_env.web.host import Host
from gardienii_env.web.run import host_names, listen, make_server

PATIENCE = 180.0  # what a request needs may have to be compiled first


class Answer(NamedTuple):
    """What the server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        return json.loads(self.body)


@dataclass
class Served:
    """A server that runs."""

    host: Host
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def ask(
        self,
        path: str,
        body: Any = None,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
        method: str | None = None,
    ) -> Answer:
        """Ask the server; a body that is not bytes is sent as JSON."""
        sent = {} if key is None else {"Authorization": f"Bearer {key}"}
        if body is not None and not isinstance(body, bytes):
            body, sent["Content-Type"] = json.dumps(body).encode(), "application/json"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            verb = method or ("GET" if body is None else "POST")
            connection.request(verb, path, body, {**sent, **(headers or {})})
            answer = connection.getresponse()
            return Answer(answer.status, dict(answer.getheaders()), answer.read())
        finally:
            connection.close()

    def new(self, *opponents: str, seat: int | None = 0, ruleset: str = SHIPPED[0]) -> Player:
        """Begin a game."""
        asked = {"ruleset": ruleset, "opponents": list(opponents or ("greedy",)), "seat": seat}
        answer = self.ask("/api/games", asked)
        assert answer.status == 201, answer
        return Player(self, answer.data["id"], answer.data["key"])

    def put(self, game: PersonsGame) -> Player:
        """Seat a game that was made by hand."""
        self.host.games.keep(game)
        return Player(self, game.id, game.key)


@dataclass
class Player:
    """Who plays a game at a server."""

    served: Served
    id: str
    key: str

    def ask(self, what: str = "", body: Any = None, **more: Any) -> Answer:
        return self.served.ask(f"/api/games/{self.id}{what}", body, self.key, **more)

    def state(self, after: int = 0) -> Any:
        answer = self.ask(f"?after={after}&scenes=1")
        assert answer.status == 200, answer
        return answer.data

    def act(self, action: str, number: int) -> Answer:
        return self.ask("/actions", {"action": action, "number": number})

    def to_decide(self) -> Any:
        """The state once the person decides, or the game is over, or an agent failed."""
        end = time.monotonic() + PATIENCE
        state = self.ask(f"?after={10**6}").data
        while state["scene"]["deciding"] not in (None, state["seat"]) and state["error"] is None:
            assert time.monotonic() < end
            state = self.ask(f"?after={state['number']}&wait=1").data
        return state


Serve = Callable[..., Served]
"""Starts a server for the agents named and those given, which ends with the test."""


@contextmanager
def starting(folder: Path) -> Iterator[Serve]:
    """What starts servers that keep games in a folder; all of them end with the context."""
    with ExitStack() as stack:

        def serve(*names: str, **more: Agent) -> Served:
            agents = {name: make_agent(name) for name in names or ("greedy",)} | more
            return stack.enter_context(serving(agents, folder))

        yield serve


@contextmanager
def serving(agents: Mapping[str, Agent], folder: Path, **options: Any) -> Iterator[Served]:
    """A server for these agents and this folder of games."""
    rulesets = {name: Ruleset.get(name) for name in SHIPPED}
    host = Host(Games(folder, **options), agents, rulesets)
    with listen("127.0.0.1", 0) as listener:
        server = make_server(host, host_names("127.0.0.1"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.01)
            yield Served(host, listener.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
            host.games.close()
