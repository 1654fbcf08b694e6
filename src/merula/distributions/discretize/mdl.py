"""Cuts that tell classes apart: recursive entropy minimisation, stopped where a cut costs more bits than it saves.

U. M. Fayyad, K. B. Irani: Multi-interval discretization of continuous-valued attributes for classification learning,
IJCAI 1993, pages 1022–1027: definition 2 (boundary points), theorem 1 (the best cut is one), equation 3 (the criterion).
"""

from __future__ import annotations

from math import log1p, log2

import numpy as np
from numpy.typing import ArrayLike, NDArray

from merula.core import Array
from merula.core.compiled import kernel
from merula.data.intervals import Cuts, between, occurring

MOST_CANDIDATES = 100_000
TIE = 1e-12  # bits: scores that differ by no more are equal


def mdl_cuts(values: ArrayLike, weights: ArrayLike) -> Cuts:
    """The cuts that pay for themselves in bits, ascending; none if the column says nothing about the class.

    A set S is cut where Ent(S₁)·N₁/N + Ent(S₂)·N₂/N is least, if gain > (log2(N − 1) + Δ) / N, and so are S₁ and S₂ in turn;
    Δ = log2(3ᵏ − 2) − (k·Ent(S) − k₁·Ent(S₁) − k₂·Ent(S₂)), k classes in S, N = Σw.

    Candidates are the boundary points: half-way between two neighbouring values that do not both belong to one and the same
    class alone. Of equally good ones (to 12 digits) the lowest is taken. With weights that leave N < 2, log2(N − 1) is
    read as 0.

    Up to 100,000 boundary points, hence up to 100,001 distinct values, the cuts are exactly these. Beyond that, candidates are
    those boundary points that come last before each of 100,000 quantiles of the weight. Counts at a candidate stay exact, so
    every cut made fulfils the criterion; but a cut's gain may fall short of the best one's, by less than h(ε) bits,
    where ε = N / (100,000·N_S), N_S the weight of the set being cut, and h(ε) = −ε·log2 ε − (1 − ε)·log2(1 − ε): by 0.0002 bits
    for the first cut, 0.002 where a tenth is left. (Two cuts with a share ε of S between them differ in
    gain by at most h(ε), and a candidate, or an end of S, lies that near to every cut.)

    Parameters
    ----------
    values : array of shape (n_values,) or (2, n_values)
        Distinct values, ascending; of values that were counted together, the lowest and the highest.
    weights : array of shape (n_classes, n_values)
        The weight of each class at each value: a weight of 2 equals the row twice.

    Examples
    --------
    >>> mdl_cuts([1, 2, 3, 4, 5, 6], [[9, 9, 9, 0, 0, 0], [0, 0, 0, 9, 9, 9]])
    (3.5,)
    >>> mdl_cuts([1, 2, 3], [[5, 5, 5], [5, 5, 5]])
    ()
    """
    met, table = occurring(values, weights)
    reached = np.cumsum(table, axis=1)
    ends = _thinned(_boundaries(table), reached)
    if not len(ends):
        return ()
    below = np.concatenate([np.zeros((1, len(table))), reached[:, ends].T, reached[:, -1:].T])
    return between(met, ends[_divide(below)])


def _boundaries(table: Array) -> NDArray[np.intp]:
    """The values behind which a boundary point lies: some row of the value and some row of the next differ in class."""
    present = table > 0
    return np.flatnonzero((present[:, :-1] | present[:, 1:]).sum(axis=0) > 1)


def _thinned(ends: NDArray[np.intp], reached: Array) -> NDArray[np.intp]:
    """The boundary points themselves, or if they are too many, the last one before each quantile of the weight."""
    if len(ends) <= MOST_CANDIDATES:
        return ends
    quantile = np.ceil(reached[:, ends].sum(axis=0) / reached[:, -1].sum() * MOST_CANDIDATES)
    return ends[np.append(quantile[1:] != quantile[:-1], True)]


def _divide(below: Array) -> list[int]:
    """The candidates that are cuts, ascending; ``below[i + 1]`` holds each class's weight below candidate i."""
    cuts, waiting = [], [(0, len(below) - 1)]
    while waiting:  # a stack of its own: one cut may follow another as often as there are candidates
        start, stop = waiting.pop()
        if stop - start < 2:
            continue
        entropies = _split_entropies(below, start, stop)
        index = start + 1 + int(np.argmax(entropies <= entropies.min() + TIE))
        if _pays(below[index] - below[start], below[stop] - below[index]):
            cuts.append(index - 1)
            waiting += [(start, index), (index, stop)]
    return sorted(cuts)


@kernel
def _split_entropies(below: Array, start: int, stop: int) -> Array:
    """Ent(S₁)·N₁/N + Ent(S₂)·N₂/N for every candidate strictly between two."""
    result = np.empty(stop - start - 1)
    for index in range(start + 1, stop):
        left = right = bits = 0.0
        for label in range(below.shape[1]):
            first = below[index, label] - below[start, label]
            second = below[stop, label] - below[index, label]
            left += first
            right += second
            bits -= _x_log_x(first) + _x_log_x(second)
        result[index - start - 1] = (bits + _x_log_x(left) + _x_log_x(right)) / (left + right)
    return result


@kernel
def _x_log_x(x: float) -> float:
    return x * np.log2(x) if x > 0.0 else 0.0


def _pays(left: Array, right: Array) -> bool:
    """True when a set cut into these class weights takes fewer bits than the set as one (equation 3)."""
    n = float(left.sum() + right.sum())
    (k, entropy), (k_left, left_entropy), (k_right, right_entropy) = map(_entropy, (left + right, left, right))
    gain = entropy - (left.sum() * left_entropy + right.sum() * right_entropy) / n
    log_partitions = k * log2(3) + log1p(-2 * 3.0**-k) / np.log(2)  # log2(3ᵏ − 2), for any number of classes
    delta = log_partitions - (k * entropy - k_left * left_entropy - k_right * right_entropy)
    return bool(gain - (log2(max(n - 1, 1)) + delta) / n > TIE)


def _entropy(weights: Array) -> tuple[int, float]:
    """The number of classes present, and −Σ p·log2 p."""
    shares = weights[weights > 0] / weights.sum()
    return len(shares), float(-(shares * np.log2(shares)).sum())
