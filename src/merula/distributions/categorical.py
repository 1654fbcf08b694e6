"""Independent categorical columns given the class: P(v given c) from smoothed counts. Bernoulli is the case of two levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from merula.core.arrays import Array
from merula.core.logspace import safe_log
from merula.data.encode import Encoded
from merula.data.schema import Column, Label
from merula.data.table import label_array
from merula.distributions._kernels import add_levels
from merula.distributions.base import BaseFamily, Distribution, Setting, all_shaped
from merula.distributions.priors import Smoothing, checked_smoothing, smoothed, unseen_probability
from merula.stats import LevelCounts, Statistic


@dataclass(frozen=True, eq=False)
class CategoricalDistribution(Distribution):
    """``log_table[j][v, c]`` = log P(column j has level v given class c), then one row for missing and one for unseen."""

    columns: tuple[str, ...]
    level_sets: tuple[tuple[Label, ...], ...]
    log_table: tuple[Array, ...]

    @property
    def levels(self) -> Mapping[str, tuple[Label, ...]]:
        """See `Distribution.levels`."""
        return dict(zip(self.columns, self.level_sets, strict=True))

    def fits(self, classes: int) -> bool:
        """See `Distribution.fits`."""
        if not len(self.columns) == len(self.level_sets) == len(self.log_table):
            return False
        pairs = zip(self.level_sets, self.log_table, strict=True)
        return all(all_shaped((len(levels) + 2, classes), table) for levels, table in pairs)

    @cached_property
    def _stacked(self) -> tuple[Array, NDArray[np.int64]]:
        """All tables end to end, and where each begins."""
        starts = np.concatenate(([0], np.cumsum([len(table) for table in self.log_table])))
        return np.ascontiguousarray(np.concatenate(self.log_table)), starts

    def add_log_prob(self, rows: Encoded, out: Array) -> None:
        """See `Distribution.add_log_prob`."""
        tile = rows.codes(self.columns)
        indices = rows.level_table(self.columns, self.level_sets)
        table, starts = self._stacked
        unseen = np.zeros(len(self.columns), dtype=np.int64)
        offsets = rows.remember(("offsets", self.columns), lambda: tile.offsets)
        add_levels(tile.codes, tile.shift, tile.width, offsets, indices, starts, table, unseen, out)
        if unseen.any():
            rows.note_unseen(self.columns, unseen)

    def log_prob(self, rows: Encoded) -> Array:
        """See `Distribution.log_prob`."""
        out = np.zeros((len(rows), self.log_table[0].shape[1]))
        self.add_log_prob(rows, out)
        return out

    def factors(self) -> tuple[Distribution, ...]:
        """See `Distribution.factors`: one part for each column."""
        return tuple(
            CategoricalDistribution((name,), (levels,), (table,))
            for name, levels, table in zip(self.columns, self.level_sets, self.log_table, strict=True)
        )

    @property
    def parameters_count(self) -> int:
        """Σ_j classes × (levels − 1)."""
        return sum(
            max(0, len(levels) - 1) * table.shape[1]
            for levels, table in zip(self.level_sets, self.log_table, strict=True)
        )

    def probabilities(self, column: str) -> Array:
        """P(level given class) of one column, levels × classes."""
        position = self.columns.index(column)
        return np.exp(self.log_table[position][: len(self.level_sets[position])])

    def sample(self, classes: NDArray[np.int64], rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        """See `Distribution.sample`."""
        drawn = {}
        for name, levels in zip(self.columns, self.level_sets, strict=True):
            if not levels:
                drawn[name] = np.full(len(classes), None, dtype=object)
                continue
            cumulative = np.cumsum(self.probabilities(name), axis=0).T
            cumulative /= cumulative[:, -1:]
            indices = (rng.random(len(classes))[:, None] >= cumulative[classes]).sum(axis=1)
            drawn[name] = label_array(levels)[indices]
        return drawn


def level_tables(
    statistic: LevelCounts, setting: Setting, smoothing: Smoothing
) -> tuple[tuple[tuple[Label, ...], ...], tuple[Array, ...]]:
    """Each column's levels and its table of log probabilities, with the rows for missing and unseen cells."""
    declared = [column.levels if column.declared else None for column in setting.columns]
    ordered = statistic.ordered(declared)
    level_sets, tables = [], []
    for j, name in enumerate(ordered.columns):
        levels, counts, lost = tuple(ordered.labels[j]), ordered.counts[j], ordered.missing[:, j]
        if setting.missing == "level" and lost.any():
            levels, counts = (*levels, None), np.concatenate([counts, lost[:, None]], axis=1)
        nothing = np.zeros((1, len(counts)))
        unseen = safe_log(unseen_probability(counts, smoothing))[None, :] if setting.unseen == "smooth" else nothing
        known = (
            safe_log(smoothed(counts, smoothing, name, levels, setting.classes)).T
            if levels
            else np.zeros((0, len(counts)))
        )
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
        """See `Family.build`."""
        smoothing = (
            setting.smoothing if self.smoothing is None else checked_smoothing(self.smoothing, statistic.columns)
        )
        level_sets, tables = level_tables(statistic, setting, smoothing)
        return CategoricalDistribution(statistic.columns, level_sets, tables)


@dataclass(frozen=True)
class Bernoulli(Categorical):
    """The family of yes/no columns (false/true or 0/1): P(1 given c) = (n_c1 + α) / (n_c + 2α), both levels always present.

    Parameters
    ----------
    smoothing : None, float or MEstimate
        None takes the classifier's.

    Examples
    --------
    >>> import merula as mr
    >>> model = mr.NaiveBayesClassifier(distributions={"numeric": mr.Bernoulli()}).fit([[1], [1], [0], [0]], [1, 1, 1, 0])
    >>> model.predict_proba([[1]]).round(3).tolist()  # ¼ · ⅓ against ¾ · ⅗
    [[0.156, 0.844]]
    """

    name: ClassVar[str] = "bernoulli"
    kinds: ClassVar[tuple[str, ...]] = ("categorical", "numeric")

    def encodes(self, column: Column) -> Column:
        """See `Family.encodes`: the column with its two levels declared."""
        super().encodes(column)
        if column.levels is not None and len(column.levels) != 2:
            raise ValueError(
                f"column {column.name!r} has levels {list(column.levels)}; the bernoulli distribution needs exactly two"
            )
        return replace(column, kind="categorical", levels=column.levels or (0, 1), declared=True)
