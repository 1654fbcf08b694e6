"""The compiled loops that add up what tables of questions say of each set of columns, and how far effects spread."""

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

    ``leads`` has the bits of those questions that are the first of their column. An effect is ``lost`` times that of *not asked* for each
    of its columns that is missing.
    """

    columns: Codes
    codes: Codes
    depths: Codes
    leads: Codes
    values: Array
    is_word: NDArray[np.bool_]
    lost: float


@kernel
def add_effects(codes: Codes, tables: Tables, wanted: Codes, out: Array) -> None:
    """Add what each table says of each set of its questions to where that set is wanted (tables × bits of questions, −1 for nowhere).

    Σ_table lost^missing · value[answers to the questions of the set whose column is known, the others not asked]
    """
    cases, width = out.shape[1], out.shape[2]
    sets, order = wanted.shape[1], tables.columns.shape[1]
    cell, sign = np.zeros((sets, cases), dtype=np.int64), np.ones((sets, cases))
    step, turn = np.zeros((order, cases), dtype=np.int64), np.ones((order, cases))
    for t in range(len(wanted)):
        depth = tables.depths[t]
        nowhere = True
        for k in range(sets):
            nowhere = nowhere and wanted[t, k] < 0
        if nowhere:
            continue
        _answer(codes, tables, t, step, turn)
        cell[0, :] = 3**depth - 1
        for mask in range(1, 1 << depth):
            last, rest = 0, mask & (mask - 1)
            while not (mask >> last) & 1:
                last += 1
            for i in range(cases):
                cell[mask, i] = cell[rest, i] + step[last, i]
                sign[mask, i] = sign[rest, i] * turn[last, i]
            place = wanted[t, mask]
            if place >= 0:
                for i in range(cases):
                    for c in range(width):
                        out[place, i, c] += sign[mask, i] * tables.values[t, cell[mask, i], c]


@kernel
def _answer(codes: Codes, tables: Tables, t: int, step: Any, turn: Array) -> None:
    """From *not asked* to each case's answer, in cells; and `lost` where a column's first question has none."""
    stride = 1
    for k in range(tables.depths[t] - 1, -1, -1):
        j, place, leads = tables.columns[t, k], tables.codes[t, k], (tables.leads[t] >> k) & 1
        is_word = tables.is_word[j]
        for i in range(codes.shape[1]):
            code = codes[j, i]
            yes = (code == place) if is_word else (code <= place)
            step[k, i] = 0 if code < 0 else (-stride if yes else -2 * stride)
            turn[k, i] = tables.lost if code < 0 and leads else 1.0
        stride *= 3


@kernel
def add_spreads(effects: Array, weight: Array, out: Array) -> None:
    """Add to each effect the weighted sum over rows of its largest less its smallest value; nothing where all are infinite alike."""
    for s in range(len(effects)):
        for i in range(effects.shape[1]):
            highest, lowest = effects[s, i, 0], effects[s, i, 0]
            for c in range(1, effects.shape[2]):
                highest, lowest = max(highest, effects[s, i, c]), min(lowest, effects[s, i, c])
            if highest > lowest:
                out[s] += weight[i] * (highest - lowest)
