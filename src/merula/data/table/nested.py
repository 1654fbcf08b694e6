"""Records, lists and bytes within cells, as JSON and Parquet may hold them: records become columns, bytes that are text words."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import Any

from merula.core import warn_user
from merula.data.table.declared_sizes import refuse_columns
from merula.data.table.headers import quoted


def without_nested(table: Any) -> Any:
    """The pyarrow table with a column for each part of its records, named `user.age`, of which a note tells; bytes that are text are words.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from merula.core.notes import kept_back
    >>> with kept_back() as notes:
    ...     without_nested(pa.table({"user": [{"age": 31, "city": "Ulm"}, None]})).to_pydict()
    {'user.age': [31, None], 'user.city': ['Ulm', None]}
    """
    import pyarrow as pa

    records = [field.name for field in table.schema if pa.types.is_struct(field.type)]
    while any(map(pa.types.is_struct, table.schema.types)):
        table = table.flatten()
        refuse_columns(table.num_columns)
    if records:
        parts = [name for name in table.column_names if name.startswith(tuple(f"{record}." for record in records))]
        warn_user(f"{_hold(records)} records, whose parts are columns ({quoted(parts)})", UserWarning)
    return with_words(table)


def with_words(table: Any, names: Collection[str] | None = None) -> Any:
    """The table with bytes that are text as words, of all columns or of some; lists and other bytes stay, for whoever wants the rows back."""
    import pyarrow as pa

    table = _without_codes_of_bytes(table)
    for position, field in enumerate(table.schema):
        if holds_bytes(field.type) and (names is None or field.name in names):
            with suppress(pa.ArrowInvalid):  # no text in UTF-8
                table = table.set_column(position, field.name, table.column(position).cast(pa.string()))
    return table


def _without_codes_of_bytes(table: Any) -> Any:
    """The table with the bytes or lists that codes stand for in their place."""
    import pyarrow as pa

    for position, field in enumerate(table.schema):
        values = field.type.value_type if pa.types.is_dictionary(field.type) else None
        if values is not None and (holds_bytes(values) or pa.types.is_nested(values)):
            table = table.set_column(position, field.name, table.column(position).cast(values))
    return table


def holds_bytes(kind: Any) -> bool:
    """Whether a type of pyarrow's is one of bytes."""
    import pyarrow as pa

    tests = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_binary_view)
    return any(test(kind) for test in tests)


def _hold(names: list[str]) -> str:
    return f"{'column' if len(names) == 1 else 'columns'} {quoted(names)} {'holds' if len(names) == 1 else 'hold'}"
