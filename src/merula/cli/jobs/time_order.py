"""The column that says when each row was, for folds in time order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from merula.answers.evaluation.time_order import checked_times
from merula.cli.console import Console
from merula.cli.jobs.readings import note_readings
from merula.core import InputError
from merula.core.errors import renamed
from merula.data.encode import encode, infer_schema
from merula.data.table import open_table
from merula.show.numbers import rows_without

if TYPE_CHECKING:
    from merula.cli.jobs.task import Asked, Task

FOLDS = 5


def with_times(table: Any, asked: Asked, console: Console) -> tuple[Any, Any, Any]:
    """The rows of which it is known when they were, the rank of each in time, and which they are; all of them and None where nobody asks."""
    if asked.by_time is None:
        return table, None, np.ones(table.num_rows, dtype=bool)
    if asked.groups is not None:
        raise InputError.at("--by-time", "and --groups deal rows to folds in two ways", remedy="leave out one of them")
    times, known = _times(table, asked.by_time, console)
    missing = int((~known).sum())
    if missing == table.num_rows:
        raise InputError.at("--by-time", f"is {asked.by_time!r}, which is empty in every row", got=asked.by_time)
    if missing:
        console.note(rows_without(missing, table.num_rows, asked.by_time))
        table, times = table.filter(known), times[known]
    try:
        return table, checked_times(times, table.num_rows), known
    except InputError as error:
        raise renamed(error, {"times ": f"--by-time is {asked.by_time!r}, which "}, {}) from None


def _times(table: Any, name: str, console: Console) -> tuple[Any, Any]:
    """The cells that say when rows were, words among them read as any column of dates or numbers is; and which are known."""
    opened = open_table(table.select([name]))
    schema, _ = infer_schema(opened)
    if schema.columns[0].reading is not None and schema.columns[0].kind in ("numeric", "datetime"):
        note_readings(schema, opened, console)
        values = encode(opened, schema, [0]).values((name,))[:, 0]
        return values, ~np.isnan(values)
    return table[name].to_numpy(zero_copy_only=False), table[name].is_valid().to_numpy(zero_copy_only=False)


def folds_in_time(task: Task, cv: int | None, console: Console) -> int:
    """As many folds as are asked for; else five, or as many as there are times for."""
    times = len(np.unique(task.times))
    if cv is not None and 2 < times <= cv:
        raise InputError.at("--cv", f"is {cv}, but --by-time names a column of {times:,} different times", got=cv, remedy=f"use {times - 1:,} or fewer")  # fmt: skip
    if times <= 2:
        raise InputError.at("--by-time", f"names a column of {times} different {'times' if times > 1 else 'time'}", remedy="folds in time order need three at least")  # fmt: skip
    if cv is not None:
        return cv
    if times <= FOLDS:
        console.note(f"there are {times} different times, so that {times - 1} folds are used")
    return min(FOLDS, times - 1)
