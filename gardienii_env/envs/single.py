"""The single-agent Gymnasium environment: one learner's seat, opponents playing inside `step`.

env = gymnasium.make("gardienii_env:Gardienii-v0", opponents="greedy", num_players=2)
observation, info = env.reset(seed=1)
action = rng.choice(np.flatnonzero(info["action_mask"]))
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from gardienii_env.envs.learner import ILLEGAL_ACTIONS, IllegalAction, LearnerTable, Opponents
from gardienii_env.envs.options import known_options
from gardienii_env.envs.outcome import Reward
from gardienii_env.errors import IllegalActionError, OptionError, one_of
from gardienii_env.game import Game, RulesetLike
from gardienii_env.observation import Layout, Observations, ObservationType, View
from gardienii_env.render.modes import DEFAULT_SIZE, RENDER_MODES, Frame, Renderer
from gardienii_env.rules.actions import NUM_ACTIONS, action_id
from gardienii_env.rules.batch import WritableCopies
from gardienii_env.rules.random import check_seed
from gardienii_env.rules.ruleset import SHIPPED

__all__ = [
    "GardieniiSingleEnv",
    "check_illegal_action",
    "observation_space",
]

ONE = np.zeros(1, np.int64)
"""The only game, as an index."""


def observation_space(parts: Layout, dtype: ObservationType = "float32") -> spaces.Space[Any]:
    """The space of flat observations: float32 in [0, 1], or uint8 up to the scale of each place."""
    if dtype == "uint8":
        return spaces.Box(np.zeros_like(parts.scales), parts.scales.copy(), dtype=np.uint8)
    return spaces.Box(0.0, 1.0, (parts.size,), np.float32)


def check_illegal_action(illegal_action: IllegalAction) -> IllegalAction:
    """What is done about illegal actions; OptionError if it is not known."""
    if illegal_action not in ILLEGAL_ACTIONS:
        raise OptionError(one_of("illegal_action:", illegal_action, ILLEGAL_ACTIONS))
    return illegal_action


class GardieniiSingleEnv(WritableCopies, gym.Env[Observations, np.int64]):
    """One seat of the game as a Gymnasium environment; registered as `Gardienii-v0`.

    Args:
        opponents: names with commas (`"greedy"`, `"greedy,random"`; one name stands for all), an Agent
            object, or a list of names and Agent objects, clockwise from the learner.
        num_players: 2 to 4.
        ruleset: a shipped name, a file, a dict or a Ruleset.
        view: `table` or `recall`.
        reward: `payoff` or `margin` at the end, or `points` as they are earned; see `envs.outcome`.
        seat: the learner's seat, or None: drawn for every episode.
        illegal_action: `terminate` (reward -1, the episode is over) or `raise` (IllegalActionError,
            nothing changes).
        render_mode: None; `ansi`: the board as text, as the learner sees it; `rgb_array`: as a picture;
            `human`: every step shows it in a window. All but None need the extra `render`.
        render_size: of the picture and the window: width and height in pixels.
        render_language: of the words on the board: `en`, `de`, `hu` or `ro`.
        dtype: of the observations: `float32`, or `uint8`, the counts before scaling.

    Observation: shape (layout(num_players, view).size,), float32 in [0, 1] (uint8 times the layout's
    `factors` is the same to the last bit); see `gardienii_env.layout`. Action: 0-72, see
    `gardienii_env.ACTIONS`. `action_masks()` and `info["action_mask"]`: shape (73,), 1 where legal (bool
    and int8); all ones when the episode is over. `info["seat"]` is the learner's seat; at the end `info`
    also has `end`, `turns`, `points` (by source), `score`, `winner`, `payoff`.

    `reset(options={"deal": ...})` deals a given deal (see `docs/rules.md`). Without a seed, `reset`
    deals the next game of the sequence that the last seed began.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 2}  # noqa: RUF012

    def __init__(
        self,
        opponents: Opponents = "greedy",
        num_players: int = 2,
        ruleset: RulesetLike = SHIPPED[0],
        view: View = "table",
        reward: Reward = "payoff",
        seat: int | None = None,
        illegal_action: IllegalAction = "terminate",
        render_mode: str | None = None,
        dtype: ObservationType = "float32",
        render_size: tuple[int, int] = DEFAULT_SIZE,
        render_language: str = "en",
    ) -> None:
        self.illegal_action = check_illegal_action(illegal_action)
        fps = self.metadata["render_fps"]
        self._renderer = Renderer(render_mode, render_size, render_language, fps)
        self.render_mode = render_mode
        self.table = LearnerTable(1, opponents, num_players, ruleset, view, reward, seat, dtype)
        self.observation_space = observation_space(self.table.layout, dtype)
        self.action_space = spaces.Discrete(NUM_ACTIONS)
        self._action = np.zeros(1, np.int64)
        self._playing = False
        self._told = ""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Begin an episode. Options other than `deal` are ignored, with a warning.

        Raises OptionError for a wrong seed and DealError for a wrong deal; then no episode is on.
        """
        seed = check_seed(seed)
        super().reset(seed=seed)
        self._playing = False
        if seed is not None:
            self.table.seed(0, seed)
        deal = known_options(options, "deal").get("deal")
        self.table.reset(ONE, None if deal is None else [deal])
        self._playing = True
        self._told = ""
        self._show()
        return self.table.observations[0].copy(), self._info()

    def step(
        self, action: int | np.integer[Any]
    ) -> tuple[Observations, float, bool, bool, dict[str, Any]]:
        """Do the learner's action and let the opponents play. Raises OptionError before `reset`."""
        table = self.table
        if not self._playing:
            raise OptionError("step: the episode is over or was not begun; call reset().")
        self._action[0] = self._checked(action)
        told = self._renderer.words_of(self.game, action) if self._renderer.draws else ""
        with table.all_or_nothing():
            table.step(self._action)
        self._told = told
        terminated, truncated = bool(table.terminated[0]), bool(table.truncated[0])
        self._playing = not (terminated or truncated)
        info = self._info() if self._playing else {**self._info(), **table.infos(ONE)[0]}
        self._show()
        return table.observations[0].copy(), float(table.rewards[0]), terminated, truncated, info

    def _checked(self, action: int | np.integer[Any]) -> int:
        """The action's id, or -1 for one that is none; IllegalActionError if it is to be raised."""
        try:
            number = action_id(action)
        except IllegalActionError:
            if self.illegal_action == "raise":
                raise
            return -1
        if self.illegal_action == "raise" and not self.table.batch.masks[0, number]:
            self.game.apply(number)  # an independent copy, and it refuses
        return number

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Legal actions: shape (73,), bool; all ones when the episode is over."""
        if not self._playing:
            return np.ones(NUM_ACTIONS, np.bool_)
        masks: npt.NDArray[np.bool_] = self.table.batch.masks[0].astype(np.bool_)
        return masks

    def _info(self) -> dict[str, Any]:
        return {
            "action_mask": self.action_masks().astype(np.int8),
            "seat": int(self.table.seats[0]),
        }

    @property
    def game(self) -> Game:
        """The game as it stands, as an independent `Game` (the whole truth; it has no record)."""
        return Game.of(self.table.batch)

    def render(self) -> Frame | None:
        """The board as the learner sees it, as the render mode says.

        `ansi`: text. `rgb_array`: pixels, shape (height, width, 3), uint8. `human`: None, and a window
        shows it; `reset` and `step` call it. None without a render mode.
        """
        if self.render_mode is None:
            gym.logger.warn("render() was called without a render_mode; make the env with one.")
            return None
        return self._renderer.frame(self.game, int(self.table.seats[0]), self._told)

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def close(self) -> None:
        """Close the window, if there is one; the environment can still be used."""
        self._renderer.close()
