"""What an engine is: it says what a source holds, and counts what is wanted of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from merula.core import Note
from merula.data.schema import Schema
from merula.stats import Collected, Wanted


@dataclass(frozen=True, eq=False)
class Source:
    """Rows to count: a table, the class of each row (None: all are of one) and how often each counts (None: once).

    A large table says which `engine` reads it; then target and weight are names of its columns. ``named`` says whether the
    table that a model first saw had names (None: columns are matched by name where there are any); ``reader`` is what errors
    call whoever asks. With a ``reference``, numbers are to be kept that later rows can be compared with.
    """

    table: Any
    target: Any = None
    weight: Any = None
    named: bool | None = None
    reader: str = "the model"
    reference: bool = False

    @property
    def is_large(self) -> bool:
        """Whether the rows stay where they are, and an engine of their own counts them there."""
        return hasattr(self.table, "engine")


class Engine(Protocol):
    """Where rows are read and statistics are added: the same statistics from each."""

    def describe(
        self, source: Source, kinds: Any, levels: Any, more_to_come: bool, n_jobs: int | None
    ) -> tuple[Schema, tuple[Note, ...]]:
        """What each column is, as `kinds` and `levels` say or as the table suggests, and what was guessed."""
        ...

    def collect(self, source: Source, schema: Schema, wanted: Sequence[Wanted], n_jobs: int | None) -> Collected:
        """The wanted statistics of all rows, and the weight of each class."""
        ...


class LargeEngine(Engine, Protocol):
    """An engine of tables that stay where they are."""

    def sample(self, source: Source, rows: int) -> Any:
        """At most so many rows as a pyarrow table, target and weight among its columns; always the same ones.

        For what must look at rows: kinds of columns, families to choose among.
        """
        ...
