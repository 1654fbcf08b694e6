"""DecisionClassifier: scikit-learn's checks, its tools, and costs paid by hand."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import merula as mr

FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)
COSTS = {
    "operate": {"gesund": 30, "krank": 2, "unklar": 9},
    "send home": {"gesund": 0, "krank": 50, "unklar": 20},
    "observe": {"gesund": 4, "krank": 10, "unklar": 5},
}


@pytest.fixture(scope="module")
def patients():
    """90 rows of numbers and words; every tenth cell is missing."""
    rng = np.random.default_rng(20240229)
    diagnosis = rng.choice(["gesund", "krank", "unklar"], size=90, p=[0.5, 0.3, 0.2])
    ill = diagnosis == "krank"
    frame = pd.DataFrame(
        {
            "blood pressure": rng.normal(120, 12, 90) + 15 * ill,
            "größe": rng.normal(171, 9, 90).round(),
            "色泽": np.where(rng.random(90) < 0.3 + 0.4 * ill, "yellow", rng.choice(["pink", "white"], 90)),
        }
    )
    frame = frame.mask(rng.random(frame.shape) < 0.1)
    frame["色泽"] = frame["色泽"].astype(object).where(frame["色泽"].notna(), None)
    return frame, diagnosis


def wrapped(costs=COSTS, **options):
    return mr.DecisionClassifier(mr.NaiveBayesClassifier(), costs=costs, **options)


# --------------------------------------------------------------------------------------------------------------------
# scikit-learn's own checks. As in tests/contract, the one that needs SCIPY_ARRAY_API runs in its own process.

CHECKED = [mr.DecisionClassifier(mr.NaiveBayesClassifier()), mr.DecisionClassifier(LogisticRegression())]
NAMES, PAIRS = parametrize_with_checks(CHECKED).args
PAIRS = [pair for pair in PAIRS if getattr(pair[1].func, "__name__", "") != "check_array_api_input"]


def check_name(pair):
    estimator, check = pair
    options = "-".join(f"{key}={value}" for key, value in check.keywords.items())
    return f"{type(estimator.estimator).__name__}-{check.func.__name__}-{options}"


@pytest.mark.parametrize(NAMES, PAIRS, ids=[check_name(pair) for pair in PAIRS])
def test_scikit_learn_check(estimator, check):
    check(estimator)


IN_ANOTHER_PROCESS = """
import pickle, sys
from sklearn.utils.estimator_checks import check_array_api_input
for classifier in pickle.load(sys.stdin.buffer):
    check_array_api_input(type(classifier).__name__, classifier, array_namespace="numpy", expect_only_array_outputs=False)
"""


def test_array_api_dispatch_leaves_numpy_alone():
    result = subprocess.run(
        [sys.executable, "-c", IN_ANOTHER_PROCESS],
        input=pickle.dumps(CHECKED[:1]),
        capture_output=True,
        env=os.environ | {"SCIPY_ARRAY_API": "1"},
        check=False,
    )
    assert result.returncode == 0, result.stderr.decode()


@pytest.mark.parametrize("inner", [mr.NaiveBayesClassifier(), LogisticRegression()])
def test_tags_are_those_of_the_estimator_inside(inner):
    tags, own = get_tags(mr.DecisionClassifier(inner)), get_tags(inner)
    assert tags.input_tags == own.input_tags
    assert tags.classifier_tags == own.classifier_tags
    assert is_classifier(mr.DecisionClassifier(inner))


# --------------------------------------------------------------------------------------------------------------------
# What it answers


def test_without_costs_it_predicts_as_the_estimator_does(patients):
    frame, y = patients
    inner = mr.NaiveBayesClassifier().fit(frame, y)
    model = mr.DecisionClassifier(mr.NaiveBayesClassifier()).fit(frame, y)
    np.testing.assert_array_equal(model.predict(frame), inner.predict(frame))
    np.testing.assert_array_equal(model.predict_proba(frame), inner.predict_proba(frame))
    np.testing.assert_array_equal(model.predict_log_proba(frame), inner.predict_log_proba(frame))
    assert model.actions_.tolist() == model.classes_.tolist() == ["gesund", "krank", "unklar"]


@pytest.mark.parametrize("labels", [["nein", "ja"], [0, 1], [-1, 1], [False, True], [2.0, 5.0], [3, 2**40]], ids=str)
def test_without_costs_answers_have_the_targets_own_type(patients, labels):
    frame, y = patients
    target = np.array(labels)[(y == "krank").astype(int)]
    model = mr.DecisionClassifier(mr.NaiveBayesClassifier()).fit(frame, target)
    assert model.predict(frame).dtype == target.dtype
    np.testing.assert_array_equal(model.predict(frame), mr.NaiveBayesClassifier().fit(frame, target).predict(frame))


@pytest.mark.parametrize("reject_cost", [None, 3.0])
def test_predict_risk_has_a_column_for_each_action_the_reject_last(patients, reject_cost):
    frame, y = patients
    model = wrapped(reject_cost=reject_cost).fit(frame, y)
    posterior = model.predict_proba(frame)
    expected = [[sum(p * COSTS[action][c] for p, c in zip(row, model.classes_, strict=True)) for action in COSTS] for row in posterior]  # fmt: skip
    names = list(COSTS)
    if reject_cost is not None:
        expected, names = [[*row, reject_cost] for row in expected], [*names, "reject"]
    assert model.actions_.tolist() == names
    np.testing.assert_allclose(model.predict_risk(frame), expected, rtol=1e-12)
    assert model.predict(frame).tolist() == [names[int(np.argmin(row))] for row in expected]


@pytest.mark.parametrize("reject_cost", [None, 4.5])
@pytest.mark.parametrize("weighted", [False, True])
def test_score_is_minus_the_mean_cost_paid(patients, reject_cost, weighted):
    frame, y = patients
    model = wrapped(reject_cost=reject_cost, reject_label=None if reject_cost is None else "überweisen").fit(frame, y)
    weight = np.arange(len(y)) % 4 if weighted else np.ones(len(y))
    done = model.predict(frame)
    paid = [reject_cost if action == "überweisen" else COSTS[action][truth] for action, truth in zip(done, y, strict=True)]  # fmt: skip
    assert reject_cost is None or "überweisen" in done
    expected = -sum(w * cost for w, cost in zip(weight, paid, strict=True)) / weight.sum()
    assert model.score(frame, y, sample_weight=weight if weighted else None) == pytest.approx(expected, rel=1e-12)


def test_score_of_rows_that_hold_only_some_classes(patients):
    frame, y = patients
    ill = y == "krank"
    model = wrapped().fit(frame, y)
    expected = -np.mean([COSTS[action]["krank"] for action in model.predict(frame[ill])])
    assert model.score(frame[ill], y[ill]) == pytest.approx(expected, rel=1e-12)


def test_score_refuses_a_class_it_never_met(patients):
    frame, y = patients
    model = wrapped().fit(frame, y)
    with pytest.raises(ValueError, match="y holds class 'tot'.*'gesund'"):
        model.score(frame, np.where(y == "krank", "tot", y))


def test_weights_reach_the_estimator(patients):
    frame, y = patients
    weight = np.arange(len(y)) % 3
    expected = mr.NaiveBayesClassifier().fit(frame, y, weight).predict_proba(frame)
    np.testing.assert_array_equal(wrapped().fit(frame, y, sample_weight=weight).predict_proba(frame), expected)
    np.testing.assert_array_equal(wrapped().fit(frame, y, weight).predict_proba(frame), expected)


def test_missing_cells_pass_through(patients):
    frame, y = patients
    assert frame.isna().any().all()
    model = wrapped().fit(frame, y)
    nothing = pd.DataFrame({"blood pressure": [np.nan], "größe": [None], "色泽": [None]})
    shares = [np.mean(y == label) for label in ("gesund", "krank", "unklar")]
    np.testing.assert_allclose(model.predict_proba(nothing)[0], shares, rtol=1e-12)
    risks = {action: sum(p * COSTS[action][c] for p, c in zip(shares, model.classes_, strict=True)) for action in COSTS}
    assert model.predict(nothing).tolist() == [min(risks, key=risks.get)]


def test_columns_are_those_of_the_estimator(patients):
    frame, y = patients
    model = wrapped().fit(frame, y)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert model.n_features_in_ == 3
    model.fit(frame[["größe"]].to_numpy(), y)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 1


def test_costs_as_a_frame_and_as_an_array_are_the_same(patients):
    frame, y = patients
    table = pd.DataFrame(COSTS).T
    by_label, by_index = (
        wrapped(table).fit(frame, y),
        wrapped(table[["gesund", "krank", "unklar"]].to_numpy()).fit(frame, y),
    )
    turned = wrapped(table[["unklar", "krank", "gesund"]]).fit(frame, y)
    np.testing.assert_array_equal(by_label.predict(frame), turned.predict(frame))
    assert by_index.actions_.tolist() == ["gesund", "krank", "unklar"]  # 3 × 3: actions are the classes
    np.testing.assert_array_equal(by_label.predict_risk(frame), by_index.predict_risk(frame))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"costs": [[0, 1], [1, 0]]}, r"costs has shape \(2, 2\)"),
        ({"costs": {"operate": {"gesund": 1}}}, "says nothing of class"),
        ({"costs": {"operate": {"gesünd": 1}}}, "costs names class 'gesünd'"),
        ({"reject_cost": -1}, "reject_cost is -1"),
        ({"reject_cost": np.nan}, "reject_cost is nan"),
        ({"reject_label": "?"}, "reject_label .*without reject_cost"),
        ({"reject_cost": 1, "reject_label": "observe"}, "reject_label is 'observe', which is also an action"),
    ],
)
def test_bad_parameters_are_named_at_fit(patients, options, message):
    with pytest.raises(ValueError, match=message):
        wrapped(**options).fit(*patients)


def test_an_estimator_without_probabilities_is_refused(patients):
    frame, y = patients
    with pytest.raises(ValueError, match="LinearSVC.*no predict_proba"):
        mr.DecisionClassifier(LinearSVC()).fit(frame[["größe"]].fillna(0), y)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba", "predict_risk", "score"])
def test_nothing_is_answered_before_fit(patients, method):
    frame, y = patients
    with pytest.raises(NotFittedError):
        getattr(wrapped(), method)(frame, *((y,) if method == "score" else ()))


def test_fit_changes_no_parameter_and_leaves_the_estimator_unfitted(patients):
    model = wrapped(reject_cost=1)
    before = {name: id(value) for name, value in model.get_params(deep=False).items()}
    model.fit(*patients)
    assert {name: id(value) for name, value in model.get_params(deep=False).items()} == before
    assert not hasattr(model.estimator, "classes_")


def test_a_copy_answers_the_same(patients):
    frame, y = patients
    model = wrapped(reject_cost=3).fit(frame, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    assert clone(model).get_params(deep=False).keys() == model.get_params(deep=False).keys()
    assert not hasattr(clone(model), "estimator_")


# --------------------------------------------------------------------------------------------------------------------
# Inside and around scikit-learn's tools


def test_grid_search_over_the_estimators_parameters(patients):
    search = GridSearchCV(wrapped(), {"estimator__smoothing": [0.1, 10], "estimator__class_prior": ["uniform", "empirical"]}, cv=FOLDS).fit(*patients)  # fmt: skip
    by_hand = cross_val_score(wrapped().set_params(**search.cv_results_["params"][1]), *patients, cv=FOLDS).mean()
    assert search.cv_results_["mean_test_score"][1] == pytest.approx(by_hand, rel=1e-12)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max() < 0


def test_grid_search_over_costs_and_reject_cost(patients):
    dear = {action: {truth: 10 * cost for truth, cost in row.items()} for action, row in COSTS.items()}
    search = GridSearchCV(wrapped(), {"costs": [COSTS, dear], "reject_cost": [None, 1.0]}, cv=FOLDS).fit(*patients)
    scores = search.cv_results_["mean_test_score"]
    kept, rejecting, ten_times, _ = scores  # in the order of the grid
    assert ten_times == pytest.approx(10 * kept, rel=1e-12)
    assert rejecting == pytest.approx(cross_val_score(wrapped(reject_cost=1.0), *patients, cv=FOLDS).mean(), rel=1e-12)
    assert rejecting != kept
    assert search.best_params_["reject_cost"] == search.best_estimator_.reject_cost


def test_a_pipeline_inside(patients):
    frame, y = patients
    numbers = frame[["blood pressure", "größe"]]
    inner = make_pipeline(StandardScaler(), mr.NaiveBayesClassifier())
    model = mr.DecisionClassifier(inner, costs=COSTS).fit(numbers, y)
    np.testing.assert_array_equal(model.predict(numbers), wrapped().fit(numbers, y).predict(numbers))
    assert model.get_params()["estimator__naivebayesclassifier__smoothing"] == 1
    assert model.n_features_in_ == 2


def test_a_pipeline_outside(patients):
    frame, y = patients
    pipeline = make_pipeline(FunctionTransformer(), wrapped()).fit(frame, y)
    np.testing.assert_array_equal(pipeline.predict(frame), wrapped().fit(frame, y).predict(frame))
    assert pipeline.score(frame, y) == wrapped().fit(frame, y).score(frame, y)


def test_calibration_inside(patients):
    frame, y = patients
    calibrated = CalibratedClassifierCV(mr.NaiveBayesClassifier(), cv=FOLDS)
    model = mr.DecisionClassifier(calibrated, costs=COSTS, reject_cost=6).fit(frame, y)
    expected = clone(calibrated).fit(frame, y).predict_proba(frame)
    np.testing.assert_allclose(model.predict_proba(frame), expected, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(frame), mr.decide(expected, COSTS, 6, classes=model.classes_))
    assert not hasattr(model, "predict_log_proba")


def test_a_fitted_estimator_is_kept_by_freezing_it(patients):
    frame, y = patients
    fitted = mr.NaiveBayesClassifier(class_prior="uniform").fit(frame[:60], y[:60])
    model = mr.DecisionClassifier(FrozenEstimator(fitted), costs=COSTS).fit(frame[60:], y[60:])
    np.testing.assert_array_equal(model.predict_proba(frame), fitted.predict_proba(frame))
    assert model.classes_.tolist() == fitted.classes_.tolist()


def test_foreign_estimators_decide_as_well(patients):
    frame, y = patients
    numbers = frame[["blood pressure", "größe"]].fillna(frame[["blood pressure", "größe"]].mean())
    model = mr.DecisionClassifier(GaussianNB(), costs=COSTS).fit(numbers, y)
    posterior = GaussianNB().fit(numbers, y).predict_proba(numbers)
    table = np.array([[COSTS[action][label] for label in ("gesund", "krank", "unklar")] for action in COSTS])
    assert model.predict(numbers).tolist() == [list(COSTS)[k] for k in (posterior @ table.T).argmin(axis=1)]


def test_a_pipeline_routes_weights(patients):
    frame, y = patients
    weight = np.arange(len(y)) % 3
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(FunctionTransformer(), wrapped().set_fit_request(sample_weight=True))
        routed = pipeline.fit(frame, y, sample_weight=weight).predict_proba(frame)
    np.testing.assert_array_equal(routed, mr.NaiveBayesClassifier().fit(frame, y, weight).predict_proba(frame))
