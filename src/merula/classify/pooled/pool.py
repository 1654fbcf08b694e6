"""A logarithmic opinion pool: how much each part counts, by the classes of rows that it has not seen.

P(c given x) = (1 − ε) · softmax_c(log P(c) + a_c · known(x) + Σ_part b_part · term_part(x, c)) + ε · P(c),  b ≥ 0

minimising −Σ weight · log P(own class given row) + h · (HELD · |b − s·m|² + HELD · (s − 1)² + BIASED · |a|²), h = 1: weights are held near
a multiple s of stated shares m, and s near 1, as a few rows would. a corrects how often parts take rows for a class, in proportion to the
share of cells that are known; ε is the share of rows that no part explains, by EM, with FEWEST_SLIPS rows added to those that were met. Let
doubt be Σ weight · (1 − P(own class given row)) over the rows left out. Where it is below 1 the pool is sure of nearly all of them, and the few
rows that are added would be as sure: they are taken as so much fewer. Weights are then held less as well, h = doubt / UNSURE, but never less
than MANY / Σ weight, since a few rows that are all told say little of the next. Weights and slips are found by turns until neither changes.
At the end a and b are multiplied by 1 − BY_CHANCE / gain, where gain is by how many nats the pool makes the classes of these rows more
probable than the prior does: even on noise, a pool seems to gain BY_CHANCE.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from merula.classify.newton import least
from merula.core import Array
from merula.core.logspace import log_sum_exp
from merula.core.threads import single_blas_thread

HELD, BIASED = 5.0, 1.5  # rows; like the shares below, chosen on the tables of benchmarks/strength.py
SHARES = {"tables": 3.0, "gaussians": 2.0}  # that parts have of the pool before anything is known; 1 for the others
FEWEST_SLIPS, MOST_SLIPS = 0.1, 0.05  # rows that no part explains: so many at least of all, and this share at most
LEAST_DOUBT = 0.1  # rows: a pool is taken to be no surer than that of all together
UNSURE, MANY = 2.0, 100.0  # rows in doubt, below which weights are held less; rows that may all be told by chance
FARTHEST = 700.0  # nats: what a part may say against a class while weights are learned
MOST_ROUNDS, EM_STEPS, SETTLED = (
    10,
    30,
    0.01,
)  # of weights and slips by turns, until slips and hold change by no more than this share
STARTS = (
    1.0,
    0.1,
)  # times the stated shares, from which weights are looked for: because of slips there may be several minima
BY_CHANCE = 2.0  # nats that a pool gains over the prior where there is nothing to be told


@dataclass(frozen=True, eq=False)
class Evidence:
    """What parts say of rows that they have not seen, parts × rows × classes; the share of cells that rows know, their classes and weights, log P(class)."""

    terms: Array
    known: Array
    codes: NDArray[np.int64]
    weights: Array
    log_prior: Array

    def own(self, logs: Array) -> Array:
        """What is said of each row's own class."""
        return logs[np.arange(len(self.codes)), self.codes]

    def log_posterior(self, b: Array, bias: Array | float = 0.0) -> Array:
        """log softmax of the weighted sum."""
        scores = np.tensordot(b, self.terms, 1) + self.log_prior + self.known[:, None] * bias
        return scores - log_sum_exp(scores)[:, None]

    def losses(self, b: Array, bias: Array | float = 0.0, slip: float = 0.0) -> Array:
        """−log P(own class given row) of each row."""
        own = self.own(self.log_posterior(b, bias))
        return -own if slip == 0 else -np.logaddexp(np.log1p(-slip) + own, np.log(slip) + self.log_prior[self.codes])


@dataclass(frozen=True, eq=False)
class Pool:
    """The weight of each part, the correction of each class, and the share of rows that no part explains."""

    weights: dict[str, float]
    bias: Array
    slip: float


def fit_pool(evidence: Evidence, names: tuple[str, ...]) -> Pool:
    """The pool under which the classes of these rows are most probable."""
    slip, nothing = FEWEST_SLIPS / (1 + float(evidence.weights.sum())), np.zeros(len(evidence.log_prior))
    if not names:
        return Pool({}, nothing, slip)
    evidence, shares = _bounded(evidence), _shares(names)
    starts, held = [np.concatenate([scale * shares, [scale], nothing]) for scale in STARTS], 1.0
    with single_blas_thread:  # products are the same for any number of threads
        for _ in range(MOST_ROUNDS):
            ends = [_weights(evidence, start, slip, shares, held) for start in starts]
            found = min(ends, key=lambda v: float(f"{_objective(v, evidence, slip, shares, held)[0]:.10g}"))
            before, starts = np.array([slip, held]), [found]
            slip, held = _slip(evidence, found, slip), _firmness(evidence, found)
            if (abs(before - [slip, held]) <= SETTLED * before).all():
                break
        b, bias = found[: len(names)], found[len(names) + 1 :]
        believed = _believed(evidence, b, bias, slip)
    return Pool(dict(zip(names, (believed * b).tolist(), strict=True)), believed * bias, slip)


def _believed(evidence: Evidence, b: Array, bias: Array, slip: float) -> float:
    """How far a pool is to be believed: not at all where it gains no more over the prior than pools of noise do (James & Stein 1961)."""
    prior = -evidence.log_prior[evidence.codes]
    gain = float(evidence.weights @ (prior - evidence.losses(b, bias, slip)))
    return max(0.0, 1 - BY_CHANCE / gain) if gain > 0 else 0.0


def _bounded(evidence: Evidence) -> Evidence:
    """The same with nothing said against a class that is farther than weights can be learned with."""
    below = evidence.terms - evidence.terms.max(axis=2, keepdims=True)
    return replace(evidence, terms=np.maximum(below, -FARTHEST))


def _shares(names: tuple[str, ...]) -> Array:
    """The shares that weights are held near."""
    shares = np.array([SHARES.get(name, 1.0) for name in names])
    return shares / max(shares.sum(), 1.0)  # type: ignore[no-any-return]


def _weights(evidence: Evidence, start: Array, slip: float, shares: Array, held: float = 1.0) -> Array:
    """Weights, their scale s and the corrections, given the share of slips; to all digits, so that what rounding changes does not matter."""
    not_below_0 = np.arange(len(start)) <= len(shares)
    return least(lambda v: _objective(v, evidence, slip, shares, held), lambda v: _curvature(evidence, v, slip, shares, held), start, not_below_0)  # fmt: skip


def _explained(evidence: Evidence, own: Array, slip: float) -> tuple[Array, Array]:
    """log of what the prior gives each row's class beside the pool, and how much of each row's weight is the pool's."""
    beside = np.log(slip) - np.log1p(-slip) + evidence.log_prior[evidence.codes]
    return beside, evidence.weights / (1 + np.exp(np.clip(beside - own, -FARTHEST, FARTHEST)))


def _objective(v: Array, evidence: Evidence, slip: float, shares: Array, held: float = 1.0) -> tuple[float, Array]:
    """What is minimised, and its derivatives."""
    m = len(shares)
    b, s, bias = v[:m], v[m], v[m + 1 :]
    logs = evidence.log_posterior(b, bias)
    own = evidence.own(logs)
    beside, explained = _explained(evidence, own, slip)
    away, total = b - s * shares, explained * evidence.known
    residual = np.exp(logs) * explained[:, None]
    residual[np.arange(len(own)), evidence.codes] -= explained
    of_bias = total @ np.exp(logs) - np.bincount(evidence.codes, total, minlength=len(bias))
    firm, biased = held * HELD, held * BIASED
    of_holding = firm * float(away @ away) + firm * (s - 1) ** 2 + biased * float(bias @ bias)
    of_weights = evidence.terms.reshape(m, -1) @ residual.ravel() + 2 * firm * away
    slope = [of_weights, [2 * firm * (s - 1 - float(away @ shares))], of_bias + 2 * biased * bias]
    return of_holding - float(evidence.weights @ np.logaddexp(own, beside)), np.concatenate(slope)


def _curvature(evidence: Evidence, v: Array, slip: float, shares: Array, held: float = 1.0) -> Array:
    """Second derivatives: covariances of terms and classes under the posterior, and what holds weights.

    Less what is due to slips, unless that leaves no least value to step to.
    """
    m, k = len(shares), len(evidence.log_prior)
    logs = evidence.log_posterior(v[:m], v[m + 1 :])
    explained = _explained(evidence, evidence.own(logs), slip)[1]
    p = np.exp(logs)
    away = evidence.terms - np.einsum("mnk,nk->mn", evidence.terms, p)[:, :, None]
    chances, known = p * explained[:, None], (explained * evidence.known)[:, None]
    bias = slice(m + 1, m + 1 + k)
    found = np.zeros((m + 1 + k, m + 1 + k))
    found[:m, :m] = (away * chances).reshape(m, -1) @ away.reshape(m, -1).T
    found[:m, bias] = np.einsum("mnk,nk->mk", away, known * p)
    found[bias, :m] = found[:m, bias].T
    found[bias, bias] = np.diag((known * evidence.known[:, None] * p).sum(axis=0)) - (known * evidence.known[:, None] * p).T @ p  # fmt: skip
    found[np.arange(m), np.arange(m)] += 2 * held * HELD
    found[:m, m] = found[m, :m] = -2 * held * HELD * shares
    found[m, m] = 2 * held * HELD * (1 + float(shares @ shares))
    found[np.arange(m + 1, m + 1 + k), np.arange(m + 1, m + 1 + k)] += 2 * held * BIASED
    whole = found - _of_slips(evidence, away, p, explained)
    return whole if np.linalg.eigvalsh(whole)[0] > 0 else found


def _of_slips(evidence: Evidence, away: Array, p: Array, explained: Array) -> Array:
    """How much less curved the loss is because rows may be slips: products of each row's slopes, times how unsure it is that it is one."""
    m, n, k = away.shape
    slopes, rows = np.zeros((m + 1 + k, n)), np.arange(n)
    slopes[:m] = away[:, rows, evidence.codes]
    slopes[m + 1 :] = -p.T
    slopes[m + 1 + evidence.codes, rows] += 1.0
    slopes[m + 1 :] *= evidence.known
    return (slopes * (explained * (1 - explained / evidence.weights))) @ slopes.T


def _own(evidence: Evidence, found: Array) -> Array:
    """What the pool with these weights, scale and corrections takes for the probability of each row's own class."""
    m = len(evidence.terms)
    return np.asarray(np.exp(evidence.own(evidence.log_posterior(found[:m], found[m + 1 :]))))


def _firmness(evidence: Evidence, found: Array) -> float:
    """How firmly weights are held, 1 unless rows are told nearly for sure."""
    doubt = float(evidence.weights @ (1 - _own(evidence, found)))
    return min(1.0, max(doubt / UNSURE, MANY / float(evidence.weights.sum())))


def _slip(evidence: Evidence, found: Array, slip: float) -> float:
    """The share of rows that are more like the prior's than the pool's."""
    own = _own(evidence, found)
    prior, total = np.exp(evidence.log_prior[evidence.codes]), float(evidence.weights.sum())
    fewest = FEWEST_SLIPS * min(1.0, max(float(evidence.weights @ (1 - own)), LEAST_DOUBT))
    for _ in range(EM_STEPS):
        slips = float(evidence.weights @ (slip * prior / (slip * prior + (1 - slip) * own)))
        slip = (fewest + slips) / (total + fewest)
    return min(slip, MOST_SLIPS)


def mean_loss(losses: Array, weights: Array) -> tuple[float, float]:
    """The weighted mean of losses, and its standard error."""
    total = float(weights.sum())
    mean = float(weights @ losses) / total
    return mean, float(np.sqrt(weights @ (losses - mean) ** 2 / max(total - 1, 1e-9) / total)) if total > 1 else 0.0


def scores_of(evidence: Evidence, names: tuple[str, ...], pools: Mapping[str, Pool]) -> dict[str, tuple[float, float]]:
    """The mean loss of each part by itself and of each pool, with standard errors; "prior" is P(class) alone."""
    found = {"prior": mean_loss(-evidence.log_prior[evidence.codes], evidence.weights)}
    for name, one in zip(names, np.eye(len(names)), strict=True):
        found[name] = mean_loss(evidence.losses(one), evidence.weights)
    for name, pool in pools.items():
        found[name] = mean_loss(_losses(evidence, names, pool), evidence.weights)
    return found


def gains_of(evidence: Evidence, names: tuple[str, ...], pool: Pool) -> dict[str, tuple[float, float]]:
    """What each part adds to the others: how much higher the mean loss is under the pool of these alone, with standard errors."""
    own, found = _losses(evidence, names, pool), dict[str, tuple[float, float]]()
    for name in names:
        others = tuple(other for other in names if other != name)
        some = replace(evidence, terms=evidence.terms[[names.index(other) for other in others]])
        found[name] = mean_loss(_losses(some, others, fit_pool(some, others)) - own, evidence.weights)
    return found


def _losses(evidence: Evidence, names: tuple[str, ...], pool: Pool) -> Array:
    """−log P(own class given row) of each row, by the pool."""
    b = np.array([pool.weights.get(part, 0.0) for part in names])
    return evidence.losses(b, pool.bias, pool.slip)
