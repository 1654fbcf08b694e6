"""JSON lines of any size: a row in braces on each line; types are those of the first rows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from merula.core import InputError, warn_user
from merula.data.stream.below import below, with_columns
from merula.data.stream.lines import Block, blocks
from merula.data.stream.pieces import Piece, fingerprint, first_rows
from merula.data.table.file_options import NOTHING_STATED, FileOptions
from merula.data.table.hard_json import refuse_hard_json
from merula.data.table.stand_ins import noted


@dataclass(frozen=True, eq=False)
class JsonLineFiles:
    """Files of JSON lines, one below the other; a piece is a block of whole lines."""

    paths: tuple[str, ...]
    options: FileOptions = NOTHING_STATED
    again: bool = True
    _skipped: set[tuple[str, int]] = field(default_factory=set)  # lines that were left out

    @cached_property
    def first(self) -> Any:
        """See `Stream.first`: with a column for every key that stands in the first rows, of several files where the first have few."""
        tables: list[Any] = []
        for path in self.paths:
            block = next(blocks(path, quoted=False), None)
            if block is None:
                raise InputError.at(path, "is empty")
            tables.append(self.parsed(block, path, None))
            if block.done < 1.0 or sum(map(len, tables)) >= first_rows(tables[0].num_columns):
                break
        names = list(dict.fromkeys(name for table in tables for name in table.column_names))
        return noted(below([with_columns(table, names) for table in tables], self.paths[: len(tables)]), self.options)

    @property
    def left_out(self) -> int:
        """How many rows were left out so far."""
        return len(self._skipped)

    def parsed(self, block: Block, path: str, schema: Any) -> Any:
        """The rows of a block; without lines that are no rows, where these may be left out."""
        try:
            return _parsed(block, path, schema)
        except InputError:
            if self.options.on_error == "raise":
                raise
        good, bad = _rows_and_others(block)
        self._skipped.update((path, line) for line in bad)
        if bad:
            warn_user(f"{path}: lines that are no rows are left out, first line {bad[0]:,}", UserWarning)
        return _parsed(good, path, schema)

    @property
    def names(self) -> tuple[str, ...]:
        """The keys of the first rows."""
        return tuple(self.first.column_names)

    def pieces(self, skipped: int = 0) -> Iterator[Piece]:
        """See `Stream.pieces`."""
        number = 0
        for place, path in enumerate(self.paths):
            for block in blocks(path, quoted=False):
                if number >= skipped:
                    done = (place + block.done) / len(self.paths)
                    yield Piece(f"{path}, from line {block.line:,}", _Rows(self, path, block), done)
                number += 1

    def fingerprint(self) -> list[list[Any]]:
        """See `Stream.fingerprint`."""
        return fingerprint(self.paths)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Reads one block of lines."""

    files: JsonLineFiles
    path: str
    block: Block

    def __call__(self, columns: Sequence[str], types: Mapping[str, Any]) -> Iterator[Any]:
        import pyarrow as pa

        wanted = {one.name: one.type if pa.types.is_string(one.type) else types.get(one.name, one.type) for one in self.files.first.schema}  # fmt: skip
        schema = pa.schema(list(wanted.items()))
        yield self.files.parsed(self.block, self.path, schema).select(list(columns))


def _rows_and_others(block: Block) -> tuple[Block, list[int]]:
    """The lines of a block that hold a row, and the numbers of the others."""
    good, bad = [], []
    for number, line in enumerate(block.data.split(b"\n"), block.line):
        try:
            held = line.strip() and isinstance(json.loads(line), dict)
        except ValueError:
            held = False
        if held:
            good.append(line)
        elif line.strip():
            bad.append(number)
    return replace(block, data=b"\n".join(good) + b"\n"), bad


def _parsed(block: Block, path: str, schema: Any) -> Any:
    """The rows of a block, of the columns of a schema where there is one; an `InputError` where they have others."""
    import pyarrow as pa
    import pyarrow.json

    refuse_hard_json(block.data)
    reading = pyarrow.json.ReadOptions(block_size=len(block.data) + 1, use_threads=False)
    parsing = pyarrow.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="infer" if schema is None else "error")  # fmt: skip
    try:
        return pyarrow.json.read_json(pa.BufferReader(block.data), reading, parsing)
    except pa.ArrowInvalid as error:
        what = " ".join(str(error).split())
        raise InputError.at(f"{path}, from line {block.line:,}", f"cannot be read as JSON lines of the columns that the first rows have: {what}", remedy="repair the file, or write numbers and words into columns of their own") from None  # fmt: skip
