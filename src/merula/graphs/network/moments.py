"""Masses, means and scatter of numbers within each configuration of discrete parents: what a regression is fitted from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from merula.core.arrays import Array

Places = Sequence[NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class GroupMoments:
    """For each configuration: the weight of its rows, the means of some numbers there, and their scatter about the means.

    `mass` has an axis for each discrete parent; `mean` one more for the numbers, `scatter` two.
    """

    mass: Array
    mean: Array
    scatter: Array

    def __add__(self, other: GroupMoments) -> GroupMoments:
        """The moments of both together (Chan, Golub & LeVeque 1983): no difference of large squares."""
        mass = self.mass + other.mass
        share = np.divide(other.mass, mass, out=np.zeros_like(mass), where=mass > 0)
        apart = other.mean - self.mean
        mean = self.mean + apart * share[..., None]
        between = apart[..., :, None] * apart[..., None, :] * (self.mass * share)[..., None, None]
        return GroupMoments(mass, mean, self.scatter + other.scatter + between)

    def spread_over(self, shape: Sequence[int], indices: Places) -> GroupMoments:
        """The same moments in a table of this shape, in which level i of parent j stands at ``places[j][i]``."""
        width = self.mean.shape[-1]
        return GroupMoments(
            spread(self.mass, shape, indices),
            spread(self.mean, (*shape, width), [*indices, np.arange(width)]),
            spread(self.scatter, (*shape, width, width), [*indices, np.arange(width), np.arange(width)]),
        )

    def reordered(self, parents: Sequence[int], numbers: Sequence[int]) -> GroupMoments:
        """The same moments with parents and numbers in another order."""
        last = len(parents)
        return GroupMoments(
            self.mass.transpose(parents),
            self.mean.transpose([*parents, last])[..., list(numbers)],
            self.scatter.transpose([*parents, last, last + 1])[..., list(numbers), :][..., list(numbers)],
        )

    def pooled(self) -> GroupMoments:
        """All configurations as one: the scatter stays that about each configuration's own means."""
        width = self.mean.shape[-1]
        mass = self.mass.sum()
        means = (self.mass[..., None] * self.mean).reshape(-1, width).sum(axis=0)
        return GroupMoments(mass, means / mass if mass > 0 else means, self.scatter.reshape(-1, width, width).sum(axis=0))  # fmt: skip


def spread(table: Array, shape: Sequence[int], indices: Places) -> Array:
    """A table of this shape, 0 but for the entries of a smaller one; those of its axis j come to ``places[j]``."""
    if tuple(shape) == table.shape and all((index == np.arange(len(index))).all() for index in indices):
        return table
    wide = np.zeros(tuple(shape))
    wide[np.ix_(*indices)] = table
    return wide


def weighed(index: NDArray[np.int64], weights: Array, size: int) -> Array:
    """The sum of the weights at each place."""
    return np.asarray(np.bincount(index, weights, minlength=size), dtype=np.float64)


def group_moments(
    index: NDArray[np.int64], shape: Sequence[int], numbers: Sequence[Array], weights: Array
) -> GroupMoments:
    """The moments of some columns of numbers in each configuration; rows with a configuration of −1 or a missing number are left out."""
    matrix = np.stack(numbers)
    kept = (index >= 0) & ~np.isnan(matrix).any(axis=0)
    index, matrix, weights = index[kept], matrix[:, kept], weights[kept]
    size, width = int(np.prod(shape, dtype=np.int64)), len(matrix)
    mass = weighed(index, weights, size)
    sums = np.stack([weighed(index, weights * column, size) for column in matrix], axis=1)
    mean = sums / np.where(mass > 0, mass, 1.0)[:, None]
    apart = matrix - mean[index].T
    scatter = np.empty((size, width, width))
    for one in range(width):
        for other in range(one + 1):
            scatter[:, one, other] = weighed(index, weights * apart[one] * apart[other], size)
            scatter[:, other, one] = scatter[:, one, other]
    return GroupMoments(mass.reshape(shape), mean.reshape(*shape, width), scatter.reshape(*shape, width, width))
