"""Curves and actions beside scikit-learn and enumeration."""

import numpy as np
import pytest
from sklearn.metrics import auc, average_precision_score, roc_auc_score

import merula as mr
from merula.report.findings import findings_of
from merula.report.findings.curves import shown_classes

COSTS = {"treat": {"healthy": 1, "ill": 0}, "wait": {"healthy": 0, "ill": 5}}


def answers_of(evaluation, index=0):
    rows = np.concatenate([fold.test for fold in evaluation.folds])
    return evaluation.truth[rows], np.concatenate(evaluation.models[index].probabilities)


@pytest.fixture(scope="module")
def evaluation(patients):
    return mr.evaluate(mr.NaiveBayesClassifier(), *patients, cv=4, repeats=1, costs=COSTS, progress=False)


def test_area_under_the_roc_curve_is_the_mean_of_scikit_learns_in_each_fold(evaluation):
    curve, baseline = findings_of(evaluation).ratings
    assert (curve.model, baseline.model) == ("NaiveBayesClassifier", "class frequencies")
    assert curve.label == baseline.label == "ill"
    areas, pairs = [], []
    for fold, proba in zip(evaluation.folds, evaluation.models[0].probabilities, strict=True):
        truth = evaluation.truth[fold.test]
        areas.append(roc_auc_score(truth, proba[:, 1]))
        pairs.append(truth.sum() * (1 - truth).sum())
    assert auc(*np.transpose(curve.roc)) == pytest.approx(np.average(areas, weights=pairs), abs=1e-12)


def test_the_curves_of_one_fold_are_those_of_real_thresholds(patients):
    halves = [(np.arange(0, len(patients[1]), 2), np.arange(1, len(patients[1]), 2))]
    evaluation = mr.evaluate(mr.NaiveBayesClassifier(), *patients, cv=halves, progress=False)
    curve, _ = findings_of(evaluation).ratings
    truth, proba = answers_of(evaluation)
    recall, precision = np.transpose(curve.precision_recall)
    assert recall[-1] == 1.0
    assert np.sum(np.diff(recall, prepend=0.0) * precision) == pytest.approx(
        average_precision_score(truth, proba[:, 1]), abs=0.02
    )
    scores = np.unique(proba[:, 1])
    real = {(np.mean(proba[truth == 1, 1] >= t), np.mean(truth[proba[:, 1] >= t])) for t in scores.tolist()}
    assert {(round(x, 9), round(y, 9)) for x, y in curve.precision_recall} <= {
        (round(x, 9), round(y, 9)) for x, y in real
    }


def test_the_area_under_precision_and_recall_is_the_mean_of_scikit_learns_in_each_fold():
    """Of a rare class in particular, whose rows stand first in some folds alone."""
    rng = np.random.default_rng(5)
    truth = np.repeat([0, 1], [285, 15])
    columns = rng.normal(truth[:, None] * 1.5, 1.0, (300, 2))
    evaluation = mr.evaluate(mr.NaiveBayesClassifier(), columns, truth, cv=5, repeats=1, progress=False)
    curve = findings_of(evaluation).ratings[0]
    recall, precision = np.transpose(curve.precision_recall)
    folds = zip(evaluation.folds, evaluation.models[0].probabilities, strict=True)
    areas = [average_precision_score(truth[fold.test], proba[:, 1]) for fold, proba in folds]
    assert np.sum(np.diff(recall, prepend=0.0) * precision) == pytest.approx(np.mean(areas), abs=1e-12)


@pytest.mark.filterwarnings("ignore::merula.answers.evaluation.folds.RareClassWarning")
def test_the_curve_of_a_constant_prediction_is_the_diagonal():
    """The frequencies of a class differ from fold to fold; that is no ranking of rows."""
    truth = np.repeat([0, 1], [23, 4])
    evaluation = mr.evaluate(mr.NaiveBayesClassifier(), np.zeros((27, 1)), truth, cv=5, repeats=1, progress=False)
    curve, baseline = findings_of(evaluation).ratings
    for one in (curve, baseline):
        assert np.ptp(np.subtract(*np.transpose(one.roc))) == pytest.approx(0.0, abs=1e-12)


def test_the_cost_curve_is_what_acting_from_each_threshold_on_costs(evaluation):
    curve, baseline = findings_of(evaluation).cost_curves
    truth, proba = answers_of(evaluation)
    assert curve.stated
    guess = np.concatenate(evaluation.baseline.probabilities)
    for one, given in ((curve, proba), (baseline, guess)):
        for threshold, cost in one.points[::7]:
            acts = given[:, 1] >= threshold
            assert cost == pytest.approx(np.mean(np.where(acts, truth == 0, 5.0 * (truth == 1))))


def test_without_costs_the_curve_weighs_a_false_alarm_against_a_miss(patients):
    evaluation = mr.evaluate(mr.NaiveBayesClassifier(), *patients, cv=4, repeats=1, progress=False)
    found = findings_of(evaluation)
    truth, proba = answers_of(evaluation)
    assert found.actions is None
    for c, cost in found.cost_curves[0].points[::13]:
        acts = proba[:, 1] >= c
        assert cost == pytest.approx(np.mean(np.where(acts, c * (truth == 0), (1 - c) * (truth == 1))))


def test_the_best_threshold_is_where_expected_costs_meet(evaluation):
    actions = findings_of(evaluation).actions
    assert actions.threshold == pytest.approx(1 / 6)
    reach = {action.name: action.from_to for action in actions.each}
    assert reach["wait"] == pytest.approx((0.0, 1 / 6))
    assert reach["treat"] == pytest.approx((1 / 6, 1.0))


def test_actions_cost_what_enumeration_says(evaluation):
    actions = findings_of(evaluation).actions
    truth, proba = answers_of(evaluation)
    treat, wait = actions.each
    treated = proba[:, 1] * 5 >= proba[:, 0]
    baseline = evaluation.baseline.figures["mean_cost"].value
    assert actions.costs == {"NaiveBayesClassifier": evaluation["mean_cost"].value, "class frequencies": baseline}
    assert actions.knowing == 0.0
    assert treat.always == pytest.approx(np.mean(truth == 0))
    assert wait.always == pytest.approx(5 * np.mean(truth == 1))
    assert treat.share == pytest.approx(np.mean(treated))
    assert treat.taken == pytest.approx([np.mean(treated[truth == k]) for k in (0, 1)])


def test_no_decision_is_an_action_of_its_own(patients):
    found = findings_of(
        mr.evaluate(mr.NaiveBayesClassifier(), *patients, cv=4, repeats=1, reject_cost=0.1, progress=False)
    )
    names = [action.name for action in found.actions.each]
    assert names == ["healthy", "ill", "no decision"]
    assert sum(action.share for action in found.actions.each) == pytest.approx(1.0)
    assert found.actions.each[2].from_to == pytest.approx((0.1, 0.9))
    assert found.actions.each[2].share == pytest.approx(1 - found.evaluation["coverage"].value, abs=0.02)


def test_of_many_classes_the_commonest_get_a_curve():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(12), np.arange(6, 18))
    evaluation = mr.evaluate(
        mr.NaiveBayesClassifier(), rng.normal(truth, 2.0)[:, None], truth, cv=3, repeats=1, progress=False
    )
    assert shown_classes(evaluation) == list(range(4, 12))
    assert [curve.label for curve in findings_of(evaluation).ratings] == list(range(4, 12))
