"""What distributions that read one column at a time from its counted values share: missing cells, silence, parts, samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError
from merula.core.sound import all_shaped, are_finite_or_missing, are_present_and_missing
from merula.data.encode import Encoded
from merula.distributions.base import BaseFamily, IndependentColumns, Setting, missing_terms
from merula.distributions.priors import MEstimate, Smoothing, checked_smoothing
from merula.stats import Statistic, ValueCounts
from merula.stats.moments import refuse_closeness, refuse_distant

FARTHEST = 1e100  # ranges beyond the values met; beyond this, squares would overflow
CLOSEST = 1e-150  # smaller ranges are refused as this one is; their squares vanish altogether


@dataclass(frozen=True, eq=False, repr=False)
class ColumnwiseDistribution(IndependentColumns):
    """Columns of numbers, independent given the class; ``lowest`` and ``highest`` are the values met, NaN if there were none.

    A column that never varied says nothing. A subclass writes `column_log_prob`, `column_quantiles` and `draw`, each for
    one column that varies.

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
            raise InputError.at(
                f"column {self.columns[j]!r}",
                "contains infinity",
                remedy="replace it by a number, or by NaN if it is unknown",
            )

    def near(self, j: int, x: Array) -> Array:
        """Values of column j, no farther out than squares can go."""
        reach = FARTHEST * (self.highest[j] - self.lowest[j])
        return np.clip(x, self.lowest[j] - reach, self.highest[j] + reach)

    @property
    def varies(self) -> NDArray[np.bool_]:
        """Which columns held more than one value at fit."""
        return self.highest > self.lowest

    def fits(self, classes: int) -> bool:
        d = len(self.columns)
        shaped = all_shaped((d,), self.lowest, self.highest) and all_shaped((classes, d), self.log_present, self.log_missing)  # fmt: skip
        ends = shaped and are_finite_or_missing(self.lowest) and are_finite_or_missing(self.highest)
        ordered = ends and bool(
            ((self.lowest <= self.highest) | (np.isnan(self.lowest) & np.isnan(self.highest))).all()
        )
        return ordered and are_present_and_missing(self.log_present, self.log_missing) and super().fits(classes)

    def add_log_prob(self, rows: Encoded, out: Array) -> None:
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

    def quantiles(self, column: str, probabilities: Array, classes: int) -> Array:
        j = self.columns.index(column)
        if not self.varies[j]:
            return np.full((len(probabilities), classes), np.nan_to_num(self.lowest[j]))
        return self.column_quantiles(j, np.asarray(probabilities, dtype=np.float64))

    def sample(self, classes: NDArray[np.int64], rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        drawn: dict[str, NDArray[Any]] = {
            name: self.draw(j, classes, rng) if self.varies[j] else np.full(len(classes), self.lowest[j])
            for j, name in enumerate(self.columns)
        }
        return self.with_missing(drawn, classes, rng)


class ValueFamily(BaseFamily):
    """What families built from counted values share: the statistic, and the fields every such distribution begins with."""

    kinds: ClassVar[tuple[str, ...]] = ("numeric", "count", "datetime")
    statistic: ClassVar[type[Statistic]] = ValueCounts


def shared_fields(statistic: ValueCounts, setting: Setting) -> tuple[tuple[str, ...], Array, Array, Array, Array]:
    """The fields of a `ColumnwiseDistribution`: columns, lowest, highest, log_present, log_missing."""
    ends = np.array([(met[0], met[-1]) if len(met) else (np.nan, np.nan) for met in statistic.values]).reshape(-1, 2)
    return (
        statistic.columns,
        np.ascontiguousarray(ends[:, 0]),
        np.ascontiguousarray(ends[:, 1]),
        *missing_terms(known_cells(statistic), setting.class_weight, setting),
    )


def known_cells(statistic: ValueCounts) -> Array:
    """The weight of the cells that are not missing, classes × columns."""
    return np.stack([counts.sum(axis=1) for counts in statistic.counts], axis=1)


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


def drawn_rows(weights: Array, classes: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """A column of the weights (classes × rows) for each class asked for, as probable as that class's weights say."""
    rows = np.zeros(len(classes), dtype=np.int64)
    for label in np.unique(classes).tolist():
        chosen, share = np.flatnonzero(classes == label), weights[label] / weights[label].sum()
        rows[chosen] = rng.choice(len(share), size=len(chosen), p=share)
    return rows


def even_smoothing(own: Any, setting: Setting, columns: Sequence[str]) -> Smoothing:
    """The family's own smoothing, else the classifier's, as a pseudo-count or an `MEstimate` without a belief p.

    The belief of a classifier's m-estimate is about the levels of categorical columns; here its m rows are shared out evenly.
    """
    if own is None:
        shared = setting.smoothing
        return MEstimate(shared.m) if isinstance(shared, MEstimate) else shared
    if isinstance(own, MEstimate) and own.p is not None:
        raise InputError.at(
            "smoothing",
            f"is {own!r} for {', '.join(map(repr, columns))}: numbers have no levels for p",
            got=own,
            remedy="give MEstimate(m)",
        )
    return checked_smoothing(own, columns)
