"""Game records: written as the rules page says, replayed, and refused where anything is wrong."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from helpers import play
from rulesets import COMBINATIONS, ODD

from gardienii_env import Game, RecordError, Ruleset
from gardienii_env.record import dumps, read_file, verify

every_game = pytest.mark.parametrize(("ruleset", "players"), COMBINATIONS)

Record = dict[str, Any]

# The example of the rules page, whole game and ruleset.
MINIATURE: Record = {
    "name": "miniature",
    "supply_per_deck": 1,
    "modifications_per_turn": 1,
    "crystals_per_turn": 1,
    "enclosed_columns_close": False,
    "dragons_score": True,
    "crystal_points": 1,
    "take_limit": 2,
    "turn_limit": 20,
    "dark_dragons": 2,
    "crystals": 4,
    "golden_eggs": 2,
    "egg_points": 4,
    "egg_majority_points": 16,
    "crests": [10, 5],
    "left_deck": {"W1": 2, "W2": 1, "R1": 2, "R2": 1, "B1": 2, "G3": 1},
    "right_deck": {"Wr": 2, "Rw": 2, "Wb": 1, "Rb": 1, "Br": 1, "Gw": 1},
    "starting_cards": {"Wg": 1, "Wb": 1, "Rg": 1, "Rw": 1, "Bw": 1, "Gr": 1},
    "card_values": {"1": 1, "2": 2, "3": 3, "4": 4, "5": 5, "colour": 1, "dark": 1},
    "amulet_pieces": {"1": 4, "4": 3, "10": 3},
    "pearls": {"3": 2, "9": 1},
    "pieces_removed": {"2": 2, "3": 1, "4": 0},
    "amulets_to_end": {"2": 1, "3": 1, "4": 1},
    "prizes": {
        "1": {"piece": "lowest", "crystals": 1},
        "2": {"piece": "lowest", "dark_dragons": 1},
        "3": {"piece": "lowest", "golden_eggs": 1},
        "4": {"piece": "lowest", "golden_eggs": 1, "crystals": 1},
        "5": {"piece": "lowest", "golden_eggs": 1, "dark_dragons": 1},
        "6": {"piece": "highest"},
    },
}
MOVES = [
    (0, "take:L0"),
    (0, "take:L0"),
    (0, "modify:R1"),
    (0, "pass"),
    (1, "play:Wb"),
    (1, "take:R0"),
    (1, "take:L0"),
    (1, "take:L0"),
    (1, "modify:Wr"),
    (1, "play:R1"),
    (0, "take:R0"),
    (0, "take:R0"),
    (0, "modify:Rw"),
    (0, "play:W2"),
    (1, "play:W1"),
]
EXAMPLE: Record = {
    "format": "gardienii-record",
    "version": 1,
    "ruleset": MINIATURE,
    "players": 2,
    "seed": None,
    "deal": {
        "left": ["R2", "B1", "W1", "G3", "B1", "R1", "W1", "W2"],
        "right": ["Rw", "Wr", "Wb", "Rb", "Gw", "Br", "Rw"],
        "supply": {"L": ["R1"], "R": ["Wr"]},
        "hands": [[], ["Wb"]],
        "pieces": {"1": 4, "4": 2, "10": 2},
        "pearls": [9, 3, 3],
    },
    "moves": [{"player": player, "action": action} for player, action in MOVES],
    "final": {
        "end": "amulets",
        "turns": 3,
        "scores": [4, 17],
        "winners": [1],
        "payoffs": [-1.0, 1.0],
        "points": [
            {"dragons": 2, "pieces": 1, "pearls": 0, "crystals": 1, "eggs": 0, "crest": 0},
            {"dragons": 3, "pieces": 3, "pearls": 9, "crystals": 2, "eggs": 0, "crest": 0},
        ],
    },
}


def example() -> Record:
    """The example, to be changed."""
    return copy.deepcopy(EXAMPLE)


def a_record(players: int = 3, ruleset: Any = "gardienii", seed: int = 1, **options: Any) -> Record:
    """The record of a whole game."""
    return play(Game.new(players, ruleset, seed=seed), Random(seed)).to_record(**options)


# -- writing and reading ---------------------------------------------------------------------------


def test_the_example_stands_in_the_rules_page() -> None:
    page = (Path(__file__).parents[1] / "docs" / "rules.md").read_text(encoding="utf-8")
    assert json.loads(page.split("```json\n")[1].split("```")[0]) == EXAMPLE


def test_the_example_of_the_rules_page_is_a_record() -> None:
    game = verify(EXAMPLE)
    full_prizes = Ruleset.from_dict(MINIATURE).to_dict()["prizes"]
    written = {**EXAMPLE, "ruleset": {**MINIATURE, "prizes": full_prizes}}
    assert game.to_record() == written
    assert game.to_record(with_legal=True)["moves"][13] == {
        "player": 0,
        "action": "play:W2",
        "legal": ["pass", "play:W2", "play:Wr"],
    }


@every_game
def test_a_record_has_the_form_of_the_rules_page(ruleset: str, players: int) -> None:
    game = play(Game.new(players, ruleset, seed=17), Random(1))
    record = game.to_record()
    assert list(record) == ["format", "version", "ruleset", "players", "seed", "deal", "moves", "final"]
    assert (record["format"], record["version"]) == ("gardienii-record", 1)
    assert (record["ruleset"], record["players"], record["seed"]) == (ruleset, players, 17)
    assert record["deal"] == Game.new(players, ruleset, seed=17).deal()
    assert {tuple(move) for move in record["moves"]} == {("player", "action")}
    assert record["final"] == {
        "end": game.end,
        "turns": game.turns,
        "scores": game.scores(),
        "winners": game.winners(),
        "payoffs": game.payoffs(),
        "points": game.points(),
    }


@every_game
@pytest.mark.parametrize("with_legal", [False, True])
def test_a_record_goes_round(ruleset: str, players: int, with_legal: bool) -> None:
    record = a_record(players, ruleset, with_legal=with_legal)
    line = dumps(record)
    assert "\n" not in line
    game = verify(json.loads(line))
    assert game.to_record(with_legal) == record
    assert Game.from_record(record).to_record(with_legal) == record


@pytest.mark.parametrize("ruleset", ODD, ids=lambda ruleset: ruleset.name)
def test_a_custom_ruleset_is_in_the_record_as_an_object(ruleset: Ruleset) -> None:
    record = json.loads(dumps(a_record(2, ruleset)))
    assert record["ruleset"] == ruleset.to_dict()
    assert verify(record).ruleset == ruleset


def test_a_shipped_ruleset_may_be_in_the_record_as_an_object() -> None:
    record = a_record(2, "dragonkeepers")
    record["ruleset"] = Ruleset.get("dragonkeepers").to_dict()
    assert verify(record).to_record()["ruleset"] == "dragonkeepers"


def test_with_legal_gives_what_was_legal_before_each_move() -> None:
    record = a_record(4, "dragonkeepers", with_legal=True)
    game = Game.from_record(record, moves=0)
    for move in record["moves"]:
        assert move == {
            "player": game.player,
            "action": move["action"],
            "legal": game.legal_actions(),
        }
        game.apply(move["action"])


@every_game
def test_the_first_k_moves_give_the_game_as_it_was(ruleset: str, players: int) -> None:
    game, record = Game.new(players, ruleset, seed=2), a_record(players, ruleset, seed=2)
    for k, move in enumerate(record["moves"]):
        if k % 7 == 0:
            again = Game.from_record(record, moves=k)
            again.state["rng"] = game.state["rng"]
            assert again.batch.states.tobytes() == game.batch.states.tobytes()
            assert again.moves == game.moves
        game.apply(move["action"])
    assert game.is_over
    assert Game.from_record(record, moves=len(record["moves"])).points() == game.points()


def test_the_number_of_moves_may_be_a_numpy_integer() -> None:
    assert len(Game.from_record(EXAMPLE, moves=np.int64(3)).moves) == 3  # type: ignore[arg-type]


@pytest.mark.parametrize("moves", [-1, 16, 1.0, 2.5, "3", True, [], float("nan")])
def test_a_wrong_number_of_moves_is_refused(moves: Any) -> None:
    with pytest.raises(RecordError, match=r"^moves: .* from 0 to 15"):
        Game.from_record(EXAMPLE, moves=moves)


def test_a_game_that_is_not_over_has_a_record_without_final() -> None:
    game = play(Game.new(3, seed=1), Random(1), decisions=20)
    record = json.loads(dumps(game.to_record()))
    assert "final" not in record
    again = Game.from_record(record)
    assert (again.moves, again.player, again.to_record()) == (game.moves, game.player, record)
    with pytest.raises(RecordError, match=r"^move 20: missing; the game is not over") as caught:
        verify(record)
    assert caught.value.move == 20


def test_a_replayed_game_can_be_played_on() -> None:
    game = play(Game.from_record(a_record(3), moves=10), Random(5))
    assert verify(game.to_record()).moves == game.moves


def test_a_clone_has_the_record_of_its_own_moves() -> None:
    game = play(Game.new(3, seed=1), Random(1), decisions=20)
    other = play(game.clone(), Random(2))
    assert verify(other.to_record()).moves[:20] == game.moves


def test_reading_does_not_change_the_record() -> None:
    record = a_record(3, with_legal=True)
    before = copy.deepcopy(record)
    verify(record)
    assert record == before


@pytest.mark.parametrize("seed", [None, 0, 17, 2**64])
def test_the_seed_only_informs(seed: int | None) -> None:
    game = verify({**EXAMPLE, "seed": seed})
    assert game.seed == seed
    assert game.to_record()["seed"] == seed


def test_whole_numbers_will_do_for_payoffs() -> None:
    record = example()
    record["final"]["payoffs"] = [-1, 1]
    verify(record)


# -- what is refused -------------------------------------------------------------------------------


def refused(record: Any, message: str, move: int | None = None) -> None:
    """Check that a record is refused with a message that starts so, and the number of a move."""
    with pytest.raises(RecordError) as caught:
        verify(record)
    assert str(caught.value).startswith(message), str(caught.value)
    assert caught.value.move == move


@pytest.mark.parametrize("wrong", [None, [], "record", 1, [EXAMPLE], b"{}"])
def test_a_record_is_an_object(wrong: Any) -> None:
    refused(wrong, "A record is an object")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("format", "gardienii-deal", "format: 'gardienii-deal' is not 'gardienii-record'"),
        ("format", None, "format: None"),
        ("format", ["gardienii-record"], "format: "),
        ("version", 2, "version: 2 is not known; this program reads version 1"),
        ("version", 0, "version: 0"),
        ("version", "1", "version: '1'"),
        ("version", True, "version: True"),
        ("version", 1.0, "version: 1.0"),
        ("version", None, "version: None"),
        ("players", 1, "players: 1"),
        ("players", 5, "players: 5"),
        ("players", "2", "players: '2'"),
        ("players", 2.0, "players: 2.0"),
        ("players", True, "players: True"),
        ("players", [2], "players: [2]"),
        ("players", 3, "deal.hands: 2 hands for 3 players"),
        ("seed", -1, "seed: -1"),
        ("seed", 1.5, "seed: 1.5"),
        ("seed", "17", "seed: '17'"),
        ("seed", True, "seed: True"),
        ("seed", [17], "seed: [17]"),
        ("ruleset", "miniature", "ruleset: the ruleset 'miniature' is not known"),
        ("ruleset", "gardieni", "ruleset: the ruleset 'gardieni' is not known"),
        ("ruleset", "mine.toml", "ruleset: the ruleset 'mine.toml' is not known"),
        ("ruleset", None, "ruleset: "),
        ("ruleset", 5, "ruleset: "),
        ("ruleset", ["gardienii"], "ruleset: "),
        ("ruleset", {}, "ruleset.name: missing"),
        ("ruleset", {**MINIATURE, "take_limit": 0}, "ruleset.take_limit: 0"),
        ("ruleset", {**MINIATURE, "speed": 1}, "ruleset.speed: "),
        ("ruleset", "gardienii", "deal.supply.L: 1 cards"),
        ("deal", None, "deal: "),
        ("deal", [], "deal: "),
        ("deal", {**EXAMPLE["deal"], "top": "W1"}, "deal.top: "),
        ("deal", {**EXAMPLE["deal"], "left": ["W1", *EXAMPLE["deal"]["left"]]}, "deal.left: with the"),
        ("deal", {**EXAMPLE["deal"], "hands": [[], ["Gb"]]}, "deal.hands: 1 of Gb"),
        ("moves", None, "moves: None is not a list"),
        ("moves", {}, "moves: {} is not a list"),
        ("moves", "pass", "moves: 'pass' is not a list"),
        ("final", None, "final: None is not an object"),
        ("final", [], "final: [] is not an object"),
        ("extra", 1, "extra: "),
        ("Seed", 1, "Seed: "),
        (5, 1, "5: "),
    ],
)
def test_wrong_values_are_refused_with_their_key(key: Any, value: Any, message: str) -> None:
    refused({**example(), key: value}, message)


@pytest.mark.parametrize("key", EXAMPLE)
def test_every_key_is_needed(key: str) -> None:
    record = example()
    del record[key]
    refused(record, f"{key}: ")


def test_a_ruleset_is_not_read_from_the_readers_disk(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(MINIATURE))
    refused({**example(), "ruleset": str(path)}, "ruleset: ")


def change_move(k: int, **changes: Any) -> Record:
    record = example()
    record["moves"][k].update(changes)
    return record


@pytest.mark.parametrize(
    ("k", "changes", "message"),
    [
        (0, {"action": "take:L1"}, "'take:L1' is not legal"),
        (0, {"action": "pass"}, "'pass' is not legal"),
        (3, {"action": "play:R1"}, "'play:R1' is not legal"),
        (7, {"action": "take:R1"}, "'take:R1' is not legal"),
        (14, {"action": "take:L0"}, "'take:L0' is not legal"),
        (2, {"action": "modify:W9"}, "The action 'modify:W9' is not known"),
        (2, {"action": ""}, "The action '' is not known"),
        (2, {"action": 7}, "the action 7 is not a name"),
        (2, {"action": None}, "the action None is not a name"),
        (2, {"action": ["pass"]}, "the action ['pass'] is not a name"),
        (0, {"player": 1}, "player 1, but seat 0 decides"),
        (4, {"player": 0}, "player 0, but seat 1 decides"),
        (4, {"player": True}, "player True, but"),
        (4, {"player": 1.0}, "player 1.0, but"),
        (4, {"player": "1"}, "player '1', but"),
        (4, {"player": None}, "player None, but"),
        (14, {"player": 7}, "player 7, but"),
        (5, {"time": 3}, "moves[5].time: "),
        (13, {"legal": ["play:W2", "pass", "play:Wr"]}, "the legal actions given are"),
        (13, {"legal": ["pass", "play:W2"]}, "the legal actions given are"),
        (13, {"legal": []}, "the legal actions given are"),
        (13, {"legal": None}, "the legal actions given are"),
        (13, {"legal": "pass"}, "the legal actions given are"),
        (13, {"legal": [4, 38]}, "the legal actions given are"),
    ],
)
def test_a_wrong_move_is_refused_with_its_number(k: int, changes: Record, message: str) -> None:
    record = change_move(k, **changes)
    refused(record, f"move {k}: {message}", k)
    assert len(Game.from_record(record, moves=k).moves) == k
    with pytest.raises(RecordError, match=f"^move {k}: "):
        Game.from_record(record, moves=k + 1)


@pytest.mark.parametrize("key", ["player", "action"])
def test_a_move_has_player_and_action(key: str) -> None:
    record = example()
    del record["moves"][6][key]
    refused(record, f"move 6: moves[6].{key}: missing", 6)


@pytest.mark.parametrize("move", [None, "pass", 4, [0, "pass"], []])
def test_a_move_is_an_object(move: Any) -> None:
    record = example()
    record["moves"][3] = move
    refused(record, "move 3: ", 3)


def test_a_move_too_many_is_refused() -> None:
    record = example()
    record["moves"].append({"player": 0, "action": "pass"})
    refused(record, "move 15: 'pass', but the game is over", 15)


@pytest.mark.parametrize("k", range(15))
def test_a_truncated_record_is_refused_with_the_number_of_the_missing_move(k: int) -> None:
    record = example()
    del record["moves"][k:]
    refused(record, f"move {k}: missing; the game is not over after {k} moves", k)


@pytest.mark.parametrize("k", range(15))
def test_a_left_out_move_is_refused(k: int) -> None:
    record = example()
    del record["moves"][k]
    with pytest.raises(RecordError):
        verify(record)


def test_a_forced_decision_is_no_move() -> None:
    record = example()
    record["moves"].insert(2, {"player": 0, "action": "pass"})  # seat 0 may take no third card
    with pytest.raises(RecordError) as caught:
        verify(record)
    assert caught.value.move is not None


WRONG_FINAL: list[tuple[str, Any]] = [
    ("end", "supply"),
    ("end", None),
    ("end", ""),
    ("turns", 4),
    ("turns", 3.0),
    ("turns", "3"),
    ("turns", None),
    ("scores", [17, 4]),
    ("scores", [4, 17, 0]),
    ("scores", [4]),
    ("scores", [4.0, 17.0]),
    ("scores", {"0": 4, "1": 17}),
    ("winners", [0]),
    ("winners", []),
    ("winners", [True]),
    ("winners", 1),
    ("payoffs", [1.0, -1.0]),
    ("payoffs", [-0.5, 0.5]),
    ("payoffs", [-1.0, True]),
    ("payoffs", [float("nan"), 1.0]),
    ("points", []),
    ("points", [None, None]),
    ("points", list(reversed(EXAMPLE["final"]["points"]))),
    ("points", [{**EXAMPLE["final"]["points"][0], "crest": 1}, EXAMPLE["final"]["points"][1]]),
    ("points", [{**EXAMPLE["final"]["points"][0], "luck": 0}, EXAMPLE["final"]["points"][1]]),
    ("points", [{"dragons": 2}, EXAMPLE["final"]["points"][1]]),
]


@pytest.mark.parametrize(("key", "value"), WRONG_FINAL)
def test_a_wrong_final_is_refused_with_its_key(key: str, value: Any) -> None:
    record = example()
    record["final"][key] = value
    refused(record, f"final.{key}: ")
    with pytest.raises(RecordError, match=rf"^final\.{key}: "):
        Game.from_record(record)
    assert len(Game.from_record(record, moves=15).moves) == 15


@pytest.mark.parametrize("key", EXAMPLE["final"])
def test_every_key_of_the_final_is_needed(key: str) -> None:
    record = example()
    del record["final"][key]
    refused(record, f"final.{key}: missing")


def test_unknown_keys_of_the_final_are_refused() -> None:
    record = example()
    record["final"]["time"] = 5
    refused(record, "final.time: ")


# -- files -----------------------------------------------------------------------------------------


def test_a_file_holds_a_record_a_line(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    records = [EXAMPLE, a_record(3), a_record(4, Ruleset.get("gardienii").replace(name="Hüter"))]
    lines = [dumps(record) for record in records]
    path.write_text("\n".join([lines[0], "", *lines[1:]]) + "\n", encoding="utf-8")
    for argument in (path, str(path)):
        assert list(read_file(argument)) == [(1, records[0]), (3, records[1]), (4, records[2])]


def test_the_last_line_break_may_be_missing_and_a_file_may_be_empty(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text(dumps(EXAMPLE))
    assert list(read_file(path)) == [(1, EXAMPLE)]
    path.write_text("")
    assert list(read_file(path)) == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"format": ', "line 2: not valid JSON: .* The line is cut off"),
        (b'{"format": }\n', r"line 2: not valid JSON: [^.]*\.$"),
        (b"no JSON\n", "line 2: not valid JSON"),
        (b"[1, 2]\n", "line 2: expected a JSON object"),
        (b"5\n", "line 2: expected a JSON object"),
        (b"null\n", "line 2: expected a JSON object"),
        (b"[" * 100_000 + b"\n", "line 2: not valid JSON"),
        (b"1" * 10_000 + b"\n", "line 2: not valid JSON"),
        ('{"format": "Hüter"}\n'.encode("latin-1"), "is not UTF-8 text"),
        (bytes(range(128, 256)), "is not UTF-8 text"),
    ],
    ids=["cut", "broken", "text", "list", "number", "null", "deep", "long", "latin", "bytes"],
)
def test_a_line_that_is_no_record_is_refused_with_its_number(
    line: bytes, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "games.jsonl"
    path.write_bytes(dumps(EXAMPLE).encode() + b"\n" + line)
    with pytest.raises(RecordError, match=message) as caught:
        list(read_file(path))
    assert "games.jsonl" in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "no.jsonl", tmp_path):
        with pytest.raises(RecordError, match="cannot be read"):
            list(read_file(path))


# -- whatever is done to a record ------------------------------------------------------------------

VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 3, 1.0, 1.5, float("nan"), float("inf"), 10**30, 10**5000),
    *("", "x", "pass", "play:W1", "take:L0", "W1", "Wr", "D6", "gardienii", "\ud800", b"", b"x"),
    *([], [[]], [None], ["W1"], {}, {"W1": 1}, {"L": []}, {1: 1}, (), {1}),
    *(np.int64(1), np.array([1, 2]), np.array(["x"]), object(), 1j),
]


def mutated(whole: Any, rng: Random) -> Any:
    """A copy of some data in which one random part is changed, left out, doubled or moved."""
    if not isinstance(whole, dict | list) or not whole or rng.random() < 0.05:
        return rng.choice(VALUES)
    result = copy.copy(whole)
    key = rng.choice(list(result)) if isinstance(result, dict) else rng.randrange(len(result))
    if rng.random() < 0.7:
        result[key] = mutated(result[key], rng)
        return result
    ways: list[Callable[[], object]] = [lambda: result.pop(key)]
    if isinstance(result, dict):
        other = rng.choice(list(result))
        ways += [lambda: result.update(x=1), lambda: result.update({key: result[other]})]
    else:
        ways += [lambda: result.append(result[key]), lambda: rng.shuffle(result)]
    rng.choice(ways)()
    return result


def outcomes(record: Record, mutations: int) -> Iterator[bool]:
    """Of mutations of a record, whether each is still one; whatever else is raised fails the test."""
    rng = Random(1)
    for _ in range(mutations):
        other = mutated(record, rng)
        try:
            verify(other)
        except RecordError as error:
            assert str(error)  # noqa: PT017
            yield False
        else:
            yield True


@pytest.mark.parametrize(
    "make",
    [example, lambda: a_record(2, with_legal=True), lambda: a_record(4, "dragonkeepers")],
    ids=["example", "two players", "four players"],
)
def test_no_mutation_of_a_record_raises_anything_but_a_record_error(make: Callable[[], Record]) -> None:
    accepted = list(outcomes(make(), 600))
    assert accepted.count(False) > 500


def test_no_mutation_of_the_text_of_a_record_raises_anything_but_a_record_error(tmp_path: Path) -> None:
    path, rng = tmp_path / "games.jsonl", Random(1)
    line = dumps(EXAMPLE).encode()
    refusals = 0
    for _ in range(300):
        start, length = rng.randrange(len(line)), rng.choice([0, 1, 1, 5, len(line)])
        noise = bytes(rng.choices(b'{}[]",:0123456789-ePLWr\xc3\n ', k=rng.choice([0, 1, 2])))
        path.write_bytes(line[:start] + noise + line[start + length :])
        try:
            for _, record in read_file(path):
                verify(record)
        except RecordError:
            refusals += 1
    assert refusals > 250
