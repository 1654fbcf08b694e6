"""The compiled loops behind dependent columns: plain, serial, over one tile of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.compiled import kernel

Cells = NDArray[np.int32]
Places = NDArray[np.int64]
PANEL = 128  # rows whose cells are laid out column by column, so that they stay in the nearest cache


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
    lacking = np.zeros(rows, dtype=np.bool_)
    panel, entries = np.empty((columns, PANEL), dtype=np.int64), np.empty(max(columns, PANEL), dtype=np.int64)
    for start in range(0, rows, PANEL):
        count, lowest = min(PANEL, rows - start), np.int32(0)
        for row in range(count):
            for j in range(columns):
                panel[j, row] = cells[start + row, j]
                lowest = min(lowest, cells[start + row, j])
        if lowest == 0:
            _add_complete(panel, first, parents, sizes, starts, table, entries, out[start : start + count])
            continue
        for row in range(start, start + count):
            lacking[row] = _find_entries(cells[row], first, parents, sizes, starts, entries)
            for j in range(columns):
                if entries[j] >= 0 and not lacking[row]:
                    for label in range(table.shape[1]):
                        out[row, label] += table[entries[j], label]
    return lacking


@kernel
def _add_complete(
    panel: Places,
    first: Places,
    parents: Places,
    sizes: Places,
    starts: Places,
    table: Array,
    entries: Places,
    out: Array,
) -> None:
    """The same for rows without a missing cell, laid column by column: many entries at once."""
    for j in range(len(panel)):
        entries[:PANEL] = 0
        for parent in parents[first[j] : first[j + 1]]:
            for row in range(len(out)):
                entries[row] = entries[row] * sizes[parent] + panel[parent, row]
        for row in range(len(out)):
            entries[row] = starts[j] + entries[row] * (sizes[j] + 1) + panel[j, row]
        for row in range(len(out)):
            for label in range(table.shape[1]):
                out[row, label] += table[entries[row], label]


@kernel
def _find_entries(row: Cells, first: Places, parents: Places, sizes: Places, starts: Places, entries: Places) -> bool:
    """Write where each cell of a row stands in the table, −1 for a missing one; True if one lacks a parent."""
    lacks = False
    for j in range(len(row)):
        entries[j] = -1
        own = row[j]
        if own == -1:
            continue
        index = np.int64(0)
        for parent in parents[first[j] : first[j + 1]]:
            lacks |= row[parent] < 0
            index = index * sizes[parent] + row[parent]
        entries[j] = starts[j] + index * (sizes[j] + 1) + (own if own >= 0 else sizes[j])
    return lacks


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
