"""CSV files of any size: what the first rows tell of columns holds for all; a cell that does not fit is named with its line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from merula.core import InputError, Option, warn_user
from merula.core.notes import silenced
from merula.data.stream.lines import Block, blocks
from merula.data.stream.pieces import Piece, check_names, fingerprint
from merula.data.table.cleaning import AMONG_NUMBERS, IN_ANY_COLUMN, trimmed
from merula.data.table.delimited import Layout, layout_of, read_delimited
from merula.data.table.file_options import NOTHING_STATED, FileOptions
from merula.data.table.text_encoding import encoding_of, in_utf8
from merula.show.numbers import several
from merula.show.text import shortened

WIDE = ("utf-16", "utf-32")
MOST_LISTED = 5  # lines that are left out
SHOWN = 60


@dataclass(frozen=True, eq=False)
class DelimitedFiles:
    """CSV files with the same columns, one below the other; a piece is a block of whole lines."""

    paths: tuple[str, ...]
    options: FileOptions = NOTHING_STATED
    again: bool = True
    _skipped: dict[str, list[int]] = field(default_factory=dict)  # lines that were left out of each file

    @cached_property
    def _start(self) -> tuple[Any, str, tuple[Layout, ...]]:
        """The table of the first block, the encoding of all files, and where the header of each ends."""
        firsts = [_first_block(path) for path in self.paths]
        encoding = encoding_of(firsts[0].data, self.options.encoding)
        if any(wide in encoding for wide in WIDE):
            raise InputError.at(self.paths[0], f"is in {encoding}, whose lines cannot be told apart piece by piece", remedy="save it as UTF-8, or read it at once: merula.read_table")  # fmt: skip
        options = replace(self.options, encoding=encoding)
        table = read_delimited(firsts[0].data, options)
        with silenced():  # what there is to say of how a file is written was said of the first
            layouts = tuple(layout_of(in_utf8(block.data, encoding), options) for block in firsts)
        for path, layout in zip(self.paths[1:], layouts[1:], strict=True):
            check_names(layouts[0].names.names, layout.names.names, path, self.paths[0])
        return table, encoding, layouts

    @property
    def first(self) -> Any:
        """See `Stream.first`."""
        return self.options.noted_in(self._start[0])

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of all files, as their header names them."""
        return tuple(self._start[0].column_names)

    def pieces(self, skipped: int = 0) -> Iterator[Piece]:
        """See `Stream.pieces`."""
        number = 0
        for place, (path, layout) in enumerate(zip(self.paths, self._start[2], strict=True)):
            for block in blocks(path, quoted=True):
                if number >= skipped:
                    part = self._without_header(block, layout) if block.line == 1 else block
                    done = (place + block.done) / len(self.paths)
                    yield Piece(f"{path}, from line {block.line:,}", _Lines(self, path, part, layout), done)
                number += 1

    def _without_header(self, block: Block, layout: Layout) -> Block:
        data = in_utf8(block.data, self._start[1])
        return Block(data[layout.rows :], 1 + data.count(b"\n", 0, layout.rows), block.done)

    def fingerprint(self) -> list[list[Any]]:
        """See `Stream.fingerprint`."""
        return fingerprint(self.paths)

    @property
    def missing(self) -> list[str]:
        """What means that a cell is empty, in any column."""
        return ["", *self.options.missing, *(word for word in IN_ANY_COLUMN if word not in self.options.keep)]

    def type_of(self, name: str, types: Mapping[str, Any]) -> Any:
        """The type that the cells of a column are read as: the one asked for, or that of the first rows; words are codes."""
        import pyarrow as pa

        kind = types.get(name, self._start[0].schema.field(name).type)
        words = pa.types.is_string(kind) or pa.types.is_null(kind)
        return pa.dictionary(pa.int32(), pa.string()) if words else kind

    def leave_out(self, path: str, lines: Sequence[int]) -> None:
        """Keep in mind that these lines were left out, and say so of the first."""
        known = self._skipped.setdefault(path, [])
        if not known and lines:
            shown = ", ".join(f"{line:,}" for line in lines[:MOST_LISTED]) + (", …" if len(lines) > MOST_LISTED else "")
            warn_user(f"{path}: rows that cannot be read are left out, first in line{'' if len(lines) == 1 else 's'} {shown}", UserWarning)  # fmt: skip
        known.extend(lines)

    @property
    def left_out(self) -> int:
        """How many rows were left out so far."""
        return sum(map(len, self._skipped.values()))


def _first_block(path: str) -> Block:
    for block in blocks(path, quoted=True):
        return block
    raise InputError.at(path, "is empty")


@dataclass(frozen=True, eq=False)
class _Lines:
    """Reads one block of lines."""

    files: DelimitedFiles
    path: str
    block: Block
    layout: Layout

    def __call__(self, columns: Sequence[str], types: Mapping[str, Any]) -> Iterator[Any]:
        import pyarrow as pa

        if not self.block.data.strip(b"\r\n"):
            return
        wanted = {name: self.files.type_of(name, types) for name in columns}
        try:
            table = self._read(wanted)
        except pa.ArrowInvalid as error:
            table = self._mended(wanted, error)
        yield _tidy(table)

    def _read(self, types: Mapping[str, Any], handler: Any = None) -> Any:
        import pyarrow as pa
        import pyarrow.csv

        layout, data = self.layout, in_utf8(self.block.data, self.files._start[1])
        parsing = pyarrow.csv.ParseOptions(delimiter=layout.separator, newlines_in_values=True, invalid_row_handler=handler)  # fmt: skip
        converting = pyarrow.csv.ConvertOptions(
            null_values=self.files.missing,
            strings_can_be_null=True,
            decimal_point=layout.decimal,
            column_types=dict(types),
            include_columns=list(types),
        )
        reading = pyarrow.csv.ReadOptions(column_names=layout.names.names, block_size=len(data) + 1, use_threads=False)
        return pyarrow.csv.read_csv(pa.BufferReader(data), reading, parsing, converting)

    def _mended(self, types: Mapping[str, Any], error: Exception) -> Any:
        """The block without rows that cannot be read, where these may be left out; with words that mean missing among numbers."""
        import pyarrow as pa

        uneven: list[Any] = []

        def note(row: Any) -> str:
            uneven.append(row)
            return "skip"

        words = {name: kind if pa.types.is_dictionary(kind) else pa.string() for name, kind in types.items()}
        try:
            table = self._read(words, note)
        except pa.ArrowInvalid:
            raise InputError.at(f"{self.path}, from line {self.block.line:,}", f"cannot be read as CSV: {error}") from None  # fmt: skip
        if uneven and self.files.options.on_error == "stop":
            raise self._ragged(uneven[0])
        kept, bad = table, set[int]()
        for index, (name, kind) in enumerate(types.items()):
            if not pa.types.is_dictionary(kind):
                cells = self._cells(table.column(index))
                wrong = _unlike(cells, kind)
                if wrong and self.files.options.on_error == "stop":
                    raise self._misfit(name, cells[wrong[0]].as_py(), wrong[0], kind)
                bad.update(wrong)
                kept = kept.set_column(index, name, cells)
        return self._without(kept, types, sorted(bad), [row.number for row in uneven])

    def _cells(self, column: Any) -> Any:
        """The words of a column that holds something else, without blanks, words that mean missing, and decimal commas."""
        import pyarrow as pa
        import pyarrow.compute as pc

        cells = trimmed(column)
        gaps = [word for word in AMONG_NUMBERS if word not in self.files.options.keep]
        cells = pc.if_else(pc.is_in(cells, value_set=pa.array(gaps, pa.string())), pa.scalar(None, pa.string()), cells)
        return cells if self.layout.decimal == "." else pc.replace_substring(cells, self.layout.decimal, ".")

    def _without(self, table: Any, types: Mapping[str, Any], bad: list[int], uneven: list[int]) -> Any:
        """The rows that can be read, each column of its type; the others are counted."""
        import numpy as np
        import pyarrow as pa

        if bad or uneven:
            self.files.leave_out(self.path, sorted({self.block.line + row for row in bad} | {self.block.line + row - 1 for row in uneven}))  # fmt: skip
        if bad:
            keep = np.ones(table.num_rows, dtype=np.bool_)
            keep[bad] = False
            table = table.filter(pa.array(keep))
        return pa.table({name: table[name].cast(kind) for name, kind in types.items()})

    def _ragged(self, row: Any) -> InputError:
        line = self.block.line + row.number - 1
        return InputError.at(
            f"{self.path}, line {line:,}",
            f"has {several(row.actual_columns, 'cell')} where the header has {row.expected_columns} ({shortened(row.text, SHOWN)!r})",
            remedy=("repair it, or leave such rows out: ", Option("on_error", "skip")),
        )

    def _misfit(self, name: str, word: Any, row: int, kind: Any) -> InputError:
        import pyarrow as pa

        number = pa.types.is_floating(kind) or pa.types.is_integer(kind)
        return InputError.at(
            f"{self.path}, line {self.block.line + row:,}",
            f"holds {shortened(str(word), SHOWN)!r} in column {name!r}, which holds {'numbers' if number else kind} in the first rows",
            got=word,
            remedy=("say that it means missing (", Option("missing"), "), leave such rows out (", Option("on_error", "skip"), "), or say that the column holds words: ", Option("words")),
        )  # fmt: skip


def _unlike(cells: Any, kind: Any) -> list[int]:
    """The rows whose cell is not of this type, found by halving."""
    import pyarrow as pa

    wrong: list[int] = []
    waiting = [(0, len(cells))]
    while waiting:
        start, stop = waiting.pop()
        try:
            cells.slice(start, stop - start).cast(kind)
        except pa.ArrowInvalid:
            if stop - start == 1:
                wrong.append(start)
            else:
                middle = (start + stop) // 2
                waiting += [(middle, stop), (start, middle)]
    return wrong


def _tidy(table: Any) -> Any:
    """The table without blanks at the ends of its words; each different word is looked at once."""
    import pyarrow as pa

    for index, kind in enumerate(table.schema.types):
        if pa.types.is_dictionary(kind):
            chunks = [_tidy_codes(chunk) for chunk in table.column(index).chunks]
            table = table.set_column(index, table.column_names[index], pa.chunked_array(chunks, type=kind))
    return table


def _tidy_codes(codes: Any) -> Any:
    import pyarrow as pa

    words = pa.chunked_array([codes.dictionary])
    tidy = trimmed(words)
    return codes if tidy is words else pa.DictionaryArray.from_arrays(codes.indices, tidy.combine_chunks())
