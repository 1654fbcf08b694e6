"""A fitted model for notebooks: what it is, its classes, and a line for each column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from merula.classify.summary import ColumnLine, Items, ModelSummary, summarise_model
from merula.show.html import NAME, STYLE, html_block, html_text
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
    names = ["column", "distribution", *(["missing"] if _tells_missing(summary) else [])]
    head = _row("th", [(name,) for name in (*names, *_labels(summary))])
    prior = _row("td", [("prior",), *[("",)] * (len(names) - 1), *((f"{p:.4g}",) for p in summary.prior.values())])
    body = prior + "".join(_row("td", _cells(line, _tells_missing(summary))) for line in summary.lines)
    table = f"<table style='{STYLE}'><thead>{head}</thead><tbody>{body}</tbody></table>"
    call = f"<code>{html_text(shortened(repr(model), LONGEST_CALL))}</code>"
    notes = html_text("\n".join(_notes(summary)))
    return html_block(f"<p>{call}<br>{html_text(_learned(summary))}</p>", table, f"<p>{notes}</p>" if notes else "")


def _row(tag: str, cells: Sequence[Items]) -> str:
    """One row; the first cell is a name, which may be broken between words, items of the others at their ends alone."""
    (name,), *others = cells
    wide = min(display_width(name), WIDE_NAME)
    parts = [f"<th style='{NAME};vertical-align:top;min-width:{wide}ch'>{html_text(name)}</th>"]
    for items in others:
        texts = " ".join(f"<span style='white-space:nowrap'>{html_text(item)}</span>" for item in items)
        parts.append(f"<{tag} style='{NAME};vertical-align:top'>{texts}</{tag}>")
    return f"<tr>{''.join(parts)}</tr>"


def _cells(line: ColumnLine, tells_missing: bool) -> list[Items]:
    missing = "" if not line.missing else f"{line.missing:.2%}" if line.missing < 0.01 else f"{line.missing:.0%}"
    lost = [(missing,)] if tells_missing else []
    modelled = (line.kind,) if line.family in ("", line.kind) else (f"{line.kind},", line.family)
    return [(shortened(line.name, LONGEST, middle=True),), modelled, *lost, *line.given]


def _labels(summary: ModelSummary) -> list[str]:
    return [shortened(str(label), LONGEST) for label in summary.prior]


def _tells_missing(summary: ModelSummary) -> bool:
    return any(line.missing for line in summary.lines)


def _learned(summary: ModelSummary) -> str:
    rows = "stated, not learned" if summary.rows is None else f"learned from {_several(summary.rows, 'row', 'rows')}"
    return f"{rows}; {_several(summary.columns, 'column', 'columns')}, {_several(summary.classes, 'class', 'classes')}"


def _notes(summary: ModelSummary) -> list[str]:
    """What is left out, and how to read the rest."""
    columns, classes = summary.columns - len(summary.lines), summary.classes - len(summary.prior)
    more = [f"… and {_several(columns, 'more column', 'more columns')}"] if columns else []
    rare = [f"… and {_several(classes, 'less probable class', 'less probable classes')}"] if classes else []
    reading = [text for form, text in READING.items() if any(line.form == form for line in summary.lines)]
    return [*more, *rare, *(["; ".join(reading)] if reading else [])]


def _several(count: float, one: str, more: str) -> str:
    return f"{count:,.10g} {one if count == 1 else more}"
