"""Starts the server: where it listens, by what names it may be called, and what it tells."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from gardienii_env.errors import AgentError, MissingExtraError, OptionError
from gardienii_env.game import Game
from gardienii_env.render.scene import scene
from gardienii_env.rules.ruleset import MAX_PLAYERS, MIN_PLAYERS
from gardienii_env.web.host import Host, fits_game
from gardienii_env.web.judge import choose, judge_position
from gardienii_env.web.replay import replay_data
from gardienii_env.web.story import do_move

__all__ = ["default_folder", "host_names", "is_loopback", "listen", "make_server", "serve", "warm_up"]

WARM_DECISIONS = 12
LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "::1")
FOLDER = "gardienii-games"


def default_folder() -> Path:
    """The folder of a user's games: where the system keeps users' data."""
    home = Path.home()
    if sys.platform == "win32":
        data = Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local"))
    elif sys.platform == "darwin":
        data = home / "Library" / "Application Support"
    else:
        data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    return data / FOLDER


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the host."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0: any that is free. OptionError if that cannot be."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise OptionError(
            f"--host, --port: {host}, port {port}, cannot be listened at: {error.strerror or error}. "
            "Try another --port; 0 takes any that is free."
        ) from None


def host_names(host: str, more: Iterable[str] = ()) -> list[str]:
    """The names by which browsers may call the server that listens at a host, and `more`."""
    names = [*LOOPBACK, host, *more]
    if not is_loopback(host):
        here = socket.gethostname()
        names += [here, f"{here}.local"]
        with suppress(OSError):  # the name of this machine may lead nowhere
            names += [str(found[4][0]) for found in socket.getaddrinfo(here, None)]
    return [name.lower() for name in dict.fromkeys(names) if "*" not in name]


def serve(host: Host, listener: socket.socket, names: Sequence[str]) -> None:
    """Answer requests until the process is told to end. MissingExtraError without the extra `web`."""
    try:
        make_server(host, names).run(sockets=[listener])
    finally:
        host.games.close()


def make_server(host: Host, names: Sequence[str]) -> Any:
    """A server (uvicorn's) that lets nobody wait once it ends; raises as `serve`."""
    try:
        import uvicorn
    except ImportError as error:
        raise MissingExtraError("The server", "web") from error
    from gardienii_env.web.server import make_app

    config = uvicorn.Config(
        make_app(host, names),
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=1,
    )

    class Server(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            host.close()  # pages wait for news: their requests would be broken off
            await super().shutdown(sockets)

    return Server(config)


def warm_up(host: Host) -> None:
    """Let every agent decide, and play a game in every way, so that all machine code is there.

    It takes one to two minutes the first time, and a second or two later. AgentError if an agent fits
    none of the games that are offered, or fails.
    """
    for ruleset in host.rulesets.values():
        for players in range(MIN_PLAYERS, MAX_PLAYERS + 1):
            _play_through(Game.new(players, ruleset, seed=0))
    for name, agent in host.agents.items():
        fits = [
            (ruleset, players)
            for ruleset in host.rulesets.values()
            for players in range(MIN_PLAYERS, MAX_PLAYERS + 1)
            if fits_game(agent, ruleset, players)
        ]
        if not fits:
            names = ", ".join(host.rulesets)
            raise AgentError(f"{name} fits none of the games offered (rulesets: {names}).")
        game = Game.new(fits[0][1], fits[0][0], seed=0)
        choose(agent, game, 0)
        judge_position(agent, game, 0)


def _play_through(game: Game) -> None:
    """Do with a game all that the server does with one."""
    for decision in range(WARM_DECISIONS):
        if game.player is None:
            break
        scene(game, game.player)
        do_move(game.clone(), game.legal_actions()[-1 - decision % 2])
        do_move(game, game.legal_actions()[-1 - decision % 2])
    replay_data(game.to_record())
    game.winners(), game.payoffs(), game.points()
