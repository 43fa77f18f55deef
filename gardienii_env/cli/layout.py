"""`gardienii layout`: what an observation is made of."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable

from gardienii_env.cli.options import Commands, add_command, add_players
from gardienii_env.observation import VIEWS, Layout, Part, layout
from gardienii_env.tables import markdown_table, table

__all__ = ["add_to"]

DESCRIPTION = """\
Print the parts of an observation in order: the name of each, who knows it,
where in the vector it stands (observation[start:stop]), its shape, the scale
that its counts are divided by, and what it means. Where a shape has a row for
each player, the observer's comes first and the others follow clockwise.

The view `table` holds what everybody and what only the observer sees;
`recall` adds what a player knows who forgets nothing."""

EXAMPLES = """\
  gardienii layout --players 3 --view recall
  gardienii layout --format json > layout.json"""

HEADERS = ("name", "known by", "start", "stop", "shape", "scale", "meaning")
ALIGN = "llrrlrl"


def add_to(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands, run, "layout", "print what an observation is made of", DESCRIPTION, EXAMPLES
    )
    add_players(parser)
    parser.add_argument("--view", choices=VIEWS, default=VIEWS[0], help="(default: %(default)s)")
    parser.add_argument(
        "--format", choices=FORMATS, default="table", help="form of the output (default: %(default)s)"
    )


def run(args: Namespace) -> int:
    """Print the layout."""
    print(FORMATS[args.format](layout(args.players, args.view)))
    return 0


def as_table(parts: Layout) -> str:
    """The layout in aligned columns."""
    return f"{_heading(parts)}\n\n{table(map(_row, parts), HEADERS, ALIGN)}"


def as_markdown(parts: Layout) -> str:
    """The layout as a table in Markdown."""
    return f"{_heading(parts)}\n\n{markdown_table(map(_row, parts), HEADERS, ALIGN)}"


def as_json(parts: Layout) -> str:
    """The layout as JSON."""
    data = {
        "players": parts.num_players,
        "view": parts.view,
        "size": parts.size,
        "parts": [
            {
                "name": part.name,
                "known_by": part.known,
                "start": part.slice.start,
                "stop": part.slice.stop,
                "shape": part.shape,
                "scale": part.scale,
                "meaning": part.meaning,
            }
            for part in parts
        ],
    }
    return json.dumps(data, indent=2)


FORMATS: dict[str, Callable[[Layout], str]] = {
    "table": as_table,
    "json": as_json,
    "markdown": as_markdown,
}


def _heading(parts: Layout) -> str:
    return f"{parts.num_players} players, view {parts.view}: {parts.size} numbers in {len(parts)} parts"


def _row(part: Part) -> tuple[object, ...]:
    place = part.slice
    return (part.name, part.known, place.start, place.stop, part.shape, part.scale, part.meaning)
