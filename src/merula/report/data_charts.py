"""Charts of what the data hold: how frequent classes are, which cells are missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt

from merula.report.chart import FOR, QUIET, Chart, bars_height, color_of, records, specification
from merula.report.findings import DataSummary
from merula.report.wording import name, percent, several, weight

MOST_BARS = 25


def balance_chart(balance: Mapping[Any, float]) -> Chart:
    """How many rows each class has."""
    total = sum(balance.values()) or 1.0
    colors = color_of(list(balance))
    lines = [(name(label), count, percent(count / total), colors[str(label)]) for label, count in balance.items()]
    data = alt.InlineData(values=records(("label", "rows", "share", "color"), lines))
    drawing = (
        alt.Chart(data)
        .mark_bar()
        .encode(
            x=alt.X("rows:Q", title="rows"),
            y=alt.Y("label:N", sort=None, title=None),
            color=alt.Color("color:N", scale=None),
            tooltip=[alt.Tooltip("label:N", title="class"), alt.Tooltip("rows:Q"), alt.Tooltip("share:N")],
        )
    )
    return Chart(
        "balance",
        "Classes",
        f"{several(len(balance), 'class', 'classes')}; the commonest has {percent(max(balance.values()) / total)} of the rows.",
        specification(drawing, bars_height(len(balance))),
        ("class", "rows", "share"),
        tuple((label, weight(count), share) for label, count, share, _ in lines),
    )


def missing_chart(data: DataSummary) -> Chart | None:
    """The columns with missing cells, the emptiest first; None where nothing is missing."""
    columns = [column for column in data.columns if column.missing and column.kind != "ignore"]
    columns = sorted(columns, key=lambda column: -column.missing)
    if not columns:
        return None
    lines = [(name(column.name), column.missing, percent(column.missing / data.rows)) for column in columns]
    source = alt.InlineData(values=records(("column", "missing", "share"), lines[:MOST_BARS]))
    drawing = (
        alt.Chart(source)
        .mark_bar(color=QUIET if len(lines) > 1 else FOR)
        .encode(
            x=alt.X("missing:Q", title="missing cells", axis=alt.Axis(tickMinStep=1)),
            y=alt.Y("column:N", sort=None, title=None),
            tooltip=["column:N", alt.Tooltip("missing:Q", title="missing cells"), "share:N"],
        )
    )
    rest = f" The {MOST_BARS} emptiest columns are drawn." if len(lines) > MOST_BARS else ""
    return Chart(
        "missing",
        "Missing cells",
        f"{several(len(lines), 'column')} of {len(data.columns)} {'has' if len(lines) == 1 else 'have'} missing cells.{rest}",
        specification(drawing, bars_height(min(len(lines), MOST_BARS))),
        ("column", "missing cells", "share"),
        tuple((column, weight(missing), share) for column, missing, share in lines),
    )
