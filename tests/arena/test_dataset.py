"""Minari data sets: that they hold the games, each seat's own view of them and nothing else."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import Program
from rulesets import COMBINATIONS, ODD

from gardienii_env import AgentError, Game, OptionError, Ruleset, __version__, layout
from gardienii_env.agents import make_agents
from gardienii_env.arena import dataset as dataset_module
from gardienii_env.arena.dataset import DatasetPlan, check_dataset_id, write_dataset
from gardienii_env.arena.episodes import Episode, play_episodes
from gardienii_env.cli.record import play_game
from gardienii_env.envs.outcome import MARGIN_UNIT, REWARDS, Reward
from gardienii_env.observation import View
from gardienii_env.rules.ruleset import SHIPPED

minari = pytest.importorskip("minari")
pytest.importorskip("h5py")

NAMES = ("random", "greedy", "random", "greedy")
FIRST_SEED = 30
Usage = namedtuple("Usage", "free")


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where Minari keeps its data."""
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "sets"))
    return tmp_path / "sets"


def plan(name: str = "gardienii/some-v0", players: int = 2, **options: Any) -> DatasetPlan:
    agents = make_agents(",".join(NAMES[:players]), players)
    given = {"ruleset": Ruleset.get("gardienii"), "games": 3, "seed": FIRST_SEED, **options}
    return DatasetPlan(name, agents, **given)


def files(root: Path) -> list[str]:
    """All that lies there, folders too."""
    return sorted(str(path.relative_to(root)) for path in root.rglob("*")) if root.exists() else []


def replayed(game: Game, seat: int, view: View, reward: Reward) -> tuple[list[Any], ...]:
    """What a seat saw, might do, did and was paid in a game, by playing its record again."""
    again = Game.from_record(game.to_record(), 0)
    seen: list[Any] = []
    masks: list[Any] = []
    actions: list[int] = []
    rewards: list[float] = []
    before = 0
    for player, action in game.moves:
        if player == seat:
            if actions:
                rewards.append(again.scores()[seat] - before if reward == "points" else 0)
                before = again.scores()[seat] if reward == "points" else 0
            seen.append(again.observe(seat, view))
            masks.append(again.legal_mask())
            actions.append(action)
        again.apply(action)
    others = [score for other, score in enumerate(game.scores()) if other != seat]
    last = {
        "points": game.scores()[seat] - before,
        "payoff": game.payoffs()[seat],
        "margin": (game.scores()[seat] - sum(others) / len(others)) / MARGIN_UNIT,
    }
    return [*seen, again.observe(seat, view)], [*masks, np.ones(73)], actions, [*rewards, last[reward]]


@pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)
def test_what_is_loaded_is_the_games_replayed(ruleset: str, players: int) -> None:
    view: View = "recall" if players != 3 else "table"
    reward = REWARDS[players - 2]
    rules = Ruleset.get(ruleset)
    written = write_dataset(plan(players=players, ruleset=rules, view=view, reward=reward), batch_size=2)
    loaded = minari.load_dataset("gardienii/some-v0")
    assert (loaded.total_episodes, loaded.total_steps) == (written.episodes, written.decisions)
    assert loaded.total_episodes == 3 * players
    factors = layout(players, view).factors
    agents = make_agents(",".join(NAMES[:players]), players)
    told = list(loaded.storage.get_episode_metadata(range(3 * players)))
    for k, episode in enumerate(loaded):
        game, seat = play_game(agents, rules, FIRST_SEED + k // players), k % players
        seen, masks, actions, rewards = replayed(game, seat, view, reward)
        assert episode.observations.dtype == np.uint8
        assert np.array_equal(episode.observations * factors, np.array(seen))
        assert np.array_equal(episode.infos["action_mask"], np.array(masks))
        assert episode.actions.tolist() == actions
        assert episode.rewards.tolist() == pytest.approx(rewards, abs=1e-12)
        assert (episode.infos["seat"] == seat).all()
        assert not episode.terminations[:-1].any()
        assert not episode.truncations.any()
        assert episode.terminations[-1]
        assert all(loaded.observation_space.contains(row) for row in episode.observations)
        assert all(loaded.action_space.contains(action) for action in episode.actions)
        assert (told[k]["seed"], told[k]["seat"]) == (FIRST_SEED + k // players, seat)
        assert (told[k]["agent"], told[k]["score"]) == (NAMES[seat], game.scores()[seat])
        assert told[k]["winner"] == (seat in game.winners())


@pytest.mark.parametrize("reward", REWARDS)
def test_an_episode_is_one_of_the_environment(reward: Reward) -> None:
    """The recovered environment, given the seed and the actions, gives all of it again."""
    agents = make_agents("greedy,greedy", 2)
    rules = Ruleset.get("dragonkeepers")
    write_dataset(DatasetPlan("greedy-v0", agents, rules, 2, 7, "recall", reward))
    loaded = minari.load_dataset("greedy-v0")
    env = loaded.recover_environment(seat=1)
    assert env.observation_space == loaded.observation_space
    assert env.action_space == loaded.action_space
    for k in (1, 3):
        episode = loaded[k]
        observation, info = env.reset(seed=7 + k // 2)
        for t, action in enumerate(episode.actions):
            assert np.array_equal(observation, episode.observations[t])
            assert info.keys() == episode.infos.keys()
            assert np.array_equal(info["action_mask"], episode.infos["action_mask"][t])
            assert info["seat"] == episode.infos["seat"][t]
            observation, paid, terminated, truncated, info = env.step(action)
            assert paid == episode.rewards[t]
            assert (terminated, truncated) == (episode.terminations[t], episode.truncations[t])
        assert np.array_equal(observation, episode.observations[-1])
        assert np.array_equal(info["action_mask"], episode.infos["action_mask"][-1])


def test_float32_is_the_counts_times_the_factors() -> None:
    write_dataset(plan("counts-v0"))
    write_dataset(plan("numbers-v0", dtype="float32"))
    counts, numbers = (minari.load_dataset(name) for name in ("counts-v0", "numbers-v0"))
    for one, other in zip(counts, numbers, strict=True):
        assert other.observations.dtype == np.float32
        assert np.array_equal(one.observations * layout(2).factors, other.observations)
    assert np.array_equal(np.float32(1 / counts.observation_space.high), layout(2).factors)


def test_a_game_that_the_turn_limit_stopped_is_truncated() -> None:
    rules = next(ruleset for ruleset in ODD if ruleset.name == "five turns")
    episodes = list(play_episodes(make_agents("greedy", 2), rules, range(4)))
    assert all(episode.truncated for some in episodes for episode in some)
    write_dataset(plan("short-v0", ruleset=rules))
    loaded = minari.load_dataset("short-v0")
    for episode in loaded:
        assert episode.truncations[-1]
        assert not episode.terminations.any()
    assert loaded.env_spec.kwargs["ruleset"] == rules.to_dict()
    assert loaded.recover_environment(seat=1).unwrapped.table.batch.ruleset == rules


def test_a_seat_that_never_decided_has_no_episode() -> None:
    rules = Ruleset.get("gardienii").replace(turn_limit=1)
    (episodes,) = play_episodes(make_agents("greedy", 4), rules, range(5))
    assert all(len(episode) for episode in episodes)
    assert {episode.seed for episode in episodes} == set(range(5))
    assert len(episodes) < 5 * 4


def test_hidden_cards_move_nothing_of_a_seat() -> None:
    """What the others hold is drawn anew before a seat's only decision: its episode is the same."""

    def first(game: Game) -> bytes:
        assert game.player is not None
        return game.observe(game.player, "recall").tobytes() + game.legal_mask().tobytes()

    (episodes,) = play_episodes(
        make_agents("random", 3), Ruleset.get("gardienii"), range(8), "recall", "payoff", "float32"
    )
    compared = 0
    for episode in episodes:
        game = Game.new(3, "gardienii", episode.seed)
        if game.player == episode.seat:
            seen = episode.observations[0].tobytes() + episode.masks[0].tobytes()
            assert first(game.resample(episode.seat, seed=1)) == seen
            compared += 1
    assert compared == 8


def test_the_batch_size_changes_nothing() -> None:
    def played(size: int) -> list[Episode]:
        agents, rules = make_agents("random,greedy,random", 3), Ruleset.get("gardienii")
        some = play_episodes(agents, rules, range(5), "table", "points", batch_size=size)
        return [episode for episodes in some for episode in episodes]

    for one, other in zip(played(2), played(512), strict=True):
        assert (one.seed, one.seat, one.score) == (other.seed, other.seat, other.score)
        assert np.array_equal(one.observations, other.observations)
        assert np.array_equal(one.actions, other.actions)
        assert np.array_equal(one.rewards, other.rewards)


def test_the_same_seed_gives_the_same_bytes(root: Path) -> None:
    contents = []
    for number in range(2):
        write_dataset(plan("same-v0"), overwrite=number > 0)
        folder = root / "same-v0" / "data"
        contents.append([(path.name, path.read_bytes()) for path in sorted(folder.iterdir())])
        time.sleep(1.1 * (1 - number))  # times of files are in whole seconds
    assert contents[0] == contents[1]
    assert [name for name, _ in contents[0]] == ["main_data.hdf5", "metadata.json"]


def test_the_metadata_tells_what_it_is_and_how_to_make_it_again(gardienii: Program) -> None:
    given = ("--author", "A. Nobody", "--code-permalink", "https://example.org/code")
    options = ("--agents", "greedy,greedy", "--games", "2", "--seed", "5", "--view", "recall")
    assert gardienii("dataset", *options, *given, "--id", "gardienii/told-v1").status == 0
    metadata = minari.load_dataset("gardienii/told-v1").storage.metadata
    assert metadata["algorithm_name"] == "greedy,greedy"
    assert metadata["author"] == {"A. Nobody"}
    assert metadata["code_permalink"] == "https://example.org/code"
    assert metadata["requirements"] == [f"gardienii-env>={__version__}"]
    about = metadata["gardienii_env"]
    assert (about["version"], about["players"], about["games"]) == (__version__, 2, 2)
    assert (about["view"], about["seed"], about["ruleset"]) == ("recall", 5, "gardienii")
    assert about["layout_version"] == "gardienii-v0"
    assert {name: place[0] for name, place in about["layout"].items()} == {
        part.name: part.start for part in layout(2, "recall")
    }
    before = minari.load_dataset("gardienii/told-v1")[3]
    program, *again = about["command"].split()
    assert program == "gardienii"
    assert gardienii(*again, "--overwrite").status == 0
    after = minari.load_dataset("gardienii/told-v1")[3]
    assert np.array_equal(before.observations, after.observations)
    assert np.array_equal(before.actions, after.actions)
    assert "gardienii/told-v1" in minari.list_local_datasets()


def test_different_agents_give_the_environment_of_seat_0() -> None:
    write_dataset(plan("mixed-v0", players=3))
    kwargs = minari.load_dataset("mixed-v0").env_spec.kwargs
    assert (kwargs["seat"], kwargs["opponents"]) == (0, "greedy,random")


# -- what goes wrong -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--agents greedy,greedy", "the following arguments are required: --id"),
        ("--id a-v0", "the following arguments are required: --agents"),
        ("--id a-v0 --agents greedy", "names 1 agent; give one for each of 2 to 4 seats"),
        ("--id a-v0 --agents a,b,c,d,e", "names 5 agents; give one for each of 2 to 4 seats"),
        ("--id a-v0 --agents gredy,greedy", "Did you mean 'greedy'?"),
        ("--id a-v0 --agents greedy,greedy --games 0", "'0' is not a whole number from 1 up"),
        ("--id a-v0 --agents greedy,greedy --view all", "invalid choice: 'all'"),
        ("--id a-v0 --agents greedy,greedy --ruleset dragon", "The ruleset 'dragon' is not known"),
        ("--id some --agents greedy,greedy", "'some' is not of the form NAMESPACE/NAME-vNUMBER"),
        ("--id ../a-v0 --agents greedy,greedy", "'../a-v0' is not of the form"),
        ("--id aa//bb/c-v0 --agents greedy,greedy", "'aa//bb/c-v0' is not of the form"),
    ],
)
def test_wrong_use_is_told_with_status_2(
    gardienii: Program, root: Path, arguments: str, words: str
) -> None:
    result = gardienii("dataset", *arguments.split())
    assert result.status == 2
    assert words in result.err.splitlines()[-1]
    assert files(root) == []


def test_an_id_that_exists_is_refused_and_can_be_replaced(gardienii: Program, root: Path) -> None:
    options = ("dataset", "--agents", "greedy,greedy", "--games", "1", "--id", "gardienii/a-v0")
    assert gardienii(*options).out.startswith("gardienii/a-v0: 1 game, 2 episodes, ")
    before = files(root)
    result = gardienii(*options)
    assert result.status == 2
    assert len(result.err.splitlines()) == 1
    assert "there is a data set gardienii/a-v0 already" in result.err
    assert "--overwrite" in result.err
    assert gardienii(*options, "--seed", "4", "--overwrite").status == 0
    assert files(root) == before
    assert minari.load_dataset("gardienii/a-v0").storage.metadata["gardienii_env"]["seed"] == 4


def test_what_is_no_data_set_is_never_replaced(root: Path) -> None:
    (root / "mine-v0").mkdir(parents=True)
    with pytest.raises(OptionError, match="is no data set"):
        check_dataset_id("mine-v0", overwrite=True)
    write_dataset(plan("gardienii-v0", games=1))
    with pytest.raises(OptionError, match="gardienii-v0 is a data set and no namespace"):
        check_dataset_id("gardienii-v0/inner-v0")


def test_a_place_that_cannot_be_written_is_told(
    gardienii: Program, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", "/dev/null/sets")
    result = gardienii("dataset", "--agents", "greedy,greedy", "--id", "a-v0")
    assert result.status == 2
    assert "MINARI_DATASETS_PATH: '/dev/null/sets' cannot be written" in result.err


def failing(error: BaseException) -> Callable[..., None]:
    def fail(*arguments: Any) -> None:
        raise error

    return fail


@pytest.mark.parametrize("place", ["add", "written"])
@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), AgentError("It broke.")], ids=["Ctrl-C", "error"]
)
def test_nothing_stays_of_what_was_ended(
    root: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, place: str
) -> None:
    write_dataset(plan("old/kept-v0"))
    before = files(root)
    monkeypatch.setattr(dataset_module._Writer, place, failing(error))
    for name in ("old/kept-v0", "old/other-v0", "new/space/other-v0"):
        with pytest.raises(type(error)):
            write_dataset(plan(name), overwrite=True)
        assert files(root) == before
    assert minari.load_dataset("old/kept-v0").total_episodes == 6


def test_a_full_disk_is_told_and_leaves_nothing(
    gardienii: Program, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = [10**9, 10**6]
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: Usage(free.pop(0)))
    monkeypatch.setattr(dataset_module, "BYTES_BESIDE", 10**5)
    options = ("--agents", "greedy,greedy", "--games", "600", "--id", "gardienii/a-v0")
    result = gardienii("dataset", *options)
    assert result.status == 2
    assert result.err.startswith("gardienii dataset: error: --id: ")
    assert result.err.endswith("gardienii/a-v0 cannot be written: No space left on device.\n")
    assert free == []
    assert files(root) == []


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError(13, "Permission denied"), "Permission denied"),
        (
            OSError("(file write failed: errno = 5, error message = 'Input/output error')"),
            "Input/output",
        ),
        (RuntimeError("Can't decrement id ref count"), "Can't decrement id ref count"),
    ],
)
def test_what_hdf5_cannot_write_is_told(
    root: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str
) -> None:
    monkeypatch.setattr(dataset_module._Writer, "_check_space", failing(error))
    with pytest.raises(OptionError, match=rf"a-v0 cannot be written: {reason}"):
        write_dataset(plan("a-v0"))
    assert files(root) == []


def test_a_request_to_end_leaves_nothing(root: Path) -> None:
    line = [sys.executable, "-m", "gardienii_env", "dataset", "--agents", "greedy,greedy"]
    program = subprocess.Popen([*line, "--id", "gardienii/a-v0", "--games", "1000000"])
    while not list(root.glob("gardienii/.*/data/main_data.hdf5")):  # until games are being written
        assert program.poll() is None
        time.sleep(0.02)
    program.send_signal(signal.SIGTERM)
    assert program.wait(60) == 128 + signal.SIGTERM
    assert files(root) == []


def test_without_minari_the_extra_is_named(gardienii: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "minari", None)
    result = gardienii("dataset", "--agents", "greedy,greedy", "--id", "a-v0")
    assert result.status == 2
    assert "gardienii-env[minari]" in result.err


def test_a_plan_names_a_wrong_value() -> None:
    for options, words in (
        ({"games": 0}, "games"),
        ({"seed": -1}, "seed"),
        ({"seed": None}, "seed"),
        ({"seed": 2**63 - 1, "games": 2}, "9223372036854775807"),
        ({"view": "all"}, "view"),
        ({"reward": "money"}, "reward"),
        ({"dtype": "int8"}, "dtype"),
    ):
        with pytest.raises(OptionError, match=words):
            plan(**options)


def test_the_shipped_rulesets_are_named_in_the_metadata() -> None:
    for name in SHIPPED:
        told = plan(ruleset=Ruleset.get(name)).metadata()
        assert json.loads(json.dumps(told))["gardienii_env"]["ruleset"] == name
    assert os.environ["MINARI_DATASETS_PATH"]
