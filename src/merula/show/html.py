"""What notebooks are shown, as HTML: tables without scripts, every text escaped, in the page's own colours."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from merula.show.text import Rows

STYLE = "border-collapse:collapse;font-variant-numeric:tabular-nums;margin:0 0 0.5em"  # notebooks centre tables
CELL, NAME = "padding:2px 10px;text-align:right", "padding:2px 10px;text-align:left"


class Html(str):
    """Text that is HTML already, and is not escaped again."""

    __slots__ = ()


def html_text(words: str) -> str:
    """A text as it stands, whatever signs it holds, its lines below one another; HTML as it is."""
    return words if isinstance(words, Html) else escape(words).replace("\n", "<br>")


def html_tag(tag: str, *parts: str, **attributes: str) -> Html:
    """Parts inside a tag, texts among them escaped."""
    written = "".join(f" {name}='{value}'" for name, value in attributes.items() if value)
    return Html(f"<{tag}{written}>{''.join(map(html_text, parts))}</{tag}>")


def html_table(
    heading: str, rows: Rows, names: int, note: str = "", *, style: str = CELL, first: str | None = None
) -> Html:
    """Rows as a table: the first is its head, the first `names` cells of each are names; `note` stands below.

    As in `text_table`, a row without cells is a rule; the last cell of a row with fewer cells than the others spans the rest.
    `style` is that of cells, `first` that of the first column where it has its own.
    """
    columns = max(map(len, rows))
    lines = [
        html_tag("tr", *_cells(row, names if k else len(row), columns, style, first), style="" if rows[k - 1] else "border-top:1px solid")
        for k, row in enumerate(rows)
        if row
    ]  # fmt: skip
    caption = html_tag("caption", heading) if heading else ""
    table = html_tag("table", Html(caption), html_tag("thead", lines[0]), html_tag("tbody", *lines[1:]), style=STYLE)
    return Html(table + (html_tag("p", note) if note else ""))


def _cells(row: Sequence[str], names: int, columns: int, style: str, first: str | None) -> list[Html]:
    spans = {len(row) - 1: str(columns - len(row) + 1)} if len(row) < columns else {}
    looks = [style if first is None else first, *[style] * (len(row) - 1)]
    return [
        html_tag("th" if k < names else "td", cell, style=looks[k], colspan=spans.get(k, ""))
        for k, cell in enumerate(row)
    ]


def html_block(*parts: str) -> str:
    """Parts below one another; what is wider than the page is moved within it."""
    return html_tag("div", *parts, style="overflow-x:auto")
