"""What each column holds, whatever statistic counted it: the weight of its known cells, the one value of a class's rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.data.schema import Label
from merula.stats.counts import LevelCounts, TokenCounts, ValueCounts
from merula.stats.distinct_rows import JointCounts
from merula.stats.kept_rows import Labels, Rows
from merula.stats.moments import Moments
from merula.stats.patterns import PatternMoments


@singledispatch
def known_weight(_: Any) -> Array | None:
    """The weight of the known cells of each of a statistic's columns; None where it does not tell.

    Examples
    --------
    >>> from merula.stats import Moments
    >>> known_weight(Moments.zero(("blood pressure",), 2)).tolist()
    [0.0]
    """
    return None


@known_weight.register(LevelCounts)
@known_weight.register(ValueCounts)
def _of_counts(statistic: LevelCounts | ValueCounts) -> Array:
    return np.array([float(counts.sum()) for counts in statistic.counts])


@known_weight.register
def _of_moments(statistic: Moments) -> Array:
    return np.asarray(statistic.weight.sum(axis=0))


@known_weight.register
def _of_tokens(statistic: TokenCounts) -> Array:
    return np.asarray(statistic.present.sum(axis=0))


@known_weight.register
def _of_rows(statistic: Rows) -> Array:
    return np.asarray(statistic.weight @ ~np.isnan(statistic.cells))


@known_weight.register
def _of_cells(statistic: JointCounts) -> Array:
    return np.asarray(statistic.weight.sum(axis=1) @ (statistic.cells >= 0))


@known_weight.register
def _of_patterns(statistic: PatternMoments) -> Array:
    known = np.full(len(statistic.columns), float(statistic.complete.weight.sum()))
    for (_, mask), part in statistic.partial.items():
        known += part.weight * np.frombuffer(mask, dtype=np.uint8)
    return known


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
def _sole_of_counts(statistic: LevelCounts | ValueCounts, _weight: Array) -> list[list[Label]]:
    met: Sequence[Any] = statistic.labels if isinstance(statistic, LevelCounts) else statistic.values
    return [
        [
            labels[row.argmax()] if row.sum() == 1 and not lost else None
            for row, lost in zip(counts > 0, missing, strict=True)
        ]
        for labels, counts, missing in zip(met, statistic.counts, statistic.missing.T, strict=True)
    ]


@sole_values.register
def _sole_of_moments(statistic: Moments, weight: Array) -> list[list[Label]]:
    constant = (statistic.squares == 0) & (statistic.weight == weight[:, None])
    return list(np.where(constant, statistic.mean, np.nan).T.tolist())


@sole_values.register
def _sole_of_patterns(statistic: PatternMoments, weight: Array) -> list[list[Label]]:
    complete, known = statistic.complete, known_weight(statistic) >= weight.sum() * (1 - 1e-12)
    constant = np.diagonal(complete.scatter, axis1=1, axis2=2) == 0
    held = np.where(constant & known & (complete.weight > 0)[:, None], complete.mean, np.nan)
    for (label, mask), part in statistic.partial.items():
        seen = np.frombuffer(mask, dtype=np.bool_)
        held[label, seen] = np.where((held[label, seen] == part.mean) & ~part.root.any(axis=0), part.mean, np.nan)
    return list(held.T.tolist())


@sole_values.register
def _sole_of_joint_counts(statistic: JointCounts, _weight: Array) -> list[list[Label]]:
    return _sole_of_cells([statistic.cells[weight > 0] for weight in statistic.weight.T], statistic.labels)


@sole_values.register
def _sole_of_rows(statistic: Rows, weight: Array) -> list[list[Label]]:
    return _sole_of_cells([statistic.cells[statistic.classes == c] for c in range(len(weight))], statistic.labels)


def _sole_of_cells(parts: Sequence[NDArray[Any]], labels: Sequence[Labels]) -> list[list[Label]]:
    """From the cells of each class's rows: numbers (NaN, which equals nothing, for missing), or indices of labels (from 0)."""
    alike = [
        np.where((part == part[0]).all(axis=0), part[0], np.nan) if len(part) else np.full(len(labels), np.nan)
        for part in parts
    ]
    return [
        [value if known is None else known[int(value)] if value >= 0 else None for value in column]
        for known, column in zip(labels, np.array(alike).T.tolist(), strict=True)
    ]
