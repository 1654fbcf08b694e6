"""The compiled loops behind weights of terms and intervals: plain, serial."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.compiled import kernel

CELLS_AT_ONCE = 8  # quantiles of so many are sought side by side: as many numbers as are read together


@kernel
def residuals(scores: Array, log_prior: Array, codes: NDArray[np.int64], weights: Array) -> float:
    """Turn the sums of terms of each row into weight · (P(class given row) − 1 where it is its own), in place; Σ weight · −log P(own)."""
    total = 0.0
    for row in range(scores.shape[0]):
        peak = -np.inf
        for label in range(scores.shape[1]):
            scores[row, label] += log_prior[label]
            peak = max(peak, scores[row, label])
        own, mass = scores[row, codes[row]] - peak, 0.0
        for label in range(scores.shape[1]):
            scores[row, label] = np.exp(scores[row, label] - peak)
            mass += scores[row, label]
        total += weights[row] * (np.log(mass) - own)
        for label in range(scores.shape[1]):
            scores[row, label] *= weights[row] / mass
        scores[row, codes[row]] -= weights[row]
    return total


@kernel
def middles(answers: Array, low: float, high: float, ends: Array) -> None:
    """Write two quantiles of each column of `answers` (draws × cells) to `ends` (cells × 2), as NumPy's method "weibull" has them.

    Between the k-th and the l-th of n draws one more lies with probability (l − k) / (n + 1): so intervals hold what they say they do.
    Only the smallest and the largest answers are kept, in order: most are no larger or smaller than those, and cost one comparison.
    """
    draws, cells = answers.shape
    first, last = _place(draws, low), _place(draws, high)
    below, above = min(int(first) + 2, draws), draws - int(last)
    smallest, largest = np.empty((CELLS_AT_ONCE, below)), np.empty((CELLS_AT_ONCE, above))
    for start in range(0, cells, CELLS_AT_ONCE):
        stop = min(start + CELLS_AT_ONCE, cells)
        smallest[:], largest[:] = np.inf, np.inf
        for draw in range(draws):
            for cell in range(start, stop):
                _keep(smallest[cell - start], answers[draw, cell])
                _keep(largest[cell - start], -answers[draw, cell])
        for cell in range(start, stop):
            ends[cell, 0] = _between(smallest[cell - start], first)
            ends[cell, 1] = -_between(largest[cell - start], draws - 1 - last)


@kernel
def _place(draws: int, share: float) -> float:
    """Where a quantile lies among so many values in order, counted from 0."""
    return min(max((draws + 1) * share - 1, 0.0), draws - 1.0)


@kernel
def _keep(ordered: Array, value: float) -> None:
    """Put a value among the smallest so far, which ascend, if it is one of them."""
    k = len(ordered) - 1
    if value < ordered[k]:
        while k > 0 and ordered[k - 1] > value:
            ordered[k] = ordered[k - 1]
            k -= 1
        ordered[k] = value


@kernel
def _between(ordered: Array, place: float) -> float:
    """The value at a place, which may lie between two."""
    rank = int(place)
    if place == rank:
        return float(ordered[rank])
    return float(ordered[rank] + (place - rank) * (ordered[rank + 1] - ordered[rank]))
