"""Whole numbers from 0 given the class: Poisson and negative binomial, with or without more zeros than these explain."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar
from scipy.special import betainc, digamma, gammaincc, gammaln

from merula.core import Array, InputError
from merula.core.checks import true_or_false
from merula.core.logspace import safe_log
from merula.core.sound import all_shaped, within
from merula.distributions.base import Distribution, Setting, log_belief_in_missing
from merula.distributions.columnwise import (
    ColumnwiseDistribution,
    ValueFamily,
    even_smoothing,
    known_cells,
    or_pooled,
    shared_fields,
)
from merula.distributions.count_beliefs import FARTHEST_POISSON, NEAREST_POISSON, CountBelief, gamma_belief
from merula.distributions.posteriors import JEFFREYS, Drawing, MissingCells, Posterior
from merula.distributions.priors import MEstimate, log_belief
from merula.stats import ValueCounts

MOST_ATOMS = 100_000  # counts of a column that are summed over
LARGEST = 2.0**53  # beyond, neighbouring whole numbers are one float
FARTHEST = 1e100  # at predict: beyond, products overflow
HALF_LOG_TWO_PI = 0.5 * float(np.log(2 * np.pi))
SERIES_FROM = 16.0  # where Stirling's series is exact to the last digit
LARGEST_SIZE = 1e12  # a size so large is a Poisson distribution
EVEN = 1e-12  # relative: a variance that exceeds the mean by no more does not exceed it
SMALLEST_SIZE, LARGEST_RATIO = 1e-3, 1e4  # sizes tried first lie between this one and this many times the mean
SMALLEST_FOUND = 1e-12  # no size that was ever found is smaller
TRIED = 37


@dataclass(frozen=True, eq=False, repr=False)
class CountDistribution(ColumnwiseDistribution):
    """Negative binomial counts of this ``mean`` and ``size``, Poisson where the size is infinite, classes × columns.

    P(x) = extra_zeros·[x = 0] + (1 − extra_zeros)·f(x), f(x) = Γ(x + size) / (Γ(size)·x!) · (mean/(size + mean))^x · (size/(size + mean))^size
    """

    mean: Array
    size: Array
    extra_zeros: Array

    def fits(self, classes: int) -> bool:
        shape = (classes, len(self.columns))
        shaped = super().fits(classes) and all_shaped(shape, self.mean, self.size, self.extra_zeros)
        sound = shaped and within(0.0, LARGEST, self.mean) and within(SMALLEST_FOUND, np.inf, self.size)
        return sound and within(0.0, 1.0, self.extra_zeros)

    def check_column(self, j: int, x: Array) -> None:
        super().check_column(j, x)
        refuse_fractions(x, self.columns[j])

    def column_log_prob(self, j: int, x: Array) -> Array:
        most = x.max()
        if most < len(x):  # a table of all counts up to the largest is shorter than the rows
            return self._log_prob(j, np.arange(most + 1))[x.astype(np.intp)]
        return self._log_prob(j, np.minimum(x, FARTHEST))

    def _log_prob(self, j: int, x: Array) -> Array:
        extra = self.extra_zeros[:, j]
        result = safe_log(1 - extra) + log_count(x[:, None], self.mean[:, j], self.size[:, j])
        zero = x == 0
        result[zero] = np.logaddexp(safe_log(extra), result[zero])
        return result

    @property
    def parameters_count(self) -> int:
        """For each class and column that varies: a mean, a size where it is finite, a share of extra zeros where there is one."""
        found = 1 + np.isfinite(self.size).astype(int) + (self.extra_zeros > 0)
        return int(found[:, self.varies].sum()) + self.missing_parameters

    discrete: ClassVar[bool] = True

    def atoms(self, column: str, classes: int) -> Array:
        # the counts up to where no class has more than 1e-12 of its mass left
        last = int(self.quantiles(column, np.array([1 - 1e-12]), classes).max())
        if last > MOST_ATOMS:
            raise InputError.at(
                f"column {column!r}",
                f"has counts up to {last:,}: too many to ask about one by one",
                remedy="rescale it",
            )
        return np.arange(last + 1.0)

    def column_quantiles(self, j: int, probabilities: Array) -> Array:
        # the smallest count that reaches each share, by bisection
        low = np.full((len(probabilities), len(self.mean)), -1.0)
        high = np.full_like(low, LARGEST)
        while (high - low > 1).any():
            middle = np.floor((low + high) / 2)
            reached = self._share_up_to(j, middle) >= probabilities[:, None]
            low, high = np.where(reached, low, middle), np.where(reached, middle, high)
        return high

    def mean_and_deviation(self, column: str) -> tuple[Array, Array]:
        """The mean and the standard deviation of a column given each class."""
        j = self.columns.index(column)
        other, mean = 1 - self.extra_zeros[:, j], self.mean[:, j]
        variance = other * (mean + mean**2 / self.size[:, j] + (1 - other) * mean**2)
        return other * mean, np.sqrt(variance)

    def _share_up_to(self, j: int, x: Array) -> Array:
        """P(count ≤ x given class)."""
        mean, size, extra = self.mean[:, j], self.size[:, j], self.extra_zeros[:, j]
        finite = np.where(np.isfinite(size), size, 1.0)
        own = np.where(np.isfinite(size), betainc(finite, x + 1, finite / (finite + mean)), gammaincc(x + 1, mean))
        return np.where(x >= 0, extra + (1 - extra) * own, 0.0)

    def draw(self, j: int, classes: NDArray[np.int64], rng: np.random.Generator) -> Array:
        # a Poisson count whose rate is drawn from a Gamma distribution
        mean, size = self.mean[classes, j], self.size[classes, j]
        spread = np.isfinite(size)
        shape = np.where(spread, size, 1.0)
        rate = np.where(spread, rng.gamma(shape, np.abs(mean / shape)), mean)
        extra = rng.random(len(classes)) < self.extra_zeros[classes, j]
        return np.where(extra, 0.0, rng.poisson(rate).astype(np.float64))


def refuse_fractions(x: Array, column: str) -> None:
    """A ValueError naming the column and the first value that is not a whole number from 0."""
    wrong = (x < 0) | (x != np.floor(x))
    if wrong.any():
        raise InputError.at(
            f"column {column!r}",
            f"holds {x[wrong][0]:.17g}",
            got=x[wrong][0],
            expected="whole numbers from 0",
            remedy="correct it, or give the column another distribution",
        )


# What a count weighs ---------------------------------------------------------------------------------------------------


def log_count(x: Array, mean: Array | float, size: Array | float) -> Array:
    """log f(x) of a negative binomial (Poisson where the size is infinite), exact to rounding also for huge counts and means.

    log f = s(x + size) − s(size) − s(x) − ½ log(2πx) − ½ log(1 + x/size) − deviance, s = Stirling's error; f(0) from `log_zero`

    (Loader 2000, Fast and accurate computation of binomial probabilities; the deviance is 0 at x = mean, so that no two large
    numbers cancel.)
    """
    x, mean, size = np.broadcast_arrays(x, mean, size)
    at_zero, impossible = x == 0, mean == 0
    x, mean = np.where(at_zero, 1.0, x), np.where(impossible, 1.0, mean)
    spread = np.isfinite(size)
    r = np.where(spread, size, 1.0)
    with np.errstate(over="ignore"):
        overdispersed = stirling_error(x + r) - stirling_error(r) - 0.5 * np.log1p(x / r) - _deviance(x, mean, r)
    poisson = (x - mean) - x * _log_ratio(x, mean, x - mean)
    positive = np.where(spread, overdispersed, poisson) - stirling_error(x) - HALF_LOG_TWO_PI - 0.5 * np.log(x)
    return np.where(at_zero, np.where(impossible, 0.0, log_zero(mean, size)), np.where(impossible, -np.inf, positive))


def log_zero(mean: Any, size: Any) -> Any:
    """log f(0) = −size·log(1 + mean/size), −mean where the size is infinite."""
    r = np.where(np.isfinite(size), size, 1.0)
    return np.where(np.isfinite(size), -r * np.log1p(mean / r), -mean)


def _deviance(x: Array, mean: Array, r: Array) -> Array:
    """r·log((r + mean)/(r + x)) + x·log(x(r + mean) / (mean(r + x))), for x > 0."""
    away = x - mean
    first = r * _log_ratio(r + mean, r + x, -away)
    return first + x * _log_ratio(x * (1 + r / mean), r + x, r * (away / mean))


def _log_ratio(above: Array, below: Array, difference: Array) -> Array:
    """log(above / below), where the two are so close that their difference is known better than their ratio."""
    share = difference / below
    close = np.abs(share) < 0.5
    return np.where(close, np.log1p(np.where(close, share, 0.0)), np.log(above / below))


def stirling_error(x: Array) -> Array:
    """log Γ(x + 1) − ((x + ½) log x − x + ½ log 2π), for x > 0."""
    near = np.minimum(x, SERIES_FROM)
    exact = gammaln(near + 1) - (near + 0.5) * np.log(near) + near - HALF_LOG_TWO_PI
    far = 1 / np.maximum(x, SERIES_FROM)
    square = far * far
    series = far * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188))))
    return np.where(x < SERIES_FROM, exact, series)


# What the counted values say -------------------------------------------------------------------------------------------


def fit_count(values: Array, weights: Array, overdispersed: bool, zero_inflated: bool) -> tuple[float, float, float]:
    """Mean, size and share of extra zeros of largest likelihood, given the weight of each distinct value.

    With extra zeros allowed, the positive counts alone determine f: their distribution given that they are positive, and
    extra_zeros makes up for the zeros that f lacks. Where it lacks none, there are no extra zeros, and f is fitted to all.
    """
    positive = values > 0
    if zero_inflated and 0 < weights[positive].sum() < weights.sum():
        mean, size = _fit_positive(values[positive], weights[positive], overdispersed)
        share = float(weights[positive].sum() / weights.sum() / -np.expm1(log_zero(mean, size))) if mean > 0 else np.inf
        if share < 1:
            return mean, size, 1 - share
    mean = float(np.sum(weights * values) / weights.sum())
    return mean, best_size(values, weights, mean) if overdispersed else np.inf, 0.0


def best_size(values: Array, weights: Array, mean: float) -> float:
    """The size of largest likelihood given the mean, infinite where the variance does not exceed the mean.

    It solves Σ w·(ψ(x + size) − ψ(size)) = n·log(1 + mean/size), which then has one solution (Simonsen 1976).
    """
    n = weights.sum()
    excess = float(np.sum(weights * (values - mean) ** 2) / n) - mean
    if not excess > EVEN * mean:
        return np.inf

    def slope(log_size: float) -> float:
        size = np.exp(log_size)
        return float(np.sum(weights * (digamma(values + size) - digamma(size))) / n - np.log1p(mean / size))

    low = high = np.log(mean * mean / excess)  # what the moments say
    while slope(low) <= 0:
        low -= 1.0
    while slope(high) > 0:
        high += 1.0
        if high > np.log(LARGEST_SIZE):
            return np.inf
    return float(np.exp(brentq(slope, low, high, xtol=1e-13))) if high > low else float(np.exp(low))


def _fit_positive(values: Array, weights: Array, overdispersed: bool) -> tuple[float, float]:
    """Mean and size of largest likelihood for counts known to be positive; a mean of 0 where all are 1."""
    average = float(np.sum(weights * values) / weights.sum())
    if average <= 1 + EVEN:
        return 0.0, np.inf

    def loss(log_size: float) -> float:
        size = np.exp(log_size)
        mean = _mean_of_positive(average, size)
        return -float(np.sum(weights * (log_count(values, mean, size) - np.log(-np.expm1(log_zero(mean, size))))))

    best = np.inf
    if overdispersed:
        tried = np.log(np.geomspace(SMALLEST_SIZE, LARGEST_RATIO * average, TRIED))
        index = int(np.argmin([loss(log_size) for log_size in tried]))
        around = tried[[max(index - 1, 0), min(index + 1, TRIED - 1)]]
        found = minimize_scalar(loss, bounds=around, method="bounded", options={"xatol": 1e-10})
        best = float(np.exp(found.x)) if found.fun < loss(np.inf) else np.inf
    return _mean_of_positive(average, best), best


def _mean_of_positive(average: float, size: float) -> float:
    """The mean whose positive counts have this average, above 1: mean / (1 − f(0)) = average."""

    def gap(mean: float) -> float:
        return float(mean / -np.expm1(log_zero(mean, size)) - average)

    return float(brentq(gap, 1e-12 * min(1.0, size), average, xtol=1e-15, rtol=1e-14))


# Families --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CountFamily(ValueFamily):
    """What families of counts share: how they are smoothed and built."""

    zero_inflated: bool = False
    smoothing: Any = None
    kinds: ClassVar[tuple[str, ...]] = ("count", "numeric")
    distribution: ClassVar[type[Distribution]] = CountDistribution
    overdispersed: ClassVar[bool] = False

    def check(self) -> None:
        true_or_false(self.zero_inflated, "zero_inflated")

    def build(self, statistic: ValueCounts, setting: Setting) -> CountDistribution:
        self.check()
        rows = self._imaginary_rows(statistic, setting)
        shape = (len(setting.classes), len(statistic.columns))
        mean, size, extra_zeros = np.zeros(shape), np.full(shape, np.inf), np.zeros(shape)
        for j, (name, values, counts) in enumerate(
            zip(statistic.columns, statistic.values, statistic.counts, strict=True)
        ):
            refuse_fractions(values, name)
            _refuse_huge(values, name)
            for label, weights in enumerate(_with_imaginary_rows(counts, rows) if len(values) > 1 else ()):
                fitted = fit_count(values, weights, self.overdispersed, bool(self.zero_inflated))
                mean[label, j], size[label, j], extra_zeros[label, j] = fitted
        return CountDistribution(*shared_fields(statistic, setting), mean, size, extra_zeros)

    def _imaginary_rows(self, statistic: ValueCounts, setting: Setting) -> float:
        smoothing = even_smoothing(self.smoothing, setting, statistic.columns)
        return smoothing.m if isinstance(smoothing, MEstimate) else smoothing

    def log_belief(self, part: CountDistribution, statistic: ValueCounts, setting: Setting) -> float:
        """log P(parameters) up to a constant: the log likelihood of the imaginary rows, which are as all classes together."""
        rows = self._imaginary_rows(statistic, setting)
        total = log_belief_in_missing(part.log_present, part.log_missing, setting)
        for j, (values, counts) in enumerate(zip(statistic.values, statistic.counts, strict=True)):
            if len(values) > 1:
                pooled = counts.sum(axis=0)
                logs = part.column_log_prob(j, values)
                total += log_belief((rows * pooled / pooled.sum())[:, None], logs)
        return total

    def predictive(self, statistic: ValueCounts, setting: Setting) -> Distribution:
        if self.zero_inflated or self.overdispersed:
            raise self.unknown(setting, "has a size or extra zeros, over which no closed form averages")
        built = self.build(statistic, setting)
        smoothing = even_smoothing(self.smoothing, setting, statistic.columns)
        rows = (smoothing.m if isinstance(smoothing, MEstimate) else smoothing) or JEFFREYS
        mean, size = built.mean.copy(), built.size.copy()
        for j in np.flatnonzero(built.varies):
            total, weight = gamma_belief(statistic.values[j], statistic.counts[j], rows)
            mean[:, j], size[:, j] = total / weight, np.maximum(total, SMALLEST_FOUND)
        return replace(built, mean=mean, size=size)

    def posterior(self, statistic: ValueCounts, setting: Setting) -> Posterior:
        if self.zero_inflated:
            raise self.unknown(setting, "with extra zeros does not tell which zeros are extra")
        built = self.build(statistic, setting)
        smoothing = even_smoothing(self.smoothing, setting, statistic.columns)
        rows = (smoothing.m if isinstance(smoothing, MEstimate) else smoothing) or JEFFREYS
        varies = [j for j in sorted(range(len(built.columns)), key=built.columns.__getitem__) if built.varies[j]]
        beliefs = {
            j: CountBelief.of(statistic.values[j], statistic.counts[j], rows, self.overdispersed) for j in varies
        }
        cells = MissingCells.of(built.columns, known_cells(statistic), setting.class_weight, setting)

        def drawn(rng: np.random.Generator) -> CountDistribution:
            mean, size = built.mean.copy(), built.size.copy()
            for j in varies:
                mean[:, j], size[:, j] = beliefs[j].draw(rng)
            present, missing = cells.draw(rng)
            return replace(built, mean=mean, size=size, log_present=present, log_missing=missing)

        told = f"Gamma: the mean worth {rows:g} imaginary row{'' if rows <= 1 else 's'} at the column's"
        more = (
            f"; mean / size log-uniform between {NEAREST_POISSON:g} and {FARTHEST_POISSON:g} of the column's mean"
            if self.overdispersed
            else ""
        )
        return Drawing(dict.fromkeys(built.columns, told + more), drawn)


def _with_imaginary_rows(counts: Array, rows: float) -> Array:
    """Each class's weights, and those of imaginary rows that are as all classes together."""
    pooled = counts.sum(axis=0)
    return or_pooled(counts) + rows * pooled / pooled.sum()


def _refuse_huge(values: Array, column: str) -> None:
    if len(values) and values[-1] > LARGEST:
        raise InputError.at(
            f"column {column!r}",
            f"holds {values[-1]:.6g}, too large for a count (neighbouring whole numbers are the same float from 2⁵³ on)",
            got=values[-1],
            remedy="give it another distribution",
        )


@dataclass(frozen=True)
class Poisson(CountFamily):
    """The family of Poisson counts: P(x given c) = mean_c^x · exp(−mean_c) / x!, mean_c = (Σ x + α·m) / (n_c + α).

    Parameters
    ----------
    zero_inflated : bool
        Allow for more zeros than a Poisson distribution has: P(x) = extra_zeros·[x = 0] + (1 − extra_zeros)·f(x).
    smoothing : None, float or MEstimate
        α imaginary rows in every class, distributed as the column is in all classes together (whose mean is m), so that a
        class whose counts are all 0 does not make a 1 impossible. None takes the classifier's; 0 is maximum likelihood. This is
        the mean given the data under a Gamma prior of shape α·m and rate α. Of an `MEstimate`, α is its m.

    Examples
    --------
    >>> import merula as mr
    >>> goals, teams = [[0], [1], [0], [2], [4], [3]], ["guests", "guests", "guests", "hosts", "hosts", "hosts"]
    >>> model = mr.NaiveBayesClassifier(distributions={"numeric": mr.Poisson()}).fit(goals, teams)
    >>> model.distributions_[0].mean.ravel().round(3).tolist()
    [0.667, 2.667]
    """

    name: ClassVar[str] = "poisson"


@dataclass(frozen=True)
class NegativeBinomial(CountFamily):
    """The family of counts that vary more than Poisson counts: variance = mean + mean²/size.

    Mean and size have the largest likelihood; the size is infinite, and the distribution Poisson, in a class whose variance
    does not exceed its mean: so it is what counts are modelled by unless another family is named.

    Parameters
    ----------
    zero_inflated : bool
        Allow for still more zeros: P(x) = extra_zeros·[x = 0] + (1 − extra_zeros)·f(x).
    smoothing : None, float or MEstimate
        α imaginary rows in every class, distributed as the column is in all classes together: see `Poisson`.

    Examples
    --------
    >>> import merula as mr
    >>> visits = [[0], [0], [1], [9], [2], [3], [2], [2]]
    >>> family = mr.NegativeBinomial(smoothing=0)
    >>> model = mr.NaiveBayesClassifier(distributions={"numeric": family}).fit(visits, ["ill"] * 4 + ["well"] * 4)
    >>> model.distributions_[0].size.ravel().round(3).tolist()
    [0.307, inf]
    """

    name: ClassVar[str] = "negative_binomial"
    overdispersed: ClassVar[bool] = True
