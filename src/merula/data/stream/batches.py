"""Batches of rows that a program makes: an iterator that is gone once it was read, or a function that begins anew."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any

from merula.core import InputError
from merula.data.stream.below import below
from merula.data.stream.pieces import Piece, check_distinct, check_names, first_rows, slices
from merula.data.table.in_arrow import in_arrow
from merula.data.table.views import without_views


@dataclass(frozen=True, eq=False)
class Batches:
    """Tables of any library one below the other; `begin` gives them from the first on."""

    begin: Callable[[], Iterable[Any]]
    again: bool
    _held: list[Any] = field(default_factory=list)

    @classmethod
    def of(cls, source: Any) -> Batches:
        """The batches of an iterator, a list, or a function that gives an iterator."""
        if callable(source):
            return cls(source, True)
        if isinstance(source, Iterator):
            return cls(lambda: source, False)
        return cls(lambda: source, True)

    @cached_property
    def first(self) -> Any:
        """See `Stream.first`: so many batches as hold them, which are kept for when they are counted."""
        rows = 0
        for table in self._rest:
            names = (
                check_distinct(table.column_names, "the first batch") if not self._held else self._held[0].column_names
            )
            check_names(names, table.column_names, f"batch {len(self._held) + 1}", "batch 1")
            self._held.append(table)
            rows += table.num_rows
            if rows >= first_rows(len(names)):
                break
        if not self._held:
            raise InputError("the iterator gives no batch", remedy="there is nothing to learn from")
        places = [f"batch {number + 1}" for number in range(len(self._held))]
        return below(self._held, places).slice(0, first_rows(len(names)))

    @cached_property
    def _rest(self) -> Iterator[Any]:
        return map(as_arrow, self.begin())

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the first batch."""
        return tuple(self.first.column_names)

    def pieces(self, skipped: int = 0) -> Iterator[Piece]:
        """See `Stream.pieces`."""
        names = self.names  # reads the first batches
        tables = map(as_arrow, self.begin()) if self.again else chain(self._given_out(), self._rest)
        for number, table in enumerate(tables):
            check_names(names, table.column_names, f"batch {number + 1}", "batch 1")
            if number >= skipped:
                yield Piece(f"batch {number + 1}", _Table(table))

    def _given_out(self) -> Iterator[Any]:
        """The batches that were kept, for the one time that they are read."""
        while self._held:
            yield self._held.pop(0)

    def fingerprint(self) -> list[list[Any]]:
        """See `Stream.fingerprint`: nothing is known."""
        return []


@dataclass(frozen=True, eq=False)
class _Table:
    table: Any

    def __call__(self, columns: Sequence[str], types: Mapping[str, Any]) -> Iterator[Any]:
        yield from slices(self.table.select(list(columns)))


def as_arrow(batch: Any) -> Any:
    """A batch of any library as a pyarrow table; a TypeError where it is no table."""
    import narwhals as nw
    import pyarrow as pa

    if isinstance(batch, pa.Table):
        return without_views(batch)
    if isinstance(batch, pa.RecordBatch):
        return without_views(pa.Table.from_batches([batch]))
    if hasattr(batch, "reset_index"):  # the index of pandas is no column
        batch = batch.reset_index(drop=True)
    try:
        frame = nw.from_native(batch, eager_only=True)
    except TypeError:
        raise TypeError(f"a batch is a {type(batch).__name__}, expected a table of pyarrow, pandas or polars") from None
    return without_views(in_arrow(frame))
