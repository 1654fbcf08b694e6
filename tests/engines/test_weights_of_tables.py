"""Weights that count no rows are told by the name of their column, wherever the table is."""

from decimal import Decimal

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


HEAVY = {
    "decimals": [Decimal("1.5"), Decimal(2), Decimal("0.5"), Decimal(1)],
    "objects": np.array([1, 2.5, np.float32(1), np.int8(2)], dtype=object),
}
NO_WEIGHTS = {
    "words": (["1", "2", "drei", "1"], "holds '1', which is not a number"),
    "truth": ([True, False, True, True], "holds True, which is not a number"),
    "times": (pd.to_datetime(["2020-01-01"] * 4), "holds '2020-01-01.*', which is not a number"),
    "too heavy": ([2**53 + 1, 3, 2**53 + 1, 5], "holds 9.0072e.15, expected a largest weight"),
    "missing": (np.array([1, None, 2, 1], dtype=object), "is missing|holds NaN or infinite"),
}


def _ways_in(weights):
    """Each way to give rows their weights."""
    frame = pd.DataFrame({"x": [1.0, 2, 3, 5], "y": ["a", "b"] * 2}).assign(**{"wie oft": weights})
    arrow = pa.table({"x": frame["x"], "y": frame["y"], "wie oft": pa.array(weights)})

    def fitted(source):
        return mr.NaiveBayesClassifier().fit_table(source, "y", weight="wie oft")

    return {
        "sample_weight": lambda: mr.NaiveBayesClassifier().fit(frame[["x"]], frame["y"], sample_weight=frame["wie oft"]),
        "frame": lambda: fitted(frame),
        "arrow": lambda: fitted(arrow),
        "batches": lambda: fitted([arrow]),
        "counts": lambda: mr.count(frame, target="y", weight="wie oft").model(),
    }  # fmt: skip


@pytest.mark.parametrize("weights", HEAVY.values(), ids=HEAVY)
def test_numbers_of_every_sort_are_weights(weights):
    plain = np.array([float(weight) for weight in weights])
    rows = pd.DataFrame({"x": [1.0, 2, 3, 5]})
    expected = mr.NaiveBayesClassifier().fit(rows, ["a", "b"] * 2, sample_weight=plain).predict_proba(rows)
    for way, fit in _ways_in(weights).items():
        if way not in ("arrow", "batches") or not isinstance(weights, np.ndarray):
            np.testing.assert_allclose(fit().predict_proba(rows), expected, rtol=1e-9, atol=0, err_msg=way)


@pytest.mark.parametrize(("weights", "told"), NO_WEIGHTS.values(), ids=NO_WEIGHTS)
def test_what_is_no_number_is_no_weight(weights, told):
    for fit in _ways_in(weights).values():
        with pytest.raises(mr.InputError, match=told):
            fit()
