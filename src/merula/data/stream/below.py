"""Tables one below the other: types that say the same in several ways become one; others are an error that names where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from merula.core import InputError

UNITS = ("s", "ms", "us", "ns")  # of instants, the finest last


def below(tables: Sequence[Any], places: Sequence[str]) -> Any:
    """Pyarrow tables with the same columns one below the other; `places` name them in errors.

    Examples
    --------
    >>> import pyarrow as pa
    >>> coded, plain = pa.table({"bird": pa.array(["wren"]).dictionary_encode()}), pa.table({"bird": ["tit"]})
    >>> below([coded, plain], ["batch 1", "batch 2"])["bird"].to_pylist()
    ['wren', 'tit']
    """
    import pyarrow as pa

    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except (pa.ArrowTypeError, pa.ArrowInvalid):
        schema = pa.schema([(name, _common(name, tables, places)) for name in tables[0].column_names])
        cast = [table.select(schema.names).cast(schema) for table in tables]
        return pa.concat_tables(cast).replace_schema_metadata(tables[0].schema.metadata)


def _common(name: str, tables: Sequence[Any], places: Sequence[str]) -> Any:
    """The type of a column that holds what it holds in all tables."""
    first = found = tables[0].schema.field(name).type
    for table, place in zip(tables[1:], places[1:], strict=True):
        kind = table.schema.field(name).type
        united = _united(found, kind)
        if united is None:
            raise InputError.at(f"column {name!r}", f"holds {_called(first)} in {places[0]} and {_called(kind)} in {place}", remedy="give it the same type everywhere, or leave it out")  # fmt: skip
        found = united
    return found


def unlike(tables: Sequence[Any]) -> list[str]:
    """The columns that hold something else in one of the tables than in others.

    Examples
    --------
    >>> import pyarrow as pa
    >>> unlike([pa.table({"ring": [7], "wing": [4.9]}), pa.table({"ring": ["A7"], "wing": [5]})])
    ['ring']
    """
    found = []
    for name in tables[0].column_names:
        kinds = [table.schema.field(name).type for table in tables]
        if reduce(lambda one, other: one and _united(one, other), kinds) is None:
            found.append(name)
    return found


def with_columns(table: Any, names: Sequence[str]) -> Any:
    """The pyarrow table with these columns, in this order; those that it does not have are empty."""
    import pyarrow as pa

    held = set(table.column_names)
    return pa.table({name: table[name] if name in held else pa.nulls(table.num_rows) for name in names})


def _called(kind: Any) -> str:
    import pyarrow as pa

    return str(kind.value_type if pa.types.is_dictionary(kind) else kind)  # words may be kept as codes


def _united(one: Any, other: Any) -> Any:
    """The type that holds both: codes and what they stand for, days and times, times of two zones, or as Arrow unites them; None where there is none."""
    import pyarrow as pa

    if one == other:
        return one
    if pa.types.is_null(one) or pa.types.is_null(other):
        return other if pa.types.is_null(one) else one
    if pa.types.is_dictionary(one) or pa.types.is_dictionary(other):
        return _united(*(kind.value_type if pa.types.is_dictionary(kind) else kind for kind in (one, other)))
    if all(pa.types.is_date(kind) or pa.types.is_timestamp(kind) for kind in (one, other)):
        return _instants([kind for kind in (one, other) if pa.types.is_timestamp(kind)], one)
    schemas = [pa.schema([("", kind)]) for kind in (one, other)]
    try:
        return pa.unify_schemas(schemas, promote_options="permissive").types[0]
    except (pa.ArrowTypeError, pa.ArrowInvalid):
        return None


def _instants(kinds: Sequence[Any], first: Any) -> Any:
    """The type of days and times together, in the zone of the first; None where some have a zone and others none."""
    import pyarrow as pa

    zones = [kind.tz for kind in kinds]
    if (None in zones and any(zones)) or (len(kinds) == 1 and any(zones)):
        return None
    return pa.timestamp(max((kind.unit for kind in kinds), key=UNITS.index), zones[0]) if kinds else first
