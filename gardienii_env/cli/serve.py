"""`gardienii serve`: a local web page on which a person plays against agents."""

from __future__ import annotations

import shlex
import sys
from argparse import ArgumentParser, Namespace
from contextlib import redirect_stdout, suppress
from importlib.util import find_spec

from gardienii_env.agents import Agent, make_agent
from gardienii_env.cli.options import Commands, add_command, add_trust, list_agents, whole_number
from gardienii_env.errors import MissingExtraError, OptionError
from gardienii_env.rules.ruleset import SHIPPED, Ruleset

__all__ = ["add_games", "add_to"]

DESCRIPTION = """\
Play in a browser, against 1 to 3 agents: start it, and open the address that it
prints. Players, rules, opponents and language are chosen on the page. Several
games may be on at once; each is kept on disk after every move, and goes on where
it was when the page is loaded again or the server is started anew.

Only this machine can reach the page, unless --host says otherwise. Ctrl-C ends
the server."""

EXAMPLES = """\
  gardienii serve
  gardienii serve --agents greedy,planner,ismcts:2000,network:mine.onnx --port 8080"""

OFFERED = "random,greedy,planner,ismcts:400"


def add_to(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands, run, "serve", "play against agents in a browser", DESCRIPTION, EXAMPLES
    )
    parser.add_argument(
        "--agents",
        metavar="LIST",
        default=OFFERED,
        help="agents to choose from on the page, with commas; see below (default: %(default)s)",
    )
    list_agents(parser)
    add_trust(parser)
    parser.add_argument(
        "--ruleset",
        metavar="FILE",
        action="append",
        default=[],
        help="a ruleset of your own, a .toml or .json file, to choose from besides "
        f"{' and '.join(SHIPPED)}; may be given again",
    )
    parser.add_argument(
        "--host",
        metavar="ADDRESS",
        default="127.0.0.1",
        help="address to listen at; 0.0.0.0 lets other machines in (default: %(default)s)",
    )
    parser.add_argument(
        "--port",
        metavar="P",
        type=whole_number(0, 65535),
        default=8000,
        help="port to listen at; 0 takes any that is free (default: %(default)s)",
    )
    parser.add_argument(
        "--allow-host",
        metavar="NAME",
        action="append",
        default=[],
        help="another name by which browsers may call the server; may be given again",
    )
    add_games(parser)


def add_games(parser: ArgumentParser) -> None:
    """Add `--games`."""
    parser.add_argument(
        "--games",
        metavar="FOLDER",
        help="folder to keep games in (default: gardienii-games among your user data)",
    )


def run(args: Namespace) -> int:
    """Listen, get ready, and serve until interrupted."""
    for library in ("starlette", "uvicorn"):
        if find_spec(library) is None:
            raise MissingExtraError("gardienii serve", "web")
    from gardienii_env.web import run as web
    from gardienii_env.web.games import Games
    from gardienii_env.web.host import Host

    agents = _agents(args.agents, args.trust)
    rulesets = _rulesets(args.ruleset)
    games = Games(args.games or web.default_folder())
    host = Host(games, agents, rulesets)
    with web.listen(args.host, args.port) as listener:
        print("Getting ready ...", file=sys.stderr, flush=True)
        with redirect_stdout(sys.stderr):
            web.warm_up(host)
        port = listener.getsockname()[1]
        if not web.is_loopback(args.host):
            print(
                f"Warning: whoever can reach this machine at {args.host} can play here, and nothing "
                "that is sent is encrypted.",
                file=sys.stderr,
            )
        print(f"Games are kept in {shlex.quote(str(games.folder.resolve()))}.")
        print(
            f"Open http://{_address(args.host)}:{port}/ in a browser; Ctrl-C ends the server.",
            flush=True,
        )
        with suppress(KeyboardInterrupt):
            web.serve(host, listener, web.host_names(args.host, args.allow_host))
    print("Ended. Games that are on go on when the server is started again.", file=sys.stderr)
    return 0


def _agents(names: str, trust: bool) -> dict[str, Agent]:
    """The agents to choose from, by name."""
    with redirect_stdout(sys.stderr):  # what agents print is no part of the output
        agents = [make_agent(name, trust) for name in names.split(",")]
    return {agent.name: agent for agent in agents}


def _rulesets(files: list[str]) -> dict[str, Ruleset]:
    """The rulesets to choose from, by name."""
    rulesets = {name: Ruleset.get(name) for name in SHIPPED}
    for file in files:
        ruleset = Ruleset.get(file)
        if ruleset.name in rulesets and ruleset != rulesets[ruleset.name]:
            raise OptionError(
                f"--ruleset: {file} is called {ruleset.name!r}, as another ruleset is; change its name."
            )
        rulesets[ruleset.name] = ruleset
    return rulesets


def _address(host: str) -> str:
    """How a browser on this machine calls the host."""
    if host in ("0.0.0.0", "::"):
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host
