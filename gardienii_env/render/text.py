"""The board as text: what one seat, or a spectator, may see of a game, for a person to read.

It is the scene of the viewer in words, so that nothing hidden can slip in. It needs rich (extra
`render`); the text is the same whatever the terminal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO

from gardienii_env.errors import MissingExtraError
from gardienii_env.game import Game
from gardienii_env.render.scene import EndScene, OwnScene, Scene, SeatScene, ValueCount, scene
from gardienii_env.render.texts import check_language, colour_key, joined, prize_words, text
from gardienii_env.rules.actions import ACTION_INDEX
from gardienii_env.rules.cards import COLOURS

try:
    from rich.columns import Columns
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text
except ImportError as error:
    raise MissingExtraError("The text board", "render") from error

__all__ = ["board"]

STYLES = dict(zip(COLOURS + "D", ("bold", "red", "blue", "green", "magenta"), strict=True))
"""Terminal styles by the first letter of a card's or a colour's name."""

TOKENS = ("pieces", "amulets", "pearls", "crystals", "golden_eggs")
NONE = "-"


def board(
    game: Game,
    viewer: int | None = None,
    color: bool = False,
    width: int = 100,
    language: str = "en",
) -> str:
    """The board as lines of text.

    Args:
        game: the game, on or over.
        viewer: the seat whose hand, pieces and pearls are shown, and the legal actions when it
            decides. None: a spectator, who sees what everybody sees.
        color: whether to colour the text with terminal codes.
        width: the most characters in a line.
        language: of the words: `en`, `de`, `hu` or `ro`.

    Raises OptionError if the viewer is not a seat, or if there are no texts in the language.
    """
    board_of = _Board(scene(game, viewer), language)
    file = StringIO()
    console = Console(
        file=file,
        width=width,
        height=100,
        force_terminal=color,
        color_system="standard" if color else None,
        force_jupyter=False,
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
        _environ={},  # NO_COLOR, COLUMNS, TERM and the like do not matter
    )
    console.print(*board_of.sections(), sep="\n")
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


class _Board:
    """A scene in the words of a language."""

    def __init__(self, scene: Scene, language: str) -> None:
        self.scene = scene
        self.language = check_language(language)

    def says(self, key: str, **values: object) -> str:
        """A text of the language."""
        return text(self.language, key, **values)

    def sections(self) -> Iterator[RenderableType]:
        """The board from top to bottom."""
        scene = self.scene
        yield self._heading()
        yield _facts(self._table())
        yield _facts((self._seat(seat), self._tableau(seat)) for seat in scene["seats"])
        yield self._players()
        if scene["viewer"] is not None:
            own = scene["seats"][scene["viewer"]]["own"]
            if own is not None:
                yield _facts(self._own(own))
        if scene["end"] is not None:
            yield self._result(scene["end"])
        elif scene["legal"]:
            yield _facts([(self.says("label.legal"), _actions(scene["legal"]))])

    # -- sections ----------------------------------------------------------------------------------

    def _heading(self) -> Text:
        scene = self.scene
        players = self.says("count.player", number=scene["players"])
        kind = self.says("board.kind", ruleset=scene["ruleset"], players=players)
        if scene["end"] is not None:
            reason = self.says(f"end.{scene['end']['reason']}")
            return Text(self.says("board.over", number=scene["turn"], reason=reason, kind=kind))
        step = self.says(f"step.{scene['step']}")
        who = {"active": scene["active"], "deciding": scene["deciding"]}
        return Text(self.says("board.turn", turn=scene["turn"], step=step, kind=kind, **who))

    def _table(self) -> Iterator[tuple[str, Text]]:
        scene = self.scene
        yield self.says("label.spell"), self._spell()
        if scene["open"]:
            cards = _cards(Counter(scene["open"]))
            if scene["needed"]:
                cards.append(f" ({self.says('set.needed', number=scene['needed'])})")
            yield self.says("label.open_set"), cards
        if scene["end"] is None:
            yield self.says("label.this_turn"), self._turn()
        yield self.says("label.supply"), self._supply()
        yield self.says("label.decks"), self._decks()
        yield self.says("label.bank"), self._bank()
        yield self.says("label.pieces_left"), Text(_pieces(scene["bank"]["pieces"]))
        made, needed_amulets = scene["amulets"]["made"], scene["amulets"]["needed"]
        amulets = self.says("amulets.made", number=made, needed=needed_amulets)
        yield self.says("label.amulets"), Text(amulets)

    def _players(self) -> Table:
        points = "head.card_points" if self.scene["dragons_score"] else "head.card_points_not_scored"
        tokens = [self.says(f"head.{token}") for token in TOKENS]
        table = _numbers("", self.says("head.hand"), self.says(points), *tokens, self.says("head.crest"))
        for seat in self.scene["seats"]:
            table.add_row(
                self._seat(seat),
                str(seat["hand_size"]),
                str(seat["card_points"]),
                *(str(seat[token]) for token in TOKENS),  # type: ignore[literal-required]
                NONE if seat["crest"] is None else str(seat["crest"]),
            )
        return table

    def _own(self, own: OwnScene) -> Iterator[tuple[str, Text]]:
        yield self.says("label.your_hand"), _cards(own["hand"])
        yield self.says("label.your_pieces"), Text(_pieces(own["pieces"]))
        pearls = self.says("pearls.together", number=own["pearl_points"])
        yield self.says("label.your_pearls"), Text(pearls)

    def _result(self, end: EndScene) -> Table:
        winners = joined(self.language, end["winners"])
        won = self.says("end.won", number=len(end["winners"]), seats=winners)
        sources = [self.says(f"source.{source}") for source in end["points"][0]]
        table = _numbers("", *sources, self.says("head.points"))
        table.title, table.title_justify = won, "left"
        for seat, (points, score) in enumerate(zip(end["points"], end["scores"], strict=True)):
            table.add_row(self.says("seat.name", seat=seat), *map(str, points.values()), str(score))
        return table

    # -- what the rows say -------------------------------------------------------------------------

    def _spell(self) -> Text:
        shown = self.scene["spell"]
        number, colour, prize = shown["number"], shown["colour"], shown["prize"]
        spell = Text(f"{NONE if number is None else number} ")
        spell.append(NONE if colour is None else self._colour(colour))
        if prize is None or colour is None:
            return spell.append(f": {self.says('spell.incomplete')}")
        return spell.append(f": {prize_words(self.language, prize)}")

    def _turn(self) -> Text:
        laid = [self.says(f"side.{deck['side']}") for deck in self.scene["decks"] if deck["laid"]]
        told = [
            self.says("turn.taken", number=self.scene["taken"]),
            self.says("turn.paid", number=self.scene["paid"]),
            self.says("turn.laid", sides=", ".join(laid) or NONE),
        ]
        return Text(", ".join(told))

    def _supply(self) -> Text:
        slots = []
        for slot in self.scene["supply"]:
            card = slot["card"]
            slots.append(Text(f"{slot['slot']}: ").append(NONE if card is None else _card(card)))
        return Text("   ").join(slots)

    def _decks(self) -> Text:
        decks = self.scene["decks"]
        return Text(", ".join(f"{self.says('side.' + deck['side'])} {deck['size']}" for deck in decks))

    def _bank(self) -> Text:
        bank = self.scene["bank"]
        tokens = {
            "count.crystal": bank["crystals"],
            "count.golden_egg": bank["golden_eggs"],
            "count.dark_dragon": bank["dark_dragons"],
            "count.pearl": bank["pearls"],
        }
        counted = [self.says(token, number=number) for token, number in tokens.items()]
        crests = " ".join(map(str, bank["crests"])) or NONE
        return Text(", ".join([*counted, f"{self.says('label.crests')}: {crests}"]))

    def _seat(self, seat: SeatScene) -> str:
        own = seat["seat"] == self.scene["viewer"]
        return self.says("seat.you" if own else "seat.name", seat=seat["seat"])

    def _tableau(self, seat: SeatScene) -> Text:
        columns = []
        for column in seat["columns"]:
            closed = f" {self.says('word.closed')}" if column["closed"] else ""
            columns.append(self._colour(column["colour"]).append(f" {column['cards']}{closed}"))
        return Text(" | ").join(columns) if columns else Text(NONE)

    def _colour(self, letter: str) -> Text:
        return Text().append(self.says(f"colour.{colour_key(letter)}"), STYLES[letter])


# -- small words -----------------------------------------------------------------------------------


def _facts(rows: Iterable[tuple[str, RenderableType]]) -> Table:
    """Rows with a name each."""
    table = Table(show_header=False, expand=True)
    table.add_column(no_wrap=True)
    table.add_column(ratio=1)
    for row in rows:
        table.add_row(*row)
    return table


def _numbers(*names: str) -> Table:
    """A table of numbers, with a name at the head of each row and column."""
    table = Table(names[0])
    for name in names[1:]:
        table.add_column(name, justify="right")
    return table


def _actions(legal: Iterable[str]) -> Columns:
    return Columns([f"{ACTION_INDEX[action]} {action}" for action in legal], padding=(0, 3))


def _card(name: str) -> Text:
    return Text().append(name, STYLES[name[0]])


def _cards(counts: Mapping[str, int]) -> Text:
    """Cards with how many there are."""
    held = [_card(card).append(_times(count)) for card, count in counts.items()]
    return Text(", ").join(held) if held else Text(NONE)


def _pieces(counts: Iterable[ValueCount]) -> str:
    """Amulet pieces with how many there are."""
    return ", ".join(f"{value['points']}{_times(value['count'])}" for value in counts) or NONE


def _times(count: int) -> str:
    return "" if count == 1 else f" x{count}"
