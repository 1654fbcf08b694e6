"""Table + schema → encoded columns: numbers with NaN, the source's own codes, class codes, weights.

What *missing* and *unseen* mean is decided here and nowhere else. Nothing large is copied: a tile of rows is read
from the source when a statistic or a distribution asks for it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.logspace import kernel
from merula.schema import KINDS, Column, Label, Schema, one_of
from merula.table import Table, codes_of_labels, codes_of_numbers, codes_of_words, is_missing, open_table

BLOCK = 65_536  # rows whose statistics are added as one, whatever the number of threads
GATHERED_BYTES = 2 * 2**20  # gathered at once from separate columns: what stays in the cache
FEWEST_ROWS = 1_024
WIDEST_RANGE = 65_536  # integers further apart than this are coded by sorting


class UnseenLevelWarning(UserWarning):
    """A categorical cell holds a level that fit never saw; it is treated as the `unseen` option says."""


def infer_schema(table: Table, kinds: Any = None, levels: Any = None) -> Schema:
    """The schema of a table: kinds from dtypes, overridden by `kinds` and `levels`."""
    given = dict.fromkeys(table.names, kinds) if isinstance(kinds, str) else _by_column(table, kinds or {}, "kinds")
    for name, kind in given.items():
        one_of(kind, KINDS, f"kinds[{name!r}]" if not isinstance(kinds, str) else "kinds")
    declared = {name: tuple(values) for name, values in _by_column(table, levels or {}, "levels").items()}
    return Schema(
        tuple(
            _column(table, position, name, given.get(name), declared.get(name))
            for position, name in enumerate(table.names)
        )
    )


def _by_column(table: Table, option: Mapping[Any, Any], what: str) -> dict[str, Any]:
    """An option keyed by column, with positions turned into names; unknown columns are an error."""
    named = {
        table.names[key] if isinstance(key, int) and key < len(table.names) else key: value
        for key, value in option.items()
    }
    for name in named:
        one_of(name, table.names, f"a key of {what}=")
    return named


def _column(table: Table, position: int, name: str, kind: str | None, levels: tuple[Label, ...] | None) -> Column:
    if levels is not None:
        if kind not in (None, "categorical"):
            raise ValueError(
                f"levels= declares levels for column {name!r}, which kinds= calls {kind!r}; only a categorical column has levels"
            )
        if len(set(levels)) < len(levels) or not levels:
            raise ValueError(f"levels[{name!r}] is {list(levels)}: it must name each level once")
        return Column(name, "categorical", levels, declared=True)
    if kind in ("categorical", "ignore"):
        return Column(name, kind)
    found, unit = table.kind(position)
    if kind == "datetime" and unit is None:
        raise ValueError(f"kinds= calls column {name!r} a datetime, but its values are not; convert the column first")
    return Column(name, kind or found, unit=unit)


@dataclass(frozen=True, eq=False)
class Coded:
    """A categorical column as its source holds it: ``slots[code − shift]`` is the label, None for missing."""

    codes: NDArray[Any]
    slots: Sequence[Label]
    shift: int


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

    def labels(self, name: str) -> tuple[Label, ...]:
        """The labels of one coded column, in the order of its codes from 0: the same object for every tile."""
        result: tuple[Label, ...] = self.remember(("labels", name), lambda: tuple(self.coded[name].slots[1:]))
        return result

    def remember(self, key: Any, make: Callable[[], Any]) -> Any:
        """What `make` gives, made once for all tiles of this table."""
        if key not in self._memo:
            self._memo[key] = make()
        return self._memo[key]

    def level_table(self, columns: Sequence[str], levels: Sequence[tuple[Label, ...]]) -> NDArray[np.int64]:
        """For every slot of these columns laid end to end: the level's position, m for missing, m + 1 for unseen (m levels)."""

        def make() -> NDArray[np.int64]:
            parts = [
                level_positions(self.coded[name].slots, known) for name, known in zip(columns, levels, strict=True)
            ]
            return np.concatenate(parts)

        result: NDArray[np.int64] = self.remember(("levels", tuple(columns)), make)
        return result

    def note_unseen(self, columns: Sequence[str], hits: NDArray[Any]) -> None:
        """Keep count of cells whose level fit never saw."""
        for name, count in zip(columns, hits.tolist(), strict=True):
            if count:
                self.unseen_hits[name] = self.unseen_hits.get(name, 0) + int(count)

    def unseen_labels(self, name: str, levels: tuple[Label, ...]) -> list[Label]:
        """The labels of one column that are not among these levels."""
        coded = self.coded[name]
        raw = np.unique(np.asarray(coded.codes[self.start : self.stop])).tolist()
        labels = [
            coded.slots[code - coded.shift] if 0 <= code - coded.shift < len(coded.slots) else code for code in raw
        ]
        known = set(levels) | {None}
        return [label for label in labels if label not in known]


def level_positions(slots: Sequence[Label], levels: tuple[Label, ...]) -> NDArray[np.int64]:
    """Where each slot's label stands among the levels; missing is m (or its own level), unseen is m + 1."""
    m = len(levels)
    known = {label: position for position, label in enumerate(levels)}
    missing = known.get(None, m)
    return np.array(
        [missing if label is None else known.get(label, m + 1) for label in slots] + [m + 1], dtype=np.int64
    )


def _gather(columns: list[NDArray[Any]]) -> NDArray[Any]:
    """Columns side by side in one small array, each copied in one sweep."""
    tile = np.empty((len(columns[0]), len(columns)), dtype=np.result_type(*columns), order="F")
    for position, column in enumerate(columns):
        tile[:, position] = column
    return tile


def encode(table: Table, schema: Schema, positions: Sequence[int]) -> Encoded:
    """The schema's columns, found in the table at these positions."""
    numeric: dict[str, NDArray[Any]] = {}
    coded: dict[str, Coded] = {}
    where = {}
    for column, position in zip(schema.columns, positions, strict=True):
        where[column.name] = position
        if column.kind == "categorical":
            coded[column.name] = _coded(table, column, position)
        elif column.kind != "ignore":
            numeric[column.name] = _numbers(table, column, position)
    matrix = table.whole
    usable = matrix is not None and _serves_whole(matrix, schema, coded)
    return Encoded(0, table.rows, numeric, coded, matrix if usable else None, where)


def _serves_whole(matrix: NDArray[Any], schema: Schema, coded: Mapping[str, Coded]) -> bool:
    """True when the matrix itself serves as values (no times), or as codes (integers within a narrow range)."""
    if coded:
        return matrix.dtype.kind in "iu" and all(isinstance(column.slots, range) for column in coded.values())
    return matrix.dtype.kind in "fiu" and not any(column.unit for column in schema.columns)


def _numbers(table: Table, column: Column, position: int) -> NDArray[Any]:
    try:
        return table.numbers(position, column.unit)
    except ValueError as error:
        message = str(error)
        raise ValueError(message if message.startswith("column") else f"column {column.name!r} {message}") from None


def _coded(table: Table, column: Column, position: int) -> Coded:
    integers = table.integers(position)
    if integers is not None:
        return _coded_integers(integers, column.levels)
    codes, labels = table.codes(position)
    return Coded(codes, [None, *labels], -1)


def _coded_integers(values: NDArray[Any], levels: tuple[Label, ...] | None) -> Coded:
    """Integers as their own codes, over the range of the known levels, or of a sample where there are none yet."""
    known = [level for level in levels or () if isinstance(level, int)]
    if not known:
        sample = values[:: max(1, len(values) // 4096)]
        known = [int(sample.min()), int(sample.max())]
    low, high = min(known), max(known)
    if high - low < WIDEST_RANGE and low > -(2**62) and high < 2**62:
        return Coded(values, range(low, high + 1), low)
    codes, labels = codes_of_numbers(values)
    return Coded(codes, [None, *labels], -1)


def find_columns(table: Table, schema: Schema, named: bool | None, model: str) -> list[int]:
    """Where the schema's columns stand in a table: by name if both have names, else by position.

    `named` says whether fit saw names; None, that the columns were stated and rows may come either way.
    """
    if named is not False and table.named:
        where = {name: position for position, name in enumerate(table.names)}
        for column in schema.columns:
            if column.name not in where and column.kind != "ignore":
                raise ValueError(
                    f"column {column.name!r} is missing from the table; {model} was fitted with it (give it empty if it is unknown)"
                )
        return [where.get(name, -1) for name in schema.names]
    if len(table.names) != len(schema.names):
        raise ValueError(
            f"X has {len(table.names)} features, but {model} is expecting {len(schema.names)} features as input"
        )
    if named is not None and named != table.named:
        message = (
            f"X does not have valid feature names, but {model} was fitted with feature names"
            if named
            else f"X has feature names, but {model} was fitted without feature names"
        )
        warnings.warn(message, UserWarning, stacklevel=4)
    return list(range(len(schema.names)))


# ---------------------------------------------------------------------------------------------------------------------
# The target


@dataclass(frozen=True, eq=False)
class Target:
    """Class codes (positions in `classes`) and frequency weights of the rows; weights are None when all are 1."""

    codes: NDArray[Any]
    classes: NDArray[Any]
    weights: NDArray[np.float64] | None = None

    def tile(self, start: int, stop: int) -> Target:
        """The rows from start to stop."""
        return Target(self.codes[start:stop], self.classes, None if self.weights is None else self.weights[start:stop])


@kernel
def _range_of(values: NDArray[Any]) -> tuple[int, int]:
    low = high = values[0]
    for value in values:
        low = min(low, value)
        high = max(high, value)
    return low, high


@kernel
def _narrow(values: NDArray[Any], low: int, places: NDArray[np.int64], codes: NDArray[Any]) -> None:
    for row in range(len(values)):
        codes[row] = places[np.int64(values[row]) - low]


@kernel
def _present(values: NDArray[Any], low: int, width: int) -> NDArray[np.bool_]:
    present = np.zeros(width, dtype=np.bool_)
    for value in values:
        present[np.int64(value) - low] = True
    return present


def encode_target(y: Any, rows: int, sample_weight: Any = None) -> Target:
    """Class codes, the sorted classes and the checked weights."""
    words = codes_of_words(y)
    values = words[0] if words else _target_values(y)
    if len(values) != rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {rows} rows, y has {len(values)}"
        )
    weights = _checked_weights(sample_weight, rows)
    if words:
        codes, classes = _word_classes(*words)
        classes = classes.astype(y.dtype) if isinstance(y, np.ndarray) else classes
    else:
        codes, classes = _integer_classes(values) if values.dtype.kind in "iub" else _sorted_classes(values)
    if weights is not None and not weights.all():
        codes, classes = _with_weight(codes, classes, weights)
    return Target(codes, classes, weights)


def _with_weight(
    codes: NDArray[Any], classes: NDArray[Any], weights: NDArray[np.float64]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Codes and classes without those that only have rows of weight 0; such rows may carry any code."""
    present = np.bincount(codes, weights, minlength=len(classes)) > 0
    places = np.where(present, np.cumsum(present) - 1, 0).astype(codes.dtype)
    return places[codes], classes[present]


def _target_values(y: Any) -> NDArray[Any]:
    """The target as one array without missing values."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    if hasattr(y, "nnz"):
        raise TypeError("y is sparse; a target is one dense value per row")
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        warnings.warn(
            "A column-vector y was passed when a 1d array was expected; it is read as y.ravel()",
            DataConversionWarning,
            stacklevel=5,
        )
        values = values.ravel()
    if values.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {values.shape} instead")
    if values.dtype.kind == "c":
        raise ValueError("Complex data not supported: a target is a label, a word or a whole number")
    if values.dtype.kind in "fOMm":
        _check_labels(values)
    return values


def _check_labels(values: NDArray[Any]) -> None:
    """No missing target, no continuous one."""
    if values.dtype.kind == "f":
        missing = int(np.isnan(values).sum())
        if not missing and np.isinf(values).any():
            raise ValueError("Input y contains infinity; a target is a label, a word or a whole number")
    else:
        missing = sum(map(is_missing, values.tolist())) if values.dtype.kind == "O" else int(np.isnat(values).sum())
    if missing:
        _refuse_missing(missing, len(values))
    if values.dtype.kind == "f" and (values != np.floor(values)).any():
        raise ValueError("Unknown label type: continuous. The target holds fractions; a classifier needs classes")


def _refuse_missing(missing: int, rows: int) -> None:
    raise ValueError(f"Input y contains NaN: {missing} of {rows} targets are missing; drop those rows before fit")


def _word_classes(codes: NDArray[Any], labels: list[str]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Class codes of a column of words that its library has coded already; unused words are no classes."""
    missing = int((codes < 0).sum())
    if missing:
        _refuse_missing(missing, len(codes))
    used = np.flatnonzero(np.bincount(codes, minlength=len(labels)))
    order = sorted(used.tolist(), key=lambda place: labels[place])
    rank = np.zeros(len(labels), dtype=_unsigned(len(order)))
    rank[order] = np.arange(len(order))
    return rank[codes], np.array([labels[place] for place in order], dtype=object)


def _integer_classes(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Class codes of whole numbers or booleans, without sorting when they lie close together."""
    plain = values.view(np.uint8) if values.dtype.kind == "b" else values
    if not len(plain):
        return _sorted_classes(values)
    low, high = _range_of(plain)
    if int(high) - int(low) >= WIDEST_RANGE or abs(int(low)) > 2**62:
        return _sorted_classes(values)
    present = _present(plain, int(low), int(high) - int(low) + 1)
    classes = (np.flatnonzero(present) + int(low)).astype(values.dtype)
    places = np.cumsum(present) - 1
    codes = np.empty(len(plain), dtype=_unsigned(len(classes)))
    _narrow(plain, int(low), places, codes)
    return codes, classes


def _sorted_classes(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    if values.dtype.kind == "O" and len({type(value) for value in values}) > 1:
        codes, labels = codes_of_labels(values)
        raise ValueError(f"y mixes labels of different types ({labels[:3]} …); make them all words or all numbers")
    if values.dtype.kind == "O":
        codes, labels = codes_of_labels(values)
        order = np.array(sorted(range(len(labels)), key=lambda place: labels[place]), dtype=np.int64)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        originals: dict[int, Any] = {}
        for code, value in zip(codes.tolist(), values.tolist(), strict=True):
            originals.setdefault(code, value)
        classes = np.array([originals[code] for code in order.tolist()], dtype=object)
        return rank[codes].astype(_unsigned(len(classes))), classes
    classes, codes = np.unique(values, return_inverse=True)
    return codes.astype(_unsigned(len(classes))), classes


def _unsigned(count: int) -> Any:
    return np.uint8 if count <= 256 else np.uint16 if count <= 65_536 else np.uint32


def _checked_weights(sample_weight: Any, rows: int) -> NDArray[np.float64] | None:
    """Frequency weights: finite, not negative, not all 0."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, int | float):
        sample_weight = np.full(rows, sample_weight)
    weights = np.ascontiguousarray(sample_weight, dtype=np.float64)
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got an array of shape {weights.shape}")
    if len(weights) != rows:
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected ({rows},): one weight per row")
    if not np.isfinite(weights).all():
        raise ValueError(
            "sample_weight holds NaN or infinite values; give every row a finite weight, 0 to leave it out"
        )
    if (weights < 0).any():
        raise ValueError(
            f"sample_weight holds a negative value ({weights.min():g}, row {int(weights.argmin())}); weights count rows and start at 0"
        )
    if not weights.any():
        raise ValueError("every sample_weight is zero: no rows are left to learn from")
    return weights


def encode_rows(source: Any, schema: Schema, named: bool | None, model: str) -> Encoded:
    """Open a source and encode it as the schema says, columns matched by name."""
    table = open_table(source)
    return encode(table, schema, find_columns(table, schema, named, model))
