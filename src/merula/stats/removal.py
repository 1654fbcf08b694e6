"""Taking rows away from what was counted: weights, counts by label, and moments, as if the rows had never been seen.

Whole numbers are exact. Moments keep as many digits as there are: where what is left is so small a share of the whole that fewer
than nine would remain, or a part was never in the whole, an error says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError
from merula.data.schema import Label

Index = tuple[int, ...]
ROUNDING = 1e-12  # share of a weight that was added up from fractions, in any order
NOISE = 512 * 2.0**-52  # share of a sum of squares that its additions may have lost: of 10⁶ rows of N(10⁹, 1), some 400
DIGITS = 1e-9  # of a column's standard deviation: what moments may be off, at the most
NEVER = "take away only rows that were counted before, read the same way"
ANEW = "fit on the rows that stay"


def left_over(whole: Array, part: Array, told: Callable[[Index], str]) -> Array:
    """The weights that are left of the whole; an error that says what is `told` of the first cell in which the part has more.

    Whole numbers are exact; of fractions, what rounding alone may have left is 0.

    Examples
    --------
    >>> left_over(np.array([3.0, 0.3]), np.array([1.0, 0.1 + 0.2]), str).tolist()
    [2.0, 0.0]
    """
    left = np.asarray(whole - part)
    exact = (whole == np.rint(whole)) & (part == np.rint(part))
    left = np.where(np.abs(left) <= np.where(exact, 0.0, ROUNDING * whole), 0.0, left)
    if (left < 0).any():
        index = tuple(int(axis[0]) for axis in np.nonzero(left < 0))
        held = f"weighs {part[index]:.12g} in the part and {whole[index]:.12g} in the whole"
        raise InputError(f"{told(index)} {held}: the part was never in the whole", remedy=NEVER)
    return left


def of_label(name: str, label: Label) -> str:
    """What an error calls the cells of a column that hold a label."""
    return f"column {name!r}: missing" if label is None else f"column {name!r}: level {label!r}"


def labels_left(
    name: str, labels: Sequence[Label], counts: Array, fewer: Sequence[Label], part: Array
) -> tuple[tuple[Label, ...], Array]:
    """The labels of a column that keep some weight, and the weight of each class there."""
    place = {label: index for index, label in enumerate(labels)}
    met = [(label, at) for at, label in enumerate(fewer) if part[:, at].any()]
    strange = [label for label, _ in met if label not in place]
    united = [*labels, *strange]
    place |= {label: len(labels) + index for index, label in enumerate(strange)}
    whole, gone = (np.zeros((len(counts), len(united))) for _ in range(2))
    whole[:, : len(labels)] = counts
    gone[:, [place[label] for label, _ in met]] = part[:, [at for _, at in met]]
    left = left_over(whole, gone, lambda index: of_label(name, united[index[1]]))
    kept = np.flatnonzero(left.any(axis=0)).tolist()
    return tuple(united[index] for index in kept), left[:, kept]


def of_missing(columns: Sequence[str]) -> Callable[[Index], str]:
    """What an error calls the missing cells of a class and column."""
    return lambda index: of_label(columns[index[1]], None)


def used_labels(labels: Sequence[Label], cells: NDArray[Any]) -> tuple[tuple[Label, ...], NDArray[np.int32]]:
    """The labels that cells refer to, in their order, and where each label stands among them (the last, missing, is −1)."""
    used = np.unique(cells[cells >= 0]).tolist()
    where = np.full(len(labels) + 1, -1, dtype=np.int32)
    where[used] = np.arange(len(used), dtype=np.int32)
    return tuple(labels[index] for index in used), where


# --------------------------------------------------------------------------------------------------------------- moments

Means = tuple[Array, Array, Array]  # weight, mean, rest


def sum_and_rest(one: Array, other: Array) -> tuple[Array, Array]:
    """The rounded sum, and what rounding cut off it, whichever is larger (Knuth 1969)."""
    total = one + other
    back = total - one
    return total, (one - (total - back)) + (other - back)


def unmerge_means(whole: Means, part: Means, columns: Sequence[str]) -> tuple[Means, Array, Array]:
    """Weight, mean and rest of what is left; how far the part's means are from the whole's; and the weight of its square.

    m = m₀ − (n₁ / n)·(m₁ − m₀) where n = n₀ − n₁ is left. The last axis has the columns; weights broadcast against means.
    """
    (all_, mean, rest), (gone, other_mean, other_rest) = whole, part
    by_column = np.shape(all_)[-1] == len(columns)
    named = [f"column {name!r}" for name in columns] if by_column else [f"what {', '.join(map(repr, columns))} hold"]
    weight = left_over(all_, gone, lambda index: named[index[-1]])
    both = (weight > 0) & (gone > 0)
    share = np.divide(gone, weight, out=np.zeros(np.shape(weight)), where=both)
    with np.errstate(over="ignore", invalid="ignore"):
        apart = np.where(gone > 0, (other_mean - mean) + (other_rest - rest), 0.0)
        moved, lost = sum_and_rest(mean, rest - apart * share)
    unchanged, nothing = gone == 0, weight == 0
    mean = np.where(unchanged, mean, np.where(nothing, 0.0, moved))
    rest = np.where(unchanged, rest, np.where(nothing, 0.0, lost))
    return (weight, mean, rest), apart, all_ * share


def squares_left(
    whole: Means, part: Means, left: Means, squares: Array, fewer: Array, apart: Array, count: Array, columns: Sequence[str],
    variance: Array | None = None,
) -> Array:  # fmt: skip
    """Σ w·(x − mean)² of what is left: S = S₀ − S₁ − (n₀·n₁ / n)·(m₁ − m₀)²; what rounding alone may have left is 0.

    An error where it would be negative, or where moments would keep fewer digits than `DIGITS` says: of the variance of the
    columns that is stated, or else of that over all groups.
    """
    distance = apart * apart * count
    lost = NOISE * (squares + fewer + distance)
    found = np.where(part[0] > 0, squares - fewer - distance, squares)
    found = np.where(left[0] > 0, found, 0.0)
    emptied = (left[0] == 0) & (part[0] > 0)
    away = DIGITS * np.sqrt(np.divide(squares, whole[0], out=np.zeros_like(squares), where=whole[0] > 0))
    away = away + 1e-15 * np.abs(whole[1])
    never = (found < -lost) | (emptied & ((np.abs(apart) > away) | (np.abs(squares - fewer) > DIGITS * squares)))
    if never.any():
        name = columns[int(np.nonzero(never)[-1][0])]
        raise InputError.at(f"column {name!r}", "holds other numbers in the part than in the whole: the part was never in the whole", remedy=NEVER)  # fmt: skip
    found = np.where((np.abs(found) <= lost) & (part[0] > 0), 0.0, found)
    variance = variance_of(left, found) if variance is None else variance
    _refuse_few_digits(whole, part, left, (squares, fewer, variance), apart, lost, columns)
    return found


def _refuse_few_digits(
    whole: Means, part: Means, left: Means, squares: tuple[Array, Array, Array], apart: Array, lost: Array, columns: Sequence[str]
) -> None:  # fmt: skip
    """An error naming the first column of which so little is left that its moments would lose their digits."""
    changed = np.broadcast_to((left[0] > 0) & (part[0] > 0), apart.shape)
    if not changed.any():
        return
    variance = np.broadcast_to(squares[2], apart.shape)
    n, gone, weight = (np.where(changed, one[0], 1.0) for one in (whole, part, left))
    off = np.sqrt(n * squares[0]) + np.sqrt(gone * squares[1]) + gone * np.abs(apart)
    poor = (NOISE * off / weight > DIGITS * np.sqrt(variance)) | (lost / weight > DIGITS * variance)
    if (poor & changed).any():
        index = tuple(int(axis[0]) for axis in np.nonzero(poor & changed))
        few = f"{weight[index]:.12g} of {n[index]:.12g} rows stay, and vary too little for what rounding leaves of their digits"
        raise InputError.at(f"column {columns[index[-1]]!r}", f"cannot be told without the part: {few}", remedy=ANEW)


def variance_of(left: Means, squares: Array) -> Array:
    """The variance of each column over all of its groups, as far as they have weight."""
    weight, mean, rest = (np.broadcast_to(part, squares.shape) for part in left)
    axes = tuple(range(squares.ndim - 1))
    total = weight.sum(axis=axes)
    origin = np.where(weight > 0, mean, -np.inf).max(axis=axes, initial=-np.inf)
    apart = np.where(weight > 0, (mean - np.where(np.isfinite(origin), origin, 0.0)) + rest, 0.0)
    safe = np.where(total > 0, total, 1.0)
    middle = (weight * apart).sum(axis=axes) / safe
    return np.asarray((squares + weight * (apart - middle) ** 2).sum(axis=axes) / safe)


def unmerge_moments(
    whole: tuple[Array, Array, Array, Array],
    part: tuple[Array, Array, Array, Array],
    columns: Sequence[str],
    variance: Array | None = None,
) -> tuple[Array, Array, Array, Array]:
    """Weight, mean, squares (or scatter matrices) and rest of what is left: `merge_moments` undone.

    Examples
    --------
    >>> three = np.array([3.0]), np.array([[3.0]]), np.array([[8.0]]), np.array([[0.0]])
    >>> one_row = np.array([1.0]), np.array([[5.0]]), np.array([[0.0]]), np.array([[0.0]])
    >>> unmerge_moments(three, one_row, ["size"])
    (array([2.]), array([[2.]]), array([[2.]]), array([[0.]]))
    """
    (n, mean, squares, rest), (gone, other_mean, fewer, other_rest) = whole, part
    by_group = n.ndim < mean.ndim
    if by_group:
        n, gone = n[..., None], gone[..., None]
    means, others = (n, mean, rest), (gone, other_mean, other_rest)
    left, apart, count = unmerge_means(means, others, columns)
    full = squares.ndim > mean.ndim
    own, theirs = (np.einsum("...ii->...i", one) if full else one for one in (squares, fewer))
    diagonal = squares_left(means, others, left, own, theirs, apart, count, columns, variance)
    weight = left[0][..., 0] if by_group else left[0]
    if not full:
        return weight, left[1], diagonal, left[2]
    scatter = squares - fewer - apart[..., :, None] * apart[..., None, :] * count[..., None]
    scatter = np.where((gone > 0)[..., None], scatter, squares)
    alive = (diagonal > 0)[..., :, None] & (diagonal > 0)[..., None, :]
    scatter = np.where(alive, scatter, 0.0)  # a number that no longer varies, or a group that is gone
    np.einsum("...ii->...i", scatter)[...] = diagonal
    return weight, left[1], scatter, left[2]
