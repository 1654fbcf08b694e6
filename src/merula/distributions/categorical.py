"""Independent categorical columns given the class: P(v given c) from smoothed counts. Bernoulli is the case of two levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError
from merula.core.checks import checked_number
from merula.core.logspace import safe_log, times
from merula.core.sound import all_paired, are_labels, are_log_shares, are_logs, each
from merula.data.encode import Encoded
from merula.data.intervals import interval_labels
from merula.data.schema import Column, Label
from merula.data.table import label_array
from merula.distributions._kernels import add_levels, slot_table
from merula.distributions._vectors import AT_ONCE
from merula.distributions.base import Added, BaseFamily, Distribution, IndependentColumns, Setting, drawn_levels
from merula.distributions.lookups import Lookup, level_axis
from merula.distributions.posteriors import Drawing, Posterior, Tables, averaged, concentration, dirichlet
from merula.distributions.priors import (
    Smoothing,
    checked_smoothing,
    log_belief,
    pseudo_counts,
    smoothed,
    unseen_probability,
)
from merula.stats import LevelCounts, Statistic

WIDEST = 2**18  # numbers in a table with a row for every slot, so that it stays in the cache


@dataclass(frozen=True, eq=False, repr=False)
class CategoricalDistribution(IndependentColumns):
    """``log_table[j][v, c]`` = log P(column j has level v given class c), then one row for missing and one for unseen."""

    columns: tuple[str, ...]
    level_sets: tuple[tuple[Label, ...], ...]
    log_table: tuple[Array, ...]

    def fits(self, classes: int) -> bool:
        paired = all_paired(self.columns, self.level_sets, self.log_table, lambda levels: (len(levels) + 2, classes))
        return super().fits(classes) and paired and each(_is_level_table, self.level_sets, self.log_table)

    @cached_property
    def _stacked(self) -> tuple[Array, NDArray[np.int64]]:
        """All tables end to end, as wide as vectors are, and where each begins."""
        starts = np.concatenate(([0], np.cumsum([len(table) for table in self.log_table])))
        stacked = np.zeros((starts[-1], -(-self.class_count // AT_ONCE) * AT_ONCE))
        np.concatenate(self.log_table, out=stacked[:, : self.class_count])
        return stacked, starts

    def add_log_prob(self, rows: Encoded, out: Array) -> None:
        tile = rows.codes(self.columns)

        def laid_out() -> tuple[Any, Any]:
            (stacked, starts), offsets = self._stacked, tile.offsets
            indices = rows.level_table(self.columns, self.level_sets)
            return self, (offsets, *slot_table(indices, offsets, starts, stacked, max(WIDEST, 2 * stacked.size)))

        # kept with the distribution, so that no other has its id
        lookup: tuple[Any, Any, Any, Any, Any] = rows.remember(("slots", id(self)), laid_out)[1]
        hits = add_levels(tile.codes, tile.shift, tile.width, *lookup, out)
        if hits.any():
            rows.note_unseen(self.columns, hits)

    def weighted(self, weights: Sequence[float]) -> CategoricalDistribution:
        return replace(self, log_table=tuple(times(weight, table) for weight, table in zip(weights, self.log_table, strict=True)))  # fmt: skip

    def split(self, weights: Sequence[float]) -> tuple[tuple[Lookup, ...], tuple[Added, ...]]:
        own = self.weighted(weights)
        tables = zip(own.columns, own.level_sets, own.log_table, strict=True)
        return tuple(Lookup((level_axis(name, levels, len(levels), len(levels) + 1),), table) for name, levels, table in tables), ()  # fmt: skip

    @property
    def class_count(self) -> int:
        return self.log_table[0].shape[1]

    @property
    def parameters_count(self) -> int:
        """Σ_j classes × (levels − 1)."""
        return sum(max(0, len(levels) - 1) for levels in self.level_sets) * self.class_count

    def probabilities(self, column: str) -> Array:
        """P(level given class) of one column, levels × classes."""
        position = self.columns.index(column)
        return np.exp(self.log_table[position][: len(self.level_sets[position])])

    def sample(self, classes: NDArray[np.int64], rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        return {
            name: label_array(levels)[drawn_levels(self.probabilities(name), classes, rng)]
            if levels
            else np.full(len(classes), None, dtype=object)
            for name, levels in self.levels.items()
        }


def _is_level_table(levels: tuple[Label, ...], table: Array) -> bool:
    """True when the probabilities of the levels add up to 1, a missing cell says nothing, and an unseen one is a probability."""
    known = table[: len(levels)]
    return are_labels(levels, missing=True) and (not levels or are_log_shares(known)) and not table[-2].any() and are_logs(table)  # fmt: skip


def counted_levels(statistic: LevelCounts, setting: Setting) -> list[tuple[tuple[Label, ...], Array]]:
    """Each column's levels, and the weight of each class and level; being missing is a level where it is to be one."""
    ordered = statistic.ordered([column.levels if column.declared else None for column in setting.columns])
    found = []
    for labels, counts, lost in zip(ordered.labels, ordered.counts, ordered.missing.T, strict=True):
        if setting.missing == "level" and lost.any():
            found.append(((*labels, None), np.concatenate([counts, lost[:, None]], axis=1)))
        else:
            found.append((tuple(labels), counts))
    return found


def level_tables(
    statistic: LevelCounts, setting: Setting, smoothing: Smoothing
) -> tuple[tuple[tuple[Label, ...], ...], tuple[Array, ...]]:
    """Each column's levels and its table of log probabilities, with the rows for missing and unseen cells."""
    level_sets, tables = [], []
    for name, (levels, counts) in zip(statistic.columns, counted_levels(statistic, setting), strict=True):
        nothing = np.zeros((1, len(counts)))
        known = (
            safe_log(smoothed(counts, smoothing, name, levels, setting.classes)).T
            if levels
            else np.zeros((0, len(counts)))
        )
        if setting.unseen == "smooth":
            unseen = safe_log(unseen_probability(counts, smoothing))[None, :]
        else:  # as if the cell were missing, also where that is a level of its own
            unseen = known[-1:] if levels and levels[-1] is None else nothing
        tables.append(np.concatenate([known, nothing, unseen]))
        level_sets.append(levels)
    return tuple(level_sets), tuple(tables)


@dataclass(frozen=True)
class Categorical(BaseFamily):
    """The family of categorical columns: P(v given c) = (n_cv + α) / (n_c + α·m_j), or as `MEstimate` says.

    Parameters
    ----------
    smoothing : None, float or MEstimate
        None takes the classifier's.

    Examples
    --------
    >>> import merula as mr
    >>> model = mr.NaiveBayesClassifier(distributions={"categorical": mr.Categorical(smoothing=0.5)})
    >>> model.fit([["red"], ["red"], ["blue"]], ["yes", "no", "no"]).predict_proba([["blue"]]).round(3)
    array([[0.8, 0.2]])
    """

    smoothing: Any = None
    name: ClassVar[str] = "categorical"
    kinds: ClassVar[tuple[str, ...]] = ("categorical",)
    distribution: ClassVar[type[Distribution]] = CategoricalDistribution
    statistic: ClassVar[type[Statistic]] = LevelCounts

    def build(self, statistic: LevelCounts, setting: Setting) -> CategoricalDistribution:
        smoothing = self._smoothing(statistic, setting)
        return CategoricalDistribution(statistic.columns, *level_tables(statistic, setting, smoothing))

    def _smoothing(self, statistic: LevelCounts, setting: Setting) -> Smoothing:
        return setting.smoothing if self.smoothing is None else checked_smoothing(self.smoothing, statistic.columns)

    def log_belief(self, part: CategoricalDistribution, statistic: LevelCounts, setting: Setting) -> float:
        """log P(parameters) up to a constant, of the Dirichlet prior that smoothing is: Σ pseudo-count · log P(v given c)."""
        smoothing = self._smoothing(statistic, setting)
        return sum(
            log_belief(pseudo_counts(smoothing, name, levels, setting.classes), table[: len(levels)].T)
            for name, levels, table in zip(part.columns, part.level_sets, part.log_table, strict=True)
            if levels
        )

    def predictive(self, statistic: LevelCounts, setting: Setting) -> Distribution:
        return replace(self, smoothing=averaged(self.smoothing)).build(statistic, setting)

    def posterior(self, statistic: LevelCounts, setting: Setting) -> Posterior:
        built = self.build(statistic, setting)
        smoothing = setting.smoothing if self.smoothing is None else checked_smoothing(self.smoothing, built.columns)
        counted = zip(built.columns, counted_levels(statistic, setting), strict=True)
        cells = [
            concentration(counts, smoothing, name, levels, setting.classes).T for name, (levels, counts) in counted
        ]
        tables = Tables(built.columns, tuple(cells))
        as_missing = setting.unseen != "smooth"

        def drawn(rng: np.random.Generator) -> CategoricalDistribution:
            logs = zip(built.level_sets, tables.draw(rng), built.log_table, strict=True)
            return replace(built, log_table=tuple(_with_ends(*parts, as_missing) for parts in logs))

        return Drawing(dict.fromkeys(built.columns, dirichlet(smoothing)), drawn)


def _with_ends(levels: tuple[Label, ...], known: Array, built: Array, as_missing: bool) -> Array:
    """A drawn table with its rows for a missing and an unseen cell; what a level never seen is smoothed to is not drawn."""
    ends = built[-2:].copy()
    if as_missing and levels and levels[-1] is None:  # being missing is a level, which was drawn
        ends[-1] = known[-1]
    return np.concatenate([known, ends])


@dataclass(frozen=True)
class Bernoulli(Categorical):
    """The family of yes/no columns (false/true or 0/1): P(1 given c) = (n_c1 + α) / (n_c + 2α), both levels always present.

    Parameters
    ----------
    smoothing : None, float or MEstimate
        None takes the classifier's.
    threshold : None or float
        Columns of numbers are asked whether they lie above it: ``BernoulliNB(binarize=threshold)``. Without one they hold 0 and 1.

    Examples
    --------
    >>> import merula as mr
    >>> model = mr.NaiveBayesClassifier(distributions={"numeric": mr.Bernoulli()}).fit([[1], [1], [0], [0]], [1, 1, 1, 0])
    >>> model.predict_proba([[1]]).round(3).tolist()  # ¼ · ⅓ against ¾ · ⅗
    [[0.156, 0.844]]
    >>> family = mr.Bernoulli(threshold=0.5)
    >>> model = mr.NaiveBayesClassifier(distributions={"numeric": family}).fit([[3.0], [0.7], [0.5], [-2.0]], [1, 1, 1, 0])
    >>> model.predict_proba([[9.0]]).round(3).tolist(), model.schema_["x0"].levels
    ([[0.156, 0.844]], ('≤ 0.5', '> 0.5'))
    """

    threshold: float | None = None
    name: ClassVar[str] = "bernoulli"
    kinds: ClassVar[tuple[str, ...]] = ("categorical", "numeric", "count")

    def encodes(self, column: Column) -> Column:
        # the column with its two levels declared
        super().encodes(column)
        if self.threshold is not None:
            return self._cut(column)
        if column.levels is not None and len(column.levels) != 2:
            raise InputError.at(
                f"column {column.name!r}",
                f"has levels {list(column.levels)}",
                got=list(column.levels),
                remedy="the bernoulli distribution needs exactly two",
            )
        return replace(column, kind="categorical", levels=column.levels or (0, 1), declared=True)

    def _cut(self, column: Column) -> Column:
        """A column of numbers as the two sides of the threshold."""
        checked_number(self.threshold, "threshold", "a finite number", np.isfinite)
        cuts = (float(self.threshold),)  # type: ignore[arg-type]
        if column.cuts == cuts:
            return column
        if column.kind == "categorical":
            raise InputError.at(
                f"column {column.name!r}",
                "is categorical, but a threshold cuts numbers",
                remedy="leave threshold out, or make it a column of numbers",
            )
        return replace(column, kind="categorical", levels=interval_labels(cuts), cuts=cuts, declared=True)
