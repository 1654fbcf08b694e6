"""The column that says when each row was, for folds in time order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from merula.answers.evaluation.time_order import checked_times
from merula.cli.console import Console
from merula.core import InputError
from merula.core.errors import renamed

if TYPE_CHECKING:
    from merula.cli.jobs.task import Asked, Task

FOLDS = 5


def with_times(table: Any, asked: Asked, console: Console) -> Any:
    """The rows of which it is known when they were, all of them where nobody asks."""
    if asked.by_time is None:
        return table
    if asked.groups is not None:
        raise InputError.at("--by-time", "and --groups deal rows to folds in two ways", remedy="leave out one of them")
    missing = table[asked.by_time].null_count
    if missing == table.num_rows:
        raise InputError.at("--by-time", f"is {asked.by_time!r}, which is empty in every row", got=asked.by_time)
    if missing:
        console.note(f"{missing:,} of {table.num_rows:,} rows have no {asked.by_time!r} and are left out")
        table = table.filter(table[asked.by_time].is_valid())
    return table


def ranks_in_time(table: Any, name: str) -> Any:
    """The rank of each row in time."""
    try:
        return checked_times(table[name].to_numpy(zero_copy_only=False), table.num_rows)
    except InputError as error:
        raise renamed(error, {"times ": f"--by-time is {name!r}, which "}, {}) from None


def folds_in_time(task: Task, console: Console) -> int:
    """Five folds, or as many as there are times for."""
    times = len(np.unique(task.times))
    if times <= 2:
        raise InputError.at("--by-time", f"names a column of {times} different {'times' if times > 1 else 'time'}", remedy="folds in time order need three at least")  # fmt: skip
    if times <= FOLDS:
        console.note(f"there are {times} different times, so that {times - 1} folds are used")
    return min(FOLDS, times - 1)
