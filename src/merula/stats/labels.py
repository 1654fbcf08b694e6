"""The labels that a statistic has met, and how many rows each rests on, whichever it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from merula.core import Array
from merula.data.schema import Label, sort_labels
from merula.stats.counts import LevelCounts, TokenCounts
from merula.stats.dependence import Dependence
from merula.stats.distinct_rows import JointCounts
from merula.stats.families import Families
from merula.stats.mixed_pairs import MixedPairs
from merula.stats.pairs import PairCounts

Met = Mapping[str, tuple[Label, ...]]
Weights = dict[str, dict[Label, float]]


@singledispatch
def labels_of(_statistic: Any) -> Met:
    """For each column of words of a statistic the labels met in rows that count, sorted, but for missing; nothing where it does not tell.

    Examples
    --------
    >>> import numpy as np
    >>> counts = LevelCounts(("sky",), (("grey", "blue"),), (np.array([[2.0, 1.0]]),), np.zeros((1, 1)))
    >>> labels_of(counts)
    {'sky': ('blue', 'grey')}
    """
    return {}


@labels_of.register
def _of_levels(statistic: LevelCounts) -> Met:
    met = zip(statistic.columns, statistic.labels, statistic.counts, strict=True)
    return {
        name: sort_labels(label for label, weight in zip(labels, part.sum(axis=0).tolist(), strict=True) if weight > 0)
        for name, labels, part in met
    }


@labels_of.register
def _of_rows(statistic: JointCounts) -> Met:
    known = statistic.ordered([None] * len(statistic.columns))
    return dict(zip(known.columns, map(tuple, known.labels), strict=True))


@labels_of.register
def _of_pairs(statistic: PairCounts) -> Met:
    known = statistic.ordered([None] * len(statistic.columns))
    return dict(zip(known.columns, map(tuple, known.labels), strict=True))


@labels_of.register
def _of_dependence(statistic: Dependence) -> Met:
    return _of_pairs(statistic.pairs)


@labels_of.register
def _of_mixed_pairs(statistic: MixedPairs) -> Met:
    return _of_pairs(statistic.words.pairs)


@labels_of.register
def _of_families(statistic: Families) -> Met:
    return {name: sort_labels(label for label in known if label is not None) for name, known in statistic.labels.items()}  # fmt: skip


# ------------------------------------------------------------------------------------------------------------ rows of each


@singledispatch
def rows_of_levels(_statistic: Any) -> Weights:
    """For each column of words of a statistic the weight of the rows that hold each label; nothing where it does not tell.

    Examples
    --------
    >>> import numpy as np
    >>> counts = LevelCounts(("sky",), (("grey", "blue"),), (np.array([[2.0, 1.0], [1.0, 0.0]]),), np.zeros((2, 1)))
    >>> rows_of_levels(counts)
    {'sky': {'grey': 3.0, 'blue': 1.0}}
    """
    return {}


def _weighed(columns: Sequence[str], labels: Sequence[Sequence[Label]], weights: Sequence[Array]) -> Weights:
    every = zip(columns, labels, weights, strict=True)
    return {name: dict(zip(known, held.tolist(), strict=True)) for name, known, held in every}


@rows_of_levels.register
def _rows_of_counts(statistic: LevelCounts) -> Weights:
    return _weighed(statistic.columns, statistic.labels, [part.sum(axis=0) for part in statistic.counts])


@rows_of_levels.register
def _rows_of_rows(statistic: JointCounts) -> Weights:
    weight = statistic.weight.sum(axis=1)
    held = [
        np.bincount(cells[cells >= 0], weight[cells >= 0], len(labels)).astype(np.float64, copy=False)
        for cells, labels in zip(statistic.cells.T, statistic.labels, strict=True)
    ]
    return _weighed(statistic.columns, statistic.labels, held)


@rows_of_levels.register
def _rows_of_pairs(statistic: PairCounts) -> Weights:
    held = [statistic.table([name]).sum(axis=0) for name in statistic.columns]
    return _weighed(statistic.columns, statistic.labels, held)


@rows_of_levels.register
def _rows_of_dependence(statistic: Dependence) -> Weights:
    return _rows_of_pairs(statistic.pairs)


@rows_of_levels.register
def _rows_of_mixed_pairs(statistic: MixedPairs) -> Weights:
    return _rows_of_pairs(statistic.words.pairs)


@rows_of_levels.register
def _rows_of_families(statistic: Families) -> Weights:
    """Of the rows complete in the family whose child a column is."""
    children = [family.child for family in statistic.families if not family.numeric]
    tables = [statistic.table(name) for name in children]
    held = [table.sum(axis=tuple(range(table.ndim - 1))) for table in tables]
    return _weighed(children, [statistic.labels[name] for name in children], held)


def times_of_words(statistic: Any) -> Weights:
    """For each column of texts how often each word was met (no more texts can hold it); nothing where there are no texts."""
    if not isinstance(statistic, TokenCounts):
        return {}
    return _weighed(statistic.columns, statistic.labels, [part.sum(axis=0) for part in statistic.counts])
