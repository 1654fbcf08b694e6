"""Class priors and smoothing, by their formulas."""

import numpy as np
import pytest

from merula.core.checks import check_probabilities
from merula.distributions.priors import (
    MEstimate,
    checked_smoothing,
    class_probabilities,
    pseudo_counts,
    smoothed,
    unseen_probability,
)

CLASSES = np.array(["amsel", "drossel", "zaunkönig"])
WEIGHT = np.array([6.0, 3.0, 1.0])
SIZES = ("klein", "mittel", "groß")
SPECIES = ("amsel", "drossel")
COUNTS = np.array([[4.0, 0.0, 6.0], [1.0, 2.0, 0.0]])


# ---------------------------------------------------------------------------------------------------------------------
# Classes


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("empirical", [0.6, 0.3, 0.1]),
        ("laplace", [7 / 13, 4 / 13, 2 / 13]),
        ("uniform", [1 / 3, 1 / 3, 1 / 3]),
        ({"amsel": 0.5, "drossel": 0.25, "zaunkönig": 0.25}, [0.5, 0.25, 0.25]),
        ({"zaunkönig": 0.25, "amsel": 0.5, "drossel": 0.25}, [0.5, 0.25, 0.25]),
        ({"amsel": 1.0, "drossel": 0.0, "zaunkönig": 0, "meise": 0}, [1.0, 0.0, 0.0]),
        ([0.2, 0.3, 0.5], [0.2, 0.3, 0.5]),
        ((0.2, 0.3, 0.5), [0.2, 0.3, 0.5]),
        (np.array([0.2, 0.3, 0.5]), [0.2, 0.3, 0.5]),
    ],
)
def test_class_probabilities(option, expected):
    np.testing.assert_allclose(class_probabilities(option, CLASSES, WEIGHT), expected, rtol=1e-15, atol=0)


@pytest.mark.parametrize(
    "classes", [np.array([0, 1]), np.array([False, True]), np.array([1.0, 2.0]), np.array(["x", "y"], dtype=object)]
)
def test_class_probabilities_by_label_of_any_dtype(classes):
    option = dict(zip(classes.tolist(), (0.3, 0.7), strict=True))
    assert class_probabilities(option, classes, np.ones(2)).tolist() == [0.3, 0.7]


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("empiric", "class_prior is 'empiric'.*did you mean 'empirical'"),
        (None, "class_prior is None"),
        (0.5, "class_prior is 0.5"),
        ([0.5, 0.5], "has 2 values, expected one for each of the 3 classes"),
        ({"amsel": 0.5, "drossel": 0.5}, "no probability for class 'zaunkönig'"),
        (
            {"amsel": 0.5, "drossel": 0.2, "zaunkönig": 0.2, "meise": 0.1},
            "names class 'meise', which the data do not hold",
        ),
        ([0.5, 0.3, 0.1], "sums to 0.9, expected 1"),
        ([0.5, 0.7, -0.2], "probabilities are numbers from 0 to 1"),
        ([0.5, np.nan, 0.5], "probabilities are numbers from 0 to 1"),
    ],
)
def test_class_priors_that_are_none(option, words):
    with pytest.raises(ValueError, match=words):
        class_probabilities(option, CLASSES, WEIGHT)


def test_probabilities_are_normalised_after_the_check():
    found = check_probabilities([0.3333333, 0.3333333, 0.3333333], "class_prior")
    np.testing.assert_allclose(found, [1 / 3] * 3, rtol=1e-15)
    with pytest.raises(ValueError, match=r"class_prior sums to 0.999998"):
        check_probabilities([0.333333, 0.333333, 0.333332], "class_prior")


# ---------------------------------------------------------------------------------------------------------------------
# What smoothing adds


BELIEF = {"klein": 0.2, "mittel": 0.3, "groß": 0.5}
BY_CLASS = {"amsel": {"klein": 1.0}, "drossel": {"klein": 0.5, "groß": 0.5}}


@pytest.mark.parametrize(
    ("p", "expected"),
    [
        (None, [[1 / 3] * 3] * 2),
        (1 / 3, [[1 / 3] * 3] * 2),
        (BELIEF, [[0.2, 0.3, 0.5]] * 2),
        ([0.2, 0.3, 0.5], [[0.2, 0.3, 0.5]] * 2),
        (np.array([[0.2, 0.3, 0.5], [0.0, 0.0, 1.0]]), [[0.2, 0.3, 0.5], [0.0, 0.0, 1.0]]),
        (BY_CLASS, [[1.0, 0.0, 0.0], [0.5, 0.0, 0.5]]),
        ({"größe": BELIEF}, [[0.2, 0.3, 0.5]] * 2),
        ({"größe": BY_CLASS}, [[1.0, 0.0, 0.0], [0.5, 0.0, 0.5]]),
        ({"größe": [0.2, 0.3, 0.5], "色泽": {"乌黑": 1.0}}, [[0.2, 0.3, 0.5]] * 2),
        ({"größe": 1 / 3}, [[1 / 3] * 3] * 2),
        ({"色泽": {"乌黑": 1.0}}, [[1 / 3] * 3] * 2),
    ],
    ids=[
        "nothing",
        "one number",
        "levels",
        "list",
        "array",
        "classes",
        "column",
        "column and class",
        "column list",
        "column number",
        "another column",
    ],
)
@pytest.mark.parametrize("m", [0, 1, 2.5])
def test_an_m_estimate_adds_m_rows_distributed_as_p(p, expected, m):
    smoothing = checked_smoothing(MEstimate(m, p), ["größe", "色泽"])
    np.testing.assert_allclose(pseudo_counts(smoothing, "größe", SIZES, SPECIES), m * np.array(expected), rtol=1e-15)


@pytest.mark.parametrize("pseudo_count", [0.0, 0.5, 1.0])
def test_a_pseudo_count_is_added_everywhere(pseudo_count):
    assert pseudo_counts(pseudo_count, "größe", SIZES, SPECIES).tolist() == [[pseudo_count] * 3] * 2


@pytest.mark.parametrize(
    ("p", "words"),
    [
        (0.5, r"over the 3 levels of column 'größe' sums to 1.5, expected 1; leave p out for 1/3 each"),
        ({"klein": 0.2}, "over the 3 levels of column 'größe' sums to 0.2"),
        ({**BELIEF, "riesig": 0.0}, "names 'riesig', which is not a level of column 'größe'"),
        ({"amsel": {"klein": 1.0}}, "column 'größe' no probabilities for class 'drossel'"),
        (
            {"amsel": {"winzig": 1.0}, "drossel": {"klein": 1.0}},
            "names 'winzig', which is not a level of column 'größe'",
        ),
        ([0.5, 0.5], r"shape \(2,\) for column 'größe', expected one number, 3 levels, or 2 classes × 3 levels"),
        (np.full((3, 2), 0.5), r"shape \(3, 2\) for column 'größe'"),
        ([[0.2, 0.3, 0.5], [0.2, 0.3, 0.4]], "over the 3 levels of column 'größe' sums to 0.9"),
        ({"klein": np.nan, "mittel": 0.5, "groß": 0.5}, "column 'größe'"),
    ],
)
def test_a_belief_that_is_none_is_an_error_that_names_the_column(p, words):
    with pytest.raises(ValueError, match=words):
        pseudo_counts(MEstimate(2, p), "größe", SIZES, SPECIES)


def test_a_negative_belief_is_not_blamed_on_its_sum():
    with pytest.raises(ValueError, match="column 'größe'") as caught:
        pseudo_counts(MEstimate(2, {"klein": -1.0, "mittel": 2.0}), "größe", SIZES, SPECIES)
    assert "sums to" not in str(caught.value)


@pytest.mark.parametrize("m", [-1, np.nan, np.inf, "2", None])
def test_an_m_that_is_none(m):
    with pytest.raises(ValueError, match="MEstimate's m is"):
        MEstimate(m)


@pytest.mark.parametrize("smoothing", [0, 1, 0.5, np.float32(0.5), np.int64(2)])
def test_smoothing_is_a_number(smoothing):
    assert checked_smoothing(smoothing, ["größe"]) == float(smoothing)
    assert type(checked_smoothing(smoothing, ["größe"])) is float


def test_smoothing_may_be_an_m_estimate():
    assert checked_smoothing(MEstimate(2, BELIEF), ["größe"]) == MEstimate(2, BELIEF)


@pytest.mark.parametrize("smoothing", [-1, -1e-9, np.nan, np.inf, "laplace", None, True, [1]])
def test_smoothing_that_is_none(smoothing):
    with pytest.raises(ValueError, match=r"smoothing is .* expected a pseudo-count from 0"):
        checked_smoothing(smoothing, ["größe"])


def test_a_misspelt_column_is_not_taken_for_silence():
    with pytest.raises(ValueError, match="did you mean 'größe'"):
        checked_smoothing(MEstimate(2, {"色泽": None, "größ": BELIEF}), ["größe", "色泽"])
    with pytest.raises(ValueError, match="'größ'.*no level of column 'größe'"):
        pseudo_counts(checked_smoothing(MEstimate(2, {"größ": BELIEF}), ["größe"]), "größe", SIZES, SPECIES)


# ---------------------------------------------------------------------------------------------------------------------
# Probabilities


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, 1e6])
def test_lidstone(alpha):
    n = COUNTS.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(
        smoothed(COUNTS, alpha, "größe", SIZES, SPECIES), (COUNTS + alpha) / (n + 3 * alpha), rtol=1e-15
    )


@pytest.mark.parametrize("p", [None, BELIEF, BY_CLASS])
@pytest.mark.parametrize("m", [0.5, 2, 30])
def test_m_estimate(m, p):
    belief = {None: [[1 / 3] * 3] * 2, "levels": [[0.2, 0.3, 0.5]] * 2, "classes": [[1.0, 0.0, 0.0], [0.5, 0.0, 0.5]]}[
        None if p is None else "levels" if p is BELIEF else "classes"
    ]
    expected = (COUNTS + m * np.array(belief)) / (COUNTS.sum(axis=1, keepdims=True) + m)
    np.testing.assert_allclose(smoothed(COUNTS, MEstimate(m, p), "größe", SIZES, SPECIES), expected, rtol=1e-15)


@pytest.mark.parametrize("smoothing", [0.0, MEstimate(0), MEstimate(0, BELIEF)])
def test_an_empty_class_without_smoothing_takes_all_classes_counts(smoothing):
    counts = np.array([[4.0, 0.0, 6.0], [0.0, 0.0, 0.0]])
    assert smoothed(counts, smoothing, "größe", SIZES, SPECIES).tolist() == [[0.4, 0.0, 0.6], [0.4, 0.0, 0.6]]


def test_no_counts_at_all_are_even():
    assert smoothed(np.zeros((2, 3)), 0.0, "größe", SIZES, SPECIES).tolist() == [[1 / 3] * 3] * 2


def test_smoothing_does_not_change_the_counts():
    counts = np.array([[4.0, 0.0, 6.0], [0.0, 0.0, 0.0]])
    before = counts.copy()
    smoothed(counts, 0.0, "größe", SIZES, SPECIES)
    smoothed(counts, 1.0, "größe", SIZES, SPECIES)
    assert counts.tolist() == before.tolist()


@pytest.mark.parametrize("alpha", [0.5, 1.0])
def test_an_unseen_level_gets_what_an_empty_level_gets(alpha):
    expected = alpha / (COUNTS.sum(axis=1) + 3 * alpha)
    np.testing.assert_allclose(unseen_probability(COUNTS, alpha), expected, rtol=1e-15)
    np.testing.assert_allclose(unseen_probability(COUNTS, MEstimate(3 * alpha)), expected, rtol=1e-15)


def test_an_unseen_level_without_smoothing_is_impossible():
    assert unseen_probability(COUNTS, 0.0).tolist() == [0.0, 0.0]
    assert unseen_probability(np.zeros((2, 3)), 0.0).tolist() == [0.0, 0.0]
