"""OpenAPI as a page: plain HTML that needs no script and nothing from elsewhere."""

from __future__ import annotations

import json
from html import escape
from typing import Any

STYLE = "body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color-scheme:light dark}pre{overflow:auto;padding:.7rem;border:1px solid #8886;border-radius:.4rem}code{font-size:.9em}summary{cursor:pointer;padding:.3rem 0}section{margin:1rem 0}"


def documentation_page(document: dict[str, Any]) -> str:
    """Every way to ask, with examples, and every type that is said."""
    asked = [
        _operation(method, path, told) for path, held in document["paths"].items() for method, told in held.items()
    ]
    types = [
        f'<details id="{escape(name)}"><summary><code>{escape(name)}</code></summary>{_shown(schema)}</details>'
        for name, schema in sorted(document["components"]["schemas"].items())
    ]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>merula: how to ask</title><style>{STYLE}</style></head><body>'
        f'<h1>merula {escape(document["info"]["version"])}</h1><p>{escape(document["info"]["summary"])} <a href="/openapi.json">openapi.json</a>, <a href="/v1/schema.json">schema.json</a></p>'
        f"<h2>What may be asked</h2>{''.join(asked)}<h2>What is said</h2>{''.join(types)}</body></html>"
    )


def _operation(method: str, path: str, told: dict[str, Any]) -> str:
    parts = [f"<p>{escape(told['summary'])}</p>"]
    for media, content in told.get("requestBody", {}).get("content", {}).items():
        for name, example in _examples(content).items():
            parts.append(f"<p>{escape(media)}{escape(f', {name}' if name else '')}:</p>{_shown(example)}")
    answers = told["responses"]["200"].get("content", {})
    kinds = ", ".join(f"{escape(media)}{_type(content)}" for media, content in answers.items())
    parts.append(f"<p>Answers: {kinds}</p>")
    return f"<details><summary><code>{method.upper()} {escape(path)}</code></summary>{''.join(parts)}</details>"


def _examples(content: dict[str, Any]) -> dict[str, Any]:
    named = {name: held["value"] for name, held in content.get("examples", {}).items()}
    return named | ({"": content["example"]} if "example" in content else {})


def _type(content: dict[str, Any]) -> str:
    name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
    return f' (<a href="#{escape(name)}">{escape(name)}</a>)' if name else ""


def _shown(data: Any) -> str:
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, indent=2)
    return f"<pre>{escape(text)}</pre>"
