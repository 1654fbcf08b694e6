"""The compiled loops that compare rows with all kept rows: plain, serial, over queries."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.compiled import kernel
from merula.core.exponential import exp_in_place

NEAREST = 1e-6  # of the usual squared distance to a neighbour: what none is taken to be below
ROUNDING = 1 - 1e-12  # of a mass: what its sum may lack by rounding


class Kept(NamedTuple):
    """Kept rows, class by class: class c has those from ``starts[c]`` to ``starts[c + 1]``.

    ``cells`` is columns × rows, numbers already scaled; two words that differ are ``apart`` in squared distance, and a cell that is not
    known on both sides counts as what is ``usual``.
    """

    cells: Array
    is_word: NDArray[np.bool_]
    apart: Array
    usual: Array
    weight: Array
    starts: NDArray[np.int64]


@kernel
def _squared_distances(query: Array, kept: Kept, out: Array) -> None:
    """Σ_column of squared differences between a query and every kept row."""
    out[:] = 0.0
    for j in range(len(query)):
        value, usual, apart, column = query[j], kept.usual[j], kept.apart[j], kept.cells[j]
        if value != value:
            for i in range(len(out)):
                out[i] += usual
        elif kept.is_word[j]:
            for i in range(len(out)):
                x = column[i]
                out[i] += 0.0 if x == value else (apart if x == x else usual)
        else:
            for i in range(len(out)):
                away = column[i] - value
                out[i] += away * away if away == away else usual


@kernel
def _reached(distances: Array, weight: Array, mass: float, some: Array, heavy: Array) -> float:
    """The least distance within which rows of this mass lie; the largest of all where there is less. The last two are memory."""
    farthest = 0.0
    for k in range(len(distances)):
        some[k], heavy[k], farthest = distances[k], weight[k], max(farthest, distances[k])
    low, high, below = 0, len(some), 0.0
    while low < high:
        first, middle, last = some[low], some[(low + high) // 2], some[high - 1]
        pivot = max(min(first, middle), min(max(first, middle), last))
        start, stop, k, nearer, level = low, high, low, 0.0, 0.0
        while k < stop:
            if some[k] < pivot:
                nearer += heavy[k]
                some[k], some[start] = some[start], some[k]
                heavy[k], heavy[start] = heavy[start], heavy[k]
                start += 1
                k += 1
            elif some[k] > pivot:
                stop -= 1
                some[k], some[stop] = some[stop], some[k]
                heavy[k], heavy[stop] = heavy[stop], heavy[k]
            else:
                level += heavy[k]
                k += 1
        if below + nearer >= mass * ROUNDING:
            high = start
        elif below + nearer + level >= mass * ROUNDING:
            return float(pivot)
        else:
            below += nearer + level
            low = stop
    return farthest


@kernel
def neighbour_distances(queries: Array, kept: Kept, own: NDArray[np.int64], mass: float, out: Array) -> None:
    """The squared distance from each query within which rows of this mass lie; one unit of the row that it is itself left out."""
    n = kept.cells.shape[1]
    weight, distances, some, heavy = kept.weight.copy(), np.empty(n), np.empty(n), np.empty(n)
    for q in range(len(queries)):
        _squared_distances(queries[q], kept, distances)
        if own[q] >= 0:
            weight[own[q]] = max(kept.weight[own[q]] - 1, 0.0)
        out[q] = _reached(distances, weight, mass, some, heavy)
        if own[q] >= 0:
            weight[own[q]] = kept.weight[own[q]]


@kernel
def similar_masses(queries: Array, kept: Kept, own: NDArray[np.int64], reach: Array, widths: Array, out: Array) -> None:
    """Σ_row of a class weight · exp(−distance² / (2 · width · reach)) for each query, width and class; one unit of a query's own row left out."""
    n = kept.cells.shape[1]
    distances, near = np.empty(n), np.empty(n)
    for q in range(len(queries)):
        _squared_distances(queries[q], kept, distances)
        for h in range(len(widths)):
            scale = -0.5 / (widths[h] * reach[q])
            for i in range(n):
                near[i] = distances[i] * scale
            exp_in_place(near)
            for label in range(len(kept.starts) - 1):
                total = 0.0
                for i in range(kept.starts[label], kept.starts[label + 1]):
                    total += kept.weight[i] * near[i]
                out[q, h, label] = total
            if own[q] >= 0:
                k, label = own[q], 0
                while kept.starts[label + 1] <= k:
                    label += 1
                out[q, h, label] = max(out[q, h, label] - min(kept.weight[k], 1.0) * near[k], 0.0)
