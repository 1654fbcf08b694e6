"""The class shares among the nearest kept rows: K_c / K, as a density where distances have a volume."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from merula.core import Array, InputError, Option, one_of
from merula.core.logspace import safe_log
from merula.core.sound import MOST_COUNTED, all_shaped, are_weights, is_one_of
from merula.data.encode import Encoded
from merula.data.schema import Column
from merula.distributions.base import BaseFamily, Distribution, Setting
from merula.distributions.mixed_cells import KeptRowsDistribution, read_cells
from merula.distributions.neighbor_count import best_count
from merula.distributions.neighbor_table import AT_ONCE, NeighborTable
from merula.stats import Rows, Statistic
from merula.stats.moments import NARROWEST, comfortable_unit, refuse_narrow

WEIGHTS, SCALES = ("uniform", "distance"), ("range", "none")
SMALLEST = 1e-9  # of the table's diagonal: a ball's radius is not less, so that repeated rows have a density


@dataclass(frozen=True, eq=False, repr=False)
class NeighborDistribution(KeptRowsDistribution):
    """Kept rows, of which the `neighbors` nearest speak: K_c of them for class c, K in all.

    log p(row given c) = log(K_c / K) − log(n_c / n) + log p(row), log p(row) = log K − log n − log V_d(r)

    r is the distance of the K-th neighbour, V_d(r) the volume of the ball in d columns. p(row) is common to all classes;
    where columns are measured in ranges or kept rows have gaps there is no such volume, and it is left out: the term is then
    log p(row given c) − log p(row). A class without rows is taken to be like all rows; a row with nothing known has term 0.
    """

    class_weight: Array
    neighbors: int
    weights: str
    scale: str

    rows_at_once: ClassVar[int] = AT_ONCE

    def fits(self, classes: int) -> bool:
        if not (super().fits(classes) and all_shaped((classes,), self.class_weight) and type(self.neighbors) is int):
            return False
        weighty = (
            are_weights(self.class_weight) and bool(self.class_weight.any()) and 1 <= self.neighbors <= MOST_COUNTED
        )
        apart = not ((self._range > 0) & (self._range < NARROWEST)).any()  # as `build` demands
        return weighty and apart and is_one_of(self.weights, WEIGHTS) and is_one_of(self.scale, SCALES)

    @cached_property
    def _range(self) -> Array:
        """How far each column's values lie apart; 0 where it was never observed."""
        low, high = np.fmin.reduce(self.cells, axis=0), np.fmax.reduce(self.cells, axis=0)
        return np.where(high > low, high - low, 0.0)

    @cached_property
    def _unit(self) -> float:
        """What distances are measured in, so that their squares neither vanish nor overflow."""
        return comfortable_unit(float(self._range.max(initial=0.0)))

    @cached_property
    def _varying(self) -> NDArray[np.int64]:
        """The columns that hold two values at least: no other says anything."""
        return np.flatnonzero(self._range > 0)

    @cached_property
    def table(self) -> NeighborTable:
        """The kept rows, ready to be searched."""
        is_word = np.array([self.level_sets[j] is not None for j in self._varying], dtype=np.bool_)
        scale = np.where(is_word, 1.0, 1 / (self._unit if self.scale == "none" else self._range[self._varying]))
        cells = self.cells if len(self._varying) == len(self.columns) else np.take(self.cells, self._varying, axis=1)
        return NeighborTable.of(cells, is_word, scale, self.labels, self.weight)

    @property
    def no_density(self) -> str:
        if self.scale == "range":
            return "scale='range' measures numbers in ranges and words by 0 or 1, so a neighbourhood has no volume"
        return "the rows it learned from have gaps, so a neighbourhood has no volume" if self._gaps else ""

    @cached_property
    def _gaps(self) -> bool:
        return bool(np.isnan(self.cells[:, self._varying]).any())

    def log_prob(self, rows: Encoded) -> Array:
        cells = read_cells(rows, self.columns, self.level_sets)[:, self._varying]
        found, radius = self.table.masses(
            cells, np.array([float(self.neighbors)]), self.weights == "distance", len(self.class_weight)
        )
        share = found[:, 0] / found[:, 0].sum(axis=1, keepdims=True)
        seen = self.class_weight > 0
        log_frequency = safe_log(np.where(seen, self.class_weight, 1.0) / self.class_weight.sum())
        terms = np.where(seen, safe_log(np.where(seen, share, 1.0)) - log_frequency, 0.0)
        known = (~np.isnan(cells)).sum(axis=1)
        terms[known == 0] = 0.0
        return terms if self.no_density else terms + self._log_density(radius[:, 0], known)[:, None]

    def _log_density(self, radius: Array, known: NDArray[np.int64]) -> Array:
        """log p(row) = log K − log n − log V_d(r), of the d columns that are known; 0 where there are none."""
        total, smallest = self.class_weight.sum(), SMALLEST * np.sqrt(((self._range / self._unit) ** 2).sum())
        share = np.maximum(known, 1) / max(1, len(self._varying))  # of the columns, for which distances make up
        log_radius = np.log(np.clip(radius * np.sqrt(share), max(smallest, 1e-300), np.finfo(np.float64).max))
        log_volume = known / 2 * np.log(np.pi) - gammaln(known / 2 + 1) + known * (log_radius + np.log(self._unit))
        return np.where(known > 0, np.log(min(float(self.neighbors), total) / total) - log_volume, 0.0)

    @property
    def parameters_count(self) -> int:
        """n / K regions, each with its own class shares (Hastie, Tibshirani & Friedman 2009, section 2.3.3)."""
        return int(np.ceil(self.class_weight.sum() / self.neighbors)) * (len(self.class_weight) - 1)

    def sample(self, classes: NDArray[np.int64], rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        """A ValueError: neighbours tell classes apart, they do not make rows."""
        raise InputError(
            "rows cannot be sampled from their neighbours: shares among kept rows tell classes apart but are no distribution of rows",
            remedy="sample from NaiveBayesClassifier or BayesClassifier",
        )


@dataclass(frozen=True)
class NearestNeighbors(BaseFamily):
    """The family of columns known by their nearest kept rows.

    Parameters
    ----------
    neighbors : int or "auto"
        K, the mass of neighbours asked; "auto" chooses it by leaving each row out.
    weights : "uniform" or "distance"
        Whether neighbours count alike, or 1/distance each.
    scale : "range" or "none"
        Measure numbers in ranges of their column and words by 0 or 1; or numbers as they are.

    Examples
    --------
    >>> import merula as mr
    >>> families = {"numeric": mr.NearestNeighbors(neighbors=3)}
    >>> model = mr.NaiveBayesClassifier(distributions=families).fit([[1.0], [2.0], [4.0], [3.0], [7.0]], list("AAABB"))
    >>> model.predict_proba([[2.4]]).round(4)
    array([[0.6667, 0.3333]])
    """

    neighbors: Any = 5
    weights: str = "uniform"
    scale: str = "range"
    name: ClassVar[str] = "nearest_neighbors"
    no_posterior: ClassVar[str] = "answers by the rows themselves, which are no parameters with a posterior"
    kinds: ClassVar[tuple[str, ...]] = ("numeric", "count", "datetime", "categorical")
    distribution: ClassVar[type[Distribution]] = NeighborDistribution
    statistic: ClassVar[type[Statistic]] = Rows

    def check(self) -> None:
        one_of(self.weights, WEIGHTS, "weights")
        one_of(self.scale, SCALES, "scale")
        whole = isinstance(self.neighbors, int | np.integer) and not isinstance(self.neighbors, bool)
        if self.neighbors != "auto" and not (whole and 1 <= self.neighbors <= MOST_COUNTED):
            raise InputError.of("neighbors", self.neighbors, "'auto' or a whole number from 1")

    def _refuse(self, setting: Setting) -> None:
        """A ValueError where the classifier asks for what distances over shared columns cannot give."""
        if setting.missing == "level":
            raise InputError((Option('missing', 'level'), " makes a gap a level, but neighbours are measured over the columns that both rows know"), where='missing', got='level', remedy=("use ", Option('missing', 'marginalise')))  # fmt: skip
        words = [column.name for column in setting.columns if column.kind == "categorical"]
        if setting.unseen == "smooth" and words:
            raise InputError(
                (
                    Option("unseen", "smooth"),
                    f" smooths the probability of a new level of column {words[0]!r}, but distances have none",
                ),
                where="unseen",
                got="smooth",
                remedy=("use ", Option("unseen", ("missing", "error"))),
            )

    def encodes(self, column: Column) -> Column:
        if column.kind not in self.kinds:
            raise InputError.at(
                f"column {column.name!r}",
                f"is {column.kind}, and neighbours are told by numbers, times and words alone",
                got=column.kind,
                remedy=("say ", Option("kinds", ("categorical", "ignore"), column=column.name)),
            )
        if column.kind == "categorical" and self.scale == "none":
            raise InputError.at(f"column {column.name!r}", ("is categorical, but ", Option('scale', 'none'), " measures numbers as they are"), remedy=("use ", Option('scale', 'range'), ", or ", Option('kinds', 'ignore', column=column.name)))  # fmt: skip
        return column

    def build(self, statistic: Rows, setting: Setting) -> NeighborDistribution:
        self.check()
        self._refuse(setting)
        kept = statistic.ordered([column.levels if column.declared else None for column in setting.columns])
        part = NeighborDistribution(
            kept.columns,
            tuple(None if labels is None else tuple(labels) for labels in kept.labels),
            kept.cells,
            kept.classes,
            kept.weight,
            setting.class_weight,
            1 if self.neighbors == "auto" else int(self.neighbors),
            self.weights,
            self.scale,
        )
        refuse_narrow(part._range, part.columns)
        if self.neighbors != "auto":
            return part
        return replace(part, neighbors=best_count(part.table, self.weights == "distance", setting))
