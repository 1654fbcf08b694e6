"""Whatever holds a table, large or not → a source to learn from: files by stream, databases and clusters by their own engines."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any

from merula.core import InputError, one_of, warn_user
from merula.data.encode import checked_weights
from merula.data.stream import Stream, open_stream
from merula.data.stream.batches import as_arrow
from merula.data.stream.below import below
from merula.data.table import NOTHING_STATED, FileOptions, open_table, read_file
from merula.data.table.read import STANDARD, files_named
from merula.engines.base import Source
from merula.engines.sql.opening import open_remote
from merula.engines.stream import StreamedTable
from merula.show.numbers import rows_without

ENGINES = ("memory", "stream", "sql")
STREAMED = 2**30  # bytes of files, from which on they are read in pieces where nobody says how
VARIABLE = "MERULA_STREAM_BYTES"  # states another number


def open_large(
    source: Any,
    engine: str | None = None,
    options: FileOptions = NOTHING_STATED,
    resume: str | os.PathLike[str] | None = None,
    **said: str | None,
) -> Any:
    """The large table that a source names, or a table in memory: by `engine`, or where the rows are.

    `said` names a table, a query or a schema of a database.

    Examples
    --------
    >>> import pyarrow as pa
    >>> open_large(iter([pa.table({"wing": [4.9, 9.8]})])).names
    ('wing',)
    """
    chosen = None if engine is None else one_of(engine, ENGINES, "engine")
    if hasattr(getattr(source, "engine", None), "collect"):  # opened before
        return source
    remote = open_remote(source, **said)
    if remote is not None:
        return _checked_remote(remote, chosen, resume)
    for name, value in said.items():
        if value is not None:
            raise InputError.at(name, f"is {value!r}, but a {type(source).__name__} is no database", got=value, remedy="leave it out")  # fmt: skip
    if chosen == "sql":
        raise InputError.at("engine", f"is 'sql', but a {type(source).__name__} is no table of a database or a cluster", got=engine, remedy="leave it out")  # fmt: skip
    if chosen == "memory" and isinstance(source, str | os.PathLike):
        return open_table(read_file(source, options))
    stream = open_stream(source, options)
    if stream is not None:
        _refuse_options(stream, options)
        return StreamedTable(stream, resume) if chosen != "memory" else open_table(whole(stream))
    if chosen == "stream":
        raise InputError.at("engine", f"is 'stream', but a {type(source).__name__} is not read in pieces", got=engine, remedy="leave it out")  # fmt: skip
    if resume is not None:
        raise InputError.at("resume", "is for tables that are read in pieces: files, datasets, batches", got=resume, remedy="leave it out")  # fmt: skip
    if isinstance(source, str | os.PathLike):
        return open_table(read_file(source, options))
    _refuse_options(source, options)
    return open_table(
        source
        if not hasattr(source, "read_next_batch") and type(source).__name__ != "RecordBatch"
        else as_arrow(source)
    )


def large_or_none(
    name: str | os.PathLike[str], options: FileOptions, resume: str | os.PathLike[str] | None = None
) -> Any | None:
    """The table that a path or URL names, where it is not to be read at once: of a database, a folder, or files that are large together."""
    path = os.fspath(name)
    remote = open_remote(path)
    if remote is not None:
        return _checked_remote(remote, None, resume)
    if path == STANDARD or not (os.path.isdir(path) or _size(path) >= streamed_from()):
        return None
    stream = open_stream(path, options)
    return None if stream is None else StreamedTable(stream, resume)


def streamed_from() -> int:
    """The bytes of files from which on they are read in pieces."""
    stated = os.environ.get(VARIABLE, str(STREAMED))
    if not stated.isdecimal():
        raise InputError.of(f"the environment variable {VARIABLE}", stated, "a number of bytes")
    return int(stated)


def _size(name: str) -> int:
    try:
        return sum(os.path.getsize(path) for path in files_named(name))
    except OSError:  # there is none: whoever reads it says so
        return 0


@contextmanager
def closing_after(table: Any, given: Any = None) -> Iterator[None]:
    """While it is open, a large table is used; then what was opened for it alone is closed, whatever happened; not one that was `given`."""
    try:
        yield
    finally:
        if table is not given and hasattr(table, "close"):
            table.close()


def _checked_remote(remote: Any, chosen: str | None, resume: Any) -> Any:
    """A table of a database or a cluster; an error for what is only asked of others."""
    if chosen not in (None, "sql"):
        raise InputError.at("engine", f"is {chosen!r}, but the rows stay in {remote.place}", got=chosen, remedy="leave it out")  # fmt: skip
    if resume is not None:
        raise InputError.at("resume", f"is for tables that are read in pieces, and {remote.place} is counted where it is", got=resume, remedy="leave it out")  # fmt: skip
    return remote


def _refuse_options(source: Any, options: FileOptions) -> None:
    """An error for what is stated of files where there are none."""
    options = replace(options, words=())  # a model's own
    if hasattr(source, "options") or options == NOTHING_STATED:
        return
    stated = next(field.name for field in fields(FileOptions) if getattr(options, field.name) != getattr(NOTHING_STATED, field.name))  # fmt: skip
    raise InputError.at(stated, "is stated, but the table is no file of text", got=getattr(options, stated), remedy="leave it out")  # fmt: skip


def whole(stream: Stream) -> Any:
    """All rows of a stream as one pyarrow table, with what is told of their words."""
    told = stream.first.schema.metadata
    parts = [(table, piece.where) for piece in stream.pieces() for table in piece.read(stream.names, {})]
    if not parts:
        raise InputError("the table has no rows", remedy="there is nothing to learn from")
    table = below(*zip(*parts, strict=True)).unify_dictionaries()
    return table.replace_schema_metadata(told)


def labelled(table: Any, target: str, weight: str | None, reader: str) -> Source:
    """The source that a large table is, or a table in memory whose target is one of its columns."""
    names = table.names
    one_of(target, names, "target")
    if weight is not None:
        one_of(weight, names, "weight")
    if weight == target:
        raise InputError.at("weight", f"is {weight!r}, which is the target itself", got=weight, remedy="name another column")  # fmt: skip
    if len(names) == 1 + (weight is not None):
        raise InputError.at("the table", f"has no column besides {target!r}{f' and {weight!r}' if weight else ''}", remedy="there is nothing to learn from")  # fmt: skip
    if hasattr(table, "engine"):
        return Source(table, target, weight, True, reader)
    return _in_memory(table, target, weight, reader)


def _in_memory(table: Any, target: str, weight: str | None, reader: str) -> Source:
    if not table.named:
        raise InputError.at("the table", "has no names, so no column of it can be the target", remedy="use fit(X, y)")
    frame = table.frame
    missing = frame[target].is_null() | (frame[target].is_nan() if frame[target].dtype.is_float() else False)
    if missing.any():
        warn_user(rows_without(int(missing.sum()), len(frame), target), UserWarning)
        frame = frame.filter(~missing)
    aside = [name for name in (target, weight) if name is not None]
    return Source(
        open_table(frame.drop(aside).to_native()),
        frame[target].to_native(),
        None if weight is None else checked_weights(frame[weight].to_native(), len(frame), f"the weight {weight!r}"),
        True,
        reader,
    )
