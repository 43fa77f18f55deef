"""JaxMARL's Hanabi for two players: batched games, compiled by XLA into one loop of random legal steps.

JaxMARL makes the observations of both players at every step and resets games itself.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from harness import Ready, module, work
from xla import compiled_ready, random_legal, set_up

GAMES = 32  # the fastest of 32, 64, 128, 512 and 1,024 on one core


def hanabi() -> Ready:
    """Hanabi with its default settings."""
    jax = set_up()
    env = module("jaxmarl").make("hanabi")

    def first(key: Any) -> Any:
        return jax.vmap(env.reset)(jax.random.split(key, GAMES))[1]

    def step(state: Any, key: Any) -> tuple[Any, Any]:
        masks = jax.vmap(env.get_legal_moves)(state)
        keys = jax.random.split(key, len(env.agents) + 1)
        actions = {
            agent: random_legal(jax, one, masks[agent])
            for agent, one in zip(env.agents, keys[1:], strict=True)
        }
        seen, state, *_ = jax.vmap(env.step)(jax.random.split(keys[0], GAMES), state, actions)
        return state, jax.numpy.stack([seen[agent] for agent in env.agents])

    return compiled_ready(step, first, GAMES, version("jaxmarl"), int(env.obs_size))


CASES: dict[str, Callable[[], Ready]] = {"hanabi": hanabi}

if __name__ == "__main__":
    work(CASES, __doc__)
