"""Prevalences without classes: EM against the likelihood searched by SciPy, intervals and test against simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from merula.answers.monitoring import prevalence as part
from merula.answers.monitoring.prevalence import changed, interval, ratios, shares_of, widened


def rows_of(shares, rows, rng, apart=1.5):
    """P(row given class) up to a factor of rows of normal classes, a ratio for each class."""
    means = apart * np.arange(len(shares))
    x = rng.normal(means[rng.choice(len(shares), rows, p=shares)])
    posterior = norm.pdf(x[:, None] - means)
    posterior /= posterior.sum(axis=1, keepdims=True)
    return ratios(posterior, np.full(len(shares), 1 / len(shares)))


def test_em_finds_what_a_search_finds():
    found = rows_of([0.3, 0.7], 200, np.random.default_rng(0))
    best = minimize_scalar(lambda p: -np.log(found @ [p, 1 - p]).sum(), bounds=(0, 1), method="bounded", options={"xatol": 1e-10})  # fmt: skip
    shares, value = shares_of(found)
    assert shares[0] == pytest.approx(best.x, abs=1e-4)
    assert value == pytest.approx(-best.fun, abs=1e-6)


def test_ends_of_the_interval_have_the_likelihood_they_should():
    found = rows_of([0.3, 0.7], 200, np.random.default_rng(0))
    shares, best = shares_of(found)
    for end in interval(found, shares, best, 0):
        assert 2 * (best - np.log(found @ [end, 1 - end]).sum()) == pytest.approx(3.8415, abs=1e-3)


@pytest.mark.parametrize("seed", range(6))
def test_ends_are_as_a_search_finds_them_where_a_class_is_estimated_not_to_occur(seed):
    means = np.array([0.0, 1.2, 4.0])
    x = np.concatenate(
        [norm.ppf((np.arange(190) + 0.5) / 190, -0.1, 0.9), np.random.default_rng(seed).normal(4.5, 0.5, 4)]
    )
    density = norm.pdf(x[:, None] - means)
    found = ratios(density / density.sum(axis=1, keepdims=True), np.full(3, 1 / 3))
    shares, best = shares_of(found)
    assert shares[1] < 1e-3

    def searched(share):
        def lost(part):
            return -np.log(found @ [share, (1 - share) * part, (1 - share) * (1 - part)]).sum()

        return -minimize_scalar(lost, bounds=(0, 1), method="bounded", options={"xatol": 1e-12}).fun

    for end in interval(found, shares, best, 0):
        assert 2 * (best - searched(end)) == pytest.approx(3.8415, abs=5e-3)


@pytest.mark.parametrize("shares", [(0.3, 0.7), (0.1, 0.3, 0.6)])
def test_intervals_cover_and_the_test_errs_as_often_as_stated(shares):
    covered, alarms, streams = np.zeros(len(shares)), 0, 120
    for seed in range(streams):
        rng = np.random.default_rng(seed)
        found = rows_of(shares, 150, rng, 2.0)
        own, best = shares_of(found)
        for k, truth in enumerate(shares):
            low, high = interval(found, own, best, k)
            covered[k] += low <= truth <= high
        alarms += changed(found, rng.multinomial(800, shares).astype(float), np.array(shares)) <= 0.05
    allowed = 3 * np.sqrt(0.95 * 0.05 / streams)
    np.testing.assert_allclose(covered / streams, 0.95, atol=allowed)
    assert alarms / streams <= 0.05 + allowed


def test_normal_intervals_of_many_rows_are_close_to_those_of_the_likelihood(monkeypatch):
    found = rows_of([0.3, 0.2, 0.5], 20_000, np.random.default_rng(0), 2.0)
    shares, best = shares_of(found)
    exact = [interval(found, shares, best, k) for k in range(3)]
    monkeypatch.setattr(part, "PROFILED", 0)
    np.testing.assert_allclose([interval(found, shares, best, k) for k in range(3)], exact, atol=1e-3)


def test_a_change_is_seen_and_a_class_that_was_ruled_out_stays_so():
    found = rows_of([0.6, 0.4], 400, np.random.default_rng(0))
    assert changed(found, np.array([300.0, 700.0]), np.array([0.3, 0.7])) < 1e-6
    assert changed(found, None, np.array([0.3, 0.7])) < 1e-6
    posterior = np.array([[1.0, 0.0], [1.0, 0.0]])
    assert shares_of(ratios(posterior, np.array([1.0, 0.0])))[0].tolist() == [1.0, 0.0]


def test_squares_of_reaches_add_and_edges_stay():
    drawn = np.random.default_rng(0).normal(0.5, 0.03, 20_000)
    low, high = widened((0.5 - 1.96 * 0.04, 0.5 + 1.96 * 0.04), 0.5, drawn)
    assert (low, high) == pytest.approx((0.5 - 1.96 * 0.05, 0.5 + 1.96 * 0.05), abs=2e-3)  # 3, 4 and 5
    low, high = widened((0.0, 0.1), 0.0, np.array([0.0, 0.02, 0.04]))
    assert low == 0.0
    assert 0.1 < high < 0.2
    assert widened((0.9, 1.0), 1.0, np.array([1.0, 0.98, 0.96])) == pytest.approx((1 - high, 1.0))
    assert widened((0.0, 0.0), 0.0, np.zeros(5)) == (0.0, 0.0)
