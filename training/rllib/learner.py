"""How RLlib's PPO learns here: whole batches without padding, and figures that say how it goes."""

from __future__ import annotations

from typing import Any

import torch
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.connectors.connector_v2 import ConnectorV2
from ray.rllib.core.columns import Columns

__all__ = ["Learner", "Shuffled"]


class Shuffled(ConnectorV2):
    """Brings a batch into a random order, and takes out what is there for RLlib's bookkeeping alone.

    RLlib goes through a batch in its own order the first time, so that a part of it would come from few
    games; and it adds a row to each episode, which no loss counts.
    """

    def __call__(self, *, batch: dict[str, Any], **options: Any) -> dict[str, Any]:
        """The batch, with the rows that count in a random order."""
        for columns in batch.values():
            counted = torch.as_tensor(columns.pop(Columns.LOSS_MASK)).nonzero().flatten()
            rows = counted[torch.randperm(len(counted))]
            for name, column in columns.items():
                columns[name] = _rows(column, rows)
        return batch


def _rows(column: Any, rows: torch.Tensor) -> Any:
    """Some rows of a tensor, or of the tensors in a dict."""
    if isinstance(column, dict):
        return {name: _rows(part, rows) for name, part in column.items()}
    return column[rows.to(column.device)]


class Learner(PPOTorchLearner):
    """RLlib's PPO with `Shuffled` batches."""

    def build(self) -> None:
        """See the base class."""
        super().build()
        self._learner_connector.append(Shuffled())

    def compute_loss_for_module(
        self, *, module_id: str, config: Any, batch: dict[str, Any], fwd_out: dict[str, Any]
    ) -> torch.Tensor:
        """See the base class; logs how far the policy has moved."""
        loss: torch.Tensor = super().compute_loss_for_module(
            module_id=module_id, config=config, batch=batch, fwd_out=fwd_out
        )
        with torch.no_grad():
            log_probs = torch.log_softmax(fwd_out[Columns.ACTION_DIST_INPUTS], dim=1)
            actions = batch[Columns.ACTIONS].long().unsqueeze(1)
            log_ratio = log_probs.gather(1, actions).squeeze(1) - batch[Columns.ACTION_LOGP]
            ratio = log_ratio.exp()
            figures = {
                "approx_kl": (ratio - 1 - log_ratio).mean(),
                "clip_fraction": ((ratio - 1).abs() > config.clip_param).float().mean(),
            }
        self.metrics.log_dict(figures, key=module_id, window=1)
        return loss

    def set_rate(self, rate: float) -> None:
        """Learn at this rate from now on."""
        for _, optimizer in self.get_optimizers_for_module("default_policy"):
            self._set_optimizer_lr(optimizer, rate)
