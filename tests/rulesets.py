"""Rulesets for tests: the shipped ones, every switch the other way, and what goes to extremes."""

from __future__ import annotations

from itertools import product
from typing import Any

from gardienii_env import Ruleset
from gardienii_env.rules.ruleset import SHIPPED

COMBINATIONS = tuple(product(SHIPPED, (2, 3, 4)))
"""The shipped rulesets, each with every number of players."""


def varied(base: str, **changes: Any) -> Ruleset:
    """A shipped ruleset with some fields changed, and these in its name."""
    changed = ", ".join(f"{field}={value}" for field, value in changes.items() if field in SWITCHES)
    return Ruleset.get(base).replace(**{"name": f"{base} with {changed}", **changes})


SWITCHES: dict[str, tuple[Any, ...]] = {
    "supply_per_deck": (1, 2),
    "modifications_per_turn": (0, 1, 2),
    "crystals_per_turn": (0, 1, 10),
    "enclosed_columns_close": (False, True),
    "dragons_score": (False, True),
    "crystal_points": (0, 1, 3),
    "take_limit": (1, 2),
}
"""What the variations of the shipped rulesets change, one at a time."""

NOTHING = {"piece": "none"}
NO_PRIZES = {str(number): NOTHING for number in range(1, 7)}
RICH_PRIZES = {
    "1": {"piece": "highest", "crystals": 4},
    "2": {"piece": "lowest", "crystals": 3, "dark_dragons": 2},
    "3": {"piece": "none", "crystals": 5, "golden_eggs": 2},
    "4": {"piece": "lowest", "golden_eggs": 3},
    "5": {"piece": "highest", "dark_dragons": 3},
    "6": {"piece": "none", "crystals": 20, "golden_eggs": 20, "dark_dragons": 20},
}
SHORT_DECKS = {
    "left_deck": {"W1": 2, "W2": 1, "R1": 2, "R2": 1, "B1": 2, "G3": 1, "D6": 1},
    "right_deck": {"Wr": 2, "Rw": 2, "Wb": 1, "Rb": 1, "Br": 1, "Gw": 1},
}
LOW_NUMBERS = {f"{colour}{number}": 5 for colour in "WRBG" for number in (1, 2)}


def same_for_all(count: int) -> dict[str, int]:
    """The same count for 2, 3 and 4 players."""
    return {"2": count, "3": count, "4": count}


ODD: tuple[Ruleset, ...] = (
    varied("gardienii", name="short decks", **SHORT_DECKS),
    varied("dragonkeepers", name="short decks, columns close", **SHORT_DECKS),
    varied(
        "gardienii",
        name="nothing but the supply",
        supply_per_deck=1,
        left_deck={"B2": 1},
        right_deck={"Rb": 1},
        starting_cards={"W1": 3, "B1": 4, "D6": 2, "Wb": 1},
    ),
    varied("gardienii", name="five turns", turn_limit=5),
    varied(
        "dragonkeepers",
        name="few tokens",
        left_deck=LOW_NUMBERS,
        pearls={"5": 1},
        crests=[7],
        crystals=2,
        golden_eggs=2,
        dark_dragons=1,
        amulet_pieces={"2": 5, "3": 4},
        pieces_removed=same_for_all(0),
        amulets_to_end=same_for_all(9),
        turn_limit=60,
    ),
    varied(
        "gardienii",
        name="no tokens",
        pearls={},
        crests=[],
        crystals=0,
        golden_eggs=0,
        dark_dragons=0,
        amulet_pieces={},
        pieces_removed=same_for_all(0),
        turn_limit=40,
    ),
    varied("dragonkeepers", name="no prizes", prizes=NO_PRIZES, turn_limit=30),
    varied(
        "gardienii",
        name="paying often, dear dark dragons",
        take_limit=1,
        left_deck=LOW_NUMBERS,
        prizes=RICH_PRIZES,
        crystals=20,
        dark_dragons=20,
        card_values={"1": 0, "2": 0, "3": 1, "4": 1, "5": 9, "colour": 0, "dark": 25},
        amulets_to_end=same_for_all(12),
    ),
    varied("gardienii", name="first amulet", amulets_to_end=same_for_all(1)),
    varied(
        "dragonkeepers",
        name="low numbers, columns close",
        pearls={"0": 3, "9": 3},
        left_deck=LOW_NUMBERS,
        amulets_to_end=same_for_all(30),
        turn_limit=80,
    ),
    varied(
        "gardienii",
        name="long games",
        take_limit=1,
        modifications_per_turn=2,
        left_deck=LOW_NUMBERS,
        prizes=NO_PRIZES,
        turn_limit=510,
        starting_cards={"W1": 2, "R2": 2, "D6": 2, "Wb": 2, "Wg": 1},
        dark_dragons=4,
        card_values={"1": 5, "2": 5, "3": 1, "4": 1, "5": 1, "colour": 4, "dark": 9},
    ),
    varied(
        "gardienii",
        name="all limits",
        modifications_per_turn=2,
        crystal_points=1000,
        take_limit=10,
        turn_limit=510,
        left_deck={"W1": 20, "R1": 20},
        right_deck={"Wr": 20, "Rw": 20, "Bw": 7},
        starting_cards={"G1": 20},
        dark_dragons=20,
        card_values={"1": 3, "2": 1000, "3": 1000, "4": 1000, "5": 1000, "colour": 0, "dark": 16},
        amulet_pieces={"0": 20, "500": 20, "1000": 20},
        pieces_removed=same_for_all(0),
        amulets_to_end=same_for_all(20),
        pearls={"12": 5, "13": 15},
        crystals=20,
        golden_eggs=20,
        egg_points=1000,
        egg_majority_points=1000,
        crests=[1000, 1000, 0],
        prizes={
            number: {"piece": "lowest", "crystals": 20, "dark_dragons": 20, "golden_eggs": 20}
            for number in RICH_PRIZES
        },
    ),
)
"""Rulesets far from the shipped ones: where something runs out, or never does."""

VARIATIONS: dict[str, Ruleset] = {
    ruleset.name: ruleset
    for ruleset in (
        *(
            varied(base, **{switch: value})
            for base in SHIPPED
            for switch, values in SWITCHES.items()
            for value in values
            if getattr(Ruleset.get(base), switch) != value
        ),
        *ODD,
    )
}
"""Custom rulesets by name: every switch the other way, and the odd ones."""
