"""MaskablePPO with the same mathematics in fewer steps; updates may leave the policy as it is at first.

A model that it saves is one of sb3-contrib's MaskablePPO.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.utils import explained_variance
from torch.nn.functional import log_softmax, mse_loss

__all__ = ["PPO"]

NOT_LEGAL = -1e8


@dataclass
class _Batch:
    """What the learning sees of some decisions."""

    observations: torch.Tensor
    masks: torch.Tensor
    actions: torch.Tensor
    log_probs: torch.Tensor
    advantages: torch.Tensor
    returns: torch.Tensor

    def rows(self, rows: torch.Tensor) -> _Batch:
        """Some of them."""
        return _Batch(*(tensor[rows] for tensor in vars(self).values()))


@dataclass
class _Figures:
    """What is logged of an update: means over its batches."""

    values: dict[str, list[float]] = field(default_factory=dict)

    def add(self, **values: torch.Tensor) -> None:
        """Let the figures of one batch count."""
        for name, value in values.items():
            self.values.setdefault(name, []).append(float(value.detach()))


class PPO(MaskablePPO):
    """See the module.

    Attributes:
        learn_policy: False: the next updates fit the value function alone.
    """

    learn_policy = True

    def train(self) -> None:
        """Learn from the rollout buffer, as MaskablePPO does without clipping of values."""
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        clip = float(self.clip_range(self._current_progress_remaining))  # type: ignore[operator]
        batch, figures = self._batch(), _Figures()
        decisions, go_on = len(batch.actions), True
        for _ in range(self.n_epochs):
            for rows in torch.split(torch.randperm(decisions), int(self.batch_size or decisions)):
                go_on = self._learn_from(batch.rows(rows), clip, figures)
                if not go_on:
                    break
            self._n_updates += 1
            if not go_on:
                break
        for name, values in figures.values.items():
            self.logger.record(f"train/{name}", float(np.mean(values)))
        buffer = self.rollout_buffer
        explained = explained_variance(buffer.values.flatten(), buffer.returns.flatten())
        self.logger.record("train/explained_variance", float(explained))

    def _batch(self) -> _Batch:
        """All decisions of the rollout."""
        buffer = self.rollout_buffer

        def flat(array: np.ndarray) -> torch.Tensor:
            return torch.from_numpy(array).flatten(0, 1)

        return _Batch(
            flat(buffer.observations),
            flat(buffer.action_masks) != 0,
            flat(buffer.actions).long(),
            flat(buffer.log_probs),
            flat(buffer.advantages),
            flat(buffer.returns),
        )

    def _learn_from(self, batch: _Batch, clip: float, figures: _Figures) -> bool:
        """One step; False, without the step, where the policy has moved too far."""
        policy = self.policy
        features = policy.features_extractor(batch.observations)
        values = policy.value_net(policy.mlp_extractor.forward_critic(features)).flatten()
        value_loss = mse_loss(values, batch.returns)
        loss = self.vf_coef * value_loss
        figures.add(value_loss=value_loss)
        if self.learn_policy:
            policy_loss, kl = self._policy_loss(batch, features, clip, figures)
            if self.target_kl is not None and kl > 1.5 * self.target_kl:
                return False
            loss = loss + policy_loss
        policy.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(policy.parameters(), self.max_grad_norm)
        policy.optimizer.step()
        return True

    def _policy_loss(
        self, batch: _Batch, features: torch.Tensor, clip: float, figures: _Figures
    ) -> tuple[torch.Tensor, float]:
        """The clipped surrogate loss, less what entropy is worth; and the KL divergence so far."""
        policy = self.policy
        logits = policy.action_net(policy.mlp_extractor.forward_actor(features))
        log_probs = log_softmax(logits.masked_fill(~batch.masks, NOT_LEGAL), dim=1)
        entropy = -(log_probs.exp() * log_probs).sum(1).mean()  # exp is 0 where not legal
        log_ratio = log_probs.gather(1, batch.actions).flatten() - batch.log_probs
        ratio = log_ratio.exp()
        advantages = batch.advantages
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        clipped = ratio.clamp(1 - clip, 1 + clip)
        surrogate = -torch.min(advantages * ratio, advantages * clipped).mean()
        with torch.no_grad():
            kl = (ratio - 1 - log_ratio).mean()
            far = ((ratio - 1).abs() > clip).float().mean()
        figures.add(policy_loss=surrogate, entropy=entropy, approx_kl=kl, clip_fraction=far)
        return surrogate - self.ent_coef * entropy, float(kl)
