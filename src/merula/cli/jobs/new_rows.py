"""The rows of another file to measure a model on, read as the table was that it learns from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from merula.cli.console import Console
from merula.cli.jobs.task import Asked, Task, named_table, numbers_of
from merula.core import InputError, nearest
from merula.data.table.read import STANDARD


def check_test(test: str | None, table: str, **folds: Any) -> None:
    """An error where rows to measure on come with options that say how rows are dealt to folds."""
    if test is None:
        return
    for name, given in folds.items():
        if given is not None:
            option = f"--{name.replace('_', '-')}"
            raise InputError.at(
                "--test", f"names the rows to measure on, so that there are no folds; leave out {option} or --test"
            )
    if test == table == STANDARD:
        raise InputError.of("--test", test, "a file, as the table itself comes from standard input")


def read_test(asked: Asked, test: str, task: Task, console: Console) -> tuple[Any, ...]:
    """Columns, classes and weights of the rows of a file; those without a class are left out, with a note."""
    import pyarrow as pa

    kept = [name for name, kind in task.kinds.items() if kind != "ignore"]
    columns = {name: task.features[name] for name in kept} | {asked.target: task.labels}
    words = [name for name, cells in columns.items() if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)]  # fmt: skip
    table = named_table(test, replace(asked.file, words=words))
    for name in (*kept, asked.target, *([asked.weight] if asked.weight else [])):
        if name not in table.column_names:
            near = nearest(name, [other for other in table.column_names if other not in columns])
            raise InputError.at(test, f"has no column {name!r}, which {asked.table} has{near}")
    missing = table[asked.target].null_count
    if missing == table.num_rows:
        raise InputError.at(f"the target {asked.target!r}", f"is empty in every row of {test}")
    if missing:
        console.note(f"{missing:,} of {table.num_rows:,} rows of {test} have no {asked.target!r} and are left out")
        table = table.filter(table[asked.target].is_valid())
    features, labels = table.select(kept), table[asked.target]
    return (features, labels) if asked.weight is None else (features, labels, numbers_of(table, asked.weight))
