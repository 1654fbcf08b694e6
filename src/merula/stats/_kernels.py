"""The compiled loops behind the statistics: plain, serial, over one block of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.compiled import kernel, prefetch


@kernel
def class_weights(classes: NDArray[Any], weights: Any, count: int) -> Array:
    """The weight of each class."""
    result = np.zeros(count)
    for row in range(len(classes)):
        result[classes[row]] += 1.0 if weights is None else weights[row]
    return result


@kernel
def first_values(x: NDArray[Any], classes: NDArray[Any], weights: Any, shift: Array) -> None:
    """The first number of each class in each column: the origin its moments are counted from (NaN: none found)."""
    pending = np.full(shift.shape[0], shift.shape[1])
    wanted = shift.size
    shift[:] = np.nan
    for row in range(x.shape[0]):
        label = classes[row]
        if pending[label] == 0 or (weights is not None and weights[row] == 0.0):
            continue
        for column in range(x.shape[1]):
            if shift[label, column] != shift[label, column] and x[row, column] == x[row, column]:
                shift[label, column] = x[row, column]
                pending[label] -= 1
                wanted -= 1
        if wanted == 0:
            return


@kernel
def class_sums(x: NDArray[Any], classes: NDArray[Any], weights: Any, shift: Array, sums: Array, squares: Array) -> None:
    """Σ w·(x − shift) and Σ w·(x − shift)² per class and column, of rows without missing cells."""
    for row in range(x.shape[0]):
        prefetch(x, row)
        label = classes[row]
        for column in range(x.shape[1]):
            value = x[row, column] - shift[label, column]
            if weights is None:
                sums[label, column] += value
                squares[label, column] += value * value
            else:
                sums[label, column] += weights[row] * value
                squares[label, column] += weights[row] * value * value


@kernel
def present_class_sums(
    x: NDArray[Any], classes: NDArray[Any], weights: Any, shift: Array, counts: Array, sums: Array, squares: Array
) -> None:
    """As `class_sums`, skipping missing cells and rows of weight 0, with the weight present in each cell."""
    for row in range(x.shape[0]):
        label = classes[row]
        weight = 1.0 if weights is None else weights[row]
        if weight == 0.0:
            continue
        for column in range(x.shape[1]):
            if x[row, column] == x[row, column]:
                value = x[row, column] - shift[label, column]
                counts[label, column] += weight
                sums[label, column] += weight * value
                squares[label, column] += weight * value * value


@kernel
def count_slots(
    codes: NDArray[Any],
    classes: NDArray[Any],
    weights: Any,
    shift: NDArray[np.int64],
    width: NDArray[np.int64],
    offsets: NDArray[np.int64],
    counts: NDArray[Any],
) -> None:
    """Weight per class and slot; codes outside a column's range are counted in the slot behind its last.

    The inner loop goes along memory, down a column or across a row.
    """
    if codes.strides[0] < codes.strides[1]:
        for column in range(codes.shape[1]):
            first, last, own = shift[column], np.uint64(width[column]), counts[:, offsets[column] :]
            for row in range(codes.shape[0]):
                inside = min(np.uint64(codes[row, column] - first), last)
                own[classes[row], inside] += 1 if weights is None else weights[row]
        return
    slots = np.empty(codes.shape[1], dtype=np.int64)
    for row in range(codes.shape[0]):
        prefetch(codes, row)
        for column in range(codes.shape[1]):
            # as unsigned numbers, codes below the range are as far out as those beyond it
            inside = min(np.uint64(codes[row, column] - shift[column]), np.uint64(width[column]))
            slots[column] = offsets[column] + np.int64(inside)
        own = counts[classes[row]]
        weight = 1 if weights is None else weights[row]
        for slot in slots:
            own[np.uint64(slot)] += weight


@kernel
def count_tokens(
    starts: NDArray[Any],
    codes: NDArray[Any],
    amounts: NDArray[Any],
    classes: NDArray[Any],
    weights: Any,
    binary: bool,
    counts: Array,
) -> bool:
    """counts[class, word] += weight · amount over the words of every row; with `binary`, any amount above 0 is 1.

    False if some amount is negative, infinite or NaN.
    """
    fine = True
    for row in range(len(classes)):
        own = counts[classes[row]]
        weight = 1.0 if weights is None else weights[row]
        for index in range(starts[row], starts[row + 1]):
            fine &= 0 <= amounts[index] < np.inf
            amount = 1.0 if binary and amounts[index] > 0 else float(amounts[index])
            own[codes[index]] += weight * amount
    return fine


@kernel
def incomplete_rows(x: NDArray[Any]) -> NDArray[np.bool_]:
    """True for every row with a missing or infinite cell."""
    result = np.zeros(x.shape[0], dtype=np.bool_)
    for row in range(x.shape[0]):
        complete = True
        for column in range(x.shape[1]):
            complete &= abs(x[row, column]) < np.inf
        result[row] = not complete
    return result
