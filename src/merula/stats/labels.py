"""The labels that a statistic has met, whichever it is."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch
from typing import Any

from merula.data.schema import Label, sort_labels
from merula.stats.counts import LevelCounts
from merula.stats.dependence import Dependence
from merula.stats.distinct_rows import JointCounts
from merula.stats.families import Families
from merula.stats.mixed_pairs import MixedPairs
from merula.stats.pairs import PairCounts

Met = Mapping[str, tuple[Label, ...]]


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
