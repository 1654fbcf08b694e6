"""Scores in a database equal those in memory: every model that SQL can say, in DuckDB and SQLite."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from tests.classify.sql.scored import (
    COSTS,
    ENGINES,
    FLAGGED,
    HOSTILE,
    MODELS,
    check_scores,
    fitted,
    in_duckdb,
    in_sqlite,
    numbered,
    table,
    uncertain_average,
    wide,
    with_gaps,
)

import merula as mr

pytestmark = pytest.mark.filterwarnings("ignore")  # levels never seen and impossible rows are the point
DIALECTS = list(ENGINES)


@pytest.fixture(scope="module")
def patients() -> pd.DataFrame:
    rows = numbered(with_gaps(table(10_000, 2)[0]))
    assert (rows[HOSTILE] == "never 'met'").sum() > 100 and (rows["größe"] == 1e300).sum() > 50
    return rows


@pytest.fixture(scope="module")
def models():
    made = {}

    def of(name):
        if name not in made:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made[name] = fitted({**MODELS, **FLAGGED}[name])
        return made[name]

    return of


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", MODELS)
def test_scores_equal_predict_proba(name, dialect, models, patients):
    flagged = check_scores(models(name), patients, dialect, ENGINES[dialect])
    assert not flagged.any()


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", FLAGGED)
def test_rows_that_lack_a_parent_are_flagged_where_they_are_not_summed_out(name, dialect, models, patients):
    flagged = check_scores(models(name), patients, dialect, ENGINES[dialect])
    assert 0.05 < flagged.mean() < 0.6
    complete = patients.drop(columns="id").notna().all(axis=1) & ~(patients == "never 'met'").any(axis=1)
    assert not flagged[complete.to_numpy()].any()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_calibrated_model(dialect, models, patients):
    rows, y = table(600)
    check_scores(models("TAN").calibrated(rows, y, cv="prefit"), patients.head(1000), dialect, ENGINES[dialect])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_jointly_normal_columns_whose_parameters_are_averaged_out(dialect, patients):
    rows, y = table(600)
    family = {"numeric": mr.MultivariateGaussian()}
    model = mr.NaiveBayesClassifier(distributions=family, estimate="predictive").fit(rows, y)
    check_scores(model, patients.head(3000), dialect, ENGINES[dialect])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_counts_times_and_many_levels(dialect):
    rng = np.random.default_rng(3)
    y = rng.choice([0, 1, 2], 900)
    when = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 86_400_000 * 300, 900) + y * 86_400_000 * 50, unit="ms")  # fmt: skip
    rows = pd.DataFrame(
        {
            "visits": rng.poisson(2 + 3 * y).astype(float),
            "goals": rng.negative_binomial(2, 0.1, 900).astype(float) + y * 40,
            "rain": np.where(rng.random(900) < 0.5, 0, rng.poisson(4 + y)).astype(float),
            "when": when,
            "street": pd.Series([f"n° {k}" for k in rng.integers(0, 150, 900) + y * 20], dtype=object),
            "code": rng.choice([1, 2, 3, 7], 900),
        }
    )
    families = {"visits": mr.Poisson(), "goals": mr.NegativeBinomial(), "rain": mr.Poisson(zero_inflated=True)}
    model = mr.NaiveBayesClassifier(kinds={"code": "categorical"}, distributions=families).fit(rows, y)
    new = rows.copy()
    new.loc[::10, "visits"], new.loc[7::40, "goals"], new.loc[9::40, "visits"] = np.nan, 1e300, 1e6
    new.loc[5::7, "goals"] = rng.integers(60, 1_000_000, len(new.loc[5::7])).astype(float)
    new.loc[3::50, "street"], new.loc[4::50, "street"] = "n° 1000", None
    new = numbered(new)
    asked = new if dialect == "duckdb" else new.assign(when=new["when"].dt.strftime("%Y-%m-%d %H:%M:%S.%f").str[:-3])
    found = ENGINES[dialect](model.to_sql(dialect, table="patients", keys=["id"]), asked)
    scored = found[["P(0)", "P(1)", "P(2)"]].astype(float).to_numpy()
    assert abs(scored - model.predict_proba(new.drop(columns="id"))).max() <= 1e-9
    odd = ENGINES[dialect](model.to_sql(dialect, table="patients", keys=["id"]), asked.assign(visits=2.5))
    assert (odd["problem"] == "no count: visits").all() and odd["P(0)"].isna().all()


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("words", [False, True])
def test_naive_models_of_500_columns(words, dialect):
    rows, y = wide(300, 500, words)
    model = mr.NaiveBayesClassifier().fit(rows, y)
    check_scores(model, numbered(with_gaps(rows.head(40), 3)), dialect, ENGINES[dialect])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_average_that_is_joined(dialect, monkeypatch):
    monkeypatch.setattr("merula.classify.sql.shapes.MOST_WRITTEN", 0)
    rows = numbered(with_gaps(table(300, 2)[0], share=0.3))
    rows.iloc[0, 1:], rows.iloc[1, 1:] = None, None
    for name in ("AODE", "AODE, unseen smoothed", "AODE, missing a level"):
        check_scores(fitted(MODELS[name]), rows, dialect, ENGINES[dialect])
    impossible = fitted(lambda: mr.AODEClassifier(smoothing=0), 60)
    posterior = impossible.predict_proba(rows.drop(columns="id"))
    assert (posterior == 0).any()
    check_scores(impossible, rows, dialect, ENGINES[dialect])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_joined_average_of_many_classes(dialect, monkeypatch):
    """SQLite's functions take 127 arguments."""
    monkeypatch.setattr("merula.classify.sql.shapes.MOST_WRITTEN", 0)
    rng = np.random.default_rng(6)
    y = np.arange(600) % 130
    birds = pd.DataFrame({name: rng.choice(["wren", "tit"], 600).astype(object) for name in ("größe", "色")})
    model = mr.AODEClassifier().fit(birds, y)
    check_scores(model, numbered(with_gaps(birds.head(20))), dialect, ENGINES[dialect])


@pytest.mark.parametrize("name", ["TAN", "jointly normal"])
def test_rows_with_gaps_are_flagged_where_summing_them_out_would_be_too_long(name, models, patients, monkeypatch):
    monkeypatch.setattr("merula.classify.sql.dependent.MOST_MESSAGES", 0)
    monkeypatch.setattr("merula.classify.sql.normals.MOST_KEPT", 0)
    flagged = check_scores(models(name), patients.head(2000), "duckdb", in_duckdb)
    assert 0.05 < flagged.mean() < 0.6


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_average_of_40_columns(dialect):
    model, rows = uncertain_average(40, 300)
    assert "JSON_EACH" in model.to_sql("sqlite", table="patients")  # joined, not written out
    check_scores(model, rows, dialect, ENGINES[dialect])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_terms_are_those_of_the_model(dialect, models, patients):
    model, rows = models("naive"), patients.head(500)
    found = ENGINES[dialect](model.to_sql(dialect, table="patients", keys=["id"], terms=True), rows)
    for name, values in model.terms(rows.drop(columns="id")).items():
        for c, label in enumerate(model.classes_.tolist()):
            np.testing.assert_allclose(found[f"log P({name} | {label})"].astype(float), values[:, c], rtol=1e-9)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("reject_cost", [None, 1.2])
def test_actions_are_those_of_decide(dialect, reject_cost, models, patients):
    model, rows = models("naive"), patients.head(2000)
    statement = model.to_sql(dialect, table="patients", keys=["id"], costs=COSTS, reject_cost=reject_cost)
    found = ENGINES[dialect](statement, rows)
    posterior = model.predict_proba(rows.drop(columns="id"))
    assert found["action"].tolist() == mr.decide(posterior, COSTS, classes=model.classes_, reject_cost=reject_cost).tolist()  # fmt: skip
    risk = mr.conditional_risk(posterior, COSTS, classes=model.classes_).min(axis=1)
    np.testing.assert_allclose(found["risk"], np.minimum(risk, reject_cost or np.inf), rtol=1e-9)


def test_infinity_and_unseen_levels_that_are_errors_are_told(patients):
    rows, y = table(300)
    model = mr.NaiveBayesClassifier(unseen="error").fit(rows, y)
    asked = patients.head(400).assign(größe=np.where(patients["id"].head(400) < 5, np.inf, 0.5))
    found = in_duckdb(model.to_sql("duckdb", table="patients", keys=["id"]), asked)
    assert set(found["problem"].dropna()) == {"infinite: größe", f"level never seen: {HOSTILE}", "level never seen: 色"}
    assert found.loc[found["problem"].notna(), "class"].isna().all()


def test_words_are_cleaned_as_the_model_cleans_them():
    model = mr.NaiveBayesClassifier().fit([["New York"], ["Rome"], ["Rome"], ["yes"]] * 3, ["a", "b", "b", "a"] * 3)
    words = [" Rome", "New\u00a0York", "Rome\t", "NA", "", "?", "Paris", None]
    asked = numbered(pd.DataFrame({"x0": pd.Series(words, dtype=object)}))
    for dialect, run in ENGINES.items():
        found = run(model.to_sql(dialect, table="patients", keys=["id"]), asked)
        np.testing.assert_allclose(found["P(a)"], model.predict_proba([[word] for word in words])[:, 0], atol=1e-12)


def test_all_columns_or_those_that_are_asked_for(models):
    rows = numbered(table(20)[0])
    model = models("naive")
    whole = in_duckdb(model.to_sql("duckdb", table="select * from patients where id < 7"), rows)
    assert list(whole.columns[:6]) == list(rows.columns) and len(whole) == 7
    read = in_sqlite(model.to_sql("sqlite", table="patients"), rows)
    assert list(read.columns[:5]) == list(rows.columns[1:])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_table_without_a_column_of_the_model_is_an_error_of_the_database(dialect, models):
    rows = numbered(table(20)[0]).drop(columns="größe")
    with pytest.raises(Exception, match="größe"):
        ENGINES[dialect](models("naive").to_sql(dialect, table="patients", keys=["id"]), rows)


def test_a_column_called_as_an_answer_is():
    model = mr.NaiveBayesClassifier().fit(pd.DataFrame({"class": ["u", "v"], "P(a)": [1.0, 2.0]}), ["a", "b"])
    found = in_duckdb(model.to_sql(table="patients"), pd.DataFrame({"class": ["u"], "P(a)": [1.5]}))
    assert list(found.columns) == ["class", "P(a)", "predicted class", "predicted P(a)", "P(b)", "predicted problem"]
