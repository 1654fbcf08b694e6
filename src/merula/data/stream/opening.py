"""Paths, folders, patterns, datasets, lazy frames, iterators → one stream; None for what is no stream."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from merula.core import InputError
from merula.core.atomic_file import check_named, nearest_file
from merula.data.stream.batches import Batches
from merula.data.stream.bytes_as_words import BytesAsWords
from merula.data.stream.columnar import ArrowFiles, Fragments, ParquetFiles
from merula.data.stream.delimited import DelimitedFiles
from merula.data.stream.json_lines import JsonLineFiles
from merula.data.stream.lines import PACKED
from merula.data.stream.pieces import Stream
from merula.data.table.declared_sizes import MARK
from merula.data.table.file_options import NOTHING_STATED, FileOptions
from merula.data.table.read import NAME_IN_BRACES, files_named

PARQUET = b"PAR1"
ZIP, OLD = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"  # workbooks and models
LAZY_ROWS = 262_144


def open_stream(source: Any, options: FileOptions = NOTHING_STATED) -> Stream | None:
    """The stream of a path, a folder, a pattern, a list of paths, a pyarrow dataset, a polars LazyFrame, or batches of rows.

    None where the rows are in memory already, or in a file that is read at once, such as a workbook.
    """
    if isinstance(source, str | os.PathLike):
        return _of_partitions(os.fspath(source)) or _of_files(_files(os.fspath(source)), options)
    if isinstance(source, list | tuple) and source and all(isinstance(one, str | os.PathLike) for one in source):
        return _of_files(tuple(name for one in source for name in _files(os.fspath(one))), options)
    if hasattr(source, "collect_batches") and hasattr(source, "collect_schema"):
        return Batches.of(lambda: source.collect_batches(chunk_size=LAZY_ROWS, maintain_order=True))
    if hasattr(source, "get_fragments") and hasattr(source, "schema"):
        return _of_dataset(source)
    if hasattr(source, "to_reader") and hasattr(source, "dataset_schema"):  # a pyarrow scanner
        return Batches.of(source.to_reader)
    if isinstance(source, list | tuple) and source and all(map(_is_table, source)):
        return Batches.of(source)
    if hasattr(source, "read_next_batch") or isinstance(source, Iterator) or _makes_batches(source):
        return Batches.of(iter(source) if hasattr(source, "read_next_batch") else source)
    return None


def _of_dataset(dataset: Any) -> Stream:
    """A pyarrow dataset by its fragments; one that is filtered by the batches that pass."""
    try:
        dataset.get_fragments()
    except ValueError:  # filtered
        return Batches.of(lambda: dataset.scanner().to_reader())
    return BytesAsWords(Fragments(dataset))


def _of_partitions(path: str) -> Stream | None:
    """A folder of Parquet files in folders such as region=eu, whose names hold a column; None where there are none such."""
    if not Path(path).is_dir() or not any("=" in part for one in _files(path) for part in Path(one).relative_to(path).parts[:-1]):  # fmt: skip
        return None
    if {_kind(one) for one in _files(path)} != {"Parquet"}:
        raise InputError.at(path, "holds folders such as region=eu, whose names are a column, with files that are not Parquet", remedy="name the files: a pattern such as 'folder/*/*.csv' leaves that column out")  # fmt: skip
    import pyarrow.dataset

    return BytesAsWords(Fragments(pyarrow.dataset.dataset(path, format="parquet", partitioning="hive")))


def _is_hidden(path: Path) -> bool:
    """Whether a file, or a folder it lies in, is not meant to be read, such as _SUCCESS, .ipynb_checkpoints."""
    return any(part.startswith(("_", ".")) for part in path.parts)


def _is_table(source: Any) -> bool:
    return hasattr(source, "column_names") or hasattr(source, "columns") or hasattr(source, "schema")


def _makes_batches(source: Any) -> bool:
    """Whether this is a function that begins to give batches; a table may be callable for other reasons."""
    return callable(source) and not hasattr(source, "columns") and not isinstance(source, type)


def _files(path: str) -> tuple[str, ...]:
    """The files that a path names: itself, all in a folder that hold tables, or those that a pattern matches."""
    if Path(path).is_dir():
        found = sorted(str(one) for one in Path(path).rglob("*") if one.is_file() and not _is_hidden(one.relative_to(path)))  # fmt: skip
        if not found:
            raise FileNotFoundError(
                f"{path} is a folder without files; name the files, such as '{Path(path) / '*.csv'}'"
            )
        return tuple(found)
    found = files_named(check_named(path))
    if len(found) == 1 and not Path(found[0]).exists():
        raise FileNotFoundError(f"there is no file {path}{nearest_file(Path(path))}")
    return tuple(found)


def _of_files(paths: Sequence[str], options: FileOptions) -> Stream | None:
    kinds = {_kind(path) for path in paths}
    if len(kinds) > 1:
        raise InputError.at(f"{paths[0]} and {len(paths) - 1} more", f"are files of different formats ({', '.join(sorted(kinds))})", remedy="name files of one format")  # fmt: skip
    (kind,) = kinds
    if kind == "CSV":
        return DelimitedFiles(tuple(paths), options)
    if kind not in ("Parquet", "Arrow", "JSON"):
        return None
    _refuse_options(options, kind)
    if kind == "JSON":
        return JsonLineFiles(tuple(paths), options)
    return BytesAsWords((ParquetFiles if kind == "Parquet" else ArrowFiles)(tuple(paths), options))


def _refuse_options(options: FileOptions, kind: str) -> None:
    """An error for what is stated of a file and does nothing with files of this kind."""
    what = f"{'an' if kind == 'Arrow' else 'a'} {kind} file"
    of_lines = (
        replace(options, on_error=NOTHING_STATED.on_error) if kind == "JSON" else options
    )  # a row a line may be skipped
    of_lines.refuse_lines(what)


def _kind(path: str) -> str:
    """What a file is, by its first bytes."""
    try:
        with open(path, "rb") as file:
            start = file.read(4096)
        if start[:2] == PACKED:
            with gzip.open(path, "rb") as packed:
                start = packed.read(4096)
            if start.startswith((PARQUET, MARK)):
                return "packed"
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError.at(path, f"is packed by gzip, but cut short or damaged ({error})", remedy="fetch it again") from None  # fmt: skip
    if start.startswith(PARQUET):
        return "Parquet"
    if start.startswith(MARK):
        return "Arrow"
    if start.startswith((ZIP, OLD, b"$FL", b"\xff\xff\xff\xff", b"\x00")):
        return "other"
    if not start.strip():
        raise InputError.at(path, "is empty")
    first = start.lstrip(b"\xef\xbb\xbf \t\r\n")
    if first[:1] == b"{" and not NAME_IN_BRACES.match(first):
        return "JSON" if _is_whole_row(first) else "other"
    return "other" if first[:1] == b"[" and first[1:].lstrip()[:1] in (b"{", b"[") else "CSV"


def _is_whole_row(start: bytes) -> bool:
    """Whether JSON begins with a row on a line of its own, not with columns or a row of many lines."""
    line, end, _ = start.partition(b"\n")
    if not end:  # longer than what was read
        return True
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
