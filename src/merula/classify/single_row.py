"""One row, however it is written, and tables made of such rows: what explanations and questions are asked about."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from merula.core.checks import one_of
from merula.data.encode import encode_rows
from merula.data.schema import Column, Label
from merula.data.table import as_times, build_frame, object_numbers, plain_label
from merula.distributions.discretize import assign, interval_labels

if TYPE_CHECKING:
    from merula.classify.base import BayesianClassifier

DURATIONS = {
    "days": np.timedelta64(1, "D"),
    "hours": np.timedelta64(1, "h"),
    "minutes": np.timedelta64(1, "m"),
    "seconds": np.timedelta64(1, "s"),
    "milliseconds": np.timedelta64(1, "ms"),
    "microseconds": np.timedelta64(1, "us"),
    "nanoseconds": np.timedelta64(1, "ns"),
}
NO_TIME, NO_FRACTION = re.compile(r"T00:00:00(\.0+)?$"), re.compile(r"(?<=:\d\d)\.0+$")


def read_row(model: BayesianClassifier, row: Any) -> dict[str, Label]:
    """{column: value} of one row, None where it is unknown; times as the numbers they count in.

    `row` is a mapping (columns it does not name are unknown), a pandas Series, a sequence of values in the columns' order,
    or a table of one row.
    """
    names = model.schema_.names
    if hasattr(row, "index") and hasattr(row, "to_dict") and not hasattr(row, "columns"):
        row = _from_series(row, names)
    if isinstance(row, Mapping):
        for name in row:
            one_of(name, names, "a column of the row")
        row = table_of(model, {name: [row.get(name)] for name in names})
    elif not hasattr(row, "columns") and not hasattr(row, "column_names"):
        row = _from_sequence(model, row)
    rows = encode_rows(row, model.schema_, model._plan.named, type(model).__name__)
    if len(rows) != 1:
        raise ValueError(f"got a table of {len(rows)} rows, expected one row")
    return {
        column.name: None if column.kind == "ignore" else plain_label(rows.cell(column.name))
        for column in model.schema_.columns
    }


def _from_series(row: Any, names: tuple[str, ...]) -> Any:
    """A pandas Series by the names of its index, those of no column left out; by position if they are numbers."""
    known = {name: value for name, value in row.to_dict().items() if name in names}
    return known if known or any(isinstance(name, str) for name in row.index) else row.tolist()


def _from_sequence(model: BayesianClassifier, row: Any) -> Any:
    """The table of a sequence of values, or of an array with one row."""
    names = model.schema_.names
    if isinstance(row, str | bytes) or not hasattr(row, "__len__"):
        raise ValueError(f"the row is {row!r}, expected {{column: value}} or one value for each column: {list(names)}")
    values = list(row[0]) if len(row) == 1 and isinstance(row[0], list | tuple | np.ndarray) else list(row)
    if len(values) != len(names):
        raise ValueError(f"the row has {len(values)} values, expected one for each column: {list(names)}")
    return table_of(model, {name: [value] for name, value in zip(names, values, strict=True)})


def table_of(model: BayesianClassifier, values: Mapping[str, Any]) -> Any:
    """A table like those the model was fitted on, from the values of each column."""
    arrays = {column.name: _array(column, values[column.name]) for column in model.schema_.columns}
    return build_frame(arrays, "numpy" if not model._plan.named else model._plan.library)


def _array(column: Column, values: Any) -> NDArray[Any]:
    """One column's values as an array of its kind; numbers in a column of times count in its unit."""
    if column.kind in ("categorical", "text", "ignore"):
        array = np.empty(len(values), dtype=object)
        array[:] = list(values)
        return array
    if column.unit is None:
        return object_numbers(values, column.name, None)
    counts = [
        value
        if isinstance(value, int | float)
        else object_numbers([_parsed(value, column.unit)], column.name, column.unit)[0]
        for value in values
    ]
    return as_times(np.array(counts, dtype=np.float64), column.unit)


def _parsed(value: Any, unit: str) -> Any:
    """A word that names a time as that time; anything else as it is."""
    return np.array(value, dtype=unit)[()] if isinstance(value, str) else value


def interval_of(column: Column, value: float) -> str:
    """The interval between a column's cuts in which a value lies, as a person reads it."""
    cuts = column.cuts or ()
    index = int(assign([value], cuts)[0])
    if column.unit is None:
        return interval_labels(cuts)[index]
    low, high = (shown(column, cuts[k]) if 0 <= k < len(cuts) else "" for k in (index - 1, index))
    return f"({low}, {high}]" if low and high else f"≤ {high}" if high else f"> {low}"


def shown(column: Column, value: Label) -> str:
    """A cell as a person reads it."""
    if value is None:
        return "missing"
    if column.unit is not None:
        text = str(as_times(np.array([value], dtype=np.float64), column.unit)[0])
        return NO_FRACTION.sub("", NO_TIME.sub("", text)).replace("T", " ")
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def duration_unit(column: Column, spread: float) -> tuple[str, float]:
    """The largest unit in which durations that differ by `spread` differ by more than 1, and how many of the column's own it has.

    A column that holds no durations counts in no unit: ("", 1).

    Examples
    --------
    >>> duration_unit(Column("waited", "datetime", unit="timedelta64[ms]"), 90_000.0)
    ('minutes', 60000.0)
    """
    if column.unit is None or not column.unit.startswith("timedelta"):
        return "", 1.0
    one = np.ones(1, dtype=column.unit)[0]
    sizes = [(name, float(step / one)) for name, step in DURATIONS.items()]
    return next((pair for pair in sizes if pair[1] <= spread), sizes[-1])
