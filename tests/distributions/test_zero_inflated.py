"""A mass at 0 and another distribution elsewhere: against the base family on the other values, SciPy, and the laws."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import merula as mr
from merula.data.encode import encode, encode_target, infer_schema
from merula.data.schema import Column
from merula.data.table import open_table
from merula.distributions import GaussianDistribution
from merula.distributions.zero_inflated import moments_of, without_zeros
from merula.stats import Moments, ValueCounts

RNG = np.random.default_rng(41)
N = 400
Y = RNG.choice(["dry", "wet", "梅雨"], N)
LABELS = np.unique(Y)
FRAME = pd.DataFrame(
    {
        "Regen mm": np.where(RNG.random(N) < np.where(Y == "dry", 0.8, 0.3), 0.0, RNG.normal(8, 2, N)),
        "größe": RNG.normal(171, 9, N).round(1),
        "净增": np.where(RNG.random(N) < 0.5, 0.0, RNG.normal(0, np.where(Y == "wet", 3, 1))),
    }
)
HOLEY = FRAME.mask(RNG.random(FRAME.shape) < 0.15)
WEIGHTS = RNG.integers(0, 4, N).astype(float)
BASES = [
    mr.Gaussian(),
    mr.Gaussian(variance="unbiased"),
    mr.GaussianMixture(),
    mr.Histogram(bins=6),
    mr.Kernel(),
    mr.Discretized(method="quantile", bins=4),
]
IDS = ["gaussian", "unbiased", "mixture", "histogram", "kernel", "discretized"]
every_base = pytest.mark.parametrize("base", BASES, ids=IDS)


# ---------------------------------------------------------------------------------------------------------------------
# Densities


@pytest.mark.parametrize("weights", [np.ones(N), WEIGHTS], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("alpha", [0.5, 1.0])
@every_base
def test_log_prob_is_the_mass_at_zero_and_the_base_elsewhere(build, read, base, alpha, weights):
    found = build(mr.ZeroInflated(base), HOLEY, Y, weights, smoothing=alpha)
    others = HOLEY.mask(HOLEY == 0)
    plain = build(base, others, Y, weights, smoothing=alpha)
    expected = plain.log_prob(read(plain, others))
    for c, label in enumerate(LABELS):
        for name in FRAME:
            own, x = HOLEY[name][label == Y], HOLEY[name]
            weight = weights[label == Y]
            n, zeros = weight @ own.notna(), weight @ (own == 0)
            at_zero, elsewhere = (zeros + alpha) / (n + 2 * alpha), (n - zeros + alpha) / (n + 2 * alpha)
            expected[:, c] += np.where(x.isna(), 0.0, np.where(x == 0, np.log(at_zero), np.log(elsewhere)))
    np.testing.assert_allclose(found.log_prob(read(found, HOLEY)), expected, rtol=1e-10, atol=1e-11)


def test_a_normal_elsewhere_is_scipys(build, read):
    found = build(mr.ZeroInflated(), FRAME[["Regen mm"]], Y, smoothing=0.0)
    log_prob = found.log_prob(read(found, pd.DataFrame({"Regen mm": [0.0, 6.5, -0.0, 11.0]})))
    for c, label in enumerate(LABELS):
        own = FRAME["Regen mm"][label == Y]
        wet = own[own != 0]
        zero, normal = math.log((own == 0).mean()), stats.norm(wet.mean(), wet.std(ddof=0))
        expected = [zero, *math.log((own != 0).mean()) + normal.logpdf([6.5, 11.0])]
        np.testing.assert_allclose(log_prob[[0, 1, 3], c], expected, rtol=1e-11)
    assert log_prob[2].tolist() == log_prob[0].tolist()  # −0 is 0


@every_base
def test_mass_and_density_together_are_one(build, read, base):
    part = build(mr.ZeroInflated(base), FRAME[["Regen mm"]], Y)
    zero = np.exp(part.log_prob(read(part, pd.DataFrame({"Regen mm": [0.0]}))))[0]
    if base.name == "discretized":  # masses of intervals, one value for each
        cuts = part.base.cuts["Regen mm"]
        rest = np.exp(part.log_prob(read(part, pd.DataFrame({"Regen mm": [cuts[0] - 1, *np.add(cuts, 1e-9)]})))).sum(
            axis=0
        )
    else:
        # the grid misses 0 and, but for rounding, the edges of bins; a histogram's tails hold next to nothing so far out
        x = np.linspace(-400, 400, 1_000_003) + 1e-7
        rest = np.exp(part.log_prob(read(part, pd.DataFrame({"Regen mm": x})))).sum(axis=0) * (x[1] - x[0])
    np.testing.assert_allclose(zero + rest, 1.0, rtol=1e-4)


def test_moments_of_counted_values_are_those_of_the_rows():
    far = FRAME.assign(größe=FRAME["größe"] + 1e9)
    table = open_table(far.mask(FRAME == 0))
    schema = infer_schema(table)[0]
    rows, target = encode(table, schema, range(3)), encode_target(Y, N, WEIGHTS)
    direct = Moments.zero(schema.names, 3).update(rows, target)
    table = open_table(far)
    counted = ValueCounts.zero(schema.names, 3).update(encode(table, schema, range(3)), target)
    found = moments_of(without_zeros(counted))
    np.testing.assert_array_equal(found.weight, direct.weight)
    np.testing.assert_allclose(found.mean, direct.mean, rtol=1e-13)
    np.testing.assert_allclose(found.squares, direct.squares, rtol=1e-9)


# ---------------------------------------------------------------------------------------------------------------------
# Too little to go by


@every_base
def test_a_class_without_zeros_does_not_make_one_impossible(build, read, base):
    rain = pd.DataFrame({"Regen mm": [0.0, 0, 3, 4, 5, 3.5, 2, 4.5]})
    found = build(mr.ZeroInflated(base), rain, ["dry"] * 3 + ["wet"] * 5)
    assert np.isfinite(found.log_prob(read(found, rain))).all()


def test_without_smoothing_a_class_without_zeros_is_never_zero(build, read):
    rain = pd.DataFrame({"Regen mm": [0.0, 0, 0, 4, 5, 3.5, 2, 4.5]})
    found = build(mr.ZeroInflated(), rain, ["dry"] * 3 + ["wet"] * 5, smoothing=0.0)
    log_prob = found.log_prob(read(found, pd.DataFrame({"Regen mm": [0.0, 4.0]})))
    assert np.isneginf([log_prob[0, 1], log_prob[1, 0]]).all()
    assert log_prob[0, 0] == 0.0
    assert np.isfinite(log_prob[1, 1])
    assert found.quantiles("Regen mm", np.array([0.1, 0.9]), 2)[:, 0].tolist() == [0.0, 0.0]


@every_base
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_a_class_without_values_is_like_all(build, read, base, alpha):
    lacking = FRAME.mask(np.repeat((Y == "dry")[:, None], 3, axis=1))
    found = build(mr.ZeroInflated(base), lacking, Y, smoothing=alpha)
    wet = found.log_prob(read(found, FRAME[Y != "dry"]))
    assert np.isfinite(wet[:, 0]).all()
    zeros, n = (lacking == 0).sum(), lacking.notna().sum()
    np.testing.assert_allclose(np.exp(found.log_zero[0]), (zeros + alpha) / (n + 2 * alpha), rtol=1e-12)


def test_values_other_than_zero_that_never_vary_say_only_that_they_are_not_zero(build, read):
    fee = pd.DataFrame({"Gebühr": [0.0, 0, 5, 0, 5, 5]})
    found = build(mr.ZeroInflated(), fee, ["A"] * 3 + ["B"] * 3)
    expected = np.log([[3 / 5, 2 / 5], [2 / 5, 3 / 5], [2 / 5, 3 / 5]])
    np.testing.assert_allclose(found.log_prob(read(found, pd.DataFrame({"Gebühr": [0.0, 5, 8]}))), expected, rtol=1e-12)


def test_infinity_is_an_error_that_names_the_column(build, read):
    found = build(mr.ZeroInflated(), FRAME, Y)
    with pytest.raises(ValueError, match="column 'Regen mm' contains infinity"):
        found.log_prob(read(found, FRAME.assign(**{"Regen mm": np.inf})))
    with pytest.raises(ValueError, match=r"column 'größe' holds values so far apart"):
        build(mr.ZeroInflated(), FRAME.assign(größe=np.where(Y == "dry", 1e200, -1e200)), Y)


def test_options_and_kinds_are_checked(build):
    for base, message in [
        ("gaussian", r"base is 'gaussian', expected a family object such as Gaussian\(\)"),
        (mr.Gaussian, "expected a family object"),
        (mr.Poisson(), r"has a mass at 0 of its own; for counts use Poisson\(zero_inflated=True\)"),
        (mr.ZeroInflated(), "has a mass at 0 of its own"),
        (mr.MultivariateGaussian(), "is built from PatternMoments; a base is built from Moments or ValueCounts"),
        (mr.Categorical(), "is built from LevelCounts"),
    ]:
        with pytest.raises(ValueError, match=message):
            build(mr.ZeroInflated(base), FRAME, Y)
    with pytest.raises(ValueError, match="column '色泽' is categorical, but the gaussian distribution is for"):
        mr.ZeroInflated().encodes(Column("色泽", "categorical"))
    with pytest.raises(
        ValueError, match="column 'Datum' is datetime, but the zero_inflated distribution is for numeric or count"
    ):
        mr.ZeroInflated().encodes(Column("Datum", "datetime"))
    assert mr.ZeroInflated().encodes(Column("falls", "count")).kind == "count"
    assert mr.ZeroInflated().get_params() == {"base": mr.Gaussian(), "smoothing": None}
    two = build(mr.ZeroInflated(smoothing=mr.MEstimate(4)), FRAME, Y)
    assert two.log_zero.tolist() == build(mr.ZeroInflated(smoothing=2), FRAME, Y).log_zero.tolist()


# ---------------------------------------------------------------------------------------------------------------------
# Missing cells, parts, samples, quantiles, files


def test_parameters_are_the_share_of_zeros_mean_and_deviation(build):
    assert build(mr.ZeroInflated(), HOLEY, Y).parameters_count == 3 * 3 * (1 + 2)


def test_quantiles_of_losses_alone(build):
    """Every other value is negative, and bounded: what lies above them is the mass at 0."""
    loss = np.where(np.arange(100) % 2, 0.0, -np.arange(100) - 1.0)
    found = build(
        mr.ZeroInflated(mr.Discretized(method="width", bins=4)), pd.DataFrame({"Verlust": loss}), np.arange(100) % 4 < 2
    )
    low, middle, high = found.quantiles("Verlust", np.array([0.25, 0.55, 0.9]), 2)
    assert (low < -20).all()
    assert middle.tolist() == high.tolist() == [0.0, 0.0]


def test_quantiles_are_those_of_mass_and_normal_together(build):
    found = build(mr.ZeroInflated(), FRAME, Y)
    shares = np.array([1e-9, 0.04, 0.2, 0.5, 0.6, 0.9, 0.9999])
    for j, name in enumerate(FRAME):
        quantiles, zero = found.quantiles(name, shares, 3), np.exp(found.log_zero[:, j])
        normal = stats.norm(found.base.mean[:, j], np.sqrt(found.base.variance[:, j]))
        upto = (1 - zero) * normal.cdf(quantiles) + zero * (quantiles >= 0)
        before = upto - zero * (quantiles == 0)
        wanted = np.repeat(shares[:, None], 3, axis=1)
        assert (before <= wanted * (1 + 1e-7)).all()
        assert (upto >= wanted * (1 - 1e-7)).all()
        np.testing.assert_allclose(upto[quantiles != 0], wanted[quantiles != 0], rtol=1e-6)


@every_base
def test_samples_are_zero_as_often_as_the_model_says(build, base):
    found, n = build(mr.ZeroInflated(base), FRAME, Y), 30_000
    classes = np.repeat([0, 1, 2], n)
    drawn = found.sample(classes, np.random.default_rng(1))
    shares = np.array([0.1, 0.35, 0.8, 0.97])
    for j, name in enumerate(FRAME):
        for c in range(3):
            own, p = drawn[name][classes == c], math.exp(found.log_zero[c, j])
            assert abs((own == 0).mean() - p) < 5 * math.sqrt(p * (1 - p) / n)
            if base.name != "kernel":  # whose quantiles are bounds
                quantiles = found.quantiles(name, shares, 3)[:, c]
                slack = 5 * np.sqrt(shares * (1 - shares) / n)
                assert ((own[:, None] <= quantiles).mean(axis=0) >= shares - slack).all()
                assert ((own[:, None] < quantiles).mean(axis=0) <= shares + slack).all()


@dataclass(frozen=True, eq=False)
class OwnDistribution(GaussianDistribution):
    """A distribution of the user's own, which does not come apart."""

    def factors(self):
        return (self,)


@dataclass(frozen=True)
class OwnFamily(mr.Gaussian):
    name: ClassVar[str] = "own"
    distribution: ClassVar[type] = OwnDistribution

    def build(self, statistic, setting):
        return OwnDistribution(**vars(super().build(statistic, setting)))


def test_a_base_of_ones_own_serves_but_cannot_be_saved(build, read):
    found, plain = (build(mr.ZeroInflated(base), HOLEY, Y) for base in (OwnFamily(), mr.Gaussian()))
    expected = plain.log_prob(read(plain, HOLEY))
    np.testing.assert_array_equal(found.log_prob(read(found, HOLEY)), expected)
    assert found.factors() == (found,)
    assert list(found.sample(np.array([0, 1]), RNG)) == list(FRAME)
    with pytest.raises(ValueError, match="your own OwnDistribution cannot be saved"):
        found.state()
