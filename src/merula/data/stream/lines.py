"""Text files in blocks of whole lines, packed by gzip or not, whatever their size; a cell may hold line ends in quotation marks."""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from merula.core import InputError

BYTES = 2**24  # of a block
LONGEST = 2**26  # bytes without a line end, before a file is called no table
PACKED = b"\x1f\x8b"
QUOTE = b'"'
STRAY = re.compile(rb'[^",;\t|\r\n]"[^",;\t|\r\n]')  # a mark within a cell
OPENING, CELL = re.compile(rb'(?:\A|[,;\t|\n])"'), re.compile(rb'(?:[^"]|"")*+"')


@dataclass(frozen=True, eq=False)
class Block:
    """Some whole lines: the number of the first, from 1, and the share of the file that has been read once they are."""

    data: bytes
    line: int
    done: float

    def __len__(self) -> int:
        return len(self.data)


def blocks(path: str, quoted: bool, size: int | None = None) -> Iterator[Block]:
    """A file as blocks of whole lines; where cells may be `quoted`, a line end within quotation marks ends no line."""
    total, size = max(1, os.path.getsize(path)), size or BYTES
    with open(path, "rb") as raw:
        packed = raw.read(2) == PACKED
        raw.seek(0)
        file: IO[bytes] | Any = gzip.GzipFile(fileobj=raw) if packed else raw
        rest, line, asked = b"", 1, size
        while chunk := _read(file, asked, path):
            data = rest + chunk
            end = _whole_lines(data, quoted)
            if not end:
                _refuse_endless(data, path, line)
                rest, asked = data, len(data)  # twice as much at once, so that long lines take no time over and over
                continue
            yield Block(data[:end], line, min(1.0, raw.tell() / total))
            rest, asked = data[end:], size
            line += data.count(b"\n", 0, end)
        if rest.strip(b"\r\n"):
            yield Block(rest, line, 1.0)


def _read(file: Any, size: int, path: str) -> bytes:
    try:
        return bytes(file.read(size))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError.at(path, f"is packed by gzip, but cut short or damaged ({error})", remedy="fetch it again") from None  # fmt: skip


def _whole_lines(data: bytes, quoted: bool) -> int:
    """Where the last whole line ends; 0 where none does."""
    end = data.rfind(b"\n") + 1
    if not quoted or QUOTE not in data:
        return end
    if STRAY.search(data):
        return _outside_cells(data)
    marks = data.count(QUOTE, 0, end)
    while end and marks % 2:
        before = data.rfind(b"\n", 0, end - 1) + 1
        marks -= data.count(QUOTE, before, end)
        end = before
    return end


def _outside_cells(data: bytes) -> int:
    """Where the last line ends that ends outside of quoted cells, where marks also stand for inches: only one that begins a cell opens it."""
    end = place = 0
    while opening := OPENING.search(data, place):
        end = max(end, data.rfind(b"\n", place, opening.end()) + 1)
        closed = CELL.match(data, opening.end())
        if closed is None:
            return end
        place = closed.end()
    return max(end, data.rfind(b"\n", place) + 1)


def _refuse_endless(data: bytes, path: str, line: int) -> None:
    """An error where no line ends for very long: a quotation mark that is never closed, or no table at all."""
    if len(data) < LONGEST:
        return
    if QUOTE in data and b"\n" in data:
        raise InputError.at(path, f"has a quotation mark inside a cell or never closed, in line {line:,} or after it, so that rows cannot be told apart", remedy="double it or take it out")  # fmt: skip
    raise InputError.at(path, f"has no line end within {LONGEST:,} bytes from line {line:,} on", expected="a table, a row on each line")  # fmt: skip
