"""The things of the game as simple shapes: cards, signs of the colours, tokens, the book.

The four colours are from the set of Okabe and Ito, which people see apart whatever their colour vision;
each has a sign besides: ring, triangle, square, leaf, and a star for dark.
"""

from __future__ import annotations

from math import cos, pi, sin

from gardienii_env.render.canvas import INK, Canvas, Colour, Point, Rect
from gardienii_env.render.library import pygame

__all__ = ["CARD_SHAPE", "GOLD", "PAPER", "Shapes"]

PAPER: Colour = (249, 243, 230)
GOLD: Colour = (230, 170, 20)
COVER: Colour = (112, 66, 40)
GREY: Colour = (150, 142, 132)

FILLS: dict[str, Colour] = {
    "W": (250, 248, 240),
    "R": (204, 80, 0),
    "B": (0, 104, 168),
    "G": (0, 142, 104),
    "D": (52, 46, 64),
}
"""What a card or a sign of a colour is filled with."""
SIGNS: dict[str, Colour] = {**dict.fromkeys("RBG", (255, 255, 255)), "W": INK, "D": (255, 205, 70)}
"""What its sign is drawn with."""

CARD_SHAPE = 5 / 7
"""Width of a card, for a height of 1."""

FRAME = 4.5
"""How wide the frame is around a card that can be chosen."""

Polygon = list[Point]


def regular(corners: int, radius: float, inner: float | None = None) -> Polygon:
    """A regular polygon around (0.5, 0.5), one corner up; with an inner radius a star."""
    points = corners if inner is None else 2 * corners
    radii = [radius if k % 2 == 0 or inner is None else inner for k in range(points)]
    angles = [2 * pi * k / points - pi / 2 for k in range(points)]
    return [(0.5 + r * cos(a), 0.5 + r * sin(a)) for r, a in zip(radii, angles, strict=True)]


def leaf() -> Polygon:
    """A leaf from the lower left to the upper right: two arcs that meet."""
    steps = [k / 24 for k in range(25)]
    bulge, low, high = 0.27, 0.1, 0.9
    along = [(low + (high - low) * t, high - (high - low) * t, bulge * sin(pi * t)) for t in steps]
    upper = [(x - b, y - b) for x, y, b in along]
    lower = [(x + b, y + b) for x, y, b in reversed(along)]
    return upper + lower


def egg() -> Polygon:
    """An egg, its point up."""
    angles = [2 * pi * k / 48 for k in range(48)]
    return [
        (0.5 + 0.36 * sin(a) * (1 - 0.16 * cos(a)), 0.54 - 0.46 * cos(a) + 0.02 * cos(2 * a))
        for a in angles
    ]


LEAF = leaf()
EGG = egg()
STAR = regular(5, 0.48, 0.2)
TRIANGLE = [(0.5, 0.08), (0.96, 0.88), (0.04, 0.88)]
CRYSTAL = [(0.5, 0.02), (0.84, 0.3), (0.7, 0.96), (0.3, 0.96), (0.16, 0.3)]
SHIELD = [(0.06, 0.04), (0.94, 0.04), (0.94, 0.5), (0.8, 0.76), (0.5, 0.97), (0.2, 0.76), (0.06, 0.5)]


def polygon(
    surface: pygame.Surface, colour: Colour, points: Polygon, box: pygame.Rect | None = None
) -> None:
    """Fill a polygon given in parts of a box (of the whole surface)."""
    within = surface.get_rect() if box is None else box
    at = [(within.x + x * within.width, within.y + y * within.height) for x, y in points]
    pygame.draw.polygon(surface, colour, at)


def edged(surface: pygame.Surface, colour: Colour, points: Polygon) -> None:
    """A polygon with a dark edge."""
    polygon(surface, INK, points)
    polygon(surface, colour, [(0.5 + (x - 0.5) * 0.86, 0.5 + (y - 0.5) * 0.86) for x, y in points])


def disc(surface: pygame.Surface, colour: Colour, radius: float, at: Point = (0.5, 0.5)) -> None:
    """A disc, in parts of the surface."""
    width, height = surface.get_size()
    pygame.draw.circle(surface, colour, (at[0] * width, at[1] * height), radius * width)


def sign(surface: pygame.Surface, letter: str, box: pygame.Rect) -> None:
    """The sign of a colour, in a square."""
    ink = SIGNS[letter]
    side = box.width
    if letter == "W":
        pygame.draw.circle(surface, ink, box.center, round(side * 0.44), max(1, round(side * 0.17)))
    elif letter == "B":
        pygame.draw.rect(surface, ink, box.inflate(-side * 0.24, -side * 0.24))
    elif letter == "G":
        polygon(surface, ink, LEAF, box)
        vein = (box.x + side * 0.02, box.y + side * 0.98), (box.x + side * 0.72, box.y + side * 0.28)
        pygame.draw.line(surface, FILLS["G"], *vein, max(1, round(side * 0.07)))
    else:
        polygon(surface, ink, TRIANGLE if letter == "R" else STAR, box)


def middle(surface: pygame.Surface, share: float, rise: float = 0) -> pygame.Rect:
    """A square in the middle of a surface, with this share of its width, raised by a share of it."""
    width, height = surface.get_size()
    box = pygame.Rect(0, 0, round(width * share), round(width * share))
    box.center = (width // 2, round(height / 2 - width * rise))
    return box


class Shapes:
    """Draws the things of the game on a canvas; lengths in its units."""

    def __init__(self, canvas: Canvas) -> None:
        self.canvas = canvas

    def chip(self, letter: str, rect: Rect) -> None:
        """A colour: a square of it with its sign."""

        def paint(surface: pygame.Surface, unit: float) -> None:
            bounds, edge = surface.get_rect(), max(4, round(1.5 * unit))
            corner = round(bounds.width * 0.18)
            pygame.draw.rect(surface, INK, bounds, border_radius=corner)
            inner = bounds.inflate(-2 * edge, -2 * edge)
            pygame.draw.rect(surface, FILLS[letter], inner, border_radius=max(0, corner - edge))
            sign(surface, letter, middle(surface, 0.62))

        self.canvas.draw(("chip", letter), rect, paint)

    def card(self, name: str, at: Point, height: float, count: int = 1, legal: bool = False) -> None:
        """A card, front up, with its page below; `at` is its upper left corner."""
        rect = Rect(*at, height * CARD_SHAPE, height)
        if legal:
            self.canvas.box(rect.inner(-FRAME), GOLD, height * 0.1 + FRAME)

        def paint(surface: pygame.Surface, unit: float) -> None:
            bounds, edge = surface.get_rect(), max(4, round(1.5 * unit))
            corner = round(bounds.width * 0.14)
            pygame.draw.rect(surface, INK, bounds, border_radius=corner)
            inner = bounds.inflate(-2 * edge, -2 * edge)
            pygame.draw.rect(surface, FILLS[name[0]], inner, border_radius=corner - edge)
            sign(surface, name[0], middle(surface, 0.62, 0.27))

        self.canvas.draw(("card", name[0]), rect, paint)
        self._page(name[1], rect)
        if count > 1:
            self.badge(count, (rect.right - height * 0.08, rect.y + height * 0.08), height * 0.3)

    def _page(self, back: str, card: Rect) -> None:
        """What the back of a card says, at its foot."""
        height = card.height * 0.36
        page = Rect(card.x + card.width * 0.12, card.bottom - height * 1.16, card.width * 0.76, height)
        self.canvas.box(page, PAPER, height * 0.22, INK, 1)
        if back.isdigit():
            self.canvas.words(back, page.centre, height * 1.12, align=(0.5, 0.46))
        else:
            side = height * 0.84
            x, y = page.centre
            self.chip(back.upper(), Rect(x - side / 2, y - side / 2, side, side))

    def card_back(self, at: Point, height: float) -> None:
        """A card face down, of which nothing can be known."""
        rect = Rect(*at, height * CARD_SHAPE, height)
        self.canvas.box(rect, COVER, height * 0.1, INK, 1.5)
        self.canvas.box(rect.inner(height * 0.12), (150, 96, 60), height * 0.05)

    def badge(self, count: object, centre: Point, size: float) -> None:
        """A small dark disc with a number."""
        width = size * (0.75 + 0.25 * len(str(count)))
        rect = Rect(centre[0] - width / 2, centre[1] - size / 2, width, size)
        self.canvas.box(rect, (255, 255, 255), size / 2, INK, 1.5)
        self.canvas.words(count, centre, size * 1.1, align=(0.5, 0.46))

    # -- tokens ------------------------------------------------------------------------------------

    def piece(self, points: object, centre: Point, size: float, count: int = 1) -> None:
        """An amulet piece with its points (none: face down)."""
        rect = square(centre, size)

        def paint(surface: pygame.Surface, unit: float) -> None:
            disc(surface, INK, 0.5)
            disc(surface, GOLD, 0.5 - max(4, 1.5 * unit) / surface.get_width())
            disc(surface, (255, 226, 140), 0.37)

        self.canvas.draw("piece", rect, paint)
        self.canvas.words(points, centre, size * 0.72, align=(0.5, 0.46))
        if count > 1:
            self.badge(count, (centre[0] + size * 0.4, centre[1] - size * 0.36), size * 0.5)

    def amulet(self, centre: Point, size: float, made: bool = True) -> None:
        """An amulet of three pieces, or the place of one."""

        def paint(surface: pygame.Surface, unit: float) -> None:
            if not made:
                disc(surface, GREY, 0.46)
                disc(surface, PAPER, 0.46 - 2 * unit / surface.get_width())
                return
            disc(surface, INK, 0.5)
            disc(surface, GOLD, 0.5 - max(4, 1.5 * unit) / surface.get_width())
            side = surface.get_width()
            for x, y in regular(3, 0.5):
                ends = (side / 2, side / 2), (x * side, y * side)
                pygame.draw.line(surface, INK, *ends, max(4, round(1.5 * unit)))
            disc(surface, INK, 0.2)
            disc(surface, (220, 60, 90), 0.15)

        self.canvas.draw(("amulet", made), square(centre, size), paint)

    def pearl(self, centre: Point, size: float) -> None:
        """A pearl."""

        def paint(surface: pygame.Surface, unit: float) -> None:
            disc(surface, INK, 0.46)
            disc(surface, (214, 208, 226), 0.46 - max(4, 1.5 * unit) / surface.get_width())
            disc(surface, (255, 255, 255), 0.13, (0.38, 0.36))

        self.canvas.draw("pearl", square(centre, size), paint)

    def crystal(self, centre: Point, size: float) -> None:
        """A crystal."""

        def paint(surface: pygame.Surface, unit: float) -> None:
            edged(surface, (120, 214, 236), CRYSTAL)
            polygon(surface, (206, 244, 252), [(0.5, 0.1), (0.62, 0.34), (0.5, 0.86), (0.38, 0.34)])

        self.canvas.draw("crystal", square(centre, size), paint)

    def golden_egg(self, centre: Point, size: float) -> None:
        """A golden egg."""

        def paint(surface: pygame.Surface, unit: float) -> None:
            edged(surface, (244, 190, 50), EGG)
            disc(surface, (255, 236, 170), 0.1, (0.4, 0.36))

        self.canvas.draw("egg", square(centre, size), paint)

    def crest(self, points: object, centre: Point, size: float) -> None:
        """A crest with its points."""

        def paint(surface: pygame.Surface, unit: float) -> None:
            edged(surface, (176, 40, 62), SHIELD)

        self.canvas.draw("crest", square(centre, size), paint)
        self.canvas.words(points, centre, size * 0.6, (255, 255, 255), align=(0.5, 0.52))

    def hand(self, centre: Point, size: float) -> None:
        """Two cards: a hand."""
        height = size * 0.9
        x, y = centre[0] - height * 0.5, centre[1] - height / 2
        self.card_back((x, y), height)
        self.card_back((x + height * 0.3, y), height)

    def deck(self, centre: Point, size: float) -> None:
        """A pile of cards."""

        def paint(surface: pygame.Surface, unit: float) -> None:
            side, edge = surface.get_width(), max(4, round(1.5 * unit))
            for k in range(3):
                card = pygame.Rect(0, 0, round(side * 0.56), round(side * 0.78))
                card.topleft = (round(side * (0.06 + 0.15 * k)), round(side * (0.18 - 0.08 * k)))
                pygame.draw.rect(surface, INK, card, border_radius=round(side * 0.08))
                inner = card.inflate(-2 * edge, -2 * edge)
                pygame.draw.rect(surface, PAPER, inner, border_radius=round(side * 0.04))

        self.canvas.draw("deck", square(centre, size), paint)

    def arrow(self, up: bool, centre: Point, size: float) -> None:
        """Up: the highest. Down: the lowest."""
        corners = [(0.5, 0.14), (0.9, 0.8), (0.1, 0.8)]

        def paint(surface: pygame.Surface, unit: float) -> None:
            polygon(surface, INK, corners if up else [(x, 1 - y) for x, y in corners])

        self.canvas.draw(("arrow", up), square(centre, size), paint)

    def star(self, centre: Point, size: float) -> None:
        """A golden star: a winner."""

        def paint(surface: pygame.Surface, unit: float) -> None:
            polygon(surface, INK, regular(5, 0.5, 0.24))
            polygon(surface, GOLD, regular(5, 0.4, 0.18))

        self.canvas.draw("star", square(centre, size), paint)

    def lock(self, centre: Point, size: float) -> None:
        """A padlock: closed."""

        def paint(surface: pygame.Surface, unit: float) -> None:
            side, rim = surface.get_width(), round(surface.get_width() * 0.07)
            bow = pygame.Rect(0, 0, round(side * 0.56), round(side * 0.8))
            bow.midtop = (side // 2, 0)
            body = pygame.Rect(0, 0, side, round(side * 0.62))
            body.midbottom = (side // 2, side)
            for colour, grow in ((PAPER, 0), (INK, -2 * rim)):
                thick = round(side * 0.2) + grow // 2
                corner = round(side * 0.28)
                pygame.draw.rect(surface, colour, bow.inflate(grow, grow), thick, border_radius=corner)
                pygame.draw.rect(surface, colour, body.inflate(grow, grow), border_radius=corner // 3)

        self.canvas.draw("lock", square(centre, size), paint)

    def pointer(self, centre: Point, size: float) -> None:
        """A triangle that points to the right: whose turn it is."""

        def paint(surface: pygame.Surface, unit: float) -> None:
            polygon(surface, INK, [(0.1, 0.06), (0.94, 0.5), (0.1, 0.94)])

        self.canvas.draw("pointer", square(centre, size), paint)

    def book(self, rect: Rect) -> tuple[Rect, Rect]:
        """An open book; returns its two pages."""

        def paint(surface: pygame.Surface, unit: float) -> None:
            width, height = surface.get_size()
            pygame.draw.rect(surface, COVER, surface.get_rect(), border_radius=round(12 * unit))
            rim, shade = round(9 * unit), (228, 216, 192)
            leaf_width = width // 2 - rim
            for x in (rim, width // 2):
                page = pygame.Rect(x, rim, leaf_width, height - 2 * rim)
                pygame.draw.rect(surface, PAPER, page, border_radius=round(8 * unit))
            for k, grey in enumerate((shade, (214, 200, 172), (190, 172, 140))):
                half = round((14 - 5 * k) * unit)
                fold = pygame.Rect(width // 2 - half, rim, 2 * half, height - 2 * rim)
                pygame.draw.rect(surface, grey, fold)

        self.canvas.draw("book", rect, paint)
        page = Rect(rect.x + 12, rect.y + 10, rect.width / 2 - 28, rect.height - 20)
        return page, page._replace(x=rect.x + rect.width / 2 + 16)


def square(centre: Point, size: float) -> Rect:
    """A square around a point."""
    return Rect(centre[0] - size / 2, centre[1] - size / 2, size, size)
