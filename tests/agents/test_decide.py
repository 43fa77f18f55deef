"""What an agent chooses is checked wherever it plays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gardienii_env import AgentError, Game
from gardienii_env.agents import Agent, make_agent
from gardienii_env.arena import duplicate_match
from gardienii_env.envs.single import GardieniiSingleEnv
from gardienii_env.observation import observe_deciding


class Fixed(Agent):
    """Gives what it was made with, whatever is asked."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def act(self, batch: Any, games: Any, streams: Any) -> Any:
        return self.answer(games) if callable(self.answer) else self.answer


ILLEGAL = [
    lambda games: np.full(games.size, 5),
    lambda games: np.full(games.size, 999),
    lambda games: np.full(games.size, -1),
    lambda games: np.zeros(games.size),
    lambda games: np.zeros(games.size + 1, np.int64),
    lambda games: ["take:L0"] * games.size,
    None,
]


@pytest.mark.parametrize("answer", ILLEGAL)
def test_a_wrong_choice_is_refused_everywhere(answer: Any) -> None:
    agent = Fixed(answer)
    with pytest.raises(AgentError, match="Fixed"):
        agent.choose(Game.new(seed=1))
    with pytest.raises(AgentError, match="Fixed"):
        duplicate_match([agent, make_agent("random")], "gardienii", 2, 0)
    with pytest.raises(AgentError, match="Fixed"):
        GardieniiSingleEnv([agent], seat=1).reset(seed=1)


def test_a_wrong_choice_is_named_with_what_is_legal() -> None:
    game = Game.new(seed=1)
    with pytest.raises(AgentError) as caught:
        Fixed(lambda games: np.array([5])).choose(game)
    assert str(caught.value) == (
        "Fixed chose 5 (modify:W1) for seat 0, which is not legal; legal: "
        f"{', '.join(game.legal_actions())}."
    )


def test_any_sequence_of_whole_numbers_will_do() -> None:
    assert Fixed([2]).choose(Game.new(seed=1)) == "take:R0"
    assert Fixed(np.array([1], np.uint8)).choose(Game.new(seed=1)) == "take:L1"


def test_an_agent_without_a_name_has_that_of_its_class() -> None:
    assert Fixed(None).name == "Fixed"
    assert repr(Fixed(None)) == "<agent Fixed>"


def test_observe_deciding_is_what_the_deciding_seats_see() -> None:
    game = Game.new(3, seed=5)
    assert game.player is not None
    seen = observe_deciding(game.batch, np.zeros(1, np.int64), "recall")
    assert (seen == game.observe(game.player, "recall")[None]).all()
