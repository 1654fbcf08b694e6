"""What distributions that read one column at a time from its counted values share: missing cells, silence, parts, samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from merula.core.arrays import Array
from merula.data.encode import Encoded
from merula.distributions.base import BaseFamily, Distribution, Setting, all_shaped, missing_terms
from merula.distributions.gaussian import with_missing
from merula.distributions.priors import MEstimate, Smoothing, checked_smoothing
from merula.stats import Statistic, ValueCounts, Wanted
from merula.stats.moments import refuse_closeness, refuse_distant

CLOSEST = 1e-150  # smaller ranges are refused as this one is; their squares vanish altogether


@dataclass(frozen=True, eq=False)
class ColumnwiseDistribution(Distribution):
    """Columns of numbers, independent given the class; ``lowest`` and ``highest`` are the values met, NaN if there were none.

    A column that never varied says nothing. A subclass writes `column_log_prob`, `column_quantiles` and `draw`, each for
    one column that varies; its fields are a tuple with one entry for each column, an array with columns on its last axis, or what all columns have in common.

    log p = Σ_column log_present + column_log_prob, a missing cell adds log_missing
    """

    columns: tuple[str, ...]
    lowest: Array
    highest: Array
    log_present: Array
    log_missing: Array

    def column_log_prob(self, j: int, x: Array) -> Array:
        """log p(x given class) of column j's values, none of them missing: values × classes."""
        raise TypeError(f"{type(self).__name__} must define column_log_prob")

    def column_quantiles(self, j: int, probabilities: Array) -> Array:
        """Where these shares of column j lie below, given each class: probabilities × classes."""
        raise TypeError(f"{type(self).__name__} must define column_quantiles")

    def draw(self, j: int, classes: NDArray[np.int64], rng: np.random.Generator) -> Array:
        """One value of column j for each row, given the rows' classes."""
        raise TypeError(f"{type(self).__name__} must define draw")

    def check_column(self, j: int, x: Array) -> None:
        """A ValueError naming column j if it holds a value that cannot be."""
        if np.isinf(x).any():
            raise ValueError(
                f"column {self.columns[j]!r} contains infinity; replace it by a number, or by NaN if it is unknown"
            )

    @property
    def varies(self) -> NDArray[np.bool_]:
        """Which columns held more than one value at fit."""
        return np.asarray(self.highest > self.lowest)

    def fits(self, classes: int) -> bool:
        """See `Distribution.fits`."""
        d = len(self.columns)
        return all_shaped((d,), self.lowest, self.highest) and all_shaped(
            (classes, d), self.log_present, self.log_missing
        )

    def add_log_prob(self, rows: Encoded, out: Array) -> None:
        """See `Distribution.add_log_prob`."""
        x = rows.values(self.columns)
        for j, varies in enumerate(self.varies):
            column = x[:, j].astype(np.float64)
            missing = np.isnan(column)
            known: Any = ~missing if missing.any() else slice(None)
            present = column[known]
            self.check_column(j, present)
            if len(present):
                out[known] += self.log_present[:, j] + (self.column_log_prob(j, present) if varies else 0.0)
            out[missing] += self.log_missing[:, j]

    def log_prob(self, rows: Encoded) -> Array:
        """See `Distribution.log_prob`."""
        out = np.zeros((len(rows), len(self.log_present)))
        self.add_log_prob(rows, out)
        return out

    def factors(self) -> tuple[Distribution, ...]:
        """See `Distribution.factors`: one part for each column."""
        return tuple(
            replace(self, **{field.name: _part(getattr(self, field.name), j) for field in fields(self)})
            for j in range(len(self.columns))
        )

    def quantiles(self, column: str, probabilities: Array, classes: int) -> Array:
        """See `Distribution.quantiles`."""
        j = self.columns.index(column)
        if not self.varies[j]:
            return np.full((len(probabilities), classes), np.nan_to_num(self.lowest[j]))
        return self.column_quantiles(j, np.asarray(probabilities, dtype=np.float64))

    def sample(self, classes: NDArray[np.int64], rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        """See `Distribution.sample`."""
        drawn: dict[str, NDArray[Any]] = {
            name: self.draw(j, classes, rng) if self.varies[j] else np.full(len(classes), self.lowest[j])
            for j, name in enumerate(self.columns)
        }
        return with_missing(drawn, self.log_present, self.log_missing, classes, rng)

    @property
    def missing_parameters(self) -> int:
        """The free parameters that say how often cells are missing."""
        return int((self.log_missing != 0).sum())


def _part(field: Any, j: int) -> Any:
    """What a field holds of column j, as a field of that column alone."""
    if isinstance(field, tuple):
        return (field[j],)
    if isinstance(field, Distribution):
        return field.factors()[j]
    if not isinstance(field, np.ndarray):  # what all columns have in common
        return field
    return field[j : j + 1] if field.ndim == 1 else np.ascontiguousarray(field[:, j : j + 1])


class ValueFamily(BaseFamily):
    """What families built from counted values share: the statistic, and the fields every such distribution begins with."""

    kinds: ClassVar[tuple[str, ...]] = ("numeric", "count", "datetime")
    statistic: ClassVar[type[Statistic]] = ValueCounts

    def check(self) -> None:
        """A ValueError if a parameter is none of its values."""

    def wanted(self, columns: Sequence[str]) -> Wanted:
        """See `Family.wanted`."""
        self.check()
        return super().wanted(columns)


def shared_fields(statistic: ValueCounts, setting: Setting) -> tuple[tuple[str, ...], Array, Array, Array, Array]:
    """The fields of a `ColumnwiseDistribution`: columns, lowest, highest, log_present, log_missing."""
    ends = np.array([(met[0], met[-1]) if len(met) else (np.nan, np.nan) for met in statistic.values]).reshape(-1, 2)
    present = np.stack([counts.sum(axis=1) for counts in statistic.counts], axis=1)
    return (
        statistic.columns,
        np.ascontiguousarray(ends[:, 0]),
        np.ascontiguousarray(ends[:, 1]),
        *missing_terms(present, setting.class_weight, setting),
    )


def checked_range(lowest: Array, highest: Array, widest: float, columns: Sequence[str]) -> Array:
    """highest − lowest; a ValueError naming the first column whose values lie too far apart, or too close together."""
    with np.errstate(over="ignore"):
        span = highest - lowest
    refuse_distant(~(span > widest), columns)
    refuse_closeness(np.where(span > 0, np.clip(span, CLOSEST, 1.0) ** 2, 0.0), columns)
    return span


def or_pooled(counts: Array) -> Array:
    """The counts of each class (rows), those of all classes together for a class that has none."""
    return np.where(counts.any(axis=1, keepdims=True), counts, counts.sum(axis=0))


def even_smoothing(own: Any, setting: Setting, columns: Sequence[str]) -> Smoothing:
    """The family's own smoothing, else the classifier's, as a pseudo-count or an `MEstimate` without a belief p.

    The belief of a classifier's m-estimate is about the levels of categorical columns; here its m rows are shared out evenly.
    """
    if own is None:
        shared = setting.smoothing
        return MEstimate(shared.m) if isinstance(shared, MEstimate) else shared
    if isinstance(own, MEstimate) and own.p is not None:
        raise ValueError(
            f"smoothing is {own!r} for {', '.join(map(repr, columns))}: numbers have no levels for p; give MEstimate(m)"
        )
    return checked_smoothing(own, columns)
