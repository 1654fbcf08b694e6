"""Counts of whole rows over several categorical columns, missing cells included: only what was met is stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, Option
from merula.core.limits import check_bytes
from merula.core.plain_fields import PlainFields
from merula.core.sound import all_shaped, are_codes, are_labels, are_names, are_weights
from merula.data.encode import Coded, Encoded, Target
from merula.data.schema import Label, resolve_levels
from merula.data.table import codes_of_numbers
from merula.stats.base import moved
from merula.stats.fading import faded_weights
from merula.stats.moments import refuse_overflow
from merula.stats.removal import left_over, used_labels

Cells = NDArray[np.int32]
MISSING = -1
COPIES = 6  # of the counts, from the first to the model


def distinct_rows(cells: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first index of every distinct row, in sorted order, and for each row which of them it is."""
    key = np.zeros(len(cells), dtype=np.int64)
    size = 1
    for column in cells.T:
        low = int(column.min()) if len(column) else 0
        radix = int(column.max()) - low + 1 if len(column) else 1
        if size * radix >= 2**62:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            size = int(key.max()) + 1
        key = key * radix + (column.astype(np.int64) - low)
        size *= radix
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return first, inverse


def sum_rows(values: Array, groups: NDArray[np.int64], count: int) -> Array:
    """Rows of `values` added up by group."""
    return (
        np.stack([np.bincount(groups, column, minlength=count) for column in values.T], axis=1)
        if values.size
        else np.zeros((count, values.shape[1]))
    )


def rows_left(
    cells: Cells, weight: Array, fewer: Cells, gone: Array, told: Callable[[NDArray[Any]], str]
) -> tuple[Cells, Array]:
    """The distinct rows that keep some weight when others are taken away, in order, and the weight of each class there."""
    together = np.concatenate([cells, fewer])
    first, groups = distinct_rows(together)
    whole = sum_rows(np.concatenate([weight, np.zeros_like(gone)]), groups, len(first))
    part = sum_rows(np.concatenate([np.zeros_like(weight), gone]), groups, len(first))
    left = left_over(whole, part, lambda index: told(together[first[index[0]]]))
    kept = left.any(axis=1)
    return together[first][kept], left[kept]


def labelled_codes(
    rows: Encoded, columns: Sequence[str], missing_is_label: bool = False
) -> tuple[tuple[Sequence[Label], ...], Cells]:
    """The labels of each categorical column, and each cell as an index into them; −1 for missing, or that of the label None."""
    tile = rows.codes(columns)
    labels: list[Sequence[Label]] = []
    cells = np.empty(tile.codes.shape, dtype=np.int32, order="F")  # written and read column by column
    for j, slots in enumerate(tile.slots):
        if isinstance(slots, range):
            cells[:, j], met = codes_of_numbers(tile.codes[:, j])
        else:
            cells[:, j], met = tile.codes[:, j], rows.labels(columns[j])
        if missing_is_label and (cells[:, j] < 0).any():
            cells[cells[:, j] < 0, j], met = len(met), (*met, None)
        labels.append(met)
    return tuple(labels), cells


def met_rows(rows: Encoded, words: Sequence[str], numbers: Sequence[str], missing_is_label: bool = False) -> Encoded:
    """These columns of some rows, with no other labels than those that the rows hold."""
    labels, cells = (
        labelled_codes(rows, words, missing_is_label) if words else ((), np.zeros((len(rows), 0), dtype=np.int32))
    )
    coded = {name: _met(cells[:, j], labels[j]) for j, name in enumerate(words)}
    if not numbers:
        return Encoded(0, len(rows), {}, coded)
    values = rows.values(numbers)
    with np.errstate(over="ignore"):
        refuse_overflow(values, ~np.isinf(values.astype(np.float64) ** 2).any(axis=0), numbers)
    return Encoded(0, len(rows), dict(zip(numbers, values.T, strict=True)), coded)


def _met(cells: Cells, labels: Sequence[Label]) -> Coded:
    """A column with no other labels than those that its rows hold."""
    held = np.flatnonzero(np.bincount(cells[cells >= 0], minlength=len(labels)))
    codes = np.full(len(labels) + 1, -1, dtype=np.int32)
    codes[held] = np.arange(len(held), dtype=np.int32)
    return Coded(codes[cells], [None, *(labels[index] for index in held.tolist())], -1)


@dataclass(frozen=True, eq=False)
class JointCounts(PlainFields):
    """Distinct rows with the weight of each class: ``cells[r, j]`` is an index into ``labels[j]``, −1 for missing."""

    columns: tuple[str, ...]
    labels: tuple[Sequence[Label], ...]
    cells: Cells
    weight: Array

    def fits(self, classes: int) -> bool:
        known = are_names(self.columns) and len(self.labels) == len(self.columns) and all(map(are_labels, self.labels))
        sizes, n = np.array([len(labels) for labels in self.labels]), len(self.weight)
        shaped = known and are_codes(self.cells, (n, len(self.columns)), np.int32, MISSING, sizes)
        weighed = shaped and all_shaped((n, classes), self.weight) and are_weights(self.weight)
        return weighed and n > 0 and bool(self.weight.any(axis=1).all())

    @classmethod
    def zero(cls, columns: Sequence[str], classes: int) -> JointCounts:
        d = len(columns)
        return cls(tuple(columns), ((),) * d, np.zeros((0, d), dtype=np.int32), np.zeros((0, classes)))

    def update(self, rows: Encoded, target: Target) -> JointCounts:
        labels, cells = labelled_codes(rows, self.columns)
        weights = np.ones(len(cells)) if target.weights is None else target.weights
        kept, classes = weights > 0, self.weight.shape[1]
        cells = cells[kept]
        first, groups = distinct_rows(cells)
        self._check(len(first))
        slots = groups * classes + target.codes[kept]
        per_class = np.bincount(slots, weights[kept], minlength=len(first) * classes).astype(np.float64, copy=False)
        return self + JointCounts(self.columns, labels, cells[first], per_class.reshape(len(first), classes))

    def _check(self, distinct: int) -> None:
        """A `TooLargeError` where so many distinct rows are too many for the weight of each class at each."""
        columns, classes = len(self.columns), self.weight.shape[1]
        what = f"{distinct:,} distinct rows of {columns:,} columns in {classes:,} classes need a joint table"
        remedy = ("model the columns one by one (", Option("distributions", "categorical"), ") or unite classes")
        check_bytes(8.0 * COPIES * distinct * classes, what, remedy)

    def __add__(self, other: JointCounts) -> JointCounts:
        pairs = [unite_labels(mine, theirs) for mine, theirs in zip(self.labels, other.labels, strict=True)]
        moved_cells = other.cells.copy()
        for j, (_, indices) in enumerate(pairs):
            moved_cells[:, j] = indices[other.cells[:, j]]
        cells = np.concatenate([self.cells, moved_cells])
        first, groups = distinct_rows(cells)
        self._check(len(first))
        weight = np.concatenate([self.weight, other.weight])
        return JointCounts(
            self.columns, tuple(united for united, _ in pairs), cells[first], sum_rows(weight, groups, len(first))
        )

    def __sub__(self, other: JointCounts) -> JointCounts:
        pairs = [unite_labels(mine, theirs) for mine, theirs in zip(self.labels, other.labels, strict=True)]
        gone = other.cells.copy()
        for j, (_, indices) in enumerate(pairs):
            gone[:, j] = indices[other.cells[:, j]]
        cells, left = rows_left(self.cells, self.weight, gone, other.weight, lambda row: self._told([one for one, _ in pairs], row))  # fmt: skip
        return JointCounts(self.columns, tuple(united for united, _ in pairs), cells, left).with_met_labels()

    def with_met_labels(self) -> JointCounts:
        """The same with those labels alone that some row holds."""
        cells, labels = self.cells.copy(), []
        for j, known in enumerate(self.labels):
            used, where = used_labels(known, cells[:, j])
            cells[:, j] = where[cells[:, j]]
            labels.append(used)
        return replace(self, labels=tuple(labels), cells=cells)

    def _told(self, labels: Sequence[Sequence[Label]], row: NDArray[Any]) -> str:
        """What an error calls a row of cells."""
        held = {name: None if k < 0 else known[k] for name, known, k in zip(self.columns, labels, row.tolist(), strict=True)}  # fmt: skip
        return f"the row {held}"

    def scaled(self, factor: float) -> JointCounts:
        return replace(self, weight=faded_weights(self.weight, factor))

    def with_classes(self, indices: NDArray[np.int64], count: int) -> JointCounts:
        return JointCounts(self.columns, self.labels, self.cells, moved(self.weight.T, indices, count).T.copy())

    def with_columns(self, columns: Sequence[str]) -> JointCounts:
        order = [self.columns.index(name) for name in columns]
        return JointCounts(tuple(columns), tuple(self.labels[j] for j in order), self.cells[:, order], self.weight)

    def ordered(self, declared: Sequence[tuple[Label, ...] | None], missing_is_level: bool = False) -> JointCounts:
        """Levels that were met, sorted (or as declared), rows sorted; with missing as a level of its own if wanted."""
        cells, levels = np.empty_like(self.cells), []
        for j, (name, labels, fixed) in enumerate(zip(self.columns, self.labels, declared, strict=True)):
            codes = self.cells[:, j]
            used = [labels[index] for index in np.unique(codes[codes >= 0]).tolist()]
            empty = missing_is_level and bool((codes < 0).any())
            wanted = (*resolve_levels(name, used, fixed), *((None,) if empty else ()))
            where = {label: index for index, label in enumerate(wanted)}
            missing = where[None] if empty else MISSING
            cells[:, j] = np.array([*(where.get(label, MISSING) for label in labels), missing], dtype=np.int32)[codes]
            levels.append(wanted)
        first, _ = distinct_rows(cells)
        return JointCounts(self.columns, tuple(levels), cells[first], self.weight[first])


def unite_labels(labels: Sequence[Label], more: Sequence[Label]) -> tuple[Sequence[Label], NDArray[np.int32]]:
    """Both lists of labels as one, and where each of `more` stands in it (missing, last, stays −1)."""
    if labels is more or labels == more:
        return labels, np.array([*range(len(more)), MISSING], dtype=np.int32)
    where = {label: index for index, label in enumerate(labels)}
    for label in more:
        where.setdefault(label, len(where))
    return tuple(where), np.array([*(where[label] for label in more), MISSING], dtype=np.int32)
