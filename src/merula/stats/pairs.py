"""Pairs of columns given the class: which labels meet, and how often; only what was met is stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.compiled import kernel
from merula.core.plain_fields import PlainFields
from merula.core.sound import all_shaped, are_codes, are_labels, are_names, are_weights
from merula.core.threads import for_each_block
from merula.data.encode import Encoded, Target
from merula.data.schema import Label, resolve_levels
from merula.stats.base import moved
from merula.stats.configurations import NO_WEIGHTS, Configurations, Index, count_cells, fill_table, most_cells, numbered
from merula.stats.counts import ClassCounts
from merula.stats.distinct_rows import distinct_rows, labelled_codes, rows_left, sum_rows, unite_labels
from merula.stats.fading import faded_weights
from merula.stats.families import Families, Family
from merula.stats.removal import of_label, used_labels


@dataclass(frozen=True, eq=False)
class PairCounts(PlainFields):
    """For every pair of several columns, each with itself too: the labels that meet, and the weight of each class there.

    ``cells[r]`` is the number of the pair (first column by first column, the second from the first on) and the indices of
    both labels into ``labels``; rows are sorted. A row counts in the pairs in which it lacks no cell.

    Examples
    --------
    >>> from merula.data.encode import encode_rows, encode_target, infer_schema
    >>> from merula.data.table import open_table
    >>> import pandas as pd
    >>> table = open_table(pd.DataFrame({"rain": ["no", "yes", "yes"], "wet": ["no", "yes", "no"]}))
    >>> rows = encode_rows(table, infer_schema(table)[0], True, "rows")
    >>> found = PairCounts.zero(("rain", "wet"), 1).update(rows, encode_target([0, 0, 0], 3))
    >>> found.cells.tolist(), found.weight.ravel().tolist()
    ([[0, 0, 0], [0, 1, 1], [1, 0, 0], [1, 1, 0], [1, 1, 1], [2, 0, 0], [2, 1, 1]], [1.0, 2.0, 1.0, 1.0, 1.0, 2.0, 1.0])
    """

    columns: tuple[str, ...]
    labels: tuple[Sequence[Label], ...]
    cells: NDArray[np.int32]
    weight: Array
    missing_is_label: bool = False

    @classmethod
    def zero(cls, columns: Sequence[str], classes: int, missing_is_label: bool = False) -> PairCounts:
        labels, cells = ((),) * len(columns), np.zeros((0, 3), dtype=np.int32)
        return cls(tuple(columns), labels, cells, np.zeros((0, classes)), missing_is_label)

    def fits(self, classes: int) -> bool:
        """True when its parts fit together and this number of classes; a file from a stranger is asked before it is used."""
        known = (
            are_names(self.columns) and len(self.labels) == len(self.columns) and type(self.missing_is_label) is bool
        )
        if not known or not all(are_labels(labels, self.missing_is_label) for labels in self.labels):
            return False
        n, sides = len(self.weight), np.triu_indices(len(self.columns))
        if not are_codes(self.cells, (n, 3), np.int32, 0, [len(sides[0]), 2**31, 2**31]):
            return False
        sizes = np.array([len(labels) for labels in self.labels])
        named = all((self.cells[:, k + 1] < sizes[side[self.cells[:, 0]]]).all() for k, side in enumerate(sides))
        weighed = all_shaped((n, classes), self.weight) and are_weights(self.weight)
        return named and weighed and bool(_ascend(self.cells))

    def update(self, rows: Encoded, target: Target) -> PairCounts:
        labels, cells = labelled_codes(rows, self.columns, self.missing_is_label)
        return self.add_codes(labels, np.ascontiguousarray(cells.T), target.codes, target.weights, n_jobs=1)

    def add_codes(
        self,
        labels: Sequence[Sequence[Label]],
        codes: Index,
        classes: NDArray[Any],
        weights: Array | None,
        n_jobs: int | None = None,
        step: Callable[[str], None] = lambda _: None,
    ) -> PairCounts:
        """With rows given as codes added, one column after the other; `step` is told which."""
        sizes = np.array([len(known) for known in labels], dtype=np.int64)
        complete: Any = (codes >= 0).all(axis=1)
        count, whole = self.weight.shape[1], bool((classes >= 0).all())
        first = np.concatenate([[0], np.cumsum(np.arange(len(codes), 0, -1))])  # pair of each column with itself

        def with_later(one: int) -> tuple[NDArray[np.int32], Array]:
            base = numbered([classes.astype(np.int32), codes[one]], [count, int(sizes[one])], codes.shape[1])
            fine = complete[one:] & complete[one] & whole
            cells, weight = _meetings(base, count, codes[one:], sizes[one:], fine, weights)
            cells[:, 0] += first[one]
            step(self.columns[one])
            return cells, weight

        found = for_each_block(with_later, len(codes), n_jobs, 1)
        cells, weight = (np.concatenate(parts) for parts in zip(*found, strict=True))
        cells, weight = _sorted(cells, weight)
        return self + replace(self, labels=tuple(labels), cells=cells, weight=weight)

    def __add__(self, other: PairCounts) -> PairCounts:
        if not len(self.cells):
            return other
        united = [unite_labels(mine, theirs) for mine, theirs in zip(self.labels, other.labels, strict=True)]
        theirs = self._recoded(other.cells, [where for _, where in united])
        cells, weight = _sorted(np.concatenate([self.cells, theirs]), np.concatenate([self.weight, other.weight]))
        return replace(self, labels=tuple(labels for labels, _ in united), cells=cells, weight=weight)

    def __sub__(self, other: PairCounts) -> PairCounts:
        united = [unite_labels(mine, theirs) for mine, theirs in zip(self.labels, other.labels, strict=True)]
        gone = self._recoded(other.cells, [where for _, where in united])
        known, sides = [labels for labels, _ in united], np.triu_indices(len(self.columns))

        def told(cell: NDArray[Any]) -> str:
            one, two = (int(side[cell[0]]) for side in sides)
            first = of_label(self.columns[one], known[one][cell[1]])
            return first if one == two else f"{first} beside {of_label(self.columns[two], known[two][cell[2]])}"

        cells, left = rows_left(self.cells, self.weight, gone, other.weight, told)
        return replace(self, labels=tuple(known), cells=cells, weight=left)._without_unused_labels()

    def _without_unused_labels(self) -> PairCounts:
        """The same with those labels alone that some cell holds: each meets itself."""
        alone = [self._rows(j, j) for j in range(len(self.columns))]
        kept = [used_labels(known, self.cells[some, 1]) for known, some in zip(self.labels, alone, strict=True)]
        cells = self._recoded(self.cells, [where for _, where in kept]) if kept else self.cells
        return replace(self, labels=tuple(labels for labels, _ in kept), cells=cells)

    def _recoded(self, cells: NDArray[np.int32], where: Sequence[NDArray[Any]]) -> NDArray[np.int32]:
        """Cells with every label at its new place."""
        found = cells.copy()
        for side, columns in enumerate(np.triu_indices(len(self.columns)), start=1):
            found[:, side] = _looked_up(where, columns[cells[:, 0]], cells[:, side])
        return found

    def scaled(self, factor: float) -> PairCounts:
        return replace(self, weight=faded_weights(self.weight, factor))

    def with_classes(self, indices: NDArray[np.int64], count: int) -> PairCounts:
        return replace(self, weight=moved(self.weight.T, indices, count).T.copy())

    def with_columns(self, columns: Sequence[str]) -> PairCounts:
        """See `Statistic.with_columns`; columns that are not named are left out."""
        rank = np.array([columns.index(name) if name in columns else -1 for name in self.columns], dtype=np.int64)
        one, other = (rank[side][self.cells[:, 0]] for side in np.triu_indices(len(rank)))
        kept = np.flatnonzero((one >= 0) & (other >= 0))
        one, other, cells = one[kept], other[kept], self.cells[kept]
        turned = one > other
        cells[turned, 1:] = cells[turned, :0:-1]
        low, high = np.minimum(one, other), np.maximum(one, other)
        cells[:, 0] = low * len(columns) - low * (low - 1) // 2 + high - low
        order = np.lexsort(cells.T[::-1])
        labels = tuple(self.labels[self.columns.index(name)] for name in columns)
        return replace(self, columns=tuple(columns), labels=labels, cells=cells[order], weight=self.weight[kept][order])

    def ordered(self, declared: Sequence[tuple[Label, ...] | None], missing_is_level: bool = False) -> PairCounts:
        """Labels that were met, sorted (or as declared); missing among them, last, if it is to be a level of its own."""
        one, other = np.triu_indices(len(self.columns))
        where, levels = [], []
        for j, (name, labels, fixed) in enumerate(zip(self.columns, self.labels, declared, strict=True)):
            met = [labels[index] for index in self.cells[self._rows(j, j), 1].tolist()]
            known = resolve_levels(name, (label for label in met if label is not None), fixed)
            levels.append((*known, None) if missing_is_level and None in met else known)
            positions = {label: position for position, label in enumerate(levels[-1])}
            where.append(np.array([positions.get(label, -1) for label in labels], dtype=np.int32))
        cells = self.cells.copy()
        for side, columns in enumerate((one, other), start=1):
            cells[:, side] = _looked_up(where, columns[self.cells[:, 0]], cells[:, side])
        kept = np.flatnonzero((cells >= 0).all(axis=1))
        kept = kept[np.lexsort(cells[kept].T[::-1])]
        return replace(self, labels=tuple(levels), cells=cells[kept], weight=self.weight[kept])

    def table(self, names: Sequence[str]) -> Array:
        """The weights of one column, or of two: classes × the labels of each."""
        labels = dict(zip(self.columns, self.labels, strict=True))
        return self._table(names, [len(labels[name]) for name in names])

    def _rows(self, one: int, other: int) -> slice:
        """Where the cells of a pair of columns stand, given by their positions."""
        low, high = min(one, other), max(one, other)
        pair = low * len(self.columns) - low * (low - 1) // 2 + high - low
        return slice(int(self._starts[pair]), int(self._starts[pair + 1]))

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        """Where the cells of each pair begin."""
        d = len(self.columns)
        counts = np.bincount(self.cells[:, 0], minlength=d * (d + 1) // 2)
        return np.concatenate([[0], np.cumsum(counts)])

    def families(self, families: Sequence[Family]) -> Families:
        """The counts of families of one or two of its columns, from rows that lacked no cell."""
        labels = dict(zip(self.columns, self.labels, strict=True))
        within = tuple(ClassCounts(self._table(family.discrete, family.shape(labels)).ravel()) for family in families)
        known = {name: labels[name] for family in families for name in family.discrete}
        return Families(tuple(families), known, self.weight.shape[1], within)

    def _table(self, names: Sequence[str], shape: Sequence[int]) -> Array:
        """The weights of one column, or of two: classes × the labels of each."""
        positions = [self.columns.index(name) for name in names]
        some = self._rows(positions[0], positions[-1])
        table = np.zeros((self.weight.shape[1], *shape))
        where: Any = self.cells[some, 1:].T[:: -1 if positions[0] > positions[-1] else 1]
        table[(slice(None), *where[: len(positions)])] = self.weight[some].T
        return table

    def information(self) -> Array:
        """I(one; other given the class) in nats for every pair of columns: symmetric, 0 on the diagonal.

        I = Σ P(x, y, c) log(P(x, y | c) / (P(x | c) P(y | c))), with P from the rows complete in the pair.
        """
        d = len(self.columns)
        one, other = np.triu_indices(d)
        pair, left, right = self.cells.T
        sizes = np.array([len(known) for known in self.labels], dtype=np.int64)
        left, right = (
            (np.cumsum(sizes[side]) - sizes[side])[pair] + index for side, index in ((one, left), (other, right))
        )
        told, total = np.zeros(len(one)), np.zeros(len(one))
        for counts in self.weight.T:
            ones, others = np.bincount(left, counts)[left], np.bincount(right, counts)[right]
            masses, met = np.bincount(pair, counts, minlength=len(one)), counts > 0
            ratio = np.log(counts[met] / ones[met]) - np.log(others[met] / masses[pair[met]])
            told += np.bincount(pair[met], counts[met] * ratio, minlength=len(one))
            total += masses
        found = np.zeros((d, d))
        found[one, other] = np.maximum(told / np.where(total > 0, total, 1.0), 0.0) * (one < other)
        return found + found.T

    def pair_weight(self) -> Array:
        """The weight of the rows that lack neither column, for every pair of columns."""
        d = len(self.columns)
        found = np.zeros((d, d))
        found[np.triu_indices(d)] = np.bincount(self.cells[:, 0], self.weight.sum(axis=1), minlength=d * (d + 1) // 2)
        return np.maximum(found, found.T)

    def class_information(self) -> Array:
        """I(column; class) in nats for every column, from the rows that know it.

        I = Σ P(x, c) log(P(x, c) / (P(x) P(c)))
        """
        return np.array([_information(self.weight[self._rows(j, j)]) for j in range(len(self.columns))])


def _information(table: Array) -> float:
    """The mutual information of rows and columns of a table of counts, in nats."""
    total = table.sum()
    if not total > 0:
        return 0.0
    expected = table.sum(axis=1, keepdims=True) * (table.sum(axis=0, keepdims=True) / total)
    met = table > 0
    return max(float((table[met] * np.log(table[met] / expected[met])).sum() / total), 0.0)


def _sorted(cells: NDArray[np.int32], weight: Array) -> tuple[NDArray[np.int32], Array]:
    """Each row once, in order, with the weight of all its copies."""
    if _ascend(cells):
        return cells, weight
    first, groups = distinct_rows(cells)
    return cells[first], sum_rows(weight, groups, len(first))


def _looked_up(tables: Sequence[NDArray[Any]], which: NDArray[Any], indices: NDArray[Any]) -> NDArray[Any]:
    """``tables[which[r]][indices[r]]`` for every r."""
    return np.concatenate(tables)[np.cumsum([0, *(len(table) for table in tables)])[which] + indices]


@kernel
def _ascend(cells: NDArray[np.int32]) -> bool:
    """True when every row comes after the one before it, so that all differ."""
    for row in range(1, len(cells)):
        column = 0
        while column < cells.shape[1] - 1 and cells[row, column] == cells[row - 1, column]:
            column += 1
        if cells[row, column] <= cells[row - 1, column]:
            return False
    return True


@kernel
def _fill_tables(
    base: Index,
    codes: Index,
    sizes: NDArray[np.int64],
    complete: NDArray[np.bool_],
    weights: Array,
    starts: NDArray[np.int64],
    tables: Array,
) -> None:
    """The counts of base × each column in turn, laid end to end."""
    for other in range(len(codes)):
        if starts[other + 1] > starts[other]:
            table = tables[starts[other] : starts[other + 1]]
            fill_table(base, codes[other], sizes[other], weights, complete[other], table)


@kernel
def _write_cells(
    tables: Array, starts: NDArray[np.int64], sizes: NDArray[np.int64], cells: NDArray[np.int32], weight: Array
) -> None:
    """The entries that are not 0 as rows: which table, the first column's label, the other's, and the weight of the class."""
    row = 0
    for other in range(len(sizes)):
        for cell in range(starts[other], starts[other + 1]):
            if tables[cell] != 0.0:
                left = (cell - starts[other]) // sizes[other]
                cells[row, 0] = other
                cells[row, 1] = left % sizes[0]
                cells[row, 2] = (cell - starts[other]) % sizes[other]
                weight[row, left // sizes[0]] = tables[cell]
                row += 1


def _meetings(
    base: Configurations,
    classes: int,
    codes: Index,
    sizes: NDArray[np.int64],
    complete: NDArray[np.bool_],
    weights: Array | None,
) -> tuple[NDArray[np.int32], Array]:
    """Where the first column, numbered within each class by `base`, meets itself and each of the others; and how often."""
    fits = base.size * sizes <= most_cells(codes.shape[1])
    starts = np.concatenate([[0], np.cumsum(np.where(fits, base.size * sizes, 0))])
    tables = np.empty(starts[-1])
    _fill_tables(base.index, codes, sizes, complete, NO_WEIGHTS if weights is None else weights, starts, tables)
    wide = {
        other: count_cells(base, codes[other], int(sizes[other]), weights) for other in np.flatnonzero(~fits).tolist()
    }
    row = np.count_nonzero(tables)
    total = row + sum(len(found.counts) for found in wide.values())
    cells, weight = np.empty((total, 3), dtype=np.int32), np.zeros((total, classes))
    _write_cells(tables, starts, sizes, cells, weight)
    for other, found in wide.items():
        rows = np.arange(row, row + len(found.counts))
        label, left = np.divmod(found.left, sizes[0])
        cells[rows] = np.stack([np.full(len(rows), other), left, found.right], axis=1)
        weight[rows, label], row = found.counts, row + len(rows)
    return cells, weight
