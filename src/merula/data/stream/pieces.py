"""What a stream is: pieces in a fixed order, each read by itself, by whatever thread; and files that may not change meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from merula.core import InputError
from merula.data.stream.below import below

CELLS, MOST_ROWS, FEWEST_ROWS = 2**22, 2**18, 2**10  # that are read at once
FIRST, FIRST_CELLS = 100_000, 2**23  # rows that tell what columns hold, and cells of them


@dataclass(frozen=True, eq=False)
class Piece:
    """A part of a stream: `read(columns, types)` gives its rows as pyarrow tables, a bounded number at once.

    ``where`` names it in errors, ``done`` is the share of the stream that has been read once it is (None: nobody knows).
    """

    where: str
    read: Callable[[Sequence[str], Mapping[str, Any]], Iterator[Any]]
    done: float | None = None


class Stream(Protocol):
    """A table that is read piece by piece."""

    @property
    def names(self) -> tuple[str, ...]:
        """Its columns."""
        ...

    @property
    def again(self) -> bool:
        """Whether it can be read more than once."""
        ...

    @property
    def first(self) -> Any:
        """Its first rows as a pyarrow table, as the whole would be read in memory: they tell what columns hold."""
        ...

    def pieces(self, skipped: int = 0) -> Iterator[Piece]:
        """Its pieces in order, the same whenever they are asked for; the first few may be skipped."""
        ...

    def fingerprint(self) -> list[list[Any]]:
        """What tells whether it is still the same: of files their names, sizes and times."""
        ...


class ChangedError(InputError):
    """A file changed, or is gone, while it was being read."""


class MisfitError(InputError):
    """A cell is of another type than its column had in the first rows."""

    column: str = ""


def fingerprint(paths: Sequence[str]) -> list[list[Any]]:
    """Names, sizes and times of files; a `ChangedError` where one is gone."""
    found = []
    for path in paths:
        try:
            held = os.stat(path)
        except OSError as error:
            raise ChangedError.at(path, f"can no longer be read ({error.strerror})", remedy="put it back and start again") from None  # fmt: skip
        found.append([path, held.st_size, held.st_mtime_ns])
    return found


def check_unchanged(before: list[list[Any]], now: list[list[Any]]) -> None:
    """A `ChangedError` that names the first file which is not as it was."""
    for old, new in zip(before, now, strict=True):
        if old != new:
            raise ChangedError.at(f"{old[0]}", "was changed while it was being read, so that its rows are of two tables", remedy="wait until it is written, then start again")  # fmt: skip


def check_distinct(names: Sequence[str], path: str) -> tuple[str, ...]:
    """The names; an `InputError` where one stands more than once."""
    if len(set(names)) < len(names):
        twice = min(name for name in names if list(names).count(name) > 1)
        raise InputError.at(f"{path}", f"has the column name {twice!r} more than once", remedy="rename so that every column has its own")  # fmt: skip
    return tuple(names)


def check_names(names: Sequence[str], others: Sequence[str], path: str, first: str) -> None:
    """An `InputError` where a file has other columns than the first one."""
    if set(names) != set(others):
        which = sorted(set(names) ^ set(others))[0]
        owner, other = (first, path) if which in names else (path, first)
        raise InputError.at(f"{path}", f"has other columns than {first}: {which!r} is in {owner} alone, not in {other}", remedy="name files of one table")  # fmt: skip


def rows_at_once(columns: int) -> int:
    """How many rows of so many columns are read at once: many, for each batch takes time of its own, but never much memory."""
    return max(FEWEST_ROWS, min(MOST_ROWS, CELLS // max(1, columns)))


def first_rows(columns: int) -> int:
    """How many rows of so many columns tell what these hold."""
    return max(FEWEST_ROWS, min(FIRST, FIRST_CELLS // max(1, columns)))


def slices(table: Any) -> Iterator[Any]:
    """A table some rows at a time."""
    size = rows_at_once(table.num_columns)
    return (table.slice(start, size) for start in range(0, table.num_rows, size))


def rows_of(pieces: Iterable[Piece], columns: Sequence[str], most: int) -> Any:
    """The first rows of some pieces as one table; None where they have none."""
    found, places, rows = [], [], 0
    for place, table in ((piece.where, table) for piece in pieces for table in piece.read(columns, {})):
        found.append(table.slice(0, most - rows))
        places.append(place)
        rows += found[-1].num_rows
        if rows >= most:
            break
    return below(found, places) if found else None
