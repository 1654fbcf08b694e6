"""Which rows of a table are meant: by number, from one number to another, or by what they hold in a key column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from itertools import islice
from math import isclose, isfinite
from typing import Any, NoReturn

from merula.core import InputError
from merula.show.text import shortened

EXPECTED = "a number from 1, a range such as 3-7, or COLUMN=VALUE"
MOST_NEAR, MOST_LOOKED_AT, LONGEST = 3, 100_000, 40


def key_columns(stated: Sequence[str]) -> set[str]:
    """What may be the names of key columns in words such as ``customer id=0042``: a name may hold the sign too."""
    return {item[:place] for item in stated for place, sign in enumerate(item) if sign == "="}


def chosen_rows(stated: Sequence[str], table: Any) -> list[int]:
    """The numbers from 0 of the rows that words name, in the order of the words, each once.

    Examples
    --------
    >>> import pyarrow as pa
    >>> birds = pa.table({"ring": ["007", "008", "007"], "wing": [4.9, 5.1, 9.8]})
    >>> chosen_rows(["3", "1-2"], birds), chosen_rows(["ring=007"], birds), chosen_rows(["wing=5.10"], birds)
    ([2, 0, 1], [0, 2], [1])
    """
    return list(dict.fromkeys(row for item in stated for row in _meant(item, table)))


def top_of(word: str | None) -> int | str | None:
    """How many reasons are asked for: a number from 1, "all", or None where nobody says."""
    if word is None or word == "all":
        return word
    if not word.isdecimal() or int(word) < 1:
        raise InputError.of("--top", word, "a whole number from 1, or all")
    return int(word)


def _meant(item: str, table: Any) -> Iterator[int]:
    names = [name for name in table.column_names if item.startswith(f"{name}=")]
    if names:
        name = max(names, key=len)
        return iter(_holding(table[name], name, item[len(name) + 1 :]))
    ends = [end.strip() for end in item.replace("–", "-").split("-")]
    if len(ends) > 2 or not all(end.isascii() and end.isdecimal() for end in ends):
        _refuse(item, table.column_names)
    first, last = int(ends[0]), int(ends[-1])
    for number in (first, last):
        if not 1 <= number <= table.num_rows:
            raise InputError.at("--row", f"is {item}, but the table has rows 1 to {table.num_rows:,}", got=item)
    if last < first:
        raise InputError.at("--row", f"is {item}, which ends before it begins", got=item, expected=EXPECTED)
    return iter(range(first - 1, last))


def _refuse(item: str, columns: Sequence[str]) -> NoReturn:
    name, equals, _ = item.partition("=")
    if not equals:
        raise InputError.of("--row", item, EXPECTED)
    near = get_close_matches(name, columns, n=1, cutoff=0.5)
    raise InputError.at(
        "--row",
        f"is {item!r}, but the table has no column {name!r}",
        got=item,
        remedy=f"did you mean {near[0]!r}?" if near else f"it has {', '.join(map(repr, columns[:MOST_NEAR]))}, …",
    )


def _holding(cells: Any, name: str, wanted: str) -> list[int]:
    """The rows whose cell is written so, or else is the same number; an error with the nearest cells where there is none."""
    known = [None if cell is None else str(cell) for cell in cells.to_pylist()]
    found = [row for row, cell in enumerate(known) if cell == wanted]
    if not found and (number := _number(wanted)) is not None:
        found = [row for row, cell in enumerate(known) if cell is not None and (own := _number(cell)) is not None and isclose(own, number, rel_tol=1e-12)]  # fmt: skip
    if found:
        return found
    near = _nearest(wanted, list(dict.fromkeys(cell for cell in known if cell is not None)))
    raise InputError.at(
        "--row",
        f"is {name}={wanted}, but no row holds {wanted!r} in {name!r}",
        got=wanted,
        remedy=f"the nearest {'is' if len(near) == 1 else 'are'} {', '.join(repr(shortened(cell, LONGEST)) for cell in near)}"
        if near
        else None,
    )


def _nearest(wanted: str, known: Sequence[str]) -> list[str]:
    """The cells most like a word: of numbers those that differ least, of words those that are written alike."""
    number = _number(wanted)
    numbers = [(abs(own - number), cell) for cell in known if (own := _number(cell)) is not None] if number is not None else []  # fmt: skip
    if numbers and len(numbers) == len(known) and not wanted.startswith("0"):
        return [cell for _, cell in sorted(numbers, key=lambda pair: pair[0])[:MOST_NEAR]]
    return get_close_matches(wanted, list(islice(known, MOST_LOOKED_AT)), n=MOST_NEAR, cutoff=0.3) or list(
        known[:MOST_NEAR]
    )


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if isfinite(found) else None
