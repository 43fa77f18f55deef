"""How fast boards are drawn: a random game, every decision of it as a picture and as text.

python benchmarks/pictures.py [--size 1280 800] [--games 3]
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator
from statistics import median
from time import perf_counter

from gardienii_env import Game
from gardienii_env.render.picture import Picture
from gardienii_env.render.scene import scene
from gardienii_env.render.text import board


def positions(players: int, seed: int) -> Iterator[Game]:
    """Every decision of a random game, and its end."""
    game, rng = Game.new(players, seed=seed), random.Random(seed)
    yield game
    while not game.is_over:
        game.apply(rng.choice(game.legal_actions()))
        yield game


def measure(name: str, players: int, games: int, draw: Callable[[Game], object]) -> None:
    """Print how long a drawing takes, its scene included."""
    times = []
    for seed in range(games):
        for game in positions(players, seed):
            start = perf_counter()
            draw(game)
            times.append(perf_counter() - start)
    typical, slow = median(times), sorted(times)[-len(times) // 100]
    print(
        f"{name}, {players} players: {1 / typical:.0f} a second "
        f"(median {1000 * typical:.1f} ms, one in a hundred over {1000 * slow:.1f} ms)"
    )


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--size", nargs=2, type=int, default=(1280, 800), metavar=("W", "H"))
    parser.add_argument("--games", type=int, default=3)
    options = parser.parse_args()
    size = (options.size[0], options.size[1])
    for players in (2, 3, 4):
        picture = Picture(size)
        measure(
            f"pictures of {size[0]}x{size[1]}",
            players,
            options.games,
            lambda game, picture=picture: picture.frame(scene(game, open_hands=True)),  # type: ignore[misc]
        )
        measure("text", players, 1, board)


if __name__ == "__main__":
    main()
