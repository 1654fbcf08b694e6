"""Probabilities written by a compiled loop: the digits that Python writes, which read back as the very number."""

import json

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from merula.data.table.plain.shortest import rows_of_shares

SHARES = st.floats(0, 1) | st.floats(1e-307, 1e-290) | st.integers(0, 10**6).map(lambda n: n / 10**6)


def digits(text):
    """The digits of a number and their power of ten, however it is written."""
    number, _, power = text.partition("e")
    whole, _, decimals = number.partition(".")
    shown = (whole + decimals).lstrip("0").rstrip("0")
    places = len((whole + decimals).rstrip("0")) - len(whole)
    return shown, int(power or 0) - places if shown else 0


def check(numbers):
    """Every number is written with the digits of Python's own shortest form, and reads back to the bit."""
    text = rows_of_shares(np.array(numbers).reshape(-1, 1)).decode()
    written = text[1:-1].split("],[")
    assert np.array([json.loads(one) for one in written]).tobytes() == np.array(numbers, np.float64).tobytes()
    assert [digits(one) for one in written] == [digits(repr(float(one))) for one in numbers]
    assert all(len(one) <= 25 for one in written)


@settings(deadline=None)  # the loop may be compiled first
@given(st.lists(SHARES.filter(lambda share: share == 0 or share > 1e-307), min_size=1, max_size=20))
def test_the_digits_are_those_that_python_writes(shares):
    check(np.abs(shares))


def test_so_are_those_of_many_numbers_and_of_those_at_the_edges():
    rng = np.random.default_rng(3)
    powers = np.concatenate([2.0 ** -np.arange(1, 1019), 10.0 ** -np.arange(1, 307)])
    check(np.concatenate([rng.random(20_000), 10 ** -(300 * rng.random(20_000)), rng.random(5_000).round(3)]))
    check(np.concatenate([powers, np.nextafter(powers, 0), np.nextafter(powers, 1)]))


def test_rows_are_lists_side_by_side():
    shares = np.random.default_rng(5).dirichlet([1, 1, 0.01], 500)
    assert (np.array(json.loads(b"[" + rows_of_shares(shares) + b"]")) == shares).all()
    assert (np.array(json.loads(b"[" + rows_of_shares(np.asfortranarray(shares)) + b"]")) == shares).all()


def test_many_are_written_as_few_are():
    """Whether a service writes them by the loop or not, a batch and its parts are the same text."""
    rng = np.random.default_rng(8)
    shares = np.concatenate([rng.random(5_000), 10 ** -(7 * rng.random(5_000)), 10 ** -(300 * rng.random(5_000))])
    edges = [1e-3, 1e-4, 9.999e-5, 1.5e-5, 1e-5, 9.999e-6, 1e-6, 1e-9, 1e-10, 1e-100, 0.0, 1.0]
    shares = np.append(shares, edges).reshape(-1, 2)
    assert rows_of_shares(shares) == msgspec.json.encode(shares.tolist())[1:-1]


@pytest.mark.parametrize("share", [1.0000000000000002, -0.5, float("nan"), float("inf"), 5e-324, 1e-308])
def test_what_is_no_usual_probability_is_left_to_others(share):
    assert rows_of_shares(np.array([[0.5, share]])) is None


def test_no_rows_are_nothing():
    assert rows_of_shares(np.empty((0, 3))) == b""
