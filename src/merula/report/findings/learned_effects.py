"""What a model that is explained by purified effects has learned: of single columns as curves or bars, of pairs as maps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from merula.classify.base import BayesianClassifier
from merula.classify.conditionals import class_labels
from merula.classify.effects.curves import EffectCurve, Places, effect_curve
from merula.classify.effects.marginals import MISSING
from merula.classify.effects.purified import Effects
from merula.classify.readable import axis_unit, shown
from merula.core import Array
from merula.data.schema import Label
from merula.report.findings.result import Contribution, EffectAxis, LearnedEffect

MOST_COLUMNS, MOST_PAIRS = 12, 4
LEAST = 0.01  # nats that a row is moved by, in the mean, where something is drawn
CELLS, MOST_LEVELS, MOST_BARS = 25, 12, 15  # along each side of a map, and levels that have bars
TOLERATED = 0.003  # of a curve's reach: how far what is drawn may lie from it


def learned_effects(
    model: BayesianClassifier, effects: Effects, ranked: Sequence[Contribution]
) -> tuple[LearnedEffect, ...]:
    """The effects of the strongest columns and pairs, given how much all sets matter; columns before pairs."""
    told = [one for one in ranked if not one.name and effects.marginals.places.keys() >= set(one.columns)]
    columns = [one.columns for one in told if len(one.columns) == 1 and one.strength >= LEAST][:MOST_COLUMNS]
    pairs = [one.columns for one in told if len(one.columns) == 2 and one.strength >= LEAST][:MOST_PAIRS]
    return tuple(
        (_single if len(names) == 1 else _pair)(model, effect_curve(effects, names, CELLS))
        for names in (*columns, *pairs)
    )


def _compared(model: BayesianClassifier, effects: Array) -> tuple[dict[Label, Array], Label]:
    """What is said of each class, the last axis; of two classes, of the second against the first, which is named."""
    labels = class_labels(model)
    if len(labels) == 2:
        return {labels[1]: effects[..., 1] - effects[..., 0]}, labels[0]
    return {label: effects[..., k] for k, label in enumerate(labels)}, None


def _single(model: BayesianClassifier, found: EffectCurve) -> LearnedEffect:
    (places,) = found.places
    answers = model._answers_missing(places.name)
    kept = _bent(found) if places.is_number else _levels(places, answers, MOST_BARS)
    given, against = _compared(model, found.effects[kept])
    lost = found.missing is not None and answers
    missing, _ = _compared(model, found.missing) if lost and found.missing is not None else ({}, None)
    return LearnedEffect(
        (_axis(model, places, kept),),
        {label: tuple(values.tolist()) for label, values in given.items()},
        against,
        {label: float(value) for label, value in missing.items()},
    )


def _pair(model: BayesianClassifier, found: EffectCurve) -> LearnedEffect:
    """A map of one class: of several, that which the pair tells most of."""
    kept = [_levels(places, model._answers_missing(places.name), MOST_LEVELS) for places in found.places]
    given, against = _compared(model, found.effects[np.ix_(*kept)])
    label = max(given, key=lambda one: float(np.abs(given[one]).mean()))
    axes = tuple(_axis(model, places, own) for places, own in zip(found.places, kept, strict=True))
    return LearnedEffect(axes, {label: tuple(given[label].ravel().tolist())}, against)


def _levels(places: Places, answers: bool, most: int) -> NDArray[np.int64]:
    """Which places are told: all numbers; of levels the most frequent in their own order, and being missing where that is an answer."""
    if places.is_number:
        return np.arange(places.count)
    known = np.flatnonzero(places.states != MISSING)[:most]
    known = known[np.argsort(places.states[known])]
    return np.append(known, np.flatnonzero((places.states == MISSING) & answers)).astype(np.int64)


def _axis(model: BayesianClassifier, places: Places, kept: NDArray[np.int64]) -> EffectAxis:
    """Numbers in the unit that suits them; times and levels as texts."""
    column, values = model.schema_[places.name], [places.values[k] for k in kept]
    if not places.is_number:
        hidden = places.others + int((places.states != MISSING).sum() - (places.states[kept] != MISSING).sum())
        return EffectAxis(places.name, "levels", tuple(shown(column, value) for value in values), others=hidden)
    if column.unit is not None and column.unit.startswith("datetime"):
        return EffectAxis(places.name, "times", tuple(shown(column, value) for value in values))
    unit, size = axis_unit(column, float(np.ptp(values)))
    return EffectAxis(places.name, "numbers", tuple(value / size for value in values), unit)


# --------------------------------------------------------------------------------------------------------------- curves


def _bent(found: EffectCurve) -> NDArray[np.int64]:
    """The places at which a curve bends: between them it is straight, but for what is not seen."""
    x, y = np.array(found.places[0].values, dtype=np.float64), found.effects
    reach = float(np.ptp(y)) or 1.0
    return np.unique(list(bends(x, y, 0, len(x) - 1, TOLERATED * reach))).astype(np.int64)


def bends(x: Array, y: Array, first: int, last: int, tolerated: float) -> Iterable[int]:
    """Both ends, and where the curve between lies farthest from the straight line, if it is too far (Douglas and Peucker 1973)."""
    pending = [(first, last)]
    while pending:
        first, last = pending.pop()
        yield from (first, last)
        if last - first < 2:
            continue
        along = (x[first : last + 1] - x[first]) / ((x[last] - x[first]) or 1.0)
        away = np.abs(y[first : last + 1] - y[first] - along[:, None] * (y[last] - y[first])).max(axis=1)
        middle = first + int(away.argmax())
        if away.max() > tolerated and first < middle < last:
            pending += [(first, middle), (middle, last)]
