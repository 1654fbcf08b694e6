"""Moments against exact fractions and plain NumPy: any batching, any weights, missing cells, and numbers far from zero."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from merula.data.encode import encode, encode_target, infer_schema
from merula.data.table import open_table
from merula.stats import FullMoments, Moments

RNG = np.random.default_rng(7)
N, D = 300, 3
NAMES = ["wing length", "größe", "色深"]
COMPLETE = RNG.normal([80, 0, -3], [4, 1e-3, 100], (N, D))
HOLEY = np.where(RNG.random((N, D)) < 0.2, np.nan, COMPLETE)
SPECIES = RNG.choice(["amsel", "drossel", "zaunkönig"], N, p=[0.5, 0.4, 0.1])
WEIGHTS = {"unweighted": None, "whole": RNG.integers(0, 4, N).astype(float), "fractions": RNG.random(N)}


def frame(x):
    return pd.DataFrame(x, columns=NAMES[: x.shape[1]])


def by_class(x, y, weights):
    """Each class's rows and weights, classes in sorted order."""
    weights = np.ones(len(x)) if weights is None else np.asarray(weights, dtype=float)
    return [(np.asarray(x)[y == label], weights[y == label]) for label in np.unique(y)]


def column_moments(values, weights):
    """Weight, mean, Σ w·(x − mean)² of the cells present: exact, then rounded once."""
    cells = [(Fraction(float(v)), Fraction(float(w))) for v, w in zip(values, weights, strict=True) if v == v and w > 0]
    total = sum(w for _, w in cells)
    if not total:
        return 0.0, 0.0, 0.0
    mean = sum(w * v for v, w in cells) / total
    return float(total), float(mean), float(sum(w * (v - mean) ** 2 for v, w in cells))


def reference(x, y, weights=None):
    """The moments of every class and column, three arrays of classes × columns."""
    table = [[column_moments(rows[:, j], w) for j in range(x.shape[1])] for rows, w in by_class(x, y, weights)]
    return np.moveaxis(np.array(table), 2, 0)


def full_reference(x, y, weights=None):
    """Weight, means and scatter of every class, rows centred in extended precision."""
    result = []
    for rows, w in by_class(x, y, weights):
        rows, w = rows[w > 0].astype(np.longdouble), w[w > 0].astype(np.longdouble)
        mean = (w[:, None] * rows).sum(axis=0) / w.sum()
        away = rows - mean
        result.append((float(w.sum()), mean.astype(float), ((w[:, None] * away).T @ away).astype(float)))
    return tuple(np.array(part) for part in zip(*result, strict=True))


def assert_moments(statistic, expected, rtol=1e-12):
    for part, wanted in zip((statistic.weight, statistic.mean, statistic.squares), expected, strict=True):
        np.testing.assert_allclose(part, wanted, rtol=rtol, atol=0)


def assert_full(statistic, expected, rtol=1e-12):
    weight, mean, scatter = expected
    np.testing.assert_allclose(statistic.weight, weight, rtol=rtol)
    np.testing.assert_allclose(statistic.mean, mean, rtol=rtol)
    deviation = np.sqrt(np.diagonal(scatter, axis1=1, axis2=2))
    unit = deviation[:, :, None] * deviation[:, None, :]
    np.testing.assert_allclose(statistic.scatter / unit, scatter / unit, rtol=0, atol=rtol)


# ---------------------------------------------------------------------------------------------------------------------
# One update


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("x", [COMPLETE, HOLEY], ids=["complete", "missing cells"])
def test_moments(collected, x, weights):
    found = collected(Moments.zero(NAMES, 3), frame(x), SPECIES, WEIGHTS[weights])
    assert_moments(found, reference(x, SPECIES, WEIGHTS[weights]))


@pytest.mark.parametrize("weights", WEIGHTS)
def test_full_moments(collected, weights):
    found = collected(FullMoments.zero(NAMES, 3), frame(COMPLETE), SPECIES, WEIGHTS[weights])
    assert_full(found, full_reference(COMPLETE, SPECIES, WEIGHTS[weights]))


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.uint8, np.int64])
def test_other_dtypes_are_counted_in_double_precision(collected, dtype):
    x = RNG.integers(0, 200, (N, 2)).astype(dtype)
    for source, names in ((x, ["x0", "x1"]), (np.asfortranarray(x), ["x0", "x1"]), (frame(x), NAMES[:2])):
        assert_moments(collected(Moments.zero(names, 3), source, SPECIES), reference(x, SPECIES))
        assert_full(collected(FullMoments.zero(names, 3), source, SPECIES), full_reference(x, SPECIES))


def test_columns_in_another_order(collected):
    found = collected(Moments.zero(NAMES[::-1], 3), frame(HOLEY), SPECIES)
    assert_moments(found, reference(HOLEY[:, ::-1], SPECIES))


def test_a_class_that_misses_a_whole_column(collected):
    x = np.where((SPECIES == "zaunkönig")[:, None] & (np.arange(D) == 1), np.nan, COMPLETE)
    found = collected(Moments.zero(NAMES, 3), frame(x), SPECIES)
    assert found.weight[2, 1] == 0
    assert_moments(found, reference(x, SPECIES))


def test_pooled_moments_are_those_of_all_rows(collected):
    found = collected(Moments.zero(NAMES, 3), frame(HOLEY), SPECIES, WEIGHTS["fractions"]).pooled()
    assert_moments(found, reference(HOLEY, np.zeros(N), WEIGHTS["fractions"]))


# ---------------------------------------------------------------------------------------------------------------------
# The laws of addition


CUTS = [(150,), (1, 2, 3), (0, 17, 17, 299)]
STATISTICS = {
    "moments": (Moments, HOLEY, assert_moments, reference),
    "full moments": (FullMoments, COMPLETE, assert_full, full_reference),
}


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize("name", STATISTICS)
def test_any_batching_counts_the_same(collected, name, cuts, weights):
    kind, x, check, exact = STATISTICS[name]
    found = collected(kind.zero(NAMES, 3), frame(x), SPECIES, WEIGHTS[weights], cuts=cuts)
    check(found, exact(x, SPECIES, WEIGHTS[weights]))


@pytest.mark.parametrize("name", STATISTICS)
def test_addition_commutes(collected, name):
    kind, x, check, exact = STATISTICS[name]
    one = collected(kind.zero(NAMES, 3), frame(x[:100]), SPECIES[:100])
    two = collected(kind.zero(NAMES, 3), frame(x[100:]), SPECIES[100:])
    check(one + two, exact(x, SPECIES))
    check(two + one, exact(x, SPECIES))
    assert (one + two).weight.tolist() == (two + one).weight.tolist()


@pytest.mark.parametrize("name", STATISTICS)
def test_zero_is_the_identity(collected, same_bits, name):
    kind, x, _, _ = STATISTICS[name]
    one, zero = collected(kind.zero(NAMES, 3), frame(x), SPECIES), kind.zero(NAMES, 3)
    assert same_bits(zero + one, one)
    assert same_bits(one + zero, one)
    assert same_bits(zero + zero, zero)


@pytest.mark.parametrize("name", STATISTICS)
def test_whole_weights_equal_repeated_rows(collected, name):
    kind, x, check, exact = STATISTICS[name]
    times = WEIGHTS["whole"].astype(int)
    weighted = collected(kind.zero(NAMES, 3), frame(x), SPECIES, WEIGHTS["whole"])
    repeated = collected(kind.zero(NAMES, 3), frame(np.repeat(x, times, axis=0)), np.repeat(SPECIES, times))
    assert weighted.weight.tolist() == repeated.weight.tolist()
    check(weighted, exact(np.repeat(x, times, axis=0), np.repeat(SPECIES, times)))


@pytest.mark.parametrize("name", STATISTICS)
def test_classes_move_to_their_places(collected, name):
    kind, x, _, _ = STATISTICS[name]
    one = collected(kind.zero(NAMES, 3), frame(x), SPECIES)
    wide = one.with_classes(np.array([4, 0, 2]), 5)
    for field in ("weight", "mean", "squares" if name == "moments" else "scatter"):
        assert getattr(wide, field)[[4, 0, 2]].tolist() == getattr(one, field).tolist()
        assert not getattr(wide, field)[[1, 3]].any()


@pytest.mark.parametrize("name", STATISTICS)
def test_state_round_trip(collected, through_a_file, same_bits, name):
    kind, x, _, _ = STATISTICS[name]
    for statistic in (collected(kind.zero(NAMES, 3), frame(x), SPECIES, WEIGHTS["fractions"]), kind.zero(NAMES, 2)):
        assert same_bits(kind.from_state(through_a_file(statistic.state())), statistic)


def update(kind, x, y, weights=None):
    table = open_table(x)
    rows, target = encode(table, infer_schema(table)[0], range(len(table.names))), encode_target(y, len(y), weights)
    return kind.zero(table.names, len(target.classes)).update(rows, target)


FINITE = st.floats(-1e9, 1e9, allow_subnormal=False)


@settings(deadline=None)
@given(st.lists(st.tuples(FINITE, FINITE, st.booleans()), min_size=1, max_size=20))
def test_any_numbers_give_squares_close_to_the_exact_ones(cells):
    x, y = np.array([cell[:2] for cell in cells]), np.array([cell[2] for cell in cells])
    found, expected = update(Moments, x, y), reference(x, y)
    scale = np.abs(x).max() + 1e-300
    np.testing.assert_allclose(found.mean, expected[1], rtol=1e-12, atol=1e-15 * scale)
    np.testing.assert_allclose(found.squares, expected[2], rtol=1e-9, atol=max(1e-25 * scale**2, 1e-300))
    assert (found.squares >= 0).all()


# ---------------------------------------------------------------------------------------------------------------------
# Numbers that are hard to add


FAR = RNG.normal(1e9, 1, (N, 1))
HARD = {
    "far from zero": (FAR, None),
    "far from zero, weighted": (FAR, WEIGHTS["fractions"]),
    "tiny": (RNG.normal(1e-200, 1e-100, (N, 1)), None),
    "huge": (RNG.normal(1e150, 1e140, (N, 1)), None),
    "an outlier first": (np.concatenate([[[1e8]], RNG.normal(0, 1, (N - 1, 1))]), None),
    "an outlier first, hardly weighted": (
        np.concatenate([[[1e8]], RNG.normal(0, 1, (N - 1, 1))]),
        np.concatenate([[1e-14], np.ones(N - 1)]),
    ),
    "a far outlier first, hardly weighted": (
        np.concatenate([[[1e12]], RNG.normal(0, 1, (N - 1, 1))]),
        np.concatenate([[1e-24], np.ones(N - 1)]),
    ),
    "the first is missing": (np.concatenate([[[np.nan]], FAR[1:]]), None),
}
ONE_CLASS = np.zeros(N, dtype=int)


@pytest.mark.parametrize("name", HARD)
def test_hard_moments(name):
    x, weights = HARD[name]
    assert_moments(update(Moments, x, ONE_CLASS, weights), reference(x, ONE_CLASS, weights), rtol=1e-11)


@pytest.mark.parametrize("name", [name for name in HARD if "missing" not in name])
def test_hard_full_moments(name):
    x, weights = HARD[name]
    x = np.concatenate([x, RNG.normal(size=(N, 1))], axis=1)
    found = update(FullMoments, x, ONE_CLASS, weights)
    weight, mean, squares = reference(x, ONE_CLASS, weights)
    np.testing.assert_allclose(found.weight, weight[:, 0], rtol=1e-12)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-11)
    np.testing.assert_allclose(np.diagonal(found.scatter[0]), squares[0], rtol=1e-11)


@pytest.mark.parametrize("kind", [Moments, FullMoments])
@pytest.mark.parametrize("outlier", [1e6, 1e8, 1e12, 1e18])
@pytest.mark.parametrize("seed", range(5))
def test_an_outlier_of_weight_zero_changes_nothing(kind, outlier, seed):
    x = np.random.default_rng(seed).normal(size=(30, 1))
    x[0] = outlier
    found = update(kind, x, np.zeros(30, int), np.array([0.0] + [1.0] * 29))
    _, mean, squares = reference(x[1:], np.zeros(29))
    np.testing.assert_allclose(
        np.ravel(found.squares if kind is Moments else found.scatter), squares.ravel(), rtol=1e-12
    )
    np.testing.assert_allclose(found.mean, mean, rtol=1e-12)


def test_classes_a_million_deviations_apart():
    y = np.arange(N) % 3
    x = RNG.normal(y[:, None] * 1e6, 1)
    found = update(Moments, x, y)
    assert_moments(found, reference(x, y))
    assert_moments(found.pooled(), reference(x, np.zeros(N)))
    assert_full(update(FullMoments, x, y), full_reference(x, y))


@pytest.mark.parametrize("kind", [Moments, FullMoments])
def test_batches_far_from_zero_lose_no_more_than_their_rounded_means(collected, kind):
    found = collected(kind.zero(["x0"], 1), FAR, ONE_CLASS, cuts=(100, 200))
    _, mean, squares = reference(FAR, ONE_CLASS)
    rounding = np.spacing(
        1e9
    )  # of each batch mean; the squares move by n·δ·rounding with δ < 1 the distance of batch means
    np.testing.assert_allclose(found.mean, mean, rtol=0, atol=2 * rounding)
    np.testing.assert_allclose(
        np.ravel(found.squares if kind is Moments else found.scatter), squares.ravel(), rtol=0, atol=N * rounding
    )


CONSTANTS = [0.1, 1e9 / 3, -1e17 / 7, 1e-300, 0.0]


@pytest.mark.parametrize("constant", CONSTANTS)
@pytest.mark.parametrize("cuts", [(), (3, 10)])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("kind", [Moments, FullMoments])
def test_a_constant_column_has_no_squares_at_all(collected, kind, constant, cuts, weights):
    x = np.full((N, 2), constant)
    found = collected(kind.zero(["x0", "x1"], 3), x, SPECIES, WEIGHTS[weights], cuts=cuts)
    assert (found.mean == constant).all()
    assert not np.any(found.squares if kind is Moments else found.scatter)


@pytest.mark.parametrize("constant", CONSTANTS)
@pytest.mark.parametrize("kind", [Moments, FullMoments])
def test_a_row_of_weight_zero_does_not_make_a_constant_column_vary(kind, constant):
    x = np.full((50, 1), constant)
    x[0] = 5.0
    found = update(kind, x, np.zeros(50, int), np.array([0.0] + [1.0] * 49))
    assert not np.any(found.squares if kind is Moments else found.scatter)
    assert found.mean.tolist() == [[constant]]


# ---------------------------------------------------------------------------------------------------------------------
# Numbers that cannot be squared


@pytest.mark.parametrize("kind", [Moments, FullMoments])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_an_error_that_names_the_column(collected, kind, value):
    x = COMPLETE.copy()
    x[7, 1] = value
    with pytest.raises(ValueError, match="column 'größe' contains infinity"):
        collected(kind.zero(NAMES, 3), frame(x), SPECIES)


def test_infinity_among_missing_cells(collected):
    x = HOLEY.copy()
    x[7, 2] = -np.inf
    with pytest.raises(ValueError, match="column '色深' contains infinity"):
        collected(Moments.zero(NAMES, 3), frame(x), SPECIES)


@pytest.mark.parametrize("kind", [Moments, FullMoments])
@pytest.mark.parametrize("cuts", [(), (10,), (150,)])
def test_squares_that_overflow_are_an_error_that_names_the_column(collected, kind, cuts):
    x = COMPLETE.copy()
    x[:10, 1], x[10:, 1] = 1e200, -1e200
    with pytest.raises(ValueError, match=r"column 'größe'.*overflow"):
        collected(kind.zero(NAMES, 3), frame(x), SPECIES, cuts=cuts)


@pytest.mark.parametrize("kind", [Moments, FullMoments])
@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e300])
@pytest.mark.parametrize("row", [0, 5])
def test_a_row_of_weight_zero_may_hold_anything(collected, kind, value, row):
    x, weights = COMPLETE.copy(), np.ones(N)
    x[row], weights[row] = value, 0.0
    found = collected(kind.zero(NAMES, 3), frame(x), SPECIES, weights)
    expected = collected(kind.zero(NAMES, 3), frame(np.delete(x, row, axis=0)), np.delete(SPECIES, row))
    assert found.weight.tolist() == expected.weight.tolist()
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-12)
