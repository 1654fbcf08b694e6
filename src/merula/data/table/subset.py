"""Rows taken out of whatever table the user holds, as a table of the same kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.data.table.frame import FrameTable

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RowSource:
    """A table as the number of its rows and a way to take some of them."""

    count: int
    take: Callable[[Rows], Any]


def open_rows(X: Any) -> RowSource:
    """The rows of an array, a list, a data frame (opened already or not) or a sparse matrix; missing cells stay as they are."""
    import narwhals as nw

    if hasattr(X, "tocsr"):
        matrix = X.tocsr()
        return RowSource(matrix.shape[0], lambda rows: matrix[rows])
    try:
        frame = X.frame if isinstance(X, FrameTable) else nw.from_native(X, allow_series=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"a column name stands more than once ({' '.join(str(error).split())}); give every column its own") from None  # fmt: skip
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(f"X is a {type(X).__name__}, whose rows are not in memory; collect it first")
    if isinstance(frame, nw.DataFrame | nw.Series):
        return RowSource(len(frame), lambda rows: frame[rows].to_native())
    if isinstance(X, list | tuple):
        return RowSource(len(X), lambda rows: [X[row] for row in rows.tolist()])
    if not hasattr(X, "__getitem__") or not hasattr(X, "shape"):
        raise TypeError(f"X is {X!r}, expected an array, a list of rows, a data frame or a sparse matrix")
    return RowSource(X.shape[0], lambda rows: X[rows])
