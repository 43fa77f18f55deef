"""`gardienii play`: a person plays against agents in the terminal."""

from __future__ import annotations

import shlex
import shutil
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from secrets import randbits
from typing import Any

from gardienii_env.agents import Agent, make_agents
from gardienii_env.cli.options import (
    Commands,
    add_command,
    add_ruleset,
    add_trust,
    list_agents,
    whole_number,
)
from gardienii_env.cli.output import STDOUT, is_stream, writing
from gardienii_env.cli.replay import add_language, read_game
from gardienii_env.errors import GardieniiError, OptionError
from gardienii_env.game import Game
from gardienii_env.record import dumps, read_lines
from gardienii_env.rules.actions import ACTIONS
from gardienii_env.rules.ruleset import MAX_PLAYERS, MIN_PLAYERS, SHIPPED, Ruleset

__all__ = ["add_to"]

DESCRIPTION = """\
Play in the terminal, against 1 to 3 agents. At each of your decisions you see the
board and what you may do; answer with the id or the name of an action, or with
# and its number in the list. Further answers:

  hint NAME   what an agent would do, such as: hint planner
  board       show the board again
  quit        end here; the game is kept, and --resume goes on with it
  help        what can be answered

The game is written as a record after each of your decisions, so that nothing is lost
whatever ends it; to standard output (--out -) or a pipe once, when the game ends."""

EXAMPLES = """\
  gardienii play
  gardienii play --agents planner,greedy --language de
  gardienii play --resume games/mine.jsonl --agents planner"""

HINT = "planner"
SEED_BITS = 53


def add_to(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands, run, "play", "play against agents in the terminal", DESCRIPTION, EXAMPLES
    )
    parser.add_argument(
        "--agents",
        metavar="LIST",
        default="greedy",
        help="your opponents, 1 to 3 with commas, clockwise; see below (default: %(default)s)",
    )
    list_agents(parser)
    add_trust(parser)
    add_ruleset(parser, default=None)
    parser.add_argument(
        "--seat", metavar="P", type=whole_number(0, MAX_PLAYERS - 1), default=0,
        help="your seat; seat 0 begins (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--seed", metavar="S", type=whole_number(0), help="seed of the deal (default: drawn)"
    )
    add_language(parser)
    parser.add_argument(
        "--resume", metavar="FILE", help="go on with the first game of a file, against --agents"
    )
    parser.add_argument(
        "--out",
        metavar="FILE.jsonl",
        help="file for the record (default: a new one in gardienii-games among your user data)",
    )


def run(args: Namespace) -> int:
    """Play until the game is over or the person leaves it."""
    from gardienii_env.render.text import board  # what is missing is told before anything else
    from gardienii_env.render.texts import LANGUAGES, text

    with redirect_stdout(sys.stderr):
        agents = _agents(args.agents, args.trust)
    game = _game(args, len(agents) + 1)
    if args.seat >= game.num_players:
        raise OptionError(f"--seat: {args.seat} is not a seat from 0 to {game.num_players - 1}.")
    for agent in agents:
        agent.check(game.ruleset, game.num_players)
    seats = [*agents[: args.seat], None, *agents[args.seat :]]
    out = _file(args)
    stays = not is_stream(out)
    table = _Table(
        game, seats, args.seat, args.language, board, lambda: _keep_so_far(game, out) if stays else None
    )
    if stays:
        _keep(game, out)  # what cannot be written to is told at once
        print(text(args.language, "play.record", file=shlex.quote(out)), file=sys.stderr)
    try:
        table.play()
    except (KeyboardInterrupt, _Left):
        print()
    finally:
        kept = _keep_at_last(game, out)
    if kept != out or not stays:  # what is told below would not go on from here
        return 0 if kept == out else 2
    name = f"./{out}" if out.startswith("-") else out  # which would be an option
    language = [] if args.language == next(iter(LANGUAGES)) else ["--language", args.language]
    if not game.is_over:
        command = ["gardienii", "play", "--resume", name, "--agents", args.agents, *language]
        command += ["--seat", str(args.seat)] if args.seat else []
        command += ["--trust"] if args.trust else []
    else:
        command = ["gardienii", "replay", name, "--out", "game.html", *language]
    key = "play.watch" if game.is_over else "play.resume"
    print("\n" + text(args.language, key, command=shlex.join(command)), file=sys.stderr)
    return 0


def _agents(names: str, trust: bool) -> list[Agent]:
    count = names.count(",") + 1
    if not MIN_PLAYERS <= count + 1 <= MAX_PLAYERS:
        raise OptionError(f"--agents: {count} opponents; expected 1, 2 or 3.")
    return make_agents(names, count, trust)


def _game(args: Namespace, players: int) -> Game:
    """A new game, or the one to go on with."""
    if args.resume is None:
        seed = randbits(SEED_BITS) if args.seed is None else args.seed
        return Game.new(players, Ruleset.get(args.ruleset or SHIPPED[0]), seed)
    for option in ("seed", "ruleset"):
        if getattr(args, option) is not None:
            raise OptionError(
                f"--{option}: a game that goes on by --resume keeps its own; leave it out."
            )
    if args.out in (None, args.resume) and is_stream(args.resume):
        raise OptionError(f"--resume: {args.resume} cannot keep the game; give a file for it by --out.")
    game = Game.from_record(read_game(args.resume, 0)[1])
    if game.num_players != players:
        raise OptionError(
            f"--agents: {players - 1} opponents, but the game in {args.resume} has {game.num_players} "
            f"players; give {game.num_players - 1}."
        )
    return game


def _file(args: Namespace) -> str:
    """The file for the record: no other games are in it."""
    if args.resume is not None and args.out in (None, args.resume):
        if sum(1 for _ in read_lines(args.resume)) > 1:
            raise OptionError(
                f"--resume: {args.resume} holds other games too; give a new file by --out."
            )
        return str(args.resume)
    if args.out is None:
        return str(_new_file())
    if args.out != STDOUT and Path(args.out).is_file():
        raise OptionError(f"--out: {args.out} is there already; give a new file, or go on by --resume.")
    return str(args.out)


def _new_file() -> Path:
    """A file that is not there yet, in the folder of the user's games."""
    from gardienii_env.web.run import default_folder

    folder = default_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(f"--out: {folder} cannot be made: {error.strerror}; give a file.") from None
    number = 1
    while (file := folder / f"played-{number}.jsonl").exists():
        number += 1
    return file


def _keep(game: Game, out: str) -> None:
    """Write the record of the game as it stands."""
    with writing(out) as file:
        print(dumps(game.to_record()), file=file, flush=True)


def _keep_so_far(game: Game, out: str) -> None:
    """Write it in mid-game. What hinders it is told, and the game goes on."""
    try:
        _keep(game, out)
    except OptionError as error:
        print(error, file=sys.stderr)


def _keep_at_last(game: Game, out: str) -> str:
    """Write it for the last time; returns where to. Elsewhere, if need be, and that is told."""
    try:
        _keep(game, out)
        return out
    except (OptionError, OSError, KeyboardInterrupt) as error:  # Ctrl-C: a pipe may have no reader
        print(str(error) or f"--out: {out!r} takes nothing.", file=sys.stderr)
    try:
        other = str(_new_file())
        _keep(game, other)
        print(f"The record of the game is in {other} instead.", file=sys.stderr)
    except OptionError as error:
        other = STDOUT
        _keep(game, other)
        print(f"{error} The record of the game stands on standard output.", file=sys.stderr)
    return other


class _Left(Exception):  # noqa: N818  # nothing is wrong
    """The person wants to go."""


class _Table:
    """A game on the terminal."""

    def __init__(
        self,
        game: Game,
        seats: Sequence[Agent | None],
        seat: int,
        language: str,
        board: Any,
        keep: Callable[[], None],
    ) -> None:
        self.game, self.seats, self.seat, self.language, self._board = game, seats, seat, language, board
        self._keep = keep
        self.color = sys.stdout.isatty()

    def play(self) -> None:
        """Play to the end; _Left if the person wants to go."""
        from gardienii_env.web.judge import choose

        while (seat := self.game.player) is not None:
            agent = self.seats[seat]
            if agent is None:
                self._show()
                self._do(self._ask())
                self._keep()
            else:
                with redirect_stdout(sys.stderr):
                    action = choose(agent, self.game, self._seed())
                self._tell(seat, agent.name, action)
        self._show()

    def _do(self, action: str) -> dict[str, Any]:
        from gardienii_env.web.story import do_move

        return do_move(self.game, action)

    def _seed(self) -> int:
        """The seed of what agents draw at this decision; nothing else uses it."""
        return (self.game.seed or 0) + (1 << 64) + len(self.game.moves)

    def _show(self) -> None:
        width = min(shutil.get_terminal_size((100, 24)).columns, 100)
        print()
        print(
            self._board(
                self.game, self.seat, color=self.color, width=max(width, 60), language=self.language
            )
        )

    def _tell(self, seat: int, name: str, action: str) -> None:
        """Do what an agent decided, and tell it."""
        from gardienii_env.render.texts import text
        from gardienii_env.web.story import move_words

        words = move_words(self.language, self._do(action))
        print(f"{text(self.language, 'seat.name', seat=seat)} ({name}) {words}")

    def _ask(self) -> str:
        """The action that the person wants to do, which is legal."""
        legal = self.game.legal_actions()
        self._list(legal)
        while True:
            answer = self._answer()
            word, _, rest = answer.partition(" ")
            if word in ("quit", "q", "exit"):
                raise _Left
            if word in ("help", "?"):
                self._help()
            elif word == "board":
                self._show()
                self._list(legal)
            elif word == "hint":
                self._hint(rest.strip() or HINT)
            elif word:
                action = meant(answer, legal)
                if action is not None:
                    return action
                print(self._says("play.not_legal", answer=repr(answer)))

    def _says(self, key: str, **values: object) -> str:
        from gardienii_env.render.texts import text

        return text(self.language, key, **values)

    def _help(self) -> None:
        """What can be answered."""
        print(self._says("play.help"))
        print(f"  hint NAME   {self._says('play.help_hint', agent=HINT)}")
        print(f"  board       {self._says('play.help_board')}")
        print(f"  quit        {self._says('play.help_quit')}")

    def _answer(self) -> str:
        if sys.stdin is None:  # closed before we began
            raise _Left
        try:
            print("> ", end="", flush=True)
            answer = input().strip()
        except EOFError:
            print()
            raise _Left from None
        except UnicodeDecodeError:
            return "?"
        if not sys.stdin.isatty():
            print(answer)  # what was typed stands in the output, as on a terminal
        return answer

    def _list(self, legal: Sequence[str]) -> None:
        """The legal actions with their numbers and ids, in words."""
        from gardienii_env.render.scene import scene
        from gardienii_env.render.texts import action_words, card_of, card_words

        now = scene(self.game, self.seat)
        print()
        for k, action in enumerate(legal, start=1):
            card = card_of(now, action)
            words = action_words(self.language, action, step=self.game.step, card=card, form="offer")
            more = f" ({card_words(self.language, card)})" if card else ""
            print(f"  #{k:<3}{ACTIONS.index(action):>3}  {action:<12}  {words}{more}")

    def _hint(self, name: str) -> None:
        from gardienii_env.agents import make_agent
        from gardienii_env.web.judge import judge_position

        try:
            with redirect_stdout(sys.stderr):
                agent = make_agent(name)
                agent.check(self.game.ruleset, self.game.num_players)
                verdict = judge_position(agent, self.game, self._seed())
        except GardieniiError as error:
            print(error)
            return
        print(f"{name}: {verdict['choice']}")
        for option in verdict["options"][:5]:
            numbers = [] if option["share"] is None else [f"{option['share']:.0%}"]
            numbers += (
                [] if option["visits"] is None else [self._says("play.visits", number=option["visits"])]
            )
            value = option["value"]
            if value is not None:
                numbers.append(self._says(f"play.{verdict['scale']}", value=f"{value:+.2f}"))
            if numbers:
                print(f"  {option['action']:<12}  {', '.join(numbers)}")


def meant(answer: str, legal: Sequence[str]) -> str | None:
    """The legal action that an answer means: an id, a name, or # and a number in the list from 1."""
    names: dict[str, str] = {}
    for k, action in enumerate(legal, start=1):
        names |= {f"#{k}": action, str(ACTIONS.index(action)): action, action: action}
    small = {name.lower(): action for name, action in names.items()}
    return names.get(answer) or small.get("".join(answer.lower().split()))
