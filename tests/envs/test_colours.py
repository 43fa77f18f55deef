"""Games whose colours are turned, and networks for which no colour is special."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import torch
from rulesets import COMBINATIONS
from sb3_contrib import MaskablePPO

from gardienii_env import NUM_ACTIONS, Game, OptionError
from gardienii_env.envs.cards import card_encoding
from gardienii_env.envs.colours import turned_actions, turned_cards, turned_observation
from gardienii_env.envs.features import policy_of
from gardienii_env.envs.sb3 import GardieniiVecEnv
from gardienii_env.observation import VIEWS, View, layout
from gardienii_env.rules.cards import CARDS
from training.config import Config
from training.games import TrainingGames


def turned(cards: Any, turns: int) -> Any:
    """A deal's cards with their colours turned."""
    if isinstance(cards, dict):
        return {key: turned(value, turns) for key, value in cards.items()}
    if isinstance(cards, list):
        return [turned(value, turns) for value in cards]
    return CARDS[turned_cards(turns)[CARDS.index(cards)]] if cards in CARDS else cards


def pairs(ruleset: str, players: int, turns: int, seed: int) -> Any:
    """A game and the same with its colours turned, decision by decision."""
    record = Game.new(players, ruleset, seed=seed).to_record()
    game = Game.from_deal(record["deal"], players, ruleset)
    other = Game.from_deal(turned(record["deal"], turns), players, ruleset)
    rng, actions = random.Random(seed), turned_actions(turns)
    while game.player is not None:
        if not np.array_equal(other.legal_mask()[actions], game.legal_mask()):
            plays = [legal for g in (game, other) for legal in g.legal_actions() if "play" in legal]
            assert plays  # the cards of a set are chosen in another order
            return
        yield game, other
        action = rng.choice(np.flatnonzero(game.legal_mask()).tolist())
        game.apply(action)
        other.apply(int(actions[action]))


def numbered(players: int, view: View) -> slice:
    """The part of observations that is not turned."""
    return layout(players, view)["laid_below"].slice if view == "recall" else slice(0)


def test_four_turns_are_none() -> None:
    assert np.array_equal(turned_cards(4), np.arange(len(CARDS)))
    assert [CARDS[card] for card in turned_cards(1)[[0, 20, 22, 32]]] == ["R1", "Rb", "Rw", "D6"]
    once = turned_cards(1)
    assert np.array_equal(once[once], turned_cards(2))


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)
def test_a_turned_game_gives_turned_observations(ruleset: str, players: int, view: View) -> None:
    encoding, seen = card_encoding(players, view), 0
    for seed in range(12):
        turns = seed % 3 + 1
        indices, marks = turned_observation(players, view, turns), encoding.turned(turns)
        below = numbered(players, view)
        assert np.array_equal(np.sort(indices), np.arange(indices.size))
        assert np.array_equal(np.sort(marks), np.arange(marks.size))
        for game, other in pairs(ruleset, players, turns, seed):
            for seat in range(players):
                one, two = game.observe(seat, view), other.observe(seat, view)
                one[below] = two[below] = 0
                assert np.array_equal(two[indices], one)
                assert np.array_equal(
                    encoding.encode(two[np.newaxis])[0, marks], encoding.encode(one[np.newaxis])[0]
                )
            seen += 1
    assert seen > 200


def model_of(view: View, seed: int = 1, prior: bool = False) -> MaskablePPO:
    """A model that has been shown some observations and has learned a little."""
    env = games_with_prior(view, seed) if prior else GardieniiVecEnv(16, "random", view=view, seed=seed)
    policy, features = policy_of("cards", 2, view, prior)
    model = MaskablePPO(
        policy, env, n_steps=8, batch_size=64, policy_kwargs=features | {"net_arch": [16, 8]}, seed=seed
    )
    extractor: Any = model.policy.features_extractor
    extractor.fit(env.reset())
    model.learn(128)
    return model


def games_with_prior(view: View, seed: int) -> TrainingGames:
    env = {"num_envs": 16, "opponents": "random", "view": view}
    network = {"features": "cards", "prior": "planner"}
    return TrainingGames(
        Config.model_validate({"name": "test", "seed": seed, "env": env, "network": network})
    )


@pytest.mark.parametrize("prior", [False, True])
@pytest.mark.parametrize("view", VIEWS)
def test_networks_think_of_turned_games_alike(view: View, prior: bool) -> None:
    policy: Any = model_of(view, prior=prior).policy
    with torch.no_grad():
        policy.action_net.beside.weight.zero_()
        policy.action_net.beside.bias.zero_()
    seen: set[bytes] = set()
    for game, other in pairs("gardienii", 2, 1, 5):
        views = np.stack([g.observe(g.player, view) for g in (game, other)])
        views[:, numbered(2, view)] = 0
        if prior:  # which is turned with the game, but for what it finds equal
            numbers = np.random.default_rng(len(seen)).random((2, NUM_ACTIONS), np.float32)
            numbers[1, turned_actions(1)] = numbers[0]
            views = np.concatenate([views, numbers], axis=1)
        with torch.no_grad():
            features = policy.features_extractor(torch.from_numpy(views))
            logits = policy.action_net(policy.mlp_extractor.forward_actor(features)).numpy()
        assert np.allclose(logits[1, turned_actions(1)], logits[0], atol=1e-5)
        assert np.ptp(logits[0]) > 1e-3
        seen.add(logits.tobytes())
    assert len(seen) > 20


def test_what_lies_beside_learns_too() -> None:
    policy: Any = model_of("table").policy
    assert policy.action_net.beside.weight.abs().max() > 0


def test_the_weights_are_those_of_the_parameters_as_they_are_now() -> None:
    model = model_of("table")
    layer: Any = model.policy.action_net
    with torch.no_grad():
        before = layer.weight.clone()
        layer.alike.weights.add_(1)
        assert torch.allclose(layer.weight, before + 1)
        layer.load_state_dict({name: value * 0 for name, value in layer.state_dict().items()})
        assert not layer.weight.any()
        layer.alike.weights.data.add_(1)  # which PyTorch does not count as a change
        assert torch.equal(layer.weight, torch.ones_like(layer.weight))


def test_layers_that_cannot_be_shared_out_are_refused() -> None:
    env = GardieniiVecEnv(2, "random")
    policy, features = policy_of("cards", 2, "table")
    with pytest.raises(
        OptionError, match="a hidden layer of 10 units cannot be shared out to 4 colours"
    ):
        MaskablePPO(policy, env, policy_kwargs=features | {"net_arch": [8, 10]})
