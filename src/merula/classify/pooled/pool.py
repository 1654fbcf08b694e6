"""A logarithmic opinion pool: how much each part counts, by the classes of rows that it has not seen.

P(c given x) = (1 − ε) · softmax_c(log P(c) + Σ_part b_part · term_part(x, c)) + ε · P(c),  b ≥ 0

minimising −Σ weight · log P(own class given row) + HELD · |b − s·m|² + HELD · (s − 1)²: weights are held near a multiple s of stated
shares m, and s near 1, as a few rows would. ε is the share of rows that no part explains, by EM.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from merula.core import Array
from merula.core.logspace import log_sum_exp
from merula.core.threads import single_blas_thread

HELD = 5.0  # rows
SHARES = {"tables": 3.0, "gaussians": 2.0}  # that parts have of the pool before anything is known; 1 for the others
FEWEST_SLIPS, MOST_SLIPS = 0.1, 0.05  # rows that no part explains: so many at least of all, and this share at most
FARTHEST = 700.0  # nats: what a part may say against a class while weights are learned
ROUNDS, EM_STEPS = 4, 30
MOST_STEPS = 300
KEPT = 8  # digits of a weight: the order of rows, which changes the last ones, does not matter


@dataclass(frozen=True, eq=False)
class Evidence:
    """What parts say of rows that they have not seen, parts × rows × classes; the rows' classes and weights, log P(class)."""

    terms: Array
    codes: NDArray[np.int64]
    weights: Array
    log_prior: Array

    def own(self, logs: Array) -> Array:
        """What is said of each row's own class."""
        return logs[np.arange(len(self.codes)), self.codes]

    def log_posterior(self, b: Array) -> Array:
        """log softmax of the weighted sum."""
        scores = np.tensordot(b, self.terms, 1) + self.log_prior
        return scores - log_sum_exp(scores)[:, None]

    def losses(self, b: Array, slip: float) -> Array:
        """−log P(own class given row) of each row."""
        own = self.own(self.log_posterior(b))
        return -own if slip == 0 else -np.logaddexp(np.log1p(-slip) + own, np.log(slip) + self.log_prior[self.codes])


@dataclass(frozen=True, eq=False)
class Pool:
    """The weight of each part, and the share of rows that none explains."""

    weights: dict[str, float]
    slip: float


def fit_pool(evidence: Evidence, names: tuple[str, ...]) -> Pool:
    """The pool under which the classes of these rows are most probable."""
    best = evidence.terms.max(axis=2, keepdims=True)
    evidence = Evidence(np.maximum(evidence.terms - best, -FARTHEST), evidence.codes, evidence.weights, evidence.log_prior)  # fmt: skip
    shares = np.array([SHARES.get(name, 1.0) for name in names])
    start, slip = np.append(shares / shares.sum(), 1.0), FEWEST_SLIPS / (1 + evidence.weights.sum())
    with single_blas_thread:
        for _ in range(ROUNDS):
            start = _weights(evidence, start, slip, shares / shares.sum())
            before, slip = slip, _slip(evidence, start[:-1], slip)
            if abs(slip - before) < 1e-9:
                break
    return Pool({name: float(f"{b:.{KEPT}g}") for name, b in zip(names, start[:-1], strict=True)}, float(f"{slip:.{KEPT}g}"))  # fmt: skip


def _weights(evidence: Evidence, start: Array, slip: float, shares: Array) -> Array:
    """Weights and their scale s, given the share of slips."""
    own_terms = evidence.terms[:, np.arange(len(evidence.codes)), evidence.codes]
    unexplained = np.log(slip) - np.log1p(-slip) + evidence.log_prior[evidence.codes]

    def objective(v: Array) -> tuple[float, Array]:
        b, s = v[:-1], v[-1]
        logs = evidence.log_posterior(b)
        own = evidence.own(logs)
        explained = evidence.weights / (1 + np.exp(np.clip(unexplained - own, -FARTHEST, FARTHEST)))
        loss = -float(evidence.weights @ np.logaddexp(own, unexplained))
        slope = np.einsum("mnk,nk,n->m", evidence.terms, np.exp(logs), explained, optimize=True) - own_terms @ explained
        away = b - s * shares
        return (
            loss + HELD * float(away @ away) + HELD * (s - 1) ** 2,
            np.append(slope + 2 * HELD * away, -2 * HELD * float(away @ shares) + 2 * HELD * (s - 1)),
        )

    found = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * len(start), options={"maxiter": MOST_STEPS, "ftol": 1e-13, "gtol": 1e-8})  # fmt: skip
    return np.asarray(found.x)


def _slip(evidence: Evidence, b: Array, slip: float) -> float:
    """The share of rows that are more like the prior's than the pool's."""
    own, prior = np.exp(evidence.own(evidence.log_posterior(b))), np.exp(evidence.log_prior[evidence.codes])
    total = float(evidence.weights.sum())
    for _ in range(EM_STEPS):
        slip = (FEWEST_SLIPS + float(evidence.weights @ (slip * prior / (slip * prior + (1 - slip) * own)))) / (total + FEWEST_SLIPS)  # fmt: skip
    return min(slip, MOST_SLIPS)


def mean_loss(losses: Array, weights: Array) -> tuple[float, float]:
    """The weighted mean of losses, and its standard error."""
    total = float(weights.sum())
    mean = float(weights @ losses) / total
    return mean, float(np.sqrt(weights @ (losses - mean) ** 2 / max(total - 1, 1e-9) / total)) if total > 1 else 0.0


def scores_of(evidence: Evidence, pools: Mapping[str, tuple[Array, float]]) -> dict[str, tuple[float, float]]:
    """The mean loss of each pool and its standard error; "prior" is P(class) alone."""
    found = {"prior": mean_loss(-evidence.log_prior[evidence.codes], evidence.weights)}
    return found | {name: mean_loss(evidence.losses(b, slip), evidence.weights) for name, (b, slip) in pools.items()}
