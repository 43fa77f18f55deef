"""Gardienii Dragonilor as a PettingZoo environment: `gardienii_v0.env()`.

    from gardienii_env import gardienii_v0

    env = gardienii_v0.env(num_players=3)
    env.reset(seed=17)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        if termination or truncation:
            action = None
        else:
            action = env.action_space(agent).sample(observation["action_mask"])
        env.step(action)

| | |
| --- | --- |
| creation | `gardienii_v0.env()`; this module imported, also `pettingzoo.make("aec", "gardienii-v0")` |
| agents | `player_0` … `player_3`: 2, 3 or 4; `player_0` starts |
| order | by the rules: one agent may decide many times in a row, others may be left out |
| actions | `Discrete(73)` |
| observations | `Dict(observation=Box(0, 1, (size,), float32), action_mask=Box(0, 1, (73,), int8))` |
| rewards | zero-sum at the end (`payoff`, `margin`), or points as they are earned |
| parallel interface | no: one agent decides at a time |
| rendering | `ansi`: text for the agent that decides; `rgb_array`, `human`: a picture for a spectator |
| rules | the page `docs/rules.md`; rulesets `gardienii`, `dragonkeepers`, or your own |

**Arguments** of `env` and `raw_env`:

| argument | default | meaning |
| --- | --- | --- |
| `num_players` | `2` | 2, 3 or 4 |
| `ruleset` | `"gardienii"` | a shipped name, the path of a TOML or JSON file, a dict or a `Ruleset` |
| `view` | `"table"` | what an agent sees now; `"recall"`: also what it has seen before |
| `reward` | `"payoff"` | see below |
| `render_mode` | `None` | `"ansi"`: text; `"rgb_array"`: pixels; `"human"`: a window (extra `render`) |
| `render_size` | `(1280, 800)` | width and height of the picture or the window, in pixels |
| `render_language` | `"en"` | of the words on the board; also `"de"`, `"hu"`, `"ro"` |

A wrong one raises `OptionError` or `RulesetError`.

**Observation.** `observation` is a flat vector, seen from the agent's own seat: own part first, then
clockwise. Its size and parts depend on `num_players` and `view` alone. `gardienii layout` on the command
line prints the table of them; `gardienii_env.layout(num_players, view)` lists name, place, scale and
meaning of each, and `gardienii_env.unflatten` turns a vector into named whole numbers. Nothing that the
agent cannot know moves a number.

**Action mask.** `action_mask` is 1 for each legal action: two or more for the agent that decides, none
for the others and when the game is over. A decision with one legal action only is made automatically.

**Actions** (`gardienii_env.ACTIONS` has their names by id):

| id | name | meaning |
| --- | --- | --- |
| 0-3 | `take:L0` `take:L1` `take:R0` `take:R1` | take that supply card |
| 4 | `pass` | stop taking, lay no further card, play nothing |
| 5-37 | `modify:<card>` | lay a card of that type on the deck of its side |
| 38-70 | `play:<card>` | play a card of that type |
| 71-72 | `column:left` `column:right` | the end of the tableau where the new column goes |

An illegal action ends the game in `env`, with the reward -1 for its agent and 0 for the others; in
`raw_env` it raises `IllegalActionError` and changes nothing.

**Rewards.**

| `reward` | when | what |
| --- | --- | --- |
| `payoff` | at the end | sum 0; of N players, k winners get (N/k - 1)/(N - 1) each, others -1/(N - 1) |
| `margin` | at the end | own points less the mean of the others', over 50 |
| `points` | as they change | the change of the own points; the sum is the final score |

**End.** All agents end in the same step: truncated by the turn limit, terminated otherwise. Their
`infos` then hold `points` by source, `score`, `payoff`, `winner`, `end` and `turns`; until then they are
empty.

**Reset.** `reset(seed)` deals the game of `Game.new(seed=seed)`; without a seed it deals the next game
of the sequence that the last seed began. `reset(options={"deal": deal})` deals a given deal, as in a
game record. `env.game` is the game as a `Game`: names, points, records.

**Versions.** v0: first release. Rules, actions and observations of a version never change.
"""

from __future__ import annotations

from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from gardienii_env.envs.aec import GardieniiEnv, Observation
from gardienii_env.envs.outcome import Reward
from gardienii_env.envs.register import register_pettingzoo
from gardienii_env.game import RulesetLike
from gardienii_env.observation import View
from gardienii_env.render.modes import DEFAULT_SIZE
from gardienii_env.rules.ruleset import SHIPPED

__all__ = ["env", "raw_env"]

ILLEGAL_REWARD = -1.0

raw_env = GardieniiEnv
"""The environment without PettingZoo's wrappers: faster, and an illegal action raises an error."""


def env(
    num_players: int = 2,
    ruleset: RulesetLike = SHIPPED[0],
    view: View = "table",
    reward: Reward = "payoff",
    render_mode: str | None = None,
    render_size: tuple[int, int] = DEFAULT_SIZE,
    render_language: str = "en",
) -> AECEnv[str, Observation, int | None]:
    """The environment in PettingZoo's usual wrappers; for the arguments see above.

    They end the game on an illegal action, assert that an action is one of the 73, and see that
    `reset` comes first.
    """
    raw = raw_env(num_players, ruleset, view, reward, render_mode, render_size, render_language)
    terminating = wrappers.TerminateIllegalWrapper(raw, illegal_reward=ILLEGAL_REWARD)
    bounded = wrappers.AssertOutOfBoundsWrapper(terminating)
    return wrappers.OrderEnforcingWrapper(bounded)


register_pettingzoo()
