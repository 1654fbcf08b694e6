"""Times of day, which are numbers: seconds since midnight."""

from __future__ import annotations

from typing import Any


def in_seconds(table: Any) -> Any:
    """The pyarrow table with its times of day as seconds since midnight.

    Examples
    --------
    >>> import datetime
    >>> import pyarrow as pa
    >>> in_seconds(pa.table({"arrival": [datetime.time(0, 1, 5), None]}))["arrival"].to_pylist()
    [65, None]
    """
    import pyarrow as pa

    for index, kind in enumerate(table.schema.types):
        if pa.types.is_time(kind):
            seconds = table.column(index).cast(pa.time32("s"), safe=False).cast(pa.int32())
            table = table.set_column(index, table.column_names[index], seconds)
    return table
