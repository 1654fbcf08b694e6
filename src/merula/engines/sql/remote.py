"""A table whose rows stay in a database or on a cluster: who runs queries over it, where its rows come from, what its columns hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Protocol

from merula.core import InputError, nearest

NOTHING_WRITTEN = "nothing was written, neither there nor here"


class Runner(Protocol):
    """Runs queries where the rows are; what comes back is counted."""

    @property
    def dialect(self) -> str:
        """Whose SQL is spoken, as sqlglot calls it."""
        ...

    def fetch(self, query: Any, types: Mapping[str, Any]) -> Any:
        """The answer to a query (a sqlglot expression) as a pyarrow table whose columns are of these types."""
        ...

    def batches(self, query: Any, types: Mapping[str, Any], rows: int) -> Any:
        """The answer to a query as pyarrow tables of at most so many rows, one after the other."""
        ...

    def source(self) -> Any:
        """What stands behind FROM, as a sqlglot expression."""
        ...

    def snapshot(self) -> AbstractContextManager[None]:
        """While it is open, all queries see the same rows, and none is changed."""
        ...

    def in_order(self) -> AbstractContextManager[None]:
        """While it is open, rows come in the same order each time."""
        ...

    def close(self) -> None:
        """End what was begun for this table alone, such as a connection by a URL."""
        ...


@dataclass(frozen=True, eq=False)
class RemoteTable:
    """Rows that stay where they are; `fit_table` learns from them by the sums and counts of the place itself.

    Made by `duckdb_table`, `postgres_table` or `spark_table`. `fetched` says how many rows of answers have come to this machine.

    Parameters
    ----------
    runner
        Runs the queries.
    types
        The type of each column, as pyarrow calls it.
    place
        What messages call where the rows are, such as "the DuckDB table 'orders'".

    Examples
    --------
    >>> import duckdb
    >>> from merula.engines.sql import duckdb_table
    >>> connection = duckdb.connect()
    >>> _ = connection.sql("CREATE TABLE orders AS SELECT 'tea' AS item, 3 AS pieces")
    >>> table = duckdb_table(connection, "orders")
    >>> table.names, table.place
    (('item', 'pieces'), "the DuckDB table 'orders'")
    """

    runner: Runner
    types: Mapping[str, Any]
    place: str
    fetched: dict[str, int] = field(default_factory=lambda: {"rows": 0, "queries": 0})
    said: set[str] = field(default_factory=set)
    named: ClassVar[bool] = True
    library: ClassVar[str] = "pyarrow"

    @property
    def engine(self) -> Any:
        """The engine that reads it: see `merula.engines.Engine`."""
        from merula.engines.sql import engine

        return engine

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of its columns, in order."""
        return tuple(self.types)

    def fetch(self, query: Any, types: Mapping[str, Any]) -> Any:
        """The answer to a query as a pyarrow table; its rows are counted."""
        found = self.runner.fetch(query, types)
        self.fetched["rows"] += found.num_rows
        self.fetched["queries"] += 1
        return found

    def batches(self, names: Sequence[str], rows: int) -> Iterator[Any]:
        """The rows themselves, some at a time: only what must look at each row asks for them."""
        from sqlglot import exp

        query = exp.select(*(exp.column(name, quoted=True) for name in names)).from_(self.runner.source())
        for table in self.runner.batches(query, self.types, rows):
            self.fetched["rows"] += table.num_rows
            yield table

    def close(self) -> None:
        """Close the connection, if it was opened for this table alone."""
        self.runner.close()

    def finished(self) -> None:
        """The model is there: nothing was kept on the way."""

    def type_of(self, name: str, what: str = "column") -> Any:
        """The type of one column; an `InputError` where there is none of this name."""
        if name not in self.types:
            known = ", ".join(map(repr, self.names[:8])) + (", …" if len(self.names) > 8 else "")
            raise InputError.at(
                f"{what} {name!r}", f"is not in {self.place}, which has {known}", remedy=f"name a column of it{nearest(name, self.names)}"
            )  # fmt: skip
        return self.types[name]


def lost(place: str, error: Exception) -> InputError:
    """The error that a database or cluster went away in the middle of a query."""
    return InputError.at(
        place, f"went away while it was read ({in_short(error)})", remedy=f"{NOTHING_WRITTEN}: connect again and repeat"
    )  # fmt: skip


def refused(place: str, error: Exception) -> InputError:
    """The error that a database or cluster would not answer a query."""
    return InputError.at(
        place, f"did not answer ({in_short(error)})", remedy=f"{NOTHING_WRITTEN}: see that it can be read"
    )  # fmt: skip


def in_short(error: Exception) -> str:
    """What an error says first, on one line."""
    lines = str(error).partition("LINE 1:")[0].splitlines()  # behind it stands the query
    lines = [line.strip() for line in lines if line.strip()]
    told = lines[-1] if any("Traceback" in line for line in lines) else " ".join(lines[:2])
    return told[:300] or type(error).__name__


class TooWideError(ArithmeticError):
    """A sum of squares was no number: which column's, is asked afterwards."""
