"""Training configurations: what is read, what is refused, and in which words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from gardienii_env import OptionError, Ruleset
from gardienii_env.agents import AGENTS
from training.config import (
    CheckpointConfig,
    Config,
    EnvConfig,
    EvaluationConfig,
    ImitationConfig,
    NetworkConfig,
    PayoffConfig,
    PPOConfig,
    SelfPlayConfig,
    load_config,
)

SHIPPED = sorted((Path(__file__).parents[2] / "configs").glob("*.yaml"))
SECTIONS: dict[str, type[BaseModel]] = {
    "env": EnvConfig,
    "network": NetworkConfig,
    "imitation": ImitationConfig,
    "selfplay": SelfPlayConfig,
    "checkpoint": CheckpointConfig,
    "ppo": PPOConfig,
    "evaluation": EvaluationConfig,
}
LISTS = ("network.hidden", "evaluation.baselines")


def load(folder: Path, text: str = "name: some\n", overrides: Sequence[str] = ()) -> Config:
    path = folder / "some.yaml"
    path.write_text(text, encoding="utf-8")
    return load_config(path, overrides)


def refusal(folder: Path, text: str = "name: some\n", overrides: Sequence[str] = ()) -> str:
    """The message of the refusal, which must be one line."""
    with pytest.raises(OptionError) as caught:
        load(folder, text, overrides)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# -- what is read ----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_configurations(path: Path) -> None:
    assert load_config(path).name == path.stem
    assert load_config(str(path), ["seed=3"]).seed == 3


def test_there_are_shipped_configurations() -> None:
    assert {"quickstart", "tiny"} <= {path.stem for path in SHIPPED}


def test_what_is_left_out_has_its_default(tmp_path: Path) -> None:
    config = load(tmp_path, "name: some\nppo: {n_steps: 32}\n")
    assert config.ppo == PPOConfig(n_steps=32)
    assert config.env == EnvConfig()
    assert config.seed == 0


def test_overrides(tmp_path: Path) -> None:
    overrides = [
        *("seed=5", "ppo.n_steps=32", "ppo.learning_rate=3e-4", "network.hidden=[8, 9]"),
        *("evaluation.baselines=[random]", "name=other-x", "env.view=recall"),
        "seed=6",
    ]
    config = load(tmp_path, "name: some\nppo: {n_steps: 64, gamma: 0.9}\n", overrides)
    assert (config.seed, config.name, config.env.view) == (6, "other-x", "recall")
    assert (config.ppo.n_steps, config.ppo.learning_rate, config.ppo.gamma) == (32, 0.0003, 0.9)
    assert config.network.hidden == (8, 9)
    assert config.evaluation.baselines == ("random",)


def test_a_configuration_written_out_is_the_same_again(tmp_path: Path) -> None:
    config = load(tmp_path, overrides=["network.hidden=[8]", "ppo.learning_rate=1.0e-5", "threads=1"])
    assert load(tmp_path, yaml.safe_dump(config.model_dump(mode="json"))) == config


def test_a_temperature_that_is_not_used_hinders_nothing(tmp_path: Path) -> None:
    overrides = ["imitation.agent=greedy", "imitation.temperature=1.0"]
    for unused in ("imitation.decisions=0", "start_from=model.zip"):
        assert load(tmp_path, overrides=[*overrides, unused]).imitation.agent == "greedy"


def test_a_ruleset_may_be_a_file(tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    own = Ruleset.get("gardienii").replace(name="own")
    path.write_text(json.dumps(own.to_dict()), encoding="utf-8")
    config = load(tmp_path, overrides=[f"env.ruleset={path}"])
    assert Ruleset.get(config.env.ruleset) == own


@pytest.mark.parametrize(("decisions", "rollouts"), [(0, 0), (1, 1), (512, 1), (513, 2), (1024, 2)])
def test_whole_rollouts(tmp_path: Path, decisions: int, rollouts: int) -> None:
    overrides = [f"ppo.decisions={decisions}", "env.num_envs=16", "ppo.n_steps=32", "ppo.batch_size=512"]
    config = load(tmp_path, overrides=overrides)
    assert config.rollout_decisions == 512
    assert config.rollouts == rollouts


# -- keys ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("section", SECTIONS)
def test_an_unknown_key_of_a_section(tmp_path: Path, section: str) -> None:
    keys = list(SECTIONS[section].model_fields)
    wrong = keys[0] + "x"
    for message in (
        refusal(tmp_path, f"name: some\n{section}: {{{wrong}: 1}}\n"),
        refusal(tmp_path, overrides=[f"{section}.{wrong}=1"]),
    ):
        assert message.startswith(f"{section}.{wrong}: ")
        assert all(key in message for key in keys)
        assert f"Did you mean {keys[0]!r}?" in message


def test_an_unknown_key_at_the_top(tmp_path: Path) -> None:
    message = refusal(tmp_path, "name: some\npppo: {n_steps: 3}\n")
    assert message.startswith("pppo: ")
    assert all(key in message for key in Config.model_fields)
    assert "Did you mean 'ppo'?" in message


@pytest.mark.parametrize("key", [7, True, None])
def test_a_key_that_is_no_text(tmp_path: Path, key: Any) -> None:
    message = refusal(tmp_path, yaml.safe_dump({"name": "some", key: 1}))
    assert str(key) in message


def test_the_name_is_asked_for(tmp_path: Path) -> None:
    assert refusal(tmp_path, "seed: 1\n").startswith("name: missing")


def test_several_faults_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(OptionError) as caught:
        load(tmp_path, overrides=["seed=-1", "env.view=all", "ppo.steps=3"])
    for key in ("env.view: ", "ppo.steps: ", "seed: "):
        assert key in str(caught.value)


# -- values ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("name", "a/b"),
        ("name", ""),
        ("name", 5),
        ("seed", -1),
        ("seed", 2**32),
        ("seed", 1.5),
        ("seed", True),
        ("seed", "1"),
        ("seed", None),
        ("threads", 0),
        ("folder", 5),
        ("env", 5),
        ("env", None),
        ("env", [1]),
        ("env.num_players", 1),
        ("env.num_players", 5),
        ("env.num_envs", 0),
        ("env.num_envs", 2.5),
        ("env.view", "all"),
        ("env.reward", "money"),
        ("env.payoff.first", 1.5),
        ("selfplay.latest", -1),
        ("selfplay.in_play", 0),
        ("selfplay.agents", [1]),
        ("selfplay.agents", {"greedy": -1}),
        ("imitation.rounds", 0),
        ("imitation.own_games", 2),
        ("ppo.target_kl", 0),
        ("checkpoint.every", 0),
        ("checkpoint.keep", 1),
        ("evaluation.every", -1),
        ("env.ruleset", 5),
        ("env.opponents", 5),
        ("network.hidden", []),
        ("network.hidden", 32),
        ("network.hidden", [8, 0]),
        ("network.activation", "swish"),
        ("imitation.decisions", -1),
        ("imitation.learning_rate", 0),
        ("imitation.epochs", 0),
        ("ppo.decisions", -1),
        ("ppo.gamma", 1.1),
        ("ppo.gae_lambda", -0.1),
        ("ppo.learning_rate", "fast"),
        ("ppo.learning_rate", float("inf")),
        ("ppo.ent_coef", -1),
        ("ppo.clip_range", 0),
        ("evaluation.deals", 0),
        ("evaluation.seed", -1),
        ("evaluation.baselines", []),
        ("evaluation.baselines", "random"),
    ],
)
def test_a_wrong_value_is_named_with_its_key(tmp_path: Path, key: str, value: Any) -> None:
    fault = "does not fit" if isinstance(value, list) or key not in LISTS else "is not a list"
    given: Any = value
    for name in reversed(key.split(".")):
        given = {name: given}
    for message in (
        refusal(tmp_path, yaml.safe_dump({"name": "some", **given})),
        refusal(tmp_path, overrides=[f"{key}={yaml.safe_dump(value, default_flow_style=True)}"]),
    ):
        assert message.startswith(key)
        assert fault in message
        inner = {str([8, 0]): 0, str({"greedy": -1}): -1}.get(str(value), value)
        assert repr(inner) in message


@pytest.mark.parametrize(
    ("key", "value", "fault"),
    [
        ("env.ruleset", "gardeni", "'gardienii'"),
        ("env.ruleset", "no/such/file.toml", "no/such/file.toml"),
        ("env.opponents", "gredy", "Did you mean 'greedy'?"),
        ("env.opponents", "random,greedy", "2 agents for 1 seat"),
        ("env.opponents", "", "The agent '' is not known"),
        ("env.opponents", "greedy:5", "takes no argument"),
        ("selfplay.agents", "{gredy: 1}", "Did you mean 'greedy'?"),
        ("imitation.agent", "gredy", "Did you mean 'greedy'?"),
        ("imitation.temperature", "1.0", "'greedy' tells its choice alone"),
        ("imitation.agent", "random,greedy", "'random,greedy' is not known"),
        ("evaluation.baselines", "[random, gredy]", "Did you mean 'greedy'?"),
    ],
)
def test_names_of_what_does_not_exist(tmp_path: Path, key: str, value: str, fault: str) -> None:
    message = refusal(tmp_path, overrides=[f"{key}={value}" if value else f"{key}=''"])
    assert message.startswith(f"{key}: ")
    assert fault in message
    if "Did you mean 'greedy'" in fault:
        assert all(name in message for name in AGENTS)


def test_networks_that_rate_cards_have_as_many_units_for_each_colour(tmp_path: Path) -> None:
    cards = "network.features=cards"
    assert load(tmp_path, overrides=[cards, "network.hidden=[8, 4]"]).network.hidden == (8, 4)
    assert load(tmp_path, overrides=["network.value_hidden=[9]"]).network.value_hidden == (9,)
    for key in ("network.hidden", "network.value_hidden"):
        message = refusal(tmp_path, overrides=[cards, f"{key}=[8, 10]"])
        assert message.startswith(f"{key}: features 'cards': a hidden layer of 10 units")


def test_only_networks_that_rate_cards_have_a_prior(tmp_path: Path) -> None:
    prior = "network.prior=planner"
    assert load(tmp_path, overrides=[prior, "network.features=cards"]).network.prior == "planner"
    message = refusal(tmp_path, overrides=[prior, "network.features=standardized"])
    assert message.startswith("network.prior: it goes with network.features=cards alone")
    assert "planner" in refusal(tmp_path, overrides=["network.prior=greedy"])


def test_as_many_opponents_as_the_players_ask_for(tmp_path: Path) -> None:
    three = ["env.num_players=4", "env.opponents=random,greedy,random"]
    assert load(tmp_path, overrides=three).env.num_players == 4
    assert refusal(tmp_path, overrides=[*three, "env.num_players=3"]).startswith("env.opponents: ")


@pytest.mark.parametrize(
    ("size", "fault"), [(257, "more than the 256"), (1, "single decision"), (255, "single decision")]
)
def test_batches_that_a_rollout_does_not_fill(tmp_path: Path, size: int, fault: str) -> None:
    rollout = ["env.num_envs=8", "ppo.n_steps=32"]
    message = refusal(tmp_path, overrides=[*rollout, f"ppo.batch_size={size}"])
    assert message.startswith(f"ppo.batch_size: {size} ")
    assert fault in message
    for fits in (256, 128, 254, 2):
        assert load(tmp_path, overrides=[*rollout, f"ppo.batch_size={fits}"]).ppo.batch_size == fits


def test_the_payoffs_share_moves_in_a_line(tmp_path: Path) -> None:
    payoff = PayoffConfig(first=0.2, last=0.8, start=0.25, end=0.75)
    shares = [payoff.at(done) for done in (0, 0.25, 0.5, 0.75, 1)]
    assert shares == pytest.approx([0.2, 0.2, 0.5, 0.8, 0.8])
    assert PayoffConfig(first=0.3, last=0.3).at(0.5) == pytest.approx(0.3)
    for start, end in ((0.5, 0.5), (0.6, 0.5)):
        wrong = [f"env.payoff.start={start}", f"env.payoff.end={end}"]
        assert refusal(tmp_path, overrides=wrong).startswith(f"env.payoff: start {start} is not before")


def test_weights_make_self_play(tmp_path: Path) -> None:
    assert not load(tmp_path).selfplay.wanted
    assert not load(tmp_path, overrides=["selfplay.agents={greedy: 0}"]).selfplay.wanted
    for override in ("selfplay.latest=1", "selfplay.past=0.1", "selfplay.agents.planner=2"):
        assert load(tmp_path, overrides=[override]).selfplay.wanted


# -- files and overrides ---------------------------------------------------------------------------


@pytest.mark.parametrize("override", ["seed", "=5", "seed:5", ""])
def test_an_override_of_another_form(tmp_path: Path, override: str) -> None:
    assert refusal(tmp_path, overrides=[override]).startswith(
        f"{override!r} is not of the form key=value"
    )


@pytest.mark.parametrize("override", ["name.x=1", "seed.x=1", "ppo.gamma.x=1"])
def test_an_override_inside_of_what_is_no_section(tmp_path: Path, override: str) -> None:
    text = "name: some\nseed: 1\nppo: {gamma: 1.0}\n"
    assert "is not a section" in refusal(tmp_path, text, [override])


def test_an_override_that_is_no_yaml(tmp_path: Path) -> None:
    assert refusal(tmp_path, overrides=["network.hidden=[1"]).startswith("network.hidden: '[1'")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "none.yaml", tmp_path):
        with pytest.raises(OptionError, match="cannot be read") as caught:
            load_config(path)
        assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    "text", ["name: [1", "name: some\n\tseed: 1", "a: b: c", "x: !!python/object:a.B {}"]
)
def test_a_file_that_is_no_yaml(tmp_path: Path, text: str) -> None:
    message = refusal(tmp_path, text)
    assert "some.yaml is not valid YAML" in message


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "some.yaml"
    path.write_bytes(b"name: \xff\xfe\xfa")
    with pytest.raises(OptionError, match="not valid YAML"):
        load_config(path)


@pytest.mark.parametrize("text", ["", "- name\n", "name\n", "5\n"])
def test_a_file_that_is_no_mapping(tmp_path: Path, text: str) -> None:
    assert "is not a mapping" in refusal(tmp_path, text)
