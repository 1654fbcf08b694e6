"""Incomplete rows shared out over the cells of a joint table they may belong to, by EM on counted distinct rows.

The model: every listed cell has its own probability, all other cells share one. A listed cell was met complete, or lies
in the reach of an incomplete row whose reach is narrow enough to list. With n the complete counts and α the pseudo-count:

    E: a row with observed part v gives each agreeing cell  w · θ(cell) / Σ_agreeing θ
    M: θ(cell) = (n(cell) + received + α) / (total + α·cells)

log likelihood + α Σ log θ rises at every step (Dempster, Laird, Rubin 1977, section 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.logspace import safe_log
from merula.stats.joint import MISSING, distinct_rows, sum_rows

Array = NDArray[np.float64]
WIDEST_REACH = 1_000_000  # cells listed for the sake of incomplete rows, at most
MOST_STEPS = 1_000
TOLERANCE = 1e-12


class CellTable:
    """Distinct rows of small integers, found again by binary search."""

    def __init__(self, cells: NDArray[np.int32]) -> None:
        self.cells = cells
        self._multipliers = self._odd_numbers(cells)
        keys = self._key(cells)
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]

    def _odd_numbers(self, cells: NDArray[np.int32]) -> NDArray[np.uint64]:
        """Multipliers whose weighted sums, modulo 2⁶⁴, differ for every two of the cells."""
        rng = np.random.default_rng(0)
        while True:
            halves = rng.integers(0, 2**63, size=cells.shape[1], dtype=np.uint64)
            multipliers: NDArray[np.uint64] = np.asarray(2 * halves + 1, dtype=np.uint64)
            self._multipliers = multipliers
            if len(np.unique(self._key(cells))) == len(cells):
                return multipliers

    def _key(self, cells: NDArray[Any]) -> NDArray[np.uint64]:
        with np.errstate(over="ignore"):
            key = np.zeros(len(cells), dtype=np.uint64)
            for column, multiplier in zip(cells.T, self._multipliers, strict=True):
                key += column.astype(np.int64).astype(np.uint64) * multiplier
        return key

    def find(self, cells: NDArray[Any]) -> NDArray[np.int64]:
        """The place of each row in the table, −1 where it is not there."""
        if not len(self._keys):
            return np.full(len(cells), -1, dtype=np.int64)
        near = np.minimum(np.searchsorted(self._keys, self._key(cells)), len(self._keys) - 1)
        place = self._order[near]
        return np.where((self.cells[place] == cells).all(axis=1), place, -1)


@dataclass(frozen=True, eq=False)
class Shared:
    """One class's expected counts: in each listed cell, and in all other cells together."""

    cells: NDArray[np.int32]
    counts: Array
    elsewhere: float

    def log_probabilities(self, wanted: NDArray[np.int32], log_size: float, log_pseudo: float) -> tuple[Array, float]:
        """log θ of the wanted cells, and of each cell that is not listed; all even where nothing was counted."""
        total = np.logaddexp(safe_log(self.counts.sum() + self.elsewhere), log_pseudo + log_size)
        if total == -np.inf:
            return np.full(len(wanted), -log_size), -log_size
        others = (
            log_size + np.log1p(-min(1.0, len(self.cells) * np.exp(-log_size)))
            if len(self.cells) < np.exp(min(log_size, 700))
            else -np.inf
        )
        rest = float(
            np.logaddexp(safe_log(self.elsewhere) - others if others > -np.inf else -np.inf, log_pseudo) - total
        )
        log_cell = np.logaddexp(safe_log(self.counts), log_pseudo) - total
        place = CellTable(self.cells).find(wanted)
        return (np.where(place >= 0, log_cell[place], rest) if len(log_cell) else np.full(len(wanted), rest)), rest


@dataclass(frozen=True, eq=False)
class Pattern:
    """Incomplete rows that miss the same columns: their weights, which cell belongs to which, and how many cells are not listed."""

    weight: Array
    of_cell: NDArray[np.int64]
    unlisted: Array


def share_out(rows: NDArray[np.int32], weight: Array, sizes: NDArray[np.int64], pseudo: float) -> Shared:
    """The expected counts of one class, every incomplete row shared out over the cells it agrees with."""
    rows, weight = rows[weight > 0], weight[weight > 0]
    missing = rows == MISSING
    complete = ~missing.any(axis=1)
    partial = ~complete & ~missing.all(axis=1)
    cells, counts = rows[complete], weight[complete]
    if not partial.any():
        return Shared(cells, counts, 0.0)
    cells, counts = _with_reach(cells, counts, rows[partial], sizes)
    return _em(cells, counts, _patterns(cells, rows[partial], weight[partial], sizes), sizes, pseudo)


def _with_reach(
    cells: NDArray[np.int32], counts: Array, partial: NDArray[np.int32], sizes: NDArray[np.int64]
) -> tuple[NDArray[np.int32], Array]:
    """The cells met complete and those in reach of the narrowest incomplete rows, with the complete counts."""
    reach = np.where(partial == MISSING, sizes.astype(np.float64), 1.0).prod(axis=1)
    order = np.argsort(reach, kind="stable")
    narrow = partial[order[np.cumsum(reach[order]) <= WIDEST_REACH]]
    listed = [cells, *(_reached(row, sizes) for row in narrow)]
    every = np.concatenate(listed)
    first, groups = distinct_rows(every)
    known = np.concatenate([counts, np.zeros(len(every) - len(cells))])
    return every[first], sum_rows(known[:, None], groups, len(first))[:, 0]


def _reached(row: NDArray[np.int32], sizes: NDArray[np.int64]) -> NDArray[np.int32]:
    """All cells that agree with an incomplete row."""
    axes = [
        np.arange(size, dtype=np.int32) if level == MISSING else np.array([level])
        for level, size in zip(row, sizes.tolist(), strict=True)
    ]
    return np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1).astype(np.int32)


def _patterns(
    cells: NDArray[np.int32], partial: NDArray[np.int32], weight: Array, sizes: NDArray[np.int64]
) -> list[Pattern]:
    missing = partial == MISSING
    first, groups = distinct_rows(missing.astype(np.int8))
    found = []
    for place, example in enumerate(first.tolist()):
        observed = ~missing[example]
        chosen = groups == place
        of_cell = CellTable(partial[chosen][:, observed]).find(cells[:, observed])
        agreeing = np.bincount(of_cell[of_cell >= 0], minlength=int(chosen.sum()))
        whole = sizes[~observed].astype(np.float64).prod()
        found.append(Pattern(weight[chosen], of_cell, np.maximum(whole - agreeing, 0.0)))
    return found


def _em(
    cells: NDArray[np.int32], counts: Array, patterns: list[Pattern], sizes: NDArray[np.int64], pseudo: float
) -> Shared:
    """EM from a table in which every cell has one row more than was met."""
    whole = counts.sum() + sum(float(pattern.weight.sum()) for pattern in patterns)
    others = max(float(sizes.astype(np.float64).prod()) - len(cells), 0.0)
    cell, rest = counts + 1.0, 1.0
    received, elsewhere = np.zeros_like(counts), 0.0
    for _ in range(MOST_STEPS):
        before = received
        received, elsewhere = _expected(patterns, cell, rest)
        cell, rest = counts + received + pseudo, pseudo + (elsewhere / others if others else 0.0)
        if np.abs(received - before).max(initial=0.0) <= TOLERANCE * whole:
            break
    return Shared(cells, counts + received, elsewhere)


def _expected(patterns: list[Pattern], cell: Array, rest: float) -> tuple[Array, float]:
    """What incomplete rows give to each listed cell, and to all others together (`cell`, `rest`: θ up to a factor)."""
    received, elsewhere = np.zeros_like(cell), 0.0
    for pattern in patterns:
        owner = np.where(pattern.of_cell >= 0, pattern.of_cell, len(pattern.weight))
        with np.errstate(invalid="ignore", divide="ignore"):
            unlisted = np.where(pattern.unlisted > 0, pattern.unlisted * rest, 0.0)
            total = np.bincount(owner, cell, minlength=len(pattern.weight) + 1)[:-1] + unlisted
            rate = np.where(total > 0, pattern.weight / total, 0.0)
            outside = np.where(
                np.isfinite(unlisted) & (total > 0),
                rate * unlisted,
                np.where(pattern.unlisted > 0, pattern.weight, 0.0),
            )
        received += np.append(rate, 0.0)[owner] * cell
        elsewhere += float(outside.sum())
    return received, elsewhere
