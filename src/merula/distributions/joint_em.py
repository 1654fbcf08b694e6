"""Incomplete rows shared out over the cells of a joint table they may belong to, by EM on counted distinct rows.

The model: every listed cell has its own probability, all other cells share one. A listed cell was met complete, or lies
in the reach of an incomplete row whose reach is narrow enough to list. With n the complete counts and α the pseudo-count:

    E: a row with observed part v gives each agreeing cell  w · θ(cell) / Σ_agreeing θ
    M: θ(cell) = (n(cell) + received + α) / (total + α·cells)

log likelihood + α Σ log θ rises at every step (Dempster, Laird, Rubin 1977, section 3).

A table over many columns has far too many cells to list, but most were never met and nothing distinguishes them, so one
number serves them all. The reach of an incomplete row is the set of cells that agree with what it observes; `share_out` begins
by listing the cells within reach of the rows with the narrowest reach, until the list would become too long (`_with_reach`).
What a wider row does not give to listed cells, it gives to all the others together.

Incomplete rows are then grouped by the columns they miss (`_patterns`). Within a group, a cell agrees with at most one
distinct row, so one integer for each cell says where it belongs, and the E step is a sum over cells and a division for
each group (`_expected`).

`_em` repeats E and M until the shares stand still. After every two plain steps it tries a longer one in the same direction, and
keeps it only if the objective is no lower for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy
from sklearn.exceptions import ConvergenceWarning

from merula.core import Array, as_float, warn_user
from merula.core.logspace import safe_log
from merula.stats.distinct_rows import MISSING, distinct_rows, sum_rows

WIDEST_REACH = 1_000_000  # cells listed for the sake of incomplete rows, at most
MOST_STEPS = 1_000
TOLERANCE = 1e-12
SETTLED = 1e-9  # of all weight: without smoothing, a smaller share has 0 as its limit


class CellTable:
    """Distinct rows of small integers, found again by binary search."""

    def __init__(self, cells: NDArray[np.int32]) -> None:
        self.cells, rng = cells, np.random.default_rng(0)
        while True:  # until the sums of levels times odd numbers, modulo 2⁶⁴, differ for every two of the cells
            halves = rng.integers(0, 2**63, size=cells.shape[1], dtype=np.uint64)
            self._multipliers: NDArray[np.uint64] = np.asarray(2 * halves + 1, dtype=np.uint64)
            keys = self._key(cells)
            if len(np.unique(keys)) == len(cells):
                break
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]

    def _key(self, cells: NDArray[Any]) -> NDArray[np.uint64]:
        with np.errstate(over="ignore"):
            key = np.zeros(len(cells), dtype=np.uint64)
            for column, multiplier in zip(cells.T, self._multipliers, strict=True):
                key += column.astype(np.int64).astype(np.uint64) * multiplier
        return key

    def find(self, cells: NDArray[Any]) -> NDArray[np.int64]:
        """The index of each row in the table, −1 where it is not there."""
        if not len(self._keys):
            return np.full(len(cells), -1, dtype=np.int64)
        index = self._order[np.minimum(np.searchsorted(self._keys, self._key(cells)), len(self._keys) - 1)]
        return np.where((self.cells[index] == cells).all(axis=1), index, -1)


@dataclass(frozen=True, eq=False)
class Shared:
    """One class's expected counts: in each listed cell, and in all other cells together."""

    cells: NDArray[np.int32]
    counts: Array
    elsewhere: float

    def log_probabilities(self, wanted: NDArray[np.int32], size: int, log_pseudo: float) -> tuple[Array, float]:
        """log θ of the wanted cells, and of each cell that is not listed; all even where nothing was counted."""
        total = np.logaddexp(safe_log(self.counts.sum() + self.elsewhere), log_pseudo + log(size))
        if total == -np.inf:
            return np.full(len(wanted), -log(size)), -log(size)
        others = size - len(self.cells)
        each_other = float(safe_log(self.elsewhere)) - log(others) if others else -np.inf
        rest = float(np.logaddexp(each_other, log_pseudo) - total)
        log_cell = np.append(np.logaddexp(safe_log(self.counts), log_pseudo) - total, rest)
        return log_cell[CellTable(self.cells).find(wanted)], rest


@dataclass(frozen=True, eq=False)
class Pattern:
    """Incomplete rows that miss the same columns: their weights, which cell belongs to which, and how many cells are not listed."""

    weight: Array
    of_cell: NDArray[np.int64]  # which of the rows a cell agrees with; their number, if none
    unlisted: Array

    def agreeing(self, cell: Array, rest: float) -> Array:
        """Σ θ over the cells that agree with each row, up to a factor."""
        elsewhere = self.unlisted * rest if rest > 0 else 0.0
        listed = np.bincount(self.of_cell, cell, minlength=len(self.weight) + 1)[: len(self.weight)]
        return np.asarray(listed + elsewhere, dtype=np.float64)


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
    reach = np.exp(np.where(partial == MISSING, np.log(sizes), 0.0).sum(axis=1).clip(max=700.0))
    order = np.argsort(reach, kind="stable")
    within = np.cumsum(reach[order].round()) <= WIDEST_REACH
    first_out = reach[order][~within].min(initial=np.inf)  # rows of equal reach are listed together or not at all
    narrow = partial[reach < min(first_out, WIDEST_REACH + 1)]
    every = np.concatenate([cells, *(_reached(row, sizes) for row in narrow)])
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
    for index, example in enumerate(first.tolist()):
        observed = ~missing[example]
        chosen = groups == index
        of_cell = CellTable(partial[chosen][:, observed]).find(cells[:, observed])
        of_cell = np.where(of_cell >= 0, of_cell, int(chosen.sum()))
        agreeing = np.bincount(of_cell, minlength=int(chosen.sum()) + 1)[:-1]
        whole = prod(sizes[~observed].tolist())
        unlisted = np.array([as_float(whole - count) for count in agreeing.tolist()])
        found.append(Pattern(weight[chosen], of_cell, unlisted))
    return found


def _em(
    cells: NDArray[np.int32], counts: Array, patterns: list[Pattern], sizes: NDArray[np.int64], pseudo: float
) -> Shared:
    """EM from a table in which every cell has one row more than was met, in squared steps that never lower the objective.

    The state is what incomplete rows give to each listed cell, and last to all others together. Two steps of EM show a
    direction; the third goes further along it (Varadhan & Roland 2008, scheme S3). Without smoothing the maximum often lies
    where cells are 0, and plain EM would take for ever to get there.
    """
    others = as_float(prod(sizes.tolist()) - len(cells))

    def table(state: Array) -> tuple[Array, float]:
        return counts + state[:-1] + pseudo, pseudo + (state[-1] / others if others else 0.0)

    def objective(state: Array) -> float:
        cell, rest = table(state)
        prior = pseudo * others * np.log(rest) if pseudo and np.isfinite(others) else 0.0
        return float(xlogy(counts + pseudo, cell).sum()) + prior + _log_likelihood(patterns, cell, rest)

    state = _expected(patterns, counts + 1.0, 1.0)
    whole = float(counts.sum() + state.sum())
    for _ in range(MOST_STEPS):
        first = _expected(patterns, *table(state))
        second = _expected(patterns, *table(first))
        if np.abs(second - first).max() <= TOLERANCE * whole:
            return _shared(cells, counts, second, SETTLED * whole if pseudo == 0 else 0.0)
        leap = _expected(patterns, *table(_extrapolated(state, first, second)))
        state = leap if objective(leap) >= objective(second) else second
    message = f"EM for the joint table stopped after {MOST_STEPS} steps before it settled; smoothing > 0 makes it settle sooner"
    warn_user(message, ConvergenceWarning)
    return _shared(cells, counts, state, 0.0)


def _shared(cells: NDArray[np.int32], counts: Array, state: Array, least: float) -> Shared:
    """What EM arrived at; shares below `least` are on their way to 0, and are taken there."""
    state = np.where(state > least, state, 0.0)
    return Shared(cells, counts + state[:-1], float(state[-1]))


def _extrapolated(state: Array, first: Array, second: Array) -> Array:
    """Further along the way that two steps of EM went, nowhere below a hundredth of where the second arrived."""
    change, bend = first - state, (second - first) - (first - state)
    length = float(np.sqrt((bend * bend).sum()))
    pace = max(1.0, float(np.sqrt((change * change).sum())) / length) if length > 0 else 1.0
    return np.maximum(state + 2 * pace * change + pace * pace * bend, 0.01 * second)


def _log_likelihood(patterns: list[Pattern], cell: Array, rest: float) -> float:
    """Σ weight · log Σ θ over the cells that agree with each incomplete row, up to a constant."""
    return sum(float(xlogy(part.weight, part.agreeing(cell, rest)).sum()) for part in patterns)


def _expected(patterns: list[Pattern], cell: Array, rest: float) -> Array:
    """What incomplete rows give to each listed cell, and last to all others together (`cell`, `rest`: θ up to a factor)."""
    given = np.zeros(len(cell) + 1)
    for pattern in patterns:
        total = pattern.agreeing(cell, rest)
        rate = np.divide(pattern.weight, total, out=np.zeros_like(total), where=total > 0)
        inside = np.append(rate, 0.0)[pattern.of_cell] * cell
        given[:-1] += inside
        lost = pattern.weight - np.bincount(pattern.of_cell, inside, minlength=len(rate) + 1)[: len(rate)]
        given[-1] += float(np.where(pattern.unlisted > 0, np.maximum(lost, 0.0), 0.0).sum())
    return given
