"""The game as an AEC environment of PettingZoo: a shell over `Game` that knows no rules.

It adds what the interface asks for: agents' names, spaces, rewards, ends and infos. For its use see
`gardienii_v0`, which wraps it the PettingZoo way; agents without the interface use `Game` or a batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo import AECEnv

from gardienii_env.deal import read_deal
from gardienii_env.envs.options import known_options
from gardienii_env.envs.outcome import REWARDS, Reward, final_info, final_rewards, is_truncated
from gardienii_env.errors import IllegalActionError, OptionError, one_of
from gardienii_env.game import Game, RulesetLike
from gardienii_env.observation import View, check_players, layout
from gardienii_env.render.modes import DEFAULT_SIZE, RENDER_MODES, Frame, Renderer
from gardienii_env.rules.actions import NUM_ACTIONS
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.random import check_seed, seed_streams
from gardienii_env.rules.ruleset import SHIPPED, Ruleset

__all__ = ["GardieniiEnv", "Observation"]

Observation = dict[str, npt.NDArray[Any]]
"""`observation` (float32) and `action_mask` (int8)."""


class GardieniiEnv(AECEnv[str, Observation, int | None]):
    """The raw AEC environment: an illegal action raises IllegalActionError and changes nothing.

    Args:
        num_players: 2, 3 or 4; the agents are `player_0` (seat 0, who starts) and so on.
        ruleset: a shipped name, the path of a ruleset file, a dict or a Ruleset.
        view: what observations hold: `table`, or `recall` for a player who forgets nothing.
        reward: `payoff` or `margin`, paid at the end, or `points`, paid as they are earned.
        render_mode: None; `ansi`: `render()` returns the board as text; `rgb_array`: as a picture;
            `human`: every step shows it in a window. All but None need the extra `render`.
        render_size: of the picture and the window: width and height in pixels.
        render_language: of the words on the board: `en`, `de`, `hu` or `ro`.

    Observations are dicts of `observation`, float32 in [0, 1] with shape (layout size,), and
    `action_mask`, int8 with shape (73,): 1 where legal, all 0 for a seat that does not decide. Both
    are new arrays at every call. Actions are ids from 0 to 72, see `gardienii_env.ACTIONS`.

    `infos[agent]` is empty during the game and tells its outcome at the end: `points` by source,
    `score`, `payoff`, `winner`, `end` and `turns`.

    A copy or a pickle, at any moment, goes on with the same game.

    Raises OptionError or RulesetError, with the value at fault.

    Attributes:
        game: the game being played, from the first `reset` on; a new object each time.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  # declared so by PettingZoo
        "name": "gardienii_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": 2,
    }

    game: Game

    def __init__(
        self,
        num_players: int = 2,
        ruleset: RulesetLike = SHIPPED[0],
        view: View = "table",
        reward: Reward = "payoff",
        render_mode: str | None = None,
        render_size: tuple[int, int] = DEFAULT_SIZE,
        render_language: str = "en",
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.num_players = check_players(num_players)
        self.ruleset = Ruleset.get(ruleset)
        size = layout(self.num_players, view).size
        _check("reward", reward, REWARDS)
        fps = self.metadata["render_fps"]
        self._renderer = Renderer(render_mode, render_size, render_language, fps)
        self.view = view
        self.render_mode = render_mode
        self._reward = reward
        self._rng = seed_streams(None, 1)

        self.agents: list[str] = []
        self.possible_agents = [f"player_{seat}" for seat in range(self.num_players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.observation_spaces: dict[str, spaces.Space[Any]] = {
            agent: _observation_space(size) for agent in self.possible_agents
        }
        self.action_spaces: dict[str, spaces.Space[Any]] = {
            agent: spaces.Discrete(NUM_ACTIONS) for agent in self.possible_agents
        }

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of the agent's observations, the same object at every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of the agent's actions, the same object at every call."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a new game.

        Args:
            seed: one seed deals the same game as `Game.new`. None deals the next game of the
                sequence that began with the last seed (or with the operating system's chance).
            options: `{"deal": deal}` deals as in a game record; DealError if that is impossible, and
                the game goes on as it was. Other keys are ignored, with a warning.
        """
        deal = known_options(options, "deal").get("deal")
        batch = Batch(self.ruleset, self.num_players, 1)
        batch.states["rng"] = self._rng if seed is None else seed_streams(seed, 1)
        if deal is None:
            batch.deal(0)
        else:
            read_deal(batch, 0, deal)
        self._rng = batch.states["rng"].copy()
        self.game = Game(batch, check_seed(seed) if deal is None else None)
        self._begin()

    def _begin(self) -> None:
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._paid = [0] * self.num_players  # points, with the reward `points`
        # PettingZoo's own: it is left over from a game whose dead steps were not all made.
        self._skip_agent_selection = None  # type: ignore[assignment]
        self._told = ""
        self._select()
        self._show()

    def observe(self, agent: str) -> Observation:
        """What the agent sees now, in new arrays."""
        game, seat = self.game, self._seats[agent]
        mask = game.legal_mask() if seat == game.player else np.zeros(NUM_ACTIONS, np.int8)
        return {"observation": game.observe(seat, self.view), "action_mask": mask}

    def step(self, action: int | None) -> None:
        """Do the selected agent's action, and all decisions that leave no choice; None once it is dead.

        Raises IllegalActionError, with everything as it was, if the action is not legal.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None:
            raise IllegalActionError(f"{agent} is in the game: expected an action, not None.")
        told = self._renderer.words_of(self.game, action)
        self.game.apply(action)
        self._told = told
        self._cumulative_rewards[agent] = 0.0
        if self._reward == "points":
            self._pay_points()
        if self.game.is_over:
            self._end()
        self._select()
        self._show()

    def _select(self) -> None:
        """Select the agent whose seat decides; when the game is over, the first one."""
        self.agent_selection = self.possible_agents[self.game.player or 0]

    def _pay(self, rewards: Iterable[float]) -> None:
        """Give every agent its reward for this step, if it is not 0 for all, as it was before."""
        self.rewards = dict(zip(self.agents, rewards, strict=True))
        self._accumulate_rewards()

    def _pay_points(self) -> None:
        """Pay what each seat's points have changed by in this step."""
        paid, self._paid = self._paid, self.game.scores()
        self._pay(float(now - before) for now, before in zip(self._paid, paid, strict=True))

    def _end(self) -> None:
        """All agents end at once: truncated by the turn limit, terminated otherwise."""
        batch = self.game.batch
        if self._reward != "points":
            self._pay(final_rewards(batch, 0, self._reward).tolist())
        truncated = is_truncated(batch, 0)
        self.terminations = dict.fromkeys(self.agents, not truncated)
        self.truncations = dict.fromkeys(self.agents, truncated)
        self.infos = {agent: final_info(batch, 0, seat) for seat, agent in enumerate(self.agents)}

    def render(self) -> Frame | None:
        """The board, as the render mode says.

        `ansi`: text, as the selected agent may see it, which decides: it is for the person at the
        keyboard. `rgb_array`: pixels, shape (height, width, 3), uint8, as a spectator may see it, who is
        shown all hands once the game is over. `human`: None, and a window shows what a spectator sees;
        `reset` and `step` call it. Use `gardienii_env.render` for other viewers.
        """
        if self.render_mode is None:
            gymnasium.logger.warn(
                "render() does nothing without a render mode; make the environment with "
                "render_mode='ansi', 'rgb_array' or 'human'."
            )
            return None
        if self.render_mode == "ansi":
            return self._renderer.frame(self.game, self._seats[self.agent_selection])
        return self._renderer.frame(self.game, None, self._told, open_hands=self.game.is_over)

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def close(self) -> None:
        """Close the window, if there is one; the environment can still be used."""
        self._renderer.close()


def _check(option: str, value: object, choices: Sequence[str]) -> None:
    if value not in choices:
        raise OptionError(one_of(f"{option}:", value, choices))


def _observation_space(size: int) -> spaces.Dict:
    return spaces.Dict(
        {
            "observation": spaces.Box(0, 1, (size,), np.float32),
            "action_mask": spaces.Box(0, 1, (NUM_ACTIONS,), np.int8),
        }
    )
