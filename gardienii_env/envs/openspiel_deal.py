"""The deal as chance events, for `openspiel`: one card, piece or pearl after another is drawn.

Every event has few outcomes, each with its exact probability, and all of them together are the deal of a
game record. So every deal can come, and the events tell which it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from gardienii_env.errors import OptionError, shown
from gardienii_env.rules.cards import CARDS, SIDES
from gardienii_env.rules.ruleset import Ruleset

__all__ = ["Drawing", "Pile", "events_of", "piles"]

DECKS = ("left", "right")
HANDS, PIECES, PEARLS = 2, 3, 4  # places among the piles


class Pile(NamedTuple):
    """What is drawn from without putting back."""

    name: str
    kinds: tuple[str, ...]
    """What may be drawn; an outcome of a chance event is the place of a kind here."""
    counts: tuple[int, ...]
    """How many there are of each kind."""
    draws: int
    """How many are drawn."""


def piles(ruleset: Ruleset, players: int) -> tuple[Pile, ...]:
    """The piles in the order in which they are drawn from.

    Both decks from the top down, so that the cards of the supply come first; the starting cards, seat
    1's first; the amulet pieces that are removed; the pearls in the order in which they will be taken.
    """

    def cards(name: str, counts: Mapping[str, int], draws: int | None = None) -> Pile:
        total = tuple(counts.get(card, 0) for card in CARDS)
        return Pile(name, CARDS, total, sum(total) if draws is None else draws)

    def tokens(name: str, counts: Mapping[str, int], draws: int | None = None) -> Pile:
        kinds = tuple(sorted(counts, key=int))
        total = tuple(counts[kind] for kind in kinds)
        return Pile(name, kinds, total, sum(total) if draws is None else draws)

    return (
        cards("left deck", ruleset.left_deck),
        cards("right deck", ruleset.right_deck),
        cards("starting card", ruleset.starting_cards, sum(range(players))),
        tokens("piece removed", ruleset.amulet_pieces, ruleset.pieces_removed[str(players)]),
        tokens("pearl", ruleset.pearls),
    )


class Drawing:
    """A deal that is being drawn.

    Attributes:
        drawn: the outcomes so far, by pile.
    """

    def __init__(self, ruleset: Ruleset, players: int, piles: tuple[Pile, ...]) -> None:
        """Begin with full piles, which are `piles(ruleset, players)`."""
        self._ruleset, self._players, self._piles = ruleset, players, piles
        self._left = [list(pile.counts) for pile in self._piles]
        self.drawn: list[list[int]] = [[] for _ in self._piles]
        self._pile = 0
        self._skip_empty()

    @property
    def is_done(self) -> bool:
        """Whether all has been drawn."""
        return self._pile == len(self._piles)

    def outcomes(self) -> list[tuple[int, float]]:
        """What may be drawn next, with the probability of each, in order; not when all is drawn."""
        left = self._left[self._pile]
        total = sum(left)
        return [(kind, count / total) for kind, count in enumerate(left) if count]

    def describe(self, outcome: int) -> str:
        """A possible next outcome in words, like `left deck 1: W3`."""
        pile = self._piles[self._pile]
        return f"{pile.name} {len(self.drawn[self._pile]) + 1}: {pile.kinds[outcome]}"

    def draw(self, outcome: int) -> None:
        """Draw what `outcomes` offers; OptionError for anything else."""
        possible, pile = [kind for kind, _ in self.outcomes()], self._piles[self._pile]
        if outcome not in possible:
            raise OptionError(
                f"outcome: {shown(outcome)} cannot be drawn from the {pile.name} now; "
                f"possible are {', '.join(map(str, possible))}."
            )
        self._left[self._pile][outcome] -= 1
        self.drawn[self._pile].append(outcome)
        self._skip_empty()

    def _skip_empty(self) -> None:
        while not self.is_done and len(self.drawn[self._pile]) == self._piles[self._pile].draws:
            self._pile += 1

    def __deepcopy__(self, memo: dict[int, Any]) -> Drawing:
        new = object.__new__(Drawing)
        new.__dict__.update(self.__dict__)
        new._left = [list(left) for left in self._left]
        new.drawn = [list(drawn) for drawn in self.drawn]
        return new

    def deal(self) -> dict[str, Any]:
        """The deal, as in a game record, once all is drawn."""
        names = [
            [pile.kinds[kind] for kind in kinds]
            for pile, kinds in zip(self._piles, self.drawn, strict=True)
        ]
        open_cards = self._ruleset.supply_per_deck
        starting = iter(names[HANDS])
        return {
            **{DECKS[side]: names[side][open_cards:][::-1] for side in range(2)},
            "supply": {SIDES[side]: names[side][:open_cards] for side in range(2)},
            "hands": [[next(starting) for _ in range(seat)] for seat in range(self._players)],
            "pieces": dict(zip(self._piles[PIECES].kinds, self._left[PIECES], strict=True)),
            "pearls": [int(points) for points in names[PEARLS]],
        }


def events_of(deal: Mapping[str, Any], ruleset: Ruleset, piles: tuple[Pile, ...]) -> list[int]:
    """The outcomes of the chance events that lead to a deal of the ruleset, which must be possible."""
    names = [[*deal["supply"][SIDES[side]], *deal[DECKS[side]][::-1]] for side in range(2)]
    names.append([card for hand in deal["hands"] for card in hand])
    pieces = deal["pieces"]
    removed = {kind: count - pieces.get(kind, 0) for kind, count in ruleset.amulet_pieces.items()}
    names.append([kind for kind in sorted(removed, key=int) for _ in range(removed[kind])])
    names.append([str(points) for points in deal["pearls"]])
    return [pile.kinds.index(name) for pile, drawn in zip(piles, names, strict=True) for name in drawn]
