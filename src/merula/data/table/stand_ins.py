"""Numbers that people write where there is none: 9999 among ages, far beyond all of them, in several rows."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from merula.data.table.file_options import STAND_INS, FileOptions

NINES = np.array([sign * int("9" * digits) for digits in range(3, 10) for sign in (1, -1)], dtype=np.float64)
BEYOND = 5.0  # ranges of all other numbers
FEWEST, TWICE = 10, 2  # other numbers; rows with the same nines


def with_stand_ins(table: Any, options: FileOptions) -> Any:
    """The pyarrow table, marked with the numbers of its columns that stand for none: whoever learns from it takes them for missing.

    Nothing is changed: new rows are read as those that were learned from, whatever stands beside them.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"age": [*range(30, 50), 9999, 9999]})
    >>> with_stand_ins(table, FileOptions()).schema.metadata[STAND_INS]
    b'{"age": ["9999"]}'
    """
    found = {name: words for name in table.column_names if (words := _stand_ins(table[name], options))}
    if not found:
        return table
    held = table.schema.metadata or {}
    return table.replace_schema_metadata({**held, STAND_INS: json.dumps(found, ensure_ascii=False).encode()})


def noted(table: Any, options: FileOptions) -> Any:
    """The pyarrow table of a file, with what was stated of it and what its numbers tell in the schema's metadata."""
    return options.noted_in(with_stand_ins(table, options))


def _stand_ins(column: Any, options: FileOptions) -> list[str]:
    """The nines of a column that lie several ranges of all other numbers beyond them, each in several rows."""
    import pyarrow as pa

    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return []
    if not _ends_in_nines(column):
        return []
    known = column.drop_null().to_numpy().astype(np.float64)
    nines = np.isin(known, NINES)
    others = known[~nines & np.isfinite(known)]
    if len(others) < FEWEST:
        return []
    low, high = others.min(), others.max()
    values, counts = np.unique(known[nines], return_counts=True)
    far = np.maximum(low - values, values - high) > BEYOND * (high - low)
    words = [f"{value:.0f}" for value in values[far & (counts >= TWICE)]]
    return [word for word in words if word not in options.keep]


def _ends_in_nines(column: Any) -> bool:
    """Whether the least or the largest number is one of the nines, or none that tells: what lies beyond all others stands there, in whatever row."""
    chunks = [chunk.to_numpy() for chunk in column.drop_null().chunks if len(chunk)]
    ends = np.array([end for numbers in chunks for end in (numbers.min(), numbers.max())], dtype=np.float64)
    if not len(ends):
        return False
    extremes = np.array([ends.min(), ends.max()])
    return bool(np.isin(extremes, NINES).any()) or not bool(np.isfinite(extremes).all())
