"""Months such as 01.2022, which anybody's reader takes for one and a bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from merula.core.arrays import Array
from merula.data.words.cleaning import is_gap
from merula.data.words.times import FEWEST_MONTHS, are_months

LOOKED_AT = 1_000  # rows, that tell of most columns that they are something else
YEARS = (1800, 2199)


def may_hold_months(column: Any) -> bool:
    """Whether the numbers of a column may be months that were read as fractions: 1 to 12, and a year behind the point.

    Examples
    --------
    >>> import pyarrow as pa
    >>> may_hold_months(pa.chunked_array([[1.2022, 2.2022, 10.2022, None]]))
    True
    >>> may_hold_months(pa.chunked_array([[1.1985, 1.2014, 1.2022]])), may_hold_months(pa.chunked_array([[1.5, 2.5, 3.5]]))
    (False, False)
    """
    import pyarrow as pa

    if not pa.types.is_floating(column.type):
        return False
    return all(_are_months(rows.drop_null().to_numpy()) for rows in (column.slice(0, LOOKED_AT), column))


def _are_months(values: Array) -> bool:
    if not np.isfinite(values).all():
        return False
    months = np.floor(values)
    years = (values - months) * 1e4
    inside = (months >= 1) & (months <= 12) & (np.abs(years - np.round(years)) < 1e-6)
    inside &= (np.round(years) >= YEARS[0]) & (np.round(years) <= YEARS[1])
    return bool(inside.all()) and len(np.unique(months)) >= FEWEST_MONTHS


def with_months(table: Any, written: Callable[[list[str], bool], Any]) -> Any:
    """The table; columns of months with a point are the words that they are `written` as, for who understands words."""
    names = [name for name in table.column_names if may_hold_months(table[name])]
    words = written(names, False) if names else table
    for name in names:
        if are_months([word for word in words[name].unique().to_pylist() if word and not is_gap(word)]):
            table = table.set_column(table.column_names.index(name), name, words[name])
    return table
