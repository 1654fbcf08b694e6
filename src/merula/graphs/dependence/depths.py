"""Dependent columns whose parents speak one after the other: what each adds to the log probability is a term of its own.

term 0 = log P(x given c); term d = log P(x given c, p_1 … p_d) − log P(x given c, p_1 … p_d−1)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from merula.core import Array
from merula.core.logspace import times
from merula.core.sound import all_shaped, are_log_shares, are_logs
from merula.data.encode import Encoded
from merula.data.schema import Label
from merula.distributions.base import Distribution, Setting
from merula.graphs.dependence import _kernels as kernels
from merula.graphs.dependence.columns import Cells, DependentColumns
from merula.graphs.dependence.estimates import checked, estimate
from merula.graphs.dependence.families import Dependent, counts_by_depth, log_table
from merula.graphs.structure.graph import Graph
from merula.stats import PairCounts
from merula.stats.dependence import Dependence
from merula.stats.distinct_rows import MISSING


@dataclass(frozen=True, eq=False)
class DependentByDepth(DependentColumns):
    """The same as `DependentColumns`, with the tables of each column given its first parents too.

    ``shallower[j][d]`` is the table of column j given the class and its first d parents, fewer than all.
    """

    shallower: tuple[tuple[Array, ...], ...] = ()

    def fits(self, classes: int) -> bool:
        if not super().fits(classes) or list(map(len, self.shallower)) != list(map(len, self.parent_sets)):
            return False
        return all(self._is_shallower(j, d, classes) for j in range(len(self.columns)) for d in range(len(self.parent_sets[j])))  # fmt: skip

    def _is_shallower(self, j: int, depth: int, classes: int) -> bool:
        table, levels = self.shallower[j][depth], int(self._sizes[j])
        above = (int(self._sizes[self._where[name]]) for name in self.parent_sets[j][:depth])
        if not all_shaped((*above, levels + 1, classes), table) or not are_logs(table):
            return False
        return not levels or are_log_shares(np.moveaxis(table, -2, 0)[:-1].reshape(levels, -1))

    def factors(self) -> tuple[Distribution, ...]:
        depths = [(name, depth) for name in self.columns for depth in range(len(self.graph[name]) + 1)]
        return tuple(OneDepth((name,), self, depth) for name, depth in depths)

    def weighted(self, weights: Sequence[float]) -> WeightedDepths:
        return WeightedDepths(self, tuple(weights))

    def table(self, j: int, depth: int) -> Array:
        """The log table of column j given the class and its first `depth` parents."""
        return self.log_table[j] if depth == len(self.parent_sets[j]) else self.shallower[j][depth]

    def step(self, j: int, depth: int) -> Array:
        """What the last of these parents adds, as a table with an axis for each of all the column's parents."""
        found = self.table(j, depth)
        if depth:
            found = gained(found, self.table(j, depth - 1)[..., None, :, :])
        later = (1,) * (len(self.parent_sets[j]) - depth)
        return found.reshape(*found.shape[:depth], *later, *found.shape[depth:])

    def term(self, j: int, depth: int, cells: Cells) -> Array:
        """What the last of the first `depth` parents adds in each row, a missing parent summed out of what is weighted."""
        own = self._log_given(j, depth, cells)
        return gained(own, self._log_given(j, depth - 1, cells)) if depth else own

    def _log_given(self, j: int, depth: int, cells: Cells) -> Array:
        """log P(cell given class and its first `depth` parents); a parent that is missing is summed out, given all cells before."""
        found = np.zeros((len(cells), self.class_count))
        parents = [self._where[name] for name in self.parent_sets[j][:depth]]
        known = cells[:, j] != MISSING
        lacking = known & (cells[:, parents] < 0).any(axis=1)
        sure = known & ~lacking
        found[sure] = self.table(j, depth)[(*cells[sure][:, parents].T, self._own(cells[sure], j))]
        if lacking.any():
            found[lacking] = self._with_fewer(j, depth).term_of(self.columns[j], cells[lacking], self.order)
        return found

    def _with_fewer(self, j: int, depth: int) -> DependentColumns:
        """The same columns, of which this one depends on its first parents alone."""
        if depth == len(self.parent_sets[j]):
            return self
        if (j, depth) not in self._fewer:
            parents, tables = list(self.parent_sets), list(self.log_table)
            parents[j], tables[j] = parents[j][:depth], self.table(j, depth)
            whole = DependentColumns(self.columns, self.level_sets, tuple(parents), tuple(tables), self.unseen)
            self._fewer.setdefault((j, depth), whole)
        return self._fewer[j, depth]

    @cached_property
    def _fewer(self) -> dict[tuple[int, int], DependentColumns]:
        """What `_with_fewer` found so far."""
        return {}


def gained(log_prob: Array, with_fewer: Array) -> Array:
    """log P(cell given a parent more) − log P(cell given the others); 0 where these call it impossible already."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(with_fewer), 0.0, log_prob - with_fewer)


@dataclass(frozen=True, eq=False)
class OneDepth(Distribution):
    """What one more parent tells of a column, or the class alone: a log ratio of two probabilities, or one log probability."""

    columns: tuple[str, ...]
    whole: DependentByDepth
    depth: int

    @property
    def parents(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.whole.graph[self.columns[0]][: self.depth]

    @property
    def levels(self) -> Mapping[str, tuple[Label, ...]]:
        return {name: self.whole.levels[name] for name in self.columns}

    @property
    def parameters_count(self) -> int:
        return self.whole.parameters_of(self.columns[0]) if self.parents == self.whole.graph[self.columns[0]] else 0

    def log_prob(self, rows: Encoded) -> Array:
        return self.whole.term(self.whole.columns.index(self.columns[0]), self.depth, self.whole._cells_of(rows))


@dataclass(frozen=True, eq=False)
class WeightedDepths:
    """Σ weight · term over columns and depths: of rows that know all parents one table for each column, looked up."""

    whole: DependentByDepth
    weights: tuple[float, ...]

    @cached_property
    def _by_column(self) -> list[tuple[float, ...]]:
        """The weights of each column by depth."""
        ends = np.cumsum([len(parents) + 1 for parents in self.whole.parent_sets]).tolist()
        return [self.weights[start:end] for start, end in zip([0, *ends], ends, strict=False)]

    @cached_property
    def _table(self) -> Array:
        """Σ_depth weight · term of every column, all end to end as `DependentColumns` stacks its tables."""
        tables = [
            sum((times(weight, self.whole.step(j, depth)) for depth, weight in enumerate(own)), np.zeros_like(table))
            for j, (own, table) in enumerate(zip(self._by_column, self.whole.log_table, strict=True))
        ]
        return np.concatenate([table.reshape(-1, self.whole.class_count) for table in tables])

    def add_log_prob(self, rows: Encoded, out: Array) -> None:
        """Add the weighted sum to `out`."""
        whole, cells = self.whole, self.whole._cells_of(rows)
        first, parents, starts, _ = whole._stacked
        lacking = kernels.add_terms(cells, first, parents, whole._sizes, starts, self._table, out)
        if lacking.any():
            some = cells[lacking]
            out[lacking] += sum(times(weight, whole.term(j, depth, some)) for j, own in enumerate(self._by_column) for depth, weight in enumerate(own))  # fmt: skip


@dataclass(frozen=True)
class DependentInSteps(Dependent):
    """`Dependent`, with what each further parent adds kept apart."""

    name: ClassVar[str] = "dependent_in_steps"
    distribution: ClassVar[type[Distribution]] = DependentByDepth

    def _columns(self, statistic: Dependence, pairs: PairCounts, graph: Graph, setting: Setting) -> DependentByDepth:
        whole = super()._columns(statistic, pairs, graph, setting)
        rule, counts = checked(self.smoothing, pairs.columns), counts_by_depth(statistic, pairs, graph)
        shallower = tuple(
            tuple(
                log_table(estimate(counts[name][: depth + 1], rule, name, whole.levels[name], setting.classes), setting)
                for depth in range(len(graph[name]))
            )
            for name in whole.columns
        )
        return DependentByDepth(whole.columns, whole.level_sets, whole.parent_sets, whole.log_table, whole.unseen, shallower)  # fmt: skip
