"""Numeric children of discrete and numeric parents: one linear regression for each configuration of the discrete ones.

The same regressions score a structure and fit its nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from merula.core.arrays import Array
from merula.core.compiled import kernel
from merula.data.encode import CodedColumns
from merula.graphs.structure.configurations import configurations
from merula.stats.configurations import NO_WEIGHTS, group_moments, most_cells, renumbered, where_known

FLOOR = 1e-9  # the smallest share: of a column's variance as a child, and of a parent's own variance that is left to it
ROWS_PER_PARAMETER = 2  # a configuration with fewer rows borrows slopes and variance from all together
LOG_2PI = float(np.log(2 * np.pi))


def spread_of(values: Array, weights: Array | None) -> float:
    """The weighted standard deviation of a column of numbers, NaN for missing; 0 for one that is constant or empty."""
    index = np.where(np.isnan(values), np.int32(-1), np.int32(0))
    mass, origin, drift, squares = group_moments(values[None], index, 1, NO_WEIGHTS if weights is None else weights)
    return spread(float(mass[0]), float((origin + drift)[0, 0]), float(squares[0, 0, 0]))


def spread(mass: float, mean: float, squares: float) -> float:
    """The standard deviation of a column, 0 where it is but the rounding of a constant."""
    deviation = float(np.sqrt(squares / mass)) if mass > 0 else 0.0
    return deviation if deviation > 1e-14 * abs(mean) else 0.0


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
    masses, _, _, scatter = group_moments(matrix, known.index, known.size, weights)
    scatter, units = in_units(scatter, [spreads[name] for name in names])
    _, variances, left = regressions(masses, scatter)
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
    rest: float = max(work[last, last], 0.0)
    return rest


@kernel
def _residual(scatter: Array, slopes: Array) -> float:
    """The sum of squares that the last column keeps when the others are subtracted with these slopes."""
    last = len(scatter) - 1
    total: float = scatter[last, last]
    for one in range(last):
        total -= 2 * slopes[one] * scatter[one, last]
        for other in range(last):
            total += slopes[one] * slopes[other] * scatter[one, other]
    return max(total, 0.0)


@kernel
def regressions(masses: Array, scatter: Array) -> tuple[Array, Array, Array]:
    """For each configuration: least-squares slopes of the last column on the others, its variance, and RSS.

    variance = max(RSS / n, 1e-9), in units of the whole column's. A configuration with fewer than two rows per parameter
    has the slopes of all together and their variance: RSS over the degrees of freedom left (1 where none is left).
    """
    size, width = scatter.shape[:2]
    slopes, variances, left = np.zeros((size, width - 1)), np.zeros(size), np.zeros(size)
    pooled, shared = np.zeros((width, width)), np.zeros(width - 1)
    for group in range(size):
        pooled += scatter[group]
    rest = _regress(pooled, shared)
    spare = masses.sum() - (masses > 0).sum() - (width - 1)  # degrees of freedom that the means and slopes leave
    shared_variance = max(rest / spare, FLOOR) if spare >= 1 else 1.0
    for group in range(size):
        if masses[group] >= ROWS_PER_PARAMETER * (width + 1):
            left[group] = _regress(scatter[group], slopes[group])
            variances[group] = max(left[group] / masses[group], FLOOR)
        else:
            slopes[group] = shared
            left[group], variances[group] = _residual(scatter[group], shared), shared_variance
    return slopes, variances, left
