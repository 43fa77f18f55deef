"""Random play of batched environments in JAX: one compiled loop of many steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness import Ready, kept, module

__all__ = ["compiled_ready", "random_legal", "set_up"]

STEPS = 64  # of the batch in one compiled call


def set_up() -> Any:
    """JAX, with compiled programs kept between runs."""
    jax = module("jax")
    jax.config.update("jax_compilation_cache_dir", str(kept("jax")))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    return jax


def random_legal(jax: Any, key: Any, mask: Any) -> Any:
    """A legal action for each row of a mask, uniformly.

    It is the first whose running count of legal actions passes a random number.
    """
    counts = jax.numpy.cumsum(mask.astype("int32"), axis=1)
    draws = jax.random.uniform(key, (mask.shape[0], 1)) * counts[:, -1:]
    return jax.numpy.argmax(counts > draws.astype("int32"), axis=1)


def compiled_ready(
    step: Callable[[Any, Any], tuple[Any, Any]],
    first: Callable[[Any], Any],
    games: int,
    version: str,
    numbers: int,
) -> Ready:
    """Make a case of a batch of games.

    Args:
        step: from (state, random key), the state after a random decision in each game, and observations.
        first: from a random key, the first state.
        games: in the batch.
        version: of the project.
        numbers: in an observation.

    The sum of all observations is carried along and read at the end of every call, so that the compiled
    program leaves none out.
    """
    jax = module("jax")

    def body(carried: Any, key: Any) -> tuple[Any, None]:
        state, total = carried
        state, seen = step(state, key)
        return (state, total + seen.sum(dtype="float32")), None

    def many(state: Any, key: Any) -> Any:
        start = (state, jax.numpy.float32(0))
        return jax.lax.scan(body, start, jax.random.split(key, STEPS))[0]

    loop = jax.jit(many)
    key = jax.random.key(0)
    state = jax.jit(first)(key)

    def play() -> int:
        nonlocal state, key
        key, now = jax.random.split(key)
        state, total = loop(state, now)
        float(total)
        return STEPS * games

    return Ready(play, version, numbers, mask=True)
