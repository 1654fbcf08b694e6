"""Columns as codes: the same codes from every library; levels, missing, unseen, absent, weights."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from merula.data.encode import UnseenLevelWarning, code_columns

WEATHER = {
    "sky": ["grey", "blue", None, "grey"],
    "größe": ["small", "large", "large", "small"],
    "rain": [True, False, None, True],
    "temperature": [11.5, None, 20.0, 13.0],
}


def sources():
    plain = pd.DataFrame(WEATHER)
    typed = plain.astype({"sky": "category", "größe": "category", "rain": "boolean", "temperature": "float64"})
    return {
        "pandas": plain,
        "pandas typed": typed,
        "polars": pl.DataFrame(WEATHER),
        "polars categorical": pl.DataFrame(WEATHER).with_columns(pl.col("sky").cast(pl.Categorical)),
        "pyarrow": pa.table(WEATHER),
        "pyarrow dictionary": pa.table({**WEATHER, "sky": pa.array(WEATHER["sky"]).dictionary_encode()}),
        "array of objects": np.array([list(row) for row in zip(*WEATHER.values(), strict=True)], dtype=object),
    }


@pytest.mark.parametrize("source", sources().values(), ids=sources().keys())
def test_every_library_gives_the_same_codes(source):
    rows = code_columns(source, names=tuple(WEATHER))
    assert rows.names == tuple(WEATHER)
    assert rows.levels == (("blue", "grey"), ("large", "small"), (False, True), None)
    assert rows.codes.dtype == np.int32 and rows.codes.flags.c_contiguous
    np.testing.assert_array_equal(rows.codes, [[1, 0, -1, 1], [1, 0, 0, 1], [1, 0, -1, 1], [-1, -1, -1, -1]])
    np.testing.assert_array_equal(rows.values["temperature"], [11.5, np.nan, 20.0, 13.0])
    assert rows.incomplete.tolist() == [True, False, True, True]
    assert rows.count == 4 and rows.total == 4.0 and rows.cardinalities.tolist() == [2, 2, 2, 0]


def test_columns_are_found_by_name_and_others_ignored():
    table = pd.DataFrame({**WEATHER, "a long text": ["one two three four"] * 4})
    rows = code_columns(table, names=["rain", "sky"])
    assert rows.names == ("rain", "sky")
    np.testing.assert_array_equal(rows.codes[1], [1, 0, -1, 1])


def test_an_array_without_names_takes_those_given():
    rows = code_columns(np.array([[0, 1], [1, 1], [0, 2]]), names=["色泽", "tub"], kinds="categorical")
    assert rows.names == ("色泽", "tub") and rows.levels == ((0, 1), (1, 2))
    assert code_columns(np.array([[0.5], [1.5]])).names == ("x0",)


def test_whole_numbers_are_numeric_unless_said_otherwise():
    table = pd.DataFrame({"children": [0, 2, 1]})
    assert code_columns(table).levels == (None,)
    assert code_columns(table, kinds={"children": "categorical"}).levels == ((0, 1, 2),)
    assert code_columns(table, levels={"children": [2, 1, 0]}).codes.tolist() == [[2, 0, 1]]
    assert code_columns(table.astype(str), levels={"children": None}).values["children"].tolist() == [0.0, 2.0, 1.0]


def test_whole_numbers_far_apart_are_coded_as_well():
    numbers = np.r_[np.zeros(3000, dtype=np.int64), 10**15, -5]
    rows = code_columns(numbers[:, None], kinds="categorical")
    assert rows.levels == ((-5, 0, 10**15),)
    assert rows.codes[0, -2:].tolist() == [2, 0]


def test_levels_given_keep_their_order_and_need_not_occur():
    rows = code_columns(pd.DataFrame(WEATHER), ["sky"], levels={"sky": ["grey", "red", "blue"]})
    assert rows.levels == (("grey", "red", "blue"),)
    assert rows.codes.tolist() == [[0, 2, -1, 0]]


def test_none_among_the_levels_is_a_level():
    assert code_columns(pd.DataFrame(WEATHER), ["sky"], levels={"sky": ["grey", "blue", None]}).codes.tolist() == [
        [0, 1, 2, 0]
    ]


def test_an_unknown_level_is_an_error_or_missing():
    table = pd.DataFrame(WEATHER)
    with pytest.raises(ValueError, match="column 'sky' holds 'blue', which its levels \\['grey'\\] do not name"):
        code_columns(table, levels={"sky": ["grey"]})
    rows = code_columns(table, levels={"sky": ["grey"]}, unseen="missing")
    (note,) = rows.notes
    assert (note.category, note.column) == (UnseenLevelWarning, "sky")
    assert str(note) == "column 'sky' holds level 'blue' in 1 row, which its levels do not name; treated as missing"
    assert rows.codes[0].tolist() == [0, -1, -1, 0]


def test_categories_that_no_row_holds_are_no_unknown_levels():
    table = pd.DataFrame({"sky": pd.Categorical(["grey", "blue"], categories=["blue", "grey", "red"])})
    assert code_columns(table).levels == (("blue", "grey"),)
    assert code_columns(table, levels={"sky": ["blue", "grey"]}).codes.tolist() == [[1, 0]]


def test_an_absent_column_is_an_error_or_missing():
    table = pd.DataFrame(WEATHER)
    with pytest.raises(
        ValueError, match="column 'wind' is missing from the table, which has 'sky', .*add it, or leave it out"
    ):
        code_columns(table, names=["sky", "wind"])
    rows = code_columns(table, ["sky", "wind", "gust"], {"wind": ["calm", "storm"], "gust": None}, absent="missing")
    assert rows.levels == (("blue", "grey"), ("calm", "storm"), None)
    assert (rows.codes[1] == -1).all() and np.isnan(rows.values["gust"]).all()
    assert code_columns(table, ["sky", "wind"], absent="missing").levels[1] == ()


def test_a_level_of_weight_0_does_not_exist():
    rows = code_columns(pd.DataFrame(WEATHER), ["sky"], weights=[1, 0, 2, 0.5])
    assert rows.levels == (("grey",),) and rows.codes.tolist() == [[0, -1, -1, 0]] and rows.total == 3.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": [1, 2]}, "weights.shape == \\(2,\\), expected \\(4,\\)"),
        ({"weights": [1, 2, -1, 1]}, "weights holds a negative value"),
        ({"weights": [1, 2, np.nan, 1]}, "weights holds NaN"),
        ({"weights": [0, 0, 0, 0]}, "every number in weights is zero"),
        ({"unseen": "ignore"}, "unseen is 'ignore', expected one of 'error', 'missing'"),
        ({"absent": "ok"}, "absent is 'ok'"),
        ({"kinds": {"skye": "categorical"}}, "a key of kinds= is 'skye'.*did you mean 'sky'"),
        ({"levels": {"wind": ["calm"]}}, "a key of levels= is 'wind'"),
        ({"kinds": {"sky": "words"}}, "is 'words', expected one of"),
        ({"kinds": {"sky": "text"}}, "column 'sky' is text, which a network cannot hold"),
        ({"names": ["sky", "sky"]}, "column 'sky' more than once"),
    ],
)
def test_bad_options_say_what_is_wrong(options, message):
    with pytest.raises(ValueError, match=message):
        code_columns(pd.DataFrame(WEATHER), **options)


def test_numbers_whose_squares_overflow_are_refused():
    with pytest.raises(ValueError, match="column 'income' holds inf"):
        code_columns(pd.DataFrame({"income": [1.0, -np.inf]}))


def test_some_rows_and_some_columns():
    rows = code_columns(pd.DataFrame(WEATHER), weights=[1, 2, 3, 4])
    part = rows.take(np.array([3, 0])).select(["temperature", "sky"])
    assert part.names == ("temperature", "sky") and part.levels == (None, ("blue", "grey"))
    assert part.values["temperature"].tolist() == [13.0, 11.5] and part.codes[1].tolist() == [1, 1]
    assert part.weights.tolist() == [4.0, 1.0] and part.codes.flags.c_contiguous
