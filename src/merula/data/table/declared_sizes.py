"""What Parquet and Arrow files say they become in memory, read from their metadata before anything is unpacked.

Arrow's metadata are flatbuffers (Message.fbs, File.fbs of the Arrow format): tables that find their fields by offsets.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from merula.core import bounded
from merula.core.errors import InputError
from merula.data.table.parquet_footer import column_chunks

MARK = b"ARROW1"
COLUMN = 2**16  # bytes that a column takes in all that follows, however few its rows are
ROW = 8  # bytes that a row takes, even where its columns are empty
RECORD_BATCH, DICTIONARY_BATCH = 3, 2  # types of messages
WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8, "BYTE_ARRAY": 4}


def refuse_columns(count: int) -> None:
    """An `InputError` where a table has more columns than memory may be taken for."""
    _refuse_many(count, COLUMN, "columns")


def refuse_rows(table: Any) -> None:
    """An `InputError` where a table that takes hardly any memory itself has more rows than may be learned from."""
    _refuse_many(table.num_rows, ROW, "rows")


def _refuse_many(count: int, size: int, what: str) -> None:
    if count * size > bounded.most_bytes():
        raise InputError(
            f"has {count:,} {what}, which take more than {bounded.most_bytes():,} bytes in memory",
            got=count,
            remedy=f"leave some out, or set the environment variable {bounded.VARIABLE} to the number of bytes they may take",
        )


def parquet_size(data: Any, metadata: Any) -> int:
    """The bytes that a Parquet file becomes by its own metadata: rows × widths, or what its pages unpack to, if that is more."""
    schema = metadata.schema
    widths = [WIDTHS.get(schema.column(j).physical_type, 1) for j in range(metadata.num_columns)]
    total: int = ROW * metadata.num_rows
    try:
        for k, chunks in enumerate(column_chunks(data)):
            rows = metadata.row_group(k).num_rows
            total += sum(max(0, one.values, rows) * width + max(0, one.unpacked) for width, one in zip(widths, chunks, strict=True))  # fmt: skip
    except (ValueError, IndexError, RecursionError) as error:
        raise EOFError(f"its footer is damaged: {error}") from None
    return total


def is_text(kind: Any) -> bool:
    """Whether a column of this Arrow type holds words or bytes, each of its own length."""
    import pyarrow as pa

    return any(is_such(kind) for is_such in (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary))


def written_out_size(column: Any) -> int:
    """The bytes of a column, its words written out where they are kept as codes: one long word may stand in every row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_dictionary(column.type) and is_text(column.type.value_type)):
        return int(column.nbytes)
    lengths = (pc.take(pc.binary_length(chunk.dictionary), chunk.indices) for chunk in column.chunks)
    return sum(pc.sum(some).as_py() or 0 for some in lengths)


def arrow_size(data: bytes) -> int:
    """The bytes that the messages of an Arrow stream or file become, each as often as the file names it."""
    import pyarrow as pa

    return sum(
        _message_size(message) for message in (_of_file(pa, data) if data.startswith(MARK) else _of_stream(pa, data))
    )


def _of_stream(pa: Any, data: bytes) -> Iterator[Any]:
    """The messages of a stream, in order."""
    yield from pa.ipc.MessageReader.open_stream(pa.BufferReader(data))


def _of_file(pa: Any, data: bytes) -> Iterator[Any]:
    """The messages that the footer of a file names: dictionaries and batches."""
    (length,) = struct.unpack_from("<i", data, len(data) - len(MARK) - 4)
    if not 0 < length < len(data):
        raise InputError("is an Arrow file without a footer")
    footer = Flat(data[len(data) - len(MARK) - 4 - length :])
    for field in (2, 3):
        for start in footer.vector(field, 24):
            (offset,) = struct.unpack_from("<q", footer.data, start)
            if not 0 <= offset < len(data):
                raise InputError("is an Arrow file whose footer names what is not in it")
            yield pa.ipc.read_message(pa.py_buffer(data).slice(offset))


class Flat:
    """A table of a flatbuffer: where its fields are, found by their numbers."""

    def __init__(self, data: bytes, place: int | None = None) -> None:
        self.data = data
        self.place = struct.unpack_from("<I", data)[0] if place is None else place
        self.fields = self.place - struct.unpack_from("<i", data, self.place)[0]

    def field(self, number: int) -> int | None:
        """Where a field begins; None where it is not there."""
        (size,) = struct.unpack_from("<H", self.data, self.fields)
        at = 4 + 2 * number
        (offset,) = struct.unpack_from("<H", self.data, self.fields + at) if at < size else (0,)
        return self.place + offset if offset else None

    def table(self, number: int) -> Flat | None:
        """The table in a field."""
        at = self.field(number)
        return None if at is None else Flat(self.data, at + struct.unpack_from("<I", self.data, at)[0])

    def vector(self, number: int, size: int) -> range:
        """Where the entries of the vector in a field begin, each of this size."""
        at = self.field(number)
        if at is None:
            return range(0)
        start = at + struct.unpack_from("<I", self.data, at)[0]
        (count,) = struct.unpack_from("<I", self.data, start)
        if start + 4 + count * size > len(self.data):
            raise InputError("is an Arrow file whose metadata end too early")
        return range(start + 4, start + 4 + count * size, size)


def _message_size(message: Any) -> int:
    """The bytes that the buffers of one message become: where they are packed, each says so in its first eight bytes."""
    flat, body = Flat(message.metadata.to_pybytes()), message.body
    at = flat.field(1)
    kind = flat.data[at] if at is not None else 0
    header = flat.table(2) if kind in (RECORD_BATCH, DICTIONARY_BATCH) else None
    batch = header.table(1) if header and kind == DICTIONARY_BATCH else header
    if batch is None or body is None:
        return 0
    total, packed = 0, batch.field(3) is not None
    for start in batch.vector(2, 16):
        offset, length = struct.unpack_from("<qq", batch.data, start)
        if packed and length >= 8 and 0 <= offset <= len(body) - 8:
            (size,) = struct.unpack("<q", body.slice(offset, 8).to_pybytes())
            length = max(length, size)
        total += max(0, length)
    return total
