"""The replay of a recorded game: all that its page shows as plain data, and the page itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from gardienii_env.agents import Agent
from gardienii_env.errors import OptionError, shown
from gardienii_env.game import Game
from gardienii_env.record import replay
from gardienii_env.render.scene import scene
from gardienii_env.web.changes import difference
from gardienii_env.web.judge import Verdict, judge_game
from gardienii_env.web.pages import single_page
from gardienii_env.web.story import do_move

__all__ = ["replay_data", "replay_page", "rule_numbers"]

DIGITS = 4


def replay_page(
    record: Mapping[str, Any],
    judges: Sequence[Agent] = (),
    language: str = "en",
    names: Sequence[str | None] | None = None,
) -> str:
    """A page, HTML in UTF-8, that shows a game step by step; it needs no network and no other file.

    Args:
        record: the game, over or not.
        judges: agents that tell for each decision what they would have done.
        language: in which the page opens, one of `LANGUAGES`.
        names: of the players by seat; None: only the seats are told.

    Raises RecordError, with the number of the move, if the record does not replay; AgentError if a judge
    does not fit the game or fails in it; OptionError for a wrong language, number of names, or name.
    """
    return single_page("replay.js", language, replay_data(record, judges, names))


def replay_data(
    record: Mapping[str, Any],
    judges: Sequence[Agent] = (),
    names: Sequence[str | None] | None = None,
) -> dict[str, Any]:
    """What the page shows, as plain data. Raises as `replay_page`.

    - `names`: of the players, None where there is none; `seed`: of the record, as text, or None.
    - `first`: the scene before the first move; `changes`: what each move changes (see `changes.py`). The
      hands of all seats are open; decks and pearls left are not.
    - `rules`: see `rule_numbers`; `moves`: see `story.do_move`; `scores`: of each seat, before the first
      and after each move, as if the game ended there.
    - `judges`: `name`, `scale` of the options' values, and `verdicts`, one for each move, as
      [choice, value, options], each option as [action, share, visits, value]; see `judge.Verdict`.
    """
    replay(record)  # what is wrong is refused before anything is made of it
    game = replay(record, 0)
    names = _check_names([None] * game.num_players if names is None else names, game.num_players)
    scenes: list[Any] = [scene(game, open_hands=True)]
    scores, moves = [game.scores()], []
    for move in record["moves"]:
        moves.append(do_move(game, move["action"]))
        scenes.append(scene(game, open_hands=True))
        scores.append(game.scores())
    return {
        "names": names,
        "seed": None if game.seed is None else str(game.seed),  # JavaScript would round it
        "rules": rule_numbers(game),
        "first": scenes[0],
        "changes": [difference(old, new) for old, new in pairwise(scenes)],
        "moves": moves,
        "scores": scores,
        "judges": [_judged(agent, record) for agent in judges],
    }


def rule_numbers(game: Game) -> dict[str, int]:
    """Numbers of the ruleset that the pages tell."""
    rules = game.ruleset
    return {
        "take_limit": rules.take_limit,
        "egg_points": rules.egg_points,
        "egg_majority_points": rules.egg_majority_points,
    }


def _check_names(names: Sequence[str | None], num_players: int) -> list[str | None]:
    """The names, one for each player; OptionError if they are not that."""
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise OptionError(f"names: {shown(names)} is no list; give one with a name for each player.")
    if len(names) != num_players:
        raise OptionError(f"names: {len(names)} for {num_players} players; give one for each.")
    for name in names:
        if name is None:
            continue
        if not isinstance(name, str):
            raise OptionError(f"names: {shown(name)} is no text; give a name, or None for no name.")
        if not "".join(name.split()).isprintable():
            raise OptionError(f"names: {shown(name)} holds characters that cannot be shown.")
    return list(names)


def _judged(agent: Agent, record: Mapping[str, Any]) -> dict[str, Any]:
    verdicts = judge_game(agent, record)
    in_points = any(verdict["scale"] == "points" for verdict in verdicts)
    scale = "points" if in_points else "payoff"
    return {"name": agent.name, "scale": scale, "verdicts": list(map(_packed, verdicts))}


def _packed(verdict: Verdict) -> list[Any]:
    options = [
        [given["action"], _short(given["share"]), given["visits"], _short(given["value"])]
        for given in verdict["options"]
    ]
    return [verdict["choice"], _short(verdict["value"]), options]


def _short(number: float | None) -> float | None:
    return None if number is None else round(number, DIGITS)
