"""What has changed since a model learned, as the parts of a page: the verdict, the columns, the classes, the model's own word."""

from __future__ import annotations

from typing import Any

import altair as alt

from merula.answers.monitoring import Monitoring
from merula.answers.monitoring.columns import LEVELS, NUMBERS, ColumnChange
from merula.answers.monitoring.result import held_then_and_now, smallest
from merula.data.schema import Column
from merula.report.chart import OWN_COLOR, Chart, drawing, name, specification
from merula.report.layout import Cell, Group, Section, Table
from merula.report.verdict import BAD, GOOD, UNSURE
from merula.show.colors import AGAINST, QUIET
from merula.show.numbers import NOTHING, count, percent, several

THEN, NOW = "when it learned", "now"
COLORS = {THEN: QUIET, NOW: AGAINST}
MOST_CHARTS, MOST_BARS = 24, 12  # columns that are drawn, and their levels
HOW = (
    "Shares of the rows that know the column. Of numbers: intervals that had about equal shares when the model learned."
)


def sections_of(found: Monitoring) -> list[Section]:
    """Every part, the verdict first."""
    return [_verdict(found), _columns(found), _classes(found), _own_word(found)]


def _verdict(found: Monitoring) -> Section:
    grade = BAD if found.changed else UNSURE if found.doubts or not found.tests else GOOD
    told = [change.sentence for change in found.changes] + [f"In doubt: {doubt.sentence}" for doubt in found.doubts]
    then = "" if found.rows_then is None else f" beside the {count(found.rows_then)} that the model learned from"
    labelled = f"; the class of {count(found.labelled)} of them is known" if found.labelled else ""
    rows = f"{several(found.rows, 'new row')}{then}{labelled}."
    return Section("verdict", "The verdict", (*told, rows), found.verdict, grade, found.steps)


def _columns(found: Monitoring) -> Section:
    kinds = {column.name: column for column in found.schema}
    changed = [one for change in found.changes for one in found.columns if one.column == change.column]
    charts = tuple(_chart(one, k) for k, one in enumerate(one for one in changed if _is_drawn(one)))[:MOST_CHARTS]
    groups = (Group("What changed", HOW, charts),) if charts else ()
    lines = tuple(_line(one, kinds.get(one.column)) for one in (*changed, *(one for one in found.columns if one not in changed)))  # fmt: skip
    head = ("column", "compared by", "then", "now", "PSI", "missing then", "missing now", "p")
    told = "p-values are adjusted for the number of all tests. PSI is the population stability index: below 0.1 is little, above 0.25 a lot."
    return Section("columns", "The columns", (told,), tables=(Table("Then and now", head, lines),), groups=groups)


def _is_drawn(one: ColumnChange) -> bool:
    """Whether what a column holds has changed, not its missing cells alone, and in shares."""
    return bool(one.shares) and any(test.changed and test.of in (LEVELS, NUMBERS) for test in one.tests)


def _line(one: ColumnChange, column: Column | None) -> tuple[Cell, ...]:
    then, now = held_then_and_now(one, column)
    lost = [Cell(NOTHING) if share is None else Cell(percent(share), share) for share in (one.missing_then, one.missing_now)]  # fmt: skip
    psi = Cell(NOTHING) if one.psi is None else Cell(f"{one.psi:.3f}", one.psi)
    return (Cell(name(one.column)), Cell(one.compared), Cell(then), Cell(now), psi, *lost, Cell(smallest(one)))


def _chart(one: ColumnChange, index: int) -> Chart:
    """The shares of a column's levels or intervals, then and now."""
    most = sorted(one.shares, key=lambda label: -abs(one.shares[label][1] - one.shares[label][0]))[:MOST_BARS]
    shown = [label for label in one.shares if one.compared == NUMBERS or label in most]
    lines = [(name(label), when, share, COLORS[when]) for label in shown for when, share in zip((THEN, NOW), one.shares[label], strict=True)]  # fmt: skip
    rest = f" The {len(shown)} levels that moved most are drawn." if len(shown) < len(one.shares) else ""
    return Chart(
        f"column{index}", name(one.column), f"PSI {one.psi or 0.0:.3f}.{rest}", _bars(lines, len(shown)), ("value", THEN, NOW),
        tuple((name(label), percent(then), percent(now)) for label, (then, now) in one.shares.items()), tuple(COLORS.items()),
    )  # fmt: skip


def _bars(lines: list[tuple[str, str, float, str]], levels: int) -> dict[str, Any]:
    drawn = drawing(("value", "when", "share", "color"), lines).mark_bar()
    encoded = drawn.encode(
        y=alt.Y("value:N", sort=None, title=None),
        yOffset=alt.YOffset("when:N", sort=[THEN, NOW]),
        x=alt.X("share:Q", title=None, axis=alt.Axis(tickCount=4, format=".0%")),
        color=OWN_COLOR,
        tooltip=[alt.Tooltip("when:N"), alt.Tooltip("value:N"), alt.Tooltip("share:Q", format=".1%")],
    )
    return specification(encoded, 34 + 24 * levels)


def _classes(found: Monitoring) -> Section:
    now = "now, counted" if found.counted else "now, estimated from the model's probabilities"
    lines = tuple(
        (Cell(name(label)), Cell(percent(one.then), one.then), Cell(percent(one.now), one.now), Cell(f"{percent(one.low)} to {percent(one.high)}"))
        for label, one in found.prevalence.items()
    )  # fmt: skip
    return Section("classes", "The classes", (), tables=(Table("How frequent each class is", ("class", "then", now, "95 % interval"), lines),))  # fmt: skip


def _own_word(found: Monitoring) -> Section:
    return Section("word", "How right and how surprised the model is", tuple(found.facts()))
