"""Numbers of many digits, rounded by 128 bits, are those that Python reads."""

from __future__ import annotations

import random
import struct

from hypothesis import given, settings, strategies as st

from merula.data.table.plain.nearest import LEAST, MOST, UNKNOWN, nearest

MANY = settings(deadline=None, max_examples=2_000)


def bits(value: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", value))[0])


@MANY
@given(digits=st.integers(1, 10**18 - 1), power=st.integers(LEAST - 3, MOST + 3))
def test_it_is_the_number_that_python_reads(digits: int, power: int) -> None:
    found = nearest(digits, power)
    assert found in (bits(float(f"{digits}e{power}")), UNKNOWN)
    assert found != UNKNOWN or not LEAST <= power <= MOST


@MANY
@given(value=st.floats(1e-40, 1e40))
def test_what_python_writes_is_read_back(value: float) -> None:
    digits, _, power = f"{value:.16e}".partition("e")
    assert nearest(int(digits.replace(".", "")), int(power) - 16) == bits(value)


def test_halfway_between_two_numbers_it_is_the_even_one() -> None:
    lot = random.Random(0)
    for _ in range(2_000):
        half = (lot.randrange(2**52, 2**53) << 1) + 1  # of 54 bits, the last of which is lost
        for power in range(-4, 3):
            digits, rest = divmod(half * 10 ** max(-power, 0), 10 ** max(power, 0))
            if not rest and digits < 10**18:
                assert nearest(digits, power) == bits(float(half))
            for beside in (digits - 1, digits + 1):
                if beside < 10**18:
                    assert nearest(beside, power) == bits(float(f"{beside}e{power}"))


def test_powers_of_two_and_their_neighbours() -> None:
    for exponent in range(60):
        for digits in (2**exponent - 1, 2**exponent, 2**exponent + 1):
            for power in range(LEAST, MOST + 1):
                if digits:
                    assert nearest(digits, power) == bits(float(f"{digits}e{power}"))
