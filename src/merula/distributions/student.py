"""Normal columns whose parameters are averaged out: Student's t distributions, of single columns and of several together.

log t_ν(x; m, Σ) = log Γ((ν + d)/2) − log Γ(ν/2) − ½·d·log(νπ) − ½·log |Σ| − ½·(ν + d)·log(1 + (x − m)ᵀ Σ⁻¹ (x − m) / ν)

Of some of its columns t is again a t distribution, of as many degrees of freedom: what is missing is averaged out, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln, stdtrit

from merula.core import Array, InputError
from merula.core.sound import (
    LARGEST,
    SMALLEST,
    all_shaped,
    are_finite,
    are_finite_or_missing,
    are_present_and_missing,
    within,
)
from merula.data.encode import Encoded
from merula.distributions.base import AddedDistribution, IndependentColumns
from merula.distributions.gaussian import FARTHEST, LOG_TWO_PI
from merula.distributions.multivariate import MultivariateGaussianDistribution

LEAST_FREEDOM, MOST_FREEDOM = 0.1, 1e15


def log_height(freedom: Array, columns: Any) -> Array:
    """log t at the mean of so many columns whose scale matrix is 1: log Γ((ν + d)/2) − log Γ(ν/2) − ½·d·log(νπ), for d from 1."""
    half = 0.5 * np.asarray(columns, dtype=np.float64)
    found: Array = gammaln(half) - betaln(0.5 * freedom, half) - half * np.log(np.pi * freedom)
    return found


@dataclass(frozen=True, eq=False, repr=False)
class StudentDistribution(IndependentColumns):
    """log t(x; mean, scale), per class and column; a column that never varied has an infinite scale and says nothing.

    ``scale`` is the square of what distances are measured in, ``centre`` and ``spread`` are the column's overall mean (NaN if never
    observed) and standard deviation.
    """

    columns: tuple[str, ...]
    mean: Array
    scale: Array
    freedom: Array
    centre: Array
    spread: Array
    log_present: Array
    log_missing: Array

    def fits(self, classes: int) -> bool:
        d = len(self.columns)
        per_class = (self.mean, self.scale, self.freedom, self.log_present, self.log_missing)
        shaped = all_shaped((classes, d), *per_class) and all_shaped((d,), self.centre, self.spread)
        sound = shaped and within(SMALLEST, np.inf, self.scale) and within(LEAST_FREEDOM, MOST_FREEDOM, self.freedom)
        placed = sound and are_finite(self.mean) and are_finite_or_missing(self.centre) and within(0.0, LARGEST, self.spread)  # fmt: skip
        return placed and are_present_and_missing(self.log_present, self.log_missing) and super().fits(classes)

    @cached_property
    def heights(self) -> Array:
        """log t at the mean, and what a known cell adds besides; classes × columns."""
        varies = np.isfinite(self.scale)
        height = log_height(self.freedom, 1.0) - 0.5 * np.log(np.where(varies, self.scale, 1.0))
        return np.where(varies, height, 0.0) + self.log_present

    @property
    def bounds(self) -> tuple[Array, Array]:
        """How far out values are looked at."""
        centre, reach = np.nan_to_num(self.centre), FARTHEST * self.spread
        return centre - reach, centre + reach

    def add_log_prob(self, rows: Encoded, out: Array) -> None:
        x = rows.values(self.columns)
        (lowest, highest), units = self.bounds, 1 / np.sqrt(self.freedom * self.scale)
        for j, name in enumerate(self.columns):
            column = x[:, j].astype(np.float64)
            if np.isinf(column).any():
                raise InputError.at(f"column {name!r}", "contains infinity", remedy="replace it by a number, or by NaN if it is unknown")  # fmt: skip
            missing = np.isnan(column)[:, None]
            away = (np.clip(column, lowest[j], highest[j])[:, None] - self.mean[:, j]) * units[:, j]
            bent = np.log1p(away * away)
            out += np.where(missing, self.log_missing[:, j], self.heights[:, j] - 0.5 * (self.freedom[:, j] + 1) * bent)

    @property
    def parameters_count(self) -> int:
        """A mean and a scale for each class and column that varies."""
        return 2 * int(np.isfinite(self.scale).sum()) + self.missing_parameters

    def quantiles(self, column: str, probabilities: Array, classes: int) -> Array:
        j = self.columns.index(column)
        scale = np.where(np.isfinite(self.scale[:, j]), np.sqrt(self.scale[:, j]), 0.0)
        return self.mean[:, j] + stdtrit(self.freedom[:, j], np.asarray(probabilities)[:, None]) * scale

    def sample(self, classes: NDArray[np.int64], rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        scale = np.where(np.isfinite(self.scale), np.sqrt(self.scale), 0.0)
        drawn = self.mean[classes] + scale[classes] * rng.standard_t(self.freedom[classes])
        values = np.where(np.isnan(self.centre), np.nan, drawn)
        return self.with_missing(dict(zip(self.columns, values.T, strict=True)), classes, rng)


@dataclass(frozen=True, eq=False, repr=False)
class JointStudentDistribution(AddedDistribution):
    """log t over the columns that vary, in standard units z = (x − centre) / unit; ``whitening[c]`` is L⁻ᵀ, its scale matrix L Lᵀ."""

    columns: tuple[str, ...]
    kept: NDArray[np.int64]
    centre: Array
    unit: Array
    mean: Array
    whitening: Array
    freedom: Array
    log_present: Array
    log_missing: Array

    @cached_property
    def normal(self) -> MultivariateGaussianDistribution:
        """Normal distributions of these means, with the scale matrices for covariances."""
        return MultivariateGaussianDistribution(self.columns, self.kept, self.centre, self.unit, self.mean, self.whitening, self.log_present, self.log_missing)  # fmt: skip

    def fits(self, classes: int) -> bool:
        sound = all_shaped((classes,), self.freedom) and within(LEAST_FREEDOM, MOST_FREEDOM, self.freedom)
        return sound and len(self.whitening) == classes and super().fits(classes) and self.normal.fits(classes)

    @cached_property
    def constants(self) -> Array:
        """What the height at the mean has beyond that of the normal distribution, by how many columns are known (0 to all) and class."""
        known = np.arange(1, len(self.kept) + 1)[:, None]
        found = log_height(self.freedom, known) + 0.5 * known * LOG_TWO_PI
        return np.concatenate([np.zeros((1, len(self.freedom))), found])

    def add_log_prob(self, rows: Encoded, out: Array) -> None:
        x = rows.values(self.columns)
        infinite = np.isinf(x).any(axis=0)
        if infinite.any():
            raise InputError.at(f"column {self.columns[int(infinite.argmax())]!r}", "contains infinity", remedy="replace it by a number, or by NaN if it is unknown")  # fmt: skip
        heights, squares = self.normal.heights_and_squares(x)
        known = (~np.isnan(x[:, self.kept])).sum(axis=1)
        out += (
            heights + self.constants[known] - 0.5 * (self.freedom + known[:, None]) * np.log1p(squares / self.freedom)
        )

    @property
    def parameters_count(self) -> int:
        """Means and scale matrices."""
        return self.normal.parameters_count

    def quantiles(self, column: str, probabilities: Array, classes: int) -> Array:
        j = self.columns.index(column)
        position = np.flatnonzero(self.kept == j)
        if not len(position):
            return np.full((len(probabilities), classes), self.centre[j])
        scale = np.sqrt((np.linalg.inv(self.whitening)[:, :, position[0]] ** 2).sum(axis=1))
        z = self.mean[:, position[0]] + stdtrit(self.freedom, np.asarray(probabilities)[:, None]) * scale
        return self.centre[j] + self.unit[j] * z

    def sample(self, classes: NDArray[np.int64], rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        roots, z = np.linalg.inv(self.whitening), np.zeros((len(classes), len(self.columns)))
        for label, mean in enumerate(self.mean):
            chosen = np.flatnonzero(classes == label)
            noise = rng.normal(size=(len(chosen), len(self.kept))) @ roots[label]
            wide = np.sqrt(self.freedom[label] / rng.chisquare(self.freedom[label], size=(len(chosen), 1)))
            z[np.ix_(chosen, self.kept)] = mean + noise * wide
        values = self.centre + self.unit * z
        return self.with_missing(dict(zip(self.columns, values.T, strict=True)), classes, rng)
