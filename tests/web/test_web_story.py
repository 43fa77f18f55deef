"""What a move did: whole sets, and what they earned; and that all is compiled first."""

from __future__ import annotations

import random
import subprocess
import sys
from typing import Any

import pytest
from helpers import play

from gardienii_env import Game
from gardienii_env.render.scene import scene
from gardienii_env.render.texts import LANGUAGES
from gardienii_env.rules.cards import CARD_INDEX
from gardienii_env.web.story import do_move, gain_words, move_words


@pytest.mark.parametrize(
    ("players", "ruleset"), [(2, "gardienii"), (4, "dragonkeepers"), (3, "gardienii")]
)
def test_sets_and_gains_are_those_of_the_game(players: int, ruleset: str) -> None:
    """Told sets are the cards that came into the columns, and gains what the bank lost."""
    rng, sets = random.Random(players), 0
    for seed in range(3):
        game = Game.new(players, ruleset, seed)
        values = game.batch.rules[0]["card_value"]
        while not game.is_over:
            legal = game.legal_actions()
            plays = [name for name in legal if name.startswith("play")]
            before, old = game.state.copy(), scene(game)
            move = do_move(game, rng.choice(plays or legal))
            seat, new = move["seat"], scene(game)
            assert (seat, move["turn"]) == (old["deciding"], old["turn"])
            grown = game.state["column_cards"].sum(axis=1) - before["column_cards"].sum(axis=1)
            if move["set"] is None:
                assert not grown.any()
                continue
            sets += 1
            cards, gains = move["set"]["cards"], move["set"]["gains"]
            assert len(cards) == move["set"]["number"] == old["spell"]["number"] == grown[seat]
            assert move["set"]["colour"] == old["spell"]["colour"]
            assert cards == sorted(cards, key=lambda card: CARD_INDEX[card])
            points = game.state["dragon_points"][seat] - before["dragon_points"][seat]
            assert sum(int(values[CARD_INDEX[card]]) for card in cards) == points
            own, was = new["seats"][seat], old["seats"][seat]
            for name in ("pearls", "crystals", "golden_eggs"):
                assert gains.get(name, 0) == own[name] - was[name]
                assert gains.get(name, 0) == old["bank"][name] - new["bank"][name]
            assert (
                gains.get("dark_dragons", 0) == old["bank"]["dark_dragons"] - new["bank"]["dark_dragons"]
            )
            assert gains.get("crest") == (own["crest"] if own["crest"] != was["crest"] else None)
            lost = {p["points"]: p["count"] for p in old["bank"]["pieces"]}
            for p in new["bank"]["pieces"]:
                lost[p["points"]] -= p["count"]
            assert [points for points, n in lost.items() if n] == (
                [gains["piece"]] if "piece" in gains else []
            )
    assert sets > 20


def test_what_was_forced_is_told_with_what_was_chosen() -> None:
    """Decisions without a choice are not in the record; some sets are longer than what was chosen."""
    record = play(Game.new(2, seed=3), random.Random(3)).to_record()
    game, chosen, forced = Game.from_record(record, 0), 0, 0
    for made in record["moves"]:
        move = do_move(game, made["action"])
        chosen += made["action"].startswith("play:")
        if move["set"] is not None:
            forced += len(move["set"]["cards"]) - chosen
            chosen = 0
    assert forced > 0


def test_a_move_in_words() -> None:
    gains = {"piece": 4, "pearls": 1, "dark_dragons": 2, "crest": 16}
    done = {"cards": ["B3", "B5"], "number": 2, "colour": "B", "gains": gains}
    move: dict[str, Any] = {"step": "play", "action": "play:B5", "card": "B5", "set": done}
    assert move_words("en", move) == (
        "plays B3 and B5 (2 blue dragons); "
        "gets: a piece of 4 points, 1 pearl, 2 dark dragons, a crest of 16 points"
    )
    assert move_words("de", {**move, "set": None}) == "spielt B5 aus"
    column = {**move, "step": "column", "action": "column:left", "card": None}
    assert "left end; plays B3 and B5" in move_words("en", column)
    for language in LANGUAGES:
        assert "16" in gain_words(language, gains)


WARM = """
import random, sys, tempfile
from numba.core.dispatcher import Dispatcher
from gardienii_env import Game, Ruleset
from gardienii_env.agents import make_agent
from gardienii_env.web.games import Games
from gardienii_env.web.host import Host
from gardienii_env.web.run import warm_up

def compiled():
    modules = [m for name, m in list(sys.modules.items()) if name.startswith("gardienii_env")]
    found = [o for m in modules for o in vars(m).values() if isinstance(o, Dispatcher)]
    return {(o.py_func.__module__, o.py_func.__qualname__, str(s)) for o in found for s in o.signatures}

names = ["greedy", "planner", "ismcts:20"]
host = Host(Games(tempfile.mkdtemp()), {n: make_agent(n) for n in names},
            {n: Ruleset.get(n) for n in ("gardienii", "dragonkeepers")})
warm_up(host)
before = compiled()
assert len(before) > 5, before
from gardienii_env.web.judge import choose, judge_position
for ruleset in host.rulesets.values():
    for players in (2, 4):
        game = host.games.new(ruleset, players, names[: players - 1], 0)
        rng = random.Random(players)
        while not game.game.is_over:
            action = rng.choice(game.game.legal_actions())
            if len(game.game.moves) in (5, 40):
                for agent in host.agents.values():
                    choose(agent, game.game.clone(), 1), judge_position(agent, game.game.clone(), 1)
            game.game.apply(action)
        host._changed(game)
        host.state(game, 0)
print(sorted(compiled() - before))
"""


def test_all_is_compiled_before_the_address_is_told() -> None:
    """After getting ready nothing that the server does needs a function to be compiled any more."""
    done = subprocess.run([sys.executable, "-c", WARM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
