"""One normal distribution for each class, its covariance blended with that of all classes and with none, as rows left out like it best.

Σ_c = (1 + 1/n_c)·[(1 − β)·B_c + β·diag(B_c)],  B_c = (1 − α)·(S_c + ν·Σ) / (n_c + ν) + α·Σ,  ν = columns + 2

with S_c the scatter of a class, n_c its rows (√(n_ci·n_cj) of columns i and j where cells are missing) and Σ the pooled covariance
(Friedman 1989, "Regularized discriminant analysis"); 1/n_c is how unsure the mean is. Where rows left out are more probable under it,
Student's t distribution of the same mean and covariance, with n_c + columns + 4 degrees of freedom: what a normal distribution predicts
whose mean and covariance are known from so few rows (Geisser 1964, "Posterior odds for multivariate normal classifications").
Numbers farther out than √(2 log n) deviations, about the farthest that n normal ones reach, are taken for these. Categories are
independent of all else given the class. The sum of their terms is multiplied by a common factor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from merula.classify.folds import Folds
from merula.classify.pooled.reading import ReadAs, Reading
from merula.classify.pooled.rows import standard
from merula.classify.pooled.tails import StudentTails, nearest_share
from merula.core import Array
from merula.data.encode import Encoded, Target
from merula.data.schema import Label
from merula.distributions import CategoricalDistribution, Distribution, MultivariateGaussianDistribution
from merula.distributions.joint_table import level_cells

# (α, β) and the factors that are tried; these and what follows were chosen on the tables of benchmarks/strength.py
BLENDS = ((1.0, 0.0), (0.0, 0.02), (0.0, 0.1), (0.1, 0.3), (0.3, 0.02), (0.3, 0.1), (0.7, 0.02), (0.7, 0.1), (1.0, 0.02), (1.0, 0.2))  # fmt: skip
FACTORS = (1.0, 0.7, 0.5, 0.35, 0.25, 0.15)
LEAST = 1e-4  # added to variances, in standard units
FARTHEST = 6.0  # standard deviations from the mean, at most: numbers beyond are taken for these
FEWEST_REACHED = 8.0  # rows: the bound is never nearer than the one for so many
HEAVIER = 5e-4  # nats a row by which t distributions must be better for rows left out, to take the place of normal ones
PRIOR_ROWS = 2.0  # rows added to each class, with the levels of all classes together


@dataclass(frozen=True, eq=False)
class Table:
    """Rows in standard units: z with NaN for missing (rows × numbers), levels with −1 (rows × words), classes and weights."""

    columns: tuple[str, ...]
    words: tuple[str, ...]
    level_sets: tuple[tuple[Label, ...], ...]
    centre: Array
    unit: Array
    z: Array
    levels: NDArray[np.int64]
    codes: NDArray[np.int64]
    weights: Array
    classes: int
    farthest: float

    @classmethod
    def of(cls, rows: Encoded, target: Target, columns: Sequence[str], words: Sequence[str], level_sets: Sequence[tuple[Label, ...]]) -> Table:  # fmt: skip
        """The rows, standardised by their own weighted means and deviations."""
        weights = np.ones(len(rows)) if target.weights is None else target.weights
        x = rows.values(columns).astype(np.float64)
        centre, unit = standard(x, weights)
        varies = unit > 0
        columns, x, centre, unit = [c for c, v in zip(columns, varies, strict=True) if v], x[:, varies], centre[varies], unit[varies]  # fmt: skip
        farthest = min(FARTHEST, float(np.sqrt(2 * np.log(max(float(weights.sum()), FEWEST_REACHED)))))
        z = np.clip((x - centre) / unit, -farthest, farthest)
        levels = level_cells(rows, tuple(words), tuple(level_sets)).astype(np.int64) if words else np.zeros((len(rows), 0), dtype=np.int64)  # fmt: skip
        return cls(tuple(columns), tuple(words), tuple(level_sets), centre, unit, z, levels, np.asarray(target.codes, dtype=np.int64), weights, len(target.classes), farthest)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Normals:
    """What the blends are made of: for each class the weight of known cells, the mean and the scatter; the pooled covariance."""

    weight: Array
    mean: Array
    scatter: Array
    pooled: Array

    @classmethod
    def of(cls, table: Table, weights: Array) -> Normals:
        """Of the rows with these weights; a class without rows has the mean of all."""
        p, k = table.z.shape[1], table.classes
        known = ~np.isnan(table.z)
        filled = np.where(known, table.z, 0.0)
        mean, scatter = np.zeros((k, p)), np.zeros((k, p, p))
        counts, overall = np.zeros((k, p)), _mean(filled, known, weights, np.zeros(p))
        for label in range(k):
            own = np.flatnonzero((table.codes == label) & (weights > 0))
            counts[label] = weights[own] @ known[own]
            mean[label] = _mean(filled[own], known[own], weights[own], overall)
            away = np.where(known[own], filled[own] - mean[label], 0.0) * np.sqrt(weights[own])[:, None]
            scatter[label] = (
                away.T @ away
            )  # a missing cell adds nothing: correlations are weaker where many are missing
        free = np.maximum((counts - (counts > 0)).sum(axis=0), 1.0)
        return cls(counts, mean, scatter, scatter.sum(axis=0) / np.sqrt(np.outer(free, free)))

    def blended(self, to_pooled: float, to_diagonal: float) -> Array:
        """Σ of each class."""
        p = self.mean.shape[1]
        nu = p + 2.0
        rows = np.sqrt(self.weight + nu)
        own = (self.scatter + nu * self.pooled) / (rows[:, :, None] * rows[:, None, :])
        own = (1 - to_pooled) * own + to_pooled * self.pooled
        diagonal = np.einsum("cii->ci", own)[:, :, None] * np.eye(p)
        own = (1 - to_diagonal) * own + to_diagonal * diagonal + LEAST * np.eye(p)
        unsure = np.sqrt(1 + 1 / np.maximum(self.weight, 1.0))
        return own * unsure[:, :, None] * unsure[:, None, :]  # type: ignore[no-any-return]

    @property
    def freedom(self) -> Array:
        """The degrees of freedom of each class's t distribution; a class has the mean of its columns' rows."""
        return self.weight.mean(axis=1) + self.mean.shape[1] + 4.0  # type: ignore[no-any-return]


def _mean(filled: Array, known: NDArray[np.bool_], weights: Array, default: Array) -> Array:
    total = weights @ known
    return np.where(total > 0, (weights @ filled) / np.where(total > 0, total, 1.0), default)


def normal_terms(table: Table, normals: Normals, blend: tuple[float, float]) -> MultivariateGaussianDistribution:
    """The classes' normal distributions."""
    roots = np.linalg.inv(np.linalg.cholesky(normals.blended(*blend)))
    whitening = np.ascontiguousarray(roots.transpose(0, 2, 1))
    nothing = np.zeros((table.classes, len(table.columns)))
    kept = np.arange(len(table.columns))
    return MultivariateGaussianDistribution(table.columns, kept, table.centre, table.unit, normals.mean, whitening, nothing, nothing)  # fmt: skip


def level_terms(table: Table, weights: Array) -> CategoricalDistribution | None:
    """P(level given class), drawn to the share that the level has in all classes."""
    tables = []
    for j, known in enumerate(table.level_sets):
        seen = table.levels[:, j] >= 0
        counts = np.zeros((len(known), table.classes))
        np.add.at(counts, (table.levels[seen, j], table.codes[seen]), weights[seen])
        share = counts.sum(axis=1) + 0.5
        share = share / share.sum()
        logs = np.log((counts + PRIOR_ROWS * share[:, None]) / (counts.sum(axis=0) + PRIOR_ROWS))
        tables.append(np.concatenate([logs, np.zeros((2, table.classes))]))
    return CategoricalDistribution(table.words, table.level_sets, tuple(tables)) if tables else None


@dataclass(frozen=True, eq=False)
class FittedGaussians:
    """Terms of rows × classes by distributions that have not seen the row, the blend and factor chosen, whether tails are heavier, and the distributions."""

    terms: Array
    blend: tuple[float, float]
    factor: float
    heavier: bool
    parts: tuple[Distribution, ...]


def fitted_gaussians(rows: Encoded, table: Table, folds: Folds, loss: Callable[[Array], float], tails: bool = True) -> FittedGaussians:  # fmt: skip
    """The blend and the factor under which rows of other folds are most probable, learned from all rows; with t distributions in its choice, or without."""
    bounds = {name: (c - table.farthest * u, c + table.farthest * u) for name, c, u in zip(table.columns, table.centre.tolist(), table.unit.tolist(), strict=True)}  # fmt: skip
    reading = Reading({}, bounds)
    found = np.zeros((1 + tails, len(BLENDS), len(rows), table.classes))
    for fold in range(len(folds)):
        held = folds.shares[:, fold]
        left_out = np.flatnonzero(held > 0)
        share = (held[left_out] / table.weights[left_out])[:, None]
        _add_left_out(found, left_out, share, rows.take(left_out), table, folds.training(fold), reading)
    heavier, g, factor = _chosen(found, loss, float(table.weights.sum()))
    normals, words = Normals.of(table, table.weights), level_terms(table, table.weights)
    final = normal_terms(table, normals, BLENDS[g])
    both = _split(final, normals, reading.of(rows), table.weights) if heavier else (final,)
    parts = (*(ReadAs(one, reading) for one in both), *((words,) if words else ()))
    return FittedGaussians(factor * found[int(heavier), g], BLENDS[g], factor, heavier, parts)


def _add_left_out(found: Array, left_out: NDArray[np.int64], share: Array, some: Encoded, table: Table, train: Array, reading: Reading) -> None:  # fmt: skip
    """Add the terms of rows left out, times their share, for normal and t distributions of each blend."""
    words, normals, read = level_terms(table, train), Normals.of(table, train), reading.of(some)
    beside = words.log_prob(some) if words else 0.0
    for b, blend in enumerate(BLENDS):
        normal = normal_terms(table, normals, blend)
        terms = normal.log_prob(read) + beside
        found[0, b, left_out] += share * terms
        if len(found) > 1:
            found[1, b, left_out] += share * (terms + StudentTails.of(normal, normals.freedom).log_prob(read))


def _chosen(found: Array, loss: Callable[[Array], float], total: float) -> tuple[bool, int, float]:
    """Whether tails are heavier, which blend and which factor: t distributions where they are worth it."""
    losses = {(k, g, factor): loss(factor * terms) for k, kind in enumerate(found) for g, terms in enumerate(kind) for factor in FACTORS}  # fmt: skip
    best = [min((key for key in losses if key[0] == k), key=lambda key: losses[key]) for k in range(len(found))]
    worth = len(best) > 1 and losses[best[0]] - losses[best[1]] > HEAVIER * total
    return worth, *best[int(worth)][1:]


def _split(normal: MultivariateGaussianDistribution, normals: Normals, rows: Encoded, weights: Array) -> tuple[Distribution, ...]:  # fmt: skip
    """t distributions as normal ones that are as near to them as can be, and what is left."""
    share = nearest_share(normal, normals.freedom, rows, weights)
    nearest = replace(normal, whitening=normal.whitening * np.sqrt(share)[:, None, None])
    return nearest, StudentTails.of(normal, normals.freedom, share)
