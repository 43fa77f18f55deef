"""How many positions a network decides a second: all of them at once, by one thread and by several.

python benchmarks/network.py FILE.onnx [--positions 16384] [--threads 2] [--repeats 9]
"""

from __future__ import annotations

import argparse
from statistics import median
from time import perf_counter

import numpy as np

from gardienii_env.agents import make_agent, new_streams
from gardienii_env.agents.network import NetworkAgent
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.random import seed_streams

DECISIONS = 40  # at random, before the positions that are decided


def positions(agent: NetworkAgent, number: int) -> Batch:
    """Games that such an agent can decide, each somewhere in its course."""
    batch = Batch(agent.manifest.ruleset, agent.manifest.num_players, number)
    batch.states["rng"] = seed_streams(1, number)
    anybody, streams, games = make_agent("random"), new_streams(2, number), np.arange(number)
    for i in range(number):
        batch.deal(i)
    for _ in range(DECISIONS):
        batch.apply_all(games, anybody.act(batch, games, streams))
        for over in np.flatnonzero(batch.states["player"] < 0):
            batch.deal(int(over))
    return batch


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file")
    parser.add_argument("--positions", type=int, default=16384)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    agents = [NetworkAgent(options.file, threads) for threads in (1, options.threads)]
    batch, games = positions(agents[0], options.positions), np.arange(options.positions)
    streams = new_streams(3, options.positions)
    times: dict[int, list[float]] = {}
    for _ in range(1 + options.repeats):
        for agent in agents:  # in turns
            start = perf_counter()
            agent.act(batch, games, streams)
            times.setdefault(agent.threads.number, []).append(perf_counter() - start)
    for number, seconds in times.items():
        print(f"{number} threads: {options.positions / median(seconds[1:]):,.0f} positions a second")


if __name__ == "__main__":
    main()
