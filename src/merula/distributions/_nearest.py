"""The compiled loops that find neighbours: a rough distance from every row, an exact one from those that may be near.

Rough distances are in float32, a panel of rows at a time. What may still be among the K nearest of a query is kept in its
store, which is pruned when it is full. Exact distances are computed of the rows that are left, and from them alone the answer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.compiled import kernel

Rough = NDArray[np.float32]
PANEL = 512  # rows whose distances are computed at once: their cells stay in the cache while all queries pass
GLANCE = 64  # distances compared with the farthest that matters before any is looked at by itself
TIED = 2e-12  # of a squared distance: what rounding may add or take, so that equal distances stay equal in any unit
ROUNDING = 2.0**-23  # of float32
NOUGHT, ONE, ENDLESS = np.float32(0), np.float32(1), np.float32(np.inf)
LAST = int(np.float64(np.inf).view(np.int64))  # numbers from 0 are in the order of their bits, infinity last


class Kept(NamedTuple):
    """The rows neighbours are looked for among.

    ``cells[r, j]`` is a number, or a word's index; NaN is missing. ``panels[p, j, i]`` is the same, roughly, for row i of
    panel p: numbers as shares of a range, and one column of zeros behind the last. ``presence[p, b, i]`` has a bit for
    every column that is known (it has no b where nothing is missing).
    """

    cells: Array
    scale: Array
    is_word: NDArray[np.bool_]
    panels: Rough
    presence: NDArray[np.uint64]
    labels: NDArray[np.int32]
    weight: Array


class Asked(NamedTuple):
    """The queries, exact and rough, how far a rough distance may be off, and the row that each of them is itself (−1: none).

    ``numbers[q]`` and ``words[q]`` are the columns known of query q, the column of zeros where there are fewer;
    `mask` has a bit for each.
    """

    cells: Array
    rough: Rough
    margin: Array
    own: NDArray[np.int64]
    numbers: NDArray[np.int64]
    words: NDArray[np.int64]
    mask: NDArray[np.uint64]


class Store(NamedTuple):
    """For each query: the rows found so far, their squared distances and masses, how many, and the farthest that matters."""

    row: NDArray[np.int64]
    distance: Array
    mass: Array
    found: NDArray[np.int64]
    farthest: Rough


# ---------------------------------------------------------------------------------------------------------------------
# Distances


@kernel
def _square(value: Any) -> Any:
    return value * value if value == value else NOUGHT  # it is not, where a cell is missing


@kernel
def _add_squares(panel: Rough, columns: NDArray[np.int64], query: Rough, total: Rough) -> None:
    """total += Σ (cell − query)² over these columns, four at once so that a sum is seldom put down."""
    for k in range(0, len(columns), 4):
        a, b, c, d = columns[k], columns[k + 1], columns[k + 2], columns[k + 3]
        xa, xb, xc, xd = panel[a], panel[b], panel[c], panel[d]
        qa, qb, qc, qd = query[a], query[b], query[c], query[d]
        for i in range(PANEL):
            total[i] += _square(xa[i] - qa) + _square(xb[i] - qb) + _square(xc[i] - qc) + _square(xd[i] - qd)


@kernel
def _differ(cell: Any, other: Any) -> Any:
    return ONE if cell < other or cell > other else NOUGHT  # neither, where it is missing


@kernel
def _add_mismatches(panel: Rough, columns: NDArray[np.int64], query: Rough, total: Rough) -> None:
    """total += the number of known words that are not the query's."""
    for k in range(0, len(columns), 4):
        a, b, c, d = columns[k], columns[k + 1], columns[k + 2], columns[k + 3]
        xa, xb, xc, xd = panel[a], panel[b], panel[c], panel[d]
        qa, qb, qc, qd = query[a], query[b], query[c], query[d]
        for i in range(PANEL):
            total[i] += _differ(xa[i], qa) + _differ(xb[i], qb) + _differ(xc[i], qc) + _differ(xd[i], qd)


@kernel
def _ones(bits: Any) -> Any:
    """The number of set bits, in a form that the compiler knows an instruction for."""
    bits = bits - ((bits >> np.uint64(1)) & np.uint64(0x5555555555555555))
    bits = (bits & np.uint64(0x3333333333333333)) + ((bits >> np.uint64(2)) & np.uint64(0x3333333333333333))
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (bits * np.uint64(0x0101010101010101)) >> np.uint64(56)


@kernel
def _rescale(presence: NDArray[np.uint64], mask: NDArray[np.uint64], columns: int, total: Rough) -> None:
    """total · columns / (columns known to both); infinite where there are none."""
    shared, factor = np.zeros(PANEL, dtype=np.uint64), np.float32(columns)
    for k in range(len(mask)):
        own, theirs = mask[k], presence[k]
        for i in range(PANEL):
            shared[i] += _ones(own & theirs[i])
    for i in range(PANEL):
        total[i] = total[i] * factor / np.float32(shared[i]) if shared[i] > 0 else ENDLESS


@kernel
def _exact_distance(kept: Kept, row: int, query: Array) -> float:
    """distance² = columns / shared · Σ_shared ((cell − query)·scale)², or 1 for a word that is not the query's."""
    total, shared = 0.0, 0
    for j in range(len(query)):
        cell, other = kept.cells[row, j], query[j]
        if cell == cell and other == other:
            shared += 1
            step = (cell - other) * kept.scale[j]
            total += step * step if not kept.is_word[j] else 1.0 if cell != other else 0.0
    return total * len(query) / shared if shared else np.inf


# ---------------------------------------------------------------------------------------------------------------------
# The nearest


@kernel
def farthest_neighbor(distance: Array, mass: Array, neighbors: float) -> float:
    """The least squared distance within which rows of this mass lie; the largest, where all together weigh less."""
    wanted = min(neighbors, mass.sum()) * (1 - TIED)
    bits, low, high = distance.view(np.int64), 0, LAST
    while low < high:
        middle = low + (high - low) // 2
        nearer = 0.0
        for i in range(len(bits)):
            nearer += mass[i] if bits[i] <= middle else 0.0
        low, high = (low, middle) if nearer >= wanted else (middle + 1, high)
    result = 0.0
    for i in range(len(bits)):
        if bits[i] <= low:
            result = max(result, distance[i])
    return result


@kernel
def _prune(store: Store, query: int, neighbors: float, margin: float, columns: int) -> None:
    """Forget what is farther than the mass of neighbours reaches, allowing for what rough distances may be off."""
    row, distance, mass = store.row[query], store.distance[query], store.mass[query]
    found, left, total = store.found[query], 0, 0.0
    reach = np.sqrt(farthest_neighbor(distance[:found], mass[:found], neighbors))
    farthest = (reach * (1 + (columns + 8) * ROUNDING) + margin) ** 2
    for i in range(found):
        if distance[i] <= farthest:
            row[left], distance[left], mass[left] = row[i], distance[i], mass[i]
            total += mass[i]
            left += 1
    store.found[query] = left
    store.farthest[query] = farthest if total >= neighbors * (1 - TIED / 2) else np.inf


@kernel
def _take(kept: Kept, first: int, total: Rough, own: int, store: Store, query: int) -> None:
    """Put the near ones of the rows from `first` on into a query's store, less one copy of row `own`: the query itself."""
    farthest, index = store.farthest[query], store.found[query]
    rows = min(PANEL, len(kept.labels) - first)
    for start in range(0, rows, GLANCE):
        near = NOUGHT
        for i in range(start, start + GLANCE):
            near += ONE if total[i] <= farthest else NOUGHT
        if near == NOUGHT:
            continue
        for i in range(start, min(start + GLANCE, rows)):
            mass = kept.weight[first + i] - (1.0 if first + i == own else 0.0)
            if total[i] <= farthest and mass > 0.0:
                store.row[query, index], store.distance[query, index], store.mass[query, index] = (
                    first + i,
                    total[i],
                    mass,
                )
                index += 1
    store.found[query] = index


@kernel
def search(kept: Kept, asked: Asked, neighbors: float, store: Store) -> NDArray[np.bool_]:
    """Fill the store of every query with exact distances of all rows that may be near; False where it was too small."""
    columns, room = len(kept.scale), store.row.shape[1]
    total, enough = np.empty(PANEL, dtype=np.float32), np.ones(len(asked.cells), dtype=np.bool_)
    for panel in range(len(kept.panels)):
        for query in range(len(enough)):
            full = store.found[query] + PANEL > room
            # also pruned early, and then ever less often: what is far need not be stored at all
            if enough[query] and (full or (panel & (panel - 1) == 0 and store.found[query] > neighbors)):
                _prune(store, query, neighbors, asked.margin[query], columns)
                enough[query] = store.found[query] + PANEL <= room
            if not enough[query]:
                continue
            total[:] = NOUGHT
            _add_squares(kept.panels[panel], asked.numbers[query], asked.rough[query], total)
            _add_mismatches(kept.panels[panel], asked.words[query], asked.rough[query], total)
            if len(asked.mask[query]):
                _rescale(kept.presence[panel], asked.mask[query], columns, total)
            _take(kept, panel * PANEL, total, asked.own[query], store, query)
    for query in range(len(enough)):
        for i in range(store.found[query]):
            store.distance[query, i] = _exact_distance(kept, store.row[query, i], asked.cells[query])
    return enough


@kernel
def _share_out(
    distance: Array, mass: Array, row: NDArray[np.int64], labels: Any, neighbors: float, inverse: bool, masses: Array
) -> float:
    """Add each class's mass among the nearest to `masses`; the squared distance of the farthest of them.

    Rows as far as the farthest share what the nearer ones leave of K. With `inverse`, a row counts 1/distance times.
    """
    farthest, nearest = farthest_neighbor(distance, mass, neighbors), np.inf
    nearer = tied = 0.0
    for i in range(len(row)):
        nearest = min(nearest, distance[i])
        if distance[i] < farthest * (1 - TIED):
            nearer += mass[i]
        elif distance[i] <= farthest * (1 + TIED):
            tied += mass[i]
    share = min(1.0, max(0.0, neighbors - nearer) / tied)
    for i in range(len(row)):
        if distance[i] <= farthest * (1 + TIED):
            amount = mass[i] if distance[i] < farthest * (1 - TIED) else share * mass[i]
            if inverse and distance[i] != nearest:
                amount *= np.sqrt(nearest / distance[i])
            masses[labels[row[i]]] += amount
    return farthest


@kernel
def share_out(
    store: Store,
    enough: NDArray[np.bool_],
    labels: NDArray[np.int32],
    neighbors: Array,
    inverse: bool,
    masses: Array,
    radius: Array,
) -> None:
    """masses[query, k, class] += mass among the neighbors[k] nearest rows, where the store was enough; radius: their reach."""
    for query in np.flatnonzero(enough):
        found = store.found[query]
        distance, mass, row = store.distance[query, :found], store.mass[query, :found], store.row[query, :found]
        for k in range(len(neighbors)):
            farthest = _share_out(distance, mass, row, labels, neighbors[k], inverse, masses[query, k])
            radius[query, k] = np.sqrt(farthest)
