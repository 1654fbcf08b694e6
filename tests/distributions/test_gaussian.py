"""Independent normal columns against SciPy."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from merula.data.schema import Column
from merula.distributions import Gaussian

RNG = np.random.default_rng(31)
N = 300
NAMES = ["wing length", "größe", "色深"]
SPECIES = RNG.choice(["amsel", "drossel", "zaunkönig"], N)
LABELS = np.unique(SPECIES)
COMPLETE = RNG.normal([80, 0, -3], [4, 1e-6, 1e3], (N, 3)) + (SPECIES == "drossel")[:, None] * [1, 1e-6, -500]
HOLEY = np.where(RNG.random((N, 3)) < 0.2, np.nan, COMPLETE)
WEIGHTS = RNG.integers(0, 4, N).astype(float)


def frame(x):
    return pd.DataFrame(x, columns=NAMES[: x.shape[1]])


def weighted_variance(values, weights, ddof):
    present = ~np.isnan(values) & (weights > 0)
    values, weights = values[present], weights[present]
    mean = np.average(values, weights=weights)
    return mean, (weights * (values - mean) ** 2).sum() / (weights.sum() - ddof)


def scipy_log_prob(x, train, y, weights=None, ddof=0):
    """Σ over the columns present of log N(x; mean, variance), rows × classes."""
    weights = np.ones(len(train)) if weights is None else weights
    result = np.zeros((len(x), len(np.unique(y))))
    for c, label in enumerate(np.unique(y)):
        for j in range(x.shape[1]):
            mean, variance = weighted_variance(train[y == label, j], weights[y == label], ddof)
            result[:, c] += np.nan_to_num(stats.norm(mean, np.sqrt(variance)).logpdf(x[:, j]))
    return result


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("variance", ["mle", "unbiased"])
@pytest.mark.parametrize("x", [COMPLETE, HOLEY], ids=["complete", "missing cells"])
def test_log_prob_is_scipys(build, read, x, variance, weights):
    found = build(Gaussian(), frame(x), SPECIES, weights, variance=variance)
    expected = scipy_log_prob(x, x, SPECIES, weights, ddof=variance == "unbiased")
    np.testing.assert_allclose(found.log_prob(read(found, frame(x))), expected, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("own", ["mle", "unbiased"])
def test_the_familys_own_variance_goes_before_the_models(build, own):
    other = {"mle": "unbiased", "unbiased": "mle"}[own]
    one, two = (
        build(Gaussian(own), frame(HOLEY), SPECIES, variance=other),
        build(Gaussian(), frame(HOLEY), SPECIES, variance=own),
    )
    assert one.variance.tolist() == two.variance.tolist()
    assert one.variance.tolist() != build(Gaussian(), frame(HOLEY), SPECIES, variance=other).variance.tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_matrices_of_any_layout(build, read, dtype, order):
    x = np.array(HOLEY, dtype=dtype, order=order)
    found = build(Gaussian(), x, SPECIES)
    expected = scipy_log_prob(x.astype(float), x.astype(float), SPECIES)
    np.testing.assert_allclose(found.log_prob(read(found, x)), expected, rtol=1e-11, atol=1e-13)


def test_add_log_prob_adds(build, read):
    found = build(Gaussian(), frame(HOLEY), SPECIES)
    rows = read(found, frame(HOLEY))
    out = np.full((N, 3), 7.0)
    found.add_log_prob(rows, out)
    np.testing.assert_allclose(out, found.log_prob(rows) + 7.0, rtol=1e-14)


@pytest.mark.parametrize("missing", ["marginalise", "level"])
def test_factors_add_up(build, read, missing):
    found = build(Gaussian(), frame(HOLEY), SPECIES, missing=missing)
    rows = read(found, frame(HOLEY))
    factors = found.factors()
    assert [factor.columns for factor in factors] == [(name,) for name in NAMES]
    np.testing.assert_allclose(
        sum(factor.log_prob(rows) for factor in factors), found.log_prob(rows), rtol=1e-11, atol=1e-13
    )


def test_nothing_observed_says_nothing(build, read):
    found = build(Gaussian(), frame(HOLEY), SPECIES)
    np.testing.assert_allclose(found.log_prob(read(found, frame(np.full((2, 3), np.nan)))), 0.0, atol=1e-14)


# ---------------------------------------------------------------------------------------------------------------------
# Too little to go by


def test_the_floor_is_a_billionth_of_the_lower_median_of_the_classes_variances(build):
    x = COMPLETE.copy()
    x[SPECIES == "amsel"] = x[SPECIES == "amsel"][0]  # one class does not vary, in any column
    found = build(Gaussian(), frame(x), SPECIES)
    others = [x[label == SPECIES].var(axis=0) for label in LABELS[1:]]
    np.testing.assert_allclose(found.variance[0], 1e-9 * np.min(others, axis=0), rtol=1e-12)
    for c in (1, 2):
        np.testing.assert_allclose(found.variance[c], x[LABELS[c] == SPECIES].var(axis=0), rtol=1e-12)


def test_the_floor_is_a_maximum_not_a_sum(build):
    found = build(Gaussian(), frame(COMPLETE), SPECIES)
    np.testing.assert_allclose(found.variance, [COMPLETE[label == SPECIES].var(axis=0) for label in LABELS], rtol=1e-13)


@pytest.mark.parametrize("variance", ["mle", "unbiased"])
def test_a_class_with_one_value_takes_the_pooled_variance(build, variance):
    x, y = np.append(COMPLETE[:50], [[90, 2e-6, 3]], axis=0), np.append(SPECIES[:50], "meise")
    found = build(Gaussian(), frame(x), y, variance=variance)
    meise = np.unique(y).tolist().index("meise")
    within = sum(((x[y == label] - x[y == label].mean(axis=0)) ** 2).sum(axis=0) for label in np.unique(y))
    freedom = len(x) - (len(np.unique(y)) if variance == "unbiased" else 0)
    assert found.mean[meise].tolist() == [90, 2e-6, 3]
    np.testing.assert_allclose(found.variance[meise], within / freedom, rtol=1e-12)


def test_a_class_without_a_value_takes_the_pooled_mean_and_variance(build):
    x = np.where((SPECIES == "amsel")[:, None] & (np.arange(3) == 1), np.nan, COMPLETE)
    found = build(Gaussian(), frame(x), SPECIES)
    column, y = x[SPECIES != "amsel", 1], SPECIES[SPECIES != "amsel"]
    within = sum(((column[y == label] - column[y == label].mean()) ** 2).sum() for label in np.unique(y))
    np.testing.assert_allclose(found.mean[0, 1], column.mean(), rtol=1e-12)
    np.testing.assert_allclose(found.variance[0, 1], within / len(column), rtol=1e-12)
    np.testing.assert_allclose(found.mean[0, 0], x[SPECIES == "amsel", 0].mean(), rtol=1e-12)


def test_a_class_never_met_is_like_all(build):
    found = build(Gaussian(), frame(COMPLETE), SPECIES, classes=[*LABELS.tolist(), "meise"])
    np.testing.assert_allclose(found.mean[3], COMPLETE.mean(axis=0), rtol=1e-9)
    assert np.isfinite(found.variance).all()


def test_every_class_with_one_value_takes_the_floor(build):
    found = build(Gaussian(), np.array([[1.0], [3.0]]), ["amsel", "drossel"])
    np.testing.assert_allclose(found.variance, [[1e-9], [1e-9]], rtol=1e-12)


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e9 / 3])
def test_a_column_that_never_varied_says_nothing(build, read, constant):
    x = COMPLETE.copy()
    x[:, 1] = constant
    found, without = build(Gaussian(), frame(x), SPECIES), build(Gaussian(), frame(x).drop(columns="größe"), SPECIES)
    x[0, 1] = constant + 1
    x[1, 1] = np.nan
    np.testing.assert_allclose(
        found.log_prob(read(found, frame(x))),
        without.log_prob(read(without, frame(x).drop(columns="größe"))),
        rtol=1e-12,
    )
    assert found.parameters_count == without.parameters_count == 2 * 2 * 3


def test_a_column_with_nothing_in_it_says_nothing(build, read):
    x = COMPLETE.copy()
    x[:, 1] = np.nan
    found, without = build(Gaussian(), frame(x), SPECIES), build(Gaussian(), frame(x).drop(columns="größe"), SPECIES)
    np.testing.assert_allclose(
        found.log_prob(read(found, frame(x))),
        without.log_prob(read(without, frame(x).drop(columns="größe"))),
        rtol=1e-12,
    )


# ---------------------------------------------------------------------------------------------------------------------
# Far away


@pytest.mark.parametrize("value", [1e155, -1e200, 1e308])
def test_the_farthest_values_still_compare_classes(build, read, value):
    x = RNG.normal(size=(200, 1))
    y = np.arange(200) % 2
    x[y == 1] *= 3
    found = build(Gaussian(), x, y)
    log_prob = found.log_prob(read(found, np.array([[value]])))
    assert np.isfinite(log_prob).all()
    assert log_prob[0, 1] > log_prob[0, 0]


def test_a_value_is_clipped_at_1e100_deviations(build, read):
    x = RNG.normal(5, 2, (200, 1))
    found = build(Gaussian(), x, np.arange(200) % 2)
    reach = x.mean() + 1e100 * x.std()
    clipped, far = found.log_prob(read(found, np.array([[reach], [1e300]])))
    np.testing.assert_allclose(far, clipped, rtol=1e-9)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_an_error_that_names_the_column(build, read, value):
    found = build(Gaussian(), frame(COMPLETE), SPECIES)
    x = HOLEY[:5].copy()
    x[3, 1] = value
    with pytest.raises(ValueError, match="column 'größe' contains infinity"):
        found.log_prob(read(found, frame(x)))


def test_classes_so_far_apart_that_squares_overflow_are_an_error_that_names_the_column(build):
    x = COMPLETE.copy()
    x[:, 1] = np.where(SPECIES == "amsel", 1e200, -1e200)  # no class varies, all of them together do
    with pytest.raises(ValueError, match=r"column 'größe'.*overflow"):
        build(Gaussian(), frame(x), SPECIES)


# ---------------------------------------------------------------------------------------------------------------------
# Missing as evidence


@pytest.mark.parametrize("alpha", [0.5, 1.0])
def test_missing_as_a_level(build, read, alpha):
    x = HOLEY.copy()
    x[:, 2] = COMPLETE[:, 2]  # never missing: nothing to say of its absence
    found, plain = (
        build(Gaussian(), frame(x), SPECIES, missing="level", smoothing=alpha),
        build(Gaussian(), frame(x), SPECIES),
    )
    expected = plain.log_prob(read(plain, frame(x)))
    for c, label in enumerate(LABELS):
        lost = np.isnan(x[label == SPECIES]).sum(axis=0)
        n = (label == SPECIES).sum()
        for j in (0, 1):
            share = (lost[j] + alpha) / (n + 2 * alpha)
            expected[:, c] += np.where(np.isnan(x[:, j]), np.log(share), np.log(1 - share))
    np.testing.assert_allclose(found.log_prob(read(found, frame(x))), expected, rtol=1e-11, atol=1e-13)
    assert found.parameters_count == plain.parameters_count + 2 * 3


# ---------------------------------------------------------------------------------------------------------------------
# The rest


def test_parameters_count(build):
    assert build(Gaussian(), frame(HOLEY), SPECIES).parameters_count == 2 * 3 * 3


@pytest.mark.parametrize("missing", ["marginalise", "level"])
def test_state_round_trip(build, read, reread, missing):
    found = build(Gaussian(), frame(HOLEY), SPECIES, missing=missing)
    rows = read(found, frame(HOLEY))
    assert reread(found).log_prob(rows).tobytes() == found.log_prob(rows).tobytes()


def test_samples_have_the_classes_moments(build):
    found = build(Gaussian(), frame(HOLEY), SPECIES)
    n = 100_000
    classes = np.repeat([0, 1, 2], n)
    drawn = found.sample(classes, np.random.default_rng(0))
    assert list(drawn) == NAMES
    for j, name in enumerate(NAMES):
        for c in range(3):
            values, deviation = drawn[name][classes == c], np.sqrt(found.variance[c, j])
            assert abs(values.mean() - found.mean[c, j]) < 5 * deviation / np.sqrt(n)
            assert abs(values.std() / deviation - 1) < 5 / np.sqrt(2 * n)


def test_samples_are_missing_as_often_as_the_model_says(build):
    found = build(Gaussian(), frame(HOLEY), SPECIES, missing="level")
    classes = np.repeat([0, 1, 2], 50_000)
    drawn = found.sample(classes, np.random.default_rng(0))["größe"]
    for c, label in enumerate(LABELS):
        share = (np.isnan(HOLEY[label == SPECIES, 1]).sum() + 1) / ((label == SPECIES).sum() + 2)
        assert abs(np.isnan(drawn[classes == c]).mean() - share) < 5 * np.sqrt(share * (1 - share) / 50_000)


def test_samples_are_reproducible(build):
    found = build(Gaussian(), frame(HOLEY), SPECIES)
    one, two = (found.sample(np.array([0, 1, 2, 0]), np.random.default_rng(4)) for _ in range(2))
    assert {name: values.tolist() for name, values in one.items()} == {
        name: values.tolist() for name, values in two.items()
    }


def test_an_unknown_variance_is_an_error(build):
    with pytest.raises(ValueError, match="variance is 'ml'"):
        build(Gaussian("ml"), frame(HOLEY), SPECIES)


def test_words_are_not_normal():
    with pytest.raises(
        ValueError,
        match="column '色泽' is categorical, but the gaussian distribution is for numeric or datetime columns",
    ):
        Gaussian().encodes(Column("色泽", "categorical"))


def test_params():
    assert Gaussian("unbiased").get_params() == {"variance": "unbiased"}
    family = Gaussian()
    assert family.set_params(variance="mle") == Gaussian("mle")
    assert family == Gaussian()
