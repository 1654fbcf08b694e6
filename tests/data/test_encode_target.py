"""Targets as class codes, and their weights, against NumPy's `unique`."""

import tracemalloc
from datetime import date, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from merula.data.encode import encode_target

RNG = np.random.default_rng(5)
TARGETS = {
    "bool": RNG.random(200) < 0.3,
    "int8": RNG.integers(-128, 128, 400).astype(np.int8),
    "uint8": RNG.integers(0, 256, 2_000).astype(np.uint8),
    "int16": RNG.integers(-300, 300, 500).astype(np.int16),
    "int64": RNG.integers(-5, 5, 100),
    "wide int64": np.array([-(2**63), 2**63 - 1, 0, 0]),
    "int64 at its end": np.array([-(2**63), -(2**63) + 2, -(2**63)]),
    "uint64": np.array([2**64 - 1, 0, 2**63, 5], dtype=np.uint64),
    "uint64 narrow": np.array([2**64 - 1, 2**64 - 3], dtype=np.uint64),
    "gaps": np.array([0, 65_535, 3]),
    "gaps beyond": np.array([0, 65_536, 3]),
    "many": RNG.permutation(70_000),
    "strided": RNG.integers(0, 9, 100)[::3],
    "reversed": RNG.integers(0, 9, 100)[::-1],
    "read-only": np.broadcast_to(np.array([3, 1]), (2,)),
    "big-endian int": np.array([3, 1, 3, -2], dtype=">i4"),
    "big-endian float": np.array([3, 1, 3, -2], dtype=">f8"),
    "float": RNG.integers(-3, 3, 50).astype(float),
    "float16": RNG.integers(-3, 3, 50).astype(np.float16),
    "words": np.array(["weiß", "乌黑", "braun", "乌黑"]),
    "big-endian words": np.array(["weiß", "braun"], dtype=">U5"),
    "bytes": np.array([b"weiss", b"braun", b"weiss"]),
    "objects": np.array(["weiß", "乌黑", "braun", "乌黑"], dtype=object),
    "object ints": np.array([10, 9, 10, -1], dtype=object),
    "object bools": np.array([True, False, True], dtype=object),
    "dates": np.array(["2020-05-01", "1999-01-01", "2020-05-01"], dtype="M8[D]"),
    "date objects": np.array([date(2020, 5, 1), date(1999, 1, 1)], dtype=object),
    "durations": np.array([10, 9, 10], dtype="m8[D]"),
    "duration objects": np.array([timedelta(10), timedelta(9)], dtype=object),
    "decimals": np.array([Decimal(10), Decimal(9), Decimal("9.0")], dtype=object),
}


@pytest.mark.parametrize("name", TARGETS)
def test_class_codes_are_numpys(name):
    y = TARGETS[name]
    classes, codes = np.unique(y, return_inverse=True)
    target = encode_target(y, len(y))
    assert target.classes.tolist() == classes.tolist()
    assert target.classes.dtype.kind == y.dtype.kind
    assert target.codes.tolist() == codes.tolist()
    assert target.codes.dtype.itemsize <= np.min_scalar_type(len(classes) - 1).itemsize


BIRD_CLASSES = ["drossel", "amsel", "drossel", "zaunkönig"]
LIBRARY_TARGETS = {
    "list": list,
    "tuple": tuple,
    "pandas": pd.Series,
    "pandas string": lambda y: pd.Series(y, dtype="string"),
    "pandas arrow": lambda y: pd.Series(y, dtype=pd.ArrowDtype(pa.string())),
    "pandas categorical": lambda y: pd.Series(pd.Categorical(y, ["zaunkönig", "nie gesehen", "drossel", "amsel"])),
    "bare categorical": lambda y: pd.Categorical(y, ordered=True),
    "pandas shuffled index": lambda y: pd.Series(y, index=[3, 1, 0, 2]),
    "polars": pl.Series,
    "polars categorical": lambda y: pl.Series(y, dtype=pl.Categorical),
    "polars enum": lambda y: pl.Series(y, dtype=pl.Enum(["zaunkönig", "drossel", "amsel"])),
    "pyarrow": pa.array,
    "pyarrow chunked": lambda y: pa.chunked_array([y[:1], y[1:]]),
    "pyarrow dictionaries": lambda y: pa.chunked_array(
        [pa.array(y[:1]).dictionary_encode(), pa.array(y[1:]).dictionary_encode()]
    ),
}


@pytest.mark.parametrize("name", LIBRARY_TARGETS)
def test_targets_of_any_library(name):
    target = encode_target(LIBRARY_TARGETS[name](BIRD_CLASSES), 4)
    assert target.classes.tolist() == ["amsel", "drossel", "zaunkönig"]
    assert target.codes.tolist() == [1, 0, 1, 2]
    assert target.weights is None


@pytest.mark.parametrize(
    "make",
    [
        pd.Series,
        pl.Series,
        pa.array,
        lambda y: pd.Series(y, dtype="boolean"),
        lambda y: pd.Series(y, dtype="bool[pyarrow]"),
    ],
)
def test_boolean_targets_stay_boolean(make):
    target = encode_target(make([True, False, True]), 3)
    assert target.classes.tolist() == [False, True]
    assert target.classes.dtype == bool
    assert target.codes.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    "make",
    [
        lambda y: pd.Series(y, dtype="Int64"),
        lambda y: pd.Series(y, dtype="int64[pyarrow]"),
        pl.Series,
        pa.array,
        pd.Categorical,
    ],
)
def test_whole_number_targets_of_any_library(make):
    target = encode_target(make([7, -2, 7]), 3)
    assert target.classes.tolist() == [-2, 7]
    assert target.codes.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    "y",
    [
        np.array([1.0, np.nan]),
        ["amsel", None],
        np.array(["amsel", np.nan], dtype=object),
        pd.Series(["amsel", None]),
        pd.Series([1, None], dtype="Int64"),
        pd.Series(pd.Categorical(["amsel", None])),
        pl.Series(["amsel", None]),
        pl.Series([1, None]),
        pa.array(["amsel", None]),
        np.array(["2020-05-01", "NaT"], dtype="M8[D]"),
        np.ma.array([1, 2], mask=[False, True]),
        np.ma.array(["amsel", "drossel"], mask=[False, True]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_missing_targets_are_an_error_that_counts_them(y):
    with pytest.raises(ValueError, match="1 of 2 targets are missing"):
        encode_target(y, 2)


@pytest.mark.parametrize(
    ("y", "error", "words"),
    [
        (None, ValueError, "target y is None"),
        ([0.5, 1.5], ValueError, "continuous"),
        ([np.inf, 1.0], ValueError, "infinity"),
        ([1j, 2], ValueError, "Complex"),
        ([[1, 2], [3, 4]], ValueError, r"shape \(2, 2\)"),
        (["amsel"], ValueError, "X has 2 rows, y has 1"),
        (np.array(["amsel", 1], dtype=object), ValueError, "mixes labels of different types"),
        (np.array([True, 2], dtype=object), ValueError, "mixes labels of different types"),
    ],
)
def test_what_is_no_target(y, error, words):
    with pytest.raises(error, match=words):
        encode_target(y, 2)


def test_whole_numbers_of_numpy_and_python_are_one_type():
    y = np.empty(3, dtype=object)
    y[:] = [np.int64(3), 1, np.int32(3)]
    target = encode_target(y, 3)
    assert target.classes.tolist() == [1, 3]
    assert target.codes.tolist() == [1, 0, 1]


def test_a_target_of_one_column_is_read_with_a_warning():
    from sklearn.exceptions import DataConversionWarning

    with pytest.warns(DataConversionWarning, match="column-vector"):
        assert encode_target(np.array([["drossel"], ["amsel"]]), 2).codes.tolist() == [1, 0]


# ---------------------------------------------------------------------------------------------------------------------
# Weights


@pytest.mark.parametrize(
    "weights",
    [
        [1, 2.5, 0.5, 3],
        np.array([1, 2.5, 0.5, 3], dtype=np.float32),
        np.array([1, 2.5, 0.5, 3], dtype=">f8"),
        pd.Series([1, 2.5, 0.5, 3]),
        pl.Series([1.0, 2.5, 0.5, 3.0]),
        pa.array([1, 2.5, 0.5, 3]),
    ],
    ids=lambda w: type(w).__name__,
)
def test_weights_are_float64(weights):
    target = encode_target(BIRD_CLASSES, 4, weights)
    assert target.weights.dtype == np.float64
    assert target.weights.tolist() == [1, 2.5, 0.5, 3]


@pytest.mark.parametrize("weight", [2, 0.5, np.float64(3)])
def test_one_weight_is_everyones(weight):
    assert encode_target(BIRD_CLASSES, 4, weight).weights.tolist() == [weight] * 4


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1, 2], r"sample_weight.shape == \(2,\), expected \(4,\)"),
        (np.ones((4, 1)), "1D array"),
        ([1, np.nan, 1, 1], "NaN or infinite"),
        ([1, np.inf, 1, 1], "NaN or infinite"),
        ([1, 1, -0.5, 1], r"negative value \(-0.5, row 2\)"),
        ([0, 0, 0, 0], "no rows are left"),
        (0, "no rows are left"),
        (-1, "negative"),
    ],
)
def test_weights_that_are_none(weights, words):
    with pytest.raises(ValueError, match=words):
        encode_target(BIRD_CLASSES, 4, weights)


@pytest.mark.parametrize(
    "make",
    [list, pd.Series, lambda y: np.array([len(word) for word in y]), lambda y: np.array(y, dtype=object)],
    ids=["list", "pandas", "numbers", "objects"],
)
def test_a_class_seen_at_weight_zero_only_does_not_exist(make):
    y = make(["amsel", "drossel", "amsel", "zaunkönig", "drossel"])
    weights = [0.0, 2.0, 0.0, 1.0, 0.0]
    target, kept = encode_target(y, 5, weights), np.asarray(y)[[1, 3]]
    classes, codes = np.unique(kept, return_inverse=True)
    assert target.classes.tolist() == classes.tolist()
    assert target.codes[[1, 3]].tolist() == codes.tolist()
    assert (target.codes < len(classes)).all()


def test_tiles_of_a_target():
    target = encode_target(BIRD_CLASSES, 4, [1, 2, 3, 4]).tile(1, 3)
    assert target.codes.tolist() == [0, 1]
    assert target.weights.tolist() == [2, 3]
    assert target.classes.tolist() == ["amsel", "drossel", "zaunkönig"]


def test_one_very_long_label_does_not_make_every_row_as_wide():
    labels = ["wren"] * 500 + ["x" * 1_000_000]
    tracemalloc.start()
    try:
        target = encode_target(labels, len(labels))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert target.classes.tolist() == ["wren", "x" * 1_000_000]
    assert target.codes.tolist() == [0] * 500 + [1]
    assert peak < 50_000_000
