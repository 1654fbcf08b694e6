"""CSV files of any size: what the first rows tell of columns holds for all; a cell that does not fit is named with its line."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from merula.core import InputError, Option, located, warn_user
from merula.core.notes import silenced
from merula.data.stream.first_files import FirstFiles, Read
from merula.data.stream.lines import Block, blocks
from merula.data.stream.pieces import MisfitError, Piece, check_names, fingerprint
from merula.data.table.cleaning import AMONG_NUMBERS, IN_ANY_COLUMN, trimmed
from merula.data.table.delimited import Layout, layout_of, read_delimited, without_footer
from merula.data.table.file_options import NOTHING_STATED, FileOptions
from merula.data.table.header_again import FEWEST_BETWEEN, header_again
from merula.data.table.stand_ins import noted
from merula.data.table.text_encoding import encoding_of, in_utf8, without_zeros
from merula.data.table.times_of_day import in_seconds
from merula.data.table.unusual import refuse_unusual
from merula.show.numbers import several
from merula.show.text import shortened

WIDE = ("utf-16", "utf-32")
MOST_LISTED = 5  # lines that are left out
SHOWN = 60
FEW = 2**16  # bytes that tell the header of a further file


@dataclass(frozen=True, eq=False)
class DelimitedFiles:
    """CSV files with the same columns, one below the other; a piece is a block of whole lines."""

    paths: tuple[str, ...]
    options: FileOptions = NOTHING_STATED
    again: bool = True
    _skipped: dict[str, set[int]] = field(default_factory=dict)  # lines that were left out of each file
    _zeros: set[str] = field(default_factory=set)  # files with zero bytes between characters
    _footers: set[str] = field(default_factory=set)  # files whose remarks below the rows were told
    _repeats: set[str] = field(default_factory=set)  # files of which it was told that their header stands again

    @cached_property
    def _start(self) -> tuple[Any, tuple[str, ...], tuple[Layout, ...]]:
        """The table of the first rows, and of each file its encoding and where its header ends."""
        first, encodings, layouts = FirstFiles(), list[str](), list[Layout]()
        for path in self.paths:
            block = _first_block(path, FEW if first.is_enough else None)
            try:
                block = self._without_zeros(path, block)
                encoding = self._encoding(block.data)
                data = in_utf8(block.data, encoding)
                refuse_unusual(data)
                with silenced():  # what there is to say of how a file is written is said of the first rows
                    layout = layout_of(data, replace(self.options, encoding=encoding))
                if layouts:
                    check_names(layouts[0].names.names, layout.names.names, path, self.paths[0])
                if not layouts or (not first.is_enough and layout.data[layout.rows :].strip()):
                    first.add(path, self._reader(block, encoding), block.done == 1.0)
            except ValueError as error:
                raise located(error, path, " ") from None
            encodings.append(encoding)
            header = layout.data[layout.header : layout.rows]  # what is kept of thousands of files must be little
            layouts.append(replace(layout, data=header))
        self._footers.update(self.paths[:1] if first.ends[0] else [])
        return first.table, tuple(encodings), tuple(layouts)

    def _reader(self, block: Block, encoding: str) -> Read:
        """What reads the first block of a file, some of its columns as words."""

        def read(words: Collection[str]) -> Any:
            options = replace(self.options, encoding=encoding, words=[*self.options.words, *words])
            return read_delimited(block.data, options, block.done == 1.0)

        return read

    def _without_zeros(self, path: str, block: Block) -> Block:
        """The first block of a file without zero bytes between its characters, which all of its blocks are read without then."""
        data = without_zeros(block.data, self.options.encoding)
        self._zeros.update([path] if data is not block.data else [])
        return replace(block, data=data)

    def _encoding(self, data: bytes) -> str:
        encoding = encoding_of(data, self.options.encoding)
        if any(wide in encoding for wide in WIDE):
            raise InputError(f"is in {encoding}, whose lines cannot be told apart piece by piece", remedy="save it as UTF-8, or read it at once: merula.read_table")  # fmt: skip
        return encoding

    @cached_property
    def first(self) -> Any:
        """See `Stream.first`."""
        return noted(in_seconds(self._start[0]), self.options)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of all files, as their header names them."""
        return tuple(self._start[0].column_names)

    def pieces(self, skipped: int = 0) -> Iterator[Piece]:
        """See `Stream.pieces`."""
        number = 0
        for place, (path, encoding, layout) in enumerate(zip(self.paths, *self._start[1:], strict=True)):
            for block, last in _with_last(blocks(path, quoted=True)):
                if number >= skipped:
                    done = (place + block.done) / len(self.paths)
                    lines = _Lines(self, path, block, layout, encoding, last)
                    yield Piece(f"{path}, from line {block.line:,}", lines, done)
                number += 1

    def in_utf8(self, path: str, block: Block, layout: Layout, encoding: str) -> Block:
        """The rows of a block in UTF-8, without the header."""
        data = in_utf8(block.data.replace(b"\0", b"") if path in self._zeros else block.data, encoding)
        start = layout.rows if block.line == 1 else 0
        return Block(data[start:], block.line + data.count(b"\n", 0, start), block.done)

    def fingerprint(self) -> list[list[Any]]:
        """See `Stream.fingerprint`."""
        return fingerprint(self.paths)

    def without_footer(self, path: str, block: Block, layout: Layout) -> Block:
        """The last block of a file without remarks below the rows, told once."""
        told = path in self._footers
        self._footers.add(path)
        with silenced() if told else nullcontext():
            kept = without_footer(replace(layout, data=block.data, rows=0))
        return replace(block, data=kept.data)

    def without_repeats(self, path: str, block: Block, layout: Layout, begins: bool) -> Block:
        """The rows of a block, with which its file `begins` or not, without lines that are the header again, told once."""
        again = header_again(layout.data, layout.separator)
        if again is None or again.longest not in block.data:
            return block
        rest, count = again.taken_out(b"\n" + block.data, FEWEST_BETWEEN if begins else 0)
        seen = begins and path == self.paths[0]  # and told, where the first rows were read
        if count and not seen and path not in self._repeats:
            self._repeats.add(path)
            warn_user(f"{path}: the header stands again among the rows, and is left out", UserWarning)
        return replace(block, data=rest[1:])

    @property
    def missing(self) -> list[str]:
        """What means that a cell is empty, in any column."""
        return ["", *self.options.missing, *(word for word in IN_ANY_COLUMN if word not in self.options.keep)]

    def type_of(self, name: str, types: Mapping[str, Any]) -> Any:
        """The type that the cells of a column are read as: words where that was said, else the one asked for, or that of the first rows; words are codes."""
        import pyarrow as pa

        kind = self._start[0].schema.field(name).type
        kind = kind if pa.types.is_time(kind) or name in self.options.words else types.get(name, kind)
        if pa.types.is_timestamp(kind):
            return kind if kind.unit == "ns" else pa.timestamp("us", kind.tz)  # a fraction of a second may follow
        words = pa.types.is_string(kind) or pa.types.is_null(kind)
        return pa.dictionary(pa.int32(), pa.string()) if words else kind

    def leave_out(self, path: str, lines: Sequence[int]) -> None:
        """Keep in mind that these lines were left out, and say so of the first."""
        known = self._skipped.setdefault(path, set())
        if not known and lines:
            shown = ", ".join(f"{line:,}" for line in lines[:MOST_LISTED]) + (", …" if len(lines) > MOST_LISTED else "")
            warn_user(f"{path}: rows that cannot be read are left out, first in line{'' if len(lines) == 1 else 's'} {shown}", UserWarning)  # fmt: skip
        known.update(lines)

    @property
    def left_out(self) -> int:
        """How many rows were left out so far."""
        return sum(map(len, self._skipped.values()))


def _with_last(found: Iterator[Block]) -> Iterator[tuple[Block, bool]]:
    """Each block, and whether it is the last."""
    block = next(found, None)
    while block is not None:
        after = next(found, None)
        yield block, after is None
        block = after


def _first_block(path: str, size: int | None) -> Block:
    for block in blocks(path, quoted=True, size=size):
        return block
    raise InputError.at(path, "is empty")


@dataclass(frozen=True, eq=False)
class _Lines:
    """Reads one block of lines."""

    files: DelimitedFiles
    path: str
    block: Block
    layout: Layout
    encoding: str
    last: bool  # of its file

    def __call__(self, columns: Sequence[str], types: Mapping[str, Any]) -> Iterator[Any]:
        block = self.files.in_utf8(self.path, self.block, self.layout, self.encoding)
        block = self.files.without_repeats(self.path, block, self.layout, self.block.line == 1)
        block = self.files.without_footer(self.path, block, self.layout) if self.last else block
        part = replace(self, block=block)
        table = part.table(columns, types) if part.block.data.strip(b"\r\n") else None
        if table is not None and table.num_rows:  # none where all rows of the block were left out
            yield table

    def table(self, columns: Sequence[str], types: Mapping[str, Any]) -> Any:
        """The rows of a block that is in UTF-8 and has no header."""
        import pyarrow as pa

        wanted = {name: self.files.type_of(name, types) for name in columns}
        try:
            table = self._read(wanted)
        except pa.ArrowInvalid as error:
            table = self._mended(wanted, error)
        return _tidy(in_seconds(table))

    def _read(self, types: Mapping[str, Any], handler: Any = None) -> Any:
        import pyarrow as pa
        import pyarrow.csv

        layout, data = self.layout, self.block.data
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
        if uneven and self.files.options.on_error == "raise":
            raise self._ragged(uneven[0])
        kept, bad = table, set[int]()
        for index, (name, kind) in enumerate(types.items()):
            if not pa.types.is_dictionary(kind):
                cells = self._cells(table.column(index))
                wrong = _unlike(cells, kind)
                if wrong and self.files.options.on_error == "raise":
                    line = self._lines(uneven)[wrong[0]]
                    raise self._misfit(name, cells[wrong[0]].as_py(), line, kind)
                bad.update(wrong)
                kept = kept.set_column(index, name, cells)
        if bad or uneven:
            lines = self._lines(uneven)
            self.files.leave_out(self.path, sorted({lines[row] for row in bad} | {self._line(row) for row in uneven}))
        return _without(kept, types, sorted(bad))

    def _line(self, row: Any) -> int:
        """The line of a row that is uneven: rows are counted without blank lines."""
        return self._lines([])[int(row.number) - 1]

    def _lines(self, uneven: Sequence[Any]) -> list[int]:
        """The line of each row but the uneven ones; where cells hold line ends, of lines before it."""
        found = [self.block.line + k for k, line in enumerate(self.block.data.split(b"\n")) if line.strip(b"\r")]
        others = {row.number - 1 for row in uneven}
        return [line for k, line in enumerate(found) if k not in others]

    def _cells(self, column: Any) -> Any:
        """The words of a column that holds something else, without blanks, words that mean missing, and decimal commas."""
        import pyarrow as pa
        import pyarrow.compute as pc

        cells = trimmed(column)
        gaps = [word for word in AMONG_NUMBERS if word not in self.files.options.keep]
        cells = pc.if_else(pc.is_in(cells, value_set=pa.array(gaps, pa.string())), pa.scalar(None, pa.string()), cells)
        return cells if self.layout.decimal == "." else pc.replace_substring(cells, self.layout.decimal, ".")

    def _ragged(self, row: Any) -> InputError:
        return InputError.at(
            f"{self.path}, line {self._line(row):,}",
            f"has {several(row.actual_columns, 'cell')} where the header has {row.expected_columns} ({shortened(row.text, SHOWN)!r})",
            remedy=("repair it, or leave such rows out: ", Option("on_error", "skip")),
        )

    def _misfit(self, name: str, word: Any, line: int, kind: Any) -> MisfitError:
        import pyarrow as pa

        first = self.files.first.schema.field(name).type
        held = (
            f"is read as {_called(kind)}" if pa.types.is_string(first) else f"holds {_called(kind)} in the first rows"
        )
        error = MisfitError.at(
            f"{self.path}, line {line:,}",
            f"holds {shortened(str(word), SHOWN)!r} in column {name!r}, which {held}",
            got=word,
            remedy=("say that it means missing (", Option("missing"), "), leave such rows out (", Option("on_error", "skip"), "), or say that the column holds words: ", Option("words")),
        )  # fmt: skip
        error.column = name
        return error


def _called(kind: Any) -> str:
    """What cells of a type are, in words."""
    import pyarrow as pa

    named = {"whole numbers": pa.types.is_integer, "numbers": pa.types.is_floating, "days": pa.types.is_date, "true and false": pa.types.is_boolean, "times": pa.types.is_temporal}  # fmt: skip
    return next((words for words, is_such in named.items() if is_such(kind)), str(kind))


def _without(table: Any, types: Mapping[str, Any], bad: list[int]) -> Any:
    """The rows that can be read, each column of its type."""
    import numpy as np
    import pyarrow as pa

    if bad:
        keep = np.ones(table.num_rows, dtype=np.bool_)
        keep[bad] = False
        table = table.filter(pa.array(keep))
    return pa.table({name: _typed(table[name], kind) for name, kind in types.items()})


def _typed(cells: Any, kind: Any) -> Any:
    """Words as cells of this type; an `ArrowInvalid` where one is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_timestamp(kind):
        return _instants(cells, kind)
    if not pa.types.is_time(kind):
        return cells.cast(kind)
    return pc.binary_join_element_wise("1970-01-01", cells, " ").cast(pa.timestamp("us")).cast(kind)


def _instants(cells: Any, kind: Any) -> Any:
    """Words as instants of this type, or counted in nanoseconds where they need it, which neither 1600 nor 2300 is."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for one in dict.fromkeys((kind, pa.timestamp("ns", kind.tz))):
        try:
            return cells.cast(one)
        except pa.ArrowInvalid:
            continue
    return pc.replace_substring_regex(cells, r"(\.\d{6})\d+", r"\1").cast(pa.timestamp("us", kind.tz))


def _unlike(cells: Any, kind: Any) -> list[int]:
    """The rows whose cell is not of this type, found by halving."""
    import pyarrow as pa

    wrong: list[int] = []
    waiting = [(0, len(cells))]
    while waiting:
        start, stop = waiting.pop()
        try:
            _typed(cells.slice(start, stop - start), kind)
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
    if tidy is words:
        return codes
    once = tidy.combine_chunks().dictionary_encode()  # pandas takes no word twice, which blanks alone told apart
    return pa.DictionaryArray.from_arrays(once.indices.take(codes.indices), once.dictionary)
