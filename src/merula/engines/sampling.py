"""Some rows of a large table in memory, for choices that must look at rows; how many they are is said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from merula.core import InputError, Note, warn_of
from merula.data.table import open_words
from merula.engines.base import Source

SAMPLED = 100_000  # rows
LEARNED = "the model was learned"


class SampleWarning(UserWarning):
    """Something was learned from some rows of a large table, not from all.

    Examples
    --------
    >>> import merula as mr
    >>> issubclass(mr.SampleWarning, UserWarning)
    True
    """


def sampled(source: Source, rows: int = SAMPLED) -> Source:
    """Some rows of a large table as a table in memory, always the same ones; a source in memory as it is."""
    if not source.is_large:
        return source
    table = source.table.engine.sample(source, rows)
    table = _with_class(table, source.target) if source.target is not None else table
    if not table.num_rows:
        raise InputError.at(f"the target {source.target!r}", "is empty in every row that was looked at")
    aside = [name for name in (source.target, source.weight) if name is not None]
    return replace(
        source,
        table=open_words(table.drop_columns(aside), getattr(source.table, "words", frozenset())),
        target=None if source.target is None else table[source.target],
        weight=None if source.weight is None else _weights(table[source.weight]),
    )


def _with_class(table: Any, target: str) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    column = table[target]
    return table.filter(pc.invert(column.is_null(nan_is_null=pa.types.is_floating(column.type))))


def _weights(column: Any) -> Any:
    return column.to_numpy(zero_copy_only=False)


def some_rows(source: Source, what: str = LEARNED) -> Source:
    """The same as `sampled`, said in a warning: `what` was learned from these rows alone."""
    if getattr(source.table, "resume", None) is not None and what == LEARNED:
        raise InputError.at("resume", f"is for models that count all rows, and {source.reader} learns from some of them", remedy="leave it out, or choose another model")  # fmt: skip
    some = sampled(source)
    if source.is_large:
        warn_of([sample_note(what, some.table.rows)])
    return some


def sample_note(what: str, rows: int) -> Note:
    """The note that something was learned from so many rows."""
    return Note(SampleWarning, f"{what} from {rows:,} rows of the table")
