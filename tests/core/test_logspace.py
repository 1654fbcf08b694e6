"""Probabilities as logarithms, against SciPy and the definitions written out."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.special import log_softmax, logsumexp, softmax

import merula as mr
from merula.core.logspace import (
    add_share,
    log_sum_exp,
    most_probable,
    safe_log,
    to_log_posterior,
    to_posterior,
    zero_evidence_notes,
)

LOG_PRIOR = np.log([0.5, 0.3, 0.2])
TURNS = {"posterior": to_posterior, "log posterior": to_log_posterior}


def test_safe_log_of_zero_is_minus_infinity_without_a_warning():
    assert safe_log([0.0, 1.0, 0.5, -0.0]).tolist() == [-np.inf, 0.0, np.log(0.5), -np.inf]


def test_safe_log_takes_a_bare_number():
    assert safe_log(0) == -np.inf
    assert safe_log(1) == 0.0


LOGS = st.one_of(st.floats(-1e5, 1e5), st.just(-np.inf))


@settings(deadline=None)
@given(arrays(np.float64, array_shapes(min_dims=1, max_dims=3, max_side=5), elements=LOGS))
def test_log_sum_exp_is_scipys(values):
    np.testing.assert_allclose(log_sum_exp(values), logsumexp(values, axis=-1), rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ([-np.inf, -np.inf], -np.inf),
        ([-np.inf, -3.0], -3.0),
        ([1e5, 1e5], 1e5 + np.log(2)),
        ([-1e5, -1e5], -1e5 + np.log(2)),
        ([-1e5, 1e5], 1e5),
        ([-1e300, -1e300], -1e300),
    ],
)
def test_log_sum_exp_at_the_edges(row, expected):
    assert log_sum_exp(np.array([row])).tolist() == [expected]


@pytest.mark.parametrize("scale", [1.0, 30.0, 1e5])
def test_posterior_is_the_softmax_of_the_log_joint(scale):
    joint = np.random.default_rng(3).normal(size=(200, 3)) * scale
    posterior = joint.copy()
    assert to_posterior(posterior, LOG_PRIOR) == 0
    np.testing.assert_allclose(posterior, softmax(joint, axis=1), rtol=1e-13, atol=0)
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0, rtol=0, atol=1e-15)


@pytest.mark.parametrize("scale", [1.0, 30.0, 1e5])
def test_log_posterior_is_the_log_softmax_of_the_log_joint(scale):
    joint = np.random.default_rng(4).normal(size=(200, 3)) * scale
    log_posterior = joint.copy()
    assert to_log_posterior(log_posterior, LOG_PRIOR) == 0
    np.testing.assert_allclose(log_posterior, log_softmax(joint, axis=1), rtol=1e-13, atol=1e-15)


def test_posterior_by_exact_fractions():
    weights = [[1, 2, 5], [7, 0, 1], [0, 0, 3]]
    exact = [[float(Fraction(w, sum(row))) for w in row] for row in weights]
    posterior = safe_log(weights)
    assert to_posterior(posterior, LOG_PRIOR) == 0
    np.testing.assert_allclose(posterior, exact, rtol=1e-15, atol=0)


@pytest.mark.parametrize("turn", TURNS)
def test_rows_impossible_under_every_class_get_the_prior_and_are_counted(turn):
    joint = np.array([[-np.inf] * 3, [0.0, -np.inf, 0.0], [-np.inf] * 3])
    assert TURNS[turn](joint, LOG_PRIOR) == 2
    found = joint if turn == "posterior" else np.exp(joint)
    np.testing.assert_allclose(found, [[0.5, 0.3, 0.2], [0.5, 0.0, 0.5], [0.5, 0.3, 0.2]], rtol=1e-15, atol=0)


@pytest.mark.parametrize("turn", TURNS)
def test_a_class_with_prior_zero_stays_impossible_in_a_row_without_evidence(turn):
    joint = np.full((1, 2), -np.inf)
    TURNS[turn](joint, safe_log([1.0, 0.0]))
    assert joint.tolist() == ([[1.0, 0.0]] if turn == "posterior" else [[0.0, -np.inf]])


@pytest.mark.parametrize("level", [1e5, -1e5])
def test_huge_levels_keep_the_difference_between_classes(level):
    joint = np.array([[level, level + np.log(3.0)]])
    to_posterior(joint, np.log([0.5, 0.5]))
    np.testing.assert_allclose(joint, [[0.25, 0.75]], rtol=1e-10)  # log 3 is known to 1e-11 only at 1e5


def test_far_apart_classes_give_exact_zero_and_one():
    joint = np.array([[-1e5, 1e5, 0.0]])
    to_posterior(joint, LOG_PRIOR)
    assert joint.tolist() == [[0.0, 1.0, 0.0]]


def test_log_posterior_keeps_what_the_posterior_rounds_to_zero():
    joint = np.array([[-1e5, 1e5]])
    to_log_posterior(joint, np.log([0.5, 0.5]))
    assert joint.tolist() == [[-2e5, 0.0]]


@pytest.mark.parametrize(("rows", "words"), [(1, "1 row has probability 0"), (7, "7 rows have probability 0")])
def test_zero_evidence_is_one_note_that_counts_the_rows(rows, words):
    (note,) = zero_evidence_notes(rows)
    assert note.category is mr.ZeroEvidenceWarning
    assert str(note).startswith(words)


def test_no_row_without_evidence_no_note():
    assert zero_evidence_notes(0) == ()


def test_the_posterior_is_written_in_place_into_a_view():
    table = np.zeros((6, 2))
    to_posterior(table[2:4], np.log([0.5, 0.5]))
    assert table.tolist() == [[0, 0]] * 2 + [[0.5, 0.5]] * 2 + [[0, 0]] * 2


@settings(deadline=None)
@given(
    arrays(
        np.float64, st.tuples(st.integers(0, 20), st.just(3)), elements=st.one_of(LOGS, st.sampled_from([0.0, -1.0]))
    )
)
def test_the_most_probable_class_is_the_first_largest_or_the_priors(joint):
    best = np.full(len(joint), -7)
    impossible = most_probable(joint, LOG_PRIOR, best)
    nothing = (joint == -np.inf).all(axis=1)
    assert impossible == nothing.sum()
    assert best.tolist() == np.where(nothing, 0, joint.argmax(axis=1) if len(joint) else 0).tolist()


def test_without_evidence_the_most_probable_class_is_the_first_largest_of_the_prior():
    best = np.empty(2, dtype=np.int64)
    assert most_probable(np.full((2, 3), -np.inf), np.log([0.2, 0.4, 0.4]), best) == 2
    assert best.tolist() == [1, 1]


@pytest.mark.parametrize("normalised", [False, True])
def test_shares_add_up_as_scipy_adds_them(normalised):
    rng = np.random.default_rng(0)
    parts = rng.normal(0, 300, size=(3, 700, 4))
    parts[0, :50, 1:], parts[1, 20:40], parts[2, 25:30] = -np.inf, -np.inf, -np.inf
    weights = np.log(rng.dirichlet([1, 1, 1], 700)).T
    weights[0, 60:70] = -np.inf
    out, stacked = np.full((700, 4), -np.inf), []
    for part, weight in zip(parts, weights, strict=True):
        add_share(part, np.ascontiguousarray(weight), normalised, out)
        total = logsumexp(part, axis=1, keepdims=True) if normalised else 0.0
        with np.errstate(invalid="ignore"):
            stacked.append(np.where(np.isneginf(part), -np.inf, part - total + weight[:, None]))
    np.testing.assert_allclose(out, logsumexp(stacked, axis=0), rtol=1e-13, atol=1e-13)
