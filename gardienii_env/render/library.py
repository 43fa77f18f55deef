"""The drawing library, pygame-ce (extra `render`), imported without the lines that it prints."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO

from gardienii_env.errors import MissingExtraError

try:
    with redirect_stdout(StringIO()):
        import pygame
except ImportError as error:
    raise MissingExtraError("The board picture", "render") from error

__all__ = ["pygame"]
