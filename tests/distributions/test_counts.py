"""Poisson and negative binomial columns against SciPy, brute-force maximisation of the likelihood, and the laws."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats

import merula as mr
from merula.data.schema import Column
from merula.distributions.poisson import fit_count, log_count

RNG = np.random.default_rng(5)
N = 400
WARDS = RNG.choice(["Innere", "儿科", "surgery"], N)
LABELS = np.unique(WARDS)
RATES = np.where(WARDS == "surgery", 0.6, np.where(WARDS == "儿科", 2.0, 7.0))
FRAME = pd.DataFrame(
    {
        "Anzahl Besuche": RNG.poisson(RATES).astype(float),
        "falls": RNG.negative_binomial(0.7, 0.7 / (0.7 + RATES)).astype(float),
        "咳嗽次数": np.where(RNG.random(N) < 0.4, 0, RNG.poisson(2 + RATES)).astype(float),
    }
)
HOLEY = FRAME.mask(RNG.random(FRAME.shape) < 0.15)
WEIGHTS = RNG.integers(0, 4, N).astype(float)
FAMILIES = [
    mr.Poisson(),
    mr.Poisson(zero_inflated=True),
    mr.NegativeBinomial(),
    mr.NegativeBinomial(zero_inflated=True),
]
IDS = ["poisson", "poisson-zeros", "negative-binomial", "negative-binomial-zeros"]
every_family = pytest.mark.parametrize("family", FAMILIES, ids=IDS)


def scipy_log_pmf(x, mean, size, extra):
    """log P(x) of a zero-inflated negative binomial, by SciPy."""
    own = stats.poisson.logpmf(x, mean) if np.isinf(size) else stats.nbinom.logpmf(x, size, size / (size + mean))
    with np.errstate(divide="ignore"):
        return np.where(x == 0, np.logaddexp(np.log(extra), np.log1p(-extra) + own), np.log1p(-extra) + own)


def smoothed_weights(column, y, label, weights, alpha):
    """The distinct values of a column, and what each weighs in a class with α imaginary rows as in all classes."""
    known = column.notna().to_numpy() & (weights > 0)
    values, indices = np.unique(column[known], return_inverse=True)
    own = np.bincount(indices, weights[known] * (y[known] == label), len(values))
    everyone = np.bincount(indices, weights[known], len(values))
    return values, own + alpha * everyone / everyone.sum()


# ---------------------------------------------------------------------------------------------------------------------
# What a count weighs


@pytest.mark.parametrize("size", [0.05, 0.8, 3.0, 40.0, 1e3, np.inf])
@pytest.mark.parametrize("mean", [0.01, 0.9, 4.0, 300.0])
def test_log_count_is_scipys(mean, size):
    x = np.arange(1_000.0)
    np.testing.assert_allclose(log_count(x, mean, size), scipy_log_pmf(x, mean, size, 0.0), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n", [1e9, 1e12, 1e15])
def test_huge_counts_keep_their_digits(n):
    """P(n; mean n) by Stirling's series, which for these n has no further term that shows."""
    poisson = -0.5 * math.log(2 * math.pi * n) - 1 / (12 * n)
    np.testing.assert_allclose(log_count(np.array(n), n, np.inf), poisson, rtol=1e-14)
    # a negative binomial of size n has twice the variance: the same series gives P(n; mean n) for Γ(2n)/(Γ(n) n! 4^n)
    half = -0.5 * math.log(4 * math.pi * n) - 1 / (8 * n)
    np.testing.assert_allclose(log_count(np.array(n), n, n), half, rtol=1e-14)


@pytest.mark.parametrize("x", [1e30, 1e60, 1e100])
def test_far_out_the_tail_is_geometric(x):
    """For x ≫ mean, log f = −x·log(1 + size/mean) to the digits shown, or −x·log(x / (e·mean)) for Poisson."""
    np.testing.assert_allclose(log_count(np.array(x), 2.0, 3.0), -x * math.log1p(1.5), rtol=1e-13)
    np.testing.assert_allclose(log_count(np.array(x), 2.0, np.inf), -x * (math.log(x / 2.0) - 1), rtol=1e-13)


@every_family
def test_probabilities_sum_to_one(build, read, family):
    found = build(family, FRAME[["falls"]], WARDS)
    all_counts = read(found, pd.DataFrame({"falls": np.arange(3_000.0)}))
    np.testing.assert_allclose(np.exp(found.log_prob(all_counts)).sum(axis=0), 1.0, rtol=1e-12)


def test_every_finite_count_has_a_log_probability(build, read):
    for family in FAMILIES:
        found = build(family, FRAME[["falls"]], WARDS)
        log_prob = found.log_prob(read(found, pd.DataFrame({"falls": [0.0, 1e20, 1e200, 1.7e308]})))
        assert np.isfinite(log_prob).all()


# ---------------------------------------------------------------------------------------------------------------------
# What is fitted


@pytest.mark.parametrize("weights", [np.ones(N), WEIGHTS], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("alpha", [0.0, 1.0, 2.5])
def test_poisson_log_prob_is_scipys(build, read, alpha, weights):
    found = build(mr.Poisson(), HOLEY, WARDS, weights, smoothing=alpha)
    expected = np.zeros((N, 3))
    for c, label in enumerate(LABELS):
        for name in HOLEY:
            known = HOLEY[name].notna().to_numpy()
            own = known & (label == WARDS)
            everyone = np.average(HOLEY[name][known], weights=weights[known])
            rate = (weights[own] @ HOLEY[name][own] + alpha * everyone) / (weights[own].sum() + alpha)
            expected[:, c] += np.nan_to_num(stats.poisson.logpmf(HOLEY[name], rate))
    np.testing.assert_allclose(found.log_prob(read(found, HOLEY)), expected, rtol=1e-11, atol=1e-12)


def test_the_familys_own_smoothing_goes_before_the_models(build):
    own, of_model = build(mr.Poisson(smoothing=3), FRAME, WARDS), build(mr.Poisson(), FRAME, WARDS, smoothing=3.0)
    rows = build(mr.Poisson(smoothing=mr.MEstimate(3)), FRAME, WARDS)
    assert own.mean.tolist() == of_model.mean.tolist() == rows.mean.tolist()
    assert own.mean.tolist() != build(mr.Poisson(), FRAME, WARDS).mean.tolist()
    shared = build(mr.Poisson(), FRAME, WARDS, smoothing=mr.MEstimate(3, {"red": 0.5, "blue": 0.5}))
    assert shared.mean.tolist() == own.mean.tolist()  # p speaks of levels, of which other columns have some


def negative_log_likelihood(parameters, values, weights, overdispersed, zero_inflated):
    mean = math.exp(parameters[0])
    size = math.exp(min(parameters[1], 11.0)) if overdispersed else np.inf  # beyond, SciPy's own digits go
    extra = 1 / (1 + math.exp(-parameters[-1])) if zero_inflated else 0.0
    return -weights @ scipy_log_pmf(values, mean, size, extra)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("column", list(FRAME))
@every_family
def test_no_search_finds_a_larger_likelihood(build, family, column, alpha):
    found = build(family, HOLEY[[column]], WARDS, smoothing=alpha)
    overdispersed, zeros = isinstance(family, mr.NegativeBinomial), family.zero_inflated
    for c, label in enumerate(LABELS):
        values, weights = smoothed_weights(HOLEY[column], WARDS, label, np.ones(N), alpha)
        fitted = (part[c, 0] for part in (found.mean, found.size, found.extra_zeros))
        reached = weights @ scipy_log_pmf(values, *fitted)
        starts = [[0.5, *[0.0] * overdispersed, *[-1.0] * zeros], [2.0, *[1.5] * overdispersed, *[1.0] * zeros]][
            : 1 + zeros
        ]
        searches = [
            optimize.minimize(
                negative_log_likelihood,
                start,
                (values, weights, overdispersed, zeros),
                method="Nelder-Mead",
                options={"maxiter": 4_000, "maxfev": 4_000, "xatol": 1e-7, "fatol": 1e-9},
            )
            for start in starts
        ]
        assert reached >= -min(search.fun for search in searches) - 1e-7


def test_counts_that_vary_less_than_poisson_have_infinite_size(build, read):
    shots = pd.DataFrame({"Schüsse": [4.0, 5, 4, 5, 4, 0, 0, 9, 1, 30]})
    found = build(mr.NegativeBinomial(), shots, ["even"] * 5 + ["wild"] * 5, smoothing=0.0)
    assert np.isinf(found.size[0, 0])
    assert np.isfinite(found.size[1, 0])
    np.testing.assert_allclose(
        found.log_prob(read(found, shots))[:, 0], stats.poisson.logpmf(shots["Schüsse"], 4.4), rtol=1e-12
    )
    assert found.parameters_count == 1 + 2


def test_a_variance_equal_to_the_mean_is_not_overdispersed():
    mean, size, extra = fit_count(np.array([0.0, 2.0]), np.array([1.0, 1.0]), True, False)  # mean 1, variance 1
    assert (mean, size, extra) == (1.0, np.inf, 0.0)


def test_zeros_that_poisson_explains_are_not_extra():
    values, counts = np.unique(stats.poisson.ppf((np.arange(2_000) + 0.5) / 2_000, 1.5), return_counts=True)
    few = counts.astype(float)
    few[0] -= 20
    assert fit_count(values, few, False, True) == fit_count(values, few, False, False)
    mean, _, extra = fit_count(values, counts + 500.0 * (values == 0), False, True)
    assert abs(extra - 500 / 2_500) < 0.01
    assert abs(mean - 1.5) < 0.02


@pytest.mark.parametrize("overdispersed", [False, True])
def test_zero_inflation_fits_the_share_of_zeros(overdispersed):
    """Where there are extra zeros, the likelihood equation for them says: P(0) is the share of zeros."""
    values, weights = np.unique(FRAME["咳嗽次数"], return_counts=True)
    mean, size, extra = fit_count(values, weights.astype(float), overdispersed, True)
    assert extra > 0
    zero = math.exp(scipy_log_pmf(np.array(0.0), mean, size, extra))
    np.testing.assert_allclose(zero, (FRAME["咳嗽次数"] == 0).mean(), rtol=1e-9)


# ---------------------------------------------------------------------------------------------------------------------
# Too little to go by


GOALS = pd.DataFrame({"Tore": [0.0, 0, 0, 2, 3, 1]})
TEAMS = ["guests"] * 3 + ["hosts"] * 3


@every_family
def test_a_class_of_zeros_does_not_make_a_one_impossible(build, read, family):
    found = build(family, GOALS, TEAMS)
    assert np.isfinite(found.log_prob(read(found, pd.DataFrame({"Tore": [0.0, 1, 5]})))).all()


@every_family
def test_without_smoothing_a_class_of_zeros_is_zero_for_certain(build, read, family):
    found = build(family, GOALS, TEAMS, smoothing=0.0)
    log_prob = found.log_prob(read(found, pd.DataFrame({"Tore": [0.0, 1, 5]})))
    assert log_prob[:, 0].tolist() == [0.0, -np.inf, -np.inf]
    assert np.isfinite(log_prob[:, 1]).all()


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@every_family
def test_a_class_without_values_is_like_all(build, family, alpha):
    lacking = FRAME.mask(np.repeat((WARDS == "儿科")[:, None], 3, axis=1))
    found = build(family, lacking, WARDS, smoothing=alpha)
    position = LABELS.tolist().index("儿科")
    for j, name in enumerate(FRAME):
        values, counts = np.unique(lacking[name].dropna(), return_counts=True)
        pooled = fit_count(values, counts.astype(float), isinstance(family, mr.NegativeBinomial), family.zero_inflated)
        own = (found.mean[position, j], found.size[position, j], found.extra_zeros[position, j])
        np.testing.assert_allclose(own, pooled, rtol=1e-6, atol=1e-9)


# ---------------------------------------------------------------------------------------------------------------------
# What is no count


@every_family
@pytest.mark.parametrize(("value", "shown"), [(2.5, "2.5"), (-1.0, "-1"), (0.1, "0.10000000000000001")])
def test_fractions_and_negative_numbers_are_errors_that_name_column_and_value(build, read, family, value, shown):
    wrong = FRAME.copy()
    wrong.loc[7, "falls"] = value
    with pytest.raises(ValueError, match=f"column 'falls' holds {shown}, expected whole numbers from 0"):
        build(family, wrong, WARDS)
    found = build(family, FRAME, WARDS)
    with pytest.raises(ValueError, match=f"column 'falls' holds {shown}, expected whole numbers from 0"):
        found.log_prob(read(found, wrong))


def test_infinity_and_numbers_beyond_counting_are_errors(build, read):
    found, wrong = build(mr.Poisson(), FRAME, WARDS), FRAME.copy()
    wrong.loc[3, "咳嗽次数"] = np.inf
    with pytest.raises(ValueError, match="column '咳嗽次数' contains infinity"):
        found.log_prob(read(found, wrong))
    wrong.loc[3, "咳嗽次数"] = 1e17
    with pytest.raises(ValueError, match="column '咳嗽次数' holds 1e\\+17, too large for a count"):
        build(mr.Poisson(), wrong, WARDS)


def test_options_and_kinds_are_checked(build):
    with pytest.raises(ValueError, match="zero_inflated is 'yes', expected True or False"):
        build(mr.Poisson(zero_inflated="yes"), FRAME, WARDS)
    with pytest.raises(ValueError, match="smoothing is -1"):
        build(mr.Poisson(smoothing=-1), FRAME, WARDS)
    with pytest.raises(ValueError, match=r"numbers have no levels for p; give MEstimate\(m\)"):
        build(mr.Poisson(smoothing=mr.MEstimate(2, 0.5)), FRAME, WARDS)
    with pytest.raises(ValueError, match="column '色泽' is categorical, but the poisson distribution is for count or"):
        mr.Poisson().encodes(Column("色泽", "categorical"))
    assert mr.NegativeBinomial(True).get_params() == {"zero_inflated": True, "smoothing": None}
    assert mr.Poisson().set_params(zero_inflated=True) == mr.Poisson(zero_inflated=True)


# ---------------------------------------------------------------------------------------------------------------------
# Missing cells, parts, samples, quantiles, files


@every_family
def test_quantiles_are_where_the_probabilities_add_up_to_the_shares(build, read, family):
    found = build(family, FRAME, WARDS)
    shares = np.array([1e-6, 0.03, 0.25, 0.5, 0.77, 0.99, 0.9999])
    for j, name in enumerate(FRAME):
        every = read(found, pd.DataFrame({other: np.arange(2_000.0) for other in FRAME}))
        reached = np.exp(found.factors()[j].log_prob(every)).cumsum(axis=0)
        expected = np.column_stack([np.searchsorted(reached[:, c], shares) for c in range(3)])
        np.testing.assert_array_equal(found.quantiles(name, shares, 3), expected)


@every_family
def test_samples_are_as_probable_as_the_model_says(build, read, family):
    found, n = build(family, FRAME, WARDS), 40_000
    classes = np.repeat([0, 1, 2], n)
    drawn = found.sample(classes, np.random.default_rng(1))
    small = read(found, pd.DataFrame({name: np.arange(4.0) for name in FRAME}))
    for j, name in enumerate(FRAME):
        expected = np.exp(found.factors()[j].log_prob(small))
        for c in range(3):
            for count in range(4):
                share, p = (drawn[name][classes == c] == count).mean(), expected[count, c]
                assert abs(share - p) < 5 * math.sqrt(p * (1 - p) / n)


@pytest.mark.parametrize("classifier", [mr.NaiveBayesClassifier, mr.BayesClassifier])
def test_counts_are_negative_binomial_unless_another_family_is_named(classifier):
    """Where a class varies no more than Poisson counts do, that is Poisson: nothing is lost."""
    even = np.repeat([4.0, 5.0, 4.0, 3.0], 20)[:, None]
    y = np.tile(["ward", "home"], 40)
    found, poisson = (
        classifier(kinds="count", distributions=chosen).fit(even, y) for chosen in (None, {"count": "poisson"})
    )
    np.testing.assert_allclose(found.predict_joint_log_proba(even), poisson.predict_joint_log_proba(even), rtol=1e-12)
    wild = np.concatenate([even, np.full((4, 1), 60.0)])
    model = classifier(kinds="count").fit(wild, np.r_[y, ["ward"] * 4])
    assert np.isfinite(model.distributions_[0].size[1, 0])


@every_family
def test_mean_and_deviation_are_those_of_the_probabilities(family):
    model = mr.NaiveBayesClassifier(distributions={"count": family}, kinds="count").fit(HOLEY, WARDS)
    x = np.arange(2000.0)
    for part in model.distributions_[0].factors():
        (name,) = part.columns
        mean, deviation = part.mean_and_deviation(name)
        for c in range(len(LABELS)):
            chance = np.exp(scipy_log_pmf(x, part.mean[c, 0], part.size[c, 0], part.extra_zeros[c, 0]))
            assert mean[c] == pytest.approx(chance @ x, rel=1e-9)
            assert deviation[c] == pytest.approx(math.sqrt(chance @ (x - chance @ x) ** 2), rel=1e-9)
