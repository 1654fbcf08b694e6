"""Cells given as Python values → encoded rows, with no table between: one row, and rows that differ from it in one column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.data.encode.encoded import Coded, Encoded
from merula.data.encode.tokens import tokenise
from merula.data.schema import Column, Schema
from merula.data.table import codes_of_labels, is_missing, object_numbers, plain_label

Cells = Sequence[Any] | NDArray[Any]


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
        codes, labels = codes_of_labels(values)
        return "coded", Coded(codes, [None, *labels], -1)
    return "numeric", _numbers(column, values)


def _numbers(column: Column, values: Cells) -> NDArray[np.float64]:
    """Numbers, NaN for missing; in a column of times they count in its unit, and words name times."""
    unit = column.unit
    if isinstance(values, np.ndarray) and values.dtype == np.float64:
        return values
    if unit is None:
        return object_numbers(values, column.name, None)
    times = [np.array(value, dtype=unit)[()] if isinstance(value, str) else value for value in values]
    counts = [time if isinstance(time, int | float) else object_numbers([time], column.name, unit)[0] for time in times]
    return np.array(counts, dtype=np.float64)
