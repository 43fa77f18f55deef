"""The arena's page: complete in itself, well-formed, the same every time, and as a browser shows it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest
from chromium import PROGRAM, browser
from small_matches import match, round_robin, tournament

if TYPE_CHECKING:
    from chromium import Page

matplotlib = pytest.importorskip("matplotlib", reason="needs matplotlib (extra `arena`)")
from gardienii_env.arena import content, html  # noqa: E402

NASTY = ("<script>alert(1)</script>", '$x$"\'&amp;\x1b[0m\x00 {title} id="a"')
FACTS = {"command": "gardienii evaluate --agents 'a<b'", "versions": "1\n2"}


@cache
def duel() -> str:
    return html.match_page(match(("greedy", "random"), 12), FACTS)


@cache
def four() -> str:
    return html.match_page(match(("greedy", "random", "random", "greedy"), 4))


@cache
def nasty() -> str:
    return html.match_page(replace(match(("greedy", "random"), 12), agents=NASTY, ruleset="<&>"))


@cache
def level() -> str:
    return html.match_page(match(("greedy", "greedy"), 3))


@cache
def single() -> str:
    return html.match_page(match(("greedy", "random"), 1))


@cache
def eight() -> str:
    names = [*NASTY, *("agent-" + "x" * 3 * k for k in range(6))]
    return html.tournament_page(round_robin(names, ["greedy", "random"] * 4, 3), FACTS)


@cache
def trio() -> str:
    played = match(("greedy", "random", "random"), 4)
    names = ("greedy", "random", "other", "absent")
    tables = [
        ((0, 1, 2), replace(played, agents=names[:3])),
        ((0, 1, 3), replace(played, agents=names[:3])),
    ]
    return html.tournament_page(tournament(names, tables, 3))


PAGES = (duel, four, nasty, level, single, eight, trio)
pages = pytest.mark.parametrize("page", PAGES)


def tree(page: str) -> ElementTree.Element:
    """The page as a tree; it is well-formed XML too."""
    return ElementTree.fromstring(page)


def words(element: ElementTree.Element) -> list[str]:
    return ["".join(part.itertext()) for part in element]


@pages
def test_a_page_is_well_formed_and_complete_in_itself(page: Callable[[], str]) -> None:
    text = page()
    root = tree(text)
    assert "://" not in text
    assert not re.search(r"@import|url\((?!#)", text)
    for element in root.iter():
        assert element.tag not in {"script", "img", "iframe", "object", "image", "foreignObject"}
        links = [value for key, value in element.attrib.items() if key in {"href", "src", "data"}]
        assert all(link.startswith("#") or link == "data:," for link in links)
        assert not any(key.startswith("on") for key in element.attrib)
    assert "nan" not in " ".join(root.itertext()).replace("unknown", "").split()


@pages
def test_ids_are_unique_and_what_refers_to_one_finds_it(page: Callable[[], str]) -> None:
    root = tree(page())
    ids = [element.attrib["id"] for element in root.iter() if "id" in element.attrib]
    assert len(ids) == len(set(ids)) > 20
    references = set(re.findall(r'(?:href="|url\()#([^")]+)', ElementTree.tostring(root, "unicode")))
    for element in root.iter():
        references.update(element.attrib.get("aria-labelledby", "").split())
    assert references
    assert references <= set(ids)


@pages
def test_every_plot_has_a_title_a_description_and_the_pages_colours(page: Callable[[], str]) -> None:
    plots = tree(page()).findall(".//svg")
    assert len(plots) == 5
    for svg in plots:
        title, description = svg.findtext("title"), svg.findtext("desc")
        assert title
        assert description
        assert len(description) > 10
        assert svg.findall(".//text")
        drawn = ElementTree.tostring(svg, "unicode")
        assert "var(--ink)" in drawn
        assert not re.search(
            r"#[0-9a-f]{6}\b(?![^<]*</)", re.sub(r'(id|href|clip-path)="[^"]*"', "", drawn)
        )
    style = (tree(page()).findtext(".//style") or "").partition("@media")
    used = set(re.findall(r"var\((--[a-z0-9-]+)\)", page())) - {"--width"}
    for part in (style[0], style[2]):  # light, dark
        assert used <= set(re.findall(r"(--[a-z0-9-]+):", part))


def test_headings_go_down_one_by_one_and_tables_have_heads() -> None:
    for page in PAGES:
        root = tree(page())
        levels = [int(e.tag[1]) for e in root.iter() if re.fullmatch("h[1-6]", e.tag)]
        assert levels[0] == 1
        assert set(levels[1:]) == {2}
        for table in root.findall(".//table"):
            assert table.findtext("caption")
            assert all(head.attrib["scope"] == "col" for head in table.findall("thead/tr/th"))
            heads = len(table.findall("thead/tr/th"))
            assert {len(row) for row in table.findall("tbody/tr")} == {heads}


def test_the_tables_and_sentences_are_those_of_the_terminal() -> None:
    result = match(("greedy", "random"), 12)
    root = tree(duel())
    tables = root.findall(".//table")
    games = content.match_games(result)
    sheets = [content.result_sheet(result), content.points_sheet(games), content.sets_sheet(games)]
    sheets += [content.length_sheet(games).turned(), content.ends_sheet(games)]
    for table, sheet in zip(tables, sheets, strict=True):
        assert [tuple(words(row)) for row in table.findall("tbody/tr")] == list(sheet.rows)
        assert words(table.findall("thead/tr")[0]) == list(sheet.headers)
    verdict = root.find(".//div[@class='verdict']")
    assert verdict is not None
    assert words(verdict) == content.match_sentences(result)


def test_facts_come_last_and_are_escaped() -> None:
    root = tree(duel())
    facts = root.findall(".//section")[-1].find("dl")
    assert facts is not None
    shown = dict(
        zip([e.text for e in facts.findall("dt")], [e.text for e in facts.findall("dd")], strict=True)
    )
    assert shown["command"] == FACTS["command"]
    assert shown["versions"] == "1\\n2"
    assert shown["seed"] == "0"
    assert shown["games"] == "24"


def test_names_are_text_wherever_they_stand() -> None:
    for page in (nasty(), eight()):
        assert "<script" not in page
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
        assert "\x1b" not in page
        assert "\x00" not in page
        shown = [text.text or "" for text in tree(page).findall(".//svg//text")]
        assert any(text.lstrip("12345678 ").startswith("$x$\"'") for text in shown)


def test_a_plot_shows_what_it_should() -> None:
    result = match(("greedy", "random"), 12)
    plots = {svg.findtext("title"): svg for svg in tree(duel()).findall(".//svg")}
    assert set(plots) == {
        "Win share",
        "Margin by deal",
        "Points by source",
        "Sets by number of cards",
        "Length of games",
    }
    shares = [text.text for text in plots["Win share"].findall(".//text")]
    assert {"greedy", "random", *(f"{result.win_share(k).mean:.3f}" for k in range(2))} <= set(shares)
    totals = {f"{result.score(k).mean:.0f}" for k in range(2)}
    assert totals <= {text.text for text in plots["Points by source"].findall(".//text")}
    cross = tree(eight()).findall(".//svg")[1]
    assert cross.findtext("title") == "Head to head"
    figures = [t.text for t in cross.findall(".//text") if re.fullmatch(r"[01]\.\d{3}", t.text or "")]
    assert len(figures) == 8 * 7


def test_the_same_result_gives_the_same_bytes_and_leaves_matplotlib_alone() -> None:
    before = dict(matplotlib.rcParams)
    first = duel.__wrapped__()
    assert dict(matplotlib.rcParams) == before
    with matplotlib.rc_context({"font.size": 30.0, "svg.fonttype": "path", "axes.facecolor": "red"}):
        assert duel.__wrapped__() == first
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import test_arena_html as t; print(repr(t.duel()))"
    )
    command = [sys.executable, "-c", code, str(Path(__file__).parent)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")
    assert done.stdout == repr(first) + "\n"


def test_pyplot_is_never_loaded_and_text_needs_no_matplotlib() -> None:
    code = (
        "import json, sys; from gardienii_env.arena import text; first = 'matplotlib' in sys.modules; "
        "import gardienii_env.arena.html; print(json.dumps([first, 'matplotlib.pyplot' in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [False, False]


def test_without_matplotlib_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from gardienii_env.errors import MissingExtraError\n"
        "try:\n    import gardienii_env.arena.html\n"
        "except MissingExtraError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "gardienii-env[arena]" in done.stdout


# In a browser


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    if PROGRAM is None:
        pytest.skip("needs chromium")
    with browser(tmp_path_factory.mktemp("chromium")) as page:
        yield page


def open_page(window: Page, folder: Path, text: str, width: int = 1280, dark: bool = False) -> None:
    file = folder / "page.html"
    file.write_text(text, encoding="utf-8")
    window.open(file, width, dark=dark)


def test_the_browser_is_without_a_network_and_reports_what_goes_wrong(
    window: Page, tmp_path: Path
) -> None:
    """What the next tests rely on: a page that asks for something and fails is noticed."""
    open_page(
        window, tmp_path, '<img src="http://example.org/a.png"/><script>console.error(1); x()</script>'
    )
    assert len(requests(window)) == 2
    assert window.named("Network.loadingFailed")
    assert len(troubles(window)) >= 2


def requests(window: Page) -> list[str]:
    return [event["request"]["url"] for event in window.named("Network.requestWillBeSent")]


def troubles(window: Page) -> list[dict[str, object]]:
    return window.named("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")


@pytest.mark.parametrize("page", [duel, four, nasty, eight])
@pytest.mark.parametrize("width", [390, 1280])
def test_a_browser_shows_it_without_trouble(
    page: Callable[[], str], width: int, window: Page, tmp_path: Path
) -> None:
    open_page(window, tmp_path, page(), width)
    size = "s => [s.clientWidth, s.clientHeight, s.getBBox().width]"
    sizes = window.value(f"[...document.querySelectorAll('svg')].map({size})")
    assert len(sizes) == 5
    assert all(min(size) > 80 for size in sizes)
    assert window.value("document.documentElement.scrollWidth") == width  # only tables scroll sideways
    assert window.value("document.querySelectorAll('script').length") == 0
    assert requests(window) == [(tmp_path / "page.html").as_uri()]
    assert troubles(window) == []


@pytest.mark.parametrize("dark", [False, True])
def test_text_stands_out_in_light_and_dark_mode(dark: bool, window: Page, tmp_path: Path) -> None:
    """The contrast of ink and of muted text with what they are on, as WCAG counts it: at least 4.5."""
    open_page(window, tmp_path, eight(), dark=dark)
    colour = "getComputedStyle(document.querySelector('{}')).{}"
    below = [window.value(colour.format(*pair)) for pair in (("section", "backgroundColor"),)]
    below.append(window.value(colour.format("body", "backgroundColor")))
    above = [window.value(colour.format(*pair)) for pair in ((".note", "color"), ("h1", "color"))]
    above.append(window.value(colour.format("svg text", "fill")))
    assert (luminance(below[0]) < 0.1) == dark
    for one in above:
        for other in below:
            low, high = sorted([luminance(one), luminance(other)])
            assert (high + 0.05) / (low + 0.05) >= 4.5


def luminance(colour: str) -> float:
    """The relative luminance of `rgb(r, g, b)`."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
