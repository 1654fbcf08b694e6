"""How many rows stand behind what a statistic says of a column: the weight of each class's rows that know it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from merula.core import Array
from merula.data.schema import Label
from merula.stats.counts import LevelCounts, TokenCounts, ValueCounts
from merula.stats.dependence import Dependence
from merula.stats.distinct_rows import JointCounts
from merula.stats.moments import Moments
from merula.stats.patterns import PatternMoments


@singledispatch
def rows_behind(_statistic: Any, _columns: Sequence[str], _given: Mapping[str, Label]) -> Array | None:
    """The weight of each class's rows that know any of these columns, and hold what is given of others; None where it is not told.

    Examples
    --------
    >>> from merula.stats import LevelCounts
    >>> counts = LevelCounts(("sky",), (("blue", "grey"),), (np.array([[2.0, 0.0], [1.0, 3.0]]),), np.zeros((2, 1)))
    >>> rows_behind(counts, ["sky"], {}).tolist()
    [2.0, 4.0]
    """
    return None


@rows_behind.register(LevelCounts)
@rows_behind.register(ValueCounts)
def _of_counts(statistic: LevelCounts | ValueCounts, columns: Sequence[str], _: Mapping[str, Label]) -> Array:
    return np.asarray(statistic.counts[statistic.columns.index(columns[0])].sum(axis=1))


@rows_behind.register
def _of_moments(statistic: Moments, columns: Sequence[str], _: Mapping[str, Label]) -> Array:
    return np.asarray(statistic.weight[:, statistic.columns.index(columns[0])])


@rows_behind.register
def _of_tokens(statistic: TokenCounts, columns: Sequence[str], _: Mapping[str, Label]) -> Array:
    return np.asarray(statistic.present[:, statistic.columns.index(columns[0])])


@rows_behind.register
def _of_cells(statistic: JointCounts, columns: Sequence[str], _: Mapping[str, Label]) -> Array:
    own = [statistic.columns.index(name) for name in columns]
    return np.asarray((statistic.cells[:, own] >= 0).any(axis=1) @ statistic.weight)


@rows_behind.register
def _of_patterns(statistic: PatternMoments, columns: Sequence[str], _: Mapping[str, Label]) -> Array:
    found, own = statistic.complete.weight.copy(), [statistic.columns.index(name) for name in columns]
    for (label, mask), part in statistic.partial.items():
        if np.frombuffer(mask, dtype=np.bool_)[own].any():
            found[label] += part.weight
    return found


@rows_behind.register
def _of_dependence(statistic: Dependence, columns: Sequence[str], given: Mapping[str, Label]) -> Array | None:
    labels = dict(zip(statistic.columns, map(tuple, statistic.pairs.labels), strict=True))
    names = (*given, columns[0])
    if any(value not in labels[name] for name, value in given.items()):
        return None
    table = statistic.table(names, labels)
    for name, value in given.items():
        table = table[:, labels[name].index(value)]
    return np.asarray(table[:, [label is not None for label in labels[columns[0]]]].sum(axis=1))
