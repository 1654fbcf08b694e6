"""Every kind of table and target, missing cells, and input that is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import merula as mr
from merula.answers.evaluation import evaluate

FOLDS = [(range(40), range(40, 60)), (range(20, 60), range(20))]


@pytest.fixture
def melons():
    """60 rows with words, numbers and missing cells, as a dict of columns."""
    rng = np.random.default_rng(8)
    ripe = rng.integers(0, 2, 60)
    colour = np.where(rng.random(60) < 0.3 + 0.4 * ripe, "青绿", "乌黑").astype(object)
    size = rng.normal(10 + 2 * ripe, 1.5)
    colour[rng.random(60) < 0.15] = None
    size[rng.random(60) < 0.15] = np.nan
    return {"色泽": colour.tolist(), "größe": size.tolist()}, np.where(ripe, "ripe", "unripe")


def expected_log_loss(frame, y):
    """The mean over the folds of −log P(true class), fitting on pandas frames directly."""
    losses = []
    for train, test in FOLDS:
        model = mr.NaiveBayesClassifier().fit(frame.iloc[list(train)], y[list(train)])
        proba = model.predict_proba(frame.iloc[list(test)])
        indices = np.searchsorted(model.classes_, y[list(test)])
        losses.append(-np.log(proba[np.arange(len(test)), indices]).mean())
    return np.mean(losses)


def with_nulls(columns):
    return {name: [None if value != value else value for value in values] for name, values in columns.items()}


OPENERS = {
    "pandas": lambda columns: pd.DataFrame(columns),
    "pandas with a strange index": lambda columns: pd.DataFrame(columns, index=np.arange(60)[::-1] % 7),
    "polars": lambda columns: pl.DataFrame(with_nulls(columns)),
    "pyarrow": lambda columns: pa.table(with_nulls(columns)),
    "object array": lambda columns: np.array(list(columns.values()), dtype=object).T,
    "list of lists": lambda columns: [list(row) for row in zip(*columns.values(), strict=True)],
}


@pytest.mark.parametrize("library", OPENERS)
def test_every_kind_of_table_with_missing_cells(melons, library):
    columns, y = melons
    found = evaluate(mr.NaiveBayesClassifier(), OPENERS[library](columns), y, cv=FOLDS)
    assert found["log_loss"].value == pytest.approx(expected_log_loss(pd.DataFrame(columns), y), rel=1e-12)


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_array, sp.coo_matrix])
def test_sparse_matrices(form):
    rng = np.random.default_rng(2)
    words = (rng.random((60, 30)) < 0.2).astype(float)
    topics = np.where(words[:, 0] + words[:, 1] + rng.random(60) > 1, "Sport", "política")
    sparse = evaluate(BernoulliNB(), form(words), topics, cv=3)
    assert sparse.figures == evaluate(BernoulliNB(), words, topics, cv=3).figures


def test_a_series_of_texts():
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import make_pipeline

    texts = pd.Series(["gutes Spiel", "Tor im Spiel", "neues Gesetz", "Gesetz der Wahl"] * 5)
    topics = ["Sport", "Sport", "política", "política"] * 5
    found = evaluate(make_pipeline(CountVectorizer(), BernoulliNB()), texts, topics, cv=5)
    assert found["error"].value == 0


TARGETS = {
    "list": list,
    "pandas": pd.Series,
    "pandas category": lambda y: pd.Series(y, dtype="category"),
    "polars": lambda y: pl.Series("reif", y.tolist()),
    "pyarrow": lambda y: pa.chunked_array([y.tolist()]),
    "objects": lambda y: y.astype(object),
}


@pytest.mark.parametrize("library", TARGETS)
def test_every_kind_of_target(patients, library):
    expected = evaluate(GaussianNB(), patients.X, patients.y, cv=3, repeats=1)
    found = evaluate(GaussianNB(), patients.X, TARGETS[library](patients.y), cv=3, repeats=1)
    assert found.figures == expected.figures
    assert found.classes == expected.classes


@pytest.mark.parametrize("labels", [[3, 7], [False, True], [0.0, 1.0], np.array([3, 7], dtype=object)])
def test_labels_stay_what_they_are(patients, labels):
    y = np.asarray(labels)[(patients.sick == "ill").astype(int)]
    found = evaluate(GaussianNB(), patients.X, y, cv=3, repeats=1)
    assert found.classes == tuple(np.asarray(labels).tolist())
    assert [type(label) for label in found.classes] == [type(label) for label in np.asarray(labels).tolist()]
    assert found.figures == evaluate(GaussianNB(), patients.X, patients.sick, cv=3, repeats=1).figures


def test_several_models_on_the_same_folds(patients):
    models = {"parametrisch": GaussianNB(), "近邻": KNeighborsClassifier(7)}
    both = evaluate(models, patients.X, patients.y, cv=4, repeats=2)
    for name, model in models.items():
        alone = evaluate(model, patients.X, patients.y, cv=4, repeats=2)
        assert both[name] == alone.figures[type(model).__name__]
    assert list(both.figures) == ["parametrisch", "近邻"]


def test_models_in_a_list_are_named_by_their_class(patients):
    models = [GaussianNB(), KNeighborsClassifier(3), GaussianNB(var_smoothing=0.1)]
    found = evaluate(models, patients.X, patients.y, cv=3, repeats=1)
    assert list(found.figures) == ["GaussianNB", "KNeighborsClassifier", "GaussianNB 2"]


def test_models_are_not_changed(patients):
    model = GaussianNB()
    evaluate(model, patients.X, patients.y, cv=3, repeats=1)
    assert not hasattr(model, "classes_")


def test_a_model_that_shows_its_probabilities_only_once_fitted(patients):
    stacked = StackingClassifier([("normal", GaussianNB())], final_estimator=GaussianNB())
    assert evaluate(stacked, patients.X, patients.y, cv=3, repeats=1)["error"].value < 0.66


def test_probabilities_in_single_precision(patients):
    class Single(GaussianNB):
        def predict_proba(self, X):
            return super().predict_proba(X).astype(np.float32)

    found = evaluate(Single(), patients.X, patients.y, cv=3, repeats=1)
    exact = evaluate(GaussianNB(), patients.X, patients.y, cv=3, repeats=1)
    assert found["log_loss"].value == pytest.approx(exact["log_loss"].value, rel=1e-5)
    sums = np.concatenate(found.models[0].probabilities).sum(axis=1)
    np.testing.assert_allclose(sums, 1, atol=1e-9)


# ------------------------------------------------------------------------------------------------------------ bad input


class WithoutProbabilities(BaseEstimator):
    def fit(self, X, y):
        return self


class Broken(GaussianNB):
    """Probabilities that are none."""

    def predict_proba(self, X):
        return super().predict_proba(X) * np.nan


class Inventive(GaussianNB):
    """Answers with classes of its own."""

    def fit(self, X, y):
        return super().fit(X, np.char.add(y, "?"))


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        ({}, ValueError, "no model is given"),
        ([], ValueError, "no model is given"),
        (WithoutProbabilities(), TypeError, "'WithoutProbabilities' is .*, which has no predict_proba"),
        (RidgeClassifier(), TypeError, "has no predict_proba; wrap it in sklearn.calibration"),
        (SVC(), TypeError, "model 'SVC' is SVC.., which has no predict_proba"),
        (GaussianNB, TypeError, "is a class; give an object of it, GaussianNB()"),
        ("naive", TypeError, "model 'str' is 'naive', which has no fit"),
        ({1: GaussianNB()}, TypeError, "model name 1 is no word"),
        (Broken(), ValueError, "row 0 of predict_proba of Broken in fold 1 is .nan"),
        (Inventive(), ValueError, "Inventive answers with class 'gesund.', which y does not hold"),
    ],
)
def test_bad_models_are_named(patients, model, error, message):
    with pytest.raises(error, match=message):
        evaluate(model, patients.X, patients.y, cv=3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": [np.nan] + [1.0, 2.0] * 59 + [1.0]}, "y contains NaN: 1 of 120 targets are missing"),
        ({"y": pl.Series([None] + ["krank", "gesund"] * 59 + ["krank"])}, "1 of 120 targets are missing"),
        ({"y": None}, "y"),
        ({"y": ["krank", "gesund"]}, "X has 120 rows, y has 2"),
        ({"y": ["krank"] * 120}, "y holds one class only .'krank'."),
        ({"reject_cost": -0.1}, "reject_cost is -0.1, expected a number from 0"),
        ({"costs": [[0, 1], [1, 0]]}, "costs has shape"),
        ({"costs": {"krank": {"blau": 1}}}, "costs names class 'blau'"),
        ({"sample_weight": [1.0]}, "one weight per row"),
        ({"sample_weight": np.full(120, -1.0)}, "negative"),
        ({"progress": "yes"}, "progress is 'yes', expected True, False, or None"),
    ],
)
def test_bad_values_are_named(patients, change, message):
    given = {"X": patients.X, "y": patients.y, **change}
    with pytest.raises(ValueError, match=message):
        evaluate(GaussianNB(), given.pop("X"), given.pop("y"), **given)


def test_weights_need_a_model_that_takes_them(patients):
    with pytest.raises(ValueError, match="KNeighborsClassifier .model 'near'. takes no weights in fit"):
        evaluate({"near": KNeighborsClassifier()}, patients.X, patients.y, sample_weight=patients.weights)


@pytest.mark.parametrize(("folds", "where"), [(2, "in fold 1"), (1, "on the rows to test on")])
def test_an_error_of_the_model_says_where(patients, folds, where):
    y = np.where(np.arange(120) < 60, "gesund", "krank")
    with pytest.raises(ValueError, match="one class only") as raised:
        evaluate(mr.NaiveBayesClassifier(), patients.X, y, cv=[(range(50), range(60, 120))] * folds)
    assert raised.value.__notes__ == [f"({where}, evaluating NaiveBayesClassifier)"]


@pytest.mark.parametrize("table", [pl.LazyFrame({"größe": [1.0, 2.0]}), 3])
def test_tables_without_rows_in_memory_are_refused(table):
    with pytest.raises(TypeError, match="collect it first|expected an array"):
        evaluate(GaussianNB(), table, ["gesund", "krank"])


def test_a_table_without_rows_is_refused():
    with pytest.raises(ValueError, match="X has no rows"):
        evaluate(BernoulliNB(), np.zeros((0, 3)), [])
