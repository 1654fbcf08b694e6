"""The terms of rows by a model that has not seen them: what the weights of terms are learned from.

Where there is a closed form each row is left out by itself; elsewhere its terms come from the rows of the other folds.
Levels, cuts, parents and concentrations stay as all rows chose them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.classify.folds import Folds, Some
from merula.core import Array
from merula.core.logspace import safe_log
from merula.data.encode import Encoded, Target
from merula.data.schema import Schema
from merula.distributions import Bernoulli, Categorical, Gaussian, Setting
from merula.distributions.categorical import counted_levels
from merula.distributions.joint_table import level_cells
from merula.distributions.priors import checked_smoothing
from merula.engines import Source, collect
from merula.graphs.dependence import estimates
from merula.graphs.dependence.depths import DependentInSteps, gained
from merula.graphs.dependence.families import counts_by_depth, ordered
from merula.stats import Moments, Wanted, added
from merula.stats.distinct_rows import MISSING

ROWS_AT_ONCE = 1_024  # whose moments are made at once
ROUNDING = 1e-12  # of a sum of squares: what is left of it when all that varied is taken away


@dataclass(frozen=True, eq=False)
class Held:
    """One block of a fitted model with its choices held: the family, what it counts, what it counted and made of it."""

    family: Any
    wanted: Wanted
    statistic: Any
    part: Any
    setting: Setting


@dataclass(frozen=True, eq=False)
class LeftOutTerms:
    """The terms of rows that their model has not seen, factors × rows × classes; the rows' classes, weights and folds.

    A row whose weight lies in several folds stands there once for each.
    """

    values: Array
    codes: NDArray[np.int64]
    weights: Array
    folds: NDArray[np.int64]


def left_out_terms(
    blocks: Sequence[Held], rows: Encoded, target: Target, schema: Schema, folds: Folds, some: Sequence[Some]
) -> LeftOutTerms:
    """The terms of `some` rows of each fold, of all factors of all blocks."""
    indices = np.concatenate([one.indices for one in some])
    of_fold = np.repeat(np.arange(len(some)), [len(one.indices) for one in some])
    taken, own = rows.take(indices), Target(target.codes[indices].astype(np.int64), target.classes)
    values = [CLOSED.get(type(block.family), _no_closed_form)(block, taken, own) for block in blocks]
    unknown = [k for k, found in enumerate(values) if np.isnan(found).any()]
    if unknown:
        models = _of_other_folds([blocks[k] for k in unknown], rows, target, schema, folds)
        for fold, parts in enumerate(models):
            for k, part in zip(unknown, parts, strict=True):
                _fill(values[k], np.flatnonzero(of_fold == fold), part, taken)
    return LeftOutTerms(np.concatenate(values), own.codes, np.concatenate([one.weights for one in some]), of_fold)


def _no_closed_form(block: Held, rows: Encoded, target: Target) -> Array:
    return np.full((block.part.factors_count, len(rows), len(target.classes)), np.nan)


def _of_other_folds(
    blocks: Sequence[Held], rows: Encoded, target: Target, schema: Schema, folds: Folds
) -> Iterator[list[Any]]:
    """For each fold, what each block is by the rows of the others: statistics of folds, added up."""
    wanted = [block.wanted for block in blocks]
    counted = [collect(Source(*left_out.of(rows, target)), schema, wanted) for _, left_out in folds]
    for fold in range(len(folds)):
        others = added([found for k, found in enumerate(counted) if k != fold])
        weight = others.class_counts.weight
        yield [
            block.family.build(statistic, replace(block.setting, class_weight=weight))
            for block, statistic in zip(blocks, others.blocks, strict=True)
        ]


def _fill(values: Array, indices: NDArray[np.int64], part: Any, rows: Encoded) -> None:
    """Put the terms of rows of one fold where none are known."""
    for found, factor in zip(values, part.factors(), strict=True):
        lacking = indices[np.isnan(found[indices]).any(axis=1)]
        if len(lacking):
            found[lacking] = factor.log_prob(rows.take(lacking))


# ------------------------------------------------------------------------------------------------------- closed forms


def _categorical(block: Held, rows: Encoded, target: Target) -> Array:
    """log (n_cv − 1 + α) / (n_c − 1 + α·m) for a row's own class; nothing of missing cells."""
    setting, statistic, part = block.setting, block.statistic, block.part
    own = block.family.smoothing
    smoothing = setting.smoothing if own is None else checked_smoothing(own, statistic.columns)
    cells = level_cells(rows, part.columns, part.level_sets)
    found = []
    for j, (levels, counts) in enumerate(counted_levels(statistic, setting)):
        (table,) = estimates.left_out([counts], smoothing, part.columns[j], levels, setting.classes)
        missing = levels.index(None) if None in levels else MISSING
        found.append(_looked_up(table, [], np.where(cells[:, j] < 0, missing, cells[:, j]), target.codes))
    return np.stack(found)


def _dependent(block: Held, rows: Encoded, target: Target) -> Array:
    """The same along a column's parents; NaN where one of them is missing."""
    setting, part = block.setting, block.part
    pairs = ordered(block.statistic, setting)
    rule, cells, found = estimates.checked(block.family.smoothing, pairs.columns), part._cells_of(rows), list[Array]()
    for name, counts in counts_by_depth(block.statistic, pairs, part.graph).items():
        own, above = cells[:, part._where[name]], [cells[:, part._where[parent]] for parent in part.graph[name]]
        tables = estimates.left_out(counts, rule, name, part.levels[name], setting.classes)
        logs = [_looked_up(table, above[:depth], own, target.codes) for depth, table in enumerate(tables)]
        found += [logs[0], *(gained(more, fewer) for fewer, more in pairwise(logs))]
    return np.stack(found)


def _looked_up(table: estimates.LeftOut, above: Sequence[Any], own: Any, codes: NDArray[np.int64]) -> Array:
    """log P(cell given class and parents) of each row, itself left out: 0 where the cell is missing, NaN where a parent is."""
    found = np.zeros((len(own), len(table.own)))
    known = own >= 0
    lacking = known & np.any([parent < 0 for parent in above], axis=0) if above else np.zeros_like(known)
    found[lacking] = np.nan
    sure = np.flatnonzero(known & ~lacking)
    cells = (*(parent[sure] for parent in above), own[sure])
    found[sure] = safe_log(table.other[(slice(None), *cells)]).T
    found[sure, codes[sure]] = safe_log(table.own[(codes[sure], *cells)])
    return found


def _gaussian(block: Held, rows: Encoded, target: Target) -> Array:
    """log N of each cell by the moments of all other rows."""
    x = rows.values(block.part.columns).astype(np.float64)
    found = np.empty((x.shape[1], len(x), len(target.classes)))
    for label in range(len(target.classes)):
        own = np.flatnonzero(target.codes == label)
        for start in range(0, len(own), ROWS_AT_ONCE):
            some = own[start : start + ROWS_AT_ONCE]
            found[:, some] = _normal_without_one(block, x[some], label)
    return found


def _normal_without_one(block: Held, x: Array, label: int) -> Array:
    """Columns × rows × classes: the family's own estimate, for every row of a class and column from the moments without it."""
    moments = _without_one(block.statistic, x, label)
    weight = block.setting.class_weight.copy()
    weight[label] = max(weight[label] - 1, 0.0)
    part = block.family.build(moments, replace(block.setting, class_weight=weight))
    away = (x.ravel() - part.mean) ** 2 / (2 * part.variance)
    logs = np.where(np.isnan(away), part.log_missing, part.log_height + part.log_present - away)
    return logs.reshape(len(logs), *x.shape).transpose(2, 1, 0)  # type: ignore[no-any-return]


def _without_one(moments: Moments, x: Array, label: int) -> Moments:
    """The moments of all classes for every row and column, as if each were a column: one row of a class left out.

    mean − (x − mean) / (n − 1) and squares − (x − mean)² · n / (n − 1)
    """
    arrays = [np.repeat(part[:, None, :], len(x), axis=1) for part in moments._parts]
    weight, mean, squares, rest = (array[label] for array in arrays)
    known, left = ~np.isnan(x), np.maximum(weight - 1, 0.0)
    away = (x - mean) - rest
    divisor = np.where(left > 0, left, 1.0)
    fewer = squares - away**2 * weight / divisor
    arrays[0][label] = np.where(known, left, weight)
    arrays[1][label] = np.where(known & (left > 0), mean - away / divisor, mean)
    arrays[2][label] = np.where(known, np.where((left > 0) & (fewer > ROUNDING * squares), fewer, 0.0), squares)
    names = tuple(map(str, range(x.size)))
    return Moments(names, *(array.reshape(len(array), -1) for array in arrays))


CLOSED: dict[type, Callable[[Held, Encoded, Target], Array]] = {
    Bernoulli: _categorical,
    Categorical: _categorical,
    DependentInSteps: _dependent,
    Gaussian: _gaussian,
}
