"""Numbers by the interval they lie in, given the class: as a density (histogram) or as the interval's mass (discretised)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, log2, sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from merula.core import Array, InputError, Option, one_of
from merula.core.logspace import safe_log
from merula.core.sound import all_paired, all_shaped, are_cuts, are_finite, are_log_shares, ascends
from merula.data.intervals import Cuts
from merula.data.schema import Column
from merula.distributions.base import Distribution, Setting, drawn_levels
from merula.distributions.columnwise import (
    ColumnwiseDistribution,
    ValueFamily,
    checked_range,
    even_smoothing,
    known_cells,
    or_pooled,
    shared_fields,
)
from merula.distributions.discretize import assign, cuts_for, interval_labels, mdl_cuts
from merula.distributions.discretize.methods import settled_bins
from merula.distributions.discretize.unsupervised import checked_bins
from merula.distributions.posteriors import Drawing, MissingCells, Posterior, Tables, averaged, concentration, dirichlet
from merula.distributions.priors import Smoothing, checked_smoothing, smoothed
from merula.stats import ValueCounts

TAIL = 3.0  # the mass beyond a distance d of the range is (1 + d/unit)^−TAIL of that side's
FARTHEST = 1e308  # wider ranges, and distances from it, may overflow
TIE = 1e-12  # of the range: what lies closer together is equal but for rounding
DIGITS = 12  # to which a number of bins is known before it is rounded up


@dataclass(frozen=True, eq=False, repr=False)
class HistogramDistribution(ColumnwiseDistribution):
    """``log_mass[j][b, c]`` = log P(bin b of column j given class c): what lies below the range, its bins, what lies above.

    ``edges[j]`` are the bins' ends, from the lowest value met to the highest; a value at an end belongs to the lower bin.

    density = mass / width in a bin; 3·mass / unit · (1 + distance/unit)^−4 beyond the range, unit = range / bins
    """

    edges: tuple[Array, ...]
    log_mass: tuple[Array, ...]

    def fits(self, classes: int) -> bool:
        known = super().fits(classes) and all(all_shaped((max(2, len(ends)),), ends) for ends in self.edges)
        paired = known and all_paired(self.columns, self.edges, self.log_mass, lambda ends: (len(ends) + 1, classes))
        ordered = paired and all(ascends(ends) for ends, varies in zip(self.edges, self.varies, strict=True) if varies)
        return ordered and are_finite(*self.edges) and all(map(are_log_shares, self.log_mass))

    @cached_property
    def _units(self) -> list[float]:
        """How fast the density falls beyond each column's range: its mean bin width."""
        return [float((ends[-1] - ends[0]) / (len(ends) - 1)) for ends in self.edges]

    @cached_property
    def _log_heights(self) -> list[Array]:
        """The log density in each bin, and at either end of the range, bins × classes."""
        return [
            mass - safe_log([unit / TAIL, *np.diff(ends), unit / TAIL])[:, None]
            for ends, mass, unit in zip(self.edges, self.log_mass, self._units, strict=True)
        ]

    def column_log_prob(self, j: int, x: Array) -> Array:
        ends, unit = self.edges[j], self._units[j]
        with np.errstate(over="ignore"):
            outside = np.clip(np.maximum(ends[0] - x, x - ends[-1]), 0.0, FARTHEST)
        bins = assign(x, inner_ends(ends)) + 1
        bins[x < ends[0]], bins[x > ends[-1]] = 0, len(ends)
        result: Array = self._log_heights[j][bins]
        far = outside > 0
        distance = np.log(unit + outside[far]) - np.log(unit)  # the ratio itself may overflow
        result[far] -= (TAIL + 1) * distance[:, None]
        return result

    @property
    def parameters_count(self) -> int:
        """Classes × (bins − 1) for each column that varies; what lies beyond the range is smoothing alone."""
        free = sum(len(ends) - 2 for ends, varies in zip(self.edges, self.varies, strict=True) if varies)
        return free * len(self.log_present) + self.missing_parameters

    def column_quantiles(self, j: int, probabilities: Array) -> Array:
        mass = np.exp(self.log_mass[j])
        return np.column_stack([self._indices(j, probabilities, share) for share in mass.T])

    def _indices(self, j: int, probabilities: Array, mass: Array) -> Array:
        """Where these shares of the mass lie below."""
        ends, unit = self.edges[j], self._units[j]
        reached = np.cumsum(mass[:-1])
        result = np.interp(probabilities, reached, ends)
        below, above = probabilities < reached[0], 1 - probabilities < mass[-1]
        with np.errstate(divide="ignore"):
            result[below] = ends[0] - unit * ((probabilities[below] / mass[0]) ** (-1 / TAIL) - 1)
            result[above] = ends[-1] + unit * (((1 - probabilities[above]) / mass[-1]) ** (-1 / TAIL) - 1)
        return result

    def draw(self, j: int, classes: NDArray[np.int64], rng: np.random.Generator) -> Array:
        ends = self.edges[j]
        bins = drawn_levels(np.exp(self.log_mass[j]), classes, rng)
        share = rng.random(len(classes))
        beyond = self._units[j] * ((1 - share) ** (-1 / TAIL) - 1)
        inside = np.clip(bins, 1, len(ends) - 1)
        values = _within(ends[inside - 1], ends[inside], share)
        return np.where(bins == 0, ends[0] - beyond, np.where(bins == len(ends), ends[-1] + beyond, values))


@dataclass(frozen=True, eq=False, repr=False)
class DiscretizedDistribution(ColumnwiseDistribution):
    """``log_table[j][v, c]`` = log P(column j lies in its interval v given class c), a mass; ``cut_sets[j]`` divide the intervals.

    What lies below the lowest cut belongs to the first interval, what lies above the highest to the last.
    """

    cut_sets: tuple[Cuts, ...]
    log_table: tuple[Array, ...]

    discrete: ClassVar[bool] = True

    def atoms(self, column: str, classes: int) -> Array:
        # one value of each interval, whose masses are those of the intervals
        cuts = self.cuts[column]
        return np.array([*cuts, cuts[-1] + 1 + abs(cuts[-1])]) if cuts else np.zeros(1)

    @property
    def cuts(self) -> Mapping[str, Cuts]:
        """The cuts of each column, ascending."""
        return dict(zip(self.columns, self.cut_sets, strict=True))

    def intervals(self, column: str) -> tuple[str, ...]:
        """The names of a column's intervals, in order, such as "(2.45, 4.75]"."""
        return interval_labels(self.cuts[column])

    def probabilities(self, column: str) -> Array:
        """P(interval given class) of one column, intervals × classes."""
        return np.exp(self.log_table[self.columns.index(column)])

    def fits(self, classes: int) -> bool:
        paired = all_paired(self.columns, self.cut_sets, self.log_table, lambda cuts: (len(cuts) + 1, classes))
        return super().fits(classes) and paired and all(map(are_cuts, self.cut_sets)) and all(map(are_log_shares, self.log_table))  # fmt: skip

    def column_log_prob(self, j: int, x: Array) -> Array:
        return self.log_table[j][assign(x, self.cut_sets[j])]

    @property
    def parameters_count(self) -> int:
        """Classes × (intervals − 1) for each column."""
        return sum(map(len, self.cut_sets)) * len(self.log_present) + self.missing_parameters

    def _ends(self, j: int) -> Array:
        """The intervals' ends, as far as values were met."""
        return np.array([self.lowest[j], *self.cut_sets[j], self.highest[j]])

    def column_quantiles(self, j: int, probabilities: Array) -> Array:
        # as if values were spread evenly within intervals
        reached = np.cumsum(np.exp(self.log_table[j]), axis=0)
        return np.column_stack([np.interp(probabilities, [0.0, *share], self._ends(j)) for share in reached.T])

    def draw(self, j: int, classes: NDArray[np.int64], rng: np.random.Generator) -> Array:
        # as if values were spread evenly within intervals
        ends, indices = self._ends(j), drawn_levels(np.exp(self.log_table[j]), classes, rng)
        return _within(ends[indices], ends[indices + 1], rng.random(len(classes)))


def _within(low: Array, high: Array, share: Array) -> Array:
    """A value between low and high; high itself for a share of 0, never low, for an interval does not hold its lower end."""
    return high - share * (high - low)


def inner_ends(ends: Array) -> Array:
    """Where a histogram's bins end for cells: a cell at an end but for rounding is the lower bin's, in any unit.

    Moving the ends onto the values they were found from is not enough: a cell met later may lie on one as well.
    """
    return ends[1:-1] + rounding(ends[0], ends[-1])


def bin_counts(values: Array, counts: Array, cuts: ArrayLike) -> Array:
    """The weight of each class in each interval, classes × intervals; of all classes for a class without values."""
    cuts = np.asarray(cuts)
    indices = assign(values, cuts)
    return or_pooled(np.stack([np.bincount(indices, weights, len(cuts) + 1) for weights in counts]))


def own_bin_counts(values: Array, counts: Array, cuts: ArrayLike) -> Array:
    """The same of each class alone: nothing for a class without values."""
    return np.where(counts.any(axis=1, keepdims=True), bin_counts(values, counts, cuts), 0.0)


def settled_cuts(method: str, values: Array, counts: Array, bins: int | None) -> Cuts:
    """The cuts of `cuts_for`; those of equal width that fall on a value but for rounding are moved onto it.

    Else it would be rounding that decides on which side of a cut a value lies, differently for a column shifted or rescaled.
    """
    cuts = cuts_for(method, values, counts, bins)
    if method != "width" or not cuts:
        return cuts
    indices = np.array(cuts)
    after = np.clip(np.searchsorted(values, indices), 1, len(values) - 1)
    low, high = values[after - 1], values[after]
    with np.errstate(over="ignore"):
        nearest = np.where(indices - low < high - indices, low, high)
        away = np.abs(nearest - indices)
    return tuple(np.unique(np.where(away <= rounding(values[0], values[-1]), nearest, indices)).tolist())


def rounding(low: float, high: float) -> float:
    """How far apart numbers of this range may lie that are equal but for rounding."""
    return float(2 * TIE * (0.5 * high - 0.5 * low) + 4 * np.spacing(max(abs(low), abs(high))))


# How many bins ---------------------------------------------------------------------------------------------------------


def automatic_bins(values: Array, weights: Array) -> int:
    """The number of bins for values of these weights: Freedman and Diaconis' rule, between Sturges' rule and √n.

    Sturges: log2(n) + 1. Freedman–Diaconis: range / (2·interquartile range·n^(−1/3)). Both rounded up, n = Σ w. √n guards against a
    few far values, which would have the range cut into bins most of which are empty. No more bins than distinct values.
    """
    n = float(weights.sum())
    if len(values) < 2:
        return 1
    sturges = _rounded_up(log2(max(n, 1.0)) + 1)
    low, high = _quartiles(values, weights)
    spread = (high - low) / (values[-1] - values[0])
    diaconis = _rounded_up(n ** (1 / 3) / (2 * max(spread, TIE))) if spread > 0 else 1
    return min(max(sturges, min(diaconis, _rounded_up(sqrt(n)))), len(values))


def _rounded_up(number: float) -> int:
    """The whole number that is not smaller, a number known to 12 digits."""
    return ceil(float(f"{number:.{DIGITS}g}"))


def _quartiles(values: Array, weights: Array) -> tuple[float, float]:
    """The values a quarter and three quarters of the way from the first row to the last, interpolated as NumPy does."""
    reached = np.cumsum(weights)
    index = max(reached[-1] - 1, 0.0) * np.array([0.25, 0.75])
    first = np.floor(index)
    lower, upper = (
        values[np.minimum(np.searchsorted(reached, rows, side="right"), len(values) - 1)] for rows in (first, first + 1)
    )
    low, high = (lower + (index - first) * (upper - lower)).tolist()
    return low, high


# Families --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Histogram(ValueFamily):
    """The family of histograms: p(x given c) = mass / width, mass = (n_cb + α) / (n_c + α·(bins + 2)), the bins common to all classes.

    The outermost bins end at the smallest and the largest value met. What lies beyond has, on either side, the mass of a bin in
    which nothing was counted; there the density falls with the fourth power of the distance, equally in all classes. So with α > 0
    nothing is impossible, and a far value speaks for no class but through the masses.

    Parameters
    ----------
    bins : "auto", "mdl" or int
        How many: Freedman and Diaconis' rule (see `automatic_bins`), as many as tell the classes apart (`mdl_cuts`), or this many.
    method : "width" or "quantile"
        Bins of equal width, or of equal weight; "mdl" finds its own cuts.
    smoothing : None, float or MEstimate
        The pseudo-count α of each bin; None takes the classifier's. ``MEstimate(m)`` is α = m / (bins + 2).

    Examples
    --------
    >>> import merula as mr
    >>> rows, species = [[1.0], [1.2], [4.8], [5.0], [2.9], [3.1]], ["wren", "wren", "wren", "wren", "tit", "tit"]
    >>> model = mr.NaiveBayesClassifier(distributions={"numeric": mr.Histogram(bins=3)}).fit(rows, species)
    >>> model.predict([[1.1], [3.0], [5.1]]).tolist()
    ['wren', 'tit', 'wren']
    """

    bins: Any = "auto"
    method: str = "width"
    smoothing: Any = None
    name: ClassVar[str] = "histogram"
    distribution: ClassVar[type[Distribution]] = HistogramDistribution

    def check(self) -> None:
        one_of(self.method, ("width", "quantile"), "method")
        if self.bins == "mdl" and self.method != "width":
            raise InputError(
                (Option("bins", "mdl"), " finds its own cuts"),
                where="bins",
                got="mdl",
                remedy=("leave out ", Option("method", self.method), ", or say how many bins"),
            )
        if isinstance(self.bins, str):
            one_of(self.bins, ("auto", "mdl"), "bins")
        else:
            checked_bins(self.bins)

    def build(self, statistic: ValueCounts, setting: Setting) -> HistogramDistribution:
        self.check()
        smoothing = even_smoothing(self.smoothing, setting, statistic.columns)
        shared = shared_fields(statistic, setting)
        checked_range(shared[1], shared[2], FARTHEST, statistic.columns)
        edges, masses = [], []
        for name, values, counts in zip(statistic.columns, statistic.values, statistic.counts, strict=True):
            ends = np.array([values[0], *self._cuts(values, counts), values[-1]]) if len(values) else np.zeros(2)
            counted = np.pad(bin_counts(values, counts, inner_ends(ends)), ((0, 0), (1, 1)))
            masses.append(safe_log(smoothed(counted, smoothing, name, range(counted.shape[1]), setting.classes)).T)
            edges.append(ends)
        return HistogramDistribution(*shared, tuple(edges), tuple(map(np.ascontiguousarray, masses)))

    def predictive(self, statistic: ValueCounts, setting: Setting) -> Distribution:
        return replace(self, smoothing=averaged(self.smoothing)).build(statistic, setting)

    def posterior(self, statistic: ValueCounts, setting: Setting) -> Posterior:
        built = self.build(statistic, setting)
        smoothing = even_smoothing(self.smoothing, setting, statistic.columns)
        counts = [np.pad(own_bin_counts(values, own, inner_ends(ends)), ((0, 0), (1, 1))) for values, own, ends in zip(statistic.values, statistic.counts, built.edges, strict=True)]  # fmt: skip
        return _drawn_bins(built, "log_mass", counts, smoothing, statistic, setting)

    def _cuts(self, values: Array, counts: Array) -> Cuts:
        """The cuts of one column; none at its very ends, where a bin would have no width."""
        if len(values) < 2:
            return ()
        if self.bins == "mdl":
            cuts = mdl_cuts(values, counts)
        else:
            bins = automatic_bins(values, counts.sum(axis=0)) if self.bins == "auto" else int(self.bins)
            cuts = settled_cuts(self.method, values, counts, bins) if bins > 1 else ()
        return tuple(cut for cut in cuts if values[0] < cut < values[-1])


@dataclass(frozen=True)
class Discretized(ValueFamily):
    """The family of numbers cut into intervals and then treated as categorical: P(v given c) = (n_cv + α) / (n_c + α·m_j).

    The probability is the interval's mass, not divided by its width. A column in which no cut was found says nothing. Cuts are
    found anew from all values counted whenever rows are added or models merged: there is no need for both to have equal cuts.
    The model's `schema_` holds the cuts in use.

    Parameters
    ----------
    method : "mdl", "quantile" or "width"
        Cuts that tell the classes apart (`mdl_cuts`), or intervals of equal weight or width.
    bins : int, optional
        The number of intervals, 10 by default; "mdl" finds that number itself.
    cuts : None or sequence of ascending numbers
        Stated cuts instead of found ones. Models merge only where they have the same.
    smoothing : None, float or MEstimate
        The pseudo-count α of each interval; None takes the classifier's.

    Examples
    --------
    >>> import merula as mr
    >>> wings, species = [[20.0], [21], [22], [23], [34], [35], [36], [37]] * 3, (["wren"] * 4 + ["blackbird"] * 4) * 3
    >>> model = mr.NaiveBayesClassifier(distributions={"numeric": mr.Discretized()}).fit(wings, species)
    >>> model.distributions_[0].intervals("x0")
    ('≤ 28.5', '> 28.5')
    """

    method: str = "mdl"
    bins: Any = None
    cuts: Any = None
    smoothing: Any = None
    name: ClassVar[str] = "discretized"
    distribution: ClassVar[type[Distribution]] = DiscretizedDistribution

    def check(self) -> None:
        settled_bins(self.method, self.bins)
        if self.cuts is not None:
            checked_cuts(self.cuts)
            if (self.method, self.bins) != ("mdl", None):
                raise InputError.at(
                    "cuts",
                    (
                        f"are stated, {self.cuts!r}: leave out ",
                        Option("method"),
                        " and ",
                        Option("bins"),
                        ", which find cuts",
                    ),
                )

    def encodes(self, column: Column) -> Column:
        # stated cuts are part of what the column is
        column = super().encodes(column)
        return column if self.cuts is None else replace(column, cuts=checked_cuts(self.cuts))

    def build(self, statistic: ValueCounts, setting: Setting) -> DiscretizedDistribution:
        self.check()
        smoothing = (
            setting.smoothing if self.smoothing is None else checked_smoothing(self.smoothing, statistic.columns)
        )
        cut_sets, tables = [], []
        for name, values, counts in zip(statistic.columns, statistic.values, statistic.counts, strict=True):
            cuts = self._cuts(values, counts)
            share = np.ones((len(counts), 1))
            if cuts:
                counted = bin_counts(values, counts, cuts)
                share = smoothed(counted, smoothing, name, interval_labels(cuts), setting.classes)
            tables.append(np.ascontiguousarray(safe_log(share).T))
            cut_sets.append(cuts)
        return DiscretizedDistribution(*shared_fields(statistic, setting), tuple(cut_sets), tuple(tables))

    def predictive(self, statistic: ValueCounts, setting: Setting) -> Distribution:
        return replace(self, smoothing=averaged(self.smoothing)).build(statistic, setting)

    def posterior(self, statistic: ValueCounts, setting: Setting) -> Posterior:
        built = self.build(statistic, setting)
        smoothing = setting.smoothing if self.smoothing is None else checked_smoothing(self.smoothing, built.columns)
        counts = [own_bin_counts(values, own, cuts) for values, own, cuts in zip(statistic.values, statistic.counts, built.cut_sets, strict=True)]  # fmt: skip
        return _drawn_bins(built, "log_table", counts, smoothing, statistic, setting)

    def _cuts(self, values: Array, counts: Array) -> Cuts:
        """The cuts of one column: none where it never varies."""
        if len(values) < 2:
            return ()
        return settled_cuts(self.method, values, counts, self.bins) if self.cuts is None else checked_cuts(self.cuts)


def checked_cuts(cuts: Any) -> Cuts:
    """Stated cuts as a tuple of numbers; a ValueError unless they ascend."""
    indices = np.asarray(cuts)
    if (
        indices.ndim != 1
        or indices.dtype.kind not in "iuf"
        or not np.isfinite(indices).all()
        or (np.diff(indices) <= 0).any()
    ):
        raise InputError.of("cuts", cuts, "numbers that ascend, such as (18, 65)")
    return tuple(indices.astype(np.float64).tolist())


def _drawn_bins(
    built: HistogramDistribution | DiscretizedDistribution,
    field: str,
    counts: Sequence[Array],
    smoothing: Smoothing,
    statistic: ValueCounts,
    setting: Setting,
) -> Posterior:
    """What is believed of the masses of bins and intervals that stay where they are; columns that never varied say nothing."""
    named = zip(built.columns, counts, getattr(built, field), built.varies, strict=True)
    cells = [
        concentration(table, smoothing, name, _names_of(built, name, table), setting.classes).T if varies else kept[:1]
        for name, table, kept, varies in named
    ]
    tables = Tables(built.columns, tuple(cells))
    missing = MissingCells.of(built.columns, known_cells(statistic), setting.class_weight, setting)

    def drawn(rng: np.random.Generator) -> Distribution:
        pairs = zip(getattr(built, field), tables.draw(rng), built.varies, strict=True)
        found = tuple(own if varies else kept for kept, own, varies in pairs)
        log_present, log_missing = missing.draw(rng)
        changed: dict[str, Any] = {field: found, "log_present": log_present, "log_missing": log_missing}
        return replace(built, **changed)

    return Drawing(dict.fromkeys(built.columns, dirichlet(smoothing)), drawn)


def _names_of(built: HistogramDistribution | DiscretizedDistribution, name: str, table: Array) -> Sequence[Any]:
    """What the bins of a column are called where smoothing is told about them: intervals have names."""
    return built.intervals(name) if isinstance(built, DiscretizedDistribution) else range(table.shape[1])
