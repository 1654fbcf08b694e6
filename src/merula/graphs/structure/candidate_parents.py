"""One child with one parent more, for many candidates at once: the loop in which a search spends its time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from math import lgamma

import numpy as np
from numpy.typing import NDArray

from merula.core.arrays import Array
from merula.core.compiled import kernel
from merula.core.threads import thread_count
from merula.stats.configurations import Configurations, Index, fill_table

CELLS_PER_THREAD = 2_000_000  # rows × candidates below which a second thread costs more than it saves


@kernel
def _term(count: float, pseudo: float) -> float:
    """n log n, or log Γ(pseudo + n) − log Γ(pseudo) under a Dirichlet prior (pseudo > 0)."""
    return lgamma(pseudo + count) - lgamma(pseudo) if pseudo > 0 else count * np.log(count)


@kernel
def _family_value(table: Array, middle: int, inner: int, cell: float, margin: float) -> tuple[float, float]:
    """Σ term(cells) − Σ term(sums over the child, the middle axis), and the sum of all."""
    value, total = 0.0, 0.0
    for left in range(len(table) // (middle * inner)):
        for right in range(inner):
            configured = 0.0
            for level in range(middle):
                count = table[(left * middle + level) * inner + right]
                if count > 0:
                    value += _term(count, cell)
                    configured += count
            if configured > 0:
                value -= _term(configured, margin)
                total += configured
    return value, total


@kernel
def _value_without(table: Array, middle: int, inner: int) -> float:
    """The log likelihood without the candidate, the inner axis, on the same rows."""
    value = 0.0
    for left in range(len(table) // (middle * inner)):
        configured = 0.0
        for level in range(middle):
            start = (left * middle + level) * inner
            count = table[start : start + inner].sum()
            if count > 0:
                value += count * np.log(count)
                configured += count
        if configured > 0:
            value -= configured * np.log(configured)
    return value


@kernel
def family_value(cells: Array, margins: Array, cell: float, margin: float) -> float:
    """The log likelihood of a child from the counts that are not 0, or with pseudo-counts its log marginal likelihood.

    Σ N_jk log N_jk − Σ N_j log N_j; or Heckerman, Geiger & Chickering (1995), equation 28.
    """
    value = 0.0
    for count in cells:
        value += _term(count, cell)
    for count in margins:
        value -= _term(count, margin)
    return value


@kernel
def _extension_values(
    base: Index,
    base_size: int,
    levels: int,
    codes: Index,
    cardinalities: NDArray[np.int64],
    candidates: NDArray[np.int64],
    complete: NDArray[np.bool_],
    weights: Array,
    pseudo: Array,
    found: Array,
) -> None:
    largest = 0
    for index in candidates:
        largest = max(largest, cardinalities[index])
    space = np.empty(base_size * largest)
    for number in range(len(candidates)):
        index = candidates[number]
        inner = cardinalities[index]
        table = space[: base_size * inner]
        fill_table(base, codes[index], inner, weights, complete[number], table)
        value, total = _family_value(table, levels, inner, pseudo[number, 0], pseudo[number, 1])
        found[number, 0] = value
        found[number, 1] = total
        found[number, 2] = 0.0 if complete[number] else _value_without(table, levels, inner)


def extension_values(
    base: Configurations,
    levels: int,
    codes: Index,
    cardinalities: NDArray[np.int64],
    candidates: NDArray[np.int64],
    complete: NDArray[np.bool_],
    weights: Array,
    pseudo: Array,
) -> Array:
    """For each candidate: log (marginal) likelihood of the child, weight of the complete rows, log likelihood without it.

    `base` numbers the configurations of the parents so far and the child, the child's `levels` running fastest;
    ``complete[number]`` says that neither it nor this candidate lacks a cell; ``pseudo[number]`` are the pseudo-counts of
    a cell and of a configuration, 0 for the likelihood. The last is given only where cells are missing.
    """
    found = np.empty((len(candidates), 3))
    _extension_values(base.index, base.size, levels, codes, cardinalities, candidates, complete, weights, pseudo, found)
    return found


def each_part(
    function: Callable[[slice], Array], count: int, rows: int, n_jobs: int | None
) -> Iterator[tuple[slice, Array]]:
    """`function` of slices that cover `count` things, each of which costs `rows`, on as many threads as pay and are allowed."""
    threads = min(thread_count(n_jobs), 1 + count * rows // CELLS_PER_THREAD, max(count, 1))
    bounds = [count * part // threads for part in range(threads + 1)]
    parts = [slice(first, last) for first, last in pairwise(bounds) if last > first]
    if len(parts) < 2:
        yield from ((part, function(part)) for part in parts)
        return
    with ThreadPoolExecutor(len(parts)) as pool:
        yield from zip(parts, pool.map(function, parts), strict=True)
