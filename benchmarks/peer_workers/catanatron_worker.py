"""catanatron, two players: random games without observation, and its Gymnasium environment.

In the environment a second random player decides inside `step`. Its decisions count as well, though
observations are made only for the first player.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib.metadata import version

from harness import Ready, module, work


def games() -> Ready:
    """Whole games of two random players."""
    player = module("catanatron.models.player")
    game = module("catanatron.game").Game

    def play() -> int:
        played = game([player.RandomPlayer(player.Color.BLUE), player.RandomPlayer(player.Color.RED)])
        played.play()
        return len(played.state.actions)

    return Ready(play, version("catanatron"))


def gym() -> Ready:
    """Whole episodes of the environment, with reset, observations and lists of legal actions."""
    env = module("catanatron_gym.envs.catanatron_env").CatanatronEnv()
    rng = random.Random(0)

    def play() -> int:
        _, info = env.reset()
        over = False
        while not over:
            _, _, terminated, truncated, info = env.step(rng.choice(info["valid_actions"]))
            over = terminated or truncated
        return len(env.game.state.actions)

    return Ready(play, version("catanatron-gym"), env.reset()[0].size)


CASES: dict[str, Callable[[], Ready]] = {"games": games, "gym": gym}

if __name__ == "__main__":
    work(CASES, __doc__)
