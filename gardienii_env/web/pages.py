"""Pages put together from the files in `page/`: alone in one file, or served with files beside them.

The scripts are modules: `board.js` draws a scene and knows the texts, `replay.js` and `play.js` use it.
In a page that stands alone they are one script, so their `import` and `export` lines are left out.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

from gardienii_env.render.texts import LANGUAGES, catalogue, check_language

__all__ = ["FILES", "POLICY", "file", "served_page", "single_page"]

FILES = {"board.js": "text/javascript", "replay.js": "text/javascript", "play.js": "text/javascript"}
FILES |= {"page.css": "text/css"}
"""The files beside served pages, with their media types."""

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
"""The content security policy of served pages: everything comes from the server itself."""

PAGE = """<!DOCTYPE html>
<html lang="{language}">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>Gardienii</title>
<link rel="icon" href="data:,"/>
{head}
</head>
<body>
<main id="page" aria-busy="true"></main>
<script type="application/json" id="data">{data}</script>
{script}
</body>
</html>
"""
ALONE = """<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src {script}; \
style-src {style}; img-src data:; base-uri 'none'; form-action 'none'"/>
<style>{css}</style>"""
SERVED = '<link rel="stylesheet" href="/page/page.css"/>'

LINK = re.compile(r"^(?:import .*|export \{.*\}.*)\n", re.MULTILINE)


def served_page(script: str, language: str | None, data: Any) -> str:
    """A page that loads its script and style from the server; see `single_page`."""
    return PAGE.format(
        language=language or "en",
        head=SERVED,
        data=_in_html(_with_texts(language, data)),
        script=f'<script type="module" src="/page/{script}"></script>',
    )


def single_page(script: str, language: str, data: Any) -> str:
    """A page in one file, HTML in UTF-8.

    Args:
        script: the file in `page/` that makes the page of the data.
        language: in which it opens; OptionError for one that is not known.
        data: plain data for JSON.
    """
    check_language(language)
    code = "\n" + "\n".join(LINK.sub("", file(name)) for name in ("board.js", script))
    style = "\n" + file("page.css")
    return PAGE.format(
        language=language,
        head=ALONE.format(script=_digest(code), style=_digest(style), css=style),
        data=_in_html(_with_texts(language, data)),
        script=f'<script type="module">{code}</script>',
    )


@cache
def file(name: str) -> str:
    """The text of a file in `page/`."""
    return files(__package__).joinpath("page", name).read_text(encoding="utf-8")


def _with_texts(language: str | None, data: Any) -> dict[str, Any]:
    """What a page is given: the data, and all texts of all languages."""
    texts = {code: dict(catalogue(code)) for code in LANGUAGES}
    return {"language": language, "languages": dict(LANGUAGES), "texts": texts, "data": data}


def _in_html(data: Any) -> str:
    """JSON that cannot end the element it stands in."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _digest(text: str) -> str:
    """A text that is allowed in a page by what it is."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
