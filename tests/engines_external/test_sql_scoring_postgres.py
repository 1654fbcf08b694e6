"""Scores in PostgreSQL equal those in memory."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.classify.sql.scored import (
    COSTS,
    FLAGGED,
    MODELS,
    check_scores,
    far_out,
    fitted,
    heavy_tailed,
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
def in_postgres(postgres):
    import psycopg

    with psycopg.connect(postgres) as connection:
        yield running.in_postgres(connection)


@pytest.fixture(scope="module")
def patients():
    return numbered(with_gaps(table(10_000, 2)[0]))


@pytest.mark.parametrize("name", MODELS)
def test_scores_equal_predict_proba(name, in_postgres, patients):
    assert not check_scores(fitted(MODELS[name]), patients, "postgres", in_postgres).any()


@pytest.mark.parametrize("name", FLAGGED)
def test_rows_that_lack_a_parent_are_flagged(name, in_postgres, patients):
    assert 0.05 < check_scores(fitted(FLAGGED[name]), patients, "postgres", in_postgres).mean() < 0.6


@pytest.mark.parametrize("words", [False, True])
def test_naive_models_of_500_columns(words, in_postgres):
    rows, y = wide(300, 500, words)
    model = mr.NaiveBayesClassifier().fit(rows, y)
    check_scores(model, numbered(with_gaps(rows.head(200), 3)), "postgres", in_postgres)


def test_an_average_of_many_columns(in_postgres):
    model, rows = uncertain_average(120, 200)
    check_scores(model, rows, "postgres", in_postgres)


def test_counts_and_times(in_postgres):
    rng = np.random.default_rng(3)
    y = rng.choice([0, 1, 2], 600)
    rows = pd.DataFrame(
        {
            "visits": rng.poisson(2 + 3 * y).astype(float),
            "goals": rng.negative_binomial(2, 0.1, 600).astype(float) + y * 40,
            "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 10**10, 600) + y * 10**9, unit="ms"),
        }
    )
    families = {"visits": mr.Poisson(zero_inflated=True), "goals": mr.NegativeBinomial()}
    model = mr.NaiveBayesClassifier(distributions=families).fit(rows, y)
    rows.loc[5::7, "goals"], rows.loc[6::7, "visits"], rows.loc[8::9, "visits"] = 1e300, np.nan, 12_345.0
    rows.loc[9::11, "when"] = pd.NaT
    check_scores(model, numbered(rows), "postgres", in_postgres)


def test_all_columns_terms_and_actions(in_postgres, patients):
    model, rows = fitted(MODELS["naive"]), patients.head(1000)
    found = in_postgres(model.to_sql("postgres", table="patients", terms=True, costs=COSTS), rows).sort_values("id")
    assert list(found.columns[:6]) == list(rows.columns)
    posterior = model.predict_proba(rows.drop(columns="id"))
    assert found["predicted action"].tolist() == mr.decide(posterior, COSTS, classes=model.classes_).tolist()
    terms = model.terms(rows.drop(columns="id"))["größe"]
    np.testing.assert_allclose(found["log P(größe | yes)"].astype(float), terms[:, 2], rtol=1e-9)


def test_heavier_tails_with_gaps_and_far_out(in_postgres):
    X, y = heavy_tailed()
    model = mr.AutoBayesClassifier(keep_rows=False, max_rounds=60).fit(X, y)
    assert any("StudentTails" in type(getattr(part, "part", part)).__name__ for part in model.distributions_)
    assert not check_scores(model, far_out(X), "postgres", in_postgres).any()
