"""The numbers of tables larger than memory counted in cells that are light enough: some rows tell which, and counting checks it.

Some rows (`sampled`) tell where the numbers of a column lie, and where more of them lie together than a cell may hold: cells are split
there before anything is counted. Whether that was right, the counts of all rows tell. Only columns where it was not are counted again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, Note, warn_of
from merula.data.schema import Schema
from merula.engines import collect, encoded
from merula.engines.base import Source
from merula.stats import CellCounts, Grid, Wanted
from merula.stats.cells import LIGHTEST

CROWDED = 0.7 * LIGHTEST  # of the weight of some rows: cells that hold more of it are split before all rows are counted
FEW = 32  # rows: as many as chance may bring together where nothing is crowded
MOST_MIDDLES = 16  # of a grid; what is crowded beyond is split number by number
MOST_ALONE = 32  # numbers that have a cell to themselves, whatever lies next to them
PASSES = 4  # over all rows, at most
NARROWEST, WIDEST = float(np.finfo(np.float64).tiny), 1e308  # scales about a middle
MOST_PARTS, FEWEST_PARTS = 512, 4  # of all cells of a column that proved too heavy, and of each of them


def counted_in_cells(source: Source, schema: Schema, names: Sequence[str], n_jobs: int | None) -> dict[str, CellCounts]:
    """The counts of each of these columns of numbers, so that a cell holds one number, or few rows.

    Several numbers of one cell hold at most `LIGHTEST` of the column's weight, or what `FEW` rows weigh where that is more: that far,
    in ranks, a cut may stand from where it would stand if each number had been counted by itself. One pass where the rows that were
    looked at tell the others well, up to three more of the columns where they do not. What then is still too heavy is said.
    """
    grids, least = _first_grids(source, _alone(schema, names), names)
    found: dict[str, CellCounts] = {}
    for _ in range(PASSES):
        wanted = Wanted(CellCounts, tuple(grids), options={"grids": tuple(grids.values())})
        counts: Any = collect(source, _alone(schema, tuple(grids)), [wanted], n_jobs).blocks[0]
        found |= {name: counts.with_columns((name,)) for name in grids}
        grids = {name: _finer(found[name], least) for name in grids if found[name].too_heavy(name, least).any()}
        if not grids:
            return found
    warn_of([_note(found[name]) for name in grids])
    return found


def _alone(schema: Schema, names: Sequence[str]) -> Schema:
    """The schema by which these columns are read, and no others."""
    return Schema(tuple(c if c.name in names else replace(c, kind="ignore") for c in schema.columns))


def _first_grids(source: Source, schema: Schema, names: Sequence[str]) -> tuple[dict[str, Grid], float]:
    """What some rows tell of where the numbers of each column lie, and what few rows weigh."""
    rows, target = encoded(source, schema)
    weights = np.ones(len(rows)) if target.weights is None else np.asarray(target.weights, dtype=np.float64)
    grids = {name: grid_for(rows.values((name,))[:, 0].astype(np.float64), weights) for name in names}
    return grids, FEW * float(weights.mean())


def grid_for(values: Array, weights: Array) -> Grid:
    """A grid about the median, split where its cells would hold too much of these weights.

    Where every cell holds one number, as of whole numbers, it is not split: each is thought to hold one among all rows too.

    Examples
    --------
    >>> grid_for(np.array([1.0, 2.0, 3.0, 4.0, np.nan]), np.ones(5))
    Grid(middles=((2.5, 1.5),), breaks=())
    """
    values, weights = values[np.isfinite(values)], weights[np.isfinite(values)]
    grid = Grid((_middle_and_spread(values),))
    met, share = _shares(values[weights > 0], weights[weights > 0])
    if (np.diff(grid.cells(met)) > 0).all():
        return grid
    limit = max(CROWDED, FEW / len(values))
    heaviest = np.argsort(-share, kind="stable")[:MOST_ALONE]
    grid = grid.split(_around(met[heaviest[share[heaviest] > limit]]))
    while len(grid.middles) < MOST_MIDDLES:
        crowds = _crowds(grid.cells(met), share, limit)
        if not crowds:
            return grid
        crowds = sorted(crowds, key=lambda crowd: -share[crowd].sum())[: MOST_MIDDLES - len(grid.middles)]
        grid = grid.about([_middle_and_spread(met[crowd]) for crowd in crowds])
    return grid.split(_parts(grid.cells(met), met, share, limit))


def _shares(values: Array, weights: Array) -> tuple[Array, Array]:
    """The different numbers, and the share of the weight that each holds."""
    if (weights == 1).all():  # in a third of the time
        met, counts = np.unique(values, return_counts=True)
        return met, counts / max(len(values), 1)
    met, place = np.unique(values, return_inverse=True)
    return met, np.bincount(place, weights, len(met)) / weights.sum()


def _around(numbers: Array) -> Array:
    """The breaks that set numbers apart from all others."""
    return np.concatenate([numbers, np.nextafter(numbers, -np.inf)])


def _heavier(cells: Array, share: Array, limit: float) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Where each cell begins among the numbers it holds, and whether it holds several that are heavier together than a limit."""
    first = np.flatnonzero(np.append(True, cells[1:] != cells[:-1]))
    several = np.diff(np.append(first, len(cells))) > 1
    return first, several & (np.add.reduceat(share, first) > limit)


def _crowds(cells: Array, share: Array, limit: float) -> list[slice]:
    """Which numbers lie in and about crowded cells: those of cells next to one another, half as heavy at least, together."""
    first, heavy = _heavier(cells, share, limit / 2)
    crowded = _heavier(cells, share, limit)[1]
    held = np.flatnonzero(heavy)
    if not crowded.any():
        return []
    runs = np.split(held, np.flatnonzero(np.diff(cells[first[held]]) > 1) + 1)
    ends = np.append(first, len(cells))
    return [slice(int(ends[run[0]]), int(ends[run[-1] + 1])) for run in runs if crowded[run].any()]


def _middle_and_spread(values: Array) -> tuple[float, float]:
    """The median and the distance between the quartiles; where half of all numbers are one, how far the others lie from it."""
    if not len(values):
        return 0.0, 1.0
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    with np.errstate(over="ignore"):
        others = np.abs(values[values != middle] - middle)
        spread = high - low if high > low else np.median(others) if len(others) else abs(middle) or 1.0
    return float(middle), float(np.clip(spread, NARROWEST, WIDEST))


def _parts(cells: Array, met: Array, share: Array, limit: float) -> Array:
    """Where to split crowded cells number by number, so that no part is crowded."""
    first, crowded = _heavier(cells, share, limit)
    sizes = np.diff(np.append(first, len(met)))
    inside = np.repeat(crowded, sizes)
    below = np.cumsum(share) - share
    part = np.floor((below - np.repeat(below[first], sizes)) / (limit / 2))
    ends = np.flatnonzero(inside[1:] & (cells[1:] == cells[:-1]) & (part[1:] != part[:-1]))
    return np.concatenate([0.5 * met[ends] + 0.5 * met[ends + 1], _around(met[inside & (share > limit / 2)])])


def _finer(counts: CellCounts, least: float) -> Grid:
    """The grid of one column with cells that proved too heavy split evenly from their lowest number to their highest."""
    heavy = counts.too_heavy(counts.columns[0], least)
    low, high = counts.lowest[0][heavy], counts.highest[0][heavy]
    parts = max(FEWEST_PARTS, MOST_PARTS // len(low))
    steps = np.arange(parts)[:, None] / parts
    even: NDArray[Any] = low * (1 - steps) + high * steps  # high − low may overflow
    return counts.grids[0].split(np.concatenate([even.ravel(), np.nextafter(high, -np.inf)]))


def _note(counts: CellCounts) -> Note:
    """That numbers of a column lie too close together for all of its other numbers."""
    (name,), weight = counts.columns, counts.counts[0].sum(axis=0)
    most = int(np.argmax(np.where(counts.too_heavy(name), weight, 0.0)))
    share, low, high = weight[most] / weight.sum(), float(counts.lowest[0][most]), float(counts.highest[0][most])
    return Note(UserWarning, f"column {name!r}: {share:.2%} of its numbers lie between {low!r} and {high!r}, and were not told apart where it was cut", name)  # fmt: skip
