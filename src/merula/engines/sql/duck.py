"""DuckDB: a connection and a table or query, a relation, or a database file that is opened to be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar
from uuid import uuid4

from sqlglot import exp

from merula.core import InputError
from merula.engines.sql.remote import RemoteTable, lost, refused
from merula.engines.sql.statements import read_query, table_named


@dataclass(frozen=True, eq=False)
class DuckRunner:
    """Runs queries over a table or query by `run`, which takes their text; `connection` is None where DuckDB does not tell it."""

    run: Callable[[str], Any]
    rows: Any
    place: str
    connection: Any = None
    owned: bool = False
    depth: list[int] = field(default_factory=list)
    dialect: ClassVar[str] = "duckdb"

    def source(self) -> Any:
        """See `Runner.source`."""
        return self.rows.copy()

    def fetch(self, query: Any, _types: Mapping[str, Any]) -> Any:
        """See `Runner.fetch`."""
        import duckdb

        try:
            return self.run(query.sql(dialect=self.dialect)).to_arrow_table()
        except (duckdb.ConnectionException, duckdb.FatalException) as error:
            raise lost(self.place, error) from error
        except duckdb.Error as error:
            raise refused(self.place, error) from error

    def batches(self, query: Any, _types: Mapping[str, Any], rows: int) -> Iterator[Any]:
        """See `Runner.batches`."""
        import duckdb
        import pyarrow as pa

        try:
            with self.snapshot():
                for batch in self.run(query.sql(dialect=self.dialect)).to_arrow_reader(rows):
                    yield pa.Table.from_batches([batch])
        except (duckdb.ConnectionException, duckdb.FatalException) as error:
            raise lost(self.place, error) from error
        except duckdb.Error as error:
            raise refused(self.place, error) from error

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """See `Runner.snapshot`; who is in a transaction already stays in it. A relation is read anew by each query."""
        if self.connection is None or self.depth or self._in_transaction():
            yield
            return
        self.connection.begin()
        self.depth.append(1)
        try:
            yield
        finally:
            self.depth.pop()
            with suppress(Exception):  # the connection may be gone
                self.connection.rollback()

    def _in_transaction(self) -> bool:
        """Whether somebody began a transaction: its number is then the same from query to query. To begin another would end it."""
        asked = exp.select(exp.Anonymous(this="TXID_CURRENT", expressions=[]))
        first, second = (self.fetch(asked, {}).column(0)[0].as_py() for _ in range(2))
        return bool(first == second)

    def in_order(self) -> Any:
        """DuckDB keeps the order in which rows were written."""
        return nullcontext()

    def close(self) -> None:
        """Close the connection if it was opened for this table."""
        if self.owned:
            self.connection.close()


def duckdb_table(source: Any, table: str | None = None, *, query: str | None = None, schema: str | None = None) -> RemoteTable:  # fmt: skip
    """A table of DuckDB, of which no row is read yet.

    Parameters
    ----------
    source : duckdb.DuckDBPyConnection, duckdb.DuckDBPyRelation, or a path
        A connection, in which `table` or `query` is found; a relation, which is the table itself; or a database file, which is
        opened to be read only and closed with ``table.runner.close()``.
    table, schema : str
        The name of the table or view, and where needed of its schema.
    query : str
        A SELECT instead of a table.

    Examples
    --------
    >>> import duckdb
    >>> table = duckdb_table(duckdb.connect(), query="SELECT 'tea' AS item, 3 AS pieces")
    >>> table.names
    ('item', 'pieces')
    """
    import duckdb

    if isinstance(source, duckdb.DuckDBPyRelation):
        _refuse_both(table, query, "a relation is a table itself")
        alias = f"rows_{uuid4().hex}"
        rows = exp.to_table(alias)
        return _opened(DuckRunner(lambda text: source.query(alias, text), rows, "the DuckDB relation"))
    if isinstance(source, str | PathLike):
        connection, owned = _connected(Path(source)), True
    elif isinstance(source, duckdb.DuckDBPyConnection):
        connection, owned = source, False
    else:
        raise InputError.of("source", source, "a DuckDB connection, a relation, or the path of a database file")
    if (table is None) == (query is None):
        raise InputError.at("source", "is a DuckDB database", remedy="name one table=, or give one query=")
    rows = table_named(table, schema) if table is not None else read_query(str(query), "duckdb")
    place = f"the DuckDB table {table!r}" if table is not None else "the DuckDB query"
    return _opened(DuckRunner(connection.sql, rows, place, connection, owned))


def _refuse_both(table: str | None, query: str | None, why: str) -> None:
    if table is not None or query is not None:
        raise InputError.at("table=" if table is not None else "query=", f"does nothing here: {why}")


def _connected(path: Path) -> Any:
    """A connection to a database file that changes nothing; an `InputError` where there is none."""
    import duckdb

    if not path.is_file():
        raise InputError.at(f"{path}", "is no file", remedy="name a DuckDB database file")
    try:
        return duckdb.connect(str(path), read_only=True)
    except duckdb.Error as error:
        raise refused(f"{path}", error) from error


def _opened(runner: DuckRunner) -> RemoteTable:
    nothing = exp.select("*").from_(runner.source()).limit(0)
    types = {field.name: field.type for field in runner.fetch(nothing, {}).schema}
    return RemoteTable(runner, types, runner.place)
