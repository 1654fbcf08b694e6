"""Independent normal columns given the class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from merula.core import Array, InputError, Option, one_of
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
from merula.distributions._kernels import add_gaussians, usual_variances
from merula.distributions.base import (
    BaseFamily,
    Distribution,
    IndependentColumns,
    Setting,
    log_belief_in_missing,
    missing_terms,
)
from merula.distributions.posteriors import MissingCells, Posterior
from merula.stats import Moments, Statistic
from merula.stats.moments import refuse_closeness

VARIANCE_FLOOR = 1e-9  # of the column's typical variance within a class
ROUNDING = 16 * float(np.finfo(np.float64).eps)  # of a mean: what differs by no more does not vary
MOST_DISTANT = (
    1e5  # standard deviations of a class: told from a centre further off, its numbers lose digits that matter
)
FARTHEST = 1e100  # standard deviations; beyond this, squares would overflow
LOG_TWO_PI = float(np.log(2 * np.pi))
PRIOR_ROWS = 0.1  # that the place where the means of classes lie is worth to each
PRIOR_FREEDOM = 3.0  # degrees of freedom that their usual variance is worth to each class's
NORMAL_PRIOR = f"normal–inverse-gamma: the means of classes lie about one place, worth {PRIOR_ROWS:g} row to each, and their variances about one, worth {PRIOR_FREEDOM:g} degrees of freedom; place and scale flat"
UNTOLD = 10  # draws after which a chain has forgotten where it began
MOST_STEPS, SETTLED, LEAST_SHARE = 200, 1e-13, 1e-100
ROWS_AT_ONCE = 4_096  # turned row by row at once where the source goes column by column


@dataclass(frozen=True, eq=False, repr=False)
class GaussianDistribution(IndependentColumns):
    """log N(x; mean, variance), per class and column; a column that never varied has infinite variance and says nothing.

    ``centre`` and ``spread`` are the column's overall mean (NaN if never observed) and standard deviation.

    log N = −½ log(2π·variance) − (x − mean)² / (2·variance)
    """

    columns: tuple[str, ...]
    mean: Array
    variance: Array
    centre: Array
    spread: Array
    log_present: Array
    log_missing: Array

    def fits(self, classes: int) -> bool:
        d = len(self.columns)
        per_class = (self.mean, self.variance, self.log_present, self.log_missing)
        shaped = all_shaped((classes, d), *per_class) and all_shaped((d,), self.centre, self.spread)
        sound = shaped and within(SMALLEST, np.inf, self.variance) and are_finite(self.mean) and are_finite_or_missing(self.centre)  # fmt: skip
        known = sound and within(0.0, LARGEST, self.spread) and are_present_and_missing(self.log_present, self.log_missing)  # fmt: skip
        return known and super().fits(classes)

    def weighted(self, weights: Sequence[float]) -> GaussianDistribution:
        """w · log N(x; mean, variance) = log N(x; mean, variance / w) + what all values have in common."""
        w = np.array(weights)
        with np.errstate(divide="ignore"):
            wider = replace(self, variance=self.variance / w, log_missing=w * self.log_missing)
        return replace(wider, log_present=w * (self.log_height + self.log_present) - wider.log_height)

    @cached_property
    def log_height(self) -> Array:
        """log N at the mean; 0 in columns that say nothing."""
        return np.where(np.isfinite(self.variance), -0.5 * (LOG_TWO_PI + np.log(self.variance)), 0.0)

    @cached_property
    def _constants(self) -> tuple[Array, ...]:
        scale = np.sqrt(0.5 / self.variance)
        present = self.log_height + self.log_present
        centre, reach = np.nan_to_num(self.centre), FARTHEST * self.spread
        return scale, present.sum(axis=1), present, centre - reach, centre + reach

    def add_log_prob(self, rows: Encoded, out: Array) -> None:
        x = rows.values(self.columns)
        step = len(x) if x.flags.c_contiguous else ROWS_AT_ONCE
        for start in range(0, len(x), step):
            self._add_rows(np.ascontiguousarray(x[start : start + step]), out[start : start + step])

    def _add_rows(self, x: NDArray[Any], out: Array) -> None:
        scale, constant, present, lowest, highest = self._constants
        infinite = add_gaussians(x, self.mean, scale, constant, present, self.log_missing, lowest, highest, out)
        if infinite >= 0:
            raise InputError.at(
                f"column {self.columns[infinite]!r}",
                "contains infinity",
                remedy="replace it by a number, or by NaN if it is unknown",
            )

    @property
    def parameters_count(self) -> int:
        """A mean and a variance for each class and column that varies."""
        return 2 * int(np.isfinite(self.variance).sum()) + self.missing_parameters

    def quantiles(self, column: str, probabilities: Array, classes: int) -> Array:
        j = self.columns.index(column)
        scale = np.where(np.isfinite(self.variance[:, j]), np.sqrt(self.variance[:, j]), 0.0)
        return self.mean[:, j] + ndtri(probabilities)[:, None] * scale

    def sample(self, classes: NDArray[np.int64], rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        scale = np.where(np.isfinite(self.variance), np.sqrt(self.variance), 0.0)
        values = np.where(np.isnan(self.centre), np.nan, rng.normal(self.mean[classes], scale[classes]))
        return self.with_missing(dict(zip(self.columns, values.T, strict=True)), classes, rng)


@dataclass(frozen=True, eq=False)
class ColumnSpread:
    """A column's overall mean and variance, its pooled within-class variance, and the floor no class goes below."""

    weight: Array
    mean: Array
    overall: Array
    within: Array
    floor: Array

    @property
    def centre(self) -> Array:
        """The overall mean, NaN where the column was never observed."""
        return np.where(self.weight > 0, self.mean, np.nan)


def safe_centre(centre: float, weight: Array, mean: Array, squares: Array) -> float:
    """The centre from which a column's numbers are told, or 0 where more rows keep their digits so.

    Told from a centre that lies 3·10⁷ off, numbers of a class that spread by 0.01 are known to no more than 4·10⁻⁷ of their spread.

    Examples
    --------
    >>> near, far = 5.0, 3e7
    >>> safe_centre(1e7, np.array([60.0, 30.0]), np.array([near, far]), np.array([0.006, 0.003]))
    0.0
    >>> safe_centre(far, np.array([60.0, 30.0]), np.array([far, far + 1]), np.array([0.006, 0.003]))
    30000000.0
    """
    deviation = np.sqrt(squares / np.where(weight > 0, weight, 1.0))

    def lost(origin: float) -> float:
        return float(weight[(deviation > 0) & (np.abs(mean - origin) > MOST_DISTANT * deviation)].sum())

    return 0.0 if lost(0.0) < lost(centre) else centre


def column_spread(moments: Moments, variance: str) -> ColumnSpread:
    """What all classes together say of each column."""
    total = moments.pooled()
    weight = np.maximum(total.weight[0], 1e-300)
    overall = total.squares[0] / weight
    refuse_closeness(overall, moments.columns)
    own = moments.squares / np.maximum(moments.weight, 1e-300)
    floor = variance_floor(own, np.where(moments.weight > 0, moments.mean, 0.0), overall)
    freedom = total.weight[0] - ((moments.weight > 0).sum(axis=0) if variance == "unbiased" else 0)
    within = moments.squares.sum(axis=0) / np.where(freedom > 0, freedom, weight)
    return ColumnSpread(total.weight[0], total.mean[0], overall, np.maximum(within, floor), floor)


def variance_floor(variance: Array, mean: Array, overall: Array | float) -> Array:
    """What no class's variance of a column goes below, given those of all classes (classes × columns).

    A billionth of the lower median of the classes' variances, those left out that are 0 but for rounding; of the overall variance
    where none is left. A class that holds a sentinel such as 10⁷ does not lift it for the others, as it would lift an overall variance.
    """
    usual = typical_variance(variance, mean)
    return VARIANCE_FLOOR * np.where(usual < np.inf, usual, overall)


def typical_variance(variance: Array, mean: Array) -> Array:
    """The lower median of the classes' variances of each column; infinite where no class varies but for rounding."""
    return usual_variances(np.ascontiguousarray(variance), np.ascontiguousarray(mean), ROUNDING)


def class_variances(moments: Moments, variance: str, spread: ColumnSpread) -> tuple[Array, Array]:
    """Each class's mean and variance of each column.

    A class with no value takes the pooled mean; one with a single value, or none, the pooled within-class variance.
    """
    one_of(variance, ("mle", "unbiased"), "variance")
    mean = np.where(moments.weight > 0, moments.mean, spread.mean)
    enough = (moments.weight > 1) | ((moments.squares > 0) & (variance == "mle"))
    freedom = np.where(enough, moments.weight - (1.0 if variance == "unbiased" else 0.0), 1.0)
    return mean, np.where(enough, np.maximum(moments.squares / freedom, spread.floor), spread.within)


@dataclass(frozen=True)
class Gaussian(BaseFamily):
    """The family of normal columns.

    Parameters
    ----------
    variance : None, "mle" or "unbiased"
        Divide by n or by n − 1; None takes the classifier's.

    Examples
    --------
    >>> import merula as mr
    >>> model = mr.NaiveBayesClassifier(distributions={"numeric": mr.Gaussian(variance="unbiased")})
    >>> model.fit([[1.0], [2.0], [5.0], [6.0]], [0, 0, 1, 1]).predict([[1.4]])
    array([0])
    """

    variance: str | None = None
    name: ClassVar[str] = "gaussian"
    distribution: ClassVar[type[Distribution]] = GaussianDistribution
    statistic: ClassVar[type[Statistic]] = Moments

    def build(self, statistic: Moments, setting: Setting) -> GaussianDistribution:
        option = self.variance or setting.variance
        spread = column_spread(statistic, option)
        mean, variance = class_variances(statistic, option, spread)
        return GaussianDistribution(
            statistic.columns,
            mean,
            np.where(spread.overall > 0, variance, np.inf),
            spread.centre,
            np.sqrt(spread.overall),
            *missing_terms(statistic.weight, setting.class_weight, setting),
        )

    def log_belief(self, part: GaussianDistribution, statistic: Moments, setting: Setting) -> float:
        """log P(parameters) up to a constant: means and variances are those of the largest likelihood, of no prior."""
        return log_belief_in_missing(part.log_present, part.log_missing, setting)

    def predictive(self, statistic: Moments, setting: Setting) -> Distribution:
        from merula.distributions.student import StudentDistribution  # it knows jointly normal columns, which know this

        refuse_variance(self.variance or setting.variance)
        built, spread = self.build(statistic, setting), column_spread(statistic, "mle")
        belief = normal_belief(statistic, spread)
        scale = np.where(spread.overall > 0, belief.scale * (1 + 1 / belief.rows), np.inf)
        return StudentDistribution(built.columns, belief.middle, scale, belief.freedom, built.centre, built.spread, built.log_present, built.log_missing)  # fmt: skip

    def posterior(self, statistic: Moments, setting: Setting) -> Posterior:
        built = self.build(statistic, setting)
        spread = column_spread(statistic, "mle")
        varies = np.flatnonzero(spread.overall > 0)
        varies = varies[np.argsort(np.array(built.columns, dtype=object)[varies], kind="stable")]
        chain = NormalChain.of(statistic, spread, varies)
        cells = MissingCells.of(built.columns, statistic.weight, setting.class_weight, setting)
        return NormalPosterior(dict.fromkeys(built.columns, NORMAL_PRIOR), built, varies, chain, cells)


def refuse_variance(option: str) -> None:
    """An error where the variance is to be divided by n − 1, though it is averaged out."""
    if option != "mle":
        raise InputError((Option("variance", option), " does nothing with ", Option("estimate", "predictive"), ", which averages variances out"), where="variance", got=option, remedy="leave one of them out")  # fmt: skip


# What is believed of means and variances ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NormalPosterior:
    """What is believed of the classes' normal columns; those that never varied say nothing."""

    priors: Mapping[str, str]
    built: GaussianDistribution
    varies: NDArray[np.int64]
    chain: NormalChain
    cells: MissingCells

    def draws(self, rng: np.random.Generator) -> Iterator[Distribution]:
        """See `Posterior.draws`."""
        for own_mean, own_variance in self.chain.draws(rng):
            mean, variance = self.built.mean.copy(), self.built.variance.copy()
            mean[:, self.varies], variance[:, self.varies] = own_mean, own_variance
            present, missing = self.cells.draw(rng)
            yield replace(self.built, mean=mean, variance=variance, log_present=present, log_missing=missing)


@dataclass(frozen=True, eq=False)
class NormalChain:
    """Means and variances of classes given their rows, classes × columns, and a prior that has neither place nor scale of its own.

    σ²_c = ν₀·s² / χ²(ν₀), mean_c ~ N(m, σ²_c / κ₀), with m and log s flat: what is usual in a column is learned from its classes together.
    Drawn in turn (Gibbs), each given the others, with n rows of mean x̄ and Σ(x − x̄)² = S, and a = κ₀·n / (κ₀ + n):

    σ²_c = (ν₀·s² + S + a·(x̄ − m)²) / χ²(ν₀ + n)
    s² ~ Gamma(C·ν₀ / 2, 2 / (ν₀·Σ_c 1/σ²_c)),  m ~ N(Σ_c a·x̄/σ²_c, 1) with Σ_c a/σ²_c for its precision
    mean_c ~ N((κ₀·m + n·x̄) / (κ₀ + n), σ²_c / (κ₀ + n))

    (Gelman et al. 2013, Bayesian Data Analysis, sections 3.3 and 5.4.) In standard units: away from the column's mean, `centre`, in
    its standard deviations, `unit`.
    """

    centre: Array
    unit: Array
    weight: Array
    away: Array
    squares: Array
    usual: Array
    floor: Array

    @classmethod
    def of(cls, moments: Moments, spread: ColumnSpread, columns: NDArray[np.int64]) -> NormalChain:
        """The chain of these columns."""
        overall = spread.overall[columns]
        unit = np.sqrt(overall)
        away = np.where(moments.weight > 0, moments.mean - spread.mean, 0.0)[:, columns] / unit
        usual, squares = usual_scale(moments, spread)[columns] / overall, moments.squares[:, columns] / overall
        return cls(spread.mean[columns], unit, moments.weight[:, columns], away, squares, usual, spread.floor[columns] / overall)  # fmt: skip

    def draws(self, rng: np.random.Generator) -> Iterator[tuple[Array, Array]]:
        """Means and variances, the first after some that are not told."""
        n, classes = self.weight, len(self.weight)
        worth = PRIOR_ROWS * n / (PRIOR_ROWS + n)
        place, scale = (worth * self.away).sum(axis=0) / np.maximum(worth.sum(axis=0), 1e-300), self.usual
        told = np.maximum(n - 1, 0.0).any(axis=0)  # or nothing but the spread of means tells of the scale
        step = 0
        while True:
            squares = PRIOR_FREEDOM * scale + self.squares + worth * (self.away - place) ** 2
            variance = np.maximum(squares / rng.chisquare(PRIOR_FREEDOM + n), self.floor)
            precision = 1 / variance
            pull = worth * precision
            total = pull.sum(axis=0)
            place = (pull * self.away).sum(axis=0) / total + rng.standard_normal(len(total)) / np.sqrt(total)
            rate = 0.5 * PRIOR_FREEDOM * precision.sum(axis=0)
            drawn = np.maximum(rng.standard_gamma(0.5 * PRIOR_FREEDOM * classes, len(total)) / rate, self.floor)
            scale = np.where(told, drawn, self.usual)
            step += 1
            if step > UNTOLD:
                rows = PRIOR_ROWS + n
                middle = (PRIOR_ROWS * place + n * self.away) / rows
                mean = middle + np.sqrt(variance / rows) * rng.standard_normal(n.shape)
                yield self.centre + self.unit * mean, self.unit**2 * variance


@dataclass(frozen=True, eq=False)
class NormalBelief:
    """The same given where a column lies and its scale, taken as most probable: classes × columns.

    variance = freedom·scale / χ²(freedom), mean ~ N(middle, variance / rows).
    """

    middle: Array
    rows: Array
    freedom: Array
    scale: Array


def normal_belief(moments: Moments, spread: ColumnSpread) -> NormalBelief:
    """What is believed of each class's mean and variance with m the column's mean, and s² what `usual_scale` says.

    rows = κ₀ + n, middle = (κ₀·m + n·x̄) / rows, freedom = ν₀ + n, scale = (ν₀·s² + S + a·(x̄ − m)²) / freedom
    """
    n = moments.weight
    rows, freedom = PRIOR_ROWS + n, PRIOR_FREEDOM + n
    away = np.where(n > 0, moments.mean - spread.mean, 0.0)
    squares = PRIOR_FREEDOM * usual_scale(moments, spread) + moments.squares + PRIOR_ROWS * (n / rows) * away * away
    return NormalBelief(spread.mean + n / rows * away, rows, freedom, np.maximum(squares / freedom, spread.floor))


def usual_scale(moments: Moments, spread: ColumnSpread) -> Array:
    """The variance s₀² that is usual within a column's classes: the one under which the classes' variances are most probable.

    They are as F distributed about it: s₀² is the harmonic mean of what it makes believe of each class's variance
    (Smyth 2004, section 6, with its degrees of freedom stated), so that one class with a sentinel does not lift it. Where no class has
    two rows, it is the variance of all rows.
    """
    freedom, unit = np.maximum(moments.weight - 1, 0.0), np.where(spread.overall > 0, spread.overall, 1.0)
    floor = np.maximum(spread.floor / unit, LEAST_SHARE)
    first = np.where((freedom > 0).any(axis=0), spread.within / unit, 1.0)
    return usual_of(freedom, moments.squares / unit, first, floor) * unit


def usual_of(freedom: Array, squares: Array, first: Array, floor: Array) -> Array:
    """The same of sums of squares with their degrees of freedom, beginning at `first`, where it stays if none has any.

    Examples
    --------
    >>> usual_of(np.array([[4.0], [8.0]]), np.array([[8.0], [16.0]]), np.array([1.0]), np.array([1e-9])).round(9).tolist()
    [2.0]
    """
    told, count = freedom > 0, np.maximum((freedom > 0).sum(axis=0), 1)
    found = np.maximum(first, floor)
    for _ in range(MOST_STEPS):
        share = np.where(told, (freedom + PRIOR_FREEDOM) / (squares + PRIOR_FREEDOM * found), 0.0).sum(axis=0)
        better = np.maximum(np.where(share > 0, count / np.where(share > 0, share, 1.0), found), floor)
        settled = (np.abs(better - found) <= SETTLED * found).all()
        found = better
        if settled:
            break
    return found
