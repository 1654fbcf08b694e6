"""Tables in memory: threads over fixed blocks of rows, added in the order of the blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from merula.core import Note
from merula.core.threads import BLOCK, for_each_block, thread_count
from merula.data.encode import Encoded, SharedTarget, Target, encode_rows, encode_target, infer_schema
from merula.data.schema import Schema
from merula.data.table import open_table
from merula.engines.base import Source
from merula.stats import ClassCounts, Collected, Wanted, added

SCORED = (
    16_384  # rows scored at once: few enough that no thread waits long for the last, and that answers stay in the cache
)


def describe(
    source: Source, kinds: Any, levels: Any, more_to_come: bool, n_jobs: int | None
) -> tuple[Schema, tuple[Note, ...]]:
    """See `Engine.describe`."""
    return infer_schema(open_table(source.table), kinds, levels, more_to_come, thread_count(n_jobs))


def collect(source: Source, schema: Schema, wanted: Sequence[Wanted], n_jobs: int | None) -> Collected:
    """See `Engine.collect`: the same bits for any number of threads; rows may be shared among classes."""
    shared = source.target if isinstance(source.target, SharedTarget) else None
    rows, known = encoded(replace(source, target=None) if shared else source, schema, n_jobs)
    target = shared or known
    count = len(target.classes)
    nothing = Collected(target.classes, ClassCounts.zero((), count), tuple(one.zero(count) for one in wanted))

    def block(start: int) -> Collected:
        classes, parts = nothing.class_counts, nothing.blocks
        for first, last in _tiles(rows, start):
            tile = rows.tile(first, last)
            for labels in target.tile(first, last).by_class():
                classes, parts = classes.update(tile, labels), tuple(part.update(tile, labels) for part in parts)
        return Collected(target.classes, classes, parts)

    blocks: list[Collected] = for_each_block(block, len(rows), n_jobs)
    return added(blocks or [nothing])


def encoded(source: Source, schema: Schema, n_jobs: int | None) -> tuple[Encoded, Target]:
    """Rows and classes, encoded unless they are already."""
    rows = source.table
    if not isinstance(rows, Encoded):
        rows = encode_rows(rows, schema, source.named, source.reader, thread_count(n_jobs))
    if isinstance(source.target, Target):
        return rows, source.target
    labels = np.zeros(len(rows), dtype=np.int8) if source.target is None else source.target
    return rows, encode_target(labels, len(rows), source.weight)


def score(
    rows: Encoded, function: Callable[[Encoded, int, int], Any], n_jobs: int | None = None, most: int = SCORED
) -> list[Any]:
    """What `function(tile, start, stop)` gives for every tile of rows, `most` at once, in order."""
    size = min(rows.tile_rows, most, SCORED)

    def tile(start: int) -> Any:
        stop = min(start + size, len(rows))
        return function(rows.tile(start, stop), start, stop)

    return for_each_block(tile, len(rows), n_jobs, size)


def _tiles(rows: Encoded, start: int) -> Iterator[tuple[int, int]]:
    """First and last row of each tile within the block that begins at `start`."""
    stop = min(start + BLOCK, len(rows))
    return ((first, min(first + rows.tile_rows, stop)) for first in range(start, stop, rows.tile_rows))
