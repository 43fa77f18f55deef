"""The board as a picture: a scene drawn at any size.

    from gardienii_env.render.picture import picture, save

    pixels = picture(game, viewer=0)  # shape (800, 1280, 3), uint8
    save(pixels, "board.png")

`Picture` keeps what it has drawn: of the next scene only the regions that differ are drawn. It needs
pygame-ce (extra `render`), but no display.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gardienii_env.game import Game
from gardienii_env.render.canvas import Canvas, Colour, Rect, save
from gardienii_env.render.modes import DEFAULT_SIZE, check_size
from gardienii_env.render.panels import EndPanel, SeatPanel, TablePanel, bank_panel, header
from gardienii_env.render.scene import Scene, scene
from gardienii_env.render.shapes import Shapes
from gardienii_env.render.texts import check_language

__all__ = ["Picture", "picture", "save"]

CLOTH: Colour = (38, 58, 66)
PLAIN = (1280, 800)
"""The least width and height in units: everything has its place in them."""
GAP = 10
HEADER = 64
TABLE = 350

Region = tuple[Rect, Any, Callable[[Rect], None]]
"""Where it is, what it shows, and how it is drawn."""


def picture(
    game: Game,
    viewer: int | None = None,
    size: tuple[int, int] = DEFAULT_SIZE,
    open_hands: bool = False,
    language: str = "en",
    told: str = "",
) -> npt.NDArray[np.uint8]:
    """The board as pixels: shape (height, width, 3), uint8, red, green and blue.

    Args:
        game: the game, on or over.
        viewer: the seat that looks, or None for a spectator.
        size: width and height in pixels.
        open_hands: show all hands; see `scene`.
        language: of the words: `en`, `de`, `hu` or `ro`.
        told: a line of words, such as what was done last.

    Raises OptionError for a wrong viewer, size or language.
    """
    return Picture(size, language).frame(scene(game, viewer, open_hands), told)


class Picture:
    """Draws scenes, one after the other. A copy or a pickle begins with nothing drawn.

    Args:
        size: width and height in pixels.
        language: of the words.
    """

    def __init__(self, size: tuple[int, int] = DEFAULT_SIZE, language: str = "en") -> None:
        self.size = check_size(size)
        self.language = check_language(language)
        self._canvas = Canvas(self.size, min(self.size[0] / PLAIN[0], self.size[1] / PLAIN[1]))
        self._shapes = Shapes(self._canvas)
        self._drawn: dict[Rect, Any] = {}

    def __reduce__(self) -> tuple[object, ...]:
        return Picture, (self.size, self.language)

    def frame(self, scene: Scene, told: str = "") -> npt.NDArray[np.uint8]:
        """The scene as pixels, in a new array: shape (height, width, 3), uint8.

        `told` is a line of words for the head of the picture, such as what was done last.
        """
        regions = self._regions(scene, told)
        if [region for region, *_ in regions] != list(self._drawn):
            self._canvas.fill(CLOTH)
            self._drawn = {}
        for rect, shown, draw in regions:
            if rect not in self._drawn or self._drawn[rect] != shown:
                self._canvas.fill(CLOTH, rect)
                draw(rect)
                self._drawn[rect] = shown
        return self._canvas.pixels()

    def _regions(self, scene: Scene, told: str) -> Sequence[Region]:
        """The parts of the picture."""
        shapes, language = self._shapes, self.language
        width, height = self._canvas.width, self._canvas.height
        inside = width - 2 * GAP
        bank = Rect(width - GAP - 0.34 * inside, HEADER, 0.34 * inside, self._table_height())
        table = Rect(GAP, HEADER, bank.x - 2 * GAP, bank.height)
        head = Rect(GAP, 0, inside, HEADER)
        end = scene["end"]

        def draw_header(rect: Rect) -> None:
            header(shapes, language, rect, scene, told)

        def draw_table(rect: Rect) -> None:
            if end is not None:
                EndPanel(shapes, language, rect).draw(end)
            else:
                TablePanel(shapes, language, rect).draw(scene)

        def draw_bank(rect: Rect) -> None:
            bank_panel(shapes, language, rect, scene)

        regions: list[Region] = [
            (head, (header_facts(scene), told), draw_header),
            (table, end or table_facts(scene), draw_table),
            (bank, (scene["bank"], scene["amulets"]), draw_bank),
        ]
        top = table.bottom + GAP
        share = (inside + GAP) / scene["players"]
        for seat in range(scene["players"]):
            rect = Rect(GAP + seat * share, top, share - GAP, height - GAP - top)
            regions.append(self._seat_region(rect, scene, seat))
        return regions

    def _table_height(self) -> float:
        """The table takes a part of what is more than the least height."""
        return TABLE + 0.4 * (self._canvas.height - PLAIN[1])

    def _seat_region(self, rect: Rect, scene: Scene, seat: int) -> Region:
        def draw(rect: Rect) -> None:
            SeatPanel(self._shapes, self.language, rect).draw(scene, seat)

        return rect, seat_facts(scene, seat), draw


def header_facts(scene: Scene) -> Any:
    """What the head of the picture is made from."""
    names = ("ruleset", "players", "turn", "active", "deciding", "step")
    return [scene[name] for name in names], scene["end"] and scene["end"]["reason"]  # type: ignore[literal-required]


def table_facts(scene: Scene) -> Any:
    """What the table is made from, while the game is on."""
    names = ("spell", "supply", "decks", "taken", "paid", "open", "needed")
    takes = [action for action in scene["legal"] if action.startswith("take")]
    return [scene[name] for name in names], takes  # type: ignore[literal-required]


def seat_facts(scene: Scene, seat: int) -> Any:
    """What a seat is made from."""
    decides = scene["deciding"] == seat
    return (
        scene["seats"][seat],
        scene["active"] == seat and not scene["end"],
        scene["viewer"] == seat,
        scene["legal"] if decides else decides,
        scene["end"] and scene["end"]["winners"],
        scene["dragons_score"],
    )
