"""Numbers kept for comparison: the same whatever the batches, no further off than they say, and safe at any size."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest

from merula.data.encode import encode_rows, encode_target, infer_schema
from merula.data.table import open_table
from merula.stats.rounded import EXACT, MOST, RoundedCounts, rounded_down

COLUMNS = ("x0", "x1", "x2")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.standard_cauchy(9_000), rng.normal(1e9, 1, 9_000), rng.integers(0, 40, 9_000)])
    rows[::7, 0] = np.nan
    return rows, rng.integers(0, 2, 9_000), rng.integers(1, 4, 9_000).astype(float)


def counted(rows, classes, weights=None):
    opened = open_table(rows)
    schema = infer_schema(opened)[0]
    target = encode_target(["ill" if one else "well" for one in classes], len(rows), weights)
    return RoundedCounts.zero(COLUMNS, 2).update(encode_rows(opened, schema, False, "rows"), target)


def assert_same(one, other):
    assert one.powers == other.powers
    for mine, theirs in zip((*one.values, *one.counts, one.missing), (*other.values, *other.counts, other.missing), strict=True):  # fmt: skip
        np.testing.assert_array_equal(mine, theirs)


def test_any_batches_in_any_order_give_the_same_numbers(table):
    rows, classes, _ = table
    whole = counted(rows, classes)
    order = np.random.default_rng(1).permutation(len(rows))
    parts = [counted(rows[some], classes[some]) for some in np.array_split(order, 7)]
    assert_same(reduce(RoundedCounts.__add__, parts), whole)
    assert_same(parts[0] + reduce(RoundedCounts.__add__, parts[:0:-1]), whole)


def test_quantiles_are_no_further_off_than_the_step(table):
    rows, classes, _ = table
    found = counted(rows, classes)
    for j, name in enumerate(COLUMNS):
        assert len(found.values[j]) <= MOST
        held = np.repeat(found.values[j], found.counts[j].sum(axis=0).astype(int))
        off = np.sort(rows[~np.isnan(rows[:, j]), j]) - held
        assert off.min() >= 0
        assert off.max() <= found.step(name)
    assert found.powers[2] == EXACT
    assert found.step("x1") < 0.01  # of numbers near a thousand million that differ by 1


def test_a_weight_is_repeats_and_a_factor_scales(table):
    rows, classes, weights = table
    weighted = counted(rows, classes, weights)
    often = weights.astype(int)
    assert_same(weighted, counted(np.repeat(rows, often, axis=0), np.repeat(classes, often)))
    np.testing.assert_array_equal(weighted.scaled(0.5).counts[0], weighted.counts[0] / 2)


def test_what_is_left_without_a_part(table):
    rows, classes, _ = table
    whole, part = counted(rows, classes), counted(rows[:4_000], classes[:4_000])
    left = whole - part
    assert left.missing.sum() == np.isnan(rows[4_000:]).sum()
    assert [one.sum() for one in left.counts] == [(~np.isnan(column)).sum() for column in rows[4_000:].T]


def test_plain_data_and_forged_files(table):
    found = counted(*table[:2])
    again = RoundedCounts.from_state(found.state())
    assert_same(again, found)
    assert again.fits(2)
    assert not again.fits(3)
    state = found.state()
    assert not RoundedCounts.from_state({**state, "powers": [5_000, 0, 0]}).fits(2)
    assert not RoundedCounts.from_state({**state, "values": [one + 1e-7 for one in found.values]}).fits(2)


@pytest.mark.parametrize("power", [EXACT, -1074, -3, 0, 40, 1020, 1024])
def test_rounding_down_is_safe_at_any_size(power):
    values = np.array([-1.7e308, -5e-324, 0.0, 5e-324, 0.3, 1e16, 1.7e308])
    found = rounded_down(values, power)
    assert np.isfinite(found).all()
    assert (np.diff(found) >= 0).all()
    np.testing.assert_array_equal(rounded_down(found, power), found)
