"""The compiled loops behind dependent columns: plain, serial, over one tile of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.compiled import kernel

Cells = NDArray[np.int32]
Places = NDArray[np.int64]


@kernel
def add_terms(
    cells: Cells, first: Places, parents: Places, sizes: Places, starts: Places, table: Array, out: Array
) -> Any:
    """Add log p(each known cell given its parents and the class) to `out`; rows that lack a parent of one are left alone.

    Column j has the parents ``parents[first[j]:first[j + 1]]`` and the rows of `table` from ``starts[j]`` on: for each
    configuration of its parents one for each of its levels, and one for a level never met (−2). Returned is which rows lack
    a parent.
    """
    rows, columns = cells.shape
    classes = table.shape[1]
    lacking = np.zeros(rows, dtype=np.bool_)
    entries = np.empty(columns, dtype=np.int64)
    for row in range(rows):
        for j in range(columns):
            entries[j] = -1
            own = cells[row, j]
            if own == -1:
                continue
            index = np.int64(0)
            for place in range(first[j], first[j + 1]):
                parent = cells[row, parents[place]]
                if parent < 0:
                    lacking[row] = True
                index = index * sizes[parents[place]] + parent
            entries[j] = starts[j] + index * (sizes[j] + 1) + (own if own >= 0 else sizes[j])
        if not lacking[row]:
            for j in range(columns):
                if entries[j] >= 0:
                    for label in range(classes):
                        out[row, label] += table[entries[j], label]
    return lacking


@kernel
def add_average(
    cells: Cells, top: Cells, weights: Array, log_start: Array, starts: Places, sizes: Places, table: Array, out: Array
) -> Any:
    """Write the log of the mean over super-parents of P(class, row) to `out`; rows that admit none are left alone.

    `top` are the cells as they stand above the others: one that was never met stands above none, though it may be below them as
    a level of its own. ``weights[starts_i + v]`` is what level v of column i weighs as the one above the others, 0 where it may not be;
    ``log_start`` at the same place is log P(class, v), that weight included, and ``table[(at · levels of all) + level]`` the
    log probability of a level below it.
    """
    rows, columns = cells.shape
    classes = out.shape[1]
    none = np.zeros(rows, dtype=np.bool_)
    width = starts[columns]
    sums = np.empty((columns, classes))
    for row in range(rows):
        count, mass = 0, 0.0
        for i in range(columns):
            above = top[row, i]
            if above < 0 or weights[starts[i] + above] == 0.0:
                continue
            at = starts[i] + above
            mass += weights[at]
            for label in range(classes):
                sums[count, label] = log_start[at, label]
            for j in range(columns):
                below = cells[row, j]
                if below == -1 or j == i:
                    continue
                entry = at * width + starts[j] + (below if below >= 0 else sizes[j])
                for label in range(classes):
                    sums[count, label] += table[entry, label]
            count += 1
        if count == 0:
            none[row] = True
            continue
        for label in range(classes):
            highest = -np.inf
            for k in range(count):
                highest = max(highest, sums[k, label])
            if highest == -np.inf:
                out[row, label] = -np.inf
                continue
            total = 0.0
            for k in range(count):
                total += np.exp(sums[k, label] - highest)
            out[row, label] = highest + np.log(total / mass)
    return none


@kernel
def drop_implied(cells: Cells, order: Places, starts: Places, first: Places, telling: Cells) -> bool:
    """Make cells missing (−1) that another cell of the row implies, one column after the other; True if there were any.

    What implies a level is ``telling[first[at]:first[at + 1]]``, columns and their levels, with ``at`` its place among all levels.
    A cell that was dropped drops no other, so that of cells that imply each other one is left.
    """
    dropped = False
    for row in range(len(cells)):
        for j in order:
            if cells[row, j] < 0:
                continue
            at = starts[j] + cells[row, j]
            for place in range(first[at], first[at + 1]):
                if cells[row, telling[place, 0]] == telling[place, 1]:
                    cells[row, j] = -1
                    dropped = True
                    break
    return dropped
