"""The game for Ray RLlib: a `MultiAgentEnv` in which whoever decides is asked, and all are paid.

    config = PPOConfig().environment(GardieniiMultiAgentEnv, env_config={"num_players": 3})

It is a shell over the AEC environment: one seed gives the same game as everywhere else. An algorithm
needs a module that heeds the action mask, such as `training.rllib.module.MaskedModule`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from gardienii_env.agents import STREAM, Agent, make_agent
from gardienii_env.envs.aec import GardieniiEnv
from gardienii_env.envs.learner import ILLEGAL_REWARD
from gardienii_env.envs.single import check_illegal_action
from gardienii_env.errors import (
    DealError,
    IllegalActionError,
    MissingExtraError,
    OptionError,
    one_of,
    shown,
)
from gardienii_env.render.modes import Frame
from gardienii_env.rules.actions import NUM_ACTIONS
from gardienii_env.rules.random import check_seed, seed_streams

try:
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
except ImportError as error:
    raise MissingExtraError("gardienii_env.envs.rllib", "rllib") from error

__all__ = ["OPTIONS", "GardieniiMultiAgentEnv"]

OPTIONS = (
    *("num_players", "ruleset", "view", "reward", "agents", "illegal_action"),
    *("render_mode", "render_size", "render_language"),
)
"""What an `env_config` may have."""

DEALS_TRIED = 1000
GAME = np.zeros(1, np.int64)
"""The only game, as an index."""

Numbers = dict[str, float]
Observations = dict[str, dict[str, npt.NDArray[Any]]]
Infos = dict[str, dict[str, Any]]


class GardieniiMultiAgentEnv(MultiAgentEnv):
    """See the module. The agents are `player_0` (seat 0, who starts) and so on.

    Args:
        config: the `env_config`, with any of `num_players` (2 to 4), `ruleset`, `view`, `reward`
            (`payoff`, `margin`, `points`), `render_mode`, `render_size` and `render_language`, as for
            `gardienii_v0.raw_env`; and `agents`: names of this package's agents, each with how likely
            it is to have a seat: `{"greedy": 0.25, "planner": 0.25}`. One seat, drawn for each game, is
            always left to RLlib. Whoever has such an agent at its seat is not in the game for RLlib.
            And `illegal_action`: `terminate` (who did it is paid -1, the others nothing, and the episode
            is over) or `raise` (IllegalActionError, and nothing changes).

    The dicts that `step` and `reset` return have the agent that decides: `observations`, float32 in
    [0, 1], shape (layout size,), and `action_mask`, int8, shape (73,), 1 where legal. When the game is
    over they have all of RLlib's agents, also those that did not decide last, each with its reward;
    masks are all ones then. Every step pays all of them, 0 where there is nothing to pay.

    A game that the turn limit stopped is terminated, not truncated: it is scored like any other, and
    nothing is to be estimated on top. `info["end"]` tells. Infos are those of the AEC environment, and
    at the start `seat`, and `agents`: the names of those that play a seat, by player.

    Raises OptionError, RulesetError or AgentError, with the value at fault; `step` raises
    IllegalActionError for another agent's action, and once the episode is over.
    """

    metadata: dict[str, Any] = GardieniiEnv.metadata

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        given = dict(config or {})
        for key in given:
            if key not in OPTIONS:
                raise OptionError(one_of("env_config: the key", key, OPTIONS))
        self._drawn, self._chances = _agents(given.pop("agents", {}))
        self._illegal_action = check_illegal_action(given.pop("illegal_action", "terminate"))
        self._spoiled = False  # whether an illegal action has ended the episode
        self._env = GardieniiEnv(**given)
        for agent in self._drawn:
            agent.check(self._env.ruleset, self._env.num_players)
        self.render_mode = self._env.render_mode
        self.possible_agents = self._env.possible_agents[:]
        self.agents = self.possible_agents[:]
        space = _space(self._env.observation_space("player_0"))
        self.observation_spaces = dict.fromkeys(self.possible_agents, space)
        self.action_spaces = {agent: self._env.action_space(agent) for agent in self.possible_agents}
        self._seated: dict[str, Agent] = {}
        self._seed(None)

    def _seed(self, seed: int | None) -> None:
        """Start the generators of who sits where, and of these agents."""
        streams = seed_streams(seed, 3)  # the first one deals
        self._rng = np.random.default_rng(streams[1])
        self._streams = streams[2:].view(STREAM)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, Infos]:
        """Begin a game; see the AEC environment's `reset` for the arguments.

        DealError if the game is over before one of RLlib's agents decides.
        """
        if check_seed(seed) is not None:
            self._seed(seed)
        for attempt in range(DEALS_TRIED):
            self._env.reset(None if attempt else seed, options)
            self._spoiled = False
            self._sit()
            self._play_on()
            if not self._env.game.is_over:
                break
        else:
            raise DealError("The game is over before an agent of RLlib decides; use another ruleset.")
        agent = self._env.agent_selection
        names = {name: other.name for name, other in self._seated.items()}
        info = {"seat": self.possible_agents.index(agent), "agents": names}
        return self._observe([agent]), {agent: info}

    def _sit(self) -> None:
        """Draw who has the seats."""
        self._seated = {}
        learner = int(self._rng.integers(len(self.possible_agents)))
        drawn = self._rng.random(len(self.possible_agents))
        for seat, name in enumerate(self.possible_agents):
            which = int(np.searchsorted(self._chances, drawn[seat], side="right"))
            if seat != learner and which < len(self._drawn):
                self._seated[name] = self._drawn[which]
        self.agents = [name for name in self.possible_agents if name not in self._seated]

    def step(
        self, action_dict: Mapping[str, Any]
    ) -> tuple[Observations, Numbers, dict[str, bool], dict[str, bool], Infos]:
        """Do the action of the agent that decides, `{agent: action}`, and what follows by itself."""
        decides = self._env.agent_selection
        if self._spoiled or self._env.game.is_over:
            raise IllegalActionError("The episode is over; call reset().")
        if list(action_dict) != [decides]:
            raise IllegalActionError(
                f"{decides} decides, no one else: expected its action alone, not {shown(action_dict)}."
            )
        try:
            paid = self._act(int(action_dict[decides]))
        except IllegalActionError:
            if self._illegal_action == "raise":
                raise
            return self._spoil(decides)
        for agent, reward in self._play_on().items():
            paid[agent] += reward
        over = self._env.game.is_over
        shown_to = self.agents if over else [self._env.agent_selection]
        rewards = {agent: paid[agent] for agent in self.agents}
        infos = {agent: self._env.infos[agent] for agent in shown_to}
        ended = {**dict.fromkeys(self.agents if over else [], True), "__all__": over}
        return self._observe(shown_to), rewards, ended, {"__all__": False}, infos

    def _spoil(
        self, guilty: str
    ) -> tuple[Observations, Numbers, dict[str, bool], dict[str, bool], Infos]:
        """End the episode because of an illegal action."""
        self._spoiled = True
        rewards = {**dict.fromkeys(self.agents, 0.0), guilty: ILLEGAL_REWARD}
        ended = dict.fromkeys([*self.agents, "__all__"], True)
        infos = {agent: {"illegal_action": agent == guilty} for agent in self.agents}
        return self._observe(self.agents), rewards, ended, {"__all__": False}, infos

    def _act(self, action: int) -> Numbers:
        """Do an action; returns what each player is paid for it."""
        paid_at_end_only = dict.fromkeys(self.possible_agents, 0.0)
        before = self._env.rewards
        self._env.step(action)
        return dict(self._env.rewards) if self._env.rewards is not before else paid_at_end_only

    def _play_on(self) -> Numbers:
        """Let the agents at the seats play until one of RLlib's decides; returns what all were paid."""
        paid = dict.fromkeys(self.possible_agents, 0.0)
        game = self._env.game
        while not game.is_over and self._env.agent_selection in self._seated:
            agent = self._seated[self._env.agent_selection]
            (action,) = agent.decide(game.batch, GAME, self._streams).tolist()
            for player, reward in self._act(action).items():
                paid[player] += reward
        return paid

    def _observe(self, agents: list[str]) -> Observations:
        """What these agents see."""
        seen: Observations = {}
        for agent in agents:
            given = self._env.observe(agent)
            mask = given["action_mask"]
            if self._env.game.is_over or self._spoiled:
                mask = np.ones(NUM_ACTIONS, np.int8)
            seen[agent] = {"observations": given["observation"], "action_mask": mask}
        return seen

    def render(self) -> Frame | None:
        """The board, as the render mode says; see the AEC environment."""
        return self._env.render()

    def close(self) -> None:
        """Close the window, if there is one."""
        self._env.close()


def _agents(wanted: object) -> tuple[list[Agent], npt.NDArray[np.float64]]:
    """Agents by their names, and the bounds by which a number from 0 to 1 draws one of them."""
    if not isinstance(wanted, Mapping):
        raise OptionError(f"agents: {shown(wanted)} is no dict of names and how likely each is.")
    try:
        chances = np.array([*wanted.values()], np.float64)
    except (TypeError, ValueError):
        chances = np.array([np.nan])
    if not (np.isfinite(chances).all() and (chances >= 0).all() and chances.sum() <= 1 + 1e-9):
        raise OptionError(
            f"agents: {shown(dict(wanted))}: give numbers from 0 up that sum to 1 at most."
        )
    return [make_agent(name) for name in wanted], chances.cumsum()


def _space(space: spaces.Space[Any]) -> spaces.Dict:
    """The space of an AEC environment's observations, by the name that RLlib's modules want."""
    assert isinstance(space, spaces.Dict)
    return spaces.Dict({"action_mask": space["action_mask"], "observations": space["observation"]})
