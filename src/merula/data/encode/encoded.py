"""Table + schema → encoded columns: numbers with NaN, the source's own codes, class codes, weights.

What *missing* and *unseen* mean is decided here and nowhere else. Nothing large is copied: a tile of rows is read
from the source when a statistic or a distribution asks for it.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from merula.core import InputError, nearest, warn_user
from merula.core.threads import BLOCK
from merula.data.encode.kinds import COUNTED, holds_counts
from merula.data.encode.levels import level_positions
from merula.data.encode.reading import numbers_read, read_codes, without_sentinels, worded_numbers
from merula.data.encode.tokens import Tokens, counted_matrix, tokenise
from merula.data.intervals import assign
from merula.data.schema import Column, Label, Schema
from merula.data.table import (
    DENSE_NEEDED,
    FEW,
    SparseTable,
    Table,
    codes_of_labels,
    codes_of_numbers,
    counts_table,
    distinct_labels,
    is_missing,
    object_numbers,
    open_table,
    plain_label,
)
from merula.data.words import as_labels

Made = TypeVar("Made")
GATHERED_BYTES = 4 * 2**20  # gathered at once from separate columns: what stays in the cache
FEWEST_ROWS = 1_024
_NOTING = Lock()  # tiles are scored by several threads
ZONED = re.compile(r":.*(Z|z|[+-]\d\d:?\d\d?)\s*$")  # a time in a zone, which NumPy reads with a warning
DATED = re.compile(
    r"\d{4}(-|$)"
)  # a year of four figures; NumPy takes 5 and 20190131 for years, too, and today for a day
WIDEST_RANGE = 65_536  # integers further apart than this are coded by sorting
Cells = Sequence[Any] | NDArray[Any]


@dataclass(frozen=True, eq=False)
class Coded:
    """A categorical column as its source holds it: ``slots[code − shift]`` is the label, None for missing."""

    codes: NDArray[Any]
    slots: Sequence[Label]
    shift: int

    def label(self, code: int) -> Label:
        """The label that a code means; a whole number outside the range of the slots is its own."""
        slot = code - self.shift
        return self.slots[slot] if 0 <= slot < len(self.slots) else code

    def in_slots(self) -> tuple[NDArray[np.int64], Sequence[Label]]:
        """For every row the slot of its label, and the slots; whole numbers outside their range are coded anew."""
        slot = self.codes.astype(np.int64) - self.shift
        if isinstance(self.slots, range) and len(slot) and (slot.min() < 0 or slot.max() >= len(self.slots)):
            codes, labels = codes_of_numbers(self.codes)
            return codes.astype(np.int64), labels
        return slot, self.slots


@dataclass(frozen=True, eq=False)
class CodedTile:
    """Raw codes of several columns for a tile of rows, with the slots that name them."""

    codes: NDArray[Any]
    slots: tuple[Sequence[Label], ...]
    shift: NDArray[np.int64]
    width: NDArray[np.int64]

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where each column's slots begin when all are laid end to end, each with one more for 'out of range'."""
        return np.concatenate(([0], np.cumsum(self.width + 1)))


@dataclass(frozen=True, eq=False)
class Encoded:
    """Rows ready to be counted or scored; `tile` narrows it to some of them without copying."""

    start: int
    stop: int
    numeric: Mapping[str, NDArray[Any]]
    coded: Mapping[str, Coded]
    matrix: NDArray[Any] | None = None
    positions: Mapping[str, int] = field(default_factory=dict)
    texts: Mapping[str, Tokens] = field(default_factory=dict)
    unseen_hits: dict[str, int] = field(default_factory=dict)
    _memo: dict[Any, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.stop - self.start

    @property
    def tile_rows(self) -> int:
        """How many rows to read at once."""
        if self.matrix is not None and self.matrix.dtype.kind in "fiu":
            return BLOCK
        width = sum(part.itemsize for part in self.numeric.values()) + sum(
            part.codes.itemsize for part in self.coded.values()
        )
        return max(FEWEST_ROWS, min(BLOCK, GATHERED_BYTES // width)) if width else BLOCK

    def tile(self, start: int, stop: int) -> Encoded:
        """The rows from start to stop, counted from this one's first row."""
        return replace(self, start=self.start + start, stop=min(self.start + stop, self.stop))

    def afresh(self) -> Encoded:
        """The same rows with nothing remembered: for many models one after the other, each of which leaves something behind."""
        return replace(self, unseen_hits={}, _memo={})

    def values(self, columns: Sequence[str]) -> NDArray[Any]:
        """The numbers of these columns, rows × columns, float32 or float64, NaN for missing; a view where possible."""
        rows = self._matrix_rows(columns)
        if rows is None:
            rows = _gather([self.numeric[name][self.start : self.stop] for name in columns])
        return rows if rows.dtype.kind == "f" else rows.astype(np.float64)

    def codes(self, columns: Sequence[str]) -> CodedTile:
        """The raw codes of these columns, rows × columns, with their slots; a view where possible."""
        rows = self._matrix_rows(columns)
        if rows is None:
            rows = _gather([self.coded[name].codes[self.start : self.stop] for name in columns])
        slots, shift, width = self.remember(("slots", tuple(columns)), lambda: self._slots(columns))
        return CodedTile(rows, slots, shift, width)

    def _slots(self, columns: Sequence[str]) -> tuple[Any, ...]:
        slots = tuple(self.coded[name].slots for name in columns)
        shift = np.array([self.coded[name].shift for name in columns], dtype=np.int64)
        return slots, shift, np.array([len(labels) for labels in slots], dtype=np.int64)

    def _matrix_rows(self, columns: Sequence[str]) -> NDArray[Any] | None:
        """A view of the source matrix if it holds these columns and nothing else, side by side."""
        if self.matrix is None or len(columns) != self.matrix.shape[1]:
            return None
        ordered = self.remember(
            ("ordered", tuple(columns)),
            lambda: [self.positions.get(name) for name in columns] == list(range(len(columns))),
        )
        return self.matrix[self.start : self.stop] if ordered else None

    def take(self, indices: NDArray[np.int64]) -> Encoded:
        """Some rows in this order, copied; what was remembered of the table is not."""
        numeric = {name: values[self.start : self.stop][indices] for name, values in self.numeric.items()}
        coded = {
            name: replace(part, codes=part.codes[self.start : self.stop][indices]) for name, part in self.coded.items()
        }
        texts = {name: self.tokens(name).take(indices) for name in self.texts}
        return Encoded(0, len(indices), numeric, coded, None, self.positions, texts)

    def tokens(self, name: str) -> Tokens:
        """The counted words of one text column."""
        return self.texts[name].tile(self.start, self.stop)

    def cell(self, name: str) -> Label:
        """The first row's value in one column: a number (NaN if missing), a label or a text (None if missing)."""
        if name in self.texts:
            return self.texts[name].text(self.start)
        if name in self.numeric:
            return float(self.values((name,))[0, 0])
        return self.coded[name].label(int(self.coded[name].codes[self.start]))

    def labels(self, name: str) -> tuple[Label, ...]:
        """The labels of one coded column, in the order of its codes from 0: the same object for every tile."""
        return self.remember(("labels", name), lambda: tuple(self.coded[name].slots[1:]))

    def remember(self, key: Any, make: Callable[[], Made]) -> Made:
        """What `make` gives, one object for all tiles of this table, whichever thread made it first."""
        return self._memo[key] if key in self._memo else self._memo.setdefault(key, make())

    def apart(self) -> Encoded:
        """The same rows, which keep to themselves what is remembered and noted from now on, and know what was remembered before."""
        return replace(self, unseen_hits={}, _memo=dict(self._memo))

    def level_table(self, columns: Sequence[str], levels: Sequence[tuple[Label, ...]]) -> NDArray[np.int64]:
        """For every slot of these columns laid end to end: the level's position, m for missing, m + 1 for unseen (m levels)."""

        def make() -> NDArray[np.int64]:
            parts = [
                level_positions(self.coded[name].slots, known) for name, known in zip(columns, levels, strict=True)
            ]
            return np.concatenate(parts)

        key = "levels", tuple(columns), id(levels)
        return self.remember(key, lambda: (levels, make()))[1]  # kept with the levels, so that no other has their id

    def note_unseen(self, columns: Sequence[str], hits: NDArray[Any]) -> None:
        """Keep count of cells whose level fit never saw."""
        with _NOTING:
            for name, count in zip(columns, hits.tolist(), strict=True):
                if count:
                    self.unseen_hits[name] = self.unseen_hits.get(name, 0) + int(count)

    def unseen_labels(self, name: str, levels: tuple[Label, ...]) -> list[Label]:
        """The labels of one column that are not among these levels."""
        coded = self.coded[name]
        held = map(coded.label, np.unique(np.asarray(coded.codes[self.start : self.stop])).tolist())
        known = set(levels) | {None}
        return [label for label in held if label not in known]


def _gather(columns: list[NDArray[Any]]) -> NDArray[Any]:
    """Columns side by side in one small array, each copied in one sweep."""
    rows, dtype = len(columns[0]), np.result_type(*columns)
    # a little longer than needed: columns a power of 2 apart would all fall on the same few places of the cache
    tile = np.empty((rows + 64 // dtype.itemsize, len(columns)), dtype=dtype, order="F")[:rows]
    for position, column in enumerate(columns):
        tile[:, position] = column
    return tile


def encode(table: Table, schema: Schema, positions: Sequence[int], threads: int = 1) -> Encoded:
    """The schema's columns, found in the table at these positions."""
    found = zip(schema.columns, positions, strict=True)
    table.read_words([index for column, index in found if column.kind == "categorical"], threads)
    numeric: dict[str, NDArray[Any]] = {}
    coded: dict[str, Coded] = {}
    texts: dict[str, Tokens] = {}
    for column, position in zip(schema.columns, positions, strict=True):
        if column.kind == "text":
            texts[column.name] = _tokens(table, position)
        elif column.kind == "categorical":
            coded[column.name] = _coded(table, column, position)
        elif column.kind != "ignore":
            numeric[column.name] = numbers_read(table, column, position)
    matrix = table.whole
    usable = matrix is not None and _serves_whole(matrix, schema, coded)
    where = dict(zip(schema.names, positions, strict=True))
    return Encoded(0, table.rows, numeric, coded, matrix if usable else None, where, texts)


def _tokens(table: Table, position: int) -> Tokens:
    return counted_matrix(table.matrix) if isinstance(table, SparseTable) else tokenise(table.texts(position))


def _serves_whole(matrix: NDArray[Any], schema: Schema, coded: Mapping[str, Coded]) -> bool:
    """True when the matrix itself serves as values (no times), or as codes (integers within a narrow range)."""
    if coded:
        return matrix.dtype.kind in "iu" and all(isinstance(column.slots, range) for column in coded.values())
    return matrix.dtype.kind in "fiu" and not any(column.unit for column in schema.columns)


def _coded(table: Table, column: Column, position: int) -> Coded:
    if column.cuts is not None:
        return _cut(numbers_read(table, column, position), column)
    integers = table.integers(position)
    if (
        integers is not None
        and (column.reading is None or not column.reading.missing)
        and not _are_words(column.levels)
    ):
        return _coded_integers(integers, column.levels)
    codes, labels = read_codes(table, column, position)
    return Coded(codes, [None, *labels], -1)


def _are_words(levels: tuple[Label, ...] | None) -> bool:
    return bool(levels) and {type(level) for level in levels or ()} == {str}


def _cut(values: NDArray[Any], column: Column) -> Coded:
    """Numbers as the levels they lie in between the column's cuts."""
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise InputError.at(
            f"column {column.name!r}", "contains infinity", remedy="replace it by a number, or by NaN if it is unknown"
        )
    return Coded(assign(values, column.cuts or ()).astype(np.int32), [None, *(column.levels or ())], -1)


def _coded_integers(values: NDArray[Any], levels: tuple[Label, ...] | None) -> Coded:
    """Integers as their own codes, over the range of the known levels, or of a sample where there are none yet."""
    known = [int(level) for level in levels or () if isinstance(level, int | float) and level == int(level)]
    if not known:
        sample = values[:: max(1, len(values) // 1024)]
        known = [int(sample.min()), int(sample.max())]
    low, high = min(known), max(known)
    if high - low < min(WIDEST_RANGE, FEW + 4 * len(values)) and low > -(2**62) and high < 2**62:
        return Coded(values, range(low, high + 1), low)
    codes, labels = codes_of_numbers(values)
    return Coded(codes, [None, *labels], -1)


def find_columns(table: Table, schema: Schema, named: bool | None, model: str) -> list[int]:
    """Where the schema's columns stand in a table: by name if both have names, else by position.

    `named` says whether fit saw names; None, that the columns were stated and rows may come either way.
    """
    if isinstance(table, SparseTable):
        if not is_counted(schema):
            raise TypeError(DENSE_NEEDED)
        return [0]
    if named is not False and table.named:
        where = {name: position for position, name in enumerate(table.names)}
        for column in schema.columns:
            if column.name not in where and column.kind != "ignore":
                stray = [name for name in table.names if name not in schema.names]
                raise InputError.at(
                    f"column {column.name!r}",
                    "is missing from the table",
                    remedy=f"{model} was fitted with it (give it empty if it is unknown){nearest(column.name, stray)}",
                )
        return [where.get(name, -1) for name in schema.names]
    if len(table.names) != len(schema.names):
        raise InputError.at(
            "X", f"has {len(table.names)} features, but {model} is expecting {len(schema.names)} features as input"
        )
    if named is not None and named != table.named:
        message = (
            f"X does not have valid feature names, but {model} was fitted with feature names"
            if named
            else f"X has feature names, but {model} was fitted without feature names"
        )
        warn_user(message, UserWarning)
    return list(range(len(schema.names)))


def encode_rows(source: Any, schema: Schema, named: bool | None, model: str, threads: int = 1) -> Encoded:
    """Open a source and encode it as the schema says, columns matched by name."""
    table = open_table(source)
    if is_counted(schema):
        table = _counts(table, schema, named, model)
    return encode(table, schema, find_columns(table, schema, named, model), threads)


def is_counted(schema: Schema) -> bool:
    """Whether the schema is that of a matrix of counted words."""
    return any(column.unit == COUNTED for column in schema.columns)


def _counts(table: Table, schema: Schema, named: bool | None, model: str) -> SparseTable:
    """A matrix of counted words in the one form they are counted in; the columns of a frame are words, matched by name."""
    if isinstance(table, SparseTable):
        return table
    if not holds_counts(table):
        raise InputError.at("X", f"holds words, but {model} was fitted on a matrix of counted words")
    words, whole = schema.columns[0].levels, table.whole
    if words is not None and table.named:
        positions = find_columns(table, Schema(tuple(Column(word, "count") for word in words)), named, model)
    elif whole is not None and whole.dtype.kind in "fiub":
        return counts_table(whole)
    else:
        positions = list(range(len(table.names)))
    return counts_table(np.column_stack([table.numbers(position) for position in positions]))


def encode_cells(schema: Schema, cells: Mapping[str, Cells], count: int) -> Encoded:
    """`count` rows, from the values of each column; columns not named are missing.

    Examples
    --------
    >>> schema = Schema((Column("age", "numeric"), Column("sex", "categorical", ("f", "m"))))
    >>> rows = encode_cells(schema, {"sex": ["m", None]}, 2)
    >>> rows.values(("age",))[:, 0].tolist(), rows.cell("sex")
    ([nan, nan], 'm')
    """
    found: dict[str, dict[str, Any]] = {"numeric": {}, "coded": {}, "texts": {}}
    for column in schema.columns:
        if column.kind != "ignore":
            sort, encoded = _encoded(column, cells.get(column.name, [None] * count))
            found[sort][column.name] = encoded
    return Encoded(0, count, found["numeric"], found["coded"], texts=found["texts"])


def with_cells(rows: Encoded, column: Column, values: Cells) -> Encoded:
    """The same rows with these values in one column; one row is repeated as often as there are values."""
    rows = rows.take(np.arange(len(values)) if len(rows) > 1 else np.zeros(len(values), dtype=np.int64))
    sort, encoded = _encoded(column, values)
    changed: dict[str, Any] = {sort: {**getattr(rows, sort), column.name: encoded}}
    return replace(rows, **changed)


def _encoded(column: Column, values: Cells) -> tuple[str, Any]:
    """Among which of an encoded table's columns it stands, and the column itself."""
    if column.kind == "text":
        return "texts", tokenise(None if is_missing(value) else str(plain_label(value)) for value in values)
    if column.kind == "categorical":
        known = column.levels or ()
        numbers = isinstance(values, np.ndarray) and values.dtype == np.float64
        if column.cuts is not None and (
            numbers or not any(one in known for one in values if one is not None)
        ):  # not levels
            return "coded", _cut(_stated_numbers(column, values), column)
        codes, labels = codes_of_labels(values)
        codes, labels = distinct_labels(codes, as_labels(labels, column.reading, column.levels))
        return "coded", Coded(codes, [None, *labels], -1)
    return "numeric", _stated_numbers(column, values)


def _stated_numbers(column: Column, values: Cells) -> NDArray[np.float64]:
    """Numbers, NaN for missing; in a column of times they count in its unit, and words name times."""
    unit = column.unit
    if isinstance(values, np.ndarray) and values.dtype == np.float64:
        return without_sentinels(values, column)
    plain = [None if is_missing(value) else value for value in values]
    found = np.empty(len(plain), dtype=np.float64)
    for place, value in enumerate(plain):
        if isinstance(value, str):
            found[place] = named_number(value, column)
        elif unit is None or isinstance(value, int | float) or value is None:
            found[place] = object_numbers([value], column.name, None)[0]
        else:
            found[place] = object_numbers([value], column.name, unit)[0]
    return without_sentinels(found, column)


def named_number(word: str, column: Column) -> float:
    """The number or time that one word names; a time may be as short as NumPy takes it, such as 2024-05."""
    dated = column.unit is not None and (column.unit.startswith("timedelta") or DATED.match(word) is not None)
    if dated and not ZONED.search(word):
        with contextlib.suppress(ValueError):
            return float(object_numbers([np.array(word, dtype=column.unit)[()]], column.name, column.unit)[0])
    return float(worded_numbers([word], column)[0])
