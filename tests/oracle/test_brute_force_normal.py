"""The multivariate normal against SciPy's marginals, and against EM on rows as Little & Rubin (2002, section 11.2) write it."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

import merula as mr
from merula.distributions.normal_em import class_patterns, fit_normal

COLUMNS = ["blood pressure", "größe", "Blutzucker (mg/dl)", "体温"]


def wards(seed, rows=60, missing=0.0, columns=3):
    """Correlated columns of very different scale, two classes, missing cells at random, and weights."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    mixing = rng.normal(size=(2, columns, columns)) + np.eye(columns)
    scale, origin = np.array([20, 0.1, 1e3, 1e-4])[:columns], np.array([120, 1.7, -5e3, 0.037])[:columns]
    x = np.stack([rng.normal(size=columns) @ mixing[label] + 0.7 * label for label in y]) * scale + origin
    x[rng.random(x.shape) < missing] = np.nan
    return x, y, rng.uniform(0.3, 2.5, rows)


def framed(x):
    return pd.DataFrame(x, columns=COLUMNS[: x.shape[1]])


def marginal_log_density(x, mean, covariance):
    """log N of what is observed of each row; 0 where nothing is.

    SciPy is asked in units of standard deviations: it takes a covariance of columns of very different scale for singular.
    """
    unit = np.sqrt(np.diag(covariance))
    z, correlation = (x - mean) / unit, covariance / np.outer(unit, unit)
    result = np.zeros(len(x))
    for index, seen in enumerate(~np.isnan(x)):
        if seen.any():
            result[index] = (
                multivariate_normal(np.zeros(seen.sum()), correlation[np.ix_(seen, seen)]).logpdf(z[index, seen])
                - np.log(unit[seen]).sum()
            )
    return result


def all_patterns(columns):
    """One row for each pattern of missing cells, values far and near."""
    masks = np.array(list(np.ndindex(*[2] * columns)), dtype=bool)
    x, _, _ = wards(99, rows=len(masks), columns=columns)
    return np.where(masks, x, np.nan)


def only_term(model, x):
    (term,) = model.terms(framed(x)).values()
    return term


def oracle_shrinkage(rows_by_class):
    """Chen et al. (2010), eq. 23, of the within-class correlation matrix, each pair from the rows that observe both."""
    n = sum((~np.isnan(rows).all(axis=1)).sum() for rows in rows_by_class)
    away = np.concatenate([rows - np.nanmean(rows, axis=0) for rows in rows_by_class])
    covariance = np.array([[np.nanmean(one * other) for other in away.T] for one in away.T])
    correlation = covariance / np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    p, trace, squares = len(correlation), np.trace(correlation), np.trace(correlation @ correlation)
    return min(1.0, ((1 - 2 / p) * squares + trace**2) / ((n + 1 - 2 / p) * (squares - trace**2 / p)))


def shrunk(covariance, shrinkage):
    return (1 - shrinkage) * covariance + shrinkage * np.diag(np.diag(covariance))


# --------------------------------------------------------------------------------------------------------------------
# Fitted on complete rows


@pytest.mark.parametrize("columns", [1, 2, 3, 4])
@pytest.mark.parametrize("variance", ["mle", "unbiased"])
@pytest.mark.parametrize("shrinkage", [0, 0.3, 1, "auto"])
def test_full_covariance_and_its_marginals(columns, variance, shrinkage):
    x, y, _ = wards(1, columns=columns)
    model = mr.BayesClassifier(shrinkage=shrinkage, variance=variance).fit(framed(x), y)
    queries = all_patterns(columns)
    term = only_term(model, queries)
    for label in (0, 1):
        own = x[y == label]
        used = shrinkage if shrinkage != "auto" else 1.0 if columns == 1 else oracle_shrinkage([own])
        covariance = shrunk(np.cov(own.T, bias=variance == "mle").reshape(columns, columns), used)
        np.testing.assert_allclose(
            term[:, label], marginal_log_density(queries, own.mean(axis=0), covariance), rtol=1e-10, atol=1e-10
        )


@pytest.mark.parametrize("variance", ["mle", "unbiased"])
@pytest.mark.parametrize("shrinkage", [0, 0.3, 1, "auto"])
def test_shared_covariance_and_its_marginals(variance, shrinkage):
    x, y, _ = wards(2, columns=4)
    term = only_term(
        mr.BayesClassifier(covariance="shared", shrinkage=shrinkage, variance=variance).fit(framed(x), y),
        all_patterns(4),
    )
    parts = [x[y == label] for label in (0, 1)]
    pooled = sum((part - part.mean(axis=0)).T @ (part - part.mean(axis=0)) for part in parts) / (
        len(x) - (2 if variance == "unbiased" else 0)
    )
    covariance = shrunk(pooled, oracle_shrinkage(parts) if shrinkage == "auto" else shrinkage)
    for label, part in enumerate(parts):
        np.testing.assert_allclose(
            term[:, label], marginal_log_density(all_patterns(4), part.mean(axis=0), covariance), rtol=1e-10, atol=1e-10
        )


def test_weighted_covariance():
    x, y, weights = wards(3)
    term = only_term(mr.BayesClassifier(shrinkage=0).fit(framed(x), y, sample_weight=weights), all_patterns(3))
    for label in (0, 1):
        own, w = x[y == label], weights[y == label]
        covariance = np.cov(own.T, aweights=w, ddof=0)
        np.testing.assert_allclose(
            term[:, label],
            marginal_log_density(all_patterns(3), np.average(own, axis=0, weights=w), covariance),
            rtol=1e-10,
            atol=1e-10,
        )


def test_posterior_of_incomplete_rows():
    x, y, _ = wards(4)
    model = mr.BayesClassifier(shrinkage=0).fit(framed(x), y)
    queries = all_patterns(3)
    joint = np.stack(
        [
            np.log(np.mean(y == label))
            + marginal_log_density(queries, x[y == label].mean(axis=0), np.cov(x[y == label].T, bias=True))
            for label in (0, 1)
        ],
        axis=1,
    )
    np.testing.assert_allclose(model.predict_joint_log_proba(framed(queries)), joint, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(model.log_evidence(framed(queries)), logsumexp(joint, axis=1), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(
        model.predict_log_proba(framed(queries)), joint - logsumexp(joint, axis=1, keepdims=True), rtol=1e-9, atol=1e-9
    )


# --------------------------------------------------------------------------------------------------------------------
# Fitted on incomplete rows


def expected_row(row, mean, covariance):
    """A row completed by its regression on what is observed, and the covariance of what was filled in."""
    seen = ~np.isnan(row)
    filled, extra = np.where(seen, row, mean), np.zeros_like(covariance)
    if seen.all():
        return filled, extra
    lost = ~seen
    slope = np.linalg.solve(covariance[np.ix_(seen, seen)], covariance[np.ix_(seen, lost)]).T
    filled[lost] = mean[lost] + slope @ (row[seen] - mean[seen])
    extra[np.ix_(lost, lost)] = covariance[np.ix_(lost, lost)] - slope @ covariance[np.ix_(seen, lost)]
    return filled, extra


def available_variances(parts, weights):
    """Pooled within-class variance of each column, from the cells that are there."""
    squares, total = 0.0, 0.0
    for part, w in zip(parts, weights, strict=True):
        present = np.where(np.isnan(part), 0.0, w[:, None])
        mean = (present * np.nan_to_num(part)).sum(axis=0) / present.sum(axis=0)
        squares = squares + (present * (np.nan_to_num(part) - mean) ** 2).sum(axis=0)
        total = total + present.sum(axis=0)
    return squares / total


def reference_em(parts, weights, shrinkage, steps=3_000):
    """Means of each part and one covariance for all: Σ = (1 − λ)·S + λ·D, D the available variances."""
    kept = [~np.isnan(part).all(axis=1) for part in parts]
    parts, weights = (
        [part[k] for part, k in zip(parts, kept, strict=True)],
        [w[k] for w, k in zip(weights, kept, strict=True)],
    )
    target = np.diag(available_variances(parts, weights))
    n, covariance = sum(w.sum() for w in weights), target
    means = [
        np.array([np.average(column[~np.isnan(column)], weights=w[~np.isnan(column)]) for column in part.T])
        for part, w in zip(parts, weights, strict=True)
    ]
    unit = np.sqrt(np.diag(target))
    for _ in range(steps):
        before, scatter = (np.array(means), covariance), np.zeros_like(covariance)
        for index, (part, w) in enumerate(zip(parts, weights, strict=True)):
            filled, extra = (
                np.array(found)
                for found in zip(*(expected_row(row, means[index], covariance) for row in part), strict=True)
            )
            means[index] = w @ filled / w.sum()
            away = filled - means[index]
            scatter += (away * w[:, None]).T @ away + np.einsum("r,rij->ij", w, extra)
        covariance = (1 - shrinkage) * scatter / n + shrinkage * target
        if (
            max(
                (np.abs(np.array(means) - before[0]) / unit).max(),
                (np.abs(covariance - before[1]) / np.outer(unit, unit)).max(),
            )
            < 1e-13
        ):
            return means, covariance
    raise AssertionError("the reference did not converge")


@pytest.mark.parametrize("seed", [5, 6, 7])
@pytest.mark.parametrize("shrinkage", [0, 0.1, 0.6, 1])
def test_full_covariance_fitted_with_missing_cells_equals_em_on_rows(seed, shrinkage):
    x, y, weights = wards(seed, rows=70, missing=0.2)
    model = mr.BayesClassifier(shrinkage=shrinkage).fit(framed(x), y)
    weighted = mr.BayesClassifier(shrinkage=shrinkage).fit(framed(x), y, sample_weight=weights)
    for label in (0, 1):
        for fitted, w in ((model, np.ones(len(y))), (weighted, weights)):
            (mean,), covariance = reference_em([x[y == label]], [w[y == label]], shrinkage)
            np.testing.assert_allclose(
                only_term(fitted, all_patterns(3))[:, label],
                marginal_log_density(all_patterns(3), mean, covariance),
                rtol=1e-8,
                atol=1e-8,
            )


@pytest.mark.parametrize("shrinkage", [0, 0.1, 0.6])
def test_shared_covariance_fitted_with_missing_cells_equals_em_on_rows(shrinkage):
    x, y, weights = wards(8, rows=70, missing=0.2)
    model = mr.BayesClassifier(covariance="shared", shrinkage=shrinkage).fit(framed(x), y, sample_weight=weights)
    means, covariance = reference_em(
        [x[y == label] for label in (0, 1)], [weights[y == label] for label in (0, 1)], shrinkage
    )
    for label in (0, 1):
        np.testing.assert_allclose(
            only_term(model, all_patterns(3))[:, label],
            marginal_log_density(all_patterns(3), means[label], covariance),
            rtol=1e-8,
            atol=1e-8,
        )


def test_automatic_shrinkage_fitted_with_missing_cells():
    x, y, _ = wards(15, rows=70, missing=0.2)
    full = only_term(mr.BayesClassifier().fit(framed(x), y), all_patterns(3))
    shared = only_term(mr.BayesClassifier(covariance="shared").fit(framed(x), y), all_patterns(3))
    parts = [x[y == label] for label in (0, 1)]
    ones = [np.ones(len(part)) for part in parts]
    means, covariance = reference_em(parts, ones, oracle_shrinkage(parts))
    for label, part in enumerate(parts):
        np.testing.assert_allclose(
            shared[:, label], marginal_log_density(all_patterns(3), means[label], covariance), rtol=1e-8, atol=1e-8
        )
        (mean,), own = reference_em([part], [ones[label]], oracle_shrinkage([part]))
        np.testing.assert_allclose(
            full[:, label], marginal_log_density(all_patterns(3), mean, own), rtol=1e-8, atol=1e-8
        )


def test_unbiased_covariance_fitted_with_missing_cells():
    """n / (n − 1) times the covariance EM finds, n the rows with anything observed."""
    x, y, _ = wards(9, rows=70, missing=0.2)
    x[3] = np.nan
    term = only_term(mr.BayesClassifier(shrinkage=0, variance="unbiased").fit(framed(x), y), all_patterns(3))
    for label in (0, 1):
        own = x[y == label]
        n = (~np.isnan(own).all(axis=1)).sum()
        (mean,), covariance = reference_em([own], [np.ones(len(own))], 0)
        np.testing.assert_allclose(
            term[:, label], marginal_log_density(all_patterns(3), mean, covariance * n / (n - 1)), rtol=1e-8, atol=1e-8
        )


def test_columns_never_observed_together_with_shrinkage():
    """Half the rows know two columns, half the other two: only shrinkage says how they relate."""
    x, y, _ = wards(10, rows=80, columns=4)
    x[::2, :2], x[1::2, 2:] = np.nan, np.nan
    term = only_term(mr.BayesClassifier(shrinkage=0.2).fit(framed(x), y), all_patterns(4))
    for label in (0, 1):
        (mean,), covariance = reference_em([x[y == label]], [np.ones(sum(y == label))], 0.2)
        np.testing.assert_allclose(
            term[:, label], marginal_log_density(all_patterns(4), mean, covariance), rtol=1e-8, atol=1e-8
        )


# --------------------------------------------------------------------------------------------------------------------
# What EM raises


def penalised_log_likelihood(part, mean, covariance, target, shrinkage):
    """log likelihood − ½κ (log |Σ| + tr Σ⁻¹D) with κ = λn / (1 − λ)."""
    observed = part[~np.isnan(part).all(axis=1)]
    kappa = shrinkage * len(observed) / (1 - shrinkage)
    penalty = np.linalg.slogdet(covariance)[1] + np.trace(np.linalg.solve(covariance, np.diag(target)))
    return marginal_log_density(observed, mean, covariance).sum() - 0.5 * kappa * penalty


@pytest.mark.parametrize("shrinkage", [0.0, 0.01, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("seed", [11, 12, 13])
def test_every_step_of_em_raises_the_penalised_log_likelihood(seed, shrinkage):
    x, y, _ = wards(seed, rows=50, missing=0.3)
    x = (x - np.nanmean(x, axis=0)) / np.nanstd(x, axis=0)
    statistic = mr.BayesClassifier().fit(framed(x), y).fitted_.collected.blocks[0]
    for label in (0, 1):
        own = x[y == label]
        target = available_variances([own], [np.ones(len(own))])
        part = class_patterns(statistic, label, np.arange(3), np.zeros(3), np.ones(3))
        fitted = fit_normal([part], np.zeros((1, 3)), target, shrinkage)
        assert len(fitted.objective) > 5
        assert np.diff(fitted.objective).min() > -1e-9
        assert fitted.objective[0] == pytest.approx(
            penalised_log_likelihood(own, np.zeros(3), np.diag(target), target, shrinkage), rel=1e-10
        )
        assert fitted.objective[-1] == pytest.approx(
            penalised_log_likelihood(own, fitted.mean[0], fitted.covariance, target, shrinkage), rel=1e-10
        )


@pytest.mark.parametrize("shrinkage", [0.1, 0.5])
def test_every_step_of_em_with_a_shared_covariance_raises_the_penalised_log_likelihood(shrinkage):
    x, y, _ = wards(14, rows=50, missing=0.3)
    x = (x - np.nanmean(x, axis=0)) / np.nanstd(x, axis=0)
    statistic = mr.BayesClassifier().fit(framed(x), y).fitted_.collected.blocks[0]
    parts = [class_patterns(statistic, label, np.arange(3), np.zeros(3), np.ones(3)) for label in (0, 1)]
    target = available_variances([x[y == 0], x[y == 1]], [np.ones(sum(y == 0)), np.ones(sum(y == 1))])
    fitted = fit_normal(parts, np.zeros((2, 3)), target, shrinkage)
    assert np.diff(fitted.objective).min() > -1e-9
    last = sum(
        penalised_log_likelihood(x[y == label], fitted.mean[label], fitted.covariance, target, shrinkage)
        for label in (0, 1)
    )
    assert fitted.objective[-1] == pytest.approx(last, rel=1e-10)
