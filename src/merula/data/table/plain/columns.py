"""Cells of blocks → Arrow columns, of the types that were decided from their different words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from merula.core.threads import side_by_side, thread_count
from merula.data.table.plain.blocks import Block, Scanned
from merula.data.table.plain.dictionary import Dictionary
from merula.data.table.plain.scan import AS_WHOLE, AS_WORDS, EMPTY_NUMBER, EMPTY_WHOLE, SEEN_EMPTY, SEEN_WORD, Wanted
from merula.data.table.plain.spelling import BEYOND, look_up, spell


@dataclass(frozen=True)
class Meant:
    """What a column's words mean: a value for each word, in one order for all threads; and for each thread which of them its codes are.

    `as_written` where each word means itself.
    """

    values: Any
    places: list[Any]
    as_written: bool


def arrow_columns(found: Scanned, wanted: Wanted, meant: Sequence[Meant]) -> list[Any]:
    """The columns, in pieces as long as the blocks are."""
    import pyarrow as pa

    turns, pieces = iter(range(len(found.blocks))), dict[int, list[Any]]()

    def build() -> None:
        for index in turns:
            block = found.blocks[index]
            words = found.words[block.reader]
            pieces[index] = [_piece(block, column, wanted, meant[column], words) for column in range(len(meant))]

    # a task for each thread, not for each block: handing tasks over takes longer than most of them
    side_by_side([build] * min(len(found.blocks), thread_count(None)), None)
    blocks = [pieces[index] for index in range(len(found.blocks))]
    return [pa.chunked_array(list(column)) for column in zip(*blocks, strict=True)]


def _piece(block: Block, column: int, wanted: Wanted, meant: Meant, words: Dictionary) -> Any:
    if wanted.kinds[column] != AS_WORDS:
        return _numbers(block, column, wanted, meant)
    codes = block.cells.codes[wanted.places[column], : block.rows]
    cells, has_gaps = block.cells, bool(block.cells.seen[column] & SEEN_EMPTY)
    if meant.as_written:
        return _strings(codes, words, column, int(cells.sizes[column]), has_gaps)
    if _is_wide(meant.values):
        return _looked_up(codes, meant.values, meant.places[block.reader], has_gaps)
    return _taken(codes, meant.values, meant.places[block.reader])


def _taken(codes: Any, values: Any, places: Any) -> Any:
    """The value of each code; none for a negative one."""
    import pyarrow as pa

    where = np.append(places, -1)[codes]  # an empty cell's code, -1, is the last
    gaps = where < 0
    return values.take(pa.array(where, mask=gaps if gaps.any() else None))


def _looked_up(codes: Any, values: Any, places: Any, has_gaps: bool) -> Any:
    """The same of values that take four or eight bytes each, and are all there."""
    import pyarrow as pa

    kind = values.type
    held = np.frombuffer(values.buffers()[1], f"i{kind.bit_width // 8}")[values.offset :]
    out = pa.allocate_buffer(len(codes) * held.itemsize)
    look_up(codes, np.append(held[places], held.dtype.type(0)), np.frombuffer(out, held.dtype))
    known, gaps = _known(codes >= 0) if has_gaps else (None, 0)
    return pa.Array.from_buffers(kind, len(codes), [known, out], gaps)


def _is_wide(values: Any) -> bool:
    """Whether values, of which none is missing, take four or eight bytes each."""
    import pyarrow as pa

    plain = pa.types.is_primitive(values.type) and not pa.types.is_boolean(values.type)
    return plain and values.type.bit_width in (32, 64) and values.null_count == 0


def _strings(codes: Any, words: Dictionary, column: int, size: int, has_gaps: bool) -> Any:
    """The words of codes, as they were written, so many bytes in all."""
    import pyarrow as pa

    entries, rows = words.entries[column], len(codes)
    offsets = pa.allocate_buffer(4 * (rows + 1))
    texts = pa.allocate_buffer(size + BEYOND)
    spell(codes, entries, words.kept, np.frombuffer(offsets, np.int32), np.frombuffer(texts, np.uint8))
    known, gaps = _known(codes >= 0) if has_gaps else (None, 0)
    return pa.StringArray.from_buffers(rows, offsets, texts.slice(0, size), known, gaps)


def _known(filled: Any) -> tuple[Any, int]:
    """Arrow's bits of the cells that are not empty, None where all are; and how many are empty."""
    import pyarrow as pa

    gaps = len(filled) - int(np.count_nonzero(filled))
    return pa.py_buffer(np.packbits(filled, bitorder="little")) if gaps else None, gaps


def _numbers(block: Block, column: int, wanted: Wanted, meant: Meant) -> Any:
    """A column of numbers; where codes stand in it, what they mean."""
    import pyarrow as pa

    whole, place, rows = wanted.kinds[column] == AS_WHOLE, wanted.places[column], block.rows
    cells = block.cells.numbers[place]
    kind = pa.int64() if whole else pa.float64()
    plain = pa.Array.from_buffers(kind, rows, [None, block.held.slice(8 * place * len(cells), 8 * rows)])
    if not block.cells.seen[column] & (SEEN_EMPTY | SEEN_WORD):
        return plain if plain.type == meant.values.type else plain.cast(meant.values.type)
    empty, codes = EMPTY_WHOLE if whole else EMPTY_NUMBER, meant.places[block.reader]
    strange = np.flatnonzero((cells[:rows] >= empty) & (cells[:rows] <= empty + len(codes)))
    others = _taken(cells[strange] - (empty + 1), meant.values, codes)
    cells[strange] = 0
    numbers = plain.cast(meant.values.type).to_numpy().copy()
    numbers[strange] = others.fill_null(0).to_numpy()
    filled = np.ones(rows, bool)
    filled[strange] = others.is_valid().to_numpy(zero_copy_only=False)
    known, gaps = _known(filled)
    return pa.Array.from_buffers(meant.values.type, rows, [known, pa.py_buffer(numbers)], gaps)
