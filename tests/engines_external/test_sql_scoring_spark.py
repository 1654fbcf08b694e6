"""Scores in Spark equal those in memory."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.classify.sql.scored import (
    FLAGGED,
    MODELS,
    check_scores,
    fitted,
    numbered,
    table,
    uncertain_average,
    wide,
    with_gaps,
)
from tests.engines_external import running

import merula as mr

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def in_spark(spark):
    return running.in_spark(spark)


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


def test_an_average_of_many_columns(in_spark):
    model, rows = uncertain_average(120, 200)
    check_scores(model, rows, "spark", in_spark)


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
