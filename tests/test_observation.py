"""Observations: the layout of their parts, the encoder's bounds and the way back.

That each number is the one that the rules page says is the business of `test_reference`, and that
nothing hidden moves one, of `test_hidden`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from helpers import POLICIES, play
from rulesets import ODD

from gardienii_env import Game, OptionError, Ruleset, layout, unflatten
from gardienii_env.observation import VIEWS, View
from gardienii_env.rules.cards import CARD_INDEX, CARDS, COLOURS, DARK
from gardienii_env.rules.ruleset import SHIPPED

PLAYERS = (2, 3, 4)
RULESETS = {name: Ruleset.get(name) for name in SHIPPED} | {ruleset.name: ruleset for ruleset in ODD}
LAYOUTS = tuple(product(PLAYERS, VIEWS))

each_layout = pytest.mark.parametrize(("players", "view"), LAYOUTS)


@cache
def positions(name: str, players: int) -> tuple[Game, ...]:
    """Positions of a few games under a ruleset, played in different ways, with their ends."""
    return tuple(_positions(name, players))


def _positions(name: str, players: int) -> Iterator[Game]:
    for number, policy in enumerate(POLICIES):
        rng = random.Random(number)
        game = Game.new(players, RULESETS[name], seed=number)
        yield game.clone()
        while not game.is_over:
            yield play(game, rng, rng.randrange(1, 60), policy).clone()


def observations(name: str, players: int, view: View) -> npt.NDArray[np.float32]:
    """What every seat sees in `positions`: shape (positions, seats, size)."""
    return np.array(
        [[game.observe(seat, view) for seat in range(players)] for game in positions(name, players)]
    )


# -- the layout ------------------------------------------------------------------------------------


@each_layout
def test_parts_follow_each_other(players: int, view: View) -> None:
    parts = list(layout(players, view))
    ends = [0, *(part.slice.stop for part in parts)]
    assert [part.start for part in parts] == ends[:-1]
    assert [part.slice.start for part in parts] == ends[:-1]
    assert all(part.size == part.slice.stop - part.slice.start for part in parts)
    assert all(part.size == np.zeros(part.shape).size for part in parts)
    assert layout(players, view).size == ends[-1]
    assert len(layout(players, view)) == len(parts)


@each_layout
def test_parts_are_found_by_their_names(players: int, view: View) -> None:
    parts = layout(players, view)
    names = [part.name for part in parts]
    assert len(set(names)) == len(names)
    assert [parts[name] for name in names] == list(parts)
    with pytest.raises(KeyError, match=r"supplies.*Did you mean 'supply'"):
        parts["supplies"]


@each_layout
def test_parts_have_a_meaning_and_a_scale(players: int, view: View) -> None:
    for part in layout(players, view):
        assert part.meaning
        assert part.scale >= 1
        assert part.known in ("public", "private", "recall")
        assert part.known != "recall" or view == "recall"


@each_layout
def test_factors_are_the_inverse_scales(players: int, view: View) -> None:
    parts = layout(players, view)
    assert parts.factors.dtype == np.float32
    assert parts.factors.shape == (parts.size,)
    for part in parts:
        assert (parts.factors[part.slice] == np.float32(1 / part.scale)).all()
    with pytest.raises(ValueError, match="read-only"):
        parts.factors[0] = 2


@each_layout
def test_places_are_the_starts(players: int, view: View) -> None:
    parts = layout(players, view)
    starts = {name: parts.places[name][0] for name in parts.places.dtype.names or ()}
    assert {name: start for name, start in starts.items() if start >= 0} == {
        part.name: part.start for part in parts
    }


@pytest.mark.parametrize("players", PLAYERS)
def test_parts_have_a_row_for_each_player_or_opponent(players: int) -> None:
    parts = layout(players, "recall")
    for name in ("active", "deciding", "column", "hand_size", "crest"):
        assert parts[name].shape[0] == players
    for name in ("their_pieces", "known_hand", "unknown"):
        assert parts[name].shape[0] == players - 1


@pytest.mark.parametrize("players", PLAYERS)
def test_recall_layout_begins_with_the_table_layout(players: int) -> None:
    table, recall = list(layout(players, "table")), list(layout(players, "recall"))
    assert recall[: len(table)] == table
    assert {part.known for part in table} == {"public", "private"}
    assert {part.known for part in recall[len(table) :]} == {"recall"}


def test_layout_is_the_table_one_unless_asked() -> None:
    assert layout(3) == layout(3, "table")
    game = Game.new(3, seed=1)
    assert game.observe(2).tobytes() == game.observe(2, "table").tobytes()


# -- the encoder -----------------------------------------------------------------------------------


@each_layout
@pytest.mark.parametrize("name", RULESETS)
def test_observation_is_float32_from_0_to_1(name: str, players: int, view: View) -> None:
    seen = observations(name, players, view)
    assert seen.dtype == np.float32
    assert seen.shape[2:] == (layout(players, view).size,)
    assert seen.min() == 0
    assert seen.max() == 1


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("name", RULESETS)
def test_recall_view_begins_with_the_table_view(name: str, players: int) -> None:
    table = observations(name, players, "table")
    recall = observations(name, players, "recall")
    assert table.tobytes() == np.ascontiguousarray(recall[..., : table.shape[-1]]).tobytes()


@each_layout
@pytest.mark.parametrize("name", RULESETS)
def test_unflatten_is_the_inverse(name: str, players: int, view: View) -> None:
    seen = observations(name, players, view)
    parts = unflatten(seen, players, view)
    flat = [array.reshape(*seen.shape[:2], -1) for array in parts.values()]
    counts = np.concatenate(flat, axis=-1).astype(np.float32)
    assert (counts * layout(players, view).factors).tobytes() == seen.tobytes()


@each_layout
def test_unflatten_takes_a_batch_of_any_shape(players: int, view: View) -> None:
    seen = observations("gardienii", players, view)
    batch = unflatten(seen, players, view)
    assert list(batch) == [part.name for part in layout(players, view)]
    for part in layout(players, view):
        assert batch[part.name].shape == seen.shape[:2] + part.shape
        assert batch[part.name].dtype == np.int64
    for k, seat in product(range(len(seen)), range(players)):
        single = unflatten(list(seen[k, seat]), players, view)
        assert all((single[name] == batch[name][k, seat]).all() for name in batch)


PER_PLAYER = {
    small.name for small, large in zip(layout(2), layout(3), strict=True) if small.shape != large.shape
}


@pytest.mark.parametrize("players", PLAYERS)
def test_observation_is_egocentric(players: int) -> None:
    """Rows of players begin with the observer and go on clockwise; all else public is the same."""
    for game in positions("dragonkeepers", players):
        seats = [unflatten(game.observe(seat), players) for seat in range(players)]
        for seat, part in product(range(players), layout(players)):
            if part.known == "public":
                turned = part.name in PER_PLAYER
                expected = np.roll(seats[0][part.name], -seat, axis=0) if turned else seats[0][part.name]
                assert (seats[seat][part.name] == expected).all(), part.name


@pytest.mark.parametrize("players", PLAYERS)
def test_recall_is_egocentric(players: int) -> None:
    """Row k of what is recalled of the others is of the seat k + 1 places to the left."""
    for game in positions("gardienii", players):
        seats = [unflatten(game.observe(seat, "recall"), players, "recall") for seat in range(players)]
        for seat, k in product(range(players), range(players - 1)):
            other = (seat + 1 + k) % players
            assert (seats[seat]["their_pieces"][k] == seats[other]["pieces"]).all()
            known, unknown = seats[seat]["known_hand"][k], seats[seat]["unknown"][k]
            assert (known <= seats[other]["hand"]).all()
            assert known.sum() + unknown == seats[other]["hand"].sum()
            # All other observers know as much of that hand.
            third = next((s for s in range(players) if s not in (seat, other)), seat)
            assert (seats[third]["known_hand"][(other - third - 1) % players] == known).all()


def test_own_hand_is_the_only_one_seen() -> None:
    game = Game.new(3, seed=5)
    dealt = game.deal()["hands"]
    for seat in range(3):
        hand = unflatten(game.observe(seat), 3)["hand"]
        assert sorted(CARDS[card] for card in np.repeat(np.arange(len(CARDS)), hand)) == sorted(
            dealt[seat]
        )


FULLEST: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    # what is written into the state, and what seat 1 of 4 then reads
    "turns": ({"turns": 510}, {"turns": [255, 255]}),
    "turns of a byte": ({"turns": 255}, {"turns": [255, 0]}),
    "turns of a byte and one": ({"turns": 256}, {"turns": [255, 1]}),
    "takes": ({"taken": 20, "paid": 10}, {"taken": 20, "paid": 10}),
    "decks": ({"deck_size": [63, 64]}, {"deck_size": [63, 64]}),
    "points": (
        {"dragon_points": [510, 254, 255, 256]},
        {"dragon_points": [[254, 0], [255, 0], [255, 1], [255, 255]]},
    ),
    "column": ({"column_cards": 127}, {"column_cards": np.full((4, 4), 127)}),
    "bank": (
        {"bank_pieces": 20, "bank_crystals": 20, "bank_eggs": 20, "bank_dark_dragons": 20},
        {"bank_pieces": np.full(8, 20), "bank_crystals": 20, "bank_eggs": 20, "bank_dark_dragons": 20},
    ),
    "tokens": (
        {"crystals": [20, 0, 1, 2], "eggs": [0, 20, 1, 2]},
        {"crystals": [0, 1, 2, 20], "eggs": [20, 1, 2, 0]},
    ),
    "hands": (
        {"hand": 3, "hand_size": 99, "unknown": -1},
        {"hand": np.full(33, 3), "hand_size": [99] * 4, "known_hand": np.full((3, 33), 3)},
    ),
    "many of a card": (
        {"hand": 0, "hand_size": 0, "unknown": -1, "unseen": 20},
        {"hand": np.zeros(33), "unseen": np.full(33, 20), "unknown": [0, 0, 0]},
    ),
}


@pytest.mark.parametrize("name", FULLEST)
def test_largest_numbers_fit(name: str) -> None:
    fields, expected = FULLEST[name]
    game = Game.new(4, "gardienii", seed=0)
    for field, value in fields.items():
        game.state[field] = value
    seen = game.observe(1, "recall")
    assert 0 <= seen.min() <= seen.max() <= 1
    parts = unflatten(seen, 4, "recall")
    for part, value in expected.items():
        assert (parts[part] == value).all(), part


def test_laid_cards_of_both_decks_have_room() -> None:
    """All 127 cards laid: two of each deck one-hot, the others as numbers from both ends."""
    game = Game.new(2, "gardienii", seed=0)
    left, right = CARD_INDEX["R2"], CARD_INDEX["Gb"]
    s = game.state
    s["deck"][:60], s["deck"][60:] = left, right
    s["deck"][59], s["deck"][60] = DARK, CARD_INDEX["Wr"]
    s["deck_size"] = s["deck_laid"] = [60, 67]
    seen = game.observe(0, "recall")
    assert seen.max() <= 1
    parts = unflatten(seen, 2, "recall")
    assert parts["num_laid"].tolist() == [60, 67]
    tops = parts["laid_top"].argmax(axis=-1).tolist()
    assert [[CARDS[card] for card in side] for side in tops] == [["D6", "R2"], ["Wr", "Gb"]]
    assert parts["laid_top"].sum(axis=-1).tolist() == [[1, 1], [1, 1]]
    assert parts["laid_below"].tolist() == [left + 1] * 58 + [0] * 2 + [right + 1] * 65
    assert not parts["below_left"].any()
    assert not parts["below_right"].any()


def test_back_under_the_lowest_laid_card_is_recalled() -> None:
    game = Game.new(2, "gardienii", seed=0)
    s = game.state
    s["deck"][:4] = [CARD_INDEX[card] for card in ("W5", "R4", "B1", "G2")]
    s["deck"][-3:] = [CARD_INDEX[card] for card in ("Wg", "Rb", "Wr")]
    s["deck_size"], s["deck_laid"] = [4, 3], [2, 1]
    parts = unflatten(game.observe(0, "recall"), 2, "recall")
    assert parts["left_top"].argmax() + 1 == 2
    assert COLOURS[parts["right_top"].argmax()] == "G"
    assert parts["below_left"].argmax() + 1 == 4
    assert COLOURS[parts["below_right"].argmax()] == "B"
    s["deck_laid"] = 0
    parts = unflatten(game.observe(0, "recall"), 2, "recall")
    assert not parts["below_left"].any()
    assert not parts["below_right"].any()


def test_observing_changes_nothing() -> None:
    game = play(Game.new(3, seed=2), random.Random(2), 80)
    before = game.state.tobytes(), game.legal_mask().tobytes()
    first = game.observe(1, "recall")
    first[:] = 9
    assert game.observe(1, "recall").max() == 1
    assert (game.state.tobytes(), game.legal_mask().tobytes()) == before


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [1, 5, 0, -2, True, "2", None, 2.5])
def test_unknown_number_of_players_is_refused(players: Any) -> None:
    with pytest.raises(OptionError, match="num_players"):
        layout(players)


@pytest.mark.parametrize("view", ["", "Table", "full", None, 0])
def test_unknown_view_is_refused(view: Any) -> None:
    game = Game.new(2, seed=0)
    for refused in (lambda: layout(2, view), lambda: game.observe(0, view)):
        with pytest.raises(OptionError, match=r"view.*table, recall"):
            refused()


@pytest.mark.parametrize("seat", [-1, 3, True, None, "0", 0.5])
def test_unknown_seat_is_refused(seat: Any) -> None:
    with pytest.raises(OptionError, match=r"seat.*from 0 to 2"):
        Game.new(3, seed=0).observe(seat)


@pytest.mark.parametrize("shape", [(), (0,), (311,), (313,), (312, 1), (2, 656)])
def test_unflatten_refuses_another_length(shape: tuple[int, ...]) -> None:
    assert layout(2).size == 312
    with pytest.raises(OptionError, match="312"):
        unflatten(np.zeros(shape), 2)


def test_unflatten_refuses_the_other_view_and_number_of_players() -> None:
    seen = Game.new(2, seed=0).observe(0)
    for players, view in LAYOUTS:
        if (players, view) != (2, "table"):
            with pytest.raises(OptionError, match=f"{players} players and view '{view}'"):
                unflatten(seen, players, view)
