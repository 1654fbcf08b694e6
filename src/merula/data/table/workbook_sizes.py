"""Workbooks that are small as files and endless in memory, refused before they are opened.

A workbook is a zip archive that says how large its parts become; and a sheet is held as a rectangle, so that two cells in
opposite corners of one (A1 and XFD1048576) would take hundreds of gigabytes.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib

import numpy as np

from merula.core import InputError, bounded
from merula.data.table.old_workbook import MARK, cells_of_old_workbook

CELL = 64  # bytes that a cell takes, however empty it is
LETTERS, DIGITS = 3, 7  # of the name of a cell: XFD1048576
FILLED = re.compile(rb"<(?:\w+:)?c\s[^>]*?\br=[\"']([A-Z]{1,3})(\d{1,7})[\"'][^>]*(?<!/)>")
ODD = re.compile(rb"\sr\s+=|\sr=\s")  # a name that is not where it is looked for
TAGS = re.compile(rb"<table:table(|-row|-cell)(?:\s([^>]*?))?(/?)>")
REPEATED = re.compile(rb"number-(?:rows|columns)-repeated=[\"'](\d+)")
DAMAGED = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError)


def refuse_hard_workbook(data: bytes) -> None:
    """An `InputError` where a workbook is damaged, locked, or would take more memory than it may."""
    if data.startswith(MARK):
        bounded.refuse_beyond(CELL * cells_of_old_workbook(data), len(data))
        return
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _refuse_hard_parts(archive, len(data))
            for name in archive.namelist():
                if name.lower().endswith(".xml"):
                    bounded.refuse_beyond(CELL * _cells(archive.read(name)), len(data))
    except DAMAGED as error:
        raise InputError(
            f"is a workbook that is cut short or damaged ({error})", remedy="open it and save it again"
        ) from None


def _refuse_hard_parts(archive: zipfile.ZipFile, size: int) -> None:
    """An error where the parts say that they become too much, or become more than they say."""
    bounded.refuse_beyond(sum(part.file_size for part in archive.infolist()), size)
    if any(part.flag_bits & 1 for part in archive.infolist()):
        raise InputError("is a workbook with a password", remedy="save it without one")
    wrong = archive.testzip()  # reads no more than each part says, and compares its checksum
    if wrong is not None:
        raise zipfile.BadZipFile(f"{wrong!r} is not what it should be")


def _cells(part: bytes) -> int:
    """The cells that a part of a workbook takes room for: none unless it is a sheet."""
    if b"sheetData" in part:
        return _cells_of_sheet(part)
    return _cells_of_tables(part) if b"<table:table" in part else 0


def _cells_of_sheet(part: bytes) -> int:
    """The cells of the rectangle that holds all cells of a sheet of Excel; those without a value only where they are few."""
    if ODD.search(part):
        raise InputError("is a workbook whose cells are named in an unusual way", remedy="open it and save it again")
    row, column = _last_cell(part)
    if row * column * CELL <= bounded.SMALL:
        return row * column
    row = column = 0  # more exactly: cells that have a colour alone are none
    for match in FILLED.finditer(part):
        column, row = max(column, _number(match[1])), max(row, int(match[2]))
    return row * column


def _last_cell(part: bytes) -> tuple[int, int]:
    """The largest row and column that any name of a cell has."""
    signs = np.frombuffer(part + bytes(LETTERS + DIGITS + 1), np.uint8)
    at = np.flatnonzero((signs[1:-2] == ord("r")) & (signs[2:-1] == ord("=")) & (signs[:-3] <= 32)) + 4
    column, row = np.zeros(len(at), np.int64), np.zeros(len(at), np.int64)
    for number, first, base, length in ((column, ord("A"), 26, LETTERS), (row, ord("0"), 10, DIGITS)):
        for _ in range(length):
            value = signs[np.minimum(at, len(signs) - 1)].astype(np.int64) - first
            here = (value >= 0) & (value < base)
            number[here] = number[here] * base + value[here] + (base == 26)
            at = at + here
    return int(row.max(initial=0)), int(column.max(initial=0))


def _number(letters: bytes) -> int:
    """The number of a column, from 1.

    Examples
    --------
    >>> _number(b"A"), _number(b"XFD")
    (1, 16384)
    """
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number


def _cells_of_tables(part: bytes) -> int:
    """The cells of the largest rectangle that the sheets of an OpenDocument file make of rows and cells, each repeated as it says."""
    largest = rows = width = last_row = at = 0
    for match in TAGS.finditer(part):
        kind, attributes, repeats = match[1], match[2] or b"", 1
        if found := REPEATED.search(attributes):
            repeats = int(found[1])
        if kind == b"":
            largest, rows, width, last_row = max(largest, width * last_row), 0, 0, 0
        elif kind == b"-row":
            rows, at = rows + repeats, 0
        else:
            at += repeats
            if b"value" in attributes:
                last_row, width = rows, max(width, at)
    return max(largest, width * last_row)
