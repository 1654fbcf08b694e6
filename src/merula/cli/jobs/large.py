"""Tables too large to be read at once: counted where they are; commands that must look at rows see some of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from merula.core import InputError
from merula.data.stream import open_stream
from merula.data.table import FileOptions
from merula.data.table.read import STANDARD, files_named
from merula.engines import SAMPLED, Source
from merula.engines.sampling import sample_note
from merula.engines.sql.opening import open_remote
from merula.engines.stream import StreamedTable

STREAMED = 2**30  # bytes of files, from which on they are read in pieces
VARIABLE = "MERULA_STREAM_BYTES"  # states another number


def large_table(name: str, file: FileOptions, resume: str | None = None) -> Any | None:
    """The table that a name means, where it is not read at once: of a database, a folder, or files that are large together."""
    remote = open_remote(name)
    if remote is not None:
        return remote
    if name == STANDARD or not (Path(name).is_dir() or _size(name) >= streamed_from()):
        return None
    stream = open_stream(name, file)
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


def some_rows_of(large: Any) -> tuple[Any, Any]:
    """Some rows of a large table as a pyarrow table, and the note that says so."""
    table = large.engine.sample(Source(large), SAMPLED).combine_chunks()
    return _written_out(table), sample_note("what follows is told", table.num_rows)


def _written_out(table: Any) -> Any:
    """The table with words in place of their codes."""
    import pyarrow as pa

    for index, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(index, field.name, table.column(index).cast(field.type.value_type))
    return table


def batches_of(large: Any, schema: Any, function: Any, n_jobs: int | None) -> Iterator[Any]:
    """What a function gives for the rows of a large table, some at a time."""
    from merula.engines import stream

    return stream.scored(Source(large), schema, large.names, function, n_jobs)
