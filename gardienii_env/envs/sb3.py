"""Many games as one stable-baselines3 `VecEnv`: one learner's seat a game, stepped all at once.

    env = GardieniiVecEnv(256, opponents="greedy", reward="margin", seed=1)
    model = MaskablePPO("MlpPolicy", env)

Game i with seed `seed + i` takes the same course as the single-agent environment with that seed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from gardienii_env.agents import Agent
from gardienii_env.envs.batch import check_actions, check_num_envs
from gardienii_env.envs.learner import LearnerTable, Opponents
from gardienii_env.envs.options import known_options
from gardienii_env.envs.outcome import Reward
from gardienii_env.envs.single import observation_space
from gardienii_env.errors import MissingExtraError, OptionError
from gardienii_env.game import RulesetLike
from gardienii_env.observation import Observations, ObservationType, View
from gardienii_env.rules import scoring
from gardienii_env.rules.actions import NUM_ACTIONS
from gardienii_env.rules.batch import WritableCopies
from gardienii_env.rules.jit import compiled
from gardienii_env.rules.random import check_seed
from gardienii_env.rules.ruleset import SHIPPED
from gardienii_env.rules.state import States

try:
    from stable_baselines3.common.vec_env import VecEnv
    from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn
except ImportError as error:
    raise MissingExtraError("gardienii_env.envs.sb3", "sb3") from error

__all__ = ["GardieniiVecEnv", "write_leads"]


class GardieniiVecEnv(WritableCopies, VecEnv):
    """See the module. The arguments are those of the single-agent environment, and:

    Args:
        num_envs: how many games.
        seed: game i starts from the seed `seed + i`; None: from the operating system.
        num_threads: how many threads share the games; it does not change a result.

    Observations: shape (num_envs, size), float32 or uint8. `action_masks` (through `env_method`, as
    sb3-contrib asks): shape (73,), bool a game. A game that ends is reset in the same step:
    `infos[i]["terminal_observation"]`, `TimeLimit.truncated`, `episode` (return `r`, length `l`,
    seconds `t`) and what the single-agent environment tells at the end. An illegal action pays -1 and
    ends the episode.
    """

    def __init__(
        self,
        num_envs: int,
        opponents: Opponents = "greedy",
        num_players: int = 2,
        ruleset: RulesetLike = SHIPPED[0],
        view: View = "table",
        reward: Reward = "payoff",
        seat: int | None = None,
        seed: int | None = None,
        dtype: ObservationType = "float32",
        num_threads: int = 1,
    ) -> None:
        num_envs = check_num_envs(num_envs)
        seed = check_seed(seed)
        self.table = LearnerTable(
            num_envs, opponents, num_players, ruleset, view, reward, seat, dtype, num_threads
        )
        self.render_mode = None
        self._actions = np.zeros(num_envs, np.int64)
        self._all = np.arange(num_envs)
        self._begun = False
        self._returns = np.zeros(num_envs)
        self._lengths = np.zeros(num_envs, np.int64)
        self._started = time.time()
        space = observation_space(self.table.layout, dtype)
        super().__init__(num_envs, space, spaces.Discrete(NUM_ACTIONS))
        if seed is not None:
            self.seed(seed)

    def reset(self) -> Observations:
        """Begin all games anew; from the seeds given to `seed`, if there are any."""
        deals = [known_options(options, "deal").get("deal") for options in self._options]
        self.table.reset(self._all, deals, [check_seed(seed) for seed in self._seeds])
        self.reset_infos = [{"seat": seat} for seat in self.table.seats.tolist()]
        self._begun = True
        self._returns[:] = 0
        self._lengths[:] = 0
        self._reset_seeds()
        self._reset_options()
        return self.table.observations.copy()

    def step_async(self, actions: npt.NDArray[np.int64]) -> None:
        """Take the learners' actions, shape (num_envs,), whole numbers; OptionError for others."""
        self._actions[:] = check_actions(actions, self.num_envs)
        if not self._begun:
            raise OptionError("step: the games were not begun; call reset().")

    def step_wait(self) -> VecEnvStepReturn:
        """Do them. Returns observations, rewards (float32), dones (bool) and infos."""
        with self.table.all_or_nothing():
            return self._step()

    def _step(self) -> VecEnvStepReturn:
        table = self.table
        table.step(self._actions)
        rewards = table.rewards.astype(np.float32)
        dones = table.terminated | table.truncated
        returns, lengths = self._returns + table.rewards, self._lengths + 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        ended = np.flatnonzero(dones)
        if ended.size:
            for i, told in zip(ended.tolist(), table.infos(ended), strict=True):
                infos[i] = {
                    **told,
                    "terminal_observation": table.observations[i].copy(),
                    "TimeLimit.truncated": bool(table.truncated[i]),
                    "episode": {
                        "r": float(returns[i]),
                        "l": int(lengths[i]),
                        "t": round(time.time() - self._started, 6),
                    },
                }
            table.reset(ended)
            for i in ended.tolist():
                self.reset_infos[i] = {"seat": int(table.seats[i])}
            returns[ended] = 0
            lengths[ended] = 0
        self._returns, self._lengths = returns, lengths
        return table.observations.copy(), rewards, dones, infos

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Legal actions of all games: shape (num_envs, 73), bool."""
        return self.table.batch.masks.astype(np.bool_)

    def close(self) -> None:
        """Nothing to close."""

    # -- what VecEnv asks of "the environments" ----------------------------------------------------

    def has_attr(self, attr_name: str) -> bool:
        """Whether `get_attr` or `env_method` knows the name."""
        return hasattr(self, attr_name)

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """An attribute of this object, once for each game."""
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Refused: the games have no attributes of their own."""
        raise OptionError(f"{attr_name}: the games of a batch have no attributes to set.")

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: VecEnvIndices = None,
        **method_kwargs: Any,
    ) -> list[Any]:
        """`action_masks` of the games asked for; AttributeError for another method."""
        if method_name != "action_masks":
            raise AttributeError(f"{method_name}: the games of a batch only have 'action_masks'.")
        masks = self.action_masks()
        return [masks[i] for i in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:
        """The games are wrapped in nothing, but they do report episodes, as SB3's Monitor does."""
        return [wrapper_class.__name__ == "Monitor" for _ in self._get_indices(indices)]

    def leads(self) -> npt.NDArray[np.float64]:
        """The learners' points so far less the mean of the others', shape (num_envs,), float64.

        What the reward `margin` would pay if the games ended now, times 50: to shape a reward with. It
        is no observation, since it tells of points that only their owners know.
        """
        leads = np.empty(self.num_envs)
        batch = self.table.batch
        write_leads(batch.rules, batch.states, self._all, self.table.seats, leads)
        return leads

    def set_opponents(self, opponents: Opponents) -> None:
        """Let others play from now on: names, or Agent objects."""
        self.table.set_opponents(opponents)

    def draw_opponents(self, agents: Sequence[Agent | str], weights: Sequence[float]) -> None:
        """Draw the opponents of every episode from now on; see `LearnerTable.draw_opponents`.

        The infos of an episode's end then have `opponents`, their names, clockwise from the learner.
        """
        self.table.draw_opponents(agents, weights)


@compiled
def write_leads(
    rules: npt.NDArray[np.void],
    states: States,
    games: npt.NDArray[np.int64],
    seats: npt.NDArray[np.int64],
    leads: npt.NDArray[np.float64],
) -> None:
    """Write, for the seat `seats[k]` in game `games[k]`, its points less the mean of the others'."""
    for k in range(games.size):
        scores = scoring.scores(rules, states, games[k])
        own = scores[seats[k]]
        leads[k] = own - (scores.sum() - own) / (scores.size - 1)
