"""How often each configuration of some columns occurs: dense tables, or sorted keys where a table would outgrow the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core.arrays import Array
from merula.core.compiled import kernel
from merula.data.encode.columns import CodedColumns

Index = NDArray[np.int32]
FEWEST_CELLS, CELLS_PER_ROW = 4_096, 4  # a table may have this many cells, or this many for each row
NO_WEIGHTS: Array = np.empty(0)


@dataclass(frozen=True, eq=False)
class Configurations:
    """For each row the number of its configuration of some columns, −1 where a cell is missing; `size` numbers are used."""

    index: Index
    size: int


@dataclass(frozen=True, eq=False)
class FamilyCounts:
    """The counts of one child and its parents that are not 0: of both together (`cells`), of the parents alone (`margins`).

    Rows with a missing cell in the family are left out; `total` is the weight of the others.
    """

    cells: Array
    margins: Array
    total: float


def most_cells(rows: int) -> int:
    """How many cells a table of counts may have before its configurations are renumbered."""
    return max(FEWEST_CELLS, CELLS_PER_ROW * rows)


def configurations(rows: CodedColumns, indices: Sequence[int]) -> Configurations:
    """The configurations of the columns at these places, numbered by mixed radix (the last column runs fastest)."""
    found = Configurations(np.zeros(rows.count, dtype=np.int32), 1)
    for index in indices:
        found = extended(found, rows.codes[index], int(rows.cardinalities[index]))
    return found


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


@kernel
def _joined(index: Index, codes: Index, cardinality: int, out: NDArray[Any]) -> NDArray[Any]:
    """index · cardinality + code, −1 where either is missing."""
    for row in range(len(index)):
        known = index[row] >= 0 and codes[row] >= 0
        out[row] = np.int64(index[row]) * cardinality + codes[row] if known else -1
    return out


@kernel
def _count(index: Index, codes: Index, cardinality: int, weights: Array, table: Array) -> None:
    """Add each row's weight (1 without weights) to the cell of its configuration and code."""
    if len(weights) == 0:
        for row in range(len(index)):
            if index[row] >= 0 and codes[row] >= 0:
                table[np.int64(index[row]) * cardinality + codes[row]] += 1.0
    else:
        for row in range(len(index)):
            if index[row] >= 0 and codes[row] >= 0:
                table[np.int64(index[row]) * cardinality + codes[row]] += weights[row]


def count_table(known: Configurations, codes: Index, cardinality: int, weights: Array | None) -> Array:
    """How often each configuration meets each code: configurations × codes."""
    table = np.zeros(known.size * cardinality)
    _count(known.index, codes, cardinality, NO_WEIGHTS if weights is None else weights, table)
    return table.reshape(known.size, cardinality)


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a two-way table that are not 0: their row, their column, their count."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    counts: Array


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


def count_family(rows: CodedColumns, child: int, parents: Sequence[int], beside: int | None = None) -> FamilyCounts:
    """The counts of one child and its parents, by the table where it fits and by sorting where it does not.

    With `beside`, only the rows that have a value in that column are counted.
    """
    known = configurations(rows, parents)
    if beside is not None:
        known = Configurations(np.where(rows.missing(rows.names[beside]), np.int32(-1), known.index), known.size)
    cells = count_cells(known, rows.codes[child], int(rows.cardinalities[child]), rows.weights)
    margins = np.bincount(cells.left, cells.counts).astype(np.float64)  # of no cells it would be integers
    return FamilyCounts(cells.counts, margins[margins > 0], float(cells.counts.sum()))
