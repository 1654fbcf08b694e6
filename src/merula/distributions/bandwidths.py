"""Bandwidths of a kernel density from a weighted sample of one column.

Weights are frequencies: n = Σ weight, and a weight of 2 is the value twice. Every rule moves with the data: shifting them
changes nothing, multiplying them multiplies the bandwidth. Each is 0 when it has nothing to go by, for n ≤ 1 or values that
are all equal; what to do then is the caller's choice.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.fft import dct
from scipy.optimize import brentq, minimize_scalar

from merula.core import Array
from merula.core.compiled import ordered
from merula.distributions._kernel_sums import NEGLIGIBLE, KernelSums, distinct, excess

GRID = 1_024  # points on which the improved Sheather–Jones rule bins the sample
STAGES = 7  # the highest derivative it estimates: the five steps its authors recommend
VANISHED = 1e-290  # a squared norm so small has lost its digits, or its inverse would overflow
TIES = 1e-12  # of the range: values closer than this are equal but for rounding errors
ALONE = 1e-3  # share of the sum below which what others contribute to a point's density is summed anew


def silverman(points: Array, weights: Array | None = None) -> float:
    """The bandwidth that is best for a normal density: (4/3)^(1/5)·σ·n^(−1/5), σ² = Σ w·(x − mean)² / n.

    Silverman (1986), eq. 3.28. σ is the maximum-likelihood deviation, with 1/n.

    Examples
    --------
    >>> round(silverman(np.array([181.0, 186.0, 195.0, 193.0])), 4)
    4.483
    """
    n, deviation = _size_and_deviation(*distinct(points, weights))
    return float((4 / 3) ** 0.2 * deviation * n**-0.2)


def scott(points: Array, weights: Array | None = None) -> float:
    """Scott's rule: σ·n^(−1/5), with σ² = Σ w·(x − mean)² / n.

    Scott (1992), page 152. SciPy's ``gaussian_kde`` takes the unbiased deviation, with 1/(n − 1), instead.

    Examples
    --------
    >>> round(scott(np.array([181.0, 186.0, 195.0, 193.0])), 4)
    4.2323
    """
    n, deviation = _size_and_deviation(*distinct(points, weights))
    return float(deviation * n**-0.2)


def _size_and_deviation(points: Array, weights: Array) -> tuple[float, float]:
    """n and σ; σ is 0 for n ≤ 1 and for a single value."""
    n = float(weights.sum())
    if n <= 1 or len(points) == 1:
        return n, 0.0
    spread = points[-1] - points[0]
    away = (points - points[0]) / spread
    away -= np.average(away, weights=weights)
    return n, float(spread * np.sqrt(np.sum(weights * away**2) / n))


def isj(points: Array, weights: Array | None = None) -> float:
    """The improved Sheather–Jones bandwidth, also right for several modes: √t·width of the grid, t = ξγ⁽⁵⁾(t).

    Botev, Grotowski, Kroese (2010), algorithm 1. As in their program, n is the number of distinct values, and the sample is
    binned on a grid; this one exceeds the range by half of it on either side. Silverman's rule where no t solves the equation,
    as happens with few values.

    Examples
    --------
    >>> two_modes = np.concatenate([np.linspace(-51, -49, 100), np.linspace(49, 51, 100)])
    >>> bool(isj(two_modes) < silverman(two_modes) / 10)
    True
    """
    points, weights = distinct(points, weights)
    if weights.sum() <= 1 or len(points) == 1:
        return 0.0
    spread = points[-1] - points[0]
    cosines = dct(_binned((points - points[0]) / spread, weights / weights.sum()))[1:] ** 2
    t = _fixed_point(len(points), cosines)
    return float(np.sqrt(t) * 2 * spread) if t > 0 else silverman(points, weights)


def _binned(scaled: Array, shares: Array) -> Array:
    """The shares of points in [0, 1], split between the grid points around each, on a grid from −½ to 1½."""
    position = (scaled + 0.5) / 2 * (GRID - 1)
    left = np.minimum(position.astype(np.int64), GRID - 2)
    right_share = shares * (position - left)
    bins = np.zeros(GRID)
    bins += np.bincount(left, shares - right_share, GRID)
    bins += np.bincount(left + 1, right_share, GRID)
    return bins


def _fixed_point(n: int, cosines: Array) -> float:
    """The smallest t found with t = ξγ⁽⁵⁾(t), the squared bandwidth on a grid of width 1; 0 when there is none below 1.

    The equation is searched on intervals from 0 that double, the first as in the authors' program.
    """
    squares = np.arange(1, GRID, dtype=np.float64) ** 2
    upper = 1e-11 + 0.01 * (min(max(n, 50), 1_050) - 50) / 1_000
    while upper < 1:
        if _surplus(upper, n, squares, cosines) > 0:
            return float(brentq(_surplus, 0, upper, (n, squares, cosines), xtol=1e-18, rtol=1e-12))
        upper *= 2
    return 0.0


def _surplus(t: float, n: int, squares: Array, cosines: Array) -> float:
    """t − ξγ⁽⁵⁾(t), from estimates of ‖f⁽ˢ⁾‖² for s = 7 … 2, each with the time that the one before says is best.

    ‖f⁽ˢ⁾‖² = ½ Σ (πk)²ˢ a_k² exp(−(πk)² t),
    t_s = [(1 + ½^(s + ½)) / 3 · (2s − 1)!! / (n √(π/2) ‖f⁽ˢ⁺¹⁾‖²)]^(2/(3 + 2s))
    """
    energy, time = np.pi**2 * squares, t
    for s in range(STAGES, 1, -1):
        norm = 0.5 * np.sum(energy**s * cosines * np.exp(-energy * time))
        if not norm > VANISHED:
            return -np.inf
        if s > 2:
            odd = np.prod(np.arange(1, 2 * s - 2, 2))
            factor = (1 + 0.5 ** (s - 0.5)) / 3 * odd / (n * np.sqrt(np.pi / 2) * norm)
            time = factor ** (2 / (1 + 2 * s))
    return float(t - (2 * n * np.sqrt(np.pi) * norm) ** -0.4)


def cv(points: Array, weights: Array | None = None) -> float:
    """The bandwidth whose leave-one-out likelihood is largest, Σ w_i log f₋ᵢ(x_i), Gaussian kernel, at least the rounding step.

    f₋ᵢ is the density without one observation at x_i (without its whole weight where that is below 1). Where the derivative
    is 0, h² is the mean over i of E_i (x_i − x_j)², each j by its share in f₋ᵢ(x_i). Near points have the larger shares, so

    Σ w_i·(distance to the nearest other)² / n ≤ h² ≤ Σ w_i w_j (x_i − x_j)² / (n (n − 1)) = 2 σ² n / (n − 1)

    and no maximum is outside. Repeated values would let h fall to 0: the rounding step, the gap between neighbouring values that
    one gap in ten falls below, is as small as it may be.

    Examples
    --------
    >>> round(cv(np.array([181.0, 186.0])), 4)  # of two values, the distance
    5.0
    """
    points, weights = distinct(points, weights)
    n, deviation = _size_and_deviation(points, weights)
    if deviation == 0:
        return 0.0
    scaled = (points - points[0]) / deviation  # makes the search the same in every unit
    return float(deviation * _best(scaled, weights, *_bracket(scaled, weights, n)))


def _bracket(scaled: Array, weights: Array, n: float) -> tuple[float, float]:
    """The smallest and largest bandwidth worth trying, for points of deviation 1: see `cv`."""
    gaps = np.diff(scaled)
    nearest = np.where(weights > 1, 0.0, np.minimum(np.append(gaps, np.inf), np.append(np.inf, gaps)))
    step = np.quantile(gaps[gaps > TIES * (scaled[-1] - scaled[0])], 0.1, method="lower")
    left_out = min(1.0, weights.max())
    return max(float(step), float(np.sqrt(np.sum(weights * nearest**2) / n))), float(np.sqrt(2 * n / (n - left_out)))


def _best(scaled: Array, weights: Array, smallest: float, largest: float) -> float:
    """The bandwidth between these of the largest likelihood: the best of powers of 2, bettered by Brent's method."""
    if smallest >= largest:
        return smallest

    def loss(log_bandwidth: float) -> float:
        return -leave_one_out(KernelSums(scaled, weights, float(np.exp(log_bandwidth))))

    tried = np.linspace(np.log(smallest), np.log(largest), 2 + int(np.log2(largest / smallest)))
    losses = [loss(log_bandwidth) for log_bandwidth in tried]
    best = int(np.argmin(losses))
    around = tried[max(best - 1, 0)], tried[min(best + 1, len(tried) - 1)]
    found = minimize_scalar(loss, bounds=around, method="bounded", options={"xatol": 1e-4})
    return float(np.exp(found.x if found.fun < losses[best] else tried[best]))


def leave_one_out(sums: KernelSums) -> float:
    """The log likelihood of a sample, each observation under the density of the others: Σ w_i log f₋ᵢ(x_i), Gaussian kernel.

    f₋ᵢ(x_i) = (Σ_j w_j K_h(x_i − x_j) − l_i K_h(0)) / (n − l_i), with l_i = min(1, w_i) the weight left out

    Examples
    --------
    >>> beak_depths = KernelSums.build(np.array([18.7, 17.4, 18.0]), None, bandwidth=0.5)
    >>> round(leave_one_out(beak_depths), 4)
    -4.4508
    """
    n, left_out = sums.weights.sum(), np.minimum(sums.weights, 1.0)
    others = np.exp(sums.log_density(sums.points) - sums.log_scale)
    _log_others(sums.points, sums.weights, sums.bandwidth, float(np.log(n)), others)
    return float(np.sum(sums.weights * (others + sums.log_scale + np.log(n / (n - left_out)))))


@ordered
def _log_others(points: Array, weights: Array, bandwidth: float, log_total: float, sums: Array) -> None:
    """Turn each point's sum of kernel values, its own included, into the log of the sum over the other observations."""
    for i in range(points.size):
        left_out = min(weights[i], 1.0)
        if sums[i] - left_out > ALONE * sums[i]:
            sums[i] = np.log(sums[i] - left_out)
        else:  # the difference has lost its digits; such a point is far from others, so that few of them count
            sums[i] = _log_sum_around(points, weights, bandwidth, log_total, i, weights[i] - left_out)


@ordered
def _log_sum_around(points: Array, weights: Array, bandwidth: float, log_total: float, index: int, own: float) -> float:
    """log Σ weight·exp(−½((q − point)/h)²) at this point, which itself counts with weight `own`."""
    q, near, total = points[index], index, own
    if own == 0:
        after = index == 0 or (index + 1 < points.size and points[index + 1] - q < q - points[index - 1])
        near = index + 1 if after else index - 1
        total = weights[near]
    slack = 2 * (NEGLIGIBLE + log_total - np.log(total))
    for step in (-1, 1):
        i = index + step
        while 0 <= i < points.size and excess(points[i], points[near], q, bandwidth) <= slack:
            total += 0.0 if i == near else weights[i] * np.exp(-0.5 * excess(points[i], points[near], q, bandwidth))
            i += step
    away = (q - points[near]) / bandwidth
    return float(np.log(total) - 0.5 * away * away)


BANDWIDTHS: dict[str, Callable[[Array, Array | None], float]] = {
    "silverman": silverman,
    "scott": scott,
    "isj": isj,
    "cv": cv,
}
