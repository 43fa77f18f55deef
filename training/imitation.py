"""The warm start: before it learns by itself, a policy learns to do as an agent does.

Games of the agent against itself give decisions (what it saw, what was legal, what it did) and how
the game ended for it. The policy is fitted to the first, the value function to the second. In a share
of the games the policy itself may play, and the agent only says what it would do: so the policy learns
what to do where its own mistakes lead, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, nan
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch.nn.functional import cross_entropy
from tqdm import tqdm

from gardienii_env.agents import Agent, make_agent, new_streams
from gardienii_env.agents.planner import PlannerAgent
from gardienii_env.agents.prior import prior_of
from gardienii_env.envs.features import Standardized
from gardienii_env.envs.outcome import MARGIN_UNIT, Reward, final_rewards
from gardienii_env.envs.sb3 import write_leads
from gardienii_env.observation import layout, observation_arrays, observe_all
from gardienii_env.rules import scoring
from gardienii_env.rules.actions import NUM_ACTIONS
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.random import seed_streams
from gardienii_env.rules.ruleset import Ruleset
from training.config import Config
from training.network import Snapshot, layers_of
from training.progress import progress

__all__ = ["Demonstrations", "Imitation", "Watching", "standardize", "warm_start"]

GAMES_AT_ONCE = 512
STANDARDIZED_BY = 50_000  # decisions
LAST_RATE = 0.02  # of the first learning rate


@dataclass(frozen=True)
class Demonstrations:
    """Decisions of whole games, one a row."""

    observations: npt.NDArray[np.uint8]
    """Counts before scaling; times the layout's `factors` they are the float32 observations."""
    priors: npt.NDArray[np.float32]
    """What comes after the observations: shape (k, 73), or (k, 0) where the network has no prior."""
    masks: npt.NDArray[np.int8]
    actions: npt.NDArray[np.int64]
    targets: npt.NDArray[np.float16]
    """How likely the policy shall do each action, shape (k, 73): see `imitation.temperature`."""
    returns: npt.NDArray[np.float32]
    """What the seat that decided was paid from then on."""

    def __len__(self) -> int:
        return len(self.actions)

    @staticmethod
    def join(parts: Sequence[Demonstrations]) -> Demonstrations:
        """All decisions of some demonstrations."""
        return Demonstrations(
            np.concatenate([part.observations for part in parts]),
            np.concatenate([part.priors for part in parts]),
            np.concatenate([part.masks for part in parts]),
            np.concatenate([part.actions for part in parts]),
            np.concatenate([part.targets for part in parts]),
            np.concatenate([part.returns for part in parts]),
        )


class Watching:
    """Games of `imitation.agent` against itself, as many as are asked for."""

    def __init__(self, config: Config, seed: int) -> None:
        self.config, self.agent = config, make_agent(config.imitation.agent)
        self.batch = Batch(Ruleset.get(config.env.ruleset), config.env.num_players, GAMES_AT_ONCE)
        self.batch.states["rng"] = seed_streams(seed, GAMES_AT_ONCE)
        self.streams = new_streams(seed + 1, GAMES_AT_ONCE)
        self.layout = layout(config.env.num_players, config.env.view)
        self.agent.check(self.batch.ruleset, self.batch.num_players)

    def play(self, wanted: int, bar: tqdm[Any], own: Agent | None = None) -> Demonstrations:
        """At least so many decisions, of whole games; `own` plays in `imitation.own_games` of them."""
        parts: list[Demonstrations] = []
        seen = 0
        while seen < wanted:
            parts.append(self._play_round(own))
            bar.update(min(len(parts[-1]), wanted - seen))
            seen += len(parts[-1])
        return Demonstrations.join(parts)

    def _play_round(self, own: Agent | None) -> Demonstrations:
        """One game at each place of the batch."""
        batch = self.batch
        for i in range(len(batch)):
            batch.deal(i)
        share = 0.0 if own is None else self.config.imitation.own_games
        by_policy = np.arange(len(batch)) < share * len(batch)
        games, seats, observations, masks, scores, priors = [], [], [], [], [], []
        actions, targets = [], []
        on = np.flatnonzero(batch.states["player"] >= 0)
        while on.size:
            games.append(on)
            seats.append(batch.states["player"][on].astype(np.int64))
            observations.append(self._observe(on))
            priors.append(self._prior(on))
            masks.append(batch.masks[on])
            scores.append(self._scores(on, seats[-1]))
            chosen, target = self._choose(on)
            actions.append(chosen)
            targets.append(target)
            done = actions[-1].copy()
            if own is not None and (played := by_policy[on]).any():
                done[played] = own.act(batch, on[played], self.streams)
            batch.apply_all(on, done)
            on = on[batch.states["player"][on] >= 0]
        final = self._final_rewards()[np.concatenate(games), np.concatenate(seats)]
        return Demonstrations(
            np.concatenate(observations),
            np.concatenate(priors),
            np.concatenate(masks),
            np.concatenate(actions),
            np.concatenate(targets),
            (final - np.concatenate(scores)).astype(np.float32),
        )

    def _choose(
        self, games: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float16]]:
        """What the agent does in these games, and how likely the policy shall do each action."""
        targets = np.zeros((games.size, NUM_ACTIONS), np.float16)
        temperature = self.config.imitation.temperature
        if not temperature or not isinstance(self.agent, PlannerAgent):
            actions = self.agent.act(self.batch, games, self.streams)
            targets[np.arange(games.size), actions] = 1
            return actions, targets
        actions, worths = self.agent.worths(self.batch, games)
        most = worths.max(axis=1, keepdims=True)
        known = np.isfinite(most[:, 0])
        weights = np.exp((worths[known] - most[known]) / temperature)
        targets[known] = weights / weights.sum(axis=1, keepdims=True)
        targets[~known, actions[~known]] = 1
        return actions, targets

    def _observe(self, games: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
        batch, arrays = self.batch, observation_arrays(self.layout, len(games), "uint8")
        observe_all(batch.rules, batch.states, games, batch.states["player"][games], arrays)
        observations: npt.NDArray[Any] = arrays.observations
        return observations

    def _prior(self, games: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        if self.config.network.prior is None:
            return np.empty((games.size, 0), np.float32)
        return prior_of(self.batch, games)

    def _scores(
        self, games: npt.NDArray[np.int64], seats: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64]:
        """What the deciding seats have been paid so far."""
        paid, batch = np.zeros(games.size), self.batch
        if self.config.env.reward == "lead":
            write_leads(batch.rules, batch.states, games, seats, paid)
        elif self.config.env.reward == "points":
            pairs = zip(games.tolist(), seats.tolist(), strict=True)
            paid[:] = [scoring.scores(batch.rules, batch.states, i)[s] for i, s in pairs]
        return paid * (1 - self.config.env.payoff.first) / MARGIN_UNIT

    def _final_rewards(self) -> npt.NDArray[np.float64]:
        """What every seat was paid in all, by game: as the training's games pay at its start."""
        batch, env = self.batch, self.config.env
        payoffs = np.array([final_rewards(batch, i, "payoff") for i in range(len(batch))])
        if env.reward == "points":
            rewards = np.array([scoring.scores(batch.rules, batch.states, i) for i in range(len(batch))])
            rewards = rewards / MARGIN_UNIT
        else:
            reward: Reward = "payoff" if env.reward == "payoff" else "margin"
            rewards = np.array([final_rewards(batch, i, reward) for i in range(len(batch))])
        return (1 - env.payoff.first) * rewards + env.payoff.first * payoffs


class Imitation:
    """Fits a policy and its value function to demonstrations, at a learning rate that falls.

    Attributes:
        agreement: over the last epoch, the share of decisions in which the policy found the agent's
            action best.
        explained: the share of the returns' variance that the value function explained; nan if there
            is none.
    """

    def __init__(self, policy: MaskableActorCriticPolicy, config: Config) -> None:
        self.policy, self.settings = policy, config.imitation
        self.agreement, self.explained = 0.0, nan
        self._optimizer = torch.optim.Adam(policy.parameters(), lr=self.settings.learning_rate)
        self._generator = torch.Generator().manual_seed(config.seed)
        self._factors = torch.from_numpy(layout(config.env.num_players, config.env.view).factors.copy())
        self._seen = 0

    def fit(self, demonstrations: Demonstrations, bar: tqdm[Any]) -> None:
        """Learn from demonstrations for `imitation.epochs` epochs."""
        observations = torch.from_numpy(demonstrations.observations)
        priors = torch.from_numpy(demonstrations.priors)
        masks = torch.from_numpy(demonstrations.masks != 0)
        actions = torch.from_numpy(demonstrations.actions)
        targets = torch.from_numpy(demonstrations.targets)
        returns = torch.from_numpy(demonstrations.returns)
        spread = float(((returns - returns.mean()) ** 2).sum())
        self.policy.set_training_mode(True)
        for _ in range(self.settings.epochs):
            agreed = squared_error = 0.0
            order = torch.randperm(len(demonstrations), generator=self._generator)
            for rows in torch.split(order, self.settings.batch_size):
                seen = torch.cat([observations[rows] * self._factors, priors[rows]], dim=1)
                found = self._step(seen, masks[rows], actions[rows], targets[rows], returns[rows])
                agreed += found[0]
                squared_error += found[1]
                bar.update(len(rows))
            self.agreement = agreed / len(demonstrations)
            self.explained = 1 - squared_error / spread if spread else nan
            bar.set_postfix(agreement=f"{self.agreement:.1%}", value_explained=f"{self.explained:.0%}")
        self.policy.set_training_mode(False)

    def _step(
        self,
        observations: torch.Tensor,
        masks: torch.Tensor,
        actions: torch.Tensor,
        targets: torch.Tensor,
        returns: torch.Tensor,
    ) -> tuple[float, float]:
        """Learn from one batch: how many actions were found, and the squared error of the values."""
        self._set_rate(len(actions))
        latent_pi, latent_vf = self.policy.mlp_extractor(self.policy.features_extractor(observations))
        logits = self.policy.action_net(latent_pi).masked_fill(~masks, -1e8)
        errors = self.policy.value_net(latent_vf).flatten() - returns
        loss = cross_entropy(logits, targets.float()) + 0.5 * (errors**2).mean()
        self._optimizer.zero_grad()
        loss.backward()
        self._optimizer.step()
        agreed = (logits.detach().argmax(1) == actions).sum()
        return float(agreed), float((errors.detach() ** 2).sum())

    def _set_rate(self, decisions: int) -> None:
        """The learning rate of the next batch."""
        settings = self.settings
        left = max(1 - self._seen / (settings.decisions * settings.epochs), LAST_RATE)
        self._seen += decisions
        for group in self._optimizer.param_groups:
            group["lr"] = settings.learning_rate * left


def standardize(policy: MaskableActorCriticPolicy, config: Config, seed: int) -> None:
    """Let the policy standardize its observations by those of `imitation.agent`'s games."""
    watching = Watching(config, seed + 2)
    with progress(STANDARDIZED_BY, "sizing observations") as bar:
        shown = watching.play(STANDARDIZED_BY, bar)
    assert isinstance(policy.features_extractor, Standardized)
    seen = np.concatenate([shown.observations * watching.layout.factors, shown.priors], axis=1)
    policy.features_extractor.fit(seen)


def warm_start(policy: MaskableActorCriticPolicy, config: Config, seed: int) -> Imitation:
    """Watch `imitation.agent` and learn to do as it does, round after round."""
    settings = config.imitation
    watching, imitation = Watching(config, seed), Imitation(policy, config)
    wanted = ceil(settings.decisions / settings.rounds)
    own: Snapshot | None = None
    for k in range(settings.rounds):
        number = f" {k + 1}/{settings.rounds}" if settings.rounds > 1 else ""
        with progress(wanted, f"watching {watching.agent.name}{number}") as bar:
            shown = watching.play(wanted, bar, own)
        with progress(settings.epochs * len(shown), f"imitating {watching.agent.name}{number}") as bar:
            imitation.fit(shown, bar)
        if settings.own_games:
            own = Snapshot("own", layers_of(policy, config.network.activation), config.env.view)
    return imitation
