"""Mixtures of normals against scikit-learn, SciPy and quadrature; EM rises; repeated values collapse nothing; the laws."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, special, stats
from sklearn.mixture import GaussianMixture as SklearnMixture

import merula as mr
from merula.data.schema import Column
from merula.distributions.mixture import MOST_CELLS, Cells, choose_components, fit_components

RNG = np.random.default_rng(29)
N = 450
Y = RNG.choice(["Amsel", "Drossel", "乌鸫"], N)
LABELS = np.unique(Y)
SIDE = RNG.random(N) < 0.4
FRAME = pd.DataFrame(
    {
        "wing length": RNG.normal(np.where(Y == "Amsel", np.where(SIDE, 120, 140), 131), 3),
        "größe": RNG.normal(25, 2, N).round(1),
        "色深": 1e-6 * RNG.lognormal(0, np.where(Y == "乌鸫", 1.2, 0.4)),
    }
)
HOLEY = FRAME.mask(RNG.random(FRAME.shape) < 0.15)
FAMILIES = [mr.GaussianMixture(), mr.GaussianMixture(components=1), mr.GaussianMixture(components=3)]
IDS = ["bic", "one", "three"]
every_family = pytest.mark.parametrize("family", FAMILIES, ids=IDS)


def shape(name, n, rng):
    return {
        "one bell": lambda: rng.normal(size=n),
        "two bells": lambda: np.where(rng.random(n) < 0.3, rng.normal(-3, 1, n), rng.normal(3, 0.5, n)),
        "narrow in broad": lambda: np.where(rng.random(n) < 0.7, rng.normal(0, 1, n), rng.normal(0, 7, n)),
        "skew": lambda: rng.exponential(size=n),
        "four groups": lambda: rng.choice([-12.0, -4, 4, 12], n) + rng.normal(0, 0.7, n),
    }[name]()


SHAPES = ["one bell", "two bells", "narrow in broad", "skew", "four groups"]


def log_likelihood(x, components):
    densities = components.weight * stats.norm.pdf(x[:, None], components.mean, np.sqrt(components.variance))
    return float(np.log(densities.sum(axis=1)).sum())


# ---------------------------------------------------------------------------------------------------------------------
# EM


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("name", SHAPES)
def test_the_likelihood_never_falls_and_is_that_of_the_components(name, count):
    x = np.sort(shape(name, 300, np.random.default_rng(1))) / 30
    cells = Cells.of(x, np.ones(300))
    found = fit_components(cells, cells.by_quantiles(count), 1e-9)
    assert (np.diff(found.log_likelihoods) >= -1e-9 * abs(found.log_likelihood)).all()
    np.testing.assert_allclose(found.log_likelihood, log_likelihood(x, found), rtol=1e-10)
    np.testing.assert_allclose(found.weight.sum(), 1.0, rtol=1e-12)


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("name", SHAPES)
def test_from_the_same_start_scikit_learn_reaches_no_more(name, count):
    x = np.sort(shape(name, 400, np.random.default_rng(2))) / 30
    cells = Cells.of(x, np.ones(400))
    start = cells.by_quantiles(count)
    theirs = SklearnMixture(
        count,
        weights_init=start.weight,
        means_init=start.mean[:, None],
        precisions_init=1 / start.variance[:, None, None],
        reg_covar=0,
        tol=1e-7,
        max_iter=3_000,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it may not have converged
        theirs.fit(x[:, None])
    assert fit_components(cells, start, 1e-9).log_likelihood >= 400 * theirs.score(x[:, None]) - 0.5


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("name", SHAPES)
def test_by_its_own_starts_scikit_learn_finds_no_better(name, count):
    """Both may stop at a local maximum: half the worth of a parameter is allowed for."""
    x = np.sort(shape(name, 1_000, np.random.default_rng(3))) / 30
    found = choose_components(Cells.of(x, np.ones(1_000)), count, 5, 1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = SklearnMixture(count, n_init=3, reg_covar=1e-9, tol=1e-6, max_iter=2_000, random_state=0).fit(
            x[:, None]
        )
    assert found.log_likelihood >= 1_000 * theirs.score(x[:, None]) - 0.25 * math.log(1_000)


@pytest.mark.parametrize(
    ("name", "best"), [("one bell", {1}), ("two bells", {2}), ("narrow in broad", {2}), ("four groups", {4})]
)
def test_bic_finds_how_many_there_are(name, best):
    for seed in range(6):
        x = np.sort(shape(name, 600, np.random.default_rng(seed)))
        found = mr.GaussianMixture()._fit_column(x, np.ones((1, 600)))[0]
        assert {len(found.weight)} == best


def test_more_values_than_cells_lose_next_to_nothing():
    x = np.sort(shape("two bells", 5 * MOST_CELLS, np.random.default_rng(6))) / 30
    cells = Cells.of(x, np.ones(len(x)))
    assert len(cells.mean) == MOST_CELLS
    np.testing.assert_allclose(cells.moments(), [x.mean(), x.var()], rtol=1e-12)
    found = choose_components(cells, 2, 5, 1e-9)
    theirs = SklearnMixture(2, reg_covar=0, tol=1e-9, random_state=0).fit(x[:, None])
    assert log_likelihood(x, found) >= len(x) * theirs.score(x[:, None]) - 0.1


# ---------------------------------------------------------------------------------------------------------------------
# Densities


@every_family
def test_log_prob_is_scipys_of_the_components(build, read, family):
    found = build(family, HOLEY, Y)
    expected = np.zeros((N, 3))
    for j, name in enumerate(FRAME):
        x = HOLEY[name].to_numpy()[:, None, None]
        parts = stats.norm.logpdf(x, found.mean[:, j], found.deviation[:, j])
        expected += np.nan_to_num(special.logsumexp(parts, axis=2, b=found.weight[:, j]))
    np.testing.assert_allclose(found.log_prob(read(found, HOLEY)), expected, rtol=1e-10, atol=1e-11)


@every_family
def test_the_density_integrates_to_one(build, read, family):
    for part in build(family, FRAME, Y).factors():
        unit = float(part.highest[0] - part.lowest[0])
        x = part.lowest[0] + unit * np.linspace(-3, 4, 400_001)
        density = np.exp(part.log_prob(read(part, pd.DataFrame({part.columns[0]: x}))))
        np.testing.assert_allclose(integrate.trapezoid(density, x, axis=0), 1.0, rtol=1e-6)


def test_one_component_is_the_gaussian_family(build, read):
    one, normal = (build(family, HOLEY, Y) for family in (mr.GaussianMixture(components=1), mr.Gaussian()))
    expected = normal.log_prob(read(normal, HOLEY))
    np.testing.assert_allclose(one.log_prob(read(one, HOLEY)), expected, rtol=1e-9, atol=1e-10)
    assert one.parameters_count == normal.parameters_count


@every_family
def test_a_column_far_from_zero_keeps_its_digits(build, read, family):
    """N(10⁹, 1) on a grid of 1/1024, so that the shift itself is exact."""
    near = pd.DataFrame({"wing length": np.round(FRAME["wing length"] * 1024) / 1024})
    far = near + 1e9
    one, two = build(family, near, Y), build(family, far, Y)
    np.testing.assert_allclose(two.log_prob(read(two, far)), one.log_prob(read(one, near)), rtol=1e-5, atol=1e-5)


@every_family
def test_the_farthest_values_still_compare_classes(build, read, family):
    x = RNG.normal(size=(400, 1)) * np.where(np.arange(400) % 2, 3, 1)[:, None]
    found = build(family, x, np.arange(400) % 2)
    for value in (1e50, 1e155, -1e200, 1.7e308):
        log_prob = found.log_prob(read(found, np.array([[value]])))
        assert np.isfinite(log_prob).all()
        assert log_prob[0, 1] > log_prob[0, 0]


# ---------------------------------------------------------------------------------------------------------------------
# Repeated values, and too little to go by


def test_values_rounded_to_a_step_get_no_narrower_component(build):
    heights = pd.DataFrame({"größe": RNG.normal(0, 3, 4_000).round()})
    found = build(mr.GaussianMixture(components=5), heights, np.arange(4_000) % 2)
    assert (found.deviation >= 1 / math.sqrt(2 * math.pi) * (1 - 1e-9)).all()
    by_bic = build(mr.GaussianMixture(), heights, np.arange(4_000) % 2)
    assert (by_bic.weight > 0).sum() == 2  # one bell, however coarsely rounded


def test_values_that_repeat_do_not_collapse_a_component(build, read):
    rain = np.where(RNG.random(500) < 0.6, 0.0, RNG.exponential(5, 500).round(1))
    found = build(mr.GaussianMixture(), pd.DataFrame({"Regen": rain}), np.arange(500) % 2)
    log_prob = found.log_prob(read(found, pd.DataFrame({"Regen": rain})))
    assert log_prob.max() <= math.log(1 / 0.1)  # no denser than all mass within one step


def test_rounding_errors_are_no_step(build):
    noisy = np.repeat([0.1 + 0.2, 0.3, 0.7, 0.1 + 0.6], 100) + np.repeat([0.0, 1.0], 200)
    found = build(mr.GaussianMixture(), pd.DataFrame({"größe": noisy}), np.arange(400) % 2)
    assert found.deviation.min() > 0.1


def test_no_variance_below_a_billionth_of_the_columns(build):
    x = np.concatenate([np.full(300, 5.0), RNG.normal(size=300)])
    found = build(mr.GaussianMixture(components=1), pd.DataFrame({"größe": x}), np.repeat(["Amsel", "Drossel"], 300))
    assert found.deviation[0, 0, 0] >= math.sqrt(1e-9 * x.var()) * (1 - 1e-12)
    np.testing.assert_allclose(found.deviation[1, 0, 0], x[300:].std(), rtol=1e-9)


def test_a_class_with_one_value_takes_the_pooled_variance(build):
    x = np.append(FRAME["wing length"], 90.0)
    y = np.append(Y, "Star")
    found = build(mr.GaussianMixture(), pd.DataFrame({"wing length": x}), y)
    position = np.unique(y).tolist().index("Star")
    within = sum(((x[y == label] - x[y == label].mean()) ** 2).sum() for label in np.unique(y)) / len(x)
    assert found.weight[position, 0, 0] == 1.0
    assert found.mean[position, 0, 0] == 90.0
    np.testing.assert_allclose(found.deviation[position, 0, 0], math.sqrt(within), rtol=1e-9)


@every_family
def test_a_class_without_values_is_like_all(build, read, family):
    lacking = FRAME.mask(np.repeat((Y == "Amsel")[:, None], 3, axis=1))
    found = build(family, lacking, Y)
    pooled = build(family, lacking[Y != "Amsel"], np.repeat("alle", (Y != "Amsel").sum()))
    np.testing.assert_allclose(
        found.log_prob(read(found, FRAME))[:, 0], pooled.log_prob(read(pooled, FRAME))[:, 0], rtol=1e-10
    )


def test_no_more_components_than_values(build):
    found = build(mr.GaussianMixture(components=5), pd.DataFrame({"größe": [1.0, 2, 3, 1, 2, 9]}), list("AAABBB"))
    assert (found.weight > 0).sum(axis=2).ravel().tolist() == [3, 3]


def test_infinity_and_ranges_that_overflow_are_errors_that_name_the_column(build, read):
    found = build(mr.GaussianMixture(), FRAME, Y)
    with pytest.raises(ValueError, match="column 'größe' contains infinity"):
        found.log_prob(read(found, FRAME.assign(größe=np.inf)))
    for size in (1e200, 1e308):
        with pytest.raises(ValueError, match=r"column 'größe' holds values so far apart"):
            build(mr.GaussianMixture(), FRAME.assign(größe=np.where(Y == "Amsel", size, -size)), Y)


def test_ranges_that_vanish_are_errors_that_name_the_column(build):
    for size in (5e-324, 1e-200):
        with pytest.raises(ValueError, match=r"column 'größe' holds values so close together"):
            build(mr.GaussianMixture(), FRAME.assign(größe=np.where(np.arange(N) % 2, size, 0.0)), Y)


def test_options_and_kinds_are_checked(build):
    for family, message in [
        (mr.GaussianMixture(components="aic"), "components is 'aic', expected 'bic' or a whole number from 1"),
        (mr.GaussianMixture(components=0), "components is 0, expected"),
        (mr.GaussianMixture(max_components=2.5), "max_components is 2.5, expected a whole number from 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            build(family, FRAME, Y)
    with pytest.raises(ValueError, match="column '色泽' is categorical, but the mixture distribution is for"):
        mr.GaussianMixture().encodes(Column("色泽", "categorical"))
    assert mr.GaussianMixture().get_params() == {"components": "bic", "max_components": 5}
    assert build(mr.GaussianMixture(max_components=2), FRAME, Y).weight.shape[2] <= 2


# ---------------------------------------------------------------------------------------------------------------------
# Missing cells, parts, samples, quantiles, files


def test_parameters_are_shares_means_and_deviations(build):
    assert build(mr.GaussianMixture(components=3), HOLEY, Y).parameters_count == 3 * 3 * 8


@every_family
def test_quantiles_are_inverse_to_the_cumulative_shares(build, family):
    found = build(family, FRAME, Y)
    shares = np.array([1e-12, 1e-4, 0.03, 0.4, 0.5, 0.77, 0.999])
    for j, name in enumerate(FRAME):
        x = found.quantiles(name, shares, 3)[:, :, None]
        below = (found.weight[:, j] * stats.norm.cdf(x, found.mean[:, j], found.deviation[:, j])).sum(axis=2)
        np.testing.assert_allclose(below, np.repeat(shares[:, None], 3, axis=1), rtol=1e-6)


def test_samples_lie_where_the_quantiles_say(build):
    found, n = build(mr.GaussianMixture(), FRAME, Y), 40_000
    classes = np.repeat([0, 1, 2], n)
    drawn = found.sample(classes, np.random.default_rng(8))
    shares = np.array([0.02, 0.3, 0.5, 0.81, 0.995])
    for name in FRAME:
        for c in range(3):
            below = (drawn[name][classes == c][:, None] <= found.quantiles(name, shares, 3)[:, c]).mean(axis=0)
            assert (np.abs(below - shares) < 5 * np.sqrt(shares * (1 - shares) / n)).all()
