"""Kept rows: the cells themselves, for models that look for similar rows; `+` puts them one below the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.compiled import kernel
from merula.core.sound import HEAVIEST, LEAST_WEIGHT, all_shaped, are_codes, are_labels, are_names, within
from merula.data.encode import Encoded, Target
from merula.data.schema import Label, resolve_levels
from merula.stats.base import OfColumns
from merula.stats.distinct_rows import MISSING, labelled_codes, unite_labels
from merula.stats.fading import faded_weights
from merula.stats.moments import refuse_overflow

LARGEST = 1e150  # its square, and the sum of many such squares, is still a number
Labels = Sequence[Label] | None


@dataclass(frozen=True, eq=False)
class Rows(OfColumns):
    """``cells[r, j]`` is a number, or an index into ``labels[j]`` where column j holds words; NaN is missing.

    ``labels[j]`` is None for a column of numbers. Row r is of class ``classes[r]`` and stands for ``weight[r]`` rows.
    """

    columns: tuple[str, ...]
    labels: tuple[Labels, ...]
    cells: Array
    classes: NDArray[np.int32]
    weight: Array

    def fits(self, classes: int) -> bool:
        return are_names(self.columns) and are_rows(self.labels, self.cells, self.classes, self.weight, classes)

    @classmethod
    def zero(cls, columns: Sequence[str], _classes: int) -> Rows:
        """Nothing kept yet; rows say their class themselves."""
        d = len(columns)
        return cls(tuple(columns), ((),) * d, np.zeros((0, d)), np.zeros(0, dtype=np.int32), np.zeros(0))

    def update(self, rows: Encoded, target: Target) -> Rows:
        weights = np.ones(len(rows)) if target.weights is None else target.weights
        kept = weights > 0  # rows of weight 0 may hold anything
        labels, cells = _read(rows, self.columns, kept)
        return self + Rows(self.columns, labels, cells, target.codes[kept].astype(np.int32), weights[kept])

    def __add__(self, other: Rows) -> Rows:
        if not len(self.weight):
            return other
        labels, cells = list(self.labels), np.concatenate([self.cells, other.cells])
        for j, (mine, theirs) in enumerate(zip(self.labels, other.labels, strict=True)):
            if mine is not None and theirs is not None and mine is not theirs:
                labels[j], indices = unite_labels(mine, theirs)
                _recode(cells[len(self.cells) :, j], indices)
        return Rows(
            self.columns,
            tuple(labels),
            cells,
            np.concatenate([self.classes, other.classes]),
            np.concatenate([self.weight, other.weight]),
        )

    def scaled(self, factor: float) -> Rows:
        return replace(self, weight=faded_weights(self.weight, factor))

    def with_classes(self, indices: NDArray[np.int64], count: int) -> Rows:
        return replace(self, classes=indices.astype(np.int32)[self.classes])

    def ordered(self, declared: Sequence[tuple[Label, ...] | None]) -> Rows:
        """Levels that were met, sorted (or as declared); equal rows of a class as one, in an order of their content."""
        labels, cells = list(self.labels), self.cells.copy()
        for j, (name, fixed) in enumerate(zip(self.columns, declared, strict=True)):
            met = labels[j]
            if met is not None:
                codes = cells[:, j]
                used = [met[index] for index in np.unique(codes[~np.isnan(codes)]).astype(np.int64).tolist()]
                labels[j] = resolve_levels(name, used, fixed)
                where = {label: index for index, label in enumerate(labels[j] or ())}
                _recode(codes, np.array([*(where.get(label, MISSING) for label in met), MISSING], dtype=np.int32))
        return replace(self, labels=tuple(labels), cells=cells)._merged()

    def _merged(self) -> Rows:
        """Equal rows of a class as one row of their weight, rows in the order of their hashes."""
        hashes = self.hashes()
        order = np.argsort(hashes, kind="stable")
        bits, classes = self.cells.view(np.uint64)[order], self.classes[order]
        same = np.flatnonzero((hashes[order][1:] == hashes[order][:-1]) & (classes[1:] == classes[:-1]))
        same = same[(bits[same] == bits[same + 1]).all(axis=1)] + 1
        first = np.delete(np.arange(len(order)), same)
        weight = np.add.reduceat(self.weight[order], first)
        return replace(self, cells=bits[first].view(np.float64), classes=classes[first], weight=weight)

    def hashes(self) -> NDArray[np.uint64]:
        """A number for each row that depends on its class and what its cells hold, not on where rows or columns stand."""
        keys = np.array([crc32(name.encode()) for name in self.columns], dtype=np.uint64)
        return _hashes(self.cells.view(np.uint64), keys, self.classes)

    def state(self) -> dict[str, Any]:
        return {
            "columns": list(self.columns),
            "labels": [None if labels is None else list(labels) for labels in self.labels],
            "rows": self.cells,
            "class": self.classes,
            "weight": self.weight,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Rows:
        labels = tuple(None if labels is None else tuple(labels) for labels in state["labels"])
        return cls(tuple(state["columns"]), labels, state["rows"], state["class"], state["weight"])


def are_rows(level_sets: Any, cells: Any, labels: Any, weight: Any, classes: int, missing: bool = False) -> bool:
    """True when these are kept rows: a weight and a class each, and cells that are numbers, indices of levels (`missing` may be one), or missing."""
    n, d = len(weight), len(level_sets)
    shaped = n > 0 and all_shaped((n, d), cells) and all_shaped((n,), weight)
    if not shaped or not are_codes(labels, (n,), np.int32, 0, classes) or not within(LEAST_WEIGHT, HEAVIEST, weight):
        return False
    words = [j for j, known in enumerate(level_sets) if known is not None]
    if not all(are_labels(level_sets[j], missing) for j in words):
        return False
    finite = within(-LARGEST, LARGEST, cells) or not (np.abs(cells) > LARGEST).any()  # NaN is missing, and no more
    return finite and all(_are_indices(cells[:, j], len(level_sets[j])) for j in words)


def _are_indices(column: Array, size: int) -> bool:
    whole = (column == np.floor(column)) & (column >= 0) & (column < size)
    return bool((whole | np.isnan(column)).all())


def _read(
    rows: Encoded, columns: Sequence[str], kept: NDArray[np.bool_]
) -> tuple[tuple[Labels, ...], NDArray[np.float64]]:
    """The labels of each column and the cells of the rows that are kept."""
    labels: list[Labels] = [None] * len(columns)
    cells = np.empty((int(kept.sum()), len(columns)))
    numbers = [j for j, name in enumerate(columns) if name in rows.numeric]
    words = [j for j, name in enumerate(columns) if name not in rows.numeric]
    if numbers:
        values = rows.values([columns[j] for j in numbers])
        values = values if kept.all() else values[kept]
        largest = np.fmax.reduce(np.abs(values), axis=0, initial=0.0).astype(np.float64)
        refuse_overflow(values, largest <= LARGEST, [columns[j] for j in numbers])
        cells[:, numbers] = values
    if words:
        met, codes = labelled_codes(rows, [columns[j] for j in words])
        cells[:, words] = np.where(codes[kept] < 0, np.nan, codes[kept])
        for j, own in zip(words, met, strict=True):
            labels[j] = own
    cells[np.isnan(cells)] = np.nan  # one kind of NaN, and of 0: equal rows are then equal bits
    cells += 0.0
    return tuple(labels), cells


def _recode(codes: Array, indices: NDArray[np.int32]) -> None:
    """Replace each code by its new index, in place; missing cells stay missing."""
    moved = indices[np.where(np.isnan(codes), MISSING, codes).astype(np.int64)]
    codes[:] = np.where(moved < 0, np.nan, moved)


@kernel
def mixed(value: Any) -> Any:
    """The bits of a number spread over all of it (Steele, Lea & Flood 2014, splitmix64)."""
    z = value + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def _hashes(cells: NDArray[np.uint64], keys: NDArray[np.uint64], classes: NDArray[np.int32]) -> NDArray[np.uint64]:
    """Each row's cells, mixed with their columns' keys, added up: in any order the same."""
    result = np.empty(len(cells), dtype=np.uint64)
    for column in range(len(keys)):
        keys[column] = mixed(keys[column])
    for row in range(len(cells)):
        total = np.uint64(classes[row])
        for column in range(len(keys)):
            total += mixed(cells[row, column] ^ keys[column])
        result[row] = mixed(total)
    return result
