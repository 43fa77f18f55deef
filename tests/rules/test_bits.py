"""Bit sets: compiled functions against what the sets are."""

from __future__ import annotations

import os
import random
from typing import Any

import numba
import pytest

from gardienii_env.rules import bits
from gardienii_env.rules.jit import compiled

RNG = random.Random(0)
SETS = [{RNG.randrange(63) for _ in range(RNG.randrange(1, 40))} for _ in range(500)]
SETS += [{0}, {62}, set(range(63)), set(range(5))]


@compiled
def compiled_nth_bit(members: int, n: int) -> int:
    return bits.nth_bit(members, n)


@compiled
def compiled_lowest_bit(members: int) -> int:
    return bits.lowest_bit(members)


@compiled
def compiled_count_bits(members: int) -> int:
    return bits.count_bits(members)


def number(members: set[int]) -> int:
    return sum(1 << member for member in members)


@pytest.mark.parametrize("nth_bit", [compiled_nth_bit, bits.nth_bit])
def test_nth_bit_is_the_nth_member(nth_bit: Any) -> None:
    for members in SETS:
        found = [nth_bit(number(members), n) for n in range(len(members))]
        assert found == sorted(members)


@pytest.mark.parametrize("lowest_bit", [compiled_lowest_bit, bits.lowest_bit])
@pytest.mark.parametrize("count_bits", [compiled_count_bits, bits.count_bits])
def test_lowest_and_number_of_members(lowest_bit: Any, count_bits: Any) -> None:
    for members in SETS:
        assert lowest_bit(number(members)) == min(members)
        assert count_bits(number(members)) == len(members)


@pytest.mark.skipif(
    bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="there is one way only without compiling"
)
def test_processors_without_the_instruction_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is compiled for a processor that spreads no bits finds the same."""
    monkeypatch.setattr(bits, "_has_fast_pdep", lambda: False)

    def count(members: int, n: int) -> int:
        return bits.nth_bit(members, n)

    nth_bit: Any = numba.njit(count)
    for members in SETS[:100]:
        assert [nth_bit(number(members), n) for n in range(len(members))] == sorted(members)
