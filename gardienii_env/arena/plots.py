"""Plots of the arena as SVG for a page: what they show, and how they fit into it.

Each function gives one `<svg>` element. Its colours are variables of the page's style sheet
(`page.css`), so that it follows light and dark mode; its ids start with the plot's name, so that several
fit into one page. The same figures give the same bytes. It needs matplotlib (extra `arena`).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from math import ceil, isnan
from typing import Any
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt

from gardienii_env.arena.content import labels
from gardienii_env.arena.results import Estimate, Rating
from gardienii_env.errors import MissingExtraError
from gardienii_env.rules.cards import NUMBERS
from gardienii_env.rules.scoring import SOURCES

try:
    import matplotlib
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle
    from matplotlib.ticker import MaxNLocator
except ImportError as error:
    raise MissingExtraError("The arena's page", "arena") from error

__all__ = [
    "cross_plot",
    "intervals_plot",
    "length_plot",
    "margins_plot",
    "points_plot",
    "sets_grid_plot",
    "sets_plot",
]

WIDTH = 360.0
"""Of a plot, in its own units, which are about a pixel on a phone."""

NAME_WIDTH = 18
FONT, SMALL = 11, 10
MOST_BARS = 40
DASHES = (0, (4, 3))

INK, MUTED, GRID, SURFACE = "#010101", "#010102", "#010103", "#010104"
AHEAD, BEHIND = "#010201", "#010202"
AGENTS = tuple(f"#0103{k:02x}" for k in range(4))
PARTS = tuple(f"#0104{k:02x}" for k in range(len(SOURCES)))
VARIABLES = {
    INK: "--ink",
    MUTED: "--muted",
    GRID: "--grid",
    SURFACE: "--surface",
    AHEAD: "--ahead",
    BEHIND: "--behind",
    **{colour: f"--agent-{k}" for k, colour in enumerate(AGENTS)},
    **{colour: f"--part-{k}" for k, colour in enumerate(PARTS)},
}
"""Colours that stand for a variable of the style sheet while matplotlib draws."""

SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "gardienii",
    "svg.image_inline": True,
    "text.parse_math": False,
    "font.size": FONT,
    "axes.labelsize": FONT,
    "axes.titlesize": FONT,
    "axes.edgecolor": GRID,
    "axes.facecolor": "none",
    "axes.labelcolor": MUTED,
    "axes.spines.left": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.axisbelow": True,
    "figure.facecolor": "none",
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "legend.fontsize": SMALL,
    "legend.frameon": False,
    "legend.labelcolor": MUTED,
    "text.color": INK,
    "xtick.color": GRID,
    "xtick.labelcolor": MUTED,
    "xtick.labelsize": SMALL,
    "xtick.major.size": 0,
    "ytick.color": GRID,
    "ytick.labelcolor": INK,
    "ytick.labelsize": SMALL,
    "ytick.major.size": 0,
}

Numbers = npt.NDArray[np.float64]


def intervals_plot(
    name: str,
    title: str,
    names: Sequence[str],
    values: Sequence[Estimate | Rating],
    places: int,
    mark: float | None = None,
) -> str:
    """A dot and its interval for each agent, the first on top; a dashed line at `mark`."""
    figures = [f"{value.mean:.{places}f}" for value in values]

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        axes.grid(axis="x")
        if mark is not None:
            axes.axvline(mark, color=INK, linestyle=DASHES, linewidth=1.2)
        for k, value in enumerate(values):
            colour = AGENTS[k] if len(values) <= len(AGENTS) else AGENTS[0]
            if not isnan(value.low):
                axes.hlines(k, value.low, value.high, color=colour, linewidth=5, alpha=0.45)
            axes.plot(value.mean, k, "o", color=colour, markersize=8, markeredgecolor=SURFACE)
            axes.annotate(
                figures[k],
                (value.mean, k),
                (0, 8),
                textcoords="offset points",
                ha="center",
                fontsize=SMALL,
            )
        _name_rows(axes, names)
        axes.set_xlim(*_span([v for value in values for v in (value.low, value.mean, value.high)], mark))
        axes.xaxis.set_major_locator(_ticks(7))

    described = _described(
        names, (f"{value} {_between(v, places)}" for value, v in zip(figures, values, strict=True))
    )
    return _svg(name, title, described, 60 + 40 * len(names), draw)


def points_plot(name: str, title: str, names: Sequence[str], points: Sequence[Numbers]) -> str:
    """Bars of mean points by source, one for each agent; each of `points` has shape (6,)."""

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        axes.grid(axis="x")
        for k, values in enumerate(points):
            starts = np.cumsum(values) - values
            for source, colour in enumerate(PARTS):
                axes.barh(k, values[source], 0.62, starts[source], color=colour, edgecolor=SURFACE)
            end = (values.sum(), k)
            axes.annotate(f"{values.sum():.0f}", end, (4, 0), textcoords="offset points", va="center")
        _name_rows(axes, names)
        axes.set_xlim(0, 1.2 * max(1.0, *(values.sum() for values in points)))
        axes.set_xlabel("points in a game")
        keys = [Rectangle((0, 0), 1, 1, color=colour) for colour in PARTS]
        figure.legend(
            keys,
            SOURCES,
            loc="outside upper left",
            ncols=3,
            handlelength=0.9,
            handleheight=0.9,
            columnspacing=1.2,
        )

    rows = (", ".join(f"{s} {x:.1f}" for s, x in zip(SOURCES, values, strict=True)) for values in points)
    return _svg(name, title, _described(names, rows), 96 + 34 * len(names), draw)


def sets_plot(name: str, title: str, names: Sequence[str], sets: Sequence[Sequence[Estimate]]) -> str:
    """Bars of sets in a game by the number of cards, for up to four agents side by side."""

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        axes.grid(axis="y")
        width = 0.84 / len(names)
        for k, values in enumerate(sets):
            places = np.arange(NUMBERS) + (k - (len(names) - 1) / 2) * width
            means = [value.mean for value in values]
            axes.bar(places, means, width, color=AGENTS[k], edgecolor=SURFACE, label=names[k])
            if not isnan(values[0].low):
                lows, highs = [value.low for value in values], [value.high for value in values]
                axes.vlines(places, np.maximum(lows, 0), highs, color=INK, linewidth=1.2)
        axes.set_xticks(range(NUMBERS), [str(n + 1) for n in range(NUMBERS)])
        axes.set_ylim(0)
        axes.yaxis.set_major_locator(_ticks(5))
        axes.set_xlabel("cards in the set")
        axes.set_ylabel("sets in a game")
        _legend(figure, names)

    rows = (", ".join(f"{x.mean:.2f} of {n + 1}" for n, x in enumerate(values)) for values in sets)
    return _svg(name, title, _described(names, rows), 240, draw)


def sets_grid_plot(name: str, title: str, names: Sequence[str], sets: Numbers) -> str:
    """Sets in a game by agent and number of cards, shape (agents, 6), as a heat map."""
    most = max(float(sets.max()), 1e-9)

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        for k, n in np.ndindex(sets.shape):
            _cell(axes, n, k, AHEAD, float(sets[k, n]) / most)
            axes.text(n, k, f"{sets[k, n]:.2f}", ha="center", va="center", fontsize=SMALL)
        _grid_axes(axes, names, [str(n + 1) for n in range(NUMBERS)])
        axes.set_xlabel("cards in the set")

    rows = (", ".join(f"{x:.2f} of {n + 1}" for n, x in enumerate(values)) for values in sets)
    return _svg(name, title, _described(names, rows), 50 + 26 * len(names), draw)


def length_plot(name: str, title: str, turns: npt.NDArray[np.int64]) -> str:
    """A histogram of games by their number of turns."""
    first, last = int(turns.min()), int(turns.max())
    width = ceil((last - first + 1) / MOST_BARS)
    counts = np.bincount((turns - first) // width)
    half = int(np.percentile(turns, 50, method="inverted_cdf"))

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        axes.grid(axis="y")
        middles = first + width * np.arange(counts.size) + (width - 1) / 2
        axes.bar(
            middles, 100 * counts / turns.size, width, color=AGENTS[0], edgecolor=SURFACE, linewidth=0.7
        )
        axes.axvline(half, color=INK, linestyle=DASHES, linewidth=1.2)
        axes.set_xlabel("turns")
        axes.set_ylabel("% of games")
        axes.xaxis.set_major_locator(_ticks(7, integer=True))
        axes.yaxis.set_major_locator(_ticks(5))

    described = f"From {first} to {last} turns; half of the games take up to {half}."
    return _svg(name, title, described, 220, draw)


def margins_plot(name: str, title: str, names: Sequence[str], margins: Sequence[Numbers]) -> str:
    """Histograms of the mean margins of deals, one row an agent; with two agents only the first."""
    rows, short = 1 if len(names) == 2 else len(names), labels(names, NAME_WIDTH)
    values = np.concatenate(margins)
    span = float(values.max() - values.min()) / min(MOST_BARS, 5 + 2 * ceil(margins[0].size ** 0.5))
    width = max(0.5, round(2 * span) / 2)
    # One bar lies around 0, so that its colour says nothing about who is ahead.
    low, high = min(-2, values.min() // width), max(2, values.max() // width + 1)
    edges = (np.arange(low, high + 2) - 0.5) * width

    def draw(figure: Figure) -> None:
        for k in range(rows):
            axes = figure.add_subplot(rows, 1, k + 1)
            axes.grid(axis="y")
            counts, _ = np.histogram(margins[k], edges)
            heights = 100 * counts / margins[k].size
            axes.bar(
                edges[:-1],
                heights,
                np.diff(edges),
                align="edge",
                color=AGENTS[k],
                edgecolor=SURFACE,
                linewidth=0.7,
            )
            axes.axvline(0, color=INK, linestyle=DASHES, linewidth=1.2)
            axes.set_title(short[k] if rows > 1 else f"{short[0]} ahead of {short[1]}")
            axes.yaxis.set_major_locator(_ticks(3))
            axes.tick_params(axis="x", labelbottom=k == rows - 1)
        axes.set_xlabel("points, mean of a deal")
        figure.supylabel("% of deals", fontsize=FONT, color=MUTED)

    means = [f"mean {m.mean():+.1f}, from {m.min():+.1f} to {m.max():+.1f}" for m in margins[:rows]]
    return _svg(name, title, _described(names[:rows], means), 120 + 90 * rows, draw)


def cross_plot(
    name: str, title: str, names: Sequence[str], cross: Mapping[tuple[int, int], Estimate | None]
) -> str:
    """How often the agent of a row is ahead of that of a column, as a heat map, the first on top."""
    count = len(names)

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        for (a, b), value in cross.items():
            if value is None:
                _cell(axes, b, a, GRID, 0.4 if a == b else 0.0)
                continue
            _cell(axes, b, a, AHEAD if value.mean >= 0.5 else BEHIND, abs(value.mean - 0.5) * 2)
            axes.text(b, a - 0.14, f"{value.mean:.3f}", ha="center", va="center", fontsize=FONT)
            if not isnan(value.low):
                ends = f"{value.low:.2f}\N{EN DASH}{value.high:.2f}"
                axes.text(b, a + 0.24, ends, ha="center", va="center", fontsize=8)
        _grid_axes(
            axes,
            [f"{k + 1} {n}" for k, n in enumerate(labels(names, NAME_WIDTH - 3))],
            range(1, count + 1),
        )

    rows = (
        ", ".join(f"{value.mean:.3f} against {names[b]}" for b in range(count) if (value := cross[a, b]))
        for a in range(count)
    )
    return _svg(
        name, title, _described(names, rows), 40 + 42 * count, draw, max(WIDTH, 130 + 58 * count)
    )


# Parts of plots


def _ticks(most: int, integer: bool = False) -> MaxNLocator:
    """Ticks at round numbers."""
    return MaxNLocator(most, steps=[1, 2, 5, 10], integer=integer)


def _name_rows(axes: Axes, names: Sequence[str]) -> None:
    """One row for each name, the first on top."""
    axes.set_yticks(range(len(names)), labels(names, NAME_WIDTH))
    axes.set_ylim(len(names) - 0.5, -0.6)


def _grid_axes(axes: Axes, rows: Sequence[str], columns: Sequence[object]) -> None:
    """The axes of a heat map: the names of its columns are above it."""
    axes.set_yticks(range(len(rows)), labels(rows, NAME_WIDTH))
    axes.set_xticks(range(len(columns)), [str(column) for column in columns])
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.spines[["top", "bottom"]].set_visible(False)


def _cell(axes: Axes, x: float, y: float, colour: str, strength: float) -> None:
    """A field of a heat map: the stronger, the less the page shows through."""
    axes.add_patch(
        Rectangle((x - 0.48, y - 0.47), 0.96, 0.94, facecolor=colour, alpha=0.06 + 0.54 * strength)
    )


def _legend(figure: Figure, names: Sequence[str]) -> None:
    keys = [Rectangle((0, 0), 1, 1, color=AGENTS[k]) for k in range(len(names))]
    figure.legend(
        keys,
        labels(names, NAME_WIDTH),
        loc="outside upper left",
        ncols=2,
        handlelength=0.9,
        handleheight=0.9,
    )


def _span(values: Sequence[float], mark: float | None) -> tuple[float, float]:
    """The ends of an axis that shows all these values, with some room beside them."""
    some = [value for value in [*values, *([] if mark is None else [mark])] if not isnan(value)]
    room = max(0.12 * (max(some) - min(some)), 0.02)
    return min(some) - room, max(some) + room


def _between(value: Estimate | Rating, places: int) -> str:
    return (
        "" if isnan(value.low) else f"(95 % interval {value.low:.{places}f} to {value.high:.{places}f})"
    )


def _described(names: Sequence[str], rows: Any) -> str:
    """What a plot shows, in words: something for each agent."""
    return "; ".join(f"{name}: {str(row).strip()}" for name, row in zip(names, rows, strict=True)) + "."


# From matplotlib's SVG to an element of the page


def _svg(
    name: str,
    title: str,
    description: str,
    height: float,
    draw: Callable[[Figure], None],
    width: float = WIDTH,
) -> str:
    """Draw a plot of some size, in its own units, and make it fit into a page.

    matplotlib's settings, whatever they are, are changed while it draws and then put back.
    """
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a letter in a name that the font has not
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
        figure = Figure((width / 72, height / 72), layout="constrained")
        draw(figure)
        file = BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
    root = ElementTree.fromstring(file.getvalue())
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        element.tail = None
        element.text = element.text if (element.text or "").strip() else None
        element.attrib = {key: _adapted(key, value, name) for key, value in _plain_keys(element)}
    for unneeded in root.findall("metadata") + [
        part for part in root.findall("defs") if part.find("style") is not None
    ]:
        root.remove(unneeded)
    root.attrib = {
        "class": "plot wide" if width > WIDTH else "plot",
        "role": "img",
        "viewBox": root.attrib["viewBox"],
        "style": f"--width: {width:.0f}px",
        "aria-labelledby": f"{name}-title {name}-description",
    }
    for place, (kind, tag, text) in enumerate(
        [("title", "title", title), ("description", "desc", description)]
    ):
        element = ElementTree.Element(tag, {"id": f"{name}-{kind}"})
        element.text = text
        root.insert(place, element)
    return ElementTree.tostring(root, encoding="unicode")


def _plain_keys(element: ElementTree.Element) -> list[tuple[str, str]]:
    """Attributes without their name spaces, which a page does not need."""
    return [(key.rpartition("}")[2], value) for key, value in element.attrib.items()]


def _adapted(key: str, value: str, name: str) -> str:
    """An attribute of matplotlib's, for a page: own ids, the page's colours and fonts."""
    if key == "id":
        return f"{name}-{value}"
    if key == "href":
        return value.replace("#", f"#{name}-")
    if key == "clip-path":
        return value.replace("url(#", f"url(#{name}-")
    if key == "style":
        value = re.sub(r"font-family: [^;]*;? ?", "", value)
        return re.sub(
            r"#[0-9a-f]{6}", lambda m: f"var({VARIABLES[m[0]]})" if m[0] in VARIABLES else m[0], value
        )
    return value
