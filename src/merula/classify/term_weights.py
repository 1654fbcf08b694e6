"""Weights of terms by conditional likelihood: how far each column, and each further parent, is to be believed.

P(c given row) ∝ P(c) · exp(Σ_j w_j · term_j(c)), with w ≥ 0 minimising
Σ_row weight · −log P(own class given row) + ridge · Σ_j (w_j − 1)² / 2
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from merula.classify._kernels import residuals
from merula.classify.left_out import LeftOutTerms
from merula.classify.newton import least
from merula.core import Array
from merula.core.logspace import log_sum_exp
from merula.core.threads import single_blas_thread

FOLDS = 5
MOST_CELLS = 2**21  # terms looked at: rows × columns × classes; of larger tables some rows, chosen by their content
RIDGES = 8.0 ** np.arange(-1, 5)  # how strongly weights are held near 1, in rows
DIGITS = 12  # scores of ridges are compared rounded to this many
KEPT = 8  # digits of a weight: the order of rows, which changes the last ones, does not matter
MOST_STEPS = 500
CLOSE = 1e-6  # of the weight of rows: a slope that ends the search, before it is polished
FARTHEST = 50.0  # nats: what one term may say against a class while weights are learned; unsmoothed zeros say more


@dataclass(frozen=True, eq=False)
class ConditionalLikelihood:
    """The problem itself: terms as factors × (rows · classes), the log prior, and each row's own class and weight."""

    terms: Array
    log_prior: Array
    codes: NDArray[np.int64]

    @classmethod
    def of(cls, found: LeftOutTerms, log_prior: Array) -> ConditionalLikelihood:
        """The problem of these terms; only how far they lie below the best class matters."""
        best = found.values.max(axis=2, keepdims=True)
        below = np.where(np.isneginf(best), 0.0, found.values - np.where(np.isneginf(best), 0.0, best))
        terms = np.maximum(below, -FARTHEST).reshape(len(below), -1)
        return cls(terms, np.maximum(log_prior - log_prior.max(), -FARTHEST), found.codes)

    def log_posterior(self, w: Array) -> Array:
        """log P(class given row), rows × classes."""
        scores = (w @ self.terms).reshape(-1, len(self.log_prior)) + self.log_prior
        return scores - log_sum_exp(scores)[:, None]

    def losses(self, w: Array) -> Array:
        """−log P(own class) of each row."""
        return -self.log_posterior(w)[np.arange(len(self.codes)), self.codes]

    def objective(self, w: Array, weights: Array, ridge: float) -> tuple[float, Array]:
        """What is minimised, and its derivatives."""
        scores, away = (w @ self.terms).reshape(-1, len(self.log_prior)), w - 1
        loss = residuals(scores, self.log_prior, self.codes, weights)
        return float(loss + ridge * (away @ away) / 2), self.terms @ scores.ravel() + ridge * away

    def curvature(self, w: Array, weights: Array, ridge: float) -> Array:
        """The second derivatives: the weighted covariances of the terms under the posterior, and the ridge."""
        shares = np.exp(self.log_posterior(w))
        mean = (self.terms.reshape(len(w), -1, len(self.log_prior)) * shares).sum(axis=2)
        spread = (self.terms * (shares * weights[:, None]).ravel()) @ self.terms.T
        found: Array = spread - (mean * weights) @ mean.T + ridge * np.eye(len(w))
        return found

    def fit(self, weights: Array, ridge: float, start: Array) -> Array:
        """The weights of terms for rows of these weights, to six digits or so; convex, so that the start does not matter.

        Of many terms this takes less time than `polished`, whose second derivatives are terms × terms.
        """
        found = minimize(
            self.objective,
            start,
            (weights, ridge),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, None)] * len(start),
            options={"maxiter": MOST_STEPS, "ftol": 0.0, "gtol": CLOSE * (weights.sum() + ridge)},
        )
        return np.asarray(found.x)

    def polished(self, weights: Array, ridge: float, start: Array) -> Array:
        """The same to all digits."""
        objective, curvature = (lambda w: self.objective(w, weights, ridge)), (lambda w: self.curvature(w, weights, ridge))  # fmt: skip
        return least(objective, curvature, start, np.ones(len(start), dtype=np.bool_))


def fit_weights(found: LeftOutTerms, log_prior: Array) -> tuple[Array, float]:
    """The weights of all factors, and the ridge under which rows of folds left out are most probable."""
    problem, weights = ConditionalLikelihood.of(found, log_prior), found.weights
    with single_blas_thread:  # products are small, and the same for any number of threads
        ridge = best_ridge(problem, weights, found.folds)
        w = problem.fit(weights, ridge, np.ones(len(problem.terms)))
        w = problem.polished(weights, ridge, w)
    return np.array([float(f"{weight:.{KEPT}g}") for weight in w.tolist()]), ridge


def best_ridge(problem: ConditionalLikelihood, weights: Array, folds: NDArray[np.int64]) -> float:
    """The ridge of least loss out of fold; of equal ones the strongest."""
    ridges = RIDGES[::-1]  # the strongest first: its weights, near 1, are where the next begins
    total = np.zeros(len(ridges))
    for fold in np.unique(folds):
        left_out = folds == fold
        w = np.ones(len(problem.terms))
        for k, ridge in enumerate(ridges.tolist()):
            w = problem.fit(np.where(left_out, 0.0, weights), ridge, w)
            total[k] += weights[left_out] @ problem.losses(w)[left_out]
    scores = [float(f"{value:.{DIGITS}g}") for value in (total / weights.sum()).tolist()]
    return float(ridges[int(np.argmin(scores))])


def by_column(keys: Sequence[tuple[str, ...]], weights: Sequence[float]) -> dict[str | tuple[str, ...], float | tuple[float, ...]]:  # fmt: skip
    """{column, or tuple of columns: its weight, or those by depth}."""
    found: dict[tuple[str, ...], list[float]] = {}
    for key, weight in zip(keys, weights, strict=True):
        found.setdefault(key, []).append(weight)
    return {key[0] if len(key) == 1 else key: own[0] if len(own) == 1 else tuple(own) for key, own in found.items()}
