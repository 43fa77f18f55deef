"""An agent of your own, in a function of a few lines, and what the arena says of it.

The function gets a `Game` in which everything its seat cannot know has been drawn anew, so it may look
ahead as it likes without cheating. The agent is written `python:MODULE:FUNCTION`, here and on the
command line: gardienii evaluate --agents python:custom_agent:choose,greedy (in this folder).

Install, in a clone of this repository:

    pip install -c constraints.txt -e .

Run: python examples/custom_agent.py --deals 200
"""

from __future__ import annotations

import argparse

import numpy as np
import numpy.typing as npt

from gardienii_env import Game, unflatten
from gardienii_env.agents import make_agent
from gardienii_env.arena import duplicate_match
from gardienii_env.arena.text import match_report
from gardienii_env.rules.cards import CARDS


def choose(game: Game, rng: np.random.Generator) -> str:
    """Whatever is worth most: points earned at once, and cards that fit one another in the hand."""
    seat = game.player
    assert seat is not None  # someone decides, or nobody would ask

    def worth(action: str) -> float:
        ahead = game.clone()
        ahead.apply(action)
        hand = unflatten(ahead.observe(seat), ahead.num_players)["hand"]  # how many of each card type
        return ahead.scores()[seat] + 0.3 * largest_set(hand) + 0.01 * rng.random()

    return max(game.legal_actions(), key=worth)


def largest_set(hand: npt.NDArray[np.int64]) -> int:
    """How many dragons of one colour, with the dark ones, the hand holds: W3 is a white one, D6 dark."""
    fronts = {front: int(hand[[card[0] == front for card in CARDS]].sum()) for front in "WRBGD"}
    return max(fronts[colour] for colour in "WRBG") + fronts["D"]


def main() -> None:
    """Play a match against a built-in agent and print the arena's report."""
    parser = argparse.ArgumentParser(description="Judge an agent of your own.")
    parser.add_argument("--deals", type=int, default=50, help="each is played from both seats")
    parser.add_argument("--against", default="greedy", help="another agent, see docs/agents.md")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    mine = make_agent("python:custom_agent:choose")
    other = make_agent(options.against)
    result = duplicate_match([mine, other], "gardienii", options.deals, options.seed)
    print(match_report(result))


if __name__ == "__main__":
    main()
