"""What rows say of a child given its parents: counts, likelihoods, regressions; and one parent more, for many candidates.

Numeric children have one linear regression for each configuration of the discrete parents; the same regressions score a
structure and fit its nodes. The loop over candidates is where a search spends its time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from math import lgamma

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.compiled import kernel
from merula.core.threads import thread_count
from merula.data.encode import CodedColumns
from merula.distributions.gaussian import ROUNDING as OF_A_MEAN
from merula.stats.configurations import (
    NO_WEIGHTS,
    Configurations,
    Index,
    count_cells,
    extended,
    fill_table,
    group_moments,
    most_cells,
    renumbered,
    where_known,
)
from merula.stats.moments import TINY, refuse_closeness, refuse_distant

FLOOR = 1e-9  # the smallest share: of a column's variance as a child, and of a parent's own variance that is left to it
BESIDE = 1e3  # usual variances of a configuration that a column's variance counts for, at the most
ROUNDING = 1e-13  # share of a sum of squares below which what a regression leaves of it is nothing but rounding
ROWS_PER_PARAMETER = 2  # a configuration with fewer rows borrows slopes and variance from all together
LOG_2PI = float(np.log(2 * np.pi))
CELLS_PER_THREAD = 2_000_000  # rows × candidates below which a second thread costs more than it saves


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


def spread_of(name: str, values: Array, weights: Array | None) -> float:
    """The weighted standard deviation of a column of numbers, NaN for missing; 0 for one that is constant or empty."""
    index = np.where(np.isnan(values), np.int32(-1), np.int32(0))
    mass, origin, drift, squares = group_moments(values[None], index, 1, NO_WEIGHTS if weights is None else weights)
    total = float(squares[0, 0, 0])
    if total < TINY and len(np.unique(values[(index == 0) & (True if weights is None else weights > 0)])) > 1:
        total = TINY
    return spread(name, float(mass[0]), float((origin + drift)[0, 0]), total)


def spread(name: str, mass: float, mean: float, squares: float) -> float:
    """The standard deviation of a column, 0 where it is but the rounding of a constant; an error where squares are no numbers."""
    variance = squares / mass if mass > 0 else 0.0
    refuse_distant(np.array([np.isfinite(variance)]), [name])
    deviation = float(np.sqrt(variance))
    if not deviation > 1e-14 * abs(mean):
        return 0.0
    refuse_closeness(np.array([variance]), [name])
    return deviation


def gaussian_log_likelihood(
    rows: CodedColumns,
    spreads: Mapping[str, float],
    child: int,
    parents: Sequence[int],
    on_rows_with: int | None = None,
) -> tuple[float, float]:
    """The largest log likelihood of a numeric child given its parents, and the weight of the rows complete in them.

    log likelihood = Σ_j −½ n_j log(2π σ²_j) − RSS_j / (2 σ²_j), by the `regressions` within each configuration j of the
    discrete parents. With `on_rows_with`, only rows that have a value in that column count.
    """
    discrete = [parent for parent in parents if rows.levels[parent] is not None]
    numeric = sorted(rows.names[parent] for parent in parents if rows.levels[parent] is None)
    names = [*numeric, rows.names[child]]
    matrix = np.stack([rows.values[name] for name in names])
    known = where_known(configurations(rows, discrete, on_rows_with), np.isnan(matrix).any(axis=0))
    if known.size * len(matrix) ** 2 > most_cells(rows.count):
        known = renumbered(known.index)
    weights = NO_WEIGHTS if rows.weights is None else rows.weights
    masses, origin, drift, scatter = group_moments(matrix, known.index, known.size, weights)
    scatter, units = in_units(scatter, [spreads[name] for name in names])
    floor = typical_floor(masses, (origin + drift)[:, -1], scatter[:, -1, -1], units[-1])
    _, variances, left = regressions(masses, scatter, floor)
    met, total = masses > 0, float(masses.sum())
    terms = masses[met] * (LOG_2PI + np.log(variances[met])) + left[met] / variances[met]
    return -0.5 * float(terms.sum()) - total * float(np.log(units[-1])), total


def in_units(scatter: Array, spreads: Sequence[float]) -> tuple[Array, Array]:
    """The scatter of columns in units of their standard deviations, and the units: a constant has none, and counts in ones."""
    deviations = np.array(spreads)
    units = np.where(deviations > 0, deviations, 1.0)
    scaled = np.where(deviations > 0, 1.0 / units, 0.0)
    return scatter * scaled[:, None] * scaled, units


@kernel
def _regress(scatter: Array, slopes: Array) -> float:
    """The sum of squares that the last column keeps after regression on the others; their slopes are written.

    Gauss–Jordan with the parents as pivots; a parent that the earlier ones explain but for 1e-9 of the variance that it
    has here is skipped, so that copies of a column do no harm, and outliers elsewhere do none either. Which of two copies
    is skipped depends on their order: it is that of their names.
    """
    work = scatter.copy()
    last = len(work) - 1
    used = np.zeros(last, dtype=np.bool_)
    for pivot in range(last):
        if work[pivot, pivot] <= FLOOR * scatter[pivot, pivot] or scatter[pivot, pivot] <= 0:
            continue
        used[pivot] = True
        for row in range(last + 1):
            factor = work[row, pivot] / work[pivot, pivot]
            if row != pivot and factor != 0:
                for column in range(last + 1):
                    work[row, column] -= factor * work[pivot, column]
    for pivot in range(last):
        slopes[pivot] = work[pivot, last] / work[pivot, pivot] if used[pivot] else 0.0
    rest: float = work[last, last]
    return rest if rest > ROUNDING * scatter[last, last] else 0.0


@kernel
def _residual(scatter: Array, slopes: Array) -> float:
    """The sum of squares that the last column keeps when the others are subtracted with these slopes."""
    last = len(scatter) - 1
    total: float = scatter[last, last]
    for one in range(last):
        total -= 2 * slopes[one] * scatter[one, last]
        for other in range(last):
            total += slopes[one] * slopes[other] * scatter[one, other]
    return total if total > ROUNDING * scatter[last, last] else 0.0


def typical_floor(masses: Array, means: Array, scatter: Array, unit: float) -> float:
    """What no variance of the regressions of a column goes below, in units of it, given its moments in each configuration.

    A billionth of the column's variance, which counts for no more than a thousand times what is usual within a configuration
    (the lower median of those that vary): one that lies far from all others drowns nothing of what these know.

    Examples
    --------
    >>> masses, squares = np.array([40.0, 20.0, 30.0]), np.array([40.0, 20.0, 60.0])
    >>> typical_floor(masses, np.array([0.0, 4.0, 7.0]), squares, 3.0)
    1e-09
    >>> round(typical_floor(masses, np.array([0.0, 2e7, 7.0]), squares / 1e14, 1e7) * 1e14, 12)
    1e-06
    """
    met = masses > 0
    variance = np.divide(scatter, masses, out=np.zeros_like(scatter), where=met)
    varies = np.sort(variance[variance > (OF_A_MEAN * np.where(met, means / unit, 0.0)) ** 2])
    return FLOOR * min(1.0, BESIDE * float(varies[(len(varies) - 1) // 2])) if len(varies) else FLOOR


@kernel
def regressions(masses: Array, scatter: Array, floor: float) -> tuple[Array, Array, Array]:
    """For each configuration: least-squares slopes of the last column on the others, its variance, and RSS.

    variance = max(RSS / n, floor), in units of the whole column's. A configuration with fewer than two rows per parameter
    has the slopes of all together and their variance: RSS over the degrees of freedom left (1 where none is left).
    """
    size, width = scatter.shape[:2]
    slopes, variances, left = np.zeros((size, width - 1)), np.zeros(size), np.zeros(size)
    pooled, shared = np.zeros((width, width)), np.zeros(width - 1)
    for group in range(size):
        pooled += scatter[group]
    rest = _regress(pooled, shared)
    spare = masses.sum() - (masses > 0).sum() - (width - 1)  # degrees of freedom that the means and slopes leave
    shared_variance = max(rest / spare, floor) if spare >= 1 else 1.0
    for group in range(size):
        if masses[group] >= ROWS_PER_PARAMETER * (width + 1):
            left[group] = _regress(scatter[group], slopes[group])
            variances[group] = max(left[group] / masses[group], floor)
        else:
            slopes[group] = shared
            left[group], variances[group] = _residual(scatter[group], shared), shared_variance
    return slopes, variances, left


@kernel
def _term(count: float, pseudo: float) -> float:
    """n log n, or log Γ(pseudo + n) − log Γ(pseudo) under a Dirichlet prior (pseudo > 0)."""
    return lgamma(pseudo + count) - lgamma(pseudo) if pseudo > 0 else count * np.log(count)


@kernel
def _family_value(table: Array, middle: int, inner: int, cell: float, margin: float) -> tuple[float, float]:
    """Σ term(cells) − Σ term(sums over the child, the middle axis), and the sum of all."""
    value, total = 0.0, 0.0
    for left in range(len(table) // (middle * inner)):
        for right in range(inner):
            configured = 0.0
            for level in range(middle):
                count = table[(left * middle + level) * inner + right]
                if count > 0:
                    value += _term(count, cell)
                    configured += count
            if configured > 0:
                value -= _term(configured, margin)
                total += configured
    return value, total


@kernel
def _value_without(table: Array, middle: int, inner: int) -> float:
    """The log likelihood without the candidate, the inner axis, on the same rows."""
    value = 0.0
    for left in range(len(table) // (middle * inner)):
        configured = 0.0
        for level in range(middle):
            start = (left * middle + level) * inner
            count = table[start : start + inner].sum()
            if count > 0:
                value += count * np.log(count)
                configured += count
        if configured > 0:
            value -= configured * np.log(configured)
    return value


@kernel
def family_value(cells: Array, margins: Array, cell: float, margin: float) -> float:
    """The log likelihood of a child from the counts that are not 0, or with pseudo-counts its log marginal likelihood.

    Σ N_jk log N_jk − Σ N_j log N_j; or Heckerman, Geiger & Chickering (1995), equation 28.
    """
    value = 0.0
    for count in cells:
        value += _term(count, cell)
    for count in margins:
        value -= _term(count, margin)
    return value


@kernel
def _extension_values(
    base: Index,
    base_size: int,
    levels: int,
    codes: Index,
    cardinalities: NDArray[np.int64],
    candidates: NDArray[np.int64],
    complete: NDArray[np.bool_],
    weights: Array,
    pseudo: Array,
    found: Array,
) -> None:
    largest = 0
    for index in candidates:
        largest = max(largest, cardinalities[index])
    space = np.empty(base_size * largest)
    for number in range(len(candidates)):
        index = candidates[number]
        inner = cardinalities[index]
        table = space[: base_size * inner]
        fill_table(base, codes[index], inner, weights, complete[number], table)
        value, total = _family_value(table, levels, inner, pseudo[number, 0], pseudo[number, 1])
        found[number, 0] = value
        found[number, 1] = total
        found[number, 2] = 0.0 if complete[number] else _value_without(table, levels, inner)


def extension_values(
    base: Configurations,
    levels: int,
    codes: Index,
    cardinalities: NDArray[np.int64],
    candidates: NDArray[np.int64],
    complete: NDArray[np.bool_],
    weights: Array,
    pseudo: Array,
) -> Array:
    """For each candidate: log (marginal) likelihood of the child, weight of the complete rows, log likelihood without it.

    `base` numbers the configurations of the parents so far and the child, the child's `levels` running fastest;
    ``complete[number]`` says that neither it nor this candidate lacks a cell; ``pseudo[number]`` are the pseudo-counts of
    a cell and of a configuration, 0 for the likelihood. The last is given only where cells are missing.
    """
    found = np.empty((len(candidates), 3))
    _extension_values(base.index, base.size, levels, codes, cardinalities, candidates, complete, weights, pseudo, found)
    return found


def each_part(
    function: Callable[[slice], Array], count: int, rows: int, n_jobs: int | None
) -> Iterator[tuple[slice, Array]]:
    """`function` of slices that cover `count` things, each of which costs `rows`, on as many threads as pay and are allowed."""
    threads = min(thread_count(n_jobs), 1 + count * rows // CELLS_PER_THREAD, max(count, 1))
    bounds = [count * part // threads for part in range(threads + 1)]
    parts = [slice(first, last) for first, last in pairwise(bounds) if last > first]
    if len(parts) < 2:
        yield from ((part, function(part)) for part in parts)
        return
    with ThreadPoolExecutor(len(parts)) as pool:
        yield from zip(parts, pool.map(function, parts), strict=True)
