"""Sums of product kernels over rows: the log density of each query, rows taken a panel at a time.

Loops over a panel are written so that they use vector instructions, exponentials included: those are most of the work.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.compiled import kernel, ordered

PANEL = 256  # kept rows whose exponents are summed at once, a power of 2; their cells stay in the nearest cache
FAINT = 60.0  # a panel whose largest exponent is so far below the largest met adds nothing that a float could hold
SMALLEST = -700.0  # exponents relative to the largest: beyond, e^x is taken for 0
LOG2_E = math.log2(math.e)
LOG_2_HIGH = 0.693359375  # few binary digits, so that its multiples are exact; the rest of log 2 comes next
LOG_2_LOW = -2.121944400546905827679e-4
INVERSE_FACTORIALS = tuple(1 / math.factorial(k) for k in range(14))


@kernel
def log_sums(
    queries: Array,
    is_word: NDArray[np.bool_],
    cells: Array,
    weight: Array,
    other: Array,
    same: Array,
    peak: Array,
    out: Array,
) -> NDArray[np.bool_]:
    """out[q] = log of the weighted mean of Π_j K_j over the kept rows that hold all that query q knows; whether there are any.

    A query's sum is kept relative to the largest exponent it has met so far.
    """
    n, count = cells.shape[1], len(queries)
    largest, total, mass = np.full(count, -np.inf), np.zeros(count), np.zeros(count)
    exponents, scratch, powers = np.empty(PANEL), np.empty(PANEL), np.empty(PANEL, dtype=np.int64)
    weights = np.zeros(PANEL)
    for start in range(0, n, PANEL):
        size = min(PANEL, n - start)
        weights[:size], weights[size:] = weight[start : start + size], 0.0
        for query in range(count):
            add_exponents(queries[query], is_word, cells, start, size, other, same, exponents)
            for row in range(PANEL):  # NaN: a cell is missing that the query knows
                mass[query] += weights[row] if exponents[row] == exponents[row] else 0.0
            best = largest_of(exponents, scratch)
            if best <= largest[query] - FAINT or best == -np.inf:
                continue
            if best > largest[query]:
                total[query] *= np.exp(largest[query] - best)
                largest[query] = best
            exponentiate(exponents, largest[query], powers)
            for row in range(PANEL):
                total[query] += weights[row] * exponents[row]
    found = mass > 0.0
    for query in range(count):
        log_peak = 0.0
        for column in range(len(peak)):
            log_peak += peak[column] if queries[query, column] == queries[query, column] else 0.0
        out[query] = np.log(total[query]) + largest[query] - np.log(mass[query]) + log_peak if found[query] else 0.0
    return found


@kernel
def add_exponents(
    query: Array,
    is_word: NDArray[np.bool_],
    cells: Array,
    start: int,
    size: int,
    other: Array,
    same: Array,
    exponents: Array,
) -> None:
    """exponents = Σ_j log K_j relative to its peak, for a panel of rows; NaN where a cell is missing, and beyond the last row."""
    exponents[:size], exponents[size:] = 0.0, np.nan
    for column in range(len(query)):
        value, scale, equal = query[column], other[column], same[column]
        if value != value:
            continue
        own = cells[column, start : start + size]
        if is_word[column]:
            for row in range(size):
                step = equal if own[row] == value else scale
                exponents[row] += step if own[row] == own[row] else np.nan
        else:
            for row in range(size):
                away = (value - own[row]) * scale
                exponents[row] -= away * away


@ordered
def largest_of(values: Array, scratch: Array) -> float:
    """The largest of a panel's values, NaN left out; −inf where there is none."""
    half = PANEL // 2
    for i in range(half):
        low, high = values[i], values[half + i]
        low = low if low > -np.inf else -np.inf
        scratch[i] = high if high > low else low
    while half > 1:
        half //= 2
        for i in range(half):
            scratch[i] = scratch[half + i] if scratch[half + i] > scratch[i] else scratch[i]
    return float(scratch[0])


@ordered
def exponentiate(values: Array, largest: float, powers: NDArray[np.int64]) -> None:
    """values = e^(values − largest), 0 for NaN: e^x = 2^k·e^r with |r| ≤ ½·log 2, e^r by Taylor's series to 4e-18."""
    for i in range(values.size):
        x = values[i] - largest
        x = x if x > SMALLEST else SMALLEST
        k = np.floor(x * LOG2_E + 0.5)
        r = (x - k * LOG_2_HIGH) - k * LOG_2_LOW
        series = INVERSE_FACTORIALS[13]
        for power in range(12, -1, -1):
            series = series * r + INVERSE_FACTORIALS[power]
        powers[i] = (np.int64(k) + 1023) << 52  # the bits of 2^k
        values[i] = series if x > SMALLEST else 0.0
    scale = powers.view(np.float64)
    for i in range(values.size):
        values[i] *= scale[i]
