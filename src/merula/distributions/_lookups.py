"""The compiled loops behind terms that are looked up: plain, serial, some rows at a time, which stay in the nearest cache."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.compiled import kernel

ROWS_AT_ONCE = 256
Codes = NDArray[np.int32]


class Cuts(NamedTuple):
    """The cuts of columns, one column after the other: how many each has; and the cuts with as many infinities behind them as make 2ⁿ − 1."""

    count: NDArray[np.int64]
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
    infinite, memory = -1, np.empty(ROWS_AT_ONCE)
    for start in range(0, x.shape[0], ROWS_AT_ONCE):
        stop = min(start + ROWS_AT_ONCE, x.shape[0])
        values = memory[: stop - start]
        for j in range(x.shape[1]):
            for i in range(len(values)):
                values[i] = x[start + i, j]
            own = codes[j, start:stop]
            count_below(values, cuts.cuts[cuts.starts[j] : cuts.starts[j + 1]], own)
            lost = cuts.count[j] + 1
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
    rows, classes = out.shape
    found, values = np.empty(ROWS_AT_ONCE, dtype=np.int32), tables.values
    for start in range(0, rows, ROWS_AT_ONCE):
        stop = min(start + ROWS_AT_ONCE, rows)
        own, cells = out[start:stop], found[: stop - start]
        for t in range(len(tables.columns)):
            _find_cells(codes, start, tables.columns[t], tables.starts[t], tables.places, cells)
            if classes == 2:
                for i in range(len(cells)):
                    cell = np.uint64(max(cells[i], 0))
                    own[i, 0] += values[cell, 0]
                    own[i, 1] += values[cell, 1]
            else:
                for i in range(len(cells)):
                    cell = np.uint64(max(cells[i], 0))
                    for label in range(classes):
                        own[i, label] += values[cell, label]


@kernel
def _find_cells(codes: Codes, start: int, columns: NDArray[np.int32], starts: NDArray[np.int64], places: NDArray[np.int32], cells: Codes) -> None:  # fmt: skip
    """The place of each row's cell in one table, from `start` on."""
    first, at = codes[columns[0], start : start + len(cells)], places[starts[0] :]
    if len(columns) == 1 or columns[1] < 0:
        for i in range(len(cells)):
            cells[i] = at[np.uint32(first[i])]
        return
    second, beside = codes[columns[1], start : start + len(cells)], places[starts[1] :]
    for i in range(len(cells)):
        cells[i] = at[np.uint32(first[i])] + beside[np.uint32(second[i])]
    for k in range(2, len(columns)):
        if columns[k] >= 0:
            other, at = codes[columns[k], start : start + len(cells)], places[starts[k] :]
            for i in range(len(cells)):
                cells[i] += at[np.uint32(other[i])]
