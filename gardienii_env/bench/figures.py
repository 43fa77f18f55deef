"""What a measurement gives, and the loop that times one."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

__all__ = ["BYTES", "DECISIONS", "RATIO", "SHARE", "UNITS", "Figure", "samples_of", "timed"]

DECISIONS, SHARE, RATIO, BYTES = UNITS = ("decisions/s", "share", "ratio", "bytes")

Speed = Callable[[float], float]
"""Plays for at least so many seconds; decisions per second. Nothing is left to happen only once."""


@dataclass(frozen=True)
class Figure:
    """One number with how far it varied.

    Attributes:
        what: was measured, within its case.
        unit: one of `UNITS`; a share is from 0 to 1.
        samples: one for each repeat; a single one for what does not vary.
        setup: what it was measured with, where that says something: `players`, `games`, `threads`,
            `view`, `dtype`, `opponents`.
    """

    what: str
    unit: str
    samples: tuple[float, ...]
    setup: Mapping[str, Any] = field(default_factory=dict)

    @property
    def median(self) -> float:
        """The figure."""
        return median(self.samples)

    @property
    def min(self) -> float:
        """The lowest sample."""
        return min(self.samples)

    @property
    def max(self) -> float:
        """The highest sample."""
        return max(self.samples)


def samples_of(speed: Speed, seconds: float, repeats: int) -> tuple[float, ...]:
    """Measure so many times, for so many seconds in all."""
    return tuple(speed(seconds / repeats) for _ in range(repeats))


def timed(play: Callable[[], int]) -> Speed:
    """The speed of a function that plays some decisions and says how many; all of its time counts."""

    def speed(seconds: float) -> float:
        decisions, elapsed = 0, 0.0
        start = time.perf_counter()
        while elapsed < seconds or decisions == 0:
            decisions += play()
            elapsed = time.perf_counter() - start
        return decisions / elapsed

    return speed
