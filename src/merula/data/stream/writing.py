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
                write(_alike(_plain(table), schema))
                rows += table.num_rows
    return rows


def _alike(table: Any, schema: Any) -> Any:
    """The table with the types that the first one had; an `InputError` naming the column that has another now."""
    import pyarrow as pa

    try:
        return table.cast(schema)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError):
        unlike = next((f"column {old.name!r} holds {new.type} after {old.type}" for old, new in zip(schema, table.schema, strict=False) if old.type != new.type), "columns differ")  # fmt: skip
        raise InputError(f"the answers cannot stand in one file: {unlike}", remedy="leave that column out of keys, or write JSON lines") from None  # fmt: skip


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
    from merula.data.table.write import WRITERS as WHOLE, write_csv_rows

    WHOLE[".csv"](schema.empty_table(), file)
    yield lambda table: write_csv_rows(table, file)


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
