"""Learned effects drawn: curves of numbers and bars of levels for one column, a map for two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from merula.classify.conditionals import class_labels
from merula.classify.effects.curves import EffectCurve, Places, effect_curve
from merula.classify.effects.marginals import MISSING
from merula.classify.plot import LETTER, LONGEST, chosen_classes
from merula.classify.readable import axis_unit, names_unit, shown
from merula.core import InputError, one_of
from merula.data.schema import Column, Label
from merula.data.table import as_times
from merula.show.colors import FOR, sided
from merula.show.numbers import several
from merula.show.plots import draw_on, legend_beside, literal
from merula.show.text import display_width, shortened

if TYPE_CHECKING:
    from merula.classify.base import BayesianClassifier

EFFECT = "effect on the log score"
SIDE_BY_SIDE = 48  # letters that the lower edge of a map has room for
# the effects of each class and its colour; "" where they are coloured by their sign
Series = dict[Label, tuple[Any, str]]


def effect_plot(
    model: BayesianClassifier, columns: Sequence[str], ax: Any = None, classes: Sequence[Any] | None = None
) -> Any:
    """The axes with the purified effect of one column for each class, or of two columns for one class.

    Of two classes it is the effect on the log-odds of the second against the first, as `explain` tells it. A dotted line is where a
    column of numbers is missing, if that is an answer.

    Parameters
    ----------
    model : a fitted classifier that is explained by effects
    columns : the names of one column or of two
    ax : matplotlib axes, optional
    classes : sequence of labels, optional
        The classes to draw by their log scores; by default the eight most probable of several, and of two columns the most probable.

    Examples
    --------
    >>> import merula as mr
    >>> model = mr.LogLinearClassifier(order=1).fit([["red"], ["red"], ["blue"]] * 9, ["ripe", "ripe", "unripe"] * 9)
    >>> ax = effect_plot(model, ["x0"])
    >>> [bool(bar.get_width() > 0) for bar in ax.containers[0]]  # blue, red: for unripe against ripe
    [True, False]
    """
    effects = model.fitted_.effects
    if effects is None or not 1 <= len(columns) <= 2:
        raise InputError("effects of one column or of two are drawn, of a model that has them", got=list(columns))
    for name in columns:
        one_of(name, model.schema_.names, "column")
    if len(set(columns)) < len(columns):
        raise InputError(f"both columns are {columns[0]!r}", got=list(columns), remedy="name two different columns")
    found = _in_order(effect_curve(effects, columns))
    if len(columns) == 2:
        return _map(model, found, ax, classes)
    return _single(model, found, ax, classes)


def _in_order(found: EffectCurve) -> EffectCurve:
    """The same with levels in their own order, as 1, 2, 3, and being missing behind them; not the most frequent first."""
    places, effects = list[Places](), found.effects
    for axis, one in enumerate(found.places):
        order = np.argsort(np.where(one.states == MISSING, np.iinfo(np.int64).max, one.states), kind="stable")
        if one.is_number:
            places.append(one)
            continue
        effects = np.take(effects, order, axis=axis)
        places.append(replace(one, values=tuple(one.values[k] for k in order), states=one.states[order]))
    return replace(found, places=tuple(places), effects=effects)


def _series(model: BayesianClassifier, effects: Any, classes: Sequence[Any] | None) -> tuple[Series, str, int]:
    """What is drawn of effects, classes their last axis; what they are effects on; and how many classes are left out unasked."""
    labels = class_labels(model)
    if classes is None and len(labels) == 2:
        first, second = (shortened(str(label), LONGEST) for label in labels)
        return (
            {labels[1]: (effects[..., 1] - effects[..., 0], "")},
            f"effect on the log-odds\nof {second} against {first}",
            0,
        )
    colors, hidden = chosen_classes(model, classes)
    return {label: (effects[..., labels.index(label)], color) for label, color in colors.items()}, EFFECT, hidden


def _single(model: BayesianClassifier, found: EffectCurve, ax: Any, classes: Sequence[Any] | None) -> Any:
    (places,) = found.places
    column = model.schema_[places.name]
    series, what, hidden = _series(model, found.effects, classes)
    told = found.missing is not None and model._answers_missing(column.name)
    missing = _series(model, found.missing, classes)[0] if told else {}
    names = [literal(shortened(str(label), LONGEST)) for label in series]

    def draw(ax: Any) -> None:
        if places.is_number:
            _curves(ax, column, places, series, missing, what)
        else:
            _bars(ax, column, places, series, what)
        ax.set_title(literal(shortened(column.name, 2 * LONGEST, middle=True)), fontsize="medium")
        if what == EFFECT:
            legend_beside(ax, f"… and {hidden} more" if hidden else "")

    height = 3.5 if places.is_number else 1.4 + places.count * min(0.12 + 0.14 * len(series), 0.6)
    width = 4.8 + LETTER * (max(map(display_width, names)) + (0 if places.is_number else LONGEST))
    return draw_on(ax, (width, height), [column.name, what, *names, *_texts(column, places)], draw)


def _curves(ax: Any, column: Column, places: Places, series: Series, missing: Series, what: str) -> None:
    x, unit = _axis(column, places)
    for label, (effects, color) in series.items():
        ax.plot(x, effects, color=color or FOR, label=literal(shortened(str(label), LONGEST)))
    for effect, color in missing.values():
        ax.axhline(float(effect), color=color or FOR, linestyle=":", linewidth=1.2)
    ax.axhline(0.0, color="#999999", linewidth=0.7)
    ax.set(xlabel=literal(unit) + ("  (dotted: missing)" if missing else ""), ylabel=literal(what))
    if x.dtype.kind == "M":
        ax.tick_params(axis="x", labelrotation=20)


def _bars(ax: Any, column: Column, places: Places, series: Series, what: str) -> None:
    """A group of bars for each level, from top to bottom, one for each class."""
    indices, height = np.arange(places.count), 0.8 / len(series)
    for k, (label, (effects, color)) in enumerate(series.items()):
        offset = (k - (len(series) - 1) / 2) * height
        ax.barh(indices + offset, effects, height=0.9 * height, color=color or [sided(effect) for effect in effects], label=literal(shortened(str(label), LONGEST)))  # fmt: skip
    ax.set_yticks(indices, [literal(text) for text in _texts(column, places)])
    ax.set_ylim(len(indices) - 0.5, -0.5)
    ax.axvline(0.0, color="#999999", linewidth=0.7)
    ax.set_xlabel(literal(what) + (f" ({several(places.others, 'more level')} not drawn)" if places.others else ""))


def _map(model: BayesianClassifier, found: EffectCurve, ax: Any, classes: Sequence[Any] | None) -> Any:
    """The effect of two columns for one class, in the colours of evidence for it and against it."""
    likely = class_labels(model)[int(np.argmax(model.class_log_prior_))]
    series, what, _ = _series(model, found.effects, [likely] if classes is None and len(model.classes_) > 2 else classes)  # fmt: skip
    label, (values, _) = next(iter(series.items()))
    across, up = sorted(found.places, key=lambda places: not places.is_number)  # numbers along the lower edge
    values = values.T if across is found.places[0] else values
    columns = [model.schema_[places.name] for places in (across, up)]
    texts = [text for column, places in zip(columns, (across, up), strict=True) for text in (column.name, *_texts(column, places))]  # fmt: skip
    title = f"{what}: {shortened(str(label), LONGEST)}" if what == EFFECT else what

    def draw(ax: Any) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        reach = max(1e-12, float(np.abs(values).max()))
        colors = LinearSegmentedColormap.from_list("effects", [sided(-1.0), "#ffffff", sided(1.0)])
        x, y = (_axis(column, places)[0] for column, places in zip(columns, (across, up), strict=True))
        drawn = ax.pcolormesh(x, y, values, cmap=colors, vmin=-reach, vmax=reach, shading="nearest")
        for axis, column, places in ((ax.xaxis, columns[0], across), (ax.yaxis, columns[1], up)):
            unit = _axis(column, places)[1]
            axis.set_label_text(
                literal(
                    shortened(column.name, LONGEST, middle=True)
                    + (f" ({unit})" if unit and not names_unit(column.name, unit) else "")
                )
            )
            if not places.is_number:
                axis.set_ticks(range(places.count), [literal(text) for text in _texts(column, places)])
        if not across.is_number and _letters(_texts(columns[0], across)) > SIDE_BY_SIDE:
            ax.tick_params(axis="x", labelrotation=35)
            for label in ax.get_xticklabels():
                label.set(ha="right", rotation_mode="anchor")
        if not up.is_number:  # levels from top to bottom, as bars have them
            ax.invert_yaxis()
        ax.figure.colorbar(drawn, ax=ax, label=literal(title))

    return draw_on(ax, (6.4, 4.2), [*texts, title], draw)


def _letters(texts: Sequence[str]) -> int:
    """How many letters texts take side by side, each as much room as the widest."""
    return len(texts) * (max(map(display_width, texts), default=0) + 1)


def _axis(column: Column, places: Places) -> tuple[Any, str]:
    """Numbers as they stand on an axis, and the unit that they are told in; levels by their number."""
    if not places.is_number:
        return np.arange(places.count), ""
    x = np.array(places.values)
    if column.unit is not None and column.unit.startswith("datetime"):
        return as_times(x, column.unit).astype("datetime64[ms]"), ""
    unit, size = axis_unit(column, float(np.ptp(x)))
    return x / size, unit


def _texts(column: Column, places: Places) -> list[str]:
    """The levels as they are written; nothing for numbers."""
    if places.is_number:
        return []
    texts = [shown(column, value) for value in places.values]
    cut = [shortened(text, LONGEST) for text in texts]
    if len(set(cut)) < len(cut):  # what begins alike may end otherwise
        cut = [shortened(text, LONGEST, middle=True) for text in texts]
    return [f"{text} ({cut[:k].count(text) + 1})" if cut.count(text) > 1 else text for k, text in enumerate(cut)]
