"""Answers for rows that stay in a database: those of memory."""

import duckdb
import numpy as np
import pandas as pd
import pytest

import merula as mr

PENGUINS = pd.read_csv("src/merula/data/penguins.csv")


@pytest.mark.parametrize("model", [mr.NaiveBayesClassifier(), mr.TANClassifier(), mr.KernelBayesClassifier()])
def test_answers_from_duckdb_are_those_of_memory(model, tmp_path):
    model.fit(PENGUINS.drop(columns=["species", "year"]), PENGUINS["species"])
    with duckdb.connect(str(tmp_path / "birds.db")) as connection:
        connection.execute('CREATE TABLE birds AS SELECT *, row_number() OVER () AS "ring; --" FROM PENGUINS')
        tables = list(model.predict_table(connection, table="birds", keys=["ring; --"]))
    answers = pd.concat([table.to_pandas() for table in tables]).sort_values("ring; --")
    np.testing.assert_allclose(answers.iloc[:, 2:], model.predict_proba(PENGUINS), atol=1e-12)
    written = model.predict_table(f"duckdb:///{tmp_path}/birds.db?table=birds", tmp_path / "answers.parquet")
    assert written == 344


def test_a_database_without_a_table_is_told(tmp_path):
    model = mr.NaiveBayesClassifier().fit(PENGUINS[["island"]], PENGUINS["species"])
    with duckdb.connect() as connection, pytest.raises(mr.InputError, match="name one table="):
        model.predict_table(connection)


def test_what_was_opened_is_closed_whatever_happens(tmp_path):
    path = tmp_path / "birds.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE birds AS SELECT * FROM PENGUINS")
    address, kept = f"duckdb:///{path}?table=birds", []
    model = mr.NaiveBayesClassifier().fit_table(address, "species")
    for ask in (
        lambda: mr.NaiveBayesClassifier().fit_table(address, "spices"),
        lambda: mr.KernelBayesClassifier().fit_table(address, "species"),
        lambda: model.predict_table(address, keys=["nope"]),
        lambda: mr.count(address, target="nope"),
    ):
        with pytest.raises(mr.InputError) as error:
            ask()
        kept.append(error)  # as a notebook does
        duckdb.connect(str(path)).close()  # refused while another is open to read
    assert mr.count(address, target="species").weight == 344
    list(model.predict_table(address))
    duckdb.connect(str(path)).close()


@pytest.mark.parametrize("url", ["sqlite:///x.db?table=t", "mysql://host/db?table=t", "postgresql://[bad/x?table=t"])
def test_addresses_that_lead_nowhere(url):
    with pytest.raises(mr.InputError, match="the URL"):
        mr.NaiveBayesClassifier().fit_table(url, "y")


@pytest.mark.parametrize("weight", ["words", "yes", "day"])
def test_weights_are_numbers(weight):
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT 'a' AS x, '1' AS words, true AS yes, date '2020-01-01' AS day, i % 2 AS y FROM range(10) r(i)")  # fmt: skip
        with pytest.raises(mr.InputError, match=f"the weight '{weight}' holds"):
            mr.NaiveBayesClassifier().fit_table(connection, "y", weight, table="t")
