"""What holds in every game, whatever the ruleset, the deal and the choices."""

from __future__ import annotations

import copy
import json
import os
import pickle
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import transcript
from hypothesis import given, settings
from hypothesis import strategies as st
from rulesets import COMBINATIONS, ODD, VARIATIONS

from gardienii_env import ACTIONS, NUM_ACTIONS, Game, Ruleset
from gardienii_env.game import RulesetLike
from gardienii_env.record import dumps, final, verify
from gardienii_env.rules.cards import CARDS, COLOURS, SIDES
from gardienii_env.rules.ruleset import SHIPPED
from gardienii_env.rules.state import deck_place

RULESETS = {name: Ruleset.get(name) for name in SHIPPED} | VARIATIONS


@dataclass(frozen=True)
class Play:
    """A game to be played: its deal, and choices that begin anew when they are used up."""

    ruleset: str
    players: int
    seed: int
    choices: Sequence[int]

    def begin(self) -> Game:
        return Game.new(self.players, RULESETS[self.ruleset], self.seed)

    def decide(self, game: Game) -> None:
        """Make the next decision."""
        legal = game.legal_actions()
        game.apply(legal[self.choices[len(game.moves) % len(self.choices)] % len(legal)])

    def positions(self) -> Iterator[Game]:
        """One game, at each decision and when it is over."""
        game = self.begin()
        yield game
        while not game.is_over:
            self.decide(game)
            yield game

    def after(self, decisions: int) -> Game:
        """The game after so many decisions, or when it is over."""
        game = self.begin()
        while not game.is_over and len(game.moves) < decisions:
            self.decide(game)
        return game

    def finish(self, game: Game) -> Game:
        """Play a game to its end."""
        while not game.is_over:
            self.decide(game)
        return game


plays = st.builds(
    Play,
    ruleset=st.sampled_from(list(RULESETS)),
    players=st.integers(2, 4),
    seed=st.integers(0, 2**64),
    choices=st.lists(st.integers(0, NUM_ACTIONS - 1), min_size=1, max_size=50),
)
each_play = given(plays)
some = settings(deadline=None, max_examples=30)
in_mid_game = st.integers(0, 200)


# -- cards and tokens ------------------------------------------------------------------------------


def cards_of_ruleset(ruleset: Ruleset) -> Counter[str]:
    piles = (ruleset.left_deck, ruleset.right_deck, ruleset.starting_cards)
    return sum(map(Counter, piles), Counter({"D6": ruleset.dark_dragons}))


def cards_not_dealt(game: Game) -> Counter[str]:
    dealt = Counter(card for hand in game.deal()["hands"] for card in hand)
    return Counter(game.ruleset.starting_cards) - dealt


def cards_of_deck(game: Game, side: int, laid: bool) -> list[str]:
    """The cards of a deck, only those that players laid or only the others."""
    size, by_players = (int(game.state[field][side]) for field in ("deck_size", "deck_laid"))
    heights = range(size - by_players, size) if laid else range(size - by_players)
    return [CARDS[game.state["deck"][deck_place(side, height)]] for height in heights]


def cards_in_sight(game: Game) -> Counter[str]:
    """The cards in hands, decks, supply, bank and an unfinished set."""
    s = game.state
    count: Counter[str] = Counter({"D6": int(s["bank_dark_dragons"])})
    for card, held in zip(CARDS, s["hand"].sum(axis=0), strict=True):
        count[card] += int(held)
    for side in range(len(SIDES)):
        count.update(cards_of_deck(game, side, laid=True) + cards_of_deck(game, side, laid=False))
    count.update(CARDS[card] for card in [*s["supply"].flat, *s["open"]] if card >= 0)
    return count


@some
@each_play
def test_every_card_is_in_one_place(play: Play) -> None:
    """Which cards lie in the tableaus follows from where all others are."""
    total, not_dealt = cards_of_ruleset(RULESETS[play.ruleset]), cards_not_dealt(play.begin())
    for game in play.positions():
        elsewhere = cards_in_sight(game) + not_dealt
        assert elsewhere <= total
        played = total - elsewhere
        columns = dict(zip(COLOURS, game.state["column_cards"].sum(axis=0).tolist(), strict=True))
        assert played.total() == sum(columns.values())
        fronts = Counter(card[0] for card in played.elements())
        assert all(fronts[colour] <= columns[colour] for colour in COLOURS)


@some
@each_play
def test_unseen_cards_are_those_of_the_decks_and_not_dealt(play: Play) -> None:
    not_dealt = cards_not_dealt(play.begin())
    for game in play.positions():
        decks = [card for side in (0, 1) for card in cards_of_deck(game, side, laid=False)]
        unseen = dict(zip(CARDS, game.state["unseen"].tolist(), strict=True))
        assert Counter(unseen) == Counter(decks) + not_dealt
        assert (game.state["hand_size"] == game.state["hand"].sum(axis=1)).all()
        for hand, unknown in zip(game.state["hand"], game.state["unknown"], strict=True):
            held = Counter(np.repeat(np.arange(len(CARDS)), hand).tolist())
            assert Counter(unknown[unknown >= 0].tolist()) <= held


@some
@each_play
def test_tokens_are_conserved(play: Play) -> None:
    ruleset = RULESETS[play.ruleset]
    dealt = play.begin().deal()
    values = sorted(int(points) for points in ruleset.amulet_pieces)
    for game in play.positions():
        s = game.state
        pieces = s["bank_pieces"] + s["pieces"].sum(axis=0)
        assert {p: int(n) for p, n in zip(values, pieces, strict=False) if n} == {
            int(points): count for points, count in dealt["pieces"].items() if count
        }
        assert s["bank_crystals"] + s["crystals"].sum() == ruleset.crystals
        assert s["bank_eggs"] + s["eggs"].sum() == ruleset.golden_eggs
        assert min(s["bank_crystals"], *s["crystals"], s["bank_eggs"], *s["eggs"]) >= 0
        assert s["pearls"][: len(dealt["pearls"])].tolist() == dealt["pearls"]
        owners = s["pearl_owner"].tolist()
        assert s["num_pearls"].tolist() == [owners.count(seat) for seat in range(4)]
        given_away = min(int((s["pieces"].sum(axis=1) // 3).sum()), len(dealt["pearls"]))
        assert [owner >= 0 for owner in owners] == [k < given_away for k in range(len(owners))]
        crests = sorted(crest for crest in s["crest"].tolist() if crest >= 0)
        assert crests == list(range(len(crests)))
        tableaus = [(row >= 0).sum() for row in s["column"]]
        assert len(crests) == min(tableaus.count(4), len(ruleset.crests))


# -- points ----------------------------------------------------------------------------------------


def points_anew(game: Game) -> list[dict[str, int]]:
    """The points of all seats but for the dragons', from what they own."""
    s, ruleset = game.state, game.ruleset
    values = sorted(int(points) for points in ruleset.amulet_pieces)
    eggs = s["eggs"].tolist()
    points = []
    for seat in range(game.num_players):
        most = eggs[seat] > 0 and eggs[seat] == max(eggs)
        crest = int(s["crest"][seat])
        owners = enumerate(s["pearl_owner"].tolist())
        points.append(
            {
                "pieces": sum(p * int(n) for p, n in zip(values, s["pieces"][seat], strict=False)),
                "pearls": sum(int(s["pearls"][k]) for k, owner in owners if owner == seat),
                "crystals": int(s["crystals"][seat]) * ruleset.crystal_points,
                "eggs": (eggs[seat] - most) * ruleset.egg_points + most * ruleset.egg_majority_points,
                "crest": ruleset.crests[crest] if crest >= 0 else 0,
            }
        )
    return points


def value(ruleset: Ruleset, card: str) -> int:
    return ruleset.card_values["dark" if card == "D6" else card[1] if card[1].isdigit() else "colour"]


@some
@each_play
def test_points_are_what_the_players_own(play: Play) -> None:
    ruleset = RULESETS[play.ruleset]
    total, not_dealt = cards_of_ruleset(ruleset), cards_not_dealt(play.begin())
    for game in play.positions():
        points = game.points()
        dragons = sum(sources.pop("dragons") for sources in points)
        assert points == points_anew(game)
        played = (total - (cards_in_sight(game) + not_dealt)).elements()
        assert dragons == sum(value(ruleset, card) for card in played) * ruleset.dragons_score
        assert game.scores() == [sum(sources.values()) for sources in game.points()]


@some
@each_play
def test_winners_share_what_the_others_lose(play: Play) -> None:
    for game in play.positions():
        cards = game.state["column_cards"].sum(axis=1)
        ranks = [(score, cards[seat]) for seat, score in enumerate(game.scores())]
        winners = [seat for seat, rank in enumerate(ranks) if rank == max(ranks)]
        assert game.winners() == winners
        payoffs = game.payoffs()
        assert sum(payoffs) == pytest.approx(0, abs=1e-12)
        assert len({payoffs[seat] for seat in winners}) == 1
        assert all(payoffs[seat] >= 0 for seat in winners)
        assert all(
            payoffs[seat] == pytest.approx(-1 / (game.num_players - 1))
            for seat in range(game.num_players)
            if seat not in winners
        )


# -- decisions -------------------------------------------------------------------------------------


@some
@each_play
def test_who_decides_has_a_choice(play: Play) -> None:
    for game in play.positions():
        mask, legal = game.legal_mask(), game.legal_actions()
        assert mask.shape == (NUM_ACTIONS,)
        assert mask.dtype == np.int8
        assert set(mask.tolist()) <= {0, 1}
        assert legal == [name for name, allowed in zip(ACTIONS, mask, strict=True) if allowed]
        if game.is_over:
            assert (legal, game.player, game.step) == ([], None, "over")
            assert game.end in ("amulets", "supply", "turn_limit")
        else:
            assert len(legal) >= 2
            assert game.player in range(game.num_players)
            assert game.end is None
            assert {name.partition(":")[0] for name in legal} <= {"pass", game.step}


@some
@each_play
def test_game_ends_in_time(play: Play) -> None:
    game = play.finish(play.begin())
    amulets = int((game.state["pieces"].sum(axis=1) // 3).sum())
    needed = game.ruleset.amulets_to_end[str(game.num_players)]
    limit = game.ruleset.turn_limit
    assert (game.end == "amulets") == (amulets >= needed)
    assert game.turns <= limit
    if game.end == "supply":
        assert (game.state["supply"] < 0).all()
    if game.end == "turn_limit":
        assert game.turns == limit


# -- copies and records ----------------------------------------------------------------------------

COPIES: dict[str, Callable[[Game], Game]] = {
    "clone": Game.clone,
    "deepcopy": copy.deepcopy,
    "pickle": lambda game: pickle.loads(pickle.dumps(game)),
}


def everything(game: Game) -> tuple[Any, ...]:
    """All that there is to tell of a game."""
    return (
        game.state.tobytes(),
        game.legal_mask().tobytes(),
        repr(game),
        dumps(game.to_record(with_legal=True)),
    )


@pytest.mark.parametrize("how", COPIES)
@some
@given(play=plays, decisions=in_mid_game)
def test_copy_goes_on_like_its_original(how: str, play: Play, decisions: int) -> None:
    game = play.after(decisions)
    before = everything(game)
    twin = COPIES[how](game)
    assert everything(twin) == before
    play.finish(twin)
    assert everything(game) == before
    assert everything(play.finish(game)) == everything(twin)


def seen(game: Game) -> list[bytes]:
    """What all seats see, and the mask."""
    views = [game.observe(seat, "recall").tobytes() for seat in range(game.num_players)]
    return [*views, game.legal_mask().tobytes()]


@some
@given(play=plays, decisions=in_mid_game, with_legal=st.booleans())
def test_record_in_mid_game_gives_the_same_game(play: Play, decisions: int, with_legal: bool) -> None:
    game = play.after(decisions)
    record = json.loads(dumps(game.to_record(with_legal)))
    twin = Game.from_record(record)
    assert seen(twin) == seen(game)
    assert twin.to_record(with_legal) == record
    assert play.finish(twin).to_record() == play.finish(game).to_record()


@some
@given(play=plays, decisions=in_mid_game)
def test_record_of_a_whole_game_is_verified(play: Play, decisions: int) -> None:
    game = play.finish(play.begin())
    record = json.loads(dumps(game.to_record()))
    assert seen(verify(record)) == seen(game)
    assert record["final"] == final(game)
    moves = min(decisions, len(record["moves"]))
    assert seen(Game.from_record(record, moves)) == seen(play.after(moves))


# -- one seed, one game ----------------------------------------------------------------------------


def transcripts(decisions: int | None = None) -> list[str]:
    """One game of each shipped ruleset and number of players, and of an odd ruleset."""
    games: list[tuple[RulesetLike, int]] = [*COMBINATIONS, (ODD[0], 2), (ODD[1], 3)]
    return [transcript(ruleset, players, 7, decisions) for ruleset, players in games]


def in_another_process(*options: str, decisions: int | None = None, **environment: str) -> list[str]:
    """`transcripts` as another Python makes them."""
    tests = Path(__file__).parent
    code = f"import json, test_properties as t; print(json.dumps(t.transcripts({decisions})))"
    done = subprocess.run(
        [sys.executable, *options, "-c", code],
        cwd=tests,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    games: list[str] = json.loads(done.stdout)
    return games


@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_another_process_plays_the_same_games(hash_seed: str) -> None:
    assert in_another_process(PYTHONHASHSEED=hash_seed) == transcripts()


def test_uncompiled_code_plays_the_same_games() -> None:
    """Plain Python also warns where a small whole number overflows, here an error."""
    options = "-W", "error::RuntimeWarning"
    assert in_another_process(*options, decisions=25, NUMBA_DISABLE_JIT="1") == transcripts(25)


def test_global_random_numbers_neither_matter_nor_change() -> None:
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    first = transcripts()
    random.seed(2)
    np.random.seed(2)  # noqa: NPY002
    before = random.getstate(), repr(np.random.get_state())  # noqa: NPY002
    assert transcripts() == first
    assert (random.getstate(), repr(np.random.get_state())) == before  # noqa: NPY002


def test_seeds_give_different_games() -> None:
    deals = [dumps(Game.new(2, seed=seed).deal()) for seed in range(50)]
    assert len(set(deals)) == len(deals)
