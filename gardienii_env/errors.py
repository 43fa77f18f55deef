"""The exceptions of the package. Each carries one sentence: what was wrong, and the way out."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from operator import index

__all__ = [
    "AgentError",
    "DealError",
    "Ended",
    "GardieniiError",
    "IllegalActionError",
    "MissingExtraError",
    "OptionError",
    "RecordError",
    "RulesetError",
    "as_index",
    "one_of",
    "shown",
]

MAX_SHOWN = 80
MAX_NAMED = 40
MAX_MESSAGE = 4000


class GardieniiError(ValueError):
    """Base class of all errors that the package raises on bad input.

    Messages name what came from outside, so they are made fit to print: control characters are
    escaped, and what is very long is cut.
    """

    def __init__(self, message: str) -> None:
        super().__init__(_printable(message))


class RulesetError(GardieniiError):
    """A ruleset is not valid; the message starts with the name of the field at fault."""


class DealError(GardieniiError):
    """A deal cannot come from the components of its ruleset."""


class RecordError(GardieniiError):
    """A game record cannot be read or replayed. `move` counts from 0; None: not about a move."""

    def __init__(self, message: str, move: int | None = None) -> None:
        super().__init__(message)
        self.move = move


class IllegalActionError(GardieniiError):
    """The action is not legal now. The game is as it was before."""


class AgentError(GardieniiError):
    """An agent's name cannot be understood, or the agent does not fit the game, or fails in it.

    `game` is the place of the game in the batch in which it failed; None: not about one game.
    """

    def __init__(self, message: str, game: int | None = None) -> None:
        super().__init__(message)
        self.game = game


class OptionError(GardieniiError):
    """An option of an environment, a command or a training configuration has a wrong value."""


class Ended(SystemExit):
    """The process was asked to end by a signal."""


class MissingExtraError(GardieniiError, ImportError):
    """A library is missing that comes with one of the package's extras."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(
            f"{what} needs libraries that are not installed: pip install 'gardienii-env[{extra}]', or "
            f"in a clone pip install -e '.[{extra}]'"
        )


def _printable(message: str) -> str:
    if len(message) > MAX_MESSAGE:
        message = message[: MAX_MESSAGE - 3] + "..."
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in message)


def as_index(value: object) -> int:
    """A whole number as int; -1 for anything else, truth values included."""
    try:
        return -1 if isinstance(value, bool) else index(value)  # type: ignore[arg-type]
    except TypeError:
        return -1


def shown(value: object) -> str:
    """A value as a message shows it: cut where it is long."""
    try:
        text = repr(value)
    except Exception:  # a number of thousands of digits, lists in lists in lists, a user's object
        return f"this {type(value).__name__}"
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 3] + "..."


def one_of(what: str, value: object, choices: Iterable[str]) -> str:
    """A sentence for a `value` that is none of `choices`, with the nearest one where there is one."""
    names = list(choices)
    near = get_close_matches(value, names, n=1) if isinstance(value, str) else []
    hint = f" Did you mean {near[0]!r}?" if near else ""
    some = names if len(names) <= MAX_NAMED else [*names[: MAX_NAMED // 2], "..."]
    return f"{what} {shown(value)} is not known; expected one of: {', '.join(some)}.{hint}"
