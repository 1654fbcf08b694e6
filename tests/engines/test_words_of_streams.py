"""Words that come as codes, as columnar files and CSV in pieces give them, are read like the same words in memory."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import merula as mr

LOOK_AT_ROWS = {
    "families": mr.NaiveBayesClassifier(distributions="auto"),
    "weights": mr.NaiveBayesClassifier(weights="conditional"),
    "tables": mr.LogLinearClassifier(order=1),
    "pool": mr.AutoBayesClassifier(),
}


@pytest.fixture
def colours():
    rng = np.random.default_rng(0)
    ill = rng.integers(0, 2, 400)
    red, blue = rng.choice(["rot", "rot ", "NA", "Rot"], 400), rng.choice(["blau", "NA", "rot"], 400)
    return pd.DataFrame({"farbe": np.where(ill, red, blue), "x": rng.normal(size=400) + ill, "y": ill})


@pytest.mark.parametrize("model", LOOK_AT_ROWS.values(), ids=LOOK_AT_ROWS)
@pytest.mark.parametrize("kind", ["parquet", "feather"])
@pytest.mark.filterwarnings("ignore")
def test_rows_that_are_looked_at_are_read_as_in_memory(colours, model, kind, tmp_path):
    path = tmp_path / f"colours.{kind}"
    table = pa.Table.from_pandas(colours, preserve_index=False)
    pq.write_table(table, path, row_group_size=50) if kind == "parquet" else pa.feather.write_feather(table, path)
    rows = colours[["farbe", "x"]]
    expected = type(model)(**model.get_params()).fit(rows, colours["y"])
    found = type(model)(**model.get_params()).fit_table(path, target="y")
    assert found.schema_["farbe"].levels == ("Rot", "blau", "rot")  # no blank, and NA is missing
    np.testing.assert_allclose(found.predict_proba(rows), expected.predict_proba(rows), rtol=0, atol=1e-9)


def test_words_that_blanks_alone_tell_apart_are_one_word_of_the_answers(colours, tmp_path):
    colours.to_csv(tmp_path / "colours.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = mr.NaiveBayesClassifier().fit(colours[["farbe", "x"]], colours["y"])
        answers = pd.concat([part.to_pandas() for part in model.predict_table(tmp_path / "colours.csv")])
    expected = colours["farbe"].str.strip().where(colours["farbe"] != "NA")
    assert answers["farbe"].astype(object).where(answers["farbe"].notna(), "missing").tolist() == expected.fillna("missing").tolist()  # fmt: skip
    np.testing.assert_array_equal(answers["P(1)"], model.predict_proba(colours[["farbe", "x"]])[:, 1])
