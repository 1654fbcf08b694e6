"""Counts within classes: of classes, of levels and words by label, of the distinct numbers of numeric columns."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError, Message, Option
from merula.core.compiled import kernel
from merula.core.limits import check_bytes, most_bytes
from merula.core.plain_fields import PlainFields
from merula.core.sound import all_paired, all_shaped, are_labels, are_names, are_weights, ascends
from merula.data.encode import WIDEST_RANGE, Encoded, Target
from merula.data.encode.tokens import NO_COUNT
from merula.data.schema import Label, resolve_levels
from merula.data.table import codes_of_numbers
from merula.stats._kernels import class_weights, count_slots, count_tokens
from merula.stats.base import OfColumns, moved, with_weight
from merula.stats.fading import faded_weights
from merula.stats.removal import labels_left, left_over, of_missing

COPIES = 6  # of a table of counts, from the first count to the model: blocks, sums, probabilities and their logarithms


def check_tables(columns: Sequence[str], sizes: Sequence[int], held: str, classes: int, remedy: Message) -> None:
    """A `TooLargeError` naming the widest column where tables of so many entries in each class would be too large together."""
    total = sum(sizes)
    if 8.0 * COPIES * total * classes <= most_bytes():
        return
    widest = int(np.argmax(sizes))
    has = f"column {columns[widest]!r} has {sizes[widest]:,} {held}"
    others = f" (all {len(columns):,} columns: {total:,})" if total > sizes[widest] else ""
    check_bytes(8.0 * COPIES * total * classes, f"{has}{others} in {classes:,} classes, which need tables", remedy)


FEWER_LEVELS = ("leave it out (", Option("kinds", "ignore"), ") or unite rare levels")
FEWER_WORDS = ("leave it out (", Option("kinds", "ignore"), ") or unite classes")
VALUES, FEWER_VALUES = (
    "different values",
    "round its values, or choose a family that does not keep each of them, such as 'gaussian'",
)


def widths(entries: Sequence[Sized], more: Sequence[Sized]) -> list[int]:
    """The number of entries of each column, of two statistics the larger one: what both have in common is not known yet."""
    return [max(len(mine), len(theirs)) for mine, theirs in zip(entries, more, strict=True)]


@dataclass(frozen=True, eq=False)
class ClassCounts(PlainFields):
    """The weight of each class."""

    weight: Array

    def fits(self, classes: int) -> bool:
        return all_shaped((classes,), self.weight) and are_weights(self.weight) and bool(self.weight.any())

    @classmethod
    def zero(cls, _columns: Sequence[str], classes: int) -> ClassCounts:
        """Nothing counted yet; there are no columns to count."""
        return cls(np.zeros(classes))

    def update(self, rows: Encoded, target: Target) -> ClassCounts:
        return ClassCounts(self.weight + class_weights(target.codes, target.weights, len(self.weight)))

    def __add__(self, other: ClassCounts) -> ClassCounts:
        return ClassCounts(self.weight + other.weight)

    def __sub__(self, other: ClassCounts) -> ClassCounts:
        return ClassCounts(left_over(self.weight, other.weight, lambda _: "a class"))

    def scaled(self, factor: float) -> ClassCounts:
        return ClassCounts(faded_weights(self.weight, factor))

    def with_classes(self, indices: NDArray[np.int64], count: int) -> ClassCounts:
        return ClassCounts(moved(self.weight, indices, count))

    def with_columns(self, columns: Sequence[str]) -> ClassCounts:
        """See `Statistic.with_columns`: it counts no column."""
        return self


def are_counted(columns: Any, keys: Any, counts: Any, cells: Any, classes: int) -> bool:
    """True when every column has its keys, the weight of each class at each of them, and one number for each class besides."""
    paired = are_names(columns) and all_paired(columns, keys, counts, lambda known: (classes, len(known)))
    return paired and all_shaped((classes, len(columns)), cells) and are_weights(cells, *counts)


@dataclass(frozen=True, eq=False)
class LevelCounts(OfColumns):
    """For each of several columns: the labels met, the weight of each class and label, and of each class's missing cells.

    ``labels[j][v]`` belongs to ``counts[j][class, v]``; labels stand in no particular order until `ordered`.
    """

    columns: tuple[str, ...]
    labels: tuple[Sequence[Label], ...]
    counts: tuple[Array, ...]
    missing: Array

    def fits(self, classes: int) -> bool:
        counted = are_counted(self.columns, self.labels, self.counts, self.missing, classes)
        return counted and all(map(are_labels, self.labels))

    @classmethod
    def zero(cls, columns: Sequence[str], classes: int) -> LevelCounts:
        d = len(columns)
        return cls(tuple(columns), ((),) * d, (np.zeros((classes, 0)),) * d, np.zeros((classes, d)))

    def update(self, rows: Encoded, target: Target) -> LevelCounts:
        tile = rows.codes(self.columns)
        offsets = tile.offsets
        self._check(np.diff(offsets).tolist())
        counts = np.zeros((len(self.missing), offsets[-1]), dtype=np.int32 if target.weights is None else np.float64)
        count_slots(tile.codes, target.codes, target.weights, tile.shift, tile.width, offsets, counts)
        labels, parts, missing = [], [], np.zeros_like(self.missing)
        for j, slots in enumerate(tile.slots):
            part = counts[:, offsets[j] : offsets[j + 1]].astype(np.float64)
            if part[:, -1].any():
                slots, part = self._recounted(self.columns[j], tile.codes[:, j : j + 1], target)
            if len(slots) and slots[0] is None:
                missing[:, j], slots, part = part[:, 0], rows.labels(self.columns[j]), part[:, 1:]
            labels.append(slots)
            parts.append(part[:, : len(slots)])
        return self + LevelCounts(self.columns, tuple(labels), tuple(parts), missing)

    def _recounted(self, name: str, codes: NDArray[Any], target: Target) -> tuple[Sequence[Label], Array]:
        """One column of integers counted again, over the range it really has."""
        low, high = int(codes.min()), int(codes.max())
        slots: Sequence[Label] = range(low, high + 1)
        if high - low >= WIDEST_RANGE:
            indices, slots = codes_of_numbers(codes[:, 0])
            codes, low = indices[:, None], 0
        check_tables((name,), (len(slots),), "levels", len(self.missing), FEWER_LEVELS)
        counts = np.zeros((len(self.missing), len(slots) + 1))
        one = np.array([len(slots)], dtype=np.int64)
        count_slots(codes, target.codes, target.weights, np.array([low]), one, np.zeros(1, dtype=np.int64), counts)
        return slots, counts

    def __add__(self, other: LevelCounts) -> LevelCounts:
        self._check(widths(self.labels, other.labels))
        labels, counts = zip(*map(merged_counts, self.labels, self.counts, other.labels, other.counts), strict=True)
        return LevelCounts(self.columns, labels, counts, self.missing + other.missing)

    def __sub__(self, other: LevelCounts) -> LevelCounts:
        parts = zip(self.columns, self.labels, self.counts, other.labels, other.counts, strict=True)
        labels, counts = zip(*(labels_left(*part) for part in parts), strict=True)
        return LevelCounts(self.columns, labels, counts, left_over(self.missing, other.missing, of_missing(self.columns)))  # fmt: skip

    def scaled(self, factor: float) -> LevelCounts:
        return replace(self, counts=tuple(faded_weights(part, factor) for part in self.counts), missing=faded_weights(self.missing, factor))  # fmt: skip

    def _check(self, sizes: Sequence[int]) -> None:
        check_tables(self.columns, sizes, "levels", len(self.missing), FEWER_LEVELS)

    def ordered(self, declared: Sequence[tuple[Label, ...] | None]) -> LevelCounts:
        """Levels that were met, sorted; or the declared levels in their own order (any other label is an error)."""
        levels, counts = [], []
        for name, labels, part, fixed in zip(self.columns, self.labels, self.counts, declared, strict=True):
            met = [label for label, weight in zip(labels, part.sum(axis=0).tolist(), strict=True) if weight > 0]
            wanted = resolve_levels(name, met, fixed)
            where = {label: index for index, label in enumerate(labels)}
            padded = np.concatenate([part, np.zeros((len(part), 1))], axis=1)
            counts.append(padded[:, [where.get(label, -1) for label in wanted]])
            levels.append(wanted)
        return LevelCounts(self.columns, tuple(levels), tuple(counts), self.missing)


def merged_counts(
    labels: Sequence[Label], counts: Array, more: Sequence[Label], extra: Array
) -> tuple[Sequence[Label], Array]:
    """Two tables of counts added label by label; labels of weight 0 may drop out."""
    if labels is more or labels == more:
        return labels, counts + extra
    if not len(labels):
        return more, extra
    met = [label for label, weight in zip(more, extra.sum(axis=0).tolist(), strict=True) if weight > 0]
    where = {label: index for index, label in enumerate(labels)}
    united = [*labels, *(label for label in met if label not in where)]
    indices = {label: index for index, label in enumerate(united)}
    result = np.zeros((len(counts), len(united)))
    result[:, : len(labels)] = counts
    source = {label: index for index, label in enumerate(more)}
    result[:, [indices[label] for label in met]] += extra[:, [source[label] for label in met]]
    return tuple(united), result


@dataclass(frozen=True, eq=False)
class TokenCounts(OfColumns):
    """For each of several text columns: the words met, each class's count of each word, and the weight of its texts.

    ``labels[j][v]`` belongs to ``counts[j][class, v]``. With `binary`, a text counts once for each word it holds.
    """

    columns: tuple[str, ...]
    binary: bool
    labels: tuple[Sequence[Label], ...]
    counts: tuple[Array, ...]
    present: Array

    def fits(self, classes: int) -> bool:
        counted = are_counted(self.columns, self.labels, self.counts, self.present, classes)
        return counted and all(map(are_labels, self.labels)) and type(self.binary) is bool

    @classmethod
    def zero(cls, columns: Sequence[str], classes: int, binary: bool = False) -> TokenCounts:
        d = len(columns)
        return cls(tuple(columns), binary, ((),) * d, (np.zeros((classes, 0)),) * d, np.zeros((classes, d)))

    def update(self, rows: Encoded, target: Target) -> TokenCounts:
        labels, counts, present = [], [], np.zeros_like(self.present)
        for j, name in enumerate(self.columns):
            tokens = rows.tokens(name)
            check_tables((name,), (len(tokens.labels),), "words", len(self.present), FEWER_WORDS)
            found = np.zeros((len(self.present), len(tokens.labels)))
            amounts = tokens.starts, tokens.codes, tokens.counts
            if not count_tokens(*amounts, target.codes, target.weights, self.binary, found):
                raise InputError(NO_COUNT)
            lost = np.where(tokens.absent, 1.0 if target.weights is None else target.weights, 0.0)
            absent = np.bincount(target.codes, weights=lost, minlength=len(found))
            present[:, j] = class_weights(target.codes, target.weights, len(found)) - absent
            labels.append(tokens.labels)
            counts.append(found)
        return self + TokenCounts(self.columns, self.binary, tuple(labels), tuple(counts), present)

    def scaled(self, factor: float) -> TokenCounts:
        return replace(self, counts=tuple(faded_weights(part, factor) for part in self.counts), present=faded_weights(self.present, factor))  # fmt: skip

    def __add__(self, other: TokenCounts) -> TokenCounts:
        check_tables(self.columns, widths(self.labels, other.labels), "words", len(self.present), FEWER_WORDS)
        labels, counts = zip(*map(merged_counts, self.labels, self.counts, other.labels, other.counts), strict=True)
        return TokenCounts(self.columns, self.binary, labels, counts, self.present + other.present)

    def __sub__(self, other: TokenCounts) -> TokenCounts:
        parts = zip(self.columns, self.labels, self.counts, other.labels, other.counts, strict=True)
        labels, counts = zip(*(labels_left(*part) for part in parts), strict=True)
        present = left_over(self.present, other.present, lambda index: f"column {self.columns[index[1]]!r}: texts")
        return TokenCounts(self.columns, self.binary, labels, counts, present)


@dataclass(frozen=True, eq=False)
class ValueCounts(OfColumns):
    """For each of several columns: its distinct numbers, the weight of each class at each, and of each class's missing cells.

    ``values[j][v]`` belongs to ``counts[j][class, v]``; values ascend, and each has some weight. It holds as much as the
    columns do when their numbers hardly repeat: classes + 1 numbers for every distinct one.
    """

    columns: tuple[str, ...]
    values: tuple[Array, ...]
    counts: tuple[Array, ...]
    missing: Array

    def fits(self, classes: int) -> bool:
        counted = are_counted(self.columns, self.values, self.counts, self.missing, classes)
        met = counted and all(all_shaped((len(values),), values) and ascends(values) for values in self.values)
        return met and all(bool(part.any(axis=0).all()) for part in self.counts)

    @classmethod
    def zero(cls, columns: Sequence[str], classes: int) -> ValueCounts:
        d = len(columns)
        return cls(tuple(columns), (np.zeros(0),) * d, (np.zeros((classes, 0)),) * d, np.zeros((classes, d)))

    def update(self, rows: Encoded, target: Target) -> ValueCounts:
        x, target = with_weight(rows.values(self.columns), target)
        values, counts, missing = [], [], np.zeros_like(self.missing)
        for j, name in enumerate(self.columns):
            column = np.ascontiguousarray(x[:, j])
            check_values(name, column, len(missing))
            met, part, missing[:, j] = tally(column, np.argsort(column), target.codes, target.weights, len(missing))
            refuse_infinity(met, name)
            values.append(met + 0.0)  # −0 + 0 is 0; compiled loops may take the sum for the value itself
            counts.append(part)
        return self + ValueCounts(self.columns, tuple(values), tuple(counts), missing)

    def __add__(self, other: ValueCounts) -> ValueCounts:
        for name, size in zip(self.columns, widths(self.values, other.values), strict=True):
            check_tables((name,), (size,), VALUES, len(self.missing), FEWER_VALUES)  # they are added one after another
        merged = [
            merged_values(*pair) for pair in zip(self.values, self.counts, other.values, other.counts, strict=True)
        ]
        values, counts = tuple(met for met, _ in merged), tuple(part for _, part in merged)
        return ValueCounts(self.columns, values, counts, self.missing + other.missing)

    def __sub__(self, other: ValueCounts) -> ValueCounts:
        parts = zip(self.columns, self.values, self.counts, other.values, other.counts, strict=True)
        left = [labels_left(name, met.tolist(), own, more.tolist(), part) for name, met, own, more, part in parts]
        missing = left_over(self.missing, other.missing, of_missing(self.columns))
        return ValueCounts(self.columns, tuple(np.array(met, dtype=np.float64) for met, _ in left), tuple(np.ascontiguousarray(part) for _, part in left), missing)  # fmt: skip

    def scaled(self, factor: float) -> ValueCounts:
        return replace(self, counts=tuple(faded_weights(part, factor) for part in self.counts), missing=faded_weights(self.missing, factor))  # fmt: skip


def check_values(name: str, column: Array, classes: int) -> None:
    """A `TooLargeError` where the weights of each class at each different value of a column would be too many."""
    if 8.0 * COPIES * len(column) * classes > most_bytes():  # only then are they counted first
        check_tables((name,), (len(np.unique(column)),), VALUES, classes, FEWER_VALUES)


def refuse_infinity(values: Array, name: str) -> None:
    """An error naming the column if its distinct values, in order, begin or end at infinity."""
    if len(values) and (values[0] == -np.inf or values[-1] == np.inf):
        raise InputError.at(
            f"column {name!r}", "contains infinity", remedy="replace it by a number, or by NaN if it is unknown"
        )


@kernel
def tally(
    column: NDArray[Any], order: NDArray[np.int64], classes: NDArray[Any], weights: Any, count: int
) -> tuple[Array, Array, Array]:
    """The distinct values in sorted order, the weight of each class at each, and of each class's missing cells."""
    present = len(order)
    while present > 0 and column[order[present - 1]] != column[order[present - 1]]:  # NaN is sorted last
        present -= 1
    distinct = 0
    for index in range(present):
        distinct += index == 0 or column[order[index]] != column[order[index - 1]]
    values, counts, missing = np.empty(distinct), np.zeros((count, distinct)), np.zeros(count)
    current = -1
    for index in range(len(order)):
        row = order[index]
        weight = 1.0 if weights is None else weights[row]
        if index >= present:
            missing[classes[row]] += weight
            continue
        if index == 0 or column[row] != column[order[index - 1]]:
            current += 1
            values[current] = column[row]
        counts[classes[row], current] += weight
    return values, counts, missing


def merged_values(values: Array, counts: Array, more: Array, extra: Array) -> tuple[Array, Array]:
    """Two tables of counts added value by value, in order."""
    if not len(more):
        return values, counts
    if not len(values):
        return more, extra
    mine, theirs, size = indices_in_union(values, more)
    united, result = np.empty(size), np.zeros((len(counts), size))
    united[mine], united[theirs] = values, more
    for label in range(len(counts)):
        result[label, mine] = counts[label]
        result[label, theirs] += extra[label]
    return united, result


@kernel
def indices_in_union(values: Array, more: Array) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Where each entry of two ascending lists stands in the list of both, and how long that is."""
    mine, theirs = np.empty(len(values), dtype=np.int64), np.empty(len(more), dtype=np.int64)
    i = j = size = 0
    while i < len(values) and j < len(more):
        mine[i] = theirs[j] = size  # whichever is larger is placed again: no branch that the processor must guess
        take_mine, take_theirs = values[i] <= more[j], more[j] <= values[i]
        i += take_mine
        j += take_theirs
        size += 1
    while i < len(values):
        mine[i] = size
        i += 1
        size += 1
    while j < len(more):
        theirs[j] = size
        j += 1
        size += 1
    return mine, theirs, size
