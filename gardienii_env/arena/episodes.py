"""Games as episodes: what each seat saw, might do, did and was paid, game by game.

An episode is one seat's way through one game, from its first decision to the end: what a learner in that
seat lives through in the environment `Gardienii-v0`, where the other seats play inside a step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gardienii_env.agents import Agent
from gardienii_env.agents.base import STREAM
from gardienii_env.arena.match import BATCH_SIZE, Progress, untold
from gardienii_env.envs.outcome import Reward, final_infos, final_rewards
from gardienii_env.errors import AgentError
from gardienii_env.observation import (
    Observations,
    ObservationType,
    View,
    layout,
    observation_arrays,
    observe_all,
)
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.random import seed_streams
from gardienii_env.rules.ruleset import Ruleset
from gardienii_env.rules.state import END_TURN_LIMIT

__all__ = ["Episode", "play_episodes"]


@dataclass(frozen=True)
class Episode:
    """One seat's way through one game, of T decisions.

    Attributes:
        seed: of the game.
        seat: whose episode it is.
        observations: what the seat saw, shape (T + 1, layout size), float32 or uint8: at each of its
            decisions, and at the end of the game.
        masks: what was legal, shape (T + 1, 73), int8; all ones at the end.
        actions: ids, shape (T,), int64.
        rewards: what each decision and what followed it until the next one paid, shape (T,), float64.
        truncated: whether the turn limit stopped the game; else it ended by its rules.
        score: the seat's points at the end.
        won: whether it won, alone or with others.
    """

    seed: int
    seat: int
    observations: Observations
    masks: npt.NDArray[np.int8]
    actions: npt.NDArray[np.int64]
    rewards: npt.NDArray[np.float64]
    truncated: bool
    score: int
    won: bool

    def __len__(self) -> int:
        return len(self.actions)


def play_episodes(
    agents: Sequence[Agent],
    ruleset: Ruleset,
    seeds: range,
    view: View = "table",
    reward: Reward = "payoff",
    dtype: ObservationType = "float32",
    batch_size: int = BATCH_SIZE,
    progress: Progress = untold,
) -> Iterator[list[Episode]]:
    """Play the games of some seeds; agent k has seat k.

    They are the games that `gardienii record` plays: what an agent draws follows from the game's seed
    and the seat. The arguments are checked already. `progress` is called with the number of games that
    have just ended.

    Yields the episodes of some games at a time, in the order of games and seats. A seat that never
    decided in a game has no episode. Raises AgentError for an agent that fails.
    """
    for first in range(0, len(seeds), batch_size):
        table = _Table(agents, ruleset, seeds[first : first + batch_size], view, dtype)
        table.play(progress)
        yield table.episodes(reward)


class _Table:
    """Some games, played side by side, and all that is kept of their decisions."""

    def __init__(
        self, agents: Sequence[Agent], ruleset: Ruleset, seeds: range, view: View, dtype: ObservationType
    ) -> None:
        """Deal the games."""
        self.agents, self.seeds, self.dtype = agents, seeds, dtype
        self.batch = Batch(ruleset, len(agents), len(seeds))
        self.layout = layout(len(agents), view)
        self.streams = np.zeros((len(agents), len(seeds)), STREAM)
        for i, seed in enumerate(seeds):
            self.batch.states["rng"][i], *drawn = seed_streams(seed, 1 + len(agents))
            self.streams["rng"][:, i] = drawn
            self.batch.deal(i)
        self.rows: list[dict[str, npt.NDArray[Any]]] = []

    def play(self, progress: Progress) -> None:
        """Play all games to their end; each step decides once in every game that is on."""
        batch = self.batch
        on = np.flatnonzero(batch.states["player"] >= 0)
        progress(len(batch) - on.size)
        while on.size:
            seats = batch.states["player"][on].astype(np.int64)
            self._keep(on, seats, batch.masks[on])
            actions = self.rows[-1]["actions"]
            for seat, agent in enumerate(self.agents):
                waits = seats == seat
                if waits.any():
                    actions[waits] = self._decide(agent, on[waits], self.streams[seat])
            batch.apply_all(on, actions)
            before, on = on.size, on[batch.states["player"][on] >= 0]
            progress(before - on.size)

    def _keep(
        self, games: npt.NDArray[np.int64], seats: npt.NDArray[np.int64], masks: npt.NDArray[np.int8]
    ) -> None:
        """Keep what these seats see of these games, what they may do and what points they have."""
        batch, arrays = self.batch, observation_arrays(self.layout, games.size, self.dtype)
        observe_all(batch.rules, batch.states, games, seats.astype(np.int8), arrays)
        self.rows.append(
            {
                "keys": games * len(self.agents) + seats,
                "observations": arrays.observations,
                "masks": masks,
                "scores": final_infos(batch, games, seats)["score"],
                "actions": np.zeros(games.size, np.int64),
            }
        )

    def _decide(
        self, agent: Agent, games: npt.NDArray[np.int64], streams: npt.NDArray[np.void]
    ) -> npt.NDArray[np.int64]:
        """What the agent does in the games that wait for it; an error says in which it was."""
        try:
            return agent.decide(self.batch, games, streams)
        except AgentError as error:
            if error.game is None:
                raise
            seed = self.seeds[error.game]
            raise AgentError(f"{error} It was in the game with the seed {seed}.", error.game) from error

    def episodes(self, reward: Reward) -> list[Episode]:
        """The episodes of the games, which are over."""
        batch, players = self.batch, len(self.agents)
        keys = np.arange(len(batch) * players)
        games, seats = keys // players, keys % players
        self._keep(games, seats, np.ones((keys.size, batch.masks.shape[1]), np.int8))
        won = final_infos(batch, games, seats)["winner"]
        paid = np.array([final_rewards(batch, i, reward) for i in range(len(batch))]).ravel()
        by_row = np.concatenate([row["keys"] for row in self.rows])
        order = np.argsort(by_row, kind="stable")
        rows = {
            name: self._sorted(name, order) for name in ("observations", "masks", "actions", "scores")
        }
        lengths = np.bincount(by_row, minlength=keys.size)
        ends = lengths.cumsum()
        starts = ends - lengths
        truncated = batch.states["end"][games] == END_TURN_LIMIT
        made = []
        for key in np.flatnonzero(lengths > 1).tolist():
            own = {name: values[starts[key] : ends[key]] for name, values in rows.items()}
            made.append(
                Episode(
                    self.seeds[games[key]],
                    int(seats[key]),
                    own["observations"],
                    own["masks"],
                    own["actions"][:-1],
                    _rewards(own["scores"], reward, paid[key]),
                    bool(truncated[key]),
                    int(own["scores"][-1]),
                    bool(won[key]),
                )
            )
        return made

    def _sorted(self, name: str, order: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """One array of all rows in that order; they are not kept any longer."""
        joined: npt.NDArray[Any] = np.concatenate([row.pop(name) for row in self.rows])
        return joined[order]


def _rewards(scores: npt.NDArray[np.int64], reward: Reward, at_end: float) -> npt.NDArray[np.float64]:
    """The rewards of an episode from the scores at its decisions and at the end, shape (T + 1,)."""
    rewards = np.zeros(scores.size - 1)
    if reward == "points":
        rewards += np.diff(scores)
        rewards[0] += scores[0]  # what was earned before the first decision
    rewards[-1] += at_end
    return rewards
