"""Words and bytes that Arrow holds as views, as polars writes them to files: written out, for Arrow takes no single rows of views."""

from __future__ import annotations

from typing import Any

import numpy as np

from merula.core import InputError, bounded


def without_views(source: Any) -> Any:
    """A pyarrow table or column with words and bytes where it holds views of them; anything else as it is.

    Examples
    --------
    >>> import pyarrow as pa
    >>> without_views(pa.table({"bird": pa.array(["wren"], pa.string_view())})).schema.types
    [DataType(large_string)]
    """
    if not type(source).__module__.startswith("pyarrow"):
        return source
    if hasattr(source, "type"):
        return _written_out(source)
    for position, field in enumerate(getattr(source, "schema", ())):
        if _plain(field.type) != field.type:
            source = source.set_column(position, field.name, _written_out(source.column(position)))
    return source


def _written_out(column: Any) -> Any:
    """The column without views; an `InputError` where they are of few long words, which would not fit into memory as often as they stand."""
    plain = _plain(column.type)
    if plain == column.type:
        return column
    if sum(map(_bytes_of_views, getattr(column, "chunks", [column]))) > bounded.most_bytes():
        raise InputError(f"holds words or bytes that take more than {bounded.most_bytes():,} bytes in memory where each row has its own", remedy=bounded.TRUSTED)  # fmt: skip
    return column.cast(plain)


def _plain(kind: Any) -> Any:
    """The type without views, also within lists, records and codes."""
    import pyarrow as pa

    if pa.types.is_string_view(kind):
        return pa.large_string()
    if pa.types.is_binary_view(kind):
        return pa.large_binary()
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, _plain(kind.value_type), kind.ordered)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        whole = pa.list_ if pa.types.is_list(kind) else pa.large_list
        return whole(kind.value_field.with_type(_plain(kind.value_type)))
    return pa.struct([field.with_type(_plain(field.type)) for field in kind]) if pa.types.is_struct(kind) else kind


def _bytes_of_views(array: Any) -> int:
    """The bytes of all words that views in an array show, each as often as it is shown."""
    import pyarrow as pa

    if pa.types.is_string_view(array.type) or pa.types.is_binary_view(array.type):
        # a view is 16 bytes, of which the first four tell its length
        lengths = np.frombuffer(array.buffers()[1], np.int32)[::4]
        known = array.is_valid().to_numpy(zero_copy_only=False)
        return int(lengths[array.offset : array.offset + len(array)][known].sum(dtype=np.int64))
    if pa.types.is_dictionary(array.type):
        return _bytes_of_views(array.dictionary)
    if pa.types.is_struct(array.type):
        return sum(map(_bytes_of_views, array.flatten()))
    lists = pa.types.is_list(array.type) or pa.types.is_large_list(array.type)
    return _bytes_of_views(array.flatten()) if lists else 0
