"""The floating-point number nearest to a whole number times a power of ten, within compiled loops, where 128 bits tell which it is.

Lemire, Number parsing at a gigabyte per second, Software: Practice and Experience 51 (2021), algorithm 1; why a second product
is never needed beyond that: Mushtak and Lemire, Fast number parsing without fallback, ibid. 53 (2023).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from merula.core.compiled import ordered
from merula.data.table.plain.wide_bytes import high_product, zeros_above

LEAST, MOST = -64, 38  # powers of ten: far from where numbers end, or lose digits
UNKNOWN = 0  # bits of no number that is asked for
U = np.uint64
ALL = U(2**64 - 1)


def _powers_of_five() -> Any:
    """The first 128 bits of 5^q for each power, as two numbers: cut off, or rounded up where 5^q is no whole number (section 5 of the paper)."""
    found = []
    for power in range(LEAST, MOST + 1):
        five = 5 ** abs(power)
        bits = five.bit_length()
        if power >= 0:
            first = five << 128 - bits
        elif power >= -27:
            first = (1 << bits + 127) // five + 1
        else:
            first = (1 << 2 * bits + 128) // five + 1
            first >>= first.bit_length() - 128
        found.append((first >> 64, first & (2**64 - 1)))
    return np.array(found, np.uint64)


FIVES = _powers_of_five()


@ordered
def nearest(digits: Any, power: Any) -> Any:
    """The bits of the number nearest to digits · 10^power, digits from 1 on; `UNKNOWN` where the power is too large or small, or that cannot be told."""
    if power < LEAST or power > MOST:
        return U(UNKNOWN)
    shift = zeros_above(U(digits))
    whole, place = U(digits) << U(shift), U(power - LEAST)
    high, low = high_product(whole, FIVES[place, 0]), whole * FIVES[place, 0]
    if high & U(0x1FF) == U(0x1FF):  # what was cut off might carry
        more = high_product(whole, FIVES[place, 1])
        low += more
        high += U(1) if low < more else U(0)
    if low == ALL and (power < -27 or power > 55):
        return U(UNKNOWN)
    upper = high >> U(63)
    mantissa = high >> (upper + U(9))
    exponent = ((217706 * power) >> 16) + 63 + np.int64(upper) - shift + 1023  # 217706 / 2^16 is just below log2(10)
    if low <= U(1) and -4 <= power <= 23 and mantissa & U(3) == U(1) and mantissa << (upper + U(9)) == high:
        mantissa &= ~U(1)  # halfway between two: the even one
    mantissa = (mantissa + (mantissa & U(1))) >> U(1)
    if mantissa >= U(2**53):
        mantissa, exponent = U(2**52), exponent + 1
    return U(exponent) << U(52) | (mantissa & U(2**52 - 1))
