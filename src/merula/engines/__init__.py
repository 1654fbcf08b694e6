"""Engines: where rows are read and statistics are added. Everything above is blind to which one ran."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from merula.core import Note
from merula.data.schema import Schema
from merula.engines import memory
from merula.engines.base import Engine, Source
from merula.stats import Collected, Wanted

__all__ = ["Engine", "Source", "collect", "describe", "engine_for"]


def engine_for(_: Source) -> Engine:
    """The engine that reads a source: so far, all are read in memory."""
    return memory


def describe(
    source: Source, kinds: Any = None, levels: Any = None, more_to_come: bool = False, n_jobs: int | None = None
) -> tuple[Schema, tuple[Note, ...]]:
    """What each column of a source is, as `kinds` and `levels` say or as the table suggests, and what was guessed.

    With `more_to_come`, the kind of a column that holds nothing yet must be given.

    Examples
    --------
    >>> schema, notes = describe(Source([["red", 1.5], ["blue", 2.0]]))
    >>> [(column.name, column.kind) for column in schema.columns], notes
    ([('x0', 'categorical'), ('x1', 'numeric')], ())
    """
    return engine_for(source).describe(source, kinds, levels, more_to_come, n_jobs)


def collect(source: Source, schema: Schema, wanted: Sequence[Wanted], n_jobs: int | None = None) -> Collected:
    """The wanted statistics of all rows, and the weight of each class: the same bits for any number of threads.

    Examples
    --------
    >>> from merula.stats import LevelCounts
    >>> source = Source([["red"], ["blue"], ["red"]], ["yes", "no", "no"])
    >>> found = collect(source, describe(source)[0], [Wanted(LevelCounts, ("x0",))])
    >>> found.classes.tolist(), found.blocks[0].labels[0], found.blocks[0].counts[0].tolist()
    (['no', 'yes'], ('red', 'blue'), [[1.0, 1.0], [1.0, 0.0]])
    """
    return engine_for(source).collect(source, schema, wanted, n_jobs)
