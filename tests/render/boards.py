"""The golden boards: the text board of each phase of a game, for people to read and tests to compare.

    python tests/render/boards.py

writes them anew, from the root of the repository: a file in `tests/golden/boards/` for each shipped
ruleset and number of players, and one for each language. Look at what `git diff` shows then.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import count, product
from pathlib import Path

from gardienii_env import Game
from gardienii_env.render.scene import scene
from gardienii_env.render.text import board
from gardienii_env.render.texts import LANGUAGES
from gardienii_env.rules.ruleset import SHIPPED

FOLDER = Path(__file__).parent.parent / "golden" / "boards"


def no_open_set(game: Game) -> bool:
    return not scene(game)["open"]


def closed(game: Game) -> bool:
    return any(column["closed"] for seat in scene(game)["seats"] for column in seat["columns"])


Phase = Callable[[Game], bool]

PHASES: dict[str, Phase] = {
    "take the first card": lambda game: game.step == "take" and "pass" not in game.legal_actions(),
    "take or stop": lambda game: game.step == "take" and "pass" in game.legal_actions(),
    "take for a crystal": lambda game: game.step == "take" and scene(game)["taken"] >= 3,
    "modify": lambda game: game.step == "modify",
    "modify once more": lambda game: game.step == "modify" and bool(game.state["laid"].any()),
    "play": lambda game: game.step == "play" and no_open_set(game),
    "follow": lambda game: game.step == "play" and game.player != game.state["active"],
    "an open set": lambda game: game.step == "play" and not no_open_set(game),
    "where the new column goes": lambda game: game.step == "column",
    "closed columns": closed,
    "a crest": lambda game: bool((game.state["crest"] >= 0).any()),
    "the end": lambda game: game.is_over,
}
ONLY = {"modify once more": "dragonkeepers", "where the new column goes": "dragonkeepers"}
ONLY["closed columns"] = "dragonkeepers"
"""What there is under one ruleset only."""


def positions(players: int, ruleset: str) -> Iterator[Game]:
    """Positions of games in which much is played; each game goes on to its end."""
    weights = {"play": 30, "pass": 0.5}
    for seed in count():
        game, rng = Game.new(players, ruleset, seed), random.Random(seed)
        while True:
            yield game
            if game.is_over:
                break
            legal = game.legal_actions()
            chances = [weights.get(action.partition(":")[0], 1) for action in legal]
            game.apply(rng.choices(legal, chances)[0])


def phases(players: int, ruleset: str) -> dict[str, Game]:
    """A position of each phase that the ruleset has, in order: the first of its kind from turn 3 on."""
    missing = [name for name in PHASES if ONLY.get(name, ruleset) == ruleset]
    names, found = list(missing), dict[str, Game]()
    for game in positions(players, ruleset):
        if game.turns >= 2:
            for name in [name for name in missing if PHASES[name](game)]:
                found[name] = game.clone()
                missing.remove(name)
        if not missing:
            return {name: found[name] for name in names}
    raise AssertionError("there is no end of positions")


def boards(players: int, ruleset: str) -> str:
    """The boards of all phases as their deciders see them, and the end as a spectator sees it."""
    shown = [
        f"== {name}\n\n{board(game, game.player)}\n" for name, game in phases(players, ruleset).items()
    ]
    return "\n".join(shown)


def boards_in(language: str) -> str:
    """Some boards in a language."""
    found = phases(3, "dragonkeepers")
    names = ("take or stop", "an open set", "closed columns", "the end")
    return "\n".join(
        f"== {name}\n\n{board(found[name], found[name].player, language=language)}\n" for name in names
    )


FILES: dict[str, Callable[[], str]] = {
    **{
        f"{ruleset}-{players}.txt": lambda players=players, ruleset=ruleset: boards(players, ruleset)  # type: ignore[misc]
        for ruleset, players in product(SHIPPED, (2, 3, 4))
    },
    **{f"{code}.txt": lambda code=code: boards_in(code) for code in LANGUAGES},  # type: ignore[misc]
}
"""What stands in each file."""


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, make in FILES.items():
        (FOLDER / name).write_text(make(), encoding="utf-8")
