"""The thermometer encoding of the own hand."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import torch
from helpers import play
from rulesets import COMBINATIONS
from sb3_contrib import MaskablePPO

from gardienii_env import Game
from gardienii_env.envs.sb3 import GardieniiVecEnv, HandThermometer
from gardienii_env.envs.thermometer import thermometer
from gardienii_env.observation import VIEWS, View
from gardienii_env.rules.cards import CARDS


def expected(hand: list[str]) -> list[int]:
    """The encoding, worked out from the names of the cards in hand."""
    marks: list[int] = []

    def ask(held: int, most: int) -> None:
        marks.extend(int(held >= count) for count in range(1, most + 1))

    for colour in "WRBG":
        ask(sum(card[0] in (colour, "D") for card in hand), 6)
        for number in "2345":
            ask(sum(card[0] == colour and card[1].isdigit() and card[1] >= number for card in hand), 4)
    for back in "123456wrbg":
        ask(sum(card[1] == back for card in hand), 2)
    for card in CARDS:
        ask(hand.count(card), 2)
    return marks


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)
def test_it_says_what_the_hand_has_enough_of(ruleset: str, players: int, view: View) -> None:
    game, rng = Game.new(players, ruleset, seed=3), random.Random(1)
    encoding = thermometer(players, view)
    seen = set()
    while (seat := game.player) is not None:
        hand = [card for card, n in zip(CARDS, game.state["hand"][seat], strict=True) for _ in range(n)]
        marks = encoding.encode(game.observe(seat, view)[np.newaxis])[0]
        assert marks.dtype == np.float32
        assert np.allclose(marks, expected(hand), atol=1e-5)
        seen.update(np.flatnonzero(marks > 0.5).tolist())
        play(game, rng, 1)
    assert len(seen) > 60


@pytest.mark.parametrize("view", VIEWS)
def test_networks_get_it_beside_the_observation(view: View) -> None:
    env = GardieniiVecEnv(16, "random", view=view, seed=1)
    options: Any = {
        "features_extractor_class": HandThermometer,
        "features_extractor_kwargs": {"num_players": 2, "view": view},
        "net_arch": [8],
    }
    model = MaskablePPO("MlpPolicy", env, n_steps=8, batch_size=64, policy_kwargs=options, seed=1)
    extractor: Any = model.policy.features_extractor
    observations: Any = env.reset()
    numbers = extractor(torch.from_numpy(observations)).numpy()
    marks = thermometer(2, view).encode(observations)
    assert np.array_equal(numbers[:, : observations.shape[1]], observations)
    assert np.allclose(numbers[:, observations.shape[1] :], marks, atol=1e-5)
    extractor.fit(observations)
    after = extractor(torch.from_numpy(observations)).numpy()
    assert np.abs(after.mean(axis=0)).max() < 1e-2
    model.learn(128)
