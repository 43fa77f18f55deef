"""The state record: every byte belongs to a field, so that games can be copied and compared as bytes."""

from __future__ import annotations

import numpy as np
import pytest

from gardienii_env.rules.ruleset import RULES
from gardienii_env.rules.state import STATE


@pytest.mark.parametrize("dtype", [STATE, RULES], ids=["STATE", "RULES"])
def test_a_record_has_no_bytes_between_its_fields(dtype: np.dtype[np.void]) -> None:
    assert dtype.fields is not None
    assert sum(field[0].itemsize for field in dtype.fields.values()) == dtype.itemsize


def test_a_copy_has_the_same_bytes() -> None:
    states = np.frombuffer(np.random.default_rng(1).bytes(4 * STATE.itemsize), STATE)
    other = np.zeros(4, STATE)
    other[:3], other[3] = states[:3], states[3]
    for copied in (states.copy(), states[np.arange(4)], other):
        assert copied.tobytes() == states.tobytes()
