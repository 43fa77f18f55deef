"""Who plays on a server: it lets agents decide where it is their turn, and answers for them.

All changes to games happen on the event loop, one after the other. Agents think in threads, on copies,
so that however long they take no other game waits for them.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from typing import Any, TypeVar

from gardienii_env.agents import Agent
from gardienii_env.errors import AgentError, GardieniiError, OptionError, one_of
from gardienii_env.game import Game
from gardienii_env.record import final
from gardienii_env.render.scene import scene
from gardienii_env.rules.ruleset import MAX_PLAYERS, MIN_PLAYERS, Ruleset
from gardienii_env.web.games import Games, PersonsGame
from gardienii_env.web.judge import Verdict, choose, judge_position
from gardienii_env.web.replay import replay_data, rule_numbers
from gardienii_env.web.story import do_move

__all__ = ["ConflictError", "Host", "fits_game"]

T = TypeVar("T")

SAFE = ("random", "greedy", "planner", "ismcts", "best", "network")
"""Kinds of agents that several threads may ask at once."""

MAX_THINKING, MAX_ADVISING = 16, 4
MAX_WAITING = 8


class ConflictError(GardieniiError):
    """The game has gone on, or is not at the point that what was asked for needs."""


class Host:
    """Lets persons play against agents.

    Args:
        games: where games are kept.
        agents: that may be played against and asked for hints, by the names shown for them.
        rulesets: that may be played, by name.
    """

    def __init__(
        self, games: Games, agents: Mapping[str, Agent], rulesets: Mapping[str, Ruleset]
    ) -> None:
        self.games, self.agents, self.rulesets = games, agents, rulesets
        self._locks = {name: _lock(name) for name in agents}
        self._thinking: dict[str, asyncio.Task[None]] = {}
        self._advised: set[str] = set()
        self._room, self._advice = asyncio.Semaphore(MAX_THINKING), asyncio.Semaphore(MAX_ADVISING)
        self._waiting: set[asyncio.Future[Any]] = set()
        self._closed = False

    def close(self) -> None:
        """Let nobody wait any more: requests for news are answered, those for thoughts refused."""
        self._closed = True
        for task in self._thinking.values():
            task.cancel()
        for waiting in list(self._waiting):
            if not waiting.done():
                waiting.set_exception(ConflictError("The server is ending."))

    # -- what can be played ------------------------------------------------------------------------

    def offer(self) -> dict[str, Any]:
        """What a person can choose from: rulesets, agents, and which agents fit which games."""
        return {
            "rulesets": list(self.rulesets),
            "agents": list(self.agents),
            "fits": {
                name: {
                    str(players): [n for n, a in self.agents.items() if fits_game(a, ruleset, players)]
                    for players in range(MIN_PLAYERS, MAX_PLAYERS + 1)
                }
                for name, ruleset in self.rulesets.items()
            },
        }

    def new(self, ruleset: str, opponents: list[str], seat: int | None) -> PersonsGame:
        """Begin a game against opponents, clockwise from the first seat that is not the person's.

        Raises OptionError or AgentError for what is not offered, TooManyGamesError if the folder is
        full, OSError if the game cannot be kept.
        """
        if ruleset not in self.rulesets:
            raise OptionError(one_of("ruleset:", ruleset, self.rulesets))
        players = len(opponents) + 1
        if not MIN_PLAYERS <= players <= MAX_PLAYERS:
            raise OptionError(f"opponents: {len(opponents)} of them; expected 1, 2 or 3.")
        for name in opponents:
            self._agent(name).check(self.rulesets[ruleset], players)
        game = self.games.new(self.rulesets[ruleset], players, opponents, seat)
        self.go_on(game)
        return game

    def _agent(self, name: str) -> Agent:
        if name not in self.agents:
            raise OptionError(one_of("The agent", name, self.agents))
        return self.agents[name]

    # -- playing -----------------------------------------------------------------------------------

    def act(self, game: PersonsGame, action: str, number: int) -> None:
        """The person's action, which is move `number` of the game, counted from 0.

        Raises ConflictError if it is not the person's decision, or another one by now, and
        IllegalActionError if it is not legal; the game is as it was.
        """
        self._check_decision(game, number)
        game.game.apply(action)
        self._changed(game)
        self.go_on(game)

    def go_on(self, game: PersonsGame) -> None:
        """Let agents decide until the person is to decide, unless they do already or one has failed."""
        if not game.kept:
            self._keep(game)
        if self._agents_turn(game) and game.error is None and game.id not in self._thinking:
            game.thinking = True
            task = asyncio.get_running_loop().create_task(self._play(game))
            self._thinking[game.id] = task
            task.add_done_callback(lambda done: self._stopped(game))

    def _stopped(self, game: PersonsGame) -> None:
        """No agent is to decide any more."""
        self._thinking.pop(game.id, None)
        game.thinking = False

    def try_again(self, game: PersonsGame) -> None:
        """Let the agent that failed decide once more."""
        game.error = None
        self.go_on(game)

    async def hint(self, game: PersonsGame, agent: str, number: int) -> Verdict:
        """What an agent would do in the person's place; raises as `act`, OptionError and AgentError."""
        adviser = self._agent(agent)
        self._check_decision(game, number)
        adviser.check(game.game.ruleset, game.game.num_players)
        position, seed = game.game.clone(), game.seed()
        return await self._advise(game, agent, lambda: judge_position(adviser, position, seed))

    async def replay(self, game: PersonsGame, judge: str | None) -> dict[str, Any]:
        """The replay of a game that is over, with an agent's verdicts if asked; ConflictError before."""
        if not game.game.is_over:
            raise ConflictError("The game is still on; there is a replay once it is over.")
        judges = [] if judge is None else [self._agent(judge)]
        record = game.game.to_record()
        data = await self._advise(game, judge, lambda: replay_data(record, judges, game.names))
        return {**data, "you": game.seat}

    def _check_decision(self, game: PersonsGame, number: int) -> None:
        if game.game.player != game.seat:
            over = "the game is over" if game.game.is_over else "another player decides"
            raise ConflictError(f"It is not your decision: {over}.")
        if number != len(game.game.moves):
            raise ConflictError(f"The game is at move {len(game.game.moves)}, not at move {number}.")

    def _agents_turn(self, game: PersonsGame) -> bool:
        return game.game.player not in (None, game.seat)

    async def _play(self, game: PersonsGame) -> None:
        """Let agents decide until it is the person's decision."""
        while self._agents_turn(game):
            assert game.game.player is not None
            name = game.agent(game.game.player)
            try:
                agent, position, seed = self._agent(name), game.game.clone(), game.seed()
                agent.check(position.ruleset, position.num_players)
                action = await self._think(name, lambda: choose(agent, position, seed))  # noqa: B023
            except GardieniiError as error:
                game.error = str(error)
            except Exception as error:  # an agent of somebody else may raise anything
                game.error = f"{name} failed: {error!r}."
            else:
                game.game.apply(action)
            self._changed(game)
            if game.error is not None:
                return

    async def _think(self, agent: str | None, work: Callable[[], T], advice: bool = False) -> T:
        """Do something in a thread that does not keep the program from ending.

        Advice has room of its own, so that no move has to wait for it.
        """
        lock = nullcontext() if agent is None else self._locks[agent]
        async with lock, self._advice if advice else self._room:
            if self._closed:
                raise ConflictError("The server is ending.")
            thought = _in_thread(work)
            self._waiting.add(thought)
            try:
                return await thought
            finally:
                self._waiting.discard(thought)

    async def _advise(self, game: PersonsGame, agent: str | None, work: Callable[[], T]) -> T:
        """The same for a hint or a replay, one at a time for each game; ConflictError for another."""
        if game.id in self._advised:
            raise ConflictError("What was asked for before is still being worked out.")
        self._advised.add(game.id)
        try:
            return await self._think(agent, work, advice=True)
        finally:
            self._advised.discard(game.id)

    # -- telling -----------------------------------------------------------------------------------

    async def news(self, game: PersonsGame, after: int, scenes: bool, wait: float) -> dict[str, Any]:
        """What the person may know of the game, and what was done since move `after`.

        It waits for up to so many seconds if there is nothing new. See `state` for what it tells.
        """
        nothing_new = after == len(game.game.moves) and game.error is None
        if nothing_new and len(game.waiting) < MAX_WAITING and not self._closed:
            news: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            game.waiting.add(news)
            self._waiting.add(news)
            try:
                with suppress(asyncio.TimeoutError, ConflictError):
                    await asyncio.wait_for(news, wait)
            finally:
                game.waiting.discard(news)
                self._waiting.discard(news)
        return self.state(game, after, scenes)

    def state(self, game: PersonsGame, after: int, scenes: bool = True) -> dict[str, Any]:
        """What the person may know of the game, as plain data.

        - `number`: of moves so far; `seat`: the person's; `names`: who plays, None for the person.
        - `scene`: as the person sees it; `points`: the person's own, if the game ended now; `moves`:
          those from `after` on (see `story.do_move`), with `scenes` each with both after it.
        - `rules`: see `replay.rule_numbers`.
        - `error`: why an agent could not go on; `kept`: whether the game could be written to disk.
        """
        return {
            "number": len(game.game.moves),
            "seat": game.seat,
            "names": game.names,
            "moves": _moves(game, after, scenes),
            "scene": scene(game.game, game.seat),
            "points": game.game.scores()[game.seat],
            "rules": rule_numbers(game.game),
            "final": final(game.game) if game.game.is_over else None,
            "error": game.error,
            "kept": game.kept,
        }

    def _changed(self, game: PersonsGame) -> None:
        """Keep the game, and wake who waits for news of it."""
        self._keep(game)
        for news in game.waiting:
            if not news.done():
                news.set_result(None)

    def _keep(self, game: PersonsGame) -> None:
        """Write the game to its file; if that cannot be, it is tried again at the next request."""
        try:
            self.games.keep(game)
            game.kept = True
        except OSError as error:
            if game.kept:
                print(f"game {game.id} could not be kept: {error}.", file=sys.stderr)
            game.kept = False


def fits_game(agent: Agent, ruleset: Ruleset, players: int) -> bool:
    """Whether an agent can play such games."""
    try:
        agent.check(ruleset, players)
    except AgentError:
        return False
    return True


def _moves(game: PersonsGame, after: int, scenes: bool) -> list[dict[str, Any]]:
    """The moves from `after` on, as the person saw them."""
    if after >= len(game.game.moves):
        return []
    again = Game.from_deal(game.game.deal(), game.game.num_players, game.game.ruleset)
    told = []
    for k, (_, action) in enumerate(game.game.moves):
        if k < after:
            again.apply(action)
            continue
        move = do_move(again, action)
        more = {"scene": scene(again, game.seat), "points": again.scores()[game.seat]} if scenes else {}
        told.append({**move, **more})
    return told


def _lock(name: str) -> AbstractAsyncContextManager[Any]:
    return nullcontext() if name.partition(":")[0] in SAFE else asyncio.Lock()


def _in_thread(work: Callable[[], T]) -> asyncio.Future[T]:
    """What `work` gives or raises, done in a thread of its own, which ends with the program."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if not done.done():
            if error is None:
                done.set_result(result)  # type: ignore[arg-type]
            else:
                done.set_exception(error)

    def run() -> None:
        result, failed = None, None
        try:
            result = work()
        except Exception as error:
            failed = error
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, result, failed)

    threading.Thread(target=run, name="thinking", daemon=True).start()
    return done
