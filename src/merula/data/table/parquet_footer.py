"""What the footer of a Parquet file says of its columns, read from its bytes: pyarrow ends the process where a column's entry is damaged.

The footer is a Thrift structure in the compact protocol; only the way to the two numbers that are asked for is followed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

MARK = b"PAR1"
TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
ROW_GROUPS, COLUMNS, CHUNK, VALUES, UNPACKED = 4, 1, 3, 5, 6  # numbers of fields in Parquet's own description


class Chunk(NamedTuple):
    """A column within a group of rows: how many values it holds, and the bytes that its pages unpack to."""

    values: int
    unpacked: int


def column_chunks(data: bytes) -> list[list[Chunk]]:
    """What a Parquet file declares of each column in each group of rows; an EOFError or an IndexError where it is damaged."""
    length = int.from_bytes(data[-8:-4], "little")
    if data[-4:] != MARK or not 0 < length <= len(data) - 12:
        raise EOFError("the footer is not where it should be")
    footer = _Footer(data, len(data) - 8 - length)
    return footer.field(ROW_GROUPS, LIST, lambda: footer.list_of(footer.row_group)) or []


class _Footer:
    """A place in the bytes of a footer, which moves on with everything that is read."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at

    def row_group(self) -> list[Chunk]:
        """The columns of one group of rows."""
        return self.field(COLUMNS, LIST, lambda: self.list_of(self.chunk)) or []

    def chunk(self) -> Chunk:
        """One column of a group of rows."""
        return self.field(CHUNK, STRUCT, self.metadata) or Chunk(0, 0)

    def field(self, wanted: int, kind: int, read: Callable[[], Any]) -> Any:
        """What is read of one field of a structure, the others passed over; None where it is not there."""
        found = None
        for field, own in self.fields():
            if field == wanted and own == kind:
                found = read()
            else:
                self.skip(own)
        return found

    def metadata(self) -> Chunk:
        """The two numbers that are asked for."""
        numbers = {VALUES: 0, UNPACKED: 0}
        for field, kind in self.fields():
            if field in numbers:
                numbers[field] = self.number()
            else:
                self.skip(kind)
        return Chunk(numbers[VALUES], numbers[UNPACKED])

    def fields(self) -> Iterator[tuple[int, int]]:
        """The number and the kind of each field of a structure, in turn; whoever asks reads or skips it."""
        field = 0
        while (head := self.byte()) & 15:
            step = head >> 4
            field = field + step if step else self.number()
            yield field, head & 15

    def list_of(self, read: Callable[[], Any]) -> list[Any]:
        """A list of structures."""
        count, _ = self.list_head()
        return [read() for _ in range(count)]

    def list_head(self) -> tuple[int, int]:
        """How many items a list has, and of which kind they are."""
        head = self.byte()
        return (head >> 4 if head >> 4 < 15 else self.whole()), head & 15

    def byte(self) -> int:
        """The next byte."""
        self.at += 1
        return self.data[self.at - 1]

    def whole(self) -> int:
        """A whole number from 0, seven bits in a byte."""
        found = shift = 0
        while (byte := self.byte()) & 128:
            found |= (byte & 127) << shift
            shift += 7
            if shift > 63:
                raise EOFError("a number has no end")
        return found | byte << shift

    def number(self) -> int:
        """A whole number of either sign."""
        found = self.whole()
        return found >> 1 ^ -(found & 1)

    def skip(self, kind: int, in_list: bool = False) -> None:
        """Move on behind a value of this kind."""
        if kind in (TRUE, FALSE, BYTE):  # in a structure, true and false are their kind
            self.at += in_list or kind == BYTE
        elif kind == DOUBLE:
            self.at += 8
        elif kind == BINARY:
            length = self.whole()
            self.at += length
        elif kind in (LIST, SET):
            count, item = self.list_head()
            self._skip_all([item], count)
        elif kind == MAP:
            count = self.whole()
            kinds = self.byte() if count else 0
            self._skip_all([kinds >> 4, kinds & 15], count)
        elif kind == STRUCT:
            for _, inner in self.fields():
                self.skip(inner)
        else:
            self.whole()

    def _skip_all(self, kinds: list[int], count: int) -> None:
        for _ in range(count):
            for kind in kinds:
                self.skip(kind, in_list=True)
            if self.at > len(self.data):
                raise IndexError("the footer ends within a list")
