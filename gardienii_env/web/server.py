"""The server: which address answers what, and what it refuses. It needs the extra `web` (starlette).

It serves one machine, or those that its owner lets in. A page of another site can neither read it nor
make it do anything: names of hosts are checked (DNS rebinding), origins too (CSRF), and each game
answers only to its key, which stands in no address that is sent. Requests for data and actions are:

    POST /api/games                      {"ruleset", "opponents", "seat"} -> {"id", "key"}
    GET  /api/games/ID?after=N           what the person may know, see `Host.state`;
                                         &scenes=1: with scenes; &wait=1: once there is news
    POST /api/games/ID/actions           {"action", "number"} -> the same
    POST /api/games/ID/hint              {"agent", "number"} -> {"number", "verdict"}
    POST /api/games/ID/again             {}: let an agent that failed decide once more
    GET  /api/games/ID/replay?judge=NAME see `replay_data`; once the game is over
    GET  /api/games/ID/record            the game record; once the game is over

with the header `Authorization: Bearer KEY` for a game. What is refused gets a status from 400 to 499 and
`{"error": sentence}`, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gardienii_env.errors import GardieniiError, MissingExtraError, OptionError, shown
from gardienii_env.jsontext import parse_json
from gardienii_env.record import dumps
from gardienii_env.web.games import PersonsGame, TooManyGamesError
from gardienii_env.web.host import ConflictError, Host
from gardienii_env.web.pages import FILES, POLICY, file, served_page

try:
    from starlette.applications import Starlette
    from starlette.datastructures import Headers, MutableHeaders
    from starlette.exceptions import HTTPException
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.requests import Request
    from starlette.responses import HTMLResponse, JSONResponse, Response
    from starlette.routing import Route
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
except ImportError as error:
    raise MissingExtraError("The server", "web") from error

__all__ = ["make_app"]

MAX_BODY = 4096
WAIT = 20.0
"""Seconds that a request for news waits, at most."""

HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


def make_app(host: Host, names: Iterable[str]) -> Starlette:
    """The application; `names` are those by which its host may be called, without ports."""
    desk = _Desk(host)
    return Starlette(
        routes=[
            Route("/", desk.start),
            Route("/games/{id}", desk.game),
            Route("/games/{id}/replay", desk.replay),
            Route("/page/{name}", desk.file),
            Route("/api/games", desk.api_new, methods=["POST"]),
            Route("/api/games/{id}", desk.api_news),
            Route("/api/games/{id}/actions", desk.api_act, methods=["POST"]),
            Route("/api/games/{id}/hint", desk.api_hint, methods=["POST"]),
            Route("/api/games/{id}/again", desk.api_again, methods=["POST"]),
            Route("/api/games/{id}/replay", desk.api_replay),
            Route("/api/games/{id}/record", desk.api_record),
        ],
        middleware=[
            Middleware(_WithHeaders),
            Middleware(TrustedHostMiddleware, allowed_hosts=list(names), www_redirect=False),
            Middleware(_SameOrigin),
        ],
        exception_handlers={HTTPException: _refused, GardieniiError: _refused, OSError: _failed},
        max_body_size=MAX_BODY,
    )


class _Desk:
    """Answers requests."""

    def __init__(self, host: Host) -> None:
        self.host = host

    # -- pages: the same for everybody; what is in a game they ask for themselves

    async def start(self, request: Request) -> Response:
        return self._page("play.js", {"offer": self.host.offer()})

    async def game(self, request: Request) -> Response:
        return self._page("play.js", {"game": request.path_params["id"], "offer": self.host.offer()})

    async def replay(self, request: Request) -> Response:
        return self._page("replay.js", {"game": request.path_params["id"], "offer": self.host.offer()})

    def _page(self, script: str, data: Any) -> Response:
        return HTMLResponse(served_page(script, None, data))

    async def file(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in FILES:
            raise HTTPException(404, "There is no such page.")
        return Response(file(name), media_type=FILES[name])

    # -- data

    async def api_new(self, request: Request) -> Response:
        asked = await _body(request, ruleset=str, opponents=list, seat=int | None)
        if not all(isinstance(name, str) for name in asked["opponents"]):
            raise OptionError(f"opponents: {shown(asked['opponents'])} is not a list of names.")
        game = self.host.new(asked["ruleset"], asked["opponents"], asked["seat"])
        return JSONResponse({"id": game.id, "key": game.key}, 201)

    async def api_news(self, request: Request) -> Response:
        game = self._find(request)
        after = _number(request.query_params.get("after", "0"))
        self.host.go_on(game)
        wait = WAIT if request.query_params.get("wait") == "1" else 0
        scenes = request.query_params.get("scenes") == "1"
        return JSONResponse(await self.host.news(game, after, scenes, wait))

    async def api_act(self, request: Request) -> Response:
        game = self._find(request)
        asked = await _body(request, action=str, number=int)
        self.host.act(game, asked["action"], asked["number"])
        return JSONResponse(self.host.state(game, asked["number"]))

    async def api_hint(self, request: Request) -> Response:
        game = self._find(request)
        asked = await _body(request, agent=str, number=int)
        verdict = await self.host.hint(game, asked["agent"], asked["number"])
        return JSONResponse({"number": asked["number"], "verdict": verdict})

    async def api_again(self, request: Request) -> Response:
        game = self._find(request)
        await _body(request)
        self.host.try_again(game)
        return JSONResponse({})

    async def api_replay(self, request: Request) -> Response:
        game = self._find(request)
        return JSONResponse(await self.host.replay(game, request.query_params.get("judge")))

    async def api_record(self, request: Request) -> Response:
        game = self._find(request)
        if not game.game.is_over:
            raise ConflictError("The game is still on; there is a record once it is over.")
        return Response(dumps(game.game.to_record()) + "\n", media_type="application/jsonl")

    def _find(self, request: Request) -> PersonsGame:
        """The game that is asked for with its key."""
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        game = self.host.games.find(request.path_params["id"], key) if scheme == "Bearer" else None
        if game is None:
            raise HTTPException(404, "There is no such game, or this is not its key.")
        return game


# -- what a request says ---------------------------------------------------------------------------


async def _body(request: Request, **fields: Any) -> dict[str, Any]:
    """The JSON object of a request, with exactly these fields of these types."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415, "The body of a request must be application/json.")
    try:
        given = parse_json((await request.body()).decode("utf-8"))
    except (ValueError, RecursionError):
        raise HTTPException(400, "The body of the request is not valid JSON.") from None
    if not isinstance(given, dict) or given.keys() != fields.keys():
        raise HTTPException(400, f"Expected a JSON object with {', '.join(fields) or 'no fields'}.")
    for name, kind in fields.items():
        if not isinstance(given[name], kind) or isinstance(given[name], bool):
            raise HTTPException(400, f"{name}: {shown(given[name])} is not what was expected.")
    return given


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise HTTPException(400, f"after: {shown(text)} is not a number of moves.")
    return int(text)


# -- what is refused -------------------------------------------------------------------------------


async def _refused(request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException):
        if error.status_code == 404 and not request.url.path.startswith(("/api/", "/page/")):
            return HTMLResponse(served_page("play.js", None, {"missing": True}), 404)
        return JSONResponse({"error": str(error.detail)}, error.status_code, headers=error.headers)
    status = (
        409 if isinstance(error, ConflictError) else 429 if isinstance(error, TooManyGamesError) else 400
    )
    return JSONResponse({"error": str(error)}, status)


async def _failed(request: Request, error: Exception) -> Response:
    reason = error.strerror if isinstance(error, OSError) else None
    return JSONResponse({"error": f"The game could not be kept: {reason or 'no reason given'}."}, 507)


class _SameOrigin:
    """Refuses requests that a page of another site makes."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            own = [f"{scheme}://{headers.get('host', '')}" for scheme in ("http", "https")]
            site = headers.get("sec-fetch-site", "none")
            foreign = headers.get("origin", own[0]) not in own  # https: from a proxy before this server
            if foreign or (scope["path"].startswith("/api/") and site not in ("same-origin", "none")):
                answer = JSONResponse({"error": "Pages of other sites may not ask this server."}, 403)
                await answer(scope, receive, send)
                return
        await self.app(scope, receive, send)


class _WithHeaders:
    """Adds to every answer what keeps it to this site."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self.app(scope, receive, sending if scope["type"] == "http" else send)
