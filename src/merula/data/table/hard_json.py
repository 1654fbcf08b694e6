"""JSON that is small as a file and endless in memory: nested without end, or with a new key in every row."""

from __future__ import annotations

import re

import numpy as np

from merula.core import InputError, bounded

DEEPEST = 100
APART = re.compile(rb'"\s+:')  # a key and its colon
TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"')
CELL = 8  # bytes
CHUNK = 2**20


def refuse_hard_json(data: bytes) -> None:
    """An `InputError` where JSON is nested too deeply, or where its rows times its keys are more cells than memory may hold."""
    if depth(data) > DEEPEST and depth(TEXT.sub(b"", data)) > DEEPEST:
        raise InputError(f"is JSON nested more than {DEEPEST} deep", remedy="a table is a row in braces on each line")
    rows, most = data.count(b"{"), bounded.allowed(len(data)) // CELL
    keys: set[bytes] = set()
    for start in range(0, len(data) if rows > 1 else 0, CHUNK):
        keys |= keys_in(data[start : start + CHUNK])
        if rows * len(keys) > most:
            raise InputError(
                f"has {rows:,} rows and more than {len(keys) - 1:,} keys, too many cells to hold in memory",
                remedy=f"give all rows the same keys, or set the environment variable {bounded.VARIABLE} to the number of bytes they may take",
            )


def keys_in(data: bytes) -> set[bytes]:
    """The keys that stand in a piece of JSON.

    Examples
    --------
    >>> sorted(keys_in(b'{"bird": "wren", "wing": 4.9}'))
    [b'bird', b'wing']
    """
    if b"\\" in data:  # escaped signs are one sign each, which JSON does not hold otherwise
        data = data.replace(b"\\\\", b"\0").replace(b'\\"', b"\1")
    return {piece[piece.rfind(b'"') + 1 :] for piece in APART.sub(b'":', data).split(b'":')[:-1]}


def depth(data: bytes) -> int:
    """How many brackets and braces are open at once at most, those within texts counted too.

    Examples
    --------
    >>> depth(b'{"birds": ["wren", {"tit": []}]}')
    4
    """
    deepest = level = 0
    for start in range(0, len(data), CHUNK):
        part = np.frombuffer(data, np.uint8, min(CHUNK, len(data) - start), start) | 32  # [ and {, ] and } in one
        signs = part[(part == 123) | (part == 125)]
        if len(signs):
            levels = level + np.cumsum(124 - signs.astype(np.int64))
            deepest, level = max(deepest, int(levels.max())), int(levels[-1])
    return deepest
