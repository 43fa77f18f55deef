"""Agents from outside: `sb3:FILE.zip`, a saved model, and `python:MODULE:ATTRIBUTE`, a user's own code.

stable-baselines3 (extra `sb3`) is imported only when a model is loaded. What a user's function is shown
of a game has been drawn anew from what its seat knows, so that it cannot look at hidden cards.
"""

from __future__ import annotations

import inspect
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gardienii_env.agents.base import Agent
from gardienii_env.agents.network import best_legal
from gardienii_env.agents.prior import observe, observed_size
from gardienii_env.errors import (
    AgentError,
    Ended,
    MissingExtraError,
    shown,
)
from gardienii_env.game import Game
from gardienii_env.observation import VIEWS, View
from gardienii_env.rules.actions import NUM_ACTIONS, action_id
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.hidden import forget
from gardienii_env.rules.random import draw, seed_streams
from gardienii_env.rules.ruleset import MAX_PLAYERS, MIN_PLAYERS, Ruleset

__all__ = ["FunctionAgent", "PolicyAgent", "import_agent", "load_sb3", "module_file"]

PACKAGE_FOLDER = str(Path(__file__).parents[1])
MAX_REASON = 300

Function = Callable[[Game, np.random.Generator], Any]
"""What a user writes: it gets a game and a generator, and gives the name or the id of an action."""


# -- models of stable-baselines3 -------------------------------------------------------------------


class PolicyAgent(Agent):
    """Takes the legal action that a policy of stable-baselines3 or sb3-contrib finds best.

    The policy may be one of MaskablePPO, PPO, A2C (the highest logit is best) or DQN (the highest
    value). The number of players, the view and whether it sees planner's prior (`agents.prior`) follow
    from the length of its observations. It is deterministic. AgentError if it was not trained on
    observations and actions of this game.
    """

    def __init__(self, policy: Any, name: str = "policy") -> None:
        self.policy, self.name = policy, name
        self.num_players, self.view, self.prior = _trained_for(policy, name)

    def check(self, ruleset: Ruleset, num_players: int) -> None:
        """AgentError unless the policy is for this number of players; no ruleset is known of it."""
        if num_players != self.num_players:
            raise AgentError(
                f"{self.name} was trained on observations of {self.num_players} players (view "
                f"{self.view!r}), and this game has {num_players}."
            )

    def act(
        self, batch: Batch, games: npt.NDArray[np.int64], streams: npt.NDArray[np.void]
    ) -> npt.NDArray[np.int64]:
        """See `Agent.act`."""
        self.check(batch.ruleset, batch.num_players)
        observations = observe(batch, games, self.view, self.prior)
        return best_legal(self.name, self._scores, observations, batch.masks[games])

    def _scores(self, observations: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """How good each action is: logits, or the values of a DQN."""
        import torch

        self.policy.set_training_mode(False)
        with _blamed(self.name), torch.no_grad(), _one_thread():
            tensor, _ = self.policy.obs_to_tensor(observations)
            if hasattr(self.policy, "q_net"):
                scores = self.policy.q_net(tensor)
            else:
                scores = self.policy.get_distribution(tensor).distribution.logits
        result: npt.NDArray[np.float32] = scores.cpu().numpy()
        return result


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let torch work in this thread alone: the same sums everywhere, and no threads that wait."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _trained_for(policy: Any, name: str) -> tuple[int, View, bool]:
    """The number of players and the view on whose observations a policy was trained; with a prior?"""
    seen, actions = policy.observation_space, policy.action_space
    if getattr(actions, "n", None) != NUM_ACTIONS:
        raise AgentError(
            f"{name} was trained to choose from {shown(actions)}, not from the {NUM_ACTIONS} actions of "
            "this game."
        )
    if seen.dtype == np.float32:
        for num_players in range(MIN_PLAYERS, MAX_PLAYERS + 1):
            for view, prior in product(VIEWS, (False, True)):
                if seen.shape == (observed_size(num_players, view, prior),):
                    return num_players, view, prior
    raise AgentError(
        f"{name} was trained on observations of shape {seen.shape} and type {seen.dtype}; no number of "
        "players and no view of this game give float32 of that length."
    )


def load_sb3(path: str) -> PolicyAgent:
    """The agent of a model that stable-baselines3 or sb3-contrib saved.

    It runs code that is in the file: load only what you trust. AgentError if there is no such file, or
    no such model in it; MissingExtraError without the libraries.
    """
    name = f"sb3:{path}"
    if not Path(path).is_file():
        raise AgentError(f"{name}: there is no file {str(Path(path).absolute())!r}.")
    try:
        from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
        from sb3_contrib.common.recurrent.policies import RecurrentActorCriticPolicy
        from stable_baselines3.common.policies import ActorCriticPolicy
        from stable_baselines3.common.save_util import load_from_zip_file
        from stable_baselines3.dqn.policies import DQNPolicy
    except ImportError as error:
        raise MissingExtraError(name, "sb3") from error
    known = (MaskableActorCriticPolicy, ActorCriticPolicy, DQNPolicy)
    try:
        data, parameters, _ = load_from_zip_file(path, device="cpu")
        if data is None:
            raise ValueError("it holds no model")
        policy_class = data["policy_class"]
        fits = issubclass(policy_class, known) and not issubclass(
            policy_class, RecurrentActorCriticPolicy
        )
        if fits:
            spaces = data["observation_space"], data["action_space"]
            policy = policy_class(*spaces, lambda _: 0.0, **data["policy_kwargs"])
            policy.load_state_dict(parameters["policy"])
    except Exception as error:  # a file may hold anything
        raise AgentError(
            f"{name} is not a model that stable-baselines3 can load: {_described(error)}."
        ) from error
    if not fits:
        raise AgentError(
            f"{name} has a {policy_class.__name__}; expected a model of MaskablePPO, PPO, A2C or DQN."
        )
    return PolicyAgent(policy, name)


# -- code of users ---------------------------------------------------------------------------------


def import_agent(place: str) -> Agent:
    """The agent at `MODULE:ATTRIBUTE`; the module may be a file in the current folder.

    The attribute is a function as `FunctionAgent` takes, a subclass of Agent that is made without
    arguments, or an Agent object. AgentError if there is none such.
    """
    name = f"python:{place}"
    module, _, attribute = place.partition(":")
    if not module or not attribute.isidentifier():
        raise AgentError(f"{name} is not of the form python:MODULE:ATTRIBUTE, like python:mine:f.")
    found = _import(name, module)
    try:
        value = getattr(found, attribute)
    except AttributeError:
        where = getattr(found, "__file__", None) or module
        raise AgentError(f"{name}: there is no {attribute!r} in {where}.") from None
    if isinstance(value, type) and issubclass(value, Agent):
        with _blamed(name):
            value = value()
    if isinstance(value, Agent):
        return _UsersAgent(value, name)
    if isinstance(value, type) or not callable(value):
        raise AgentError(
            f"{name} is {shown(value)}; expected a function f(game, rng), an Agent subclass or an Agent "
            "object."
        )
    return FunctionAgent(value, name)


def module_file(module: str) -> Path | None:
    """The file of a module as `import_agent` finds it; None if it has none, or there is no module."""
    _search_here()
    try:
        found = find_spec(module)
    except Exception:  # a package's own code is run to find what is in it
        return None
    return Path(found.origin) if found is not None and found.has_location and found.origin else None


def _search_here() -> None:
    """Let modules of the current folder be found, and first, as Python does for scripts."""
    if not {"", os.getcwd()} & set(sys.path):
        sys.path.insert(0, os.getcwd())


def _import(name: str, module: str) -> Any:
    """A module, also one in the current folder."""
    _search_here()
    try:
        with _blamed(name):
            return import_module(module)
    except AgentError as error:
        cause = error.__cause__
        if isinstance(cause, ModuleNotFoundError) and f"{module}.".startswith(f"{cause.name}."):
            hint = f" Leave out '.py': python:{module[:-3]}:..." if module.endswith(".py") else ""
            raise AgentError(
                f"{name}: there is no module {module!r}, neither installed nor in {os.getcwd()}.{hint}"
            ) from None
        raise


class FunctionAgent(Agent):
    """Asks a function `f(game, rng)` for each decision; it gives the name or the id of a legal action.

    `game` is a `Game` in which all that the deciding seat (`game.player`) cannot know has been drawn
    anew, as by `Game.resample`; the function may do with it as it likes. `rng` is a generator of its
    own for each decision. Both follow from the game's stream and from what the seat knows, so a choice
    depends on nothing else, if the function does not keep anything between calls.

    AgentError, with the original as its cause, if the function raises something; AgentError if it gives
    anything but a legal action.
    """

    def __init__(self, function: Function, name: str = "function") -> None:
        self.function, self.name = function, name
        try:
            inspect.signature(function).bind(None, None)
        except TypeError:
            raise AgentError(f"{name}: it is not a function of two arguments, f(game, rng).") from None
        except ValueError:  # not written in Python: it will be seen when it is called
            pass

    def act(
        self, batch: Batch, games: npt.NDArray[np.int64], streams: npt.NDArray[np.void]
    ) -> npt.NDArray[np.int64]:
        """See `Agent.act`. Each decision takes one number from its game's stream."""
        return np.array([self._ask(batch, i, streams[i]) for i in games.tolist()], np.int64)

    def _ask(self, batch: Batch, i: int, stream: np.void) -> int:
        seeds = seed_streams(int(draw(stream)), 2).tolist()
        game, rng = _as_known(batch, i, seeds[0]), np.random.default_rng(seeds[1])
        seat, legal = game.player, ", ".join(game.legal_actions())
        with _blamed(self.name, i):
            answer = self.function(game, rng)
        try:
            return action_id(answer)
        except Exception:  # a user's object may answer anything in any way
            raise AgentError(
                f"{self.name} gave {shown(answer)} for seat {seat}; expected the name or the id of a "
                f"legal action: {legal}.",
                i,
            ) from None


class _UsersAgent(Agent):
    """An agent of a user's making, under the name it was written with; its errors name it."""

    def __init__(self, agent: Agent, name: str) -> None:
        self.agent, self.name = agent, name

    def reset(self, seed: int | None = None) -> None:
        """See `Agent.reset`."""
        super().reset(seed)
        with _blamed(self.name):
            self.agent.reset(seed)

    def check(self, ruleset: Ruleset, num_players: int) -> None:
        """See `Agent.check`."""
        with _blamed(self.name):
            self.agent.check(ruleset, num_players)

    def act(
        self, batch: Batch, games: npt.NDArray[np.int64], streams: npt.NDArray[np.void]
    ) -> npt.NDArray[np.int64]:
        """See `Agent.act`."""
        with _blamed(self.name):
            return self.agent.act(batch, games, streams)


@contextmanager
def _blamed(name: str, game: int | None = None) -> Iterator[None]:
    """Turn what a user's code raises into an AgentError that names the agent and the line at fault."""
    try:
        yield
    except Ended:
        raise
    except AgentError as error:
        raise AgentError(f"{name}: {error}", game if error.game is None else error.game) from error
    except (Exception, SystemExit) as error:
        raise AgentError(f"{name} failed: {_described(error)}.", game) from error


def _described(error: BaseException) -> str:
    """An error in words, with the last line outside this package that it came through."""
    try:
        text = " ".join(str(error).split())[:MAX_REASON].rstrip(".")
    except Exception:  # a user's exception may be of any make
        text = ""
    words = f"{type(error).__name__}: {text}" if text else type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    absolute = [f for f in frames if os.path.isabs(f.filename)]  # not <string>, nor Cython
    outside = [f for f in absolute if not f.filename.startswith(PACKAGE_FOLDER)]
    return f"{words} ({outside[-1].filename}, line {outside[-1].lineno})" if outside else words


# -- games as a seat knows them --------------------------------------------------------------------


def _as_known(batch: Batch, i: int, seed: int) -> Game:
    """Game i as an independent copy in which what the deciding seat cannot know is drawn anew.

    Which draw a seed gives does not depend on what is hidden: that is put in order first.
    """
    game = Game.of(batch, i)
    assert game.player is not None
    forget(game.batch.rules, game.batch.states, 0, game.player)
    return game.resample(game.player, seed)
