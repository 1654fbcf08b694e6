"""JSON that is small as a file and endless in memory: nested without end, or with a new key in every row."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import InputError, bounded
from merula.core.compiled import kernel

DEEPEST = 100
CELL = 8  # bytes
SHORTEST = 4  # bytes that a key takes, with its quotation marks and its colon


def refuse_hard_json(data: bytes) -> None:
    """An `InputError` where JSON is nested too deeply, or where its rows times its keys are more cells than memory may hold."""
    rows, most = data.count(b"{"), bounded.allowed(len(data)) // CELL
    few = most // max(rows, 1)
    deepest, keys = scanned(data, min(few, len(data) // SHORTEST))
    if deepest > DEEPEST:
        raise InputError(f"is JSON nested more than {DEEPEST} deep", remedy="a table is a row in braces on each line")
    if keys > few:
        raise InputError(
            f"has {rows:,} rows and more than {few:,} keys, too many cells to hold in memory",
            remedy=f"give all rows the same keys, or set the environment variable {bounded.VARIABLE} to the number of bytes they may take",
        )


def scanned(data: bytes, most_keys: int) -> tuple[int, int]:
    """How many brackets and braces are open at once at most, and how many different keys there are, counted up to one too many.

    Examples
    --------
    >>> scanned(b'{"bird": "wren [sic]", "wings": [{"bird": 1}]}', 100)
    (3, 2)
    """
    # a number that nobody knows beforehand, so that no keys can be made to look alike
    deepest, keys = _scan(np.frombuffer(data, np.uint8), most_keys, np.uint64(secrets.randbits(62) * 2 + 1))
    return int(deepest), int(keys)


@kernel
def _scan(data: NDArray[np.uint8], most_keys: int, secret: Any) -> tuple[int, int]:
    quote, escape, colon = 34, 92, 58
    known, count = np.zeros(1_024, dtype=np.uint64), 0
    deepest = level = place = 0
    while place < len(data):
        sign = data[place]
        place += 1
        if sign == 123 or sign == 91:  # { [
            level += 1
            deepest = max(deepest, level)
        elif sign == 125 or sign == 93:  # } ]
            level -= 1
        elif sign == quote:
            word = np.uint64(1)
            while place < len(data) and data[place] != quote:
                if data[place] == escape:
                    place += 1
                if place < len(data):
                    word = (word ^ np.uint64(data[place])) * secret
                place += 1
            place += 1
            after = place
            while after < len(data) and (data[after] == 32 or 9 <= data[after] <= 13):
                after += 1
            if after < len(data) and data[after] == colon:
                known, count = _with(known, count, word | np.uint64(1))
                if count > most_keys:
                    return deepest, count
    return deepest, count


@kernel
def _with(known: NDArray[np.uint64], count: int, word: Any) -> tuple[NDArray[np.uint64], int]:
    """A set of words, none of them 0, with one more; it grows before it is half full."""
    if 2 * count >= len(known):
        larger = np.zeros(4 * len(known), dtype=np.uint64)
        for old in known:
            if old != 0:
                larger[_slot(larger, old)] = old
        known = larger
    slot = _slot(known, word)
    if known[slot] == 0:
        known[slot] = word
        count += 1
    return known, count


@kernel
def _slot(known: NDArray[np.uint64], word: Any) -> Any:
    """Where a word stands, or the free place where it would stand."""
    slot = np.int64(word >> np.uint64(20)) & (len(known) - 1)
    while known[slot] != 0 and known[slot] != word:
        slot = (slot + 1) & (len(known) - 1)
    return slot
