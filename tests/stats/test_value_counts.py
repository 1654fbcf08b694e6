"""Counts of distinct numbers against np.unique, and the laws of addition."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from merula.data.encode import encode, encode_target, infer_schema
from merula.data.table import open_table
from merula.engines import Source, collect, describe
from merula.stats import ValueCounts, Wanted

RNG = np.random.default_rng(29)
N = 500
COLUMNS = {
    "blood pressure": np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(120, 15, N).round()),
    "größe": RNG.normal(170, 9, N),
    "密度": RNG.choice([-0.0, 0.0, 0.5, np.nan], N),
}
NAMES = list(COLUMNS)
TABLE = pd.DataFrame(COLUMNS)
DIAGNOSIS = RNG.choice(["gesund", "krank", "unklar"], N)
WEIGHTS = {"unweighted": None, "whole": RNG.integers(0, 4, N).astype(float), "fractions": RNG.random(N)}
SOURCES = {
    "pandas": lambda: TABLE,
    "polars": lambda: pl.from_pandas(TABLE, nan_to_null=True),
    "pyarrow": lambda: pa.Table.from_pandas(TABLE),
    "one column at a time": lambda: TABLE.assign(clinic="north"),
}


def by_unique(x, y, weights):
    """Distinct values, weight of each class at each, and of each class's missing cells, by NumPy."""
    weights = np.ones(len(x)) if weights is None else weights
    kept = (weights > 0) & ~np.isnan(x)
    values = np.unique(x[kept])
    classes = np.unique(y[weights > 0])
    counts = [[weights[kept & (y == label) & (x == value)].sum() for value in values] for label in classes]
    missing = [weights[np.isnan(x) & (y == label)].sum() for label in classes]
    return values, np.array(counts).reshape(len(classes), len(values)), missing


def assert_counts(statistic, columns, y, weights, exact=True):
    for j, name in enumerate(statistic.columns):
        values, counts, missing = by_unique(np.asarray(columns[name], dtype=float), y, weights)
        assert statistic.values[j].tolist() == values.tolist()
        assert not np.signbit(statistic.values[j][statistic.values[j] == 0]).any()
        tolerance = 0 if exact else 1e-12
        np.testing.assert_allclose(statistic.counts[j], counts, rtol=tolerance, atol=0)
        np.testing.assert_allclose(statistic.missing[:, j], missing, rtol=tolerance, atol=0)


def assert_equal(one, two, exact=True):
    assert one.columns == two.columns
    tolerance = 0 if exact else 1e-12
    for mine, theirs in zip(one.values, two.values, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    for mine, theirs in zip((*one.counts, one.missing), (*two.counts, two.missing), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=tolerance, atol=0)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("source", SOURCES)
def test_values_and_counts(collected, source, weights):
    statistic = collected(ValueCounts.zero(NAMES, 3), SOURCES[source](), DIAGNOSIS, WEIGHTS[weights])
    assert_counts(statistic, COLUMNS, DIAGNOSIS, WEIGHTS[weights], exact=weights != "fractions")


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.int64, np.uint16])
def test_number_matrices(collected, dtype):
    matrix = RNG.integers(0, 9, (N, 2)).astype(dtype) / (1 if np.dtype(dtype).kind in "iu" else dtype(7))
    statistic = collected(ValueCounts.zero(["x0", "x1"], 3), matrix, DIAGNOSIS)
    assert_counts(statistic, {"x0": matrix[:, 0], "x1": matrix[:, 1]}, DIAGNOSIS, None)


def counted(x, y, weights, ends=()):
    table, target = open_table(x[:, None]), encode_target(y, len(y), weights)
    rows = encode(table, infer_schema(table)[0], [0])
    statistic = ValueCounts.zero(["x0"], len(target.classes))
    for start, stop in zip((0, *ends), (*ends, len(x)), strict=True):
        statistic = statistic.update(rows.tile(start, stop), target.tile(start, stop))
    return statistic


NUMBERS = st.floats(allow_infinity=False) | st.sampled_from([-0.0, 0.0, 5e-324, -1.5, 2.0, 1.7e308])
ROWS = st.lists(st.tuples(NUMBERS, st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40).filter(
    lambda rows: any(weight for *_, weight in rows)
)


@settings(deadline=None)
@given(ROWS, st.lists(st.integers(0, 40), max_size=4))
def test_any_numbers_in_any_batches(rows, ends):
    x, y = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    weights = np.array([row[2] for row in rows], dtype=float)
    ends = sorted(min(end, len(rows)) for end in ends)
    assert_counts(counted(x, y, weights, ends), {"x0": x}, y, weights)
    repeated = np.repeat(np.arange(len(rows)), weights.astype(int))
    assert_equal(counted(x, y, weights), counted(x[repeated], y[repeated], None))


# ---------------------------------------------------------------------------------------------------------------------
# The laws of addition


def thirds(collected):
    """Three parts of the table, each with all three classes; the last has values of its own."""
    parts = []
    for start, stop in ((0, 100), (100, 350), (350, N)):
        y = np.concatenate([["gesund", "krank", "unklar"], DIAGNOSIS[start + 3 : stop]])
        parts.append(collected(ValueCounts.zero(NAMES, 3), TABLE[start:stop] * (1 + (start == 350)), y))
    return parts


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("ends", [(200,), (1, 2, 3), (0, 17, 17, 390)])
def test_any_batching_counts_the_same(collected, ends, weights):
    zero = ValueCounts.zero(NAMES, 3)
    whole = collected(zero, TABLE, DIAGNOSIS, WEIGHTS[weights])
    parts = collected(zero, TABLE, DIAGNOSIS, WEIGHTS[weights], cuts=ends)
    assert_equal(parts, whole, exact=weights != "fractions")


def test_addition_is_associative_and_commutative(collected, same_bits):
    one, two, three = thirds(collected)
    assert same_bits((one + two) + three, one + (two + three))
    assert same_bits(one + two, two + one)


def test_zero_is_the_identity(collected, same_bits):
    one, *_ = thirds(collected)
    zero = ValueCounts.zero(NAMES, 3)
    assert same_bits(zero + one, one)
    assert same_bits(one + zero, one)
    assert same_bits(zero + zero, zero)


def test_adding_changes_nothing_that_was_counted_before(collected, same_bits):
    one, two, _ = thirds(collected)
    before = ValueCounts.from_state({key: [*part] for key, part in one.state().items()} | {"missing": one.missing + 0})
    _ = one + two
    assert same_bits(one, before)


def test_the_order_of_rows_does_not_matter(collected, same_bits):
    order = np.random.default_rng(5).permutation(N)
    zero = ValueCounts.zero(NAMES, 3)
    assert same_bits(collected(zero, TABLE, DIAGNOSIS), collected(zero, TABLE.iloc[order], DIAGNOSIS[order]))


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_any_number_of_threads_gives_the_same_bits(same_bits, n_jobs):
    rng = np.random.default_rng(3)
    x, y, weights = rng.normal(size=200_000).round(3), rng.integers(0, 3, 200_000), rng.random(200_000)
    source = Source(x[:, None], y, weights)
    found, alone = (
        collect(source, describe(source)[0], [Wanted(ValueCounts, ["x0"])], threads).blocks[0]
        for threads in (n_jobs, 1)
    )
    assert same_bits(found, alone)
    values, indices = np.unique(x, return_inverse=True)
    assert found.values[0].tolist() == values.tolist()
    for label in range(3):
        expected = np.bincount(indices, weights * (y == label), minlength=len(values))
        np.testing.assert_allclose(found.counts[0][label], expected, rtol=1e-12, atol=0)


def test_classes_move_to_their_places(collected):
    one, *_ = thirds(collected)
    wide = one.with_classes(np.array([4, 0, 2]), 5)
    for label, index in enumerate((4, 0, 2)):
        for mine, theirs in zip(one.counts, wide.counts, strict=True):
            assert theirs[index].tolist() == mine[label].tolist()
        assert wide.missing[index].tolist() == one.missing[label].tolist()
    assert all(part[[1, 3]].sum() == 0 for part in (*wide.counts, wide.missing))


def test_columns_move_to_their_places(collected, same_bits):
    turned = collected(ValueCounts.zero(NAMES, 3), TABLE, DIAGNOSIS).with_columns(NAMES[::-1])
    assert same_bits(turned, collected(ValueCounts.zero(NAMES[::-1], 3), TABLE, DIAGNOSIS))
    assert turned.with_columns(["größe"]).columns == ("größe",)


def test_state_round_trip(collected, through_a_file, same_bits):
    one, two, _ = thirds(collected)
    for statistic in (one, one + two, ValueCounts.zero(["größe"], 2)):
        again = ValueCounts.from_state(through_a_file(statistic.state()))
        assert same_bits(again, statistic)
        assert same_bits(again + statistic, statistic + statistic)


# ---------------------------------------------------------------------------------------------------------------------
# What does not exist, and what must not


def test_values_of_weight_0_do_not_exist(collected):
    frame = pd.DataFrame({"größe": [170.0, 171.0, 170.0, np.inf, np.nan]})
    statistic = collected(ValueCounts.zero(["größe"], 2), frame, [0, 0, 1, 1, 1], [1.0, 0.0, 2.0, 0.0, 0.0])
    assert statistic.values[0].tolist() == [170.0]
    assert statistic.counts[0].tolist() == [[1.0], [2.0]]
    assert statistic.missing.tolist() == [[0.0], [0.0]]


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_infinity_is_an_error_that_names_the_column(collected, value, dtype):
    frame = pd.DataFrame({"alter": [30, 40, 50], "blood pressure": [120.0, value, np.nan]}).astype(dtype)
    message = "column 'blood pressure' contains infinity; replace it by a number, or by NaN if it is unknown"
    with pytest.raises(ValueError, match=message):
        collected(ValueCounts.zero(["alter", "blood pressure"], 2), frame, [0, 1, 1])


def test_a_column_without_any_number(collected):
    frame = pd.DataFrame({"größe": [np.nan, np.nan], "alter": [30.0, 31.0]})
    statistic = collected(ValueCounts.zero(["größe", "alter"], 2), frame, ["krank", "gesund"])
    assert statistic.values[0].shape == (0,)
    assert statistic.counts[0].shape == (2, 0)
    assert statistic.missing.tolist() == [[1.0, 0.0], [1.0, 0.0]]
