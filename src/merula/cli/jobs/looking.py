"""How a table is read, column by column, without learning from it."""

from __future__ import annotations

from collections.abc import Sequence

from merula.classify.look import Look, look_at
from merula.cli.jobs.task import named_table, stated_kinds
from merula.core import one_of
from merula.core.notes import kept_back
from merula.data.table import FileOptions


def look_file(table: str, target: str | None, kinds: Sequence[str], file: FileOptions) -> Look:
    """What was decided of a file and of each of its columns, as the commands that learn from it decide."""
    with kept_back() as notes:
        read = named_table(table, file)
    if target is not None:
        one_of(target, read.column_names, "--target")
    stated = stated_kinds(kinds, [name for name in read.column_names if name != target])
    return look_at(read, target, stated, [note.message for note in notes])
