"""Parquet files by their row groups, Arrow files by their batches, datasets by their fragments: types are the files' own."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from merula.core import InputError, bounded
from merula.data.stream.pieces import (
    Piece,
    check_distinct,
    check_names,
    fingerprint,
    first_rows,
    rows_at_once,
    rows_of,
    slices,
)
from merula.data.table.declared_sizes import is_text, parquet_size, refuse_columns
from merula.data.table.file_options import NOTHING_STATED, FileOptions
from merula.data.table.stand_ins import noted
from merula.data.table.times_of_day import in_seconds
from merula.data.table.views import without_views

DAMAGED = "cannot be read: it is cut short or damaged ({})"


@dataclass(frozen=True, eq=False)
class ParquetFiles:
    """Parquet files with the same columns, one below the other; a piece is a row group."""

    paths: tuple[str, ...]
    options: FileOptions = NOTHING_STATED
    again: bool = True

    @cached_property
    def _footers(self) -> tuple[Any, ...]:
        return tuple(map(_footer, self.paths))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns of all files."""
        every = [check_distinct(footer.schema.to_arrow_schema().names, path) for path, footer in zip(self.paths, self._footers, strict=True)]  # fmt: skip
        for path, names in zip(self.paths[1:], every[1:], strict=True):
            check_names(every[0], names, path, self.paths[0])
        return every[0]

    @cached_property
    def first(self) -> Any:
        """See `Stream.first`: words written out."""
        found = _first_of(self)
        schema = self._footers[0].schema.to_arrow_schema()
        rows = in_seconds(schema.empty_table()) if found is None else _written_out(found, self._texts)
        return noted(rows, self.options)

    @cached_property
    def _texts(self) -> list[str]:
        """The columns of words, which are read as codes."""
        return [field.name for field in self._footers[0].schema.to_arrow_schema() if is_text(field.type)]

    def pieces(self, skipped: int = 0) -> Iterator[Piece]:
        """See `Stream.pieces`."""
        groups = [(path, footer, k) for path, footer in zip(self.paths, self._footers, strict=True) for k in range(footer.num_row_groups)]  # fmt: skip
        total, done = max(1, sum(footer.num_rows for footer in self._footers)), 0
        alone = len(groups) == 1
        for number, (path, footer, k) in enumerate(groups):
            done += footer.row_group(k).num_rows
            if number >= skipped:
                yield Piece(f"{path}, row group {k + 1}", _Group(path, footer, k, alone), done / total)

    def fingerprint(self) -> list[list[Any]]:
        """See `Stream.fingerprint`."""
        return fingerprint(self.paths)


@dataclass(frozen=True, eq=False)
class _Group:
    """Reads one row group; words stay codes."""

    path: str
    footer: Any
    number: int
    alone: bool

    def __call__(self, columns: Sequence[str], types: Mapping[str, Any]) -> Iterator[Any]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        texts = [field.name for field in self.footer.schema.to_arrow_schema() if is_text(field.type)]
        with _damage_told(self.path), pq.ParquetFile(self.path, metadata=self.footer, read_dictionary=texts) as file:
            batches = file.iter_batches(
                rows_at_once(len(columns)), row_groups=[self.number], columns=list(columns), use_threads=self.alone
            )
            for batch in batches:
                batch.validate(full=True)
                yield in_seconds(without_views(pa.Table.from_batches([batch])))


def _footer(path: str) -> Any:
    """What a Parquet file says of itself, once it is known to be true: pyarrow ends the process where a footer lies."""
    import pyarrow.parquet as pq

    with _damage_told(path), open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        metadata = pq.read_metadata(path)
        refuse_columns(metadata.num_columns)
        declared = parquet_size(data, metadata)
        if declared > bounded.COLUMNAR * max(os.path.getsize(path), bounded.SMALL):
            raise InputError(f"says that it becomes {declared:,} bytes in memory, more than a file of its size may")
        return metadata


class _damage_told:  # noqa: N801
    """What Arrow says of a file that is no such file, as one clear error."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, _: Any) -> None:
        import pyarrow as pa

        if isinstance(error, FileNotFoundError | PermissionError | InputError | MemoryError):
            return
        if isinstance(error, pa.ArrowException | OSError | ValueError | EOFError):
            raise InputError.at(self.path, DAMAGED.format(" ".join(str(error).split())[:200]), remedy="fetch it again") from None  # fmt: skip


@dataclass(frozen=True, eq=False)
class ArrowFiles:
    """Arrow or Feather files with the same columns; a piece is a batch of rows as the file holds it."""

    paths: tuple[str, ...]
    options: FileOptions = NOTHING_STATED
    again: bool = True

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns of all files."""
        every = []
        for path in self.paths:
            with _damage_told(path), _opened(path) as file:
                every.append(check_distinct(file.schema.names, path))
        for path, names in zip(self.paths[1:], every[1:], strict=True):
            check_names(every[0], names, path, self.paths[0])
        return every[0]

    @cached_property
    def first(self) -> Any:
        """See `Stream.first`."""
        found = _first_of(self)
        if found is None:
            with _opened(self.paths[0]) as file:
                found = in_seconds(without_views(file.schema.empty_table()))
        return noted(found, self.options)

    def pieces(self, skipped: int = 0) -> Iterator[Piece]:
        """See `Stream.pieces`."""
        counts = []
        for path in self.paths:
            with _damage_told(path), _opened(path) as file:
                counts.append(file.num_record_batches)
        every = [(path, k) for path, count in zip(self.paths, counts, strict=True) for k in range(count)]
        for number, (path, k) in enumerate(every):
            if number >= skipped:
                yield Piece(f"{path}, batch {k + 1}", _Batch(path, k), (number + 1) / len(every))

    def fingerprint(self) -> list[list[Any]]:
        """See `Stream.fingerprint`."""
        return fingerprint(self.paths)


def _opened(path: str) -> Any:
    import pyarrow as pa

    return pa.ipc.open_file(pa.memory_map(path))


@dataclass(frozen=True, eq=False)
class _Batch:
    """Reads one batch of an Arrow file, some rows at once."""

    path: str
    number: int

    def __call__(self, columns: Sequence[str], types: Mapping[str, Any]) -> Iterator[Any]:
        import pyarrow as pa

        with _damage_told(self.path), _opened(self.path) as file:
            batch = file.get_batch(self.number).select(list(columns))
            batch.validate(full=True)
            yield from slices(in_seconds(without_views(pa.Table.from_batches([batch]))))


@dataclass(frozen=True, eq=False)
class Fragments:
    """A pyarrow dataset; a piece is a fragment of it, of Parquet a row group."""

    dataset: Any
    again: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """Its columns."""
        return check_distinct(self.dataset.schema.names, "the dataset")

    @cached_property
    def first(self) -> Any:
        """See `Stream.first`."""
        rows = in_seconds(without_views(self.dataset.head(first_rows(len(self.names)))))
        return noted(rows, NOTHING_STATED)

    def pieces(self, skipped: int = 0) -> Iterator[Piece]:
        """See `Stream.pieces`."""
        split = [part for whole in self.dataset.get_fragments() for part in (whole.split_by_row_group() if hasattr(whole, "split_by_row_group") else [whole])]  # fmt: skip
        for number, part in enumerate(split):
            if number >= skipped:
                yield Piece(f"fragment {number + 1} of the dataset", _Fragment(part, self.dataset.schema), (number + 1) / len(split))  # fmt: skip

    def fingerprint(self) -> list[list[Any]]:
        """See `Stream.fingerprint`; of what does not lie in files nothing is known."""
        paths = getattr(self.dataset, "files", [])
        return fingerprint([path for path in paths if os.path.exists(path)])


@dataclass(frozen=True, eq=False)
class _Fragment:
    """Reads one fragment of a dataset."""

    fragment: Any
    schema: Any

    def __call__(self, columns: Sequence[str], types: Mapping[str, Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in self.fragment.to_batches(
            self.schema, columns=list(columns), batch_size=rows_at_once(len(columns)), use_threads=False
        ):
            if batch.num_rows:
                yield in_seconds(without_views(pa.Table.from_batches([batch])))


def _first_of(files: ParquetFiles | ArrowFiles) -> Any:
    """The first rows of some files; None where they have none."""
    return rows_of(files.pieces(), files.names, first_rows(len(files.names)))


def _written_out(table: Any, texts: Sequence[str]) -> Any:
    """The table with words in place of their codes, as a file read whole has them."""
    import pyarrow as pa

    for name in texts:
        column = table[name]
        if not pa.types.is_dictionary(column.type):  # other files hold them as codes of their own
            continue
        table = table.set_column(table.column_names.index(name), name, column.cast(column.type.value_type))
    return table
