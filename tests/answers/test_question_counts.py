"""Questions about columns that are summed over rather than integrated: counts, intervals, and zeros among numbers."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import poisson

import merula as mr


@pytest.fixture
def visits():
    rng = np.random.default_rng(3)
    ill = rng.random(300) < 0.4
    frame = pd.DataFrame({"visits": rng.poisson(np.where(ill, 6, 2)).astype(float), "größe": rng.normal(170, 9, 300)})
    return frame, np.where(ill, "krank", "gesund")


@pytest.mark.parametrize("family", ["poisson", "negative_binomial"])
def test_counts_are_summed_one_by_one(visits, family):
    frame, y = visits
    model = mr.NaiveBayesClassifier(kinds={"visits": "count"}, distributions={"count": family}).fit(frame, y)
    asked = {question.column: question for question in mr.next_question(model, {})}["visits"]
    counts = pd.DataFrame({"visits": np.arange(200.0), "größe": np.nan})
    joint = np.exp(model.predict_joint_log_proba(counts))  # P(class, count)
    prior = joint.sum(axis=0)
    assert prior.sum() == pytest.approx(1, abs=1e-9)
    assert asked.reduction == pytest.approx((1 - prior.max()) - (1 - joint.max(axis=1).sum()), abs=1e-9)
    assert asked.error < 1e-9


def test_poisson_by_hand(visits):
    frame, y = visits
    model = mr.NaiveBayesClassifier(kinds="count", distributions={"count": "poisson"}, smoothing=0)
    model.fit(frame[["visits"]], y)
    x, share = np.arange(200), (y == "krank").mean()
    means = [frame["visits"][y == label].mean() for label in ("gesund", "krank")]
    joint = np.column_stack([(1 - share) * poisson.pmf(x, means[0]), share * poisson.pmf(x, means[1])])
    expected = joint.max(axis=1).sum() - max(share, 1 - share)
    assert mr.next_question(model, {})[0].reduction == pytest.approx(expected, abs=1e-9)


def test_intervals_are_summed(visits):
    frame, y = visits
    model = mr.NaiveBayesClassifier(distributions={"numeric": mr.Discretized("quantile", bins=4)}).fit(frame, y)
    asked = {question.column: question for question in mr.next_question(model, {})}["größe"]
    table = model.distributions_[0].probabilities("größe") * np.exp(model.class_log_prior_)
    assert asked.reduction == pytest.approx(table.max(axis=1).sum() - table.sum(axis=0).max(), abs=1e-12)


def test_zeros_are_summed_and_the_rest_is_integrated(visits):
    frame, y = visits
    spent = frame.assign(größe=np.where(frame["visits"] > 3, frame["größe"], 0.0))[["größe"]]
    model = mr.NaiveBayesClassifier(distributions={"numeric": mr.ZeroInflated()}).fit(spent, y)
    asked = mr.next_question(model, {})[0]
    grid = np.linspace(100, 240, 40_001)
    density = np.exp(model.predict_joint_log_proba(pd.DataFrame({"größe": grid})))
    zero = np.exp(model.predict_joint_log_proba(pd.DataFrame({"größe": [0.0]})))
    known = zero.max() + np.trapezoid(density.max(axis=1), grid)
    assert asked.reduction == pytest.approx(known - np.exp(model.class_log_prior_).max(), abs=1e-6)
    assert asked.error < 1e-9


def test_a_nomogram_shows_whole_counts(visits):
    frame, y = visits
    model = mr.NaiveBayesClassifier(kinds={"visits": "count"}).fit(frame, y)
    picture = mr.nomogram(model)
    row = frame.iloc[5]
    total = sum(picture.points(model, row).values())
    assert picture.probability(total) == pytest.approx(model.predict_proba(frame.iloc[[5]])[0, 1], rel=1e-9)
    assert all(value == round(value) for value in picture.scales[0].values)
