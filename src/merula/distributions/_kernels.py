"""The compiled loops behind log probabilities: plain, serial, over one tile of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.logspace import kernel

Array = NDArray[np.float64]
ROWS = 120  # laid column by column at once: what stays in the fastest cache, and no power of 2 apart
FAR = 1e190  # a sum of squares that some value beyond 1e100 standard deviations may have caused


@kernel
def add_levels(
    codes: NDArray[Any],
    shift: NDArray[np.int64],
    width: NDArray[np.int64],
    offsets: NDArray[np.int64],
    places: NDArray[np.int64],
    starts: NDArray[np.int64],
    log_prob: Array,
    unseen: NDArray[np.int64],
    out: Array,
) -> None:
    """out[row, class] += log_prob[place of the row's level, class] for every column; `unseen` counts levels not known.

    `places` maps every slot to a level, m for missing, m + 1 for unseen; `starts` is where a column's levels begin.
    """
    classes = out.shape[1]
    for row in range(codes.shape[0]):
        for column in range(codes.shape[1]):
            # as unsigned numbers, codes below the range are as far out as those beyond it
            slot = min(np.uint64(codes[row, column] - shift[column]), np.uint64(width[column]))
            place = np.uint64(starts[column] + places[np.uint64(offsets[column]) + slot])
            if place + 1 == starts[column + 1]:
                unseen[column] += 1
            for label in range(classes):
                out[row, label] += log_prob[place, label]


@kernel
def add_gaussians(
    x: NDArray[Any],
    mean: Array,
    scale: Array,
    constant: Array,
    log_present: Array,
    log_missing: Array,
    lowest: Array,
    highest: Array,
    out: Array,
) -> int:
    """out[row, class] += Σ log N(x; mean, variance) over the columns; −1, or the column of an infinite value.

    `scale` is 1/√(2·variance); `log_present` holds what an observed cell adds besides its square, `constant` its sum over the columns. Rows are added
    as if complete; one with a missing cell or far out is added again with care: a missing cell contributes `log_missing`,
    and values are brought within [lowest, highest] before any class sees them, so that no square overflows.
    """
    totals = np.empty(mean.shape[0])
    for row in range(x.shape[0]):
        plain = True
        for label in range(mean.shape[0]):
            total = 0.0
            for column in range(x.shape[1]):
                away = (x[row, column] - mean[label, column]) * scale[label, column]
                total += away * away
            totals[label] = constant[label] - total
            if not total < FAR:  # NaN included
                plain = False
        if not plain:
            totals[:] = 0.0
            for column in range(x.shape[1]):
                value = np.float64(x[row, column])
                if abs(value) == np.inf:
                    return column
                if value != value:
                    for label in range(mean.shape[0]):
                        totals[label] += log_missing[label, column]
                    continue
                near = min(max(value, lowest[column]), highest[column])
                for label in range(mean.shape[0]):
                    away = (near - mean[label, column]) * scale[label, column]
                    totals[label] += log_present[label, column] - away * away
        for label in range(mean.shape[0]):
            out[row, label] += totals[label]
    return -1


@kernel
def add_normals(
    x: NDArray[Any], centre: Array, whitening: Array, offsets: Array, constant: Array, out: Array
) -> NDArray[np.bool_]:
    """out[row, class] += constant − ½ Σ_k ((x − centre)·W_k − offset_k)², W upper triangular; which rows were added.

    Left out are rows with a missing or infinite cell, or far out. One W for all classes or one for each, its size a multiple
    of 4: a block of rows is laid column by column, and four columns of W go through it at once, four rows at a time.
    """
    d, size, classes = x.shape[1], whitening.shape[1], out.shape[1]
    block = np.zeros((size, ROWS))
    z0, z1, z2, z3 = np.empty(ROWS), np.empty(ROWS), np.empty(ROWS), np.empty(ROWS)
    norms = np.empty((classes, ROWS))
    added = np.zeros(x.shape[0], dtype=np.bool_)
    for start in range(0, x.shape[0], ROWS):
        rows = min(ROWS, x.shape[0] - start)
        for row in range(rows):
            for j in range(d):
                block[j, row] = x[start + row, j] - centre[j]
        for label in range(classes):
            w, norm = whitening[label if whitening.shape[0] > 1 else 0], norms[label]
            norm[:] = 0.0
            for k in range(0, size, 4):
                z0[:], z1[:], z2[:], z3[:] = (
                    -offsets[label, k],
                    -offsets[label, k + 1],
                    -offsets[label, k + 2],
                    -offsets[label, k + 3],
                )
                for j in range(0, k, 4):
                    x0, x1, x2, x3 = block[j], block[j + 1], block[j + 2], block[j + 3]
                    a0, a1, a2, a3 = w[j, k], w[j + 1, k], w[j + 2, k], w[j + 3, k]
                    b0, b1, b2, b3 = w[j, k + 1], w[j + 1, k + 1], w[j + 2, k + 1], w[j + 3, k + 1]
                    c0, c1, c2, c3 = w[j, k + 2], w[j + 1, k + 2], w[j + 2, k + 2], w[j + 3, k + 2]
                    d0, d1, d2, d3 = w[j, k + 3], w[j + 1, k + 3], w[j + 2, k + 3], w[j + 3, k + 3]
                    for row in range(ROWS):
                        z0[row] += a0 * x0[row] + a1 * x1[row] + a2 * x2[row] + a3 * x3[row]
                        z1[row] += b0 * x0[row] + b1 * x1[row] + b2 * x2[row] + b3 * x3[row]
                        z2[row] += c0 * x0[row] + c1 * x1[row] + c2 * x2[row] + c3 * x3[row]
                        z3[row] += d0 * x0[row] + d1 * x1[row] + d2 * x2[row] + d3 * x3[row]
                x0, x1, x2, x3 = block[k], block[k + 1], block[k + 2], block[k + 3]  # the corner, and the square
                a0, b0, c0, d0 = w[k, k], w[k, k + 1], w[k, k + 2], w[k, k + 3]
                b1, c1, d1, c2, d2, d3 = (
                    w[k + 1, k + 1],
                    w[k + 1, k + 2],
                    w[k + 1, k + 3],
                    w[k + 2, k + 2],
                    w[k + 2, k + 3],
                    w[k + 3, k + 3],
                )
                for row in range(ROWS):
                    y0 = z0[row] + a0 * x0[row]
                    y1 = z1[row] + b0 * x0[row] + b1 * x1[row]
                    y2 = z2[row] + c0 * x0[row] + c1 * x1[row] + c2 * x2[row]
                    y3 = z3[row] + d0 * x0[row] + d1 * x1[row] + d2 * x2[row] + d3 * x3[row]
                    norm[row] += y0 * y0 + y1 * y1 + y2 * y2 + y3 * y3
        for row in range(rows):
            plain = True
            for label in range(classes):
                if not norms[label, row] < FAR:  # NaN included
                    plain = False
            added[start + row] = plain
            if plain:
                for label in range(classes):
                    out[start + row, label] += constant[label] - 0.5 * norms[label, row]
    return added


@kernel
def complete(
    vectors: Array,
    pattern: NDArray[np.int64],
    observed: NDArray[np.bool_],
    precision: Array,
    log_det: Array,
    weight: Array,
    spread: Array,
) -> None:
    """Fill the missing entries of centred vectors with their regression on the observed ones, in place.

    vectors[v] has the observed columns of observed[pattern[v]], patterns in ascending order. With K the precision
    matrix, the missing part given the observed is −K_mm⁻¹ K_mo v_o with covariance K_mm⁻¹, and
    log |Σ_oo| = log |Σ| + log |K_mm|. Gives log |K_mm| per pattern, and adds weight·K_mm⁻¹, padded by zeros, to `spread`
    (an empty `weight` leaves it alone).
    """
    d = vectors.shape[1]
    lower, absent, right = np.empty((d, d)), np.empty(d, dtype=np.int64), np.empty(d)
    row = 0
    for group in range(observed.shape[0]):
        m = 0
        for column in range(d):
            if not observed[group, column]:
                absent[m] = column
                m += 1
        for a in range(m):  # Cholesky factor of K_mm
            for b in range(a + 1):
                total = precision[absent[a], absent[b]]
                for k in range(b):
                    total -= lower[a, k] * lower[b, k]
                lower[a, b] = np.sqrt(total) if a == b else total / lower[b, b]
            log_det[group] += 2 * np.log(lower[a, a])
        while row < vectors.shape[0] and pattern[row] == group:
            for a in range(m):
                total = 0.0
                for column in range(d):
                    if observed[group, column]:
                        total -= precision[absent[a], column] * vectors[row, column]
                right[a] = total
            _solve(lower, right, m)
            for a in range(m):
                vectors[row, absent[a]] = right[a]
            row += 1
        if weight.size:
            for b in range(m):
                right[:m] = 0.0
                right[b] = 1.0
                _solve(lower, right, m)
                for a in range(m):
                    spread[absent[a], absent[b]] += weight[group] * right[a]


@kernel
def _solve(lower: Array, right: Array, m: int) -> None:
    """Solve L Lᵀ v = right in place for the leading m × m part of L."""
    for a in range(m):
        for k in range(a):
            right[a] -= lower[a, k] * right[k]
        right[a] /= lower[a, a]
    for a in range(m - 1, -1, -1):
        for k in range(a + 1, m):
            right[a] -= lower[k, a] * right[k]
        right[a] /= lower[a, a]
