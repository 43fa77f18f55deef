"""One learner a game, opponents playing inside the step: what the single-agent environments share.

`LearnerTable` holds any number of games. Each has a learner's seat, drawn for every episode unless it
is fixed; after the learner's action the opponents play until the learner decides again or the game is
over. Nothing here resets a game by itself: how episodes follow each other is the environments' affair.

Every game has three generators, made from its seed: the deal's (the same as in `Game.new`), one for
the learner's seat and one for the opponents. So a game's course depends on its own seed only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from gardienii_env.agents import STREAM, Agent, make_agent, make_agents
from gardienii_env.agents.compiled import NOT_COMPILED, compiled_action, compiled_code
from gardienii_env.deal import read_deal
from gardienii_env.envs.outcome import (
    POINTS,
    REWARDS,
    Reward,
    final_infos,
    one_by_one,
    rewards_at_end,
)
from gardienii_env.errors import AgentError, DealError, OptionError, as_index, one_of, shown
from gardienii_env.game import RulesetLike
from gardienii_env.observation import (
    ObservationArrays,
    Observations,
    ObservationType,
    View,
    check_players,
    layout,
    observation_arrays,
    observe,
    read_only,
)
from gardienii_env.rules import engine, scoring
from gardienii_env.rules.batch import Batch, deal_all, own_arrays, writable
from gardienii_env.rules.engine import Masks
from gardienii_env.rules.jit import compiled, compiled_loop, index, inlined
from gardienii_env.rules.random import draw_below, seed_streams
from gardienii_env.rules.ruleset import MAX_PLAYERS, Ruleset
from gardienii_env.rules.state import END_TURN_LIMIT, States
from gardienii_env.rules.threads import Threads
from gardienii_env.words import count_words

__all__ = ["ILLEGAL_ACTIONS", "IllegalAction", "LearnerTable", "Opponents"]

IllegalAction = Literal["terminate", "raise"]
ILLEGAL_ACTIONS: tuple[IllegalAction, ...] = ("terminate", "raise")
ILLEGAL_REWARD = -1.0

Opponents = str | Agent | Sequence[Agent | str]
"""Names with commas (one stands for all), or agents; clockwise from the learner."""

DEALS_TRIED = 1000

NOBODY = -1
NO_ACTIONS = NO_GAMES = np.zeros(0, np.int64)


EPISODE = np.dtype(
    [
        ("reward", np.float64),  # of the last step
        ("score", np.int64),  # points that were paid for, with the reward `points`
        ("action", np.int64),  # what whoever decides does next; -1: not known
        ("opponents", np.int64, MAX_PLAYERS - 1),  # clockwise from the learner: see `compiled_action`
        ("who", np.int64, MAX_PLAYERS - 1),  # the same opponents, by their place in `_distinct`
        ("asked", np.int64),  # which opponent has to be asked, 0 for the first; NOBODY
        ("seat", np.int64),  # the learner's
        ("busy", np.bool_),  # whether the game has to go on to the learner's next decision
        ("stale", np.bool_),  # whether the observation is of an earlier position
        ("terminated", np.bool_),
        ("truncated", np.bool_),
        ("illegal", np.bool_),  # whether the last step's action was illegal
    ],
    align=True,
)
"""What is kept of an episode besides the game itself."""

DRAWN = np.dtype([("bound", np.int64), ("code", np.int64), ("who", np.int64)], align=True)
"""An opponent that may be drawn: by the numbers from the one before's bound up to below its own."""

BELOW = 2**31
"""Opponents are drawn by a number from 0 up to this one, exclusive."""


class Arrays(NamedTuple):
    """What the compiled loops work on besides observations."""

    rules: npt.NDArray[np.void]
    states: States
    masks: Masks
    episodes: npt.NDArray[np.void]
    seat_streams: npt.NDArray[np.void]  # generators that draw the learner's seat
    streams: npt.NDArray[np.void]  # generators for the opponents
    drawn: npt.NDArray[np.void]  # who may be drawn for each opponent's seat; empty: they are fixed


class LearnerTable:
    """Games in arrays, each waiting for its learner. The arrays are written anew by every step.

    Attributes:
        batch: the games.
        layout: of the observations.
        opponents: who plays against the learner, clockwise; or who may be drawn.
        trust: whether opponents may be named whose files run code when they are loaded.
    """

    def __init__(
        self,
        size: int,
        opponents: Opponents,
        num_players: int,
        ruleset: RulesetLike,
        view: View,
        reward: Reward,
        seat: int | None,
        dtype: ObservationType = "float32",
        num_threads: int = 1,
        trust: bool = False,
    ) -> None:
        players = check_players(num_players)
        if reward not in REWARDS:
            raise OptionError(one_of("reward:", reward, REWARDS))
        if seat is not None and not 0 <= as_index(seat) < players:
            raise OptionError(f"seat: {shown(seat)} is neither None nor a seat from 0 to {players - 1}.")
        self.layout = layout(players, view)
        self.reward, self.seat = reward, None if seat is None else as_index(seat)
        self.trust = trust
        self.threads = Threads(num_threads)
        self.batch = Batch(Ruleset.get(ruleset), players, size)
        self._arrays = Arrays(
            rules=self.batch.rules,
            states=self.batch.states,
            masks=self.batch.masks,
            episodes=np.zeros(size, EPISODE),
            seat_streams=np.zeros(size, STREAM),
            streams=np.zeros(size, STREAM),
            drawn=np.zeros(0, DRAWN),
        )
        self._seen = observation_arrays(self.layout, size, dtype)
        self._observations = read_only(self._seen.observations)
        self._seeded = np.zeros(size, np.bool_)
        self._distinct: list[Agent] = []
        self.set_opponents(opponents)

    @property
    def seats(self) -> npt.NDArray[np.int64]:
        """The learner's seat in each game, shape (size,), int64."""
        return self._arrays.episodes["seat"]

    @property
    def observations(self) -> Observations:
        """What the learners see, shape (size, layout size), float32 or uint8, read-only."""
        return self._observations

    @property
    def rewards(self) -> npt.NDArray[np.float64]:
        """Of the last step, shape (size,), float64."""
        return self._arrays.episodes["reward"]

    @property
    def terminated(self) -> npt.NDArray[np.bool_]:
        """Of the last step, shape (size,), bool."""
        return self._arrays.episodes["terminated"]

    @property
    def truncated(self) -> npt.NDArray[np.bool_]:
        """Of the last step, shape (size,), bool."""
        return self._arrays.episodes["truncated"]

    @property
    def illegal(self) -> npt.NDArray[np.bool_]:
        """Whether the last step's action was illegal, shape (size,), bool."""
        return self._arrays.episodes["illegal"]

    def __getstate__(self) -> dict[str, Any]:
        rest = {name: value for name, value in self.__dict__.items() if name != "_observations"}
        return {**rest, "_arrays": own_arrays(self._arrays)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(writable(state))
        self._arrays = Arrays(
            rules=self.batch.rules,
            states=self.batch.states,
            masks=self.batch.masks,
            **writable(state["_arrays"]),
        )
        self._observations = read_only(self._seen.observations)

    def set_opponents(self, opponents: Opponents) -> None:
        """Let others play from now on.

        AgentError, and nothing changes, if they cannot play games of this ruleset and number of players.
        """
        agents = _agents(opponents, self.batch.num_players - 1, self.trust)
        for agent in agents:
            agent.check(self.batch.ruleset, self.batch.num_players)
        self.opponents = agents
        self._distinct = _different(agents)
        self._arrays = self._arrays._replace(drawn=np.zeros(0, DRAWN))
        episodes, seats = self._arrays.episodes, len(agents)
        episodes["who"][:, :seats] = [_place(self._distinct, agent) for agent in agents]
        episodes["opponents"][:, :seats] = [compiled_code(agent) for agent in agents]
        self._note_compiled()

    def draw_opponents(self, agents: Sequence[Agent | str], weights: Sequence[float]) -> None:
        """Draw an opponent for each of the others' seats at the start of every episode from now on.

        Args:
            agents: who may be drawn, names or Agent objects.
            weights: how often each of them is, beside the others; not all 0, none below 0.

        Each seat's is drawn for itself, by the game's own generator, the one that draws the learner's
        seat. Episodes that have begun keep their opponents. AgentError or OptionError, and nothing
        changes, if they cannot play these games or the weights are none.
        """
        given = [make_agent(agent, self.trust) if isinstance(agent, str) else agent for agent in agents]
        for agent in given:
            agent.check(self.batch.ruleset, self.batch.num_players)
        drawn = _lots(weights, len(given))
        episodes, seats = self._arrays.episodes, self.batch.num_players - 1
        before, who = self._distinct, episodes["who"][:, :seats]
        playing = [before[k] for k in np.unique(who).tolist()]
        self._distinct = _different([*given, *playing])
        drawn["who"] = [_place(self._distinct, agent) for agent in given]
        drawn["code"] = [compiled_code(agent) for agent in given]
        moved = [
            _place(self._distinct, agent) if any(agent is other for other in playing) else 0
            for agent in before
        ]
        who[:] = np.array(moved)[who]
        self.opponents = given
        self._arrays = self._arrays._replace(drawn=drawn)
        self._note_compiled()

    def _note_compiled(self) -> None:
        """Whether no opponent has to be asked from Python."""
        self._all_compiled = NOT_COMPILED not in [compiled_code(agent) for agent in self._distinct]

    # -- episodes ----------------------------------------------------------------------------------

    def seed(self, i: int, seed: int | None) -> None:
        """Start the generators of game i from a seed (None: from the operating system)."""
        a = self._arrays
        a.states["rng"][i], a.seat_streams["rng"][i], a.streams["rng"][i] = seed_streams(seed, 3)
        self._seeded[i] = True

    def reset(
        self,
        games: npt.NDArray[np.int64],
        deals: Sequence[Mapping[str, Any] | None] | None = None,
        seeds: Sequence[int | None] | None = None,
    ) -> None:
        """Begin the next game at each of these places, up to the learner's first decision.

        Args:
            games: which places, shape (k,), int64.
            deals: the deals to play, one for each; None: drawn by the generators.
            seeds: as for `seed`, one for each; None: the generators go on.

        A game that is over before the learner decides (a ruleset may be so short) is dealt again.
        DealError if that does not help, or a deal cannot be. After any error these games are as before.
        """
        given = _read_deals(self.batch, games, deals)
        a = self._arrays
        before = [array[games] for array in self._rows()]
        try:
            for i, seed in zip(games.tolist(), seeds or [None] * games.size, strict=True):
                if seed is not None or not self._seeded[i]:
                    self.seed(i, seed)
            self._deal(games, given)
        except BaseException:
            for array, rows in zip(self._rows(), before, strict=True):
                array[games] = rows
            raise
        a.episodes["reward"][games] = 0
        a.episodes["score"][games] = 0

    def _rows(self) -> list[npt.NDArray[Any]]:
        """The arrays that have a row for each game."""
        a = self._arrays
        rows = [a.states, a.masks, a.episodes, a.seat_streams, a.streams, self._seeded]
        return [*rows, self._seen.observations, self._seen.shown]

    def _deal(self, games: npt.NDArray[np.int64], given: Mapping[int, np.void]) -> None:
        """Deal games, but for those with given states, until the learner decides in all of them."""
        a, over = self._arrays, games
        for i, state in given.items():
            state["rng"] = a.states["rng"][i]
        for attempt in range(DEALS_TRIED):
            deal_all(a.rules, a.states, over, self.batch.num_players)
            begin(a, over, -1 if self.seat is None else self.seat, self.batch.num_players)
            self._seen.shown["standing"][over] = -1
            if attempt == 0:
                for i, state in given.items():
                    a.states[i] = state
            self._advance(NO_ACTIONS)
            over = games[a.states["player"][games] < 0]
            if not over.size or any(i in given for i in over.tolist()):
                break
        if over.size:
            raise DealError(
                f"The game is over before seat {int(self.seats[over[0]])} decides; use another deal, "
                "ruleset or seat."
            )

    # -- steps -------------------------------------------------------------------------------------

    def step(self, actions: npt.NDArray[np.int64]) -> None:
        """Do the learners' actions, shape (size,), in all games that are on, and what follows.

        An illegal action changes nothing in its game, pays -1 and terminates the episode. Call it within
        `all_or_nothing`.
        """
        self._advance(actions)

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """If an opponent fails in what is done within, everything is as it was before."""
        before = [] if self._all_compiled else [array.copy() for array in self._rows()]
        try:
            yield
        except BaseException:
            for array, rows in zip(self._rows(), before, strict=False):
                array[:] = rows
            raise

    def _advance(self, actions: npt.NDArray[np.int64]) -> None:
        """Let the games given actions, and busy ones, go on until the learner decides or the end."""
        a, reward = self._arrays, REWARDS.index(self.reward)
        while True:
            self.threads.run(advance, a, a.states.size, actions, reward)
            waiting = NO_GAMES if self._all_compiled else np.flatnonzero(a.episodes["busy"])
            if not waiting.size:
                break
            which = a.episodes["who"][waiting, a.episodes["asked"][waiting]]
            for k, agent in enumerate(self._distinct):
                games = waiting[which == k]
                if games.size:
                    a.episodes["action"][games] = agent.decide(self.batch, games, a.streams)
            actions = NO_ACTIONS
        self.threads.run(show, a, a.states.size, self._seen)

    def infos(self, games: npt.NDArray[np.int64]) -> list[dict[str, Any]]:
        """What is told of finished games: `final_info`, the learner's seat, `illegal_action`.

        And where opponents are drawn, `opponents`: their names, clockwise from the learner.
        """
        illegal, seats = self.illegal[games], self.seats[games]
        told: list[dict[str, Any]] = [
            {"seat": seat, "illegal_action": wrong}
            for seat, wrong in zip(seats.tolist(), illegal.tolist(), strict=True)
        ]
        if self._arrays.drawn.size:
            who = self._arrays.episodes["who"][games, : self.batch.num_players - 1]
            for k, places in enumerate(who.tolist()):
                told[k]["opponents"] = tuple(self._distinct[place].name for place in places)
        legal = np.flatnonzero(~illegal)
        if legal.size:
            finals = one_by_one(final_infos(self.batch, games[legal], seats[legal]))
            for k, final in zip(legal.tolist(), finals, strict=True):
                told[k].update(final)
        return told


def _agents(opponents: Opponents, seats: int, trust: bool) -> list[Agent]:
    """The agents of the seats after the learner's; AgentError if that is not what they are."""
    if isinstance(opponents, str):
        return make_agents(opponents, seats, trust, role="opponent")
    given = [opponents] if isinstance(opponents, Agent) else opponents
    if not isinstance(given, Sequence) or not all(isinstance(agent, (Agent, str)) for agent in given):
        raise AgentError(
            f"opponents: {shown(opponents)} is neither a text of names with commas, nor an Agent "
            "object, nor a list of names and Agent objects; a function is written python:MODULE:NAME."
        )
    made = [make_agent(agent, trust) if isinstance(agent, str) else agent for agent in given]
    agents = made * (seats if len(made) == 1 else 1)
    if len(agents) != seats:
        raise AgentError(
            f"opponents: {count_words(len(agents), 'agent')} for {count_words(seats, 'opponent')}: "
            f"{shown(opponents)}; give one for each, or one for all."
        )
    return agents


def _different(agents: Sequence[Agent]) -> list[Agent]:
    """The agents, each object once."""
    return list({id(agent): agent for agent in agents}.values())


def _place(agents: Sequence[Agent], agent: Agent) -> int:
    """Where that very object is among the agents."""
    return next(k for k, other in enumerate(agents) if other is agent)


def _lots(weights: Sequence[float], number: int) -> npt.NDArray[np.void]:
    """The bounds by which so many opponents are drawn: shape (number,), dtype `DRAWN`."""
    shares = np.asarray(weights, np.float64)
    if (
        shares.shape != (number,)
        or not np.isfinite(shares).all()
        or (shares < 0).any()
        or not shares.any()
    ):
        raise OptionError(
            f"weights: {shown(list(weights))} for {count_words(number, 'agent')}; give a number from 0 "
            "up for each, not all 0."
        )
    lots = np.zeros(number, DRAWN)
    lots["bound"] = np.rint(shares.cumsum() / shares.sum() * BELOW)
    return lots


def _read_deals(
    batch: Batch, games: npt.NDArray[np.int64], deals: Sequence[Mapping[str, Any] | None] | None
) -> dict[int, np.void]:
    """The states that begin the deals given, by game, without generators."""
    given = (
        []
        if deals is None
        else [pair for pair in zip(games.tolist(), deals, strict=True) if pair[1] is not None]
    )
    dealt = Batch(batch.ruleset, batch.num_players, len(given))
    for k, (_, deal) in enumerate(given):
        assert deal is not None
        read_deal(dealt, k, deal)
    return {i: dealt.states[k] for k, (i, _) in enumerate(given)}


# -- compiled loops over games ---------------------------------------------------------------------


@compiled
def begin(a: Arrays, games: npt.NDArray[np.int64], seat: int, players: int) -> None:
    """In games just dealt, draw the learner's seat, unless given, and opponents if they are drawn."""
    for k in range(games.size):
        i = games[k]
        e = a.episodes[i]
        drawn = draw_below(a.seat_streams[i], players)
        e["seat"] = drawn if seat < 0 else seat
        if a.drawn.size > 0:
            draw_line_up(a, i, players)
        e["action"] = -1
        e["terminated"] = e["truncated"] = e["illegal"] = False
        e["busy"] = True


@inlined
def draw_line_up(a: Arrays, i: int, players: int) -> None:
    """Draw the opponents of game i."""
    e = a.episodes[i]
    for place in range(players - 1):
        number = draw_below(a.seat_streams[i], BELOW)
        k = 0
        while number >= a.drawn[k]["bound"]:
            k += 1
        e["opponents"][place] = a.drawn[k]["code"]
        e["who"][place] = a.drawn[k]["who"]


@compiled_loop
def advance(a: Arrays, first: int, last: int, actions: npt.NDArray[np.int64], reward: int) -> None:
    """Give the games from `first` to `last - 1` their actions, if there are any, and let them go on.

    A game stops at an opponent that must be asked; it is busy then.
    """
    for game in range(first, last):
        i = index(game)
        e = a.episodes[i]
        if actions.size > 0:
            take_action(a.states, i, e, actions[i])
        if not e["busy"]:
            continue
        play_on(a, i)
        engine.write_mask(a.states, a.masks, i)
        if e["asked"] == NOBODY:
            e["busy"] = False
            e["stale"] = True
            if reward == POINTS or a.states[i]["player"] < 0:
                pay(a.rules, a.states, i, e, reward)


@compiled_loop
def show(a: Arrays, first: int, last: int, seen: ObservationArrays) -> None:
    """Show the games from `first` to `last - 1` to their learners, where they have gone on."""
    for game in range(first, last):
        i = index(game)
        e = a.episodes[i]
        if e["stale"]:
            e["stale"] = False
            observe(a.rules, a.states, i, i, e["seat"], seen)


@inlined
def take_action(states: States, i: int, e: np.void, action: int) -> None:
    """Give a game that is on its action; an illegal one ends the episode."""
    e["reward"] = 0
    if e["terminated"] or e["truncated"]:
        return
    if engine.is_legal(states, i, action):
        e["action"] = action
        e["busy"] = True
    else:
        e["illegal"] = e["terminated"] = True
        e["reward"] = ILLEGAL_REWARD


@compiled_loop
def play_on(a: Arrays, i: int) -> None:
    """Do the action that is known, then let opponents play; `asked` tells who must be asked, if any."""
    s, e = a.states[i], a.episodes[i]
    action = e["action"]
    e["action"] = -1
    e["asked"] = NOBODY
    while True:
        if action >= 0:
            engine.apply(a.rules, a.states, i, action)
        player = s["player"]
        if player < 0 or player == e["seat"]:
            return
        place = player - e["seat"] - 1
        if place < 0:
            place += s["num_players"]
        code = e["opponents"][place]
        if code == NOT_COMPILED:
            e["asked"] = place
            return
        action = compiled_action(code, a.rules, a.states, a.masks, i, a.streams)


@compiled
def pay(rules: npt.NDArray[np.void], states: States, i: int, e: np.void, reward: int) -> None:
    """Pay the learner of game i for what has happened, and say whether the game is over."""
    if reward == POINTS:
        score = scoring.scores(rules, states, i)[e["seat"]]
        e["reward"] = score - e["score"]
        e["score"] = score
    if states[i]["player"] < 0:
        e["truncated"] = states[i]["end"] == END_TURN_LIMIT
        e["terminated"] = not e["truncated"]
        e["reward"] += rewards_at_end(rules, states, i, reward)[e["seat"]]
