"""The parts of the board picture: its head, the table, the bank, the seats and the result.

Each draws one part of a scene into a rectangle. Lengths are in units: see `canvas`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil
from typing import Any

from gardienii_env.render.canvas import INK, Colour, Point, Rect
from gardienii_env.render.scene import (
    ColumnScene,
    DeckScene,
    EndScene,
    OwnScene,
    Scene,
    SeatScene,
    SlotScene,
    SpellScene,
)
from gardienii_env.render.shapes import CARD_SHAPE, GOLD, Shapes
from gardienii_env.render.texts import colour_key, joined, prize_words, text

__all__ = ["EndPanel", "SeatPanel", "TablePanel", "bank_panel", "header"]

PANEL: Colour = (236, 226, 206)
TRAY: Colour = (222, 209, 184)
FAINT: Colour = (112, 100, 88)
LIGHT: Colour = (246, 240, 226)
PALE: Colour = (196, 208, 210)
MIDDLE = (0.5, 0.5)
SPACE = (CARD_SHAPE + 0.13, 1.12)
"""Room for a card of a hand, width and height, for a card's height of 1."""
LARGEST_CARD = 128.0
FEW_AMULETS = 12
"""Up to so many amulets have a place each."""


class Panel:
    """A rectangle to draw in, and the words for it."""

    def __init__(self, shapes: Shapes, language: str, rect: Rect) -> None:
        self.shapes = shapes
        self.canvas = shapes.canvas
        self.language = language
        self.rect = rect

    def says(self, key: str, **values: object) -> str:
        """A text of the language."""
        return text(self.language, key, **values)

    def title(self, key: str, at: Point, width: float | None = None) -> None:
        """The name of a part, small."""
        self.canvas.words(self.says(key), at, 22, FAINT, width=width)


def header(shapes: Shapes, language: str, rect: Rect, scene: Scene, told: str) -> None:
    """Whose turn it is, who decides, and what was done last."""
    players = text(language, "count.player", number=scene["players"])
    kind = text(language, "board.kind", ruleset=scene["ruleset"], players=players)
    if scene["end"] is not None:
        reason = text(language, f"end.{scene['end']['reason']}")
        line = text(language, "board.over", number=scene["turn"], reason=reason, kind=kind)
    else:
        step = text(language, f"step.{scene['step']}")
        who = {"active": scene["active"], "deciding": scene["deciding"]}
        line = text(language, "board.turn", turn=scene["turn"], step=step, kind=kind, **who)
    words = shapes.canvas.words
    words(line, (rect.x + 2, rect.y + (22 if told else 32)), 28, LIGHT, width=rect.width - 4)
    words(told, (rect.x + 2, rect.y + 47), 25, PALE, width=rect.width - 4)


# -- the table -------------------------------------------------------------------------------------


class TablePanel(Panel):
    """The spell as an open book between the slots of the supply."""

    def draw(self, scene: Scene) -> None:
        """Draw the panel."""
        rect = self.rect
        self.canvas.box(rect, PANEL, 12)
        takes = {action.partition(":")[2] for action in scene["legal"] if action.startswith("take")}
        slots = scene["supply"]
        card = min(142.0, (rect.height - 46) / 2 - 14)
        column = card * CARD_SHAPE + 64
        for side, x in (("L", rect.x), ("R", rect.right - column)):
            own = [slot for slot in slots if slot["slot"].startswith(side)]
            self._slots(own, Rect(x, rect.y, column, rect.height), card, takes)
        middle = Rect(rect.x + column, rect.y, rect.width - 2 * column, rect.height)
        book = Rect(middle.x + 4, rect.y + 14, middle.width - 8, rect.height - 150)
        pages = self.shapes.book(book)
        self._spell(scene["spell"], pages)
        for deck, page in zip(scene["decks"], pages, strict=True):
            self._deck(deck, (page.centre[0], book.bottom + 19))
        self._below(
            scene, Rect(middle.x, book.bottom + 36, middle.width, rect.bottom - book.bottom - 42)
        )

    def _slots(
        self, slots: Sequence[SlotScene], rect: Rect, height: float, takes: Iterable[str]
    ) -> None:
        """The cards before one deck."""
        self.canvas.words(
            self.says("label.supply"), (rect.centre[0], rect.y + 22), 22, FAINT, MIDDLE, rect.width - 12
        )
        gap = (rect.height - 40 - len(slots) * height) / (len(slots) + 1)
        width = height * CARD_SHAPE
        for k, slot in enumerate(slots):
            place = Rect(rect.centre[0] - width / 2 + 14, rect.y + 36, width, height)
            place = place._replace(y=place.y + gap + k * (height + gap))
            name = (place.x - 12, place.centre[1])
            self.canvas.words(slot["slot"], name, 22, FAINT, (1, 0.5))
            if slot["card"] is None:
                self.canvas.box(place, PANEL, 12, TRAY, 3)
            else:
                legal = slot["slot"] in takes
                self.shapes.card(slot["card"], (place.x, place.y), height, legal=legal)

    def _spell(self, spell: SpellScene, pages: tuple[Rect, Rect]) -> None:
        left, right = pages
        if spell["number"] is not None:
            at = (left.centre[0], left.y + left.height * 0.4)
            self.canvas.words(spell["number"], at, left.height * 0.86, align=(0.5, 0.47))
            self._prize(spell["prize"] or {}, Rect(left.x, left.bottom - 52, left.width, 44))
        if spell["colour"] is not None:
            side = min(right.width, right.height) * 0.62
            x, y = right.centre
            self.shapes.chip(spell["colour"], Rect(x - side / 2, y - side * 0.62, side, side))
            name = self.says(f"colour.{colour_key(spell['colour'])}")
            self.canvas.words(name, (x, right.bottom - 30), 26, align=MIDDLE, width=right.width)

    def _prize(self, prize: Mapping[str, Any], rect: Rect) -> None:
        """What the number earns, as tokens."""
        tokens: list[Callable[[Point], None]] = []
        if prize["piece"] != "none":
            tokens.append(lambda at: self._some_piece(prize["piece"] == "highest", at))
        for name, count in (
            ("golden_eggs", prize["golden_eggs"]),
            ("crystals", prize["crystals"]),
            ("dark_dragons", prize["dark_dragons"]),
        ):
            if count:
                tokens.append(lambda at, name=name, count=count: self._counted(name, count, at))  # type: ignore[misc]
        left = rect.centre[0] - (len(tokens) - 1) * 29
        for k, token in enumerate(tokens):
            token((left + 58 * k, rect.centre[1]))

    def _some_piece(self, highest: bool, at: Point) -> None:
        self.shapes.piece("", at, 38)
        self.shapes.arrow(highest, at, 20)

    def _counted(self, name: str, count: int, at: Point) -> None:
        token(self.shapes, name, at, 38)
        if count > 1:
            self.shapes.badge(count, (at[0] + 16, at[1] - 14), 20)

    def _deck(self, deck: DeckScene, at: Point) -> None:
        self.shapes.deck((at[0] - 24, at[1]), 30)
        self.canvas.words(deck["size"], (at[0] - 2, at[1] + 1), 26)

    def _below(self, scene: Scene, rect: Rect) -> None:
        """What the spell asks for and earns, and what was done in this turn; or the open set."""
        spell, x = scene["spell"], rect.centre[0]
        number, colour, prize = spell["number"], spell["colour"], spell["prize"]
        if scene["open"]:
            self._open_set(scene, rect)
            return
        lines = [(self.says("spell.incomplete"), INK, 25)]
        if prize is not None and number is not None and colour is not None:
            asked = self.says(f"count.{colour_key(colour)}_dragon", number=number)
            lines = [(asked, INK, 27), (prize_words(self.language, prize), INK, 24)]
        lines.append((self._turn(scene), FAINT, 22))
        for k, (line, ink, size) in enumerate(lines):
            at = (x, rect.y + rect.height * (k + 0.5) / 3)
            self.canvas.words(line, at, size, ink, MIDDLE, rect.width)

    def _turn(self, scene: Scene) -> str:
        told = [self.says("turn.taken", number=scene["taken"])]
        if scene["paid"]:
            told.append(self.says("turn.paid", number=scene["paid"]))
        laid = [self.says(f"side.{deck['side']}") for deck in scene["decks"] if deck["laid"]]
        if laid:
            told.append(self.says("turn.laid", sides=", ".join(laid)))
        return ", ".join(told)

    def _open_set(self, scene: Scene, rect: Rect) -> None:
        height = rect.height - 4
        step = height * CARD_SHAPE + 6
        words = self.says("set.needed", number=scene["needed"])
        room = rect.width - step * len(scene["open"]) - 10
        self.title("label.open_set", (rect.x + 4, rect.y + 18), room)
        if scene["needed"]:
            self.canvas.words(words, (rect.x + 4, rect.y + 48), 26, width=room)
        for k, card in enumerate(scene["open"]):
            self.shapes.card(card, (rect.right - step * (len(scene["open"]) - k), rect.y + 2), height)


# -- the bank --------------------------------------------------------------------------------------


def bank_panel(shapes: Shapes, language: str, rect: Rect, scene: Scene) -> None:
    """What is left, and how near the end is."""
    BankPanel(shapes, language, rect).draw(scene)


class BankPanel(Panel):
    """What is left to be given, and the amulets made."""

    def draw(self, scene: Scene) -> None:
        """Draw the panel."""
        rect, bank = self.rect, scene["bank"]
        self.canvas.box(rect, PANEL, 12)
        self.title("label.bank", (rect.x + 16, rect.y + 22))
        self._pieces(bank["pieces"], Rect(rect.x + 12, rect.y + 38, rect.width - 24, 130))
        row = Rect(rect.x + 12, rect.y + 176, rect.width - 24, 46)
        tokens = ("crystals", "golden_eggs", "dark_dragons", "pearls")
        for k, name in enumerate(tokens):
            x = row.x + row.width * k / len(tokens)
            token(self.shapes, name, (x + 24, row.centre[1]), 38)
            self.canvas.words(bank[name], (x + 50, row.centre[1] + 1), 28)  # type: ignore[literal-required]
        for k, points in enumerate(bank["crests"]):
            self.shapes.crest(points, (rect.x + 36 + 60 * k, rect.y + 252), 46)
        self._amulets(scene["amulets"]["made"], scene["amulets"]["needed"])

    def _pieces(self, pieces: Sequence[Any], rect: Rect) -> None:
        """Each value with how many there are."""
        for k, value in enumerate(pieces):
            row, place = divmod(k, 4)
            x, y = rect.x + rect.width * place / 4, rect.y + 66 * row + 32
            self.shapes.piece(value["points"], (x + 28, y), 52)
            self.canvas.words(f"x {value['count']}", (x + 60, y + 1), 26)

    def _amulets(self, made: int, needed: int) -> None:
        rect = self.rect
        y = rect.bottom - 32
        self.title("label.amulets", (rect.x + 16, y - 31), rect.width * 0.5)
        count = f"{made} / {needed}"
        wide = self.canvas.words(count, (rect.right - 16, y), 30, align=(1, 0.5))
        if max(made, needed) <= FEW_AMULETS:
            room = rect.width - 44 - wide
            step = min(38.0, room / max(made, needed))
            for k in range(max(made, needed)):
                self.shapes.amulet((rect.x + 16 + step * (k + 0.5), y), step * 0.9, k < made)


def token(shapes: Shapes, name: str, centre: Point, size: float) -> None:
    """A token by the name of its count in a scene."""
    if name == "dark_dragons":
        shapes.chip(
            "D", Rect(centre[0] - size * 0.42, centre[1] - size * 0.42, size * 0.84, size * 0.84)
        )
        return
    draw = {
        "crystals": shapes.crystal,
        "golden_eggs": shapes.golden_egg,
        "pearls": shapes.pearl,
        "amulets": shapes.amulet,
        "hand_size": shapes.hand,
    }
    if name == "pieces":
        shapes.piece("", centre, size)
    else:
        draw[name](centre, size)


# -- the seats -------------------------------------------------------------------------------------

TOKENS = ("hand_size", "pieces", "amulets", "pearls", "crystals", "golden_eggs")


class SeatPanel(Panel):
    """What lies before a player, and the hand: open if the viewer may see it."""

    def draw(self, scene: Scene, number: int) -> None:
        """Draw the panel of a seat."""
        seat, rect = scene["seats"][number], self.rect
        decides = scene["deciding"] == number
        self.canvas.box(rect, PANEL, 12, GOLD if decides else PANEL, 5)
        self._name(scene, seat)
        inner = Rect(rect.x + 12, rect.y + 44, rect.width - 24, rect.height - 54)
        wide = inner.width > 560
        self._columns(seat["columns"], inner)
        y = self._tokens(seat, inner._replace(y=inner.y + 58), len(TOKENS) + 1 if wide else 4)
        own = seat["own"]
        if own is not None and own["pieces"]:
            self._own_points(own, seat["pearls"], inner._replace(y=y, height=36))
            y += 38
        hand = Rect(inner.x, y + 2, inner.width, inner.bottom - y)
        if own is not None:
            self._hand(own["hand"], hand, scene["legal"] if decides else ())
        else:
            self._backs(seat["hand_size"], hand)

    def _name(self, scene: Scene, seat: SeatScene) -> None:
        rect, number = self.rect, seat["seat"]
        x, y = rect.x + 14, rect.y + 24
        if scene["end"] is None and scene["active"] == number:
            self.shapes.pointer((x + 8, y), 20)
            x += 26
        if scene["end"] is not None and number in scene["end"]["winners"]:
            self.shapes.star((x + 13, y - 1), 28)
            x += 34
        name = self.says("seat.you" if scene["viewer"] == number else "seat.name", seat=number)
        points = f"{self.says('head.card_points')} {seat['card_points']}"
        ink = FAINT
        if not scene["dragons_score"]:
            points = f"({points})"
        taken = self.canvas.words(name, (x, y), 29, width=rect.width * 0.5)
        room = rect.right - 14 - x - taken - 12
        self.canvas.words(points, (rect.right - 14, y + 1), 23, ink, (1, 0.5), room)

    def _columns(self, columns: Sequence[ColumnScene], rect: Rect) -> None:
        self.canvas.box(Rect(rect.x, rect.y, rect.width, 52), TRAY, 8)
        step = min(rect.width / 4, 100)
        for k, column in enumerate(columns):
            chip = Rect(rect.x + step * k + 9, rect.y + 7, 38, 38)
            self.shapes.chip(column["colour"], chip)
            at = (chip.right + 3, chip.centre[1] + 1)
            self.canvas.words(column["cards"], at, 26, width=step - 50)
            if column["closed"]:
                self.shapes.lock((chip.x + 3, chip.bottom - 6), 22)

    def _tokens(self, seat: SeatScene, rect: Rect, each: int) -> float:
        """The tokens in rows; returns where they end."""
        step = rect.width / each
        for k, name in enumerate(TOKENS):
            row, place = divmod(k, each)
            x, y = rect.x + step * place, rect.y + 17 + 35 * row
            token(self.shapes, name, (x + 16, y), 30)
            self.canvas.words(seat[name], (x + 36, y + 1), 25)  # type: ignore[literal-required]
        if seat["crest"] is not None:
            row, place = divmod(len(TOKENS), each)
            at = (rect.x + step * place + 18, rect.y + 17 + 35 * row)
            self.shapes.crest(seat["crest"], at, 33)
        return rect.y + 35 * ceil((len(TOKENS) + 1) / each)

    def _own_points(self, own: OwnScene, pearls: int, rect: Rect) -> None:
        """What only the seat knows of its pieces and pearls."""
        step = min(44.0, rect.width / (len(own["pieces"]) + 1))
        x, y = rect.x + 16, rect.y + 19
        for k, value in enumerate(own["pieces"]):
            self.shapes.piece(value["points"], (x + step * k, y), 32, value["count"])
        if pearls:
            at = (x + step * len(own["pieces"]), y)
            self.shapes.pearl(at, 34)
            self.canvas.words(own["pearl_points"], at, 23, align=(0.5, 0.46))

    def _hand(self, hand: Mapping[str, int], rect: Rect, legal: Iterable[str]) -> None:
        """The cards as large as there is room for."""
        if not hand:
            return
        height, each = fitting(len(hand), rect)
        for k, (card, count) in enumerate(hand.items()):
            row, place = divmod(k, each)
            x, y = (place + 0.5) * height * SPACE[0], (row + 0.5) * height * SPACE[1]
            at = (rect.x + x - height * CARD_SHAPE / 2, rect.y + y - height / 2)
            able = any(f"{kind}:{card}" in legal for kind in ("modify", "play"))
            self.shapes.card(card, at, height, count, able)

    def _backs(self, count: int, rect: Rect) -> None:
        """Cards that are only counted, one over the other."""
        height = min(0.75 * LARGEST_CARD, rect.height - 8)
        room = rect.width - height * CARD_SHAPE
        step = min(30.0, room / max(1, count - 1))
        for k in range(count):
            self.shapes.card_back((rect.x + step * k, rect.y + 6), height)


def fitting(cards: int, rect: Rect) -> tuple[float, int]:
    """The largest height of cards that all fit into a rectangle, and how many stand in a row."""
    height = LARGEST_CARD
    while True:
        each = max(1, int(rect.width / (height * SPACE[0])))
        if ceil(cards / each) * height * SPACE[1] <= rect.height or height <= 16:
            return height, each
        height -= 1


# -- the end ---------------------------------------------------------------------------------------


class EndPanel(Panel):
    """Points by source."""

    def draw(self, end: EndScene) -> None:
        """Draw the panel."""
        rect = self.rect
        self.canvas.box(rect, PANEL, 12)
        seats = joined(self.language, end["winners"])
        won = self.says("end.won", number=len(end["winners"]), seats=seats)
        self.canvas.words(won, (rect.x + 20, rect.y + 34), 34, width=rect.width - 40)
        heads = [self.says(f"source.{source}") for source in end["points"][0]]
        heads.append(self.says("head.points"))
        first = 150
        step = (rect.width - first - 20) / len(heads)
        ends = [rect.x + first + step * (k + 1) for k in range(len(heads))]
        for head, x in zip(heads, ends, strict=True):
            self.canvas.words(head, (x, rect.y + 84), 23, FAINT, (1, 0.5), step - 10)
        for seat, (points, score) in enumerate(zip(end["points"], end["scores"], strict=True)):
            line = Rect(rect.x + 10, rect.y + 104 + 56 * seat, rect.width - 20, 48)
            self.canvas.box(line, GOLD if seat in end["winners"] else TRAY, 8)
            y = line.centre[1]
            self.canvas.words(self.says("seat.name", seat=seat), (line.x + 12, y), 28, width=first - 20)
            for number, x in zip((*points.values(), score), ends, strict=True):
                self.canvas.words(number, (x - 4, y), 30, align=(1, 0.5))
