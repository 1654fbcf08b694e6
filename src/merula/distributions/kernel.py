"""Kernel densities, column by column: p(x given c) = Σ_i w_i K((x − x_i) / h_c) / (h_c Σ w_i) over the values of class c."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from merula.core import Array, InputError, one_of
from merula.core.sound import all_paired, all_shaped, are_positive, are_weights, ascends, is_one_of
from merula.distributions._kernel_sums import KERNELS, KernelSums
from merula.distributions.bandwidths import BANDWIDTHS
from merula.distributions.base import Distribution, Setting
from merula.distributions.columnwise import ColumnwiseDistribution, ValueFamily, drawn_rows, or_pooled, shared_fields
from merula.distributions.gaussian import variance_floor
from merula.stats import ValueCounts
from merula.stats.kept_rows import LARGEST
from merula.stats.moments import comfortable_unit, refuse_narrow, refuse_overflow


@dataclass(frozen=True, eq=False, repr=False)
class KernelDistribution(ColumnwiseDistribution):
    """The distinct ``values[j]`` of each column with their weight in each class, ``counts[j][c]``, and ``bandwidth[c, j]``."""

    kernel: str
    values: tuple[Array, ...]
    counts: tuple[Array, ...]
    bandwidth: Array

    def fits(self, classes: int) -> bool:
        known = is_one_of(self.kernel, KERNELS) and all(all_shaped((len(values),), values) for values in self.values)
        shaped = super().fits(classes) and all_shaped((classes, len(self.columns)), self.bandwidth)
        paired = all_paired(self.columns, self.values, self.counts, lambda met: (classes, len(met)))
        sound = known and shaped and paired and are_weights(*self.counts) and all(map(ascends, self.values))
        return (
            sound
            and are_positive(self.bandwidth[:, self.varies])
            and all(counts.any() for counts, varies in zip(self.counts, self.varies, strict=True) if varies)
        )

    @cached_property
    def _sums(self) -> list[list[KernelSums]]:
        """The sums of each class for each column; a class without values has those of all classes."""
        return [
            [
                KernelSums.build(self.values[j], weights, h, self.kernel)
                for weights, h in zip(or_pooled(self.counts[j]), self.bandwidth[:, j].tolist(), strict=True)
            ]
            if self.varies[j]
            else []
            for j in range(len(self.columns))
        ]

    def column_log_prob(self, j: int, x: Array) -> Array:
        near = self.near(j, x)
        return np.stack([sums.log_density(near) for sums in self._sums[j]], axis=1)

    def column_quantiles(self, j: int, probabilities: Array) -> Array:
        reach = ndtri(probabilities) if self.kernel == "gaussian" else np.clip(ndtri(probabilities), -1.0, 1.0)
        pairs = zip(or_pooled(self.counts[j]), self.bandwidth[:, j], strict=True)
        return np.stack(
            [weighted_quantiles(self.values[j], weights, probabilities) + reach * h for weights, h in pairs], axis=1
        )

    def draw(self, j: int, classes: NDArray[np.int64], rng: np.random.Generator) -> Array:
        # a value of the class, moved by the kernel
        column = self.values[j][drawn_rows(or_pooled(self.counts[j]), classes, rng)]
        return column + self.bandwidth[classes, j] * _noise(self.kernel, len(classes), rng)

    @property
    def parameters_count(self) -> int:
        """A bandwidth for each class and column that varies (what the values themselves say is not counted)."""
        return len(self.bandwidth) * int(self.varies.sum()) + self.missing_parameters


def is_positive(bandwidth: Any) -> bool:
    """True for a finite number above 0 (True is none)."""
    is_number = isinstance(bandwidth, int | float | np.number) and not isinstance(bandwidth, bool)
    return is_number and bool(0 < bandwidth <= LARGEST)


def weighted_quantiles(values: Array, weights: Array, probabilities: Array) -> Array:
    """The values, ascending, at which these shares of the weight are reached."""
    reached = np.cumsum(weights)
    return values[np.searchsorted(reached, probabilities * reached[-1]).clip(0, len(values) - 1)]


def _noise(kernel: str, count: int, rng: np.random.Generator) -> Array:
    """Draws from the kernel itself."""
    if kernel == "gaussian":
        return rng.normal(size=count)
    if kernel == "box":
        return rng.uniform(-1.0, 1.0, size=count)
    three = rng.uniform(-1, 1, size=(3, count))  # Devroye & Györfi (1985): drop the one furthest from 0
    first_two_smaller = (np.abs(three[2]) >= np.abs(three[1])) & (np.abs(three[2]) >= np.abs(three[0]))
    return np.where(first_two_smaller, three[1], three[2])


@dataclass(frozen=True)
class Kernel(ValueFamily):
    """The family of kernel densities: every class and column with its own values and its own bandwidth.

    Parameters
    ----------
    kernel : "gaussian", "box" or "epanechnikov"
        The box is uniform on one bandwidth to either side; it and Epanechnikov's give density 0 out of reach.
    bandwidth : "silverman", "scott", "isj", "cv" or a number
        (4/3)^(1/5)·σ·n^(−1/5); σ·n^(−1/5); the improved Sheather–Jones rule of Botev et al.; the one of largest
        leave-one-out likelihood; or this for all classes and columns.

    Examples
    --------
    >>> import merula as mr
    >>> rows, species = [[1.0], [1.2], [4.8], [5.0], [2.9], [3.1]], ["wren", "wren", "wren", "wren", "tit", "tit"]
    >>> model = mr.NaiveBayesClassifier(distributions={"numeric": mr.Kernel(bandwidth=0.3)}).fit(rows, species)
    >>> model.predict([[1.1], [3.0], [5.1]]).tolist()
    ['wren', 'tit', 'wren']
    """

    kernel: str = "gaussian"
    bandwidth: Any = "silverman"
    name: ClassVar[str] = "kernel"
    no_posterior: ClassVar[str] = (
        "is made of the values themselves and a bandwidth, which are no parameters with a posterior"
    )
    distribution: ClassVar[type[Distribution]] = KernelDistribution

    def check(self) -> None:
        one_of(self.kernel, KERNELS, "kernel")
        if isinstance(self.bandwidth, str):
            one_of(self.bandwidth, BANDWIDTHS, "bandwidth")
        elif not is_positive(self.bandwidth):
            raise InputError.of(
                "bandwidth", self.bandwidth, f"a number above 0 or one of {', '.join(map(repr, BANDWIDTHS))}"
            )

    def build(self, statistic: ValueCounts, setting: Setting) -> KernelDistribution:
        self.check()
        _refuse_extremes(statistic)
        bandwidth = np.column_stack(
            [self._bandwidths(*pair) for pair in zip(statistic.values, statistic.counts, strict=True)]
        )
        return KernelDistribution(
            *shared_fields(statistic, setting), self.kernel, statistic.values, statistic.counts, bandwidth
        )

    def _bandwidths(self, values: Array, counts: Array) -> Array:
        """Each class's bandwidth in one column; 0 in a column that never varies.

        Numbers whose squares would vanish are measured in another unit. A class whose values do not vary takes the deviation within all classes, for its own number of values.
        """
        if len(values) < 2:
            return np.zeros(len(counts))
        if not isinstance(self.bandwidth, str):
            return np.full(len(counts), float(self.bandwidth))
        unit, rule, total = comfortable_unit(float(np.ptp(values))), BANDWIDTHS[self.bandwidth], counts.sum(axis=0)
        values = values / unit
        own = np.array([rule(values, part) if np.count_nonzero(part) > 1 else 0.0 for part in counts])
        present = counts.any(axis=1)
        n, mean, variance = np.array([_moments(values, part) for part in counts[present]]).T
        within = np.sqrt((n * variance).sum() / n.sum())
        lacking = (4 / 3) ** 0.2 * within * np.maximum(counts.sum(axis=1), 1.0) ** -0.2
        own = np.where(present, own, rule(values, total) if not present.all() else 0.0)
        least = np.sqrt(variance_floor(variance[:, None], mean[:, None], _moments(values, total)[2]))
        return unit * np.maximum(np.where(own > 0, own, lacking), least)


def _refuse_extremes(statistic: ValueCounts) -> None:
    """An error naming the first column whose values are too large, or too close together, for squares."""
    for name, values in zip(statistic.columns, statistic.values, strict=True):
        if len(values):
            refuse_overflow(values[:, None], np.array([np.abs(values).max() <= LARGEST]), (name,))
            refuse_narrow(np.array([np.ptp(values)]), (name,))


def _moments(values: Array, weights: Array) -> tuple[float, float, float]:
    """The weight of weighted values, their mean and their variance."""
    mean, n = np.average(values, weights=weights, returned=True)
    return float(n), float(mean), float(np.average((values - mean) ** 2, weights=weights))
