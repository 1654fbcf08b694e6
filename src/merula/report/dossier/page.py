"""A dossier as one HTML page in the style of the report, with charts of calibration and net benefit."""

from __future__ import annotations

from dataclasses import replace

import altair as alt

from merula.report.chart import Chart, drawing, name, specification
from merula.report.dossier.result import Dossier, NetBenefit, Performance
from merula.report.dossier.sections import sections_of
from merula.report.layout import Group, Section
from merula.report.page import page_html
from merula.show.colors import COLORS, FOR
from merula.show.numbers import count, fixed

HEIGHT = 300


def dossier_html(dossier: Dossier) -> str:
    """The page, ready to be written to a file."""
    return page_html(dossier.title, [_with_chart(one, dossier) for one in sections_of(dossier)])


def _with_chart(section: Section, dossier: Dossier) -> Section:
    """The section with its chart, if it has one; the table that says the same in few lines stays."""
    if section.key == "calibration" and dossier.performance is not None and dossier.performance.bins:
        return replace(section, groups=(Group("", "", (calibration_chart(dossier.performance),)),))
    if section.key == "net-benefit" and dossier.net_benefit is not None:
        return replace(section, groups=(Group("", "", (net_benefit_chart(dossier.net_benefit),)),))
    return section


def calibration_chart(found: Performance) -> Chart:
    """The share observed by the probability given, with intervals."""
    lines = [(one.predicted, one.observed, one.low, one.high, one.rows) for one in found.bins]
    unit = alt.Scale(domain=[0, 1], nice=False)
    diagonal = drawing(("x", "y"), [(0, 0), (1, 1)]).mark_line(color="#555555", strokeDash=[5, 4]).encode(x="x:Q", y="y:Q")  # fmt: skip
    base = drawing(("predicted", "observed", "low", "high", "rows"), lines).encode(
        x=alt.X("predicted:Q", title="probability given", scale=unit, axis=alt.Axis(tickCount=5))
    )
    y = alt.Y("observed:Q", title="share observed", scale=unit, axis=alt.Axis(tickCount=5))
    told = [alt.Tooltip("predicted:Q", format=".3f"), alt.Tooltip("observed:Q", format=".3f"), alt.Tooltip("rows:Q", format=",.0f")]  # fmt: skip
    points = base.mark_circle(color=FOR, opacity=0.9).encode(y=y, size=alt.Size("rows:Q", legend=None, scale=alt.Scale(range=[25, 320])), tooltip=told)  # fmt: skip
    reach = base.mark_rule(color=FOR, strokeWidth=1.5, opacity=0.7).encode(y=alt.Y("low:Q", title="share observed", scale=unit), y2="high:Q")  # fmt: skip
    return Chart(
        "calibration",
        "Calibration",
        "Lines are 95 % intervals, larger points hold more rows. On the dashed line a probability means what it says.",
        specification(alt.layer(diagonal, reach, points), HEIGHT),
        ("probability given", "share observed", "95 % interval", "rows"),
        tuple((fixed(p), fixed(o), f"{fixed(low)} to {fixed(high)}", count(rows)) for p, o, low, high, rows in lines),
    )


def net_benefit_chart(found: NetBenefit) -> Chart:
    """What acting by the model, always and never is worth at each threshold."""
    named = {"by the model": found.model, "act always": found.always, "act never": (0.0,) * len(found.thresholds)}
    colors = dict(zip(named, (FOR, COLORS[1], "#555555"), strict=True))
    highest = max(*found.model, *found.always, 0.01)
    lowest = -0.25 * highest
    lines = [(label, t, value) for label, values in named.items() for t, value in zip(found.thresholds, values, strict=True) if value >= lowest]  # fmt: skip
    drawn = drawing(("what", "threshold", "benefit"), lines).mark_line(strokeWidth=1.8).encode(
        x=alt.X("threshold:Q", title=f"threshold: act if P({name(found.label)}) ≥", scale=alt.Scale(domain=[0, 1], nice=False)),
        y=alt.Y("benefit:Q", title="net benefit", scale=alt.Scale(domain=[lowest, 1.05 * highest], nice=False)),
        color=alt.Color("what:N", legend=None, scale=alt.Scale(domain=list(colors), range=list(colors.values()))),
        tooltip=["what:N", alt.Tooltip("threshold:Q", format=".2f"), alt.Tooltip("benefit:Q", format=".4f")],
    )  # fmt: skip
    return Chart(
        "net-benefit",
        "Net benefit",
        "Higher is better. What falls below the axis is worse than never acting.",
        specification(drawn, HEIGHT),
        ("threshold", *named),
        tuple((f"{t:.2f}", *(fixed(values[k]) for values in named.values())) for k, t in enumerate(found.thresholds)),
        tuple(colors.items()),
    )
