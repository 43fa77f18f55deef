"""What planner thinks of each action, as a network sees it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from networks import manifest, random_weights, save_network, save_weights

from gardienii_env import ACTIONS, NUM_ACTIONS, AgentError, Game, OptionError, layout
from gardienii_env.agents import make_agent
from gardienii_env.agents.network import Manifest, read_manifest, write_manifest
from gardienii_env.agents.planner import PlannerAgent
from gardienii_env.agents.prior import PRIOR_POINTS, observe, observed_size, prior_numbers
from gardienii_env.observation import VIEWS, View
from gardienii_env.rules.actions import action_id

GAME = np.zeros(1, np.int64)


def test_points_below_the_best_become_numbers() -> None:
    worths = np.full((1, NUM_ACTIONS), -np.inf)
    worths[0, [3, 5, 8]] = 12.0, 7.0, -80.0
    numbers = prior_numbers(np.array([3]), worths)
    assert numbers.dtype == np.float32
    assert numbers[0, [3, 5, 8, 9]] == pytest.approx([1, 1 - 5 / PRIOR_POINTS, 0, 0])
    assert worths[0, 3] == 12.0


def test_a_choice_without_worths_stands_out() -> None:
    numbers = prior_numbers(np.array([7]), np.full((1, NUM_ACTIONS), -np.inf))
    assert numbers[0, 7] == 1
    assert set(np.delete(numbers[0], 7)) == {np.float32(1 - 1 / PRIOR_POINTS)}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_it_comes_after_the_observation(players: int, view: View) -> None:
    size = layout(players, view).size
    assert observed_size(players, view, False) == size
    game, rng, found = Game.new(players, seed=players), random.Random(1), set()
    while (seat := game.player) is not None:
        seen = observe(game.batch, GAME, view, True)
        assert seen.shape == (1, observed_size(players, view, True))
        assert np.array_equal(seen[0, :size], game.observe(seat, view))
        assert np.array_equal(observe(game.batch, GAME, view, False)[0], seen[0, :size])
        (choice,), _ = PlannerAgent().worths(game.batch, GAME)
        assert seen[0, size + choice] == seen[0, size:].max() == 1
        found.add(ACTIONS[choice])
        game.apply(rng.choice(game.legal_actions()))
    assert len(found) > 10


def test_no_two_kinds_of_observations_have_the_same_length() -> None:
    sizes = [
        observed_size(n, view, prior) for n in (2, 3, 4) for view in VIEWS for prior in (False, True)
    ]
    assert len(set(sizes)) == len(sizes)


def test_a_network_is_shown_it(tmp_path: Path) -> None:
    """This one takes the action that planner likes best: the numbers are its logits."""
    path, size = tmp_path / "a.onnx", observed_size(2, "table", True)
    weights = random_weights(size)
    hidden = weights[1].size
    weights[0][:], weights[1][:], weights[3][:] = 0, 0, 0
    kept = np.arange(hidden)  # the first actions alone: takes, pass
    weights[0][layout(2).size + kept, kept] = 1
    weights[2][:] = 0
    weights[2][kept, kept] = 1
    save_weights(path, weights)
    told = Manifest("table", 2, manifest().ruleset, prior="planner")
    write_manifest(path, told)
    assert read_manifest(path) == told
    agent, planner = make_agent(f"network:{path}"), PlannerAgent()
    for seed in range(40):
        game = Game.new(2, seed=seed)
        _, worths = planner.worths(game.batch, GAME)
        assert worths[0, action_id(agent.choose(game))] == pytest.approx(worths.max())


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="prior"):
        Manifest("table", 2, manifest().ruleset, prior="greedy")
    path = save_network(tmp_path / "a.onnx")
    with pytest.raises(OptionError, match=str(observed_size(2, "table", True))):
        write_manifest(path, Manifest("table", 2, manifest().ruleset, prior="planner"))
    import onnx

    model: Any = onnx.load(str(path))
    model.metadata_props.add(key="gardienii.prior", value="oracle")
    onnx.save(model, str(path))
    with pytest.raises(AgentError, match=r"gardienii.prior.*oracle.*planner"):
        make_agent(f"network:{path}")
