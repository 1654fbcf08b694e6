"""Columns of any library as pyarrow's, those of Python objects too, of which pyarrow takes only some."""

from __future__ import annotations

from numbers import Real
from typing import Any

from merula.core import InputError
from merula.data.table.cell_values import is_missing, plain_label


def in_arrow(frame: Any) -> Any:
    """A data frame as a pyarrow table; an `InputError` that names a column which holds several things."""
    import pyarrow as pa

    try:
        return frame.to_arrow()
    except (OverflowError, pa.ArrowException):
        return pa.table({name: cells_in_arrow(frame[name], name) for name in frame.columns})


def cells_in_arrow(series: Any, name: str, in_words: bool = False) -> Any:
    """One column in pyarrow: numbers beyond 64 bits as floats, several things as words where that will do, else an error.

    Examples
    --------
    >>> import narwhals as nw, pandas as pd
    >>> cells_in_arrow(nw.from_native(pd.Series([2**70, None], dtype=object), series_only=True), "count").to_pylist()
    [1.1805916207174113e+21, None]
    """
    import pyarrow as pa

    try:
        return series.to_arrow()
    except (OverflowError, pa.ArrowException):
        cells = [None if is_missing(cell) else cell for cell in series.to_list()]
    if all(cell is None or (isinstance(cell, Real) and not isinstance(cell, bool)) for cell in cells):
        return pa.array([None if cell is None else float(cell) for cell in cells], pa.float64())
    if not in_words:
        types = sorted({type(cell).__name__ for cell in cells if cell is not None})
        raise InputError.at(f"column {name!r}", f"holds cells of several types ({', '.join(types)})", remedy="make them all words or all numbers")  # fmt: skip
    return pa.array([None if cell is None else str(plain_label(cell)) for cell in cells], pa.string())
