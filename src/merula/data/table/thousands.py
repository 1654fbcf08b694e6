"""Whole numbers with a point between thousands, 1.005 beside 997, which anybody's reader takes for one and a bit."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from merula.core import Option, warn_user
from merula.core.arrays import Array
from merula.data.words.cleaning import is_gap
from merula.data.words.numbers import GROUPED, are_thousands

LOOKED_AT = 1_000  # rows, that tell of most columns that they are something else
FEWEST = 3  # numbers with a point
FEWEST_WHOLE = 0.02  # of the numbers
MOST_ROUND = 0.9  # of those with a point whose third figure behind it is a zero: by chance a tenth, of prices all
NONE_OTHER = re.compile(r"[-+−]?(?:[1-9]\d{0,2}(?:\.\d{3})+|0|[1-9]\d{0,2})")


def may_hold_thousands(column: Any, semicolons: bool, round_ones: bool = False) -> bool:
    """Whether the numbers of a column may be thousands that were read as fractions: three figures behind the point, none below one.

    Some numbers must be whole, unless `semicolons` part the cells: who writes these writes points between thousands. Where
    nearly all are so round that they have two figures behind the point, as prices have, `round_ones` says whether they may be.

    Examples
    --------
    >>> import pyarrow as pa
    >>> may_hold_thousands(pa.chunked_array([[997.0, 1.005, 912.0, 12.3, 2.017]]), False)
    True
    >>> may_hold_thousands(pa.chunked_array([[1.5, 2.25, 3.0]]), True), may_hold_thousands(pa.chunked_array([[0.125, 0.25, 0.3]]), True)
    (False, False)
    """
    import pyarrow as pa

    if not pa.types.is_floating(column.type):
        return False
    return all(
        _fits(rows.drop_null().to_numpy(), semicolons, round_ones) for rows in (column.slice(0, LOOKED_AT), column)
    )


def _fits(values: Array, semicolons: bool, round_ones: bool) -> bool:
    values = np.abs(values[np.isfinite(values)])
    broken = values[values % 1 != 0]
    if len(broken) < FEWEST or not (broken.min() > 1 and values.max() < 1000):
        return False
    whole = len(values) - len(broken)
    return (
        (semicolons or whole >= FEWEST_WHOLE * len(values))
        and bool((_behind(broken, 3) < 1e-6).all())
        and (round_ones or float((_behind(broken, 2) < 1e-6).mean()) <= MOST_ROUND)
    )


def _behind(values: Array, figures: int) -> Array:
    """How far numbers are from those with so many figures behind the point."""
    scaled = values * 10.0**figures
    found: Array = np.abs(scaled - np.round(scaled))
    return found


def with_thousands(table: Any, semicolons: bool, written: Callable[[list[str], bool], Any]) -> Any:
    """The table; columns of thousands with points are the words that they are `written` as, for who understands words.

    How some of the first cells are written is asked for before all are. Where all have a point, nothing tells thousands from
    fractions: they stay numbers, with a note.
    """
    names = [name for name in table.column_names if may_hold_thousands(table[name], semicolons, round_ones=True)]
    some = written(names, True) if names else table
    names = [name for name in names if all(map(NONE_OTHER.fullmatch, _cells(some[name])))]
    words = written(names, False) if names else table
    for name in names:
        cells = _cells(words[name])
        digits = [cell.lstrip("+-−") for cell in cells]
        if are_thousands(digits):
            table = table.set_column(table.column_names.index(name), name, words[name])
        elif semicolons and all(map(GROUPED.fullmatch, digits)):
            warn_user((f"column {name!r} holds numbers such as {cells[0]}, read with a decimal point; ", Option("decimal", ","), " reads it as the sign between thousands"), UserWarning)  # fmt: skip
    return table


def _cells(column: Any) -> list[str]:
    """The different words of a column that do not mean that nothing is there."""
    return [word for word in column.unique().to_pylist() if word and not is_gap(word)]
