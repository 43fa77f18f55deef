"""One learner a game, opponents playing inside the step: what the single-agent environments share.

`LearnerTable` holds any number of games. Each has a learner's seat, drawn for every episode unless it
is fixed; after the learner's action the opponents play until the learner decides again or the game is
over. Nothing here resets a game by itself: how episodes follow each other is the environments' affair.

Every game has three generators, made from its seed: the deal's (the same as in `Game.new`), one for
the learner's seat and one for the opponents. So a game's course depends on its own seed only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gardienii_env.agents import STREAM, Agent, make_agents
from gardienii_env.deal import read_deal
from gardienii_env.envs.outcome import REWARDS, Reward, final_info, final_rewards, is_truncated
from gardienii_env.errors import AgentError, DealError, OptionError, as_index, one_of, shown
from gardienii_env.game import RulesetLike
from gardienii_env.observation import View, check_players, encode_all, layout
from gardienii_env.rules import scoring
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.engine import Masks
from gardienii_env.rules.jit import compiled
from gardienii_env.rules.random import draw_below, seed_streams
from gardienii_env.rules.ruleset import Ruleset
from gardienii_env.rules.state import States
from gardienii_env.words import count_words

__all__ = ["ILLEGAL_ACTIONS", "IllegalAction", "LearnerTable", "Opponents"]

IllegalAction = Literal["terminate", "raise"]
ILLEGAL_ACTIONS: tuple[IllegalAction, ...] = ("terminate", "raise")
ILLEGAL_REWARD = -1.0

Opponents = str | Sequence[Agent]
"""Names with commas (one stands for all), or agents; clockwise from the learner."""

DEALS_TRIED = 1000


class LearnerTable:
    """Games in arrays, each waiting for its learner.

    Attributes:
        batch: the games.
        seats: the learner's seat in each, shape (size,), int64.
        observations: what the learners see, shape (size, layout size), float32.
        rewards: of the last step, shape (size,), float64.
        terminated, truncated: of the last step, shape (size,), bool.
        illegal: whether the last step's action was illegal, shape (size,), bool.
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
    ) -> None:
        players = check_players(num_players)
        if reward not in REWARDS:
            raise OptionError(one_of("reward:", reward, REWARDS))
        if seat is not None and not 0 <= as_index(seat) < players:
            raise OptionError(f"seat: {shown(seat)} is neither None nor a seat from 0 to {players - 1}.")
        self.layout = layout(players, view)
        self.reward, self.seat = reward, None if seat is None else as_index(seat)
        self.batch = Batch(Ruleset.get(ruleset), players, size)
        self.seats = np.zeros(size, np.int64)
        self.observations = np.zeros((size, self.layout.size), np.float32)
        self.rewards = np.zeros(size)
        self.terminated = np.zeros(size, np.bool_)
        self.truncated = np.zeros(size, np.bool_)
        self.illegal = np.zeros(size, np.bool_)
        self._all = np.arange(size)
        self._scores = np.zeros(size, np.int64)
        self._seat_streams = np.zeros(size, STREAM)
        self._streams = np.zeros(size, STREAM)
        self._seeded = np.zeros(size, np.bool_)
        self.set_opponents(opponents)

    def set_opponents(self, opponents: Opponents) -> None:
        """Let others play from now on."""
        self.opponents = _agents(opponents, self.batch.num_players - 1)
        self._distinct = list(dict.fromkeys(self.opponents))
        self._which = np.array([self._distinct.index(agent) for agent in self.opponents])

    # -- episodes ----------------------------------------------------------------------------------

    def seed(self, i: int, seed: int | None) -> None:
        """Start the generators of game i from a seed (None: from the operating system)."""
        streams = seed_streams(seed, 3)
        self.batch.states["rng"][i] = streams[0]
        self._seat_streams["rng"][i] = streams[1]
        self._streams["rng"][i] = streams[2]
        self._seeded[i] = True

    def reset(self, i: int, deal: Mapping[str, Any] | None = None) -> None:
        """Begin the next game at place i, up to the learner's first decision.

        A game that is over before the learner decides (a ruleset may be so short) is dealt again;
        DealError if that does not help.
        """
        if not self._seeded[i]:
            self.seed(i, None)
        for _ in range(1 if deal is not None else DEALS_TRIED):
            if deal is None:
                self.batch.deal(i)
            else:
                read_deal(self.batch, i, deal)
            drawn = draw_below(self._seat_streams[i : i + 1][0], self.batch.num_players)
            self.seats[i] = drawn if self.seat is None else self.seat
            self._play_opponents(self._all[i : i + 1])
            if self.batch.states["player"][i] >= 0:
                break
        else:
            raise DealError(
                f"The game is over before seat {int(self.seats[i])} decides; use another deal, "
                "ruleset or seat."
            )
        self.rewards[i] = self._scores[i] = 0
        self.terminated[i] = self.truncated[i] = self.illegal[i] = False
        self._observe(self._all[i : i + 1])

    # -- steps -------------------------------------------------------------------------------------

    def step(self, actions: npt.NDArray[np.int64]) -> None:
        """Do the learners' actions, shape (size,), in all games that are on, and what follows.

        An illegal action changes nothing in its game, pays -1 and terminates the episode.
        """
        on = self._all[~(self.terminated | self.truncated)]
        self.rewards[:] = 0
        legal = legal_actions(self.batch.masks, on, actions)
        if not legal.all():
            wrong = on[~legal]
            self.illegal[wrong] = self.terminated[wrong] = True
            self.rewards[wrong] = ILLEGAL_REWARD
            on = on[legal]
        self.batch.apply_all(on, actions[on])
        self._play_opponents(on)
        self._observe(on)
        self._pay(on)

    def _play_opponents(self, games: npt.NDArray[np.int64]) -> None:
        batch = self.batch
        waiting, places = opponents_to_play(batch.states, self.seats, games)
        while waiting.size:
            which = self._which[places]
            for k, agent in enumerate(self._distinct):
                asked = waiting if len(self._distinct) == 1 else waiting[which == k]
                if asked.size:
                    actions = agent.decide(batch, asked, self._streams)
                    batch.apply_all(asked, actions)
            waiting, places = opponents_to_play(batch.states, self.seats, waiting)

    def _observe(self, games: npt.NDArray[np.int64]) -> None:
        parts = self.layout
        encode_all(
            self.batch.rules,
            self.batch.states,
            games,
            self.seats,
            parts.places,
            parts.factors,
            self.observations,
        )

    def _pay(self, games: npt.NDArray[np.int64]) -> None:
        if self.reward == "points":
            before = self._scores[games]
            scores_all(self.batch.rules, self.batch.states, games, self.seats, self._scores)
            self.rewards[games] = self._scores[games] - before
        for i in games[self.batch.states["player"][games] < 0]:
            self.truncated[i] = is_truncated(self.batch, i)
            self.terminated[i] = not self.truncated[i]
            self.rewards[i] += final_rewards(self.batch, i, self.reward)[self.seats[i]]

    def info(self, i: int) -> dict[str, Any]:
        """What is known about a finished game i: `final_info`, the learner's seat, `illegal_action`."""
        seat = int(self.seats[i])
        if self.illegal[i]:
            return {"seat": seat, "illegal_action": True}
        return {"seat": seat, "illegal_action": False, **final_info(self.batch, i, seat)}


def _agents(opponents: Opponents, seats: int) -> list[Agent]:
    """The agents of the seats after the learner's; AgentError if that is not what they are."""
    if isinstance(opponents, str):
        return make_agents(opponents, seats)
    if not isinstance(opponents, Sequence) or not all(isinstance(agent, Agent) for agent in opponents):
        raise AgentError(
            f"opponents: {shown(opponents)} is neither a text of names with commas nor a list of Agent "
            "objects."
        )
    agents: list[Agent] = [*opponents] * (seats if len(opponents) == 1 else 1)
    if len(agents) != seats:
        raise AgentError(
            f"opponents: {count_words(len(agents), 'agent')} for {count_words(seats, 'seat')}: "
            f"{shown(opponents)}; give one for each, or one for all."
        )
    return agents


# -- compiled loops over games ---------------------------------------------------------------------


@compiled
def legal_actions(
    masks: Masks, games: npt.NDArray[np.int64], actions: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Whether `actions[i]` is legal in game i, for each of `games`."""
    legal = np.empty(games.size, np.bool_)
    for k in range(games.size):
        action = actions[games[k]]
        legal[k] = 0 <= action < masks.shape[1] and masks[games[k], action] == 1
    return legal


@compiled
def opponents_to_play(
    states: States, seats: npt.NDArray[np.int64], games: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Those of `games` in which an opponent decides, and which: 0 for the first after the learner."""
    waiting = np.empty(games.size, np.int64)
    places = np.empty(games.size, np.int64)
    count = 0
    for k in range(games.size):
        i = games[k]
        player = states[i]["player"]
        if player >= 0 and player != seats[i]:
            waiting[count] = i
            places[count] = (player - seats[i]) % states[i]["num_players"] - 1
            count += 1
    return waiting[:count], places[:count]


@compiled
def scores_all(
    rules: npt.NDArray[np.void],
    states: States,
    games: npt.NDArray[np.int64],
    seats: npt.NDArray[np.int64],
    scores: npt.NDArray[np.int64],
) -> None:
    """Write the points that the learner of each of `games` has into its place of `scores`."""
    for k in range(games.size):
        i = games[k]
        scores[i] = scoring.points(rules, states, i)[seats[i]].sum()
