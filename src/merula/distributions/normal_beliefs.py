"""What is believed of the means and covariances of normal classes: normal–inverse-Wishart, in standard units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.distributions.base import Distribution
from merula.distributions.gaussian import PRIOR_FREEDOM, PRIOR_ROWS, UNTOLD, column_spread, usual_scale
from merula.distributions.posteriors import MissingCells
from merula.stats import FullMoments, Moments

if TYPE_CHECKING:
    from merula.distributions.multivariate import MultivariateGaussianDistribution
    from merula.distributions.student import JointStudentDistribution

JOINT_PRIOR = f"normal–inverse-Wishart: the means of classes lie about one place, worth {PRIOR_ROWS:g} row to each, and their variances about one, worth {PRIOR_FREEDOM:g} degrees of freedom, without correlation; place and scale flat"


@dataclass(frozen=True, eq=False)
class JointNormalPosterior:
    """What is believed of jointly normal columns."""

    priors: Mapping[str, str]
    built: MultivariateGaussianDistribution
    chain: JointNormalChain
    cells: MissingCells

    def draws(self, rng: np.random.Generator) -> Iterator[Distribution]:
        """See `Posterior.draws`."""
        for mean, whitening in self.chain.draws(rng):
            present, missing = self.cells.draw(rng)
            yield replace(self.built, mean=mean, whitening=whitening, log_present=present, log_missing=missing)


@dataclass(frozen=True, eq=False)
class JointNormalChain:
    """What `NormalChain` is to single columns, of all together: each column by itself has the prior it has there.

    Σ_g ~ W⁻¹(ν₀·diag(s²) + Σ_c (S + a·(x̄ − m)(x̄ − m)ᵀ), ν₀ + d − 1 + n) of each group of classes that share it, and then
    (1 − λ)·Σ + λ·diag(Σ), as the model shrinks; s²_j ~ Gamma(G·(ν₀ + d − 1) / 2, 2 / (ν₀·Σ_g (Σ_g⁻¹)_jj)); m and the means are normal as there.

    (Gelman et al. 2013, section 3.6; Huang & Wand 2013.) Columns stand in `order`, that of their names, in standard units.
    """

    weight: Array
    away: Array
    scatter: Array
    usual: Array
    shrinkage: Array
    shared: bool
    order: NDArray[np.int64]

    @classmethod
    def of(
        cls, built: MultivariateGaussianDistribution, counted: FullMoments, shared: bool, shrinkage: Array
    ) -> JointNormalChain:
        """The chain of complete rows."""
        weight = np.repeat(counted.weight[:, None], len(built.columns), axis=1)
        squares = np.diagonal(counted.scatter, axis1=1, axis2=2)
        alone = Moments(counted.columns, weight, counted.mean, squares, counted.rest)
        spread = column_spread(alone, "mle")
        order = np.argsort(np.array(counted.columns, dtype=object)[built.kept], kind="stable")
        kept = built.kept[order]
        unit = built.unit[kept]
        away = np.where(weight > 0, counted.mean - spread.mean, 0.0)[:, kept] / unit
        scatter = counted.scatter[:, kept[:, None], kept] / np.outer(unit, unit)
        usual = usual_scale(alone, spread)[kept] / unit**2
        return cls(counted.weight, away, scatter, usual, shrinkage, shared, order)

    def draws(self, rng: np.random.Generator) -> Iterator[tuple[Array, Array]]:
        """Each class's mean, and the whitening of each group of classes that share a covariance."""
        d, back = len(self.order), np.argsort(self.order)
        worth = PRIOR_ROWS * self.weight / (PRIOR_ROWS + self.weight)
        place, scale = worth @ self.away / max(float(worth.sum()), 1e-300), self.usual
        step = 0
        while d:
            covariance = self._covariances(worth, place, scale, rng)
            precision = np.linalg.inv(covariance)
            of_class = np.broadcast_to(precision, (len(worth), d, d))
            total = np.einsum("c,cij->ij", worth, of_class)
            pulled = np.linalg.solve(total, np.einsum("c,cij,cj->i", worth, of_class, self.away))
            place = pulled + np.linalg.solve(np.linalg.cholesky(total).T, rng.standard_normal(d))
            rate = 0.5 * PRIOR_FREEDOM * np.diagonal(precision, axis1=1, axis2=2).sum(axis=0)
            drawn = rng.standard_gamma(0.5 * (PRIOR_FREEDOM + d - 1) * len(covariance), d) / rate
            scale = drawn if (self.weight > 1).any() else self.usual  # else nothing tells of it
            step += 1
            if step > UNTOLD:
                mean, shrunk = self._means(covariance, place, rng)
                roots = np.linalg.cholesky(shrunk[:, back[:, None], back])
                yield mean[:, back], np.ascontiguousarray(np.linalg.inv(roots).swapaxes(1, 2))
        while True:  # no column varied
            yield np.zeros((len(worth), 0)), np.zeros((1 if self.shared else len(worth), 0, 0))

    def _covariances(self, worth: Array, place: Array, scale: Array, rng: np.random.Generator) -> Array:
        """A covariance of each group, not yet shrunk."""
        gone = self.away - place
        squares = self.scatter + worth[:, None, None] * gone[:, :, None] * gone[:, None, :]
        told = self.weight
        if self.shared:
            squares, told = squares.sum(axis=0, keepdims=True), told.sum(keepdims=True)
        prior, freedom = PRIOR_FREEDOM * np.diag(scale), PRIOR_FREEDOM + len(scale) - 1
        return np.stack([_inverse_wishart(prior + own, freedom + float(n), rng) for own, n in zip(squares, told, strict=True)])  # fmt: skip

    def _means(self, covariance: Array, place: Array, rng: np.random.Generator) -> tuple[Array, Array]:
        """Each class's mean, and the covariances as the model shrinks them."""
        shares = self.shrinkage[:, None, None]
        diagonal = np.einsum("gij,ij->gij", covariance, np.eye(len(place)))
        shrunk = (1 - shares) * covariance + shares * diagonal
        root = np.linalg.cholesky(shrunk)
        rows = (PRIOR_ROWS + self.weight)[:, None]
        noise = rng.standard_normal(self.away.shape)
        of_class = np.broadcast_to(root, (len(noise), *root.shape[1:]))
        moved = np.einsum("cij,cj->ci", of_class, noise) / np.sqrt(rows)
        return (PRIOR_ROWS * place + self.weight[:, None] * self.away) / rows + moved, shrunk


def _inverse_wishart(scatter: Array, freedom: float, rng: np.random.Generator) -> Array:
    """A covariance drawn by Bartlett's decomposition: W = A Aᵀ is Wishart, and L W⁻¹ Lᵀ inverse Wishart, with L Lᵀ = scatter."""
    d = len(scatter)
    lower = np.tril(rng.standard_normal((d, d)), -1)
    lower[np.diag_indices(d)] = np.sqrt(rng.chisquare(freedom - np.arange(d)))
    half = np.linalg.solve(lower, np.linalg.cholesky(scatter).T)
    found: Array = half.T @ half
    return found


def joint_student(
    built: MultivariateGaussianDistribution, counted: FullMoments, shared: bool, shrinkage: Array
) -> JointStudentDistribution:
    """The classes' t distributions once means and covariances are averaged out, with m the columns' means and s² what is usual.

    t_ν(x; middle, Ψ·(rows + 1) / (rows·ν)), ν = ν₀ + n, Ψ = ν₀·diag(s²) + S + a·(x̄ − m)(x̄ − m)ᵀ, shrunk as the model's covariance is
    (Gelman et al. 2013, section 3.6).
    """
    from merula.distributions.student import JointStudentDistribution

    chain = JointNormalChain.of(built, counted, shared, shrinkage)
    back, weight = np.argsort(chain.order), chain.weight
    rows, worth = PRIOR_ROWS + weight, PRIOR_ROWS * weight / (PRIOR_ROWS + weight)
    squares = chain.scatter + worth[:, None, None] * chain.away[:, :, None] * chain.away[:, None, :]
    freedom, shares = PRIOR_FREEDOM + weight, shrinkage
    if shared:
        squares, freedom = np.broadcast_to(squares.sum(axis=0), squares.shape), np.full(len(weight), PRIOR_FREEDOM + weight.sum())  # fmt: skip
        shares = np.broadcast_to(shares, weight.shape)
    squares = (PRIOR_FREEDOM * np.diag(chain.usual) + squares)[:, back[:, None], back]
    shrunk = (1 - shares[:, None, None]) * squares + shares[:, None, None] * squares * np.eye(len(back))
    scale = shrunk * ((1 + 1 / rows) / freedom)[:, None, None]
    whitening = np.ascontiguousarray(np.linalg.inv(np.linalg.cholesky(scale)).swapaxes(1, 2))
    middle = np.ascontiguousarray((weight / rows)[:, None] * chain.away[:, back])
    return JointStudentDistribution(built.columns, built.kept, built.centre, built.unit, middle, whitening, freedom, built.log_present, built.log_missing)  # fmt: skip
