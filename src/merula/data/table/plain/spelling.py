"""Codes back to words, or to what words mean, within compiled loops, as Arrow holds them: the bytes of all words one behind the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from merula.core.compiled import ordered
from merula.data.table.plain.dictionary import HEAD, LENGTH, SIZE, TAIL
from merula.data.table.plain.wide_bytes import put_eight

BEYOND = 8  # bytes behind the last word that may be written
U = np.uint64


@ordered
def spell(codes: Any, entries: Any, kept: Any, offsets: Any, out: Any) -> None:
    """Write where each cell begins and its word, nothing for a negative code; a word may spoil the eight bytes behind it, which the next one writes anew."""
    place = np.int64(0)
    for row in range(codes.shape[0]):
        offsets[row] = place
        if codes[row] < 0:
            continue
        code = U(codes[row])
        size = entries[code, SIZE]
        length = np.int64(size & LENGTH)
        put_eight(out, place, entries[code, HEAD])
        if length > 16:
            start = np.int64(size >> U(32))
            for k in range(8, length):
                out[U(place + k)] = kept[U(start + k)]
        elif length > 8:
            put_eight(out, place + length - 8, entries[code, TAIL])
        place += length
    offsets[codes.shape[0]] = place


@ordered
def look_up(codes: Any, values: Any, out: Any) -> None:
    """Write each code's value; the last one for a negative code."""
    last = values.shape[0] - 1
    for row in range(codes.shape[0]):
        out[row] = values[U(codes[row] if codes[row] >= 0 else last)]
