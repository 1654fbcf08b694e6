"""Columns that are exactly 0 more often than any density allows: a mass at 0, and another distribution for the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError
from merula.core.logspace import safe_log
from merula.core.sound import all_shaped, are_present_and_missing
from merula.data.encode import Encoded
from merula.data.schema import Column
from merula.distributions.base import Distribution, Setting
from merula.distributions.columnwise import (
    ColumnwiseDistribution,
    ValueFamily,
    even_smoothing,
    known_cells,
    or_pooled,
    shared_fields,
)
from merula.distributions.gaussian import Gaussian
from merula.distributions.poisson import CountDistribution
from merula.distributions.posteriors import MissingCells, Posterior, Tables, averaged, concentration, dirichlet
from merula.distributions.priors import smoothed
from merula.stats import Moments, ValueCounts
from merula.stats.moments import TINY, exact_sum, refuse_distant


@dataclass(frozen=True, eq=False, repr=False)
class ZeroInflatedDistribution(ColumnwiseDistribution):
    """A mass at 0, and elsewhere the density of ``base``: log P(0 given class) and log P(not 0 given class), classes × columns.

    log p(0) = log_zero, a mass; log p(x) = log_other + log base(x), a density. Classes are compared at the same x, so that
    the two kinds never meet in one comparison.
    """

    log_zero: Array
    log_other: Array
    base: Distribution

    def atoms(self, column: str, classes: int) -> Array:
        return np.zeros(1)

    def fits(self, classes: int) -> bool:
        shape = (classes, len(self.columns))
        known = self.base.columns == self.columns and self.base.fits(classes)
        shaped = known and super().fits(classes) and all_shaped(shape, self.log_zero, self.log_other)
        return shaped and are_present_and_missing(self.log_other, self.log_zero)

    def add_log_prob(self, rows: Encoded, out: Array) -> None:
        # to the base, a 0 is a missing cell
        super().add_log_prob(rows, out)
        x = rows.values(self.columns)
        others = {
            name: np.where((column == 0) | ~varies, np.nan, column)
            for name, column, varies in zip(self.columns, x.T, self.varies, strict=True)
        }
        self.base.add_log_prob(Encoded(0, len(x), others, {}), out)

    def column_log_prob(self, j: int, x: Array) -> Array:
        # whether a value is 0; the base adds what it is otherwise
        return np.where((x == 0)[:, None], self.log_zero[:, j], self.log_other[:, j])

    @property
    def parameters_count(self) -> int:
        """A share of zeros for each class and column that varies, and what the base has."""
        return int(self.varies.sum()) * len(self.log_zero) + self.base.parameters_count + self.missing_parameters

    def column_quantiles(self, j: int, probabilities: Array) -> Array:
        columns = []
        for label in range(len(self.log_zero)):
            zero, other = np.exp(self.log_zero[label, j]), np.exp(self.log_other[label, j])
            if other == 0:
                columns.append(np.zeros(len(probabilities)))
                continue
            shares = np.clip([probabilities / other, (probabilities - zero) / other], 0.0, 1.0)
            below, above = (
                self.base.quantiles(self.columns[j], share, len(self.log_zero))[:, label] for share in shares
            )
            # short of the mass at 0, or beyond it; what is neither lies in it
            short, beyond = (shares[0] < 1) & (below < 0), (shares[1] > 0) & (above > 0)
            columns.append(np.where(short, below, np.where(beyond, above, 0.0)))
        return np.column_stack(columns)

    def factors(self) -> tuple[Distribution, ...]:
        # one part for each column, if the base has as many
        return super().factors() if len(self.base.factors()) == len(self.columns) else (self,)

    def sample(self, classes: NDArray[np.int64], rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        drawn = self.base.sample(classes, rng)
        for j, name in enumerate(self.columns):
            zero = rng.random(len(classes)) < np.exp(self.log_zero[classes, j])
            drawn[name] = np.where(zero, 0.0, drawn[name]) if self.varies[j] else np.full(len(classes), self.lowest[j])
        return self.with_missing(drawn, classes, rng)

    def state(self) -> dict[str, Any]:
        # a ValueError where the base is not merula's own, for a file could not bring it back
        from merula.distributions import DISTRIBUTIONS

        name = type(self.base).__name__
        if DISTRIBUTIONS.get(name) is not type(self.base):
            raise InputError(
                f"a zero-inflated column whose other values follow your own {name} cannot be saved",
                remedy="use one of merula's families as its base",
            )
        return super().state() | {"base": {"name": name, "state": self.base.state()}}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        from merula.distributions import DISTRIBUTIONS

        base = state["base"]
        return super().from_state(state | {"base": DISTRIBUTIONS[base["name"]].from_state(base["state"])})


@dataclass(frozen=True)
class ZeroInflated(ValueFamily):
    """The family of columns with a mass at exactly 0: P(0 given c) = (n_c0 + α) / (n_c + 2α), other values as the base family says.

    For amounts that are often nothing: rain, spending, capital gains. What the base sees are the values other than 0; a class
    without any takes from the base what it gives a class without values. 0 is 0: a column that is shifted is another column. For
    counts, use ``Poisson(zero_inflated=True)``.

    Parameters
    ----------
    base : family
        A family of numbers built from moments or from counted values: `Gaussian`, `GaussianMixture`, `Histogram`, `Kernel`,
        `Discretized`.
    smoothing : None, float or MEstimate
        The pseudo-count α of 0 and of all else; None takes the classifier's. ``MEstimate(m)`` is α = m / 2.

    Examples
    --------
    >>> import merula as mr
    >>> rain, season = [[0.0], [0], [0], [4], [0], [7], [9], [8]], ["dry"] * 4 + ["wet"] * 4
    >>> model = mr.NaiveBayesClassifier(distributions={"numeric": mr.ZeroInflated(mr.Gaussian())}).fit(rain, season)
    >>> model.predict_proba([[0.0]]).round(3).tolist()
    [[0.667, 0.333]]
    """

    base: Any = field(default_factory=Gaussian)
    smoothing: Any = None
    name: ClassVar[str] = "zero_inflated"
    kinds: ClassVar[tuple[str, ...]] = ("numeric", "count")
    distribution: ClassVar[type[Distribution]] = ZeroInflatedDistribution

    def check(self) -> None:
        if isinstance(self.base, type) or not all(hasattr(self.base, part) for part in ("wanted", "build", "name")):
            raise InputError.of("base", self.base, "a family object such as Gaussian()")
        if self.base.distribution in (CountDistribution, ZeroInflatedDistribution):
            raise InputError.at(
                "base",
                f"is {self.base!r}, which has a mass at 0 of its own",
                got=self.base,
                remedy="for counts use Poisson(zero_inflated=True) or NegativeBinomial(zero_inflated=True)",
            )
        statistic = self.base.wanted(()).statistic
        if statistic not in (Moments, ValueCounts):
            raise InputError.at(
                "base",
                f"is {self.base!r}, which is built from {statistic.__name__}",
                got=self.base,
                remedy="a base is built from Moments or ValueCounts of single columns",
            )

    def encodes(self, column: Column) -> Column:
        self.check()
        self.base.encodes(replace(column, kind="numeric") if column.kind == "count" else column)
        return super().encodes(column)

    def build(self, statistic: ValueCounts, setting: Setting) -> ZeroInflatedDistribution:
        self.check()
        smoothing = even_smoothing(self.smoothing, setting, statistic.columns)
        shared = shared_fields(statistic, setting)
        log_zero, log_other = np.zeros((2, *shared[3].shape))
        for j, (name, values, counts) in enumerate(
            zip(statistic.columns, statistic.values, statistic.counts, strict=True)
        ):
            if len(values) > 1:
                parts = or_pooled(
                    np.stack([counts[:, values == 0].sum(axis=1), counts[:, values != 0].sum(axis=1)], axis=1)
                )
                log_zero[:, j], log_other[:, j] = safe_log(smoothed(parts, smoothing, name, (0, 1), setting.classes)).T
        base = self.base.build(self._others(statistic), replace(setting, missing="marginalise"))
        return ZeroInflatedDistribution(*shared, log_zero, log_other, base)

    def predictive(self, statistic: ValueCounts, setting: Setting) -> Distribution:
        built = replace(self, smoothing=averaged(self.smoothing)).build(statistic, setting)
        return replace(built, base=self.base.predictive(self._others(statistic), replace(setting, missing="marginalise")))  # fmt: skip

    def _others(self, statistic: ValueCounts) -> Any:
        """What the base is built from: all values but 0."""
        others = without_zeros(statistic)
        return moments_of(others) if self.base.wanted(statistic.columns).statistic is Moments else others

    def posterior(self, statistic: ValueCounts, setting: Setting) -> Posterior:
        built = self.build(statistic, setting)
        smoothing = even_smoothing(self.smoothing, setting, statistic.columns)
        base = self.base.posterior(self._others(statistic), replace(setting, missing="marginalise"))
        counted = zip(statistic.columns, statistic.values, statistic.counts, built.varies, strict=True)
        zeros = [
            concentration(np.stack([counts[:, values == 0].sum(axis=1), counts[:, values != 0].sum(axis=1)], axis=1), smoothing, name, (0, 1), setting.classes).T if varies else counts[:, :1].T
            for name, values, counts, varies in counted
        ]  # fmt: skip
        tables = Tables(built.columns, tuple(zeros))
        missing = MissingCells.of(built.columns, known_cells(statistic), setting.class_weight, setting)

        told = {name: f"zeros: {dirichlet(smoothing)}; others: {base.priors[name]}" for name in built.columns}
        return ZeroInflatedBelief(told, built, tables, missing, base)


@dataclass(frozen=True, eq=False)
class ZeroInflatedBelief:
    """What is believed of how often columns are 0, and of what they are otherwise."""

    priors: Mapping[str, str]
    built: ZeroInflatedDistribution
    zeros: Tables
    missing: MissingCells
    base: Posterior

    def draws(self, rng: np.random.Generator) -> Iterator[Distribution]:
        """See `Posterior.draws`."""
        for base in self.base.draws(rng):
            log_zero, log_other = self.built.log_zero.copy(), self.built.log_other.copy()
            for j, table in enumerate(self.zeros.draw(rng)):
                if self.built.varies[j]:
                    log_zero[:, j], log_other[:, j] = table
            present, lost = self.missing.draw(rng)
            yield replace(self.built, log_zero=log_zero, log_other=log_other, base=base, log_present=present, log_missing=lost)  # fmt: skip


def without_zeros(statistic: ValueCounts) -> ValueCounts:
    """The counts of all values but 0, as if those cells were missing."""
    kept = [values != 0 for values in statistic.values]
    values = tuple(part[own] for part, own in zip(statistic.values, kept, strict=True))
    counts = tuple(part[:, own] for part, own in zip(statistic.counts, kept, strict=True))
    zeros = [part[:, ~own].sum(axis=1) for part, own in zip(statistic.counts, kept, strict=True)]
    return ValueCounts(statistic.columns, values, counts, statistic.missing + np.stack(zeros, axis=1))


def moments_of(statistic: ValueCounts) -> Moments:
    """The moments of the values counted: weight, mean and Σ w·(x − mean)², per class and column."""
    result = Moments.zero(statistic.columns, len(statistic.missing))
    mean, rest = result.mean, np.zeros_like(result.mean)
    with np.errstate(over="ignore", invalid="ignore"):
        for j, (values, counts) in enumerate(zip(statistic.values, statistic.counts, strict=True)):
            for label in np.flatnonzero(counts.any(axis=1)):
                own = counts[label] > 0
                x, weights = values[own], counts[label, own]
                drift = np.average(x - x[0], weights=weights)
                away = (x - x[0]) - drift
                result.weight[label, j] = weights.sum()
                mean[label, j], rest[label, j] = exact_sum(x[0], drift)
                result.squares[label, j] = max(np.sum(weights * away * away), TINY) if len(x) > 1 else 0.0
    refuse_distant(np.isfinite(result.squares).all(axis=0), statistic.columns)
    return Moments(result.columns, result.weight, mean, result.squares, rest)
