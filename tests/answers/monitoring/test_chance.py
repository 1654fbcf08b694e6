"""What chance would do: the tests against SciPy, and against counting how often they err."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from merula.answers.monitoring.chance import (
    equal_parts,
    fisher,
    holm,
    homogeneity,
    mean_differs,
    numbers_differ,
    spread_differs,
)


def test_large_tables_are_those_of_pearson():
    table = np.array([[700.0, 300.0, 500.0], [160.0, 90.0, 101.0]])
    expected = stats.chi2_contingency(table, correction=False).pvalue
    assert homogeneity(*table, np.random.default_rng(0)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("table", [[[10, 2], [3, 8]], [[100, 3], [20, 5]], [[5, 0], [0, 4]]])
def test_small_tables_are_those_of_fisher(table):
    assert fisher(np.array(table, dtype=float)) == pytest.approx(stats.fisher_exact(table).pvalue, rel=1e-9)


def test_sparse_tables_agree_with_scipys_permutations():
    then, now = np.array([4.0, 9, 2, 1, 0, 3]), np.array([1.0, 1, 5, 2, 3, 0])
    rng = np.random.default_rng(0)
    expected = stats.chi2_contingency(
        np.stack([then, now]).astype(int), correction=False, method=stats.PermutationMethod(n_resamples=20_000, rng=rng)
    ).pvalue
    found = [homogeneity(then, now, np.random.default_rng(seed)) for seed in range(20)]
    assert np.mean(found) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("levels", [3, 60])
def test_false_alarms_are_as_frequent_as_stated(levels):
    rng = np.random.default_rng(levels)
    chances = []
    for _ in range(400):
        shares = rng.dirichlet(np.ones(levels))
        samples = [rng.multinomial(rows, shares).astype(float) for rows in (600, 200)]
        chances.append(homogeneity(*samples, rng))
    for level in (0.05, 0.2):
        assert np.mean(np.array(chances) <= level) == pytest.approx(level, abs=3 * np.sqrt(level * (1 - level) / 400))


def test_nothing_to_compare_is_no_test():
    rng = np.random.default_rng(0)
    assert homogeneity(np.array([5.0]), np.array([9.0]), rng) is None
    assert homogeneity(np.array([5.0, 3.0]), np.zeros(2), rng) is None
    assert homogeneity(np.array([5.0, 0.0]), np.array([9.0, 0.0]), rng) is None


def test_a_new_level_is_seen_and_order_does_not_matter():
    then, now = np.array([400.0, 300.0, 0.0, 1.0]), np.array([100.0, 80.0, 12.0, 0.0])
    p = homogeneity(then, now, np.random.default_rng(0))
    assert p < 1e-3
    order = [2, 0, 3, 1]
    assert homogeneity(then[order], now[order], np.random.default_rng(0)) == p


def test_means_are_those_of_welch():
    expected = stats.ttest_ind_from_stats(10, np.sqrt(4 * 50 / 49), 50, 11, np.sqrt(9 * 40 / 39), 40, equal_var=False)
    assert mean_differs((50.0, 10.0, 4.0), (40.0, 11.0, 9.0)) == pytest.approx(expected.pvalue, rel=1e-12)
    assert mean_differs((1.0, 10.0, 0.0), (40.0, 11.0, 9.0)) is None


@pytest.mark.parametrize("draw", ["normal", "uniform"])
def test_spreads_err_as_often_as_stated_and_are_not_told_of_heavy_tails(draw):
    rng = np.random.default_rng(3)
    chances = []
    for _ in range(500):
        one, two = getattr(rng, draw)(size=1_500), getattr(rng, draw)(size=700)
        chances.append(spread_differs((1_500, one.var()), (700, two.var()), stats.kurtosis(two, fisher=False)))
    told = np.array([1.0 if p is None else p for p in chances])
    assert np.mean(told <= 0.05) == pytest.approx(0.05, abs=0.03)
    assert spread_differs((1_500, 1.0), (700, 9.0), 40.0) is None
    assert spread_differs((1_500, 1.0), (700, 1.5), 3.0) < 1e-6


def test_holm_is_statsmodels_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


def test_numbers_of_two_samples():
    rng = np.random.default_rng(0)
    assert numbers_differ(rng.normal(size=900), rng.normal(0.5, 1, 400), rng) < 1e-6
    assert numbers_differ(rng.normal(size=900), rng.normal(size=400), rng) > 1e-3
    assert equal_parts(np.ones(10), 5).tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
