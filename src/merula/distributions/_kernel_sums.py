"""Sums of kernels over a weighted sample of one column: its log density anywhere, in time points + queries.

Gaussian kernel: the line is cut into pieces once. In a piece only the points count whose share of the sum exceeds 1e-11
somewhere in it; few of them are summed one by one, many through one power series whose error is bounded before it is
kept. Shares are ratios of terms, so the bounds are relative to the density itself: in the body, in gaps between
clusters, and arbitrarily far out. Box and Epanechnikov: sums of powers over runs of points, kept for cells one bandwidth wide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError, Option
from merula.core.compiled import kernel, ordered

COMPACT = {"box": (0.5, 0.0), "epanechnikov": (0.75, 1.0)}  # height and curvature: K(u) = height·(1 − curvature·u²)
KERNELS = ("gaussian", *COMPACT)
FEW = 32  # points that are summed one by one
NEGLIGIBLE = 25.0  # −log of the share of the sum that the points left out on one side may have
TERMS = 24  # of a power series, a multiple of 4
TRUNCATION = 3e-11  # the share of the sum that the rest of a series may have
STEEPEST = 10.0  # exponents from −10 to 10 within a piece: beyond, no series of so many terms is tried
WIDTH = 2.0  # bandwidths: as wide as a piece among many points can be, as a rule
FARTHEST = 1e150  # bandwidths from the sample; beyond, squares overflow
DEPTH = 4_096  # halvings of an interval of floats, with room to spare
BLOCK = 256  # points whose powers are summed at once, so that they stay in the nearest cache
FAINT = 1e-4  # share of the largest possible sum below which a difference of power sums is too coarse
START, FIRST, LAST, ANCHOR, CENTRE, PER_HALF, LOG_SUM, SLOPE, SERIES = range(9)  # what a row of `_pieces` holds
FACTORIALS = np.array([math.factorial(k) for k in range(TERMS + 1)], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class KernelSums:
    """The kernel density of a weighted sample: its distinct points in ascending order, their weights, the bandwidth.

    density(q) = Σ weight·K((q − point) / bandwidth) / (bandwidth·Σ weight)

    Examples
    --------
    >>> sums = KernelSums.build(np.array([181.0, 186.0, 186.0, 195.0]), None, bandwidth=4.0)
    >>> sums.points.tolist(), sums.weights.tolist()
    ([181.0, 186.0, 195.0], [1.0, 2.0, 1.0])
    >>> np.exp(sums.log_density(np.array([186.0, 200.0]))).round(4).tolist()
    [0.0633, 0.0115]
    """

    points: Array
    weights: Array
    bandwidth: float
    kernel: str = "gaussian"

    @classmethod
    def build(cls, points: Array, weights: Array | None, bandwidth: float, kernel: str = "gaussian") -> Self:
        """The sums over these points, in any order and repeated or not; a weight of 2 is the point twice."""
        if kernel not in KERNELS:
            raise InputError(
                (Option("kernel", kernel), " is not known"),
                where="kernel",
                got=kernel,
                remedy=f"choose one of {', '.join(map(repr, KERNELS))}",
            )
        if not 0 < bandwidth < np.inf:
            raise InputError(
                (Option("bandwidth", bandwidth), " is not a positive number"),
                where="bandwidth",
                got=bandwidth,
                remedy="a constant column has no density",
            )
        return cls(*distinct(points, weights), float(bandwidth), kernel)

    def log_density(self, queries: Array) -> Array:
        """log density(q) for each query, −inf where no kernel reaches; the relative error of the density is below 1e-10."""
        queries = np.asarray(queries, dtype=np.float64)
        out = np.empty(queries.size)
        if self.kernel == "gaussian":
            _gaussian_sums(self.points, self.weights, self.bandwidth, *self._pieces, queries.ravel(), out)
        else:
            curvature = COMPACT[self.kernel][1]
            _compact_sums(self.points, self.weights, self.bandwidth, curvature, *self._cells, queries.ravel(), out)
        out += self.log_scale
        return out.reshape(queries.shape)

    @cached_property
    def log_scale(self) -> float:
        """log of what turns Σ weight·(K relative to its peak) into the density."""
        height = COMPACT[self.kernel][0] if self.kernel in COMPACT else 1 / math.sqrt(2 * math.pi)
        return math.log(height) - math.log(self.bandwidth) - math.log(self.weights.sum())

    @cached_property
    def _pieces(self) -> tuple[Array, Array]:
        """Where each piece of the line begins, and its row: see `_cut`."""
        pieces, count = _cut(self.points, self.weights, self.bandwidth, math.log(self.weights.sum()))
        return pieces[:count, START].copy(), pieces[:count].copy()

    @cached_property
    def _cells(self) -> tuple[NDArray[np.int64], Array, Array]:
        return _gather(self.points, self.weights, self.bandwidth)


def distinct(points: Array, weights: Array | None) -> tuple[Array, Array]:
    """The distinct points in ascending order and the weight of each; points of weight 0 do not exist."""
    points = np.asarray(points, dtype=np.float64)
    if weights is None:
        points, weights = np.sort(points), np.ones(len(points))
    else:
        weights = np.asarray(weights, dtype=np.float64)
        order = np.argsort(points)
        order = order[weights[order] != 0]
        points, weights = points[order], weights[order]
    if not len(points) or not np.isfinite(points[[0, -1]]).all() or not 0 < weights.min() <= weights.max() < np.inf:
        raise InputError("a density needs finite points and finite weights, none of them negative, some positive")
    first = np.flatnonzero(np.append(True, points[1:] != points[:-1]))
    if len(first) == len(points):
        return points, weights
    return points[first], np.add.reduceat(weights, first)


@ordered
def excess(x: float, nearest: float, q: float, bandwidth: float) -> float:
    """((q − x)/h)² − ((q − nearest)/h)², exact also where both squares are huge or nearly equal."""
    return (x - nearest) / bandwidth * (((x - q) + (nearest - q)) / bandwidth)


@ordered
def _nearest(points: Array, bandwidth: float, q: float, first: int, last: int) -> int:
    """The index of the point nearest to q among first … last − 1; no other has a negative excess over it."""
    after = first + int(np.searchsorted(points[first:last], q))
    if after in (first, last):
        return min(after, last - 1)
    return after if excess(points[after], points[after - 1], q, bandwidth) < 0 else after - 1


@ordered
def _edge(
    points: Array, weights: Array, bandwidth: float, log_total: float, q: float, first: int, last: int, side: int
) -> int:
    """The first (side −1) or last (side 1) of some points beyond which all others have a share below exp(−NEGLIGIBLE) at q.

    Points whose excess over the nearest is at least e have together at most the share total/weight·exp(−e/2).
    """
    near = _nearest(points, bandwidth, q, first, last)
    slack = 2 * (NEGLIGIBLE + log_total - np.log(weights[near]))
    inside, outside = near, first - 1 if side < 0 else last
    while abs(outside - inside) > 1:
        middle = (inside + outside) // 2
        if excess(points[middle], points[near], q, bandwidth) <= slack:
            inside = middle
        else:
            outside = middle
    return inside


@kernel
def _sum_powers(shares: Array, exponents: Array, sums: Array) -> float:
    """sums[k] = Σ shares·exponents^k for each k below its length, a multiple of 4; that sum for the next k comes back.

    The shares are used up. Four powers at once: each visit to memory costs as much as several products.
    """
    sums[:] = 0.0
    rest = 0.0
    for start in range(0, shares.size, BLOCK):
        stop = min(start + BLOCK, shares.size)
        for k in range(0, sums.size, 4):
            zeroth = first = second = third = 0.0
            for i in range(start, stop):
                once = shares[i] * exponents[i]
                twice = once * exponents[i]
                thrice = twice * exponents[i]
                zeroth, first, second, third = zeroth + shares[i], first + once, second + twice, third + thrice
                shares[i] = thrice * exponents[i]
            sums[k], sums[k + 1] = sums[k] + zeroth, sums[k + 1] + first
            sums[k + 2], sums[k + 3] = sums[k + 2] + second, sums[k + 3] + third
        for i in range(start, stop):
            rest += shares[i]
    return rest


@ordered
def _expand(
    points: Array, weights: Array, bandwidth: float, low: float, high: float, scratch: Array, piece: Array
) -> bool:
    """Write the power series of the sum on [low, high] into its row; False when it is not exact enough.

    With y = (q − centre)/h, o = (point − anchor)/h, p each point's share of the sum at the centre and m = Σ p·o,

    Σ weight·exp(−½((q − point)/h)²) = total·exp(−½((q − anchor)/h)²)·exp(m·y)·N(y), N(y) = Σ p·exp((o − m)·y)

    N ≥ 1 (Jensen), so an absolute error of N is a relative one. Its series is Σ_k v^k/k! Σ p·z^k with z = (o − m)·half,
    v = y/half in [−1, 1]; the terms from k = TERMS on are at most Σ p·z^TERMS / TERMS! / (1 − max |z| / (TERMS + 1)).
    """
    centre = 0.5 * low + 0.5 * high
    half = max(high - centre, centre - low) / bandwidth
    if not half * ((points[-1] - points[0]) / bandwidth) <= 2 * STEEPEST:
        return False
    anchor = points[_nearest(points, bandwidth, centre, 0, points.size)]
    shares, exponents, total, mean = scratch[0, : points.size], scratch[1, : points.size], 0.0, 0.0
    for i in range(points.size):  # by itself, so that it uses vector instructions
        exponents[i] = (points[i] - anchor) / bandwidth
        shares[i] = -0.5 * excess(points[i], anchor, centre, bandwidth)
    for i in range(points.size):
        shares[i] = weights[i] * np.exp(shares[i])
        total += shares[i]
        mean += shares[i] * exponents[i]
    mean /= total
    for i in range(points.size):
        exponents[i] = (exponents[i] - mean) * half
    rest = _sum_powers(shares, exponents, piece[SERIES:]) / total / FACTORIALS[TERMS]
    for k in range(TERMS):
        piece[SERIES + k] /= total * FACTORIALS[k]
    piece[ANCHOR], piece[CENTRE], piece[PER_HALF] = anchor, centre, 1 / (half * bandwidth)
    piece[LOG_SUM], piece[SLOPE] = np.log(total), mean * half
    return bool(rest <= TRUNCATION * (1 - max(-exponents[0], exponents[-1]) / (TERMS + 1)))


@ordered
def _middle(points: Array, bandwidth: float, low: float, high: float) -> float:
    """Where to cut an interval: at the ends of the sample and ever farther beyond, else so that parts become WIDTH wide.

    An infinite interval is cut at infinity when it is too far out for squares.
    """
    stride = bandwidth * min(max(1.0, STEEPEST * bandwidth / (points[-1] - points[0])), FARTHEST)
    if low == -np.inf:
        away = points[0] - high
        return points[0] if away < 0 else high - max(stride, away) if away < FARTHEST * bandwidth else low
    if high == np.inf:
        away = low - points[-1]
        return points[-1] if away < 0 else low + max(stride, away) if away < FARTHEST * bandwidth else high
    parts = 0.99 * (high - low) / (WIDTH * bandwidth)  # a little less, so that rounding leaves no sliver
    if 1 < parts < FARTHEST:
        return float(low + WIDTH * bandwidth * 2.0 ** (np.ceil(np.log2(parts)) - 1))
    return 0.5 * low + 0.5 * high


@ordered
def _with_room(pieces: Array, count: int) -> Array:
    """The pieces, twice as many rows where all are taken."""
    if count < len(pieces):
        return pieces
    more = np.empty((2 * count, pieces.shape[1]))
    for piece in range(count):  # as slices, this would take seconds to compile
        for k in range(pieces.shape[1]):
            more[piece, k] = pieces[piece, k]
    return more


@ordered
def _cut(points: Array, weights: Array, bandwidth: float, log_total: float) -> tuple[Array, int]:
    """The pieces of the line from left to right, and how many: where each starts, which points count, its series if any.

    An interval is cut in two until few points count in it or a series is exact enough. For points x < y the ratio of their
    terms, K((q − x)/h) / K((q − y)/h), falls with q: what is negligible on the left of an interval's low end, or on the right
    of its high end, is so in all of it.
    """
    bounds, runs, scratch = np.empty((DEPTH, 2)), np.empty((DEPTH, 2), np.int64), np.empty((2, points.size))
    bounds[0, 0], bounds[0, 1], runs[0, 0], runs[0, 1] = -np.inf, np.inf, 0, points.size
    pieces, count, waiting = np.empty((16, SERIES + TERMS)), 0, 1
    while waiting:
        waiting -= 1
        low, high, first, last = bounds[waiting, 0], bounds[waiting, 1], runs[waiting, 0], runs[waiting, 1]
        if low > -np.inf:
            first = _edge(points, weights, bandwidth, log_total, low, first, last, -1)
        if high < np.inf:
            last = _edge(points, weights, bandwidth, log_total, high, first, last, 1) + 1
        pieces, middle = _with_room(pieces, count), _middle(points, bandwidth, low, high)
        piece = pieces[count]
        piece[START], piece[FIRST], piece[LAST], piece[PER_HALF] = low, first, last, 0.0
        done = last - first <= FEW or not low < middle < high
        if not done and low > -np.inf and high < np.inf:
            done = _expand(points[first:last], weights[first:last], bandwidth, low, high, scratch, piece)
        if done:
            count += 1
            continue
        for part in range(2):  # the left part is taken next
            bounds[waiting, 0], bounds[waiting, 1] = (low, middle) if part else (middle, high)
            runs[waiting, 0], runs[waiting, 1], waiting = first, last, waiting + 1
    return pieces, count


@ordered
def _log_sum(points: Array, weights: Array, bandwidth: float, first: int, last: int, q: float) -> float:
    """log Σ weight·exp(−½((q − point)/h)²) over the points first … last − 1, one by one."""
    near = _nearest(points, bandwidth, q, first, last)
    total = weights[near]
    for i in range(first, last):
        if i != near:
            total += weights[i] * np.exp(-0.5 * excess(points[i], points[near], q, bandwidth))
    away = (q - points[near]) / bandwidth
    return float(np.log(total) - 0.5 * away * away)


@ordered
def _log_series(piece: Array, bandwidth: float, q: float) -> float:
    """log Σ weight·exp(−½((q − point)/h)²) by the series of `_expand`."""
    v = (q - piece[CENTRE]) * piece[PER_HALF]
    square, even, odd = v * v, 0.0, 0.0
    for k in range(SERIES + TERMS - 2, SERIES - 1, -2):
        even, odd = even * square + piece[k], odd * square + piece[k + 1]
    away = (q - piece[ANCHOR]) / bandwidth
    return float(piece[LOG_SUM] + piece[SLOPE] * v - 0.5 * away * away + np.log(even + v * odd))


@ordered
def _gaussian_sums(
    points: Array, weights: Array, bandwidth: float, starts: Array, pieces: Array, queries: Array, out: Array
) -> None:
    """out = log Σ weight·exp(−½((q − point)/h)²) for each query."""
    for i in range(queries.size):
        q, index, length = queries[i], 0, starts.size
        while length > 1:  # the last start that is not beyond q
            half = length // 2
            index += half * (starts[index + half] <= q)  # no branch to guess wrongly
            length -= half
        piece = pieces[index]
        if piece[PER_HALF] > 0:
            out[i] = _log_series(piece, bandwidth, q)
        else:
            out[i] = _log_sum(points, weights, bandwidth, int(piece[FIRST]), int(piece[LAST]), q)


@ordered
def _gather(points: Array, weights: Array, bandwidth: float) -> tuple[NDArray[np.int64], Array, Array]:
    """Cells of points within one bandwidth: where the cell of each point begins and ends, and sums of powers in it.

    before[i] and after[i] are Σ w·s^k, k = 0, 1, 2, over the points of the cell up to i, and from i on, with
    s = (point − first point of the cell)/h.
    """
    n, start = points.size, 0
    cells, before, after = np.empty((n, 2), np.int64), np.zeros((n, 3)), np.zeros((n, 3))
    for i in range(n):
        start = start if points[i] - points[start] <= bandwidth else i
        cells[i, 0] = start
        for k in range(3):
            before[i, k] = weights[i] * ((points[i] - points[start]) / bandwidth) ** k
            after[i, k] = before[i, k]
            before[i, k] += before[i - 1, k] if i > start else 0.0
    for i in range(n - 1, -1, -1):
        more = i + 1 < n and cells[i + 1, 0] == cells[i, 0]
        cells[i, 1] = cells[i + 1, 1] if more else i + 1
        for k in range(3):
            after[i, k] += after[i + 1, k] if more else 0.0
    return cells, before, after


@ordered
def _count(points: Array, q: float, reach: float) -> int:
    """The number of points with point − q ≤ reach, by that very comparison."""
    first, last = 0, points.size
    while first < last:
        middle = (first + last) // 2
        if points[middle] - q <= reach:
            first = middle + 1
        else:
            last = middle
    return first


@ordered
def _compact_sums(
    points: Array,
    weights: Array,
    bandwidth: float,
    curvature: float,
    cells: NDArray[np.int64],
    before: Array,
    after: Array,
    queries: Array,
    out: Array,
) -> None:
    """out = log Σ weight·(1 − curvature·((q − point)/h)²) over the points with |q − point| ≤ h, for each query.

    They span up to two bandwidths, a cell at most one: they are all of a cell, or a part that begins or ends it. So sums are
    added, never subtracted, and small weights beside large ones are not lost.
    """
    for i in range(queries.size):
        q = queries[i]
        first, last = _count(points, q, np.nextafter(-bandwidth, -np.inf)), _count(points, q, bandwidth)
        total, mass, index = 0.0, 0.0, first
        while index < last:
            start, stop = cells[index]
            sums = before[min(last, stop) - 1] if index == start else after[index]
            y = (q - points[start]) / bandwidth
            total += sums[0] - curvature * (sums[0] * y * y - 2 * sums[1] * y + sums[2])
            mass, index = mass + sums[0], stop
        if total < FAINT * mass:  # all these points lie at the rim
            total = 0.0
            for index in range(first, last):
                away = abs(q - points[index]) / bandwidth
                total += weights[index] * (1 - away) * (1 + away)
        out[i] = np.log(total)
