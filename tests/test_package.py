"""The package as a whole: its public names, its version, and how little importing it loads."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import entry_points, version

import pytest

import gardienii_env
from gardienii_env import errors
from gardienii_env.cli import main

PUBLIC = {
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
}
HEAVY = {
    "matplotlib",
    "minari",
    "onnxruntime",
    "open_spiel",
    "pettingzoo",
    "pygame",
    "pyspiel",
    "ray",
    "rich",
    "sb3_contrib",
    "stable_baselines3",
    "starlette",
    "tensorboard",
    "torch",
    "tqdm",
    "uvicorn",
}


def test_the_public_names_are_these_and_all_exist() -> None:
    assert set(gardienii_env.__all__) == PUBLIC
    for name in PUBLIC:
        assert getattr(gardienii_env, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'gardienii_env' has no attribute 'gardienii_v9'"):
        _ = gardienii_env.gardienii_v9


def test_every_error_is_a_gardienii_error_and_a_value_error() -> None:
    names = [name for name in errors.__all__ if name.endswith("Error")]
    assert set(names) >= {name for name in PUBLIC if name.endswith("Error")}
    for name in names:
        assert issubclass(getattr(errors, name), gardienii_env.GardieniiError)
        assert issubclass(getattr(errors, name), ValueError)


def test_the_version_is_that_of_the_installed_package() -> None:
    assert gardienii_env.__version__ == version("gardienii-env")


def test_the_program_is_installed() -> None:
    (script,) = entry_points(group="console_scripts", name="gardienii")
    assert script.load() is main


@pytest.mark.parametrize(
    "code",
    [
        "import gardienii_env",
        "import gardienii_env.agents, gardienii_env.arena",
        "from gardienii_env.cli import main; main(['rules'])",
    ],
)
def test_importing_loads_nothing_heavy(code: str) -> None:
    code += "; import json, sys; print(); print(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}
    assert "gardienii_env" in loaded
    assert not loaded & HEAVY
