"""From the pieces of a stream to rows that can be counted: with a class, with some weight, in types that suit the schema."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from merula.core import InputError, Option
from merula.data.encode import checked_weights, weight_numbers
from merula.data.schema import Column, Schema
from merula.data.stream import Piece
from merula.data.table import open_words
from merula.engines.base import Source


@dataclass(frozen=True)
class Kept:
    """How many rows were read, and how many of them have no class."""

    rows: int = 0
    without_class: int = 0

    def __add__(self, other: Kept) -> Kept:
        return Kept(self.rows + other.rows, self.without_class + other.without_class)


def types_for(schema: Schema, columns: Sequence[str], first: Any) -> dict[str, Any]:
    """The types of columns that hold numbers, whatever the first rows, of this pyarrow schema, look like: 7 may be followed by 7.5."""
    import pyarrow as pa

    def is_plain(column: Column) -> bool:
        return column.reading is None or pa.types.is_integer(first.field(column.name).type)

    numbers = [c for c in schema.columns if c.name in columns and c.holds in ("numeric", "count")]
    return {column.name: pa.float64() for column in numbers if is_plain(column)}


def usable_rows(piece: Piece, source: Source, schema: Schema) -> Iterator[tuple[Source | None, Kept]]:
    """The rows of a piece that count, some at a time: None where there are none; and how many were read."""
    import pyarrow as pa

    aside = [name for name in (source.target, source.weight) if name is not None]
    columns = [column.name for column in schema.columns if column.kind != "ignore"]
    types = types_for(schema, columns, source.table.stream.first.schema) | (
        {source.weight: pa.float64()} if source.weight else {}
    )
    for table in piece.read([*columns, *aside], types):
        rows, without = table.num_rows, 0
        _refuse_unknown(table, source.table.unknown)
        if source.target is not None:
            table = with_class(table, source.target)
            without = rows - table.num_rows
        table, weights = _with_weight(table, source.weight)
        usable = None
        if table.num_rows:
            target = None if source.target is None else table[source.target]
            words = open_words(table.select(columns), source.table.words)
            usable = replace(source, table=words, target=target, weight=weights)
        yield usable, Kept(rows, without)


def _refuse_unknown(table: Any, unknown: set[str]) -> None:
    """An error where a column holds something that was empty in the first rows, so that nobody knows what it holds."""
    for name in unknown & set(table.column_names):
        if table[name].null_count < table.num_rows:
            held = next(cell for cell in table[name] if cell.is_valid).as_py()
            raise InputError.at(
                f"column {name!r}",
                f"is empty in the first rows and holds {held!r} later, so that its kind is not known",
                got=held,
                remedy=("say ", Option("kinds", ("numeric", "categorical"), column=name)),
            )


def with_class(table: Any, target: str) -> Any:
    """The rows whose class is known."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = table[target]
    missing = column.is_null(nan_is_null=pa.types.is_floating(column.type))
    return table.filter(pc.invert(missing)) if pc.any(missing).as_py() else table


def _with_weight(table: Any, name: str | None) -> tuple[Any, Any]:
    """The rows of some weight, and their weights; the rest of the checks is made when classes are encoded."""
    import pyarrow as pa

    if name is None:
        return table, None
    weights = weight_numbers(table[name].to_numpy(), f"the weight {name!r}")
    if np.isnan(weights).any():
        raise InputError.at(f"the weight {name!r}", "is missing in some rows", remedy="give every row a number, 0 to leave it out")  # fmt: skip
    kept = weights != 0
    if not kept.all():
        table, weights = table.filter(pa.array(kept)), weights[kept]
    return table, checked_weights(weights, len(weights), f"the weight {name!r}", part=True) if len(weights) else weights
