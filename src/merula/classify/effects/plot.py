"""Learned effects drawn: curves of numbers and bars of levels for one column, a map for two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from merula.classify.effects.curves import EffectCurve, Places, effect_curve
from merula.classify.plot import LETTER, LONGEST, chosen_classes
from merula.classify.single_row import duration_unit, shown
from merula.core import InputError, one_of
from merula.data.schema import Column, Label
from merula.data.table import as_times, plain_label
from merula.show.colors import sided
from merula.show.numbers import several
from merula.show.plots import draw_on, legend_beside, literal
from merula.show.text import display_width, shortened

if TYPE_CHECKING:
    from merula.classify.base import BayesianClassifier

EFFECT = "effect on the log score"


def effect_plot(
    model: BayesianClassifier, columns: Sequence[str], ax: Any = None, classes: Sequence[Any] | None = None
) -> Any:
    """The axes with the purified effect of one column for each class, or of two columns for one class.

    Parameters
    ----------
    model : a fitted classifier that is explained by effects
    columns : the names of one column or of two
    ax : matplotlib axes, optional
    classes : sequence of labels, optional
        The classes to draw, by default the eight most probable; of two columns the first of them, by default the last of two classes
        and the most probable of several.

    Examples
    --------
    >>> import merula as mr
    >>> model = mr.LogLinearClassifier(order=1).fit([["red"], ["red"], ["blue"]] * 9, ["ripe", "ripe", "unripe"] * 9)
    >>> ax = effect_plot(model, ["x0"])
    >>> [bool(bar.get_width() > 0) for bar in ax.containers[0]]  # red, blue: for ripe
    [True, False]
    """
    effects = model.fitted_.effects
    if effects is None or not 1 <= len(columns) <= 2:
        raise InputError("effects of one column or of two are drawn, of a model that has them", got=list(columns))
    for name in columns:
        one_of(name, model.schema_.names, "column")
    found = effect_curve(effects, columns)
    if len(columns) == 2:
        return _map(model, found, ax, classes)
    return _single(model, found, ax, classes)


def _single(model: BayesianClassifier, found: EffectCurve, ax: Any, classes: Sequence[Any] | None) -> Any:
    (places,) = found.places
    colors, hidden = chosen_classes(model, classes)
    labels = [plain_label(label) for label in model.classes_.tolist()]
    effects = {label: found.effects[:, labels.index(label)] for label in colors}
    names = [literal(shortened(str(label), LONGEST)) for label in colors]
    column = model.schema_[places.name]

    def draw(ax: Any) -> None:
        (_curves if places.is_number else _bars)(ax, column, places, effects, colors)
        ax.set_title(literal(shortened(column.name, 2 * LONGEST, middle=True)), fontsize="medium")
        legend_beside(ax, f"… and {hidden} more" if hidden else "")

    height = 3.5 if places.is_number else 1.2 + places.count * min(0.12 + 0.14 * len(colors), 0.6)
    width = 4.8 + LETTER * (max(map(display_width, names)) + (0 if places.is_number else LONGEST))
    return draw_on(ax, (width, height), [column.name, *names, *_texts(column, places)], draw)


def _curves(ax: Any, column: Column, places: Places, effects: Mapping[Label, Any], colors: Mapping[Label, str]) -> None:
    x, unit = _axis(column, places)
    for label, color in colors.items():
        ax.plot(x, effects[label], color=color, label=literal(shortened(str(label), LONGEST)))
    ax.axhline(0.0, color="#999999", linewidth=0.7)
    ax.set(xlabel=unit, ylabel=EFFECT)
    if x.dtype.kind == "M":
        ax.tick_params(axis="x", labelrotation=20)


def _bars(ax: Any, column: Column, places: Places, effects: Mapping[Label, Any], colors: Mapping[Label, str]) -> None:
    """A group of bars for each level, from top to bottom, one for each class."""
    indices, height = np.arange(places.count), 0.8 / len(colors)
    for k, (label, color) in enumerate(colors.items()):
        offset = (k - (len(colors) - 1) / 2) * height
        ax.barh(indices + offset, effects[label], height=0.9 * height, color=color, label=literal(shortened(str(label), LONGEST)))  # fmt: skip
    ax.set_yticks(indices, [literal(text) for text in _texts(column, places)])
    ax.set_ylim(len(indices) - 0.5, -0.5)
    ax.axvline(0.0, color="#999999", linewidth=0.7)
    ax.set_xlabel(EFFECT + (f" ({several(places.others, 'more level')} not drawn)" if places.others else ""))


def _map(model: BayesianClassifier, found: EffectCurve, ax: Any, classes: Sequence[Any] | None) -> Any:
    """The effect of two columns for one class, in the colours of evidence for it and against it."""
    labels = [plain_label(label) for label in model.classes_.tolist()]
    likely = labels[-1] if len(labels) == 2 else labels[int(np.argmax(model.class_log_prior_))]
    label = next(iter(chosen_classes(model, [likely] if classes is None else classes)[0]))
    across, up = sorted(found.places, key=lambda places: not places.is_number)  # numbers along the lower edge
    values = found.effects[..., labels.index(label)]
    values = values.T if across is found.places[0] else values
    columns = [model.schema_[places.name] for places in (across, up)]
    texts = [text for column, places in zip(columns, (across, up), strict=True) for text in (column.name, *_texts(column, places))]  # fmt: skip

    def draw(ax: Any) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        reach = max(1e-12, float(np.abs(values).max()))
        colors = LinearSegmentedColormap.from_list("effects", [sided(-1.0), "#ffffff", sided(1.0)])
        x, y = (_axis(column, places)[0] for column, places in zip(columns, (across, up), strict=True))
        drawn = ax.pcolormesh(x, y, values, cmap=colors, vmin=-reach, vmax=reach, shading="nearest")
        for axis, column, places in ((ax.xaxis, columns[0], across), (ax.yaxis, columns[1], up)):
            axis.set_label_text(literal(shortened(column.name, LONGEST, middle=True)))
            if not places.is_number:
                axis.set_ticks(range(places.count), [literal(text) for text in _texts(column, places)])
        ax.figure.colorbar(drawn, ax=ax, label=literal(f"{EFFECT}: {shortened(str(label), LONGEST)}"))

    return draw_on(ax, (6.4, 4.2), [*texts, str(label)], draw)


def _axis(column: Column, places: Places) -> tuple[Any, str]:
    """Numbers as they stand on an axis, and the unit that durations are told in; levels by their number."""
    if not places.is_number:
        return np.arange(places.count), ""
    x = np.array(places.values)
    if column.unit is not None and column.unit.startswith("datetime"):
        return as_times(x, column.unit).astype("datetime64[ms]"), ""
    unit, size = duration_unit(column, float(np.ptp(x)))
    return x / size, unit


def _texts(column: Column, places: Places) -> list[str]:
    """The levels as they are written; nothing for numbers."""
    return [] if places.is_number else [shortened(shown(column, value), LONGEST) for value in places.values]
