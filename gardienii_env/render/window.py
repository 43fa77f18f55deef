"""A window that shows pictures, one for each environment that asks for it (extra `render`)."""

from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt

from gardienii_env.errors import MissingExtraError, OptionError
from gardienii_env.render.library import pygame

if not hasattr(pygame, "Window"):  # the older pygame, which other packages may have installed
    raise MissingExtraError("The window", "render")

__all__ = ["Window"]

TITLE = "gardienii-env"
NO_DISPLAY = "render_mode: 'human' needs a display, and there is none ({}); use 'rgb_array' or 'ansi'."
UNSEEN = ("dummy", "offscreen")
"""Drivers of SDL that show nothing; whoever asks for one by SDL_VIDEODRIVER gets it."""


class Window:
    """A window of a given size; several can be open at once.

    Args:
        size: width and height in pixels.
        fps: how many frames a second it shows at most.

    Raises OptionError where there is no display.
    """

    def __init__(self, size: tuple[int, int], fps: float) -> None:
        self._size, self._fps = size, fps
        self._clock = pygame.time.Clock()
        self._window: pygame.Window | None = None
        self._open()

    def _open(self) -> None:
        # What is left of a window that `pygame.quit()` took away goes first: later it could take the new
        # one along, which may lie at the same place in memory.
        self._window = None
        try:
            pygame.display.init()
            self._window = pygame.Window(TITLE, self._size)
        except pygame.error as error:
            raise OptionError(NO_DISPLAY.format(error)) from None
        driver = pygame.display.get_driver()
        if driver in UNSEEN and "SDL_VIDEODRIVER" not in os.environ:
            self.close()
            raise OptionError(NO_DISPLAY.format(f"SDL fell back on its driver {driver!r}"))

    @property
    def is_open(self) -> bool:
        """False once it has been closed, by the program or by the person."""
        return self._window is not None

    def show(self, pixels: npt.NDArray[np.uint8]) -> None:
        """Show a picture, shape (height, width, 3), and wait for its time to be over.

        Does nothing once the window has been closed.
        """
        if self._window is None:
            return
        try:
            self._show(pixels)
        except pygame.error:  # other code has called `pygame.quit()`, which takes all windows away
            self._open()
            self._show(pixels)

    def _show(self, pixels: npt.NDArray[np.uint8]) -> None:
        self._answer()
        if self._window is None:
            return
        picture = pygame.image.frombuffer(pixels.tobytes(), self._size, "RGB")
        self._window.get_surface().blit(picture, (0, 0))
        self._window.flip()
        self._clock.tick(self._fps)

    def _answer(self) -> None:
        """Close when the person says so; what is meant for other windows is left to them."""
        if self._window is None:
            return
        for event in pygame.event.get(pygame.WINDOWCLOSE):
            if event.window is self._window:
                self.close()
            else:
                pygame.event.post(event)

    def close(self) -> None:
        """Close this window, and no other."""
        if self._window is not None:
            self._window.destroy()
            self._window = None
