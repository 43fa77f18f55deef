"""Self-play: who plays against the learner, and how it does against them.

The pool holds snapshots of the policy. A few of them are in play at a time, beside the policy as it was
at the last update (`latest`) and other agents. Which ones is drawn now and then, those that the learner
beats less being likelier: by `(1 - win share) ** power`. A snapshot that is new to the pool has the win
share of equals. When the pool is full, the one that the learner beats most makes room.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from gardienii_env.agents import Agent, make_agent
from gardienii_env.observation import View
from training.config import SelfPlayConfig
from training.network import Layers, Snapshot

__all__ = ["LATEST", "PAST", "Average", "Pool"]

LATEST, PAST = "latest", "past"


class Seating(Protocol):
    """What seats the opponents: games, or what stands for those of other processes."""

    def draw_opponents(self, agents: Sequence[Agent], weights: Sequence[float]) -> None:
        """See `LearnerTable.draw_opponents`."""


@dataclass
class Average:
    """A mean over everything at first, later over the last `memory` values or so."""

    mean: float
    memory: int
    count: int = 0

    def add(self, value: float) -> None:
        """Let a value count."""
        self.count += 1
        self.mean += (value - self.mean) / min(self.count, self.memory)


@dataclass
class Pool:
    """The opponents of a run in self-play. It pickles, generator included.

    Attributes:
        settings: see there.
        shares: the learner's win share in games with each opponent, by its name; all snapshots together
            are also `past`.
    """

    settings: SelfPlayConfig
    num_players: int
    view: View
    seed: int
    snapshots: list[Snapshot] = field(default_factory=list)
    in_play: list[Snapshot] = field(default_factory=list)
    shares: dict[str, Average] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._latest: Snapshot | None = None
        self._others = self._agents()
        self._rng = np.random.default_rng(self.seed)

    def _agents(self) -> dict[str, Agent]:
        """The opponents that are no snapshots."""
        return {name: make_agent(name) for name, weight in self.settings.agents.items() if weight > 0}

    def change(self, settings: SelfPlayConfig) -> None:
        """Have other settings, which count when opponents are drawn from the pool the next time."""
        if settings != self.settings:
            self.settings = settings
            self._others = self._agents()

    def follow(self, update: int, layers: Layers, games: Seating) -> None:
        """Tell what the policy is before rollout number `update`, 0 for the first; seats opponents."""
        s = self.settings
        if self._latest is None:
            self._latest = Snapshot(LATEST, layers, self.view)
        self._latest.layers = layers
        added = s.past > 0 and update % s.snapshot_every == 0
        if added:
            self._add(Snapshot(f"update {update}", layers, self.view))
        if update == 0 or added or update % s.redraw_every == 0:
            self._draw()
            games.draw_opponents(*self._line_up())

    def count(self, opponents: Iterable[str], won: float) -> None:
        """Note a game that is over: the learner's opponents, and its share of the win."""
        kept = {snapshot.name for snapshot in self.snapshots}
        names = {PAST if self._is_snapshot(name) else name for name in opponents}
        for name in names | kept.intersection(opponents):
            self._average(name).add(won)

    def _is_snapshot(self, name: str) -> bool:
        """Whether an opponent is, or was, one of the pool."""
        return name != LATEST and name not in self._others

    def groups(self) -> dict[str, float]:
        """The learner's win share against the latest, past ones together, and the others."""
        names = [LATEST, PAST, *self._others]
        return {name: self.shares[name].mean for name in names if name in self.shares}

    def _average(self, name: str) -> Average:
        fair = Average(1 / self.num_players, self.settings.memory)
        return self.shares.setdefault(name, fair)

    def _add(self, snapshot: Snapshot) -> None:
        """Put a snapshot into the pool; the one that is beaten most leaves if there are too many."""
        if len(self.snapshots) >= self.settings.pool_size:
            beaten = max(self.snapshots, key=lambda old: self._average(old.name).mean)
            self.snapshots.remove(beaten)
            self.shares.pop(beaten.name, None)
        self.snapshots.append(snapshot)

    def _draw(self) -> None:
        """Draw the snapshots that are in play, each once."""
        number = min(self.settings.in_play, len(self.snapshots))
        hardness = np.array([1 - self._average(snapshot.name).mean for snapshot in self.snapshots])
        weights = np.maximum(hardness, 1e-3) ** self.settings.power
        keys = self._rng.exponential(size=len(weights)) / weights  # the smallest ones are such a draw
        self.in_play = [self.snapshots[k] for k in sorted(np.argsort(keys)[:number].tolist())]

    def _line_up(self) -> tuple[Sequence[Agent], list[float]]:
        """Who may be drawn for a seat, with weights."""
        s = self.settings
        latest = s.latest + (0.0 if self.in_play else s.past)
        assert self._latest is not None
        drawn: list[tuple[Agent, float]] = [(self._latest, latest)]
        drawn += [(snapshot, s.past / len(self.in_play)) for snapshot in self.in_play]
        drawn += [(agent, s.agents[name]) for name, agent in self._others.items()]
        wanted = [(agent, weight) for agent, weight in drawn if weight > 0]
        return [agent for agent, _ in wanted], [weight for _, weight in wanted]

    def figures(self) -> dict[str, Any]:
        """What is worth telling of each snapshot: its name and the learner's win share against it."""
        return {snapshot.name: self._average(snapshot.name).mean for snapshot in self.snapshots}
