"""What notebooks are shown, as HTML: tables without scripts, every text escaped, in the page's own colours."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

STYLE = "border-collapse:collapse;font-variant-numeric:tabular-nums;margin:0 0 0.5em"  # notebooks centre tables
CELL, NAME = "padding:2px 10px;text-align:right", "padding:2px 10px;text-align:left"
NEW_LINE = "\n"
Rows = Sequence[Sequence[str]]


def html_text(words: str) -> str:
    """A text as it stands, whatever signs it holds; its lines below one another."""
    return escape(words).replace(NEW_LINE, "<br>")


def html_row(cells: Sequence[str], names: int, style: str = "") -> str:
    """One row of a table: the first `names` cells are names, the others numbers or short texts."""
    row = f" style='{style}'" if style else ""
    parts = (
        f"<th style='{CELL}'>{html_text(cell)}</th>" if index < names else f"<td style='{CELL}'>{html_text(cell)}</td>"
        for index, cell in enumerate(cells)
    )
    return f"<tr{row}>{''.join(parts)}</tr>"


def html_table(heading: str, rows: Rows, names: int, note: str = "") -> str:
    """Rows as a table: the first is its head, the first `names` cells of each are names."""
    caption = f"<caption>{html_text(heading)}</caption>" if heading else ""
    body = "".join(html_row(row, names) for row in rows[1:])
    below = f"<p>{html_text(note)}</p>" if note else ""
    return f"<table style='{STYLE}'>{caption}<thead>{html_row(rows[0], len(rows[0]))}</thead><tbody>{body}</tbody></table>{below}"


def html_block(*parts: str) -> str:
    """Parts below one another; what is wider than the page is moved within it."""
    return f"<div style='overflow-x:auto'>{''.join(parts)}</div>"
