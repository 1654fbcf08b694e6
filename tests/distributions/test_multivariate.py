"""Jointly normal columns against SciPy, the shrinkage formula, and the likelihood EM claims to maximise."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal

from merula.distributions import Gaussian, MultivariateGaussian

RNG = np.random.default_rng(41)
N, D = 240, 4
NAMES = ["wing length", "größe", "色深", "blood pressure"]
SPECIES = RNG.choice(["amsel", "drossel"], N, p=[0.6, 0.4])
LABELS = np.unique(SPECIES)
MIXING = {"amsel": RNG.normal(size=(D, D)), "drossel": RNG.normal(size=(D, D))}
COMPLETE = np.stack([RNG.normal(size=D) @ MIXING[label] for label in SPECIES]) * [1, 1e-4, 100, 5] + [80, 0, -3, 120]
COMPLETE[SPECIES == "drossel"] += [1, 1e-4, 50, 0]
HOLEY = np.where(RNG.random((N, D)) < 0.2, np.nan, COMPLETE)
WEIGHTS = RNG.integers(1, 4, N).astype(float)
SHRINKAGES = [0, 0.3, 1, "auto"]


def frame(x):
    return pd.DataFrame(x, columns=NAMES)


def class_rows(x, y=SPECIES, weights=None):
    weights = np.ones(len(x)) if weights is None else weights
    return [(x[y == label], weights[y == label]) for label in np.unique(y)]


def moments(rows, weights):
    mean = np.average(rows, axis=0, weights=weights)
    away = rows - mean
    return mean, (weights[:, None] * away).T @ away, weights.sum()


def oracle_shrinkage(covariance, n):
    """Chen, Wiesel, Eldar, Hero (2010), eq. 23, of the correlation matrix."""
    deviation = np.sqrt(np.diag(covariance))
    R, p = covariance / np.outer(deviation, deviation), len(covariance)
    trace_of_square, square_of_trace = np.trace(R @ R), np.trace(R) ** 2
    return min(
        1.0,
        ((1 - 2 / p) * trace_of_square + square_of_trace) / ((n + 1 - 2 / p) * (trace_of_square - square_of_trace / p)),
    )


def shrunk(covariance, shrinkage, n):
    amount = oracle_shrinkage(covariance, n) if shrinkage == "auto" else shrinkage
    return (1 - amount) * covariance + amount * np.diag(np.diag(covariance))


def reference(x, shrinkage, shared=False, weights=None, unbiased=False):
    """Means and covariances of the classes by the formulas, from complete rows."""
    parts = [moments(*part) for part in class_rows(x, weights=weights)]
    if shared:
        n = sum(part[2] for part in parts)
        covariance = shrunk(sum(part[1] for part in parts) / n, shrinkage, n) * (
            n / (n - len(parts)) if unbiased else 1
        )
        return [(part[0], covariance) for part in parts]
    return [(mean, shrunk(scatter / n, shrinkage, n) * (n / (n - 1) if unbiased else 1)) for mean, scatter, n in parts]


def scipy_log_prob(x, parameters):
    """log N of what is observed, rows × classes; in units of the deviations, else SciPy takes small columns for singular."""
    result = np.zeros((len(x), len(parameters)))
    for c, (mean, covariance) in enumerate(parameters):
        unit = np.sqrt(np.diag(covariance))
        z, correlation = (x - mean) / unit, covariance / np.outer(unit, unit)
        for row, values in enumerate(z):
            seen = ~np.isnan(values)
            if seen.any():
                result[row, c] = (
                    multivariate_normal.logpdf(values[seen], cov=correlation[np.ix_(seen, seen)])
                    - np.log(unit[seen]).sum()
                )
    return result


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("variance", ["mle", "unbiased"])
@pytest.mark.parametrize("shrinkage", SHRINKAGES)
@pytest.mark.parametrize("covariance", ["full", "shared"])
def test_log_prob_is_scipys(build, read, covariance, shrinkage, variance, weights):
    found = build(MultivariateGaussian(covariance, shrinkage), frame(COMPLETE), SPECIES, weights, variance=variance)
    parameters = reference(COMPLETE, shrinkage, covariance == "shared", weights, variance == "unbiased")
    close(found.log_prob(read(found, frame(COMPLETE))), scipy_log_prob(COMPLETE, parameters))
    unit = np.outer(COMPLETE.std(axis=0), COMPLETE.std(axis=0))
    for label, (_, expected) in enumerate(parameters[:1] if covariance == "shared" else parameters):
        np.testing.assert_allclose(found.covariance[label] / unit, expected / unit, rtol=0, atol=1e-12)


@pytest.mark.parametrize("shrinkage", SHRINKAGES)
@pytest.mark.parametrize("covariance", ["full", "shared"])
def test_missing_cells_are_integrated_out(build, read, covariance, shrinkage):
    found = build(MultivariateGaussian(covariance, shrinkage), frame(COMPLETE), SPECIES)
    parameters = reference(COMPLETE, shrinkage, covariance == "shared")
    x = np.concatenate([HOLEY, np.full((1, D), np.nan)])
    close(found.log_prob(read(found, frame(x))), scipy_log_prob(x, parameters))


@pytest.mark.parametrize("x", [COMPLETE, HOLEY], ids=["complete", "missing cells"])
@pytest.mark.parametrize("variance", ["mle", "unbiased"])
def test_a_diagonal_covariance_is_independent_normal_columns(build, read, x, variance):
    one, two = (
        build(MultivariateGaussian("diagonal"), frame(x), SPECIES, variance=variance),
        build(Gaussian(), frame(x), SPECIES, variance=variance),
    )
    assert one.log_prob(read(one, frame(x))).tolist() == two.log_prob(read(two, frame(x))).tolist()


def test_full_shrinkage_is_independent_normal_columns(build, read):
    one, two = (
        build(MultivariateGaussian("full", 1), frame(COMPLETE), SPECIES),
        build(Gaussian(), frame(COMPLETE), SPECIES),
    )
    close(one.log_prob(read(one, frame(HOLEY))), two.log_prob(read(two, frame(HOLEY))))


def test_one_column_is_a_normal_column(build, read):
    for shrinkage in SHRINKAGES:
        one, two = (
            build(MultivariateGaussian("full", shrinkage), HOLEY[:, :1], SPECIES),
            build(Gaussian(), HOLEY[:, :1], SPECIES),
        )
        close(one.log_prob(read(one, HOLEY[:, :1])), two.log_prob(read(two, HOLEY[:, :1])))


@pytest.mark.parametrize("parts", [2, 7])
@pytest.mark.parametrize("x", [COMPLETE, HOLEY], ids=["complete", "missing cells"])
def test_any_batching_gives_the_same_distribution(build, read, x, parts):
    one, two = (
        build(MultivariateGaussian(), frame(x), SPECIES),
        build(MultivariateGaussian(), frame(x), SPECIES, parts=parts),
    )
    np.testing.assert_allclose(two.log_prob(read(two, frame(x))), one.log_prob(read(one, frame(x))), rtol=1e-9)


@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_auto_needs_no_more_rows_than_columns(build, n):
    x = np.concatenate([COMPLETE[SPECIES == "amsel"][:n], COMPLETE[SPECIES == "drossel"][:n]])
    y = np.repeat(["amsel", "drossel"], n)
    found = build(MultivariateGaussian(), frame(x), y)
    unit = np.outer(x.std(axis=0), x.std(axis=0))
    for c, (rows, weights) in enumerate(class_rows(x, y)):
        _, scatter, _ = moments(rows, weights)
        np.testing.assert_allclose(
            found.covariance[c] / unit, shrunk(scatter / n, "auto", n) / unit, rtol=0, atol=1e-12
        )


# ---------------------------------------------------------------------------------------------------------------------
# Missing cells at fit


def standard_log_likelihood(parameters, x):
    return scipy_log_prob(x, [parameters])[:, 0].sum()


@pytest.mark.parametrize("label", LABELS)
def test_em_maximises_the_likelihood_of_what_is_observed(build, label):
    unit = np.nanstd(HOLEY, axis=0)
    x = HOLEY / unit
    found = build(MultivariateGaussian("full", 0), frame(x), SPECIES)
    c = LABELS.tolist().index(label)
    mean, covariance = found.centre + found.unit * found.mean[c], found.covariance[c]
    rows = x[label == SPECIES]
    best = standard_log_likelihood((mean, covariance), rows)
    rng = np.random.default_rng(0)
    for _ in range(20):
        step = rng.normal(size=(D, D)) * 1e-3
        moved = covariance + (step + step.T) * 0.5
        assert standard_log_likelihood((mean + rng.normal(size=D) * 1e-3, moved), rows) < best
    for step in 1e-4 * np.eye(D):  # the slope vanishes
        there, back = (standard_log_likelihood((mean + sign * step, covariance), rows) for sign in (1, -1))
        assert abs(there - back) < 1e-7


def test_em_from_columns_missing_in_blocks(build):
    """File matching: two columns never observed together with a third still give finite, positive definite covariances."""
    x = COMPLETE.copy()
    x[::2, 0], x[1::2, 1] = np.nan, np.nan
    found = build(MultivariateGaussian(), frame(x), SPECIES)
    assert (np.linalg.eigvalsh(found.covariance / np.outer(np.nanstd(x, axis=0), np.nanstd(x, axis=0))) > 0).all()


def test_rows_missing_completely_change_nothing(build, read):
    x, y = np.concatenate([HOLEY, np.full((9, D), np.nan)]), np.concatenate([SPECIES, ["amsel"] * 9])
    one, two = build(MultivariateGaussian(), frame(HOLEY), SPECIES), build(MultivariateGaussian(), frame(x), y)
    np.testing.assert_allclose(two.log_prob(read(two, frame(HOLEY))), one.log_prob(read(one, frame(HOLEY))), rtol=1e-9)


def test_missing_as_a_level(build, read):
    found, plain = (
        build(MultivariateGaussian(), frame(HOLEY), SPECIES, missing="level"),
        build(MultivariateGaussian(), frame(HOLEY), SPECIES),
    )
    expected = plain.log_prob(read(plain, frame(HOLEY)))
    for c, label in enumerate(LABELS):
        share = (np.isnan(HOLEY[label == SPECIES]).sum(axis=0) + 1) / ((label == SPECIES).sum() + 2)
        expected[:, c] += np.where(np.isnan(HOLEY), np.log(share), np.log(1 - share)).sum(axis=1)
    close(found.log_prob(read(found, frame(HOLEY))), expected)
    assert found.parameters_count == plain.parameters_count + 2 * D


# ---------------------------------------------------------------------------------------------------------------------
# Too little to go by


def with_class(values):
    return np.append(COMPLETE, np.atleast_2d(values), axis=0), np.append(
        SPECIES, ["meise"] * len(np.atleast_2d(values))
    )


@pytest.mark.parametrize("shrinkage", ["auto", 0.3, 1])
def test_a_class_with_one_row_takes_the_pooled_variances(build, shrinkage):
    x, y = with_class([81, 1e-4, 7, 118])
    found = build(MultivariateGaussian("full", shrinkage), frame(x), y)
    scatters = [moments(*part) for part in class_rows(x, y)]
    within = np.diag(sum(scatter for _, scatter, _ in scatters)) / len(x)
    meise = np.unique(y).tolist().index("meise")
    np.testing.assert_allclose(np.diag(found.covariance[meise]), within, rtol=1e-9)
    np.testing.assert_allclose(found.centre + found.unit * found.mean[meise], [81, 1e-4, 7, 118], rtol=1e-9)


@pytest.mark.parametrize("covariance", ["full", "shared", "diagonal"])
@pytest.mark.parametrize("x", [COMPLETE, HOLEY], ids=["complete", "missing cells"])
def test_a_class_never_met_is_centred_among_the_others(build, read, covariance, x):
    found = build(MultivariateGaussian(covariance), frame(x), SPECIES, classes=[*LABELS.tolist(), "meise"])
    middle = np.nanmean(x, axis=0)
    log_prob = found.log_prob(
        read(found, frame(np.stack([middle, middle + np.nanstd(x, axis=0), middle - np.nanstd(x, axis=0)])))
    )
    assert np.isfinite(log_prob).all()
    assert log_prob[0, 2] > log_prob[1, 2] == pytest.approx(log_prob[2, 2], rel=1e-9)


def test_a_class_without_a_value_in_a_column_takes_the_pooled_mean_and_variance(build, read):
    x = COMPLETE.copy()
    x[SPECIES == "amsel", 1] = np.nan
    one, two = build(MultivariateGaussian("full", 1), frame(x), SPECIES), build(Gaussian(), frame(x), SPECIES)
    close(one.log_prob(read(one, frame(COMPLETE))), two.log_prob(read(two, frame(COMPLETE))))


@pytest.mark.parametrize("shrinkage", ["auto", 0.3])
def test_the_floor_is_a_billionth_of_that_columns_variance_in_the_other_class(build, shrinkage):
    x = COMPLETE.copy()
    x[SPECIES == "amsel", 1] = 0.123
    found = build(MultivariateGaussian("full", shrinkage), frame(x), SPECIES)
    np.testing.assert_allclose(found.covariance[0][1, 1], 1e-9 * x[SPECIES == "drossel", 1].var(), rtol=1e-6)
    np.testing.assert_allclose(np.diag(found.covariance[1]), x[SPECIES == "drossel"].var(axis=0), rtol=1e-9)


@pytest.mark.parametrize("covariance", ["full", "shared"])
def test_a_column_that_never_varied_says_nothing(build, read, covariance):
    x = HOLEY.copy()
    x[:, 1] = 1e9 / 3
    family = MultivariateGaussian(covariance)
    found, without = build(family, frame(x), SPECIES), build(family, frame(x).drop(columns="größe"), SPECIES)
    x[0, 1], x[1, 1] = 7.0, np.nan
    close(found.log_prob(read(found, frame(x))), without.log_prob(read(without, frame(x).drop(columns="größe"))))
    assert found.parameters_count == without.parameters_count


def test_no_column_that_varies(build, read):
    found = build(MultivariateGaussian(), np.ones((6, 2)), [0, 1] * 3)
    assert found.log_prob(read(found, np.array([[1.0, 2.0], [np.nan, 1.0]]))).tolist() == [[0.0, 0.0]] * 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda x: np.where(np.arange(D) == 2, 2 * x[:, :1] - 1, x),
            "class 'amsel' .*('wing length', '色深'|'色深', 'wing length')",
        ),
        (
            lambda x: np.where((np.arange(D) == 1) & (SPECIES == "drossel")[:, None], 5.0, x),
            "class 'drossel' .*'größe'",
        ),
        (
            lambda x: x[np.r_[np.flatnonzero(SPECIES == "amsel")[:3], np.flatnonzero(SPECIES == "drossel")]],
            "class 'amsel'",
        ),
    ],
    ids=["columns that determine each other", "a constant column", "too few rows"],
)
def test_a_singular_class_without_shrinkage_is_an_error_that_names_it(build, change, words):
    x = change(COMPLETE)
    y = SPECIES if len(x) == N else np.r_[["amsel"] * 3, ["drossel"] * (SPECIES == "drossel").sum()]
    with pytest.raises(ValueError, match=rf"{words}.*shrinkage='auto'"):
        build(MultivariateGaussian("full", 0), frame(x), y)


def test_a_singular_shared_covariance_is_an_error(build):
    x = COMPLETE.copy()
    x[:, 2] = 3 * x[:, 0]
    with pytest.raises(ValueError, match="the covariance shared by all classes has a singular covariance in column"):
        build(MultivariateGaussian("shared", 0), frame(x), SPECIES)


# ---------------------------------------------------------------------------------------------------------------------
# Far away


@pytest.mark.parametrize("value", [1e160, -1e200, 1e308])
@pytest.mark.parametrize("missing", [False, True])
def test_the_farthest_values_give_finite_answers(build, read, value, missing):
    found = build(MultivariateGaussian(), frame(COMPLETE), SPECIES)
    x = np.array([[value, np.nan if missing else 0.0, 0.0, 100.0]])
    assert np.isfinite(found.log_prob(read(found, frame(x)))).all()


def test_infinity_is_an_error_that_names_the_column(build, read):
    found = build(MultivariateGaussian(), frame(COMPLETE), SPECIES)
    x = COMPLETE[:5].copy()
    x[3, 1] = np.inf
    with pytest.raises(ValueError, match="column 'größe' contains infinity"):
        found.log_prob(read(found, frame(x)))


def test_classes_so_far_apart_that_squares_overflow_are_an_error_that_names_the_column(build):
    x = COMPLETE.copy()
    x[:, 1] = np.where(SPECIES == "amsel", 1e200, -1e200)
    with pytest.raises(ValueError, match=r"column 'größe'.*overflow"):
        build(MultivariateGaussian(), frame(x), SPECIES)


def test_columns_far_from_zero(build, read):
    x = COMPLETE / COMPLETE.std(axis=0) + [1e9, 0, -1e9, 1e6]
    near = x - [1e9, 0, -1e9, 1e6]
    one, two = build(MultivariateGaussian(), frame(x), SPECIES), build(MultivariateGaussian(), frame(near), SPECIES)
    np.testing.assert_allclose(one.log_prob(read(one, frame(x))), two.log_prob(read(two, frame(near))), rtol=1e-5)


# ---------------------------------------------------------------------------------------------------------------------
# The rest


@pytest.mark.parametrize(
    ("covariance", "count"),
    [("full", 2 * D + 2 * D * (D + 1) // 2), ("shared", 2 * D + D * (D + 1) // 2), ("diagonal", 2 * 2 * D)],
)
def test_parameters_count(build, covariance, count):
    assert build(MultivariateGaussian(covariance), frame(COMPLETE), SPECIES).parameters_count == count


@pytest.mark.parametrize("covariance", ["full", "shared", "diagonal"])
def test_state_round_trip(build, read, reread, covariance):
    found = build(MultivariateGaussian(covariance), frame(HOLEY), SPECIES)
    rows = read(found, frame(HOLEY))
    assert reread(found).log_prob(rows).tobytes() == found.log_prob(rows).tobytes()


@pytest.mark.parametrize("covariance", ["full", "shared"])
def test_samples_have_the_classes_moments(build, covariance):
    found = build(MultivariateGaussian(covariance, 0.1), frame(COMPLETE), SPECIES)
    n = 40_000
    classes = np.repeat([0, 1], n)
    drawn = found.sample(classes, np.random.default_rng(2))
    x = np.stack([drawn[name] for name in NAMES], axis=1)
    for c, (mean, sigma) in enumerate(reference(COMPLETE, 0.1, covariance == "shared")):
        deviation = np.sqrt(np.diag(sigma))
        assert (np.abs(x[classes == c].mean(axis=0) - mean) < 5 * deviation / np.sqrt(n)).all()
        error = (np.cov(x[classes == c].T) - sigma) / np.outer(deviation, deviation)
        assert (np.abs(error) < 5 * np.sqrt(2 / n)).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"covariance": "ful"}, "covariance is 'ful'.*did you mean 'full'"),
        ({"shrinkage": "oas"}, "shrinkage is 'oas'"),
        ({"shrinkage": 1.5}, "shrinkage is 1.5, expected 'auto' or a number from 0"),
        ({"shrinkage": -0.1}, "shrinkage is -0.1"),
        ({"shrinkage": None}, "shrinkage is None"),
        ({"shrinkage": np.nan}, "shrinkage is nan"),
        ({"variance": "ml"}, "variance is 'ml'"),
    ],
)
def test_options_that_are_none(build, options, words):
    with pytest.raises(ValueError, match=words):
        build(MultivariateGaussian(**options), frame(COMPLETE), SPECIES)
