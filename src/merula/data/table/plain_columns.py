"""Columns of types that one library has and no other, as the plain columns that say the same: periods, intervals, sparse numbers, times of day."""

from __future__ import annotations

from typing import Any

import numpy as np

from merula.data.table.times_of_day import in_whole_seconds


def plain_column(column: Any, library: str) -> Any:
    """The column itself, or one of plain numbers, instants or words that says the same.

    Periods are the instants at which they begin, as months are in files; intervals are words; what is sparse or told by the
    lengths of its runs is written out; times of day are seconds since midnight; days told in milliseconds are days; whole numbers of 128 bits are floats.

    Examples
    --------
    >>> import pandas as pd
    >>> plain_column(pd.Series(pd.period_range("2024-01", periods=2, freq="M")), "pandas").dt.day.tolist()
    [1, 1]
    >>> import pyarrow as pa
    >>> plain_column(pa.chunked_array([pa.RunEndEncodedArray.from_arrays([2, 3], ["red", "blue"])]), "pyarrow").to_pylist()
    ['red', 'red', 'blue']
    """
    plainly = {"pandas": _of_pandas, "polars": _of_polars, "pyarrow": _of_arrow}.get(library)
    return column if plainly is None else plainly(column)


def holds_times_of_day(dtype: Any) -> bool:
    """Whether a type of polars or pyarrow, or of pyarrow within pandas, is one of times of day."""
    name = str(dtype)
    return name == "Time" or name.startswith(("time32[", "time64["))


def _of_pandas(column: Any) -> Any:
    dtype = column.dtype
    if isinstance(dtype, np.dtype):
        return column
    kind = type(dtype).__name__
    if kind == "SparseDtype":
        return column.sparse.to_dense()
    if kind == "PeriodDtype":
        return column.dt.to_timestamp()
    if kind == "IntervalDtype":
        return column.astype(object).map(str, na_action="ignore")
    if kind == "ArrowDtype" and holds_times_of_day(dtype):
        import pandas as pd

        seconds = in_whole_seconds(column.array.__arrow_array__()).to_pandas()
        return pd.Series(seconds.to_numpy(), index=column.index, name=column.name)
    return column


def _of_polars(column: Any) -> Any:
    wide = str(column.dtype) in ("Int128", "UInt128")  # which NumPy has not
    if not (wide or holds_times_of_day(column.dtype)):
        return column
    import polars as pl

    if wide:
        return column.cast(pl.Float64)
    return pl.from_arrow(in_whole_seconds(column.to_arrow())).alias(column.name)


def _of_arrow(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_run_end_encoded(column.type):
        return pa.chunked_array([pc.run_end_decode(chunk) for chunk in column.chunks], column.type.value_type)
    if pa.types.is_date64(column.type):
        return column.cast(pa.date32())
    return in_whole_seconds(column) if holds_times_of_day(column.type) else column
