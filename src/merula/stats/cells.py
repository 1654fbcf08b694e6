"""Numbers counted in cells: where a column is larger than memory, what it is cut by is told from few thousand counts.

The stated error is one of ranks. Lowest and highest number of each cell are kept: a cut between two cells stands half-way between two
numbers that are neighbours among all rows, and the weight below it is exactly known. Only numbers of one cell are not told apart. Where
several numbers of one cell hold at most the share `LIGHTEST` of the column's weight, as `engines.cells` sees to, a cut stands no farther
than that share of ranks from where it would stand if every number had been counted by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.compiled import kernel
from merula.core.sound import all_shaped, are_cuts, are_finite, ascends
from merula.data.encode import Encoded, Target
from merula.stats.base import OfColumns, with_weight
from merula.stats.counts import are_counted, check_values, indices_in_union, merged_values, refuse_infinity, tally

FINENESS = 1024  # cells for each unit of the inverse hyperbolic sine
FARTHEST = 1e300  # scales from the first middle: all beyond is one cell
NEARBY = 16.0  # scales from a further middle, beyond which it tells nothing apart: few thousand cells hold any column
LIGHTEST = 1 / 500  # of a column's weight: the most that several numbers may hold that are not told apart


class Grid(NamedTuple):
    """The cells of a column: fine about each of its middles, coarser the farther out, and split at further breaks.

    cell = Σ over middles (centre, scale) of ⌊asinh((x − centre) / scale) · 1024 + ½⌋ + number of breaks below x

    No part of the sum falls as x rises: numbers of one cell lie together, cells are in the order of their numbers, and where one part
    tells two numbers apart, the sum does. With one middle, cells are 1/1024 of the scale wide near it, and 1/1024 of their distance
    from it far out; a further middle adds cells that are as fine about another place, and none farther than 16 scales from it.

    Examples
    --------
    >>> Grid(((7.0, 10.0),)).cells(np.array([7.0, 7.002, 7.02, 1007.0])).tolist()
    [0.0, 0.0, 2.0, 5426.0]
    >>> Grid(((7.0, 10.0),), (7.001,)).cells(np.array([7.0, 7.002, 7.02, 1007.0])).tolist()
    [0.0, 1.0, 3.0, 5427.0]
    """

    middles: tuple[tuple[float, float], ...] = ((0.0, 1.0),)
    breaks: tuple[float, ...] = ()

    @property
    def reaches(self) -> list[float]:
        """How many scales from each middle its cells end: those of the first go on for ever."""
        return [FARTHEST, *[NEARBY] * (len(self.middles) - 1)]

    def cells(self, values: Array) -> Array:
        """The number of each value's cell, NaN for NaN."""
        values = values.astype(np.float64)
        found = np.searchsorted(np.array(self.breaks), values).astype(np.float64) if self.breaks else 0.0
        for (centre, scale), reach in zip(self.middles, self.reaches, strict=True):
            with np.errstate(over="ignore"):
                away = np.clip((values - centre) / scale, -reach, reach)
            found = found + np.floor(np.arcsinh(away) * FINENESS + 0.5)
        return np.asarray(found)

    def about(self, middles: Sequence[tuple[float, float]]) -> Grid:
        """The same, as fine about further middles."""
        return self._replace(middles=(*self.middles, *middles))

    def split(self, breaks: Array) -> Grid:
        """The same with further breaks."""
        return self._replace(breaks=tuple(np.unique([*self.breaks, *breaks.tolist()]).tolist()))

    @property
    def is_sound(self) -> bool:
        """Whether it is what a grid may be; a file from a stranger is asked before it is used."""
        plain = all(type(part) is tuple and len(part) == 2 and set(map(type, part)) == {float} for part in self.middles)
        return plain and are_finite(np.array(self.middles)) and all(scale > 0 for _, scale in self.middles) and are_cuts(self.breaks)  # fmt: skip


@dataclass(frozen=True, eq=False)
class CellCounts(OfColumns):
    """For each of several columns: the weight of each class in each cell of its grid, the ends of each cell, and of each class's missing cells.

    ``cells[j][v]`` is the number of a cell that holds some weight, ascending; its numbers lie from ``lowest[j][v]`` to ``highest[j][v]``,
    and ``counts[j][class, v]`` is their weight. Counts add, and ends are the lowest and the highest: any batches give the same.

    Examples
    --------
    >>> counts = CellCounts.zero(("wing",), 1)
    >>> counts.cells[0].tolist(), counts.too_heavy("wing").tolist()
    ([], [])
    """

    columns: tuple[str, ...]
    grids: tuple[Grid, ...]
    cells: tuple[Array, ...]
    lowest: tuple[Array, ...]
    highest: tuple[Array, ...]
    counts: tuple[Array, ...]
    missing: Array

    @classmethod
    def zero(cls, columns: Sequence[str], classes: int, grids: Sequence[Grid] | None = None) -> CellCounts:
        d = len(columns)
        nothing = (np.zeros(0),) * d
        return cls(tuple(columns), tuple(grids or [Grid()] * d), nothing, nothing, nothing, (np.zeros((classes, 0)),) * d, np.zeros((classes, d)))  # fmt: skip

    @classmethod
    def beside(cls, parts: Sequence[CellCounts]) -> CellCounts:
        """Counts of one column each as counts of all of them."""
        lists = {name: tuple(getattr(part, name)[0] for part in parts) for name in ("columns", "grids", "cells", "lowest", "highest", "counts")}  # fmt: skip
        return cls(**lists, missing=np.concatenate([part.missing for part in parts], axis=1))

    def update(self, rows: Encoded, target: Target) -> CellCounts:
        x, target = with_weight(rows.values(self.columns), target)
        parts = []
        for j, grid in enumerate(self.grids):
            numbers = np.ascontiguousarray(x[:, j], dtype=np.float64)
            parts.append(self._alone(j).with_cells(grid.cells(numbers), numbers, numbers, target))
        return CellCounts.beside(parts) if parts else self

    def with_cells(self, cells: Array, lowest: Array, highest: Array, target: Target) -> CellCounts:
        """The same of one column with the weight that was found in these cells, between these ends; cell NaN for missing."""
        check_values(self.columns[0], cells, len(self.missing))
        order = np.argsort(cells)
        met, counts, missing = tally(cells, order, target.codes, target.weights, len(self.missing))
        low, high = _ends(cells, order, lowest, highest, len(met))
        for end in (low, high):
            refuse_infinity(end, self.columns[0])
        return self + replace(self, cells=(met,), lowest=(low + 0.0,), highest=(high + 0.0,), counts=(counts,), missing=missing[:, None])  # fmt: skip

    def __add__(self, other: CellCounts) -> CellCounts:
        return CellCounts.beside([_united(self._alone(j), other._alone(j)) for j in range(len(self.columns))]) if self.columns else self  # fmt: skip

    def scaled(self, factor: float) -> CellCounts:
        return replace(self, counts=tuple(part * factor for part in self.counts), missing=self.missing * factor)

    def _alone(self, j: int) -> CellCounts:
        return self.with_columns(self.columns[j : j + 1])

    def too_heavy(self, column: str, least: float = 0.0) -> NDArray[np.bool_]:
        """Which cells of a column hold several numbers, and together more than `LIGHTEST` of its weight and than `least`."""
        j = self.columns.index(column)
        weight = self.counts[j].sum(axis=0)
        heavy: NDArray[np.bool_] = (self.lowest[j] < self.highest[j]) & (weight > max(LIGHTEST * weight.sum(), least))
        return heavy

    def told_apart(self, column: str) -> tuple[Array, Array]:
        """The ends of each cell of a column, two rows of numbers, and the weight of each class in it.

        Cells that overlap are one: next to a break, the last digit of an inverse hyperbolic sine may say either side.
        """
        j = self.columns.index(column)
        low, high, counts = self.lowest[j], self.highest[j], self.counts[j]
        apart = np.flatnonzero(np.append(True, low[1:] > np.maximum.accumulate(high)[:-1])) if len(low) else np.zeros(0, np.intp)  # fmt: skip
        if len(apart) < len(low):
            low, high = np.minimum.reduceat(low, apart), np.maximum.reduceat(high, apart)
            counts = np.add.reduceat(counts, apart, axis=1)
        return np.stack([low, high]), counts

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        found = super().from_state(state)
        return replace(found, grids=tuple(Grid(*grid) for grid in found.grids))

    def fits(self, classes: int) -> bool:
        """Whether it is what numbers of so many classes may be counted as."""
        if not are_counted(self.columns, self.cells, self.counts, self.missing, classes):
            return False
        ends = (self.lowest, self.highest)
        if not all(len(part) == len(self.columns) for part in (self.grids, *ends)) or not all(grid.is_sound for grid in self.grids):  # fmt: skip
            return False
        return all(
            all_shaped((len(met),), met, low, high) and ascends(met) and are_finite(low, high) and bool((low <= high).all())
            for met, low, high in zip(self.cells, *ends, strict=True)
        )  # fmt: skip


@kernel
def _ends(cells: Array, order: NDArray[np.int64], lowest: Array, highest: Array, size: int) -> tuple[Array, Array]:
    """The lowest and the highest number of each cell, in the order of the cells; missing numbers are last."""
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    current = -1
    for index in range(len(order)):
        row = order[index]
        if cells[row] != cells[row]:
            break
        current += index == 0 or cells[row] != cells[order[index - 1]]
        low[current] = min(low[current], lowest[row])
        high[current] = max(high[current], highest[row])
    return low, high


def _united(one: CellCounts, other: CellCounts) -> CellCounts:
    """Two counts of one column added."""
    mine, theirs, size = indices_in_union(one.cells[0], other.cells[0])
    cells, counts = merged_values(one.cells[0], one.counts[0], other.cells[0], other.counts[0])
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    for part, places in ((one, mine), (other, theirs)):
        low[places] = np.minimum(low[places], part.lowest[0])
        high[places] = np.maximum(high[places], part.highest[0])
    return replace(one, cells=(cells,), lowest=(low,), highest=(high,), counts=(counts,), missing=one.missing + other.missing)  # fmt: skip
