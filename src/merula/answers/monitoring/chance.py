"""What chance would do: tests that two samples come from the same source, and how many of them may err together."""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, hypergeom, norm, t as student

from merula.core import Array

LEAST_EXPECTED = 5.0  # of a cell, for Pearson's statistic to have its distribution, and ...
AMPLE = 25.0  # ... to have it far out in its tail
CLEAR = 1e-8  # where no finer look is needed
DRAWS, EXCEEDED, AT_ONCE = 9_999, 20, 250  # tables drawn: at the most, until so many are as extreme, and in one go
TOO_MANY = 5e8  # rows, beyond which those kept are taken for all there are
PARTS = 10  # intervals that numbers are compared in, at the most
LEAST_FOR_SPREAD = 200  # rows


def homogeneity(then: Array, now: Array, rng: np.random.Generator) -> float | None:
    """The probability that two samples of the same source differ as much as these weights of cells; None if there is one cell.

    Pearson's X² = Σ (observed − expected)² / expected. Where cells are few or rare, over all tables with these margins: in two
    cells by Fisher's exact test, else by drawing them, until 20 are as extreme (Besag & Clifford 1991).

    Examples
    --------
    >>> round(homogeneity(np.array([700.0, 300.0]), np.array([60.0, 40.0]), np.random.default_rng(0)), 4)
    0.0391
    """
    met = then + now > 0
    table = np.stack([then[met], now[met]])
    sums = table.sum(axis=1)
    if table.shape[1] < 2 or not (sums > 0).all():
        return None
    expected = table.sum(axis=0) * (sums.min() / sums.sum())
    common = pooled_rare(table, expected)
    p = 1.0 if common.shape[1] < 2 else float(chi2.sf(pearson(common), common.shape[1] - 1))
    if expected.min() >= AMPLE or p < CLEAR:
        return p
    return fisher(np.rint(table)) if table.shape[1] == 2 else drawn(np.rint(table), rng)


def pooled_rare(table: Array, expected: Array) -> Array:
    """The table with cells too rare for their statistic to have its distribution as one, or left to the next rarest."""
    order = np.argsort(expected, kind="stable")
    many = int(np.searchsorted(np.cumsum(expected[order]), LEAST_EXPECTED) + 1)
    few = max(int((expected < LEAST_EXPECTED).sum()), 0)
    together = max(few, many) if few else 0
    if not together:
        return table
    return np.column_stack([table[:, order[:together]].sum(axis=1), table[:, order[together:]]])


def pearson(table: Array) -> float:
    """X² of two rows."""
    shares = table.sum(axis=0) / table.sum()
    expected = table.sum(axis=1, keepdims=True) * shares
    return float(((table - expected) ** 2 / expected).sum())


def fisher(table: Array) -> float | None:
    """Fisher's exact test of a table of two by two whole numbers: the probability of all tables no more probable than this."""
    total, first, size = int(table.sum()), int(table[:, 0].sum()), int(table[1].sum())
    if not 0 < first < total or not 0 < size < total:
        return None
    held = np.arange(max(0, size + first - total), min(size, first) + 1)
    logs = hypergeom.logpmf(held, total, first, size)
    own = logs[int(table[1, 0]) - held[0]]
    return float(min(1.0, np.exp(logs[logs <= own + 1e-9]).sum()))


def drawn(table: Array, rng: np.random.Generator) -> float | None:
    """The share of tables with the same margins that are as extreme, from as many draws as tell."""
    table = table[:, np.argsort(table.sum(axis=0), kind="stable")[::-1]]
    pool, size = table.sum(axis=0).astype(np.int64), int(table[1].sum())
    pool = pool[pool > 0]
    if len(pool) < 2 or not 0 < size < pool.sum():
        return None
    own, total, exceeded = _distance(table[1, : len(pool)][None], pool, size)[0] * (1 - 1e-12), 0, 0
    while total < DRAWS:
        found = _distance(_draws(pool, size, min(AT_ONCE, DRAWS - total), rng), pool, size) >= own
        reached = np.flatnonzero(exceeded + np.cumsum(found) >= EXCEEDED)
        if len(reached):
            return EXCEEDED / (total + int(reached[0]) + 1)
        exceeded, total = exceeded + int(found.sum()), total + len(found)
    return (1 + exceeded) / (1 + total)


def _draws(pool: NDArray[np.int64], size: int, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Samples of the pool, of so many rows each."""
    if pool.sum() > TOO_MANY:
        return rng.multinomial(size, pool / pool.sum(), size=count)
    return np.asarray(rng.multivariate_hypergeometric(pool, size, size=count, method="marginals"))


def _distance(samples: NDArray[np.number], pool: NDArray[np.int64], size: int) -> Array:
    """X² of each sample but for a factor that all share."""
    expected = pool * (size / pool.sum())
    return np.asarray(((samples - expected) ** 2 / expected).sum(axis=1))


def parts_for(*rows: float) -> int:
    """How many intervals numbers are compared in."""
    return int(np.clip(min(rows) // LEAST_EXPECTED, 2, PARTS))


def equal_parts(weights: Array, parts: int) -> NDArray[np.int64]:
    """The interval of each distinct number, in order: intervals have about equal weights.

    Examples
    --------
    >>> equal_parts(np.array([5.0, 1.0, 1.0, 3.0]), 2).tolist()
    [0, 1, 1, 1]
    """
    middle = np.cumsum(weights) - weights / 2
    cells = np.minimum((middle / weights.sum() * parts).astype(np.int64), parts - 1)
    return np.unique(np.maximum.accumulate(cells), return_inverse=True)[1]


def summed(counts: NDArray[Any], cells: NDArray[np.int64]) -> Array:
    """The weight of each sample in each interval."""
    return np.stack([np.bincount(cells, row, minlength=int(cells.max()) + 1) for row in counts])


def numbers_differ(before: Array, now: Array, rng: np.random.Generator) -> float | None:
    """The test that two samples of numbers are of one distribution, in intervals that hold equal shares of both together."""
    both = np.unique(np.concatenate([before, now]))
    counts = np.stack([np.bincount(np.searchsorted(both, part), minlength=len(both)) for part in (before, now)])
    then, new = summed(counts, equal_parts(counts.sum(axis=0), parts_for(len(before), len(now))))
    return homogeneity(then, new, rng)


def mean_differs(then: tuple[float, float, float], now: tuple[float, float, float]) -> float | None:
    """Welch's (1947) test that two means are the same, from the weight, the mean and the variance of each.

    Examples
    --------
    >>> round(mean_differs((50.0, 10.0, 4.0), (40.0, 11.0, 4.0)), 4)
    0.0222
    """
    (n, mean, variance), (m, other, spread) = then, now
    if n < 2 or m < 2:
        return None
    one, two = variance * n / (n - 1) / n, spread * m / (m - 1) / m
    if not one + two > 0:
        return None
    freedom = (one + two) ** 2 / (one**2 / (n - 1) + two**2 / (m - 1))
    return float(2 * student.sf(abs(other - mean) / sqrt(one + two), freedom))


def spread_differs(then: tuple[float, float], now: tuple[float, float], kurtosis: float) -> float | None:
    """The test that two variances are the same, on their logarithms; None where tails are too heavy for the rows there are.

    z = (log s₁² − log s₀²) / √((κ − 1)·(1 / n₁ + 1 / n₀)), of samples with fourth moment κ·σ⁴ (Layard 1973)
    """
    (n, variance), (m, spread) = then, now
    if min(n, m) < LEAST_FOR_SPREAD or not (variance > 0 and spread > 0) or kurtosis > heaviest(min(n, m)):
        return None
    z = (log(spread) - log(variance)) / sqrt((max(kurtosis, 1.0) - 1 + 2 / min(n, m)) * (1 / n + 1 / m))
    return float(2 * norm.sf(abs(z)))


def heaviest(rows: float) -> float:
    """The largest kurtosis with which so many rows tell a variance: what they may show of a normal distribution, whose own is 3."""
    return 3.0 + 2 * sqrt(24 / rows)


def holm(chances: Sequence[float]) -> list[float]:
    """Each p-value adjusted for their number (Holm 1979): that the least is below a level has no more than that chance.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(chances, kind="stable")
    times = np.arange(len(chances), 0, -1)
    raised = np.minimum(np.maximum.accumulate(np.asarray(chances, dtype=np.float64)[order] * times), 1.0)
    found = np.empty(len(chances))
    found[order] = raised
    return [float(one) for one in found]
