"""Standard errors and paired comparisons against arithmetic written out, and SciPy."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from scipy.stats import sem, ttest_rel
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from merula.answers.evaluation import evaluate
from merula.answers.evaluation.figure import corrected_standard_error

THIRDS = [([*range(4, 12)], [0, 1, 2, 3]), ([*range(4), *range(8, 12)], [4, 5, 6, 7]), ([*range(8)], [8, 9, 10, 11])]
ILL = np.array([0, 1] * 6)


def answers_with_errors(*wrong_per_fold):
    """P(ill) that is right (0.9 for the true class) except for the first rows of each fold of four."""
    wrong = np.concatenate([np.arange(4) < count for count in wrong_per_fold])
    return np.where((ILL == 1) != wrong, 0.9, 0.1)


def test_corrected_standard_error_by_hand(stated_probability):
    X = answers_with_errors(0, 2, 1)[:, None]
    found = evaluate(stated_probability(), X, ILL, cv=THIRDS)
    # errors 0, 1/2, 1/4: mean 1/4, s² = (1/16 + 1/16 + 0) / 2 = 1/16; 4 rows tested for 8 learned from
    assert found["error"].per_fold == (0.0, 0.5, 0.25)
    assert found["error"].value == pytest.approx(1 / 4)
    assert found["error"].standard_error == pytest.approx(sqrt((1 / 3 + 4 / 8) * 1 / 16))


def test_folds_equal_but_for_rounding_have_no_spread():
    assert corrected_standard_error([0.1 + 0.2, 0.3, 0.3], 0.1) == 0.0
    assert corrected_standard_error([0.3, 0.3 + 1e-9], 0.1) > 0
    assert corrected_standard_error([0.0, 0.0], 0.1) == 0.0


def test_unequal_folds_use_the_mean_ratio(stated_probability):
    X = answers_with_errors(0, 2, 1)[:, None]
    folds = [([*range(4, 12)], [0, 1, 2, 3]), ([*range(4)], [4, 5, 6, 7, 8, 9])]
    found = evaluate(stated_probability(), X, ILL, cv=folds)
    # errors 0 and 3/6, s² = 2 · (1/4)² = 1/8; ratios 4/8 and 6/4
    assert found["error"].standard_error == pytest.approx(sqrt((1 / 2 + (0.5 + 1.5) / 2) * 1 / 8))


def test_paired_comparison_by_hand(stated_probability):
    X = np.column_stack([answers_with_errors(0, 2, 1), answers_with_errors(1, 2, 2)])
    models = {"größe": stated_probability(0), "色泽": stated_probability(1)}
    (found,) = evaluate(models, X, ILL, cv=THIRDS).compare("error")
    # d = −1/4, 0, −1/4: mean −1/6, s² = (2 · (1/12)² + (1/6)²) / 2 = 1/48, se² = (1/3 + 1/2) / 48 = 5/288
    assert (found.figure, found.first, found.second) == ("error", "größe", "色泽")
    assert found.difference == pytest.approx(-1 / 6)
    assert found.standard_error == pytest.approx(sqrt(5 / 288))
    assert found.t == pytest.approx(-sqrt(1.6))  # (1/36) / (5/288)
    # Student's t with 2 degrees of freedom: p = 1 − |t| / √(2 + t²) = 1 − √(1.6 / 3.6)
    assert found.p_value == pytest.approx(1 / 3)


def test_equal_models_do_not_differ(patients):
    models = [GaussianNB(), GaussianNB()]
    found = evaluate(models, patients.X, patients.y, cv=3)
    for name in found.figures["GaussianNB"]:
        (pair,) = found.compare(name)
        assert (pair.first, pair.second) == ("GaussianNB", "GaussianNB 2")
        told = (None, None, None) if name == "calibration_error" else (0, 0, 1)
        assert (pair.difference, pair.standard_error, pair.t, pair.p_value) == (0, *told), name


def test_a_constant_difference_is_certain_and_has_no_t(stated_probability):
    X = np.column_stack([answers_with_errors(0, 0, 0), answers_with_errors(4, 4, 4)])
    (found,) = evaluate([stated_probability(0), stated_probability(1)], X, ILL, cv=THIRDS).compare("error")
    assert (found.difference, found.standard_error, found.t, found.p_value) == (-1, 0, None, 0)


def test_all_pairs_are_compared(patients):
    models = {"normal": GaussianNB(), "smooth": GaussianNB(var_smoothing=0.5), "linear": LogisticRegression()}
    pairs = [(pair.first, pair.second) for pair in evaluate(models, patients.X, patients.y, cv=3).compare()]
    assert pairs == [("normal", "smooth"), ("normal", "linear"), ("smooth", "linear")]


def test_comparison_uses_the_folds_that_define_both(stated_probability):
    # at a reject cost of 0.2, the second model rejects all of its first fold
    second = np.where(np.arange(12) < 4, 0.5, answers_with_errors(0, 1, 3))
    X = np.column_stack([answers_with_errors(4, 2, 1), second])
    models = [stated_probability(0), stated_probability(1)]
    (found,) = evaluate(models, X, ILL, cv=THIRDS, reject_cost=0.2).compare("error_accepted")
    # d = 2/4 − 1/4 = 1/4 and 1/4 − 3/4 = −1/2: mean −1/8, s² = 2 · (3/8)² = 9/32
    assert found.difference == pytest.approx(-1 / 8)
    assert found.standard_error == pytest.approx(sqrt((1 / 2 + 1 / 2) * 9 / 32))


# -------------------------------------------------------------------------------------------------------------- one split


def test_single_split_has_the_standard_error_of_a_mean_over_rows(patients):
    train, test = np.arange(0, 80), np.arange(80, 120)
    found = evaluate(GaussianNB(), patients.X, patients.y, cv=(train, test), reject_cost=0.3)
    model = GaussianNB().fit(patients.X[train], patients.y[train])
    proba = model.predict_proba(patients.X[test])
    truth = np.searchsorted(model.classes_, patients.y[test])
    own = proba[np.arange(40), truth]
    risk, wrong = 1 - proba.max(axis=1), proba.argmax(axis=1) != truth
    kept = risk <= 0.3
    rows = {
        "log_loss": -np.log(own),
        "brier": ((proba - np.eye(3)[truth]) ** 2).sum(axis=1),
        "error": wrong,
        "impossible": own == 0,
        "mean_cost": np.where(kept, wrong, 0.3),
        "mean_risk": np.minimum(risk, 0.3),
        "coverage": kept,
        "error_accepted": wrong[kept],
    }
    for name, values in rows.items():
        assert found[name].value == pytest.approx(np.mean(values)), name
        assert found[name].standard_error == pytest.approx(sem(values.astype(float), ddof=1)), name
        assert found[name].per_fold == (found[name].value,)
    assert found["auc"].standard_error is None
    assert found["calibration_error"].standard_error is None


def test_single_split_compares_rows_pairwise(patients):
    train, test = np.arange(0, 80), np.arange(80, 120)
    models = {"normal": GaussianNB(), "linear": LogisticRegression()}
    found = evaluate(models, patients.X, patients.y, cv=(train, test))
    losses = []
    for model in models.values():
        model.fit(patients.X[train], patients.y[train])
        proba = model.predict_proba(patients.X[test])
        losses.append(-np.log(proba[np.arange(40), np.searchsorted(model.classes_, patients.y[test])]))
    expected = ttest_rel(*losses)
    (pair,) = found.compare("log_loss")
    assert pair.difference == pytest.approx(np.mean(losses[0] - losses[1]))
    assert (pair.t, pair.p_value) == pytest.approx((expected.statistic, expected.pvalue))
    (area,) = found.compare("auc")
    assert area.difference == pytest.approx(found["normal"]["auc"].value - found["linear"]["auc"].value)
    assert (area.standard_error, area.t, area.p_value) == (None, None, None)


def test_one_tested_row_has_no_standard_error(stated_probability):
    found = evaluate(stated_probability(), [[0.2], [0.7], [0.9]], ["healthy", "ill", "ill"], cv=([0, 1], [2]))
    assert found["log_loss"].value == pytest.approx(-np.log(0.9))
    assert found["log_loss"].standard_error is None
    assert found["auc"].value is None
