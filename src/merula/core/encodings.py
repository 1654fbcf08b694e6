"""Encodings of text that a byte-order mark tells."""

from __future__ import annotations

import codecs

MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def marked_encoding(data: bytes) -> str | None:
    """The encoding that the mark at the beginning of the bytes tells; None where there is no mark.

    Examples
    --------
    >>> marked_encoding("größe".encode("utf-32")), marked_encoding("größe".encode())
    ('utf-32', None)
    """
    return next((name for mark, name in MARKS if data.startswith(mark)), None)
