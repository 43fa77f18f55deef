"""`sb3:FILE.zip` and `python:MODULE:ATTRIBUTE`: what is played, what is shown, and what is refused."""

from __future__ import annotations

import copy
import pickle
import random
import re
import shlex
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from helpers import play
from rulesets import COMBINATIONS, ODD, VARIATIONS
from sb3_contrib import MaskablePPO, RecurrentPPO
from stable_baselines3 import A2C, DQN, PPO

from gardienii_env import ACTIONS, AgentError, Game, GardieniiError, Ruleset, layout
from gardienii_env.agents import make_agent, make_agents, new_streams
from gardienii_env.agents.external import FunctionAgent, PolicyAgent, load_sb3
from gardienii_env.agents.external import _as_known as as_known
from gardienii_env.arena import duplicate_match
from gardienii_env.cli import main
from gardienii_env.envs.sb3 import GardieniiVecEnv
from gardienii_env.envs.single import GardieniiSingleEnv
from gardienii_env.errors import MissingExtraError
from gardienii_env.observation import VIEWS, View
from gardienii_env.record import read_file
from gardienii_env.rules.batch import Batch
from gardienii_env.rules.random import seed_streams

README = Path(__file__).parents[2] / "README.md"
ALGORITHMS = (MaskablePPO, PPO, A2C, DQN)
ONE = np.zeros(1, np.int64)


# -- models of stable-baselines3 -------------------------------------------------------------------


def model_of(algorithm: Any, players: int = 2, view: View = "table", seed: int = 1) -> Any:
    """An untrained model; its first weights are as good as any others."""
    env = GardieniiVecEnv(1, opponents="random", num_players=players, view=view)
    options = {"buffer_size": 1} if algorithm is DQN else {}
    return algorithm(
        "MlpPolicy", env, policy_kwargs={"net_arch": [8]}, seed=seed, device="cpu", **options
    )


def saved(folder: Path, model: Any) -> str:
    model.save(folder / "model.zip")
    return str(folder / "model.zip")


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: algorithm.__name__)
def test_a_saved_model_plays_what_it_finds_best(tmp_path: Path, algorithm: Any) -> None:
    model = model_of(algorithm, 3, "recall")
    name = f"sb3:{saved(tmp_path, model)}"
    agent = make_agent(name, trust=True)
    assert agent.name == name
    game, rng, freely = Game.new(3, seed=1), random.Random(1), 0
    while not game.is_over:
        assert game.player is not None
        seen, mask = game.observe(game.player, "recall"), game.legal_mask()
        chosen = agent.choose(game)
        if algorithm is MaskablePPO:
            best, _ = model.predict(seen, deterministic=True, action_masks=mask)
            assert chosen == ACTIONS[int(best)]
        else:
            best, _ = model.predict(seen, deterministic=True)
            if mask[int(best)]:
                freely += 1
                assert chosen == ACTIONS[int(best)]
        game.apply(chosen)
        play(game, rng, 4)
    assert freely > 0 or algorithm is MaskablePPO


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_players_and_view_are_found(tmp_path: Path, players: int, view: View) -> None:
    agent = load_sb3(saved(tmp_path, model_of(MaskablePPO, players, view)))
    assert (agent.num_players, agent.view) == (players, view)
    for other in (2, 3, 4):
        if other == players:
            agent.check(Ruleset.get("dragonkeepers"), other)
            continue
        with pytest.raises(AgentError, match=f"of {players} players .*, and this game has {other}"):
            agent.check(Ruleset.get("gardienii"), other)
        with pytest.raises(AgentError, match=f"this game has {other}"):
            agent.choose(Game.new(other, seed=1))


def test_every_layout_has_another_length() -> None:
    assert len({layout(players, view).size for players in (2, 3, 4) for view in VIEWS}) == 6


def test_a_model_does_not_depend_on_the_other_games(tmp_path: Path) -> None:
    agent = load_sb3(saved(tmp_path, model_of(MaskablePPO)))
    batch = dealt("gardienii", 2, 70)
    streams, everything = new_streams(1, 70), np.arange(70)
    together = agent.act(batch, everything, streams)
    for games in (everything[::-1], everything[5:6], everything[:33], everything[:0]):
        assert agent.act(batch, games, streams).tolist() == together[games].tolist()
    assert len(set(together.tolist())) > 1


def test_a_model_sees_what_its_seat_sees(tmp_path: Path) -> None:
    agent = load_sb3(saved(tmp_path, model_of(MaskablePPO, 2, "recall")))
    game, rng = Game.new(seed=1), random.Random(1)
    while not play(game, rng, 4).is_over:
        assert game.player is not None
        expected = agent.choose(game)
        assert all(agent.choose(game.resample(game.player, seed)) == expected for seed in range(3))


def test_a_model_plays_wherever_agents_play(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = f"sb3:{saved(tmp_path, model_of(MaskablePPO))}"
    agent = make_agent(name, trust=True)
    for other in (copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))):
        assert other.choose(Game.new(seed=3)) == agent.choose(Game.new(seed=3))
    assert duplicate_match([agent, make_agent("random")], "gardienii", 1, 1).num_games == 2
    GardieniiSingleEnv([agent]).reset(seed=1)
    with pytest.raises(AgentError, match="of 2 players"):
        GardieniiSingleEnv(agent, num_players=3)
    assert main(["record", "--agents", name, "--trust", "--out", "-"]) == 0
    assert main(["record", "--agents", name, "--trust", "--players", "3", "--out", "-"]) == 2
    assert "of 2 players (view 'table'), and this game has 3" in capsys.readouterr().err


class Other(gymnasium.Env[Any, Any]):
    """An environment with other observations or actions."""

    def __init__(self, seen: spaces.Space[Any], actions: spaces.Space[Any]) -> None:
        self.observation_space, self.action_space = seen, actions

    def reset(self, **options: Any) -> Any:
        return self.observation_space.sample(), {}


FLAT = spaces.Box(0.0, 1.0, (layout(2).size,), np.float32)


@pytest.mark.parametrize(
    ("seen", "actions", "words"),
    [
        (spaces.Box(0, 1, (7,), np.float32), 73, r"shape \(7,\) and type float32; no number of players"),
        (spaces.Box(0, 9, FLAT.shape, np.uint8), 73, "and type uint8; no number of players"),
        (FLAT, 72, r"to choose from Discrete\(72\), not from the 73"),
    ],
)
def test_models_of_other_games(tmp_path: Path, seen: Any, actions: int, words: str) -> None:
    path = saved(tmp_path, PPO("MlpPolicy", Other(seen, spaces.Discrete(actions)), device="cpu"))
    with pytest.raises(AgentError, match=words) as caught:
        load_sb3(path)
    assert str(caught.value).startswith(f"sb3:{path} was trained")


def test_a_model_that_remembers_is_refused(tmp_path: Path) -> None:
    env = Other(FLAT, spaces.Discrete(73))
    path = saved(tmp_path, RecurrentPPO("MlpLstmPolicy", env, n_steps=8, device="cpu"))
    with pytest.raises(AgentError, match="expected a model of MaskablePPO, PPO, A2C or DQN"):
        load_sb3(path)


def test_files_that_are_no_models(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match=r"sb3:none\.zip: there is no file"):
        load_sb3("none.zip")
    (tmp_path / "text.zip").write_text("this is text")
    with zipfile.ZipFile(tmp_path / "empty.zip", "w"):
        pass
    with zipfile.ZipFile(tmp_path / "data.zip", "w") as archive:
        archive.writestr("data", "{}")
    for name in ("text.zip", "empty.zip", "data.zip"):
        with pytest.raises(AgentError, match=f"{name} is not a model that stable-baselines3 can load"):
            load_sb3(str(tmp_path / name))


def test_sb3_that_is_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.zip").write_text("")
    monkeypatch.setitem(sys.modules, "stable_baselines3.common.save_util", None)
    with pytest.raises(MissingExtraError, match=r"gardienii-env\[sb3\]"):
        make_agent(f"sb3:{tmp_path / 'a.zip'}", trust=True)


def test_logits_that_are_no_numbers() -> None:
    model = model_of(MaskablePPO)
    model.policy.action_net.bias.data[:] = float("nan")
    with pytest.raises(AgentError, match="mine failed: ValueError: Expected parameter logits"):
        PolicyAgent(model.policy, "mine").choose(Game.new(seed=1))


# -- code of users: what is run --------------------------------------------------------------------


def dealt(ruleset: Any, players: int, games: int) -> Batch:
    batch = Batch(Ruleset.get(ruleset), players, games)
    for i in range(games):
        batch.states["rng"][i] = seed_streams(i, 1)[0]
        batch.deal(i)
    return batch


Write = Callable[[str], str]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Writes code into the module `users_code` in the current folder; gives the module's name."""
    before = set(sys.modules)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p not in ("", str(tmp_path))])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def write(code: str) -> str:
        (tmp_path / "users_code.py").write_text(code, encoding="utf-8")
        return "users_code"

    yield write
    for name in set(sys.modules) - before:
        if name.startswith("users_code"):
            del sys.modules[name]


AGENT = """
import numpy as np
from gardienii_env.agents import Agent

class Last(Agent):
    def __init__(self):
        self.seen = []
    def reset(self, seed=None):
        super().reset(seed)
        self.seen.append(seed)
    def act(self, batch, games, streams):
        return np.array([np.flatnonzero(mask)[-1] for mask in batch.masks[games]])

last = Last()
def first(game, rng):
    return game.legal_actions()[0]
def number(game, rng):
    return np.flatnonzero(game.legal_mask())[-1]
class Callable:
    def __call__(self, game, rng):
        return game.legal_actions()[0]
called = Callable()
"""


@pytest.mark.parametrize(
    ("attribute", "place"),
    [("Last", -1), ("last", -1), ("first", 0), ("number", -1), ("called", 0)],
)
def test_functions_classes_and_objects(write: Write, attribute: str, place: int) -> None:
    name = f"python:{write(AGENT)}:{attribute}"
    agent = make_agent(name)
    assert agent.name == name
    game = Game.new(3, "dragonkeepers", seed=1)
    while not game.is_over:
        assert agent.choose(game) == game.legal_actions()[place]
        play(game, random.Random(1), 3)
    agents = [agent, make_agent("random")]
    assert duplicate_match(agents, "gardienii", 1, 1).agents == (name, "random")


def test_an_object_keeps_its_own_name_and_is_told_of_resets(write: Write) -> None:
    agent: Any = make_agent(f"python:{write(AGENT)}:last")
    agent.reset(5)
    assert sys.modules["users_code"].last.name == "Last"
    assert sys.modules["users_code"].last.seen == [5]


def test_modules_in_packages_of_the_current_folder(write: Write, tmp_path: Path) -> None:
    (tmp_path / "users_code_package").mkdir()
    (tmp_path / "users_code_package" / "inner.py").write_text(AGENT)
    assert make_agent("python:users_code_package.inner:first").choose(Game.new(seed=1)) == "take:L0"


def test_it_plays_in_commands_and_environments(write: Write) -> None:
    name = f"python:{write(AGENT)}:first"
    assert main(["record", "--agents", f"{name},random", "--out", "games.jsonl"]) == 0
    (_, record), *_ = read_file(Path("games.jsonl"))
    game = Game.from_record(record, 0)
    for move in record["moves"]:
        if move["player"] == 0:
            assert move["action"] == game.legal_actions()[0]
        game.apply(move["action"])
    env = GardieniiSingleEnv(name)
    env.reset(seed=1)


# -- code of users: what a function is shown -------------------------------------------------------


class Recorder:
    """A function that keeps what it is shown, and draws as many numbers as it is told."""

    def __init__(self, draws: int = 1) -> None:
        self.draws, self.games, self.numbers = draws, list[Game](), list[int]()

    def __call__(self, game: Game, rng: np.random.Generator) -> str:
        self.games.append(game.clone())
        self.numbers.append(int(rng.integers(2**40)))
        for _ in range(self.draws - 1):
            rng.random()
        last = game.legal_actions()[-1]
        game.apply(last)  # what it does with the game is its own affair
        return last


@pytest.mark.parametrize(
    ("ruleset", "players"), [*COMBINATIONS, *((ruleset.name, 3) for ruleset in ODD)], ids=str
)
def test_a_function_sees_the_game_as_its_seat_knows_it(ruleset: str, players: int) -> None:
    rng = random.Random(1)
    for policy in ("random", "modifier", "hoarder"):
        game = Game.new(players, VARIATIONS.get(ruleset, ruleset), seed=1)
        while not play(game, rng, rng.randrange(2, 9), policy).is_over:
            seat = game.player
            assert seat is not None
            before = game.state.tobytes()
            shown = as_known(game.batch, 0, 5)
            assert game.state.tobytes() == before
            assert shown.player == seat
            for view in VIEWS:
                assert shown.observe(seat, view).tobytes() == game.observe(seat, view).tobytes()
            assert shown.legal_actions() == game.legal_actions()
            assert shown.moves == []
            assert shown.seed is None
            with pytest.raises(GardieniiError, match="has no deal"):
                shown.deal()
            for seed in (1, 2):  # all that is hidden could be something else, and it would be the same
                other = as_known(game.resample(seat, seed).batch, 0, 5)
                assert other.state.tobytes() == shown.state.tobytes()


def test_what_is_shown_is_drawn_anew_each_time_and_may_be_anything() -> None:
    """The first seat sees each card in the second one's hand as often as `Game.resample` gives it."""
    game = Game.new(2, seed=3)
    assert game.player == 0
    shown = [as_known(game.batch, 0, seed).state["unknown"][1, 0] for seed in range(3000)]
    drawn = [game.resample(0, seed).state["unknown"][1, 0] for seed in range(3000)]
    counts = [np.bincount(cards, minlength=33) for cards in (shown, drawn)]
    assert (counts[0] > 0).sum() == (counts[1] > 0).sum() > 3
    spread = np.sqrt(counts[0] + counts[1] + 1)
    assert (abs(counts[0] - counts[1]) / spread).max() < 4.5


def test_a_choice_follows_from_the_stream_alone() -> None:
    batch = dealt("gardienii", 3, 6)
    streams = new_streams(4, 6)
    together, moved = Recorder(), streams.copy()
    actions = FunctionAgent(together).act(batch, np.arange(6), moved)
    assert len(set(together.numbers)) == 6
    assert (moved != streams).all()
    for i in (5, 2, 0):
        alone, single = Recorder(draws=50), Batch(batch.ruleset, 3, 1)
        single.states[:], single.masks[:] = batch.states[i], batch.masks[i]
        own = streams[i : i + 1].copy()
        assert FunctionAgent(alone).act(single, ONE, own) == actions[i]
        assert alone.numbers == together.numbers[i : i + 1]
        assert alone.games[0].state.tobytes() == together.games[i].state.tobytes()
        assert own == moved[i]  # fifty numbers more, and the stream is where it was


def test_consecutive_decisions_are_shown_other_draws() -> None:
    recorder = Recorder()
    agent, game = FunctionAgent(recorder), Game.new(2, seed=1)
    agent.reset(1)
    for _ in range(3):
        agent.choose(game)
    assert len(set(recorder.numbers)) == 3
    assert len({shown.state["deck"].tobytes() for shown in recorder.games}) == 3


def test_what_a_function_does_to_its_game_changes_nothing() -> None:
    batch = dealt("gardienii", 2, 3)
    before = batch.states.tobytes() + batch.masks.tobytes()
    FunctionAgent(Recorder()).act(batch, np.arange(3), new_streams(1, 3))
    assert batch.states.tobytes() + batch.masks.tobytes() == before


# -- code of users: what is refused ----------------------------------------------------------------


def refusal(name: str, game: Game | None = None) -> AgentError:
    with pytest.raises(AgentError) as caught:
        make_agent(name).choose(game or Game.new(seed=1))
    assert str(caught.value).startswith(name)
    return caught.value


@pytest.mark.parametrize("place", ["mine", "mine:", ":f", "mine:f:g", "mine:a.b", "mine:1", "mine: f"])
def test_places_of_another_form(place: str) -> None:
    assert "is not of the form python:MODULE:ATTRIBUTE" in str(refusal(f"python:{place}"))


def test_modules_that_are_not_there(write: Write, tmp_path: Path) -> None:
    name = write(AGENT)
    message = str(refusal("python:users_code_none:f"))
    assert f"there is no module 'users_code_none', neither installed nor in {tmp_path}" in message
    assert "Leave out '.py': python:users_code:..." in str(refusal(f"python:{name}.py:first"))
    assert "there is no module" in str(refusal(f"python:{name}.inner:first"))


def test_attributes_that_are_not_there(write: Write) -> None:
    assert re.search(
        r"there is no 'frist' in .*users_code\.py", str(refusal(f"python:{write(AGENT)}:frist"))
    )


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import users_code_none\ndef f(game, rng): pass", "ModuleNotFoundError: No module named"),
        ("def f(game, rng) pass", "SyntaxError"),
        ("\n1 / 0", "ZeroDivisionError: division by zero (*users_code.py, line 2)"),
        ("import sys\nsys.exit(3)", "SystemExit: 3 (*users_code.py, line 2)"),
        ("f = 5", "is 5; expected a function"),
        ("f = 'text'", "is 'text'; expected a function"),
        ("class f: pass", "expected a function f(game, rng), an Agent subclass"),
        ("def f(game): pass", "is not a function of two arguments, f(game, rng)"),
        ("def f(game, rng, more): pass", "is not a function of two arguments"),
        ("from gardienii_env.agents import Agent as f", "failed: TypeError: Can't instantiate abstract"),
        (
            "from gardienii_env.agents.greedy import GreedyAgent\n"
            "class f(GreedyAgent):\n    def __init__(self, n): pass",
            "failed: TypeError: f.__init__() missing 1 required positional argument: 'n'",
        ),
    ],
)
def test_code_that_makes_no_agent(write: Write, code: str, words: str) -> None:
    message = str(refusal(f"python:{write(code)}:f"))
    for part in words.split("*"):
        assert part in message


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return None", "gave None for seat 0; expected the name or the id of a legal action: take:L0,"),
        ("return 'take:L9'", "gave 'take:L9' for seat 0"),
        ("return 73", "gave 73 for seat 0"),
        ("return -1", "gave -1 for seat 0"),
        ("return 1.0", "gave 1.0 for seat 0"),
        ("return True", "gave True for seat 0"),
        ("return ['pass']", "gave ['pass'] for seat 0"),
        (
            "return 'column:left'",
            "chose 71 (column:left) for seat 0, which is not legal; legal: take:L0,",
        ),
        ("return 5", "chose 5 (modify:W1) for seat 0, which is not legal"),
    ],
)
def test_what_is_no_legal_action(write: Write, body: str, words: str) -> None:
    assert words in str(refusal(f"python:{write(f'def f(game, rng): {body}')}:f"))


@pytest.mark.parametrize(
    ("body", "kind", "line"),
    [
        ("return [][3]", IndexError, 3),
        ("game.apply('column:left')", GardieniiError, 3),
        ("assert not game", AssertionError, 3),
        ("raise SystemExit", SystemExit, 3),
        ("return rng.choice([])", ValueError, 3),
    ],
)
def test_errors_in_a_function_name_the_agent_and_the_line(
    write: Write, body: str, kind: type[BaseException], line: int
) -> None:
    error = refusal(f"python:{write(f'# a function{chr(10)}def f(game, rng):{chr(10)}    {body}')}:f")
    assert isinstance(error.__cause__, kind)
    assert f"failed: {type(error.__cause__).__name__}" in str(error)
    assert f"users_code.py, line {line})." in str(error)


def test_an_interrupt_is_no_error_of_the_agent(write: Write) -> None:
    agent = make_agent(f"python:{write('def f(game, rng): raise KeyboardInterrupt')}:f")
    with pytest.raises(KeyboardInterrupt):
        agent.choose(Game.new(seed=1))


PICKY = """
from gardienii_env import AgentError
from gardienii_env.agents.greedy import GreedyAgent

class Two(GreedyAgent):
    def check(self, ruleset, num_players):
        if num_players != 2:
            raise AgentError("Two players only.")

class Broken(GreedyAgent):
    def check(self, ruleset, num_players):
        raise ZeroDivisionError
    def act(self, batch, games, streams):
        raise RuntimeError("not\\n today")
"""


def test_agents_say_themselves_what_they_fit(write: Write) -> None:
    name = write(PICKY)
    GardieniiSingleEnv(f"python:{name}:Two").reset(seed=1)
    with pytest.raises(AgentError, match=f"python:{name}:Two: Two players only"):
        GardieniiSingleEnv(f"python:{name}:Two", num_players=3)
    with pytest.raises(AgentError, match=f"python:{name}:Broken failed: ZeroDivisionError"):
        GardieniiSingleEnv(f"python:{name}:Broken")
    error = refusal(f"python:{name}:Broken")
    assert isinstance(error.__cause__, RuntimeError)
    assert "failed: RuntimeError: not today (" in str(error)


# -- what the README says --------------------------------------------------------------------------


def test_the_agent_of_the_readme_plays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    section = README.read_text(encoding="utf-8").partition("**Your own agent in ten lines.**")[2]
    code, command = re.findall(r"```(?:python|bash)\n(.*?)```", section, re.DOTALL)[:2]
    assert len([line for line in code.splitlines() if line.strip()]) == 10
    (tmp_path / "mine.py").write_text(code, encoding="utf-8")
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    program, *arguments = shlex.split(command)
    assert program == "gardienii"
    assert main(arguments) == 0
    del sys.modules["mine"]
    mine = re.findall(r"^ *\d +python:mine:\w+ +(\d+)", capsys.readouterr().err, re.MULTILINE)
    assert len(mine) == 1
    games = [record for _, record in read_file(tmp_path / "games.jsonl")]
    assert sum(record["final"]["winners"] == [0] for record in games) == int(mine[0]) > len(games) / 2


def test_opponents_may_be_mixed(write: Write) -> None:
    name = f"python:{write(AGENT)}:first"
    names = [agent.name for agent in make_agents(f"greedy,{name},random", 3)]
    assert names == ["greedy", name, "random"]
