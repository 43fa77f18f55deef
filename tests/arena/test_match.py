"""Duplicate matches: who plays what from where, and what the results add up to."""

from __future__ import annotations

from collections import Counter
from dataclasses import astuple
from math import isnan
from statistics import mean, stdev
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from rulesets import COMBINATIONS, VARIATIONS
from watching import Watcher

from gardienii_env import AgentError, Game, OptionError, Ruleset, RulesetError
from gardienii_env.agents import Agent, make_agent, make_agents
from gardienii_env.arena import Estimate, MatchResult, duplicate_match
from gardienii_env.arena.match import play_deals
from gardienii_env.arena.results import estimate_share
from gardienii_env.record import loads, verify
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.cards import LEFT
from gardienii_env.rules.random import seed_streams
from gardienii_env.rules.state import ENDS, top_back

GARDIENII = Ruleset.get("gardienii")

combinations = pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)


class Opener(Agent):
    """Plays as `greedy`; of the games that it opens it keeps its seat, the deal and its generator."""

    name = "opener"

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[tuple[int, bytes]] = []
        self.generators: list[int] = []

    def act(
        self, batch: Batch, games: npt.NDArray[np.int64], streams: npt.NDArray[np.void]
    ) -> npt.NDArray[np.int64]:
        for i in games:
            game = Game.of(batch, int(i))
            if game.turns == 0 and game.step == "take" and game.state["taken"] == 0:
                self.opened.append((game.player or 0, game.state.tobytes()))
                self.generators.append(int(streams["rng"][i]))
        return make_agent("greedy").act(batch, games, streams)


class Last(Agent):
    """Takes the last legal action."""

    name = "last"

    def act(
        self, batch: Batch, games: npt.NDArray[np.int64], streams: npt.NDArray[np.void]
    ) -> npt.NDArray[np.int64]:
        actions: npt.NDArray[np.int64] = 72 - batch.masks[games, ::-1].argmax(axis=1)
        return actions


def same(a: MatchResult, b: MatchResult) -> bool:
    return a.games.tobytes() == b.games.tobytes() and (a.agents, a.seed) == (b.agents, b.seed)


class Played(NamedTuple):
    game: Game
    decisions: list[int]
    """By seat."""
    sets: list[Counter[int]]
    """By seat, how many of how many cards."""


def played(agents: list[Agent], ruleset: Ruleset, seed: int, rotation: int) -> Played:
    """A game of the match played with `Game`, agent k in seat (k + rotation) % players.

    A set begins with a card played while none lies open, and has as many as the spell then asks for.
    """
    game = Game.new(len(agents), ruleset, seed)
    decisions, sets = [0] * len(agents), [Counter[int]() for _ in agents]
    while (seat := game.player) is not None:
        decisions[seat] += 1
        begins = game.step == "play" and game.state["opened"] == 0
        number = top_back(game.state, LEFT)
        action = agents[(seat - rotation) % len(agents)].choose(game)
        game.apply(action)
        if begins and action != "pass":
            sets[seat][number] += 1
    return Played(game, decisions, sets)


# -- who plays what --------------------------------------------------------------------------------


@combinations
def test_every_deal_is_played_with_every_rotation(ruleset: str, players: int) -> None:
    """Whoever is in seat 0 opens: each agent does so once a deal, with the deal of `Game.new`."""
    agents = [Opener() for _ in range(players)]
    duplicate_match(agents, Ruleset.get(ruleset), deals=5, seed=30)
    expected = [(0, Game.new(players, ruleset, 30 + deal).state.tobytes()) for deal in range(5)]
    for agent in agents:
        assert sorted(agent.opened) == sorted(expected)


def test_every_game_has_a_generator_of_its_own_for_the_agents() -> None:
    """And none is the one that the cards were dealt with."""
    agents = [Opener() for _ in range(3)]
    duplicate_match(agents, GARDIENII, deals=5, seed=30)
    generators = [generator for agent in agents for generator in agent.generators]
    dealers = [int(seed_streams(30 + deal, 1)[0]) for deal in range(5)]
    assert len({*generators, *dealers}) == 15 + 5


@combinations
def test_results_are_those_of_the_games(ruleset: str, players: int) -> None:
    """Deterministic agents, each from its seat: played again with `Game`, one by one."""
    agents = [Last(), *(make_agent("greedy") for _ in range(players - 1))]
    result = duplicate_match(agents, Ruleset.get(ruleset), deals=3, seed=8)
    decisions = 0
    for deal in range(3):
        for rotation in range(players):
            game, made, sets = played(agents, Ruleset.get(ruleset), 8 + deal, rotation)
            decisions += sum(made)
            winners, scores, points = game.winners(), game.scores(), game.points()
            kept = result.games[deal, rotation]
            assert (kept["deal"], kept["rotation"]) == (deal, rotation)
            assert (ENDS[kept["end"]], kept["turns"]) == (game.end, game.turns)
            for k in range(players):
                seat = (k + rotation) % players
                share = 1 / len(winners) if seat in winners else 0
                assert result.shares[deal, rotation, k] == share
                assert result.scores[deal, rotation, k] == scores[seat]
                assert kept["points"][k].tolist() == list(points[seat].values())
                assert kept["decisions"][k] == made[seat]
                assert kept["sets"][k].tolist() == [sets[seat][n] for n in range(1, 7)]
            for name in ("share", "points", "decisions", "sets"):
                assert not kept[name][players:].any()
    assert result.decisions == decisions
    assert result.games["sets"].any()
    assert result.num_games == 3 * players
    assert result.agents == ("last", *["greedy"] * (players - 1))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_each_agent_decides_from_every_seat(players: int) -> None:
    agents = [Watcher(), *(make_agent("random") for _ in range(players - 1))]
    result = duplicate_match(agents, GARDIENII, deals=3, seed=1)
    moves = agents[0].told()  # type: ignore[attr-defined]
    assert {seat for seat, _ in moves} == set(range(players))
    assert len(moves) < result.decisions


@pytest.mark.parametrize("names", ["random,greedy", "random,random,greedy", "random"])
@pytest.mark.parametrize("ruleset", ["gardienii", "first amulet", "nothing but the supply"])
def test_the_batch_size_changes_nothing(names: str, ruleset: str) -> None:
    def match(**options: Any) -> MatchResult:
        agents = make_agents(names, max(2, len(names.split(","))))
        return duplicate_match(agents, VARIATIONS.get(ruleset, GARDIENII), deals=5, seed=3, **options)

    whole = match()
    for size in (1, 4, 7):
        assert same(match(batch_size=size), whole)


@pytest.mark.parametrize("names", ["random,greedy", "random,random,greedy"])
def test_independent_deals_are_the_first_rotations_in_turn(names: str) -> None:
    """Each deal once: the same game as with that rotation in duplicate play."""
    players = len(names.split(","))
    options: dict[str, Any] = {"deals": 7, "seed": 3, "batch_size": 4}
    whole = duplicate_match(make_agents(names, players), GARDIENII, **options)
    once = duplicate_match(make_agents(names, players), GARDIENII, **options, duplicate=False)
    assert once.games.shape == (7, 1)
    for deal in range(7):
        assert once.games[deal, 0] == whole.games[deal, deal % players]


def test_an_agent_that_does_not_fit_is_refused() -> None:
    class OnlyTwo(Last):
        def check(self, ruleset: Ruleset, num_players: int) -> None:
            if num_players != 2:
                raise AgentError(f"{self.name} plays with two, not {num_players}.")

    duplicate_match([OnlyTwo(), Last()], GARDIENII, deals=1, seed=1)
    with pytest.raises(AgentError, match="plays with two, not 3"):
        duplicate_match([Last(), OnlyTwo(), Last()], GARDIENII, deals=1, seed=1)


def test_records_are_those_of_the_games() -> None:
    """Row by row: they replay to what is kept, and only they are added."""
    records = ["before"]
    ruleset = VARIATIONS["five turns"]
    agents = make_agents("random,greedy,random", 3)
    games = play_deals(agents, ruleset, 20, range(1, 5), batch_size=5, records=records)
    assert np.array_equal(games, duplicate_match(agents, ruleset, deals=5, seed=20).games[1:])
    assert records[0] == "before"
    for kept, record in zip(games.ravel(), map(loads, records[1:]), strict=True):
        game = verify(record)
        assert game.seed == 20 + kept["deal"]
        assert game.moves
        assert np.roll(game.scores(), -kept["rotation"]).tolist() == kept["points"][:3].sum(1).tolist()


def test_one_seed_gives_one_match() -> None:
    def match(seed: int) -> MatchResult:
        return duplicate_match(make_agents("random", 3), GARDIENII, deals=4, seed=seed)

    assert same(match(2), match(2))
    assert not same(match(2), match(3))
    assert np.array_equal(match(2).scores[1:], match(3).scores[:-1])


def test_rulesets_of_all_kinds() -> None:
    given = (GARDIENII, "gardienii", GARDIENII.to_dict())
    matches = [duplicate_match(make_agents("greedy", 2), one, deals=2, seed=1) for one in given]
    assert same(matches[0], matches[1])
    assert same(matches[0], matches[2])
    with pytest.raises(RulesetError, match="chess"):
        duplicate_match(make_agents("greedy", 2), "chess", deals=2, seed=1)


def test_one_agent_in_several_seats() -> None:
    random, greedy = make_agent("random"), make_agent("greedy")
    shared = duplicate_match([random, greedy, greedy], GARDIENII, deals=4, seed=1)
    own = duplicate_match(make_agents("random,greedy,greedy", 3), GARDIENII, deals=4, seed=1)
    assert same(shared, own)


# -- what the results add up to --------------------------------------------------------------------


@combinations
def test_shares_sum_to_one_and_margins_to_nothing(ruleset: str, players: int) -> None:
    names = ",".join(["greedy", "random", "greedy", "random"][:players])
    result = duplicate_match(make_agents(names, players), Ruleset.get(ruleset), deals=20, seed=1)
    assert result.shares.shape == result.scores.shape == (20, players, players)
    assert np.allclose(result.shares.sum(axis=2), 1)
    assert sum(result.win_share(k).mean for k in range(players)) == pytest.approx(1)
    assert sum(result.margin(k).mean for k in range(players)) == pytest.approx(0)
    assert result.win_share(0).mean > result.win_share(1).mean
    assert result.margin(0).mean > 0 > result.margin(1).mean


@pytest.mark.parametrize("ruleset", ["gardienii", "dragonkeepers"])
def test_a_deterministic_agent_draws_with_itself(ruleset: str) -> None:
    """The rotation of a deal is the same game with the seats exchanged."""
    result = duplicate_match(make_agents("greedy", 2), Ruleset.get(ruleset), deals=25, seed=1)
    assert np.array_equal(result.shares[:, 0], result.shares[:, 1, ::-1])
    assert np.array_equal(result.scores[:, 0], result.scores[:, 1, ::-1])
    assert result.win_share().mean == 0.5
    assert result.margin() == Estimate(0.0, 0.0, 0.0)
    assert result.shares.std() > 0


def test_a_shared_win_is_shared() -> None:
    """One turn, and a spell of five dragons, for which nobody has the cards: all win together."""
    ruleset = GARDIENII.replace(
        turn_limit=1, take_limit=1, modifications_per_turn=0, left_deck={"W5": 9, "R5": 9}
    )
    result = duplicate_match(make_agents("random", 3), ruleset, deals=2, seed=1)
    assert not result.scores.any()
    assert (result.shares == 1 / 3).all()


def by_hand(values: list[float]) -> tuple[float, float, float]:
    """Mean and 95 % interval of twelve values, by Student's t with 11 degrees of freedom."""
    half_width = 2.200985 * stdev(values) / 12**0.5
    return mean(values), mean(values) - half_width, mean(values) + half_width


@pytest.mark.parametrize("agent", [0, 1, 2])
def test_intervals_are_over_deals(agent: int) -> None:
    result = duplicate_match(make_agents("greedy,random,greedy", 3), GARDIENII, deals=12, seed=1)
    shares, margins = [], []
    for deal in range(12):
        shares.append(sum(float(result.shares[deal, rotation, agent]) for rotation in range(3)) / 3)
        margin = 0.0
        for rotation in range(3):
            scores = [int(score) for score in result.scores[deal, rotation]]
            own = scores.pop(agent)
            margin += (own - sum(scores) / 2) / 3
        margins.append(margin)
    assert result.win_share(agent).mean == pytest.approx(mean(shares))
    assert result.win_share(agent) == estimate_share(shares)
    assert astuple(result.margin(agent)) == pytest.approx(by_hand(margins), rel=1e-4)


def test_one_deal_gives_no_interval() -> None:
    result = duplicate_match(make_agents("greedy,random", 2), GARDIENII, deals=1, seed=1)
    share = result.win_share()
    assert share.mean in (0, 0.25, 0.5, 0.75, 1)
    assert isnan(share.low)
    assert isnan(share.high)
    assert isnan(result.margin().low)


# -- progress and wrong values ---------------------------------------------------------------------


@pytest.mark.parametrize("batch_size", [1, 4, 512])
@pytest.mark.parametrize("ruleset", ["gardienii", "nothing but the supply"])
def test_progress_counts_the_games(batch_size: int, ruleset: str) -> None:
    told: list[int] = []
    rules = VARIATIONS.get(ruleset, GARDIENII)
    result = duplicate_match(
        make_agents("random", 3), rules, deals=5, seed=1, batch_size=batch_size, progress=told.append
    )
    assert sum(told) == result.num_games == 15
    assert min(told) > 0


@pytest.mark.parametrize(
    "agents",
    [[], make_agents("random", 1), make_agents("random", 5), ["random", "greedy"], "random", [None] * 2],
)
def test_wrong_agents_are_refused(agents: Any) -> None:
    with pytest.raises(AgentError, match="agents: "):
        duplicate_match(agents, GARDIENII, deals=1, seed=1)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("deals", value) for value in (0, -1, 1.5, "3", None, True)),
        *(("batch_size", value) for value in (0, -1, 2.0, None)),
        *(("seed", value) for value in (-1, 1.5, "1", None)),
    ],
)
def test_a_wrong_value_is_named(option: str, value: Any) -> None:
    options = {"deals": 1, "seed": 1, option: value}
    with pytest.raises(OptionError, match=option) as caught:
        duplicate_match(make_agents("random", 2), GARDIENII, **options)
    assert repr(value) in str(caught.value)
