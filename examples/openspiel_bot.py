"""OpenSpiel's bots play Gardienii Dragonilor against a random player.

Install, in a clone of this repository:

    pip install -c constraints.txt -e ".[openspiel]"

Run: python examples/openspiel_bot.py --games 4 --simulations 20

`ismcts` sees what its seat may see. `mcts` looks at the hidden cards: it shows what a cheat could do.
"""

import argparse
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import ismcts, mcts

import gardienii_env.envs.openspiel  # noqa: F401  # registers the game


def make_bot(name: str, game: Any, simulations: int, rng: np.random.RandomState) -> Any:
    """A bot that searches with random playouts."""
    evaluator = mcts.RandomRolloutEvaluator(n_rollouts=1, random_state=rng)
    if name == "mcts":
        return mcts.MCTSBot(game, 2.0, simulations, evaluator, random_state=rng)
    bot = ismcts.ISMCTSBot(game, evaluator, 2.0, simulations, random_state=rng)
    bot.set_resampler(lambda state, player: state.resample_from_infostate(player, rng.uniform))
    return bot


def play(game: Any, bot: Any, seat: int, decisions: int, rng: np.random.RandomState) -> Any:
    """One game with the bot in a seat; it plays at random too after some decisions. Returns payoffs."""
    env = rl_environment.Environment(game)
    env.seed(int(rng.randint(2**31)))
    step = env.reset()
    while not step.last():
        player = step.observations["current_player"]
        if player == seat and decisions > 0:
            action = bot.step(env.get_state)
            decisions -= 1
        else:
            action = rng.choice(step.observations["legal_actions"][player])
        step = env.step([int(action)])
    return step.rewards


def main() -> None:
    """Plays some games with each bot and prints what the bot won."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--players", type=int, default=2)
    parser.add_argument("--ruleset", default="gardienii")
    parser.add_argument("--games", type=int, default=4, help="games of each bot")
    parser.add_argument("--simulations", type=int, default=20, help="simulations a decision, at least 2")
    parser.add_argument("--decisions", type=int, default=10**6, help="decisions searched in a game")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()

    game = pyspiel.load_game("gardienii", {"players": given.players, "ruleset": given.ruleset})
    print(f"{game}: {game.observation_tensor_size()} numbers, {game.num_distinct_actions()} actions")
    for name in ("ismcts", "mcts"):
        rng = np.random.RandomState(given.seed)
        bot = make_bot(name, game, given.simulations, rng)
        payoffs = []
        for number in range(given.games):
            seat = number % given.players
            payoffs.append(play(game, bot, seat, given.decisions, rng)[seat])
            print(f"{name}, game {number + 1}, seat {seat}: payoff {payoffs[-1]:+.2f}", flush=True)
        print(f"{name}: mean payoff {np.mean(payoffs):+.2f} against a random player")


if __name__ == "__main__":
    main()
