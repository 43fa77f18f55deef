"""The engine against the reference, decision by decision, in random games.

After every decision of a game both must agree who decides, what is legal, the points, and each number
that a seat sees; at the end, the final. In one game of `IN_FULL` both views of all seats are compared
at each decision; in the others the table view, all that is public and private, of each seat by turns.

The games are shared out evenly to the shipped rulesets with 2, 3 and 4 players; the variations get
some besides. To play many:

    pytest tests/test_reference.py -n auto --reference-games 20000

A failure names the game by ruleset, players and seed: `-k "gardienii-3-40"` plays the chunk that begins
with seed 40 again.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any, NoReturn

import numpy as np
import pytest
from helpers import POLICIES, choose
from reference import ReferenceGame, random_deal
from rulesets import COMBINATIONS, ODD, VARIATIONS
from seen import Seen

from gardienii_env import ACTIONS, Game, Ruleset
from gardienii_env.observation import VIEWS, View
from gardienii_env.record import final
from gardienii_env.rules.ruleset import SHIPPED

Expected = tuple[dict[str, Any], dict[str, Any], dict[str, Any]]
"""What the reference says is public, private to a seat, and recalled by it."""

IN_FULL = 5  # odd: half of these games have a deal of the reference's
CHUNK = 20
GAMES_PER_VARIATION = 600
"""A variation is played once with each number of players for so many games asked for."""


@dataclass(frozen=True)
class Match:
    """One game to be played by both; its seed decides the deal and all choices."""

    ruleset: Ruleset
    players: int
    seed: int

    def play(self, watch: Callable[[ReferenceGame], None] = lambda reference: None) -> None:
        """Play to the end and compare; `watch` is shown the reference at each decision."""
        rng = random.Random(f"{self.ruleset.name} {self.players} {self.seed}")
        engine, reference = self.deal(rng)
        policies = choose_policies(rng, self.players)
        log = Log(self, in_full=self.seed % IN_FULL == 0)
        while True:
            log.add(engine, reference)
            watch(reference)
            difference = first_difference(of_decision(engine), of_decision_in(reference))
            if difference or engine.player is None:
                break
            action = choose(engine.legal_actions(), rng, policies[engine.player])
            engine.apply(action)
            reference.apply(action)
        log.compare(engine)
        difference = difference or first_difference(final(engine), reference.final())
        if difference:
            self.fail(engine, len(engine.moves), difference)

    def deal(self, rng: random.Random) -> tuple[Game, ReferenceGame]:
        """Games by turns from a seed of the engine's and from a deal of the reference's."""
        rules = self.ruleset.to_dict()
        if self.seed % 2:
            deal = random_deal(rules, self.players, rng)
            engine = Game.from_deal(deal, self.players, self.ruleset)
        else:
            engine = Game.new(self.players, self.ruleset, seed=self.seed)
            deal = engine.deal()
        return engine, ReferenceGame(rules, self.players, deal)

    def fail(self, engine: Game, decisions: int, difference: str) -> NoReturn:
        """Say which game differs, where and in what."""
        moves = ", ".join(f"{seat} {ACTIONS[action]}" for seat, action in engine.moves[:decisions])
        pytest.fail(
            f"{self.ruleset.name}, {self.players} players, seed {self.seed}, after {decisions} "
            f"decisions:\n{difference}\nmoves: {moves}",
            pytrace=False,
        )


def choose_policies(rng: random.Random, players: int) -> list[dict[str, float]]:
    """A policy for each seat; in half of the games all are indifferent."""
    if rng.random() < 0.5:
        return [POLICIES["random"]] * players
    return rng.choices(list(POLICIES.values()), k=players)


def of_decision(engine: Game) -> dict[str, Any]:
    """What is compared at once, lest the two games part ways."""
    return {
        "player": engine.player,
        "legal": engine.legal_actions(),
        "mask": [ACTIONS[action] for action in np.flatnonzero(engine.legal_mask() == 1)],
        "end": engine.end,
        "points": engine.points(),
    }


def of_decision_in(reference: ReferenceGame) -> dict[str, Any]:
    """The same of the reference."""
    legal = reference.legal()
    return {
        "player": reference.player,
        "legal": legal,
        "mask": legal,
        "end": reference.end,
        "points": reference.points(),
    }


def first_difference(engine: dict[str, Any], reference: dict[str, Any]) -> str:
    """The first key in which the two differ, in words; empty where they agree."""
    if engine == reference:
        return ""
    assert engine.keys() == reference.keys()
    key = next(key for key in engine if engine[key] != reference[key])
    return f"{key}\n  engine:    {engine[key]}\n  reference: {reference[key]}"


class Log:
    """What seats saw at each decision of a game, and what the reference says they see."""

    def __init__(self, match: Match, in_full: bool) -> None:
        self.match = match
        self.in_full = in_full
        self.views: tuple[View, ...] = VIEWS if in_full else VIEWS[:1]
        self.observed: dict[View, list[list[Any]]] = {view: [] for view in self.views}
        self.expected: list[list[Expected]] = []

    def seats(self, decisions: int) -> list[int]:
        """Whose views are compared after so many decisions."""
        players = self.match.players
        return list(range(players)) if self.in_full else [decisions % players]

    def add(self, engine: Game, reference: ReferenceGame) -> None:
        """Note the views at a decision."""
        seats = self.seats(len(self.expected))
        for view in self.views:
            self.observed[view].append([engine.observe(seat, view) for seat in seats])
        public = reference.public()
        self.expected.append(
            [
                (public, reference.private(seat), recall_of(reference, seat) if self.in_full else {})
                for seat in seats
            ]
        )

    def compare(self, engine: Game) -> None:
        """Fail at the first decision and seat whose views differ."""
        seen = Seen(self.match.ruleset, self.match.players)
        for view in self.views:
            observed = seen.parts(np.array(self.observed[view]), view)
            for k, (rows, expected) in enumerate(zip(observed, self.expected, strict=True)):
                for seat, parts, (public, private, recall) in zip(
                    self.seats(k), rows, expected, strict=True
                ):
                    difference = (
                        first_difference(seen.public(parts, seat), public)
                        or first_difference(seen.private(parts), private)
                        or (view == "recall" and first_difference(seen.recall(parts, seat), recall))
                    )
                    if difference:
                        self.match.fail(engine, k, f"{view} view of seat {seat}: {difference}")


def recall_of(reference: ReferenceGame, seat: int) -> dict[str, Any]:
    """What a seat recalls, without what others know of its hand."""
    recall = reference.recall(seat)
    for key in ("known_hand", "unknown"):
        recall[key] = [None if k == seat else value for k, value in enumerate(recall[key])]
    return recall


# -- the games -------------------------------------------------------------------------------------


def share(config: pytest.Config, parts: int) -> int:
    """How many of the games asked for fall to each of so many parts."""
    games: int = config.getoption("reference_games")
    return -(-games // parts)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Cut the games asked for into chunks, so that several processes can share them."""
    if "first" not in metafunc.fixturenames:
        return
    games = share(metafunc.config, len(COMBINATIONS))
    chunks = [
        pytest.param(ruleset, players, first, id=f"{ruleset}-{players}-{first}")
        for ruleset, players in COMBINATIONS
        for first in range(0, games, CHUNK)
    ]
    metafunc.parametrize(("ruleset", "players", "first"), chunks)


def test_shipped_ruleset(ruleset: str, players: int, first: int, request: pytest.FixtureRequest) -> None:
    games = share(request.config, len(COMBINATIONS))
    for seed in range(first, min(first + CHUNK, games)):
        Match(Ruleset.get(ruleset), players, seed).play()


@pytest.mark.parametrize("name", VARIATIONS)
def test_variation(name: str, request: pytest.FixtureRequest) -> None:
    for players, seed in product((2, 3, 4), range(share(request.config, GAMES_PER_VARIATION))):
        Match(VARIATIONS[name], players, seed).play()


# -- what happens in them --------------------------------------------------------------------------


class Position:
    """What the reference says of a position, to see what is rare in it."""

    def __init__(self, reference: ReferenceGame) -> None:
        self.public = reference.public()
        self.recall = reference.recall(0)
        self.columns_close = reference.ruleset["enclosed_columns_close"]
        self.supply = self.public["supply"]["L"] + self.public["supply"]["R"]
        self.tableaus = [[colour for colour, _ in columns] for columns in self.public["columns"]]

    def ran_out(self, bank: str, owned: str) -> bool:
        """The bank has given the last of something."""
        return not self.public[bank] and any(self.public[owned])


RARE: dict[str, Callable[[Position], bool]] = {
    "a crystal paid": lambda p: p.public["paid"] == 1,
    "crystals paid": lambda p: p.public["paid"] > 1,
    "both sides laid on": lambda p: all(p.public["laid"]),
    "a dark dragon as page": lambda p: p.public["left_top"] == 6,
    "many cards laid on the left": lambda p: len(p.recall["laid_left"]) > 4,
    "many cards laid on the right": lambda p: len(p.recall["laid_right"]) > 4,
    "cards laid on an empty deck": lambda p: p.public["left_size"] == len(p.recall["laid_left"]) > 0,
    "an empty slot": lambda p: None in p.supply and any(p.supply),
    "an incomplete spell": lambda p: p.public["left_top"] is None or p.public["right_top"] is None,
    "an unfinished set": lambda p: bool(p.public["open"]),
    "a side to choose for a column": lambda p: p.public["step"] == "column",
    "a closed column that the spell asks for": lambda p: (
        p.columns_close
        and any((p.public["right_top"] or "").upper() in colours[1:-1] for colours in p.tableaus)
    ),
    "the last crest given": lambda p: p.ran_out("bank_crests", "crest"),
    "all colours, but no crest": lambda p: any(
        len(colours) == 4 and crest is None
        for colours, crest in zip(p.tableaus, p.public["crest"], strict=True)
    ),
    "no pearl left": lambda p: p.ran_out("bank_pearls", "pearls"),
    "an amulet without a pearl": lambda p: sum(p.public["amulets"]) > sum(p.public["pearls"]),
    "no amulet piece left": lambda p: p.ran_out("bank_pieces", "pieces"),
    "no crystal left": lambda p: p.ran_out("bank_crystals", "crystals"),
    "no golden egg left": lambda p: p.ran_out("bank_eggs", "eggs"),
    "several with most eggs": lambda p: p.public["eggs"].count(max(1, *p.public["eggs"])) > 1,
    "no unknown card left": lambda p: not any(p.recall["unknown"][1:]),
    "points beyond a byte": lambda p: max(p.public["dragon_points"]) > 255,
    "turns beyond a byte": lambda p: p.public["turns"] > 255,
}
"""What the random games must have met: rare events by name, and how they are recognised."""


def test_random_games_meet_what_is_rare() -> None:
    happened: Counter[str] = Counter()

    def watch(reference: ReferenceGame) -> None:
        position = Position(reference)
        happened.update(event for event, happens in RARE.items() if happens(position))
        if reference.end:
            happened.update([reference.end, f"{len(reference.final()['winners'])} winners"])

    rulesets = [*map(Ruleset.get, SHIPPED), *ODD]
    for ruleset, players, seed in product(rulesets, (2, 3, 4), (1, 2)):
        Match(ruleset, players, seed).play(watch)
    expected = {*RARE, "amulets", "supply", "turn_limit", "1 winners", "2 winners", "3 winners"}
    assert expected - happened.keys() == set()
