"""What the tests of the pages do with a browser: open an address, wait, click, take a picture."""

from __future__ import annotations

import base64
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chromium import Page

PATIENCE = 180.0
"""Seconds to wait for something to happen on a page."""


def visit(page: Page, url: str, width: int = 1280, height: int = 800, dark: bool = False) -> None:
    """Open an address in a window of this size."""
    page.set_window(width, height, dark)
    page.call("Page.navigate", url=url)
    until(page, f"location.href === {url!r} && document.readyState === 'complete'")


def until(page: Page, condition: str) -> None:
    """Wait until a JavaScript expression is true."""
    end = time.monotonic() + PATIENCE
    while not page.value(f"Boolean({condition})"):
        assert time.monotonic() < end, f"never: {condition}\n{page.value('document.body.innerText')}"
        time.sleep(0.02)


def click(page: Page, selector: str) -> None:
    """Click the middle of the first element that is meant, as a mouse does."""
    place = page.value(
        f"(() => {{ const e = document.querySelector({selector!r}); "
        "e.scrollIntoView({block: 'center'}); "
        "const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()"
    )
    press(page, *place)


def press(page: Page, x: float, y: float) -> None:
    for kind in ("mousePressed", "mouseReleased"):
        page.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)


def key(page: Page, name: str) -> None:
    """Press a key."""
    text = {"text": name} if len(name) == 1 else {}
    page.call("Input.dispatchKeyEvent", type="keyDown", key=name, **text)
    page.call("Input.dispatchKeyEvent", type="keyUp", key=name)


def picture(page: Page, file: Path, whole: bool = False) -> None:
    """Write what the page shows as a PNG file."""
    answer = page.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
    file.write_bytes(base64.b64decode(answer["data"]))


def complaints(page: Page) -> list[Any]:
    """Errors on the page: uncaught ones, what the console and the browser's log were told."""
    found = [
        call
        for call in page.named("Runtime.consoleAPICalled")
        if call["type"] in ("error", "warning", "assert")
    ]
    found += page.named("Runtime.exceptionThrown")
    return found + [
        entry for entry in page.named("Log.entryAdded") if entry["entry"]["level"] == "error"
    ]


def addresses(page: Page) -> list[str]:
    """The addresses that the page has asked for."""
    return [sent["request"]["url"] for sent in page.named("Network.requestWillBeSent")]
