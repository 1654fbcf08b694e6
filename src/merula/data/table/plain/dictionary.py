"""The different words of columns, each with a code: a table of hashes for each column, looked up and filled within compiled loops."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from merula.core.compiled import ordered
from merula.data.table.plain.wide_bytes import eight_bytes

MOST_WORDS, MOST_ENTRIES = 2**13, 2**20  # of a column, whose codes 16 bits hold; of all columns together
MOST_BYTES = 2**23  # of all different words
FULL = -2  # instead of a code, where a column has more words than that
SPARSE = 2  # slots for each word
HEAD, TAIL, SIZE, FIRST = (
    0,
    1,
    2,
    3,
)  # of an entry: its first and last eight bytes, its length and where it is kept, where it stood first
CODE = 2  # of a slot, instead of the size: the code and one, and the length; 0 where it is free
U = np.uint64
LENGTH, SHIFT = U(2**32 - 1), U(44)
MIXING = U(0x9E3779B97F4A7C15)  # odd, its bits as if drawn by lot


class Dictionary(NamedTuple):
    """Columns' words: slots of the hash table, entries by code, how many there are, all their bytes, how many of these are used."""

    slots: Any
    entries: Any
    counts: Any
    kept: Any
    used: Any

    def words(self) -> list[dict[bytes, int]]:
        """The words of each column in the order of their codes, each with the place in the file where it stood first."""
        kept = self.kept[: self.used[0]].tobytes()
        return [
            _words(entries[:count], kept) for entries, count in zip(self.entries, self.counts.tolist(), strict=True)
        ]


def _words(entries: Any, kept: bytes) -> dict[bytes, int]:
    starts = entries[:, SIZE] >> U(32)
    stops = starts + (entries[:, SIZE] & LENGTH)
    words = [kept[start:stop] for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)]
    return dict(zip(words, entries[:, FIRST].tolist(), strict=True))


def empty_dictionary(columns: int) -> Dictionary:
    """Dictionaries for so many columns; memory is taken as they fill."""
    most = MOST_WORDS
    while most * columns > MOST_ENTRIES and most > 256:
        most //= 2
    return Dictionary(
        np.zeros((columns, SPARSE * most, 4), np.uint64),
        np.empty((columns, most, 4), np.uint64),
        np.zeros(columns, np.int64),
        np.empty(MOST_BYTES, np.uint8),
        np.zeros(1, np.int64),
    )


@ordered
def hashed(data: Any, start: Any, length: Any) -> Any:
    """The first and the last eight bytes of a word (of a shorter one all, and none), and a number that all its bytes make."""
    head, tail = eight_bytes(data, start), U(0)
    if length < 8:
        head &= (U(1) << U(8 * length)) - U(1)
    else:
        tail = eight_bytes(data, start + length - 8)
    mixed = (head ^ U(length)) * MIXING ^ (tail << U(23) | tail >> U(41)) * U(0xC2B2AE3D27D4EB4F)
    if length > 16:
        for place in range(start + 8, start + length - 8, 8):
            mixed = (mixed ^ (mixed >> U(29)) ^ eight_bytes(data, place)) * MIXING
    return head, tail, mixed


@ordered
def coded(data: Any, start: Any, length: Any, column: Any, shift: Any, words: Any) -> Any:
    """The code of a word, which comes into its column's dictionary if it is new; `FULL` where there is no room."""
    head, tail, mixed = hashed(data, start, length)
    slots, last = words.slots, U(words.slots.shape[1] - 1)
    slot = mixed >> SHIFT & last
    while slots[column, slot, CODE]:
        found = slots[column, slot, CODE]
        if slots[column, slot, HEAD] == head and slots[column, slot, TAIL] == tail and found & LENGTH == U(length):
            code = np.int64(found >> U(32)) - 1
            if length <= 16 or _same(
                data, start, words.kept, np.int64(words.entries[column, code, SIZE] >> U(32)), length
            ):
                return code
        slot = (slot + U(1)) & last
    return _added(data, start, length, column, shift, words, slot)


@ordered
def _same(data: Any, start: Any, kept: Any, place: Any, length: Any) -> Any:
    """Whether the bytes between the first and the last eight are the same in both."""
    unlike = np.uint8(0)
    for k in range(8, length - 8):
        unlike |= data[U(start + k)] ^ kept[U(place + k)]
    return unlike == 0


@ordered
def _added(data: Any, start: Any, length: Any, column: Any, shift: Any, words: Any, slot: Any) -> Any:
    """The code of a new word, whose slot is free; `FULL` where there is no room."""
    code, place = words.counts[column], words.used[0]
    if code == words.entries.shape[1] or place + length > words.kept.shape[0]:
        return np.int64(FULL)
    for k in range(length):
        words.kept[place + k] = data[start + k]
    words.used[0] += length
    head, tail, _ = hashed(data, start, length)
    words.entries[column, code, HEAD], words.entries[column, code, TAIL] = head, tail
    words.entries[column, code, SIZE] = U(place) << U(32) | U(length)
    words.entries[column, code, FIRST] = U(start + shift)
    words.counts[column] += 1
    words.slots[column, slot, HEAD], words.slots[column, slot, TAIL] = head, tail
    words.slots[column, slot, CODE] = U(code + 1) << U(32) | U(length)
    return code
