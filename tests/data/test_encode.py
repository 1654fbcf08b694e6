"""Tables as codes and numbers, targets as class codes: what is missing, what is unseen, what is shared with the source."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from merula.core.threads import BLOCK
from merula.data.encode import encode, encode_rows, find_columns, infer_schema
from merula.data.schema import Column, Schema
from merula.data.table import open_table

BIRDS = pd.DataFrame(
    {
        "wing length": [12.5, np.nan, 13.0],
        "eggs": [3, 4, 5],
        "色泽": ["乌黑", None, "浅白"],
        "größe": ["klein", "groß", "klein"],
        "seen on": pd.to_datetime(["2020-05-01", "2020-05-02", None]),
    }
)


def encoded(source, kinds=None, levels=None, order=None):
    """A source encoded as its own schema says, its columns taken in this order."""
    table = open_table(source)
    schema = infer_schema(table, kinds, levels)[0]
    order = list(range(len(table.names))) if order is None else order
    return encode(table, Schema(tuple(schema.columns[index] for index in order)), order)


def cells(rows, name):
    """What the raw codes of one column stand for; integers out of the slots' range stand for themselves."""
    tile = rows.codes([name])
    slots, shift = tile.slots[0], int(tile.shift[0])
    return [
        slots[code - shift] if 0 <= code - shift < len(slots) else code
        for code in np.asarray(tile.codes)[:, 0].tolist()
    ]


def indices(rows, name, levels):
    """Each row's place among the levels, as the level table gives it: m for missing, m + 1 for unseen."""
    tile = rows.codes([name])
    slot = np.asarray(tile.codes)[:, 0].astype(object) - int(tile.shift[0])
    width = len(tile.slots[0])
    table = rows.level_table([name], [levels])
    return [int(table[index if 0 <= index < width else width]) for index in slot]


# ---------------------------------------------------------------------------------------------------------------------
# The schema


def kinds_of(*args, **options):
    return {column.name: column.kind for column in infer_schema(open_table(BIRDS), *args, **options)[0].columns}


INFERRED = {
    "wing length": "numeric",
    "eggs": "numeric",
    "色泽": "categorical",
    "größe": "categorical",
    "seen on": "datetime",
}


@pytest.mark.parametrize(
    ("kinds", "changed"),
    [
        (None, {}),
        ({}, {}),
        ({"eggs": "categorical"}, {"eggs": "categorical"}),
        ({1: "categorical", "größe": "ignore"}, {"eggs": "categorical", "größe": "ignore"}),
        ("categorical", dict.fromkeys(INFERRED, "categorical")),
        ({"seen on": "datetime"}, {}),
    ],
)
def test_kinds_are_inferred_or_said(kinds, changed):
    assert kinds_of(kinds) == INFERRED | changed


@pytest.mark.parametrize("key", ["größe", 3])
def test_declared_levels_make_a_column_categorical_and_keep_their_order(key):
    column = infer_schema(open_table(BIRDS), levels={key: ["klein", "mittel", "groß"]})[0]["größe"]
    assert column == Column("größe", "categorical", levels=("klein", "mittel", "groß"), declared=True)


def test_declared_levels_of_numbers():
    column = infer_schema(open_table(BIRDS), kinds={"eggs": "categorical"}, levels={"eggs": [5, 4, 3]})[0]["eggs"]
    assert column == Column("eggs", "categorical", levels=(5, 4, 3), declared=True)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kinds": {"egg": "categorical"}}, "a key of kinds= is 'egg'.*did you mean 'eggs'"),
        ({"kinds": {7: "categorical"}}, "a key of kinds= is 7"),
        ({"kinds": {"eggs": "category"}}, r"kinds\['eggs'\] is 'category'.*did you mean 'categorical'"),
        ({"kinds": "nominal"}, "kinds is 'nominal'"),
        ({"levels": {"colour": ["red"]}}, "a key of levels= is 'colour'"),
        ({"levels": {"größe": []}}, r"levels\['größe'\] is \[\]"),
        ({"levels": {"größe": ["klein", "klein"]}}, "name each level once"),
        (
            {"levels": {"größe": ["klein", "groß"]}, "kinds": {"größe": "numeric"}},
            "column 'größe'.*only a categorical column has levels",
        ),
        ({"kinds": {"色泽": "datetime"}}, "column '色泽' a datetime"),
    ],
)
def test_a_wrong_option_is_named(options, words):
    with pytest.raises(ValueError, match=words):
        infer_schema(open_table(BIRDS), **options)


def test_an_ignored_column_may_hold_anything():
    frame = pl.DataFrame({"wing length": [1.0, 2.0], "sightings": [[1], [2]]})
    rows = encoded(frame, kinds={"sightings": "ignore"})
    assert rows.values(["wing length"]).tolist() == [[1.0], [2.0]]


def test_time_columns_carry_their_unit():
    assert infer_schema(open_table(np.array([["2020-05-01"]], dtype="M8[h]")))[0].columns == (
        Column("x0", "datetime", unit="datetime64[h]"),
    )


# ---------------------------------------------------------------------------------------------------------------------
# Numbers


MATRIX = np.random.default_rng(0).normal(size=(500, 3))
NAMES = ["x0", "x1", "x2"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_values_are_a_view_of_the_matrix(dtype, order):
    matrix = np.array(MATRIX, dtype=dtype, order=order)
    rows = encoded(matrix)
    assert np.shares_memory(rows.values(NAMES), matrix)
    part = rows.tile(100, 200)
    assert len(part) == 100
    assert np.shares_memory(part.values(NAMES), matrix)
    np.testing.assert_array_equal(part.values(NAMES), matrix[100:200])
    np.testing.assert_array_equal(part.tile(50, 400).values(NAMES), matrix[150:200])


def test_values_of_a_one_block_pandas_frame_are_a_view():
    matrix = MATRIX.copy()
    rows = encoded(pd.DataFrame(matrix, columns=["wing length", "tail", "bill"], copy=False))
    assert np.shares_memory(rows.values(["wing length", "tail", "bill"]), matrix)
    np.testing.assert_array_equal(rows.tile(3, 9).values(["wing length", "tail", "bill"]), matrix[3:9])


@pytest.mark.parametrize(
    "source",
    [
        MATRIX,
        MATRIX.astype(np.float32),
        pd.DataFrame(MATRIX, columns=NAMES),
        pl.DataFrame(MATRIX, schema=NAMES),
        pa.table(list(MATRIX.T), names=NAMES),
    ],
    ids=["numpy", "float32", "pandas", "polars", "pyarrow"],
)
@pytest.mark.parametrize("names", [["x0", "x1", "x2"], ["x2", "x0"], ["x1"], ["x2", "x1", "x0"]])
def test_values_of_any_columns_in_any_order(source, names):
    expected = (
        np.asarray(source, dtype=np.float64)[:, [NAMES.index(name) for name in names]]
        if isinstance(source, np.ndarray)
        else MATRIX[:, [NAMES.index(name) for name in names]]
    )
    for order in ([0, 1, 2], [2, 0, 1]):
        rows = encoded(source, order=order)
        np.testing.assert_array_equal(rows.values(names), expected)
        np.testing.assert_array_equal(rows.tile(7, 11).values(names), expected[7:11])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64, ">i4", ">f8", "f2"])
def test_numbers_of_any_dtype_become_float32_or_float64(dtype):
    values = encoded(np.array([[1, 2], [3, 100]]).astype(dtype)).values(["x0", "x1"])
    assert values.dtype in (np.float32, np.float64)
    assert values.tolist() == [[1, 2], [3, 100]]


def test_columns_of_different_dtypes_meet_in_one_that_holds_both():
    frame = pd.DataFrame(
        {
            "wing length": np.array([0.1, 2.0], dtype=np.float32),
            "eggs": np.array([2**30 + 1, 3], dtype=np.int32),
            "chicks": np.array([1, 0], dtype=np.uint8),
        }
    )
    values = encoded(frame).values(["wing length", "eggs", "chicks"])
    assert values.tolist() == [[np.float32(0.1), 2**30 + 1, 1], [2.0, 3, 0]]


@pytest.mark.parametrize("dtype", [np.float16, "Float16"])
def test_half_precision_columns_are_widened(dtype):
    frame = (
        pd.DataFrame({"wing length": np.array([0.5, 2.0], dtype=np.float16)})
        if dtype is np.float16
        else pl.DataFrame({"wing length": pl.Series([0.5, 2.0], dtype=pl.Float16)})
    )
    assert encoded(frame).values(["wing length"]).dtype in (np.float32, np.float64)


def test_booleans_said_to_be_numeric_are_zero_and_one():
    assert encoded(np.array([[True], [False]]), kinds="numeric").values(["x0"]).tolist() == [[1.0], [0.0]]
    np.testing.assert_array_equal(
        encoded(pl.DataFrame({"nests": [True, None, False]}), kinds="numeric").values(["nests"]),
        [[1.0], [np.nan], [0.0]],
    )


def test_times_of_another_resolution_are_read_in_the_models_unit():
    schema = Schema((Column("seen on", "datetime", unit="datetime64[ms]"),))
    for resolution in ("s", "ms", "us", "ns"):
        frame = pd.DataFrame({"seen on": pd.to_datetime(["1970-01-02", None]).astype(f"datetime64[{resolution}]")})
        np.testing.assert_array_equal(
            encode_rows(frame, schema, True, "NaiveBayesClassifier").values(["seen on"]), [[86_400_000.0], [np.nan]]
        )


def test_words_in_a_numeric_column_are_an_error_that_names_it():
    schema = Schema((Column("wing length", "numeric"),))
    with pytest.raises(ValueError, match=r"column 'wing length'.*'long'"):
        encode_rows(pd.DataFrame({"wing length": ["long"]}), schema, True, "NaiveBayesClassifier")


# ---------------------------------------------------------------------------------------------------------------------
# Codes, missing, unseen


WORDS = ["klein", None, "groß", "riesig", "klein"]
WORD_SOURCES = {
    "lists": lambda: [[word] for word in WORDS],
    "numpy": lambda: np.array([[word] for word in WORDS], dtype=object),
    "pandas": lambda: pd.DataFrame({"x0": WORDS}),
    "pandas category": lambda: pd.DataFrame({"x0": pd.Categorical(WORDS, ["nie", "riesig", "groß", "klein"])}),
    "polars": lambda: pl.DataFrame({"x0": WORDS}),
    "polars enum": lambda: pl.DataFrame({"x0": pl.Series(WORDS, dtype=pl.Enum(["nie", "riesig", "groß", "klein"]))}),
    "pyarrow": lambda: pa.table({"x0": WORDS}),
    "pyarrow dictionary": lambda: pa.table(
        {"x0": pa.chunked_array([pa.array(WORDS[:2]).dictionary_encode(), pa.array(WORDS[2:]).dictionary_encode()])}
    ),
}


@pytest.mark.parametrize("source", WORD_SOURCES)
def test_words_missing_and_unseen(source):
    rows = encoded(WORD_SOURCES[source]())
    assert cells(rows, "x0") == WORDS
    assert indices(rows, "x0", ("groß", "klein")) == [1, 2, 0, 3, 1]
    assert rows.unseen_labels("x0", ("groß", "klein")) == ["riesig"]
    assert rows.tile(0, 3).unseen_labels("x0", ("groß", "klein")) == []


@pytest.mark.parametrize("source", WORD_SOURCES)
def test_missing_may_be_a_level_of_its_own(source):
    assert indices(encoded(WORD_SOURCES[source]()), "x0", ("groß", "klein", None)) == [1, 2, 0, 4, 1]


@pytest.mark.parametrize("source", ["lists", "pandas category", "polars", "pyarrow"])
def test_the_level_table_answers_for_the_levels_it_is_asked_for(source):
    rows = encoded(WORD_SOURCES[source]())
    assert indices(rows, "x0", ("groß", "klein")) == [1, 2, 0, 3, 1]
    assert indices(rows, "x0", ("klein", "riesig", "groß")) == [0, 3, 2, 1, 0]


@pytest.mark.parametrize(
    ("values", "levels", "expected"),
    [
        (np.array([[True], [False]]), (False, True), [1, 0]),
        (np.array([[True], [False]]), (0, 1), [1, 0]),
        (np.array([[1.0], [np.nan], [2.5], [7.0]]), (1, 2.5), [0, 2, 1, 3]),
        (np.array([[3], [-5], [4], [900]]), (-5, 3), [1, 0, 3, 3]),
        (np.array([[3], [-5], [4]]), (1.0, 3.0), [1, 3, 3]),
        (np.array([[7], [1], [2]]), (1, 2.5, 7.0), [2, 0, 4]),
        (np.array([[2**40], [-(2**40)], [4]]), (-(2**40), 2**40), [1, 0, 3]),
    ],
)
def test_numbers_as_levels(values, levels, expected):
    schema = Schema((Column("x0", "categorical", levels=levels),))
    assert indices(encode(open_table(values), schema, [0]), "x0", levels) == expected
    assert indices(encode(open_table(values), Schema((Column("x0", "categorical"),)), [0]), "x0", levels) == expected


def test_level_tables_of_several_columns_lie_end_to_end():
    frame = pl.DataFrame({"größe": ["klein", None], "色泽": ["乌黑", "浅白"]})
    rows = encoded(frame)
    tile = rows.codes(["色泽", "größe"])
    table = rows.level_table(["色泽", "größe"], [("浅白",), ("groß", "klein")])
    starts = tile.offsets
    assert [int(table[starts[0] + code - tile.shift[0]]) for code in tile.codes[:, 0]] == [2, 0]
    assert [int(table[starts[1] + code - tile.shift[1]]) for code in tile.codes[:, 1]] == [1, 2]
    assert len(table) == starts[-1]


def test_codes_of_a_whole_number_matrix_are_a_view():
    matrix = np.random.default_rng(1).integers(-3, 40, size=(300, 2))
    rows = encoded(matrix, kinds="categorical")
    assert np.shares_memory(rows.codes(["x0", "x1"]).codes, matrix)
    assert np.shares_memory(rows.tile(10, 20).codes(["x0", "x1"]).codes, matrix)
    assert cells(rows.tile(10, 20), "x1") == matrix[10:20, 1].tolist()


INTEGERS = {
    "narrow": np.arange(-5, 20),
    "negative": np.arange(-2000, -1000, 7),
    "gaps": np.array([0, 1, 60_000, 3]),
    "wide": np.array([-(10**12), 0, 10**12]),
    "widest": np.array([-(2**63), 0, 2**63 - 1]),
    "int8": np.array([-128, 127, 0], dtype=np.int8),
    "uint8": np.array([0, 255, 7], dtype=np.uint8),
    "uint64": np.array([0, 7, 2**62], dtype=np.uint64),
    "uint64 beyond int64": np.array([2**64 - 1, 2**64 - 2, 2**63, 0], dtype=np.uint64),
    "uint64 narrow": np.array([2**60, 2**60 + 1, 2**60 + 3], dtype=np.uint64),
    "big-endian": np.array([5, 1, 5], dtype=">i4"),
    "big-endian uint64": np.array([5, 2**60 + 1, 5], dtype=">u8"),
    "int64 at its end": np.array([2**63 - 1, 2**63 - 3]),
}


@pytest.mark.parametrize("name", INTEGERS)
def test_whole_numbers_as_levels_keep_their_values(name):
    values = INTEGERS[name]
    rows = encoded(values[:, None], kinds="categorical")
    assert cells(rows, "x0") == values.tolist()
    levels = tuple(sorted(set(values.tolist())))
    assert indices(rows, "x0", levels) == [levels.index(value) for value in values.tolist()]


def test_a_wide_column_beside_a_narrow_one_far_from_zero():
    matrix = np.array([[2**60, 0], [2**60 + 1, 10**12], [2**60 + 2, 5]], dtype=np.uint64)
    rows = encoded(matrix, kinds="categorical")
    tile = rows.codes(["x0", "x1"])
    for column in (0, 1):
        found = [tile.slots[column][int(code) - int(tile.shift[column])] for code in tile.codes[:, column].tolist()]
        assert found == matrix[:, column].tolist()


@settings(deadline=None)
@given(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=30), st.sampled_from([1, 10, 1000, 10**6, 2**62])
)
def test_any_whole_numbers_keep_their_values(numbers, modulus):
    values = np.array([number % modulus - modulus // 2 for number in numbers])
    assert cells(encoded(values[:, None], kinds="categorical"), "x0") == values.tolist()


def test_rows_behind_the_sampled_ones_may_leave_the_range():
    values = np.tile(np.arange(4), 5_000)
    values[[7, 11_111]] = [-9, 500]
    assert cells(encoded(values[:, None], kinds="categorical"), "x0") == values.tolist()
    levels = (-9, 0, 1, 2, 3)
    rows = encode(open_table(values[:, None]), Schema((Column("x0", "categorical", levels=levels),)), [0])
    assert indices(rows, "x0", levels) == [{-9: 0, 500: 6}.get(value, value + 1) for value in values.tolist()]


def test_unseen_cells_are_counted_by_column():
    rows = encoded([["klein", "乌黑"]])
    rows.note_unseen(["x0", "x1"], np.array([2, 0]))
    rows.tile(0, 1).note_unseen(["x0", "x1"], np.array([1, 0]))
    assert rows.unseen_hits == {"x0": 3}


# ---------------------------------------------------------------------------------------------------------------------
# Where the columns stand


SCHEMA = Schema((Column("wing length", "numeric"), Column("eggs", "numeric"), Column("ring", "ignore")))


def test_columns_are_found_by_name():
    table = open_table(pd.DataFrame({"eggs": [3], "colour": ["x"], "wing length": [1.0]}))
    assert find_columns(table, SCHEMA, True, "NaiveBayesClassifier") == [2, 0, -1]


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="column 'wing length' is missing from the table"):
        find_columns(open_table(pd.DataFrame({"eggs": [3]})), SCHEMA, True, "NaiveBayesClassifier")


@pytest.mark.parametrize(
    ("named", "source", "words"),
    [
        (True, np.zeros((1, 3)), "does not have valid feature names"),
        (False, pd.DataFrame(np.zeros((1, 3)), columns=["eggs", "tail", "bill"]), "X has feature names"),
    ],
)
def test_names_on_one_side_only_are_a_warning(named, source, words):
    with pytest.warns(UserWarning, match=words):
        assert find_columns(open_table(source), SCHEMA, named, "NaiveBayesClassifier") == [0, 1, 2]


def test_the_number_of_columns_must_match():
    with pytest.raises(ValueError, match="X has 2 features, but NaiveBayesClassifier is expecting 3 features"):
        find_columns(open_table(np.zeros((1, 2))), SCHEMA, False, "NaiveBayesClassifier")


def test_tiles_fit_into_blocks():
    for source in (np.zeros((3, 2)), pd.DataFrame({"eggs": [1], "größe": ["klein"]}), np.array([["klein"]])):
        assert 1 <= encoded(source).tile_rows <= BLOCK
