"""A headless Chromium without a network, for tests that look at pages: DevTools over pipes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import F_DUPFD_CLOEXEC, fcntl
from pathlib import Path
from select import select
from typing import Any

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--remote-debugging-pipe",
]
PATIENCE = 30.0
"""Seconds to wait for an answer."""


class Page:
    """A page that was opened: what happened on it, and what is to be asked of it."""

    def __init__(self, read: int, write: int) -> None:
        self._read, self._write = read, write
        self._bytes, self._number, self._session = b"", 0, ""
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def open(self, path: Path, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Open a file in a window of this size, and wait until it is loaded."""
        self.set_window(width, height, dark)
        self.events.clear()
        self.call("Page.navigate", url=path.resolve().as_uri())
        while not self.named("Page.loadEventFired"):
            self._keep(self._receive())

    def set_window(self, width: int, height: int, dark: bool) -> None:
        """Have a window of this size, with a light or a dark scheme."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def named(self, *methods: str) -> list[dict[str, Any]]:
        """The events of these kinds since the page was opened."""
        return [event["params"] for event in self.events if event["method"] in methods]

    def value(self, expression: str) -> Any:
        """The value of a JavaScript expression on the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Ask the browser for something, and wait for its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while (answer := self._receive()).get("id") != self._number:
            self._keep(answer)
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def _keep(self, message: dict[str, Any]) -> None:
        if "method" in message:
            self.events.append(message)

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._bytes:
            assert select([self._read], [], [], PATIENCE)[0], "the browser is silent"
            got = os.read(self._read, 1 << 16)
            assert got, "the browser is gone"
            self._bytes += got
        first, _, self._bytes = self._bytes.partition(b"\0")
        message: dict[str, Any] = json.loads(first)
        return message


def _pipe() -> tuple[int, int]:
    """A pipe whose ends have numbers that the browser's own, 3 and 4, do not meet."""
    low = os.pipe()
    high = fcntl(low[0], F_DUPFD_CLOEXEC, 10), fcntl(low[1], F_DUPFD_CLOEXEC, 10)
    for end in low:
        os.close(end)
    return high


@contextmanager
def browser(folder: Path) -> Iterator[Page]:
    """A page of a browser that keeps all it writes in a folder."""
    assert PROGRAM is not None
    from_us, write = _pipe()
    read, to_us = _pipe()
    flags = [*FLAGS, f"--user-data-dir={folder}"]
    shell = f'exec "$@" 3<&{from_us} 4>&{to_us}'
    process = subprocess.Popen(
        ["/bin/bash", "-c", shell, "bash", PROGRAM, *flags],
        pass_fds=(from_us, to_us),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "HOME": str(folder)},
    )
    os.close(from_us)
    os.close(to_us)
    try:
        yield Page(read, write)
    finally:
        process.terminate()
        process.wait(PATIENCE)
        os.close(write)
        os.close(read)
