"""Small sets as the bits of a whole number: bit k is set if k is in the set; k from 0 to 62."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.extending import intrinsic, overload

from gardienii_env.rules.jit import inlined

__all__ = ["count_bits", "lowest_bit", "nth_bit"]


def count_bits(bits: int) -> int:
    """How many members a set has."""
    return int(bits).bit_count()


def lowest_bit(bits: int) -> int:
    """The smallest member of a set that is not empty."""
    return (int(bits) & -int(bits)).bit_length() - 1


@inlined
def nth_bit(bits: int, n: int) -> int:
    """The member of a set that n others are smaller than."""
    if bits & (bits + 1) == 0:  # a set of 0, 1, 2 and so on
        return int(np.int64(n))
    for _ in range(n):
        bits &= bits - 1
    return lowest_bit(bits)


# Compiled, the first two are single instructions of the processor.


NEVER_ZERO: Any = ir.Constant(ir.IntType(1), 1)  # type: ignore[no-untyped-call]


def _ctpop(context: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return numba.int64(numba.int64), generate


def _cttz(context: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], NEVER_ZERO)

    return numba.int64(numba.int64), generate


ctpop: Any = intrinsic(_ctpop)
cttz: Any = intrinsic(_cttz)


@overload(count_bits, jit_options={"forceinline": True})
def _count_bits(bits: Any) -> Any:
    def count(bits: Any) -> Any:
        return ctpop(bits)

    return count


@overload(lowest_bit, jit_options={"forceinline": True})
def _lowest_bit(bits: Any) -> Any:
    def lowest(bits: Any) -> Any:
        return cttz(bits)

    return lowest
