"""Weights that count no rows are told by the name of their column, wherever the table is."""

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import merula as mr

WRONG = {
    "is negative|holds a negative value": -1.0,
    "is missing|holds NaN": np.nan,
    "holds no larger|holds 1e.200": 1e200,
}


@pytest.mark.parametrize("told, weight", WRONG.items())
@pytest.mark.parametrize("place", ["memory", "stream", "file", "database"])
def test_wrong_weights_are_told_by_the_name_of_their_column(told, weight, place, tmp_path):
    table = pd.DataFrame({"x": np.arange(20.0), "wie oft": [1.0] * 19 + [weight], "y": ["a", "b"] * 10})
    table.to_csv(tmp_path / "table.csv", index=False)
    connection = duckdb.connect()
    connection.register("t", pa.Table.from_pandas(table))
    connection.execute("CREATE TABLE held AS SELECT * FROM t")
    batches = pa.Table.from_pandas(table).to_batches(max_chunksize=6)
    source = {"memory": table, "stream": lambda: iter(batches), "file": tmp_path / "table.csv", "database": connection}[place]  # fmt: skip
    named = {"table": "held"} if place == "database" else {}
    with pytest.raises(mr.InputError, match=f"the weight 'wie oft' ({told})"):
        mr.NaiveBayesClassifier().fit_table(source, "y", weight="wie oft", **named)


def test_rows_that_weigh_nothing_may_fill_a_piece():
    table = pd.DataFrame({"x": np.arange(20.0), "w": [0.0] * 9 + [1.0] * 11, "y": ["a", "b"] * 10})
    batches = pa.Table.from_pandas(table).to_batches(max_chunksize=4)
    found = mr.NaiveBayesClassifier().fit_table(lambda: iter(batches), "y", weight="w")
    expected = mr.NaiveBayesClassifier().fit(table[["x"]][9:], table["y"][9:])
    np.testing.assert_allclose(found.predict_proba(table[["x"]]), expected.predict_proba(table[["x"]]), atol=1e-9)


def test_the_weight_of_rows_without_a_class_is_not_asked():
    table = pa.table({"x": [1.0, 2, 3, 4, 5, 6], "wie oft": [1.0, 2, 1, 1, None, -1], "y": ["a", "b", "a", "b", None, None]})  # fmt: skip
    connection = duckdb.connect()
    connection.register("t", table)
    with pytest.warns(UserWarning, match="2 of 6 rows"):
        expected = mr.NaiveBayesClassifier().fit_table(table, "y", weight="wie oft")
    found = mr.NaiveBayesClassifier().fit_table(connection.table("t"), "y", weight="wie oft")
    rows = table.select(["x"])
    np.testing.assert_allclose(found.predict_proba(rows), expected.predict_proba(rows), rtol=0, atol=1e-12)
