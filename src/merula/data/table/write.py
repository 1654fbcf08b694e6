"""Tables written to files: CSV, JSON lines, Parquet, Arrow by suffix, or to standard output; whole or not at all."""

from __future__ import annotations

import csv as python_csv
import io
import json
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, Any

from merula.core import InputError, nearest
from merula.core.atomic_file import atomic_write
from merula.data.table.codes import python_cells
from merula.data.table.read import STANDARD, PathLike
from merula.show.text import visible

ROWS_AT_ONCE = 8_192


def write_table(table: Any, path: PathLike, suffix: str | None = None) -> None:
    """Write a pyarrow table to a file of the format that its suffix names; ``"-"`` is standard output, CSV by default.

    Parameters
    ----------
    table : pyarrow.Table
    path : path
        A file ending in ``.csv``, ``.tsv``, ``.jsonl``, ``.parquet``, ``.arrow`` or ``.feather``.
    suffix : str, optional
        The format, where the path does not say it.

    Examples
    --------
    >>> import pyarrow as pa, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "birds.jsonl"
    >>> write_table(pa.table({"bird": ["wren", None]}), path)
    >>> print(path.read_text().strip())
    {"bird": "wren"}
    {"bird": null}
    """
    write = partial(_write, writer_of(path, suffix), os.fspath(path))
    if os.fspath(path) == STANDARD:
        if sys.stdout is None:
            raise InputError("standard output is closed", remedy="name a file to write to")
        if sys.stdout.isatty():  # someone reads it
            shown = io.BytesIO()
            write(table, shown)
            print(visible(shown.getvalue().decode(errors="replace")), end="")  # noqa: T201 - that is what was asked for
            return
        write(table, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    with atomic_write(path) as file:
        write(table, file)


def _write(writer: Callable[[Any, IO[bytes]], None], path: str, table: Any, file: IO[bytes]) -> None:
    """Write a table; what a format cannot hold, such as times of the year 36,000,000,000 in Parquet, is one ValueError."""
    from pyarrow import ArrowInvalid, ArrowNotImplementedError

    try:
        writer(table, file)
    except (ArrowInvalid, ArrowNotImplementedError) as error:
        what = " ".join(str(error).split())
        raise InputError.at(path, f"cannot hold this table ({what})", remedy="choose another format") from None


def writer_of(path: PathLike, suffix: str | None = None) -> Callable[[Any, IO[bytes]], None]:
    """What writes the format that a path's suffix names; a ValueError if none does."""
    chosen = suffix or (".csv" if os.fspath(path) == STANDARD else Path(path).suffix.lower())
    if chosen not in WRITERS:
        raise InputError(
            f"{os.fspath(path)}: tables are written as {', '.join(WRITERS)}, not as {repr(chosen) if chosen else 'a file without a suffix'}{nearest(chosen, WRITERS)}",
            where=f"{os.fspath(path)}",
        )
    return WRITERS[chosen]


def _write_csv(table: Any, file: IO[bytes], separator: str = ",") -> None:
    header = io.StringIO()
    python_csv.writer(header, delimiter=separator, lineterminator="\n").writerow(table.column_names)
    file.write(header.getvalue().encode())
    write_csv_rows(table, file, separator)


def write_csv_rows(table: Any, file: IO[bytes], separator: str = ",") -> None:
    """The rows of a table without a header; words stand in quotation marks where one of them must."""
    from pyarrow import ArrowInvalid, csv

    table, body = _as_cells(table), io.BytesIO()
    try:  # pyarrow quotes every word or none
        csv.write_csv(table, body, csv.WriteOptions(include_header=False, quoting_style="none", delimiter=separator))
    except ArrowInvalid:
        body = io.BytesIO()
        csv.write_csv(table, body, csv.WriteOptions(include_header=False, quoting_style="needed", delimiter=separator))
    file.write(body.getbuffer())


def _as_cells(table: Any) -> Any:
    """The table with lists and other nested columns as JSON, which a cell of CSV can hold."""
    import pyarrow as pa

    for index, field in enumerate(table.schema):
        if pa.types.is_nested(field.type) or pa.types.is_binary(field.type) or pa.types.is_duration(field.type):
            column = [None if v is None else _as_text(v) for v in python_cells(table.column(index))]
            table = table.set_column(index, field.name, pa.array(column, pa.string()))
    return table


def _as_text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, dict | list) else str(value)


def _write_parquet(table: Any, file: IO[bytes]) -> None:
    import pyarrow.parquet as pq

    pq.write_table(table, file)


def _write_arrow(table: Any, file: IO[bytes]) -> None:
    import pyarrow as pa

    with pa.ipc.new_file(file, table.schema) as out:
        out.write_table(table)


def _write_json_lines(table: Any, file: IO[bytes]) -> None:
    for batch in table.to_batches(max_chunksize=ROWS_AT_ONCE):
        lines = (json.dumps(row, ensure_ascii=False, default=str) for row in python_cells(batch))
        file.write(("\n".join(lines) + "\n").encode())


WRITERS: dict[str, Callable[[Any, IO[bytes]], None]] = {
    ".csv": _write_csv,
    ".tsv": partial(_write_csv, separator="\t"),
    ".jsonl": _write_json_lines,
    ".ndjson": _write_json_lines,
    ".parquet": _write_parquet,
    ".arrow": _write_arrow,
    ".feather": _write_arrow,
}
