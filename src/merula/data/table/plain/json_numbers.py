"""JSON of numbers alone, read by a compiled loop straight into columns; any other JSON is left to who reads all of it.

Three shapes are known: objects that all have the same keys in the same order, rows as lists below the names of their columns,
and a list for each column. Numbers are the nearest to what is written, as those of any reader; null is NaN.
"""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core.compiled import ordered
from merula.data.table.plain.nearest import UNKNOWN, nearest
from merula.data.table.plain.numbers import EXACT, NO_NUMBER, TENS, digits_from, long_number, short_number
from merula.data.table.plain.wide_bytes import eight_bytes

Columns = dict[str, NDArray[np.float64]]
PADDED = bytes(16)  # loops look at eight bytes at a time
MOST_COLUMNS = 10_000
FAILED = -1
U = np.uint64
HEAD = re.compile(rb'\s*\{\s*"columns"\s*:\s*(\[[^\]]*\])\s*,\s*"rows"\s*:\s*')
KEY = re.compile(rb'\s*("[^"\\]*")\s*:\s*\[')
QUOTE, COLON, COMMA, POINT, MINUS, PLUS, OPEN, CLOSE, BRACE, END = 34, 58, 44, 46, 45, 43, 91, 93, 123, 125
WHOLE_TENS = 10 ** np.arange(8)


def json_columns(body: bytes) -> Columns | None:
    """The columns of JSON that holds nothing but numbers, in one of the shapes that are known; None of any other.

    Examples
    --------
    >>> {name: cells.tolist() for name, cells in json_columns(b'[{"age": 41, "dose": 2.5}, {"age": null, "dose": 1e-3}]').items()}
    {'age': [41.0, nan], 'dose': [2.5, 0.001]}
    >>> json_columns(b'{"columns": ["age"], "rows": [[41], [7]]}'), json_columns(b'[{"age": "old"}]')
    ({'age': array([41.,  7.])}, None)
    """
    data, first = np.frombuffer(body + PADDED, np.uint8), body[:64].lstrip()[:1]
    try:
        if first == b"[":
            return _of_objects(body, data)
        head = HEAD.match(body)
        return _of_columns(body, data) if head is None else _of_lists(body, data, head)
    except ValueError:  # a name that is none
        return None


def _of_objects(body: bytes, data: NDArray[np.uint8]) -> Columns | None:
    begin = body.index(b"[")
    names = list(json.loads(body[body.index(b"{") : body.index(b"}") + 1]))
    return _filled(names, data, begin, len(body), body.count(b"{"), True) if names else None


def _of_lists(body: bytes, data: NDArray[np.uint8], head: re.Match[bytes]) -> Columns | None:
    names, stop = json.loads(head[1]), body.rindex(b"}")
    if not names or not all(isinstance(name, str) for name in names) or body[stop + 1 :].strip():
        return None
    return _filled(names, data, head.end(), stop, body.count(b"[") - 2, False)


def _filled(names: list[str], data: NDArray[np.uint8], begin: int, stop: int, most: int, keyed: bool) -> Columns | None:
    """The columns of rows, each of which has as many cells as there are names."""
    if len(set(names)) < len(names) or len(names) > MOST_COLUMNS or most < 1 or most * len(names) > stop:
        return None
    cells = np.empty((most, len(names)))
    rows = _rows(data, begin, stop, keyed, np.zeros((len(names), 2), np.int64), cells)
    if rows < 1:
        return None
    return dict(zip(names, np.ascontiguousarray(cells[:rows].T), strict=True))


def _of_columns(body: bytes, data: NDArray[np.uint8]) -> Columns | None:
    found: Columns = {}
    place, most = body.index(b"{") + 1, len(body) // 2
    while True:
        key = KEY.match(body, place)
        if key is None:
            return None
        cells = np.empty(min(most, body.find(b"]", key.end()) - key.end() + 1))
        count, place = _list(data, key.end(), len(body), cells)
        name = json.loads(key[1])
        if count == FAILED or name in found:
            return None
        found[name] = cells[:count]
        most = count or 1
        if body[place : place + 1] != b",":
            break
        place += 1
    whole = body[place:].strip() == b"}" and len({len(cells) for cells in found.values()}) == 1
    return found if whole else None


@ordered
def _spaces(data: Any, place: Any, stop: Any) -> Any:
    """Where the next sign stands that is no blank."""
    while place < stop and (data[U(place)] == 32 or 9 <= data[U(place)] <= 10 or data[U(place)] == 13):
        place += 1
    return place


@ordered
def _token(data: Any, start: Any, stop: Any) -> Any:
    """Where the signs end that a number is made of, as JSON writes one; `start` where it does not."""
    place = start
    if not 48 <= data[U(start)] <= 57 or (data[U(start)] == 48 and 48 <= data[U(start + 1)] <= 57):
        return start
    while place < stop:
        sign = data[U(place)]
        if sign == POINT and not 48 <= data[U(place + 1)] <= 57:
            return start
        if not (48 <= sign <= 57 or sign in (POINT, MINUS) or sign | 32 == 101 or sign == 43):
            break
        place += 1
    return place


@ordered
def _few_digits(data: Any, start: Any) -> Any:
    """A number of at most seven digits and as many decimals, and where it ends; `start` for any other."""
    count, value = digits_from(data, start)
    place = start + count
    if count == 0 or count == 8 or (count > 1 and data[U(start)] == 48):
        return 0.0, start
    decimals = np.int64(0)
    if data[U(place)] == POINT:
        decimals, fraction = digits_from(data, place + 1)
        if decimals == 0 or decimals == 8:
            return 0.0, start
        value, place = value * WHOLE_TENS[U(decimals)] + fraction, place + 1 + decimals
    sign = data[U(place)]
    if sign | 32 == 101 or sign in (POINT, MINUS, PLUS):  # an exponent, or no number
        return 0.0, start
    return value / TENS[U(decimals)], place


@ordered
def _cell(data: Any, start: Any, stop: Any) -> Any:
    """The number that stands here, NaN for null, and where it ends; `FAILED` for anything else."""
    if data[U(start)] == 110 and data[U(start + 1)] == 117 and data[U(start + 2)] == 108 and data[U(start + 3)] == 108:
        return np.nan, start + 4
    negative = data[U(start)] == MINUS
    digits = start + negative
    size, end = _few_digits(data, digits)
    if end < stop and end > digits:
        return -size if negative else size, end
    end = _token(data, digits, stop)
    if end == digits:
        return 0.0, FAILED
    form, value, decimals = short_number(data, digits, end - digits, np.uint8(POINT))
    if form == NO_NUMBER:
        form, value, decimals = long_number(data, digits, end, np.uint8(POINT))
    if form == NO_NUMBER:
        return 0.0, FAILED
    if value <= EXACT and -22 <= decimals <= 22:
        size = value / TENS[U(decimals)] if decimals >= 0 else value * TENS[U(-decimals)]
    else:
        bits = nearest(value, -decimals) if value != 0 else U(UNKNOWN)
        if bits == U(UNKNOWN):
            return 0.0, FAILED
        size = np.array([bits], np.uint64).view(np.float64)[0]
    return -size if negative else size, end


@ordered
def _key(data: Any, start: Any, stop: Any) -> Any:
    """Where the cell of the key that stands here begins; `FAILED` where there is none."""
    place = start + 1
    if data[U(start)] != QUOTE:
        return FAILED
    while place < stop and data[U(place)] != QUOTE:
        if data[U(place)] == 92:  # a sign that is written by another
            return FAILED
        place += 1
    place = _spaces(data, place + 1, stop)
    return _spaces(data, place + 1, stop) if place < stop and data[U(place)] == COLON else FAILED


@ordered
def _opened(data: Any, start: Any, stop: Any, keyed: Any, column: Any, row: Any) -> Any:
    """Where a cell begins, from the end of the one before it, or of the row before it; `FAILED` where none does."""
    place = _spaces(data, start, stop)
    if column == 0 and row > 0:
        if data[U(place)] != (END if keyed else CLOSE):
            return FAILED
        place = _spaces(data, place + 1, stop)
    if data[U(place)] != (OPEN if column == 0 and row == 0 else COMMA):
        return FAILED
    place = _spaces(data, place + 1, stop)
    if column == 0:
        if data[U(place)] != (BRACE if keyed else OPEN):
            return FAILED
        place = _spaces(data, place + 1, stop)
    place = _key(data, place, stop) if keyed else place
    return place if place < stop else FAILED


@ordered
def _same(data: Any, first: Any, second: Any, length: Any) -> Any:
    """Whether so many bytes, at least one, are the same in two places."""
    k = 0
    while length - k > 8:
        if eight_bytes(data, first + k) != eight_bytes(data, second + k):
            return False
        k += 8
    return (eight_bytes(data, first + k) ^ eight_bytes(data, second + k)) << U(64 - 8 * (length - k)) == U(0)


@ordered
def _rows(data: Any, begin: Any, stop: Any, keyed: Any, keys: Any, cells: Any) -> Any:
    """The number of rows written into `cells`; `FAILED` where JSON holds anything else than rows of numbers.

    What stands between two cells is mostly what stood there in the row before: it is compared, and else looked at. `keys` are
    filled with where each column's key stands, from one cell to the next, and how long that is.
    """
    width, place = cells.shape[1], begin
    between = np.zeros((width, 2), np.int64)
    for row in range(cells.shape[0]):
        for column in range(width):
            glue, size = between[column]
            if size > 0 and place + size < stop and _same(data, glue, place, size):
                place += size
            else:
                start, place = place, _opened(data, place, stop, keyed, column, row)
                if place == FAILED:
                    return row if column == 0 and row > 0 and _ended(data, start, stop, keyed) else FAILED
                if not _known(data, place, keyed, keys[column]):
                    return FAILED
                if row > 0 or column > 0:
                    between[column, 0], between[column, 1] = start, place - start
            cells[row, column], place = _cell(data, place, stop)
            if place == FAILED or place >= stop:
                return FAILED
    return cells.shape[0] if _ended(data, place, stop, keyed) else FAILED


@ordered
def _ended(data: Any, start: Any, stop: Any, keyed: Any) -> Any:
    """Whether the last row ends here, and with it all."""
    place = _spaces(data, start, stop)
    if data[U(place)] != (END if keyed else CLOSE):
        return False
    place = _spaces(data, place + 1, stop)
    return data[U(place)] == CLOSE and _spaces(data, place + 1, stop) == stop


@ordered
def _known(data: Any, stop: Any, keyed: Any, key: Any) -> Any:
    """Whether the key before a cell is the one that the column had in the first row, which is kept."""
    if not keyed:
        return True
    last = stop - 1
    while data[U(last)] != QUOTE:
        last -= 1
    first = last - 1
    while data[U(first)] != QUOTE:
        first -= 1
    if key[1] == 0:
        key[0], key[1] = first, last - first + 1
    return last - first + 1 == key[1] and _same(data, key[0], first, key[1])


@ordered
def _list(data: Any, begin: Any, stop: Any, cells: Any) -> Any:
    """How many numbers a list holds, written into `cells`, and where it ends; it begins behind its bracket."""
    place = begin
    for count in range(cells.shape[0]):
        cells[count], place = _cell(data, _spaces(data, place, stop), stop)
        if place == FAILED:
            return FAILED, place
        place = _spaces(data, place, stop)
        if place >= stop:
            return FAILED, place
        if data[U(place)] == CLOSE:
            return count + 1, _spaces(data, place + 1, stop)
        if data[U(place)] != COMMA:
            return FAILED, place
        place += 1
    return FAILED, place
