"""Class moments of numeric columns: weight, mean, and the sum of squares (or products) about the mean.

Counted from a value of the block itself and merged without drift, never as E[x²] − mean²: Chan, Golub, LeVeque (1983), eq.
1.4. What rounding cuts off a mean is kept beside it as its rest, or the mean of many small batches of N(10⁹, 1) would drift.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError, Option
from merula.core.limits import check_bytes
from merula.core.plain_fields import PlainFields
from merula.core.sound import LARGEST, all_shaped, are_finite, are_names, are_weights, within
from merula.data.encode import Encoded, Target
from merula.stats._kernels import class_sums, class_weights, first_values, present_class_sums
from merula.stats.base import OfColumns, moved, with_weight
from merula.stats.fading import faded_weights, shares_left
from merula.stats.removal import unmerge_moments

Means = tuple[Array, Array, Array]  # weight, mean, rest
Parts = tuple[Array, Array, Array, Array]  # weight, mean, squares or scatter, rest
TINY = 1e-299  # what is kept of squares that vanish, so that a column that varies is not taken for a constant; also per row, however heavy
SMALLEST_VARIANCE = 1e-280  # below this, squares have lost their digits
COPIES = 6  # of a covariance, from the first count to the model
NARROWEST = 1e-300  # range of a column: below this, numbers themselves lose their digits
POOR_ORIGIN = 1e4  # a block is counted again when its origin lies this much further off than its spread (squared)


def exact_sum(larger: Array, smaller: Array) -> tuple[Array, Array]:
    """The rounded sum, and what rounding cut off it (Dekker 1971; exact where |larger| ≥ |smaller|)."""
    total = larger + smaller
    return total, smaller - (total - larger)


def merge_means(first: Means, second: Means) -> tuple[Means, Array, Array]:
    """Weight, mean and rest of both parts; how far apart their means are; and the weight of the square of that distance.

    Means are groups × columns, with any number of axes of groups; weights broadcast against them. A mean of weight 0 is
    never looked at, and lies no distance from another.
    """
    (mine, mean, rest), (theirs, other_mean, other_rest) = first, second
    weight = mine + theirs
    share = np.divide(theirs, weight, out=np.zeros_like(weight), where=weight > 0)
    with np.errstate(over="ignore", invalid="ignore"):
        apart = np.where((mine > 0) & (theirs > 0), (other_mean - mean) + (other_rest - rest), 0.0)
        united, lost = exact_sum(mean, apart * share + rest)
    mean, rest = np.where(mine > 0, united, other_mean), np.where(mine > 0, lost, other_rest)
    return (weight, mean, rest), apart, mine * share


def kept_apart(apart: Array, squares: Array) -> Array:
    """Squares of distances, of which something is left where a distance is not 0."""
    return np.where((apart != 0) & (squares < TINY), TINY, squares)


def merge_moments(first: Parts, second: Parts) -> Parts:
    """Weight, mean, squares and rest of both parts: S = S₁ + S₂ + (n₁·n₂ / n)·(m₂ − m₁)².

    Means are groups × columns, with any number of axes of groups. Squares have the shape of the means, or one axis more
    where they are the scatter matrices Σ w·(x − mean)(x − mean)ᵀ; weights that of the means, or one for each group.

    Examples
    --------
    >>> one_row = np.array([1.0]), np.array([[2.0]]), np.array([[0.0]]), np.array([[0.0]])
    >>> another = np.array([1.0]), np.array([[4.0]]), np.array([[0.0]]), np.array([[0.0]])
    >>> merge_moments(one_row, another)
    (array([2.]), array([[3.]]), array([[2.]]), array([[0.]]))
    """
    (mine, mean, squares, rest), (theirs, other_mean, other_squares, other_rest) = first, second
    by_group = mine.ndim < mean.ndim
    if by_group:
        mine, theirs = mine[..., None], theirs[..., None]
    (weight, mean, rest), apart, count = merge_means((mine, mean, rest), (theirs, other_mean, other_rest))
    with np.errstate(over="ignore", invalid="ignore"):
        if squares.ndim == mean.ndim:
            distance = kept_apart(apart, apart * apart * count)
        else:
            distance = apart[..., :, None] * apart[..., None, :] * count[..., None]
            diagonal = np.einsum("...ii->...i", distance)
            diagonal[...] = kept_apart(apart, diagonal)
        return weight[..., 0] if by_group else weight, mean, squares + other_squares + distance, rest


@dataclass(frozen=True, eq=False)
class Moments(OfColumns):
    """Per class and column: the weight present, its mean, and Σ w·(x − mean)².

    ``rest`` is what rounding cut off the mean: the mean is mean + rest, or many small batches of N(10⁹, 1) would drift.
    """

    columns: tuple[str, ...]
    weight: Array
    mean: Array
    squares: Array
    rest: Array | float = 0.0

    def fits(self, classes: int) -> bool:
        shaped = are_names(self.columns) and all_shaped((classes, len(self.columns)), *self._parts)
        sound = shaped and are_weights(self.weight) and within(0.0, LARGEST, self.squares)
        return sound and are_finite(self.mean, self.rest)

    @classmethod
    def zero(cls, columns: Sequence[str], classes: int) -> Moments:
        shape = (classes, len(columns))
        return cls(tuple(columns), np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(shape))

    def update(self, rows: Encoded, target: Target) -> Moments:
        x = rows.values(self.columns)
        shift = np.empty(self.mean.shape)
        first_values(x, target.codes, target.weights, shift)
        np.nan_to_num(shift, copy=False)
        block = self._about(x, target, shift)
        with np.errstate(over="ignore"):  # of numbers whose squares are just below the largest
            poor = block.weight * (block.mean - shift) ** 2 > POOR_ORIGIN * block.squares
        if poor.any():
            block = self._about(x, target, block.mean)
        return self + block

    def _about(self, x: NDArray[Any], target: Target, shift: Array) -> Moments:
        """The moments of one block, counted from the origin `shift`."""
        weight = np.repeat(class_weights(target.codes, target.weights, len(shift))[:, None], shift.shape[1], axis=1)
        sums, squares = np.zeros_like(shift), np.zeros_like(shift)
        with np.errstate(over="ignore", invalid="ignore"):
            class_sums(x, target.codes, target.weights, shift, sums, squares)
            if not (np.isfinite(squares).all() and np.isfinite(sums).all()):
                weight, sums, squares = np.zeros_like(shift), np.zeros_like(shift), np.zeros_like(shift)
                present_class_sums(x, target.codes, target.weights, shift, weight, sums, squares)
                refuse_overflow(x, np.isfinite(squares).all(axis=0) & np.isfinite(sums).all(axis=0), self.columns)
        squares = np.where((sums != 0) & (squares < TINY), TINY, squares)
        drift = np.divide(sums, weight, out=np.zeros_like(sums), where=weight > 0)
        mean, rest = exact_sum(shift, drift)
        return Moments(self.columns, weight, mean, np.maximum(squares - sums * drift, 0.0), rest)

    def __add__(self, other: Moments) -> Moments:
        total = Moments(self.columns, *merge_moments(self._parts, other._parts))
        refuse_distant(np.isfinite(total.squares).all(axis=0), self.columns)
        return total

    def __sub__(self, other: Moments) -> Moments:
        return Moments(self.columns, *unmerge_moments(self._parts, other._parts, self.columns))

    def scaled(self, factor: float) -> Moments:
        weight, mean, squares, rest = self._parts
        left = squares * shares_left(weight, factor)
        return Moments(self.columns, faded_weights(weight, factor), mean, kept_apart(squares, left), rest)

    @property
    def _parts(self) -> tuple[Array, Array, Array, Array]:
        """The arrays, classes × columns, in the order of the fields."""
        rest = self.rest if isinstance(self.rest, np.ndarray) else np.full(self.mean.shape, self.rest)
        return self.weight, self.mean, self.squares, rest

    def pooled(self) -> Moments:
        """All classes as one: overall weight, mean and sum of squares, as a single class."""
        parts = self._parts
        classes = [Moments(self.columns, *(part[k : k + 1] for part in parts)) for k in range(len(self.weight))]
        return sum(classes[1:], classes[0])


def refuse_overflow(x: NDArray[Any], fine: Any, columns: Sequence[str]) -> None:
    """An error naming the first column whose values are infinite, or so large that their squares overflow."""
    if fine.all():
        return
    column = int(np.flatnonzero(~fine)[0])
    name, values = columns[column], x[:, column]
    if np.isinf(values).any():
        raise InputError.at(
            f"column {name!r}", "contains infinity", remedy="replace it by a number, or by NaN if it is unknown"
        )
    raise InputError.at(
        f"column {name!r}",
        f"holds values as large as {np.nanmax(np.abs(values)):.3g}, whose squares overflow",
        remedy="rescale it",
    )


def refuse_closeness(variance: Array, columns: Sequence[str]) -> None:
    """An error naming the first column whose values lie so close together that the squares of their distances vanish."""
    tiny = (variance > 0) & (variance < SMALLEST_VARIANCE)
    if tiny.any():
        name = columns[int(np.flatnonzero(tiny)[0])]
        raise InputError.at(
            f"column {name!r}",
            "holds values so close together that the squares of their distances underflow",
            remedy="rescale it",
        )


def comfortable_unit(span: float) -> float:
    """A power of 2 near the span, in which squares neither vanish nor overflow; 1 where they do not anyway.

    Examples
    --------
    >>> comfortable_unit(250.0), comfortable_unit(3e-200) == 2.0**-663
    (1.0, True)
    """
    return 1.0 if 1e-100 < span < 1e100 or span <= 0 else float(2.0 ** np.round(np.log2(span)))


def refuse_narrow(span: Array, columns: Sequence[str]) -> None:
    """An error naming the first column whose range has lost its digits, or has no reciprocal."""
    refuse_closeness(np.where((span > 0) & (span < NARROWEST), SMALLEST_VARIANCE / 2, 0.0), columns)


def refuse_distant(fine: Any, columns: Sequence[str]) -> None:
    """An error naming the first column whose values lie so far apart that the squares of their distances overflow."""
    if not fine.all():
        name = columns[int(np.flatnonzero(~fine)[0])]
        raise InputError.at(
            f"column {name!r}",
            "holds values so far apart that the squares of their distances overflow",
            remedy="rescale it",
        )


@dataclass(frozen=True, eq=False)
class FullMoments(PlainFields):
    """Per class, of rows without missing cells: the weight, the means, and Σ w·(x − mean)(x − mean)ᵀ.

    ``rest`` is what rounding cut off the means, as in `Moments`.
    """

    columns: tuple[str, ...]
    weight: Array
    mean: Array
    scatter: Array
    rest: Array | float = 0.0

    def fits(self, classes: int) -> bool:
        shape = (classes, len(self.columns))
        shaped = are_names(self.columns) and all_shaped(shape, self.mean) and all_shaped((classes,), self.weight)
        shaped = shaped and all_shaped((*shape, shape[1]), self.scatter)
        shaped = shaped and (isinstance(self.rest, float) or all_shaped(shape, self.rest))
        sound = shaped and are_weights(self.weight) and are_finite(self.mean, self.rest, self.scatter)
        even = sound and bool((self.scatter == self.scatter.swapaxes(1, 2)).all())
        return even and within(0.0, LARGEST, np.diagonal(self.scatter, axis1=1, axis2=2))

    @classmethod
    def zero(cls, columns: Sequence[str], classes: int) -> FullMoments:
        shape = (classes, len(columns))
        _check_covariances(len(columns), classes)
        return cls(
            tuple(columns), np.zeros(classes), np.zeros(shape), np.zeros((*shape, len(columns))), np.zeros(shape)
        )

    def update(self, rows: Encoded, target: Target) -> FullMoments:
        return self.add_rows(*with_weight(rows.values(self.columns), target))

    def add_rows(self, x: NDArray[Any], target: Target) -> FullMoments:
        """With these complete rows added."""
        count, d = self.mean.shape
        weight, mean, rest, scatter = (
            np.zeros(count),
            np.zeros((count, d)),
            np.zeros((count, d)),
            np.zeros((count, d, d)),
        )
        order = np.argsort(target.codes, kind="stable")
        ends = np.cumsum(np.bincount(target.codes, minlength=count))
        for label, (start, stop) in enumerate(zip(ends - np.diff(ends, prepend=0), ends, strict=True)):
            rows = order[start:stop]
            if len(rows):
                weights = None if target.weights is None else target.weights[rows]
                weight[label], mean[label], rest[label], scatter[label] = centred_products(x[rows], weights)
        refuse_overflow(x, np.isfinite(np.diagonal(scatter, axis1=1, axis2=2)).all(axis=0), self.columns)
        return self + FullMoments(self.columns, weight, mean, scatter, rest)

    def __add__(self, other: FullMoments) -> FullMoments:
        total = FullMoments(self.columns, *merge_moments(self._parts, other._parts))
        refuse_distant(np.isfinite(np.diagonal(total.scatter, axis1=1, axis2=2)).all(axis=0), self.columns)
        return total

    def __sub__(self, other: FullMoments) -> FullMoments:
        return FullMoments(self.columns, *unmerge_moments(self._parts, other._parts, self.columns))

    def scaled(self, factor: float) -> FullMoments:
        weight, mean, scatter, rest = self._parts
        found = scatter * shares_left(weight, factor)[:, None, None]
        own = np.einsum("...ii->...i", found)
        own[...] = kept_apart(np.einsum("...ii->...i", scatter), own)
        return FullMoments(self.columns, faded_weights(weight, factor), mean, found, rest)

    def with_classes(self, indices: NDArray[np.int64], count: int) -> FullMoments:
        return FullMoments(self.columns, *(moved(part, indices, count) for part in self._parts))

    @property
    def _parts(self) -> tuple[Array, Array, Array, Array]:
        """The arrays, class by class, in the order of the fields."""
        return self.weight, self.mean, self.scatter, np.broadcast_to(self.rest, self.mean.shape)

    def with_columns(self, columns: Sequence[str]) -> FullMoments:
        order = [self.columns.index(name) for name in columns]
        weight, mean, scatter, rest = self._parts
        return FullMoments(tuple(columns), weight, mean[:, order], scatter[:, order][:, :, order], rest[:, order])


def centred(x: NDArray[Any], weights: Array | None) -> tuple[float, Array, Array, Array]:
    """Weight, mean, what rounding cut off it, and the rows less their mean times √w; a constant column is 0 exactly.

    The rows are changed in place: pass some of your own.
    """
    rows = np.asarray(x, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.average(rows, axis=0, weights=weights)
        for column in np.flatnonzero((rows[:64] == rows[0]).all(axis=0)):
            if (rows[:, column] == rows[0, column]).all():
                mean[column] = rows[0, column]
        rows -= mean
        drift = np.average(rows, axis=0, weights=weights)
        rows -= drift
        if weights is not None:
            rows *= np.sqrt(weights)[:, None]
        mean, rest = exact_sum(mean, drift)
    return float(len(rows) if weights is None else weights.sum()), mean, rest, rows


def centred_products(x: NDArray[Any], weights: Array | None) -> tuple[float, Array, Array, Array]:
    """Weight, mean, what rounding cut off it, and Σ w·(x − mean)(x − mean)ᵀ."""
    weight, mean, rest, rows = centred(x, weights)
    with np.errstate(over="ignore", invalid="ignore"):
        products = rows.T @ rows
    vanished = rows.any(axis=0) & (np.diagonal(products) < TINY)
    products[vanished, vanished] = TINY
    return weight, mean, rest, products


def _check_covariances(columns: int, classes: int) -> None:
    """A `TooLargeError` where columns are too many for a covariance of each class."""
    what = f"{columns:,} numeric columns in {classes:,} classes need covariances"
    remedy = ("use ", Option("covariance", "diagonal"), " or fewer columns")
    check_bytes(8.0 * COPIES * classes * columns**2, what, remedy)
