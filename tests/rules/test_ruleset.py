"""Rulesets: the shipped ones, reading and writing, and every way in which one can be wrong."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from gardienii_env import Game, Ruleset, RulesetError
from gardienii_env.rules.cards import CARDS
from gardienii_env.rules.ruleset import RULES, SHIPPED, Prize

LEFT_DECK = {
    front + number: count
    for front in "WRBG"
    for number, count in {"1": 3, "2": 3, "3": 3, "4": 2, "5": 2}.items()
}
RIGHT_DECK = {
    **{front + back: 4 for front in "WRBG" for back in "wrbg" if back != front.lower()},
    "Wr": 5,
    "Rb": 5,
    "Bg": 5,
    "Gw": 5,
}
IN_BOTH: dict[str, Any] = {
    "take_limit": 3,
    "turn_limit": 400,
    "left_deck": LEFT_DECK,
    "right_deck": RIGHT_DECK,
    "starting_cards": {"Wb": 1, "Wg": 1, "Rg": 1, "Rw": 1, "Bw": 1, "Br": 1, "Gr": 1, "Gb": 1},
    "dark_dragons": 11,
    "card_values": {"1": 1, "2": 2, "3": 3, "4": 4, "5": 5, "colour": 1, "dark": 1},
    "amulet_pieces": {"1": 8, "4": 8, "6": 5, "8": 4, "10": 8, "12": 4, "16": 5, "20": 3},
    "pieces_removed": {"2": 16, "3": 12, "4": 8},
    "amulets_to_end": {"2": 7, "3": 8, "4": 9},
    "pearls": {"3": 5, "4": 4, "8": 3, "9": 3},
    "crystals": 10,
    "golden_eggs": 9,
    "egg_points": 4,
    "egg_majority_points": 16,
    "crests": [16, 10, 6],
    "prizes": {
        "1": {"piece": "lowest", "crystals": 1, "dark_dragons": 0, "golden_eggs": 0},
        "2": {"piece": "lowest", "crystals": 0, "dark_dragons": 1, "golden_eggs": 0},
        "3": {"piece": "lowest", "crystals": 0, "dark_dragons": 0, "golden_eggs": 1},
        "4": {"piece": "lowest", "crystals": 1, "dark_dragons": 0, "golden_eggs": 1},
        "5": {"piece": "lowest", "crystals": 0, "dark_dragons": 1, "golden_eggs": 1},
        "6": {"piece": "highest", "crystals": 0, "dark_dragons": 0, "golden_eggs": 0},
    },
}
RULES_PAGE: dict[str, dict[str, Any]] = {
    "gardienii": {
        "name": "gardienii",
        "supply_per_deck": 2,
        "modifications_per_turn": 1,
        "crystals_per_turn": 10,
        "enclosed_columns_close": False,
        "dragons_score": True,
        "crystal_points": 1,
        **IN_BOTH,
    },
    "dragonkeepers": {
        "name": "dragonkeepers",
        "supply_per_deck": 1,
        "modifications_per_turn": 2,
        "crystals_per_turn": 1,
        "enclosed_columns_close": True,
        "dragons_score": False,
        "crystal_points": 0,
        **IN_BOTH,
    },
}
DEFAULT = RULES_PAGE["gardienii"]
FIELDS = list(DEFAULT)
TABLES = [name for name, value in DEFAULT.items() if isinstance(value, dict)]

every_ruleset = pytest.mark.parametrize("name", SHIPPED)


def data(**changes: Any) -> dict[str, Any]:
    """The default ruleset as data of its own, with some fields changed."""
    return copy.deepcopy({**DEFAULT, **changes})


def with_entries(table: str, **entries: Any) -> dict[str, Any]:
    """The data with some entries of a table changed."""
    return data(**{table: {**DEFAULT[table], **entries}})


def toml(ruleset: dict[str, Any]) -> str:
    """A ruleset as TOML text."""
    plain = {name: value for name, value in ruleset.items() if not isinstance(value, dict)}
    tables = {name: value for name, value in ruleset.items() if isinstance(value, dict)}
    prizes = tables.pop("prizes")
    tables |= {f"prizes.{number}": prize for number, prize in prizes.items()}
    lines = [f"{name} = {json.dumps(value)}" for name, value in plain.items()]
    for table, entries in tables.items():
        lines += [f"[{table}]", *(f"{key} = {json.dumps(value)}" for key, value in entries.items())]
    return "\n".join(lines)


# -- the shipped ones ------------------------------------------------------------------------------


def test_two_rulesets_ship_and_the_first_is_the_default() -> None:
    assert SHIPPED == ("gardienii", "dragonkeepers")
    assert Game.new(seed=1).ruleset == Ruleset.get("gardienii")


@every_ruleset
def test_a_shipped_ruleset_is_that_of_the_rules_page(name: str) -> None:
    assert Ruleset.get(name).to_dict() == RULES_PAGE[name]


@every_ruleset
def test_the_compiled_form_holds_the_same(name: str) -> None:
    rules, page = Ruleset.get(name).rules[0], RULES_PAGE[name]
    assert rules.dtype == RULES
    for field, value in page.items():
        if isinstance(value, int):
            assert rules[field] == value, field
    for pile in ("left_deck", "right_deck", "starting_cards"):
        assert rules[pile].tolist() == [page[pile].get(card, 0) for card in CARDS]
    for share, deck, faces in (
        ("number_share", "left_deck", "123456"),
        ("colour_share", "right_deck", "wrbg"),
    ):
        counts = [sum(n for card, n in page[deck].items() if card[1] == face) for face in faces]
        assert rules[share].tolist()[-len(faces) :] == [n / sum(counts) for n in counts]
    assert rules["number_share"][0] == 0
    assert rules["card_value"].tolist() == [1, 2, 3, 4, 5] * 4 + [1] * 12 + [1]
    assert rules["piece_points"].tolist() == [1, 4, 6, 8, 10, 12, 16, 20]
    assert rules["piece_count"].tolist() == [8, 8, 5, 4, 8, 4, 5, 3]
    assert rules["pieces_removed"][2:].tolist() == [16, 12, 8]
    assert rules["amulets_to_end"][2:].tolist() == [7, 8, 9]
    assert rules["pearl_points"][:15].tolist() == [3] * 5 + [4] * 4 + [8] * 3 + [9] * 3
    assert (rules["pearls"], rules["crests"], rules["piece_values"]) == (15, 3, 8)
    assert rules["crest_points"].tolist() == [16, 10, 6]


def test_the_compiled_form_is_sorted_whatever_the_order_in_the_file() -> None:
    rules = Ruleset.from_dict(data(amulet_pieces={"20": 6, "4": 10}, pearls={"9": 1, "3": 2})).rules[0]
    assert rules["piece_points"][:2].tolist() == [4, 20]
    assert rules["piece_count"][:2].tolist() == [10, 6]
    assert rules["pearl_points"][:3].tolist() == [3, 3, 9]


def test_the_compiled_form_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="read-only"):
        Ruleset.get("gardienii").rules["take_limit"] = 5


# -- reading and writing ---------------------------------------------------------------------------


@every_ruleset
def test_a_dict_gives_the_same_ruleset(name: str) -> None:
    assert Ruleset.from_dict(RULES_PAGE[name]) == Ruleset.get(name)
    assert Ruleset.get(MappingProxyType(RULES_PAGE[name])) == Ruleset.get(name)


@every_ruleset
@pytest.mark.parametrize("suffix", [".toml", ".json", ".JSON"])
def test_a_file_gives_the_same_ruleset(name: str, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"custom{suffix}"
    write = toml if suffix == ".toml" else json.dumps
    path.write_text(write(RULES_PAGE[name]), encoding="utf-8")
    expected = Ruleset.get(name)
    assert Ruleset.load(path) == Ruleset.load(str(path)) == expected
    assert Ruleset.get(path) == Ruleset.get(str(path)) == expected


def test_a_file_beside_a_shipped_name_does_not_stand_in_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gardienii").write_text(toml(data(take_limit=1)))
    monkeypatch.chdir(tmp_path)
    assert Ruleset.get("gardienii").take_limit == 3


@every_ruleset
def test_a_ruleset_survives_json(name: str) -> None:
    ruleset = Ruleset.get(name)
    assert Ruleset.from_dict(json.loads(json.dumps(ruleset.to_dict()))) == ruleset


def test_get_gives_a_ruleset_back() -> None:
    ruleset = Ruleset.from_dict(DEFAULT)
    assert Ruleset.get(ruleset) is ruleset


def test_counts_left_out_of_a_prize_are_0() -> None:
    short = {**DEFAULT["prizes"], "1": {"piece": "lowest", "crystals": 1}}
    ruleset = Ruleset.from_dict(data(prizes=short))
    assert ruleset == Ruleset.from_dict(DEFAULT)
    assert ruleset.prizes["1"] == Prize("lowest", crystals=1)


def test_replace_changes_a_copy() -> None:
    ruleset = Ruleset.get("gardienii")
    other = ruleset.replace(name="fast", take_limit=4, crests=[5], prizes=DEFAULT["prizes"])
    assert (other.name, other.take_limit, other.crests) == ("fast", 4, (5,))
    assert (ruleset.name, ruleset.take_limit, ruleset.crests) == ("gardienii", 3, (16, 10, 6))
    assert other.replace(name="gardienii", take_limit=3, crests=[16, 10, 6]) == ruleset


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"take_limit": 0}, "take_limit: 0"), ({"speed": 1}, "speed: "), ({"crests": "x"}, "crests: ")],
)
def test_replace_checks_again(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RulesetError, match=f"^{message}"):
        Ruleset.get("gardienii").replace(**changes)


@every_ruleset
def test_a_record_refers_to_a_shipped_ruleset_by_name(name: str) -> None:
    assert Ruleset.get(name).reference() == name
    assert Ruleset.from_dict(RULES_PAGE[name]).reference() == name


@pytest.mark.parametrize("changes", [{"name": "mine"}, {"take_limit": 2}, {"name": "dragonkeepers"}])
def test_a_record_holds_the_whole_of_any_other(changes: dict[str, Any]) -> None:
    assert Ruleset.from_dict(data(**changes)).reference() == data(**changes)


def test_equal_rulesets_have_equal_hashes() -> None:
    one, other = Ruleset.get("gardienii"), Ruleset.from_dict(DEFAULT)
    assert (one == other, hash(one) == hash(other)) == (True, True)
    assert one != one.replace(take_limit=2)
    assert len({one, other, one.replace(take_limit=2)}) == 2


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))])
def test_copies_are_equal_and_their_compiled_form_cannot_be_written_either(copied: Any) -> None:
    ruleset = Ruleset.get("dragonkeepers")
    assert not ruleset.rules.flags.writeable
    assert copied(ruleset) == ruleset
    assert copied(ruleset).rules == ruleset.rules
    assert not copied(ruleset).rules.flags.writeable


# -- a ruleset does not change ---------------------------------------------------------------------


def every_change(value: Any) -> Iterator[Any]:
    """Empty each object and list inside some data, and give them after each."""
    for part in list(value.values() if isinstance(value, dict) else value):
        if isinstance(part, dict | list):
            yield from every_change(part)
            part.clear()
            yield value


def test_changing_what_it_was_made_from_does_not_change_it() -> None:
    source = data()
    ruleset = Ruleset.from_dict(source)
    changed = ruleset.replace(amulet_pieces=source["amulet_pieces"], prizes=source["prizes"])
    for _ in every_change(source):
        assert ruleset.to_dict() == changed.to_dict() == DEFAULT


def test_changing_what_it_gave_does_not_change_it() -> None:
    ruleset = Ruleset.from_dict(DEFAULT)
    for _ in every_change(ruleset.to_dict()):
        assert ruleset.to_dict() == DEFAULT
    custom = ruleset.replace(name="mine")
    given = custom.reference()
    assert isinstance(given, dict)
    given["left_deck"].clear()
    assert custom.left_deck == LEFT_DECK


def test_nothing_in_it_can_be_set() -> None:
    ruleset: Any = Ruleset.from_dict(DEFAULT)
    with pytest.raises(AttributeError):
        ruleset.take_limit = 5
    with pytest.raises(AttributeError):
        ruleset.prizes["1"].crystals = 5
    for table in TABLES:
        with pytest.raises(TypeError):
            getattr(ruleset, table)["1"] = 5


# -- what is refused -------------------------------------------------------------------------------

RANGES = {
    "supply_per_deck": (1, 2),
    "modifications_per_turn": (0, 2),
    "crystals_per_turn": (0, 10),
    "crystal_points": (0, 1000),
    "take_limit": (1, 10),
    "turn_limit": (1, 510),
    "dark_dragons": (0, 20),
    "crystals": (0, 20),
    "golden_eggs": (0, 20),
    "egg_points": (0, 1000),
    "egg_majority_points": (0, 1000),
}
NO_NUMBER = ["1", 1.0, 1.5, True, None, [1], {}, float("nan"), float("inf"), b"1"]


def refused(ruleset: Any, field: str) -> None:
    """Check that a ruleset is refused, and that the message starts with the field at fault."""
    with pytest.raises(RulesetError) as caught:
        Ruleset.from_dict(ruleset)
    assert str(caught.value).startswith(field), str(caught.value)


@pytest.mark.parametrize("field", RANGES)
def test_numbers_are_whole_and_within_their_range(field: str) -> None:
    least, most = RANGES[field]
    for value in (least, most):
        ruleset = Ruleset.from_dict(data(left_deck={"W1": 2}, **{field: value}))
        assert getattr(ruleset, field) == value
    for wrong in (least - 1, most + 1, -1, -(10**30), 10**30, *NO_NUMBER):
        refused(data(**{field: wrong}), f"{field}: ")


@pytest.mark.parametrize("field", ["enclosed_columns_close", "dragons_score"])
def test_switches_are_true_or_false(field: str) -> None:
    wrong: Any
    for wrong in (0, 1, "true", "yes", 1.0, None, [], {}):
        refused(data(**{field: wrong}), f"{field}: ")


@pytest.mark.parametrize("wrong", ["", "  ", "two\nlines", "\x1b[2J", "\ud800", 1, None, ["a"], b"a"])
def test_a_name_is_text_on_one_line(wrong: Any) -> None:
    refused(data(name=wrong), "name: ")


@pytest.mark.parametrize("name", ["mine", "Gardienii Dragonilor", "Drachenhüter", "game.toml"])
def test_any_other_text_will_do_as_a_name(name: str) -> None:
    assert Ruleset.from_dict(data(name=name)).name == name


@pytest.mark.parametrize("field", FIELDS)
def test_every_field_is_needed(field: str) -> None:
    ruleset = data()
    del ruleset[field]
    refused(ruleset, f"{field}: missing")


@pytest.mark.parametrize("key", ["speed", "Name", "", "rules", 7, None, ("a",)])
def test_unknown_fields_are_refused(key: Any) -> None:
    refused({**data(), key: 1}, f"{key}: ")


def test_for_an_unknown_field_the_nearest_is_suggested() -> None:
    with pytest.raises(RulesetError, match=r"^take_limits: .* Did you mean 'take_limit'\?"):
        Ruleset.from_dict({**data(), "take_limits": 3})


@pytest.mark.parametrize("table", TABLES)
def test_tables_are_objects(table: str) -> None:
    for wrong in ([], [["W1", 1]], "W1", 1, None, True, 1.5):
        refused(data(**{table: wrong}), f"{table}: ")


@pytest.mark.parametrize("table", TABLES)
def test_unknown_keys_in_tables_are_refused(table: str) -> None:
    for key in ("x", "", "w1", "W6", "1.0", "-1", "01", "1001", "9" * 5000, "٣", "½", 5, None, ("1",)):
        start = f"{table}.{key}: "[:2000]  # messages are cut where they are very long
        refused(data(**{table: {**DEFAULT[table], key: 1}}), start)


COUNTS = [table for table in TABLES if table != "prizes"]


@pytest.mark.parametrize("table", COUNTS)
def test_counts_are_whole_numbers_from_0_up(table: str) -> None:
    for key in DEFAULT[table]:
        for wrong in (-1, 10**6, 10**30, *NO_NUMBER):
            refused(with_entries(table, **{key: wrong}), f"{table}.{key}: ")


@pytest.mark.parametrize("table", ["card_values", "pieces_removed", "amulets_to_end", "prizes"])
def test_tables_with_fixed_keys_need_all_of_them(table: str) -> None:
    for key in DEFAULT[table]:
        rest = {other: value for other, value in DEFAULT[table].items() if other != key}
        refused(data(**{table: rest}), f"{table}.{key}: missing")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"left_deck": {**LEFT_DECK, "Wr": 1}}, "left_deck.Wr: "),
        ({"right_deck": {**RIGHT_DECK, "W1": 1}}, "right_deck.W1: "),
        ({"right_deck": {**RIGHT_DECK, "D6": 1}}, "right_deck.D6: "),
        ({"left_deck": {}}, "left_deck: 0 cards"),
        ({"left_deck": {"W1": 1}}, "left_deck: 1 cards"),
        ({"right_deck": {"Wr": 1, "Wb": 0}}, "right_deck: 1 cards"),
        ({"starting_cards": {"W1": 5}}, "starting_cards: 5 cards"),
        ({"starting_cards": {}}, "starting_cards: 0 cards"),
        ({"starting_cards": {"W1": 18}}, "left_deck, right_deck, starting_cards, dark_dragons: 21 "),
        ({"left_deck": {"D6": 10}}, "left_deck, right_deck, starting_cards, dark_dragons: 21 "),
        ({"dark_dragons": 16}, "left_deck, right_deck, starting_cards, dark_dragons: 128 "),
        ({"card_values": {**DEFAULT["card_values"], "dark": 50}}, "card_values: "),
        ({"amulet_pieces": dict.fromkeys("123456789", 5)}, "amulet_pieces: 9 different"),
        ({"amulet_pieces": {"1": 20, "2": 20, "3": 20, "4": 1}}, "amulet_pieces: "),
        ({"amulet_pieces": {"1": 21}}, "amulet_pieces.1: "),
        ({"amulet_pieces": {"1": 15}}, "pieces_removed.2: 16 pieces cannot be removed from 15"),
        ({"pieces_removed": {"2": 0, "3": 0, "4": 46}}, "pieces_removed.4: 46"),
        ({"amulets_to_end": {"2": 0, "3": 8, "4": 9}}, "amulets_to_end.2: 0"),
        ({"amulets_to_end": {"2": 61, "3": 8, "4": 9}}, "amulets_to_end.2: 61"),
        ({"pearls": {"1": 11, "2": 10}}, "pearls: the number of pearls: 21"),
        ({"pearls": {"200": 1, "56": 1}}, "pearls: the points of all pearls together: 256"),
        ({"crests": [16, 10, 6, 1]}, "crests: "),
        ({"crests": [10, 16]}, "crests: "),
        ({"crests": [6, 10, 16]}, "crests: "),
        ({"crests": [16, 10, -6]}, "crests: "),
        ({"crests": [1001]}, "crests: "),
        ({"crests": [16.0]}, "crests: "),
        ({"crests": [True]}, "crests: "),
        ({"crests": ["16"]}, "crests: "),
        ({"crests": [None]}, "crests: "),
        ({"crests": {"1": 16}}, "crests: "),
        ({"crests": "16"}, "crests: "),
        ({"crests": 16}, "crests: "),
        ({"crests": None}, "crests: "),
    ],
)
def test_what_does_not_go_together_is_refused(changes: dict[str, Any], field: str) -> None:
    refused(data(**changes), field)


@pytest.mark.parametrize(
    ("number", "prize", "field"),
    [
        ("7", {"piece": "lowest"}, "prizes.7: "),
        ("0", {"piece": "lowest"}, "prizes.0: "),
        ("1", {"piece": "middle"}, "prizes.1.piece: "),
        ("1", {"piece": None}, "prizes.1.piece: "),
        ("1", {"piece": 1}, "prizes.1.piece: "),
        ("1", {"piece": ["lowest"]}, "prizes.1.piece: "),
        ("1", {"piece": np.array(["lowest"])}, "prizes.1.piece: "),
        ("1", {"crystals": 1}, "prizes.1.piece: "),
        ("1", {}, "prizes.1.piece: "),
        ("2", {"piece": "lowest", "pearls": 1}, "prizes.2.pearls: "),
        ("2", {"piece": "lowest", 1: 1}, "prizes.2.1: "),
        ("3", {"piece": "lowest", "crystals": -1}, "prizes.3.crystals: "),
        ("4", {"piece": "lowest", "dark_dragons": 21}, "prizes.4.dark_dragons: "),
        ("5", {"piece": "lowest", "golden_eggs": 1.0}, "prizes.5.golden_eggs: "),
        ("5", {"piece": "lowest", "golden_eggs": True}, "prizes.5.golden_eggs: "),
        ("5", {"piece": "lowest", "golden_eggs": None}, "prizes.5.golden_eggs: "),
        ("6", "highest", "prizes.6: "),
        ("6", ["highest"], "prizes.6: "),
        ("6", None, "prizes.6: "),
        ("6", Prize("middle"), "prizes.6.piece: "),
        ("6", Prize("highest", crystals=-1), "prizes.6.crystals: "),
    ],
)
def test_wrong_prizes_are_refused(number: str, prize: Any, field: str) -> None:
    refused(with_entries("prizes", **{number: prize}), field)


@pytest.mark.parametrize("wrong", [[], [1], "gardienii", 1, None, 1.5, {1, 2}])
def test_a_ruleset_is_an_object(wrong: Any) -> None:
    refused(wrong, "A ruleset is an object")


@pytest.mark.parametrize(
    "changes",
    [
        {"amulet_pieces": {}, "pieces_removed": {"2": 0, "3": 0, "4": 0}},
        {"pearls": {}},
        {"crests": []},
        {"crests": (16, 16, 16)},
        {"dark_dragons": 15},
        {"left_deck": {"D6": 2}},
        {"left_deck": {"W1": 1, "W2": 1, "W3": 0}, "right_deck": {"Wr": 2}},
        {"starting_cards": {"D6": 6}},
        {"amulet_pieces": {"0": 20, "1000": 20, "5": 20}},
        {"pieces_removed": {"2": 45, "3": 45, "4": 45}},
        {"pearls": {"0": 10, "25": 10}},
        {"prizes": dict.fromkeys("123456", Prize())},
        {"prizes": dict.fromkeys("123456", Prize("highest", 20, 20, 20))},
    ],
)
def test_what_is_just_allowed_can_be_played(changes: dict[str, Any]) -> None:
    ruleset = Ruleset.from_dict(data(**changes))
    for players in (2, 3, 4):
        game = Game.new(players, ruleset, seed=1)
        while not game.is_over:
            game.apply(game.legal_actions()[0])
        assert game.end is not None


# -- files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("broken.toml", b"name = ", "is not valid TOML"),
        ("broken.json", b'{"name": ', "is not valid JSON"),
        ("list.json", b"[1, 2]", "A ruleset is an object"),
        ("number.json", b"5", "A ruleset is an object"),
        ("empty.json", b"", "is not valid JSON"),
        ("empty.toml", b"", "name: missing"),
        ("other.toml", b"name = 'x'", "supply_per_deck: missing"),
        ("latin.toml", 'name = "Hüter"'.encode("latin-1"), "is not valid TOML"),
        ("latin.json", '{"name": "Hüter"}'.encode("latin-1"), "is not valid JSON"),
        ("binary.toml", bytes(range(256)), "is not valid TOML"),
        ("deep.json", b"[" * 100_000, "is not valid JSON"),
        ("deep.toml", b"a = " + b"[" * 100_000, "is not valid TOML"),
        ("long.json", b"1" * 10_000, "is not valid JSON"),
        ("nan.json", b'{"name": NaN}', "supply_per_deck: missing"),
        ("date.toml", b"name = 2020-01-01", "supply_per_deck: missing"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_bad_file_is_refused_by_name(file: str, content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / file
    path.write_bytes(content)
    for argument in (path, str(path)):
        with pytest.raises(RulesetError, match=message) as caught:
            Ruleset.get(argument)
        assert file in str(caught.value)


def test_a_wrong_field_in_a_file_is_named_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "slow.toml"
    path.write_text(toml(data(take_limit=0)))
    with pytest.raises(RulesetError, match=r"slow\.toml: take_limit: 0"):
        Ruleset.load(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "no.toml", tmp_path / "no.json", tmp_path):
        with pytest.raises(RulesetError, match="cannot be read"):
            Ruleset.load(path)


@pytest.mark.parametrize(
    "wrong", ["", "gardieni", "Gardienii", " gardienii", 1, None, [], 1.5, b"gardienii"]
)
def test_an_unknown_name_is_refused(wrong: Any) -> None:
    with pytest.raises(RulesetError, match="expected one of: gardienii, dragonkeepers"):
        Ruleset.get(wrong)


# -- whatever is put in the place of any part ------------------------------------------------------

ODD: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 21, 1.0, float("nan"), float("inf"), 10**30, 10**5000, 2**63),
    *("", "x", "1", "lowest", "W1", "9" * 5000, b"", b"1", "\ud800", "\x00"),
    *([], [[]], [1], [None], ["W1"], [1] * 50, (), (1,), {1}, range(3)),
    *({}, {"1": {}}, {"1": None}, {"x": 1}, {1: 1}, {None: None}, {"": 0}, {"W1": 30}, {"9" * 5000: 1}),
    *(object(), np.int64(1), np.float64(1), np.array([1, 2]), np.array(["x"]), Path("x"), 1j),
    *(MappingProxyType({"1": 1}), Prize(), Prize("lowest", -1), Prize(None)),  # type: ignore[arg-type]
]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every part of some data, at any depth."""
    for key in value if isinstance(value, dict) else range(len(value)):
        yield (*path, key)
        if isinstance(value[key], dict | list):
            yield from places(value[key], (*path, key))


def put(whole: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy of some data with one part replaced."""
    if not path:
        return value
    result = copy.copy(whole)
    result[path[0]] = put(whole[path[0]], path[1:], value)
    return result


def read(ruleset: Any) -> tuple[Ruleset | None, str]:
    """The ruleset, or the message with which it is refused."""
    try:
        return Ruleset.from_dict(ruleset), ""
    except RulesetError as error:
        return None, str(error)


@pytest.mark.parametrize("field", FIELDS)
def test_no_odd_value_raises_anything_but_a_ruleset_error(field: str) -> None:
    starts = (field, "pieces_removed", "left_deck, right_deck", "card_values")
    accepted = 0
    for path in places(DEFAULT):
        for odd in ODD if path[0] == field else ():
            ruleset, message = read(put(DEFAULT, path, odd))
            if ruleset is None:
                assert message.startswith(starts)
            else:
                accepted += 1
                assert Ruleset.from_dict(json.loads(json.dumps(ruleset.to_dict()))) == ruleset
                assert len(ruleset.rules) == 1
    assert accepted > 0
