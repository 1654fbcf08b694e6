"""What statistics tell of each column by itself, all classes together, whatever they counted it for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.data.schema import Label
from merula.stats.counts import LevelCounts, TokenCounts, ValueCounts
from merula.stats.dependence import Dependence
from merula.stats.distinct_rows import JointCounts
from merula.stats.kept_rows import Rows
from merula.stats.mixed_pairs import MixedPairs
from merula.stats.moments import FullMoments, Moments, merge_moments
from merula.stats.pairs import PairCounts
from merula.stats.patterns import PatternMoments
from merula.stats.rounded import EXACT, RoundedCounts


@dataclass(frozen=True, eq=False)
class Marginal:
    """What is known of one column: the weight of rows that know it, and what these hold, as finely as it was counted.

    Attributes
    ----------
    known : float
        The weight of the rows that do not lack the cell.
    levels : {label: weight} or None
        Of words.
    values, weights : arrays or None
        Of numbers: the distinct ones, ascending, and the weight of each; rounded down to multiples of 2 ** `power` if there were many.
    mean, squares : float or None
        Of numbers: the mean, and the sum of squares about it.
    """

    known: float
    levels: Mapping[Label, float] | None = None
    values: Array | None = None
    weights: Array | None = None
    power: int = EXACT
    mean: float | None = None
    squares: float | None = None

    @classmethod
    def of_values(cls, values: Array, weights: NDArray[Any], power: int = EXACT) -> Marginal:
        """That of numbers, each of which weighs so much."""
        known = float(weights.sum())
        if not known > 0:
            return cls(0.0, values=values, weights=weights, power=power)
        middle = values if power <= EXACT else values + np.ldexp(0.5, power)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = float((weights / known) @ middle)
            squares = float(weights @ (middle - mean) ** 2)
        told = np.isfinite(squares)  # numbers whose squares overflow have no variance
        return cls(known, None, values, weights, power, mean if told else None, squares if told else None)

    @classmethod
    def of_moments(cls, moments: Moments) -> dict[str, Marginal]:
        """Those of numbers of which moments alone are known."""
        one = moments.pooled() if len(moments.weight) else moments
        if not len(moments.weight):
            return {}
        parts = zip(one.columns, one.weight[0], (one.mean + one.rest)[0], one.squares[0], strict=True)
        return {name: cls(float(weight), mean=float(mean), squares=float(squares)) for name, weight, mean, squares in parts}  # fmt: skip

    @classmethod
    def of_levels(cls, labels: Sequence[Label], weights: NDArray[Any]) -> Marginal:
        """That of words, each of which weighs so much; the label None is a missing cell."""
        met = {label: weight for label, weight in zip(labels, weights.tolist(), strict=True) if weight > 0 and label is not None}  # fmt: skip
        return cls(float(sum(met.values())), met)


@singledispatch
def marginals(_statistic: Any) -> dict[str, Marginal]:
    """What a statistic tells of each of its columns alone; nothing of those that it does not tell of.

    Examples
    --------
    >>> from merula.stats import LevelCounts
    >>> counts = LevelCounts(("sky",), (("blue", "grey"),), (np.array([[2.0, 0.0], [1.0, 3.0]]),), np.zeros((2, 1)))
    >>> marginals(counts)["sky"].levels
    {'blue': 3.0, 'grey': 3.0}
    """
    return {}


@marginals.register
def _of_levels(statistic: LevelCounts) -> dict[str, Marginal]:
    parts = zip(statistic.columns, statistic.labels, statistic.counts, strict=True)
    return {name: Marginal.of_levels(labels, counts.sum(axis=0)) for name, labels, counts in parts}


@marginals.register
def _of_tokens(statistic: TokenCounts) -> dict[str, Marginal]:
    return {name: Marginal(float(weight)) for name, weight in zip(statistic.columns, statistic.present.sum(axis=0), strict=True)}  # fmt: skip


@marginals.register(ValueCounts)
@marginals.register(RoundedCounts)
def _of_values(statistic: ValueCounts | RoundedCounts) -> dict[str, Marginal]:
    powers = statistic.powers if isinstance(statistic, RoundedCounts) else (EXACT,) * len(statistic.columns)
    parts = zip(statistic.columns, statistic.values, statistic.counts, powers, strict=True)
    return {name: Marginal.of_values(values, counts.sum(axis=0), power) for name, values, counts, power in parts}


@marginals.register
def _of_moments(statistic: Moments) -> dict[str, Marginal]:
    return Marginal.of_moments(statistic)


@marginals.register
def _of_patterns(statistic: PatternMoments) -> dict[str, Marginal]:
    complete = statistic.complete
    found = Marginal.of_moments(_alone(complete))
    for (_, mask), part in statistic.partial.items():
        seen = np.flatnonzero(np.frombuffer(mask, dtype=np.uint8)).tolist()
        for at, j in enumerate(seen):
            name, squares = complete.columns[j], float((part.root[:, at] ** 2).sum())
            more = Marginal(float(part.weight), mean=float(part.mean[at] + part.low[at]), squares=squares)
            found[name] = _united(found.get(name, Marginal(0.0)), more)
    return found


def _alone(moments: FullMoments) -> Moments:
    """The moments of each number by itself."""
    weight, mean, scatter, rest = moments._parts
    every = np.repeat(weight[:, None], mean.shape[1], axis=1)
    return Moments(moments.columns, every, mean, np.diagonal(scatter, axis1=1, axis2=2).copy(), np.array(rest))


def _united(one: Marginal, other: Marginal) -> Marginal:
    """The moments of both."""
    parts: Any = [tuple(np.array([[value or 0.0]]) for value in (each.known, each.mean, each.squares, 0.0)) for each in (one, other)]  # fmt: skip
    weight, mean, squares, rest = merge_moments(*parts)
    return Marginal(float(weight[0, 0]), mean=float(mean[0, 0] + rest[0, 0]), squares=float(squares[0, 0]))


@marginals.register
def _of_joint_counts(statistic: JointCounts) -> dict[str, Marginal]:
    weight = statistic.weight.sum(axis=1)
    return {name: _of_codes(statistic.labels[j], statistic.cells[:, j], weight) for j, name in enumerate(statistic.columns)}  # fmt: skip


def _of_codes(labels: Sequence[Label], codes: Any, weight: Array) -> Marginal:
    known = codes >= 0
    return Marginal.of_levels(labels, np.bincount(codes[known], weight[known], minlength=len(labels)))


@marginals.register
def _of_rows(statistic: Rows) -> dict[str, Marginal]:
    found = {}
    for j, (name, labels) in enumerate(zip(statistic.columns, statistic.labels, strict=True)):
        known = ~np.isnan(statistic.cells[:, j])
        cells, weight = statistic.cells[known, j], statistic.weight[known]
        if labels is not None:
            found[name] = _of_codes(labels, cells.astype(np.int64), weight)
        else:
            values, where = np.unique(cells, return_inverse=True)
            found[name] = Marginal.of_values(values, np.bincount(where, weight, minlength=len(values)))
    return found


@marginals.register
def _of_pairs(statistic: PairCounts) -> dict[str, Marginal]:
    labelled = zip(statistic.columns, statistic.labels, strict=True)
    return {name: Marginal.of_levels(labels, statistic.table((name,)).sum(axis=0)) for name, labels in labelled}


@marginals.register
def _of_dependence(statistic: Dependence) -> dict[str, Marginal]:
    return marginals(statistic.pairs)


@marginals.register
def _of_mixed_pairs(statistic: MixedPairs) -> dict[str, Marginal]:
    found = marginals(statistic.words)
    for name in statistic.numeric:
        found |= Marginal.of_moments(_alone(statistic.numbers.alone(name)))
    return found
