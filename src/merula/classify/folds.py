"""Folds that depend on what rows hold, not on where they stand: for every choice that is made out of fold."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from merula.core import Array
from merula.data.encode import Encoded, Target
from merula.data.schema import Label, Schema
from merula.stats.kept_rows import mixed

# of half a range, at which numbers are told apart: no round number lies on a step's edge
STEPS = 0.7390851332151607 * 2**20
MOST_UNITS = 2**20  # of weight that are dealt one by one; of more, as many larger ones
DIGITS = 9  # to which sums over a class's rows are the same however these are ordered or weighted


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
            yield _heavy(self.training(fold)), _heavy(self.shares[:, fold])

    def training(self, fold: int) -> Array:
        """The weight of each row in the other folds; a sum, for a difference would leave what rounding does."""
        return np.asarray(np.delete(self.shares, fold, axis=1).sum(axis=1))


def _heavy(weights: Array) -> Some:
    indices = np.flatnonzero(weights > 0)
    return Some(indices, weights[indices])


def deal(rows: Encoded, target: Target, schema: Schema, folds: int) -> Folds:
    """Folds of about equal weight in every class, the same whatever order rows and columns are in and numbers are measured in.

    A weight of 2 equals the row twice. See `dealt`.
    """
    weights = np.ones(len(rows)) if target.weights is None else target.weights
    keys = _keys(rows, target, schema)
    order = np.lexsort(keys)
    order = order[weights[order] > 0]
    new = np.ones(len(order), dtype=np.bool_)
    for key in keys:
        one, other = key[order][1:], key[order][:-1]
        new[1:] &= (one == other) | ((one != one) & (other != other))  # NaN is as good as NaN
    new[1:] = ~new[1:]
    return dealt(order, new, target.codes, weights, folds)


def in_turn(order: NDArray[np.int64], labels: NDArray[Any], weights: Array, folds: int, salt: int = 0) -> Folds:
    """The same for rows that all differ and stand in a canonical order already; another `salt` deals copies otherwise.

    Examples
    --------
    >>> in_turn(np.array([1, 0, 2]), np.zeros(3), np.ones(3), 2).shares.tolist()
    [[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]
    """
    order = order[weights[order] > 0]
    return dealt(order, np.ones(len(order), dtype=np.bool_), labels, weights, folds, salt)


def dealt(order: NDArray[np.int64], new: NDArray[np.bool_], labels: NDArray[Any], weights: Array, folds: int, salt: int = 0) -> Folds:  # fmt: skip
    """Folds of rows in a canonical order, `new` where one differs from the one before: unit by unit of weight, dealt round class by class.

    The first unit of each different row comes where the row stands, its copies come anywhere in its class, by a hash of where it stands
    and of how many came before. Copies that were dealt round one after the other would be spread evenly, more evenly than chance
    spreads them: what is met too often by chance would be so in every fold, and rows left out would confirm it.
    """
    if not len(order):
        return Folds(np.zeros((len(weights), folds)))
    mass, blocks, group = weights[order], _numbered(labels[order]), np.cumsum(new) - 1
    unit = max(1.0, float(mass.sum()) / MOST_UNITS)
    before = np.concatenate([[0.0], np.cumsum(mass)])[:-1]
    start = (before - before[new][group]).round(12)  # of a row within those that equal it
    end = (start + mass).round(12)
    first = np.floor(start / unit)
    count = np.maximum(np.ceil(end / unit) - first, 1).astype(np.int64)
    piece = np.repeat(np.arange(len(order)), count)  # a part of a row that lies in one unit
    number = first[piece] + np.arange(len(piece)) - np.repeat(np.cumsum(count) - count, count)
    copy = mixed(mixed(group[piece].astype(np.uint64) + mixed(np.uint64(salt))) + number.astype(np.uint64))
    anywhere = (copy >> np.uint64(11)).astype(np.float64) * 2.0**-53
    turn = np.lexsort((np.where(number > 0, anywhere, _standing(group, blocks)[piece]), blocks[piece]))
    size = np.minimum(end[piece], (number + 1) * unit) - np.maximum(start[piece], number * unit)
    reached = np.concatenate([[0.0], np.cumsum(np.maximum(size, 0.0)[turn])]) / unit
    given, rows = unit * np.diff(_dealt(reached, folds), axis=0), order[piece[turn]]
    shares = np.column_stack([np.bincount(rows, column, minlength=len(weights)) for column in given.T])
    total = shares.sum(axis=1)  # of very large weights, sums lose digits
    return Folds(shares * np.divide(weights, total, out=np.ones(len(weights)), where=total > 0)[:, None])


def _numbered(labels: NDArray[Any]) -> NDArray[np.int64]:
    """0 for the first label, and one more where another begins."""
    return np.cumsum(np.concatenate([[False], labels[1:] != labels[:-1]]))


def _standing(group: NDArray[np.int64], blocks: NDArray[np.int64]) -> Array:
    """Where each row stands among the different ones of its class, from 0 to 1."""
    first = group[np.flatnonzero(np.diff(blocks, prepend=-1))]
    count = np.diff(np.append(first, group[-1] + 1))
    return (group - first[blocks] + 0.5) / count[blocks]


def uncut(schema: Schema) -> Schema:
    """The same columns with numbers as they are, where a model cuts them into intervals."""
    return Schema(tuple(replace(c, kind="numeric", levels=None, cuts=None, declared=False) if c.cuts is not None else c for c in schema.columns))  # fmt: skip


def like(model: Any, classes: NDArray[Any]) -> Any:
    """A model to be fitted on rows of a fold as this one was on all, of which only these classes are met."""
    other = clone(model.with_choices_fixed())
    if isinstance(model.class_prior, Mapping):
        met = {label: p for label, p in model.class_prior.items() if label in classes.tolist()}
    elif not isinstance(model.class_prior, str):
        met = {label: p for label, p in zip(model.classes_.tolist(), model.class_prior, strict=True) if label in classes.tolist()}  # fmt: skip
    else:
        return other
    total = sum(met.values())
    return other.set_params(class_prior={label: p / total for label, p in met.items()} if total > 0 else "uniform")


def some_of_each(folds: Folds, order: NDArray[np.int64], most: int) -> list[Some]:
    """Of each fold's rows at most so many of all: one in so many units of weight, along a canonical order."""
    mass = folds.shares.sum()
    unit = min(1.0, mass / max(1, int((folds.shares > 0).sum())))
    step = max(1.0, np.ceil(mass / unit / max(1, most)))
    found = []
    for fold in range(len(folds)):
        reached = np.concatenate([[0.0], np.cumsum(folds.shares[order, fold])]) / unit
        rounds = np.floor(reached / step)
        kept = np.diff(rounds + np.clip(reached - step * rounds, 0.0, 1.0)) * unit
        weights = folds.shares[:, fold].copy()
        if step > 1:
            weights[order] = kept
        indices = np.flatnonzero(weights > 0)
        found.append(Some(indices, weights[indices]))
    return found


def _dealt(reached: Array, folds: int) -> Array:
    """The weight that each fold has when this much is dealt, a unit at a time: weights × folds."""
    rounds = np.floor(reached / folds)
    rest = reached - folds * rounds
    return rounds[:, None] + np.clip(rest[:, None] - np.arange(folds), 0.0, 1.0)  # type: ignore[no-any-return]


def canonical_order(rows: Encoded, target: Target, schema: Schema) -> NDArray[np.int64]:
    """The indices of the rows by class, then by a hash of what they hold; rows that it does not tell apart, by the columns' names.

    Classes come in an order that depends on what their rows hold, not on what they are called. Numbers that lie as far from the middle
    of their range come in their order, in a direction that turns with the column.
    """
    return np.lexsort(_keys(rows, target, schema))


def _keys(rows: Encoded, target: Target, schema: Schema) -> tuple[NDArray[Any], ...]:
    """What rows are ordered by, the last first."""
    weights = np.ones(len(rows)) if target.weights is None else target.weights
    cut = [column.name for column in schema.columns if column.cuts is not None]
    cells = dict(_cell_hashes(rows, weights > 0, cut))
    hashes = _mixed_sum(cells.values(), len(rows))
    named = _mixed_sum((mixed(found ^ np.uint64(crc32(name.encode()))) for name, found in cells.items()), len(rows))
    share = (hashes >> np.uint64(11)).astype(np.float64) * 2.0**-53
    content = np.round(np.bincount(target.codes, weights * share), DIGITS)[target.codes]
    numbers = [_turned(_numbers(rows, name), weights * share * content) for name in sorted({*rows.numeric, *cut} & set(cells))]  # fmt: skip
    return (*numbers, named, hashes, np.asarray(target.codes), content)


def _turned(values: Array, weights: Array) -> Array:
    """A column of numbers, turned round if most of its weight lies below the middle of its range."""
    known = (weights > 0) & ~np.isnan(values)
    if not known.any():
        return values
    middle = 0.5 * values[known].min() + 0.5 * values[known].max()
    return -values if float(weights[known] @ (values[known] - middle)) < 0 else values


def row_hashes(rows: Encoded, counted: NDArray[np.bool_], cut: Collection[str] = ()) -> NDArray[np.uint64]:
    """A number for each row that depends on what its cells hold, not on where rows or columns stand, what columns are called or count in.

    Numbers are hashed by how far they lie from the middle of their column's range, and so are the intervals of columns that were `cut`.
    A column that holds one value is left out, as are rows that do not count.
    """
    return _mixed_sum((found for _, found in _cell_hashes(rows, counted, cut)), len(rows))


def _mixed_sum(hashes: Iterable[NDArray[np.uint64]], count: int) -> NDArray[np.uint64]:
    total = np.zeros(count, dtype=np.uint64)
    for found in hashes:
        total += found
    return np.asarray(mixed(total))


def _cell_hashes(
    rows: Encoded, counted: NDArray[np.bool_], cut: Collection[str]
) -> Iterator[tuple[str, NDArray[np.uint64]]]:
    """For each column of which the rows that count hold more than one value, a number for each cell."""
    for name in (*rows.numeric, *rows.coded, *rows.texts):
        of_numbers = name in rows.numeric or name in cut
        found = number_hashes(_numbers(rows, name), counted) if of_numbers else _word_hashes(rows, name, counted)
        if found.any():
            yield name, found


def _numbers(rows: Encoded, name: str) -> Array:
    """The numbers of a column, or those of the intervals that they lie in; NaN for missing."""
    if name in rows.numeric:
        return rows.values((name,))[:, 0].astype(np.float64)
    codes = np.asarray(rows.coded[name].codes[rows.start : rows.stop]).astype(np.float64)
    return np.where(codes < 0, np.nan, codes)


def _word_hashes(rows: Encoded, name: str, counted: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """A number for each cell of a column of words or texts; all 0 where the rows that count hold one word."""
    if name in rows.texts:
        return text_hashes(rows, name)
    coded = rows.coded[name]
    codes = np.asarray(coded.codes[rows.start : rows.stop]).astype(np.int64)
    met, indices = np.unique(codes, return_inverse=True)
    labels = [coded.label(code) for code in met.tolist()]
    known = {label for label, n in zip(labels, np.bincount(indices[counted], minlength=len(met)), strict=True) if n}
    if len(known - {None}) < 2:
        return np.zeros(len(codes), dtype=np.uint64)
    return np.asarray(mixed(np.array([label_hash(label) for label in labels], dtype=np.uint64)[indices]))


def text_hashes(rows: Encoded, name: str) -> NDArray[np.uint64]:
    """A number for each text, by its words and how often each occurs."""
    tokens = rows.tokens(name)
    words = np.array([crc32(str(word).encode()) for word in tokens.labels] or [0], dtype=np.uint64)
    amounts = mixed(words[np.asarray(tokens.codes, dtype=np.int64)]) * np.asarray(tokens.counts).astype(np.uint64)
    sums = np.concatenate(([np.uint64(0)], np.cumsum(amounts, dtype=np.uint64)))
    return np.asarray(mixed(sums[tokens.starts[1:]] - sums[tokens.starts[:-1]]))


def label_hash(label: Label) -> int:
    """A number for a label: the same for 1 and 1.0, which libraries do not tell apart where cells are missing."""
    return crc32(repr(float(label) if isinstance(label, int) else label).encode())


def number_hashes(values: Array, counted: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Hashes that are the same for a column shifted, rescaled or turned round."""
    known = counted & ~np.isnan(values)
    low, high = (values[known].min(), values[known].max()) if known.any() else (0.0, 0.0)
    if not low < high or not np.isfinite(0.5 * high - 0.5 * low):
        return np.zeros(len(values), dtype=np.uint64)
    away = np.abs((0.5 * values - 0.25 * low - 0.25 * high) / (0.5 * high - 0.5 * low))
    return np.asarray(mixed(np.floor(np.where(known, away, 2.0) * STEPS).astype(np.uint64)))
