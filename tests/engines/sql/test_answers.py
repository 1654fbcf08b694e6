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
