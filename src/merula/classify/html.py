"""A fitted model for notebooks: what it is, its classes, and a line for each column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from merula.classify.summary import ColumnLine, Items, ModelSummary, summarise_model
from merula.show.html import NAME, Html, html_block, html_table, html_tag
from merula.show.numbers import percent, several, short
from merula.show.text import display_width, shortened

if TYPE_CHECKING:
    from merula.classify.base import BayesianClassifier

LONGEST, LONGEST_CALL, WIDE_NAME = 60, 300, 24
READING = {
    "moments": "a ± b: mean and standard deviation",
    "range": "a (b – c): median, and range of the middle 68%",
    "levels": "level: probability of the likeliest",
    "words": "word: probability of the most telling",
}


def as_html(model: BayesianClassifier) -> str:
    """The model as a table: its prior, then its columns."""
    summary = summarise_model(model)
    tells_missing = any(line.missing for line in summary.lines)
    names = ["column", "distribution", *(["missing"] if tells_missing else [])]
    head = [*names, *(shortened(str(label), LONGEST) for label in summary.prior)]
    prior = ["prior", *[""] * (len(names) - 1), *map(short, summary.prior.values())]
    rows = [head, prior, *(_cells(line, tells_missing) for line in summary.lines)]
    call = html_tag("code", shortened(repr(model), LONGEST_CALL))
    table = html_table("", rows, 1, "\n".join(_notes(summary)), style=f"{NAME};vertical-align:top")
    return html_block(html_tag("p", call, "\n", _learned(summary)), table)


def _cells(line: ColumnLine, tells_missing: bool) -> list[str]:
    """One row; its name may be broken between words, items of the others at their ends alone."""
    name = shortened(line.name, LONGEST, middle=True)
    wide = html_tag("div", name, style=f"min-width:{min(display_width(name), WIDE_NAME)}ch")
    modelled = (line.kind,) if line.family in ("", line.kind) else (f"{line.kind},", line.family)
    lost = [percent(line.missing) if line.missing else ""] if tells_missing else []
    return [wide, _items(modelled), *lost, *map(_items, line.given)]


def _items(items: Items) -> Html:
    return Html(" ".join(html_tag("span", item, style="white-space:nowrap") for item in items))


def _learned(summary: ModelSummary) -> str:
    rows = "stated, not learned" if summary.rows is None else f"learned from {several(summary.rows, 'row')}"
    return f"{rows}; {several(summary.columns, 'column')}, {several(summary.classes, 'class', 'classes')}"


def _notes(summary: ModelSummary) -> list[str]:
    """What is left out, and how to read the rest."""
    columns, classes = summary.columns - len(summary.lines), summary.classes - len(summary.prior)
    more = [f"… and {several(columns, 'more column')}"] if columns else []
    rare = [f"… and {several(classes, 'less probable class', 'less probable classes')}"] if classes else []
    reading = [text for form, text in READING.items() if any(line.form == form for line in summary.lines)]
    return [*more, *rare, *(["; ".join(reading)] if reading else [])]
