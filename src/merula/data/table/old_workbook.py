"""Workbooks of Excel before 2007 (.xls): how many cells they would take room for, read from their records.

They are compound files (MS-CFB): sectors that are chained by a table, the names of streams in a directory. The stream of the
workbook is a sequence of records (MS-XLS), of which those of cells begin with a row and a column.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from merula.core import InputError

MARK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
LOCKED = "EncryptedPackage".encode("utf-16-le")
END = 0xFFFFFFFA  # from here on, numbers are no sectors
ENTRY = 128  # bytes of the directory for each stream
BEGIN = 0x0809  # of a sheet
SINGLE = {0x0006, 0x0203, 0x0204, 0x0205, 0x027E, 0x00FD, 0x00D6, 0x0001, 0x0002, 0x0003, 0x0004, 0x0005, 0x0201}
SEVERAL = {0x00BD, 0x00BE}  # whose last two bytes are the last column


def cells_of_old_workbook(data: bytes) -> int:
    """The cells of the rectangles that hold the sheets of a workbook; an `InputError` where it is locked or damaged."""
    if LOCKED in data:
        raise InputError("is a workbook with a password", remedy="save it without one")
    try:
        stream = _Compound(data).stream(("Workbook", "Book"))
    except (struct.error, IndexError, _DamagedError) as error:
        raise InputError(f"is no workbook that can be read ({error})", remedy="open it and save it again") from None
    total = rows = columns = 0
    for kind, record in _records(stream):
        if kind == BEGIN:
            total, rows, columns = total + rows * columns, 0, 0
        elif kind in SINGLE | SEVERAL and len(record) >= 4:
            row, column = struct.unpack_from("<HH", record)
            last = struct.unpack_from("<H", record, len(record) - 2)[0] if kind in SEVERAL else column
            rows, columns = max(rows, row + 1), max(columns, column + 1, last + 1)
    return total + rows * columns


def _records(stream: bytes) -> Iterator[tuple[int, bytes]]:
    """The kind and the content of each record."""
    place = 0
    while place + 4 <= len(stream):
        kind, length = struct.unpack_from("<HH", stream, place)
        yield kind, stream[place + 4 : place + 4 + length]
        place += 4 + length


class _DamagedError(Exception):
    """The file is not what it begins like."""


class _Compound:
    """A compound file: streams by their names."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        shift, small_shift = struct.unpack_from("<HH", data, 30)
        if shift not in (9, 12) or small_shift > shift:
            raise _DamagedError("its sectors have no usual size")
        self.size, self.small_size = 1 << shift, 1 << small_shift
        directory, _, self.least, first_small, _, more, _ = struct.unpack_from("<7I", data, 48)
        sectors = [number for number in struct.unpack_from("<109I", data, 76) if number < END]
        seen = set[int]()
        while more < END and more not in seen:
            seen.add(more)
            *listed, more = struct.unpack(f"<{self.size // 4}I", self._sector(more))
            sectors += [number for number in listed if number < END]
        self.next = self._numbers(b"".join(map(self._sector, sectors)))
        self.directory = self._chained(directory)
        self.small_next = self._numbers(self._chained(first_small)) if first_small < END else ()
        start, length = struct.unpack_from("<IQ", self.directory, 116)
        self.small = self._chained(start)[:length] if start < END else b""

    def _numbers(self, table: bytes) -> tuple[int, ...]:
        return struct.unpack(f"<{len(table) // 4}I", table[: len(table) // 4 * 4])

    def _sector(self, number: int) -> bytes:
        return self.data[(number + 1) * self.size : (number + 2) * self.size]

    def _chained(self, number: int) -> bytes:
        """The sectors from this one on, in the order of their chain."""
        found = list[bytes]()
        while number < END:
            if len(found) > len(self.next):
                raise _DamagedError("its sectors go round in a circle")
            found.append(self._sector(number))
            number = self.next[number]
        return b"".join(found)

    def stream(self, names: tuple[str, ...]) -> bytes:
        """The bytes of the first stream of one of these names."""
        for place in range(0, len(self.directory) - ENTRY + 1, ENTRY):
            entry = self.directory[place : place + ENTRY]
            length = struct.unpack_from("<H", entry, 64)[0]
            if entry[: max(length - 2, 0)].decode("utf-16-le", errors="replace") in names:
                start, size = struct.unpack_from("<II", entry, 116)
                return self._chained(start)[:size] if size >= self.least else self._small_chained(start)[:size]
        raise _DamagedError("there is none in it")

    def _small_chained(self, number: int) -> bytes:
        found = list[bytes]()
        while number < END:
            if len(found) > len(self.small_next):
                raise _DamagedError("its sectors go round in a circle")
            found.append(self.small[number * self.small_size : (number + 1) * self.small_size])
            number = self.small_next[number]
        return b"".join(found)
