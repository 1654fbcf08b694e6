"""Tables in files: CSV, TSV, JSON lines, Parquet, Arrow, workbooks, statistics files, packed or not, read into one pyarrow table by what they hold.

A file's first bytes say what it is; its name is not asked, so that standard input is read like any file.
"""

from __future__ import annotations

import glob
import json
import os
import re
import struct
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from merula.core import InputError, bounded, located
from merula.core.atomic_file import check_named, nearest_file
from merula.core.notes import silenced
from merula.data.table.declared_sizes import (
    MARK,
    arrow_size,
    is_text,
    parquet_size,
    refuse_columns,
    refuse_rows,
    written_out_size,
)
from merula.data.table.delimited import ALONE, NO_ROWS, read_delimited
from merula.data.table.file_options import NOTHING_STATED, FileOptions
from merula.data.table.headers import column_names, without_empty
from merula.data.table.nested import without_nested
from merula.data.table.plain import read_if_plain
from merula.data.table.stand_ins import noted
from merula.data.table.text_encoding import in_utf8, is_marked
from merula.data.table.times_of_day import in_seconds
from merula.data.table.views import without_views

PathLike = str | os.PathLike[str]
STANDARD = "-"  # standard input or output
NAME_IN_BRACES = re.compile(rb'\{\s*[^\s"{}:][^"{}:\r\n]*\}')  # of a column of CSV: keys of JSON are quoted
NETWORK = b'"merula network"'  # in the first line of a network in JSON
NEEDS_ARROW = "tables in files are read by pyarrow, which is not installed: pip install 'merula[cli]'"


def read_table(
    path: PathLike,
    *,
    words: Collection[str] = (),
    missing: Sequence[str] = (),
    keep: Sequence[str] = (),
    encoding: str | None = None,
    skip_rows: int | None = None,
    sheet: str | int | None = None,
    decimal: str | None = None,
    date_order: str | None = None,
    fold_case: bool = False,
    on_error: str = "raise",
) -> Any:
    r"""The table in a file, or in several with the same columns, as a pyarrow table.

    What is not stated is found in the file; where that is more than reading it, a warning says so.

    Parameters
    ----------
    path : path
        CSV with any of the usual separators, JSON lines, Parquet, Arrow or Feather, a workbook (.xlsx, .xls, .ods), a file of SPSS, Stata or
        SAS, each also packed by gzip; a pattern such as ``"2024-*.csv"`` for several files, one below the other; ``"-"`` for
        standard input.
    words : collection of str
        Columns of a CSV file or a workbook that hold words even where all of them look like numbers.
    missing : sequence of str
        What, besides an empty cell, means that a value is missing in a CSV file or a workbook, such as ``["-9", "refused"]``.
    keep : sequence of str
        What is a word although it mostly means that a value is missing, such as ``["NA"]`` for Namibia.
    encoding : str, optional
        The encoding of a CSV file; by default UTF-8, or what its byte-order mark or its bytes tell.
    skip_rows : int, optional
        How many lines of a CSV file, or rows of a sheet, stand above the header; by default lines that are clearly titles.
    sheet : str or int, optional
        The sheet of a workbook, by its name or its number from 1; by default the first that holds anything.
    decimal : "." or ",", optional
        The decimal sign; by default the one that the numbers of a CSV file have.
    date_order : "dmy", "mdy" or "ymd", optional
        The order of day, month and year in dates such as 03/04/2024.
    fold_case : bool
        Whether words that differ in capital letters alone are the same.
    on_error : "raise" or "skip"
        What to do with a row of a CSV file that has more or fewer cells than the header: refuse the file, or leave out the row.

    Returns
    -------
    pyarrow.Table
        Types of CSV columns are those that suit every cell: whole numbers, true and false, dates (2024-12-31), times, numbers,
        else words; a column of codes with leading zeros (01067) holds words. Blanks around names and words are removed.
        `NA`, `?` and the like are missing, in columns of numbers or dates also `-` or `unknown`; a warning says so.
        What was stated of `missing`, `keep`, `decimal`, `date_order` and `fold_case`, and a decimal comma that was found, stands as JSON in the schema's metadata,
        under ``b"merula"``, for those who understand the words of a column.

    Notes
    -----
    A file may take half of the machine's memory, a packed one 300 times its own size (Parquet and Arrow: 10,000 times), but
    any file 64 MiB; the environment variable MERULA_MOST_BYTES states another number of bytes for all of these.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "birds.csv"
    >>> _ = path.write_text("bird;wing in cm\nwren;4,9\nblackbird;\n")
    >>> read_table(path).to_pydict()
    {'bird': ['wren', 'blackbird'], 'wing in cm': [4.9, None]}
    """
    return read_file(
        path,
        FileOptions(words, missing, keep, encoding, skip_rows, sheet, decimal, date_order, fold_case, on_error),
    )


def read_file(path: PathLike, options: FileOptions = NOTHING_STATED) -> Any:
    """The table in a file, or in several, of which something is stated; see `read_table`."""
    paths = files_named(os.fspath(path))
    tables = [_read_one(one, options) for one in paths]
    table = tables[0] if len(tables) == 1 else _one_below_the_other(tables, paths, options)
    return noted(table, options)


def files_named(path: str) -> list[str]:
    """The files that a path or a pattern names."""
    if path == STANDARD or Path(path).exists() or not any(sign in path for sign in "*?["):
        return [path]
    found = sorted(name for name in glob.glob(path, recursive=True) if Path(name).is_file())
    if not found:
        raise FileNotFoundError(f"no file matches the pattern {path}")
    return found


def _read_one(path: str, options: FileOptions) -> Any:
    """The table in one file; errors name the file."""
    name = "standard input" if path == STANDARD else path
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise ImportError(NEEDS_ARROW) from None
    with bounded.reading(name):
        plain = None if path == STANDARD else read_if_plain(path, options, lambda head: _reader(head) is read_csv)
        if plain is not None:
            return _checked(plain)
        return read_content(_content(path), name, options)


def read_content(
    content: bytes,
    name: str,
    options: FileOptions = NOTHING_STATED,
    reader: Callable[[bytes, FileOptions], Any] | None = None,
) -> Any:
    """The table in the bytes of a file, or of what was sent under this name; read by what they hold, unless that is known."""
    import pyarrow as pa

    try:
        data = bounded.unpacked(content)
        data = in_utf8(data, None) if is_marked(data) and options.encoding is None else data
        return _checked((reader or _reader(data))(data, options))
    except MemoryError:  # one of Arrow's is an ArrowException as well
        raise
    except (
        pa.ArrowException,
        OSError,
        EOFError,
        struct.error,
    ) as error:  # some ValueErrors, without the file's name
        what = _one_line(error).removeprefix("Could not open Parquet input source '<Buffer>': ").rstrip(".")
        raise InputError.at(
            name, f"cannot be read: it is cut short or damaged ({what})", remedy="fetch it again"
        ) from None
    except ValueError as error:
        raise located(error, name, " ") from None


def _content(path: str) -> bytes:
    if path == STANDARD:
        if sys.stdin is None:
            raise InputError("standard input is closed", remedy="name a file, or send the table through a pipe")
        return bounded.read_stream(sys.stdin.buffer)
    file = Path(check_named(path))
    if file.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name the files in it, such as '{file / '*.csv'}'")
    if not file.exists():
        raise FileNotFoundError(f"there is no file {path}{nearest_file(file)}")
    try:
        return bounded.read_whole(file)
    except PermissionError:
        raise PermissionError(f"{path} may not be read: permission denied") from None
    except InputError as error:
        raise located(error, path, " ") from None


def _reader(data: bytes) -> Callable[[bytes, FileOptions], Any]:
    """The reader for what these bytes are, by the signature each format begins with."""
    if not data[:4096].strip() and not data.strip():  # the second copies the whole file
        raise InputError("is empty")
    start = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    plain = {b"{": _read_json_lines, b"[": _read_bracket}.get(b"" if NAME_IN_BRACES.match(start) else start[:1], read_csv)  # fmt: skip
    return next((reader for signature, reader in SIGNATURES.items() if data.startswith(signature)), plain)


def read_csv(data: bytes, options: FileOptions) -> Any:
    """The table in CSV."""
    options.refuse("sheet", "a CSV file")
    return read_delimited(data, options)


def read_parquet(data: bytes, options: FileOptions) -> Any:
    """The table in Parquet, its size known before it is unpacked."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    options.refuse_lines("a Parquet file")
    file = pq.ParquetFile(pa.BufferReader(data))
    refuse_columns(file.metadata.num_columns)
    bounded.refuse_beyond(parquet_size(data, file.metadata), len(data), bounded.COLUMNAR)
    limit = bounded.allowed(len(data), bounded.COLUMNAR)
    texts = [
        field.name for field in file.schema_arrow if is_text(field.type)
    ]  # kept as codes until their size is known
    table = _validated(pq.ParquetFile(pa.BufferReader(data), read_dictionary=texts).read())
    written = [column for column, field in zip(table.columns, file.schema_arrow, strict=True) if is_text(field.type)]
    if sum(map(written_out_size, written)) > limit:
        raise bounded.too_large(len(data), bounded.COLUMNAR)
    return table.cast(file.schema_arrow)


def read_arrow(data: bytes, options: FileOptions) -> Any:
    """The table in an Arrow file or stream, every offset of it checked."""
    import pyarrow as pa

    options.refuse_lines("an Arrow file")
    bounded.refuse_beyond(arrow_size(data), len(data), bounded.COLUMNAR)
    opened = pa.ipc.open_file if data.startswith(MARK) else pa.ipc.open_stream
    return _validated(opened(pa.BufferReader(data)).read_all())


def _validated(table: Any) -> Any:
    """The table, every offset, index and word of which is known to lie within it: a damaged one would end the process."""
    table.validate(full=True)
    return table


def _read_json_lines(data: bytes, options: FileOptions) -> Any:
    import pyarrow as pa
    import pyarrow.json

    if NETWORK in data[:200]:
        raise InputError("is a network", expected="a table")
    options.refuse_lines("JSON")
    _refuse_hard(data)
    try:  # in one block, so that types are those of all rows
        table = pyarrow.json.read_json(
            pa.BufferReader(data), pyarrow.json.ReadOptions(block_size=len(data) + 1, use_threads=len(data) > ALONE)
        )
    except pa.ArrowInvalid as error:
        return _table_of_rows(_json_rows(data, error))
    one_row = table.num_rows == 1 and all(map(pa.types.is_nested, table.schema.types))
    columns = _columns_of(json.loads(data)) if one_row else None
    return table if columns is None else pa.table({name: _cells(held) for name, held in columns.items()})


def _refuse_hard(data: bytes) -> None:
    from merula.data.table.hard_json import refuse_hard_json  # brings compiled loops along, which no other table needs

    refuse_hard_json(data)


def _columns_of(held: dict[str, Any]) -> dict[str, list[Any]] | None:
    """The columns of JSON that holds a list for each, or {name of the row: cell} as pandas writes it; None of one row of records.

    Examples
    --------
    >>> _columns_of({"wing": {"0": 4.9, "1": 6.0}, "bird": {"1": "tit", "0": "wren"}})
    {'wing': [4.9, 6.0], 'bird': ['wren', 'tit']}
    >>> _columns_of({"owner": {"age": 31}, "flat": {"rooms": 2}}) is None
    True
    """
    columns = list(held.values())
    if all(isinstance(column, list) for column in columns):
        if len(set(map(len, columns))) > 1:
            raise InputError("is JSON, but not a row in braces on each line, nor lists of equal length for the columns")
        return held
    if not all(isinstance(column, dict) and column.keys() == columns[0].keys() for column in columns):
        return None
    return {name: [column[row] for row in columns[0]] for name, column in held.items()}


def _json_rows(data: bytes, error: Exception) -> list[Any]:
    """The rows of JSON lines that pyarrow does not take, such as a column of numbers and words; its error if they are none."""
    lines = [line for line in data.decode("utf-8-sig", errors="replace").splitlines() if line.strip()]
    rows = []
    for number, line in enumerate(lines, 1):
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            what = _one_line(error) if len(lines) == 1 else f"line {number} is no row in braces"
            raise InputError(f"cannot be read as JSON lines: {what}") from None
    return rows


def _read_bracket(data: bytes, options: FileOptions) -> Any:
    """JSON that is a list of rows; or CSV whose first name is in brackets."""
    if data.lstrip(b"\xef\xbb\xbf \t\r\n")[1:].lstrip()[:1] in (b"{", b"["):
        _refuse_hard(data)
    try:
        rows = json.loads(data)
    except ValueError as error:
        if data.lstrip(b"\xef\xbb\xbf \t\r\n[")[:1] == b"{":
            raise InputError(f"cannot be read as JSON: {error}") from None
        return read_csv(data, options)
    options.refuse_lines("JSON")
    return _table_of_rows(rows)


def _table_of_rows(rows: list[Any]) -> Any:
    """The table of rows of JSON: with every key that a row has, and a column of numbers and words as words."""
    import pyarrow as pa

    if not rows or not all(isinstance(row, dict) for row in rows):
        raise InputError("is JSON, but not a row in braces on each line, nor a list of such rows")
    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table({name: _cells([row.get(name) for row in rows]) for name in names})


def _cells(values: list[Any]) -> Any:
    import pyarrow as pa

    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # a word as it is, anything else as JSON writes it
        return pa.array([v if v is None or isinstance(v, str) else json.dumps(v) for v in values])
    except OverflowError:
        raise InputError(
            "holds a whole number of more than 64 bits", remedy="write it in quotation marks, or as a fraction (1.5e40)"
        ) from None


def _read_archive(data: bytes, options: FileOptions) -> Any:
    """The table in a workbook, which is a zip archive; an `InputError` for any other archive."""
    if b"merula.json" in data[:100]:
        raise InputError("is a model", expected="a table")
    if b"xl/workbook.bin" in data:
        raise InputError("is a binary Excel workbook", remedy="save it as .xlsx, or the sheet as CSV")
    if b"xl/" not in data and ODS not in data[:200]:
        raise InputError("is a zip archive", remedy="unpack it and name the table in it")
    return _workbook(data, options)


def _workbook(data: bytes, options: FileOptions) -> Any:
    from merula.data.table.workbook import read_workbook  # on first use: other tables need none of it

    return read_workbook(data, options)


def _read_statistics(kind: str) -> Callable[[bytes, FileOptions], Any]:
    """The reader for a file of a statistics package, loaded on first use."""

    def read(data: bytes, options: FileOptions) -> Any:
        from merula.data.table import statistics_files

        return getattr(statistics_files, f"read_{kind}")(data, options)

    return read


ODS = b"application/vnd.oasis.opendocument.spreadsheet"
SAS = bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
SIGNATURES: dict[bytes, Callable[[bytes, FileOptions], Any]] = {
    b"PAR1": read_parquet,
    MARK: read_arrow,
    b"\xff\xff\xff\xff": read_arrow,  # a stream
    b"PK\x03\x04": _read_archive,
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": _workbook,  # before 2007, or with a password
    b"$FL2": _read_statistics("spss"),
    b"$FL3": _read_statistics("spss"),
    b"<stata_dta>": _read_statistics("stata"),
    **{bytes([version, order, 1, 0]): _read_statistics("stata") for version in range(105, 116) for order in (1, 2)},
    SAS: _read_statistics("sas"),
}


def _checked(table: Any) -> Any:
    """The table, unless it has no rows, each column under a name of its own; times of day as seconds since midnight."""
    refuse_columns(table.num_columns)
    refuse_rows(table)
    table = without_nested(without_views(table))
    if len(set(table.column_names)) < table.num_columns or "" in table.column_names:
        found = column_names(table.column_names)
        table = without_empty(table.rename_columns(found.names), found.unnamed)
    names = table.column_names
    if not names or not table.num_rows:
        raise InputError(NO_ROWS if names else "has no columns")
    return in_seconds(table)


def _one_below_the_other(tables: list[Any], paths: list[str], options: FileOptions) -> Any:
    """All rows in one table; columns are matched by name, and are words as they stand where the files do not agree on another type."""
    import pyarrow as pa

    names = tables[0].column_names
    for path, table in zip(paths[1:], tables[1:], strict=True):
        for different in set(names) ^ set(table.column_names):
            lacking = path if different in names else paths[0]
            raise InputError.at(f"{lacking}", f"has no column {different!r}, but other files of the pattern have it")
    ordered = [table.select(names) for table in tables]
    try:
        return pa.concat_tables(ordered, promote_options="permissive")
    except (pa.ArrowTypeError, pa.ArrowInvalid):
        unlike = {name for name in names if len({table.schema.field(name).type for table in ordered}) > 1}
        ordered = [_with_words(table, path, unlike, options) for table, path in zip(ordered, paths, strict=True)]
        fields = [pa.field(name, pa.string()) if name in unlike else tables[0].schema.field(name) for name in names]
        schema = pa.schema(fields, metadata=tables[0].schema.metadata)
        return pa.concat_tables([table.cast(schema) for table in ordered], promote_options="permissive")


def _with_words(table: Any, path: str, names: Collection[str], options: FileOptions) -> Any:
    """The table of a file, these columns as the words that stand in it: 4,90 is not 4.9 beside 1.080,85."""
    import pyarrow as pa

    if all(pa.types.is_string(table.schema.field(name).type) for name in names):
        return table
    with silenced():  # what there is to say of the file was said when it was read
        written = _read_one(path, replace(options, words=[*options.words, *names]))
    for name in names:
        table = table.set_column(table.column_names.index(name), name, written[name])
    return table


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
