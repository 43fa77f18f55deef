"""Differences between plain data: a replay is one scene and what changes from each to the next.

A difference is an object, which says by key (of an object) or by place (in a list) what changes there,
or a list of one value, which takes the place of what was there. `board.js` puts them together again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["changed", "difference"]


def difference(old: Any, new: Any) -> Any:
    """What makes `new` of `old`, both plain data for JSON; an empty object if they are the same."""
    if isinstance(old, dict) and isinstance(new, dict) and list(old) == list(new):
        keys: Any = list(old)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        keys = range(len(old))
    else:
        return {} if old == new and type(old) is type(new) else [new]
    changes = {str(key): change for key in keys if (change := difference(old[key], new[key])) != {}}
    return changes if len(changes) < len(keys) or len(keys) == 0 else [new]


def changed(old: Any, change: Any) -> Any:
    """What a difference makes of `old`, which stays as it is."""
    if isinstance(change, list):
        return change[0]
    if not change:
        return old
    assert isinstance(change, Mapping)
    new = list(old) if isinstance(old, list) else dict(old)
    for key, part in change.items():
        place: Any = int(key) if isinstance(new, list) else key
        new[place] = changed(new[place], part)
    return new
