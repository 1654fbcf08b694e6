"""Engines: where rows are read and statistics are added. Everything above is blind to which one ran."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from merula.core import Note
from merula.data.encode import Encoded, Target
from merula.data.schema import Schema
from merula.engines import memory
from merula.engines.base import Engine, Source
from merula.engines.sampling import SAMPLED, sampled
from merula.stats import Collected, Wanted

__all__ = ["SAMPLED", "Engine", "Source", "collect", "describe", "encoded", "engine_for", "sampled"]


def engine_for(source: Source) -> Engine:
    """The engine that reads a source: the one that a large table names, else the memory's."""
    engine: Engine = getattr(source.table, "engine", memory)
    return engine


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


def encoded(source: Source, schema: Schema, n_jobs: int | None = None) -> tuple[Encoded, Target]:
    """The rows and classes of a source in memory as codes and numbers, encoded unless they are already; of a large one, its sample's."""
    return memory.encoded(sampled(source), schema, n_jobs)
