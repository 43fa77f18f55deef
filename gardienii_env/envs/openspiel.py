"""The game for OpenSpiel: importing this module registers it under the name `gardienii`.

    import pyspiel

    import gardienii_env.envs.openspiel

    game = pyspiel.load_game("gardienii", {"players": 3, "ruleset": "dragonkeepers"})

Parameters: `players`, 2 to 4 (default 2), and `ruleset`, a shipped name (default `gardienii`).

The deal is some 135 chance events, one for each card, amulet piece and pearl; after it nothing is
random. Actions are the 73 of `gardienii_env.ACTIONS`. A decision with a single legal action is made
automatically. Returns are the payoffs, paid at the end; they sum to 0.

The observation is the table view and the information state the recall view, which have the same parts
and numbers as everywhere in this package. The information state string tells all that a player saw from
the deal on (perfect recall). See `docs/openspiel.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gardienii_env.deal import write_deal
from gardienii_env.envs.openspiel_deal import Drawing, events_of, piles
from gardienii_env.envs.openspiel_past import Columns, Past, numbers_text
from gardienii_env.errors import MissingExtraError, OptionError, as_index, one_of, shown
from gardienii_env.game import Game
from gardienii_env.observation import View, layout
from gardienii_env.rules.actions import ACTIONS, NUM_ACTIONS
from gardienii_env.rules.cards import CARDS, NUMBERS
from gardienii_env.rules.ruleset import MAX_PLAYERS, MIN_PLAYERS, SHIPPED, Ruleset
from gardienii_env.rules.state import deck_place

try:
    import pyspiel
except ImportError as error:
    raise MissingExtraError("gardienii_env.envs.openspiel", "openspiel") from error

__all__ = ["GardieniiGame", "GardieniiObserver", "GardieniiState", "state_of"]

GAME_TYPE = pyspiel.GameType(
    short_name="gardienii",
    long_name="Gardienii Dragonilor (Dragonkeepers)",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=MAX_PLAYERS,
    min_num_players=MIN_PLAYERS,
    provides_information_state_string=True,
    provides_information_state_tensor=True,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification={"players": MIN_PLAYERS, "ruleset": SHIPPED[0]},
    provides_factored_observation_string=True,
)
DEALING = "The cards are being dealt."
SEED_BITS = 32


class GardieniiGame(pyspiel.Game):  # type: ignore[misc]
    """The game of one ruleset and one number of players. Made by `pyspiel.load_game`.

    Raises OptionError for parameters with a wrong value.

    Attributes:
        ruleset: the ruleset.
        piles: what the chance events draw from, see `openspiel_deal`.
    """

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        given = dict(params or {})
        players = _check_players(given.get("players", MIN_PLAYERS))
        self.ruleset = _check_ruleset(given.get("ruleset", SHIPPED[0]))
        self.piles = piles(self.ruleset, players)
        info = pyspiel.GameInfo(
            num_distinct_actions=NUM_ACTIONS,
            max_chance_outcomes=max(len(pile.kinds) for pile in self.piles),
            num_players=players,
            min_utility=-1.0 / (players - 1),
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=most_decisions(self.ruleset, players),
        )
        super().__init__(GAME_TYPE, info, given)

    def new_initial_state(self) -> GardieniiState:
        """The game before its deal."""
        return GardieniiState(self)

    def max_chance_nodes_in_history(self) -> int:
        """How many chance events a deal is."""
        return sum(pile.draws for pile in self.piles)

    def make_py_observer(
        self, iig_obs_type: Any = None, params: Mapping[str, Any] | None = None
    ) -> GardieniiObserver:
        """What shows states to a seat; None: the observation. OptionError where there is none such."""
        if params:
            raise OptionError(f"observer: {shown(dict(params))}; there are no parameters.")
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        if kind.private_info == pyspiel.PrivateInfoType.ALL_PLAYERS:
            raise OptionError(
                "observer: private_info=ALL_PLAYERS is not offered, only one seat's or none."
            )
        private = kind.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        return GardieniiObserver(self.num_players(), kind.public_info, private, kind.perfect_recall)


class GardieniiState(pyspiel.State):  # type: ignore[misc]
    """A state: the deal as far as it is drawn, then the game. Made by `new_initial_state`."""

    def __init__(self, game: GardieniiGame) -> None:
        super().__init__(game)
        self._drawing: Drawing | None = Drawing(game.ruleset, game.num_players(), game.piles)
        self._past: Past | None = None

    @property
    def past(self) -> Past:
        """The game and how it came about; OptionError before the deal is complete."""
        if self._past is None:
            raise OptionError("state: the deal is not complete; apply its chance events first.")
        return self._past

    def to_game(self) -> Game:
        """The game as an independent `Game`, for agents and renderers of this package."""
        return self.past.game.clone()

    # -- OpenSpiel's interface ---------------------------------------------------------------------

    def current_player(self) -> int:
        """The seat that decides, or what OpenSpiel calls chance and the end."""
        if self._past is None:
            return int(pyspiel.PlayerId.CHANCE)
        seat = self._past.game.player
        return int(pyspiel.PlayerId.TERMINAL) if seat is None else seat

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self._past is not None and self._past.game.is_over

    def _legal_actions(self, player: int) -> list[int]:
        """Ids of the legal actions of the seat that decides, rising."""
        legal: list[int] = np.flatnonzero(self.past.game.batch.masks[0]).tolist()
        return legal

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """What may be drawn next in the deal, with its probability."""
        if self._drawing is None:
            raise OptionError("state: the deal is complete, there are no chance events any more.")
        return self._drawing.outcomes()

    def _apply_action(self, action: int) -> None:
        """Do an action, or draw an outcome of the deal."""
        if self._past is not None:
            self._past.apply(action)
            return
        assert self._drawing is not None
        self._drawing.draw(action)
        if self._drawing.is_done:
            game = self.get_game()
            deal = self._drawing.deal()
            self._past = Past(Game.from_deal(deal, game.num_players(), game.ruleset))
            self._drawing = None

    def _action_to_string(self, player: int, action: int) -> str:
        """The name of an action, or an outcome of the deal in words."""
        if player == pyspiel.PlayerId.CHANCE and self._drawing is not None:
            return self._drawing.describe(action)
        return ACTIONS[action]

    def returns(self) -> list[float]:
        """The payoffs by seat; 0 for all until the game is over."""
        if not self.is_terminal():
            return [0.0] * self.num_players()
        return self.past.game.payoffs()

    def resample_from_infostate(
        self, player_id: int, probability_sampler: Callable[[], float]
    ) -> GardieniiState:
        """A state drawn uniformly among those with the same information state of the player.

        Its history is that of its own deal. `probability_sampler` gives numbers from 0 up to 1.
        """

        def draw_seed() -> int:
            halves = [int(probability_sampler() * 2**SEED_BITS) for _ in range(2)]
            return (halves[0] << SEED_BITS) + halves[1]

        dealt = self.past.resample(_check_seat(player_id, self.num_players()), draw_seed)
        state = _played(self.get_game(), write_deal(dealt, 0), self.past.game.moves)
        state.past.tell_as(self.past, player_id)
        return state

    def __str__(self) -> str:
        """The whole truth about the state, for debugging."""
        if self._past is None:
            assert self._drawing is not None
            return f"{DEALING} {self._drawing.drawn}"
        return _truth(self._past.game)


class GardieniiObserver:
    """Shows states to a seat, as OpenSpiel's `observation.py` describes.

    Attributes:
        tensor: what `set_from` wrote last: float32, the parts chosen, one after another.
        dict: its parts by name, as views in their shapes. See `docs/observations.md`.
    """

    def __init__(self, players: int, public: bool, private: bool, recall: bool) -> None:
        """What to show: public parts, the seat's private ones, what one recalls who forgets nothing."""
        self._view: View = "recall" if recall else "table"
        self._players, self._recall = players, recall
        parts = [p for p in layout(players, self._view) if _is_shown(p.name, p.known, public, private)]
        self._columns: Columns = tuple(k for p in parts for k in range(p.start, p.start + p.size))
        self._index = np.array(self._columns, np.int64)
        self.tensor: npt.NDArray[np.float32] = np.zeros(len(self._columns), np.float32)
        self.dict: dict[str, npt.NDArray[np.float32]] = {}
        start = 0
        for part in parts:
            self.dict[part.name] = self.tensor[start : start + part.size].reshape(part.shape)
            start += part.size

    def set_from(self, state: GardieniiState, player: int) -> None:
        """Write what the player sees into `tensor`; all 0 during the deal."""
        if state._past is None:
            self.tensor.fill(0)
        else:
            self.tensor[:] = state._past.game.observe(player, self._view)[self._index]

    def string_from(self, state: GardieniiState, player: int) -> str:
        """What the player sees, in words: with perfect recall all of it from the deal on."""
        if state._past is None:
            return DEALING
        head = f"seat {player} of {self._players}: "
        if self._recall:
            return head + state._past.told(player, self._columns)
        seen = state._past.game.observe(player, self._view)
        return head + numbers_text(seen, self._players, self._view, player, self._columns)


def state_of(game: Game) -> GardieniiState:
    """A game as a state of OpenSpiel, with the history that leads to it.

    `state_of(Game.new(3, "dragonkeepers", seed=17))` is the deal of that seed. Raises OptionError if the
    ruleset is not a shipped one, and GardieniiError if the game has no deal because it was resampled.
    """
    shipped = _check_ruleset(game.ruleset.name)
    if shipped != game.ruleset:
        raise OptionError(f"ruleset: {shown(game.ruleset.name)} is not as it ships.")
    parameters = {"players": game.num_players, "ruleset": shipped.name}
    return _played(pyspiel.load_game("gardienii", parameters), game.deal(), game.moves)


def most_decisions(ruleset: Ruleset, players: int) -> int:
    """More decisions than a game can have: every turn as long as one could be."""
    takes = ruleset.take_limit + min(ruleset.crystals_per_turn, ruleset.crystals)
    passes = 1 + 1  # after the takes, after the modifications
    plays = players * (NUMBERS + 1)  # a set and the end for its column
    return ruleset.turn_limit * (takes + ruleset.modifications_per_turn + passes + plays)


def _played(
    game: GardieniiGame, deal: Mapping[str, Any], moves: list[tuple[int, int]]
) -> GardieniiState:
    """The state after a deal and some moves."""
    state = game.new_initial_state()
    for outcome in events_of(deal, game.ruleset, game.piles):
        state.apply_action(outcome)
    for _, action in moves:
        state.apply_action(action)
    return state


def _is_shown(name: str, known: str, public: bool, private: bool) -> bool:
    """Whether an observer shows a part. Of what is recalled, only `unseen` tells of the own hand."""
    return private if known == "private" or name == "unseen" else public


def _truth(game: Game) -> str:
    """Everything about a game, hidden things too."""
    columns = tuple(range(layout(game.num_players, "recall").size))
    state = game.state
    lines = [repr(game), f"pearls {state['pearls'].tolist()}"]
    for side in range(2):
        heights = range(int(state["deck_size"][side]))
        lines.append("deck " + " ".join(CARDS[state["deck"][deck_place(side, h)]] for h in heights))
    for seat in range(game.num_players):
        seen = numbers_text(game.observe(seat, "recall"), game.num_players, "recall", seat, columns)
        lines.append(f"seat {seat}: {seen}")
    return "\n".join(lines)


def _check_players(players: object) -> int:
    number = as_index(players)
    if not MIN_PLAYERS <= number <= MAX_PLAYERS:
        raise OptionError(f"players: {shown(players)} is not one of 2, 3, 4.")
    return number


def _check_ruleset(name: object) -> Ruleset:
    if not isinstance(name, str) or name not in SHIPPED:
        raise OptionError(one_of("ruleset:", name, SHIPPED))
    return Ruleset.get(name)


def _check_seat(seat: object, players: int) -> int:
    number = as_index(seat)
    if not 0 <= number < players:
        raise OptionError(f"player: {shown(seat)} is not a seat from 0 to {players - 1}.")
    return number


pyspiel.register_game(GAME_TYPE, GardieniiGame)
