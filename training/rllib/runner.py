"""What plays for RLlib: a runner whose games, opponents included, are stepped by one compiled call.

RLlib's own runners step one game after the other in Python, and keep every decision as an object; this
one has the games of the backend `sb3`, lets the module decide for all of them at once, and gives RLlib
episodes that are slices of arrays. `benchmarks/rllib.py` measures both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import ray
import torch
from gymnasium import spaces
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space
from ray.rllib.core.columns import Columns
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner
from ray.rllib.env.single_agent_episode import SingleAgentEpisode
from ray.rllib.env.utils.infinite_lookback_buffer import InfiniteLookbackBuffer

from gardienii_env.agents import Agent
from gardienii_env.agents.prior import observed_size
from gardienii_env.errors import OptionError
from gardienii_env.rules.actions import NUM_ACTIONS
from training.games import TrainingGames
from training.network import Snapshot, layers_of
from training.pool import LATEST
from training.rllib.config import RLlibConfig

__all__ = ["BatchRunner", "Orders", "Outcome", "Table", "module_spaces"]

Outcome = tuple[float, int, tuple[str, ...]]
"""Of a game: the learner's payoff, its points, and the names of opponents that were drawn."""

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Orders:
    """What runners are told before they play.

    Attributes:
        update: how often the policy has learned.
        payoff_share: see `TrainingGames`.
        number: of the line-up; 0: there is none, and nobody is drawn.
        line_up: who may be drawn as an opponent, with weights, in Ray's store.
    """

    update: int = 0
    payoff_share: float = 0.0
    number: int = 0
    line_up: ray.ObjectRef | None = None


def module_spaces(config: RLlibConfig) -> tuple[spaces.Dict, spaces.Discrete]:
    """What the module sees of a game, and what it does."""
    prior = config.network.prior is not None
    size = observed_size(config.env.num_players, config.env.view, prior)
    seen = spaces.Dict(
        {
            "action_mask": spaces.Box(0, 1, (NUM_ACTIONS,), np.int8),
            "observations": spaces.Box(0, 1, (size,), np.float32),
        }
    )
    return seen, spaces.Discrete(NUM_ACTIONS)


class Table(VectorEnv[Any, Any, Any]):
    """The games of a runner as RLlib asks for them: it is the spaces that it looks at."""

    def __init__(self, config: RLlibConfig) -> None:
        self.config, self.num_envs = config, config.env.num_envs
        self.single_observation_space, self.single_action_space = module_spaces(config)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)


class BatchRunner(SingleAgentEnvRunner):
    """See the module. It plays rollouts of `ppo.n_steps` decisions in each of `env.num_envs` games.

    The games are begun by the first rollout; which they are depends on the seed, the runner's number and
    the update, so that a runner that takes the place of a lost one plays others. A game that the turn
    limit stopped is terminated for RLlib: nothing is to be estimated on top of its reward.
    """

    def __init__(self, *, config: Any, **options: Any) -> None:
        self.settings: RLlibConfig = config.env_config["settings"]
        self.orders = Orders()
        self.games: TrainingGames | None = None
        self._seen: Array = np.empty(0)
        self._rng = torch.Generator()
        self._known: dict[str, Agent] = {}  # opponents, by name
        self._line_up = 0  # the number of the one that was drawn from last
        self._outcomes: list[Outcome] = []
        super().__init__(config=config, **options)

    def make_env(self) -> None:
        """See the base class."""
        self.env = Table(self.settings)
        self.num_envs = self.env.num_envs
        if self.worker_index:
            torch.set_num_threads(self._threads)

    @property
    def _threads(self) -> int:
        """How many threads this runner may use."""
        settings = self.settings
        return max(1, int(settings.rllib.cpus_per_runner)) if self.worker_index else settings.threads

    # -- what the main process tells and asks ------------------------------------------------------

    def obey(self, orders: Orders) -> None:
        """Be told what to do in the next rollouts."""
        self.orders = orders

    def take_outcomes(self) -> list[Outcome]:
        """The games that have ended since this was asked the last time."""
        outcomes, self._outcomes = self._outcomes, []
        return outcomes

    def capture(self) -> dict[str, Any]:
        """The games as they stand, to go on with them; it pickles."""
        return {
            "games": self.games,
            "seen": self._seen,
            "rng": self._rng.get_state(),
            "known": self._known,
            "line_up": self._line_up,
        }

    def go_on(self, captured: dict[str, Any]) -> None:
        """Be where `capture` was asked."""
        self.games, self._seen = captured["games"], captured["seen"]
        if self.games is not None:
            self.games.use_threads(self._threads)
        self._known, self._line_up = captured["known"], captured["line_up"]
        self._rng.set_state(captured["rng"])

    def get_state(self, *arguments: Any, **options: Any) -> dict[str, Any]:
        """See the base class; with the orders, for runners that take the place of lost ones."""
        state: dict[str, Any] = super().get_state(*arguments, **options)
        return {**state, "orders": self.orders}

    def set_state(self, state: dict[str, Any]) -> None:
        """See the base class."""
        super().set_state(state)
        self.orders = state.get("orders", self.orders)

    # -- playing -----------------------------------------------------------------------------------

    def _sample(
        self,
        *,
        num_timesteps: int | None = None,
        num_episodes: int | None = None,
        explore: bool,
        random_actions: bool = False,
        force_reset: bool = False,
    ) -> list[SingleAgentEpisode]:
        """A rollout, as the base class asks for it."""
        if num_timesteps is None or random_actions or not explore:
            raise OptionError("BatchRunner: rollouts for training alone; evaluate in the arena.")
        if self.games is None:
            self.games = self._begin()
        self._draw_opponents(self.games)
        rollout = self._play(self.games, max(1, num_timesteps // self.num_envs))
        episodes = rollout.episodes()
        self._log_env_steps(metric=self._metrics_num_env_steps_sampled, num_steps=rollout.decisions)
        self._increase_sampled_metrics(rollout.decisions, len(rollout.infos))
        for info in rollout.infos:
            self._log_episode_metrics(info["episode"]["l"], info["episode"]["r"], info["episode"]["t"])
        return episodes

    def _begin(self) -> TrainingGames:
        """Deal the games."""
        of_runner = [self.settings.seed, self.worker_index or 0, self.orders.update]
        seed, draws = np.random.SeedSequence(of_runner).generate_state(2, np.uint32).tolist()
        games = TrainingGames(self.settings.model_copy(update={"seed": seed, "threads": self._threads}))
        self._rng.manual_seed(draws)
        self._seen = np.asarray(games.reset())
        return games

    def _draw_opponents(self, games: TrainingGames) -> None:
        """Seat opponents as the orders say. One of a name stays the same object as long as it plays."""
        orders = self.orders
        games.payoff_share = orders.payoff_share
        if orders.number != self._line_up:
            agents, weights = ray.get(orders.line_up)
            self._known = {agent.name: self._known.get(agent.name, agent) for agent in agents}
            games.draw_opponents([self._known[agent.name] for agent in agents], weights)
            self._line_up = orders.number
        latest = self._known.get(LATEST)
        if isinstance(latest, Snapshot):
            latest.layers = layers_of(self.module.policy, self.settings.network.activation)

    def _play(self, games: TrainingGames, steps: int) -> _Rollout:
        """So many decisions in each game."""
        rollout = _Rollout(self.num_envs, steps, self._seen.shape[1])
        for t in range(steps):
            masks = games.action_masks()
            actions, log_probs, logits = self._decide(self._seen, masks)
            seen, rewards, dones, infos = games.step(actions)
            rollout.add(t, self._seen, masks, actions, log_probs, logits, rewards, dones, infos)
            for i in np.flatnonzero(dones):
                opponents = tuple(infos[i].get("opponents", ()))
                self._outcomes.append((infos[i]["payoff"], infos[i]["score"], opponents))
            self._seen = np.asarray(seen)
        rollout.close(self._seen, games.action_masks())
        return rollout

    def _decide(
        self, observations: Array, masks: Array
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Drawn actions, their log probabilities, and the logits of all."""
        seen = {"observations": torch.from_numpy(observations), "action_mask": torch.from_numpy(masks)}
        given = self.module.forward_exploration({Columns.OBS: seen})
        logits = given[Columns.ACTION_DIST_INPUTS]
        log_probs = torch.log_softmax(logits, dim=1)
        actions = torch.multinomial(log_probs.exp(), 1, generator=self._rng)
        chosen = log_probs.gather(1, actions).squeeze(1)
        return actions.squeeze(1).numpy(), chosen.numpy(), logits.numpy()

    def assert_healthy(self) -> None:
        """See the base class."""
        assert self.env is not None
        assert self.module is not None

    def get_metrics(self) -> Any:
        """See the base class; the episodes are logged when they end."""
        return self.metrics.reduce()


class _Rollout:
    """The arrays of a rollout, a row for each game, and the episodes that they hold."""

    def __init__(self, games: int, steps: int, size: int) -> None:
        self.steps = steps
        self.observations = np.empty((games, steps + 1, size), np.float32)
        self.masks = np.empty((games, steps + 1, NUM_ACTIONS), np.int8)
        self.actions = np.empty((games, steps), np.int64)
        self.log_probs = np.empty((games, steps), np.float32)
        self.logits = np.empty((games, steps, NUM_ACTIONS), np.float32)
        self.rewards = np.empty((games, steps), np.float32)
        self.dones = np.empty((games, steps), np.bool_)
        self.infos: list[dict[str, Any]] = []

    @property
    def decisions(self) -> int:
        """How many there are."""
        return self.actions.size

    def add(
        self,
        t: int,
        observations: Array,
        masks: Array,
        actions: Array,
        log_probs: Array,
        logits: Array,
        rewards: Array,
        dones: Array,
        infos: Sequence[dict[str, Any]],
    ) -> None:
        """Note a decision in each game."""
        self.observations[:, t], self.masks[:, t] = observations, masks
        self.actions[:, t], self.log_probs[:, t], self.logits[:, t] = actions, log_probs, logits
        self.rewards[:, t], self.dones[:, t] = rewards, dones
        self.infos += [infos[i] for i in np.flatnonzero(dones).tolist()]

    def close(self, observations: Array, masks: Array) -> None:
        """Note what comes after the last decisions."""
        self.observations[:, -1], self.masks[:, -1] = observations, masks

    def episodes(self) -> list[SingleAgentEpisode]:
        """The parts of games between which games were dealt anew.

        What RLlib sees after the last decision of a game belongs to the next one; nothing is made of it.
        """
        found: list[SingleAgentEpisode] = []
        for game in range(len(self.actions)):
            first = 0
            for last in [*np.flatnonzero(self.dones[game]).tolist(), self.steps - 1]:
                if last >= first:
                    found.append(self._episode(game, slice(first, last + 1)))
                first = last + 1
        return found

    def _episode(self, game: int, part: slice) -> SingleAgentEpisode:
        seen = slice(part.start, part.stop + 1)
        observations = {
            "action_mask": self.masks[game, seen],
            "observations": self.observations[game, seen],
        }
        return SingleAgentEpisode(
            observations=InfiniteLookbackBuffer(observations),
            infos=InfiniteLookbackBuffer([{}] * (part.stop - part.start + 1)),
            actions=InfiniteLookbackBuffer(self.actions[game, part]),
            rewards=InfiniteLookbackBuffer(self.rewards[game, part]),
            terminated=bool(self.dones[game, part.stop - 1]),
            extra_model_outputs={
                Columns.ACTION_LOGP: InfiniteLookbackBuffer(self.log_probs[game, part]),
                Columns.ACTION_DIST_INPUTS: InfiniteLookbackBuffer(self.logits[game, part]),
            },
            len_lookback_buffer=0,
        )
