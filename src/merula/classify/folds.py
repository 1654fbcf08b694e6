"""Folds that depend on what rows hold, not on where they stand: for every choice that is made out of fold."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.data.encode import Encoded, Target
from merula.data.schema import Schema
from merula.stats.kept_rows import mixed

STEPS = (
    0.7390851332151607 * 2**20
)  # of half a range, at which numbers are told apart: no round number lies on a step's edge


@dataclass(frozen=True, eq=False)
class Some:
    """Some rows by their indices, and the weight that each has there."""

    indices: NDArray[np.int64]
    weights: Array

    def of(self, rows: Encoded, target: Target) -> tuple[Encoded, Target]:
        """The rows themselves, with these weights."""
        return rows.take(self.indices), Target(target.codes[self.indices], target.classes, self.weights)


@dataclass(frozen=True, eq=False)
class Folds:
    """How much of each row's weight lies in each fold: rows × folds; a row of weight 2 lies where two equal rows would."""

    shares: Array

    def __len__(self) -> int:
        return int(self.shares.shape[1])

    def __iter__(self) -> Iterator[tuple[Some, Some]]:
        """For each fold, the rows to learn from and the rows left out."""
        for fold in range(len(self)):
            others = [other for other in range(len(self)) if other != fold]
            yield _heavy(self.shares[:, others].sum(axis=1)), _heavy(self.shares[:, fold])


def _heavy(weights: Array) -> Some:
    indices = np.flatnonzero(weights > 0)
    return Some(indices, weights[indices])


def deal(rows: Encoded, target: Target, schema: Schema, folds: int) -> Folds:
    """Folds of about equal weight in every class: rows in a canonical order, their cumulative weight dealt round.

    The order is that of the classes, then of a hash of what each row holds; equal rows are neighbours and go to different
    folds. Neither the order of rows nor that of columns matters, nor the unit of a number, and a weight of 2 equals the row
    twice.
    """
    weights = np.ones(len(rows)) if target.weights is None else target.weights
    return in_turn(canonical_order(rows, target, schema), weights, folds)


def in_turn(order: NDArray[np.int64], weights: Array, folds: int) -> Folds:
    """Folds of rows that stand in a canonical order already: their cumulative weight, dealt round.

    Examples
    --------
    >>> in_turn(np.array([1, 0, 2]), np.array([1.0, 2.0, 1.0]), 2).shares.tolist()
    [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
    """
    reached = np.cumsum(weights[order])
    shares = np.empty((len(order), folds))
    shares[order] = np.diff(_dealt(np.concatenate([[0.0], reached]), folds), axis=0)
    return Folds(shares)


def _dealt(reached: Array, folds: int) -> Array:
    """The weight that each fold has when this much is dealt, a unit at a time: weights × folds."""
    rounds = np.floor(reached / folds)
    rest = reached - folds * rounds
    return rounds[:, None] + np.clip(rest[:, None] - np.arange(folds), 0.0, 1.0)  # type: ignore[no-any-return]


def canonical_order(rows: Encoded, target: Target, schema: Schema) -> NDArray[np.int64]:
    """The indices of the rows by class, then by a hash of what they hold; numbers too close to be told apart by their order."""
    counted = np.ones(len(rows), dtype=np.bool_) if target.weights is None else target.weights > 0
    cut = [column.name for column in schema.columns if column.cuts is not None]
    hashes = row_hashes(rows, counted, cut)
    numbers = [rows.values((name,))[:, 0] for name in sorted(rows.numeric)]
    return np.lexsort((*numbers, hashes, target.codes))


def row_hashes(rows: Encoded, counted: NDArray[np.bool_], cut: Collection[str] = ()) -> NDArray[np.uint64]:
    """A number for each row that depends on what its cells hold, not on where rows or columns stand, what columns are called or count in.

    Numbers are hashed by how far they lie from the middle of their column's range, levels of columns that were `cut` by which they
    are. A column that holds one value is left out, as are rows that do not count.
    """
    total = np.zeros(len(rows), dtype=np.uint64)
    for name in (*rows.numeric, *rows.coded, *rows.texts):
        total += _cell_hashes(rows, name, counted, name in cut)
    return np.asarray(mixed(total))


def _cell_hashes(rows: Encoded, name: str, counted: NDArray[np.bool_], cut: bool) -> NDArray[np.uint64]:
    """A number for each cell of a column; all 0 where the rows that count hold one value."""
    if name in rows.numeric:
        return number_hashes(rows.values((name,))[:, 0].astype(np.float64), counted)
    if name in rows.texts:
        tokens = rows.texts[name]
        words = np.array([crc32(str(word).encode()) for word in tokens.labels] or [0], dtype=np.uint64)
        amounts = mixed(words[np.asarray(tokens.codes, dtype=np.int64)]) * np.asarray(tokens.counts).astype(np.uint64)
        sums = np.concatenate(([np.uint64(0)], np.cumsum(amounts, dtype=np.uint64)))
        return np.asarray(mixed(sums[tokens.starts[1:]] - sums[tokens.starts[:-1]]))
    coded = rows.coded[name]
    codes = np.asarray(coded.codes[rows.start : rows.stop]).astype(np.int64)
    met, indices = np.unique(codes, return_inverse=True)
    labels = [coded.label(code) for code in met.tolist()]
    known = {label for label, n in zip(labels, np.bincount(indices[counted], minlength=len(met)), strict=True) if n}
    if len(known - {None}) < 2:
        return np.zeros(len(codes), dtype=np.uint64)
    told = map(str, met.tolist()) if cut else map(repr, labels)  # where the cuts lie is no part of what a row holds
    return np.asarray(mixed(np.array([crc32(word.encode()) for word in told], dtype=np.uint64)[indices]))


def number_hashes(values: Array, counted: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Hashes that are the same for a column shifted, rescaled or turned round."""
    known = counted & ~np.isnan(values)
    low, high = (values[known].min(), values[known].max()) if known.any() else (0.0, 0.0)
    if not low < high or not np.isfinite(0.5 * high - 0.5 * low):
        return np.zeros(len(values), dtype=np.uint64)
    away = np.abs((0.5 * values - 0.25 * low - 0.25 * high) / (0.5 * high - 0.5 * low))
    return np.asarray(mixed(np.floor(np.where(known, away, 2.0) * STEPS).astype(np.uint64)))
