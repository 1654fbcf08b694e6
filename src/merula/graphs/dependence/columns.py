"""Categorical columns, each given the class and some of the others: log probabilities by looking up, missing parents summed out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.logspace import safe_log
from merula.core.sound import all_shaped, are_labels, are_log_shares, are_logs, are_names, is_one_of
from merula.data.encode import Encoded
from merula.data.schema import Label
from merula.data.table import label_array
from merula.distributions.base import Distribution
from merula.distributions.joint_table import UNKNOWN, level_cells
from merula.graphs.dependence import _kernels as kernels
from merula.graphs.structure.graph import Graph, ancestors, find_cycle, topological_order
from merula.stats.distinct_rows import MISSING, distinct_rows

UNSEEN = ("missing", "error", "smooth")
WIDEST = 2**22  # entries of a junction tree that is filled for each class
Cells = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class DependentColumns(Distribution):
    """Π_j P(column j given class and its parents): the parents are columns of the same block, without a circle.

    ``log_table[j]`` has an axis for each parent, then the column's own levels with one more for a level never met, then the
    classes. A row that lacks a parent is summed over all that it may be.
    """

    columns: tuple[str, ...]
    level_sets: tuple[tuple[Label, ...], ...]
    parent_sets: tuple[tuple[str, ...], ...]
    log_table: tuple[Array, ...]
    unseen: str = "missing"

    @cached_property
    def graph(self) -> Graph:
        """Each column's parents."""
        return dict(zip(self.columns, self.parent_sets, strict=True))

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # what was derived is made anew

    def fits(self, classes: int) -> bool:
        d = len(self.columns)
        if not are_names(self.columns) or not d or not len(self.level_sets) == len(self.parent_sets) == len(self.log_table) == d:  # fmt: skip
            return False
        placed = all(are_names(some) and set(some) <= set(self.columns) for some in self.parent_sets)
        known = all(are_labels(levels, missing=True) for levels in self.level_sets)
        if not placed or not known or find_cycle(self.graph) or not is_one_of(self.unseen, UNSEEN):
            return False
        return all(self._is_table(j, classes) for j in range(d))

    def _is_table(self, j: int, classes: int) -> bool:
        shape = (*(self._sizes[self._where[name]] for name in self.parent_sets[j]), self._sizes[j] + 1, classes)
        table = self.log_table[j]
        if not all_shaped(tuple(map(int, shape)), table) or not are_logs(table):
            return False
        return not self._sizes[j] or are_log_shares(np.moveaxis(table, -2, 0)[:-1].reshape(int(self._sizes[j]), -1))

    # ------------------------------------------------------------------------------------------------ scoring

    @cached_property
    def _where(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.columns)}

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        return np.array([len(levels) for levels in self.level_sets], dtype=np.int64)

    @property
    def class_count(self) -> int:
        """The number of classes."""
        return self.log_table[0].shape[-1]

    @cached_property
    def _stacked(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], Array]:
        """Where each column's parents stand, which they are, where its table begins, and all tables end to end."""
        first = np.cumsum([0, *map(len, self.parent_sets)])
        parents = np.array([self._where[name] for some in self.parent_sets for name in some], dtype=np.int64)
        tables = [table.reshape(-1, self.class_count) for table in self.log_table]
        starts = np.cumsum([0, *map(len, tables)])
        return first, parents, starts, np.concatenate(tables)

    def log_prob(self, rows: Encoded) -> Array:
        out = np.zeros((len(rows), self.class_count))
        self.add_log_prob(rows, out)
        return out

    def add_log_prob(self, rows: Encoded, out: Array) -> None:
        self._add_whole(self._cells_of(rows), out)

    def _add_whole(self, cells: Cells, out: Array) -> None:
        first, parents, starts, table = self._stacked
        lacking = kernels.add_terms(cells, first, parents, self._sizes, starts, table, out)
        if lacking.any():
            out[lacking] += self._summed(cells[lacking])

    def _cells_of(self, rows: Encoded) -> Cells:
        """Each row's levels; −1 for missing, −2 for a level never met, where that has a probability of its own."""
        return level_cells(rows, self.columns, self.level_sets, self.unseen)

    def log_prob_of(self, name: str, rows: Encoded) -> Array:
        """log P(one cell given those before it): what the columns up to this one are told more with it than without.

        In an order in which parents come first, the terms so found add up to the whole, whichever cells are missing.
        """
        return self.term_of(name, self._cells_of(rows), self.order)

    @cached_property
    def order(self) -> list[str]:
        """The columns, parents first."""
        return topological_order(self.graph)

    def term_of(self, name: str, cells: Cells, order: list[str]) -> Array:
        """The same of cells, in any order in which parents come first."""
        with_it = cells.copy()
        with_it[:, [self._where[later] for later in order[order.index(name) + 1 :]]] = MISSING
        without = with_it.copy()
        without[:, self._where[name]] = MISSING
        whole, rest = np.zeros((2, len(cells), self.class_count))
        self._add_whole(with_it, whole)
        self._add_whole(without, rest)
        with np.errstate(invalid="ignore"):
            return np.where(np.isneginf(whole), np.where(np.isneginf(rest), 0.0, -np.inf), whole - rest)

    def _summed(self, cells: Cells) -> Array:
        """log P(known cells given class), the missing ones summed out: by junction trees, or by which cells are missing."""
        found = np.empty((len(cells), self.class_count))
        odd = (cells == UNKNOWN).any(axis=1) if self._trees else np.ones(len(cells), dtype=np.bool_)
        for label, (tree, tables, variables) in enumerate(self._trees):
            some = np.ascontiguousarray(cells[~odd][:, variables])
            found[~odd, label] = tree.log_evidence_of_rows(tables, some, 1)
        if odd.any():
            found[odd] = self._by_pattern(cells[odd])
        return found

    @cached_property
    def _trees(self) -> list[tuple[Any, Any, list[int]]]:
        """A junction tree over all columns for each class; none where they would be too wide."""
        from merula.graphs.factors import TooWideError  # where a parent is missing
        from merula.graphs.network.inference import Inference
        from merula.graphs.network.node import Node

        tables = [np.exp(table[..., :-1, :]) for table in self.log_table]
        some = [
            j for j, size in enumerate(self._sizes.tolist()) if size
        ]  # a column never met has no levels to sum over
        found = []
        try:
            for label in range(self.class_count):
                nodes = {self.columns[j]: Node(self.columns[j], self.level_sets[j], self.parent_sets[j], tables[j][..., label]) for j in some}  # fmt: skip
                tree, filled, variables = Inference(nodes).rows(nodes, None, WIDEST)
                found.append((tree, filled, [some[v] for v in variables]))
            return found
        except TooWideError:
            return []

    def _by_pattern(self, cells: Cells) -> Array:
        """The same by sums over what each set of missing cells leaves open; a level never met is missing to its children."""
        found = np.empty((len(cells), self.class_count))
        first, groups = distinct_rows(np.minimum(cells, 0))
        for index, row in enumerate(first.tolist()):
            own = groups == index
            found[own] = self._over_open(cells[own], self._open(cells[row]))
        return found

    def _open(self, row: Cells) -> list[int]:
        """The columns without a level of their own that something else depends on, directly or through others like them."""
        met = [name for name, cell in zip(self.columns, row, strict=True) if cell != MISSING]
        wanted = ancestors(self.graph, met)
        return [j for j, name in enumerate(self.columns) if row[j] < 0 and name in wanted]

    def _over_open(self, cells: Cells, free: list[int]) -> Array:
        """log Σ_open Π_j P(cell j given parents and class), of rows that leave the same columns open."""
        logs, operands = np.zeros((len(cells), self.class_count)), list[Any]()
        terms = [(j, None) for j in free] + [(j, self._own(cells, j)) for j in range(len(self.columns)) if cells[0, j] != MISSING]  # fmt: skip
        for j, own in terms:
            values, scope = self._given(j, own, cells, free)
            highest = values.max(axis=tuple(range(1, values.ndim - 1)), keepdims=True, initial=-np.inf)
            highest = np.where(np.isneginf(highest), 0.0, highest)
            logs += highest.reshape(len(cells), -1)
            operands += [np.exp(values - highest), [0, *(2 + free.index(v) for v in scope), 1]]
        return logs + safe_log(np.einsum(*operands, [0, 1], optimize="greedy"))

    def _own(self, cells: Cells, j: int) -> NDArray[np.int64]:
        """Where the known cells of a column stand in its table."""
        return np.where(cells[:, j] == UNKNOWN, self._sizes[j], cells[:, j])

    def _given(self, j: int, own: Any, cells: Cells, free: list[int]) -> tuple[Array, list[int]]:
        """log P(column j given parents and class): rows × whatever is open of the column and its parents × classes."""
        scope = [self._where[name] for name in self.parent_sets[j]]
        opened = [v for v in scope if v in free] + ([j] if own is None else [])
        indices = []
        for v in [*scope, j]:
            if v in opened:
                indices.append(np.arange(self._sizes[v]).reshape(1, *(-1 if u == v else 1 for u in opened)))
            else:
                indices.append((own if v == j else cells[:, v]).reshape(-1, *(1,) * len(opened)))
        values = self.log_table[j][tuple(indices)]
        return np.broadcast_to(values, (len(cells), *values.shape[1:])), opened

    def factors(self) -> tuple[Distribution, ...]:
        return tuple(OneOfDependent((name,), self) for name in self.columns)

    def parameters_of(self, name: str) -> int:
        """The free parameters of one column: classes × configurations of its parents × (levels − 1)."""
        sizes = dict(zip(self.columns, self._sizes.tolist(), strict=True))
        return self.class_count * max(0, sizes[name] - 1) * prod(sizes[parent] for parent in self.graph[name])

    @property
    def parameters_count(self) -> int:
        """Σ_j classes × configurations of the parents × (levels − 1)."""
        return sum(map(self.parameters_of, self.columns))

    # ------------------------------------------------------------------------------------------------ sampling

    def sample(self, classes: NDArray[np.int64], rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        drawn: dict[str, NDArray[np.int64]] = {}
        for name in topological_order(self.graph):
            drawn[name] = self._draw(name, classes, [drawn[parent] for parent in self.graph[name]], rng)
        return {name: self._labels(name, drawn[name]) for name in self.columns}

    def _draw(
        self, name: str, classes: NDArray[np.int64], given: Sequence[NDArray[np.int64]], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """A level for each row, given its class and the levels of its parents."""
        shares = np.exp(np.moveaxis(self.log_table[self._where[name]][..., :-1, :], -1, 0)[(classes, *given)])
        reached = np.cumsum(shares, axis=1)
        return (rng.random(len(classes))[:, None] * reached[:, -1:] >= reached).sum(axis=1).clip(0, shares.shape[1] - 1)

    def _labels(self, name: str, codes: NDArray[np.int64]) -> NDArray[Any]:
        levels = self.level_sets[self._where[name]]
        return label_array(levels)[codes] if levels else np.full(len(codes), None, dtype=object)


@dataclass(frozen=True, eq=False)
class OneOfDependent(Distribution):
    """One column of a block of dependent columns: its term given its parents and, where these are missing, given all before it."""

    columns: tuple[str, ...]
    whole: DependentColumns

    @property
    def parents(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.whole.graph[self.columns[0]]

    @property
    def levels(self) -> Mapping[str, tuple[Label, ...]]:
        return {name: self.whole.levels[name] for name in self.columns}

    @property
    def parameters_count(self) -> int:
        return self.whole.parameters_of(self.columns[0])

    def log_prob(self, rows: Encoded) -> Array:
        return self.whole.log_prob_of(self.columns[0], rows)
