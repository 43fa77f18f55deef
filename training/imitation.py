"""The warm start: before it learns by itself, a policy learns to do as an agent does.

Games of the agent against itself give decisions (what it saw, what was legal, what it did) and how
the game ended for it. The policy is fitted to the first, the value function to the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
import numpy.typing as npt
import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

from gardienii_env.agents import Agent, make_agent, new_streams
from gardienii_env.envs.outcome import final_rewards
from gardienii_env.observation import observe_deciding
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.random import seed_streams
from gardienii_env.rules.ruleset import Ruleset
from training.config import Config
from training.progress import progress

__all__ = ["Demonstrations", "imitate", "play_demonstrations"]

GAMES_AT_ONCE = 512


@dataclass(frozen=True)
class Demonstrations:
    """Decisions of whole games, one a row."""

    observations: npt.NDArray[np.float32]
    masks: npt.NDArray[np.int8]
    actions: npt.NDArray[np.int64]
    returns: npt.NDArray[np.float32]
    """The reward at the end of the game for the seat that decided."""

    def __len__(self) -> int:
        return len(self.actions)

    @staticmethod
    def join(parts: Sequence[Demonstrations]) -> Demonstrations:
        """All decisions of some demonstrations."""
        return Demonstrations(
            np.concatenate([part.observations for part in parts]),
            np.concatenate([part.masks for part in parts]),
            np.concatenate([part.actions for part in parts]),
            np.concatenate([part.returns for part in parts]),
        )


def play_demonstrations(config: Config, seed: int) -> Demonstrations:
    """Whole games of `imitation.agent` against itself, with at least `imitation.decisions` decisions."""
    agent = make_agent(config.imitation.agent)
    batch = Batch(Ruleset.get(config.env.ruleset), config.env.num_players, GAMES_AT_ONCE)
    batch.states["rng"] = seed_streams(seed, GAMES_AT_ONCE)
    streams = new_streams(seed + 1, GAMES_AT_ONCE)
    wanted, parts = config.imitation.decisions, []
    with progress(wanted, f"watching {agent.name}") as bar:
        while bar.n < wanted:
            parts.append(_play_round(config, agent, batch, streams))
            bar.update(min(len(parts[-1]), wanted - bar.n))
    return Demonstrations.join(parts)


def _play_round(
    config: Config, agent: Agent, batch: Batch, streams: npt.NDArray[np.void]
) -> Demonstrations:
    """One game at each place of the batch."""
    for i in range(len(batch)):
        batch.deal(i)
    games, seats, observations, masks, actions = [], [], [], [], []
    on = np.flatnonzero(batch.states["player"] >= 0)
    while on.size:
        games.append(on)
        seats.append(batch.states["player"][on].astype(np.int64))
        observations.append(observe_deciding(batch, on, config.env.view))
        masks.append(batch.masks[on])
        actions.append(agent.act(batch, on, streams))
        batch.apply_all(on, actions[-1])
        on = on[batch.states["player"][on] >= 0]
    rewards = [final_rewards(batch, i, config.env.reward) for i in range(len(batch))]
    return Demonstrations(
        np.concatenate(observations),
        np.concatenate(masks),
        np.concatenate(actions),
        np.array(rewards, np.float32)[np.concatenate(games), np.concatenate(seats)],
    )


def imitate(
    policy: MaskableActorCriticPolicy, demonstrations: Demonstrations, config: Config
) -> tuple[float, float]:
    """Fit a policy and its value function to demonstrations.

    Returns, over the last epoch, the share of decisions in which the policy found the agent's action
    best and the share of the returns' variance that the value function explained (nan if there is none).
    """
    settings = config.imitation
    optimizer = torch.optim.Adam(policy.parameters(), lr=settings.learning_rate)
    generator = torch.Generator().manual_seed(config.seed)
    observations = torch.from_numpy(demonstrations.observations)
    actions = torch.from_numpy(demonstrations.actions)
    returns = torch.from_numpy(demonstrations.returns)
    spread = float(((returns - returns.mean()) ** 2).sum())
    agreement = explained = 0.0
    policy.set_training_mode(True)
    with progress(settings.epochs * len(demonstrations), f"imitating {settings.agent}") as bar:
        for _ in range(settings.epochs):
            agreed = squared_error = 0.0
            order = torch.randperm(len(demonstrations), generator=generator)
            for rows in torch.split(order, settings.batch_size):
                features = policy.extract_features(observations[rows])
                latent_pi, latent_vf = policy.mlp_extractor(features)
                distribution = policy._get_action_dist_from_latent(latent_pi)
                distribution.apply_masking(demonstrations.masks[rows.numpy()])
                errors = policy.value_net(latent_vf).flatten() - returns[rows]
                loss = -distribution.log_prob(actions[rows]).mean() + 0.5 * (errors**2).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                agreed += float((distribution.mode() == actions[rows]).sum())
                squared_error += float((errors.detach() ** 2).sum())
                bar.update(len(rows))
            agreement = agreed / len(demonstrations)
            explained = 1 - squared_error / spread if spread else nan
            bar.set_postfix(agreement=f"{agreement:.0%}", value_explained=f"{explained:.0%}")
    policy.set_training_mode(False)
    return agreement, explained
