"""The one value that all rows of a class hold in a column, whatever statistic counted them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core.arrays import Array
from merula.data.schema import Label
from merula.stats.counts import LevelCounts
from merula.stats.distinct_rows import JointCounts
from merula.stats.kept_rows import Labels, Rows
from merula.stats.moments import Moments
from merula.stats.patterns import PatternMoments
from merula.stats.value_counts import ValueCounts


@singledispatch
def sole_values(_statistic: Any, _weight: Array) -> list[list[Label]]:
    """For each column and class the one value that all of the class's rows hold; None or NaN where they differ or lack it.

    Asked with the weight of each class. A statistic of the words of texts tells nothing: no columns.

    Examples
    --------
    >>> from merula.stats import LevelCounts
    >>> counts = LevelCounts(("sky",), (("blue", "grey"),), (np.array([[2.0, 0.0], [1.0, 3.0]]),), np.zeros((2, 1)))
    >>> sole_values(counts, np.array([2.0, 4.0]))
    [['blue', None]]
    """
    return []


@sole_values.register(LevelCounts)
@sole_values.register(ValueCounts)
def _of_counts(statistic: LevelCounts | ValueCounts, _weight: Array) -> list[list[Label]]:
    met: Sequence[Any] = statistic.labels if isinstance(statistic, LevelCounts) else statistic.values
    found: list[list[Label]] = []
    for labels, counts, missing in zip(met, statistic.counts, statistic.missing.T, strict=True):
        held = counts > 0
        alone = (held.sum(axis=1) == 1) & (missing == 0)
        found.append([labels[held[label].argmax()] if one else None for label, one in enumerate(alone.tolist())])
    return found


@sole_values.register
def _of_moments(statistic: Moments, weight: Array) -> list[list[Label]]:
    constant = (statistic.squares == 0) & (statistic.weight == weight[:, None])
    result: list[list[Label]] = np.where(constant, statistic.mean, np.nan).T.tolist()
    return result


@sole_values.register
def _of_patterns(statistic: PatternMoments, weight: Array) -> list[list[Label]]:
    complete = statistic.complete
    present, squares = complete.weight[:, None], np.diagonal(complete.scatter, axis1=1, axis2=2)
    return _of_moments(Moments(statistic.columns, present, complete.mean, squares), weight)


@sole_values.register
def _of_joint_counts(statistic: JointCounts, weight: Array) -> list[list[Label]]:
    rows, classes = np.nonzero(statistic.weight)
    cells = np.where(statistic.cells < 0, np.nan, statistic.cells)[rows]
    return _of_cells(cells, classes, statistic.labels, len(weight))


@sole_values.register
def _of_rows(statistic: Rows, weight: Array) -> list[list[Label]]:
    return _of_cells(statistic.cells, statistic.classes, statistic.labels, len(weight))


def _of_cells(cells: Array, classes: NDArray[Any], labels: Sequence[Labels], count: int) -> list[list[Label]]:
    """From the cells of rows: numbers, or indices of labels; NaN, which equals nothing, for missing."""
    parts = [cells[classes == label] for label in range(count)]
    alike = [
        np.where((part == part[0]).all(axis=0), part[0], np.nan) if len(part) else np.full(len(labels), np.nan)
        for part in parts
    ]
    return [
        [value if known is None or value != value else known[int(value)] for value in column]
        for known, column in zip(labels, np.array(alike).T.tolist(), strict=True)
    ]
