"""Scores in Spark equal those in memory."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.classify.sql.scored import FLAGGED, MODELS, check_scores, fitted, numbered, table, wide, with_gaps

import merula as mr

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def in_spark(spark):
    from pyspark.sql import types

    def run(statement: str, rows: pd.DataFrame) -> pd.DataFrame:
        fields = [types.StructField(name, _type(types, name, rows[name])) for name in rows.columns]
        cells = [[_plain(cell) for cell in row] for row in rows.itertuples(index=False)]
        spark.createDataFrame(cells, types.StructType(fields)).createOrReplaceTempView("patients")
        found = spark.sql(statement)
        return pd.DataFrame([tuple(row) for row in found.collect()], columns=found.columns)

    yield run


def _type(types, name, column):
    if name in ("id", "ok"):
        return types.LongType() if name == "id" else types.BooleanType()
    if column.dtype.kind == "M":
        return types.TimestampType()
    return types.DoubleType() if column.dtype.kind == "f" else types.StringType()


def _plain(cell):
    if isinstance(cell, pd.Timestamp) or cell is pd.NaT:
        return None if cell is pd.NaT else cell.to_pydatetime()
    return cell.item() if isinstance(cell, np.generic) else cell


@pytest.fixture(scope="module")
def patients():
    return numbered(with_gaps(table(10_000, 2)[0]))


@pytest.mark.parametrize("name", MODELS)
def test_scores_equal_predict_proba(name, in_spark, patients):
    assert not check_scores(fitted(MODELS[name]), patients, "spark", in_spark).any()


@pytest.mark.parametrize("name", FLAGGED)
def test_rows_that_lack_a_parent_are_flagged(name, in_spark, patients):
    assert 0.05 < check_scores(fitted(FLAGGED[name]), patients, "spark", in_spark).mean() < 0.6


@pytest.mark.parametrize("words", [False, True])
def test_naive_models_of_500_columns(words, in_spark):
    rows, y = wide(300, 500, words)
    model = mr.NaiveBayesClassifier().fit(rows, y)
    check_scores(model, numbered(with_gaps(rows.head(100), 3)), "spark", in_spark)


def test_aode_of_500_columns(in_spark):
    rows, y = wide(300, 500, True)
    check_scores(mr.AODEClassifier().fit(rows, y), numbered(with_gaps(rows.head(6), 3)), "spark", in_spark)


def test_counts_and_times(in_spark):
    rng = np.random.default_rng(3)
    y = rng.choice([0, 1, 2], 600)
    rows = pd.DataFrame(
        {
            "visits": rng.poisson(2 + 3 * y).astype(float),
            "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 10**10, 600) + y * 10**9, unit="ms"),
        }
    )
    model = mr.NaiveBayesClassifier(distributions={"visits": mr.NegativeBinomial()}).fit(rows, y)
    rows.loc[5::7, "visits"], rows.loc[6::7, "visits"], rows.loc[9::11, "when"] = 1e300, np.nan, pd.NaT
    check_scores(model, numbered(rows), "spark", in_spark)


def test_all_columns_of_the_table(in_spark, patients):
    model, rows = fitted(MODELS["naive"]), patients.head(100)
    found = in_spark(model.to_sql("spark", table="patients"), rows)
    assert list(found.columns[:6]) == list(rows.columns) and len(found) == 100
