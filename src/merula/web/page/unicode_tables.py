"""What a page needs to know of Python's letters, so that it parts texts alike whatever browser reads it: word signs and small letters.

A browser's Unicode tables are of another year than Python's; so those of Python travel with the page, as runs of code points.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from string import digits

ALL = range(sys.maxunicode + 1)
FIGURES = digits + "abcdefghijklmnopqrstuvwxyz"
WORD = re.compile(r"\w")
SIGMA, FINAL = "Σ", "ς"  # which small sigma it is depends on the letters around it


@cache
def unicode_tables() -> dict[str, str]:
    """Runs of word signs, of letters with case and of signs that stand within words, and the small letter of each capital."""
    letters = {code for code in ALL if (chr(code) + SIGMA).lower().endswith(FINAL)}
    within = {code for code in ALL if ("a" + chr(code) + SIGMA).lower().endswith(FINAL)} - letters
    return {
        "word": runs(code for code in ALL if WORD.match(chr(code))),
        "cased": runs(sorted(letters)),
        "within": runs(sorted(within)),
        "small": written(_small_letters()),
    }


def runs(codes: Iterable[int]) -> str:
    """Ascending numbers as the lengths of gaps and runs, one after the other, in base 36.

    Examples
    --------
    >>> runs([3, 4, 5, 46])
    '3 3 14 1'
    """
    lengths: list[int] = []
    last = -1
    for code in codes:
        if lengths and code == last + 1:
            lengths[-1] += 1
        else:
            lengths += [code - last - 1, 1]
        last = code
    return written(lengths)


def _small_letters() -> Iterator[int]:
    """Capitals with one small letter each, in runs: how far from the last run, how many, how far apart, how far to the small letters."""
    found = [(code, ord(chr(code).lower()) - code) for code in ALL if len(chr(code).lower()) == 1 and chr(code).lower() != chr(code)]  # fmt: skip
    start, before = 0, 0
    while start < len(found):
        (first, away), stop = found[start], start + 1
        step = found[stop][0] - first if stop < len(found) and found[stop][1] == away else 1
        while stop < len(found) and found[stop] == (first + (stop - start) * step, away):
            stop += 1
        yield from (first - before, stop - start, step, away)
        start, before = stop, first


def written(numbers: Iterable[int]) -> str:
    """Whole numbers in base 36, blanks between them.

    Examples
    --------
    >>> written([35, 36, -1])
    'z 10 -1'
    """
    return " ".join(map(_base36, numbers))


def _base36(number: int) -> str:
    if number < 0:
        return f"-{_base36(-number)}"
    return (_base36(number // 36) if number >= 36 else "") + FIGURES[number % 36]
