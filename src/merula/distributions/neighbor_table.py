"""A table to look for neighbours in: mixed columns, missing cells, ties; one answer for each number of neighbours asked for.

distance² = columns / shared · Σ_shared (difference · scale)², a word differing by 0 or 1
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.distributions._nearest import PANEL, ROUNDING, Asked, Kept, Store, search, share_out

AT_ONCE = 256  # queries that a panel of rows is read for once
FARTHEST = 1e15  # ranges; a rough distance from farther out says nothing


@dataclass(frozen=True, eq=False)
class NeighborTable:
    """Rows laid out for the search; ``(x − low) · narrowing`` is a number as the rough search sees it."""

    kept: Kept
    low: Array
    narrowing: Array
    room: int

    @classmethod
    def of(
        cls,
        cells: Array,
        is_word: NDArray[np.bool_],
        scale: Array,
        labels: NDArray[np.int32],
        weight: Array,
    ) -> NeighborTable:
        """The table of these rows; every column holds two values at least."""
        low, high = np.fmin.reduce(cells, axis=0), np.fmax.reduce(cells, axis=0)
        widest = np.max((high - low) * scale, where=~is_word, initial=0.0) or 1.0
        low, narrowing = np.where(is_word, 0.0, low), np.where(is_word, 1.0, scale / widest)
        panels = _in_panels((cells - low) * narrowing)
        presence = (
            _bits(~np.isnan(panels[:, :-1]))
            if np.isnan(cells).any()
            else np.zeros((len(panels), 0, PANEL), dtype=np.uint64)
        )
        return cls(Kept(cells, scale, is_word, panels, presence, labels, weight), low, narrowing, 2 * PANEL)

    def masses(
        self, cells: Array, neighbors: Array, inverse: bool, classes: int, own: NDArray[np.int64] | None = None
    ) -> tuple[Array, Array]:
        """The mass of each class among the nearest rows, queries × neighbors × classes, and how far they reach.

        Parameters
        ----------
        cells : queries × columns
        neighbors : the numbers of neighbours to answer for, ascending
        inverse : whether a neighbour counts 1/distance times
        classes : how many there are
        own : the row that each query itself is, of which one copy is left out
        """
        masses, radius = np.zeros((len(cells), len(neighbors), classes)), np.empty((len(cells), len(neighbors)))
        own = np.full(len(cells), -1) if own is None else own
        for start in range(0, len(cells), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            self._answer(self._asked(cells[part], own[part]), neighbors, inverse, masses[part], radius[part])
        return masses, radius

    def _answer(self, asked: Asked, neighbors: Array, inverse: bool, masses: Array, radius: Array) -> None:
        """Fill in the masses and radii of some queries; those with too many rows equally far get all the room there may be."""
        most, labels = float(neighbors[-1]), self.kept.labels
        store = _empty_store(len(asked.cells), self.room)
        enough = search(self.kept, asked, most, store)
        share_out(store, enough, labels, neighbors, inverse, masses, radius)
        for query in np.flatnonzero(~enough).tolist():
            one = slice(query, query + 1)
            whole = _empty_store(1, len(self.kept.panels) * PANEL)
            whole.farthest[0] = store.farthest[query]
            found = search(self.kept, Asked._make(part[one] for part in asked), most, whole)
            share_out(whole, found, labels, neighbors, inverse, masses[one], radius[one])

    def _asked(self, cells: Array, own: NDArray[np.int64]) -> Asked:
        """The queries as the search reads them."""
        known, is_word = ~np.isnan(cells), self.kept.is_word
        with np.errstate(over="ignore"):
            exact = (cells - self.low) * self.narrowing
        far = np.nan_to_num(np.abs(exact) > FARTHEST).any(axis=1)
        size = np.where(known & ~is_word, 1 + np.minimum(np.abs(np.nan_to_num(exact)), FARTHEST), 0.0)
        margin = 3 * np.sqrt(max(1, cells.shape[1])) * ROUNDING * np.sqrt((size**2).sum(axis=1))
        rough = np.zeros((len(cells), cells.shape[1] + 1), dtype=np.float32)
        rough[:, :-1] = np.clip(exact, -FARTHEST, FARTHEST)
        mask = _bits(known.T[None])[0].T if self.kept.presence.shape[1] else np.zeros((len(cells), 0), dtype=np.uint64)
        numbers, words = _listed(known & ~is_word), _listed(known & is_word)
        margin = np.where(far, np.inf, margin)
        return Asked(np.ascontiguousarray(cells), rough, margin, own, numbers, words, np.ascontiguousarray(mask))


def _in_panels(cells: Array) -> NDArray[np.float32]:
    """Rows × columns as panels × columns × rows, with a column of zeros behind the last."""
    rows, width = cells.shape
    count = -(-rows // PANEL)
    panels = np.zeros((count, width + 1, PANEL), dtype=np.float32)
    for panel in range(count):
        part = cells[panel * PANEL : (panel + 1) * PANEL]
        panels[panel, :width, : len(part)] = part.T
    return panels


def _bits(known: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """… × columns × rows as … × words of 64 columns × rows, a bit for each."""
    count, width, rows = known.shape
    result = np.zeros((count, -(-width // 64), rows), dtype=np.uint64)
    for column in range(width):
        result[:, column // 64] |= known[:, column].astype(np.uint64) << np.uint64(column % 64)
    return result


def _listed(chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The chosen columns of each row in fours, the number of columns where there are fewer than in another row."""
    count, width = chosen.shape
    most = -(-int(chosen.sum(axis=1).max(initial=0)) // 4) * 4
    order = np.argsort(~chosen, axis=1, kind="stable")[:, :most]
    result = np.full((count, most), width)
    result[:, : order.shape[1]] = np.where(np.take_along_axis(chosen, order, axis=1), order, width)
    return result


def _empty_store(queries: int, room: int) -> Store:
    row, found = np.empty((queries, room), dtype=np.int64), np.zeros(queries, dtype=np.int64)
    distance, mass = np.empty((queries, room)), np.empty((queries, room))
    return Store(row, distance, mass, found, np.full(queries, np.inf, dtype=np.float32))
