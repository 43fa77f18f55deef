"""A server for the tests of the pages, and the helpers of other folders."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

for folder in ("agents", "arena"):
    sys.path.append(str(Path(__file__).parents[1] / folder))

from serving import Served, serving  # noqa: E402

from gardienii_env.agents import Agent, make_agent  # noqa: E402

Serve = Callable[..., Served]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts servers: `serve(agents by name, folder of games)`; they end with the test."""
    with ExitStack() as stack:

        def start(*names: str, folder: Path | None = None, **more: Agent) -> Served:
            agents = {name: make_agent(name) for name in names or ("greedy",)} | more
            return stack.enter_context(serving(agents, folder or tmp_path / "games"))

        yield start
