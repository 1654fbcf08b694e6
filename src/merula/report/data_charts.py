"""Charts of what the data hold: how frequent classes are, which cells are missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from merula.report.chart import Chart, bars, color_of, name, told
from merula.report.findings import DataSummary
from merula.show.colors import FOR, QUIET
from merula.show.numbers import count, percent, several

MOST_BARS = 25


def balance_chart(balance: Mapping[Any, float]) -> Chart:
    """How many rows each class has."""
    total = sum(balance.values()) or 1.0
    colors = color_of(balance)
    drawn = [
        (name(label), rows, colors[str(label)], {"rows": count(rows), "share": percent(rows / total)})
        for label, rows in balance.items()
    ]
    return Chart(
        "balance",
        "Classes",
        f"{several(len(balance), 'class', 'classes')}; the commonest has {percent(max(balance.values()) / total)} of the rows.",
        bars("class", drawn, "rows"),
        ("class", "rows", "share"),
        told(drawn),
    )


def missing_chart(data: DataSummary) -> Chart | None:
    """The columns with missing cells, the emptiest first; None where nothing is missing."""
    columns = [column for column in data.columns if column.missing and column.kind != "ignore"]
    columns = sorted(columns, key=lambda column: -column.missing)
    if not columns:
        return None
    color = QUIET if len(columns) > 1 else FOR
    drawn = [
        (name(one.name), one.missing, color, {"cells": count(one.missing), "share": percent(one.missing / data.rows)})
        for one in columns
    ]
    rest = f" The {MOST_BARS} emptiest columns are drawn." if len(columns) > MOST_BARS else ""
    return Chart(
        "missing",
        "Missing cells",
        f"{several(len(columns), 'column')} of {len(data.columns)} {'has' if len(columns) == 1 else 'have'} missing cells.{rest}",
        bars("column", drawn[:MOST_BARS], "missing cells", tickMinStep=1),
        ("column", "missing cells", "share"),
        told(drawn),
    )
