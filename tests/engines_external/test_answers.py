"""Answers for rows of PostgreSQL and of Spark: those of memory, by SQL where the model can be said in it, else by Python where the rows are."""

import numpy as np
import pandas as pd
import pytest

import merula as mr

PENGUINS = pd.read_csv("src/merula/data/penguins.csv").reset_index(names="ring")
MODELS = [mr.NaiveBayesClassifier(), mr.TANClassifier(), mr.KernelBayesClassifier()]  # the last cannot be said in SQL


def fitted(model):
    return model.fit(PENGUINS.drop(columns=["species", "year", "ring"]), PENGUINS["species"])


@pytest.mark.parametrize("model", MODELS)
def test_postgres(model, postgres):
    import psycopg

    model = fitted(model)
    with psycopg.connect(postgres) as connection:
        connection.execute("DROP TABLE IF EXISTS birds")
        kinds = ", ".join(f'"{name}" {"text" if PENGUINS[name].dtype == object or str(PENGUINS[name].dtype) == "str" else "double precision"}' for name in PENGUINS)  # fmt: skip
        connection.execute(f"CREATE TABLE birds ({kinds})")
        rows = PENGUINS.astype(object).where(PENGUINS.notna(), None).to_numpy().tolist()
        connection.cursor().executemany(f"INSERT INTO birds VALUES ({', '.join(['%s'] * len(PENGUINS.columns))})", rows)
        connection.commit()
        answers = pd.concat(
            [part.to_pandas() for part in model.predict_table(connection, table="birds", keys=["ring"])]
        )
    answers = answers.sort_values("ring")
    np.testing.assert_allclose(answers.iloc[:, 2:], model.predict_proba(PENGUINS), atol=1e-9)


@pytest.mark.parametrize("model", MODELS)
def test_spark(model, spark):
    model = fitted(model)
    frame = spark.createDataFrame(PENGUINS.astype(object).where(PENGUINS.notna(), None))
    answers = model.predict_table(frame, keys=["ring"])
    assert type(answers).__name__ == "DataFrame" and answers.columns[:2] == [
        "ring",
        "class",
    ]  # nothing was computed yet
    found = answers.orderBy("ring").toArrow().to_pandas()
    names = [f"P({label})" for label in model.classes_]
    np.testing.assert_allclose(found[names].astype(float), model.predict_proba(PENGUINS), atol=1e-9)
    assert (found["class"] == model.predict(PENGUINS)).all()
    with pytest.raises(mr.InputError, match="answers on a cluster stay there"):
        model.predict_table(frame, "answers.csv")
