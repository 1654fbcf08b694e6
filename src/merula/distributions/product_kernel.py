"""A kernel density over all columns together: every kept row spreads its weight around itself, column by column.

p(x given c) = Σ_{i of class c} w_i · Π_j K_j(x_j, x_ij) / Σ w_i

Numbers: a Gaussian of deviation h_cj. Words: Aitchison & Aitken's kernel, 1 − λ for the same level, λ / (m − 1) for each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from merula.core import Array, InputError, Option, one_of
from merula.core.logspace import safe_log
from merula.core.sound import all_shaped, are_positive, within
from merula.data.encode import Encoded
from merula.distributions._product_sums import log_sums
from merula.distributions.base import BaseFamily, Distribution, Setting
from merula.distributions.columnwise import drawn_rows, or_pooled
from merula.distributions.gaussian import LOG_TWO_PI, variance_floor
from merula.distributions.kernel import is_positive, weighted_quantiles
from merula.distributions.mixed_cells import KeptRowsDistribution, read_cells
from merula.distributions.priors import MEstimate, Smoothing, checked_smoothing
from merula.stats import Rows, Statistic
from merula.stats.moments import comfortable_unit, refuse_narrow

RULES = {"silverman": True, "scott": False}  # whether the factor (4 / (d + 2))^(1/(d + 4)) is applied
FARTHEST = 1e100  # ranges of a column


@dataclass(frozen=True, eq=False, repr=False)
class ProductKernelDistribution(KeptRowsDistribution):
    """Kept rows with their class and weight, and ``bandwidth[c, j]``: h of a number, λ of a word, NaN where nothing varies.

    Only rows that hold every cell a query knows are asked, and weighed against each other; a class without such a row takes
    all classes' rows. A query of which nothing is known has term 0.
    """

    bandwidth: Array

    rows_at_once: ClassVar[int] = 1_024

    def fits(self, classes: int) -> bool:
        if not (super().fits(classes) and all_shaped((classes, len(self.columns)), self.bandwidth)):
            return False
        alike = bool((np.isnan(self.bandwidth) == np.isnan(self.bandwidth[0])).all())
        own = self.bandwidth[:, self._varying]
        return alike and within(0.0, 1.0, own[:, self._is_word]) and are_positive(own[:, ~self._is_word])

    @cached_property
    def _varying(self) -> NDArray[np.int64]:
        return np.flatnonzero(~np.isnan(self.bandwidth[0]))

    @cached_property
    def _is_word(self) -> NDArray[np.bool_]:
        return np.array([self.level_sets[j] is not None for j in self._varying], dtype=np.bool_)

    @cached_property
    def _reach(self) -> tuple[Array, Array]:
        """How far out queries are told apart: 1e100 ranges of each column; beyond, squares would overflow."""
        cells = self.cells[:, self._varying]
        lowest, highest = np.fmin.reduce(cells), np.fmax.reduce(cells)
        return lowest - FARTHEST * (highest - lowest), highest + FARTHEST * (highest - lowest)

    @cached_property
    def _parts(self) -> list[tuple[Array, Array, Array, Array, Array]]:
        """What `log_sums` needs of each class."""
        return [self._part(self.labels == label, h) for label, h in enumerate(self.bandwidth)]

    @cached_property
    def _everyone(self) -> tuple[Array, Array, Array, Array, Array]:
        """What `log_sums` needs of all classes' rows together, for classes that have none to ask."""
        return self._part(np.ones(len(self.labels), dtype=np.bool_), self.bandwidth.max(axis=0))

    def _part(self, chosen: NDArray[np.bool_], bandwidth: Array) -> tuple[Array, Array, Array, Array, Array]:
        """The chosen rows' cells by column, their weights, what a different and a same value scale or add, log peaks."""
        kept, is_word = self._varying, self._is_word
        sizes = np.array([len(self.level_sets[j] or ()) for j in kept], dtype=np.float64)
        own = bandwidth[kept]
        width = np.where(is_word, 1.0, own)
        other = np.where(is_word, safe_log(own / np.maximum(sizes - 1, 1)), np.sqrt(0.5) / width)
        same = np.where(is_word, safe_log(1 - np.where(is_word, own, 0.0)), 0.0)
        peak = np.where(is_word, 0.0, -0.5 * LOG_TWO_PI - np.log(width))
        return np.ascontiguousarray(self.cells[chosen][:, kept].T), self.weight[chosen], other, same, peak

    def log_prob(self, rows: Encoded) -> Array:
        queries = read_cells(rows, self.columns, self.level_sets)[:, self._varying]
        queries = np.clip(queries, *self._reach)
        result = np.zeros((len(queries), len(self.bandwidth)))
        found = np.empty(result.shape, dtype=np.bool_)
        for label, part in enumerate(self._parts):
            found[:, label] = log_sums(queries, self._is_word, *part, result[:, label])
        lost = np.flatnonzero(~found.all(axis=1))
        if len(lost):
            shared = np.zeros(len(lost))
            shared[~log_sums(queries[lost], self._is_word, *self._everyone, shared)] = 0.0
            result[lost] = np.where(found[lost], result[lost], shared[:, None])
        result[np.isnan(queries).all(axis=1)] = 0.0
        return result

    def quantiles(self, column: str, probabilities: Array, classes: int) -> Array:
        # those of the kept rows, as far apart as the kernel spreads them
        j, reach = self.columns.index(column), ndtri(probabilities)
        known, result = ~np.isnan(self.cells[:, j]), np.zeros((len(probabilities), classes))
        order = np.argsort(self.cells[:, j], kind="stable")[: int(known.sum())]  # NaN comes last
        for label, h in enumerate(np.nan_to_num(self.bandwidth[:, j])):
            own = order[self.labels[order] == label]
            rows = own if len(own) else order
            if len(rows):
                result[:, label] = weighted_quantiles(self.cells[rows, j], self.weight[rows], probabilities) + reach * h
        return result

    @property
    def parameters_count(self) -> int:
        """A bandwidth for each class and column that varies (what the kept rows themselves say is not counted)."""
        return int((~np.isnan(self.bandwidth)).sum())

    def sample(self, classes: NDArray[np.int64], rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        # a kept row of the class, every cell moved by its kernel; its gaps stay
        own = self.labels == np.arange(len(self.bandwidth))[:, None]
        rows = drawn_rows(or_pooled(np.where(own, self.weight, 0.0)), classes, rng)
        drawn, spread = {}, np.nan_to_num(self.bandwidth)[classes]
        for j, (name, known) in enumerate(zip(self.columns, self.level_sets, strict=True)):
            column = self.cells[rows, j]
            if known is None:
                drawn[name] = column + spread[:, j] * rng.normal(size=len(rows))
                continue
            m = len(known)
            step = rng.integers(1, max(2, m), size=len(rows))
            moved = np.where(
                rng.random(len(rows)) < spread[:, j], (np.nan_to_num(column) + step) % max(1, m), np.nan_to_num(column)
            )
            drawn[name] = np.array([*known, None], dtype=object)[np.where(np.isnan(column), m, moved).astype(np.int64)]
        return drawn


@dataclass(frozen=True)
class ProductKernel(BaseFamily):
    """The family of columns known by all kept rows, each spread by a kernel.

    Parameters
    ----------
    bandwidth : "silverman", "scott" or a number
        h_cj = (4 / (d + 2))^(1/(d + 4)) · σ_cj · n_c^(−1/(d + 4)) over d columns of numbers; Scott's rule is without the first
        factor; or this number for all classes and columns of numbers.
    smoothing : None, float or MEstimate
        α of the words' kernel: λ_c = α·(m − 1) / (n_c + α·m), which for a single column is Laplace's rule; None takes the classifier's.

    Examples
    --------
    >>> import merula as mr
    >>> rows = [[0.0, 0.1], [5.0, 5.1], [5.2, 4.9], [0.1, 5.0], [0.0, 5.2], [5.0, 0.0]]
    >>> families = {"numeric": mr.ProductKernel(bandwidth=1.0)}
    >>> model = mr.BayesClassifier(distributions=families).fit(rows, ["same"] * 3 + ["different"] * 3)
    >>> model.predict([[0.0, 0.0], [0.0, 5.0]]).tolist()
    ['same', 'different']
    """

    bandwidth: Any = "silverman"
    smoothing: Any = None
    name: ClassVar[str] = "product_kernel"
    no_posterior: ClassVar[str] = (
        "is made of the rows themselves and bandwidths, which are no parameters with a posterior"
    )
    kinds: ClassVar[tuple[str, ...]] = ("numeric", "count", "datetime", "categorical")
    distribution: ClassVar[type[Distribution]] = ProductKernelDistribution
    statistic: ClassVar[type[Statistic]] = Rows

    def check(self) -> None:
        if isinstance(self.bandwidth, str) and self.bandwidth in ("isj", "cv"):
            raise InputError.at(
                "bandwidth",
                f"is {self.bandwidth!r}, a rule for one column by itself",
                got=self.bandwidth,
                remedy=f"for columns together there are 'silverman', 'scott' or a number (one by one: NaiveBayesClassifier(distributions={{'numeric': Kernel(bandwidth={self.bandwidth!r})}}))",
            )
        if isinstance(self.bandwidth, str):
            one_of(self.bandwidth, RULES, "bandwidth")
        elif not is_positive(self.bandwidth):
            raise InputError.of("bandwidth", self.bandwidth, "'silverman', 'scott' or a number above 0")

    def build(self, statistic: Rows, setting: Setting) -> ProductKernelDistribution:
        self.check()
        if setting.missing == "level":
            raise InputError(
                (Option("missing", "level"), " makes a gap a level, but kernels compare the cells that both rows hold"),
                where="missing",
                got="level",
                remedy=("use ", Option("missing", "marginalise")),
            )
        if setting.unseen == "smooth":
            raise InputError(
                (Option("unseen", "smooth"), " has no meaning for kept rows"),
                where="unseen",
                got="smooth",
                remedy=("use ", Option("unseen", ("missing", "error"))),
            )
        smoothing = (
            setting.smoothing if self.smoothing is None else checked_smoothing(self.smoothing, statistic.columns)
        )
        kept = statistic.ordered([column.levels if column.declared else None for column in setting.columns])
        level_sets = tuple(None if labels is None else tuple(labels) for labels in kept.labels)
        numbers = np.array([known is None for known in level_sets], dtype=np.bool_)
        varying = int((numbers & (np.fmax.reduce(kept.cells) > np.fmin.reduce(kept.cells))).sum())
        bandwidth = np.column_stack(
            [
                self._deviations(kept, j, setting, varying)
                if numbers[j]
                else _spread_of_words(kept, j, len(level_sets[j] or ()), setting, smoothing)
                for j in range(len(level_sets))
            ]
        )
        return ProductKernelDistribution(
            kept.columns, level_sets, kept.cells, kept.classes, kept.weight, np.ascontiguousarray(bandwidth)
        )

    def _deviations(self, kept: Rows, j: int, setting: Setting, d: int) -> Array:
        """h of each class in a column of numbers, NaN in one that never varies."""
        known = ~np.isnan(kept.cells[:, j])
        x, labels, weight = kept.cells[known, j], kept.classes[known], kept.weight[known]
        count = len(setting.class_weight)
        n = np.bincount(labels, weights=weight, minlength=count)
        if not len(x) or x.min() == x.max():
            return np.full(count, np.nan)
        refuse_narrow(np.array([np.ptp(x)]), (kept.columns[j],))
        if not isinstance(self.bandwidth, str):
            return np.full(count, float(self.bandwidth))
        unit = comfortable_unit(float(np.ptp(x)))
        x = x / unit
        centre = x - np.average(x, weights=weight)
        mean = np.bincount(labels, weights=weight * centre, minlength=count) / np.maximum(n, 1e-300)
        squares = np.bincount(labels, weights=weight * (centre - mean[labels]) ** 2, minlength=count)
        overall, within = np.average(centre**2, weights=weight), squares.sum() / n.sum()
        own = np.where(_differ(x, labels, count), squares / np.maximum(n, 1e-300), 0.0)
        least = variance_floor(own[:, None], mean[:, None], overall)
        deviation = np.sqrt(np.maximum(np.where(own > 0, own, within), least))
        factor = (4 / (d + 2)) ** (1 / (d + 4)) if RULES[self.bandwidth] else 1.0
        return unit * factor * deviation * np.where(n > 0, n, n.sum()) ** (-1 / (d + 4))


def _differ(x: Array, labels: NDArray[np.int32], count: int) -> NDArray[np.bool_]:
    """Which classes hold more than one value: equal ones may leave squares above 0, by rounding."""
    lowest, highest = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(lowest, labels, x)
    np.maximum.at(highest, labels, x)
    return highest > lowest


def _spread_of_words(kept: Rows, j: int, m: int, setting: Setting, smoothing: Smoothing) -> Array:
    """λ of each class in a column of words, NaN in one with a single level."""
    if m < 2:
        return np.full(len(setting.class_weight), np.nan)
    known = ~np.isnan(kept.cells[:, j])
    n = np.bincount(kept.classes[known], weights=kept.weight[known], minlength=len(setting.class_weight))
    counted = np.where(n > 0, n, n.sum())
    alpha = smoothing.m / m if isinstance(smoothing, MEstimate) else smoothing
    return alpha * (m - 1) / (counted + alpha * m)
