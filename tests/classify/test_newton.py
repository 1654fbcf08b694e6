"""Newton's steps with weights held at 0 or above, against SciPy's own solvers."""

import numpy as np
import pytest
from scipy.optimize import minimize, nnls

from merula.classify.newton import least


@pytest.mark.parametrize("seed", range(20))
def test_least_squares_of_weights_from_0_on_are_those_of_nnls(seed):
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(30, 8)), rng.normal(size=30)
    start = rng.choice([0.0, 1.0], 8)
    found = least(lambda x: (0.5 * ((A @ x - b) ** 2).sum(), A.T @ (A @ x - b)), lambda _: A.T @ A, start, np.ones(8, bool))  # fmt: skip
    np.testing.assert_allclose(found, nnls(A, b)[0], atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_logistic_weights_of_which_some_are_held_are_those_of_another_optimiser(seed):
    rng = np.random.default_rng(seed)
    X, sign, held = rng.normal(size=(60, 5)), rng.choice([-1.0, 1.0], 60), np.array([True, True, True, False, False])

    def objective(w):
        odds = sign * (X @ w)
        return float(np.logaddexp(0, -odds).sum() + 0.5 * w @ w), -X.T @ (sign / (1 + np.exp(odds))) + w

    def curvature(w):
        p = 1 / (1 + np.exp(-X @ w))
        return (X.T * (p * (1 - p))) @ X + np.eye(5)

    bounds = [(0, None)] * 3 + [(None, None)] * 2
    other = minimize(objective, np.ones(5), jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 0, "gtol": 1e-9})  # fmt: skip
    for start in (np.ones(5), np.zeros(5), 30 * rng.normal(size=5) ** 2):
        found = least(objective, curvature, start, held)
        np.testing.assert_allclose(found, other.x, atol=1e-7)
        assert (found[held] >= 0).all()


def test_a_weight_at_0_that_would_only_rise_alone_does_not_stop_the_others():
    """Its slope says up, but Newton's step, which moves all at once, says down."""
    H, g = np.array([[1.0, 0.9], [0.9, 1.0]]), np.array([-0.1, -1.0])
    found = least(lambda v: (0.5 * v @ H @ v + g @ v, H @ v + g), lambda _: H, np.zeros(2), np.ones(2, bool))
    np.testing.assert_allclose(found, [0.0, 1.0], atol=1e-12)


@pytest.mark.parametrize(
    ("function", "start", "end"),
    [
        (lambda v: (float(v[0] ** 4 - v[0] ** 2), np.array([4 * v[0] ** 3 - 2 * v[0]]), np.array([[12 * v[0] ** 2 - 2]])), 0.1, np.sqrt(0.5)),
        (lambda v: (float(v[0] ** 4), 4 * v**3, np.array([[0.0]])), 1.0, 0.0),
    ],
    ids=["bent the other way", "said to be flat"],
)  # fmt: skip
def test_where_the_curvature_is_of_no_use_steps_still_lead_down(function, start, end):
    found = least(lambda v: function(v)[:2], lambda v: function(v)[2], np.array([start]), np.zeros(1, bool))
    assert function(found)[0] <= function(np.array([start]))[0]
    assert abs(found[0] - end) < 0.2
