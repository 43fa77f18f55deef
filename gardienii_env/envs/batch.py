"""Thousands of games in arrays, stepped by one compiled call; the caller decides for every seat.

    batch = GardieniiBatch(1024, num_players=2, seed=0)
    batch.reset()
    while training:
        actions = policy(batch.observations, batch.masks)  # for whoever decides in each game
        batch.step(actions)
        learn(batch.players, batch.rewards, batch.terminated)

It is the base of self-play and search. For one learner's seat a game, opponents playing inside the step,
see `envs.vector` and `envs.sb3`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gardienii_env.agents.base import STREAM
from gardienii_env.agents.random import random_action
from gardienii_env.envs.outcome import POINTS, REWARDS, Reward, rewards_at_end
from gardienii_env.errors import IllegalActionError, OptionError, as_index, one_of, shown
from gardienii_env.game import Game, RulesetLike
from gardienii_env.observation import (
    ObservationArrays,
    Observations,
    ObservationType,
    View,
    check_players,
    layout,
    no_observations,
    observation_arrays,
    observe,
    read_only,
)
from gardienii_env.rules import engine, scoring
from gardienii_env.rules.batch import Batch, deal_all, own_arrays, writable
from gardienii_env.rules.engine import Masks
from gardienii_env.rules.jit import compiled, compiled_loop, index, inlined, wide
from gardienii_env.rules.random import check_seed, seed_streams
from gardienii_env.rules.ruleset import SHIPPED, Ruleset
from gardienii_env.rules.state import END_TURN_LIMIT, States
from gardienii_env.rules.threads import Threads

__all__ = [
    "GardieniiBatch",
    "Seeds",
    "as_array",
    "check_actions",
    "check_bool",
    "check_game",
    "check_legal",
    "check_num_envs",
    "each_seed",
]

DECISIONS_AT_ONCE = 2_000_000
"""A compiled loop cannot be interrupted: after about so many decisions, Ctrl-C is heard."""

Seeds = int | Sequence[int | None] | None
"""One seed for all games (game i has `seed + i`), or one for each; None: from the operating system."""


class Arrays(NamedTuple):
    """What the compiled loops work on besides observations; see `GardieniiBatch`."""

    rules: npt.NDArray[np.void]
    states: States
    masks: Masks
    players: npt.NDArray[np.int64]
    actions: npt.NDArray[np.int64]
    rewards: npt.NDArray[np.float32]
    terminated: npt.NDArray[np.bool_]
    truncated: npt.NDArray[np.bool_]
    scores: npt.NDArray[np.int64]
    streams: npt.NDArray[np.void]


class GardieniiBatch:
    """Games side by side in arrays that every step writes in place: copy what you keep.

    Args:
        num_envs: how many games.
        num_players: 2 to 4.
        ruleset: a shipped name, a file, a dict or a Ruleset.
        view: `table` or `recall`; None: no observations, which is the fastest.
        reward: `payoff` or `margin` at the end, or `points` as they are earned; see `envs.outcome`.
        dtype: of the observations: `float32`, in [0, 1], or `uint8`, the counts before scaling:
            `uint8 * layout(num_players, view).factors` is the float32, to the last bit.
        autoreset: deal a game anew in the step in which it ends. Its rewards and flags are those of the
            end; mask, player and observation belong to the next game. Without it, a game that is over
            rests until `reset(games=...)`: what is done in it is ignored.
        num_threads: how many threads share the games; it does not change a result.
        seed: see `reset`.

    The arrays are properties: `states`, `players`, `masks`, `observations`, `rewards`, `terminated`,
    `truncated`; all but the states are for reading: what is written into them plays no part. With
    autoreset the flags are those of the last step; without it they stay until the game
    is reset. `layout` is that of the observations, None without a view. A pickle or a deep copy goes on
    with the same games.

    Raises OptionError or RulesetError, with the value at fault.
    """

    def __init__(
        self,
        num_envs: int,
        num_players: int = 2,
        ruleset: RulesetLike = SHIPPED[0],
        view: View | None = "table",
        reward: Reward = "payoff",
        dtype: ObservationType = "float32",
        autoreset: bool = True,
        num_threads: int = 1,
        seed: Seeds = None,
    ) -> None:
        self.num_envs = check_num_envs(num_envs)
        self.num_players = check_players(num_players)
        self._threads = Threads(num_threads)
        if reward not in REWARDS:
            raise OptionError(one_of("reward:", reward, REWARDS))
        self.batch = Batch(Ruleset.get(ruleset), self.num_players, self.num_envs)
        self.layout = None if view is None else layout(self.num_players, view)
        self.autoreset = check_bool("autoreset", autoreset)
        self._reward = REWARDS.index(reward)
        self._seen = (
            no_observations(self.num_players, self.num_envs)
            if self.layout is None
            else observation_arrays(self.layout, self.num_envs, dtype)
        )
        self._arrays = Arrays(
            rules=self.batch.rules,
            states=self.batch.states,
            masks=self.batch.masks,
            players=np.full(self.num_envs, -1, np.int64),
            actions=np.zeros(self.num_envs, np.int64),
            rewards=np.zeros((self.num_envs, self.num_players), np.float32),
            terminated=np.zeros(self.num_envs, np.bool_),
            truncated=np.zeros(self.num_envs, np.bool_),
            scores=np.zeros((self.num_envs, self.num_players), np.int64),
            streams=np.zeros(self.num_envs, STREAM),
        )
        self._observations = read_only(self._seen.observations)
        self._all = np.arange(self.num_envs)
        self._begun = False
        self._set_seeds(self._all, seed)

    def __repr__(self) -> str:
        view = None if self.layout is None else self.layout.view
        return (
            f"GardieniiBatch({self.num_envs}, num_players={self.num_players}, "
            f"ruleset={self.ruleset.name!r}, view={view!r})"
        )

    @property
    def ruleset(self) -> Ruleset:
        """The ruleset of all games."""
        return self.batch.ruleset

    @property
    def states(self) -> States:
        """The games, shape (num_envs,), dtype `STATE`: the whole truth. After a change: `refresh`."""
        return self._arrays.states

    @property
    def players(self) -> npt.NDArray[np.int64]:
        """The seat that decides, shape (num_envs,), int64; -1 when the game is over."""
        return self._arrays.players

    @property
    def masks(self) -> Masks:
        """What it may do, shape (num_envs, 73), int8, 1 where legal; all 0 when the game is over."""
        return self._arrays.masks

    @property
    def observations(self) -> Observations:
        """What it sees, shape (num_envs, size); of a game that is over, what the last to decide sees.

        Read-only, as a step rewrites only what has changed. For PyTorch: `torch.tensor(...)`, a copy;
        never change in place a tensor that shares this memory.
        """
        return self._observations

    @property
    def rewards(self) -> npt.NDArray[np.float32]:
        """Of the last step, by seat, shape (num_envs, num_players), float32."""
        return self._arrays.rewards

    @property
    def terminated(self) -> npt.NDArray[np.bool_]:
        """Whether the game ended by its rules, shape (num_envs,), bool."""
        return self._arrays.terminated

    @property
    def truncated(self) -> npt.NDArray[np.bool_]:
        """Whether the game was stopped by the turn limit, shape (num_envs,), bool."""
        return self._arrays.truncated

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

    # -- episodes ----------------------------------------------------------------------------------

    def reset(self, seed: Seeds = None, games: npt.ArrayLike | None = None) -> None:
        """Deal all games, or some, anew.

        Args:
            seed: game i is dealt from the seed `seed + i`, or from `seed[i]`, as in `Game.new`; None
                (also in the list) deals the next game of the sequence that the last seed began.
            games: which games, as whole numbers or as a bool for each; None: all.

        Raises OptionError for what cannot be; then no game has changed.
        """
        which = self._which(games)
        if seed is not None:
            self._set_seeds(which, seed)
        deal_all(self.batch.rules, self.states, which, self.num_players)
        self.refresh(which)

    def refresh(self, games: npt.ArrayLike | None = None) -> None:
        """Write players, masks and observations anew after `states` was changed; rewards are 0.

        What is legal is found out anew, and decisions that leave no choice are made. Of a game that is
        over the observation is that of seat 0; it rests until it is reset, with autoreset too.
        OptionError for games of another number of players. The games must be of this batch's ruleset:
        a state does not say which it is.
        """
        which = self._which(games)
        wrong = np.flatnonzero(self.states["num_players"][which] != self.num_players)
        if wrong.size:
            i = int(which[wrong[0]])
            raise OptionError(
                f"states: game {i} has {self.states['num_players'][i]} players, not {self.num_players}; "
                "reset it, or copy one of that number."
            )
        refresh_all(self._arrays, which)
        show_all(self._arrays, self._seen, which)

    def game(self, i: int) -> Game:
        """Game i as it stands, as an independent `Game` (the whole truth; it has no record)."""
        return Game.of(self.batch, check_game(i, self.num_envs))

    def _set_seeds(self, games: npt.NDArray[np.int64], seed: Seeds) -> None:
        seeds = each_seed(seed, self.num_envs)
        for i in games.tolist():
            if seeds[i] is None and self.states["rng"][i]:
                continue
            streams = seed_streams(seeds[i], 2)
            self.states["rng"][i], self._arrays.streams["rng"][i] = streams[0], streams[1]

    def _which(self, games: npt.ArrayLike | None) -> npt.NDArray[np.int64]:
        if games is None:
            return self._all
        given = as_array("games", games)
        if given.dtype == np.bool_ and given.shape == (self.num_envs,):
            return np.flatnonzero(given)
        if given.shape == (0,):
            return self._all[:0]
        if given.dtype.kind not in "iu" or given.ndim != 1:
            raise OptionError(
                f"games: {shown(games)} has shape {given.shape} and type {given.dtype}; expected a list "
                f"of whole numbers, or {self.num_envs} bools."
            )
        if not (given.min() >= 0 and given.max() < self.num_envs):
            raise OptionError(f"games: {shown(games)} are not all from 0 to {self.num_envs - 1}.")
        return np.unique(given.astype(np.int64))

    # -- steps -------------------------------------------------------------------------------------

    def step(self, actions: npt.ArrayLike) -> None:
        """Do `actions[i]` for the seat that decides in game i, for all games.

        Args:
            actions: ids, shape (num_envs,), whole numbers. Those of games that are over are ignored.

        Raises OptionError for a wrong shape or type, or before `reset`, and IllegalActionError if an
        action is not legal; then no game has changed.
        """
        self._check_begun()
        arrays = self._arrays
        arrays.actions[:] = check_actions(actions, self.num_envs)
        check_legal(self.batch, arrays.actions, self.states["player"] >= 0)
        self._run(1, False)

    def random_actions(self) -> npt.NDArray[np.int64]:
        """A random legal action for each game that is on, shape (num_envs,), int64; -1 for the others.

        Each game has its own generator, which started from its seed.
        """
        self._check_begun()
        actions = np.empty(self.num_envs, np.int64)
        random_actions(self._arrays, actions)
        return actions

    def play_random(self, steps: int) -> None:
        """The same as `step(random_actions())` so many times, without coming back to Python between."""
        if isinstance(steps, bool) or as_index(steps) < 1:
            raise OptionError(f"steps: {shown(steps)} is not a whole number from 1 up.")
        self._check_begun()
        at_once = max(1, DECISIONS_AT_ONCE // self.num_envs)
        for first in range(0, as_index(steps), at_once):
            self._run(min(at_once, as_index(steps) - first), True)

    def _run(self, steps: int, at_random: bool) -> None:
        options = (self._seen, steps, at_random, self._reward, self.autoreset)
        self._threads.run(step_games, self._arrays, self.num_envs, *options)

    def _check_begun(self) -> None:
        a = self._arrays
        self._begun = self._begun or bool(((a.players >= 0) | a.terminated | a.truncated).all())
        if not self._begun:
            raise OptionError("The games were not begun; call reset().")


def check_num_envs(num_envs: object) -> int:
    """The number of games as int; OptionError if it is not 1 or more."""
    if isinstance(num_envs, bool) or as_index(num_envs) < 1:
        raise OptionError(f"num_envs: {shown(num_envs)} is not a whole number from 1 up.")
    return as_index(num_envs)


def check_game(i: object, num_envs: int) -> int:
    """The number of a game as int; OptionError if there is none such."""
    if isinstance(i, bool) or not 0 <= as_index(i) < num_envs:
        raise OptionError(f"game: {shown(i)} is not the number of a game, 0 to {num_envs - 1}.")
    return as_index(i)


def check_bool(name: str, value: object) -> bool:
    """The value of a switch as bool; OptionError if it is neither true nor false."""
    if not isinstance(value, bool | np.bool_):
        raise OptionError(f"{name}: {shown(value)} is neither True nor False.")
    return bool(value)


def each_seed(seed: Seeds, num_envs: int) -> list[int | None]:
    """The seed of each game; OptionError if there is not one for each, or one cannot be."""
    several = isinstance(seed, Sequence) and not isinstance(seed, str | bytes)
    if several or (isinstance(seed, np.ndarray) and seed.ndim == 1):
        seeds: Sequence[int | None] = seed  # type: ignore[assignment]
        if len(seeds) != num_envs:
            raise OptionError(f"seed: {len(seeds)} seeds for {num_envs} games; give one for each.")
        return [check_seed(one) for one in seeds]
    first = check_seed(seed)
    return [None if first is None else first + i for i in range(num_envs)]


def as_array(name: str, values: object) -> npt.NDArray[Any]:
    """Values as an array; OptionError if numpy makes none of them."""
    try:
        return np.asarray(values)
    except ValueError:
        raise OptionError(f"{name}: {shown(values)} has rows of different lengths.") from None


def check_actions(actions: npt.ArrayLike, num_envs: int) -> npt.NDArray[np.int64]:
    """The actions as a new array; OptionError unless they are a whole number for each game.

    It lies in memory as compiled functions have it: for another kind of array they are compiled anew.
    """
    given = as_array("actions", actions)
    if given.shape != (num_envs,) or given.dtype.kind not in "iu":
        raise OptionError(
            f"actions: {shown(actions)} has shape {given.shape} and type {given.dtype}; expected whole "
            f"numbers, shape ({num_envs},)."
        )
    return np.array(given, np.int64)


def check_legal(batch: Batch, actions: npt.NDArray[np.int64], on: npt.NDArray[np.bool_]) -> None:
    """IllegalActionError for the first game with an illegal action; `on` tells which are looked at."""
    wrong = first_illegal(batch.states, on, actions)
    if wrong >= 0:
        try:
            Game.of(batch, wrong).apply(int(actions[wrong]))
        except IllegalActionError as error:
            raise IllegalActionError(f"Game {wrong}: {error}") from None


# -- compiled loops over games ---------------------------------------------------------------------


@compiled
def first_illegal(states: States, on: npt.NDArray[np.bool_], actions: npt.NDArray[np.int64]) -> int:
    """The first game that is on and in which its action is not legal; -1 if there is none."""
    for i in range(on.size):
        if on[i] and not engine.is_legal(states, i, actions[i]):
            return i
    return -1


@compiled
def random_actions(a: Arrays, actions: npt.NDArray[np.int64]) -> None:
    """See the method."""
    for i in range(actions.size):
        actions[i] = random_action(a.states, i, a.streams) if a.states[i]["player"] >= 0 else -1


@compiled
def refresh_all(a: Arrays, games: npt.NDArray[np.int64]) -> None:
    """Write all that follows from the states of these games but what is shown of them."""
    for k in range(games.size):
        i = games[k]
        engine.settle(a.rules[0], a.states[i])
        a.players[i] = a.states[i]["player"]
        a.rewards[i] = 0
        set_flags(a, i)
        a.scores[i] = scoring.scores(a.rules, a.states, i)


@compiled
def show_all(a: Arrays, seen: ObservationArrays, games: npt.NDArray[np.int64]) -> None:
    """Show these games to whoever decides, whatever was shown before."""
    for k in range(games.size):
        i = index(games[k])
        seen.shown[i]["standing"] = -1
        engine.write_mask(a.states, a.masks, i)
        observe(a.rules, a.states, i, i, max(a.players[i], 0), seen)


@compiled_loop
def step_games(
    a: Arrays,
    first: int,
    last: int,
    seen: ObservationArrays,
    steps: int,
    at_random: bool,
    reward: int,
    autoreset: bool,
) -> None:
    """Step the games from `first` to `last - 1`, by their actions or at random.

    A step does an action, pays for it, and shows the game to whoever decides next.
    """
    for _ in range(steps):
        for game in range(first, last):
            i = index(game)
            seat = wide(a.states[i]["player"])
            for k in range(a.rewards.shape[1]):
                a.rewards[i, k] = 0
            if seat < 0:
                continue
            action = random_action(a.states, i, a.streams) if at_random else a.actions[i]
            engine.apply(a.rules, a.states, i, action)
            player = wide(a.states[i]["player"])
            set_flags(a, i)
            if reward == POINTS:
                pay_points(a.rules, a.states, i, a.scores, a.rewards)
            if player < 0:
                pay_at_end(a.rules, a.states, i, reward, a.rewards)
                if autoreset:
                    engine.deal(a.rules, a.states, game, a.rewards.shape[1])
                    player = wide(a.states[i]["player"])
                    a.scores[i] = 0
                    seen.shown[i]["standing"] = -1
            a.players[i] = player
            engine.write_mask(a.states, a.masks, i)
            observe(a.rules, a.states, i, i, player if player >= 0 else seat, seen)


@inlined
def set_flags(a: Arrays, i: int) -> None:
    """Say whether game i is over, and by what."""
    a.truncated[i] = a.states[i]["end"] == END_TURN_LIMIT
    a.terminated[i] = a.states[i]["player"] < 0 and not a.truncated[i]


@compiled
def pay_points(
    rules: npt.NDArray[np.void],
    states: States,
    i: int,
    scores: npt.NDArray[np.int64],
    rewards: npt.NDArray[np.float32],
) -> None:
    """Pay each seat of game i what its points have changed by."""
    now = scoring.scores(rules, states, i)
    for seat in range(now.size):
        rewards[i, seat] = now[seat] - scores[i, seat]
        scores[i, seat] = now[seat]


@compiled
def pay_at_end(
    rules: npt.NDArray[np.void],
    states: States,
    i: int,
    reward: int,
    rewards: npt.NDArray[np.float32],
) -> None:
    """Pay each seat of game i for how it ended."""
    paid = rewards_at_end(rules, states, i, reward)
    for seat in range(paid.size):
        rewards[i, seat] += paid[seat]
