"""The nomogram as charts: a scale of points for each column, and from their total to the probability."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf
from typing import Any

import altair as alt

from merula.report.chart import Chart, bars_height, drawing, name, specification
from merula.report.column_charts import PLAIN
from merula.report.findings import Points, PointScale
from merula.show.colors import FOR, QUIET
from merula.show.numbers import percent, several, signed

SCALE_STEP, CURVE, TOTAL = 20, 110, 180
EDGE = 104.0  # where points beyond 100, of levels that decide alone, are drawn
EXACT = 17  # digits: whoever reads the page's own numbers finds the model's
UNKNOWN = "(unknown)"
MOST_NAMED = 8


def nomogram_charts(points: Points) -> list[Chart]:
    """A scale of points for each column, the widest first, then from the total to the probability."""
    return [*(_scale_chart(scale, index) for index, scale in enumerate(points.scales)), _total_chart(points)]


def how_to_read(points: Points, model: str, log_loss: str, several_classes: bool) -> str:
    """Which model is drawn, how good it is beside the reported one, how it is read, and what is not drawn."""
    pair = f"{name(points.label)} against {name(points.against)}"
    if points.own:
        whose = f"It draws {name(model)} itself, whose log loss on unseen rows is {points.log_loss}."
    else:
        whose = f"This is not {name(model)}, whose columns interact, but a simpler model that was fitted on the same rows and takes {points.model}, so that it can be read by hand. On unseen rows its log loss is {points.log_loss}, that of {name(model)} {log_loss}."
    chosen = " (the two classes most often taken for each other)" if several_classes else ""
    read = f"For {pair}{chosen}: find a row's value on each column's scale, read its points off the axis below, add them up, and read the probability off the last chart; a value that is not known has the points of {UNKNOWN}."
    return " ".join(filter(None, (whose.replace("< ", "below "), read, _left_out(points), points.remark)))


def _left_out(points: Points) -> str:
    """What is not drawn, and what becomes of it."""
    told = []
    if points.left_out:
        told.append(f"{several(len(points.left_out), 'column')} with shorter scales ({_listed(points.left_out)}) not drawn: the total counts them with their average, {points.average:.0f} points, which changes the probability of a row by at most {percent(points.error)}.")  # fmt: skip
    if points.silent:
        told.append(f"Without influence, and so without points: {_listed(points.silent)}.")
    return " ".join(told)


def _listed(columns: Sequence[str]) -> str:
    more = len(columns) - MOST_NAMED
    return ", ".join(map(name, columns[:MOST_NAMED])) + (f" and {more:,} more" if more > 0 else "")


# --------------------------------------------------------------------------------------------------------------- scales


def _scale_chart(scale: PointScale, index: int) -> Chart:
    """Points of one column: read across from the value, then down to its points."""
    listed = [*scale.listed, (UNKNOWN, scale.missing)]
    return Chart(
        f"points{index}",
        name(scale.column),
        f"In {scale.unit}." if scale.unit else "",
        _curve_points(scale) if scale.along else _level_points(listed),
        ("value", "points"),
        tuple((name(text), _points(points)) for text, points in listed),
        digits=EXACT,
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
    lines = [
        (name(text), _inside(points), _points(points), QUIET if text == UNKNOWN else FOR) for text, points in listed
    ]
    marks = drawing(("value", "points", "text", "color"), lines).mark_point(filled=True, size=60)
    y = alt.Y("value:N", sort=None, title=None, axis=_y_axis())
    tooltip = ["value:N", alt.Tooltip("text:N", title="points")]
    color = alt.Color("color:N", scale=None)
    return specification(marks.encode(x=_x(), y=y, color=color, tooltip=tooltip), bars_height(len(lines), SCALE_STEP))


def _curve_points(scale: PointScale) -> dict[str, Any]:
    """Along a number's range its points rise and fall; the dotted line has those of an unknown value."""
    lines = [(value, _inside(points), k) for k, (value, points) in enumerate(scale.along)]
    numeric = not isinstance(scale.along[0][0], str)
    kind, scaled = ("Q", alt.Scale(zero=False, nice=False)) if numeric else ("T", alt.Scale(nice=False))
    y = alt.Y(f"value:{kind}", title=None, scale=scaled, axis=_y_axis(PLAIN if numeric else ""))
    tooltip = [alt.Tooltip(f"value:{kind}"), alt.Tooltip("points:Q", format=".0f")]
    line = drawing(("value", "points", "order"), lines).mark_line(color=FOR)
    unknown = drawing(("points", "text"), [(_inside(scale.missing), UNKNOWN)])
    rule = unknown.mark_rule(color=QUIET, strokeDash=[2, 4], strokeWidth=1.5)
    return specification(
        alt.layer(
            rule.encode(x=_x(), tooltip=[alt.Tooltip("text:N", title="value"), tooltip[1]]),
            line.encode(x=_x(), y=y, order="order:Q", tooltip=tooltip),
        ),
        CURVE,
    )


def _total_chart(points: Points) -> Chart:
    """The probability that a total of points means."""
    label = name(points.label)
    line = drawing(("total", "p"), points.curve).mark_line(color=FOR)
    encoded = line.encode(
        x=alt.X("total:Q", title="total points", scale=alt.Scale(nice=False, zero=False)),
        y=alt.Y(
            "p:Q",
            title=None,
            scale=alt.Scale(domain=[0, 1], nice=False),
            axis=alt.Axis(minExtent=100, maxExtent=100, format=".0%", tickCount=5),
        ),
        tooltip=[alt.Tooltip("total:Q", format=".0f"), alt.Tooltip("p:Q", title=f"P({label})", format=".1%")],
    )
    return Chart(
        "total",
        f"From the total to the probability of {label}",
        f"Add the points of all columns that are drawn, then read the probability of {label}, given that it is {label} or {name(points.against)}.",
        specification(encoded, TOTAL),
        (f"probability of {label}", "total points"),
        tuple((percent(p), f"{total:,.0f}") for p, total in points.totals),
        digits=EXACT,
    )
