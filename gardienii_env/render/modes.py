"""The render modes of the environments: what `render()` gives, made when it is first asked for.

Nothing of the extra `render` is imported before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from gardienii_env.errors import IllegalActionError, OptionError, as_index, one_of, shown
from gardienii_env.game import Game
from gardienii_env.render.scene import scene
from gardienii_env.render.texts import action_words, card_of, check_language, text
from gardienii_env.rules.actions import ACTIONS, action_id

__all__ = ["DEFAULT_SIZE", "RENDER_MODES", "Frame", "Renderer", "check_size"]

RENDER_MODES = ("human", "ansi", "rgb_array")
"""A window, text, or pixels."""

DEFAULT_SIZE = (1280, 800)
SMALLEST, LARGEST = 160, 8192

Frame = str | npt.NDArray[np.uint8]
"""Text, or pixels of shape (height, width, 3)."""


def check_size(size: object) -> tuple[int, int]:
    """Width and height in pixels; OptionError unless they are two whole numbers in range."""
    if isinstance(size, Sequence) and len(size) == 2:
        width, height = map(as_index, size)
        if SMALLEST <= width <= LARGEST and SMALLEST <= height <= LARGEST:
            return width, height
    raise OptionError(
        f"render_size: {shown(size)} is not a width and a height in pixels, whole numbers from "
        f"{SMALLEST} to {LARGEST}."
    )


class Renderer:
    """Renders games in one of the modes. A copy or a pickle has no window and nothing drawn.

    Args:
        mode: one of `modes`, or None: there is nothing to render.
        size: of pictures and windows, width and height in pixels.
        language: of the words: `en`, `de`, `hu` or `ro`.
        fps: how many frames a second a window shows at most.
        modes: the modes that the environment has.

    Raises OptionError, with the value at fault.
    """

    def __init__(
        self,
        mode: str | None,
        size: tuple[int, int] = DEFAULT_SIZE,
        language: str = "en",
        fps: float = 2,
        modes: Sequence[str] = RENDER_MODES,
    ) -> None:
        if mode is not None and mode not in modes:
            raise OptionError(one_of("render_mode:", mode, modes))
        self.mode = mode
        self.size = check_size(size)
        self.language = check_language(language)
        self._given = (mode, self.size, self.language, fps, modes)
        self._fps = fps
        self._picture: Any = None
        self._window: Any = None

    def __reduce__(self) -> tuple[object, ...]:
        return Renderer, self._given

    @property
    def draws(self) -> bool:
        """Whether pictures are drawn."""
        return self.mode in ("human", "rgb_array")

    def words_of(self, game: Game, action: str | SupportsIndex) -> str:
        """What an action does, told before it is done: `Seat 0 takes W3 from the supply`.

        Empty where no pictures are drawn, or if the action is not legal.
        """
        if not self.draws:
            return ""
        try:
            name = ACTIONS[action_id(action)]
        except IllegalActionError:
            return ""
        if name not in game.legal_actions():
            return ""
        before = scene(game)
        what = action_words(self.language, name, step=before["step"], card=card_of(before, name))
        return text(self.language, "told.seat", seat=game.player, what=what)

    def frame(
        self, game: Game, viewer: int | None, told: str = "", open_hands: bool = False
    ) -> Frame | None:
        """The game as text or as pixels; None in mode `human`, which shows it in the window.

        `told` is a line of words for the head of a picture.
        """
        if self.mode == "ansi":
            from gardienii_env.render.text import board

            return board(game, viewer, language=self.language)
        pixels: npt.NDArray[np.uint8] = self._pictures().frame(scene(game, viewer, open_hands), told)
        if self.mode == "rgb_array":
            return pixels
        self._show(pixels)
        return None

    def _pictures(self) -> Any:
        from gardienii_env.render.picture import Picture

        if self._picture is None:
            self._picture = Picture(self.size, self.language)
        return self._picture

    def _show(self, pixels: npt.NDArray[np.uint8]) -> None:
        from gardienii_env.render.window import Window

        if self._window is None:
            self._window = Window(self.size, self._fps)
        self._window.show(pixels)

    def close(self) -> None:
        """Close the window, if there is one; the next frame opens it again."""
        if self._window is not None:
            self._window.close()
            self._window = None
