"""Reliability curves against scikit-learn's, calibration error against a direct loop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.calibration import calibration_curve
from sklearn.naive_bayes import GaussianNB

from merula.answers.evaluation import calibration_error, evaluate, reliability_curve
from merula.answers.evaluation.reliability import _quantiles, error_of

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
def test_calibration_error_is_the_direct_sum_over_pairs_of_rows(bins, weighted):
    y, proba, weights = some_answers(3)
    copies = np.repeat(np.arange(len(y)), weights.astype(int) if weighted else 1)
    squares, rows = 0.0, 0
    for index in range(bins):
        inside = [row for row in copies.tolist() if index / bins < max(proba[row]) <= (index + 1) / bins]
        if len(inside) < 2:
            continue
        rest = [(CLASSES[proba[row].argmax()] == y[row]) - max(proba[row]) for row in inside]
        pairs = [one * other for k, one in enumerate(rest) for other in rest[:k]]
        squares += len(inside) * sum(pairs) / len(pairs)
        rows += len(inside)
    assert squares > 0
    found = calibration_error(y, proba, CLASSES, bins=bins, sample_weight=weights.astype(int) if weighted else None)
    assert found == pytest.approx(np.sqrt(squares / rows), rel=1e-9)


@pytest.mark.parametrize("rows", [100, 200, 1000])
def test_chance_is_no_calibration_error(rows):
    """Of probabilities that are right next to nothing is told, of those that are not how far they are off, however many rows there are."""
    rng, right, wrong, off = np.random.default_rng(7), [], [], []
    for _ in range(300):
        score = rng.normal(0, 1.5, rows)
        said, true = 1 / (1 + np.exp(-score)), 1 / (1 + np.exp(-score / 2))
        proba = np.column_stack([1 - said, said])
        right.append(
            calibration_error(np.where(rng.random(rows) < said, "krank", "gesund"), proba, ["gesund", "krank"])
        )
        wrong.append(
            calibration_error(np.where(rng.random(rows) < true, "krank", "gesund"), proba, ["gesund", "krank"])
        )
        off.append(np.mean((said - true) ** 2))
    assert np.median(right) < 0.2 / np.sqrt(rows)  # bins of 15 add gaps of 0.9 / √rows by chance alone
    assert np.mean(right) < 0.4 / np.sqrt(rows)
    assert np.sqrt(np.mean(np.square(wrong))) == pytest.approx(np.sqrt(np.mean(off)), rel=0.08)


def test_a_row_that_is_tested_again_is_no_second_row():
    """Repeats of a cross-validation make the figure no larger: the same row's answers are no evidence of each other."""
    y, posterior, _ = some_answers(4, rows=60)
    y = np.roll(y, 20)
    truth = np.array([CLASSES.index(label) for label in y])
    rows, thrice, copies = np.tile(np.arange(60), 3), np.tile(truth, 3), np.tile(posterior, (3, 1))
    once = error_of(truth, posterior, None)
    assert once > 0
    assert error_of(thrice, copies, None, rows=rows) == pytest.approx(once, rel=1e-9)
    assert error_of(thrice, copies, None) > 1.05 * once
    assert error_of(thrice[::60], copies[::60], None, rows=rows[::60]) is None


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
