"""The configurations and families of the columns of some rows, by their positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from merula.core.arrays import Array
from merula.data.encode import CodedColumns
from merula.stats.configurations import Configurations, count_cells, extended, where_known


@dataclass(frozen=True, eq=False)
class FamilyCounts:
    """The counts of one child and its parents that are not 0: of both together (`cells`), of the parents alone (`margins`).

    Rows with a missing cell in the family are left out; `total` is the weight of the others.
    """

    cells: Array
    margins: Array
    total: float


def configurations(rows: CodedColumns, indices: Sequence[int], on_rows_with: int | None = None) -> Configurations:
    """The configurations of the columns at these positions; with `on_rows_with`, of the rows that have a value in that column."""
    found = Configurations(np.zeros(rows.count, dtype=np.int32), 1)
    for index in indices:
        found = extended(found, rows.codes[index], int(rows.cardinalities[index]))
    return found if on_rows_with is None else where_known(found, rows.missing(rows.names[on_rows_with]))


def count_family(
    rows: CodedColumns, child: int, parents: Sequence[int], on_rows_with: int | None = None
) -> FamilyCounts:
    """The counts of one child and its parents, of the rows that have a value in the column `on_rows_with` too."""
    known = configurations(rows, parents, on_rows_with)
    cells = count_cells(known, rows.codes[child], int(rows.cardinalities[child]), rows.weights)
    margins = np.bincount(cells.left, cells.counts).astype(np.float64)  # of no cells it would be integers
    return FamilyCounts(cells.counts, margins[margins > 0], float(cells.counts.sum()))
