"""Reliability curves against scikit-learn's, calibration error against a direct loop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.calibration import calibration_curve
from sklearn.naive_bayes import GaussianNB

from merula.answers.evaluation import calibration_error, evaluate, reliability_curve
from merula.answers.evaluation.reliability import _quantiles

CLASSES = ["gesund", "krank", "色泽不明"]


def some_answers(seed, rows=200, decimals=None):
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet([0.7, 0.5, 0.9], rows)
    if decimals is not None:  # many ties, many values on the edges of bins
        proba[:, :2] = np.round(proba[:, :2], decimals)
        proba[:, 2] = np.clip(1 - proba[:, 0] - proba[:, 1], 0, 1)
        proba /= proba.sum(axis=1, keepdims=True)
    y = np.array(CLASSES)[[rng.choice(3, p=row) for row in proba]]
    return y, proba, rng.integers(1, 5, rows).astype(float)


@pytest.mark.parametrize("decimals", [None, 1])
@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("bins", [1, 5, 10])
def test_curve_is_scikit_learns(bins, strategy, decimals):
    y, proba, _ = some_answers(1, decimals=decimals)
    for index, label in enumerate(CLASSES):
        curve = reliability_curve(y, proba, CLASSES, label, bins=bins, strategy=strategy)
        observed, predicted = calibration_curve(y == label, proba[:, index], n_bins=bins, strategy=strategy)
        np.testing.assert_allclose(curve.observed, observed)
        np.testing.assert_allclose(curve.predicted, predicted)
        assert sum(curve.count) == len(y)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_a_weight_equals_repeated_rows(strategy):
    y, proba, weights = some_answers(2)
    copies = np.repeat(np.arange(len(y)), weights.astype(int))
    weighted = reliability_curve(y, proba, CLASSES, "krank", strategy=strategy, sample_weight=weights)
    repeated = reliability_curve(y[copies], proba[copies], CLASSES, "krank", strategy=strategy)
    for part in ("predicted", "observed", "count"):
        np.testing.assert_allclose(getattr(weighted, part), getattr(repeated, part))


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(1, 4)), min_size=1, max_size=30),
    st.lists(st.floats(0, 1), min_size=1, max_size=5),
)
def test_weighted_quantiles_are_those_of_repeated_values(pairs, shares):
    values, weights = np.array(pairs).T
    expected = np.quantile(np.repeat(values, weights.astype(int)), shares)
    np.testing.assert_allclose(_quantiles(values, weights, np.array(shares)), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bins", [3, 15])
def test_calibration_error_is_the_direct_sum(bins, weighted):
    y, proba, weights = some_answers(3)
    weights = weights if weighted else np.ones(len(y))
    total = 0.0
    for index in range(bins):
        inside = [row for row in range(len(y)) if index / bins < max(proba[row]) <= (index + 1) / bins]
        if not inside:
            continue
        weight = sum(weights[row] for row in inside)
        right = sum(weights[row] * (CLASSES[proba[row].argmax()] == y[row]) for row in inside) / weight
        confidence = sum(weights[row] * max(proba[row]) for row in inside) / weight
        total += weight / weights.sum() * abs(right - confidence)
    found = calibration_error(y, proba, CLASSES, bins=bins, sample_weight=weights if weighted else None)
    assert found == pytest.approx(total, rel=1e-12)


def test_evaluation_pools_all_folds(patients):
    found = evaluate(GaussianNB(), patients.X, patients.y, cv=3, repeats=2)
    proba = np.concatenate(found.models[0].probabilities)
    y = np.concatenate([patients.y[fold.test] for fold in found.folds])
    for index, label in enumerate(found.classes):
        curve = found.models[0].reliability[label]
        observed, predicted = calibration_curve(y == label, proba[:, index], n_bins=10)
        np.testing.assert_allclose(curve.observed, observed)
        np.testing.assert_allclose(curve.predicted, predicted)
        assert sum(curve.count) == 2 * len(patients.y)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"positive": "kränk"}, "positive is 'kränk', expected one of the classes"),
        ({"bins": 0}, "bins is 0, expected a whole number from 1"),
        ({"strategy": "quantiles"}, "did you mean 'quantile'"),
        ({"classes": ["gesund", "krank"]}, "expected rows × 2 classes"),
        ({"classes": ["gesund", "krank", "blau"]}, "'色泽不明', which is none of the classes"),
        ({"proba": np.full((200, 3), 0.5)}, "row 0 of proba is"),
        ({"proba": np.full((200, 3), np.nan)}, "row 0 of proba is"),
        ({"sample_weight": [1.0]}, "one weight per row"),
    ],
)
def test_bad_input_is_named(change, message):
    y, proba, _ = some_answers(1)
    given = {"y": y, "proba": proba, "classes": CLASSES, "positive": "krank", **change}
    with pytest.raises(ValueError, match=message):
        reliability_curve(**given)
