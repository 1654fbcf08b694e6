"""Times of day, which are numbers: seconds since midnight."""

from __future__ import annotations

import json
from typing import Any

OF_THE_DAY = b"merula times of day"  # the key of a schema's metadata under which their columns are named


def in_seconds(table: Any) -> Any:
    """The pyarrow table with its times of day as seconds since midnight, marked with their columns.

    Examples
    --------
    >>> import datetime
    >>> import pyarrow as pa
    >>> in_seconds(pa.table({"arrival": [datetime.time(0, 1, 5), None]}))["arrival"].to_pylist()
    [65, None]
    """
    import pyarrow as pa

    named = [field.name for field in table.schema if pa.types.is_time(field.type)]
    for index, kind in enumerate(table.schema.types):
        if pa.types.is_time(kind):
            table = table.set_column(index, table.column_names[index], in_whole_seconds(table.column(index)))
    if not named:
        return table
    held = table.schema.metadata or {}
    return table.replace_schema_metadata({**held, OF_THE_DAY: json.dumps(named, ensure_ascii=False).encode()})


def in_whole_seconds(times: Any) -> Any:
    """Seconds since midnight as whole numbers, unless some have a fraction."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        return times.cast(pa.time32("s")).cast(pa.int32())
    except pa.ArrowInvalid:  # something would be lost
        parts = {"ms": 1e3, "us": 1e6, "ns": 1e9}[times.type.unit]
        count = times.cast(pa.int32() if times.type.bit_width == 32 else pa.int64())
        return pc.divide(count.cast(pa.float64()), parts)
