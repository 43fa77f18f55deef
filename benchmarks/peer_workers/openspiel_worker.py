"""OpenSpiel: whole games in C++, playouts in C++, and games stepped from Python with observations.

Ways to play, each with random legal actions:

games     `pyspiel.evaluate_bots` with uniform random bots: one call plays a whole game in C++, from
          the deal on. No observation is made.
playouts  `RandomRolloutEvaluator`, which Python reaches through a search of a single simulation: one
          call plays the same dealt position to its end 500 times in C++. Dealing is left out, and so
          are the bots: the fastest random play that Python can ask for, though not of whole games.
python    the state stepped from Python; at every decision the legal actions, their mask and the
          observation, which OpenSpiel's observer writes into an array. Chance nodes draw uniformly,
          as all of these games' do.

C++ does not tell the number of decisions. It is the number of games times the mean number of decisions
in one, which is measured before the timed loop by playing up to 3,000 games at random from Python, or as
many as 5 seconds allow. Chance nodes do not count; decisions with one legal action do.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import version
from itertools import count
from typing import Any

from harness import Ready, module, work

GAMES = {
    "crazy_eights": "crazy_eights",  # five players, OpenSpiel's default
    "crazy_eights_2p": "crazy_eights(players=2)",
    "gin_rummy": "gin_rummy",
    "hearts": "hearts",
    "bridge": "bridge(use_double_dummy_result=false)",  # else nearly all the time goes to solving
    "spades": "spades",
}
OBSERVED = ("crazy_eights", "gin_rummy", "bridge", "spades")  # hearts has no observation tensor
PLAYED_OUT = ("crazy_eights",)
PLAYOUTS = 500
SAMPLE = 3000  # games
SAMPLE_SECONDS = 5.0


def games(name: str) -> Ready:
    """Whole games of C++ bots."""
    pyspiel = module("pyspiel")
    game = pyspiel.load_game(GAMES[name])
    bots = [pyspiel.make_uniform_random_bot(player, player) for player in range(game.num_players())]
    seeds = count(1)
    length, choices = sample(game.new_initial_state())

    def play() -> float:
        pyspiel.evaluate_bots(game.new_initial_state(), bots, next(seeds))
        return length

    return Ready(play, version("open_spiel"), choices=choices)


def playouts(name: str) -> Ready:
    """Playouts of one dealt position in C++."""
    pyspiel = module("pyspiel")
    game = pyspiel.load_game(GAMES[name])
    state = game.new_initial_state()
    rng = random.Random(0)
    while state.is_chance_node():
        state.apply_action(rng.choice(state.legal_actions()))
    evaluator = pyspiel.RandomRolloutEvaluator(PLAYOUTS, 1)
    memory, solve, verbose = 100, False, False
    searcher = pyspiel.MCTSBot(game, evaluator, 2.0, 1, memory, solve, 1, verbose)
    length, choices = sample(state)

    def play() -> float:
        searcher.mcts_search(state)
        return PLAYOUTS * length

    return Ready(play, version("open_spiel"), choices=choices)


def python(name: str) -> Ready:
    """Games stepped from Python, with observation and mask."""
    game = module("pyspiel").load_game(GAMES[name])
    observer = module("open_spiel.python.observation").make_observation(game)
    rng = random.Random(0)

    def play() -> int:
        state = game.new_initial_state()
        decisions = 0
        while not state.is_terminal():
            legal = state.legal_actions()
            player = state.current_player()
            if player >= 0:  # not a chance node
                state.legal_actions_mask()
                observer.set_from(state, player)
                decisions += 1
            state.apply_action(legal[int(rng.random() * len(legal))])
        return decisions

    return Ready(play, version("open_spiel"), observer.tensor.size, mask=True)


def sample(start: Any) -> tuple[float, float]:
    """The mean number of decisions from a state on, and the share of them with a choice."""
    rng = random.Random(0)
    decisions = choices = played = 0
    end = time.perf_counter() + SAMPLE_SECONDS
    while played < SAMPLE and time.perf_counter() < end:
        state = start.clone()
        while not state.is_terminal():
            legal = state.legal_actions()
            if not state.is_chance_node():
                decisions += 1
                choices += len(legal) > 1
            state.apply_action(legal[int(rng.random() * len(legal))])
        played += 1
    return decisions / played, choices / decisions


CASES: Mapping[str, Callable[[], Ready]] = (
    {name: partial(games, name) for name in GAMES}
    | {f"{name}_playouts": partial(playouts, name) for name in PLAYED_OUT}
    | {f"{name}_python": partial(python, name) for name in OBSERVED}
)

if __name__ == "__main__":
    work(CASES, __doc__)
