"""Cells of words as people type them: blanks at their ends, what nobody sees, and what they write for *missing*."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from merula.core import Option, warn_user
from merula.data.table.file_options import FileOptions
from merula.data.table.headers import quoted
from merula.data.words import ALWAYS_MISSING, AT_ENDS, UNSEEN, gap_spellings

AMONG_NUMBERS = gap_spellings()
IN_ANY_COLUMN = tuple(sorted(ALWAYS_MISSING - {""}))
HIDDEN = "[" + "".join(f"\\x{{{ord(sign):x}}}" for sign in UNSEEN) + "]"
CODE = r"^0[0-9]+([eE][0-9]+)?$"  # a whole number that is none: a postcode, a ring, a key such as 0065e00012
WHOLE = r"^[0-9]+([eE][0-9]+)?$"
BLOCK = 2**16
ZERO, LINE_END, SMALL = np.uint8(48), np.uint8(10), np.uint8(32)  # signs, and the bit that makes letters small
HEAD = 1_000  # rows that mostly tell that a column is something else


def cleaned(table: Any, options: FileOptions, decimal: str = ".", trim: bool = True, retype: bool = False) -> Any:
    """The table with its columns of words cleaned; those of numbers or dates but for what means missing are read as such.

    Parameters
    ----------
    table : pyarrow.Table
    options : what was stated of the file
    decimal : the sign in its numbers
    trim : whether any cell may have blanks at its ends, or signs that cannot be seen
    retype : whether columns of words may be numbers or dates although nothing was cleaned
    """
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for index, name in enumerate(table.column_names):
        column = table.column(index)
        if not _holds_words(column):
            continue
        tidy = trimmed(column) if trim else column
        changed = retype or tidy is not column
        tidy, kind, gaps = _without_gaps(tidy, options, decimal, changed, name in options.words)
        if gaps:
            found.setdefault((kind, gaps), []).append(name)
        table = table if tidy is column else table.set_column(index, name, tidy)
    _note_missing(found)
    return table


def _holds_words(column: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(column.type))


def trimmed(column: Any) -> Any:
    r"""A column of words without blanks at the ends of its cells and what cannot be seen; what is blank is missing.

    Examples
    --------
    >>> import pyarrow as pa
    >>> trimmed(pa.chunked_array([["Yes ", "\u200bno", "  "]])).to_pylist()
    ['Yes', 'no', None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    plain = pc.all(pc.ascii_is_printable(column)).as_py()
    tidy = pc.ascii_trim(column, characters=" ") if plain else pc.utf8_trim(column, characters=AT_ENDS)
    if not plain and pc.any(pc.match_substring_regex(tidy, HIDDEN)).as_py():
        tidy = pc.utf8_trim(pc.replace_substring_regex(tidy, HIDDEN, ""), characters=AT_ENDS)
    if tidy.equals(column):
        return column
    return pc.if_else(pc.equal(tidy, ""), pa.scalar(None, pa.string()), tidy)


def _without_gaps(
    column: Any, options: FileOptions, decimal: str, changed: bool, stays_words: bool
) -> tuple[Any, str, tuple[str, ...]]:
    """A column of words without what means missing, what it holds, and the words that were taken for missing unasked."""
    import pyarrow as pa
    import pyarrow.compute as pc

    nothing = pa.scalar(None, pa.string())
    if options.missing and changed:
        column = pc.if_else(pc.is_in(column, value_set=pa.array(options.missing, pa.string())), nothing, column)
    gaps = pc.is_in(column, value_set=pa.array(_others(AMONG_NUMBERS, options.keep), pa.string()))
    any_gap = pc.any(gaps).as_py()
    if (any_gap or changed) and not stays_words:
        rest = pc.if_else(gaps, nothing, column) if any_gap else column
        typed, kind = as_numbers_or_dates(rest, decimal)
        if typed is not None:
            return typed, kind, _distinct(column, gaps) if any_gap else ()
    if not any_gap:
        return column, "words", ()
    gaps = pc.is_in(column, value_set=pa.array(_others(IN_ANY_COLUMN, options.keep), pa.string()))
    if not pc.any(gaps).as_py():
        return column, "words", ()
    return pc.if_else(gaps, nothing, column), "words", _distinct(column, gaps)


def _others(words: Collection[str], keep: Collection[str]) -> list[str]:
    return [word for word in words if word not in keep]


def _distinct(column: Any, chosen: Any) -> tuple[str, ...]:
    import pyarrow.compute as pc

    return tuple(pc.unique(column.filter(chosen)).to_pylist())


def as_numbers_or_dates(column: Any, decimal: str = ".") -> tuple[Any | None, str]:
    """A column of words as numbers, dates or times, and which of them; None where a cell is something else, or a code such as 007."""
    import pyarrow as pa

    if column.null_count == len(column):
        return None, "words"
    numbers = column if decimal == "." else _with_points(column, decimal)
    for text, kind, what in (
        (numbers, pa.int64(), "numbers"),
        (numbers, pa.float64(), "numbers"),
        (column, pa.date32(), "dates"),
        (column, pa.timestamp("s"), "times"),
    ):
        if text is None:
            continue
        try:
            text.slice(0, HEAD).cast(kind)
            typed = text.cast(kind)
        except pa.ArrowInvalid:  # one cell is none
            continue
        codes = what == "numbers" and holds_codes(column) and (kind == pa.int64() or are_whole(column))
        return (None, "words") if codes else (typed, what)
    return None, "words"


def _with_points(column: Any, decimal: str) -> Any:
    """The cells with a point for their decimal sign; None where one holds a point already, which stands between thousands."""
    import pyarrow.compute as pc

    return None if pc.any(pc.match_substring(column, ".")).as_py() else pc.replace_substring(column, decimal, ".")


def holds_codes(column: Any) -> bool:
    """Whether some cell of a column of words is a whole number with a zero before it, as 01067 is, or a key with a letter that looks like one."""
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring_regex(column, CODE)).as_py())


def are_whole(column: Any) -> bool:
    """Whether every cell of a column of words is written as a whole number, but for words that mean missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    missing = pc.is_in(column, value_set=pa.array(AMONG_NUMBERS, pa.string()))
    return bool(pc.all(pc.or_(missing, pc.match_substring_regex(column, WHOLE))).as_py())


def _note_missing(found: dict[tuple[str, tuple[str, ...]], list[str]]) -> None:
    """One note on all words that were taken for missing, and the columns that held them."""
    told = [
        f"{'column' if len(names) == 1 else 'columns'} {quoted(names)} {'holds' if len(names) == 1 else 'hold'} {kind} and {quoted(gaps)}"
        for (kind, gaps), names in found.items()
    ]
    among_words = next((gaps[0] for kind, gaps in found if kind == "words"), None)
    advice = () if among_words is None else ("; ", Option("keep", [among_words]), " leaves it a word")
    if told:
        warn_user(("; ".join(told) + ", read as missing", *advice), UserWarning)


def seen_in(data: bytes, separator: str, start: int = 0) -> tuple[bool, bool]:
    r"""Whether some cell of CSV may be a number with a zero before it, as 007 is; whether one may have blanks at its ends, or hidden signs.

    Examples
    --------
    >>> seen_in(b"bird,ring\nwren,007\n", ",", 10), seen_in(b"bird,ring\nwren ,7\n", ",", 10)
    ((True, False), (False, True))
    >>> seen_in(b"day,ring\n01.03.2015,7\n", ",", 9)
    (False, False)
    """
    signs = np.frombuffer(data, np.uint8)
    zeros, blanks = False, not data.isascii() or (data[-1:].isspace() and data[-1:] not in b"\r\n")
    for first in range(max(start - 1, 0), len(signs), BLOCK):
        block = signs[first : first + BLOCK + 3]
        block = np.append(block, LINE_END) if first + BLOCK + 3 > len(signs) else block
        before, sign, after, third = block[:-3], block[1:-2], block[2:-1], block[3:]
        ends = _ends(block, separator)
        if not zeros:
            goes_on = (third - ZERO < 10) | (third < 33) | ends[3:] | (third | SMALL == ord("e"))
            digit = after - ZERO < 10  # smaller signs wrap round
            zeros = bool(((sign == ZERO) & digit & goes_on & (ends[:-3] | (before < 33))).any())
        if not blanks:
            blank = (sign < 33) & (sign != 10) & (sign != 13) & (sign != ord(separator))
            blanks = bool((blank & ((sign != 32) | ends[:-3] | ends[2:-1])).any())
        if zeros and blanks:
            break
    return zeros, blanks


def _ends(signs: Any, separator: str) -> Any:
    """Where cells begin or end."""
    return (signs == ord(separator)) | (signs == 10) | (signs == 13) | (signs == 34)
