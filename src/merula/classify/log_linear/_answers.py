"""The compiled loops that look up tables of log terms by the answers to their questions; columns that are not known are averaged out.

Cases are known by codes (columns × cases), −1 where nothing is known.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.compiled import inner, kernel
from merula.distributions._lookups import add_cells

Codes = NDArray[np.int32]
Flags = NDArray[np.bool_]
CASES_AT_ONCE = 512
NOT_KNOWN = -(2**20)  # the cell of a case that does not know an answer: below 0 whatever questions follow
NONE = -1  # no level is asked for by the answers


@kernel
def add_tables(codes: Codes, columns: Codes, cuts: Codes, depths: Codes, values: Array, shares: Array, is_word: Flags, out: Array) -> None:  # fmt: skip
    """Add to each case what each table has in the cell that the case lies in; some cases at a time, which stay in the nearest cache.

    A column that is not known is averaged out, by the share of yes to each question; without shares such a table says nothing.
    """
    cases, width, order = len(out), out.shape[1], columns.shape[1]
    found, table = np.empty(CASES_AT_ONCE, dtype=np.int32), np.zeros((values.shape[1] + 1, width))
    gaps, chances, middle, told = np.zeros(len(codes), dtype=np.bool_), np.zeros((1 << order, order)), np.zeros(width), len(shares) > 0  # fmt: skip
    for start in range(0, cases, CASES_AT_ONCE):
        stop = min(start + CASES_AT_ONCE, cases)
        own, cells = out[start:stop], found[: stop - start]
        if told:
            _find_gaps(codes, start, stop, gaps)
        for t in range(len(depths)):
            _find_cells(codes, start, columns[t], cuts[t], depths[t], is_word, cells)
            for cell in range(values.shape[1]):
                for c in range(width):
                    table[cell + 1, c] = values[t, cell, c]
            add_cells(table, cells, own)
            if _any_of(gaps, columns[t], depths[t]):
                columns_asked = _find_chances(columns[t], cuts[t], shares[t], depths[t], is_word, values[t], chances, middle)  # fmt: skip
                for i in range(stop - start):
                    if cells[i] == 0:
                        _add_averaged(codes[:, start + i], columns[t], cuts[t], depths[t], is_word, values[t], chances, middle, columns_asked, own[i])  # fmt: skip


@inner
def _find_gaps(codes: Codes, start: int, stop: int, gaps: Flags) -> None:
    """Which columns some of these cases do not know."""
    for j in range(len(codes)):
        lowest = 0
        for i in range(start, stop):
            lowest = min(lowest, codes[j, i])
        gaps[j] = lowest < 0


@inner
def _any_of(flags: Flags, columns: Codes, depth: int) -> Any:
    found = False
    for k in range(depth):
        found = found or flags[columns[k]]
    return found


@inner
def _find_cells(
    codes: Codes, start: int, columns: Codes, cuts: Codes, depth: int, is_word: Flags, cells: Codes
) -> None:
    """One more than the cell of a table that each case from `start` on lies in: its answers as binary digits; 0 where one of its columns is not known."""
    cells[:] = 0
    for d in range(depth):
        own, cut = codes[columns[d], start : start + len(cells)], cuts[d]
        if is_word[columns[d]]:
            for i in range(len(cells)):
                cells[i] = 2 * cells[i] + (1 if own[i] == cut else 0) if own[i] >= 0 else NOT_KNOWN
        else:
            for i in range(len(cells)):
                cells[i] = 2 * cells[i] + (1 if own[i] <= cut else 0) if own[i] >= 0 else NOT_KNOWN
    for i in range(len(cells)):
        cells[i] = max(cells[i], -1) + 1


# -------------------------------------------------------------------------------------------------- what is not known


@kernel
def share_of_yes(codes: Codes, cut: int, is_word: bool, weight: Array) -> Any:
    """The share of those cases that know the answer to a question which answer yes."""
    yes, known = 0.0, 0.0
    for i in range(len(codes)):
        if codes[i] >= 0:
            known += weight[i]
            if (codes[i] == cut) if is_word else (codes[i] <= cut):
                yes += weight[i]
    return yes / known


@kernel
def shares_of_answers(cuts: Codes, shares: Array, is_word: Flags) -> Any:
    """For each set of questions of one column, of which each has a share of yes, the share of all answers to them, as binary digits."""
    found, columns = np.zeros((len(shares), 1 << shares.shape[1])), np.zeros(shares.shape[1], dtype=np.int32)
    for t in range(len(shares)):
        for answers in range(found.shape[1]):
            found[t, answers] = _chance(columns, cuts[t], shares[t], len(columns), 0, is_word[t], answers)
    return found


@inner
def _chance(columns: Codes, cuts: Codes, shares: Array, depth: int, first: int, is_word: bool, answers: int) -> Any:
    """The share of rows that answer so to all questions of the column that question `first` asks; answers are binary digits.

    A number lies between the highest cut that it is above and the lowest that it is not; a word is one level at most.
    """
    low, high, rest, level, possible = 0.0, 1.0, 1.0, NONE, True
    for k in range(depth):
        if columns[k] == columns[first] and (answers >> (depth - 1 - k)) & 1:
            possible = possible and (level == NONE or level == cuts[k])
            high, level = min(high, shares[k]), cuts[k]
    for k in range(depth):
        if columns[k] == columns[first] and not (answers >> (depth - 1 - k)) & 1:
            possible = possible and cuts[k] != level
            low, again = max(low, shares[k]), False
            for earlier in range(k):
                again = again or (columns[earlier] == columns[k] and cuts[earlier] == cuts[k])
            rest -= 0.0 if again else shares[k]
    if not is_word:
        return max(high - low, 0.0)
    return 0.0 if not possible else max(rest, 0.0) if level == NONE else high


@inner
def _find_chances(columns: Codes, cuts: Codes, shares: Array, depth: int, is_word: Flags, values: Array, chances: Array, middle: Array) -> Any:  # fmt: skip
    """Write for each cell and column the share of rows that answer as the cell does (−1 behind a column's first question), and the mean value of all cells; the number of columns."""
    count = 0
    middle[:] = 0.0
    for cell in range(1 << depth):
        share, count = 1.0, 0
        for k in range(depth):
            lead = True
            for earlier in range(k):
                lead = lead and columns[earlier] != columns[k]
            chances[cell, k] = _chance(columns, cuts, shares, depth, k, is_word[columns[k]], cell) if lead else -1.0
            if lead:
                share *= chances[cell, k]
                count += 1
        for c in range(len(middle)):
            middle[c] += share * values[cell, c]
    return count


@inner
def _add_averaged(codes: Codes, columns: Codes, cuts: Codes, depth: int, is_word: Flags, values: Array, chances: Array, middle: Array, count: int, out: Array) -> None:  # fmt: skip
    """Add what a table says of a case that lacks some of its columns: the mean over their answers, less their share of columns of the mean over all.

    So a case that lacks all of them adds nothing.
    """
    answers, known, lost = 0, 0, 0
    for k in range(depth):
        code, place = codes[columns[k]], depth - 1 - k
        if code >= 0:
            yes = code == cuts[k] if is_word[columns[k]] else code <= cuts[k]
            known |= 1 << place
            answers |= (1 if yes else 0) << place
        elif chances[0, k] >= 0:
            lost += 1
    if lost == count:
        return
    for cell in range(1 << depth):
        if (cell ^ answers) & known == 0:
            share = 1.0
            for k in range(depth):
                if chances[cell, k] >= 0 and codes[columns[k]] < 0:
                    share *= chances[cell, k]
            for c in range(len(out)):
                out[c] += share * values[cell, c]
    for c in range(len(out)):
        out[c] -= middle[c] * (lost / count)
