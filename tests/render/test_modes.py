"""The render modes of the environments: pictures, windows and videos."""

from __future__ import annotations

import copy
import os
import pickle
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
import pygame
import pytest
from gymnasium.vector import AutoresetMode
from pettingzoo.utils.wrappers.record_video import RecordVideo as PettingZooRecordVideo

from gardienii_env import IllegalActionError, OptionError, gardienii_v0
from gardienii_env.envs.single import GardieniiSingleEnv
from gardienii_env.envs.vector import GardieniiVectorEnv
from gardienii_env.render.picture import picture
from gardienii_env.render.text import board
from gardienii_env.render.window import Window

SIZE = (320, 200)
ID = "gardienii_env:Gardienii-v0"
PICTURES: dict[str, Any] = {"render_mode": "rgb_array", "render_size": SIZE}


@pytest.fixture
def _no_display(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Windows of a driver that shows nothing, which do not wait."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    for made in (gardienii_v0.raw_env, GardieniiSingleEnv):
        monkeypatch.setitem(made.metadata, "render_fps", 10_000)
    yield
    pygame.display.quit()


no_display = pytest.mark.usefixtures("_no_display")


def single(**options: Any) -> Any:
    return gymnasium.make(ID, opponents="random", **options).unwrapped


def choose(mask: Any, rng: random.Random) -> int:
    return rng.choice(np.flatnonzero(mask).tolist())


def check_same(first: Any, second: Any) -> None:
    assert np.array_equal(first, second)


# -- pictures --------------------------------------------------------------------------------------


def test_the_aec_environment_shows_what_a_spectator_sees() -> None:
    env = gardienii_v0.raw_env(3, "dragonkeepers", render_language="de", **PICTURES)
    env.reset(seed=1)
    rng = random.Random(1)
    check_same(env.render(), picture(env.game, None, SIZE, language="de"))
    env.step(0)
    told = env._told
    assert told.startswith("Spieler 0 nimmt ")
    check_same(env.render(), picture(env.game, None, SIZE, language="de", told=told))
    while not env.game.is_over:
        env.step(choose(env.game.legal_mask(), rng))
    shown = picture(env.game, None, SIZE, open_hands=True, language="de", told=env._told)
    check_same(env.render(), shown)


def test_the_single_environment_shows_what_the_learner_sees() -> None:
    env = single(num_players=3, seat=1, **PICTURES)
    _, info = env.reset(seed=2)
    rng = random.Random(2)
    terminated, steps = False, 0
    while not terminated:
        if steps % 15 == 0:
            check_same(env.render(), picture(env.game, 1, SIZE, told=env._told))
        steps += 1
        _, _, terminated, _, info = env.step(choose(info["action_mask"], rng))
        assert env._told.startswith("Seat 1 ")
    check_same(env.render(), picture(env.game, 1, SIZE, told=env._told))


def test_an_illegal_action_is_not_told() -> None:
    env = gardienii_v0.raw_env(2, **PICTURES)
    env.reset(seed=1)
    env.step(0)
    told = env._told
    for action in (72, 73, -1):
        with pytest.raises(IllegalActionError):
            env.step(action)
        assert env._told == told
    learner = single(**PICTURES)
    learner.reset(seed=1)
    learner.step(72)
    assert learner._told == ""


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_the_vector_environment_shows_what_single_ones_show(mode: str) -> None:
    """Frames and words are those of Gymnasium's own vector of the single environment."""
    options: dict[str, Any] = {"opponents": "random", "num_players": 2, **PICTURES}
    ours = GardieniiVectorEnv(2, autoreset_mode=mode, **options)
    theirs = gymnasium.vector.SyncVectorEnv(
        [lambda: GardieniiSingleEnv(**options)] * 2, autoreset_mode=AutoresetMode(mode)
    )
    _, infos = ours.reset(seed=5)
    theirs.reset(seed=5)
    rng = random.Random(5)
    ends = 0
    for decision in range(140):
        if decision % 20 == 0 or ends:
            frames, expected = ours.render(), theirs.render()
            assert isinstance(frames, tuple)
            assert len(frames) == 2
            for frame, other in zip(frames, expected or (), strict=True):
                check_same(frame, other)
        actions = np.array([choose(mask, rng) for mask in infos["action_mask"]])
        _, _, terminations, _, infos = ours.step(actions)
        theirs.step(actions)
        ends += int(terminations.any())
        if ends > 3:
            break
    assert ends


def test_a_step_that_fails_changes_no_picture() -> None:
    envs = GardieniiVectorEnv(2, opponents="random", illegal_action="raise", **PICTURES)
    _, infos = envs.reset(seed=1)
    envs.step(infos["action_mask"].argmax(axis=1))
    before = envs.render()
    with pytest.raises(ValueError, match="not legal"):
        envs.step(np.array([72, 72]))
    for first, second in zip(before or (), envs.render() or (), strict=True):
        check_same(first, second)


def test_the_board_as_text_in_other_languages() -> None:
    env = single(render_mode="ansi", render_language="hu", seat=0)
    env.reset(seed=1)
    assert env.render() == board(env.game, 0, language="hu")


@pytest.mark.parametrize(
    ("option", "value"),
    [("render_mode", "rgb"), ("render_size", (0, 0)), ("render_language", "xx")],
)
def test_a_wrong_option_is_named(option: str, value: Any) -> None:
    for make in (gardienii_v0.raw_env, gardienii_v0.env, GardieniiSingleEnv, GardieniiVectorEnv):
        with pytest.raises(OptionError) as caught:
            make(**{option: value})
        assert option.removeprefix("render_") in str(caught.value)
    with pytest.raises(OptionError, match="'human' is not known"):
        GardieniiVectorEnv(2, render_mode="human")


def test_no_environment_shows_the_pictures_of_another() -> None:
    envs = [single(seat=seat, num_players=4, **PICTURES) for seat in (0, 0, 3)]
    alone = []
    for seed, env in enumerate(envs):
        env.reset(seed=seed)
        alone.append(env.render())
    for env, frame in zip(envs, alone, strict=True):
        check_same(env.render(), frame)
    envs[0].close()
    check_same(envs[1].render(), alone[1])
    check_same(envs[0].render(), alone[0])


def test_pictures_of_copies_are_the_same() -> None:
    aec = gardienii_v0.raw_env(2, **PICTURES)
    aec.reset(seed=3)
    aec.step(0)
    learner = single(**PICTURES)
    learner.reset(seed=3)
    envs = GardieniiVectorEnv(2, opponents="random", **PICTURES)
    envs.reset(seed=3)
    for env in (aec, learner, envs):
        frame = env.render()
        for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
            check_same(other.render(), frame)


def test_nothing_is_drawn_where_nothing_is_rendered() -> None:
    """The library is not even loaded, and pictures need no display and set no variable."""
    code = """
import sys, gymnasium, os
from gardienii_env import gardienii_v0
env = gardienii_v0.raw_env()
env.reset(seed=1); env.step(0)
assert not {'pygame', 'rich'} & set(sys.modules)
env = gardienii_v0.raw_env(render_mode='rgb_array')
env.reset(seed=1)
assert env.render().shape == (800, 1280, 3)
import pygame
assert not pygame.display.get_init() and 'SDL_VIDEODRIVER' not in os.environ
"""
    kept = {name: value for name, value in os.environ.items() if name != "SDL_VIDEODRIVER"}
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, env=kept, capture_output=True, text=True
    )
    assert done.stdout == ""  # pygame would greet


# -- windows ---------------------------------------------------------------------------------------


@no_display
def test_windows_show_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(Window, "show", lambda self, pixels: shown.append(pixels))
    aec = gardienii_v0.raw_env(2, render_mode="human", render_size=SIZE)
    aec.reset(seed=1)
    assert aec.render() is None
    for _ in range(3):
        aec.step(choose(aec.game.legal_mask(), random.Random(1)))
    assert len(shown) == 5
    check_same(shown[0], picture(aec_start(), None, SIZE))
    learner = single(render_mode="human", render_size=SIZE)
    _, info = learner.reset(seed=1)
    learner.step(choose(info["action_mask"], random.Random(1)))
    assert len(shown) == 7


def aec_start() -> Any:
    env = gardienii_v0.raw_env(2)
    env.reset(seed=1)
    return env.game


@no_display
def test_each_environment_closes_its_own_window_only() -> None:
    envs = [gardienii_v0.raw_env(2, render_mode="human", render_size=SIZE) for _ in range(2)]
    for env in envs:
        env.reset(seed=1)
    windows = [env._renderer._window for env in envs]
    envs[0].close()
    assert [window.is_open for window in windows] == [False, True]
    envs[1].step(0)
    assert windows[1].is_open
    envs[0].reset(seed=1)  # opens a new one
    assert envs[0]._renderer._window.is_open
    for env in envs:
        env.close()
        env.close()
    assert not windows[1].is_open


@no_display
def test_a_window_shows_what_it_is_given_until_it_is_closed() -> None:
    first, second = Window(SIZE, 1000), Window(SIZE, 1000)
    pixels = np.random.default_rng(1).integers(0, 256, (SIZE[1], SIZE[0], 3), np.uint8)
    first.show(pixels)
    surface = first._window.get_surface()  # type: ignore[union-attr]
    check_same(pygame.surfarray.array3d(surface).swapaxes(0, 1), pixels)
    pygame.event.post(pygame.event.Event(pygame.WINDOWCLOSE, window=second._window))
    first.show(pixels)
    assert first.is_open
    second.show(pixels)
    assert not second.is_open
    second.show(pixels)
    first.close()


def test_without_a_display_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "no such driver")
    env = gardienii_v0.raw_env(2, render_mode="human", render_size=SIZE)
    with pytest.raises(OptionError, match="needs a display"):
        env.reset(seed=1)


def test_a_display_that_shows_nothing_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where SDL finds no display it may fall back on a driver that draws into memory."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    pygame.display.init()
    monkeypatch.delenv("SDL_VIDEODRIVER")
    with pytest.raises(OptionError, match=r"needs a display.*'dummy'"):
        Window(SIZE, 2)
    pygame.display.quit()


# -- videos ----------------------------------------------------------------------------------------


class Videos:
    """Stands for the part of moviepy that the wrappers use: keeps the frames in place of encoding."""

    def __init__(self) -> None:
        self.made: list[tuple[list[Any], float]] = []

    def ImageSequenceClip(self, frames: list[Any], fps: float) -> Any:  # noqa: N802
        videos = self

        class Clip:
            def write_videofile(self, *_: Any, **__: Any) -> None:
                videos.made.append((list(frames), fps))

        return Clip()


@pytest.fixture
def videos(monkeypatch: pytest.MonkeyPatch) -> Videos:
    made = Videos()
    for name in ("moviepy", "moviepy.video", "moviepy.video.io", "moviepy.video.io.ImageSequenceClip"):
        module: Any = ModuleType(name)
        module.ImageSequenceClip = made.ImageSequenceClip
        monkeypatch.setitem(sys.modules, name, module)
    return made


def check_video(videos: Videos, frames: int, shape: tuple[int, ...] = (SIZE[1], SIZE[0], 3)) -> None:
    ((recorded, fps),) = videos.made
    assert fps == 2
    assert len(recorded) == frames
    assert {frame.shape for frame in recorded} == {shape}
    assert len({frame.tobytes() for frame in recorded}) > frames / 2


def test_gymnasium_records_videos(videos: Videos, tmp_path: Path) -> None:
    env: Any = gymnasium.make(ID, opponents="random", **PICTURES)
    env = gymnasium.wrappers.RecordVideo(env, str(tmp_path / "videos"))
    _, info = env.reset(seed=1)
    rng, over, steps = random.Random(1), False, 0
    while not over:
        _, _, over, _, info = env.step(choose(info["action_mask"], rng))
        steps += 1
    env.close()
    check_video(videos, steps + 1)


def test_pettingzoo_records_videos(videos: Videos, tmp_path: Path) -> None:
    env: Any = PettingZooRecordVideo(gardienii_v0.env(2, **PICTURES), str(tmp_path / "videos"))
    env.reset(seed=1)
    rng = random.Random(1)
    for _ in range(30):
        env.step(choose(env.last()[0]["action_mask"], rng))
    env.close()
    check_video(videos, 31)


def test_gymnasium_records_videos_of_vectors(videos: Videos, tmp_path: Path) -> None:
    envs: Any = GardieniiVectorEnv(4, opponents="random", **PICTURES)
    envs = gymnasium.wrappers.vector.RecordVideo(envs, str(tmp_path / "videos"), video_length=20)
    _, infos = envs.reset(seed=1)
    for _ in range(25):
        infos = envs.step(infos["action_mask"].argmax(axis=1))[-1]
    envs.close()
    check_video(videos, 21, (2 * SIZE[1], 2 * SIZE[0], 3))


@no_display
def test_pictures_go_on_after_other_code_has_quit_pygame() -> None:
    for mode in ("rgb_array", "human"):
        plain, env = (single(render_mode=mode, render_size=SIZE) for _ in range(2))
        actions, rng = [], random.Random(3)
        for each in (plain, env):
            each.reset(seed=1)
            each.render()
        for step in range(12):
            if step % 4 == 1:
                pygame.quit()
            if step == 9:
                pygame.display.init()
                pygame.font.init()
            actions.append(choose(env.action_masks(), rng))
            env.step(actions[-1])
            frame = env.render()
        for action in actions:
            plain.step(action)
        if mode == "rgb_array":
            check_same(frame, plain.render())
        env.close()
        plain.close()
