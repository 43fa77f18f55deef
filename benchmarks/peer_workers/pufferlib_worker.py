"""PufferLib's triple triad, written in C: a batch of games stepped by one call.

Actions are drawn before the timed loop, uniformly of all 14, since the environment takes any and answers
an illegal one with nothing but a penalty: every step counts as a decision here, a legal one or not. The
opponent's moves are made at random inside the step and do not count. The mask is part of the
observation.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from harness import Ready, kept, module, work

GAMES = 1024
STEPS = 64  # of the batch in one call of `play`
NUMBERS = 114
ACTIONS = 14
SIZES = {"width": 990, "height": 690, "card_width": 192, "card_height": 224}  # for drawing


class TripleTriad:
    """A batch of games, and the arrays that its C code reads and writes."""

    def __init__(self) -> None:
        numpy = module("numpy")
        sys.path.append(str(kept("pufferlib")))
        self.binding = module("binding")
        self.observations = numpy.zeros((GAMES, NUMBERS), numpy.float32)
        self.actions = numpy.zeros(GAMES, numpy.int32)
        self.rewards = numpy.zeros(GAMES, numpy.float32)
        self.terminals = numpy.zeros(GAMES, numpy.uint8)
        self.truncations = numpy.zeros(GAMES, numpy.uint8)
        buffers = (self.observations, self.actions, self.rewards, self.terminals, self.truncations)
        self.games = self.binding.vec_init(*buffers, GAMES, 0, **SIZES)
        self.binding.vec_reset(self.games, 0)
        self.drawn = numpy.random.default_rng(0).integers(ACTIONS, size=(997, GAMES), dtype=numpy.int32)
        self.step = 0

    def play(self) -> int:
        """Some steps of the whole batch."""
        for _ in range(STEPS):
            self.actions[:] = self.drawn[self.step % len(self.drawn)]
            self.binding.vec_step(self.games)
            self.step += 1
        return STEPS * GAMES


def triple_triad() -> Ready:
    """Triple triad against the built-in opponent."""
    return Ready(TripleTriad().play, source_version(), NUMBERS, mask=True)


def source_version() -> str:
    """The version that the source package tells."""
    (about,) = kept("pufferlib").glob("pip-download-*/pufferlib_*/PKG-INFO")
    fields = dict(line.split(": ", 1) for line in about.read_text().splitlines()[:5] if ": " in line)
    return fields["Version"]


CASES: dict[str, Callable[[], Ready]] = {"triple_triad": triple_triad}

if __name__ == "__main__":
    work(CASES, __doc__)
