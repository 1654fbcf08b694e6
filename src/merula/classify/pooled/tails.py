"""Student's t distribution beside a normal one: what is left of its log density when the nearest multiple of a square is taken from it.

log t_ν(x; m, Σ) = log N(x; m, Σ/s) + tails(x),  tails(x) = g(ν, d, s) − ½·(ν + d)·log(1 + q/(ν − 2)) + ½·s·q

with q = (x − m)ᵀ Σ⁻¹ (x − m), d the number of columns, Σ the covariance of both (t has ν/(ν − 2) times its scale matrix). Of some of
the columns, t is again a t distribution, of as many degrees of freedom: what is missing is averaged out, exactly. The normal distribution
is taken apart into effects of columns and pairs; tails are what cannot be, little but far from all that was met.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln

from merula.core import Array, InputError
from merula.core.sound import all_shaped, within
from merula.data.encode import Encoded
from merula.distributions import Distribution, MultivariateGaussianDistribution

LEAST_FREEDOM, MOST_FREEDOM = 2.001, 1e12  # degrees of freedom with a covariance, and so many that no tail is left
LEAST_SHARE = 0.02  # of the square of a normal distribution that is taken from a t distribution


@dataclass(frozen=True, eq=False, repr=False)
class StudentTails(Distribution):
    """What log t says beyond log N for each class: means and whitening as a `MultivariateGaussianDistribution` has them, of all columns.

    ``freedom`` is ν of each class, ``share`` s.
    """

    columns: tuple[str, ...]
    centre: Array
    unit: Array
    mean: Array
    whitening: Array
    freedom: Array
    share: Array

    discrete: ClassVar[bool] = True  # a term is no density
    called: ClassVar[str] = "numbers far out"  # in explanations

    @classmethod
    def of(cls, normal: MultivariateGaussianDistribution, freedom: Array, share: Array | None = None) -> Self:
        """The tails of t distributions with the means and covariances of these normal ones, of which no column is left out."""
        own = np.ones(len(freedom)) if share is None else share
        return cls(normal.columns, normal.centre, normal.unit, normal.mean, normal.whitening, freedom, own)

    @property
    def no_density(self) -> str:
        return "it corrects normal distributions far from their means, and is no density by itself"

    @cached_property
    def normal(self) -> MultivariateGaussianDistribution:
        """Normal distributions of the same means and covariances."""
        nothing, every = np.zeros((len(self.freedom), len(self.columns))), np.arange(len(self.columns))
        return MultivariateGaussianDistribution(self.columns, every, self.centre, self.unit, self.mean, self.whitening, nothing, nothing)  # fmt: skip

    @cached_property
    def constants(self) -> Array:
        """g: what tails say at the mean, by how many columns are known (0 to all) and class."""
        known, nu = np.arange(1, len(self.columns) + 1)[:, None], self.freedom
        # log Γ((ν + d)/2) − log Γ(ν/2), to all digits for any ν
        rising = gammaln(known / 2) - betaln(nu / 2, known / 2)
        found = rising - 0.5 * known * (np.log((nu - 2) / 2) + np.log(self.share))
        return np.concatenate([np.zeros((1, len(nu))), found])

    def log_prob(self, rows: Encoded) -> Array:
        squares, known = self.normal.squares(rows)
        bent = 0.5 * (self.freedom + known[:, None]) * np.log1p(squares / (self.freedom - 2))
        return self.constants[known] - bent + 0.5 * self.share * squares

    @property
    def parameters_count(self) -> int:
        """The degrees of freedom; means and covariances are those of the normal distributions beside it."""
        return len(self.freedom)

    def quantiles(self, column: str, probabilities: Array, classes: int) -> Array:
        return self.normal.quantiles(column, probabilities, classes)

    def sample(self, classes: NDArray[np.int64], rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        raise InputError("rows cannot be drawn from what corrects another distribution", remedy="NaiveBayesClassifier and BayesClassifier can")  # fmt: skip

    def fits(self, classes: int) -> bool:
        shaped = all_shaped((classes,), self.freedom, self.share)
        bounded = shaped and within(LEAST_FREEDOM, MOST_FREEDOM, self.freedom) and within(LEAST_SHARE, 1.0, self.share)
        return bounded and super().fits(classes) and self.normal.fits(classes)


def nearest_share(normal: MultivariateGaussianDistribution, freedom: Array, rows: Encoded, weights: Array) -> Array:
    """For each class the share s of the square under which tails vary least over these rows, those of all classes."""
    squares, known = normal.squares(rows)
    bent = (freedom + known[:, None]) * np.log1p(squares / (freedom - 2))
    share = weights / weights.sum()
    away, gone = squares - share @ squares, bent - share @ bent
    spread = share @ away**2
    slope = np.where(spread > 0, share @ (away * gone) / np.where(spread > 0, spread, 1.0), 1.0)
    return np.clip(slope, LEAST_SHARE, 1.0)
