"""A plain CSV file in blocks: each is read by some thread, which keeps the words of all blocks it reads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from merula.core.threads import side_by_side, thread_count
from merula.data.table.plain.dictionary import Dictionary, empty_dictionary
from merula.data.table.plain.eight_numbers import BEFORE
from merula.data.table.plain.scan import AS_WORDS, FINE, LINE, PART, Cells, Wanted, count_lines, scan
from merula.data.table.plain.wide_bytes import WIDTH

BLOCK = 2**22  # bytes
ALIGNED = 16  # rows: a column's cells begin at a multiple of 64 bytes


@dataclass(frozen=True)
class Rows:
    """Where in which file the rows stand: from the byte `start` to the last line's last sign before `stop`."""

    path: str
    start: int
    stop: int

    @property
    def blocks(self) -> int:
        """How many blocks they make."""
        return -(-(self.stop - self.start) // BLOCK)


@dataclass(frozen=True)
class Block:
    """What was found in one block: its cells, how many rows they are, and whose words they are codes of."""

    cells: Cells
    held: Any
    rows: int
    reader: int


@dataclass(frozen=True)
class Scanned:
    """What was found in all blocks, and the words of each thread."""

    blocks: list[Block]
    words: list[Dictionary]

    @property
    def seen(self) -> Any:
        """What cells of each column there are, in all blocks."""
        return np.bitwise_or.reduce([block.cells.seen for block in self.blocks])


@dataclass(frozen=True)
class Lines:
    """Lines in memory: between two places of some bytes, the first of which is this one of the file."""

    data: Any
    start: int
    stop: int
    first: int


def scanned(rows: Rows, wanted: Wanted) -> Scanned | None:
    """What the blocks of a file hold; None where one holds anything that only the slower reader understands."""
    import pyarrow as pa

    threads = min(rows.blocks, thread_count(None))
    words = [empty_dictionary(len(wanted.kinds)) for _ in range(threads)]
    turns, found = iter(range(rows.blocks)), dict[int, Block | None]()

    def read_by(reader: int) -> None:
        scratch = np.frombuffer(pa.allocate_buffer(BEFORE + 1 + BLOCK + PART + 2 * WIDTH), np.uint8)[BEFORE:]
        ends = np.frombuffer(pa.allocate_buffer(4 * (PART + 2)), np.int32)
        with open(rows.path, "rb", buffering=0) as file:
            for index in turns:
                lines = _lines(file, rows, index, scratch)
                found[index] = None if lines is None else _block(lines, wanted, words[reader], ends, reader)
                if None in list(found.values()):
                    return

    side_by_side([partial(read_by, reader) for reader in range(threads)], None)
    if None in found.values():
        return None
    return Scanned([block for _, block in sorted(found.items()) if block is not None and block.rows], words)


def _lines(file: Any, rows: Rows, index: int, scratch: Any) -> Lines | None:
    """The lines that begin within a block; None where one is too long, or the file is not what it was."""
    begin = rows.start + index * BLOCK
    end = min(begin + BLOCK, rows.stop)
    beyond = min(end + PART, rows.stop)
    if not _filled(file, begin - 1, memoryview(scratch)[: beyond - begin + 1]):
        return None
    if beyond == rows.stop:
        scratch[beyond - begin + 1] = LINE
    start = _after_line(scratch, 0, end - begin + 1) if index else 1
    stop = _after_line(scratch, end - begin, beyond - begin + 2)
    if start is None and end - begin <= PART:  # the line of the block before has no end here
        return Lines(scratch, 1, 1, begin)
    return None if start is None or stop is None else Lines(scratch, start, stop, begin - 1 + start)


def _filled(file: Any, place: int, memory: memoryview) -> bool:
    """Whether the file has so many bytes from this place on, which are then in memory."""
    file.seek(place)
    while memory and (count := file.readinto(memory)):
        memory = memory[count:]
    return not memory


def _after_line(data: Any, start: int, stop: int) -> int | None:
    """The place behind the first line's end from `start` on; None where there is none before `stop`, or it is too long."""
    found = data[start : min(stop, start + PART + 2)].tobytes().find(b"\n")
    return None if found < 0 else start + found + 1


def _block(lines: Lines, wanted: Wanted, words: Dictionary, ends: Any, reader: int) -> Block | None:
    """The cells of some lines."""
    rows = count_lines(lines.data, lines.start, lines.stop)
    cells, held = _room(rows, wanted)
    status, found = scan(lines.data, lines.start, lines.stop, lines.first, wanted, cells, words, ends)
    return Block(cells, held, rows, reader) if status == FINE and found == rows else None


def _room(rows: int, wanted: Wanted) -> tuple[Cells, Any]:
    """Memory for the cells of so many rows, of Arrow's, which keeps what it had before; it holds the numbers from then on."""
    import pyarrow as pa

    words = int((wanted.kinds == AS_WORDS).sum())
    numbers, wide = len(wanted.kinds) - words, -(-rows // ALIGNED) * ALIGNED
    held, codes = pa.allocate_buffer(8 * numbers * wide), pa.allocate_buffer(2 * words * wide)
    return Cells(
        np.frombuffer(held, np.int64).reshape(numbers, wide),
        np.frombuffer(codes, np.int16).reshape(words, wide),
        np.zeros(len(wanted.kinds), np.int64),
        np.zeros(len(wanted.kinds), np.int64),
    ), held
