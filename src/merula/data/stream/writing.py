"""Tables that come one after the other, written to one file: whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any

from merula.core import InputError, nearest
from merula.core.atomic_file import atomic_write

Write = Callable[[Any], None]


def write_batches(tables: Iterable[Any], path: str | os.PathLike[str]) -> int:
    """Write tables of the same columns below one another, by the path's suffix; how many rows they have."""
    suffix = Path(path).suffix.lower()
    if suffix not in WRITERS:
        raise InputError.at(f"{path}", f"is to hold answers, which are written as {', '.join(WRITERS)}{nearest(suffix, WRITERS)}")  # fmt: skip
    rows = 0
    with atomic_write(path) as file:
        iterator = iter(tables)
        first = next(iterator, None)
        if first is None:
            raise InputError("the table has no rows", remedy="there is nothing to answer")
        schema = _plain(first).schema
        with WRITERS[suffix](file, schema) as write:
            for table in chain([first], iterator):
                write(_plain(table).cast(schema))
                rows += table.num_rows
    return rows


def _plain(table: Any) -> Any:
    """The table with words in place of their codes, which differ from piece to piece."""
    import pyarrow as pa

    for index, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(index, field.name, table.column(index).cast(field.type.value_type))
    return table.replace_schema_metadata(None)


@contextmanager
def _parquet(file: IO[bytes], schema: Any) -> Iterator[Write]:
    import pyarrow.parquet as pq

    with pq.ParquetWriter(file, schema) as writer:
        yield writer.write_table


@contextmanager
def _arrow(file: IO[bytes], schema: Any) -> Iterator[Write]:
    import pyarrow as pa

    with pa.ipc.new_file(file, schema) as writer:
        yield writer.write_table


@contextmanager
def _csv(file: IO[bytes], schema: Any) -> Iterator[Write]:
    import pyarrow.csv

    with pyarrow.csv.CSVWriter(file, schema, write_options=pyarrow.csv.WriteOptions(quoting_style="needed")) as writer:
        yield writer.write_table


@contextmanager
def _json_lines(file: IO[bytes], _: Any) -> Iterator[Write]:
    from merula.data.table.write import WRITERS as WHOLE

    yield lambda table: WHOLE[".jsonl"](table, file)


WRITERS: dict[str, Callable[[IO[bytes], Any], Any]] = {
    ".csv": _csv,
    ".parquet": _parquet,
    ".arrow": _arrow,
    ".feather": _arrow,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
}
