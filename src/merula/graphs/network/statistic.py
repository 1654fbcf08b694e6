"""What rows say of a network's families, before any prior: counts, moments, and the incomplete rows themselves. They add."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from merula.core.arrays import Array
from merula.data.encode.columns import CodedColumns
from merula.data.schema import Label, sort_labels
from merula.graphs.network.moments import GroupMoments, group_moments, spread, weighed
from merula.graphs.network.tables import LARGEST
from merula.graphs.structure.graph import Graph
from merula.stats.distinct_rows import distinct_rows

Levels = tuple[Label, ...]
Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class FamilyStatistic:
    """The raw statistics of a network's families.

    Parameters
    ----------
    graph
        The parents of each variable; those of a numeric one with the discrete parents first.
    levels
        The levels met or declared; None for a numeric variable.
    declared
        The variables whose levels were stated and do not grow.
    counts
        For each discrete variable the weight of the rows **that lack no discrete cell**: an axis per parent, its levels last.
    rows, weights
        The distinct rows that lack some discrete cell, but not all (−1: missing), sorted, and the weight of each; a column for
        each discrete variable. Expectation-maximisation needs no more than these and the counts, so that it merges.
    moments
        For each numeric variable the moments of its numeric parents and itself, last, within each configuration of its
        discrete parents: of the rows complete in that family.
    columns
        The moments of each numeric variable alone: its scale.
    """

    graph: Graph
    levels: Mapping[str, Levels | None]
    declared: frozenset[str]
    counts: dict[str, Array]
    rows: Codes
    weights: Array
    moments: dict[str, GroupMoments]
    columns: dict[str, GroupMoments]

    @cached_property
    def discrete(self) -> tuple[str, ...]:
        """The variables with levels, in the order of the graph."""
        return tuple(name for name in self.graph if self.levels[name] is not None)

    @cached_property
    def index(self) -> dict[str, int]:
        """The column of each discrete variable in `rows`."""
        return {name: column for column, name in enumerate(self.discrete)}

    def known(self, name: str) -> Levels:
        """The levels of a discrete variable."""
        levels = self.levels[name]
        assert levels is not None
        return levels

    def discrete_parents(self, name: str) -> tuple[str, ...]:
        """The parents with levels."""
        return tuple(parent for parent in self.graph[name] if self.levels[parent] is not None)

    def numeric_parents(self, name: str) -> tuple[str, ...]:
        """The parents that are numbers."""
        return tuple(parent for parent in self.graph[name] if self.levels[parent] is None)

    def shape(self, names: Sequence[str]) -> tuple[int, ...]:
        """The numbers of levels of some discrete variables."""
        return tuple(len(self.known(name)) for name in names)

    def family(self, name: str) -> tuple[str, ...]:
        """A discrete variable's parents and, last, itself: the axes of its counts."""
        return (*self.graph[name], name)

    def available(self, names: Sequence[str]) -> Array:
        """The weight of all rows that lack none of these discrete variables, which are (part of) some variable's family."""
        child = next(name for name in self.discrete if set(names) <= set(self.family(name)))
        others = tuple(axis for axis, member in enumerate(self.family(child)) if member not in names)
        left = [member for member in self.family(child) if member in names]
        complete: Array = self.counts[child].sum(axis=others).transpose([left.index(name) for name in names])
        codes = [self.rows[:, self.index[name]] for name in names]
        return complete + counted(codes, self.shape(names), self.weights)

    def never_observed(self) -> tuple[str, ...]:
        """The discrete variables that no row knows."""
        return tuple(
            name
            for name in self.discrete
            if not self.counts[name].any() and not (self.rows[:, self.index[name]] >= 0).any()
        )

    def __add__(self, other: FamilyStatistic) -> FamilyStatistic:
        """The statistic of both tables together; parents are matched by name, levels by label."""
        levels = {name: self._united(name, other) for name in self.graph}
        mine, theirs = self._over(levels), other._in_order_of(self)._over(levels)
        rows, weights = distinct(
            np.concatenate([mine.rows, theirs.rows]), np.concatenate([mine.weights, theirs.weights])
        )
        return replace(
            mine,
            counts={name: mine.counts[name] + theirs.counts[name] for name in mine.counts},
            rows=rows,
            weights=weights,
            moments={name: mine.moments[name] + theirs.moments[name] for name in mine.moments},
            columns={name: mine.columns[name] + theirs.columns[name] for name in mine.columns},
        )

    def _united(self, name: str, other: FamilyStatistic) -> Levels | None:
        mine, theirs = self.levels[name], other.levels[name]
        if (mine is None) != (theirs is None):
            raise ValueError(
                f"{name!r} is numeric in one network and has levels in the other; say kinds= for both alike"
            )
        if mine is None or theirs is None or mine == theirs:
            return mine
        for this, that in ((self, theirs), (other, mine)):
            strange = [label for label in that if label not in this.known(name)]
            if name in this.declared and strange:
                raise ValueError(f"{name!r} has the level {strange[0]!r} in one network only; the other's levels {list(this.known(name))} were stated and do not grow")  # fmt: skip
        return mine if name in self.declared else theirs if name in other.declared else sort_labels({*mine, *theirs})

    def _over(self, levels: Mapping[str, Levels | None]) -> FamilyStatistic:
        """The same statistic with more levels, or with levels in another order."""
        if all(levels[name] == self.levels[name] for name in self.graph):
            return self
        moved = {name: _indices(self.known(name), levels[name]) for name in self.discrete}
        wide = replace(self, levels=levels)
        rows = self.rows.copy()
        for column, name in enumerate(self.discrete):
            rows[:, column] = np.append(moved[name], -1)[self.rows[:, column]]
        return replace(
            wide,
            counts={
                name: spread(table, wide.shape(self.family(name)), [moved[member] for member in self.family(name)])
                for name, table in self.counts.items()
            },
            rows=rows,
            moments={
                name: found.spread_over(
                    wide.shape(self.discrete_parents(name)), [moved[one] for one in self.discrete_parents(name)]
                )
                for name, found in self.moments.items()
            },
        )

    def _in_order_of(self, first: FamilyStatistic) -> FamilyStatistic:
        """The same statistic with variables and parents in the order of another network of the same arcs."""
        if self.graph == first.graph and tuple(self.graph) == tuple(first.graph):
            return self
        counts = {
            name: self.counts[name].transpose([self.family(name).index(member) for member in first.family(name)])
            for name in first.discrete
        }
        moments = {
            name: self.moments[name].reordered(
                [self.discrete_parents(name).index(one) for one in first.discrete_parents(name)],
                [(*self.numeric_parents(name), name).index(one) for one in (*first.numeric_parents(name), name)],
            )
            for name in first.moments
        }
        rows = self.rows[:, [self.index[name] for name in first.discrete]]
        return replace(self, graph=first.graph, counts=counts, rows=rows, moments=moments)


def count_families(graph: Graph, rows: CodedColumns, declared: Collection[str]) -> FamilyStatistic:
    """The statistic of a table; rows of weight 0 do not exist.

    Examples
    --------
    >>> import pandas as pd
    >>> from merula.data.encode.columns import code_columns
    >>> table = pd.DataFrame({"rain": ["no", "yes", "yes"], "wet": ["no", "yes", None]})
    >>> found = count_families({"rain": (), "wet": ("rain",)}, code_columns(table), ())
    >>> found.counts["wet"].tolist(), found.rows.tolist(), found.weights.tolist()
    ([[1.0, 0.0], [0.0, 1.0]], [[1, -1]], [1.0])
    """
    if rows.weights is not None and not rows.weights.all():
        rows = rows.take(rows.weights > 0)
    levels = dict(zip(rows.names, rows.levels, strict=True))
    weights = np.ones(rows.count) if rows.weights is None else rows.weights
    discrete = [name for name in graph if levels[name] is not None]
    codes = {name: rows.codes[rows.positions[name]] for name in discrete}
    lacking = sum((codes[name] < 0).astype(np.int64) for name in discrete) if discrete else np.zeros(rows.count)
    complete, partial = lacking == 0, (lacking > 0) & (lacking < len(discrete))
    counts = {}
    for name in discrete:
        family = (*graph[name], name)
        shape = tuple(len(levels[member] or ()) for member in family)
        _check_size(name, graph[name], shape)
        counts[name] = counted([codes[member][complete] for member in family], shape, weights[complete])
    incomplete = np.stack([codes[name][partial] for name in discrete], axis=1) if discrete else np.zeros((0, 0), np.int32)  # fmt: skip
    moments, columns = _moments(graph, rows, levels, weights)
    return FamilyStatistic(
        graph, levels, frozenset(declared), counts, *distinct(incomplete, weights[partial]), moments, columns
    )


def _moments(
    graph: Graph, rows: CodedColumns, levels: Mapping[str, Levels | None], weights: Array
) -> tuple[dict[str, GroupMoments], dict[str, GroupMoments]]:
    """The moments of every numeric variable within its family, and alone."""
    moments, columns = {}, {}
    for name in graph:
        if levels[name] is not None:
            continue
        parents = [parent for parent in graph[name] if levels[parent] is not None]
        numbers = [rows.values[parent] for parent in graph[name] if levels[parent] is None]
        shape = tuple(len(levels[parent] or ()) for parent in parents)
        _check_size(name, parents, shape)
        index = configuration([rows.codes[rows.positions[parent]] for parent in parents], shape, rows.count)
        moments[name] = group_moments(index, shape, [*numbers, rows.values[name]], weights)
        columns[name] = group_moments(np.zeros(rows.count, np.int64), (), [rows.values[name]], weights)
    return moments, columns


def configuration(codes: Sequence[Codes], shape: Sequence[int], rows: int) -> NDArray[np.int64]:
    """For each row the place of its codes in a flat table of this shape, −1 where one is missing."""
    index, missing = np.zeros(rows, np.int64), np.zeros(rows, np.bool_)
    for column, size in zip(codes, shape, strict=True):
        index = index * size + column
        missing |= column < 0
    index[missing] = -1
    return index


def counted(codes: Sequence[Codes], shape: Sequence[int], weights: Array) -> Array:
    """The weight of the rows in each cell of a table of this shape; rows with a missing code are left out."""
    index = configuration(codes, shape, len(weights))
    met = index >= 0
    return weighed(index[met], weights[met], prod(shape)).reshape(shape)


def distinct(rows: Codes, weights: Array) -> tuple[Codes, Array]:
    """Each row once, sorted, with the weight of all its copies."""
    if not rows.size:
        return rows[:0], weights[:0]
    first, groups = distinct_rows(rows)
    return rows[first], weighed(groups, weights, len(first))


def _indices(labels: Levels, levels: Levels | None) -> NDArray[np.int64]:
    """Where each label stands among the levels."""
    where = {label: index for index, label in enumerate(levels or ())}
    return np.array([where[label] for label in labels], dtype=np.int64)


def _check_size(name: str, parents: Sequence[str], shape: Sequence[int]) -> None:
    if prod(shape) > LARGEST:
        raise ValueError(
            f"the table of {name!r} given {len(parents)} parents would have {prod(shape):.3g} entries, at most {LARGEST:.3g} are kept; give {name!r} fewer parents, or merge levels"
        )
