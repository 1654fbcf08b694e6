"""Files by columns whose bytes are words, as older Spark and Impala write them: what the first rows hold is decided for all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from merula.core import InputError, Option
from merula.data.stream.columnar import ArrowFiles, Fragments, ParquetFiles
from merula.data.stream.pieces import Piece
from merula.data.table.file_options import NOTHING_STATED, FileOptions
from merula.data.table.nested import holds_bytes, with_words


@dataclass(frozen=True, eq=False)
class BytesAsWords:
    """A stream whose bytes are words in every column that holds nothing but text in the first rows; other bytes stay."""

    stream: ParquetFiles | ArrowFiles | Fragments

    @property
    def options(self) -> FileOptions:
        """What was said of how its files are read."""
        return getattr(self.stream, "options", NOTHING_STATED)

    @property
    def again(self) -> bool:
        """See `Stream.again`."""
        return self.stream.again

    @property
    def names(self) -> tuple[str, ...]:
        """See `Stream.names`."""
        return self.stream.names

    @cached_property
    def first(self) -> Any:
        """See `Stream.first`."""
        return with_words(self.stream.first)

    @cached_property
    def _words(self) -> frozenset[str]:
        """The columns whose bytes are words."""
        import pyarrow as pa

        pairs = zip(self.stream.first.schema, self.first.schema, strict=True)
        return frozenset(
            field.name for raw, field in pairs if raw.type != field.type and pa.types.is_string(field.type)
        )

    def pieces(self, skipped: int = 0) -> Iterator[Piece]:
        """See `Stream.pieces`."""
        pieces = self.stream.pieces(skipped)
        if not self._words:
            return pieces
        return (replace(piece, read=_Words(piece, self._words)) for piece in pieces)

    def fingerprint(self) -> list[list[Any]]:
        """See `Stream.fingerprint`."""
        return self.stream.fingerprint()


@dataclass(frozen=True, eq=False)
class _Words:
    """Reads a piece, some columns of which are words written as bytes."""

    piece: Piece
    words: frozenset[str]

    def __call__(self, columns: Sequence[str], types: Mapping[str, Any]) -> Iterator[Any]:
        for table in self.piece.read(columns, types):
            found = with_words(table, self.words)
            for field in found.schema:
                if field.name in self.words and holds_bytes(field.type):
                    raise InputError.at(self.piece.where, f"holds bytes in column {field.name!r} that are no text, as those of the first rows are", remedy=("leave the column out: ", Option("kinds", "ignore", column=field.name)))  # fmt: skip
            yield found
