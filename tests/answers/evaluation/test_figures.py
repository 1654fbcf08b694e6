"""Figures against scikit-learn's metrics on the same folds, brute force, and arithmetic written out."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    brier_score_loss,
    confusion_matrix,
    log_loss,
    roc_auc_score,
    zero_one_loss,
)
from sklearn.model_selection import LeaveOneOut, RepeatedStratifiedKFold, ShuffleSplit, cross_val_score
from sklearn.naive_bayes import GaussianNB

import merula as mr
from merula.answers.decision import DecisionClassifier
from merula.answers.evaluation import calibration_error, evaluate


def sklearn_figures(y, proba, classes, weights):
    """Each figure by scikit-learn's own function."""
    guess = classes[proba.argmax(axis=1)]
    scores = proba[:, 1] if len(classes) == 2 else proba
    return {
        "log_loss": log_loss(y, proba, labels=classes, sample_weight=weights),
        "brier": brier_score_loss(y, proba, labels=classes, sample_weight=weights, scale_by_half=False),
        "error": zero_one_loss(y, guess, sample_weight=weights),
        "auc": roc_auc_score(y, scores, multi_class="ovr", labels=classes, sample_weight=weights),
    }


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("target", ["y", "sick"])
def test_figures_are_scikit_learns_on_the_same_folds(patients, target, weighted):
    y = getattr(patients, target)
    weights = patients.weights if weighted else None
    found = evaluate(
        GaussianNB(), patients.X, y, cv=5, repeats=2, random_state=7, sample_weight=weights, progress=False
    )
    folds = list(RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=7).split(patients.X, y))
    assert len(found.folds) == 10
    per_fold = []
    for index, (train, test) in enumerate(folds):
        part = None if weights is None else weights[train]
        model = GaussianNB().fit(patients.X[train], y[train], sample_weight=part)
        proba = model.predict_proba(patients.X[test])
        assert found.folds[index].test.tolist() == test.tolist()
        np.testing.assert_allclose(found.models[0].probabilities[index], proba, rtol=1e-12)
        per_fold.append(sklearn_figures(y[test], proba, model.classes_, None if weights is None else weights[test]))
    for name in ("log_loss", "brier", "error", "auc"):
        expected = [fold[name] for fold in per_fold]
        np.testing.assert_allclose(found[name].per_fold, expected, rtol=1e-12, err_msg=name)
        assert found[name].value == pytest.approx(np.mean(expected), rel=1e-12)


def test_overall_values_are_cross_val_scores(patients):
    folds = RepeatedStratifiedKFold(n_splits=10, n_repeats=3, random_state=0)
    found = evaluate(GaussianNB(), patients.X, patients.y)
    for name, scoring in {"log_loss": "neg_log_loss", "error": "accuracy", "auc": "roc_auc_ovr"}.items():
        mean = cross_val_score(GaussianNB(), patients.X, patients.y, cv=folds, scoring=scoring).mean()
        expected = {"log_loss": -mean, "error": 1 - mean, "auc": mean}[name]
        assert found[name].value == pytest.approx(expected, rel=1e-12), name


def test_brier_of_two_classes_is_twice_the_binary_score(stated_probability):
    X, y = [[0.9], [0.2], [0.6]], ["ill", "healthy", "healthy"]
    found = evaluate(stated_probability(), [*X, *X], [*y, *y], cv=([3, 4, 5], [0, 1, 2]))
    # 2 · (0.1² + 0.2² + 0.6²) / 3
    assert found["brier"].value == pytest.approx(2 * (0.01 + 0.04 + 0.36) / 3)


def test_calibration_error_is_that_of_all_folds_together(patients):
    found = evaluate(
        {"one": GaussianNB(), "other": GaussianNB(var_smoothing=0.1)}, patients.X, patients.y, cv=4, repeats=1
    )
    rows = np.concatenate([fold.test for fold in found.folds])
    expected = [calibration_error(patients.y[rows], np.concatenate(model.probabilities), found.classes) for model in found.models]  # fmt: skip
    for model, error in zip(found.models, expected, strict=True):
        assert model.figures["calibration_error"].value == pytest.approx(error, rel=1e-9)
        assert model.figures["calibration_error"].per_fold == (None,) * 4
        assert model.figures["calibration_error"].standard_error is None
    assert found.compare("calibration_error")[0].difference == pytest.approx(expected[0] - expected[1])


def test_confusion_counts_every_row_once(patients):
    model = GaussianNB()
    found = evaluate(model, patients.X, patients.y, cv=5, repeats=2, sample_weight=patients.weights)
    summed = np.zeros((3, 3))
    for train, test in RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0).split(patients.X, patients.y):
        model.fit(patients.X[train], patients.y[train], sample_weight=patients.weights[train])
        guess = model.predict(patients.X[test])
        summed += confusion_matrix(patients.y[test], guess, labels=found.classes, sample_weight=patients.weights[test])
    np.testing.assert_allclose(found.models[0].confusion, summed / 2)
    totals = [patients.weights[patients.y == label].sum() for label in found.classes]
    np.testing.assert_allclose(found.models[0].confusion.sum(axis=1), totals)


def test_confusion_of_overlapping_test_sets_has_the_weight_of_the_rows_tested(patients):
    splitter = ShuffleSplit(4, test_size=0.3, random_state=1)
    found = evaluate(GaussianNB(), patients.X, patients.y, cv=splitter)
    tested = {row for _, test in splitter.split(patients.X) for row in test.tolist()}
    assert found.models[0].confusion.sum() == pytest.approx(len(tested))


# ------------------------------------------------------------------------------------------------- classes that are absent


def test_class_absent_from_training_rows_has_probability_zero(class_shares):
    y = np.array(["Adélie", "Adélie", "Gentoo", "Gentoo", "Adélie", "帽带"])
    found = evaluate(class_shares(), np.zeros((6, 1)), y, cv=([0, 1, 2, 3], [4, 5]))
    assert found.classes == ("Adélie", "Gentoo", "帽带")
    np.testing.assert_allclose(found.models[0].probabilities[0], [[0.5, 0.5, 0], [0.5, 0.5, 0]])
    assert found["impossible"].value == 0.5
    # scikit-learn takes a probability of 0 for 2^-52
    assert found["log_loss"].value == pytest.approx((np.log(2) + 52 * np.log(2)) / 2)
    # (0.5² + 0.5²) and (0.5² + 0.5² + 1²)
    assert found["brier"].value == pytest.approx((0.5 + 1.5) / 2)


def test_auc_leaves_out_a_fold_without_some_class(stated_probability):
    X = np.array([[0.1], [0.4], [0.3], [0.8], [0.2], [0.6], [0.5], [0.7]])
    y = np.array(["healthy", "ill", "healthy", "ill", "healthy", "healthy", "ill", "healthy"])
    halves = [(range(4, 8), range(4)), ([0, 1, 2, 3], [4, 5]), ([0, 1, 2, 3], [6, 7])]
    found = evaluate(stated_probability(), X, y, cv=halves)
    # fold 1: both ill above both healthy; fold 2: no one ill; fold 3: the ill (0.5) below the healthy (0.7)
    assert found["auc"].per_fold == (1.0, None, 0.0)
    assert found["auc"].value == 0.5
    # two folds of ratios 4/4 and 2/4: sqrt((1/2 + 3/4) · 1/2)
    assert found["auc"].standard_error == pytest.approx(np.sqrt(1.25 * 0.5))


def test_auc_of_single_rows_is_undefined(patients):
    """A fold of one row has nothing to compare; between folds, guessing by frequencies would seem worse than chance (0)."""
    found = evaluate({"normal": GaussianNB(), "prior": DummyClassifier()}, patients.X, patients.sick, cv=LeaveOneOut())
    for name in ("normal", "prior"):
        assert found[name]["auc"].value is None
        assert set(found[name]["auc"].per_fold) == {None}


@pytest.mark.parametrize("folds", [2, 5, 10])
@pytest.mark.parametrize("weighted", [False, True])
def test_auc_of_a_constant_prediction_is_a_half(folds, weighted, class_shares):
    """Also where classes are smaller than the number of folds, so that no fold holds them all."""
    y = np.array(["ill"] * 3 + ["healthy"] * 40 + ["krank"] * 2)
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float) if weighted else None
    models = {"prior": DummyClassifier(strategy="prior"), "constant": DummyClassifier(strategy="uniform")}
    models |= {"ours": mr.NaiveBayesClassifier()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = evaluate(models, np.zeros((len(y), 1)), y, cv=folds, sample_weight=weights)
    for name in models:
        assert found[name]["auc"].value == 0.5, name


def test_auc_where_no_fold_holds_all_classes_compares_rows_of_one_fold_only(patients):
    """Of each class against the rest: the share of pairs, both tested in one fold, that are in the right order."""
    rows = np.concatenate([np.flatnonzero(patients.y == label)[:count] for label, count in (("gesund", 30), ("krank", 3), ("色泽不明", 2))])  # fmt: skip
    X, y, weights = patients.X[rows], patients.y[rows], patients.weights[rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = evaluate(GaussianNB(var_smoothing=0.1), X, y, cv=8, repeats=1, sample_weight=weights)
    assert set(found["auc"].per_fold) == {None}
    areas = []
    for index, label in enumerate(found.classes):
        won = pairs = 0.0
        for fold, proba in zip(found.folds, found.models[0].probabilities, strict=True):
            score = dict(zip(fold.test.tolist(), proba[:, index].tolist(), strict=True))
            for one in fold.test[y[fold.test] == label]:
                for other in fold.test[y[fold.test] != label]:
                    mass = weights[one] * weights[other]
                    pairs += mass
                    won += mass * ((score[one] > score[other]) + 0.5 * (score[one] == score[other]))
        areas.append(won / pairs)
    assert found["auc"].value == pytest.approx(np.mean(areas), rel=1e-12)
    assert found["auc"].standard_error is None


def test_frozen_model_may_know_more_classes_than_the_target(patients):
    from sklearn.frozen import FrozenEstimator

    fitted = FrozenEstimator(GaussianNB().fit(patients.X, patients.y))
    rows = np.flatnonzero(patients.y != "krank")
    X, y = patients.X[rows], patients.y[rows]
    half = np.arange(len(y)) % 2 == 0
    found = evaluate(fitted, X, y, cv=(half, ~half))
    proba = fitted.predict_proba(X[~half])
    assert found.classes == ("gesund", "krank", "色泽不明")
    assert found["log_loss"].value == pytest.approx(log_loss(y[~half], proba, labels=found.classes))
    areas = [roc_auc_score(y[~half] == label, proba[:, index]) for index, label in ((0, "gesund"), (2, "色泽不明"))]
    assert found["auc"].value == pytest.approx(np.mean(areas))


# ------------------------------------------------------------------------------------------------------------ decisions

COSTS = {
    "gesund": {"krank": 4, "色泽不明": 2},
    "krank": {"gesund": 1, "色泽不明": 1.5},
    "色泽不明": {"gesund": 1, "krank": 2},
}


def least_risk_by_hand(proba, truth, costs, classes, reject_cost):
    """(cost, risk, accepted, wrong) of one row, by trying every action."""
    risks = {
        action: sum(p * row.get(label, 0) for p, label in zip(proba, classes, strict=True))
        for action, row in costs.items()
    }
    best = min(risks, key=risks.get)
    if reject_cost is not None and risks[best] > reject_cost:
        return reject_cost, reject_cost, False, False
    return costs[best].get(truth, 0), risks[best], True, best != truth


@pytest.mark.parametrize("weighted", [False, True])
def test_reject_figures_against_brute_force(patients, weighted):
    weights = patients.weights if weighted else np.ones(len(patients.y))
    found = evaluate(
        GaussianNB(),
        patients.X,
        patients.y,
        cv=3,
        repeats=1,
        costs=COSTS,
        reject_cost=0.6,
        sample_weight=weights if weighted else None,
    )
    for index, fold in enumerate(found.folds):
        rows = [
            least_risk_by_hand(proba, patients.y[row], COSTS, found.classes, 0.6)
            for row, proba in zip(fold.test, found.models[0].probabilities[index], strict=True)
        ]
        cost, risk, accepted, wrong = np.array(rows, dtype=float).T
        part = weights[fold.test]
        expected = {
            "mean_cost": cost @ part / part.sum(),
            "mean_risk": risk @ part / part.sum(),
            "coverage": accepted @ part / part.sum(),
            "error_accepted": wrong @ part / (accepted @ part),
        }
        assert 0 < expected["coverage"] < 1
        for name, value in expected.items():
            assert found[name].per_fold[index] == pytest.approx(value, rel=1e-12), name


def test_rejecting_alone_uses_the_zero_one_loss(stated_probability):
    X, y = [[0.9], [0.95], [0.2], [0.6]], ["ill", "healthy", "healthy", "ill"]
    found = evaluate(stated_probability(), [*X, *X], [*y, *y], cv=(range(4, 8), range(4)), reject_cost=0.25)
    # risks 0.1, 0.05, 0.2, 0.4: the last is rejected; the second is wrong
    assert found["coverage"].value == 0.75
    assert found["error_accepted"].value == pytest.approx(1 / 3)
    assert found["mean_cost"].value == pytest.approx((0 + 1 + 0 + 0.25) / 4)
    assert found["mean_risk"].value == pytest.approx((0.1 + 0.05 + 0.2 + 0.25) / 4)


def test_costs_alone_give_cost_and_risk_and_reject_nothing(patients):
    found = evaluate(GaussianNB(), patients.X, patients.y, cv=3, repeats=1, costs=COSTS)
    assert {"mean_cost", "mean_risk"} <= set(found.figures["GaussianNB"])
    assert not {"coverage", "error_accepted"} & set(found.figures["GaussianNB"])


def test_actions_that_are_no_classes_have_no_error(patients):
    costs = {"operate": {"healthy": 5, "ill": 1}, "wait": {"healthy": 0, "ill": 9}}
    found = evaluate(GaussianNB(), patients.X, patients.sick, cv=3, repeats=1, costs=costs, reject_cost=1)
    assert "coverage" in found.figures["GaussianNB"]
    assert "error_accepted" not in found.figures["GaussianNB"]


def test_error_of_accepted_rows_is_undefined_where_all_are_rejected(stated_probability):
    X, y = [[0.5], [0.5], [0.5], [0.5]], ["ill", "healthy", "ill", "healthy"]
    found = evaluate(stated_probability(), X, y, cv=[([0, 1], [2, 3]), ([2, 3], [0, 1])], reject_cost=0.1)
    assert found["coverage"].value == 0
    assert found["error_accepted"].value is None
    assert found["error_accepted"].per_fold == (None, None)
    assert "–" in str(found)


def test_without_costs_there_are_no_figures_of_cost(patients):
    found = evaluate(GaussianNB(), patients.X, patients.y, cv=3, repeats=1)
    assert list(found.figures["GaussianNB"]) == [
        "log_loss",
        "brier",
        "error",
        "auc",
        "calibration_error",
        "impossible",
    ]


def test_a_model_that_answers_with_actions_is_evaluated_by_its_probabilities(patients):
    costs = {"operate": {"healthy": 5, "ill": 1}, "wait": {"healthy": 0, "ill": 9}}
    plain = evaluate(GaussianNB(), patients.X, patients.sick, cv=3)
    wrapped = evaluate(DecisionClassifier(GaussianNB(), costs=costs), patients.X, patients.sick, cv=3)
    assert wrapped.figures["DecisionClassifier"] == plain.figures["GaussianNB"]


# -------------------------------------------------------------------------------------------------------------- weights


@pytest.mark.parametrize("single", [True, False])
def test_a_weight_equals_repeated_rows(patients, single):
    """Figures and standard errors alike, on one split and on several."""
    counts = patients.weights.astype(int)
    copies = np.repeat(np.arange(len(counts)), counts)
    fold_of = np.arange(len(counts)) % 3
    folds = [(fold_of != index, fold_of == index) for index in range(1 if single else 3)]
    models = {"normal": GaussianNB(), "linear": LogisticRegression(C=10, tol=1e-10, max_iter=5000)}
    options = {"costs": COSTS, "reject_cost": 0.6}
    weighted = evaluate(models, patients.X, patients.y, cv=folds, sample_weight=patients.weights, **options)
    repeated = evaluate(
        models, patients.X[copies], patients.y[copies], cv=[(a[copies], b[copies]) for a, b in folds], **options
    )
    for name, figure in repeated.figures["normal"].items():
        assert weighted["normal"][name].value == pytest.approx(figure.value, rel=1e-9), name
        expected = figure.standard_error and pytest.approx(figure.standard_error, rel=1e-9)
        assert weighted["normal"][name].standard_error == expected, name
    one, other = weighted.compare("brier")[0], repeated.compare("brier")[0]
    assert one.p_value == pytest.approx(other.p_value, rel=1e-4)
    np.testing.assert_allclose(weighted.models[0].confusion, repeated.models[0].confusion)


def test_rows_of_weight_zero_are_not_there(patients):
    weights = np.where(np.arange(len(patients.y)) % 4 == 0, 0.0, 1.0)
    kept = np.flatnonzero(weights)
    train, test = np.arange(0, 80), np.arange(80, 120)
    found = evaluate(GaussianNB(), patients.X, patients.y, cv=(train, test), sample_weight=weights)
    model = GaussianNB().fit(patients.X[np.intersect1d(kept, train)], patients.y[np.intersect1d(kept, train)])
    rows = np.intersect1d(kept, test)
    assert found.folds[0].test.tolist() == rows.tolist()
    expected = log_loss(patients.y[rows], model.predict_proba(patients.X[rows]), labels=model.classes_)
    assert found["log_loss"].value == pytest.approx(expected)


def test_a_pipeline_hands_weights_to_its_last_step(patients):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PowerTransformer

    train, test = np.arange(0, 80), np.arange(80, 120)
    model = make_pipeline(PowerTransformer(), GaussianNB())
    found = evaluate(model, patients.X, patients.y, cv=(train, test), sample_weight=patients.weights)
    model.fit(patients.X[train], patients.y[train], gaussiannb__sample_weight=patients.weights[train])
    expected = log_loss(patients.y[test], model.predict_proba(patients.X[test]), sample_weight=patients.weights[test])
    assert found["log_loss"].value == pytest.approx(expected)
