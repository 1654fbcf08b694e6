"""JSON lines of any size: a row in braces on each line; types are those of the first rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from merula.core import InputError
from merula.data.stream.lines import Block, blocks
from merula.data.stream.pieces import Piece, fingerprint
from merula.data.table.hard_json import refuse_hard_json


@dataclass(frozen=True, eq=False)
class JsonLineFiles:
    """Files of JSON lines, one below the other; a piece is a block of whole lines."""

    paths: tuple[str, ...]
    again: bool = True

    @cached_property
    def first(self) -> Any:
        """See `Stream.first`: with a column for every key that stands in the first rows of the first file."""
        for block in blocks(self.paths[0], quoted=False):
            return _parsed(block, self.paths[0], None)
        raise InputError.at(self.paths[0], "is empty")

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

        held = self.files.first.schema
        schema = pa.schema([(name, types.get(name, held.field(name).type)) for name in columns])
        yield _parsed(self.block, self.path, schema)


def _parsed(block: Block, path: str, schema: Any) -> Any:
    """The rows of a block; with the columns of a schema alone where there is one."""
    import pyarrow as pa
    import pyarrow.json

    refuse_hard_json(block.data)
    reading = pyarrow.json.ReadOptions(block_size=len(block.data) + 1, use_threads=False)
    parsing = pyarrow.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="infer" if schema is None else "ignore")  # fmt: skip
    try:
        return pyarrow.json.read_json(pa.BufferReader(block.data), reading, parsing)
    except pa.ArrowInvalid as error:
        what = " ".join(str(error).split())
        raise InputError.at(f"{path}, from line {block.line:,}", f"cannot be read as JSON lines of the columns that the first rows have: {what}", remedy="repair the file, or write numbers and words into columns of their own") from None  # fmt: skip
