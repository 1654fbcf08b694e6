"""Noisy-OR and noisy-MAX against the definition: enumerate what every cause does, and take the highest."""

from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from merula.graphs.network.noisy import noisy_max


def by_enumeration(effects, leak):
    """P(Y given parents): every cause reaches a level by itself; Y is the highest level reached."""
    table = np.zeros([len(effect) for effect in effects] + [len(leak)])
    for index in product(*(range(len(effect)) for effect in effects)):
        causes = [effect[state] for effect, state in zip(effects, index, strict=True)] + [leak]
        for reached in product(range(len(leak)), repeat=len(causes)):
            table[(*index, max(reached))] += prod(cause[level] for cause, level in zip(causes, reached, strict=True))
    return table


@st.composite
def distributions(draw, rows, width):
    weights = draw(
        st.lists(st.lists(st.integers(0, 9), min_size=width, max_size=width).filter(any), min_size=rows, max_size=rows)
    )
    return np.array([[weight / sum(row) for weight in row] for row in weights])


@given(data=st.data(), sizes=st.lists(st.integers(1, 4), min_size=0, max_size=3), width=st.integers(1, 4))
@settings(deadline=None, max_examples=80)
def test_noisy_max_is_the_highest_of_independent_effects(data, sizes, width):
    effects = [data.draw(distributions(size, width)) for size in sizes]
    leak = data.draw(distributions(1, width))[0]
    got = noisy_max(effects, leak)
    assert got.shape == (*sizes, width)
    np.testing.assert_allclose(got, by_enumeration(effects, leak), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(got.sum(axis=-1), 1, atol=1e-15)


def noisy_or(causes, leak=0.0):
    """Each cause by itself produces the effect with its own probability: a noisy-MAX of two levels."""
    return noisy_max([[[1.0, 0.0], [1 - cause, cause]] for cause in causes], [1 - leak, leak])


@given(causes=st.lists(st.floats(0, 1), min_size=1, max_size=5), leak=st.floats(0, 1))
@settings(deadline=None, max_examples=80)
def test_noisy_or_is_one_minus_the_product_of_failures(causes, leak):
    """Henrion's formula, in exact fractions."""
    got = noisy_or(causes, leak)
    for index in product((0, 1), repeat=len(causes)):
        fails = (1 - Fraction(leak)) * prod(
            1 - Fraction(cause) for cause, present in zip(causes, index, strict=True) if present
        )
        np.testing.assert_allclose(got[index], [float(fails), float(1 - fails)], rtol=1e-9, atol=1e-16)


def test_tiny_probabilities_keep_their_digits():
    assert noisy_or([1e-30, 2e-30])[1, 1, 1] == pytest.approx(3e-30, rel=1e-14)
    effect = [[1, 0, 0], [1 - 3e-20, 2e-20, 1e-20]]
    np.testing.assert_allclose(noisy_max([effect, effect])[1, 1], [1, 4e-20, 2e-20], rtol=1e-14)


def test_without_a_leak_nothing_happens_by_itself():
    np.testing.assert_array_equal(noisy_max([[[1, 0, 0], [0.2, 0.3, 0.5]]]), [[1, 0, 0], [0.2, 0.3, 0.5]])
    np.testing.assert_array_equal(noisy_or([0.3])[0], [1, 0])


def test_the_leak_alone():
    np.testing.assert_allclose(noisy_max([], [0.2, 0.3, 0.5]), [0.2, 0.3, 0.5], atol=1e-16)
    np.testing.assert_allclose(noisy_or([], 0.25), [0.75, 0.25], atol=1e-16)


BROKEN = {
    "a cause above 1": (
        lambda: noisy_or([0.5, 1.5]),
        "row 1 of parent 1 holds -0.5; probabilities are numbers from 0 to 1",
    ),
    "a leak that is none": (
        lambda: noisy_or([0.5], float("nan")),
        "row 0 of the leak holds nan; probabilities are numbers from 0 to 1",
    ),
    "nothing": (lambda: noisy_max([]), "a noisy-MAX needs at least one parent or a leak; got neither"),
    "one axis": (
        lambda: noisy_max([[0.5, 0.5]]),
        "parent 0 has an array of 1 axes, expected one row per level of the parent",
    ),
    "widths": (
        lambda: noisy_max([[[1, 0], [0, 1]], [[1, 0, 0]]]),
        r"parent 1 has an array of shape \(1, 3\), expected one row per level of the parent and 2 columns",
    ),
    "leak": (
        lambda: noisy_max([[[1, 0], [0, 1]]], [0.5, 0.3, 0.2]),
        r"parent 0 has an array of shape \(2, 2\), expected one row per level of the parent and 3 columns",
    ),
    "sum": (lambda: noisy_max([[[1, 0], [0.5, 0.4]]]), "row 1 of parent 0 sums to 0.9, expected 1"),
    "leak's sum": (lambda: noisy_max([[[1, 0], [0, 1]]], [0.5, 0.4]), "row 0 of the leak sums to 0.9"),
    "negative": (
        lambda: noisy_max([[[1, 0], [-0.5, 1.5]]]),
        "row 1 of parent 0 holds -0.5; probabilities are numbers from 0 to 1",
    ),
    "forty parents": (
        lambda: noisy_or([0.1] * 40),
        "the full table of 40 parents would have 2,199,023,255,552 cells \\(17.6 TB\\), the limit is 134 MB",
    ),
    "seventy parents": (lambda: noisy_max([[[1, 0]]] * 70), "the full table of 70 parents"),
}


@pytest.mark.parametrize("make, message", BROKEN.values(), ids=BROKEN.keys())
def test_what_is_said_about_wrong_numbers(make, message):
    with pytest.raises(ValueError, match=message):
        make()
