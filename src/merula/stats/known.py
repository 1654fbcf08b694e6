"""How much of each column is known: the weight of its cells that are not missing, whatever statistic counted them."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from merula.core.arrays import Array
from merula.stats.counts import LevelCounts
from merula.stats.distinct_rows import JointCounts
from merula.stats.kept_rows import Rows
from merula.stats.moments import Moments
from merula.stats.patterns import PatternMoments
from merula.stats.token_counts import TokenCounts
from merula.stats.value_counts import ValueCounts


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
