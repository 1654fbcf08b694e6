"""Tables too large to be read at once: counted where they are; commands that must look at rows see some of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from merula.classify.large_tables import ANSWERED
from merula.engines import SAMPLED, Source
from merula.engines.sampling import sample_note


def some_rows_of(large: Any) -> tuple[Any, Any]:
    """Some rows of a large table as a pyarrow table, and the note that says so."""
    table = large.engine.sample(Source(large), SAMPLED).combine_chunks()
    return _written_out(table), sample_note("what follows is told", table.num_rows)


def _written_out(table: Any) -> Any:
    """The table with words in place of their codes."""
    import pyarrow as pa

    for index, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(index, field.name, table.column(index).cast(field.type.value_type))
    return table


def batches_of(large: Any, schema: Any, function: Any, n_jobs: int | None) -> Iterator[Any]:
    """What a function gives for the rows of a large table, some at a time."""
    from merula.engines import stream

    if large.engine is not stream:
        return (function(part) for part in large.batches(large.names, ANSWERED))
    return stream.scored(Source(large), schema, large.names, function, n_jobs)
