"""Charts of subgroups: how well a model does within each, beside all rows."""

from __future__ import annotations

import altair as alt

from merula.answers.evaluation import Subgroups
from merula.answers.evaluation.metrics import FIGURES
from merula.report.chart import Chart, bars_height, distinct, drawing, name, specification
from merula.show.colors import FOR
from merula.show.numbers import fixed
from merula.show.text import shortened

LONGEST = 50  # signs of a subgroup's name beside the chart


def subgroup_chart(found: Subgroups, figure: str, whole: float | None) -> Chart | None:
    """One figure in every subgroup with its interval, and a line for all rows."""
    known = [(group, group.figures[figure]) for group in found.groups if group.figures[figure].value is not None]
    if not known:
        return None
    names = distinct([shortened(name(group.name), LONGEST) for group, _ in known])
    lines = [
        (label, one.value, one.value if one.low is None else one.low, one.value if one.high is None else one.high, f"{group.rows:,}")
        for label, (group, one) in zip(names, known, strict=True)
    ]  # fmt: skip
    drawn = drawing(("group", "value", "low", "high", "rows"), lines)
    y = alt.Y("group:N", sort=None, title=None, axis=alt.Axis(labelLimit=320))
    x = alt.X("value:Q", title=FIGURES[figure].title, scale=alt.Scale(zero=False))
    tooltip = [alt.Tooltip("group:N"), alt.Tooltip("rows:N"), alt.Tooltip("value:Q", format=".4f")]
    parts = [drawn.mark_rule(strokeWidth=2, color=FOR).encode(x="low:Q", x2="high:Q", y=y)]
    parts.append(drawn.mark_point(filled=True, size=70, color=FOR, opacity=1).encode(x=x, y=y, tooltip=tooltip))
    if whole is not None:
        rule = drawing(("whole",), [(whole,)]).mark_rule(color="#444444", strokeDash=[5, 3])
        parts.insert(0, rule.encode(x="whole:Q"))
    return Chart(
        "subgroups",
        f"{FIGURES[figure].title.capitalize()} within subgroups",
        "Each point is the figure of a subgroup's rows alone, its line a 95 % interval; the dashed line is that of all rows.",
        specification(alt.layer(*parts), bars_height(len(lines), 24)),
        ("subgroup", "rows", FIGURES[figure].title, "from", "to"),
        tuple((label, rows, fixed(value), fixed(low), fixed(high)) for label, value, low, high, rows in lines),
    )
