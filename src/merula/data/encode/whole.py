"""The table whose rows are learned from in part, as in folds: all of them tell what its words mean, not those that happen to be in a part."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from merula.data.table import SparseTable, Table, open_table

_whole: ContextVar[Table | None] = ContextVar("the table whose rows are learned from in part", default=None)


@contextmanager
def in_parts(X: Any) -> Iterator[None]:
    """While it is open, words of some rows of X are read as all rows of X tell; of parts of parts, as those of the largest.

    Otherwise a fold without the one cell that says `ERR`, or that settles the order of day and month, would be read in
    another way than the rows that it is tested on.
    """
    opened = _with_words(X)
    before = _whole.get()
    if opened is None or (before is not None and _is_part(opened, before)):
        yield
        return
    token = _whole.set(opened)
    try:
        yield
    finally:
        _whole.reset(token)


def telling(table: Table) -> Table:
    """The table that tells what the words of this one mean: the one that it is a part of, or itself."""
    whole = _whole.get()
    return whole if whole is not None and _is_part(table, whole) else table


def _with_words(X: Any) -> Table | None:
    """The table, if it can be read and any column holds words; fitting says what is wrong with one that cannot."""
    try:
        table = open_table(X)
        worded = not isinstance(table, SparseTable) and any(kind == "categorical" for kind, _ in _kinds(table))
    except (TypeError, ValueError):
        return None
    return table if worded else None


def _is_part(table: Table, whole: Table) -> bool:
    """Whether a table has the columns of another, and no more rows: a pipeline may have made others of them in between."""
    if isinstance(table, SparseTable) or table.names != whole.names or table.rows > whole.rows:
        return False
    return all(kind in (known, ("empty", None)) for kind, known in zip(_kinds(table), _kinds(whole), strict=True))


def _kinds(table: Table) -> list[tuple[str, str | None]]:
    return [table.kind(position) for position in range(len(table.names))]
