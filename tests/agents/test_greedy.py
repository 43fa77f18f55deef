"""The agent `greedy`: what it does in positions made by hand, what it looks at, and how good it is."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from helpers import POLICIES, play, printed
from positions import columns, hand, may, position
from rulesets import COMBINATIONS, NO_PRIZES, VARIATIONS, varied

from gardienii_env import Game, Ruleset
from gardienii_env.agents import greedy, make_agent, make_agents, new_streams
from gardienii_env.arena import duplicate_match
from gardienii_env.rules.cards import (
    BACK,
    CARD_INDEX,
    DARK,
    FRONT,
    LEFT,
    NUM_CARDS,
    NUM_COLOURS,
    NUMBERS,
    RIGHT,
    SIDE,
    SIDES,
)
from gardienii_env.rules.engine import column_is_closed
from gardienii_env.rules.ruleset import SHIPPED, Prize
from gardienii_env.rules.state import COLUMN, MODIFY_STEP, TAKE_STEP, deck_place, top_back

SUPPLY = "W1 -- Wr --"
SIX_GREEN = "G1 G1 G2 G2 G3 G3"
JUDGED = (
    *SHIPPED,
    "gardienii with modifications_per_turn=2",
    "gardienii with dragons_score=False",
    "few tokens",
    "no tokens",
    "paying often, dear dark dragons",
)
"""Names of rulesets in which every choice is judged."""

rulesets = pytest.mark.parametrize("ruleset", SHIPPED)


def choice(game: Game) -> str:
    return make_agent("greedy").choose(game)


def turn(game: Game) -> list[str]:
    """What greedy does as long as the same seat decides."""
    seat, done = game.player, []
    while game.player == seat:
        done.append(choice(game))
        game.apply(done[-1])
    return done


# -- step 3: play ----------------------------------------------------------------------------------


@rulesets
def test_it_plays_the_set_that_the_spell_asks_for(ruleset: str) -> None:
    game = position(2, ruleset, spell="3w", hands=["W1 W2 Wr B1", "W1 W1"])
    assert turn(game) == ["play:W1"]  # the others are the only ones left for the set
    assert hand(game, 0) == "B1"
    assert columns(game, 0) == "W"


def test_it_plays_the_cards_that_score_most() -> None:
    game = position(spell="2r", hands=["R1 R4 R3 Rb D6", "R1 R1"])
    assert turn(game) == ["play:R3", "play:R4"]
    assert hand(game, 0) == "R1 Rb D6 D6"  # the prize is a dark one


def test_where_dragons_do_not_score_it_keeps_the_dark_ones() -> None:
    game = position(2, "dragonkeepers", spell="1r", hands=["R5 D6", "R1"])
    assert choice(game) == "play:R5"
    game = position(2, "dragonkeepers", spell="3r", hands=["R1 R5 D6 D6", "R1 R1 R1"])
    turn(game)
    assert hand(game, 0) == "D6"


def test_of_cards_that_are_as_good_it_plays_the_lowest() -> None:
    assert choice(position(spell="1w", hands=["Wr Wb Wg"])) == "play:Wr"
    assert choice(position(2, "dragonkeepers", spell="1w", hands=["W2 W5 Wr D6"])) == "play:W2"


def test_it_finishes_what_it_began() -> None:
    game = position(spell="2r", hands=["R1 R2 R3", "B1"], opened=1, open=[CARD_INDEX["R1"]])
    assert may(game, "play") == "R1 R2 R3"
    assert choice(game) == "play:R3"


@rulesets
def test_as_a_follower_it_plays_too(ruleset: str) -> None:
    game = position(3, ruleset, spell="2r", hands=["", "R1 R2", ""])
    assert game.player == 1
    assert choice(game) == "play:R1"


def test_it_does_not_play_for_nothing() -> None:
    bare = varied("dragonkeepers", prizes=NO_PRIZES, crests=[])
    assert choice(position(2, bare, spell="1w", hands=["W1 W2"])) == "pass"
    scoring = bare.replace(dragons_score=True)
    assert choice(position(2, scoring, spell="1w", hands=["W1 W2"])) == "play:W2"


def test_a_crest_in_reach_makes_a_set_worth_it() -> None:
    """Three columns stand already; for the fourth there is a crest, in a ruleset without prizes."""
    bare = varied("dragonkeepers", prizes=NO_PRIZES, crests=[5])
    options: dict[str, Any] = {"spell": "2w", "hands": ["D6 D6"]}
    assert choice(position(2, bare, **options, tableaus=["RBG"])) == "play:D6"
    assert choice(position(2, bare, **options, tableaus=["RBG"], crests_given=1)) == "pass"
    assert choice(position(2, bare, **options, tableaus=["WBG"])) == "pass"


# -- step 2: modify --------------------------------------------------------------------------------


@rulesets
def test_it_lays_the_page_that_makes_a_set_possible(ruleset: str) -> None:
    game = position(2, ruleset, step="modify", spell="3r", hands=["G1 G2 G3 Wg"])
    assert choice(game) == "modify:Wg"
    game = position(2, ruleset, step="modify", spell="6g", hands=["G1 G2 Gb R3"])
    assert choice(game) == "modify:R3"


def test_it_lays_both_pages_where_it_takes_two() -> None:
    cards = "G1 G2 G4 R3 Wg"
    game = position(2, "dragonkeepers", step="modify", spell="6r", hands=[cards])
    assert turn(game)[:2] == ["modify:R3", "modify:Wg"]
    assert columns(game, 0) == "G"
    assert hand(game, 0) == ""
    game = position(2, "gardienii", step="modify", spell="6r", hands=[cards])
    assert choice(game) != "modify:R3"  # one page alone does not help


@rulesets
def test_it_leaves_a_spell_that_suits(ruleset: str) -> None:
    game = position(2, ruleset, step="modify", spell="3g", hands=["G1 G2 G3 Wr R2"])
    assert choice(game) == "pass"


@rulesets
def test_it_lays_nothing_in_vain(ruleset: str) -> None:
    assert choice(position(2, ruleset, step="modify", spell="6r", hands=["Wg R4 B5"])) == "pass"


@rulesets
def test_it_lays_the_page_that_the_set_can_spare(ruleset: str) -> None:
    game = position(2, ruleset, step="modify", spell="6g", hands=["G1 G2 G3 R3"])
    assert may(game, "modify") == "R3 G1 G2 G3"
    assert choice(game) == "modify:R3"


def test_a_closed_column_is_no_aim() -> None:
    """White stands between red and blue: only where enclosed columns close is it no longer played."""
    for ruleset, expected in (("gardienii", "modify:Gw"), ("dragonkeepers", "pass")):
        cards, tableau = "W1 W2 W3 Gw", "RWB"
        game = position(2, ruleset, step="modify", spell="3r", hands=[cards], tableaus=[tableau])
        assert choice(game) == expected


# -- step 1: take ----------------------------------------------------------------------------------


@rulesets
def test_it_takes_towards_a_set(ruleset: str) -> None:
    """Two cards with the same back, and none is laid: the one that goes with the hand is better."""
    rules = varied(ruleset, modifications_per_turn=0)
    for supply, expected in (("W3 B3 -- --", "take:L0"), ("B3 W3 -- --", "take:L1")):
        game = position(2, rules, step="take", spell="2w", supply=supply, hands=["W1 W2"])
        assert choice(game) == expected


@rulesets
def test_it_stops_when_the_spell_is_just_right(ruleset: str) -> None:
    game = position(2, ruleset, step="take", spell="6g", supply=SUPPLY, taken=1, hands=[SIX_GREEN])
    assert choice(game) == "pass"


@rulesets
def test_it_takes_what_is_free_while_it_has_nothing(ruleset: str) -> None:
    for taken in (1, 2):
        game = position(2, ruleset, step="take", spell="6g", supply=SUPPLY, taken=taken, hands=["B1"])
        assert choice(game).startswith("take:")


@rulesets
def test_it_takes_from_the_side_whose_page_it_can_spare(ruleset: str) -> None:
    """White is right, and no card in hand says white: only the number may change."""
    cards = "W1 W2 W4 W5 Wg"
    game = position(2, ruleset, step="take", spell="6w", supply="W3 -- Wr --", taken=2, hands=[cards])
    assert choice(game) == "take:L0"


@rulesets
def test_it_does_not_waste_crystals(ruleset: str) -> None:
    """Neither where the spell is just right, nor where no set is worth anything."""
    options: dict[str, Any] = {"step": "take", "spell": "6g", "supply": SUPPLY, "taken": 3}
    options |= {"crystals": [2]}
    game = position(2, ruleset, **options, hands=[SIX_GREEN])
    assert may(game, "take") == "L0 R0"
    assert choice(game) == "pass"
    bare = varied(ruleset, prizes=NO_PRIZES, crests=[], dragons_score=False, crystal_points=1)
    assert choice(position(2, bare, **options, hands=["B1"])) == "pass"


@rulesets
def test_it_pays_a_crystal_for_the_card_that_completes_a_set(ruleset: str) -> None:
    """With W5 in hand R3 makes the spell 3 white."""
    options: dict[str, Any] = {"step": "take", "spell": "6w", "supply": "W5 -- -- --", "taken": 3}
    game = position(2, ruleset, **options, crystals=[1], hands=["W1 Wb R3"])
    assert choice(game) == "take:L0"


# -- where a column goes ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cards", "expected", "stands"),
    [("W1 W2 R1", "column:right", "WRB"), ("R1 R2 W1", "column:left", "BWR")],
)
def test_it_encloses_the_column_it_needs_less(cards: str, expected: str, stands: str) -> None:
    game = position(2, "dragonkeepers", spell="1b", hands=[f"{cards} B1", ""], tableaus=["WR"])
    assert turn(game)[:2] == ["play:B1", expected]
    assert columns(game, 0) == stands


# -- that nothing else is worth more ---------------------------------------------------------------

Plan = tuple[float, int, int, int | None, int | None]
"""What a set is worth, its number and colour, and the pages laid for it on the left and the right."""


class Plain:
    """What each action is worth, worked out the long way: every set with every choice of pages."""

    def __init__(self, game: Game) -> None:
        self.ruleset, self.s, self.seat = game.ruleset, game.state, int(game.state["player"])
        self.number, self.colour = top_back(self.s, LEFT), top_back(self.s, RIGHT)
        self.hand = [card for card in range(NUM_CARDS) for _ in range(self.s["hand"][self.seat, card])]
        self.crystal = self.ruleset.crystal_points + greedy.CRYSTAL_WORTH
        prizes = [self.prize(self.ruleset.prizes[str(n)]) for n in range(1, NUMBERS + 1)]
        columns = [self.column(colour) for colour in range(NUM_COLOURS)]
        self.earned = np.array([[-np.inf] * NUM_COLOURS, *np.add.outer(prizes, columns)])

    def held(self, cards: Iterable[int]) -> float:
        """What cards are worth in hand."""
        return sum(greedy.DARK_WORTH if card == DARK else greedy.CARD_WORTH for card in cards)

    def gains(self, cards: Iterable[int], colour: int) -> list[float]:
        """What the cards that fit a set gain, best first."""
        r, found = self.ruleset, []
        for card in cards:
            if FRONT[card] == colour or card == DARK:
                back = "dark" if card == DARK else str(BACK[card]) if SIDE[card] == LEFT else "colour"
                found.append(r.card_values[back] * r.dragons_score - self.held([card]))
        return sorted(found, reverse=True)

    def prize(self, prize: Prize) -> float:
        """What a prize is worth."""
        r, s = self.ruleset, self.s
        egg = r.egg_points + greedy.EGG_MAJORITY * (r.egg_majority_points - r.egg_points)
        worth = min(prize.golden_eggs, int(s["bank_eggs"])) * egg
        worth += min(prize.crystals, int(s["bank_crystals"])) * self.crystal
        worth += min(prize.dark_dragons, int(s["bank_dark_dragons"])) * greedy.DARK_WORTH
        values = sorted(int(points) for points in r.amulet_pieces)
        left = [value for k, value in enumerate(values) if s["bank_pieces"][k]]
        if left and prize.piece != "none":
            pearls = [int(points) for points, count in r.pearls.items() for _ in range(count)]
            completes = s["pieces"][self.seat].sum() % 3 == 2
            worth += sum(pearls) / max(len(pearls), 1) / (1 if completes else 3)
            worth += left[0] if prize.piece == "lowest" else left[-1]
        return worth

    def column(self, colour: int) -> float:
        """What starting a column is worth."""
        if column_is_closed(self.ruleset.rules[0], self.s, self.seat, colour):
            return -np.inf
        counts, given = self.s["column_cards"][self.seat], int(self.s["crests_given"])
        if counts[colour] or given >= len(self.ruleset.crests):
            return 0.0
        fourth = np.count_nonzero(counts) == 3
        return self.ruleset.crests[given] * (1.0 if fourth else greedy.COLUMN_SHARE)

    def plans(self, hand: list[int]) -> Iterator[Plan]:
        """Every possible set, for every number and colour, with every choice of pages."""
        limit, laid = self.ruleset.modifications_per_turn, self.s["laid"]
        pages = [
            [card for card in set(hand) if SIDE[card] == side and laid.sum() < limit and not laid[side]]
            for side in (LEFT, RIGHT)
        ]
        for left, right in product([None, *pages[LEFT]], [None, *pages[RIGHT]]):
            lay = [page for page in (left, right) if page is not None]
            if len(lay) > limit:
                continue
            rest = hand.copy()
            for page in lay:
                rest.remove(page)
            for colour in range(NUM_COLOURS) if right is None else [int(BACK[right])]:
                gains = self.gains(rest, colour)
                for number in range(1, NUMBERS + 1) if left is None else [int(BACK[left])]:
                    if number <= len(gains):
                        worth = self.earned[number, colour] + sum(gains[:number]) - self.held(lay)
                        yield worth, number, colour, left, right

    def outlook(self, hand: list[int], number: int, colour: int) -> float:
        """What a hand is worth with the decks showing a number and a colour; -1: any."""
        best = np.zeros((NUMBERS + 1, NUM_COLOURS))
        for worth, n, c, left, right in self.plans(hand):
            shown = (slice(None) if left is not None else n, slice(None) if right is not None else c)
            best[shown] = np.maximum(best[shown], worth)
        now = self.shares(LEFT, number) @ best @ self.shares(RIGHT, colour)
        later = self.shares(LEFT, -1) @ best @ self.shares(RIGHT, -1)
        return float(now + greedy.FUTURE * later) + self.held(hand)

    def shares(self, side: int, back: int) -> npt.NDArray[np.float64]:
        """How likely a deck is to show each back: surely this one; -1: as often as in the ruleset."""
        shares = np.zeros((NUMBERS + 1, NUM_COLOURS)[side])
        if back >= 0:
            shares[back] = 1.0
            return shares
        for card, count in (self.ruleset.left_deck, self.ruleset.right_deck)[side].items():
            shares[BACK[CARD_INDEX[card]]] += count
        shares /= shares.sum()
        return shares

    def worth(self, action: str) -> float:
        """What an action is worth; not for the ends of the tableau."""
        step = self.s["step"]
        if step == TAKE_STEP:
            return self.worth_of_take(action)
        if step == MODIFY_STEP:
            return self.worth_of_page(action)
        if action == "pass":
            return 0.0
        card = CARD_INDEX[action.removeprefix("play:")]
        others = [other for other in self.hand if other >= card]
        others.remove(card)
        needed = self.number - int(self.s["opened"]) - 1
        gained = sum(self.gains([card], self.colour) + self.gains(others, self.colour)[:needed])
        return float(self.earned[self.number, self.colour]) + gained

    def worth_of_take(self, action: str) -> float:
        if action == "pass":
            return self.outlook(self.hand, self.number, self.colour)
        side, place = SIDES.index(action[-2]), int(action[-1])
        hand = [*self.hand, int(self.s["supply"][side, place])]
        paid = self.crystal if self.s["taken"] >= self.ruleset.take_limit else 0.0
        if side == LEFT:
            return self.outlook(hand, -1, self.colour) - paid
        return self.outlook(hand, self.number, -1) - paid

    def worth_of_page(self, action: str) -> float:
        """What the best set is worth for which this page is laid first; 0 if it is worth less."""
        page = CARD_INDEX.get(action.removeprefix("modify:"))
        return max(
            [0.0 if page is None else -np.inf]
            + [
                worth
                for worth, n, c, left, right in self.plans(self.hand)
                if (right if left is None else left) == page
                and (left is not None or n == self.number)
                and (right is not None or c == self.colour)
            ]
        )


@pytest.mark.parametrize("ruleset", JUDGED)
def test_nothing_is_worth_more_than_what_it_chooses(ruleset: str) -> None:
    """In games in which hands of all sizes come up, with few cards of a kind and with many."""
    asked = 0
    for number, policy in enumerate(POLICIES):
        rng = random.Random(number)
        game = Game.new(rng.randrange(2, 5), VARIATIONS.get(ruleset, ruleset), seed=number)
        while not play(game, rng, rng.randrange(1, 20), policy).is_over:
            while game.player is not None and rng.random() < 0.8:
                chosen = choice(game)
                if game.state["step"] != COLUMN:
                    plain = Plain(game)
                    worths = {action: plain.worth(action) for action in game.legal_actions()}
                    assert worths[chosen] >= max(worths.values()) - 1e-9, worths
                    asked += 1
                game.apply(chosen)
    assert asked > 100


# -- what it looks at ------------------------------------------------------------------------------


def scrambled(game: Game, seat: int, rng: random.Random) -> Game:
    """A copy in which all that is not in the table view of a seat is something else.

    Such a position need not be possible: it is only looked at.
    """
    other = game.clone()
    s = other.state
    s["rng"] = rng.getrandbits(64)
    s["pearls"][s["pearl_owner"] != seat] = rng.randrange(9)
    s["unseen"], s["unknown"] = rng.randrange(3), -1
    for side in (0, 1):
        for height in range(int(s["deck_size"][side]) - 1):
            s["deck"][deck_place(side, height)] = rng.randrange(33)
    for player in range(game.num_players):
        if player != seat:
            for field, kinds in (("hand", 33), ("pieces", len(game.ruleset.amulet_pieces))):
                total = int(s[field][player].sum())
                drawn = [rng.randrange(kinds) for _ in range(total)]
                s[field][player] = np.bincount(drawn, minlength=s[field].shape[1])
    return other


@pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)
def test_what_its_seat_does_not_see_on_the_table_does_not_matter(ruleset: str, players: int) -> None:
    asked = 0
    for number, policy in enumerate(POLICIES):
        rng = random.Random(number)
        game = Game.new(players, ruleset, seed=number)
        while not play(game, rng, rng.randrange(1, 8), policy).is_over:
            assert game.player is not None
            expected = choice(game)
            assert choice(game.resample(game.player, rng.randrange(10**6))) == expected
            other = scrambled(game, game.player, rng)
            assert other.observe(game.player).tobytes() == game.observe(game.player).tobytes()
            assert choice(other) == expected
            asked += 1
    assert asked > 100


@rulesets
def test_it_draws_no_random_numbers(ruleset: str) -> None:
    game, agent = Game.new(2, ruleset, seed=1), make_agent("greedy")
    streams = new_streams(1, 1)
    before = streams.copy()
    agent.act(game.batch, np.zeros(1, np.int64), streams)
    assert (streams == before).all()


# -- how good it is --------------------------------------------------------------------------------


@rulesets
def test_it_beats_random(ruleset: str) -> None:
    result = duplicate_match(make_agents("greedy,random", 2), Ruleset.get(ruleset), deals=200, seed=1)
    assert result.win_share().mean >= 0.95


@pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)
def test_one_greedy_beats_several_random_ones(ruleset: str, players: int) -> None:
    agents = [make_agent("greedy"), *[make_agent("random")] * (players - 1)]
    result = duplicate_match(agents, Ruleset.get(ruleset), deals=40, seed=1)
    assert result.win_share().mean >= 0.9


PLAIN = """
from gardienii_env import Game
from gardienii_env.agents import make_agent
from gardienii_env.web.judge import choose
agent = make_agent("greedy")
for ruleset in ("gardienii", "dragonkeepers"):
    game = Game.new(2, ruleset, 3)
    for _ in range(120):
        if not game.is_over:
            print(game.apply(choose(agent, game, 0)) or game.moves[-1])
"""


def test_as_plain_python_it_chooses_the_same() -> None:
    told = [printed(PLAIN, NUMBA_DISABLE_JIT=disabled) for disabled in "01"]
    assert told[0] == told[1]
    assert len(told[0].splitlines()) > 150


def test_no_page_is_laid_that_its_set_needs() -> None:
    """However much the set would earn: the hand has one green dragon, and no set without it."""
    prize = {"piece": "highest", "crystals": 3, "golden_eggs": 2}
    ruleset = Ruleset.get("gardienii").replace(
        name="rich", prizes=dict.fromkeys("123456", prize), crystal_points=1000, egg_points=1000
    )
    played = laid = 0
    for seed in range(40):
        game = Game.new(2, ruleset, seed)
        agent = make_agent("greedy")
        while not game.is_over:
            action = agent.choose(game)
            seat = game.player
            game.apply(action)
            if action.startswith("modify:"):
                laid += 1
                played += (
                    game.player == seat and game.step == "play" and game.legal_actions() != ["pass"]
                )
    assert laid > 50
    assert played == laid
