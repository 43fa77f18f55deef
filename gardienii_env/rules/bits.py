"""Small sets as the bits of a whole number: bit k is set if k is in the set; k from 0 to 62."""

from __future__ import annotations

from typing import Any

import numba
from llvmlite import ir
from numba.core.registry import cpu_target
from numba.extending import intrinsic, overload

__all__ = ["count_bits", "lowest_bit", "nth_bit"]


def count_bits(bits: int) -> int:
    """How many members a set has."""
    return int(bits).bit_count()


def lowest_bit(bits: int) -> int:
    """The smallest member of a set that is not empty."""
    return (int(bits) & -int(bits)).bit_length() - 1


def nth_bit(bits: int, n: int) -> int:
    """The member of a set that n others are smaller than."""
    bits = int(bits)
    for _ in range(n):
        bits &= bits - 1
    return lowest_bit(bits)


# Compiled, the first two are single instructions of the processor, and so is most of the third where
# it has a fast one for it: a loop of unknown length costs more than all the rest.


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


def _pdep(context: Any, bits: Any, places: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number: Any = ir.IntType(64)  # type: ignore[no-untyped-call]
        kind: Any = ir.FunctionType(number, [number, number])  # type: ignore[no-untyped-call]
        pdep = builder.module.declare_intrinsic("llvm.x86.bmi.pdep.64", (), kind)
        return builder.call(pdep, arguments)

    return numba.int64(numba.int64, numba.int64), generate


pdep: Any = intrinsic(_pdep)


def _has_fast_pdep() -> bool:
    """Whether the processor compiled for spreads bits fast: AMD's first Zens take 300 cycles for it."""
    _, processor, features = cpu_target.target_context.codegen().magic_tuple()
    return "+bmi2" in features and processor not in ("znver1", "znver2")


@overload(nth_bit, jit_options={"forceinline": True})
def _nth_bit(bits: Any, n: Any) -> Any:
    def spread(bits: Any, n: Any) -> Any:
        return cttz(pdep(1 << n, bits))

    def count(bits: Any, n: Any) -> Any:
        for _ in range(n):
            bits &= bits - 1
        return cttz(bits)

    return spread if _has_fast_pdep() else count
