"""A table as plain data that strict JSON holds, and back again, bit for bit: types, missing cells, NaN, times, bytes, what is kept beside the columns.

Cells that JSON has are written as they are, so that people can read them; numbers that it lacks by their names, times and decimals as Arrow
writes them. Any other column (bytes, words by their codes, lists) is Arrow's own bytes.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from math import isfinite
from typing import Any

from merula.core import InputError

Plain = dict[str, Any]


def plain_table(table: Any) -> Plain:
    r"""The pyarrow table as plain data; `table_of` reads it.

    Examples
    --------
    >>> import json
    >>> import pyarrow as pa
    >>> birds = pa.table({"wing": [4.9, float("nan"), None], "ringed on": pa.array([None, 0, 1], pa.date32()), "call": [b"\xff", None, b""]})
    >>> told = plain_table(birds)
    >>> [column["cells"] for column in told["columns"][:2]]
    [[4.9, 'NaN', None], [None, '1970-01-01', '1970-01-02']]
    >>> again = table_of(json.loads(json.dumps(told, allow_nan=False)))
    >>> again.schema == birds.schema, str(again["wing"].to_pylist()), again["call"] == birds["call"]
    (True, '[4.9, nan, None]', True)
    """
    columns = [{"name": field.name, "type": str(field.type), **_told(table.column(place))} for place, field in enumerate(table.schema)]  # fmt: skip
    return {"rows": table.num_rows, "schema": _text(table.schema.serialize()), "columns": columns}


def table_of(told: Mapping[str, Any]) -> Any:
    """The pyarrow table that `plain_table` told of; an `InputError` where plain data are no table."""
    import pyarrow as pa

    try:
        schema = pa.ipc.read_schema(pa.BufferReader(b64decode(told["schema"])))
        cells = [_cells(one, field.type) for one, field in zip(told["columns"], schema, strict=True)]
        if not cells:
            return pa.table({"": pa.nulls(told["rows"])}).select([]).replace_schema_metadata(schema.metadata)
        return pa.Table.from_arrays(cells, schema=schema)
    except (pa.ArrowException, KeyError, TypeError, ValueError, OSError) as error:
        raise InputError(f"what was recorded is no table ({error!s:.200})", where="table") from None


def _text(data: Any) -> str:
    return b64encode(memoryview(data)).decode()


def _told(column: Any) -> Plain:
    """The cells of a column as JSON has them, else as Arrow has them."""
    import pyarrow as pa
    import pyarrow.types as kinds

    kind = column.type
    try:
        if kinds.is_null(kind) or kinds.is_boolean(kind) or kinds.is_integer(kind) or kinds.is_string(kind) or kinds.is_large_string(kind):  # fmt: skip
            return {"cells": column.to_pylist()}
        if kinds.is_floating(kind):
            return {"cells": [_number(cell) for cell in column.to_pylist()]}
        if kinds.is_temporal(kind) or kinds.is_decimal(kind):
            words = column.cast(pa.string())
            if words.cast(kind).equals(column):
                return {"cells": words.to_pylist()}
    except (pa.ArrowException, UnicodeDecodeError):
        pass
    return {"arrow": _text(_stream(column))}


def _number(cell: float | None) -> float | str | None:
    """A number, or the name of one that JSON lacks."""
    if cell is None or isfinite(cell):
        return cell
    return "NaN" if cell != cell else str(cell)


def _stream(column: Any) -> Any:
    import pyarrow as pa

    sink, batch = pa.BufferOutputStream(), pa.table({"": column}).combine_chunks()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_table(batch)
    return sink.getvalue()


def _cells(told: Mapping[str, Any], kind: Any) -> Any:
    import pyarrow as pa
    import pyarrow.types as kinds

    if "arrow" in told:
        return pa.ipc.open_stream(b64decode(told["arrow"])).read_all().column(0)
    cells = told["cells"]
    if kinds.is_floating(kind):
        numbers = pa.array([cell if cell is None else float(cell) for cell in cells], pa.float64(), from_pandas=False)
        return numbers.cast(kind, safe=False)
    if kinds.is_temporal(kind) or kinds.is_decimal(kind):
        return pa.array(cells, pa.string()).cast(kind)
    return pa.array(cells, kind)
