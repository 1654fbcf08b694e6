"""Charts of what columns contribute: weights of evidence, what a column holds given each class, the nomogram."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isinf
from typing import Any

import altair as alt
import numpy as np

from merula.report.chart import OWN_COLOR, Chart, bars, bars_height, color_of, colored, drawing, name, specification
from merula.report.findings import Conditional, Contribution, Points, PointScale
from merula.show.colors import FOR, sided
from merula.show.numbers import percent, several, short, signed

MOST_BARS, MOST_LINES, MOST_GROUPED = 25, 8, 5
DENSITY, SCALE_STEP, CURVE = 170, 20, 110
EDGE = 104.0  # where points beyond 100, of levels that decide alone, are drawn
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
    colors = color_of(list(balance))
    commonest = sorted(one.given, key=lambda label: -balance.get(label, 0.0))[:MOST_LINES]
    labels = [label for label in one.given if label in commonest]
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
            (_value(one.values[k]), *(short(one.given[label][k]) for label in labels))
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


def _value(value: Any) -> str:
    return short(value) if isinstance(value, float) else name(value)


def _tabled(count: int, form: str) -> list[int]:
    """Which values are listed: all levels and words, some places along a curve."""
    if form in ("levels", "words") or count <= TABLED:
        return list(range(count))
    return [int(k) for k in np.unique(np.linspace(0, count - 1, TABLED).round())]


def _density(one: Conditional, labels: Sequence[Any], colors: Mapping[str, str]) -> dict[str, Any]:
    lines = [(name(label), value, p) for label in labels for value, p in zip(one.values, one.given[label], strict=True)]
    kind = "T" if one.is_time else "Q"
    encoded = drawing(("label", "value", "p"), lines).encode(
        x=alt.X(f"value:{kind}", title=None, scale=alt.Scale(nice=False) if one.is_time else alt.Scale(zero=False, nice=False), axis=alt.Axis(tickCount=6, format=alt.Undefined if one.is_time else PLAIN)),
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


# ------------------------------------------------------------------------------------------------------------- nomogram


def nomogram_charts(points: Points, most: int = 12) -> list[Chart]:
    """A scale of points for each column, the widest first, then from the total to the probability."""
    drawn = [scale for scale in points.scales[:most] if scale.listed or scale.along]
    return [_scale_chart(scale, index) for index, scale in enumerate(drawn)] + [_total_chart(points)]


def _scale_chart(scale: PointScale, index: int) -> Chart:
    """Points of one column: read across from the value, then down to its points."""
    listed = [*scale.listed, ("(unknown)", scale.missing)]
    return Chart(
        f"points{index}",
        name(scale.column),
        "",
        _curve_points(scale.along) if scale.along else _level_points(scale.listed),
        ("value", "points"),
        tuple((name(text), _points(points)) for text, points in listed),
    )


def _points(points: float) -> str:
    return signed(points) if isinf(points) else f"{points:.0f}"


def _inside(points: float) -> float:
    return min(max(points, -4.0), EDGE)


def _x() -> Any:
    return alt.X("points:Q", title=None, scale=alt.Scale(domain=[-4, EDGE], nice=False), axis=alt.Axis(values=[0, 20, 40, 60, 80, 100]))  # fmt: skip


def _y_axis(pattern: str = "") -> Any:
    """An axis as wide as that of every other scale, so that points lie below one another."""
    return alt.Axis(minExtent=100, maxExtent=100, labelLimit=92, tickCount=4, format=pattern or alt.Undefined)


def _level_points(listed: Sequence[tuple[str, float]]) -> dict[str, Any]:
    lines = [(name(text), _inside(points), _points(points)) for text, points in listed]
    marks = drawing(("value", "points", "text"), lines).mark_point(filled=True, size=60, color=FOR)
    y = alt.Y("value:N", sort=None, title=None, axis=_y_axis())
    tooltip = ["value:N", alt.Tooltip("text:N", title="points")]
    return specification(marks.encode(x=_x(), y=y, tooltip=tooltip), bars_height(len(lines), SCALE_STEP))


def _curve_points(along: Sequence[tuple[Any, float]]) -> dict[str, Any]:
    """Along a number's range its points rise and fall."""
    lines = [(value, _inside(points), k) for k, (value, points) in enumerate(along)]
    numeric = not isinstance(along[0][0], str)
    kind, scaled = ("Q", alt.Scale(zero=False, nice=False)) if numeric else ("T", alt.Scale(nice=False))
    y = alt.Y(f"value:{kind}", title=None, scale=scaled, axis=_y_axis(PLAIN if numeric else ""))
    tooltip = [alt.Tooltip(f"value:{kind}"), alt.Tooltip("points:Q", format=".0f")]
    line = drawing(("value", "points", "order"), lines).mark_line(color=FOR)
    return specification(line.encode(x=_x(), y=y, order="order:Q", tooltip=tooltip), CURVE)


def _total_chart(points: Points) -> Chart:
    """The probability that a total of points means."""
    label = name(points.label)
    line = drawing(("total", "p"), points.curve).mark_line(color=FOR)
    encoded = line.encode(
        x=alt.X("total:Q", title="total points", scale=alt.Scale(nice=False, zero=False)),
        y=alt.Y("p:Q", title=None, axis=alt.Axis(minExtent=100, maxExtent=100, format=".0%", tickCount=5)),
        tooltip=[alt.Tooltip("total:Q", format=".0f"), alt.Tooltip("p:Q", title=f"P({label})", format=".1%")],
    )
    return Chart(
        "total",
        f"From the total to the probability of {label}",
        f"Add the points of all columns (of an unknown value, those in its table), then read the probability of {label}, given that it is {label} or {name(points.against)}.",
        specification(encoded, 180),
        (f"probability of {label}", "total points"),
        tuple((percent(p), f"{total:.0f}") for p, total in points.totals),
    )
