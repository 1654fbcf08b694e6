"""Numbers from their digits, within compiled loops: exact, or not at all.

Up to eight signs are read as one number of eight bytes; others sign by sign. A number of at most 53 bits is exact, and so
is a power of ten up to the 22nd: one division or multiplication of the two is rounded once, as the nearest number to what
is written is (Clinger, How to read floating point numbers accurately, PLDI 1990, section 3).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from merula.core.compiled import ordered
from merula.data.table.plain.wide_bytes import eight_bytes, zeros_below

NO_NUMBER, WHOLE, FRACTION = 0, 1, 2  # how a cell is written: FRACTION with a point or an exponent
MOST_DIGITS = 18  # which 63 bits hold
MOST_POWER = 1_000
ROOM_FOR_ONE, ROOM_FOR_EIGHT = 10**17, 10**10  # numbers that may have so many digits more
EXACT, TENS = 2**53, 10.0 ** np.arange(23)
U = np.uint64
ZEROS, ONES = U(0x3030303030303030), U(0x0101010101010101)  # eight bytes "0"; eight bytes 1
BELOW_TEN, TOPS = U(0x7676767676767676), U(0x8080808080808080)  # added to a byte from ten on, its top bit is 1
PAIRS, THOUSANDS, SINGLES = U(0x000000FF000000FF), U(0x000F424000000064), U(0x0000271000000001)


@ordered
def short_number(data: Any, start: Any, length: Any, point: Any) -> Any:
    """How a cell of one to eight signs without its minus is written, its digits as one number, and how many of them are decimals."""
    if length < 1 or length > 8:
        return NO_NUMBER, 0, 0
    digits = (eight_bytes(data, start) ^ ZEROS) << U(64 - 8 * length)
    unlike = digits ^ (ONES * U(point ^ np.uint8(48)))
    points = (unlike - ONES) & ~unlike & TOPS  # the lowest of these bits is right
    form, decimals = WHOLE, np.int64(0)
    if points:
        place = U(zeros_below(points) - 7)
        before = (U(1) << place) - U(1)
        digits = (digits & ~(before | (U(255) << place))) | ((digits & before) << U(8))
        form, decimals = FRACTION, 7 - np.int64(place >> U(3))
    if ((digits + BELOW_TEN) | digits) & TOPS or length == form - 1:  # a point alone is none
        return NO_NUMBER, 0, 0
    pairs = digits * U(10) + (digits >> U(8))
    return form, np.int64(((pairs & PAIRS) * THOUSANDS + ((pairs >> U(16)) & PAIRS) * SINGLES) >> U(32)), decimals


@ordered
def digits_from(data: Any, start: Any) -> Any:
    """How many of the eight signs from `start` on are digits up to the first that is none, and these as one number."""
    eight = eight_bytes(data, start) ^ ZEROS
    others = ((eight + BELOW_TEN) | eight) & TOPS  # the lowest of these bits is right
    count = zeros_below(others) >> 3
    if count == 0:
        return count, np.int64(0)
    digits = eight << U(64 - 8 * count)
    pairs = digits * U(10) + (digits >> U(8))
    return count, np.int64(((pairs & PAIRS) * THOUSANDS + ((pairs >> U(16)) & PAIRS) * SINGLES) >> U(32))


@ordered
def long_number(data: Any, start: Any, stop: Any, point: Any) -> Any:
    """The same of a cell of any length, of at most 18 digits behind zeros; decimals less the exponent."""
    value, digits, decimals, form, place = np.int64(0), 0, 0, WHOLE, start
    while place < stop:
        eight = eight_bytes(data, place) ^ ZEROS
        step, digit = 1, np.int64(data[U(place)]) - 48
        if place + 8 <= stop and value < ROOM_FOR_EIGHT and not ((eight + BELOW_TEN) | eight) & TOPS:
            pairs = eight * U(10) + (eight >> U(8))
            step, value = 8, value * 100_000_000
            value += np.int64(((pairs & PAIRS) * THOUSANDS + ((pairs >> U(16)) & PAIRS) * SINGLES) >> U(32))
        elif 0 <= digit <= 9 and value < ROOM_FOR_ONE:
            value = value * 10 + digit
        elif data[U(place)] == point and form == WHOLE:
            form, place = FRACTION, place + 1
            continue
        else:
            break
        place, digits = place + step, digits + step
        decimals += step if form == FRACTION else 0
    if digits == 0 or (form == WHOLE and digits > MOST_DIGITS):
        return NO_NUMBER, value, decimals
    if place == stop:
        return form, value, decimals
    power, place = _exponent(data, place, stop)
    return FRACTION if place == stop else NO_NUMBER, value, decimals - power


@ordered
def _exponent(data: Any, start: Any, stop: Any) -> Any:
    """The exponent that stands here, and where it ends; before the end of the cell where there is none."""
    power, place = np.int64(0), start + 1
    if data[U(start)] | 32 != 101:  # e or E
        return 0, start
    negative = place < stop and data[U(place)] == 45
    if place < stop and (negative or data[U(place)] == 43):
        place += 1
    if place == stop:
        return 0, start
    while place < stop and 48 <= data[U(place)] <= 57 and power < MOST_POWER:
        power = power * 10 + np.int64(data[U(place)]) - 48
        place += 1
    return -power if negative else power, place
