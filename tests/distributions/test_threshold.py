"""Bernoulli(threshold=…): numbers asked whether they lie above it, as BernoulliNB(binarize=…)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import BernoulliNB

import merula as mr

RNG = np.random.default_rng(5)
X = np.round(RNG.normal(size=(60, 4)), 1)
X[:, 3] = 7.0  # a column that is always above
Y = RNG.choice(["gesund", "krank", "unklar"], size=60, p=[0.6, 0.3, 0.1])


def classifier(threshold, **options):
    return mr.NaiveBayesClassifier(distributions={"numeric": mr.Bernoulli(threshold=threshold)}, **options)


@pytest.mark.parametrize("threshold", [0.0, 0.5, 1.2, 7.0, 100.0])
@pytest.mark.parametrize("alpha", [1.0, 0.3])
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, lambda x: pd.DataFrame(x, columns=["größe", "色泽", "wing", "tail"]), lambda x: (10 * x).astype(int)])  # fmt: skip
def test_equal_to_scikit_learn(threshold, alpha, form):
    rows = form(X)
    theirs = BernoulliNB(alpha=alpha, binarize=threshold).fit(np.asarray(rows), Y)
    ours = classifier(threshold, smoothing=alpha).fit(rows, Y)
    np.testing.assert_allclose(ours.predict_proba(rows), theirs.predict_proba(np.asarray(rows)), rtol=1e-10)


def test_weights_batches_merges_and_files(tmp_path):
    weights = RNG.integers(1, 4, 60).astype(float)
    expected = BernoulliNB(binarize=0.3).fit(X, Y, weights).predict_proba(X)
    whole = classifier(0.3).fit(X, Y, weights)
    batches = classifier(0.3).partial_fit(X[:7], Y[:7], sample_weight=weights[:7])
    batches.partial_fit(X[7:], Y[7:], sample_weight=weights[7:])
    merged = classifier(0.3).fit(X[:30], Y[:30], weights[:30]) + classifier(0.3).fit(X[30:], Y[30:], weights[30:])
    whole.save(tmp_path / "model.merula")
    for model in (whole, batches, merged, mr.load(tmp_path / "model.merula")):
        np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-10)
    with pytest.raises(mr.InputError, match="cannot be merged"):
        whole + classifier(0.4).fit(X, Y)


def test_missing_cells_are_averaged_out_and_rows_are_explained():
    holey = np.where(RNG.random(X.shape) < 0.2, np.nan, X)
    model = classifier(0.3).fit(holey, Y)
    above = np.where(np.isnan(holey), None, np.where(holey > 0.3, "high", "low")).astype(object)
    levels = {f"x{j}": ["low", "high"] for j in range(4)}
    words = mr.NaiveBayesClassifier(levels=levels).fit(above, Y)
    np.testing.assert_allclose(model.predict_proba(holey), words.predict_proba(above), rtol=1e-12)
    found = mr.explain(model, {"x0": 2.5, "x1": 0.3})
    assert [reason.label for reason in found.reasons][:3] == ["x0 > 0.3", "x1 ≤ 0.3", "x2 = missing"]
    np.testing.assert_allclose(found.posterior, model.predict_proba([[2.5, 0.3, np.nan, np.nan]])[0], rtol=1e-12)


def test_what_cannot_be_cut_is_refused():
    with pytest.raises(mr.InputError, match="column 'x0' is categorical, but a threshold cuts numbers"):
        mr.NaiveBayesClassifier(distributions={"categorical": mr.Bernoulli(threshold=1)}).fit([["a"], ["b"]], [0, 1])
    for bad in (np.nan, np.inf, "0.5", True):
        with pytest.raises(mr.InputError, match="threshold is .*expected a finite number"):
            classifier(bad).fit(X, Y)
