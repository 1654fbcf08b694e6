"""A stream as a large table: what is known of it, how far it has been counted, and what is kept of that."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from merula.core import InputError, Note, warn_of, warn_user
from merula.data.schema import Schema
from merula.data.stream import Stream
from merula.data.stream.below import below
from merula.data.stream.pieces import MisfitError, check_unchanged
from merula.engines.base import Source
from merula.engines.stream.checkpoint import Checkpoint, Counted
from merula.engines.stream.rows import with_class
from merula.show.numbers import rows_without, several
from merula.stats import Wanted

ONCE = "the batches can be read only once, and {} reads them a second time"
AGAIN = "give a function that begins anew, such as lambda: make_batches(), or a file"
CELLS = 2**24  # of a sample


@dataclass(frozen=True, eq=False)
class StreamedTable:
    """A table that is read piece by piece, perhaps with a file that keeps how far it has been counted."""

    stream: Stream
    resume: str | os.PathLike[str] | None = None
    library: str = "pyarrow"
    unknown: set[str] = field(
        default_factory=set
    )  # columns that are empty in the first rows, and of which nothing is said
    _state: dict[Any, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._state["opened"] = self.stream.fingerprint()  # every pass must find the files as they are now

    @property
    def engine(self) -> Any:
        """The engine of streams."""
        from merula.engines import stream

        return stream

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Its columns, target and weight among them."""
        return self.stream.names

    @cached_property
    def words(self) -> frozenset[str]:
        """The columns of words: pieces may hold codes of them, which are no categories for that."""
        from merula.data.table.declared_sizes import is_text

        return frozenset(field.name for field in self.stream.first.schema if is_text(field.type))

    def first_rows(self, source: Source) -> Any:
        """The first rows as a pyarrow table, without target and weight; rows without a class tell nothing."""
        first = self.stream.first
        if first is None or not first.num_rows:
            raise InputError("the table has no rows", remedy="there is nothing to learn from")
        aside = [name for name in (source.target, source.weight) if name is not None]
        if source.target is not None and with_class(first, source.target).num_rows:
            first = with_class(first, source.target)
        return first.drop_columns(aside)

    def check_read_again(self, what: str) -> None:
        """An error where batches that can be read once were read before."""
        if not self.stream.again and self._state.get("read"):
            raise InputError(ONCE.format(what), remedy=AGAIN)
        self._state["read"] = True

    def every_kth(self, most: int) -> Any:
        """Every k-th row, k a power of 2, as a pyarrow table of at most so many rows; found once."""
        most = max(1, min(most, CELLS // len(self.names)))
        if ("sample", most) not in self._state:
            self.check_read_again("a choice that looks at rows")
            found = _thinned_as_read(self.stream, self.names, most)
            self._state["sample", most] = found.replace_schema_metadata(self.stream.first.schema.metadata)
            self.check_unchanged()
        return self._state["sample", most]

    # ------------------------------------------------------------------------------------------------ counting

    def begun(self, source: Source, schema: Schema, wanted: Sequence[Wanted]) -> Counted:
        """What was counted before the last interruption, or nothing."""
        if not self.resume:
            return Counted()
        self.check_unchanged()
        return self._checkpoint.found(source, schema, wanted, self._known)

    def keep(self, counted: Counted, source: Source, schema: Schema, wanted: Sequence[Wanted]) -> None:
        """Write down how far the table has been counted, every few minutes."""
        if self.resume and self._checkpoint.is_due:
            self.check_unchanged()
            self._checkpoint.keep(counted, source, schema, wanted, self._known)

    @cached_property
    def _known(self) -> list[Any]:
        """What tells this table from others: its files as they were opened, and its first rows where there are no files."""
        return [self._state["opened"] or self.stream.first.slice(0, 1_000).to_pylist().__repr__()]

    @cached_property
    def _checkpoint(self) -> Checkpoint:
        assert self.resume is not None
        return Checkpoint(self.resume)

    def finished(self) -> None:
        """Remove what was kept for a resumption: the model is there."""
        if self.resume:
            self._checkpoint.remove()

    def check_unchanged(self) -> None:
        """An error where a file changed or vanished since it was opened."""
        check_unchanged(self._state["opened"], self.stream.fingerprint())

    @property
    def paths(self) -> list[str]:
        """The files that are read."""
        return [path for path, *_ in self._state["opened"]]

    def tell_left_out(self, counted: Counted, source: Source) -> None:
        """Say once how many rows have no class, and how many could not be read."""
        if counted.without_class and not self._state.get("told"):
            what = rows_without(counted.without_class, counted.rows, source.target)
            warn_of([Note(UserWarning, what, source.target)])
        skipped = getattr(self.stream, "left_out", 0)
        if skipped and not self._state.get("told"):
            warn_user(f"{several(skipped, 'row')} that could not be read {'is' if skipped == 1 else 'are'} left out in all", UserWarning)  # fmt: skip
        self._state["told"], self._state["counted"] = True, counted.rows - counted.without_class

    @property
    def counted(self) -> int:
        """How many rows with a class were counted last."""
        return int(self._state.get("counted", 0))

    def watch(self, rows: int) -> Watch:
        """What tells how fast counting goes."""
        return Watch(time.monotonic(), rows)


@dataclass(frozen=True)
class Watch:
    """When counting began, and how many rows had been counted before."""

    start: float
    before: int

    def told(self, rows: int, done: float | None) -> str:
        """How many rows, how fast, and how long it will take."""
        took = max(time.monotonic() - self.start, 1e-6)
        text = f"{rows:,} rows, {(rows - self.before) / took:,.0f} a second"
        if not done or done >= 1:
            return text
        left = took * (1 - done) / done
        return f"{text}, about {f'{left:.0f} s' if left < 120 else f'{left / 60:.0f} min'} left"


def _thinned_as_read(stream: Stream, names: Sequence[str], most: int) -> Any:
    """Every k-th row of a stream; a column whose later cells are unlike its first is read once more as numbers, or as words."""
    import pyarrow as pa

    types: dict[str, Any] = {}
    while True:
        try:
            return _thinned(stream, names, most, types)
        except MisfitError as error:
            whole = pa.types.is_integer(stream.first.schema.field(error.column).type) and error.column not in types
            types[error.column] = pa.float64() if whole else pa.string()


def _thinned(stream: Stream, names: Sequence[str], most: int, types: dict[str, Any]) -> Any:
    """Every k-th row of a stream: whenever more are kept than may be, every second of them goes."""
    import numpy as np
    import pyarrow as pa

    kept: list[Any] = []
    places: list[str] = []
    step, seen, held = 1, 0, 0
    for piece in stream.pieces():
        for table in piece.read(names, types):
            rows = np.arange(-seen % step, table.num_rows, step)
            kept.append(table.take(pa.array(rows)))
            places.append(piece.where)
            seen, held = seen + table.num_rows, held + len(rows)
            while held > most:
                whole, places = below(kept, places), places[:1]
                kept = [whole.take(pa.array(np.arange(0, whole.num_rows, 2)))]
                step, held = 2 * step, kept[0].num_rows
    if not kept:
        raise InputError("the table has no rows", remedy="there is nothing to learn from")
    return below(kept, places).unify_dictionaries()
