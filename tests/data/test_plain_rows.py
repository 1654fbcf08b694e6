"""Rows of plain cells are encoded as `encode_cells` encodes them, by whichever way."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

import merula as mr
from merula.core import InputError
from merula.data.encode import encode_cells
from merula.data.encode.plain_rows import NotPlainError, PlainRows
from merula.data.schema import Column, Reading, Schema

SCHEMA = Schema(
    (
        Column("blood pressure", "numeric"),
        Column("visits", "count"),
        Column("色泽", "categorical", ("乌黑", "浅白", "青绿")),
        Column("smokes", "categorical", ("no", "yes"), reading=Reading("boolean", spellings=("no", "yes"))),
        Column("ward", "categorical", (1, 2, 3)),
        Column("gap", "categorical", ("a", None)),
        Column("dose", "categorical", ("≤ 2.5", "(2.5, 7]", "> 7"), cuts=(2.5, 7.0)),
        Column("key", "ignore"),
    )
)
CELLS = {
    "blood pressure": st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**60), 2**60),
    "visits": st.none() | st.integers(0, 1_000),
    "色泽": st.sampled_from(["乌黑", "浅白", " 青绿 ", "NA", "", None, "红"]),
    "smokes": st.sampled_from(["yes", "No", "TRUE", "n", True, False, 1, 0, None, "maybe"]),
    "ward": st.sampled_from([1, 2.0, "3", " 2", 7, True, None, "x", 1.5]),
    "gap": st.sampled_from(["a", "b", None, "NA"]),
    "dose": st.none() | st.floats(-10, 10) | st.sampled_from([2.5, 7, 7.0, "> 7", "3"]),
    "key": st.text(max_size=3),
}


def same(one, other):
    """Whether rows mean the same: numbers to the bit, and labels, however they are coded."""
    for column in SCHEMA.columns:
        if column.kind in ("numeric", "count"):
            left, right = one.values((column.name,)), other.values((column.name,))
            assert (left.astype(np.float64).view(np.int64) == right.astype(np.float64).view(np.int64)).all(), column
        elif column.kind == "categorical":
            levels = (column.levels,)
            for name in (column.name,):
                places = []
                for rows in (one, other):
                    tile, table = rows.codes((name,)), rows.level_table((name,), levels)
                    slots = tile.codes[:, 0].astype(np.int64) - tile.shift[0]
                    places.append(
                        table[np.where((slots < 0) | (slots >= tile.width[0]), tile.width[0], slots)].tolist()
                    )
                assert places[0] == places[1], column


@given(st.fixed_dictionaries({}, optional=CELLS))
def test_one_row_by_the_short_way_means_the_same(row):
    rows = PlainRows(SCHEMA)
    assert rows.is_lean
    cells = {name: [value] for name, value in row.items() if name != "key"}
    try:
        expected = encode_cells(SCHEMA, cells, 1)
    except ValueError:
        with pytest.raises(ValueError):
            rows.one(row)
        return
    same(rows.one(row), expected)
    same(rows.one(row), expected)  # what was remembered changes nothing


@given(st.lists(st.fixed_dictionaries(CELLS), min_size=1, max_size=6))
def test_many_rows_mean_the_same(given_rows):
    rows = PlainRows(SCHEMA)
    columns = {name: [row[name] for row in given_rows] for name in CELLS}
    doses = [value for value in columns["dose"] if isinstance(value, str)]
    if doses and any(not isinstance(value, str) for value in columns["dose"]):
        columns["dose"] = doses[:1] * len(given_rows)  # a column of intervals' names and numbers is neither
    try:
        expected = encode_cells(
            SCHEMA, {name: cells for name, cells in columns.items() if name != "key"}, len(given_rows)
        )
    except ValueError:
        with pytest.raises(ValueError):
            rows.many(columns, len(given_rows))
        return
    same(rows.many(columns, len(given_rows)), expected)


def test_missing_columns_are_named():
    assert set(PlainRows(SCHEMA).lean({"ward": 2, "gap": "a"})[1]) == {
        "blood pressure",
        "visits",
        "色泽",
        "smokes",
        "dose",
    }
    assert "gap" in PlainRows(SCHEMA).lean({"ward": 2})[1]


def test_what_needs_a_look_is_left_to_it():
    for row in ({"色泽": "红"}, {"blood pressure": "120"}, {"visits": 2**70}, {"ward": [1]}, {"dose": "> 7"}):
        with pytest.raises(NotPlainError):
            PlainRows(SCHEMA).lean(row)


def test_words_of_one_column_are_read_alike():
    schema = Schema((Column("bill", "numeric", reading=Reading("number", unit="$", grouping=",")),))
    rows = PlainRows(schema).many({"bill": ["$1,200.50", None, 7, "n/a"]}, 4)
    assert np.nan_to_num(rows.values(("bill",))[:, 0], nan=-1).tolist() == [1200.5, -1, 7, -1]
    with pytest.raises(InputError, match="'bill'"):
        PlainRows(schema).many({"bill": ["many", "$3"]}, 2)
    with pytest.raises(InputError, match="too large"):
        PlainRows(schema).many({"bill": [10**400]}, 1)


@pytest.mark.parametrize("word", ["5", "today", "now", "31"])
def test_no_year_of_few_figures_and_no_day_of_today(word):
    """NumPy reads 5 as the year 5, and today as whatever day it is; tables refuse both."""
    days = pd.DataFrame({"seen": pd.date_range("2020-01-01", periods=6)})
    model = mr.NaiveBayesClassifier().fit(days, ["ill", "well"] * 3)
    with pytest.raises(mr.InputError, match="column 'seen' is a date but holds something else"):
        mr.explain(model, {"seen": word})


def test_days_may_be_as_short_as_months():
    days = pd.DataFrame({"seen": pd.date_range("2020-01-01", periods=6, freq="MS")})
    model = mr.NaiveBayesClassifier().fit(days, ["ill", "well"] * 3)
    wanted = mr.explain(model, {"seen": pd.Timestamp("2020-05-01")}).posterior
    for word in ("2020-05", "2020-05-01", "2020-05-01 00:00", "20200501"):
        np.testing.assert_array_equal(mr.explain(model, {"seen": word}).posterior, wanted)
