"""The rows of another file to measure a model on, read as the table was that it learns from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from merula.cli.console import Console
from merula.cli.jobs.task import Asked, Task, named_table, numbers_of
from merula.core import InputError, nearest
from merula.data.schema import Label
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


def read_test(asked: Asked, test: str, task: Task, console: Console, by: Sequence[str] = ()) -> tuple[Any, ...]:
    """Columns, classes and weights of the rows of a file; those without a class are left out, with a note.

    Columns that a model ignores are needed only where rows are told apart `by` them.
    """
    import pyarrow as pa

    kept = [name for name, kind in task.kinds.items() if kind != "ignore" or name in by]
    columns = {name: task.features[name] for name in kept} | {asked.target: task.labels}
    words = [name for name, cells in columns.items() if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)]  # fmt: skip
    table = named_table(test, replace(asked.file, words=words))
    strange = [name for name in table.column_names if name not in (*task.features.column_names, asked.target)]
    for name in (*kept, asked.target, *([asked.weight] if asked.weight else [])):
        if name not in table.column_names:
            needed = ", and what is predicted is measured by it" if name == asked.target else ""
            raise InputError.at(
                test, f"has no column {name!r}, which {asked.table} has{needed}{nearest(name, strange)}"
            )
    if _is_the_same(test, asked.table):
        console.note(f"{test} is the table that is learned from: figures of rows that a model has seen are too good; leave out --test")  # fmt: skip
    missing = table[asked.target].null_count
    if missing == table.num_rows:
        raise InputError.at(f"the target {asked.target!r}", f"is empty in every row of {test}")
    if missing:
        console.note(f"{missing:,} of {table.num_rows:,} rows of {test} have no {asked.target!r} and are left out")
        table = table.filter(table[asked.target].is_valid())
    features, labels = table.select(kept), as_learned(table[asked.target], task.classes, asked.target, test, console)
    return (features, labels) if asked.weight is None else (features, labels, numbers_of(table, asked.weight))


def _is_the_same(test: str, table: str) -> bool:
    return Path(test).is_file() and Path(table).is_file() and Path(test).samefile(table)


def as_learned(labels: Any, classes: Sequence[Label], target: str, test: str, console: Console) -> Any:
    """The classes of new rows; one that differs only in case from a class that is learned is that class, with a note."""
    import pyarrow.compute as pc

    known: dict[str, list[str]] = {}
    for label in classes:
        if isinstance(label, str):
            known.setdefault(label.casefold(), []).append(label)
    met = [label for label in labels.unique().to_pylist() if isinstance(label, str) and label not in classes]
    meant = {label: known[label.casefold()][0] for label in met if len(known.get(label.casefold(), ())) == 1}
    if meant:
        said = ", ".join(f"{label!r} as {first!r}" for label, first in meant.items())
        console.note(f"spellings of {target!r} in {test} that differ only in case are read as those learned: {said}")
    for label, first in meant.items():
        labels = pc.if_else(pc.equal(labels, label), first, labels)
    return labels
