"""Random numbers inside compiled functions: SplitMix64, whose whole state is one 64-bit number.

Nothing here touches global random state: the generator lives in the field `rng` of whatever record
it is drawn for. Source: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number
generators", OOPSLA 2014; bounded numbers after D. Lemire, "Fast random integer generation in an
interval", ACM TOMACS 2019.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gardienii_env.errors import OptionError, as_index, shown
from gardienii_env.rules.jit import compiled, inlined, inlined_modular

__all__ = ["check_seed", "draw_below", "seed_streams", "shuffle"]

GAMMA = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
LOW_32 = np.uint64(0xFFFFFFFF)
S30, S27, S31, S32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)


def check_seed(seed: object) -> int | None:
    """The seed as int or None; OptionError if it is neither None nor a whole number from 0 up."""
    if seed is None:
        return None
    number = as_index(seed)
    if number < 0:
        raise OptionError(f"seed: {shown(seed)} is neither a whole number from 0 up nor None.")
    return number


def seed_streams(seed: int | None, streams: int) -> npt.NDArray[np.uint64]:
    """Independent starting points made from one seed (None: from the operating system).

    Returns shape (streams,), uint64. Stream 0 deals the cards in every environment, so that one seed
    gives one game everywhere. OptionError if the seed is not a whole number from 0 up.
    """
    return np.random.SeedSequence(check_seed(seed)).generate_state(streams, np.uint64).astype(np.uint64)


@inlined_modular
def draw(s: np.void) -> np.uint64:
    """The next 64 random bits of the generator in `s["rng"]`."""
    x = s["rng"] + GAMMA
    s["rng"] = x
    x = (x ^ (x >> S30)) * MIX_1
    x = (x ^ (x >> S27)) * MIX_2
    return np.uint64(x ^ (x >> S31))


@inlined
def draw_below(s: np.void, n: int) -> int:
    """A whole number from 0 to n - 1, each equally likely (n from 1 to 2**31)."""
    bound = np.uint64(n)
    while True:
        product = (draw(s) >> S32) * bound
        low = product & LOW_32
        if low >= bound or low >= (LOW_32 - bound + np.uint64(1)) % bound:
            return int(product >> S32)


@compiled
def shuffle(s: np.void, values: npt.NDArray[np.int8], n: int) -> None:
    """Put the first n values in a random order, each order equally likely."""
    for last in range(n - 1, 0, -1):
        other = draw_below(s, last + 1)
        values[last], values[other] = values[other], values[last]
