"""The board as text: what one seat, or a spectator, may see of a game, for a person to read.

All of it is read from the viewer's observation, so that nothing hidden can slip in. It needs rich
(extra `render`); the text is the same whatever the terminal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import StringIO
from typing import Any

import numpy as np
import numpy.typing as npt

from gardienii_env.errors import MissingExtraError, OptionError, shown
from gardienii_env.game import Game
from gardienii_env.observation import unflatten
from gardienii_env.rules.actions import ACTIONS, SLOTS_PER_SIDE
from gardienii_env.rules.cards import CARDS, COLOUR_NAMES, COLOURS, SIDES
from gardienii_env.rules.scoring import SOURCES
from gardienii_env.words import count_words, prize_words

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

END_WORDS = {
    "amulets": "enough amulets are complete",
    "supply": "no card is left to take",
    "turn_limit": "all turns have been played",
}
DECKS = ("left", "right")
NONE = "-"

Counts = npt.NDArray[np.int64]


def board(game: Game, viewer: int | None = None, color: bool = False, width: int = 100) -> str:
    """The board as lines of text.

    Args:
        game: the game, on or over.
        viewer: the seat whose hand, pieces and pearls are shown, and the legal actions when it
            decides. None: a spectator, who sees what everybody sees.
        color: whether to colour the text with terminal codes.
        width: the most characters in a line.

    Raises OptionError if the viewer is not a seat.
    """
    if viewer is not None and (isinstance(viewer, bool) or viewer not in range(game.num_players)):
        raise OptionError(
            f"viewer: {shown(viewer)} is neither None nor a seat from 0 to {game.num_players - 1}."
        )
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
    console.print(*_sections(_Sight(game, viewer)), sep="\n")
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


class _Sight:
    """What the viewer sees: the parts of its observation by name, with seats as they are numbered.

    A spectator has the sight of seat 0, of which only public parts are read.
    """

    def __init__(self, game: Game, viewer: int | None) -> None:
        self.game = game
        self.viewer = viewer
        self.ruleset = game.ruleset
        self.seats = range(game.num_players)
        self._first = viewer or 0
        self._parts = unflatten(game.observe(self._first), game.num_players)

    def __getitem__(self, name: str) -> Any:
        return self._parts[name]

    def of(self, seat: int, name: str) -> Any:
        """The row of a seat in a part that has one for each."""
        return self._parts[name][(seat - self._first) % len(self.seats)]

    def which(self, name: str) -> int | None:
        """The place of the only 1 in a part."""
        return _place(self._parts[name])


def _sections(sight: _Sight) -> Iterator[RenderableType]:
    yield _heading(sight.game)
    yield _facts(_table(sight))
    yield _facts((_seat(sight, seat), _tableau(sight, seat)) for seat in sight.seats)
    yield _players(sight)
    if sight.viewer is not None:
        yield _facts(_own(sight))
    if sight.game.is_over:
        yield _result(sight.game)
    elif sight.viewer == sight.game.player:
        yield _facts([("Legal actions", _actions(sight.game))])


# -- sections --------------------------------------------------------------------------------------


def _heading(game: Game) -> Text:
    kind = f"{game.ruleset.name}, {game.num_players} players"
    if game.end is not None:
        turns = count_words(game.turns, "turn")
        return Text(f"The game is over after {turns}: {END_WORDS[game.end]} ({kind})")
    turn = f"Turn {game.turns + 1}, seat {game.state['active']} is active"
    return Text(f"{turn}. Step {game.step}: seat {game.player} decides ({kind})")


def _table(sight: _Sight) -> Iterator[tuple[str, Text]]:
    yield "Spell", _spell(sight)
    if sight["open"].any():
        yield "Open set", _cards(sight["open"]).append(f" ({sight['needed']} more needed)")
    if not sight.game.is_over:
        yield "This turn", _turn(sight)
    yield "Supply", _supply(sight)
    yield "Decks", _decks(sight)
    yield "Bank", _bank(sight)
    yield "Pieces left", Text(_pieces(sight, sight["bank_pieces"]))
    yield "Amulets", _amulets(sight)


def _players(sight: _Sight) -> Table:
    scored = "" if sight.ruleset.dragons_score else " (not scored)"
    tokens = ("pieces", "amulets", "pearls", "crystals", "eggs")
    table = _numbers("", "hand", f"card points{scored}", *tokens, "crest")
    for seat in sight.seats:
        table.add_row(
            _seat(sight, seat),
            str(sight.of(seat, "hand_size")),
            str(sight.of(seat, "dragon_points").sum()),
            *(str(sight.of(seat, "num_pieces" if token == "pieces" else token)) for token in tokens),
            _crests(sight, sight.of(seat, "crest")),
        )
    return table


def _own(sight: _Sight) -> Iterator[tuple[str, Text]]:
    yield "Your hand", _cards(sight["hand"])
    yield "Your pieces", Text(_pieces(sight, sight["pieces"]))
    yield "Your pearls", Text(f"{count_words(sight['pearl_points'], 'point')} together")


def _actions(game: Game) -> Columns:
    legal = np.flatnonzero(game.legal_mask())
    return Columns([f"{action} {ACTIONS[action]}" for action in legal], padding=(0, 3))


def _result(game: Game) -> Table:
    winners = " and ".join(str(seat) for seat in game.winners())
    table = _numbers("", *SOURCES, "points")
    table.title, table.title_justify = f"End: {game.end}. Won by seat {winners}", "left"
    for seat, points in enumerate(game.points()):
        numbers = [*points.values(), sum(points.values())]
        table.add_row(f"Seat {seat}", *map(str, numbers))
    return table


# -- what the rows say -----------------------------------------------------------------------------


def _spell(sight: _Sight) -> Text:
    left, colour = sight.which("left_top"), sight.which("right_top")
    number = NONE if left is None else str(left + 1)
    spell = Text(number + " ").append(NONE if colour is None else _colour(colour))
    if left is None or colour is None:
        return spell.append(": not complete, nobody can play")
    return spell.append(f": {prize_words(sight.ruleset.prizes[number])}")


def _turn(sight: _Sight) -> Text:
    laid = [deck for deck, count in zip(DECKS, sight["laid"], strict=True) if count]
    return Text(
        f"{count_words(sight['taken'], 'card')} taken, {count_words(sight['paid'], 'crystal')} paid, "
        f"laid on: {', '.join(laid) or NONE}"
    )


def _supply(sight: _Sight) -> Text:
    slots = []
    for slot, flags in enumerate(sight["supply"]):
        side, place = divmod(slot, SLOTS_PER_SIDE)
        if place < sight.ruleset.supply_per_deck:
            card = _place(flags)
            slots.append(Text(f"{SIDES[side]}{place}: ").append(NONE if card is None else _card(card)))
    return Text("   ").join(slots)


def _decks(sight: _Sight) -> Text:
    decks = zip(DECKS, sight["deck_size"], strict=True)
    return Text(", ".join(f"{deck} {size}" for deck, size in decks))


def _bank(sight: _Sight) -> Text:
    tokens = {
        "crystal": sight["bank_crystals"],
        "golden egg": sight["bank_eggs"],
        "dark dragon": sight["bank_dark_dragons"],
        "pearl": sight["bank_pearls"],
    }
    counted = [count_words(number, token) for token, number in tokens.items()]
    return Text(", ".join([*counted, f"crests: {_crests(sight, sight['bank_crests'])}"]))


def _amulets(sight: _Sight) -> Text:
    to_end = sight.ruleset.amulets_to_end[str(len(sight.seats))]
    return Text(f"{sight['amulets'].sum()} complete, the game ends with {to_end}")


def _seat(sight: _Sight, seat: int) -> str:
    return f"Seat {seat} (you)" if seat == sight.viewer else f"Seat {seat}"


def _tableau(sight: _Sight, seat: int) -> Text:
    colours = [colour for flags in sight.of(seat, "column") if (colour := _place(flags)) is not None]
    cards = sight.of(seat, "column_cards")
    columns = []
    for place, colour in enumerate(colours):
        closed = sight.ruleset.enclosed_columns_close and 0 < place < len(colours) - 1
        columns.append(_colour(colour).append(f" {cards[colour]}{' closed' if closed else ''}"))
    return Text(" | ").join(columns) if columns else Text(NONE)


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


def _place(flags: Counts) -> int | None:
    """Where the only 1 stands."""
    return int(flags.argmax()) if flags.any() else None


def _card(card: int) -> Text:
    name = CARDS[card]
    return Text().append(name, STYLES[name[0]])


def _colour(colour: int) -> Text:
    return Text().append(COLOUR_NAMES[colour], STYLES[COLOURS[colour]])


def _cards(counts: Counts) -> Text:
    """Cards counted by type."""
    held = [_card(card).append(_times(counts[card])) for card in np.flatnonzero(counts).tolist()]
    return Text(", ").join(held) if held else Text(NONE)


def _pieces(sight: _Sight, counts: Counts) -> str:
    """Amulet pieces counted by rising value."""
    values = sorted(int(points) for points in sight.ruleset.amulet_pieces)
    return ", ".join(f"{values[k]}{_times(counts[k])}" for k in np.flatnonzero(counts)) or NONE


def _crests(sight: _Sight, flags: Counts) -> str:
    return " ".join(str(sight.ruleset.crests[k]) for k in np.flatnonzero(flags)) or NONE


def _times(count: int) -> str:
    return "" if count == 1 else f" x{count}"
