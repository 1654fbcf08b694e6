"""One row, however it is written, and tables made of such rows: what explanations and questions are asked about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from merula.encode import encode_rows
from merula.schema import Column, Label, one_of
from merula.table import build_frame, plain_label

if TYPE_CHECKING:
    from merula.classify.base import BayesianClassifier


def read_row(model: BayesianClassifier, row: Any) -> dict[str, Label]:
    """{column: value} of one row, None where it is unknown; times as the numbers they count in.

    `row` is a mapping (columns it does not name are unknown), a pandas Series, a sequence of values in the columns' order,
    or a table of one row.
    """
    names = model.schema_.names
    if hasattr(row, "index") and hasattr(row, "to_dict") and not hasattr(row, "columns"):
        row = {name: value for name, value in row.to_dict().items() if name in names}
    if isinstance(row, Mapping):
        for name in row:
            one_of(name, names, "a column of the row")
        row = table_of(model, {name: [plain_label(row.get(name))] for name in names})
    elif not hasattr(row, "columns") and not hasattr(row, "column_names"):
        row = _from_sequence(model, row)
    rows = encode_rows(row, model.schema_, model._plan.named, type(model).__name__)
    if len(rows) != 1:
        raise ValueError(f"got a table of {len(rows)} rows, expected one row")
    return {
        column.name: None if column.kind == "ignore" else plain_label(rows.cell(column.name))
        for column in model.schema_.columns
    }


def _from_sequence(model: BayesianClassifier, row: Any) -> Any:
    """The table of a sequence of values, or of an array with one row."""
    names = model.schema_.names
    values = list(row[0]) if np.ndim(np.asarray(row, dtype=object)) == 2 and len(row) == 1 else list(row)
    if len(values) != len(names):
        raise ValueError(f"the row has {len(values)} values, expected one for each column: {list(names)}")
    return table_of(model, {name: [plain_label(value)] for name, value in zip(names, values, strict=True)})


def table_of(model: BayesianClassifier, values: Mapping[str, Any]) -> Any:
    """A table like those the model was fitted on, from the values of each column."""
    arrays = {column.name: _array(column, values[column.name]) for column in model.schema_.columns}
    return build_frame(arrays, "numpy" if not model._plan.named else model._plan.library)


def _array(column: Column, values: Any) -> NDArray[Any]:
    """One column's values as an array of its kind."""
    if column.kind in ("categorical", "text", "ignore"):
        array = np.empty(len(values), dtype=object)
        array[:] = list(values)
        return array
    if column.unit is None:
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return np.array([as_time(value, column.unit) for value in values], dtype=column.unit)


def as_time(value: Any, unit: str) -> Any:
    """A time of this unit; numbers count in it."""
    if value is None:
        return np.array("NaT", dtype=unit)[()]
    return np.array(round(value) if isinstance(value, int | float) else value, dtype=unit)[()]


def shown(column: Column, value: Label) -> str:
    """A cell as a person reads it."""
    if value is None:
        return "missing"
    if column.unit is not None:
        return str(as_time(value, column.unit)).removesuffix("T00:00:00.000").replace("T", " ")
    return f"{value:.6g}" if isinstance(value, float) else str(value)
