"""The pages in a browser: a person plays by clicks and keys, loads them again, watches the replay."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browsing import addresses, click, complaints, key, until, visit
from chromium import PROGRAM, browser
from helpers import play
from networks import save_network
from serving import Serve, Served, starting

from gardienii_env import Game
from gardienii_env.agents import make_agent
from gardienii_env.record import read_file, verify
from gardienii_env.render.texts import LANGUAGES, catalogue
from gardienii_env.web.replay import replay_page

if TYPE_CHECKING:
    from chromium import Page

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium")

OPTIONS = "document.querySelectorAll('.actions button')"
NAMES = f"[...{OPTIONS}].map((button) => button.dataset.action)"
ASKED = ".actions button"
OVER = ".panel.end a"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    with starting(tmp_path / "games") as start:
        yield start


@pytest.fixture(autouse=True)
def _clean(page: Page) -> Iterator[None]:
    """Every test begins with a fresh page, and ends without a complaint or a request that left."""
    page.events.clear()
    yield
    assert complaints(page) == []
    local = ("http://127.0.0.1:", "file:///", "data:", "blob:http://127.0.0.1:")
    assert [url for url in addresses(page) if not url.startswith(local)] == []
    page.call("Page.navigate", url="about:blank")


def choose(page: Page, label: str, value: str) -> None:
    """Choose in the list with this label."""
    page.value(
        f"(() => {{ const list = [...document.querySelectorAll('label')].find("
        f"(e) => e.textContent.startsWith({label!r})).querySelector('select');"
        f"list.value = {value!r}; list.dispatchEvent(new Event('change', {{bubbles: true}})); }})()"
    )


def begin(page: Page, served: Served, *opponents: str) -> None:
    """Begin a game on the first page."""
    visit(page, served.url + "?language=en")
    until(page, "document.querySelector('form')")
    choose(page, "Players", str(len(opponents) + 1))
    for k, name in enumerate(opponents, start=1):
        choose(page, f"Opponent {k}", name)
    choose(page, "Your seat", "0")
    click(page, "form button[type=submit]")
    until(page, f"document.querySelector({ASKED!r})")
    choose(page, "Others", "none")
    click(page, ".actions summary")  # from now on the list of actions is open


def decide(page: Page, rng: random.Random) -> bool:
    """Make the next decision by a click on the board or in the list, or by a key; False: it is over."""
    until(page, f"document.querySelector({ASKED + ', ' + OVER!r})")
    names = page.value(NAMES)
    if not names:
        return False
    plays = [k for k, name in enumerate(names) if name.startswith("play")]
    k = rng.choice(plays or range(len(names)))
    page.value(f"void ({OPTIONS}[0].closest('.actions').id = 'old')")
    card = f'[data-focus="card {names[k]}"]'
    if rng.random() < 0.4 and page.value(f"Boolean(document.querySelector({card!r}))"):
        click(page, card)
    elif k < 9 and rng.random() < 0.5:
        key(page, str(k + 1))
    else:
        click(page, f'[data-action="{names[k]}"]')
    until(page, "!document.getElementById('old')")
    return True


@pytest.mark.parametrize("kind", ["greedy", "network"])
def test_a_whole_game_by_clicks_and_its_replay(
    page: Page, serve: Serve, tmp_path: Path, kind: str
) -> None:
    network = make_agent(f"network:{save_network(tmp_path / 'net.onnx')}")
    served = serve("greedy", network=network)
    begin(page, served, kind)
    rng = random.Random(kind)
    for _ in range(8):
        assert decide(page, rng)
    until(page, f"document.querySelector({ASKED!r})")
    address = page.value("location.href")
    before = page.value("document.querySelector('.own').innerText")
    page.call("Page.reload")
    until(page, f"document.readyState === 'complete' && document.querySelector({ASKED!r})")
    assert page.value("document.querySelector('.own').innerText") == before
    while decide(page, rng):
        pass
    (file,) = (tmp_path / "games").glob("*.jsonl")
    ((_, record),) = read_file(file)
    game = verify(record)
    rows = page.value(
        "[...document.querySelectorAll('.end tbody tr:first-child td')].map((e) => e.textContent)"
    )
    assert rows == [str(score) for score in game.scores()]

    page.call("Page.navigate", url=address)  # a game that is over can be looked at again
    until(page, f"document.querySelector({OVER!r})")
    click(page, OVER)
    until(page, "document.querySelector('.chart')")
    assert page.value("document.querySelectorAll('.log li').length") == len(record["moves"])
    choose(page, "Agent", "greedy")
    until(page, "document.querySelector('.verdict .same, .verdict .differs')")
    key(page, "End")
    assert page.value("Boolean(document.querySelector('.panel.end'))")
    click(page, ".controls button")
    for _ in record["moves"]:
        key(page, "ArrowRight")
    assert page.value("Boolean(document.querySelector('.panel.end'))")


def test_a_game_of_four_is_shown_move_by_move_and_hints_are_given(page: Page, serve: Serve) -> None:
    served = serve("greedy", "ismcts:30")
    begin(page, served, "greedy", "greedy", "greedy")
    choose(page, "Others", "fast")
    rng = random.Random(1)
    for _ in range(6):
        decide(page, rng)
    until(page, f"document.querySelector({ASKED!r})")
    legal = page.value(NAMES)
    page.value("void [...document.querySelectorAll('.verdict option')].forEach("
               "(e) => { e.selected = e.textContent === 'ismcts:30'; })")  # fmt: skip
    click(page, "[data-focus=hint]")
    until(page, "document.querySelector('.options tbody')")
    assert page.value("document.querySelectorAll('.options tbody tr').length") == len(legal)
    assert page.value(NAMES) == legal


def test_an_address_with_a_wrong_key_shows_no_game(page: Page, serve: Serve) -> None:
    served = serve()
    player = served.new()
    visit(page, f"{served.url}games/{player.id}#wrong")
    until(page, "document.querySelector('p.error')")
    assert "There is no such game" in page.value("document.body.innerText")
    assert not page.value("Boolean(document.querySelector('.board'))")
    page.events[:] = [e for e in page.events if "404" not in str(e)]  # the browser's log tells of it


def test_a_server_that_is_gone_is_told_and_the_game_goes_on_when_it_is_back(
    page: Page, serve: Serve
) -> None:
    served = serve("greedy")
    begin(page, served, "greedy")
    page.call(
        "Network.emulateNetworkConditions",
        offline=True,
        latency=0,
        downloadThroughput=-1,
        uploadThroughput=-1,
    )
    number = page.value(NAMES)
    click(page, ASKED)
    until(page, "document.querySelector('.error')")
    assert page.value(NAMES) == number
    page.call(
        "Network.emulateNetworkConditions",
        offline=False,
        latency=0,
        downloadThroughput=-1,
        uploadThroughput=-1,
    )
    assert decide(page, random.Random(2))
    until(page, "!document.querySelector('.error')")
    page.events[:] = [e for e in page.events if "ERR_INTERNET_DISCONNECTED" not in str(e)]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("width", "height", "dark"), [(390, 844, True), (1280, 800, False)])
def test_pages_fit_in_every_language(
    page: Page, serve: Serve, tmp_path: Path, language: str, width: int, height: int, dark: bool
) -> None:
    served = serve()
    player = served.new("greedy", "greedy", "greedy", ruleset="dragonkeepers")
    game = play(Game.new(4, "dragonkeepers", 2), random.Random(2), 150)
    file = tmp_path / "game.html"
    file.write_text(replay_page(game.to_record(), [make_agent("greedy")], language), encoding="utf-8")
    for url, ready, title in (
        (served.url, "form", "web.new_game"),
        (f"{served.url}games/{player.id}", ASKED, "web.game"),
        (file.as_uri(), ".chart", "web.replay"),
    ):
        key_of_game = f"#{player.key}" if "/games/" in url else ""
        visit(page, f"{url}?language={language}{key_of_game}", width, height, dark)
        until(page, f"document.querySelector({ready!r})")
        if ready == ".chart":
            key(page, "End")
        assert page.value("document.documentElement.scrollWidth") <= width
        assert page.value("[...document.querySelectorAll('.result')].every("
                          "(e) => e.scrollWidth <= e.parentElement.clientWidth)")  # fmt: skip
        assert page.value("document.documentElement.lang") == language
        assert str(catalogue(language)[title]) in page.value("document.title")
        assert "undefined" not in page.value("document.body.innerText")
        assert page.value(UNNAMED) == []


UNNAMED = """[...document.querySelectorAll("button, select, input, a, [role=img]")].filter((e) => !(
    e.getAttribute("aria-label") || e.textContent.trim() || e.labels?.length)).map((e) => e.outerHTML)"""
"""Elements that a screen reader could not name."""


# -- a replay in a file ----------------------------------------------------------------------------


def open_replay(page: Page, tmp_path: Path, players: int = 3) -> Any:
    record = play(Game.new(players, seed=4), random.Random(4)).to_record()
    file = tmp_path / "game.html"
    file.write_text(
        replay_page(record, [make_agent("greedy"), make_agent("ismcts:200")]), encoding="utf-8"
    )
    visit(page, file.as_uri() + "?language=en")
    until(page, "document.querySelector('.chart')")
    return record


def place(page: Page) -> int:
    return int(page.value("document.querySelector('input[type=range]').value"))


def test_a_replay_steps_with_keys_and_shows_each_position(page: Page, tmp_path: Path) -> None:
    record = open_replay(page, tmp_path)
    for k in (1, 2, 3):
        key(page, "ArrowRight")
        assert place(page) == k
        game = Game.from_record(record, k)
        points = page.value("[...document.querySelectorAll('.points')].map((e) => e.textContent)")
        assert points == [f"{score} point{'' if score == 1 else 's'}" for score in game.scores()]
        hands = page.value("[...document.querySelectorAll('.seats .token.hand')].map((e) => e.title)")
        assert hands == [f"hand: {int(size)}" for size in game.state["hand"].sum(axis=1)[:3]]
    key(page, "ArrowLeft")
    assert place(page) == 2
    key(page, "PageDown")
    assert Game.from_record(record, place(page)).turns == 1
    key(page, "End")
    assert place(page) == len(record["moves"])
    key(page, "ArrowRight")
    assert place(page) == len(record["moves"])
    key(page, "Home")
    assert place(page) == 0


def test_differences_are_found_one_after_the_other(page: Page, tmp_path: Path) -> None:
    record = open_replay(page, tmp_path)
    greedy, moves = make_agent("greedy"), record["moves"]
    other = [
        k for k, move in enumerate(moves) if greedy.choose(Game.from_record(record, k)) != move["action"]
    ]
    found = []
    if other[0] == 0:
        found, other = [0], other
    while len(found) < 10:
        key(page, "n")
        found.append(place(page))
    assert found == other[:10]
    key(page, "p")
    assert place(page) == other[8]
    assert page.value("Boolean(document.querySelector('.verdict .differs'))")
    assert page.value("document.querySelectorAll('.log .other').length") == len(other)


def test_a_seat_sees_no_other_hand(page: Page, tmp_path: Path) -> None:
    open_replay(page, tmp_path)
    for _ in range(30):
        key(page, "ArrowRight")
    assert page.value("document.querySelectorAll('.seat .open').length") == 3
    choose(page, "Show", "1")
    assert page.value("document.querySelectorAll('.seat .open').length") == 1
    assert page.value("document.querySelectorAll('.points').length") == 0
    assert page.value("document.querySelectorAll('.chart polyline').length") == 1


def test_the_address_remembers_move_and_agent(page: Page, tmp_path: Path) -> None:
    open_replay(page, tmp_path)
    choose(page, "Agent", "1")
    for _ in range(7):
        key(page, "ArrowRight")
    until(page, "location.hash.includes('move=7')")
    address = page.value("location.href")
    page.call("Page.navigate", url="about:blank")
    visit(page, address)
    until(page, "document.querySelector('.chart')")
    assert place(page) == 7
    assert "ismcts:200" in page.value("location.hash").replace("%3A", ":")
    assert page.value("document.querySelector('.verdict select').value") == "1"


def test_what_an_agent_would_do_is_ranked_by_what_it_costs(page: Page, tmp_path: Path) -> None:
    record = open_replay(page, tmp_path)
    choose(page, "Agent", "1")
    choose(page, "Show", "1")
    own = sum(move["player"] == 1 for move in record["moves"])
    assert f" of {own}" in page.value("document.querySelector('.verdict').innerText")
    lines = page.value("[...document.querySelectorAll('.worst li')].map((e) => e.textContent)")
    costs = [float(re.findall(r"\u2212([0-9.]+)\)$", line)[0]) for line in lines]
    assert len(costs) > 3
    assert costs == sorted(costs, reverse=True)
    assert re.search(r"^Turn \d+: Seat 1 .*; ismcts:200 would: ", lines[0])
    click(page, ".worst button")
    assert lines[0].split(": ", 1)[1].split(" (\u2212")[0] in page.value(
        "document.querySelector('.verdict .differs').textContent"
    )
    assert "from \u22121 (lost) to 1 (won)" in page.value("document.body.innerText")


def test_the_story_tells_sets_and_turns(page: Page, serve: Serve) -> None:
    served = serve("greedy")
    begin(page, served, "greedy")
    assert "(0 of 3 taken)" in page.value("document.querySelector('.status').textContent")
    rng = random.Random(3)
    while not page.value("Boolean(document.querySelector('.log').innerText.match(/gets?: /))"):
        assert decide(page, rng)
    told = page.value("document.querySelector('.log').innerText")
    assert re.search(r"plays? \S+.* \(\d \S+ dragons?\)", told)
    assert "Turn 1\n" in told
    assert "You take " in told
    assert re.search(r"your points so far: \d+", page.value("document.querySelector('.own').innerText"))


def test_an_address_that_leads_nowhere_has_a_plain_page(page: Page, serve: Serve) -> None:
    visit(page, serve().url + "nothing?language=hu")
    until(page, "document.querySelector('p.error')")
    assert "Ezen a címen nincs oldal" in page.value("document.body.innerText")
    page.events[:] = [e for e in page.events if "404" not in str(e)]


def test_a_click_on_the_points_goes_there(page: Page, tmp_path: Path) -> None:
    record = open_replay(page, tmp_path)
    click(page, ".chart")
    assert abs(place(page) - len(record["moves"]) / 2) < len(record["moves"]) / 10
