"""The warm start and the policy as an agent."""

from __future__ import annotations

import random
from dataclasses import replace
from math import isnan
from typing import Any

import numpy as np
import pytest
import torch
from helpers import play
from rulesets import COMBINATIONS
from sb3_contrib import MaskablePPO

from gardienii_env import AgentError, Game
from gardienii_env.agents import make_agent, new_streams
from gardienii_env.agents.external import PolicyAgent
from gardienii_env.agents.planner import PlannerAgent
from gardienii_env.arena import duplicate_match
from gardienii_env.observation import layout, observe_deciding
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.ruleset import Ruleset
from training import imitation
from training.config import Config
from training.imitation import Demonstrations, Imitation, Watching, warm_start
from training.network import Snapshot, layers_of
from training.progress import progress
from training.run import make_model

combinations = pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)


@pytest.fixture(autouse=True)
def _few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imitation, "GAMES_AT_ONCE", 6)
    torch.set_num_threads(1)


def config_of(players: int = 2, ruleset: str = "gardienii", **sections: Any) -> Config:
    defaults: dict[str, Any] = {
        "name": "test",
        "env": {"num_players": players, "ruleset": ruleset, "num_envs": 4, "view": "recall"},
        "network": {"hidden": [16]},
        "ppo": {"n_steps": 8, "batch_size": 32},
    }
    for name, section in sections.items():
        defaults[name] = {**defaults.get(name, {}), **section}
    return Config.model_validate(defaults)


def games(config: Config, seed: int) -> list[Game]:
    """The games that `greedy` plays against itself in the first round, before their first decision."""
    batch = Batch(Ruleset.get(config.env.ruleset), config.env.num_players, 6)
    batch.states["rng"] = np.random.SeedSequence(seed).generate_state(6, np.uint64)
    for i in range(6):
        batch.deal(i)
    return [Game.of(batch, i) for i in range(6)]


def play_demonstrations(config: Config, seed: int) -> Demonstrations:
    with progress(1, "watching", quiet=True) as bar:
        return Watching(config, seed).play(config.imitation.decisions, bar)


# -- demonstrations --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reward", "share"),
    [("payoff", 0.0), ("margin", 0.0), ("margin", 0.25), ("points", 0.5), ("lead", 0.5)],
)
@combinations
def test_demonstrations_are_whole_games_of_the_agent(
    ruleset: str, players: int, reward: str, share: float
) -> None:
    """Every game played again: what the deciding seat saw, could do and did, and what it got."""
    env = {"reward": reward, "payoff": {"first": share, "last": 1.0}}
    config = config_of(players, ruleset, env=env, imitation={"decisions": 1})
    shown = play_demonstrations(config, seed=3)
    greedy, expected = make_agent("greedy"), {}
    for game in games(config, 3):
        rows = []
        while game.player is not None:
            action = int(greedy.act(game.batch, np.zeros(1, np.int64), new_streams(1, 1))[0])
            seen = game.observe(game.player, "recall").tobytes()
            rows.append((game.player, seen, action, game.scores()))
            game.apply(action)
        for seat, observation, action, had in rows:
            scores = game.scores()
            own = scores.pop(seat)
            margin = (own - sum(scores) / len(scores)) / 50
            lead = had[seat] - (sum(had) - had[seat]) / (len(had) - 1)
            payoff = game.payoffs()[seat]
            paid = {
                "margin": margin,
                "lead": margin - lead / 50,
                "points": (own - had[seat]) / 50,
                "payoff": payoff,
            }[reward]
            expected[observation] = action, (1 - share) * paid + share * payoff
    assert len(shown) == len(expected)
    factors = layout(players, "recall").factors
    for row in range(len(shown)):
        action, paid = expected.pop((shown.observations[row] * factors).tobytes())
        assert shown.actions[row] == action
        assert shown.masks[row, action] == 1
        assert shown.returns[row] == pytest.approx(paid)


def test_as_many_decisions_as_are_wanted() -> None:
    one = play_demonstrations(config_of(imitation={"decisions": 1}), seed=1)
    more = play_demonstrations(config_of(imitation={"decisions": len(one) + 1}), seed=1)
    assert len(one) < len(more) < 3 * len(one)
    for first, all_of_them in zip(vars(one).values(), vars(more).values(), strict=True):
        assert np.array_equal(first, all_of_them[: len(one)])
    other = play_demonstrations(config_of(imitation={"decisions": 1}), seed=2)
    assert not np.array_equal(other.observations[:50], one.observations[:50])


def test_targets_are_the_choice_or_what_the_agent_thinks_of_every_action() -> None:
    config = config_of(imitation={"agent": "planner", "decisions": 1})
    choice, shown = (
        play_demonstrations(config_of(imitation={"agent": "planner", "decisions": 1, **more}), seed=3)
        for more in ({}, {"temperature": 2.0})
    )
    assert np.array_equal(choice.actions, shown.actions)
    assert np.array_equal(choice.targets, np.eye(73)[choice.actions])
    assert shown.targets.sum(axis=1) == pytest.approx(np.ones(len(shown)), abs=2e-3)
    assert not shown.targets[shown.masks == 0].any()
    rows = np.arange(len(shown))
    assert (shown.targets[rows, shown.actions] >= shown.targets.max(axis=1) - 1e-3).all()
    agent = PlannerAgent()
    (game,) = games(config, 3)[:1]
    _, worths = agent.worths(game.batch, np.zeros(1, np.int64))
    weights = np.exp((worths[0] - worths.max()) / 2)
    assert np.isfinite(worths).sum() > 2
    assert shown.targets[0] == pytest.approx(weights / weights.sum(), abs=1e-3)


# -- fitting ---------------------------------------------------------------------------------------


def fitted(config: Config, demonstrations: Demonstrations) -> tuple[MaskablePPO, float, float]:
    model = make_model(config)
    imitation = Imitation(model.policy, config)
    with progress(1, "imitating", quiet=True) as bar:
        imitation.fit(demonstrations, bar)
    return model, imitation.agreement, imitation.explained


def test_the_policy_learns_to_do_as_the_agent_does() -> None:
    def config(epochs: int) -> Config:
        settings = {"decisions": 3000, "epochs": epochs, "batch_size": 64}
        return config_of(env={"reward": "margin"}, imitation=settings)

    shown = play_demonstrations(config(1), seed=1)
    _, before, _ = fitted(config(1), shown)
    model, after, explained = fitted(config(12), shown)
    assert before < after
    assert explained > 0.3
    agent = PolicyAgent(model.policy)
    result = duplicate_match([agent, make_agent("random")], Ruleset.get("gardienii"), deals=40, seed=1)
    assert result.win_share().mean > 0.9
    assert not model.policy.training


def test_imitation_is_reproducible() -> None:
    config = config_of(imitation={"decisions": 500})
    shown = play_demonstrations(config, seed=1)
    one, other = fitted(config, shown), fitted(config, shown)
    assert one[1:] == other[1:]
    for a, b in zip(one[0].policy.parameters(), other[0].policy.parameters(), strict=True):
        assert torch.equal(a, b)


def test_returns_that_are_all_the_same_have_nothing_to_explain() -> None:
    config = config_of(imitation={"decisions": 200, "epochs": 1})
    shown = play_demonstrations(config, seed=1)
    flat = replace(shown, returns=np.ones_like(shown.returns))
    _, agreement, explained = fitted(config, flat)
    assert 0 < agreement < 1
    assert isnan(explained)


def test_rounds_are_played_and_learned_from_one_after_the_other(
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings = {"decisions": 900, "rounds": 3, "epochs": 1}
    model = make_model(config_of(imitation=settings))
    rates = []
    for own_games in (0.0, 0.5):
        config = config_of(imitation={**settings, "own_games": own_games})
        imitation = warm_start(model.policy, config, seed=1)
        rates.append(imitation._optimizer.param_groups[0]["lr"])
        assert 0 < imitation.agreement < 1
        err = capsys.readouterr().err
        for number in (1, 2, 3):
            assert f"watching greedy {number}/3" in err
            assert f"imitating greedy {number}/3" in err
    assert all(0 < rate < 0.5 * 1e-3 for rate in rates)


def test_the_policy_plays_and_the_agent_says_what_it_would_do() -> None:
    config = config_of(imitation={"decisions": 1, "own_games": 0.5})
    watching, other = Watching(config, 3), Watching(config, 3)
    policy = make_model(config).policy
    own = Snapshot("own", layers_of(policy, "tanh"), "recall")
    with progress(1, "watching", quiet=True) as bar:
        mixed, pure = watching.play(1, bar, own), other.play(1, bar)
    assert len(mixed) != len(pure)
    assert mixed.masks[np.arange(len(mixed)), mixed.actions].all()
    half = slice(0, 6)  # of the games, which the first decisions show in order
    assert np.array_equal(mixed.actions[half], pure.actions[half])


# -- the policy as an agent ------------------------------------------------------------------------


@combinations
def test_a_policy_plays_what_it_finds_best_for_any_seat(ruleset: str, players: int) -> None:
    model = make_model(config_of(players, ruleset))
    agent, rng = PolicyAgent(model.policy, "mine"), random.Random(1)
    assert agent.name == "mine"
    game = Game.new(players, ruleset, seed=1)
    seats = set()
    while not game.is_over:
        assert game.player is not None
        seats.add(game.player)
        seen, mask = game.observe(game.player, "recall"), game.legal_mask()
        assert np.array_equal(observe_deciding(game.batch, np.zeros(1, np.int64), "recall"), [seen])
        best, _ = model.predict(seen, deterministic=True, action_masks=mask)
        assert game.legal_actions().index(agent.choose(game)) == mask[: int(best)].sum()
        play(game, rng, 5)
    assert seats == set(range(players))


def test_a_policy_of_another_game_is_refused() -> None:
    agent = PolicyAgent(make_model(config_of(2)).policy)
    with pytest.raises(AgentError, match="trained on observations of 2 players"):
        agent.choose(Game.new(3, seed=1))


def test_all_games_asked_for_are_observed_in_order() -> None:
    batch = Batch(Ruleset.get("gardienii"), 3, 5)
    batch.states["rng"] = np.arange(5)
    for i in range(5):
        batch.deal(i)
        for action in np.flatnonzero(batch.masks[i])[: i % 2]:
            batch.apply(i, int(action))
    asked = np.array([4, 0, 3])
    expected = [Game.of(batch, int(i)) for i in asked]
    rows = observe_deciding(batch, asked, "table")
    for row, game in zip(rows, expected, strict=True):
        assert np.array_equal(row, game.observe(game.player or 0))
