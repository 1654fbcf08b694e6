"""Tables larger than memory on this machine: pieces counted by several threads, added in their order, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from merula.core import InputError, Note, located
from merula.core.threads import in_order, thread_count
from merula.data.encode import encode_rows, encode_target, infer_schema, refuse_extreme
from merula.data.encode.reading import one_way
from merula.data.schema import Schema
from merula.data.stream import Piece
from merula.data.stream.pieces import MisfitError
from merula.data.table import open_table
from merula.engines import memory
from merula.engines.base import Source
from merula.engines.stream.rows import Kept, types_for, usable_rows
from merula.engines.stream.table import StreamedTable
from merula.show.progress import name_part
from merula.stats import Collected, Wanted

__all__ = ["StreamedTable", "collect", "describe", "sample"]


def describe(
    source: Source, kinds: Any, levels: Any, more_to_come: bool, n_jobs: int | None
) -> tuple[Schema, tuple[Note, ...]]:
    """See `Engine.describe`: what the first rows tell holds for all."""
    table: StreamedTable = source.table
    first = open_table(table.first_rows(source))
    schema, notes = infer_schema(first, kinds, levels, more_to_come, thread_count(n_jobs))
    if not isinstance(kinds, str):
        empty = {name for place, name in enumerate(first.names) if first.kind(place)[0] == "empty"}
        table.unknown.update(empty - {*(kinds or {}), *(levels or {})})
    return schema, notes


def collect(source: Source, schema: Schema, wanted: Sequence[Wanted], n_jobs: int | None) -> Collected:
    """See `Engine.collect`: the same bits for any number of threads, and for a count that was interrupted and resumed."""
    table: StreamedTable = source.table
    table.check_read_again("this model")
    counted = table.begun(source, schema, wanted)
    watch = table.watch(counted.rows)

    def count(piece: Piece) -> tuple[Collected | None, Kept]:
        return _count_piece(piece, source, schema, wanted)

    for piece, (found, kept) in in_order(count, table.stream.pieces(counted.pieces), n_jobs):
        counted = counted.with_piece(found, kept)
        name_part(watch.told(counted.rows, piece.done))
        table.keep(counted, source, schema, wanted)
    table.check_unchanged()
    table.tell_left_out(counted, source)
    total = counted.total()
    if total is None:
        what = f"the target {source.target!r} is empty in every row" if source.weight is None else f"no row has both a {source.target!r} and a weight {source.weight!r} above 0"  # fmt: skip
        raise InputError(what, remedy="there is nothing to learn from")
    if source.weight is not None:
        heaviest = min(
            float(total.class_counts.weight.sum()), 1.0
        )  # at most; pieces are refused that hold too heavy ones
        refuse_extreme(heaviest, f"the weight {source.weight!r}")
    return total


def _count_piece(
    piece: Piece, source: Source, schema: Schema, wanted: Sequence[Wanted]
) -> tuple[Collected | None, Kept]:
    """The statistics of one piece, its tables added one after the other, and how many rows it had."""
    total, kept = None, Kept()
    try:
        for rows, some in usable_rows(piece, source, schema):
            kept += some
            if rows is not None:
                found = _count_rows(rows, schema, wanted)
                total = found if total is None else total + found
    except ValueError as error:
        raise _placed(error, piece) from None
    return total, kept


def _count_rows(source: Source, schema: Schema, wanted: Sequence[Wanted]) -> Collected:
    with one_way():
        rows = encode_rows(source.table, schema, True, source.reader)
    target = encode_target(source.target, len(rows), source.weight, part=True)
    return memory.collect(replace(source, table=rows, target=target, weight=None), schema, wanted, 1)


def _placed(error: ValueError, piece: Piece) -> ValueError:
    """The error with the piece it arose in, unless it names the file already."""
    return error if piece.where.partition(", ")[0] in str(error) else located(error, piece.where, ": ")


def sample(source: Source, rows: int) -> Any:
    """See `LargeEngine.sample`: every k-th row of the whole table, k a power of 2 so that no more than `rows` are kept."""
    table: StreamedTable = source.table
    return table.every_kth(rows)


def scored(source: Source, schema: Schema, columns: Sequence[str], function: Any, n_jobs: int | None) -> Iterator[Any]:
    """What `function(table)` gives for these columns of each piece, in order; pieces are worked on side by side."""
    table: StreamedTable = source.table
    options = getattr(table.stream, "options", None)  # what was said of the order of days is in no piece

    types = types_for(schema, columns, table.stream.first.schema)

    def answer(part: Any) -> Any:
        return function(options.noted_in(part) if options and options.date_order else part)

    def work(piece: Piece) -> list[Any]:
        try:
            return _answered(piece, columns, types, answer)
        except ValueError as error:
            raise _placed(error, piece) from None

    for _, found in in_order(work, table.stream.pieces(), n_jobs):
        yield from found
    table.check_unchanged()


def _answered(piece: Piece, columns: Sequence[str], types: Mapping[str, Any], function: Any) -> list[Any]:
    """What `function(table)` gives for a piece; a column whose cells are no plain numbers, such as 13 %, is read as words once more."""
    import pyarrow as pa

    try:
        return [function(part) for part in piece.read(columns, types)]
    except MisfitError as error:
        if types.get(error.column) == pa.string():
            raise
        try:
            return _answered(piece, columns, {**types, error.column: pa.string()}, function)
        except ValueError:
            raise error from None  # which names the line
