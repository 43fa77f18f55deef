"""Rules of your own, and a tournament that shows which agents like them.

Here the game is short, crystals buy as many cards as one likes but are worth nothing at the end, and a
set of one dragon earns no amulet piece. Rules can also live in a file: write one out with `gardienii
rules --format toml > mine.toml`, edit it, and give it with --ruleset mine.toml.

Install, in a clone of this repository:

    pip install -c constraints.txt -e ".[arena]"

Run: python examples/custom_ruleset.py --deals 200
"""

from __future__ import annotations

import argparse

from gardienii_env import Game, Ruleset
from gardienii_env.agents import make_agent
from gardienii_env.arena import play_tournament
from gardienii_env.arena.text import tournament_report


def short_game() -> Ruleset:
    """The ruleset `gardienii` with some fields changed; a wrong value raises RulesetError."""
    usual = Ruleset.get("gardienii")
    prizes = usual.to_dict()["prizes"]
    prizes["1"] = {"piece": "none", "crystals": 2}
    return usual.replace(
        name="short",
        amulets_to_end={"2": 4, "3": 5, "4": 6},  # by the number of players
        crystal_points=0,
        prizes=prizes,
    )


def main() -> None:
    """Play a tournament under these rules and print the arena's report."""
    parser = argparse.ArgumentParser(description="A tournament under rules of your own.")
    parser.add_argument("--deals", type=int, default=50, help="deals at each table")
    parser.add_argument("--agents", default="planner,greedy,random", help="see docs/agents.md")
    parser.add_argument("--ruleset", help="a name or a file, in place of these rules")
    parser.add_argument("--players", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    ruleset = Ruleset.get(options.ruleset) if options.ruleset else short_game()
    print(Game.new(options.players, ruleset, seed=options.seed))
    agents = [make_agent(name) for name in options.agents.split(",")]
    result = play_tournament(agents, ruleset, options.deals, options.seed, num_players=options.players)
    print(tournament_report(result))


if __name__ == "__main__":
    main()
