"""A large plain CSV file → the table that the reader for all files would make of it, or None where it is not so plain."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

import numpy as np

from merula.core import InputError
from merula.core.notes import kept_back, silenced, tell_again
from merula.data.table.delimited import Layout, layout_of, read_rows, tidied, without_footer
from merula.data.table.file_options import FileOptions, with_decimal
from merula.data.table.footers import TAIL
from merula.data.table.header_again import header_cells
from merula.data.table.months import may_hold_months
from merula.data.table.plain.blocks import Rows, Scanned, scanned
from merula.data.table.plain.columns import Meant, arrow_columns
from merula.data.table.plain.scan import AS_NUMBERS, AS_WHOLE, AS_WORDS, SEEN_CODE, SEEN_FRACTION, SEEN_WHOLE, Wanted
from merula.data.table.text_encoding import SAMPLE, in_utf8
from merula.data.table.thousands import may_hold_thousands
from merula.data.table.unusual import unusual

PLACES, TASTE = 16, 2**13  # in the file whose lines tell what columns hold; bytes at each
END = 2**12  # bytes that blank lines at the end may take
STRANGE = re.compile(rb'[\x00-\x08\x0b\x0c\x0e-\x1f"]')  # what is left to the reader for all files
SURROUNDING = b' \t"\xef\xbb\xbf'  # of a name, where it stands among rows
ATTEMPTS = 3  # columns of numbers that are none after all are scanned anew as words


def read_plain(path: str, size: int, head: bytes, options: FileOptions) -> Any | None:
    """The table in a plain CSV file of so many bytes, which begins like this; None where it is not so plain, or faulty."""
    import pyarrow as pa

    if options.encoding is not None or any(re.search("[0-9]", word) for word in options.missing):
        return None
    head = head if len(head) == size else head[: head.rfind(b"\n") + 1]
    try:
        with kept_back() as notes:
            layout = _plain_layout(head, size, options)
            found = None if layout is None else _found(path, size, head, layout, options)
    except (InputError, pa.ArrowInvalid, UnicodeDecodeError):  # the reader for all files says it better
        return None
    if layout is None or found is None:
        return None
    tell_again(notes)
    return found


def _plain_layout(head: bytes, size: int, options: FileOptions) -> Layout | None:
    """Where header and rows begin; None where the head of the file does not tell that for sure."""
    if b"\n" not in head or STRANGE.search(head):
        return None
    head.decode()
    if unusual(head) is not None:
        return None
    layout = layout_of(in_utf8(head, None), options)
    sure = len(head) == size or len(head) - layout.header > SAMPLE
    return layout if sure and layout.rows < len(layout.data) and len(layout.names.names) > 1 else None


def _found(path: str, size: int, head: bytes, layout: Layout, options: FileOptions) -> Any | None:
    """The table, read by the compiled loop; None where it cannot."""
    import pyarrow as pa

    rows = Rows(path, layout.rows + len(head) - len(layout.data), _end(path, size))  # the layout is without a mark
    if _has_footer(rows, layout):
        return None
    kinds = _kinds(layout, rows, options)
    for _ in range(ATTEMPTS):
        wanted = _wanted(kinds, layout)
        found = scanned(rows, wanted)
        if found is None or not found.blocks:
            return None
        words = [_words(column) for column in zip(*(own.words() for own in found.words), strict=True)]
        if _repeats_header(words, layout):
            return None
        with kept_back() as notes:
            decided = _decided(found, words, layout, options)
        names = decided.column_names
        wrong = [k for k in range(len(names)) if kinds[k] != AS_WORDS and not _is_number(decided.schema.types[k])]
        if not wrong:
            tell_again(notes)
            meant = [_meant(words[k], decided.column(k)) for k in range(len(names))]
            table = pa.table(arrow_columns(found, wanted, meant), names)
            odd = options.decimal is None and layout.decimal == "." and any(may_hold_thousands(column, layout.separator == ";") or may_hold_months(column) for column in table.columns)  # fmt: skip
            return None if odd else with_decimal(table, layout.decimal)
        kinds[wrong] = AS_WORDS
    return None


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return kind in (pa.int64(), pa.float64())


def _end(path: str, size: int) -> int:
    """Where the last line's last sign stands: blank lines at the end are none."""
    with open(path, "rb") as file:
        file.seek(max(size - END, 0))
        last = file.read(END)
    return size - len(last) + len(last.rstrip(b"\r\n"))


def _has_footer(rows: Rows, layout: Layout) -> bool:
    """Whether there is something to say of the last lines: remarks below the table, or totals."""
    with open(rows.path, "rb") as file:
        file.seek(max(rows.start - 1, rows.stop - TAIL))
        tail = file.read()
    with kept_back() as notes:
        without_footer(replace(layout, data=b"\n" + tail.partition(b"\n")[2], rows=1))
    return bool(notes)


def _kinds(layout: Layout, rows: Rows, options: FileOptions) -> Any:
    """What each column is to be scanned as: what the reader for all files makes of some lines."""
    tasted = []
    with open(rows.path, "rb") as file:
        for place in np.linspace(rows.start - 1, rows.stop, PLACES, endpoint=False).astype(int).tolist():
            file.seek(place)
            tasted.append(file.read(min(TASTE, rows.stop - place)).partition(b"\n")[2].rpartition(b"\n")[0])
    some = replace(layout, data=b"\n" + b"\n".join(filter(None, tasted)) + b"\n", rows=1)
    with silenced():
        types = tidied(read_rows(some, options), some, options).schema.types
    kinds = [AS_WHOLE if str(kind) == "int64" else AS_NUMBERS if str(kind) == "double" else AS_WORDS for kind in types]
    return np.array(kinds + [AS_WORDS] * (len(layout.names.names) - len(kinds)))


def _wanted(kinds: Any, layout: Layout) -> Wanted:
    words = kinds == AS_WORDS
    places = np.where(words, np.cumsum(words), np.cumsum(~words)) - 1
    return Wanted(np.uint8(ord(layout.separator)), np.uint8(ord(layout.decimal)), kinds, places)


def _repeats_header(words: list[Words], layout: Layout) -> bool:
    """Whether a column of few words holds its own name, as where tables stand below one another, each with its header."""
    cells = header_cells(layout.data[layout.header : layout.rows], layout.separator)
    named = [(column.all, cell.encode()) for column, cell in zip(words, cells, strict=False) if cell and column.all]
    few, cell = min(named, key=lambda pair: len(pair[0]), default=([], b""))
    return any(word.strip(SURROUNDING) == cell for word in few)


@dataclass(frozen=True)
class Words:
    """The different words of a column, in the order in which they stand in the file; and where among them each thread's words are."""

    all: list[bytes]
    places: list[Any]


def _words(by_thread: Sequence[dict[bytes, int]]) -> Words:
    firsts = dict(by_thread[0])
    for words in by_thread[1:]:
        firsts |= {word: min(first, firsts.get(word, first)) for word, first in words.items()}
    ordered = sorted(firsts, key=firsts.__getitem__)
    order = dict(zip(ordered, range(len(ordered)), strict=True))
    return Words(ordered, [np.array([order[word] for word in words], np.int32) for words in by_thread])


def _decided(found: Scanned, words: list[Words], layout: Layout, options: FileOptions) -> Any:
    """What the reader for all files makes of a column's different words, and of a number that stands for all those read."""
    point = layout.decimal.encode()
    stand_for = {SEEN_WHOLE: b"7", SEEN_FRACTION: b"0" + point + b"5", SEEN_CODE: b"07"}
    cells = [
        own.all + [number for form, number in stand_for.items() if seen & form]
        for own, seen in zip(words, found.seen.tolist(), strict=True)
    ]
    lines = map(layout.separator.encode().join, zip_longest(*cells, fillvalue=b""))
    small = replace(layout, data=b"\n" + b"\n".join(lines) + b"\n", rows=1)
    if STRANGE.search(small.data):
        raise InputError("holds signs that are left to the reader for all files")
    small.data.decode()
    return tidied(read_rows(small, options), small, options)


def _meant(words: Words, decided: Any) -> Meant:
    """What a column's words were decided to mean."""
    import pyarrow as pa

    values = decided.slice(0, len(words.all)).combine_chunks()
    values = pa.concat_arrays(values.chunks) if isinstance(values, pa.ChunkedArray) else values
    written = pa.array(words.all, pa.binary()).cast(pa.string())
    return Meant(values, words.places, values.equals(written))
