"""Charts of what columns contribute: weights of evidence, and what a column holds given each class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from merula.report.chart import OWN_COLOR, Chart, bars, color_of, colored, drawing, name, specification
from merula.report.findings import Conditional, Contribution
from merula.show.colors import FOR, sided
from merula.show.numbers import percent, several, short, signed

MOST_BARS, MOST_LINES, MOST_GROUPED = 25, 8, 5
DENSITY = 170
TABLED = 9
PLAIN = ".6~g"  # of numbers along an axis: 2007 is a year, not 2,007


MOVED = "How far knowing the column moves the log-odds of a row's true class against the others, on average: +0.69 doubles the odds, +2.3 makes them ten times as large; below 0 it misleads."
APART = "How far knowing the column moves the log-odds of a row's true class once all other columns are known: what it adds to them."


def contribution_chart(contributions: Sequence[Contribution], apart: bool = False) -> Chart:
    """The mean weight of evidence of each column for the true class; `apart`: beyond what the others tell."""
    drawn = [
        (_block(one), one.evidence, sided(one.evidence), {
            "towards the truth": signed(one.evidence), "size": short(one.strength), "decides alone": percent(one.decides)
        })
        for one in contributions
    ]  # fmt: skip
    rest = f" The {MOST_BARS} strongest are drawn." if len(drawn) > MOST_BARS else ""
    classes = list(contributions[0].by_class)[:MOST_LINES]
    return Chart(
        "added" if apart else "evidence",
        "What each column adds to the others" if apart else "Weight of evidence",
        f"{APART if apart else MOVED}{rest}",
        bars("column", drawn[:MOST_BARS], "mean weight of evidence"),
        ("column", "towards the truth", "size of the move", "decides alone", *(f"for {name(c)}" for c in classes)),
        tuple(
            (label, *told.values(), *(signed(one.by_class[c]) for c in classes))
            for (label, *_, told), one in zip(drawn, contributions, strict=True)
        ),
    )


def _block(one: Contribution) -> str:
    more = f" and {several(len(one.columns) - 1, 'other column')} together" if len(one.columns) > 1 else ""
    return name(one.columns[0]) + more + (f" given {', '.join(map(name, one.given))}" if one.given else "")


# --------------------------------------------------------------------------------------------------------- conditionals


def conditional_chart(one: Conditional, balance: Mapping[Any, float], index: int) -> Chart:
    """What a column holds given each class."""
    commonest = sorted(one.given, key=lambda label: -balance.get(label, 0.0))[:MOST_LINES]
    labels = [label for label in one.given if label in commonest]
    colors = color_of(balance, labels)
    spec = _density(one, labels, colors) if one.form in ("density", "numbers") else _bars(one, labels, colors)
    rest = {"levels": "less probable level", "words": "other word"}.get(one.form, "")
    caption = CAPTIONS[one.form] + (f" {several(one.others, rest)} not drawn." if one.others else "")
    caption += f" The {len(labels)} commonest classes are drawn." if len(labels) < len(one.given) else ""
    return Chart(
        f"given{index}",
        name(one.column),
        f"{caption} Modelled as {one.family.replace('_', ' ')}.",
        spec,
        ("value", *(name(label) for label in labels)),
        tuple(
            (_value(one.values[k], one.axis), *(short(one.given[label][k] * _size(one)) for label in labels))
            for k in _tabled(len(one.values), one.form)
        ),
        tuple((name(label), colors[str(label)]) for label in labels) if _is_colored(one, labels) else (),
    )


def _is_colored(one: Conditional, labels: Sequence[Any]) -> bool:
    """Whether classes are told apart by colour, not by place."""
    return one.form in ("density", "numbers") or len(labels) <= MOST_GROUPED


CAPTIONS = {
    "density": "How dense the column's values lie given each class.",
    "numbers": "The probability of each number given each class.",
    "levels": "The probability of each level given each class.",
    "words": "The words that tell most, and how frequent they are among the words of each class.",
}


def _size(one: Conditional) -> float:
    return one.axis[1] if one.form == "density" else 1.0


def _value(value: Any, axis: tuple[str, float]) -> str:
    return f"{short(value / axis[1])} {axis[0]}".rstrip() if isinstance(value, float) else name(value)


def _tabled(count: int, form: str) -> list[int]:
    """Which values are listed: all levels and words, some places along a curve."""
    if form in ("levels", "words") or count <= TABLED:
        return list(range(count))
    return [int(k) for k in np.unique(np.linspace(0, count - 1, TABLED).round())]


def _density(one: Conditional, labels: Sequence[Any], colors: Mapping[str, str]) -> dict[str, Any]:
    unit, size = one.axis
    values = one.values if size == 1 else tuple(value / size for value in one.values)
    lines = [
        (name(label), value, p * _size(one))
        for label in labels
        for value, p in zip(values, one.given[label], strict=True)
    ]
    kind = "T" if one.is_time else "Q"
    encoded = drawing(("label", "value", "p"), lines).encode(
        x=alt.X(f"value:{kind}", title=unit or None, scale=alt.Scale(nice=False) if one.is_time else alt.Scale(zero=False, nice=False), axis=alt.Axis(tickCount=6, format=alt.Undefined if one.is_time else PLAIN)),
        y=alt.Y("p:Q", title=None, stack=None, axis=alt.Axis(tickCount=3, format=".2~g", labels=not one.is_time)),
        color=colored("label", [(name(label), colors[str(label)]) for label in labels]),
        tooltip=[alt.Tooltip("label:N", title="class"), alt.Tooltip(f"value:{kind}", title="value"), alt.Tooltip("p:Q", title="density" if one.form == "density" else "probability", format=".4g")],
    )  # fmt: skip
    return specification(encoded.mark_area(opacity=0.22, line={"strokeWidth": 1.8}), DENSITY)


def _bars(one: Conditional, labels: Sequence[Any], colors: Mapping[str, str]) -> dict[str, Any]:
    """Bars side by side for few classes, a shaded table for more."""
    lines = [
        (name(label), name(value), p, colors[str(label)])
        for k, value in enumerate(one.values)
        for label in labels
        for p in [one.given[label][k]]
    ]
    y = alt.Y("value:N", sort=None, title=None)
    tooltip = [
        alt.Tooltip("label:N", title="class"),
        alt.Tooltip("value:N"),
        alt.Tooltip("p:Q", title="probability", format=".4g"),
    ]
    encoded = drawing(("label", "value", "p", "color"), lines).encode(y=y, tooltip=tooltip)
    if not _is_colored(one, labels):
        shade = alt.Color("p:Q", legend=None, scale=alt.Scale(range=["#f2f6fa", FOR]))
        x = alt.X("label:N", sort=None, title=None, axis=alt.Axis(labelAngle=-40, labelLimit=90, labelOverlap=False))
        return specification(encoded.mark_rect().encode(x=x, color=shade), 90 + 18 * len(one.values))
    drawn = encoded.mark_bar().encode(
        x=alt.X("p:Q", title=None, axis=alt.Axis(tickCount=5, format=".2~g")),
        yOffset=alt.YOffset("label:N", sort=[name(label) for label in labels]),
        color=OWN_COLOR,
    )
    return specification(drawn, 30 + len(one.values) * (9 * len(labels) + 6))
