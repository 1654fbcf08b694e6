"""Averages over many super-parents: for each row and level above others sums of logs, and the log of the mean of their exponentials."""

from __future__ import annotations

import numpy as np

from merula.classify.averaged import AveragedModel
from merula.classify.sql.dependent import Tree
from merula.classify.sql.lookups import as_whole
from merula.classify.sql.pair_sums import JOINED, ROW, PairSums, as_named, log_of, selected, table_called
from merula.classify.sql.script import Named
from merula.classify.sql.terms import Task
from merula.core import Array, InputError
from merula.engines.dialects import (
    Dialect,
    Expression,
    column,
    compare,
    exp_of,
    listed,
    ln_of,
    minus,
    number,
    plus,
    sqlglot,
    when,
)

MOST_NUMBERS = 20_000_000


def averaged(model: AveragedModel, task: Task) -> list[Expression]:
    """log Σ over super-parents of P(class, row) but for what classes have in common; NULL where a row admits none."""
    dialect, script = task.dialect, task.cells.script
    if dialect.name not in JOINED:
        raise InputError.at("the model", f"averages so many columns that rows must be numbered, which {dialect.name} may do in two ways in one statement", remedy=f"use {', '.join(JOINED)}, or fewer columns")  # fmt: skip
    if model._looked_up is None:
        raise InputError.at("the model", "averages columns with too many levels for a statement", remedy="unite rare levels, or fit on fewer columns")  # fmt: skip
    columns, _, starts, weights, log_start, table = model._looked_up
    logs, tree = _with_starts(table, weights, log_start), Tree(columns, task)
    slots = [_slot(tree, j, int(starts[j]), logs, task) for j in range(len(columns.columns))]
    row = script.let(("row",), lambda: _row_number(dialect))
    alias = f"{script.prefix}average"

    sums = PairSums(alias, slots, logs, dialect)

    def relations(before: str) -> list[Named]:
        found = sums.relations(before, row.name)
        return [*found, *_means(alias, found[-1][0], task)]

    script.join(alias, row, ROW, relations, slots)
    return [script.let(("average", c), lambda c=c: column(log_of(c), alias)) for c in range(task.classes)]  # type: ignore[misc]


def _row_number(dialect: Dialect) -> Expression:
    exp = sqlglot().exp
    if dialect.name == "spark":  # the same each time it is asked, and known not to be a function of the row
        return exp.Anonymous(this="MONOTONICALLY_INCREASING_ID")
    return exp.Window(this=exp.RowNumber())


def _with_starts(table: Array, weights: Array, log_start: Array) -> dict[int, Array]:
    """For each level that may stand above others the logs of all levels below it; at its own place, that of itself."""
    width, classes = log_start.shape
    if width * width * classes > MOST_NUMBERS:
        raise InputError.at("the model", f"averages {width:,} levels of its columns, too many for a statement", remedy="unite rare levels, or fit on fewer columns")  # fmt: skip
    found = {}
    for above in np.flatnonzero(weights).tolist():
        own = table.reshape(width, width, classes)[above].copy()
        own[above] = log_start[above]
        found[above] = own
    return found


def _slot(tree: Tree, j: int, start: int, logs: dict[int, Array], task: Task) -> Expression:
    """Where a cell's level stands among all levels of all columns; −1 where nothing is known.

    A level never met stands above no other; where being missing is a level, it is that one below others.
    """
    cells, levels = tree.cells(j), tree.part.level_sets[j]
    if None in levels and cells[-1] == levels.index(None):
        for own in logs.values():
            own[start + len(levels)] = own[start + cells[-1]]
        cells[-1] = len(levels)
    places = [float(start + cell) if cell >= 0 else -1.0 for cell in cells]
    return as_whole(listed(places, tree.code(j), task.dialect))


def _means(alias: str, sums: str, task: Task) -> list[Named]:
    """For each row and class the log of the sum of exponentials, that of the largest taken apart: their peaks first."""
    exp, dialect, names = sqlglot().exp, task.dialect, [log_of(c) for c in range(task.classes)]
    peaks = {name: f"peak of {name}" for name in names}
    windows = [as_named(exp.Window(this=exp.Max(this=column(name)), partition_by=[column(ROW)]), peaks[name]) for name in names]  # fmt: skip
    peaked = selected(column(ROW), *map(column, names), *windows).from_(table_called(sums))
    means = []
    for name, peak in peaks.items():
        none = compare("LT", column(peak), number(-1.7e308, dialect))
        share = when([(none, number(1.0, dialect))], exp_of(minus(column(name), column(peak)), dialect))
        means.append(as_named(plus(exp.Max(this=column(peak)), ln_of(exp.Sum(this=share))), name))
    found = selected(column(ROW), *means).from_(table_called(f"{alias} peaks")).group_by(column(ROW))
    return [(f"{alias} peaks", peaked), (alias, found)]
