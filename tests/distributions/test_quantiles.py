"""Where a numeric column's mass lies given each class: normal quantiles against SciPy, and the default from a sample."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import merula as mr

PROBABILITIES = np.array([1e-15, 1e-9, 0.001, 0.16, 0.5, 0.84, 0.999, 1 - 1e-9])
RNG = np.random.default_rng(11)
Y = RNG.choice(["gesund", "krank"], 400)
PULSE = RNG.normal(np.where(Y == "krank", 90, 65), np.where(Y == "krank", 15, 6))
FRAME = pd.DataFrame(
    {"puls": PULSE, "blood pressure": 1.1 * PULSE + RNG.normal(40, 5, 400), "größe": RNG.normal(170, 9, 400)}
)


def quantiles(model, column):
    owner = next(part for part in model.distributions_ if column in part.columns)
    return owner.quantiles(column, PROBABILITIES, len(model.classes_))


@pytest.mark.parametrize("variance", ["mle", "unbiased"])
@pytest.mark.parametrize("column", list(FRAME))
def test_gaussian_quantiles_are_those_of_each_classs_normal(build, column, variance):
    part = build(mr.Gaussian(), FRAME, Y, variance=variance)
    expected = [
        stats.norm.ppf(PROBABILITIES, own.mean(), own.std(ddof=int(variance == "unbiased")))
        for own in (FRAME.loc[label == Y, column] for label in ("gesund", "krank"))
    ]
    np.testing.assert_allclose(part.quantiles(column, PROBABILITIES, 2), np.transpose(expected), rtol=1e-12)


@pytest.mark.parametrize("column", list(FRAME))
def test_full_covariance_quantiles_are_those_of_each_classs_margin(build, column):
    """The margin of a multivariate normal is normal with the diagonal of the covariance, whatever the correlations."""
    part = build(mr.MultivariateGaussian(shrinkage=0), FRAME, Y)
    expected = [
        stats.norm.ppf(PROBABILITIES, own.mean(), own.std(ddof=0))
        for own in (FRAME.loc[label == Y, column] for label in ("gesund", "krank"))
    ]
    np.testing.assert_allclose(part.quantiles(column, PROBABILITIES, 2), np.transpose(expected), rtol=1e-10)


@pytest.mark.parametrize("column", list(FRAME))
def test_shared_covariance_quantiles_have_the_pooled_within_class_spread(build, column):
    part = build(mr.MultivariateGaussian(covariance="shared", shrinkage=0), FRAME, Y)
    within = FRAME[column] - FRAME[column].groupby(Y).transform("mean")
    means = [FRAME.loc[label == Y, column].mean() for label in ("gesund", "krank")]
    expected = stats.norm.ppf(PROBABILITIES[:, None], means, within.std(ddof=0))
    np.testing.assert_allclose(part.quantiles(column, PROBABILITIES, 2), expected, rtol=1e-10)


@pytest.mark.parametrize("family", [mr.Gaussian(), mr.MultivariateGaussian()], ids=["gaussian", "multivariate"])
def test_a_column_that_never_varies_lies_in_one_place(build, family):
    part = build(family, FRAME.assign(größe=171.5), Y)
    assert set(part.quantiles("größe", PROBABILITIES, 2).ravel().tolist()) == {171.5}
    assert len(set(part.quantiles("puls", PROBABILITIES, 2).ravel().tolist())) == 2 * len(PROBABILITIES)


@pytest.mark.parametrize("kind", [mr.NaiveBayesClassifier, mr.BayesClassifier])
def test_quantiles_and_cumulative_shares_are_inverse(kind):
    """Read through a fitted model: the share of the density below a quantile is the probability asked for."""
    model = kind().fit(FRAME[["puls"]], Y)
    indices = quantiles(model, "puls")
    for k, label in enumerate(model.classes_):
        own = PULSE[label == Y]
        np.testing.assert_allclose(stats.norm.cdf(indices[:, k], own.mean(), own.std()), PROBABILITIES, rtol=1e-6)


@dataclass(frozen=True, eq=False)
class WaitingTime(mr.Distribution):
    """An exponential column, sampled but without quantiles of its own."""

    columns: tuple[str, ...]
    scale: np.ndarray

    def sample(self, classes, rng):
        return {self.columns[0]: rng.exponential(self.scale[classes])}


def test_by_default_quantiles_are_read_from_a_sample_close_to_the_truth():
    part = WaitingTime(("waiting time",), np.array([1.0, 7.0]))
    shares = np.array([0.02, 0.16, 0.5, 0.84, 0.98])
    found = part.quantiles("waiting time", shares, 2)
    for k, scale in enumerate((1.0, 7.0)):
        below = stats.expon.cdf(found[:, k], scale=scale)
        assert np.all(np.abs(below - shares) < 4 * np.sqrt(shares * (1 - shares) / 10_000))  # of 10,000 draws


def test_quantiles_from_a_sample_are_always_the_same():
    part = WaitingTime(("waiting time",), np.array([1.0, 7.0]))
    np.testing.assert_array_equal(
        part.quantiles("waiting time", PROBABILITIES, 2), part.quantiles("waiting time", PROBABILITIES, 2)
    )


@dataclass(frozen=True, eq=False)
class OftenMissing(WaitingTime):
    """The first class has gaps, the second nothing at all."""

    def sample(self, classes, rng):
        values = rng.normal(5.0, 1.0, len(classes))
        return {self.columns[0]: np.where((classes == 1) | (rng.random(len(classes)) < 0.5), np.nan, values)}


def test_missing_cells_of_a_sample_are_left_out():
    found = OftenMissing(("waiting time",), np.ones(2)).quantiles("waiting time", np.array([0.16, 0.5, 0.84]), 2)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found[:, 0], stats.norm.ppf([0.16, 0.5, 0.84], 5.0, 1.0), atol=0.06)
