"""Rows of plain cells, as JSON brings them → encoded columns; one row without anything that depends on the number of levels.

Answers are those of `encode_cells`: a row of which every cell is a number, missing or a known level is laid out at once, and any
other row, such as one with the word "$29.85" where numbers are, goes that way.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from math import isfinite, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import InputError
from merula.data.encode.encoded import Cells, Coded, Encoded, encode_cells, named_number
from merula.data.encode.reading import worded_numbers
from merula.data.schema import Column, Label, Schema
from merula.data.table import narrowest
from merula.data.words import as_labels
from merula.data.words.numbers import PLAIN

Place = Callable[[Any], int]
Cell = str | float | bool | None
MOST_KEPT = 4_096  # spellings of one column whose level is remembered
MISSING = -1
NUMBERS = {float, int, bool, type(None)}
WIDEST = 2**53  # whole numbers that a float holds one by one


class NotPlainError(Exception):
    """A cell that is neither a number, nor missing, nor a level that is known."""


class PlainRows:
    """How rows of plain cells are encoded as a schema says; made once, asked often, by several threads.

    Examples
    --------
    >>> schema = Schema((Column("age", "numeric"), Column("sex", "categorical", ("f", "m"))))
    >>> rows = PlainRows(schema)
    >>> one = rows.one({"sex": "m", "age": 41})
    >>> one.cell("age"), one.cell("sex")
    (41.0, 'm')
    >>> many = rows.many({"age": [41.0, None], "sex": ["f", "x"]}, 2)
    >>> many.values(("age",))[:, 0].tolist(), many.codes(("sex",)).codes[:, 0].tolist()
    ([41.0, nan], [0, 1])
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._numeric = [c.name for c in schema.columns if c.kind not in ("ignore", "text", "categorical")]
        self._positions = {name: place for place, name in enumerate(self._numeric)}
        coded = [column for column in schema.columns if column.kind == "categorical"]
        self._places: list[tuple[str, Place]] = [(column.name, _place_of(column)) for column in coded]
        self._slots = {column.name: [None, *(column.levels or ())] for column in coded}
        self._codes = {name: _codes_of(len(slots) - 1) for name, slots in self._slots.items()}
        self._absent = {name: slots.index(None, 1) - 1 if None in slots[1:] else MISSING for name, slots in self._slots.items()}  # fmt: skip
        self.is_lean = all(map(_is_lean, schema.columns))
        self._memo: dict[Any, Any] = {}  # what distributions keep of the slots, which are the same for every row

    def one(self, row: Mapping[str, Any]) -> Encoded:
        """One row; columns that it does not name are missing, names that are no columns are passed over."""
        try:
            if self.is_lean:
                return self.lean(row)[0]
        except NotPlainError:
            pass
        return self._any({name: [value] for name, value in row.items()}, 1)

    def lean(self, row: Mapping[str, Any]) -> tuple[Encoded, list[str]]:
        """One row at once, and the columns that are missing; a `NotPlainError` where a cell needs to be looked at."""
        known = row.get
        numbers = [_number(known(name)) for name in self._numeric]
        places = [place(known(name)) for name, place in self._places]
        missing = [name for name, number in zip(self._numeric, numbers, strict=True) if number != number]
        missing += [name for (name, _), place in zip(self._places, places, strict=True) if place == self._absent[name]]
        values = np.array([numbers])
        coded = {
            name: Coded(self._codes[name][place], self._slots[name], -1)
            for (name, _), place in zip(self._places, places, strict=True)
        }
        numeric = dict(zip(self._numeric, values.T, strict=True))
        return Encoded(0, 1, numeric, coded, values if numeric else None, self._positions, _memo=self._memo), missing

    def many(self, columns: Mapping[str, Cells], count: int) -> Encoded:
        """`count` rows from the cells of each column; columns not named are missing. Words of one column are read alike."""
        named = [column for column in self.schema.columns if column.name in columns]
        return self._any({column.name: _read(column, columns[column.name]) for column in named}, count)

    def _any(self, cells: Mapping[str, Cells], count: int) -> Encoded:
        return encode_cells(self.schema, cells, count)


def _is_lean(column: Column) -> bool:
    """Whether a number is all that it takes to know a cell of this column, or a level that is known."""
    sentinels = column.reading is not None and any(PLAIN.fullmatch(word) for word in column.reading.missing)
    if column.kind == "categorical":
        return bool(column.levels) and not (column.cuts is not None and (sentinels or column.unit))
    return column.kind == "ignore" or (column.kind != "text" and column.unit is None and not sentinels)


def _number(value: Any) -> float:
    if type(value) is float:
        return value
    if value is None:
        return nan
    if type(value) is int and -WIDEST <= value <= WIDEST:
        return float(value)
    raise NotPlainError


def _codes_of(levels: int) -> list[NDArray[Any]]:
    """A column of one row for each level, and for a missing cell at the end, where −1 finds it."""
    return [narrowest(np.array([code]), levels) for code in [*range(levels), MISSING]]


def _place_of(column: Column) -> Place:
    """Where a cell's level stands; a NotPlainError for one that fit never saw."""
    levels = column.levels or ()
    own = levels.index(None) if None in levels else MISSING
    if column.cuts is not None:
        return _interval_of(column.cuts, set(levels), own)
    where = {label: place for place, label in enumerate(levels)}
    kept: dict[Any, int] = {None: own}

    def place(value: Any) -> int:
        key = value if type(value) is str or value is None else (type(value), value)
        try:
            return kept[key]
        except KeyError:
            found = _level(value, column, where, own)
            if len(kept) < MOST_KEPT:
                kept[key] = found
            return found
        except TypeError:  # a list or an object, which is no cell
            raise NotPlainError from None

    return place


def _level(value: Any, column: Column, where: Mapping[Label, int], missing: int) -> int:
    (label,) = as_labels([value], column.reading, column.levels)
    if label is None:
        return missing
    try:
        return where[label]
    except (KeyError, TypeError):
        raise NotPlainError from None


def _interval_of(cuts: tuple[float, ...], levels: set[Label], missing: int) -> Place:
    """The interval in which a number lies; a word may name one."""

    def place(value: Any) -> int:
        if value is None:
            return missing
        number = _number(value)
        if not isfinite(number) or value in levels:
            raise NotPlainError
        return bisect_left(cuts, number)

    return place


def _read(column: Column, values: Cells) -> Cells:
    """The cells of one column, its words read as numbers where it holds such; all of them in one way."""
    if column.kind in ("ignore", "text") or (column.kind == "categorical" and column.cuts is None):
        return values
    if isinstance(values, np.ndarray):
        return values
    kinds = set(map(type, values))
    if kinds <= NUMBERS:
        return _plain_numbers(values)
    if not kinds <= {*NUMBERS, str}:
        strange = next(value for value in values if type(value) not in {*NUMBERS, str})
        raise InputError.at(
            f"column {column.name!r}", f"is numeric but holds {strange!r}", got=strange, remedy="give a number or null"
        )
    if column.kind == "categorical" and any(value in (column.levels or ()) for value in values):
        return values
    words = list(dict.fromkeys(value for value in values if isinstance(value, str)))
    numbers = [named_number(word, column) for word in words] if column.unit else worded_numbers(words, column).tolist()
    meant = dict(zip(words, numbers, strict=True))
    return np.array([meant[v] if isinstance(v, str) else nan if v is None else v for v in values], dtype=np.float64)


def _plain_numbers(values: Sequence[Any]) -> NDArray[Any] | Sequence[Any]:
    try:
        return np.array(values, dtype=np.float64)
    except OverflowError:
        raise InputError("a whole number is too large", expected="numbers that a float holds") from None
