"""Counts of the distinct numbers of numeric columns within classes: all that cut points can depend on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core.arrays import Array
from merula.core.compiled import kernel
from merula.data.encode import Encoded, Target
from merula.stats.base import OfColumns, with_weight


@dataclass(frozen=True, eq=False)
class ValueCounts(OfColumns):
    """For each of several columns: its distinct numbers, the weight of each class at each, and of each class's missing cells.

    ``values[j][v]`` belongs to ``counts[j][class, v]``; values ascend, and each has some weight. It holds as much as the
    columns do when their numbers hardly repeat: classes + 1 numbers for every distinct one.
    """

    columns: tuple[str, ...]
    values: tuple[Array, ...]
    counts: tuple[Array, ...]
    missing: Array

    @classmethod
    def zero(cls, columns: Sequence[str], classes: int) -> ValueCounts:
        d = len(columns)
        return cls(tuple(columns), (np.zeros(0),) * d, (np.zeros((classes, 0)),) * d, np.zeros((classes, d)))

    def update(self, rows: Encoded, target: Target) -> ValueCounts:
        x, target = with_weight(rows.values(self.columns), target)
        values, counts, missing = [], [], np.zeros_like(self.missing)
        for j, name in enumerate(self.columns):
            column = np.ascontiguousarray(x[:, j])
            met, part, missing[:, j] = _tally(column, np.argsort(column), target.codes, target.weights, len(missing))
            _refuse_infinity(met, name)
            values.append(met + 0.0)  # −0 + 0 is 0; compiled loops may take the sum for the value itself
            counts.append(part)
        return self + ValueCounts(self.columns, tuple(values), tuple(counts), missing)

    def __add__(self, other: ValueCounts) -> ValueCounts:
        merged = [_merge(*pair) for pair in zip(self.values, self.counts, other.values, other.counts, strict=True)]
        values, counts = tuple(met for met, _ in merged), tuple(part for _, part in merged)
        return ValueCounts(self.columns, values, counts, self.missing + other.missing)


def _refuse_infinity(values: Array, name: str) -> None:
    """An error naming the column if its distinct values, in order, begin or end at infinity."""
    if len(values) and (values[0] == -np.inf or values[-1] == np.inf):
        raise ValueError(f"column {name!r} contains infinity; replace it by a number, or by NaN if it is unknown")


@kernel
def _tally(
    column: NDArray[Any], order: NDArray[np.int64], classes: NDArray[Any], weights: Any, count: int
) -> tuple[Array, Array, Array]:
    """The distinct values in sorted order, the weight of each class at each, and of each class's missing cells."""
    present = len(order)
    while present > 0 and column[order[present - 1]] != column[order[present - 1]]:  # NaN is sorted last
        present -= 1
    distinct = 0
    for index in range(present):
        distinct += index == 0 or column[order[index]] != column[order[index - 1]]
    values, counts, missing = np.empty(distinct), np.zeros((count, distinct)), np.zeros(count)
    current = -1
    for index in range(len(order)):
        row = order[index]
        weight = 1.0 if weights is None else weights[row]
        if index >= present:
            missing[classes[row]] += weight
            continue
        if index == 0 or column[row] != column[order[index - 1]]:
            current += 1
            values[current] = column[row]
        counts[classes[row], current] += weight
    return values, counts, missing


def _merge(values: Array, counts: Array, more: Array, extra: Array) -> tuple[Array, Array]:
    """Two tables of counts added value by value, in order."""
    if not len(more):
        return values, counts
    if not len(values):
        return more, extra
    mine, theirs, size = _indices_in_union(values, more)
    united, result = np.empty(size), np.zeros((len(counts), size))
    united[mine], united[theirs] = values, more
    for label in range(len(counts)):
        result[label, mine] = counts[label]
        result[label, theirs] += extra[label]
    return united, result


@kernel
def _indices_in_union(values: Array, more: Array) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Where each entry of two ascending lists stands in the list of both, and how long that is."""
    mine, theirs = np.empty(len(values), dtype=np.int64), np.empty(len(more), dtype=np.int64)
    i = j = size = 0
    while i < len(values) and j < len(more):
        mine[i] = theirs[j] = size  # whichever is larger is placed again: no branch that the processor must guess
        take_mine, take_theirs = values[i] <= more[j], more[j] <= values[i]
        i += take_mine
        j += take_theirs
        size += 1
    while i < len(values):
        mine[i] = size
        i += 1
        size += 1
    while j < len(more):
        theirs[j] = size
        j += 1
        size += 1
    return mine, theirs, size
