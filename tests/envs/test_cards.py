"""The encoding of cards, and networks that rate cards."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from helpers import play
from rulesets import COMBINATIONS
from sb3_contrib import MaskablePPO

from gardienii_env import Game, OptionError, unflatten
from gardienii_env.agents import make_agent
from gardienii_env.envs.cards import RATINGS, card_encoding
from gardienii_env.envs.features import policy_of
from gardienii_env.envs.sb3 import GardieniiVecEnv
from gardienii_env.observation import VIEWS, View
from gardienii_env.rules.cards import CARDS


def names(counts: npt.NDArray[np.int64]) -> list[str]:
    """The cards that a hand holds, by how many of each type."""
    return [card for card, n in zip(CARDS, counts, strict=True) for _ in range(n)]


def asked(held: int, most: int) -> list[int]:
    """What a thermometer says of a number of cards."""
    return [int(held >= count) for count in range(1, most + 1)]


def fitting(hand: list[str]) -> list[int]:
    """For each colour, how many cards fit a set of it."""
    return [mark for c in "WRBG" for mark in asked(sum(card[0] in (c, "D") for card in hand), 6)]


def expected(hand: list[str]) -> list[int]:
    """The encoding of the own hand, worked out from the names of the cards in it."""
    marks = fitting(hand)

    def ask(held: int, most: int) -> None:
        marks.extend(asked(held, most))

    for colour in "WRBG":
        for number in "2345":
            ask(sum(card[0] == colour and card[1].isdigit() and card[1] >= number for card in hand), 4)
    for back in "123456wrbg":
        ask(sum(card[1] == back for card in hand), 2)
    for card in CARDS:
        if card[1] not in "56":  # those were asked for above
            ask(hand.count(card), 2)
    return marks


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)
def test_it_says_what_the_hand_has_enough_of(ruleset: str, players: int, view: View) -> None:
    game, rng = Game.new(players, ruleset, seed=3), random.Random(1)
    encoding = card_encoding(players, view)
    marked = set()
    while (seat := game.player) is not None:
        seen = unflatten(game.observe(seat, view), players, view)
        hand, *others = [names(counts) for counts in (seen["hand"], *seen.get("known_hand", []))]
        known = [mark for other in others for mark in fitting(other)]
        marks = encoding.encode(game.observe(seat, view)[np.newaxis])[0]
        assert marks.dtype == np.float32
        supply = game.state["supply"].flatten().tolist()
        in_supply = [supply.count(card) for card in range(len(CARDS))]
        assert np.allclose(marks, [*expected(hand), *known, *in_supply], atol=1e-5)
        marked.update(np.flatnonzero(marks > 0.5).tolist())
        play(game, rng, 1)
    assert len(marked) > 60


def test_a_take_has_the_rating_of_its_card_beside_its_own() -> None:
    game, encoding = Game.new(2, seed=3), card_encoding(2, "table")
    ratings = np.random.default_rng(1).random((1, RATINGS), np.float32)
    expected_logits = ratings[0, :73].copy()
    for slot, card in enumerate(game.state["supply"].flatten()):
        expected_logits[slot] += ratings[0, 73 + card]
    assert np.allclose(encoding.logits(ratings, game.observe(0)[np.newaxis]), expected_logits)


@pytest.mark.parametrize("view", VIEWS)
def test_networks_get_it_beside_the_observation(view: View) -> None:
    env = GardieniiVecEnv(16, "random", view=view, seed=1)
    policy, features = policy_of("cards", 2, view)
    model = MaskablePPO(
        policy, env, n_steps=8, batch_size=64, policy_kwargs=features | {"net_arch": [8]}, seed=1
    )
    extractor: Any = model.policy.features_extractor
    observations: Any = env.reset()
    size = observations.shape[1]
    encoding = card_encoding(2, view)
    marks = encoding.encode(observations)
    numbers = extractor(torch.from_numpy(observations)).numpy()
    assert np.array_equal(numbers[:, :size], observations)
    assert np.allclose(numbers[:, size : size + encoding.size], marks, atol=1e-5)
    assert np.array_equal(numbers[:, size + encoding.size :], observations[:, encoding.supply])
    extractor.fit(observations)
    after = extractor(torch.from_numpy(observations)).numpy()[:, : size + encoding.size]
    assert np.abs(after[:, extractor.turns].mean(axis=(0, 1))).max() < 1e-2
    before = [parameter.clone() for parameter in model.policy.parameters()]
    model.learn(128)
    for old, new in zip(before, model.policy.parameters(), strict=True):
        assert not torch.equal(old, new)


def test_a_model_is_loaded_as_it_was(tmp_path: Path) -> None:
    env = GardieniiVecEnv(8, "random", seed=1)
    policy, features = policy_of("cards", 2, "table")
    model = MaskablePPO(
        policy, env, n_steps=8, batch_size=64, policy_kwargs=features | {"net_arch": [8]}, seed=1
    )
    extractor: Any = model.policy.features_extractor
    extractor.fit(env.reset())
    model.learn(64)
    model.save(tmp_path / "model.zip")
    agent, observations = make_agent(f"sb3:{tmp_path / 'model.zip'}", trust=True), env.reset()
    again = MaskablePPO.load(tmp_path / "model.zip")
    for one, other in zip(model.policy.parameters(), again.policy.parameters(), strict=True):
        assert torch.equal(one, other)
    masks = env.action_masks()
    assert np.array_equal(
        model.predict(observations, action_masks=masks, deterministic=True)[0],
        again.predict(observations, action_masks=masks, deterministic=True)[0],
    )
    assert agent.choose(Game.new(2, seed=1))


@pytest.mark.parametrize(
    ("options", "players", "view"),
    [
        ({"dtype": "uint8"}, 2, "table"),
        ({"num_players": 4}, 2, "table"),
        ({"view": "recall"}, 2, "table"),
    ],
)
def test_other_observations_are_refused(options: dict[str, Any], players: int, view: View) -> None:
    env = GardieniiVecEnv(2, "random", **options)
    policy, features = policy_of("cards", players, view)
    with pytest.raises(OptionError, match="in float32, not"):
        MaskablePPO(policy, env, policy_kwargs=features)


def test_unknown_features_are_refused() -> None:
    with pytest.raises(OptionError, match="Did you mean 'cards'"):
        policy_of("card", 2, "table")  # type: ignore[arg-type]
