"""exp of many numbers up to 0 at once, beside exact arithmetic and NumPy."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest

from merula.core.exponential import exp_in_place


def exp(values):
    out = np.array(values, dtype=np.float64)
    exp_in_place(out)
    return out


def exact(x):
    with localcontext() as context:
        context.prec = 60
        return Decimal(x).exp()


@pytest.mark.parametrize("largest", [1e-12, 0.3465, 0.3466, 1.0, 40.0, 700.0])
def test_within_one_unit_of_the_last_place(largest):
    x = -np.random.default_rng(0).uniform(0, largest, 3_000)
    units = [abs(Decimal(y) - exact(v)) / Decimal(float(np.spacing(y))) for v, y in zip(x, exp(x), strict=True)]
    assert max(units) <= 1


def test_what_is_too_small_for_all_its_digits_is_rounded_to_the_nearest_or_next():
    x = np.linspace(-746.0, -707.0, 5_000)
    smallest = 5e-324
    assert np.all(np.abs(exp(x) - np.exp(x)) <= np.maximum(smallest, np.exp(x) * 2.3e-16))
    assert exp([-745.0])[0] > 0


@pytest.mark.parametrize("x", [-745.2, -746.0, -1e4, -1e300, -np.inf])
def test_far_below_is_zero(x):
    assert exp([x])[0] == 0.0


def test_zero_is_one_and_what_is_no_number_stays_none():
    assert exp([0.0, -0.0, -5e-324]).tolist() == [1.0, 1.0, 1.0]
    assert np.isnan(exp([np.nan])).all()


def test_any_length_and_shape_gives_the_same_bits():
    x = -np.random.default_rng(1).exponential(20, (37, 7))
    together = exp(x)
    assert np.array_equal(together, [[exp([cell])[0] for cell in row] for row in x])
