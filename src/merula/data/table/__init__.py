"""Open what users hold: NumPy, pandas, polars, pyarrow → one matrix or named columns, read in place.

The only package that knows a table library. A column is asked for in two ways: `numbers` (an array with NaN for
missing) and `codes` (the source's own integer codes, −1 for missing, with the label of each code).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from merula.core import InputError
from merula.data.table.cell_values import (
    FEW,
    as_times,
    checked_shape,
    codes_of_labels,
    codes_of_numbers,
    distinct_labels,
    is_missing,
    label_array,
    label_indices,
    narrowest,
    object_numbers,
    plain_label,
    time_numbers,
    times_longer,
)
from merula.data.table.codes import codes_of_words
from merula.data.table.file_options import NOTHING_STATED, FileOptions
from merula.data.table.frame import FrameTable, RowSource, build_frame, open_frame, open_rows
from merula.data.table.matrix import DENSE_NEEDED, MatrixTable, SparseTable, counts_table, open_matrix
from merula.data.table.read import read_file, read_table

Table = MatrixTable | FrameTable | SparseTable

__all__ = [
    "DENSE_NEEDED",
    "FEW",
    "NOTHING_STATED",
    "FileOptions",
    "FrameTable",
    "MatrixTable",
    "RowSource",
    "SparseTable",
    "Table",
    "as_times",
    "build_frame",
    "codes_of_labels",
    "codes_of_numbers",
    "codes_of_words",
    "counts_table",
    "distinct_labels",
    "is_missing",
    "label_array",
    "label_indices",
    "narrowest",
    "object_numbers",
    "open_rows",
    "open_table",
    "open_words",
    "plain_label",
    "read_file",
    "read_table",
    "time_numbers",
    "times_longer",
]


def open_table(source: Any) -> Table:
    """The table behind an array or a data frame, without copying it.

    Examples
    --------
    >>> import numpy as np
    >>> open_table(np.eye(3)).names
    ('x0', 'x1', 'x2')
    """
    if isinstance(source, MatrixTable | FrameTable | SparseTable):
        return source
    if isinstance(source, np.ndarray):
        return open_matrix(source)
    if hasattr(source, "toarray") and hasattr(source, "nnz"):
        return SparseTable(checked_shape(source.tocsr()))
    if hasattr(source, "collect_schema") and hasattr(source, "collect"):
        raise TypeError(f"X is a {type(source).__name__}, whose rows are not in memory; collect it first: X.collect()")
    if isinstance(source, list | tuple) or not (hasattr(source, "columns") or hasattr(source, "column_names")):
        _refuse_no_table(source)
        array = np.asarray(source)
        return open_matrix(np.array(source, dtype=object) if array.dtype.kind in "US" else array)
    return open_frame(source)


def open_words(source: Any, coded_words: frozenset[str]) -> Table:
    """The table behind a data frame whose reader holds the words of these columns as codes."""
    return replace(open_frame(source), coded_words=coded_words)


def _refuse_no_table(source: Any) -> None:
    """An error that says what to do with what is often given for a table, but is none."""
    if isinstance(source, str | PathLike):
        raise InputError.of("X", source, "a table", f"read the file first: merula.read_table({str(source)!r})")
    if source is None:
        raise InputError.at("X", "is None", expected="a table")
    rows = source if isinstance(source, list | tuple) else [source]
    if any(isinstance(row, Mapping) for row in rows[:1]):
        raise InputError.at(
            "X", "is a dict or a list of them", expected="a table", remedy="make it one: pandas.DataFrame(rows)"
        )
    widths = [len(row) for row in rows if isinstance(row, list | tuple)]
    row = next((number for number, width in enumerate(widths) if width != widths[0]), None)
    if row is not None:
        raise InputError.at(
            "X", f"is ragged: row {row} has {widths[row]} cells, row 0 has {widths[0]}", remedy="give every row as many"
        )
