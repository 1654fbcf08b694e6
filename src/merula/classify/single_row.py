"""One row, however it is written: read once, encoded, and its cells as a person reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from merula.core import InputError, one_of
from merula.data.encode import Encoded, encode_cells, encode_rows, is_counted
from merula.data.schema import Label
from merula.data.table import plain_label

if TYPE_CHECKING:
    from merula.classify.base import BayesianClassifier


def encode_row(model: BayesianClassifier, row: Any) -> Encoded:
    """One row, encoded as the model reads it.

    `row` is a mapping (columns it does not name are unknown), a pandas Series, a sequence of values in the columns' order,
    a table of one row, or one that is encoded already.
    """
    if isinstance(row, Encoded):
        return row
    names = model.schema_.names
    if is_counted(model.schema_):
        return _counted_row(model, row)
    if hasattr(row, "index") and hasattr(row, "to_dict") and not hasattr(row, "columns"):
        row = _from_series(row, names)
    if not hasattr(row, "columns") and not hasattr(row, "column_names"):
        cells = row if isinstance(row, Mapping) else _from_sequence(row, names)
        for name in cells:
            one_of(name, names, "a column of the row")
        return encode_cells(model.schema_, {name: [value] for name, value in cells.items()}, 1)
    return _one(encode_rows(row, model.schema_, model.fitted_.plan.named, type(model).__name__))


def _counted_row(model: BayesianClassifier, row: Any) -> Encoded:
    """One row of a matrix of counted words: {word: count} where the words have names, or one count for each."""
    if isinstance(row, Mapping):
        words = model.schema_.columns[0].levels or ()
        for word in row:
            one_of(word, words, "a word of the row")
        row = [[row.get(word, 0) for word in words]]
    elif not hasattr(row, "columns") and not hasattr(row, "column_names") and not hasattr(row, "nnz"):
        row = np.atleast_2d(row)
    named = None if isinstance(row, list | np.ndarray) else model.fitted_.plan.named
    return _one(encode_rows(row, model.schema_, named, type(model).__name__))


def _one(rows: Encoded) -> Encoded:
    if len(rows) != 1:
        raise InputError(f"got a table of {len(rows)} rows", expected="one row")
    return rows


def cells_of(model: BayesianClassifier, row: Encoded) -> dict[str, Label]:
    """{column: value} of an encoded row, None where it is unknown; times as the numbers they count in."""
    return {
        column.name: None if column.kind == "ignore" else plain_label(row.cell(column.name))
        for column in model.schema_.columns
    }


def _from_series(row: Any, names: tuple[str, ...]) -> Any:
    """A pandas Series by the names of its index, those of no column left out; by position if they are numbers."""
    known = {name: value for name, value in row.to_dict().items() if name in names}
    return known if known or any(isinstance(name, str) for name in row.index) else row.tolist()


def _from_sequence(row: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """The cells of a sequence of values, or of an array with one row."""
    if isinstance(row, str | bytes) or not hasattr(row, "__len__"):
        raise InputError(
            f"the row is {row!r}", expected=f"{{column: value}} or one value for each column: {list(names)}"
        )
    values = list(row[0]) if len(row) == 1 and isinstance(row[0], list | tuple | np.ndarray) else list(row)
    if len(values) != len(names):
        raise InputError(f"the row has {len(values)} values", expected=f"one for each column: {list(names)}")
    return dict(zip(names, values, strict=True))
