"""Golden files pin what `gardienii_v0` must never change: rules, layouts, and what a seed deals.

They were made once: the records by `gardienii record --players N --ruleset R --agents random --games 2
--seed 7 --with-legal`, the rest by `layouts()` and `digest()` below. A difference here is a breaking
change: it needs a new version of the environment, not new files.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gardienii_env import ACTIONS, Game, layout
from gardienii_env.observation import VIEWS
from gardienii_env.record import read_file, verify

GOLDEN = Path(__file__).parent / "golden"
RECORDS = sorted(GOLDEN.glob("*.jsonl"))


def layouts() -> dict[str, Any]:
    """Every part of every layout: name, start, shape and scale."""
    return {
        f"{players}-{view}": [[p.name, p.start, list(p.shape), p.scale] for p in layout(players, view)]
        for players in (2, 3, 4)
        for view in VIEWS
    }


def digest(record: dict[str, Any]) -> str:
    """SHA-256 of all observations, masks and points of a record's game, decision by decision."""
    game = Game.from_deal(record["deal"], record["players"], record["ruleset"])
    sha = hashlib.sha256()
    for move in [*record["moves"], None]:
        for seat in range(game.num_players):
            for view in VIEWS:
                counts = game.observe(seat, view) / layout(game.num_players, view).factors
                sha.update(np.rint(counts).astype(np.uint8).tobytes())
        sha.update(game.legal_mask().tobytes())
        sha.update(json.dumps(game.points()).encode())
        if move is not None:
            game.apply(move["action"])
    return sha.hexdigest()


def test_there_is_a_golden_file_for_each_ruleset_and_number_of_players() -> None:
    names = {f"{r}-{n}.jsonl" for r in ("gardienii", "dragonkeepers") for n in (2, 3, 4)}
    assert {path.name for path in RECORDS} == names


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_golden_records_replay_to_the_same_final(path: Path) -> None:
    for _, record in read_file(path):
        assert verify(record).is_over


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_seed_deals_what_it_dealt(path: Path) -> None:
    for _, record in read_file(path):
        game = Game.new(record["players"], record["ruleset"], record["seed"])
        assert game.deal() == record["deal"]


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_observations_are_what_they_were(path: Path) -> None:
    expected = json.loads((GOLDEN / "observations.json").read_text())
    assert [digest(record) for _, record in read_file(path)] == expected[path.stem]


def test_layouts_are_what_they_were() -> None:
    assert layouts() == json.loads((GOLDEN / "layouts.json").read_text())


def test_actions_are_what_they_were() -> None:
    assert list(ACTIONS) == json.loads((GOLDEN / "actions.json").read_text())
