"""Data, script, style and words → one HTML file that runs nothing else and asks nobody."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

from merula.core import one_of
from merula.web.page.joining import joined
from merula.web.page.squeezing import squeezed_style

ENTRIES = {"classifier": "script/view/main.js", "network": "script/view_network/main.js"}
STYLES = {"classifier": ("style.css",), "network": ("style.css", "style_network.css")}
LANGUAGES = ("en", "zh")
MADE, PUT_IN = re.compile(r"`([a-z]+\.[^`]*)`"), re.compile(r"\$\{[^}]*\}")  # keys of words that a script puts together
PAGE = """<!DOCTYPE html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<div id="page"><noscript>{noscript}</noscript></div>
<script type="application/json" id="data">{data}</script>
<script type="application/json" id="words">{words}</script>
<script>{script}</script>
</body>
</html>
"""


def document(data: Mapping[str, Any], language: str = "en") -> str:
    """The page that shows these data, in this language until another is chosen on it."""
    one_of(language, LANGUAGES, "language")
    script, style = (
        joined(ENTRIES[data["kind"]], part_types(data)),
        squeezed_style("".join(map(resource, STYLES[data["kind"]]))),
    )
    held = inert(data)
    return PAGE.format(
        language=language,
        policy=policy(script, style),
        title=escape(str(data["name"])[:200]),
        style=style,
        noscript=escape(words_of(language)["page.noscript"]),
        data=held,
        words=inert({"languages": LANGUAGES, "words": words_by_key(script, held)}),
        script=script,
    )


def part_types(data: Any) -> set[str]:
    """The types of all parts in the data, those within others too, and the kinds of all columns."""
    if isinstance(data, Mapping):
        own = {data[key] for key in ("type", "kind") if isinstance(data.get(key), str)}
        return own.union(*map(part_types, data.values()))
    return set[str]().union(*map(part_types, data)) if isinstance(data, list) else set()


def policy(script: str, style: str) -> str:
    """What a browser may do on the page: run this script, wear this style, and reach for nothing."""
    rules = {
        "default-src": "'none'",
        "script-src": hashed(script),
        "style-src": hashed(style),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{part} {allowed}" for part, allowed in rules.items())


def hashed(text: str) -> str:
    """The hash by which a content-security policy knows a script or a style."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def inert(data: Any) -> str:
    r"""JSON that no browser takes for markup: it holds no <, and neither NaN nor half of a sign.

    Examples
    --------
    >>> inert({"name": "</script>"})
    '{"name":"\\u003c/script>"}'
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    escaped = text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return escaped.encode(errors="backslashreplace").decode()  # half of a sign as \udc80, which JSON reads


def words_by_key(script: str, data: str) -> dict[str, list[Any]]:
    """What a page with this script and these data may say, by key: its words in each of the languages."""
    tables = [words_of(language) for language in LANGUAGES]
    made = ["[^.]+".join(map(re.escape, PUT_IN.split(key))) for key in MADE.findall(script)]
    fits = re.compile("|".join(made) or "(?!)").fullmatch
    return {key: [table[key] for table in tables] for key in tables[0] if f'"{key}"' in script or f'"{key}"' in data or fits(key)}  # fmt: skip


@cache
def words_of(language: str) -> dict[str, Any]:
    """Every word the page says in this language, by its key."""
    found: dict[str, Any] = json.loads(resource(f"words/{language}.json"))
    return found


@cache
def resource(name: str) -> str:
    """The text of a file that comes with the page."""
    return (files("merula.web.page") / name).read_text(encoding="utf-8")
