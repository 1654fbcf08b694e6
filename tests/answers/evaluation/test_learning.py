"""Would more rows help? Halves of the training rows, the paired difference they make, and what is said of it."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy import sparse, stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import merula as mr
from merula.answers.evaluation import Learning, evaluate
from merula.answers.evaluation.figure import Comparison
from merula.answers.evaluation.folds import half_of
from merula.answers.evaluation.words import _of_learning

# --------------------------------------------------------------------------------------------------------------- halves


@given(st.lists(st.integers(0, 4), min_size=1, max_size=60), st.integers(0, 9))
def test_half_of_the_rows_holds_every_class_in_its_share(classes, seed):
    truth = np.array(classes)
    train = np.random.default_rng(seed).permutation(len(truth))[: max(1, len(truth) - 3)]
    half = half_of(train, truth, None, np.random.RandomState(seed))
    assert half.tolist() == [row for row in train.tolist() if row in set(half.tolist())]
    counts, own = np.bincount(truth[train], minlength=5), np.bincount(truth[half], minlength=5)
    lost = (counts == 1).sum()
    assert len(train) / 2 <= len(half) <= (len(train) + 1) / 2 + lost
    assert (own[counts > 0] > 0).all()
    assert (abs(own - counts / 2) <= 1).all()
    assert half.tolist() == half_of(train, truth, None, np.random.RandomState(seed)).tolist()


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9)), min_size=1, max_size=80), st.integers(0, 9))
def test_groups_are_never_halved(rows, seed):
    truth, groups = np.array(rows).T
    train = np.arange(len(truth))
    half = half_of(train, truth, groups, np.random.RandomState(seed))
    assert np.isin(groups, groups[half]).sum() == len(half)
    assert set(truth[half]) == set(truth)
    kept, all_groups = len(np.unique(groups[half])), len(np.unique(groups))
    assert all_groups / 2 <= kept <= (all_groups + 1) / 2 + 3


def test_a_training_row_that_stands_twice_stays_together():
    train = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    half = half_of(train, np.array([0, 0, 1, 1]), None, np.random.RandomState(0))
    assert len(half) == 4
    assert (np.unique(half, return_counts=True)[1] == 2).all()


def test_alternating_rows_are_not_taken_apart():
    """Left and right eyes in turn: a half that took every other row would see one side alone."""
    half = half_of(np.arange(400), np.zeros(400, dtype=int), None, np.random.RandomState(0))
    assert 0.4 < (half % 2).mean() < 0.6


# ----------------------------------------------------------------------------------------------------------- differences


def halves_of(found, folds, seed=0):
    rng = np.random.RandomState(seed)
    return [(half_of(train, found.truth, found.groups, rng), test) for train, test in folds]


def losses(evaluation):
    """The log loss of each tested row, fold after fold."""
    return np.concatenate(
        [
            -np.log(proba[np.arange(len(proba)), evaluation.truth[fold.test]])
            for fold, proba in zip(evaluation.folds, evaluation.models[0].probabilities, strict=True)
        ]
    )


@pytest.mark.parametrize("grouped", [False, True])
def test_difference_is_that_of_two_evaluations(patients, grouped):
    groups = np.arange(120) // 2 if grouped else None
    folds = [
        (np.flatnonzero(np.arange(120) // 2 % 4 != k), np.flatnonzero(np.arange(120) // 2 % 4 == k)) for k in range(4)
    ]
    found = evaluate(GaussianNB(), patients.X, patients.y, cv=folds, groups=groups, learning_curve=True)
    half = evaluate(GaussianNB(), patients.X, patients.y, cv=halves_of(found, folds), groups=groups)
    one = found.models[0].learning.comparison
    assert one.difference == pytest.approx(found["log_loss"].value - half["log_loss"].value, rel=1e-9)
    differences = losses(found) - losses(half)
    if grouped:
        differences = differences.reshape(60, 2).mean(axis=1)  # rows of a pair are tested side by side
    assert one.standard_error == pytest.approx(stats.sem(differences), rel=1e-9)
    assert one.p_value == pytest.approx(stats.ttest_1samp(differences, 0).pvalue, rel=1e-7)


def test_the_ratio_is_that_of_weights(patients):
    folds = list(KFold(4, shuffle=True, random_state=0).split(patients.X))
    found = evaluate(
        GaussianNB(), patients.X, patients.y, cv=folds, sample_weight=patients.weights, learning_curve=True
    )
    all_rows, half = (
        sum(patients.weights[train].sum() for train, _ in parts) for parts in (folds, halves_of(found, folds))
    )
    assert found.models[0].learning.ratio == pytest.approx(all_rows / half)


def test_nothing_is_fitted_twice_unless_asked(patients):
    fits = []

    class Counted(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            fits.append(len(X))
            return super().fit(X, y, sample_weight)

    options = {"cv": KFold(4)}
    plain = evaluate(Counted(), patients.X, patients.y, **options)
    assert fits == [90] * 4
    assert plain.models[0].learning is None
    assert not any("more rows" in sentence for sentence in plain.verdicts["Counted"])
    more = evaluate(Counted(), patients.X, patients.y, learning_curve=True, **options)
    assert fits == [90] * 8 + [45] * 4
    assert more.figures == plain.figures


def test_the_same_halves_for_every_model_and_every_time(patients):
    models = {"one": GaussianNB(), "other": GaussianNB()}
    found = [evaluate(models, patients.X, patients.y, cv=4, repeats=1, learning_curve=True) for _ in range(2)]
    assert len({model.learning for evaluation in found for model in evaluation.models}) == 1


def test_folds_do_not_depend_on_it(patients):
    seed = np.random.RandomState
    one, other = (
        evaluate(GaussianNB(), patients.X, patients.y, cv=4, random_state=seed(5), learning_curve=more)
        for more in (False, True)
    )
    assert one.figures == other.figures


# ------------------------------------------------------------------------------------------------------- any classifier


class Fussy(ClassifierMixin, BaseEstimator):
    """Refuses, or complains of, fewer than 60 rows."""

    def __init__(self, refuses=True):
        self.refuses = refuses

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.shares_ = counts / len(y)
        if len(y) < 60:
            if self.refuses:
                raise RuntimeError("sixty rows, please.")
            warnings.warn("sixty rows are better", UserWarning, stacklevel=2)
        return self

    def predict_proba(self, X):
        return np.tile(self.shares_, (len(X), 1))


def test_a_model_that_cannot_be_fitted_on_half_of_the_rows_says_so(patients):
    found = evaluate({"fussy": Fussy()}, patients.X, patients.y, cv=4, repeats=1, learning_curve=True)
    assert found.verdicts["fussy"][-1] == (
        "Whether more rows would help fussy is not known: it cannot be fitted on half of the rows (RuntimeError: sixty rows, please)."
    )
    calibrated = CalibratedClassifierCV(GaussianNB(), cv=5)
    rows, labels = patients.X[:20], ["ill", "well"] * 10
    found = evaluate(calibrated, rows, labels, cv=3, repeats=1, learning_curve=True)
    assert (
        "is not known: it cannot be fitted on half of the rows (ValueError"
        in found.verdicts["CalibratedClassifierCV"][-1]
    )


def test_warnings_of_the_half_are_not_the_users(patients):
    found = evaluate(Fussy(refuses=False), patients.X, patients.y, cv=4, repeats=1, learning_curve=True)
    assert found.models[0].learning.comparison is not None


def test_pipelines_words_and_sparse_counts(patients):
    table = pd.DataFrame(patients.X, columns=patients.columns).assign(ward=np.where(patients.X[:, 0] > 0, "A", "B"))
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    options = {"cv": 4, "repeats": 1, "sample_weight": patients.weights, "learning_curve": True}
    for model, rows in (
        (pipeline, patients.X),
        (mr.NaiveBayesClassifier(), table),
        (KNeighborsClassifier(3), patients.X),
        (MultinomialNB(), sparse.csr_matrix(np.abs(patients.X).round())),
    ):
        given = {**options, "sample_weight": None} if isinstance(model, KNeighborsClassifier) else options
        found = evaluate({"model": model}, rows, patients.y, **given)
        assert found.models[0].learning.comparison.standard_error > 0
        assert "more rows" in found.verdicts["model"][-1]


@pytest.mark.parametrize("given", ["yes", [0.5, 1.0], None, 1])
def test_only_yes_or_no(patients, given):
    with pytest.raises(ValueError, match="learning_curve is .*, expected True or False"):
        evaluate(GaussianNB(), patients.X, patients.y, learning_curve=given)


# ---------------------------------------------------------------------------------------------------------------- words


def told_of(model, rows, labels, **options):
    return evaluate({"model": model}, rows, labels, cv=5, repeats=1, learning_curve=True, **options).verdicts["model"][
        -1
    ]


def test_a_model_that_learns_from_every_row_wants_more():
    rng = np.random.default_rng(0)
    places = rng.uniform(-1, 1, (1000, 2))
    board = np.where((np.floor(places * 3).sum(axis=1) % 2) == 0, "black", "white")
    told = told_of(KNeighborsClassifier(15), places, board)
    assert told.startswith("Twice the rows lowered the log loss of model by ")
    assert told.endswith(": more rows would probably help.")


def test_a_model_that_has_learned_all_it_can_does_not():
    rng = np.random.default_rng(1)
    ill = rng.random(3000) < 0.5
    told = told_of(GaussianNB(), rng.normal(ill * 1.0, 1.0)[:, None], np.where(ill, "ill", "well"))
    assert told.startswith("Twice the rows made no clear difference to the log loss of model (")
    assert told.endswith(": more rows will hardly help.")


def test_the_frequencies_hardly_want_more(patients):
    balanced = np.tile(["ill", "well"], 60)
    told = told_of(DummyClassifier(), patients.X, balanced)
    assert (
        told
        == "Twice the rows made no clear difference to the log loss of model (the same): more rows will hardly help."
    )


def test_twenty_rows_say_little_of_what_many_would_do(patients):
    rows, labels = patients.X[:20], np.tile(["ill", "well"], 10)
    assert told_of(DummyClassifier(), rows, labels) == (
        "Twice the rows made no clear difference to the log loss of model (the same); "
        "with so few, that says little about what many more rows would do."
    )


@pytest.mark.parametrize("difference", [-0.012, 0.012])
def test_what_few_rows_showed_clearly_is_told(difference):
    one = Comparison("log_loss", "all rows", "half of the rows", difference, 0.003, None, None)
    told = _of_learning("tree", Learning(2.0, one, rows=6), True, 0.69)
    assert (
        told
        == {
            -0.012: "Twice the rows lowered the log loss of tree by 0.0120 ± 0.0030: more rows would probably help.",
            0.012: "Twice the rows raised the log loss of tree by 0.0120 ± 0.0030; with so few, that says little about what many more rows would do.",
        }[difference]
    )


def test_noise_is_told_that_more_rows_only_catch_up():
    rng = np.random.default_rng(4)
    found = evaluate(
        {"full": mr.BayesClassifier()},
        rng.normal(size=(400, 30)),
        rng.choice(["ill", "well"], 400),
        cv=5,
        repeats=1,
        learning_curve=True,
    )
    assert found.against_baseline()[0].direction == 1
    assert found.verdicts["full"][-1].endswith(
        ": more rows would probably help, if only to catch up with the class frequencies."
    )


@pytest.mark.parametrize(
    ("ratio", "difference", "error", "told"),
    [
        (2.0, -0.012, 0.003, "Twice the rows lowered the log loss of tree by 0.0120 ± 0.0030: more rows would probably help."),
        (1.81, -0.012, 0.003, "Twice the rows lowered the log loss of tree by 0.0120 ± 0.0030: more rows would probably help."),
        (1.6, -0.012, 0.003, "1.6 times the rows lowered the log loss of tree by 0.0120 ± 0.0030: more rows would probably help."),
        (2.0, 0.012, 0.003, "Twice the rows raised the log loss of tree by 0.0120 ± 0.0030: more rows will hardly help."),
        (2.0, -0.003, 0.003, "Twice the rows made no clear difference to the log loss of tree (0.0030 ± 0.0030 lower): more rows will hardly help."),
        (2.0, 0.003, 0.003, "Twice the rows made no clear difference to the log loss of tree (0.0030 ± 0.0030 higher): more rows will hardly help."),
        (2.0, -0.05, 0.04, "Twice the rows made no clear difference to the log loss of tree (0.0500 ± 0.0400 lower): more rows may or may not help."),
        (2.0, 0.01, 0.04, "Twice the rows made no clear difference to the log loss of tree (0.0100 ± 0.0400 higher): more rows may or may not help."),
        (2.0, -0.004, 0.001, "Twice the rows lowered the log loss of tree by 0.0040 ± 0.0010: more rows will hardly help."),
        (2.0, -3e-11, 1e-12, "Twice the rows lowered the log loss of tree by less than 0.0001: more rows will hardly help."),
        (2.0, -0.05, None, "Whether more rows would help tree is not known: what was tested counts for no more than one row or group."),
    ],
)  # fmt: skip
def test_sentences_of_every_outcome(ratio, difference, error, told):
    one = Comparison("log_loss", "all rows", "half of the rows", difference, error, None, None)
    assert _of_learning("tree", Learning(ratio, one), True, 0.69) == told
