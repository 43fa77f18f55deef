"""A canvas for the board picture: shapes and words drawn smooth at the size that is asked for.

Lengths are given in units, of which the canvas has `scale` pixels each, so that one drawing serves all
sizes. Shapes are painted larger and scaled down; words too, so that letters stand where
they should at small sizes. What was painted is kept as a sprite. This module knows nothing of the game.

It needs pygame-ce (extra `render`), but no display: surfaces are plain memory.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from gardienii_env.errors import OptionError, shown
from gardienii_env.render.library import pygame

__all__ = ["INK", "Canvas", "Colour", "Painter", "Point", "Rect", "save"]

T = TypeVar("T")
Colour = tuple[int, int, int]
Point = tuple[float, float]

INK: Colour = (40, 33, 29)

FINER = 4
"""How much larger a shape is painted than it is shown, in each direction."""
MAX_KEPT = 4000
"""How many sprites are kept; a game has some hundreds."""
SMALLEST = 0.5
"""Words are drawn down to this part of their size to fit in; beyond it they are cut."""


class Rect(NamedTuple):
    """A rectangle in units."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Where it ends."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """Where it ends."""
        return self.y + self.height

    @property
    def centre(self) -> Point:
        """Its middle."""
        return self.x + self.width / 2, self.y + self.height / 2

    def inner(self, margin: float) -> Rect:
        """The same without a margin on all sides."""
        return Rect(self.x + margin, self.y + margin, self.width - 2 * margin, self.height - 2 * margin)


Painter = Callable[[pygame.Surface, float], None]
"""Paints a sprite onto a transparent surface; the number is how many pixels a unit has there."""


def save(pixels: npt.NDArray[np.uint8], path: str | Path) -> None:
    """Write a picture into a file; its ending says how: `.png`, `.jpg`, `.bmp`, `.tga`.

    Raises OptionError if it cannot be written.
    """
    height, width, _ = pixels.shape
    surface = pygame.image.frombuffer(pixels.tobytes(), (width, height), "RGB")
    if Path(path).suffix.lower() not in (".png", ".jpg", ".jpeg", ".bmp", ".tga"):
        raise OptionError(f"path: {shown(str(path))} does not end in .png, .jpg, .bmp or .tga.")
    try:
        pygame.image.save(surface, path)
    except (pygame.error, OSError) as error:
        raise OptionError(f"path: {shown(str(path))} cannot be written: {error}.") from None


class Canvas:
    """A picture in memory.

    Args:
        size: width and height in pixels.
        scale: pixels to a unit.

    Attributes:
        width, height: in units.
    """

    def __init__(self, size: tuple[int, int], scale: float) -> None:
        pygame.font.init()
        self.scale = scale
        self.width, self.height = size[0] / scale, size[1] / scale
        self._surface = pygame.Surface(size, 0, 32)  # sprites blend much faster onto this than onto RGB
        self._sprites: dict[Hashable, pygame.Surface] = {}
        self._fonts: dict[int, pygame.font.Font] = {}

    def fill(self, colour: Colour, rect: Rect | None = None) -> None:
        """Paint over a rectangle, or over everything, and draw within it only from now on."""
        within = None if rect is None else self._pixels_of(rect)
        self._surface.set_clip(within)
        self._surface.fill(colour, within)

    def _pixels_of(self, rect: Rect) -> pygame.Rect:
        x, y, right, bottom = (
            round(end * self.scale) for end in (rect.x, rect.y, rect.right, rect.bottom)
        )
        return pygame.Rect(x, y, right - x, bottom - y)

    def pixels(self) -> npt.NDArray[np.uint8]:
        """The picture in a new array: shape (height, width, 3), uint8, red, green and blue."""
        width, height = self._surface.get_size()
        memory = bytearray(width * height * 3)
        pygame.image.frombuffer(memory, (width, height), "RGB").blit(self._surface, (0, 0))
        return np.frombuffer(memory, np.uint8).reshape(height, width, 3)

    # -- shapes ------------------------------------------------------------------------------------

    def draw(self, key: Hashable, rect: Rect, painter: Painter) -> None:
        """Draw a shape that fills a rectangle; the key stands for what the painter paints."""
        place = self._pixels_of(rect)
        if place.width > 0 and place.height > 0:
            full = (key, place.size)
            sprite = self._sprites.get(full) or self._keep(full, self._painted(place.size, painter))
            self._surface.blit(sprite, place, special_flags=pygame.BLEND_PREMULTIPLIED)

    def _painted(self, size: tuple[int, int], painter: Painter) -> pygame.Surface:
        large = pygame.Surface((size[0] * FINER, size[1] * FINER), pygame.SRCALPHA)
        painter(large, self.scale * FINER)
        return pygame.transform.smoothscale(large.premul_alpha(), size)

    def _keep(self, key: Hashable, sprite: pygame.Surface) -> pygame.Surface:
        if len(self._sprites) >= MAX_KEPT:
            self._sprites.clear()
        self._sprites[key] = sprite
        return sprite

    def box(
        self,
        rect: Rect,
        fill: Colour,
        radius: float = 8,
        edge: Colour | None = None,
        thickness: float = 2,
    ) -> None:
        """A rectangle with round corners, and an edge within it."""

        def paint(surface: pygame.Surface, unit: float) -> None:
            bounds, corner = surface.get_rect(), round(radius * unit)
            if edge is not None:
                pygame.draw.rect(surface, edge, bounds, border_radius=corner)
                bounds = bounds.inflate(*[-2 * max(FINER, round(thickness * unit))] * 2)
                corner = max(0, corner - round(thickness * unit))
            pygame.draw.rect(surface, fill, bounds, border_radius=corner)

        self.draw(("box", fill, radius, edge, thickness), rect, paint)

    # -- words -------------------------------------------------------------------------------------

    def words(
        self,
        words: object,
        at: Point,
        size: float,
        colour: Colour = INK,
        align: tuple[float, float] = (0, 0.5),
        width: float | None = None,
    ) -> float:
        """Draw a line of words.

        Args:
            words: what to write; characters that cannot be printed are left out.
            at: the point where the words stand.
            size: height of the letters' line.
            align: which part of the words lies on that point: (0, 0.5) is the middle of the left
                side, (1, 1) the lower right corner.
            width: the most room there is; longer words are made smaller, then cut.

        Returns the width of what was drawn.
        """
        line = "".join(c for c in str(words) if c.isprintable())
        room = None if width is None else int(width * self.scale)
        key = ("words", line, size, colour, room)
        sprite = self._sprites.get(key) or self._keep(key, self._written(line, size, colour, room))
        x, y = at[0] * self.scale, at[1] * self.scale
        left, top = x - align[0] * sprite.get_width(), y - align[1] * sprite.get_height()
        place = (round(left), round(top))
        self._surface.blit(sprite, place, special_flags=pygame.BLEND_PREMULTIPLIED)
        return sprite.get_width() / self.scale

    def _written(self, line: str, size: float, colour: Colour, room: int | None) -> pygame.Surface:
        pixels = max(1, round(size * self.scale))
        if room is not None:
            least = max(1, round(pixels * SMALLEST))
            while pixels > least and self._width(line, pixels) > room:
                pixels -= 1
            while line and self._width(line, pixels) > room:
                line = line[:-2].rstrip() + "…" if len(line) > 1 else ""
        large = self._by_font(pixels, lambda font: font.render(line, True, colour))
        width, height = (max(1, -(-side // FINER)) for side in large.get_size())
        whole = pygame.Surface((width * FINER, height * FINER), pygame.SRCALPHA)
        whole.blit(large, (0, 0))
        return pygame.transform.smoothscale(whole.premul_alpha(), (width, height))

    def _width(self, line: str, pixels: int) -> float:
        return self._by_font(pixels, lambda font: font.size(line)[0]) / FINER

    def _by_font(self, pixels: int, use: Callable[[pygame.font.Font], T]) -> T:
        """What `use` makes of a font. Other code may have called `pygame.quit()`, which spoils fonts."""
        try:
            return use(self._font(pixels))
        except pygame.error:
            pygame.font.init()
            self._fonts.clear()
            return use(self._font(pixels))

    def _font(self, pixels: int) -> pygame.font.Font:
        """The font that comes with pygame, enlarged: it has all letters of the four languages."""
        if pixels not in self._fonts:
            self._fonts[pixels] = pygame.font.Font(None, pixels * FINER)
        return self._fonts[pixels]
