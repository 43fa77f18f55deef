"""One game, for people: actions by name, points, views, copies and records.

`Game` is a thin view of the rules core: it holds a batch of one game and what a record needs besides
(the deal and the moves). Everything that decides a rule is in `rules/engine.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from gardienii_env import record as records
from gardienii_env.deal import read_deal, write_deal
from gardienii_env.errors import GardieniiError, IllegalActionError, OptionError, as_index, shown
from gardienii_env.observation import View, check_players, observe_game
from gardienii_env.rules import hidden, scoring
from gardienii_env.rules.actions import ACTIONS, action_id
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.random import check_seed, seed_streams
from gardienii_env.rules.ruleset import SHIPPED, Ruleset
from gardienii_env.rules.state import ENDS, STEPS

__all__ = ["Game", "RulesetLike"]

RulesetLike = str | Path | Mapping[str, Any] | Ruleset
"""A shipped ruleset's name, a file, a dict or a Ruleset."""


class Game:
    """One game of 2 to 4 players. Make one with `new`, `from_deal` or `from_record`.

    Decisions with a single legal action are made automatically, so that `player` always has a choice.

        game = Game.new(num_players=3, seed=17)
        while not game.is_over:
            game.apply(game.legal_actions()[0])
        print(game.scores(), game.winners())

    Attributes:
        batch: the game as a batch of one, for compiled functions and agents.
        seed: the seed of the deal, or None; it only informs.
        moves: the decisions so far, as pairs (seat, action id).
    """

    __slots__ = ("_dealt", "batch", "moves", "seed")

    def __init__(self, batch: Batch, seed: int | None) -> None:
        """Take over a batch of one game that has just been dealt."""
        self.batch = batch
        self.seed = seed
        self.moves: list[tuple[int, int]] = []
        self._dealt: Batch | None = batch.copy()

    @classmethod
    def new(
        cls,
        num_players: int = 2,
        ruleset: RulesetLike = SHIPPED[0],
        seed: int | None = None,
    ) -> Game:
        """A new game, dealt from the seed (None: from the operating system).

        Raises OptionError for a wrong number of players or seed, RulesetError for a wrong ruleset.
        """
        batch = Batch(Ruleset.get(ruleset), check_players(num_players), 1)
        batch.states["rng"] = seed_streams(seed, 1)
        batch.deal(0)
        return cls(batch, check_seed(seed))

    @classmethod
    def from_deal(
        cls,
        deal: Mapping[str, Any],
        num_players: int = 2,
        ruleset: RulesetLike = SHIPPED[0],
        seed: int | None = None,
    ) -> Game:
        """A game with a given deal, as in a record; DealError if the ruleset cannot give it.

        `seed` is kept for the record and decides nothing. Raises OptionError and RulesetError as `new`.
        """
        batch = Batch(Ruleset.get(ruleset), check_players(num_players), 1)
        read_deal(batch, 0, deal)
        return cls(batch, check_seed(seed))

    @classmethod
    def of(cls, batch: Batch, i: int = 0) -> Game:
        """Game i of a batch as it stands, as an independent copy without a record."""
        single = Batch(batch.ruleset, batch.num_players, 1)
        single.states[:] = batch.states[i]
        single.write_mask(0)
        game = cls(single, None)
        game._dealt = None
        return game

    @classmethod
    def from_record(cls, record: Mapping[str, Any], moves: int | None = None) -> Game:
        """The game of a record after its first `moves` moves (None: all of them).

        Raises RecordError, with the number of the move where one is at fault. A final that the record
        gives is compared once all moves have been made.
        """
        return records.replay(record, moves)

    # -- whose decision ----------------------------------------------------------------------------

    @property
    def ruleset(self) -> Ruleset:
        """The ruleset of the game."""
        return self.batch.ruleset

    @property
    def num_players(self) -> int:
        """The number of players, 2 to 4."""
        return self.batch.num_players

    @property
    def state(self) -> np.void:
        """The state record (see `rules/state.py`): the whole truth, hidden parts included."""
        state: np.void = self.batch.states[0]
        return state

    @property
    def player(self) -> int | None:
        """The seat that decides, or None when the game is over."""
        seat = int(self.batch.states["player"][0])
        return seat if seat >= 0 else None

    @property
    def step(self) -> str:
        """The step of the turn: `take`, `modify`, `play`, `column` or `over`."""
        return STEPS[self.state["step"]]

    @property
    def turns(self) -> int:
        """Turns begun and finished."""
        return int(self.state["turns"])

    @property
    def is_over(self) -> bool:
        """Whether the game is over."""
        return self.player is None

    @property
    def end(self) -> str | None:
        """Why the game is over: `amulets`, `supply`, `turn_limit`; None while it is on."""
        return ENDS[self.state["end"]] or None

    def legal_mask(self) -> npt.NDArray[np.int8]:
        """Legal actions of the seat that decides: shape (73,), int8, 1 where legal."""
        mask: npt.NDArray[np.int8] = self.batch.masks[0].copy()
        return mask

    def legal_actions(self) -> list[str]:
        """Names of the legal actions, in the order of their ids; none when the game is over."""
        return [ACTIONS[action] for action in np.flatnonzero(self.batch.masks[0])]

    def apply(self, action: str | SupportsIndex) -> None:
        """Do an action, by name or id, then those that leave no choice.

        Raises IllegalActionError and changes nothing if the action is not legal.
        """
        number = action_id(action)
        if not self.batch.masks[0, number]:
            if self.is_over:
                raise IllegalActionError(f"{ACTIONS[number]!r} is not legal: the game is over.")
            raise IllegalActionError(
                f"{ACTIONS[number]!r} is not legal for seat {self.player} in step {self.step!r}; "
                f"legal: {', '.join(self.legal_actions())}."
            )
        self.moves.append((int(self.batch.states["player"][0]), number))
        self.batch.apply(0, number)

    # -- points ------------------------------------------------------------------------------------

    def points(self) -> list[dict[str, int]]:
        """Points of each seat by source, if the game ended now (the most eggs counted as they are)."""
        table = scoring.points(self.batch.rules, self.batch.states, 0)
        return [dict(zip(scoring.SOURCES, map(int, row), strict=True)) for row in table]

    def scores(self) -> list[int]:
        """Points of each seat, if the game ended now."""
        return [int(p) for p in scoring.scores(self.batch.rules, self.batch.states, 0)]

    def winners(self) -> list[int]:
        """The seats that win, if the game ended now, in order."""
        return [int(p) for p in scoring.winners(self.batch.rules, self.batch.states, 0).nonzero()[0]]

    def payoffs(self) -> list[float]:
        """The payoff of each seat, if the game ended now; they sum to 0."""
        return [float(p) for p in scoring.payoffs(self.batch.rules, self.batch.states, 0)]

    # -- views and copies --------------------------------------------------------------------------

    def observe(self, seat: int, view: View = "table") -> npt.NDArray[np.float32]:
        """What a seat sees: shape (layout(num_players, view).size,), float32 in [0, 1]."""
        return observe_game(self.batch, 0, self._seat(seat), view)

    def clone(self) -> Game:
        """An independent copy."""
        new = object.__new__(Game)
        new.batch, new.seed = self.batch.copy(), self.seed
        new.moves, new._dealt = list(self.moves), self._dealt
        return new

    __copy__ = clone

    def resample(self, seat: int, seed: int | None = None) -> Game:
        """A copy in which all that `seat` cannot know is drawn anew, uniformly among what may be.

        The copy looks the same to the seat in both views. It has no record: the moves that led to it
        need not have been legal with the cards drawn.
        """
        new = self.clone()
        new._dealt, new.seed, new.moves = None, None, []
        new.batch.states["rng"] = seed_streams(seed, 1)
        hidden.resample(new.batch.rules, new.batch.states, 0, self._seat(seat))
        new.batch.write_mask(0)
        return new

    def _seat(self, seat: int) -> int:
        number = as_index(seat)
        if not 0 <= number < self.num_players:
            raise OptionError(f"seat: {shown(seat)} is not a seat from 0 to {self.num_players - 1}.")
        return number

    # -- records -----------------------------------------------------------------------------------

    def deal(self) -> dict[str, Any]:
        """The deal of the game, as in a record."""
        if self._dealt is None:
            raise GardieniiError(
                "This game has no deal and no record: it was resampled, or taken from a batch."
            )
        return write_deal(self._dealt, 0)

    def to_record(self, with_legal: bool = False) -> dict[str, Any]:
        """The game as a record (plain data for JSON), over or not; see `docs/rules.md`.

        `with_legal` adds to each move the names of the actions that were legal.
        """
        return records.write(self, with_legal)

    def __repr__(self) -> str:
        if self.is_over:
            doing = f"ended by {self.end} after {self.turns} turns"
        else:
            doing = f"turn {self.turns + 1}, seat {self.player} to {self.step}"
        return f"<Game {self.ruleset.name}, {self.num_players} players: {doing}>"
