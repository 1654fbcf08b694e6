"""The compiled loop that adds up what tables of questions say of one set of columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.compiled import kernel

Codes = NDArray[np.int32]
ABSENT = 2  # the digit of a question that is not asked


class Tables(NamedTuple):
    """Tables with a cell for each yes, no or not asked of every question: questions' columns and codes, their number, cells × classes.

    ``leads`` has the bits of those questions that are the first of their column.
    """

    columns: Codes
    codes: Codes
    depths: Codes
    leads: Codes
    values: Array
    is_word: NDArray[np.bool_]


@kernel
def add_effect(codes: Codes, tables: Tables, members: Codes, masks: Codes, out: Array) -> None:
    """Add to each case what these tables say of the questions in their masks; a column that is missing turns the sign.

    Σ_table (−1)^missing · value[answers to the questions in the mask whose column is known, the others not asked]
    """
    cases, width = out.shape
    cell, sign = np.zeros(cases, dtype=np.int64), np.ones(cases)
    for m in range(len(members)):
        t, mask = members[m], masks[m]
        depth = tables.depths[t]
        cell[:] = 3**depth - 1
        sign[:] = 1.0
        stride = 1
        for k in range(depth - 1, -1, -1):
            if (mask >> k) & 1:
                j, place = tables.columns[t, k], tables.codes[t, k]
                _answer(codes[j], place, tables.is_word[j], (tables.leads[t] >> k) & 1, stride, cell, sign)
            stride *= 3
        for i in range(cases):
            for c in range(width):
                out[i, c] += sign[i] * tables.values[t, cell[i], c]


@kernel
def _answer(codes: Codes, place: int, is_word: bool, leads: int, stride: int, cell: Any, sign: Array) -> None:
    """Set one digit of each case's cell, or turn its sign where the first of a column's questions has no answer."""
    for i in range(len(codes)):
        code = codes[i]
        if code < 0:
            if leads:
                sign[i] = -sign[i]
        else:
            yes = (code == place) if is_word else (code <= place)
            cell[i] -= stride if yes else 2 * stride
