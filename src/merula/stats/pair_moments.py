"""Moments of numbers beside other columns, by class: of every pair of numbers, and of numbers within the labels of a word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.limits import check_bytes
from merula.core.plain_fields import PlainFields
from merula.core.sound import LARGEST, all_shaped, are_finite, are_labels, are_names, are_weights, within
from merula.data.encode import Encoded, Target
from merula.data.schema import Label
from merula.stats.base import moved, moved_groups
from merula.stats.distinct_rows import labelled_codes, unite_labels
from merula.stats.fading import faded_weights, shares_left
from merula.stats.moments import TINY, FullMoments, Moments, exact_sum, kept_apart, merge_means, refuse_distant
from merula.stats.removal import Means, squares_left, unmerge_means

COPIES = 10  # of a matrix of pairs, from the first count to the model


@dataclass(frozen=True, eq=False)
class PairMoments(PlainFields):
    """For every pair of numbers and each class: weight, means, squares and products about them, of the rows that know both.

    ``mean[c, i, j]`` is that of column i, ``squares[c, i, j]`` the sum of (x_i − mean_ij)², ``scatter[c, i, j]`` that of
    (x_i − mean_ij)(x_j − mean_ji). A column beside itself has the moments of all rows that know it. ``rest`` is what rounding cut off the means.
    """

    columns: tuple[str, ...]
    weight: Array
    mean: Array
    squares: Array
    scatter: Array
    rest: Array

    @classmethod
    def zero(cls, columns: Sequence[str], classes: int) -> PairMoments:
        d = len(columns)
        check_bytes(8.0 * COPIES * classes * d**2, f"{d:,} numeric columns in {classes:,} classes need moments of pairs", "use fewer columns")  # fmt: skip
        return cls(tuple(columns), *(np.zeros((classes, d, d)) for _ in range(5)))

    def update(self, rows: Encoded, target: Target) -> PairMoments:
        if not self.columns:
            return self
        x = rows.values(self.columns).astype(np.float64)
        weights = np.ones(len(x)) if target.weights is None else target.weights
        found = self.zero(self.columns, len(self.weight))
        for label in np.unique(target.codes).tolist():
            own = target.codes == label
            parts = _moments_of_pairs(x[own], weights[own])
            for field, part in zip((found.weight, found.mean, found.squares, found.scatter, found.rest), parts, strict=True):  # fmt: skip
                field[label] = part
        return self + found

    def __add__(self, other: PairMoments) -> PairMoments:
        mine, theirs = (self.weight, self.mean, self.rest), (other.weight, other.mean, other.rest)
        (weight, mean, rest), apart, count = merge_means(mine, theirs)
        with np.errstate(over="ignore", invalid="ignore"):
            squares = self.squares + other.squares + kept_apart(apart, apart * apart * count)
            scatter = self.scatter + other.scatter + apart * apart.swapaxes(1, 2) * count
        refuse_distant(np.isfinite(squares).all(axis=(0, 2)), self.columns)
        return PairMoments(self.columns, weight, mean, squares, scatter, rest)

    def __sub__(self, other: PairMoments) -> PairMoments:
        if not self.columns:
            return self
        # the last axis is that of the column whose mean it is
        mine, theirs = self._means_last, other._means_last
        left, apart, count = unmerge_means(mine, theirs, self.columns)
        squares = squares_left(mine, theirs, left, self.squares.swapaxes(1, 2), other.squares.swapaxes(1, 2), apart, count, self.columns)  # fmt: skip
        scatter = self.scatter - other.scatter - apart * apart.swapaxes(1, 2) * count
        scatter = np.where(theirs[0] > 0, np.where((squares > 0) & (squares.swapaxes(1, 2) > 0), scatter, 0.0), self.scatter)  # fmt: skip
        weight, mean, rest = (np.ascontiguousarray(part.swapaxes(1, 2)) for part in left)
        return PairMoments(self.columns, weight, mean, np.ascontiguousarray(squares.swapaxes(1, 2)), (scatter + scatter.swapaxes(1, 2)) / 2, rest)  # fmt: skip

    def scaled(self, factor: float) -> PairMoments:
        left = shares_left(self.weight, factor)
        squares = kept_apart(self.squares, self.squares * left)
        return replace(self, weight=faded_weights(self.weight, factor), squares=squares, scatter=self.scatter * left)

    def with_classes(self, indices: NDArray[np.int64], count: int) -> PairMoments:
        parts = (self.weight, self.mean, self.squares, self.scatter, self.rest)
        return PairMoments(self.columns, *(moved(part, indices, count) for part in parts))

    @property
    def _means_last(self) -> Means:
        """Weights, means and rests, the axis of the column whose mean it is last."""
        return self.weight.swapaxes(1, 2), self.mean.swapaxes(1, 2), self.rest.swapaxes(1, 2)

    def alone(self, name: str) -> FullMoments:
        """The moments of one number, a group for each class."""
        i = self.columns.index(name)
        mean, rest = self.mean[:, i, i, None], self.rest[:, i, i, None]
        return FullMoments((name,), self.weight[:, i, i], mean, self.squares[:, i, i, None, None], rest)

    def both(self, one: str, other: str) -> FullMoments:
        """The moments of two numbers, in this order, a group for each class: of the rows that know both."""
        i, j = self.columns.index(one), self.columns.index(other)
        mean, rest = (np.stack([part[:, i, j], part[:, j, i]], axis=1) for part in (self.mean, self.rest))
        left, right = (np.stack(pair, axis=1) for pair in ((self.squares[:, i, j], self.scatter[:, i, j]), (self.scatter[:, i, j], self.squares[:, j, i])))  # fmt: skip
        return FullMoments((one, other), self.weight[:, i, j], mean, np.stack([left, right], axis=1), rest)

    def fits(self, classes: int) -> bool:
        """True when its parts fit together and this number of classes; a file from a stranger is asked before it is used."""
        shape = (classes, len(self.columns), len(self.columns))
        parts = (self.weight, self.mean, self.squares, self.scatter, self.rest)
        if not are_names(self.columns) or not all_shaped(shape, *parts) or not are_finite(*parts):
            return False
        even = all(bool((part == part.swapaxes(1, 2)).all()) for part in (self.weight, self.scatter))
        return even and are_weights(self.weight) and within(0.0, LARGEST, self.squares)


def _moments_of_pairs(x: Array, weights: Array) -> tuple[Array, Array, Array, Array, Array]:
    """Weight, mean, squares, scatter and rest of every pair of columns: from values less a mean of each column, then less their own.

    Σ w·(z_i − m_i)(z_j − m_j) = Σ w·z_i·z_j − Σ w·z_i · Σ w·z_j / Σ w, over the rows that know both.
    """
    known = ~np.isnan(x)
    first = np.where(known.any(axis=0), x[np.argmax(known, axis=0), np.arange(x.shape[1])], 0.0)
    z = np.where(known, x - first, 0.0)
    mass = known.T @ weights
    origin = first + np.divide(weights @ z, mass, out=np.zeros(x.shape[1]), where=mass > 0)
    z = np.where(known, x - origin, 0.0)
    present, weighed = known.astype(np.float64), z * weights[:, None]
    weight = (present * weights[:, None]).T @ present
    sums, squares, products = weighed.T @ present, (weighed * z).T @ present, weighed.T @ z
    vanished = z.any(axis=0) & (np.diagonal(squares) < TINY)
    drift = np.divide(sums, weight, out=np.zeros_like(sums), where=weight > 0)
    mean, rest = exact_sum(np.broadcast_to(origin[:, None], drift.shape), drift)
    scatter = products - drift * sums.T
    met = weight > 0
    scatter = (scatter + scatter.T) / 2
    squares = np.maximum(squares - sums * drift, 0.0)
    squares[vanished, vanished] = TINY
    return (
        (weight + weight.T) / 2,
        np.where(met, mean, 0.0),
        squares,
        np.where(met, scatter, 0.0),
        np.where(met, rest, 0.0),
    )


@dataclass(frozen=True, eq=False)
class LabelMoments:
    """The moments of numbers within each class and label of one word, class by class, of the rows that know both."""

    word: str
    labels: tuple[Label, ...]
    classes: int
    moments: Moments

    @classmethod
    def zero(cls, word: str, numbers: Sequence[str], classes: int) -> LabelMoments:
        """Nothing counted yet, and no label met."""
        return cls(word, (), classes, Moments.zero(tuple(numbers), 0))

    def update(self, rows: Encoded, target: Target) -> LabelMoments:
        if not self.moments.columns:
            return self
        labels, cells = labelled_codes(rows, (self.word,))
        known = np.flatnonzero(cells[:, 0] >= 0)
        if not len(known):
            return self
        some, of = rows.take(known), target.take(known)
        groups = self.classes * len(labels[0])
        codes = of.codes.astype(np.int64) * len(labels[0]) + cells[known, 0]
        found = Moments.zero(self.moments.columns, groups).update(some, Target(codes, np.arange(groups), of.weights))
        return self + LabelMoments(self.word, tuple(labels[0]), self.classes, found)

    def __add__(self, other: LabelMoments) -> LabelMoments:
        labels = tuple(unite_labels(self.labels, other.labels)[0])
        return replace(self, labels=labels, moments=self.over(labels).moments + other.over(labels).moments)

    def __sub__(self, other: LabelMoments) -> LabelMoments:
        labels = tuple(unite_labels(self.labels, other.labels)[0])
        left = self.over(labels).moments - other.over(labels).moments
        if not left.columns:
            return self
        met: Any = left.weight.reshape(self.classes, len(labels), -1).any(axis=(0, 2))
        grid = np.full((self.classes, len(labels)), -1, dtype=np.int64)
        grid[:, met] = np.arange(self.classes * met.sum()).reshape(self.classes, -1)
        kept = tuple(label for label, some in zip(labels, met.tolist(), strict=True) if some)
        return replace(self, labels=kept, moments=left.with_classes(grid.ravel(), self.classes * len(kept)))

    def over(self, labels: Sequence[Label]) -> LabelMoments:
        """The same with these labels, which include its own."""
        grid = np.arange(self.classes * len(labels)).reshape(self.classes, len(labels))
        where = unite_labels(labels, self.labels)[1][:-1]
        return replace(self, labels=tuple(labels), moments=self.moments.with_classes(grid[:, where].ravel(), grid.size))

    def part(self, name: str) -> FullMoments:
        """The moments of one number."""
        j = self.moments.columns.index(name)
        weight, mean, squares, rest = (part[:, j] for part in self.moments._parts)
        return FullMoments((name,), weight, mean[:, None], squares[:, None, None], rest[:, None])

    def scaled(self, factor: float) -> LabelMoments:
        return replace(self, moments=self.moments.scaled(factor))

    def with_classes(self, indices: NDArray[np.int64], count: int) -> LabelMoments:
        groups = moved_groups(indices, count, len(self.labels))
        return replace(self, classes=count, moments=self.moments.with_classes(groups, count * len(self.labels)))

    def fits(self, classes: int) -> bool:
        """True when its parts fit together and this number of classes; a file from a stranger is asked before it is used."""
        known = isinstance(self.word, str) and are_labels(self.labels) and self.classes == classes
        return known and self.moments.fits(classes * len(self.labels))

    def state(self) -> dict[str, Any]:
        """Plain data."""
        return {"word": self.word, "labels": list(self.labels), "classes": self.classes, "moments": self.moments.state()}  # fmt: skip

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> LabelMoments:
        """The statistic that `state` describes."""
        return cls(state["word"], tuple(state["labels"]), state["classes"], Moments.from_state(state["moments"]))
