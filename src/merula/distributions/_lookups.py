"""The compiled loops behind terms that are looked up: plain, serial, some rows at a time, which stay in the nearest cache."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.compiled import kernel
from merula.distributions._vectors import add_four, add_two

CODED_AT_ONCE, ADDED_AT_ONCE = (
    256,
    1_024,
)  # rows: few enough that numbers of all columns, and many that tables, are not fetched again and again
Codes = NDArray[np.int32]


class Cuts(NamedTuple):
    """The cuts of columns, one column after the other: how many each has; and the cuts with as many infinities behind them as make 2ⁿ − 1."""

    counts: NDArray[np.int64]
    starts: NDArray[np.int64]
    cuts: Array


class Tables(NamedTuple):
    """Tables to be looked up: ``columns[t]`` are those of table t (−1: no more), ``values`` the cells of all tables × classes.

    ``places[starts[t, k] + code]`` is what the code of its k-th column adds to the place of a row's cell. A row whose place is below 0
    is one that the table says nothing of, as the first cell does.
    """

    columns: NDArray[np.int32]
    starts: NDArray[np.int64]
    places: NDArray[np.int32]
    values: Array


@kernel
def code_numbers(x: NDArray[Any], cuts: Cuts, codes: Codes) -> int:
    """codes[j, row] = how many of a column's cuts lie below the number, one more than there are for NaN; −1, or the column of an infinite one."""
    infinite, memory = -1, np.empty(CODED_AT_ONCE)
    for start in range(0, x.shape[0], CODED_AT_ONCE):
        stop = min(start + CODED_AT_ONCE, x.shape[0])
        values = memory[: stop - start]
        for j in range(x.shape[1]):
            for i in range(len(values)):
                values[i] = x[start + i, j]
            own = codes[j, start:stop]
            count_below(values, cuts.cuts[cuts.starts[j] : cuts.starts[j + 1]], own)
            lost = cuts.counts[j] + 1
            farthest = 0.0
            for i in range(len(values)):
                own[i] = own[i] if values[i] == values[i] else lost
                farthest = max(farthest, abs(values[i]) if values[i] == values[i] else 0.0)
            infinite = j if farthest == np.inf else infinite
    return infinite


@kernel
def count_below(values: Array, cuts: Array, below: Codes) -> None:
    """How many of 2ⁿ − 1 ascending cuts lie below each value: by halves, one step for all values before the next, so that none waits for another."""
    below[:] = 0
    half = (len(cuts) + 1) // 2
    while half > 0:
        for i in range(len(values)):
            below[i] += half if cuts[np.uint32(below[i] + (half - 1))] < values[i] else 0
        half //= 2


@kernel
def code_levels(levels: NDArray[np.int32], counts: NDArray[np.int64], codes: Codes) -> None:
    """codes[j, row] = the level, then one for missing ones (−1), then one for those not known (−2)."""
    for row in range(levels.shape[0]):
        for j in range(levels.shape[1]):
            level = levels[row, j]
            codes[j, row] = level if level >= 0 else counts[j] - 1 - level


@kernel
def add_lookups(codes: Codes, tables: Tables, out: Array) -> None:
    """Add to each row what each table has in the row's cell."""
    rows = len(out)
    found, values = np.empty(ADDED_AT_ONCE, dtype=np.int32), tables.values
    for start in range(0, rows, ADDED_AT_ONCE):
        stop = min(start + ADDED_AT_ONCE, rows)
        own, cells = out[start:stop], found[: stop - start]
        for t in range(len(tables.columns)):
            _find_cells(codes, start, tables.columns[t], tables.starts[t], tables.places, cells)
            add_cells(values, cells, own)


@kernel
def add_cells(values: Array, cells: Codes, out: Array) -> None:
    """out[row] += values[cells[row]]; several classes at once where they lie side by side."""
    classes, together = out.shape[1], 0
    if out.flags.c_contiguous and values.flags.c_contiguous:
        if classes == 2:
            for row in range(len(cells)):
                add_two(values, np.uint32(cells[row]), out, row, 0)
            return
        together = classes // 4 * 4
    for row in range(len(cells)):
        cell = np.uint32(cells[row])
        for first in range(0, together, 4):
            add_four(values, cell, out, row, first)
        for label in range(together, classes):
            out[row, label] += values[cell, label]


@kernel
def _find_cells(codes: Codes, start: int, columns: NDArray[np.int32], starts: NDArray[np.int64], places: NDArray[np.int32], cells: Codes) -> None:  # fmt: skip
    """The place of each row's cell in one table, from `start` on."""
    first, at = codes[columns[0], start : start + len(cells)], places[starts[0] :]
    for i in range(len(cells)):
        cells[i] = at[np.uint32(first[i])]
    for k in range(1, len(columns)):
        if columns[k] >= 0:
            other, at = codes[columns[k], start : start + len(cells)], places[starts[k] :]
            for i in range(len(cells)):
                cells[i] += at[np.uint32(other[i])]
    for i in range(len(cells)):
        cells[i] = max(cells[i], 0)
