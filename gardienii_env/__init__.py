"""Reinforcement-learning environment of the card game Gardienii Dragonilor (Dragonkeepers)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gardienii_env.envs.register import register_gymnasium
from gardienii_env.errors import (
    AgentError,
    DealError,
    GardieniiError,
    IllegalActionError,
    OptionError,
    RecordError,
    RulesetError,
)
from gardienii_env.game import Game
from gardienii_env.observation import layout, unflatten
from gardienii_env.rules.actions import ACTIONS, NUM_ACTIONS
from gardienii_env.rules.ruleset import Ruleset

if TYPE_CHECKING:
    from gardienii_env import gardienii_v0
    from gardienii_env.envs.batch import GardieniiBatch

__version__ = "0.1.0"

__all__ = [
    "ACTIONS",
    "NUM_ACTIONS",
    "AgentError",
    "DealError",
    "Game",
    "GardieniiBatch",
    "GardieniiError",
    "IllegalActionError",
    "OptionError",
    "RecordError",
    "Ruleset",
    "RulesetError",
    "gardienii_v0",
    "layout",
    "unflatten",
]

register_gymnasium()


def __getattr__(name: str) -> Any:
    """Import the environments, and with one of them PettingZoo, when they are first asked for."""
    from importlib import import_module

    if name == "gardienii_v0":
        return import_module("gardienii_env.gardienii_v0")
    if name == "GardieniiBatch":
        return import_module("gardienii_env.envs.batch").GardieniiBatch
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
