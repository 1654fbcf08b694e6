"""The compiled loop over a block of a plain CSV file: where cells end, then numbers and codes of words, column by column.

A cell of a column of numbers that is none, or none that is read here exactly, is coded like a word: the code stands in
the number's place, below all whole numbers of 18 digits, or as one of the many ways to write NaN.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from merula.core.compiled import ordered
from merula.data.table.plain.dictionary import CODE, HEAD, LENGTH, SHIFT, TAIL, coded, hashed
from merula.data.table.plain.eight_numbers import CODES, FRACTIONS, LANES, WHOLES, eight_fractions, eight_whole
from merula.data.table.plain.nearest import UNKNOWN, nearest
from merula.data.table.plain.numbers import EXACT, NO_NUMBER, TENS, WHOLE, long_number, short_number
from merula.data.table.plain.wide_bytes import WIDTH, ones_in, places_of, zeros_below

AS_WORDS, AS_WHOLE, AS_NUMBERS = 0, 1, 2  # what a column is scanned as
FINE, STRANGE, FULL = (
    0,
    1,
    2,
)  # how a scan ends: STRANGE with quotation marks, uneven rows, or a line of more than a part
PART = 2**16  # bytes whose cells are found before they are read, so that both stay in the processor's nearest memory
EMPTY_WHOLE = np.iinfo(np.int64).min  # an empty cell among whole numbers; codes of words stand above it
EMPTY_NUMBER = 0x7FF8_0000_0001_0000  # the bits of a NaN: an empty cell among numbers; codes of words stand above it
SEEN_WHOLE, SEEN_FRACTION, SEEN_CODE, SEEN_EMPTY, SEEN_WORD, SEEN_FULL = (
    1,
    2,
    4,
    8,
    16,
    32,
)  # what cells of a column are
LINE, RETURN, QUOTE, ZERO, MINUS = np.uint8(10), np.uint8(13), np.uint8(34), np.uint8(48), np.uint8(45)
MIXED = -1  # instead of how many returns stand before lines' ends
U = np.uint64
EIGHT = U(255)  # bits


class Wanted(NamedTuple):
    """How a file is scanned: its signs, what each column is scanned as, and where among its like a column's cells go."""

    sign: Any
    point: Any
    kinds: Any
    places: Any


class Cells(NamedTuple):
    """What was found in a block: numbers (or their bits) and codes, a row of the array for each column; what each column's cells are, and how many bytes its words."""

    numbers: Any
    codes: Any
    seen: Any
    sizes: Any


@ordered
def count_lines(data: Any, start: Any, stop: Any) -> Any:
    """How many lines end within the block."""
    found, place = 0, start
    while place < stop:
        marks = places_of(data, place, LINE)
        if stop - place < WIDTH:
            marks &= (U(1) << U(stop - place)) - U(1)
        found += ones_in(marks)
        place += WIDTH
    return found


@ordered
def find_ends(data: Any, start: Any, stop: Any, sign: Any, ends: Any) -> Any:
    """How many signs between cells and line ends there are, their places behind that of the byte before, and how many are line ends; -1 where quotation marks or lone returns are."""
    ends[0] = start - 1
    found, lines, strange, place = U(1), 0, U(0), start
    while place < stop:
        line = places_of(data, place, LINE)
        marks = places_of(data, place, sign) | line
        others = places_of(data, place, QUOTE) | (places_of(data, place, RETURN) & ~places_of(data, place + 1, LINE))
        if stop - place < WIDTH:
            inside = (U(1) << U(stop - place)) - U(1)
            line, marks, others = line & inside, marks & inside, others & inside
        strange |= others
        lines += ones_in(line)
        while marks:
            ends[found] = place + zeros_below(marks)
            found += U(1)
            marks &= marks - U(1)
        place += WIDTH
    return -1 if strange else np.int64(found) - 1, lines


@ordered
def scan(data: Any, start: Any, stop: Any, first: Any, wanted: Any, cells: Any, words: Any, ends: Any) -> Any:
    """Read the lines of a block that begins at byte `first` of the file; how that ended, and how many rows there are."""
    width, row, begin = wanted.kinds.shape[0], 0, start
    while begin < stop:
        found, lines = find_ends(data, begin, min(begin + PART, stop), wanted.sign, ends)
        rows = found // width
        if rows < 1 or lines != rows or row + rows > cells.codes.shape[1] or not _is_even(data, ends, rows, width):
            return STRANGE, row
        for column in range(width):
            place = wanted.places[column]
            if wanted.kinds[column] == AS_WORDS:
                seen, size = _read_words(
                    data, ends, rows, column, width, first - start, words, cells.codes[place, row:]
                )
                cells.sizes[column] += size
            else:
                numbers = cells.numbers[place, row:]
                whole = wanted.kinds[column] == AS_WHOLE
                seen = _read_numbers(
                    data, ends, rows, column, width, first - start, words, numbers, whole, wanted.point
                )
            cells.seen[column] |= seen
            if seen & SEEN_FULL:
                return FULL, row
        row += rows
        begin = ends[rows * width] + 1
    return FINE, row


@ordered
def _is_even(data: Any, ends: Any, rows: Any, width: Any) -> Any:
    """Whether every row, of as many signs as there are lines in all, ends where a line does: then each has as many cells."""
    unlike = np.uint8(0)
    for row in range(rows):
        unlike |= data[U(ends[U(width * (row + 1))])] ^ LINE
    return unlike == 0


@ordered
def _read_words(data: Any, ends: Any, rows: Any, column: Any, width: Any, shift: Any, words: Any, codes: Any) -> Any:
    """Write the codes of a column's words, -1 for an empty cell; what its cells are, and how many bytes all words."""
    seen, size, last = 0, np.int64(0), column == width - 1
    slots, last_slot = words.slots[column], U(words.slots.shape[1] - 1)
    for row in range(rows):
        k = U(row * width + column)
        start, stop = np.int64(ends[k]) + 1, np.int64(ends[k + U(1)])
        if last and stop > start and data[U(stop - 1)] == RETURN:
            stop -= 1
        if stop <= start:
            codes[row] = -1
            seen |= SEEN_EMPTY
            continue
        length = stop - start
        head, tail, mixed = hashed(data, start, length)
        slot = mixed >> SHIFT & last_slot
        found = slots[slot, CODE]
        # nearly every word is found here, without a call: Numba's calls take longer than all of this
        if slots[slot, HEAD] == head and slots[slot, TAIL] == tail and found & LENGTH == U(length) and length <= 16:
            code = np.int64(found >> U(32)) - 1
        else:
            code = coded(data, start, length, column, shift, words)
            if code < 0:
                return SEEN_FULL, size
        codes[row] = code
        size += length
        seen |= SEEN_WORD
    return seen, size


@ordered
def _read_numbers(
    data: Any,
    ends: Any,
    rows: Any,
    column: Any,
    width: Any,
    shift: Any,
    words: Any,
    numbers: Any,
    whole: Any,
    point: Any,
) -> Any:
    """Write a column's numbers, or codes in their place; what its cells are."""
    seen, row = 0, 0
    trim = _returns(data, ends, rows, width) if column == width - 1 else 0
    while row + LANES <= rows and trim != MIXED:
        place = row * width + column
        if whole:
            found = eight_whole(data, ends, place, width, point, trim, numbers, row)
        else:
            found = eight_fractions(data, ends, place, width, point, trim, numbers, row)
        seen |= SEEN_FRACTION if found >> U(FRACTIONS) & EIGHT else 0
        seen |= SEEN_CODE if found >> U(CODES) & EIGHT else 0
        seen |= SEEN_WHOLE if found >> U(WHOLES) & EIGHT else 0
        odd = found & EIGHT
        while odd:
            one = row + zeros_below(odd)
            seen |= _read_number(data, ends, one, column, width, shift, words, numbers, whole, point)
            odd &= odd - U(1)
        row += LANES
    while row < rows:
        seen |= _read_number(data, ends, row, column, width, shift, words, numbers, whole, point)
        row += 1
    return seen


@ordered
def _returns(data: Any, ends: Any, rows: Any, width: Any) -> Any:
    """How many returns stand before each line's end: none or one, `MIXED` where lines differ."""
    found = 0
    for row in range(rows):
        found += data[U(ends[U(width * (row + 1))] - 1)] == RETURN
    return 0 if found == 0 else 1 if found == rows else MIXED


@ordered
def _read_number(
    data: Any,
    ends: Any,
    row: Any,
    column: Any,
    width: Any,
    shift: Any,
    words: Any,
    numbers: Any,
    whole: Any,
    point: Any,
) -> Any:
    """Write one number of any length, or a code in its place; what the cell is."""
    empty, k = EMPTY_WHOLE if whole else EMPTY_NUMBER, U(row * width + column)
    start, stop = np.int64(ends[k]) + 1, np.int64(ends[k + U(1)])
    if column == width - 1 and stop > start and data[U(stop - 1)] == RETURN:
        stop -= 1
    if stop <= start:
        numbers[row] = empty
        return SEEN_EMPTY
    negative = data[U(start)] == MINUS
    digits = start + negative
    form, value, decimals = short_number(data, digits, stop - digits, point)
    if form == NO_NUMBER:
        form, value, decimals = long_number(data, digits, stop, point)
    fits = form == WHOLE and (value != 0 or not negative)  # -0 is none of the whole numbers
    if not whole:
        fits = form != NO_NUMBER and value <= EXACT and -22 <= decimals <= 22
    bits = U(UNKNOWN)
    if not (whole or fits or form == NO_NUMBER or value == 0):
        bits = nearest(value, -decimals)
    if bits != U(UNKNOWN):
        numbers[row] = np.int64(bits | (U(negative) << U(63)))
    elif not fits:
        code = coded(data, start, stop - start, column, shift, words)
        numbers[row] = empty + 1 + code
        return SEEN_FULL if code < 0 else SEEN_WORD
    elif whole:
        numbers[row] = -value if negative else value
    else:
        size = value / TENS[U(decimals)] if decimals >= 0 else value * TENS[U(-decimals)]
        numbers.view(np.float64)[row] = -size if negative else size
    with_zero = form == WHOLE and not negative and data[U(start)] == ZERO and stop - start > 1
    return SEEN_CODE if with_zero else form  # WHOLE and FRACTION are SEEN_WHOLE and SEEN_FRACTION
