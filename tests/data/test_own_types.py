"""Columns of types that one library has and no other, and of Python objects of several types, as data frames hold them."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import merula as mr

ROWS = 40
CHANCE = np.random.default_rng(5)
TIRED = np.where(CHANCE.random(ROWS) < 0.5, "müde", "wach")
HOURS = (6 + 2 * (TIRED == "wach") + CHANCE.integers(0, 5, ROWS)).tolist()
MONTHS = pd.Series(pd.period_range("2022-01", periods=ROWS, freq="M"))
WORDS = [str(hour) if row % 3 else hour for row, hour in enumerate(HOURS)]
CLOCK = [dt.time(hour, 30) for hour in HOURS]
DAYS = [dt.date(2020, 1, 1 + row % 28) for row in range(ROWS)]
quiet = pytest.mark.filterwarnings("ignore::merula.GuessedKindWarning")


def frame(column: Any) -> pd.DataFrame:
    return pd.DataFrame({"schlaf": column})


PAIRS = {
    "months": (frame(MONTHS), frame(MONTHS.dt.to_timestamp())),
    "sparse numbers": (frame(pd.arrays.SparseArray(np.array(HOURS, float))), frame(np.array(HOURS, float))),
    "intervals": (frame(pd.arrays.IntervalArray.from_arrays(HOURS, np.array(HOURS) + 1)), frame([f"({h}, {h + 1}]" for h in HOURS])),
    "numbers beside words": (frame(pd.Series(WORDS, dtype=object)), frame([str(hour) for hour in HOURS])),
    "times of day, polars": (pl.DataFrame({"schlaf": CLOCK}), pl.DataFrame({"schlaf": [h * 3600 + 1800 for h in HOURS]})),
    "times of day, pyarrow": (pa.table({"schlaf": pa.array(CLOCK)}), pa.table({"schlaf": [h * 3600 + 1800 for h in HOURS]})),
    "times of day, pyarrow in pandas": (frame(pd.array(CLOCK, dtype=pd.ArrowDtype(pa.time64("us")))), frame([h * 3600 + 1800 for h in HOURS])),
    "runs": (pa.table({"schlaf": pa.RunEndEncodedArray.from_arrays([10, ROWS], ["kurz", "lang"])}), pa.table({"schlaf": ["kurz"] * 10 + ["lang"] * (ROWS - 10)})),
    "days in milliseconds": (pa.table({"geboren": pa.array(DAYS, pa.date64())}), pa.table({"geboren": pa.array(DAYS, pa.date32())})),
    "wide whole numbers": (pl.DataFrame({"schlaf": pl.Series(HOURS, dtype=pl.Int128)}), pl.DataFrame({"schlaf": HOURS})),
}  # fmt: skip


@quiet
@pytest.mark.parametrize("name", PAIRS)
def test_own_types_are_read_as_what_they_say(name: str) -> None:
    own, plain = PAIRS[name]
    model, same = (mr.NaiveBayesClassifier().fit(X, TIRED) for X in (own, plain))
    assert np.array_equal(model.predict_proba(own), same.predict_proba(plain))
    assert mr.look(own).columns[0].kind == mr.look(plain).columns[0].kind


@quiet
def test_a_column_of_times_of_day_reads_new_words() -> None:
    model = mr.NaiveBayesClassifier().fit(PAIRS["times of day, polars"][0], TIRED)
    asked = [model.predict_proba(frame([cell])) for cell in ("8:30", "08:30:00", 30600)]
    assert np.array_equal(asked[0], asked[1])
    assert np.array_equal(asked[1], asked[2])


@pytest.mark.parametrize("cell", [[1, 2], {"bett": 1}, {1}, np.ones(2)], ids=["list", "record", "set", "array"])
def test_cells_that_hold_several_things_are_left_out(cell: Any) -> None:
    X = frame(HOURS).assign(nächte=pd.Series([cell, None] * (ROWS // 2), dtype=object))
    with pytest.warns(UserWarning, match="'nächte' holds lists, records or bytes, which no model reads: it is left out"):  # fmt: skip
        model = mr.NaiveBayesClassifier().fit(X, TIRED)
    assert np.array_equal(model.predict_proba(X), mr.NaiveBayesClassifier().fit(frame(HOURS), TIRED).predict_proba(frame(HOURS)))  # fmt: skip


def test_an_error_names_the_type_as_its_library_does() -> None:
    with pytest.raises(ValueError, match="column 'schlaf' holds complex128, which merula cannot read"):
        mr.NaiveBayesClassifier().fit(frame(np.array(HOURS) + 1j), TIRED)


def test_codes_that_became_floats_beside_a_missing_one_are_the_words_they_were() -> None:
    rooms = frame([["7", "12", "A"][hour % 3] for hour in HOURS])
    model = mr.NaiveBayesClassifier().fit(rooms, TIRED)
    assert np.array_equal(model.predict_proba(frame([12.0, np.nan])), model.predict_proba(frame(["12", None])))
