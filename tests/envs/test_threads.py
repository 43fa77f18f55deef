"""Several threads over a batch: that they are safe to use, in copies, forks and beside each other.

That results do not depend on their number is tested with each environment.
"""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest
from driving import pick

from gardienii_env import OptionError
from gardienii_env.envs.batch import GardieniiBatch
from gardienii_env.envs.sb3 import GardieniiVecEnv
from gardienii_env.envs.vector import GardieniiVectorEnv
from gardienii_env.rules.threads import Threads


@pytest.mark.parametrize("number", [0, -1, 1.5, "2", True, None])
def test_a_wrong_number_is_named(number: Any) -> None:
    with pytest.raises(OptionError, match=f"num_threads: {number!r}"):
        Threads(number)
    for make in (GardieniiBatch, GardieniiVectorEnv, GardieniiVecEnv):
        with pytest.raises(OptionError, match=f"num_threads: {number!r}"):
            make(1, num_threads=number)


def test_ranges_make_up_all_games_whatever_the_numbers() -> None:
    def loop(ranges: list[tuple[int, ...]], first: int, last: int, *options: int) -> None:
        ranges.append((first, last, *options))

    for number in (1, 2, np.int64(3), 7, 1000):
        threads = Threads(number)
        for games in (1, 2, 5, 64):
            ranges: list[tuple[int, ...]] = []
            threads.run(loop, ranges, games, 8, 9)
            assert len(ranges) == min(number, games)
            assert sorted(i for first, last, *_ in ranges for i in range(first, last)) == [*range(games)]
            assert all(last > first and rest == [8, 9] for first, last, *rest in ranges)


def test_an_error_of_any_thread_is_raised_after_all_are_done() -> None:
    for failing in range(3):
        done: list[int] = []

        def loop(wrong: int, first: int, last: int, done: list[int]) -> None:
            done.append(first)
            if first == wrong:
                raise ZeroDivisionError

        threads = Threads(3)
        with pytest.raises(ZeroDivisionError):
            threads.run(loop, failing, 3, done)
        assert sorted(done) == [0, 1, 2]
        threads.run(loop, -1, 3, done)
        assert sorted(done) == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda threads: pickle.loads(pickle.dumps(threads))])
def test_a_copy_has_threads_of_its_own(copied: Any) -> None:
    def loop(names: set[str], first: int, last: int) -> None:
        names.add(threading.current_thread().name)
        barrier.wait(timeout=30)  # all at once

    barrier = threading.Barrier(3)
    threads = Threads(3)
    names: set[str] = set()
    threads.run(loop, names, 3)
    twin = copied(threads)
    assert twin.number == 3
    twin.run(loop, names, 3)
    assert len(names) >= 3


def made(seed: int, num_threads: int) -> tuple[GardieniiBatch, GardieniiVectorEnv]:
    """A batch of each kind, begun."""
    batch = GardieniiBatch(40, seed=seed, num_threads=num_threads)
    envs = GardieniiVectorEnv(40, "greedy", num_threads=num_threads)
    batch.reset()
    envs.reset(seed=seed)
    return batch, envs


def play(both: tuple[GardieniiBatch, GardieniiVectorEnv], steps: int) -> list[bytes]:
    """Play on in both; what is there then."""
    batch, envs = both
    rng = np.random.default_rng(1)
    for _ in range(steps):
        batch.play_random(3)
        envs.step(pick(envs.action_masks(), rng))
    arrays = [batch.states, batch.observations, envs.table.batch.states, envs.table.observations]
    return [array.tobytes() for array in arrays]


def test_python_threads_step_batches_at_once() -> None:
    results: dict[int, list[bytes]] = {}

    def work(seed: int) -> None:
        results[seed] = play(together[seed], 25)

    together = {seed: made(seed, 2) for seed in (1, 2, 3)}
    workers = [threading.Thread(target=work, args=(seed,)) for seed in together]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for seed in together:
        assert results[seed] == play(made(seed, 1), 25)


def test_batches_that_are_gone_leave_no_threads_behind() -> None:
    before = threading.active_count()
    for seed in range(5):
        play(made(seed, 4), 1)
    deadline = threading.Event()
    for _ in range(100):
        if threading.active_count() <= before:
            break
        deadline.wait(0.1)
    assert threading.active_count() <= before


FORK = """
import multiprocessing, warnings
from test_threads import made, play

def work(both, told):
    told.put(play(both, 20))

if __name__ == "__main__":
    warnings.simplefilter("error", RuntimeWarning)
    used = made(1, 2)
    play(used, 3)
    context = multiprocessing.get_context("fork")
    told = context.Queue()
    children = [context.Process(target=work, args=(used, told)) for _ in range(2)]
    for child in children:
        child.start()
    results = [told.get(timeout=60) for _ in children]
    for child in children:
        child.join()
    alone = made(1, 1)
    play(alone, 3)
    results += [play(used, 20), play(alone, 20)]
    print([child.exitcode for child in children], all(one == results[0] for one in results))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a fork")
def test_forked_processes_go_on_with_the_same_games() -> None:
    """Threads do not survive a fork; the child starts its own."""
    done = subprocess.run(
        [sys.executable, "-c", FORK],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert (done.stdout, done.returncode) == ("[0, 0] True\n", 0), done.stderr
