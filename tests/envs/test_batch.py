"""Thousands of games whose every seat decides: against `Game`, against the reference, and alone.

The tests of `test_aec.py` that follow a game run against it too.
"""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from driving import COPIES, count_signatures, pick
from reference import ReferenceGame
from rulesets import COMBINATIONS, ODD, VARIATIONS
from scipy.stats import chisquare
from seen import Seen
from test_hidden import HIDDEN_CHANGES, ask_again

from gardienii_env import (
    ACTIONS,
    Game,
    GardieniiError,
    IllegalActionError,
    OptionError,
    Ruleset,
    RulesetError,
)
from gardienii_env.envs.batch import GardieniiBatch
from gardienii_env.envs.outcome import REWARDS
from gardienii_env.observation import VIEWS, View, layout
from gardienii_env.rules.actions import NUM_ACTIONS
from gardienii_env.rules.batch import Batch

combinations = pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)


def batch_of(num_envs: Any = 5, seed: Any = 1, **options: Any) -> GardieniiBatch:
    """A batch that has begun."""
    batch = GardieniiBatch(num_envs, seed=seed, **options)
    batch.reset()
    return batch


def shown(batch: GardieniiBatch) -> list[bytes]:
    """All arrays that the caller reads."""
    arrays = [batch.states, batch.players, batch.masks, batch.observations]
    return [array.tobytes() for array in [*arrays, batch.rewards, batch.terminated, batch.truncated]]


def snapshot(batch: GardieniiBatch) -> list[bytes]:
    """The same, and what the next calls depend on."""
    return [*shown(batch), batch._arrays.streams.tobytes(), batch._arrays.scores.tobytes()]


def course(batch: GardieniiBatch, seed: int = 1, steps: int = 100) -> list[list[bytes]]:
    """What some steps at random show."""
    rng = np.random.default_rng(seed)
    given = []
    for _ in range(steps):
        batch.step(pick(batch.masks, rng))
        given.append(shown(batch))
    return given


# -- beside Game -------------------------------------------------------------------------------------


def next_game(game: Game) -> Game:
    """The one that follows in the sequence that the game's seed began."""
    batch = Batch(game.ruleset, game.num_players, 1)
    batch.states["rng"] = game.state["rng"]
    batch.deal(0)
    return Game.of(batch)


def reward_of(game: Game, reward: str, before: list[int]) -> list[float]:
    """What the seats are paid for a step."""
    scores = game.scores()
    if reward == "points":
        return [now - then for now, then in zip(scores, before, strict=True)]
    if not game.is_over:
        return [0.0] * game.num_players
    if reward == "payoff":
        return game.payoffs()
    return [(score - (sum(scores) - score) / (len(scores) - 1)) / 50 for score in scores]


def check_shown(batch: GardieniiBatch, i: int, game: Game, seat: int, view: View | None) -> None:
    """Game i is that game, and shows it to a seat."""
    assert batch.states[i].tobytes() == game.state.tobytes()
    assert batch.players[i] == (-1 if game.player is None else game.player)
    assert np.array_equal(batch.masks[i], game.legal_mask())
    if view is not None:
        assert batch.observations[i].tobytes() == game.observe(seat, view).tobytes()


@pytest.mark.parametrize("autoreset", [True, False])
@pytest.mark.parametrize("reward", REWARDS)
@combinations
def test_games_are_those_of_their_seeds(
    ruleset: str, players: int, reward: Any, autoreset: bool
) -> None:
    """Decision for decision, from the deal to the end, and on to the next game."""
    num_envs, rng = 4, np.random.default_rng(1)
    view: View = VIEWS[autoreset]
    batch = batch_of(
        num_envs, 7, num_players=players, ruleset=ruleset, view=view, reward=reward, autoreset=autoreset
    )
    games = [Game.new(players, ruleset, 7 + i) for i in range(num_envs)]
    for i, game in enumerate(games):
        assert game.player is not None
        check_shown(batch, i, game, game.player, view)
    ends = 0
    while ends < num_envs:
        actions = pick(batch.masks, rng)
        batch.step(actions)
        for i, game in enumerate(games):
            seat, before = game.player, game.scores()
            if seat is None:
                assert batch.terminated[i]
                assert not batch.rewards[i].any()
                continue
            game.apply(actions[i])
            paid = reward_of(game, reward, before)
            assert batch.rewards[i].tolist() == np.array(paid, np.float32).tolist()
            assert (bool(batch.terminated[i]), bool(batch.truncated[i])) == (game.is_over, False)
            ends += game.is_over
            if game.is_over and autoreset:
                games[i] = next_game(game)
            now = games[i].player
            check_shown(batch, i, games[i], seat if now is None else now, view)
    if not autoreset:
        rests = snapshot(batch)
        batch.step([-1] * num_envs)
        batch.play_random(3)
        batch.rewards[:] = np.frombuffer(rests[4], np.float32).reshape(num_envs, players)
        assert snapshot(batch) == rests
        assert batch.random_actions().tolist() == [-1] * num_envs


@pytest.mark.parametrize("name", [ruleset.name for ruleset in ODD])
def test_odd_rulesets(name: str) -> None:
    """Games of few turns, of many, and stopped ones; in two batches that differ in all but the games."""
    ruleset, rng = VARIATIONS[name], np.random.default_rng(1)
    batch = batch_of(3, 1, num_players=3, ruleset=ruleset, reward="points", view="recall")
    rests = batch_of(3, 1, num_players=3, ruleset=ruleset, autoreset=False, view="recall", dtype="uint8")
    game = Game.new(3, ruleset, 1)
    factors, first = layout(3, "recall").factors, np.ones(3, np.bool_)
    before = game.scores()
    while first.any():
        actions = pick(batch.masks, rng)
        batch.step(actions)
        rests.step(actions)
        over = rests.terminated | rests.truncated
        assert np.array_equal(rests.terminated[first], batch.terminated[first])
        assert np.array_equal(rests.truncated[first], batch.truncated[first])
        on = first & ~over
        assert np.array_equal((rests.observations * factors)[on], batch.observations[on])
        assert rests.states[on].tobytes() == batch.states[on].tobytes()
        if first[0]:
            game.apply(actions[0])
            assert batch.rewards[0].tolist() == np.subtract(game.scores(), before).tolist()
            before = game.scores()
        if first[0] and over[0]:
            assert rests.rewards[0].tolist() == np.array(game.payoffs(), np.float32).tolist()
            assert rests.truncated[0] == (game.end == "turn_limit")
        first &= ~over


# -- beside the reference ----------------------------------------------------------------------------

REFERENCE_CASES = [
    *(
        pytest.param(Ruleset.get(name), players, id=f"{name}-{players}")
        for name, players in COMBINATIONS
    ),
    *(
        pytest.param(VARIATIONS[name], 2 + k % 3, id=f"{name}-{2 + k % 3}")
        for k, name in enumerate(VARIATIONS)
        if k % 3 == 0 or name in {ruleset.name for ruleset in ODD if ruleset.name != "all limits"}
    ),
]


@pytest.mark.parametrize(("ruleset", "players"), REFERENCE_CASES)
def test_the_reference_plays_the_same_games(ruleset: Ruleset, players: int) -> None:
    """The second implementation: who decides, what is legal, both views, points paid, ends."""
    seed = len(ruleset.name)
    deal = Game.new(players, ruleset, seed).deal()
    reference = ReferenceGame(ruleset.to_dict(), players, deal)
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    options: dict[str, Any] = {"num_players": players, "ruleset": ruleset}
    batches = {
        "table": batch_of(2, seed, reward="points", **options),
        "recall": batch_of(2, seed, view="recall", reward="payoff", autoreset=False, **options),
    }
    seen = Seen(ruleset, players)
    scores = [0] * players
    decisions = 0
    while reference.end is None:
        compared = decisions % 4 == 0
        for view, batch in batches.items():
            assert batch.players[0] == reference.player
            assert [ACTIONS[a] for a in np.flatnonzero(batch.masks[0])] == reference.legal()
            if compared:
                compare_views(seen, batch, view, reference)
        action = ACTIONS.index(rng.choice(reference.legal()))
        reference.apply(ACTIONS[action])
        others = pick(batches["table"].masks, numbers)
        for batch in batches.values():
            batch.step([action, others[1] if batch.players[1] >= 0 else 0])
        before, scores = scores, [sum(points.values()) for points in reference.points()]
        assert batches["table"].rewards[0].tolist() == np.subtract(scores, before).tolist()
        decisions += 1
        if batches["recall"].players[1] < 0:  # out of step with the other batch now
            batches["recall"].reset([0, seed + 1], [1])
            batches["table"].reset([0, seed + 1], [1])
    final = reference.final()
    assert batches["recall"].rewards[0].tolist() == np.float32(final["payoffs"]).tolist()
    for batch in batches.values():
        assert bool(batch.truncated[0]) == (final["end"] == "turn_limit") != bool(batch.terminated[0])


def compare_views(seen: Seen, batch: GardieniiBatch, view: Any, reference: ReferenceGame) -> None:
    """What the deciding seat sees is what the reference says."""
    seat = reference.player
    assert seat is not None
    parts = next(seen.parts(batch.observations[:1][None].astype(np.float32), view))[0]
    assert seen.public(parts, seat) == reference.public()
    assert seen.private(parts) == reference.private(seat)
    if view == "recall":
        recall = reference.recall(seat)
        for key in ("known_hand", "unknown"):
            recall[key] = [None if k == seat else value for k, value in enumerate(recall[key])]
        assert seen.recall(parts, seat) == recall


# -- at random ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("autoreset", [True, False])
@pytest.mark.parametrize(("view", "dtype"), [(None, "float32"), *product(VIEWS, ("float32", "uint8"))])
def test_play_random_is_so_many_random_steps(view: Any, dtype: Any, autoreset: bool) -> None:
    options: dict[str, Any] = {
        "num_players": 3,
        "view": view,
        "dtype": dtype,
        "autoreset": autoreset,
        "reward": "points",
    }
    batch, other = batch_of(**options), batch_of(**options)
    for steps in (1, 2, 30, 300):
        batch.play_random(steps)
        for _ in range(steps):
            other.step(other.random_actions())
        assert snapshot(batch) == snapshot(other)
    assert batch.observations.shape == (5, 0 if view is None else layout(3, view).size)


def test_random_actions_are_legal_and_evenly_drawn() -> None:
    size, least_p = 3000, 1e-3
    rng = np.random.default_rng(1)
    batch = batch_of(size, 5)
    first = Game.new(2, seed=5)
    choices = set()
    for _ in range(25):
        batch.states[:] = first.state
        batch.refresh()
        actions = batch.random_actions()
        legal = np.flatnonzero(batch.masks[0])
        counts = np.bincount(actions, minlength=73)
        assert counts[legal].sum() == size
        assert chisquare(counts[legal]).pvalue > least_p
        choices.add(legal.size)
        for _ in range(3):
            if first.is_over:
                first = next_game(first)
            first.apply(rng.choice(first.legal_actions()))
    assert len(choices) > 4


def test_random_actions_of_neighbours_and_of_following_steps_are_unrelated() -> None:
    batch = batch_of(4000, 1)
    first = batch.random_actions()
    second = batch.random_actions()  # of the same four choices: the games stand where they stood
    legal = np.flatnonzero(batch.masks[0])
    pairs = ((first, second), (first[1:], first[:-1]))
    for one, other in pairs:
        table = np.histogram2d(one, other, bins=[np.append(legal, 73)] * 2)[0]
        assert table.sum() == one.size
        assert chisquare(table.ravel()).pvalue > 1e-3


# -- results depend on seeds only --------------------------------------------------------------------


def test_the_number_of_threads_does_not_matter() -> None:
    results = []
    for num_threads in (1, 2, 3, 64):
        batch = batch_of(7, 3, num_players=4, ruleset="dragonkeepers", num_threads=num_threads)
        few = course(batch, steps=12)
        batch.play_random(500)
        results.append((few, snapshot(batch)))
    assert results[1] == results[0]
    assert results[2] == results[0]
    assert results[3] == results[0]


def test_the_course_of_a_game_does_not_depend_on_the_others() -> None:
    many, one = batch_of(6, 2, num_players=3), batch_of(1, 6, num_players=3)
    rng = np.random.default_rng(1)
    for _ in range(400):
        assert [
            x[4:5].tobytes() for x in (many.states, many.masks, many.observations, many.rewards)
        ] == [x.tobytes() for x in (one.states, one.masks, one.observations, one.rewards)]
        actions = pick(many.masks, rng)
        many.step(actions)
        one.step(actions[4:5])
    assert many.random_actions()[4] == one.random_actions()[0]
    many.play_random(300)
    many.play_random(1)
    one.random_actions()
    one, many = batch_of(1, 6), batch_of(6, 2)
    one.play_random(300)
    many.play_random(300)
    assert many.states[4].tobytes() == one.states[0].tobytes()


def test_global_random_numbers_do_not_matter_and_are_left_alone() -> None:
    def played(disturb: int) -> Any:
        random.seed(disturb)
        np.random.seed(disturb)  # noqa: NPY002  # it must not matter
        before = random.getstate(), repr(np.random.get_state())  # noqa: NPY002
        batch = batch_of()
        batch.play_random(200)
        assert (random.getstate(), repr(np.random.get_state())) == before  # noqa: NPY002
        return snapshot(batch)

    assert played(1) == played(2)


def test_without_a_seed_chance_is_the_operating_systems() -> None:
    one, other = batch_of(2, None), batch_of(2, None)
    assert one.states.tobytes() != other.states.tobytes()
    assert one.states[0].tobytes() != one.states[1].tobytes()
    assert one._arrays.streams.tobytes() != other._arrays.streams.tobytes()


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_uint8_times_the_factors_is_the_float32(players: int, view: Any) -> None:
    options: dict[str, Any] = {"num_players": players, "view": view, "seed": 4}
    counts, scaled = batch_of(dtype="uint8", **options), batch_of(**options)
    for _ in range(400):
        assert counts.observations.dtype == np.uint8
        assert (
            counts.observations * layout(players, view).factors
        ).tobytes() == scaled.observations.tobytes()
        for batch in (counts, scaled):
            batch.play_random(1)


# -- resets ------------------------------------------------------------------------------------------


def test_seeds_for_each_game() -> None:
    seeds = [5, 2**70, 5, 0]
    for given in (seeds, tuple(seeds), np.array([5, 9, 5, 0])):
        batch = batch_of(4, given)
        for i, seed in enumerate(given):
            assert batch.states[i].tobytes() == Game.new(2, seed=int(seed)).state.tobytes()
    number: Any = np.int64(3)
    batch.reset(number)
    assert batch.states[2].tobytes() == Game.new(2, seed=5).state.tobytes()


def test_the_sequence_goes_on_without_a_seed() -> None:
    batch = batch_of(3, 8)
    game = next_game(Game.new(2, seed=9))
    batch.play_random(20)
    batch.reset()
    assert batch.states[1].tobytes() == game.state.tobytes()


@pytest.mark.parametrize(
    "games", [[1, 3], [3, 1, 1], np.array([1, 3], np.uint8), [False, True, False, True], (1, 3)]
)
def test_some_games_are_reset_and_the_others_left_alone(games: Any) -> None:
    batch, other = batch_of(4, reward="points"), batch_of(4, reward="points")
    batch.play_random(40)
    other.play_random(40)
    batch.reset(seed=[50, 51, 52, 53], games=games)
    for k, (now, before) in enumerate(zip(snapshot(batch), snapshot(other), strict=True)):
        width = len(now) // 4
        for i in range(4):
            row, old = now[i * width : (i + 1) * width], before[i * width : (i + 1) * width]
            if i in (0, 2):
                assert row == old
            elif k == 0:
                assert row == Game.new(2, seed=50 + i).state.tobytes()


def test_no_game_is_reset() -> None:
    batch = batch_of()
    before = snapshot(batch)
    batch.reset(games=[])
    batch.reset(seed=3, games=[False] * 5)
    assert snapshot(batch) == before


def test_without_autoreset_a_game_rests_until_it_is_reset() -> None:
    batch = batch_of(6, autoreset=False, ruleset=VARIATIONS["five turns"])
    batch.play_random(400)
    assert batch.truncated.all()
    assert not batch.terminated.any()
    assert not batch.masks.any()
    batch.reset(games=[2])
    assert batch.truncated.tolist() == [True, True, False, True, True, True]
    assert batch.masks.any(axis=1).tolist() == [False, False, True, False, False, False]


def test_refresh_after_a_change() -> None:
    batch = batch_of(3, reward="points")
    batch.play_random(30)
    game = Game.new(2, seed=77)
    game.apply("take:L0")
    batch.states[1] = game.state
    batch.refresh([1])
    assert game.player is not None
    check_shown(batch, 1, game, game.player, "table")
    before = game.scores()
    for _ in range(40):
        actions = pick(batch.masks, np.random.default_rng(1))
        batch.step(actions)
        game.apply(actions[1])
        assert batch.rewards[1].tolist() == np.subtract(game.scores(), before).tolist()
        before = game.scores()


# -- options and bad input ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "value", "error"),
    [
        ("num_envs", 0, OptionError),
        ("num_envs", 2.0, OptionError),
        ("num_envs", True, OptionError),
        ("num_players", 1, OptionError),
        ("ruleset", "chess", RulesetError),
        ("view", "all", OptionError),
        ("reward", "win", OptionError),
        ("reward", None, OptionError),
        ("dtype", "int8", OptionError),
        ("autoreset", "no", OptionError),
        ("autoreset", 1, OptionError),
        ("autoreset", None, OptionError),
        ("num_threads", 0, OptionError),
        ("num_threads", "2", OptionError),
        ("num_threads", 2.0, OptionError),
        ("seed", -1, OptionError),
        ("seed", "1", OptionError),
        ("seed", 1.5, OptionError),
        ("seed", True, OptionError),
    ],
)
def test_a_wrong_option_is_named(option: str, value: Any, error: type[GardieniiError]) -> None:
    with pytest.raises(error) as caught:
        GardieniiBatch(**{"num_envs": 1, option: value})
    assert option in str(caught.value).lower()
    assert repr(value) in str(caught.value)


def test_whole_numbers_of_numpys() -> None:
    batch = batch_of(
        np.int64(3), np.uint8(4), num_players=np.int8(3), num_threads=np.int32(1), autoreset=np.True_
    )
    other = batch_of(3, 4, num_players=3)
    before = count_signatures()
    steps: Any = np.int16(50)
    batch.play_random(steps)
    other.play_random(50)
    assert snapshot(batch) == snapshot(other)
    assert type(batch.num_envs) is int
    assert count_signatures() == before


@pytest.mark.parametrize("kind", [np.int8, np.uint64, list, tuple])
def test_actions_of_any_whole_number_type(kind: Any) -> None:
    batch, other = batch_of(), batch_of()
    actions = pick(batch.masks, np.random.default_rng(1))
    batch.step(kind(actions.tolist()) if kind in (list, tuple) else actions.astype(kind))
    other.step(actions)
    assert snapshot(batch) == snapshot(other)


@pytest.mark.parametrize(
    "actions",
    [
        5,
        None,
        "abc",
        [0] * 4,
        [0] * 6,
        [[0]] * 5,
        [[0], [0, 1], [0], [0], [0]],
        [0.0] * 5,
        [True] * 5,
        [10**30, 0, 0, 0, 0],
    ],
)
def test_wrong_actions_are_refused_and_nothing_changes(actions: Any) -> None:
    batch = batch_of()
    before = snapshot(batch)
    with pytest.raises(OptionError, match="actions: ") as caught:
        batch.step(actions)
    assert repr(actions) in str(caught.value)
    assert snapshot(batch) == before


def test_illegal_actions_are_refused_and_nothing_changes() -> None:
    rng = np.random.default_rng(1)
    batch = batch_of(5, 1, num_players=3, reward="points")
    for _ in range(30):
        batch.play_random(7)
        before = snapshot(batch)
        actions = pick(batch.masks, rng)
        for wrong in (-1, 73, -(2**63), 2**63 - 1, int(np.flatnonzero(batch.masks[3] == 0)[0])):
            actions[3] = wrong
            with pytest.raises(IllegalActionError, match=r"^Game 3: ") as caught:
                batch.step(actions)
            if 0 <= wrong < 73:
                assert ACTIONS[wrong] in str(caught.value)
                assert f"seat {batch.players[3]}" in str(caught.value)
        assert snapshot(batch) == before


@pytest.mark.parametrize(
    "seed", [-1, 1.5, "12345", True, [1, 2], [1, 2, 3, 4, -5], [1, 2, 3, 4, "5"], {1: 2}]
)
def test_a_wrong_seed_is_refused_and_nothing_changes(seed: Any) -> None:
    batch = batch_of()
    batch.play_random(10)
    before = snapshot(batch)
    with pytest.raises(OptionError, match="seed: "):
        batch.reset(seed=seed)
    assert snapshot(batch) == before


@pytest.mark.parametrize(
    "games", [5, "a", [5], [-1], [0.5], [True, False], [[0]], [[0], [1, 2]], [None]]
)
def test_wrong_games_are_refused_and_nothing_changes(games: Any) -> None:
    batch = batch_of()
    before = snapshot(batch)
    for call in (batch.reset, batch.refresh):
        with pytest.raises(OptionError, match="games: ") as caught:
            call(games=games)
        assert repr(games) in str(caught.value)
    assert snapshot(batch) == before


@pytest.mark.parametrize("steps", [0, -1, 1.5, "1", True, None])
def test_a_wrong_number_of_steps_is_refused(steps: Any) -> None:
    with pytest.raises(OptionError, match=f"steps: {steps!r}"):
        batch_of().play_random(steps)


def test_no_step_before_the_first_reset() -> None:
    batch = GardieniiBatch(3, seed=1)
    for games in (None, [0, 1], [0, 0, 0]):
        if games is not None:
            batch.reset(games=games)
        for call in (batch.random_actions, lambda: batch.step([0, 0, 0]), lambda: batch.play_random(1)):
            with pytest.raises(OptionError, match=r"reset\(\)"):
                call()
    batch.reset(games=[0, 1, 2])
    batch.play_random(1)


# -- copies ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize(("view", "dtype"), [(None, "float32"), *product(VIEWS, ("float32", "uint8"))])
def test_a_copy_goes_on_with_the_games(
    copied: Callable[[GardieniiBatch], GardieniiBatch], view: Any, dtype: Any
) -> None:
    """And nothing is compiled anew for it."""
    batch = GardieniiBatch(4, 3, view=view, dtype=dtype, seed=1, reward="points")
    not_begun = copied(batch)
    batch.reset()
    not_begun.reset()
    assert snapshot(not_begun) == snapshot(batch)
    batch.play_random(77)
    batch.step(batch.random_actions())
    before = count_signatures()
    twin = copied(batch)
    assert snapshot(twin) == snapshot(batch)
    assert course(twin) == course(batch)
    for each in (batch, twin):
        each.play_random(300)
        each.reset(games=[1])
        each.step(each.random_actions())
    assert snapshot(twin) == snapshot(batch)
    assert count_signatures() == before
    twin.play_random(1)
    assert snapshot(twin) != snapshot(batch)


# -- what a seat cannot know -------------------------------------------------------------------------


@pytest.mark.parametrize("view", VIEWS)
@combinations
def test_what_is_hidden_changes_nothing_that_is_shown(ruleset: str, players: int, view: Any) -> None:
    rng = random.Random(1)
    options: dict[str, Any] = {"num_players": players, "ruleset": ruleset, "view": view}
    batch, twin = (batch_of(20, **options) for _ in range(2))
    changes = dict.fromkeys(HIDDEN_CHANGES, 0)
    for _ in range(5):
        batch.play_random(23)
        for change in HIDDEN_CHANGES:
            twin.states[:] = batch.states
            for i in range(20):
                game = Game.of(batch.batch, i)
                change(game, int(batch.players[i]), rng)
                ask_again(game)
                twin.states[i] = game.state
                changes[change] += game.state.tobytes() != batch.states[i].tobytes()
            twin.refresh()
            assert twin.observations.tobytes() == batch.observations.tobytes()
            assert twin.masks.tobytes() == batch.masks.tobytes()
            assert twin.players.tobytes() == batch.players.tobytes()
    assert sum(count > 10 for count in changes.values()) >= 3


def test_arrays_are_written_in_place() -> None:
    batch = batch_of()
    names = ("states", "players", "masks", "observations", "rewards", "terminated", "truncated")
    arrays: list[npt.NDArray[Any]] = [getattr(batch, name) for name in names]
    batch.play_random(3)
    batch.step(batch.random_actions())
    batch.reset()
    assert all(getattr(batch, name) is array for name, array in zip(names, arrays, strict=True))


def test_what_was_written_into_rewards_does_not_stay() -> None:
    batch, plain = batch_of(), batch_of()
    for _ in range(400):
        actions = plain.random_actions()
        plain.step(actions)
        batch.step(actions)
        assert np.array_equal(batch.rewards, plain.rewards)
        batch.rewards[:] -= 0.5
        batch.terminated[:] = False


def test_what_was_written_into_masks_and_players_makes_nothing_legal() -> None:
    batch, plain = batch_of(), batch_of()
    for _ in range(100):
        batch.masks[:] = 1
        batch.players[:] = 0
        before = batch.states.tobytes()
        for action in range(NUM_ACTIONS):
            if not plain.masks[0, action]:
                with pytest.raises(IllegalActionError, match="Game 0"):
                    batch.step([action, *plain.random_actions()[1:]])
        assert batch.states.tobytes() == before
        actions = plain.random_actions()
        batch.step(actions)
        plain.step(actions)
        assert shown(batch) == shown(plain)


def test_it_says_what_it_is() -> None:
    batch = batch_of(3, num_players=4, ruleset="dragonkeepers", view=None)
    assert repr(batch) == "GardieniiBatch(3, num_players=4, ruleset='dragonkeepers', view=None)"
    assert batch.ruleset is Ruleset.get("dragonkeepers")


@pytest.mark.parametrize("game", [5, -1, True])
def test_a_wrong_number_of_a_game_is_refused(game: Any) -> None:
    with pytest.raises(OptionError, match=f"game: {game} is not the number of a game, 0 to 4"):
        batch_of(5).game(game)


def test_observations_are_read_only() -> None:
    with pytest.raises(ValueError, match="read-only"):
        batch_of().observations[0] = 0


def test_a_pickle_holds_observations_once() -> None:
    batch = batch_of(200, view="recall")
    arrays = [batch.states, batch.masks, batch.observations]
    assert len(pickle.dumps(batch)) < 1.2 * sum(array.nbytes for array in arrays)
