"""Numeric children of discrete and numeric parents: one linear regression for each configuration of the discrete ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from merula.core.arrays import Array
from merula.core.compiled import kernel
from merula.data.encode.columns import CodedColumns
from merula.graphs.structure.configurations import (
    NO_WEIGHTS,
    Configurations,
    Index,
    configurations,
    most_cells,
    renumbered,
)

FLOOR = 1e-9  # the smallest variance, and the smallest share of a parent's own variance, in units of the whole column's
ROWS_PER_PARAMETER = 2  # a configuration with fewer rows borrows slopes and variance from all together
LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, eq=False)
class Standardised:
    """A numeric column in units of its own standard deviation from its own mean; NaN for missing."""

    values: Array
    scale: float


def standardised(values: Array, weights: Array | None) -> Standardised:
    """The column less its weighted mean, over its weighted standard deviation (1 for a constant column)."""
    present = ~np.isnan(values)
    known = values[present]
    mass = np.ones(len(known)) if weights is None else weights[present]
    if not mass.sum() > 0:
        return Standardised(np.full(len(values), np.nan), 1.0)
    centred = values - np.average(known, weights=mass)
    scale = float(np.sqrt(np.average(centred[present] ** 2, weights=mass)))
    # rounding leaves a constant column some 1e-16 of its own size, which is no spread
    largest = float(np.abs(known).max(initial=0.0))
    scale = scale if scale > 1e-14 * largest else 0.0
    return Standardised(centred / scale if scale else np.where(present, 0.0, np.nan), scale or 1.0)


def gaussian_log_likelihood(
    rows: CodedColumns,
    columns: dict[str, Standardised],
    child: int,
    parents: Sequence[int],
    beside: int | None = None,
) -> tuple[float, float]:
    """The largest log likelihood of a numeric child given its parents, and the weight of the rows complete in them.

    log likelihood = Σ_j −½ n_j log(2π σ²_j) − RSS_j / (2 σ²_j), σ²_j = max(RSS_j / n_j, 1e-9 · overall variance), where
    RSS_j is what the regression on the numeric parents leaves within configuration j of the discrete parents. A
    configuration with fewer than two rows per parameter has its own mean, but the slopes of all together and their
    variance, RSS over the degrees of freedom left (the whole column's variance where none is left). With `beside`, only
    rows that have a value in that column count.
    """
    numeric = [parent for parent in parents if rows.levels[parent] is None]
    discrete = [parent for parent in parents if rows.levels[parent] is not None]
    names = [rows.names[position] for position in (*numeric, child)]
    matrix = np.stack([columns[name].values for name in names])
    known = configurations(rows, discrete)
    if beside is not None:
        known = Configurations(np.where(rows.missing(rows.names[beside]), np.int32(-1), known.index), known.size)
    groups = _groups(known, matrix)
    weights = NO_WEIGHTS if rows.weights is None else rows.weights
    masses, scatter = _scatter(matrix, groups.index, groups.size, weights)
    total = float(masses.sum())
    if not total > 0:
        return 0.0, 0.0
    return float(_log_likelihood(masses, scatter)) - total * float(np.log(columns[names[-1]].scale)), total


def _groups(known: Configurations, matrix: Array) -> Configurations:
    """The configurations without the rows where a number is missing; renumbered where their moments would outgrow the rows."""
    index = np.where(np.isnan(matrix).any(axis=0), np.int32(-1), known.index)
    if known.size * len(matrix) ** 2 <= most_cells(matrix.shape[1]):
        return Configurations(index, known.size)
    return renumbered(index)


@kernel
def _scatter(matrix: Array, index: Index, size: int, weights: Array) -> tuple[Array, Array]:
    """The weight of each group, and its sums of products around its own means: first the means, then the products."""
    width, rows = matrix.shape
    masses, means = np.zeros(size), np.zeros((size, width))
    for row in range(rows):
        if index[row] >= 0:
            weight = weights[row] if len(weights) else 1.0
            masses[index[row]] += weight
            for column in range(width):
                means[index[row], column] += weight * matrix[column, row]
    for group in range(size):
        for column in range(width):
            means[group, column] = means[group, column] / masses[group] if masses[group] > 0 else 0.0
    scatter = np.zeros((size, width, width))
    for row in range(rows):
        if index[row] >= 0:
            group, weight = index[row], weights[row] if len(weights) else 1.0
            for one in range(width):
                left = weight * (matrix[one, row] - means[group, one])
                for other in range(one + 1):
                    scatter[group, one, other] += left * (matrix[other, row] - means[group, other])
    for group in range(size):
        for one in range(width):
            for other in range(one):
                scatter[group, other, one] = scatter[group, one, other]
    return masses, scatter


@kernel
def _regress(scatter: Array, slopes: Array) -> float:
    """The sum of squares that the last column keeps after regression on the others; their slopes are written.

    Gauss–Jordan with the parents as pivots; a parent that the earlier ones explain but for 1e-9 of its variance is
    skipped, so that copies of a column do no harm.
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
def _log_likelihood(masses: Array, scatter: Array) -> float:
    """Σ over groups of the normal log likelihood, in units of the standardised child."""
    width = scatter.shape[1]
    enough = ROWS_PER_PARAMETER * (width + 1)
    pooled, mass = np.zeros((width, width)), 0.0
    for group in range(len(masses)):
        pooled += scatter[group]
        mass += masses[group]
    shared, own = np.zeros(width - 1), np.zeros(width - 1)
    rest = _regress(pooled, shared)
    spare = mass - (masses > 0).sum() - (width - 1)  # degrees of freedom that the means and slopes leave
    shared_variance = max(rest / spare, FLOOR) if spare >= 1 else 1.0
    total = 0.0
    for group in range(len(masses)):
        if masses[group] <= 0:
            continue
        if masses[group] >= enough:
            left = _regress(scatter[group], own)
            variance = max(left / masses[group], FLOOR)
        else:
            left, variance = _residual(scatter[group], shared), shared_variance
        total -= 0.5 * (masses[group] * (LOG_2PI + np.log(variance)) + left / variance)
    return total
