"""Moments of incomplete rows, pattern by pattern, against NumPy on the rows themselves."""

import numpy as np
import pandas as pd
import pytest

from merula.stats import PatternMoments

RNG = np.random.default_rng(17)
N, D = 500, 4
NAMES = ["wing length", "größe", "色深", "blood pressure"]
MIXING = RNG.normal(size=(D, D))
COMPLETE = RNG.normal(size=(N, D)) @ MIXING + [80, 0, -3, 120]
HOLEY = np.where(RNG.random((N, D)) < 0.3, np.nan, COMPLETE)
SPECIES = RNG.choice(["amsel", "drossel"], N)
WEIGHTS = {"unweighted": None, "whole": RNG.integers(0, 4, N).astype(float), "fractions": RNG.random(N)}


def frame(x):
    return pd.DataFrame(x, columns=NAMES)


def by_pattern(x, y, weights=None):
    """{(class, observed columns): weight, mean, scatter} of the rows with any weight and anything observed."""
    weights = np.ones(len(x)) if weights is None else weights
    result = {}
    for label, species in enumerate(np.unique(y)):
        own = (y == species) & (weights > 0)
        for observed in np.unique(~np.isnan(x[own]), axis=0):
            if observed.any():
                chosen = own & (~np.isnan(x) == observed).all(axis=1)
                rows, w = x[chosen][:, observed], weights[chosen]
                mean = np.average(rows, axis=0, weights=w)
                away = rows - mean
                result[label, tuple(observed.tolist())] = w.sum(), mean, (w[:, None] * away).T @ away
    return result


def as_dict(statistic):
    """The same from a statistic, scatter from its root; no root may be larger than it need be."""
    result = {}
    for label, weight in enumerate(statistic.complete.weight):
        if weight:
            result[label, (True,) * len(statistic.columns)] = (
                weight,
                statistic.complete.mean[label],
                statistic.complete.scatter[label],
            )
    for (label, mask), part in statistic.partial.items():
        observed = tuple(np.frombuffer(mask, dtype=np.uint8).astype(bool).tolist())
        assert part.root.shape[0] <= part.root.shape[1] == sum(observed)
        result[label, observed] = part.weight, part.mean, part.root.T @ part.root
    return result


def assert_same(found, expected, rtol=1e-12):
    assert found.keys() == expected.keys()
    for key, (weight, mean, scatter) in expected.items():
        np.testing.assert_allclose(found[key][0], weight, rtol=rtol)
        np.testing.assert_allclose(found[key][1], mean, rtol=rtol, atol=1e-13)
        np.testing.assert_allclose(found[key][2], scatter, rtol=0, atol=rtol * max(1.0, np.trace(scatter)))


@pytest.mark.parametrize(
    "cuts", [(), (250,), (1, 2, 17, 17, 499), tuple(range(1, N))], ids=["one", "halves", "odd", "single rows"]
)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_pattern_moments_in_any_batching(collected, weights, cuts):
    found = collected(PatternMoments.zero(NAMES, 2), frame(HOLEY), SPECIES, WEIGHTS[weights], cuts=cuts)
    assert_same(as_dict(found), by_pattern(HOLEY, SPECIES, WEIGHTS[weights]))


def test_complete_rows_have_no_patterns(collected):
    found = collected(PatternMoments.zero(NAMES, 2), frame(COMPLETE), SPECIES)
    assert found.partial == {}
    assert_same(as_dict(found), by_pattern(COMPLETE, SPECIES))


def test_rows_with_nothing_observed_say_nothing(collected):
    x = np.concatenate([HOLEY, np.full((5, D), np.nan)])
    y = np.concatenate([SPECIES, ["amsel"] * 5])
    assert_same(as_dict(collected(PatternMoments.zero(NAMES, 2), frame(x), y)), by_pattern(HOLEY, SPECIES))


def test_a_pattern_met_once_costs_nothing_but_its_mean(collected):
    found = collected(PatternMoments.zero(NAMES, 1), frame(np.array([[1.0, np.nan, 2.0, 3.0]])), ["amsel"])
    (part,) = found.partial.values()
    assert part.root.shape == (0, 3)
    assert part.mean.tolist() == [1.0, 2.0, 3.0]


def test_many_columns_and_patterns_beyond_one_byte(collected):
    names = [f"gene {j}" for j in range(19)]
    x = np.where(RNG.random((N, 19)) < 0.1, np.nan, RNG.normal(size=(N, 19)))
    found = collected(PatternMoments.zero(names, 2), pd.DataFrame(x, columns=names), SPECIES, cuts=(200,))
    assert_same(as_dict(found), by_pattern(x, SPECIES))


def halves(collected):
    zero = PatternMoments.zero(NAMES, 2)
    return collected(zero, frame(HOLEY[:200]), SPECIES[:200]), collected(zero, frame(HOLEY[200:]), SPECIES[200:])


def test_addition_commutes(collected):
    one, two = halves(collected)
    expected = by_pattern(HOLEY, SPECIES)
    assert_same(as_dict(one + two), expected)
    assert_same(as_dict(two + one), expected)
    assert all((one + two).partial[key].weight == (two + one).partial[key].weight for key in (one + two).partial)


def test_zero_is_the_identity(collected, same_bits):
    one, _ = halves(collected)
    zero = PatternMoments.zero(NAMES, 2)
    assert same_bits(one + zero, one)
    assert same_bits(zero + one, one)


def test_classes_move_to_their_places(collected):
    one, _ = halves(collected)
    wide = one.with_classes(np.array([2, 0]), 3)
    expected = {((2, 0)[label], observed): part for (label, observed), part in as_dict(one).items()}
    assert_same(as_dict(wide), expected, rtol=0)
    assert wide.complete.weight.shape == (3,)


def test_state_round_trip(collected, through_a_file, same_bits):
    one, two = halves(collected)
    for statistic in (
        one,
        one + two,
        PatternMoments.zero(NAMES, 2),
        collected(PatternMoments.zero(NAMES, 2), frame(COMPLETE), SPECIES),
    ):
        again = PatternMoments.from_state(through_a_file(statistic.state()))
        assert same_bits(again, statistic)
        assert same_bits(again + two, statistic + two)


def test_patterns_far_from_zero(collected):
    x = np.where(RNG.random((N, D)) < 0.3, np.nan, RNG.normal(1e9, 1, (N, D)))
    found, expected = as_dict(collected(PatternMoments.zero(NAMES, 2), frame(x), SPECIES)), by_pattern(x - 1e9, SPECIES)
    assert found.keys() == expected.keys()
    for key, (_, mean, scatter) in expected.items():
        np.testing.assert_allclose(found[key][1] - 1e9, mean, rtol=0, atol=np.spacing(1e9))
        np.testing.assert_allclose(found[key][2], scatter, rtol=0, atol=1e-12 * max(1.0, np.trace(scatter)))


@pytest.mark.parametrize("row", [0, 3])
def test_infinity_is_an_error_that_names_the_column(collected, row):
    x = HOLEY.copy()
    x[row, 2] = np.inf
    with pytest.raises(ValueError, match="column '色深' contains infinity"):
        collected(PatternMoments.zero(NAMES, 2), frame(x), SPECIES)


@pytest.mark.parametrize("cuts", [(), (1,)])
def test_squares_that_overflow_are_an_error_that_names_the_column(collected, cuts):
    x = np.array([[np.nan, 1e200, 0, 0], [np.nan, -1e200, 0, 0], [np.nan, 0, 0, 0]])
    with pytest.raises(ValueError, match=r"column 'größe'.*overflow"):
        collected(PatternMoments.zero(NAMES, 1), frame(x), ["amsel"] * 3, cuts=cuts)


def test_a_row_of_weight_zero_may_hold_anything(collected):
    x, weights = HOLEY.copy(), np.ones(N)
    x[3], weights[3] = np.inf, 0.0
    found = collected(PatternMoments.zero(NAMES, 2), frame(x), SPECIES, weights)
    assert_same(as_dict(found), by_pattern(np.delete(HOLEY, 3, axis=0), np.delete(SPECIES, 3)))
