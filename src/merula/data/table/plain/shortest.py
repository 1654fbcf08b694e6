"""Probabilities as JSON writes them: the fewest digits that read back as the very same number, written by a compiled loop.

The digits are those of R. Giulietti, The Schubfach way to render doubles (2020), section 9.10: three products with a power of ten of
126 bits tell which of the neighbouring decimals lie within the interval that rounds to the number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core.compiled import ordered
from merula.data.table.plain.wide_bytes import high_product, put_eight

FAILED = -1
MOST_SIGNS = 26  # of one number, with what parts it from the next
ROOM = 32  # bytes that are written at once, and counted later
LEAST, MOST = -324, 0  # exponents of ten that numbers of at most 1 have
DIGITS = 17
U = np.uint64
LOW63 = U(2**63 - 1)
TENS = U(10) ** np.arange(18, dtype=np.uint64)
HUNDRED_MILLIONS = U(10**8)
MOST_ZEROS = -5  # the power of ten up to which a number has an exponent, as where few numbers are written (by msgspec)
OPEN, CLOSE, COMMA, ZERO, POINT, MINUS, EXPONENT = 91, 93, 44, 48, 46, 45, 101


def _powers() -> NDArray[np.uint64]:
    """The upper and the lower 63 bits of 10⁻ᵏ, rounded up, for every exponent k from LEAST on."""
    found = []
    for k in range(LEAST, MOST + 1):
        shift = 125 - _log2_of_ten(-k)
        power = ((10**-k << shift) if shift >= 0 else (10**-k >> -shift)) + 1
        found.append([power >> 63, power & (2**63 - 1)])
    return np.array(found, np.uint64)


def _log2_of_ten(exponent: int) -> int:
    """⌊log₂ 10ᵉ⌋, for exponents that numbers have."""
    return exponent * 913124641741 >> 38


POWERS = _powers()


def rows_of_shares(shares: NDArray[np.float64]) -> bytes | None:
    """The rows of a matrix as JSON, without the outer brackets; None where a number is none from 0 to 1, or smaller than 1e-307.

    Examples
    --------
    >>> rows_of_shares(np.array([[0.1, 0.9], [1.0, 4.5e-17]]))
    b'[0.1,0.9],[1.0,4.5e-17]'
    """
    text = np.empty(shares.size * MOST_SIGNS + 3 * len(shares) + ROOM, np.uint8)
    shares = np.ascontiguousarray(shares)
    end = _written(shares, shares.view(np.uint64), text)
    return None if end == FAILED else text[: max(end - 1, 0)].tobytes()


@ordered
def _written(shares: Any, bits: Any, text: Any) -> Any:
    """Write the rows, each with a comma behind it, and tell where they end."""
    place = 0
    for row in range(shares.shape[0]):
        text[place] = OPEN
        place += 1
        for column in range(shares.shape[1]):
            place = _number(shares[row, column], bits[row, column], text, place)
            if place == FAILED:
                return FAILED
            text[place] = COMMA
            place += 1
        text[place - 1] = CLOSE
        text[place] = COMMA
        place += 1
    return place


@ordered
def _number(share: Any, bits: Any, text: Any, place: Any) -> Any:
    """Write one number and tell where it ends; `FAILED` where it is not between 0 and 1."""
    if share == 0 or share == 1:
        text[place], text[place + 1], text[place + 2] = ZERO + int(share), POINT, ZERO
        return place + 3
    if not 1e-307 < share < 1:
        return FAILED
    digits, power = _decimal(bits)
    count = DIGITS
    while digits < TENS[U(count - 1)]:
        count -= 1
    before = count + power  # the number is 0.digits × 10 to this power
    whole = digits * TENS[U(DIGITS - count)]
    while digits % U(10) == U(0):
        digits, count = digits // U(10), count - 1
    text[place], text[place + 1] = ZERO, POINT
    if before > MOST_ZEROS:
        place += 2
        for _ in range(-before):
            text[place] = ZERO
            place += 1
        _put_digits(whole, text, place)
        return place + count
    _put_digits(whole, text, place + 1)
    text[place] = text[place + 1]
    text[place + 1] = POINT
    place += 1 + count if count > 1 else 1
    return _put_exponent(1 - before, text, place)


@ordered
def _put_digits(digits: Any, text: Any, place: Any) -> Any:
    """Write a number of 17 digits."""
    first, last = digits // HUNDRED_MILLIONS, digits % HUNDRED_MILLIONS
    text[place] = U(ZERO) + first // HUNDRED_MILLIONS
    put_eight(text, place + 1, _eight_digits(first % HUNDRED_MILLIONS))
    put_eight(text, place + 9, _eight_digits(last))


@ordered
def _eight_digits(number: Any) -> Any:
    """Eight digits as eight bytes, of which the first is the lowest: halves, their halves, and halves of these at once."""
    fours = number // U(10_000) | (number % U(10_000)) << U(32)
    pairs = ((fours * U(10_486)) >> U(20)) & U(0x0000007F0000007F)
    pairs |= (fours - U(100) * pairs) << U(16)
    tens = ((pairs * U(103)) >> U(10)) & U(0x000F000F000F000F)
    return (tens | (pairs - U(10) * tens) << U(8)) + U(0x3030303030303030)


@ordered
def _put_exponent(size: Any, text: Any, place: Any) -> Any:
    """Write a negative exponent of this size and tell where it ends."""
    text[place], text[place + 1] = EXPONENT, MINUS
    place += 2
    if size >= 100:
        text[place] = ZERO + size // 100
        place += 1
    if size >= 10:
        text[place] = ZERO + size // 10 % 10
        place += 1
    text[place] = ZERO + size % 10
    return place + 1


@ordered
def _decimal(bits: Any) -> Any:
    """The shortest decimal that rounds to a normal number: its digits and the power of ten they are multiplied by."""
    fraction, power = bits & U(2**52 - 1), np.int64(bits >> U(52)) - 1075
    whole = fraction | U(2**52)
    odd, middle = whole & U(1), whole << U(2)
    if fraction != 0:
        below, k = middle - U(2), (power * 661971961083) >> 41
    else:  # the next number below is half as far
        below, k = middle - U(1), (power * 661971961083 - 274743187321) >> 41
    shift = U(power + ((-k * 913124641741) >> 38) + 2)
    upper, lower = POWERS[U(k - LEAST), 0], POWERS[U(k - LEAST), 1]
    here = _product(upper, lower, middle << shift)
    low = _product(upper, lower, below << shift) + odd
    high = _product(upper, lower, (middle + U(2)) << shift) - odd
    digits = here >> U(2)
    ten = digits // U(10) * U(10)
    if (low <= ten << U(2)) != ((ten + U(10)) << U(2) <= high):
        return (ten if low <= ten << U(2) else ten + U(10)), k
    if (low <= digits << U(2)) != ((digits + U(1)) << U(2) <= high):
        return (digits if low <= digits << U(2) else digits + U(1)), k
    twice = (digits << U(2)) + U(2)
    nearer = here < twice or (here == twice and digits & U(1) == U(0))
    return (digits if nearer else digits + U(1)), k


@ordered
def _product(upper: Any, lower: Any, number: Any) -> Any:
    """The upper part of a product with a power of ten of 126 bits, its last bit 1 where the rest is not 0."""
    rest = ((upper * number) >> U(1)) + high_product(lower, number)
    whole = high_product(upper, number) + (rest >> U(63))
    return whole | ((rest & LOW63) + LOW63) >> U(63)
