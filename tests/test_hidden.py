"""What a seat cannot know: that it moves nothing the seat sees, and that it is drawn evenly anew."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import islice, permutations, product
from typing import Any

import numpy as np
import pytest
from helpers import POLICIES, play
from rulesets import COMBINATIONS, ODD, same_for_all
from scipy.stats import chisquare

from gardienii_env import Game, GardieniiError, OptionError, Ruleset
from gardienii_env.observation import VIEWS
from gardienii_env.rules import engine
from gardienii_env.rules.cards import BACK, CARD_INDEX, CARDS
from gardienii_env.rules.state import STATE, deck_place

RULESETS = {ruleset.name: ruleset for ruleset in ODD}
EACH = [*COMBINATIONS, *product(RULESETS, (3,))]

each_game = pytest.mark.parametrize(("ruleset", "players"), EACH)


@cache
def positions(ruleset: str, players: int) -> tuple[Game, ...]:
    """Positions of games played in different ways, with their ends. Not to be changed."""
    return tuple(_positions(ruleset, players))


def _positions(ruleset: str, players: int) -> Iterator[Game]:
    for number, policy in enumerate(POLICIES):
        rng = random.Random(number)
        game = Game.new(players, RULESETS.get(ruleset, ruleset), seed=number)
        yield game.clone()
        while not game.is_over:
            yield play(game, rng, rng.randrange(1, 60), policy).clone()


def seats(ruleset: str, players: int) -> Iterator[tuple[Game, int]]:
    """Each position with each seat."""
    return product(positions(ruleset, players), range(players))


def seen(game: Game, seat: int) -> list[bytes]:
    """What a seat sees in both views, in the text, and by what it may do."""
    mask = game.legal_mask().tobytes() if game.player == seat else b""
    return [*(game.observe(seat, view).tobytes() for view in VIEWS), repr(game).encode(), mask]


# -- hidden changes made by hand -------------------------------------------------------------------


def swap_unknown_cards(game: Game, seat: int, rng: random.Random) -> None:
    """Two others exchange a starting card that nobody knows them to hold."""
    s = game.state
    holders = [
        other for other in range(game.num_players) if other != seat and s["unknown"][other, 0] >= 0
    ]
    if len(holders) >= 2:
        a, b = rng.sample(holders, 2)
        card_a, card_b = s["unknown"][[a, b], 0]
        give_unknown(game, a, card_b)
        give_unknown(game, b, card_a)


def swap_with_not_dealt(game: Game, seat: int, rng: random.Random) -> None:
    """Another seat was dealt a starting card that in truth was not dealt."""
    s = game.state
    decks = Counter(card for side in (0, 1) for card in unlaid(game, side))
    not_dealt = [card for card, count in enumerate(s["unseen"]) if count > decks[card]]
    holders = [
        other for other in range(game.num_players) if other != seat and s["unknown"][other, 0] >= 0
    ]
    if holders and not_dealt:
        other, card = rng.choice(holders), rng.choice(not_dealt)
        s["unseen"][card] -= 1
        s["unseen"][s["unknown"][other, 0]] += 1
        give_unknown(game, other, card)


def give_unknown(game: Game, seat: int, card: int) -> None:
    """Put a card in the place of the first unknown one of a hand."""
    s = game.state
    s["hand"][seat, s["unknown"][seat, 0]] -= 1
    s["hand"][seat, card] += 1
    s["unknown"][seat, 0] = card


def unlaid(game: Game, side: int) -> list[int]:
    """The cards of a deck that no player laid there, from the bottom."""
    height = int(game.state["deck_size"][side] - game.state["deck_laid"][side])
    return [int(game.state["deck"][deck_place(side, k)]) for k in range(height)]


def put_unlaid(game: Game, side: int, cards: Iterable[int]) -> None:
    for height, card in enumerate(cards):
        game.state["deck"][deck_place(side, height)] = card


def reorder_decks(game: Game, seat: int, rng: random.Random) -> None:
    """The cards under the uppermost that was not laid lie in another order."""
    for side in (0, 1):
        cards = unlaid(game, side)
        put_unlaid(game, side, [*rng.sample(cards[:-1], len(cards[:-1])), *cards[-1:]])


def swap_uppermost_fronts(game: Game, seat: int, rng: random.Random) -> None:
    """The uppermost card that was not laid has another front, but the same back."""
    for side in (0, 1):
        cards = unlaid(game, side)
        same = [k for k, card in enumerate(cards[:-1]) if BACK[card] == BACK[cards[-1]]]
        if same:
            k = rng.choice(same)
            cards[k], cards[-1] = cards[-1], cards[k]
            put_unlaid(game, side, cards)


def swap_pearls(game: Game, seat: int, rng: random.Random) -> None:
    """Pearls left and pearls of others change places."""
    s = game.state
    number = sum(game.ruleset.pearls.values())
    places = [k for k in range(number) if s["pearl_owner"][k] != seat]
    s["pearls"][places] = s["pearls"][rng.sample(places, len(places))]


def ask_again(game: Game) -> None:
    """Find out anew what is legal, after the state was changed."""
    game.state["legal"] = engine.legal_actions(game.batch.rules[0], game.state)
    game.batch.write_mask(0)


HIDDEN_CHANGES = (
    swap_unknown_cards,
    swap_with_not_dealt,
    reorder_decks,
    swap_uppermost_fronts,
    swap_pearls,
)


@pytest.mark.parametrize("change", HIDDEN_CHANGES)
@each_game
def test_hidden_change_is_not_seen(
    change: Callable[[Game, int, random.Random], None], ruleset: str, players: int
) -> None:
    rng = random.Random(1)
    for game, seat in seats(ruleset, players):
        other = game.clone()
        change(other, seat, rng)
        ask_again(other)
        assert seen(other, seat) == seen(game, seat)


@pytest.mark.parametrize("change", HIDDEN_CHANGES)
def test_hidden_changes_do_change_games(change: Callable[[Game, int, random.Random], None]) -> None:
    """The test above has something to compare."""
    rng = random.Random(1)
    changed = 0
    for game, seat in seats("gardienii", 4):
        other = game.clone()
        change(other, seat, rng)
        changed += other.state.tobytes() != game.state.tobytes()
    assert changed > 20


# -- what only recall tells ------------------------------------------------------------------------


def change_their_pieces(game: Game, other: int) -> bool:
    """Another seat has an amulet piece of another value."""
    pieces = game.state["pieces"][other]
    if not pieces.any():
        return False
    value = int(pieces.argmax())
    pieces[value] -= 1
    pieces[(value + 1) % game.batch.rules[0]["piece_values"]] += 1
    return True


def change_their_known_card(game: Game, other: int) -> bool:
    """Another seat has taken another card."""
    hand, unknown = game.state["hand"][other], game.state["unknown"][other]
    known = [card for card in range(len(CARDS)) if hand[card] > (unknown == card).sum()]
    if not known:
        return False
    hand[known[0]] -= 1
    hand[(known[0] + 1) % len(CARDS)] += 1
    return True


def reveal_their_card(game: Game, other: int) -> bool:
    """Another seat has shown a card that was not known."""
    unknown = game.state["unknown"][other]
    if unknown.max() < 0:
        return False
    unknown[unknown.argmax()] = -1
    return True


def change_laid_card(game: Game, other: int) -> bool:
    """Another card was laid beneath the top one of a deck."""
    s = game.state
    if s["deck_laid"][0] < 2:
        return False
    place = deck_place(0, int(s["deck_size"][0]) - 2)
    s["deck"][place] = (s["deck"][place] + 1) % 20
    return True


def change_back_under_laid(game: Game, other: int) -> bool:
    """Another page lies under the cards laid on a deck."""
    s = game.state
    below = int(s["deck_size"][1] - s["deck_laid"][1]) - 1
    if s["deck_laid"][1] == 0 or below < 0:
        return False
    place = deck_place(1, below)
    page = CARD_INDEX["Wr"] if CARDS[s["deck"][place]] != "Wr" else CARD_INDEX["Wb"]
    s["deck"][place] = page if BACK[page] != BACK[s["deck"][place]] else CARD_INDEX["Wg"]
    return True


def change_unseen(game: Game, other: int) -> bool:
    """Another card was seen earlier in the game."""
    unseen = game.state["unseen"]
    if not unseen.any():
        return False
    unseen[unseen.argmax()] -= 1
    return True


RECALL_CHANGES = (
    change_their_pieces,
    change_their_known_card,
    reveal_their_card,
    change_laid_card,
    change_back_under_laid,
    change_unseen,
)


@pytest.mark.parametrize("change", RECALL_CHANGES)
@pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)
def test_table_view_shows_nothing_that_only_recall_tells(
    change: Callable[[Game, int], bool], ruleset: str, players: int
) -> None:
    changed = 0
    for game, seat in seats(ruleset, players):
        other = game.clone()
        if change(other, (seat + 1) % players):
            changed += 1
            assert other.observe(seat, "table").tobytes() == game.observe(seat, "table").tobytes()
            assert other.observe(seat, "recall").tobytes() != game.observe(seat, "recall").tobytes()
    assert changed > 3


# -- resampling ------------------------------------------------------------------------------------

DRAWN = ("rng", "legal", "pearls", "deck", "hand", "unknown", "unseen")
"""The fields of the state in which something is hidden."""


def secrets(game: Game) -> bytes:
    """All of the state but the generator."""
    state = game.state.copy()
    state["rng"] = 0
    return state.tobytes()


def known_hands(game: Game) -> list[list[int]]:
    """The cards of each hand that all know to be there, by type."""
    hands = game.state["hand"].astype(int)
    for hand, unknown in zip(hands, game.state["unknown"], strict=True):
        np.subtract.at(hand, unknown[unknown >= 0], 1)
    return [[int(count) for count in hand] for hand in hands]


def laid(game: Game, side: int) -> list[int]:
    """The cards that players laid on a deck, from the lowest."""
    s = game.state
    heights = range(len(unlaid(game, side)), s["deck_size"][side])
    return [int(s["deck"][deck_place(side, height)]) for height in heights]


@each_game
def test_resampled_game_looks_the_same_to_the_seat(ruleset: str, players: int) -> None:
    for game, seat in seats(ruleset, players):
        for seed in range(2):
            assert seen(game.resample(seat, seed), seat) == seen(game, seat)


@each_game
def test_resampling_keeps_what_is_known(ruleset: str, players: int) -> None:
    for game, seat in seats(ruleset, players):
        other = game.resample(seat, 3)
        for field in set(STATE.names or ()) - set(DRAWN):
            assert (other.state[field] == game.state[field]).all(), field
        assert (other.state["hand"][seat] == game.state["hand"][seat]).all()
        assert (other.state["unknown"][seat] == game.state["unknown"][seat]).all()
        own = game.state["pearl_owner"] == seat
        assert (other.state["pearls"][own] == game.state["pearls"][own]).all()
        assert known_hands(other) == known_hands(game)
        for side in (0, 1):
            assert laid(other, side) == laid(game, side)
            for cards, drawn in zip(unlaid(game, side)[-1:], unlaid(other, side)[-1:], strict=True):
                assert BACK[cards] == BACK[drawn]


@each_game
def test_resampling_only_moves_what_is_hidden(ruleset: str, players: int) -> None:
    for game, seat in seats(ruleset, players):
        other = game.resample(seat, 4)
        for side in (0, 1):
            assert sorted(unlaid(other, side)) == sorted(unlaid(game, side))
        assert sorted(other.state["pearls"]) == sorted(game.state["pearls"])
        cards = [g.state["hand"].sum(axis=0) + g.state["unseen"] for g in (game, other)]
        assert (cards[0] == cards[1]).all()
        assert ((game.state["unknown"] >= 0) == (other.state["unknown"] >= 0)).all()
        assert (
            other.state["unseen"] >= np.bincount(unlaid(other, 0) + unlaid(other, 1), minlength=33)
        ).all()


@pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)
def test_resampled_games_differ_from_the_truth_and_from_each_other(ruleset: str, players: int) -> None:
    same = 0
    cases = list(seats(ruleset, players))
    for game, seat in cases:
        drawn = [secrets(game.resample(seat, seed)) for seed in (1, 1, 2)]
        assert drawn[0] == drawn[1]
        same += len({secrets(game), *drawn}) < 3
    assert same < len(cases) / 100


@each_game
def test_resampling_leaves_the_game_alone(ruleset: str, players: int) -> None:
    for game, seat in islice(seats(ruleset, players), 40):
        before = game.state.tobytes(), game.legal_mask().tobytes(), game.to_record()
        play(game.resample(seat, 5), random.Random(5), 10)
        assert (game.state.tobytes(), game.legal_mask().tobytes(), game.to_record()) == before


@each_game
def test_who_decides_has_a_choice_in_a_resampled_game(ruleset: str, players: int) -> None:
    for game, seat in seats(ruleset, players):
        other = game.resample(seat, 6)
        assert other.player == game.player
        assert len(other.legal_actions()) >= (0 if game.is_over else 2)
        mask = other.legal_mask()
        ask_again(other)
        assert (other.legal_mask() == mask).all()


@each_game
def test_resampled_game_can_be_played_to_its_end(ruleset: str, players: int) -> None:
    for game, seat in islice(seats(ruleset, players), 0, None, 5):
        other = play(game.resample(seat, 7), random.Random(7))
        assert other.is_over
        assert sum(other.payoffs()) == pytest.approx(0)


def test_resampled_game_can_be_resampled_and_copied() -> None:
    game = play(Game.new(4, seed=3), random.Random(3), 60)
    first = game.resample(1, 1)
    again = first.resample(1, 2)
    assert seen(again, 1) == seen(first.clone(), 1) == seen(game, 1)
    assert secrets(first.clone()) == secrets(first) != secrets(again)


def test_resampled_game_has_no_record() -> None:
    game = Game.new(2, seed=3).resample(0, 1)
    for refused in (game.deal, game.to_record):
        with pytest.raises(GardieniiError, match="resampled"):
            refused()


def test_resampling_without_a_seed_differs_each_time() -> None:
    game = Game.new(2, seed=3)
    assert secrets(game.resample(0)) != secrets(game.resample(0))


@pytest.mark.parametrize("seat", [-1, 2, None])
def test_resampling_refuses_an_unknown_seat(seat: Any) -> None:
    with pytest.raises(OptionError, match="seat"):
        Game.new(2, seed=0).resample(seat, 1)


# -- evenness --------------------------------------------------------------------------------------

DRAWS = 4000
LEAST_P = 1e-3


def small(**changes: Any) -> Ruleset:
    """A ruleset of a few cards, with one card taken a turn and none laid."""
    fields: dict[str, Any] = {
        "name": "small",
        "supply_per_deck": 1,
        "modifications_per_turn": 0,
        "take_limit": 1,
        "crystals": 0,
        "left_deck": {"B1": 1, "R1": 1, "G2": 1},
        "right_deck": {"Bg": 1, "Rw": 1, "Gb": 1},
        "starting_cards": {"Wb": 3, "Rg": 2, "Gr": 2},
        "pearls": {},
        "amulet_pieces": {"1": 3},
        "pieces_removed": same_for_all(0),
    }
    return Ruleset.get("gardienii").replace(**{**fields, **changes})


def deal(hands: list[list[str]], **changes: Any) -> dict[str, Any]:
    """A deal of `small`: the spell is 2 blue; after `take:R0` it is 2 white."""
    fields: dict[str, Any] = {
        "left": ["R1", "G2"],
        "right": ["Rw", "Gb"],
        "supply": {"L": ["B1"], "R": ["Bg"]},
        "hands": hands,
        "pieces": {"1": 3},
        "pearls": [],
    }
    return {**fields, **changes}


Outcome = tuple[Any, ...]


def check_evenness(
    game: Game, seat: int, outcome: Callable[[Game], Outcome], possible: Counter[Outcome]
) -> None:
    """The outcomes of resampling come as often as is possible, and no others do."""
    drawn = Counter(outcome(game.resample(seat, seed)) for seed in range(DRAWS))
    assert possible[outcome(game)] > 0
    assert set(drawn) == set(possible)
    share = DRAWS / possible.total()
    assert min(possible.values()) * share > 5
    expected = [count * share for count in possible.values()]
    assert chisquare([drawn[key] for key in possible], expected).pvalue > LEAST_P


def named(cards: Iterable[int]) -> tuple[str, ...]:
    return tuple(CARDS[card] for card in cards)


def unknown_cards(game: Game, seat: int) -> tuple[str, ...]:
    return tuple(sorted(named(card for card in game.state["unknown"][seat] if card >= 0)))


def decks_of(game: Game) -> Outcome:
    return (named(unlaid(game, 0)), named(unlaid(game, 1)))


def orders(cards: list[str]) -> Counter[tuple[str, ...]]:
    """The orders of a deck, bottom first, that keep the back of the top card."""
    return Counter(order for order in permutations(cards) if order[-1][1] == cards[-1][1])


def test_decks_are_drawn_evenly() -> None:
    left, right = ["W1", "R1", "B2", "W1"], ["Wr", "Wb", "Br", "Gr"]
    ruleset = small(
        left_deck={"W1": 2, "R1": 1, "B2": 1, "G3": 1},
        right_deck={"Wr": 1, "Wb": 1, "Br": 1, "Gr": 1, "Rw": 1},
    )
    game = Game.from_deal(
        deal([[], ["Wb"]], left=left, right=right, supply={"L": ["G3"], "R": ["Rw"]}), 2, ruleset
    )
    possible: Counter[Outcome] = Counter()
    for (a, n), (b, m) in product(orders(left).items(), orders(right).items()):
        possible[a, b] = n * m
    check_evenness(game, 0, decks_of, possible)


def test_deck_under_a_laid_card_is_drawn_evenly() -> None:
    """The card that lies under the one laid was the top card before: its back is remembered."""
    left = ["W2", "R1", "B2", "W1", "R2"]
    ruleset = small(
        modifications_per_turn=1, left_deck={"W1": 1, "R1": 1, "B2": 1, "W2": 1, "R2": 1, "G3": 1}
    )
    game = Game.from_deal(
        deal([[], ["Wb"]], left=left, right=["Rw", "Gb"], supply={"L": ["G3"], "R": ["Bg"]}), 2, ruleset
    )
    game.apply("take:L0")  # turns up R2
    game.apply("modify:G3")
    assert named(laid(game, 0)) == ("G3",)
    possible: Counter[Outcome] = Counter({(a, ("Rw", "Gb")): n for a, n in orders(left[:-1]).items()})
    for seat in range(2):
        check_evenness(game, seat, decks_of, possible)


def test_starting_cards_are_drawn_evenly() -> None:
    game = Game.from_deal(deal([[], ["Wb"], ["Rg", "Gr"], ["Wb", "Wb", "Gr"]]), 4, small())
    possible: Counter[Outcome] = Counter(
        (cards[:1], tuple(sorted(cards[1:4]))) for cards in permutations(["Wb", "Wb", "Wb", "Rg", "Gr"])
    )
    assert game.player == 0
    check_evenness(game, 2, lambda g: (unknown_cards(g, 1), unknown_cards(g, 3)), possible)


def test_pearls_are_drawn_evenly() -> None:
    pearls = [9, 3, 3, 9, 4]
    ruleset = small(pearls={"3": 2, "4": 1, "9": 2})
    game = Game.from_deal(deal([[], ["Wb"]], pearls=pearls), 2, ruleset)
    game.state["pearl_owner"][:3] = [1, 0, 1]
    game.state["pearls_given"] = 3
    game.state["num_pearls"][:2] = [1, 2]
    possible: Counter[Outcome] = Counter(
        (order[0], 3, *order[1:]) for order in permutations([9, 3, 9, 4])
    )
    check_evenness(game, 0, lambda g: tuple(int(p) for p in g.state["pearls"][:5]), possible)


def test_hand_of_who_decides_to_play_is_drawn_evenly_among_those_that_can() -> None:
    """Seat 2 may play one white dragon, so it has one; nothing follows for seat 1."""
    starting = {"Wb": 2, "Wr": 1, "Rg": 3, "Gr": 2}
    ruleset = small(starting_cards=starting, left_deck={"B1": 1, "R1": 1, "G1": 1})
    hands = [[], ["Rg"], ["Gr", "Wb"]]
    game = Game.from_deal(deal(hands, left=["R1", "G1"]), 3, ruleset)
    game.apply("take:R0")
    assert (game.player, game.legal_actions()) == (2, ["pass", "play:Wb"])
    pool = list(Counter(starting).elements())
    possible: Counter[Outcome] = Counter(
        (cards[:1], tuple(sorted(cards[1:])))
        for cards in permutations(pool, 3)
        if any(card.startswith("W") for card in cards[1:])
    )
    check_evenness(game, 0, lambda g: (unknown_cards(g, 1), unknown_cards(g, 2)), possible)
    check_evenness(
        game,
        1,
        lambda g: unknown_cards(g, 2),
        Counter(
            tuple(sorted(cards))
            for cards in permutations(sorted((Counter(pool) - Counter(["Rg"])).elements()), 2)
            if any(card.startswith("W") for card in cards)
        ),
    )


def test_hand_within_a_set_is_drawn_evenly_among_those_with_a_choice() -> None:
    """Seat 3 has laid open the first of two white dragons and can choose the second."""
    starting = {"W1": 1, "W2": 2, "Wb": 1, "Rg": 2, "Gr": 2}
    hands = [[], ["Rg"], ["Gr", "Rg"], ["W1", "W2", "Wb"]]
    game = Game.from_deal(deal(hands), 4, small(starting_cards=starting))
    game.apply("take:R0")
    game.apply("play:W1")
    assert (game.player, game.legal_actions()) == (3, ["play:W2", "play:Wb"])
    pool = list((Counter(starting) - Counter(["W1"])).elements())
    possible: Counter[Outcome] = Counter(
        (cards[:1], tuple(sorted(cards[1:3])), tuple(sorted(cards[3:])))
        for cards in permutations(pool, 5)
        if len({card for card in cards[3:] if card.startswith("W")}) == 2
    )
    check_evenness(game, 0, lambda g: tuple(unknown_cards(g, seat) for seat in (1, 2, 3)), possible)


def test_seat_that_decides_learns_nothing_from_its_own_choice() -> None:
    """Seat 2's own hand is fixed; all that others may hold is possible."""
    starting = {"Wb": 2, "Rg": 3, "Gr": 2}
    ruleset = small(starting_cards=starting, left_deck={"B1": 1, "R1": 1, "G1": 1})
    game = Game.from_deal(deal([[], ["Rg"], ["Gr", "Wb"]], left=["R1", "G1"]), 3, ruleset)
    game.apply("take:R0")
    assert game.player == 2
    possible: Counter[Outcome] = Counter({("Wb",): 1, ("Rg",): 3, ("Gr",): 1})
    check_evenness(game, 2, lambda g: unknown_cards(g, 1), possible)


def test_card_held_both_known_and_unknown_leaves_as_the_known_one() -> None:
    """Seat 1 takes a second Wb and plays one: the other may still be any starting card."""
    starting = {"Wb": 2, "Rg": 3, "Gr": 2}
    ruleset = small(
        starting_cards=starting,
        left_deck={"B1": 1, "R1": 1, "G1": 1},
        right_deck={"Bg": 1, "Rw": 1, "Gw": 1, "Wb": 1},
    )
    table = deal(
        [[], ["Wb"]], left=["R1", "G1"], right=["Rw", "Gw", "Wb"], supply={"L": ["B1"], "R": ["Bg"]}
    )
    game = Game.from_deal(table, 2, ruleset)
    game.apply("take:R0")  # turns up Wb; seat 0 has Bg
    assert (game.player, game.legal_actions()) == (1, ["pass", "play:Wb"])
    game.apply("pass")
    game.apply("take:R0")
    game.apply("play:Wb")
    assert known_hands(game)[1] == [0] * len(CARDS)
    assert unknown_cards(game, 1) == ("Wb",)
    possible: Counter[Outcome] = Counter({(card,): count for card, count in starting.items()})
    check_evenness(game, 0, lambda g: unknown_cards(g, 1), possible)
