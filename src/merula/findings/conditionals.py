"""What the model believes a column holds given each class: densities of numbers, probabilities of levels and of words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.classify.base import BayesianClassifier
from merula.classify.rows import shown, table_of
from merula.distributions import CountDistribution, Distribution
from merula.findings.result import Conditional
from merula.schema import Column
from merula.table import as_times, plain_label

Array = NDArray[np.float64]
CURVE = 101  # places along a number's range
TAIL = 0.002  # of a class's mass left out on either side
MOST_LEVELS, MOST_WORDS, MOST_NUMBERS = 12, 15, 60
MOST_PLOTS = 12  # columns that are drawn


def conditionals_of(model: BayesianClassifier, columns: Sequence[str]) -> tuple[Conditional, ...]:
    """p(column given class) of the first columns that have one, in this order."""
    found: list[Conditional] = []
    for name in columns:
        one = _conditional(model, model.schema_[name])
        if one is not None:
            found.append(one)
        if len(found) == MOST_PLOTS:
            break
    return tuple(found)


def _conditional(model: BayesianClassifier, column: Column) -> Conditional | None:
    owner = next((part for part in model.distributions_ if column.name in part.columns), None)
    if column.kind == "ignore" or owner is None or owner.no_density or _is_mixed_up(model, owner):
        return None
    family = {name: block.family.name for block in model._plan.blocks for name in block.columns}[column.name]
    if column.kind == "categorical":
        return _levels(model, column, family)
    if column.kind == "text":
        return _words(model, column, owner, family)
    try:
        return _numbers(model, column, owner, family)
    except ValueError:  # it cannot be sampled, so that nobody knows where its mass is
        return None


def _is_mixed_up(model: BayesianClassifier, owner: Distribution) -> bool:
    """Whether other columns' being missing would speak in this one's plot."""
    return model.missing == "level" and any(len(part.columns) > 1 for part in owner.factors())


def _log_given(model: BayesianClassifier, column: Column, values: Sequence[Any]) -> Array:
    """log p(value given class) of one column by itself: values × classes."""
    cells = {name: [None] * len(values) for name in model.schema_.names} | {column.name: list(values)}
    (component,) = model.components(table_of(model, cells))
    key = next(columns for columns in component.terms if column.name in columns)
    return component.terms[key]


def _given(model: BayesianClassifier, probabilities: Array) -> dict[Any, tuple[float, ...]]:
    labels = [plain_label(label) for label in model.classes_.tolist()]
    return {label: tuple(probabilities[:, place].tolist()) for place, label in enumerate(labels)}


def _levels(model: BayesianClassifier, column: Column, family: str) -> Conditional | None:
    """The levels that are most probable in some class; how many others there are is said."""
    levels = [level for level in column.levels or () if level is not None]
    if not levels:
        return None
    probabilities = np.exp(_log_given(model, column, levels))
    kept = np.sort(np.argsort(-probabilities.max(axis=1), kind="stable")[:MOST_LEVELS])
    return Conditional(
        column.name,
        "levels",
        family,
        tuple(shown(column, levels[place]) for place in kept),
        _given(model, probabilities[kept]),
        others=len(levels) - len(kept),
    )


def _words(model: BayesianClassifier, column: Column, owner: Any, family: str) -> Conditional | None:
    """The words whose presence tells most: frequent in one class, rare in the others."""
    place = owner.columns.index(column.name)
    words, table = owner.vocabularies[place], owner.log_table[place]
    if not len(words) or family == "bernoulli" or table.max() > 0:  # not probabilities of words
        return None
    probabilities = np.exp(table)
    mean = table.mean(axis=1, keepdims=True)
    telling = (probabilities * np.abs(table - mean)).max(axis=1)
    kept = np.argsort(-telling, kind="stable")[:MOST_WORDS]
    return Conditional(
        column.name,
        "words",
        family,
        tuple(str(words[k]) for k in kept),
        _given(model, probabilities[kept]),
        others=len(words) - len(kept),
    )


def _numbers(model: BayesianClassifier, column: Column, owner: Distribution, family: str) -> Conditional | None:
    """Densities from where the lowest class begins to where the highest ends; whole numbers if they are counted."""
    reach = owner.quantiles(column.name, np.array([TAIL, 1 - TAIL]), len(model.classes_))
    low, high = float(np.nanmin(reach)), float(np.nanmax(reach))
    if not high > low:
        return None
    counted = isinstance(owner, CountDistribution)
    values = _whole(low, high) if counted else np.linspace(low, high, CURVE).tolist()
    density = np.exp(_log_given(model, column, values))
    is_time = column.unit is not None and column.unit.startswith("datetime")
    form = "numbers" if counted else "density"
    places = _instants(values, column.unit) if is_time and column.unit is not None else tuple(values)
    return Conditional(column.name, form, family, places, _given(model, density), is_time=is_time)


def _instants(counts: Sequence[float], unit: str) -> tuple[str, ...]:
    """Times as ISO writes them."""
    return tuple(map(str, as_times(np.array(counts), unit).astype("datetime64[ms]")))


def _whole(low: float, high: float) -> list[float]:
    first, last = max(0, int(np.floor(low))), int(np.ceil(high))
    step = max(1, (last - first) // MOST_NUMBERS)
    return [float(value) for value in range(first, last + 1, step)]
