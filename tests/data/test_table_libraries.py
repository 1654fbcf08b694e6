"""Tables of one library at a time: NumPy arrays, Python objects, odd dtypes, and what is not copied."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import merula as mr
from merula.data.table import build_frame, codes_of_labels, codes_of_numbers, narrowest, open_table, plain_label

SHANGHAI = timezone(timedelta(hours=8))


# ---------------------------------------------------------------------------------------------------------------------
# NumPy arrays


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "g", ">f4", ">f8", "i1", "u1", "i4", "u8", ">i4", ">u8"])
def test_numeric_matrices(dtype):
    matrix = np.array([[1, 2], [3, 100]]).astype(dtype)
    table = open_table(matrix)
    assert table.kind(0) == ("numeric", None)
    assert table.numbers(1).dtype.isnative
    assert table.numbers(1).dtype.kind in "iu" or table.numbers(1).dtype in (np.float32, np.float64)
    assert table.numbers(1).tolist() == [2, 100]
    codes, labels = table.codes(1)
    assert [labels[code] for code in codes.tolist()] == [2, 100]


def test_boolean_matrices_are_categorical_and_read_in_place():
    matrix = np.array([[True, False], [False, False], [True, True]])
    table = open_table(matrix)
    assert table.kind(1) == ("categorical", None)
    codes, labels = table.codes(0)
    assert [labels[code] for code in codes.tolist()] == [True, False, True]
    assert np.shares_memory(codes, matrix)


@pytest.mark.parametrize("dtype", ["U", ">U5", object])
def test_matrices_of_words(dtype):
    table = open_table(np.array([["klein", "乌黑"], ["groß", "nan"]]).astype(dtype))
    assert table.kind(1) == ("categorical", None)
    codes, labels = table.codes(1)
    assert [labels[code] for code in codes.tolist()] == ["乌黑", "nan"]
    assert {type(label) for label in labels} == {str}


@pytest.mark.parametrize("dtype", ["M8[D]", "M8[s]", ">M8[ms]", "M8[ns]"])
def test_matrices_of_dates(dtype):
    table = open_table(np.array([["2020-02-29"], ["NaT"], ["1950-01-01"]], dtype=dtype))
    kind, unit = table.kind(0)
    assert kind == "datetime"
    days = table.numbers(0, unit) / (np.timedelta64(1, "D") / np.timedelta64(1, np.datetime_data(dtype)[0]))
    np.testing.assert_array_equal(
        days, [(date(2020, 2, 29) - date(1970, 1, 1)).days, np.nan, (date(1950, 1, 1) - date(1970, 1, 1)).days]
    )
    assert table.codes(0)[0].tolist() == [0, -1, 1]


def test_matrices_of_durations():
    table = open_table(np.array([[90], ["NaT"]], dtype="m8[m]"))
    kind, unit = table.kind(0)
    assert kind == "datetime"
    np.testing.assert_array_equal(table.numbers(0, unit), [90.0, np.nan])


def test_dates_are_read_in_the_unit_a_model_was_fitted_on():
    table = open_table(np.array([["2020-02-29T12:00"]], dtype="M8[m]"))
    seconds = (datetime(2020, 2, 29, 12) - datetime(1970, 1, 1)) // timedelta(seconds=1)
    assert table.numbers(0, "datetime64[s]").tolist() == [seconds]
    assert open_table(pd.DataFrame({"admitted": pd.to_datetime(["2020-02-29T12:00"])})).numbers(
        0, "datetime64[s]"
    ).tolist() == [seconds]


def test_a_date_beyond_the_models_unit_does_not_wrap_around():
    table = open_table(pl.DataFrame({"discharged": [datetime(9999, 12, 31)]}))  # how databases write "not yet"
    nanoseconds = (datetime(9999, 12, 31) - datetime(1970, 1, 1)) // timedelta(microseconds=1) * 1000
    np.testing.assert_allclose(table.numbers(0, "datetime64[ns]"), [float(nanoseconds)], rtol=1e-12)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"visited": pd.to_datetime([None, None])}),
        pl.DataFrame({"visited": pl.Series([None, None], dtype=pl.Datetime)}),
        pa.table({"visited": pa.nulls(2, pa.timestamp("us"))}),
    ],
    ids=["pandas", "polars", "pyarrow"],
)
def test_a_time_column_with_nothing_in_it(frame):
    kind, unit = open_table(frame).kind(0)
    assert kind == "datetime"
    assert np.isnan(open_table(frame).numbers(0, unit)).all()


def test_durations_are_not_dates():
    with pytest.raises(ValueError, match=r"timedelta64\[s\].*fitted on datetime64\[s\]"):
        open_table(np.array([[90]], dtype="m8[s]")).numbers(0, "datetime64[s]")


MASKED = {
    "float": (np.array([[1.5], [2.5]]), "numeric"),
    "int": (np.array([[1], [2]]), "numeric"),
    "bool": (np.array([[True], [False]]), "categorical"),
    "words": (np.array([["klein"], ["groß"]]), "categorical"),
    "objects": (np.array([["klein"], [3]], dtype=object), "categorical"),
    "dates": (np.array([["2020-02-29"], ["2020-03-01"]], dtype="M8[D]"), "datetime"),
}


@pytest.mark.parametrize("name", MASKED)
def test_masked_cells_are_missing_and_the_kind_stays(name):
    values, kind = MASKED[name]
    table = open_table(np.ma.array(values, mask=[[False], [True]]))
    assert table.kind(0)[0] == kind
    codes, labels = table.codes(0)
    assert codes.tolist()[1] == -1
    assert labels[codes[0]] == plain_label(values[0, 0])


@pytest.mark.parametrize("name", ["float", "int"])
def test_masked_numbers_are_nan(name):
    values, _ = MASKED[name]
    np.testing.assert_array_equal(
        open_table(np.ma.array(values, mask=[[False], [True]])).numbers(0), [values[0, 0], np.nan]
    )


@pytest.mark.parametrize(
    ("array", "error", "words"),
    [
        (np.zeros((2, 2), dtype=[("age", float)]), TypeError, "cannot be read"),
        (np.zeros(3, dtype=[("age", float)]), ValueError, "Expected 2D array, got 1D"),
        (np.zeros(3), ValueError, "Reshape your data"),
        (np.zeros((2, 2, 2)), ValueError, "Expected 2D array, got 3D"),
        (np.zeros((2, 2), dtype=complex), ValueError, "Complex data not supported"),
        (np.zeros((2, 2)).view(np.matrix), TypeError, "matrix"),
        (np.zeros((0, 3)), ValueError, r"0 sample\(s\) .*shape=\(0, 3\)"),
        (np.zeros((3, 0)), ValueError, r"0 feature\(s\) .*shape=\(3, 0\)"),
        (pd.Series([1.0, 2.0]), ValueError, "Expected 2D array"),
        ("birds.csv", ValueError, r"read the file first: merula.read_table\('birds.csv'\)"),
        (Path("birds.csv"), ValueError, "read the file first"),
        (None, ValueError, "X is None"),
        ({"wing": 4.9, "colour": "red"}, ValueError, "is a dict .* make it one: pandas.DataFrame"),
        ([{"wing": 4.9, "colour": "red"}], ValueError, "make it one: pandas.DataFrame"),
        ([[4.9, "red"], [5.1]], ValueError, "row 1 has 1 cells, row 0 has 2"),
        (pl.LazyFrame({"wing": [4.9]}), TypeError, "collect it first"),
    ],
)
def test_arrays_that_are_no_table(array, error, words):
    with pytest.raises(error, match=words):
        open_table(array)


@pytest.mark.parametrize("ask", ["kind", "numbers", "codes", "integers"])
def test_a_sparse_matrix_is_one_text_column_and_nothing_else(ask):
    table = open_table(sparse.coo_array(np.eye(2)))
    assert (table.rows, table.named) == (2, False)
    with pytest.raises(TypeError, match="Sparse data was passed.*kinds='text'"):
        getattr(table, ask)(0)


def test_lists_of_rows_with_words_keep_their_numbers():
    table = open_table([["klein", 1.5], ["groß", 2], ["klein", None]])
    assert [table.kind(position) for position in (0, 1)] == [("categorical", None), ("numeric", None)]
    np.testing.assert_array_equal(table.numbers(1), [1.5, 2.0, np.nan])
    assert table.codes(0)[1] == ["klein", "groß"]


def test_lists_of_numbers_are_a_matrix():
    table = open_table([[1, 2.5], [3, 4.5]])
    assert table.matrix.dtype == np.float64
    assert not table.named


# ---------------------------------------------------------------------------------------------------------------------
# Columns of Python objects


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([1, 2.5, None], "numeric"),
        ([Fraction(1, 3), Decimal("2.5"), np.float32(1)], "numeric"),
        ([1, "two"], "categorical"),
        ([True, False, None], "categorical"),
        ([np.True_, False], "categorical"),
        (["1", "2"], "categorical"),
        ([date(2020, 1, 1), datetime(2020, 1, 1, 12)], "datetime"),
        ([timedelta(1), None], "datetime"),
        ([np.datetime64("2020-01-01"), pd.NaT], "datetime"),
        ([np.timedelta64(1, "D"), np.timedelta64(1, "h")], "datetime"),
        ([None, None], "empty"),
    ],
)
def test_kind_of_objects(cells, kind):
    column = pd.Series(cells, dtype=object)
    assert open_table(column.to_frame("größe")).kind(0)[0] == kind
    assert open_table(column.to_numpy(dtype=object)[:, None]).kind(0)[0] == kind


def test_objects_in_time_zones_are_read_as_instants():
    cells = [datetime(2020, 1, 1, 8, tzinfo=SHANGHAI), datetime(2020, 1, 1, tzinfo=UTC), None]
    table = open_table(pd.DataFrame({"discharged": pd.Series(cells, dtype=object)}))
    kind, unit = table.kind(0)
    assert (kind, unit) == ("datetime", "datetime64[us]")
    np.testing.assert_array_equal(np.diff(table.numbers(0, unit)), [0.0, np.nan])
    assert table.numbers(0, unit)[0] == (cells[0] - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(microseconds=1)


def test_words_in_a_numeric_column_are_an_error_that_names_it():
    frame = pd.DataFrame({"blood pressure": pd.Series([120, "high"], dtype=object)})
    with pytest.raises(ValueError, match=r"column 'blood pressure'.*'high'.*kinds="):
        open_table(frame).numbers(0)


@pytest.mark.parametrize(
    ("cell", "label", "kind"),
    [
        (np.int64(3), 3, int),
        (np.float32(0.5), 0.5, float),
        (np.True_, True, bool),
        (np.str_("色"), "色", str),
        (Decimal("1.50"), "1.50", str),
        (date(2020, 1, 2), "2020-01-02", str),
        (-0.0, 0.0, float),
    ],
)
def test_labels_are_plain(cell, label, kind):
    assert plain_label(cell) == label
    assert type(plain_label(cell)) is kind


@pytest.mark.parametrize("cell", [[1], {"age": 1}, {1}])
def test_a_cell_that_is_a_container_is_no_label(cell):
    with pytest.raises(TypeError, match="must be a string or a number"):
        plain_label(cell)


# ---------------------------------------------------------------------------------------------------------------------
# Data frames: names, odd dtypes


def test_whole_number_names_are_positional():
    table = open_table(pd.DataFrame([[1.0, "klein"], [2.0, "groß"]]))
    assert table.names == ("x0", "x1")
    assert not table.named
    assert table.kind(0)[0] == "numeric"
    assert table.codes(1)[1] == ["klein", "groß"]


def test_names_out_of_order_are_read_by_place():
    table = open_table(pd.DataFrame([[1.0, "klein"], [2.0, "groß"]], columns=[1, 0]))
    assert table.numbers(0).tolist() == [1.0, 2.0]
    assert table.codes(1)[1] == ["klein", "groß"]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2]], columns=["größe", "größe"]),
        pa.table([[1], [2]], names=["größe", "größe"]),
        pd.DataFrame([[1, 2, 3]], columns=[1, "größe", 1]),
    ],
)
def test_duplicate_names_are_an_error_that_names_them(frame):
    with pytest.raises(ValueError, match=r"column name '(größe|1)' stands more than once"):
        open_table(frame)


def test_names_that_are_partly_words_are_an_error():
    with pytest.raises(TypeError, match="string names"):
        open_table(pd.DataFrame([[1, 2]], columns=["größe", 7]))


@pytest.mark.parametrize(
    "frame", [pd.DataFrame({"größe": []}), pl.DataFrame({"größe": []}), pa.table({"größe": pa.array([], pa.float64())})]
)
def test_frames_without_rows(frame):
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        open_table(frame)


def test_frames_without_columns():
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        open_table(pd.DataFrame(index=[0, 1]))


UNREADABLE = {
    "pandas lists": lambda: pd.DataFrame({"größe": [[1], [2]]}),
    "pandas dicts": lambda: pd.DataFrame({"größe": [{"cm": 1}, None]}),
    "pandas complex": lambda: pd.DataFrame({"größe": [1j, 2j]}),
    "pandas dates and durations": lambda: pd.DataFrame(
        {"größe": pd.Series([datetime(2020, 1, 1), timedelta(1)], dtype=object)}
    ),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_columns_that_cannot_be_read_are_named(name):
    table = open_table(UNREADABLE[name]())
    with pytest.raises((TypeError, ValueError), match="column 'größe'"):
        table.numbers(0, table.kind(0)[1])


NESTED = {
    "polars lists": lambda: pl.DataFrame({"größe": [[1], [2]], "alter": [3, 4]}),
    "polars structs": lambda: pl.DataFrame({"größe": [{"cm": 1}, {"cm": 2}], "alter": [3, 4]}),
    "polars arrays": lambda: pl.DataFrame({"größe": pl.Series([[1, 2]] * 2, dtype=pl.Array(pl.Int64, 2)), "alter": [3, 4]}),
    "pyarrow lists": lambda: pa.table({"größe": [[1], [2]], "alter": [3, 4]}),
    "pyarrow structs": lambda: pa.table({"größe": [{"cm": 1}, {"cm": 2}], "alter": [3, 4]}),
    "pyarrow bytes": lambda: pa.table({"größe": [b"\xff", b"\xfe"], "alter": [3, 4]}),
}  # fmt: skip


@pytest.mark.parametrize("name", NESTED)
def test_columns_whose_type_no_model_reads_are_left_out_with_a_note(name):
    with pytest.warns(
        UserWarning, match="column 'größe' holds lists, records or bytes, which no model reads: it is left"
    ):
        model = mr.NaiveBayesClassifier().fit(NESTED[name](), ["blackbird", "wren"])
    assert [(column.name, column.kind) for column in model.schema_.columns] == [
        ("größe", "ignore"),
        ("alter", "numeric"),
    ]


@pytest.mark.parametrize("kind", ["categorical", "numeric", "text", "datetime", "count"])
@pytest.mark.parametrize("name", NESTED)
def test_columns_whose_type_no_model_reads_are_of_no_kind_that_is_stated(name, kind):
    with pytest.raises(ValueError, match="column 'größe' holds lists, records or bytes"):
        mr.NaiveBayesClassifier(kinds={"größe": kind}).fit(NESTED[name](), ["blackbird", "wren"])


@pytest.mark.parametrize(
    "dtype",
    [
        "int8",
        "uint8",
        "int16",
        "uint32",
        "uint64",
        "float32",
        "float64",
        "Int8",
        "UInt64",
        "Float32",
        "int64[pyarrow]",
        "float[pyarrow]",
        "double[pyarrow]",
    ],
)
def test_pandas_numeric_dtypes(dtype):
    table = open_table(pd.DataFrame({"children": pd.Series([3, 0, 7]).astype(dtype)}))
    assert table.kind(0) == ("numeric", None)
    assert table.numbers(0).tolist() == [3, 0, 7]
    codes, labels = table.codes(0)
    assert [labels[code] for code in codes.tolist()] == [3, 0, 7]


HALF = {
    "pandas": lambda: pd.DataFrame({"größe": np.array([0.5, 1.5], dtype=np.float16)}),
    "polars": lambda: pl.DataFrame({"größe": pl.Series([0.5, 1.5], dtype=pl.Float16)}),
    "pyarrow": lambda: pa.table({"größe": pa.array(np.array([0.5, 1.5], dtype=np.float16))}),
}


@pytest.mark.parametrize("library", HALF)
def test_half_precision_is_widened(library):
    numbers = open_table(HALF[library]()).numbers(0)
    assert numbers.tolist() == [0.5, 1.5]
    assert numbers.dtype in (np.float32, np.float64)


@pytest.mark.parametrize("values", [[5, None, 9, 5], ["klein", None, "groß", "klein"]])
def test_arrow_dictionaries_in_several_chunks(values):
    column = pa.chunked_array(
        [
            pa.array(values[2:]).dictionary_encode(),
            pa.array(values).dictionary_encode(),
            pa.array(values[:1]).dictionary_encode(),
        ]
    )
    codes, labels = open_table(pa.table({"größe": column})).codes(0)
    assert [None if code == -1 else labels[code] for code in codes.tolist()] == values[2:] + values + values[:1]


def test_a_categorical_of_numbers_is_categorical():
    frame = pd.DataFrame({"stage": pd.Categorical([3, None, 7])})
    table = open_table(frame)
    assert table.kind(0) == ("categorical", None)
    assert table.codes(0)[1] == [3, 7]
    np.testing.assert_array_equal(table.numbers(0), [3, np.nan, 7])


def test_intervals_of_pandas_cut_are_categories():
    frame = pd.DataFrame({"age": pd.cut(pd.Series([3.0, np.nan, 47.0, 12.0]), [0, 18, 65])})
    table = open_table(frame)
    assert table.kind(0) == ("categorical", None)
    codes, labels = table.codes(0)
    assert [None if code == -1 else labels[code] for code in codes.tolist()] == ["(0, 18]", None, "(18, 65]", "(0, 18]"]


# ---------------------------------------------------------------------------------------------------------------------
# Nothing large is copied


LONG = np.random.default_rng(0).uniform(-1, 1, size=(10_000, 2))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.int64, np.uint64])
@pytest.mark.parametrize("layout", ["C", "F", "every other row", "reversed columns"])
def test_a_matrix_is_not_copied(dtype, layout):
    whole = (
        np.asarray(LONG * 100).astype(dtype, order="F" if layout == "F" else "C", casting="unsafe")
        if dtype is not np.uint64
        else np.arange(20_000, dtype=dtype).reshape(-1, 2)
    )
    matrix = {"every other row": whole[::2], "reversed columns": whole[:, ::-1]}.get(layout, whole)
    numbers = open_table(matrix).numbers(1)
    assert np.shares_memory(numbers, whole)
    assert numbers.tolist() == matrix[:, 1].tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.uint8])
def test_a_numeric_column_is_not_copied(dtype):
    values = (np.arange(10_000) % 100).astype(dtype)
    assert np.shares_memory(open_table(pd.DataFrame({"größe": values}, copy=False)).numbers(0), values)
    series = pl.Series("größe", values)
    assert np.shares_memory(open_table(series.to_frame()).numbers(0), series.to_numpy(allow_copy=False))
    array = pa.array(values)
    assert np.shares_memory(open_table(pa.table({"größe": array})).numbers(0), array.to_numpy(zero_copy_only=True))


def test_pandas_codes_are_the_sources_own():
    column = pd.Categorical.from_codes(np.arange(300) % 3, ["klein", "mittel", "groß"])
    table = open_table(pd.DataFrame({"größe": column}, copy=False))
    assert np.shares_memory(table.codes(0)[0], column.codes)


# ---------------------------------------------------------------------------------------------------------------------
# Codes


@pytest.mark.parametrize(
    ("largest", "dtype"),
    [
        (0, np.int8),
        (127, np.int8),
        (128, np.int16),
        (32_767, np.int16),
        (32_768, np.int32),
        (2**31 - 1, np.int32),
        (2**31, np.int64),
    ],
)
def test_the_narrowest_integer_holds_the_largest_code(largest, dtype):
    assert narrowest(np.array([0, -1]), largest).dtype == dtype


@pytest.mark.parametrize("count", [1, 126, 127, 128, 129, 40_000])
def test_many_labels_are_all_coded(count):
    words = [f"größe {number}" for number in range(count)]
    codes, labels = codes_of_labels([*words, None])
    assert codes.tolist() == [*range(count), -1]
    assert labels == words
    codes, labels = codes_of_numbers(np.arange(count, dtype=np.int64)[::-1] * 3)
    assert codes.tolist() == list(range(count))[::-1]
    assert labels == [3 * number for number in range(count)]


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.float64])
def test_the_largest_whole_numbers_keep_their_labels(dtype):
    values = np.array([2**62, 0, 2**53], dtype=dtype)
    codes, labels = codes_of_numbers(values)
    assert [labels[code] for code in codes.tolist()] == [2**62, 0, 2**53]


# ---------------------------------------------------------------------------------------------------------------------
# Tables given back


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_build_frame_gives_the_users_own_library(library):
    columns = {
        "blood pressure": np.array([120.5, np.nan]),
        "色泽": np.array(["乌黑", None], dtype=object),
        "children": np.array([1, 2]),
    }
    table = open_table(build_frame(columns, library))
    assert table.library == library
    assert table.names == tuple(columns)
    np.testing.assert_array_equal(table.numbers(0), [120.5, np.nan])
    assert table.codes(1)[0].tolist() == [0, -1]
    assert table.numbers(2).tolist() == [1, 2]


def test_build_frame_for_numpy_is_one_array():
    numbers = build_frame({"x0": np.array([1.5, 2.5]), "x1": np.array([3, 4])}, "numpy")
    assert numbers.tolist() == [[1.5, 3.0], [2.5, 4.0]]
    mixed = build_frame({"x0": np.array([1.5, 2.5]), "x1": np.array(["klein", "groß"], dtype=object)}, "numpy")
    assert mixed.tolist() == [[1.5, "klein"], [2.5, "groß"]]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_strings_read_in_threads_are_those_read_one_by_one(library):
    rng = np.random.default_rng(5)
    words = {name: rng.choice(["gelb", "浅白", "a, b", None], 20_001) for name in ("色泽", "blood type", "ort")}
    table = {"pandas": lambda t: pd.DataFrame(t).astype("str"), "polars": pl.DataFrame, "pyarrow": pa.table}[library](
        {name: cells.tolist() for name, cells in words.items()}
    )
    y = rng.integers(0, 2, 20_001)
    one, several = (mr.NaiveBayesClassifier(n_jobs=jobs).fit(table, y) for jobs in (1, 3))
    assert several.schema_ == one.schema_
    np.testing.assert_array_equal(several.predict_proba(table), one.predict_proba(table))
    for name, cells in words.items():
        counts = {level: np.sum(cells == level) for level in ("gelb", "浅白", "a, b")}
        opened = open_table(table)
        opened.read_words([list(words).index(name)], 2)
        codes, labels = opened.codes(list(words).index(name))
        assert {label: int(np.sum(codes == position)) for position, label in enumerate(labels)} == counts
