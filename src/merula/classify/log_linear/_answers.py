"""The compiled loops that look up tables of log terms by the answers to their questions; columns that are not known are averaged out.

Cases are known by codes (columns × cases), −1 where nothing is known.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.compiled import kernel
from merula.distributions._lookups import add_cells

Codes = NDArray[np.int32]
Flags = NDArray[np.bool_]
CASES_AT_ONCE = 512
NOT_KNOWN = -(2**20)  # the cell of a case that does not know an answer: below 0 whatever questions follow
UNKNOWN = 2  # the third answer to a question of a table that is widened
NONE, SEVERAL = -1, -2  # levels that answers ask for: none, or such as no row has


@kernel
def add_tables(codes: Codes, columns: Codes, cuts: Codes, depths: Codes, values: Array, shares: Array, is_word: Flags, out: Array) -> None:  # fmt: skip
    """Add to each case what each table has in the cell that the case lies in; some cases at a time, which stay in the nearest cache.

    A column that is not known is averaged out, by the share of yes to each question; without shares such a table says nothing.
    """
    cases, width, order = len(out), out.shape[1], columns.shape[1]
    found, table, wide = np.empty(CASES_AT_ONCE, dtype=np.int32), np.zeros((values.shape[1] + 1, width)), np.zeros((3**order, width))  # fmt: skip
    gaps, digits, told = np.zeros(len(codes), dtype=np.bool_), _digits(order), len(shares) > 0
    for start in range(0, cases, CASES_AT_ONCE):
        stop = min(start + CASES_AT_ONCE, cases)
        own, cells = out[start:stop], found[: stop - start]
        if told:
            _find_gaps(codes, start, stop, gaps)
        for t in range(len(depths)):
            if _any_of(gaps, columns[t], depths[t]):
                _widen(values[t], columns[t], cuts[t], shares[t], depths[t], is_word, digits, wide)
                _find_wide_cells(codes, start, columns[t], cuts[t], depths[t], is_word, cells)
                add_cells(wide, cells, own)
                continue
            _find_cells(codes, start, columns[t], cuts[t], depths[t], is_word, cells)
            for cell in range(values.shape[1]):
                for c in range(width):
                    table[cell + 1, c] = values[t, cell, c]
            add_cells(table, cells, own)


@kernel
def _find_gaps(codes: Codes, start: int, stop: int, gaps: Flags) -> None:
    """Which columns some of these cases do not know."""
    for j in range(len(codes)):
        lowest = 0
        for i in range(start, stop):
            lowest = min(lowest, codes[j, i])
        gaps[j] = lowest < 0


@kernel
def _any_of(flags: Flags, columns: Codes, depth: int) -> Any:
    found = False
    for k in range(depth):
        found = found or flags[columns[k]]
    return found


@kernel
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


@kernel
def _find_wide_cells(codes: Codes, start: int, columns: Codes, cuts: Codes, depth: int, is_word: Flags, cells: Codes) -> None:  # fmt: skip
    """The cell of a widened table that each case from `start` on lies in."""
    cells[:] = 0
    for d in range(depth):
        own, cut, words = codes[columns[d], start : start + len(cells)], cuts[d], is_word[columns[d]]
        for i in range(len(cells)):
            yes = own[i] == cut if words else own[i] <= cut
            cells[i] = 3 * cells[i] + (UNKNOWN if own[i] < 0 else (1 if yes else 0))


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
        _share_answers(columns, cuts[t], shares[t], len(columns), 0, is_word[t], found[t])
    return found


@kernel
def _share_answers(
    columns: Codes, cuts: Codes, shares: Array, depth: int, first: int, is_word: bool, found: Array
) -> Any:
    """Write the share of all answers, as binary digits, to the questions of the column that question `first` asks; their number.

    A number lies between the highest cut that it is above and the lowest that it is not; a word is one level at most.
    """
    count = 0
    for k in range(depth):
        count += 1 if columns[k] == columns[first] else 0
    for answers in range(1 << count):
        low, high, level, rest, place = 0.0, 1.0, NONE, 1.0, count
        for k in range(depth):
            if columns[k] == columns[first]:
                place -= 1
                if (answers >> place) & 1:
                    high = min(high, shares[k])
                    level = cuts[k] if level == NONE or level == cuts[k] else SEVERAL
                else:
                    low = max(low, shares[k])
                    rest -= 0.0 if _is_again(columns, cuts, k) else shares[k]
        if not is_word:
            found[answers] = max(high - low, 0.0)
        else:
            found[answers] = max(rest, 0.0) if level == NONE else high
            if level == SEVERAL or _denies(columns, cuts, depth, first, answers, count, level):
                found[answers] = 0.0
    return count


@kernel
def _is_again(columns: Codes, cuts: Codes, k: int) -> Any:
    """Whether a question has been asked before."""
    found = False
    for earlier in range(k):
        found = found or (columns[earlier] == columns[k] and cuts[earlier] == cuts[k])
    return found


@kernel
def _denies(columns: Codes, cuts: Codes, depth: int, first: int, answers: int, count: int, level: int) -> Any:
    """Whether one of the answers to the questions of a column is no to a level."""
    found, place = False, count
    for k in range(depth):
        if columns[k] == columns[first]:
            place -= 1
            found = found or (cuts[k] == level and not (answers >> place) & 1)
    return found


@kernel
def _digits(order: int) -> Any:
    """The answers to questions from the last on, of all cells of a widened table."""
    found = np.zeros((3**order, order), dtype=np.int8)
    for cell in range(3**order):
        left = cell
        for k in range(order):
            found[cell, k] = left % 3
            left //= 3
    return found


@kernel
def _widen(values: Array, columns: Codes, cuts: Codes, shares: Array, depth: int, is_word: Flags, digits: Any, wide: Array) -> None:  # fmt: skip
    """A table with a third answer, *not known*: the mean over the column's answers, less its share of columns of the mean over all.

    So what is not known at all says 0. Cells that know one question of a column and not another mean nothing.
    """
    cells, width, count = 3**depth, wide.shape[1], 0
    wide[:cells] = 0.0
    for cell in range(1 << depth):
        place = 0
        for k in range(depth):
            place = 3 * place + ((cell >> (depth - 1 - k)) & 1)
        for c in range(width):
            wide[place, c] = values[cell, c]
    lead, chances, steps, lost = np.zeros(depth, dtype=np.bool_), np.zeros(1 << depth), np.zeros(1 << depth, dtype=np.int64), np.zeros(cells)  # fmt: skip
    for k in range(depth):
        lead[k] = True
        for earlier in range(k):
            lead[k] = lead[k] and columns[earlier] != columns[k]
        if lead[k]:
            count += 1
            _average_out(columns, cuts, shares, depth, k, is_word[columns[k]], digits, chances, steps, wide)
            for cell in range(cells):
                lost[cell] += 1.0 if digits[cell, depth - 1 - k] == UNKNOWN else 0.0
    middle = wide[cells - 1].copy()
    for cell in range(cells):
        if lost[cell] > 0:
            for c in range(width):
                wide[cell, c] -= middle[c] * (lost[cell] / count)


@kernel
def _average_out(columns: Codes, cuts: Codes, shares: Array, depth: int, first: int, is_word: bool, digits: Any, chances: Array, steps: Any, wide: Array) -> None:  # fmt: skip
    """Write to where none of the questions of the column that question `first` asks is answered the mean over its answers."""
    count, absent = _share_answers(columns, cuts, shares, depth, first, is_word, chances), 0
    steps[: 1 << count] = 0
    place = count
    for k in range(depth):
        if columns[k] == columns[first]:
            place -= 1
            absent += UNKNOWN * 3 ** (depth - 1 - k)
            for answers in range(1 << count):
                steps[answers] += 3 ** (depth - 1 - k) * ((answers >> place) & 1)
    for base in range(3**depth - absent):
        lowest = True
        for k in range(depth):
            lowest = lowest and (columns[k] != columns[first] or digits[base, depth - 1 - k] == 0)
        if lowest:
            for c in range(wide.shape[1]):
                mean = 0.0
                for answers in range(1 << count):
                    mean += chances[answers] * wide[base + steps[answers], c]
                wide[base + absent, c] = mean
