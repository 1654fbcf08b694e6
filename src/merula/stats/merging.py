"""Means and squares of two parts merged into those of both, without drift.

Chan, Golub, LeVeque (1983), eq. 1.4: never E[x²] − mean². What rounding cuts off a mean is kept beside it as its rest,
or the mean of many small batches of N(10⁹, 1) would drift.
"""

from __future__ import annotations

import numpy as np

from merula.core.arrays import Array

Means = tuple[Array, Array, Array]  # weight, mean, rest
Parts = tuple[Array, Array, Array, Array]  # weight, mean, squares or scatter, rest


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
            distance = apart * apart * count
        else:
            distance = apart[..., :, None] * apart[..., None, :] * count[..., None]
        return weight[..., 0] if by_group else weight, mean, squares + other_squares + distance, rest
