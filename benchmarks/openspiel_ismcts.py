"""OpenSpiel's ISMCTS against ours at equal simulations a decision, on the game's OpenSpiel interface.

python benchmarks/openspiel_ismcts.py [--simulations 30] [--deals 10] [--players 2] [--ruleset gardienii]

Every deal is played twice with two players, with the seats changed, so that its luck falls on both. Both
search as a player may: OpenSpiel's `ismcts.ISMCTSBot` (Python; UCT, one random playout to the end of the
game for each simulation, tree of information state strings) and `ismcts:N` of this package (compiled;
plays out some turns with its planner and estimates the position). Printed are the share of wins of
OpenSpiel's, its mean margin in points, and the seconds that both took for a decision.

pyspiel's own `ISMCTSBot` (C++) cannot be measured: with games written in Python it crashes
(open_spiel 2.0.2; seen with OpenSpiel's own `python_kuhn_poker`).
"""

from __future__ import annotations

import argparse
from math import sqrt
from time import perf_counter
from typing import Any

import numpy as np
from open_spiel.python.algorithms import ismcts, mcts

from gardienii_env import ACTIONS, Game
from gardienii_env.agents import make_agent
from gardienii_env.agents.base import Agent
from gardienii_env.envs.openspiel import GardieniiState, state_of

EXPLORATION = 2.0


def openspiel_bot(game: Any, simulations: int, seed: int) -> Any:
    """OpenSpiel's searcher with a generator of its own."""
    rng = np.random.RandomState(seed)
    evaluator = mcts.RandomRolloutEvaluator(1, rng)
    bot = ismcts.ISMCTSBot(game, evaluator, EXPLORATION, simulations, random_state=rng)
    bot.set_resampler(lambda state, player: state.resample_from_infostate(player, rng.uniform))
    return bot


def play(state: GardieniiState, bot: Any, seat: int, ours: Agent, times: dict[str, list[float]]) -> Game:
    """Play a game to its end, the bot in a seat and ours in all others."""
    while not state.is_terminal():
        start = perf_counter()
        if state.current_player() == seat:
            action = int(bot.step(state))
            times["openspiel"].append(perf_counter() - start)
        else:
            action = ACTIONS.index(ours.choose(state.to_game()))
            times["ours"].append(perf_counter() - start)
        state.apply_action(action)
    return state.to_game()


def main() -> None:
    """Play the match and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--simulations", type=int, default=30)
    parser.add_argument("--deals", type=int, default=10)
    parser.add_argument("--players", type=int, default=2)
    parser.add_argument("--ruleset", default="gardienii")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()

    times: dict[str, list[float]] = {"openspiel": [], "ours": []}
    wins, margins = [], []
    for deal in range(given.seed, given.seed + given.deals):
        for seat in range(given.players):
            state = state_of(Game.new(given.players, given.ruleset, deal))
            bot = openspiel_bot(state.get_game(), given.simulations, deal)
            ours = make_agent(f"ismcts:{given.simulations}")
            ours.reset(deal)
            game = play(state, bot, seat, ours, times)
            scores, winners = game.scores(), game.winners()
            others = sum(scores) - scores[seat]
            wins.append((seat in winners) / len(winners))
            margins.append(scores[seat] - others / (given.players - 1))
            print(f"deal {deal}, OpenSpiel in seat {seat}: {scores}", flush=True)
    error = np.std(margins, ddof=1) / sqrt(len(margins)) if len(margins) > 1 else float("nan")
    print(f"{len(wins)} games, {given.simulations} simulations a decision, {given.players} players")
    print(f"OpenSpiel's share of wins {np.mean(wins):.2f}")
    print(f"its mean margin {np.mean(margins):+.1f}, standard error {error:.1f}")
    for name, taken in times.items():
        print(f"{name}: {1000 * np.median(taken):.1f} ms a decision (median of {len(taken)})")


if __name__ == "__main__":
    main()
