"""Names of columns as people write them: cleaned, numbered where one stands twice, and found below the titles of a report."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from merula.core import Option, warn_user
from merula.data.words import clean
from merula.show.numbers import several
from merula.show.text import shortened

NUMBER = re.compile(r"\s*[-+]?\d*[.,]?\d+([eE][-+]?\d+)?\s*")
MOST_TITLES = 20
REMARK = "#"  # before lines that programs do not read
LOOKED_AT = 64  # rows that tell where the table begins
REGULAR = 0.8  # of the rows below a header that must be as wide as it
MOST_NAMED = 6
LONGEST = 60


@dataclass(frozen=True)
class Names:
    """The names of columns, each its own; and which columns (from 0) had none."""

    names: list[str]
    unnamed: frozenset[int] = frozenset()


def line_cells(line: str, separator: str, **options: Any) -> list[str]:
    """The cells of one line; none where one is longer than Python's reader takes."""
    try:
        return next(csv.reader([line], delimiter=separator, **options), [])
    except csv.Error:
        return []


def column_names(raw: Sequence[str]) -> Names:
    """The names that columns get: those of the header, numbered where one stands twice, else their position from 1.

    A name that stands twice is told in a note.

    Examples
    --------
    >>> column_names(["ring", "", "wing"]).names
    ['ring', 'column 2', 'wing']
    """
    unnamed = frozenset(index for index, name in enumerate(raw) if not name)
    taken, last, names = set(raw), dict.fromkeys(raw, 0), list[str]()
    for index, name in enumerate(raw):
        wanted = name or f"column {index + 1}"
        last[wanted] = last.get(wanted, 0) + 1
        free = wanted if last[wanted] == 1 else f"{wanted} {last[wanted]}"
        while free in taken and not (name and last[wanted] == 1):  # the first of its name keeps it
            last[wanted] += 1
            free = f"{wanted} {last[wanted]}"
        taken.add(free)
        names.append(free)
    _note_twice(raw, names)
    return Names(names, unnamed)


def _note_twice(raw: Sequence[str], names: Sequence[str]) -> None:
    """One note on all names that stand twice."""
    twice = [name for name, count in Counter(raw).items() if count > 1 and name]
    if twice:
        called = [new for old, new in zip(raw, names, strict=True) if old in set(twice[:MOST_NAMED])]
        warn_user(
            f"{named('the name', 'the names', twice)} {'stands' if len(twice) == 1 else 'stand'} over several columns, which are called {quoted(called)}",
            UserWarning,
        )


def without_empty(table: Any, unnamed: frozenset[int]) -> Any:
    """The table without the columns at its end that have neither a name nor a cell; notes tell of all nameless columns."""
    last = table.num_columns
    while last > 1 and last - 1 in unnamed and table.column(last - 1).null_count == table.num_rows:
        last -= 1
    if last < table.num_columns:
        count = table.num_columns - last
        which = "the last column has" if count == 1 else f"the last {count} columns have"
        warn_user(f"{which} neither a name nor a cell, and {'is' if count == 1 else 'are'} left out", UserWarning)
        table = table.select(range(last))
    kept = [table.column_names[index] for index in sorted(unnamed) if index < last]
    if kept:
        which = "a column without a name is" if len(kept) == 1 else "columns without a name are"
        warn_user(f"{which} called {quoted(kept)}", UserWarning)
    return table


def title_rows(rows: Sequence[Sequence[str]]) -> int:
    """How many rows at the top are titles and blank lines above the header; 0 wherever that is in doubt.

    Examples
    --------
    >>> title_rows([["Birds of 2024"], [], ["bird", "wing"], ["wren", "4.9"], ["tit", "6"]])
    2
    >>> title_rows([["bird", ""], ["wren", "small"], ["tit", "small"]])
    0
    """
    rows = _without_empty_ends(rows)
    width = Counter(map(len, filter(None, rows))).most_common(1)[0][0] if any(rows) else 0
    remarks = next((index for index, row in enumerate(rows) if not (row and row[0].startswith(REMARK))), 0)
    if remarks > 1 and _names_all(rows[remarks], width):
        return remarks
    first = next((index for index, row in enumerate(rows[: MOST_TITLES + 1]) if _names_all(row, width)), 0)
    below = [row for row in rows[first + 1 :] if row]
    if not first or width < 2 or sum(len(row) == width for row in below) < max(1, REGULAR * len(below)):
        return 0
    unlike = any(all(NUMBER.fullmatch(row[k]) for row in below if len(row) == width and row[k]) for k in range(width))
    return first if all(_is_title(row, width, unlike) for row in rows[:first]) else 0


def _without_empty_ends(rows: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """The rows without the columns behind the last that holds anything: exports end every line with as many signs."""
    used = max((index + 1 for row in rows for index, cell in enumerate(row) if clean(cell)), default=0)
    return [row[:used] for row in rows]


def _names_all(row: Sequence[str], width: int) -> bool:
    """Whether a row looks like a header: as wide as the table, a word in every cell; the first may be empty, above the numbers of rows."""
    named = row if width < 3 or (row and clean(row[0])) else row[1:]
    return len(row) == width and all(clean(cell) and not NUMBER.fullmatch(cell) for cell in named)


def _is_title(row: Sequence[str], width: int, unlike: bool) -> bool:
    """Whether a row has clearly fewer cells than the table; one that is as wide, but mostly empty, might be a poor header.

    It is none where it names one column of several, or where the next row is `unlike` those below: words above numbers.
    """
    filled = sum(bool(clean(cell)) for cell in row)
    if len(row) < width:
        return filled <= max(1, width // 2)
    return filled == 0 or (filled == 1 and width > 2) or (filled <= width // 2 and unlike)


def note_titles(rows: Sequence[Sequence[str]]) -> None:
    """A note that quotes the titles which are skipped; none where the rows are blank."""
    texts = [" ".join(filter(None, map(clean, row))) for row in rows]
    if any(texts):
        told = quoted([shortened(text, LONGEST) for text in texts if text])
        which = "the first line is a title, not a header, and is" if len(rows) == 1 else f"the first {len(rows)} lines are a title, not a header, and are"  # fmt: skip
        warn_user((f"{which} skipped ({told}); ", Option("skip_rows", 0), " keeps them" if len(rows) > 1 else " keeps it"), UserWarning)  # fmt: skip


def named(one: str, several_of_them: str, names: Sequence[str]) -> str:
    """Names after what they are, not endlessly many."""
    return f"{one if len(names) == 1 else several_of_them} {quoted(names)}"


def quoted(names: Sequence[str]) -> str:
    """The names in quotation marks, the first few of many."""
    more = f" and {several(len(names) - MOST_NAMED, 'other')}" if len(names) > MOST_NAMED else ""
    return ", ".join(map(repr, names[:MOST_NAMED])) + more
