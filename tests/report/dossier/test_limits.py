"""Limits that rows show by themselves: each is there where it was put, and nowhere else."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import mutual_info_score

import merula as mr
from merula.data.encode import encode, infer_schema
from merula.data.table import open_table
from merula.report.dossier.repeats import correlation, repeats, told_share


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(8)
    ill = rng.random(400) < 0.3
    pressure = rng.normal(120 + 8 * ill, 10)
    rows = pd.DataFrame(
        {
            "blood pressure": pressure,
            "pressure in kPa": np.round(pressure * 0.1333, 3),
            "ward": rng.choice(["north", "south"], 400),
            "größe": np.where(rng.random(400) < 0.4, np.nan, rng.normal(170, 8, 400)),
            "色泽": np.where(np.arange(400) < 396, "浅白", "乌黑"),
            "outcome code": np.where(ill, "x", "y"),
        }
    )
    rows["nurse"] = rows["ward"].map({"north": "Ada", "south": "Bo"})
    return rows, np.where(ill, "ill", "well")


def dossier_of(rows, classes, tmp_path, **stated):
    model = mr.NaiveBayesClassifier().fit(rows, classes, stated.get("sample_weight"))
    return mr.write_dossier(model, rows, classes, tmp_path / "dossier.json", cv=2, repeats=1, progress=False, **stated)


def test_limits_are_found_where_they_are(table, tmp_path):
    rows, classes = table
    found = dossier_of(rows, classes, tmp_path).limits
    text = "\n".join(found.sentences)
    assert {(one.first, one.second) for one in found.repeats} == {
        ("blood pressure", "pressure in kPa"),
        ("nurse", "ward"),
    }
    assert "“outcome code” alone predicts the class in 100 % of the rows" in text
    assert f"“größe” is missing in {100 * rows['größe'].isna().mean():.3g} % of the rows" in text
    assert "“色泽” has levels on fewer than 10 rows: 乌黑 (4)" in text and "is rare" not in text
    reaches = {one.column: (float(one.low), float(one.high)) for one in found.reaches}
    assert reaches["blood pressure"] == pytest.approx((rows["blood pressure"].min(), rows["blood pressure"].max()), rel=1e-3)  # fmt: skip


def test_a_plain_table_has_none(tmp_path):
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"blood pressure": rng.normal(120, 10, 200), "ward": rng.choice(["north", "south"], 200)})
    found = dossier_of(rows, rng.choice(["ill", "well"], 200), tmp_path).limits
    assert found.sentences == () and found.repeats == ()


def test_rare_classes_and_rows_beyond_those_learned_from(table, tmp_path):
    rows, classes = table
    rows = rows.drop(columns=["outcome code"])
    rare = classes.copy().astype(object)
    rare[:12] = "unclear"
    new = rows[:50].assign(**{"blood pressure": [500.0] * 7 + [120.0] * 43, "ward": ["west"] * 3 + ["north"] * 47})
    model = mr.NaiveBayesClassifier().fit(rows, rare)
    with pytest.warns(mr.UnseenLevelWarning):
        found = mr.write_dossier(model, rows, rare, tmp_path / "d.json", test=(new, rare[:50]), progress=False).limits
    assert any(one.startswith("The class unclear is rare: 12 of 400 rows (3 %)") for one in found.sentences)
    assert next(one.beyond for one in found.reaches if one.column == "blood pressure") == 7
    assert "“ward” holds levels in 3 tested rows that no row learned from has." in found.sentences


def test_the_order_of_rows_and_columns_does_not_matter(table, tmp_path):
    rows, classes = table
    found = dossier_of(rows, classes, tmp_path).limits
    order = np.random.default_rng(2).permutation(400)
    other = dossier_of(rows.iloc[order][sorted(rows.columns)].reset_index(drop=True), classes[order], tmp_path).limits
    assert sorted(found.sentences) == sorted(other.sentences) and set(found.reaches) == set(other.reaches)


def encoded(rows):
    table = open_table(rows)
    schema, _ = infer_schema(table)
    return encode(table, schema, range(len(schema.columns))), list(schema.names)


def test_measures_are_those_of_scipy_and_scikit_learn():
    rng = np.random.default_rng(5)
    first, second = rng.normal(size=(2, 300)).round(1)
    second += first
    ranks = [pd.Series(values).rank().to_numpy() for values in (first, second)]
    assert correlation(*ranks, np.ones(300)) == pytest.approx(spearmanr(first, second)[0])
    a = rng.integers(0, 4, 500)
    b = np.where(rng.random(500) < 0.8, a, rng.integers(0, 4, 500))
    entropies = [mutual_info_score(one, one) for one in (a, b)]
    expected = (mutual_info_score(a, b) - 9 / 1_000) / min(entropies)
    assert told_share(a, b, np.ones(500)) == pytest.approx(expected)


def test_chance_between_many_levels_is_no_repeat():
    rng = np.random.default_rng(3)
    rows, names = encoded(pd.DataFrame({"street": rng.integers(0, 60, 500).astype(str), "doctor": rng.integers(0, 60, 500).astype(str)}))  # fmt: skip
    assert repeats(rows, names, None) == ()


def test_a_weight_of_two_is_the_row_twice(table):
    rows, _ = table
    often = np.arange(400) % 3
    again = rows.loc[np.repeat(np.arange(400), often)].reset_index(drop=True)
    weighted, repeated = repeats(*encoded(rows), often.astype(float)), repeats(*encoded(again), None)
    assert [(one.first, one.second) for one in weighted] == [(one.first, one.second) for one in repeated]
    for one, other in zip(weighted, repeated, strict=True):
        assert one.value == pytest.approx(other.value, abs=1e-9)
