"""The compiled loops behind log probabilities: plain, serial, over one tile of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.compiled import kernel, prefetch
from merula.distributions._vectors import PANEL, add_rows, squared_norms

FAR = 1e190  # a sum of squares that some value beyond 1e100 standard deviations may have caused
LEVELS_PANEL = 128  # rows whose levels are looked up at once: their slots stay in the nearest cache


@kernel
def slot_table(
    indices: NDArray[np.int64],
    offsets: NDArray[np.int64],
    starts: NDArray[np.int64],
    log_prob: Array,
    widest: int,
) -> tuple[Array, NDArray[np.uint32], NDArray[np.bool_], NDArray[np.bool_]]:
    """What `add_levels` looks up: log probabilities, the row of each slot, whether it is unseen; and the columns with such a slot.

    `indices` maps every slot of the columns laid end to end to a level, m for missing, m + 1 for unseen; `starts` is where a
    column's levels begin in `log_prob`. Up to `widest` numbers are laid out slot by slot: then no slot needs to be told its row,
    and the second result is empty. Each column's last slot is for codes out of range; it is unseen by definition.
    """
    row_of, unseen = np.empty(len(indices), dtype=np.uint32), np.empty(len(indices), dtype=np.bool_)
    met = np.zeros(len(starts) - 1, dtype=np.bool_)
    for column in range(len(met)):
        for slot in range(offsets[column], offsets[column + 1]):
            row_of[slot] = starts[column] + indices[slot]
            unseen[slot] = row_of[slot] + 1 == starts[column + 1]
            met[column] |= unseen[slot] and slot + 1 < offsets[column + 1]
    if len(indices) * log_prob.shape[1] > widest:
        return log_prob, row_of, unseen, met
    table = np.empty((len(indices), log_prob.shape[1]))
    for slot in range(len(indices)):
        for label in range(log_prob.shape[1]):
            table[slot, label] = log_prob[row_of[slot], label]
    return table, row_of[:0], unseen, met


@kernel
def add_levels(
    codes: NDArray[Any],
    shift: NDArray[np.int64],
    width: NDArray[np.int64],
    offsets: NDArray[np.int64],
    table: Array,
    row_of: NDArray[np.uint32],
    unseen: NDArray[np.bool_],
    met: NDArray[np.bool_],
    out: Array,
) -> NDArray[np.int64]:
    """out[row, class] += log P(level given class) over the columns; how many cells of each column have a level not known.

    A panel of rows at a time: the slots of its cells, all columns alike, so that they are found many at once; then, where
    there is a map, the rows of the table they stand for; then a sum of rows of the table for each row of the panel. Slots
    are looked at one by one only in columns that may hold an unseen level, or where some code is out of range.
    """
    slots = np.empty((LEVELS_PANEL, codes.shape[1]), dtype=np.uint32)
    total, hits = np.empty((1, table.shape[1])), np.zeros(codes.shape[1], dtype=np.int64)
    for start in range(0, codes.shape[0], LEVELS_PANEL):
        rows = min(LEVELS_PANEL, codes.shape[0] - start)
        beyond = _find_slots(codes[start : start + rows], shift, width, offsets, slots)
        for column in range(codes.shape[1]):
            if met[column] or beyond:
                for row in range(rows):
                    hits[column] += unseen[slots[row, column]]
        if len(row_of):
            for row in range(rows):
                for column in range(codes.shape[1]):
                    slots[row, column] = row_of[slots[row, column]]
        for row in range(rows):
            if out.flags.c_contiguous and out.shape[1] == table.shape[1]:
                add_rows(table, slots, row, out, start + row)
                continue
            total[:] = 0.0
            add_rows(table, slots, row, total, 0)
            for label in range(out.shape[1]):
                out[start + row, label] += total[0, label]
    return hits


@kernel
def write_levels(
    codes: NDArray[Any],
    shift: NDArray[np.int64],
    width: NDArray[np.int64],
    offsets: NDArray[np.int64],
    levels: NDArray[np.int32],
    cells: NDArray[np.int32],
) -> int:
    """cells[row, column] = the level of each cell, as `levels` tells it of every slot; more than 0 where some level is −2."""
    slots, unknown = np.empty((LEVELS_PANEL, codes.shape[1]), dtype=np.uint32), 0
    for start in range(0, codes.shape[0], LEVELS_PANEL):
        rows = min(LEVELS_PANEL, codes.shape[0] - start)
        _find_slots(codes[start : start + rows], shift, width, offsets, slots)
        for row in range(rows):
            for column in range(codes.shape[1]):
                level = levels[slots[row, column]]
                cells[start + row, column] = level
                unknown += level == -2
    return unknown


@kernel
def _find_slots(
    codes: NDArray[Any],
    shift: NDArray[np.int64],
    width: NDArray[np.int64],
    offsets: NDArray[np.int64],
    slots: NDArray[np.uint32],
) -> int:
    """Write the slot of every cell, in place; more than 0 where some cell is out of range.

    As unsigned numbers, codes below the range are as far out as those beyond it. The inner loop goes along memory.
    """
    beyond = 0
    if codes.strides[0] < codes.strides[1]:
        for column in range(codes.shape[1]):
            lowest, highest = codes[0, column], codes[0, column]
            for row in range(codes.shape[0]):
                lowest, highest = min(lowest, codes[row, column]), max(highest, codes[row, column])
            first, last, offset = shift[column], np.uint64(width[column]), np.uint64(offsets[column])
            far = np.int64(lowest) < first or np.uint64(highest - first) >= last
            beyond += int(far)
            for row in range(codes.shape[0]):
                slot = np.uint64(codes[row, column] - first)
                slots[row, column] = np.uint32(offset + (min(slot, last) if far else slot))
        return beyond
    for row in range(codes.shape[0]):
        prefetch(codes, row)
        for column in range(codes.shape[1]):
            slot = min(np.uint64(codes[row, column] - shift[column]), np.uint64(width[column]))
            beyond += slot == np.uint64(width[column])
            slots[row, column] = np.uint32(np.uint64(offsets[column]) + slot)
    return beyond


@kernel
def add_tokens(
    starts: NDArray[Any],
    codes: NDArray[Any],
    amounts: NDArray[Any],
    indices: NDArray[np.int64],
    log_table: Array,
    binary: bool,
    absent: NDArray[np.bool_],
    log_present: Array,
    log_missing: Array,
    out: Array,
) -> bool:
    """out[row, class] += log_present + Σ amount · log_table[word, class]; a missing text adds `log_missing`.

    `indices` maps the words' codes to rows of the table, −1 for words it does not know; empty if they are the rows themselves.
    False if some amount is negative, infinite or NaN.
    """
    fine = True
    for row in range(out.shape[0]):
        own = out[row]
        if absent[row]:
            for label in range(len(own)):
                own[label] += log_missing[label]
            continue
        for label in range(len(own)):
            own[label] += log_present[label]
        for k in range(starts[row], starts[row + 1]):
            index = indices[codes[k]] if len(indices) else np.int64(codes[k])
            fine &= 0 <= amounts[k] < np.inf
            amount = 1.0 if binary and amounts[k] > 0 else float(amounts[k])
            if index < 0 or amount == 0.0:
                continue
            for label in range(len(own)):
                own[label] += amount * log_table[index, label]
    return fine


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
        prefetch(x, row)
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
    of 4; rows are laid column by column, as many as go through W at once.
    """
    classes = out.shape[1]
    panel, norms = np.zeros((whitening.shape[1], PANEL)), np.empty((classes, PANEL))
    added = np.zeros(x.shape[0], dtype=np.bool_)
    for start in range(0, x.shape[0], PANEL):
        rows = min(PANEL, x.shape[0] - start)
        for row in range(rows):
            for j in range(x.shape[1]):
                panel[j, row] = x[start + row, j] - centre[j]
        for label in range(classes):
            squared_norms(panel, whitening[label if whitening.shape[0] > 1 else 0], offsets[label], norms[label])
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


@kernel
def usual_variances(variance: Array, mean: Array, rounding: float) -> Array:
    """The lower median of each column's variances within classes (classes × columns); infinite where no class varies.

    What is no more than the rounding of its mean is left out.
    """
    classes, columns = variance.shape
    found, own = np.full(columns, np.inf), np.empty(classes)
    for j in range(columns):
        count = 0
        for label in range(classes):
            value = variance[label, j]
            if value > (rounding * abs(mean[label, j])) ** 2:
                place = count
                while place > 0 and own[place - 1] > value:
                    own[place] = own[place - 1]
                    place -= 1
                own[place] = value
                count += 1
        if count:
            found[j] = own[(count - 1) // 2]
    return found
