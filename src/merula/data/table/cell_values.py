"""Cells as plain data: what is missing, what a label is, codes of labels and numbers, times as numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import InputError, Option

Codes = tuple[NDArray[Any], Sequence[Any]]
FEW = 256  # categories that are always cheap to look up
INSTANTS = (date, datetime, np.datetime64)
DURATIONS = (timedelta, np.timedelta64)
SECOND = 10**18  # attoseconds; years and months are as long as they are on average
ATTOSECONDS = {"Y": 31_556_952 * SECOND, "M": 2_629_746 * SECOND, "W": 604_800 * SECOND, "D": 86_400 * SECOND, "h": 3_600 * SECOND, "m": 60 * SECOND, "s": SECOND, "ms": 10**15, "us": 10**12, "ns": 10**9, "ps": 10**6, "fs": 1_000, "as": 1}  # fmt: skip


class NotALabelError(InputError, TypeError):
    """A cell is neither a word nor a number nor a time, such as a list; what expects a TypeError of that, as scikit-learn does, gets one."""


def is_missing(value: Any) -> bool:
    """True for None, NaN, NaT, pandas.NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating | np.datetime64 | np.timedelta64 | Decimal) and bool(value != value)


def plain_label(value: Any) -> Any:
    """A level as plain data: str, bool, int, float, or None for missing; anything else by its text."""
    if type(value) is str:
        return value
    if is_missing(value):
        return None
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64 | np.timedelta64):
        value = value.item()
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, dict | list | set):
        raise NotALabelError(f"a cell holds {value!r}", remedy="a cell must be a string or a number")
    return str(value)


def label_indices(labels: Iterable[Any], known: Iterable[Any], holds: str, lacks: str) -> NDArray[np.int64]:
    """Where each label stands among those known; a ValueError for the first that does not: ``{holds} class 'x', which {lacks}``."""
    where = {plain_label(label): place for place, label in enumerate(known)}
    found = [plain_label(label) for label in labels]
    stray = [label for label in found if label not in where]
    if stray:
        raise InputError(f"{holds} class {stray[0]!r}, which {lacks}")
    return np.array([where[label] for label in found], dtype=np.int64)


def label_array(levels: Sequence[Any]) -> NDArray[Any]:
    """Levels as an array: numbers as numbers, anything else as objects."""
    if not levels:
        return np.array([None], dtype=object)  # a column never observed stays empty
    kinds = {type(level) for level in levels}
    return np.array(levels) if kinds in ({int}, {float}, {bool}) else np.array(levels, dtype=object)


def narrowest(codes: NDArray[Any], largest: int) -> NDArray[Any]:
    """The codes in the smallest signed integer that holds `largest`, not copied if they are already."""
    width = next(kind for kind in (np.int8, np.int16, np.int32, np.int64) if largest <= np.iinfo(kind).max)
    return codes.astype(width, copy=False)


def widened(values: NDArray[Any]) -> NDArray[Any]:
    """The values themselves, unless they are floats of neither 4 nor 8 bytes: those as float64."""
    return values.astype(np.float64) if values.dtype.kind == "f" and values.dtype.itemsize not in (4, 8) else values


def codes_of_labels(values: Iterable[Any]) -> Codes:
    """Codes in order of first appearance of Python objects, −1 for missing."""
    values = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if set(map(type, values)) == {str}:
        words: dict[str, int] = {}
        codes = [words.setdefault(value, len(words)) for value in values]
        return narrowest(np.array(codes, dtype=np.int64), len(words)), list(words)
    seen: dict[Any, int] = {None: -1}
    found = [seen.setdefault(plain_label(value), len(seen) - 1) for value in values]
    return narrowest(np.array(found, dtype=np.int64), len(seen)), list(seen)[1:]


def worded_alike(codes: NDArray[Any], labels: Sequence[Any]) -> Codes:
    """The same column, numbers beside words written as words: 1 beside "x" is what "1" is, as in a file.

    Examples
    --------
    >>> codes, labels = worded_alike(np.array([0, 1, 2, 3]), [7, "7", 2.5, "unknown"])
    >>> codes.tolist(), labels
    ([0, 0, 1, 2], ['7', '2.5', 'unknown'])
    """
    kinds = set(map(type, labels))
    if str not in kinds or not kinds & {int, float}:
        return codes, labels
    return distinct_labels(codes, [written(label) if type(label) in (int, float) else label for label in labels])


def written(number: float) -> str:
    """A number as files have it: a whole one without a fraction.

    Examples
    --------
    >>> written(3.0), written(0.1), written(12)
    ('3', '0.1', '12')
    """
    whole = isinstance(number, int) or number.is_integer()
    return str(int(number)) if whole else repr(number)


def distinct_labels(codes: NDArray[Any], labels: Sequence[Any]) -> Codes:
    """The same column with every label once and none for missing: a dictionary may list an entry twice, or null."""
    if len(set(labels)) == len(labels) and None not in labels:
        return codes, labels
    indices: dict[Any, int] = {None: -1}
    moved = [indices.setdefault(label, len(indices) - 1) for label in labels]
    return narrowest(np.array([*moved, -1])[codes], len(indices)), list(indices)[1:]


def codes_of_numbers(values: NDArray[Any]) -> Codes:
    """Codes of the distinct numbers in an array, −1 for NaN."""
    if values.dtype.kind == "f":
        known = ~np.isnan(values)
        labels, inverse = np.unique(values[known], return_inverse=True)
        codes = np.full(len(values), -1, dtype=np.int64)
        codes[known] = inverse
    else:
        labels, codes = np.unique(values, return_inverse=True)
    return narrowest(codes, len(labels)), [plain_label(label) for label in labels.tolist()]


def time_numbers(values: NDArray[Any], unit: str | None) -> NDArray[np.float64]:
    """datetime64 or timedelta64 as a count of `unit`, NaN for NaT."""
    if unit is None or not unit.startswith(values.dtype.name.partition("[")[0]):
        raise InputError(
            f"holds {values.dtype} where the model was fitted on {unit or 'plain numbers'}", got=values.dtype
        )
    if {np.datetime_data(values.dtype)[0], np.datetime_data(np.dtype(unit))[0]} & {"Y", "M"}:
        values = _cast(values, unit)  # years and months differ in length
    # counted as floats: an instant beyond the range of `unit` is far away, not wrapped around
    numbers = values.astype(np.int64).astype(np.float64) * times_longer(values.dtype.name, unit)
    numbers[np.isnat(values)] = np.nan
    return numbers


def _cast(values: NDArray[Any], unit: str) -> NDArray[Any]:
    try:
        return values.astype(unit)
    except OverflowError:
        raise InputError(f"holds {values.dtype}, which is too far from the model's {unit}", got=values.dtype) from None


def times_longer(unit: str, other: str) -> float:
    """How many times longer a unit of times is than another; NumPy's own division overflows where they are far apart.

    Examples
    --------
    >>> times_longer("datetime64[D]", "datetime64[as]"), times_longer("timedelta64[ms]", "timedelta64[s]")
    (8.64e+22, 0.001)
    """
    (here, count), (there, many) = np.datetime_data(np.dtype(unit)), np.datetime_data(np.dtype(other))
    return 1.0 if here == there and count == many else ATTOSECONDS[here] * count / (ATTOSECONDS[there] * many)


def as_times(values: NDArray[np.float64], unit: str) -> NDArray[Any]:
    """Numbers as the times of this unit that they count, NaN as NaT."""
    whole = np.where(np.isnan(values), np.iinfo(np.int64).min, np.nan_to_num(np.round(values)))
    return whole.astype(np.int64).view(unit)


def object_kind(values: Iterable[Any], name: str) -> tuple[str, str | None]:
    """Kind and unit of a column of Python objects: numeric if all are numbers, datetime if all are times, else categorical."""
    present = [value for value in values if not is_missing(value)]
    if not present:
        return "empty", None
    for times, unit in ((INSTANTS, "datetime64[us]"), (DURATIONS, "timedelta64[us]")):
        if all(isinstance(value, times) for value in present):
            return "datetime", unit
    if all(isinstance(value, Real | Decimal) and not isinstance(value, bool | np.bool_) for value in present):
        return "numeric", None
    for value in present:
        if isinstance(value, (dict, list, set, np.ndarray, complex, np.complexfloating, *INSTANTS, *DURATIONS)):
            raise NotALabelError.at(f"column {name!r}", f"holds {value!r}", remedy="its argument must be a string or a number in every cell")  # fmt: skip
    return "categorical", None


def object_numbers(values: Iterable[Any], name: str, unit: str | None) -> NDArray[np.float64]:
    """Python objects as numbers (or times as a count of `unit`), NaN for missing."""
    try:
        if unit is not None:
            times = [np.datetime64("NaT") if is_missing(value) else _without_zone(value, unit) for value in values]
            return time_numbers(np.array(times, dtype=unit.partition("[")[0] + "[us]"), unit)
        return np.array([np.nan if is_missing(value) else float(value) for value in values], dtype=np.float64)
    except (TypeError, ValueError) as error:
        expected, advice = (
            (f"a {unit.partition('[')[0]}", "convert it")
            if unit
            else (
                "numeric",
                (
                    "make it a number or leave the cell empty, or at fit say ",
                    Option("kinds", "categorical", column=name),
                ),
            )
        )
        raise InputError.at(
            f"column {name!r}", f"is {expected} but holds something else ({error})", remedy=advice
        ) from None


def _without_zone(value: Any, unit: str) -> Any:
    """A time as NumPy takes it: instants in UTC without saying so."""
    if not isinstance(value, INSTANTS if unit.startswith("datetime") else DURATIONS):
        raise InputError(f"{value!r} is no {unit.partition('[')[0]}")
    return value.astimezone(UTC).replace(tzinfo=None) if isinstance(value, datetime) and value.tzinfo else value


def checked_shape(table: Any) -> Any:
    """The table, unless it is empty."""
    rows, columns = table.shape
    if columns == 0:
        raise InputError(
            f"Found array with 0 feature(s) (shape=({rows}, 0)) while a minimum of 1 is required: the table has no columns"
        )
    if rows == 0:
        raise InputError(
            f"Found array with 0 sample(s) (shape=(0, {columns})) while a minimum of 1 is required: the table has no rows"
        )
    return table
