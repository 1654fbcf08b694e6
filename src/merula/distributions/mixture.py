"""Mixtures of normal distributions, column by column: p(x given c) = Σ_k weight_k · N(x; mean_k, deviation_k²), by EM."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from merula.core import Array, InputError
from merula.core.compiled import kernel
from merula.core.logspace import log_sum_exp, safe_log
from merula.core.sound import MOST_COUNTED, ROUNDING as ROUNDED, all_shaped, are_finite, are_positive, are_weights
from merula.distributions.base import Distribution, Setting
from merula.distributions.columnwise import ColumnwiseDistribution, ValueFamily, checked_range, shared_fields
from merula.distributions.gaussian import LOG_TWO_PI, variance_floor
from merula.stats import ValueCounts

WIDEST = 1e150  # a range whose square does not overflow
MOST_CELLS = 1_000  # distinct values of a class; more are put together, neighbours in one cell
MOST_LEAPS = 200
SETTLED = 1e-4  # a step of EM that gains no more log likelihood, of all rows together, is the last
PROMISING = 1e-3  # so while mixtures are compared; the one that is kept then settles
TINY = 1e-300
NOTHING = -40.0  # e^−40 added to 1 is 1
TIE = 1e-9  # per row: a score that is larger by no more is not larger
ROUNDING = 1e-12  # of the range: values closer than this are equal but for rounding errors
HALVINGS = 60


@dataclass(frozen=True, eq=False, repr=False)
class MixtureDistribution(ColumnwiseDistribution):
    """``weight``, ``mean`` and ``deviation`` of each component, classes × columns × components; components not used have weight 0.

    log p = log Σ_k weight_k · exp(−½((x − mean_k) / deviation_k)²) / (deviation_k·√(2π))
    """

    weight: Array
    mean: Array
    deviation: Array

    def fits(self, classes: int) -> bool:
        shape = (classes, len(self.columns), *np.shape(self.weight)[2:])
        shaped = len(shape) == 3 and super().fits(classes) and all_shaped(shape, self.weight, self.mean, self.deviation)
        sound = shaped and are_weights(self.weight) and are_finite(self.mean) and are_positive(self.deviation)
        return sound and bool((np.abs(self.weight[:, self.varies].sum(axis=2) - 1) <= ROUNDED).all())

    @cached_property
    def _log_heights(self) -> Array:
        """The log of each component's largest density."""
        return safe_log(self.weight) - np.log(self.deviation) - 0.5 * LOG_TWO_PI

    def column_log_prob(self, j: int, x: Array) -> Array:
        away = (self.near(j, x)[:, None, None] - self.mean[:, j]) / self.deviation[:, j]
        return log_sum_exp(self._log_heights[:, j] - 0.5 * away * away)

    @property
    def parameters_count(self) -> int:
        """3·components − 1 for each class and column that varies."""
        return int((3 * (self.weight[:, self.varies] > 0).sum(axis=2) - 1).sum()) + self.missing_parameters

    def column_quantiles(self, j: int, probabilities: Array) -> Array:
        # by bisection between the components' own
        weight, mean, deviation = self.weight[:, j], self.mean[:, j], self.deviation[:, j]
        own = mean + ndtri(probabilities)[:, None, None] * deviation
        low = np.where(weight > 0, own, np.inf).min(axis=2)
        high = np.where(weight > 0, own, -np.inf).max(axis=2)
        for _ in range(HALVINGS):
            middle = 0.5 * low + 0.5 * high
            share = (weight * ndtr((middle[:, :, None] - mean) / deviation)).sum(axis=2)
            short = share < probabilities[:, None]
            low, high = np.where(short, middle, low), np.where(short, high, middle)
        return high

    def draw(self, j: int, classes: NDArray[np.int64], rng: np.random.Generator) -> Array:
        reached = np.cumsum(self.weight[:, j], axis=1)
        chosen = (rng.random(len(classes))[:, None] >= reached[classes, :-1]).sum(axis=1)
        return rng.normal(self.mean[classes, j, chosen], self.deviation[classes, j, chosen])


@dataclass(frozen=True, eq=False)
class Components:
    """The components of one mixture, and the log likelihood at every step of EM."""

    weight: Array
    mean: Array
    variance: Array
    log_likelihoods: Array

    @property
    def log_likelihood(self) -> float:
        """The last of them: that of these components."""
        return float(self.log_likelihoods[-1])


@dataclass(frozen=True, eq=False)
class Cells:
    """Weighted values in ascending order; where there are too many, runs of neighbours by their mean and variance."""

    weight: Array
    mean: Array
    variance: Array

    @classmethod
    def of(cls, values: Array, weights: Array) -> Cells:
        """The cells of values of these weights; those of weight 0 do not exist."""
        values, weights = values[weights > 0], weights[weights > 0]
        if len(values) <= MOST_CELLS:
            return cls(weights, values, np.zeros(len(values)))
        before = np.cumsum(weights) - weights
        cell = np.minimum(before / weights.sum() * MOST_CELLS, MOST_CELLS - 1).astype(np.int64)
        first = np.flatnonzero(np.diff(cell, prepend=-1))
        weight = np.add.reduceat(weights, first)
        mean = np.add.reduceat(weights * values, first) / weight
        away = values - np.repeat(mean, np.diff(first, append=len(values)))
        return cls(weight, mean, np.add.reduceat(weights * away * away, first) / weight)

    @cached_property
    def total(self) -> float:
        """The weight of all."""
        return float(self.weight.sum())

    def moments(self) -> tuple[float, float]:
        """Mean and variance."""
        # sums, here and below: the last bit of a product of matrices depends on the number of threads
        mean = float((self.weight * self.mean).sum() / self.total)
        return mean, float((self.weight * ((self.mean - mean) ** 2 + self.variance)).sum() / self.total)

    def by_quantiles(self, count: int) -> Components:
        """A start for EM: so many components of equal weight, each the mean and variance of its share of the values, in order."""
        reached = np.cumsum(self.weight) / self.total
        ends = np.append(np.arange(1, count) / count, 1.0)
        # what each cell gives to each component: a cell may be shared between neighbours
        upto = np.minimum(reached[:, None], ends)
        share = np.empty_like(upto)
        share[0], share[1:] = upto[0], upto[1:] - upto[:-1]
        share[:, 1:] -= share[:, :-1].copy()
        weight = share.sum(axis=0)
        mean = (share * self.mean[:, None]).sum(axis=0) / weight
        away = (self.mean[:, None] - mean) ** 2 + self.variance[:, None]
        return Components(weight, mean, (share * away).sum(axis=0) / weight, np.zeros(0))


def fit_components(cells: Cells, start: Components, floor: float, settled: float = SETTLED) -> Components:
    """The components that EM reaches from a start; no variance goes below the floor, and the log likelihood never falls.

    E: share_ik ∝ weight_k · exp(−½ log variance_k − ((x_i − mean_k)² + v_i) / (2·variance_k)), v_i the variance within a cell
    M: weight_k, mean_k and variance_k = those of the values weighted by share_ik

    Two steps of EM tell where it is heading; a leap in that direction is taken unless the likelihood would fall
    (Varadhan & Roland 2008, SQUAREM, scheme S3).
    """
    here = np.array([start.weight, start.mean, np.log(np.maximum(start.variance, floor))])
    trace = np.empty(3 * MOST_LEAPS + 1)
    steps = _climb(cells.weight, cells.mean, cells.variance, here, floor, settled, trace)
    return Components(here[0], here[1], np.exp(here[2]), trace[:steps] - 0.5 * LOG_TWO_PI * cells.total)


@kernel
def _climb(
    weights: Array, values: Array, spread: Array, here: Array, floor: float, settled: float, trace: Array
) -> int:
    """Move `here` to where EM settles; `trace` takes the log likelihoods on the way, so many of them."""
    once, twice, leap, landed = np.empty_like(here), np.empty_like(here), np.empty_like(here), np.empty_like(here)
    steps = 0
    for _ in range(MOST_LEAPS):
        trace[steps] = _expectation_maximisation(weights, values, spread, here, floor, once)
        trace[steps + 1] = after = _expectation_maximisation(weights, values, spread, once, floor, twice)
        steps += 2
        if after - trace[steps - 2] <= settled:
            here[:] = once
            return steps
        possible = _leap(here, once, twice, floor, leap)
        here[:] = twice
        if possible:
            beyond = _expectation_maximisation(weights, values, spread, leap, floor, landed)
            if beyond >= after:
                trace[steps] = beyond
                steps += 1
                here[:] = landed
    trace[steps] = _expectation_maximisation(weights, values, spread, here, floor, once)
    return steps + 1


@kernel
def _leap(here: Array, once: Array, twice: Array, floor: float, leap: Array) -> bool:
    """Where EM is heading: here − 2a·r + a²·v, r = once − here, v = twice − once − r, a = −|r| / |v|, at least two steps away.

    False where a component would vanish.
    """
    drift = bend = total = 0.0
    for i in range(3):
        for k in range(here.shape[1]):
            r = once[i, k] - here[i, k]
            v = twice[i, k] - once[i, k] - r
            drift, bend = drift + r * r, bend + v * v
    away = max(np.sqrt(drift / max(bend, TINY)), 1.0)
    for i in range(3):
        for k in range(here.shape[1]):
            r = once[i, k] - here[i, k]
            leap[i, k] = here[i, k] + 2 * away * r + away * away * (twice[i, k] - once[i, k] - r)
    for k in range(here.shape[1]):
        total += leap[0, k]
    possible = True
    for k in range(here.shape[1]):
        leap[0, k] /= total
        leap[2, k] = min(max(leap[2, k], np.log(floor)), 0.0)  # no variance exceeds that of the range, read as 1
        possible = possible and leap[0, k] > 0
    return possible


@kernel
def _expectation_maximisation(
    weights: Array, values: Array, spread: Array, here: Array, floor: float, there: Array
) -> float:
    """The log likelihood here but for a constant; `there` takes the components after one step."""
    count, n = here.shape[1], len(values)
    term, peak, density = np.empty((count, n)), np.full(n, -np.inf), np.zeros(n)
    for k in range(count):
        _log_terms(values, spread, here[:, k], term[k], peak)
    for k in range(count):
        _exponentials(term[k], peak, density)
    total, log_likelihood = _mean_logs(weights, peak, density)
    for k in range(count):
        mass, first, second = _moments(values, spread, here[1, k], term[k], density)
        there[:, k] = here[:, k]
        there[0, k] = mass / total
        if mass > 0.0:
            drift = first / mass
            there[1, k] += drift
            there[2, k] = np.log(max(second / mass - drift * drift, floor))
    return log_likelihood


# Each of these loops runs over cells and has no branch, so that it uses vector instructions; np.exp and np.log would prevent it.


@kernel
def _log_terms(values: Array, spread: Array, component: Array, term: Array, peak: Array) -> None:
    """`term` takes the log of a component's part in each cell's density; `peak` the largest so far."""
    log_height, mean, precision = np.log(component[0]) - 0.5 * component[2], component[1], 0.5 * np.exp(-component[2])
    for i in range(len(values)):
        away = values[i] - mean
        term[i] = log_height - (away * away + spread[i]) * precision
        peak[i] = max(peak[i], term[i])


@kernel
def _exponentials(term: Array, peak: Array, density: Array) -> None:
    """`term` becomes exp(term − peak), 0 below exp(−40), and is added to the density.

    exp(x) = (exp(x/256))^256, by its power series: 12 digits.
    """
    for i in range(len(term)):
        x = term[i] - peak[i]
        r = max(x, NOTHING) / 256
        y = 1 + r * (1 + r / 2 * (1 + r / 3 * (1 + r / 4 * (1 + r / 5 * (1 + r / 6 * (1 + r / 7 * (1 + r / 8)))))))
        y *= y
        y *= y
        y *= y
        y *= y
        y *= y
        y *= y
        y *= y
        y *= y
        term[i] = y if x > NOTHING else 0.0
        density[i] += term[i]


@kernel
def _mean_logs(weights: Array, peak: Array, density: Array) -> tuple[float, float]:
    """The weight of all cells and Σ weight·(peak + log density); `density` becomes weight / density.

    log(d) = 16·log(s), s = d^(1/16), by the power series of 2·artanh((s − 1) / (s + 1)).
    """
    total = log_likelihood = 0.0
    for i in range(len(weights)):
        root = np.sqrt(np.sqrt(np.sqrt(np.sqrt(density[i]))))
        z = (root - 1) / (root + 1)
        q = z * z
        log = 32 * z * (1 + q * (1 / 3 + q * (1 / 5 + q * (1 / 7 + q * (1 / 9 + q * (1 / 11 + q / 13))))))
        total += weights[i]
        log_likelihood += weights[i] * (peak[i] + log)
        density[i] = weights[i] / density[i]
    return total, log_likelihood


@kernel
def _moments(values: Array, spread: Array, mean: float, term: Array, share: Array) -> tuple[float, float, float]:
    """A component's mass, and the sums of distances and squared distances from its mean, each cell by its share."""
    mass = first = second = 0.0
    for i in range(len(values)):
        part, away = term[i] * share[i], values[i] - mean
        mass += part
        first += part * away
        second += part * (away * away + spread[i])
    return mass, first, second


def choose_components(cells: Cells, components: Any, most: int, floor: float) -> Components:
    """The best mixture of a given number of components, or of that number up to `most` for which BIC is largest.

    BIC = log likelihood − ½·(3·components − 1)·log n; of equal ones the fewest. No more components than distinct values; two
    numbers in a row that are not worth it end the search.
    """
    most = min(most if components == "bic" else int(components), len(cells.mean))
    log_n = float(np.log(max(cells.total, 2.0)))
    best = found = fit_components(cells, cells.by_quantiles(1), floor, PROMISING)
    for count in range(2, most + 1):
        found = _best_of_starts(cells, count, floor, found)
        price = 1.5 * (count - len(best.weight)) * log_n + TIE * cells.total
        if components != "bic" or found.log_likelihood - best.log_likelihood > price:
            best = found
        elif count == len(best.weight) + 2:
            break
    return fit_components(cells, best, floor)


def _best_of_starts(cells: Cells, count: int, floor: float, fewer: Components) -> Components:
    """The likeliest of three, the first of equals: begun at quantiles, or at the mixture of one component fewer.

    To that one, a component as wide as all values is added, or its most spread one is split in two.
    """
    best = fit_components(cells, cells.by_quantiles(count), floor, PROMISING)
    for start in (_with_wide(fewer, *cells.moments()), _with_split(fewer)):
        found = fit_components(cells, start, floor, PROMISING)
        if found.log_likelihood > best.log_likelihood + TIE * cells.total:
            best = found
    return best


def _with_wide(fewer: Components, mean: float, variance: float) -> Components:
    """One component more, of this mean and variance and as heavy as the average one."""
    share = 1 / (len(fewer.weight) + 1)
    return Components(
        np.append(fewer.weight * (1 - share), share),
        np.append(fewer.mean, mean),
        np.append(fewer.variance, variance),
        np.zeros(0),
    )


def _with_split(fewer: Components) -> Components:
    """One component more: that of largest weight·variance split in two, of the same mean and variance together."""
    widest = int(np.argmax(fewer.weight * fewer.variance))
    weight, mean, variance = fewer.weight.copy(), fewer.mean.copy(), fewer.variance.copy()
    away = np.sqrt(variance[widest] / 2)
    weight[widest] /= 2
    variance[widest] /= 2
    mean[widest] -= away
    return Components(
        np.append(weight, weight[widest]),
        np.append(mean, mean[widest] + 2 * away),
        np.append(variance, variance[widest]),
        np.zeros(0),
    )


@dataclass(frozen=True)
class GaussianMixture(ValueFamily):
    """The family of mixtures of normal distributions, fitted by EM to the counted values of each class and column.

    EM starts at quantiles of the values, so that nothing is random. No variance goes below 1e-9 of the column's own, nor below
    step²/2π, with step the usual distance (the median) between neighbouring values of the column: then no component is denser than
    its mass spread over one step, and values that repeat because they were rounded draw none onto a single one. A class with
    more than 1,000 distinct values is read as 1,000 runs of neighbours, by their means and variances (less than 0.001 of log density a value is lost, even under heavy tails).

    Parameters
    ----------
    components : "bic" or int
        How many: as many as BIC finds worth it, class by class, or this many.
    max_components : int
        The most that BIC may choose.

    Examples
    --------
    >>> import merula as mr
    >>> rows = [[1.0], [1.2], [1.1], [0.9], [4.8], [5.0], [5.2], [4.9], [2.9], [3.1], [3.0], [3.2]]
    >>> species = ["wren"] * 8 + ["tit"] * 4
    >>> family = mr.GaussianMixture(components=2)
    >>> model = mr.NaiveBayesClassifier(distributions={"numeric": family}).fit(rows, species)
    >>> model.distributions_[0].mean[1].round(3).tolist()
    [[1.05, 4.975]]
    >>> model.predict([[1.1], [3.0], [5.1]]).tolist()
    ['wren', 'tit', 'wren']
    """

    components: Any = "bic"
    max_components: int = 5
    name: ClassVar[str] = "mixture"
    no_posterior: ClassVar[str] = (
        "is fitted by expectation-maximisation, which does not tell to which component each row belongs"
    )
    distribution: ClassVar[type[Distribution]] = MixtureDistribution

    def check(self) -> None:
        if self.components != "bic" and not _is_number_of_components(self.components):
            raise InputError.of("components", self.components, "'bic' or a whole number from 1")
        if not _is_number_of_components(self.max_components):
            raise InputError.of("max_components", self.max_components, "a whole number from 1")

    def build(self, statistic: ValueCounts, setting: Setting) -> MixtureDistribution:
        self.check()
        shared = shared_fields(statistic, setting)
        _, lowest, highest, *_ = shared
        span = checked_range(lowest, highest, WIDEST, statistic.columns)
        tables = zip(statistic.values, statistic.counts, strict=True)
        weight, mean, variance = _padded([self._fit_column(*table) for table in tables], len(setting.classes))
        origin, unit = np.nan_to_num(lowest)[:, None], np.where(span > 0, span, 1.0)[:, None]
        return MixtureDistribution(*shared, weight, origin + unit * mean, unit * np.sqrt(variance))

    def _fit_column(self, values: Array, counts: Array) -> list[Components]:
        """The mixture of each class, the column's range read as 0 to 1; none in a column that never varies."""
        if len(values) < 2:
            return []
        indices, total = (values - values[0]) / (values[-1] - values[0]), counts.sum(axis=0)
        gaps = np.diff(indices)
        step = float(np.median(gaps[gaps > ROUNDING]))
        own = np.array([Cells.of(indices, weights).moments() for weights in counts if weights.any()])
        overall = Cells.of(indices, total).moments()[1]
        floor = max(float(variance_floor(own[:, 1:], own[:, :1], overall)[0]), step * step / (2 * np.pi))
        within = _within(indices, counts)
        return [self._fit_class(indices, weights if weights.any() else total, floor, within) for weights in counts]

    def _fit_class(self, indices: Array, weights: Array, floor: float, within: float) -> Components:
        """The mixture of one class; a single value has the variance within all classes."""
        cells = Cells.of(indices, weights)
        if len(cells.mean) == 1 and cells.total <= 1:
            return Components(np.ones(1), cells.mean, np.array([max(within, floor)]), np.zeros(1))
        return choose_components(cells, self.components, int(self.max_components), floor)


def _is_number_of_components(number: Any) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool) and 1 <= int(number) <= MOST_COUNTED


def _within(indices: Array, counts: Array) -> float:
    """The pooled variance within classes."""
    cells = [Cells.of(indices, weights) for weights in counts if weights.any()]
    return sum(part.total * part.moments()[1] for part in cells) / sum(part.total for part in cells)


def _padded(fitted: list[list[Components]], classes: int) -> tuple[Array, Array, Array]:
    """Weights, means and variances, classes × columns × components; where there is no component, weight 0 at 0 of variance 1."""
    shape = (classes, len(fitted), max((len(part.weight) for column in fitted for part in column), default=1))
    weight, mean, variance = np.zeros(shape), np.zeros(shape), np.ones(shape)
    for j, column in enumerate(fitted):
        for label, part in enumerate(column):
            own = label, j, slice(len(part.weight))
            weight[own], mean[own], variance[own] = part.weight, part.mean, part.variance
    return weight, mean, variance
