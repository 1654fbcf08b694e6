"""Every column given the class, and what one other column adds: weights of both by conditional likelihood.

Σ_j w_j0 · log P(x_j given c) + w_j1 · log (P(x_j given c, x_parent(j)) / P(x_j given c))

Numbers are cut into intervals of equal shares. A column's parent is the one that tells most of it given the class, corrected for chance,
among those that tell more of the class than itself (Sahami 1996, "Learning limited dependence Bayesian classifiers", with one parent).
Estimates back off: uniform, P(v), P(v given c), P(v given c, parent). Weights are learned from terms of rows each left out of the counts.
What a parent adds is 0 where it is missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from merula.classify.folds import Folds
from merula.classify.left_out import LeftOutTerms
from merula.classify.term_weights import ConditionalLikelihood
from merula.core import Array, InputError
from merula.core.sound import all_shaped, are_labels, within
from merula.core.threads import single_blas_thread
from merula.data.encode import Encoded
from merula.data.schema import Label
from merula.distributions import CategoricalDistribution, Distribution
from merula.distributions.base import Added
from merula.distributions.joint_table import level_cells
from merula.distributions.lookups import Axis, Lookup, level_axis
from merula.graphs.dependence.estimates import backed_off, without_one
from merula.stats import PairCounts

PRIOR_ROWS = 2.0  # that an estimate with a parent fewer is worth
RIDGE = 5.0  # rows that hold weights near their common scale
SCALES = (1.0, 0.7, 0.5, 0.35, 0.25, 0.15, 0.1)  # that are tried for it
LARGEST = 300_000  # cells of a table
LARGEST_GAIN = 1e6  # nats


@dataclass(frozen=True, eq=False, repr=False)
class GainDistribution(Distribution):
    """What one column more adds to what is said of another: ``log_table[j]`` is its levels × levels × classes, 0 where either is missing."""

    columns: tuple[str, ...]
    givers: tuple[str, ...]
    level_sets: tuple[tuple[Label, ...], ...]
    giver_levels: tuple[tuple[Label, ...], ...]
    log_table: tuple[Array, ...]

    discrete: ClassVar[bool] = True
    looked_up: ClassVar[bool] = True

    @property
    def parents(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(dict.fromkeys(self.givers))

    @property
    def no_density(self) -> str:
        return "it is what one column adds to another, and no probability"

    @cached_property
    def levels(self) -> Mapping[str, tuple[Label, ...]]:
        return dict(zip((*self.givers, *self.columns), (*self.giver_levels, *self.level_sets), strict=True))

    def factors(self) -> tuple[Distribution, ...]:
        every = (self.columns, self.givers, self.level_sets, self.giver_levels, self.log_table)
        return tuple(GainDistribution(*(one[j : j + 1] for one in every)) for j in range(len(self.columns)))  # type: ignore[arg-type]

    def log_prob(self, rows: Encoded) -> Array:
        out = np.zeros((len(rows), self.log_table[0].shape[2]))
        self.add_log_prob(rows, out)
        return out

    def add_log_prob(self, rows: Encoded, out: Array) -> None:
        names, level_sets = self._read
        cells = level_cells(rows, names, level_sets, unseen="missing")
        for name, giver, table in zip(self.columns, self.givers, self._padded, strict=True):
            out += table[cells[:, names.index(giver)], cells[:, names.index(name)]]

    def split(self, weights: Sequence[float]) -> tuple[tuple[Lookup, ...], tuple[Added, ...]]:
        every = zip(self.givers, self.giver_levels, self.columns, self.level_sets, self.log_table, weights, strict=True)
        return tuple(
            Lookup((_axis(giver, above), _axis(name, own)), weight * table)
            for giver, above, name, own, table, weight in every
            if weight
        ), ()

    @cached_property
    def _read(self) -> tuple[tuple[str, ...], tuple[tuple[Label, ...], ...]]:
        """All columns that are looked at, and their levels: the same objects each time, by which they are known again."""
        return tuple(self.levels), tuple(self.levels.values())

    @cached_property
    def _padded(self) -> list[Array]:
        """The tables with zeros at the end of both axes, where −1 points to."""
        return [np.pad(table, ((0, 1), (0, 1), (0, 0))) for table in self.log_table]

    @property
    def parameters_count(self) -> int:
        return sum((len(table) - 1) * (table.shape[1] - 1) * table.shape[2] for table in self.log_table)

    def sample(self, classes: NDArray[np.int64], rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        raise InputError("rows cannot be drawn from what one column adds to another")

    def fits(self, classes: int) -> bool:
        sizes = {len(self.columns), len(self.givers), len(self.level_sets), len(self.giver_levels), len(self.log_table)}
        known = (
            len(sizes) == 1
            and super().fits(classes)
            and all(are_labels(one, missing=True) for one in (*self.level_sets, *self.giver_levels))
        )
        shapes = [
            (len(above), len(own), classes) for above, own in zip(self.giver_levels, self.level_sets, strict=True)
        ]
        shaped = known and all(all_shaped(shape, table) for shape, table in zip(shapes, self.log_table, strict=True))
        return shaped and all(isinstance(name, str) for name in self.givers) and within(-LARGEST_GAIN, LARGEST_GAIN, *self.log_table)  # fmt: skip


def _axis(column: str, levels: tuple[Label, ...]) -> Axis:
    """A cell for each level; a level that is not known is as if the cell were missing."""
    return level_axis(column, levels, -1, levels.index(None) if None in levels else -1)


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows as codes of levels, columns × rows with −1 for missing; the columns' levels, the rows' classes and weights."""

    columns: tuple[str, ...]
    level_sets: tuple[tuple[Label, ...], ...]
    codes: NDArray[np.int32]
    labels: NDArray[np.int64]
    weights: Array
    classes: int

    @classmethod
    def of(cls, rows: Encoded, level_sets: Mapping[str, tuple[Label, ...]], labels: NDArray[np.int64], weights: Array, classes: int) -> Cells:  # fmt: skip
        """The rows of these columns; those that do not vary are left out."""
        known = {name: levels for name, levels in level_sets.items() if len(levels) > 1}
        names, levels = tuple(known), tuple(known.values())
        codes = (
            level_cells(rows, names, levels, unseen="missing") if names else np.zeros((len(rows), 0), dtype=np.int32)
        )
        return cls(names, levels, np.ascontiguousarray(codes.T), labels, weights, classes)

    def counted(self, weights: Array) -> PairCounts:
        """How often levels of any two columns meet in each class, rows of these weights."""
        some = np.flatnonzero(weights > 0)
        labels = [range(len(levels)) for levels in self.level_sets]
        zero = PairCounts.zero(self.columns, self.classes)
        return zero.add_codes(labels, np.ascontiguousarray(self.codes[:, some]), self.labels[some], weights[some], n_jobs=1)  # fmt: skip

    def counted_alone(self, weights: Array) -> tuple[Array, ...]:
        """How often each level of a column is met in each class: classes × levels."""
        found = []
        for codes, levels in zip(self.codes, self.level_sets, strict=True):
            known, size = codes >= 0, len(levels)
            cells = self.labels[known] * size + codes[known]
            counts = np.bincount(cells, weights[known], minlength=self.classes * size).astype(np.float64)
            found.append(counts.reshape(-1, size))
        return tuple(found)


@dataclass(frozen=True, eq=False)
class Dependence:
    """For each column the one that it depends on (−1: none), its counts alone (classes × levels) and with that one (classes × levels × levels)."""

    above: tuple[int, ...]
    alone: tuple[Array, ...]
    together: tuple[Array | None, ...]

    @classmethod
    def of(cls, cells: Cells, weights: Array, dependent: bool) -> Dependence:
        """The best parents by rows of these weights."""
        if not dependent:
            return cls((-1,) * len(cells.columns), cells.counted_alone(weights), (None,) * len(cells.columns))
        pairs = cells.counted(weights)
        above = _parents(pairs, cells)
        alone = tuple(pairs.table((name,)) for name in cells.columns)
        together = tuple(pairs.table((cells.columns[i], name)) if i >= 0 else None for i, name in zip(above, cells.columns, strict=True))  # fmt: skip
        return cls(above, alone, together)

    def counts(self, j: int) -> list[Array]:
        """The counts of a column given no parent, and given one where it has one."""
        together = self.together[j]
        return [self.alone[j]] if together is None else [self.alone[j], together]

    def terms(self, cells: Cells, chosen: NDArray[np.int64], left_out: bool) -> Array:
        """The terms of chosen rows, factors × rows × classes: of columns alone, then of those with a parent; each row left out of the counts or not."""
        alone, gains = [], []
        own = cells.labels[chosen]
        for j, i in enumerate(self.above):
            at = cells.codes[j, chosen]
            found = _logs(self.counts(j), left_out)
            alone.append(_looked_up(found[0], (at,), own))
            if i >= 0:
                above = cells.codes[i, chosen]
                gains.append(_looked_up(found[1], (above, at), own) - np.where(above[:, None] >= 0, alone[-1], 0.0))
        return np.array(alone + gains)

    def distributions(self, cells: Cells) -> tuple[Distribution, ...]:
        """What the counts of all rows say."""
        logs = [_logs(self.counts(j), left_out=False) for j in range(len(self.above))]
        nothing = np.zeros((2, cells.classes))
        tables = tuple(np.concatenate([found[0][0].T, nothing]) for found in logs)
        alone = CategoricalDistribution(cells.columns, cells.level_sets, tables)
        with_one = [j for j, i in enumerate(self.above) if i >= 0]
        if not with_one:
            return (alone,)
        gains = tuple(np.ascontiguousarray(np.moveaxis(logs[j][1][0] - logs[j][0][0][:, None], 0, -1)) for j in with_one)  # fmt: skip
        above = [self.above[j] for j in with_one]
        names, givers = (tuple(cells.columns[j] for j in some) for some in (with_one, above))
        own, theirs = (tuple(cells.level_sets[j] for j in some) for some in (with_one, above))
        return alone, GainDistribution(names, givers, own, theirs, gains)


def _parents(pairs: PairCounts, cells: Cells) -> tuple[int, ...]:
    """For each column the best of those that tell more of the class; −1 where none tells more than chance."""
    sizes = np.array([len(levels) for levels in cells.level_sets], dtype=np.float64)
    mass = np.maximum(pairs.pair_weight(), 1.0)
    by_chance = 0.5 * cells.classes * np.outer(sizes - 1, sizes - 1) / mass
    told = (pairs.information() - by_chance).round(12)
    told[np.outer(sizes, sizes) * cells.classes > LARGEST] = -1.0
    of_class = dict(zip(cells.columns, pairs.class_information().round(12).tolist(), strict=True))
    order = sorted(range(len(sizes)), key=lambda j: (-of_class[cells.columns[j]], cells.columns[j]))
    found = [-1] * len(sizes)
    for position, j in enumerate(order):
        best = min(order[:position], key=lambda i: (-told[j, i], cells.columns[i]), default=-1)
        found[j] = best if best >= 0 and told[j, best] > 0 else -1
    return tuple(found)


def _logs(counts: Sequence[Array], left_out: bool) -> list[tuple[Array, Array]]:
    """For each depth the log estimates of a row's own class and of other classes, each row left out of the counts or not."""
    if left_out:
        return [(np.log(one.own), np.log(one.other)) for one in without_one(counts, PRIOR_ROWS)]
    found = [np.log(backed_off(counts[: depth + 1], PRIOR_ROWS).known) for depth in range(len(counts))]
    return [(one, one) for one in found]


def _looked_up(logs: tuple[Array, Array], cells: tuple[NDArray[np.int32], ...], labels: NDArray[np.int64]) -> Array:
    """The estimates of rows × classes at these cells; 0 where one of them is missing."""
    found = np.zeros((len(labels), len(logs[0])))
    known = np.flatnonzero(np.all([cell >= 0 for cell in cells], axis=0))
    at: tuple[Any, ...] = tuple(cell[known] for cell in cells)
    found[known] = logs[1][(slice(None), *at)].T
    found[known, labels[known]] = logs[0][(labels[known], *at)]
    return found


@dataclass(frozen=True, eq=False)
class FittedPairs:
    """Terms of rows × classes by models that have not seen the row; the distributions, with a weight for each factor."""

    terms: Array
    distributions: tuple[Distribution, ...]
    weights: tuple[float, ...]


def fitted_pairs(
    cells: Cells, folds: Folds, log_prior: Array, judged: NDArray[np.int64], dependent: bool = True
) -> FittedPairs:
    """Parents and counts of all rows, weights by those `judged`; and for each row's terms, from the rows of other folds."""
    found = np.zeros((len(cells.labels), cells.classes))
    for fold in range(len(folds)):
        held = folds.shares[:, fold]
        train, rest = folds.training(fold), np.flatnonzero(held > 0)
        model = Dependence.of(cells, train, dependent)
        terms = model.terms(cells, rest, left_out=False)
        share = (held[rest] / cells.weights[rest])[:, None]
        found[rest] += share * np.tensordot(_weights(model, cells, _only(train, judged), log_prior), terms, 1)
    final = Dependence.of(cells, cells.weights, dependent)
    return FittedPairs(found, final.distributions(cells), tuple(_weights(final, cells, _only(cells.weights, judged), log_prior).tolist()))  # fmt: skip


def _only(weights: Array, judged: NDArray[np.int64]) -> Array:
    """The weights of the rows that are judged, 0 for others."""
    found = np.zeros_like(weights)
    found[judged] = weights[judged]
    return found


def _weights(model: Dependence, cells: Cells, weights: Array, log_prior: Array) -> Array:
    """The weights of all factors, near a common scale, under which classes of rows left out are most probable."""
    rows = np.flatnonzero(weights > 0)
    left_out = LeftOutTerms(model.terms(cells, rows, left_out=True), cells.labels[rows], weights[rows], np.zeros(len(rows), dtype=np.int64))  # fmt: skip
    problem = ConditionalLikelihood.of(left_out, log_prior)
    ones = np.ones(len(problem.terms))
    with single_blas_thread:  # products are small, and the same for any number of threads
        losses = {scale: float(f"{float(left_out.weights @ problem.losses(scale * ones)):.12g}") for scale in SCALES}
        scale = min(losses, key=lambda key: losses[key])
        scaled = replace(problem, terms=scale * problem.terms)
        return scale * scaled.polished(left_out.weights, RIDGE * scale**2, ones)
