"""Rows numbered by their configuration of some columns, and what is counted within each: weights, and moments of numbers.

Tables are dense where the rows can fill them; where they cannot, the configurations that occur are sorted and renumbered.
Families, pairs and the scores of structures all count with these loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.compiled import kernel

Index = NDArray[np.int32]
FEWEST_CELLS, CELLS_PER_ROW = 4_096, 4  # a table may have this many cells, or this many for each row
LANES, FEW_CELLS = 4, 1_024  # small tables are counted in four copies: an addition need not wait for the one before it
NO_WEIGHTS: Array = np.empty(0)


@dataclass(frozen=True, eq=False)
class Configurations:
    """For each row the number of its configuration of some columns, −1 where a cell is missing; `size` numbers are used."""

    index: Index
    size: int


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a two-way table that are not 0: their row, their column, their count."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    counts: Array


def most_cells(rows: int) -> int:
    """How many cells a table of counts may have before its configurations are renumbered."""
    return max(FEWEST_CELLS, CELLS_PER_ROW * rows)


def numbered(codes: Sequence[Index], sizes: Sequence[int], rows: int) -> Configurations:
    """The configurations of some columns, numbered by mixed radix (the last column runs fastest), as many as there may be."""
    index = np.zeros(rows, dtype=np.int32)
    for column, size in zip(codes, sizes, strict=True):
        index = _joined(index, column, size, np.empty(rows, dtype=np.int32))
    return Configurations(index, int(np.prod(np.array(sizes, dtype=np.int64))))


def extended(known: Configurations, codes: Index, cardinality: int) -> Configurations:
    """The configurations with one more column; renumbered when there would be more numbers than the rows can fill."""
    size = known.size * max(cardinality, 1)
    if size <= most_cells(len(codes)):
        return Configurations(_joined(known.index, codes, cardinality, np.empty(len(codes), dtype=np.int32)), size)
    return renumbered(_joined(known.index, codes, cardinality, np.empty(len(codes), dtype=np.int64)))


def renumbered(keys: NDArray[Any]) -> Configurations:
    """The configurations that occur, numbered in order: never more than there are rows."""
    present = keys >= 0
    distinct, numbers = np.unique(keys[present], return_inverse=True)
    index = np.full(len(keys), -1, dtype=np.int32)
    index[present] = numbers
    return Configurations(index, max(len(distinct), 1))


def where_known(known: Configurations, missing: Any) -> Configurations:
    """The same configurations without the rows that lack something else."""
    return Configurations(np.where(missing, np.int32(-1), known.index), known.size)


@kernel
def _joined(index: Index, codes: Index, cardinality: int, out: NDArray[Any]) -> NDArray[Any]:
    """index · cardinality + code, −1 where either is missing."""
    for row in range(len(index)):
        known = index[row] >= 0 and codes[row] >= 0
        out[row] = np.int64(index[row]) * cardinality + codes[row] if known else -1
    return out


@kernel
def _count_complete(
    base: Index, codes: Index, cardinality: int, table: NDArray[np.int32], lanes: int, size: int
) -> None:
    """Count rows without missing cells, row after row into the next of the tables laid end to end."""
    rows = len(base)
    if lanes == 1:
        for row in range(rows):
            table[np.int64(base[row]) * cardinality + codes[row]] += 1
        return
    whole = rows - rows % 4
    for row in range(0, whole, 4):
        table[np.int64(base[row]) * cardinality + codes[row]] += 1
        table[np.int64(base[row + 1]) * cardinality + codes[row + 1] + size] += 1
        table[np.int64(base[row + 2]) * cardinality + codes[row + 2] + 2 * size] += 1
        table[np.int64(base[row + 3]) * cardinality + codes[row + 3] + 3 * size] += 1
    for row in range(whole, rows):
        table[np.int64(base[row]) * cardinality + codes[row]] += 1


@kernel
def _count_known(base: Index, codes: Index, cardinality: int, weights: Array, table: Array) -> None:
    """Add the weights (1 without weights) of the rows that lack neither."""
    for row in range(len(base)):
        if base[row] >= 0 and codes[row] >= 0:
            table[np.int64(base[row]) * cardinality + codes[row]] += weights[row] if len(weights) else 1.0


@kernel
def fill_table(base: Index, codes: Index, cardinality: int, weights: Array, complete: bool, table: Array) -> None:
    """The counts of base × codes, written into `table`; `complete` says that neither lacks a cell."""
    table[:] = 0.0
    if not complete or len(weights):
        _count_known(base, codes, cardinality, weights, table)
        return
    lanes = LANES if len(table) <= FEW_CELLS else 1
    whole = np.zeros(lanes * len(table), dtype=np.int32)
    _count_complete(base, codes, cardinality, whole, lanes, len(table))
    for lane in range(lanes):
        for cell in range(len(table)):
            table[cell] += whole[lane * len(table) + cell]


def count_table(
    known: Configurations, codes: Index, cardinality: int, weights: Array | None, complete: bool = False
) -> Array:
    """How often each configuration meets each code: configurations × codes."""
    table = np.empty(known.size * cardinality)
    fill_table(known.index, codes, cardinality, NO_WEIGHTS if weights is None else weights, complete, table)
    return table.reshape(known.size, cardinality)


def count_cells(known: Configurations, codes: Index, cardinality: int, weights: Array | None) -> Cells:
    """The cells of `count_table` that are not 0, without building a table that the rows could not fill."""
    if known.size * cardinality <= most_cells(len(codes)):
        table = count_table(known, codes, cardinality, weights)
        left, right = np.nonzero(table)
        return Cells(left, right, table[left, right])
    keys = _joined(known.index, codes, cardinality, np.empty(len(codes), dtype=np.int64))
    present = keys >= 0
    distinct, numbers = np.unique(keys[present], return_inverse=True)
    counts = np.bincount(numbers, None if weights is None else weights[present], minlength=len(distinct)).astype(float)
    distinct, counts = distinct[counts > 0], counts[counts > 0]
    return Cells(distinct // cardinality, distinct % cardinality, counts)


@kernel
def group_moments(matrix: Array, index: Index, size: int, weights: Array) -> tuple[Array, Array, Array, Array]:
    """For each configuration: its weight, the first numbers met there, their distance to the means, Σ w·(x − mean)(x − mean)ᵀ.

    Each row of `matrix` is a column of numbers. They are counted from a number of the configuration itself, so that
    N(10⁹, 1) loses nothing and a constant is constant.
    """
    width, rows = matrix.shape
    masses, origin, drift = np.zeros(size), np.zeros((size, width)), np.zeros((size, width))
    for row in range(rows):
        group = index[row]
        if group >= 0:
            weight = weights[row] if len(weights) else 1.0
            if masses[group] == 0.0:
                origin[group] = matrix[:, row]
            masses[group] += weight
            for column in range(width):
                drift[group, column] += weight * (matrix[column, row] - origin[group, column])
    for group in range(size):
        for column in range(width):
            drift[group, column] = drift[group, column] / masses[group] if masses[group] > 0 else 0.0
    scatter, apart = np.zeros((size, width, width)), np.empty(width)
    for row in range(rows):
        group = index[row]
        if group >= 0:
            weight = weights[row] if len(weights) else 1.0
            for one in range(width):
                apart[one] = matrix[one, row] - origin[group, one] - drift[group, one]
                for other in range(one + 1):
                    scatter[group, one, other] += weight * apart[one] * apart[other]
    for group in range(size):
        for one in range(width):
            for other in range(one):
                scatter[group, other, one] = scatter[group, one, other]
    return masses, origin, drift, scatter
