"""Tables that have columns of any name, times with zones, words with ends of lines: found by a hostile reader."""

import datetime

import duckdb
import numpy as np
import pandas as pd
import pytest

import merula as mr


def numbers(n=300):
    rng = np.random.default_rng(1)
    y = rng.choice(["a", "b"], n)
    return pd.DataFrame({"z": rng.normal(size=n) + (y == "b")}), y


def answered(connection, statement, model):
    found = connection.sql(statement).df()
    return found[[f"P({label})" for label in model.classes_]].to_numpy(), found


def test_columns_that_the_model_does_not_know_change_nothing():
    rows, y = numbers()
    model, connection = mr.NaiveBayesClassifier().fit(rows, y), duckdb.connect()
    strange = rows.assign(**{"~0": 0.5, "~1": 7.0, "~row": "x", "class": y, "problem": "none"})
    connection.register("birds", strange)
    posterior, found = answered(connection, model.to_sql("duckdb", table="birds"), model)
    np.testing.assert_allclose(posterior, model.predict_proba(rows), atol=1e-12)
    assert list(found["class"]) == list(y) and list(found["predicted class"]) == list(model.predict(rows))
    assert {"~0", "~1", "~row"} <= set(found.columns)


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_instants_with_a_time_zone(zone):
    connection = duckdb.connect()
    connection.execute(f"SET TimeZone = '{zone}'")
    connection.execute("CREATE TABLE t AS SELECT timestamptz '2020-01-01 10:00:00+02' + interval (i) second AS x, timestamp '2021-05-01 08:00:00' + interval (i * 7 % 5) minute AS w, date '2020-02-01' + (i % 9)::int AS d, CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END AS y FROM range(40) r(i)")  # fmt: skip
    model = mr.NaiveBayesClassifier().fit_table(connection, target="y", table="t")
    expected = pd.concat([part.to_pandas() for part in model.predict_table(connection, table="t")])
    posterior, _ = answered(connection, model.to_sql("duckdb", table="t", keys=[]), model)
    np.testing.assert_allclose(posterior, expected[["P(a)", "P(b)"]], atol=1e-9)


def test_a_statement_survives_a_file_that_changes_ends_of_lines(tmp_path):
    model = mr.NaiveBayesClassifier().fit(pd.DataFrame({"w": ["u", "v"] * 50}), ["a\r\nx", "b\ty"] * 50)
    path = tmp_path / "score.sql"
    path.write_bytes(model.to_sql("duckdb", table="words", keys=[]).encode())
    connection = duckdb.connect()
    connection.register("words", pd.DataFrame({"w": ["u\r", "v\t"]}))
    found = connection.sql(path.read_text()).df()  # ends of lines become \n
    assert found.iloc[:, 0].tolist() == ["a\r\nx", "b\ty"] and found.iloc[0, 1] > 0.9


@pytest.mark.parametrize("reject", [None, "dunno", datetime.date(2020, 1, 1)])
def test_actions_of_several_kinds_stand_in_one_column(reject):
    rows, y = numbers()
    model, connection = mr.NaiveBayesClassifier().fit(rows, y == "a"), duckdb.connect()
    connection.register("birds", rows)
    statement = model.to_sql(
        "duckdb", table="birds", keys=[], costs=[[0, 1], [1, 0]], reject_cost=0.3, reject_label=reject
    )
    found = connection.sql(statement).df()["action"]
    posterior = model.predict_proba(rows)
    expected = mr.decide(posterior, [[0, 1], [1, 0]], classes=model.classes_, reject_cost=0.3, reject_label=reject)
    risks = np.sort(np.column_stack([posterior[:, ::-1], np.full(len(rows), 0.3)]), axis=1)
    tied = risks[:, 1] - risks[:, 0] <= 1e-9  # either may be taken
    assert tied.sum() < 3 and len(set(expected)) == 3
    assert [one for one, free in zip(found, tied, strict=True) if not free] == [str(one) for one, free in zip(expected, tied, strict=True) if not free]  # fmt: skip


def test_keys_called_as_words_of_the_language():
    import sqlite3

    rows, y = numbers(40)
    model = mr.NaiveBayesClassifier().fit(rows, y)
    connection = sqlite3.connect(":memory:")
    rows.assign(**{"true": 1, "null": 2, "1": 3, "select": 4}).to_sql("birds", connection, index=False)
    found = pd.read_sql(model.to_sql("sqlite", table="birds", keys=["true", "null", "1", "select"]), connection)
    assert found.iloc[0, :4].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("query", ["with x as (delete from t returning *) select * from x", "select * into y from t"])
def test_queries_that_change_something_are_refused(query):
    rows, y = numbers(40)
    with pytest.raises(mr.InputError, match="would change the database|one SELECT|no query"):
        mr.NaiveBayesClassifier().fit(rows, y).to_sql("postgres", table=query)


@pytest.mark.parametrize("query", ["Select\r\n* from t", "SELECT/**/* from t", " ( select * from t )"])
def test_queries_however_they_begin(query):
    rows, y = numbers(40)
    model, connection = mr.NaiveBayesClassifier().fit(rows, y), duckdb.connect()
    connection.register("t", rows)
    posterior, _ = answered(connection, model.to_sql("duckdb", table=query, keys=[]), model)
    np.testing.assert_allclose(posterior, model.predict_proba(rows), atol=1e-12)


@pytest.mark.parametrize("unseen", ["missing", "smooth", "error"])
@pytest.mark.parametrize("missing", ["marginalise", "level"])
@pytest.mark.parametrize("kind", [mr.NaiveBayesClassifier, mr.AODEClassifier, mr.TANClassifier])
@pytest.mark.parametrize("rare", [0, 80])
def test_a_column_of_pooled_levels_takes_any_word_for_other(kind, missing, unseen, rare):
    towns = ["Ulm", "Linz", "(other)", "Ulm", None, "Linz", "(other)", "Ulm", *(f"Ort {k}" for k in range(rare))]
    rows = pd.DataFrame({"town": towns, "work": (["cook", "smith"] * len(towns))[: len(towns)]})
    model = kind(missing=missing, unseen=unseen).fit(rows, (["ill", "well", "well"] * len(towns))[: len(towns)])
    new = pd.DataFrame({"town": ["Ulm", "Graz", " Graz\t", "(other)", "yes", None], "work": "cook"})
    connection = duckdb.connect()
    connection.register("people", new.assign(id=range(len(new))))
    found = connection.sql(model.to_sql("duckdb", table="people", keys=["id"])).df().sort_values("id")
    assert found["problem"].isna().all()
    posterior = found[[f"P({label})" for label in model.classes_]].to_numpy()
    np.testing.assert_allclose(posterior, model.predict_proba(new), atol=1e-12)
    np.testing.assert_allclose(posterior[[1, 2, 4]], posterior[[3, 3, 3]], atol=1e-12)
