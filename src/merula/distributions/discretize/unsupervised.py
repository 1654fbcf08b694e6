"""Cuts that do not look at the class: intervals of equal width, or of equal weight."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from merula.core import InputError
from merula.data.intervals import Cuts, between, occurring

MOST_BINS = 1_000_000  # of a column, for each of which every class has a number
TIE = 1e-12  # shares of the weight that differ by no more are equal


def checked_bins(bins: Any) -> int:
    """The number of intervals itself, if it is one."""
    if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or not 2 <= bins <= MOST_BINS:
        raise InputError.of("bins", bins, f"a whole number of intervals from 2 to {MOST_BINS:,}")
    return int(bins)


def equal_width_cuts(values: ArrayLike, weights: ArrayLike, bins: int) -> Cuts:
    """The cuts of `bins` intervals of equal width: cut_k = low + (high − low)·k / bins.

    Parameters
    ----------
    values : array of shape (n_values,) or (2, n_values)
        Distinct values, ascending; of values that were counted together, the lowest and the highest.
    weights : array of shape (n_classes, n_values)
        The weight of each class at each value; the range is that of the values with some weight.
    bins : int
        How many intervals; one if all values are equal, and fewer if they are so close that cuts coincide.

    Examples
    --------
    >>> equal_width_cuts([0, 1, 10], [[1, 1, 1]], 4)
    (2.5, 5.0, 7.5)
    """
    bins = checked_bins(bins)
    met, _ = occurring(values, weights)
    if not met.size or met.min() == met.max():
        return ()
    low, high = met.min(), met.max()
    steps = np.arange(1, bins)
    cuts = low * ((bins - steps) / bins) + high * (steps / bins)  # high − low may overflow
    return tuple(np.unique(np.clip(cuts, low, np.nextafter(high, low))).tolist())


def quantile_cuts(values: ArrayLike, weights: ArrayLike, bins: int) -> Cuts:
    """The cuts of `bins` intervals as equal in weight as repeated values allow: weight below cut_k ≈ N·k / bins.

    Cut k lies half-way between those two neighbouring values for which the weight below comes nearest to N·k / bins, with
    N = Σw; of two equally near (to 12 digits of N), between the lower ones. Cuts that coincide are one: a value that holds
    more than its share leaves fewer intervals.

    Parameters
    ----------
    values : array of shape (n_values,) or (2, n_values)
        Distinct values, ascending; of values that were counted together, the lowest and the highest.
    weights : array of shape (n_classes, n_values)
        The weight of each class at each value: a weight of 2 equals the row twice.
    bins : int
        How many intervals at most.

    Examples
    --------
    >>> quantile_cuts([1, 2, 3, 4, 5, 6], [[1, 1, 1, 1, 1, 1]], 3)
    (2.5, 4.5)
    >>> quantile_cuts([0, 1, 2], [[90, 5, 5]], 4)
    (0.5,)
    """
    bins = checked_bins(bins)
    met, table = occurring(values, weights)
    if table.shape[1] < 2:
        return ()
    reached = np.cumsum(table.sum(axis=0))
    total, below_gap = reached[-1], reached[:-1]
    wanted = total * (np.arange(1, bins) / bins)
    upper = np.minimum(np.searchsorted(below_gap, wanted), len(below_gap) - 1)
    lower = np.maximum(upper - 1, 0)
    lower_is_nearer = np.abs(wanted - below_gap[lower]) <= np.abs(below_gap[upper] - wanted) + TIE * total
    return between(met, np.unique(np.where(lower_is_nearer, lower, upper)))
