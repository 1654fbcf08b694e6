"""Charts of purified effects: how much each set of columns matters, what a column says along its values, and two as a map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import altair as alt
import numpy as np

from merula.report.chart import OWN_COLOR, Chart, bars, color_of, colored, distinct, drawing, name, specification
from merula.report.column_charts import DENSITY, MOST_LINES, PLAIN
from merula.report.findings import Contribution, EffectAxis, LearnedEffect
from merula.show.colors import AGAINST, FOR, QUIET, sided
from merula.show.numbers import several, short, signed

TABLED = 9  # values of a curve, and of each side of a map, that are listed
MOST_GROUPED = 5  # classes whose bars stand side by side
SQUARE = 230  # the height of a map between numbers
SLANTED = 60  # the height of slanted labels below a map
WHITE = "#ffffff"
MATTERS = "How far what these columns say moves the log-odds of a row's true class against the others, up or down, on average over rows: 0.69 doubles or halves the odds. A set of columns shows only what they say jointly, beyond what smaller sets of them say."
SIMILAR, OF_ROWS = "similar rows", " Similar rows are what the classes of rows alike say."


def importance_chart(importances: Sequence[Contribution]) -> Chart:
    """How much each set of columns matters, the strongest first, and all the rest as one."""
    labels = distinct([_subject(one) for one in importances])
    drawn = [
        (label, one.strength, QUIET if one.others or one.name else FOR, {"size of the move": short(one.strength, 3)})
        for label, one in zip(labels, importances, strict=True)
    ]
    return Chart(
        "importance",
        "How much each column and each set of columns matters",
        MATTERS + (OF_ROWS if any(one.name == SIMILAR for one in importances) else ""),
        bars("columns", drawn, "mean weight of evidence"),
        ("columns", "size of the move", "towards the truth"),
        tuple(
            (label, short(one.strength), signed(one.evidence)) for label, one in zip(labels, importances, strict=True)
        ),
    )


def _subject(one: Contribution) -> str:
    if one.others:
        return f"{several(one.others, 'other set')} together"
    return one.name or name(" × ".join(one.columns))


# -------------------------------------------------------------------------------------------------------------- columns


def effect_chart(one: LearnedEffect, balance: Mapping[Any, float], index: int) -> Chart:
    """What one column says of each class, along its values; or two columns, as a map."""
    if len(one.axes) == 2:
        return _map_chart(one, index)
    (axis,) = one.axes
    commonest = sorted(one.given, key=lambda label: -balance.get(label, 0.0))[:MOST_LINES]
    labels = [label for label in one.given if label in commonest]
    colors = color_of(balance, labels)
    drawn = _levels(one, labels, colors) if axis.form == "levels" else _curve(one, labels, colors)
    caption = [
        "Dotted: where it is missing." if one.missing else "",
        f"{several(axis.others, 'less frequent level')} not drawn." if axis.others else "",
        f"The {len(labels)} commonest classes are drawn." if len(labels) < len(one.given) else "",
    ]
    return Chart(
        f"effect{index}",
        name(axis.column),
        " ".join(filter(None, caption)),
        drawn,
        ("value", *(name(label) for label in labels)),
        _tabled(one, labels),
        _legend(one, labels, colors),
    )


def _legend(one: LearnedEffect, labels: Sequence[Any], colors: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The colours of classes; of a shaded table, where a class has a place of its own, what its shades say."""
    if one.against is not None or len(one.given) == 1:
        return ()
    if one.axes[0].form == "levels" and len(labels) > MOST_GROUPED:
        reach = _reach([effect for label in labels for effect in one.given[label]])
        return (f"{signed(reach)}, for the class", FOR), (f"{signed(-reach)}, against it", AGAINST)
    return tuple((name(label), colors[str(label)]) for label in labels)


def _tabled(one: LearnedEffect, labels: Sequence[Any]) -> tuple[tuple[str, ...], ...]:
    values = one.axes[0].values
    kept = range(len(values)) if one.axes[0].form == "levels" else _some(len(values))
    unit = one.axes[0].unit
    lines = [(f"{_value(values[k])} {unit}".rstrip(), *(signed(one.given[label][k]) for label in labels)) for k in kept]
    missing = [("missing", *(signed(one.missing[label]) for label in labels))] if one.missing else []
    return (*lines, *missing)


def _some(count: int) -> list[int]:
    return [int(k) for k in np.unique(np.linspace(0, count - 1, min(count, TABLED)).round())]


def _value(value: Any) -> str:
    return short(value) if isinstance(value, float) else name(value)


def _x_axis(axis: EffectAxis, field: str = "value") -> Any:
    """Along the numbers or times of a column."""
    if axis.form == "times":
        return alt.X(f"{field}:T", title=None, scale=alt.Scale(nice=False), axis=alt.Axis(tickCount=6))
    return alt.X(
        f"{field}:Q",
        title=axis.unit or None,
        scale=alt.Scale(zero=False, nice=False),
        axis=alt.Axis(tickCount=6, format=PLAIN),
    )


def _curve(one: LearnedEffect, labels: Sequence[Any], colors: Mapping[str, str]) -> dict[str, Any]:
    """A line for each class, dotted where the column is missing."""
    (axis,) = one.axes
    shades = [(name(label), FOR if one.against is not None else colors[str(label)]) for label in labels]
    lines = [(name(label), value, effect) for label in labels for value, effect in zip(axis.values, one.given[label], strict=True)]  # fmt: skip
    x = _x_axis(axis)
    y = alt.Y("effect:Q", title=None, axis=alt.Axis(tickCount=4, format=".2~g"))
    tooltip = [alt.Tooltip("label:N", title="class"), alt.Tooltip(x.shorthand, title="value"), alt.Tooltip("effect:Q", format="+.3f")]  # fmt: skip
    curves = drawing(("label", "value", "effect"), lines).mark_line(strokeWidth=1.8)
    layers = [_zero("y"), curves.encode(x=x, y=y, color=colored("label", shades), tooltip=tooltip)]
    if one.missing:
        known = [(name(label), one.missing[label]) for label in labels]
        rules = drawing(("label", "effect"), known).mark_rule(strokeDash=[2, 4], strokeWidth=1.6)
        layers.append(rules.encode(y=y, color=colored("label", shades), tooltip=[tooltip[0], tooltip[-1]]))
    return specification(alt.layer(*layers), DENSITY)


def _zero(side: str) -> Any:
    """The line at which nothing is said."""
    place = alt.Y("effect:Q") if side == "y" else alt.X("effect:Q")
    return drawing(("effect",), [(0.0,)]).mark_rule(color="#999999").encode(**{side: place})


def _levels(one: LearnedEffect, labels: Sequence[Any], colors: Mapping[str, str]) -> dict[str, Any]:
    """Bars for few classes, coloured by what they speak for where there is one; a shaded table for more."""
    (axis,) = one.axes
    called = distinct([name(value) for value in axis.values])
    lines = [
        (name(label), value, one.given[label][k], sided(one.given[label][k]) if one.against is not None else colors[str(label)])
        for k, value in enumerate(called)
        for label in labels
    ]  # fmt: skip
    y = alt.Y("value:N", sort=None, title=None)
    tooltip = [alt.Tooltip("label:N", title="class"), alt.Tooltip("value:N"), alt.Tooltip("effect:Q", format="+.3f")]
    encoded = drawing(("label", "value", "effect", "color"), lines).encode(y=y, tooltip=tooltip)
    if len(labels) > MOST_GROUPED:
        x = alt.X("label:N", sort=None, title=None, axis=alt.Axis(labelAngle=-40, labelLimit=90, labelOverlap=False))
        reach = _reach([line[2] for line in lines])
        return specification(encoded.mark_rect().encode(x=x, color=_shade(reach)), 90 + 18 * len(called))
    bars = encoded.mark_bar().encode(
        x=alt.X("effect:Q", title=None, axis=alt.Axis(tickCount=5, format=".2~g")),
        yOffset=alt.YOffset("label:N", sort=[name(label) for label in labels]),
        color=OWN_COLOR,
    )
    return specification(alt.layer(bars, _zero("x")), 30 + len(called) * (9 * len(labels) + 8))


# ----------------------------------------------------------------------------------------------------------------- maps


def _reach(values: Sequence[float]) -> float:
    return max(1e-12, *(abs(value) for value in values))


def _shade(reach: float) -> Any:
    """From what speaks against a class to what speaks for it."""
    return alt.Color(
        "effect:Q",
        legend=None,
        scale=alt.Scale(domain=[-reach, 0, reach], range=[AGAINST, WHITE, FOR], interpolate="rgb"),
    )


def _map_chart(one: LearnedEffect, index: int) -> Chart:
    """What two columns say together of one class, beyond each by itself."""
    (label, effects), reach = next(iter(one.given.items())), _reach(next(iter(one.given.values())))
    across, up = sorted(one.axes, key=lambda axis: axis.form == "levels")  # numbers along the lower edge
    values = np.array(effects).reshape([len(axis.values) for axis in one.axes])
    values = values if across is one.axes[0] else values.T
    whom = f"{name(label)} against {name(one.against)}" if one.against is not None else name(label)
    hidden = sum(axis.others for axis in one.axes)
    chosen = "" if one.against is not None else ", the class they say most about"
    rest = f" {several(hidden, 'less frequent level')} not drawn." if hidden else ""
    kept = [range(len(axis.values)) if axis.form == "levels" else _some(len(axis.values)) for axis in (across, up)]
    return Chart(
        f"effect{index}",
        f"{name(across.column)} × {name(up.column)}",
        f"For {whom}{chosen}.{rest}",
        _map(across, up, values, reach),
        (name(across.column), *(f"{name(up.column)} {_value(up.values[k])}" for k in kept[1])),
        tuple((_value(across.values[i]), *(signed(values[i, k]) for k in kept[1])) for i in kept[0]),
        ((f"{signed(reach)}, for {name(label)}", FOR), (f"{signed(-reach)}, against", AGAINST)),
    )


def _map(across: EffectAxis, up: EffectAxis, values: Any, reach: float) -> dict[str, Any]:
    """A cell for each combination of values."""
    cells = [
        (*left, *low, float(values[i, k]))
        for i, left in enumerate(_sides(across))
        for k, low in enumerate(_sides(up))
    ]  # fmt: skip
    drawn = drawing(("x", "x2", "y", "y2", "effect"), cells).mark_rect()
    x = _x_axis(across, "x") if across.form != "levels" else alt.X("x:N", sort=None, title=None, axis=alt.Axis(labelAngle=-40, labelLimit=90, labelOverlap=False))  # fmt: skip
    y = _y_axis(up)
    tooltip = [alt.Tooltip(x.shorthand, title=name(across.column)), alt.Tooltip(y.shorthand, title=name(up.column)), alt.Tooltip("effect:Q", format="+.3f")]  # fmt: skip
    encoded = drawn.encode(x=x.title(_titled(across)), y=y, color=_shade(reach), tooltip=tooltip)
    ends = {"x2": "x2"} if across.form != "levels" else {}
    ends |= {"y2": "y2"} if up.form != "levels" else {}
    slanted = SLANTED if across.form == "levels" else 0
    height = 60 + slanted + 18 * len(up.values) if up.form == "levels" else SQUARE
    return specification(encoded.encode(**ends), height)


def _y_axis(axis: EffectAxis) -> Any:
    if axis.form == "levels":
        return alt.Y("y:N", sort=None, title=_titled(axis))
    kind, pattern = ("T", alt.Undefined) if axis.form == "times" else ("Q", PLAIN)
    scale = alt.Scale(nice=False) if kind == "T" else alt.Scale(zero=False, nice=False)
    return alt.Y(f"y:{kind}", title=_titled(axis), scale=scale, axis=alt.Axis(tickCount=5, format=pattern))


def _titled(axis: EffectAxis) -> str:
    """A column with the unit of its numbers."""
    return name(axis.column) + (f" ({axis.unit})" if axis.unit else "")


def _sides(axis: EffectAxis) -> list[tuple[Any, Any]]:
    """Where each cell begins and ends; a level is a place of its own."""
    if axis.form == "levels":
        return [(value, value) for value in distinct([name(value) for value in axis.values])]
    is_time = axis.form == "times"
    middles = np.array(axis.values, dtype="datetime64").astype("datetime64[ms]") if is_time else np.array(axis.values)
    between = middles[:-1] + (middles[1:] - middles[:-1]) // 2 if is_time else (middles[1:] + middles[:-1]) / 2
    edges = np.concatenate([middles[:1], between, middles[-1:]])
    # all with hours, or browsers would take some for times of the place and some for universal ones
    return list(pairwise([str(edge).replace("T", " ") for edge in edges] if is_time else edges.tolist()))
