"""Checks shared by all floors: allowed words, near words, probabilities."""

import numpy as np
import pytest

import merula as mr
from merula.core.checks import check_probabilities, checked_generator, nearest, one_of


def test_words():
    assert one_of("bic", ("bic", "aic"), "score") == "bic"
    with pytest.raises(mr.InputError, match=r"score is 'bci', expected one of 'bic', 'k2'; did you mean 'bic'\?"):
        one_of("bci", ("bic", "k2"), "score")
    with pytest.raises(mr.InputError, match="column is 'größe', but there is none yet"):
        one_of("größe", (), "column")


def test_near_words():
    assert nearest("blood presure", ["blood pressure", "größe"]) == "; did you mean 'blood pressure'?"
    assert nearest("blood presure", ["blood pressure"], show=str.upper) == "; did you mean BLOOD PRESSURE?"
    assert nearest("色泽", ["blood pressure"]) == nearest(3, ["3"]) == ""


def test_sums_become_exactly_1():
    rng = np.random.default_rng(0)
    table = rng.dirichlet(np.ones(5), (3, 4)) + rng.uniform(-1e-8, 1e-8, (3, 4, 5))
    found = check_probabilities(np.abs(table), "P(rain)")
    np.testing.assert_allclose(found.sum(axis=-1), 1, rtol=0, atol=4e-16)
    np.testing.assert_allclose(found, np.abs(table), rtol=0, atol=1e-6)


def test_rows_near_to_1_may_be_kept_bit_for_bit():
    row = np.array([0.1, 0.2, 0.7 + 3e-16])
    assert (check_probabilities(row, "p", kept=1e-12) == row).all()


def test_several_axes_and_rows_of_zeros():
    table = np.array([[[0.25, 0.25], [0.25, 0.25]], [[0.0, 0.0], [0.0, 0.0]]])
    assert (check_probabilities(table, "p", (1, 2), or_zero=True) == table).all()
    with pytest.raises(mr.InputError, match="p sums to 0 where row 1, expected 1"):
        check_probabilities(table, "p", (1, 2), at=lambda index: f"row {index[0]}")


@pytest.mark.parametrize(
    "values, words, got",
    [
        ([0.5, -0.1], "class_prior holds -0.1; probabilities are numbers from 0 to 1", -0.1),
        ([0.5, float("inf")], "class_prior holds inf; probabilities", float("inf")),
        ([0.5, 0.4], "class_prior sums to 0.9, expected 1; mend it", 0.9),
        (["half", 0.5], "class_prior holds something that is not a number", None),
    ],
)
def test_what_is_said(values, words, got):
    with pytest.raises(mr.InputError, match=words) as caught:
        check_probabilities(values, "class_prior", remedy="mend it")
    assert caught.value.where == "class_prior"
    assert caught.value.got == got if got is None else caught.value.got == pytest.approx(got)


def test_nan_is_no_probability():
    with pytest.raises(mr.InputError, match="cell 1, 0 holds nan"):
        check_probabilities([[0.5, 0.5], [float("nan"), 1]], lambda index: f"cell {index[0]}, {index[-1]}")


@pytest.mark.parametrize("seed", ["Montag", -1, 1.5, {}])
def test_a_seed_is_a_number_or_a_generator(seed):
    with pytest.raises(
        mr.InputError, match="random_state is .*, expected None, a whole number from 0 or a numpy.random"
    ) as caught:
        checked_generator(seed)
    assert caught.value.where == "random_state"


def test_the_same_seed_draws_the_same():
    rng = np.random.default_rng(3)
    assert checked_generator(rng) is rng
    assert checked_generator(np.int64(3)).random() == np.random.default_rng(3).random()
