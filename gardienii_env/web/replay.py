"""The replay of a recorded game: all that its page shows as plain data, and the page itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from gardienii_env.agents import Agent
from gardienii_env.errors import OptionError
from gardienii_env.game import Game
from gardienii_env.record import replay
from gardienii_env.render.scene import scene
from gardienii_env.rules.actions import ACTIONS, action_id
from gardienii_env.rules.cards import CARDS, SIDES
from gardienii_env.web.changes import difference
from gardienii_env.web.judge import Verdict, judge_game
from gardienii_env.web.pages import single_page

__all__ = ["move_data", "replay_data", "replay_page"]

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
    does not fit the game or fails in it; OptionError for a wrong language or number of names.
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
    - `moves`: see `move_data`; `scores`: of each seat, before the first and after each move, as if the
      game ended there.
    - `judges`: `name`, and `verdicts`, one for each move, as [choice, value, options], each option as
      [action, share, visits, value]; see `judge.Verdict`.
    """
    replay(record)  # what is wrong is refused before anything is made of it
    game = replay(record, 0)
    if names is not None and len(names) != game.num_players:
        raise OptionError(f"names: {len(names)} for {game.num_players} players; give one for each.")
    scenes: list[Any] = [scene(game, open_hands=True)]
    scores, moves = [game.scores()], []
    for move in record["moves"]:
        moves.append(move_data(game, move["action"]))
        game.apply(move["action"])
        scenes.append(scene(game, open_hands=True))
        scores.append(game.scores())
    return {
        "names": [None] * game.num_players if names is None else list(names),
        "seed": None if game.seed is None else str(game.seed),  # JavaScript would round it
        "first": scenes[0],
        "changes": [difference(old, new) for old, new in pairwise(scenes)],
        "moves": moves,
        "scores": scores,
        "judges": [
            {"name": agent.name, "verdicts": list(map(_packed, judge_game(agent, record)))}
            for agent in judges
        ],
    }


def move_data(game: Game, action: str | int) -> dict[str, Any]:
    """A move before it is made: `seat`, `step`, `action`, and the `card` that is moved, if any."""
    action = ACTIONS[action_id(action)]
    kind, _, what = action.partition(":")
    card = what if kind in ("modify", "play") else None
    if kind == "take":
        side, place = SIDES.index(what[0]), int(what[1])
        card = CARDS[game.state["supply"][side, place]]
    return {"seat": game.player, "step": game.step, "action": action, "card": card}


def _packed(verdict: Verdict) -> list[Any]:
    options = [
        [given["action"], _short(given["share"]), given["visits"], _short(given["value"])]
        for given in verdict["options"]
    ]
    return [verdict["choice"], _short(verdict["value"]), options]


def _short(number: float | None) -> float | None:
    return None if number is None else round(number, DIGITS)
