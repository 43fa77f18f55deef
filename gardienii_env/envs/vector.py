"""Many games as one Gymnasium `VectorEnv`: one learner's seat a game, stepped all at once.

    envs = gymnasium.make_vec(
        "gardienii_env:Gardienii-v0",
        num_envs=1024,
        vectorization_mode="vector_entry_point",
        opponents="random",
    )
    observations, infos = envs.reset(seed=1)
    actions = policy(observations, infos["action_mask"])
    observations, rewards, terminations, truncations, infos = envs.step(actions)

Game i with seed `seed + i` takes the same course as the single-agent environment with that seed, and
everything told is what Gymnasium's `SyncVectorEnv` would tell of such environments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from gardienii_env.envs.batch import (
    Seeds,
    as_array,
    check_actions,
    check_bool,
    check_game,
    check_legal,
    check_num_envs,
    each_seed,
)
from gardienii_env.envs.learner import IllegalAction, LearnerTable, Opponents
from gardienii_env.envs.options import known_options
from gardienii_env.envs.outcome import Reward, final_infos
from gardienii_env.envs.single import check_illegal_action, observation_space
from gardienii_env.errors import OptionError, one_of, shown
from gardienii_env.game import Game, RulesetLike
from gardienii_env.observation import Observations, ObservationType, View
from gardienii_env.render.modes import DEFAULT_SIZE, Frame, Renderer
from gardienii_env.rules.actions import NUM_ACTIONS
from gardienii_env.rules.batch import WritableCopies
from gardienii_env.rules.ruleset import SHIPPED

__all__ = ["GardieniiVectorEnv"]

RENDER_MODES = ("ansi", "rgb_array")

Infos = dict[str, Any]
Step = tuple[
    Observations,
    npt.NDArray[np.float64],
    npt.NDArray[np.bool_],
    npt.NDArray[np.bool_],
    Infos,
]
"""What a step gives: observations, rewards, terminations, truncations, infos."""


class GardieniiVectorEnv(
    WritableCopies, VectorEnv[Observations, npt.NDArray[np.int64], npt.NDArray[Any]]
):
    """Games side by side, each with a learner and its opponents, stepped by one call.

    The arguments are those of the single-agent environment (but there is no render mode `human`), and:

    Args:
        num_envs: how many games.
        autoreset_mode: `NEXT_STEP` (a game that has ended is reset by the next step, which ignores its
            action and pays 0), `SAME_STEP` (by the step in which it ends; `infos["final_obs"]` and
            `infos["final_info"]` hold what it ended with) or `DISABLED` (by
            `reset(options={"reset_mask": ...})` only): a member of Gymnasium's `AutoresetMode` or its
            value.
        num_threads: how many threads share the games; it does not change a result.
        copy: whether observations are a new array at every call (otherwise always the same one, which
            the next call overwrites).

    Observations: shape (num_envs, size), float32 in [0, 1], or uint8 (counts before scaling) with
    `dtype="uint8"`. Rewards: float64. `infos["action_mask"]`: shape (num_envs, 73), int8, 1 where legal;
    all ones for a game that is over. `infos["seat"]`: the learners' seats; at the end also `end`,
    `turns`, `points` (by source), `score`, `winner`, `payoff` and `illegal_action`; after an illegal
    action only the last. As everywhere in
    Gymnasium, `infos["_key"]` tells for which games a key is given.

    `reset(seed=s)` gives game i the seed `s + i`; a list gives each its own. `options`: `deal` (one for
    all games, or a list with one or None for each), `reset_mask` (bools: which games are reset, the
    others stay as they are).

    An illegal action pays -1 and ends its game; with `illegal_action="raise"` it raises
    IllegalActionError, and no game has changed.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  # declared so by Gymnasium
        "render_modes": list(RENDER_MODES),
        "render_fps": 2,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        opponents: Opponents = "greedy",
        num_players: int = 2,
        ruleset: RulesetLike = SHIPPED[0],
        view: View = "table",
        reward: Reward = "payoff",
        seat: int | None = None,
        illegal_action: IllegalAction = "terminate",
        render_mode: str | None = None,
        dtype: ObservationType = "float32",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        num_threads: int = 1,
        copy: bool = True,
        render_size: tuple[int, int] = DEFAULT_SIZE,
        render_language: str = "en",
    ) -> None:
        self.num_envs = check_num_envs(num_envs)
        try:
            self.autoreset_mode = AutoresetMode(autoreset_mode)
        except ValueError:
            modes = [mode.value for mode in AutoresetMode]
            raise OptionError(one_of("autoreset_mode:", autoreset_mode, modes)) from None
        self.illegal_action = check_illegal_action(illegal_action)
        self._renderer = Renderer(render_mode, render_size, render_language, modes=RENDER_MODES)
        self.render_mode = render_mode
        self.table = LearnerTable(
            self.num_envs, opponents, num_players, ruleset, view, reward, seat, dtype, num_threads
        )
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.copy = check_bool("copy", copy)
        self.single_observation_space = observation_space(self.table.layout, dtype)
        self.single_action_space = spaces.Discrete(NUM_ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._given = self.table.observations[:0] if self.copy else self.table.observations.copy()
        self._all = np.arange(self.num_envs)
        self._over = np.ones(self.num_envs, np.bool_)  # not begun, or ended and not reset yet
        self._begun = False
        self._told = [""] * self.num_envs

    # -- episodes ----------------------------------------------------------------------------------

    def reset(
        self, *, seed: Seeds = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observations, Infos]:
        """Begin episodes: of all games, or of those of `options["reset_mask"]`.

        Raises OptionError or DealError for what cannot be; then no game has changed.
        """
        options = known_options(options, "deal", "reset_mask")
        games = self._games_to_reset(options.get("reset_mask"))
        deals = self._deals(games, options.get("deal"))
        seeds = each_seed(seed, self.num_envs)
        super().reset(seed=None)
        self._begin(games, deals, [seeds[i] for i in games.tolist()])
        which = np.zeros(self.num_envs, np.bool_)
        which[games] = True
        return self._observed(), self._infos(which)

    def _begin(
        self,
        games: npt.NDArray[np.int64],
        deals: Sequence[Mapping[str, Any] | None] | None = None,
        seeds: Sequence[int | None] | None = None,
    ) -> None:
        self.table.reset(games, deals, seeds)
        for i in games.tolist() if self._renderer.draws else ():
            self._told[i] = ""
        self._over[games] = False
        self._begun = True

    def _games_to_reset(self, mask: object) -> npt.NDArray[np.int64]:
        if mask is None:
            return self._all
        given = as_array("reset_mask", mask)
        if given.shape != (self.num_envs,) or given.dtype != np.bool_ or not given.any():
            raise OptionError(
                f"reset_mask: {shown(mask)}; expected {self.num_envs} bools, at least one of them true."
            )
        if not self._begun and not given.all():
            raise OptionError("reset_mask: the games were not begun; reset all of them first.")
        return np.flatnonzero(given)

    def _deals(
        self, games: npt.NDArray[np.int64], deal: object
    ) -> Sequence[Mapping[str, Any] | None] | None:
        """The deal of each of these games."""
        if deal is None:
            return None
        if not isinstance(deal, Sequence) or isinstance(deal, str):
            return [deal] * games.size  # type: ignore[list-item]  # checked where it is read
        if len(deal) != self.num_envs:
            raise OptionError(
                f"deal: {len(deal)} deals for {self.num_envs} games; give one for all, or a list with "
                "one or None for each."
            )
        return [deal[i] for i in games.tolist()]

    # -- steps -------------------------------------------------------------------------------------

    def step(self, actions: npt.NDArray[np.int64]) -> Step:
        """Do the learners' actions and let the opponents play.

        Args:
            actions: ids, shape (num_envs,), whole numbers.

        Raises OptionError before `reset`, for actions of another shape or type, or, with autoreset
        disabled, while a game is over; then no game has changed. DealError where a ruleset leaves the
        learner without a decision, which `reset` tells too: the games are to be reset then.
        """
        given = check_actions(actions, self.num_envs)
        self._check_on(given)
        before = self._over.copy(), self._told
        try:
            with self.table.all_or_nothing():
                return self._step(given)
        except BaseException:
            self._over, self._told = before
            raise

    def _step(self, actions: npt.NDArray[np.int64]) -> Step:
        table = self.table
        told = self._telling(actions)
        table.step(actions)
        self._told = told
        resting = np.flatnonzero(self._over)
        if resting.size:  # NEXT_STEP
            self._begin(resting)
        rewards = table.rewards.copy()
        terminated, truncated = table.terminated.copy(), table.truncated.copy()
        self._over = terminated | truncated
        ended = np.flatnonzero(self._over)
        infos: Infos = {}
        if ended.size and self.autoreset_mode == AutoresetMode.SAME_STEP:
            self._tell_final(infos, ended)
            self._begin(ended)
            ended = ended[:0]
        everything = np.ones(self.num_envs, np.bool_)
        infos |= self._infos(everything)
        self._tell(infos, ended)
        return self._observed(), rewards, terminated, truncated, infos

    def _check_on(self, actions: npt.NDArray[np.int64]) -> None:
        """Refuse a step that cannot be, before anything has changed."""
        if not self._begun:
            raise OptionError("step: the games were not begun; call reset().")
        if self.autoreset_mode == AutoresetMode.DISABLED and self._over.any():
            raise OptionError(
                f"step: games {np.flatnonzero(self._over).tolist()} are over; call "
                'reset(options={"reset_mask": terminations | truncations}).'
            )
        if self.illegal_action == "raise":
            check_legal(self.table.batch, actions, ~self._over)

    # -- what is told ------------------------------------------------------------------------------

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Legal actions: shape (num_envs, 73), bool; all ones for a game that is over."""
        masks: npt.NDArray[np.bool_] = self.table.batch.masks.astype(np.bool_)
        masks[self._over] = True
        return masks

    def _observed(self) -> Observations:
        if self.copy:
            return self.table.observations.copy()
        self._given[:] = self.table.observations
        return self._given

    def _infos(self, told: npt.NDArray[np.bool_]) -> Infos:
        """Mask and seat; those of games that are not told of are there too, for who reads them all."""
        masks, seats = self.table.batch.masks.copy(), self.table.seats.copy()
        masks[self._over] = 1
        return {"action_mask": masks, "_action_mask": told.copy(), "seat": seats, "_seat": told.copy()}

    def _tell(self, infos: Infos, ended: npt.NDArray[np.int64]) -> None:
        """Add what the single-agent environment tells of a game that has ended."""
        if not ended.size:
            return
        table = self.table
        illegal = table.illegal[ended]
        self._spread(infos, ended, {"illegal_action": illegal})
        games = ended[~illegal]
        if games.size:
            self._spread(infos, games, final_infos(table.batch, games, table.seats[games]))

    def _tell_final(self, infos: Infos, ended: npt.NDArray[np.int64]) -> None:
        """Add `final_obs` and `final_info` of games that are about to be reset."""
        final_obs = np.full(self.num_envs, None, object)
        for i, observation in zip(ended.tolist(), self.table.observations[ended], strict=True):
            final_obs[i] = observation
        which = np.zeros(self.num_envs, np.bool_)
        which[ended] = True
        final_info = self._infos(which)
        self._tell(final_info, ended)
        infos |= {"final_obs": final_obs, "_final_obs": which}
        infos |= {"final_info": final_info, "_final_info": which.copy()}

    def _spread(self, infos: Infos, games: npt.NDArray[np.int64], values: Mapping[str, Any]) -> None:
        """Add values of some games to infos, in Gymnasium's form: an array over all games and a mask."""
        for key, value in values.items():
            if isinstance(value, Mapping):
                infos[key] = {}
                self._spread(infos[key], games, value)
            else:
                infos[key] = np.full(self.num_envs, None if value.dtype == object else 0, value.dtype)
                infos[key][games] = value
            infos[f"_{key}"] = np.zeros(self.num_envs, np.bool_)
            infos[f"_{key}"][games] = True

    # -- people ------------------------------------------------------------------------------------

    def game(self, i: int) -> Game:
        """Game i as it stands, as an independent `Game` (the whole truth; it has no record)."""
        return Game.of(self.table.batch, check_game(i, self.num_envs))

    def set_opponents(self, opponents: Opponents) -> None:
        """Let others play from now on: names, or Agent objects."""
        self.table.set_opponents(opponents)

    def _telling(self, actions: npt.NDArray[np.int64]) -> list[str]:
        """What the learners are about to do, in words, where pictures are drawn."""
        if not self._renderer.draws:
            return self._told
        return [
            "" if over else self._renderer.words_of(self.game(i), action)
            for i, (over, action) in enumerate(zip(self._over, actions.tolist(), strict=True))
        ]

    def render(self) -> tuple[Frame, ...] | None:
        """The boards as the learners see them, one a game; None without a render mode.

        `ansi`: texts. `rgb_array`: pixels, each of shape (height, width, 3), uint8.
        """
        if self.render_mode is None:
            gym.logger.warn("render() was called without a render_mode; make the envs with one.")
            return None
        frames = (
            self._renderer.frame(self.game(i), seat, told)
            for i, (seat, told) in enumerate(zip(self.table.seats.tolist(), self._told, strict=True))
        )
        return tuple(frame for frame in frames if frame is not None)
