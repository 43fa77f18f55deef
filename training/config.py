"""Training configurations: YAML files, checked when they are read.

The classes below are the schema: every key with its type, range and default. An unknown key or a
wrong value is refused with its name and its alternatives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gardienii_env.agents import make_agent, make_agents
from gardienii_env.agents.planner import PlannerAgent
from gardienii_env.envs.features import Features, check_units
from gardienii_env.errors import GardieniiError, OptionError, one_of, shown
from gardienii_env.observation import View
from gardienii_env.rules.ruleset import Ruleset

__all__ = ["Config", "Section", "load_config"]

Count = Annotated[int, Field(ge=1, strict=True)]
Whole = Annotated[int, Field(ge=0, strict=True)]
Share = Annotated[float, Field(ge=0, le=1)]
Rate = Annotated[float, Field(gt=0)]
TrainingReward = Literal["payoff", "margin", "lead", "points"]
"""Those of the environments (points / 50), and `lead`: the margin, paid whenever it changes."""

Weight = Annotated[float, Field(ge=0)]
Backend = Literal["sb3", "rllib"]


class Section(BaseModel):
    """A part of a configuration: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class PayoffConfig(Section):
    """How much of the reward is the payoff in place of `env.reward`: a share that changes in a line.

    It is `first` up to `start`, a share of the training, and `last` from `end` on.
    """

    first: Share = 0.0
    last: Share = 0.0
    start: Share = 0.0
    end: Share = 1.0

    def at(self, progress: float) -> float:
        """The payoff's share when a share `progress` of the training is done."""
        if progress >= self.end:
            return self.last
        done = max(progress - self.start, 0.0) / (self.end - self.start)
        return self.first + (self.last - self.first) * done


class EnvConfig(Section):
    """The games to train on."""

    num_players: Annotated[int, Field(ge=2, le=4, strict=True)] = 2
    ruleset: str = "gardienii"  # a shipped name or a file
    view: View = "table"
    reward: TrainingReward = "lead"
    payoff: PayoffConfig = PayoffConfig()
    opponents: str = "greedy"  # names of agents, with commas; one for all. Not used in self-play
    num_envs: Count = 256  # games side by side


class NetworkConfig(Section):
    """Policy and value network: two towers."""

    hidden: Annotated[tuple[Count, ...], Field(min_length=1)] = (256, 256)  # `cards`: multiples of 4
    value_hidden: Annotated[tuple[Count, ...], Field(min_length=1)] | None = None  # None: as `hidden`
    activation: Literal["tanh", "relu"] = "tanh"
    features: Features = "standardized"  # `raw` observations; brought to one size; or `cards`: and with
    # what the own hand has enough cards for, in networks that rate cards wherever they lie
    prior: Literal["planner"] | None = None  # `planner`: the network sees what planner thinks of each
    # action, and its logits are added to that; for features `cards`


class SelfPlayConfig(Section):
    """Who plays against the learner, drawn anew for each game and seat: weights, 0 for nobody.

    Where all weights are 0 there is no self-play, and `env.opponents` play.
    """

    latest: Weight = 0.0  # the policy as it was at the last update
    past: Weight = 0.0  # snapshots in play, drawn from the pool
    agents: dict[str, Weight] = {}  # others, by name
    snapshot_every: Count = 10  # updates between snapshots
    pool_size: Count = 32  # snapshots that are kept
    in_play: Count = 3  # of the pool at a time
    redraw_every: Count = 5  # updates between draws from the pool
    power: Weight = 1.0  # a snapshot is drawn by (1 - learner's win share against it) ** power
    memory: Count = 300  # games that a win share looks back, about

    @property
    def wanted(self) -> bool:
        """Whether there is self-play."""
        return self.latest > 0 or self.past > 0 or any(self.agents.values())


class ImitationConfig(Section):
    """A warm start: the policy learns to do as an agent does, the value how its games end.

    The decisions come in rounds, of which each is learned from before the next one is played. With a
    `temperature`, which only `planner` allows, the policy does not learn the choice alone but what the
    agent thinks of every action: how likely it is shall go with exp(worth in points / temperature).
    """

    agent: str = "greedy"
    decisions: Whole = 400_000  # 0: no warm start
    rounds: Count = 1
    temperature: Weight = 0.0  # points; see below
    own_games: Share = 0.0  # of games in which the policy plays and the agent says what it would do
    epochs: Count = 4  # of each round
    batch_size: Count = 2048
    learning_rate: Rate = 1e-3  # falls in a straight line


class PPOConfig(Section):
    """MaskablePPO's parameters, under the names that sb3-contrib gives them."""

    decisions: Whole = 1_000_000  # the learner's, in all; rounded up to whole rollouts
    n_steps: Count = 64
    batch_size: Count = 2048
    n_epochs: Count = 4
    learning_rate: Rate = 3e-4  # falls in a straight line
    value_warmup: Whole = 0  # updates at the start in which the policy stays as it is
    target_kl: Annotated[float, Field(gt=0)] | None = None
    average: Annotated[float, Field(ge=0, lt=1)] = (
        0.0  # the policy that is evaluated and exported has the
    )
    # mean of the weights over the updates, of which so much stays at each; 0: the weights as they are
    ent_coef: Annotated[float, Field(ge=0)] = 0.002
    vf_coef: Annotated[float, Field(ge=0)] = 0.5
    gamma: Share = 1.0
    gae_lambda: Share = 0.95
    clip_range: Rate = 0.2
    max_grad_norm: Rate = 0.5


class EvaluationConfig(Section):
    """Matches against baselines: each deal is played from every seat."""

    baselines: Annotated[tuple[str, ...], Field(min_length=1)] = ("random", "greedy")
    deals: Count = 1000  # of the table at the end
    every: Whole = 0  # updates between evaluations while it learns; 0: none
    every_deals: Count = 200  # of those
    seed: Whole = 1_000_000  # of the first deal; training uses others


class CheckpointConfig(Section):
    """What a run that was killed goes on from."""

    every: Count = 50  # updates
    keep: Annotated[int, Field(ge=2, strict=True)] = 2


class Config(Section):
    """A whole training run."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    backend: Backend = "sb3"  # what learns: stable-baselines3, or RLlib (see training/rllib/config.py)
    folder: str = "runs"  # where run folders are made
    seed: Annotated[int, Field(ge=0, lt=2**32, strict=True)] = 0
    threads: Count = 2  # of torch and of the games; the games do not depend on it
    start_from: str | None = None  # model.zip of a run with the same network, in place of the warm start
    env: EnvConfig = EnvConfig()
    network: NetworkConfig = NetworkConfig()
    selfplay: SelfPlayConfig = SelfPlayConfig()
    imitation: ImitationConfig = ImitationConfig()
    ppo: PPOConfig = PPOConfig()
    evaluation: EvaluationConfig = EvaluationConfig()
    checkpoint: CheckpointConfig = CheckpointConfig()

    def check(self) -> None:
        """OptionError where settings do not go together that the schema alone cannot refuse."""
        _check_batches(self)
        if self.env.payoff.start >= self.env.payoff.end:
            raise OptionError(
                f"env.payoff: start {self.env.payoff.start} is not before end {self.env.payoff.end}."
            )

    @property
    def rollout_decisions(self) -> int:
        """The decisions that PPO learns from at a time."""
        return self.env.num_envs * self.ppo.n_steps

    @property
    def rollouts(self) -> int:
        """How many times PPO learns: as often as it takes for `ppo.decisions`."""
        return ceil(self.ppo.decisions / self.rollout_decisions)


def load_config(path: str | Path, overrides: Sequence[str] = ()) -> Config:
    """Read a configuration and change it by `key=value` texts (`ppo.n_steps=32`).

    Raises OptionError for a file that cannot be read, a key that is not known (with the ones that
    are) or a value that does not fit; a ruleset or an agent that there is not is one of those.
    """
    try:
        data = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise OptionError(f"The configuration {path} cannot be read: {error.strerror}.") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise OptionError(f"The configuration {path} is not valid YAML: {reason}.") from None
    if not isinstance(data, dict):
        raise OptionError(f"The configuration {path} is not a mapping of keys to values.")
    for override in overrides:
        _override(data, override)
    schema = _schema(data)
    try:
        config = schema.model_validate(data)
    except ValidationError as error:
        raise OptionError(" ".join(_sentence(schema, fault) for fault in error.errors())) from None
    config.check()
    _check_names(config)
    wanted = config.imitation.decisions and config.start_from is None
    if wanted and config.imitation.temperature and config.imitation.agent != PlannerAgent.name:
        raise OptionError(
            f"imitation.temperature: {config.imitation.agent!r} tells its choice alone; set it to 0, or "
            f"imitation.agent to {PlannerAgent.name!r}."
        )
    return config


def _schema(data: Mapping[str, Any]) -> type[Config]:
    """The class that a configuration is read by: its backend has more keys, or it has not."""
    if data.get("backend") != "rllib":
        return Config
    from training.rllib.config import RLlibConfig

    return RLlibConfig


def _check_batches(config: Config) -> None:
    size, rollout = config.ppo.batch_size, config.rollout_decisions
    if size > rollout:
        raise OptionError(f"ppo.batch_size: {size} is more than the {rollout} decisions of a rollout.")
    if size == 1 or rollout % size == 1:  # PPO divides by the spread of a batch
        raise OptionError(
            f"ppo.batch_size: {size} makes a batch of a single decision out of the {rollout} of a "
            "rollout."
        )


def _check_names(config: Config) -> None:
    env = config.env
    _check_name("env.ruleset", Ruleset.get, env.ruleset)
    _check_name("env.opponents", make_agents, env.opponents, env.num_players - 1)
    _check_name("imitation.agent", make_agent, config.imitation.agent)
    if config.network.prior and config.network.features != "cards":
        raise OptionError(
            f"network.prior: it goes with network.features=cards alone, not {config.network.features!r}."
        )
    if config.network.features == "cards":
        for key in ("hidden", "value_hidden"):
            for units in getattr(config.network, key) or ():
                _check_name(f"network.{key}", check_units, units)
    for name in config.selfplay.agents:
        _check_name("selfplay.agents", make_agent, name)
    for baseline in config.evaluation.baselines:
        _check_name("evaluation.baselines", make_agent, baseline)


def _check_name(key: str, make: Callable[..., object], *arguments: object) -> None:
    """Refuse a name of which nothing can be made."""
    try:
        make(*arguments)
    except GardieniiError as error:
        raise OptionError(f"{key}: {error}") from None


def _override(data: dict[str, Any], override: str) -> None:
    key, equals, text = override.partition("=")
    if not equals or not key:
        raise OptionError(f"{override!r} is not of the form key=value, like ppo.n_steps=32.")
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        raise OptionError(f"{key}: {text!r} is not a value that YAML can read.") from None
    *sections, name = key.split(".")
    for section in sections:
        data = data.setdefault(section, {})
        if not isinstance(data, dict):
            raise OptionError(f"{key}: {section!r} is not a section.")
    data[name] = value


def _sentence(schema: type[Config], fault: Any) -> str:
    """A fault that pydantic found, in one sentence."""
    key = ".".join(str(part) for part in fault["loc"])
    if fault["type"] == "extra_forbidden":
        *sections, name = fault["loc"]
        return f"{key}: " + one_of("the key", name, _keys(schema, sections))
    if fault["type"] == "missing":
        return f"{key}: missing; a configuration gives it."
    if fault["type"] == "tuple_type":
        return f"{key}: {shown(fault['input'])} is not a list, like [{shown(fault['input'])}]."
    return f"{key}: {shown(fault['input'])} does not fit: {fault['msg']}."


def _keys(schema: type[BaseModel], sections: Sequence[Any]) -> list[str]:
    """The keys of a section."""
    model = schema
    for section in sections:
        annotation = model.model_fields[section].annotation
        assert isinstance(annotation, type)
        assert issubclass(annotation, BaseModel)
        model = annotation
    return list(model.model_fields)
