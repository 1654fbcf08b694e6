"""Means and covariances of normal classes from pattern moments: EM where cells are missing, one step where none are.

Everything is in standard units (each column's overall mean 0 and variance 1). Classes of one `group` share a covariance.

    E: each stored vector (a pattern's mean, a root of its scatter) is completed by its regression on what is observed
    M: mean = average of the completed means;  Σ = (1 − λ)·S + λ·D,  S = completed scatter / n,  D = diagonal of variances

(Little & Rubin 2002, section 11.2). λ > 0 is the mode under an inverse-Wishart prior centred at D, so that what rises at
every step is log likelihood − ½κ (log |Σ| + tr Σ⁻¹D) with κ = λn / (1 − λ).

EM never goes back to the rows. Rows that miss the same columns are summed up by their weight, mean and scatter, and the scatter
is kept as a root R with RᵀR = scatter, whose rows stand in for centred rows of data. Regression is linear, so completing the
mean and the rows of R gives the same sums as completing every row: the cost of an E step depends on the number of patterns,
not of rows, and merged models are fitted from the same statistics as one that saw all rows.

Completing alone would make the filled cells too certain, so the E step also adds, for each pattern, its weight times the
covariance that the missing columns keep once the observed are known (`spread`). Both come from the precision matrix K = Σ⁻¹:
the missing part has mean −K_mm⁻¹ K_mo x_o and covariance K_mm⁻¹, so that one small Cholesky factor per pattern does both
(`_kernels.complete`), and its determinant gives the likelihood of what was observed.

`class_patterns` brings one class's statistics into this form, `fit_normal` takes the steps until means and covariance stand
still, and `_expectation` is one E step together with the sums that the M step needs. The steps end early when the covariance
becomes singular; the caller says which columns are at fault. Where no cell is missing, one M step is the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from merula.core import Array, warn_user
from merula.distributions._kernels import complete
from merula.stats import Moments, PatternMoments

MOST_STEPS = 2_000
TOLERANCE = 1e-11
SINGULAR = 1e-12  # an eigenvalue of a correlation matrix below this is none
LOG_TWO_PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, eq=False)
class ClassPatterns:
    """One class in standard units: its complete rows' moments, and its incomplete rows' vectors sorted by pattern."""

    weight: float
    mean: Array
    scatter: Array
    observed: NDArray[np.bool_]
    pattern_weight: Array
    vectors: Array
    pattern: NDArray[np.int64]
    is_mean: NDArray[np.bool_]

    @property
    def total(self) -> float:
        """The weight of all rows with anything observed."""
        return self.weight + float(self.pattern_weight.sum())

    @cached_property
    def _seen(self) -> NDArray[np.bool_]:
        return self.observed[self.pattern]

    @cached_property
    def scale(self) -> Array:
        """How much each vector counts: a mean as often as its pattern was met, a root once."""
        return np.where(self.is_mean, self.pattern_weight[self.pattern], 1.0)

    @property
    def rank(self) -> int:
        """The most dimensions its rows can spread over, however the missing cells are filled in."""
        rows = (
            int(np.linalg.matrix_rank(self.scatter)) + (self.weight > 0) + len(self.vectors) if self.scatter.size else 0
        )
        return max(0, rows - 1)

    def centred(self, mean: Array) -> Array:
        """The vectors less the class mean, 0 where nothing is observed."""
        return np.where(self._seen, self.vectors - np.where(self.is_mean[:, None], mean, 0.0), 0.0)


def class_patterns(
    statistic: PatternMoments, label: int, kept: NDArray[np.int64], centre: Array, unit: Array
) -> ClassPatterns:
    """What a class's statistics say of the kept columns, in standard units."""
    parts: list[tuple[NDArray[np.bool_], float, Array]] = []
    for (owner, mask), part in sorted(statistic.partial.items(), key=lambda item: item[0]):
        seen = np.frombuffer(mask, dtype=np.uint8).astype(bool)
        if owner != label or not seen[kept].any():
            continue
        wide, low = np.zeros((1 + len(part.root), len(seen))), np.zeros(len(seen))
        wide[0, seen], wide[1:, seen], low[seen] = part.mean, part.root, part.low
        wide = wide[:, kept]
        wide[0] = np.where(seen[kept], (wide[0] - centre) + low[kept], 0.0)
        parts.append((seen[kept], part.weight, wide / unit))
    d, whole = len(kept), statistic.complete
    lengths = np.array([len(vectors) for _, _, vectors in parts], dtype=np.int64)
    return ClassPatterns(
        float(whole.weight[label]),
        ((whole.mean[label][kept] - centre) + np.broadcast_to(whole.rest, whole.mean.shape)[label][kept]) / unit,
        whole.scatter[label][np.ix_(kept, kept)] / np.outer(unit, unit),
        np.array([observed for observed, _, _ in parts], dtype=bool).reshape(len(parts), d),
        np.array([weight for _, weight, _ in parts], dtype=np.float64),
        np.concatenate([vectors for _, _, vectors in parts]) if parts else np.zeros((0, d)),
        np.repeat(np.arange(len(parts)), lengths),
        np.array([row == 0 for length in lengths.tolist() for row in range(length)], dtype=bool),
    )


def column_moments(statistic: PatternMoments) -> Moments:
    """Each column's class moments by themselves, from complete and incomplete rows alike."""
    whole = statistic.complete
    weight = np.repeat(whole.weight[:, None], len(whole.columns), axis=1)
    result = Moments(whole.columns, weight, whole.mean, np.diagonal(whole.scatter, axis1=1, axis2=2).copy())
    for (label, mask), part in statistic.partial.items():
        seen = np.frombuffer(mask, dtype=np.uint8).astype(bool)
        one = Moments.zero(whole.columns, len(whole.weight))
        one.weight[label, seen], one.mean[label, seen], one.squares[label, seen] = (
            part.weight,
            part.mean,
            (part.root**2).sum(axis=0),
        )
        result = result + one
    return result


@dataclass(frozen=True, eq=False)
class NormalFit:
    """The means of a group of classes, their covariance, and what EM raised at every step."""

    mean: Array
    covariance: Array
    scatter: Array
    objective: list[float]


def fit_normal(classes: Sequence[ClassPatterns], mean: Array, diagonal: Array, shrinkage: float) -> NormalFit:
    """Means and shared covariance of a group of classes, from starting means and the diagonal to shrink towards."""
    n = sum(part.total for part in classes)
    if not any(len(part.vectors) for part in classes):
        scatter = np.zeros((len(diagonal), len(diagonal))) + sum(part.scatter for part in classes)
        average = scatter / n if n > 0 else np.diag(diagonal)
        means = np.stack([part.mean if part.weight > 0 else start for part, start in zip(classes, mean, strict=True)])
        return NormalFit(means, _shrunk(average, diagonal, shrinkage), average, [])
    covariance, objective = np.diag(diagonal), []
    average = covariance
    for step in range(MOST_STEPS):
        if smallest_eigenvalue(covariance) < SINGULAR:
            break
        before = mean, covariance
        found = [_expectation(part, start, covariance) for part, start in zip(classes, mean, strict=True)]
        objective.append(sum(part[2] for part in found) + _log_prior(covariance, diagonal, n, shrinkage))
        mean = np.stack([part[0] for part in found])
        average = np.zeros_like(covariance) + sum(part[1] for part in found) / n
        covariance = _shrunk(average, diagonal, shrinkage)
        if max(np.abs(mean - before[0]).max(), np.abs(covariance - before[1]).max()) < TOLERANCE:
            break
        if step == MOST_STEPS - 1:
            message = f"EM for the multivariate normal stopped after {MOST_STEPS} steps before it settled; more shrinkage makes it settle sooner"
            warn_user(message, ConvergenceWarning)
    return NormalFit(mean, covariance, average, objective)


def smallest_eigenvalue(covariance: Array) -> float:
    """The smallest eigenvalue of its correlation matrix: 0 where columns determine each other; 1 without columns."""
    if not covariance.size:
        return 1.0
    return float(np.linalg.eigvalsh(correlation(covariance))[0]) if (np.diagonal(covariance) > 0).all() else 0.0


def _shrunk(average: Array, diagonal: Array, shrinkage: float) -> Array:
    return (1 - shrinkage) * average + shrinkage * np.diag(diagonal)


def _expectation(part: ClassPatterns, mean: Array, covariance: Array) -> tuple[Array, Array, float]:
    """The new mean, the completed scatter about it, and the log likelihood under the old parameters."""
    precision: Any = np.linalg.inv(covariance)
    log_det = float(np.linalg.slogdet(covariance)[1])
    vectors, spread = part.centred(mean), np.zeros_like(covariance)
    extra = np.zeros(len(part.observed))
    complete(vectors, part.pattern, part.observed, precision, extra, part.pattern_weight, spread)
    scale = part.scale
    away = part.mean - mean if part.weight > 0 else np.zeros_like(mean)
    products = part.scatter + part.weight * np.outer(away, away) + (vectors * scale[:, None]).T @ vectors
    first = part.weight * away + (vectors * np.where(part.is_mean, scale, 0.0)[:, None]).sum(axis=0)
    total = part.total
    shift = first / total if total > 0 else first
    cells = part.weight * len(mean) + float(part.pattern_weight @ part.observed.sum(axis=1))
    log_dets = part.weight * log_det + float(part.pattern_weight @ (log_det + extra))
    log_likelihood = -0.5 * (cells * LOG_TWO_PI + log_dets + float((products * precision).sum()))
    return mean + shift, products + spread - total * np.outer(shift, shift), log_likelihood


def _log_prior(covariance: Array, diagonal: Array, n: float, shrinkage: float) -> float:
    """−½κ (log |Σ| + tr Σ⁻¹D), up to a constant; 0 without shrinkage (and at full shrinkage, where Σ is D)."""
    if shrinkage in (0.0, 1.0):
        return 0.0
    kappa = n * shrinkage / (1 - shrinkage)
    trace = float(np.diagonal(np.linalg.inv(covariance)) @ diagonal)
    return -0.5 * kappa * (float(np.linalg.slogdet(covariance)[1]) + trace)


def available_correlation(classes: Sequence[ClassPatterns], mean: Array) -> tuple[Array, float]:
    """Within-class correlations from the rows that observe both columns of a pair, and the weight of all rows."""
    d = mean.shape[1]
    products, weight = np.zeros((d, d)), np.zeros((d, d))
    for part, centre in zip(classes, mean, strict=True):
        away = part.mean - centre if part.weight > 0 else np.zeros(d)
        vectors = part.centred(centre)
        products += part.scatter + part.weight * np.outer(away, away) + (vectors * part.scale[:, None]).T @ vectors
        weight += part.weight + (part.observed * part.pattern_weight[:, None]).T.astype(np.float64) @ part.observed
    average = np.divide(products, weight, out=np.zeros_like(products), where=weight > 0)
    return correlation(average), sum(part.total for part in classes)


def correlation(covariance: Array) -> Array:
    """The correlation matrix; a column without variance correlates with nothing."""
    deviation = np.sqrt(np.diagonal(covariance))
    scale = np.outer(deviation, deviation)
    result: Array = np.clip(np.divide(covariance, scale, out=np.zeros_like(covariance), where=scale > 0), -1.0, 1.0)
    np.fill_diagonal(result, 1.0)
    return result
